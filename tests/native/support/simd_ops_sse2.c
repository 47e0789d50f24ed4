// SPDX-License-Identifier: GPL-3.0-or-later
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse2"))), apply_to = function)
#else
#pragma GCC target("sse2")
#endif
#define PL_PATH sse2
#define PL_PATH_SSE2 1
#define SIMD_OPS_DEFINE 1
#include "native/support/simd_ops.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
