// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Bindings of a surface that change as the body flows: which particles each vertex follows, frame
 * by frame. Frames are looked at one after the other; what a frame's binding is does not depend on
 * which frames are asked for, nor when.
 */
#ifndef PL_OUTPUT_TRACK_H
#define PL_OUTPUT_TRACK_H

#include "rebind.h"

typedef struct pl_track
{
    pl_skin_binding rest; /* until the first change */
    double spacing;
    int32_t first, next; /* frames before "next" were looked at */
    pl_turned* changes;  /* by rising frame */
    size_t change_count, change_room;
    pl_skin_binding now; /* with so many of the changes; with none it is not used */
    size_t now_changes;
    float* strain; /* by particle: what had flowed when vertices last turned to others */
    uint32_t particles;
} pl_track;

/* Takes a binding, made at rest. */
void pl_track_begin(pl_track* track, pl_skin_binding* rest, double spacing, int32_t first_frame);
void pl_track_free(pl_track* track);
/* Forgets all frames. */
void pl_track_restart(pl_track* track);
/* Looks at frame track->next. On failure it was not looked at. */
pl_status pl_track_look(pl_track* track, const pl_flow_frame* frame, pl_pool* pool);
/* The binding of a frame of which all before were looked at. Valid until the next call. */
pl_status pl_track_at(pl_track* track, int32_t frame, const pl_skin_binding** binding);

#endif
