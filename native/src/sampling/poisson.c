// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The background grid of Bridson 2007. A cell of width distance / sqrt(3) holds at most one point,
 * so a test of a new point searches the 5x5x5 cells around it, except the eight corners.
 *
 * Departure: the grid is sparse, for surfaces and for parts far from each other. Blocks of 8x8x8
 * cells are allocated where points are, and link to their neighbours. Each has an occupancy bit for
 * each of its cells and of a border two cells wide: 25 rows of bits, contiguous in memory, select
 * the cells to search. Nearest cells come first, since most candidates are rejected.
 */
#include "sampling/poisson.h"

#include "geometry/cell_hash.h"

#include <string.h>

enum
{
    NO_BLOCK = 0 /* block 0 stays empty: it stands for missing neighbours */
};

typedef struct pl_poisson_block
{
    int32_t place[3];
    uint32_t neighbour[27];  /* x fastest, itself in the middle */
    uint16_t taken[12 * 12]; /* a bit a cell, a word a row, border included */
    uint32_t point[512];     /* without border */
} pl_poisson_block;

/* The cells to search around a cell: rows (y, z) and a mask of their five cells, nearest first. */
typedef struct row
{
    int8_t y, z;
    uint8_t cells;
} row;

enum
{
    CORE = 14,
    ENDS = 17,
    WHOLE = 31
};

static const row rows[] = {
    {0, 0, CORE},   {-1, 0, CORE}, {1, 0, CORE},    {0, -1, CORE},  {0, 1, CORE},    {-1, -1, CORE},
    {1, -1, CORE},  {-1, 1, CORE}, {1, 1, CORE},    {0, 0, ENDS},   {-1, 0, ENDS},   {1, 0, ENDS},
    {0, -1, ENDS},  {0, 1, ENDS},  {-2, 0, WHOLE},  {2, 0, WHOLE},  {0, -2, WHOLE},  {0, 2, WHOLE},
    {-1, -1, ENDS}, {1, -1, ENDS}, {-1, 1, ENDS},   {1, 1, ENDS},   {-2, -1, WHOLE}, {2, -1, WHOLE},
    {-2, 1, WHOLE}, {2, 1, WHOLE}, {-1, -2, WHOLE}, {1, -2, WHOLE}, {-1, 2, WHOLE},  {1, 2, WHOLE},
    {-2, -2, CORE}, {2, -2, CORE}, {-2, 2, CORE},   {2, 2, CORE},
};

pl_status pl_poisson_init(pl_poisson* grid, double distance, vec3 origin)
{
    *grid = (pl_poisson){.distance = distance, .origin = origin, .table_size = 64};
    grid->cells_per_length = sqrt(3) * (1 + 1e-9) / distance;
    grid->table = PL_NEW(uint32_t, grid->table_size);
    if (!grid->table ||
        !pl_grow((void**)&grid->blocks, &grid->block_capacity, 1, sizeof(pl_poisson_block)))
        return pl_fail_memory(16 * sizeof(pl_poisson_block));
    grid->block_count = 1;
    return PLIANT_OK;
}

void pl_poisson_free(pl_poisson* grid)
{
    pl_free(grid->points);
    pl_free(grid->tags);
    pl_free(grid->blocks);
    pl_free(grid->table);
    *grid = (pl_poisson){0};
}

/* ------------------------------------------------------------------ blocks */

static uint32_t* slot_of(const pl_poisson* grid, int32_t x, int32_t y, int32_t z)
{
    uint32_t mask = grid->table_size - 1, slot = pl_hash_cell(x, y, z) & mask;
    for (; grid->table[slot] != NO_BLOCK; slot = (slot + 1) & mask)
    {
        const int32_t* place = grid->blocks[grid->table[slot]].place;
        if (place[0] == x && place[1] == y && place[2] == z)
            break;
    }
    return &grid->table[slot];
}

static uint32_t find_block(pl_poisson* grid, const int32_t at[3])
{
    const int32_t* last = grid->blocks[grid->last].place;
    if (grid->last == NO_BLOCK || last[0] != at[0] || last[1] != at[1] || last[2] != at[2])
        grid->last = *slot_of(grid, at[0], at[1], at[2]);
    return grid->last;
}

static bool grow_table(pl_poisson* grid)
{
    if (grid->table_size > 2 * (size_t)grid->block_count + 2)
        return true;
    uint32_t* fresh = PL_NEW(uint32_t, 2 * (size_t)grid->table_size);
    if (!fresh)
        return false;
    pl_free(grid->table);
    grid->table = fresh;
    grid->table_size *= 2;
    for (uint32_t i = 1; i < grid->block_count; ++i)
    {
        const int32_t* place = grid->blocks[i].place;
        *slot_of(grid, place[0], place[1], place[2]) = i;
    }
    return true;
}

/* Adds a block and links it with its neighbours; NO_BLOCK: out of memory. */
static uint32_t make_block(pl_poisson* grid, const int32_t at[3])
{
    uint32_t index = grid->block_count;
    if (!grow_table(grid) || !pl_grow((void**)&grid->blocks, &grid->block_capacity,
                                      (size_t)index + 1, sizeof(pl_poisson_block)))
        return NO_BLOCK;
    pl_poisson_block* block = &grid->blocks[index];
    memcpy(block->place, at, sizeof block->place);
    *slot_of(grid, at[0], at[1], at[2]) = index;
    ++grid->block_count;
    for (int i = 0; i < 27; ++i)
    {
        uint32_t other =
            *slot_of(grid, at[0] + i % 3 - 1, at[1] + i / 3 % 3 - 1, at[2] + i / 9 - 1);
        block->neighbour[i] = other;
        if (other != NO_BLOCK)
            grid->blocks[other].neighbour[26 - i] = index;
    }
    return grid->last = index;
}

/* ------------------------------------------------------------------ points */

static void cell_of(const pl_poisson* grid, vec3 p, int32_t block[3], int32_t cell[3])
{
    vec3 at = v3_scale(v3_sub(p, grid->origin), grid->cells_per_length);
    const double x[3] = {at.x, at.y, at.z};
    for (int i = 0; i < 3; ++i)
    {
        int32_t c = (int32_t)floor(x[i]);
        block[i] = c >> 3;
        cell[i] = c & 7;
    }
}

/* The point in a cell, which may be in the block's border. */
static uint32_t point_at(const pl_poisson* grid, const pl_poisson_block* block, int x, int y, int z)
{
    int side = ((z >> 3) + 1) * 9 + ((y >> 3) + 1) * 3 + (x >> 3) + 1;
    return grid->blocks[block->neighbour[side]].point[((z & 7) * 8 + (y & 7)) * 8 + (x & 7)];
}

/* The nearest point closer than *distance2, which is updated; with "any", the first such point
 * found. Ignores point "self" (or UINT32_MAX). */
static inline uint32_t find_nearest(const pl_poisson* grid, uint32_t index, const int32_t cell[3],
                                    vec3 p, uint32_t self, bool any, double* distance2)
{
    const pl_poisson_block* block = &grid->blocks[index];
    const uint16_t* middle = &block->taken[(cell[2] + 2) * 12 + cell[1] + 2];
    uint32_t found = UINT32_MAX;
    for (size_t r = 0; r < PL_COUNTOF(rows); ++r)
    {
        uint32_t bits = middle[rows[r].z * 12 + rows[r].y] >> cell[0] & rows[r].cells;
        for (int x = cell[0] - 2; bits; ++x, bits >>= 1)
        {
            if (!(bits & 1))
                continue;
            uint32_t other = point_at(grid, block, x, cell[1] + rows[r].y, cell[2] + rows[r].z);
            vec3 d = v3_sub(grid->points[other], p);
            double square = v3_dot(d, d);
            if (square >= *distance2 || other == self)
                continue;
            *distance2 = square;
            found = other;
            if (any)
                return found;
        }
    }
    return found;
}

bool pl_poisson_free_at(pl_poisson* grid, vec3 p)
{
    int32_t at[3], cell[3];
    double limit = grid->distance * grid->distance;
    cell_of(grid, p, at, cell);
    uint32_t index = find_block(grid, at);
    return index == NO_BLOCK ||
           find_nearest(grid, index, cell, p, UINT32_MAX, true, &limit) == UINT32_MAX;
}

/* Marks a cell in its block and in the borders of blocks within two cells, which are allocated if
 * necessary. So no point is near a missing block. */
static bool mark(pl_poisson* grid, const int32_t at[3], const int32_t cell[3])
{
    int32_t low[3], high[3], b[3];
    for (int i = 0; i < 3; ++i)
    {
        low[i] = at[i] - (cell[i] < 2);
        high[i] = at[i] + (cell[i] > 5);
    }
    for (b[2] = low[2]; b[2] <= high[2]; ++b[2])
        for (b[1] = low[1]; b[1] <= high[1]; ++b[1])
            for (b[0] = low[0]; b[0] <= high[0]; ++b[0])
            {
                uint32_t index = *slot_of(grid, b[0], b[1], b[2]);
                if (index == NO_BLOCK)
                    index = make_block(grid, b);
                if (index == NO_BLOCK)
                    return false;
                int x = cell[0] + 8 * (at[0] - b[0]) + 2, y = cell[1] + 8 * (at[1] - b[1]) + 2;
                int z = cell[2] + 8 * (at[2] - b[2]) + 2;
                grid->blocks[index].taken[z * 12 + y] |= (uint16_t)(1 << x);
            }
    return true;
}

pl_status pl_poisson_add(pl_poisson* grid, vec3 p, uint32_t tag)
{
    int32_t at[3], cell[3];
    if (!pl_grow((void**)&grid->points, &grid->capacity, (size_t)grid->count + 1, sizeof(vec3)) ||
        !pl_grow((void**)&grid->tags, &grid->tag_capacity, (size_t)grid->count + 1,
                 sizeof(uint32_t)))
        return pl_fail_memory(grid->capacity * 2 * sizeof(vec3));
    cell_of(grid, p, at, cell);
    if (!mark(grid, at, cell))
        return pl_fail_memory(grid->block_capacity * 2 * sizeof(pl_poisson_block));
    uint32_t index = find_block(grid, at);
    grid->blocks[index].point[(cell[2] * 8 + cell[1]) * 8 + cell[0]] = grid->count;
    grid->tags[grid->count] = tag;
    grid->points[grid->count++] = p;
    return PLIANT_OK;
}

uint32_t pl_poisson_nearest(pl_poisson* grid, uint32_t point, double* distance2)
{
    int32_t at[3], cell[3];
    vec3 p = grid->points[point];
    cell_of(grid, p, at, cell);
    *distance2 = INFINITY;
    return find_nearest(grid, find_block(grid, at), cell, p, point, false, distance2);
}
