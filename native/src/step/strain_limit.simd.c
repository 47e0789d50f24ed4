// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Strain limiting (Bargteil and Jones 2014, "Strain Limiting for Clustered Shape Matching"): a
 * member farther from its cluster's goal than gamma times the cluster's width is moved back to that
 * distance; a particle takes the mean of its clusters' corrections, relaxed by omega. Positions and
 * velocities move together.
 *
 * Departure (ALGORITHMS.md, "Strain limiting" under "Momentum"): only violators move, which would
 * push the body about. From each cluster's corrections their mean and their rotation are
 * subtracted. With x += e, v += e / dt the angular momentum changes by sum m (x - dt v) x e / dt,
 * so the lever arms are the positions at the start of the step, x - dt v; and the rotation taken
 * out is theta x (F p) with the start's F, so that it stays affine in p (as in match.simd.c) and
 * keeps momentum exactly.
 *
 * Each iteration: match_limit -> limit -> limit_balance -> limit_apply (which gathers again).
 */
#include "gather.h"
#include "match.h"

/* The chunk's limit rows: R, goal offset at the chunk's rest origin, squared limit, limit, fade. */
static void load_limit_rows(const pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_clusters* k = pass->clusters;
    for (uint32_t i = 0; i < chunk->row_count; ++i)
    {
        uint32_t c = chunk->rows[i];
        const float* in = k->limit[c];
        float* out = pass->rows + (size_t)16 * i;
        float d[3];
        memcpy(out, in, sizeof(float) * 12);
        for (int j = 0; j < 3; ++j)
            d[j] = chunk->rest_origin[j] - k->rest[c][j];
        for (int j = 0; j < 3; ++j)
            out[9 + j] = in[9 + j] +
                         (in[3 * j] * d[0] + in[3 * j + 1] * d[1] + in[3 * j + 2] * d[2]) +
                         (k->limit_ref[c][j] - chunk->pos_origin[j]);
        /* clusters of coarser (independent) levels limit nothing */
        out[12] = c < pass->finest_end ? in[12] * in[12] : INFINITY;
        out[13] = in[12];
        out[14] = k->fade[c];
    }
}

/* Adds one cluster's violated corrections of a block: to the particles, and to the cluster's sums.
 */
PL_INLINE uint32_t correct(vm over, const vf apart[3], vf distance2, const float* row, vf w,
                           vf mass, const vf lever[3], vf shift[3], float* sums)
{
    vf share = vf_sub(vf_set1(1), vf_div(vf_bcast(row + 13), vf_sqrt(distance2)));
    vf part[8];
    vf weight = vf_mul(w, vf_bcast(row + 14)), mw = vf_mul(mass, weight);
    for (int j = 0; j < 3; ++j)
    {
        vf delta = vf_keep(over, vf_mul(apart[j], share));
        shift[j] = vf_mad(shift[j], weight, delta);
        part[j] = vf_mul(mw, delta);
    }
    pl_cross3(lever, part, part + 3);
    part[6] = vf_keep(over, vf_set1(1));
    part[7] = vf_set1(0);
    vf_transpose(part);
    vf sum = vf_add(vf_add(vf_add(part[0], part[1]), vf_add(part[2], part[3])),
                    vf_add(vf_add(part[4], part[5]), vf_add(part[6], part[7])));
    vf_store(sums, vf_add(vf_load(sums), sum));
    return (uint32_t)__builtin_popcount(vm_bits(over));
}

void PL_K(pl_limit)(pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_particles* p = pass->particles;
    vf dt = vf_set1(pass->dt), zero = vf_set1(0);
    load_limit_rows(pass);
    memset(pass->limit_sums, 0, sizeof(float) * 8 * chunk->row_count);
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t slot = chunk->slot_begin + 8 * b;
        vf x[3], near[3], r[3], shift[3] = {zero, zero, zero};
        pl_load3(p->x, slot, x);
        pl_near(chunk, x, near);
        pl_load3(p->r, slot, r);
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
        {
            const float* row = pass->rows + (size_t)16 * chunk->entry_row[e];
            vf kernel = vf_load(chunk->entry_kernel + (size_t)8 * e), apart[3];
            for (int j = 0; j < 3; ++j)
            {
                vf goal = vf_mad(
                    vf_mad(vf_mul(vf_bcast(row + 3 * j), r[0]), vf_bcast(row + 3 * j + 1), r[1]),
                    vf_bcast(row + 3 * j + 2), r[2]);
                apart[j] = vf_sub(vf_add(goal, vf_bcast(row + 9 + j)), near[j]);
            }
            vf distance2 =
                vf_mad(vf_mad(vf_mul(apart[0], apart[0]), apart[1], apart[1]), apart[2], apart[2]);
            vm over = vm_and(vf_lt(vf_bcast(row + 12), distance2), vf_lt(zero, kernel));
            if (!vm_bits(over))
                continue;
            vf lever[3];
            for (int j = 0; j < 3; ++j)
                lever[j] = vf_sub(near[j], vf_mul(dt, vf_load(p->v[j] + slot)));
            pass->violated +=
                correct(over, apart, distance2, row, vf_mul(kernel, vf_load(p->norm + slot)),
                        vf_load(p->mass + slot), lever, shift,
                        pass->limit_sums + (size_t)8 * chunk->entry_row[e]);
        }
        pl_store3(pass->shift, slot, shift);
    }
    pass->tested += chunk->member_count;
}

/* Sums of one cluster's corrections over its chunks: delta, its moment about x_c, how many. */
static bool sum_limit_parts(const pl_match_batch* batch, float* const* limit_sums, uint32_t c,
                            float total[8])
{
    const pl_clusters* k = batch->clusters;
    const float* lever = k->lever[batch->lever_side][c];
    for (uint32_t part = k->part_begin[c]; part < k->part_begin[c + 1]; ++part)
    {
        const float* s = limit_sums[k->part_chunk[part]] + (size_t)8 * k->part_row[part];
        const float* at = batch->chunks[k->part_chunk[part]].pos_origin;
        float o[3];
        if (s[6] == 0)
            continue;
        for (int j = 0; j < 3; ++j)
            o[j] = (at[j] - lever[PL_LEVER_REF + j]) - lever[PL_LEVER_X + j];
        for (int j = 0; j < 8; ++j)
            total[j] += s[j];
        total[3] += o[1] * s[2] - o[2] * s[1];
        total[4] += o[2] * s[0] - o[0] * s[2];
        total[5] += o[0] * s[1] - o[1] * s[0];
    }
    return total[6] > 0;
}

void PL_K(pl_limit_balance)(const pl_match_batch* batch, float* const* limit_sums)
{
    pl_clusters* k = batch->clusters;
    float(*lever)[24] = k->lever[batch->lever_side];
    for (uint32_t c = batch->begin; c < batch->end; c += 8)
    {
        pl_eight eight = pl_eight_from(c, batch->end);
        float total[8][8] = {{0}};
        bool any = false;
        for (uint32_t i = 0; i < 8; ++i)
            any = sum_limit_parts(batch, limit_sums, eight.c[i], total[i]) || any;
        if (!any)
        {
            for (uint32_t i = 0; i < eight.used; ++i)
                memset(k->limit[eight.c[i]], 0, sizeof k->limit[0]);
            continue;
        }
        vf s[8], l[24], theta[3], row[16];
        for (int i = 0; i < 8; ++i)
            s[i] = vf_load(total[i]);
        vf_transpose(s);
        for (int g = 0; g < 3; ++g)
        {
            for (int i = 0; i < 8; ++i)
                l[8 * g + i] = vf_load(lever[eight.c[i]] + 8 * g);
            vf_transpose(l + 8 * g);
        }
        vf mass = l[PL_LEVER_MASS];
        vf per_mass = vf_div(vf_set1(1), vf_select(vf_lt(vf_set1(0), mass), mass, vf_set1(1)));
        pl_symmetric_mulv(l + PL_LEVER_INVERSE, s + 3, theta);
        pl_spin33(theta, l + PL_LEVER_F, row);
        for (int j = 0; j < 9; ++j)
            row[j] = vf_neg(row[j]);
        for (int j = 0; j < 3; ++j)
            row[9 + j] = vf_neg(vf_mul(s[j], per_mass));
        row[12] = row[13] = row[14] = vf_set1(0);
        row[15] = s[6];
        pl_eight_store_rows(&eight, k->limit[0], row);
    }
}

/* Blends the balancing maps of a block: 12 sums in two groups. */
PL_INLINE void blend_maps(const pl_pass* pass, uint32_t block, vf map[12])
{
    const pl_chunk* chunk = pass->chunk;
    for (int k = 0; k < 12; ++k)
        map[k] = vf_set1(0);
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        vf w = vf_load(chunk->entry_kernel + (size_t)8 * e);
        const float* row = pass->rows + (size_t)16 * chunk->entry_row[e];
        for (int k = 0; k < 12; ++k)
            map[k] = vf_mad(map[k], w, vf_bcast(row + k));
    }
}

static void load_maps(const pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_clusters* k = pass->clusters;
    for (uint32_t i = 0; i < chunk->row_count; ++i)
    {
        uint32_t c = chunk->rows[i];
        const float* in = k->limit[c];
        float* out = pass->rows + (size_t)16 * i;
        float d[3];
        if (c >= pass->finest_end || in[15] == 0)
        {
            memset(out, 0, sizeof(float) * 16);
            continue;
        }
        for (int j = 0; j < 3; ++j)
            d[j] = chunk->rest_origin[j] - k->rest[c][j];
        for (int j = 0; j < 9; ++j)
            out[j] = in[j] * k->fade[c];
        for (int j = 0; j < 3; ++j)
            out[9 + j] =
                (in[9 + j] + (in[3 * j] * d[0] + in[3 * j + 1] * d[1] + in[3 * j + 2] * d[2])) *
                k->fade[c];
    }
}

void PL_K(pl_limit_apply)(pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    pl_particles* p = pass->particles;
    vf omega = vf_set1(pass->relaxation), per_dt = vf_set1(1.0f / pass->dt);
    vf left[3] = {vf_set1(0), vf_set1(0), vf_set1(0)}, moment[3] = {left[0], left[0], left[0]};
    load_maps(pass);
    pl_gather_begin(pass);
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t slot = chunk->slot_begin + 8 * b;
        vf x[3], v[3], r[3], shift[3], map[12];
        pl_load3(p->x, slot, x);
        pl_load3(p->v, slot, v);
        pl_load3(p->r, slot, r);
        pl_load3(pass->shift, slot, shift);
        blend_maps(pass, b, map);
        vf norm = vf_load(p->norm + slot);
        vm held = vf_lt(vf_set1(1), vf_set1(0));
        if (pass->pins)
            held = vf_le(vf_set1(PLIANT_PIN_HELD), pass->hold_all
                                                       ? vf_set1(PLIANT_PIN_HELD)
                                                       : vf_load(pass->pins->frequency + slot));
        vf mass = vf_load(p->mass + slot), near[3], about[3];
        pl_near(chunk, x, near);
        for (int j = 0; j < 3; ++j)
        {
            vf back = vf_mad(vf_mad(vf_mul(map[3 * j], r[0]), map[3 * j + 1], r[1]), map[3 * j + 2],
                             r[2]);
            back = vf_mul(norm, vf_add(back, map[9 + j]));
            vf move = vf_mul(omega, vf_add(shift[j], back));
            about[j] = vf_mul(mass, vf_mul(move, per_dt));
            left[j] = vf_add(left[j], about[j]);
            near[j] = vf_sub(near[j], vf_mul(vf_set1(pass->dt), v[j]));
            move = vf_select(held, vf_set1(0), move);
            x[j] = vf_add(x[j], move);
            v[j] = vf_mad(v[j], move, per_dt);
        }
        pl_add_moment(near, about, moment);
        pl_store3(p->x, slot, x);
        pl_store3(p->v, slot, v);
        pl_gather_block(pass, b, x, v, r);
    }
    for (int j = 0; j < 3; ++j)
    {
        pass->chunk->remainder[j] += vf_sum(left[j]);
        pass->chunk->torque[j] += vf_sum(moment[j]);
    }
}
