// SPDX-License-Identifier: GPL-3.0-or-later
/* Colliders made of triangles whose vertices are moved by the caller. */
#ifndef PL_COLLISION_MESH_MESH_COLLIDER_H
#define PL_COLLISION_MESH_MESH_COLLIDER_H

#include "collision/collider/colliders.h"
#include "geometry/bvh.h"

typedef struct pl_mesh_collider
{
    uint32_t vertex_count, triangle_count;
    uint32_t* triangles;
    /* Vertices in the world. The tree is built once, from the rest vertices: a restored collider
     * gets the same tree, and so the same bits, whatever its current vertices. */
    vec3 *rest, *from, *to;
    /* Derived. Its boxes bound the triangles over the whole frame. */
    pl_bvh* tree;
    bool moved;      /* the boxes are invalid */
    bool still;      /* no vertex moves in this frame; valid with the boxes */
    double farthest; /* largest vertex motion in this frame */
    uint64_t epoch;  /* counts refits */
    bool closed;     /* every edge has two triangles of opposite direction */
} pl_mesh_collider;

static inline bool pl_shape_is_mesh(uint32_t shape)
{
    return shape == PLIANT_SHAPE_MESH || shape == PLIANT_SHAPE_SHELL;
}

/* Validates and copies. NULL origin: zero. */
pl_status pl_mesh_collider_create(const pliant_mesh_desc* desc, pl_mesh_collider** mesh);
pl_status pl_mesh_collider_set(pl_mesh_collider* mesh, uint32_t vertex_count,
                               const double origin[3], const float* vertices);
/* Whether data from a snapshot are valid. */
bool pl_mesh_collider_fits(const pl_mesh_collider* mesh);
/* Builds the tree from the rest vertices. */
pl_status pl_mesh_collider_build(pl_mesh_collider* mesh);
void pl_mesh_collider_free(pl_mesh_collider* mesh);

/* Before the substeps of a frame, and after its last one. */
void pl_mesh_collider_refit(pl_mesh_collider* mesh);
void pl_mesh_collider_finish(pl_mesh_collider* mesh);

#endif
