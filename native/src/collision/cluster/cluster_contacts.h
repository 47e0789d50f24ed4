// SPDX-License-Identifier: GPL-3.0-or-later
/* Contacts between clusters: particles of one against the proxy of another, within one substep. */
#ifndef PL_COLLISION_CLUSTER_CLUSTER_CONTACTS_H
#define PL_COLLISION_CLUSTER_CLUSTER_CONTACTS_H

#include "collision/broadphase/broadphase.h"

/* In spacings: a particle this near gets a contact that keeps it from approaching, so that contacts
 * do not flicker. */
#define PL_CONTACT_NEARNESS 0.1

/* Restitution and waking need an impact: more speed than gravity adds in this many substeps. */
#define PL_CONTACT_RESTING 4

typedef struct pl_contact_settings
{
    double stiffness; /* firmness (gamma in the papers): the share of an overlap that is removed */
    double friction;  /* Coulomb coefficient */
    double restitution;
    double thickness;    /* distance kept from the surface */
    double gravity;      /* how strong it is */
    uint64_t turn;       /* counts substeps */
    double wake_speed;   /* an impact faster than this, gravity apart, wakes a sleeper */
    uint32_t iterations; /* of the solver */
} pl_contact_settings;

pl_contact_settings pl_contact_defaults(void);

/* A body in the contact stage. The caller owns what it points to. */
typedef struct pl_contact_body
{
    pl_body* body;
    const pl_proxies* proxies;
    pl_collision_filter* filter;
    uint32_t groups;
    bool self;
} pl_contact_body;

/* A body's own surface property, or the scene's. */
static inline double pl_own_or(double own, double common)
{
    return own < 0 ? common : own;
}
static inline double pl_contact_thickness(const pl_body* body, const pl_contact_settings* settings)
{
    return pl_own_or(body->thickness, settings->thickness);
}

/* One particle against one cluster. */
typedef struct pl_contact
{
    uint32_t particle; /* in the list of all slots of all bodies */
    uint32_t cluster;  /* in the list of all clusters */
    uint32_t weld;     /* 1 + its index if it is one */
    uint32_t home;     /* 1 + the particle's home cluster, if that moves so fast as a whole that
                         stopping the particle would not stop it; otherwise 0 */
    uint32_t body;     /* out: of the particle */
    float impulse[3];  /* out: total, on the particle */
    double n[3];       /* world, away from the cluster, length 1 */
    double target;     /* least relative normal velocity that resolves the contact */
    double goal[3];    /* of welds: change of the relative velocity that resolves it */
} pl_contact;

/* Rigid motion of a cluster at the start of the substep, accurate enough for a path. */
typedef struct pl_cluster_motion
{
    vec3 x, v, spin; /* centre of mass, velocity, angular velocity */
    bool wanted;     /* it is part of a candidate pair */
} pl_cluster_motion;

struct pl_welds;
struct pl_encounters;
struct pl_collider;

/* Welds, and state that outlasts a substep. */
typedef struct pl_weld_work
{
    struct pl_welds* welds;
    struct pl_encounters* encounters;
    const struct pl_collider* const* colliders;
    double t1;  /* the substep's end, as a fraction of the frame */
    bool touch; /* contacts are on; false: only welds */
} pl_weld_work;

typedef struct pl_contact_list
{
    pl_contact* items;
    size_t count, capacity;
} pl_contact_list;

/* Scratch of the solver (contact_solver.h); zeroed before the first call. */
typedef struct pl_cluster_body pl_cluster_body;
typedef struct pl_contact_particle pl_contact_particle;
typedef struct pl_contact_constraint pl_contact_constraint;
typedef struct pl_particle_membership pl_particle_membership;
typedef struct pl_island pl_island;
typedef struct pl_contact_solver
{
    uint32_t cluster_body_count, contact_particle_count;
    pl_cluster_body* cluster_bodies;
    pl_contact_particle* contact_particles;
    pl_contact_constraint* constraints; /* by contact */
    uint32_t* homes;                    /* contacts that also stop the home cluster */
    size_t home_count, home_capacity;
    uint32_t *cluster_body_of,
        *contact_particle_of;   /* by cluster, by particle: 1 + its index; zero between calls */
    uint8_t* touches;           /* by eight particles: how many have contacts; zero between calls */
    float *fresh[3], *total[3]; /* by particle; zero between calls */
    pl_particle_membership* memberships;
    pl_island* islands;
    uint32_t *forest, *piece_cluster_body; /* contact_solver_islands.c */
    struct pl_contact_chunk* contact_chunks;
    struct pl_contact_chunk_block* blocks;
    struct pl_contact_chunk_entry* entries;
    float* members; /* by block: contact_solver.h */
    float* weights; /* by entry: eight kernel values, copied from the chunk to be contiguous */
    uint32_t *row_cluster_body, *cluster_body_rows;
    float *sums, *rows;      /* by row */
    double (*row_origin)[3]; /* by row: pos_origin of its chunk, in the world */
    size_t contact_chunk_count, block_count, entry_count, row_count;
    uint32_t island_count;
    size_t island_capacity, forest_capacity, piece_capacity;
    size_t membership_capacity, cluster_body_capacity, contact_particle_capacity,
        constraint_capacity, particle_capacity, cluster_capacity, contact_chunk_capacity,
        block_capacity, entry_capacity, row_capacity, cluster_body_row_capacity, sum_capacity,
        move_capacity, origin_capacity, weight_capacity, member_capacity;
} pl_contact_solver;

/* Scratch, reused from call to call; zeroed before the first. */
typedef struct pl_contacts
{
    uint32_t body_count, cluster_count, particle_count;
    double drift[3]; /* common velocity of all bodies */
    size_t body_capacity, cluster_capacity, partner_capacity;
    pl_pair_body* pair_bodies;
    uint32_t* slot_begin; /* by body: its first particle in the list of all */
    pl_proxy_pose* poses;
    const pl_body** posed;           /* by body: a sleeper with valid poses, or NULL */
    struct pl_surface_eight* eights; /* surface particles, by cluster */
    uint32_t* eight_begin;           /* begin of each body's, and the end */
    size_t eight_capacity;
    pl_cluster_motion* motions;
    uint32_t *partner_begin, *partner;
    struct pl_cull_target* shown;  /* by cluster in a candidate pair: cull target */
    struct pl_sdf_target* targets; /* and target of sdf_query.c */
    float* crowds;                 /* narrowphase.c: scratch of each worker */
    size_t crowd_capacity;
    pl_contact_list* found;
    size_t found_capacity;
    pl_contact_list list;
    pl_broadphase broadphase;
    pl_pair_cache_within memory;
    pl_pair_list pairs;
    const struct pl_contact_solver_kernels* kernels; /* set by the owner */
    const struct pl_cull_kernels* cull;              /* set by the owner */
    pl_contact_solver response;
} pl_contacts;

/* Finds and resolves the contacts of the substep of length dt that has just moved the particles;
 * the clusters' fits must match the current positions. Changes positions and velocities together,
 * and marks chunks whose particles moved: their fits become invalid. */
pl_status pl_contacts_resolve(pl_contacts* contacts, uint32_t body_count,
                              const pl_contact_body* bodies, const pl_contact_settings* settings,
                              const pl_weld_work* held, double dt, pl_pool* pool);
void pl_contacts_free(pl_contacts* contacts);

/* contact_solver.c */
const struct pl_contact_solver_kernels* pl_contact_solver_kernels_for(uint32_t simd);
void pl_contact_solver_free(pl_contact_solver* response);

/* narrowphase.c: finds the contacts of the pairs, by cluster. Fills the motions of all clusters in
 * a pair. */
pl_status pl_contacts_find(pl_contacts* contacts, const pl_contact_body* bodies,
                           const pl_contact_settings* settings, double dt, pl_pool* pool);

/* welds.c: adds the welds to the list of contacts and removes contacts of particles with the body
 * they are welded to; then flags the welds that broke. Welds to colliders have the cluster index
 * after the last one. */
pl_status pl_contacts_add_welds(pl_contacts* contacts, const pl_contact_body* bodies,
                                const pl_weld_work* held, double dt);
void pl_contacts_break_welds(const pl_contacts* contacts, const pl_weld_work* held, double dt);

static inline uint32_t pl_contact_body_of(const pl_contacts* c, uint32_t cluster)
{
    return c->broadphase.body_of[cluster];
}

/* A particle's velocity now, and its position at the end and at the start of the substep. */
static inline vec3 pl_contact_velocity(const pl_body* body, uint32_t slot)
{
    const pl_particles* p = &body->particles;
    return v3(p->v[0][slot], p->v[1][slot], p->v[2][slot]);
}
static inline vec3 pl_contact_end(const pl_body* body, uint32_t slot)
{
    const pl_particles* p = &body->particles;
    return v3_add(v3_fromd(body->origin), v3(p->x[0][slot], p->x[1][slot], p->x[2][slot]));
}
static inline vec3 pl_contact_start(const pl_body* body, uint32_t slot, double dt)
{
    return v3_mad(pl_contact_end(body, slot), pl_contact_velocity(body, slot), -dt);
}

#endif
