// SPDX-License-Identifier: GPL-3.0-or-later
/* Surfaces of flowing bodies: effect of reclustering, and conservation of volume. */
#include "native/support/test.h"
#include "native/support/world.h"

#include <api/api.h>
#include <body/edit/edit.h>
#include <body/rest_query.h>
#include <scenes/bars.h>
#include <scenes/meshes.h>
#include <scenes/scenes.h>
#include <stdlib.h>
#include <string.h>

enum
{
    VERTICES = 200
};

static void scattered(float vertices[3 * VERTICES], double reach)
{
    uint32_t state = 7;
    for (int i = 0; i < 3 * VERTICES; ++i)
    {
        state = state * 1664525u + 1013904223u;
        vertices[i] = (float)(reach * (state / 4294967296.0 - .5));
    }
}

/* A cube that was drawn out along x. */
static pliant_scene drawn_out(pl_body** body)
{
    pliant_scene world = 0;
    pliant_scene_desc sd;
    pliant_body handle = 0;
    pliant_body_desc desc = world_cube(9);
    pl_scene* inside;
    pliant_scene_desc_init(&sd, sizeof sd);
    sd.threads = 1;
    desc.cluster.count = 24;
    desc.material.yield = .1;
    CHECK_OK(pliant_scene_create(&sd, &world));
    CHECK_OK(pliant_body_create(world, &desc, &handle));
    float* x = malloc(sizeof(float) * 3 * desc.point_count);
    for (uint32_t i = 0; i < 3 * desc.point_count; ++i)
        x[i] = desc.points[i] * (i % 3 ? .8f : 1.6f);
    CHECK_OK(pliant_body_set_particles(handle, desc.point_count, NULL, x, NULL));
    free(x);
    CHECK(pl_get_body(handle, body, &inside) == PLIANT_OK);
    return world;
}

/* Every other cluster gets a rest shape of its own: the body's, drawn out. */
static void renew_clusters(pl_body* body)
{
    pl_edit* edit = NULL;
    CHECK(pl_edit_begin(body, 1, &edit) == PLIANT_OK);
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
    {
        uint32_t count;
        pl_member members[64];
        const pl_member* old = pl_edit_members(edit, s, &count);
        if (body->particles.id[s] == PL_NO_PARTICLE || !count)
            continue;
        memcpy(members, old, count * sizeof *old);
        for (uint32_t m = 0; m < count; ++m)
            if (members[m].cluster % 2)
                for (int k = 0; k < 3; ++k)
                    members[m].rest[k] *= k ? .85 : 1.5;
        CHECK(pl_edit_set(edit, s, members, count) == PLIANT_OK);
    }
    CHECK(pl_edit_end(edit, NULL) == PLIANT_OK);
}

TEST(surfaces_stay_where_they_are_when_clusters_are_made_anew)
{
    pl_body* body;
    pliant_scene world = drawn_out(&body);
    pliant_skin skin = 0;
    float rest[3 * VERTICES], before[3 * VERTICES], after[3 * VERTICES];
    pliant_skin_desc desc;
    scattered(rest, 1.1);
    pliant_skin_desc_init(&desc, sizeof desc);
    desc.vertex_count = VERTICES;
    desc.vertices = rest;
    CHECK_OK(pliant_skin_create(world_body(world, 0), &desc, &skin));
    CHECK_OK(pliant_skin_apply(skin, NULL, NULL, before, NULL, NULL));
    renew_clusters(body);
    uint32_t own = 0;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        own += body->clusters.own[c];
    CHECK(own >= 10);
    CHECK_OK(pliant_skin_apply(skin, NULL, NULL, after, NULL, NULL));
    double most = 0;
    for (int i = 0; i < 3 * VERTICES; ++i)
        most = fmax(most, fabs((double)after[i] - before[i]));
    CHECK_MSG(most < 1e-5, "a vertex moved by %g", most);
    for (int i = 0; i < 3 * VERTICES; ++i) /* and it is drawn out as the body is */
        CHECK_NEAR(after[i], rest[i] * (i % 3 ? .8 : 1.6), 1e-4);
    CHECK_OK(pliant_scene_destroy(world));
}

/* Compressed, released and at rest again, with reclustering. */
static void check_volume(double yield, double press)
{
    scene s;
    pliant_scene made;
    pliant_body body;
    pliant_skin skin = 0;
    pliant_skin_desc desc;
    pliant_body_info info;
    CHECK(scene_open_small_beam(32, 6, 48, &s));
    s.body.material.yield = yield;
    s.body.material.damping = 2; /* so that it comes to rest */
    s.press = press;
    s.press_seconds = 2;
    CHECK_OK(scene_create(&s, &made, &body));
    scene_mesh mesh = scene_box(2, .4f, .4f, 6);
    double before = scene_mesh_volume(&mesh), length = scene_length(body);
    pliant_skin_desc_init(&desc, sizeof desc);
    desc.vertex_count = mesh.vertex_count;
    desc.vertices = mesh.vertices;
    CHECK_OK(pliant_skin_create(body, &desc, &skin));
    for (int step = 0; step < 800; ++step)
    {
        CHECK_OK(scene_press(&s, made, body));
        CHECK_OK(pliant_scene_advance(made, &s.frame));
    }
    CHECK_OK(pliant_skin_apply(skin, NULL, NULL, mesh.vertices, NULL, NULL));
    pliant_body_info_init(&info, sizeof info);
    CHECK_OK(pliant_body_get_info(body, &info));
    double after = scene_mesh_volume(&mesh);
    CHECK_MSG(fabs(after / before - 1) < .02, "yield %g: %.4f of the volume", yield,
              after / before);
    CHECK_MSG(info.recluster_events > 8 && scene_length(body) < .8 * length,
              "yield %g: %u events, %.2f of its length", yield, (unsigned)info.recluster_events,
              scene_length(body) / length);
    scene_mesh_free(&mesh);
    CHECK_OK(pliant_scene_destroy(made));
    scene_close(&s);
}

TEST(a_pressed_beam_keeps_the_volume_of_its_surface)
{
    check_volume(0, .8);
    check_volume(.1, 3.25);
}
