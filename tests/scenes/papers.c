// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The papers' examples: the stretched cube of Jones et al. 2015 ("Clustering and Collision
 * Detection for Clustered Shape Matching"), and the seven of Kaliappan and Bargteil 2020
 * ("Multi-resolution Clustering for Enhanced Elastic Behavior in Clustered Shape Matching",
 * section 5.2) with the particles, clusters and levels that they give. Their bunnies of 4,131
 * particles and their armadillo are not published: meshes of ours are sampled. Sizes of what the
 * bodies fall on, heights, speeds and materials are not published: those are ours. z is up.
 */
#include "open.h"

#include <math.h>
#include <string.h>

static const double LIMIT_OFF = 0;

/* The papers' step, without what hides the clusters' own behaviour: no strain limit, no spin. */
static void set_material(scene* s, double alpha, double damping)
{
    s->body.material.stiffness = alpha;
    s->body.material.damping = damping;
    s->body.material.strain_limit = LIMIT_OFF;
    s->body.angular_velocity[0] = s->body.angular_velocity[1] = s->body.angular_velocity[2] = 0;
}

static pliant_collider_desc* add_collider(scene* s, uint32_t shape, double x, double y, double z)
{
    pliant_collider_desc* collider = &s->collider[s->collider_count++];
    pliant_collider_desc_init(collider, sizeof *collider);
    collider->shape = shape;
    collider->pose.position[0] = x;
    collider->pose.position[1] = y;
    collider->pose.position[2] = z;
    return collider;
}

/* Through a point; tilted about the y axis by an angle in degrees, toward +x. */
static void add_plane(scene* s, double x, double z, double degrees)
{
    pliant_collider_desc* plane = add_collider(s, PLIANT_SHAPE_PLANE, x, 0, z);
    double half = degrees * 3.14159265358979 / 360;
    plane->pose.rotation[0] = cos(half);
    plane->pose.rotation[2] = sin(half);
}

/* A rod along y. */
static void add_rod(scene* s, double x, double z, double radius)
{
    pliant_collider_desc* rod = add_collider(s, PLIANT_SHAPE_CYLINDER, x, 0, z);
    rod->pose.rotation[0] = rod->pose.rotation[1] = sqrt(.5); /* the axis z to -y */
    rod->pose.extent[0] = radius;
    rod->pose.extent[1] = 4;
}

/* Published points have y up. */
static void stand_up(scene* s)
{
    for (uint32_t i = 0; i < s->points.count; ++i)
    {
        float* p = s->points.at + 3 * (size_t)i;
        float y = p[1];
        p[1] = -p[2];
        p[2] = y;
    }
}

/* The middle of the body's lowest point comes to this height, its middle to x = 0. */
static void put_at(scene* s, const float* at, uint32_t count, double x, double z)
{
    float low[3] = {1e30f, 1e30f, 1e30f}, high[3] = {-1e30f, -1e30f, -1e30f};
    for (uint32_t i = 0; i < 3 * count; ++i)
    {
        low[i % 3] = fminf(low[i % 3], at[i]);
        high[i % 3] = fmaxf(high[i % 3], at[i]);
    }
    double origin[3] = {x - .5 * (low[0] + high[0]), -.5 * (low[1] + high[1]), z - low[2]};
    for (int k = 0; k < 3; ++k)
        s->body.points_origin[k] = s->body.mesh.origin[k] = origin[k];
}

static void float_free(scene* s)
{
    s->scene.gravity[2] = 0;
    s->stretch = 2;
}

void scene_open_stretched_cube(scene* s)
{
    scene_use_points(s, scene_points_box(10, 10, 10, 1, 1, 1, .6, 1));
    scene_set_clusters(s, 50, 0, 1);
    set_material(s, .1, .2);
    float_free(s);
}

void scene_open_hovering_cube(scene* s)
{
    scene_use_points(s, scene_points_box(11, 11, 11, 1, 1, 1, .6, 1));
    scene_set_clusters(s, 66, 0, 3);
    set_material(s, .1, .1);
    float_free(s);
}

/* Published points, or blue noise in a mesh. */
static void use_body(scene* s, const char* file, uint32_t count, scene_mesh mesh, double x,
                     double z)
{
    s->generated = !scene_use_published(s, file, count);
    if (s->generated)
    {
        scene_use_mesh(s, mesh, count);
        put_at(s, mesh.vertices, mesh.vertex_count, x, z);
        return;
    }
    scene_mesh_free(&mesh);
    stand_up(s);
    put_at(s, s->points.at, s->points.count, x, z);
}

/* The published ball is hollow: half of its volume. */
static void use_ball(scene* s, double z)
{
    scene_mesh ball = scene_icosphere(.5f, 4), hollow = scene_icosphere(.397f, 4);
    scene_mesh_flip(&hollow, 1);
    scene_mesh_append(&ball, &hollow);
    scene_mesh_free(&hollow);
    use_body(s, "ball-5098", 5098, ball, 0, z);
    s->body.sample.shells_apart = 0;
    scene_set_clusters(s, 101, .14, 3);
}

void scene_open_falling_ball(scene* s)
{
    use_ball(s, 1);
    set_material(s, .8, .3);
    add_plane(s, 0, 0, 0);
}

void scene_open_plinko(scene* s)
{
    use_ball(s, 3.6);
    set_material(s, 1.5, .3);
    add_plane(s, 0, 0, 0);
    add_plane(s, -2.2, 0, 90);
    add_plane(s, 2.2, 0, -90);
    add_rod(s, .12, 3, .15);
    add_rod(s, -.98, 2.2, .15);
    add_rod(s, 1.22, 2.2, .15);
    add_rod(s, .02, 1.4, .15);
}

void scene_open_falling_bunny(scene* s)
{
    use_body(s, "bunny-16525", 16525, scene_creature(4), 0, 1.2);
    scene_set_clusters(s, 330, s->generated ? 0 : .2, 4);
    set_material(s, .8, .3);
    add_plane(s, 0, 0, 0);
    add_plane(s, -1.2, 0, 50);
    add_plane(s, 1.2, 0, -50);
}

/* Both have 1,000 particles and 66, 8 and 1 clusters. */
void scene_open_ball_and_wall(scene* s)
{
    scene_use_points(s, scene_points_ball(1000, .5, 1));
    scene_set_clusters(s, 66, 0, 3);
    set_material(s, .8, .1);
    memset(s->scene.gravity, 0, sizeof s->scene.gravity);
    s->contact.enabled = 1;
    s->body.velocity[0] = 2;
    s->kind_count = s->copy_count = 1;
    s->copy_kind[0] = 1;
    scene_kind* wall = &s->kind[0];
    wall->points = scene_points_box(5, 20, 10, .5, 2, 1, .6, 1);
    wall->body = s->body;
    wall->body.points = wall->points.at;
    wall->body.point_count = wall->points.count;
    wall->body.velocity[0] = 0;
    s->copy_offset[0][0] = 1.2;
}

/* The left and the right one move towards the one in the middle. */
void scene_open_three_bunnies(scene* s)
{
    const double apart = 2.6;
    scene_mesh mesh = scene_creature(4);
    scene_use_mesh(s, mesh, 4131);
    s->generated = true;
    scene_set_clusters(s, 206, 0, 4);
    put_at(s, mesh.vertices, mesh.vertex_count, -apart, 0);
    set_material(s, 1.5, .1);
    memset(s->scene.gravity, 0, sizeof s->scene.gravity);
    s->contact.enabled = 1;
    s->body.velocity[0] = 2;
    s->copy_count = 2;
    s->copy_offset[0][0] = apart;
    s->copy_offset[1][0] = 2 * apart;
    s->copy_velocity[1][0] = -2;
}

/* The armadillo with its contacts on: its limbs touch. */
void scene_open_armadillo_itself(scene* s)
{
    scene_open_falling_armadillo(s);
    s->contact.enabled = 1;
}

void scene_open_falling_armadillo(scene* s)
{
    const double radius = .3, step = 2 * radius;
    scene_mesh mesh = scene_creature(5);
    scene_use_mesh(s, mesh, 124631);
    scene_set_clusters(s, 8192, scene_radius(scene_mesh_volume(&mesh), 8192, 5), 6);
    put_at(s, mesh.vertices, mesh.vertex_count, .1, 6 * radius + .5);
    set_material(s, .8, .3);
    add_plane(s, 0, 0, 0);
    for (int row = 0; row < 3; ++row)
        for (int k = 0; k < 3 - row; ++k)
            add_rod(s, step * (k - .5 * (2 - row)), radius + row * step * sqrt(.75), radius);
}
