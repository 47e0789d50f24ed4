// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pairs of clusters of different bodies. A broad phase over the AABBs of bodies finds which bodies
 * may meet; a second one takes only the clusters that overlap the AABB of another body (both by
 * tree.c). While bodies fly apart, no cluster is left.
 */
#include "collision/broadphase/broadphase.h"

#include <string.h>

void pl_pair_cache_between_free(pl_pair_cache_between* b)
{
    pl_broadphase_free(&b->tree);
    pl_broadphase_free(&b->bodies_tree);
    pl_free(b->boxes);
    pl_free(b->near);
    pl_free(b->cluster);
    pl_free(b->box_bodies);
    pl_free(b->near_bodies);
    pl_pair_list_free(&b->met);
    memset(b, 0, sizeof *b);
}

static pl_status reserve(pl_pair_cache_between* b, uint32_t count, uint32_t body_count)
{
    if (!pl_grow((void**)&b->boxes, &b->box_capacity, body_count, sizeof *b->boxes) ||
        !pl_grow((void**)&b->near, &b->near_capacity, count, sizeof *b->near) ||
        !pl_grow((void**)&b->cluster, &b->cluster_capacity, count, sizeof *b->cluster) ||
        !pl_grow((void**)&b->box_bodies, &b->box_body_capacity, body_count,
                 sizeof *b->box_bodies) ||
        !pl_grow((void**)&b->near_bodies, &b->near_body_capacity, body_count,
                 sizeof *b->near_bodies))
        return pl_fail_memory(count * sizeof *b->near);
    return PLIANT_OK;
}

/* AABB of all particles and shapes of a body. NaN bounds are ignored. */
static void bound_body(const pl_pair_body* body, const pl_proxy_pose* poses, pl_proxy_pose* box)
{
    for (int k = 0; k < 3; ++k)
    {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t c = body->first; c < body->first + body->count; ++c)
        {
            const pl_proxy_pose* p = &poses[c];
            low = p->part_lower[k] < low ? p->part_lower[k] : low;
            low = p->shape_lower[k] < low ? p->shape_lower[k] : low;
            high = p->part_upper[k] > high ? p->part_upper[k] : high;
            high = p->shape_upper[k] > high ? p->shape_upper[k] : high;
        }
        box->lower[k] = box->part_lower[k] = box->shape_lower[k] = low;
        box->upper[k] = box->part_upper[k] = box->shape_upper[k] = high;
    }
}

/* Whether a cluster's particles may touch anything in the box, or the other way round. */
static bool is_near(const pl_proxy_pose* cluster, const pl_proxy_pose* box)
{
    return pl_pair_may_touch(cluster, box) || pl_pair_may_touch(box, cluster);
}

/* Lists the clusters that are near other bodies, body by body. */
static uint32_t list_near(pl_pair_cache_between* b, const pl_proxy_pose* poses, uint32_t body_count,
                          const pl_pair_body* bodies)
{
    uint32_t count = 0;
    size_t at = 0;
    for (uint32_t n = 0; n < body_count; ++n)
    {
        size_t begin = at;
        while (at < b->met.count && b->met.pairs[at].a == n)
            ++at;
        b->near_bodies[n] = bodies[n];
        b->near_bodies[n].first = count;
        b->near_bodies[n].self = false;
        for (uint32_t c = bodies[n].first; c < bodies[n].first + bodies[n].count; ++c)
        {
            size_t i = begin;
            while (i < at && !is_near(&poses[c], &b->boxes[b->met.pairs[i].b]))
                ++i;
            if (i == at)
                continue;
            b->near[count] = poses[c];
            b->cluster[count++] = c;
        }
        b->near_bodies[n].count = count - b->near_bodies[n].first;
    }
    return count;
}

pl_status pl_pair_cache_between_update(pl_pair_cache_between* b, uint32_t count,
                                       const pl_proxy_pose* poses, uint32_t body_count,
                                       const pl_pair_body* bodies, pl_pool* pool,
                                       pl_pair_list* pairs)
{
    pairs->count = 0;
    PL_TRY(reserve(b, count, body_count));
    for (uint32_t n = 0; n < body_count; ++n)
    {
        bound_body(&bodies[n], poses, &b->boxes[n]);
        b->box_bodies[n] = bodies[n];
        b->box_bodies[n].first = n, b->box_bodies[n].count = 1;
        b->box_bodies[n].self = false;
    }
    PL_TRY(pl_broadphase_find(&b->bodies_tree, body_count, b->boxes, 0, body_count, b->box_bodies,
                              NULL, &b->met));
    uint32_t near = b->met.count ? list_near(b, poses, body_count, bodies) : 0;
    if (!near)
        return PLIANT_OK;
    PL_TRY(pl_broadphase_find(&b->tree, near, b->near, 0, body_count, b->near_bodies, pool, pairs));
    for (size_t i = 0; i < pairs->count; ++i)
    {
        pairs->pairs[i].a = b->cluster[pairs->pairs[i].a];
        pairs->pairs[i].b = b->cluster[pairs->pairs[i].b];
    }
    return PLIANT_OK;
}
