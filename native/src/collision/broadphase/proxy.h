// SPDX-License-Identifier: GPL-3.0-or-later
/* Contact shapes of the finest clusters: balls cut by half-spaces (Jones et al. 2015, 3.4). */
#ifndef PL_COLLISION_BROADPHASE_PROXY_H
#define PL_COLLISION_BROADPHASE_PROXY_H

#include "body/body.h"

typedef struct pl_proxy_desc
{
    /* A bounding plane is kept if its distance from the centre is at most this many radii: only
     * then does it cut off a good part of the ball. 0: keep none. */
    double plane_distance;
    /* Distance of the planes outside the members: without it the proxy of a sheet one particle
     * thick would be empty. */
    double margin;
} pl_proxy_desc;

/* One radius, which keeps every plane that cuts the ball; margin: half the particle spacing. */
pl_proxy_desc pl_proxy_defaults(const pl_body* body);

/* Builds the proxies of a body that has a layout and a rest_sdf. Release with pl_proxies_free, on
 * failure too. */
pl_status pl_proxies_build(const pl_body* body, const pl_proxy_desc* desc, pl_proxies* proxies);
/* Lists the members again after memberships or cuts (cuts.h, refreshed) have changed; half-spaces
 * stay. */
pl_status pl_proxies_list_members(const pl_body* body, pl_proxies* proxies);
/* Removes a cluster's half-spaces: its ball and the box of its members remain. */
void pl_proxies_drop_planes(pl_proxies* proxies, uint32_t cluster);
void pl_proxies_free(pl_proxies* proxies);

#endif
