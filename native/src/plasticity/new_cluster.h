// SPDX-License-Identifier: GPL-3.0-or-later
/* A cluster to be made: its members, and the values it inherits from the clusters around it. */
#ifndef PL_PLASTICITY_NEW_CLUSTER_H
#define PL_PLASTICITY_NEW_CLUSTER_H

#include "body/edit/edit.h"
#include "plasticity/embed_region.h"

typedef struct pl_new_cluster_member
{
    uint32_t index; /* in the region: eight times the block, and the lane */
    uint32_t slot;
    float kernel;
    double weight; /* m w in the new cluster after all fades */
    vec3 place;    /* embedded; finally relative to the new centre of mass */
    vec3 rest;     /* r_ic, relative to the body's rest origin */
} pl_new_cluster_member;

/* Number of inherited values, averaged over the members: density, painted factors, plastic strain.
 */
enum
{
    PL_NEW_CLUSTER_VALUES = 9
};

typedef struct pl_new_cluster
{
    uint32_t seed; /* slot */
    uint32_t count;
    uint32_t candidates;            /* listed in "members" during the search */
    pl_new_cluster_member* members; /* by slot */
    size_t capacity;
    uint32_t like; /* the cluster with the largest share of its members' mass */
    double radius; /* of the query, in embedded space */
    mat3 squash;   /* maps its ellipsoid to a ball */
    bool drawn;    /* out: the particle spacing may be larger in one direction */
    vec3 centre;   /* centre of mass in the body's rest shape, and of the rest positions */
    double reach;  /* from there to the farthest member in the body's rest shape */
    double shape_width;
    double value[PL_NEW_CLUSTER_VALUES];
    pl_edit_link* links; /* nested levels */
    uint32_t link_count;
    size_t link_capacity;
    uint32_t rounds; /* of the embedding */
} pl_new_cluster;

/* Makes a cluster around the region's seed from the embedded places. With "settle" c-means moves
 * its centre to particles with little weight in other clusters, but keeps the seed inside;
 * otherwise it stays at the seed. A "wide" region is large enough for an ellipsoid. No members: the
 * region is empty. */
pl_status pl_new_cluster_make(const pl_body* body, const pl_embed_region* region, bool settle,
                              bool wide, pl_new_cluster* new_cluster);
/* new_cluster_links.c: its links to coarse clusters, from those of its members' clusters. */
pl_status pl_new_cluster_link(const pl_body* body, const pl_embed_region* region,
                              pl_new_cluster* new_cluster);
/* The arrays of "value". */
void pl_new_cluster_values(const pl_clusters* clusters, float* arrays[PL_NEW_CLUSTER_VALUES]);
void pl_new_cluster_free(pl_new_cluster* new_cluster);

#endif
