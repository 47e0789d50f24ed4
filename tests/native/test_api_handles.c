// SPDX-License-Identifier: GPL-3.0-or-later
/* Handles that name nothing, pointers that are missing and arrays of nonsense, for every call. */
#include "small_body.h"

#include <string.h>

/* Every call that takes a handle, given one that names nothing or something else. */
static void check_handles(uint64_t handle, const char* what)
{
    pliant_scene_info scene_info;
    pliant_body_info body_info;
    pliant_store_info store_info;
    pliant_material_desc material;
    pliant_collider_desc collider;
    pliant_field_desc field;
    pliant_frame_desc frame;
    pliant_body_desc body;
    pliant_skin_desc skin;
    pliant_scene_info_init(&scene_info, sizeof scene_info);
    pliant_body_info_init(&body_info, sizeof body_info);
    pliant_store_info_init(&store_info, sizeof store_info);
    pliant_material_desc_init(&material, sizeof material);
    pliant_collider_desc_init(&collider, sizeof collider);
    pliant_field_desc_init(&field, sizeof field);
    pliant_frame_desc_init(&frame, sizeof frame);
    pliant_body_desc_init(&body, sizeof body);
    pliant_skin_desc_init(&skin, sizeof skin);
    double three[3] = {0}, times[PLIANT_STAGE_COUNT];
    float floats[3] = {0};
    uint64_t made = 0, bytes = 0;
    uint32_t substeps;
    int32_t frame_number;
    const pliant_status statuses[] = {
        pliant_scene_set_gravity(handle, three),
        pliant_scene_set_threads(handle, 1),
        pliant_scene_get_info(handle, &scene_info),
        pliant_scene_get_body(handle, 0, &made),
        pliant_scene_get_collider(handle, 0, &made),
        pliant_scene_get_field(handle, 0, &made),
        pliant_scene_advance(handle, &frame),
        pliant_scene_cancel(handle),
        pliant_scene_auto_substeps(handle, .04, 32, &substeps),
        pliant_scene_hash(handle, &made),
        pliant_scene_profile(handle, times, 0),
        pliant_scene_save(handle, NULL, &bytes),
        pliant_scene_restore(handle, floats, sizeof floats),
        pliant_body_create(handle, &body, &made),
        pliant_body_destroy(handle),
        pliant_body_get_info(handle, &body_info),
        pliant_body_read(handle, PLIANT_POSITION, 0, NULL, NULL, &bytes),
        pliant_body_set_particles(handle, 1, NULL, floats, NULL),
        pliant_body_set_material(handle, &material),
        pliant_body_set_factors(handle, PLIANT_FACTOR_STIFFNESS, 1, floats),
        pliant_body_sample_mesh_values(handle, 1, 1, floats, floats),
        pliant_body_set_accelerations(handle, 1, floats),
        pliant_body_set_cells(handle, 2, NULL, floats),
        pliant_body_surface_distance(handle, 1, NULL, floats, floats),
        pliant_body_set_pins(handle, 1, floats),
        pliant_body_set_pin_targets(handle, 1, NULL, floats),
        pliant_body_set_pin_mesh(handle, 1, NULL, floats),
        pliant_body_set_follow(handle, 1),
        pliant_body_balance(handle, &frame, times),
        pliant_collider_create(handle, &collider, &made),
        pliant_collider_destroy(handle),
        pliant_collider_move(handle, &collider.pose),
        pliant_collider_set(handle, &collider),
        pliant_field_create(handle, &field, &made),
        pliant_field_destroy(handle),
        pliant_field_set(handle, &field),
        pliant_skin_create(handle, &skin, &made),
        pliant_skin_create_stored(handle, 0, &skin, &made),
        pliant_skin_destroy(handle),
        pliant_skin_apply(handle, NULL, NULL, floats, NULL, NULL),
        pliant_skin_apply_stored(handle, 1, NULL, NULL, floats, NULL, NULL),
        pliant_store_close(handle),
        pliant_store_get_info(handle, &store_info),
        pliant_store_write_frame(handle, handle, 1),
        pliant_store_restore(handle, handle, 1, &frame_number),
        pliant_store_truncate(handle, 1),
        pliant_store_read(handle, 0, 1, PLIANT_POSITION, NULL, NULL, &bytes),
        pliant_store_verify(handle),
    };
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; ++i)
    {
        bool ending_nothing = handle == 0 && statuses[i] == PLIANT_OK;
        CHECK_MSG(statuses[i] == PLIANT_ERROR_STALE_HANDLE || ending_nothing,
                  "call %zu with %s gave %d", i, what, (int)statuses[i]);
    }
}

TEST(handles_of_nothing_are_refused_by_every_call)
{
    check_handles(0, "zero");
    check_handles(~0ull, "all ones");
    pliant_scene scene = make_scene();
    CHECK_OK(pliant_scene_destroy(scene));
    check_handles(scene, "a scene that is gone");
    scene_mesh box = scene_box(1, 1, 1, 1);
    pliant_body body = 0;
    pliant_body_desc desc = small_body(&box);
    scene = make_scene();
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    CHECK_OK(pliant_scene_destroy(scene));
    check_handles(body, "a body that went with its scene");
    uint64_t random = 88172645463325252ull;
    for (int i = 0; i < 200; ++i)
    {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        check_handles(random, "an invented handle");
    }
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

TEST(numbers_that_are_none_in_arrays_are_refused)
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
