// SPDX-License-Identifier: GPL-3.0-or-later
/* Connected components of a mesh (shells, patches) and their orientation. Used by mesh.c only. */
#ifndef PL_GEOMETRY_MESH_COMPONENTS_H
#define PL_GEOMETRY_MESH_COMPONENTS_H

#include "geometry/mesh.h"

typedef struct pl_mesh_patch
{
    uint32_t shell;
    bool closed;        /* no open edge */
    bool nearly_closed; /* its holes, closed by disks, would be less than a third of its area */
    double area;
    vec3 centre;   /* centroid */
    double volume; /* signed, about the centre */
} pl_mesh_patch;

typedef struct pl_mesh_components
{
    uint32_t count;
    pl_mesh_patch* patches; /* by shell, then by first triangle */
    uint32_t* of;           /* each triangle's patch */
    uint32_t* of_shell;     /* each patch's shell */
} pl_mesh_components;

/* Finds shells and patches and orients each patch consistently. "weld" is, for each vertex, the
 * first one at its position. Sets mesh->shell and shell_count, flips triangles of the mesh. Freed
 * by pl_mesh_components_free in every case. */
pl_status pl_mesh_components_find(pl_mesh* mesh, const uint32_t* weld, pl_mesh_components* patches);
void pl_mesh_components_free(pl_mesh_components* patches);

static inline void pl_mesh_turn_triangle(pl_mesh* mesh, uint32_t t)
{
    uint32_t* v = mesh->triangles + 3 * (size_t)t;
    uint32_t swap = v[1];
    v[1] = v[2];
    v[2] = swap;
}

/* Classifies closed patches as solid, cavity or redundant; flips triangles in the mesh and in its
 * tree accordingly. */
pl_status pl_mesh_components_orient(pl_mesh* mesh, pl_mesh_components* patches);

#endif
