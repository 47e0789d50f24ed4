// SPDX-License-Identifier: GPL-3.0-or-later
/* Restitution between bodies or pieces: state of each encounter since it began. */
#ifndef PL_COLLISION_CLUSTER_RESTITUTION_H
#define PL_COLLISION_CLUSTER_RESTITUTION_H

#include "collision/cluster/cluster_contacts.h"

/* A body that bounces, or a piece of one that broke. */
typedef struct pl_restitution_side
{
    uint32_t body;  /* index in the scene */
    uint32_t piece; /* of its fracture; 0 without */
} pl_restitution_side;

/* Two sides in contact. */
typedef struct pl_encounter
{
    pl_restitution_side a, b; /* a before b */
    double pressed[3];        /* impulse on a during approach */
    double at[3];             /* contact point relative to their common centre, weighted by ... */
    double weight;            /* ... the impulses */
    double way[3];            /* velocity of a relative to b there at the fastest approach */
    double approach;          /* that speed */
    double restitution;       /* of this pair */
    double age;               /* seconds */
} pl_encounter;

typedef struct pl_encounters
{
    pl_encounter* items;
    size_t count, capacity;
} pl_encounters;

/* After the contacts of a substep were solved: begins, updates and ends encounters. A pair that
 * separates gets the missing part of its bounce; its chunks are marked as moved. */
pl_status pl_restitution_update(pl_encounters* encounters, const pl_contacts* contacts,
                                const pl_contact_body* bodies, const pl_contact_settings* settings,
                                double dt);
static inline bool pl_restitution_side_before(pl_restitution_side a, pl_restitution_side b)
{
    return a.body != b.body ? a.body < b.body : a.piece < b.piece;
}
/* After a body was removed. */
void pl_encounters_drop_body(pl_encounters* encounters, uint32_t body);

#endif
