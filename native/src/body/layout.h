// SPDX-License-Identifier: GPL-3.0-or-later
/* Converts particles and levels of clusters to the flat arrays of a step. */
#ifndef PL_BODY_LAYOUT_H
#define PL_BODY_LAYOUT_H

#include "body/body.h"
#include "clustering/hierarchy.h"

typedef struct pl_layout_input
{
    uint32_t count;
    const vec3* points;    /* relative to body->rest_origin; ids are their indices */
    const double* volumes; /* cubic metres */
    const uint32_t* shell;
    const double* density; /* kg per cubic metre, of each particle */
    double thickness;      /* of the material across a sheet of particles; 0: they fill it */
    const float *stiffness_factor, *damping_factor, *limit_factor, *yield_factor, *flow_factor,
        *hardening_factor, *toughness_factor; /* by particle, or NULL */
} pl_layout_input;

/* Fills particles, chunks, clusters, links and derived values. Set body->rest_origin, the levels'
 * kind and the material before. After a failure, call pl_body_free. */
pl_status pl_layout_build(pl_body* body, const pl_layout_input* input,
                          const pl_hierarchy* hierarchy);

/* Averages painted factors (by particle id; NULL: all 1) to the clusters of every level. */
pl_status pl_layout_average_factor(const pl_body* body, const float* by_id, float* cluster_factor);

/* The same for toughness, with the harmonic mean: a few weak members make a cluster weak. */
pl_status pl_layout_average_toughness(const pl_body* body, const float* by_id,
                                      float* cluster_factor);

/* Sets the constant moments in clusters.part. Call it when memberships, masses, normalisers or rest
 * centres change. */
pl_status pl_layout_rest_moments(pl_body* body);

/* The rest moments (mass, first moment) of one chunk's rows, with exactly the kernels' weights. */
void pl_layout_chunk_moments(const pl_chunk* chunk, const pl_particles* p, double (*sums)[4]);

/* Finds chunk->half from the chunk's entries; false when out of memory. */
bool pl_layout_halve(pl_chunk* chunk);

/* Frees the batches of nested levels; the next substep rebuilds them. */
void pl_level_batches_free(pl_level_batches* runs);
/* The arrays over links, not where they begin. */
void pl_link_items_free(pl_links* links);

/* Frees everything that a body owns, and zeroes the struct. */
void pl_body_free(pl_body* body);

/* Allocates the cluster arrays for "count" clusters; false when out of memory. */
bool pl_clusters_alloc(pl_clusters* clusters, uint32_t count, bool quadratic);
/* Inserts "more" zeroed clusters at "at"; later ones move, and callers must update stored indices.
 * On failure the contents are unchanged. */
bool pl_clusters_insert(pl_clusters* clusters, uint32_t at, uint32_t more);
/* The same for begins of lists, of which there are "count"; those inserted are empty. */
bool pl_begins_insert(uint32_t** begin, uint32_t count, uint32_t at, uint32_t more);
/* Copies all data of a cluster except its parts. */
void pl_cluster_copy(pl_clusters* clusters, uint32_t from, uint32_t to);
/* Frees a chunk's memberships and sums. */
void pl_chunk_free(pl_chunk* chunk);
bool pl_particles_alloc(pl_particles* particles, uint32_t slots, uint32_t ids);

#endif
