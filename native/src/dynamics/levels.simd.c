// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Nested levels (Kaliappan and Bargteil 2020 have independent ones). A coarse cluster
 * treats its fine clusters as elements: a fine offset p_f is B p_f + q in the coarse one. Its
 * moments are sums over fine clusters,
 *
 *   A_c = sum_f u (A_f B^T + m_f (x_f - x_c) q^T),
 *   L_c = sum_f u (L_f + m_f (x_f - x_c) x (v_f - v_c))
 *
 * and its impulse, affine in its own offset, is affine in the fine one:
 *
 *   A (B p_f + q) + b - alpha (x - ref_c)
 *     =  (A B) p_f + (b + A q + alpha (ref_c - ref_f)) - alpha (x - ref_f).
 *
 * So particles store memberships of the finest level only, and the cost of levels is that of links,
 * not of memberships. While every B is the identity, level_batches.h does the same faster.
 */
#include "dynamics/reduce_moments.h"

/* Sums of a coarse cluster over its fine ones, in lanes; x is relative to its reference point. They
 * are centred afterwards, which in double costs no accuracy. */
typedef struct level_sums
{
    vd mass, x[3], v[3], a[9], spin[3];
    vd mq[3];   /* m q, to centre a */
    vd left[3]; /* the mean of p, which is 0 up to rounding */
} level_sums;

/* B p of eight links, or p itself where every B is the identity. */
PL_INLINE void turn_rest(const pl_links* links, const uint32_t link[8], const vd p[3], vd out[3])
{
    const vd from[3] = {p[0], p[1], p[2]}; /* out may be p */
    for (int j = 0; j < 3; ++j)
        out[j] = from[j];
    for (int j = 0; !links->plain && j < 3; ++j)
    {
        float b[3][8];
        for (int n = 0; n < 3; ++n)
            for (int i = 0; i < 8; ++i)
                b[n][i] = links->b[link[i]][3 * j + n];
        out[j] = vd_mul(vd_from(vf_load(b[0])), from[0]);
        out[j] = vd_mad(out[j], vd_from(vf_load(b[1])), from[1]);
        out[j] = vd_mad(out[j], vd_from(vf_load(b[2])), from[2]);
    }
}

/* Adds up to eight links, starting at "i". */
PL_INLINE void add_links(const pl_links* links, const pl_clusters* k, uint32_t i, uint32_t end,
                         const vd ref[3], level_sums* t)
{
    static const float zero_row[4];
    const float *sums[8], *from[8], *rest[8];
    uint32_t link[8];
    vf s[24], point[4], q_u[4];
    vd x[3], v[3], q[3], mx[3], left[3];
    for (uint32_t n = 0; n < 8; ++n)
    {
        link[n] = PL_MIN(i + n, end - 1);
        sums[n] = k->sums[links->fine[link[n]]];
        from[n] = k->ref[links->fine[link[n]]];
        rest[n] = i + n < end ? links->q[link[n]] : zero_row;
        uint32_t later = links->fine[PL_MIN(i + n + 8, links->count - 1)];
        __builtin_prefetch(k->sums[later]);
        __builtin_prefetch(k->sums[later] + 16);
    }
    pl_load_rows(sums, 3, s);
    vf_load4(from, point);
    vf_load4(rest, q_u);
    vd u = vd_from(q_u[3]), um = vd_mul(u, vd_from(s[18]));
    t->mass = vd_add(t->mass, um);
    for (int j = 0; j < 3; ++j)
    {
        x[j] = vd_add(vd_from(s[9 + j]), vd_sub(vd_from(point[j]), ref[j]));
        v[j] = vd_from(s[12 + j]);
        q[j] = vd_from(q_u[j]);
        left[j] = vd_from(s[19 + j]);
        mx[j] = vd_mul(um, x[j]);
        t->x[j] = vd_add(t->x[j], mx[j]);
        t->v[j] = vd_mad(t->v[j], um, v[j]);
        t->mq[j] = vd_mad(t->mq[j], um, q[j]);
    }
    turn_rest(links, link, left, left);
    for (int r = 0; r < 3; ++r)
    {
        vd a[3] = {vd_from(s[3 * r]), vd_from(s[3 * r + 1]), vd_from(s[3 * r + 2])};
        int n = (r + 1) % 3, m = (r + 2) % 3;
        turn_rest(links, link, a, a);
        for (int j = 0; j < 3; ++j)
            t->a[3 * r + j] = vd_add(t->a[3 * r + j], vd_mad(vd_mul(u, a[j]), mx[r], q[j]));
        vd moment = vd_sub(vd_mul(mx[n], v[m]), vd_mul(mx[m], v[n]));
        t->spin[r] = vd_add(t->spin[r], vd_mad(moment, u, vd_from(s[15 + r])));
        t->left[r] = vd_mad(t->left[r], um, vd_add(q[r], left[r]));
    }
}

static double lanes_sum(vd a)
{
    double l[8];
    vd_store(l, a);
    return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
}

static void sum_one(const pl_links* links, pl_clusters* k, uint32_t c)
{
    uint32_t begin = links->by_coarse_begin[c], end = links->by_coarse_begin[c + 1];
    float *out = k->sums[c], *ref = k->ref[c];
    level_sums t;
    vd point[3];
    double x[3], v[3];
    memset(&t, 0, sizeof t);
    memset(ref, 0, sizeof k->ref[c]); /* without links: all fine clusters are dead */
    if (begin < end)
        memcpy(ref, k->ref[links->fine[begin]], sizeof k->ref[c]);
    for (int j = 0; j < 3; ++j)
        point[j] = vd_set1(ref[j]);
    for (uint32_t i = begin; i < end; i += 8)
        add_links(links, k, i, end, point, &t);
    double mass = lanes_sum(t.mass), per_mass = mass > 0 ? 1 / mass : 0;
    for (int j = 0; j < 3; ++j)
    {
        x[j] = lanes_sum(t.x[j]) * per_mass;
        v[j] = lanes_sum(t.v[j]) * per_mass;
        out[9 + j] = (float)x[j];
        out[12 + j] = (float)v[j];
        out[19 + j] = (float)(lanes_sum(t.left[j]) * per_mass);
    }
    for (int j = 0; j < 3; ++j)
    {
        double mq = lanes_sum(t.mq[j]);
        int a = (j + 1) % 3, b = (j + 2) % 3;
        for (int r = 0; r < 3; ++r)
            out[3 * r + j] = (float)(lanes_sum(t.a[3 * r + j]) - x[r] * mq);
        out[15 + j] = (float)(lanes_sum(t.spin[j]) - mass * (x[a] * v[b] - x[b] * v[a]));
    }
    out[18] = (float)mass;
    out[22] = out[23] = 0;
}

void PL_K(pl_levels_sum)(const pl_links* links, pl_clusters* clusters, uint32_t begin, uint32_t end)
{
    for (uint32_t c = begin; c < end; ++c)
        sum_one(links, clusters, c);
}

/* A B of eight links, row by row; A itself where every B is the identity. */
PL_INLINE void turn_rows(const pl_links* links, const uint32_t link[8], vf row[16])
{
    for (int r = 0; !links->plain && r < 3; ++r)
    {
        vf a[3] = {row[3 * r], row[3 * r + 1], row[3 * r + 2]};
        for (int j = 0; j < 3; ++j)
        {
            float b[3][8];
            for (int n = 0; n < 3; ++n)
                for (int i = 0; i < 8; ++i)
                    b[n][i] = links->b[link[i]][3 * n + j];
            row[3 * r + j] = vf_mad(vf_mad(vf_mul(a[0], vf_load(b[0])), a[1], vf_load(b[1])), a[2],
                                    vf_load(b[2]));
        }
    }
}

/* Adds the coarse row of the n-th link of each of eight fine clusters. */
PL_INLINE void add_rows(const pl_links* links, const pl_clusters* k, const pl_eight* eight,
                        uint32_t n, const vf ref[3], vf sum[14])
{
    /* read for absent links: another thread may be writing a coarse cluster's row */
    static const float zero_row[16];
    const float *rows[8], *from[8], *rest[8];
    uint32_t link[8];
    vf row[16], point[4], q_u[4];
    for (int i = 0; i < 8; ++i)
    {
        uint32_t at = links->by_fine_begin[eight->c[i]] + n;
        bool there = at < links->by_fine_begin[eight->c[i] + 1];
        link[i] = there ? links->by_fine[at] : 0;
        rows[i] = there ? k->row[links->coarse[link[i]]] : zero_row;
        from[i] = there ? k->ref[links->coarse[link[i]]] : zero_row;
        rest[i] = there ? links->q[link[i]] : zero_row;
    }
    pl_load_rows(rows, 2, row);
    vf_load4(from, point);
    vf_load4(rest, q_u);
    vf u = q_u[3], alpha = row[PL_ROW_ALPHA];
    for (int r = 0; r < 3; ++r)
    {
        const vf* a = row + 3 * r;
        vf pull = vf_mad(vf_mad(vf_mul(a[0], q_u[0]), a[1], q_u[1]), a[2], q_u[2]);
        pull = vf_mad(vf_add(row[PL_ROW_B + r], pull), alpha, vf_sub(point[r], ref[r]));
        sum[PL_ROW_B + r] = vf_mad(sum[PL_ROW_B + r], u, pull);
    }
    turn_rows(links, link, row);
    for (int j = 0; j < 9; ++j)
        sum[j] = vf_mad(sum[j], u, row[j]);
    sum[PL_ROW_ALPHA] = vf_mad(sum[PL_ROW_ALPHA], u, alpha);
    sum[PL_ROW_KAPPA] = vf_mad(sum[PL_ROW_KAPPA], u, row[PL_ROW_KAPPA]);
}

/* Prefetches the next clusters' links, which lie in another order. */
PL_INLINE void prefetch_links(const pl_links* links, uint32_t begin, uint32_t end)
{
    for (uint32_t n = links->by_fine_begin[begin]; n < links->by_fine_begin[end]; ++n)
    {
        __builtin_prefetch(links->q[links->by_fine[n]]);
        __builtin_prefetch(&links->coarse[links->by_fine[n]]);
    }
}

static void spread_eight(const pl_links* links, pl_clusters* k, const pl_eight* eight)
{
    const float *from[8], *rows[8];
    vf sum[14], row[16], ref[4];
    uint32_t most = 0;
    for (int i = 0; i < 8; ++i)
    {
        uint32_t c = eight->c[i];
        most = PL_MAX(most, links->by_fine_begin[c + 1] - links->by_fine_begin[c]);
        from[i] = k->ref[c];
        rows[i] = k->row[c];
    }
    vf_load4(from, ref);
    for (int j = 0; j < 14; ++j)
        sum[j] = vf_set1(0);
    for (uint32_t n = 0; n < most; ++n)
        add_rows(links, k, eight, n, ref, sum);
    pl_load_rows(rows, 2, row);
    for (int j = 0; j < 14; ++j)
        row[j] = vf_add(row[j], sum[j]);
    pl_eight_store_rows(eight, k->row[0], row);
}

void PL_K(pl_levels_spread)(const pl_links* links, pl_clusters* clusters, uint32_t begin,
                            uint32_t end)
{
    for (uint32_t c = begin; c < end; c += 8)
    {
        pl_eight eight = pl_eight_from(c, end);
        prefetch_links(links, PL_MIN(c + 8, end), PL_MIN(c + 16, end));
        spread_eight(links, clusters, &eight);
    }
}
