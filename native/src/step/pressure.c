// SPDX-License-Identifier: GPL-3.0-or-later
#include "pressure.h"

pl_status pl_pressure_build(pl_body* body, pl_pool* pool)
{
    (void)body;
    (void)pool;
    return pl_fail(PLIANT_ERROR_UNSUPPORTED, "Pressure is not built yet");
}

pl_status pl_pressure_add(pl_body* body, pl_pool* pool)
{
    return pl_pressure_build(body, pool);
}

void pl_pressure_free(pl_pressure* pressure)
{
    pl_free(pressure);
}
