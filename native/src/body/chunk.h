// SPDX-License-Identifier: GPL-3.0-or-later
/* Chunks: runs of blocks of eight particles with their memberships (drawing in body.h), and the
 * data that particles and clusters exchange. */
#ifndef PL_BODY_CHUNK_H
#define PL_BODY_CHUNK_H

#include "base/core.h"
#include "base/simd.h"
#include "body/validity_state.h"

#include <string.h>

/* Sums that a chunk makes over its particles for each of its rows, weighted by m w:
 * x r^T (row-major), x, v, x cross v, x x^T (xx yy zz xy yz zx); x is relative to the chunk's
 * pos_origin, r to its rest_origin. The sums of m w and m w r are constant: they are in pl_part. */
enum
{
    PL_SUM_XR = 0,
    PL_SUM_X = 9,
    PL_SUM_V = 12,
    PL_SUM_XV = 15,
    PL_SUM_XX = 18,
    PL_SUM_FLOATS = 24
};

/* Sums of a chunk's corrections by strain limiting for a row: m w delta (3) and its moment about
 * the chunk's pos_origin (3). While a chunk is processed, all floats hold sums by lane. */
enum
{
    PL_LIMIT_FLOATS = 16
};

/* A cluster's impulse on its members, affine in the rest offset p and linear in x, v:
 *
 *   dt dv = A p + b - a (x - ref) - k v,
 *
 * with A = alpha T + kappa dt [omega]x F and so on (match.simd.c), and in the last place 1 for the
 * finest level, 0 for others, which becomes the normaliser. A chunk multiplies by the fade when it
 * loads its rows. */
enum
{
    PL_ROW_A = 0,
    PL_ROW_B = 9,
    PL_ROW_ALPHA = 12,
    PL_ROW_KAPPA = 13,
    PL_ROW_FADE = 14,
    PL_ROW_FLOATS = 16
};

/* lever: inverse of the inertia about x_c (xx yy zz xy yz zx), x_c as ref (3) and offset (3), mass.
 */
enum
{
    PL_LEVER_INVERSE = 0,
    PL_LEVER_REF = 6,
    PL_LEVER_X = 9,
    PL_LEVER_MASS = 12,
    PL_LEVER_FLOATS = 16
};

/* A chunk's share of a cluster: the location of its sums, and its constant moments with the weights
 * of the kernels: the mass and its first moment at rest, relative to the chunk's rest origin. In
 * double, since an error in the mass would be a systematic force. One cache line each, in the order
 * in which a cluster's sums are reduced. */
typedef struct pl_part
{
    uint32_t chunk, row;
    float to_rest[3]; /* from the cluster's rest centre to the chunk's rest origin */
    float reserved;
    double mass, first[3];
    double unused;
} pl_part;

/* Quadratic goals: six more monomials of p (xx yy zz xy yz zx), each with a vector coefficient, in
 * the row, and six more moments x q^T, and q itself, in the sums. */
enum
{
    PL_QUAD_ROW_FLOATS = 24, /* 18 used: coefficient j (0..5) of component i at 6 i + j */
    PL_QUAD_SUM_FLOATS = 24  /* the same order, then q */
};

typedef struct pl_chunk
{
    uint32_t slot_begin;  /* multiple of eight */
    uint32_t slot_count;  /* multiple of eight: capacity, free slots included */
    uint32_t block_count; /* blocks in use; free slots are behind them or in the last one */
    float rest_origin[3]; /* relative to the body's rest origin */
    uint32_t middle_slot; /* of the particle nearest to the chunk's middle at rest */
    float pos_origin[3];  /* positions are summed relative to this: where that particle was */
    uint32_t row_count;
    uint32_t* rows;        /* local row -> cluster index of the body */
    uint32_t* block_begin; /* blocks + 1: entries of each block */
    uint32_t (*half)[2];   /* by block: the end of the entries that any of the first four lanes has,
                              and the begin of those that any of the last four has */
    uint32_t entry_count;
    uint32_t member_count;     /* memberships at the finest level */
    uint16_t* entry_row;       /* entry -> local row */
    float* entry_kernel;       /* 8 for each entry */
    float* own_rest;           /* 24 for each entry (x8 y8 z8: r_ic), or NULL: shared rest */
    float* sums;               /* row_count * PL_SUM_FLOATS, of the last particle pass */
    float* quad_sums;          /* row_count * PL_QUAD_SUM_FLOATS, or NULL */
    uint32_t moments;          /* a pl_moments_state: whether the sums belong to the particles */
    float remainder[3];        /* what its particles' impulses from clusters sum to */
    float torque[3];           /* and their moments about pos_origin */
    uint32_t tested, violated; /* strain-limit pairs in this substep; in the last iteration */
    uint32_t bound_wait;       /* times that the bound over all limits need not be asked for ... */
    uint32_t bound_pause;      /* ... since it said nothing so many times (strain_limit.simd.c) */
    uint32_t touched;          /* particles in contact in this substep */
    uint32_t failed;           /* out of memory */
} pl_chunk;

/* The lanes of a block that are members of an entry's cluster, as bits. */
static inline uint32_t pl_entry_lanes(const float kernel[8])
{
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < 8; ++lane)
        lanes |= (uint32_t)(kernel[lane] > 0) << lane;
    return lanes;
}

/* Blocks of a chunk whose particles were moved, with their previous state. */
enum
{
    PL_BEFORE_FLOATS = 48 /* x, y, z and the velocity of eight particles */
};

typedef struct pl_moved_blocks
{
    uint32_t count;
    uint16_t* hit;  /* by block: 0, or which of those that were moved it is, from 1 on */
    float* before;  /* PL_BEFORE_FLOATS for each of them */
    uint8_t* touch; /* of the chunk's particles (pl_particles), or NULL */
} pl_moved_blocks;

/* A surface with less friction than this supports no particle (pl_particles.touch). */
#define PL_LEAST_GRIP .05

/* Call it before a contact moves the i-th particle of a chunk; x and v are the chunk's. */
static inline void pl_note_moved(pl_moved_blocks* moved, uint32_t i, float* const x[3],
                                 float* const v[3], double friction)
{
    uint32_t block = i / 8;
    if (moved && moved->touch && friction >= PL_LEAST_GRIP)
        moved->touch[i] = 1;
    if (!moved || moved->hit[block])
        return;
    float* before = moved->before + (size_t)PL_BEFORE_FLOATS * moved->count;
    moved->hit[block] = (uint16_t)++moved->count;
    for (int k = 0; k < 3; ++k)
    {
        memcpy(before + 8 * k, x[k] + 8 * (size_t)block, 8 * sizeof(float));
        memcpy(before + 8 * (3 + k), v[k] + 8 * (size_t)block, 8 * sizeof(float));
    }
}

#endif
