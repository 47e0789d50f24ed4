// SPDX-License-Identifier: GPL-3.0-or-later
/* Pressure: keeps the volume that a body's mesh encloses. The surface is bound in
 * dynamics/pressure_setup.c.
 */
#ifndef PL_DYNAMICS_PRESSURE_H
#define PL_DYNAMICS_PRESSURE_H

#include "base/parallel.h"
#include "body/body.h"

/* Adds the accelerations of the pressure to body->force, and sets body->enclosed_volume. Forces sum
 * to nothing and exert no torque. "dt" is the substep's length: see pressure.c for what it limits.
 * body->pressure is built. */
void pl_pressure_add(pl_body* body, double dt, pl_pool* pool);
/* Sets body->enclosed_volume alone: of the mesh, as much changed as the surface that the particles
 * carry. Cavities count as volumes of their own. */
void pl_pressure_measure(pl_body* body, pl_pool* pool);

#endif
