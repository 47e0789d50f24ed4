// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The runs of nested levels (level_batches.h says what they are for), from links.
 *
 *   clusters   | run 0: 0 .. 31           | run 1: 32 .. 63   | ...
 *   rows       | for coarse 3 5 8 9       | 5 9 12            | ...   one after the other
 *   coarse 5   has the second row of run 0 and the first of run 1:    its parts
 *
 * Runs are fixed, and a coarse cluster adds its parts in their order, so that sums do not depend on
 * the number of threads.
 */
#include "dynamics/substep.h"

#include <string.h>

/* Allocates an array of runs, unless an earlier attempt that ran out of memory has allocated it
 * with the same size. */
#define NEED(field, count) (runs->field || (runs->field = pl_alloc(count, sizeof *runs->field)))

pl_chunk* pl_level_batch_of(const pl_body* body, uint32_t level, uint32_t cluster)
{
    const pl_level_batches* runs = &body->links.batches;
    if (!runs->part || !body->links.plain || level + 1 >= body->level_count)
        return NULL;
    uint32_t begin = body->level_begin[level], count = body->level_begin[level + 1] - begin;
    return &runs->run[runs->level_begin[level] + (cluster - begin) / pl_batch_size(count)];
}

static bool alloc_runs(pl_body* body)
{
    pl_level_batches* runs = &body->links.batches;
    size_t clusters = body->clusters.count, links = body->links.count, blocks = 0;
    runs->count = 0;
    for (uint32_t l = 0; l + 1 < body->level_count; ++l)
    {
        uint32_t size = body->level_begin[l + 1] - body->level_begin[l];
        runs->level_begin[l] = runs->count;
        runs->count += (size + pl_batch_size(size) - 1) / pl_batch_size(size);
        blocks += (size + 7) / 8;
    }
    return NEED(run, runs->count) && NEED(block_begin, blocks + 1) && NEED(half, blocks) &&
           NEED(entry_row, links) && NEED(entry_kernel, 8 * links) && NEED(cluster_of_row, links) &&
           NEED(part_begin, clusters + 2);
}

/* State of the construction. "row" and "entry": by coarse cluster, 1 + its latest row or entry. */
typedef struct run_maker
{
    pl_body* body;
    uint32_t *row, *entry;
    uint32_t rows, entries, blocks;
} run_maker;

/* The entries of a block: those of the first four clusters only, then shared ones, then those of
 * the last four only. */
static void add_block(run_maker* m, pl_chunk* run, uint32_t begin, uint32_t end)
{
    const pl_links* links = &m->body->links;
    const pl_level_batches* runs = &links->batches;
    const uint32_t* first = links->by_fine_begin + begin;
    uint32_t middle = links->by_fine_begin[PL_MIN(begin + 4, end)], start = m->entries;
    uint32_t* half = runs->half[m->blocks];
    for (uint32_t pass = 0; pass < 3; ++pass)
    {
        if (pass == 1)
            half[1] = m->entries;
        for (uint32_t n = *first; n < links->by_fine_begin[end]; ++n)
        {
            uint32_t coarse = links->coarse[links->by_fine[n]];
            bool known = m->entry[coarse] > start, second = false;
            for (uint32_t later = middle; later < links->by_fine_begin[end]; ++later)
                second = second || links->coarse[links->by_fine[later]] == coarse;
            if (known || (pass == 0 && (n >= middle || second)) ||
                (pass == 1 && (n >= middle || !second)))
                continue;
            runs->entry_row[m->entries] = (uint16_t)(m->row[coarse] - 1 - run->slot_begin);
            m->entry[coarse] = ++m->entries;
        }
        if (pass == 1)
            half[0] = m->entries;
    }
    for (uint32_t c = begin; c < end; ++c)
        for (uint32_t n = links->by_fine_begin[c]; n < links->by_fine_begin[c + 1]; ++n)
        {
            size_t entry = m->entry[links->coarse[links->by_fine[n]]] - 1;
            runs->entry_kernel[8 * entry + (c - begin)] = links->u[links->by_fine[n]];
        }
    runs->block_begin[++m->blocks] = m->entries;
}

/* False if the rows of the run exceed the range of entry_row. */
static bool add_run(run_maker* m, pl_chunk* run, uint32_t begin, uint32_t end)
{
    const pl_links* links = &m->body->links;
    const pl_level_batches* runs = &links->batches;
    *run = (pl_chunk){.slot_begin = m->rows,
                      .block_count = (end - begin + 7) / 8,
                      .rows = runs->cluster_of_row + m->rows,
                      .block_begin = runs->block_begin + m->blocks,
                      .half = runs->half + m->blocks};
    memcpy(run->rest_origin, m->body->clusters.rest[(begin + end) / 2], sizeof run->rest_origin);
    for (uint32_t n = links->by_fine_begin[begin]; n < links->by_fine_begin[end]; ++n)
    {
        uint32_t coarse = links->coarse[links->by_fine[n]];
        if (m->row[coarse] > run->slot_begin)
            continue;
        runs->cluster_of_row[m->rows] = coarse;
        m->row[coarse] = ++m->rows;
        ++runs->part_begin[coarse + 2];
    }
    run->row_count = m->rows - run->slot_begin;
    for (uint32_t c = begin; c < end; c += 8)
        add_block(m, run, c, PL_MIN(c + 8, end));
    return run->row_count <= UINT16_MAX;
}

static bool add_runs(run_maker* m)
{
    const pl_body* body = m->body;
    pl_chunk* run = body->links.batches.run;
    bool fine = true;
    memset(body->links.batches.part_begin, 0,
           sizeof(uint32_t) * ((size_t)body->clusters.count + 2));
    for (uint32_t l = 0; l + 1 < body->level_count; ++l)
    {
        uint32_t end = body->level_begin[l + 1], size = pl_batch_size(end - body->level_begin[l]);
        for (uint32_t c = body->level_begin[l]; c < end; c += size)
            fine = add_run(m, run++, c, PL_MIN(c + size, end)) && fine;
    }
    return fine;
}

/* The constant moments of a cluster: mass, and the first moment about its rest centre. */
static void rest_mass_moments(const pl_body* body, const pl_part* parts, uint32_t c, double out[4])
{
    bool finest = c < body->level_begin[1];
    const uint32_t* begin = finest ? body->clusters.part_begin : body->links.batches.part_begin;
    memset(out, 0, 4 * sizeof *out);
    for (uint32_t at = begin[c]; at < begin[c + 1]; ++at)
    {
        const pl_part* part = finest ? &body->clusters.part[at] : &parts[at];
        out[0] += part->mass;
        for (int j = 0; j < 3; ++j)
            out[1 + j] += part->first[j] + part->mass * part->to_rest[j];
    }
    for (int j = 0; j < 4; ++j)
        out[j] *= body->clusters.fade[c];
}

/* Adds the constant moments of a run's clusters to the parts of its rows. */
static void add_rest_moments(const pl_body* body, const pl_chunk* run, uint32_t begin, uint32_t end,
                             const uint32_t* part_of_row, pl_part* parts)
{
    for (uint32_t c = begin; c < end; ++c)
    {
        double moments[4];
        uint32_t block = (c - begin) / 8;
        rest_mass_moments(body, parts, c, moments);
        for (uint32_t e = run->block_begin[block]; e < run->block_begin[block + 1]; ++e)
        {
            pl_part* part = &parts[part_of_row[run->slot_begin + run->entry_row[e]]];
            double u = run->entry_kernel[8 * (size_t)e + (c - begin) % 8];
            part->mass += u * moments[0];
            for (int j = 0; j < 3; ++j)
            {
                double way = (double)body->clusters.rest[c][j] - run->rest_origin[j];
                part->first[j] += u * (moments[1 + j] + moments[0] * way);
            }
        }
    }
}

/* The parts of coarse clusters, runs ascending, finer levels first. */
static void list_parts(pl_body* body, uint32_t* part_of_row, pl_part* parts)
{
    pl_level_batches* runs = &body->links.batches;
    for (uint32_t c = 0; c < body->clusters.count; ++c)
        runs->part_begin[c + 2] += runs->part_begin[c + 1];
    for (uint32_t r = 0; r < runs->count; ++r)
        for (uint32_t row = 0; row < runs->run[r].row_count; ++row)
        {
            uint32_t c = runs->run[r].rows[row], at = runs->part_begin[c + 1]++;
            parts[at] = (pl_part){.chunk = r, .row = row};
            for (int j = 0; j < 3; ++j)
                parts[at].to_rest[j] = runs->run[r].rest_origin[j] - body->clusters.rest[c][j];
            part_of_row[runs->run[r].slot_begin + row] = at;
        }
    const pl_chunk* run = runs->run;
    for (uint32_t l = 0; l + 1 < body->level_count; ++l)
    {
        uint32_t end = body->level_begin[l + 1], size = pl_batch_size(end - body->level_begin[l]);
        for (uint32_t c = body->level_begin[l]; c < end; c += size)
            add_rest_moments(body, run++, c, PL_MIN(c + size, end), part_of_row, parts);
    }
}

/* Shrinks the entry arrays to their final size, and sets the runs' array pointers. */
static void finish_arrays(pl_level_batches* runs, uint32_t entries)
{
    uint16_t* rows = pl_realloc(runs->entry_row, entries, sizeof *rows);
    float* kernel = pl_realloc(runs->entry_kernel, 8 * (size_t)entries, sizeof *kernel);
    runs->entry_row = rows ? rows : runs->entry_row;
    runs->entry_kernel = kernel ? kernel : runs->entry_kernel;
    for (uint32_t r = 0; r < runs->count; ++r)
    {
        runs->run[r].entry_row = runs->entry_row;
        runs->run[r].entry_kernel = runs->entry_kernel;
        runs->run[r].sums = runs->sums[runs->run[r].slot_begin];
    }
}

pl_status pl_level_batches_prepare(pl_body* body)
{
    pl_level_batches* runs = &body->links.batches;
    if (!body->links.count || !body->links.plain || runs->part)
        return PLIANT_OK;
    run_maker maker = {.body = body,
                       .row = PL_NEW(uint32_t, body->clusters.count),
                       .entry = PL_NEW(uint32_t, body->clusters.count)};
    uint32_t* part_of_row = NULL;
    pl_part* parts = NULL;
    bool fine = maker.row && maker.entry && alloc_runs(body);
    bool fit = fine && add_runs(&maker); /* otherwise levels.simd.c uses the links */
    if (fit)
    {
        part_of_row = PL_NEW(uint32_t, maker.rows);
        parts = PL_NEW(pl_part, maker.rows);
        fine = NEED(sums, maker.rows) && NEED(rows, maker.rows) && part_of_row && parts;
    }
    if (fit && fine)
    {
        finish_arrays(runs, maker.entries);
        list_parts(body, part_of_row, parts);
        runs->part = parts;
        parts = NULL;
    }
    pl_free(parts);
    pl_free(part_of_row);
    pl_free(maker.row);
    pl_free(maker.entry);
    return fine ? PLIANT_OK : pl_fail_memory(224 * (size_t)body->links.count);
}
