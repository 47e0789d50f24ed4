// SPDX-License-Identifier: GPL-3.0-or-later
/* Pairs of particles of a stored body that shared a cluster, and until when. */
#ifndef PL_OUTPUT_STORE_CONNECTIVITY_HISTORY_H
#define PL_OUTPUT_STORE_CONNECTIVITY_HISTORY_H

#include "output/store/frames.h"

typedef struct pl_separated_pair
{
    uint32_t a, b; /* a < b, of the final set of particles */
    double until;  /* the last frame in which they did; INFINITY: still in the last one */
} pl_separated_pair;

typedef struct pl_connectivity_history
{
    pl_separated_pair* items; /* ascending */
    size_t count;
    /* The list is valid for: */
    uint32_t body, layout;
    double reach;
} pl_connectivity_history;

/* Finds all pairs at most "reach" apart at rest (0: three spacings), unless the list is valid. The
 * caller frees items. */
pl_status pl_connectivity_history_find(pl_frame_store* store, uint32_t body, double reach,
                                       pl_connectivity_history* parted);

#endif
