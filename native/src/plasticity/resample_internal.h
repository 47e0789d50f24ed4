// SPDX-License-Identifier: GPL-3.0-or-later
/* What dividing (resample.c) and merging (merge.c) particles share. */
#ifndef PL_PLASTICITY_RESAMPLE_INTERNAL_H
#define PL_PLASTICITY_RESAMPLE_INTERNAL_H

#include "base/eigen.h"
#include "body/edit/edit.h"

/* What a particle stands for, as it is now: a box along the axes of F P F^T, P its piece. */
typedef struct pl_extent
{
    double length[3]; /* in spacings */
    vec3 axis[3];
    int longest, shortest;
} pl_extent;

/* What is done to a particle in a frame. */
enum
{
    PL_DIVIDED = 1,
    PL_MERGED = 2 /* and the number of its pair */
};

typedef struct pl_resampling
{
    pl_body* body;
    float* f;           /* 9 by slot: the blended deformation from the body's rest shape */
    float* strain;      /* by slot */
    uint32_t* members;  /* by finest cluster */
    uint32_t* busy;     /* by id: what is done to it in this frame */
    uint32_t slots;     /* that there were */
    uint32_t ids, most; /* that there were, and that there may be */
    uint32_t first;     /* particles at first */
} pl_resampling;

/* Whether it can be inverted. */
bool pl_is_whole(mat3 f);
/* What a particle stands for; false: it did not flow, is held, or is too flat to say. */
bool pl_resample_box(const pl_resampling* r, uint32_t id, pl_extent* box);
/* Its piece, where the box was "times" as long along one of its axes. */
void pl_resample_stretch(const pl_resampling* r, uint32_t slot, const pl_extent* box, int axis,
                         double times, float piece[6]);

/* merge.c: two that become one. */
typedef struct pl_twin
{
    double length;        /* of the shorter, before */
    uint32_t id[2], slot; /* slot: the one that is kept */
    uint32_t other;
    uint32_t fresh;   /* the new id */
    vec3 x[2], at, v; /* where they were; where it is, and how fast */
    mat3 f[2], all;   /* their deformations and its */
    float piece[6];
} pl_twin;

typedef struct pl_twins
{
    pl_twin* list;
    uint32_t count;
} pl_twins;

/* Finds who is to be merged, of those that are not busy, and tells the edit. */
pl_status pl_merge_find(pl_resampling* r, pl_edit* edit, pl_twins* pairs);
/* When the edit has been made: moves the new particles where they belong, and remembers where the
 * material of both is. */
void pl_merge_finish(const pl_resampling* r, const pl_twins* pairs);

#endif
