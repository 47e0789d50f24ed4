// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One substep: the stages in their order.
 *
 *      rows ──► advance ──► limit ──► contact ──► recluster ──► match ──► levels ──► rows
 *               blend,      only      clusters,   now and       fit,      coarse     and
 *               integrate,  where     colliders,  then          flow      levels up  fracture
 *               gather      violated  gather                              and down
 *
 * The rows that a substep starts with were made at the end of the one before, from the same
 * positions.
 */
#include "dynamics/substep.h"

#include "base/platform.h"
#include "body/validity.h"
#include "collision/cluster/stage.h"
#include "collision/mesh/triangle_cache.h"
#include "collision/particle_contacts.h"
#include "dynamics/damping.h"
#include "dynamics/material.h"
#include "fracture/fracture.h"
#include "plasticity/plasticity.h"
#include "sleep/sleep.h"

#include <string.h>

/* ------------------------------------------------------------------ passes */

static void advance_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->chunks.items[i];
        if (pl_chunk_sleeps(item->body, item->begin))
            continue; /* its sums are as they were */
        pl_assert_rows(item->body);
        pl_assert_material(item->body, step->dt);
        pl_pass pass = pl_substep_pass(step, item, worker);
        step->scene->kernels->advance(&pass);
        pl_moments_gathered(pass.chunk);
    }
}

/* Gathers chunks whose particles have moved since the last gather. */
void pl_gather_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->chunks.items[i];
        pl_chunk* chunk = &item->body->chunks[item->begin];
        if (chunk->moments != PL_MOMENTS_STALE)
            continue;
        pl_pass pass = pl_substep_pass(step, item, worker);
        step->scene->kernels->gather(&pass);
        pl_moments_gathered(chunk);
    }
}

/* ------------------------------------------------------------------ what is stale */

static pl_status make_ready(pl_substep* step)
{
    pl_scene* scene = step->scene;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        body->index = b;
        if (body->asleep)
        {
            body->pairs_violated = body->pairs_tested = body->contacts = 0;
            continue;
        }
        if (body->valid.material_dt != step->dt)
        {
            pl_material_apply(body, step->dt);
            pl_moments_changed(body);
        }
        PL_TRY(pl_piece_sleep_update(body));
        PL_TRY(pl_damping_prepare(body));
        pl_fits_follow_rows(body); /* rows are made whole, from the finest level up and down */
        PL_TRY(pl_limit_prepare(body, step->dt));
        PL_TRY(pl_level_batches_prepare(body));
        body->pairs_violated = body->pairs_tested = body->contacts = 0;
    }
    pl_substep_run(step, &scene->chunks, 1, pl_gather_items);
    step->starting = true; /* fits at the start of the substep */
    PL_TRY(pl_match_bodies(step));
    step->starting = false;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ stages */

static pl_status forces(pl_substep* step)
{
    double since = pl_now_ms();
    pl_status status = pl_apply_forces(step);
    pl_substep_lap(step->scene, PLIANT_STAGE_FORCES, since);
    return status;
}

static pl_status advance(pl_substep* step)
{
    pl_scene* scene = step->scene;
    double since = pl_now_ms();
    pl_substep_run(step, &scene->chunks, 1, advance_items);
    pl_substep_lap(scene, PLIANT_STAGE_PARTICLES, since);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        if (body->asleep)
            continue;
        memset(body->particles.touch, 0, body->particles.slot_count);
        pl_moments_changed(body);
    }
    return PLIANT_OK;
}

static pl_status limit_strain(pl_substep* step)
{
    pl_fit_bodies(step, true); /* the others wait for their contacts */
    double since = pl_now_ms();
    pl_limit_strain(step);
    pl_substep_lap(step->scene, PLIANT_STAGE_LIMIT, since);
    return PLIANT_OK;
}

static bool any_contact(const pl_body* body)
{
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        if (body->chunks[c].touched)
            return true;
    return false;
}

static pl_status contacts(pl_substep* step)
{
    pl_scene* scene = step->scene;
    double since = pl_now_ms();
    if (scene->cluster_contacts || scene->welds.count)
        PL_TRY(pl_cluster_contacts(step));
    if (scene->collider_count)
        PL_TRY(pl_particle_contacts(step));
    pl_piece_sleep_hold(step);
    pl_substep_lap(scene, PLIANT_STAGE_CONTACT, since);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        if (body->asleep)
            continue;
        pl_note_remainder(body);
        pl_fits_keep_if(body, pl_limits(body) && !any_contact(body) && !body->plastic);
    }
    return PLIANT_OK;
}

static pl_status match(pl_substep* step)
{
    pl_scene* scene = step->scene;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (!scene->bodies[b]->asleep)
            PL_TRY(pl_damping_prepare(scene->bodies[b]));
    step->ending = true;
    PL_TRY(pl_match_bodies(step));
    step->ending = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (!scene->bodies[b]->asleep)
            scene->bodies[b]->lever_side = !scene->bodies[b]->lever_side;
    return PLIANT_OK;
}

static pl_status count_figures(pl_substep* step)
{
    pl_scene* scene = step->scene;
    scene->pairs_tested = scene->pairs_violated = scene->contacts = 0;
    scene->mesh_nodes = scene->mesh_triangles = 0;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        for (uint32_t c = 0; c < body->chunk_count && !body->asleep; ++c)
        {
            body->pairs_tested += body->chunks[c].tested;
            body->contacts += body->chunks[c].touched;
            body->chunks[c].tested = body->chunks[c].touched = 0;
        }
        scene->pairs_tested += body->pairs_tested;
        scene->pairs_violated += body->pairs_violated;
        scene->contacts += body->contacts;
        pl_triangle_cache_count(body, &scene->mesh_nodes, &scene->mesh_triangles);
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ one substep */

typedef pl_status (*stage)(pl_substep* step);

/*
 *   stage               reads                              writes
 *   make_ready          material, memberships, dt          alpha, kappa; moments and rows if stale
 *   forces              positions, velocities, fields      accelerations, enclosed volume
 *   advance             rows, accelerations, pins          velocities, positions, moments
 *   limit_strain        moments, levers                    fits; positions, velocities, moments
 *   contacts            fits, shapes, colliders, meshes    positions, velocities, moments; wakes
 *   pl_recluster        F^p, fades, widths                 memberships, weights
 *   pl_resample         F^p                                particles, memberships
 *   match               moments                            fits, F^p, rows of the next substep
 *   count_figures       figures of chunks                  figures of bodies and of the scene
 *   pl_fracture_bodies  fits                               memberships, particles, pieces
 */
static const stage STAGES[] = {
    make_ready,   forces,      advance, limit_strain,  contacts,
    pl_recluster, pl_resample, match,   count_figures, pl_fracture_bodies,
};

pl_status pl_substep_do(pl_substep* step)
{
    for (size_t i = 0; i < sizeof STAGES / sizeof *STAGES; ++i)
        PL_TRY(STAGES[i](step));
    return PLIANT_OK;
}
