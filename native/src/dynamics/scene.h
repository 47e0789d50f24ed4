// SPDX-License-Identifier: GPL-3.0-or-later
/* A scene, and the functions that advance it. */
#ifndef PL_DYNAMICS_SCENE_H
#define PL_DYNAMICS_SCENE_H

#include "base/parallel.h"
#include "body/rest_sdf.h"
#include "collision/broadphase/proxy.h"
#include "collision/cluster/cluster_contacts.h"
#include "collision/cluster/restitution.h"
#include "collision/cluster/welds.h"
#include "collision/collider/colliders.h"
#include "dynamics/fields.h"
#include "dynamics/kernels.h"
#include "fracture/cuts/cuts.h"

enum
{
    PL_BREAKING_SUBSTEPS = 8,
    PL_MOST_SUBSTEPS = 100000
};

/* A piece of work of one body: a chunk, or a run of clusters. */
typedef struct pl_item
{
    pl_body* body;
    uint32_t begin, end;
} pl_item;

typedef struct pl_items
{
    pl_item* items;
    uint32_t count;
    size_t capacity;
} pl_items;

typedef struct pl_scene
{
    uint64_t handle;
    uint32_t simd;
    const pl_kernels* kernels;
    pl_colliders_resolve_fn resolve;
    const struct pl_mesh_kernels* mesh_kernels;
    const struct pl_contact_solver_kernels* cluster_kernels;
    const struct pl_cull_kernels* cull_kernels;
    pl_pool* pool;
    double gravity[3];
    uint32_t body_count, collider_count, field_count;
    size_t body_capacity, collider_capacity, field_capacity;
    pl_body** bodies; /* in order of creation */
    pl_collider** colliders;
    pl_field** fields;
    /* Time. */
    uint64_t frame, substep;
    uint32_t substep_of_frame, substeps;
    double frame_dt, time;
    volatile int cancel;
    const char* busy; /* the call that uses the scene now, or NULL; atomic (api.h) */
    /* Statistics. */
    double stage_ms[PLIANT_STAGE_COUNT];
    uint64_t pairs_tested, pairs_violated, contacts, mesh_nodes, mesh_triangles;
    /* Sleep: off where the speed is 0. */
    double sleep_speed, sleep_seconds;
    /* Contacts between clusters. */
    bool cluster_contacts;
    pl_contact_settings contact_settings;
    pl_welds welds;
    pl_encounters encounters;
    /* Scratch, made when an advance begins; never part of the state. */
    pl_items chunks;                    /* every chunk of every body */
    pl_items fine;                      /* runs of clusters that hold particles */
    pl_items coarse[PLIANT_MAX_LEVELS]; /* runs of nested clusters, by level */
    pl_contacts cluster_scratch;
    pl_contact_body* contact_bodies;
    size_t contact_body_capacity;
    float** rows; /* one buffer a worker */
    uint32_t worker_count;
    size_t rows_size;
} pl_scene;

/* Advances by one frame, or finishes one that was cancelled. */
pl_status pl_scene_step_frame(pl_scene* scene, const pliant_frame_desc* desc);
/* Brings cluster fits up to date with the particles, without advancing. */
pl_status pl_scene_refresh(pl_scene* scene);
/* Substeps for a frame: as many as the stiffest body needs, at most "most". Bodies that may break
 * need PL_BREAKING_SUBSTEPS times as many, since they break under their own weight if too soft. */
uint32_t pl_scene_substeps(const pl_scene* scene, double dt, uint32_t most);
void pl_scene_free_scratch(pl_scene* scene);

#endif
