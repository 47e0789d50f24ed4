// SPDX-License-Identifier: GPL-3.0-or-later
#include "dynamics/kernels.h"

#include "base/simd_dispatch.h"

PL_DEFINE_KERNELS_FOR(pl_kernels)
