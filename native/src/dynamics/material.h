// SPDX-License-Identifier: GPL-3.0-or-later
/* From the artist's numbers to what a substep uses. */
#ifndef PL_DYNAMICS_MATERIAL_H
#define PL_DYNAMICS_MATERIAL_H

#include "body/body.h"

/* The part of pl_material_firmness that is in the goals, instead of in alpha: that of quadratic
 * ones. */
double pl_material_goal_firmness(const pliant_material_desc* material);

/* Sets alpha and kappa of every cluster for substeps of length dt, moving stiffness that a level
 * cannot carry to coarser ones; sets the body's warnings about that. */
void pl_material_apply(pl_body* body, double dt);
/* How many times as far a finest cluster gives way as its material would, since substeps of length
 * dt cannot carry its stiffness. */
double pl_material_softness(const pl_body* body, uint32_t c, double dt);
/* Substeps that a frame of length dt needs, at least 1 and at most "most". */
uint32_t pl_material_substeps(const pl_body* body, double dt, uint32_t most);

#endif
