// SPDX-License-Identifier: GPL-3.0-or-later
/* A cell map of a mesh's inside. A query takes tens of nanoseconds; a winding number takes
 * microseconds. */
#ifndef PL_GEOMETRY_INSIDE_H
#define PL_GEOMETRY_INSIDE_H

#include "base/parallel.h"
#include "geometry/cell_hash.h"
#include "geometry/mesh.h"

#define PL_INSIDE_SIDE 8 /* cells along a block's edge */
#define PL_INSIDE_CELLS (PL_INSIDE_SIDE * PL_INSIDE_SIDE * PL_INSIDE_SIDE)

/* Kinds of cells. PL_CELL_SURFACE + i: cell i of the block's cells with triangles. */
enum
{
    PL_CELL_OUT,
    PL_CELL_IN,
    PL_CELL_UNDECIDED, /* near the rim of a hole: queries evaluate the winding number */
    PL_CELL_SURFACE
};

typedef struct pl_inside_block
{
    int32_t x, y, z; /* in blocks from the map's origin */
    uint8_t uniform; /* if cells is NULL: the kind of all of them */
    uint32_t surface_count;
    uint16_t* cells;     /* PL_INSIDE_CELLS, x fastest; owns the memory of the next arrays */
    float* winding;      /* of each surface cell, at its reference point */
    uint32_t* begin;     /* surface_count + 1: the triangles that touch each surface cell, */
    uint32_t* triangles; /* in tree order */
} pl_inside_block;

/* Blocks that are completely outside are not stored. */
typedef struct pl_inside
{
    const pl_mesh* mesh;
    vec3 origin;
    double cell, block; /* lengths */
    uint32_t block_count;
    size_t capacity;
    pl_inside_block* blocks;
    uint32_t* table; /* hash table of block numbers + 1, by coordinates */
    uint32_t table_mask;
    uint64_t cells_in, cells_surface, cells_undecided;
} pl_inside;

/* Freed by pl_inside_free in every case. */
pl_status pl_inside_init(pl_inside* map, const pl_mesh* mesh, double cell, pl_pool* pool,
                         pl_task* task);
void pl_inside_free(pl_inside* map);

bool pl_inside_at(const pl_inside* map, vec3 point);
/* The same for a point in a known cell. */
bool pl_inside_cell(const pl_inside* map, const pl_inside_block* block, uint32_t cell, vec3 point);
/* The block that holds a point, and the point's cell in it; NULL: outside. */
const pl_inside_block* pl_inside_find(const pl_inside* map, vec3 point, uint32_t* cell);
static inline uint32_t pl_inside_kind(const pl_inside_block* block, uint32_t cell)
{
    return block->cells ? PL_MIN(block->cells[cell], PL_CELL_SURFACE) : block->uniform;
}
/* The lower corner of a block's cell. */
vec3 pl_inside_corner(const pl_inside* map, const pl_inside_block* block, uint32_t cell);

#endif
