// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A skin must not stretch between components that move independently. A patch is a connected
 * component of vertices, by triangles or equal positions. Every vertex votes with its kernel for
 * the components of nearby particles, and a patch follows the one with the most votes. A vertex far
 * from it, because the skin is one surface around several components, follows its own vote.
 */
#include "output/skin/skin_components.h"

#include "base/union_find.h"
#include "output/skin/skin.h"

#include <stdlib.h>
#include <string.h>

enum
{
    CHOICES = 4, /* most components that a vertex votes for */
    GRAIN = 256
};

static const double FAR_OFF = 1.5; /* in supports: extra distance at which a component counts as far
                                      */

typedef struct ballot
{
    uint32_t patch, part;
    uint32_t vertex;
    float share;
} ballot;

typedef struct vote
{
    const pl_point_tree* tree; /* of all particles */
    const uint32_t* shell;
    const vec3* vertices;
    double support;
    const uint32_t* patch;
    pl_skin_components* parts;
    ballot* ballots; /* CHOICES for each vertex */
    float* nearest;
    uint32_t* chosen; /* by patch, which is a vertex */
} vote;

void pl_skin_components_free(pl_skin_components* parts)
{
    for (uint32_t p = 0; parts->tree && p < parts->count; ++p)
        pl_point_tree_destroy(parts->tree[p]);
    pl_free(parts->tree);
    pl_free(parts->begin);
    pl_free(parts->particle);
    pl_free(parts->of);
    *parts = (pl_skin_components){0};
}

/* ------------------------------------------------------------------ components of particles */

static int by_number(const void* a, const void* b)
{
    uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return (x > y) - (x < y);
}

/* Compact index of each particle's shell: a damaged file may have any numbers. NULL: out of memory.
 */
static uint32_t* rank_shells(uint32_t count, const uint32_t* shell, uint32_t* ranks)
{
    uint32_t* rank = PL_NEW(uint32_t, count);
    uint32_t* sorted = PL_NEW(uint32_t, count);
    *ranks = 1;
    if (rank && sorted && shell)
    {
        memcpy(sorted, shell, sizeof *sorted * count);
        qsort(sorted, count, sizeof *sorted, by_number);
        for (uint32_t i = 1; i < count; ++i)
            if (sorted[i] != sorted[*ranks - 1])
                sorted[(*ranks)++] = sorted[i];
        for (uint32_t i = 0; i < count; ++i)
            rank[i] = (uint32_t)((uint32_t*)bsearch(&shell[i], sorted, *ranks, sizeof *sorted,
                                                    by_number) -
                                 sorted);
    }
    if (!sorted)
    {
        pl_free(rank);
        rank = NULL;
    }
    pl_free(sorted);
    return rank;
}

static bool list_particles(pl_skin_components* parts, uint32_t count, const uint32_t* shell)
{
    parts->begin = PL_NEW(uint32_t, (size_t)parts->count + 2);
    parts->particle = PL_NEW(uint32_t, count);
    if (!parts->begin || !parts->particle)
        return false;
    for (uint32_t i = 0; i < count; ++i)
        ++parts->begin[shell[i] + 2];
    for (uint32_t p = 0; p < parts->count; ++p)
        parts->begin[p + 2] += parts->begin[p + 1];
    for (uint32_t i = 0; i < count; ++i)
        parts->particle[parts->begin[shell[i] + 1]++] = i;
    return true;
}

static bool plant_trees(pl_skin_components* parts, uint32_t count, const vec3* rest)
{
    vec3* points = PL_NEW(vec3, count);
    parts->tree = PL_NEW(pl_point_tree*, parts->count);
    bool fine = points && parts->tree;
    for (uint32_t p = 0; fine && p < parts->count; ++p)
    {
        uint32_t begin = parts->begin[p], some = parts->begin[p + 1] - begin;
        for (uint32_t i = 0; i < some; ++i)
            points[i] = rest[parts->particle[begin + i]];
        if (some)
            fine = (parts->tree[p] = pl_point_tree_create(some, points)) != NULL;
    }
    pl_free(points);
    return fine;
}

/* ------------------------------------------------------------------ votes of vertices */

typedef struct placed
{
    vec3 at;
    uint32_t vertex;
} placed;

static int by_place(const void* a, const void* b)
{
    const placed *p = a, *q = b;
    if (p->at.x != q->at.x)
        return p->at.x > q->at.x ? 1 : -1;
    if (p->at.y != q->at.y)
        return p->at.y > q->at.y ? 1 : -1;
    if (p->at.z != q->at.z)
        return p->at.z > q->at.z ? 1 : -1;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

/* The patch of each vertex: its lowest vertex. */
static bool find_patches(uint32_t count, const vec3* vertices, const pl_skin_shape* shape,
                         uint32_t* patch)
{
    for (uint32_t i = 0; i < count; ++i)
        patch[i] = i;
    if (!shape->triangle_count)
        return true;
    placed* places = PL_NEW(placed, count);
    if (!places)
        return false;
    for (uint32_t i = 0; i < count; ++i)
        places[i] = (placed){vertices[i], i};
    qsort(places, count, sizeof *places, by_place);
    for (uint32_t i = 1; i < count; ++i)
        if (places[i].at.x == places[i - 1].at.x && places[i].at.y == places[i - 1].at.y &&
            places[i].at.z == places[i - 1].at.z)
            pl_union_find_unite(patch, places[i].vertex, places[i - 1].vertex);
    pl_free(places);
    for (uint32_t t = 0; t < shape->triangle_count; ++t)
        for (int k = 1; k < 3; ++k)
            pl_union_find_unite(patch, shape->triangles[3 * (size_t)t],
                                shape->triangles[3 * (size_t)t + k]);
    for (uint32_t i = 0; i < count; ++i)
        patch[i] = pl_union_find_root(patch, i);
    return true;
}

/* A vertex's votes for the components of the particles in its kernel, at most CHOICES, first come
 * first. */
static void cast(const vote* v, uint32_t vertex)
{
    pl_nearest_point near[PL_SKIN_ENTRIES + 1];
    double squared, share[CHOICES] = {0}, sum = 0;
    uint32_t part[CHOICES], choices = 0;
    uint32_t found = pl_skin_support(v->tree, v->support, v->vertices[vertex], near, &squared);
    found = PL_MAX(PL_MIN(found, (uint32_t)PL_SKIN_ENTRIES), 1u);
    for (uint32_t i = 0; i < found; ++i)
    {
        uint32_t own = v->shell[near[i].index], k = 0;
        double q = 1 - near[i].squared_distance / squared;
        while (k < choices && part[k] != own)
            ++k;
        if (k == CHOICES)
            continue;
        if (k == choices)
            part[choices++] = own;
        double kernel = q > 0 ? q * q * q : i == 0;
        share[k] += kernel;
        sum += kernel;
    }
    ballot* out = v->ballots + (size_t)vertex * CHOICES;
    for (uint32_t k = 0; k < CHOICES; ++k)
        out[k] = (ballot){v->patch[vertex], k < choices ? part[k] : part[0], vertex,
                          k < choices && sum > 0 ? (float)(share[k] / sum) : 0};
    v->nearest[vertex] = (float)sqrt(near[0].squared_distance);
}

static void cast_block(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
        cast(context, i);
}

static int by_patch(const void* a, const void* b)
{
    const ballot *p = a, *q = b;
    if (p->patch != q->patch)
        return p->patch > q->patch ? 1 : -1;
    if (p->part != q->part)
        return p->part > q->part ? 1 : -1;
    if (p->vertex != q->vertex)
        return p->vertex > q->vertex ? 1 : -1;
    return (p->share < q->share) - (p->share > q->share);
}

static uint32_t own_choice(const ballot* ballots)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < CHOICES; ++k)
        if (ballots[k].share > ballots[best].share)
            best = k;
    return ballots[best].part;
}

/* The component of each patch. Sorts the ballots. */
static void count_votes(vote* v, uint32_t vertex_count)
{
    size_t total = (size_t)vertex_count * CHOICES;
    double best = -1;
    qsort(v->ballots, total, sizeof *v->ballots, by_patch);
    for (size_t begin = 0, end; begin < total; begin = end)
    {
        const ballot* first = &v->ballots[begin];
        double sum = 0;
        for (end = begin; end < total && v->ballots[end].patch == first->patch &&
                          v->ballots[end].part == first->part;
             ++end)
            sum += v->ballots[end].share;
        if (begin == 0 || v->ballots[begin - 1].patch != first->patch)
            best = -1;
        if (sum > best)
        {
            best = sum;
            v->chosen[first->patch] = first->part;
        }
    }
}

static void settle_block(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const vote* v = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        pl_nearest_point near;
        uint32_t part = v->chosen[v->patch[i]];
        if (part == v->parts->of[i])
            continue;
        pl_point_tree_query(v->parts->tree[part], v->vertices[i], INFINITY, 1, &near);
        if (sqrt(near.squared_distance) <= v->nearest[i] + FAR_OFF * v->support)
            v->parts->of[i] = part;
    }
}

static bool choose(vote* v, uint32_t vertex_count, const pl_skin_shape* shape, pl_pool* pool)
{
    uint32_t* patch = PL_NEW(uint32_t, vertex_count);
    v->patch = patch;
    v->ballots = PL_NEW(ballot, (size_t)vertex_count * CHOICES);
    v->nearest = PL_NEW(float, vertex_count);
    v->chosen = PL_NEW(uint32_t, vertex_count);
    v->parts->of = PL_NEW(uint32_t, vertex_count);
    bool fine = v->tree && patch && v->ballots && v->nearest && v->chosen && v->parts->of &&
                find_patches(vertex_count, v->vertices, shape, patch);
    if (fine)
    {
        pl_parallel_for(pool, vertex_count, GRAIN, cast_block, v);
        for (uint32_t i = 0; i < vertex_count; ++i)
            v->parts->of[i] = own_choice(v->ballots + (size_t)i * CHOICES);
        count_votes(v, vertex_count);
        pl_parallel_for(pool, vertex_count, GRAIN, settle_block, v);
    }
    pl_free(patch);
    pl_free(v->ballots);
    pl_free(v->nearest);
    pl_free(v->chosen);
    return fine;
}

pl_status pl_skin_components_find(uint32_t particle_count, const vec3* rest, uint32_t vertex_count,
                                  const vec3* vertices, const pl_skin_shape* shape, double support,
                                  pl_pool* pool, pl_skin_components* parts)
{
    *parts = (pl_skin_components){0};
    uint32_t* shell = rank_shells(particle_count, shape->shell, &parts->count);
    bool fine = shell && list_particles(parts, particle_count, shell) &&
                plant_trees(parts, particle_count, rest);
    if (fine && parts->count > 1)
    {
        pl_point_tree* tree = pl_point_tree_create(particle_count, rest);
        vote v = {
            .tree = tree, .shell = shell, .vertices = vertices, .support = support, .parts = parts};
        fine = choose(&v, vertex_count, shape, pool);
        pl_point_tree_destroy(tree);
    }
    pl_free(shell);
    return fine ? PLIANT_OK : pl_fail_memory((size_t)vertex_count * CHOICES * sizeof(ballot));
}
