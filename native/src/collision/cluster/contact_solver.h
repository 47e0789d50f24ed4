// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Contact solver between clusters: what contact_solver.c and its kernels (contact_solver.simd.c)
 * share.
 *
 *   contacts ► constraints ─sweeps─► impulses on particles   ──► chunks: members get the impulses
 *                  ▲                 and cluster bodies          of their clusters, velocities
 *                  │                 (one rigid body per         change, cluster bodies are
 *                  │                 touched cluster)            measured again
 *                  │                                                   │
 *                  └───────────────────── islands ◄────────────────────┘  a few rounds
 *                              scale back overshoot
 *
 * A sweep reads six numbers per cluster and three per particle. Members are visited once a round,
 * by chunk and block.
 */
#ifndef PL_COLLISION_CLUSTER_CONTACT_SOLVER_H
#define PL_COLLISION_CLUSTER_CONTACT_SOLVER_H

#include "collision/cluster/cluster_contacts.h"

/* A chunk's sums for a cluster, weighted by m w, with positions at the start of the substep
 * relative to the chunk's pos_origin: mass, x, x x^T (xx yy zz xy yz zx), v, x cross v. */
enum
{
    PL_BODY_SUM_MASS = 0,
    PL_BODY_SUM_X = 1,
    PL_BODY_SUM_XX = 4,
    PL_BODY_SUM_V = 10,
    PL_BODY_SUM_XV = 13,
    PL_BODY_SUM_FLOATS = 16
};
/* Change of the members' velocity: linear, and angular about pos_origin. As sums: momentum m w dv
 * and its moment. */
enum
{
    PL_BODY_CHANGE_V = 0,
    PL_BODY_CHANGE_SPIN = 3,
    PL_BODY_CHANGE_FLOATS = 8
};

/* Data of a block's eight particles that every round reads, by lane: position at the start of the
 * substep relative to pos_origin; 1 / n and m / n, where n is the sum of a particle's kernel
 * values. */
enum
{
    PL_MEMBER_X = 0,
    PL_MEMBER_NORM = 24,
    PL_MEMBER_MASS = 32,
    PL_MEMBER_FLOATS = 40
};

/* A chunk with members of touched clusters, or with contact particles. */
typedef struct pl_contact_chunk
{
    uint32_t body, chunk;
    size_t row_begin, block_begin;
    uint32_t row_count, block_count;
} pl_contact_chunk;

/* A block of such a chunk, and its entries in touched clusters. */
typedef struct pl_contact_chunk_block
{
    uint32_t block, touches; /* touches: how many of its particles have contacts */
    size_t begin, end;
} pl_contact_chunk_block;

typedef struct pl_contact_chunk_entry
{
    uint32_t entry; /* of the chunk */
    uint32_t row;   /* of the contact chunk's touched clusters */
} pl_contact_chunk_entry;

/* Arguments of a kernel: one chunk. */
typedef struct pl_contact_chunk_job
{
    const pl_body* body;
    const pl_chunk* chunk;
    const pl_contact_chunk_block* blocks;
    const pl_contact_chunk_entry* entries;
    float* weights; /* eight by entry; weigh() fills */
    float* members; /* PL_MEMBER_FLOATS by block of the job; weigh() fills */
    uint32_t block_count, row_count;
    float dt;
    const float* held; /* pins.frequency where some particles are held, or NULL */
    float* sums;       /* PL_BODY_SUM_FLOATS or PL_BODY_CHANGE_FLOATS per row, zeroed */
    const float* rows; /* PL_BODY_CHANGE_FLOATS per row */
    float* fresh[3];   /* by slot: dv of particles since the last move(), which zeroes it */
    float* total[3];   /* by slot: total dv */
} pl_contact_chunk_job;

typedef struct pl_contact_solver_kernels
{
    /* Fills the rows' first sums, weights and members. */
    void (*weigh)(const pl_contact_chunk_job* job);
    /* Adds the rows' motion and "fresh" to the totals; sums the change by row. */
    void (*move)(const pl_contact_chunk_job* job);
    /* Adds the totals to velocities and positions, and zeroes them. */
    void (*apply)(const pl_contact_chunk_job* job);
} pl_contact_solver_kernels;

/* A touched cluster as a rigid body, at the start of the substep. */
struct pl_cluster_body
{
    uint32_t cluster; /* in the list of all */
    bool fixed;       /* asleep, or the anchor of welds to colliders */
    double per_mass;  /* inverse mass; 0: its members have no mass */
    vec3 x, v, spin;  /* centre of mass; motion, updated by every impulse */
    vec3 v0, spin0;   /* motion measured from its members */
    mat3 inertia_inverse;
    vec3 push, twist;                 /* impulse and its moment about x, not yet given to members */
    vec3 dv, dspin;                   /* change of motion by these */
    vec3 gave, gave_push, gave_twist; /* dv, push and twist of the last round */
    double along, curve;              /* its terms of the island's parabola */
    double load;      /* sum over its contacts of the particle's mass over the cluster body's
                         effective mass there */
    uint32_t island;  /* its island; undefined if it is fixed */
    double yield;     /* share of its impulse that it keeps, since its members are shared */
    size_t row_begin; /* its rows, in the order of chunks */
    uint32_t row_count;
};

/* A particle with contacts. */
struct pl_contact_particle
{
    uint32_t body, slot;
    double inverse_mass;
    vec3 v, dv;    /* v: velocity without pending cluster impulses; dv: own impulse over mass since
                      the last round */
    vec3 v0, gave; /* v0: measured velocity; gave: dv of the last round */
    double along, curve; /* its terms of the island's parabola */
    uint32_t island;     /* its island; undefined if nothing moves it */
    size_t membership_begin;
    uint32_t membership_count;
};

/* A contact particle's membership in a touched cluster: its weight, and its position relative to
 * the centre of mass. */
struct pl_particle_membership
{
    uint32_t cluster_body;
    float weight, arm[3];
};

/* Cluster bodies and contact particles that impulses may couple, and the result of a round. */
struct pl_island
{
    double aimed;  /* sum of the impulses of a round times the relative velocity they aim at */
    double slack;  /* energy that friction may have lost to shrinking normal impulses */
    double held;   /* sum of the impulses times the velocities of particles that nothing moves */
    double along;  /* sum of the impulses times the relative velocity before the round, */
    double curve;  /* and times the change of it */
    double keep;   /* share of the round that stays */
    double energy; /* that contacts have given so far, */
    double most;   /* and may give */
};

/* A response under way. */
typedef struct pl_contact_solver_work
{
    pl_contacts* all;
    pl_contact_solver* r;
    const pl_contact_body* bodies;
    const pl_contact_settings* settings;
    double dt;
    bool last;
} pl_contact_solver_work;

/* contact_solver_islands.c: which cluster bodies and contact particles belong together. Then, after
 * a round was given: whether an island overshot, and what is to be taken back of it, as impulses to
 * be given.
 */
pl_status pl_islands_make(const pl_contact_solver_work* work);
bool pl_islands_judge(const pl_contact_solver_work* work);
void pl_islands_take_back(const pl_contact_solver_work* work);

/* contact_solver_lists.c: reserves memory; lists cluster bodies, contact particles and their
 * chunks; after cluster bodies were weighed, links contact particles to the cluster bodies that
 * they are members of; zeroes the arrays at the end. */
pl_status pl_contact_solver_reserve(const pl_contact_solver_work* work);
pl_status pl_contact_solver_list(const pl_contact_solver_work* work);
pl_status pl_contact_solver_link(const pl_contact_solver_work* work);
void pl_contact_solver_clean(const pl_contact_solver_work* work);

/* contact_solver_bodies.c: measures mass, centre, inertia and motion of all cluster bodies from
 * their members; gives members the pending impulses and measures the cluster bodies again; adds the
 * total change to velocities and positions. */
void pl_cluster_bodies_weigh(pl_contact_solver_work* work, pl_pool* pool);
void pl_cluster_bodies_give(pl_contact_solver_work* work, pl_pool* pool);
void pl_cluster_bodies_apply(pl_contact_solver_work* work, pl_pool* pool);
/* Fade factor of its cluster. */
double pl_cluster_body_fade(const pl_contact_solver_work* work,
                            const pl_cluster_body* cluster_body);

/* Solves the contacts in the list and moves the particles. */
pl_status pl_contacts_respond(pl_contacts* contacts, const pl_contact_body* bodies,
                              const pl_contact_settings* settings, double dt, pl_pool* pool);

#endif
