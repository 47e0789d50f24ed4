// SPDX-License-Identifier: GPL-3.0-or-later
/* Stacked bodies at rest: no creep, jitter, visible gap or toppling; pairs cost n log n. */
#include "native/support/contact_bodies.h"

#include <api/api.h>
#include <base/rng.h>
#include <collision/broadphase/broadphase.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 4
};

typedef struct pile
{
    pliant_scene handle;
    pl_scene* scene;
} pile;

static void open_pile(pile* p)
{
    pliant_scene_desc desc;
    pliant_collider_desc ground;
    pliant_contact_desc contacts;
    pliant_collider collider;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = 1;
    CHECK_OK(pliant_scene_create(&desc, &p->handle));
    CHECK_OK(pl_get_scene(p->handle, &p->scene));
    pliant_collider_desc_init(&ground, sizeof ground);
    CHECK_OK(pliant_collider_create(p->handle, &ground, &collider));
    pliant_contact_desc_init(&contacts, sizeof contacts);
    contacts.enabled = 1;
    CHECK_OK(pliant_scene_set_contacts(p->handle, &contacts));
}

static void add_to(const pile* p, scene_points points, uint32_t clusters, double z)
{
    pliant_body_desc desc;
    pliant_body body;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.points = points.at;
    desc.point_count = points.count;
    desc.points_origin[2] = z;
    desc.cluster.count = clusters;
    desc.material.damping = 20;
    desc.material.stiffness = 16;
    CHECK_OK(pliant_body_create(p->handle, &desc, &body));
    scene_points_free(&points);
}

static vec3 centre_of(const pl_body* body)
{
    vec3 sum = v3(0, 0, 0);
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        if (body->particles.mass[s] > 0)
            sum = v3_add(sum, contact_world(body, s));
    return v3_scale(sum, 1. / body->particles.count);
}

/* Mean positions over a second: a slow sway is no creep. */
static bool mean_places(const pile* p, vec3* mean)
{
    pliant_frame_desc desc;
    pliant_frame_desc_init(&desc, sizeof desc);
    desc.substeps = 8;
    memset(mean, 0, sizeof *mean * MOST);
    for (int frame = 0; frame < 24; ++frame)
    {
        pliant_status status = pliant_scene_advance(p->handle, &desc);
        CHECK_OK(status);
        if (status != PLIANT_OK)
            return false;
        for (uint32_t b = 0; b < p->scene->body_count; ++b)
            mean[b] = v3_mad(mean[b], centre_of(p->scene->bodies[b]), 1. / 24);
    }
    return true;
}

static double mean_speed(const pl_body* body)
{
    double sum = 0;
    const pl_particles* p = &body->particles;
    for (uint32_t s = 0; s < p->slot_count; ++s)
        if (p->mass[s] > 0)
            sum += v3_length(v3(p->v[0][s], p->v[1][s], p->v[2][s]));
    return sum / p->count;
}

/* Three seconds to settle, then ten without motion. */
static void check_rest(const pile* p, double radius)
{
    vec3 before[MOST], after[MOST];
    for (int second = 0; second < 4; ++second)
        REQUIRE(mean_places(p, before));
    for (int second = 0; second < 10; ++second)
        REQUIRE(mean_places(p, after));
    for (uint32_t b = 0; b < p->scene->body_count; ++b)
    {
        double drift = v3_length(v3_sub(after[b], before[b])) / 10;
        CHECK_MSG(drift < 1e-3 * radius, "body %u creeps by %g radii a second", b, drift / radius);
        double speed = mean_speed(p->scene->bodies[b]);
        CHECK_MSG(speed < .02, "particles of body %u move by %g a second", b, speed);
    }
}

static double extreme(const pl_body* body, double way)
{
    double most = -1e9;
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        if (body->particles.mass[s] > 0)
            most = fmax(most, way * contact_world(body, s).z);
    return way * most;
}

TEST_SLOW(a_stack_of_soft_boxes_stands)
{
    pile p;
    open_pile(&p);
    for (int i = 0; i < 3; ++i)
        add_to(&p, scene_points_box(6, 6, 6, .6, .6, .6, 0, 1), 12, .25 + .54 * i);
    check_rest(&p, .3);
    for (uint32_t b = 0; b + 1 < 3; ++b)
    {
        double gap = extreme(p.scene->bodies[b + 1], -1) - extreme(p.scene->bodies[b], 1);
        CHECK_MSG(gap > 0 && gap <= .05, "between %u and %u there is a gap of %g", b, b + 1, gap);
    }
    CHECK_OK(pliant_scene_destroy(p.handle));
}

/* The lower half of a hollow ball. */
static scene_points bowl(void)
{
    scene_points points = scene_points_box(16, 16, 16, 1.6, 1.6, 1.6, 0, 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < points.count; ++i)
    {
        const float* at = points.at + 3 * (size_t)i;
        double r = sqrt((double)at[0] * at[0] + (double)at[1] * at[1] + (double)at[2] * at[2]);
        if (r > .5 && r < .8 && at[2] < .05f)
            memmove(points.at + 3 * (size_t)kept++, at, 3 * sizeof *at);
    }
    points.count = kept;
    return points;
}

TEST_SLOW(a_ball_rests_in_a_soft_bowl)
{
    pile p;
    open_pile(&p);
    add_to(&p, bowl(), 40, .76);
    add_to(&p, scene_points_ball(400, .3, 1), 12, .66);
    check_rest(&p, .3);
    vec3 ball = centre_of(p.scene->bodies[1]), shell = centre_of(p.scene->bodies[0]);
    CHECK_MSG(fabs(ball.x - shell.x) < .2 && fabs(ball.y - shell.y) < .2 && ball.z > .3,
              "the ball is at %g %g %g", ball.x, ball.y, ball.z);
    CHECK_OK(pliant_scene_destroy(p.handle));
}
