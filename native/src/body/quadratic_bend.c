// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Quadratic goals of a material in pascals or hertz: how much of each quadratic mode the goals
 * follow, so that a cluster bends as stiffly as the material inside it.
 *
 * A displacement u = C q* of a cluster's members has strains that are linear in p. The material of
 * Young's modulus E and density rho (Poisson's ratio 0) stores
 *
 *     E / (2 rho) sum m w eps(p) : eps(p) = E / (2 rho) M C : H : C
 *
 * in them, with H from the second moments A_rr alone. A goal that does not follow the modes at all
 * stores k / 2 M W^4 C : (I x G) : C, with k = E / (rho S^2) (material.c) and G the matrix of the
 * modes. That is about right for a cluster as thick as it is long, and far too much for a thin one:
 * its members move by x^2 / 2 when it is bent, and its strains are as small as it is thin. So the
 * goals keep back D = (S / W)^2 G^-1 H of each mode and follow the rest. In coordinates in which G
 * is the identity D is symmetric; its eigenvalues are limited to 1, since more than the whole of a
 * mode cannot be kept back without a larger alpha.
 *
 * Modes that are too small to be fitted (they hold what is thin, such as x z of a thin plate) are
 * not followed: their energy is k M W^4 G. They give way when others are bent, so H is taken at
 * its least over them, less what they store already.
 *
 * D mixes directions of space (bending is u_z = -x^2 / 2 and u_x = x z together), so it belongs to
 * the rest frame; quad_bend is B = (I x V) (1 - D) (I x V^T) with G = (V V^T)^-1, which takes the
 * moments in that frame to the modes that are followed.
 */
#include "body/quadratic_bend.h"

#include "base/lapack.h"

#include <string.h>

enum
{
    MODES = 18 /* six monomials for each of three directions: index 6 i + j */
};

/* The strains of the modes: component a, b of mode n is sum_k strain[n][a][b][k] p_k. */
static void strains_of_modes(double strain[MODES][3][3][3])
{
    static const int first[6] = {0, 1, 2, 0, 1, 2}, second[6] = {0, 1, 2, 1, 2, 0};
    memset(strain, 0, sizeof(double) * MODES * 27);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 6; ++j)
        {
            double(*s)[3][3] = strain[6 * i + j];
            int a = first[j], b = second[j];
            s[i][a][b] += .5, s[a][i][b] += .5;
            s[i][b][a] += .5, s[b][i][a] += .5;
        }
}

/* H for a mean square offset "spread" (3 x 3). */
static void strain_energy(mat3 spread, double h[MODES][MODES])
{
    double strain[MODES][3][3][3], spreaded[MODES][27];
    strains_of_modes(strain);
    for (int n = 0; n < MODES; ++n)
        for (int ab = 0; ab < 9; ++ab)
            for (int l = 0; l < 3; ++l)
            {
                double sum = 0;
                for (int k = 0; k < 3; ++k)
                    sum += strain[n][ab / 3][ab % 3][k] * spread.m[k][l];
                spreaded[n][3 * ab + l] = sum;
            }
    for (int n = 0; n < MODES; ++n)
        for (int m = 0; m < MODES; ++m)
        {
            double sum = 0;
            for (int j = 0; j < 27; ++j)
                sum += spreaded[n][j] * strain[m][j / 9][j / 3 % 3][j % 3];
            h[n][m] = sum;
        }
}

/* H in another basis of the monomials, whose vectors are the columns of "basis". */
static void change_basis(double basis[6][6], double factor, double h[MODES][MODES])
{
    double half[MODES][MODES];
    for (int n = 0; n < MODES; ++n)
        for (int m = 0; m < MODES; ++m)
        {
            half[n][m] = 0;
            for (int j = 0; j < 6; ++j)
                half[n][m] += h[n][m / 6 * 6 + j] * basis[j][m % 6];
        }
    for (int n = 0; n < MODES; ++n)
        for (int m = 0; m < MODES; ++m)
        {
            h[n][m] = 0;
            for (int j = 0; j < 6; ++j)
                h[n][m] += factor * basis[j][n % 6] * half[n / 6 * 6 + j][m];
        }
}

/* The fitted modes' share of H, with the others as they yield to them: those are the first
 * "hidden" of each six, whose own matrix is diag(size). Leaves n x n in "d". */
static bool relax(double h[MODES][MODES], const double size[6], int hidden, double* d)
{
    int fitted[MODES], others[MODES], n = 0, count = 0;
    double block[MODES * MODES], inverse[MODES * MODES], gives[MODES][MODES];
    for (int i = 0; i < MODES; ++i)
        if (i % 6 < hidden)
            others[count++] = i;
        else
            fitted[n++] = i;
    for (int i = 0; i < count * count; ++i)
        block[i] = h[others[i / count]][others[i % count]];
    if (count > 0 && pl_pseudo_inverse(count, block, 1e-9, inverse) < 0)
        return false;
    for (int i = 0; i < count; ++i)
        for (int m = 0; m < n; ++m)
        {
            gives[i][m] = 0;
            for (int j = 0; j < count; ++j)
                gives[i][m] += inverse[count * i + j] * h[others[j]][fitted[m]];
        }
    for (int i = 0; i < n; ++i)
        for (int m = 0; m < n; ++m)
        {
            double sum = h[fitted[i]][fitted[m]];
            for (int j = 0; j < count; ++j)
                sum -= .5 * (h[fitted[i]][others[j]] * gives[j][m] +
                             h[fitted[m]][others[j]] * gives[j][i]) +
                       size[others[j] % 6] * gives[j][i] * gives[j][m];
            d[n * i + m] = sum;
        }
    return true;
}

/* 1 - D with D's eigenvalues between 0 and 1, in place. */
static bool keep_rest(int n, double* d)
{
    double vectors[MODES * MODES], values[MODES];
    memcpy(vectors, d, sizeof(double) * (size_t)(n * n));
    if (n > 0 && !pl_eigen(n, vectors, values))
        return false;
    for (int i = 0; i < n; ++i)
        for (int m = 0; m < n; ++m)
        {
            d[n * i + m] = 0;
            for (int e = 0; e < n; ++e)
                d[n * i + m] +=
                    (1 - PL_CLAMP(values[e], 0.0, 1.0)) * vectors[n * i + e] * vectors[n * m + e];
        }
    return true;
}

pl_status pl_quadratic_bend(pl_clusters* k, uint32_t c, mat3 scatter, mat3 second,
                            const double modes[36], double least)
{
    double basis[6][6], size[6], h[MODES][MODES], d[MODES * MODES];
    double trace = m3_trace(second), square = m3_trace(m3_mul(second, second));
    int hidden = 0;
    memset(k->quad_bend[c], 0, sizeof k->quad_bend[c]);
    memcpy(basis, modes, sizeof basis);
    if (!pl_eigen(6, &basis[0][0], size))
        return pl_fail(PLIANT_ERROR_INTERNAL,
                       "The quadratic modes of cluster %u have no eigenvalues", c);
    while (hidden < 6 && !(size[hidden] > least * PL_MAX(size[5], 1.0)))
        ++hidden;
    if (hidden == 6)
        return PLIANT_OK;
    for (int e = hidden; e < 6; ++e)
        for (int j = 0; j < 6; ++j)
            basis[j][e] /= sqrt(size[e]);
    strain_energy(m3_scale(scatter, 1 / trace), h);
    change_basis(basis, square / (trace * trace), h);
    int n = 6 - hidden;
    if (!relax(h, size, hidden, d) || !keep_rest(3 * n, d))
        return pl_fail(PLIANT_ERROR_INTERNAL, "The bending of cluster %u has no eigenvalues", c);
    for (int row = 0; row < MODES; ++row)
        for (int column = 0; column < MODES; ++column)
        {
            double sum = 0;
            for (int e = 0; e < n; ++e)
                for (int f = 0; f < n; ++f)
                    sum += basis[row % 6][hidden + e] * basis[column % 6][hidden + f] *
                           d[3 * n * (row / 6 * n + e) + column / 6 * n + f];
            k->quad_bend[c][MODES * row + column] = (float)sum;
        }
    return PLIANT_OK;
}
