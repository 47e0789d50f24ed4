// SPDX-License-Identifier: GPL-3.0-or-later
/* Bodies for the tests of contacts, made without a scene. */
#ifndef PLIANT_TEST_CONTACT_BODIES_H
#define PLIANT_TEST_CONTACT_BODIES_H

#include "native/support/test.h"

#include <api/api.h>
#include <body/create.h>
#include <body/layout.h>
#include <body/rest_query.h>
#include <body/rest_sdf.h>
#include <collision/broadphase/pose.h>
#include <collision/broadphase/proxy.h>
#include <scenes/points.h>

/* A scene, and what is behind its handle. */
typedef struct contact_scene
{
    pliant_scene handle;
    pl_scene* scene;
} contact_scene;

static inline contact_scene contact_scene_open(uint32_t threads, double gravity)
{
    contact_scene s = {0, NULL};
    pliant_scene_desc desc;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = threads;
    desc.gravity[2] = gravity;
    CHECK_OK(pliant_scene_create(&desc, &s.handle));
    CHECK_OK(pl_get_scene(s.handle, &s.scene));
    return s;
}

static inline void contact_scene_enable(const contact_scene* s)
{
    pliant_contact_desc desc;
    pliant_contact_desc_init(&desc, sizeof desc);
    desc.enabled = 1;
    CHECK_OK(pliant_scene_set_contacts(s->handle, &desc));
}

/* A body of points, which are freed; the rest is "how". */
static inline pliant_body contact_add(pliant_scene scene, scene_points points,
                                      const pliant_body_desc* how, vec3 at, vec3 velocity)
{
    pliant_body_desc desc = *how;
    pliant_body body = 0;
    desc.points = points.at;
    desc.point_count = points.count;
    desc.points_origin[0] = at.x, desc.points_origin[1] = at.y, desc.points_origin[2] = at.z;
    desc.velocity[0] = velocity.x, desc.velocity[1] = velocity.y, desc.velocity[2] = velocity.z;
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    scene_points_free(&points);
    return body;
}

/* What a body of few clusters is like. */
static inline pliant_body_desc contact_how(uint32_t clusters, double damping, double stiffness)
{
    pliant_body_desc how;
    pliant_body_desc_init(&how, sizeof how);
    how.cluster.count = clusters;
    how.material.damping = damping;
    how.material.stiffness = stiffness;
    return how;
}

/* A body of points, which are freed, that slides along x. */
static inline pliant_body contact_block(const contact_scene* s, scene_points points, double damping,
                                        double x, double z, double speed)
{
    pliant_body_desc how = contact_how(8, damping, 16);
    return contact_add(s->handle, points, &how, v3(x, 0, z), v3(speed, 0, 0));
}

/* Frames of 1/24 s, until one fails. */
static inline pliant_status contact_scene_advance(const contact_scene* s, int frames,
                                                  uint32_t substeps)
{
    pliant_frame_desc desc;
    pliant_frame_desc_init(&desc, sizeof desc);
    desc.substeps = substeps;
    pliant_status status = PLIANT_OK;
    for (int i = 0; i < frames && status == PLIANT_OK; ++i)
        status = pliant_scene_advance(s->handle, &desc);
    return status;
}

static const double contact_no_drift[3] = {0, 0, 0};

/* Makes a body of points; false (and a failed check) if that does not work. Frees the points. */
static inline bool contact_body(pl_body* body, scene_points points, uint32_t clusters)
{
    pliant_body_desc desc;
    pl_task task = {0};
    pliant_body_desc_init(&desc, sizeof desc);
    desc.points = points.at;
    desc.point_count = points.count;
    desc.cluster.count = clusters;
    pl_status status = pl_body_build(body, &desc, NULL, &task);
    CHECK_MSG(status == PLIANT_OK, "making a body gave %d: %s", (int)status, pliant_last_error());
    scene_points_free(&points);
    if (status == PLIANT_OK)
        CHECK_OK(pl_rest_sdf_build(body, &body->rest_sdf));
    return status == PLIANT_OK;
}

/* What a fit finds when all of the body is moved by x = f r + shift, r relative to rest_origin. */
static inline void contact_body_move(pl_body* body, mat3 f, vec3 shift)
{
    pl_clusters* k = &body->clusters;
    pl_particles* p = &body->particles;
    vec3 to_origin = v3_sub(shift, v3_fromd(body->origin));
    for (uint32_t c = 0; c < k->count; ++c)
    {
        for (int i = 0; i < 9; ++i)
            k->f[c][i] = (float)f.m[i / 3][i % 3];
        v3_store(v3_add(m3_mulv(f, v3_from(k->rest[c])), to_origin), k->x[c]);
    }
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        for (uint32_t s = chunk->slot_begin; s < chunk->slot_begin + chunk->slot_count; ++s)
        {
            vec3 r = v3_add(v3(p->r[0][s], p->r[1][s], p->r[2][s]), v3_from(chunk->rest_origin));
            vec3 x = v3_add(m3_mulv(f, r), to_origin);
            p->x[0][s] = (float)x.x, p->x[1][s] = (float)x.y, p->x[2][s] = (float)x.z;
        }
    }
}

static inline vec3 contact_world(const pl_body* body, uint32_t slot)
{
    const pl_particles* p = &body->particles;
    return v3_add(v3_fromd(body->origin), v3(p->x[0][slot], p->x[1][slot], p->x[2][slot]));
}

#endif
