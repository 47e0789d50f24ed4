// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Nested levels before plastic flow (levels.simd.c has the equations, and the case after flow). A
 * rest position is then the same in fine and coarse clusters, and clusters are to the next level
 * what particles are to the finest. They use the same layout: a run of neighbouring clusters is a
 * chunk with its own pos_origin and rest_origin, eight clusters are a block with one list of coarse
 * clusters and dense weights, and match adds a cluster's moments to the sums while they are in
 * registers.
 *
 *   level 0   match ── pl_level_batch_add ──> sums      rows += ... <── run_spread ── rows
 *                                              │                                       ^
 *   level 1                                    └──> match ── ... ──>  rows += ... ─────┘
 */
#ifndef PL_DYNAMICS_LEVEL_BATCHES_H
#define PL_DYNAMICS_LEVEL_BATCHES_H

#include "dynamics/gather.h"
#include "dynamics/reduce_moments.h"

/* Clears the sums of a run; positions will be summed about "origin". */
PL_INLINE void pl_level_batch_clear(pl_chunk* run, const float origin[3])
{
    memcpy(run->pos_origin, origin, sizeof run->pos_origin);
    memset(run->sums, 0, sizeof(float) * PL_SUM_FLOATS * run->row_count);
}

/* Adds eight clusters to the sums of their run. "t" are their moments, "s" the centred ones. */
PL_APART void pl_level_batch_add(const pl_match_batch* batch, const pl_eight* eight,
                                 const pl_moments* t, const vf s[24])
{
    const pl_clusters* k = batch->clusters;
    const pl_chunk* run = batch->run;
    const float *refs[8], *rests[8];
    vf ref[4], rest[4], r[3], x[3], v[3];
    vd fade = vd_from(pl_eight_load(eight, k->fade, 1));
    pl_features f;
    for (int i = 0; i < 8; ++i)
    {
        refs[i] = k->ref[eight->c[i]];
        rests[i] = k->rest[eight->c[i]];
    }
    vf_load4(refs, ref);
    vf_load4(rests, rest);
    for (int j = 0; j < 3; ++j)
    {
        vd way = vd_from(vf_sub(ref[j], vf_bcast(run->pos_origin + j)));
        x[j] = vd_round(vd_mul(vd_mad(t->x[j], t->m, way), fade)); /* times the mass, as v is */
        v[j] = vd_round(vd_mul(t->v[j], fade));
        r[j] = vf_add(s[19 + j], vf_sub(rest[j], vf_bcast(run->rest_origin + j)));
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            f.g[(3 * i + j) / 8][(3 * i + j) % 8] = vf_mad(s[3 * i + j], x[i], r[j]);
    for (int i = 0; i < 3; ++i)
    {
        int a = (i + 1) % 3, b = (i + 2) % 3, spin = PL_SUM_XV + i;
        vf cross = vf_sub(vf_mul(x[a], s[12 + b]), vf_mul(x[b], s[12 + a]));
        f.g[1][PL_SUM_X - 8 + i] = x[i];
        f.g[1][PL_SUM_V - 8 + i] = v[i];
        f.g[spin / 8][spin % 8] = vf_add(s[15 + i], cross);
    }
    for (int j = PL_SUM_XX; j < PL_SUM_FLOATS; ++j)
        f.g[2][j - 16] = vf_set1(0); /* coarse levels have no strain limits */
    pl_features_transpose(&f);
    pl_features_add(&f, run, (eight->c[0] - batch->begin) / 8, run->sums);
}

#endif
