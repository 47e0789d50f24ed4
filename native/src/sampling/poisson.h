// SPDX-License-Identifier: GPL-3.0-or-later
/* A Poisson-disk point set with a grid for distance queries (Bridson, "Fast Poisson Disk Sampling
 * in Arbitrary Dimensions", 2007, step 0). */
#ifndef PL_SAMPLING_POISSON_H
#define PL_SAMPLING_POISSON_H

#include "base/core.h"
#include "base/math3.h"

typedef struct pl_poisson
{
    double distance;
    vec3 origin;
    double cells_per_length;
    uint32_t count;
    uint32_t most; /* a caller may stop adding points beyond this number; 0: no limit */
    size_t capacity, tag_capacity;
    vec3* points;
    uint32_t* tags; /* the caller's value of each point */
    /* The grid; see poisson.c. */
    uint32_t block_count, last;
    size_t block_capacity;
    struct pl_poisson_block* blocks;
    uint32_t* table;
    uint32_t table_size;
} pl_poisson;

/* Freed by pl_poisson_free in every case. Points stay within 1e9 distances of the origin. */
pl_status pl_poisson_init(pl_poisson* grid, double distance, vec3 origin);
void pl_poisson_free(pl_poisson* grid);

static inline bool pl_poisson_full(const pl_poisson* grid)
{
    return grid->most && grid->count > grid->most;
}

/* Whether no point is closer than the grid's distance. */
bool pl_poisson_free_at(pl_poisson* grid, vec3 point);
/* Adds a point for which pl_poisson_free_at returned true. */
pl_status pl_poisson_add(pl_poisson* grid, vec3 point, uint32_t tag);
/* The nearest other point, if it is within about 1.15 distances; otherwise UINT32_MAX. */
uint32_t pl_poisson_nearest(pl_poisson* grid, uint32_t point, double* distance2);

#endif
