// SPDX-License-Identifier: GPL-3.0-or-later
/* The closed parts of a mesh, each made watertight. Used by pressure_setup.c only. */
#ifndef PL_DYNAMICS_PRESSURE_SURFACE_H
#define PL_DYNAMICS_PRESSURE_SURFACE_H

#include "geometry/mesh.h"

typedef struct pl_surface
{
    uint32_t shell_count, vertex_count, triangle_count;
    vec3* vertices;      /* used ones only, none twice at one place */
    uint32_t* triangles; /* 3 each, by shell, facing outward */
    uint32_t* shell;     /* of each triangle */
    double* volume;      /* of each shell, positive */
} pl_surface;

/* Shells that enclose a volume; their holes, where they are small, are closed by fans.
 * PLIANT_ERROR_MESH if there is none. Freed by pl_surface_free in every case. */
pl_status pl_surface_init(pl_surface* surface, const pl_mesh* mesh);
/* Leaves out vertices that no triangle uses; numbers the others in order of use, so that they too
 * are in the order of their shells. False: out of memory. */
bool pl_surface_renumber(pl_surface* surface);
/* Merges vertices that lie in cells of this size, where that saves something and keeps the volumes;
 * "volume" stays that of the mesh. */
pl_status pl_surface_coarsen(pl_surface* surface, double size);
void pl_surface_free(pl_surface* surface);

#endif
