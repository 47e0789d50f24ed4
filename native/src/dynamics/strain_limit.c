// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The strain limiting stage: iterations of fit -> test and correct -> balance -> apply, while any
 * limit is violated (strain_limit.simd.c has the equations).
 */
#include "base/elementary.h"
#include "body/validity.h"
#include "dynamics/substep.h"

/* The clusters of an item that are of the finest level. */
static pl_match_batch finest_batch(const pl_substep* step, const pl_item* item)
{
    pl_match_batch batch = pl_substep_batch(step, item);
    batch.end = PL_MIN(item->end, item->body->level_begin[1]);
    return batch;
}

static void limit_match_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->fine.items[i];
        pl_match_batch batch = finest_batch(step, item);
        if (item->body->limiting && batch.begin < batch.end)
            step->scene->kernels->match_limit(&batch);
    }
}

static void limit_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->chunks.items[i];
        if (!item->body->limiting)
            continue;
        pl_pass pass = pl_substep_pass(step, item, worker);
        step->scene->kernels->limit(&pass);
        pass.chunk->tested += (uint32_t)pass.tested;
        pass.chunk->violated = (uint32_t)pass.violated;
    }
}

static void limit_balance_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->fine.items[i];
        pl_match_batch batch = finest_batch(step, item);
        batch.lever_side = item->body->lever_side;
        if (item->body->limiting && batch.begin < batch.end)
            step->scene->kernels->limit_balance(&batch, item->body->limit_sums);
    }
}

static bool chunk_is_touched(const pl_chunk* chunk, const pl_clusters* clusters, uint32_t finest)
{
    if (chunk->violated > 0)
        return true;
    for (uint32_t r = 0; r < chunk->row_count; ++r)
        if (chunk->rows[r] < finest && clusters->limit[chunk->rows[r]][15] > 0)
            return true;
    return false;
}

static void limit_apply_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->chunks.items[i];
        pl_pass pass = pl_substep_pass(step, item, worker);
        if (!item->body->limiting || !chunk_is_touched(pass.chunk, pass.clusters, pass.finest_end))
            continue;
        step->scene->kernels->limit_apply(&pass);
        if (pl_limit_gathers(&pass))
            pl_moments_gathered(pass.chunk);
        else
            pl_chunk_positions_changed(pass.chunk);
    }
}

bool pl_limits(const pl_body* body)
{
    const pliant_material_desc* m = &body->material;
    return m->strain_limit > 0 && m->strain_iterations > 0 && !body->pins.follow;
}

void pl_limit_free(pl_body* body)
{
    for (uint32_t c = 0; body->limit_sums && c < body->chunk_count; ++c)
        pl_free(body->limit_sums[c]);
    pl_free(body->limit_sums);
    body->limit_sums = NULL;
    for (int k = 0; k < 3; ++k)
    {
        pl_free(body->shift[k]);
        body->shift[k] = NULL;
    }
}

pl_status pl_limit_prepare(pl_body* body, double dt)
{
    const pliant_material_desc* m = &body->material;
    body->limiting = pl_limits(body);
    body->limit_relaxation = (float)(1 - pl_power(1 - m->strain_relaxation, dt * 60));
    if (!body->limiting || body->limit_sums)
        return PLIANT_OK;
    bool fine = true;
    body->limit_sums = PL_NEW(float*, body->chunk_count);
    for (uint32_t c = 0; body->limit_sums && c < body->chunk_count; ++c)
        fine = (body->limit_sums[c] =
                    PL_NEW(float, (size_t)body->chunks[c].row_count* PL_LIMIT_FLOATS)) &&
               fine;
    for (int k = 0; k < 3; ++k)
        fine = (body->shift[k] = PL_NEW(float, body->particles.slot_count)) && fine;
    return body->limit_sums && fine ? PLIANT_OK
                                    : pl_fail_memory((size_t)body->particles.slot_count * 12);
}

/* ------------------------------------------------------------------ groups of bodies */

enum
{
    GROUP_SLOTS = 1 << 14 /* slots of a group, for each thread */
};

/* Bodies that finish all iterations before the next group starts, so that their data stay in the
 * CPU cache. Strain limits of different bodies are independent. */
typedef struct group
{
    pl_substep* step;
    pl_work_fn work;
    uint32_t body_begin, body_end;   /* in the scene */
    uint32_t chunk_begin, chunk_end; /* in its list of chunks */
    uint32_t fine_begin, fine_end;   /* in its list of runs of clusters */
    uint32_t first;                  /* item of the current list */
} group;

/* Advances to the next group. */
static void next_group(group* g)
{
    const pl_scene* scene = g->step->scene;
    const pl_items *chunks = &scene->chunks, *fine = &scene->fine;
    uint64_t slots = 0, most = (uint64_t)GROUP_SLOTS * pl_pool_threads(scene->pool);
    g->body_begin = g->body_end, g->chunk_begin = g->chunk_end, g->fine_begin = g->fine_end;
    for (; g->body_end < scene->body_count; ++g->body_end)
    {
        const pl_body* body = scene->bodies[g->body_end];
        slots += body->particles.slot_count;
        if (slots > most && g->body_end > g->body_begin)
            break;
        while (g->chunk_end < chunks->count && chunks->items[g->chunk_end].body == body)
            ++g->chunk_end;
        while (g->fine_end < fine->count && fine->items[g->fine_end].body == body)
            ++g->fine_end;
    }
}

static void group_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const group* g = context;
    g->work(g->step, g->first + begin, g->first + end, worker);
}

static void run_chunks(group* g, pl_work_fn work)
{
    g->work = work, g->first = g->chunk_begin;
    pl_parallel_for(g->step->scene->pool, g->chunk_end - g->chunk_begin, 1, group_items, g);
}

static void run_fine(group* g, pl_work_fn work)
{
    g->work = work, g->first = g->fine_begin;
    pl_parallel_for(g->step->scene->pool, g->fine_end - g->fine_begin, 1, group_items, g);
}

/* Selects the bodies of a group that iterate again; false if there is none. */
static bool begin_iteration(const group* g, uint32_t iteration)
{
    bool any = false;
    for (uint32_t b = g->body_begin; b < g->body_end; ++b)
    {
        pl_body* body = g->step->scene->bodies[b];
        body->limiting =
            body->limiting && !body->asleep && iteration < body->material.strain_iterations;
        any = any || body->limiting;
    }
    return any;
}

/* The same, after the test of this iteration. */
static bool any_violated(const group* g)
{
    bool any = false;
    for (uint32_t b = g->body_begin; b < g->body_end; ++b)
    {
        pl_body* body = g->step->scene->bodies[b];
        uint64_t violated = 0;
        if (!body->limiting)
            continue;
        for (uint32_t c = 0; c < body->chunk_count; ++c)
            violated += body->chunks[c].violated;
        body->limiting = violated > 0;
        if (body->limiting)
            pl_moments_changed(body);
        body->pairs_violated += violated;
        any = any || body->limiting;
    }
    return any;
}

/* Gathers chunks that the last iteration did not change: their sums lack velocities. */
static void limit_group(group* g)
{
    for (uint32_t iteration = 0; begin_iteration(g, iteration); ++iteration)
    {
        g->step->iteration = iteration;
        if (iteration > 0)
            run_fine(g, limit_match_items);
        run_chunks(g, limit_items);
        if (!any_violated(g))
            break;
        run_fine(g, limit_balance_items);
        run_chunks(g, limit_apply_items);
    }
    run_chunks(g, pl_gather_items);
}

void pl_limit_strain(pl_substep* step)
{
    group g = {.step = step};
    for (next_group(&g); g.body_begin < step->scene->body_count; next_group(&g))
        limit_group(&g);
}
