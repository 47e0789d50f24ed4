// SPDX-License-Identifier: GPL-3.0-or-later
/* Pieces that sleep while other pieces of the same body move with pins. */
#include "native/support/breaking.h"

#include <base/hash.h>
#include <stdlib.h>
#include <string.h>

/* A bar held at one end; the other end is thrown down, breaks off and comes to rest on the ground.
 */
static breaking snapped(uint32_t threads, uint32_t simd)
{
    breaking b = breaking_ghost(24, 6, 6, 40);
    b.scene_desc.gravity[2] = -9.81;
    b.scene_desc.threads = threads;
    b.scene_desc.simd = simd;
    b.desc.points_origin[2] = 1.6;
    b.desc.material.stiffness_kind = PLIANT_STIFFNESS_YOUNG;
    b.desc.material.stiffness = 1e5;
    b.desc.material.damping = 12;
    b.desc.material.drag = 4;
    b.substeps = 6;
    breaking_make(&b);
    breaking_on_ground(&b);
    float pins[BREAKING_MOST];
    for (uint32_t i = 0; i < b.count; ++i)
    {
        pins[i] = b.points.at[3 * i] < -.6f ? PLIANT_PIN_HELD : 0;
        b.x[3 * i] = b.points.at[3 * i] > -.2f ? 6 : 0;
        b.x[3 * i + 1] = 0;
        b.x[3 * i + 2] = b.points.at[3 * i] > -.2f ? -4 : 0;
    }
    CHECK_OK(pliant_body_set_pins(b.body, b.count, pins));
    CHECK_OK(pliant_body_set_particles(b.body, b.count, NULL, NULL, b.x));
    b.fracture.smallest_piece = .02;
    breaking_tough(&b, .05);
    return b;
}

/* Advances frames while the pins move up and down. */
static void play(breaking* b, int frames)
{
    float target[3 * BREAKING_MOST];
    const double origin[3] = {0, 0, 1.6};
    for (int f = 0; f < frames; ++f)
    {
        b->pulled += 1;
        for (uint32_t i = 0; i < 3 * b->count; ++i)
            target[i] = b->points.at[i] + (i % 3 == 2 ? .05f * sinf(.7f * (float)b->pulled) : 0);
        CHECK_OK(pliant_body_set_pin_targets(b->body, b->count, origin, target));
        breaking_advance(b, 1);
    }
}

/* The number of sleeping pieces. */
static uint32_t sleepers(const breaking* b)
{
    const pl_fracture* f = breaking_body(b)->fracture;
    uint32_t count = 0;
    for (uint32_t p = 0; p < f->piece_count; ++p)
        count += f->pieces[p].clusters && f->pieces[p].asleep;
    return count;
}

/* Advances until three pieces sleep; those with pins do not. */
static bool till_they_sleep(breaking* b)
{
    for (int frame = 0; frame < 200 && sleepers(b) < 3; ++frame)
        play(b, 1);
    CHECK_MSG(sleepers(b) >= 3 && sleepers(b) < breaking_info(b).pieces, "%u of %u pieces sleep",
              sleepers(b), breaking_info(b).pieces);
    return sleepers(b) >= 3;
}

/* The number of sleeping particles that moved at all; "others": how far others moved. */
static uint32_t moved_in_sleep(const breaking* b, const float* before, double* others)
{
    const pl_fracture* f = breaking_body(b)->fracture;
    uint32_t count, wrong = 0, *piece = breaking_read(b, PLIANT_PIECE, 4, NULL);
    float* after = breaking_read(b, PLIANT_POSITION, 12, &count);
    *others = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (f->pieces[piece[i]].asleep)
            wrong += memcmp(before + 3 * i, after + 3 * i, 12) != 0;
        else
            *others = fmax(*others, fabs(after[3 * i + 2] - before[3 * i + 2]));
    free(piece);
    free(after);
    return wrong;
}

TEST(settled_pieces_sleep_while_their_body_moves)
{
    breaking b = snapped(1, PLIANT_SIMD_AUTO);
    REQUIRE(till_they_sleep(&b));
    const pl_body* body = breaking_body(&b);
    double others;
    float* before = breaking_read(&b, PLIANT_POSITION, 12, NULL);
    play(&b, 4);
    uint32_t all = 0, wrong = moved_in_sleep(&b, before, &others);
    CHECK(!body->asleep);
    CHECK_MSG(wrong == 0 && others > .02, "%u particles moved asleep, others by %g", wrong, others);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        all += body->sleeping_pieces.chunk[c] == PL_SLEEPS_ALL; /* skipped by stages */
    CHECK_MSG(all > 0, "no chunk of %u stands still as a whole", body->chunk_count);
    free(before);
    breaking_free(&b);
}

TEST(sleeping_pieces_wake_when_they_are_hit_or_something_is_set)
{
    breaking b = snapped(1, PLIANT_SIMD_AUTO);
    REQUIRE(till_they_sleep(&b));
    CHECK_OK(pliant_body_set_fracture(b.body, &b.fracture)); /* equal settings do not wake */
    CHECK(sleepers(&b) > 0);
    const pl_body* body = breaking_body(&b);
    float* x = breaking_read(&b, PLIANT_POSITION, 12, NULL);
    uint32_t *piece = breaking_read(&b, PLIANT_PIECE, 4, NULL), far = 0;
    for (uint32_t i = 0; i < b.count; ++i) /* the farthest sleeping particle */
        if (x[3 * i] > x[3 * far] && body->fracture->pieces[piece[i]].asleep)
            far = i;
    uint32_t hit = piece[far];
    scene_points points = scene_points_ball(150, .2, 1);
    pliant_body_desc desc = b.desc;
    pliant_body ball;
    desc.points = points.at, desc.point_count = points.count;
    memcpy(desc.points_origin, (double[3]){x[3 * far] - .1, x[3 * far + 1], 1.5},
           sizeof desc.points_origin);
    desc.velocity[2] = -4;
    desc.material.density = 4000;
    desc.cluster.count = 8;
    CHECK_OK(pliant_body_create(b.scene, &desc, &ball));
    scene_points_free(&points);
    CHECK(body->fracture->pieces[hit].asleep);
    for (int frame = 0; frame < 20 && body->fracture->pieces[hit].asleep; ++frame)
        play(&b, 1);
    CHECK(!body->fracture->pieces[hit].asleep && body->fracture->pieces[hit].clusters);
    REQUIRE(till_they_sleep(&b));
    double wind[3] = {0, 0, -9};
    CHECK_OK(pliant_scene_set_gravity(b.scene, wind));
    CHECK(sleepers(&b) == 0);
    breaking_free(&b);
    free(x);
    free(piece);
}

/* State hash of a shot in which pieces fall asleep, with a save and a restore in between. */
static uint64_t hash_of(uint32_t threads, uint32_t simd, int saved)
{
    breaking b = snapped(threads, simd);
    for (int frame = 0; frame < 90; frame += 15)
    {
        play(&b, 15);
        if (frame == saved)
            b.body = world_renew(b.scene);
    }
    CHECK_MSG(sleepers(&b) > 0, "none of %u pieces sleeps after 90 frames",
              breaking_info(&b).pieces);
    uint64_t hash = world_hash(b.scene);
    breaking_free(&b);
    return hash;
}

TEST(sleeping_pieces_are_the_same_with_threads_on_other_paths_and_restored)
{
    uint64_t expected = hash_of(1, PLIANT_SIMD_AUTO, -1);
    CHECK(hash_of(3, PLIANT_SIMD_AUTO, -1) == expected);
    if (!test_quick())
        CHECK(hash_of(1, PLIANT_SIMD_SCALAR, -1) == expected);
    for (int saved = test_quick() ? 60 : 0; saved < 90; saved += 30)
        CHECK_MSG(hash_of(1, PLIANT_SIMD_AUTO, saved) == expected, "saved after %d frames",
                  saved + 15);
}
