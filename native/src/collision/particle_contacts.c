// SPDX-License-Identifier: GPL-3.0-or-later
/* Particles against colliders and meshes, chunk by chunk. */
#include "collision/particle_contacts.h"

#include "base/platform.h"
#include "body/piece_query.h"
#include "body/validity.h"
#include "collision/mesh/triangle_cache.h"
#include "dynamics/substep.h"

#include <string.h>

/* Rounds over the meshes around a chunk that touches more than one. */
#define MESH_PASSES 4

/* Where the particles were when the substep began: contacts change what would tell it. */
static void keep_starts(float dt, uint32_t count, float* const x[3], float* const v[3],
                        float* const start[3])
{
    for (int k = 0; k < 3; ++k)
        for (uint32_t i = 0; i < count; ++i)
            start[k][i] = pl_start_of(x[k][i], v[k][i], dt);
}

/* Masses of those that a collider moves: held particles go where they are held, whatever is there,
 * sleeping ones stay where they are, and ghosts are not there; to a shell those of a body that
 * flows are: once behind it, they would be held there when they are far, and draw their piece after
 * them.
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

/* A push out of one mesh may be into another: again until no more than one is touched. "movable" is
 * NULL where all particles are. */
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

/* Lists of triangles need memory, and particles that are somewhere. */
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

pl_status pl_particle_contacts(pl_substep* step)
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
