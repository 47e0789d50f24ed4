// SPDX-License-Identifier: GPL-3.0-or-later
/* Contacts of particles with colliders and meshes, as a stage of the substep. */
#ifndef PL_COLLISION_PARTICLE_CONTACTS_H
#define PL_COLLISION_PARTICLE_CONTACTS_H

#include "base/core.h"

typedef struct pl_scene pl_scene;
typedef struct pl_substep pl_substep;

/* Leaves moments that belong to the particles. */
pl_status pl_particle_contacts(pl_substep* step);
/* Before the substeps of a frame: boxes around what meshes do in it, and what is known of each body
 * around them. How many colliders are meshes. */
pl_status pl_meshes_ready(pl_scene* scene, uint32_t* meshes);

#endif
