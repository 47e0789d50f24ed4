// SPDX-License-Identifier: GPL-3.0-or-later
/* Division of particles where material is drawn out: what is kept. */
#include "native/support/test.h"
#include "native/support/world.h"
#include "plasticity/plasticity.h"

#include <api/api.h>
#include <dynamics/substep.h>
#include <stdlib.h>
#include <string.h>

enum
{
    LONG = 20,
    WIDE = 5,
    POINTS = LONG * WIDE * WIDE,
    FRAMES = 40
};
static const double SPACING = .1;

/* A bar along x whose ends are held; it flows at once. */
static pliant_scene make_bar(uint32_t threads, uint32_t resample)
{
    static float points[3 * POINTS];
    pliant_scene scene = 0;
    pliant_scene_desc sd;
    pliant_body body = 0;
    pliant_body_desc desc;
    static float hold[POINTS];
    for (int i = 0; i < POINTS; ++i)
    {
        points[3 * i] = (float)(SPACING * (i % LONG));
        points[3 * i + 1] = (float)(SPACING * (i / LONG % WIDE));
        points[3 * i + 2] = (float)(SPACING * (i / LONG / WIDE));
        hold[i] = i % LONG < 2 || i % LONG >= LONG - 2 ? PLIANT_PIN_HELD : 0;
    }
    pliant_scene_desc_init(&sd, sizeof sd);
    sd.threads = threads;
    sd.gravity[2] = 0;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.points = points;
    desc.point_count = POINTS;
    desc.cluster.count = 50;
    desc.material.stiffness = 14;
    desc.material.damping = 20;
    desc.material.yield = .02;
    desc.material.flow = 40;
    desc.material.hardening = .3;
    desc.material.resample = resample;
    CHECK_OK(pliant_scene_create(&sd, &scene));
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    CHECK_OK(pliant_body_set_pins(body, POINTS, hold));
    return scene;
}

/* The ends are four times as far apart in the last frame. */
static void pull(pliant_scene scene, int frame)
{
    static float targets[3 * POINTS];
    pliant_body body = world_body(scene, 0);
    pliant_frame_desc fd = world_frame_desc();
    double apart = 3.0 * SPACING * LONG * frame / FRAMES;
    for (int i = 0; i < POINTS; ++i)
    {
        targets[3 * i] = (float)(SPACING * (i % LONG) + (i % LONG < LONG / 2 ? 0 : apart));
        targets[3 * i + 1] = (float)(SPACING * (i / LONG % WIDE));
        targets[3 * i + 2] = (float)(SPACING * (i / LONG / WIDE));
    }
    CHECK_OK(pliant_body_set_pin_targets(body, POINTS, NULL, targets));
    fd.dt = 1. / 24;
    CHECK_OK(pliant_scene_advance(scene, &fd));
}

static pl_body* body_of(pliant_scene scene)
{
    pl_body* body;
    pl_scene* inside;
    CHECK(pl_get_body(world_body(scene, 0), &body, &inside) == PLIANT_OK);
    return body;
}

static uint64_t all_quanta(const pl_body* body)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < body->particles.id_count; ++i)
        sum += body->particles.quanta[body->particles.slot_of[i]];
    return sum;
}

TEST(particles_become_more_where_a_body_is_drawn_out_and_mass_stays)
{
    for (uint32_t on = 0; on < 2; ++on)
    {
        pliant_scene scene = make_bar(1, on);
        uint64_t quanta = all_quanta(body_of(scene));
        uint32_t before = POINTS;
        for (int frame = 1; frame <= FRAMES; ++frame)
        {
            pull(scene, frame);
            uint32_t now = body_of(scene)->particles.id_count;
            CHECK(now >= before && now <= before + PL_MAX(before / 16, 8u)); /* no spike of work */
            before = now;
        }
        const pl_body* body = body_of(scene);
        CHECK(all_quanta(body) == quanta);
        CHECK(on ? body->particles.id_count > POINTS * 3 / 2 : body->particles.id_count == POINTS);
        CHECK(body->particles.id_count <= 4 * POINTS);
        CHECK_OK(pliant_scene_destroy(scene));
    }
}

/* Momentum, angular momentum about zero, and the moment of mass, in double. */
static void sums(const pl_body* body, double out[9])
{
    const pl_particles* p = &body->particles;
    memset(out, 0, sizeof(double) * 9);
    for (uint32_t i = 0; i < p->id_count; ++i)
    {
        uint32_t s = p->slot_of[i];
        double m = (double)p->quanta[s];
        vec3 x = v3(p->x[0][s], p->x[1][s], p->x[2][s]);
        vec3 v = v3(p->v[0][s], p->v[1][s], p->v[2][s]), l = v3_cross(x, v);
        double add[9] = {x.x, x.y, x.z, v.x, v.y, v.z, l.x, l.y, l.z};
        for (int k = 0; k < 9; ++k)
            out[k] += m * add[k];
    }
}

TEST(dividing_particles_keeps_mass_momentum_and_angular_momentum)
{
    pliant_scene scene = make_bar(1, 0);
    pl_body* body = body_of(scene);
    pl_scene* inside;
    double before[9], after[9], mass = (double)all_quanta(body);
    for (int frame = 1; frame <= FRAMES / 2; ++frame)
        pull(scene, frame);
    CHECK(pl_get_body(world_body(scene, 0), &body, &inside) == PLIANT_OK);
    for (uint32_t i = 0; i < body->particles.id_count; ++i) /* turning, too */
    {
        uint32_t s = body->particles.slot_of[i];
        body->particles.v[1][s] += 2 * body->particles.x[0][s];
        body->particles.v[2][s] -= 1;
    }
    sums(body, before);
    body->material.resample = 1;
    pl_substep step = {.scene = inside, .dt = 1. / 240};
    CHECK(pl_resample(&step) == PLIANT_OK);
    sums(body, after);
    CHECK(body->particles.id_count > POINTS);
    CHECK((double)all_quanta(body) == mass);
    for (int k = 0; k < 9; ++k)
        CHECK_MSG(fabs(after[k] - before[k]) < 1e-6 * mass, "sum %d was %g, is %g", k,
                  before[k] / mass, after[k] / mass);
    CHECK_OK(pliant_scene_destroy(scene));
}

TEST(resampling_is_the_same_at_every_thread_count_and_after_restoring)
{
    static const uint32_t threads[] = {1, 2, 3, 8};
    uint64_t first = 0;
    for (int t = 0; t < 4; ++t)
    {
        pliant_scene scene = make_bar(threads[t], 1);
        for (int frame = 1; frame <= FRAMES / 2 + 2; ++frame)
        {
            pull(scene, frame);
            if (t == 1 && frame == FRAMES / 2 - 2)
            {
                CHECK(body_of(scene)->particles.id_count > POINTS);
                world_renew(scene);
            }
        }
        uint64_t hash = world_hash(scene);
        first = t ? first : hash;
        CHECK(hash == first);
        CHECK_OK(pliant_scene_destroy(scene));
    }
}

TEST(bodies_that_may_break_are_not_resampled)
{
    pliant_scene scene = make_bar(1, 1);
    pliant_body body = world_body(scene, 0);
    pliant_fracture_desc fracture;
    pliant_fracture_desc_init(&fracture, sizeof fracture);
    CHECK(pliant_body_set_fracture(body, &fracture) == PLIANT_ERROR_STATE);
    CHECK(strstr(pliant_last_error(), "resampled"));
    pliant_material_desc material = body_of(scene)->material;
    material.resample = 0;
    CHECK_OK(pliant_body_set_material(body, &material));
    CHECK_OK(pliant_body_set_fracture(body, &fracture));
    material.resample = 1;
    CHECK(pliant_body_set_material(body, &material) == PLIANT_ERROR_STATE);
    CHECK_OK(pliant_scene_destroy(scene));
}
