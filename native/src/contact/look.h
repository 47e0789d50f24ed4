// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which clusters may have a say in whether a particle touches, eight particles at a time
 * (look.simd.c). The least rank decides (sight.h): here one learns in floats what it is at least,
 * so that most clusters need not be asked at all. What is left out would not have been heard.
 */
#ifndef PL_CONTACT_LOOK_H
#define PL_CONTACT_LOOK_H

#include "../state.h"

/* A cluster as it is looked at, in the world relative to its body's origin. */
typedef struct pl_look_target
{
    float lower[3], upper[3]; /* around what may be touched of it */
    float x[3], inverse[9], rest[3];
    float v[3], spin[3], pivot[3];
    float centre[3], radius; /* of its ball, in the body's rest shape; the radius as "own" has it */
    float own[9];            /* from there to where the ball is round */
    float slack, slack_own;  /* rounding of rest points: lengths there, and as "own" has them */
    float slack_way;         /* the same of a path, for each unit of its velocities */
    bool plain;              /* "own" is the identity */
} pl_look_target;

/* Particles of one cluster and a cluster of another, or of their own, body. */
typedef struct pl_look_job
{
    const pl_look_target* target;
    const pl_rest_shape* shape; /* of the target's body */
    float dt, drift[3];
    float apart; /* of their own piece: at least so far from their own place; below 0: of another */
    bool cut;    /* cuts may make distances larger than those of the shape */
    uint32_t count;       /* a multiple of eight */
    const float* x[3];    /* relative to the target body's origin */
    const float* v[3];    /* */
    const float* keep;    /* the most that they keep from surfaces */
    const float* rest[3]; /* their own place; where "apart" is not below 0 */
    float* least;         /* out: the least rank that may come of it; infinite: none */
    uint8_t* near;        /* by eight of them: bits are added where it may touch */
} pl_look_job;

typedef struct pl_look_kernels
{
    /* False if nothing may come of it for any of them: "least" is not filled then. */
    bool (*look)(const pl_look_job* look);
} pl_look_kernels;

const pl_look_kernels* pl_look_kernels_for(uint32_t simd);

#endif
