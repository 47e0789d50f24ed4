// SPDX-License-Identifier: GPL-3.0-or-later
/* Layouts in files: whole, or as deltas against the previous one. In memory bodies own the arrays
 * of a layout, but not those of frames. */
#ifndef PL_OUTPUT_STORE_FRAMES_LAYOUT_H
#define PL_OUTPUT_STORE_FRAMES_LAYOUT_H

#include "output/store/frames_merged.h"

/* One array of a body: address of its pointer, and its size. */
typedef struct pl_frame_channel
{
    const char* name;
    void** array;
    uint64_t bytes;
} pl_frame_channel;

enum
{
    PL_LAYOUT_CHANNELS = 17
};

void pl_layout_channels(pl_frame_body* body, pl_frame_channel out[PL_LAYOUT_CHANNELS]);
/* NULL, or a description of what is invalid. Every index is validated here. */
const char* pl_layout_fault(const pl_frame_body* body);
/* Frees the arrays of layouts, and the list of bodies. */
void pl_layouts_free(uint32_t count, pl_frame_body* bodies);

/* Packs the layout of bodies into a pl_alloc'd block. PLIANT_ERROR_ARGUMENT if an array is missing
 * or memberships contradict each other. */
pl_status pl_layout_pack(uint32_t count, const pl_frame_body* bodies, void** block,
                         uint64_t* bytes);
/* Allocates *bodies (pl_layouts_free). "name" is for messages. PLIANT_ERROR_FORMAT if counts do not
 * fit the block or an index is out of range. */
pl_status pl_layout_unpack(const char* name, const void* block, uint64_t bytes, uint32_t* count,
                           pl_frame_body** bodies);

/* frames_delta.c: the same for a delta; *block is NULL if it cannot be represented. */
pl_status pl_layout_delta_pack(uint32_t count, const pl_frame_body* before,
                               const pl_frame_body* bodies, void** block, uint64_t* bytes);
pl_status pl_layout_delta_unpack(const char* name, const void* block, uint64_t bytes,
                                 uint32_t count, const pl_frame_body* before,
                                 pl_frame_body** bodies);
/* Whether a block is a delta. */
bool pl_layout_is_delta(const void* block, uint64_t bytes);

/* Packing and unpacking arrays one after the other. */
typedef struct pl_packer
{
    unsigned char *at, *end;
} pl_packer;

void pl_pack(pl_packer* to, const void* data, uint64_t bytes);
/* Copies the next bytes; NULL, with *failed set, if there are too few or no memory. */
void* pl_unpack(pl_packer* from, uint64_t bytes, pl_status* failed);

typedef struct pl_block_head
{
    uint32_t bodies;
    uint32_t change; /* 1: a delta against the previous layout */
} pl_block_head;

#endif
