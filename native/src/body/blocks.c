// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Puts particles into slots and memberships into blocks. The order of clusters within a block is
 * ascending within each of its sides, so the same input gives the same bits.
 */
#include "body/blocks.h"

#include "body/block_packing.h"
#include "geometry/spatial_sort.h"

#include <string.h>

/* Slots of a chunk, by the size of the body. Small chunks balance the threads and keep their rows
 * in cache; large ones share fewer clusters with their neighbours, and each shared one costs a row.
 */
enum
{
    SMALL_BODY = 8000,
    LARGE_BODY = 64000,
    SMALL_CHUNK = 256,
    USUAL_CHUNK = 1024,
    LARGE_CHUNK = 4096
};

/* ------------------------------------------------------------------ memberships by particle */

void pl_by_particle_free(pl_by_particle* lists)
{
    pl_free(lists->begin);
    pl_free(lists->cluster);
    pl_free(lists->kernel);
}

uint32_t pl_particle_levels(const pl_body* body)
{
    return body->level_kind == PLIANT_LEVELS_NESTED ? 1 : body->level_count;
}

pl_status pl_by_particle_list(const pl_body* body, uint32_t count, const pl_hierarchy* h,
                              pl_by_particle* lists)
{
    uint64_t total = 0;
    for (uint32_t l = 0; l < pl_particle_levels(body); ++l)
        total += h->level[l].begin[h->level[l].count];
    lists->begin = PL_NEW(uint32_t, (size_t)count + 2);
    lists->cluster = PL_NEW(uint32_t, total);
    lists->kernel = PL_NEW(float, total);
    if (!lists->begin || !lists->cluster || !lists->kernel)
        return pl_fail_memory(total * 8);
    for (uint32_t l = 0; l < pl_particle_levels(body); ++l)
        for (uint32_t m = 0; m < h->level[l].begin[h->level[l].count]; ++m)
            ++lists->begin[h->level[l].particle[m] + 2];
    for (uint32_t i = 0; i < count; ++i)
        lists->begin[i + 2] += lists->begin[i + 1];
    for (uint32_t l = 0; l < pl_particle_levels(body); ++l)
        for (uint32_t c = 0; c < h->level[l].count; ++c)
            for (uint32_t m = h->level[l].begin[c]; m < h->level[l].begin[c + 1]; ++m)
            {
                uint32_t at = lists->begin[h->level[l].particle[m] + 1]++;
                lists->cluster[at] = body->level_begin[l] + c;
                lists->kernel[at] = h->level[l].kernel[m];
            }
    /* Kernel values are kept to a sum of 1 for each particle and level: only their ratios count,
     * and independent levels are normalised by this alone. */
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t l = 0; l < pl_particle_levels(body); ++l)
        {
            double sum = 0;
            for (uint32_t m = lists->begin[i]; m < lists->begin[i + 1]; ++m)
                if (lists->cluster[m] >= body->level_begin[l] &&
                    lists->cluster[m] < body->level_begin[l + 1])
                    sum += lists->kernel[m];
            for (uint32_t m = lists->begin[i]; m < lists->begin[i + 1]; ++m)
                if (lists->cluster[m] >= body->level_begin[l] &&
                    lists->cluster[m] < body->level_begin[l + 1])
                    lists->kernel[m] = (float)(lists->kernel[m] / sum);
        }
    return PLIANT_OK;
}

/* Whether any of four lanes is a member. */
static bool has_any(const float* kernel)
{
    return kernel[0] != 0 || kernel[1] != 0 || kernel[2] != 0 || kernel[3] != 0;
}

/* Merges the ascending cluster lists of a block's lanes: each cluster once, ascending. */
static uint32_t merge_entries(const uint32_t ids[8], const pl_by_particle* lists,
                              uint32_t* clusters, float (*kernels)[8])
{
    uint32_t at[8], end[8], count = 0;
    for (int lane = 0; lane < 8; ++lane)
    {
        uint32_t id = ids[lane];
        at[lane] = id == PL_NO_PARTICLE ? 0 : lists->begin[id];
        end[lane] = id == PL_NO_PARTICLE ? 0 : lists->begin[id + 1];
    }
    for (;;)
    {
        uint32_t next = UINT32_MAX;
        for (int lane = 0; lane < 8; ++lane)
            if (at[lane] < end[lane])
                next = PL_MIN(next, lists->cluster[at[lane]]);
        if (next == UINT32_MAX)
            return count;
        if (clusters)
            clusters[count] = next;
        for (int lane = 0; lane < 8; ++lane)
        {
            bool member = at[lane] < end[lane] && lists->cluster[at[lane]] == next;
            if (kernels)
                kernels[count][lane] = member ? lists->kernel[at[lane]] : 0.0f;
            at[lane] += member;
        }
        ++count;
    }
}

/* How many entries a block has, and how many its first half has: what loops over them count to. */
static uint32_t block_key(const uint32_t ids[8], const pl_by_particle* lists)
{
    uint32_t half[8] = {ids[0],         ids[1],         ids[2],         ids[3],
                        PL_NO_PARTICLE, PL_NO_PARTICLE, PL_NO_PARTICLE, PL_NO_PARTICLE};
    return merge_entries(ids, lists, NULL, NULL) << 16 | merge_entries(half, lists, NULL, NULL);
}

/* Sorts a chunk's full blocks by their numbers of entries: equal trip counts in succession are
 * predicted well. */
static void sort_blocks(uint32_t* order, uint32_t used, const pl_by_particle* lists)
{
    uint32_t key[LARGE_CHUNK / 8];
    for (uint32_t b = 0; b < used / 8; ++b)
    {
        uint32_t ids[8], at = b, mine = block_key(order + 8 * b, lists);
        memcpy(ids, order + 8 * b, sizeof ids);
        for (; at > 0 && key[at - 1] > mine; --at)
        {
            key[at] = key[at - 1];
            memcpy(order + 8 * at, order + 8 * (at - 1), sizeof ids);
        }
        key[at] = mine;
        memcpy(order + 8 * at, ids, sizeof ids);
    }
}

/* ------------------------------------------------------------------ particles */

pl_status pl_blocks_place(pl_body* body, const pl_layout_input* in, const pl_by_particle* lists)
{
    uint32_t slots_per_chunk = in->count <= SMALL_BODY   ? SMALL_CHUNK
                               : in->count <= LARGE_BODY ? USUAL_CHUNK
                                                         : LARGE_CHUNK;
    uint32_t fill = slots_per_chunk * 4 / 5 / 8 * 8;
    uint32_t chunks = (in->count + fill - 1) / fill;
    pl_particles* p = &body->particles;
    uint32_t* order = PL_NEW(uint32_t, in->count);
    body->chunks = PL_NEW(pl_chunk, chunks);
    if (!order || !body->chunks || !pl_particles_alloc(p, chunks * slots_per_chunk, in->count))
    {
        pl_free(order);
        return pl_fail_memory((size_t)in->count * 64);
    }
    body->chunk_count = chunks;
    for (uint32_t i = 0; i < in->count; ++i)
        order[i] = i;
    pl_spatial_sort(in->count, in->points, fill, order);

    double mass = 0;
    for (uint32_t i = 0; i < in->count; ++i)
        mass += in->volumes[i] * in->density[i];
    body->mass_quantum = mass / 1099511627776.0; /* 2^-40 of the body */
    p->count = in->count;
    memset(p->id, 0xff, p->slot_count * sizeof *p->id);
    for (uint32_t c = 0; c < chunks; ++c)
    {
        pl_chunk* chunk = &body->chunks[c];
        uint32_t first = c * fill, used = PL_MIN(fill, in->count - first);
        pl_status status = pl_pack_blocks(used, order + first, lists, body->clusters.count);
        if (status != PLIANT_OK)
        {
            pl_free(order);
            return status;
        }
        sort_blocks(order + first, used, lists);
        chunk->slot_begin = c * slots_per_chunk;
        chunk->slot_count = slots_per_chunk;
        chunk->block_count = (used + 7) / 8;
        vec3 centre = v3(0, 0, 0);
        for (uint32_t i = 0; i < used; ++i)
            centre = v3_mad(centre, in->points[order[first + i]], 1.0 / used);
        v3_store(centre, chunk->rest_origin);
        vec3 origin = v3_from(chunk->rest_origin);
        double nearest = 0;
        for (uint32_t i = 0; i < slots_per_chunk; ++i)
        {
            uint32_t slot = chunk->slot_begin + i, id = order[first + PL_MIN(i, used - 1)];
            float r[3], x[3];
            v3_store(v3_sub(in->points[id], origin), r);
            v3_store(
                v3_sub(v3_add(in->points[id], v3_fromd(body->rest_origin)), v3_fromd(body->origin)),
                x);
            for (int k = 0; k < 3; ++k)
                p->r[k][slot] = r[k], p->x[k][slot] = x[k];
            if (i >= used)
                continue;
            double distance = v3_length(v3_sub(in->points[id], origin));
            if (i == 0 || distance < nearest)
            {
                nearest = distance;
                chunk->middle_slot = slot;
                memcpy(chunk->pos_origin, x, sizeof x);
            }
            double quanta = in->volumes[id] * in->density[id] / body->mass_quantum;
            p->quanta[slot] = quanta >= 1 ? (uint64_t)(quanta + .5) : 1;
            p->mass[slot] = (float)((double)p->quanta[slot] * body->mass_quantum);
            p->id[slot] = id;
            p->slot_of[id] = slot;
            p->shell[id] = in->shell ? in->shell[id] : 0;
            p->parent[id] = id;
        }
    }
    pl_free(order);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ chunks */

/* Whether an entry belongs to the first half alone (0), to both (1) or to the last alone (2). */
static int side_of(const float kernel[8])
{
    return !has_any(kernel + 4) ? 0 : has_any(kernel) ? 1 : 2;
}

/* A block's entries, those of its first half alone first and those of its last half alone last. */
static uint32_t block_entries(const pl_particles* p, const pl_by_particle* lists, uint32_t slot,
                              uint32_t* clusters, float (*kernels)[8])
{
    uint32_t count = merge_entries(p->id + slot, lists, clusters, kernels);
    for (uint32_t i = 1; clusters && i < count; ++i) /* inserted one by one: equals keep order */
    {
        uint32_t cluster = clusters[i], at = i;
        float kernel[8];
        memcpy(kernel, kernels[i], sizeof kernel);
        for (; at > 0 && side_of(kernels[at - 1]) > side_of(kernel); --at)
        {
            clusters[at] = clusters[at - 1];
            memcpy(kernels[at], kernels[at - 1], sizeof kernel);
        }
        clusters[at] = cluster;
        memcpy(kernels[at], kernel, sizeof kernel);
    }
    return count;
}

static pl_status build_chunk(pl_body* body, pl_chunk* chunk, const pl_by_particle* lists,
                             uint32_t* local, uint32_t* seen)
{
    const pl_particles* p = &body->particles;
    chunk->block_begin = PL_NEW(uint32_t, chunk->slot_count / 8 + 1);
    if (!chunk->block_begin)
        return pl_fail_memory(chunk->slot_count);
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
        chunk->block_begin[b + 1] =
            chunk->block_begin[b] + block_entries(p, lists, chunk->slot_begin + 8 * b, NULL, NULL);
    chunk->entry_count = chunk->block_begin[chunk->slot_count / 8];
    uint32_t* clusters = PL_NEW(uint32_t, chunk->entry_count);
    chunk->entry_row = PL_NEW(uint16_t, chunk->entry_count);
    chunk->entry_kernel = PL_NEW(float, (size_t)chunk->entry_count * 8);
    chunk->rows = PL_NEW(uint32_t, chunk->entry_count);
    if (!clusters || !chunk->entry_row || !chunk->entry_kernel || !chunk->rows)
    {
        pl_free(clusters);
        return pl_fail_memory((size_t)chunk->entry_count * 48);
    }
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
        block_entries(p, lists, chunk->slot_begin + 8 * b, clusters + chunk->block_begin[b],
                      (float(*)[8])(chunk->entry_kernel + (size_t)chunk->block_begin[b] * 8));
    for (uint32_t e = 0; e < chunk->entry_count; ++e)
    {
        uint32_t c = clusters[e];
        if (local[c] >= chunk->row_count || seen[c] != chunk->slot_begin + 1)
        {
            seen[c] = chunk->slot_begin + 1;
            local[c] = chunk->row_count;
            chunk->rows[chunk->row_count++] = c;
        }
        chunk->entry_row[e] = (uint16_t)local[c];
    }
    pl_free(clusters);
    if (chunk->row_count > UINT16_MAX)
        return pl_fail(PLIANT_ERROR_CLUSTERING,
                       "%u clusters meet in one chunk of particles: the clusters overlap too much",
                       chunk->row_count);
    chunk->rows = pl_realloc(chunk->rows, chunk->row_count, sizeof *chunk->rows);
    chunk->sums = PL_NEW(float, (size_t)chunk->row_count* PL_SUM_FLOATS);
    if (body->material.goal == PLIANT_GOAL_QUADRATIC)
        chunk->quad_sums = PL_NEW(float, (size_t)chunk->row_count* PL_QUAD_SUM_FLOATS);
    if (!chunk->rows || !chunk->sums || !pl_layout_halve(chunk) ||
        (body->material.goal == PLIANT_GOAL_QUADRATIC && !chunk->quad_sums))
        return pl_fail_memory((size_t)chunk->row_count * 192);
    return PLIANT_OK;
}

bool pl_layout_halve(pl_chunk* chunk)
{
    uint32_t blocks = chunk->slot_count / 8;
    chunk->half = pl_alloc(blocks, sizeof *chunk->half);
    for (uint32_t b = 0; chunk->half && b < blocks; ++b)
    {
        uint32_t begin = chunk->block_begin[b], end = chunk->block_begin[b + 1];
        chunk->half[b][0] = begin;
        chunk->half[b][1] = end;
        for (uint32_t e = begin; e < end; ++e)
        {
            const float* kernel = chunk->entry_kernel + (size_t)8 * e;
            if (has_any(kernel))
                chunk->half[b][0] = e + 1;
            if (has_any(kernel + 4))
                chunk->half[b][1] = PL_MIN(chunk->half[b][1], e);
        }
    }
    return chunk->half != NULL;
}

static void set_norms(pl_body* body)
{
    pl_particles* p = &body->particles;
    uint32_t finest_end = body->level_begin[1];
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        pl_chunk* chunk = &body->chunks[c];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (int lane = 0; lane < 8; ++lane)
            {
                float sum = 0;
                for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
                    if (chunk->rows[chunk->entry_row[e]] < finest_end)
                    {
                        float value = chunk->entry_kernel[8 * (size_t)e + lane];
                        sum += value * body->clusters.fade[chunk->rows[chunk->entry_row[e]]];
                        chunk->member_count += value > 0;
                    }
                p->norm[chunk->slot_begin + 8 * b + lane] = sum > 0 ? 1 / sum : 0;
            }
    }
}

pl_status pl_blocks_build(pl_body* body, const pl_by_particle* lists)
{
    uint32_t* local = PL_NEW(uint32_t, body->clusters.count);
    uint32_t* seen = PL_NEW(uint32_t, body->clusters.count);
    pl_status status = local && seen ? PLIANT_OK : pl_fail_memory(body->clusters.count * 8);
    for (uint32_t c = 0; c < body->chunk_count && status == PLIANT_OK; ++c)
        status = build_chunk(body, &body->chunks[c], lists, local, seen);
    pl_free(local);
    pl_free(seen);
    if (status == PLIANT_OK)
        set_norms(body);
    return status;
}

/* Where each cluster's partial sums are, chunks ascending. */
pl_status pl_blocks_list_parts(pl_body* body)
{
    pl_clusters* k = &body->clusters;
    uint64_t total = 0;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        total += body->chunks[c].row_count;
    k->part = PL_NEW(pl_part, total);
    uint32_t* at = PL_NEW(uint32_t, (size_t)k->count + 1);
    if (!k->part || !at)
    {
        pl_free(at);
        return pl_fail_memory(total * sizeof(pl_part));
    }
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        for (uint32_t r = 0; r < body->chunks[c].row_count; ++r)
            ++k->part_begin[body->chunks[c].rows[r] + 1];
    for (uint32_t c = 0; c < k->count; ++c)
        k->part_begin[c + 1] += k->part_begin[c];
    memcpy(at, k->part_begin, k->count * sizeof *at);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        for (uint32_t r = 0; r < body->chunks[c].row_count; ++r)
        {
            pl_part* part = &k->part[at[body->chunks[c].rows[r]]++];
            part->chunk = c;
            part->row = r;
        }
    pl_free(at);
    return PLIANT_OK;
}

/* The sum of eight numbers, in a fixed order. */
static double sum_lanes(const double a[8])
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

void pl_layout_chunk_moments(const pl_chunk* chunk, const pl_particles* p, double (*sums)[4])
{
    memset(sums, 0, chunk->row_count * sizeof *sums);
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t slot = chunk->slot_begin + 8 * b;
        float m[8];
        for (uint32_t lane = 0; lane < 8; ++lane)
            m[lane] = p->mass[slot + lane] * p->norm[slot + lane]; /* rounded as the kernels do */
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
        {
            double mw[8], first[8], *sum = sums[chunk->entry_row[e]];
            for (uint32_t lane = 0; lane < 8; ++lane)
                mw[lane] = (double)m[lane] * chunk->entry_kernel[8 * (size_t)e + lane];
            sum[0] += sum_lanes(mw);
            for (uint32_t k = 0; k < 3; ++k)
            {
                const float* r = chunk->own_rest ? chunk->own_rest + 24 * (size_t)e + 8 * (size_t)k
                                                 : p->r[k] + slot;
                for (uint32_t lane = 0; lane < 8; ++lane)
                    first[lane] = mw[lane] * r[lane];
                sum[1 + k] += sum_lanes(first);
            }
        }
    }
}

pl_status pl_layout_rest_moments(pl_body* body)
{
    pl_clusters* k = &body->clusters;
    uint32_t most = 0;
    pl_level_batches_free(&body->links.batches); /* they have these moments, too */
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        most = PL_MAX(most, body->chunks[c].row_count);
    double(*sums)[4] = pl_alloc(most, sizeof *sums);
    uint32_t* at = PL_NEW(uint32_t, k->count);
    if (!sums || !at)
    {
        pl_free(sums);
        pl_free(at);
        return pl_fail_memory((size_t)most * 32);
    }
    memcpy(at, k->part_begin, k->count * sizeof *at);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        pl_layout_chunk_moments(chunk, &body->particles, sums);
        for (uint32_t r = 0; r < chunk->row_count; ++r)
        {
            pl_part* part = &k->part[at[chunk->rows[r]]++];
            part->mass = sums[r][0];
            for (int j = 0; j < 3; ++j)
            {
                part->first[j] = sums[r][1 + j];
                part->to_rest[j] = chunk->rest_origin[j] - k->rest[chunk->rows[r]][j];
            }
        }
    }
    pl_free(sums);
    pl_free(at);
    return PLIANT_OK;
}
