// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Corrects the sums of a chunk where a contact has moved some of its particles: what they add now,
 * less what they added before. Few blocks of a chunk touch anything, but as each particle has
 * several clusters and each cluster many particles, most blocks have a cluster in common with one
 * that does: summing those clusters again (to the bits that gathering gives) took as long as
 * summing all.
 *
 * The sums differ in rounding from what gathering would give, so they are part of the state
 * (pl_chunk.amended). The next substep sums anew: nothing adds up.
 */
#include "gather.h"

void PL_K(pl_amend)(pl_pass* pass, const pl_moved_blocks* moved);
void PL_K(pl_gather)(pl_pass* pass);

/* Features of a block whose particles are at x and have the velocities v. */
PL_INLINE void features_of(const pl_pass* pass, uint32_t block, const vf x[3], const vf v[3],
                           pl_features* f)
{
    const pl_particles* p = pass->particles;
    uint32_t slot = pass->chunk->slot_begin + 8 * block;
    vf r[3], near[3];
    pl_load3(p->r, slot, r);
    pl_near(pass->chunk, x, near);
    pl_features_make(f, near, v, r, vf_mul(vf_load(p->mass + slot), vf_load(p->norm + slot)));
}

void PL_K(pl_amend)(pl_pass* pass, const pl_moved_blocks* moved)
{
    pl_chunk* chunk = pass->chunk;
    const pl_particles* p = pass->particles;
    chunk->amended = 0;
    if (pass->quadratic || chunk->own_rest || 2 * moved->count > chunk->block_count)
    {
        PL_K(pl_gather)(pass);
        return;
    }
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        if (!moved->hit[b])
            continue;
        const float* before = moved->before + (size_t)PL_BEFORE_FLOATS * (moved->hit[b] - 1u);
        vf x[3], v[3];
        pl_features was, is;
        for (int k = 0; k < 3; ++k)
            x[k] = vf_load(before + 8 * k), v[k] = vf_load(before + 8 * (3 + k));
        features_of(pass, b, x, v, &was);
        pl_load3(p->x, chunk->slot_begin + 8 * b, x);
        pl_load3(p->v, chunk->slot_begin + 8 * b, v);
        features_of(pass, b, x, v, &is);
        for (int g = 0; g < 3; ++g)
            for (int i = 0; i < 8; ++i)
                is.g[g][i] = vf_sub(is.g[g][i], was.g[g][i]);
        pl_features_transpose(&is, 3);
        pl_features_add(&is, chunk, b, 3, chunk->sums);
        chunk->amended = 1;
    }
}
