// SPDX-License-Identifier: GPL-3.0-or-later
/* Contact shapes of the finest clusters: balls cut by half-spaces (Jones et al. 2015, 3.4). */
#ifndef PL_COLLISION_BROADPHASE_PROXY_H
#define PL_COLLISION_BROADPHASE_PROXY_H

#include "body/body.h"

typedef struct pl_proxy_desc
{
    /* A bounding plane is kept if it is at most this many radii from the centre: it cuts off a
     * good part of the ball then. 0: none is kept. */
    double plane_distance;
    /* How far outside of the members the planes lie: without it the proxy of a sheet that is one
     * particle thick would be empty. */
    double margin;
} pl_proxy_desc;

/* One radius, which keeps every plane that cuts the ball, and half the particles' spacing. */
pl_proxy_desc pl_proxy_defaults(const pl_body* body);

/* Makes the proxies of a body that has been laid out and whose rest_shape has been built. Freed by
 * pl_proxies_free in every case. */
pl_status pl_proxies_build(const pl_body* body, const pl_proxy_desc* desc, pl_proxies* proxies);
/* Lists the members again, after memberships or cuts (cuts.h, refreshed) have changed; the
 * half-spaces stay. */
pl_status pl_proxies_list_members(const pl_body* body, pl_proxies* proxies);
/* Takes away the half-spaces of a cluster: its ball and the box of its members remain. */
void pl_proxies_drop_planes(pl_proxies* proxies, uint32_t cluster);
void pl_proxies_free(pl_proxies* proxies);

#endif
