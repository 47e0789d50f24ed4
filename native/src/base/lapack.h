// SPDX-License-Identifier: GPL-3.0-or-later
/* The dense linear algebra of set-up, on LAPACKE; lapack.c alone includes its header. Results enter
 * the saved state, so that a resumed bake does not depend on whose LAPACK resumes it. */
#ifndef PL_BASE_LAPACK_H
#define PL_BASE_LAPACK_H

#include "base/math3.h"

#include <stdbool.h>

/* Eigenvalues (ascending) and orthonormal eigenvectors (columns of "vectors", det +1) of a
 * symmetric matrix. False if LAPACK fails (not finite). */
bool pl_eigen3(mat3 symmetric, double values[3], mat3* vectors);
/* The same for n x n, n at most 18, in place: the matrix (row-major) becomes the eigenvectors. */
bool pl_eigen(int n, double* matrix, double* values);
/* a = u diag(sigma) v^T, sigma descending, u and v orthogonal (not necessarily det +1). */
bool pl_svd3(mat3 a, mat3* u, double sigma[3], mat3* v);
/* The inverse of a symmetric positive semi-definite n x n matrix (row-major, n at most 18), with
 * eigenvalues below "relative" times the largest left out (their inverse is 0). Returns the rank,
 * or -1 on failure. */
int pl_pseudo_inverse(int n, const double* matrix, double relative, double* inverse);
/* Makes sure that LAPACK has the memory that it works with; false: there is not enough. OpenBLAS
 * waits for ever when it gets none, so this is asked before its first call. Later calls need no
 * more: they come one at a time. The functions above ask themselves, and fail. */
bool pl_lapack_ready(void);
enum
{
    PL_LAPACK_BYTES = 192 << 20 /* address space: one work buffer of OpenBLAS, and some */
};
/* What LAPACK this is, for pliant_build_info(). */
const char* pl_lapack_name(void);

#endif
