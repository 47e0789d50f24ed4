// SPDX-License-Identifier: GPL-3.0-or-later
/* Selects among the variants of a *.simd.c file, which is compiled once for each SIMD path: names
 * end with the path's name. The scalar variant always exists. */
#ifndef PL_BASE_SIMD_DISPATCH_H
#define PL_BASE_SIMD_DISPATCH_H

#include "base/cpu.h"

#if defined(PL_WITH_SSE2)
#define PL_IF_SSE2(X, name) X(name, sse2, PLIANT_SIMD_SSE2)
#else
#define PL_IF_SSE2(X, name)
#endif
#if defined(PL_WITH_AVX2)
#define PL_IF_AVX2(X, name) X(name, avx2, PLIANT_SIMD_AVX2)
#else
#define PL_IF_AVX2(X, name)
#endif
#if defined(PL_WITH_AVX512)
#define PL_IF_AVX512(X, name) X(name, avx512, PLIANT_SIMD_AVX512)
#else
#define PL_IF_AVX512(X, name)
#endif
#if defined(PL_WITH_NEON)
#define PL_IF_NEON(X, name) X(name, neon, PLIANT_SIMD_NEON)
#else
#define PL_IF_NEON(X, name)
#endif

/* X(name, path, simd) for every compiled path except the scalar one. */
#define PL_WIDE_PATHS(X, name)                                                                     \
    PL_IF_SSE2(X, name) PL_IF_AVX2(X, name) PL_IF_AVX512(X, name) PL_IF_NEON(X, name)

#define PL_DECLARE_PATH(name, path, simd) extern const name name##_##path;
#define PL_RETURN_PATH(name, path, simd)                                                           \
    case simd:                                                                                     \
        return &name##_##path;

/* Defines "const name* name_for(uint32_t simd)"; each path has a table of the type "name". */
#define PL_DEFINE_KERNELS_FOR(name)                                                                \
    PL_DECLARE_PATH(name, scalar, )                                                                \
    PL_WIDE_PATHS(PL_DECLARE_PATH, name)                                                           \
    const name* name##_for(uint32_t simd)                                                          \
    {                                                                                              \
        switch (simd == PLIANT_SIMD_AUTO ? pl_cpu_best() : simd)                                   \
        {                                                                                          \
            PL_WIDE_PATHS(PL_RETURN_PATH, name)                                                    \
            default:                                                                               \
                return &name##_scalar;                                                             \
        }                                                                                          \
    }

#endif
