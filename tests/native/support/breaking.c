// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/breaking.h"

#include <stdlib.h>
#include <string.h>

static breaking start(uint32_t nx, uint32_t ny, uint32_t nz, double x, double y, double z)
{
    breaking b = {.points = scene_points_box(nx, ny, nz, x, y, z, .4, 1)};
    pliant_scene_desc_init(&b.scene_desc, sizeof b.scene_desc);
    pliant_body_desc_init(&b.desc, sizeof b.desc);
    pliant_fracture_desc_init(&b.fracture, sizeof b.fracture);
    b.fracture.smallest_piece = 0;
    memset(b.scene_desc.gravity, 0, sizeof b.scene_desc.gravity);
    b.scene_desc.threads = 1;
    b.desc.point_count = b.count = b.points.count;
    b.desc.points = b.points.at;
    b.x = malloc(sizeof *b.x * 3 * b.count);
    memcpy(b.x, b.points.at, sizeof *b.x * 3 * b.count);
    return b;
}

void breaking_make(breaking* b)
{
    if (b->scene)
        pliant_scene_destroy(b->scene);
    b->pulled = 0;
    CHECK_OK(pliant_scene_create(&b->scene_desc, &b->scene));
    CHECK_OK(pliant_body_create(b->scene, &b->desc, &b->body));
}

breaking breaking_ghost(uint32_t nx, uint32_t ny, uint32_t nz, uint32_t clusters)
{
    double most = PL_MAX(nx, PL_MAX(ny, nz));
    breaking b = start(nx, ny, nz, 2 * nx / most, 2 * ny / most, 2 * nz / most);
    b.desc.cluster.count = clusters;
    b.desc.material.stiffness_kind = PLIANT_STIFFNESS_ALPHA;
    b.desc.material.stiffness = 0;
    b.desc.material.damping = 0;
    breaking_make(&b);
    return b;
}

breaking breaking_bar(uint32_t clusters)
{
    breaking b = start(50, 5, 5, 2, .4, .4);
    b.desc.cluster.count = clusters;
    b.desc.material.stiffness_kind = PLIANT_STIFFNESS_YOUNG;
    b.desc.material.stiffness = 1e5;
    b.desc.material.damping = 5;
    breaking_make_bar(&b);
    return b;
}

void breaking_make_bar(breaking* b)
{
    breaking_make(b);
    float pins[BREAKING_MOST];
    for (uint32_t i = 0; i < b->count; ++i)
        pins[i] = fabsf(b->points.at[3 * i]) > .85f ? PLIANT_PIN_HELD : 0;
    CHECK_OK(pliant_body_set_pins(b->body, b->count, pins));
}

void breaking_free(breaking* b)
{
    pliant_scene_destroy(b->scene);
    scene_points_free(&b->points);
    free(b->x);
}

void breaking_collide(const breaking* b)
{
    pliant_contact_desc contacts;
    pliant_contact_desc_init(&contacts, sizeof contacts);
    contacts.enabled = 1;
    CHECK_OK(pliant_scene_set_contacts(b->scene, &contacts));
}

void breaking_on_ground(const breaking* b)
{
    pliant_collider ground;
    pliant_collider_desc desc;
    pliant_collider_desc_init(&desc, sizeof desc);
    CHECK_OK(pliant_collider_create(b->scene, &desc, &ground));
    breaking_collide(b);
    CHECK_OK(pliant_scene_set_sleep(b->scene, .2, .25));
}

pliant_body breaking_throw_ball(const breaking* b, double speed, double stiffness, double density)
{
    scene_points points = scene_points_ball(300, .3, 1);
    pliant_body_desc desc = b->desc;
    pliant_body ball = 0;
    desc.points = points.at, desc.point_count = points.count;
    desc.points_origin[2] = .6;
    desc.velocity[2] = -speed;
    desc.cluster.count = 8;
    desc.material.stiffness = stiffness > 0 ? stiffness : desc.material.stiffness;
    desc.material.density = density;
    CHECK_OK(pliant_body_create(b->scene, &desc, &ball));
    scene_points_free(&points);
    return ball;
}

void breaking_place(breaking* b)
{
    CHECK_OK(pliant_body_set_particles(b->body, b->count, NULL, b->x, NULL));
}

void breaking_tough(breaking* b, double toughness)
{
    b->fracture.toughness = toughness;
    CHECK_OK(pliant_body_set_fracture(b->body, &b->fracture));
}

void breaking_advance(breaking* b, int frames)
{
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = b->substeps;
    for (int f = 0; f < frames; ++f)
        CHECK_OK(pliant_scene_advance(b->scene, &frame));
}

void breaking_pull(breaking* b, int frames, double by)
{
    float target[3 * BREAKING_MOST];
    for (int f = 0; f < frames; ++f)
    {
        b->pulled += by / 2;
        memcpy(target, b->points.at, sizeof *target * 3 * b->count);
        for (uint32_t i = 0; i < b->count; ++i)
            target[3 * i] += (float)(target[3 * i] > 0 ? b->pulled : -b->pulled);
        CHECK_OK(pliant_body_set_pin_targets(b->body, b->count, NULL, target));
        breaking_advance(b, 1);
    }
}

pliant_body_info breaking_info(const breaking* b)
{
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    CHECK_OK(pliant_body_get_info(b->body, &info));
    return info;
}

pl_body* breaking_body(const breaking* b)
{
    pl_body* body = NULL;
    pl_scene* scene;
    CHECK(pl_get_body(b->body, &body, &scene) == PLIANT_OK);
    return body;
}

void* breaking_read(const breaking* b, uint32_t channel, uint32_t bytes, uint32_t* count)
{
    uint64_t size;
    void* data = world_read(b->body, channel, 0, &size);
    if (count)
        *count = (uint32_t)(size / bytes);
    return data;
}
