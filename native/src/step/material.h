// SPDX-License-Identifier: GPL-3.0-or-later
/* From the artist's numbers to what a substep uses. */
#ifndef PL_STEP_MATERIAL_H
#define PL_STEP_MATERIAL_H

#include "../state.h"

/* How much stiffer than rigid goals those with "beta" must be for the same Young's modulus, where
 * they resist: what they follow of a stretch is taken from it. 1 for the papers' alpha. */
double pl_material_firmness(const pliant_material_desc* material);

/* Sets alpha and kappa of every cluster for substeps of length dt, moving stiffness that a level
 * cannot carry to coarser ones; sets the body's warnings about that. */
void pl_material_apply(pl_body* body, double dt);
/* Substeps that a frame of length dt needs, at least 1 and at most "most". */
uint32_t pl_material_substeps(const pl_body* body, double dt, uint32_t most);

#endif
