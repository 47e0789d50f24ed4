// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The state of a body: flat arrays, no logic. Who owns what:
 *
 *   scene ── bodies ─┬─ particles   slots, sorted along a space-filling curve, eight to a block
 *                    ├─ chunks      runs of blocks with the memberships of their particles
 *                    ├─ clusters    all levels, finest first
 *                    └─ links       nested levels: which fine cluster is in which coarse one
 *
 * Slots and blocks. A particle lives in a slot; slots are cut into blocks of eight (PL_LANES) that
 * a kernel takes at once, and blocks into chunks, whose clusters' rows fit into the cache. About a
 * fifth of a chunk's slots is free, for particles that fracture and resampling will add. A free
 * slot has mass 0, no weights and a finite position, so kernels need no special case for it.
 *
 *   chunk   | block 0         | block 1         | ...      entries of block 0:
 *   slots   | 0 1 2 3 4 5 6 7 | 8 9 ...                    row 3: w0 w1 w2 w3 w4 w5 w6 w7
 *                                                          row 7: w0 ..             (dense)
 *
 * Memberships are stored by block: an entry is one cluster (as a 16-bit index into the chunk's own
 * list of clusters, its "rows") and eight raw kernel values, zero for lanes that are not members.
 * Entries that only the first four lanes have come first and those that only the last four have
 * come last, so that a kernel may take each half of a block with fewer entries.
 * They are normalised when used: w_ic = fade_c k_ic / sum_d fade_d k_id, with the sum's inverse
 * kept by particle. A chunk has "shared rest" (p_ic = r_i - r_c for all memberships: the fast way)
 * or "own rest": then every entry carries a rest position r_ic for each of its lanes, relative to
 * the chunk's rest origin like r_i, and p_ic = r_ic - r_c. What is made of r_i once a block is then
 * made of r_ic once an entry; all else is the same.
 *
 * Positions are float32 relative to the body's origin, which is double and moves in steps of a
 * power of two. Rest positions are float32 relative to the chunk's rest origin.
 */
#ifndef PL_STATE_H
#define PL_STATE_H

#include "base/core.h"
#include "base/math3.h"
#include "base/simd.h"
#include "body/fracture_state.h"
#include "body/resample_state.h"

#include <string.h>

#define PL_NO_PARTICLE UINT32_MAX
/* Rest positions are nearer to the rest origin, along each axis. */
#define PL_FARTHEST_REST 1e12f

/* Sums that a chunk makes over its particles for each of its rows, weighted by m w:
 * x r^T (row-major), x, v, x cross v, x x^T (xx yy zz xy yz zx); x is relative to the chunk's
 * pos_origin, r to its rest_origin. The sums of m w and m w r do not move: they are in pl_part. */
enum
{
    PL_SUM_XR = 0,
    PL_SUM_X = 9,
    PL_SUM_V = 12,
    PL_SUM_XV = 15,
    PL_SUM_XX = 18,
    PL_SUM_FLOATS = 24
};

/* What a chunk's corrections by strain limiting add up to for a row: m w delta (3) and its moment
 * about the chunk's pos_origin (3). While a chunk is limited, all of the floats are used, for sums
 * that are still in lanes. */
enum
{
    PL_LIMIT_FLOATS = 16
};

/* What a cluster gives to its members: an impulse affine in the rest offset p and linear in x, v:
 *
 *   dt dv = A p + b - a (x - ref) - k v,
 *
 * with A = alpha T + kappa dt [omega]x F and so on (match.simd.c), and in the last place 1 for the
 * finest level, 0 for others, which becomes the normaliser. Fades are multiplied in when a chunk
 * loads its rows. */
enum
{
    PL_ROW_A = 0,
    PL_ROW_B = 9,
    PL_ROW_ALPHA = 12,
    PL_ROW_KAPPA = 13,
    PL_ROW_FADE = 14,
    PL_ROW_FLOATS = 16
};

/* lever: inverse of the inertia about x_c (xx yy zz xy yz zx), x_c as ref (3) and offset (3), mass.
 */
enum
{
    PL_LEVER_INVERSE = 0,
    PL_LEVER_REF = 6,
    PL_LEVER_X = 9,
    PL_LEVER_MASS = 12,
    PL_LEVER_FLOATS = 16
};

/* A chunk's share of a cluster: where its sums are, and what of them does not move, as the kernels
 * weigh it: the mass and its first moment at rest, relative to the chunk's rest origin. In double:
 * an error in the mass would push the cluster, always the same way. One cache line each, in the
 * order in which a cluster's sums are put together. */
typedef struct pl_part
{
    uint32_t chunk, row;
    float to_rest[3]; /* from the cluster's rest centre to the chunk's rest origin */
    float reserved;
    double mass, first[3];
    double unused;
} pl_part;

/* Quadratic goals: six more monomials of p (xx yy zz xy yz zx), each with a vector coefficient, in
 * the row, and six more moments x q^T, and q itself, in the sums. */
enum
{
    PL_QUAD_ROW_FLOATS = 24, /* 18 used: coefficient j (0..5) of component i at 6 i + j */
    PL_QUAD_SUM_FLOATS = 24  /* the same order, then q */
};

typedef struct pl_chunk
{
    uint32_t slot_begin;  /* multiple of eight */
    uint32_t slot_count;  /* multiple of eight: capacity, free slots included */
    uint32_t block_count; /* blocks in use; free slots are behind them or in the last one */
    float rest_origin[3]; /* relative to the body's rest origin */
    uint32_t middle_slot; /* of the particle nearest to the chunk's middle at rest */
    float pos_origin[3];  /* positions are summed relative to this: where that particle was */
    uint32_t row_count;
    uint32_t* rows;        /* local row -> cluster index of the body */
    uint32_t* block_begin; /* blocks + 1: entries of each block */
    uint32_t (*half)[2];   /* by block: the end of the entries that any of the first four lanes has,
                              and the begin of those that any of the last four has */
    uint32_t entry_count;
    uint32_t member_count;     /* memberships at the finest level */
    uint16_t* entry_row;       /* entry -> local row */
    float* entry_kernel;       /* 8 for each entry */
    float* own_rest;           /* 24 for each entry (x8 y8 z8: r_ic), or NULL: shared rest */
    float* sums;               /* row_count * PL_SUM_FLOATS: what the last particle pass left */
    float* quad_sums;          /* row_count * PL_QUAD_SUM_FLOATS, or NULL */
    uint32_t moved;            /* positions changed after the sums were made */
    uint32_t amended;          /* the sums were corrected: gathering would round otherwise */
    float remainder[3];        /* what its particles' impulses from clusters sum to */
    float torque[3];           /* and their moments about pos_origin */
    uint32_t tested, violated; /* strain-limit pairs in this substep; in the last iteration */
    uint32_t bound_wait;       /* times that the bound over all limits need not be asked for ... */
    uint32_t bound_pause;      /* ... since it said nothing so many times (strain_limit.simd.c) */
    uint32_t touched;          /* particles in contact in this substep */
    uint32_t failed;           /* for want of memory */
} pl_chunk;

/* The lanes of a block that are members of an entry's cluster, as bits. */
static inline uint32_t pl_entry_lanes(const float kernel[8])
{
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < 8; ++lane)
        lanes |= (uint32_t)(kernel[lane] > 0) << lane;
    return lanes;
}

/* Blocks of a chunk whose particles something has moved, and what these were before. */
enum
{
    PL_BEFORE_FLOATS = 48 /* x, y, z and the velocity of eight particles */
};
typedef struct pl_moved_blocks
{
    uint32_t count;
    uint16_t* hit;  /* by block: 0, or which of those that were moved it is, from 1 on */
    float* before;  /* PL_BEFORE_FLOATS for each of them */
    uint8_t* touch; /* of the chunk's particles (pl_particles), or NULL */
} pl_moved_blocks;

/* A surface with less friction than this holds nothing (pl_particles.touch). */
#define PL_LEAST_GRIP .05

/* Before the i-th particle of a chunk is moved by a contact; x and v are the chunk's. */
static inline void pl_note_moved(pl_moved_blocks* moved, uint32_t i, float* const x[3],
                                 float* const v[3], double friction)
{
    uint32_t block = i / 8;
    if (moved && moved->touch && friction >= PL_LEAST_GRIP)
        moved->touch[i] = 1;
    if (!moved || moved->hit[block])
        return;
    float* before = moved->before + (size_t)PL_BEFORE_FLOATS * moved->count;
    moved->hit[block] = (uint16_t)++moved->count;
    for (int k = 0; k < 3; ++k)
    {
        memcpy(before + 8 * k, x[k] + 8 * (size_t)block, 8 * sizeof(float));
        memcpy(before + 8 * (3 + k), v[k] + 8 * (size_t)block, 8 * sizeof(float));
    }
}

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

/* How many particles there are that are no copies: the first ones. */
static inline uint32_t pl_first_particles(const pl_particles* p)
{
    uint32_t first = p->id_count;
    while (first > 0 && p->parent[first - 1] != first - 1)
        --first;
    return first;
}

/* Which way a cluster's fade goes (plasticity/fade.c). */
typedef enum pl_fading
{
    PL_STAYS = 0,
    PL_COMES, /* made anew: up to 1, then it stays */
    PL_GOES   /* its rest shape has flowed too far: down to nothing, then it is dead */
} pl_fading;

/* A cluster that goes has gone but for a remainder: it does not flow any more, and is taken out as
 * soon as its members have others. */
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
    /* What the last match found. Positions of a cluster are kept as a reference point, which is a
     * chunk's pos_origin, and a small offset from it, so that a body's distance from its origin
     * costs no precision: a rounding error of x_c would push all members the same way. */
    float (*ref)[3];
    float (*limit_ref)[3]; /* of the fit that limit holds */
    /* What strain limiting needs of the fit at the start of the substep (PL_LEVER_*): one side
     * belongs to it, the other is written by the matches at its end; body->lever_side says which is
     * which. */
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

/* The clusters of a level are fitted in runs of as many: a multiple of eight that follows from
 * their number alone, so that sums over runs do not depend on threads. Long runs have fewer sums.
 */
static inline uint32_t pl_run_size(uint32_t clusters)
{
    return PL_CLAMP(clusters / 32 / 32 * 32, 32u, 256u);
}

/* Nested levels before plastic flow: a run of clusters is to the next coarser level what a chunk of
 * particles is to the finest. Derived from links when first needed (dynamics/level_batches.c), not
 * saved. */
typedef struct pl_runs
{
    uint32_t count;
    uint32_t level_begin[PLIANT_MAX_LEVELS]; /* the first run of each level */
    pl_chunk* run; /* blocks, entries, rows, sums and origins; slot_begin is the first row */
    /* What they point into, all runs one after the other. */
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
} pl_runs;

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
    pl_runs runs;
} pl_links;

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
    uint64_t revision; /* 1 + that of the body for which roots were found */
    /* What the damping in the rows sums to: pins and supports take it up. The moment is about the
     * body's origin. */
    double impulse[3], moment[3];
} pl_components;

/* Pieces of a body that sleep while the body does not (sleep/piece_sleep.c). Follows from the
 * pieces and the memberships; empty where no piece sleeps. */
typedef struct pl_still
{
    float* slot;       /* by slot: not 0 where the particle stands still, or NULL */
    float* x[3];       /* by slot: where it does */
    uint8_t* cluster;  /* by finest cluster */
    uint8_t* chunk;    /* by chunk: whether some of its particles do, or all */
    uint64_t revision; /* 1 + that of the body for which it was made */
} pl_still;

enum
{
    PL_STILL = 1, /* of slots and clusters; of chunks: some */
    PL_STILL_HIT, /* of slots and clusters: hit so that it wakes */
    PL_STILL_ALL = 2
};

/* A stretch of an array that is summed as a whole: sums over stretches, in order, do not depend on
 * the number of threads. */
typedef struct pl_stretch
{
    uint32_t begin, end;
} pl_stretch;

/* The surface that pressure acts on (dynamics/pressure_setup.c). Each of its vertices is a fixed
 * combination of particles, so the volume of each shell is a function of the particles. Derived
 * from rest data; not saved. */
typedef struct pl_pressure
{
    uint32_t shell_count, vertex_count, triangle_count, pull_count, follower_count;
    double* rest_volume; /* by shell, of the surface as the particles carry it; 0: not carried */
    double* true_volume; /* by shell, of the mesh */
    /* Vertices: their followers, and the corners (3 triangle + corner) that they are. */
    uint32_t* begin;
    uint32_t* carrier;
    float* weight;
    uint32_t* corner_begin;
    uint32_t* corner;
    /* Triangles, by shell, facing outward. */
    uint32_t (*triangle)[3];
    pl_stretch* triangles; /* stretches, none of two shells */
    uint32_t* triangles_of_shell;
    /* A pull is what the volume of one shell asks of one follower: by shell, then follower. */
    uint32_t* pull_follower;
    uint32_t* pull_shell;
    pl_stretch* pull; /* its entries: vertices and weights */
    uint32_t* entry_vertex;
    float* entry_weight;
    pl_stretch* pulls;
    uint32_t* pulls_of_shell;
    /* Followers: the particles (ids) that carry something, and by which pulls they are pulled. */
    uint32_t* follower;
    uint32_t* follower_begin;
    uint32_t* follower_pull;
    /* Scratch of a substep. */
    float (*place)[4];      /* followers, in one piece */
    double (*at)[3];        /* vertices */
    double (*slope)[3];     /* derivative of the volume by a vertex */
    double (*gradient)[3];  /* and by a particle, for each pull */
    double* partial_volume; /* by stretch of triangles */
    double (*partial)[3];   /* by stretch of pulls: sum of |gradient|^2 / m, the largest
                               |gradient| / m, the volume's rate */
    double* volume;         /* by shell */
    double* pressure;       /* by shell */
    uint64_t bytes;
} pl_pressure;

/* The contact shapes of a body's finest clusters (collision/broadphase/proxy.c), at rest: a ball
 * about the query centre with the query radius, cut by half-spaces that bound the members. The
 * half-spaces are state, since LAPACK finds them; the list of members follows from the memberships.
 */
/* A particle at the surface of the cluster that it is at home in. */
typedef struct pl_surface_slot
{
    uint32_t slot;
    uint32_t place; /* 8 times which of the body's eights it is in, and its lane there */
} pl_surface_slot;

typedef struct pl_proxies
{
    uint32_t count;        /* clusters of the finest level */
    uint32_t* plane_begin; /* count + 1: half-spaces of each cluster */
    float (*plane)[4]; /* n, a: inside is n . r + a <= 0, r relative to the body's rest origin */
    size_t plane_capacity;
    uint8_t* solid; /* by cluster: its centre of mass is well inside of the body */
    double most_inset;
    uint32_t most_surface;  /* the most particles at home and at the surface of a cluster */
    uint32_t* member_begin; /* count + 1 */
    uint32_t*
        surface_end;    /* by cluster: members before this are at home in it and at the surface */
    uint32_t* home_end; /* by cluster: members before this are at home in it, which each particle
                           is in the one cluster that it weighs most in */
    uint32_t* member_slot;    /* by chunk and block within each of the three parts of a cluster */
    pl_surface_slot* surface; /* those at the surface, by slot: contacts look at eights of them, and
                                 where a cluster's last eight is not full the last one stands in */
    uint32_t* eight_begin;    /* count + 1: each cluster's eights */
    float* member_weight;     /* w_ic, normalised over the clusters of a particle */
    float* inset;      /* by member: how much deeper than half a spacing it is, if it is at the
                          surface and at home: what it keeps of others, so that surfaces meet
                          and not their roughest particles */
    float (*crack)[4]; /* by member, of those at the surface: the way out of its piece at the
                          crack that is nearest, and how far that is; NULL without cuts */
    float (*ball)[4];  /* by cluster: where it has a say, and how far: the middle is relative to
                          clusters.rest, in its own rest space. The query ball, or where splits
                          have left only a part of that one around the members' centre of mass */
    float (*box)[6];   /* by cluster: middle and half size of its members' box at rest, widened
                          by half a spacing; the middle is relative to clusters.in_body */
} pl_proxies;

/* A plane that divided material while it moved, in the body's rest shape and relative to its rest
 * origin: n . r + a <= 0 is below it. */
typedef struct pl_cut_plane
{
    float plane[4];
} pl_cut_plane;

/* On which side of a plane a particle went. */
typedef struct pl_cut
{
    uint32_t particle; /* external id */
    uint32_t side;     /* 2 plane, and 1 more above it */
    uint32_t before;   /* 1 + the particle's cut before this one, or 0 */
} pl_cut;

/* What cuts have left of a body's material (fracture/cuts/cuts.c, fracture/cuts/cracks.c). Without
 * planes it is all empty. */
typedef struct pl_cuts
{
    uint32_t plane_count, count;
    pl_cut_plane* plane;
    pl_cut* cut;
    uint32_t* last; /* by external id: 1 + its latest cut, or 0 */
    uint32_t id_count;
    size_t plane_capacity, capacity, last_capacity;
    /* What follows from it and the memberships. */
    bool stale, cracks_stale;
    uint32_t* piece; /* by finest cluster: the first one of what hangs together with it by shared
                        particles */
    uint32_t* side_begin; /* by finest cluster, and one more */
    uint32_t* side;       /* its sides of planes: ascending */
    uint8_t* inner;       /* and whether the plane is a slit, with both sides in its piece */
    size_t side_capacity;
    float* over;      /* by slot: how far it is across the planes of slits, from its own side;
                         -INFINITY without */
    uint8_t* ghost;   /* by slot, a pl_ghost */
    uint32_t* home;   /* by slot: the piece that it is in */
    uint32_t* anchor; /* by slot of ghosts: what they are beside, or PL_NO_PARTICLE; NULL: to be
                         found (fracture/cuts/ghosts.c) */
    uint32_t* owner;  /* by external id of first particles: the piece that has the material around
                         them */
    /* At the nodes of rest_shape (fracture/cuts/cracks.c). */
    uint32_t* nearest; /* the first particle that is nearest */
    uint32_t* other;   /* near a crack: the nearest piece that is not its own, or PL_NO_PIECE */
    float* crack;      /* and how far the crack is */
} pl_cuts;

#define PL_NO_PIECE UINT32_MAX

typedef enum pl_ghost
{
    PL_GHOST_NOT,
    PL_GHOST, /* another copy of it has the material around it: it is not there to be touched */
    PL_GHOST_POOR, /* the same, but no particle of its piece has any: they are all that shows it */
    PL_GHOST_FAR,  /* a ghost that has flowed far from those that have: it is touched again */
} pl_ghost;

/* The body's surface at rest: distances at the nodes of a grid (body/rest_sdf.c). It follows
 * from the rest positions. */
typedef struct pl_rest_shape
{
    uint32_t size[3];
    double lower[3]; /* the first node, relative to the body's rest origin */
    double per_cell; /* 1 / distance of nodes */
    double spacing;  /* of particles */
    float* distance; /* x fastest; negative inside */
} pl_rest_shape;

/* Which clusters of one body may not collide with each other. */
typedef struct pl_pair_rules
{
    /* Clusters that share a particle: ascending, for each cluster. */
    uint32_t* share_begin;
    uint32_t* share;
    /* Pairs that overlapped at rest and were not seen apart since: a << 32 | b, ascending. State:
     * what is gone from it does not follow from the rest. */
    uint64_t* held;
    size_t held_count;
    /* Both together, for each cluster: what it does not collide with. */
    uint32_t* near_begin;
    uint32_t* near;
    /* Derived: those that were seen apart since the lists were made, as they came; and a number
     * that no other lists have. */
    uint64_t* released;
    size_t released_count;
    uint64_t serial;
} pl_pair_rules;

/* A proxy as it is now: rest -> world is x + F (r - rest), all relative to the world's zero. Rest
 * is that of the body, and F the total deformation since, mended where it is flat or turned inside
 * out. */
typedef struct pl_proxy_pose
{
    double x[3], rest[3];
    mat3 f, inverse;
    double shape_lower[3], shape_upper[3]; /* around what others may touch, on its way */
    double part_lower[3], part_upper[3];   /* around the particles at home and at the surface, on
                                              their way; upper below lower if there are none */
    double lower[3], upper[3];             /* around both */
    double centre[3], reach;               /* a ball around the proxy's own, deformed as it is */
} pl_proxy_pose;

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
    /* Impulses of clusters sum to nothing but for rounding. Rounding is not random where a body
     * turns about an axis, so what is left over (as a change of velocity) is given back a substep
     * later. */
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
    uint32_t simd;   /* derived: the path of the scene that moves it; 0: the machine's best */
    double alpha_dt; /* the substep length that alpha and kappa belong to; 0: must be set */
    double stiffness_reached; /* fraction of the stiffness asked that the substep carries */
    /* The body's own mesh at rest (for painting, pins and pressure); may be empty. */
    uint32_t mesh_vertex_count, mesh_triangle_count;
    float* mesh_vertices; /* relative to rest_origin */
    uint32_t* mesh_triangles;
    pl_pressure* pressure; /* built when first needed */
    double enclosed_volume;
    /* Contacts between clusters: made when they are first switched on. */
    pl_proxies proxies;
    pl_rest_shape rest_shape;
    pl_pair_rules pair_rules;
    pl_cuts cuts;
    uint32_t contact_groups; /* bodies collide if they have a bit in common; 0 is as all bits */
    bool no_self_contact;
    double friction, restitution, thickness; /* of its own surface; below 0: not its own */
    bool shapes_stale;     /* memberships changed since proxies and pair_rules were made */
    uint64_t revision;     /* counts changes of memberships and of room for them; not saved */
    uint64_t reweighed;    /* and of their weights alone */
    pl_fracture* fracture; /* NULL: it was never asked for */
    /* Reclustering (plasticity/recluster.c). */
    double first_overlap;   /* memberships a particle as it was made */
    double recluster_clock; /* seconds since fades moved */
    uint64_t recluster_events;
    uint64_t recluster_updates; /* most in a substep; not saved */
    /* Sleep (sleep/sleep.c). */
    bool asleep;
    double quiet; /* seconds for which it has been slow */
    pl_still still;
    pl_components components;
    /* Particle -> mesh binding for pins, built when first needed; derived, not saved. */
    struct pl_mesh_binding* binding;
    /* What is known of its particles around each mesh collider (collision/mesh/triangle_cache.h).
     */
    struct pl_near** near;
    uint32_t near_count;
    size_t near_capacity;
    /* Step state that is not saved: it follows from the rest. */
    bool fitted;            /* fits and the finest rows belong to the particles as they are */
    bool matched;           /* and the rows have what coarser levels add */
    uint32_t lever_side;    /* which side of clusters.lever belongs to the substep's start */
    bool force_used;        /* force holds this substep's fields and pressure */
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
