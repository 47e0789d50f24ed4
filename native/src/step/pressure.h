// SPDX-License-Identifier: GPL-3.0-or-later
/* Pressure: keeps the volume that a body's mesh encloses. */
#ifndef PL_STEP_PRESSURE_H
#define PL_STEP_PRESSURE_H

#include "../base/parallel.h"
#include "../state.h"

/* Binds the body's mesh to its particles, so that pressure can be used. PLIANT_ERROR_MESH if the
 * body has no closed mesh. Does nothing when it is there already. */
pl_status pl_pressure_build(pl_body* body, pl_pool* pool);
/* Adds the accelerations of the pressure to body->force, and sets body->enclosed_volume. Forces sum
 * to nothing and exert no torque. */
pl_status pl_pressure_add(pl_body* body, pl_pool* pool);
void pl_pressure_free(pl_pressure* pressure);

#endif
