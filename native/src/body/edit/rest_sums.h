// SPDX-License-Identifier: GPL-3.0-or-later
/* Sums over a chunk's members that rest centres and shapes are made of (rest.c): stateless,
 * one job a chunk. Lanes are summed apart and put together once a row. */
#ifndef PL_BODY_EDIT_REST_SUMS_H
#define PL_BODY_EDIT_REST_SUMS_H

#include "body/body.h"

/* What a row's members are summed to, weighted by m w but for the fade: p p^T about the cluster's
 * centre (xx yy zz xy yz zx); of members' places r in the body's rest shape, about a point near
 * their mean: r, r r^T (the same six), p r^T (row by row); and the largest |p|^2. */
enum
{
    PL_REST_ARR = 0,
    PL_REST_BODY = 6,
    PL_REST_SPREAD = 9,
    PL_REST_CROSS = 15,
    PL_REST_WIDEST = 24,
    PL_REST_SUMS = 25
};

/* Which of a row's sums are wanted. */
typedef enum pl_rest_want
{
    PL_REST_NONE = 0,
    PL_REST_SHAPE, /* p p^T and the largest; what else there is says nothing */
    PL_REST_ALL
} pl_rest_want;

typedef struct pl_rest_job
{
    const pl_chunk* chunk;
    const pl_particles* particles;
    /* By row. Points are relative to the chunk's rest origin. */
    const uint8_t* want;      /* a pl_rest_want */
    const float (*centre)[3]; /* of the cluster */
    const float (*body)[3];   /* of its members in the body's rest shape, nearly */
    float (*lanes)[PL_REST_SUMS][8];
    float (*sums)[PL_REST_SUMS]; /* out */
    uint8_t* own;                /* out: some member has a rest position of its own in it */
} pl_rest_job;

/* Mass and first moment of every row, about the chunk's rest origin, in double. */
typedef struct pl_rest_mass_moments
{
    const pl_chunk* chunk;
    const pl_particles* particles;
    double (*lanes)[4][8]; /* by row */
    double (*sums)[4];     /* by row; out */
} pl_rest_mass_moments;

#endif
