// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fallback for rotations that the eight-lane method cannot certify, and the choice of the SIMD
 * path.
 *
 * Davenport's 4x4 matrix K (q^T K q = tr(R(q)^T F); Horn 1987, section 4) is diagonalised by
 * Jacobi's method in double. Its eigenvectors are orthonormal to rounding for any F, so the one of
 * the largest eigenvalue is a rotation even where that is not unique (s2 + s3 = 0). All SIMD paths
 * share this function: plain IEEE arithmetic, sqrt and fabs only.
 */
#include "dynamics/rotation.h"

#include <assert.h>
#include <math.h>

enum
{
    SWEEPS = 12 /* four or five are enough; convergence is quadratic */
};

/* Entries of K below this share of F's largest count as zero: this rotates the eigenvector by at
 * most 1e-12 s1 / (s2 + s3), far less than F's rounding to float. */
static const double NEGLIGIBLE = 1e-12;

/* A Jacobi rotation of rows and columns p and q: k[p][q] becomes 0; v accumulates rotations. */
static void jacobi_rotate(double k[4][4], double v[4][4], int p, int q)
{
    double off = k[p][q];
    double theta = (k[q][q] - k[p][p]) / (2 * off);
    double t = 1 / (fabs(theta) + sqrt(theta * theta + 1));
    if (theta < 0)
        t = -t;
    double c = 1 / sqrt(t * t + 1), s = t * c;
    k[p][p] -= t * off;
    k[q][q] += t * off;
    k[p][q] = k[q][p] = 0;
    for (int i = 0; i < 4; ++i)
    {
        if (i != p && i != q)
        {
            double a = k[i][p], b = k[i][q];
            k[i][p] = k[p][i] = c * a - s * b;
            k[i][q] = k[q][i] = s * a + c * b;
        }
        double a = v[i][p], b = v[i][q];
        v[i][p] = c * a - s * b;
        v[i][q] = s * a + c * b;
    }
}

/* The unit eigenvector of the largest eigenvalue; the first of equal ones. */
static void largest_eigenvector(double k[4][4], double scale, double out[4])
{
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int sweep = 0; sweep < SWEEPS; ++sweep)
    {
        int turns = 0;
        for (int p = 0; p < 3; ++p)
            for (int q = p + 1; q < 4; ++q)
                if (fabs(k[p][q]) > NEGLIGIBLE * scale)
                {
                    jacobi_rotate(k, v, p, q);
                    ++turns;
                }
        if (turns == 0)
            break;
    }
    int best = 0;
    for (int i = 1; i < 4; ++i)
        if (k[i][i] > k[best][best])
            best = i;
    for (int i = 0; i < 4; ++i)
        out[i] = v[i][best];
}

static void repair_lane(const float* f, float* r)
{
    double largest = 0, m[3][3], q[4];
    bool finite = true;
    for (int i = 0; i < 9; ++i)
    {
        m[i / 3][i % 3] = f[8 * i];
        finite = finite && isfinite(f[8 * i]);
        largest = fabs(m[i / 3][i % 3]) > largest ? fabs(m[i / 3][i % 3]) : largest;
    }
    if (finite && largest > 0)
    {
        double k[4][4] = {
            {m[0][0] + m[1][1] + m[2][2], 0, 0, 0},
            {m[2][1] - m[1][2], m[0][0] - m[1][1] - m[2][2], 0, 0},
            {m[0][2] - m[2][0], m[0][1] + m[1][0], m[1][1] - m[0][0] - m[2][2], 0},
            {m[1][0] - m[0][1], m[0][2] + m[2][0], m[1][2] + m[2][1], m[2][2] - m[0][0] - m[1][1]}};
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j)
                k[i][j] = k[j][i];
        largest_eigenvector(k, largest, q);
    }
    else
        q[0] = 1, q[1] = q[2] = q[3] = 0;
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double s = 2 / (w * w + x * x + y * y + z * z);
    r[0] = (float)(1 - s * (y * y + z * z));
    r[8] = (float)(s * (x * y - w * z));
    r[16] = (float)(s * (x * z + w * y));
    r[24] = (float)(s * (x * y + w * z));
    r[32] = (float)(1 - s * (x * x + z * z));
    r[40] = (float)(s * (y * z - w * x));
    r[48] = (float)(s * (x * z - w * y));
    r[56] = (float)(s * (y * z + w * x));
    r[64] = (float)(1 - s * (x * x + y * y));
}

void pl_rotation_repair(const float f[72], float r[72], unsigned lanes)
{
    for (int lane = 0; lane < 8; ++lane)
        if (lanes >> lane & 1u)
            repair_lane(f + lane, r + lane);
}

#define CALL(name, path, simd)                                                                     \
    case simd:                                                                                     \
        name##_##path(f, r, count);                                                                \
        break;

void pl_rotation_batch(uint32_t simd, const float* f, float* r, uint32_t count)
{
    assert(pl_cpu_has(simd));
    switch (simd == PLIANT_SIMD_AUTO ? pl_cpu_best() : simd)
    {
        PL_WIDE_PATHS(CALL, pl_rotation_batch)
        default:
            pl_rotation_batch_scalar(f, r, count);
    }
}
