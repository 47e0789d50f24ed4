// SPDX-License-Identifier: GPL-3.0-or-later
/* From the scatter of a cluster's members at rest to what matching uses of it. Set-up finds the
 * eigenvectors with LAPACKE, a step with Jacobi's method (base/eigen.h). */
#ifndef PL_BODY_REST_MOMENTS_H
#define PL_BODY_REST_MOMENTS_H

#include "body/body.h"

/* Particles of a cluster along a direction count as extent from this share of the longest on (14 %
 * of the width). Below it F along that direction says more of what bends the cluster than of what
 * stretches it, and turns inside out easily: with a share of .001, slightly curved sheets gained
 * energy without end. Goals keep the offsets along such directions all the same. */
#define PL_LEAST_EXTENT 2e-2

static inline void pl_store_symmetric(mat3 a, float out[6])
{
    out[0] = (float)a.m[0][0], out[1] = (float)a.m[1][1], out[2] = (float)a.m[2][2];
    out[3] = (float)a.m[0][1], out[4] = (float)a.m[1][2], out[5] = (float)a.m[2][0];
}

static inline mat3 pl_load_symmetric(const float a[6])
{
    return (mat3){{{a[0], a[3], a[5]}, {a[3], a[1], a[4]}, {a[5], a[4], a[2]}}};
}

/* S of something with these second moments (material.c): sqrt(tr(A^2) / (m tr A)). */
static inline double pl_shape_width(const double a[6], double mass)
{
    double trace = a[0] + a[1] + a[2];
    double square =
        a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + 2 * (a[3] * a[3] + a[4] * a[4] + a[5] * a[5]);
    return trace > 0 && mass > 0 ? sqrt(square / trace / mass) : 0;
}

/* S_body of a body as it was laid out: the finest clusters' moments about the body's centre add up
 * to its own. */
static inline double pl_body_shape_width(const pl_body* body)
{
    const pl_clusters* k = &body->clusters;
    double mass = 0, mean[3] = {0}, a[6] = {0};
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        mass += k->mass[c];
        for (int j = 0; j < 3; ++j)
            mean[j] += (double)k->mass[c] * k->rest[c][j];
    }
    for (int j = 0; j < 3 && mass > 0; ++j)
        mean[j] /= mass;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        double d[3];
        for (int j = 0; j < 3; ++j)
            d[j] = k->rest[c][j] - mean[j];
        for (int j = 0; j < 3; ++j)
        {
            a[j] += k->arr[c][j] + k->mass[c] * d[j] * d[j];
            a[3 + j] += k->arr[c][3 + j] + k->mass[c] * d[j] * d[(j + 1) % 3];
        }
    }
    return pl_shape_width(a, mass);
}

/* A_rr, its inverse along the directions that have extent, and which those are. "values"
 * (ascending) and "vectors" (columns) are A_rr's. */
static inline void pl_set_shape(pl_body* body, uint32_t c, mat3 arr, double mass,
                                const double values[3], mat3 vectors)
{
    pl_clusters* k = &body->clusters;
    mat3 inverse = m3_zero();
    double spacing2 = body->spacing * body->spacing * 1e-8 * mass;
    int rank = 0;
    for (int e = 2; e >= 0; --e)
        if (values[e] > PL_LEAST_EXTENT * values[2] && values[e] > spacing2)
        {
            vec3 v = v3(vectors.m[0][e], vectors.m[1][e], vectors.m[2][e]);
            inverse = m3_add(inverse, m3_scale(m3_outer(v, v), 1 / values[e]));
            ++rank;
        }
    int axis = rank == 2 ? 0 : 2;
    k->rank[c] = (uint8_t)rank;
    for (int i = 0; i < 3; ++i)
        k->axis[c][i] = rank == 3 || rank == 0 ? 0.0f : (float)vectors.m[i][axis];
    pl_store_symmetric(arr, k->arr[c]);
    pl_store_symmetric(inverse, k->arr_inv[c]);
}

/* How much stiffer than rigid goals those with "beta" must be for the same Young's modulus, where
 * they resist: what they follow of a stretch is taken from it. 1 for the papers' alpha. */
static inline double pl_material_firmness(const pliant_material_desc* m)
{
    if (m->stiffness_kind == PLIANT_STIFFNESS_ALPHA || m->goal == PLIANT_GOAL_RIGID)
        return 1;
    return (3 - m->beta) / (3 * (1 - m->beta));
}

#endif
