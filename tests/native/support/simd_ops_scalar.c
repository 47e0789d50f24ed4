// SPDX-License-Identifier: GPL-3.0-or-later
#define PL_PATH scalar
#define PL_PATH_SCALAR 1
#define SIMD_OPS_DEFINE 1
#include "native/support/simd_ops.h"
