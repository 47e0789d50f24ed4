// SPDX-License-Identifier: GPL-3.0-or-later
/* Runs a scene from its start and sums up what its shape does. */
#ifndef PLIANT_SCENE_PLAY_H
#define PLIANT_SCENE_PLAY_H

#include "scenes.h"
#include "shape.h"

typedef struct scene_played
{
    uint32_t particles, levels;
    uint32_t clusters[PLIANT_MAX_LEVELS];
    /* As scene_shape has them; "late" is the RMS over the last fifth of the time. */
    double peak, peak_detail; /* the largest */
    double late, late_swirl;
    double turned;   /* the largest angle, degrees */
    double lowest;   /* where the lowest particle ever was */
    double height;   /* at the end, from the lowest to the highest particle, over what it was */
    double farthest; /* at the end, a particle from the centre, over what it was */
    double momentum; /* the largest change of it, over the body's mass: metres a second */
    double spin;     /* the largest angular momentum, as that of a body that turns rigidly: radians
                        a second */
    scene_shape end;
} scene_played;

/* Frames are the scene's own, each a step. */
pliant_status scene_play(const scene* opened, uint32_t frames, scene_played* played);

#endif
