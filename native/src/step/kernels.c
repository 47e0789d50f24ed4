// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels.h"

extern const pl_kernels pl_kernels_scalar;
#if defined(PL_WITH_SSE2)
extern const pl_kernels pl_kernels_sse2;
#endif
#if defined(PL_WITH_AVX2)
extern const pl_kernels pl_kernels_avx2;
#endif
#if defined(PL_WITH_AVX512)
extern const pl_kernels pl_kernels_avx512;
#endif
#if defined(PL_WITH_NEON)
extern const pl_kernels pl_kernels_neon;
#endif

const pl_kernels* pl_kernels_for(uint32_t simd)
{
    switch (simd)
    {
#if defined(PL_WITH_SSE2)
        case PLIANT_SIMD_SSE2:
            return &pl_kernels_sse2;
#endif
#if defined(PL_WITH_AVX2)
        case PLIANT_SIMD_AVX2:
            return &pl_kernels_avx2;
#endif
#if defined(PL_WITH_AVX512)
        case PLIANT_SIMD_AVX512:
            return &pl_kernels_avx512;
#endif
#if defined(PL_WITH_NEON)
        case PLIANT_SIMD_NEON:
            return &pl_kernels_neon;
#endif
        default:
            return &pl_kernels_scalar;
    }
}
