// SPDX-License-Identifier: GPL-3.0-or-later
/* Invalid handles, NULL pointers and invalid arrays, for every call. */
#include "native/support/small_body.h"

#include <string.h>

/* A call of a function with a given handle as every handle argument. */
typedef struct handle_call
{
    const char *name, *kinds; /* kinds of its handle arguments */
    pliant_status (*call)(uint64_t handle);
} handle_call;

static double zeros[1024]; /* target of pointers to anything but descriptors */

/* A function that returns text returns "" for a stale handle and sets the error. */
static pliant_status status_of_text(const char* text)
{
    bool told = strstr(pliant_last_error(), "any more") != NULL;
    return text && !text[0] && told ? PLIANT_ERROR_STALE_HANDLE : PLIANT_OK;
}

#include "handle_calls.h"

/* Calls all functions except those that take a handle of the kind "but" (may be NULL). */
static void check_handles(uint64_t handle, const char* but, const char* what)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i)
    {
        if (but && strstr(calls[i].kinds, but))
            continue;
        make_descriptors();
        memset(zeros, 0, sizeof zeros);
        CHECK(pliant_scene_create(NULL, NULL) == PLIANT_ERROR_ARGUMENT); /* another sentence */
        pliant_status status = calls[i].call(handle);
        bool ends = strstr(calls[i].name, "_destroy") || strstr(calls[i].name, "_close");
        bool ended_nothing = ends && !handle && status == PLIANT_OK;
        CHECK_MSG(status == PLIANT_ERROR_STALE_HANDLE || ended_nothing, "%s with %s gave %d",
                  calls[i].name, what, (int)status);
    }
}

TEST(handles_of_nothing_are_refused_by_every_call)
{
    check_handles(0, NULL, "zero");
    check_handles(~0ull, NULL, "all ones");
    pliant_scene scene = make_scene();
    CHECK_OK(pliant_scene_destroy(scene));
    check_handles(scene, NULL, "a scene that is gone");
    scene_mesh box = scene_box(1, 1, 1, 1);
    pliant_body body = 0;
    pliant_body_desc desc = small_body(&box);
    scene = make_scene();
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    CHECK_OK(pliant_scene_destroy(scene));
    check_handles(body, NULL, "a body that went with its scene");
    uint64_t random = 88172645463325252ull;
    for (int i = 0; i < 200; ++i)
    {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        check_handles(random, NULL, "an invented handle");
    }
    scene_mesh_free(&box);
}

TEST(handles_of_other_things_are_refused_by_every_call)
{
    uint64_t before = 0, after = 0;
    pliant_body body = 0;
    pliant_collider collider = 0;
    pliant_field field = 0;
    pliant_skin skin = 0;
    pliant_store store = 0;
    pliant_skin_desc skin_desc;
    pliant_store_desc store_desc;
    scene_mesh box = scene_box(1, 1, 1, 1);
    pliant_body_desc desc = small_body(&box);
    pliant_scene scene = make_scene();
    make_descriptors();
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    CHECK_OK(pliant_collider_create(scene, &a_pliant_collider_desc, &collider));
    CHECK_OK(pliant_field_create(scene, &a_pliant_field_desc, &field));
    pliant_skin_desc_init(&skin_desc, sizeof skin_desc);
    skin_desc.vertex_count = box.vertex_count;
    skin_desc.vertices = box.vertices;
    CHECK_OK(pliant_skin_create(body, &skin_desc, &skin));
    pliant_store_desc_init(&store_desc, sizeof store_desc);
    store_desc.path = test_folder();
    store_desc.mode = PLIANT_STORE_CREATE;
    CHECK_OK(pliant_store_open(&store_desc, &store));
    CHECK_OK(pliant_scene_hash(scene, &before));
    check_handles(scene, "pliant_scene", "a scene");
    check_handles(body, "pliant_body", "a body");
    check_handles(collider, "pliant_collider", "a collider");
    check_handles(field, "pliant_field", "a field");
    check_handles(skin, "pliant_skin", "a skin");
    check_handles(store, "pliant_store", "a store");
    CHECK_OK(pliant_scene_hash(scene, &after));
    CHECK_MSG(before == after, "a refused call changed the scene");
    CHECK_OK(pliant_store_close(store));
    CHECK_OK(pliant_scene_destroy(scene));
    scene_mesh_free(&box);
}

TEST(missing_pointers_are_refused)
{
    pliant_scene scene = make_scene();
    pliant_body body = 0;
    scene_mesh box = scene_box(1, 1, 1, 1);
    pliant_body_desc desc = small_body(&box);
    REQUIRE_OK(pliant_body_create(scene, &desc, &body));
    const pliant_status statuses[] = {
        pliant_scene_create(NULL, &scene),
        pliant_scene_set_gravity(scene, NULL),
        pliant_scene_get_info(scene, NULL),
        pliant_scene_get_body(scene, 0, NULL),
        pliant_scene_advance(scene, NULL),
        pliant_scene_auto_substeps(scene, .04, 32, NULL),
        pliant_scene_hash(scene, NULL),
        pliant_scene_save(scene, NULL, NULL),
        pliant_scene_restore(scene, NULL, 10),
        pliant_body_create(scene, NULL, &body),
        pliant_body_create(scene, &desc, NULL),
        pliant_body_get_info(body, NULL),
        pliant_body_read(body, PLIANT_POSITION, 0, NULL, NULL, NULL),
        pliant_body_set_material(body, NULL),
        pliant_body_set_pin_targets(body, 60, NULL, NULL),
        pliant_collider_create(scene, NULL, NULL),
        pliant_field_create(scene, NULL, NULL),
        pliant_field_evaluate(NULL, 1, NULL, NULL, NULL),
        pliant_skin_create(body, NULL, NULL),
        pliant_store_open(NULL, NULL),
    };
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; ++i)
        CHECK_MSG(statuses[i] == PLIANT_ERROR_ARGUMENT, "call %zu gave %d", i, (int)statuses[i]);
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    CHECK_OK(pliant_scene_advance(scene, &frame));
    CHECK_OK(pliant_scene_destroy(scene));
    scene_mesh_free(&box);
}

TEST(rejects_nan_and_inf_in_arrays)
{
    enum
    {
        MOST = 400
    };
    float values[3 * MOST];
    pliant_scene scene = make_scene();
    pliant_body body = 0;
    pliant_body_info info;
    scene_mesh box = scene_box(1, 1, 1, 1);
    pliant_body_desc desc = small_body(&box);
    REQUIRE_OK(pliant_body_create(scene, &desc, &body));
    pliant_body_info_init(&info, sizeof info);
    CHECK_OK(pliant_body_get_info(body, &info));
    uint32_t n = info.particles, vertices = box.vertex_count;
    REQUIRE(n <= MOST && vertices <= MOST);
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; ++k)
    {
        memset(values, 0, sizeof values);
        values[4] = bad[k];
        uint64_t before = 0, after = 0;
        CHECK_OK(pliant_scene_hash(scene, &before));
        CHECK(pliant_body_set_particles(body, n, NULL, values, NULL) == PLIANT_ERROR_ARGUMENT);
        CHECK(pliant_body_set_particles(body, n, NULL, NULL, values) == PLIANT_ERROR_ARGUMENT);
        CHECK(pliant_body_set_factors(body, 0, n, values) == PLIANT_ERROR_ARGUMENT);
        CHECK(pliant_body_set_accelerations(body, n, values) == PLIANT_ERROR_ARGUMENT);
        CHECK(pliant_body_set_pin_targets(body, n, NULL, values) == PLIANT_ERROR_ARGUMENT);
        CHECK(pliant_body_set_pin_mesh(body, vertices, NULL, values) == PLIANT_ERROR_ARGUMENT);
        values[4] = k == 1 ? -1 : bad[k]; /* an infinite pin holds */
        CHECK(pliant_body_set_pins(body, n, values) == PLIANT_ERROR_ARGUMENT);
        CHECK_OK(pliant_scene_hash(scene, &after));
        CHECK_MSG(before == after, "a refused call changed the body");
    }
    /* counts that are not the body's */
    memset(values, 0, sizeof values);
    CHECK(pliant_body_set_particles(body, n - 1, NULL, values, NULL) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_body_set_factors(body, 0, n + 1, values) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_body_set_factors(body, 99, n, values) == PLIANT_ERROR_ARGUMENT);
    CHECK(pliant_body_set_pin_mesh(body, vertices + 1, NULL, values) == PLIANT_ERROR_ARGUMENT);
    CHECK_OK(pliant_scene_destroy(scene));
    scene_mesh_free(&box);
}
