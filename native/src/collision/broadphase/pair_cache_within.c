// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Cache of pairs that may touch. Pairs are found with fattened bounds; as long as every cluster
 * stays within its own, the current pairs are a subset (Verlet, Computer "Experiments" on Classical
 * Fluids, 1967, neighbour lists of molecules). Each cached pair is tested with the current bounds,
 * so the result equals that of a new tree.
 *
 * The margin is SUBSTEPS substeps of bound motion relative to the mean position of all clusters:
 * what falls or flies together stays together. If that is too much for the clusters' size, each
 * body caches the pairs within itself, relative to its own mean position, and pairs between bodies
 * are found anew each time (pair_cache_between.c). If that fails too, everything is found anew.
 */
#include "collision/broadphase/broadphase.h"

#include <string.h>

/* Substeps that the margin covers, and its limit as a share of the mean cluster size. */
#define SUBSTEPS 8
#define MOST_MARGIN 0.25
/* Substeps for which the cache stays off after motion was too fast. */
#define PAUSE 16
/* Share of the margin reserved for rounding. */
#define ROUNDING 1e-3

void pl_pair_cache_within_free(pl_pair_cache_within* m)
{
    pl_free(m->bounds);
    pl_free(m->bodies);
    pl_free(m->filter);
    pl_free(m->centre);
    pl_free(m->box);
    pl_free(m->alone);
    pl_pair_list_free(&m->likely);
    pl_pair_list_free(&m->met);
    pl_pair_cache_between_free(&m->between);
    if (m->own)
        pl_pair_cache_within_free(m->own);
    pl_free(m->own);
    memset(m, 0, sizeof *m);
}

static uint64_t serial_of(const pl_pair_body* body)
{
    return body->self && body->filter ? body->filter->serial : 0;
}

static bool same_bodies(const pl_pair_cache_within* m, uint32_t count, uint32_t body_count,
                        const pl_pair_body* bodies)
{
    if (!m->cluster_count || m->cluster_count != count || m->body_count != body_count)
        return false;
    for (uint32_t b = 0; b < body_count; ++b)
    {
        const pl_pair_body *was = &m->bodies[b], *is = &bodies[b];
        if (was->first != is->first || was->count != is->count || was->groups != is->groups ||
            was->self != is->self || was->asleep != is->asleep ||
            m->filter[b].serial != serial_of(is))
            return false;
    }
    return true;
}

/* Reference points: the mean of all clusters, or each body's own. 0 where a body sleeps: it stays
 * in place. */
static pl_status find_centres(pl_pair_cache_within* m, const pl_proxy_pose* poses,
                              uint32_t body_count, const pl_pair_body* bodies, bool own)
{
    if (!pl_grow((void**)&m->centre, &m->centre_capacity, body_count, sizeof *m->centre))
        return pl_fail_memory(body_count * sizeof *m->centre);
    double sum[3] = {0, 0, 0};
    uint32_t count = 0;
    bool asleep = false;
    for (uint32_t b = 0; b < body_count; ++b)
    {
        for (int k = 0; k < 3; ++k)
            sum[k] = own ? 0 : sum[k];
        count = own ? bodies[b].count : count + bodies[b].count;
        asleep = bodies[b].asleep || (asleep && !own);
        for (uint32_t c = bodies[b].first; c < bodies[b].first + bodies[b].count; ++c)
            for (int k = 0; k < 3; ++k)
                sum[k] += poses[c].x[k];
        for (int k = 0; k < 3; ++k)
            m->centre[b][k] = asleep || !count ? 0 : sum[k] / count;
    }
    for (uint32_t b = 0; b < body_count && !own; ++b)
        for (int k = 0; k < 3; ++k)
            m->centre[b][k] = asleep || !count ? 0 : sum[k] / count;
    return PLIANT_OK;
}

static void bounds_of(const pl_proxy_pose* pose, const double centre[3], double out[12])
{
    for (int k = 0; k < 3; ++k)
    {
        out[k] = pose->part_lower[k] - centre[k];
        out[3 + k] = pose->part_upper[k] - centre[k];
        out[6 + k] = pose->shape_lower[k] - centre[k];
        out[9 + k] = pose->shape_upper[k] - centre[k];
    }
}

/* Current bounds in float, rounded outward: they reject most pairs. */
static void note_box(const double bounds[12], float box[12])
{
    for (int k = 0; k < 12; ++k)
    {
        double a = bounds[k], slack = 1.5e-7 * fabs(a) + 1e-30;
        box[k] = (float)(k / 3 % 2 ? a + slack : a - slack);
    }
}

/* Whether the particles' box of one overlaps the shape's box of the other. */
static bool boxes_meet(const float part[12], const float shape[12])
{
    return (part[0] <= shape[9]) & (shape[6] <= part[3]) & (part[1] <= shape[10]) &
           (shape[7] <= part[4]) & (part[2] <= shape[11]) & (shape[8] <= part[5]);
}

/* Whether all clusters are within their fattened bounds. */
static bool all_within(pl_pair_cache_within* m, const pl_proxy_pose* poses)
{
    double margin = (1 - ROUNDING) * m->margin;
    for (uint32_t b = 0; b < m->body_count; ++b)
        for (uint32_t c = m->bodies[b].first; c < m->bodies[b].first + m->bodies[b].count; ++c)
        {
            const double* was = m->bounds[c];
            double is[12];
            bounds_of(&poses[c], m->centre[b], is);
            note_box(is, m->box[c]);
            bool in = true;
            for (int k = 0; k < 3; ++k)
                in = in & (is[k] >= was[k] - margin) & (is[3 + k] <= was[3 + k] + margin) &
                     (is[6 + k] >= was[6 + k] - margin) & (is[9 + k] <= was[9 + k] + margin);
            if (!in)
                return false;
        }
    return true;
}

/* The margin for the next list; 0 if it would be too large for the clusters' size, or too small for
 * the precision of positions. */
static double choose_margin(const pl_pair_cache_within* m, const pl_proxy_pose* poses)
{
    double most = 0, size = 0, farthest = 0;
    for (uint32_t b = 0; b < m->body_count; ++b)
        for (uint32_t c = m->bodies[b].first; c < m->bodies[b].first + m->bodies[b].count; ++c)
        {
            const double* centre = m->centre[b];
            double is[12];
            bounds_of(&poses[c], centre, is);
            for (int k = 0; k < 12; ++k)
            {
                double way = fabs(is[k] - m->bounds[c][k]);
                most = way > most ? way : most; /* NaN and dead clusters do not count */
                double far = fabs(is[k] + centre[k % 3]);
                farthest = far > farthest && far < INFINITY ? far : farthest;
            }
            double wide = is[9] - is[6] + is[10] - is[7] + is[11] - is[8];
            size += wide > 0 ? wide / (3 * m->cluster_count) : 0;
        }
    /* bodies that do not move get the smallest margin that rounding allows */
    double margin = fmax(SUBSTEPS * most / (m->age ? m->age : 1), 2e-14 * farthest / ROUNDING);
    return margin < MOST_MARGIN * size ? margin : 0;
}

static pl_status store_bounds(pl_pair_cache_within* m, uint32_t count, const pl_proxy_pose* poses,
                              uint32_t body_count, const pl_pair_body* bodies)
{
    m->cluster_count = 0;
    if (!pl_grow((void**)&m->bounds, &m->bounds_capacity, count, sizeof *m->bounds) ||
        !pl_grow((void**)&m->box, &m->box_capacity, count, sizeof *m->box) ||
        !pl_grow((void**)&m->bodies, &m->body_capacity, body_count, sizeof *m->bodies) ||
        !pl_grow((void**)&m->filter, &m->rules_capacity, body_count, sizeof *m->filter))
        return pl_fail_memory(count * sizeof *m->bounds);
    for (uint32_t b = 0; b < body_count; ++b)
    {
        for (uint32_t c = bodies[b].first; c < bodies[b].first + bodies[b].count; ++c)
        {
            bounds_of(&poses[c], m->centre[b], m->bounds[c]);
            note_box(m->bounds[c], m->box[c]);
        }
        m->bodies[b] = bodies[b];
        m->filter[b].serial = serial_of(&bodies[b]);
        m->filter[b].released = m->filter[b].serial ? bodies[b].filter->released_count : 0;
    }
    m->age = 0;
    m->cluster_count = count;
    m->body_count = body_count;
    return PLIANT_OK;
}

static bool insert(pl_pair_list* list, pl_pair pair)
{
    if (!pl_grow((void**)&list->pairs, &list->capacity, list->count + 1, sizeof *list->pairs))
        return false;
    size_t low = 0, high = list->count;
    while (low < high)
    {
        size_t middle = low + (high - low) / 2;
        pl_pair at = list->pairs[middle];
        if (at.a < pair.a || (at.a == pair.a && at.b < pair.b))
            low = middle + 1;
        else
            high = middle;
    }
    memmove(list->pairs + low + 1, list->pairs + low, (list->count - low) * sizeof *list->pairs);
    list->pairs[low] = pair;
    ++list->count;
    return true;
}

/* Adds pairs that the filter has released since the list was made. */
static pl_status add_released(pl_pair_cache_within* m, const pl_pair_body* bodies)
{
    for (uint32_t b = 0; b < m->body_count; ++b)
        for (size_t* seen = &m->filter[b].released;
             m->filter[b].serial && *seen < bodies[b].filter->released_count; ++*seen)
        {
            uint64_t key = bodies[b].filter->released[*seen];
            uint32_t one = bodies[b].first + (uint32_t)(key >> 32);
            uint32_t other = bodies[b].first + (uint32_t)key;
            if (!insert(&m->likely, (pl_pair){one, other}) ||
                !insert(&m->likely, (pl_pair){other, one}))
            {
                m->cluster_count = 0;
                return pl_fail_memory(m->likely.count * sizeof(pl_pair));
            }
        }
    return PLIANT_OK;
}

/* Arguments of a broad-phase query. */
typedef struct query
{
    pl_broadphase* tree;
    uint32_t count, body_count;
    const pl_proxy_pose* poses;
    const pl_pair_body* bodies;
    pl_pool* pool;
} query;

/* Refreshes the cached pairs if they are invalid. The margin is 0 afterwards if caching does not
 * pay. */
static pl_status refresh(pl_pair_cache_within* m, const query* q, bool own)
{
    PL_TRY(find_centres(m, q->poses, q->body_count, q->bodies, own));
    bool same = same_bodies(m, q->count, q->body_count, q->bodies);
    ++m->age;
    if (same && m->margin > 0 && all_within(m, q->poses))
        return add_released(m, q->bodies);
    m->margin = same ? choose_margin(m, q->poses) : 0;
    PL_TRY(store_bounds(m, q->count, q->poses, q->body_count, q->bodies));
    if (!(m->margin > 0))
        return PLIANT_OK;
    pl_status status = pl_broadphase_find(q->tree, q->count, q->poses, m->margin, q->body_count,
                                          q->bodies, q->pool, &m->likely);
    if (status != PLIANT_OK)
        m->cluster_count = 0;
    return status == PLIANT_OK ? add_released(m, q->bodies) : status;
}

static bool comes_before(pl_pair a, pl_pair b)
{
    return a.a < b.a || (a.a == b.a && a.b < b.b);
}

/* Cached pairs that may touch now, merged with "others", which is sorted too. */
static pl_status merge_pairs(const pl_pair_cache_within* m, const pl_proxy_pose* poses,
                             const pl_pair_list* others, pl_pair_list* pairs)
{
    size_t most = m->likely.count + (others ? others->count : 0), at = 0;
    pairs->count = 0;
    if (!pl_grow((void**)&pairs->pairs, &pairs->capacity, most, sizeof(pl_pair)))
        return pl_fail_memory(most * sizeof(pl_pair));
    for (size_t i = 0; i < m->likely.count; ++i)
    {
        pl_pair pair = m->likely.pairs[i];
        if (!boxes_meet(m->box[pair.a], m->box[pair.b]) ||
            !pl_pair_may_touch(&poses[pair.a], &poses[pair.b]))
            continue;
        for (; others && at < others->count && comes_before(others->pairs[at], pair); ++at)
            pairs->pairs[pairs->count++] = others->pairs[at];
        pairs->pairs[pairs->count++] = pair;
    }
    for (; others && at < others->count; ++at)
        pairs->pairs[pairs->count++] = others->pairs[at];
    return PLIANT_OK;
}

/* The same bodies without pairs between them. */
static pl_status isolate_bodies(pl_pair_cache_within* m, query* q)
{
    if (!m->own)
        m->own = PL_NEW(pl_pair_cache_within, 1);
    if (!m->own || !pl_grow((void**)&m->alone, &m->alone_capacity, q->body_count, sizeof *m->alone))
        return pl_fail_memory(sizeof *m->own + q->body_count * sizeof *m->alone);
    for (uint32_t b = 0; b < q->body_count; ++b)
    {
        m->alone[b] = q->bodies[b];
        m->alone[b].groups = 0;
    }
    q->bodies = m->alone;
    return PLIANT_OK;
}

pl_status pl_pair_cache_within_update(pl_pair_cache_within* m, pl_broadphase* b, uint32_t count,
                                      const pl_proxy_pose* poses, uint32_t body_count,
                                      const pl_pair_body* bodies, pl_pool* pool,
                                      pl_pair_list* pairs)
{
    query all = {b, count, body_count, poses, bodies, pool}, alone = all;
    if (m->pause)
        --m->pause;
    else
    {
        bool asked = m->cluster_count > 0;
        PL_TRY(refresh(m, &all, false));
        if (m->margin > 0)
            return merge_pairs(m, poses, NULL, pairs);
        if (asked)
            m->pause = PAUSE, m->cluster_count = 0;
    }
    PL_TRY(isolate_bodies(m, &alone));
    PL_TRY(refresh(m->own, &alone, true));
    if (!(m->own->margin > 0))
        return pl_broadphase_find(b, count, poses, 0, body_count, bodies, pool, pairs);
    PL_TRY(
        pl_pair_cache_between_update(&m->between, count, poses, body_count, bodies, pool, &m->met));
    return merge_pairs(m->own, poses, &m->met, pairs);
}
