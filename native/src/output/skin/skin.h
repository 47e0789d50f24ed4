// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From particles to mesh vertices. A vertex at rest V follows its nearest particles j with a smooth
 * compact kernel phi_j (sum 1) and their local deformation F_j (the blend of their clusters'
 * gradients):   V' = sum_j phi_j (x_j + F_j (V - r_j)).
 * Affine motions are reproduced exactly, and since phi is continuous in V, neighbours never tear
 * apart.
 */
#ifndef PL_OUTPUT_SKIN_SKIN_H
#define PL_OUTPUT_SKIN_SKIN_H

#include "base/core.h"
#include "base/math3.h"
#include "base/parallel.h"
#include "geometry/point_tree.h"
#include "output/skin/skin_components.h"

#define PL_SKIN_ENTRIES 64  /* at most, for a vertex at rest */
#define PL_SKIN_SUPPORT 2.0 /* of the kernel, in spacings */

typedef struct pl_skin_binding
{
    uint32_t vertex_count;
    uint32_t* begin;    /* vertex_count + 1 */
    uint32_t* particle; /* external ids */
    float* weight;      /* phi */
    float* offset;      /* 3 for each entry: V - r_j */
    float* normals;     /* at rest, or NULL */
} pl_skin_binding;

/* Binds vertices (relative to the same origin as rest) to particles. "radius" 0: from the spacing;
 * every vertex gets at least one particle, however far away. Deterministic. */
pl_status pl_skin_bind(uint32_t particle_count, const vec3* rest, double spacing, double radius,
                       uint32_t vertex_count, const vec3* vertices, const float* normals,
                       pl_pool* pool, pl_skin_binding* binding);
/* The same for particles in several components: a vertex follows one of them (skin_components.c).
 */
pl_status pl_skin_bind_shape(uint32_t particle_count, const vec3* rest, double spacing,
                             double radius, uint32_t vertex_count, const vec3* vertices,
                             const float* normals, const pl_skin_shape* shape, pl_pool* pool,
                             pl_skin_binding* binding);
/* Allocates a zeroed binding. */
pl_status pl_skin_binding_room(uint32_t vertices, uint64_t entries, bool normals,
                               pl_skin_binding* out);
void pl_skin_binding_free(pl_skin_binding* binding);

/* The candidate particles of a vertex, nearest first, one more than the limit if there are more,
 * and the square of the kernel's support, which is "support" at normal density. */
uint32_t pl_skin_support(const pl_point_tree* tree, double support, vec3 vertex,
                         pl_nearest_point near[PL_SKIN_ENTRIES + 1], double* squared);

/* Applies a binding. Particle arrays are by external id: x (3 floats each, relative to some
 * origin), f (9 floats each), v (3 floats each; may be NULL if velocities is). Outputs are relative
 * to the same origin; any may be NULL. Vertex velocity is sum phi_j (v_j + G_j (V - r_j)), with G_j
 * the particle's rate of deformation where "g" (9 floats each) is given, otherwise without that
 * term. Normals map with the cofactor of the blended F and are normalised. */
void pl_skin_apply(const pl_skin_binding* binding, const float* x, const float* f, const float* v,
                   const float* g, pl_pool* pool, float* vertices, float* normals,
                   float* velocities);

#endif
