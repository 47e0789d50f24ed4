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
#include "dynamics/damping.h"
#include "dynamics/material.h"
#include "dynamics/pressure.h"
#include "fracture/fracture.h"
#include "fracture/shards.h"
#include "plasticity/plasticity.h"
#include "sleep/sleep.h"

#include <string.h>

/* Passes over the mesh colliders for a chunk that touches more than one. */
#define MESH_PASSES 4

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

static bool wants_fits(const pl_substep* step, const pl_body* body)
{
    return !body->asleep && !body->valid.fits && (!step->limited_only || pl_limits(body));
}

/* Fits clusters; independent coarse levels come in the same list and do not normalise. */
static void match_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->fine.items[i];
        if (!wants_fits(step, item->body))
            continue;
        uint32_t finest_end = item->body->level_begin[1];
        pl_match_batch batch = pl_substep_batch(step, item);
        batch.end = PL_MIN(item->end, finest_end);
        batch.run = pl_level_batch_of(item->body, 0, item->begin);
        if (batch.begin < batch.end)
            step->scene->kernels->match(&batch);
        batch.begin = PL_MAX(item->begin, finest_end);
        batch.end = item->end;
        batch.finest = false;
        batch.gamma = 0;
        if (batch.begin < batch.end)
            step->scene->kernels->match(&batch);
    }
}

static void sum_level_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->coarse[step->level].items[i];
        pl_body* body = item->body;
        if (body->valid.rows)
            continue;
        pl_assert_fits(body);
        pl_match_batch batch = pl_substep_batch(step, item);
        batch.finest = false;
        batch.gamma = 0;
        batch.plastic = batch.flow = false; /* a coarse cluster's rest shape is in its links */
        if (pl_level_batch_of(body, 0, 0))
        {
            batch.chunks = body->links.batches.run;
            batch.part_begin = body->links.batches.part_begin;
            batch.part = body->links.batches.part;
            batch.run = pl_level_batch_of(body, step->level, item->begin);
            batch.goal = PL_MIN(batch.goal, PLIANT_GOAL_LINEAR); /* the finest alone is quadratic */
        }
        else
        {
            step->scene->kernels->levels_sum(&body->links, &body->clusters, item->begin, item->end);
            batch.sum_parts = false;
        }
        step->scene->kernels->match(&batch);
    }
}

/* Rows of this level from the next coarser one. */
static void spread_level_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    const pl_items* list = step->level ? &step->scene->coarse[step->level] : &step->scene->fine;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &list->items[i];
        pl_body* body = item->body;
        const pl_chunk* run = pl_level_batch_of(body, step->level, item->begin);
        if (body->valid.rows || body->level_kind != PLIANT_LEVELS_NESTED)
            continue;
        if (run)
            step->scene->kernels->run_spread(run, body->links.batches.rows[run->slot_begin],
                                             &body->clusters, item->begin, item->end);
        else
            step->scene->kernels->levels_spread(&body->links, &body->clusters, item->begin,
                                                item->end);
    }
}

void pl_fit_bodies(pl_substep* step, bool limited_only)
{
    pl_scene* scene = step->scene;
    double since = pl_now_ms();
    bool any = false;
    step->limited_only = limited_only;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        any = any || wants_fits(step, scene->bodies[b]);
    if (!any)
        return;
    pl_substep_run(step, &scene->fine, 1, match_items);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (wants_fits(step, scene->bodies[b]))
        {
            pl_assert_moments(scene->bodies[b]);
            pl_fits_made(scene->bodies[b]);
        }
    pl_substep_lap(scene, PLIANT_STAGE_MATCH, since);
}

/* Fits the coarser levels, from the finest up. */
static void sum_levels(pl_substep* step, uint32_t levels)
{
    for (step->level = 1; step->level < levels; ++step->level)
        pl_substep_run(step, &step->scene->coarse[step->level], 1, sum_level_items);
}

/* Fits all levels, and adds the rows of coarser levels to finer ones. */
pl_status pl_match_bodies(pl_substep* step)
{
    pl_scene* scene = step->scene;
    uint32_t levels = 1;
    bool any = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        if (scene->bodies[b]->asleep)
            continue;
        any = any || !scene->bodies[b]->valid.rows;
        if (scene->bodies[b]->level_kind == PLIANT_LEVELS_NESTED)
            levels = PL_MAX(levels, scene->bodies[b]->level_count);
    }
    if (!any)
        return PLIANT_OK;
    pl_fit_bodies(step, false);
    double since = pl_now_ms();
    sum_levels(step, levels);
    if (step->ending && pl_plastic_levels_wanted(scene))
    {
        pl_plastic_levels(step, levels);
        sum_levels(step, levels);
    }
    if (levels > 1)
        for (step->level = levels - 1; step->level-- > 0;)
            pl_substep_run(step, step->level ? &scene->coarse[step->level] : &scene->fine, 1,
                           spread_level_items);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        if (body->asleep || body->valid.rows)
            continue;
        pl_damping_add(body, scene->gravity, step->dt);
        PL_TRY(pl_shards_add(body, step->dt));
        pl_rows_made(body);
    }
    pl_substep_lap(scene, PLIANT_STAGE_LEVELS, since);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ forces and contacts */

static void field_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->chunks.items[i];
        pl_body* body = item->body;
        if (!body->valid.forces)
            continue;
        const pl_chunk* chunk = &body->chunks[item->begin];
        const float *x[3], *v[3];
        float* a[3];
        for (int k = 0; k < 3; ++k)
        {
            x[k] = body->particles.x[k] + chunk->slot_begin;
            v[k] = body->particles.v[k] + chunk->slot_begin;
            a[k] = body->force[k] + chunk->slot_begin;
            memset(a[k], 0, sizeof(float) * 8 * chunk->block_count);
        }
        for (uint32_t f = 0; f < step->scene->field_count; ++f)
            pl_field_add(&step->fields[f], body->origin, 8 * chunk->block_count, x, v, a);
    }
}

static pl_status apply_forces(pl_substep* step)
{
    pl_scene* scene = step->scene;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        pl_forces_changed(body);
        if (body->asleep || (scene->field_count == 0 && body->material.pressure <= 0))
            continue;
        for (int k = 0; k < 3; ++k)
            if (!body->force[k] && !(body->force[k] = PL_NEW(float, body->particles.slot_count)))
                return pl_fail_memory((size_t)body->particles.slot_count * 4);
        pl_forces_begun(body);
    }
    pl_substep_run(step, &scene->chunks, 1, field_items);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (scene->bodies[b]->material.pressure > 0 && !scene->bodies[b]->asleep)
            pl_pressure_add(scene->bodies[b], step->dt, scene->pool);
    return PLIANT_OK;
}

/* Stores positions at the start of the substep, which follow from x and v until contacts change
 * them. */
static void keep_starts(float dt, uint32_t count, float* const x[3], float* const v[3],
                        float* const start[3])
{
    for (int k = 0; k < 3; ++k)
        for (uint32_t i = 0; i < count; ++i)
            start[k][i] = pl_start_of(x[k][i], v[k][i], dt);
}

/* Masses for colliders, 0 for particles that they must not move: held ones, sleeping ones and
 * ghosts. Exception: a shell moves ghosts of bodies that flow. Behind the shell they would be held
 * back and pull their piece after them.
 */
static void take_out(const pl_body* body, uint32_t slot, uint32_t count, bool shell, float* movable)
{
    const float* frequency = body->pins.any ? body->pins.frequency + slot : NULL;
    bool ghosts = body->cuts.plane_count && !(shell && body->plastic);
    const uint8_t* ghost = ghosts ? body->cuts.ghost + slot : NULL;
    const uint8_t* still = body->sleeping_pieces.slot ? body->sleeping_pieces.slot + slot : NULL;
    for (uint32_t n = 0; n < count; ++n)
    {
        bool out = (frequency && frequency[n] >= PLIANT_PIN_HELD) ||
                   (ghost && ghost[n] == PL_GHOST) || (still && still[n] > 0);
        movable[n] = out ? 0 : body->particles.mass[slot + n];
    }
}

/* Moving out of one mesh may move into another, so this repeats until at most one is touched.
 * "movable" is NULL where all particles are movable. */
static bool touch_meshes(pl_triangle_cache_job* job, const pl_scene* scene, float* movable,
                         uint32_t* touched)
{
    const pl_chunk* chunk = &job->body->chunks[job->chunk];
    uint32_t touching = 2;
    for (uint32_t pass = 0; pass < MESH_PASSES && touching > 1; ++pass)
    {
        touching = 0;
        for (uint32_t i = 0; i < scene->collider_count; ++i)
        {
            uint32_t count = 0;
            job->collider = scene->colliders[i];
            if (!job->collider->mesh)
                continue;
            if (movable)
                take_out(job->body, chunk->slot_begin, 8 * chunk->block_count,
                         job->collider->shape == PLIANT_SHAPE_SHELL, movable);
            if (!pl_triangle_cache_resolve(job, &count))
                return false;
            touching += count > 0;
            *touched += pass == 0 ? count : 0;
        }
    }
    return true;
}

static void contact_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    const pl_scene* scene = step->scene;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &scene->chunks.items[i];
        pl_body* body = item->body;
        pl_chunk* chunk = &body->chunks[item->begin];
        uint32_t slot = chunk->slot_begin, count = 8 * chunk->block_count;
        const float* mass = body->particles.mass + slot;
        pl_assert_cuts(body);
        float *x[3], *v[3], *movable = scene->rows[worker];
        for (int k = 0; k < 3; ++k)
            x[k] = body->particles.x[k] + slot, v[k] = body->particles.v[k] + slot;
        if (body->pins.follow || pl_chunk_sleeps(body, item->begin))
        {
            pl_triangle_cache_forget_chunk(body, item->begin);
            continue;
        }
        bool some = body->pins.any || body->cuts.plane_count || body->sleeping_pieces.slot;
        if (some)
        {
            take_out(body, slot, count, false, movable);
            mass = movable;
        }
        float* before = movable + 4 * count;
        pl_moved_blocks moved = {
            0, (uint16_t*)(void*)(before + (size_t)PL_BEFORE_FLOATS * chunk->block_count), before,
            body->particles.touch + slot};
        pl_triangle_cache_job job = {
            .body = body,
            .chunk = item->begin,
            .kernels = scene->mesh_kernels,
            .t0 = step->t0,
            .t1 = step->t1,
            .dt = step->dt,
            .mass = mass,
            .start = {movable + count, movable + 2 * count, movable + 3 * count},
            .moved = &moved,
            .x = {x[0], x[1], x[2]},
            .v = {v[0], v[1], v[2]}};
        if (step->meshes && step->meshes < scene->collider_count)
        {
            keep_starts(step->dt, count, x, v, job.start);
            job.started = true;
        }
        uint32_t touched = 0;
        memset(moved.hit, 0, sizeof *moved.hit * chunk->block_count);
        if (step->meshes < scene->collider_count)
            touched = scene->resolve(step->colliders + (size_t)body->index * scene->collider_count,
                                     scene->collider_count, step->dt, count, mass, x, v, &moved);
        if (step->meshes && !touch_meshes(&job, scene, some ? movable : NULL, &touched))
            chunk->failed = 1;
        chunk->touched += touched;
        if (touched > 0)
        {
            pl_pass pass = pl_substep_pass(step, item, worker);
            scene->kernels->update_moments(&pass, &moved);
        }
    }
}

pl_status pl_meshes_ready(pl_scene* scene, uint32_t* meshes)
{
    double since = pl_now_ms();
    *meshes = 0;
    for (uint32_t i = 0; i < scene->collider_count; ++i)
    {
        if (!scene->colliders[i]->mesh)
            continue;
        ++*meshes;
        pl_mesh_collider_refit(scene->colliders[i]->mesh);
        for (uint32_t b = 0; b < scene->body_count; ++b)
            PL_TRY(pl_triangle_cache_prepare(scene->bodies[b], scene->colliders[i]->mesh));
    }
    pl_substep_lap(scene, PLIANT_STAGE_CONTACT, since);
    return PLIANT_OK;
}

/* The error of a chunk whose triangle list failed: out of memory, or positions not finite. */
static pl_status fail_near(const pl_body* body, uint32_t index)
{
    const pl_particles* p = &body->particles;
    for (uint32_t s = 0; s < p->slot_count; ++s)
        for (int k = 0; k < 3; ++k)
            if (!isfinite(p->x[k][s]) || !isfinite(p->v[k][s]))
                return pl_fail(PLIANT_ERROR_UNSTABLE, "Body %u left the range of numbers", index);
    return pl_fail(PLIANT_ERROR_MEMORY, "Not enough memory for the triangles around body %u",
                   index);
}

static pl_status resolve_contacts(pl_substep* step)
{
    pl_scene* scene = step->scene;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        if (!scene->bodies[b]->valid.cuts)
            PL_TRY(pl_cuts_refresh(scene->bodies[b]));
        PL_TRY(pl_ghosts_follow(scene->bodies[b]));
    }
    pl_substep_run(step, &scene->chunks, 1, contact_items);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        for (uint32_t c = 0; c < scene->bodies[b]->chunk_count; ++c)
            if (scene->bodies[b]->chunks[c].failed)
                return fail_near(scene->bodies[b], b);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ one substep */

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

static bool any_contact(const pl_body* body)
{
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        if (body->chunks[c].touched)
            return true;
    return false;
}

/* The body's approximate inertia about its centre of mass, with each finest cluster as a ball of
 * its own width; enough for a correction. Also returns that centre. */
static mat3 inertia_of(const pl_body* body, vec3* centre)
{
    const pl_clusters* k = &body->clusters;
    double mass = 0;
    mat3 second = m3_zero();
    *centre = v3(0, 0, 0);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        mass += k->mass[c];
        *centre = v3_mad(*centre, v3_from(k->x[c]), k->mass[c]);
    }
    *centre = v3_scale(*centre, 1 / mass);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        vec3 arm = v3_sub(v3_from(k->x[c]), *centre);
        double own = (double)k->width_rms[c] * k->width_rms[c] / 3;
        second = m3_add(second, m3_scale(m3_outer(arm, arm), k->mass[c]));
        for (int i = 0; i < 3; ++i)
            second.m[i][i] += k->mass[c] * own;
    }
    mat3 inertia = m3_scale(second, -1);
    double trace = m3_trace(second);
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += trace;
    return inertia;
}

/* The rounding error of the clusters' impulses, which the next substep compensates. The impulse of
 * damping on held and supported bodies is not rounding, so it is subtracted. */
static void note_remainder(pl_body* body)
{
    const pl_components* damped = &body->components;
    for (int k = 0; k < 3; ++k)
    {
        double sum = 0;
        for (uint32_t c = 0; c < body->chunk_count; ++c)
            sum += body->chunks[c].remainder[k];
        body->remainder[k] = body->mass > 0 ? (sum - damped->impulse[k]) / body->mass : 0;
    }
    vec3 centre;
    mat3 inertia = inertia_of(body, &centre);
    vec3 torque = v3_sub(v3_cross(centre, v3_fromd(damped->impulse)), v3_fromd(damped->moment));
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        vec3 arm = v3_sub(v3_from(chunk->pos_origin), centre);
        torque = v3_add(torque,
                        v3_add(v3_from(chunk->torque), v3_cross(arm, v3_from(chunk->remainder))));
    }
    double size = m3_trace(inertia);
    bool round = m3_det(inertia) > 1e-6 * size * size * size; /* not a needle or a point */
    vec3 turn = round ? m3_mulv(m3_inverse(inertia), torque) : v3(0, 0, 0);
    body->turn[0] = turn.x, body->turn[1] = turn.y, body->turn[2] = turn.z;
    body->pivot[0] = centre.x, body->pivot[1] = centre.y, body->pivot[2] = centre.z;
}

static void count_figures(pl_scene* scene)
{
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
}

pl_status pl_substep_do(pl_substep* step)
{
    pl_scene* scene = step->scene;
    PL_TRY(make_ready(step));
    double since = pl_now_ms();
    bool forces = scene->field_count > 0;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        forces = forces || scene->bodies[b]->material.pressure > 0;
        pl_forces_changed(scene->bodies[b]);
    }
    if (forces)
        PL_TRY(apply_forces(step));
    since = pl_substep_lap(scene, PLIANT_STAGE_FORCES, since);
    pl_substep_run(step, &scene->chunks, 1, advance_items);
    since = pl_substep_lap(scene, PLIANT_STAGE_PARTICLES, since);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        if (scene->bodies[b]->asleep)
            continue;
        memset(scene->bodies[b]->particles.touch, 0, scene->bodies[b]->particles.slot_count);
        pl_moments_changed(scene->bodies[b]);
    }
    pl_fit_bodies(step, true); /* the others wait for their contacts */
    since = pl_now_ms();
    pl_limit_strain(step);
    since = pl_substep_lap(scene, PLIANT_STAGE_LIMIT, since);
    if (scene->cluster_contacts || scene->welds.count)
        PL_TRY(pl_cluster_contacts(step));
    if (scene->collider_count)
        PL_TRY(resolve_contacts(step));
    pl_piece_sleep_hold(step);
    pl_substep_lap(scene, PLIANT_STAGE_CONTACT, since);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        if (body->asleep)
            continue;
        note_remainder(body);
        pl_fits_keep_if(body, pl_limits(body) && !any_contact(body) && !body->plastic);
    }
    PL_TRY(pl_recluster(step));
    PL_TRY(pl_resample(step));
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (!scene->bodies[b]->asleep)
            PL_TRY(pl_damping_prepare(scene->bodies[b]));
    step->ending = true;
    PL_TRY(pl_match_bodies(step));
    step->ending = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (!scene->bodies[b]->asleep)
            scene->bodies[b]->lever_side = !scene->bodies[b]->lever_side;
    count_figures(scene);
    return pl_fracture_bodies(step);
}
