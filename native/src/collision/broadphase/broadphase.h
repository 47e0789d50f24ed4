// SPDX-License-Identifier: GPL-3.0-or-later
/* Broad phase: pairs of clusters, over all bodies, where the AABB of one's particles overlaps the
 * AABB of the other's shape, minus those that the collision filter excludes. */
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
    uint64_t visited; /* tree nodes visited by these queries */
} pl_pair_list;

/* One body in the broad phase. */
typedef struct pl_pair_body
{
    uint32_t first, count;       /* its range in the list of all clusters */
    uint32_t groups;             /* bodies collide if they have a bit in common */
    bool self;                   /* its clusters collide with each other */
    pl_collision_filter* filter; /* may be NULL where self is false */
    bool asleep;                 /* two sleeping bodies never make a pair */
    bool hit;                    /* out: it slept and was hit (set by cluster_contacts.c) */
} pl_pair_body;

/* Scratch, reused from call to call. */
typedef struct pl_broadphase
{
    size_t capacity;
    uint32_t *key, *order, *other_key, *other_order;
    float (*box)[6][4]; /* BVH nodes, leaves first: lower and upper of four children */
    uint32_t* only;     /* by node: 1 + the body that owns all of it, or 0 */
    uint32_t* marks;    /* by worker: query scratch, beginning with a mark per cluster */
    size_t mark_capacity;
    uint64_t visited; /* nodes visited by the last call */
    uint32_t* body_of;
    pl_pair_list* found; /* by batch of queries */
    size_t batch_count;
} pl_broadphase;

/* Whether the bounds of a's particles and of b's shape overlap; touching counts. */
bool pl_pair_may_touch(const pl_proxy_pose* a, const pl_proxy_pose* b);

/* Finds the pairs in ascending order of a, then b, at any number of threads. Leaves out pairs that
 * share a particle, that the filter holds back, of bodies without a common group, and of one body
 * without self-collision. NaN bounds overlap nothing. All bounds are widened by "margin". */
pl_status pl_broadphase_find(pl_broadphase* b, uint32_t count, const pl_proxy_pose* poses,
                             double margin, uint32_t body_count, const pl_pair_body* bodies,
                             pl_pool* pool, pl_pair_list* pairs);
/* Only fills body_of: the first part of pl_broadphase_find. */
pl_status pl_broadphase_list(pl_broadphase* b, uint32_t count, uint32_t body_count,
                             const pl_pair_body* bodies);
void pl_broadphase_free(pl_broadphase* b);

/* pair_cache_between.c: only pairs of different bodies, among the clusters that overlap another
 * body's AABB. Zeroed before the first call. */
typedef struct pl_pair_cache_between
{
    pl_broadphase tree, bodies_tree;
    pl_proxy_pose *boxes, *near; /* AABB of each body; the clusters near other bodies, */
    uint32_t* cluster;           /* and their indices */
    pl_pair_body *box_bodies, *near_bodies;
    pl_pair_list met;
    size_t box_capacity, near_capacity, cluster_capacity, box_body_capacity, near_body_capacity;
} pl_pair_cache_between;

pl_status pl_pair_cache_between_update(pl_pair_cache_between* b, uint32_t count,
                                       const pl_proxy_pose* poses, uint32_t body_count,
                                       const pl_pair_body* bodies, pl_pool* pool,
                                       pl_pair_list* pairs);
void pl_pair_cache_between_free(pl_pair_cache_between* b);

/* pair_cache_within.c: the same pairs, from a list made with fattened bounds some substeps ago. */
typedef struct pl_pair_cache_within
{
    uint32_t cluster_count, body_count; /* 0: the cache is empty */
    uint32_t age;                       /* substeps since it was filled */
    uint32_t pause;                     /* substeps for which the cache stays off */
    double margin;                      /* 0: the pairs are invalid, the bounds are not */
    double (*bounds)[12];               /* by cluster: part lower, upper, shape lower, upper,
                                           relative to the body's reference point */
    pl_pair_body* bodies;
    struct pl_filter_seen
    {
        uint64_t serial;
        size_t released;
    } * filter; /* by body */
    pl_pair_list likely;
    size_t bounds_capacity, body_capacity, rules_capacity, centre_capacity;
    double (*centre)[3]; /* by body: reference point of the current substep */
    float (*box)[12];    /* by cluster: current bounds relative to it, rounded outward */
    size_t box_capacity;
    /* Fallback where bodies move too fast for one cache: a cache of the pairs within each body. */
    struct pl_pair_cache_within* own;
    pl_pair_body* alone; /* the bodies, without pairs between them */
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

/* Lists the clusters that share a particle, and the pairs that overlap at rest without sharing one.
 * After a change of memberships "changed" flags the clusters concerned (NULL: all): pairs of
 * unchanged clusters stay held or released. The filter is zeroed before the first call. */
pl_status pl_collision_filter_make(const pl_body* body, const pl_proxies* proxies, double thickness,
                                   const uint8_t* changed, pl_collision_filter* filter);
/* Releases held pairs that are apart now. Each turn tests one of PL_RELEASE_TURNS shares of them.
 * "poses" are those of the body's clusters. */
#define PL_RELEASE_TURNS 8
void pl_collision_filter_release(pl_collision_filter* filter, uint32_t count,
                                 const pl_proxy_pose* poses, uint64_t turn);
/* Whether neither the AABBs nor the balls overlap. */
bool pl_pair_apart(const pl_proxy_pose* a, const pl_proxy_pose* b);
bool pl_collision_filter_shares(const pl_collision_filter* filter, uint32_t a, uint32_t b);
void pl_collision_filter_free(pl_collision_filter* filter);

#endif
