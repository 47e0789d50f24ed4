// SPDX-License-Identifier: GPL-3.0-or-later
/* Painted material: stiffness, damping, strain limit and density that vary over body and time. */
#include "native/support/cubes.h"
#include "native/support/test.h"

#include <scenes/bars.h>
#include <scenes/meshes.h>
#include <stdlib.h>

/* A bar along z, stretched by a tenth between its held ends. "upper": factor of its upper half. */
static bool make_pulled_bar(pliant_scene* scene, pliant_body* body, float upper)
{
    pliant_scene_desc sd;
    pliant_body_desc bd;
    scene_mesh mesh = scene_box(.3f, .3f, 1, 20);
    float* paint = malloc(mesh.vertex_count * sizeof *paint);
    for (uint32_t i = 0; i < mesh.vertex_count; ++i)
        paint[i] = mesh.vertices[3 * i + 2] > 0 ? upper : 1;
    pliant_scene_desc_init(&sd, sizeof sd);
    pliant_body_desc_init(&bd, sizeof bd);
    sd.threads = 2;
    sd.gravity[2] = 0;
    bd.mesh.vertices = mesh.vertices;
    bd.mesh.triangles = mesh.triangles;
    bd.mesh.vertex_count = mesh.vertex_count;
    bd.mesh.triangle_count = mesh.triangle_count;
    bd.sample.count = 2000;
    bd.cluster.count = 80;
    bd.material.drag = 30;
    bd.stiffness_factor = paint;
    pliant_status status = pliant_scene_create(&sd, scene);
    if (status == PLIANT_OK)
        status = pliant_body_create(*scene, &bd, body);
    CHECK_MSG(status == PLIANT_OK, "%s", pliant_last_error());
    free(paint);
    scene_mesh_free(&mesh);
    if (status != PLIANT_OK)
        return false;
    uint32_t count;
    float* x = scene_read_floats(*body, PLIANT_REST, 0, NULL, &count);
    float* pins = calloc(count / 3, sizeof *pins);
    for (uint32_t i = 0; i < count / 3; ++i)
    {
        pins[i] = fabsf(x[3 * i + 2]) > .46f ? PLIANT_PIN_HELD : 0;
        x[3 * i + 2] *= 1.1f;
    }
    CHECK_OK(pliant_body_set_particles(*body, count / 3, NULL, x, NULL));
    CHECK_OK(pliant_body_set_pins(*body, count / 3, pins));
    free(pins);
    free(x);
    return true;
}

/* The bar's strain between two heights, by least squares. */
static double strain_between(pliant_body body, double low, double high)
{
    uint32_t count;
    float* r = scene_read_floats(body, PLIANT_REST, 0, NULL, &count);
    float* x = scene_read_floats(body, PLIANT_POSITION, 0, NULL, &count);
    double n = 0, r1 = 0, r2 = 0, x1 = 0, rx = 0;
    for (uint32_t i = 2; i < count; i += 3)
        if (r[i] > low && r[i] < high)
            n += 1, r1 += r[i], r2 += r[i] * r[i], x1 += x[i], rx += r[i] * x[i];
    free(r);
    free(x);
    return (n * rx - r1 * x1) / (n * r2 - r1 * r1) - 1;
}

TEST(painted_stiffness_shows_and_may_change_by_frame)
{
    pliant_scene scene = 0;
    pliant_body body = 0;
    REQUIRE(make_pulled_bar(&scene, &body, 2));
    for (int f = 0; f < 40; ++f)
        CHECK_OK(cube_advance(scene, 1.0 / 24, 0));
    double upper = strain_between(body, .12, .38), lower = strain_between(body, -.38, -.12);
    CHECK_MSG(upper > .03 && lower / upper > 1.7 && lower / upper < 2.3,
              "strain %.4f where twice as stiff, %.4f elsewhere", upper, lower);
    uint32_t count;
    float* paint = scene_read_floats(body, PLIANT_MASS, 0, NULL, &count);
    float* rest = scene_read_floats(body, PLIANT_REST, 0, NULL, &count);
    for (uint32_t i = 0; i < count / 3; ++i)
        paint[i] = rest[3 * i + 2] > 0 ? 1 : 2;
    CHECK_OK(pliant_body_set_factors(body, PLIANT_FACTOR_STIFFNESS, count / 3, paint));
    for (int f = 0; f < 40; ++f)
        CHECK_OK(cube_advance(scene, 1.0 / 24, 0));
    double now_upper = strain_between(body, .12, .38), now_lower = strain_between(body, -.38, -.12);
    CHECK_MSG(now_upper / now_lower > 1.7 && now_upper / now_lower < 2.3,
              "turned round: strain %.4f above, %.4f below", now_upper, now_lower);
    CHECK_OK(pliant_body_set_factors(body, PLIANT_FACTOR_STIFFNESS, 0, NULL));
    for (int f = 0; f < 40; ++f)
        CHECK_OK(cube_advance(scene, 1.0 / 24, 0));
    CHECK_NEAR(strain_between(body, .12, .38), strain_between(body, -.38, -.12), .006);
    free(paint);
    free(rest);
    pliant_scene_destroy(scene);
}

TEST(painted_damping_may_change_by_frame)
{
    cube c = cube_new(6, 1);
    float factor[216];
    for (int i = 0; i < 216; ++i)
        factor[i] = (float)(i % 2 ? .5 : 1.5); /* 1 on average, nearly */
    c.desc.material.stiffness = 3;
    c.desc.material.damping = 1;
    c.desc.damping_factor = factor;
    REQUIRE(cube_make(&c));
    cube_stretch(&c, 1.1);
    CHECK_NEAR(cube_watch(&c, 72, 1.0 / 24, 2).decay, .5, .03);
    for (int i = 0; i < 216; ++i)
        factor[i] = 3;
    CHECK_OK(pliant_body_set_factors(c.body, PLIANT_FACTOR_DAMPING, 216, factor));
    CHECK_NEAR(cube_watch(&c, 72, 1.0 / 24, 2).decay, 1.5, .06);
    cube_free(&c);
}

TEST(painted_density_is_mass)
{
    cube c = cube_new(6, 5);
    float factor[216], volume[216];
    for (int i = 0; i < 216; ++i)
    {
        factor[i] = c.points.at[3 * i] > 0 ? 3 : 1;
        volume[i] = 1.0f / 216;
    }
    c.desc.volumes = volume;
    REQUIRE(cube_make(&c));
    double plain = cube_info(c.body).mass;
    uint32_t count;
    float* before = scene_read_floats(c.body, PLIANT_MASS, 0, NULL, &count);
    CHECK_NEAR(plain, 1000, 1e-3); /* a cubic metre */
    pliant_scene_destroy(c.scene);
    c.desc.density_factor = factor;
    REQUIRE(cube_make(&c));
    CHECK_NEAR(cube_info(c.body).mass / plain, 2, .02);
    CHECK_NEAR(cube_info(c.body).centre[0], .125, .01); /* (3 - 1) / (3 + 1) of a quarter */
    float* after = scene_read_floats(c.body, PLIANT_MASS, 0, NULL, &count);
    for (uint32_t i = 0; i < count; ++i)
        CHECK(fabsf(after[i] / before[i] - factor[i]) < 1e-4f);
    free(before);
    free(after);
    cube_free(&c);
}

/* Stretched, sheared and spinning. Returns sum m |x| |v| about the centre. */
static double disturb(const cube* c)
{
    uint32_t count;
    float *x = scene_read_floats(c->body, PLIANT_POSITION, 0, NULL, &count), *v = calloc(count, 4);
    float* mass = scene_read_floats(c->body, PLIANT_MASS, 0, NULL, &count);
    double scale = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        float *p = x + 3 * (size_t)i, *u = v + 3 * (size_t)i;
        p[0] = 1.3f * p[0] + .1f * p[1];
        u[0] = -2 * p[1], u[1] = 2 * p[0], u[2] = p[0] - .5f * p[1] * p[2];
        scale += mass[i] * sqrt((double)(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])) *
                 sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
    }
    CHECK_OK(pliant_body_set_particles(c->body, count, NULL, x, v));
    free(x);
    free(v);
    free(mass);
    return scale;
}

TEST(painted_material_keeps_momentum)
{
    enum
    {
        N = 9,
        COUNT = N * N * N
    };
    static float stiffness[COUNT], damping[COUNT], limit[COUNT], density[COUNT];
    cube c = cube_new(N, 40);
    for (int i = 0; i < COUNT; ++i)
    {
        const float* p = c.points.at + 3 * (size_t)i;
        stiffness[i] = p[0] > 0 ? 3 : .3f;
        damping[i] = p[1] > 0 ? 4 : 0;
        limit[i] = p[2] > .2f ? .3f : 1;
        density[i] = p[0] + p[2] > 0 ? 5 : 1;
    }
    c.desc.material.stiffness = 3;
    c.desc.material.damping = .3;
    c.desc.material.strain_limit = .2;
    c.desc.stiffness_factor = stiffness;
    c.desc.damping_factor = damping;
    c.desc.strain_limit_factor = limit;
    c.desc.density_factor = density;
    REQUIRE(cube_make(&c));
    double scale = disturb(&c), linear = 0, angular = 0;
    pliant_body_info before = cube_info(c.body);
    for (int f = 0; f < 1000; ++f)
    {
        CHECK_OK(cube_advance(c.scene, 1.0 / 60, 1));
        pliant_body_info now = cube_info(c.body);
        for (int k = 0; k < 3; ++k)
        {
            linear = fmax(linear, fabs(now.momentum[k] - before.momentum[k]));
            angular = fmax(angular, fabs(now.angular_momentum[k] - before.angular_momentum[k]));
        }
    }
    CHECK_MSG(linear < 1e-4 * scale, "momentum is off by %.2e", linear / scale);
    CHECK_MSG(angular < 1e-4 * scale, "angular momentum is off by %.2e", angular / scale);
    CHECK(cube_info(c.body).mass_quanta == before.mass_quanta);
    cube_free(&c);
}
