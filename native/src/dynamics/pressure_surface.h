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

/* Collects the shells that enclose a volume; fans close small holes. PLIANT_ERROR_MESH if there is
 * none. Freed by pl_surface_free in every case. */
pl_status pl_surface_init(pl_surface* surface, const pl_mesh* mesh);
/* Removes unused vertices and numbers the others in order of use, which sorts them by shell. False:
 * out of memory. */
bool pl_surface_renumber(pl_surface* surface);
/* Merges vertices in cells of this size, if that is worthwhile and keeps the volumes; "volume"
 * stays that of the mesh. */
pl_status pl_surface_coarsen(pl_surface* surface, double size);
void pl_surface_free(pl_surface* surface);

#endif
