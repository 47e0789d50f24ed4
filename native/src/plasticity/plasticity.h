// SPDX-License-Identifier: GPL-3.0-or-later
/* The stages of plasticity: flow of coarse clusters, reclustering, resampling. The flow of each
 * cluster is a part of its fit (plastic.h). */
#ifndef PL_PLASTICITY_PLASTICITY_H
#define PL_PLASTICITY_PLASTICITY_H

#include "base/core.h"

typedef struct pl_scene pl_scene;
typedef struct pl_substep pl_substep;

/* plastic_levels.c: rest shapes of coarse clusters follow the flow of fine ones. Runs after the
 * flow, with every level fitted; "wanted" is false if no body needs it. */
bool pl_plastic_levels_wanted(const pl_scene* scene);

void pl_plastic_levels(pl_substep* step, uint32_t levels);

/* recluster.c: replaces clusters that have flowed too far. Leaves valid sums. */
pl_status pl_recluster(pl_substep* step);

/* resample.c: divides particles whose material was drawn out. Leaves valid sums. */
pl_status pl_resample(pl_substep* step);

#endif
