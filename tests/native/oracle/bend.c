// SPDX-License-Identifier: GPL-3.0-or-later
/* The oracle's materials: how stiff quadratic modes are, and what shapes and overlap of clusters do
 * to the stiffness. Sums over members where the library uses their moments. */
#include "native/oracle/oracle.h"

#include <base/lapack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The strain of mode n = 6 i + j, u_i = q_j, at a member, in units of the width. */
static mat3 strain_of(int n, vec3 s)
{
    const double at[3] = {s.x, s.y, s.z};
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    mat3 gradient = m3_zero();
    gradient.m[n / 6][pair[n % 6][0]] += at[pair[n % 6][1]];
    gradient.m[n / 6][pair[n % 6][1]] += at[pair[n % 6][0]];
    return m3_scale(m3_add(gradient, m3_transpose(gradient)), .5);
}

static double product(mat3 a, mat3 b)
{
    return m3_trace(m3_mul(a, m3_transpose(b)));
}

static void add_strains(double h[18][18], vec3 s, double mass)
{
    mat3 strain[18];
    for (int n = 0; n < 18; ++n)
        strain[n] = strain_of(n, s);
    for (int n = 0; n < 18; ++n)
        for (int m = 0; m < 18; ++m)
            h[n][m] += mass * product(strain[n], strain[m]);
}

/* The energy of each pair of modes in the material, over what S makes of it. */
static void material_energy(const reference* o, const reference_level* level, uint32_t c,
                            double h[18][18])
{
    const reference_cluster* cluster = &level->cluster[c];
    double values[3], width = cluster->width_rms;
    mat3 vectors;
    for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
    {
        const reference_member* member = &level->member[k];
        add_strains(h, v3_scale(member->p, 1 / width), o->mass[member->index] * member->weight);
    }
    if (o->thickness > 0 && pl_eigen3(cluster->arr, values, &vectors))
    {
        vec3 across = v3(vectors.m[0][0], vectors.m[1][0], vectors.m[2][0]);
        add_strains(h, v3_scale(across, o->thickness / sqrt(12) / width), cluster->mass);
    }
    double shape = m3_trace(m3_mul(cluster->arr, cluster->arr)) / pow(m3_trace(cluster->arr), 2);
    shape /= cluster->mass;
    for (int n = 0; n < 18 * 18; ++n)
        h[n / 18][n % 18] *= shape;
}

/* The eigenvectors of the 18 x 18 matrix of all modes, those below "least" as they are, the others
 * over the root of their eigenvalue; returns how many are below. */
static int mode_basis(const double matrix[36], double least, double basis[18][18], double size[18])
{
    double all[18 * 18] = {0};
    int below = 0;
    for (int n = 0; n < 18; ++n)
        for (int m = 0; m < 18; ++m)
            all[18 * n + m] = n / 6 == m / 6 ? matrix[n % 6 * 6 + m % 6] : 0;
    if (!pl_eigen(18, all, size))
        abort();
    for (int e = 0; e < 18; ++e)
    {
        bool fitted = size[e] > least;
        below += !fitted;
        for (int n = 0; n < 18; ++n)
            basis[n][e] = all[18 * n + e] / (fitted ? sqrt(size[e]) : 1);
    }
    return below;
}

static double between(double h[18][18], double basis[18][18], int e, int f)
{
    double sum = 0;
    for (int n = 0; n < 18; ++n)
        for (int m = 0; m < 18; ++m)
            sum += basis[n][e] * h[n][m] * basis[m][f];
    return sum;
}

void reference_bend(const reference* o, reference_level* level, uint32_t c, const double matrix[36],
                    double least)
{
    reference_quadratic* quad = &level->quadratic[c];
    double h[18][18] = {{0}}, basis[18][18], size[18], d[18 * 18], values[18];
    double block[18 * 18], inverse[18 * 18] = {0}, gives[18][18] = {{0}};
    material_energy(o, level, c, h);
    int below = mode_basis(matrix, least, basis, size), fitted = 18 - below;
    memset(quad->bend, 0, sizeof quad->bend);
    for (int i = 0; i < below * below; ++i)
        block[i] = between(h, basis, i / below, i % below);
    if (below > 0 && pl_pseudo_inverse(below, block, 1e-9, inverse) < 0)
        abort();
    for (int i = 0; i < below; ++i)
        for (int f = 0; f < fitted; ++f)
            for (int j = 0; j < below; ++j)
                gives[i][f] += inverse[below * i + j] * between(h, basis, j, below + f);
    for (int e = 0; e < fitted; ++e)
        for (int f = 0; f < fitted; ++f)
        {
            double sum = between(h, basis, below + e, below + f);
            for (int i = 0; i < below; ++i)
                sum -= between(h, basis, below + e, i) * gives[i][f] +
                       size[i] * gives[i][e] * gives[i][f];
            d[fitted * e + f] = sum;
        }
    if (fitted > 0 && !pl_eigen(fitted, d, values))
        abort();
    for (int e = 0; e < fitted; ++e)
        for (int n = 0; n < 18 * 18; ++n)
        {
            double left = 0, right = 0;
            for (int f = 0; f < fitted; ++f)
            {
                left += basis[n / 18][below + f] * d[fitted * f + e];
                right += basis[n % 18][below + f] * d[fitted * f + e];
            }
            quad->bend[n / 18][n % 18] += (1 - fmin(fmax(values[e], 0), 1)) * left * right;
        }
}

void reference_follow(const reference_cluster* cluster, reference_quadratic* quad)
{
    double moment[18] = {0}, at_rest[18] = {0}, t[18] = {0};
    for (int n = 0; n < 18; ++n)
    {
        moment[n] = quad->axq[n / 6][n % 6];
        for (int i = 0; i < 3; ++i)
            moment[n] -= cluster->f.m[n / 6][i] * quad->arq[i][n % 6];
        moment[n] /= cluster->mass;
    }
    for (int n = 0; n < 18; ++n)
        for (int i = 0; i < 3; ++i)
            at_rest[n] += cluster->r.m[i][n / 6] * moment[6 * i + n % 6];
    for (int n = 0; n < 18; ++n)
        for (int m = 0; m < 18; ++m)
            t[n] += quad->bend[n][m] * at_rest[m];
    for (int n = 0; n < 18; ++n)
        for (int i = 0; i < 3; ++i)
            quad->t[n / 6][n % 6] += cluster->r.m[n / 6][i] * t[6 * i + n % 6];
}

double reference_firmness(const pliant_material_desc* material)
{
    double b = material->beta;
    return material->stiffness_kind == PLIANT_STIFFNESS_ALPHA || material->goal == PLIANT_GOAL_RIGID
               ? 1
               : (1 - b / 3) / (1 - b);
}

double reference_firm(const reference* o, uint32_t l)
{
    const reference_level* level = &o->level[l];
    mat3 sum = m3_zero(), vectors;
    double mass = 0, part = 0, values[3], *square = calloc(o->particles, sizeof *square);
    double loose = 1, shared = 0;
    if (!square)
        abort();
    for (uint32_t c = 0; c < level->clusters; ++c)
    {
        const reference_cluster* cluster = &level->cluster[c];
        double width2 =
            m3_trace(m3_mul(cluster->arr, cluster->arr)) / m3_trace(cluster->arr) / cluster->mass;
        if (!(width2 > 0))
            continue;
        sum = m3_add(sum, m3_scale(cluster->arr, 1 / width2));
        mass += cluster->mass;
        part += cluster->mass * sqrt(width2) / o->width;
        for (uint32_t k = level->begin[c]; k < level->begin[c + 1] && l == 0; ++k)
            square[level->member[k].index] += pow(level->member[k].weight, 2);
    }
    for (uint32_t i = 0; i < o->particles; ++i)
        shared += (square[i] > 0 ? 1 / square[i] : 1) / o->particles;
    free(square);
    if (l == 0 && level->clusters > 1)
        loose = fmin(1 + .11 / pow(fmax(shared - 1, 1e-3), 2), 4);
    loose = loose > 1.09 ? loose : 1;
    if (!(mass > 0) || !pl_eigen3(m3_scale(sum, 1 / mass), values, &vectors))
        return loose;
    return loose / (1 + 1.3 * fmax(values[2] - 1.13, 0) * fmax(0, 1 - 3 * part / mass));
}
