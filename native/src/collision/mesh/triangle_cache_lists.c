// SPDX-License-Identifier: GPL-3.0-or-later
/* Builds the lists of triangle_cache.h: the particles of a chunk near triangles, in eights of
 * neighbours, and the triangles around each eight. */
#include "collision/mesh/ccd.h"
#include "collision/mesh/triangle_cache.h"

#include <string.h>

/* Eights whose lists are made together. */
#define GROUP 8
/* Margin of list boxes as a share of their size; the same for chunks. */
#define MARGIN 0.125f
#define WIDE_MARGIN 0.05f
/* In spacings: particles farther than this from all triangles need no list. */
#define NEAR_MARGIN 0.5f
/* Stale entries per block, roughly, at which all lists are rebuilt. */
#define MOST_STALE 512

/* ------------------------------------------------------------------ triangles around a chunk */

static pl_span join(const pl_span* spans, uint32_t count)
{
    pl_span all = {{-INFINITY, -INFINITY, -INFINITY, 0, -INFINITY, -INFINITY, -INFINITY, 0}};
    for (uint32_t i = 0; i < count; ++i)
        for (int k = 0; k < 8; ++k)
            all.at[k] = PL_MAX(all.at[k], spans[i].at[k]);
    return all;
}

static pl_span widened_by(pl_span span, float length)
{
    for (int k = 0; k < 3; ++k)
        span.at[k] += length, span.at[4 + k] += length;
    return span;
}

static pl_span widened(pl_span span, float share)
{
    float size = 0;
    for (int k = 0; k < 3; ++k)
        size = PL_MAX(size, span.at[k] + span.at[4 + k]);
    return widened_by(span, share * size);
}

static pl_box box_in_world(const pl_span* span, vec3 origin)
{
    vec3 upper = v3(span->at[0], span->at[1], span->at[2]);
    vec3 lower = v3(-span->at[4], -span->at[5], -span->at[6]);
    return (pl_box){v3_add(lower, origin), v3_add(upper, origin)};
}

static bool add_facet(const pl_mesh_collider* mesh, uint32_t triangle, const pl_box* around,
                      vec3 origin, pl_triangle_cache_chunk* k)
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

/* Collects all triangles that touch the span within the frame. */
static bool collect(const pl_mesh_collider* mesh, const pl_span* span, vec3 origin,
                    pl_triangle_cache_chunk* k)
{
    uint32_t stack[PL_BVH_STACK], waiting = 0;
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

/* Filters the chunk's triangles that touch a span into "some". */
static uint32_t around_span(const pl_mesh_kernels* kernels, const pl_triangle_cache_chunk* k,
                            const pl_span* span)
{
    if (!holds(span, &k->bounds)) /* bounds are (lower, -upper): disjoint */
        return 0;
    uint32_t lots = (k->facet_count + PL_LOT - 1) / PL_LOT, count = 0;
    uint32_t* near = k->some + 2 * (size_t)k->facet_count;
    lots = kernels->sift(k->lot, NULL, lots, span, near);
    for (uint32_t n = 0; n < lots; ++n)
    {
        uint32_t first = PL_LOT * near[n], *out = k->some + count;
        uint32_t found = kernels->sift(k->swept + first, NULL,
                                       PL_MIN(PL_LOT, k->facet_count - first), span, out);
        for (uint32_t i = 0; i < found; ++i)
            out[i] += first;
        count += found;
    }
    return count;
}

/* ------------------------------------------------------------------ particles near triangles */

/* Splits a block: particles near a triangle, and the rest, which gets a box free of triangles. If
 * there is no such box, all count as near. */
static void divide_block(const pl_triangle_cache_job* job, pl_mesh_paths* paths,
                         pl_triangle_cache_chunk* k, uint32_t block)
{
    const pl_mesh_kernels* kernels = job->kernels;
    uint32_t *mine = k->some, used = k->known[block];
    uint32_t count = around_span(kernels, k, &k->clear[block]);
    k->near[block] = 0;
    if (!count)
        return;
    float margin = NEAR_MARGIN * (float)job->body->spacing;
    k->near[block] = (uint8_t)kernels->touching(paths, block, k->swept, mine, count, margin);
    paths->without = k->near;
    pl_span others = widened_by(kernels->span(paths, block), margin);
    paths->without = NULL;
    if (k->near[block] == used)
        others = join(NULL, 0); /* empty */
    else if (kernels->sift(k->swept, mine, count, &others, mine + count))
    {
        k->near[block] = (uint8_t)used;
        others = join(NULL, 0);
    }
    k->clear[block] = others;
}

/* Spreads five bits: two zeros between neighbours. */
static uint32_t spread_bits(uint32_t v)
{
    v = (v | v << 8) & 0x100f;
    v = (v | v << 4) & 0x10c3;
    return (v | v << 2) & 0x1249;
}

/* Radix sort by the upper half, of which fifteen bits are used. */
static void sort_keys(uint64_t* key, uint64_t* other, uint32_t count)
{
    for (int shift = 32; shift < 48; shift += 8)
    {
        uint32_t begin[257] = {0};
        for (uint32_t i = 0; i < count; ++i)
            ++begin[(key[i] >> shift & 255) + 1];
        for (int d = 0; d < 256; ++d)
            begin[d + 1] += begin[d];
        for (uint32_t i = 0; i < count; ++i)
            other[begin[key[i] >> shift & 255]++] = key[i];
        uint64_t* kept = key;
        key = other, other = kept;
    }
}

/* Packs the near particles into eights along Morton's curve. */
static bool pack(const pl_mesh_paths* paths, pl_triangle_cache_chunk* k)
{
    uint32_t count = 0;
    float scale[3];
    for (int c = 0; c < 3; ++c)
    {
        float size = k->around.at[c] + k->around.at[4 + c];
        scale[c] = size > 0 ? 31.99f / size : 0;
    }
    for (uint32_t b = 0; b < paths->blocks; ++b)
        for (unsigned rest = k->near[b]; rest; rest &= rest - 1)
        {
            uint32_t i = 8 * b + (uint32_t)__builtin_ctz(rest), along = 0;
            for (int c = 0; c < 3; ++c)
            {
                float at = (paths->x[c][i] + k->around.at[4 + c]) * scale[c];
                along |= spread_bits(at > 0 && at < 32 ? (uint32_t)at : 0) << c;
            }
            k->key[count++] = (uint64_t)along << 32 | i;
        }
    sort_keys(k->key, k->key + count, count);
    k->eight_count = (count + 7) / 8;
    if (!pl_grow((void**)&k->member, &k->member_capacity, 8 * (size_t)k->eight_count,
                 sizeof *k->member) ||
        !pl_grow((void**)&k->settled, &k->settled_capacity, k->eight_count, sizeof *k->settled))
        return false;
    if (count)
        memset(k->settled, 0, sizeof *k->settled * k->eight_count);
    for (uint32_t i = 0; i < 8 * k->eight_count; ++i)
        k->member[i] = i < count ? (uint32_t)k->key[i] : PL_NO_MEMBER;
    return true;
}

/* Bounds runs of facets: in tree order neighbours are consecutive, so few lots are near anything.
 */
static bool make_lots(pl_triangle_cache_chunk* k)
{
    uint32_t lots = (k->facet_count + PL_LOT - 1) / PL_LOT;
    if (!pl_grow((void**)&k->lot, &k->lot_capacity, lots, sizeof *k->lot))
        return false;
    for (uint32_t n = 0; n < lots; ++n)
    {
        k->lot[n] = k->swept[PL_LOT * n];
        for (uint32_t i = PL_LOT * n; i < PL_MIN(PL_LOT * (n + 1), k->facet_count); ++i)
            for (int c = 0; c < 8; ++c)
                k->lot[n].at[c] = PL_MIN(k->lot[n].at[c], k->swept[i].at[c]);
    }
    return true;
}

/* Collects the triangles around all blocks of the chunk. */
static bool collect_all(const pl_triangle_cache_job* job, const pl_mesh_paths* paths,
                        pl_triangle_cache_chunk* k)
{
    k->facets_made = false;
    k->around = widened(join(k->clear, paths->blocks), WIDE_MARGIN);
    return collect(job->collider->mesh, &k->around, v3_fromd(job->body->origin), k) &&
           make_lots(k) &&
           pl_grow((void**)&k->some, &k->some_capacity, 3 * (size_t)k->facet_count + 3,
                   sizeof *k->some);
}

/* Rebuilds everything. */
static bool divide_chunk(const pl_triangle_cache_job* job, pl_mesh_paths* paths,
                         pl_triangle_cache_chunk* k)
{
    bool fits = k->made;
    paths->without = NULL;
    for (uint32_t b = 0; b < paths->blocks; ++b)
    {
        k->clear[b] = widened(job->kernels->span(paths, b), MARGIN);
        fits = fits && holds(&k->around, &k->clear[b]);
    }
    k->made = false;
    if (!fits && !collect_all(job, paths, k))
        return false;
    for (uint32_t b = 0; b < paths->blocks; ++b)
        divide_block(job, paths, k, b);
    if (!pack(paths, k))
        return false;
    k->entry_count = 0;
    return k->made = true;
}

/* Renews the boxes that were left; false if some of their particles are near triangles now. */
static bool renew_clear_boxes(const pl_triangle_cache_job* job, pl_mesh_paths* paths,
                              pl_triangle_cache_chunk* k)
{
    for (uint32_t b = 0; b < paths->blocks; ++b)
    {
        if (!k->strayed[b])
            continue;
        paths->without = k->near;
        k->clear[b] = widened(job->kernels->span(paths, b), MARGIN);
        if (!holds(&k->around, &k->clear[b]) || around_span(job->kernels, k, &k->clear[b]))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ lists */

/* Renews the lists of a few eights that have left their boxes, from the chunk's triangles. */
static bool list_eights(const pl_mesh_kernels* kernels, pl_triangle_cache_chunk* k, uint32_t begin,
                        uint32_t end)
{
    pl_span around = join(NULL, 0);
    bool any = false;
    for (uint32_t e = begin; e < end; ++e)
        if (k->left[e])
        {
            any = true;
            for (int i = 0; i < 8; ++i)
                around.at[i] = PL_MAX(around.at[i], k->listed[e].at[i]);
        }
    if (!any)
        return true;
    uint32_t some = around_span(kernels, k, &around);
    for (uint32_t e = begin; e < end; ++e)
    {
        if (!k->left[e])
            continue;
        if (!pl_grow((void**)&k->entry, &k->entry_capacity, (size_t)k->entry_count + some + 1,
                     sizeof *k->entry))
            return false;
        k->begin[e] = k->entry_count;
        k->entry_count +=
            kernels->sift(k->swept, k->some, some, &k->listed[e], k->entry + k->entry_count);
        k->end[e] = k->entry_count;
    }
    return true;
}

/* Copies the particles into eights. */
static void load_packed(const pl_triangle_cache_job* job, const pl_triangle_cache_chunk* k,
                        pl_triangle_cache_job* packed)
{
    size_t count = 8 * (size_t)k->eight_count;
    float* mass = k->packed;
    *packed = *job;
    packed->mass = mass;
    packed->started = true;
    packed->moved = NULL; /* copies */
    for (int c = 0; c < 3; ++c)
    {
        packed->start[c] = k->packed + (1 + c) * count;
        packed->x[c] = k->packed + (4 + c) * count;
        packed->v[c] = k->packed + (7 + c) * count;
    }
    for (size_t n = 0; n < count; ++n)
    {
        uint32_t i = k->member[n] != PL_NO_MEMBER ? k->member[n] : k->member[n & ~(size_t)7];
        mass[n] = k->member[n] != PL_NO_MEMBER ? job->mass[i] : 0;
        for (int c = 0; c < 3; ++c)
        {
            float x = job->x[c][i], v = job->v[c][i];
            packed->x[c][n] = x, packed->v[c][n] = v;
            packed->start[c][n] = job->started ? job->start[c][i] : pl_start_of(x, v, job->dt);
        }
    }
}

/* Renews the lists of eights that have left their boxes; false if they have left the collected
 * span, or too many stale entries have piled up. */
static bool relist(const pl_triangle_cache_job* job, const pl_mesh_paths* paths,
                   pl_triangle_cache_chunk* k, bool* full)
{
    if (k->entry_count > MOST_STALE * paths->blocks + 4 * (size_t)k->facet_count)
        return false;
    for (uint32_t e = 0; e < paths->blocks; ++e)
        if (k->left[e])
        {
            pl_span span = job->kernels->span(paths, e);
            if (!holds(&k->around, &span))
                return false;
            k->listed[e] = widened(span, MARGIN);
            for (int i = 0; i < 8; ++i) /* nothing was collected beyond this */
                k->listed[e].at[i] = PL_MIN(k->listed[e].at[i], k->around.at[i]);
        }
    for (uint32_t e = 0; e < paths->blocks && !*full; e += GROUP)
        *full = !list_eights(job->kernels, k, e, PL_MIN(e + GROUP, paths->blocks));
    return true;
}

static pl_mesh_paths paths_of(const pl_triangle_cache_job* job, const float* const start[3],
                              uint32_t blocks, float shift)
{
    return (pl_mesh_paths){.blocks = blocks,
                           .mass = job->mass,
                           .start = start,
                           .x = job->x,
                           .v = job->v,
                           .dt = job->dt,
                           .thickness = (float)job->collider->thickness,
                           .shift = shift};
}

bool pl_triangle_cache_lists(const pl_triangle_cache_job* job, pl_triangle_cache_chunk* k,
                             float shift, pl_triangle_cache_job* packed)
{
    const float* const start[3] = {job->start[0], job->start[1], job->start[2]};
    pl_mesh_paths all = paths_of(job, job->started ? start : NULL,
                                 job->body->chunks[job->chunk].block_count, shift);
    all.movable = k->known, all.left = k->strayed, all.without = k->near;
    bool fits = job->kernels->within(&all, k->clear) && k->made;
    if (!fits && k->made)
        fits = renew_clear_boxes(job, &all, k);
    for (int turn = 0; turn < 2; ++turn)
    {
        bool fresh = !fits, full = false;
        if (fresh && !divide_chunk(job, &all, k))
            return k->made = false;
        load_packed(job, k, packed);
        const float* const begins[3] = {packed->start[0], packed->start[1], packed->start[2]};
        pl_mesh_paths eights = paths_of(packed, begins, k->eight_count, shift);
        eights.movable = k->movable, eights.left = k->left;
        bool inside = job->kernels->within(&eights, k->listed);
        if (fresh)
            memset(k->left, 1, k->eight_count);
        if (!fresh && inside)
            return true;
        fits = relist(job, &eights, k, &full);
        if (full)
            return k->made = false;
        if (fits)
            return true;
    }
    return k->made = false; /* unreachable: the new lists hold all of them */
}
