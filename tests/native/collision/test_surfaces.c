// SPDX-License-Identifier: GPL-3.0-or-later
/* Surface properties by body, and moving surfaces: belts and drums. */
#include "native/support/contact_bodies.h"

#include <base/hash.h>
#include <scenes/meshes.h>
#include <stdlib.h>
#include <string.h>

static pliant_body block(const contact_scene* s, double x, double z, double speed)
{
    return contact_block(s, scene_points_box(6, 6, 3, .6, .6, .3, 0, 1), 10, x, z, speed);
}

static pliant_body_info info_of(pliant_body body)
{
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    CHECK_OK(pliant_body_get_info(body, &info));
    return info;
}

static double speed_of(pliant_body body, int axis)
{
    pliant_body_info info = info_of(body);
    return info.momentum[axis] / info.mass;
}

/* A plane, or a thick mesh with its top at zero. */
static pliant_collider ground(const contact_scene* s, bool mesh, pliant_collider_desc* desc)
{
    pliant_collider collider = 0;
    if (!mesh)
    {
        CHECK_OK(pliant_collider_create(s->handle, desc, &collider));
        return collider;
    }
    scene_mesh box = scene_box(30, 4, 1, 12);
    scene_mesh_move(&box, 0, 0, -.5f);
    pliant_mesh_desc it;
    pliant_mesh_desc_init(&it, sizeof it);
    it.vertex_count = box.vertex_count, it.vertices = box.vertices;
    it.triangle_count = box.triangle_count, it.triangles = box.triangles;
    desc->shape = PLIANT_SHAPE_MESH;
    CHECK_OK(pliant_collider_create_mesh(s->handle, desc, &it, &collider));
    scene_mesh_free(&box);
    return collider;
}

/* Three blocks slide on one floor of friction 0.4: their own friction decides how far. */
TEST(a_bodys_own_friction_meets_that_of_a_collider)
{
    for (int mesh = 0; mesh < 2; ++mesh)
    {
        static const double own[3] = {-1, .1, 0};
        contact_scene s = contact_scene_open(1, -9.81);
        pliant_collider_desc floor;
        pliant_body body[3];
        pliant_collider_desc_init(&floor, sizeof floor);
        floor.friction = .4;
        ground(&s, mesh != 0, &floor);
        for (int i = 0; i < 3; ++i)
        {
            body[i] = block(&s, 3 * i - 6, .1, 3);
            CHECK_OK(pliant_body_set_surface(body[i], own[i], -1, -1));
        }
        REQUIRE_OK(contact_scene_advance(&s, 12, 8));
        for (int i = 0; i < 3; ++i)
        {
            double mu = own[i] < 0 ? .4 : sqrt(own[i] * .4), expected = 3 - 9.81 * mu * .5;
            CHECK_MSG(fabs(speed_of(body[i], 0) - expected) < .12,
                      "mesh %d, friction %g: it has %g, not %g", mesh, own[i], speed_of(body[i], 0),
                      expected);
        }
        CHECK_OK(pliant_scene_destroy(s.handle));
    }
}

/* A block slides on a long one: the contact is slippery if either is. */
TEST(friction_of_two_bodies_is_their_geometric_mean)
{
    static const double own[3][2] = {{-1, -1}, {0, 1}, {.9, .1}};
    for (int n = 0; n < 3; ++n)
    {
        contact_scene s = contact_scene_open(1, -9.81);
        contact_scene_enable(&s);
        pliant_collider_desc floor;
        pliant_collider_desc_init(&floor, sizeof floor);
        floor.friction = 10;
        ground(&s, false, &floor);
        scene_points points = scene_points_box(24, 8, 3, 2.4, .8, .3, 0, 1);
        pliant_body_desc desc;
        pliant_body slab = 0;
        pliant_body_desc_init(&desc, sizeof desc);
        desc.points = points.at, desc.point_count = points.count;
        desc.points_origin[2] = .1;
        desc.material.stiffness = 20, desc.material.damping = 10;
        CHECK_OK(pliant_body_create(s.handle, &desc, &slab));
        scene_points_free(&points);
        pliant_body top = block(&s, -.7, .41, 2);
        CHECK_OK(pliant_body_set_surface(slab, own[n][0], -1, -1));
        CHECK_OK(pliant_body_set_surface(top, own[n][1], -1, -1));
        REQUIRE_OK(contact_scene_advance(&s, 8, 12));
        double mu = n == 0 ? .5 : sqrt(own[n][0] * own[n][1]);
        double expected = 2 - 9.81 * mu * 8 / 24, got = speed_of(top, 0);
        CHECK_MSG(fabs(got - expected) < .35, "friction %g and %g: it has %g, not %g", own[n][0],
                  own[n][1], got, expected);
        CHECK_OK(pliant_scene_destroy(s.handle));
    }
}

/* One bouncy body acts like a scene restitution. */
TEST(restitution_of_two_bodies_is_the_larger)
{
    uint64_t hashes[3];
    for (int n = 0; n < 3; ++n)
    {
        contact_scene s = contact_scene_open(1, 0);
        pliant_contact_desc contacts;
        pliant_contact_desc_init(&contacts, sizeof contacts);
        contacts.enabled = 1;
        contacts.restitution = n == 1 ? .9 : 0;
        CHECK_OK(pliant_scene_set_contacts(s.handle, &contacts));
        pliant_body a = block(&s, -.5, 0, 1);
        block(&s, .5, 0, -1);
        if (n == 2)
            CHECK_OK(pliant_body_set_surface(a, -1, .9, -1));
        REQUIRE_OK(contact_scene_advance(&s, 24, 12));
        const pl_particles* p = &s.scene->bodies[1]->particles;
        hashes[n] = pl_hash(PL_HASH_START, p->x[0], sizeof(float) * p->slot_count);
        CHECK_OK(pliant_scene_destroy(s.handle));
    }
    CHECK(hashes[1] == hashes[2] && hashes[0] != hashes[1]);
}

TEST(a_bodys_own_thickness_keeps_others_off)
{
    double gap[2];
    for (int thick = 0; thick < 2; ++thick)
    {
        contact_scene s = contact_scene_open(1, -9.81);
        contact_scene_enable(&s);
        pliant_collider_desc floor;
        pliant_collider_desc_init(&floor, sizeof floor);
        ground(&s, false, &floor);
        pliant_body below = block(&s, 0, .1, 0), above = block(&s, 0, .45, 0);
        CHECK_OK(pliant_body_set_surface(thick ? above : below, -1, -1, thick ? .08 : 0));
        REQUIRE_OK(contact_scene_advance(&s, 48, 8));
        gap[thick] = info_of(above).centre[2] - info_of(below).centre[2];
        CHECK_OK(pliant_scene_destroy(s.handle));
    }
    CHECK_MSG(fabs(gap[1] - gap[0] - .08) < .02, "thicker by .08, they are %g and %g apart", gap[1],
              gap[0]);
}

TEST(surfaces_are_saved_and_bad_ones_are_named)
{
    contact_scene s = contact_scene_open(1, -9.81), again = contact_scene_open(2, 0);
    contact_scene_enable(&s);
    pliant_collider_desc floor;
    uint64_t bytes = 0, hashes[2];
    pliant_collider_desc_init(&floor, sizeof floor);
    floor.surface_velocity[0] = 1;
    pliant_collider belt = ground(&s, true, &floor);
    pliant_body a = block(&s, 0, .1, 0), b = block(&s, .1, .42, 0);
    CHECK_OK(pliant_body_set_surface(a, .7, .1, .01));
    REQUIRE_OK(contact_scene_advance(&s, 3, 8));
    REQUIRE_OK(pliant_scene_save(s.handle, NULL, &bytes));
    void* buffer = malloc(bytes);
    REQUIRE_OK(pliant_scene_save(s.handle, buffer, &bytes));
    REQUIRE_OK(pliant_scene_restore(again.handle, buffer, bytes));
    free(buffer);
    for (int i = 0; i < 2; ++i)
    {
        REQUIRE_OK(contact_scene_advance(i ? &again : &s, 5, 8));
        REQUIRE_OK(pliant_scene_hash((i ? &again : &s)->handle, &hashes[i]));
    }
    CHECK(hashes[0] == hashes[1]);
    CHECK(pliant_body_set_surface(b, NAN, 0, 0) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "friction"));
    CHECK(pliant_body_set_surface(b, 0, 1.5, 0) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "restitution"));
    floor.surface_spin[1] = INFINITY;
    CHECK(pliant_collider_set(belt, &floor) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "spin"));
    CHECK_OK(pliant_scene_destroy(s.handle));
    CHECK_OK(pliant_scene_destroy(again.handle));
}

/* ------------------------------------------------------------------ surfaces that run */

/* Friction accelerates a block at mu g up to the belt's speed, for a plane, a rotated box and a
 * mesh. The floor itself does not move. */
TEST(a_belt_takes_a_body_along_up_to_its_speed)
{
    for (int kind = 0; kind < 3; ++kind)
    {
        contact_scene s = contact_scene_open(1, -9.81);
        pliant_collider_desc belt;
        pliant_collider_desc_init(&belt, sizeof belt);
        belt.friction = .3;
        belt.surface_velocity[0] = 1.5;
        belt.surface_velocity[2] = 7; /* into the surface: nothing is thrown */
        if (kind == 1)
        {
            belt.shape = PLIANT_SHAPE_BOX;
            belt.pose.extent[0] = 9, belt.pose.extent[1] = 30, belt.pose.extent[2] = .5;
            belt.pose.position[2] = -.5;
            belt.pose.rotation[0] = belt.pose.rotation[3] = sqrt(.5); /* its y is the world's -x */
            belt.surface_velocity[0] = 0, belt.surface_velocity[1] = -1.5;
        }
        ground(&s, kind == 2, &belt);
        pliant_body body = block(&s, -4, .12, 0);
        REQUIRE_OK(contact_scene_advance(&s, 6, 8));
        double early = speed_of(body, 0), expected = 9.81 * .3 * .25;
        CHECK_MSG(fabs(early - expected) < .25 * expected, "kind %d: after 1/4 s it has %g, not %g",
                  kind, early, expected);
        REQUIRE_OK(contact_scene_advance(&s, 30, 8));
        CHECK_MSG(fabs(speed_of(body, 0) - 1.5) < .02, "kind %d: it has %g, the belt 1.5", kind,
                  speed_of(body, 0));
        CHECK_MSG(fabs(speed_of(body, 2)) < .02 && info_of(body).centre[2] < .2,
                  "kind %d: it was thrown", kind);
        REQUIRE_OK(contact_scene_advance(&s, 24, 8));
        CHECK_MSG(fabs(speed_of(body, 0) - 1.5) < .01, "kind %d: it has %g", kind,
                  speed_of(body, 0));
        CHECK_OK(pliant_scene_destroy(s.handle));
    }
}

/* The surface of a drum spins, its mesh does not: it lifts what lies in it to the angle of
 * friction. */
TEST(a_drum_whose_surface_spins_lifts_what_is_in_it)
{
    for (int mesh = 0; mesh < 2; ++mesh)
    {
        contact_scene s = contact_scene_open(1, -9.81);
        pliant_collider_desc drum;
        pliant_collider collider;
        pliant_collider_desc_init(&drum, sizeof drum);
        drum.friction = .5;
        if (mesh)
        {
            scene_mesh it = scene_cylinder(1, 3, 64, 4);
            scene_mesh_turn(&it, 1, 0, 0, 1.57079632f); /* its axis is y */
            scene_mesh_move(&it, 5, 0, 0);
            pliant_mesh_desc desc;
            pliant_mesh_desc_init(&desc, sizeof desc);
            desc.vertex_count = it.vertex_count, desc.vertices = it.vertices;
            desc.triangle_count = it.triangle_count, desc.triangles = it.triangles;
            drum.shape = PLIANT_SHAPE_SHELL;
            drum.thickness = .01;
            drum.surface_spin[1] = 2;
            drum.surface_centre[0] = 5;
            CHECK_OK(pliant_collider_create_mesh(s.handle, &drum, &desc, &collider));
            scene_mesh_free(&it);
        }
        else
        {
            drum.shape = PLIANT_SHAPE_CYLINDER;
            drum.inside_out = 1;
            drum.pose.extent[0] = 1, drum.pose.extent[1] = 1.5;
            drum.pose.position[0] = 5;
            drum.pose.rotation[0] = sqrt(.5), drum.pose.rotation[1] = -sqrt(.5); /* z to y */
            drum.surface_spin[2] = 2;
            CHECK_OK(pliant_collider_create(s.handle, &drum, &collider));
        }
        scene_points points = scene_points_ball(200, .12, 1);
        pliant_body_desc desc;
        pliant_body ball = 0;
        pliant_body_desc_init(&desc, sizeof desc);
        for (uint32_t i = 0; i < points.count; ++i)
            points.at[3 * i + 1] *= 6; /* a bar: a roll would spin in place */
        for (uint32_t i = 0; i < points.count; ++i)
            points.at[3 * i] *= 2;
        desc.points = points.at, desc.point_count = points.count;
        desc.points_origin[0] = 5, desc.points_origin[2] = -.8;
        desc.material.stiffness = 20, desc.material.damping = 10;
        CHECK_OK(pliant_body_create(s.handle, &desc, &ball));
        scene_points_free(&points);
        double mean = 0;
        REQUIRE_OK(contact_scene_advance(&s, 48, 8));
        for (int f = 0; f < 48; ++f)
        {
            REQUIRE_OK(contact_scene_advance(&s, 1, 8));
            pliant_body_info info = info_of(ball);
            mean += (info.centre[0] - 5) / hypot(info.centre[0] - 5, info.centre[2]) / 48;
        }
        CHECK_MSG(mean < -.2 && mean > -.6, "mesh %d: it lies at %g, the angle of friction is %g",
                  mesh, mean, -sin(atan(.5)));
        CHECK_OK(pliant_scene_destroy(s.handle));
    }
}

/* A belt keeps bodies on it awake, and wakes them when it starts. */
TEST(a_belt_that_starts_wakes_what_sleeps_on_it)
{
    contact_scene s = contact_scene_open(1, -9.81);
    pliant_collider_desc belt;
    pliant_collider_desc_init(&belt, sizeof belt);
    pliant_collider floor = ground(&s, true, &belt);
    pliant_body body = block(&s, 0, .1, 0);
    CHECK_OK(pliant_scene_set_sleep(s.handle, .05, .25));
    REQUIRE_OK(contact_scene_advance(&s, 48, 8));
    CHECK(s.scene->bodies[0]->asleep);
    belt.surface_velocity[0] = 1;
    CHECK_OK(pliant_collider_set(floor, &belt));
    REQUIRE_OK(contact_scene_advance(&s, 24, 8));
    CHECK(!s.scene->bodies[0]->asleep);
    CHECK_MSG(fabs(speed_of(body, 0) - 1) < .02, "it has %g", speed_of(body, 0));
    CHECK_OK(pliant_scene_destroy(s.handle));
}
