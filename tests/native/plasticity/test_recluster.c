// SPDX-License-Identifier: GPL-3.0-or-later
/* Reclustering: invariants, limits on the flow of rest shapes, and determinism. */
#include "native/support/edit_check.h"
#include "native/support/test.h"
#include "native/support/world.h"

#include <api/api.h>
#include <base/cpu.h>
#include <scenes/bars.h>
#include <scenes/open.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ a beam that is pressed */

typedef struct beam
{
    scene s;
    pliant_scene scene;
    pliant_body body;
} beam;

/* 1,152 particles of the benchmark's beam, in 48 clusters. */
static beam beam_of(double yield)
{
    beam b;
    CHECK(scene_open("plastic-beam", &b.s));
    scene_points_free(&b.s.points);
    scene_use_points(&b.s, scene_points_box(32, 6, 6, 2, .4, .4, .6, 1));
    scene_set_clusters(&b.s, 48, scene_radius(.32, 48, 4), 1);
    b.s.scene.threads = 1;
    b.s.body.material.yield = yield;
    b.s.press = .8;
    return b;
}

static bool beam_make(beam* b)
{
    pliant_status status = scene_create(&b->s, &b->scene, &b->body);
    CHECK_MSG(status == PLIANT_OK, "%s", pliant_last_error());
    return status == PLIANT_OK;
}

static pl_body* beam_inside(const beam* b)
{
    pl_body* body = NULL;
    pl_scene* inside;
    CHECK(pl_get_body(b->body, &body, &inside) == PLIANT_OK);
    return body;
}

static pliant_status beam_step(beam* b)
{
    CHECK_OK(scene_press(&b->s, b->scene, b->body));
    return pliant_scene_advance(b->scene, &b->s.frame);
}

static void beam_advance(beam* b, int steps)
{
    for (int i = 0; i < steps; ++i)
        CHECK_OK(beam_step(b));
}

static void beam_free(beam* b)
{
    CHECK_OK(pliant_scene_destroy(b->scene));
    scene_close(&b->s);
}

static uint64_t events_of(const beam* b)
{
    return beam_inside(b)->recluster_events;
}

static uint32_t count_fading(const pl_body* body, uint8_t which)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        count += body->clusters.fade[c] > 0 && body->clusters.fading[c] == which;
    return count;
}

/* Weights that add up to one for every particle. */
static void check_weights(pliant_body body)
{
    uint32_t count = 0, particles = 0;
    uint64_t bytes;
    uint32_t* particle = world_read(body, PLIANT_MEMBER_PARTICLE, 0, &bytes);
    float* weight = scene_read_floats(body, PLIANT_MEMBER_WEIGHT, 0, NULL, &count);
    free(scene_read_floats(body, PLIANT_MASS, 0, NULL, &particles));
    double* sum = calloc(particles, sizeof *sum);
    for (uint32_t m = 0; m < count; ++m)
        sum[particle[m]] += weight[m];
    for (uint32_t i = 0; i < particles; ++i)
        if (!(fabs(sum[i] - 1) < 1e-5))
        {
            CHECK_MSG(false, "particle %u has weights that sum to %g", i, sum[i]);
            break;
        }
    free(particle);
    free(weight);
    free(sum);
}

/* ------------------------------------------------------------------ what it keeps */

/* Two beams, one with reclustering: they are equal until the first new cluster, and the substep
 * that makes it moves no particle. */
TEST(an_event_leaves_positions_and_velocities_to_the_bit)
{
    beam on = beam_of(0), off = beam_of(0);
    off.s.body.material.recluster = PLIANT_RECLUSTER_OFF;
    if (!beam_make(&on) || !beam_make(&off))
        return;
    int step = 0;
    for (; step < 200 && events_of(&on) == 0; ++step)
    {
        beam_advance(&on, 1);
        beam_advance(&off, 1);
    }
    CHECK_MSG(events_of(&on) > 0 && step > 20, "%d steps", step);
    const pl_body *a = beam_inside(&on), *b = beam_inside(&off);
    for (int k = 0; k < 3; ++k)
    {
        size_t bytes = a->particles.slot_count * sizeof(float);
        CHECK(memcmp(a->particles.x[k], b->particles.x[k], bytes) == 0);
        CHECK(memcmp(a->particles.v[k], b->particles.v[k], bytes) == 0);
    }
    CHECK(count_fading(a, PL_COMES) > 0 && count_fading(a, PL_GOES) > 0);
    beam_free(&on);
    beam_free(&off);
}

/* Against brute force, at every event and between them, also with levels. */
TEST(clusters_that_come_and_go_leave_a_sound_body)
{
    for (uint32_t levels = 1; levels <= 3; levels += 2)
    {
        beam b = beam_of(0);
        b.s.body.levels.count = levels;
        b.s.body.levels.reduction = 4;
        if (!beam_make(&b))
            return;
        pl_body* body = beam_inside(&b);
        uint64_t quanta = check_quanta(body), events = 0, deaths = 0, both = 0;
        for (int step = 0; step < 260; ++step)
        {
            uint32_t before = count_fading(body, PL_GOES), marked;
            beam_advance(&b, 1);
            marked = count_fading(body, PL_GOES);
            bool came = events_of(&b) > events, went = marked < before;
            if (came || went)
                check_body(body);
            events = events_of(&b);
            deaths += went;
            both += came && went;
        }
        check_body(body);
        check_weights(b.body);
        CHECK(check_quanta(body) == quanta && world_finite(b.body));
        CHECK_MSG(events > 40 && deaths > 5, "%u levels: %llu came, in %llu steps some went",
                  levels, (unsigned long long)events, (unsigned long long)deaths);
        CHECK_MSG(both > 0, "%u levels: never did clusters come and go in one step", levels);
        CHECK(body->recluster_updates <= 4 * (uint64_t)(4.2 * 1152));
        beam_free(&b);
    }
}

TEST(reclustering_keeps_momentum)
{
    for (uint32_t levels = 1; levels <= 3; levels += 2)
    {
        beam b = beam_of(.02);
        b.s.body.levels.count = levels;
        b.s.body.levels.reduction = 4;
        b.s.body.material.damping = 0;
        b.s.body.velocity[0] = 1;
        b.s.body.angular_velocity[2] = 1;
        b.s.stretch = 1.8;
        b.s.press = 0;
        b.s.body.material.recluster_condition = 1.3;
        if (!beam_make(&b))
            return;
        pliant_body_info before, after;
        pliant_body_info_init(&before, sizeof before);
        pliant_body_info_init(&after, sizeof after);
        CHECK_OK(pliant_body_get_info(b.body, &before));
        beam_advance(&b, 240);
        CHECK_OK(pliant_body_get_info(b.body, &after));
        CHECK_MSG(after.recluster_events > 10, "%u levels: %llu events", levels,
                  (unsigned long long)after.recluster_events);
        for (int k = 0; k < 3; ++k)
        {
            CHECK_NEAR(after.momentum[k], before.momentum[k], 1e-5 * before.mass);
            CHECK_NEAR(after.angular_momentum[k], before.angular_momentum[k], 1e-5 * before.mass);
        }
        CHECK(after.mass_quanta == before.mass_quanta);
        beam_free(&b);
    }
}

/* The stiffness law: alpha S^2 / (S_body^2 2 (1 - cos ...)) is the same for all clusters, including
 * new ones, so that each has the material's Young's modulus. */
TEST(new_clusters_have_the_materials_stiffness)
{
    beam b = beam_of(0);
    if (!beam_make(&b))
        return;
    beam_advance(&b, 360);
    const pl_body* body = beam_inside(&b);
    const pl_clusters* k = &body->clusters;
    uint32_t anew = 0;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        if (!k->birth[c] || k->fading[c] != PL_STAYS || !(k->mass[c] > 0))
            continue;
        double a[6], trace = 0, square = 0;
        for (int i = 0; i < 6; ++i)
        {
            a[i] = k->arr[c][i] / k->mass[c];
            trace += i < 3 ? a[i] : 0;
            square += (i < 3 ? 1 : 2) * a[i] * a[i];
        }
        double speed2 = k->alpha[c] * square / trace * 60 * 60;
        CHECK_MSG(fabs(speed2 / 9 - 1) < .06, "cluster %u has E / rho %.2f, not 9", c, speed2);
        CHECK(k->own[c] && k->rank[c] == 3);
        ++anew;
    }
    CHECK_MSG(anew > 20, "%u clusters were made anew", anew);
    beam_free(&b);
}

/* ------------------------------------------------------------------ how far it lets it flow */

static double most_condition(beam* b, int steps)
{
    double most = 1;
    for (int step = 0; step < steps; ++step)
    {
        if (beam_step(b) != PLIANT_OK)
            return INFINITY;
        most = fmax(most, scene_worst_condition(b->body));
    }
    return most;
}

/* The paper's two beams, pressed for four seconds and released. */
TEST(rest_shapes_stay_near_to_what_is_set)
{
    static const double yields[] = {0, .1}, presses[] = {.8, 4};
    for (int i = 0; i < 2; ++i)
        for (int off = 0; off < 2; ++off)
        {
            beam b = beam_of(yields[i]);
            b.s.press = presses[i];
            b.s.body.material.recluster = off ? PLIANT_RECLUSTER_OFF : PLIANT_RECLUSTER_ON;
            if (!beam_make(&b))
                return;
            double most = most_condition(&b, 360);
            if (off)
                CHECK_MSG(most > 6, "yield %g, without: %.2f", yields[i], most);
            else
                CHECK_MSG(most < 5, "yield %g: a condition number of %.2f", yields[i], most);
            if (!off)
                CHECK(scene_worst_condition(b.body) < 2.1);
            beam_free(&b);
        }
}

/* ------------------------------------------------------------------ it repeats */

static uint64_t played(uint32_t threads, uint32_t simd, uint32_t levels, int save_at)
{
    beam b = beam_of(0);
    b.s.body.levels.count = levels;
    b.s.body.levels.reduction = 4;
    b.s.scene.threads = threads;
    b.s.scene.simd = simd;
    if (!beam_make(&b))
        return 0;
    for (int step = 0; step < 140; ++step)
    {
        if (step == save_at)
        {
            const pl_body* body = beam_inside(&b);
            CHECK(count_fading(body, PL_COMES) > 0 && count_fading(body, PL_GOES) > 0);
            b.body = world_renew(b.scene);
        }
        beam_advance(&b, 1);
    }
    CHECK(events_of(&b) > 20);
    uint64_t hash = world_hash(b.scene);
    beam_free(&b);
    return hash;
}

TEST(reclustering_is_the_same_for_every_number_of_threads_and_path)
{
    for (uint32_t levels = test_quick() ? 3 : 1; levels <= 3; levels += 2)
    {
        uint64_t expected = played(1, PLIANT_SIMD_AUTO, levels, -1);
        CHECK(played(3, PLIANT_SIMD_AUTO, levels, -1) == expected);
        if (test_quick())
            continue;
        CHECK(played(2, PLIANT_SIMD_AUTO, levels, -1) == expected);
        CHECK(played(8, PLIANT_SIMD_AUTO, levels, -1) == expected);
        for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
            if (pl_cpu_has(simd))
                CHECK_MSG(played(1, simd, levels, -1) == expected, "%s differs",
                          pl_cpu_path_name(simd));
    }
}

TEST(saved_in_the_middle_of_fades_it_goes_on_to_the_same_bits)
{
    for (uint32_t levels = test_quick() ? 3 : 1; levels <= 3; levels += 2)
    {
        uint64_t expected = played(1, PLIANT_SIMD_AUTO, levels, -1);
        for (int step = 96; step < 101; step += test_quick() ? 4 : 1)
            CHECK_MSG(played(1, PLIANT_SIMD_AUTO, levels, step) == expected,
                      "%u levels: saved after step %d it went another way", levels, step);
    }
}

TEST(the_world_that_flows_does_recluster)
{
    pliant_scene made = world_make(WORLD_FLOW);
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    for (int frame = 0; frame < 8; ++frame)
        CHECK_OK(world_frame(WORLD_FLOW, made));
    CHECK_OK(pliant_body_get_info(world_body(made, 0), &info));
    CHECK_MSG(info.recluster_events > 5, "%llu events", (unsigned long long)info.recluster_events);
    CHECK_OK(pliant_scene_destroy(made));
}

/* ------------------------------------------------------------------ settings */

TEST(settings_of_reclustering_are_checked)
{
    beam b = beam_of(0);
    pliant_material_desc* m = &b.s.body.material;
    CHECK_OK(pliant_scene_create(&b.s.scene, &b.scene));
    m->recluster = 3;
    CHECK(pliant_body_create(b.scene, &b.s.body, &b.body) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "recluster is 3") != NULL);
    m->recluster = PLIANT_RECLUSTER_ON;
    m->recluster_condition = 1;
    CHECK(pliant_body_create(b.scene, &b.s.body, &b.body) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "recluster_condition is 1") != NULL);
    m->recluster_condition = 2;
    m->recluster_fade_in = NAN;
    CHECK(pliant_body_create(b.scene, &b.s.body, &b.body) == PLIANT_ERROR_ARGUMENT);
    m->recluster_fade_in = .4;
    m->recluster_fade_out = -1;
    CHECK(pliant_body_create(b.scene, &b.s.body, &b.body) == PLIANT_ERROR_ARGUMENT);
    m->recluster_fade_out = .6;
    m->recluster_least = 101;
    CHECK(pliant_body_create(b.scene, &b.s.body, &b.body) == PLIANT_ERROR_ARGUMENT);
    m->recluster_least = 0;
    CHECK_OK(pliant_body_create(b.scene, &b.s.body, &b.body));
    beam_free(&b);
}

/* Fades in progress finish after reclustering is switched off; a fade time of 0 is allowed. */
TEST(fades_end_when_it_is_switched_off_and_may_take_no_time)
{
    beam b = beam_of(0);
    if (!beam_make(&b))
        return;
    beam_advance(&b, 100);
    pl_body* body = beam_inside(&b);
    CHECK(count_fading(body, PL_COMES) > 0);
    pliant_material_desc material = b.s.body.material;
    material.recluster = PLIANT_RECLUSTER_OFF;
    CHECK_OK(pliant_body_set_material(b.body, &material));
    b.s.press = 0;
    beam_advance(&b, 120);
    CHECK(count_fading(body, PL_COMES) == 0 && count_fading(body, PL_GOES) == 0);
    check_body(body);
    beam_free(&b);

    b = beam_of(0);
    b.s.body.material.recluster_fade_in = b.s.body.material.recluster_fade_out = 0;
    if (!beam_make(&b))
        return;
    beam_advance(&b, 360);
    body = beam_inside(&b);
    check_body(body);
    CHECK(events_of(&b) > 20 && scene_worst_condition(b.body) < 2.1 && world_finite(b.body));
    beam_free(&b);
}

TEST(world_space_reclustering_can_be_had_for_comparison)
{
    beam b = beam_of(0);
    b.s.body.material.recluster = PLIANT_RECLUSTER_WORLD;
    if (!beam_make(&b))
        return;
    beam_advance(&b, 150);
    CHECK(events_of(&b) > 20);
    check_body(beam_inside(&b));
    check_weights(b.body);
    beam_free(&b);
}
