// SPDX-License-Identifier: GPL-3.0-or-later
/* The armadillo of Kaliappan and Bargteil 2020 on the ground, with self-contacts: a soft body with
 * limbs falls onto a plane and is crushed. It recovers its shape as it does without contacts, and
 * without parts overlapping. */
#include "native/support/contact_bodies.h"
#include "native/support/paper.h"

typedef struct heap
{
    uint32_t particles, through; /* pairs that nearly coincide but are far apart at rest */
    uint32_t crushed;            /* clusters that are inverted or nearly flat */
    double lowest;
} heap;

static heap look_at(const pl_body* body)
{
    const pl_particles* p = &body->particles;
    double near = .75 * body->spacing, far = 8 * body->spacing;
    heap out = {.lowest = INFINITY};
    for (uint32_t a = 0; a < p->slot_count; ++a)
    {
        if (p->mass[a] == 0)
            continue;
        vec3 x = contact_world(body, a), rest = pl_rest_of(body, a);
        ++out.particles;
        out.lowest = fmin(out.lowest, x.z);
        for (uint32_t b = 0; b < a; ++b)
            if (p->mass[b] > 0 && v3_length(v3_sub(contact_world(body, b), x)) < near &&
                v3_length(v3_sub(pl_rest_of(body, b), rest)) > far)
                ++out.through;
    }
    for (uint32_t c = 0; c < body->clusters.count; ++c)
    {
        const float* f = body->clusters.f[c];
        mat3 map = {{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}, {f[6], f[7], f[8]}}};
        out.crushed += !(m3_det(map) > .1);
    }
    return out;
}

static heap drop_armadillo(bool contacts)
{
    enum
    {
        STEPS = 150
    };
    scene s;
    pliant_scene handle = 0;
    pliant_body body = 0;
    pl_scene* made = NULL;
    paper_open("falling-armadillo", &s);
    s.body.sample.count = 2500;
    s.body.cluster.count = 160;
    s.body.cluster.radius = 0;
    s.body.levels.count = 1;
    s.body.material.stiffness = .05;
    s.body.mesh.origin[2] -= 1.2;
    s.collider_count = 1; /* the ground */
    s.contact.enabled = contacts;
    s.frame.substeps = 4;
    s.scene.threads = 1;
    CHECK_OK(scene_create(&s, &handle, &body));
    CHECK_OK(pl_get_scene(handle, &made));
    for (int k = 0; k < STEPS; ++k)
        CHECK_OK(pliant_scene_advance(handle, &s.frame));
    heap out = look_at(made->bodies[0]);
    CHECK_OK(pliant_scene_destroy(handle));
    scene_close(&s);
    return out;
}

TEST_SLOW(an_armadillo_on_the_ground_does_not_go_through_itself)
{
    heap with = drop_armadillo(true), without = drop_armadillo(false);
    CHECK_MSG(with.lowest > -.01, "down to %g", with.lowest);
    CHECK_MSG(with.crushed == 0, "%u clusters stay crushed", with.crushed);
    CHECK_MSG(without.through > 50 && 10 * with.through < without.through,
              "%u pairs of particles in each other's place, without contacts %u (of %u particles)",
              with.through, without.through, with.particles);
}
