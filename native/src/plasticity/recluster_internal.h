// SPDX-License-Identifier: GPL-3.0-or-later
/* Shared by the files of reclustering (recluster.c). */
#ifndef PL_PLASTICITY_RECLUSTER_INTERNAL_H
#define PL_PLASTICITY_RECLUSTER_INTERNAL_H

#include "dynamics/substep.h"
#include "plasticity/new_cluster.h"

/* Turns per fade-in time; more while the condition number of a rest shape is over the limit to the
 * power of PL_HASTE. */
#define PL_FADE_STEPS 5
#define PL_FADE_STEPS_IN_HASTE 8
#define PL_HASTE 1.5
/* A cluster that goes is taken out at a fade of PL_FADE_LEAST or less, if no member has more than
 * PL_FADE_SHARE of its weight in it. Its fade never falls below PL_FADE_END, which keeps members
 * without another cluster. A new cluster starts at PL_FADE_BEGIN. */
#define PL_FADE_BEGIN .05
#define PL_FADE_SHARE .05f
#define PL_FADE_END 1e-7

/* fade.c: advances the fades of a body by some seconds, and updates the normalisers. True if any
 * changed. The flags (the caller's scratch) tell pl_rest_refresh which chunks and clusters did.
 * "haste" becomes the largest pl_fade_haste; "updates" counts the memberships visited. */
typedef struct pl_fade_flags
{
    uint8_t *chunks, *clusters, *moved;
    uint8_t* held; /* in: by cluster, must not fade out yet */
} pl_fade_flags;

bool pl_fade(pl_body* body, double seconds, const pl_fade_flags* touched, double* haste,
             uint64_t* updates);
/* Updates S of the flagged clusters below "count" that do not go. True if any changed. */
bool pl_fade_widths(pl_body* body, const uint8_t* clusters, uint32_t count);

/* keep_connected.c: flags clusters that go but still connect clusters that stay. */
pl_status pl_keep_connected(const pl_body* body, uint8_t* held);

/* absorb_flow.c: in small pieces of a body that breaks, keeps clusters that go and makes their flow
 * their rest shape. Flags the finest clusters whose members need no other. */
pl_status pl_absorb_flow(pl_body* body, uint64_t now, uint8_t* enough);

/* The condition number of a cluster's F^p. */
double pl_plastic_condition(const float fp[9]);
double pl_fade_haste(const pl_body* body, uint32_t c);

#endif
