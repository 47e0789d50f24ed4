// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fracture as the rest of the library sees it: a stage at the end of a substep, and pieces.
 *
 *   scan ────► candidates ─────► refit, test ──► plan ─────► limits ──► split
 *   all        over their        as edited       who goes    pieces     one edit
 *   clusters   threshold, most   so far          where                  for all
 *              overloaded first                                         of them
 */
#ifndef PL_FRACTURE_FRACTURE_H
#define PL_FRACTURE_FRACTURE_H

#include "body/body.h"

/* Settings of a body; the first time its pieces are counted. The settings have been checked. */
pl_status pl_fracture_set(pl_body* body, const pliant_fracture_desc* desc);

void pl_fracture_free(pl_body* body);

/* The pattern that the settings ask for, if it is not there (voronoi_cells.c). */
pl_status pl_voronoi_cells_ready(pl_body* body);
/* The caller's own points of a pattern, which become the body's: three coordinates a cell, in its
 * rest shape. NULL and 0: none. */
pl_status pl_voronoi_cells_give(pl_body* body, uint32_t count, float* points);
/* Pieces that have clusters. */
uint32_t pl_pieces_now(const pl_body* body);
/* When a particle was made, in frames; 0 for the first ones. */
double pl_fracture_birth(const pl_body* body, uint32_t id);

typedef struct pl_substep pl_substep;

/* fracture.c: at the end of a substep, with every cluster fitted. */
pl_status pl_fracture_bodies(pl_substep* step);

#endif
