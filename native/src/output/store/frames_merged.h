// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Merged particles (resample_state.h) keep their ids, so their number only grows. Files omit what
 * follows from their successors: memberships and nearest clusters, which are the successors', and
 * positions and velocities,
 *
 *   x_i = x_s + sum_c w_sc F_c offset_i       v_i = v_s + sum_c w_sc dF_c/dt offset_i
 *
 * In memory bodies always have these values, before writing and after reading, with the same bits
 * (pl_merged_offset).
 */
#ifndef PL_OUTPUT_STORE_FRAMES_MERGED_H
#define PL_OUTPUT_STORE_FRAMES_MERGED_H

#include "output/store/frames.h"

/* Whether particles were resampled: copies of bodies that break have pieces. */
static inline bool pl_has_shares(uint32_t copies, uint32_t pieces)
{
    return copies > 0 && pieces == 0;
}

/* The particle that holds a particle's mass. */
static inline uint32_t pl_frame_successor(const pl_frame_body* body, uint32_t particle)
{
    return pl_has_shares(body->copies, body->pieces) ? body->successor[particle] : particle;
}

static inline bool pl_frame_is_merged(const pl_frame_body* body, uint32_t particle)
{
    return pl_frame_successor(body, particle) != particle;
}

uint32_t pl_frame_living(const pl_frame_body* body);

/* A layout without derivable values, in *less; the arrays that do not differ are the body's. */
pl_status pl_merged_leave_out(const pl_frame_body* body, pl_frame_body* less);
void pl_merged_free(const pl_frame_body* body, pl_frame_body* less);
/* The inverse, for a layout that was read. "name" is for messages. */
pl_status pl_merged_take_in(const char* name, pl_frame_body* body);

/* Vectors by particle (3 floats each) without those of merged particles. */
void pl_gone_pack(const pl_frame_body* body, const float* vectors, float* less);
/* The inverse; "map" has a matrix per cluster. */
void pl_gone_unpack(const pl_frame_body* body, const float* less, const float* map, float* vectors);

#endif
