// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Conservative test whether a chunk violates no strain limit, without testing every membership (for
 * *.simd.c).
 *
 * A member i of a cluster c may be L_c from its goal. Where strains are small, a neighbourhood
 * moves nearly by one affine map x = H r + h, and
 *
 *   |R_c r_i + t_c - x_i|  <=  |x_i - (H r_i + h)|                         particle by particle
 *                            + |R_c - H| W_c + |x_c - (H r_c + h)|         cluster by cluster
 *
 * with W_c the largest distance of a member from the rest centre r_c. There are six times fewer
 * particles than memberships, and few clusters. H is a least-squares fit to the centres of the
 * chunk's clusters; any other map is valid but passes less often. A chunk that fails is tested by
 * membership, so results do not depend on the bound.
 */
#ifndef PL_DYNAMICS_STRAIN_LIMIT_BOUND_H
#define PL_DYNAMICS_STRAIN_LIMIT_BOUND_H

#include "dynamics/cluster_rows.h"
#include "dynamics/gather.h"

/* Eight of the chunk's clusters, relative to the chunk's origins. */
typedef struct pl_bound_rows
{
    vf turn[9], x[3], rest[3], limit, width;
} pl_bound_rows;

/* The affine map. */
typedef struct pl_bound_map
{
    float h[9], offset[3];
} pl_bound_map;

/* Sums over clusters: 1, r, x, R, x r^T, r r^T (xx yy zz xy yz zx). */
enum
{
    PL_BOUND_REST = 1,
    PL_BOUND_X = 4,
    PL_BOUND_TURN = 7,
    PL_BOUND_XR = 16,
    PL_BOUND_RR = 25,
    PL_BOUND_SUMS = 31
};

PL_INLINE void pl_bound_load(const pl_pass* pass, uint32_t i, pl_bound_rows* out)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_clusters* k = pass->clusters;
    pl_eight eight = pl_chunk_eight(chunk, i, (const float(*)[16])k->limit);
    vf row[16], rest[4], ref[4];
    pl_eight_rows(&eight, (const float(*)[16])k->limit, row);
    pl_eight_points(&eight, (const float(*)[3])k->rest, rest);
    pl_eight_points(&eight, (const float(*)[3])k->limit_ref, ref);
    memcpy(out->turn, row, sizeof out->turn);
    for (int j = 0; j < 3; ++j)
    {
        out->x[j] = vf_add(row[9 + j], vf_sub(ref[j], vf_bcast(chunk->pos_origin + j)));
        out->rest[j] = vf_sub(rest[j], vf_bcast(chunk->rest_origin + j));
    }
    out->limit = row[12];
    out->width = pl_eight_load(&eight, k->width_max, 1);
    bool coarse = false;
    for (int n = 0; n < 8; ++n)
        coarse = coarse || eight.c[n] >= pass->finest_end;
    if (!coarse)
        return;
    float limit[8]; /* coarser (independent) levels limit nothing */
    vf_store(limit, out->limit);
    for (int n = 0; n < 8; ++n)
        limit[n] = eight.c[n] < pass->finest_end ? limit[n] : INFINITY;
    out->limit = vf_load(limit);
}

PL_INLINE void pl_bound_add(const pl_bound_rows* rows, vf sums[PL_BOUND_SUMS])
{
    vf one = vf_keep(vf_lt(rows->limit, vf_set1(INFINITY)), vf_set1(1));
    sums[0] = vf_add(sums[0], one);
    for (int j = 0; j < 3; ++j)
    {
        vf rest = vf_mul(one, rows->rest[j]);
        sums[PL_BOUND_REST + j] = vf_add(sums[PL_BOUND_REST + j], rest);
        sums[PL_BOUND_X + j] = vf_mad(sums[PL_BOUND_X + j], one, rows->x[j]);
        for (int n = 0; n < 3; ++n)
        {
            int at = 3 * n + j;
            sums[PL_BOUND_TURN + at] = vf_mad(sums[PL_BOUND_TURN + at], one, rows->turn[at]);
            sums[PL_BOUND_XR + at] = vf_mad(sums[PL_BOUND_XR + at], rest, rows->x[n]);
        }
        sums[PL_BOUND_RR + j] = vf_mad(sums[PL_BOUND_RR + j], rest, rows->rest[j]);
        sums[PL_BOUND_RR + 3 + j] =
            vf_mad(sums[PL_BOUND_RR + 3 + j], rest, rows->rest[(j + 1) % 3]);
    }
}

/* The fit; in directions in which the centres have little extent, the clusters' mean rotation. */
static pl_bound_map pl_bound_fit(const vf lanes[PL_BOUND_SUMS])
{
    double s[PL_BOUND_SUMS], a[6], h[9];
    pl_bound_map map;
    for (int i = 0; i < PL_BOUND_SUMS; ++i)
        s[i] = vf_sum(lanes[i]);
    const double *r = s + PL_BOUND_REST, *x = s + PL_BOUND_X;
    double per = s[0] > 0 ? 1 / s[0] : 0;
    for (int j = 0; j < 3; ++j)
    {
        a[j] = s[PL_BOUND_RR + j] - per * r[j] * r[j];
        a[3 + j] = s[PL_BOUND_RR + 3 + j] - per * r[j] * r[(j + 1) % 3];
    }
    mat3 spread = {{{a[0], a[3], a[5]}, {a[3], a[1], a[4]}, {a[5], a[4], a[2]}}};
    mat3 turn, cross;
    for (int i = 0; i < 9; ++i)
    {
        turn.m[i / 3][i % 3] = per * s[PL_BOUND_TURN + i];
        cross.m[i / 3][i % 3] = s[PL_BOUND_XR + i] - per * x[i / 3] * r[i % 3];
    }
    cross = m3_add(cross, m3_scale(m3_mul(turn, spread), -1));
    double more = 1e-3 * m3_trace(spread) + 1e-30;
    for (int j = 0; j < 3; ++j)
        spread.m[j][j] += more;
    mat3 fit = m3_add(turn, m3_mul(cross, m3_inverse(spread)));
    for (int i = 0; i < 9; ++i)
    {
        h[i] = fit.m[i / 3][i % 3];
        map.h[i] = (float)h[i];
    }
    for (int i = 0; i < 3; ++i)
    {
        const double* row = h + 3 * i;
        map.offset[i] = (float)(per * (x[i] - (row[0] * r[0] + row[1] * r[1] + row[2] * r[2])));
    }
    return map;
}

/* x - (H r + h) */
PL_INLINE void pl_bound_apart(const pl_bound_map* map, const vf r[3], const vf x[3], vf out[3])
{
    for (int i = 0; i < 3; ++i)
    {
        const float* h = map->h + 3 * i;
        vf to = vf_mad(vf_mul(vf_bcast(h), r[0]), vf_bcast(h + 1), r[1]);
        to = vf_add(vf_mad(to, vf_bcast(h + 2), r[2]), vf_bcast(map->offset + i));
        out[i] = vf_sub(x[i], to);
    }
}

PL_INLINE vf pl_square3(const vf a[3])
{
    return vf_mad(vf_mad(vf_mul(a[0], a[0]), a[1], a[1]), a[2], a[2]);
}

/* Squared distance from the map within which a cluster's members violate nothing; 0: none is. */
PL_INLINE vf pl_bound_slack(const pl_bound_map* map, const pl_bound_rows* rows)
{
    const vf zero = vf_set1(0);
    vf apart[3], all = zero, row = zero, column = zero, size[9];
    for (int i = 0; i < 9; ++i)
    {
        size[i] = vf_abs(vf_sub(rows->turn[i], vf_bcast(map->h + i)));
        all = vf_mad(all, size[i], size[i]);
    }
    for (int i = 0; i < 3; ++i)
    {
        row = vf_max(row, vf_add(vf_add(size[3 * i], size[3 * i + 1]), size[3 * i + 2]));
        column = vf_max(column, vf_add(vf_add(size[i], size[3 + i]), size[6 + i]));
    }
    /* upper bounds of the 2-norm: Frobenius norm, geometric mean of 1-norm and inf-norm */
    vf norm = vf_sqrt(vf_min(all, vf_mul(row, column)));
    pl_bound_apart(map, rows->rest, rows->x, apart);
    vf used = vf_mad(vf_sqrt(pl_square3(apart)), norm, rows->width);
    used = vf_mad(used, vf_set1(1e-5f), rows->width); /* this and .999 allow for rounding */
    vf slack = vf_sub(vf_mul(vf_set1(.999f), rows->limit), used);
    return vf_keep(vf_lt(zero, slack), vf_mul(slack, slack));
}

/* Whether every member of the chunk is well within its limit. Uses pass->rows. */
static bool pl_limit_idle(const pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    const pl_particles* p = pass->particles;
    vf sums[PL_BOUND_SUMS], least = vf_set1(INFINITY);
    for (int i = 0; i < PL_BOUND_SUMS; ++i)
        sums[i] = vf_set1(0);
    pl_bound_rows rows;
    for (uint32_t i = 0; i < chunk->row_count; i += 8)
    {
        pl_bound_load(pass, i, &rows);
        pl_bound_add(&rows, sums);
    }
    pl_bound_map map = pl_bound_fit(sums);
    for (uint32_t i = 0; i < chunk->row_count; i += 8)
    {
        pl_bound_load(pass, i, &rows);
        vf slack = pl_bound_slack(&map, &rows);
        least = vf_min(least, slack);
        vf_store(pass->rows + i, slack);
    }
    float lanes[8];
    vf_store(lanes, least);
    for (int i = 1; i < 8; ++i)
        lanes[0] = PL_MIN(lanes[0], lanes[i]);
    least = vf_set1(lanes[0]);
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t slot = chunk->slot_begin + 8 * b;
        vf x[3], r[3], near[3], apart[3];
        pl_load3(p->x, slot, x);
        pl_load3(p->r, slot, r);
        pl_relative_positions(chunk, x, near);
        pl_bound_apart(&map, r, near, apart);
        vf square = pl_square3(apart);
        vm there = vf_lt(vf_set1(0), vf_load(p->norm + slot));
        if (!vm_bits(vm_andnot(vf_lt(square, least), there)))
            continue;
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
        {
            vf slack = vf_bcast(pass->rows + chunk->entry_row[e]);
            vm member = vf_lt(vf_set1(0), vf_load(chunk->entry_kernel + (size_t)8 * e));
            if (vm_bits(vm_andnot(vf_lt(square, slack), member)))
                return false;
        }
    }
    return true;
}

#endif
