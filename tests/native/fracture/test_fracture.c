// SPDX-License-Identifier: GPL-3.0-or-later
/* Where, when and how bodies break, with regression tests for errors of published code. */
#include "native/support/breaking.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ direction */

/* Turned by 90 degrees about z and stretched along the world's y: at rest that is along x. */
static void turn_and_stretch(float* x, uint32_t count, double stretch)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        float at[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        x[3 * i] = -at[1];
        x[3 * i + 1] = (float)(stretch * at[0]);
    }
}

TEST(a_turned_body_splits_across_the_direction_in_which_it_is_stretched)
{
    breaking b = breaking_ghost(16, 8, 8, 60);
    turn_and_stretch(b.x, b.count, 1.3);
    breaking_place(&b);
    breaking_tough(&b, .1);
    breaking_advance(&b, 1);
    uint32_t splits;
    float* plane = breaking_read(&b, PLIANT_SPLIT_PLANE, 28, &splits);
    uint32_t* clusters = breaking_read(&b, PLIANT_SPLIT_CLUSTER, 8, NULL);
    float* place = breaking_read(&b, PLIANT_CLUSTER_POSITION, 12, NULL);
    CHECK_MSG(splits > 20, "%u splits", splits);
    for (uint32_t i = 0; i < splits; ++i)
    {
        const float *n = plane + 7 * i + 3, *from = place + 3 * clusters[2 * i],
                    *to = place + 3 * clusters[2 * i + 1];
        double apart[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
        double length = sqrt(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]);
        CHECK_MSG(fabs(n[0]) > .99, "split %u is across (%g, %g, %g) at rest", i, n[0], n[1], n[2]);
        CHECK_MSG(fabs(apart[1]) > .8 * length, "split %u parted along (%g, %g, %g)", i, apart[0],
                  apart[1], apart[2]);
    }
    free(plane);
    free(clusters);
    free(place);
    breaking_free(&b);
}

/* A plane in the world maps to the rest shape by the inverse of F, its normal by F^T. With the
 * inverse for the normal the sheared body below is cut at a wrong angle. */
TEST(planes_map_to_the_rest_shape_with_the_transpose)
{
    breaking b = breaking_ghost(12, 12, 8, 1);
    double f[3][3] = {{1.1, .6, 0}, {0, 1, 0}, {0, 0, 1}};
    for (uint32_t i = 0; i < b.count; ++i)
    {
        float at[3] = {b.x[3 * i], b.x[3 * i + 1], b.x[3 * i + 2]};
        for (int k = 0; k < 3; ++k)
            b.x[3 * i + (uint32_t)k] = (float)(f[k][0] * at[0] + f[k][1] * at[1] + f[k][2] * at[2]);
    }
    breaking_place(&b);
    breaking_tough(&b, .1);
    breaking_advance(&b, 1);
    uint32_t splits, floats;
    float* plane = breaking_read(&b, PLIANT_SPLIT_PLANE, 28, &splits);
    uint32_t* piece = breaking_read(&b, PLIANT_PIECE, 4, NULL);
    float* rest = breaking_read(&b, PLIANT_REST, 12, &floats);
    REQUIRE(splits == 1 && floats == b.count);
    /* one cluster: the two pieces are the two sides, at rest as in the world */
    uint32_t wrong = 0, sides[2] = {0, 0};
    for (uint32_t i = 0; i < b.count; ++i)
    {
        double side = 0;
        for (uint32_t k = 0; k < 3; ++k)
            side += plane[3 + k] * (rest[3 * i + k] - plane[k]);
        wrong += (side > 0) != (piece[i] == piece[b.count - 1]);
        ++sides[piece[i] != piece[0]];
    }
    CHECK_MSG(wrong == 0 || wrong == b.count, "%u of %u particles are on the wrong side", wrong,
              b.count);
    CHECK(sides[0] > b.count / 4 && sides[1] > b.count / 4);
    free(plane);
    free(piece);
    free(rest);
    breaking_free(&b);
}

/* ------------------------------------------------------------------ what breaks, and when */

TEST(compression_never_breaks)
{
    breaking b = breaking_ghost(10, 10, 10, 30);
    for (uint32_t i = 0; i < b.count; ++i)
        b.x[3 * i] *= .2f, b.x[3 * i + 1] *= .5f;
    breaking_place(&b);
    breaking_tough(&b, .001);
    breaking_advance(&b, 3);
    CHECK(breaking_info(&b).splits == 0);
    breaking_free(&b);
}

TEST(infinite_toughness_gives_the_bits_of_fracture_off)
{
    uint64_t hash[3];
    for (int kind = 0; kind < 3; ++kind)
    {
        breaking b = breaking_bar(40);
        if (kind)
            breaking_tough(&b, kind == 1 ? INFINITY : .05);
        breaking_pull(&b, 10, .03);
        hash[kind] = world_hash(b.scene);
        CHECK((breaking_info(&b).splits > 0) == (kind == 2));
        breaking_free(&b);
    }
    CHECK(hash[1] == hash[0] && hash[2] != hash[0]);
}

/* A split does not change positions and velocities. */
TEST(splits_keep_mass_places_and_velocities)
{
    breaking whole = breaking_bar(40), b = breaking_bar(40);
    whole.substeps = b.substeps = 1;
    uint64_t quanta = breaking_info(&b).mass_quanta;
    breaking_tough(&b, .05);
    int frame = 0;
    for (; frame < 60 && breaking_info(&b).splits == 0; ++frame)
    {
        breaking_pull(&whole, 1, .03);
        breaking_pull(&b, 1, .03);
    }
    pliant_body_info info = breaking_info(&b);
    REQUIRE(info.splits > 0);
    CHECK(info.mass_quanta == quanta);
    uint32_t more;
    for (uint32_t channel = PLIANT_POSITION; channel <= PLIANT_VELOCITY; ++channel)
    {
        float* expected = breaking_read(&whole, channel, 12, NULL);
        float* is = breaking_read(&b, channel, 12, &more);
        uint32_t* parent = breaking_read(&b, PLIANT_PARENT, 4, NULL);
        CHECK(more > b.count);
        CHECK(memcmp(is, expected, sizeof(float) * 3 * b.count) == 0);
        for (uint32_t i = b.count; i < more; ++i)
            CHECK(parent[i] < i && memcmp(is + 3 * i, is + 3 * parent[i], 12) == 0);
        free(expected);
        free(is);
        free(parent);
    }
    double* birth = breaking_read(&b, PLIANT_BIRTH, 8, NULL);
    double* time = breaking_read(&b, PLIANT_SPLIT_TIME, 8, NULL);
    CHECK(isinf(birth[0]) && birth[0] < 0 && birth[more - 1] == time[info.splits - 1] &&
          birth[more - 1] == frame);
    breaking_pull(&b, 20, .03);
    CHECK(breaking_info(&b).mass_quanta == quanta && breaking_info(&b).pieces > 1);
    free(birth);
    free(time);
    breaking_free(&whole);
    breaking_free(&b);
}

static double stretch_of(const float* f)
{
    return pl_largest_stretch(f);
}

TEST(the_most_overloaded_splits_first)
{
    breaking b = breaking_ghost(30, 6, 6, 40);
    for (uint32_t i = 0; i < b.count; ++i) /* stretch grows along the body, so clusters differ */
        b.x[3 * i] += .08f * (b.x[3 * i] + 2) * (b.x[3 * i] + 2);
    breaking_place(&b);
    float* f = breaking_read(&b, PLIANT_CLUSTER_GRADIENT, 36, NULL);
    breaking_tough(&b, .1);
    breaking_advance(&b, 1);
    uint32_t splits;
    uint32_t* clusters = breaking_read(&b, PLIANT_SPLIT_CLUSTER, 8, &splits);
    CHECK(splits > 10);
    for (uint32_t i = 1; i < splits; ++i)
        CHECK_MSG(stretch_of(f + 9 * clusters[2 * i]) <=
                      stretch_of(f + 9 * clusters[2 * i - 2]) + 1e-5,
                  "cluster %u came before %u", clusters[2 * i - 2], clusters[2 * i]);
    free(clusters);
    breaking_free(&b);
    free(f);
}

TEST(nothing_breaks_before_its_time)
{
    breaking b = breaking_ghost(12, 6, 6, 20);
    for (uint32_t i = 0; i < b.count; ++i)
        b.x[3 * i] *= 1.5f;
    breaking_place(&b);
    b.fracture.first_time = 5.0 / 24;
    breaking_tough(&b, .1);
    breaking_advance(&b, 4);
    CHECK(breaking_info(&b).splits == 0);
    breaking_advance(&b, 1);
    CHECK(breaking_info(&b).splits > 0);
    breaking_free(&b);
}

/* ------------------------------------------------------------------ repeated splits */

static void stretch(breaking* b, double times)
{
    uint32_t count;
    float* x = breaking_read(b, PLIANT_REST, 12, &count);
    for (uint32_t i = 0; i < count; ++i)
        x[3 * i] *= (float)times;
    CHECK_OK(pliant_body_set_particles(b->body, count, NULL, x, NULL));
    free(x);
}

TEST(a_cluster_that_was_split_settles_first)
{
    breaking b = breaking_ghost(16, 6, 6, 1);
    breaking_tough(&b, .1);
    stretch(&b, 1.3);
    breaking_advance(&b, 1);
    CHECK(breaking_info(&b).splits == 1 && breaking_info(&b).pieces == 2);
    breaking_advance(&b, 5);
    CHECK(breaking_info(&b).splits == 1);
    stretch(&b, 1.05);
    breaking_advance(&b, 1);
    stretch(&b, 1.3);
    breaking_advance(&b, 1);
    CHECK(breaking_info(&b).splits == 3 && breaking_info(&b).pieces == 4);
    breaking_free(&b);
}

/* A stretch of twice the toughness breaks when 1 + 3 exp(-2 t) <= 2: after .55 s, 13.2 frames. */
static int frames_till_next(float factor, double times)
{
    breaking b = breaking_ghost(16, 6, 6, 1);
    float* factors = malloc(sizeof *factors * b.count);
    for (uint32_t i = 0; i < b.count; ++i)
        factors[i] = factor;
    CHECK_OK(pliant_body_set_factors(b.body, PLIANT_FACTOR_TOUGHNESS, b.count, factors));
    free(factors);
    b.fracture.settle = 0;
    b.fracture.boost = 3;
    b.fracture.falloff = 2;
    breaking_tough(&b, .1);
    stretch(&b, times);
    breaking_advance(&b, 1);
    CHECK(breaking_info(&b).splits == 1);
    int frames = 0;
    for (; frames < 100 && breaking_info(&b).splits == 1; ++frames)
        breaking_advance(&b, 1);
    breaking_free(&b);
    return frames;
}

TEST(the_boost_multiplies_the_toughness_and_decays)
{
    CHECK(frames_till_next(1, 1.2) == 14);
    CHECK(frames_till_next(.5f, 1.1) == 14);
    CHECK(frames_till_next(2, 1.4) == 14);
    CHECK(frames_till_next(1, 1.39) == 1);
}

/* ------------------------------------------------------------------ where */

TEST(a_painted_weak_line_breaks_there)
{
    breaking b = breaking_bar(40);
    float factors[BREAKING_MOST];
    for (uint32_t i = 0; i < b.count; ++i)
        factors[i] = fabsf(b.points.at[3 * i] - .3f) < .06f ? .2f : 1;
    CHECK_OK(pliant_body_set_factors(b.body, PLIANT_FACTOR_TOUGHNESS, b.count, factors));
    breaking_tough(&b, .12);
    breaking_pull(&b, 30, .02);
    uint32_t splits, count, *piece = breaking_read(&b, PLIANT_PIECE, 4, &count);
    float* plane = breaking_read(&b, PLIANT_SPLIT_PLANE, 28, &splits);
    float* rest = breaking_read(&b, PLIANT_REST, 12, NULL);
    CHECK_MSG(breaking_info(&b).pieces == 2, "%u pieces", breaking_info(&b).pieces);
    for (uint32_t i = 0; i < splits; ++i)
        CHECK_MSG(fabs(plane[7 * i] - .3) < .15, "a split at %g", plane[7 * i]);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < b.count; ++i)
        wrong += fabs(rest[3 * i] - .3) > .15 && (piece[i] == piece[0]) != (rest[3 * i] < .3);
    CHECK_MSG(wrong == 0, "%u particles are on the wrong side", wrong);
    free(piece);
    free(plane);
    free(rest);
    breaking_free(&b);
}

/* ------------------------------------------------------------------ limits and refusals */

TEST(pieces_are_as_many_and_as_large_as_allowed)
{
    breaking b = breaking_bar(40);
    b.fracture.most_pieces = 2;
    breaking_tough(&b, .02);
    breaking_pull(&b, 40, .05);
    CHECK(breaking_info(&b).pieces == 2);
    breaking_free(&b);
    b = breaking_bar(40);
    breaking_tough(&b, .02);
    breaking_pull(&b, 40, .05);
    CHECK(breaking_info(&b).pieces > 3);
    breaking_free(&b);
    b = breaking_bar(40);
    b.fracture.smallest_piece = .3;
    breaking_tough(&b, .02);
    breaking_pull(&b, 40, .05);
    pliant_body_info info = breaking_info(&b);
    uint32_t count, *piece = breaking_read(&b, PLIANT_PIECE, 4, &count);
    uint64_t *quanta = breaking_read(&b, PLIANT_MASS_QUANTA, 8, NULL), sums[8] = {0};
    CHECK_MSG(info.pieces >= 2 && info.pieces_ever <= 3, "%u pieces", info.pieces);
    for (uint32_t i = 0; i < count; ++i)
        sums[piece[i] % 8] += quanta[i];
    for (uint32_t p = 0; p < info.pieces_ever; ++p)
        CHECK_MSG((double)sums[p] > .299 * (double)info.mass_quanta, "piece %u has %g of the mass",
                  p, (double)sums[p] / (double)info.mass_quanta);
    free(piece);
    free(quanta);
    breaking_free(&b);
}

TEST(what_cannot_break_is_refused)
{
    breaking b = breaking_ghost(6, 6, 6, 4);
    pliant_fracture_desc desc = b.fracture;
    desc.toughness = -1;
    CHECK(pliant_body_set_fracture(b.body, &desc) == PLIANT_ERROR_ARGUMENT);
    desc.toughness = NAN;
    CHECK(pliant_body_set_fracture(b.body, &desc) == PLIANT_ERROR_ARGUMENT);
    desc = b.fracture;
    desc.smallest_piece = 2;
    CHECK(pliant_body_set_fracture(b.body, &desc) == PLIANT_ERROR_ARGUMENT);
    desc.size = 3;
    CHECK(pliant_body_set_fracture(b.body, &desc) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_body_set_fracture(b.body, NULL) == PLIANT_ERROR_ARGUMENT);
    CHECK(breaking_info(&b).pieces == 0);
    pliant_body other;
    b.desc.levels.count = 2, b.desc.levels.kind = PLIANT_LEVELS_INDEPENDENT;
    CHECK_OK(pliant_body_create(b.scene, &b.desc, &other));
    CHECK(pliant_body_set_fracture(other, &b.fracture) == PLIANT_ERROR_STATE);
    b.desc.levels.count = 1, b.desc.material.goal = PLIANT_GOAL_QUADRATIC;
    CHECK_OK(pliant_body_create(b.scene, &b.desc, &other));
    CHECK(pliant_body_set_fracture(other, &b.fracture) == PLIANT_ERROR_STATE);
    breaking_free(&b);
}

/* Values per particle may still be given for the initial particles only. */
TEST(copies_take_after_the_particles_that_they_are_copies_of)
{
    breaking b = breaking_bar(40);
    breaking_tough(&b, .05);
    breaking_pull(&b, 30, .03);
    uint32_t count;
    uint32_t* parent = breaking_read(&b, PLIANT_PARENT, 4, &count);
    REQUIRE(count > b.count);
    float* push = calloc(3 * (size_t)count, sizeof *push);
    for (uint32_t i = 0; i < b.count; ++i)
        push[3 * i + 1] = 1 + (float)i;
    CHECK_OK(pliant_body_set_accelerations(b.body, b.count, push));
    CHECK(pliant_body_set_accelerations(b.body, b.count - 1, push) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_body_set_accelerations(b.body, count + 1, push) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_body_set_particles(b.body, b.count, NULL, push, NULL) == PLIANT_ERROR_ARGUMENT);
    const pl_body* inside = breaking_body(&b);
    for (uint32_t i = b.count; i < count; ++i)
    {
        uint32_t first = parent[i];
        while (first >= b.count)
            first = parent[first];
        CHECK(inside->acceleration[1][inside->particles.slot_of[i]] == 1 + (float)first);
    }
    free(push);
    free(parent);
    breaking_free(&b);
}
