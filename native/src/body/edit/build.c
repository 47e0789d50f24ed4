// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Builds chunks with changed slots anew, in the form that set-up gives them (body/blocks.c): a
 * block's entries ascend by cluster within each of its sides, rows come in the order in which
 * entries name them. A chunk whose memberships all have the body's rest positions has shared rest,
 * another has its own.
 *
 * Blocks without changed slots are copied. Of the others, entries lose the lanes that changed, get
 * what those have now, and are put in order again:
 *
 *   entries ── lanes that stay ──┐
 *                                ├──► by cluster ──► by side ──► entries
 *   changes ── lanes that do not ┘
 *
 * A chunk is filled in scratch that is kept from one to the next; what it has become goes to its
 * own arrays if it fits there, which it does for all but those with new cracks.
 */
#include "body/edit/edit_internal.h"
#include "body/validity.h"

#include <string.h>

/* A cluster that some of the eight lanes of a block are in. */
typedef struct shared_cluster
{
    uint32_t cluster, sides; /* 1: the first four lanes, 2: the last four */
    float kernel[8];
    float rest[24]; /* x8 y8 z8: r_ic, relative to the chunk's rest origin */
} shared_cluster;

/* What is filled anew; it becomes the chunk's when all went well. */
typedef struct maker
{
    const pl_edit* edit;
    pl_chunk chunk; /* a copy of the old one with the arrays of "room" */
    pl_chunk room;  /* arrays for so many: */
    size_t block_capacity, half_capacity, row_capacity, entry_capacity, kernel_capacity,
        rest_capacity;
    uint32_t* local;      /* by cluster: 1 + its row, or 0 */
    shared_cluster* list; /* kept from block to block */
    size_t count, capacity;
} maker;

/* The lanes of a block that have other memberships than before. */
static uint32_t changed_lanes(const pl_edit* edit, uint32_t slot)
{
    const uint32_t* change = edit->change_of_slot + slot;
    uint32_t lanes = 0;
    if (!(change[0] | change[1] | change[2] | change[3] | change[4] | change[5] | change[6] |
          change[7]))
        return 0;
    for (uint32_t lane = 0; lane < 8; ++lane)
        lanes |= (uint32_t)(change[lane] != 0) << lane;
    return lanes;
}

static const pl_change* change_at(const pl_edit* edit, uint32_t slot)
{
    return &edit->changes[edit->change_of_slot[slot] - 1];
}

/* ------------------------------------------------------------------ what a chunk will have */

typedef struct survey
{
    uint32_t entries; /* at most */
    bool own;         /* some membership that changes has a rest position of its own */
} survey;

/* Also flags the clusters that gain or lose, and counts what is written. */
static survey survey_chunk(pl_edit* edit, const pl_chunk* chunk, uint8_t* clusters)
{
    const pl_particles* p = &edit->body->particles;
    survey s = {.entries = chunk->entry_count};
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
    {
        uint32_t first = chunk->slot_begin + 8 * b, changed = changed_lanes(edit, first);
        if (!changed)
            continue;
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            if (pl_entry_lanes(chunk->entry_kernel + 8 * (size_t)e) & changed)
                clusters[chunk->rows[chunk->entry_row[e]]] = 1;
        for (uint32_t slot = first; slot < first + 8; ++slot)
        {
            if (!edit->change_of_slot[slot])
                continue;
            const pl_change* change = change_at(edit, slot);
            s.entries += change->count;
            edit->updates += change->count;
            for (uint32_t i = 0; i < change->count; ++i)
            {
                clusters[change->members[i].cluster] = 1;
                for (int k = 0; k < 3; ++k)
                    s.own = s.own || (float)(change->members[i].rest[k] - chunk->rest_origin[k]) !=
                                         p->r[k][slot];
            }
        }
    }
    return s;
}

static bool make_room(maker* m, uint32_t entries, bool own)
{
    pl_chunk *chunk = &m->chunk, *room = &m->room;
    size_t blocks = chunk->slot_count / 8;
    if (!pl_grow((void**)&room->block_begin, &m->block_capacity, blocks + 1,
                 sizeof *room->block_begin) ||
        !pl_grow((void**)&room->half, &m->half_capacity, blocks, sizeof *room->half) ||
        !pl_grow((void**)&room->rows, &m->row_capacity, entries, sizeof *room->rows) ||
        !pl_grow((void**)&room->entry_row, &m->entry_capacity, entries, sizeof *room->entry_row) ||
        !pl_grow((void**)&room->entry_kernel, &m->kernel_capacity, 8 * (size_t)entries,
                 sizeof *room->entry_kernel) ||
        !pl_grow((void**)&room->own_rest, &m->rest_capacity, own ? 24 * (size_t)entries : 0,
                 sizeof *room->own_rest))
        return false;
    chunk->entry_count = chunk->row_count = 0;
    chunk->block_begin = room->block_begin;
    chunk->half = room->half;
    chunk->rows = room->rows;
    chunk->entry_row = room->entry_row;
    chunk->entry_kernel = room->entry_kernel;
    chunk->own_rest = own ? room->own_rest : NULL;
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

/* ------------------------------------------------------------------ blocks */

/* The entries of a block as they were. */
static void copy_block(maker* m, const pl_chunk* old, uint32_t block)
{
    pl_chunk* chunk = &m->chunk;
    const pl_particles* p = &m->edit->body->particles;
    uint32_t begin = old->block_begin[block], count = old->block_begin[block + 1] - begin;
    uint32_t to = chunk->entry_count;
    for (uint32_t i = 0; i < count; ++i)
        chunk->entry_row[to + i] = (uint16_t)row_of(m, old->rows[old->entry_row[begin + i]]);
    memcpy(chunk->entry_kernel + 8 * (size_t)to, old->entry_kernel + 8 * (size_t)begin,
           8 * (size_t)count * sizeof(float));
    for (uint32_t i = 0; i < count && chunk->own_rest; ++i)
        for (uint32_t k = 0; k < 3; ++k)
            memcpy(chunk->own_rest + 24 * (size_t)(to + i) + 8 * (size_t)k,
                   old->own_rest ? old->own_rest + 24 * (size_t)(begin + i) + 8 * (size_t)k
                                 : p->r[k] + chunk->slot_begin + 8 * (size_t)block,
                   8 * sizeof(float));
    for (int side = 0; side < 2; ++side)
        chunk->half[block][side] = old->half[block][side] - begin + to;
    chunk->entry_count += count;
}

/* The place of a cluster in the list, which ascends; it is there afterwards. */
static shared_cluster* place_of(maker* m, uint32_t cluster, uint32_t slot)
{
    const pl_particles* p = &m->edit->body->particles;
    size_t at = m->count;
    while (at > 0 && m->list[at - 1].cluster > cluster)
        --at;
    if (at > 0 && m->list[at - 1].cluster == cluster)
        return &m->list[at - 1];
    if (!pl_grow((void**)&m->list, &m->capacity, m->count + 1, sizeof *m->list))
        return NULL;
    memmove(m->list + at + 1, m->list + at, (m->count - at) * sizeof *m->list);
    ++m->count;
    shared_cluster* one = &m->list[at];
    *one = (shared_cluster){.cluster = cluster};
    for (uint32_t k = 0; k < 3 && m->chunk.own_rest; ++k)
        memcpy(one->rest + 8 * (size_t)k, p->r[k] + slot, 8 * sizeof(float));
    return one;
}

/* What the lanes that stay have of an entry. */
static bool keep_entry(maker* m, const pl_chunk* old, uint32_t entry, uint32_t slot,
                       uint32_t changed)
{
    const float* kernel = old->entry_kernel + 8 * (size_t)entry;
    uint32_t stay = pl_entry_lanes(kernel) & ~changed;
    if (!stay)
        return true;
    shared_cluster* one = place_of(m, old->rows[old->entry_row[entry]], slot);
    for (uint32_t lane = 0; one && lane < 8; ++lane)
    {
        if (!(stay >> lane & 1))
            continue;
        one->kernel[lane] = kernel[lane];
        one->sides |= lane < 4 ? 1 : 2;
        for (uint32_t k = 0; k < 3 && old->own_rest; ++k)
            one->rest[8 * k + lane] = old->own_rest[24 * (size_t)entry + 8 * (size_t)k + lane];
    }
    return one != NULL;
}

/* The new memberships of a lane. */
static bool add_change(maker* m, uint32_t slot)
{
    const pl_change* change = change_at(m->edit, slot);
    uint32_t lane = slot % 8;
    for (uint32_t i = 0; i < change->count; ++i)
    {
        const pl_member* member = &change->members[i];
        shared_cluster* one = place_of(m, member->cluster, slot - lane);
        if (!one)
            return false;
        one->kernel[lane] = member->kernel;
        one->sides |= lane < 4 ? 1 : 2;
        for (uint32_t k = 0; k < 3; ++k)
            one->rest[8 * k + lane] = (float)(member->rest[k] - m->chunk.rest_origin[k]);
    }
    return true;
}

/* The entries of a block: three passes for its sides, each by ascending clusters. */
static void store_block(maker* m, uint32_t block)
{
    static const uint32_t pass_sides[3] = {1, 3, 2};
    pl_chunk* chunk = &m->chunk;
    for (int pass = 0; pass < 3; ++pass)
    {
        for (size_t i = 0; i < m->count; ++i)
        {
            const shared_cluster* one = &m->list[i];
            if (one->sides != pass_sides[pass])
                continue;
            size_t entry = chunk->entry_count++;
            chunk->entry_row[entry] = (uint16_t)row_of(m, one->cluster);
            memcpy(chunk->entry_kernel + 8 * entry, one->kernel, sizeof one->kernel);
            if (chunk->own_rest)
                memcpy(chunk->own_rest + 24 * entry, one->rest, sizeof one->rest);
        }
        if (pass < 2)
            chunk->half[block][1 - pass] = chunk->entry_count;
    }
}

/* Normalisers of the lanes that changed; the others keep theirs to the bit. */
static void set_norms(const maker* m, uint32_t slot, uint32_t begin, uint32_t changed)
{
    const pl_chunk* chunk = &m->chunk;
    const float* fade = m->edit->body->clusters.fade;
    for (uint32_t lane = 0; lane < 8; ++lane)
    {
        float sum = 0;
        if (!(changed >> lane & 1))
            continue;
        for (uint32_t e = begin; e < chunk->entry_count; ++e)
            sum +=
                chunk->entry_kernel[8 * (size_t)e + lane] * fade[chunk->rows[chunk->entry_row[e]]];
        m->edit->body->particles.norm[slot + lane] = sum > 0 ? 1 / sum : 0;
    }
}

static bool fill_block(maker* m, const pl_chunk* old, uint32_t block, uint32_t changed)
{
    uint32_t slot = m->chunk.slot_begin + 8 * block, begin = m->chunk.entry_count;
    m->count = 0;
    for (uint32_t e = old->block_begin[block]; e < old->block_begin[block + 1]; ++e)
    {
        m->chunk.member_count -= (uint32_t)__builtin_popcount(
            pl_entry_lanes(old->entry_kernel + 8 * (size_t)e) & changed);
        if (!keep_entry(m, old, e, slot, changed))
            return false;
    }
    for (uint32_t lane = 0; lane < 8; ++lane)
    {
        if (!(changed >> lane & 1))
            continue;
        m->chunk.member_count += change_at(m->edit, slot + lane)->count;
        if (!add_change(m, slot + lane))
            return false;
    }
    store_block(m, block);
    set_norms(m, slot, begin, changed);
    return true;
}

/* ------------------------------------------------------------------ chunks */

/* Whether all memberships have the particles' own rest positions. */
static bool has_shared_rest(const pl_particles* p, const pl_chunk* chunk)
{
    for (uint32_t b = 0; b < chunk->block_count; ++b)
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            for (uint32_t k = 0; k < 3; ++k)
                if (memcmp(chunk->own_rest + 24 * (size_t)e + 8 * (size_t)k,
                           p->r[k] + chunk->slot_begin + 8 * (size_t)b, 8 * sizeof(float)) != 0)
                    return false;
    return true;
}

static pl_status fill_chunk(maker* m, const pl_chunk* old)
{
    pl_chunk* chunk = &m->chunk;
    uint32_t used = 0;
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
    {
        uint32_t changed = changed_lanes(m->edit, chunk->slot_begin + 8 * b);
        chunk->block_begin[b] = chunk->entry_count;
        if (!changed)
            copy_block(m, old, b);
        else if (!fill_block(m, old, b, changed))
            return pl_fail_memory(m->count * sizeof *m->list);
        if (chunk->block_begin[b] < chunk->entry_count)
            used = b + 1;
    }
    chunk->block_begin[chunk->slot_count / 8] = chunk->entry_count;
    chunk->block_count = used;
    for (uint32_t r = 0; r < chunk->row_count; ++r)
        m->local[chunk->rows[r]] = 0;
    if (chunk->row_count > UINT16_MAX)
        return pl_fail(PLIANT_ERROR_CLUSTERING,
                       "%u clusters meet in one chunk of particles: the clusters overlap too much",
                       chunk->row_count);
    if (chunk->own_rest && has_shared_rest(&m->edit->body->particles, chunk))
        chunk->own_rest = NULL;
    return PLIANT_OK;
}

/* An array of a chunk: what was filled goes to the one that it has, or to a larger one. */
typedef struct target
{
    void **own, *fresh; /* fresh: NULL where its own does */
    const void* filled; /* NULL: zeroes */
    size_t bytes;
    bool fine;
} target;

/* It has room for "had" items of "size" bytes. */
static target target_of(void* own, const void* filled, size_t had, size_t count, size_t size)
{
    target t = {.own = own, .filled = filled, .bytes = count * size, .fine = true};
    if (count > had || !*t.own)
    {
        t.fresh = pl_alloc_bare(count, size);
        t.fine = t.fresh != NULL;
    }
    return t;
}

static void commit(const target* t)
{
    if (t->fresh)
    {
        pl_free(*t->own);
        *t->own = t->fresh;
    }
    if (t->filled)
        memcpy(*t->own, t->filled, t->bytes);
    else
        memset(*t->own, 0, t->bytes);
}

/* What was filled becomes the chunk's; where memory runs out it stays what it was. */
static pl_status store_chunk(const maker* m, uint32_t index)
{
    pl_body* body = m->edit->body;
    pl_chunk* own = &body->chunks[index];
    const pl_chunk* f = &m->chunk;
    size_t had_rows = own->row_count, had = own->entry_count, blocks = own->slot_count / 8;
    size_t rows = f->row_count, entries = f->entry_count, count = 0;
    target t[8];
    t[count++] = target_of(&own->sums, NULL, had_rows, rows, PL_SUM_FLOATS * sizeof(float));
    t[count++] = target_of(&own->rows, f->rows, had_rows, rows, sizeof *f->rows);
    t[count++] = target_of(&own->entry_row, f->entry_row, had, entries, sizeof *f->entry_row);
    t[count++] = target_of(&own->entry_kernel, f->entry_kernel, had, entries, 8 * sizeof(float));
    t[count++] = target_of(&own->block_begin, f->block_begin, blocks + 1, blocks + 1, 4);
    t[count++] = target_of(&own->half, f->half, blocks, blocks, sizeof *f->half);
    if (f->own_rest)
        t[count++] = target_of(&own->own_rest, f->own_rest, had, entries, 24 * sizeof(float));
    if (body->limit_sums) /* scratch of strain limiting goes by rows */
        t[count++] = target_of(&body->limit_sums[index], NULL, had_rows, rows,
                               PL_LIMIT_FLOATS * sizeof(float));
    bool fine = true;
    for (size_t i = 0; i < count; ++i)
        fine = fine && t[i].fine;
    for (size_t i = 0; i < count && !fine; ++i)
        pl_free(t[i].fresh);
    if (!fine)
        return pl_fail_memory(entries * 48);
    for (size_t i = 0; i < count; ++i)
        commit(&t[i]);
    if (!f->own_rest)
    {
        pl_free(own->own_rest);
        own->own_rest = NULL;
    }
    own->row_count = f->row_count;
    own->entry_count = f->entry_count;
    own->member_count = f->member_count;
    own->block_count = f->block_count;
    pl_chunk_positions_changed(own);
    return PLIANT_OK;
}

static pl_status build_chunk(maker* m, uint32_t index, uint8_t* clusters)
{
    pl_edit* edit = (pl_edit*)m->edit;
    pl_chunk* chunk = &edit->body->chunks[index];
    survey s = survey_chunk(edit, chunk, clusters);
    m->chunk = *chunk;
    if (!make_room(m, s.entries, s.own || chunk->own_rest))
        return pl_fail_memory((size_t)s.entries * 48);
    PL_TRY(fill_chunk(m, chunk));
    return store_chunk(m, index);
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
    if (!begin || !(parts = PL_BARE(pl_part, total)))
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
            *part = old ? *old : (pl_part){0};
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
static void bury_empty(pl_body* body, const uint8_t* clusters)
{
    pl_clusters* k = &body->clusters;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (clusters[c] && k->part_begin[c] == k->part_begin[c + 1])
            pl_cluster_bury(k, c);
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
    pl_free(m.list);
    pl_chunk_free(&m.room);
    if (status == PLIANT_OK)
        status = list_parts(body, chunks);
    if (status == PLIANT_OK)
        bury_empty(body, clusters);
    return status;
}
