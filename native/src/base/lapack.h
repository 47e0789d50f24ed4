// SPDX-License-Identifier: GPL-3.0-or-later
/* The dense linear algebra of set-up, on LAPACKE; only lapack.c includes its header. Results are
 * part of the saved state, so a resumed bake does not depend on the LAPACK of the machine. */
#ifndef PL_BASE_LAPACK_H
#define PL_BASE_LAPACK_H

#include "base/math3.h"

#include <stdbool.h>

/* Eigenvalues (ascending) and orthonormal eigenvectors (columns of "vectors", det +1) of a
 * symmetric matrix. False if LAPACK fails (values that are not finite). */
bool pl_eigen3(mat3 symmetric, double values[3], mat3* vectors);
/* The same for n x n, n at most 18, in place: the matrix (row-major) becomes the eigenvectors. */
bool pl_eigen(int n, double* matrix, double* values);
/* a = u diag(sigma) v^T, sigma descending, u and v orthogonal (not necessarily det +1). */
bool pl_svd3(mat3 a, mat3* u, double sigma[3], mat3* v);
/* The pseudo-inverse of a symmetric positive semi-definite n x n matrix (row-major, n at most 18).
 * Eigenvalues below "relative" times the largest count as 0. Returns the rank, or -1 on failure. */
int pl_pseudo_inverse(int n, const double* matrix, double relative, double* inverse);
/* Makes sure that LAPACK has its work memory; false: there is not enough. OpenBLAS waits for ever
 * without it. Later calls need no more, since they are serialised. The functions above do the same
 * check, and fail. */
bool pl_lapack_ready(void);
enum
{
    PL_LAPACK_BYTES = 192 << 20 /* address space: one work buffer of OpenBLAS and a margin */
};
/* The name of the LAPACK, for pliant_build_info(). */
const char* pl_lapack_name(void);

#endif
