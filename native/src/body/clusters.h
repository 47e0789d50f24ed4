// SPDX-License-Identifier: GPL-3.0-or-later
/* Clusters of all levels, and the links between nested levels. */
#ifndef PL_BODY_CLUSTERS_H
#define PL_BODY_CLUSTERS_H

#include "base/core.h"
#include "body/chunk.h"

/* The direction of a cluster's fade (plasticity/fade.c). */
typedef enum pl_fading
{
    PL_STAYS = 0,
    PL_COMES, /* new: rises to 1 */
    PL_GOES   /* its rest shape has flowed too far: falls to 0, then it is dead */
} pl_fading;

/* A fading cluster below this does not flow any more, and is removed as soon as its members have
 * other clusters. */
#define PL_FADE_LEAST .05

/* Clusters: one array each, over all levels; level l is [level_begin[l], level_begin[l + 1]). */
typedef struct pl_clusters
{
    uint32_t count;
    /* Set-up; changes only when memberships do. */
    float (*centre)[3];  /* query centre at rest, relative to the body's rest origin */
    float* radius;       /* query radius */
    float (*rest)[3];    /* centre of mass at rest, relative to the body's rest origin */
    float* mass;         /* sum of m w */
    float (*arr)[6];     /* A_rr: xx yy zz xy yz zx */
    float (*arr_inv)[6]; /* its inverse, 0 along missing directions */
    uint8_t* rank;       /* directions in which the cluster has extent: 3, or 2, 1, 0 */
    float (*axis)[3];    /* rank 2: the missing direction; rank 1: the one that is there */
    float* density;      /* kg per cubic metre of the members, on average */
    float* width_rms;    /* W_c = sqrt(tr A_rr / M) */
    double* shape_width; /* S_c, which stiffness goes by (material.c); of the first rest shape */
    float* width_max;    /* largest rest distance of a member from the centre of mass */
    float* fade;         /* share of the weight that its kernel values say; 0: dead, no members */
    uint8_t* fading;     /* a pl_fading */
    /* Rest space of its own (body/edit/edit.h). Offsets p in it are G (r - in_body) for rest
     * positions r of the body, as nearly as its members allow: exactly, with G = 1 and in_body =
     * rest, until the cluster is made anew from a body that has flowed. */
    uint8_t* own;          /* some member has a rest position of its own in it */
    float (*in_body)[3];   /* centre of mass in the body's rest shape */
    float (*from_body)[9]; /* G */
    uint8_t* changed;      /* members changed since the rules of contacts were made */
    uint64_t* birth;       /* the substep that made it; 0 for the first */
    /* Painted factors, averaged over the members. */
    float *stiffness_factor, *damping_factor, *limit_factor;
    float *yield_factor, *flow_factor, *hardening_factor, *toughness_factor;
    /* Fracture (fracture_state.h). */
    uint32_t* piece;
    double* split_time; /* seconds of the scene when it was last split; 0: never */
    uint8_t* settling;  /* it was split, and its stretch has not been below the threshold since */
    uint8_t* cracked;   /* members of it were divided or left it */
    /* Plasticity. */
    float (*fp)[9];        /* F^p, det 1; the identity in coarse clusters of nested levels */
    float* plastic_strain; /* sum of all flow, as logarithmic strain: what hardens */
    /* For the current substep length. */
    float *alpha, *kappa; /* with the level's weight in them */
    float* kappa_body;    /* finest clusters: damping toward the rigid motion of the component */
    float (*energy)[3];   /* elastic energy over stiffness; what of it is flowing, times the share
                             that   flows in this substep; the yield strain */
    float (*rest_change)[9]; /* coarse clusters: what that did to their rest shape */
    float* flow_share;       /* of the strain over the yield strain: what flows in a substep */
    /* Results of the last match. A position is stored as a reference point, which is a chunk's
     * pos_origin, and a small offset from it, so that precision does not depend on the distance
     * from the body's origin: a rounding error of x_c would be a systematic force on all members.
     */
    float (*ref)[3];
    float (*limit_ref)[3]; /* of the fit that limit holds */
    /* Data of the fit at the start of the substep, for strain limiting (PL_LEVER_*), double
     * buffered: matches at the end of the substep write the other side. body->lever_side is the
     * side to read. */
    float (*lever[2])[PL_LEVER_FLOATS];
    float (*x)[3];      /* centre of mass now */
    float (*f)[9];      /* deformation gradient */
    float (*row)[16];   /* PL_ROW_*, with the contributions of coarser levels */
    float (*limit)[16]; /* strain limit: R (9), x (3), limit distance, 1; or the balancing map (12);
                           how many members were over the limit in the last place */
    float (*sums)[24];  /* moments: A_xr centred (9), x_c - ref (3), v_c (3), spin L about x_c (3),
                           mass */
    /* Quadratic goals, or NULL. */
    float (*quad_inverse)[36]; /* (sum m w q* q*^T)^-1 for width 1 and mass 1 (quadratic_rest.c) */
    float (*quad_slope)[18];   /* S in q* = q - mean - S p */
    float (*quad_thin)[18];    /* mean of p q*^T: not nil along directions that count as missing */
    float (*quad_bend)[324];   /* 18 x 18: from moments in the rest frame to the modes that goals
                                  of a material follow (quadratic_bend.c) */
    float (*quad_row)[24];
    /* Where each cluster's partial sums are, chunks ascending. */
    uint32_t* part_begin; /* count + 1 */
    pl_part* part;
} pl_clusters;

/* The clusters of a level are fitted in batches of this size: a multiple of eight that depends only
 * on their number, so that sums over batches do not depend on threads. */
static inline uint32_t pl_batch_size(uint32_t clusters)
{
    return PL_CLAMP(clusters / 32 / 32 * 32, 32u, 256u);
}

/* Nested levels before plastic flow: a batch of clusters has the role for the next coarser level
 * that a chunk of particles has for the finest. Derived from links on demand
 * (dynamics/level_batches.c), not saved. */
typedef struct pl_level_batches
{
    uint32_t count;
    uint32_t level_begin[PLIANT_MAX_LEVELS]; /* the first run of each level */
    pl_chunk* run; /* blocks, entries, rows, sums and origins; slot_begin is the first row */
    /* Their arrays, concatenated over all runs. */
    uint32_t* block_begin;
    uint32_t (*half)[2];
    uint16_t* entry_row;
    float* entry_kernel; /* u */
    uint32_t* cluster_of_row;
    float (*sums)[PL_SUM_FLOATS];
    float (*rows)[PL_ROW_FLOATS]; /* a run's copies of its coarse clusters' rows */
    /* Where coarse clusters have their sums, runs ascending. */
    uint32_t* part_begin; /* clusters.count + 1 */
    pl_part* part;
} pl_level_batches;

/* Nested levels: links from a finer cluster to a coarser one, with u, B and q (levels.simd.c). */
typedef struct pl_links
{
    uint32_t count;
    uint32_t* fine;   /* cluster index */
    uint32_t* coarse; /* cluster index */
    float* u;
    float (*b)[9];
    float (*q)[4];             /* and u once more, for kernels that load both at once */
    bool plain;                /* every b is the identity, as it is before plastic flow */
    uint32_t* by_coarse_begin; /* clusters.count + 1; links are sorted by coarse, then fine */
    uint32_t* by_fine_begin;   /* clusters.count + 1 */
    uint32_t* by_fine;         /* link indices sorted by fine, then coarse */
    pl_level_batches batches;
} pl_links;

#endif
