// SPDX-License-Identifier: GPL-3.0-or-later
/* Sets of points for the tests of clusters and levels, and what holds for every clustering. */
#ifndef PLIANT_TEST_CLOUDS_H
#define PLIANT_TEST_CLOUDS_H

#include "scenes/meshes.h"

#include <clustering/cluster.h>

typedef struct cloud
{
    uint32_t count;
    vec3* points;
    double* masses;
    uint32_t* shell; /* NULL: there are none */
} cloud;

/* A jittered grid in the unit cube, of different masses; one point along an axis: flat. */
cloud cloud_box(uint32_t x, uint32_t y, uint32_t z, uint64_t seed);
/* A published set (scene_published); without points if it is not at hand. Masses are 1. */
cloud cloud_published(const char* name);
/* About "count" points of blue noise in a closed mesh, which it takes over. Masses are 1. */
cloud cloud_sampled(scene_mesh mesh, uint32_t count);
void cloud_free(cloud* c);

/* The defaults, with a count and a radius. */
pliant_cluster_desc cloud_desc(uint32_t count, double radius);
pl_status cloud_cluster(const cloud* c, const pliant_cluster_desc* desc, pl_pool* pool,
                        pl_clustering* g);

/* Each point's kernel values, summed. Freed with free. */
double* clustering_sums(const cloud* c, const pl_clustering* g);
bool clusterings_equal(const pl_clustering* a, const pl_clustering* b);

/* Members are exactly the points within the radius, by brute force, and strays those of the nearest
 * centre; no cluster is empty, no point is left out, members ascend, values are the kernel's, and
 * normalised they divide each point's mass fairly. */
void check_clustering(const cloud* c, const pl_clustering* g, const pliant_cluster_desc* desc);
/* Centres are at their members' weighted centre of mass, within "tolerance" radii; "pulled" of them
 * may be up to a fifth of a radius off, for the sake of points that were hard to reach. */
void check_centres(const cloud* c, const pl_clustering* g, double tolerance, uint32_t pulled);

/* A progress callback that cancels when "left" calls have been made. */
typedef struct progress
{
    int left;
    double last;
    bool disordered, ordered;
} progress;
int32_t progress_count(void* user, double fraction, const char* stage);

#endif
