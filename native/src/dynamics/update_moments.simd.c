// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Updates the sums of a chunk after contacts have moved some of its particles: adds their new
 * moments and subtracts the old ones. Few blocks of a chunk are in contact, but most blocks share a
 * cluster with one that is: gathering those clusters again (to the bits of a full gather) took as
 * long as gathering all.
 *
 * The sums differ in rounding from what gathering would give, so they are part of the state
 * (PL_MOMENTS_CORRECTED). The next substep sums anew: nothing adds up.
 */
#include "body/validity.h"
#include "dynamics/gather.h"

void PL_K(pl_update_moments)(pl_pass* pass, const pl_moved_blocks* moved);
void PL_K(pl_gather)(pl_pass* pass);

/* Features of a block whose particles are at x and have the velocities v. */
PL_INLINE void features_of(const pl_pass* pass, uint32_t block, const vf x[3], const vf v[3],
                           pl_features* f)
{
    const pl_particles* p = pass->particles;
    uint32_t slot = pass->chunk->slot_begin + 8 * block;
    vf r[3], near[3];
    pl_load3(p->r, slot, r);
    pl_relative_positions(pass->chunk, x, near);
    pl_features_make(f, near, v, r, vf_mul(vf_load(p->mass + slot), vf_load(p->norm + slot)));
}

/* Prefetches the data of a block that contacts have not read. */
PL_INLINE void fetch_block(const pl_pass* pass, uint32_t block)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_particles* p = pass->particles;
    uint32_t slot = chunk->slot_begin + 8 * block;
    for (int k = 0; k < 3; ++k)
        __builtin_prefetch(p->r[k] + slot);
    __builtin_prefetch(p->norm + slot);
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; e += 2)
        __builtin_prefetch(chunk->entry_kernel + (size_t)8 * e);
}

/* Adds the block's new moments minus the old ones. */
static void update_block(const pl_pass* pass, uint32_t block, const float* before)
{
    const pl_chunk* chunk = pass->chunk;
    uint32_t slot = chunk->slot_begin + 8 * block;
    vf x[3], v[3];
    pl_features was, is;
    for (int k = 0; k < 3; ++k)
        x[k] = vf_load(before + 8 * k), v[k] = vf_load(before + 8 * (3 + k));
    features_of(pass, block, x, v, &was);
    pl_load3(pass->particles->x, slot, x);
    pl_load3(pass->particles->v, slot, v);
    features_of(pass, block, x, v, &is);
    for (int g = 0; g < 3; ++g)
        for (int i = 0; i < 8; ++i)
            is.g[g][i] = vf_sub(is.g[g][i], was.g[g][i]);
    pl_features_transpose(&is);
    pl_features_add(&is, chunk, block, chunk->sums);
}

static uint32_t next_hit(const pl_chunk* chunk, const pl_moved_blocks* moved, uint32_t block)
{
    while (block < chunk->block_count && !moved->hit[block])
        ++block;
    return block;
}

void PL_K(pl_update_moments)(pl_pass* pass, const pl_moved_blocks* moved)
{
    pl_chunk* chunk = pass->chunk;
    pl_moments_gathered(chunk);
    if (pass->quadratic || chunk->own_rest || 2 * moved->count > chunk->block_count)
    {
        PL_K(pl_gather)(pass);
        return;
    }
    for (uint32_t b = next_hit(chunk, moved, 0), next; b < chunk->block_count; b = next)
    {
        next = next_hit(chunk, moved, b + 1);
        if (next < chunk->block_count)
            fetch_block(pass, next);
        update_block(pass, b, moved->before + (size_t)PL_BEFORE_FLOATS * (moved->hit[b] - 1u));
        pl_moments_corrected(chunk);
    }
}
