// SPDX-License-Identifier: GPL-3.0-or-later
/* Query of one particle against one cluster: contact, position and rank. */
#ifndef PL_COLLISION_CLUSTER_SDF_QUERY_H
#define PL_COLLISION_CLUSTER_SDF_QUERY_H

#include "collision/cluster/cluster_contacts.h"

/* In spacings: a path longer than this counts as fast and is traced from its start. */
#define PL_SDF_FAST 0.25
/* For fast particles: rank bonus of a cluster that sees the particle enter. */
#define PL_SDF_ENTERS 2.0

/* A target cluster, prepared for many queries. */
typedef struct pl_sdf_target
{
    const pl_body* body;
    const pl_rest_sdf* shape;
    const pl_proxy_pose* pose;
    const pl_cluster_motion* motion;
    mat3 to_own; /* from the body's rest shape to the cluster's own, where its ball is round */
    vec3 centre; /* of the ball, in the body's rest shape */
    double radius;
    uint32_t cluster; /* in the list of all */
    uint32_t own;     /* index in the body */
    bool plain;       /* to_own is the identity */
} pl_sdf_target;

/* A particle and its path in the substep. */
typedef struct pl_query_particle
{
    const pl_body* body;
    uint32_t slot, home;
    vec3 start, end, v;
    double keep; /* distance kept from surfaces */
    double thickness;
    const float* crack;        /* the nearest crack of its own piece (pl_proxies), or NULL */
    const pl_proxy_pose* pose; /* of its home */
} pl_query_particle;

/* Result of a query. */
typedef struct pl_candidate
{
    double rank; /* the least rank wins */
    bool touches;
    bool parted; /* the two were one before a split */
    double gap;  /* world, at the start of the substep, along n; negative inside */
    vec3 n;
    uint32_t cluster;
} pl_candidate;

/* Key of a cluster's piece, ascending by body; an uncut body is one piece. */
uint64_t pl_piece_of(const pl_contacts* all, const pl_contact_body* bodies, uint32_t cluster);

pl_sdf_target pl_sdf_target_of(const pl_contacts* all, const pl_contact_body* bodies,
                               uint32_t cluster);
/* Own piece: the distance from its rest position, in the ball's rest space, at which a particle at
 * home in "home" must be seen to touch something other than the material around it. */
double pl_sdf_target_apart(const pl_contacts* all, const pl_contact_body* bodies, uint32_t cluster,
                           uint32_t home, double radius);

/* Queries the cluster; false if the particle is out of its reach. "apart": pl_sdf_target_apart for
 * particles of the same piece, otherwise negative. */
bool pl_sdf_query(const pl_sdf_target* target, const pl_query_particle* particle, double apart,
                  double dt, pl_candidate* out);

#endif
