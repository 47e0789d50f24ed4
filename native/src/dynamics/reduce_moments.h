// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Reduces the sums of chunks to moments of clusters, eight clusters at a time (for *.simd.c).
 *
 * A chunk sums x' relative to its pos_origin and r' relative to its rest_origin; a cluster needs x
 * relative to its reference point and p relative to its rest centre: x = x' + o, p = r' + d. This
 * is done in double: o and d are larger than the cluster, and an error of its mass or centre would
 * exert a constant force.
 */
#ifndef PL_DYNAMICS_REDUCE_MOMENTS_H
#define PL_DYNAMICS_REDUCE_MOMENTS_H

#include "base/simd_double.h"
#include "dynamics/match.h"

/* Sums of m w times: x p^T, x, v, x cross v, p, 1, x x^T (xx yy zz xy yz zx); and what "xx" was
 * put together from, by which its rounding is judged. */
typedef struct pl_moments
{
    vd xr[9], x[3], v[3], xv[3], r[3], m, xx[6], summed;
} pl_moments;

/* Which of them to compute; each includes the ones before. */
typedef enum pl_wanted
{
    PL_WANT_FIT,   /* for a rotation and a centre: x p^T, x, p, 1 */
    PL_WANT_MATCH, /* velocities */
    PL_WANT_LEVER  /* x x^T */
} pl_wanted;

/* The n-th part of each of eight clusters; an empty one for clusters with fewer parts. */
typedef struct pl_round
{
    const pl_part* part[8];
    const float *sums[8], *origin[8];
} pl_round;

PL_INLINE pl_round pl_round_of(const pl_match_batch* batch, const pl_eight* eight, uint32_t n,
                               const float* const ref[8])
{
    static const pl_part no_part;
    static const float no_sums[PL_SUM_FLOATS];
    pl_round round;
    for (int i = 0; i < 8; ++i)
    {
        uint32_t at = batch->part_begin[eight->c[i]] + n;
        round.part[i] = &no_part;
        round.sums[i] = no_sums;
        round.origin[i] = ref[i];
        if (at >= batch->part_begin[eight->c[i] + 1])
            continue;
        const pl_part* part = &batch->part[at];
        const pl_chunk* chunk = &batch->chunks[part->chunk];
        round.part[i] = part;
        round.sums[i] = chunk->sums + (size_t)PL_SUM_FLOATS * part->row;
        round.origin[i] = chunk->pos_origin;
    }
    return round;
}

PL_INLINE void pl_add_fit(pl_moments* t, const vf s[24], const vd o[3], const vf to_rest[3],
                          const vd rest[4])
{
    vd d[3], first[3];
    for (int j = 0; j < 3; ++j)
    {
        d[j] = vd_from(to_rest[j]);
        first[j] = vd_mad(rest[1 + j], rest[0], d[j]);
        t->r[j] = vd_add(t->r[j], first[j]);
    }
    t->m = vd_add(t->m, rest[0]);
    for (int i = 0; i < 3; ++i)
    {
        vd x = vd_from(s[PL_SUM_X + i]);
        t->x[i] = vd_add(t->x[i], vd_mad(x, rest[0], o[i]));
        for (int j = 0; j < 3; ++j)
        {
            vd part = vd_mad(vd_from(s[3 * i + j]), x, d[j]);
            t->xr[3 * i + j] = vd_add(t->xr[3 * i + j], vd_mad(part, o[i], first[j]));
        }
    }
}

PL_INLINE void pl_add_velocities(pl_moments* t, const vf s[24], const vd o[3])
{
    vd v[3];
    for (int j = 0; j < 3; ++j)
    {
        v[j] = vd_from(s[PL_SUM_V + j]);
        t->v[j] = vd_add(t->v[j], v[j]);
    }
    for (int j = 0; j < 3; ++j)
    {
        int a = (j + 1) % 3, b = (j + 2) % 3;
        vd cross = vd_sub(vd_mul(o[a], v[b]), vd_mul(o[b], v[a]));
        t->xv[j] = vd_add(t->xv[j], vd_add(vd_from(s[PL_SUM_XV + j]), cross));
    }
}

PL_INLINE void pl_add_squares(pl_moments* t, const vf s[24], const vd o[3], vd mass)
{
    vd x[3], mo[3];
    for (int j = 0; j < 3; ++j)
    {
        x[j] = vd_from(s[PL_SUM_X + j]);
        mo[j] = vd_mul(mass, o[j]);
    }
    for (int j = 0; j < 3; ++j)
    {
        int n = (j + 1) % 3;
        vd twice = vd_add(vd_add(x[j], x[j]), mo[j]);
        vd mixed = vd_mad(vd_mul(vd_add(x[j], mo[j]), o[n]), o[j], x[n]);
        t->xx[j] = vd_add(t->xx[j], vd_mad(vd_from(s[PL_SUM_XX + j]), o[j], twice));
        t->xx[3 + j] = vd_add(t->xx[3 + j], vd_add(vd_from(s[PL_SUM_XX + 3 + j]), mixed));
        vd apart = vd_mad(vd_from(s[PL_SUM_XX + j]), mo[j], o[j]);
        t->summed = vd_add(t->summed, apart);
    }
}

/* Transposes eight rows, one per cluster, of "groups" times eight floats into lanes. */
PL_INLINE void pl_load_rows(const float* const rows[8], int groups, vf* s)
{
    for (int g = 0; g < groups; ++g)
    {
        for (int i = 0; i < 8; ++i)
            s[8 * g + i] = vf_load(rows[i] + 8 * g);
        vf_transpose(s + 8 * g);
    }
}

/* The largest number of parts of the eight clusters. */
PL_INLINE uint32_t pl_most_parts(const uint32_t* part_begin, const pl_eight* eight)
{
    uint32_t most = 0;
    for (int i = 0; i < 8; ++i)
        most = PL_MAX(most, part_begin[eight->c[i] + 1] - part_begin[eight->c[i]]);
    return most;
}

/* Moments about the clusters' reference points. */
PL_INLINE void pl_reduce_moments(const pl_match_batch* batch, const pl_eight* eight,
                                 const float* const ref[8], pl_wanted wanted, pl_moments* t)
{
    uint32_t most = pl_most_parts(batch->part_begin, eight);
    vf point[4];
    memset(t, 0, sizeof *t);
    vf_load4(ref, point);
    for (uint32_t n = 0; n < most; ++n)
    {
        pl_round round = pl_round_of(batch, eight, n, ref);
        const float* to_rest[8];
        const double* masses[8];
        vf s[24], d[4], origin[4];
        vd rest[4], o[3];
        for (int i = 0; i < 8; ++i)
        {
            to_rest[i] = round.part[i]->to_rest;
            masses[i] = &round.part[i]->mass;
        }
        vf_load4(to_rest, d);
        vf_load4(round.origin, origin);
        vd_load4(masses, rest);
        pl_load_rows(round.sums, wanted == PL_WANT_FIT ? 2 : 3, s);
        for (int j = 0; j < 3; ++j)
            o[j] = vd_sub(vd_from(origin[j]), vd_from(point[j]));
        pl_add_fit(t, s, o, d, rest);
        if (wanted != PL_WANT_FIT)
            pl_add_velocities(t, s, o);
        if (wanted == PL_WANT_LEVER)
            pl_add_squares(t, s, o, rest[0]);
    }
}

/* Centred moments, in the format of pl_clusters.sums: A_xr (9), x_c relative to the reference
 * point, v_c, spin about x_c, mass, the mean of p (0 up to rounding). Returns x_c in double. */
PL_INLINE void pl_centre(const pl_moments* t, vf fade, vf s[24], vd x[3])
{
    vd f = vd_from(fade), zero = vd_set1(0);
    vd per_mass = vd_if_less(zero, t->m, vd_div(vd_set1(1), t->m), zero);
    for (int i = 0; i < 3; ++i)
    {
        x[i] = vd_mul(t->x[i], per_mass);
        s[9 + i] = vd_round(x[i]);
        s[12 + i] = vd_round(vd_mul(t->v[i], per_mass));
        for (int j = 0; j < 3; ++j)
            s[3 * i + j] = vd_round(vd_mul(vd_sub(t->xr[3 * i + j], vd_mul(x[i], t->r[j])), f));
        s[19 + i] = vd_round(vd_mul(t->r[i], per_mass));
    }
    for (int i = 0; i < 3; ++i)
    {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        vd moment = vd_sub(vd_mul(x[a], t->v[b]), vd_mul(x[b], t->v[a]));
        s[15 + i] = vd_round(vd_mul(vd_sub(t->xv[i], moment), f));
    }
    s[18] = vd_round(vd_mul(t->m, f));
    s[22] = s[23] = vf_set1(0);
}

/* The inverse of the inertia about x_c, for strain limiting; what cannot be turned gets 0. Sums are
 * floats about a chunk's point, from which a cluster may be many widths away, after a break at
 * least: they tell its inertia to 1e-6 of its own and that of the way there. In a needle, as of two
 * or three members, that about its axis is less; one member has none. What is found by an inertia
 * of rounding alone would throw the members about. */
PL_INLINE void pl_inertia_inverse(const pl_moments* t, const vd x[3], vf out[6])
{
    vd s[6], i[6], c0, c3, c5, det, zero = vd_set1(0);
    for (int j = 0; j < 3; ++j)
    {
        vd mx = vd_mul(t->m, x[j]);
        s[j] = vd_sub(t->xx[j], vd_mul(mx, x[j]));
        s[3 + j] = vd_sub(t->xx[3 + j], vd_mul(mx, x[(j + 1) % 3]));
    }
    vd trace = vd_add(vd_add(s[0], s[1]), s[2]);
    vd unsure = vd_mul(vd_set1(1e-6), t->summed), slight = vd_mul(vd_set1(1e-5), trace);
    vd least = vd_mul(vd_mul(vd_if_less(slight, unsure, unsure, slight), trace), trace);
    for (int j = 0; j < 3; ++j)
    {
        i[j] = vd_sub(trace, s[j]);
        i[3 + j] = vd_sub(zero, s[3 + j]);
    }
    for (int round = 0; round < 2; ++round)
    {
        c0 = vd_sub(vd_mul(i[1], i[2]), vd_mul(i[4], i[4]));
        c3 = vd_sub(vd_mul(i[4], i[5]), vd_mul(i[3], i[2]));
        c5 = vd_sub(vd_mul(i[3], i[4]), vd_mul(i[1], i[5]));
        det = vd_mad(vd_mad(vd_mul(i[0], c0), i[3], c3), i[5], c5);
        if (round == 1)
            break;
        /* a needle cannot be turned about its axis */
        vd more = vd_mul(vd_set1(10), vd_if_less(slight, unsure, unsure, slight));
        more = vd_if_less(least, det, zero, more);
        for (int j = 0; j < 3; ++j)
            i[j] = vd_add(i[j], more);
    }
    vd per = vd_if_less(zero, det, vd_div(vd_set1(1), det), zero);
    per = vd_if_less(unsure, trace, per, zero);
    out[0] = vd_round(vd_mul(c0, per));
    out[1] = vd_round(vd_mul(vd_sub(vd_mul(i[0], i[2]), vd_mul(i[5], i[5])), per));
    out[2] = vd_round(vd_mul(vd_sub(vd_mul(i[0], i[1]), vd_mul(i[3], i[3])), per));
    out[3] = vd_round(vd_mul(c3, per));
    out[4] = vd_round(vd_mul(vd_sub(vd_mul(i[3], i[5]), vd_mul(i[0], i[4])), per));
    out[5] = vd_round(vd_mul(c5, per));
}

/* Prefetches the next clusters' sums. */
PL_INLINE void pl_prefetch_parts(const pl_match_batch* batch, uint32_t c)
{
    if (c + 8 > batch->end)
        return;
    for (uint32_t at = batch->part_begin[c]; at < batch->part_begin[c + 8]; ++at)
    {
        const pl_part* part = &batch->part[at];
        const float* s = batch->chunks[part->chunk].sums + (size_t)PL_SUM_FLOATS * part->row;
        __builtin_prefetch(s);
        __builtin_prefetch(s + 16);
    }
}

#endif
