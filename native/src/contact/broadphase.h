// SPDX-License-Identifier: GPL-3.0-or-later
/* Which clusters may touch: pairs whose bounds overlap, over all bodies, less those that may not
 * collide. */
#ifndef PL_CONTACT_BROADPHASE_H
#define PL_CONTACT_BROADPHASE_H

#include "../base/parallel.h"
#include "../state.h"

typedef struct pl_pair
{
    uint32_t a, b; /* a < b */
} pl_pair;

typedef struct pl_pair_list
{
    pl_pair* pairs;
    size_t count, capacity;
} pl_pair_list;

/* What the broadphase knows of a body. */
typedef struct pl_pair_body
{
    uint32_t first, count; /* its clusters in the list of all */
    uint32_t groups;       /* bodies collide if they have a bit in common */
    bool self;             /* its clusters collide with each other */
    pl_pair_rules* rules;  /* may be NULL where self is false */
} pl_pair_body;

/* Scratch that is kept from call to call. */
typedef struct pl_broadphase
{
    size_t capacity;
    uint32_t *key, *order, *other_key, *other_order;
    double (*box)[6]; /* nodes of the tree, from the leaves up: lower, upper */
    uint32_t* body_of;
    pl_pair_list* found; /* by batch of queries */
    size_t batch_count;
    pl_pair_list sorted; /* by the second cluster */
    size_t* begin;
} pl_broadphase;

/* Finds the pairs, ascending by a, then b, whatever the number of threads: those of "poses" whose
 * bounds overlap (touching counts), without those that share a particle, that are held back, of
 * bodies without a common group, or of a body without self-collision. Pairs that were held back and
 * are apart now are set free. Bounds that are not numbers overlap nothing. */
pl_status pl_broadphase_find(pl_broadphase* b, uint32_t count, const pl_proxy_pose* poses,
                             uint32_t body_count, const pl_pair_body* bodies, pl_pool* pool,
                             pl_pair_list* pairs);
void pl_broadphase_free(pl_broadphase* b);
void pl_pair_list_free(pl_pair_list* pairs);

/* Lists the clusters that share a particle and the pairs that overlap at rest without sharing one.
 * When memberships change, "changed" says so of each cluster (NULL: all): pairs of clusters that
 * did not change stay as they are, held or free. The rules are zeroed before the first call. */
pl_status pl_pair_rules_make(const pl_body* body, const pl_proxies* proxies, double thickness,
                             const uint8_t* changed, pl_pair_rules* rules);
bool pl_pair_shares(const pl_pair_rules* rules, uint32_t a, uint32_t b);
void pl_pair_rules_free(pl_pair_rules* rules);

#endif
