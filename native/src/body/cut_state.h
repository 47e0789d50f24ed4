// SPDX-License-Identifier: GPL-3.0-or-later
/* What cuts have left of a body's material (fracture/cuts). */
#ifndef PL_BODY_CUT_STATE_H
#define PL_BODY_CUT_STATE_H

#include "base/core.h"

/* A plane that divided material while it moved, in the body's rest shape and relative to its rest
 * origin: n . r + a <= 0 is below it. */
typedef struct pl_cut_plane
{
    float plane[4];
} pl_cut_plane;

/* The side of a plane to which a particle went. */
typedef struct pl_cut
{
    uint32_t particle; /* external id */
    uint32_t side;     /* 2 plane, and 1 more above it */
    uint32_t before;   /* 1 + the particle's cut before this one, or 0 */
} pl_cut;

/* What cuts have left of a body's material (fracture/cuts/cuts.c, fracture/cuts/cracks.c). Without
 * planes it is all empty. */
typedef struct pl_cuts
{
    uint32_t plane_count, count;
    pl_cut_plane* plane;
    pl_cut* cut;
    uint32_t* last; /* by external id: 1 + its latest cut, or 0 */
    uint32_t id_count;
    size_t plane_capacity, capacity, last_capacity;
    /* What follows from it and the memberships. */
    uint32_t* piece; /* by finest cluster: the first one of what hangs together with it by shared
                        particles */
    uint32_t* side_begin; /* by finest cluster, and one more */
    uint32_t* side;       /* its sides of planes: ascending */
    uint8_t* inner;       /* and whether the plane is a slit, with both sides in its piece */
    size_t side_capacity;
    float* over;      /* by slot: how far it is across the planes of slits, from its own side;
                         -INFINITY without */
    uint8_t* ghost;   /* by slot, a pl_ghost */
    uint32_t* home;   /* by slot: the piece that it is in */
    uint32_t* anchor; /* by slot of ghosts: what they are beside, or PL_NO_PARTICLE; NULL: to be
                         found (fracture/cuts/ghosts.c) */
    uint32_t* owner;  /* by external id of first particles: the piece that has the material around
                         them */
    /* At the nodes of rest_shape (fracture/cuts/cracks.c). */
    uint32_t* nearest; /* the first particle that is nearest */
    uint32_t* other;   /* near a crack: the nearest piece that is not its own, or PL_NO_PIECE */
    float* crack;      /* and how far the crack is */
} pl_cuts;

#define PL_NO_PIECE UINT32_MAX

typedef enum pl_ghost
{
    PL_GHOST_NOT,
    PL_GHOST, /* another copy of it has the material around it: it is not there to be touched */
    PL_GHOST_POOR, /* the same, but no particle of its piece has any: they are all that shows it */
    PL_GHOST_FAR,  /* a ghost that has flowed far from those that have: it is touched again */
} pl_ghost;

#endif
