// SPDX-License-Identifier: GPL-3.0-or-later
/* Pieces of a body that sleep while the body does not (sleep/piece_sleep.c). */
#ifndef PL_BODY_SLEEP_STATE_H
#define PL_BODY_SLEEP_STATE_H

#include "base/core.h"

/* Pieces of a body that sleep while the body does not (sleep/piece_sleep.c). Follows from the
 * pieces and the memberships; empty where no piece sleeps. */
typedef struct pl_sleeping_pieces
{
    uint8_t* slot;    /* by slot: not 0 where the particle stands still, or NULL */
    float* x[3];      /* by slot: where it does */
    uint8_t* cluster; /* by finest cluster */
    uint8_t* chunk;   /* by chunk: whether some of its particles do, or all */
    uint64_t stamp;   /* of the memberships (pl_stamp) for which it was made; 0: to be made */
} pl_sleeping_pieces;

enum
{
    PL_SLEEPS = 1, /* of slots and clusters; of chunks: some */
    PL_SLEEPS_HIT, /* of slots and clusters: hit so that it wakes */
    PL_SLEEPS_ALL = 2
};

#endif
