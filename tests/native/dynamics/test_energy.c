// SPDX-License-Identifier: GPL-3.0-or-later
/* Contacts and goals do not add energy, for any settings. */
#include "native/support/contact_bodies.h"

#include <base/rng.h>
#include <stdlib.h>
#include <string.h>

static double kinetic(const pl_scene* scene)
{
    double sum = 0;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        const pl_particles* p = &scene->bodies[b]->particles;
        for (uint32_t s = 0; s < p->slot_count; ++s)
            for (int k = 0; k < 3; ++k)
                sum += .5 * p->mass[s] * p->v[k][s] * p->v[k][s];
    }
    return sum;
}

/* Upper bound of the energy that contacts of the last substep add to resolve overlaps: the smaller
 * of the work of their impulses and of the sum for each overlap alone against a rigid cluster. */
static double recovered(const pl_scene* scene)
{
    const pl_contact_list* list = &scene->cluster_scratch.list;
    double work = 0, most = 0;
    for (size_t i = 0; i < list->count; ++i)
    {
        const pl_contact* c = &list->items[i];
        if (!(c->target > 0))
            continue;
        uint32_t slot = c->particle - scene->cluster_scratch.slot_begin[c->body];
        work += c->target * v3_dot(v3_from(c->impulse), v3_fromd(c->n));
        const pl_body* body = scene->bodies[c->body];
        double speed = fmin(c->target, body->rest_sdf.spacing);
        most += .5 * body->particles.mass[slot] * speed * speed;
    }
    return fmin(work, most);
}

static void set_contacts(pliant_scene scene, double friction, uint32_t iterations)
{
    pliant_contact_desc desc;
    pliant_contact_desc_init(&desc, sizeof desc);
    desc.enabled = 1;
    desc.friction = friction;
    desc.iterations = iterations;
    CHECK_OK(pliant_scene_set_contacts(scene, &desc));
}

/* ------------------------------------------------------------------ piles */

/* Pieces without stiffness and damping collide: only contacts change their velocities. Some have
 * one particle, and mass ratios go up to a thousand. */
static void throw_pieces(const contact_scene* s, pl_rng* rng)
{
    for (int i = 0; i < 27; ++i)
    {
        pliant_body_desc how = contact_how(0, 0, 0);
        how.material.stiffness_kind = PLIANT_STIFFNESS_ALPHA;
        how.material.density = pow(10, 1 + 3 * pl_rng_unit(rng));
        uint32_t n = i % 4 == 0 ? 1 : 1 + (uint32_t)(3.99 * pl_rng_unit(rng));
        uint32_t m = i % 4 == 0 ? 1 : 1 + (uint32_t)(3.99 * pl_rng_unit(rng));
        scene_points points = scene_points_box(n, m, n, .1 * n, .1 * m, .1 * n, .4, (uint32_t)i);
        vec3 at = v3(.45 * (i % 3 - 1), .45 * (i / 3 % 3 - 1), .45 * (i / 9 - 1)), away;
        away = v3(pl_rng_unit(rng) - .5, pl_rng_unit(rng) - .5, pl_rng_unit(rng) - .5);
        contact_add(s->handle, points, &how, at, v3_sub(v3_scale(away, 4), v3_scale(at, 4)));
    }
}

TEST(contacts_of_random_pieces_add_no_energy)
{
    static const uint32_t iterations[] = {1, 2, 8, 40};
    static const double frictions[] = {0, .5, 1, 10};
    uint32_t touched = 0, seeds = test_quick() ? 1 : 3;
    pl_rng rng = pl_rng_seed(5);
    for (uint32_t run = 0; run < 16 * seeds; ++run)
    {
        contact_scene s = contact_scene_open(1, 0);
        set_contacts(s.handle, frictions[run / 4 % 4], iterations[run % 4]);
        throw_pieces(&s, &rng);
        double before = kinetic(s.scene);
        pliant_frame_desc frame;
        pliant_frame_desc_init(&frame, sizeof frame);
        frame.substeps = 1;
        frame.dt = run % 2 ? 1. / 24 : 1. / 240;
        for (int i = 0; i < 60; ++i)
        {
            REQUIRE_OK(pliant_scene_advance(s.handle, &frame));
            double after = kinetic(s.scene), work = recovered(s.scene);
            touched += (uint32_t)s.scene->cluster_scratch.list.count;
            CHECK_MSG(after <= before * (1 + 1e-5) + work,
                      "friction %g, %u iterations, substep %d: %g J became %g, %g of it work",
                      frictions[run / 4 % 4], iterations[run % 4], i, before, after, work);
            before = after;
        }
        pliant_scene_destroy(s.handle);
    }
    CHECK_MSG(touched > 10000, "%u contacts", touched);
}

/* ------------------------------------------------------------------ one particle each */

TEST(two_particles_that_overlap_part_slowly)
{
    for (uint32_t iterations = 1; iterations <= 64; iterations *= 8)
        for (uint32_t substeps = 1; substeps <= 16; substeps *= 4)
        {
            contact_scene s = contact_scene_open(1, 0);
            pliant_body_desc how = contact_how(1, 0, 10);
            set_contacts(s.handle, .5, iterations);
            for (int i = 0; i < 2; ++i)
                contact_add(s.handle, scene_points_box(1, 1, 1, .01, .01, .01, 0, 1), &how,
                            v3(.05 * i, 0, 0), v3(0, 0, 0));
            CHECK_OK(contact_scene_advance(&s, 60, substeps));
            const pl_body* body = s.scene->bodies[0];
            double most = body->mass * body->rest_sdf.spacing * body->rest_sdf.spacing;
            CHECK_MSG(kinetic(s.scene) <= most, "%g J, %u iterations, %u substeps",
                      kinetic(s.scene), iterations, substeps);
            pliant_scene_destroy(s.handle);
        }
}

/* ------------------------------------------------------------------ a box that breaks */

/* Drops a box of 294 particles that breaks into about a thousand pieces. Returns the peak energy.
 */
static double drop_box(double hertz, uint32_t substeps, uint32_t iterations, double friction,
                       double* allowed)
{
    contact_scene s = contact_scene_open(1, -9.81);
    pliant_body_desc how = contact_how(0, 0, hertz);
    pliant_collider ground;
    pliant_collider_desc plane;
    pliant_collider_desc_init(&plane, sizeof plane);
    CHECK_OK(pliant_collider_create(s.handle, &plane, &ground));
    set_contacts(s.handle, friction, iterations);
    pliant_body_desc usual;
    pliant_body_desc_init(&usual, sizeof usual);
    how.material.damping = usual.material.damping;
    pliant_body body = contact_add(s.handle, scene_points_box(7, 7, 6, 1, 1, 1, .4, 1), &how,
                                   v3(0, 0, 2), v3(0, 0, 0));
    pliant_fracture_desc fracture;
    pliant_fracture_desc_init(&fracture, sizeof fracture);
    fracture.toughness = .01;
    fracture.smallest_piece = 0;
    CHECK_OK(pliant_body_set_fracture(body, &fracture));
    *allowed = s.scene->bodies[0]->mass * 9.81 * 2.05;
    double most = 0;
    for (int frame = 0; frame < 60; ++frame)
    {
        CHECK_OK(contact_scene_advance(&s, 1, substeps));
        most = fmax(most, kinetic(s.scene));
    }
    pliant_scene_destroy(s.handle);
    return most;
}

TEST(a_box_that_breaks_is_calm_with_many_iterations)
{
    double allowed, most = drop_box(10, 8, 40, .5, &allowed);
    CHECK_MSG(most < allowed, "%g J of %g", most, allowed);
}

/* When the sum of the damping of resting bodies and of brittle shards exceeded 1, these energies
 * were 78 and 1.8 times as large. */
TEST(shards_at_rest_add_no_energy)
{
    static const double hertz[] = {9.4868, 9.8489};
    for (int i = 0; i < 2; ++i)
    {
        double allowed, most = drop_box(hertz[i], 1, 40, 0, &allowed);
        CHECK_MSG(most < allowed, "%g Hz: %g J of %g", hertz[i], most, allowed);
    }
}

TEST_SLOW(a_box_that_breaks_has_no_more_energy_than_it_fell_with)
{
    static const uint32_t substeps[] = {1, 8, 16}, iterations[] = {1, 8, 40};
    static const double frictions[] = {0, .5, 1};
    for (int i = 0; i < 27; ++i)
    {
        double allowed;
        double most =
            drop_box(10, substeps[i / 3 % 3], iterations[i % 3], frictions[i / 9], &allowed);
        CHECK_MSG(most < allowed, "%u substeps, %u iterations, friction %g: %g J of %g",
                  substeps[i / 3 % 3], iterations[i % 3], frictions[i / 9], most, allowed);
    }
}

/* ------------------------------------------------------------------ goals */

/* Peak energy of a stretched and sheared cube without damping: in the first second, and overall. */
static bool swing_cube(uint32_t goal, double beta, uint32_t clusters, double* early, double* most)
{
    contact_scene s = contact_scene_open(1, 0);
    pliant_body_desc how = contact_how(clusters, 0, .5);
    scene_points points = scene_points_box(6, 6, 6, 1, 1, 1, .4, 1);
    float x[3 * 216], v[3 * 216];
    how.material.stiffness_kind = PLIANT_STIFFNESS_ALPHA;
    how.material.goal = goal;
    how.material.beta = beta;
    for (int i = 0; i < 216; ++i)
    {
        const float* p = points.at + 3 * (size_t)i;
        x[3 * i] = 1.6f * p[0], x[3 * i + 1] = p[1] + .4f * p[2], x[3 * i + 2] = p[2];
        v[3 * i] = -.3f * p[1], v[3 * i + 1] = .5f * p[2], v[3 * i + 2] = 0;
    }
    pliant_body body = contact_add(s.handle, points, &how, v3(0, 0, 0), v3(0, 0, 0));
    CHECK_OK(pliant_body_set_particles(body, 216, NULL, x, v));
    *early = *most = 0;
    pliant_status status = PLIANT_OK;
    for (int frame = 0; frame < 4000 && status == PLIANT_OK; ++frame)
    {
        status = contact_scene_advance(&s, 1, 1);
        *most = fmax(*most, kinetic(s.scene));
        *early = frame < 24 ? *most : *early;
    }
    pliant_scene_destroy(s.handle);
    return status == PLIANT_OK;
}

TEST(undamped_goals_stay_calm_at_the_largest_beta)
{
    for (uint32_t goal = PLIANT_GOAL_LINEAR; goal <= PLIANT_GOAL_QUADRATIC; ++goal)
        for (uint32_t clusters = 30; clusters <= 60; clusters += 30)
        {
            double early, most;
            CHECK(swing_cube(goal, PLIANT_BETA_MOST, clusters, &early, &most));
            CHECK_MSG(most < 1.5 * early, "goal %u, %u clusters: %g J became %g", goal, clusters,
                      early, most);
        }
}

TEST(rejects_goals_that_only_keep_the_volume)
{
    pliant_body_desc how = contact_how(1, 0, 1);
    contact_scene s = contact_scene_open(1, 0);
    scene_points points = scene_points_box(3, 3, 3, 1, 1, 1, 0, 1);
    pliant_body body;
    how.points = points.at, how.point_count = points.count;
    how.material.beta = 1;
    CHECK(pliant_body_create(s.handle, &how, &body) == PLIANT_ERROR_ARGUMENT);
    CHECK_MSG(strstr(pliant_last_error(), "beta") && strstr(pliant_last_error(), "0.95"), "%s",
              pliant_last_error());
    scene_points_free(&points);
    pliant_scene_destroy(s.handle);
}
