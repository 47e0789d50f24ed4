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
    uint32_t triangle;       /* of a mesh collider, in the caller's order */
    double anchor[3];  /* in the other body's rest space, or the collider's own; on a mesh: relative
                         to the triangle's point, along its edge, across it, along its normal */
    double weights[2]; /* of that point: of the triangle's second and third corner */
    double most;       /* strength in newtons; infinite: unbreakable */
} pl_weld;

#define PL_NO_BODY UINT32_MAX

typedef struct pl_welds
{
    pl_weld* items;
    size_t count, capacity;
} pl_welds;

/* Adds welds of the particles of body "a" within "distance" of the surface of body "b", both as
 * they are now; poses are b's. Strength in pascals, infinite: unbreakable. */
pl_status pl_welds_to_body(pl_welds* welds, uint32_t a, const pl_contact_body* body, uint32_t b,
                           const pl_contact_body* other, const pl_proxy_pose* poses,
                           double distance, double strength);
/* The same for a collider at the start of the frame. A solid mesh also welds particles inside it.
 */
pl_status pl_welds_to_collider(pl_welds* welds, uint32_t a, const pl_body* body, uint32_t index,
                               const pl_collider* collider, double distance, double strength);
/* After memberships of body "b" have changed: moves welds to the clusters that now contain their
 * anchors. */
void pl_welds_reattach(pl_welds* welds, uint32_t b, const pl_body* body, const pl_proxies* proxies);
/* After a body or a collider was removed: drops its welds and renumbers the rest. */
void pl_welds_drop_body(pl_welds* welds, uint32_t body);
void pl_welds_drop_collider(pl_welds* welds, uint32_t collider);
/* Removes broken welds; returns how many. */
size_t pl_welds_remove_broken(pl_welds* welds);

#endif
