// SPDX-License-Identifier: GPL-3.0-or-later
/* What one cluster says of one particle: whether it touches, where, and how much that counts. */
#ifndef PL_COLLISION_CLUSTER_SDF_QUERY_H
#define PL_COLLISION_CLUSTER_SDF_QUERY_H

#include "collision/cluster/cluster_contacts.h"

/* In spacings: what goes farther within a substep is followed from where it began. */
#define PL_SDF_FAST 0.25
/* Of such particles: by how much a cluster that sees one enter knows better than those that find it
 * where it went. */
#define PL_SDF_ENTERS 2.0

/* A cluster that is touched, as one reads it again and again. */
typedef struct pl_sdf_target
{
    const pl_body* body;
    const pl_rest_sdf* shape;
    const pl_proxy_pose* pose;
    const pl_cluster_motion* motion;
    mat3 to_own; /* from the body's rest shape to where the cluster's ball is round */
    vec3 centre; /* of the ball, in the body's rest shape */
    double radius;
    uint32_t cluster; /* in the list of all */
    uint32_t own;     /* of the body's */
    bool plain;       /* the two are the same */
} pl_sdf_target;

/* A particle of the substep, as every cluster near it sees it. */
typedef struct pl_query_particle
{
    const pl_body* body;
    uint32_t slot, home;
    vec3 start, end, v;
    double keep; /* the distance that it keeps from surfaces */
    double thickness;
    const float* crack;        /* the nearest crack of its own piece (pl_proxies), or NULL */
    const pl_proxy_pose* pose; /* of its home */
} pl_query_particle;

/* What a cluster says of a particle. */
typedef struct pl_candidate
{
    double rank; /* the least of all decides */
    bool touches;
    bool parted; /* the two were one before they were split */
    double gap;  /* world, at the start of the substep, along n; negative inside */
    vec3 n;
    uint32_t cluster;
} pl_candidate;

/* Pieces of bodies, in the order of bodies; bodies that were never cut count as one. */
uint64_t pl_piece_of(const pl_contacts* all, const pl_contact_body* bodies, uint32_t cluster);

pl_sdf_target pl_sdf_target_of(const pl_contacts* all, const pl_contact_body* bodies,
                               uint32_t cluster);
/* How far from its own place a particle that is at home in another cluster of its piece must be
 * seen, as the ball measures it, for what it meets to be something else than the material around
 * it. */
double pl_sdf_target_apart(const pl_contacts* all, const pl_contact_body* bodies, uint32_t cluster,
                           uint32_t home, double radius);

/* What the cluster says of the particle; false if that is nothing. For those of its own piece
 * "apart" is the above, for others less than 0. */
bool pl_sdf_query(const pl_sdf_target* target, const pl_query_particle* particle, double apart,
                  double dt, pl_candidate* out);

#endif
