// SPDX-License-Identifier: GPL-3.0-or-later
/* Lineage of divided and merged particles: a surface follows the mean of all descendants of a
 * particle, so resampling does not move it. */
#ifndef PL_OUTPUT_SKIN_LINEAGE_H
#define PL_OUTPUT_SKIN_LINEAGE_H

#include "base/core.h"

/* Replaces the values ("width" each) of the first particles by the means over their descendants,
 * weighted by share (resample_state.h). "parent" is by particle: itself, or a lower index. */
pl_status pl_lineage_mean(uint32_t particles, uint32_t first, const uint32_t* parent,
                          const float* share, uint32_t width, float* values);

#endif
