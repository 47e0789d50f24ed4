// SPDX-License-Identifier: GPL-3.0-or-later
/* A cluster that is to be made: who is in it, and what it takes over from the clusters around. */
#ifndef PL_PLASTICITY_NEW_CLUSTER_H
#define PL_PLASTICITY_NEW_CLUSTER_H

#include "body/edit/edit.h"
#include "plasticity/embed_region.h"

typedef struct pl_new_cluster_member
{
    uint32_t index; /* in the region: eight times the block, and the lane */
    uint32_t slot;
    float kernel;
    double weight; /* m w of the new cluster when all fades are over */
    vec3 place;    /* embedded; relative to the new centre of mass in the end */
    vec3 rest;     /* r_ic, relative to the body's rest origin */
} pl_new_cluster_member;

/* What a new cluster has of those around it, averaged over its members: density, painted factors,
 * plastic strain. */
enum
{
    PL_NEW_CLUSTER_VALUES = 9
};

typedef struct pl_new_cluster
{
    uint32_t seed; /* slot */
    uint32_t count;
    uint32_t candidates;            /* who is listed while it is looked for members */
    pl_new_cluster_member* members; /* by slot */
    size_t capacity;
    uint32_t like; /* the cluster that has most of its members' mass */
    double radius; /* of the query, in embedded space */
    mat3 squash;   /* makes a ball of what it takes */
    bool drawn;    /* out: particles may be farther from each other in one direction */
    vec3 centre;   /* centre of mass in the body's rest shape, and of the rest positions */
    double reach;  /* from there to the farthest member in the body's rest shape */
    double shape_width;
    double value[PL_NEW_CLUSTER_VALUES];
    pl_edit_link* links; /* nested levels */
    uint32_t link_count;
    size_t link_capacity;
    uint32_t rounds; /* of the embedding */
} pl_new_cluster;

/* Makes a cluster around the region's seed from the places of its particles. With "settle" c-means
 * moves its centre to where particles have least of other clusters, but never so far that the seed
 * is left out; otherwise it stays at the seed. A "wide" region has particles for one that
 * is to be longer in one direction. No members: there was nothing to make it of. */
pl_status pl_new_cluster_make(const pl_body* body, const pl_embed_region* region, bool settle,
                              bool wide, pl_new_cluster* new_cluster);
/* new_cluster_links.c: how it lies in the coarse clusters, from how its members lie in them. */
pl_status pl_new_cluster_link(const pl_body* body, const pl_embed_region* region,
                              pl_new_cluster* new_cluster);
/* The arrays that value stands for. */
void pl_new_cluster_values(const pl_clusters* clusters, float* arrays[PL_NEW_CLUSTER_VALUES]);
void pl_new_cluster_free(pl_new_cluster* new_cluster);

#endif
