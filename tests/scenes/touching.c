// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Scenes about contacts, as the examples of the same names have them, with simple materials: a ball
 * on a thin sheet (Jones et al. 2015, Figure 8), a ball between rollers, and forty bodies of four
 * kinds that rain into a bowl. z is up.
 */
#include "open.h"

#include <math.h>
#include <string.h>

static void stand_still(scene* s)
{
    memset(s->body.angular_velocity, 0, sizeof s->body.angular_velocity);
}

static pliant_collider_desc* add_collider(scene* s, uint32_t shape, double x, double z)
{
    pliant_collider_desc* collider = &s->collider[s->collider_count++];
    pliant_collider_desc_init(collider, sizeof *collider);
    collider->shape = shape;
    collider->pose.position[0] = x, collider->pose.position[2] = z;
    return collider;
}

/* Another kind of body, with the material of the first; the scene takes over the points. */
static scene_kind* add_kind(scene* s, scene_points points, uint32_t clusters)
{
    scene_kind* kind = &s->kind[s->kind_count++];
    scene_points_sort(&points);
    kind->points = points;
    kind->body = s->body;
    kind->body.points = points.at;
    kind->body.point_count = points.count;
    kind->body.cluster.count = clusters;
    kind->body.cluster.radius = 0;
    memset(kind->body.points_origin, 0, sizeof kind->body.points_origin);
    return kind;
}

static void add_copy(scene* s, uint32_t kind, double x, double y, double z)
{
    uint32_t i = s->copy_count++;
    s->copy_kind[i] = kind;
    s->copy_offset[i][0] = x, s->copy_offset[i][1] = y, s->copy_offset[i][2] = z;
    s->copy_velocity[i][2] = -1;
}

#define SHEET_SIDE 2.0

static bool at_the_rim(const float at[3])
{
    return fmaxf(fabsf(at[0]), fabsf(at[1])) > (float)(.5 * SHEET_SIDE) - .05f;
}

/* As many particles as the published sheet, in one layer. */
void scene_open_sheet(scene* s)
{
    scene_use_points(s, scene_points_box(71, 75, 1, SHEET_SIDE, SHEET_SIDE, .027, .3, 1));
    scene_set_clusters(s, 213, 0, 1);
    stand_still(s);
    s->contact.enabled = 1;
    s->held = at_the_rim;
    scene_kind* ball = add_kind(s, scene_points_ball(1500, .3, 1), 30);
    ball->body.material.density = .25 * s->body.material.density;
    add_copy(s, 1, .1, -.07, .4);
}

/* The rollers turn toward each other above, so that they draw the ball in. */
void scene_open_squeeze(scene* s)
{
    scene_use_points(s, scene_points_ball(4000, .5, 1));
    scene_set_clusters(s, 80, 0, 3);
    stand_still(s);
    s->body.material.stiffness = .2;
    s->body.material.damping = .3;
    s->body.material.strain_limit = 0; /* it has to become a third as thick */
    s->body.points_origin[2] = 2.6;
    for (int side = -1; side <= 1; side += 2)
    {
        pliant_collider_desc* roller = add_collider(s, PLIANT_SHAPE_CYLINDER, .98 * side, 1.7);
        roller->pose.rotation[0] = roller->pose.rotation[1] = sqrt(.5); /* the axis z to -y */
        roller->pose.extent[0] = .8;
        roller->pose.extent[1] = 1;
        roller->friction = 1.5;
        roller->surface_spin[2] = 4 * side;
    }
    add_collider(s, PLIANT_SHAPE_PLANE, 0, 0);
}

/* Half of a sphere that stands on the ground, from a square that is drawn into a disc. */
static scene_mesh bowl_mesh(float radius)
{
    scene_mesh mesh = scene_sheet(2, 2, 32, 32);
    for (uint32_t i = 0; i < mesh.vertex_count; ++i)
    {
        float *p = mesh.vertices + 3 * (size_t)i, u = p[0], v = p[1];
        p[0] = radius * u * sqrtf(1 - .5f * v * v);
        p[1] = radius * v * sqrtf(1 - .5f * u * u);
        p[2] = radius - sqrtf(fmaxf(0, radius * radius - p[0] * p[0] - p[1] * p[1]));
    }
    return mesh;
}

void scene_open_rain(scene* s)
{
    enum
    {
        BODIES = 40
    };
    scene_use_points(s, scene_points_ball(250, .17, 1));
    scene_set_clusters(s, 8, 0, 1);
    stand_still(s);
    s->body.material.strain_limit = .5;
    s->contact.enabled = 1;
    add_kind(s, scene_points_box(6, 6, 7, .27, .27, .3, .3, 1), 8);
    add_kind(s, scene_points_box(9, 9, 3, .36, .36, .12, .3, 1), 8);
    add_kind(s, scene_points_box(4, 4, 16, .15, .15, .6, .3, 1), 8);
    s->body.points_origin[2] = .4;
    s->body.velocity[2] = -1;
    for (int i = 1; i < BODIES; ++i)
        add_copy(s, (uint32_t)i % 4, .42 * (i % 3 - 1) + .03 * sin(7. * i),
                 .42 * (i / 3 % 3 - 1) + .03 * cos(5. * i), .4 * (i % 4 == 0 ? 0 : 1) + .13 * i);
    s->ground = bowl_mesh(.95f);
    pliant_collider_desc_init(&s->ground_desc, sizeof s->ground_desc);
    s->ground_desc.shape = PLIANT_SHAPE_SHELL;
    s->ground_desc.thickness = .03;
    s->ground_desc.friction = .4;
    add_collider(s, PLIANT_SHAPE_PLANE, 0, -.01);
}
