// SPDX-License-Identifier: GPL-3.0-or-later
/* Firmness: the share of a substep's overlap that is removed. */
#include "native/support/contact_bodies.h"

#include <math.h>

enum
{
    SIDE = 6
};
#define SPACING (1.0 / SIDE)
#define GRAVITY 9.81

static const double firmnesses[] = {.1, .5, 1};
static const uint32_t iterations[] = {1, 2, 8, 40};

static void set_firmness(const contact_scene* s, double firmness, uint32_t count)
{
    pliant_contact_desc desc;
    pliant_contact_desc_init(&desc, sizeof desc);
    desc.enabled = 1;
    desc.stiffness = firmness;
    desc.iterations = count;
    CHECK_OK(pliant_scene_set_contacts(s->handle, &desc));
}

/* A unit cube of a regular grid of particles. */
static void add_cube(const contact_scene* s, double z, double speed, double stiffness)
{
    pliant_body_desc how = contact_how(30, 10, stiffness);
    scene_points points = scene_points_box(SIDE, SIDE, SIDE, 1, 1, 1, 0, 1);
    contact_add(s->handle, points, &how, v3(0, 0, z), v3(0, 0, speed));
}

/* The mean height of the lowest (side -1) or the highest layer of a cube. */
static double layer(const contact_scene* s, uint32_t body, int side)
{
    const pl_body* b = s->scene->bodies[body];
    double sum = 0;
    int count = 0;
    for (uint32_t slot = 0; slot < b->particles.slot_count; ++slot)
        if (b->particles.mass[slot] > 0 && side * pl_rest_of(b, slot).z > .5 - SPACING)
            sum += contact_world(b, slot).z, ++count;
    return sum / count;
}

static double between(const contact_scene* s, uint32_t low)
{
    return layer(s, low + 1, -1) - layer(s, low, 1);
}

/* The mean gap of the contacts when the last substep began. */
static double mean_gap(const contact_scene* s, double dt)
{
    const pl_contact_list* list = &s->scene->cluster_scratch.list;
    double sum = 0;
    for (size_t i = 0; i < list->count; ++i)
        sum -= dt * list->items[i].target;
    return list->count ? sum / (double)list->count : 0;
}

/* Two cubes approach: the share of the overlap that a substep removes. */
static double part_removed(double firmness, uint32_t count, double speed)
{
    contact_scene s = contact_scene_open(1, 0);
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = 1, frame.dt = 1. / 240;
    set_firmness(&s, firmness, count);
    add_cube(&s, 0, speed, .01);
    add_cube(&s, 1 - .5 * SPACING, -speed, .01);
    double before = between(&s, 0), came = 2 * speed * frame.dt;
    CHECK_OK(pliant_scene_advance(s.handle, &frame));
    double part = (between(&s, 0) - before + came) / (came - mean_gap(&s, frame.dt));
    pliant_scene_destroy(s.handle);
    return part;
}

TEST(firmness_is_the_part_of_an_overlap_that_is_removed)
{
    for (int v = 3; v <= 10; v += 7)
    {
        double whole = part_removed(1, 40, v);
        CHECK_MSG(whole > 1 && whole < 1.25, "of all, %.3f is removed", whole);
        for (int n = 0; n < 4; ++n)
        {
            CHECK_NEAR(part_removed(0, iterations[n], v), 0, 1e-6);
            for (int f = 0; f < 2; ++f)
            {
                double part = part_removed(firmnesses[f], iterations[n], v);
                CHECK_MSG(fabs(part / (whole * firmnesses[f]) - 1) < .05,
                          "%.4f, not %g of %.3f: %u iterations, %d m/s", part, firmnesses[f], whole,
                          iterations[n], v);
            }
        }
    }
}

/* Overlap of cubes stacked on a floor; "gained": the most energy above the start. */
static double sink(double firmness, uint32_t count, double* gained)
{
    contact_scene s = contact_scene_open(1, -GRAVITY);
    pliant_collider_desc ground;
    pliant_collider collider;
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = 24;
    pliant_collider_desc_init(&ground, sizeof ground);
    CHECK_OK(pliant_collider_create(s.handle, &ground, &collider));
    set_firmness(&s, firmness, count);
    for (int i = 0; i < 2; ++i)
        add_cube(&s, .42 + i * .92, 0, 16);
    double rest = between(&s, 0);
    *gained = -INFINITY;
    double first = GRAVITY * (.42 + .5 * .92); /* of both, a kilogram, at rest */
    for (int i = 0; i < 30; ++i)
    {
        CHECK_OK(pliant_scene_advance(s.handle, &frame));
        double energy = 0;
        for (uint32_t b = 0; b < 2; ++b)
        {
            const pl_body* body = s.scene->bodies[b];
            const pl_particles* p = &body->particles;
            for (uint32_t slot = 0; slot < p->slot_count; ++slot)
            {
                vec3 v = pl_contact_velocity(body, slot), x = contact_world(body, slot);
                energy += p->mass[slot] / body->mass * (.5 * v3_dot(v, v) + GRAVITY * x.z);
            }
        }
        *gained = fmax(*gained, .5 * energy - first);
    }
    double sunk = rest - between(&s, 0);
    pliant_scene_destroy(s.handle);
    return sunk;
}

TEST_SLOW(piles_sink_less_the_firmer_they_are)
{
    for (int n = 0; n < 3; n += 2) /* 1 and 8 iterations */
    {
        double least = INFINITY;
        for (int f = 0; f < 3; ++f)
        {
            double gained, sunk = sink(firmnesses[f], iterations[n], &gained);
            CHECK_MSG(sunk < least + .02 * SPACING,
                      "firmness %g, %u iterations: sunk by %g, not %g", firmnesses[f],
                      iterations[n], sunk, least);
            CHECK_MSG(gained <= 1e-4, "firmness %g, %u iterations: %g J a kilogram gained",
                      firmnesses[f], iterations[n], gained);
            least = sunk;
        }
        CHECK_MSG(least < .2 * SPACING, "%u iterations: sunk by %g", iterations[n], least);
    }
}
