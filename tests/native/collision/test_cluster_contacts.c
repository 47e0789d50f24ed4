// SPDX-License-Identifier: GPL-3.0-or-later
/* Contacts between clusters: momentum, bounce, friction, thin sheets, bits. */
#include "native/support/contact_bodies.h"

#include <api/api.h>
#include <stdlib.h>
#include <string.h>

typedef contact_scene duel;

static bool open_scene(duel* d, uint32_t threads, double gravity)
{
    *d = contact_scene_open(threads, gravity);
    contact_scene_enable(d);
    return d->handle != 0;
}

/* Adds a body and frees its points. */
static void add(const duel* d, scene_points points, uint32_t clusters, vec3 at, vec3 velocity)
{
    pliant_body_desc how = contact_how(clusters, 0, 4);
    contact_add(d->handle, points, &how, at, velocity);
}

static pliant_status advance(const duel* d, uint32_t substeps)
{
    return contact_scene_advance(d, 1, substeps);
}

typedef struct momenta
{
    vec3 linear, angular;
    double mass, energy;
} momenta;

static momenta momenta_of(const duel* d, uint32_t from, uint32_t to)
{
    momenta m = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    for (uint32_t b = from; b < to; ++b)
    {
        const pl_body* body = d->scene->bodies[b];
        const pl_particles* p = &body->particles;
        for (uint32_t s = 0; s < p->slot_count; ++s)
        {
            vec3 v = v3(p->v[0][s], p->v[1][s], p->v[2][s]);
            m.mass += p->mass[s];
            m.linear = v3_mad(m.linear, v, p->mass[s]);
            m.angular = v3_mad(m.angular, v3_cross(contact_world(body, s), v), p->mass[s]);
            m.energy += .5 * p->mass[s] * v3_dot(v, v);
        }
    }
    return m;
}

static double velocity_of(const duel* d, uint32_t body)
{
    momenta m = momenta_of(d, body, body + 1);
    return m.linear.x / m.mass;
}

static void add_two_balls(const duel* d, double off, double restitution)
{
    d->scene->contact_settings.restitution = restitution;
    add(d, scene_points_ball(500, .5, 1), 20, v3(-.8, 0, 0), v3(2, 0, 0));
    add(d, scene_points_ball(500, .5, 1), 20, v3(.8, off, 0), v3(-2, 0, 0));
}

/* Two equal balls that meet along x, "off" apart along y. */
static bool two_balls(duel* d, uint32_t threads, double off, double restitution)
{
    if (!open_scene(d, threads, 0))
        return false;
    add_two_balls(d, off, restitution);
    return true;
}

static void check_kept(const duel* d, const momenta* before, double scale)
{
    momenta after = momenta_of(d, 0, d->scene->body_count);
    double linear = v3_length(v3_sub(after.linear, before->linear));
    double angular = v3_length(v3_sub(after.angular, before->angular));
    CHECK_MSG(linear < 1e-5 * scale, "momentum changed by %g of %g", linear, scale);
    CHECK_MSG(angular < 1e-5 * scale, "angular momentum changed by %g of %g", angular, scale);
}

static void collide(double off, double restitution)
{
    duel d;
    REQUIRE(two_balls(&d, 1, off, restitution));
    momenta before = momenta_of(&d, 0, 2);
    double scale = .5 * before.mass * 2 * 1.6; /* of one ball, about the middle */
    uint64_t contacts = 0;
    for (int frame = 0; frame < 24; ++frame)
    {
        REQUIRE_OK(advance(&d, 8));
        contacts += d.scene->contacts;
        check_kept(&d, &before, scale);
        momenta now = momenta_of(&d, 0, 2);
        CHECK_MSG(now.energy < before.energy * 1.02, "frame %d: energy %g of %g", frame, now.energy,
                  before.energy);
    }
    CHECK(contacts > 0);
    double apart = velocity_of(&d, 1) - velocity_of(&d, 0);
    if (off == 0)
        CHECK_MSG(apart >= .997 * 4 * restitution && apart <= 4, "they part with %g of 4", apart);
    CHECK_OK(pliant_scene_destroy(d.handle));
}

TEST(balls_head_on_keep_momentum)
{
    collide(0, 0);
    collide(0, .5);
    collide(0, .9);
}

TEST(balls_off_centre_keep_angular_momentum)
{
    collide(.5, 0);
}

/* Hash of two balls that collide, by SIMD path and thread count; 0 without such a path. */
static uint64_t bounce_hash(uint32_t simd, uint32_t threads)
{
    duel d = {0, NULL};
    uint64_t hash = 0, contacts = 0;
    pliant_scene_desc desc;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.simd = simd, desc.threads = threads;
    desc.gravity[2] = 0;
    if (pliant_scene_create(&desc, &d.handle) == PLIANT_ERROR_UNSUPPORTED)
        return 0;
    CHECK_OK(pl_get_scene(d.handle, &d.scene));
    contact_scene_enable(&d);
    add_two_balls(&d, .2, .9);
    for (int frame = 0; frame < 18; ++frame)
    {
        CHECK_OK(advance(&d, 6));
        contacts += d.scene->contacts;
    }
    CHECK_MSG(contacts > 0 && d.scene->encounters.count == 0, "they do not meet, or do not part");
    CHECK_OK(pliant_scene_hash(d.handle, &hash));
    CHECK_OK(pliant_scene_destroy(d.handle));
    return hash;
}

TEST(contacts_are_the_same_for_every_thread_count_and_simd_path)
{
    static const uint32_t threads[] = {2, 3, 8};
    uint64_t first = bounce_hash(PLIANT_SIMD_SCALAR, 1);
    CHECK(first != 0);
    for (size_t i = 0; i < PL_COUNTOF(threads); ++i)
        CHECK_MSG(bounce_hash(PLIANT_SIMD_AUTO, threads[i]) == first,
                  "%u threads give other bits than one", threads[i]);
    for (uint32_t simd = PLIANT_SIMD_SCALAR + 1; simd <= PLIANT_SIMD_NEON; ++simd)
    {
        uint64_t hash = bounce_hash(simd, 1);
        CHECK_MSG(hash == 0 || hash == first, "path %u gives other bits", simd);
    }
}

TEST(contacts_go_on_after_a_restore)
{
    duel d, again;
    REQUIRE(two_balls(&d, 1, .2, .9));
    REQUIRE(open_scene(&again, 2, 3));
    again.scene->cluster_contacts = false;
    d.scene->contact_settings.friction = .25;
    d.scene->bodies[0]->contact_groups = 5;
    for (int frame = 0; frame < 6; ++frame)
        REQUIRE_OK(advance(&d, 6));
    CHECK(d.scene->contacts > 0);
    uint64_t bytes = 0, hashes[2] = {0};
    REQUIRE_OK(pliant_scene_save(d.handle, NULL, &bytes));
    void* block = malloc(bytes);
    REQUIRE_OK(pliant_scene_save(d.handle, block, &bytes));
    REQUIRE_OK(pliant_scene_restore(again.handle, block, bytes));
    size_t held = d.scene->bodies[0]->collision_filter.held_count;
    CHECK(held > 0 && again.scene->bodies[0]->collision_filter.held_count == held);
    CHECK(again.scene->bodies[0]->contact_groups == 5);
    CHECK(d.scene->encounters.count == 1 && again.scene->encounters.count == 1);
    for (int frame = 0; frame < 12; ++frame)
    {
        REQUIRE_OK(advance(&d, 6));
        REQUIRE_OK(advance(&again, 6));
        CHECK_OK(pliant_scene_hash(d.handle, &hashes[0]));
        CHECK_OK(pliant_scene_hash(again.handle, &hashes[1]));
        CHECK_MSG(hashes[0] == hashes[1], "frame %d after the restore is another", frame);
    }
    CHECK(again.scene->encounters.count == 0); /* they are separate */
    free(block);
    CHECK_OK(pliant_scene_destroy(d.handle));
    CHECK_OK(pliant_scene_destroy(again.handle));
}

TEST(groups_and_self_contact_are_respected)
{
    for (int kind = 0; kind < 2; ++kind)
    {
        duel d;
        REQUIRE(two_balls(&d, 1, 0, 0));
        CHECK_OK(pliant_body_set_contacts(d.scene->bodies[0]->handle, 1, 1));
        CHECK_OK(pliant_body_set_contacts(d.scene->bodies[1]->handle, kind ? 3 : 2, 0));
        uint64_t contacts = 0;
        for (int frame = 0; frame < 10; ++frame)
        {
            REQUIRE_OK(advance(&d, 4));
            contacts += d.scene->contacts;
        }
        CHECK_MSG((contacts > 0) == (kind == 1), "kind %d: %llu contacts", kind,
                  (unsigned long long)contacts);
        CHECK_OK(pliant_scene_destroy(d.handle));
    }
}

/* Self-collision does not affect a single body at rest. */
TEST(a_body_at_rest_does_not_inflate)
{
    duel d;
    REQUIRE(open_scene(&d, 1, 0));
    add(&d, scene_points_box(24, 4, 4, 2.4, .4, .4, .5, 3), 30, v3(0, 0, 0), v3(0, 0, 0));
    for (int frame = 0; frame < 6; ++frame)
        REQUIRE_OK(advance(&d, 4));
    momenta m = momenta_of(&d, 0, 1);
    CHECK(d.scene->contacts == 0);
    CHECK_MSG(m.energy < 1e-8 * m.mass, "it moves: %g", m.energy / m.mass);
    CHECK_OK(pliant_scene_destroy(d.handle));
}

/* A ball against a thin sheet, slow, and so fast that a substep moves it past. */
TEST(a_ball_does_not_pass_through_a_sheet)
{
    for (int fast = 0; fast < 2; ++fast)
    {
        duel d;
        REQUIRE(open_scene(&d, 1, 0));
        add(&d, scene_points_box(24, 24, 1, 2.4, 2.4, .1, .2, 3), 60, v3(0, 0, 0), v3(0, 0, 0));
        add(&d, scene_points_ball(300, .3, 1), 8, v3(0, 0, .6), v3(0, 0, fast ? -12 : -2));
        for (int frame = 0; frame < 20; ++frame)
            REQUIRE_OK(advance(&d, fast ? 1 : 6));
        /* the ball's centre is above the sheet's middle, where it was hit */
        double ball = 0, sheet = 0, near = 0;
        const pl_body* body = d.scene->bodies[1];
        for (uint32_t s = 0; s < body->particles.slot_count; ++s)
            if (body->particles.mass[s] > 0)
                ball += contact_world(body, s).z / body->particles.count;
        body = d.scene->bodies[0];
        for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        {
            vec3 x = contact_world(body, s);
            if (body->particles.mass[s] > 0 && x.x * x.x + x.y * x.y < .09)
                sheet += x.z, ++near;
        }
        CHECK_MSG(near > 0 && ball > sheet / near, "fast %d: the ball is at %g, the sheet at %g",
                  fast, ball, sheet / near);
        CHECK_OK(pliant_scene_destroy(d.handle));
    }
}

TEST(bad_contact_settings_are_named)
{
    duel d;
    pliant_contact_desc desc = {0};
    REQUIRE(two_balls(&d, 1, 0, .5));
    CHECK(pliant_scene_set_contacts(d.handle, &desc) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_scene_set_contacts(d.handle, NULL) == PLIANT_ERROR_ARGUMENT);
    for (int i = 0; i < 5; ++i)
    {
        pliant_contact_desc_init(&desc, sizeof desc);
        CHECK(desc.enabled == 0 && desc.stiffness == 1);
        double* bad[] = {&desc.stiffness, &desc.friction, &desc.restitution, &desc.thickness};
        if (i < 4)
            *bad[i] = i == 1 ? NAN : -1;
        else
            desc.iterations = 0;
        CHECK(pliant_scene_set_contacts(d.handle, &desc) == PLIANT_ERROR_ARGUMENT);
        static const char* const names[] = {"stiffness", "friction", "restitution", "thickness",
                                            "iterations"};
        CHECK_MSG(strstr(pliant_last_error(), names[i]), "%s", pliant_last_error());
    }
    CHECK(d.scene->cluster_contacts && d.scene->contact_settings.restitution == .5);
    CHECK(pliant_body_set_contacts(12345, 1, 1) == PLIANT_ERROR_STALE_HANDLE);
    CHECK_OK(pliant_scene_destroy(d.handle));
}
