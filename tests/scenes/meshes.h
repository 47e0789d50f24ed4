// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Meshes for tests, benchmarks and examples, made from formulas: nothing but libc is needed.
 *
 * Closed ones are watertight, consistently oriented (normals outward) and free of coincident
 * vertices. The caller frees every mesh with scene_mesh_free. A maker that runs out of memory
 * aborts: these are not part of the library.
 */
#ifndef PLIANT_SCENE_MESHES_H
#define PLIANT_SCENE_MESHES_H

#include <stdint.h>

typedef struct scene_mesh
{
    uint32_t vertex_count;
    uint32_t triangle_count;
    float* vertices;     /* x y z each */
    uint32_t* triangles; /* 3 each */
} scene_mesh;

/* A box about zero with edges x, y, z, each face divided into "divisions" squared quads. */
scene_mesh scene_box(float x, float y, float z, uint32_t divisions);
/* 20 * 4^subdivisions triangles: 4 gives 5,120, 5 gives 20,480, 6 gives 81,920. */
scene_mesh scene_icosphere(float radius, uint32_t subdivisions);
/* Around z; 2 * around * across triangles. */
scene_mesh scene_torus(float ring_radius, float tube_radius, uint32_t around, uint32_t across);
/* Around z, capped, centred at zero. */
scene_mesh scene_cylinder(float radius, float height, uint32_t around, uint32_t along);
/* An open sheet in the xy plane, centred at zero, normals along +z. */
scene_mesh scene_sheet(float x, float y, uint32_t columns, uint32_t rows);
/* A closed, star-shaped body with a head, four legs, a tail and a rippled skin, about 2 units long.
 * 20 * 4^subdivisions triangles. */
scene_mesh scene_creature(uint32_t subdivisions);

void scene_mesh_free(scene_mesh* mesh);

/* Changes in place. */
void scene_mesh_move(scene_mesh* mesh, float x, float y, float z);
void scene_mesh_scale(scene_mesh* mesh, float x, float y, float z);
/* Turns by "angle" radians about the axis, which need not have unit length. */
void scene_mesh_turn(scene_mesh* mesh, float x, float y, float z, float angle);
/* Turns every triangle inside out, or every "every"-th only (the first is number 0). */
void scene_mesh_flip(scene_mesh* mesh, uint32_t every);
/* Takes every "every"-th triangle out: holes. */
void scene_mesh_drop(scene_mesh* mesh, uint32_t every);
/* Adds a copy of other's vertices and triangles. */
void scene_mesh_append(scene_mesh* mesh, const scene_mesh* other);
/* Gives each triangle vertices of its own: a soup of coincident vertices. */
void scene_mesh_split(scene_mesh* mesh);

#endif
