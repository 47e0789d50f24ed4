// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Surface bindings that change as the body flows, frame by frame. Frames are processed in order; a
 * frame's binding does not depend on which frames are requested, nor when.
 *
 * The current binding is kept, with up to PL_BINDING_TRACK_KEPT evenly spaced earlier states. Any
 * other frame is recomputed from the nearest state before it. So memory grows with the surface, not
 * with the number of frames.
 */
#ifndef PL_OUTPUT_SKIN_BINDING_TRACK_H
#define PL_OUTPUT_SKIN_BINDING_TRACK_H

#include "output/skin/rebind.h"

enum
{
    PL_BINDING_TRACK_KEPT = 8,    /* most kept states, besides the current one */
    PL_BINDING_TRACK_INTERVAL = 8 /* initial interval in frames; doubled when there are too many */
};

/* State after all frames before "next". */
typedef struct pl_binding_track_state
{
    int32_t next;
    uint32_t changes;        /* number of frames that changed the binding */
    pl_skin_binding binding; /* empty before the first change */
    float* strain;           /* by particle: plastic strain at the last rebind; NULL: 0 */
    uint64_t hash;           /* hash of frame next - 1 */
} pl_binding_track_state;

typedef struct pl_binding_track
{
    pl_skin_binding rest; /* until the first change */
    double spacing;
    int32_t first;
    uint32_t particles; /* number of strains; 0: unknown yet */
    pl_binding_track_state now;
    pl_binding_track_state kept[PL_BINDING_TRACK_KEPT]; /* ascending frames */
    uint32_t kept_count;
    int32_t interval; /* frames between kept states */
} pl_binding_track;

/* Takes ownership of a binding made at rest. */
void pl_binding_track_begin(pl_binding_track* track, pl_skin_binding* rest, double spacing,
                            int32_t first_frame);
void pl_binding_track_free(pl_binding_track* track);
/* Resets to the first frame. */
void pl_binding_track_restart(pl_binding_track* track);
/* Restores the latest known state at or before a frame and sets track->now.next. */
pl_status pl_binding_track_seek(pl_binding_track* track, int32_t frame);
/* Drops the current and later states: their frames have changed. */
void pl_binding_track_forget(pl_binding_track* track);
/* Processes frame track->now.next; "hash" identifies its contents. A failure leaves the state
 * unchanged. */
pl_status pl_binding_track_add_frame(pl_binding_track* track, const pl_flow_frame* frame,
                                     uint64_t hash, pl_pool* pool);
/* The binding of frame track->now.next. Valid until the next call. */
const pl_skin_binding* pl_binding_track_binding(const pl_binding_track* track);

#endif
