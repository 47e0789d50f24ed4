// SPDX-License-Identifier: GPL-3.0-or-later
/* Reading particles that were merged with others (resample_state.h), from their successors. */
#include "api/api.h"

#include <string.h>

/* The chunk of a slot, and the range of entries of the slot's block. */
static const pl_chunk* block_of(const pl_body* body, uint32_t slot, uint32_t* begin, uint32_t* end)
{
    uint32_t low = 0, high = body->chunk_count;
    while (high - low > 1)
    {
        uint32_t middle = (low + high) / 2;
        *(body->chunks[middle].slot_begin <= slot ? &low : &high) = middle;
    }
    const pl_chunk* chunk = &body->chunks[low];
    uint32_t block = (slot - chunk->slot_begin) / 8;
    *begin = chunk->block_begin[block], *end = chunk->block_begin[block + 1];
    return chunk;
}

void pl_merged_offset(const pl_body* body, uint32_t id,
                      void (*map)(const pl_body*, uint32_t cluster, float m[9]), float out[3])
{
    const pl_particles* p = &body->particles;
    const float* offset = p->resampled.offset[id];
    uint32_t begin, end, slot = p->slot_of[id];
    const pl_chunk* chunk = block_of(body, slot, &begin, &end);
    double sum[3] = {0, 0, 0};
    for (uint32_t e = begin; e < end; ++e)
    {
        float kernel = chunk->entry_kernel[8 * (size_t)e + slot % 8], m[9];
        uint32_t cluster = chunk->rows[chunk->entry_row[e]];
        if (!(kernel > 0))
            continue;
        float weight = kernel * p->norm[slot] * body->clusters.fade[cluster]; /* rounded to float */
        map(body, cluster, m);
        for (size_t k = 0; k < 3; ++k)
            sum[k] += weight * ((double)m[3 * k] * offset[0] + (double)m[3 * k + 1] * offset[1] +
                                (double)m[3 * k + 2] * offset[2]);
    }
    for (int k = 0; k < 3; ++k)
        out[k] = (float)sum[k];
}

void pl_merged_inherit(const pl_body* body, uint32_t width, void* values)
{
    const pl_resampled* s = &body->particles.resampled;
    for (uint32_t id = 0; id < s->count; ++id)
        if (s->successor[id] != id)
            memcpy((char*)values + (size_t)width * id,
                   (char*)values + (size_t)width * s->successor[id], width);
}

uint32_t pl_merged_memberships(const pl_body* body, uint32_t id)
{
    uint32_t begin, end, count = 0, slot = body->particles.slot_of[id];
    const pl_chunk* chunk = block_of(body, slot, &begin, &end);
    for (uint32_t e = begin; e < end; ++e)
        count += chunk->entry_kernel[8 * (size_t)e + slot % 8] > 0;
    return count;
}

uint64_t pl_body_membership_count(const pl_body* body)
{
    uint64_t count = body->level_memberships[0];
    for (uint32_t id = 0; id < body->particles.resampled.count; ++id)
        count +=
            body->particles.resampled.successor[id] != id ? pl_merged_memberships(body, id) : 0;
    return count;
}

void pl_body_shares(const pl_body* body, float* out)
{
    const pl_particles* p = &body->particles;
    for (uint32_t id = 0; id < p->id_count; ++id)
        out[id] = (float)(body->mass_quantum * (double)(id < p->resampled.count
                                                            ? p->resampled.share[id]
                                                            : p->quanta[p->slot_of[id]]));
}
