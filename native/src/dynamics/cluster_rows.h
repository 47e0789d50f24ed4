// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A chunk's copies of its clusters' rows, eight at a time (for *.simd.c). A cluster's row is
 * relative to its rest centre and its reference point; the copy is relative to the chunk's rest
 * origin and pos_origin, so that one r and one x serve all clusters of a particle.
 */
#ifndef PL_DYNAMICS_CLUSTER_ROWS_H
#define PL_DYNAMICS_CLUSTER_ROWS_H

#include "dynamics/reduce_moments.h"

/* Eight of a chunk's clusters; prefetches the rows of the next ones. */
PL_INLINE pl_eight pl_chunk_eight(const pl_chunk* chunk, uint32_t begin, const float (*rows)[16])
{
    pl_eight eight;
    eight.used = PL_MIN(8u, chunk->row_count - begin);
    for (uint32_t i = 0; i < 8; ++i)
    {
        eight.c[i] = chunk->rows[PL_MIN(begin + i, chunk->row_count - 1)];
        __builtin_prefetch(rows[chunk->rows[PL_MIN(begin + i + 8, chunk->row_count - 1)]]);
    }
    return eight;
}

PL_INLINE void pl_eight_rows(const pl_eight* eight, const float (*rows)[16], vf row[16])
{
    const float* at[8];
    for (int i = 0; i < 8; ++i)
        at[i] = rows[eight->c[i]];
    pl_load_rows(at, 2, row);
}

/* Three floats of each of eight clusters. */
PL_INLINE void pl_eight_points(const pl_eight* eight, const float (*points)[3], vf out[4])
{
    const float* at[8];
    for (int i = 0; i < 8; ++i)
        at[i] = points[eight->c[i]];
    vf_load4(at, out);
}

/* A d, with d from the clusters' rest centres to the chunk's rest origin, plus "scale" times the
 * vector from the chunk's origin to the clusters' reference points. */
PL_INLINE void pl_shift_rows(const pl_chunk* chunk, const pl_clusters* k, const pl_eight* eight,
                             const float (*refs)[3], const vf row[16], vf scale, vf out[3])
{
    vf d[4], ref[4];
    pl_eight_points(eight, (const float(*)[3])k->rest, d);
    pl_eight_points(eight, refs, ref);
    for (int j = 0; j < 3; ++j)
    {
        d[j] = vf_sub(vf_bcast(chunk->rest_origin + j), d[j]);
        ref[j] = vf_sub(ref[j], vf_bcast(chunk->pos_origin + j));
    }
    for (int j = 0; j < 3; ++j)
    {
        const vf* a = row + 3 * j;
        vf more = vf_mad(vf_mad(vf_mul(a[0], d[0]), a[1], d[1]), a[2], d[2]);
        out[j] = vf_mad(more, scale, ref[j]);
    }
}

/* Sums w row[0 .. 14) over a block's entries, in lanes: fourteen sums, a weight and a product fill
 * sixteen registers. The sums are scalars by name, since gcc would keep an array in memory. */
PL_APART void pl_blend_row(const pl_chunk* chunk, uint32_t block, const float* rows, vf out[14])
{
    const float* weight = chunk->entry_kernel + (size_t)8 * chunk->block_begin[block];
    const uint16_t* at = chunk->entry_row + chunk->block_begin[block];
    const uint16_t* last = chunk->entry_row + chunk->block_begin[block + 1];
    const vf zero = vf_set1(0);
    vf a0 = zero, a1 = zero, a2 = zero, a3 = zero, a4 = zero, a5 = zero, a6 = zero, a7 = zero;
    vf a8 = zero, b0 = zero, b1 = zero, b2 = zero, alpha = zero, kappa = zero;
    for (; at < last; ++at, weight += 8)
    {
        const float* row = rows + (size_t)PL_ROW_FLOATS * *at;
        vf w = vf_load(weight);
        a0 = vf_mad(a0, w, vf_bcast(row));
        a1 = vf_mad(a1, w, vf_bcast(row + 1));
        a2 = vf_mad(a2, w, vf_bcast(row + 2));
        a3 = vf_mad(a3, w, vf_bcast(row + 3));
        a4 = vf_mad(a4, w, vf_bcast(row + 4));
        a5 = vf_mad(a5, w, vf_bcast(row + 5));
        a6 = vf_mad(a6, w, vf_bcast(row + 6));
        a7 = vf_mad(a7, w, vf_bcast(row + 7));
        a8 = vf_mad(a8, w, vf_bcast(row + 8));
        b0 = vf_mad(b0, w, vf_bcast(row + PL_ROW_B));
        b1 = vf_mad(b1, w, vf_bcast(row + PL_ROW_B + 1));
        b2 = vf_mad(b2, w, vf_bcast(row + PL_ROW_B + 2));
        alpha = vf_mad(alpha, w, vf_bcast(row + PL_ROW_ALPHA));
        kappa = vf_mad(kappa, w, vf_bcast(row + PL_ROW_KAPPA));
    }
    out[0] = a0, out[1] = a1, out[2] = a2, out[3] = a3, out[4] = a4, out[5] = a5;
    out[6] = a6, out[7] = a7, out[8] = a8, out[PL_ROW_B] = b0, out[PL_ROW_B + 1] = b1;
    out[PL_ROW_B + 2] = b2, out[PL_ROW_ALPHA] = alpha, out[PL_ROW_KAPPA] = kappa;
}

#endif
