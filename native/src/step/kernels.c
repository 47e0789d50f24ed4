// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels.h"

#include "../base/paths.h"

PL_DEFINE_KERNELS_FOR(pl_kernels)
