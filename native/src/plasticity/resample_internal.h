// SPDX-License-Identifier: GPL-3.0-or-later
/* Shared by resample.c, which divides particles, and merge.c, which merges them. */
#ifndef PL_PLASTICITY_RESAMPLE_INTERNAL_H
#define PL_PLASTICITY_RESAMPLE_INTERNAL_H

#include "base/eigen.h"
#include "body/edit/edit.h"

/* The material that a particle represents: a box along the axes of F P F^T, with P its piece. */
typedef struct pl_extent
{
    double length[3]; /* in spacings */
    vec3 axis[3];
    int longest, shortest;
} pl_extent;

/* The change that a particle undergoes in this frame. */
enum
{
    PL_DIVIDED = 1,
    PL_MERGED = 2 /* plus the index of its pair */
};

typedef struct pl_resampling
{
    pl_body* body;
    float* f;           /* 9 by slot: the blended deformation from the body's rest shape */
    float* strain;      /* by slot */
    uint32_t* members;  /* by finest cluster */
    uint32_t* busy;     /* by id: its change in this frame, 0 for none */
    uint32_t slots;     /* before the edit */
    uint32_t ids, most; /* before the edit; and the limit */
    uint32_t first;     /* initial number of particles */
} pl_resampling;

/* Whether f can be inverted. */
bool pl_is_whole(mat3 f);
/* The extent of a particle. False: it did not flow, is held, or its F is near singular. */
bool pl_resample_box(const pl_resampling* r, uint32_t id, pl_extent* box);
/* Its piece with the box "times" as long along one axis. */
void pl_resample_stretch(const pl_resampling* r, uint32_t slot, const pl_extent* box, int axis,
                         double times, float piece[6]);

/* merge.c: a pair that is merged. */
typedef struct pl_twin
{
    double length;        /* of the thinner particle, before */
    uint32_t id[2], slot; /* slot: the one that is reused */
    uint32_t other;
    uint32_t fresh;   /* the new id */
    vec3 x[2], at, v; /* old positions; new position and velocity */
    mat3 f[2], all;   /* old deformations; the new one */
    float piece[6];
} pl_twin;

typedef struct pl_twins
{
    pl_twin* list;
    uint32_t count;
} pl_twins;

/* Finds pairs among the particles that are not busy, and adds their merges to the edit. */
pl_status pl_merge_find(pl_resampling* r, pl_edit* edit, pl_twins* pairs);
/* After the edit: places the merged particles, and stores where the material of both is. */
void pl_merge_finish(const pl_resampling* r, const pl_twins* pairs);

#endif
