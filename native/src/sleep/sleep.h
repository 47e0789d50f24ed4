// SPDX-License-Identifier: GPL-3.0-or-later
/* Sleep of bodies and of pieces of bodies. */
#ifndef PL_SLEEP_SLEEP_H
#define PL_SLEEP_SLEEP_H

#include "body/body.h"
#include "body/piece_query.h"

typedef struct pl_scene pl_scene;
typedef struct pl_substep pl_substep;

/* Called by everything that changes a body or the world around it (sleep.c). */
void pl_wake(pl_body* body);

void pl_scene_wake(pl_scene* scene);

/* sleep.c: puts bodies to sleep at the end of a frame; wakes them before the next begins. */
pl_status pl_sleep_end_frame(pl_scene* scene, double dt);

pl_status pl_sleep_begin_frame(pl_scene* scene);

/* After a body has woken: wakes the units connected with it by contact, directly or indirectly. */
pl_status pl_sleep_wake_neighbours(pl_scene* scene);

/* piece_sleep.c: pieces that sleep while their body does not. */
void pl_sleeping_pieces_free(pl_sleeping_pieces* still);
/* Makes what says who stands still, where pieces or memberships have changed. */
pl_status pl_piece_sleep_update(pl_body* body);

/* Undoes motion of sleeping particles in this substep. */
void pl_piece_sleep_hold(pl_substep* step);

/* Puts a piece to sleep, or wakes it; pl_piece_sleep_update updates the marks. */
void pl_piece_sleep(pl_body* body, uint32_t piece);

void pl_piece_wake(pl_body* body, uint32_t piece);

/* Wakes all pieces and frees the marks. */
void pl_pieces_wake(pl_body* body);

/* Wakes the pieces that contacts have hit; true if any did. */
bool pl_piece_sleep_wake_hit(pl_body* body);

#endif
