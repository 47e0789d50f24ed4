// SPDX-License-Identifier: GPL-3.0-or-later
/* Sleep: settled bodies stop, wake by the rules of sleep.c, and results are deterministic. */
#include "native/support/contact_bodies.h"

#include <api/api.h>
#include <stdlib.h>

typedef struct bed
{
    pliant_scene handle;
    pl_scene* scene;
    pliant_collider ground;
} bed;

static void add_at(const bed* d, scene_points points, double x, double z, double speed)
{
    pliant_body_desc how = contact_how(8, 10, 16);
    contact_add(d->handle, points, &how, v3(x, 0, z), v3(0, 0, speed));
}

/* Two stacked boxes and one beside them, on the ground. */
static void make_bed(bed* d, uint32_t threads)
{
    pliant_scene_desc desc;
    pliant_collider_desc ground;
    pliant_contact_desc contacts;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = threads;
    CHECK_OK(pliant_scene_create(&desc, &d->handle));
    CHECK_OK(pl_get_scene(d->handle, &d->scene));
    pliant_collider_desc_init(&ground, sizeof ground);
    CHECK_OK(pliant_collider_create(d->handle, &ground, &d->ground));
    pliant_contact_desc_init(&contacts, sizeof contacts);
    contacts.enabled = 1;
    CHECK_OK(pliant_scene_set_contacts(d->handle, &contacts));
    CHECK_OK(pliant_scene_set_sleep(d->handle, .1, .25));
    for (int i = 0; i < 2; ++i)
        add_at(d, scene_points_box(5, 5, 5, .5, .5, .5, 0, 1), 0, .21 + .45 * i, 0);
    add_at(d, scene_points_box(5, 5, 5, .5, .5, .5, 0, 1), 3, .21, 0);
}

static uint32_t sleepers(const bed* d)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < d->scene->body_count; ++b)
        count += d->scene->bodies[b]->asleep;
    return count;
}

static pliant_status frames(const bed* d, int count)
{
    return contact_scene_advance(&(contact_scene){d->handle, d->scene}, count, 6);
}

static bool put_to_bed(bed* d, uint32_t threads)
{
    make_bed(d, threads);
    for (int i = 0; i < 150 && sleepers(d) < 3; ++i)
        CHECK_OK(frames(d, 1));
    CHECK_MSG(sleepers(d) == 3, "after %g s %u of 3 sleep", d->scene->time, sleepers(d));
    return sleepers(d) == 3;
}

TEST(settled_bodies_fall_asleep_and_stay_where_they_are)
{
    bed d;
    uint64_t hashes[2];
    REQUIRE(put_to_bed(&d, 1));
    CHECK_OK(frames(&d, 1));
    CHECK(d.scene->chunks.count == 0 && d.scene->fine.count == 0 && d.scene->contacts == 0);
    CHECK_OK(pliant_scene_hash(d.handle, &hashes[0]));
    vec3 before = contact_world(d.scene->bodies[1], 0);
    CHECK_OK(frames(&d, 10));
    vec3 after = contact_world(d.scene->bodies[1], 0);
    CHECK(before.x == after.x && before.y == after.y && before.z == after.z);
    CHECK(sleepers(&d) == 3);
    CHECK_OK(pliant_scene_destroy(d.handle));
}

/* A ball on the upper box wakes both stacked boxes, but not the one beside. */
TEST(sleepers_wake_when_they_are_hit_and_with_what_they_touch)
{
    bed d;
    REQUIRE(put_to_bed(&d, 1));
    add_at(&d, scene_points_ball(150, .25, 1), 0, 1.6, -2);
    CHECK_OK(frames(&d, 2));
    CHECK(sleepers(&d) == 3);
    for (int i = 0; i < 15 && sleepers(&d) == 3; ++i)
        CHECK_OK(frames(&d, 1));
    const pl_body** bodies = (const pl_body**)d.scene->bodies;
    CHECK(!bodies[0]->asleep && !bodies[1]->asleep && bodies[2]->asleep);
    CHECK_OK(pliant_scene_destroy(d.handle));
}

TEST(sleepers_wake_when_a_collider_comes_or_something_is_set)
{
    bed d;
    REQUIRE(put_to_bed(&d, 1));
    pliant_collider_desc desc;
    pliant_collider ball;
    pliant_collider_desc_init(&desc, sizeof desc);
    desc.shape = PLIANT_SHAPE_SPHERE;
    desc.pose.position[0] = 20;
    desc.pose.extent[0] = .5;
    CHECK_OK(pliant_collider_create(d.handle, &desc, &ball));
    CHECK(sleepers(&d) == 0);
    for (int i = 0; i < 100 && sleepers(&d) < 3; ++i)
        CHECK_OK(frames(&d, 1));
    desc.pose.position[0] = 10;
    CHECK_OK(pliant_collider_move(ball, &desc.pose));
    CHECK_OK(frames(&d, 1));
    CHECK_MSG(sleepers(&d) == 3, "a ball far away wakes %u", 3 - sleepers(&d));
    desc.pose.position[0] = 3.6;
    CHECK_OK(pliant_collider_move(ball, &desc.pose));
    CHECK_OK(frames(&d, 1));
    CHECK(sleepers(&d) == 2 && !d.scene->bodies[2]->asleep);
    const double up[3] = {0, 0, 1};
    CHECK_OK(pliant_scene_set_gravity(d.handle, up));
    CHECK(sleepers(&d) == 0);
    CHECK(pliant_scene_set_sleep(d.handle, -1, 1) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_scene_set_sleep(d.handle, 1, NAN) == PLIANT_ERROR_ARGUMENT);
    CHECK_OK(pliant_scene_destroy(d.handle));
}

/* Sleep, save, restore with other threads, and a hit: the same bits as without a restore. */
TEST(sleep_gives_the_same_bits_for_threads_and_restores)
{
    bed d, again;
    uint64_t bytes = 0, hashes[2];
    REQUIRE(put_to_bed(&d, 1));
    REQUIRE(put_to_bed(&again, 3));
    add_at(&d, scene_points_ball(150, .25, 1), 0, 1.6, -2);
    REQUIRE_OK(pliant_scene_save(d.handle, NULL, &bytes));
    void* block = malloc(bytes);
    REQUIRE_OK(pliant_scene_save(d.handle, block, &bytes));
    CHECK_OK(pliant_scene_hash(d.handle, &hashes[0]));
    REQUIRE_OK(pliant_scene_restore(again.handle, block, bytes));
    CHECK(sleepers(&again) == 3);
    CHECK_OK(frames(&d, 16));
    CHECK_OK(frames(&again, 16));
    CHECK(sleepers(&d) == 1 && sleepers(&again) == 1);
    CHECK_OK(pliant_scene_hash(d.handle, &hashes[0]));
    CHECK_OK(pliant_scene_hash(again.handle, &hashes[1]));
    CHECK(hashes[0] == hashes[1]);
    free(block);
    CHECK_OK(pliant_scene_destroy(d.handle));
    CHECK_OK(pliant_scene_destroy(again.handle));
}
