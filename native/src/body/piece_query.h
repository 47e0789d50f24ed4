// SPDX-License-Identifier: GPL-3.0-or-later
/* The piece of each particle (fracture_state.h). */
#ifndef PL_BODY_PIECE_QUERY_H
#define PL_BODY_PIECE_QUERY_H

#include "body/body.h"

#include <string.h>

/* By slot, the piece of its clusters, or PL_NO_PIECE for free slots. NULL when out of memory. The
 * caller frees it. */
static inline uint32_t* pl_pieces_of_slots(const pl_body* body)
{
    uint32_t* piece = PL_NEW(uint32_t, body->particles.slot_count);
    if (!piece)
        return NULL;
    memset(piece, 0xff, body->particles.slot_count * sizeof *piece);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
                for (uint32_t lane = 0; lane < 8; ++lane)
                    if (chunk->entry_kernel[8 * (size_t)e + lane] > 0)
                        piece[chunk->slot_begin + 8 * b + lane] =
                            body->clusters.piece[chunk->rows[chunk->entry_row[e]]];
    }
    return piece;
}

/* Whether all of its particles do; they are in pieces that sleep while their body does not. */
static inline bool pl_chunk_sleeps(const pl_body* body, uint32_t chunk)
{
    return body->sleeping_pieces.slot && body->sleeping_pieces.chunk[chunk] == PL_SLEEPS_ALL;
}

#endif
