// SPDX-License-Identifier: GPL-3.0-or-later
/* Saving and restoring by the public API: bit-identical to an uninterrupted run. */
#include "native/support/world.h"

#include <base/cpu.h>
#include <stdlib.h>
#include <string.h>

enum
{
    FRAMES = 8,
    SAVED_AFTER = 3
};

/* Hashes of an uninterrupted run. */
static bool run_whole(uint32_t kind, uint64_t hashes[FRAMES])
{
    pliant_scene scene = world_make(kind);
    if (!scene)
        return false;
    for (int f = 0; f < FRAMES; ++f)
    {
        CHECK_OK(world_frame(kind, scene));
        hashes[f] = world_hash(scene);
    }
    CHECK(world_finite(world_body(scene, 0)));
    CHECK_OK(pliant_scene_destroy(scene));
    return true;
}

static void check_rest(uint32_t kind, pliant_scene scene, int from, const uint64_t hashes[FRAMES],
                       const char* what)
{
    for (int f = from; f < FRAMES; ++f)
    {
        CHECK_OK(world_frame(kind, scene));
        CHECK_MSG(world_hash(scene) == hashes[f], "%s, %s: frame %d came out different",
                  world_name(kind), what, f);
    }
}

static pliant_scene empty_scene(uint32_t threads, uint32_t simd)
{
    pliant_scene scene = 0;
    pliant_scene_desc desc;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = threads;
    desc.simd = simd;
    desc.gravity[2] = 5;
    CHECK_OK(pliant_scene_create(&desc, &scene));
    return scene;
}

/* Restores a block into a new scene and checks that saving it again gives the same bytes. */
static pliant_scene restored(const void* block, uint64_t bytes, uint32_t threads)
{
    pliant_scene scene = empty_scene(threads, PLIANT_SIMD_AUTO);
    uint64_t again_bytes = 0;
    CHECK_OK(pliant_scene_restore(scene, block, bytes));
    void* again = world_save(scene, &again_bytes);
    CHECK(again_bytes == bytes && memcmp(again, block, bytes) == 0);
    free(again);
    return scene;
}

TEST(a_restored_scene_goes_on_to_the_same_bits)
{
    for (uint32_t kind = 0; kind < WORLD_KINDS; ++kind)
    {
        uint64_t hashes[FRAMES] = {0}, bytes = 0;
        if (!run_whole(kind, hashes))
            continue;
        pliant_scene scene = world_make(kind);
        for (int f = 0; f < SAVED_AFTER; ++f)
            CHECK_OK(world_frame(kind, scene));
        void* block = world_save(scene, &bytes);
        check_rest(kind, scene, SAVED_AFTER, hashes, "saved only");
        CHECK_OK(pliant_scene_destroy(scene));
        scene = restored(block, bytes, 2);
        CHECK(world_hash(scene) == hashes[SAVED_AFTER - 1]);
        check_rest(kind, scene, SAVED_AFTER, hashes, "restored");
        /* again into the scene that has advanced */
        CHECK_OK(pliant_scene_restore(scene, block, bytes));
        check_rest(kind, scene, SAVED_AFTER, hashes, "restored again");
        CHECK_OK(pliant_scene_destroy(scene));
        free(block);
    }
}

/* Cancels before the n-th substep, n = *user. */
static int32_t cancel_at(void* user, double fraction, const char* stage)
{
    int* left = user;
    (void)fraction, (void)stage;
    return (*left)-- == 0;
}

TEST(a_cancelled_frame_can_be_saved_and_finished_elsewhere)
{
    for (uint32_t kind = 0; kind < WORLD_KINDS; ++kind)
    {
        uint64_t hashes[FRAMES] = {0}, bytes = 0;
        pliant_scene_info info;
        int left = 2;
        pliant_frame_desc desc = world_frame_desc();
        desc.progress = cancel_at;
        desc.user = &left;
        if (!run_whole(kind, hashes))
            continue;
        pliant_scene scene = world_make(kind);
        for (int f = 0; f < SAVED_AFTER; ++f)
            CHECK_OK(world_frame(kind, scene));
        world_drive(kind, scene, SAVED_AFTER);
        CHECK(pliant_scene_advance(scene, &desc) == PLIANT_CANCELLED);
        pliant_scene_info_init(&info, sizeof info);
        CHECK_OK(pliant_scene_get_info(scene, &info));
        CHECK(info.substep_of_frame == 2 && info.frame == SAVED_AFTER);
        void* block = world_save(scene, &bytes);
        desc.progress = NULL;
        CHECK_OK(pliant_scene_advance(scene, &desc));
        CHECK_MSG(world_hash(scene) == hashes[SAVED_AFTER], "%s: continued", world_name(kind));
        check_rest(kind, scene, SAVED_AFTER + 1, hashes, "continued");
        CHECK_OK(pliant_scene_destroy(scene));
        scene = restored(block, bytes, 1);
        CHECK_OK(pliant_scene_advance(scene, &desc));
        CHECK_MSG(world_hash(scene) == hashes[SAVED_AFTER], "%s: finished elsewhere",
                  world_name(kind));
        check_rest(kind, scene, SAVED_AFTER + 1, hashes, "finished elsewhere");
        CHECK_OK(pliant_scene_destroy(scene));
        free(block);
    }
}

static void read_everything(pliant_scene scene)
{
    pliant_scene_info info;
    pliant_scene_info_init(&info, sizeof info);
    CHECK_OK(pliant_scene_get_info(scene, &info));
    for (uint32_t b = 0; b < info.bodies; ++b)
    {
        CHECK(world_finite(world_body(scene, b)));
        CHECK(pliant_body_warning_text(world_body(scene, b)) != NULL);
    }
    uint32_t substeps = 0;
    double ms[PLIANT_STAGE_COUNT];
    CHECK_OK(pliant_scene_auto_substeps(scene, 1.0 / 24, 32, &substeps));
    CHECK_OK(pliant_scene_profile(scene, ms, 1));
    world_state(scene);
}

TEST(looking_at_a_scene_does_not_change_it)
{
    for (uint32_t kind = 0; kind < WORLD_KINDS; ++kind)
    {
        uint64_t hashes[FRAMES] = {0};
        if (!run_whole(kind, hashes))
            continue;
        pliant_scene scene = world_make(kind);
        for (int f = 0; f < FRAMES; ++f)
        {
            uint64_t before = world_state(scene);
            read_everything(scene);
            CHECK_MSG(world_state(scene) == before, "%s: reading changed the state",
                      world_name(kind));
            CHECK_OK(world_frame(kind, scene));
            CHECK_MSG(world_hash(scene) == hashes[f], "%s: frame %d after reading differs",
                      world_name(kind), f);
        }
        CHECK_OK(pliant_scene_destroy(scene));
    }
}

/* The origin of positions follows the body; reading must not affect when it moves. */
TEST(looking_at_a_body_that_was_moved_does_not_change_it)
{
    uint64_t hashes[2];
    for (int look = 0; look < 2; ++look)
    {
        pliant_scene scene = world_make(WORLD_PLAIN);
        double far[3] = {1000.3, -20, 4};
        uint64_t bytes = 0;
        pliant_body body = world_body(scene, 0);
        float* positions = world_read(body, PLIANT_POSITION, 0, &bytes);
        CHECK_OK(pliant_body_set_particles(body, (uint32_t)(bytes / 12), far, positions, NULL));
        free(positions);
        if (look)
            CHECK(world_finite(body));
        for (int f = 0; f < 3; ++f)
            CHECK_OK(world_frame(WORLD_PLAIN, scene));
        hashes[look] = world_hash(scene);
        CHECK_OK(pliant_scene_destroy(scene));
    }
    CHECK(hashes[0] == hashes[1]);
}

TEST(restoring_replaces_everything_but_threads_and_simd)
{
    uint64_t bytes = 0;
    pliant_scene from = world_make(WORLD_NESTED);
    CHECK_OK(world_frame(WORLD_NESTED, from));
    void* block = world_save(from, &bytes);
    pliant_scene into = empty_scene(3, PLIANT_SIMD_SCALAR);
    CHECK_OK(world_fill(WORLD_COLLIDERS, into));
    CHECK_OK(world_fill(WORLD_FIELDS, into));
    CHECK_OK(world_frame(WORLD_COLLIDERS, into));
    pliant_body old_body = world_body(into, 0);
    pliant_collider collider = 0;
    pliant_field field = 0;
    CHECK_OK(pliant_scene_get_collider(into, 0, &collider));
    CHECK_OK(pliant_scene_get_field(into, 0, &field));
    float vertex[3] = {.5f, .5f, .5f}, out[3];
    pliant_skin skin = 0;
    pliant_skin_desc skin_desc;
    pliant_skin_desc_init(&skin_desc, sizeof skin_desc);
    skin_desc.vertex_count = 1;
    skin_desc.vertices = vertex;
    CHECK_OK(pliant_skin_create(old_body, &skin_desc, &skin));
    CHECK_OK(pliant_skin_apply(skin, NULL, NULL, out, NULL, NULL));
    CHECK_OK(pliant_scene_restore(into, block, bytes));
    pliant_scene_info info;
    pliant_scene_info_init(&info, sizeof info);
    CHECK_OK(pliant_scene_get_info(into, &info));
    CHECK(info.threads == 3 && info.simd == PLIANT_SIMD_SCALAR);
    CHECK(info.bodies == 1 && info.colliders == 0 && info.fields == 0 && info.frame == 1);
    CHECK(world_hash(into) == world_hash(from));
    pliant_body_info body_info;
    pliant_body_info_init(&body_info, sizeof body_info);
    CHECK(pliant_body_get_info(old_body, &body_info) == PLIANT_ERROR_STALE_HANDLE);
    CHECK(pliant_collider_destroy(collider) == PLIANT_ERROR_STALE_HANDLE);
    CHECK(pliant_field_destroy(field) == PLIANT_ERROR_STALE_HANDLE);
    CHECK(pliant_skin_apply(skin, NULL, NULL, out, NULL, NULL) == PLIANT_ERROR_STALE_HANDLE);
    CHECK_OK(pliant_skin_destroy(skin));
    for (int f = 0; f < 3; ++f)
    {
        CHECK_OK(world_frame(WORLD_NESTED, from));
        CHECK_OK(world_frame(WORLD_NESTED, into));
    }
    CHECK(world_hash(into) == world_hash(from));
    CHECK_OK(pliant_scene_destroy(from));
    CHECK_OK(pliant_scene_destroy(into));
    free(block);
}

TEST(an_empty_scene_can_be_saved_and_advanced)
{
    uint64_t bytes = 0;
    pliant_scene scene = empty_scene(2, PLIANT_SIMD_AUTO);
    pliant_frame_desc desc = world_frame_desc();
    CHECK_OK(pliant_scene_advance(scene, &desc));
    void* block = world_save(scene, &bytes);
    pliant_scene other = restored(block, bytes, 1);
    CHECK_OK(pliant_scene_advance(scene, &desc));
    CHECK_OK(pliant_scene_advance(other, &desc));
    CHECK(world_hash(scene) == world_hash(other));
    CHECK_OK(pliant_scene_destroy(scene));
    CHECK_OK(pliant_scene_destroy(other));
    free(block);
}

TEST(saving_needs_a_buffer_that_is_large_enough)
{
    pliant_scene scene = world_make(WORLD_ALL);
    uint64_t whole = 0;
    REQUIRE_OK(pliant_scene_save(scene, NULL, &whole));
    static const double parts[] = {0, .001, .1, .5, .9, .9999, 1};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
    {
        uint64_t bytes = (uint64_t)(parts[i] * (double)whole) - (parts[i] == 1);
        void* block = malloc(bytes + 1);
        CHECK(pliant_scene_save(scene, block, &bytes) == PLIANT_ERROR_BUFFER);
        CHECK(pliant_last_error()[0]);
        free(block);
    }
    uint64_t more = whole + 100;
    void* block = malloc(more);
    CHECK_OK(pliant_scene_save(scene, block, &more));
    CHECK(more == whole);
    free(block);
    CHECK_OK(pliant_scene_destroy(scene));
}
