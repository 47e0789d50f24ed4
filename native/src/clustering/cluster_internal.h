// SPDX-License-Identifier: GPL-3.0-or-later
/* One shell's points and the centres of its clusters, during the search. */
#ifndef PL_CLUSTERING_CLUSTER_INTERNAL_H
#define PL_CLUSTERING_CLUSTER_INTERNAL_H

#include "base/parallel.h"
#include "geometry/kdtree.h"

typedef struct pl_cloud
{
    uint32_t count;
    pl_kd tree;    /* of the points */
    double* mass;  /* in tree order */
    uint32_t* id;  /* the caller's index of each point, in tree order */
    vec3* points;  /* in the order given */
    double extent; /* of the points' bounds: their diagonal */
    uint32_t clusters;
    vec3* centres;
    uint32_t* nearest; /* of each point in tree order: its cluster in k-means */
} pl_cloud;

/* Parameters and progress of the search for clusters. */
typedef struct pl_search
{
    uint32_t kernel;
    double parameter;
    uint32_t max_iterations;
    bool give_up; /* stop early if it will not converge: the caller then tries something else */
    pl_pool* pool;
    pl_task* task;
    uint32_t steps; /* so far, for the progress */
} pl_search;

/* True: cancelled. */
static inline bool pl_search_step(pl_search* search)
{
    double done = ++search->steps;
    return pl_task_step(search->task, done / (done + 60));
}

/* "which" are the caller's indices of this shell's points. Freed by pl_cloud_free in every case. */
pl_status pl_cloud_init(pl_cloud* cloud, uint32_t count, const uint32_t* which, const vec3* points,
                        const double* masses);
void pl_cloud_free(pl_cloud* cloud);

/* k-means from "clusters" seeds (fewer if there are fewer distinct points). Stops when no point
 * changes its cluster ("settled"), or after "iterations". */
pl_status pl_cloud_kmeans(pl_cloud* cloud, uint32_t clusters, uint64_t seed, uint32_t iterations,
                          pl_search* search, uint32_t* done, bool* settled);

typedef struct pl_fuzzy_result
{
    uint32_t iterations;
    uint32_t strays;
    double farthest; /* of the strays from their clusters' centres */
    bool converged;
} pl_fuzzy_result;

/* Fuzzy clustering; starts from the cloud's centres and moves them. Clusters that lose all members
 * stay empty. */
pl_status pl_cloud_fuzzy(pl_cloud* cloud, double radius, pl_search* search,
                         pl_fuzzy_result* result);

/* ------------------------------------------------------------------ over all shells */

/* The radius at which the clouds' clusters have "overlap" memberships per point, at most half the
 * number of clusters of a cloud: with more, clusters would be copies of each other. */
pl_status pl_clouds_radius(const pl_cloud* clouds, uint32_t count, double overlap, pl_pool* pool,
                           double* radius);

/* The number of clusters if their centres are "size" apart. */
pl_status pl_clouds_count(const pl_cloud* clouds, uint32_t count, double size, uint32_t* clusters);

/* The random algorithm of Bargteil and Jones 2014: the next centre is a random point that no
 * cluster contains yet. */
pl_status pl_cloud_random(pl_cloud* cloud, double radius, uint64_t seed, pl_search* search);

struct pl_clustering;
/* Writes the members of the clusters of all clouds, which together have "points" points. */
pl_status pl_clouds_members(const pl_cloud* clouds, uint32_t count, uint32_t points, double radius,
                            const pl_search* search, struct pl_clustering* out);

#endif
