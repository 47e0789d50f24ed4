// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Bodies that break, after Jones et al. 2016 ("Ductile Fracture for Clustered Shape Matching"):
 * particles, clusters and materials are the published ones. What turns the beam's ends and what
 * strikes the plate is not: here the bodies start with the velocities that this would give them, so
 * that the oracle, which knows neither pins nor colliders, can play them too. No gravity.
 */
#include "open.h"

#include <math.h>
#include <string.h>

static void set_material(scene* s, double damping, double limit, uint32_t iterations)
{
    pliant_material_desc* m = &s->body.material;
    m->stiffness = 1;
    m->damping = damping;
    m->strain_limit = limit;
    m->strain_iterations = iterations;
    m->flow_per_step = 1;
    memset(s->scene.gravity, 0, sizeof s->scene.gravity);
    memset(s->body.angular_velocity, 0, sizeof s->body.angular_velocity);
    m->recluster = PLIANT_RECLUSTER_OFF; /* the oracle does not */
    s->steps = 100;
    s->breaks = true;
    s->fracture.smallest_piece = 0;
}

/* The beam lies along its longest axis, about the middle: opposite turns of its halves. */
static void turn_ends(const float at[3], float velocity[3])
{
    double rate = 16 * at[0];
    velocity[1] = (float)(-rate * at[2]);
    velocity[2] = (float)(rate * at[1]);
    velocity[0] = 0;
}

void scene_open_breaking_beam(scene* s)
{
    s->generated = !scene_use_published(s, "beam-5317", 5317);
    if (s->generated)
    {
        scene_points points = scene_points_box(37, 12, 12, 2, .4, .4, .5, 1);
        points.count = 5317; /* the last row is cut short */
        scene_use_points(s, points);
    }
    scene_set_clusters(s, 50, .1875, 1);
    set_material(s, .5, .5, 8);
    s->body.material.yield = 0;
    s->body.material.flow = 1;
    s->body.material.hardening = .01;
    s->fracture.toughness = .03;
    s->fracture.boost = 3;
    s->fracture.falloff = .05;
    s->throw = turn_ends;
}

/* As by a ball of a tenth of the plate's width. */
static void strike(const float at[3], float velocity[3])
{
    double square = (at[0] * at[0] + at[1] * at[1]) / (.13 * .13);
    velocity[0] = velocity[1] = 0;
    velocity[2] = (float)(-5 * exp(-square));
}

void scene_open_ductile_plate(scene* s)
{
    scene_use_points(s, scene_points_box(83, 49, 5, 1.3, .77, .078, .6, 1));
    scene_set_clusters(s, 63, .1125, 1);
    set_material(s, .6, .2, 4);
    s->body.material.yield = .013;
    s->body.material.flow = 100;
    s->body.material.hardening = .02;
    s->fracture.toughness = .025;
    s->throw = strike;
}
