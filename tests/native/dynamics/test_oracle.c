// SPDX-License-Identifier: GPL-3.0-or-later
/* The library against the oracle, step by step from the same state: every clustering algorithm and
 * kernel, goal, rotation, kind of level, of stiffness and of damping, with strain limits idle and
 * violated. */
#include "native/oracle/oracle.h"
#include "native/support/test.h"
#include "scenes/points.h"

#include <stdlib.h>
#include <string.h>

typedef struct pairing
{
    scene_points points;
    pliant_body_desc body;
    double gravity[3];
    double dt;
    uint32_t substeps;
} pairing;

/* A bar of 1,200 particles, turned so that no axis is special, with 30 clusters. */
static pairing new_pairing(void)
{
    pairing p = {scene_points_box(20, 10, 6, 2, 1, .6, .8, 4), {0}, {1, -2, -9.81}, 1. / 60, 1};
    pliant_body_desc_init(&p.body, sizeof p.body);
    p.body.points = p.points.at;
    p.body.point_count = p.points.count;
    p.body.cluster.count = 30;
    p.body.cluster.radius = .42;
    p.body.cluster.fixed = 1;
    p.body.material.stiffness_kind = PLIANT_STIFFNESS_ALPHA;
    p.body.material.stiffness = .8;
    p.body.material.damping = .1;
    p.body.material.damping_per_step = 1;
    p.body.angular_velocity[0] = 1;
    p.body.angular_velocity[2] = 2;
    for (uint32_t i = 0; i < p.points.count; ++i)
    {
        float *at = p.points.at + 3 * (size_t)i, x = at[0], y = at[1];
        at[0] = .8f * x - .6f * y;
        at[1] = .6f * x + .8f * y;
    }
    return p;
}

/* Stretches, bends and stirs a body. */
static void disturb(pliant_body body, const scene_points* points)
{
    float* state = malloc(6 * points->count * sizeof *state);
    float *x = state, *v = state + 3 * (size_t)points->count;
    REQUIRE(state);
    for (uint32_t i = 0; i < points->count; ++i, x += 3, v += 3)
    {
        const float* r = points->at + 3 * (size_t)i;
        x[0] = 1.06f * r[0] + .03f * sinf(7 * r[1]);
        x[1] = .95f * r[1] + .05f * r[0] * r[0];
        x[2] = r[2] + .04f * sinf(5 * r[0]);
        v[0] = .5f * sinf(9 * r[1]) - r[1];
        v[1] = .5f * sinf(8 * r[2]) + r[0];
        v[2] = .4f * r[0];
    }
    CHECK_OK(pliant_body_set_particles(body, points->count, NULL, state,
                                       state + 3 * (size_t)points->count));
    free(state);
}

/* The largest distances between the two, of positions and, times dt, of velocities. */
static double apart(pliant_body body, const reference* oracle, double dt)
{
    uint64_t bytes = 3 * sizeof(float) * (uint64_t)oracle->particles, same = bytes;
    float *x = malloc(bytes), *v = malloc(bytes);
    double worst = x && v ? 0 : INFINITY;
    CHECK_OK(pliant_body_read(body, PLIANT_POSITION, 0, NULL, x, &bytes));
    CHECK_OK(pliant_body_read(body, PLIANT_VELOCITY, 0, NULL, v, &same));
    for (uint32_t i = 0; i < oracle->particles && worst < 1e30; ++i)
    {
        worst = fmax(worst, v3_length(v3_sub(v3_from(x + 3 * (size_t)i), oracle->x[i])));
        worst = fmax(worst, dt * v3_length(v3_sub(v3_from(v + 3 * (size_t)i), oracle->v[i])));
    }
    free(x);
    free(v);
    return worst;
}

/* Steps both, resets the oracle to the library's state before each step, and compares after it. */
static void compare(const pairing* p, const char* what)
{
    pliant_scene scene = 0;
    pliant_body body = 0;
    pliant_scene_desc scene_desc;
    pliant_frame_desc frame;
    pliant_scene_info info;
    pliant_scene_desc_init(&scene_desc, sizeof scene_desc);
    pliant_frame_desc_init(&frame, sizeof frame);
    pliant_scene_info_init(&info, sizeof info);
    scene_desc.threads = 1;
    memcpy(scene_desc.gravity, p->gravity, sizeof p->gravity);
    frame.dt = p->dt;
    frame.substeps = p->substeps;
    REQUIRE_OK(pliant_scene_create(&scene_desc, &scene));
    CHECK_OK(pliant_body_create(scene, &p->body, &body));
    disturb(body, &p->points);
    reference_settings settings = {.material = p->body.material};
    memcpy(settings.gravity, p->gravity, sizeof p->gravity);
    double worst = 0, moved = 0;
    int64_t miscounted = 0;
    for (int step = 0; step < 8 && body; ++step)
    {
        reference* oracle = reference_from_body(body, NULL, &p->body.levels, &settings);
        if (!oracle)
            break;
        CHECK_OK(pliant_scene_advance(scene, &frame));
        CHECK_OK(pliant_scene_get_info(scene, &info));
        for (uint32_t k = 0; k < p->substeps; ++k)
            reference_step(oracle, p->dt / p->substeps);
        worst = fmax(worst, apart(body, oracle, p->dt));
        moved = fmax(moved, v3_length(v3_sub(oracle->x[0], oracle->old[0])));
        miscounted += llabs((int64_t)info.pairs_violated - (int64_t)oracle->pairs_violated);
        reference_free(oracle);
    }
    CHECK_MSG(worst < 5e-6 && moved > 1e-4, "%s: %g apart, moved by %g", what, worst, moved);
    CHECK_MSG((double)miscounted <= 2e-3 * (double)(1000 + info.pairs_tested),
              "%s: %lld pairs more or fewer are violated", what, (long long)miscounted);
    CHECK_OK(pliant_scene_destroy(scene));
}

TEST(oracle_agrees_for_every_algorithm_and_kernel)
{
    static const char* const kernels[] = {"invsq", "box", "poly6", "blend", "fcm"};
    static const char* const algorithms[] = {"fuzzy", "k-means", "random"};
    pairing p = new_pairing();
    for (uint32_t algorithm = 0; algorithm < 3; ++algorithm)
        for (uint32_t kernel = 0; kernel < 5; ++kernel)
        {
            char what[64];
            snprintf(what, sizeof what, "%s, %s", algorithms[algorithm], kernels[kernel]);
            p.body.cluster.algorithm = algorithm;
            p.body.cluster.kernel = kernel;
            p.body.material.strain_limit = kernel % 2 ? .02 : .5;
            compare(&p, what);
        }
    scene_points_free(&p.points);
}

TEST(oracle_agrees_for_every_goal_rotation_and_limit)
{
    static const char* const goals[] = {"rigid", "linear", "quadratic"};
    pairing p = new_pairing();
    for (uint32_t goal = 0; goal < 3; ++goal)
        for (uint32_t rotation = 0; rotation < 2; ++rotation)
            for (int limit = 0; limit < 3; ++limit)
            {
                static const double limits[] = {0, .2, .01};
                char what[64];
                snprintf(what, sizeof what, "%s, rotation %u, gamma %g", goals[goal], rotation,
                         limits[limit]);
                p.body.material.goal = goal;
                p.body.material.rotation = rotation;
                p.body.material.strain_limit = limits[limit];
                compare(&p, what);
            }
    scene_points_free(&p.points);
}

TEST(oracle_agrees_for_every_kind_of_level)
{
    pairing p = new_pairing();
    p.body.cluster.count = 60;
    p.body.cluster.radius = .35;
    for (uint32_t kind = 0; kind < 2; ++kind)
        for (uint32_t levels = 1; levels <= 3; ++levels)
            for (uint32_t goal = 0; goal < 3; ++goal)
            {
                char what[64];
                snprintf(what, sizeof what, "%u %s levels, goal %u", levels,
                         kind ? "independent" : "nested", goal);
                p.body.levels.kind = kind;
                p.body.levels.count = levels;
                p.body.levels.weighting = PLIANT_WEIGHT_GAUSSIAN;
                p.body.levels.damping[0] = .5;
                p.body.levels.damping[1] = 2;
                p.body.material.goal = goal;
                p.body.material.strain_limit = .05;
                compare(&p, what);
            }
    scene_points_free(&p.points);
}

/* The modulus is corrected for goals that follow strain, and quadratic modes get the material's
 * stiffness. */
TEST(oracle_agrees_for_goals_of_materials)
{
    pairing p = new_pairing();
    p.body.material.stiffness_kind = PLIANT_STIFFNESS_YOUNG;
    p.body.material.stiffness = 2e4;
    for (uint32_t goal = PLIANT_GOAL_LINEAR; goal <= PLIANT_GOAL_QUADRATIC; ++goal)
        for (uint32_t levels = 1; levels <= 2; ++levels)
        {
            char what[64];
            snprintf(what, sizeof what, "goal %u, %u levels", goal, levels);
            p.body.material.goal = goal;
            p.body.material.beta = .3;
            p.body.levels.count = levels;
            compare(&p, what);
        }
    scene_points_free(&p.points);
}

TEST(oracle_agrees_for_every_kind_of_stiffness)
{
    static const double stiffness[] = {1.5, 2e4, 1.2};
    static const char* const kinds[] = {"frequency", "Young's modulus", "alpha"};
    pairing p = new_pairing();
    for (uint32_t kind = 0; kind < 3; ++kind)
        for (uint32_t substeps = 1; substeps <= 4; substeps *= 4)
        {
            char what[64];
            snprintf(what, sizeof what, "%s, %u substeps", kinds[kind], substeps);
            p.body.material.stiffness_kind = kind;
            p.body.material.stiffness = stiffness[kind];
            p.body.material.damping_per_step = 0;
            p.body.material.damping = 3;
            p.body.material.strain_limit = .03;
            p.substeps = substeps;
            compare(&p, what);
        }
    scene_points_free(&p.points);
}
