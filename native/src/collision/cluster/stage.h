// SPDX-License-Identifier: GPL-3.0-or-later
/* Contacts between clusters as a stage of the substep. */
#ifndef PL_COLLISION_CLUSTER_STAGE_H
#define PL_COLLISION_CLUSTER_STAGE_H

#include "base/core.h"

typedef struct pl_scene pl_scene;
typedef struct pl_substep pl_substep;

/* touching.c: contacts between clusters. Leaves sums that belong to the particles. */
pl_status pl_cluster_contacts(pl_substep* step);

/* touching.c: welds the particles of a body to another, and the other's to it, or to a collider.
 * How many there are now. */
pl_status pl_scene_make_welds(pl_scene* scene, uint32_t body, uint32_t other, uint32_t collider,
                              double distance, double strength, uint32_t* count);

#endif
