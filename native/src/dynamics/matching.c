// SPDX-License-Identifier: GPL-3.0-or-later
/* From moments of chunks to fits of clusters, coarse levels up and down, and rows. */
#include "base/platform.h"
#include "body/validity.h"
#include "dynamics/damping.h"
#include "dynamics/substep.h"
#include "fracture/shards.h"
#include "plasticity/plasticity.h"

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

/* Fits of the coarser levels, from those of the finest. */
static void sum_levels(pl_substep* step, uint32_t levels)
{
    for (step->level = 1; step->level < levels; ++step->level)
        pl_substep_run(step, &step->scene->coarse[step->level], 1, sum_level_items);
}

/* And what coarser levels add to the rows. */
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
