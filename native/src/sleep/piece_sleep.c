// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pieces that sleep while their body is awake (sleep.c chooses them). Pieces share chunks, so sleep
 * is marked per particle:
 *
 *      chunk   | all particles sleep | some sleep               | none sleeps |
 *      advance | skipped             | marked lanes do not move | as usual    |
 *
 * Colliders ignore marked particles; contacts treat them as immovable. Other stages may still move
 * them (strain limiting, restitution of the whole body): that motion is undone before the fit at
 * the end of the substep.
 */
#include "body/piece_query.h"
#include "body/validity.h"
#include "dynamics/substep.h"
#include "sleep/sleep.h"

#include <string.h>

void pl_sleeping_pieces_free(pl_sleeping_pieces* still)
{
    pl_free(still->slot);
    pl_free(still->cluster);
    pl_free(still->chunk);
    still->slot = NULL;
    still->cluster = still->chunk = NULL;
    for (int k = 0; k < 3; ++k)
    {
        pl_free(still->x[k]);
        still->x[k] = NULL;
    }
}

static pl_status sleeping_pieces_make(const pl_body* body, pl_sleeping_pieces* still)
{
    size_t slots = body->particles.slot_count;
    still->slot = PL_NEW(uint8_t, slots);
    still->cluster = PL_NEW(uint8_t, body->level_begin[1]);
    still->chunk = PL_NEW(uint8_t, body->chunk_count);
    bool fine = still->slot && still->cluster && still->chunk;
    for (int k = 0; k < 3; ++k)
        fine = (still->x[k] = PL_NEW(float, slots)) != NULL && fine;
    return fine ? PLIANT_OK : pl_fail_memory(slots * 16);
}

/* ------------------------------------------------------------------ marks */

static void mark_chunk(pl_body* body, uint32_t index, const uint32_t* piece)
{
    pl_sleeping_pieces* still = &body->sleeping_pieces;
    pl_chunk* chunk = &body->chunks[index];
    uint32_t some = 0, others = 0;
    for (uint32_t s = chunk->slot_begin; s < chunk->slot_begin + 8 * chunk->block_count; ++s)
    {
        if (piece[s] == PL_NO_PIECE)
            continue;
        bool stands = body->fracture->pieces[piece[s]].asleep;
        still->slot[s] = stands ? PL_SLEEPS : 0;
        some += stands;
        others += !stands;
    }
    still->chunk[index] = some == 0 ? 0 : others == 0 ? PL_SLEEPS_ALL : PL_SLEEPS;
    if (still->chunk[index] != PL_SLEEPS_ALL)
        return;
    /* sums are made once, about the same place in every run that comes by here */
    pl_chunk_positions_changed(chunk);
    for (int k = 0; k < 3; ++k)
    {
        chunk->pos_origin[k] = body->particles.x[k][chunk->middle_slot];
        chunk->remainder[k] = chunk->torque[k] = 0;
    }
}

pl_status pl_piece_sleep_update(pl_body* body)
{
    const pl_fracture* f = body->fracture;
    pl_sleeping_pieces* still = &body->sleeping_pieces;
    bool any = false;
    if (!f || still->stamp == pl_stamp(body))
        return PLIANT_OK;
    pl_sleeping_pieces_free(still);
    still->stamp = pl_stamp(body);
    for (uint32_t p = 0; p < f->piece_count; ++p)
        any = any || (f->pieces[p].asleep && f->pieces[p].clusters);
    if (!any)
        return PLIANT_OK;
    uint32_t* piece = pl_pieces_of_slots(body);
    pl_status status = piece ? sleeping_pieces_make(body, still) : pl_fail_memory(64);
    if (status != PLIANT_OK)
    {
        pl_sleeping_pieces_free(still);
        pl_free(piece);
        still->stamp = 0;
        return status;
    }
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        still->cluster[c] = f->pieces[body->clusters.piece[c]].asleep ? PL_SLEEPS : 0;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        mark_chunk(body, c, piece);
    for (int k = 0; k < 3; ++k)
        memcpy(still->x[k], body->particles.x[k], sizeof(float) * body->particles.slot_count);
    pl_rows_changed(body);
    pl_free(piece);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ hold */

static bool stay(pl_body* body, uint32_t index)
{
    const pl_sleeping_pieces* still = &body->sleeping_pieces;
    const pl_chunk* chunk = &body->chunks[index];
    pl_particles* p = &body->particles;
    bool any = false;
    for (uint32_t s = chunk->slot_begin; s < chunk->slot_begin + 8 * chunk->block_count; ++s)
        for (int k = 0; k < 3 && still->slot[s] > 0; ++k)
            if (p->x[k][s] != still->x[k][s] || p->v[k][s] != 0)
            {
                p->x[k][s] = still->x[k][s];
                p->v[k][s] = 0;
                any = true;
            }
    return any;
}

void pl_piece_sleep_hold(pl_substep* step)
{
    pl_scene* scene = step->scene;
    bool any = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        for (uint32_t c = 0; c < body->chunk_count && body->sleeping_pieces.slot && !body->asleep;
             ++c)
            if (body->sleeping_pieces.chunk[c] && stay(body, c))
            {
                pl_chunk_positions_changed(&body->chunks[c]);
                pl_moments_changed(body);
                any = true;
            }
    }
    if (any)
        pl_substep_run(step, &scene->chunks, 1, pl_gather_items);
}

/* ------------------------------------------------------------------ pieces */

static void stop_small_pieces(pl_fracture* f, const pl_clusters* k, uint32_t piece)
{
    for (uint32_t i = 0; i < f->small_piece_count; ++i)
        if (k->piece[f->small_pieces[i].cluster] == piece)
            memset(f->small_pieces[i].spin, 0, sizeof f->small_pieces[i].spin);
}

/* The caller sets the velocities of the piece's particles to 0. */
void pl_piece_sleep(pl_body* body, uint32_t piece)
{
    body->fracture->pieces[piece].asleep = 1;
    stop_small_pieces(body->fracture, &body->clusters, piece);
    body->sleeping_pieces.stamp = 0;
}

void pl_piece_wake(pl_body* body, uint32_t piece)
{
    pl_piece* one = &body->fracture->pieces[piece];
    one->quiet = 0;
    if (!one->asleep)
        return;
    one->asleep = 0;
    body->sleeping_pieces.stamp = 0;
    pl_rows_changed(body);
}

void pl_pieces_wake(pl_body* body)
{
    for (uint32_t p = 0; body->fracture && p < body->fracture->piece_count; ++p)
        pl_piece_wake(body, p);
    pl_sleeping_pieces_free(&body->sleeping_pieces);
}

bool pl_piece_sleep_wake_hit(pl_body* body)
{
    pl_sleeping_pieces* still = &body->sleeping_pieces;
    bool any = false;
    if (!still->slot || body->asleep)
        return false;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (still->cluster[c] == PL_SLEEPS_HIT)
        {
            pl_piece_wake(body, body->clusters.piece[c]);
            any = true;
        }
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        const pl_chunk* chunk = &body->chunks[i];
        for (uint32_t e = 0, b = 0; e < chunk->block_begin[chunk->block_count]; ++e)
        {
            while (e >= chunk->block_begin[b + 1])
                ++b;
            for (uint32_t lane = 0; lane < 8 && still->chunk[i]; ++lane)
                if (still->slot[chunk->slot_begin + 8 * b + lane] == PL_SLEEPS_HIT &&
                    chunk->entry_kernel[8 * (size_t)e + lane] > 0)
                {
                    pl_piece_wake(body, body->clusters.piece[chunk->rows[chunk->entry_row[e]]]);
                    any = true;
                }
        }
    }
    return any;
}
