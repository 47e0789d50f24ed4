// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An edit stores the new memberships of changed particles by slot; its queries overlay them on the
 * body's. pl_edit_end then rebuilds the chunks with changed slots, and derived data:
 *
 *   changes ──► chunks ───────► parts ──► rest of clusters ──► coarse levels
 *               build.c              rest.c
 */
#include "body/edit/edit_internal.h"
#include "body/validity.h"

#include <math.h>
#include <string.h>

pl_status pl_edit_begin(pl_body* body, uint64_t now, pl_edit** edit)
{
    *edit = NULL;
    if (body->level_kind != PLIANT_LEVELS_NESTED && body->level_count > 1)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The body has %u independent levels: memberships change with nested levels "
                       "only",
                       body->level_count);
    if (body->material.goal == PLIANT_GOAL_QUADRATIC)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The body has quadratic goals: memberships change with others only");
    pl_edit* fresh = PL_NEW(pl_edit, 1);
    if (!fresh || !(fresh->change_of_slot = PL_NEW(uint32_t, body->particles.slot_count)))
    {
        pl_free(fresh);
        return pl_fail_memory((size_t)body->particles.slot_count * 4);
    }
    fresh->body = body;
    fresh->now = now;
    fresh->slot_count = body->particles.slot_count;
    *edit = fresh;
    return PLIANT_OK;
}

static void edit_free(pl_edit* edit)
{
    for (size_t i = 0; i < edit->pool.block_count; ++i)
        pl_free(edit->pool.blocks[i]);
    pl_free(edit->pool.blocks);
    pl_free(edit->changes);
    pl_free(edit->change_of_slot);
    pl_free(edit->added);
    pl_free(edit->links);
    pl_free(edit->divisions);
    pl_free(edit->mergings);
    pl_free(edit->next_free);
    pl_free(edit->beside);
    pl_free(edit->members);
    pl_free(edit->slots);
    pl_free(edit->listed);
    pl_free(edit);
}

void pl_edit_abandon(pl_edit* edit)
{
    if (!edit)
        return;
    pl_edit_undo_room(edit);
    edit_free(edit);
}

/* ------------------------------------------------------------------ reading */

/* Entries are sorted by the halves of their block that they belong to first. */
static void sort_members(pl_member* members, uint32_t count)
{
    for (uint32_t i = 1; i < count; ++i)
    {
        if (members[i - 1].cluster < members[i].cluster)
            continue;
        pl_member one = members[i];
        uint32_t at = i;
        for (; at > 0 && members[at - 1].cluster > one.cluster; --at)
            members[at] = members[at - 1];
        members[at] = one;
    }
}

/* Slots are mostly asked for in their order. */
static const pl_chunk* chunk_of(pl_edit* edit, uint32_t slot)
{
    const pl_chunk* last = &edit->body->chunks[edit->last_chunk];
    if (slot - last->slot_begin < last->slot_count)
        return last;
    edit->last_chunk = pl_chunk_of_slot(edit->body, slot);
    return &edit->body->chunks[edit->last_chunk];
}

bool pl_edit_read(pl_edit* edit, uint32_t slot, uint32_t* count)
{
    const pl_particles* p = &edit->body->particles;
    const pl_chunk* chunk = chunk_of(edit, slot);
    uint32_t block = (slot - chunk->slot_begin) / 8, lane = slot % 8, found = 0;
    uint32_t begin = chunk->block_begin[block], end = chunk->block_begin[block + 1];
    *count = 0;
    if (!pl_grow((void**)&edit->members, &edit->member_capacity, (size_t)(end - begin) + 1,
                 sizeof *edit->members))
        return false;
    for (uint32_t e = begin; e < end; ++e)
    {
        float kernel = chunk->entry_kernel[8 * (size_t)e + lane];
        if (!(kernel > 0))
            continue;
        pl_member* m = &edit->members[found++];
        m->cluster = chunk->rows[chunk->entry_row[e]];
        m->kernel = kernel;
        for (uint32_t k = 0; k < 3; ++k)
            m->rest[k] =
                (double)chunk->rest_origin[k] +
                (chunk->own_rest ? chunk->own_rest[24 * (size_t)e + 8 * k + lane] : p->r[k][slot]);
    }
    sort_members(edit->members, found);
    *count = found;
    return true;
}

const pl_member* pl_edit_members(pl_edit* edit, uint32_t slot, uint32_t* count)
{
    uint32_t at = edit->change_of_slot[slot];
    if (at)
    {
        *count = edit->changes[at - 1].count;
        return edit->changes[at - 1].members;
    }
    return pl_edit_read(edit, slot, count) ? edit->members : NULL;
}

static uint64_t bit_of(uint32_t cluster)
{
    return (uint64_t)1 << cluster % 64;
}

/* Asked for every change when a cluster is split, and most have other clusters: a bit tells. */
static bool has_cluster(const pl_change* change, uint32_t cluster)
{
    if (!(change->among & bit_of(cluster)))
        return false;
    for (uint32_t i = 0; i < change->count; ++i)
        if (change->members[i].cluster == cluster)
            return true;
    return false;
}

static bool add_slot(pl_edit* edit, uint32_t* count, uint32_t slot)
{
    if (!pl_grow((void**)&edit->slots, &edit->slot_capacity, (size_t)*count + 1,
                 sizeof *edit->slots))
        return false;
    edit->slots[(*count)++] = slot;
    return true;
}

/* Whether the particle of a lane is in an entry's cluster, and has not been changed. */
static bool is_member(const pl_edit* edit, const pl_chunk* chunk, uint32_t entry, uint32_t slot)
{
    return chunk->entry_kernel[8 * (size_t)entry + slot % 8] > 0 && !edit->change_of_slot[slot];
}

/* The unchanged slots of a chunk that are in the row's cluster; no more than "most" and some. */
static bool slots_of_row(pl_edit* edit, const pl_chunk* chunk, uint32_t row, uint32_t most,
                         uint32_t* count)
{
    for (uint32_t b = 0; b < chunk->block_count && *count < most; ++b)
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
        {
            if (chunk->entry_row[e] != row)
                continue;
            uint32_t first = chunk->slot_begin + 8 * b;
            for (uint32_t slot = first; slot < first + 8; ++slot)
                if (is_member(edit, chunk, e, slot) && !add_slot(edit, count, slot))
                    return false;
            break; /* a cluster has one entry in a block */
        }
    return true;
}

enum
{
    FEW_SLOTS = 64
};

/* The list in order: changes come in any. Bits by slot do it where there are many. */
static bool order_slots(pl_edit* edit, uint32_t count)
{
    size_t words = (edit->slot_count + 63) / 64;
    if (count < FEW_SLOTS)
    {
        pl_sort_u32(edit->slots, count);
        return true;
    }
    if (!pl_grow((void**)&edit->listed, &edit->listed_capacity, words, sizeof *edit->listed))
        return false;
    memset(edit->listed, 0, words * sizeof *edit->listed);
    for (uint32_t i = 0; i < count; ++i)
        edit->listed[edit->slots[i] / 64] |= (uint64_t)1 << edit->slots[i] % 64;
    uint32_t* to = edit->slots;
    for (size_t w = 0; w < words; ++w)
        for (uint64_t left = edit->listed[w]; left; left &= left - 1)
            *to++ = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left);
    return true;
}

/* Adds the changed slots that are in both clusters, of which the list has the unchanged ones. */
static const uint32_t* add_changed(pl_edit* edit, uint32_t cluster, uint32_t other, uint32_t most,
                                   uint32_t* count)
{
    uint32_t unchanged = *count;
    bool fine = true;
    for (size_t i = 0; fine && i < edit->change_count && *count < most; ++i)
        if (has_cluster(&edit->changes[i], cluster) && has_cluster(&edit->changes[i], other))
            fine = add_slot(edit, count, edit->changes[i].slot);
    if (fine && *count > unchanged)
        fine = order_slots(edit, *count);
    *count = fine ? *count : 0;
    return fine ? edit->slots : NULL;
}

const uint32_t* pl_edit_slots_up_to(pl_edit* edit, uint32_t cluster, uint32_t most, uint32_t* count)
{
    const pl_body* body = edit->body;
    const pl_clusters* k = &body->clusters;
    *count = 0;
    bool fine = pl_grow((void**)&edit->slots, &edit->slot_capacity, 1, sizeof *edit->slots);
    for (uint32_t at = k->part_begin[cluster]; fine && at < k->part_begin[cluster + 1]; ++at)
        fine = slots_of_row(edit, &body->chunks[k->part[at].chunk], k->part[at].row, most, count);
    *count = fine ? *count : 0;
    return fine ? add_changed(edit, cluster, cluster, most, count) : NULL;
}

/* The unchanged slots of a chunk that are in the clusters of both rows. */
static bool slots_of_rows(pl_edit* edit, const pl_chunk* chunk, uint32_t row, uint32_t other,
                          uint32_t* count)
{
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t lanes = 0, lanes_of_other = 0;
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            if (chunk->entry_row[e] == row)
                lanes = pl_entry_lanes(chunk->entry_kernel + 8 * (size_t)e);
            else if (chunk->entry_row[e] == other)
                lanes_of_other = pl_entry_lanes(chunk->entry_kernel + 8 * (size_t)e);
        lanes &= lanes_of_other;
        for (uint32_t lane = 0; lane < 8 && lanes; ++lane)
        {
            uint32_t slot = chunk->slot_begin + 8 * b + lane;
            if (lanes >> lane & 1 && !edit->change_of_slot[slot] && !add_slot(edit, count, slot))
                return false;
        }
    }
    return true;
}

const uint32_t* pl_edit_shared(pl_edit* edit, uint32_t cluster, uint32_t other, uint32_t* count)
{
    const pl_body* body = edit->body;
    const pl_clusters* k = &body->clusters;
    *count = 0;
    bool fine = pl_grow((void**)&edit->slots, &edit->slot_capacity, 1, sizeof *edit->slots);
    uint32_t at = k->part_begin[cluster], also = k->part_begin[other]; /* chunks ascend */
    while (fine && at < k->part_begin[cluster + 1] && also < k->part_begin[other + 1])
    {
        const pl_part *a = &k->part[at], *b = &k->part[also];
        if (a->chunk == b->chunk)
            fine = slots_of_rows(edit, &body->chunks[a->chunk], a->row, b->row, count);
        at += a->chunk <= b->chunk;
        also += b->chunk <= a->chunk;
    }
    *count = fine ? *count : 0;
    return fine ? add_changed(edit, cluster, other, UINT32_MAX, count) : NULL;
}

const uint32_t* pl_edit_slots(pl_edit* edit, uint32_t cluster, uint32_t* count)
{
    return pl_edit_slots_up_to(edit, cluster, UINT32_MAX, count);
}

/* ------------------------------------------------------------------ changing */

enum
{
    SPARE_MEMBERS = 1 /* who changes may change again: mostly it leaves some more */
};

static pl_member* take_members(pl_member_pool* pool, uint32_t count)
{
    if (pool->size - pool->used < count)
    {
        uint32_t size = PL_MAX(count, PL_CLAMP(2 * pool->size, 256u, 4096u));
        pl_member* block = NULL;
        if (!pl_grow((void**)&pool->blocks, &pool->block_capacity, pool->block_count + 1,
                     sizeof *pool->blocks) ||
            !(block = PL_BARE(pl_member, size)))
            return NULL;
        pool->blocks[pool->block_count++] = block;
        pool->size = size;
        pool->used = 0;
    }
    pool->used += count;
    return pool->blocks[pool->block_count - 1] + pool->used - count;
}

/* Room for so many members of a change; it keeps those it has. */
static bool make_room(pl_edit* edit, pl_change* change, uint32_t count)
{
    if (count <= change->room)
        return true;
    pl_member* fresh = take_members(&edit->pool, count + SPARE_MEMBERS);
    if (!fresh)
        return false;
    for (uint32_t i = 0; i < change->count; ++i)
        fresh[i] = change->members[i];
    change->members = fresh;
    change->room = count + SPARE_MEMBERS;
    return true;
}

/* "members" may be the change's own. */
static bool replace(pl_edit* edit, pl_change* change, const pl_member* members, uint32_t count)
{
    if (!make_room(edit, change, count))
        return false;
    if (count)
        memmove(change->members, members, count * sizeof *members);
    change->count = count;
    change->among = 0;
    for (uint32_t i = 0; i < count; ++i)
        change->among |= bit_of(change->members[i].cluster);
    return true;
}

static pl_change* add_change(pl_edit* edit, uint32_t slot, const pl_member* members, uint32_t count)
{
    if (!pl_grow((void**)&edit->changes, &edit->change_capacity, edit->change_count + 1,
                 sizeof *edit->changes))
        return NULL;
    pl_change* change = &edit->changes[edit->change_count];
    *change = (pl_change){.slot = slot};
    if (!replace(edit, change, members, count))
        return NULL;
    edit->change_of_slot[slot] = (uint32_t)++edit->change_count;
    return change;
}

pl_change* pl_edit_change(pl_edit* edit, uint32_t slot)
{
    uint32_t count, at = edit->change_of_slot[slot];
    if (at)
        return &edit->changes[at - 1];
    return pl_edit_read(edit, slot, &count) ? add_change(edit, slot, edit->members, count) : NULL;
}

pl_status pl_edit_join(pl_edit* edit, uint32_t slot, const pl_member* member)
{
    pl_change* change = pl_edit_change(edit, slot);
    if (!change || !make_room(edit, change, change->count + 1))
        return pl_fail_memory(sizeof *member);
    uint32_t at = change->count++;
    for (; at > 0 && change->members[at - 1].cluster > member->cluster; --at)
        change->members[at] = change->members[at - 1];
    change->members[at] = *member;
    change->among |= bit_of(member->cluster);
    return PLIANT_OK;
}

static pl_status check_members(const pl_edit* edit, uint32_t slot, const pl_member* members,
                               uint32_t count)
{
    const pl_particles* p = &edit->body->particles;
    if (slot >= p->slot_count || p->id[slot] == PL_NO_PARTICLE)
        return pl_fail(PLIANT_ERROR_INTERNAL, "Slot %u has no particle to change", slot);
    if (count == 0)
        return pl_fail(PLIANT_ERROR_INTERNAL, "Particle %u would be in no cluster", p->id[slot]);
    for (uint32_t i = 0; i < count; ++i)
    {
        bool finite = isfinite(members[i].kernel);
        if (members[i].cluster >= edit->body->level_begin[1] ||
            (i && members[i - 1].cluster >= members[i].cluster) ||
            !(members[i].kernel > 0 && finite))
            return pl_fail(finite ? PLIANT_ERROR_INTERNAL : PLIANT_ERROR_UNSTABLE,
                           "Particle %u would be in cluster %u with a kernel value of %g",
                           p->id[slot], members[i].cluster, members[i].kernel);
    }
    return PLIANT_OK;
}

static bool same_members(const pl_member* a, const pl_member* b, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (a[i].cluster != b[i].cluster || a[i].kernel != b[i].kernel ||
            memcmp(a[i].rest, b[i].rest, sizeof a[i].rest) != 0)
            return false;
    return true;
}

/* Whatever it had before. */
static pl_status put(pl_edit* edit, uint32_t slot, const pl_member* members, uint32_t count)
{
    uint32_t at = edit->change_of_slot[slot];
    if (at ? replace(edit, &edit->changes[at - 1], members, count)
           : add_change(edit, slot, members, count) != NULL)
        return PLIANT_OK;
    return pl_fail_memory(count * sizeof *members);
}

pl_status pl_edit_set(pl_edit* edit, uint32_t slot, const pl_member* members, uint32_t count)
{
    PL_TRY(check_members(edit, slot, members, count));
    uint32_t before = 0;
    if (edit->change_of_slot[slot])
        return put(edit, slot, members, count);
    if (members == edit->members)
    {
        /* what was read last, perhaps written to: keep it while the body is read again */
        pl_change* change = add_change(edit, slot, members, count);
        if (!change || !pl_edit_read(edit, slot, &before))
            return pl_fail_memory(count * sizeof *members);
        if (before == count && same_members(edit->members, change->members, count))
        {
            edit->change_of_slot[slot] = 0;
            --edit->change_count;
        }
        return PLIANT_OK;
    }
    if (!pl_edit_read(edit, slot, &before))
        return pl_fail_memory(count * sizeof *members);
    if (before == count && same_members(edit->members, members, count))
        return PLIANT_OK;
    return put(edit, slot, members, count);
}

pl_status pl_edit_put(pl_edit* edit, uint32_t slot, const pl_member* members, uint32_t count)
{
    PL_TRY(check_members(edit, slot, members, count));
    return put(edit, slot, members, count);
}

pl_status pl_edit_leave(pl_edit* edit, uint32_t slot)
{
    pl_change* change = pl_edit_change(edit, slot);
    if (!change)
        return pl_fail_memory(sizeof *change);
    change->count = 0;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ the end */

static void count_memberships(pl_body* body)
{
    uint64_t total = 0;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        total += body->chunks[c].member_count;
    body->level_memberships[0] = total;
    if (body->particles.count)
        body->overlap = (double)total / body->particles.count;
}

static pl_status finish(pl_edit* edit, uint8_t* chunks, uint8_t* clusters)
{
    pl_body* body = edit->body;
    PL_TRY(pl_edit_build(edit, chunks, clusters));
    count_memberships(body);
    PL_TRY(pl_edit_relink(edit));
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        body->clusters.changed[c] |= clusters[c];
    for (uint32_t c = 0; c < edit->more_chunk_count; ++c)
        chunks[c] |= edit->more_chunks[c];
    for (uint32_t c = 0; c < edit->more_cluster_count; ++c)
        clusters[c] |= edit->more_clusters[c];
    PL_TRY(pl_rest_refresh(body, chunks, clusters));
    pl_memberships_changed(body);
    return PLIANT_OK;
}

void pl_edit_refresh(pl_edit* edit, const uint8_t* chunks, const uint8_t* clusters)
{
    edit->more_chunks = chunks;
    edit->more_chunk_count = edit->body->chunk_count;
    edit->more_clusters = clusters;
    edit->more_cluster_count = edit->body->level_begin[1];
}

pl_status pl_edit_end(pl_edit* edit, uint64_t* updates)
{
    pl_body* body = edit->body;
    pl_status status = PLIANT_OK;
    if (edit->change_count)
    {
        uint8_t* chunks = PL_NEW(uint8_t, body->chunk_count);
        uint8_t* clusters = PL_NEW(uint8_t, body->clusters.count);
        status = chunks && clusters ? finish(edit, chunks, clusters)
                                    : pl_fail_memory(body->clusters.count);
        pl_free(chunks);
        pl_free(clusters);
    }
    else
        pl_edit_undo_room(edit); /* clusters that nobody joined */
    if (updates)
        *updates = edit->updates;
    edit_free(edit);
    return status;
}

pl_body* pl_edit_body(const pl_edit* edit)
{
    return edit->body;
}
