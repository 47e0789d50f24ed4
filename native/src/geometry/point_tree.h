// SPDX-License-Identifier: GPL-3.0-or-later
/* Nearest-neighbour queries by a balanced k-d tree (Bentley 1975). A grid would be slow for
 * outliers, coincident points and queries far from all points. */
#ifndef PL_GEOMETRY_POINT_TREE_H
#define PL_GEOMETRY_POINT_TREE_H

#include "base/core.h"
#include "base/math3.h"

typedef struct pl_nearest_point
{
    double squared_distance;
    uint32_t index;
} pl_nearest_point;

typedef struct pl_point_tree pl_point_tree;

/* NULL when out of memory. Points are copied and must be finite, count at least 1. */
pl_point_tree* pl_point_tree_create(uint32_t count, const vec3* points);
void pl_point_tree_destroy(pl_point_tree* tree);

/* The nearest points, at most "most" (1 or more), with a squared distance of at most "within", by
 * ascending distance and index. Returns their number. Thread-safe. */
uint32_t pl_point_tree_query(const pl_point_tree* tree, vec3 position, double within, uint32_t most,
                             pl_nearest_point* found);

#endif
