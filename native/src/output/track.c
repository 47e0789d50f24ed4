// SPDX-License-Identifier: GPL-3.0-or-later
/* The changes of a surface's binding, and the binding of any frame from them. */
#include "track.h"

#include <string.h>

/* ------------------------------------------------------------------ a track */

void pl_track_begin(pl_track* track, pl_skin_binding* rest, double spacing, int32_t first_frame)
{
    *track =
        (pl_track){.rest = *rest, .spacing = spacing, .first = first_frame, .next = first_frame};
    memset(rest, 0, sizeof *rest);
}

void pl_track_restart(pl_track* track)
{
    for (size_t i = 0; i < track->change_count; ++i)
        pl_turned_free(&track->changes[i]);
    pl_skin_binding_free(&track->now);
    pl_free(track->strain);
    track->strain = NULL;
    track->particles = 0;
    track->change_count = track->now_changes = 0;
    track->next = track->first;
}

void pl_track_free(pl_track* track)
{
    pl_track_restart(track);
    pl_skin_binding_free(&track->rest);
    pl_free(track->changes);
    memset(track, 0, sizeof *track);
}

/* ------------------------------------------------------------------ the binding of a frame */

static void copy_vertex(const pl_skin_binding* from, uint32_t vertex, pl_skin_binding* to,
                        uint32_t at)
{
    uint32_t begin = from->begin[vertex], count = from->begin[vertex + 1] - begin;
    uint32_t place = to->begin[at];
    to->begin[at + 1] = place + count;
    memcpy(to->particle + place, from->particle + begin, count * sizeof(uint32_t));
    memcpy(to->weight + place, from->weight + begin, count * sizeof(float));
    memcpy(to->offset + 3 * (size_t)place, from->offset + 3 * (size_t)begin,
           3 * (size_t)count * sizeof(float));
    if (to->normals)
        memcpy(to->normals + 3 * (size_t)at, from->normals + 3 * (size_t)vertex, 12);
}

static pl_status with_change(const pl_skin_binding* from, const pl_turned* change,
                             pl_skin_binding* out)
{
    const pl_skin_binding* by = &change->binding;
    uint64_t entries = (uint64_t)from->begin[from->vertex_count] + by->begin[by->vertex_count];
    if (entries > UINT32_MAX)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "%u vertices are too many to bind at once",
                       from->vertex_count);
    PL_TRY(pl_skin_binding_room(from->vertex_count, entries, from->normals != NULL, out));
    for (uint32_t v = 0, n = 0; v < from->vertex_count; ++v)
        if (n < by->vertex_count && change->vertex[n] == v)
            copy_vertex(by, n++, out, v);
        else
            copy_vertex(from, v, out, v);
    return PLIANT_OK;
}

/* With the first "count" changes made. */
static pl_status bring_to(pl_track* track, size_t count)
{
    if (track->now_changes > count)
    {
        pl_skin_binding_free(&track->now);
        track->now_changes = 0;
    }
    while (track->now_changes < count)
    {
        const pl_skin_binding* from = track->now_changes ? &track->now : &track->rest;
        pl_skin_binding changed;
        PL_TRY(with_change(from, &track->changes[track->now_changes], &changed));
        pl_skin_binding_free(&track->now);
        track->now = changed;
        ++track->now_changes;
    }
    return PLIANT_OK;
}

pl_status pl_track_at(pl_track* track, int32_t frame, const pl_skin_binding** binding)
{
    size_t count = 0;
    while (count < track->change_count && track->changes[count].frame < frame)
        ++count;
    PL_TRY(bring_to(track, count));
    *binding = count ? &track->now : &track->rest;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ looking at a frame */

static pl_status note(pl_track* track, pl_turned* turned)
{
    if (!turned->binding.vertex_count)
        return PLIANT_OK;
    if (!pl_grow((void**)&track->changes, &track->change_room, track->change_count + 1,
                 sizeof *track->changes))
    {
        pl_turned_free(turned);
        return pl_fail_memory(sizeof *track->changes);
    }
    turned->frame = track->next;
    track->changes[track->change_count++] = *turned;
    return PLIANT_OK;
}

pl_status pl_track_look(pl_track* track, const pl_flow_frame* frame, pl_pool* pool)
{
    pl_turned turned;
    if (!track->strain)
    {
        track->strain = PL_NEW(float, frame->particles);
        track->particles = frame->particles;
        if (!track->strain)
            return pl_fail_memory(frame->particles * sizeof(float));
    }
    if (frame->particles != track->particles)
        return pl_fail(PLIANT_ERROR_STATE, "frame %d has %u particles instead of %u", track->next,
                       frame->particles, track->particles);
    PL_TRY(bring_to(track, track->change_count));
    PL_TRY(pl_rebind(track->change_count ? &track->now : &track->rest, frame, track->spacing,
                     track->strain, pool, &turned));
    PL_TRY(note(track, &turned));
    ++track->next;
    return PLIANT_OK;
}
