// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pairs that may touch, remembered. They are looked for with wider bounds than needed, and as long
 * as everyone is within those, the pairs of now are among them (Verlet, Computer "Experiments" on
 * Classical Fluids, 1967, for neighbours of molecules). What they are is still asked of the bounds
 * of now, so the result is the same as if the tree were made and asked each time.
 *
 * How much wider follows from how far bounds go in a substep, seen from the middle of all: what
 * falls or flies together stays together. Where they go too far for their size, nothing is gained
 * and nothing is remembered.
 */
#include "broadphase.h"

#include <string.h>

/* Substeps that the wider bounds are made for, and how much wider than they are large they may be.
 */
#define SUBSTEPS 8
#define MOST_MARGIN 0.25
/* Of the margin: what is left aside for rounding. */
#define ROUNDING 1e-3

void pl_pair_memory_free(pl_pair_memory* m)
{
    pl_free(m->bounds);
    pl_free(m->bodies);
    pl_free(m->rules);
    pl_pair_list_free(&m->likely);
    memset(m, 0, sizeof *m);
}

static uint64_t serial_of(const pl_pair_body* body)
{
    return body->self && body->rules ? body->rules->serial : 0;
}

static bool same_bodies(const pl_pair_memory* m, uint32_t count, uint32_t body_count,
                        const pl_pair_body* bodies)
{
    if (!m->cluster_count || m->cluster_count != count || m->body_count != body_count)
        return false;
    for (uint32_t b = 0; b < body_count; ++b)
    {
        const pl_pair_body *was = &m->bodies[b], *is = &bodies[b];
        if (was->first != is->first || was->count != is->count || was->groups != is->groups ||
            was->self != is->self || was->asleep != is->asleep ||
            m->rules[b].serial != serial_of(is))
            return false;
    }
    return true;
}

/* The middle of all; or where it was, if some of them sleep and so stay where they are. */
static void find_centre(uint32_t count, const pl_proxy_pose* poses, uint32_t body_count,
                        const pl_pair_body* bodies, double centre[3])
{
    centre[0] = centre[1] = centre[2] = 0;
    for (uint32_t b = 0; b < body_count; ++b)
        if (bodies[b].asleep)
            return;
    for (uint32_t c = 0; c < count; ++c)
        for (int k = 0; k < 3; ++k)
            centre[k] += poses[c].x[k] / count;
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

/* Whether all are within the wider bounds. */
static bool all_within(const pl_pair_memory* m, const pl_proxy_pose* poses, const double centre[3])
{
    double margin = (1 - ROUNDING) * m->margin;
    for (uint32_t c = 0; c < m->cluster_count; ++c)
    {
        const double* was = m->bounds[c];
        double is[12];
        bounds_of(&poses[c], centre, is);
        bool in = true;
        for (int k = 0; k < 3; ++k)
            in = in & (is[k] >= was[k] - margin) & (is[3 + k] <= was[3 + k] + margin) &
                 (is[6 + k] >= was[6 + k] - margin) & (is[9 + k] <= was[9 + k] + margin);
        if (!in)
            return false;
    }
    return true;
}

/* What it is worth to be wider by: nothing if that is too much for the size of clusters, or too
 * little for the precision of places. */
static double choose_margin(const pl_pair_memory* m, const pl_proxy_pose* poses,
                            const double centre[3])
{
    double most = 0, size = 0, farthest = 0;
    for (uint32_t c = 0; c < m->cluster_count; ++c)
    {
        double is[12];
        bounds_of(&poses[c], centre, is);
        for (int k = 0; k < 12; ++k)
        {
            double way = fabs(is[k] - m->bounds[c][k]);
            most = way > most ? way : most; /* what is not a number, or dead, goes nowhere */
            double far = fabs(is[k] + centre[k % 3]);
            farthest = far > farthest && far < INFINITY ? far : farthest;
        }
        double wide = is[9] - is[6] + is[10] - is[7] + is[11] - is[8];
        size += wide > 0 ? wide / (3 * m->cluster_count) : 0;
    }
    double margin = SUBSTEPS * most / (m->age ? m->age : 1);
    bool fine = margin * ROUNDING > 1e-14 * farthest && margin < MOST_MARGIN * size;
    return fine ? margin : 0;
}

static pl_status remember(pl_pair_memory* m, uint32_t count, const pl_proxy_pose* poses,
                          const double centre[3], uint32_t body_count, const pl_pair_body* bodies)
{
    m->cluster_count = 0;
    if (!pl_grow((void**)&m->bounds, &m->bounds_capacity, count, sizeof *m->bounds) ||
        !pl_grow((void**)&m->bodies, &m->body_capacity, body_count, sizeof *m->bodies) ||
        !pl_grow((void**)&m->rules, &m->rules_capacity, body_count, sizeof *m->rules))
        return pl_fail_memory(count * sizeof *m->bounds);
    for (uint32_t c = 0; c < count; ++c)
        bounds_of(&poses[c], centre, m->bounds[c]);
    for (uint32_t b = 0; b < body_count; ++b)
    {
        m->bodies[b] = bodies[b];
        m->rules[b].serial = serial_of(&bodies[b]);
        m->rules[b].released = m->rules[b].serial ? bodies[b].rules->released_count : 0;
    }
    memcpy(m->centre, centre, sizeof m->centre);
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

/* Pairs that were held back when they were looked for, and may touch now. */
static pl_status add_released(pl_pair_memory* m, const pl_pair_body* bodies)
{
    for (uint32_t b = 0; b < m->body_count; ++b)
        for (size_t* seen = &m->rules[b].released;
             m->rules[b].serial && *seen < bodies[b].rules->released_count; ++*seen)
        {
            uint64_t key = bodies[b].rules->released[*seen];
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

pl_status pl_pairs_follow(pl_pair_memory* m, pl_broadphase* b, uint32_t count,
                          const pl_proxy_pose* poses, uint32_t body_count,
                          const pl_pair_body* bodies, pl_pool* pool, pl_pair_list* pairs)
{
    double centre[3];
    find_centre(count, poses, body_count, bodies, centre);
    bool same = same_bodies(m, count, body_count, bodies);
    ++m->age;
    pairs->count = 0;
    if (!same || !(m->margin > 0) || !all_within(m, poses, centre))
    {
        m->margin = same ? choose_margin(m, poses, centre) : 0;
        PL_TRY(remember(m, count, poses, centre, body_count, bodies));
        if (!(m->margin > 0))
            return pl_broadphase_find(b, count, poses, 0, body_count, bodies, pool, pairs);
        pl_status status =
            pl_broadphase_find(b, count, poses, m->margin, body_count, bodies, pool, &m->likely);
        if (status != PLIANT_OK)
        {
            m->cluster_count = 0;
            return status;
        }
    }
    PL_TRY(add_released(m, bodies));
    if (!pl_grow((void**)&pairs->pairs, &pairs->capacity, m->likely.count, sizeof(pl_pair)))
        return pl_fail_memory(m->likely.count * sizeof(pl_pair));
    for (size_t i = 0; i < m->likely.count; ++i)
    {
        pl_pair pair = m->likely.pairs[i];
        pairs->pairs[pairs->count] = pair;
        pairs->count += pl_pair_may_touch(&poses[pair.a], &poses[pair.b]);
    }
    return PLIANT_OK;
}
