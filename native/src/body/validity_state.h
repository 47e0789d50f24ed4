// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What of a body's derived data is current. Zero means that nothing is: a body just made or
 * restored needs no further word. Only body/validity.h writes these.
 *
 *   particles ──► moments (by chunk) ──► fits ──► rows        material coefficients ──► rows
 *   memberships ──► contact shapes, cuts ──► cracks           fields, pressure ──► forces
 */
#ifndef PL_BODY_VALIDITY_STATE_H
#define PL_BODY_VALIDITY_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Moments of a chunk (pl_chunk.sums). */
typedef enum pl_moments_state
{
    PL_MOMENTS_STALE,     /* particles have moved since */
    PL_MOMENTS_GATHERED,  /* as gathering gives them */
    PL_MOMENTS_CORRECTED, /* a contact corrected them: gathering would round otherwise, so they are
                             part of the state until the next substep gathers */
} pl_moments_state;

typedef struct pl_validity
{
    bool fits;          /* F and R of the clusters, and the finest rows, belong to the moments */
    bool rows;          /* and the rows have what coarser levels, damping and shards add */
    bool shapes;        /* proxies and collision filter belong to the memberships */
    bool cuts;          /* what follows from cuts and memberships */
    bool cracks;        /* and from that at the nodes of the rest shape */
    bool forces;        /* body->force has this substep's fields and pressure */
    double material_dt; /* length of the substep that alpha and kappa are made for; 0: none */
    /* Changes of memberships, and of room for them; of their weights alone. Not saved. */
    uint64_t memberships, weights;
} pl_validity;

#endif
