// SPDX-License-Identifier: GPL-3.0-or-later
#if defined(__aarch64__)
#define PL_PATH neon
#define PL_PATH_NEON 1
#define SIMD_OPS_DEFINE 1
#include "native/support/simd_ops.h"
#endif
