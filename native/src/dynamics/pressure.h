// SPDX-License-Identifier: GPL-3.0-or-later
/* Pressure: keeps the volume that a body's mesh encloses. The surface is bound in
 * dynamics/pressure_setup.c.
 */
#ifndef PL_DYNAMICS_PRESSURE_H
#define PL_DYNAMICS_PRESSURE_H

#include "base/parallel.h"
#include "body/body.h"

/* Adds the accelerations of the pressure to body->force, and sets body->enclosed_volume. There is
 * no net force and no net torque. "dt", the substep's length, limits the pressure (pressure.c).
 * body->pressure must have been built. */
void pl_pressure_add(pl_body* body, double dt, pl_pool* pool);
/* Sets body->enclosed_volume only: the mesh's volume, scaled like that of the bound surface.
 * Cavities count as volumes of their own. */
void pl_pressure_measure(pl_body* body, pl_pool* pool);

#endif
