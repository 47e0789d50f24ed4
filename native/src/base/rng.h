// SPDX-License-Identifier: GPL-3.0-or-later
/* The random number generator PCG32 (O'Neill 2014): the same sequence on every machine. */
#ifndef PL_BASE_RNG_H
#define PL_BASE_RNG_H

#include "base/math3.h"

#include <stdint.h>

typedef struct pl_rng
{
    uint64_t state;
} pl_rng;

static inline uint32_t pl_rng_next(pl_rng* rng)
{
    uint64_t old = rng->state;
    rng->state = old * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t mixed = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t turn = (uint32_t)(old >> 59);
    return (mixed >> turn) | (mixed << ((32 - turn) & 31));
}

static inline pl_rng pl_rng_seed(uint64_t seed)
{
    pl_rng rng = {seed * 0x9e3779b97f4a7c15ull + 0x853c49e6748fea9bull};
    pl_rng_next(&rng);
    pl_rng_next(&rng);
    return rng;
}

/* In [0, 1). */
static inline double pl_rng_unit(pl_rng* rng)
{
    return pl_rng_next(rng) * (1.0 / 4294967296.0);
}

/* A point of the unit cube. C does not define the order in which arguments are evaluated, so never
 * draw twice in one expression. All samplings depend on this order. */
static inline vec3 pl_rng_unit3(pl_rng* rng)
{
    double z = pl_rng_unit(rng);
    double y = pl_rng_unit(rng);
    double x = pl_rng_unit(rng);
    return v3(x, y, z);
}

/* In [0, n), n > 0; its bias is below n / 2^32. */
static inline uint32_t pl_rng_below(pl_rng* rng, uint32_t n)
{
    return (uint32_t)(((uint64_t)pl_rng_next(rng) * n) >> 32);
}

#endif
