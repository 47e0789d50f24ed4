// SPDX-License-Identifier: GPL-3.0-or-later
/* Every channel can be read in every state of a body. */
#include "native/support/breaking.h"

#include <stdlib.h>
#include <string.h>

enum
{
    LAST_CHANNEL =
        PLIANT_SUCCESSOR, /* the last one; the next must be refused, so that new ones are noticed */
    LONG = 12,
    WIDE = 3,
    POINTS = LONG * WIDE * WIDE
};

static void read_all(pliant_scene scene, const char* state)
{
    pliant_scene_info info;
    pliant_scene_info_init(&info, sizeof info);
    CHECK_OK(pliant_scene_get_info(scene, &info));
    for (uint32_t b = 0; b < info.bodies; ++b)
    {
        pliant_body body = world_body(scene, b);
        pliant_body_info one;
        pliant_body_info_init(&one, sizeof one);
        CHECK_OK(pliant_body_get_info(body, &one));
        uint64_t none = 0;
        CHECK(pliant_body_read(body, LAST_CHANNEL + 1, 0, NULL, NULL, &none) ==
              PLIANT_ERROR_ARGUMENT);
        for (uint32_t channel = 0; channel <= LAST_CHANNEL; ++channel)
            for (uint32_t level = 0; level < one.levels; ++level)
            {
                uint64_t bytes = 0;
                pliant_status status = pliant_body_read(body, channel, level, NULL, NULL, &bytes);
                char* buffer = malloc(bytes + 1); /* exact size, for the address sanitizer */
                if (status == PLIANT_OK)
                    status = pliant_body_read(body, channel, level, NULL, buffer, &bytes);
                /* channels of the finest level return an error for others */
                CHECK_MSG(status == PLIANT_OK || (level > 0 && status == PLIANT_ERROR_ARGUMENT),
                          "%s: channel %u of level %u gave %d: %s", state, channel, level, status,
                          pliant_last_error());
                free(buffer);
            }
    }
}

/* Reads the body, and the body after a restore. */
static void read_both(pliant_scene scene, const char* state)
{
    uint64_t bytes = 0;
    char name[64];
    read_all(scene, state);
    void* block = world_save(scene, &bytes);
    pliant_scene_desc desc;
    pliant_scene other = 0;
    pliant_scene_desc_init(&desc, sizeof desc);
    CHECK_OK(pliant_scene_create(&desc, &other));
    CHECK_OK(pliant_scene_restore(other, block, bytes));
    snprintf(name, sizeof name, "%s, restored", state);
    read_all(other, name);
    CHECK_OK(pliant_scene_destroy(other));
    free(block);
}

TEST(broken_bodies_without_contacts_can_be_read)
{
    breaking b = breaking_bar(40);
    breaking_make_bar(&b);
    breaking_tough(&b, .05);
    read_both(b.scene, "whole");
    breaking_pull(&b, 24, .05);
    CHECK(breaking_info(&b).pieces > 1);
    read_both(b.scene, "broken");
    breaking_free(&b);
}

TEST(broken_bodies_that_flow_collide_and_sleep_can_be_read)
{
    breaking b = breaking_bar(40);
    b.desc.material.yield = .03;
    b.desc.levels.count = 2;
    breaking_make_bar(&b);
    breaking_collide(&b);
    breaking_tough(&b, .05);
    for (int f = 0; f < 24; ++f)
    {
        breaking_pull(&b, 1, .05);
        if (f % 4 == 3)
            read_all(b.scene, "breaking and colliding");
    }
    CHECK(breaking_info(&b).pieces > 1);
    read_both(b.scene, "broken, flowed and colliding");
    CHECK_OK(pliant_scene_set_sleep(b.scene, 1e6, 0));
    breaking_advance(&b, 3);
    read_both(b.scene, "asleep");
    breaking_free(&b);
}

TEST(every_kind_of_body_can_be_read_in_every_frame)
{
    for (uint32_t kind = 0; kind < WORLD_KINDS; ++kind)
    {
        pliant_scene scene = world_make(kind);
        if (!scene)
            continue;
        read_both(scene, world_name(kind));
        for (int f = 0; f < 3; ++f)
            CHECK_OK(world_frame(kind, scene));
        read_both(scene, world_name(kind));
        CHECK_OK(pliant_scene_destroy(scene));
    }
}

/* A bar that is pulled to four times its length: particles divide and merge. */
TEST(resampled_bodies_can_be_read)
{
    static float points[3 * POINTS], targets[3 * POINTS], hold[POINTS];
    pliant_scene scene = 0;
    pliant_scene_desc sd;
    pliant_body body = 0;
    pliant_body_desc desc;
    pliant_frame_desc frame = world_frame_desc();
    for (int i = 0; i < POINTS; ++i)
    {
        points[3 * i] = .1f * (float)(i % LONG);
        points[3 * i + 1] = .1f * (float)(i / LONG % WIDE);
        points[3 * i + 2] = .1f * (float)(i / LONG / WIDE);
        hold[i] = i % LONG < 2 || i % LONG >= LONG - 2 ? PLIANT_PIN_HELD : 0;
    }
    pliant_scene_desc_init(&sd, sizeof sd);
    sd.gravity[2] = 0;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.points = points;
    desc.point_count = POINTS;
    desc.cluster.count = 20;
    desc.material.stiffness = 14;
    desc.material.damping = 20;
    desc.material.yield = .02;
    desc.material.flow = 40;
    desc.material.resample = 1;
    CHECK_OK(pliant_scene_create(&sd, &scene));
    REQUIRE_OK(pliant_body_create(scene, &desc, &body));
    CHECK_OK(pliant_body_set_pins(body, POINTS, hold));
    memcpy(targets, points, sizeof targets);
    uint64_t bytes = 0;
    for (int f = 1; f <= 60; ++f)
    {
        float apart = .1f * LONG * 3 * (float)(f <= 40 ? f : 80 - f) / 40;
        for (int i = 0; i < POINTS; ++i)
            targets[3 * i] = points[3 * i] + (i % LONG < LONG / 2 ? 0 : apart);
        CHECK_OK(pliant_body_set_pin_targets(body, POINTS, NULL, targets));
        CHECK_OK(pliant_scene_advance(scene, &frame));
        if (f % 20 == 0)
            read_both(scene, "resampled");
    }
    CHECK_OK(pliant_body_read(body, PLIANT_PARENT, 0, NULL, NULL, &bytes));
    CHECK(bytes > 4 * POINTS); /* particles were added */
    CHECK_OK(pliant_scene_destroy(scene));
}
