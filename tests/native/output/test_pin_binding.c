// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/test.h"
#include "scenes/meshes.h"

#include <base/core.h>
#include <body/create.h>
#include <body/layout.h>
#include <output/skin/pin_binding.h>
#include <stdlib.h>
#include <string.h>

/* A body sampled from a mesh, and room for what follows. */
typedef struct fixture
{
    pl_body body;
    uint32_t count;
    float *rest, *targets; /* by id; relative to zero */
} fixture;

static pl_status set_up(fixture* f, const scene_mesh* mesh, uint32_t particles)
{
    pliant_body_desc desc;
    pl_task task = {0};
    memset(f, 0, sizeof *f);
    pliant_body_desc_init(&desc, sizeof desc);
    desc.mesh.vertex_count = mesh->vertex_count;
    desc.mesh.triangle_count = mesh->triangle_count;
    desc.mesh.vertices = mesh->vertices;
    desc.mesh.triangles = mesh->triangles;
    desc.sample.count = particles;
    PL_TRY(pl_body_build(&f->body, &desc, NULL, &task));
    const pl_particles* p = &f->body.particles;
    f->count = p->id_count;
    f->rest = malloc(sizeof(float) * 3 * f->count);
    f->targets = malloc(sizeof(float) * 3 * f->count);
    for (uint32_t id = 0; id < f->count; ++id)
        for (int k = 0; k < 3; ++k)
            f->rest[3 * id + k] = (float)(p->x[k][p->slot_of[id]] + f->body.origin[k]);
    return PLIANT_OK;
}

static void tear_down(fixture* f)
{
    pl_pin_binding_free(f->body.pin_binding);
    f->body.pin_binding = NULL;
    pl_body_free(&f->body);
    free(f->rest);
    free(f->targets);
}

typedef vec3 (*motion)(vec3 at);

static void move_all(motion move, uint32_t count, const float* from, float* to)
{
    for (uint32_t i = 0; i < count; ++i)
        v3_store(move(v3_from(from + 3 * i)), to + 3 * i);
}

/* Largest distance of particles from where the motion would move them. */
static double follow_miss(fixture* f, const scene_mesh* mesh, motion move)
{
    float* animated = malloc(sizeof(float) * 3 * mesh->vertex_count);
    double worst = 0;
    move_all(move, mesh->vertex_count, mesh->vertices, animated);
    CHECK_OK(pl_pin_binding_apply(&f->body, animated, NULL, f->targets));
    for (uint32_t i = 0; i < f->count; ++i)
    {
        vec3 at = v3_from(f->targets + 3 * i), wanted = move(v3_from(f->rest + 3 * i));
        worst = fmax(worst, v3_length(v3_sub(at, wanted)));
    }
    free(animated);
    return worst;
}

static vec3 stay(vec3 p)
{
    return p;
}

static vec3 turn_and_move(vec3 p)
{
    const double c = cos(2), s = sin(2);
    p = v3(c * p.x - s * p.y, s * p.x + c * p.y, p.z);
    return v3(p.x + 1.5, c * p.y - s * p.z - .5, s * p.y + c * p.z + 2);
}

static vec3 stretch_flat(vec3 p)
{
    return v3(1.5 * p.x + .4 * p.y, .7 * p.y, p.z);
}

/* The bar along x becomes three quarters of a circle of radius 1.5. */
static vec3 bend(vec3 p)
{
    double angle = p.x / 1.5;
    return v3((1.5 - p.z) * sin(angle), p.y, 1.5 - (1.5 - p.z) * cos(angle));
}

TEST(follow_moves_particles_rigidly_with_the_mesh)
{
    scene_mesh meshes[] = {scene_creature(3), scene_box(2, 1, 1, 1), scene_torus(1, .3f, 60, 30),
                           scene_icosphere(1, 3)};
    scene_mesh_split(&meshes[3]); /* every triangle alone */
    for (size_t n = 0; n < PL_COUNTOF(meshes); ++n)
    {
        fixture f;
        REQUIRE_OK(set_up(&f, &meshes[n], 800));
        double stays = follow_miss(&f, &meshes[n], stay);
        double turns = follow_miss(&f, &meshes[n], turn_and_move);
        CHECK_MSG(stays < 1e-6, "mesh %zu at rest: particles miss by %g", n, stays);
        CHECK_MSG(turns < 2e-6, "mesh %zu turned: particles miss by %g", n, turns);
        tear_down(&f);
        scene_mesh_free(&meshes[n]);
    }
}

TEST(follow_stretches_with_a_sheet)
{
    scene_mesh sheet = scene_sheet(2, 1, 24, 12);
    fixture f;
    REQUIRE_OK(set_up(&f, &sheet, 500));
    double miss = follow_miss(&f, &sheet, stretch_flat);
    CHECK_MSG(miss < 2e-6, "particles miss by %g", miss);
    tear_down(&f);
    scene_mesh_free(&sheet);
}

/* Least ratio of a neighbour distance to the one at rest. */
static double closest(const fixture* f)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < f->count; ++i)
        for (uint32_t j = 0; j < i; ++j)
        {
            vec3 r = v3_sub(v3_from(f->rest + 3 * i), v3_from(f->rest + 3 * j));
            vec3 x = v3_sub(v3_from(f->targets + 3 * i), v3_from(f->targets + 3 * j));
            if (v3_length(r) < 2 * f->body.spacing)
                least = fmin(least, v3_length(x) / v3_length(r));
        }
    return least;
}

TEST(follow_keeps_the_thickness_of_a_bend)
{
    /* half as thick as the bend's radius: the inside shrinks to 2/3, and nothing more may */
    scene_mesh bar = scene_box(7, 1, 1, 24);
    fixture f;
    REQUIRE_OK(set_up(&f, &bar, 1500));
    double miss = follow_miss(&f, &bar, bend), nearest = closest(&f);
    CHECK_MSG(miss < .08, "particles miss the bend by %g", miss);
    CHECK_MSG(nearest > .55, "neighbours come to %g of their distance", nearest);
    tear_down(&f);
    scene_mesh_free(&bar);
}

TEST(follow_ignores_loose_vertices_and_bears_collapsed_triangles)
{
    scene_mesh mesh = scene_icosphere(1, 2);
    uint32_t used = mesh.vertex_count;
    mesh.vertices = realloc(mesh.vertices, sizeof(float) * 3 * (used + 1));
    mesh.vertices[3 * used] = mesh.vertices[3 * used + 1] = mesh.vertices[3 * used + 2] = 0;
    mesh.vertex_count = used + 1;
    fixture f;
    REQUIRE_OK(set_up(&f, &mesh, 300));
    float* animated = malloc(sizeof(float) * 3 * mesh.vertex_count);
    memcpy(animated, mesh.vertices, sizeof(float) * 3 * mesh.vertex_count);
    animated[3 * used] = 100;
    CHECK_OK(pl_pin_binding_apply(&f.body, animated, NULL, f.targets));
    for (uint32_t i = 0; i < 3 * f.count; ++i)
        CHECK_NEAR(f.targets[i], f.rest[i], 1e-6);
    /* one triangle collapses to a point, then all of them */
    for (int k = 0; k < 6; ++k)
        animated[3 * mesh.triangles[1 + k / 3] + k % 3] = animated[3 * mesh.triangles[0] + k % 3];
    CHECK_OK(pl_pin_binding_apply(&f.body, animated, NULL, f.targets));
    for (uint32_t i = 0; i < 3 * f.count; ++i)
        CHECK(fabs(f.targets[i]) < 2);
    memset(animated, 0, sizeof(float) * 3 * mesh.vertex_count);
    CHECK_OK(pl_pin_binding_apply(&f.body, animated, NULL, f.targets));
    for (uint32_t i = 0; i < 3 * f.count; ++i)
        CHECK(fabs(f.targets[i]) < 2);
    free(animated);
    tear_down(&f);
    scene_mesh_free(&mesh);
}

TEST(follow_is_the_same_at_every_thread_count)
{
    scene_mesh mesh = scene_creature(4);
    fixture f;
    REQUIRE_OK(set_up(&f, &mesh, 2000));
    float* animated = malloc(sizeof(float) * 3 * mesh.vertex_count);
    float* alone = malloc(sizeof(float) * 3 * f.count);
    move_all(bend, mesh.vertex_count, mesh.vertices, animated);
    REQUIRE_OK(pl_pin_binding_apply(&f.body, animated, NULL, alone));
    for (uint32_t threads = 2; threads <= 3; ++threads)
    {
        pl_pool* pool = pl_pool_create(threads);
        pl_pin_binding_free(f.body.pin_binding);
        f.body.pin_binding = NULL;
        CHECK_OK(pl_pin_binding_apply(&f.body, animated, pool, f.targets));
        CHECK(memcmp(alone, f.targets, sizeof(float) * 3 * f.count) == 0);
        pl_pool_destroy(pool);
    }
    free(animated);
    free(alone);
    tear_down(&f);
    scene_mesh_free(&mesh);
}

TEST(follow_runs_out_of_memory_without_harm)
{
    scene_mesh mesh = scene_icosphere(1, 2);
    fixture f;
    REQUIRE_OK(set_up(&f, &mesh, 200));
    uint64_t before = pl_bytes_in_use();
    pl_status status = PLIANT_ERROR_MEMORY;
    for (int64_t after = 0; after < 200 && status != PLIANT_OK; ++after)
    {
        pl_fail_allocations_after(after);
        status = pl_pin_binding_apply(&f.body, mesh.vertices, NULL, f.targets);
        pl_fail_allocations_after(-1);
        CHECK(status == PLIANT_OK || status == PLIANT_ERROR_MEMORY);
        CHECK(status == PLIANT_OK || pl_bytes_in_use() == before);
    }
    CHECK(f.body.pin_binding != NULL);
    tear_down(&f);
    scene_mesh_free(&mesh);
}

/* ------------------------------------------------------------------ through the API */

TEST(follow_until_released_goes_on_with_the_meshes_velocity)
{
    scene_mesh mesh = scene_icosphere(.5f, 3);
    pliant_scene_desc scene_desc;
    pliant_body_desc desc;
    pliant_frame_desc frame;
    pliant_body_info info;
    pliant_scene scene;
    pliant_body body;
    pliant_scene_desc_init(&scene_desc, sizeof scene_desc);
    pliant_body_desc_init(&desc, sizeof desc);
    pliant_frame_desc_init(&frame, sizeof frame);
    pliant_body_info_init(&info, sizeof info);
    memset(scene_desc.gravity, 0, sizeof scene_desc.gravity);
    desc.mesh.vertex_count = mesh.vertex_count;
    desc.mesh.triangle_count = mesh.triangle_count;
    desc.mesh.vertices = mesh.vertices;
    desc.mesh.triangles = mesh.triangles;
    desc.sample.count = 400;
    REQUIRE_OK(pliant_scene_create(&scene_desc, &scene));
    REQUIRE_OK(pliant_body_create(scene, &desc, &body));
    REQUIRE_OK(pliant_body_set_follow(body, 1));
    for (int n = 1; n <= 12; ++n)
    {
        scene_mesh_move(&mesh, .1f, 0, .05f); /* a frame */
        REQUIRE_OK(pliant_body_set_pin_mesh(body, mesh.vertex_count, NULL, mesh.vertices));
        REQUIRE_OK(pliant_scene_advance(scene, &frame));
        REQUIRE_OK(pliant_body_get_info(body, &info));
        CHECK_NEAR(info.centre[0], .1 * n, .01);
        CHECK_NEAR(info.momentum[0] / info.mass, 2.4, 1e-3);
    }
    REQUIRE_OK(pliant_body_set_follow(body, 0));
    for (int n = 0; n < 10; ++n)
        REQUIRE_OK(pliant_scene_advance(scene, &frame));
    REQUIRE_OK(pliant_body_get_info(body, &info));
    CHECK_NEAR(info.centre[0], 2.2, .01);
    CHECK_NEAR(info.momentum[2] / info.mass, 1.2, 1e-3);
    REQUIRE_OK(pliant_scene_destroy(scene));
    scene_mesh_free(&mesh);
}
