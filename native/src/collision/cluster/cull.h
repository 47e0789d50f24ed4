// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which clusters may have a say in whether a particle touches, eight particles at a time
 * (cull.simd.c). The least rank decides (sdf_query.h): here one learns in floats what it is at
 * least, so that most clusters need not be asked at all. What is left out would not have been
 * heard.
 */
#ifndef PL_COLLISION_CLUSTER_CULL_H
#define PL_COLLISION_CLUSTER_CULL_H

#include "body/body.h"

/* A cluster as it is looked at, in the world relative to its body's origin. */
typedef struct pl_cull_target
{
    float lower[3], upper[3]; /* around what may be touched of it */
    float x[3], inverse[9], rest[3];
    float v[3], spin[3], pivot[3];
    float centre[3], radius; /* of its ball, in the body's rest shape; the radius as "own" has it */
    float own[9];            /* from there to where the ball is round */
    float slack, slack_own;  /* rounding of rest points: lengths there, and as "own" has them */
    float slack_way;         /* the same of a path, for each unit of its velocities */
    bool plain;              /* "own" is the identity */
} pl_cull_target;

/* Eight particles and a cluster that something may come of. */
typedef struct pl_cull_hit
{
    uint32_t place; /* of the cluster in the job's list, */
    uint32_t row;   /* and in that of those that are shown */
    uint32_t first; /* of the particles, */
    uint32_t bits;  /* and which of the eight these are */
} pl_cull_hit;

/* Particles of one cluster and clusters of another, or of their own, body. */
typedef struct pl_cull_job
{
    const pl_cull_target* targets;
    const uint32_t* list; /* which of these are looked at */
    uint32_t list_count;
    const pl_rest_sdf* shape; /* of the targets' body */
    float dt, drift[3];
    const float* apart;   /* of their own piece: by target, at least so far from their own place;
                             NULL: they are of another */
    bool cut;             /* cuts may make distances larger than those of the shape */
    uint32_t count;       /* a multiple of eight */
    const float* x[3];    /* relative to the target body's origin */
    const float* v[3];    /* */
    const float* keep;    /* the most that they keep from surfaces */
    const float* rest[3]; /* their own place; where "apart" is not NULL */
    uint32_t* shown;      /* out: the targets that something may come of, */
    float* least;         /* the least rank that may, by these and particles; infinite: none, */
    float* near;          /* and by particle: set to 1 where it may touch */
    pl_cull_hit* ones;    /* scratch: for each target and eight particles */
} pl_cull_job;

typedef struct pl_cull_kernels
{
    /* Returns how many targets are shown. */
    uint32_t (*cull)(const pl_cull_job* cull);
} pl_cull_kernels;

const pl_cull_kernels* pl_cull_kernels_for(uint32_t simd);

#endif
