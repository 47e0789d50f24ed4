// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Transitions of a body's validity record: the only code that writes it. Whoever changes a body
 * calls the one that says what was changed; whoever derives something calls the one that says what
 * is current now. A stage asserts what it reads (pl_assert_...: debug builds).
 */
#ifndef PL_BODY_VALIDITY_H
#define PL_BODY_VALIDITY_H

#include "body/body.h"

#include <assert.h>

/* ------------------------------------------------------------------ changes */

static inline void pl_chunk_positions_changed(pl_chunk* chunk)
{
    chunk->moments = PL_MOMENTS_STALE;
}

/* Something that rows are made of besides positions, such as who sleeps. */
static inline void pl_rows_changed(pl_body* body)
{
    body->valid.rows = false;
}

/* Positions of some chunks have changed, which have been told. */
static inline void pl_moments_changed(pl_body* body)
{
    body->valid.fits = body->valid.rows = false;
}

static inline void pl_positions_changed(pl_body* body)
{
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        pl_chunk_positions_changed(&body->chunks[c]);
    pl_moments_changed(body);
}

/* Arrays by cluster or slot are longer now, and stay so if the edit is abandoned: whoever keeps
 * arrays of the old length, or a stored layout, must see it. Memberships are as before. */
static inline void pl_room_changed(pl_body* body)
{
    body->valid.shapes = body->valid.cuts = body->valid.cracks = false;
    ++body->valid.memberships;
}

static inline void pl_memberships_changed(pl_body* body)
{
    pl_room_changed(body);
    pl_moments_changed(body);
}

/* Memberships are as before, but clusters have faded. */
static inline void pl_weights_changed(pl_body* body)
{
    ++body->valid.weights;
    pl_moments_changed(body);
}

static inline void pl_cuts_changed(pl_body* body)
{
    body->valid.shapes = body->valid.cuts = body->valid.cracks = false;
}

static inline void pl_material_changed(pl_body* body)
{
    body->valid.material_dt = 0;
}

/* Widths of clusters are part of what alpha and kappa are made of. */
static inline void pl_rest_shape_changed(pl_body* body)
{
    body->valid.material_dt = 0;
}

/* Where rows are made anew they are made whole, from the finest level up and down. */
static inline void pl_fits_follow_rows(pl_body* body)
{
    body->valid.fits = body->valid.rows;
}

/* At the end of a substep: fits stay if they are those that the next one begins with. */
static inline void pl_fits_keep_if(pl_body* body, bool same)
{
    body->valid.fits = body->valid.fits && same;
}

static inline void pl_forces_changed(pl_body* body)
{
    body->valid.forces = false;
}

/* ------------------------------------------------------------------ what is current now */

static inline void pl_moments_gathered(pl_chunk* chunk)
{
    chunk->moments = PL_MOMENTS_GATHERED;
}

static inline void pl_moments_corrected(pl_chunk* chunk)
{
    chunk->moments = PL_MOMENTS_CORRECTED;
}

static inline void pl_fits_made(pl_body* body)
{
    body->valid.fits = true;
}

static inline void pl_rows_made(pl_body* body)
{
    body->valid.rows = true;
}

static inline void pl_shapes_made(pl_body* body)
{
    body->valid.shapes = true;
}

/* Also where that failed: then they are not. */
static inline void pl_cuts_made(pl_body* body, bool fine)
{
    body->valid.cuts = fine;
    body->valid.cracks = false;
}

static inline void pl_cracks_made(pl_body* body, bool fine)
{
    body->valid.cracks = fine;
}

static inline void pl_forces_begun(pl_body* body)
{
    body->valid.forces = true;
}

static inline void pl_material_made(pl_body* body, double dt)
{
    body->valid.material_dt = dt;
}

/* ------------------------------------------------------------------ stamps */

/* What is derived from memberships keeps the stamp of those that it was made of; 0 is never one. */
static inline uint64_t pl_stamp(const pl_body* body)
{
    return 1 + body->valid.memberships;
}

/* ------------------------------------------------------------------ what stages rely on */

static inline void pl_assert_moments(const pl_body* body)
{
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        assert(body->chunks[c].moments != PL_MOMENTS_STALE);
    (void)body;
}

static inline void pl_assert_fits(const pl_body* body)
{
    assert(body->valid.fits);
    (void)body;
}

static inline void pl_assert_rows(const pl_body* body)
{
    assert(body->valid.rows);
    (void)body;
}

static inline void pl_assert_material(const pl_body* body, double dt)
{
    assert(body->valid.material_dt == dt);
    (void)body, (void)dt;
}

static inline void pl_assert_shapes(const pl_body* body)
{
    assert(body->valid.shapes);
    (void)body;
}

static inline void pl_assert_cuts(const pl_body* body)
{
    assert(body->valid.cuts || body->cuts.plane_count == 0);
    (void)body;
}

static inline void pl_assert_components(const pl_body* body)
{
    assert(body->components.stamp == pl_stamp(body));
    (void)body;
}

#endif
