// SPDX-License-Identifier: GPL-3.0-or-later
#include "body/memberships.h"

void pl_each_member(const pl_body* body, uint32_t begin, uint32_t end, pl_member_fn call,
                    void* context)
{
    const pl_particles* p = &body->particles;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            {
                uint32_t cluster = chunk->rows[chunk->entry_row[e]];
                if (cluster < begin || cluster >= end)
                    continue;
                for (uint32_t lane = 0; lane < 8; ++lane)
                {
                    uint32_t slot = chunk->slot_begin + 8 * b + lane;
                    float kernel = chunk->entry_kernel[8 * (size_t)e + lane];
                    if (kernel > 0 && p->id[slot] != PL_NO_PARTICLE)
                        call(context, cluster, slot,
                             kernel * p->norm[slot] * body->clusters.fade[cluster]);
                }
            }
    }
}
