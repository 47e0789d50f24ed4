// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The 9x9 system of quadratic goals (Mueller et al. 2005, "Meshless Deformations Based on Shape
 * Matching", section 4.3): the fit that is linear in q~ = (p, monomials of p less their means)
 * needs the inverse of sum m w q~ q~^T.
 *
 * Departure: it is inverted by blocks. With the monomials' own linear part taken out,
 *
 *     q* = q - mean - S p,   S = (sum m w (q - mean) p^T) A_rr^-1,
 *
 * the sums of p q*^T vanish, so the 9x9 matrix falls apart into A_rr, whose inverse every cluster
 * has anyway, and a 6x6 matrix. (Along directions in which a thin cluster counts as flat they do
 * not; what is left there is kept, for the fit to take out.) For a regular system this is the same
 * fit. Where it is singular, and it often is (flat clusters; curved sheets, where z is a quadratic
 * function of x and y; clusters of less than ten members), leaving small eigenvalues of the whole
 * out would mix linear and quadratic parts and break rigid motions. This way what is left out is
 * bending modes only, and the linear part stays the fit that linear goals have.
 *
 * The 6x6 matrix is kept for a cluster of width 1 and mass 1, so that it fits a float at any scale.
 */
#include "body/quadratic_rest.h"

#include "base/lapack.h"
#include "body/quadratic_bend.h"

#include <string.h>

/* Modes that move a cluster's members by less than 3 % of its width are noise, as directions of so
 * little extent are (layout.c). */
static const double LEAST_MODE = 1e-3;

void pl_quadratic_sums_add(pl_quadratic_sums* s, vec3 p, double mass)
{
    const double at[3] = {p.x, p.y, p.z};
    const double q[6] = {p.x * p.x, p.y * p.y, p.z * p.z, p.x * p.y, p.y * p.z, p.z * p.x};
    s->mass += mass;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            s->pp[i][j] += mass * at[i] * at[j];
    for (int i = 0; i < 6; ++i)
    {
        s->q[i] += mass * q[i];
        for (int j = 0; j < 3; ++j)
            s->qp[i][j] += mass * q[i] * at[j];
        for (int j = 0; j < 6; ++j)
            s->qq[i][j] += mass * q[i] * q[j];
    }
}

/* A_rr^-1 in double where it is regular; otherwise as stored, without the missing directions. */
static mat3 scatter_inverse(const pl_clusters* k, uint32_t c, const pl_quadratic_sums* s)
{
    mat3 scatter;
    memcpy(scatter.m, s->pp, sizeof scatter.m);
    const float* a = k->arr_inv[c];
    return k->rank[c] == 3 ? m3_inverse(scatter)
                           : (mat3){{{a[0], a[3], a[5]}, {a[3], a[1], a[4]}, {a[5], a[4], a[2]}}};
}

/* How stiff the modes are, by the matrix of pl_quadratic_rest. */
static pl_status bend(pl_clusters* k, uint32_t c, const pl_quadratic_sums* s, double thickness,
                      const double matrix[49])
{
    mat3 second, scatter, vectors;
    double modes[36], values[3];
    memcpy(second.m, s->pp, sizeof second.m);
    scatter = second;
    for (int i = 0; i < 36; ++i)
        modes[i] = matrix[i / 6 * 7 + i % 6];
    if (thickness > 0)
    {
        if (!pl_eigen3(second, values, &vectors))
            return pl_fail(PLIANT_ERROR_INTERNAL,
                           "The scatter matrix of cluster %u has no eigenvalues", c);
        vec3 across = v3(vectors.m[0][0], vectors.m[1][0], vectors.m[2][0]);
        double more = s->mass * thickness * thickness / 12;
        scatter = m3_add(scatter, m3_scale(m3_outer(across, across), more));
    }
    return pl_quadratic_bend(k, c, scatter, second, modes, LEAST_MODE);
}

pl_status pl_quadratic_rest(pl_clusters* k, uint32_t c, const pl_quadratic_sums* s,
                            double thickness)
{
    double width = k->width_rms[c], slope[6][3], unit = s->mass * width * width * width * width;
    /* the seventh row and column are the unit with which the modes compare */
    double matrix[49] = {[48] = 1}, inverse[49];
    mat3 scatter = scatter_inverse(k, c, s);
    memset(k->quad_inverse[c], 0, sizeof k->quad_inverse[c]);
    memset(k->quad_slope[c], 0, sizeof k->quad_slope[c]);
    memset(k->quad_thin[c], 0, sizeof k->quad_thin[c]);
    memset(k->quad_bend[c], 0, sizeof k->quad_bend[c]);
    if (!(unit > 0))
        return PLIANT_OK;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 3; ++j)
        {
            slope[i][j] = 0;
            for (int n = 0; n < 3; ++n)
                slope[i][j] += s->qp[i][n] * scatter.m[n][j];
            k->quad_slope[c][3 * i + j] = (float)slope[i][j];
        }
    for (int i = 0; i < 3 && k->rank[c] < 3; ++i)
        for (int j = 0; j < 6; ++j)
        {
            double sum = s->qp[j][i];
            for (int n = 0; n < 3; ++n)
                sum -= slope[j][n] * s->pp[n][i];
            k->quad_thin[c][6 * i + j] = (float)(sum / s->mass);
        }
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j <= i; ++j)
        {
            double sum = s->qq[i][j] - s->q[i] * s->q[j] / s->mass;
            for (int n = 0; n < 3; ++n)
                sum -= .5 * (slope[i][n] * s->qp[j][n] + slope[j][n] * s->qp[i][n]);
            matrix[7 * i + j] = matrix[7 * j + i] = sum / unit;
        }
    if (pl_pseudo_inverse(7, matrix, LEAST_MODE, inverse) < 0)
        return pl_fail(PLIANT_ERROR_INTERNAL,
                       "The quadratic modes of cluster %u have no eigenvalues", c);
    for (int i = 0; i < 36; ++i)
        k->quad_inverse[c][i] = (float)inverse[i / 6 * 7 + i % 6];
    return bend(k, c, s, thickness, matrix);
}
