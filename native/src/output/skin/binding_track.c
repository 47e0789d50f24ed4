// SPDX-License-Identifier: GPL-3.0-or-later
/* The binding of any frame, recomputed from kept states. */
#include "output/skin/binding_track.h"

#include <string.h>

/* ------------------------------------------------------------------ states */

static void state_free(pl_binding_track_state* state)
{
    pl_skin_binding_free(&state->binding);
    pl_free(state->strain);
    memset(state, 0, sizeof *state);
}

static pl_status state_copy(const pl_binding_track* track, const pl_binding_track_state* from,
                            pl_binding_track_state* to)
{
    const pl_skin_binding* b = &from->binding;
    pl_binding_track_state copy = {
        .next = from->next, .changes = from->changes, .hash = from->hash};
    if (from->strain)
    {
        copy.strain = PL_BARE(float, track->particles);
        if (!copy.strain)
            return pl_fail_memory(track->particles * sizeof(float));
        memcpy(copy.strain, from->strain, track->particles * sizeof(float));
    }
    if (from->changes)
    {
        uint32_t vertices = b->vertex_count, entries = b->begin[vertices];
        pl_status status =
            pl_skin_binding_room(vertices, entries, b->normals != NULL, &copy.binding);
        if (status != PLIANT_OK)
        {
            pl_free(copy.strain);
            return status;
        }
        memcpy(copy.binding.begin, b->begin, ((size_t)vertices + 1) * sizeof *b->begin);
        memcpy(copy.binding.particle, b->particle, entries * sizeof *b->particle);
        memcpy(copy.binding.weight, b->weight, entries * sizeof *b->weight);
        memcpy(copy.binding.offset, b->offset, 3 * (size_t)entries * sizeof *b->offset);
        if (b->normals)
            memcpy(copy.binding.normals, b->normals, 3 * (size_t)vertices * sizeof *b->normals);
    }
    *to = copy;
    return PLIANT_OK;
}

static void start(pl_binding_track* track)
{
    state_free(&track->now);
    track->now.next = track->first;
}

void pl_binding_track_begin(pl_binding_track* track, pl_skin_binding* rest, double spacing,
                            int32_t first_frame)
{
    *track = (pl_binding_track){.rest = *rest,
                                .spacing = spacing,
                                .first = first_frame,
                                .interval = PL_BINDING_TRACK_INTERVAL};
    memset(rest, 0, sizeof *rest);
    start(track);
}

void pl_binding_track_restart(pl_binding_track* track)
{
    start(track);
    while (track->kept_count)
        state_free(&track->kept[--track->kept_count]);
    track->particles = 0;
    track->interval = PL_BINDING_TRACK_INTERVAL;
}

void pl_binding_track_free(pl_binding_track* track)
{
    pl_binding_track_restart(track);
    pl_skin_binding_free(&track->rest);
    memset(track, 0, sizeof *track);
}

const pl_skin_binding* pl_binding_track_binding(const pl_binding_track* track)
{
    return track->now.changes ? &track->now.binding : &track->rest;
}

/* ------------------------------------------------------------------ which are kept */

/* Drops every other kept state. */
static void thin_out(pl_binding_track* track)
{
    uint32_t count = 0;
    track->interval *= 2;
    for (uint32_t i = 0; i < track->kept_count; ++i)
    {
        pl_binding_track_state one = track->kept[i];
        memset(&track->kept[i], 0, sizeof one);
        if ((one.next - track->first) % track->interval == 0)
            track->kept[count++] = one;
        else
            state_free(&one);
    }
    track->kept_count = count;
}

/* Keeps the current state if it is due and memory allows. */
static void keep(pl_binding_track* track)
{
    const pl_binding_track_state* now = &track->now;
    int32_t last = track->kept_count ? track->kept[track->kept_count - 1].next : track->first;
    if (now->next <= last || (now->next - track->first) % track->interval)
        return;
    if (track->kept_count == PL_BINDING_TRACK_KEPT)
        thin_out(track);
    if ((now->next - track->first) % track->interval == 0 &&
        state_copy(track, now, &track->kept[track->kept_count]) == PLIANT_OK)
        ++track->kept_count;
}

pl_status pl_binding_track_seek(pl_binding_track* track, int32_t frame)
{
    uint32_t count = track->kept_count;
    while (count && track->kept[count - 1].next > frame)
        --count;
    const pl_binding_track_state* best = count ? &track->kept[count - 1] : NULL;
    if (track->now.next <= frame && (!best || best->next <= track->now.next))
        return PLIANT_OK;
    if (!best)
    {
        start(track);
        return PLIANT_OK;
    }
    pl_binding_track_state copy;
    PL_TRY(state_copy(track, best, &copy));
    state_free(&track->now);
    track->now = copy;
    return PLIANT_OK;
}

void pl_binding_track_forget(pl_binding_track* track)
{
    while (track->kept_count && track->kept[track->kept_count - 1].next >= track->now.next)
        state_free(&track->kept[--track->kept_count]);
    start(track);
}

/* ------------------------------------------------------------------ looking at a frame */

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
    for (uint32_t n = 0; n < by->vertex_count; ++n)
        entries -= from->begin[change->vertex[n] + 1] - from->begin[change->vertex[n]];
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

/* A copy of the current strains for processing a frame. */
static pl_status strains_of(pl_binding_track* track, const pl_flow_frame* frame, float** strain)
{
    if (!track->particles)
        track->particles = frame->particles;
    if (frame->particles != track->particles)
        return pl_fail(PLIANT_ERROR_STATE, "frame %d has %u particles instead of %u",
                       track->now.next, frame->particles, track->particles);
    *strain = PL_NEW(float, frame->particles);
    if (!*strain)
        return pl_fail_memory(frame->particles * sizeof(float));
    if (track->now.strain)
        memcpy(*strain, track->now.strain, frame->particles * sizeof(float));
    return PLIANT_OK;
}

pl_status pl_binding_track_add_frame(pl_binding_track* track, const pl_flow_frame* frame,
                                     uint64_t hash, pl_pool* pool)
{
    pl_turned turned = {0};
    pl_skin_binding changed = {0};
    float* strain = NULL;
    PL_TRY(strains_of(track, frame, &strain));
    pl_status status =
        pl_rebind(pl_binding_track_binding(track), frame, track->spacing, strain, pool, &turned);
    bool any = status == PLIANT_OK && turned.binding.vertex_count > 0;
    if (any)
        status = with_change(pl_binding_track_binding(track), &turned, &changed);
    pl_turned_free(&turned);
    if (status != PLIANT_OK)
    {
        pl_free(strain);
        return status;
    }
    if (any)
    {
        pl_skin_binding_free(&track->now.binding);
        track->now.binding = changed;
        ++track->now.changes;
    }
    pl_free(track->now.strain);
    track->now.strain = strain;
    track->now.hash = hash;
    ++track->now.next;
    keep(track);
    return PLIANT_OK;
}
