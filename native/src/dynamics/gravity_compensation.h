// SPDX-License-Identifier: GPL-3.0-or-later
/* Starting a held body in equilibrium: its rest shape takes up gravity. */
#ifndef PL_DYNAMICS_GRAVITY_COMPENSATION_H
#define PL_DYNAMICS_GRAVITY_COMPENSATION_H

#include "dynamics/scene.h"

/* Changes the rest offsets of the finest clusters so that the body, at rest where it is created, is
 * in equilibrium under the scene's gravity with its pins, in substeps of length dt. "share" becomes
 * the balanced share of gravity: 0 without supports, below 1 where full balance would deform
 * clusters too far. */
pl_status pl_compensate_gravity(pl_scene* scene, pl_body* body, double dt, double* share);

#endif
