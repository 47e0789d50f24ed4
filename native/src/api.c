// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/core.h"

const char* pliant_last_error(void)
{
    return pl_last_error();
}
