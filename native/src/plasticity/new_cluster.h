// SPDX-License-Identifier: GPL-3.0-or-later
/* A cluster that is to be made: who is in it, and what it takes over from the clusters around. */
#ifndef PL_PLASTICITY_NEW_CLUSTER_H
#define PL_PLASTICITY_NEW_CLUSTER_H

#include "body/edit/edit.h"
#include "plasticity/embed_region.h"

typedef struct pl_fresh_member
{
    uint32_t index; /* in the patch: eight times the block, and the lane */
    uint32_t slot;
    float kernel;
    double weight; /* m w of the new cluster when all fades are over */
    vec3 place;    /* embedded; relative to the new centre of mass in the end */
    vec3 rest;     /* r_ic, relative to the body's rest origin */
} pl_fresh_member;

/* What a new cluster has of those around it, averaged over its members: density, painted factors,
 * plastic strain. */
enum
{
    PL_FRESH_VALUES = 9
};

typedef struct pl_fresh
{
    uint32_t seed; /* slot */
    uint32_t count;
    uint32_t candidates;      /* who is listed while it is looked for members */
    pl_fresh_member* members; /* by slot */
    size_t capacity;
    uint32_t like; /* the cluster that has most of its members' mass */
    double radius; /* of the query, in embedded space */
    mat3 squash;   /* makes a ball of what it takes */
    bool drawn;    /* out: particles may be farther from each other in one direction */
    vec3 centre;   /* centre of mass in the body's rest shape, and of the rest positions */
    double reach;  /* from there to the farthest member in the body's rest shape */
    double shape_width;
    double value[PL_FRESH_VALUES];
    pl_edit_link* links; /* nested levels */
    uint32_t link_count;
    size_t link_capacity;
    uint32_t rounds; /* of the embedding */
} pl_fresh;

/* Makes a cluster around the patch's seed from the places of its particles. With "settle" c-means
 * moves its centre to where particles have least of other clusters, but never so far that the seed
 * is left out; otherwise it stays at the seed. A "wide" patch has particles for one that
 * is to be longer in one direction. No members: there was nothing to make it of. */
pl_status pl_fresh_make(const pl_body* body, const pl_patch* patch, bool settle, bool wide,
                        pl_fresh* fresh);
/* new_cluster_links.c: how it lies in the coarse clusters, from how its members lie in them. */
pl_status pl_fresh_link(const pl_body* body, const pl_patch* patch, pl_fresh* fresh);
/* The arrays that value stands for. */
void pl_fresh_values(const pl_clusters* clusters, float* arrays[PL_FRESH_VALUES]);
void pl_fresh_free(pl_fresh* fresh);

#endif
