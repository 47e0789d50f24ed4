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
    /* Vertices in the world. The tree is built from those at rest, once: a restored collider gets
     * the same tree, and so the same bits, wherever its vertices are by then. */
    vec3 *rest, *from, *to;
    /* Derived. Its boxes hold the triangles over the whole frame, from and to. */
    pl_bvh* tree;
    bool moved;      /* since the boxes were made */
    bool still;      /* in this frame; known when the boxes were made */
    double farthest; /* that a vertex goes in this frame */
    uint64_t epoch;  /* of the boxes */
    bool closed;     /* every edge has two triangles, one on each side */
} pl_mesh_collider;

static inline bool pl_shape_is_mesh(uint32_t shape)
{
    return shape == PLIANT_SHAPE_MESH || shape == PLIANT_SHAPE_SHELL;
}

/* Checks and copies. NULL origin: the world's zero. */
pl_status pl_mesh_collider_create(const pliant_mesh_desc* desc, pl_mesh_collider** mesh);
pl_status pl_mesh_collider_set(pl_mesh_collider* mesh, uint32_t vertex_count,
                               const double origin[3], const float* vertices);
/* Whether what was read from a saved block can be used. */
bool pl_mesh_collider_fits(const pl_mesh_collider* mesh);
/* The tree, from the rest vertices. */
pl_status pl_mesh_collider_build(pl_mesh_collider* mesh);
void pl_mesh_collider_free(pl_mesh_collider* mesh);

/* Before the substeps of a frame, and after its last one. */
void pl_mesh_collider_refit(pl_mesh_collider* mesh);
void pl_mesh_collider_finish(pl_mesh_collider* mesh);

#endif
