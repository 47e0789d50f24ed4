// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/cpu.h"

#if defined(PL_WITH_AVX2) || defined(PL_WITH_AVX512)
#include <cpuid.h>

/* Uses cpuid: not every compiler's run time has __builtin_cpu_supports. */
typedef struct
{
    bool avx2, avx512;
} x86_features;

/* Which registers the operating system saves when it switches threads (XCR0). */
static uint32_t saved_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static x86_features ask_processor(void)
{
    enum
    {
        OSXSAVE_AND_AVX = 3 << 27, /* leaf 1, ecx */
        AVX2 = 1 << 5,             /* leaf 7, ebx */
        SAVES_AVX = 0x6,
        SAVES_AVX512 = 0xe6
    };
    /* leaf 7, ebx: F, DQ, BW and VL, which the path is compiled with */
    const uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    x86_features has = {false, false};
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & OSXSAVE_AND_AVX) != OSXSAVE_AND_AVX)
        return has;
    uint32_t saved = saved_registers();
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return has;
    has.avx2 = (saved & SAVES_AVX) == SAVES_AVX && (b & AVX2);
    has.avx512 = (saved & SAVES_AVX512) == SAVES_AVX512 && (b & avx512) == avx512;
    return has;
}
#endif

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
            return true; /* part of every 64-bit x86 */
#endif
#if defined(PL_WITH_AVX2)
        case PLIANT_SIMD_AVX2:
            return ask_processor().avx2;
#endif
#if defined(PL_WITH_AVX512)
        case PLIANT_SIMD_AVX512:
            return ask_processor().avx512;
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
