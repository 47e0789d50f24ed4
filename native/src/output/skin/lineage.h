// SPDX-License-Identifier: GPL-3.0-or-later
/* Particles that were divided because they were drawn out, and merged: what a surface follows is
 * all that came of one, as one. Then nothing moves when it is divided. */
#ifndef PL_OUTPUT_SKIN_LINEAGE_H
#define PL_OUTPUT_SKIN_LINEAGE_H

#include "base/core.h"

/* Replaces the values ("width" each) of the first particles by the means, weighted by their shares
 * (resample_state.h), of all that came of them. "parent" is by particle: itself, or one before it.
 */
pl_status pl_lineage_mean(uint32_t particles, uint32_t first, const uint32_t* parent,
                          const float* share, uint32_t width, float* values);

#endif
