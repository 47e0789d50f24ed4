// SPDX-License-Identifier: GPL-3.0-or-later
/* Sums over a chunk's members (rest_sums.h). */
#include "body/edit/rest_sums.h"

#include "base/simd_double.h"
#include "dynamics/cluster_rows.h"
#include "dynamics/kernels.h"

void PL_K(pl_rest_mass_moments)(const pl_rest_mass_moments* job)
{
    const pl_chunk* chunk = job->chunk;
    const pl_particles* p = job->particles;
    memset(job->lanes, 0, chunk->row_count * sizeof *job->lanes);
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t slot = chunk->slot_begin + 8 * b;
        /* rounded as the other kernels round it */
        vd m = vd_from(vf_mul(vf_load(p->mass + slot), vf_load(p->norm + slot)));
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
        {
            double(*lanes)[8] = job->lanes[chunk->entry_row[e]];
            vd mw = vd_mul(m, vd_from(vf_load(chunk->entry_kernel + (size_t)8 * e)));
            vd_store(lanes[0], vd_add(vd_load(lanes[0]), mw));
            for (int k = 0; k < 3; ++k)
            {
                const float* r =
                    chunk->own_rest ? chunk->own_rest + (size_t)24 * e + 8 * k : p->r[k] + slot;
                vd_store(lanes[1 + k], vd_mad(vd_load(lanes[1 + k]), mw, vd_from(vf_load(r))));
            }
        }
    }
    for (uint32_t r = 0; r < chunk->row_count; ++r)
        for (int k = 0; k < 4; ++k)
        {
            const double* l = job->lanes[r][k];
            job->sums[r][k] = ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
        }
}

PL_INLINE void add_to(float lanes[8], vf a)
{
    vf_store(lanes, vf_add(vf_load(lanes), a));
}

/* a a^T, weighted. */
PL_INLINE void add_square(float (*lanes)[8], const vf weighed[3], const vf a[3])
{
    for (int k = 0; k < 3; ++k)
    {
        add_to(lanes[k], vf_mul(weighed[k], a[k]));
        add_to(lanes[3 + k], vf_mul(weighed[k], a[(k + 1) % 3]));
    }
}

/* One entry; "r" are the block's rest positions. */
PL_INLINE void add_entry(const pl_rest_job* job, uint32_t e, vf m, const vf r[3], bool own)
{
    const pl_chunk* chunk = job->chunk;
    uint32_t row = chunk->entry_row[e];
    float(*lanes)[8] = job->lanes[row];
    vf mw = vf_mul(m, vf_load(chunk->entry_kernel + (size_t)8 * e)), p[3], mp[3], at[3];
    vm in = vf_lt(vf_set1(0), mw);
    for (int k = 0; k < 3; ++k)
    {
        at[k] = own ? vf_load(chunk->own_rest + (size_t)24 * e + 8 * k) : r[k];
        p[k] = vf_sub(at[k], vf_bcast(job->centre[row] + k));
        mp[k] = vf_mul(mw, p[k]);
    }
    add_square(lanes + PL_REST_ARR, mp, p);
    vf square = vf_keep(in, vf_mad(vf_mad(vf_mul(p[0], p[0]), p[1], p[1]), p[2], p[2]));
    vf_store(lanes[PL_REST_WIDEST], vf_max(vf_load(lanes[PL_REST_WIDEST]), square));
    if (job->want[row] != PL_REST_ALL)
        return;
    vf body[3], mb[3];
    for (int k = 0; k < 3; ++k)
    {
        body[k] = vf_sub(r[k], vf_bcast(job->body[row] + k));
        mb[k] = vf_mul(mw, body[k]);
        add_to(lanes[PL_REST_BODY + k], mb[k]);
        if (own && !job->own[row])
            job->own[row] = vm_bits(vm_and(in, vm_or(vf_lt(at[k], r[k]), vf_lt(r[k], at[k])))) != 0;
    }
    add_square(lanes + PL_REST_SPREAD, mb, body);
    for (int i = 0; i < 9; ++i)
        add_to(lanes[PL_REST_CROSS + i], vf_mul(mp[i / 3], body[i % 3]));
}

PL_INLINE void add_blocks(const pl_rest_job* job, bool own)
{
    const pl_chunk* chunk = job->chunk;
    const pl_particles* p = job->particles;
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t slot = chunk->slot_begin + 8 * b;
        vf m = vf_mul(vf_load(p->mass + slot), vf_load(p->norm + slot)), r[3];
        for (int k = 0; k < 3; ++k)
            r[k] = vf_load(p->r[k] + slot);
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            if (job->want[chunk->entry_row[e]])
                add_entry(job, e, m, r, own);
    }
}

void PL_K(pl_rest_second_moments)(const pl_rest_job* job)
{
    uint32_t rows = job->chunk->row_count;
    memset(job->own, 0, rows);
    for (uint32_t r = 0; r < rows; ++r)
        if (job->want[r])
            memset(job->lanes[r], 0, sizeof *job->lanes);
    if (job->chunk->own_rest)
        add_blocks(job, true);
    else
        add_blocks(job, false);
    for (uint32_t r = 0; r < rows; ++r)
    {
        const float(*lanes)[8] = (const float(*)[8])job->lanes[r];
        const float* widest = lanes[PL_REST_WIDEST];
        int count = job->want[r] == PL_REST_ALL ? PL_REST_WIDEST : job->want[r] ? 8 : 0;
        for (int i = 0; i < count; i += 8)
        {
            vf eight[8];
            for (int n = 0; n < 8; ++n)
                eight[n] = vf_load(lanes[i + n]);
            vf_store(job->sums[r] + i, vf_sums(eight));
        }
        float* most = &job->sums[r][PL_REST_WIDEST];
        *most = 0;
        for (int n = 0; n < 8 && count; ++n)
            *most = widest[n] > *most ? widest[n] : *most;
    }
}
