// SPDX-License-Identifier: GPL-3.0-or-later
/* Sums the moments of a chunk's particles for each of its clusters (gather.h). */
#include "dynamics/gather.h"

PL_INLINE void gather(pl_pass* pass, bool own)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_particles* p = pass->particles;
    pl_gather_begin(pass);
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t slot = chunk->slot_begin + 8 * b;
        vf x[3], v[3], r[3];
        pl_load3(p->x, slot, x);
        pl_load3(p->v, slot, v);
        pl_load3(p->r, slot, r);
        pl_gather_block(pass, b, x, v, r, own);
    }
}

void PL_K(pl_gather)(pl_pass* pass)
{
    if (pass->chunk->own_rest)
        gather(pass, true);
    else
        gather(pass, false);
}
