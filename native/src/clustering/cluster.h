// SPDX-License-Identifier: GPL-3.0-or-later
/* Clustering of points (Jones et al. 2015, section 3.3): random, k-means, fuzzy; five kernels. */
#ifndef PL_CLUSTERING_CLUSTER_H
#define PL_CLUSTERING_CLUSTER_H

#include "base/core.h"
#include "base/math3.h"
#include "base/parallel.h"

typedef struct pl_clustering
{
    uint32_t count;
    double radius;
    vec3* centres;      /* query centres */
    uint32_t* begin;    /* count + 1: members of cluster c are begin[c] .. begin[c + 1] */
    uint32_t* particle; /* of each membership, ascending within a cluster */
    float* kernel;      /* raw kernel value of each membership, positive */
    uint32_t iterations;
    bool converged;
    bool grown;      /* count and radius were raised to converge */
    uint32_t strays; /* particles outside every radius, joined to the nearest cluster */
} pl_clustering;

/* Clusters points with masses. "shell" (may be NULL) gives each point's shell: clusters have
 * members of one shell only. Deterministic for any number of threads. Errors:
 * PLIANT_ERROR_CLUSTERING, PLIANT_CANCELLED, PLIANT_ERROR_MEMORY. Freed by pl_clustering_free in
 * every case. */
pl_status pl_cluster(uint32_t count, const vec3* points, const double* masses,
                     const uint32_t* shell, const pliant_cluster_desc* desc, pl_pool* pool,
                     pl_task* task, pl_clustering* clustering);
/* The same for coarser levels: if it does not converge, only the radius grows, so that a level
 * keeps the count that follows from the level below. */
pl_status pl_cluster_level(uint32_t count, const vec3* points, const double* masses,
                           const uint32_t* shell, const pliant_cluster_desc* desc, pl_pool* pool,
                           pl_task* task, pl_clustering* clustering);
void pl_clustering_free(pl_clustering* clustering);

/* One raw kernel value at distance d. For FCM it is d^(-2/(m-1)), which normalises to equation 12
 * without the distances to the particle's other clusters. */
double pl_kernel_value(uint32_t kernel, double parameter, double d, double radius);

#endif
