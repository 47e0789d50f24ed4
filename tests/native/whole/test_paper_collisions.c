// SPDX-License-Identifier: GPL-3.0-or-later
/* A collision of bodies with levels (Kaliappan and Bargteil, "Multi-resolution Clustering for
 * Enhanced Elastic Behavior in Clustered Shape Matching", 2020, section 5.2): a ball thrown at a
 * wall, in zero gravity. */
#include "native/support/contact_bodies.h"

#include <api/api.h>

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

/* The largest coordinate of a body along an axis; way -1: of the other end. */
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
    double nearest; /* least gap between the ball and the wall */
    double width;   /* least width of the ball along its path */
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

/* The ball touches the wall itself, not a proxy in front of it, bounces and pushes the wall; with
 * more weight on coarse levels it deforms less. */
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
