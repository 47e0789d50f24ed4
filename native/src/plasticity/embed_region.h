// SPDX-License-Identifier: GPL-3.0-or-later
/* The neighbourhood of a seed particle, embedded to make a new cluster there (embed.h). */
#ifndef PL_PLASTICITY_EMBED_REGION_H
#define PL_PLASTICITY_EMBED_REGION_H

#include "plasticity/embed.h"

/* The current AABB of each block's particles, for all seeds of a substep. */
typedef struct pl_block_boxes
{
    float (*box)[6]; /* lower, upper; by block of eight slots */
    size_t capacity;
} pl_block_boxes;

pl_status pl_block_boxes_make(const pl_body* body, pl_block_boxes* boxes);

typedef struct pl_embed_region
{
    pl_embedding embedding;
    vec3 origin;          /* the seed, in the body's coordinates; places are relative to it */
    uint32_t seed;        /* its index: eight times its block, and its lane */
    uint32_t* block_slot; /* the first slot of each block */
    float* lasting;       /* 8 a block: sum of the kernel values of its clusters that stay */
    uint32_t* beside;     /* by block: the lanes that share a cluster with the seed, as bits */
    uint32_t* cluster;    /* by row: the body's */
    double (*mean)[4];    /* by row: the mean subtracted from q (centre_rows); sum of m w */
    /* Storage, reused from seed to seed; by the body's clusters: their ring, and 1 + their row. */
    struct pl_embed_region_memory
    {
        uint32_t *block, *lanes, *block_begin;
        uint16_t* entry_row;
        float *entry_weight, *entry_offset, *per_weight, *place;
        float (*row)[PL_EMBED_FLOATS];
        uint8_t* ring;
        uint32_t* row_of;
        uint8_t* mask;        /* by entry of the blocks found: the lanes that are in its cluster */
        uint32_t* mask_begin; /* by block */
        size_t capacity[18];
        uint32_t blocks, entries, rows;
    } memory;
} pl_embed_region;

/* Collects the particles within "reach" of a slot, at current positions, that are connected with
 * it: those of its clusters and of the clusters that share a particle with these (3.6, 3.7). The
 * paper takes whole clusters; here they are cut off at the reach, so that the cost depends on the
 * size of a cluster and not on how many overlap. */
pl_status pl_embed_region_collect(const pl_body* body, const pl_block_boxes* boxes, uint32_t slot,
                                  double reach, pl_embed_region* region);
void pl_embed_region_free(pl_embed_region* region);

#endif
