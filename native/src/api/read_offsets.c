// SPDX-License-Identifier: GPL-3.0-or-later
/* Reading the rest offsets of members in their clusters. */
#include "api/api.h"

void pl_body_offsets(const pl_body* body, uint32_t first, uint32_t end, uint32_t* at,
                     float (*out)[3])
{
    const pl_particles* p = &body->particles;
    const pl_clusters* k = &body->clusters;
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        const pl_chunk* chunk = &body->chunks[i];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            {
                uint32_t c = chunk->rows[chunk->entry_row[e]], slot = chunk->slot_begin + 8 * b;
                const float* own = chunk->own_rest ? chunk->own_rest + 24 * (size_t)e : NULL;
                for (uint32_t lane = 0; lane < 8 && c >= first && c < end; ++lane)
                {
                    if (!(chunk->entry_kernel[8 * (size_t)e + lane] > 0) ||
                        p->id[slot + lane] == PL_NO_PARTICLE)
                        continue;
                    float* offset = out[at[c - first]++];
                    for (uint32_t j = 0; j < 3; ++j)
                        offset[j] = (own ? own[8 * j + lane] : p->r[j][slot + lane]) +
                                    chunk->rest_origin[j] - k->rest[c][j];
                }
            }
    }
}
