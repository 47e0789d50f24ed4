// SPDX-License-Identifier: GPL-3.0-or-later
/* Assigns the particles of a chunk to blocks. */
#ifndef PL_BODY_BLOCK_PACKING_H
#define PL_BODY_BLOCK_PACKING_H

#include "body/blocks.h"

/* Permutes the particles of a chunk so that each group of four, and of eight, has many clusters in
 * common. "clusters" is their total number. Deterministic. */
pl_status pl_pack_blocks(uint32_t count, uint32_t* order, const pl_by_particle* lists,
                         uint32_t clusters);

#endif
