// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Room for clusters and particles that an edit adds. Dead clusters are used again; when there are
 * none, an eighth more is inserted behind the finest level. A copy of a particle takes a free slot
 * of its chunk; when there is none, one of a chunk beside it, with the same rest origin, which is
 * made behind all others. So neither finest clusters nor slots ever change their numbers.
 */
#include "body/edit/edit_internal.h"
#include "body/validity.h"
#include "collision/mesh/triangle_cache.h"

#include <string.h>

/* ------------------------------------------------------------------ clusters */

static bool is_dead(const pl_body* body, uint32_t c)
{
    const pl_clusters* k = &body->clusters;
    return !(k->fade[c] > 0) && k->part_begin[c] == k->part_begin[c + 1];
}

pl_status pl_clusters_room(pl_body* body, uint32_t level, uint32_t more)
{
    uint32_t at = body->level_begin[level + 1], count = body->clusters.count;
    pl_links* links = &body->links;
    pl_proxies* proxies = &body->proxies;
    pl_level_batches_free(&links->batches);
    if (!pl_clusters_insert(&body->clusters, at, more) ||
        !pl_begins_insert(&links->by_coarse_begin, count + 1, at, more) ||
        !pl_begins_insert(&links->by_fine_begin, count + 2, at, more) ||
        (level == 0 && !pl_begins_insert(&proxies->plane_begin, at + 1, at, more)))
        return pl_fail_memory((size_t)more * 600);
    for (uint32_t i = 0; i < links->count; ++i)
    {
        links->fine[i] += links->fine[i] >= at ? more : 0;
        links->coarse[i] += links->coarse[i] >= at ? more : 0;
    }
    for (uint32_t l = level + 1; l <= body->level_count; ++l)
        body->level_begin[l] += more;
    if (level == 0 && proxies->plane_begin)
        proxies->count = at + more;
    for (uint32_t c = at; c < at + more; ++c)
        for (int j = 0; j < 3; ++j)
            body->clusters.fp[c][4 * j] = body->clusters.from_body[c][4 * j] = 1;
    pl_room_changed(body);
    return PLIANT_OK;
}

/* The half-spaces of a cluster become those of another. */
static pl_status copy_planes(pl_proxies* proxies, uint32_t from, uint32_t to)
{
    if (!proxies->plane_begin)
        return PLIANT_OK;
    uint32_t* begin = proxies->plane_begin;
    uint32_t count = begin[from + 1] - begin[from], had = begin[to + 1] - begin[to];
    uint32_t all = begin[proxies->count];
    if (!pl_grow((void**)&proxies->plane, &proxies->plane_capacity, (size_t)all + count + 1,
                 sizeof *proxies->plane))
        return pl_fail_memory((size_t)all * sizeof *proxies->plane);
    float(*plane)[4] = proxies->plane;
    memmove(plane + begin[to] + count, plane + begin[to + 1],
            (all - begin[to + 1]) * sizeof *plane);
    for (uint32_t c = to + 1; c <= proxies->count; ++c)
        begin[c] += count - had;
    for (uint32_t i = 0; i < count; ++i)
        memcpy(plane[begin[to] + i], plane[begin[from] + i], sizeof *plane);
    return PLIANT_OK;
}

pl_status pl_edit_add_cluster(pl_edit* edit, uint32_t like, uint32_t* cluster)
{
    pl_body* body = edit->body;
    uint32_t c = edit->next_dead, finest = body->level_begin[1];
    if (like >= finest || is_dead(body, like))
        return pl_fail(PLIANT_ERROR_INTERNAL, "No cluster can be like cluster %u", like);
    while (c < finest && !is_dead(body, c))
        ++c;
    edit->next_dead = c;
    if (c == finest)
        PL_TRY(pl_clusters_room(body, 0, PL_MAX(finest / 64 * 8, 8u)));
    if (!pl_grow((void**)&edit->added, &edit->added_capacity, edit->added_count + 1,
                 sizeof *edit->added))
        return pl_fail_memory(edit->added_count * sizeof *edit->added);
    PL_TRY(copy_planes(&body->proxies, like, c));
    pl_cluster_copy(&body->clusters, like, c);
    body->clusters.birth[c] = edit->now;
    edit->added[edit->added_count++] = (pl_addition){.cluster = c, .like = like};
    *cluster = c;
    return PLIANT_OK;
}

void pl_cluster_bury(pl_clusters* k, uint32_t c)
{
    k->fade[c] = k->mass[c] = k->alpha[c] = k->kappa[c] = 0;
    k->fading[c] = PL_STAYS;
    k->shape_width[c] = k->width_max[c] = k->width_rms[c] = 0;
    /* nobody fits it any more: coarser levels would go on summing what it was last */
    memset(k->sums[c], 0, sizeof k->sums[c]);
    memset(k->row[c], 0, sizeof k->row[c]);
    memset(k->limit[c], 0, sizeof k->limit[c]);
    memset(k->f[c], 0, sizeof k->f[c]);
    memset(k->x[c], 0, sizeof k->x[c]);
    memset(k->ref[c], 0, sizeof k->ref[c]);
    memset(k->limit_ref[c], 0, sizeof k->limit_ref[c]);
    for (int side = 0; side < 2; ++side)
        memset(k->lever[side][c], 0, sizeof k->lever[side][c]);
}

void pl_edit_drop_cluster(pl_edit* edit, uint32_t cluster)
{
    assert(edit->added_count && edit->added[edit->added_count - 1].cluster == cluster);
    pl_cluster_bury(&edit->body->clusters, cluster);
    --edit->added_count;
}

/* ------------------------------------------------------------------ particles */

/* Lengthens an array by slot, if there is one. */
static bool lengthen(void** array, size_t size, uint32_t slots)
{
    return !*array || pl_lengthen(array, slots, size);
}

static bool lengthen_floats(float** array, uint32_t slots)
{
    return lengthen((void**)array, sizeof **array, slots);
}

static bool lengthen_all(pl_edit* edit, uint32_t slots)
{
    pl_body* body = edit->body;
    pl_particles* p = &body->particles;
    bool fine = lengthen_floats(&p->mass, slots) && lengthen_floats(&p->norm, slots) &&
                lengthen_floats(&body->pins.frequency, slots) &&
                lengthen((void**)&p->touch, 1, slots) &&
                lengthen((void**)&p->quanta, sizeof *p->quanta, slots) &&
                lengthen((void**)&p->id, sizeof *p->id, slots) &&
                lengthen((void**)&edit->change_of_slot, sizeof *edit->change_of_slot, slots);
    for (int k = 0; k < 3; ++k)
        fine = fine && lengthen_floats(&p->x[k], slots) && lengthen_floats(&p->v[k], slots) &&
               lengthen_floats(&p->r[k], slots) && lengthen_floats(&body->pins.from[k], slots) &&
               lengthen_floats(&body->pins.to[k], slots) &&
               lengthen_floats(&body->acceleration[k], slots) &&
               lengthen_floats(&body->force[k], slots) && lengthen_floats(&body->shift[k], slots);
    return fine;
}

/* A chunk of free slots behind all others, for particles of one that is full. */
static pl_status add_chunk(pl_edit* edit, uint32_t full)
{
    pl_body* body = edit->body;
    pl_particles* p = &body->particles;
    uint32_t size = PL_CLAMP(body->chunks[full].slot_count, 128u, 256u);
    uint32_t begin = p->slot_count, end = begin + size;
    if (!lengthen((void**)&body->chunks, sizeof *body->chunks, body->chunk_count + 1) ||
        !lengthen((void**)&body->limit_sums, sizeof *body->limit_sums, body->chunk_count + 1) ||
        !lengthen_all(edit, end))
        return pl_fail_memory((size_t)end * 80);
    pl_chunk* chunk = &body->chunks[body->chunk_count];
    const pl_chunk* old = &body->chunks[full];
    *chunk = (pl_chunk){.slot_begin = begin,
                        .slot_count = size,
                        .middle_slot = begin,
                        .block_begin = PL_NEW(uint32_t, size / 8 + 1),
                        .half = pl_alloc(size / 8, sizeof *chunk->half),
                        .rows = PL_NEW(uint32_t, 0),
                        .entry_row = PL_NEW(uint16_t, 0),
                        .entry_kernel = PL_NEW(float, 0),
                        .sums = PL_NEW(float, 0)};
    memcpy(chunk->rest_origin, old->rest_origin, sizeof chunk->rest_origin);
    memcpy(chunk->pos_origin, old->pos_origin, sizeof chunk->pos_origin);
    bool fine = chunk->block_begin && chunk->half && chunk->rows && chunk->entry_row &&
                chunk->entry_kernel && chunk->sums &&
                (!body->limit_sums || (body->limit_sums[body->chunk_count] = PL_NEW(float, 0)));
    if (!fine)
    {
        pl_chunk_free(chunk);
        return pl_fail_memory(size);
    }
    for (uint32_t s = begin; s < end; ++s)
    {
        p->id[s] = PL_NO_PARTICLE;
        for (int k = 0; k < 3; ++k)
            p->x[k][s] = p->x[k][old->middle_slot], p->r[k][s] = p->r[k][old->middle_slot];
    }
    p->slot_count = edit->slot_count = end;
    ++body->chunk_count;
    pl_room_changed(body);
    return pl_triangle_cache_resize(body);
}

static uint32_t free_slot(pl_edit* edit, uint32_t index)
{
    const pl_chunk* chunk = &edit->body->chunks[index];
    const uint32_t* id = edit->body->particles.id + chunk->slot_begin;
    uint32_t at = edit->next_free[index];
    while (at < chunk->slot_count && id[at] != PL_NO_PARTICLE)
        ++at;
    edit->next_free[index] = at; /* nobody goes while an edit is made */
    return at < chunk->slot_count ? chunk->slot_begin + at : UINT32_MAX;
}

static pl_status find_slot(pl_edit* edit, uint32_t slot, uint32_t* found)
{
    pl_body* body = edit->body;
    uint32_t home = pl_chunk_of_slot(body, slot);
    *found = UINT32_MAX;
    if (!pl_grow((void**)&edit->next_free, &edit->next_free_capacity, (size_t)body->chunk_count + 1,
                 sizeof *edit->next_free) ||
        !pl_grow((void**)&edit->beside, &edit->beside_capacity, (size_t)body->chunk_count + 1,
                 sizeof *edit->beside))
        return pl_fail_memory(body->chunk_count * sizeof *edit->next_free);
    *found = free_slot(edit, home);
    if (*found != UINT32_MAX)
        return PLIANT_OK;
    uint32_t* c = &edit->beside[home]; /* those before have no room, and get none */
    for (; *c < body->chunk_count; ++*c)
        if (memcmp(body->chunks[*c].rest_origin, body->chunks[home].rest_origin,
                   sizeof body->chunks[*c].rest_origin) == 0 &&
            (*found = free_slot(edit, *c)) != UINT32_MAX)
            return PLIANT_OK;
    PL_TRY(add_chunk(edit, home));
    *found = body->chunks[body->chunk_count - 1].slot_begin;
    return PLIANT_OK;
}

static bool lengthen_ids(pl_particles* p)
{
    uint32_t count = p->id_count + PL_MAX(p->id_count / 4, 256u);
    if (p->id_count < p->id_room)
        return true;
    bool fine = lengthen((void**)&p->slot_of, sizeof *p->slot_of, count) &&
                lengthen((void**)&p->shell, sizeof *p->shell, count) &&
                lengthen((void**)&p->parent, sizeof *p->parent, count) &&
                lengthen((void**)&p->birth, sizeof *p->birth, count);
    p->id_room = fine ? count : p->id_room;
    return fine;
}

static void set_quanta(pl_body* body, uint32_t slot, uint64_t quanta)
{
    body->particles.quanta[slot] = quanta;
    body->particles.mass[slot] = (float)((double)quanta * body->mass_quantum);
}

static void copy_slot(pl_body* body, uint32_t from, uint32_t to)
{
    pl_particles* p = &body->particles;
    for (int k = 0; k < 3; ++k)
    {
        float* arrays[] = {p->x[k],          p->v[k],
                           p->r[k],          body->pins.from[k],
                           body->pins.to[k], body->acceleration[k],
                           body->force[k],   body->shift[k]};
        for (size_t i = 0; i < PL_COUNTOF(arrays); ++i)
            if (arrays[i])
                arrays[i][to] = arrays[i][from];
    }
    p->touch[to] = p->touch[from];
    if (body->pins.frequency)
        body->pins.frequency[to] = body->pins.frequency[from];
    if (body->triangle_cache_count)
        pl_triangle_cache_copy(body, from, to, pl_chunk_of_slot(body, to));
}

/* The copy, all but memberships. */
static pl_status make_copy(pl_edit* edit, uint32_t slot, uint64_t quanta, uint32_t* copy)
{
    pl_body* body = edit->body;
    pl_particles* p = &body->particles;
    if (quanta == 0 || quanta >= p->quanta[slot])
        return pl_fail(PLIANT_ERROR_INTERNAL, "Particle %u has %llu quanta and cannot give %llu",
                       p->id[slot], (unsigned long long)p->quanta[slot],
                       (unsigned long long)quanta);
    if (body->pressure)
        return pl_fail(PLIANT_ERROR_STATE,
                       "A body under pressure cannot divide its particles: it would leak");
    uint32_t to;
    PL_TRY(find_slot(edit, slot, &to));
    if (!pl_grow((void**)&edit->divisions, &edit->division_capacity, edit->division_count + 1,
                 sizeof *edit->divisions) ||
        !lengthen_ids(p))
        return pl_fail_memory((size_t)p->id_count * 20);
    edit->divisions[edit->division_count++] = (pl_division){slot, to, p->quanta[slot]};
    uint32_t id = p->id_count++;
    copy_slot(body, slot, to);
    set_quanta(body, to, quanta);
    set_quanta(body, slot, p->quanta[slot] - quanta);
    p->id[to] = id;
    p->slot_of[id] = to;
    p->shell[id] = p->shell[p->id[slot]];
    p->parent[id] = p->id[slot];
    p->birth[id] = edit->now;
    ++p->count;
    *copy = to;
    return pl_cuts_copy(body, p->id[slot], id);
}

pl_status pl_edit_divide(pl_edit* edit, uint32_t slot, uint64_t quanta, uint32_t* copy)
{
    PL_TRY(make_copy(edit, slot, quanta, copy));
    pl_change* change = pl_edit_change(edit, slot);
    if (!change)
        return pl_fail_memory(sizeof *change);
    /* the copy reads as a particle without members till now */
    return pl_edit_set(edit, *copy, change->members, change->count);
}

pl_status pl_edit_part(pl_edit* edit, uint32_t slot, uint64_t quanta, const pl_member* kept,
                       uint32_t kept_count, const pl_member* moved, uint32_t moved_count,
                       uint32_t* copy)
{
    PL_TRY(make_copy(edit, slot, quanta, copy));
    PL_TRY(pl_edit_put(edit, slot, kept, kept_count));
    return pl_edit_put(edit, *copy, moved, moved_count);
}

pl_status pl_edit_merge(pl_edit* edit, uint32_t slot, uint32_t other, const pl_member* members,
                        uint32_t count)
{
    pl_body* body = edit->body;
    pl_particles* p = &body->particles;
    if (!pl_grow((void**)&edit->mergings, &edit->merging_capacity, edit->merging_count + 1,
                 sizeof *edit->mergings) ||
        !lengthen_ids(p))
        return pl_fail_memory((size_t)p->id_count * 20);
    PL_TRY(pl_edit_set(edit, slot, members, count));
    PL_TRY(pl_edit_leave(edit, other));
    uint32_t id = p->id_count++, gone[2] = {p->id[slot], p->id[other]};
    edit->mergings[edit->merging_count++] =
        (pl_merging){slot, other, gone[0], gone[1], p->quanta[slot], p->quanta[other]};
    set_quanta(body, slot, p->quanta[slot] + p->quanta[other]);
    set_quanta(body, other, 0);
    p->id[slot] = id;
    p->id[other] = PL_NO_PARTICLE;
    p->slot_of[id] = p->slot_of[gone[0]] = p->slot_of[gone[1]] = slot;
    p->shell[id] = p->shell[gone[0]];
    p->parent[id] = gone[0];
    p->birth[id] = edit->now;
    p->norm[other] = 0;
    --p->count;
    return pl_cuts_copy(body, gone[0], id);
}

void pl_edit_moved(pl_body* body, uint32_t slot)
{
    uint32_t chunk = pl_chunk_of_slot(body, slot);
    pl_chunk_positions_changed(&body->chunks[chunk]);
    pl_triangle_cache_forget_chunk(body, chunk);
}

static void undo_mergings(pl_edit* edit)
{
    pl_body* body = edit->body;
    pl_particles* p = &body->particles;
    for (size_t i = edit->merging_count; i-- > 0;)
    {
        const pl_merging* m = &edit->mergings[i];
        set_quanta(body, m->slot, m->quanta);
        set_quanta(body, m->other, m->other_quanta);
        p->id[m->slot] = m->id, p->id[m->other] = m->other_id;
        p->slot_of[m->id] = m->slot, p->slot_of[m->other_id] = m->other;
        --p->id_count;
        ++p->count;
    }
}

void pl_edit_undo_room(pl_edit* edit)
{
    pl_body* body = edit->body;
    pl_particles* p = &body->particles;
    undo_mergings(edit); /* they come after divisions */
    for (size_t i = 0; i < edit->added_count; ++i)
        pl_cluster_bury(&body->clusters, edit->added[i].cluster);
    for (size_t i = edit->division_count; i-- > 0;)
    {
        const pl_division* d = &edit->divisions[i];
        p->id[d->copy] = PL_NO_PARTICLE;
        p->quanta[d->copy] = 0;
        p->mass[d->copy] = p->norm[d->copy] = 0;
        set_quanta(body, d->slot, d->quanta);
        --p->id_count;
        --p->count;
    }
    pl_cuts_trim(body);
}
