// SPDX-License-Identifier: GPL-3.0-or-later
/* Which part of a body each vertex of a skin follows, where the body has several that share no
 * cluster. */
#ifndef PL_OUTPUT_SKIN_SKIN_COMPONENTS_H
#define PL_OUTPUT_SKIN_SKIN_COMPONENTS_H

#include "base/parallel.h"
#include "geometry/point_tree.h"

/* How particles and vertices hang together; all may be NULL and 0. */
typedef struct pl_skin_shape
{
    const uint32_t* shell; /* of each particle: which part it is in */
    const uint32_t* triangles;
    uint32_t triangle_count;
} pl_skin_shape;

typedef struct pl_skin_components
{
    uint32_t count;
    pl_point_tree** tree; /* of each part's particles */
    uint32_t* begin;      /* count + 1: where each part's particles begin */
    uint32_t* particle;   /* by part, in the order of the tree */
    uint32_t* of;         /* the part of each vertex; NULL: there is one part */
} pl_skin_components;

/* "support" of the kernel. Freed by pl_skin_components_free in every case. */
pl_status pl_skin_components_find(uint32_t particle_count, const vec3* rest, uint32_t vertex_count,
                                  const vec3* vertices, const pl_skin_shape* shape, double support,
                                  pl_pool* pool, pl_skin_components* parts);
void pl_skin_components_free(pl_skin_components* parts);

#endif
