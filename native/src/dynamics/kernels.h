// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The kernels of a step: arrays in, arrays out, one table for each SIMD path. A pass processes one
 * chunk, a batch a run of clusters. Kernels do not depend on a scene.
 */
#ifndef PL_DYNAMICS_KERNELS_H
#define PL_DYNAMICS_KERNELS_H

#include "body/body.h"

/* Jobs of other modules. */
typedef struct pl_embedding pl_embedding;
typedef struct pl_outlier_bound pl_outlier_bound;
typedef struct pl_suspect pl_suspect;
typedef struct pl_rest_mass_moments pl_rest_mass_moments;
typedef struct pl_rest_job pl_rest_job;

/* One pass over the particles of a chunk. */
typedef struct pl_pass
{
    pl_chunk* chunk;
    pl_particles* particles;
    const pl_clusters* clusters;
    float* rows; /* scratch for the chunk's rows: pl_pass_scratch() floats */
    bool quadratic;
    float dt;
    float gravity[3];
    float turn[3], pivot[3];      /* acceleration turn x (x - pivot), on top of gravity */
    float drag;                   /* share of the velocity lost to air drag in this substep */
    const float* acceleration[3]; /* by slot, or NULL */
    const float* force[3];        /* by slot, or NULL */
    const pl_pins* pins;          /* or NULL */
    float pin_from, pin_to;       /* fractions of the frame at the substep's start and end */
    float pin_rate;               /* 1 / length of the frame */
    bool hold_all;                /* every particle follows its pin target */
    const uint8_t* still;         /* by slot: not 0 for those that stay where they are, or NULL */
    /* Strain limiting. */
    float* shift[3];     /* by slot: the correction being built */
    float relaxation;    /* omega for this substep */
    float* limit_sums;   /* the chunk's: PL_LIMIT_FLOATS for each row */
    bool last_iteration; /* of strain limiting: velocities are gathered as well */
    uint32_t finest_end; /* clusters below this are of the finest level */
    uint64_t tested, violated;
} pl_pass;

/* Whether limit_apply gathers velocities as well: the fit of a next iteration does not need them.
 */
static inline bool pl_limit_gathers(const pl_pass* pass)
{
    return pass->chunk->own_rest || pass->last_iteration || pass->quadratic;
}

/* Matching: a run of clusters. */
typedef struct pl_match_batch
{
    const pl_chunk* chunks; /* or runs of the next finer level */
    const uint32_t* part_begin;
    const pl_part* part; /* the position of each cluster's sums in them */
    pl_clusters* clusters;
    pl_chunk* run;       /* the run of these clusters for the next coarser level, or NULL */
    uint32_t begin, end; /* clusters */
    float dt;
    float beta;
    float firmness; /* how much stiffer linear maps are than the rest (material.c) */
    bool bend;      /* quadratic modes get the material's stiffness instead of beta */
    uint32_t goal, rotation;
    bool sum_parts; /* the moments come from chunks (otherwise clusters->sums is set already) */
    bool finest;    /* rows carry the fade */
    float gamma;    /* > 0: clusters->limit is set for strain limiting, too */
    uint32_t lever_side; /* side of clusters->lever to write (match) or to use (limit_balance) */
    /* Plasticity (plastic.h). */
    bool plastic; /* some F^p may not be the identity */
    bool flow;    /* at the substep's end: F^p flows before goals are computed */
    float yield, hardening, plastic_limit; /* limit 0: none */
} pl_match_batch;

typedef struct pl_kernels
{
    /* Blends the clusters' goals, integrates, and sums the new moments into chunk->sums. */
    void (*advance)(pl_pass* pass);
    /* Sums the moments of the current positions and velocities. */
    void (*gather)(pl_pass* pass);
    /* Corrects the sums where particles were moved; chunk->moments says whether that was
     * done, or all was summed again because it was as much work. */
    void (*update_moments)(pl_pass* pass, const pl_moved_blocks* moved);
    /* Fits clusters to their moments: F, goal transforms, rows. */
    void (*match)(const pl_match_batch* batch);
    /* Fits only clusters->limit, for strain limiting, from the chunks' sums. */
    void (*match_limit)(const pl_match_batch* batch);
    /* Nested levels: moments of coarse clusters [begin, end) from those of their fine clusters. */
    void (*levels_sum)(const pl_links* links, pl_clusters* clusters, uint32_t begin, uint32_t end);
    /* Adds the rows of coarse clusters to those of their fine clusters [begin, end). */
    void (*levels_spread)(const pl_links* links, pl_clusters* clusters, uint32_t begin,
                          uint32_t end);
    /* The same for the clusters of a run; "rows" is scratch for its copies of rows. */
    void (*run_spread)(const pl_chunk* run, float* rows, pl_clusters* clusters, uint32_t begin,
                       uint32_t end);
    /* The iterations of an embedding. */
    void (*embed)(pl_embedding* job);
    /* Rest moments, from which rest centres and rest shapes follow. */
    void (*rest_mass_moments)(const pl_rest_mass_moments* job);
    void (*rest_second_moments)(const pl_rest_job* job);
    /* Finds the entries of a chunk with members that may be too far from their clusters, ascending.
     * "found" has room for all; returns the number. */
    uint32_t (*outliers)(const pl_chunk* chunk, const pl_particles* particles,
                         const pl_outlier_bound* rows, pl_suspect* found);
    /* Corrections of violated members into pass->shift and pass->limit_sums; counts. */
    void (*limit)(pl_pass* pass);
    /* From limit_sums to clusters->limit: the affine map that keeps momentum. */
    void (*limit_balance)(const pl_match_batch* batch, float* const* limit_sums);
    /* Adds the balanced corrections to positions and velocities, and sums the moments. */
    void (*limit_apply)(pl_pass* pass);
} pl_kernels;

/* The kernels of a path that the machine supports. */
const pl_kernels* pl_kernels_for(uint32_t simd);

static inline size_t pl_pass_scratch(uint32_t rows, bool quadratic)
{
    return (size_t)rows * (PL_ROW_FLOATS + (quadratic ? PL_QUAD_ROW_FLOATS : 0));
}

/* Completes F (row-major) in the missing directions of a flat, needle-like or single-point cluster,
 * so that it rotates with the cluster. With "keep_volume" the thickness follows from det F = 1,
 * which plastic flow requires. */
void pl_complete_gradient(int rank, const float axis[3], bool keep_volume, float f[9]);

/* The fit of a cluster that quadratic goals start from: the moments (3 x 3 and 3 x 6, centred), F,
 * and R if the modes are as stiff as the material, otherwise NULL. */
typedef struct pl_quadratic_fit
{
    const float *a_xr, *f, *r, *a_xq;
    float beta;
} pl_quadratic_fit;

/* Quadratic goals of one cluster: from its fit and the linear goals' T to quad_row and the T that
 * goes with it. */
void pl_match_quadratic(pl_clusters* clusters, uint32_t c, const pl_quadratic_fit* fit, float t[9]);

#endif
