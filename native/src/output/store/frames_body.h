// SPDX-License-Identifier: GPL-3.0-or-later
/* Bodies in frame files: a count, a head per body, then each body's arrays. Reading points into the
 * block without copies; the block grows by the derived values of merged particles
 * (frames_merged.h). Layouts are in frames_layout.h. */
#ifndef PL_OUTPUT_STORE_FRAMES_BODY_H
#define PL_OUTPUT_STORE_FRAMES_BODY_H

#include "output/store/frames_layout.h"

/* Packs the frame arrays of bodies into a pl_alloc'd block. PLIANT_ERROR_ARGUMENT if an array is
 * missing. */
pl_status pl_frame_pack(uint32_t count, const pl_frame_body* bodies, void** block, uint64_t* bytes);
/* Points the frame arrays of bodies with a layout into the block, which may grow. */
pl_status pl_frame_unpack(const char* name, void** block, uint64_t bytes, uint32_t count,
                          pl_frame_body* bodies);

#endif
