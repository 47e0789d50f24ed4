// SPDX-License-Identifier: GPL-3.0-or-later
/* Sleep of bodies and of pieces of bodies. */
#ifndef PL_SLEEP_SLEEP_H
#define PL_SLEEP_SLEEP_H

#include "body/body.h"

typedef struct pl_scene pl_scene;
typedef struct pl_substep pl_substep;

/* Whatever changes a body or the world around it wakes it (sleep.c). */
void pl_wake(pl_body* body);

void pl_scene_wake(pl_scene* scene);

/* sleep.c: who falls asleep at the end of a frame, and who wakes before it begins. */
pl_status pl_sleep_end_frame(pl_scene* scene, double dt);

pl_status pl_sleep_begin_frame(pl_scene* scene);

/* After a body has been woken: those that touch it, and those that touch them. */
pl_status pl_sleep_wake_neighbours(pl_scene* scene);

/* piece_sleep.c: pieces that sleep while their body does not. */
/* Makes what says who stands still, where pieces or memberships have changed. */
pl_status pl_piece_sleep_update(pl_body* body);

/* Whatever else has moved in a substep, they have not. */
void pl_piece_sleep_hold(pl_substep* step);

/* A piece stops, or goes on; pl_piece_sleep_update makes it true. */
void pl_piece_sleep(pl_body* body, uint32_t piece);

void pl_piece_wake(pl_body* body, uint32_t piece);

/* All of them at once: nobody stands still from now on. */
void pl_pieces_wake(pl_body* body);

/* Wakes those that contacts have hit; whether there are any. */
bool pl_piece_sleep_wake_hit(pl_body* body);

static inline bool pl_chunk_sleeps(const pl_body* body, uint32_t chunk)
{
    return body->sleeping_pieces.slot && body->sleeping_pieces.chunk[chunk] == PL_SLEEPS_ALL;
}

#endif
