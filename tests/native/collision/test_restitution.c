// SPDX-License-Identifier: GPL-3.0-or-later
/* Restitution between pieces of bodies that broke. */
#include "native/support/contact_bodies.h"

#include <stdlib.h>

enum
{
    BALL = 500, /* particles of each */
    MOST = 3
};

/* At the contact they separate with the restitution; their centres a little slower, since the
 * impact is not quite central and they spin afterwards. */
#define LEAST .96
/* Relative, of momenta: twice that of two balls, since the distant ball makes floats coarser. */
#define ROUNDING 2e-5

/* Balls along x, one radius .5 each, that are pieces of one body. */
static void add_balls(const contact_scene* s, uint32_t count, const double x[MOST],
                      const double v[MOST])
{
    scene_points one = scene_points_ball(BALL, .5, 1);
    pliant_fracture_desc fracture;
    pliant_body_desc desc;
    pliant_body body;
    const uint32_t all = 3 * one.count * count;
    float *at = malloc(all * sizeof *at), *way = malloc(all * sizeof *way);
    REQUIRE(at && way);
    for (uint32_t i = 0; i < all; ++i)
    {
        uint32_t ball = i / (3 * one.count);
        at[i] = one.at[i % (3 * one.count)] + (i % 3 ? 0 : (float)x[ball]);
        way[i] = i % 3 ? 0 : (float)v[ball];
    }
    pliant_body_desc_init(&desc, sizeof desc);
    desc.points = at;
    desc.point_count = one.count * count;
    desc.cluster.count = 20 * count;
    desc.material.damping = 8; /* otherwise their elasticity alone bounces well */
    desc.material.stiffness = 4;
    CHECK_OK(pliant_body_create(s->handle, &desc, &body));
    CHECK_OK(pliant_body_set_particles(body, desc.point_count, NULL, at, way));
    pliant_fracture_desc_init(&fracture, sizeof fracture);
    fracture.toughness = 100;
    CHECK_OK(pliant_body_set_fracture(body, &fracture));
    scene_points_free(&one);
    free(at);
    free(way);
}

/* Momentum of the balls that are nearest to each x, and angular momentum of all. */
typedef struct motion
{
    vec3 v[MOST], linear, angular;
    double mass;
} motion;

static motion motion_of(const contact_scene* s, uint32_t body, uint32_t count)
{
    const pl_body* b = s->scene->bodies[body];
    const pl_particles* p = &b->particles;
    motion m = {{{0, 0, 0}}, {0, 0, 0}, {0, 0, 0}, 0};
    double mass[MOST] = {0};
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        if (!(p->mass[i] > 0))
            continue;
        uint32_t ball = p->id[i] / BALL;
        vec3 v = v3(p->v[0][i], p->v[1][i], p->v[2][i]);
        CHECK(ball < count);
        mass[ball] += p->mass[i];
        m.mass += p->mass[i];
        m.v[ball] = v3_mad(m.v[ball], v, p->mass[i]);
        m.linear = v3_mad(m.linear, v, p->mass[i]);
        m.angular = v3_mad(m.angular, v3_cross(contact_world(b, i), v), p->mass[i]);
    }
    for (uint32_t n = 0; n < count; ++n)
        m.v[n] = v3_scale(m.v[n], 1 / mass[n]);
    return m;
}

/* Two pieces collide; a third one is far away and uninvolved. */
static double pieces_part(double restitution)
{
    static const double x[MOST] = {-.8, .8, 4}, v[MOST] = {2, -2, 0};
    contact_scene s = contact_scene_open(1, 0);
    contact_scene_enable(&s);
    s.scene->contact_settings.restitution = restitution;
    add_balls(&s, 3, x, v);
    motion before = motion_of(&s, 0, 3);
    uint64_t contacts = 0;
    for (int frame = 0; frame < 24; ++frame)
    {
        CHECK_OK(contact_scene_advance(&s, 1, 8));
        contacts += s.scene->contacts;
    }
    CHECK(contacts > 0);
    CHECK(s.scene->bodies[0]->fracture->piece_count == 3);
    CHECK_MSG(s.scene->encounters.count == 0, "they have not parted");
    motion after = motion_of(&s, 0, 3);
    double scale = 2.0 / 3 * before.mass * 1.6;
    double linear = v3_length(v3_sub(after.linear, before.linear));
    double angular = v3_length(v3_sub(after.angular, before.angular));
    CHECK_MSG(linear < ROUNDING * scale, "momentum changed by %g of %g", linear, scale);
    CHECK_MSG(angular < ROUNDING * scale, "angular momentum changed by %g of %g", angular, scale);
    CHECK_MSG(v3_length(after.v[2]) < 1e-3, "the third one moves with %g", v3_length(after.v[2]));
    CHECK_OK(pliant_scene_destroy(s.handle));
    return after.v[1].x - after.v[0].x;
}

TEST(pieces_of_a_body_bounce_as_bodies_do)
{
    double soft = pieces_part(0);
    CHECK_MSG(soft < .75 * 4, "they bounce by themselves with %g of 4: nothing is tested", soft);
    for (int n = 0; n < 2; ++n)
    {
        double restitution = n ? .95 : .9, apart = pieces_part(restitution);
        CHECK_MSG(apart >= LEAST * 4 * restitution && apart <= 4, "restitution %g: %g of 4",
                  restitution, apart);
    }
}

TEST(a_piece_that_is_hit_bounces_without_the_others)
{
    static const double x[MOST] = {.8, 6, 0}, v[MOST] = {0, 0, 0}, hit[MOST] = {-.8, 0, 0};
    static const double fast[MOST] = {3, 0, 0};
    contact_scene s = contact_scene_open(2, 0);
    contact_scene_enable(&s);
    s.scene->contact_settings.restitution = .9;
    add_balls(&s, 2, x, v);
    add_balls(&s, 1, hit, fast);
    for (int frame = 0; frame < 24; ++frame)
        CHECK_OK(contact_scene_advance(&s, 1, 8));
    motion struck = motion_of(&s, 0, 2), striker = motion_of(&s, 1, 1);
    double apart = struck.v[0].x - striker.v[0].x;
    CHECK_MSG(apart >= LEAST * 3 * .9 && apart <= 3, "they part with %g of 3", apart);
    CHECK_MSG(v3_length(struck.v[1]) < 1e-3, "the other piece moves with %g",
              v3_length(struck.v[1]));
    /* equal masses: the striker keeps little */
    CHECK_MSG(fabs(striker.v[0].x - .15) < .05, "it goes on with %g", striker.v[0].x);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

TEST(pieces_that_bounce_go_on_after_a_restore)
{
    static const double x[MOST] = {-.8, .8, 4}, v[MOST] = {2, -2, 0};
    contact_scene s[2] = {contact_scene_open(1, 0), contact_scene_open(2, 0)};
    uint64_t bytes = 0, hashes[2] = {0};
    contact_scene_enable(&s[0]);
    s[0].scene->contact_settings.restitution = .95;
    add_balls(&s[0], 3, x, v);
    for (int frame = 0; frame < 24 && s[0].scene->encounters.count == 0; ++frame)
        REQUIRE_OK(contact_scene_advance(&s[0], 1, 6));
    CHECK(s[0].scene->encounters.count == 1);
    REQUIRE_OK(pliant_scene_save(s[0].handle, NULL, &bytes));
    void* block = malloc(bytes);
    REQUIRE_OK(pliant_scene_save(s[0].handle, block, &bytes));
    REQUIRE_OK(pliant_scene_restore(s[1].handle, block, bytes));
    CHECK(s[1].scene->encounters.count == 1);
    for (int frame = 0; frame < 12; ++frame)
    {
        for (int n = 0; n < 2; ++n)
        {
            REQUIRE_OK(contact_scene_advance(&s[n], 1, 6));
            CHECK_OK(pliant_scene_hash(s[n].handle, &hashes[n]));
        }
        CHECK_MSG(hashes[0] == hashes[1], "frame %d after the restore is another", frame);
    }
    CHECK(s[0].scene->encounters.count == 0);
    free(block);
    CHECK_OK(pliant_scene_destroy(s[0].handle));
    CHECK_OK(pliant_scene_destroy(s[1].handle));
}
