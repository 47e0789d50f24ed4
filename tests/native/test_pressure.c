// SPDX-License-Identifier: GPL-3.0-or-later
#include "scenes/meshes.h"
#include "scenes/points.h"
#include "test.h"

#include <base/core.h>
#include <base/rng.h>
#include <setup/body.h>
#include <setup/carry.h>
#include <setup/inflate.h>
#include <setup/layout.h>
#include <stdlib.h>
#include <step/pressure.h>
#include <string.h>

/* ------------------------------------------------------------------ carried points */

static vec3 carried_at(const pl_carried* c, uint32_t i, const vec3* at)
{
    vec3 sum = v3(0, 0, 0);
    for (uint32_t e = c->begin[i]; e < c->begin[i + 1]; ++e)
        sum = v3_mad(sum, at[c->particle[e]], c->weight[e]);
    return sum;
}

/* The largest miss of the rest position, of the sum of weights, and the largest weight. */
static void measure_carried(const pl_carried* c, uint32_t count, const vec3* points,
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
        double miss_off; /* what may be missed: all of it where the particles are flat */
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
        pl_carried c;
        REQUIRE_OK(pl_carry_points(CARRY_POINTS, points, CARRY_CLOUD, rest, shell, NULL, &c));
        double miss, uneven, largest;
        measure_carried(&c, CARRY_POINTS, points, rest, &miss, &uneven, &largest);
        CHECK_MSG(uneven < 1e-6, "case %zu: weights miss 1 by %g", n, uneven);
        CHECK_MSG(miss <= cases[n].miss_off + 1e-5, "case %zu: points are missed by %g", n, miss);
        CHECK_MSG(largest <= 5, "case %zu: the largest weight is %g", n, largest);
        pl_carried_free(&c);
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
    pl_carried c;
    REQUIRE_OK(pl_carry_points(2, points, cloud.count, rest, shell, NULL, &c));
    for (uint32_t i = 0; i < 2; ++i)
    {
        CHECK(c.begin[i + 1] - c.begin[i] >= 12);
        for (uint32_t e = c.begin[i]; e < c.begin[i + 1]; ++e)
            CHECK(shell[c.particle[e]] == (i == 0));
    }
    pl_carried_free(&c);
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
        push(&body, 1e-4, NULL);
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
    double lost = body->material.inflation * rest - body->enclosed_volume;
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
    CHECK_NEAR(body.enclosed_volume, body.pressure->rest_volume[0], 1e-6 * volume);
    CHECK_NEAR(body.enclosed_volume, volume, .02 * volume);
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        float x = p->x[0][i], y = p->x[1][i];
        p->x[0][i] = .6f * x - .8f * y + .25f;
        p->x[1][i] = .8f * x + .6f * y - 1;
    }
    pl_pressure_measure(&body, NULL);
    CHECK_NEAR(body.enclosed_volume, body.pressure->rest_volume[0], 1e-6 * volume);
    /* affine motions change it by their determinant */
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        p->x[0][i] *= .7f;
        p->x[1][i] += .5f * p->x[2][i];
    }
    pl_pressure_measure(&body, NULL);
    CHECK_NEAR(body.enclosed_volume, .7 * body.pressure->rest_volume[0], 1e-6 * volume);
    free_body(&body);
    scene_mesh_free(&mesh);
    scene_points_free(&points);
}

TEST(pressure_is_the_same_at_every_thread_count)
{
    scene_mesh mesh = scene_icosphere(1, 4), other = scene_icosphere(.8f, 3);
    scene_points points = scene_points_ball(3000, .95, 5);
    scene_mesh_append(&mesh, &other); /* a second shell, and particles that carry both */
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
    /* the first ball is squeezed; the second must not feel it */
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
    /* a loose sheet beside a ball is left alone */
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
