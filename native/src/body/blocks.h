// SPDX-License-Identifier: GPL-3.0-or-later
/* Particles in slots, blocks and chunks, with the memberships of each block (body.h). */
#ifndef PL_BODY_BLOCKS_H
#define PL_BODY_BLOCKS_H

#include "body/layout.h"

/* Memberships of each particle, clusters ascending, over the levels that hold particles. */
typedef struct pl_by_particle
{
    uint32_t* begin; /* count + 1 */
    uint32_t* cluster;
    float* kernel;
} pl_by_particle;

/* Kernel values are normalised to a sum of 1 for each particle and level. */
pl_status pl_by_particle_list(const pl_body* body, uint32_t count, const pl_hierarchy* h,
                              pl_by_particle* lists);
void pl_by_particle_free(pl_by_particle* lists);
/* The number of levels whose members are particles. */
uint32_t pl_particle_levels(const pl_body* body);

/* Assigns every particle a slot. */
pl_status pl_blocks_place(pl_body* body, const pl_layout_input* in, const pl_by_particle* lists);
/* The chunks' rows, entries and normalisers. */
pl_status pl_blocks_build(pl_body* body, const pl_by_particle* lists);
/* Lists the partial sums of each cluster, chunks ascending. */
pl_status pl_blocks_list_parts(pl_body* body);

#endif
