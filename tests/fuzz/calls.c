// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Input: a program of API calls, a byte for which call and more for its arguments. Handles come
 * from a few slots that keep those of destroyed objects; some are invented. While an advance or a
 * create runs, the progress callback goes on with the program. Arrays are as long as the count that
 * is given with them, which need not be the right one.
 */
#include "call_fields.h"
#include "harness.h"
#include "native/support/call_everything.h"
#include "scenes/meshes.h"
#include "scenes/points.h"

#include <base/core.h>
#include <stdlib.h>

enum
{
    SLOTS = 4,
    MOST_CALLS = 40,
    MOST_FRAMES = 6,
    MOST_BODIES = 4
};

typedef struct machine
{
    fuzz_input in;
    uint64_t scene[SLOTS], body[SLOTS], collider[SLOTS], field[SLOTS], skin[SLOTS];
    uint32_t calls, frames, bodies, depth;
    unsigned char* block;
    uint64_t bytes;
} machine;

static uint64_t pick(machine* m, const uint64_t* handles)
{
    uint32_t byte = fuzz_u8(&m->in);
    if (byte < 224)
        return handles[byte % SLOTS];
    return byte < 240 ? byte - 224 : (uint64_t)fuzz_u32(&m->in) << (byte % 4 * 8);
}

static void keep(machine* m, uint64_t* handles, pliant_status status, uint64_t handle)
{
    if (try_call(status) == PLIANT_OK)
    {
        uint64_t* slot = &handles[fuzz_below(&m->in, SLOTS)];
        if (handles == m->skin)
            try_call(pliant_skin_destroy(*slot)); /* skins outlive their bodies and scenes */
        *slot = handle;
    }
    else
        CHECK(pliant_last_error()[0]);
}

/* "count" floats, freed by the caller: small numbers, and one arbitrary number. */
static float* floats(machine* m, uint32_t count)
{
    float* out = malloc(sizeof *out * count + !count);
    uint32_t how = fuzz_u8(&m->in);
    for (uint32_t i = 0; i < count; ++i)
        out[i] = (float)(i * (how % 16 + 1) % 7) / 7;
    if (count && how >= 128)
        out[fuzz_u8(&m->in) % count] = (float)fuzz_number(&m->in);
    return out;
}

/* Number of particles of a body, or an arbitrary number. */
static uint32_t count_for(machine* m, pliant_body body)
{
    pliant_body_info info;
    uint32_t byte = fuzz_u8(&m->in);
    pliant_body_info_init(&info, sizeof info);
    if (byte >= 208)
        return byte - 208;
    return pliant_body_get_info(body, &info) == PLIANT_OK ? info.particles : 8;
}

static void run(machine* m);

static int32_t progress(void* user, double fraction, const char* stage)
{
    machine* m = user;
    (void)fraction, (void)stage;
    if (fuzz_ended(&m->in))
        return 0;
    uint32_t byte = fuzz_u8(&m->in);
    if (byte % 4 == 1 && m->depth == 0)
    {
        ++m->depth;
        run(m);
        --m->depth;
    }
    return byte >= 240;
}

/* ------------------------------------------------------------------ scenes */

static void call_on_scene(machine* m, uint32_t op)
{
    pliant_scene scene = pick(m, m->scene), fresh = 0;
    pliant_scene_info info;
    double v[3] = {0, 0, 0}, ms[PLIANT_STAGE_COUNT];
    uint64_t hash, handle = 0;
    uint32_t substeps;
    switch (op)
    {
        case 0: {
            pliant_scene_desc desc = call_scene(&m->in);
            uint32_t slot = 2 + fuzz_below(&m->in, 2);
            /* do not overwrite the slot of a running scene */
            if (try_call(pliant_scene_destroy(m->scene[slot])) == PLIANT_ERROR_STATE)
                break;
            m->scene[slot] = 0;
            if (try_call(pliant_scene_create(&desc, &fresh)) == PLIANT_OK)
                m->scene[slot] = fresh;
            break;
        }
        case 1:
            try_call(pliant_scene_destroy(scene));
            break;
        case 2:
            for (int k = 0; k < 3; ++k)
                v[k] = fuzz_number(&m->in);
            try_call(pliant_scene_set_gravity(scene, v));
            break;
        case 3:
            try_call(pliant_scene_set_threads(scene, 1 + fuzz_below(&m->in, 2)));
            break;
        case 4:
            pliant_scene_info_init(&info, sizeof info - 8 * (fuzz_u8(&m->in) % 2));
            try_call(pliant_scene_get_info(scene, &info));
            try_call(pliant_scene_profile(scene, ms, 1));
            break;
        case 5:
            try_call(pliant_scene_get_body(scene, fuzz_whole(&m->in), &handle));
            try_call(pliant_scene_get_collider(scene, fuzz_whole(&m->in), &handle));
            try_call(pliant_scene_get_field(scene, fuzz_whole(&m->in), &handle));
            break;
        case 6:
            try_call(pliant_scene_cancel(scene));
            break;
        case 7:
            try_call(pliant_scene_auto_substeps(scene, fuzz_number(&m->in), fuzz_whole(&m->in),
                                                &substeps));
            try_call(pliant_scene_hash(scene, &hash));
            break;
        case 8: {
            pliant_contact_desc desc = call_contacts(&m->in);
            desc.enabled = 1;
            try_call(pliant_scene_set_contacts(scene, &desc));
            break;
        }
        case 9: {
            double speed = fuzz_number(&m->in), seconds = fuzz_number(&m->in);
            try_call(pliant_scene_set_sleep(scene, speed, seconds));
            break;
        }
        default: {
            pliant_weld_desc desc = call_weld(&m->in);
            desc.body = pick(m, m->body), desc.other = pick(m, m->body);
            desc.collider = pick(m, m->collider);
            try_call(pliant_scene_weld(scene, &desc, op % 2 ? NULL : &substeps));
        }
    }
}

static void advance(machine* m)
{
    pliant_scene scene = pick(m, m->scene);
    pliant_frame_desc desc = call_frame(&m->in);
    if (m->frames == 0)
        return;
    --m->frames;
    if (fuzz_u8(&m->in) % 4)
        desc.progress = progress, desc.user = m;
    try_call(pliant_scene_advance(scene, &desc));
}

/* Saves into the machine's block, or restores from all or part of it. */
static void save_or_restore(machine* m)
{
    pliant_scene scene = pick(m, m->scene);
    uint32_t how = fuzz_u8(&m->in);
    if (m->block && how % 2)
    {
        uint64_t bytes = how % 8 == 7 ? m->bytes * fuzz_u8(&m->in) / 256 : m->bytes;
        pliant_status status = try_call(pliant_scene_restore(scene, m->block, bytes));
        CHECK_MSG(status != PLIANT_ERROR_FORMAT || bytes < m->bytes, "a saved block is refused: %s",
                  pliant_last_error());
        if (status != PLIANT_OK)
            return;
        for (uint32_t i = 0; i < SLOTS; ++i)
        {
            pliant_scene_get_body(scene, i, &m->body[i]);
            pliant_scene_get_collider(scene, i, &m->collider[i]);
        }
        return;
    }
    uint64_t bytes = 0;
    if (try_call(pliant_scene_save(scene, NULL, &bytes)) != PLIANT_OK)
        return;
    free(m->block);
    m->block = malloc(bytes);
    m->bytes = bytes;
    if (try_call(pliant_scene_save(scene, m->block, &m->bytes)) != PLIANT_OK)
        m->bytes = 0;
}

/* ------------------------------------------------------------------ bodies */

static scene_mesh small_mesh(machine* m)
{
    uint32_t kind = fuzz_below(&m->in, 4);
    scene_mesh mesh = kind == 0   ? scene_box(1, 1, 1, 1)
                      : kind == 1 ? scene_icosphere(.5f, 1)
                      : kind == 2 ? scene_sheet(1, 1, 3, 3)
                                  : scene_torus(.5f, .2f, 6, 4);
    uint32_t at = fuzz_u8(&m->in);
    scene_mesh_move(&mesh, 0, 0, (float)(at % 8) / 4);
    if (at >= 200)
        mesh.vertices[at % (3 * mesh.vertex_count)] = (float)fuzz_number(&m->in);
    return mesh;
}

static pliant_mesh_desc mesh_desc(const scene_mesh* mesh)
{
    pliant_mesh_desc desc;
    pliant_mesh_desc_init(&desc, sizeof desc);
    desc.vertices = mesh->vertices, desc.vertex_count = mesh->vertex_count;
    desc.triangles = mesh->triangles, desc.triangle_count = mesh->triangle_count;
    return desc;
}

static void create_body(machine* m)
{
    pliant_body body = 0;
    pliant_scene scene = pick(m, m->scene);
    pliant_body_desc desc = call_body(&m->in);
    uint32_t how = fuzz_u8(&m->in);
    scene_mesh mesh = small_mesh(m);
    scene_points points = scene_points_box(3, 3, 2 + how % 3, 1, 1, 1, .4, 1);
    if (m->bodies == 0)
        how = 256;
    if (how < 256)
    {
        --m->bodies;
        if (how % 3)
            desc.points = points.at, desc.point_count = points.count;
        if (how % 3 != 1)
        {
            pliant_mesh_desc whole = mesh_desc(&mesh);
            desc.mesh = whole;
        }
        desc.points_origin[2] = how / 32 * .25;
        if (how % 5 == 0)
            desc.progress = progress, desc.user = m;
        keep(m, m->body, pliant_body_create(scene, &desc, &body), body);
    }
    scene_mesh_free(&mesh);
    scene_points_free(&points);
}

static void call_on_body(machine* m, uint32_t op)
{
    pliant_body body = pick(m, m->body);
    uint32_t count = count_for(m, body), word = fuzz_whole(&m->in);
    float* values = floats(m, 3 * count);
    float others[4096]; /* one per particle */
    pliant_material_desc material;
    pliant_fracture_desc fracture;
    double origin[3] = {0, 0, 0};
    switch (op)
    {
        case 0:
            try_call(pliant_body_destroy(body));
            break;
        case 1:
            pliant_body_warning_text(body);
            break;
        case 2: {
            uint64_t bytes = 0;
            uint32_t level = fuzz_below(&m->in, 3);
            if (try_call(pliant_body_read(body, word, level, NULL, NULL, &bytes)) != PLIANT_OK)
                break;
            bytes -= bytes && count == 3;
            void* buffer = malloc(bytes + !bytes);
            try_call(pliant_body_read(body, word, level, origin, buffer, &bytes));
            free(buffer);
            break;
        }
        case 3:
            origin[0] = fuzz_number(&m->in);
            try_call(pliant_body_set_particles(body, count, origin, word % 2 ? values : NULL,
                                               word % 3 ? values : NULL));
            break;
        case 4:
            material = call_material(&m->in);
            try_call(pliant_body_set_material(body, &material));
            break;
        case 5:
            try_call(pliant_body_set_factors(body, word, count, word % 5 ? values : NULL));
            break;
        case 6:
            try_call(pliant_body_sample_mesh_values(body, count, 1, values, others));
            try_call(pliant_body_surface_distance(body, count, NULL, values, others));
            break;
        case 7:
            try_call(pliant_body_set_accelerations(body, count, values));
            break;
        case 8:
            fracture = call_fracture(&m->in);
            if (word % 2)
                fracture.toughness = .05;
            try_call(pliant_body_set_fracture(body, &fracture));
            break;
        case 9:
            try_call(pliant_body_set_cells(body, count, NULL, values));
            break;
        case 10:
            try_call(pliant_body_set_pins(body, count, values));
            break;
        case 11:
            try_call(pliant_body_set_pin_targets(body, count, NULL, values));
            break;
        case 12:
            try_call(pliant_body_set_pin_mesh(body, count, NULL, values));
            break;
        case 13:
            if (word % 4 == 3)
            {
                pliant_frame_desc frame = call_frame(&m->in);
                try_call(pliant_body_balance(body, &frame, NULL));
            }
            else
                try_call(pliant_body_set_follow(body, word % 2));
            break;
        case 14:
            try_call(pliant_body_set_contacts(body, word, word % 2));
            break;
        default:
            origin[0] = fuzz_number(&m->in), origin[1] = fuzz_number(&m->in);
            origin[2] = fuzz_number(&m->in);
            try_call(pliant_body_set_surface(body, origin[0], origin[1], origin[2]));
    }
    free(values);
}

/* ------------------------------------------------------------------ colliders, fields, skins */

static void call_on_collider(machine* m, uint32_t op)
{
    pliant_collider collider = pick(m, m->collider);
    pliant_scene scene = pick(m, m->scene);
    pliant_collider_desc desc = call_collider(&m->in);
    scene_mesh mesh = small_mesh(m);
    pliant_mesh_desc shape = mesh_desc(&mesh);
    uint64_t fresh = 0;
    switch (op)
    {
        case 0:
            keep(m, m->collider, pliant_collider_create(scene, &desc, &fresh), fresh);
            break;
        case 1:
            desc.shape = fuzz_u8(&m->in) % 4 ? PLIANT_SHAPE_MESH : PLIANT_SHAPE_SHELL;
            keep(m, m->collider, pliant_collider_create_mesh(scene, &desc, &shape, &fresh), fresh);
            break;
        case 2:
            try_call(pliant_collider_destroy(collider));
            break;
        case 3:
            try_call(pliant_collider_set_mesh(collider, mesh.vertex_count, NULL, mesh.vertices));
            break;
        case 4:
            try_call(pliant_collider_move(collider, &desc.pose));
            break;
        default:
            try_call(pliant_collider_set(collider, &desc));
    }
    scene_mesh_free(&mesh);
}

static void call_on_field(machine* m, uint32_t op)
{
    pliant_field field = pick(m, m->field);
    pliant_scene scene = pick(m, m->scene);
    pliant_field_desc desc = call_field_desc(&m->in);
    float at[6] = {0, 0, 0, 1, 2, 3}, speed[6] = {1, 0, 0, 0, 0, 1}, out[6];
    uint64_t fresh = 0;
    switch (op)
    {
        case 0:
            keep(m, m->field, pliant_field_create(scene, &desc, &fresh), fresh);
            break;
        case 1:
            try_call(pliant_field_destroy(field));
            break;
        case 2:
            try_call(pliant_field_set(field, &desc));
            break;
        default:
            try_call(pliant_field_evaluate(&desc, 2, at, speed, out));
    }
}

static void call_on_skin(machine* m, uint32_t op)
{
    pliant_skin skin = pick(m, m->skin);
    pliant_body body = pick(m, m->body);
    pliant_skin_desc desc = call_skin(&m->in);
    float *at = floats(m, 12), out[12], speeds[12];
    double transform[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, fuzz_number(&m->in)};
    uint64_t fresh = 0;
    desc.vertices = desc.normals = at;
    desc.vertex_count = 4;
    if (op == 0)
        keep(m, m->skin, pliant_skin_create(body, &desc, &fresh), fresh);
    else if (op == 1)
        try_call(pliant_skin_destroy(skin));
    else /* every skin has four vertices */
        try_call(pliant_skin_apply(skin, NULL, transform, out, op % 2 ? out : NULL, speeds));
    free(at);
}

/* ------------------------------------------------------------------ programs */

static void run(machine* m)
{
    if (m->calls == 0)
        return;
    --m->calls;
    uint32_t op = fuzz_u8(&m->in), which = op / 8;
    switch (op % 8)
    {
        case 0:
            call_on_scene(m, which % 11);
            break;
        case 1:
            advance(m);
            break;
        case 2:
            create_body(m);
            break;
        case 3:
        case 4:
            call_on_body(m, which % 16);
            break;
        case 5:
            call_on_collider(m, which % 6);
            break;
        case 6:
            which % 2 ? call_on_field(m, which / 2 % 4) : call_on_skin(m, which / 2 % 4);
            break;
        default:
            save_or_restore(m);
    }
}

static void run_program(const uint8_t* data, size_t size)
{
    machine m = {.in = {data, data + size}, .calls = MOST_CALLS, .frames = MOST_FRAMES};
    pliant_scene_desc desc;
    m.bodies = MOST_BODIES;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = 1;
    CHECK_OK(pliant_scene_create(&desc, &m.scene[0]));
    CHECK_OK(pliant_scene_create(&desc, &m.scene[1]));
    while (m.calls && !fuzz_ended(&m.in))
        run(&m);
    for (int i = 0; i < SLOTS; ++i)
    {
        try_call(pliant_skin_destroy(m.skin[i]));
        try_call(pliant_scene_destroy(m.scene[i]));
    }
    free(m.block);
}

void fuzz_calls(const uint8_t* data, size_t size)
{
    uint64_t held = pl_bytes_in_use();
    run_program(data, size);
    if (pl_bytes_in_use() == held)
        return;
    held = pl_bytes_in_use(); /* one-time allocations stay; a leak grows with every run */
    run_program(data, size);
    CHECK(pl_bytes_in_use() == held);
}
