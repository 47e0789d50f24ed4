// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Finding places in space for the rest shape around a point of a body that has flowed (Falkenstein
 * 2017, section 3.0.2, "Embedding Optimization").
 *
 * After plastic flow the rest shapes of overlapping clusters contradict each other: no placing of
 * the particles suits them all. Wanted are the places e_i that do so best,
 *
 *   least  sum_ic m w_ic |R_c q_ic + e_c - e_i|^2   (3.5),  q_ic = F^p_c p_ic,
 *
 * over e_i and over each cluster's rotation R_c and place e_c. A region has its particles in blocks
 * of eight with the memberships of each block, as chunks have them (body.h), in arrays of its own.
 */
#ifndef PL_PLASTICITY_EMBED_H
#define PL_PLASTICITY_EMBED_H

#include "body/body.h"

/* By row: a cluster's sums (w e q^T, w e) and then its map (R, e_c); the sum of w is behind both.
 */
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
    const float* entry_offset;     /* 24 an entry (x8 y8 z8): q; m w q sums to nil by row */
    const float* per_weight;       /* 8 a block: 1 / sum of m w, 0 for lanes without a particle */
    float* place;                  /* 24 a block: e; in: where to start from */
    float (*row)[PL_EMBED_FLOATS]; /* scratch, rows in eights; what is left is the maps */
    uint32_t most;                 /* iterations */
    float enough; /* stops when the mean square of what an iteration moves is less than this ... */
    float share;  /* ... or than this share of what the first one moved */
    bool linear;  /* rotations stay the identity: the linear embedding, for comparison */
    bool measure; /* energy is wanted */
    uint32_t rounds; /* out: iterations made */
    double energy;   /* out: the sum (3.5) over the sum of m w, with each cluster's best rotation */
} pl_embedding;

#endif
