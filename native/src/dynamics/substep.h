// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the files of a substep share: which substep it is, and how a stage runs over its items. A
 * stage runs over all bodies at once: its items (chunks, runs of clusters) lie in one list, so many
 * small bodies keep many threads busy as one large body does.
 */
#ifndef PL_DYNAMICS_SUBSTEP_H
#define PL_DYNAMICS_SUBSTEP_H

#include "dynamics/scene.h"

/* What a stage's items need to know about the substep. */
typedef struct pl_substep
{
    pl_scene* scene;
    float dt;
    double t0, t1;                     /* fractions of the frame */
    const pl_collider_step* colliders; /* of the body at hand: collider_count each, by body */
    uint32_t meshes;                   /* so many of the colliders are meshes */
    const pliant_field_desc* fields;
    uint32_t level;
    uint32_t iteration; /* of strain limiting */
    bool starting;      /* matching before the particles have moved */
    bool ending;        /* matching after all has moved: plastic flow */
} pl_substep;

/* Scratch of a chunk's contacts, for each block: masses, where particles began (as rows of the
 * chunk), what those that are moved were before, and whether they are. */
enum
{
    PL_CONTACT_FLOATS = 4 * 8 + PL_BEFORE_FLOATS + 1
};

/* task_lists.c: the lists of items and the workers' scratch, made anew when bodies have changed. */
pl_status pl_task_lists_make(pl_scene* scene);
pl_pass pl_substep_pass(const pl_substep* step, const pl_item* item, uint32_t worker);
pl_match_batch pl_substep_batch(const pl_substep* step, const pl_item* item);
void pl_substep_run(const pl_substep* step, const pl_items* list, uint32_t grain, pl_work_fn work);
/* Adds the time since then to a stage's; returns the time. */
double pl_substep_lap(pl_scene* scene, uint32_t stage, double since);

/* level_batches.c: the runs of nested levels, made when first needed. */
pl_status pl_level_batches_prepare(pl_body* body);
/* The run that a cluster begins; NULL where there is no coarser nested level, or it has flowed. */
pl_chunk* pl_level_batch_of(const pl_body* body, uint32_t level, uint32_t cluster);

/* strain_limit.c: strain limiting. */
bool pl_limits(const pl_body* body);
pl_status pl_limit_prepare(pl_body* body, double dt);
void pl_limit_strain(pl_substep* step);

/* substep.c: the stages. Sums again where particles moved since. */
void pl_gather_items(void* context, uint32_t begin, uint32_t end, uint32_t worker);
/* From the chunks' sums to fits and finest rows, for every body that has none. */
void pl_fit_bodies(pl_substep* step);
/* From the chunks' sums to rows, for every body that has none. */
pl_status pl_match_bodies(pl_substep* step);
pl_status pl_substep_do(pl_substep* step);
/* Before the substeps of a frame: boxes around what meshes do in it, and what is known of each body
 * around them. */
pl_status pl_meshes_ready(pl_scene* scene, uint32_t* meshes);

#endif
