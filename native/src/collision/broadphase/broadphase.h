// SPDX-License-Identifier: GPL-3.0-or-later
/* Which clusters may touch: particles of one and the shape of another whose bounds overlap, over
 * all bodies, less those that may not collide. */
#ifndef PL_COLLISION_BROADPHASE_BROADPHASE_H
#define PL_COLLISION_BROADPHASE_BROADPHASE_H

#include "base/parallel.h"
#include "body/body.h"

typedef struct pl_pair
{
    uint32_t a, b; /* particles of a, the shape of b */
} pl_pair;

typedef struct pl_pair_list
{
    pl_pair* pairs;
    size_t count, capacity;
    uint64_t visited; /* nodes of the tree, to find them */
} pl_pair_list;

/* What the broadphase knows of a body. */
typedef struct pl_pair_body
{
    uint32_t first, count;       /* its clusters in the list of all */
    uint32_t groups;             /* bodies collide if they have a bit in common */
    bool self;                   /* its clusters collide with each other */
    pl_collision_filter* filter; /* may be NULL where self is false */
    bool asleep;                 /* does not move: those that sleep do not touch each other */
    bool hit;                    /* was asleep and is hit: set by cluster_contacts.c */
} pl_pair_body;

/* Scratch that is kept from call to call. */
typedef struct pl_broadphase
{
    size_t capacity;
    uint32_t *key, *order, *other_key, *other_order;
    float (
        *box)[6][4]; /* nodes of the tree, from the leaves up: lower and upper of four children */
    uint32_t* only;  /* by node: 1 + the body that all of it is of, or 0 */
    uint32_t* marks; /* by worker: what it needs to ask, beginning with marks of clusters */
    size_t mark_capacity;
    uint64_t visited; /* nodes of the tree, by the last call's queries */
    uint32_t* body_of;
    pl_pair_list* found; /* by batch of queries */
    size_t batch_count;
} pl_broadphase;

/* Whether the bounds of a's particles and of b's shape overlap; touching counts. */
bool pl_pair_may_touch(const pl_proxy_pose* a, const pl_proxy_pose* b);

/* Finds the pairs, ascending by a, then b, whatever the number of threads: those of "poses" that
 * may touch, without those that share a particle, that are held back, of bodies without a common
 * group, or of a body without self-collision. Bounds that are not numbers overlap nothing; all are
 * taken for wider than they are by "margin". */
pl_status pl_broadphase_find(pl_broadphase* b, uint32_t count, const pl_proxy_pose* poses,
                             double margin, uint32_t body_count, const pl_pair_body* bodies,
                             pl_pool* pool, pl_pair_list* pairs);
/* Only says which cluster is whose: a part of the above. */
pl_status pl_broadphase_list(pl_broadphase* b, uint32_t count, uint32_t body_count,
                             const pl_pair_body* bodies);
void pl_broadphase_free(pl_broadphase* b);

/* pair_cache_between.c: pairs of different bodies alone, found among the clusters that are where
 * another body is. Zeroed before the first call. */
typedef struct pl_pair_cache_between
{
    pl_broadphase tree, bodies_tree;
    pl_proxy_pose *boxes, *near; /* around each body; the clusters near others, */
    uint32_t* cluster;           /* and which these are */
    pl_pair_body *box_bodies, *near_bodies;
    pl_pair_list met;
    size_t box_capacity, near_capacity, cluster_capacity, box_body_capacity, near_body_capacity;
} pl_pair_cache_between;

pl_status pl_pair_cache_between_update(pl_pair_cache_between* b, uint32_t count,
                                       const pl_proxy_pose* poses, uint32_t body_count,
                                       const pl_pair_body* bodies, pl_pool* pool,
                                       pl_pair_list* pairs);
void pl_pair_cache_between_free(pl_pair_cache_between* b);

/* pair_cache_within.c: the same pairs, from those that were found for wider bounds some substeps
 * ago. */
typedef struct pl_pair_cache_within
{
    uint32_t cluster_count, body_count; /* 0: nothing is remembered */
    uint32_t age;                       /* substeps since */
    uint32_t pause;                     /* substeps in which nothing is to be remembered */
    double margin;                      /* 0: the pairs are of no further use, the bounds are */
    double (*bounds)[12];               /* by cluster: part lower, upper, shape lower, upper,
                                           relative to what each of them is seen from */
    pl_pair_body* bodies;
    struct pl_filter_seen
    {
        uint64_t serial;
        size_t released;
    } * filter; /* by body */
    pl_pair_list likely;
    size_t bounds_capacity, body_capacity, rules_capacity, centre_capacity;
    double (*centre)[3]; /* by body: what it is seen from now */
    float (*box)[12];    /* by cluster: bounds as they are now, rounded outward, relative to that */
    size_t box_capacity;
    /* Where bodies go too fast to remember whom they meet: pairs within each of them. */
    struct pl_pair_cache_within* own;
    pl_pair_body* alone; /* the bodies without the others */
    size_t alone_capacity;
    pl_pair_cache_between between;
    pl_pair_list met; /* pairs of different bodies */
} pl_pair_cache_within;

pl_status pl_pair_cache_within_update(pl_pair_cache_within* memory, pl_broadphase* b,
                                      uint32_t count, const pl_proxy_pose* poses,
                                      uint32_t body_count, const pl_pair_body* bodies,
                                      pl_pool* pool, pl_pair_list* pairs);
void pl_pair_cache_within_free(pl_pair_cache_within* memory);
void pl_pair_list_free(pl_pair_list* pairs);

/* Lists the clusters that share a particle and the pairs that overlap at rest without sharing one.
 * When memberships change, "changed" says so of each cluster (NULL: all): pairs of clusters that
 * did not change stay as they are, held or free. The rules are zeroed before the first call. */
pl_status pl_collision_filter_make(const pl_body* body, const pl_proxies* proxies, double thickness,
                                   const uint8_t* changed, pl_collision_filter* filter);
/* Sets pairs free that were held back and are apart now. A few are looked at in each turn; poses
 * are those of the body's clusters. */
#define PL_RELEASE_TURNS 8
void pl_collision_filter_release(pl_collision_filter* filter, uint32_t count,
                                 const pl_proxy_pose* poses, uint64_t turn);
/* Whether neither the bounds nor the balls overlap. */
bool pl_pair_apart(const pl_proxy_pose* a, const pl_proxy_pose* b);
bool pl_collision_filter_shares(const pl_collision_filter* filter, uint32_t a, uint32_t b);
void pl_collision_filter_free(pl_collision_filter* filter);

#endif
