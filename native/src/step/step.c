// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One substep, in the order of ALGORITHMS.md ("One step, in order"). A stage runs over all bodies
 * at once: its items (chunks, runs of clusters) lie in one list, so many small bodies keep many
 * threads busy as one large body does.
 *
 *      rows ──► advance ──► limit ──► contact ──► match ──► levels ──► rows
 *               blend,      only      colliders,  fit the    coarse
 *               integrate,  where     gather      clusters   levels up
 *               gather      violated  again                  and down
 *
 * The rows that a substep starts with were made at the end of the one before, from the same
 * positions.
 */
#include "step.h"

#include "../base/elementary.h"
#include "../base/platform.h"
#include "material.h"
#include "pressure.h"

enum
{
    CLUSTER_RUN = 32
};

/* ------------------------------------------------------------------ lists of work */

static bool add_item(pl_items* list, pl_body* body, uint32_t begin, uint32_t end)
{
    if (!pl_grow((void**)&list->items, &list->capacity, (size_t)list->count + 1, sizeof(pl_item)))
        return false;
    list->items[list->count++] = (pl_item){body, begin, end};
    return true;
}

static bool add_runs(pl_items* list, pl_body* body, uint32_t begin, uint32_t end)
{
    for (uint32_t c = begin; c < end; c += CLUSTER_RUN)
        if (!add_item(list, body, c, PL_MIN(c + CLUSTER_RUN, end)))
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
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        if (!add_item(&scene->chunks, body, i, i + 1))
            return false;
        *rows = PL_MAX(*rows, pl_pass_scratch(body->chunks[i].row_count, quadratic));
        *rows = PL_MAX(*rows, 8 * (size_t)body->chunks[i].block_count); /* masses: contact_items */
    }
    if (!add_runs(&scene->fine, body, 0, held_end(body)))
        return false;
    if (body->level_kind == PLIANT_LEVELS_NESTED)
        for (uint32_t l = 1; l < body->level_count; ++l)
            if (!add_runs(&scene->coarse[l], body, body->level_begin[l], body->level_begin[l + 1]))
                return false;
    return true;
}

static pl_status list_work(pl_scene* scene)
{
    size_t rows = 0;
    scene->chunks.count = scene->fine.count = 0;
    for (int l = 0; l < PLIANT_MAX_LEVELS; ++l)
        scene->coarse[l].count = 0;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (!list_body(scene, scene->bodies[b], &rows))
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
}

/* ------------------------------------------------------------------ passes */

/* What a stage's items need to know about the substep. */
typedef struct pl_substep
{
    pl_scene* scene;
    float dt;
    double t0, t1;                     /* fractions of the frame */
    const pl_collider_step* colliders; /* of the body at hand: collider_count each, by body */
    const pliant_field_desc* fields;
    uint32_t level;
    uint32_t iteration; /* of strain limiting */
    bool starting;      /* matching before the particles have moved */
} pl_substep;

static pl_pass make_pass(const pl_substep* step, const pl_item* item, uint32_t worker)
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
        .drag = (float)(1 - pl_exp(-body->material.drag * step->dt)),
        .pins = body->pins.any || body->pins.follow ? &body->pins : NULL,
        .hold_all = body->pins.follow,
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
        pass.force[k] = body->force_used ? body->force[k] : NULL;
        pass.shift[k] = body->shift[k];
    }
    return pass;
}

static pl_match_batch make_batch(const pl_substep* step, const pl_item* item)
{
    const pl_body* body = item->body;
    return (pl_match_batch){.chunks = body->chunks,
                            .clusters = &item->body->clusters,
                            .begin = item->begin,
                            .end = item->end,
                            .dt = step->dt,
                            .beta = (float)body->material.beta,
                            .goal = body->material.goal,
                            .rotation = body->material.rotation,
                            .sum_parts = true,
                            .finest = true,
                            .gamma = (float)body->material.strain_limit,
                            .lever_side = step->starting ? body->lever_side : !body->lever_side};
}

static void run(const pl_substep* step, const pl_items* list, uint32_t grain, pl_work_fn work)
{
    pl_parallel_for(step->scene->pool, list->count, grain, work, (void*)(uintptr_t)step);
}

static void advance_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    for (uint32_t i = begin; i < end; ++i)
    {
        pl_pass pass = make_pass(step, &step->scene->chunks.items[i], worker);
        step->scene->kernels->advance(&pass);
        pass.chunk->moved = 0;
    }
}

/* Sums again where particles moved since. */
static void gather_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->chunks.items[i];
        pl_chunk* chunk = &item->body->chunks[item->begin];
        if (!chunk->moved)
            continue;
        pl_pass pass = make_pass(step, item, worker);
        step->scene->kernels->gather(&pass);
        chunk->moved = 0;
    }
}

/* Fits clusters; independent coarse levels come in the same list and do not normalise. */
static void match_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->fine.items[i];
        if (item->body->fitted)
            continue;
        uint32_t finest_end = item->body->level_begin[1];
        pl_match_batch batch = make_batch(step, item);
        batch.end = PL_MIN(item->end, finest_end);
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
        if (item->body->matched)
            continue;
        step->scene->kernels->levels_sum(&item->body->links, &item->body->clusters, item->begin,
                                         item->end);
        pl_match_batch batch = make_batch(step, item);
        batch.sum_parts = false;
        batch.finest = false;
        batch.gamma = 0;
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
        pl_body* body = list->items[i].body;
        if (!body->matched && body->level_kind == PLIANT_LEVELS_NESTED)
            step->scene->kernels->levels_spread(&body->links, &body->clusters, list->items[i].begin,
                                                list->items[i].end);
    }
}

static double lap(pl_scene* scene, uint32_t stage, double since)
{
    double now = pl_now_ms();
    scene->stage_ms[stage] += now - since;
    return now;
}

/* From the chunks' sums to fits and finest rows, for every body that has none. */
static void fit_bodies(pl_substep* step)
{
    pl_scene* scene = step->scene;
    double since = pl_now_ms();
    bool any = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        any = any || !scene->bodies[b]->fitted;
    if (!any)
        return;
    run(step, &scene->fine, 4, match_items);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        scene->bodies[b]->fitted = true;
    lap(scene, PLIANT_STAGE_MATCH, since);
}

/* And what coarser levels add to the rows. */
static void match_bodies(pl_substep* step)
{
    pl_scene* scene = step->scene;
    uint32_t levels = 1;
    bool any = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        any = any || !scene->bodies[b]->matched;
        if (scene->bodies[b]->level_kind == PLIANT_LEVELS_NESTED)
            levels = PL_MAX(levels, scene->bodies[b]->level_count);
    }
    if (!any)
        return;
    fit_bodies(step);
    double since = pl_now_ms();
    for (step->level = 1; step->level < levels; ++step->level)
        run(step, &scene->coarse[step->level], 4, sum_level_items);
    if (levels > 1)
        for (step->level = levels - 1; step->level-- > 0;)
            run(step, step->level ? &scene->coarse[step->level] : &scene->fine, 8,
                spread_level_items);
    lap(scene, PLIANT_STAGE_LEVELS, since);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        scene->bodies[b]->matched = true;
}

/* ------------------------------------------------------------------ strain limiting */

static void limit_match_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->fine.items[i];
        pl_match_batch batch = make_batch(step, item);
        batch.end = PL_MIN(item->end, item->body->level_begin[1]);
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
        pl_pass pass = make_pass(step, item, worker);
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
        pl_match_batch batch = make_batch(step, item);
        batch.end = PL_MIN(item->end, item->body->level_begin[1]);
        batch.lever_side = item->body->lever_side;
        if (item->body->limiting && batch.begin < batch.end)
            step->scene->kernels->limit_balance(&batch, item->body->limit_sums);
    }
}

static bool chunk_is_touched(const pl_chunk* chunk, const pl_clusters* clusters, uint32_t finest)
{
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
        pl_pass pass = make_pass(step, item, worker);
        if (item->body->limiting && chunk_is_touched(pass.chunk, pass.clusters, pass.finest_end))
            step->scene->kernels->limit_apply(&pass);
    }
}

static bool limits(const pl_body* body)
{
    const pliant_material_desc* m = &body->material;
    return m->strain_limit > 0 && m->strain_iterations > 0 && !body->pins.follow;
}

static pl_status prepare_limit(pl_body* body, double dt)
{
    const pliant_material_desc* m = &body->material;
    body->limiting = limits(body);
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

static void limit_strain(pl_substep* step)
{
    pl_scene* scene = step->scene;
    for (uint32_t iteration = 0;; ++iteration)
    {
        step->iteration = iteration;
        bool any = false;
        for (uint32_t b = 0; b < scene->body_count; ++b)
        {
            pl_body* body = scene->bodies[b];
            body->limiting = body->limiting && iteration < body->material.strain_iterations;
            any = any || body->limiting;
        }
        if (!any)
            return;
        if (iteration > 0)
            run(step, &scene->fine, 4, limit_match_items);
        run(step, &scene->chunks, 1, limit_items);
        any = false;
        for (uint32_t b = 0; b < scene->body_count; ++b)
        {
            pl_body* body = scene->bodies[b];
            uint64_t violated = 0;
            if (!body->limiting)
                continue;
            for (uint32_t c = 0; c < body->chunk_count; ++c)
                violated += body->chunks[c].violated;
            body->limiting = violated > 0;
            body->fitted = body->fitted && !body->limiting;
            body->pairs_violated += violated;
            any = any || body->limiting;
        }
        if (!any)
            return;
        run(step, &scene->fine, 4, limit_balance_items);
        run(step, &scene->chunks, 1, limit_apply_items);
    }
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
        body->force_used = scene->field_count > 0 || body->material.pressure > 0;
        for (int k = 0; k < 3 && body->force_used; ++k)
            if (!body->force[k] && !(body->force[k] = PL_NEW(float, body->particles.slot_count)))
                return pl_fail_memory((size_t)body->particles.slot_count * 4);
    }
    run(step, &scene->chunks, 1, field_items);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (scene->bodies[b]->material.pressure > 0)
            pl_pressure_add(scene->bodies[b], step->dt, scene->pool);
    return PLIANT_OK;
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
        float *x[3], *v[3], *movable = scene->rows[worker];
        for (int k = 0; k < 3; ++k)
            x[k] = body->particles.x[k] + slot, v[k] = body->particles.v[k] + slot;
        if (body->pins.follow)
            continue;
        if (body->pins.any)
        {
            /* held particles go where they are held, whatever is there */
            for (uint32_t n = 0; n < count; ++n)
                movable[n] = body->pins.frequency[slot + n] >= PLIANT_PIN_HELD ? 0 : mass[n];
            mass = movable;
        }
        chunk->touched =
            scene->resolve(step->colliders + (size_t)body->index * scene->collider_count,
                           scene->collider_count, step->dt, count, mass, x, v);
        chunk->moved = chunk->touched > 0;
        if (chunk->moved)
        {
            pl_pass pass = make_pass(step, item, worker);
            scene->kernels->gather(&pass);
            chunk->moved = 0;
        }
    }
}

/* ------------------------------------------------------------------ one substep */

static pl_status make_ready(pl_substep* step)
{
    pl_scene* scene = step->scene;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        body->index = b;
        if (body->alpha_dt != step->dt)
        {
            pl_material_apply(body, step->dt);
            body->alpha_dt = step->dt;
            body->matched = body->fitted = false;
        }
        body->fitted = body->matched; /* rows are made whole, from the finest level up and down */
        PL_TRY(prepare_limit(body, step->dt));
        body->pairs_violated = body->pairs_tested = body->contacts = 0;
    }
    run(step, &scene->chunks, 1, gather_items);
    step->starting = true; /* what is matched now belongs to the start of the substep */
    match_bodies(step);
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

/* The body's inertia about its centre of mass, near enough for a correction: as if each finest
 * cluster were a ball of its own width. Also finds that centre. */
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

/* What rounding left of the clusters' impulses, to be given back in the next substep. */
static void note_remainder(pl_body* body)
{
    for (int k = 0; k < 3; ++k)
    {
        double sum = 0;
        for (uint32_t c = 0; c < body->chunk_count; ++c)
            sum += body->chunks[c].remainder[k];
        body->remainder[k] = body->mass > 0 ? sum / body->mass : 0;
    }
    vec3 centre, torque = v3(0, 0, 0);
    mat3 inertia = inertia_of(body, &centre);
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
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        for (uint32_t c = 0; c < body->chunk_count; ++c)
        {
            body->pairs_tested += body->chunks[c].tested;
            body->contacts += body->chunks[c].touched;
            body->chunks[c].tested = body->chunks[c].touched = 0;
        }
        scene->pairs_tested += body->pairs_tested;
        scene->pairs_violated += body->pairs_violated;
        scene->contacts += body->contacts;
    }
}

static pl_status substep(pl_substep* step)
{
    pl_scene* scene = step->scene;
    PL_TRY(make_ready(step));
    double since = pl_now_ms();
    bool forces = scene->field_count > 0;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        forces = forces || scene->bodies[b]->material.pressure > 0;
        scene->bodies[b]->force_used = false;
    }
    if (forces)
        PL_TRY(apply_forces(step));
    since = lap(scene, PLIANT_STAGE_FORCES, since);
    run(step, &scene->chunks, 1, advance_items);
    since = lap(scene, PLIANT_STAGE_PARTICLES, since);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        scene->bodies[b]->matched = false;
        scene->bodies[b]->fitted =
            !limits(scene->bodies[b]); /* the others wait for their contacts */
    }
    fit_bodies(step);
    since = pl_now_ms();
    limit_strain(step);
    since = lap(scene, PLIANT_STAGE_LIMIT, since);
    if (scene->collider_count)
        run(step, &scene->chunks, 1, contact_items);
    lap(scene, PLIANT_STAGE_CONTACT, since);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        note_remainder(body);
        body->fitted = body->fitted && limits(body) && !any_contact(body);
    }
    match_bodies(step);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        scene->bodies[b]->lever_side = !scene->bodies[b]->lever_side;
    count_figures(scene);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ frames */

/* Keeps positions small: the origin follows the body in whole steps of its grid. It looks at
 * particles, since whether the clusters are up to date depends on who has read them, and at one in
 * the middle of each chunk, since there or thereabouts will do. */
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
    }
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        for (int k = 0; k < 3; ++k)
            body->chunks[c].pos_origin[k] -= (float)step[k];
        body->chunks[c].moved = 1;
    }
    body->matched = false;
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
                           .fields = fields};
        for (uint32_t b = 0; b < scene->body_count; ++b)
            for (uint32_t i = 0; i < scene->collider_count; ++i)
                pl_collider_prepare(scene->colliders[i], scene->bodies[b]->origin, step.t0, step.t1,
                                    &colliders[(size_t)b * scene->collider_count + i]);
        for (uint32_t i = 0; i < scene->field_count; ++i)
            pl_field_at(scene->fields[i], step.t1, &fields[i]);
        PL_TRY(substep(&step));
        ++scene->substep_of_frame;
        ++scene->substep;
        for (uint32_t b = 0; b < scene->body_count; ++b)
            if (!is_finite(scene->bodies[b]))
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
        substeps = PL_MAX(substeps, pl_material_substeps(scene->bodies[b], dt, most));
    return substeps;
}

pl_status pl_scene_step_frame(pl_scene* scene, const pliant_frame_desc* desc)
{
    PL_TRY(list_work(scene));
    if (scene->substep_of_frame == 0)
    {
        scene->substeps = desc->substeps ? desc->substeps
                                         : pl_scene_substeps(scene, desc->dt, desc->max_substeps);
        scene->frame_dt = desc->dt;
        for (uint32_t b = 0; b < scene->body_count; ++b)
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
    return status;
}

pl_status pl_scene_refresh(pl_scene* scene)
{
    bool stale = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        stale = stale || !body->matched;
        body->fitted = body->matched;
        if (body->alpha_dt == 0)
        {
            /* rows need some substep's alpha; what it cannot carry is nobody's concern */
            uint32_t warnings = body->warnings;
            double reached = body->stiffness_reached;
            pl_material_apply(body, 1.0 / 24);
            body->warnings = warnings;
            body->stiffness_reached = reached;
        }
    }
    if (!stale)
        return PLIANT_OK;
    PL_TRY(list_work(scene));
    pl_substep step = {.scene = scene, .dt = 1.0f / 24, .starting = true};
    uint32_t fp_state = pl_fp_state_enter();
    run(&step, &scene->chunks, 1, gather_items);
    match_bodies(&step);
    pl_fp_state_leave(fp_state);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        scene->bodies[b]->alpha_dt = 0; /* rows belong to no substep yet */
    return PLIANT_OK;
}
