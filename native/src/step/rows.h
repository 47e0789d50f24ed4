// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A chunk's own copies of its clusters' rows, eight at a time (for *.simd.c). A cluster's row is
 * about its rest centre and its reference point; the copy is about the chunk's rest origin and
 * pos_origin, so that one r and one x serve all clusters of a particle.
 */
#ifndef PL_STEP_ROWS_H
#define PL_STEP_ROWS_H

#include "parts.h"

/* Eight of a chunk's clusters; the next ones are on their way into the cache. */
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

/* What A (p + d) has more than A p, with d from the clusters' rest centres to the chunk's rest
 * origin, plus "scale" times the way from the chunk's point to the clusters' reference points. */
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

#endif
