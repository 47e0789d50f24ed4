// SPDX-License-Identifier: GPL-3.0-or-later
/* Restitution between bodies: what two of them have given each other since they met. */
#ifndef PL_CONTACT_REBOUND_H
#define PL_CONTACT_REBOUND_H

#include "clusters.h"

/* Two bodies that met and touch. */
typedef struct pl_rebound
{
    uint32_t a, b;      /* indices in the scene, a < b */
    double pressed[3];  /* the impulse on a while they came nearer to each other */
    double at[3];       /* where, seen from the centre of the two, weighted by ... */
    double weight;      /* ... the impulses */
    double way[3];      /* velocity of a relative to b there when they came nearest the fastest */
    double approach;    /* how fast that was */
    double restitution; /* of this pair */
    double age;         /* seconds */
} pl_rebound;

typedef struct pl_rebounds
{
    pl_rebound* items;
    size_t count, capacity;
} pl_rebounds;

/* After the contacts of a substep were solved: begins, follows and ends encounters. Bodies that
 * part get what their softness has kept of the bounce. Chunks of these are marked as moved. */
pl_status pl_rebounds_follow(pl_rebounds* rebounds, const pl_contacts* contacts,
                             const pl_contact_body* bodies, const pl_contact_settings* settings,
                             double dt);
/* After a body has been taken out. */
void pl_rebounds_drop_body(pl_rebounds* rebounds, uint32_t body);

#endif
