// SPDX-License-Identifier: GPL-3.0-or-later
/* Layouts in files: whole, or as what has changed since the one before. In memory the arrays of a
 * layout belong to its bodies, those of frames do not. */
#ifndef PL_OUTPUT_STORE_FRAMES_LAYOUT_H
#define PL_OUTPUT_STORE_FRAMES_LAYOUT_H

#include "output/store/frames_merged.h"

/* One array of a body: where its pointer is, and how long it must be. */
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
/* NULL, or what is wrong with a layout. Reading relies on this for every index. */
const char* pl_layout_fault(const pl_frame_body* body);
/* Frees the arrays of layouts, and the list of bodies. */
void pl_layouts_free(uint32_t count, pl_frame_body* bodies);

/* Packs the layout of bodies into a pl_alloc'd block. PLIANT_ERROR_ARGUMENT if an array is missing
 * or memberships contradict each other. */
pl_status pl_layout_pack(uint32_t count, const pl_frame_body* bodies, void** block,
                         uint64_t* bytes);
/* Makes *bodies (pl_layouts_free). "name" is for sentences. PLIANT_ERROR_FORMAT if counts do not
 * fit the block or an index is out of range. */
pl_status pl_layout_unpack(const char* name, const void* block, uint64_t bytes, uint32_t* count,
                           pl_frame_body** bodies);

/* frames_delta.c: the same for what is different from the layout before; *block is NULL where it
 * cannot be said so. */
pl_status pl_layout_delta_pack(uint32_t count, const pl_frame_body* before,
                               const pl_frame_body* bodies, void** block, uint64_t* bytes);
pl_status pl_layout_delta_unpack(const char* name, const void* block, uint64_t bytes,
                                 uint32_t count, const pl_frame_body* before,
                                 pl_frame_body** bodies);
/* Whether a block is a change. */
bool pl_layout_is_delta(const void* block, uint64_t bytes);

/* Packing and unpacking arrays one after the other. */
typedef struct pl_packer
{
    unsigned char *at, *end;
} pl_packer;

void pl_pack(pl_packer* to, const void* data, uint64_t bytes);
/* A copy of the next bytes; NULL (and *failed) if there are not so many, or no memory. */
void* pl_unpack(pl_packer* from, uint64_t bytes, pl_status* failed);

typedef struct pl_block_head
{
    uint32_t bodies;
    uint32_t change; /* 1: on the layout before */
} pl_block_head;

#endif
