// SPDX-License-Identifier: GPL-3.0-or-later
/* Contacts between clusters as a stage of the substep. */
#ifndef PL_COLLISION_CLUSTER_STAGE_H
#define PL_COLLISION_CLUSTER_STAGE_H

#include "base/core.h"

typedef struct pl_scene pl_scene;
typedef struct pl_substep pl_substep;

/* Contacts between clusters. The moment sums match the particles afterwards. */
pl_status pl_cluster_contacts(pl_substep* step);

/* Welds the particles of a body to another body, and the other's to it, or to a collider. "count":
 * welds made. */
pl_status pl_scene_make_welds(pl_scene* scene, uint32_t body, uint32_t other, uint32_t collider,
                              double distance, double strength, uint32_t* count);

#endif
