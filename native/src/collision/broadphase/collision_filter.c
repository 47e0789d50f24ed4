// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pairs of clusters of one body that must not collide. Clusters that share a particle never collide
 * (Jones et al. 2015, 3.4).
 *
 * Departure: balls stick out of the body where it is thin or bent, so other clusters may overlap at
 * rest too, and their contacts would inflate the body (published code lets them). Such pairs are
 * held back until they have been apart once. Two AABBs can separate merely because the body
 * rotated, so the balls must be apart as well, at rest and later.
 */
#include "body/cut_query.h"
#include "collision/broadphase/broadphase.h"
#include "collision/broadphase/pose.h"

#include <string.h>

void pl_collision_filter_free(pl_collision_filter* filter)
{
    pl_free(filter->share_begin);
    pl_free(filter->share);
    pl_free(filter->held);
    pl_free(filter->released);
    pl_free(filter->near_begin);
    pl_free(filter->near);
    memset(filter, 0, sizeof *filter);
}

/* The clusters of each slot, in CSR form. */
typedef struct by_slot
{
    uint32_t *begin, *cluster, *seen;
} by_slot;

static pl_status list_by_slot(uint32_t slots, const pl_proxies* proxies, by_slot* lists)
{
    uint32_t members = proxies->member_begin[proxies->count];
    lists->begin = PL_NEW(uint32_t, (size_t)slots + 2);
    lists->cluster = PL_NEW(uint32_t, members);
    lists->seen = PL_NEW(uint32_t, proxies->count);
    if (!lists->begin || !lists->cluster || !lists->seen)
        return pl_fail_memory((size_t)members * 4);
    uint32_t* at = lists->begin + 1; /* offset by one: filling restores the begins */
    for (uint32_t m = 0; m < members; ++m)
        ++at[proxies->member_slot[m] + 1];
    for (uint32_t s = 0; s < slots; ++s)
        at[s + 1] += at[s];
    for (uint32_t c = 0; c < proxies->count; ++c)
        for (uint32_t m = proxies->member_begin[c]; m < proxies->member_begin[c + 1]; ++m)
            lists->cluster[at[proxies->member_slot[m]]++] = c;
    return PLIANT_OK;
}

static pl_status list_shares(const pl_proxies* proxies, const by_slot* lists,
                             pl_collision_filter* filter)
{
    size_t capacity = 0;
    pl_free(filter->share_begin);
    pl_free(filter->share);
    filter->share = NULL;
    filter->share_begin = PL_NEW(uint32_t, (size_t)proxies->count + 1);
    if (!filter->share_begin)
        return pl_fail_memory((size_t)proxies->count * 4);
    uint32_t count = 0;
    for (uint32_t c = 0; c < proxies->count; ++c)
    {
        for (uint32_t m = proxies->member_begin[c]; m < proxies->member_begin[c + 1]; ++m)
        {
            uint32_t slot = proxies->member_slot[m];
            for (uint32_t i = lists->begin[slot]; i < lists->begin[slot + 1]; ++i)
            {
                uint32_t other = lists->cluster[i];
                if (other == c || lists->seen[other] == c + 1)
                    continue;
                lists->seen[other] = c + 1;
                if (!pl_grow((void**)&filter->share, &capacity, (size_t)count + 1,
                             sizeof *filter->share))
                    return pl_fail_memory(((size_t)count + 1) * 4);
                filter->share[count++] = other;
            }
        }
        filter->share_begin[c + 1] = count;
        if (count > filter->share_begin[c]) /* share may still be NULL */
            pl_sort_u32(filter->share + filter->share_begin[c], count - filter->share_begin[c]);
    }
    return PLIANT_OK;
}

static bool is_held(const uint64_t* held, size_t count, uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high)
    {
        size_t middle = low + (high - low) / 2;
        if (held[middle] == key)
            return true;
        if (held[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool bounds_overlap(const double* lower, const double* upper, const double* other_lower,
                           const double* other_upper)
{
    for (int k = 0; k < 3; ++k)
        if (!(lower[k] <= other_upper[k] && other_lower[k] <= upper[k]))
            return false;
    return true;
}

bool pl_pair_apart(const pl_proxy_pose* a, const pl_proxy_pose* b)
{
    vec3 between = v3_sub(v3_fromd(a->centre), v3_fromd(b->centre));
    double reach = a->reach + b->reach;
    return v3_dot(between, between) > reach * reach &&
           !bounds_overlap(a->lower, a->upper, b->lower, b->upper);
}

static bool cut_apart(const pl_cuts* cuts, uint32_t a, uint32_t b)
{
    return cuts->plane_count && (cuts->piece[a] != cuts->piece[b] || pl_cuts_between(cuts, a, b));
}

/* Holds, of the pairs that overlap at rest, the new ones and those that were held before. A pair
 * separated by a cut collides at once: it meets at a surface and does not overlap there. */
static pl_status hold(const pl_pair_list* pairs, const pl_proxy_pose* poses, const pl_cuts* cuts,
                      const uint8_t* changed, pl_collision_filter* filter)
{
    uint64_t* held = PL_NEW(uint64_t, pairs->count);
    size_t count = 0;
    if (!held)
        return pl_fail_memory(pairs->count * 8);
    for (size_t i = 0; i < pairs->count; ++i)
    {
        pl_pair pair = pairs->pairs[i];
        uint64_t key = (uint64_t)pair.a << 32 | pair.b;
        if (pair.a < pair.b && !pl_pair_apart(&poses[pair.a], &poses[pair.b]) &&
            (!changed || changed[pair.a] || changed[pair.b] ||
             is_held(filter->held, filter->held_count, key)) &&
            !cut_apart(cuts, pair.a, pair.b))
            held[count++] = key;
    }
    pl_free(filter->held);
    pl_free(filter->released);
    filter->held = held;
    filter->held_count = count;
    filter->released = PL_NEW(uint64_t, count);
    filter->released_count = 0;
    return filter->released ? PLIANT_OK : pl_fail_memory(count * 8);
}

/* Unique for every state of every filter, so that a cache can detect that its filter changed.
 * Results do not depend on it. */
static uint64_t next_serial(void)
{
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* Lists, by cluster, those that it shares a particle with or is held back from. The caller
 * allocates. */
static void list_near(uint32_t count, pl_collision_filter* filter)
{
    uint32_t* at = filter->near_begin + 1; /* offset by one: filling restores the begins */
    memset(filter->near_begin, 0, sizeof *at * ((size_t)count + 2));
    for (uint32_t c = 0; c < count; ++c)
        at[c + 1] = filter->share_begin[c + 1] - filter->share_begin[c];
    for (size_t i = 0; i < filter->held_count; ++i)
        ++at[(uint32_t)(filter->held[i] >> 32) + 1], ++at[(uint32_t)filter->held[i] + 1];
    for (uint32_t c = 0; c < count; ++c)
        at[c + 1] += at[c];
    for (uint32_t c = 0; c < count; ++c)
        for (uint32_t i = filter->share_begin[c]; i < filter->share_begin[c + 1]; ++i)
            filter->near[at[c]++] = filter->share[i];
    for (size_t i = 0; i < filter->held_count; ++i)
    {
        uint32_t a = (uint32_t)(filter->held[i] >> 32), b = (uint32_t)filter->held[i];
        filter->near[at[a]++] = b;
        filter->near[at[b]++] = a;
    }
}

static pl_status make_near(uint32_t count, pl_collision_filter* filter)
{
    size_t room = filter->share_begin[count] + 2 * filter->held_count;
    pl_free(filter->near_begin);
    pl_free(filter->near);
    filter->near = PL_NEW(uint32_t, room);
    filter->near_begin = PL_NEW(uint32_t, (size_t)count + 2);
    if (!filter->near_begin || !filter->near)
        return pl_fail_memory(room * 4);
    list_near(count, filter);
    filter->serial = next_serial();
    return PLIANT_OK;
}

void pl_collision_filter_release(pl_collision_filter* filter, uint32_t count,
                                 const pl_proxy_pose* poses, uint64_t turn)
{
    size_t kept = 0;
    for (size_t i = 0; i < filter->held_count; ++i)
    {
        uint64_t key = filter->held[i];
        if ((i & (PL_RELEASE_TURNS - 1)) != (turn & (PL_RELEASE_TURNS - 1)) ||
            !pl_pair_apart(&poses[key >> 32], &poses[(uint32_t)key]))
            filter->held[kept++] = key;
        else
            filter->released[filter->released_count++] = key;
    }
    if (kept == filter->held_count)
        return;
    filter->held_count = kept;
    list_near(count, filter);
}

/* Widens the AABBs to the balls, so that the broad phase finds every pair that may be held. */
static void widen(uint32_t count, pl_proxy_pose* poses)
{
    for (uint32_t c = 0; c < count; ++c)
        for (int k = 0; k < 3; ++k)
        {
            pl_proxy_pose* p = &poses[c];
            double low = fmin(p->lower[k], p->centre[k] - p->reach);
            double high = fmax(p->upper[k], p->centre[k] + p->reach);
            p->lower[k] = p->shape_lower[k] = p->part_lower[k] = low;
            p->upper[k] = p->shape_upper[k] = p->part_upper[k] = high;
        }
}

pl_status pl_collision_filter_make(const pl_body* body, const pl_proxies* proxies, double thickness,
                                   const uint8_t* changed, pl_collision_filter* filter)
{
    by_slot lists = {0};
    pl_broadphase broadphase = {0};
    pl_pair_list pairs = {0};
    pl_proxy_pose* poses = PL_NEW(pl_proxy_pose, proxies->count);
    pl_status status =
        poses ? PLIANT_OK : pl_fail_memory((size_t)proxies->count * sizeof(pl_proxy_pose));
    if (status == PLIANT_OK)
        status = list_by_slot(body->particles.slot_count, proxies, &lists);
    if (status == PLIANT_OK)
        status = list_shares(proxies, &lists, filter);
    if (status == PLIANT_OK)
        status = pl_poses_rest(body, proxies, thickness, poses);
    if (status == PLIANT_OK)
    {
        pl_collision_filter shares = {.share_begin = filter->share_begin,
                                      .share = filter->share,
                                      .near_begin = filter->share_begin,
                                      .near = filter->share};
        pl_pair_body all = {.count = proxies->count, .groups = 1, .self = true, .filter = &shares};
        widen(proxies->count, poses);
        status = pl_broadphase_find(&broadphase, proxies->count, poses, 0, 1, &all, NULL, &pairs);
    }
    if (status == PLIANT_OK)
        status = pl_poses_rest(body, proxies, thickness, poses);
    if (status == PLIANT_OK)
        status = hold(&pairs, poses, &body->cuts, changed, filter);
    if (status == PLIANT_OK)
        status = make_near(proxies->count, filter);
    pl_broadphase_free(&broadphase);
    pl_pair_list_free(&pairs);
    pl_free(poses);
    pl_free(lists.begin);
    pl_free(lists.cluster);
    pl_free(lists.seen);
    return status;
}
