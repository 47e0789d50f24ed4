// SPDX-License-Identifier: GPL-3.0-or-later
/* Bodies that start in equilibrium under gravity. */
#include "native/support/cubes.h"
#include "native/support/test.h"

#include <math.h>
#include <scenes/bars.h>
#include <stdlib.h>
#include <string.h>

enum
{
    POINTS = 24 * 6 * 6
};

typedef struct held_bar
{
    uint32_t clusters, levels, goal, kind;
    double stiffness, beta, gravity;
    bool held, soft; /* pins hold one end; or only pull it */
    bool point;      /* pins hold one particle only, about which the bar swings */
} held_bar;

static const held_bar PLAIN = {
    60, 1, PLIANT_GOAL_RIGID, PLIANT_STIFFNESS_FREQUENCY, 6, .5, 9.81, true, false, false};

/* A bar of length 4 along x, held at one end; gravity across it. */
static cube make_bar(const held_bar* bar)
{
    static float pins[POINTS];
    cube c = cube_new(2, bar->clusters);
    scene_points_free(&c.points);
    c.points = scene_points_box(24, 6, 6, 4, 1, 1, .3, 1);
    c.desc.point_count = POINTS;
    c.desc.points = c.points.at;
    c.desc.levels.count = bar->levels;
    c.desc.material.stiffness_kind = bar->kind;
    c.desc.material.stiffness = bar->stiffness;
    c.desc.material.damping = 3;
    c.desc.material.goal = bar->goal;
    c.desc.material.beta = bar->beta;
    c.scene_desc.gravity[2] = -bar->gravity;
    if (!cube_make(&c))
        return c;
    uint32_t count = 0;
    for (uint32_t i = 0; i < POINTS; ++i)
    {
        bool there = bar->held && c.points.at[3 * i] < -1.7f && !(bar->point && count);
        count += there;
        pins[i] = there ? (bar->soft ? 20 : PLIANT_PIN_HELD) : 0;
    }
    CHECK_OK(pliant_body_set_pins(c.body, POINTS, pins));
    return c;
}

static pliant_frame_desc frame_of(void)
{
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    return frame;
}

static double balanced(const cube* c)
{
    pliant_frame_desc frame = frame_of();
    double share = -1;
    CHECK_OK(pliant_body_balance(c->body, &frame, &share));
    return share;
}

/* The largest displacement of a particle from its initial position over some frames. */
static double most_moved(const cube* c, int frames)
{
    double most = 0;
    pliant_frame_desc frame = frame_of();
    for (int f = 0; f < frames; ++f)
    {
        uint32_t count;
        CHECK_OK(pliant_scene_advance(c->scene, &frame));
        float* x = scene_read_floats(c->body, PLIANT_POSITION, 0, NULL, &count);
        for (uint32_t i = 0; i < count; ++i)
            most = fmax(most, fabs(x[i] - (double)c->points.at[i]));
        free(x);
    }
    return most;
}

static double sag_of(const held_bar* bar, int frames, bool balance, double* share)
{
    cube c = make_bar(bar);
    *share = balance ? balanced(&c) : 0;
    double most = most_moved(&c, frames);
    cube_free(&c);
    return most;
}

static void check_stays(const char* what, const held_bar* bar)
{
    double share, without = sag_of(bar, 24, false, &share), with = sag_of(bar, 24, true, &share);
    CHECK_MSG(with < .02 * without, "%s: sags by %.4f, balanced (%.3f) by %.5f", what, without,
              share, with);
    CHECK_NEAR(share, 1, 1e-12);
}

TEST(held_bars_stay_as_they_were_made)
{
    held_bar bar = PLAIN;
    check_stays("rigid goals", &bar);
    bar.goal = PLIANT_GOAL_LINEAR;
    check_stays("linear goals", &bar);
    bar.beta = .9;
    bar.stiffness = 12;
    check_stays("linear goals, beta .9", &bar);
    bar = PLAIN;
    bar.levels = 3;
    check_stays("three levels", &bar);
    bar = PLAIN;
    bar.kind = PLIANT_STIFFNESS_YOUNG;
    bar.stiffness = 2e6;
    check_stays("pascals", &bar);
}

/* The surface is drawn as modelled, although the rest shape differs. */
TEST(balanced_bodies_are_drawn_as_modelled)
{
    cube c = make_bar(&PLAIN);
    CHECK_NEAR(balanced(&c), 1, 1e-12);
    uint32_t count;
    float* f = scene_read_floats(c.body, PLIANT_DEFORMATION, 0, NULL, &count);
    double most = 0;
    for (uint32_t i = 0; i < count; ++i)
        most = fmax(most, fabs(f[i] - (i % 9 % 4 == 0)));
    free(f);
    CHECK_MSG(most < .02, "a gradient is %.4f from the identity", most);
    cube_free(&c);
}

/* The rest shape differs: without gravity the bar rises. */
TEST(balanced_bars_rise_without_gravity)
{
    const double none[3] = {0, 0, 0};
    double share, sag = sag_of(&PLAIN, 24, false, &share);
    cube c = make_bar(&PLAIN);
    balanced(&c);
    CHECK_OK(pliant_scene_set_gravity(c.scene, none));
    double rise = most_moved(&c, 24);
    CHECK_MSG(rise > .6 * sag && rise < 1.5 * sag, "rises by %.4f, sags by %.4f", rise, sag);
    cube_free(&c);
}

static void check_left_alone(bool point)
{
    held_bar bar = PLAIN;
    bar.held = bar.point = point;
    cube c = make_bar(&bar), other = make_bar(&bar);
    uint64_t hash[2];
    CHECK_NEAR(balanced(&c), 0, 0);
    for (int i = 0; i < 2; ++i)
    {
        CHECK_OK(cube_advance((i ? other : c).scene, 1.0 / 24, 4));
        CHECK_OK(pliant_scene_hash((i ? other : c).scene, &hash[i]));
    }
    CHECK(hash[0] == hash[1]);
    cube_free(&c);
    cube_free(&other);
}

TEST(bodies_that_nothing_holds_are_left_alone)
{
    check_left_alone(false);
    check_left_alone(true);
}

/* Gravity is balanced in part if full balance exceeds the largest strain of a cluster. */
TEST(very_soft_bars_are_balanced_in_part)
{
    held_bar bar = PLAIN;
    bar.stiffness = .7;
    cube c = make_bar(&bar);
    double share = balanced(&c);
    CHECK_MSG(share > .01 && share < .9, "share is %.3f", share);
    CHECK(isfinite(most_moved(&c, 48)));
    cube_free(&c);
}

TEST(pins_that_pull_count_as_supports)
{
    held_bar bar = PLAIN;
    bar.soft = true;
    double share, without = sag_of(&bar, 24, false, &share), with = sag_of(&bar, 24, true, &share);
    CHECK_MSG(with < .35 * without, "sags by %.4f, balanced by %.4f", without, with);
}

TEST(balance_refuses_what_cannot_change_its_rest_shape)
{
    held_bar bar = PLAIN;
    bar.goal = PLIANT_GOAL_QUADRATIC;
    cube c = make_bar(&bar);
    pliant_frame_desc frame = frame_of();
    CHECK(pliant_body_balance(c.body, &frame, NULL) == PLIANT_ERROR_STATE);
    CHECK(pliant_body_balance(0, &frame, NULL) == PLIANT_ERROR_STALE_HANDLE);
    CHECK(pliant_body_balance(c.body, NULL, NULL) == PLIANT_ERROR_ARGUMENT);
    cube_free(&c);
}
