// SPDX-License-Identifier: GPL-3.0-or-later
/* Properties of a step: rigid motions are unchanged, limits hold, one level of several equals one.
 */
#include "native/support/cubes.h"
#include "native/support/test.h"

#include <base/math3.h>
#include <scenes/bars.h>
#include <stdlib.h>
#include <string.h>

/* The largest and the mean distance of the particles from a rotated and translated rest shape. */
static void apart(const cube* c, mat3 turn, vec3 to, double* most, double* mean)
{
    uint32_t count;
    float* x = scene_read_floats(c->body, PLIANT_POSITION, 0, NULL, &count);
    *most = *mean = 0;
    for (uint32_t i = 0; i < count; i += 3)
    {
        vec3 goal = v3_add(m3_mulv(turn, v3_from(c->points.at + i)), to);
        double distance = v3_length(v3_sub(v3_from(x + i), goal));
        *most = fmax(*most, distance);
        *mean += distance * 3 / count;
    }
    free(x);
}

/* A rotated and translated rest shape equals its goals, so nothing moves. */
TEST(rigid_motions_are_left_alone_in_every_goal_mode)
{
    for (uint32_t n = 0; n < 9; ++n)
    {
        static const uint32_t goals[] = {PLIANT_GOAL_RIGID, PLIANT_GOAL_LINEAR,
                                         PLIANT_GOAL_QUADRATIC};
        cube c = cube_new(7, 24);
        c.desc.material.goal = goals[n % 3];
        c.desc.material.stiffness_kind = PLIANT_STIFFNESS_ALPHA;
        c.desc.material.stiffness = 1;
        if (!cube_make(&c))
            return;
        double angle = .9 + n, s = sin(angle), k = cos(angle);
        mat3 about_z = {{{k, -s, 0}, {s, k, 0}, {0, 0, 1}}};
        mat3 about_x = {{{1, 0, 0}, {0, k, -s}, {0, s, k}}};
        mat3 turn = m3_mul(about_x, about_z);
        vec3 to = v3(3, -2, .5 * n);
        float* x = malloc((size_t)c.points.count * 12);
        for (uint32_t i = 0; i < 3 * c.points.count; i += 3)
            v3_store(v3_add(m3_mulv(turn, v3_from(c.points.at + i)), to), x + i);
        CHECK_OK(pliant_body_set_particles(c.body, c.points.count, NULL, x, NULL));
        free(x);
        double most, mean;
        for (int step = 0; step < 5; ++step)
            CHECK_OK(cube_advance(c.scene, 1. / 60, 1));
        apart(&c, turn, to, &most, &mean);
        CHECK_MSG(most < 1e-5, "goal mode %u, motion %u: moved by %g", goals[n % 3], n, most);
        cube_free(&c);
    }
}

/* A soft cube, initially stretched to 1.5: its largest mean distance from rest after the first
 * steps. */
static double swing(double limit, uint64_t* violated)
{
    cube c = cube_new(8, 30);
    c.desc.material.stiffness_kind = PLIANT_STIFFNESS_ALPHA;
    c.desc.material.stiffness = .01;
    c.desc.material.strain_limit = limit;
    c.desc.material.strain_iterations = 8;
    double farthest = 0;
    *violated = 0;
    if (!cube_make(&c))
        return NAN;
    cube_stretch(&c, 1.5);
    for (uint32_t step = 0; step < 90; ++step)
    {
        double most, mean;
        CHECK_OK(cube_advance(c.scene, 1. / 60, 1));
        apart(&c, m3_identity(), v3(0, 0, 0), &most, &mean);
        farthest = step < 20 ? 0 : fmax(farthest, mean);
        pliant_scene_info info;
        pliant_scene_info_init(&info, sizeof info);
        CHECK_OK(pliant_scene_get_info(c.scene, &info));
        *violated += info.pairs_violated;
    }
    cube_free(&c);
    return farthest;
}

TEST(strain_limits_hold_what_would_swing_on)
{
    uint64_t none, some;
    double free_swing = swing(0, &none), held = swing(.05, &some);
    CHECK(none == 0 && some > 1000);
    CHECK_MSG(free_swing > .1, "the cube without limits swings by %g only", free_swing);
    CHECK_MSG(held < .25 * free_swing, "with limits %g, without %g", held, free_swing);
}

/* Eight symmetrically stretched corners: their corrections sum to 0 to the bit, so balancing is
 * empty. They are still applied, each time by omega times the remaining violation. */
TEST(corrections_that_need_no_balance_are_made)
{
    cube c = cube_new(2, 1);
    const double omega = .3, limit = .1 * sqrt(.75);
    for (uint32_t i = 0; i < 24; ++i)
        c.points.at[i] = c.points.at[i] < 0 ? -.5f : .5f;
    c.desc.material.stiffness_kind = PLIANT_STIFFNESS_ALPHA;
    c.desc.material.stiffness = 1e-9;
    c.desc.material.strain_limit = .1;
    c.desc.material.strain_relaxation = omega;
    c.desc.material.strain_iterations = 4;
    REQUIRE(c.points.count == 8 && cube_make(&c));
    cube_stretch(&c, 1.5);
    CHECK_OK(cube_advance(c.scene, 1. / 60, 1));
    uint32_t count;
    float* x = scene_read_floats(c.body, PLIANT_POSITION, 0, NULL, &count);
    double expected = .5 + limit + (.25 - limit) * pow(1 - omega, 4);
    for (uint32_t i = 0; i < 8; ++i)
        CHECK_MSG(fabs(fabs(x[3 * i]) - expected) < 1e-5, "a corner is at %g instead of %g",
                  x[3 * i], expected);
    free(x);
    cube_free(&c);
}

TEST(one_level_is_the_same_nested_or_independent)
{
    uint64_t hash[2] = {0, 1};
    for (uint32_t kind = 0; kind < 2; ++kind)
    {
        cube c = cube_new(8, 30);
        c.desc.levels.count = 1;
        c.desc.levels.kind = kind ? PLIANT_LEVELS_INDEPENDENT : PLIANT_LEVELS_NESTED;
        c.desc.material.strain_limit = .05;
        c.desc.material.damping = 1;
        c.desc.angular_velocity[1] = 2;
        if (!cube_make(&c))
            return;
        cube_stretch(&c, 1.2);
        for (int step = 0; step < 20; ++step)
            CHECK_OK(cube_advance(c.scene, 1. / 60, 1));
        uint32_t count;
        float* x = scene_read_floats(c.body, PLIANT_POSITION, 0, NULL, &count);
        hash[kind] = 14695981039346656037u;
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t bits;
            memcpy(&bits, x + i, sizeof bits);
            hash[kind] = (hash[kind] ^ bits) * 1099511628211u;
        }
        free(x);
        cube_free(&c);
    }
    CHECK(hash[0] == hash[1]);
}
