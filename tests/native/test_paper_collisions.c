// SPDX-License-Identifier: GPL-3.0-or-later
/* Collisions of bodies with levels, as Kaliappan and Bargteil tell of them ("Multi-resolution
 * Clustering for Enhanced Elastic Behavior in Clustered Shape Matching", section 5.2): a ball
 * thrown at a wall, three bodies that meet in zero gravity, and a body with limbs that lands and
 * may touch itself. Smaller than published. */
#include "contact_bodies.h"

#include <api.h>
#include <scenes/meshes.h>

static pliant_body_desc with_levels(uint32_t count, bool favour_fine)
{
    pliant_body_desc desc;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.levels.count = count;
    desc.levels.weighting = PLIANT_WEIGHT_LINEAR;
    desc.levels.favour_fine = favour_fine;
    desc.material.stiffness = 6;
    desc.material.damping = 1;
    return desc;
}

static contact_scene open_space(double gravity)
{
    contact_scene s = contact_scene_open(1, gravity);
    contact_scene_enable(&s);
    return s;
}

static pliant_body_info info_of(const contact_scene* s, uint32_t body)
{
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    CHECK_OK(pliant_body_get_info(s->scene->bodies[body]->handle, &info));
    return info;
}

static double speed_of(const contact_scene* s, uint32_t body)
{
    pliant_body_info info = info_of(s, body);
    return info.momentum[0] / info.mass;
}

/* The farthest particle of a body along an axis; way -1: the other end. */
static double end_of(const contact_scene* s, uint32_t body, int axis, double way)
{
    const pl_body* b = s->scene->bodies[body];
    double most = -INFINITY;
    for (uint32_t i = 0; i < b->particles.slot_count; ++i)
    {
        vec3 x = contact_world(b, i);
        const double at[3] = {x.x, x.y, x.z};
        if (b->particles.mass[i] > 0)
            most = fmax(most, way * at[axis]);
    }
    return way * most;
}

/* ------------------------------------------------------------------ a ball and a wall */

typedef struct throw
{
    double nearest; /* gap between the ball and the wall, at least */
    double width;   /* of the ball along its way, at least */
    double back, pushed;
}
throw;

static throw throw_at_wall(bool favour_fine)
{
    contact_scene s = open_space(0);
    throw out = {INFINITY, INFINITY, 0, 0};
    pliant_body body;
    pliant_body_desc ball = with_levels(3, favour_fine), wall = with_levels(3, true);
    scene_points round = scene_points_ball(1000, .5, 1);
    scene_points flat = scene_points_box(5, 15, 14, .5, 1.5, 1.4, 0, 1);
    ball.points = round.at, ball.point_count = round.count, ball.cluster.count = 66;
    ball.points_origin[0] = -1.1, ball.velocity[0] = 2.5;
    wall.points = flat.at, wall.point_count = flat.count, wall.cluster.count = 66;
    CHECK_OK(pliant_body_create(s.handle, &ball, &body));
    CHECK_OK(pliant_body_create(s.handle, &wall, &body));
    scene_points_free(&round);
    scene_points_free(&flat);
    double momentum = info_of(&s, 0).momentum[0];
    for (int frame = 0; frame < 20; ++frame)
    {
        CHECK_OK(contact_scene_advance(&s, 1, 8));
        out.nearest = fmin(out.nearest, end_of(&s, 1, 0, -1) - end_of(&s, 0, 0, 1));
        out.width = fmin(out.width, end_of(&s, 0, 0, 1) - end_of(&s, 0, 0, -1));
    }
    out.back = -speed_of(&s, 0), out.pushed = speed_of(&s, 1);
    double after = info_of(&s, 0).momentum[0] + info_of(&s, 1).momentum[0];
    CHECK_MSG(fabs(after - momentum) < 1e-5 * momentum, "momentum was %g and is %g", momentum,
              after);
    CHECK_MSG(info_of(&s, 0).centre[0] < info_of(&s, 1).centre[0] - .4,
              "the ball is in the wall or behind it");
    CHECK_OK(pliant_scene_destroy(s.handle));
    return out;
}

/* It touches the wall itself, not a proxy far before it, is thrown back and pushes the wall; with
 * more weight on coarse levels it stays rounder. */
TEST(a_ball_thrown_at_a_wall_bounces_off)
{
    throw soft = throw_at_wall(true), stiff = throw_at_wall(false);
    const throw *both[2] = {&soft, &stiff};
    for (int i = 0; i < 2; ++i)
    {
        CHECK_MSG(both[i]->nearest < .1, "the ball stays %g away from the wall", both[i]->nearest);
        CHECK_MSG(both[i]->back > .1 && both[i]->back < 2.5, "it comes back at %g", both[i]->back);
        CHECK_MSG(both[i]->pushed > .1, "the wall goes at %g", both[i]->pushed);
    }
    CHECK_MSG(stiff.width > soft.width + .01, "coarse levels leave it %g wide, fine ones %g",
              stiff.width, soft.width);
}

/* ------------------------------------------------------------------ three bodies */

static void add_creature(const contact_scene* s, uint32_t particles, uint32_t clusters, vec3 at,
                         double speed)
{
    pliant_body body;
    pliant_body_desc desc = with_levels(0, true);
    scene_mesh mesh = scene_creature(3);
    scene_mesh_scale(&mesh, .5f, .5f, .5f);
    scene_mesh_move(&mesh, (float)at.x, (float)at.y, (float)at.z);
    desc.mesh.vertex_count = mesh.vertex_count, desc.mesh.vertices = mesh.vertices;
    desc.mesh.triangle_count = mesh.triangle_count, desc.mesh.triangles = mesh.triangles;
    desc.sample.count = particles;
    desc.cluster.count = clusters;
    desc.velocity[0] = speed;
    CHECK_OK(pliant_body_create(s->handle, &desc, &body));
    scene_mesh_free(&mesh);
}

TEST(three_bodies_collide_in_zero_gravity)
{
    contact_scene s = open_space(0);
    for (int i = -1; i <= 1; ++i)
        add_creature(&s, 500, 30, v3(1.5 * i, .05 * i, .1 * i), -2. * i);
    double scale = 2 * info_of(&s, 0).mass, contacts = 0, before = 0;
    for (uint32_t b = 0; b < 3; ++b)
        before += info_of(&s, b).momentum[0];
    for (int frame = 0; frame < 28; ++frame)
    {
        CHECK_OK(contact_scene_advance(&s, 1, 8));
        contacts += (double)s.scene->contacts;
    }
    double total = 0, place[3];
    for (uint32_t b = 0; b < 3; ++b)
    {
        pliant_body_info info = info_of(&s, b);
        total += info.momentum[0];
        place[b] = info.centre[0];
    }
    CHECK(contacts > 0);
    CHECK_MSG(fabs(total - before) < 1e-5 * scale, "their momentum was %g and is %g", before,
              total);
    CHECK_MSG(place[0] < place[1] - .5 && place[1] < place[2] - .5, "they are at %g %g %g",
              place[0], place[1], place[2]);
    CHECK_MSG(speed_of(&s, 0) < -.2 && speed_of(&s, 2) > .2 && fabs(speed_of(&s, 1)) < .5,
              "they go at %g %g %g", speed_of(&s, 0), speed_of(&s, 1), speed_of(&s, 2));
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* ------------------------------------------------------------------ limbs */

TEST(a_body_with_limbs_lands_and_is_not_blown_up_by_itself)
{
    contact_scene s = open_space(-9.81);
    pliant_collider_desc ground;
    pliant_collider collider;
    pliant_collider_desc_init(&ground, sizeof ground);
    CHECK_OK(pliant_collider_create(s.handle, &ground, &collider));
    add_creature(&s, 1200, 80, v3(0, 0, .9), 0);
    double before[3], most[3] = {0, 0, 0};
    for (int k = 0; k < 3; ++k)
        before[k] = end_of(&s, 0, k, 1) - end_of(&s, 0, k, -1);
    for (int frame = 0; frame < 36; ++frame)
    {
        CHECK_OK(contact_scene_advance(&s, 1, 8));
        for (int k = 0; k < 3; ++k)
            most[k] = fmax(most[k], end_of(&s, 0, k, 1) - end_of(&s, 0, k, -1));
    }
    CHECK(s.scene->bodies[0]->pair_rules.held_count > 0);
    double low = end_of(&s, 0, 2, -1);
    CHECK_MSG(low > -1e-3 && low < .1, "its lowest particle is at %g", low);
    for (int k = 0; k < 3; ++k)
        CHECK_MSG(most[k] < 1.5 * before[k], "along %d it was %g long and got %g", k, before[k],
                  most[k]);
    pliant_body_info info = info_of(&s, 0);
    double fall = info.mass * 9.81 * .4;
    CHECK_MSG(info.kinetic_energy < .25 * fall, "it has %g joules after a fall of %g",
              info.kinetic_energy, fall);
    CHECK_OK(pliant_scene_destroy(s.handle));
}
