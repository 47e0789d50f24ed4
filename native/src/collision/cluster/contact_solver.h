// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The response to contacts between clusters: what the solver (contact_solver.c) and its kernels
 * (contact_solver.simd.c) share.
 *
 *   contacts ► constraints ─sweeps─► impulses on particles   ──► chunks: members get what their
 *                  ▲                 and on bodies, each a       clusters got, velocities follow,
 *                  │                 touched cluster as a        clusters see their members again
 *                  │                 rigid body                            │
 *                  └───────────────────── islands ◄────────────────────────┘  a few rounds
 *                                 shorten what overshot
 *
 * Sweeps look at six numbers a cluster and three a particle; members are visited once a round, by
 * chunks and blocks as in a step.
 */
#ifndef PL_COLLISION_CLUSTER_CONTACT_SOLVER_H
#define PL_COLLISION_CLUSTER_CONTACT_SOLVER_H

#include "collision/cluster/cluster_contacts.h"

/* Sums that a chunk makes for a cluster, weighted by m w, positions at the start of the substep and
 * relative to the chunk's pos_origin: the mass, x, x x^T (xx yy zz xy yz zx), v, x cross v. */
enum
{
    PL_BODY_SUM_MASS = 0,
    PL_BODY_SUM_X = 1,
    PL_BODY_SUM_XX = 4,
    PL_BODY_SUM_V = 10,
    PL_BODY_SUM_XV = 13,
    PL_BODY_SUM_FLOATS = 16
};
/* What members get: a velocity, and a rotation about pos_origin; and what comes of it: m w dv and
 * its moment. */
enum
{
    PL_BODY_CHANGE_V = 0,
    PL_BODY_CHANGE_SPIN = 3,
    PL_BODY_CHANGE_FLOATS = 8
};

/* What is read of a block's eight particles again and again, in lanes: where they were at the start
 * of the substep, relative to pos_origin; 1 / n, and m / n, where the kernel values of a particle's
 * clusters add up to n. */
enum
{
    PL_MEMBER_X = 0,
    PL_MEMBER_NORM = 24,
    PL_MEMBER_MASS = 32,
    PL_MEMBER_FLOATS = 40
};

/* A chunk that has members of touched clusters, or particles that touch. */
typedef struct pl_contact_chunk
{
    uint32_t body, chunk;
    size_t row_begin, block_begin;
    uint32_t row_count, block_count;
} pl_contact_chunk;

/* A block of such a chunk, and its entries in touched clusters. */
typedef struct pl_contact_chunk_block
{
    uint32_t block, touches; /* touches: particles of it that touch */
    size_t begin, end;
} pl_contact_chunk_block;

typedef struct pl_contact_chunk_entry
{
    uint32_t entry; /* of the chunk */
    uint32_t row;   /* of the contact chunk's touched clusters */
} pl_contact_chunk_entry;

/* One chunk for a kernel. */
typedef struct pl_contact_chunk_job
{
    const pl_body* body;
    const pl_chunk* chunk;
    const pl_contact_chunk_block* blocks;
    const pl_contact_chunk_entry* entries;
    float* weights; /* eight by entry, */
    float* members; /* and PL_MEMBER_FLOATS by block of the job: the first sums fill both */
    uint32_t block_count, row_count;
    float dt;
    const float* held; /* pins.frequency where some particles are held, or NULL */
    float* sums;       /* PL_BODY_SUM_FLOATS or PL_BODY_CHANGE_FLOATS for each row, nil */
    const float* rows; /* PL_BODY_CHANGE_FLOATS for each row */
    float* fresh[3];   /* by slot: what particles got since, nil afterwards */
    float* total[3];   /* by slot: all that they got */
} pl_contact_chunk_job;

typedef struct pl_contact_solver_kernels
{
    /* The first sums of all rows. */
    void (*weigh)(const pl_contact_chunk_job* job);
    /* Members get what is in the rows and what is fresh; the sums of that. */
    void (*move)(const pl_contact_chunk_job* job);
    /* Velocities and positions have all that was got, and totals are nil. */
    void (*apply)(const pl_contact_chunk_job* job);
} pl_contact_solver_kernels;

/* A touched cluster as a rigid body, at the start of the substep. */
struct pl_cluster_body
{
    uint32_t cluster; /* in the list of all */
    bool fixed;       /* asleep, or what welds hold on to */
    double per_mass;  /* its inverse mass; 0: none of its members weighs anything */
    vec3 x, v, spin;  /* centre of mass, and its motion as contacts see it */
    vec3 v0, spin0;   /* the motion that its members have */
    mat3 inertia_inverse;
    vec3 push, twist;                 /* impulse and its moment about x, since members were moved */
    vec3 dv, dspin;                   /* the motion that they are */
    vec3 gave, gave_push, gave_twist; /* dv, push and twist as members got them last */
    double along, curve;              /* its share of the island's */
    double load;      /* sum over its contacts of the particle's mass over the cluster body's at the
                         contact */
    uint32_t island;  /* that it is in; of a fixed one without meaning */
    double yield;     /* how much of what it gives its members it sees of them: they are shared */
    size_t row_begin; /* of its rows, in the order of chunks */
    uint32_t row_count;
};

/* A particle that touches. */
struct pl_contact_particle
{
    uint32_t body, slot;
    double inverse_mass;
    vec3 v, dv;    /* its velocity but for what its clusters are about to give it; what of it it got
                      itself since members were moved */
    vec3 v0, gave; /* its velocity as it is, with all that was given; dv as it was given last */
    double along, curve; /* its share of the island's */
    uint32_t island;     /* that it is in; of one that nothing moves without meaning */
    size_t membership_begin;
    uint32_t membership_count;
};

/* A touched cluster that a contact particle is a member of, its share of what that gets, and where
 * it is in it. */
struct pl_particle_membership
{
    uint32_t cluster_body;
    float weight, arm[3];
};

/* Cluster bodies and contact particles whose impulses may meet in a particle, and what a round did
 * to them. */
struct pl_island
{
    double aimed;  /* sum of the impulses of a round times the relative velocity they aim at */
    double slack;  /* what friction may have lost as normal impulses became smaller */
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

/* contact_solver_lists.c: makes room; lists cluster bodies, contact particles, and their chunks;
 * then, when cluster bodies were weighed, the cluster bodies that contact particles are members of.
 * What was listed is taken off at the end. */
pl_status pl_contact_solver_reserve(const pl_contact_solver_work* work);
pl_status pl_contact_solver_list(const pl_contact_solver_work* work);
pl_status pl_contact_solver_link(const pl_contact_solver_work* work);
void pl_contact_solver_clean(const pl_contact_solver_work* work);

/* contact_solver_bodies.c: mass, centre, inertia and motion of all cluster bodies as their members
 * have them; members get what cluster bodies and they themselves have got, and cluster bodies see
 * what came of it; velocities and positions of particles have all that they got. */
void pl_cluster_bodies_weigh(pl_contact_solver_work* work, pl_pool* pool);
void pl_cluster_bodies_give(pl_contact_solver_work* work, pl_pool* pool);
void pl_cluster_bodies_apply(pl_contact_solver_work* work, pl_pool* pool);
/* The share of its members' weights that a cluster which is fading in or out has. */
double pl_cluster_body_fade(const pl_contact_solver_work* work,
                            const pl_cluster_body* cluster_body);

/* Solves for the contacts that were found and moves the particles. */
pl_status pl_contacts_respond(pl_contacts* contacts, const pl_contact_body* bodies,
                              const pl_contact_settings* settings, double dt, pl_pool* pool);

#endif
