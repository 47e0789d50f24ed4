// SPDX-License-Identifier: GPL-3.0-or-later
/* Which particles of a chunk stand in the same block. */
#ifndef PL_BODY_BLOCK_PACKING_H
#define PL_BODY_BLOCK_PACKING_H

#include "body/blocks.h"

/* Permutes the particles of a chunk so that every four, and every eight, have many clusters in
 * common. "clusters" is how many there are in all. The same input gives the same order. */
pl_status pl_pack_blocks(uint32_t count, uint32_t* order, const pl_by_particle* lists,
                         uint32_t clusters);

#endif
