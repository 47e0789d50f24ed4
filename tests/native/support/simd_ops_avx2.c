// SPDX-License-Identifier: GPL-3.0-or-later
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#define PL_PATH avx2
#define PL_PATH_AVX2 1
#define SIMD_OPS_DEFINE 1
#include "native/support/simd_ops.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
