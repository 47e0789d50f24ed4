// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu.h"

bool pl_cpu_has(uint32_t simd)
{
    switch (simd)
    {
        case PLIANT_SIMD_AUTO:
            return true;
#if defined(PL_WITH_SCALAR)
        case PLIANT_SIMD_SCALAR:
            return true;
#endif
#if defined(PL_WITH_SSE2)
        case PLIANT_SIMD_SSE2:
            return __builtin_cpu_supports("sse2");
#endif
#if defined(PL_WITH_AVX2)
        case PLIANT_SIMD_AVX2:
            return __builtin_cpu_supports("avx2");
#endif
#if defined(PL_WITH_AVX512)
        /* Every extension that the path is compiled with; the compiler's run time asks the
         * operating system too whether it saves the wide registers. */
        case PLIANT_SIMD_AVX512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#endif
#if defined(PL_WITH_NEON)
        case PLIANT_SIMD_NEON:
            return true; /* part of every 64-bit ARM */
#endif
        default:
            return false;
    }
}

uint32_t pl_cpu_best(void)
{
    static const uint32_t widest_first[] = {PLIANT_SIMD_AVX512, PLIANT_SIMD_AVX2, PLIANT_SIMD_NEON,
                                            PLIANT_SIMD_SSE2};
    for (unsigned i = 0; i < sizeof widest_first / sizeof widest_first[0]; ++i)
        if (pl_cpu_has(widest_first[i]))
            return widest_first[i];
    return PLIANT_SIMD_SCALAR;
}

const char* pl_cpu_path_name(uint32_t simd)
{
    static const char* const names[] = {"auto", "scalar", "sse2", "avx2", "avx512", "neon"};
    return simd < sizeof names / sizeof names[0] ? names[simd] : "unknown";
}
