// SPDX-License-Identifier: GPL-3.0-or-later
/* The papers' scenes with bodies in contact: a ball on a thin sheet (Jones et al. 2015), and three
 * bodies that fall onto each other. */
#include "native/support/contact_bodies.h"

#include <api/api.h>
#include <stdlib.h>

static pliant_scene open_world(pl_scene** scene)
{
    pliant_scene_desc desc;
    pliant_contact_desc contacts;
    pliant_scene handle = 0;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = 1;
    CHECK_OK(pliant_scene_create(&desc, &handle));
    CHECK_OK(pl_get_scene(handle, scene));
    pliant_contact_desc_init(&contacts, sizeof contacts);
    contacts.enabled = 1;
    CHECK_OK(pliant_scene_set_contacts(handle, &contacts));
    return handle;
}

static pliant_body add(pliant_scene scene, const pliant_body_desc* like, scene_points points,
                       uint32_t clusters, double x, double z)
{
    pliant_body_desc desc = *like;
    pliant_body body = 0;
    desc.points = points.at;
    desc.point_count = points.count;
    desc.points_origin[0] = x, desc.points_origin[2] = z;
    desc.cluster.count = clusters;
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    return body;
}

static pliant_status frames(pliant_scene scene, int count, uint32_t substeps)
{
    pliant_frame_desc desc;
    pliant_frame_desc_init(&desc, sizeof desc);
    desc.substeps = substeps;
    pliant_status status = PLIANT_OK;
    for (int i = 0; i < count && status == PLIANT_OK; ++i)
        status = pliant_scene_advance(scene, &desc);
    return status;
}

/* A sheet with as many particles as the published one, held at its rim, supports the ball. */
TEST(a_thin_sheet_holds_a_ball)
{
    enum
    {
        SIDE = 73
    };
    pl_scene* scene;
    pliant_body_desc like;
    pliant_body_info info;
    pliant_scene handle = open_world(&scene);
    pliant_body_desc_init(&like, sizeof like);
    like.material.stiffness = 8;
    like.material.damping = 5;
    scene_points points = scene_points_box(SIDE, SIDE, 1, 2, 2, .027, 0, 1);
    pliant_body sheet = add(handle, &like, points, 200, 0, 0);
    float* pins = calloc(points.count, sizeof *pins);
    for (uint32_t i = 0; i < points.count; ++i)
    {
        uint32_t x = i % SIDE, y = i / SIDE;
        pins[i] = x < 2 || y < 2 || x + 2 >= SIDE || y + 2 >= SIDE ? (float)PLIANT_PIN_HELD : 0;
    }
    CHECK_OK(pliant_body_set_pins(sheet, points.count, pins));
    free(pins);
    scene_points_free(&points);
    points = scene_points_ball(600, .25, 1);
    like.material.density = 200;
    pliant_body ball = add(handle, &like, points, 12, .05, .4);
    scene_points_free(&points);
    REQUIRE_OK(frames(handle, 30, 8));
    pliant_body_info_init(&info, sizeof info);
    CHECK_OK(pliant_body_get_info(ball, &info));
    CHECK_MSG(info.centre[2] > -.75 && fabs(info.centre[0]) < .8, "the ball is at %g %g %g",
              info.centre[0], info.centre[1], info.centre[2]);
    uint32_t below = 0; /* the sheet's particles under the ball's centre are under it */
    for (uint32_t s = 0; s < scene->bodies[0]->particles.slot_count; ++s)
    {
        vec3 x = contact_world(scene->bodies[0], s);
        if (scene->bodies[0]->particles.mass[s] > 0 && fabs(x.x - info.centre[0]) < .1 &&
            fabs(x.y - info.centre[1]) < .1)
        {
            CHECK_MSG(x.z < info.centre[2], "the sheet is %g above the ball's middle",
                      x.z - info.centre[2]);
            ++below;
        }
    }
    CHECK(below > 0);
    CHECK_OK(pliant_scene_destroy(handle));
}

/* Three balls fall onto the ground, one above the other: they form a heap without overlap. */
TEST_SLOW(three_bodies_fall_onto_each_other)
{
    pl_scene* scene;
    pliant_collider_desc ground;
    pliant_collider collider;
    pliant_scene handle = open_world(&scene);
    pliant_collider_desc_init(&ground, sizeof ground);
    CHECK_OK(pliant_collider_create(handle, &ground, &collider));
    pliant_body_desc like;
    pliant_body_desc_init(&like, sizeof like);
    like.material.stiffness = 10;
    like.material.damping = 5;
    scene_points points = scene_points_ball(1500, .5, 1);
    for (int i = 0; i < 3; ++i)
        add(handle, &like, points, 40, .2 * i, .6 + 1.2 * i);
    scene_points_free(&points);
    REQUIRE_OK(frames(handle, 40, 8));
    double least = INFINITY;
    for (int a = 0; a < 3; ++a)
        for (int b = a + 1; b < 3; ++b)
        {
            pliant_body_info one, other;
            pliant_body_info_init(&one, sizeof one);
            pliant_body_info_init(&other, sizeof other);
            CHECK_OK(pliant_body_get_info(scene->bodies[a]->handle, &one));
            CHECK_OK(pliant_body_get_info(scene->bodies[b]->handle, &other));
            least = fmin(least, v3_length(v3_sub(v3_fromd(one.centre), v3_fromd(other.centre))));
        }
    CHECK_MSG(least > .75, "two centres are %g apart; the bodies have a radius of .5", least);
    CHECK_OK(pliant_scene_destroy(handle));
}
