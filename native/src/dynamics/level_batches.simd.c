// SPDX-License-Identifier: GPL-3.0-or-later
/* Nested levels before plastic flow: from the rows of coarse clusters to those of a run
 * (level_batches.h).
 */
#include "dynamics/level_batches.h"

#include "dynamics/cluster_rows.h"

void PL_K(pl_level_batch_spread)(const pl_chunk* run, float* rows, pl_clusters* clusters,
                                 uint32_t begin, uint32_t end);

/* The run's copies of its coarse clusters' rows, about its own origins. */
static void copy_rows(const pl_chunk* run, const pl_clusters* k, float* rows)
{
    for (uint32_t i = 0; i < run->row_count; i += 8)
    {
        pl_eight eight = pl_chunk_eight(run, i, (const float(*)[16])k->row);
        vf row[16], more[3];
        pl_eight_rows(&eight, (const float(*)[16])k->row, row);
        pl_shift_rows(run, k, &eight, (const float(*)[3])k->ref, row, row[PL_ROW_ALPHA], more);
        for (int j = 0; j < 3; ++j)
            row[PL_ROW_B + j] = vf_add(row[PL_ROW_B + j], more[j]);
        pl_level_batch_store_rows(i, eight.used, rows, row);
    }
}

/* Adds the coarse clusters' rows to those of eight fine ones. A r + b - alpha x about the run's
 * origins is A p + (b + A d - alpha o) - alpha (x - o) about a fine cluster's. */
static void spread_eight(const pl_chunk* run, uint32_t block, const float* rows, pl_clusters* k,
                         const pl_eight* eight)
{
    vf asked[14], row[16], ref[4], rest[4], d[3];
    pl_blend_row(run, block, rows, asked);
    pl_eight_rows(eight, (const float(*)[16])k->row, row);
    pl_eight_points(eight, (const float(*)[3])k->ref, ref);
    pl_eight_points(eight, (const float(*)[3])k->rest, rest);
    for (int j = 0; j < 3; ++j)
        d[j] = vf_sub(rest[j], vf_bcast(run->rest_origin + j));
    for (int j = 0; j < 3; ++j)
    {
        const vf* a = asked + 3 * j;
        vf more = vf_mad(vf_mad(vf_mul(a[0], d[0]), a[1], d[1]), a[2], d[2]);
        vf way = vf_sub(ref[j], vf_bcast(run->pos_origin + j));
        more = vf_sub(more, vf_mul(asked[PL_ROW_ALPHA], way));
        asked[PL_ROW_B + j] = vf_add(asked[PL_ROW_B + j], more);
    }
    for (int j = 0; j < 14; ++j)
        row[j] = vf_add(row[j], asked[j]);
    pl_eight_store_rows(eight, k->row[0], row);
}

void PL_K(pl_level_batch_spread)(const pl_chunk* run, float* rows, pl_clusters* clusters,
                                 uint32_t begin, uint32_t end)
{
    copy_rows(run, clusters, rows);
    for (uint32_t c = begin; c < end; c += 8)
    {
        pl_eight eight = pl_eight_from(c, end);
        spread_eight(run, (c - begin) / 8, rows, clusters, &eight);
    }
}
