// SPDX-License-Identifier: GPL-3.0-or-later
/* Levels of clusters (Kaliappan and Bargteil 2020, Algorithms 1 to 3), nested or independent. */
#ifndef PL_CLUSTERING_HIERARCHY_H
#define PL_CLUSTERING_HIERARCHY_H

#include "clustering/cluster.h"

typedef struct pl_hierarchy
{
    uint32_t level_count;
    /* Finest first. For nested levels, members of level l > 0 are clusters of level l - 1, and the
     * kernel values are already normalised: each member's values sum to 1 over its clusters. */
    pl_clustering level[PLIANT_MAX_LEVELS];
    double weight[PLIANT_MAX_LEVELS]; /* normalised level weights */
} pl_hierarchy;

/* Builds the coarser levels on top of a finest clustering, which is moved into the hierarchy. */
pl_status pl_hierarchy_build(uint32_t count, const vec3* points, const double* masses,
                             const uint32_t* shell, const pliant_cluster_desc* cluster,
                             const pliant_levels_desc* levels, pl_clustering* finest, pl_pool* pool,
                             pl_task* task, pl_hierarchy* hierarchy);
void pl_hierarchy_free(pl_hierarchy* hierarchy);

/* The normalised weights of a scheme (equations 14 to 21). PLIANT_ERROR_ARGUMENT if manual weights
 * are negative, not finite or sum to 0. */
pl_status pl_level_weights(const pliant_levels_desc* levels, uint32_t count,
                           double weights[PLIANT_MAX_LEVELS]);

#endif
