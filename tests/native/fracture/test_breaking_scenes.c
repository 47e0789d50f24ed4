// SPDX-License-Identifier: GPL-3.0-or-later
/* Small fracture scenes: a ball on a beam, small pieces. */
#include "native/support/breaking.h"

#include <stdlib.h>
#include <string.h>

/* A body of points, made by "breaking" with its scene; the caller sets the rest. */
static breaking body_of(uint32_t nx, uint32_t ny, uint32_t nz, uint32_t clusters)
{
    breaking b = breaking_ghost(nx, ny, nz, clusters);
    b.desc.material.stiffness_kind = PLIANT_STIFFNESS_YOUNG;
    b.desc.material.stiffness = 1e5;
    b.desc.material.damping = 5;
    b.substeps = 6;
    return b;
}

static void hold(breaking* b, bool (*is_held)(const float at[3]))
{
    float pins[BREAKING_MOST];
    for (uint32_t i = 0; i < b->count; ++i)
        pins[i] = is_held(b->points.at + 3 * (size_t)i) ? PLIANT_PIN_HELD : 0;
    CHECK_OK(pliant_body_set_pins(b->body, b->count, pins));
}

/* ------------------------------------------------------------------ ball on beam */

static bool at_ends(const float at[3])
{
    return fabsf(at[0]) > .85f;
}

/* Jones et al. 2015, Figure 3: both are bodies; the beam breaks under the ball, which falls on. */
TEST(a_ball_that_falls_on_a_beam_breaks_it)
{
    breaking b = body_of(40, 6, 6, 40);
    b.scene_desc.gravity[2] = -9.81;
    breaking_make(&b);
    hold(&b, at_ends);
    breaking_collide(&b);
    pliant_body ball = breaking_throw_ball(&b, 6, 4e5, 4000);
    breaking_tough(&b, .08);
    breaking_advance(&b, 20);
    uint32_t splits, near = 0, count, *piece = breaking_read(&b, PLIANT_PIECE, 4, &count);
    float* plane = breaking_read(&b, PLIANT_SPLIT_PLANE, 28, &splits);
    for (uint32_t i = 0; i < splits; ++i)
        near += fabsf(plane[7 * i]) < .6f;
    pliant_body_info info = breaking_info(&b), other;
    pliant_body_info_init(&other, sizeof other);
    CHECK_OK(pliant_body_get_info(ball, &other));
    CHECK_MSG(info.pieces >= 2 && piece[0] != piece[b.count - 1], "%u pieces", info.pieces);
    CHECK_MSG(near * 10 >= splits * 6, "%u of %u splits are under the ball", near, splits);
    CHECK_MSG(other.centre[2] < -.3, "the ball is at %g", other.centre[2]);
    CHECK(world_finite(b.body) && world_finite(ball));
    free(piece);
    free(plane);
    breaking_free(&b);
}

/* ------------------------------------------------------------------ small pieces */

/* Pieces of one to three particles keep their velocity and rotation, and a visible size. */
TEST(crumbs_fly_on_and_stay_visible)
{
    breaking b = breaking_bar(120);
    CHECK_OK(pliant_body_set_pins(b.body, 0, NULL));
    b.fracture.settle = 0;
    breaking_tough(&b, .005);
    for (uint32_t i = 0; i < b.count; ++i)
    {
        const float* at = b.points.at + 3 * (size_t)i;
        b.x[3 * i] = 6 * at[0] - 14 * at[1];
        b.x[3 * i + 1] = 14 * at[0] + 6 * at[1];
        b.x[3 * i + 2] = 6 * at[2];
    }
    CHECK_OK(pliant_body_set_particles(b.body, b.count, NULL, NULL, b.x));
    breaking_advance(&b, 6);
    const pl_fracture* f = breaking_body(&b)->fracture;
    uint32_t small_pieces = f->small_piece_count, count;
    CHECK_MSG(small_pieces > 10, "%u crumbs", small_pieces);
    breaking_tough(&b, INFINITY);
    float *before = breaking_read(&b, PLIANT_POSITION, 12, &count),
          *v = breaking_read(&b, PLIANT_VELOCITY, 12, NULL),
          *turned = breaking_read(&b, PLIANT_DEFORMATION, 36, NULL);
    breaking_advance(&b, 6);
    float *after = breaking_read(&b, PLIANT_POSITION, 12, NULL),
          *later = breaking_read(&b, PLIANT_DEFORMATION, 36, NULL);
    const pl_body* body = breaking_body(&b);
    uint32_t alone = 0, straight = 0, turning = 0, sound = 0;
    for (uint32_t i = 0; i < f->small_piece_count; ++i)
    {
        uint32_t cluster = f->small_pieces[i].cluster, id = UINT32_MAX;
        for (uint32_t c = 0; c < body->chunk_count && id == UINT32_MAX; ++c)
            for (uint32_t block = 0; block < body->chunks[c].block_count; ++block)
                for (uint32_t e = body->chunks[c].block_begin[block];
                     e < body->chunks[c].block_begin[block + 1]; ++e)
                    for (uint32_t lane = 0; lane < 8; ++lane)
                        if (body->chunks[c].rows[body->chunks[c].entry_row[e]] == cluster &&
                            body->chunks[c].entry_kernel[8 * (size_t)e + lane] > 0)
                            id = body->particles.id[body->chunks[c].slot_begin + 8 * block + lane];
        if (id == UINT32_MAX || body->clusters.rank[cluster] > 0)
            continue;
        double off = 0, change = 0, det = 0;
        const float* g = later + 9 * (size_t)id;
        for (uint32_t k = 0; k < 3; ++k)
            off = fmax(off, fabs(after[3 * id + k] - before[3 * id + k] - v[3 * id + k] * .25));
        for (uint32_t k = 0; k < 9; ++k)
            change = fmax(change, fabs(later[9 * id + k] - turned[9 * id + k]));
        det = g[0] * (g[4] * g[8] - g[5] * g[7]) - g[1] * (g[3] * g[8] - g[5] * g[6]) +
              g[2] * (g[3] * g[7] - g[4] * g[6]);
        ++alone;
        straight += off < .02;
        turning += change > .02;
        sound += det > .3 && det < 3;
    }
    CHECK(alone > 3 && straight == alone && sound == alone && turning * 2 > alone);
    free(before);
    free(after);
    free(v);
    free(turned);
    free(later);
    breaking_free(&b);
}
