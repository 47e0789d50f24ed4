// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Embeds the rest shape around a particle of a body that has flowed (Falkenstein 2017, section
 * 3.0.2, "Embedding Optimization").
 *
 * After plastic flow the rest shapes of overlapping clusters are inconsistent: no placement of the
 * particles satisfies all of them. The embedding minimises
 *
 *   sum_ic m w_ic |R_c q_ic + e_c - e_i|^2   (3.5),  q_ic = F^p_c p_ic,
 *
 * over the places e_i and over each cluster's rotation R_c and place e_c. A region stores particles
 * and memberships in blocks of eight, like a chunk (body.h), in its own arrays.
 */
#ifndef PL_PLASTICITY_EMBED_H
#define PL_PLASTICITY_EMBED_H

#include "body/body.h"

/* A row is a cluster's sums (w e q^T, w e), later its map (R, e_c), followed by the sum of w. */
enum
{
    PL_EMBED_MASS = 12,
    PL_EMBED_FLOATS = 16
};

typedef struct pl_embedding
{
    uint32_t block_count, row_count;
    const uint32_t* block_begin; /* block_count + 1: entries */
    const uint16_t* entry_row;
    const float* entry_weight;     /* 8 an entry: m w */
    const float* entry_offset;     /* 24 an entry (x8 y8 z8): q; m w q sums to 0 in each row */
    const float* per_weight;       /* 8 a block: 1 / sum of m w, 0 for lanes without a particle */
    float* place;                  /* 24 a block: e; in: the initial guess */
    float (*row)[PL_EMBED_FLOATS]; /* scratch, a multiple of eight rows; out: the maps */
    uint32_t most;                 /* maximum number of iterations */
    float enough;    /* stop when an iteration's mean squared motion is below this ... */
    float share;     /* ... or below this share of the first iteration's */
    bool linear;     /* keep rotations at the identity: the linear embedding, for comparison */
    bool measure;    /* compute energy */
    uint32_t rounds; /* out: iterations made */
    double energy;   /* out: (3.5) over the sum of m w, with each cluster's best rotation */
} pl_embedding;

#endif
