// SPDX-License-Identifier: GPL-3.0-or-later
/* From material settings to the coefficients of a substep. */
#ifndef PL_DYNAMICS_MATERIAL_H
#define PL_DYNAMICS_MATERIAL_H

#include "body/body.h"

/* The part of pl_material_firmness that is applied to the goals instead of alpha: all of it for
 * quadratic goals, otherwise 1. */
double pl_material_goal_firmness(const pliant_material_desc* material);

/* Sets alpha and kappa of every cluster for substeps of length dt. Moves unstable stiffness to
 * coarser levels, and sets the body's warnings about that. */
void pl_material_apply(pl_body* body, double dt);
/* The factor by which a finest cluster is softer than its material, because its stiffness was cut
 * for substeps of length dt. */
double pl_material_softness(const pl_body* body, uint32_t c, double dt);
/* Substeps that a frame of length dt needs, at least 1 and at most "most". */
uint32_t pl_material_substeps(const pl_body* body, double dt, uint32_t most);

#endif
