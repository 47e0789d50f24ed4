// SPDX-License-Identifier: GPL-3.0-or-later
/* Particles against triangle meshes: as simple shapes, moving, thin, deforming. */
#include "native/support/eight.h"
#include "native/support/test.h"
#include "scenes/meshes.h"

#include <base/core.h>
#include <base/math3.h>
#include <base/rng.h>
#include <collision/mesh/triangle_cache.h>
#include <stdlib.h>
#include <string.h>

static const double zero[3] = {0, 0, 0};

/* ------------------------------------------------------------------ helpers */

static pl_collider mesh_collider(uint32_t shape, const scene_mesh* mesh)
{
    pl_collider c = {.shape = shape, .friction = 0.5f};
    pliant_mesh_desc desc;
    pliant_mesh_desc_init(&desc, sizeof desc);
    desc.vertex_count = mesh->vertex_count, desc.vertices = mesh->vertices;
    desc.triangle_count = mesh->triangle_count, desc.triangles = mesh->triangles;
    CHECK_OK(pl_mesh_collider_create(&desc, &c.mesh));
    pl_mesh_collider_refit(c.mesh);
    return c;
}

static void move_to(pl_collider* c, const scene_mesh* mesh)
{
    CHECK_OK(pl_mesh_collider_set(c->mesh, mesh->vertex_count, NULL, mesh->vertices));
    pl_mesh_collider_refit(c->mesh);
}

static vec3 position(const eight* e)
{
    return v3(e->x[0][0], e->x[1][0], e->x[2][0]);
}

/* As the only chunk of a body with an empty cache. */
static uint32_t resolve(const pl_collider* c, double t0, double t1, double dt, eight* e)
{
    float start[3][8], before[PL_BEFORE_FLOATS];
    uint16_t hit = 0;
    pl_moved_blocks moved = {0, &hit, before, NULL};
    const eight given = *e;
    pl_chunk chunk = {.slot_count = 8, .block_count = 1};
    pl_body body = {
        .chunk_count = 1, .chunks = &chunk, .particles = {.slot_count = 8}, .friction = -1};
    pl_triangle_cache_job job = {.collider = c,
                                 .body = &body,
                                 .kernels = pl_mesh_kernels_for(PLIANT_SIMD_AUTO),
                                 .t0 = t0,
                                 .t1 = t1,
                                 .dt = (float)dt,
                                 .mass = e->mass,
                                 .started = true,
                                 .moved = &moved};
    uint32_t touched = 0;
    for (int k = 0; k < 3; ++k)
    {
        for (int i = 0; i < 8; ++i)
            start[k][i] = (float)((double)e->x[k][i] - (double)(float)dt * e->v[k][i]);
        job.start[k] = start[k], job.x[k] = e->x[k], job.v[k] = e->v[k];
    }
    CHECK_OK(pl_triangle_cache_prepare(&body, c->mesh));
    CHECK(pl_triangle_cache_resolve(&job, &touched));
    CHECK(hit == (touched > 0));
    for (int k = 0; k < 3 && hit; ++k)
        CHECK(memcmp(before + 8 * k, given.x[k], sizeof given.x[k]) == 0 &&
              memcmp(before + 8 * (3 + k), given.v[k], sizeof given.v[k]) == 0);
    pl_triangle_cache_free_all(&body);
    return touched;
}

static void fly(double dt, double gravity, eight* e)
{
    for (int i = 0; i < 8; ++i)
        e->v[2][i] -= (float)(gravity * dt);
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 8; ++i)
            e->x[k][i] += (float)dt * e->v[k][i];
}

static uint32_t fall(const pl_collider* c, double dt, double gravity, eight* e)
{
    fly(dt, gravity, e);
    return resolve(c, 0, 1, dt, e);
}

static double unit(pl_rng* rng)
{
    return 2 * pl_rng_unit(rng) - 1;
}

/* ------------------------------------------------------------------ rest and friction */

TEST(a_particle_rests_on_a_mesh_without_jitter)
{
    for (uint32_t shape = PLIANT_SHAPE_MESH; shape <= PLIANT_SHAPE_SHELL; ++shape)
        for (int thick = 0; thick <= 1; ++thick)
            for (int place = 0; place < 4; ++place)
            {
                /* in a face, on edges, on a vertex */
                static const double places[4][2] = {{.13, .07}, {.25, .1}, {.1, .1}, {0, 0}};
                scene_mesh box = scene_box(2, 2, 1, 4);
                pl_collider c = mesh_collider(shape, &box);
                c.thickness = thick ? .05f : 0, c.restitution = .4f;
                eight e = at(places[place][0], places[place][1], 1.5);
                for (int i = 0; i < 1200; ++i)
                    fall(&c, 1.0 / 240, 9.81, &e);
                vec3 still = position(&e);
                CHECK_NEAR(e.x[2][0], thick ? .55 : .5, 2e-5);
                for (int i = 0; i < 500; ++i)
                    CHECK(fall(&c, 1.0 / 240, 9.81, &e) == 1);
                double moved = v3_length(v3_sub(still, position(&e)));
                CHECK_MSG(moved == 0, "shape %u, place %d moves at rest by %g", shape, place,
                          moved);
                CHECK(e.v[2][0] == 0);
                pl_mesh_collider_free(c.mesh);
                scene_mesh_free(&box);
            }
}

TEST(a_slope_of_triangles_holds_and_lets_slide_as_a_plane_does)
{
    const double gravity = 9.81, dt = 1.0 / 240, angle = 0.4;
    for (int tenths = 3; tenths <= 6; ++tenths) /* tan(0.4) = 0.4228 */
    {
        double friction = 0.1 * tenths, slope = gravity * (sin(angle) - friction * cos(angle));
        scene_mesh sheet = scene_sheet(20, 20, 30, 30);
        scene_mesh_turn(&sheet, 0, 1, 0, (float)angle);
        pl_collider c = mesh_collider(PLIANT_SHAPE_SHELL, &sheet);
        c.friction = (float)friction, c.thickness = .01f;
        vec3 along = v3(cos(angle), 0, -sin(angle)), up = v3(sin(angle), 0, cos(angle));
        vec3 start = v3_add(v3_scale(along, .3), v3_scale(up, .01));
        eight e = at(start.x, .07, start.z);
        for (int i = 0; i < 240; ++i)
            fall(&c, dt, gravity, &e);
        double expected = slope > 0 ? 0.5 * slope : 0, moved = v3_dot(position(&e), along) - .3;
        CHECK_NEAR(moved, expected, 0.01 * expected + 2e-6);
        CHECK_NEAR(v3_dot(position(&e), up), .01, 2e-5);
        pl_mesh_collider_free(c.mesh);
        scene_mesh_free(&sheet);
    }
}

TEST(a_conveyor_belt_drags)
{
    scene_mesh belt = scene_sheet(8, 2, 16, 4);
    pl_collider c = mesh_collider(PLIANT_SHAPE_SHELL, &belt);
    c.thickness = .02f, c.friction = 1;
    eight e = at(-2, .1, .02);
    for (int frame = 0; frame < 48; ++frame)
    {
        scene_mesh_move(&belt, 1.0f / 24, 0, 0);
        move_to(&c, &belt);
        for (int n = 0; n < 8; ++n)
        {
            fly(1.0 / 192, 9.81, &e);
            CHECK(resolve(&c, n / 8.0, (n + 1) / 8.0, 1.0 / 192, &e) == 1);
        }
        pl_mesh_collider_finish(c.mesh);
    }
    CHECK_NEAR(e.v[0][0], 1, 1e-4);
    CHECK_NEAR(e.x[0][0], 0, .06); /* lost while it was accelerated */
    CHECK_NEAR(e.x[2][0], .02, 1e-5);
    pl_mesh_collider_free(c.mesh);
    scene_mesh_free(&belt);
}

TEST(a_spinning_drum_takes_along_what_is_in_it)
{
    scene_mesh drum = scene_cylinder(1, 2, 48, 4);
    scene_mesh_turn(&drum, 1, 0, 0, 1.57079632f);
    pl_collider c = mesh_collider(PLIANT_SHAPE_SHELL, &drum);
    c.thickness = .02f, c.friction = .5f;
    eight e = at(.05, .1, -.9);
    double mean = 0;
    for (int frame = 0; frame < 96; ++frame)
    {
        scene_mesh_turn(&drum, 0, 1, 0, .1f);
        move_to(&c, &drum);
        for (int n = 0; n < 8; ++n)
        {
            fly(1.0 / 192, 9.81, &e);
            resolve(&c, n / 8.0, (n + 1) / 8.0, 1.0 / 192, &e);
            double radius = sqrt(e.x[0][0] * e.x[0][0] + e.x[2][0] * e.x[2][0]);
            CHECK_MSG(radius < .9815, "frame %d: it is %g from the axis", frame, radius);
        }
        mean += e.x[0][0] / 96;
        pl_mesh_collider_finish(c.mesh);
    }
    /* it oscillates about the angle of friction, on the rising side */
    CHECK_NEAR(mean, -sin(atan(.5)), .12);
    pl_mesh_collider_free(c.mesh);
    scene_mesh_free(&drum);
}

/* ------------------------------------------------------------------ as simple shapes */

TEST_SLOW(tessellated_shapes_agree_with_simple_ones)
{
    pl_rng rng = pl_rng_seed(7);
    for (int ball = 0; ball <= 1; ++ball)
    {
        scene_mesh mesh = ball ? scene_icosphere(1, 5) : scene_box(2, 2, 2, 6);
        pl_collider c = mesh_collider(PLIANT_SHAPE_MESH, &mesh), simple;
        c.thickness = .03f, c.restitution = .3f;
        simple = c;
        simple.mesh = NULL;
        simple.shape = ball ? PLIANT_SHAPE_SPHERE : PLIANT_SHAPE_BOX;
        simple.from = simple.to = (pliant_pose){{0, 0, 0}, {1, 0, 0, 0}, {1, 1, 1}};
        pl_collider_step step;
        pl_collider_prepare(&simple, zero, 0, 1, &step);
        int contacts = 0, different = 0;
        for (int trial = 0; trial < 2000; ++trial)
        {
            eight e = at(1.5 * unit(&rng), 1.5 * unit(&rng), 1.5 * unit(&rng)), other;
            for (int k = 0; k < 3; ++k)
                e.v[k][0] = (float)(20 * unit(&rng));
            other = e;
            float* const x[3] = {other.x[0], other.x[1], other.x[2]};
            float* const v[3] = {other.v[0], other.v[1], other.v[2]};
            uint32_t expected = pl_colliders_resolve_for(PLIANT_SIMD_AUTO)(&step, 1, .01f, 8,
                                                                           other.mass, x, v, NULL);
            uint32_t got = resolve(&c, 0, 1, .01, &e);
            /* near the centre, and along edges, the nearest face is ambiguous */
            double shift = 0, turn = 0;
            for (int k = 0; k < 3; ++k)
            {
                shift += fabs((double)e.x[k][0] - other.x[k][0]);
                turn += fabs((double)e.v[k][0] - other.v[k][0]);
            }
            contacts += expected > 0;
            /* a facet of the ball is tilted by up to 0.02, on paths of .35 at a speed of 35 */
            different +=
                got != expected || shift > (ball ? .012 : 1e-5) || turn > (ball ? 2.5 : 1e-3);
        }
        CHECK(contacts > 200);
        /* Meshes find the entry on the surface, simple shapes at the thickness above it: fast paths
         * that graze a ball get another tangent plane. 3 of 463 and 26 of 228 differ. */
        CHECK_MSG((ball ? 7 : 50) * different < contacts, "ball %d: %d of %d contacts differ", ball,
                  different, contacts);
        pl_mesh_collider_free(c.mesh);
        scene_mesh_free(&mesh);
    }
}

/* ------------------------------------------------------------------ nothing passes */

TEST(a_thin_plate_that_is_fast_is_not_passed)
{
    pl_rng rng = pl_rng_seed(5);
    for (uint32_t shape = PLIANT_SHAPE_MESH; shape <= PLIANT_SHAPE_SHELL; ++shape)
        for (int trial = 0; trial < 200; ++trial)
        {
            scene_mesh plate =
                shape == PLIANT_SHAPE_MESH ? scene_box(2, 2, .001f, 3) : scene_sheet(2, 2, 5, 5);
            scene_mesh_move(&plate, 0, 0, -1);
            pl_collider c = mesh_collider(shape, &plate);
            c.thickness = trial % 2 ? 0 : .01f, c.restitution = trial % 3 ? 0 : .5f;
            scene_mesh_move(&plate, (float)(.3 * unit(&rng)), 0, 2);
            move_to(&c, &plate);
            eight e = {.mass = {1, 1, 1, 1, 1, 1, 1, 1}};
            for (int i = 0; i < 8; ++i)
                for (int k = 0; k < 3; ++k)
                {
                    e.x[k][i] = (float)(.4 * unit(&rng));
                    e.v[k][i] = (float)unit(&rng);
                }
            for (int n = 0; n < 3; ++n)
            {
                fly(1.0 / 72, 9.81, &e);
                resolve(&c, n / 3.0, (n + 1) / 3.0, 1.0 / 72, &e);
            }
            for (int i = 0; i < 8; ++i)
                CHECK_MSG(e.x[2][i] >= 1, "shape %u, trial %d: passed, at %g", shape, trial,
                          e.x[2][i]);
            pl_mesh_collider_free(c.mesh);
            scene_mesh_free(&plate);
        }
}

/* Distance from the deforming torus, by brute force. */
static double brute_distance(const pl_collider* c, double t, vec3 p, bool* inside)
{
    const pl_mesh_collider* m = c->mesh;
    double best = INFINITY, angle = 0, w[3];
    for (uint32_t i = 0; i < m->triangle_count; ++i)
    {
        vec3 q[3];
        for (int k = 0; k < 3; ++k)
        {
            uint32_t v = m->triangles[3 * i + k];
            q[k] = v3_mad(m->from[v], v3_sub(m->to[v], m->from[v]), t);
        }
        pl_corners corners = {q[0], q[1], q[2]};
        best = fmin(best, v3_length(v3_sub(p, pl_triangle_nearest(&corners, p, w))));
        vec3 a = v3_sub(q[0], p), b = v3_sub(q[1], p), d = v3_sub(q[2], p);
        double la = v3_length(a), lb = v3_length(b), ld = v3_length(d);
        angle += 2 * atan2(v3_dot(a, v3_cross(b, d)), la * lb * ld + v3_dot(a, b) * ld +
                                                          v3_dot(b, d) * la + v3_dot(d, a) * lb);
    }
    *inside = angle > 6.28;
    return best;
}

TEST(a_deforming_mesh_agrees_with_brute_force)
{
    scene_mesh torus = scene_torus(1, .4f, 100, 50); /* 10,000 triangles */
    pl_collider c = mesh_collider(PLIANT_SHAPE_MESH, &torus);
    pl_rng rng = pl_rng_seed(11);
    c.thickness = .05f;
    for (uint32_t i = 0; i < torus.vertex_count; ++i)
        torus.vertices[3 * i + 2] += .2f * sinf(3 * torus.vertices[3 * i]);
    move_to(&c, &torus);
    uint32_t touching = 0, inside = 0;
    for (int trial = 0; trial < 300; ++trial)
    {
        eight e = at(1.5 * unit(&rng), 1.5 * unit(&rng), .6 * unit(&rng)), before = e;
        bool started_inside, ended_inside;
        double start = brute_distance(&c, .25, position(&e), &started_inside);
        double end = brute_distance(&c, .5, position(&e), &ended_inside);
        start = started_inside ? -start : start, end = ended_inside ? -end : end;
        bool touched = resolve(&c, .25, .5, .01, &e) > 0; /* the particle is at rest, the mesh moves
                                                             */
        inside += started_inside, touching += touched;
        /* a particle that started too near is only kept from approaching */
        CHECK_MSG(!touched || end < .05 + 1e-5, "trial %d: touched at %g", trial, end);
        CHECK_MSG(touched || start < .05 || end > .05 - 1e-5, "trial %d: not touched", trial);
        if (!touched)
            CHECK(memcmp(&before, &e, sizeof e) == 0);
        double after = brute_distance(&c, .5, position(&e), &ended_inside);
        after = ended_inside ? -after : after;
        CHECK_MSG(after > PL_MIN(start, .05) - 5e-3, "trial %d: from %g to %g", trial, start,
                  after);
        CHECK_MSG(!touched || after < .06, "trial %d: pushed to %g", trial, after);
    }
    CHECK(touching > 60 && inside > 30);
    pl_mesh_collider_free(c.mesh);
    scene_mesh_free(&torus);
}

TEST(what_is_inside_is_pushed_out_slowly)
{
    scene_mesh ball = scene_icosphere(1, 3);
    pl_collider c = mesh_collider(PLIANT_SHAPE_MESH, &ball);
    c.thickness = .01f;
    eight e = at(.5, .3, .2);
    double fastest = 0, before = v3_length(position(&e));
    for (int i = 0; i < 480; ++i)
    {
        fall(&c, 1.0 / 240, 0, &e);
        double now = v3_length(position(&e));
        CHECK(now >= before - 1e-6);
        fastest = fmax(fastest, now - before);
        before = now;
        CHECK(fabs(e.v[0][0]) + fabs(e.v[1][0]) + fabs(e.v[2][0]) < 1e-3);
    }
    CHECK(fastest < .04); /* depth times dt over the time constant */
    CHECK_NEAR(before, 1.005, .012);
    pl_mesh_collider_free(c.mesh);
    scene_mesh_free(&ball);
}

TEST_SLOW(nothing_leaves_a_shell_that_is_shaken)
{
    pl_rng rng = pl_rng_seed(23);
    for (int trial = 0; trial < 12; ++trial)
    {
        scene_mesh shell = trial % 3 == 0   ? scene_box(1.2f, 1.2f, 1.2f, 2)
                           : trial % 3 == 1 ? scene_icosphere(.8f, 2)
                                            : scene_creature(3);
        uint32_t count = shell.vertex_count;
        float* rest = malloc(sizeof(float) * 3 * count);
        memcpy(rest, shell.vertices, sizeof(float) * 3 * count);
        pl_collider c = mesh_collider(PLIANT_SHAPE_SHELL, &shell);
        c.thickness = trial % 2 ? .01f : 0, c.restitution = trial % 4 < 2 ? 0 : .6f;
        eight e = {.mass = {1, 1, 1, 1, 1, 1, 1, 1}};
        for (int i = 0; i < 8; ++i)
            for (int k = 0; k < 3; ++k)
                e.x[k][i] = (float)(.15 * unit(&rng));
        for (int frame = 0; frame < 60; ++frame)
        {
            memcpy(shell.vertices, rest, sizeof(float) * 3 * count);
            scene_mesh_scale(&shell, 1 + .3f * (float)unit(&rng), 1 + .3f * (float)unit(&rng), 1);
            scene_mesh_turn(&shell, (float)unit(&rng), 1, (float)unit(&rng), (float)unit(&rng));
            scene_mesh_move(&shell, (float)unit(&rng), (float)unit(&rng), (float)unit(&rng));
            move_to(&c, &shell);
            for (int n = 0; n < 6; ++n)
            {
                fly(1.0 / 144, 9.81, &e);
                resolve(&c, n / 6.0, (n + 1) / 6.0, 1.0 / 144, &e);
            }
            pl_mesh_collider_finish(c.mesh);
        }
        for (int i = 0; i < 8; ++i)
        {
            bool inside;
            double far = brute_distance(&c, 1, v3(e.x[0][i], e.x[1][i], e.x[2][i]), &inside);
            CHECK_MSG(inside, "trial %d: particle %d is outside, by %g", trial, i, far);
        }
        free(rest);
        pl_mesh_collider_free(c.mesh);
        scene_mesh_free(&shell);
    }
}
