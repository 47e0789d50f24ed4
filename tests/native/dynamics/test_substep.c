// SPDX-License-Identifier: GPL-3.0-or-later
/* The step: momentum, energy, rigid motions, bits. */
#include "native/support/test.h"

#include <base/cpu.h>
#include <base/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A jittered grid of n^3 points in a cube of side 1. The caller frees it. */
static float* cube_points(uint32_t n, uint32_t seed)
{
    pl_rng rng = pl_rng_seed(seed);
    float* points = malloc((size_t)n * n * n * 12);
    for (uint32_t i = 0; i < n * n * n; ++i)
    {
        uint32_t at[3] = {i % n, i / n % n, i / n / n};
        for (int k = 0; k < 3; ++k)
            points[3 * i + k] = (float)((at[k] + .3 + .4 * pl_rng_unit(&rng)) / n);
    }
    return points;
}

typedef struct setup
{
    uint32_t n, threads, simd, clusters, levels, level_kind, goal, rotation;
    uint32_t kernel, algorithm, strain_iterations, stiffness_kind, damping_per_step;
    double alpha, damping, strain_limit, gravity, offset, radius;
} setup;

static setup defaults(void)
{
    return (setup){.n = 11,
                   .threads = 1,
                   .clusters = 40,
                   .levels = 1,
                   .strain_iterations = 4,
                   .alpha = .5,
                   .stiffness_kind = PLIANT_STIFFNESS_ALPHA};
}

static bool make(const setup* s, pliant_scene* scene, pliant_body* body)
{
    pliant_scene_desc sd;
    pliant_body_desc bd;
    pliant_scene_desc_init(&sd, sizeof sd);
    sd.threads = s->threads;
    sd.simd = s->simd;
    sd.gravity[2] = s->gravity;
    float* points = cube_points(s->n, 1);
    pliant_body_desc_init(&bd, sizeof bd);
    bd.points = points;
    bd.point_count = s->n * s->n * s->n;
    for (int k = 0; k < 3; ++k)
        bd.points_origin[k] = s->offset;
    bd.cluster.count = s->clusters;
    bd.cluster.radius = s->radius;
    bd.cluster.kernel = s->kernel;
    bd.cluster.algorithm = s->algorithm;
    bd.levels.count = s->levels;
    bd.levels.kind = s->level_kind;
    bd.material.stiffness_kind = s->stiffness_kind;
    bd.material.stiffness = s->alpha;
    bd.material.damping = s->damping;
    bd.material.damping_per_step = s->damping_per_step;
    bd.material.strain_limit = s->strain_limit;
    bd.material.strain_iterations = s->strain_iterations;
    bd.material.goal = s->goal;
    bd.material.rotation = s->rotation;
    int status = (int)pliant_scene_create(&sd, scene);
    if (!status)
        status = (int)pliant_body_create(*scene, &bd, body);
    free(points);
    if (status)
        test_failed(__FILE__, __LINE__, "set-up gave %d: %s", status, pliant_last_error());
    return status == 0;
}

/* Stretches along x, shears, and gives every particle a velocity that also spins the body. */
static void disturb(pliant_body body, uint32_t count, double stretch, double offset)
{
    uint64_t bytes = (uint64_t)count * 12;
    float *x = malloc(bytes), *v = malloc(bytes);
    double origin[3] = {offset, offset, offset};
    pl_rng rng = pl_rng_seed(9);
    pliant_body_read(body, PLIANT_POSITION, 0, origin, x, &bytes);
    for (uint32_t i = 0; i < count; ++i)
    {
        float p[3] = {x[3 * i] - .5f, x[3 * i + 1] - .5f, x[3 * i + 2] - .5f};
        x[3 * i] = (float)(.5 + stretch * p[0] + .1 * p[1]);
        v[3 * i] = -p[1] * 2 + (float)(.3 * (pl_rng_unit(&rng) - .5));
        v[3 * i + 1] = p[0] * 2 + .1f + (float)(.3 * (pl_rng_unit(&rng) - .5));
        v[3 * i + 2] = p[0] + (float)(.3 * (pl_rng_unit(&rng) - .5));
    }
    pliant_body_set_particles(body, count, origin, x, v);
    free(x);
    free(v);
}

static pliant_body_info info_of(pliant_body body)
{
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    pliant_body_get_info(body, &info);
    return info;
}

static pliant_status advance(pliant_scene scene, double dt, uint32_t substeps)
{
    pliant_frame_desc fd;
    pliant_frame_desc_init(&fd, sizeof fd);
    fd.dt = dt;
    fd.substeps = substeps;
    return pliant_scene_advance(scene, &fd);
}

static uint64_t hash_of(pliant_scene scene)
{
    uint64_t hash = 0;
    CHECK_OK(pliant_scene_hash(scene, &hash));
    return hash;
}

static void check_momentum(setup s, const char* what)
{
    pliant_scene scene;
    pliant_body body;
    if (!make(&s, &scene, &body))
        return;
    uint32_t count = s.n * s.n * s.n;
    disturb(body, count, 1.3, s.offset);
    pliant_body_info before = info_of(body);
    double scale = 0, early = 0, late = 0;
    /* sum m |x| |v| about the centre of mass */
    uint64_t bytes = (uint64_t)count * 12;
    float *x = malloc(bytes), *v = malloc(bytes);
    pliant_body_read(body, PLIANT_POSITION, 0, before.centre, x, &bytes);
    pliant_body_read(body, PLIANT_VELOCITY, 0, NULL, v, &bytes);
    for (uint32_t i = 0; i < count; ++i)
        scale += before.mass / count *
                 sqrt((double)x[3 * i] * x[3 * i] + (double)x[3 * i + 1] * x[3 * i + 1] +
                      (double)x[3 * i + 2] * x[3 * i + 2]) *
                 sqrt((double)v[3 * i] * v[3 * i] + (double)v[3 * i + 1] * v[3 * i + 1] +
                      (double)v[3 * i + 2] * v[3 * i + 2]);
    free(x);
    free(v);
    double worst = 0, worst_linear = 0;
    const int steps = test_quick() ? 600 : 3000;
    for (int step = 0; step < steps; ++step)
    {
        pliant_status status = advance(scene, 1.0 / 60, 1);
        if (status)
        {
            test_failed(__FILE__, __LINE__, "%s: step %d gave %s", what, step, pliant_last_error());
            break;
        }
        if (step % 10 && step >= 100)
            continue;
        pliant_body_info now = info_of(body);
        for (int k = 0; k < 3; ++k)
        {
            worst_linear = fmax(worst_linear, fabs(now.momentum[k] - before.momentum[k]));
            worst = fmax(worst, fabs(now.angular_momentum[k] - before.angular_momentum[k]));
        }
        if (step < 100)
            early += now.kinetic_energy / 100;
        else if (step >= steps / 3 * 2) /* one in ten is sampled */
            late += now.kinetic_energy / (steps / 30.0);
    }
    pliant_body_info after = info_of(body);
    CHECK_MSG(worst_linear < 1e-4 * scale, "%s: linear momentum is off by %.2e", what,
              worst_linear / scale);
    CHECK_MSG(worst < 1e-4 * scale, "%s: angular momentum is off by %.2e", what, worst / scale);
    CHECK_MSG(late < 2 * early, "%s: energy grew %.3f times", what, late / early);
    if (s.goal == PLIANT_GOAL_RIGID && s.strain_limit == 0)
        CHECK_MSG(late > .5 * early, "%s: energy fell to %.3f", what, late / early);
    CHECK(after.mass_quanta == before.mass_quanta);
    pliant_scene_destroy(scene);
}

TEST_SLOW(momentum_of_a_free_body_is_kept)
{
    static const double alphas[] = {.5, 1, 1.9};
    for (int a = 0; a < 3; ++a)
        for (int limit = 0; limit < 2; ++limit)
            for (uint32_t goal = 0; goal < 3; ++goal)
            {
                setup s = defaults();
                char what[100];
                s.alpha = alphas[a];
                s.strain_limit = limit ? .1 : 0;
                s.goal = goal;
                snprintf(what, sizeof what, "alpha %g, limit %g, goal %u", s.alpha, s.strain_limit,
                         goal);
                check_momentum(s, what);
            }
}

TEST(momentum_is_kept_with_levels)
{
    for (uint32_t kind = 0; kind < 2; ++kind)
    {
        setup s = defaults();
        s.levels = 3;
        s.level_kind = kind;
        s.alpha = 1;
        check_momentum(s, kind ? "independent levels" : "nested levels");
    }
}

TEST(bits_do_not_depend_on_threads_or_simd)
{
    uint64_t expected = 0;
    static const uint32_t threads[] = {1, 2, 3, 8};
    for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
    {
        if (!pl_cpu_has(simd))
        {
            test_skip_part("no %s path", pl_cpu_path_name(simd));
            continue;
        }
        for (int t = 0; t < 4; t += test_quick() ? 2 : 1)
        {
            setup s = defaults();
            pliant_scene scene;
            pliant_body body;
            s.threads = threads[t];
            s.simd = simd;
            s.levels = 3;
            s.strain_limit = .05;
            s.damping = 2;
            s.gravity = -9.81;
            if (!make(&s, &scene, &body))
                return;
            disturb(body, s.n * s.n * s.n, 1.5, 0);
            for (int f = 0; f < 20; ++f)
                CHECK_OK(advance(scene, 1.0 / 30, 3));
            uint64_t hash = hash_of(scene);
            expected = expected ? expected : hash;
            CHECK_MSG(hash == expected, "%s with %u threads differs", pl_cpu_path_name(simd),
                      threads[t]);
            pliant_scene_destroy(scene);
        }
    }
}

TEST(a_spinning_body_keeps_its_spin_under_damping)
{
    setup s = defaults();
    pliant_scene scene;
    pliant_body body;
    s.damping = 5;
    if (!make(&s, &scene, &body))
        return;
    disturb(body, s.n * s.n * s.n, 1.2, 0);
    pliant_body_info before = info_of(body);
    for (int f = 0; f < 300; ++f)
        CHECK_OK(advance(scene, 1.0 / 60, 1));
    pliant_body_info after = info_of(body);
    double spin = sqrt(pow(before.angular_momentum[0], 2) + pow(before.angular_momentum[1], 2) +
                       pow(before.angular_momentum[2], 2));
    for (int k = 0; k < 3; ++k)
        CHECK_NEAR(after.angular_momentum[k], before.angular_momentum[k], 1e-4 * spin);
    pliant_scene_destroy(scene);
}
