// SPDX-License-Identifier: GPL-3.0-or-later
/* Mesh intake for triangle soups with any defects; inside and nearest-point queries. */
#ifndef PL_GEOMETRY_MESH_H
#define PL_GEOMETRY_MESH_H

#include "base/core.h"
#include "base/math3.h"

/* Coordinates are double, relative to the body's rest origin. */
typedef struct pl_mesh
{
    uint32_t vertex_count;   /* as given by the caller, loose ones included */
    uint32_t triangle_count; /* usable ones */
    vec3* vertices;
    uint32_t* triangles; /* 3 each, indices into vertices; oriented outward if known */
    uint32_t* shell;     /* for each triangle: its shell (triangles joined by shared or coincident
                            vertices), numbered from 0 in order of first triangle */
    uint32_t shell_count;
    uint8_t* shell_open; /* for each shell: too open to enclose a volume alone */
    uint8_t* twin;       /* for each triangle: an earlier one is the same, reversed */
    uint32_t* weld;      /* for each vertex: the first one at its position; UINT32_MAX: bad */
    uint32_t dropped_triangles; /* degenerate, duplicate, index out of range, not finite */
    uint32_t bad_vertices;      /* not finite (moved to the centre, unused) */
    vec3 lower, upper;          /* bounds of the used triangles */
    double area;
    double volume;       /* by the divergence theorem, after shells are oriented */
    bool closed;         /* no open edge */
    double extent;       /* length of the bounds' diagonal */
    struct pl_bvh* tree; /* winding numbers and nearest points; owned */
} pl_mesh;

/* Checks and copies a mesh. PLIANT_ERROR_MESH with a message if nothing is usable; the caller frees
 * it with pl_mesh_free in every case. "origin" is the rest origin chosen by the caller: vertices
 * become desc->vertices + desc->origin - origin. Without triangles, only vertices are kept (for
 * PLIANT_SAMPLE_VERTICES) and tree is NULL. */
pl_status pl_mesh_init(pl_mesh* mesh, const pliant_mesh_desc* desc, vec3 origin);
void pl_mesh_free(pl_mesh* mesh);

/* A triangle's corner (0 to 2), and its area. */
vec3 pl_mesh_corner(const pl_mesh* mesh, uint32_t triangle, int corner);
double pl_mesh_triangle_area(const pl_mesh* mesh, uint32_t triangle);

/* Generalised winding number (Jacobson et al. 2013), fast by Barill et al. 2018. "shell" restricts
 * it to one shell; UINT32_MAX: all shells. Deterministic and thread-safe. */
double pl_mesh_winding(const pl_mesh* mesh, vec3 point, uint32_t shell);
/* Inside, by |winding| > 1/2 for soups with flipped parts (see mesh.c for the rule). */
bool pl_mesh_inside(const pl_mesh* mesh, vec3 point);
/* The number that pl_mesh_inside compares with 1/2: less accurate than pl_mesh_winding and several
 * times as fast. */
double pl_mesh_insideness(const pl_mesh* mesh, vec3 point);

typedef struct pl_mesh_hit
{
    uint32_t triangle; /* UINT32_MAX: the mesh has none */
    double weights[3]; /* barycentric */
    vec3 point;
    double distance;
} pl_mesh_hit;

/* The nearest point of the surface. */
pl_mesh_hit pl_mesh_nearest(const pl_mesh* mesh, vec3 point);

#endif
