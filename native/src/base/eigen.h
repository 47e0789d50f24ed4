// SPDX-License-Identifier: GPL-3.0-or-later
/* Eigenvectors of a symmetric 3x3 matrix by Jacobi rotations (Golub and Van Loan, "Matrix
 * Computations"), in plain IEEE operations. A step may not call LAPACKE, whose results depend on
 * the library that is installed. */
#ifndef PL_BASE_EIGEN_H
#define PL_BASE_EIGEN_H

#include "base/math3.h"

/* The Jacobi rotation of rows and columns p and q that makes a[p][q] zero; v accumulates it. */
static inline void pl_jacobi_turn3(mat3* a, mat3* v, int p, int q)
{
    int r = 3 - p - q;
    double off = a->m[p][q];
    double theta = (a->m[q][q] - a->m[p][p]) / (2 * off);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    double rp = a->m[r][p], rq = a->m[r][q];
    a->m[p][p] -= t * off;
    a->m[q][q] += t * off;
    a->m[p][q] = a->m[q][p] = 0;
    a->m[r][p] = a->m[p][r] = c * rp - s * rq;
    a->m[r][q] = a->m[q][r] = s * rp + c * rq;
    for (int i = 0; i < 3; ++i)
    {
        double vp = v->m[i][p], vq = v->m[i][q];
        v->m[i][p] = c * vp - s * vq;
        v->m[i][q] = s * vp + c * vq;
    }
}

/* Eigenvalues ascending, eigenvectors as columns. */
static inline void pl_jacobi3(mat3 a, double values[3], mat3* vectors)
{
    double scale = fabs(a.m[0][0]) + fabs(a.m[1][1]) + fabs(a.m[2][2]);
    mat3 v = m3_identity();
    for (int sweep = 0; sweep < 12; ++sweep) /* converges in four or five */
    {
        int turns = 0;
        for (int p = 0; p < 2; ++p)
            for (int q = p + 1; q < 3; ++q)
                if (fabs(a.m[p][q]) > 1e-15 * scale)
                {
                    pl_jacobi_turn3(&a, &v, p, q);
                    ++turns;
                }
        if (turns == 0)
            break;
    }
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2 - i; ++j)
            if (a.m[order[j]][order[j]] > a.m[order[j + 1]][order[j + 1]])
            {
                int swap = order[j];
                order[j] = order[j + 1];
                order[j + 1] = swap;
            }
    for (int j = 0; j < 3; ++j)
    {
        values[j] = a.m[order[j]][order[j]];
        for (int i = 0; i < 3; ++i)
            vectors->m[i][j] = v.m[i][order[j]];
    }
}

#endif
