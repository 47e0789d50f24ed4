// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/test.h"

#include <base/cpu.h>
#include <string.h>

TEST(the_scalar_path_is_always_there_and_nonsense_never)
{
    CHECK(pl_cpu_has(PLIANT_SIMD_AUTO));
    CHECK(pl_cpu_has(PLIANT_SIMD_SCALAR));
    CHECK(!pl_cpu_has(6));
    CHECK(!pl_cpu_has(~0u));
    CHECK(strcmp(pl_cpu_path_name(PLIANT_SIMD_AVX512), "avx512") == 0);
    CHECK(strcmp(pl_cpu_path_name(6), "unknown") == 0);
}

TEST(the_best_path_can_run_and_none_is_wider)
{
    uint32_t best = pl_cpu_best();
    CHECK(best != PLIANT_SIMD_AUTO);
    CHECK(pl_cpu_has(best));
    for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
        CHECK(simd <= best || !pl_cpu_has(simd));
}

#if defined(__x86_64__)
TEST(the_processor_says_what_the_compilers_run_time_says)
{
    if (!pl_cpu_has(PLIANT_SIMD_SSE2))
    {
        test_skip("built without SIMD paths");
        return;
    }
    __builtin_cpu_init();
    CHECK(pl_cpu_has(PLIANT_SIMD_AVX2) == !!__builtin_cpu_supports("avx2"));
    CHECK(pl_cpu_has(PLIANT_SIMD_AVX512) ==
          (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")));
}
#endif
