// SPDX-License-Identifier: GPL-3.0-or-later
/* Frames: runs the substeps, moves the bodies' origins, and stores the results of a frame. */
#include "base/platform.h"
#include "body/validity.h"
#include "collision/particle_contacts.h"
#include "dynamics/damping.h"
#include "dynamics/material.h"
#include "dynamics/substep.h"
#include "sleep/sleep.h"

/* Keeps positions small: the origin follows the body in whole steps of its grid. It reads
 * particles, since clusters are current only if a caller has read them, and only the middle one of
 * each chunk, since a rough mean is enough. */
static void move_origin(pl_body* body)
{
    const pl_particles* p = &body->particles;
    double step[3];
    bool any = false;
    for (int k = 0; k < 3; ++k)
    {
        double mean = 0;
        for (uint32_t c = 0; c < body->chunk_count; ++c)
            mean += p->x[k][body->chunks[c].middle_slot];
        mean /= body->chunk_count;
        step[k] = fabs(mean) > body->grid ? floor(mean / body->grid + .5) * body->grid : 0;
        any = any || step[k] != 0;
    }
    if (!any)
        return;
    for (int k = 0; k < 3; ++k)
    {
        body->origin[k] += step[k];
        body->pivot[k] -= step[k];
        for (uint32_t i = 0; i < p->slot_count; ++i)
            p->x[k][i] -= (float)step[k];
        for (uint32_t i = 0; body->pins.from[k] && i < p->slot_count; ++i)
        {
            body->pins.from[k][i] -= (float)step[k];
            body->pins.to[k][i] -= (float)step[k];
        }
        body->sleeping_pieces.stamp = 0; /* where they stand has another number now */
    }
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        for (int k = 0; k < 3; ++k)
            body->chunks[c].pos_origin[k] -= (float)step[k];
    }
    pl_positions_changed(body);
}

static bool is_finite(const pl_body* body)
{
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        for (int k = 0; k < 3; ++k)
            if (!(fabsf(body->clusters.x[c][k]) < 1e15f))
                return false;
    return true;
}

static void finish_frame(pl_scene* scene, const pliant_frame_desc* desc)
{
    for (uint32_t i = 0; i < scene->collider_count; ++i)
        pl_collider_finish(scene->colliders[i]);
    for (uint32_t i = 0; i < scene->field_count; ++i)
        scene->fields[i]->from = scene->fields[i]->to;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        for (int k = 0; k < 3; ++k)
            if (body->pins.from[k])
                memcpy(body->pins.from[k], body->pins.to[k],
                       sizeof(float) * body->particles.slot_count);
    }
    scene->substep_of_frame = 0;
    scene->time += desc->dt;
    ++scene->frame;
}

static pl_status run_substeps(pl_scene* scene, const pliant_frame_desc* desc,
                              pl_collider_step* colliders, pliant_field_desc* fields)
{
    pl_task task = {desc->progress, desc->user, &scene->cancel, 0, 1, "simulate"};
    uint32_t meshes;
    PL_TRY(pl_meshes_ready(scene, &meshes));
    while (scene->substep_of_frame < scene->substeps)
    {
        uint32_t n = scene->substep_of_frame;
        if (pl_task_step(&task, (double)n / scene->substeps))
        {
            __atomic_store_n(&scene->cancel, 0, __ATOMIC_RELAXED);
            return pl_fail(PLIANT_CANCELLED, "Cancelled in substep %u of %u", n + 1,
                           scene->substeps);
        }
        pl_substep step = {.scene = scene,
                           .dt = (float)(desc->dt / scene->substeps),
                           .t0 = (double)n / scene->substeps,
                           .t1 = (double)(n + 1) / scene->substeps,
                           .colliders = colliders,
                           .meshes = meshes,
                           .fields = fields};
        for (uint32_t b = 0; b < scene->body_count; ++b)
            for (uint32_t i = 0; i < scene->collider_count; ++i)
            {
                const pl_body* body = scene->bodies[b];
                pl_collider_step* it = &colliders[(size_t)b * scene->collider_count + i];
                pl_collider_prepare(scene->colliders[i], body->origin, step.t0, step.t1, it);
                it->friction = pl_mixed_friction(body->friction, it->friction);
                it->restitution = pl_mixed_restitution(body->restitution, it->restitution);
            }
        for (uint32_t i = 0; i < scene->field_count; ++i)
            pl_field_at(scene->fields[i], step.t1, &fields[i]);
        PL_TRY(pl_substep_do(&step));
        ++scene->substep_of_frame;
        ++scene->substep;
        for (uint32_t b = 0; b < scene->body_count; ++b)
            if (!scene->bodies[b]->asleep && !is_finite(scene->bodies[b]))
                return pl_fail(PLIANT_ERROR_UNSTABLE,
                               "Body %u left the range of numbers in frame %llu, substep %u", b,
                               (unsigned long long)scene->frame, n + 1);
    }
    return PLIANT_OK;
}

uint32_t pl_scene_substeps(const pl_scene* scene, double dt, uint32_t most)
{
    uint32_t substeps = 1;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        const pl_fracture* f = scene->bodies[b]->fracture;
        uint32_t times = f && f->desc.toughness < INFINITY ? PL_BREAKING_SUBSTEPS : 1;
        uint32_t own = PL_MIN(most * times, PL_MOST_SUBSTEPS);
        substeps = PL_MAX(substeps, pl_material_substeps(scene->bodies[b], dt, own));
    }
    return substeps;
}

pl_status pl_scene_step_frame(pl_scene* scene, const pliant_frame_desc* desc)
{
    if (scene->substep_of_frame == 0 && scene->sleep_speed > 0)
        PL_TRY(pl_sleep_begin_frame(scene));
    PL_TRY(pl_task_lists_make(scene));
    if (scene->substep_of_frame == 0)
    {
        scene->substeps = desc->substeps ? desc->substeps
                                         : pl_scene_substeps(scene, desc->dt, desc->max_substeps);
        scene->frame_dt = desc->dt;
        for (uint32_t b = 0; b < scene->body_count; ++b)
            if (!scene->bodies[b]->asleep)
                move_origin(scene->bodies[b]);
    }
    else if (scene->frame_dt != desc->dt)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The frame under way is %g s long; finish it before asking for %g s",
                       scene->frame_dt, desc->dt);
    size_t pairs = (size_t)scene->body_count * scene->collider_count;
    pl_collider_step* colliders = PL_NEW(pl_collider_step, pairs);
    pliant_field_desc* fields = PL_NEW(pliant_field_desc, scene->field_count);
    pl_status status = colliders && fields ? PLIANT_OK : pl_fail_memory(pairs * 256);
    uint32_t fp_state = pl_fp_state_enter();
    if (status == PLIANT_OK)
        status = run_substeps(scene, desc, colliders, fields);
    pl_fp_state_leave(fp_state);
    pl_free(colliders);
    pl_free(fields);
    if (status == PLIANT_OK)
        finish_frame(scene, desc);
    if (status == PLIANT_OK && scene->sleep_speed > 0)
        status = pl_sleep_end_frame(scene, desc->dt);
    return status;
}

pl_status pl_scene_refresh(pl_scene* scene)
{
    bool stale = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        stale = stale || !body->valid.rows;
        pl_fits_follow_rows(body);
        if (body->valid.material_dt == 0)
        {
            /* rows need the alpha of some substep; its warnings do not concern the caller */
            uint32_t warnings = body->warnings;
            double reached = body->stiffness_reached;
            pl_material_apply(body, 1.0 / 24);
            body->warnings = warnings;
            body->stiffness_reached = reached;
        }
    }
    if (!stale)
        return PLIANT_OK;
    PL_TRY(pl_task_lists_make(scene));
    for (uint32_t b = 0; b < scene->body_count; ++b)
        PL_TRY(pl_damping_prepare(scene->bodies[b]));
    pl_substep step = {.scene = scene, .dt = 1.0f / 24, .starting = true};
    uint32_t fp_state = pl_fp_state_enter();
    pl_substep_run(&step, &scene->chunks, 1, pl_gather_items);
    pl_status status = pl_match_bodies(&step);
    pl_fp_state_leave(fp_state);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        pl_material_changed(scene->bodies[b]); /* rows belong to no substep yet */
    return status;
}
