// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A balanced kd-tree over points, for range and nearest queries.
 *
 * Points are stored in tree order, so that the points of a node are contiguous in memory. There are
 * 2^depth leaves of nearly equal size; leaf j holds the points from count * j / 2^depth on. So
 * nodes need no pointers: only their AABBs are stored. Unlike a grid of cells, the cost depends
 * neither on the distribution of points (thin rods, far outliers) nor on the radius of queries.
 */
#ifndef PL_GEOMETRY_KDTREE_H
#define PL_GEOMETRY_KDTREE_H

#include "base/core.h"
#include "base/math3.h"

typedef struct pl_kd_box
{
    double lower[3], upper[3];
} pl_kd_box;

typedef struct pl_kd
{
    uint32_t count;
    uint32_t depth;
    uint32_t* order;   /* the caller's index of each point in tree order */
    double *x, *y, *z; /* in tree order */
    pl_kd_box* box; /* of node i, 1 the root, 2 i and 2 i + 1 its halves; 2^(depth + 1) of them */
} pl_kd;

/* PLIANT_ERROR_MEMORY, or PLIANT_OK. Freed by pl_kd_free in every case. */
pl_status pl_kd_init(pl_kd* tree, uint32_t count, const vec3* points);
void pl_kd_free(pl_kd* tree);

/* Points with distance <= radius, in ascending tree order. At most "room" of them are written to
 * "found" (may be NULL if room is 0); the number found is returned. */
uint32_t pl_kd_within(const pl_kd* tree, vec3 centre, double radius, uint32_t* found,
                      uint32_t room);

typedef struct pl_kd_hit
{
    uint32_t place;   /* index of the nearest point in tree order */
    double distance2; /* to it, squared */
    double second2;   /* to the second nearest, squared; INFINITY if there is none */
} pl_kd_hit;

/* The two nearest points; ties go to the lowest caller's index. "guess" is any valid index in tree
 * order; one near the point is faster. */
pl_kd_hit pl_kd_nearest(const pl_kd* tree, vec3 point, uint32_t guess);

/* Permutes the indices 0 .. count in "order" into "parts" compact groups of nearly equal size:
 * group j begins at count * j / parts. Groups are in the order of a kd-tree's leaves. */
pl_status pl_kd_partition(uint32_t count, const vec3* points, uint32_t parts, uint32_t* order);

/* The squared distance. All queries use this expression, so that they round alike. */
static inline double pl_kd_distance2(const pl_kd* tree, uint32_t place, vec3 centre)
{
    double dx = tree->x[place] - centre.x, dy = tree->y[place] - centre.y,
           dz = tree->z[place] - centre.z;
    return dx * dx + dy * dy + dz * dz;
}

#endif
