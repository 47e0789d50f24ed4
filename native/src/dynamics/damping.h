// SPDX-License-Identifier: GPL-3.0-or-later
/* Damping of a whole body (damping.c). */
#ifndef PL_DYNAMICS_DAMPING_H
#define PL_DYNAMICS_DAMPING_H

#include "body/body.h"

/* Updates the connected components if memberships have changed. */
pl_status pl_damping_prepare(pl_body* body);
void pl_components_free(pl_components* components);
/* Adds damping toward the components' rigid motions to the finest rows, which belong to the
 * particles as they are. */
void pl_damping_add(pl_body* body, const double gravity[3], double dt);

#endif
