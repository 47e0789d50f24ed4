// SPDX-License-Identifier: GPL-3.0-or-later
/* The lists of items that stages run over, and the parameters of a kernel for an item. */
#include "base/elementary.h"
#include "base/platform.h"
#include "dynamics/material.h"
#include "dynamics/substep.h"

static bool add_item(pl_items* list, pl_body* body, uint32_t begin, uint32_t end)
{
    if (!pl_grow((void**)&list->items, &list->capacity, (size_t)list->count + 1, sizeof(pl_item)))
        return false;
    list->items[list->count++] = (pl_item){body, begin, end};
    return true;
}

static bool add_runs(pl_items* list, pl_body* body, uint32_t begin, uint32_t end)
{
    uint32_t size = pl_batch_size(end - begin);
    for (uint32_t c = begin; c < end; c += size)
        if (!add_item(list, body, c, PL_MIN(c + size, end)))
            return false;
    return true;
}

static uint32_t held_end(const pl_body* body)
{
    return body->level_begin[body->level_kind == PLIANT_LEVELS_NESTED ? 1 : body->level_count];
}

static bool list_body(pl_scene* scene, pl_body* body, size_t* rows)
{
    bool quadratic = body->material.goal == PLIANT_GOAL_QUADRATIC;
    body->simd = scene->simd;
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        if (!add_item(&scene->chunks, body, i, i + 1))
            return false;
        *rows = PL_MAX(*rows, pl_pass_scratch(body->chunks[i].row_count, quadratic));
        *rows = PL_MAX(*rows, PL_CONTACT_FLOATS * (size_t)body->chunks[i].block_count);
    }
    if (!add_runs(&scene->fine, body, 0, held_end(body)))
        return false;
    if (body->level_kind == PLIANT_LEVELS_NESTED)
        for (uint32_t l = 1; l < body->level_count; ++l)
            if (!add_runs(&scene->coarse[l], body, body->level_begin[l], body->level_begin[l + 1]))
                return false;
    return true;
}

pl_status pl_task_lists_make(pl_scene* scene)
{
    size_t rows = 0;
    scene->chunks.count = scene->fine.count = 0;
    for (int l = 0; l < PLIANT_MAX_LEVELS; ++l)
        scene->coarse[l].count = 0;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (!scene->bodies[b]->asleep && !list_body(scene, scene->bodies[b], &rows))
            return pl_fail_memory(sizeof(pl_item) * scene->chunks.count);
    uint32_t workers = pl_pool_threads(scene->pool);
    if (scene->rows && scene->worker_count == workers && scene->rows_size >= rows)
        return PLIANT_OK;
    for (uint32_t w = 0; scene->rows && w < scene->worker_count; ++w)
        pl_free(scene->rows[w]);
    pl_free(scene->rows);
    scene->worker_count = workers;
    scene->rows_size = rows;
    scene->rows = PL_NEW(float*, workers);
    for (uint32_t w = 0; scene->rows && w < workers; ++w)
        if (!(scene->rows[w] = PL_NEW(float, rows)))
            return pl_fail_memory(rows * sizeof(float));
    return scene->rows ? PLIANT_OK : pl_fail_memory(workers * sizeof(float*));
}

void pl_scene_free_scratch(pl_scene* scene)
{
    pl_free(scene->chunks.items);
    pl_free(scene->fine.items);
    for (int l = 0; l < PLIANT_MAX_LEVELS; ++l)
        pl_free(scene->coarse[l].items);
    for (uint32_t w = 0; scene->rows && w < scene->worker_count; ++w)
        pl_free(scene->rows[w]);
    pl_free(scene->rows);
    scene->rows = NULL;
    pl_contacts_free(&scene->cluster_scratch);
    pl_free(scene->contact_bodies);
    scene->contact_bodies = NULL;
    scene->contact_body_capacity = 0;
}

pl_pass pl_substep_pass(const pl_substep* step, const pl_item* item, uint32_t worker)
{
    pl_scene* scene = step->scene;
    pl_body* body = item->body;
    pl_pass pass = {
        .chunk = &body->chunks[item->begin],
        .particles = &body->particles,
        .clusters = &body->clusters,
        .rows = scene->rows[worker],
        .quadratic = body->material.goal == PLIANT_GOAL_QUADRATIC,
        .dt = step->dt,
        .drag = body->material.drag > 0 ? (float)(1 - pl_exp(-body->material.drag * step->dt)) : 0,
        .pins = body->pins.any || body->pins.follow ? &body->pins : NULL,
        .hold_all = body->pins.follow,
        .still = body->sleeping_pieces.slot && body->sleeping_pieces.chunk[item->begin]
                     ? body->sleeping_pieces.slot
                     : NULL,
        .pin_from = (float)step->t0,
        .pin_to = (float)step->t1,
        .pin_rate = scene->frame_dt > 0 ? (float)(1 / scene->frame_dt) : 0,
        .relaxation = body->limit_relaxation,
        .limit_sums = body->limit_sums ? body->limit_sums[item->begin] : NULL,
        .finest_end = body->level_begin[1],
        .last_iteration = step->iteration + 1 >= body->material.strain_iterations,
    };
    for (int k = 0; k < 3; ++k)
    {
        pass.gravity[k] = (float)(scene->gravity[k] - body->remainder[k] / step->dt);
        pass.turn[k] = (float)(-body->turn[k] / step->dt);
        pass.pivot[k] = (float)body->pivot[k];
        pass.acceleration[k] = body->acceleration[k];
        pass.force[k] = body->valid.forces ? body->force[k] : NULL;
        pass.shift[k] = body->shift[k];
    }
    return pass;
}

pl_match_batch pl_substep_batch(const pl_substep* step, const pl_item* item)
{
    const pl_body* body = item->body;
    return (pl_match_batch){.chunks = body->chunks,
                            .part_begin = body->clusters.part_begin,
                            .part = body->clusters.part,
                            .clusters = &item->body->clusters,
                            .begin = item->begin,
                            .end = item->end,
                            .dt = step->dt,
                            .beta = (float)body->material.beta,
                            .firmness = (float)pl_material_goal_firmness(&body->material),
                            .bend = body->material.stiffness_kind != PLIANT_STIFFNESS_ALPHA,
                            .goal = body->material.goal,
                            .rotation = body->material.rotation,
                            .sum_parts = true,
                            .finest = true,
                            .gamma = (float)body->material.strain_limit,
                            .lever_side = step->starting ? body->lever_side : !body->lever_side,
                            .plastic = body->plastic,
                            .flow = body->plastic && step->ending,
                            .yield = (float)body->material.yield,
                            .hardening = (float)body->material.hardening,
                            .plastic_limit = (float)body->material.plastic_limit};
}

void pl_substep_run(const pl_substep* step, const pl_items* list, uint32_t grain, pl_work_fn work)
{
    pl_parallel_for(step->scene->pool, list->count, grain, work, (void*)(uintptr_t)step);
}

double pl_substep_lap(pl_scene* scene, uint32_t stage, double since)
{
    double now = pl_now_ms();
    scene->stage_ms[stage] += now - since;
    return now;
}
