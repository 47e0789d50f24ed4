// SPDX-License-Identifier: GPL-3.0-or-later
/* Ownership of lists (triangle_cache_lists.c), sides of a solid, and contacts of a chunk. */
#include "collision/mesh/triangle_cache.h"

#include "collision/mesh/ccd.h"

#include <stddef.h>
#include <string.h>

/* Relative rounding of float positions; as for simple colliders. */
#define TOUCHING 1.0e-6

/* ------------------------------------------------------------------ ownership */

pl_triangle_cache* pl_triangle_cache_find(const pl_body* body, const pl_mesh_collider* mesh)
{
    for (uint32_t i = 0; i < body->triangle_cache_count; ++i)
        if (body->triangle_caches[i]->mesh == mesh)
            return body->triangle_caches[i];
    return NULL;
}

static void free_cache(pl_triangle_cache* near)
{
    if (!near)
        return;
    for (uint32_t c = 0; near->chunks && c < near->chunk_count; ++c)
    {
        pl_triangle_cache_chunk* k = &near->chunks[c];
        pl_free(k->some);
        pl_free(k->triangle);
        pl_free(k->swept);
        pl_free(k->lot);
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
        pl_free(k->clear);
        pl_free(k->near);
        pl_free(k->strayed);
        pl_free(k->known);
        pl_free(k->key);
        pl_free(k->member);
        pl_free(k->packed);
    }
    pl_free(near->chunks);
    pl_free(near->outside);
    pl_free(near);
}

static bool make_chunk(pl_triangle_cache_chunk* k, const pl_chunk* chunk)
{
    uint32_t blocks = chunk->slot_count / 8;
    k->begin = PL_NEW(uint32_t, blocks);
    k->end = PL_NEW(uint32_t, blocks);
    k->listed = PL_NEW(pl_span, blocks);
    k->movable = PL_NEW(uint8_t, blocks);
    k->left = PL_NEW(uint8_t, blocks);
    k->clear = PL_NEW(pl_span, blocks);
    k->near = PL_NEW(uint8_t, blocks);
    k->strayed = PL_NEW(uint8_t, blocks);
    k->known = PL_NEW(uint8_t, blocks);
    k->key = PL_NEW(uint64_t, 2 * (size_t)chunk->slot_count);
    k->packed = PL_NEW(float, PL_PACKED_FLOATS*(size_t)chunk->slot_count);
    return k->begin && k->end && k->listed && k->movable && k->left && k->clear && k->near &&
           k->strayed && k->known && k->key && k->packed;
}

static bool make_chunks(pl_triangle_cache* near, const pl_body* body)
{
    near->chunk_count = body->chunk_count;
    near->chunks = PL_NEW(pl_triangle_cache_chunk, body->chunk_count);
    for (uint32_t c = 0; near->chunks && c < body->chunk_count; ++c)
        if (!make_chunk(&near->chunks[c], &body->chunks[c]))
            return false;
    return near->chunks;
}

pl_status pl_triangle_cache_resize(pl_body* body)
{
    uint32_t blocks = body->particles.slot_count / 8;
    for (uint32_t i = 0; i < body->triangle_cache_count; ++i)
    {
        pl_triangle_cache* near = body->triangle_caches[i];
        uint8_t* outside = pl_realloc(near->outside, blocks, 1);
        near->outside = outside ? outside : near->outside;
        near->block_count = outside ? blocks : near->block_count;
        pl_triangle_cache_chunk* chunks =
            pl_realloc(near->chunks, body->chunk_count, sizeof *chunks);
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

void pl_triangle_cache_copy(const pl_body* body, uint32_t from, uint32_t to, uint32_t chunk)
{
    for (uint32_t i = 0; i < body->triangle_cache_count; ++i)
    {
        uint8_t* outside = body->triangle_caches[i]->outside;
        unsigned known = outside[from / 8] >> from % 8 & 1;
        outside[to / 8] = (uint8_t)((outside[to / 8] & ~(1u << to % 8)) | known << to % 8);
        body->triangle_caches[i]->chunks[chunk].made = false;
    }
}

pl_status pl_triangle_cache_add(pl_body* body, const pl_mesh_collider* mesh,
                                pl_triangle_cache** out)
{
    pl_triangle_cache* near = PL_NEW(pl_triangle_cache, 1);
    if (near)
    {
        near->mesh = mesh;
        near->block_count = body->particles.slot_count / 8;
        near->outside = PL_NEW(uint8_t, near->block_count);
    }
    if (!near || !near->outside || !make_chunks(near, body) ||
        !pl_grow((void**)&body->triangle_caches, &body->triangle_cache_capacity,
                 (size_t)body->triangle_cache_count + 1, sizeof *body->triangle_caches))
    {
        free_cache(near);
        return pl_fail_memory(body->particles.slot_count);
    }
    body->triangle_caches[body->triangle_cache_count++] = near;
    *out = near;
    return PLIANT_OK;
}

void pl_triangle_cache_drop(pl_body* body, const pl_mesh_collider* mesh)
{
    for (uint32_t i = 0; i < body->triangle_cache_count; ++i)
        if (body->triangle_caches[i]->mesh == mesh)
        {
            free_cache(body->triangle_caches[i]);
            body->triangle_caches[i] = body->triangle_caches[--body->triangle_cache_count];
            return;
        }
}

void pl_triangle_cache_free_all(pl_body* body)
{
    for (uint32_t i = 0; i < body->triangle_cache_count; ++i)
        free_cache(body->triangle_caches[i]);
    pl_free(body->triangle_caches);
    body->triangle_caches = NULL;
    body->triangle_cache_count = 0;
    body->triangle_cache_capacity = 0;
}

void pl_triangle_cache_forget(pl_body* body)
{
    for (uint32_t i = 0; i < body->triangle_cache_count; ++i)
        memset(body->triangle_caches[i]->outside, 0, body->triangle_caches[i]->block_count);
}

void pl_triangle_cache_forget_chunk(const pl_body* body, uint32_t chunk)
{
    const pl_chunk* c = &body->chunks[chunk];
    for (uint32_t i = 0; i < body->triangle_cache_count; ++i)
        memset(body->triangle_caches[i]->outside + c->slot_begin / 8, 0, c->slot_count / 8);
}

void pl_triangle_cache_count(const pl_body* body, uint64_t* nodes, uint64_t* triangles)
{
    for (uint32_t i = 0; i < body->triangle_cache_count; ++i)
        for (uint32_t c = 0; c < body->triangle_caches[i]->chunk_count; ++c)
        {
            pl_triangle_cache_chunk* k = &body->triangle_caches[i]->chunks[c];
            *nodes += k->nodes, *triangles += k->tested;
            k->nodes = k->tested = 0;
        }
}

pl_status pl_triangle_cache_prepare(pl_body* body, const pl_mesh_collider* mesh)
{
    pl_triangle_cache* near = pl_triangle_cache_find(body, mesh);
    if (!near)
        PL_TRY(pl_triangle_cache_add(body, mesh, &near));
    bool fits = near->epoch == mesh->epoch;
    for (int k = 0; k < 3; ++k)
        fits = fits && near->origin[k] == body->origin[k];
    for (uint32_t c = 0; !fits && c < near->chunk_count; ++c)
        near->chunks[c].made = false;
    memcpy(near->origin, body->origin, sizeof near->origin);
    near->epoch = mesh->epoch;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ sides of a solid */

static vec3 start_of(const pl_triangle_cache_job* job, uint32_t i)
{
    return v3(job->start[0][i], job->start[1][i], job->start[2][i]);
}

/* Finds the particles outside, of those whose side is unknown. A run of blocks whose AABB no
 * triangle touches is on one side as a whole: recurse on halves. */
static void classify_sides(const pl_moving_view* s, const pl_triangle_cache_job* job,
                           const uint8_t* movable, uint8_t* outside, uint32_t begin, uint32_t end)
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
        classify_sides(s, job, movable, outside, begin, middle);
        classify_sides(s, job, movable, outside, middle, end);
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

static bool resolve_one(const pl_moving_view* s, const pl_triangle_cache_job* job, uint32_t i,
                        bool inside)
{
    pl_collider_particle q = {.dt = job->dt};
    for (int k = 0; k < 3; ++k)
    {
        q.x[k] = job->x[k][i], q.v[k] = job->v[k][i], q.start[k] = job->start[k][i];
        q.touching += TOUCHING * (fabs(q.x[k]) + fabs(q.start[k]));
    }
    if (!pl_collide_mesh(s, &q, inside))
        return false;
    pl_note_moved(job->moved, i, job->x, job->v, s->friction);
    for (int k = 0; k < 3; ++k)
        job->x[k][i] = (float)q.x[k], job->v[k][i] = (float)q.v[k];
    return true;
}

/* Resolves particles one by one in double precision. Returns the mask of touched ones. */
static unsigned resolve_singly(const pl_moving_view* s, const pl_triangle_cache_job* job,
                               uint32_t block, unsigned lanes)
{
    pl_moving_neighbours around;
    pl_moving_view here = *s;
    pl_box box = pl_box_empty();
    unsigned touched = 0;
    for (unsigned rest = lanes; rest; rest &= rest - 1)
    {
        uint32_t i = 8 * block + (uint32_t)__builtin_ctz(rest);
        pl_box_add(&box, start_of(job, i));
        pl_box_add(&box, v3(job->x[0][i], job->x[1][i], job->x[2][i]));
    }
    box = pl_box_widened(box, 2 * s->thickness); /* pushes may leave the box */
    here.near = pl_moving_surround(s, &box, &around) ? &around : NULL;
    for (unsigned rest = lanes; rest; rest &= rest - 1)
    {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        touched |= (unsigned)resolve_one(&here, job, 8 * block + lane, false) << lane;
    }
    return touched;
}

/* Fills the start positions of a block. */
static void fill_start(const pl_triangle_cache_job* job, uint32_t block)
{
    for (int k = 0; k < 3 && !job->started; ++k)
        for (uint32_t i = 8 * block; i < 8 * block + 8; ++i)
            job->start[k][i] = pl_start_of(job->x[k][i], job->v[k][i], job->dt);
}

/* Mask of the eight that are known to be outside. */
static unsigned mask_outside(const uint32_t* member, unsigned lanes, const uint8_t* outside)
{
    unsigned kept = 0;
    for (unsigned rest = lanes; rest; rest &= rest - 1)
    {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        kept |= (unsigned)(outside[member[lane] / 8] >> member[lane] % 8 & 1) << lane;
    }
    return kept;
}

/* Resolves one eight. "packed" is the job of the copies; results are copied back to "job". */
static uint32_t resolve_eight(const pl_moving_view* s, const pl_triangle_cache_job* job,
                              const pl_triangle_cache_job* packed, pl_triangle_cache_chunk* k,
                              uint32_t e, pl_mesh_lanes* eight)
{
    const uint32_t* member = k->member + 8 * (size_t)e;
    eight->list = k->entry + k->begin[e];
    eight->count = k->end[e] - k->begin[e];
    for (int c = 0; c < 3; ++c)
    {
        eight->start[c] = packed->start[c] + 8 * e;
        eight->x[c] = packed->x[c] + 8 * e, eight->v[c] = packed->v[c] + 8 * e;
    }
    eight->settled = s->mesh->still ? &k->settled[e] : NULL;
    job->kernels->resolve(eight);
    unsigned touched = eight->touched;
    if (eight->unsure)
        touched |= resolve_singly(s, packed, e, eight->unsure);
    for (unsigned rest = touched; rest; rest &= rest - 1)
    {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t i = member[lane];
        pl_note_moved(job->moved, i, job->x, job->v, s->friction);
        for (int c = 0; c < 3; ++c)
        {
            job->x[c][i] = packed->x[c][8 * e + lane];
            job->v[c][i] = packed->v[c][8 * e + lane];
        }
    }
    return (uint32_t)__builtin_popcount(touched);
}

/* Prefetches the facets of the next eight and the cached search of the one after. */
static void fetch_settled(const pl_triangle_cache_chunk* k, uint32_t e)
{
    const char* ahead = (const char*)&k->settled[PL_MIN(e + 2, k->eight_count - 1)];
    for (size_t line = 0; line < offsetof(pl_settled, some); line += 64)
        __builtin_prefetch(ahead + line);
    for (int i = 0; i < 8 && e + 1 < k->eight_count; ++i)
        if (k->settled[e + 1].first[i] > 0)
            __builtin_prefetch(&k->facet[(uint32_t)k->settled[e + 1].first[i]]);
}

/* Finds the particles inside a solid; false if all were known to be outside. */
static bool query_sides(const pl_moving_view* s, const pl_triangle_cache_job* job,
                        const pl_triangle_cache_chunk* k, uint32_t blocks, uint8_t* outside)
{
    bool asked = false;
    for (uint32_t b = 0; s->solid && b < blocks; ++b)
    {
        outside[b] &= k->known[b]; /* held particles may be moved anywhere */
        asked = asked || outside[b] != k->known[b];
    }
    for (uint32_t b = 0; asked && b < blocks; ++b)
        fill_start(job, b);
    if (asked)
        classify_sides(s, job, k->known, outside, 0, blocks);
    return asked;
}

/* Resolves all eights. */
static uint32_t resolve_near(const pl_moving_view* s, const pl_triangle_cache_job* job,
                             const pl_triangle_cache_job* packed, pl_triangle_cache_chunk* k,
                             const uint8_t* outside, float shift)
{
    pl_mesh_lanes eight = {.box = k->box,
                           .facet = k->facet,
                           .corners = k->corners,
                           .motion = s->mesh->still ? NULL : k->motion,
                           .thickness = (float)s->thickness,
                           .friction = (float)s->friction,
                           .restitution = (float)s->restitution,
                           .running = &s->running,
                           .dt = job->dt,
                           .shift = shift};
    uint32_t touched = 0;
    for (uint32_t e = 0; e < k->eight_count; ++e)
    {
        if (s->mesh->still)
            fetch_settled(k, e);
        eight.lanes = k->movable[e];
        if (outside)
            eight.lanes = mask_outside(k->member + 8 * (size_t)e, eight.lanes, outside);
        if (eight.lanes && k->end[e] > k->begin[e])
            touched += resolve_eight(s, job, packed, k, e, &eight);
    }
    k->tested += eight.tested;
    return touched;
}

bool pl_triangle_cache_resolve(const pl_triangle_cache_job* job, uint32_t* touched)
{
    const pl_collider* collider = job->collider;
    const pl_mesh_collider* mesh = collider->mesh;
    const pl_chunk* chunk = &job->body->chunks[job->chunk];
    pl_triangle_cache* near = pl_triangle_cache_find(job->body, mesh);
    pl_triangle_cache_chunk* k = &near->chunks[job->chunk];
    uint8_t* outside = near->outside + chunk->slot_begin / 8;
    pl_moving_view s = {.mesh = mesh,
                        .tree = mesh->tree,
                        .origin = v3_fromd(job->body->origin),
                        .t0 = job->t0,
                        .t1 = job->t1,
                        .thickness = collider->thickness,
                        .friction = pl_mixed_friction(job->body->friction, collider->friction),
                        .restitution =
                            pl_mixed_restitution(job->body->restitution, collider->restitution),
                        .running = pl_collider_running(collider, job->body->origin, job->t1),
                        .solid = collider->shape == PLIANT_SHAPE_MESH};
    float shift = 1.001f * (float)(mesh->farthest * (job->t1 - job->t0));
    pl_triangle_cache_job packed;
    if (!pl_triangle_cache_lists(job, k, shift, &packed))
        return false;
    bool asked = query_sides(&s, job, k, chunk->block_count, outside);
    if (k->eight_count && !k->facets_made && !pl_facets_make(&s, k))
        return false;
    if (k->eight_count)
        *touched += resolve_near(&s, job, &packed, k, asked ? outside : NULL, shift);
    for (uint32_t b = 0; asked && b < chunk->block_count; ++b)
        for (unsigned rest = k->known[b] & ~outside[b]; rest; rest &= rest - 1)
        {
            *touched += resolve_one(&s, job, 8 * b + (uint32_t)__builtin_ctz(rest), true);
        }
    return true;
}
