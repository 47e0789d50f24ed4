// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Conservative SIMD culling: a lower bound of each candidate cluster's rank, eight particles at a
 * time (cull.simd.c). The least rank decides (sdf_query.h), so a culled cluster could not have won
 * in sdf_query.
 */
#ifndef PL_COLLISION_CLUSTER_CULL_H
#define PL_COLLISION_CLUSTER_CULL_H

#include "body/body.h"

/* A cluster for the cull, relative to its body's origin. */
typedef struct pl_cull_target
{
    float lower[3], upper[3]; /* AABB of what can be touched */
    float x[3], inverse[9], rest[3];
    float v[3], spin[3], pivot[3];
    float centre[3], radius; /* ball, in the body's rest shape; radius in the cluster's own rest
                                space */
    float own[9];            /* from the body's rest shape to the cluster's own */
    float slack, slack_own;  /* rounding of rest points, in the body's and in the own rest space */
    float slack_way;         /* the same of a path, per unit of velocity */
    bool plain;              /* "own" is the identity */
} pl_cull_target;

/* Eight particles and a cluster that survives the cull for some of them. */
typedef struct pl_cull_hit
{
    uint32_t place; /* index in the job's list */
    uint32_t row;   /* index in the output */
    uint32_t first; /* first particle */
    uint32_t bits;  /* mask of the eight */
} pl_cull_hit;

/* Particles of one cluster against clusters of another body, or of their own. */
typedef struct pl_cull_job
{
    const pl_cull_target* targets;
    const uint32_t* list; /* candidate targets */
    uint32_t list_count;
    const pl_rest_sdf* shape; /* of the targets' body */
    float dt, drift[3];
    const float* apart;   /* own piece: by target, least distance from the particle's rest position;
                             NULL: another piece */
    bool cut;             /* cuts may enlarge the shape's distances */
    uint32_t count;       /* a multiple of eight */
    const float* x[3];    /* relative to the target body's origin */
    const float* v[3];    /* */
    const float* keep;    /* largest distance that they keep from surfaces */
    const float* rest[3]; /* rest positions; if "apart" is not NULL */
    uint32_t* shown;      /* out: surviving targets */
    float* least;         /* out: lower bounds of ranks, by target and particle; infinite: none */
    float* near;          /* out: by particle, set to 1 where it may touch */
    pl_cull_hit* ones;    /* scratch: one per target and eight particles */
} pl_cull_job;

typedef struct pl_cull_kernels
{
    /* Returns how many targets survive. */
    uint32_t (*cull)(const pl_cull_job* cull);
} pl_cull_kernels;

const pl_cull_kernels* pl_cull_kernels_for(uint32_t simd);

#endif
