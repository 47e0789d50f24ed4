// SPDX-License-Identifier: GPL-3.0-or-later
/* How bodies lie in layout and frame files: a count, a head for each body, then each body's arrays
 * one after the other. Reading points into the block instead of copying. */
#ifndef PL_OUTPUT_FRAMES_BODY_H
#define PL_OUTPUT_FRAMES_BODY_H

#include "frames.h"

/* Packs the layout of bodies, or what a frame has of them, into a pl_alloc'd block.
 * PLIANT_ERROR_ARGUMENT if an array is missing or memberships contradict each other. */
pl_status pl_layout_pack(uint32_t count, const pl_frame_body* bodies, void** block,
                         uint64_t* bytes);
pl_status pl_frame_pack(uint32_t count, const pl_frame_body* bodies, void** block, uint64_t* bytes);

/* Makes *bodies (pl_alloc'd) whose layout arrays point into the block. "name" is for sentences.
 * PLIANT_ERROR_FORMAT if counts do not fit the block or an index is out of range. */
pl_status pl_layout_unpack(const char* name, void* block, uint64_t bytes, uint32_t* count,
                           pl_frame_body** bodies);
/* Points the frame arrays of bodies that have their layout into the block. */
pl_status pl_frame_unpack(const char* name, void* block, uint64_t bytes, uint32_t count,
                          pl_frame_body* bodies);

#endif
