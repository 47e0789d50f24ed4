// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/test.h"
#include "scenes/meshes.h"
#include "scenes/points.h"

#include <base/core.h>
#include <base/rng.h>
#include <body/create.h>
#include <body/layout.h>
#include <dynamics/pressure.h>
#include <dynamics/pressure_setup.h>
#include <dynamics/substep.h>
#include <geometry/mls_binding.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ bound points */

static vec3 carried_at(const pl_mls_binding* c, uint32_t i, const vec3* at)
{
    vec3 sum = v3(0, 0, 0);
    for (uint32_t e = c->begin[i]; e < c->begin[i + 1]; ++e)
        sum = v3_mad(sum, at[c->particle[e]], c->weight[e]);
    return sum;
}

/* The largest errors of the rest position and of the sum of weights, and the largest weight. */
static void measure_carried(const pl_mls_binding* c, uint32_t count, const vec3* points,
                            const vec3* rest, double* miss, double* uneven, double* largest)
{
    *miss = *uneven = *largest = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        double sum = 0;
        for (uint32_t e = c->begin[i]; e < c->begin[i + 1]; ++e)
        {
            sum += c->weight[e];
            *largest = fmax(*largest, fabs(c->weight[e]));
        }
        *uneven = fmax(*uneven, fabs(sum - 1));
        *miss = fmax(*miss, v3_length(v3_sub(carried_at(c, i, rest), points[i])));
    }
}

enum
{
    CARRY_CLOUD = 2000,
    CARRY_POINTS = 300
};

TEST(carried_points_are_given_back_by_filled_and_by_flat_clouds)
{
    static vec3 rest[CARRY_CLOUD], points[CARRY_POINTS];
    static uint32_t shell[CARRY_CLOUD];
    const struct
    {
        vec3 extent;     /* of the particles */
        double off;      /* of the points, along z */
        double miss_off; /* tolerance: all of "off" where the particles are flat */
    } cases[] = {{{1, 1, 1}, 0, 0},          {{1, 1, 0}, 0, 0},   {{1, 1, 0}, .05, .05},
                 {{1, 1, 1e-4}, .05, .0502}, {{1, 0, 0}, .1, .1}, {{0, 0, 0}, .1, 2}};
    for (size_t n = 0; n < PL_COUNTOF(cases); ++n)
    {
        pl_rng rng = pl_rng_seed(7 + n);
        vec3 e = cases[n].extent;
        for (int i = 0; i < CARRY_CLOUD; ++i)
            rest[i] = v3(e.x * (2 * pl_rng_unit(&rng) - 1), e.y * (2 * pl_rng_unit(&rng) - 1),
                         e.z * (2 * pl_rng_unit(&rng) - 1));
        for (int i = 0; i < CARRY_POINTS; ++i)
            points[i] = v3(e.x * (2 * pl_rng_unit(&rng) - 1), e.y * (2 * pl_rng_unit(&rng) - 1),
                           e.z * (2 * pl_rng_unit(&rng) - 1) + cases[n].off);
        pl_mls_binding c;
        REQUIRE_OK(pl_mls_bind(CARRY_POINTS, points, CARRY_CLOUD, rest, shell, NULL, &c));
        double miss, uneven, largest;
        measure_carried(&c, CARRY_POINTS, points, rest, &miss, &uneven, &largest);
        CHECK_MSG(uneven < 1e-6, "case %zu: weights miss 1 by %g", n, uneven);
        CHECK_MSG(miss <= cases[n].miss_off + 1e-5, "case %zu: points are missed by %g", n, miss);
        CHECK_MSG(largest <= 5, "case %zu: the largest weight is %g", n, largest);
        pl_mls_binding_free(&c);
    }
}

TEST(carried_points_keep_to_the_shell_of_the_nearest_particle)
{
    /* two slabs that touch at x = 0 */
    scene_points cloud = scene_points_box(10, 10, 10, 1, 1, 1, .5, 3);
    vec3* rest = malloc(cloud.count * sizeof *rest);
    uint32_t* shell = malloc(cloud.count * sizeof *shell);
    for (uint32_t i = 0; i < cloud.count; ++i)
    {
        rest[i] = v3_from(cloud.at + 3 * i);
        shell[i] = rest[i].x > 0;
    }
    vec3 points[2] = {{.04, .1, .1}, {-.04, .1, .1}};
    pl_mls_binding c;
    REQUIRE_OK(pl_mls_bind(2, points, cloud.count, rest, shell, NULL, &c));
    for (uint32_t i = 0; i < 2; ++i)
    {
        CHECK(c.begin[i + 1] - c.begin[i] >= 12);
        for (uint32_t e = c.begin[i]; e < c.begin[i + 1]; ++e)
            CHECK(shell[c.particle[e]] == (i == 0));
    }
    pl_mls_binding_free(&c);
    free(rest);
    free(shell);
    scene_points_free(&cloud);
}

/* ------------------------------------------------------------------ forces */

/* A body of points with a mesh around them, away from zero; the caller frees. */
static pl_status make_body(pl_body* body, const scene_points* points, const scene_mesh* mesh)
{
    pliant_body_desc desc;
    pl_task task = {0};
    pliant_body_desc_init(&desc, sizeof desc);
    desc.point_count = points->count;
    desc.points = points->at;
    desc.points_origin[0] = desc.mesh.origin[0] = 12.5;
    desc.mesh.vertex_count = mesh->vertex_count;
    desc.mesh.triangle_count = mesh->triangle_count;
    desc.mesh.vertices = mesh->vertices;
    desc.mesh.triangles = mesh->triangles;
    desc.material.pressure = 1000;
    desc.material.inflation = 1.1;
    PL_TRY(pl_body_build(body, &desc, NULL, &task));
    for (int k = 0; k < 3; ++k)
        if (!(body->force[k] = PL_NEW(float, body->particles.slot_count)))
            return PLIANT_ERROR_MEMORY;
    return pl_pressure_build(body, NULL);
}

static void free_body(pl_body* body)
{
    pl_pressure_free(body->pressure);
    pl_forces_free(body);
    pl_body_free(body);
}

/* Stretches, bends and jitters the particles: far from any symmetric shape. */
static void deform(pl_body* body, double amount)
{
    pl_particles* p = &body->particles;
    pl_rng rng = pl_rng_seed(99);
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        float x = p->x[0][i], y = p->x[1][i], z = p->x[2][i];
        p->x[0][i] = x * (float)(1 + .2 * amount) + (float)amount * .3f * z * z;
        p->x[1][i] = y + (float)(amount * .05 * (pl_rng_unit(&rng) - .5));
        p->x[2][i] = z * (float)(1 - .3 * amount) + (float)amount * .2f * x * y;
    }
}

static void push(pl_body* body, double dt, pl_pool* pool)
{
    for (int k = 0; k < 3; ++k)
        memset(body->force[k], 0, sizeof(float) * body->particles.slot_count);
    pl_pressure_add(body, dt, pool);
}

typedef struct balance
{
    double force, torque; /* relative */
} balance;

static balance balance_of(const pl_body* body)
{
    const pl_particles* p = &body->particles;
    vec3 force = v3(0, 0, 0), torque = force, centre = force;
    double forces = 0, torques = 0, mass = 0;
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        centre = v3_mad(centre, v3(p->x[0][i], p->x[1][i], p->x[2][i]), p->mass[i]);
        mass += p->mass[i];
    }
    centre = v3_scale(centre, 1 / mass);
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        vec3 x = v3_sub(v3(p->x[0][i], p->x[1][i], p->x[2][i]), centre);
        vec3 f = v3_scale(v3(body->force[0][i], body->force[1][i], body->force[2][i]), p->mass[i]);
        force = v3_add(force, f);
        torque = v3_add(torque, v3_cross(x, f));
        forces += v3_length(f);
        torques += v3_length(x) * v3_length(f);
    }
    return (balance){v3_length(force) / forces, v3_length(torque) / torques};
}

TEST(pressure_exerts_no_force_and_no_torque)
{
    for (int kind = 0; kind < 4; ++kind)
    {
        scene_mesh mesh = kind == 1 ? scene_torus(1, .4f, 40, 20) : scene_icosphere(1, 3);
        scene_points points = kind == 1 ? scene_points_box(14, 14, 6, 2.8, 2.8, .8, .6, 5)
                                        : scene_points_ball(1200, .95, 5);
        if (kind == 2)
            scene_mesh_drop(&mesh, 40); /* small holes */
        if (kind == 3)
        {
            scene_mesh_flip(&mesh, 1);
            scene_mesh_split(&mesh);
        }
        pl_body body;
        REQUIRE_OK(make_body(&body, &points, &mesh));
        deform(&body, 1);
        for (uint32_t i = 0; i < body.particles.slot_count; ++i)
            body.particles.v[i % 3][i] = (float)(i % 7) - 3;
        push(&body, kind % 2 ? .05 : 1e-4, NULL); /* outside of the limits, and within */
        balance b = balance_of(&body);
        CHECK_MSG(b.force < 1e-6, "mesh %d: net force %g", kind, b.force);
        CHECK_MSG(b.torque < 1e-6, "mesh %d: net torque %g", kind, b.torque);
        CHECK(body.enclosed_volume > 0);
        free_body(&body);
        scene_mesh_free(&mesh);
        scene_points_free(&points);
    }
}

static double energy(pl_body* body)
{
    double rest = body->pressure->rest_volume[0];
    pl_pressure_measure(body, NULL);
    double lost = body->material.inflation * rest - body->pressure->volume[0];
    return body->material.pressure / (2 * rest) * lost * lost;
}

TEST(pressure_is_minus_the_gradient_of_an_energy)
{
    scene_mesh mesh = scene_icosphere(1, 3);
    scene_points points = scene_points_ball(800, .95, 5);
    pl_body body;
    REQUIRE_OK(make_body(&body, &points, &mesh));
    deform(&body, 1);
    push(&body, 1e-6, NULL);
    pl_particles* p = &body.particles;
    double worst = 0, largest = 0;
    for (uint32_t i = 0; i < p->slot_count; i += 17)
        for (int k = 0; k < 3 && p->mass[i] > 0; ++k)
        {
            float at = p->x[k][i], up = at + .004f, down = at - .004f;
            p->x[k][i] = up;
            double more = energy(&body);
            p->x[k][i] = down;
            double less = energy(&body);
            p->x[k][i] = at;
            double expected = -(more - less) / ((double)up - down);
            double force = (double)body.force[k][i] * p->mass[i];
            worst = fmax(worst, fabs(force - expected));
            largest = fmax(largest, fabs(expected));
        }
    CHECK_MSG(largest > 0 && worst < 1e-4 * largest, "forces up to %g miss by %g", largest, worst);
    free_body(&body);
    scene_mesh_free(&mesh);
    scene_points_free(&points);
}

TEST(pressure_at_rest_is_the_inflation_and_follows_rigid_motions)
{
    scene_mesh mesh = scene_icosphere(1, 4);
    scene_points points = scene_points_ball(2000, .95, 5);
    pl_body body;
    REQUIRE_OK(make_body(&body, &points, &mesh));
    pl_particles* p = &body.particles;
    double volume = 4.18879; /* the icosphere's is a little less */
    pl_pressure_measure(&body, NULL);
    CHECK_NEAR(body.enclosed_volume, body.pressure->true_volume[0], 1e-6 * volume);
    CHECK_NEAR(body.enclosed_volume, volume, .005 * volume);
    CHECK_NEAR(body.pressure->rest_volume[0], volume, .05 * volume);
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        float x = p->x[0][i], y = p->x[1][i];
        p->x[0][i] = .6f * x - .8f * y + .25f;
        p->x[1][i] = .8f * x + .6f * y - 1;
    }
    pl_pressure_measure(&body, NULL);
    CHECK_NEAR(body.enclosed_volume, body.pressure->true_volume[0], 1e-6 * volume);
    /* affine motions change it by their determinant */
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        p->x[0][i] *= .7f;
        p->x[1][i] += .5f * p->x[2][i];
    }
    pl_pressure_measure(&body, NULL);
    CHECK_NEAR(body.enclosed_volume, .7 * body.pressure->true_volume[0], 1e-6 * volume);
    free_body(&body);
    scene_mesh_free(&mesh);
    scene_points_free(&points);
}

TEST(pressure_is_the_same_at_every_thread_count)
{
    scene_mesh mesh = scene_icosphere(1, 4), other = scene_icosphere(.8f, 3);
    scene_points points = scene_points_ball(3000, .95, 5);
    scene_mesh_append(&mesh, &other); /* a second shell, bound to some of the same particles */
    pl_body body;
    REQUIRE_OK(make_body(&body, &points, &mesh));
    CHECK(body.pressure->shell_count == 2);
    CHECK(body.pressure->pull_count > body.pressure->follower_count);
    deform(&body, 1);
    push(&body, .01, NULL);
    size_t bytes = sizeof(float) * body.particles.slot_count;
    float* expected[3];
    for (int k = 0; k < 3; ++k)
        expected[k] = memcpy(malloc(bytes), body.force[k], bytes);
    for (uint32_t threads = 2; threads <= 5; ++threads)
    {
        pl_pool* pool = pl_pool_create(threads);
        push(&body, .01, pool);
        for (int k = 0; k < 3; ++k)
            CHECK(memcmp(expected[k], body.force[k], bytes) == 0);
        pl_pool_destroy(pool);
    }
    for (int k = 0; k < 3; ++k)
        free(expected[k]);
    free_body(&body);
    scene_mesh_free(&mesh);
    scene_mesh_free(&other);
    scene_points_free(&points);
}

TEST(pressure_of_two_shells_is_kept_apart)
{
    scene_mesh mesh = scene_icosphere(1, 3), other = scene_icosphere(1, 3);
    scene_points points = scene_points_ball(600, .95, 5);
    scene_mesh_move(&other, 4, 0, 0);
    scene_mesh_append(&mesh, &other);
    points.at = realloc(points.at, sizeof(float) * 6 * points.count);
    for (uint32_t i = 0; i < 3 * points.count; ++i)
        points.at[3 * points.count + i] = points.at[i] + (i % 3 == 0 ? 4 : 0);
    points.count *= 2;
    pl_body body;
    REQUIRE_OK(make_body(&body, &points, &mesh));
    body.material.inflation = 1;
    pl_particles* p = &body.particles;
    /* squeezing the first ball must not affect the second */
    for (uint32_t i = 0; i < p->slot_count; ++i)
        if (p->id[i] < points.count / 2)
            p->x[2][i] *= .8f;
    push(&body, 1e-4, NULL);
    double here = 0, there = 0;
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        double a = fabs(body.force[0][i]) + fabs(body.force[1][i]) + fabs(body.force[2][i]);
        double* sum = p->id[i] < points.count / 2 ? &here : &there;
        *sum += a * p->mass[i];
    }
    CHECK(here > 0);
    CHECK_MSG(there < 1e-4 * here, "forces sum to %g on the other ball, %g on this", there, here);
    free_body(&body);
    scene_mesh_free(&mesh);
    scene_mesh_free(&other);
    scene_points_free(&points);
}

/* A mesh much finer than the particles is coarsened, with little change. */
TEST(pressure_on_fine_meshes_takes_a_coarser_surface)
{
    scene_points points = scene_points_ball(1500, .97, 5);
    double volumes[3];
    for (uint32_t n = 0; n < 3; ++n)
    {
        scene_mesh mesh = scene_icosphere(1, 3 + n);
        pl_body body;
        REQUIRE_OK(make_body(&body, &points, &mesh));
        CHECK(n == 2 ? body.pressure->triangle_count < mesh.triangle_count / 4
                     : body.pressure->triangle_count <= mesh.triangle_count);
        CHECK_NEAR(body.pressure->rest_volume[0], 4.18879, .05 * 4.18879);
        deform(&body, 1);
        push(&body, 1e-4, NULL);
        balance b = balance_of(&body);
        CHECK_MSG(b.force < 1e-6 && b.torque < 1e-6, "net force %g, torque %g", b.force, b.torque);
        volumes[n] = body.enclosed_volume;
        free_body(&body);
        scene_mesh_free(&mesh);
    }
    CHECK_NEAR(volumes[2], volumes[0], .03 * volumes[0]); /* their own volumes differ by 2 % */
    scene_points_free(&points);
}

TEST(pressure_refuses_meshes_that_enclose_nothing)
{
    scene_points points = scene_points_ball(300, .95, 5);
    scene_mesh sheet = scene_sheet(2, 2, 10, 10), ball = scene_icosphere(1, 3);
    scene_mesh flat = scene_box(2, 2, 1, 4), half = scene_icosphere(1, 3);
    pl_body body = {0};
    CHECK(make_body(&body, &points, &sheet) == PLIANT_ERROR_MESH);
    CHECK(strstr(pliant_last_error(), "open") != NULL);
    free_body(&body);
    scene_mesh_scale(&flat, 1, 1, 1e-8f); /* closed, but flat */
    CHECK(make_body(&body, &points, &flat) == PLIANT_ERROR_MESH);
    free_body(&body);
    half.triangle_count /= 2;
    CHECK(make_body(&body, &points, &half) == PLIANT_ERROR_MESH);
    free_body(&body);
    /* an open sheet beside a ball is ignored */
    scene_mesh_move(&sheet, 0, 0, 3);
    scene_mesh_append(&ball, &sheet);
    REQUIRE_OK(make_body(&body, &points, &ball));
    CHECK(body.pressure->shell_count == 1);
    free_body(&body);
    scene_points few = {.count = 3, .at = points.at};
    CHECK(make_body(&body, &few, &ball) == PLIANT_ERROR_MESH);
    free_body(&body);
    scene_mesh_free(&sheet);
    scene_mesh_free(&ball);
    scene_mesh_free(&flat);
    scene_mesh_free(&half);
    scene_points_free(&points);
}

/* The eyes of Blender's monkey touch its head in single vertices, and are open at the back. */
TEST(pressure_keeps_a_head_whose_eyes_are_open)
{
    scene_points points = scene_points_ball(600, .95, 5);
    scene_mesh head = scene_icosphere(1, 3), eye = scene_icosphere(.3, 2);
    eye.triangle_count /= 2;
    const float *at = head.vertices, *eye_at = eye.vertices + 3 * (size_t)eye.triangles[0];
    scene_mesh_move(&eye, at[0] - eye_at[0], at[1] - eye_at[1], at[2] - eye_at[2]);
    memcpy(eye.vertices + 3 * (size_t)eye.triangles[0], at, 3 * sizeof *at);
    scene_mesh_append(&head, &eye);
    pl_body body;
    REQUIRE_OK(make_body(&body, &points, &head));
    CHECK(body.pressure->shell_count == 1);
    CHECK_NEAR(body.pressure->rest_volume[0], 4.18879, .07 * 4.18879);
    free_body(&body);
    scene_mesh_free(&head);
    scene_mesh_free(&eye);
    scene_points_free(&points);
}

TEST(pressure_runs_out_of_memory_without_harm)
{
    scene_mesh mesh = scene_icosphere(1, 2);
    scene_points points = scene_points_ball(200, .95, 5);
    pl_body body;
    REQUIRE_OK(make_body(&body, &points, &mesh));
    pl_pressure_free(body.pressure);
    body.pressure = NULL;
    uint64_t before = pl_bytes_in_use();
    for (int64_t after = 0; after < 200; ++after)
    {
        pl_fail_allocations_after(after);
        pl_status status = pl_pressure_build(&body, NULL);
        pl_fail_allocations_after(-1);
        if (status == PLIANT_OK)
            break;
        CHECK(status == PLIANT_ERROR_MEMORY);
        CHECK(pl_bytes_in_use() == before);
    }
    CHECK(body.pressure != NULL);
    free_body(&body);
    scene_mesh_free(&mesh);
    scene_points_free(&points);
}

/* ------------------------------------------------------------------ balls, through the API */

typedef struct ball
{
    pliant_scene scene;
    pliant_body body;
} ball;

/* A thin, soft shell of radius .5. */
static pliant_status add_shell(pliant_scene scene, double pressure, double inflation,
                               pliant_body* body)
{
    scene_mesh mesh = scene_icosphere(.5f, 3);
    pliant_body_desc desc;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.mesh.vertex_count = mesh.vertex_count;
    desc.mesh.triangle_count = mesh.triangle_count;
    desc.mesh.vertices = mesh.vertices;
    desc.mesh.triangles = mesh.triangles;
    desc.sample.mode = PLIANT_SAMPLE_SURFACE;
    desc.sample.count = 700;
    desc.sample.thickness = .01;
    desc.material.stiffness = .5;
    desc.material.pressure = pressure;
    desc.material.inflation = inflation;
    pliant_status status = pliant_body_create(scene, &desc, body);
    scene_mesh_free(&mesh);
    return status;
}

/* A shell above the ground, or floating where there is no gravity. */
static pliant_status make_ball(ball* b, double pressure, double inflation, double gravity)
{
    pliant_scene_desc scene;
    pliant_collider_desc ground;
    pliant_collider collider;
    pliant_scene_desc_init(&scene, sizeof scene);
    pliant_collider_desc_init(&ground, sizeof ground);
    scene.threads = 1;
    scene.gravity[2] = gravity;
    ground.pose.position[2] = -.6;
    PL_TRY(pliant_scene_create(&scene, &b->scene));
    PL_TRY(add_shell(b->scene, pressure, inflation, &b->body));
    return gravity != 0 ? pliant_collider_create(b->scene, &ground, &collider) : PLIANT_OK;
}

static pliant_status run_ball(const ball* b, int frames, pliant_body_info* info)
{
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = 4;
    for (int n = 0; n < frames; ++n)
        PL_TRY(pliant_scene_advance(b->scene, &frame));
    pliant_body_info_init(info, sizeof *info);
    return pliant_body_get_info(b->body, info);
}

static double volume_after(double pressure, double inflation, double gravity, int frames)
{
    ball b;
    pliant_body_info rest, info = {0};
    CHECK_OK(make_ball(&b, pressure, inflation, gravity));
    CHECK_OK(run_ball(&b, 0, &rest));
    CHECK_NEAR(rest.enclosed_volume, .5236, .02);
    CHECK_OK(run_ball(&b, frames, &info));
    CHECK_OK(pliant_scene_destroy(b.scene));
    return info.enclosed_volume / rest.enclosed_volume;
}

TEST(an_inflated_ball_keeps_its_volume_where_an_empty_one_collapses)
{
    double empty = volume_after(1e-6, 1, -9.81, 60);
    double full = volume_after(1e5, 1, -9.81, 60);
    CHECK_MSG(empty < .5, "the empty ball keeps %g of its volume", empty);
    CHECK_MSG(full > .97 && full < 1.03, "the full ball keeps %g of its volume", full);
}

TEST(a_ball_is_blown_up_beside_bodies_that_are_not)
{
    for (int first = 0; first < 2; ++first)
    {
        ball b;
        pliant_body_info rest, info;
        pliant_body other;
        REQUIRE_OK(make_ball(&b, first ? 1e4 : 0, 1.3, 0));
        REQUIRE_OK(add_shell(b.scene, first ? 0 : 1e4, 1.3, &other));
        ball full = {b.scene, first ? b.body : other}, empty = {b.scene, first ? other : b.body};
        REQUIRE_OK(run_ball(&full, 0, &rest));
        REQUIRE_OK(run_ball(&full, 30, &info));
        CHECK_MSG(info.enclosed_volume > 1.2 * rest.enclosed_volume, "volume %g of %g",
                  info.enclosed_volume, rest.enclosed_volume);
        REQUIRE_OK(run_ball(&empty, 0, &info));
        CHECK(info.enclosed_volume == 0 && info.kinetic_energy < 1e-6 * rest.mass);
        CHECK_OK(pliant_scene_destroy(b.scene));
    }
}

TEST(a_ball_is_blown_up_to_its_inflation_and_comes_to_rest)
{
    const double pressures[] = {1e3, 1e4, 1e15}; /* from soft to far over the stability limit */
    for (size_t n = 0; n < PL_COUNTOF(pressures); ++n)
    {
        ball b;
        pliant_body_info rest, early, late;
        REQUIRE_OK(make_ball(&b, pressures[n], 1.3, 0));
        REQUIRE_OK(run_ball(&b, 0, &rest));
        REQUIRE_OK(run_ball(&b, 2, &early));
        REQUIRE_OK(run_ball(&b, 60, &late));
        double volume = late.enclosed_volume / rest.enclosed_volume;
        CHECK_MSG(volume > 1.25 && volume < 1.31, "pressure %g: volume %g", pressures[n], volume);
        CHECK_MSG(late.kinetic_energy < .02 * early.kinetic_energy, "pressure %g: energy %g to %g",
                  pressures[n], early.kinetic_energy, late.kinetic_energy);
        /* it neither moves nor rotates */
        for (int k = 0; k < 3; ++k)
        {
            CHECK_NEAR(late.centre[k], rest.centre[k], 1e-4);
            CHECK_NEAR(late.angular_momentum[k], 0, 1e-4 * late.mass);
        }
        CHECK_OK(pliant_scene_destroy(b.scene));
    }
}

TEST(a_ball_with_pressure_goes_on_after_a_restore_to_the_same_bits)
{
    ball b, c;
    pliant_body_info info;
    uint64_t bytes = 0, expected = 0, hash = 1;
    REQUIRE_OK(make_ball(&b, 1e5, 1.1, -9.81));
    REQUIRE_OK(run_ball(&b, 8, &info));
    REQUIRE_OK(pliant_scene_save(b.scene, NULL, &bytes));
    void* block = malloc(bytes);
    REQUIRE_OK(pliant_scene_save(b.scene, block, &bytes));
    double volume = info.enclosed_volume;
    REQUIRE_OK(run_ball(&b, 8, &info));
    REQUIRE_OK(pliant_scene_hash(b.scene, &expected));
    for (uint32_t threads = 1; threads <= 3; ++threads)
    {
        pliant_scene_desc desc;
        pliant_scene_desc_init(&desc, sizeof desc);
        desc.threads = threads;
        REQUIRE_OK(pliant_scene_create(&desc, &c.scene));
        REQUIRE_OK(pliant_scene_restore(c.scene, block, bytes));
        REQUIRE_OK(pliant_scene_get_body(c.scene, 0, &c.body));
        REQUIRE_OK(run_ball(&c, 0, &info));
        CHECK(info.enclosed_volume == volume);
        REQUIRE_OK(run_ball(&c, 8, &info));
        REQUIRE_OK(pliant_scene_hash(c.scene, &hash));
        CHECK_MSG(hash == expected, "%u threads differ", threads);
        REQUIRE_OK(pliant_scene_destroy(c.scene));
    }
    REQUIRE_OK(pliant_scene_destroy(b.scene));
    free(block);
}

/* Pressure animated from 0 requires a closed mesh, which is checked when it is set. */
TEST(pressure_can_be_switched_on_later_if_the_mesh_is_closed)
{
    for (int open = 0; open < 2; ++open)
    {
        scene_mesh mesh = open ? scene_sheet(1, 1, 8, 8) : scene_icosphere(.5f, 2);
        pliant_scene_desc scene_desc;
        pliant_body_desc desc;
        pliant_scene scene;
        pliant_body body;
        pliant_body_info info;
        pliant_scene_desc_init(&scene_desc, sizeof scene_desc);
        pliant_body_desc_init(&desc, sizeof desc);
        pliant_body_info_init(&info, sizeof info);
        desc.mesh.vertex_count = mesh.vertex_count;
        desc.mesh.triangle_count = mesh.triangle_count;
        desc.mesh.vertices = mesh.vertices;
        desc.mesh.triangles = mesh.triangles;
        desc.sample.count = 200;
        REQUIRE_OK(pliant_scene_create(&scene_desc, &scene));
        REQUIRE_OK(pliant_body_create(scene, &desc, &body));
        REQUIRE_OK(pliant_body_get_info(body, &info));
        CHECK(info.enclosed_volume == 0);
        desc.material.pressure = 100;
        pliant_status status = pliant_body_set_material(body, &desc.material);
        CHECK(status == (open ? PLIANT_ERROR_MESH : PLIANT_OK));
        REQUIRE_OK(pliant_body_get_info(body, &info));
        CHECK(open ? info.enclosed_volume == 0 : info.enclosed_volume > .4);
        REQUIRE_OK(pliant_scene_destroy(scene));
        scene_mesh_free(&mesh);
    }
}
