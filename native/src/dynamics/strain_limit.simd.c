// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Strain limiting (Bargteil and Jones 2014, "Strain Limiting for Clustered Shape Matching"): a
 * member farther from its cluster's goal than gamma times the cluster's width is moved back to that
 * distance; a particle takes the mean of its clusters' corrections, relaxed by omega. Positions and
 * velocities move together.
 *
 * Departure: moving only violators would change the momentum of the body, so the mean and the
 * rotation of each cluster's corrections are subtracted. With x += e, v += e / dt the angular
 * momentum changes by sum m (x - dt v) x e / dt. The lever arms are therefore the positions at the
 * start of the step, x - dt v; and the rotation subtracted is theta x (F p) with the start's F,
 * which is affine in p (as in match.simd.c) and keeps momentum exactly.
 *
 * Each iteration: match_limit -> limit -> limit_balance -> limit_apply (which gathers again).
 */
#include "dynamics/reduce_moments.h"
#include "dynamics/strain_limit_bound.h"

/* The chunk's limit rows: R, goal offset at the chunk's rest origin, squared limit, fade times
 * limit, fade. */
static void load_limit_rows(const pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_clusters* k = pass->clusters;
    for (uint32_t i = 0; i < chunk->row_count; i += 8)
    {
        pl_eight eight = pl_chunk_eight(chunk, i, (const float(*)[16])k->limit);
        vf row[16], more[3], fade = pl_eight_load(&eight, k->fade, 1);
        pl_eight_rows(&eight, (const float(*)[16])k->limit, row);
        pl_shift_rows(chunk, k, &eight, (const float(*)[3])k->limit_ref, row, vf_set1(1), more);
        for (int j = 0; j < 3; ++j)
            row[9 + j] = vf_add(row[9 + j], more[j]);
        row[13] = vf_mul(row[12], fade);
        row[12] = vf_mul(row[12], row[12]);
        row[14] = fade;
        pl_level_batch_store_rows(i, eight.used, pass->rows, row);
        for (uint32_t n = 0; n < eight.used; ++n) /* coarser (independent) levels limit nothing */
            if (eight.c[n] >= pass->finest_end)
                pass->rows[(size_t)16 * (i + n) + 12] = INFINITY;
    }
}

/* Vectors from members to their goals by the cluster's row, and their squared lengths. */
PL_INLINE vf from_goal(const float* row, const vf r[3], const vf near[3], vf apart[3])
{
    for (int j = 0; j < 3; ++j)
    {
        const float* turn = row + 3 * j;
        vf to = vf_mad(vf_mul(vf_bcast(turn), r[0]), vf_bcast(turn + 1), r[1]);
        apart[j] =
            vf_add(vf_mad(to, vf_bcast(turn + 2), r[2]), vf_sub(vf_bcast(row + 9 + j), near[j]));
    }
    return vf_mad(vf_mad(vf_mul(apart[0], apart[0]), apart[1], apart[1]), apart[2], apart[2]);
}

/* Whether any member of the chunk is over its limit. Called where none was in the last iteration:
 * then most likely none is now, and the correction needs no preparation. */
PL_INLINE bool any_over(const pl_pass* pass, bool own)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_particles* p = pass->particles;
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t slot = chunk->slot_begin + 8 * b;
        vf x[3], near[3], r[3], apart[3], zero = vf_set1(0);
        vm over = vf_lt(zero, zero);
        pl_load3(p->x, slot, x);
        pl_relative_positions(chunk, x, near);
        pl_load3(p->r, slot, r);
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
        {
            const float* row = pass->rows + (size_t)16 * chunk->entry_row[e];
            for (int j = 0; j < 3 && own; ++j)
                r[j] = vf_load(chunk->own_rest + (size_t)24 * e + 8 * j);
            vf distance2 = from_goal(row, r, near, apart);
            vm member = vf_lt(zero, vf_load(chunk->entry_kernel + (size_t)8 * e));
            over = vm_or(over, vm_and(vf_lt(vf_bcast(row + 12), distance2), member));
        }
        if (vm_bits(over))
            return true;
    }
    return false;
}

/* An entry of a block: vectors from its members to their goals; their squared lengths, later the
 * share of the vector by which each member moves, times its kernel value. */
typedef struct violation
{
    vf apart[3];
    union {
        vf square, share;
    };
    uint32_t entry;
} violation;

enum
{
    BATCH = 24,     /* entries tested before the violated ones are corrected */
    AHEAD = 4,      /* distance in entries from finding shares to correcting */
    MOST_PAUSE = 15 /* see bound_says_idle */
};

PL_INLINE vm is_over(const float* row, vf square, vf kernel)
{
    return vm_and(vf_lt(vf_bcast(row + 12), square), vf_lt(vf_set1(0), kernel));
}

/* Tests some of a block's entries. Roots and divisions follow in a second pass and corrections in a
 * third: the dependency chain is longer than the window of out-of-order execution. Entries without
 * violation are left out, unless "every" is set: where most are violated, adding zeros, which
 * changes nothing, costs less than mispredicted branches. */
PL_INLINE uint32_t test_entries(const pl_pass* pass, uint32_t begin, uint32_t end, const vf near[3],
                                const vf r[3], bool every, bool own, violation* found)
{
    const pl_chunk* chunk = pass->chunk;
    vf r0 = r[0], r1 = r[1], r2 = r[2];
    violation* v = found;
    for (uint32_t e = begin; e < end; ++e)
    {
        const float* row = pass->rows + (size_t)16 * chunk->entry_row[e];
        vf apart[3];
        if (own)
        {
            const float* rest = chunk->own_rest + (size_t)24 * e;
            r0 = vf_load(rest), r1 = vf_load(rest + 8), r2 = vf_load(rest + 16);
        }
        vf square = from_goal(row, (vf[3]){r0, r1, r2}, near, apart);
        vf kernel = vf_load(chunk->entry_kernel + (size_t)8 * e);
        if (!every && !vm_bits(is_over(row, square, kernel)))
            continue;
        v->apart[0] = apart[0], v->apart[1] = apart[1], v->apart[2] = apart[2];
        v->square = square;
        v->entry = e;
        ++v;
    }
    return (uint32_t)(v - found);
}

/* Finds the shares of an entry's members. Returns how many are over their limit. */
PL_INLINE uint32_t find_share(const pl_pass* pass, violation* v)
{
    const float* row = pass->rows + (size_t)16 * pass->chunk->entry_row[v->entry];
    vf kernel = vf_load(pass->chunk->entry_kernel + (size_t)8 * v->entry);
    vm over = is_over(row, v->square, kernel);
    vf share = vf_sub(vf_bcast(row + 14), vf_div(vf_bcast(row + 13), vf_sqrt(v->square)));
    v->share = vf_keep(over, vf_mul(share, kernel));
    return (uint32_t)__builtin_popcount(vm_bits(over));
}

/* Adds an entry's corrections to the particles and to the cluster's sums, which stay partly in
 * lanes until join_sums. */
PL_INLINE void correct(const pl_pass* pass, const violation* v, vf mass, const vf lever[3],
                       vf shift[3])
{
    float* sums = pass->limit_sums + (size_t)PL_LIMIT_FLOATS * pass->chunk->entry_row[v->entry];
    vf part[6];
    for (int j = 0; j < 3; ++j)
    {
        vf move = vf_mul(v->share, v->apart[j]);
        part[j] = vf_mul(mass, move);
        shift[j] = vf_add(shift[j], move);
    }
    pl_cross3(lever, part, part + 3);
    vf four = vf_sum_four(vf_sum_pair(part[0], part[1]), vf_sum_pair(part[2], part[3]));
    vf_store(sums, vf_add(vf_load(sums), four));
    vf_store(sums + 8, vf_add(vf_load(sums + 8), vf_sum_pair(part[4], part[5])));
}

/* Corrects entries, and finds the shares of those AHEAD. */
PL_INLINE uint32_t correct_all(const pl_pass* pass, violation* found, uint32_t count, vf mass,
                               const vf lever[3], vf shift[3])
{
    uint32_t violated = 0, i = 0;
    vf total[3] = {shift[0], shift[1], shift[2]};
    for (uint32_t n = 0; n < PL_MIN(count, (uint32_t)AHEAD); ++n)
        violated += find_share(pass, &found[n]);
    for (; i + AHEAD < count; ++i)
    {
        violated += find_share(pass, &found[i + AHEAD]);
        correct(pass, &found[i], mass, lever, total);
    }
    for (; i < count; ++i)
        correct(pass, &found[i], mass, lever, total);
    shift[0] = total[0], shift[1] = total[1], shift[2] = total[2];
    return violated;
}

/* Joins each row's lanes into its first six floats. */
static void join_sums(const pl_pass* pass)
{
    for (uint32_t r = 0; r < pass->chunk->row_count; ++r)
    {
        float* sums = pass->limit_sums + (size_t)PL_LIMIT_FLOATS * r;
        vf two = vf_load(sums + 8);
        vf_store(sums, vf_sum_halves(vf_load(sums), vf_sum_four(two, two)));
    }
}

PL_INLINE void limit(pl_pass* pass, bool every, bool own)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_particles* p = pass->particles;
    vf dt = vf_set1(pass->dt), zero = vf_set1(0);
    violation found[BATCH];
    uint32_t violated = 0;
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t slot = chunk->slot_begin + 8 * b, end = chunk->block_begin[b + 1];
        vf x[3], near[3], r[3], v[3], lever[3], shift[3] = {zero, zero, zero};
        vf norm = vf_load(p->norm + slot), mass = vf_mul(norm, vf_load(p->mass + slot));
        pl_load3(p->x, slot, x);
        pl_relative_positions(chunk, x, near);
        pl_load3(p->r, slot, r);
        pl_load3(p->v, slot, v);
        for (int j = 0; j < 3; ++j)
            lever[j] = vf_sub(near[j], vf_mul(dt, v[j]));
        for (uint32_t e = chunk->block_begin[b]; e < end; e += BATCH)
        {
            uint32_t count =
                test_entries(pass, e, PL_MIN(e + BATCH, end), near, r, every, own, found);
            violated += correct_all(pass, found, count, mass, lever, shift);
        }
        for (int j = 0; j < 3; ++j)
            shift[j] = vf_mul(norm, shift[j]);
        pl_store3(pass->shift, slot, shift);
    }
    join_sums(pass);
    pass->violated += violated;
}

/* Whether the chunk's bound (strain_limit_bound.h) excludes violations. After a failure, as in
 * bodies that bend, it is skipped for some substeps: this changes the cost only. */
static bool bound_says_idle(const pl_pass* pass)
{
    pl_chunk* chunk = pass->chunk;
    if (chunk->bound_wait)
        return --chunk->bound_wait, false;
    bool idle = pl_limit_idle(pass);
    chunk->bound_wait = chunk->bound_pause =
        idle ? 0 : PL_MIN(2 * chunk->bound_pause + 1, (uint32_t)MOST_PAUSE);
    return idle;
}

void PL_K(pl_limit)(pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    memset(pass->limit_sums, 0, sizeof(float) * PL_LIMIT_FLOATS * chunk->row_count);
    pass->tested += chunk->member_count;
    if (!chunk->own_rest && chunk->violated == 0 && bound_says_idle(pass))
        return;
    load_limit_rows(pass);
    if (chunk->violated == 0 && !(chunk->own_rest ? any_over(pass, true) : any_over(pass, false)))
        return;
    bool every = chunk->violated > chunk->member_count / 4; /* in the last iteration */
    if (chunk->own_rest && every)
        limit(pass, true, true);
    else if (chunk->own_rest)
        limit(pass, false, true);
    else if (every)
        limit(pass, true, false);
    else
        limit(pass, false, false);
}

/* Sums of eight clusters' corrections over their chunks: delta (3), its moment about x_c (3). */
static void sum_corrections(const pl_match_batch* batch, const pl_eight* eight,
                            float* const* limit_sums, const vf lever[16], vf total[6])
{
    static const float none[8];
    const pl_clusters* k = batch->clusters;
    uint32_t most = pl_most_parts(k->part_begin, eight);
    for (int j = 0; j < 6; ++j)
        total[j] = vf_set1(0);
    for (uint32_t n = 0; n < most; ++n)
    {
        const float *sums[8], *origin[8];
        vf s[8], at[4], o[3], moment[3];
        for (int i = 0; i < 8; ++i)
        {
            const pl_part* part = &k->part[k->part_begin[eight->c[i]] + n];
            bool more = part < &k->part[k->part_begin[eight->c[i] + 1]];
            sums[i] = more ? limit_sums[part->chunk] + (size_t)PL_LIMIT_FLOATS * part->row : none;
            origin[i] = batch->chunks[more ? part->chunk : 0].pos_origin;
        }
        pl_load_rows(sums, 1, s);
        vf_load4(origin, at);
        for (int j = 0; j < 3; ++j)
            o[j] = vf_sub(vf_sub(at[j], lever[PL_LEVER_REF + j]), lever[PL_LEVER_X + j]);
        pl_cross3(o, s, moment);
        for (int j = 0; j < 3; ++j)
        {
            total[j] = vf_add(total[j], s[j]);
            total[3 + j] = vf_add(total[3 + j], vf_add(s[3 + j], moment[j]));
        }
    }
}

/* Stores what is subtracted from every member's correction: the mean, and theta x (l - l_c). */
static void balance_eight(const pl_match_batch* batch, const pl_eight* eight,
                          float* const* limit_sums)
{
    pl_clusters* k = batch->clusters;
    vf lever[16], total[6], theta[3], row[16], zero = vf_set1(0);
    pl_eight_rows(eight, (const float(*)[16])k->lever[batch->lever_side], lever);
    sum_corrections(batch, eight, limit_sums, lever, total);
    vf mass = lever[PL_LEVER_MASS];
    vm heavy = vf_lt(zero, mass), any = vf_lt(zero, zero);
    vf per_mass = vf_keep(heavy, vf_div(vf_set1(1), vf_select(heavy, mass, vf_set1(1))));
    for (int j = 0; j < 6; ++j)
        any = vm_or(any, vm_or(vf_lt(zero, total[j]), vf_lt(total[j], zero)));
    pl_symmetric_mulv(lever + PL_LEVER_INVERSE, total + 3, theta);
    for (int j = 0; j < 3; ++j)
    {
        row[j] = vf_neg(theta[j]);
        row[3 + j] = vf_neg(vf_mul(total[j], per_mass));
        row[6 + j] = lever[PL_LEVER_REF + j];
        row[9 + j] = lever[PL_LEVER_X + j];
        row[12 + j] = zero;
    }
    row[15] = vf_set1(1);
    for (int j = 0; j < 16; ++j)
        row[j] = vf_keep(any, row[j]);
    pl_eight_store_rows(eight, k->limit[0], row);
}

void PL_K(pl_limit_balance)(const pl_match_batch* batch, float* const* limit_sums)
{
    const pl_clusters* k = batch->clusters;
    for (uint32_t c = batch->begin; c < batch->end; c += 8)
    {
        pl_eight eight = pl_eight_from(c, batch->end);
        uint32_t next = PL_MIN(c + 8, batch->end), after = PL_MIN(c + 16, batch->end);
        for (uint32_t at = k->part_begin[next]; at < k->part_begin[after]; ++at)
            __builtin_prefetch(limit_sums[k->part[at].chunk] +
                               (size_t)PL_LIMIT_FLOATS * k->part[at].row);
        balance_eight(batch, &eight, limit_sums);
    }
}

/* The chunk's balancing maps: a rotation and an offset, about the chunk's origin. */
static void load_maps(const pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_clusters* k = pass->clusters;
    for (uint32_t i = 0; i < chunk->row_count; i += 8)
    {
        pl_eight eight = pl_chunk_eight(chunk, i, (const float(*)[16])k->limit);
        vf row[16], arm[3], about[3], out[8];
        pl_eight_rows(&eight, (const float(*)[16])k->limit, row);
        /* 0 for clusters without violation, and for coarser levels */
        vm moved = vf_lt(vf_set1(0), row[15]);
        vf fade = vf_keep(moved, pl_eight_load(&eight, k->fade, 1));
        for (int j = 0; j < 3; ++j)
            arm[j] = vf_add(vf_sub(row[6 + j], vf_bcast(chunk->pos_origin + j)), row[9 + j]);
        pl_cross3(row, arm, about);
        for (int j = 0; j < 3; ++j)
        {
            out[j] = vf_mul(row[j], fade);
            out[3 + j] = vf_mul(vf_sub(row[3 + j], about[j]), fade);
        }
        out[6] = out[7] = vf_set1(0);
        vf_transpose(out);
        for (uint32_t n = 0; n < eight.used; ++n)
            vf_store(pass->rows + (size_t)8 * (i + n), out[n]);
    }
}

PL_INLINE void blend_maps(const pl_pass* pass, uint32_t block, vf map[6])
{
    const pl_chunk* chunk = pass->chunk;
    for (int k = 0; k < 6; ++k)
        map[k] = vf_set1(0);
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        vf w = vf_load(chunk->entry_kernel + (size_t)8 * e);
        const float* row = pass->rows + (size_t)8 * chunk->entry_row[e];
        for (int k = 0; k < 6; ++k)
            map[k] = vf_mad(map[k], w, vf_bcast(row + k));
    }
}

PL_INLINE void limit_apply(pl_pass* pass, bool fit, bool own)
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
        vf x[3], v[3], r[3], shift[3], map[6], lever[3], back[3], about[3];
        pl_load3(p->x, slot, x);
        pl_load3(p->v, slot, v);
        pl_load3(p->r, slot, r);
        if (chunk->violated > 0)
            pl_load3(pass->shift, slot, shift);
        else /* shift was not written there */
            shift[0] = shift[1] = shift[2] = vf_set1(0);
        blend_maps(pass, b, map);
        vf norm = vf_load(p->norm + slot), mass = vf_load(p->mass + slot);
        vm held = vf_lt(vf_set1(1), vf_set1(0));
        if (pass->pins)
            held = vf_le(vf_set1(PLIANT_PIN_HELD), pass->hold_all
                                                       ? vf_set1(PLIANT_PIN_HELD)
                                                       : vf_load(pass->pins->frequency + slot));
        pl_relative_positions(chunk, x, lever);
        for (int j = 0; j < 3; ++j)
            lever[j] = vf_sub(lever[j], vf_mul(vf_set1(pass->dt), v[j]));
        pl_cross3(map, lever, back);
        for (int j = 0; j < 3; ++j)
        {
            back[j] = vf_mul(norm, vf_add(back[j], map[3 + j]));
            vf move = vf_mul(omega, vf_add(shift[j], back[j]));
            about[j] = vf_mul(mass, vf_mul(move, per_dt));
            left[j] = vf_add(left[j], about[j]);
            move = vf_select(held, vf_set1(0), move);
            x[j] = vf_add(x[j], move);
            v[j] = vf_mad(v[j], move, per_dt);
        }
        pl_add_moment(lever, about, moment);
        pl_store3(p->x, slot, x);
        pl_store3(p->v, slot, v);
        if (fit)
            pl_fit_block(pass, b, x, r);
        else
            pl_gather_block(pass, b, x, v, r, own);
    }
    if (fit)
        pl_fit_join(chunk);
    for (int j = 0; j < 3; ++j)
    {
        pass->chunk->remainder[j] += vf_sum(left[j]);
        pass->chunk->torque[j] += vf_sum(moment[j]);
    }
}

void PL_K(pl_limit_apply)(pl_pass* pass)
{
    if (pass->chunk->own_rest)
        limit_apply(pass, false, true);
    else if (pl_limit_gathers(pass))
        limit_apply(pass, false, false);
    else
        limit_apply(pass, true, false);
}
