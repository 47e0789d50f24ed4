// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Goals and integration.
 *
 * Each cluster gives its members an impulse that is affine in the rest offset and linear in
 * position and velocity (PL_ROW_*, made by match):
 *
 *   dt dv_i = sum_c w_ic (A_c p_ic + b_c - alpha_c (x_i - ref_c) - kappa_c v_i)
 *
 * A, b, alpha and kappa are blended first, and the blended map is applied once to the rest
 * position. A cluster's row is relative to its own rest centre; its copy in a chunk is relative to
 * the chunk's rest origin, so that one r serves all clusters.
 *
 * Symplectic Euler (Mueller et al. 2005), with pins in between: a held particle takes its target's
 * position and velocity; a pulled one gets a critically damped spring, solved implicitly so that
 * any frequency is stable.
 */
#include "dynamics/cluster_rows.h"
#include "dynamics/gather.h"

static void load_rows(const pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_clusters* k = pass->clusters;
    for (uint32_t i = 0; i < chunk->row_count; i += 8)
    {
        pl_eight eight = pl_chunk_eight(chunk, i, (const float(*)[16])k->row);
        vf row[16], more[3], fade = pl_eight_load(&eight, k->fade, 1);
        pl_eight_rows(&eight, (const float(*)[16])k->row, row);
        pl_shift_rows(chunk, k, &eight, (const float(*)[3])k->ref, row, row[PL_ROW_ALPHA], more);
        for (int j = 0; j < 3; ++j)
            row[PL_ROW_B + j] = vf_add(row[PL_ROW_B + j], more[j]);
        for (int j = 0; j < PL_ROW_FLOATS; ++j)
            row[j] = vf_mul(row[j], fade);
        pl_level_batch_store_rows(i, eight.used, pass->rows, row);
    }
}

/* Also loads quadratic rows: C q(r + d) has linear and constant parts in r. */
static void load_quadratic_rows(const pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_clusters* k = pass->clusters;
    float* quad = pass->rows + (size_t)PL_ROW_FLOATS * chunk->row_count;
    for (uint32_t i = 0; i < chunk->row_count; ++i)
    {
        uint32_t c = chunk->rows[i];
        float* in = quad + (size_t)PL_QUAD_ROW_FLOATS * i;
        float* out = pass->rows + (size_t)PL_ROW_FLOATS * i;
        float d[3];
        for (int j = 0; j < PL_QUAD_ROW_FLOATS; ++j)
            in[j] = k->quad_row[c][j] * k->fade[c];
        for (int j = 0; j < 3; ++j)
            d[j] = chunk->rest_origin[j] - k->rest[c][j];
        for (int j = 0; j < 3; ++j)
        {
            const float* q = in + 6 * j;
            out[3 * j] += 2 * q[0] * d[0] + q[3] * d[1] + q[5] * d[2];
            out[3 * j + 1] += 2 * q[1] * d[1] + q[3] * d[0] + q[4] * d[2];
            out[3 * j + 2] += 2 * q[2] * d[2] + q[4] * d[1] + q[5] * d[0];
            out[PL_ROW_B + j] += q[0] * d[0] * d[0] + q[1] * d[1] * d[1] + q[2] * d[2] * d[2] +
                                 q[3] * d[0] * d[1] + q[4] * d[1] * d[2] + q[5] * d[2] * d[0];
        }
    }
}

/* Sums w row[first .. first + n) over a block's entries, in lanes. n is a constant at each call. */
PL_INLINE void blend_group(const pl_chunk* chunk, uint32_t block, const float* rows, int stride,
                           int first, int n, vf* out)
{
    vf acc[8];
    for (int k = 0; k < n; ++k)
        acc[k] = vf_set1(0);
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        vf w = vf_load(chunk->entry_kernel + (size_t)8 * e);
        const float* row = rows + (size_t)stride * chunk->entry_row[e] + first;
        for (int k = 0; k < n; ++k)
            acc[k] = vf_mad(acc[k], w, vf_bcast(row + k));
    }
    for (int k = 0; k < n; ++k)
        out[k] = acc[k];
}

/* dt dv where every entry has its own rest positions, before division by the normaliser. */
PL_APART void blend_own(const pl_chunk* chunk, uint32_t block, const float* rows, const vf x[3],
                        const vf v[3], vf impulse[3])
{
    const vf zero = vf_set1(0);
    vf sum[3] = {zero, zero, zero}, alpha = zero, kappa = zero;
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        const float *row = rows + (size_t)PL_ROW_FLOATS * chunk->entry_row[e],
                    *own = chunk->own_rest + (size_t)24 * e;
        vf w = vf_load(chunk->entry_kernel + (size_t)8 * e);
        vf r0 = vf_load(own), r1 = vf_load(own + 8), r2 = vf_load(own + 16);
        for (int i = 0; i < 3; ++i)
        {
            const float* a = row + 3 * i;
            vf goal = vf_mad(vf_mul(vf_bcast(a), r0), vf_bcast(a + 1), r1);
            goal = vf_add(vf_mad(goal, vf_bcast(a + 2), r2), vf_bcast(row + PL_ROW_B + i));
            sum[i] = vf_mad(sum[i], w, goal);
        }
        alpha = vf_mad(alpha, w, vf_bcast(row + PL_ROW_ALPHA));
        kappa = vf_mad(kappa, w, vf_bcast(row + PL_ROW_KAPPA));
    }
    for (int i = 0; i < 3; ++i)
        impulse[i] = vf_sub(vf_sub(sum[i], vf_mul(alpha, x[i])), vf_mul(kappa, v[i]));
}

/* dt dv from the clusters, before division by the normaliser. */
PL_INLINE void blend_block(const pl_pass* pass, uint32_t block, const vf x[3], const vf v[3],
                           const vf r[3], vf impulse[3])
{
    const pl_chunk* chunk = pass->chunk;
    vf row[16];
    pl_blend_row(chunk, block, pass->rows, row);
    for (int i = 0; i < 3; ++i)
    {
        vf goal =
            vf_mad(vf_mad(vf_mul(row[3 * i], r[0]), row[3 * i + 1], r[1]), row[3 * i + 2], r[2]);
        goal = vf_add(goal, row[PL_ROW_B + i]);
        goal = vf_sub(goal, vf_mul(row[PL_ROW_ALPHA], x[i]));
        impulse[i] = vf_sub(goal, vf_mul(row[PL_ROW_KAPPA], v[i]));
    }
    if (!pass->quadratic)
        return;
    const float* quad = pass->rows + (size_t)PL_ROW_FLOATS * chunk->row_count;
    vf q[6] = {vf_mul(r[0], r[0]), vf_mul(r[1], r[1]), vf_mul(r[2], r[2]),
               vf_mul(r[0], r[1]), vf_mul(r[1], r[2]), vf_mul(r[2], r[0])};
    for (int i = 0; i < 3; ++i)
    {
        vf coefficient[6];
        blend_group(chunk, block, quad, PL_QUAD_ROW_FLOATS, 6 * i, 6, coefficient);
        for (int j = 0; j < 6; ++j)
            impulse[i] = vf_mad(impulse[i], coefficient[j], q[j]);
    }
}

/* Moves a block in which some lanes may be pinned. */
PL_INLINE void move_with_pins(const pl_pass* pass, uint32_t slot, vf x[3], vf v[3])
{
    const pl_pins* pins = pass->pins;
    vf frequency = pass->hold_all ? vf_set1(PLIANT_PIN_HELD) : vf_load(pins->frequency + slot);
    vm pinned = vf_lt(vf_set1(0), frequency);
    vm held = vf_le(vf_set1(PLIANT_PIN_HELD), frequency);
    vf turn = vf_mul(vf_set1(6.2831853f * pass->dt), vf_select(held, vf_set1(0), frequency));
    vf slow = vf_add(vf_set1(1), turn);
    vf scale = vf_div(vf_set1(1), vf_mul(slow, slow));
    vf pull = vf_div(vf_mul(turn, turn), vf_set1(pass->dt));
    for (int k = 0; k < 3; ++k)
    {
        vf from = vf_load(pins->from[k] + slot), to = vf_load(pins->to[k] + slot);
        vf way = vf_sub(to, from);
        vf speed = vf_mul(way, vf_set1(pass->pin_rate));
        vf start = vf_mad(from, way, vf_set1(pass->pin_from));
        vf end = vf_mad(from, way, vf_set1(pass->pin_to));
        vf relative = vf_mad(vf_sub(v[k], speed), pull, vf_sub(start, x[k]));
        v[k] = vf_select(pinned, vf_mad(speed, scale, relative), v[k]);
        v[k] = vf_select(held, speed, v[k]);
        x[k] = vf_select(held, end, vf_mad(x[k], vf_set1(pass->dt), v[k]));
    }
}

/* Lanes whose piece sleeps. */
PL_INLINE void hold_sleeping(const uint8_t still[8], const vf from[3], vf x[3], vf v[3])
{
    float flags[8];
    for (int lane = 0; lane < 8; ++lane)
        flags[lane] = still[lane];
    vm stands = vf_lt(vf_set1(0), vf_load(flags));
    for (int k = 0; k < 3; ++k)
    {
        x[k] = vf_select(stands, from[k], x[k]);
        v[k] = vf_select(stands, vf_set1(0), v[k]);
    }
}

PL_INLINE void advance(pl_pass* pass, bool plain, bool own)
{
    const pl_chunk* chunk = pass->chunk;
    pl_particles* p = pass->particles;
    vf dt = vf_set1(pass->dt), per_dt = vf_set1(1.0f / pass->dt);
    for (int k = 0; k < 3; ++k)
        pass->chunk->pos_origin[k] = p->x[k][chunk->middle_slot];
    vf left[3] = {vf_set1(0), vf_set1(0), vf_set1(0)}, moment[3] = {left[0], left[0], left[0]};
    vf turn[3], pivot[3];
    for (int k = 0; k < 3; ++k)
    {
        turn[k] = vf_set1(pass->turn[k]);
        pivot[k] = vf_set1(pass->pivot[k] - chunk->pos_origin[k]);
    }
    load_rows(pass);
    if (pass->quadratic)
        load_quadratic_rows(pass);
    pl_gather_begin(pass);
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t slot = chunk->slot_begin + 8 * b;
        vf x[3], v[3], r[3], near[3], impulse[3];
        pl_load3(p->x, slot, x);
        pl_load3(p->v, slot, v);
        pl_load3(p->r, slot, r);
        pl_relative_positions(chunk, x, near);
        if (own)
            blend_own(chunk, b, pass->rows, near, v, impulse);
        else
            blend_block(pass, b, near, v, r, impulse);
        vf norm = vf_load(p->norm + slot);
        vm there = vf_lt(vf_set1(0), norm);
        vf scale = vf_mul(norm, per_dt), mass = vf_load(p->mass + slot);
        vf change[3], about[3], arm[3], swing[3];
        for (int k = 0; k < 3; ++k)
        {
            change[k] = vf_mul(scale, impulse[k]);
            about[k] = vf_mul(mass, change[k]);
            left[k] = vf_add(left[k], about[k]);
            arm[k] = vf_sub(near[k], pivot[k]);
        }
        pl_add_moment(near, about, moment);
        pl_cross3(turn, arm, swing);
        for (int k = 0; k < 3; ++k)
        {
            vf a = vf_add(vf_set1(pass->gravity[k]), swing[k]);
            if (!plain && pass->acceleration[k])
                a = vf_add(a, vf_load(pass->acceleration[k] + slot));
            if (!plain && pass->force[k])
                a = vf_add(a, vf_load(pass->force[k] + slot));
            v[k] = vf_mad(vf_add(v[k], change[k]), dt, vf_keep(there, a));
            if (!plain)
                v[k] = vf_sub(v[k], vf_mul(vf_set1(pass->drag), v[k]));
        }
        vf from[3] = {x[0], x[1], x[2]};
        if (!plain && pass->pins)
            move_with_pins(pass, slot, x, v);
        else
            for (int k = 0; k < 3; ++k)
                x[k] = vf_mad(x[k], dt, v[k]);
        if (!plain && pass->still)
            hold_sleeping(pass->still + slot, from, x, v);
        pl_store3(p->x, slot, x);
        pl_store3(p->v, slot, v);
        pl_gather_block(pass, b, x, v, r, own);
    }
    for (int k = 0; k < 3; ++k)
    {
        pass->chunk->remainder[k] = vf_sum(left[k]);
        pass->chunk->torque[k] = vf_sum(moment[k]);
    }
}

void PL_K(pl_advance)(pl_pass* pass)
{
    bool plain =
        !pass->pins && !pass->still && !pass->acceleration[0] && !pass->force[0] && pass->drag == 0;
    if (pass->chunk->own_rest)
        advance(pass, false, true);
    else if (plain)
        advance(pass, true, false);
    else
        advance(pass, false, false);
}
