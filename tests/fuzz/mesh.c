// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Input: base mesh | scale of each axis as a power of ten | sampling | flags | edits.
 *
 * The base mesh is one of scenes/meshes.h, or a soup whose vertices lie on a small grid (so that
 * many coincide or are collinear) and whose triangles are any three of them. The mesh is made a
 * body, a skin, a collider, pin targets.
 */
#include "harness.h"
#include "input.h"
#include "native/support/call_everything.h"
#include "scenes/meshes.h"
#include "small_scenes.h"

#include <base/core.h>
#include <stdlib.h>

enum
{
    MOST_VERTICES = 60,
    MOST_TRIANGLES = 80,
    PARTICLES = 40,
    MOST_EDITS = 8
};

typedef struct soup
{
    uint32_t vertices, triangles;
    float* at;
    uint32_t* corners;
} soup;

static soup grid_soup(fuzz_input* in)
{
    soup s = {fuzz_below(in, MOST_VERTICES), fuzz_below(in, MOST_TRIANGLES), NULL, NULL};
    s.at = malloc(12 * s.vertices + 1);
    s.corners = malloc(12 * s.triangles + 1);
    for (uint32_t i = 0; i < 3 * s.vertices; ++i)
        s.at[i] = (float)fuzz_below(in, 6) / 5;
    for (uint32_t i = 0; i < 3 * s.triangles; ++i)
        s.corners[i] = fuzz_u8(in) % (s.vertices + (s.vertices == 0));
    return s;
}

static soup base_mesh(fuzz_input* in)
{
    scene_mesh mesh;
    switch (fuzz_below(in, 8))
    {
        case 0:
            mesh = scene_box(1, 1, 1, 1);
            break;
        case 1:
            mesh = scene_icosphere(.5f, 1);
            break;
        case 2:
            mesh = scene_sheet(1, 1, 3, 3);
            break;
        case 3:
            mesh = scene_torus(.5f, .2f, 6, 4);
            break;
        case 4:
            mesh = scene_icosphere(.5f, 0);
            scene_mesh_drop(&mesh, 3);
            break;
        case 5:
            mesh = scene_box(1, 1, 1, 1);
            scene_mesh_split(&mesh);
            scene_mesh_flip(&mesh, 2);
            break;
        default:
            return grid_soup(in);
    }
    return (soup){mesh.vertex_count, mesh.triangle_count, mesh.vertices, mesh.triangles};
}

/* Edits of single coordinates and corners. Indices beyond the vertices are allowed. */
static void change(fuzz_input* in, soup* s)
{
    static const uint32_t where[] = {0, 0, 1};
    for (int i = 0; i < MOST_EDITS && !fuzz_ended(in); ++i)
    {
        uint32_t corner = where[fuzz_below(in, 3)], at = fuzz_u8(in);
        if (corner && s->triangles)
            s->corners[at % (3 * s->triangles)] = fuzz_whole(in);
        else if (!corner && s->vertices)
            s->at[at % (3 * s->vertices)] = (float)fuzz_number(in);
    }
}

/* Powers of ten from -38 to 38; most often all axes alike. */
static void scale(fuzz_input* in, soup* s)
{
    float by[3];
    uint32_t first = fuzz_u8(in), apart = first >> 7;
    for (int k = 0; k < 3; ++k)
    {
        uint32_t byte = k == 0 || apart ? fuzz_u8(in) : 0;
        by[k] = k == 0 || apart ? (float)pow(10, (int)(byte % 77) - 38) : by[0];
        if (first % 2 == 0)
            by[k] = byte == 0 || k ? 1 : (float)pow(10, (int)(byte % 7) - 3);
    }
    for (uint32_t i = 0; i < 3 * s->vertices; ++i)
        s->at[i] *= by[i % 3];
}

static pliant_mesh_desc mesh_desc(const soup* s)
{
    pliant_mesh_desc desc;
    pliant_mesh_desc_init(&desc, sizeof desc);
    desc.vertices = s->at, desc.vertex_count = s->vertices;
    desc.triangles = s->corners, desc.triangle_count = s->triangles;
    return desc;
}

static pliant_status advance(pliant_scene scene)
{
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = 2;
    return try_call(pliant_scene_advance(scene, &frame));
}

/* Uses the mesh as a skin, for painted values and as the animated mesh of its own body. */
static void use_body(pliant_body body, const soup* s)
{
    pliant_skin skin;
    pliant_skin_desc desc;
    pliant_body_info info;
    float* out = malloc(12 * s->vertices + 1);
    pliant_body_info_init(&info, sizeof info);
    CHECK_OK(pliant_body_get_info(body, &info));
    CHECK_MSG(info.particles > 0 && info.particles <= 4 * MOST_VERTICES, "%u particles",
              info.particles);
    float* values = malloc(12 * (size_t)info.particles);
    try_call(pliant_body_sample_mesh_values(body, s->vertices, 3, s->at, values));
    try_call(pliant_body_set_pin_mesh(body, s->vertices, NULL, s->at));
    pliant_skin_desc_init(&desc, sizeof desc);
    desc.vertices = s->at, desc.vertex_count = s->vertices;
    if (try_call(pliant_skin_create(body, &desc, &skin)) == PLIANT_OK)
    {
        try_call(pliant_skin_apply(skin, NULL, NULL, out, NULL, NULL));
        CHECK_OK(pliant_skin_destroy(skin));
    }
    free(values);
    free(out);
}

static void as_body(const soup* s, uint32_t sampling, uint32_t flags)
{
    pliant_body body;
    pliant_body_desc desc;
    pliant_scene scene = small_empty(PLIANT_SIMD_AUTO);
    pliant_body_desc_init(&desc, sizeof desc);
    desc.mesh = mesh_desc(s);
    desc.sample.mode = sampling % 5;
    desc.sample.count = PARTICLES;
    desc.sample.shells_apart = flags & 1;
    desc.cluster.count = flags & 2 ? 0 : 4;
    desc.cluster.max_iterations = 30;
    desc.levels.count = flags & 4 ? 2 : 1;
    desc.material.pressure = flags & 8 ? 100 : 0;
    if (try_call(pliant_body_create(scene, &desc, &body)) == PLIANT_OK)
    {
        use_body(body, s);
        if (advance(scene) == PLIANT_OK)
            call_everything_saved(scene);
        CHECK_OK(pliant_scene_get_body(scene, 0, &body));
        call_everything_body(body);
        advance(scene);
    }
    else
        CHECK(pliant_last_error()[0]);
    CHECK_OK(pliant_scene_destroy(scene));
}

static void as_collider(const soup* s, uint32_t flags)
{
    static const float points[24] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0,
                                     0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
    pliant_body body;
    pliant_body_desc desc;
    pliant_collider collider;
    pliant_collider_desc how;
    pliant_mesh_desc mesh = mesh_desc(s);
    pliant_scene scene = small_empty(PLIANT_SIMD_AUTO);
    pliant_body_desc_init(&desc, sizeof desc);
    pliant_collider_desc_init(&how, sizeof how);
    desc.points = points, desc.point_count = 8;
    desc.cluster.count = 1;
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    how.shape = flags & 16 ? PLIANT_SHAPE_SHELL : PLIANT_SHAPE_MESH;
    how.thickness = flags & 32 ? .01 : 0;
    if (try_call(pliant_collider_create_mesh(scene, &how, &mesh, &collider)) == PLIANT_OK)
    {
        advance(scene);
        float* moved = malloc(12 * s->vertices + 1);
        for (uint32_t i = 0; i < 3 * s->vertices; ++i)
            moved[i] = s->at[i] * 1.5f + .1f;
        try_call(pliant_collider_set_mesh(collider, s->vertices, NULL, moved));
        free(moved);
        advance(scene);
    }
    CHECK_OK(pliant_scene_destroy(scene));
}

void fuzz_mesh(const uint8_t* data, size_t size)
{
    fuzz_input in = {data, data + size};
    uint64_t held = pl_bytes_in_use();
    soup s = base_mesh(&in);
    uint32_t sampling = fuzz_u8(&in), flags = fuzz_u8(&in);
    scale(&in, &s);
    change(&in, &s);
    as_body(&s, sampling, flags);
    as_collider(&s, flags);
    free(s.at);
    free(s.corners);
    CHECK(pl_bytes_in_use() == held);
}
