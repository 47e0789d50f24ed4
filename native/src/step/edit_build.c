// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Builds chunks with changed slots anew, in the form that set-up gives them (setup/blocks.c): a
 * block's entries ascend by cluster within each of its sides, rows come in the order in which
 * entries name them. A chunk whose memberships all have the body's rest positions has shared rest,
 * another has its own.
 */
#include "edit_parts.h"

#include <string.h>

/* The members of a chunk's slots, before it is built anew. */
typedef struct chunk_members
{
    uint32_t* begin; /* slot_count + 1 */
    pl_member* items;
    size_t capacity;
} chunk_members;

/* A cluster that some of the eight lanes of a block are in. */
typedef struct shared_cluster
{
    uint32_t cluster, sides;
    const pl_member* member[8];
} shared_cluster;

/* What is filled anew; it becomes the chunk's when all went well. */
typedef struct maker
{
    const pl_edit* edit;
    pl_chunk chunk;      /* a copy of the old one with fresh arrays */
    uint32_t* local;     /* by cluster: 1 + its row, or 0 */
    chunk_members lists; /* kept from chunk to chunk */
    shared_cluster* shared;
    size_t shared_count, shared_capacity;
    size_t rows, entries;
} maker;

/* Whether one of the eight slots of a block has other memberships than before. */
static bool is_changed(const pl_edit* edit, uint32_t slot)
{
    const uint32_t* change = edit->change_of_slot + slot / 8 * 8;
    uint32_t any = 0;
    for (int lane = 0; lane < 8; ++lane)
        any |= change[lane];
    return any != 0;
}

/* Of the blocks that change; the others have none here. */
static pl_status list_members(pl_edit* edit, const pl_chunk* chunk, chunk_members* lists)
{
    uint32_t total = 0;
    pl_free(lists->begin);
    lists->begin = PL_NEW(uint32_t, (size_t)chunk->slot_count + 1);
    if (!lists->begin)
        return pl_fail_memory(chunk->slot_count);
    for (uint32_t s = 0; s < chunk->slot_count; ++s)
    {
        uint32_t count = 0;
        lists->begin[s + 1] = total;
        if (!is_changed(edit, chunk->slot_begin + s))
            continue;
        const pl_member* members = pl_edit_members(edit, chunk->slot_begin + s, &count);
        if (!members && edit->body->particles.id[chunk->slot_begin + s] != PL_NO_PARTICLE)
            return pl_fail_memory(count);
        if (!pl_grow((void**)&lists->items, &lists->capacity, (size_t)total + count + 1,
                     sizeof *lists->items))
            return pl_fail_memory((size_t)total * sizeof *lists->items);
        if (count)
            memcpy(lists->items + total, members, count * sizeof *members);
        total += count;
        lists->begin[s + 1] = total;
    }
    return PLIANT_OK;
}

/* Whether a block that does not change has the particles' own rest positions. */
static bool was_shared(const pl_particles* p, const pl_chunk* chunk, uint32_t block)
{
    if (!chunk->own_rest)
        return true;
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
        for (uint32_t k = 0; k < 3; ++k)
            if (memcmp(chunk->own_rest + 24 * (size_t)e + 8 * (size_t)k,
                       p->r[k] + chunk->slot_begin + 8 * (size_t)block, 8 * sizeof(float)) != 0)
                return false;
    return true;
}

/* Whether all memberships have the particle's own rest position. */
static bool has_shared_rest(const pl_edit* edit, const pl_chunk* chunk, const chunk_members* lists)
{
    const pl_particles* p = &edit->body->particles;
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
        if (!is_changed(edit, chunk->slot_begin + 8 * b) && !was_shared(p, chunk, b))
            return false;
    for (uint32_t s = 0; s < chunk->slot_count; ++s)
        for (uint32_t m = lists->begin[s]; m < lists->begin[s + 1]; ++m)
            for (int k = 0; k < 3; ++k)
                if ((float)(lists->items[m].rest[k] - chunk->rest_origin[k]) !=
                    p->r[k][chunk->slot_begin + s])
                    return false;
    return true;
}

static uint32_t row_of(maker* m, uint32_t cluster)
{
    if (!m->local[cluster])
    {
        m->chunk.rows[m->chunk.row_count] = cluster;
        m->local[cluster] = ++m->chunk.row_count;
    }
    return m->local[cluster] - 1;
}

/* The clusters of a block, ascending: which of its halves have each (1, 2 or both), and where the
 * lanes have it, or NULL. */
static bool list_block(maker* m, uint32_t first)
{
    uint32_t at[8];
    memcpy(at, m->lists.begin + first, sizeof at);
    for (m->shared_count = 0;; ++m->shared_count)
    {
        uint32_t next = UINT32_MAX;
        for (uint32_t lane = 0; lane < 8; ++lane)
            if (at[lane] < m->lists.begin[first + lane + 1])
                next = PL_MIN(next, m->lists.items[at[lane]].cluster);
        if (next == UINT32_MAX)
            return true;
        if (!pl_grow((void**)&m->shared, &m->shared_capacity, m->shared_count + 1,
                     sizeof *m->shared))
            return false;
        shared_cluster* one = &m->shared[m->shared_count];
        *one = (shared_cluster){.cluster = next};
        for (uint32_t lane = 0; lane < 8; ++lane)
            if (at[lane] < m->lists.begin[first + lane + 1] &&
                m->lists.items[at[lane]].cluster == next)
            {
                one->member[lane] = &m->lists.items[at[lane]++];
                one->sides |= lane < 4 ? 1 : 2;
            }
    }
}

static void fill_entry(maker* m, uint32_t first, uint32_t entry, const shared_cluster* one)
{
    pl_chunk* chunk = &m->chunk;
    const pl_particles* p = &m->edit->body->particles;
    float* kernel = chunk->entry_kernel + 8 * (size_t)entry;
    chunk->entry_row[entry] = (uint16_t)row_of(m, one->cluster);
    for (uint32_t lane = 0; lane < 8; ++lane)
        kernel[lane] = one->member[lane] ? one->member[lane]->kernel : 0;
    for (uint32_t k = 0; k < 3 && chunk->own_rest; ++k)
    {
        float* own = chunk->own_rest + 24 * (size_t)entry + 8 * (size_t)k;
        const float* r = p->r[k] + chunk->slot_begin + first;
        for (uint32_t lane = 0; lane < 8; ++lane)
            own[lane] = one->member[lane]
                            ? (float)(one->member[lane]->rest[k] - chunk->rest_origin[k])
                            : r[lane];
    }
}

/* The entries of a block as they were. */
static void copy_block(maker* m, const pl_chunk* old, uint32_t block)
{
    pl_chunk* chunk = &m->chunk;
    const pl_particles* p = &m->edit->body->particles;
    uint32_t to = chunk->block_begin[block];
    for (uint32_t e = old->block_begin[block]; e < old->block_begin[block + 1]; ++e, ++to)
    {
        chunk->entry_row[to] = (uint16_t)row_of(m, old->rows[old->entry_row[e]]);
        memcpy(chunk->entry_kernel + 8 * (size_t)to, old->entry_kernel + 8 * (size_t)e,
               8 * sizeof(float));
        for (uint32_t k = 0; k < 3 && chunk->own_rest; ++k)
            memcpy(chunk->own_rest + 24 * (size_t)to + 8 * (size_t)k,
                   old->own_rest ? old->own_rest + 24 * (size_t)e + 8 * (size_t)k
                                 : p->r[k] + chunk->slot_begin + 8 * (size_t)block,
                   8 * sizeof(float));
    }
    chunk->block_begin[block + 1] = to;
}

/* The entries of a block: three passes for its sides, each by ascending clusters. */
static bool fill_block(maker* m, uint32_t block)
{
    static const uint32_t pass_sides[3] = {1, 3, 2};
    uint32_t entry = m->chunk.block_begin[block];
    if (!list_block(m, 8 * block))
        return false;
    for (int pass = 0; pass < 3; ++pass)
        for (size_t i = 0; i < m->shared_count; ++i)
            if (m->shared[i].sides == pass_sides[pass])
                fill_entry(m, 8 * block, entry++, &m->shared[i]);
    m->chunk.block_begin[block + 1] = entry;
    return true;
}

/* Normalisers of slots with other memberships; others keep theirs to the bit. */
static void set_norms(const pl_edit* edit, pl_chunk* chunk)
{
    const float* fade = edit->body->clusters.fade;
    uint32_t members = 0;
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
    {
        const uint32_t* change = edit->change_of_slot + chunk->slot_begin + 8 * (size_t)b;
        float* norm = edit->body->particles.norm + chunk->slot_begin + 8 * (size_t)b;
        float sum[8] = {0};
        uint32_t count[8] = {0};
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
        {
            const float *kernel = chunk->entry_kernel + 8 * (size_t)e,
                        f = fade[chunk->rows[chunk->entry_row[e]]];
            for (int lane = 0; lane < 8; ++lane)
            {
                sum[lane] += kernel[lane] * f;
                count[lane] += kernel[lane] > 0;
            }
        }
        for (int lane = 0; lane < 8; ++lane)
        {
            members += count[lane];
            if (change[lane])
                norm[lane] = sum[lane] > 0 ? 1 / sum[lane] : 0;
        }
    }
    chunk->member_count = members;
}

static bool make_arrays(maker* m, uint32_t entries, bool own)
{
    pl_chunk* chunk = &m->chunk;
    chunk->entry_count = entries;
    chunk->row_count = 0;
    chunk->block_begin = PL_NEW(uint32_t, (size_t)chunk->slot_count / 8 + 1);
    chunk->rows = PL_NEW(uint32_t, entries);
    chunk->entry_row = PL_NEW(uint16_t, entries);
    chunk->entry_kernel = PL_NEW(float, (size_t)entries * 8);
    chunk->own_rest = own ? PL_NEW(float, (size_t)entries * 24) : NULL;
    chunk->half = NULL;
    chunk->sums = chunk->quad_sums = NULL;
    return chunk->block_begin && chunk->rows && chunk->entry_row && chunk->entry_kernel &&
           (!own || chunk->own_rest);
}

/* How many different clusters the eight lanes of each block have, over all blocks. */
static uint32_t count_entries(maker* m, const pl_chunk* old)
{
    uint32_t total = 0;
    for (uint32_t b = 0; b < old->slot_count / 8; ++b)
    {
        if (!is_changed(m->edit, old->slot_begin + 8 * b))
        {
            total += old->block_begin[b + 1] - old->block_begin[b];
            continue;
        }
        uint32_t begin = m->lists.begin[8 * b], end = m->lists.begin[8 * b + 8];
        for (uint32_t i = begin; i < end; ++i)
            total += m->local[m->lists.items[i].cluster]++ == 0;
        for (uint32_t i = begin; i < end; ++i)
            m->local[m->lists.items[i].cluster] = 0;
    }
    return total;
}

static pl_status fill_chunk(maker* m, const pl_chunk* old)
{
    pl_chunk* chunk = &m->chunk;
    uint32_t used = 0;
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
    {
        if (!is_changed(m->edit, chunk->slot_begin + 8 * b))
            copy_block(m, old, b);
        else if (!fill_block(m, b))
            return pl_fail_memory(m->shared_count * sizeof *m->shared);
        if (chunk->block_begin[b] < chunk->block_begin[b + 1])
            used = b + 1;
    }
    chunk->block_count = used;
    for (uint32_t r = 0; r < chunk->row_count; ++r)
        m->local[chunk->rows[r]] = 0;
    if (chunk->row_count > UINT16_MAX)
        return pl_fail(PLIANT_ERROR_CLUSTERING,
                       "%u clusters meet in one chunk of particles: the clusters overlap too much",
                       chunk->row_count);
    chunk->sums = PL_NEW(float, (size_t)chunk->row_count* PL_SUM_FLOATS);
    return chunk->sums && pl_layout_halve(chunk) ? PLIANT_OK
                                                 : pl_fail_memory((size_t)chunk->row_count * 96);
}

/* Scratch of strain limiting goes by rows. */
static pl_status fit_limits(pl_body* body, uint32_t chunk)
{
    if (!body->limit_sums)
        return PLIANT_OK;
    float* sums = PL_NEW(float, (size_t)body->chunks[chunk].row_count * 8);
    if (!sums)
        return pl_fail_memory((size_t)body->chunks[chunk].row_count * 32);
    pl_free(body->limit_sums[chunk]);
    body->limit_sums[chunk] = sums;
    return PLIANT_OK;
}

/* Flags what the changed slots of a chunk were and will be in. */
static void flag_clusters(maker* m, const pl_chunk* chunk, uint8_t* clusters)
{
    pl_edit* edit = (pl_edit*)m->edit;
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        const uint32_t* change = edit->change_of_slot + chunk->slot_begin + 8 * (size_t)b;
        float changed[8], in;
        if (!is_changed(edit, chunk->slot_begin + 8 * b))
            continue;
        for (int lane = 0; lane < 8; ++lane)
            changed[lane] = change[lane] ? 1.0f : 0.0f;
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
        {
            in = 0;
            for (int lane = 0; lane < 8; ++lane)
                in += chunk->entry_kernel[8 * (size_t)e + (size_t)lane] * changed[lane];
            clusters[chunk->rows[chunk->entry_row[e]]] |= in > 0;
        }
    }
    for (uint32_t s = 0; s < chunk->slot_count; ++s)
    {
        if (!edit->change_of_slot[chunk->slot_begin + s])
            continue;
        for (uint32_t i = m->lists.begin[s]; i < m->lists.begin[s + 1]; ++i)
            clusters[m->lists.items[i].cluster] = 1;
        edit->updates += m->lists.begin[s + 1] - m->lists.begin[s];
    }
}

static pl_status build_chunk(maker* m, uint32_t index, uint8_t* clusters)
{
    pl_edit* edit = (pl_edit*)m->edit;
    pl_body* body = edit->body;
    pl_chunk* chunk = &body->chunks[index];
    PL_TRY(list_members(edit, chunk, &m->lists));
    flag_clusters(m, chunk, clusters);
    m->chunk = *chunk;
    bool own = !has_shared_rest(edit, chunk, &m->lists);
    pl_status status = make_arrays(m, count_entries(m, chunk), own)
                           ? fill_chunk(m, chunk)
                           : pl_fail_memory((size_t)m->chunk.entry_count * 48);
    if (status != PLIANT_OK)
    {
        pl_chunk_free(&m->chunk);
        return status;
    }
    pl_chunk_free(chunk);
    *chunk = m->chunk;
    set_norms(edit, chunk);
    chunk->moved = 1;
    return fit_limits(body, index);
}

/* ------------------------------------------------------------------ parts */

/* What a chunk's row had before, if it is the same as before. */
static const pl_part* old_part(const pl_part* parts, const uint32_t* begin, uint32_t cluster,
                               uint32_t chunk)
{
    for (uint32_t at = begin[cluster]; at < begin[cluster + 1]; ++at)
        if (parts[at].chunk == chunk)
            return &parts[at];
    return NULL;
}

/* Lists where clusters have their sums; moments of untouched chunks are kept. */
static pl_status list_parts(pl_body* body, const uint8_t* chunks)
{
    pl_clusters* k = &body->clusters;
    pl_part* parts = NULL;
    uint64_t total = 0;
    uint32_t* begin = PL_NEW(uint32_t, (size_t)k->count + 2);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        total += body->chunks[c].row_count;
    if (!begin || !(parts = PL_NEW(pl_part, total)))
    {
        pl_free(begin);
        return pl_fail_memory(total * sizeof *parts);
    }
    uint32_t* at = begin + 1; /* one further, so that filling leaves the begins */
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        for (uint32_t r = 0; r < body->chunks[c].row_count; ++r)
            ++at[body->chunks[c].rows[r] + 1];
    for (uint32_t c = 0; c < k->count; ++c)
        at[c + 1] += at[c];
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        for (uint32_t r = 0; r < body->chunks[c].row_count; ++r)
        {
            uint32_t cluster = body->chunks[c].rows[r];
            pl_part* part = &parts[at[cluster]++];
            const pl_part* old = chunks[c] ? NULL : old_part(k->part, k->part_begin, cluster, c);
            if (old)
                *part = *old;
            part->chunk = c;
            part->row = r;
        }
    memcpy(k->part_begin, begin, ((size_t)k->count + 1) * sizeof *begin);
    pl_free(begin);
    pl_free(k->part);
    k->part = parts;
    return PLIANT_OK;
}

/* Clusters that nobody is in any more; coarse ones have no particles in any case. */
static void bury(pl_body* body, const uint8_t* clusters)
{
    pl_clusters* k = &body->clusters;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (clusters[c] && k->part_begin[c] == k->part_begin[c + 1])
        {
            k->fade[c] = k->mass[c] = k->alpha[c] = k->kappa[c] = 0;
            k->fading[c] = PL_STAYS;
            k->shape_width[c] = k->width_max[c] = k->width_rms[c] = 0;
        }
}

pl_status pl_edit_build(pl_edit* edit, uint8_t* chunks, uint8_t* clusters)
{
    pl_body* body = edit->body;
    maker m = {.edit = edit, .local = PL_NEW(uint32_t, body->clusters.count)};
    pl_status status = m.local ? PLIANT_OK : pl_fail_memory(body->clusters.count * 4);
    for (size_t i = 0; i < edit->change_count; ++i)
        chunks[pl_chunk_of_slot(body, edit->changes[i].slot)] = 1;
    for (size_t i = 0; i < edit->added_count; ++i)
        clusters[edit->added[i].cluster] = 1;
    for (uint32_t c = 0; c < body->chunk_count && status == PLIANT_OK; ++c)
        if (chunks[c])
            status = build_chunk(&m, c, clusters);
    pl_free(m.local);
    pl_free(m.lists.begin);
    pl_free(m.lists.items);
    pl_free(m.shared);
    if (status == PLIANT_OK)
        status = list_parts(body, chunks);
    if (status == PLIANT_OK)
        bury(body, clusters);
    return status;
}
