// SPDX-License-Identifier: GPL-3.0-or-later
/* Bodies against triangle meshes: squeezed, pushed, at rest; bitwise equal across SIMD paths and
 * threads; invalid meshes. */
#include "native/support/test.h"
#include "native/support/world.h"
#include "scenes/meshes.h"

#include <base/core.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static pliant_status add_mesh(pliant_scene scene, uint32_t shape, const scene_mesh* mesh,
                              pliant_collider* collider)
{
    pliant_collider_desc desc;
    pliant_mesh_desc mesh_desc;
    pliant_collider_desc_init(&desc, sizeof desc);
    pliant_mesh_desc_init(&mesh_desc, sizeof mesh_desc);
    desc.shape = shape;
    mesh_desc.vertex_count = mesh->vertex_count, mesh_desc.vertices = mesh->vertices;
    mesh_desc.triangle_count = mesh->triangle_count, mesh_desc.triangles = mesh->triangles;
    return pliant_collider_create_mesh(scene, &desc, &mesh_desc, collider);
}

TEST(a_mesh_that_appears_in_a_body_pushes_it_out_without_explosion)
{
    pliant_scene scene = world_make(WORLD_PLAIN);
    pliant_collider collider;
    const double none[3] = {0, 0, 0};
    scene_mesh ball = scene_icosphere(.35f, 3);
    scene_mesh_move(&ball, .5f, .5f, .3f);
    REQUIRE_OK(add_mesh(scene, PLIANT_SHAPE_MESH, &ball, &collider));
    CHECK_OK(pliant_scene_set_gravity(scene, none));
    for (int f = 0; f < 48; ++f)
    {
        uint64_t bytes;
        CHECK_OK(world_frame(WORLD_PLAIN, scene));
        float* v = world_read(world_body(scene, 0), PLIANT_VELOCITY, 0, &bytes);
        for (uint64_t i = 0; v && i < bytes / sizeof *v; ++i)
            CHECK_MSG(fabsf(v[i]) < 8, "frame %d: a speed of %g", f, v[i]);
        free(v);
    }
    CHECK(world_finite(world_body(scene, 0)));
    scene_mesh_free(&ball);
    CHECK_OK(pliant_scene_destroy(scene));
}

/* A plate in the plane z = height, or a thin box around it. */
static scene_mesh plate_at(uint32_t shape, double height)
{
    scene_mesh plate =
        shape == PLIANT_SHAPE_MESH ? scene_box(4, 4, .02f, 8) : scene_sheet(4, 4, 8, 8);
    scene_mesh_move(&plate, .5f, .5f, (float)height);
    return plate;
}

static void move_plate(pliant_collider collider, uint32_t shape, double height)
{
    scene_mesh plate = plate_at(shape, height);
    CHECK_OK(pliant_collider_set_mesh(collider, plate.vertex_count, NULL, plate.vertices));
    scene_mesh_free(&plate);
}

static pliant_collider add_plate(pliant_scene scene, uint32_t shape, double height)
{
    pliant_collider collider = 0;
    scene_mesh plate = plate_at(shape, height);
    CHECK_OK(add_mesh(scene, shape, &plate, &collider));
    scene_mesh_free(&plate);
    return collider;
}

/* The lowest and the highest particle, and the fastest. */
static void look_at(pliant_scene scene, double* low, double* high, double* speed)
{
    uint64_t bytes;
    *low = INFINITY, *high = -INFINITY, *speed = 0;
    float* x = world_read(world_body(scene, 0), PLIANT_POSITION, 0, &bytes);
    float* v = world_read(world_body(scene, 0), PLIANT_VELOCITY, 0, &bytes);
    for (uint64_t i = 0; x && v && i < bytes / sizeof *v; i += 3)
    {
        *low = fmin(*low, x[i + 2]), *high = fmax(*high, x[i + 2]);
        *speed = fmax(*speed, sqrt(v[i] * v[i] + v[i + 1] * v[i + 1] + v[i + 2] * v[i + 2]));
    }
    free(x);
    free(v);
}

TEST(a_body_squeezed_between_two_plates_stays_finite_and_between_them)
{
    for (uint32_t shape = PLIANT_SHAPE_MESH; shape <= PLIANT_SHAPE_SHELL; ++shape)
    {
        pliant_scene scene = world_make(WORLD_PLAIN);
        pliant_collider below = add_plate(scene, shape, -.3), above = add_plate(scene, shape, 1.3);
        double low, high, speed;
        for (int f = 0; f < 60; ++f)
        {
            /* down to a tenth of its height, held, and open again */
            double gap = f < 24 ? 1.6 - 1.5 * f / 24 : f < 36 ? .1 : .1 + 1.5 * (f - 36) / 24;
            move_plate(below, shape, .5 - gap / 2);
            move_plate(above, shape, .5 + gap / 2);
            CHECK_OK(world_frame(WORLD_PLAIN, scene));
            look_at(scene, &low, &high, &speed);
            CHECK_MSG(low >= .5 - gap / 2 - 1e-3 && high <= .5 + gap / 2 + 1e-3,
                      "shape %u, frame %d: %g to %g between plates %g apart", shape, f, low, high,
                      gap);
            CHECK_MSG(speed < 30, "shape %u, frame %d: a speed of %g", shape, f, speed);
        }
        CHECK(world_finite(world_body(scene, 0)));
        CHECK_OK(pliant_scene_destroy(scene));
    }
}

TEST(a_plate_that_moves_by_a_body_length_a_frame_takes_the_body_along)
{
    for (uint32_t shape = PLIANT_SHAPE_MESH; shape <= PLIANT_SHAPE_SHELL; ++shape)
    {
        pliant_scene scene = world_make(WORLD_PLAIN);
        pliant_collider plate = add_plate(scene, shape, -.5);
        double low, high, speed;
        for (int f = 0; f < 12; ++f)
        {
            move_plate(plate, shape, .5 + f);
            CHECK_OK(world_frame(WORLD_PLAIN, scene));
            look_at(scene, &low, &high, &speed);
            CHECK_MSG(low >= .5 + f, "shape %u, frame %d: a particle at %g, the plate at %g", shape,
                      f, low, .5 + f);
        }
        CHECK(world_finite(world_body(scene, 0)));
        CHECK_OK(pliant_scene_destroy(scene));
    }
}

TEST(threads_and_simd_paths_give_the_same_bits_on_meshes)
{
    uint64_t first = 0;
    for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
        for (uint32_t threads = 1; threads <= 3; ++threads)
        {
            pliant_scene scene;
            pliant_scene_desc desc;
            pliant_scene_desc_init(&desc, sizeof desc);
            desc.simd = simd, desc.threads = threads;
            if (pliant_scene_create(&desc, &scene) == PLIANT_ERROR_UNSUPPORTED)
                continue;
            CHECK_OK(world_fill(WORLD_MESHES, scene));
            for (int f = 0; f < 12; ++f)
                CHECK_OK(world_frame(WORLD_MESHES, scene));
            pliant_scene_info info;
            pliant_scene_info_init(&info, sizeof info);
            CHECK_OK(pliant_scene_get_info(scene, &info));
            CHECK(info.contacts > 0);
            uint64_t hash = world_hash(scene);
            first = first ? first : hash;
            CHECK_MSG(hash == first, "simd %u, %u threads differ", simd, threads);
            CHECK_OK(pliant_scene_destroy(scene));
        }
}

/* A cube falls on hills at rest and comes to rest there. */
static pliant_scene cube_on_hills(uint32_t shape, double thickness)
{
    pliant_scene scene = world_make(WORLD_PLAIN);
    pliant_collider collider;
    pliant_collider_desc desc;
    scene_mesh hills = scene_sheet(5, 5, 40, 40);
    if (shape == PLIANT_SHAPE_MESH)
    {
        scene_mesh_free(&hills);
        hills = scene_box(5, 5, 1, 40);
        scene_mesh_move(&hills, 0, 0, -.5f);
    }
    for (uint32_t i = 0; i < hills.vertex_count; ++i)
        hills.vertices[3 * i + 2] += .05f * sinf(4 * hills.vertices[3 * i]) - .3f;
    CHECK_OK(add_mesh(scene, shape, &hills, &collider));
    pliant_collider_desc_init(&desc, sizeof desc);
    desc.shape = shape, desc.thickness = thickness, desc.friction = .6;
    CHECK_OK(pliant_collider_set(collider, &desc));
    scene_mesh_free(&hills);
    return scene;
}

static void pass_on(pliant_scene from, pliant_scene to)
{
    uint64_t bytes;
    void* block = world_save(from, &bytes);
    CHECK_OK(pliant_scene_restore(to, block, bytes));
    free(block);
}

TEST(what_is_remembered_of_triangles_changes_nothing)
{
    for (int kind = 0; kind < 4; ++kind)
    {
        uint32_t shape = kind < 2 ? PLIANT_SHAPE_SHELL : PLIANT_SHAPE_MESH;
        pliant_scene kept = cube_on_hills(shape, kind % 2 ? .02 : 0);
        pliant_scene forgets = world_make(WORLD_PLAIN);
        pliant_scene_info info;
        pliant_scene_info_init(&info, sizeof info);
        pass_on(kept, forgets);
        for (int f = 0; f < 40; ++f)
        {
            CHECK_OK(world_frame(WORLD_PLAIN, kept));
            CHECK_OK(world_frame(WORLD_PLAIN, forgets));
            CHECK_MSG(world_hash(kept) == world_hash(forgets), "kind %d, frame %d", kind, f);
            pass_on(forgets, forgets); /* derived data is dropped */
        }
        CHECK_OK(pliant_scene_get_info(kept, &info));
        CHECK_MSG(info.contacts > 4, "%u contacts", (uint32_t)info.contacts);
        CHECK_OK(pliant_scene_destroy(kept));
        CHECK_OK(pliant_scene_destroy(forgets));
    }
}

TEST(a_body_at_rest_costs_no_walk_over_the_tree)
{
    pliant_scene scene = cube_on_hills(PLIANT_SHAPE_MESH, .02);
    pliant_scene_info info;
    uint64_t falling = 0, most = 0;
    pliant_scene_info_init(&info, sizeof info);
    for (int f = 0; f < 100; ++f)
    {
        CHECK_OK(world_frame(WORLD_PLAIN, scene));
        CHECK_OK(pliant_scene_get_info(scene, &info));
        most = PL_MAX(most, info.mesh_triangles);
        falling += info.mesh_nodes;
    }
    CHECK(falling > 0);
    CHECK(info.mesh_nodes == 0);
    CHECK_MSG(info.mesh_triangles < most / 2, "%llu triangles at rest, %llu before",
              (unsigned long long)info.mesh_triangles, (unsigned long long)most);
    CHECK_OK(pliant_scene_destroy(scene));
}

/* ------------------------------------------------------------------ bad input */

TEST(bad_meshes_are_refused_with_a_sentence)
{
    pliant_scene scene = world_make(WORLD_PLAIN);
    pliant_collider collider = 0, plane;
    pliant_collider_desc simple;
    scene_mesh good = scene_box(1, 1, 1, 1), bad = good;
    uint64_t before = world_state(scene);
    bad.triangle_count = 0;
    CHECK(add_mesh(scene, PLIANT_SHAPE_MESH, &bad, &collider) == PLIANT_ERROR_MESH);
    CHECK(strstr(pliant_last_error(), "0 triangles") != NULL);
    bad = good;
    bad.vertices = NULL;
    CHECK(add_mesh(scene, PLIANT_SHAPE_SHELL, &bad, &collider) == PLIANT_ERROR_MESH);
    bad = good;
    bad.vertex_count = 7;
    CHECK(add_mesh(scene, PLIANT_SHAPE_MESH, &bad, &collider) == PLIANT_ERROR_MESH);
    CHECK(strstr(pliant_last_error(), "names vertex 7") != NULL);
    CHECK(add_mesh(scene, PLIANT_SHAPE_BOX, &good, &collider) == PLIANT_ERROR_ARGUMENT);
    float kept = good.vertices[4];
    good.vertices[4] = NAN;
    CHECK(add_mesh(scene, PLIANT_SHAPE_MESH, &good, &collider) == PLIANT_ERROR_MESH);
    CHECK(strstr(pliant_last_error(), "vertex 1") != NULL);
    good.vertices[4] = kept;
    const uint32_t lines[6] = {0, 1, 1, 2, 2, 2};
    bad = good;
    bad.triangles = (uint32_t*)lines, bad.triangle_count = 2;
    CHECK(add_mesh(scene, PLIANT_SHAPE_MESH, &bad, &collider) == PLIANT_ERROR_MESH);
    CHECK(strstr(pliant_last_error(), "none of the collider's 2 triangles") != NULL);
    pliant_collider_desc_init(&simple, sizeof simple);
    simple.shape = PLIANT_SHAPE_MESH;
    CHECK(pliant_collider_create(scene, &simple, &collider) == PLIANT_ERROR_ARGUMENT);
    CHECK(world_state(scene) == before);

    REQUIRE_OK(add_mesh(scene, PLIANT_SHAPE_MESH, &good, &collider));
    simple.shape = PLIANT_SHAPE_PLANE;
    REQUIRE_OK(pliant_collider_create(scene, &simple, &plane));
    before = world_state(scene);
    CHECK(pliant_collider_move(collider, &simple.pose) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_collider_set_mesh(plane, good.vertex_count, NULL, good.vertices) ==
          PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_collider_set_mesh(collider, 3, NULL, good.vertices) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_collider_set_mesh(collider, good.vertex_count, NULL, NULL) == PLIANT_ERROR_MESH);
    good.vertices[5] = INFINITY;
    CHECK(pliant_collider_set_mesh(collider, good.vertex_count, NULL, good.vertices) ==
          PLIANT_ERROR_MESH);
    CHECK(world_state(scene) == before);
    CHECK_OK(pliant_collider_destroy(collider));
    CHECK(pliant_collider_set_mesh(collider, good.vertex_count, NULL, good.vertices) ==
          PLIANT_ERROR_STALE_HANDLE);
    scene_mesh_free(&good);
    CHECK_OK(pliant_scene_destroy(scene));
}

TEST(a_mesh_that_collapses_does_no_harm)
{
    pliant_scene scene = world_make(WORLD_PLAIN);
    pliant_collider collider;
    scene_mesh ball = scene_icosphere(.5f, 2);
    scene_mesh_move(&ball, .5f, .5f, -.6f);
    REQUIRE_OK(add_mesh(scene, PLIANT_SHAPE_MESH, &ball, &collider));
    for (int f = 0; f < 12; ++f)
    {
        /* flat, a point, and whole again, all at once */
        scene_mesh now = scene_icosphere(.5f, 2);
        scene_mesh_scale(&now, f % 4 == 2 ? 0 : 1, f % 4 == 2 ? 0 : 1, f % 2 ? 0 : 1);
        scene_mesh_move(&now, .5f, .5f, -.6f);
        CHECK_OK(pliant_collider_set_mesh(collider, now.vertex_count, NULL, now.vertices));
        CHECK_OK(world_frame(WORLD_PLAIN, scene));
        scene_mesh_free(&now);
    }
    CHECK(world_finite(world_body(scene, 0)));
    scene_mesh_free(&ball);
    CHECK_OK(pliant_scene_destroy(scene));
}
