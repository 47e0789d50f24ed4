// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A body's fracture state: pieces, splits, and the graph of clusters that share particles. Flat
 * arrays, no logic (fracture/fracture.h).
 *
 * A piece is a connected component of the graph whose nodes are the finest clusters and whose edges
 * are shared particles. clusters.piece is the piece of a cluster; a particle is in the piece of its
 * clusters. Numbers of pieces are never reused.
 */
#ifndef PL_BODY_FRACTURE_STATE_H
#define PL_BODY_FRACTURE_STATE_H

#include "base/core.h"

#define PL_CELLS_MOST (1u << 20) /* of a pattern */

typedef struct pl_piece
{
    uint32_t parent;   /* its own number for the first ones */
    uint32_t clusters; /* that it has now; 0: it has gone into its children */
    uint64_t birth;    /* the substep that made it; 0 for the first */
    double moment;     /* the same in frames (pl_split) */
    double quiet;      /* seconds for which it has been slow (sleep/sleep.c) */
    uint32_t asleep;   /* it stands still, though its body is awake */
    uint32_t unused;
} pl_piece;

/* A cluster that was split. The plane is in the body's rest shape, relative to its rest origin. */
typedef struct pl_split
{
    double moment; /* whole frames advanced, and the part of the one under way */
    uint64_t substep;
    uint32_t cluster; /* that was split: it keeps the side that the normal points away from */
    uint32_t fresh;   /* the one that took the other side */
    float point[3], normal[3];
    float reach;          /* how far the cluster's members were from the point, at most */
    uint32_t divided_end; /* of the particles that it divided; they begin where those of the split
                              before end */
} pl_split;

/* A particle that a split divided. */
typedef struct pl_divided
{
    uint32_t particle, copy; /* external ids */
    uint32_t toward;         /* 1: the copy is on the side that the plane's normal points to */
} pl_divided;

/* A piece of one, two or three particles (fracture/small_pieces.c). */
typedef struct pl_small_piece
{
    uint32_t cluster;
    float f[9];    /* what its surface goes by, from the body's rest shape */
    float spin[3]; /* radians a second */
    float v[3];    /* velocity a substep before */
} pl_small_piece;

/* Clusters that share particles with one cluster, ascending, and how many. */
typedef struct pl_share
{
    uint32_t cluster, count;
} pl_share;

typedef struct pl_shares
{
    pl_share* items;
    uint32_t count;
    size_t capacity;
} pl_shares;

typedef struct pl_fracture
{
    pliant_fracture_desc desc;
    pl_piece* pieces;
    uint32_t piece_count; /* ever made */
    size_t piece_capacity;
    pl_split* splits;
    size_t split_count, split_capacity;
    pl_divided* divided;
    size_t divided_count, divided_capacity;
    pl_small_piece* small_pieces;
    uint32_t small_piece_count;
    size_t small_piece_capacity;
    uint64_t updates_most; /* memberships rewritten in one substep, at most */
    float* given; /* three a cell, in the body's rest shape: the caller's points of the pattern */
    uint32_t given_count; /* cells; 0: there are none, the settings count */
    /* Derived: the graph, of the memberships with this stamp (pl_stamp); 0: to be made. */
    pl_shares* shares; /* by finest cluster */
    uint32_t share_count;
    uint64_t stamp;
    /* Derived: the pattern, of the particles by external id (fracture/voronoi_cells.c). */
    uint32_t* cell;
    uint32_t cell_count; /* particles that have one; 0: there is no pattern, or it is to be made */
    size_t cell_capacity;
    uint32_t cells_made, cells_seed; /* what it was made of */
    float* cell_point;               /* as "given", of cells_made */
    size_t cell_point_capacity;
    float* overload; /* scratch, by finest cluster: stretch over what it bears */
    size_t overload_capacity;
} pl_fracture;

#endif
