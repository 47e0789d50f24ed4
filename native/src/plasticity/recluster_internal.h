// SPDX-License-Identifier: GPL-3.0-or-later
/* Clusters that come and go while a body flows (recluster.c), and what its files share. */
#ifndef PL_PLASTICITY_RECLUSTER_INTERNAL_H
#define PL_PLASTICITY_RECLUSTER_INTERNAL_H

#include "dynamics/substep.h"
#include "plasticity/new_cluster.h"

/* Fades move in steps of this share of the time that a cluster takes to come; in more of them while
 * a rest shape has flowed so far, as a power of what is set, that it cannot wait. */
#define PL_FADE_STEPS 5
#define PL_FADE_STEPS_IN_HASTE 8
#define PL_HASTE 1.5
/* A cluster that goes is taken out when it has no more than PL_FADE_LEAST and no member has more
 * than PL_FADE_SHARE of its weight in it; it never falls below PL_FADE_END, so that those that are
 * in no other keep it. One that comes begins with PL_FADE_BEGIN. */
#define PL_FADE_BEGIN .05
#define PL_FADE_SHARE .05f
#define PL_FADE_END 1e-7

/* fade.c: moves the fades of a body by some seconds, and normalisers with them; true if any did.
 * "touched" (by chunk, by cluster: scratch of the caller's) says what was, for pl_rest_refresh;
 * "haste" becomes the most that a cluster is in; "updates" counts the memberships that were gone
 * over. */
typedef struct pl_fade_flags
{
    uint8_t *chunks, *clusters, *moved;
    uint8_t* held; /* in: by cluster, some member is in none that stays */
} pl_fade_flags;

bool pl_fade(pl_body* body, double seconds, const pl_fade_flags* touched, double* haste,
             uint64_t* updates);
/* S of the flagged ones of the first "count" clusters that do not go, if it is another by now; true
 * if any is. */
bool pl_fade_widths(pl_body* body, const uint8_t* clusters, uint32_t count);

/* keep_connected.c: flags clusters that go, without which those that stay would fall apart. */
pl_status pl_keep_connected(const pl_body* body, uint8_t* held);

/* absorb_flow.c: in small pieces of a body that breaks, clusters that go are kept instead and get
 * the rest shape that they have flowed to. Flags the finest clusters that are enough for their
 * members. */
pl_status pl_absorb_flow(pl_body* body, uint64_t now, uint8_t* enough);

/* The condition number of a cluster's F^p. */
double pl_plastic_condition(const float fp[9]);
double pl_fade_haste(const pl_body* body, uint32_t c);

#endif
