// SPDX-License-Identifier: GPL-3.0-or-later
/* Welds: they hold, they break at their strength, they keep momentum, and they are saved. */
#include "native/support/contact_bodies.h"

#include <api/api.h>
#include <scenes/meshes.h>
#include <stdlib.h>
#include <string.h>

typedef contact_scene yard;

static bool open_yard(yard* y, uint32_t threads, double gravity)
{
    *y = contact_scene_open(threads, gravity);
    return y->handle != 0;
}

static pliant_body cube(const yard* y, double x, double z, double speed)
{
    return contact_block(y, scene_points_box(5, 5, 5, .5, .5, .5, 0, 1), 5, x, z, speed);
}

static uint32_t weld(const yard* y, pliant_body a, pliant_body b, pliant_collider c,
                     double strength)
{
    pliant_weld_desc desc;
    uint32_t count = 0;
    pliant_weld_desc_init(&desc, sizeof desc);
    desc.body = a, desc.other = b, desc.collider = c;
    desc.strength = strength;
    CHECK_OK(pliant_scene_weld(y->handle, &desc, &count));
    CHECK(count == y->scene->welds.count);
    return count;
}

static pliant_status frames(const yard* y, int count)
{
    return contact_scene_advance(y, count, 8);
}

static vec3 centre_of(const yard* y, uint32_t b, vec3* momentum, vec3* spin)
{
    const pl_body* body = y->scene->bodies[b];
    const pl_particles* p = &body->particles;
    vec3 sum = v3(0, 0, 0);
    double mass = 0;
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        vec3 v = v3(p->v[0][s], p->v[1][s], p->v[2][s]), x = contact_world(body, s);
        sum = v3_mad(sum, x, p->mass[s]);
        mass += p->mass[s];
        if (momentum)
            *momentum = v3_mad(*momentum, v, p->mass[s]);
        if (spin)
            *spin = v3_mad(*spin, v3_cross(x, v), p->mass[s]);
    }
    return v3_scale(sum, 1 / mass);
}

/* Two cubes side by side, one of them pushed away: they go together, and momentum stays. */
TEST(welded_bodies_stay_together_and_keep_momentum)
{
    yard y;
    REQUIRE(open_yard(&y, 1, 0));
    pliant_body a = cube(&y, 0, 0, 0), b = cube(&y, .5, .1, 1);
    uint32_t welds = weld(&y, a, b, 0, 0);
    CHECK_MSG(welds >= 30, "%u bonds", welds);
    vec3 before = v3(0, 0, 0), spin = before, after = before, spin_after = before;
    vec3 start = v3_sub(centre_of(&y, 1, &before, &spin), centre_of(&y, 0, &before, &spin));
    REQUIRE_OK(frames(&y, 24));
    vec3 end = v3_sub(centre_of(&y, 1, &after, &spin_after), centre_of(&y, 0, &after, &spin_after));
    CHECK(y.scene->welds.count == welds);
    CHECK_MSG(fabs(v3_length(end) - v3_length(start)) < .06, "they are %g apart, %g before",
              v3_length(end), v3_length(start));
    CHECK_MSG(v3_length(v3_sub(after, before)) < 2e-5 * v3_length(before), "momentum: %g of %g",
              v3_length(v3_sub(after, before)), v3_length(before));
    CHECK_MSG(v3_length(v3_sub(spin_after, spin)) < 1e-4 * v3_length(before), "spin: %g of %g",
              v3_length(v3_sub(spin_after, spin)), v3_length(before));
    CHECK_OK(pliant_body_destroy(b));
    CHECK(y.scene->welds.count == 0);
    CHECK_OK(pliant_scene_destroy(y.handle));
}

/* A cube hangs from a moving box; with a strength below what its weight needs it falls. */
TEST(welds_to_a_collider_hold_and_break)
{
    for (int weak = 0; weak < 2; ++weak)
    {
        yard y;
        pliant_collider_desc desc;
        pliant_collider box;
        REQUIRE(open_yard(&y, 1, -9.81));
        pliant_collider_desc_init(&desc, sizeof desc);
        desc.shape = PLIANT_SHAPE_BOX;
        desc.pose.position[2] = 1;
        desc.pose.extent[0] = desc.pose.extent[1] = desc.pose.extent[2] = .5;
        CHECK_OK(pliant_collider_create(y.handle, &desc, &box));
        pliant_body body = cube(&y, 0, .25, 0);
        /* 122 kg hang on 25 particles of .01 square metres each: 4,800 pascals, more when it starts
         */
        uint32_t welds = weld(&y, body, 0, box, weak ? 1000 : 100000);
        CHECK_MSG(welds == 25, "%u bonds", welds);
        for (int f = 0; f < 24; ++f)
        {
            desc.pose.position[0] += .02;
            CHECK_OK(pliant_collider_move(box, &desc.pose));
            REQUIRE_OK(frames(&y, 1));
        }
        vec3 at = centre_of(&y, 0, NULL, NULL);
        CHECK(y.scene->welds.count == (weak ? 0 : 25));
        CHECK_MSG(weak ? at.z < -1 : at.z > 0 && fabs(at.x - .48) < .15, "weak %d: it is at %g %g",
                  weak, at.x, at.z);
        pliant_scene_info info;
        pliant_scene_info_init(&info, sizeof info);
        CHECK_OK(pliant_scene_get_info(y.handle, &info));
        CHECK(info.welds == y.scene->welds.count);
        CHECK_OK(pliant_scene_destroy(y.handle));
    }
}

/* A plane has no centre, but it slides and rotates; far from the origin too. */
TEST(welds_to_a_plane_go_where_it_slides)
{
    yard y;
    pliant_collider_desc desc;
    pliant_collider floor;
    REQUIRE(open_yard(&y, 1, -9.81));
    pliant_collider_desc_init(&desc, sizeof desc);
    desc.friction = 0;
    desc.pose.position[0] = 995;
    CHECK_OK(pliant_collider_create(y.handle, &desc, &floor));
    CHECK(weld(&y, cube(&y, 1000, .24, 0), 0, floor, 0) == 25);
    for (int f = 0; f < 24; ++f)
    {
        desc.pose.position[0] += .05;
        desc.pose.rotation[3] += .01;
        CHECK_OK(pliant_collider_move(floor, &desc.pose));
        REQUIRE_OK(frames(&y, 1));
    }
    REQUIRE_OK(frames(&y, 24));
    vec3 at = centre_of(&y, 0, NULL, NULL);
    double angle = 2 * atan(.24);
    CHECK_MSG(fabs(at.x - 995 - 1.2 - 5 * cos(angle)) < .05 && fabs(at.y - 5 * sin(angle)) < .05,
              "it is at %g %g", at.x, at.y);
    CHECK_OK(pliant_scene_destroy(y.handle));
}

/* The same from a mesh that moves, turns and bends; and welds outlast a restore. */
typedef struct ceiling
{
    pliant_collider handle;
    scene_mesh mesh;
} ceiling;

static ceiling open_ceiling(const yard* y, uint32_t shape)
{
    ceiling c = {0, scene_box(1, 1, .4f, 6)};
    pliant_collider_desc desc;
    pliant_mesh_desc mesh;
    scene_mesh_move(&c.mesh, 0, 0, .75f); /* down to .55, as far above the cube as they are apart */
    pliant_collider_desc_init(&desc, sizeof desc);
    desc.shape = shape;
    pliant_mesh_desc_init(&mesh, sizeof mesh);
    mesh.vertex_count = c.mesh.vertex_count, mesh.vertices = c.mesh.vertices;
    mesh.triangle_count = c.mesh.triangle_count, mesh.triangles = c.mesh.triangles;
    CHECK_OK(pliant_collider_create_mesh(y->handle, &desc, &mesh, &c.handle));
    return c;
}

static void move_ceiling(ceiling* c, int frame)
{
    scene_mesh_move(&c->mesh, .02f, 0, 0);
    for (uint32_t i = 0; i < c->mesh.vertex_count; ++i) /* a slow wave */
        c->mesh.vertices[3 * i + 2] += .005f * sinf(.3f * (float)frame + c->mesh.vertices[3 * i]);
    CHECK_OK(pliant_collider_set_mesh(c->handle, c->mesh.vertex_count, NULL, c->mesh.vertices));
}

TEST(welds_to_a_mesh_follow_it_and_break)
{
    for (uint32_t shape = PLIANT_SHAPE_MESH; shape <= PLIANT_SHAPE_SHELL; ++shape)
        for (int weak = 0; weak < 2; ++weak)
        {
            yard y;
            REQUIRE(open_yard(&y, 1, -9.81));
            ceiling c = open_ceiling(&y, shape);
            pliant_body body = cube(&y, 0, .3, 0);
            uint32_t welds = weld(&y, body, 0, c.handle, weak ? 1000 : 100000);
            CHECK_MSG(welds == 25, "%u bonds", welds);
            for (int f = 0; f < 24; ++f)
            {
                move_ceiling(&c, f);
                REQUIRE_OK(frames(&y, 1));
            }
            vec3 at = centre_of(&y, 0, NULL, NULL);
            CHECK(y.scene->welds.count == (weak ? 0 : 25));
            CHECK_MSG(weak ? at.z < -1 : at.z > 0 && fabs(at.x - .48) < .15,
                      "shape %u, weak %d: it is at %g %g", shape, weak, at.x, at.z);
            scene_mesh_free(&c.mesh);
            CHECK_OK(pliant_scene_destroy(y.handle));
        }
}

/* Each welded particle keeps its place on its triangle, to a thousandth of the spacing, however the
 * mesh rotates. */
TEST(a_weld_turns_with_its_triangle)
{
    yard y;
    REQUIRE(open_yard(&y, 1, 0));
    ceiling c = open_ceiling(&y, PLIANT_SHAPE_MESH);
    pliant_body body = cube(&y, 0, .3, 0);
    CHECK(weld(&y, body, 0, c.handle, 0) == 25);
    for (int f = 0; f < 24; ++f)
    {
        scene_mesh_turn(&c.mesh, 0, .6f, .8f, .06f);
        CHECK_OK(pliant_collider_set_mesh(c.handle, c.mesh.vertex_count, NULL, c.mesh.vertices));
        REQUIRE_OK(frames(&y, 1));
    }
    REQUIRE_OK(frames(&y, 24));
    const pl_body* it = y.scene->bodies[0];
    for (size_t i = 0; i < y.scene->welds.count; ++i)
    {
        const pl_weld* weld = &y.scene->welds.items[i];
        const uint32_t* corner = c.mesh.triangles + 3 * (size_t)weld->triangle;
        vec3 a = v3_from(c.mesh.vertices + 3 * corner[0]),
             n = v3_normalised(v3_cross(v3_sub(v3_from(c.mesh.vertices + 3 * corner[1]), a),
                                        v3_sub(v3_from(c.mesh.vertices + 3 * corner[2]), a)));
        vec3 x = contact_world(it, it->particles.slot_of[weld->particle]);
        CHECK_NEAR(v3_dot(v3_sub(x, a), n), weld->anchor[2], 1e-4);
    }
    scene_mesh_free(&c.mesh);
    CHECK_OK(pliant_collider_destroy(c.handle));
    CHECK(y.scene->welds.count == 0);
    CHECK_OK(pliant_scene_destroy(y.handle));
}

TEST(welds_to_a_mesh_go_on_after_a_restore_and_with_more_threads)
{
    yard y[2];
    uint64_t bytes = 0, hashes[2];
    REQUIRE(open_yard(&y[0], 1, -2));
    REQUIRE(open_yard(&y[1], 2, -2));
    ceiling c = open_ceiling(&y[0], PLIANT_SHAPE_MESH);
    CHECK(weld(&y[0], cube(&y[0], 0, .3, 0), 0, c.handle, 5e4) == 25);
    REQUIRE_OK(frames(&y[0], 3));
    REQUIRE_OK(pliant_scene_save(y[0].handle, NULL, &bytes));
    void* buffer = malloc(bytes);
    REQUIRE_OK(pliant_scene_save(y[0].handle, buffer, &bytes));
    REQUIRE_OK(pliant_scene_restore(y[1].handle, buffer, bytes));
    CHECK(y[1].scene->welds.count == y[0].scene->welds.count);
    free(buffer);
    for (int i = 0; i < 2; ++i)
    {
        REQUIRE_OK(frames(&y[i], 5));
        CHECK_OK(pliant_scene_hash(y[i].handle, &hashes[i]));
        CHECK_OK(pliant_scene_destroy(y[i].handle));
    }
    CHECK(hashes[0] == hashes[1]);
    scene_mesh_free(&c.mesh);
}

TEST(welds_go_on_after_a_restore_and_with_more_threads)
{
    yard y, again;
    uint64_t bytes = 0, hashes[2];
    REQUIRE(open_yard(&y, 1, -1));
    REQUIRE(open_yard(&again, 2, -1));
    pliant_body a = cube(&y, 0, 0, 0), b = cube(&y, .5, .1, 1);
    uint32_t welds = weld(&y, a, b, 0, 5e4);
    REQUIRE_OK(frames(&y, 3));
    REQUIRE_OK(pliant_scene_save(y.handle, NULL, &bytes));
    void* block = malloc(bytes);
    REQUIRE_OK(pliant_scene_save(y.handle, block, &bytes));
    REQUIRE_OK(pliant_scene_restore(again.handle, block, bytes));
    CHECK(again.scene->welds.count == y.scene->welds.count && welds > 0);
    REQUIRE_OK(frames(&y, 5));
    REQUIRE_OK(frames(&again, 5));
    CHECK_OK(pliant_scene_hash(y.handle, &hashes[0]));
    CHECK_OK(pliant_scene_hash(again.handle, &hashes[1]));
    CHECK(hashes[0] == hashes[1]);
    free(block);
    CHECK_OK(pliant_scene_destroy(y.handle));
    CHECK_OK(pliant_scene_destroy(again.handle));
}

TEST(bad_welds_are_named)
{
    yard y;
    pliant_weld_desc desc;
    REQUIRE(open_yard(&y, 1, 0));
    pliant_body a = cube(&y, 0, 0, 0);
    pliant_weld_desc_init(&desc, sizeof desc);
    desc.body = a;
    CHECK(pliant_scene_weld(y.handle, &desc, NULL) == PLIANT_ERROR_ARGUMENT);
    desc.other = a;
    CHECK(pliant_scene_weld(y.handle, &desc, NULL) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "itself"));
    desc.other = 0, desc.collider = 77;
    CHECK(pliant_scene_weld(y.handle, &desc, NULL) == PLIANT_ERROR_STALE_HANDLE);
    desc.strength = -1;
    CHECK(pliant_scene_weld(y.handle, &desc, NULL) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "strength"));
    CHECK(y.scene->welds.count == 0);
    CHECK_OK(pliant_scene_destroy(y.handle));
}
