// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Kaliappan and Bargteil 2020, "Three Bunnies Collide": in zero gravity two bunnies hit a third,
 * which is at rest, from the left and from the right; about as many particles as in the paper, 206
 * clusters and three coarser levels. The paper's two configurations differ in stiffness and in the
 * weights of levels, and its result is that the bunnies move differently after the impact.
 */
#include "native/support/contact_bodies.h"

#include <scenes/scenes.h>

#define SPEED 1.5

typedef struct bunnies
{
    vec3 x[3], v[3];
    double kinetic; /* energy, of all of them */
} bunnies;

typedef struct configuration
{
    double alpha[3];
    uint32_t weighting[3];
} configuration;

static bunnies look_at(const pl_scene* of)
{
    bunnies now = {.kinetic = 0};
    for (int i = 0; i < 3; ++i)
    {
        pliant_body_info info;
        pliant_body_info_init(&info, sizeof info);
        CHECK_OK(pliant_body_get_info(of->bodies[i]->handle, &info));
        now.x[i] = v3_fromd(info.centre);
        now.v[i] = v3_scale(v3_fromd(info.momentum), 1 / of->bodies[i]->mass);
        now.kinetic += info.kinetic_energy;
    }
    return now;
}

/* Removes points that are nearer than "distance" to a kept one, which keeps the sampling uniform.
 * Returns the number of points left. */
static uint32_t thin_out(const scene_points* points, double distance)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < points->count; ++i)
    {
        vec3 p = v3_from(points->at + 3 * (size_t)i);
        bool apart = true;
        for (uint32_t j = kept; j-- > 0 && apart;)
        {
            vec3 d = v3_sub(v3_from(points->at + 3 * (size_t)j), p);
            apart = v3_dot(d, d) >= distance * distance;
        }
        if (apart)
            v3_store(p, points->at + 3 * (size_t)kept++);
    }
    return kept;
}

/* The left one, the middle one, the right one. */
static contact_scene open_bunnies(const configuration* how)
{
    scene published;
    contact_scene s = contact_scene_open(1, 0);
    contact_scene_enable(&s);
    CHECK(scene_open("bunny", &published));
    uint32_t count = thin_out(&published.points, .065);
    CHECK_MSG(count > 3000 && count < 5000, "%u particles", count);
    for (int i = 0; i < 3; ++i)
    {
        pliant_body_desc desc = published.body;
        pliant_body body;
        memset(desc.angular_velocity, 0, sizeof desc.angular_velocity);
        desc.point_count = count;
        desc.cluster.count = 206;
        desc.cluster.radius = 0;
        desc.levels.count = 4;
        desc.levels.weighting = how->weighting[i];
        desc.material.stiffness = how->alpha[i];
        desc.material.strain_limit = 0;
        desc.points_origin[0] = 2.2 * (i - 1);
        desc.velocity[0] = -SPEED * (i - 1);
        CHECK_OK(pliant_body_create(s.handle, &desc, &body));
    }
    scene_close(&published);
    return s;
}

static bunnies collide(const configuration* how)
{
    contact_scene s = open_bunnies(how);
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.dt = 1. / 60;
    frame.substeps = 1;
    bunnies start = look_at(s.scene), now = start;
    size_t most = 0;
    for (int f = 0; f < 80; ++f)
    {
        CHECK_OK(pliant_scene_advance(s.handle, &frame));
        most = PL_MAX(most, s.scene->cluster_scratch.list.count);
    }
    now = look_at(s.scene);
    CHECK_MSG(most > 50, "%zu contacts at most", most);
    CHECK_MSG(s.scene->cluster_scratch.list.count == 0, "%zu contacts are left",
              s.scene->cluster_scratch.list.count);
    vec3 sum = v3_add(now.v[0], v3_add(now.v[1], now.v[2]));
    CHECK_MSG(v3_length(sum) < 1e-4 * SPEED, "together they go at %g", v3_length(sum));
    /* both are thrown back, and the middle one, hit from both sides, stays */
    CHECK_MSG(now.v[0].x < -.5 * SPEED && now.v[0].x > -SPEED, "left: %g", now.v[0].x);
    CHECK_MSG(now.v[2].x > .5 * SPEED && now.v[2].x < SPEED, "right: %g", now.v[2].x);
    CHECK_MSG(v3_length(now.v[1]) < .3 * SPEED, "middle: %g", v3_length(now.v[1]));
    CHECK_MSG(now.kinetic < start.kinetic && now.kinetic > .3 * start.kinetic,
              "%g of the energy is left", now.kinetic / start.kinetic);
    CHECK_OK(pliant_scene_destroy(s.handle));
    return now;
}

TEST_SLOW(three_bunnies_collide_and_part)
{
    static const configuration first = {
        {1.5, .75, 1.5},
        {PLIANT_WEIGHT_GAUSSIAN, PLIANT_WEIGHT_POLYNOMIAL, PLIANT_WEIGHT_GAUSSIAN}};
    static const configuration second = {{1.5, 1.5, 1.5}, {0, 0, 0}};
    bunnies one = collide(&first), other = collide(&second);
    double differ = 0;
    for (int i = 0; i < 3; ++i)
        differ = fmax(differ, v3_length(v3_sub(one.v[i], other.v[i])));
    CHECK_MSG(differ > .01 * SPEED, "the configurations differ by %g", differ);
}
