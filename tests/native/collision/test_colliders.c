// SPDX-License-Identifier: GPL-3.0-or-later
/* Particles against simple colliders: rest, friction, bounce, no tunnelling, the same bits. */
#include "native/oracle/oracle.h"
#include "native/support/eight.h"
#include "native/support/test.h"

#include <base/core.h>
#include <base/cpu.h>
#include <base/hash.h>
#include <base/math3.h>
#include <base/rng.h>
#include <collision/collider/colliders.h>
#include <string.h>

static const double zero[3] = {0, 0, 0};

/* ------------------------------------------------------------------ helpers */

static pliant_pose pose(double x, double y, double z)
{
    return (pliant_pose){{x, y, z}, {1, 0, 0, 0}, {1, 1, 1}};
}

static pliant_pose turned(pliant_pose p, double ax, double ay, double az, double angle)
{
    vec3 axis = v3_normalised(v3(ax, ay, az));
    double s = sin(angle / 2);
    p.rotation[0] = cos(angle / 2);
    p.rotation[1] = s * axis.x, p.rotation[2] = s * axis.y, p.rotation[3] = s * axis.z;
    return p;
}

static pl_collider collider(uint32_t shape, pliant_pose at)
{
    pl_collider c = {.shape = shape, .friction = 0.5f, .from = at, .to = at};
    return c;
}

static pl_collider_step prepared(const pl_collider* c)
{
    pl_collider_step step;
    pl_collider_prepare(c, zero, 0, 1, &step);
    return step;
}

static uint32_t resolve(const pl_collider_step* steps, uint32_t count, double dt, eight* e)
{
    float* x[3] = {e->x[0], e->x[1], e->x[2]};
    float* v[3] = {e->v[0], e->v[1], e->v[2]};
    return pl_colliders_resolve_for(PLIANT_SIMD_AUTO)(steps, count, (float)dt, 8, e->mass, x, v,
                                                      NULL);
}

static uint32_t fall(const pl_collider_step* steps, uint32_t count, double dt, double gravity,
                     eight* e)
{
    e->v[2][0] -= (float)(gravity * dt);
    for (int k = 0; k < 3; ++k)
        e->x[k][0] += (float)dt * e->v[k][0];
    return resolve(steps, count, dt, e);
}

static vec3 position(const eight* e)
{
    return v3(e->x[0][0], e->x[1][0], e->x[2][0]);
}
static vec3 velocity(const eight* e)
{
    return v3(e->v[0][0], e->v[1][0], e->v[2][0]);
}

static vec3 to_pose(const pliant_pose* p, vec3 x)
{
    vec3 q = v3(p->rotation[1], p->rotation[2], p->rotation[3]);
    vec3 d = v3_sub(x, v3_fromd(p->position));
    vec3 t = v3_scale(v3_cross(q, d), 2);
    return v3_add(v3_mad(d, t, -p->rotation[0]), v3_cross(q, t));
}
static vec3 from_pose(const pliant_pose* p, vec3 local)
{
    vec3 q = v3(p->rotation[1], p->rotation[2], p->rotation[3]);
    vec3 t = v3_scale(v3_cross(q, local), 2);
    return v3_add(v3_fromd(p->position), v3_add(v3_mad(local, t, p->rotation[0]), v3_cross(q, t)));
}

static double unit(pl_rng* rng)
{
    return 2 * pl_rng_unit(rng) - 1;
}
static vec3 random_vector(pl_rng* rng, double size)
{
    double x = unit(rng), y = unit(rng), z = unit(rng);
    return v3(size * x, size * y, size * z);
}
static pliant_pose random_pose(pl_rng* rng, double spread)
{
    vec3 p = random_vector(rng, spread), axis = random_vector(rng, 1);
    return turned(pose(p.x, p.y, p.z), axis.x, axis.y, axis.z, 3 * unit(rng));
}

/* ------------------------------------------------------------------ rest and friction */

TEST(a_particle_falls_and_rests_at_the_thickness_without_jitter)
{
    for (uint32_t shape = PLIANT_SHAPE_PLANE; shape <= PLIANT_SHAPE_CYLINDER; ++shape)
        for (int steps_a_second = 60; steps_a_second <= 960; steps_a_second *= 4)
        {
            pliant_pose p = pose(0.3, -0.2, shape == PLIANT_SHAPE_PLANE ? 0.7 : -0.3);
            if (shape == PLIANT_SHAPE_CAPSULE)
                p.position[2] = -1.3;
            pl_collider c = collider(shape, p);
            c.thickness = 0.05f, c.restitution = 0.4f;
            pl_collider_step step = prepared(&c);
            double dt = 1.0 / steps_a_second;
            eight e = at(0.3, -0.2, 2), still;
            for (int i = 0; i < 6 * steps_a_second; ++i)
                fall(&step, 1, dt, 9.81, &e);
            CHECK_NEAR(e.x[2][0], 0.75, 2e-6);
            still = e;
            for (int i = 0; i < 2 * steps_a_second; ++i)
                CHECK(fall(&step, 1, dt, 9.81, &e) == 1);
            CHECK_MSG(memcmp(&still, &e, sizeof e) == 0, "shape %u moves at rest: %g %g %g", shape,
                      e.x[0][0], e.x[1][0], e.x[2][0]);
            CHECK(v3_length(velocity(&e)) < 1e-7);
        }
}

TEST(friction_holds_below_its_angle_and_slides_above)
{
    const double gravity = 9.81, dt = 1.0 / 240, angle = 0.4;
    for (int box = 0; box <= 1; ++box)
        for (int tenths = 3; tenths <= 6; ++tenths) /* tan(0.4) = 0.4228 */
        {
            double friction = 0.1 * tenths;
            pliant_pose p = turned(pose(0, 0, 0), 0, 1, 0, angle);
            p.extent[0] = p.extent[1] = 50;
            pl_collider c = collider(box ? PLIANT_SHAPE_BOX : PLIANT_SHAPE_PLANE, p);
            c.friction = (float)friction;
            pl_collider_step step = prepared(&c);
            vec3 top = from_pose(&p, v3(0.3, 0.7, box ? 1 : 0));
            eight e = at(top.x, top.y, top.z);
            for (int i = 0; i < 480; ++i)
                fall(&step, 1, dt, gravity, &e);
            vec3 moved = to_pose(&p, position(&e));
            double slope = gravity * (sin(angle) - friction * cos(angle));
            double expected = slope > 0 ? 0.5 * slope * 2 * 2 : 0;
            CHECK_NEAR(moved.x - 0.3, expected, 0.006 * expected + 1e-6);
            CHECK_NEAR(moved.y, 0.7, 1e-6);
            CHECK_NEAR(moved.z, box ? 1 : 0, 2e-5);
        }
}

TEST(a_held_particle_does_not_creep_by_one_bit)
{
    pl_rng rng = pl_rng_seed(3);
    for (int trial = 0; trial < 200; ++trial)
    {
        vec3 axis = random_vector(&rng, 1);
        pliant_pose p = turned(pose(0.1, 0.2, 0.3), axis.x, axis.y, 0, 0.6 * unit(&rng));
        pl_collider c = collider(PLIANT_SHAPE_PLANE, p);
        c.friction = 1, c.thickness = 0.02f;
        pl_collider_step step = prepared(&c);
        vec3 start = from_pose(&p, v3(3 * unit(&rng), 3 * unit(&rng), 0.03));
        eight e = at(start.x, start.y, start.z);
        for (int i = 0; i < 200; ++i)
            fall(&step, 1, 1.0 / 240, 9.81, &e);
        eight still = e;
        for (int i = 0; i < 500; ++i)
            fall(&step, 1, 1.0 / 240, 9.81, &e);
        CHECK_MSG(memcmp(still.x, e.x, sizeof e.x) == 0, "trial %d crept by %g", trial,
                  v3_length(v3_sub(position(&still), position(&e))));
    }
}

TEST(velocities_see_the_contact)
{
    pl_collider c = collider(PLIANT_SHAPE_PLANE, pose(0, 0, 0));
    c.friction = 0.25f;
    pl_collider_step step = prepared(&c);
    eight e = at(0, 0, -0.05);
    e.v[0][0] = 8, e.v[2][0] = -6;
    CHECK(resolve(&step, 1, 0.01, &e) == 1);
    CHECK_NEAR(e.v[2][0], 0, 1e-6);
    CHECK_NEAR(e.v[0][0], 8 - 0.25 * 6, 1e-5);
    CHECK_NEAR(e.x[2][0], 0, 1e-7);
}

/* ------------------------------------------------------------------ bounce */

static double bounce_height(double restitution, double dt, int bounce)
{
    pl_collider c = collider(PLIANT_SHAPE_PLANE, pose(0, 0, 0));
    c.restitution = (float)restitution;
    pl_collider_step step = prepared(&c);
    eight e = at(0, 0, 1);
    double highest = 0;
    for (int seen = 0; seen <= bounce;)
    {
        if (fall(&step, 1, dt, 9.81, &e))
            ++seen;
        if (seen == bounce)
            highest = fmax(highest, e.x[2][0]);
    }
    return highest;
}

TEST(bounces_have_the_height_that_restitution_gives)
{
    for (int k = 0; k < 3; ++k)
    {
        double dt = (const double[]){1.0 / 120, 1.0 / 480, 1.0 / 1920}[k];
        CHECK_NEAR(bounce_height(0.8, dt, 1), 0.64, 5 * dt);
        CHECK_NEAR(bounce_height(0.5, dt, 1), 0.25, 5 * dt);
        /* Ten bounces lose ten times up to one substep's travel, and gain nothing. */
        double height = bounce_height(1, dt, 10);
        CHECK_MSG(height < 1 && height > 1 - 10 * 4.43 * dt, "ten bounces end at %g", height);
    }
}

TEST(bouncing_ends)
{
    pl_collider c = collider(PLIANT_SHAPE_PLANE, pose(0, 0, 0));
    c.restitution = 0.9f;
    pl_collider_step step = prepared(&c);
    for (int k = 0; k < 3; ++k)
    {
        double gravity = (const double[]){1e-3, 9.81, 1e3}[k];
        eight e = at(0, 0, gravity / 10);
        int touching = 0;
        for (int i = 0; i < 24 * 240; ++i)
            touching = fall(&step, 1, 1.0 / 240, gravity, &e) ? touching + 1 : 0;
        CHECK_MSG(touching > 240, "at gravity %g it still bounces, at %g", gravity, e.x[2][0]);
        CHECK(fabs(e.v[2][0]) < 1e-6 * gravity);
    }
}

/* ------------------------------------------------------------------ no tunnelling */

/* Random extents, thin ones among them. */
static void random_extent(pl_rng* rng, double* extent)
{
    for (int i = 0; i < 3; ++i)
        extent[i] = pl_rng_below(rng, 3) ? 0.2 + pl_rng_unit(rng) : 0.002 + 0.01 * pl_rng_unit(rng);
}

TEST(nothing_passes_through_a_shape_however_fast_either_is)
{
    pl_rng rng = pl_rng_seed(11);
    uint32_t touched = 0;
    for (int trial = 0; trial < 20000; ++trial)
    {
        uint32_t shape = PLIANT_SHAPE_SPHERE + pl_rng_below(&rng, 4);
        pliant_pose from = random_pose(&rng, 0.5), to = from;
        random_extent(&rng, from.extent);
        memcpy(to.extent, from.extent, sizeof to.extent);
        bool moves = pl_rng_below(&rng, 2), turns = pl_rng_below(&rng, 4) == 0;
        vec3 shift = random_vector(&rng, moves ? 2 : 0), axis = random_vector(&rng, 1);
        if (turns)
            to = turned(to, axis.x, axis.y, axis.z, 0), from = to,
            to = turned(to, axis.x, axis.y, axis.z, 0.5);
        for (int i = 0; i < 3; ++i)
            to.position[i] += (&shift.x)[i];
        pl_collider c = collider(shape, from);
        c.to = to;
        c.thickness = pl_rng_below(&rng, 2) ? 0.01f : 0;
        c.restitution = pl_rng_below(&rng, 2) ? 0.5f : 0;
        pl_collider_step step = prepared(&c);

        vec3 start = random_vector(&rng, 2), end = random_vector(&rng, 2);
        vec3 a = to_pose(&from, start);
        if (reference_distance(shape, from.extent, a) < c.thickness + 1e-4)
            continue;
        double dt = 1.0 / 240;
        eight e = at(end.x, end.y, end.z);
        for (int k = 0; k < 3; ++k)
            e.v[k][0] = (float)((e.x[k][0] - (&start.x)[k]) / dt);
        vec3 before = velocity(&e);
        touched += resolve(&step, 1, dt, &e);
        /* The straight path from the start to the end must be free, but for the bulge of a round
         * surface. */
        double bulge = shape == PLIANT_SHAPE_BOX ? 0 : 0.03 * (from.extent[0] + c.thickness);
        vec3 b = to_pose(&to, position(&e));
        for (int i = 0; i <= 64; ++i)
        {
            vec3 p = v3_mad(a, v3_sub(b, a), i / 64.0);
            double d = reference_distance(shape, from.extent, p);
            REQUIRE_MSG(d >= c.thickness - (i < 64 ? bulge : 0) - 2e-5,
                        "trial %d: shape %u is %g deep at %d/64", trial, shape, c.thickness - d, i);
        }
        /* Never more speed than it had, or than the collider has. */
        double collider_speed = (v3_length(shift) + (turns ? 0.5 * 4 : 0)) / dt;
        CHECK(v3_length(velocity(&e)) <= 1.001 * (v3_length(before) + 2 * collider_speed) + 1e-3);
    }
    CHECK_MSG(touched > 2000, "only %u trials touched", touched);
}

TEST(a_dense_volley_cannot_cross_a_thin_plate)
{
    pliant_pose p = turned(pose(0, 0, 0), 1, 2, 3, 0.7);
    p.extent[0] = p.extent[1] = 10, p.extent[2] = 0.001;
    pl_collider c = collider(PLIANT_SHAPE_BOX, p);
    c.friction = 0;
    pl_collider_step step = prepared(&c);
    pl_rng rng = pl_rng_seed(5);
    for (int trial = 0; trial < 200; ++trial)
    {
        vec3 start = from_pose(&p, v3(unit(&rng), unit(&rng), 0.01 + 0.3 * pl_rng_unit(&rng)));
        eight e = at(start.x, start.y, start.z);
        for (int i = 0; i < 300; ++i)
        {
            vec3 kick = random_vector(&rng, 60);
            for (int k = 0; k < 3; ++k)
                e.v[k][0] = (float)(0.5 * (&kick.x)[k]), e.x[k][0] += e.v[k][0] / 240;
            resolve(&step, 1, 1.0 / 240, &e);
            vec3 local = to_pose(&p, position(&e));
            if (fabs(local.x) > 9 || fabs(local.y) > 9)
                break;
            REQUIRE_MSG(local.z >= 0.001 - 1e-5, "crossed to %g", local.z);
        }
    }
}

TEST(containers_keep_everything_inside)
{
    pl_rng rng = pl_rng_seed(17);
    for (int trial = 0; trial < 400; ++trial)
    {
        uint32_t shape = PLIANT_SHAPE_SPHERE + pl_rng_below(&rng, 4);
        pliant_pose p = random_pose(&rng, 0.5);
        for (int i = 0; i < 3; ++i)
            p.extent[i] = 0.5 + pl_rng_unit(&rng);
        pl_collider c = collider(shape, p);
        c.inside_out = 1, c.thickness = 0.05f;
        c.restitution = (float)pl_rng_unit(&rng);
        eight e = at(p.position[0], p.position[1], p.position[2]);
        vec3 kick = random_vector(&rng, 300), axis = random_vector(&rng, 1);
        for (int k = 0; k < 3; ++k)
            e.v[k][0] = (float)(&kick.x)[k];
        double angle = 0;
        c.from = c.to = turned(p, axis.x, axis.y, axis.z, angle);
        for (int i = 0; i < 240; ++i)
        {
            angle += 0.02;
            c.to = turned(p, axis.x, axis.y, axis.z, angle);
            c.to.position[0] += 0.5 * sin(angle);
            pl_collider_step step = prepared(&c);
            fall(&step, 1, 1.0 / 240, 9.81, &e);
            pl_collider_finish(&c);
            double d = reference_distance(shape, p.extent, to_pose(&c.to, position(&e)));
            REQUIRE_MSG(d <= -0.05 + 3e-5, "trial %d: shape %u: %g outside", trial, shape,
                        d + 0.05);
        }
        CHECK(v3_length(velocity(&e)) < 600);
    }
}

TEST(a_container_that_is_all_thickness_keeps_its_middle)
{
    for (uint32_t shape = PLIANT_SHAPE_SPHERE; shape <= PLIANT_SHAPE_CYLINDER; ++shape)
    {
        pl_collider c = collider(shape, pose(0, 0, 0));
        c.inside_out = 1, c.thickness = 7;
        pl_collider_step step = prepared(&c);
        eight e = at(0, 0, 0);
        for (int i = 0; i < 240; ++i)
            fall(&step, 1, 1.0 / 240, 9.81, &e);
        CHECK(v3_length(position(&e)) < (shape == PLIANT_SHAPE_CAPSULE ? 1.01 : 0.01));
    }
}

/* An impact on a wall must not throw the particle off the floor. */
TEST(the_sides_of_a_box_container_act_apart)
{
    pl_collider c = collider(PLIANT_SHAPE_BOX, pose(0, 0, 0));
    c.inside_out = 1, c.friction = 0;
    pl_collider_step step = prepared(&c);
    eight e = at(0.5, 0, -1);
    e.v[0][0] = 100;
    for (int i = 0; i < 20; ++i)
        fall(&step, 1, 1.0 / 240, 9.81, &e);
    CHECK_NEAR(e.x[0][0], 1, 1e-6);
    CHECK_NEAR(e.x[2][0], -1, 1e-6);
    CHECK_NEAR(e.v[2][0], 0, 1e-6);
}

TEST(a_corner_of_three_planes_holds)
{
    for (int skew = 0; skew < 3; ++skew)
    {
        pl_collider_step steps[3];
        pl_collider c[3];
        for (int i = 0; i < 3; ++i)
        {
            /* Normals around the vertical axis, leaning inward: right angles, wider, narrower. */
            double lean = (const double[]){0.9553, 0.6, 1.2}[skew], turn = 2.1 * i + 0.1 * skew;
            c[i] =
                collider(PLIANT_SHAPE_PLANE, turned(pose(0, 0, 0), -sin(turn), cos(turn), 0, lean));
            c[i].thickness = 0.02f;
            c[i].friction = 0.05f * (float)skew;
            steps[i] = prepared(&c[i]);
        }
        eight e = at(0.3, 0.1, 1);
        double fastest = 0;
        vec3 rest = {0, 0, 0};
        for (int i = 0; i < 1200; ++i)
        {
            fall(steps, 3, 1.0 / 240, 9.81, &e);
            if (i == 800)
                rest = position(&e);
            if (i > 800)
                fastest = fmax(fastest, v3_length(v3_sub(position(&e), rest)));
        }
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(to_pose(&c[i].to, position(&e)).z, 0.02, 1e-3);
        CHECK_MSG(fastest < 2e-5, "it moves by %g in the corner", fastest);
        CHECK(v3_length(velocity(&e)) < 0.1);
    }
}

/* ------------------------------------------------------------------ moving colliders */

TEST(a_belt_drags_until_the_particle_has_its_speed)
{
    pl_collider c = collider(PLIANT_SHAPE_BOX, pose(0, 0, -1));
    c.from.extent[0] = c.to.extent[0] = 100;
    c.friction = 0.3f;
    eight e = at(0, 0, 0);
    double dt = 1.0 / 240, belt = 2;
    for (int i = 0; i < 360; ++i)
    {
        c.to.position[0] = c.from.position[0] + belt * dt;
        pl_collider_step step = prepared(&c);
        fall(&step, 1, dt, 9.81, &e);
        pl_collider_finish(&c);
        double expected = fmin(belt, 0.3 * 9.81 * dt * (i + 1));
        CHECK_NEAR(e.v[0][0], expected, 0.02);
    }
    double slip = e.x[0][0] - c.to.position[0];
    for (int i = 0; i < 240; ++i)
    {
        c.to.position[0] = c.from.position[0] + belt * dt;
        pl_collider_step step = prepared(&c);
        fall(&step, 1, dt, 9.81, &e);
        pl_collider_finish(&c);
    }
    CHECK_NEAR(e.x[0][0] - c.to.position[0], slip, 1e-4);
    CHECK_NEAR(e.v[0][0], belt, 1e-3);
}

TEST(a_turntable_carries_what_friction_can_hold)
{
    pliant_pose p = pose(0.5, 0.25, -1);
    p.extent[0] = 5;
    pl_collider c = collider(PLIANT_SHAPE_CYLINDER, p);
    c.friction = 0.8f;
    eight e = at(1.5, 0.25, 0);
    double dt = 1.0 / 240, angle = 0;
    for (int i = 0; i < 960; ++i)
    {
        angle += 2 * dt * fmin(1, i / 240.0);
        c.to = turned(p, 0, 0, 1, angle);
        pl_collider_step step = prepared(&c);
        fall(&step, 1, dt, 9.81, &e);
        pl_collider_finish(&c);
    }
    vec3 arm = v3_sub(position(&e), v3(0.5, 0.25, 0)), v = velocity(&e);
    CHECK_NEAR(v3_length(arm), 1, 0.02);
    CHECK_NEAR(arm.x * v.y - arm.y * v.x, 2, 0.06);
    CHECK_NEAR(atan2(arm.y, arm.x), remainder(angle, 2 * acos(-1)), 0.03);
    CHECK_NEAR(e.x[2][0], 0, 1e-5);
}

TEST(a_wall_pushes_at_its_own_speed)
{
    pl_collider c = collider(PLIANT_SHAPE_BOX, pose(-1.2, 0, 0));
    c.friction = 0;
    eight e = at(0, 0.3, 0.2);
    double dt = 1.0 / 240;
    for (int i = 0; i < 240; ++i)
    {
        c.to.position[0] = c.from.position[0] + 3 * dt;
        pl_collider_step step = prepared(&c);
        fall(&step, 1, dt, 0, &e);
        pl_collider_finish(&c);
    }
    CHECK_NEAR(e.v[0][0], 3, 1e-4);
    CHECK_NEAR(e.x[0][0], c.to.position[0] + 1, 1e-4);
    CHECK_NEAR(e.x[1][0], 0.3, 1e-6);
}

TEST(a_fast_wall_does_not_push_through_another)
{
    pl_collider c[2] = {collider(PLIANT_SHAPE_BOX, pose(0.6, 0, 0)),
                        collider(PLIANT_SHAPE_BOX, pose(-1.2, 0, 0))};
    c[0].from.extent[0] = c[0].to.extent[0] = 0.01;
    eight e = at(0, 0.3, 0.2);
    double dt = 1.0 / 240;
    for (int i = 0; i < 6; ++i)
    {
        c[1].to.position[0] = c[1].from.position[0] + 0.12;
        pl_collider_step steps[2] = {prepared(&c[0]), prepared(&c[1])};
        fall(steps, 2, dt, 0, &e);
        pl_collider_finish(&c[1]);
        CHECK_MSG(e.x[0][0] <= 0.59 + 1e-5 && e.x[0][0] >= c[1].to.position[0] + 1 - 1e-5,
                  "it is at %g", e.x[0][0]);
        CHECK(c[1].to.position[0] < -0.45);
    }
}

/* The ceiling is beyond the particle's own path: culling must keep it. */
TEST(a_ramp_that_shoots_under_a_particle_does_not_lift_it_through_the_ceiling)
{
    pl_collider c[2] = {collider(PLIANT_SHAPE_PLANE, turned(pose(0, 0, 0), 0, 1, 0, 0.6435)),
                        collider(PLIANT_SHAPE_BOX, pose(0, 0, 0.051))};
    c[0].friction = c[1].friction = 0;
    c[0].to.position[0] = 0.2;
    c[1].from.extent[2] = c[1].to.extent[2] = 0.001;
    pl_collider_step steps[2] = {prepared(&c[0]), prepared(&c[1])};
    eight e = at(0, 0, 0);
    resolve(steps, 1, 1.0 / 240, &e);
    CHECK_NEAR(e.x[2][0], 0.096, 1e-4);
    e = at(0, 0, 0);
    resolve(steps, 2, 1.0 / 240, &e);
    CHECK(e.x[2][0] <= 0.05 + 1e-6 && e.x[2][0] > 0.03);
    CHECK(e.x[0][0] > 0.1);
}

TEST(a_growing_ball_pushes_outward)
{
    pl_collider c = collider(PLIANT_SHAPE_SPHERE, pose(0, 0, 0));
    c.thickness = 0.1f;
    eight e = at(0, 1.2, 0);
    double dt = 1.0 / 240;
    for (int i = 0; i < 240; ++i)
    {
        c.to.extent[0] = c.from.extent[0] + dt;
        pl_collider_step step = prepared(&c);
        fall(&step, 1, dt, 0, &e);
        pl_collider_finish(&c);
    }
    CHECK_NEAR(e.x[1][0], 2.1, 1e-4);
    CHECK_NEAR(e.v[1][0], 1, 1e-3);
}

TEST(rotations_are_interpolated_at_constant_speed)
{
    pl_collider c = collider(PLIANT_SHAPE_BOX, pose(0, 0, 0));
    c.from = turned(pose(0, 0, 0), 1, 2, -1, 0.3);
    c.to = turned(pose(4, 0, 0), 1, 2, -1, 0.3 + 2.8);
    for (int i = 0; i < 4; ++i)
        c.to.rotation[i] = -c.to.rotation[i];
    for (int i = 0; i <= 10; ++i)
    {
        pl_collider_step step;
        pl_collider_prepare(&c, zero, 0, i / 10.0, &step);
        pliant_pose expected = turned(pose(0, 0, 0), 1, 2, -1, 0.3 + 0.28 * i);
        for (int k = 0; k < 3; ++k)
        {
            vec3 axis = from_pose(&expected, v3(k == 0, k == 1, k == 2));
            for (int row = 0; row < 3; ++row)
                CHECK_NEAR(step.r1[3 * row + k], (&axis.x)[row], 1e-9);
        }
        CHECK_NEAR(step.p1[0], 0.4 * i, 1e-12);
    }
}

/* ------------------------------------------------------------------ overlaps */

TEST(what_begins_inside_comes_out_by_the_nearest_side_without_explosion)
{
    pl_rng rng = pl_rng_seed(23);
    for (int trial = 0; trial < 300; ++trial)
    {
        uint32_t shape = pl_rng_below(&rng, 5);
        pliant_pose p = random_pose(&rng, 0.5);
        pl_collider c = collider(shape, p);
        c.thickness = 0.02f, c.restitution = 1;
        vec3 local = v3(0.7 * unit(&rng), 0.7 * unit(&rng), -0.9 * pl_rng_unit(&rng));
        if (trial == 0)
            local = v3(0, 0, 0);
        vec3 start = from_pose(&p, local);
        double depth = c.thickness - reference_distance(shape, p.extent, local);
        if (depth < 1e-3)
            continue;
        eight e = at(start.x, start.y, start.z);
        pl_collider_step step = prepared(&c);
        double dt = 1.0 / 240;
        for (int i = 0; i < 480; ++i)
        {
            vec3 before = position(&e);
            for (int k = 0; k < 3; ++k)
                e.x[k][0] += (float)dt * e.v[k][0];
            resolve(&step, 1, dt, &e);
            CHECK(v3_length(v3_sub(position(&e), before)) <= 1.01 * depth * dt / 0.1 + 2e-5);
            CHECK(v3_length(velocity(&e)) < 1e-5);
        }
        double d = reference_distance(shape, p.extent, to_pose(&p, position(&e)));
        CHECK_MSG(fabs(d - c.thickness) < 2e-5, "shape %u: %g from the surface", shape, d);
        double moved = v3_length(v3_sub(position(&e), start));
        CHECK_MSG(moved < 1.01 * depth + 1e-5, "shape %u: %g deep, moved by %g", shape, depth,
                  moved);
    }
}

/* ------------------------------------------------------------------ many particles */

enum
{
    MANY = 512,
    SHAPES = 9
};

static void many_colliders(pl_collider_step steps[SHAPES])
{
    pl_rng rng = pl_rng_seed(31);
    for (uint32_t i = 0; i < SHAPES; ++i)
    {
        pl_collider c = collider(i % 5, random_pose(&rng, 1));
        c.to = random_pose(&rng, 0.02);
        for (int k = 0; k < 3; ++k)
        {
            c.to.position[k] += c.from.position[k];
            c.from.extent[k] = 0.2 + 0.2 * pl_rng_unit(&rng);
            c.to.extent[k] = c.from.extent[k] + 0.01 * pl_rng_unit(&rng);
        }
        memcpy(c.to.rotation, c.from.rotation, sizeof c.to.rotation);
        c.to.rotation[1] += 0.01;
        pl_pose_normalise(&c.to);
        c.thickness = 0.01f, c.restitution = 0.3f;
        if (i >= 6)
            c.inside_out = 1, c.from.extent[0] = c.to.extent[0] = 3, c.from.extent[1] = 3,
            c.to.extent[1] = 3, c.from.extent[2] = 3, c.to.extent[2] = 3;
        if (c.shape == PLIANT_SHAPE_PLANE)
            c.from.position[2] -= 2, c.to.position[2] -= 2;
        pl_collider_prepare(&c, zero, 0.25, 0.5, &steps[i]);
    }
}

static void many_particles(float x[3][MANY], float v[3][MANY], float* mass)
{
    pl_rng rng = pl_rng_seed(37);
    for (int i = 0; i < MANY; ++i)
    {
        mass[i] = pl_rng_below(&rng, 6) ? 1 : 0;
        for (int k = 0; k < 3; ++k)
            x[k][i] = (float)(1.5 * unit(&rng)), v[k][i] = (float)(40 * unit(&rng));
    }
}

static uint64_t many_hash(uint32_t simd, uint32_t* touched)
{
    static float x[3][MANY], v[3][MANY], mass[MANY];
    static pl_collider_step steps[SHAPES];
    many_colliders(steps);
    many_particles(x, v, mass);
    float *px[3] = {x[0], x[1], x[2]}, *pv[3] = {v[0], v[1], v[2]};
    *touched = 0;
    for (int i = 0; i < 20; ++i)
    {
        for (int k = 0; k < 3; ++k)
            for (int j = 0; j < MANY; ++j)
                v[k][j] -= k == 2 ? 0.1f : 0.0f, x[k][j] += 0.004f * v[k][j];
        *touched += pl_colliders_resolve_for(simd)(steps, SHAPES, 0.004f, MANY, mass, px, pv, NULL);
    }
    return pl_hash(pl_hash(PL_HASH_START, x, sizeof x), v, sizeof v);
}

TEST(every_simd_path_gives_the_same_bits)
{
    uint32_t expected, touched;
    uint64_t hash = many_hash(PLIANT_SIMD_SCALAR, &expected);
    CHECK_MSG(expected > 500, "only %u contacts", expected);
    for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
    {
        if (!pl_cpu_has(simd))
        {
            test_skip_part("no %s path", pl_cpu_path_name(simd));
            continue;
        }
        CHECK_MSG(many_hash(simd, &touched) == hash, "%s differs", pl_cpu_path_name(simd));
        CHECK(touched == expected);
    }
}

TEST(free_slots_are_left_alone_and_bad_numbers_hurt_nobody_else)
{
    static float x[3][MANY], v[3][MANY], mass[MANY], y[3][MANY], w[3][MANY];
    static pl_collider_step steps[SHAPES];
    many_colliders(steps);
    many_particles(x, v, mass);
    memcpy(y, x, sizeof x), memcpy(w, v, sizeof v);
    x[1][100] = NAN, v[2][101] = INFINITY, x[0][102] = 3e38f, v[0][103] = -3e38f;
    mass[100] = mass[101] = mass[102] = mass[103] = 1;
    float *px[3] = {x[0], x[1], x[2]}, *pv[3] = {v[0], v[1], v[2]};
    float *py[3] = {y[0], y[1], y[2]}, *pw[3] = {w[0], w[1], w[2]};
    float before[3][MANY];
    memcpy(before, x, sizeof x);
    pl_colliders_resolve_for(PLIANT_SIMD_AUTO)(steps, SHAPES, 0.004f, MANY, mass, px, pv, NULL);
    pl_colliders_resolve_for(PLIANT_SIMD_AUTO)(steps, SHAPES, 0.004f, MANY, mass, py, pw, NULL);
    for (int i = 0; i < MANY; ++i)
        for (int k = 0; k < 3; ++k)
        {
            if (mass[i] == 0)
                CHECK(x[k][i] == before[k][i]);
            if (i < 100 || i > 103)
                CHECK(x[k][i] == y[k][i] && v[k][i] == w[k][i]);
        }
}

TEST(colliders_far_away_change_nothing)
{
    static float x[3][MANY], v[3][MANY], mass[MANY], y[3][MANY], w[3][MANY];
    static pl_collider_step steps[1000];
    many_particles(x, v, mass);
    memcpy(y, x, sizeof x), memcpy(w, v, sizeof v);
    pl_collider_step near[SHAPES];
    many_colliders(near);
    pl_collider away = collider(PLIANT_SHAPE_SPHERE, pose(50, 0, 0));
    for (int i = 0; i < 1000; ++i)
        steps[i] = prepared(&away);
    for (int i = 0; i < SHAPES; ++i)
        steps[110 * i] = near[i];
    float *px[3] = {x[0], x[1], x[2]}, *pv[3] = {v[0], v[1], v[2]};
    float *py[3] = {y[0], y[1], y[2]}, *pw[3] = {w[0], w[1], w[2]};
    pl_colliders_resolve_fn run = pl_colliders_resolve_for(PLIANT_SIMD_AUTO);
    uint32_t few = run(near, SHAPES, 0.004f, MANY, mass, px, pv, NULL);
    uint32_t all = run(steps, 1000, 0.004f, MANY, mass, py, pw, NULL);
    CHECK(few == all && few > 10);
    CHECK(memcmp(x, y, sizeof x) == 0 && memcmp(v, w, sizeof v) == 0);
}

TEST(far_from_the_worlds_zero_nothing_is_lost)
{
    const double far[3] = {1048576, -2097152, 524288};
    for (uint32_t shape = PLIANT_SHAPE_PLANE; shape <= PLIANT_SHAPE_CYLINDER; ++shape)
    {
        /* The plane's own point is far from the body too. */
        pliant_pose p = pose(far[0], far[1], far[2]);
        if (shape == PLIANT_SHAPE_PLANE)
            p.position[0] = p.position[1] = 0;
        pl_collider c = collider(shape, p);
        c.thickness = 0.01f;
        pl_collider_step step;
        pl_collider_prepare(&c, far, 0, 1, &step);
        double height = shape == PLIANT_SHAPE_PLANE ? 0 : shape == PLIANT_SHAPE_CAPSULE ? 2 : 1;
        eight e = at(0, 0, height + 0.5);
        for (int i = 0; i < 480; ++i)
            fall(&step, 1, 1.0 / 240, 9.81, &e);
        CHECK_NEAR(e.x[2][0], height + 0.01, 2e-6);
        CHECK_NEAR(e.x[0][0], 0, 1e-9);
    }
}

/* ------------------------------------------------------------------ checks */

TEST(bad_colliders_are_refused_with_a_sentence)
{
    pliant_collider_desc good = {.shape = PLIANT_SHAPE_BOX,
                                 .pose = {{0}, {1, 0, 0, 0}, {1, 1, 1}},
                                 .friction = 0.5},
                         bad;
    CHECK_OK(pl_collider_check(&good));
    const double wrong[] = {-1, NAN, INFINITY, 1e300};
    for (int i = 0; i < 4; ++i)
    {
        double* numbers[] = {&bad.friction,         &bad.restitution,      &bad.thickness,
                             &bad.pose.position[1], &bad.pose.rotation[2], &bad.pose.extent[2]};
        for (int k = 0; k < 6; ++k)
        {
            if ((k == 3 || k == 4) && i == 0)
                continue; /* may be negative */
            bad = good;
            *numbers[k] = wrong[i];
            CHECK(pl_collider_check(&bad) == PLIANT_ERROR_ARGUMENT);
            CHECK(strlen(pl_last_error()) > 20);
        }
    }
    bad = good, bad.pose.rotation[0] = 0;
    CHECK(pl_collider_check(&bad) == PLIANT_ERROR_ARGUMENT);
    bad = good, bad.shape = 7;
    CHECK(pl_collider_check(&bad) == PLIANT_ERROR_ARGUMENT);
    bad = good, bad.inside_out = 1, bad.thickness = 1;
    CHECK(pl_collider_check(&bad) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pl_last_error(), "no room") != NULL);
    bad = good, bad.inside_out = 1, bad.shape = PLIANT_SHAPE_PLANE;
    CHECK(pl_collider_check(&bad) == PLIANT_ERROR_ARGUMENT);
    bad = good, bad.pose.extent[1] = 0;
    CHECK(pl_collider_check(&bad) == PLIANT_ERROR_ARGUMENT);
    bad.shape = PLIANT_SHAPE_CAPSULE;
    CHECK_OK(pl_collider_check(&bad));
    bad.shape = PLIANT_SHAPE_PLANE;
    CHECK_OK(pl_collider_check(&bad));
}
