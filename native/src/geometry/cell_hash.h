// SPDX-License-Identifier: GPL-3.0-or-later
/* A hash of three cell coordinates, for sparse grids. */
#ifndef PL_GEOMETRY_CELL_HASH_H
#define PL_GEOMETRY_CELL_HASH_H

#include <stdint.h>

static inline uint32_t pl_hash_cell(int32_t x, int32_t y, int32_t z)
{
    uint64_t h = (uint32_t)x * 0x9e3779b97f4a7c15ull ^ (uint32_t)y * 0xc2b2ae3d27d4eb4full ^
                 (uint32_t)z * 0x165667b19e3779f9ull;
    return (uint32_t)((h ^ h >> 29) * 0xbf58476d1ce4e5b9ull >> 32);
}

#endif
