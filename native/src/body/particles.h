// SPDX-License-Identifier: GPL-3.0-or-later
/* Particles: arrays over slots, and arrays by external id. */
#ifndef PL_BODY_PARTICLES_H
#define PL_BODY_PARTICLES_H

#include "base/core.h"
#include "body/resample_state.h"

#define PL_NO_PARTICLE UINT32_MAX

/* Rest positions are nearer to the rest origin, along each axis. */
#define PL_FARTHEST_REST 1e12f

/* Particles: arrays over slots. */
typedef struct pl_particles
{
    uint32_t slot_count; /* multiple of eight */
    uint32_t count;      /* particles alive */
    float *x[3], *v[3];  /* x relative to the body's origin */
    float* r[3];         /* rest, relative to the chunk's rest origin */
    float* mass;         /* 0: free slot */
    float* norm;         /* 1 / sum of fade k over the finest clusters, 0 for free slots */
    uint8_t* touch;      /* not 0: a contact with friction acted on it in the last substep */
    uint64_t* quanta;    /* the mass as a whole number of quanta */
    uint32_t* id;        /* external id, or PL_NO_PARTICLE */
    uint32_t* slot_of;   /* external id -> slot; of one that has gone, its successor's */
    uint32_t* shell;     /* by external id */
    uint32_t* parent;    /* by external id: of whom it is a copy; its own for the first ones */
    uint64_t* birth;     /* by external id: the substep that made it, 0 for the first */
    uint32_t id_count;   /* ids ever given */
    uint32_t id_room;    /* derived: ids that these have room for; 0: as many as there are */
    pl_resampled resampled;
} pl_particles;

/* Whether a particle has not been merged with another. */
static inline bool pl_lives(const pl_particles* p, uint32_t id)
{
    return p->id[p->slot_of[id]] == id;
}

/* The number of first particles, which are not copies. */
static inline uint32_t pl_first_particles(const pl_particles* p)
{
    uint32_t first = p->id_count;
    while (first > 0 && p->parent[first - 1] != first - 1)
        --first;
    return first;
}

#endif
