// SPDX-License-Identifier: GPL-3.0-or-later
/* The stages of plasticity: flow of coarse clusters, reclustering, resampling. The flow of each
 * cluster is a part of its fit (plastic.h). */
#ifndef PL_PLASTICITY_PLASTICITY_H
#define PL_PLASTICITY_PLASTICITY_H

#include "base/core.h"

typedef struct pl_scene pl_scene;
typedef struct pl_substep pl_substep;

/* plastic_levels.c: what coarse clusters remember follows what fine ones have taken up. After the
 * flow, with every level fitted; false if no body asks for it. */
bool pl_plastic_levels_wanted(const pl_scene* scene);

void pl_plastic_levels(pl_substep* step, uint32_t levels);

/* recluster.c: clusters that have flowed too far go, others come. Leaves sums that belong to the
 * particles. */
pl_status pl_recluster(pl_substep* step);

/* resample.c: particles whose material was drawn out become two. Leaves sums that belong to the
 * particles. */
pl_status pl_resample(pl_substep* step);

#endif
