// SPDX-License-Identifier: GPL-3.0-or-later
/* Lists of the triangles around particles, who is outside of a solid, and a chunk's contacts. */
#include "mesh_near.h"

#include "mesh_find.h"

#include <string.h>

/* Rounding of positions in float, relative to their size; as for simple colliders. */
#define TOUCHING 1.0e-6
/* Blocks that are looked at together while lists are made. */
#define GROUP 8
/* How much wider than needed the boxes of lists are, as a share of them; the same for chunks. */
#define MARGIN 0.125f
#define WIDE_MARGIN 0.05f
/* Entries by block, about, from which on all lists are made anew: old ones stay in between. */
#define MOST_STALE 512

/* ------------------------------------------------------------------ who has what */

pl_near* pl_near_find(const pl_body* body, const pl_mesh_collider* mesh)
{
    for (uint32_t i = 0; i < body->near_count; ++i)
        if (body->near[i]->mesh == mesh)
            return body->near[i];
    return NULL;
}

static void free_near(pl_near* near)
{
    if (!near)
        return;
    for (uint32_t c = 0; near->chunks && c < near->chunk_count; ++c)
    {
        pl_near_chunk* k = &near->chunks[c];
        pl_free(k->some);
        pl_free(k->triangle);
        pl_free(k->swept);
        pl_free(k->box);
        pl_free(k->facet);
        pl_free(k->motion);
        pl_free(k->corners);
        pl_free(k->begin);
        pl_free(k->end);
        pl_free(k->left);
        pl_free(k->settled);
        pl_free(k->entry);
        pl_free(k->listed);
        pl_free(k->movable);
    }
    pl_free(near->chunks);
    pl_free(near->outside);
    pl_free(near);
}

static bool make_chunk(pl_near_chunk* k, const pl_chunk* chunk)
{
    uint32_t blocks = chunk->slot_count / 8;
    k->begin = PL_NEW(uint32_t, blocks);
    k->end = PL_NEW(uint32_t, blocks);
    k->listed = PL_NEW(pl_span, blocks);
    k->movable = PL_NEW(uint8_t, blocks);
    k->left = PL_NEW(uint8_t, blocks);
    k->settled = PL_NEW(pl_settled, blocks);
    return k->settled && k->begin && k->end && k->listed && k->movable && k->left;
}

static bool make_chunks(pl_near* near, const pl_body* body)
{
    near->chunk_count = body->chunk_count;
    near->chunks = PL_NEW(pl_near_chunk, body->chunk_count);
    for (uint32_t c = 0; near->chunks && c < body->chunk_count; ++c)
        if (!make_chunk(&near->chunks[c], &body->chunks[c]))
            return false;
    return near->chunks;
}

pl_status pl_near_follow(pl_body* body)
{
    uint32_t blocks = body->particles.slot_count / 8;
    for (uint32_t i = 0; i < body->near_count; ++i)
    {
        pl_near* near = body->near[i];
        uint8_t* outside = pl_realloc(near->outside, blocks, 1);
        near->outside = outside ? outside : near->outside;
        near->block_count = outside ? blocks : near->block_count;
        pl_near_chunk* chunks = pl_realloc(near->chunks, body->chunk_count, sizeof *chunks);
        near->chunks = chunks ? chunks : near->chunks;
        while (outside && chunks && near->chunk_count < body->chunk_count)
        {
            uint32_t c = near->chunk_count++;
            if (!make_chunk(&chunks[c], &body->chunks[c]))
                return pl_fail_memory(blocks);
        }
        if (!outside || !chunks)
            return pl_fail_memory(blocks);
    }
    return PLIANT_OK;
}

void pl_near_copy(const pl_body* body, uint32_t from, uint32_t to, uint32_t chunk)
{
    for (uint32_t i = 0; i < body->near_count; ++i)
    {
        uint8_t* outside = body->near[i]->outside;
        unsigned known = outside[from / 8] >> from % 8 & 1;
        outside[to / 8] = (uint8_t)((outside[to / 8] & ~(1u << to % 8)) | known << to % 8);
        body->near[i]->chunks[chunk].made = false;
    }
}

pl_status pl_near_add(pl_body* body, const pl_mesh_collider* mesh, pl_near** out)
{
    pl_near* near = PL_NEW(pl_near, 1);
    if (near)
    {
        near->mesh = mesh;
        near->block_count = body->particles.slot_count / 8;
        near->outside = PL_NEW(uint8_t, near->block_count);
    }
    if (!near || !near->outside || !make_chunks(near, body) ||
        !pl_grow((void**)&body->near, &body->near_capacity, (size_t)body->near_count + 1,
                 sizeof *body->near))
    {
        free_near(near);
        return pl_fail_memory(body->particles.slot_count);
    }
    body->near[body->near_count++] = near;
    *out = near;
    return PLIANT_OK;
}

void pl_near_drop(pl_body* body, const pl_mesh_collider* mesh)
{
    for (uint32_t i = 0; i < body->near_count; ++i)
        if (body->near[i]->mesh == mesh)
        {
            free_near(body->near[i]);
            body->near[i] = body->near[--body->near_count];
            return;
        }
}

void pl_near_free_all(pl_body* body)
{
    for (uint32_t i = 0; i < body->near_count; ++i)
        free_near(body->near[i]);
    pl_free(body->near);
    body->near = NULL;
    body->near_count = 0;
    body->near_capacity = 0;
}

void pl_near_forget(pl_body* body)
{
    for (uint32_t i = 0; i < body->near_count; ++i)
        memset(body->near[i]->outside, 0, body->near[i]->block_count);
}

void pl_near_forget_chunk(const pl_body* body, uint32_t chunk)
{
    const pl_chunk* c = &body->chunks[chunk];
    for (uint32_t i = 0; i < body->near_count; ++i)
        memset(body->near[i]->outside + c->slot_begin / 8, 0, c->slot_count / 8);
}

void pl_near_count(const pl_body* body, uint64_t* nodes, uint64_t* triangles)
{
    for (uint32_t i = 0; i < body->near_count; ++i)
        for (uint32_t c = 0; c < body->near[i]->chunk_count; ++c)
        {
            pl_near_chunk* k = &body->near[i]->chunks[c];
            *nodes += k->nodes, *triangles += k->tested;
            k->nodes = k->tested = 0;
        }
}

pl_status pl_near_prepare(pl_body* body, const pl_mesh_collider* mesh)
{
    pl_near* near = pl_near_find(body, mesh);
    if (!near)
        PL_TRY(pl_near_add(body, mesh, &near));
    bool fits = near->epoch == mesh->epoch;
    for (int k = 0; k < 3; ++k)
        fits = fits && near->origin[k] == body->origin[k];
    for (uint32_t c = 0; !fits && c < near->chunk_count; ++c)
        near->chunks[c].made = false;
    memcpy(near->origin, body->origin, sizeof near->origin);
    near->epoch = mesh->epoch;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ lists */

static pl_span join(const pl_span* spans, uint32_t count)
{
    pl_span all = {{-INFINITY, -INFINITY, -INFINITY, 0, -INFINITY, -INFINITY, -INFINITY, 0}};
    for (uint32_t i = 0; i < count; ++i)
        for (int k = 0; k < 8; ++k)
            all.at[k] = PL_MAX(all.at[k], spans[i].at[k]);
    return all;
}

static pl_span widened(pl_span span, float share)
{
    float size = 0;
    for (int k = 0; k < 3; ++k)
        size = PL_MAX(size, span.at[k] + span.at[4 + k]);
    for (int k = 0; k < 3; ++k)
        span.at[k] += share * size, span.at[4 + k] += share * size;
    return span;
}

static pl_box box_in_world(const pl_span* span, vec3 origin)
{
    vec3 upper = v3(span->at[0], span->at[1], span->at[2]);
    vec3 lower = v3(-span->at[4], -span->at[5], -span->at[6]);
    return (pl_box){v3_add(lower, origin), v3_add(upper, origin)};
}

static bool add_facet(const pl_mesh_collider* mesh, uint32_t triangle, const pl_box* around,
                      vec3 origin, pl_near_chunk* k)
{
    const uint32_t* t = mesh->triangles + 3 * (size_t)mesh->tree->order[triangle];
    pl_box box = pl_box_empty();
    for (int i = 0; i < 3; ++i)
    {
        pl_box_add(&box, mesh->from[t[i]]);
        pl_box_add(&box, mesh->to[t[i]]);
    }
    if (!pl_boxes_touch(&box, around))
        return true;
    size_t needed = (size_t)k->facet_count + 1;
    if (!pl_grow((void**)&k->triangle, &k->triangle_capacity, needed, sizeof *k->triangle) ||
        !pl_grow((void**)&k->swept, &k->swept_capacity, needed, sizeof *k->swept))
        return false;
    pl_box here = {v3_sub(box.lower, origin), v3_sub(box.upper, origin)};
    k->triangle[k->facet_count] = triangle;
    k->swept[k->facet_count] = pl_facet_box(&here);
    for (int i = 0; i < 8; ++i)
        k->bounds.at[i] = PL_MIN(k->bounds.at[i], k->swept[k->facet_count].at[i]);
    ++k->facet_count;
    return true;
}

/* All triangles that touch the span within the frame. */
static bool collect(const pl_mesh_collider* mesh, const pl_span* span, vec3 origin,
                    pl_near_chunk* k)
{
    uint32_t stack[PL_TREE_STACK], waiting = 0;
    pl_box around = box_in_world(span, origin);
    k->facet_count = 0;
    k->bounds = (pl_span){{INFINITY, INFINITY, INFINITY, 0, INFINITY, INFINITY, INFINITY, 0}};
    stack[waiting++] = mesh->tree->root;
    while (waiting)
    {
        const pl_node* node = &mesh->tree->nodes[stack[--waiting]];
        ++k->nodes;
        if (!pl_boxes_touch(&node->box, &around))
            continue;
        for (uint32_t i = 0; i < node->count; ++i)
            if (!add_facet(mesh, node->first + i, &around, origin, k))
                return false;
        if (node->count)
            continue;
        stack[waiting++] = node->right;
        stack[waiting++] = node->left;
    }
    return true;
}

static bool holds(const pl_span* outer, const pl_span* inner)
{
    for (int k = 0; k < 8; ++k)
        if (inner->at[k] > outer->at[k])
            return false;
    return true;
}

/* Lists for those of a few blocks that have left their boxes, from the chunk's triangles. */
static bool list_blocks(const pl_mesh_kernels* kernels, pl_near_chunk* k, uint32_t begin,
                        uint32_t end)
{
    pl_span around = join(NULL, 0);
    for (uint32_t b = begin; b < end; ++b)
        if (k->left[b])
            for (int i = 0; i < 8; ++i)
                around.at[i] = PL_MAX(around.at[i], k->listed[b].at[i]);
    uint32_t some = 0;
    if (holds(&around, &k->bounds)) /* as such boxes are written: they touch */
        some = kernels->sift(k->swept, NULL, k->facet_count, &around, k->some);
    for (uint32_t b = begin; b < end; ++b)
    {
        if (!k->left[b])
            continue;
        if (!pl_grow((void**)&k->entry, &k->entry_capacity, (size_t)k->entry_count + some + 1,
                     sizeof *k->entry))
            return false;
        k->begin[b] = k->entry_count;
        k->entry_count +=
            kernels->sift(k->swept, k->some, some, &k->listed[b], k->entry + k->entry_count);
        k->end[b] = k->entry_count;
    }
    return true;
}

/* Collects the triangles around all blocks and makes every list anew. */
static bool collect_all(const pl_near_job* job, const pl_mesh_paths* paths, pl_near_chunk* k)
{
    for (uint32_t b = 0; b < paths->blocks; ++b)
    {
        k->listed[b] = widened(job->kernels->span(paths, b), MARGIN);
        k->left[b] = 1;
    }
    k->facets_made = k->made = false;
    k->around = widened(join(k->listed, paths->blocks), WIDE_MARGIN);
    k->entry_count = 0;
    memset(k->settled, 0, sizeof *k->settled * paths->blocks);
    k->made =
        collect(job->collider->mesh, &k->around, v3_fromd(job->body->origin), k) &&
        pl_grow((void**)&k->some, &k->some_capacity, (size_t)k->facet_count + 1, sizeof *k->some);
    return k->made;
}

static bool make_lists(const pl_near_job* job, const pl_mesh_paths* paths, pl_near_chunk* k)
{
    bool fits = k->made && k->entry_count < MOST_STALE * paths->blocks + 4 * (size_t)k->facet_count;
    for (uint32_t b = 0; b < paths->blocks && fits; ++b)
        if (k->left[b])
        {
            k->listed[b] = widened(job->kernels->span(paths, b), MARGIN);
            fits = holds(&k->around, &k->listed[b]);
        }
    if (!fits && !collect_all(job, paths, k))
        return false;
    for (uint32_t b = 0; b < paths->blocks; b += GROUP)
        if (!list_blocks(job->kernels, k, b, PL_MIN(b + GROUP, paths->blocks)))
            return k->made = false;
    return true;
}

/* ------------------------------------------------------------------ sides of a solid */

static vec3 start_of(const pl_near_job* job, uint32_t i)
{
    return v3(job->start[0][i], job->start[1][i], job->start[2][i]);
}

/* Finds out who is outside, of those of whom it is not known. A run of blocks whose box no triangle
 * touches is on one side as a whole. */
static void learn_sides(const pl_moving_view* s, const pl_near_job* job, const uint8_t* movable,
                        uint8_t* outside, uint32_t begin, uint32_t end)
{
    pl_box box = pl_box_empty();
    uint32_t first = UINT32_MAX;
    for (uint32_t b = begin; b < end; ++b)
        for (unsigned lanes = movable[b] & ~outside[b]; lanes; lanes &= lanes - 1)
        {
            uint32_t i = 8 * b + (uint32_t)__builtin_ctz(lanes);
            pl_box_add(&box, start_of(job, i));
            first = PL_MIN(first, i);
        }
    if (first == UINT32_MAX)
        return;
    pl_box world = {v3_add(box.lower, s->origin), v3_add(box.upper, s->origin)};
    bool there = pl_boxes_touch(&world, &s->tree->nodes[s->tree->root].box);
    bool near = there && pl_moving_any(s, &box);
    if (near && end - begin > 1)
    {
        uint32_t middle = begin + (end - begin) / 2;
        learn_sides(s, job, movable, outside, begin, middle);
        learn_sides(s, job, movable, outside, middle, end);
        return;
    }
    bool all_inside = there && !near && pl_moving_inside(s, start_of(job, first));
    for (uint32_t b = begin; b < end && !all_inside; ++b)
        for (unsigned lanes = movable[b] & ~outside[b]; lanes; lanes &= lanes - 1)
        {
            unsigned lane = (unsigned)__builtin_ctz(lanes);
            if (!near || !pl_moving_inside(s, start_of(job, 8 * b + lane)))
                outside[b] = (uint8_t)(outside[b] | 1u << lane);
        }
}

/* ------------------------------------------------------------------ one chunk */

static bool touch_one(const pl_moving_view* s, const pl_near_job* job, uint32_t i, bool inside)
{
    pl_contact_particle q = {.dt = job->dt};
    for (int k = 0; k < 3; ++k)
    {
        q.x[k] = job->x[k][i], q.v[k] = job->v[k][i], q.start[k] = job->start[k][i];
        q.touching += TOUCHING * (fabs(q.x[k]) + fabs(q.start[k]));
    }
    if (!pl_mesh_touch(s, &q, inside))
        return false;
    for (int k = 0; k < 3; ++k)
        job->x[k][i] = (float)q.x[k], job->v[k][i] = (float)q.v[k];
    return true;
}

/* Those that lanes are not enough for. */
static uint32_t touch_singly(const pl_moving_view* s, const pl_near_job* job, uint32_t block,
                             unsigned lanes)
{
    pl_moving_neighbours around;
    pl_moving_view here = *s;
    pl_box box = pl_box_empty();
    uint32_t touched = 0;
    for (unsigned rest = lanes; rest; rest &= rest - 1)
    {
        uint32_t i = 8 * block + (uint32_t)__builtin_ctz(rest);
        pl_box_add(&box, start_of(job, i));
        pl_box_add(&box, v3(job->x[0][i], job->x[1][i], job->x[2][i]));
    }
    box = pl_box_widened(box, 2 * s->thickness); /* they may be pushed out of it */
    here.near = pl_moving_surround(s, &box, &around) ? &around : NULL;
    for (unsigned rest = lanes; rest; rest &= rest - 1)
        touched += touch_one(&here, job, 8 * block + (uint32_t)__builtin_ctz(rest), false);
    return touched;
}

/* Where the particles of a block were when the substep began. */
static void fill_start(const pl_near_job* job, uint32_t block)
{
    for (int k = 0; k < 3 && !job->started; ++k)
        for (uint32_t i = 8 * block; i < 8 * block + 8; ++i)
            job->start[k][i] = pl_start_of(job->x[k][i], job->v[k][i], job->dt);
}

static uint32_t resolve_block(const pl_moving_view* s, const pl_near_job* job, pl_near_chunk* k,
                              uint32_t block, unsigned inside, pl_mesh_lanes* eight)
{
    uint32_t touched = 0;
    fill_start(job, block);
    eight->lanes = k->movable[block] & ~inside;
    eight->list = k->entry + k->begin[block];
    eight->count = k->end[block] - k->begin[block];
    if (eight->lanes && eight->count)
    {
        for (int c = 0; c < 3; ++c)
        {
            eight->start[c] = job->start[c] + 8 * block;
            eight->x[c] = job->x[c] + 8 * block, eight->v[c] = job->v[c] + 8 * block;
        }
        eight->settled = s->mesh->still ? &k->settled[block] : NULL;
        job->kernels->resolve(eight);
        touched += (uint32_t)__builtin_popcount(eight->touched);
        if (eight->unsure)
            touched += touch_singly(s, job, block, eight->unsure);
    }
    for (unsigned rest = k->movable[block] & inside; rest; rest &= rest - 1)
        touched += touch_one(s, job, 8 * block + (uint32_t)__builtin_ctz(rest), true);
    return touched;
}

/* What the next block will want, on its way into the cache. */
static void fetch_settled(const pl_near_chunk* k, uint32_t block)
{
    for (int i = 0; i < 8; ++i)
        if (k->settled[block].first[i] > 0)
            __builtin_prefetch(&k->facet[(uint32_t)k->settled[block].first[i]]);
}

bool pl_near_resolve(const pl_near_job* job, uint32_t* touched)
{
    const pl_collider* collider = job->collider;
    const pl_mesh_collider* mesh = collider->mesh;
    const pl_chunk* chunk = &job->body->chunks[job->chunk];
    pl_near* near = pl_near_find(job->body, mesh);
    pl_near_chunk* k = &near->chunks[job->chunk];
    double friction = pl_mixed_friction(job->body->friction, collider->friction);
    double restitution = pl_mixed_restitution(job->body->restitution, collider->restitution);
    pl_moving_view s = {.mesh = mesh,
                        .tree = mesh->tree,
                        .origin = v3_fromd(job->body->origin),
                        .t0 = job->t0,
                        .t1 = job->t1,
                        .thickness = collider->thickness,
                        .friction = friction,
                        .restitution = restitution,
                        .running = pl_collider_running(collider, job->body->origin, job->t1),
                        .solid = collider->shape == PLIANT_SHAPE_MESH};
    const float* const start[3] = {job->start[0], job->start[1], job->start[2]};
    pl_mesh_paths paths = {.blocks = chunk->block_count,
                           .mass = job->mass,
                           .start = job->started ? start : NULL,
                           .x = job->x,
                           .v = job->v,
                           .dt = job->dt,
                           .thickness = collider->thickness,
                           .shift = 1.001f * (float)(mesh->farthest * (job->t1 - job->t0)),
                           .movable = k->movable,
                           .left = k->left};
    uint8_t* outside = near->outside + chunk->slot_begin / 8;
    if ((!job->kernels->within(&paths, k->listed) || !k->made) && !make_lists(job, &paths, k))
        return false;
    bool asked = false;
    for (uint32_t b = 0; s.solid && b < paths.blocks; ++b)
    {
        outside[b] &= k->movable[b]; /* what is held may be taken anywhere */
        asked = asked || outside[b] != k->movable[b];
    }
    for (uint32_t b = 0; asked && b < paths.blocks; ++b)
        fill_start(job, b);
    if (asked)
        learn_sides(&s, job, k->movable, outside, 0, paths.blocks);
    if (!k->facets_made && k->facet_count && !pl_facets_make(&s, k))
        return false;
    pl_mesh_lanes eight = {.box = k->box,
                           .facet = k->facet,
                           .corners = k->corners,
                           .motion = mesh->still ? NULL : k->motion,
                           .thickness = paths.thickness,
                           .friction = (float)friction,
                           .restitution = (float)restitution,
                           .running = &s.running,
                           .dt = job->dt,
                           .shift = paths.shift};
    for (uint32_t b = 0; b < paths.blocks; ++b)
    {
        if (b + 1 < paths.blocks && k->end[b + 1] > k->begin[b + 1])
            fetch_settled(k, b + 1);
        unsigned inside = asked ? k->movable[b] & ~outside[b] : 0;
        if (inside || k->end[b] > k->begin[b])
            *touched += resolve_block(&s, job, k, b, inside, &eight);
    }
    k->tested += eight.tested;
    return true;
}
