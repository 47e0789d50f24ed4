// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Moments of a block of eight particles, added to the rows of their clusters (for *.simd.c).
 *
 * A particle's features are (x r^T, x, v, x cross v, x x^T), 24 floats, times m / n with its
 * normaliser n. They are computed for eight particles in lanes; three 8x8 transposes make one row
 * of 24 floats for each particle, and every cluster of the block adds w times each row: a sparse
 * matrix times a dense one, without horizontal sums.
 */
#ifndef PL_DYNAMICS_GATHER_H
#define PL_DYNAMICS_GATHER_H

#include "dynamics/kernels.h"

/* Eight rows of 24 (or the 24 more of quadratic goals), as three groups of eight columns. */
typedef struct pl_features
{
    vf g[3][8];
} pl_features;

PL_INLINE void pl_features_transpose(pl_features* f)
{
    for (int g = 0; g < 3; ++g)
        vf_transpose(f->g[g]);
}

/* r is NULL in chunks with own rest, where pl_gather_own adds x r^T for each entry. */
PL_INLINE void pl_features_make(pl_features* f, const vf x[3], const vf v[3], const vf r[3], vf m)
{
    vf mx[3] = {vf_mul(m, x[0]), vf_mul(m, x[1]), vf_mul(m, x[2])};
    vf mv[3] = {vf_mul(m, v[0]), vf_mul(m, v[1]), vf_mul(m, v[2])};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            f->g[(3 * i + j) / 8][(3 * i + j) % 8] = r ? vf_mul(mx[i], r[j]) : vf_set1(0);
    f->g[1][1] = mx[0];
    f->g[1][2] = mx[1];
    f->g[1][3] = mx[2];
    f->g[1][4] = mv[0];
    f->g[1][5] = mv[1];
    f->g[1][6] = mv[2];
    f->g[1][7] = vf_sub(vf_mul(x[1], mv[2]), vf_mul(x[2], mv[1]));
    f->g[2][0] = vf_sub(vf_mul(x[2], mv[0]), vf_mul(x[0], mv[2]));
    f->g[2][1] = vf_sub(vf_mul(x[0], mv[1]), vf_mul(x[1], mv[0]));
    for (int k = 0; k < 3; ++k)
    {
        f->g[2][2 + k] = vf_mul(mx[k], x[k]);
        f->g[2][5 + k] = vf_mul(mx[k], x[(k + 1) % 3]);
    }
}

/* x times the six monomials xx yy zz xy yz zx of r: 18 features, order 6 i + j; and the monomials.
 */
PL_INLINE void pl_features_quadratic(pl_features* f, const vf x[3], const vf r[3], vf m)
{
    vf q[6] = {vf_mul(r[0], r[0]), vf_mul(r[1], r[1]), vf_mul(r[2], r[2]),
               vf_mul(r[0], r[1]), vf_mul(r[1], r[2]), vf_mul(r[2], r[0])};
    for (int i = 0; i < 3; ++i)
    {
        vf mx = vf_mul(m, x[i]);
        for (int j = 0; j < 6; ++j)
            f->g[(6 * i + j) / 8][(6 * i + j) % 8] = vf_mul(mx, q[j]);
    }
    for (int j = 0; j < 6; ++j)
        f->g[2][2 + j] = vf_mul(m, q[j]);
}

/* Adds the rows of four particles to their clusters' sums: twelve registers hold the features, four
 * are left for a row. Sixteen registers do not hold eight particles, and out of line no other
 * values are live. */
PL_APART void pl_features_add4(const vf f[3][8], const pl_chunk* chunk, uint32_t begin,
                               uint32_t end, int lane, float* sums)
{
    const vf a0 = f[0][lane], a1 = f[0][lane + 1], a2 = f[0][lane + 2], a3 = f[0][lane + 3];
    const vf b0 = f[1][lane], b1 = f[1][lane + 1], b2 = f[1][lane + 2], b3 = f[1][lane + 3];
    const vf c0 = f[2][lane], c1 = f[2][lane + 1], c2 = f[2][lane + 2], c3 = f[2][lane + 3];
    const float* w = chunk->entry_kernel + (size_t)8 * begin + lane;
    const uint16_t *at = chunk->entry_row + begin, *last = chunk->entry_row + end;
    for (; at < last; ++at, w += 8)
    {
        float* row = sums + (size_t)PL_SUM_FLOATS * *at;
        vf w0 = vf_bcast(w), w1 = vf_bcast(w + 1), w2 = vf_bcast(w + 2), w3 = vf_bcast(w + 3);
        vf two = vf_mad(vf_mul(w0, a0), w1, a1), more = vf_mad(vf_mul(w2, a2), w3, a3);
        vf_store(row, vf_add(vf_load(row), vf_add(two, more)));
        two = vf_mad(vf_mul(w0, b0), w1, b1), more = vf_mad(vf_mul(w2, b2), w3, b3);
        vf_store(row + 8, vf_add(vf_load(row + 8), vf_add(two, more)));
        two = vf_mad(vf_mul(w0, c0), w1, c1), more = vf_mad(vf_mul(w2, c2), w3, c3);
        vf_store(row + 16, vf_add(vf_load(row + 16), vf_add(two, more)));
    }
}

PL_INLINE void pl_features_add(const pl_features* f, const pl_chunk* chunk, uint32_t block,
                               float* sums)
{
    const uint32_t* half = chunk->half[block];
    pl_features_add4(f->g, chunk, chunk->block_begin[block], half[0], 0, sums);
    pl_features_add4(f->g, chunk, half[1], chunk->block_begin[block + 1], 4, sums);
}

/* Positions relative to the chunk's own point. */
PL_INLINE void pl_relative_positions(const pl_chunk* chunk, const vf x[3], vf near[3])
{
    for (int k = 0; k < 3; ++k)
        near[k] = vf_sub(x[k], vf_bcast(chunk->pos_origin + k));
}

/* m / n of a block's particles. */
PL_INLINE vf pl_block_masses(const pl_pass* pass, uint32_t block)
{
    uint32_t slot = pass->chunk->slot_begin + 8 * block;
    return vf_mul(vf_load(pass->particles->mass + slot), vf_load(pass->particles->norm + slot));
}

/* m w x r_ic^T of a block's entries; m and near are the block's. */
PL_APART void pl_gather_own(const pl_chunk* chunk, uint32_t block, const vf near[3], vf m)
{
    const vf mx[3] = {vf_mul(m, near[0]), vf_mul(m, near[1]), vf_mul(m, near[2])};
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        const float* own = chunk->own_rest + (size_t)24 * e;
        float* row = chunk->sums + (size_t)PL_SUM_FLOATS * chunk->entry_row[e];
        vf w = vf_load(chunk->entry_kernel + (size_t)8 * e), product[9];
        for (int i = 0; i < 3; ++i)
        {
            vf wmx = vf_mul(w, mx[i]);
            for (int j = 0; j < 3; ++j)
                product[3 * i + j] = vf_mul(wmx, vf_load(own + 8 * j));
        }
        vf_store(row, vf_add(vf_load(row), vf_sums(product)));
        row[8] += vf_sum(product[8]);
    }
}

/* Only the moments of a fit, m w (x r^T, x), of a block's entries: no transpose, and a row's sums
 * stay in two halves until pl_fit_join. */
PL_INLINE void pl_fit_block(const pl_pass* pass, uint32_t block, const vf x[3], const vf r[3])
{
    const pl_chunk* chunk = pass->chunk;
    const vf r0 = r[0], r1 = r[1], r2 = r[2], m = pl_block_masses(pass, block);
    vf near[3];
    pl_relative_positions(chunk, x, near);
    const vf m0 = vf_mul(m, near[0]), m1 = vf_mul(m, near[1]), m2 = vf_mul(m, near[2]);
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        float* row = chunk->sums + (size_t)PL_SUM_FLOATS * chunk->entry_row[e];
        vf w = vf_load(chunk->entry_kernel + (size_t)8 * e);
        vf a = vf_mul(w, m0), b = vf_mul(w, m1), c = vf_mul(w, m2);
        vf four = vf_sum_four(vf_sum_pair(vf_mul(a, r0), vf_mul(a, r1)),
                              vf_sum_pair(vf_mul(a, r2), vf_mul(b, r0)));
        vf_store(row, vf_add(vf_load(row), four));
        four = vf_sum_four(vf_sum_pair(vf_mul(b, r1), vf_mul(b, r2)),
                           vf_sum_pair(vf_mul(c, r0), vf_mul(c, r1)));
        vf_store(row + 8, vf_add(vf_load(row + 8), four));
        four = vf_sum_four(vf_sum_pair(vf_mul(c, r2), a), vf_sum_pair(b, c));
        vf_store(row + 16, vf_add(vf_load(row + 16), four));
    }
}

/* Joins the halves of each row's sums, into the format of the other gather functions. */
PL_INLINE void pl_fit_join(const pl_chunk* chunk)
{
    for (uint32_t r = 0; r < chunk->row_count; ++r)
    {
        float* row = chunk->sums + (size_t)PL_SUM_FLOATS * r;
        vf last = vf_load(row + 16);
        vf_store(row, vf_sum_halves(vf_load(row), vf_load(row + 8)));
        vf_store(row + 8, vf_sum_halves(last, vf_set1(0)));
        vf_store(row + 16, vf_set1(0));
    }
}

/* "own", a constant at each call: whether the chunk has own rest. */
PL_INLINE void pl_gather_block(const pl_pass* pass, uint32_t block, const vf x[3], const vf v[3],
                               const vf r[3], bool own)
{
    const pl_chunk* chunk = pass->chunk;
    vf m = pl_block_masses(pass, block), near[3];
    pl_features f;
    pl_relative_positions(chunk, x, near);
    pl_features_make(&f, near, v, own ? NULL : r, m);
    pl_features_transpose(&f);
    pl_features_add(&f, chunk, block, chunk->sums);
    if (own)
        pl_gather_own(chunk, block, near, m);
    if (pass->quadratic)
    {
        pl_features_quadratic(&f, near, r, m);
        pl_features_transpose(&f);
        pl_features_add(&f, chunk, block, chunk->quad_sums);
    }
}

PL_INLINE void pl_gather_begin(const pl_pass* pass)
{
    const pl_chunk* chunk = pass->chunk;
    memset(chunk->sums, 0, sizeof(float) * PL_SUM_FLOATS * chunk->row_count);
    if (pass->quadratic)
        memset(chunk->quad_sums, 0, sizeof(float) * PL_QUAD_SUM_FLOATS * chunk->row_count);
}

PL_INLINE void pl_load3(float* const a[3], uint32_t slot, vf out[3])
{
    for (int k = 0; k < 3; ++k)
        out[k] = vf_load(a[k] + slot);
}

PL_INLINE void pl_store3(float* const a[3], uint32_t slot, const vf in[3])
{
    for (int k = 0; k < 3; ++k)
        vf_store(a[k] + slot, in[k]);
}

#endif
