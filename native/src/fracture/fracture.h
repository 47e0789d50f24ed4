// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Public functions of fracture: the stage at the end of a substep, and pieces.
 *
 *   scan ────► candidates ─────► refit, test ──► plan ─────► limits ──► split
 *   all        over their        with pending    side of     pieces     one edit
 *   clusters   threshold, most   edits           each                   for all
 *              overloaded first                  member                 splits
 */
#ifndef PL_FRACTURE_FRACTURE_H
#define PL_FRACTURE_FRACTURE_H

#include "body/body.h"

/* Sets the (already validated) settings of a body. The first call also finds its pieces. */
pl_status pl_fracture_set(pl_body* body, const pliant_fracture_desc* desc);

void pl_fracture_free(pl_body* body);

/* The pattern that the settings ask for, if it is not there (voronoi_cells.c). */
pl_status pl_voronoi_cells_ready(pl_body* body);
/* Sets the caller's own cell points, three rest-shape coordinates each. Takes ownership of
 * "points". NULL and 0: none. */
pl_status pl_voronoi_cells_give(pl_body* body, uint32_t count, float* points);
/* Number of pieces that have clusters. */
uint32_t pl_pieces_now(const pl_body* body);
/* Time at which a particle was created, in frames; 0 for the initial ones. */
double pl_fracture_birth(const pl_body* body, uint32_t id);

typedef struct pl_substep pl_substep;

/* fracture.c: at the end of a substep, with every cluster fitted. */
pl_status pl_fracture_bodies(pl_substep* step);

#endif
