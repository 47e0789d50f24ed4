// SPDX-License-Identifier: GPL-3.0-or-later
/* Plastic bodies: bars that are pulled, blocks that are dented. */
#include "native/support/test.h"
#include "native/support/world.h"

#include <base/cpu.h>
#include <scenes/bars.h>
#include <scenes/points.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ a bar between two grips */

enum
{
    LONG = 20,
    WIDE = 5,
    BAR_POINTS = LONG * WIDE * WIDE
};

typedef struct bar
{
    pliant_scene_desc scene_desc;
    pliant_body_desc desc;
    scene_points points;
    uint32_t substeps; /* of a frame of 1/24 s; 0: automatic */
    pliant_scene scene;
    pliant_body body;
} bar;

/* Two long, half a unit thick, along x. */
static bar bar_of(double yield)
{
    bar b = {.points = scene_points_box(LONG, WIDE, WIDE, 2, .5, .5, .2, 1)};
    pliant_scene_desc_init(&b.scene_desc, sizeof b.scene_desc);
    pliant_body_desc_init(&b.desc, sizeof b.desc);
    b.scene_desc.gravity[2] = 0;
    b.scene_desc.threads = 1;
    b.desc.point_count = b.points.count;
    b.desc.points = b.points.at;
    b.desc.cluster.count = 40;
    b.desc.material.damping = 5;
    b.desc.material.yield = yield;
    return b;
}

static bool bar_make(bar* b)
{
    CHECK_OK(pliant_scene_create(&b->scene_desc, &b->scene));
    pliant_status status = pliant_body_create(b->scene, &b->desc, &b->body);
    CHECK_MSG(status == PLIANT_OK, "%s", pliant_last_error());
    return status == PLIANT_OK;
}

static void bar_free(bar* b)
{
    pliant_scene_destroy(b->scene);
    scene_points_free(&b->points);
}

static void bar_advance(bar* b, int frames)
{
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = b->substeps;
    for (int f = 0; f < frames; ++f)
        CHECK_OK(pliant_scene_advance(b->scene, &frame));
}

static bool gripped(const bar* b, uint32_t i)
{
    return fabsf(b->points.at[3 * (size_t)i]) > .85f;
}

/* Holds both ends and moves them apart until the bar is "times" as long. */
static void bar_pull(bar* b, double times, int frames)
{
    static const double zero[3] = {0, 0, 0};
    float pins[BAR_POINTS], target[3 * BAR_POINTS];
    for (uint32_t i = 0; i < BAR_POINTS; ++i)
        pins[i] = gripped(b, i) ? PLIANT_PIN_HELD : 0;
    CHECK_OK(pliant_body_set_pins(b->body, BAR_POINTS, pins));
    for (int f = 1; f <= frames; ++f)
    {
        memcpy(target, b->points.at, sizeof target);
        for (uint32_t i = 0; i < BAR_POINTS; ++i)
            target[3 * i] += (target[3 * i] > 0 ? 1 : -1) * (float)((times - 1) * f / frames);
        CHECK_OK(pliant_body_set_pin_targets(b->body, BAR_POINTS, zero, target));
        bar_advance(b, 1);
    }
}

static void bar_release(bar* b)
{
    CHECK_OK(pliant_body_set_pins(b->body, 0, NULL));
}

/* Distance between the centres of the ends, over the same at rest. */
static double bar_length(const bar* b)
{
    uint32_t count = 0;
    float* x = scene_read_floats(b->body, PLIANT_POSITION, 0, NULL, &count);
    double end[2][3] = {{0}}, rest[2] = {0}, n[2] = {0};
    for (uint32_t i = 0; x && i < BAR_POINTS; ++i)
        if (gripped(b, i))
        {
            int side = b->points.at[3 * (size_t)i] > 0;
            n[side] += 1;
            rest[side] += b->points.at[3 * (size_t)i];
            for (int k = 0; k < 3; ++k)
                end[side][k] += x[3 * (size_t)i + k];
        }
    double square = 0;
    for (int k = 0; k < 3; ++k)
        square += pow(end[1][k] / n[1] - end[0][k] / n[0], 2);
    free(x);
    return sqrt(square) / (rest[1] / n[1] - rest[0] / n[0]);
}

typedef struct flow_figures
{
    double det_error, strain_mean, strain_most, size_most;
} flow_figures;

/* |F - rotation| cannot be read off directly; |s - 1|^2 = |F|^2 - 2 sum s + 3, and for det 1 sum s
 * is the largest root of a quartic, found here by bisection from the invariants. */
static double stretch_size(const float f[9])
{
    double i1 = 0, c2 = 0, j = 0;
    for (int k = 0; k < 9; ++k)
        i1 += (double)f[k] * f[k];
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
        {
            int a = (r + 1) % 3, b = (r + 2) % 3, d = (c + 1) % 3, e = (c + 2) % 3;
            double minor =
                (double)f[3 * a + d] * f[3 * b + e] - (double)f[3 * a + e] * f[3 * b + d];
            c2 += minor * minor;
            if (r == 0)
                j += f[c] * minor;
        }
    double low = sqrt(i1), high = sqrt(3 * i1);
    for (int n = 0; n < 60; ++n)
    {
        double l = (low + high) / 2, d = l * l - i1;
        if (d * d - 4 * c2 - 8 * j * l > 0)
            high = l;
        else
            low = l;
    }
    return sqrt(fmax(0, i1 - 2 * low + 3));
}

static double det33(const float* f)
{
    return f[0] * ((double)f[4] * f[8] - (double)f[5] * f[7]) -
           f[1] * ((double)f[3] * f[8] - (double)f[5] * f[6]) +
           f[2] * ((double)f[3] * f[7] - (double)f[4] * f[6]);
}

/* |s - 1| of F^e = F (F^p)^-1, normalised to det 1. */
static double elastic_size(const float f[9], const float fp[9])
{
    double inverse[9], det = det33(fp);
    float fe[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
        {
            int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            inverse[3 * i + j] =
                ((double)fp[3 * a + c] * fp[3 * b + d] - (double)fp[3 * a + d] * fp[3 * b + c]) /
                det;
        }
    double scale = cbrt(det33(f) / det);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            fe[3 * i + j] = (float)((f[3 * i] * inverse[j] + f[3 * i + 1] * inverse[3 + j] +
                                     f[3 * i + 2] * inverse[6 + j]) /
                                    scale);
    return stretch_size(fe);
}

static flow_figures figures_of(pliant_body body)
{
    flow_figures out = {0};
    uint32_t count = 0;
    float* p = scene_read_floats(body, PLIANT_CLUSTER_PLASTIC, 0, NULL, &count);
    for (uint32_t c = 0; c < count / 10; ++c)
    {
        const float* fp = p + 10 * (size_t)c;
        out.det_error = fmax(out.det_error, fabs(det33(fp) - 1));
        out.strain_mean += fp[9] * 10 / count;
        out.strain_most = fmax(out.strain_most, fp[9]);
        out.size_most = fmax(out.size_most, stretch_size(fp));
    }
    free(p);
    return out;
}

/* Pulled to "times" its length within a second, held for one second, released for three. */
static double pulled_and_released(bar* b, double times)
{
    if (!bar_make(b))
        return 0;
    bar_pull(b, times, 24);
    bar_advance(b, 24);
    bar_release(b);
    bar_advance(b, 72);
    return bar_length(b);
}

/* ------------------------------------------------------------------ what it keeps */

TEST(a_bar_keeps_what_it_was_pulled_to_less_its_yield)
{
    static const double yields[] = {INFINITY, .3, .1, 0};
    double before = .9;
    for (int i = 0; i < 4; ++i)
    {
        bar b = bar_of(yields[i]);
        double length = pulled_and_released(&b, 1.5);
        CHECK_MSG(length > before + .01, "yield %g: %.3f of its length, after %.3f", yields[i],
                  length, before);
        before = length;
        if (yields[i] == 0)
            CHECK_MSG(fabs(length - 1.5) < .08, "yield 0: %.3f where 1.5 was pulled", length);
        if (yields[i] == INFINITY)
            CHECK_MSG(fabs(length - 1) < .04, "elastic, but %.3f long", length);
        bar_free(&b);
    }
}

TEST(flow_keeps_the_volume_of_every_cluster)
{
    bar b = bar_of(.05);
    double length = pulled_and_released(&b, 4);
    flow_figures f = figures_of(b.body);
    CHECK_MSG(f.det_error < 1e-5, "det F^p is off by %g", f.det_error);
    CHECK_MSG(length > 3, "pulled to 4 times its length, it is back at %.2f", length);
    CHECK_MSG(f.strain_mean > .5, "plastic strain %.3f", f.strain_mean);
    CHECK(world_finite(b.body));
    bar_free(&b);
}

/* For any rate, only the strain over the yield strain flows: in a bar that is held after pulling,
 * the elastic strain converges to the yield strain. */
TEST(flow_stops_at_the_yield_strain)
{
    static const double flows[] = {5, 50, 1e5};
    for (int i = 0; i < 3; ++i)
    {
        bar b = bar_of(.15);
        b.desc.material.flow = flows[i];
        if (!bar_make(&b))
            return;
        bar_pull(&b, 1.5, 24);
        bar_advance(&b, 72);
        uint32_t count = 0, middle = 0;
        float* p = scene_read_floats(b.body, PLIANT_CLUSTER_PLASTIC, 0, NULL, &count);
        float* f = scene_read_floats(b.body, PLIANT_CLUSTER_GRADIENT, 0, NULL, &count);
        float* at = scene_read_floats(b.body, PLIANT_CLUSTER_REST, 0, NULL, &count);
        for (uint32_t c = 0; c < count / 3; ++c)
        {
            if (fabsf(at[3 * c]) > .4f)
                continue; /* near the grips the strain is not that of a bar */
            double size = elastic_size(f + 9 * (size_t)c, p + 10 * (size_t)c);
            CHECK_MSG(size > .9 * .15 && size < 1.05 * .15,
                      "flow %g: elastic strain %.3f where it yields at .15", flows[i], size);
            ++middle;
        }
        CHECK(middle > 4);
        free(p);
        free(f);
        free(at);
        bar_free(&b);
    }
}

/* A bar that softens necks: some of it flows far more than the rest. */
TEST(hardening_holds_flow_back_and_softening_makes_a_neck)
{
    static const double hardening[] = {.5, 0, -.3};
    flow_figures before = {0};
    for (int i = 0; i < 3; ++i)
    {
        bar b = bar_of(.1);
        b.desc.material.hardening = hardening[i];
        if (!bar_make(&b))
            return;
        bar_pull(&b, 1.5, 24);
        bar_advance(&b, 24);
        flow_figures f = figures_of(b.body);
        CHECK_MSG(f.strain_mean > before.strain_mean,
                  "hardening %g: plastic strain %.3f, after %.3f", hardening[i], f.strain_mean,
                  before.strain_mean);
        CHECK_MSG(hardening[i] >= 0 || f.strain_most > 1.3 * before.strain_most,
                  "softening: plastic strain %.3f at most, after %.3f", f.strain_most,
                  before.strain_most);
        before = f;
        bar_free(&b);
    }
}

TEST(plastic_strain_can_be_limited)
{
    bar b = bar_of(.05);
    b.desc.material.plastic_limit = .2;
    if (!bar_make(&b))
        return;
    bar_pull(&b, 2, 24);
    bar_advance(&b, 24);
    flow_figures f = figures_of(b.body);
    CHECK_MSG(f.size_most < .2 * 1.001 && f.size_most > .2 * .999,
              "the largest plastic strain is %.4f", f.size_most);
    bar_free(&b);
}

/* ------------------------------------------------------------------ what does not flow */

TEST(without_strain_over_the_yield_bits_are_those_of_an_elastic_body)
{
    uint64_t hash[2];
    for (int i = 0; i < 2; ++i)
    {
        bar b = bar_of(i ? 1e9 : INFINITY);
        b.desc.material.strain_limit = .1;
        b.desc.levels.count = 2;
        if (!bar_make(&b))
            return;
        bar_pull(&b, 1.5, 12);
        bar_release(&b);
        bar_advance(&b, 12);
        hash[i] = world_hash(b.scene);
        bar_free(&b);
    }
    CHECK(hash[0] == hash[1]);
}

/* With the total stretch, as printed, rotation alone would harden. */
TEST(turning_is_not_strain)
{
    bar b = bar_of(.02);
    b.desc.angular_velocity[2] = .3;
    b.desc.angular_velocity[1] = .2;
    if (!bar_make(&b))
        return;
    bar_advance(&b, 120);
    flow_figures f = figures_of(b.body);
    CHECK_MSG(f.strain_most == 0, "plastic strain %g after turning freely", f.strain_most);
    bar_free(&b);
}

TEST(painted_yield_flows_where_it_is_low)
{
    bar b = bar_of(.05);
    float factor[BAR_POINTS];
    for (uint32_t i = 0; i < BAR_POINTS; ++i)
        factor[i] = b.points.at[3 * (size_t)i] > 0 ? 100.f : 1.f;
    b.desc.yield_factor = factor;
    pulled_and_released(&b, 1.4);
    uint32_t count = 0;
    float* strain = scene_read_floats(b.body, PLIANT_PLASTIC_STRAIN, 0, NULL, &count);
    double soft = 0, hard = 0;
    for (uint32_t i = 0; strain && i < BAR_POINTS; ++i)
    {
        soft += b.points.at[3 * (size_t)i] < -.4f ? strain[i] : 0;
        hard += b.points.at[3 * (size_t)i] > .4f ? strain[i] : 0;
    }
    CHECK_MSG(soft > 50 && hard < .01 * soft, "%.2f where it yields, %.2f where not", soft, hard);
    free(strain);
    bar_free(&b);
}

TEST(what_cannot_flow_is_refused_with_a_sentence)
{
    bar b = bar_of(.1);
    CHECK_OK(pliant_scene_create(&b.scene_desc, &b.scene));
    b.desc.material.goal = PLIANT_GOAL_QUADRATIC;
    CHECK(pliant_body_create(b.scene, &b.desc, &b.body) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "quadratic goals cannot flow") != NULL);
    b.desc.material.goal = PLIANT_GOAL_RIGID;
    b.desc.levels.count = 2;
    b.desc.levels.kind = PLIANT_LEVELS_INDEPENDENT;
    CHECK(pliant_body_create(b.scene, &b.desc, &b.body) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "independent levels") != NULL);
    b.desc.material.yield = INFINITY;
    CHECK_OK(pliant_body_create(b.scene, &b.desc, &b.body));
    b.desc.material.yield = .1; /* animated */
    CHECK(pliant_body_set_material(b.body, &b.desc.material) == PLIANT_ERROR_ARGUMENT);
    b.desc.material.yield = NAN;
    CHECK(pliant_body_set_material(b.body, &b.desc.material) == PLIANT_ERROR_ARGUMENT);
    bar_free(&b);
}

/* ------------------------------------------------------------------ momentum and time */

TEST(flow_keeps_momentum)
{
    for (uint32_t levels = 1; levels <= 3; levels += 2)
    {
        bar b = bar_of(.05);
        b.desc.levels.count = levels;
        b.desc.levels.reduction = 4;
        b.desc.velocity[0] = 1;
        b.desc.angular_velocity[2] = 1;
        b.desc.material.damping = 0;
        if (!bar_make(&b))
            return;
        float x[3 * BAR_POINTS];
        for (uint32_t i = 0; i < BAR_POINTS; ++i)
            for (int k = 0; k < 3; ++k)
                x[3 * i + k] = b.points.at[3 * i + k] * (k == 0 ? 1.4f : .9f);
        CHECK_OK(pliant_body_set_particles(b.body, BAR_POINTS, NULL, x, NULL));
        pliant_body_info before, after;
        pliant_body_info_init(&before, sizeof before);
        pliant_body_info_init(&after, sizeof after);
        CHECK_OK(pliant_body_get_info(b.body, &before));
        bar_advance(&b, test_quick() ? 48 : 240);
        CHECK_OK(pliant_body_get_info(b.body, &after));
        CHECK(figures_of(b.body).strain_mean > .01);
        double size = before.mass * 2 * 2;
        for (int k = 0; k < 3; ++k)
        {
            CHECK_NEAR(after.momentum[k], before.momentum[k], 1e-4 * size);
            CHECK_NEAR(after.angular_momentum[k], before.angular_momentum[k], 1e-4 * size);
        }
        CHECK(after.mass_quanta == before.mass_quanta);
        bar_free(&b);
    }
}

/* Yield 0 with a slow rate: creep is proportional to time, for any number of substeps. */
TEST(creep_goes_with_time)
{
    double length[2][2];
    for (int s = 0; s < 2; ++s)
    {
        bar b = bar_of(0);
        b.desc.material.flow = .2;
        b.desc.material.stiffness = 6;
        b.substeps = s ? 24 : 8;
        if (!bar_make(&b))
            return;
        bar_pull(&b, 1, 1); /* grips; one of them pulls */
        float pull[3 * BAR_POINTS] = {0}, pins[BAR_POINTS];
        for (uint32_t i = 0; i < BAR_POINTS; ++i)
        {
            bool end = gripped(&b, i);
            pins[i] = end && b.points.at[3 * i] < 0 ? PLIANT_PIN_HELD : 0;
            pull[3 * i] = end && b.points.at[3 * i] > 0 ? 100.f : 0;
        }
        CHECK_OK(pliant_body_set_pins(b.body, BAR_POINTS, pins));
        CHECK_OK(pliant_body_set_accelerations(b.body, BAR_POINTS, pull));
        bar_advance(&b, 120); /* until oscillations are damped */
        double start = bar_length(&b);
        bar_advance(&b, 48);
        length[s][0] = bar_length(&b) - start;
        bar_advance(&b, 48);
        length[s][1] = bar_length(&b) - start;
        CHECK_MSG(length[s][0] > .005, "it crept by %.4f", length[s][0]);
        CHECK_MSG(fabs(length[s][1] / length[s][0] - 2) < .3, "%.4f in 2 s, %.4f in 4 s",
                  length[s][0], length[s][1]);
        bar_free(&b);
    }
    CHECK_MSG(fabs(length[1][1] / length[0][1] - 1) < .05, "%.4f with 8 substeps, %.4f with 24",
              length[0][1], length[1][1]);
}

/* ------------------------------------------------------------------ a dented block */

enum
{
    SIDE = 14
};

/* Mean height of the top layer's particles between two distances from its middle. */
static double top_of(const bar* b, double nearest, double farthest)
{
    uint32_t count = 0;
    float* x = scene_read_floats(b->body, PLIANT_POSITION, 0, NULL, &count);
    double height = 0, n = 0;
    for (uint32_t i = 0; x && i < b->points.count; ++i)
    {
        const float* r = b->points.at + 3 * (size_t)i;
        double away = hypot(r[0], r[1]);
        if (r[2] > .5 - .5 / SIDE && away >= nearest && away <= farthest)
            height += x[3 * (size_t)i + 2], n += 1;
    }
    free(x);
    return height / n;
}

/* Presses a ball three tenths into a block of edge 1 on the ground, and removes it. Returns the
 * depth of the dent three seconds later. */
static double dent(uint32_t levels, uint32_t substeps, uint32_t seed)
{
    const double edge = 1 + 1. / (SIDE - 1), radius = .3, depth = .3;
    bar b = {.points = scene_points_box(SIDE, SIDE, SIDE, edge, edge, edge, .2, seed),
             .substeps = substeps};
    pliant_collider ball = 0, ground;
    pliant_collider_desc c;
    pliant_scene_desc_init(&b.scene_desc, sizeof b.scene_desc);
    pliant_body_desc_init(&b.desc, sizeof b.desc);
    b.desc.point_count = b.points.count;
    b.desc.points = b.points.at;
    b.desc.cluster.count = 400;
    b.desc.levels.count = levels;
    b.desc.levels.reduction = 3;
    b.desc.material.stiffness = 8;
    b.desc.material.damping = 5;
    b.desc.material.yield = .05;
    if (!bar_make(&b))
        return 0;
    pliant_collider_desc_init(&c, sizeof c);
    c.friction = 1;
    c.pose.position[2] = -.5 - .1 / (SIDE - 1);
    CHECK_OK(pliant_collider_create(b.scene, &c, &ground));
    bar_advance(&b, 12);
    double top = top_of(&b, 0, 1);
    c.friction = .5;
    c.shape = PLIANT_SHAPE_SPHERE;
    c.pose.extent[0] = radius;
    c.pose.position[2] = top + radius;
    CHECK_OK(pliant_collider_create(b.scene, &c, &ball));
    for (int f = 1; f <= 42; ++f) /* down within a second, a pause, and up again */
    {
        double down = f <= 24 ? depth * f / 24 : f <= 30 ? depth : depth - .05 * (f - 30);
        c.pose.position[2] = top + radius - down;
        CHECK_OK(pliant_collider_move(ball, &c.pose));
        bar_advance(&b, 1);
    }
    bar_advance(&b, 72);
    double deep = top_of(&b, .55, 1) - top_of(&b, 0, .12);
    bar_free(&b);
    return deep;
}

TEST_SLOW(a_dent_does_not_know_its_substeps)
{
    double few = dent(1, 8, 2), many = dent(1, 24, 2);
    CHECK_MSG(few > .05, "the dent is %.4f deep", few);
    CHECK_MSG(fabs(few / many - 1) < .05, "%.4f with 8 substeps, %.4f with 24", few, many);
}

/* The mean over three samplings, which alone cause differences of that size. */
TEST_SLOW(a_dent_under_six_levels_is_as_deep_as_under_one)
{
    double one = 0, six = 0;
    for (uint32_t seed = 2; seed < 5; ++seed)
    {
        one += dent(1, 0, seed) / 3;
        six += dent(6, 0, seed) / 3;
    }
    CHECK_MSG(one > .05, "the dent is %.4f deep", one);
    CHECK_MSG(fabs(six / one - 1) < .05, "%.4f under six levels, %.4f under one", six, one);
}
