// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/test.h"
#include "scenes/points.h"

#include <base/core.h>
#include <base/cpu.h>
#include <base/math3.h>
#include <base/rng.h>
#include <stdlib.h>
#include <string.h>

/* A free body of points in a scene without gravity, with quadratic goals and no damping. */
typedef struct world
{
    pliant_scene scene;
    pliant_body body;
    uint32_t count;
    float *rest, *x, *v, *mass;
} world;

typedef struct settings
{
    double alpha, beta, limit;
    uint32_t clusters; /* 0: the library's choice */
    uint32_t rotation, levels, level_kind, simd, threads;
    bool linear; /* linear goals, for comparison */
    bool hertz;  /* alpha is a frequency */
} settings;

static const settings USUAL = {.alpha = 1, .beta = .5};

static pliant_status open_world(world* w, const scene_points* points, const settings* s)
{
    pliant_scene_desc scene;
    pliant_body_desc desc;
    memset(w, 0, sizeof *w);
    pliant_scene_desc_init(&scene, sizeof scene);
    pliant_body_desc_init(&desc, sizeof desc);
    memset(scene.gravity, 0, sizeof scene.gravity);
    scene.threads = s->threads ? s->threads : 1;
    scene.simd = s->simd;
    desc.point_count = points->count;
    desc.points = points->at;
    desc.cluster.count = s->clusters;
    desc.levels.count = s->levels ? s->levels : 1;
    desc.levels.kind = s->level_kind;
    desc.material.goal = s->linear ? PLIANT_GOAL_LINEAR : PLIANT_GOAL_QUADRATIC;
    desc.material.stiffness_kind = s->hertz ? PLIANT_STIFFNESS_FREQUENCY : PLIANT_STIFFNESS_ALPHA;
    desc.material.stiffness = s->alpha;
    desc.material.beta = s->beta;
    desc.material.damping = 0;
    desc.material.rotation = s->rotation;
    desc.material.strain_limit = s->limit;
    PL_TRY(pliant_scene_create(&scene, &w->scene));
    PL_TRY(pliant_body_create(w->scene, &desc, &w->body));
    w->count = points->count;
    w->rest = malloc(sizeof(float) * 3 * w->count);
    w->x = malloc(sizeof(float) * 3 * w->count);
    w->v = malloc(sizeof(float) * 3 * w->count);
    w->mass = malloc(sizeof(float) * w->count);
    uint64_t bytes = sizeof(float) * 3 * w->count;
    PL_TRY(pliant_body_read(w->body, PLIANT_REST, 0, NULL, w->rest, &bytes));
    bytes = sizeof(float) * w->count;
    return pliant_body_read(w->body, PLIANT_MASS, 0, NULL, w->mass, &bytes);
}

static void close_world(world* w)
{
    CHECK_OK(pliant_scene_destroy(w->scene));
    free(w->rest);
    free(w->x);
    free(w->v);
    free(w->mass);
}

static void read_world(world* w)
{
    uint64_t bytes = sizeof(float) * 3 * w->count;
    CHECK_OK(pliant_body_read(w->body, PLIANT_POSITION, 0, NULL, w->x, &bytes));
    CHECK_OK(pliant_body_read(w->body, PLIANT_VELOCITY, 0, NULL, w->v, &bytes));
}

static pliant_status step_world(const world* w, double dt)
{
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.dt = dt;
    frame.substeps = 1;
    return pliant_scene_advance(w->scene, &frame);
}

typedef vec3 (*motion)(vec3 at);

/* Moves the particles by the motion, and stops them. */
static void put(world* w, motion move)
{
    memset(w->v, 0, sizeof(float) * 3 * w->count);
    for (uint32_t i = 0; i < w->count; ++i)
        v3_store(move(v3_from(w->rest + 3 * i)), w->x + 3 * i);
    CHECK_OK(pliant_body_set_particles(w->body, w->count, NULL, w->x, w->v));
}

/* One step from rest with alpha 1: the velocity times dt is goal - x. */
static vec3 goal_of(const world* w, uint32_t i, double dt, const float* before)
{
    return v3_mad(v3_from(before + 3 * i), v3_from(w->v + 3 * i), dt);
}

static vec3 turn(vec3 p)
{
    const double c = cos(2.2), s = sin(2.2);
    p = v3(c * p.x - s * p.y, s * p.x + c * p.y, p.z);
    return v3(p.x + .3, c * p.y - s * p.z - .2, s * p.y + c * p.z);
}

/* ------------------------------------------------------------------ goals */

static scene_points cloud_of(int kind)
{
    scene_points cloud;
    switch (kind)
    {
        case 0:
            return scene_points_box(10, 10, 10, 1, 1, 1, .6, 3);
        case 1: /* flat */
            return scene_points_box(20, 20, 1, 1, 1, 1e-6, .6, 3);
        case 2: /* a curved sheet: z is a quadratic function of x and y */
            cloud = scene_points_box(20, 20, 1, 1, 1, 1e-6, .6, 3);
            for (uint32_t i = 0; i < cloud.count; ++i)
            {
                float *p = cloud.at + 3 * i, x = p[0], y = p[1];
                p[2] = .5f * (x * x + y * y);
            }
            return cloud;
        default: /* five points: no modes at all */
            return scene_points_ball(5, 1, 3);
    }
}

TEST(quadratic_goals_under_rigid_motions_are_the_positions)
{
    for (int kind = 0; kind < 4; ++kind)
        for (uint32_t rotation = 0; rotation < 2; ++rotation)
        {
            scene_points cloud = cloud_of(kind);
            settings s = USUAL;
            s.beta = PLIANT_BETA_MOST;
            s.rotation = rotation;
            s.clusters = kind == 3;
            world w;
            REQUIRE_OK(open_world(&w, &cloud, &s));
            put(&w, turn);
            REQUIRE_OK(step_world(&w, .01));
            read_world(&w);
            double worst = 0;
            for (uint32_t i = 0; i < w.count; ++i)
                worst = fmax(worst, v3_length(v3_from(w.v + 3 * i)) * .01);
            CHECK_MSG(worst < 8e-6, "cloud %d rotation %u: goals miss by %g", kind, rotation,
                      worst);
            close_world(&w);
            scene_points_free(&cloud);
        }
}

/* Bends, twists and stretches by exactly quadratic functions. */
static vec3 bend(vec3 p)
{
    vec3 q = v3(p.x + .2 * p.x * p.y - .1 * p.z * p.z, p.y - .3 * p.x * p.x + .15 * p.y * p.z,
                p.z + .25 * p.x * p.z + .2 * p.x * p.y);
    return turn(q);
}

/* Goals are linear in beta, so those of beta 1 are extrapolated from 0 and the largest allowed
 * value. With beta 1 the goals of a quadratic deformation are the positions, except for the scale
 * that keeps the volume of the linear part and for the torque, which a fit does not have. With beta
 * 0 they are rigid; in between, a blend of both. */
TEST(quadratic_goals_reproduce_bending)
{
    scene_points cloud = scene_points_box(10, 10, 10, 1, 1, 1, .6, 3);
    const double betas[] = {0, .25, PLIANT_BETA_MOST};
    vec3* goals[3];
    double moved = 0, bent = 0, blended = 0;
    for (int b = 0; b < 3; ++b)
    {
        settings s = USUAL;
        s.beta = betas[b];
        s.clusters = 1;
        world w;
        REQUIRE_OK(open_world(&w, &cloud, &s));
        put(&w, bend);
        float* before = malloc(sizeof(float) * 3 * w.count);
        memcpy(before, w.x, sizeof(float) * 3 * w.count);
        REQUIRE_OK(step_world(&w, .01));
        read_world(&w);
        goals[b] = malloc(sizeof(vec3) * w.count);
        for (uint32_t i = 0; i < w.count; ++i)
        {
            goals[b][i] = goal_of(&w, i, .01, before);
            vec3 away = v3_sub(goals[b][i], v3_from(before + 3 * i));
            if (b == 0)
                moved = fmax(moved, v3_length(away));
            if (b < 2)
                continue;
            vec3 more = v3_sub(goals[2][i], goals[0][i]);
            goals[2][i] = v3_mad(goals[0][i], more, 1 / PLIANT_BETA_MOST);
            bent = fmax(bent, v3_length(v3_sub(goals[2][i], v3_from(before + 3 * i))));
        }
        free(before);
        close_world(&w);
    }
    for (uint32_t i = 0; i < cloud.count; ++i)
    {
        vec3 blend = v3_add(v3_scale(goals[0][i], .75), v3_scale(goals[2][i], .25));
        blended = fmax(blended, v3_length(v3_sub(blend, goals[1][i])));
    }
    CHECK_MSG(moved > .1, "rigid goals are only %g from the bent body", moved);
    /* the linear part's volume is 2 % off 1 */
    CHECK_MSG(bent < .02, "quadratic goals miss the bent body by %g", bent);
    CHECK_MSG(blended < 2e-6, "the blend misses by %g", blended);
    for (int b = 0; b < 3; ++b)
        free(goals[b]);
    scene_points_free(&cloud);
}

/* ------------------------------------------------------------------ momentum and energy */

typedef struct motion_sums
{
    vec3 momentum, angular;
    double scale, kinetic; /* sum m |x| |v| */
} motion_sums;

static motion_sums sums_of(const world* w)
{
    motion_sums s = {0};
    vec3 centre = v3(0, 0, 0);
    double mass = 0;
    for (uint32_t i = 0; i < w->count; ++i)
    {
        centre = v3_mad(centre, v3_from(w->x + 3 * i), w->mass[i]);
        mass += w->mass[i];
    }
    centre = v3_scale(centre, 1 / mass);
    for (uint32_t i = 0; i < w->count; ++i)
    {
        vec3 x = v3_sub(v3_from(w->x + 3 * i), centre), v = v3_from(w->v + 3 * i);
        s.momentum = v3_mad(s.momentum, v, w->mass[i]);
        s.angular = v3_mad(s.angular, v3_cross(x, v), w->mass[i]);
        s.scale += w->mass[i] * v3_length(x) * v3_length(v);
        s.kinetic += .5 * w->mass[i] * v3_dot(v, v);
    }
    return s;
}

/* Stretched, bent and spinning. */
static void kick(world* w)
{
    pl_rng rng = pl_rng_seed(17);
    for (uint32_t i = 0; i < w->count; ++i)
    {
        vec3 p = v3_from(w->rest + 3 * i);
        vec3 x = v3(1.2 * p.x + .2 * p.y * p.z, .9 * p.y + .2 * p.x * p.x, p.z - .1 * p.x * p.y);
        vec3 v = v3(-6 * p.y + .3, 6 * p.x + p.z, 2 * p.y * p.x);
        v = v3_add(
            v, v3_scale(v3(pl_rng_unit(&rng) - .5, pl_rng_unit(&rng) - .5, pl_rng_unit(&rng) - .5),
                        .6));
        v3_store(x, w->x + 3 * i);
        v3_store(v, w->v + 3 * i);
    }
    CHECK_OK(pliant_body_set_particles(w->body, w->count, NULL, w->x, w->v));
}

static void check_free_flight(const scene_points* cloud, const settings* s, const char* name)
{
    world w;
    uint32_t steps = test_quick() ? 300 : 3000;
    double first = 0, most = 0, block = 0, scale = 0; /* the mean of sum m |x| |v| */
    REQUIRE_OK(open_world(&w, cloud, s));
    kick(&w);
    read_world(&w);
    motion_sums start = sums_of(&w);
    for (uint32_t n = 1; n <= steps; ++n)
    {
        REQUIRE_OK(step_world(&w, 1.0 / 60));
        read_world(&w);
        motion_sums now = sums_of(&w);
        block += now.kinetic / 100;
        scale += now.scale / steps;
        if (n % 100 == 0)
        {
            first = n == 100 ? block : first;
            most = fmax(most, block);
            block = 0;
        }
    }
    motion_sums end = sums_of(&w);
    double linear = v3_length(v3_sub(end.momentum, start.momentum)) * .5; /* |x| of about .5 */
    double angular = v3_length(v3_sub(end.angular, start.angular));
    CHECK_MSG(linear < 2e-5 * scale, "%s, alpha %g: momentum drifts by %g", name, s->alpha,
              linear / scale);
    CHECK_MSG(angular < 2e-5 * scale, "%s, alpha %g: angular momentum drifts by %g", name, s->alpha,
              angular / scale);
    CHECK_MSG(most < 2 * first, "%s, alpha %g: kinetic energy grows %g times", name, s->alpha,
              most / first);
    close_world(&w);
}

TEST_SLOW(quadratic_goals_keep_momentum_and_energy)
{
    const struct
    {
        const char* name;
        settings s;
    } cases[] = {
        {"gradient", {.alpha = .5, .beta = .5}},
        {"gradient", {.alpha = 1, .beta = .5}},
        {"gradient", {.alpha = 1.9, .beta = .5}},
        {"moment", {.alpha = .5, .beta = .5, .rotation = PLIANT_ROTATION_MOMENT}},
        {"moment", {.alpha = 1.9, .beta = .5, .rotation = PLIANT_ROTATION_MOMENT}},
        {"limited", {.alpha = .5, .beta = .5, .limit = .1}},
        {"limited", {.alpha = 1.9, .beta = .5, .limit = .1}},
        {"beta .9", {.alpha = 1, .beta = .9}},
        {"nested", {.alpha = 1, .beta = .5, .levels = 2}},
        {"independent",
         {.alpha = 1, .beta = .5, .levels = 2, .level_kind = PLIANT_LEVELS_INDEPENDENT}},
    };
    scene_points cloud = scene_points_box(10, 10, 10, 1, 1, 1, .6, 3);
    for (size_t n = 0; n < PL_COUNTOF(cases); ++n)
        check_free_flight(&cloud, &cases[n].s, cases[n].name);
    scene_points_free(&cloud);
}

/* Scaling F to unit volume, instead of the nearest volume-preserving map, made it grow 10,000
 * times.
 */
TEST(linear_goals_keep_energy)
{
    const double alphas[] = {.5, 1, 1.9};
    scene_points cloud = scene_points_box(10, 10, 10, 1, 1, 1, .6, 3);
    for (int a = 0; a < 3; ++a)
    {
        settings s = USUAL;
        s.linear = true;
        s.alpha = alphas[a];
        s.rotation = a == 1 ? PLIANT_ROTATION_MOMENT : PLIANT_ROTATION_GRADIENT;
        check_free_flight(&cloud, &s, "linear");
    }
    scene_points_free(&cloud);
}

/* Modes with the material's stiffness, in solid, flat and curved bodies; at the higher frequency
 * alpha is at its stability limit. */
TEST(goals_of_materials_keep_momentum_and_energy)
{
    for (int kind = 0; kind < 3; ++kind)
    {
        scene_points cloud = cloud_of(kind);
        for (int n = 0; n < 6; ++n)
        {
            settings s = USUAL;
            s.hertz = true;
            s.alpha = n % 2 ? 30 : 2;
            s.beta = n < 4 ? .3 : .8;
            s.linear = n == 4;
            s.rotation = n == 2 ? PLIANT_ROTATION_MOMENT : PLIANT_ROTATION_GRADIENT;
            check_free_flight(&cloud, &s, kind ? "sheet in hertz" : "box in hertz");
        }
        scene_points_free(&cloud);
    }
}

TEST(thin_and_curved_sheets_keep_momentum_and_energy)
{
    for (int kind = 1; kind < 3; ++kind)
        for (int linear = 0; linear < 2; ++linear)
        {
            scene_points cloud = cloud_of(kind);
            settings s = USUAL;
            s.linear = linear;
            check_free_flight(&cloud, &s, kind == 1 ? "sheet" : "curved sheet");
            scene_points_free(&cloud);
        }
}

TEST(quadratic_goals_are_the_same_on_every_path_and_thread_count)
{
    scene_points cloud = scene_points_box(12, 12, 12, 1, 1, 1, .6, 3);
    uint64_t expected = 0;
    for (uint32_t n = 0; n < 7; ++n)
    {
        settings s = USUAL;
        world w;
        s.simd = n < 4 ? PLIANT_SIMD_SCALAR + n : PLIANT_SIMD_AUTO;
        s.threads = n < 4 ? 1 : n - 2;
        pliant_status status = open_world(&w, &cloud, &s);
        if (status == PLIANT_ERROR_UNSUPPORTED)
        {
            test_skip_part("no %s path", pl_cpu_path_name(s.simd));
            continue;
        }
        REQUIRE_OK(status);
        kick(&w);
        uint64_t hash = 0;
        for (int k = 0; k < 20; ++k)
            REQUIRE_OK(step_world(&w, 1.0 / 60));
        REQUIRE_OK(pliant_scene_hash(w.scene, &hash));
        expected = n ? expected : hash;
        CHECK_MSG(hash == expected, "path %u, %u threads differ", s.simd, s.threads);
        close_world(&w);
    }
    scene_points_free(&cloud);
}
