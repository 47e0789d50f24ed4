// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Bindings of a surface that change as the body flows: which particles each vertex follows, frame
 * by frame. Frames are looked at one after the other; what a frame's binding is does not depend on
 * which frames are asked for, nor when.
 *
 * The binding of one frame is kept, and a few of frames before it (PL_BINDING_TRACK_KEPT, evenly
 * spread). Another frame's is found by looking again at the frames from the nearest of these on. So
 * memory goes by the surface's size, not by the number of frames.
 */
#ifndef PL_OUTPUT_SKIN_BINDING_TRACK_H
#define PL_OUTPUT_SKIN_BINDING_TRACK_H

#include "output/skin/rebind.h"

enum
{
    PL_BINDING_TRACK_KEPT = 8, /* states besides the present one, at most */
    PL_BINDING_TRACK_INTERVAL =
        8 /* frames between them at first; doubled whenever there are too many */
};

/* What follows from all frames before "next". */
typedef struct pl_binding_track_state
{
    int32_t next;
    uint32_t changes;        /* frames after which vertices followed others than before */
    pl_skin_binding binding; /* nothing before the first change */
    float* strain; /* by particle: what had flowed when vertices last turned to others; NULL: 0 */
    uint64_t hash; /* of frame next - 1, as it was told */
} pl_binding_track_state;

typedef struct pl_binding_track
{
    pl_skin_binding rest; /* until the first change */
    double spacing;
    int32_t first;
    uint32_t particles; /* of strains; 0: not known yet */
    pl_binding_track_state now;
    pl_binding_track_state kept[PL_BINDING_TRACK_KEPT]; /* by rising frame */
    uint32_t kept_count;
    int32_t interval; /* frames between those that are kept */
} pl_binding_track;

/* Takes a binding, made at rest. */
void pl_binding_track_begin(pl_binding_track* track, pl_skin_binding* rest, double spacing,
                            int32_t first_frame);
void pl_binding_track_free(pl_binding_track* track);
/* Forgets all frames. */
void pl_binding_track_restart(pl_binding_track* track);
/* Goes to the latest state at or before a frame that is known: track->now.next becomes that. */
pl_status pl_binding_track_seek(pl_binding_track* track, int32_t frame);
/* Forgets the present state, and those after it: the frames they were made of are others now. */
void pl_binding_track_forget(pl_binding_track* track);
/* Looks at frame track->now.next; "hash" tells it from others in its place. On failure it was not
 * looked at. */
pl_status pl_binding_track_add_frame(pl_binding_track* track, const pl_flow_frame* frame,
                                     uint64_t hash, pl_pool* pool);
/* The binding of frame track->now.next. Valid until the next call. */
const pl_skin_binding* pl_binding_track_binding(const pl_binding_track* track);

#endif
