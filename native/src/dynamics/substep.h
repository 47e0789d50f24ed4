// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Shared by the files of a substep: its parameters, and how a stage runs over its items. A stage
 * runs over all bodies at once: its items (chunks, runs of clusters) are in one list, so many small
 * bodies use as many threads as one large body.
 */
#ifndef PL_DYNAMICS_SUBSTEP_H
#define PL_DYNAMICS_SUBSTEP_H

#include "dynamics/scene.h"

/* Parameters of the substep for a stage's items. */
typedef struct pl_substep
{
    pl_scene* scene;
    float dt;
    double t0, t1;                     /* fractions of the frame */
    const pl_collider_step* colliders; /* of the body at hand: collider_count each, by body */
    uint32_t meshes;                   /* number of mesh colliders */
    const pliant_field_desc* fields;
    uint32_t level;
    uint32_t iteration; /* of strain limiting */
    bool starting;      /* matching before the particles have moved */
    bool ending;        /* matching after all has moved: plastic flow */
    bool limited_only;  /* fitting only bodies that limit strain */
} pl_substep;

/* Scratch of a chunk's contacts, for each block: masses, start positions (as rows of the chunk),
 * the state of moved particles before, and flags of moved ones. */
enum
{
    PL_CONTACT_FLOATS = 4 * 8 + PL_BEFORE_FLOATS + 1
};

/* task_lists.c: the lists of items and the workers' scratch, rebuilt when bodies have changed. */
pl_status pl_task_lists_make(pl_scene* scene);
pl_pass pl_substep_pass(const pl_substep* step, const pl_item* item, uint32_t worker);
pl_match_batch pl_substep_batch(const pl_substep* step, const pl_item* item);
void pl_substep_run(const pl_substep* step, const pl_items* list, uint32_t grain, pl_work_fn work);
/* Adds the time since "since" to a stage's; returns the current time. */
double pl_substep_lap(pl_scene* scene, uint32_t stage, double since);

/* level_batches.c: the runs of nested levels, built on first use. */
pl_status pl_level_batches_prepare(pl_body* body);
/* The run that starts at a cluster; NULL without a coarser nested level, or after flow. */
pl_chunk* pl_level_batch_of(const pl_body* body, uint32_t level, uint32_t cluster);

/* strain_limit.c: strain limiting. */
bool pl_limits(const pl_body* body);
pl_status pl_limit_prepare(pl_body* body, double dt);
void pl_limit_strain(pl_substep* step);
void pl_limit_free(pl_body* body);

/* forces.c: fields and pressure. */
pl_status pl_apply_forces(pl_substep* step);
void pl_forces_free(pl_body* body);
/* rounding.c: what rounding left of the clusters' impulses, for the next substep to give back. */
void pl_note_remainder(pl_body* body);

/* substep.c: the stages. Gathers chunks whose particles have moved since the last gather. */
void pl_gather_items(void* context, uint32_t begin, uint32_t end, uint32_t worker);
/* matching.c: from the chunks' sums to fits and finest rows, for every body that has none, or of
 * these for those that limit strain. */
void pl_fit_bodies(pl_substep* step, bool limited_only);
/* From the chunks' sums to rows, for every body that has none. */
pl_status pl_match_bodies(pl_substep* step);
pl_status pl_substep_do(pl_substep* step);

#endif
