// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/lapack.h"

#include "base/core.h"
#include "base/platform.h"

#include <lapacke.h>
#include <stdatomic.h>
#include <string.h>

/* PyPI's scipy-openblas32 declares and exports the same functions with a prefix. */
#if defined(PL_SCIPY_OPENBLAS)
#define PL_LAPACKE(name) scipy_LAPACKE_##name
#define PL_LAPACK_NAME "LAPACKE of scipy-openblas32"
#else
#define PL_LAPACKE(name) LAPACKE_##name
#define PL_LAPACK_NAME "LAPACKE"
#endif

enum
{
    LARGEST = 18
};

const char* pl_lapack_name(void)
{
    return PL_LAPACK_NAME;
}

/* OpenBLAS keeps a work buffer for each concurrent call, and retries for ever if the system has no
 * memory for one. So calls are serialised: they need one buffer, which the first call allocates and
 * OpenBLAS keeps. Set-up spends little time here. */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static bool warm; /* guarded by "busy" */

static void leave(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

/* Takes the lock. False, and not taken, if there is no memory for the first call. */
static bool enter(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        pl_spin_pause();
    if (warm)
        return true;
    void* probe = pl_alloc_bare(PL_LAPACK_BYTES, 1);
    warm = probe != NULL;
    pl_free(probe);
    if (warm)
    {
        double a[4] = {2, 1, 1, 2}, values[2];
        PL_LAPACKE(dsyev)(LAPACK_ROW_MAJOR, 'V', 'U', 2, a, 2, values);
    }
    else
        leave();
    return warm;
}

bool pl_lapack_ready(void)
{
    bool ready = enter();
    if (ready)
        leave();
    return ready;
}

bool pl_eigen(int n, double* matrix, double* values)
{
    if (n < 1 || n > LARGEST || !enter())
        return false;
    int info = PL_LAPACKE(dsyev)(LAPACK_ROW_MAJOR, 'V', 'U', n, matrix, n, values);
    leave();
    return info == 0;
}

bool pl_eigen3(mat3 symmetric, double values[3], mat3* vectors)
{
    double a[9];
    memcpy(a, symmetric.m, sizeof a);
    if (!pl_eigen(3, a, values))
        return false;
    memcpy(vectors->m, a, sizeof a);
    if (m3_det(*vectors) < 0)
        for (int i = 0; i < 3; ++i)
            vectors->m[i][0] = -vectors->m[i][0];
    return true;
}

bool pl_svd3(mat3 a, mat3* u, double sigma[3], mat3* v)
{
    double copy[9], vt[9], work[3];
    memcpy(copy, a.m, sizeof copy);
    if (!enter())
        return false;
    int info = PL_LAPACKE(dgesvd)(LAPACK_ROW_MAJOR, 'A', 'A', 3, 3, copy, 3, sigma, &u->m[0][0], 3,
                                  vt, 3, work);
    leave();
    if (info != 0)
        return false;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            v->m[i][j] = vt[3 * j + i];
    return true;
}

int pl_pseudo_inverse(int n, const double* matrix, double relative, double* inverse)
{
    double vectors[LARGEST * LARGEST], values[LARGEST];
    if (n < 1 || n > LARGEST)
        return -1;
    memcpy(vectors, matrix, sizeof(double) * (size_t)(n * n));
    if (!pl_eigen(n, vectors, values))
        return -1;
    int rank = 0;
    memset(inverse, 0, sizeof(double) * (size_t)(n * n));
    for (int k = 0; k < n; ++k)
    {
        if (!(values[k] > 0) || values[k] <= relative * values[n - 1])
            continue;
        ++rank;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                inverse[i * n + j] += vectors[i * n + k] * vectors[j * n + k] / values[k];
    }
    return rank;
}
