// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which clusters of one body may not collide. Clusters that share a particle never do (Jones et al.
 * 2015, 3.4). Balls stick out of the body where it is thin or bent, so others may overlap at rest
 * too; were they to collide, the body would inflate. Published code lets it. Here they are held
 * back until they have been seen apart.
 */
#include "broadphase.h"
#include "pose.h"

#include <stdlib.h>
#include <string.h>

void pl_pair_rules_free(pl_pair_rules* rules)
{
    pl_free(rules->share_begin);
    pl_free(rules->share);
    pl_free(rules->held);
    memset(rules, 0, sizeof *rules);
}

static int ascending(const void* a, const void* b)
{
    uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return (x > y) - (x < y);
}

/* The clusters of each slot. */
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
    uint32_t* at = lists->begin + 1; /* one further, so that filling leaves the begins */
    for (uint32_t m = 0; m < members; ++m)
        ++at[proxies->member_slot[m] + 1];
    for (uint32_t s = 0; s < slots; ++s)
        at[s + 1] += at[s];
    for (uint32_t c = 0; c < proxies->count; ++c)
        for (uint32_t m = proxies->member_begin[c]; m < proxies->member_begin[c + 1]; ++m)
            lists->cluster[at[proxies->member_slot[m]]++] = c;
    return PLIANT_OK;
}

static pl_status list_shares(const pl_proxies* proxies, const by_slot* lists, pl_pair_rules* rules)
{
    size_t capacity = 0;
    pl_free(rules->share_begin);
    pl_free(rules->share);
    rules->share = NULL;
    rules->share_begin = PL_NEW(uint32_t, (size_t)proxies->count + 1);
    if (!rules->share_begin)
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
                if (!pl_grow((void**)&rules->share, &capacity, (size_t)count + 1,
                             sizeof *rules->share))
                    return pl_fail_memory(((size_t)count + 1) * 4);
                rules->share[count++] = other;
            }
        }
        rules->share_begin[c + 1] = count;
        if (count > rules->share_begin[c])
            qsort(rules->share + rules->share_begin[c], count - rules->share_begin[c],
                  sizeof *rules->share, ascending);
    }
    return PLIANT_OK;
}

static bool was_held(const uint64_t* held, size_t count, uint64_t key)
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

/* Of the pairs that overlap at rest: all that are new, and the old ones that were held. */
static pl_status hold(const pl_pair_list* pairs, const uint8_t* changed, pl_pair_rules* rules)
{
    uint64_t* held = PL_NEW(uint64_t, pairs->count);
    size_t count = 0;
    if (!held)
        return pl_fail_memory(pairs->count * 8);
    for (size_t i = 0; i < pairs->count; ++i)
    {
        pl_pair pair = pairs->pairs[i];
        uint64_t key = (uint64_t)pair.a << 32 | pair.b;
        if (!changed || changed[pair.a] || changed[pair.b] ||
            was_held(rules->held, rules->held_count, key))
            held[count++] = key;
    }
    pl_free(rules->held);
    rules->held = held;
    rules->held_count = count;
    return PLIANT_OK;
}

pl_status pl_pair_rules_make(const pl_body* body, const pl_proxies* proxies, double thickness,
                             const uint8_t* changed, pl_pair_rules* rules)
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
        status = list_shares(proxies, &lists, rules);
    if (status == PLIANT_OK)
        status = pl_poses_rest(body, proxies, thickness, poses);
    if (status == PLIANT_OK)
    {
        pl_pair_rules shares = {rules->share_begin, rules->share, NULL, 0};
        pl_pair_body all = {0, proxies->count, 1, true, &shares};
        status = pl_broadphase_find(&broadphase, proxies->count, poses, 1, &all, NULL, &pairs);
    }
    if (status == PLIANT_OK)
        status = hold(&pairs, changed, rules);
    pl_broadphase_free(&broadphase);
    pl_pair_list_free(&pairs);
    pl_free(poses);
    pl_free(lists.begin);
    pl_free(lists.cluster);
    pl_free(lists.seen);
    return status;
}
