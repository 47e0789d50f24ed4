// SPDX-License-Identifier: GPL-3.0-or-later
/* Welds: particles that are welded to a cluster of another body, or to a collider. */
#ifndef PL_COLLISION_CLUSTER_WELDS_H
#define PL_COLLISION_CLUSTER_WELDS_H

#include "collision/broadphase/pose.h"
#include "collision/cluster/cluster_contacts.h"
#include "collision/collider/colliders.h"

typedef struct pl_weld
{
    uint32_t body, particle; /* index in the scene, external id */
    uint32_t other;          /* body, or PL_NO_BODY: a collider */
    uint32_t target;         /* finest cluster of the other body, or collider */
    uint32_t broken;         /* in this substep */
    uint32_t triangle;       /* of a mesh collider, as its maker numbers them */
    double anchor[3]; /* rest space of the other body; the collider's own space; of a mesh: from the
                         point of the triangle, along its edge, across it, along its normal */
    double weights[2]; /* of that point: of the triangle's second and third corner */
    double most;       /* newtons that it bears; infinite: any */
} pl_weld;

#define PL_NO_BODY UINT32_MAX

typedef struct pl_welds
{
    pl_weld* items;
    size_t count, capacity;
} pl_welds;

/* Adds welds of the particles of body "a" that are at most "distance" from the surface of body "b"
 * as both are now; poses are b's. Strength in pascals, infinite: any. */
pl_status pl_welds_to_body(pl_welds* welds, uint32_t a, const pl_contact_body* body, uint32_t b,
                           const pl_contact_body* other, const pl_proxy_pose* poses,
                           double distance, double strength);
/* The same for a collider, as it is at the start of the frame; of a solid mesh, what is inside of
 * it too. */
pl_status pl_welds_to_collider(pl_welds* welds, uint32_t a, const pl_body* body, uint32_t index,
                               const pl_collider* collider, double distance, double strength);
/* After memberships of body "b" have changed: welds hold on to the clusters that are now where
 * their anchors are. */
void pl_welds_reattach(pl_welds* welds, uint32_t b, const pl_body* body, const pl_proxies* proxies);
/* After a body or a collider has been taken out: its welds go, and later indices move up. */
void pl_welds_drop_body(pl_welds* welds, uint32_t body);
void pl_welds_drop_collider(pl_welds* welds, uint32_t collider);
/* Takes out what broke; how many. */
size_t pl_welds_remove_broken(pl_welds* welds);

#endif
