// SPDX-License-Identifier: GPL-3.0-or-later
/* A body's state for contacts between clusters: proxies and their poses, the signed distance field
 * of its rest surface, and the filter of its clusters that may not collide. */
#ifndef PL_BODY_COLLISION_STATE_H
#define PL_BODY_COLLISION_STATE_H

#include "base/core.h"
#include "base/math3.h"

/* The contact shapes of a body's finest clusters (collision/broadphase/proxy.c), at rest: a ball
 * about the query centre with the query radius, cut by half-spaces that bound the members. The
 * half-spaces are state, since LAPACK finds them; the list of members follows from the memberships.
 */
/* A particle at the surface of its home cluster. */
typedef struct pl_surface_slot
{
    uint32_t slot;
    uint32_t place; /* 8 times which of the body's eights it is in, and its lane there */
} pl_surface_slot;

typedef struct pl_proxies
{
    uint32_t count;        /* clusters of the finest level */
    uint32_t* plane_begin; /* count + 1: half-spaces of each cluster */
    float (*plane)[4]; /* n, a: inside is n . r + a <= 0, r relative to the body's rest origin */
    size_t plane_capacity;
    uint8_t* solid; /* by cluster: its centre of mass is well inside of the body */
    double most_inset;
    uint32_t most_surface;  /* the most particles at home and at the surface of a cluster */
    uint32_t* member_begin; /* count + 1 */
    uint32_t*
        surface_end;    /* by cluster: members before this are at home in it and at the surface */
    uint32_t* home_end; /* by cluster: members before this are at home in it, which each particle
                           is in the one cluster that it weighs most in */
    uint32_t* member_slot;    /* by chunk and block within each of the three parts of a cluster */
    pl_surface_slot* surface; /* those at the surface, by slot: contacts look at eights of them, and
                                 where a cluster's last eight is not full the last one stands in */
    uint32_t* eight_begin;    /* count + 1: each cluster's eights */
    float* member_weight;     /* w_ic, normalised over the clusters of a particle */
    float* inset;      /* by member: how much deeper than half a spacing it is, if it is at the
                          surface and at home: what it keeps of others, so that surfaces meet
                          and not their roughest particles */
    float (*crack)[4]; /* by member, of those at the surface: the way out of its piece at the
                          crack that is nearest, and how far that is; NULL without cuts */
    float (*ball)[4];  /* by cluster: where it has a say, and how far: the middle is relative to
                          clusters.rest, in its own rest space. The query ball, or where splits
                          have left only a part of that one around the members' centre of mass */
    float (*box)[6];   /* by cluster: middle and half size of its members' box at rest, widened
                          by half a spacing; the middle is relative to clusters.in_body */
} pl_proxies;

/* Signed distances from the body's surface at rest, on a grid (body/rest_sdf.c). Derived from rest
 * positions. */
typedef struct pl_rest_sdf
{
    uint32_t size[3];
    double lower[3]; /* the first node, relative to the body's rest origin */
    double per_cell; /* 1 / distance of nodes */
    double spacing;  /* of particles */
    float* distance; /* x fastest; negative inside */
} pl_rest_sdf;

/* Which clusters of one body may not collide with each other. */
typedef struct pl_collision_filter
{
    /* Clusters that share a particle: ascending, for each cluster. */
    uint32_t* share_begin;
    uint32_t* share;
    /* Pairs that overlapped at rest and were never separated since: a << 32 | b, ascending. State,
     * since removals cannot be derived from the rest shape. */
    uint64_t* held;
    size_t held_count;
    /* Union of both, for each cluster: the clusters with which it does not collide. */
    uint32_t* near_begin;
    uint32_t* near;
    /* Derived: pairs that separated since the lists were made, in order of time; and a unique
     * number of these lists. */
    uint64_t* released;
    size_t released_count;
    uint64_t serial;
} pl_collision_filter;

/* The pose of a proxy: rest -> world is x + F (r - rest), relative to the world's origin. Rest is
 * that of the body, and F the total deformation, repaired if it is singular or inverted. */
typedef struct pl_proxy_pose
{
    double x[3], rest[3];
    mat3 f, inverse;
    double shape_lower[3], shape_upper[3]; /* around what others may touch, on its way */
    double part_lower[3], part_upper[3];   /* around the particles at home and at the surface, on
                                              their way; upper below lower if there are none */
    double lower[3], upper[3];             /* around both */
    double centre[3], reach;               /* a ball around the proxy's own, deformed as it is */
} pl_proxy_pose;

#endif
