// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The state of a body: flat arrays, no logic. Ownership:
 *
 *   scene ── bodies ─┬─ particles   slots, sorted along a space-filling curve, eight to a block
 *                    ├─ chunks      runs of blocks with the memberships of their particles
 *                    ├─ clusters    all levels, finest first
 *                    └─ links       nested levels: which fine cluster is in which coarse one
 *
 * Slots and blocks. A particle is stored in a slot. Eight slots (PL_LANES) form a block, the unit
 * of a SIMD kernel; blocks form chunks, whose clusters' rows fit into the cache. About a fifth of a
 * chunk's slots is free, for particles that fracture and resampling add. A free slot has mass 0, no
 * weights and a finite position, so kernels need no special case for it.
 *
 *   chunk   | block 0         | block 1         | ...      entries of block 0:
 *   slots   | 0 1 2 3 4 5 6 7 | 8 9 ...                    row 3: w0 w1 w2 w3 w4 w5 w6 w7
 *                                                          row 7: w0 ..             (dense)
 *
 * Memberships are stored by block: an entry is one cluster (as a 16-bit index into the chunk's own
 * list of clusters, its "rows") and eight raw kernel values, zero for lanes that are not members.
 * Entries of only the first four lanes come first and entries of only the last four come last, so
 * that a kernel may process each half of a block with fewer entries.
 * Weights are normalised when used: w_ic = fade_c k_ic / sum_d fade_d k_id; the inverse of the sum
 * is stored by particle. A chunk has "shared rest" (p_ic = r_i - r_c for all memberships, the fast
 * path) or "own rest": then every entry stores a rest position r_ic for each of its lanes, relative
 * to the chunk's rest origin like r_i, and p_ic = r_ic - r_c. A kernel then evaluates terms of r_ic
 * per entry instead of terms of r_i per block; all else is the same.
 *
 * Positions are float32 relative to the body's origin, which is double and moves in steps of a
 * power of two. Rest positions are float32 relative to the chunk's rest origin.
 */
#ifndef PL_BODY_BODY_H
#define PL_BODY_BODY_H

#include "base/core.h"
#include "base/math3.h"
#include "base/simd.h"
#include "body/chunk.h"
#include "body/clusters.h"
#include "body/collision_state.h"
#include "body/cut_state.h"
#include "body/fracture_state.h"
#include "body/particles.h"
#include "body/pressure_state.h"
#include "body/sleep_state.h"
#include "body/validity_state.h"

/* Pins, by slot; NULL arrays: none. */
typedef struct pl_pins
{
    float* frequency; /* 0: free; >= PLIANT_PIN_HELD: held */
    float *from[3],
        *to[3]; /* targets at the frame's start and end, relative to the body's origin */
    bool any, follow, was_following, has_targets;
} pl_pins;

/* Connected components of the finest clusters, and the rigid motion of each (dynamics/damping.c).
 * Derived; not saved. */
typedef struct pl_components
{
    uint32_t* root;              /* by finest cluster: the first cluster of its component */
    struct pl_rigid_fit* motion; /* by finest cluster; those of roots are used */
    size_t root_capacity, motion_capacity;
    uint64_t stamp; /* of the memberships (pl_stamp) for which roots were found */
    /* What the damping in the rows sums to: pins and supports take it up. The moment is about the
     * body's origin. */
    double impulse[3], moment[3];
} pl_components;

typedef struct pl_body
{
    uint64_t handle;
    uint32_t index;        /* in the scene */
    double origin[3];      /* of positions now */
    double rest_origin[3]; /* of rest positions */
    double grid;           /* power of two in which the origin moves */
    pl_particles particles;
    uint32_t chunk_count;
    pl_chunk* chunks;
    pl_clusters clusters;
    uint32_t level_count;
    uint32_t level_begin[PLIANT_MAX_LEVELS + 1];
    uint32_t level_kind;                    /* a pliant_level_kind */
    double level_weight[PLIANT_MAX_LEVELS]; /* as asked */
    double level_damping[PLIANT_MAX_LEVELS];
    double level_share[PLIANT_MAX_LEVELS]; /* as used in this substep: after stiffness moved */
    double level_radius[PLIANT_MAX_LEVELS];
    uint64_t level_memberships[PLIANT_MAX_LEVELS];
    pl_links links;
    pl_pins pins;
    pliant_material_desc material;
    uint32_t kernel; /* a pliant_kernel, of the finest clusters */
    double kernel_parameter;
    bool plastic;           /* it yields, or has yielded: F^p may not be the identity */
    float* acceleration[3]; /* by slot, or NULL: set by the caller */
    float* force[3];        /* by slot, or NULL: fields and pressure of this substep */
    /* Impulses of clusters sum to 0 except for rounding, which is systematic in a rotating body.
     * The remainder (as a change of velocity) is given back in the next substep. */
    double remainder[3];
    double turn[3], pivot[3]; /* the same for angular momentum: a rotation about the pivot */
    double mass_quantum;
    double mass;
    double rest_volume;
    double spacing;
    double width;       /* W_body */
    double shape_width; /* S_body (material.c), of the first rest shape */
    double
        level_firm[PLIANT_MAX_LEVELS]; /* factors on the clusters' stiffness (level_firmness.c) */
    double sample_ms, cluster_ms;
    double overlap;
    uint32_t sampling, cluster_iterations;
    uint32_t warnings;
    uint32_t simd; /* derived: the path of the scene that moves it; 0: the machine's best */
    double stiffness_reached; /* fraction of the stiffness asked that the substep carries */
    /* The body's own mesh at rest (for painting, pins and pressure); may be empty. */
    uint32_t mesh_vertex_count, mesh_triangle_count;
    float* mesh_vertices; /* relative to rest_origin */
    uint32_t* mesh_triangles;
    pl_pressure* pressure; /* built when first needed */
    double enclosed_volume;
    /* Contacts between clusters: made when they are first switched on. */
    pl_proxies proxies;
    pl_rest_sdf rest_sdf;
    pl_collision_filter collision_filter;
    pl_cuts cuts;
    uint32_t contact_groups; /* bodies collide if they have a bit in common; 0 is as all bits */
    bool no_self_contact;
    double friction, restitution, thickness; /* of its own surface; below 0: not its own */
    pl_fracture* fracture;                   /* NULL: it was never asked for */
    /* Reclustering (plasticity/recluster.c). */
    double first_overlap;   /* memberships a particle as it was made */
    double recluster_clock; /* seconds since fades moved */
    uint64_t recluster_events;
    uint64_t recluster_updates; /* most in a substep; not saved */
    /* Sleep (sleep/sleep.c). */
    bool asleep;
    double quiet; /* seconds for which it has been slow */
    pl_sleeping_pieces sleeping_pieces;
    pl_components components;
    /* Particle -> mesh binding for pins, built when first needed; derived, not saved. */
    struct pl_pin_binding* pin_binding;
    /* Caches of triangles near its particles, by mesh collider (collision/mesh/triangle_cache.h).
     */
    struct pl_triangle_cache** triangle_caches;
    uint32_t triangle_cache_count;
    size_t triangle_cache_capacity;
    pl_validity valid; /* what of the derived data is current */
    /* Step state that is not saved: it follows from the rest. */
    uint32_t lever_side;    /* which side of clusters.lever belongs to the substep's start */
    bool limiting;          /* strain limiting goes on in this substep */
    bool relaxing;          /* coarse clusters follow plastic flow in this substep */
    float limit_relaxation; /* omega for this substep */
    float** limit_sums;     /* by chunk: PL_LIMIT_FLOATS for each row */
    float* shift[3];        /* by slot: corrections of strain limiting */
    uint64_t pairs_tested, pairs_violated, contacts;
    char* warning_text;
} pl_body;

static inline uint32_t pl_chunk_of_slot(const pl_body* body, uint32_t slot)
{
    uint32_t low = 0, high = body->chunk_count;
    while (high - low > 1)
    {
        uint32_t middle = (low + high) / 2;
        *(body->chunks[middle].slot_begin <= slot ? &low : &high) = middle;
    }
    return low;
}

#endif
