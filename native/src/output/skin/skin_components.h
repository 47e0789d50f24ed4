// SPDX-License-Identifier: GPL-3.0-or-later
/* The component of a body that each vertex of a skin follows, if several share no cluster. */
#ifndef PL_OUTPUT_SKIN_SKIN_COMPONENTS_H
#define PL_OUTPUT_SKIN_SKIN_COMPONENTS_H

#include "base/parallel.h"
#include "geometry/point_tree.h"

/* Connectivity of particles and vertices; all may be NULL and 0. */
typedef struct pl_skin_shape
{
    const uint32_t* shell; /* by particle: its component */
    const uint32_t* triangles;
    uint32_t triangle_count;
} pl_skin_shape;

typedef struct pl_skin_components
{
    uint32_t count;
    pl_point_tree** tree; /* by component: tree of its particles */
    uint32_t* begin;      /* count + 1: begin of each component's particles */
    uint32_t* particle;   /* by component, in tree order */
    uint32_t* of;         /* component of each vertex; NULL: there is only one */
} pl_skin_components;

/* "support" of the kernel. Release with pl_skin_components_free, on failure too. */
pl_status pl_skin_components_find(uint32_t particle_count, const vec3* rest, uint32_t vertex_count,
                                  const vec3* vertices, const pl_skin_shape* shape, double support,
                                  pl_pool* pool, pl_skin_components* parts);
void pl_skin_components_free(pl_skin_components* parts);

#endif
