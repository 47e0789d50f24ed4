// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/test.h"
#include "scenes/meshes.h"

#include <stdlib.h>

static int compare_keys(const void* a, const void* b)
{
    uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

/* Closed and consistently oriented: each directed edge occurs once, and so does its reverse. */
static bool is_closed(const scene_mesh* mesh)
{
    size_t edges = (size_t)mesh->triangle_count * 3;
    uint64_t* keys = malloc(2 * edges * sizeof *keys);
    for (size_t i = 0; i < edges; ++i)
    {
        uint32_t a = mesh->triangles[i], b = mesh->triangles[i / 3 * 3 + (i % 3 + 1) % 3];
        keys[i] = (uint64_t)a << 32 | b;
        keys[edges + i] = (uint64_t)b << 32 | a;
    }
    qsort(keys, edges, sizeof *keys, compare_keys);
    qsort(keys + edges, edges, sizeof *keys, compare_keys);
    bool closed = true;
    for (size_t i = 0; i < edges; ++i)
        closed = closed && keys[i] == keys[edges + i] && (i == 0 || keys[i] != keys[i - 1]);
    free(keys);
    return closed;
}

static double volume(const scene_mesh* mesh)
{
    double six = 0;
    for (size_t i = 0; i < mesh->triangle_count; ++i)
    {
        const uint32_t* t = mesh->triangles + 3 * i;
        const float *a = mesh->vertices + 3 * t[0], *b = mesh->vertices + 3 * t[1],
                    *c = mesh->vertices + 3 * t[2];
        six += (double)a[0] * ((double)b[1] * c[2] - (double)b[2] * c[1]) +
               (double)a[1] * ((double)b[2] * c[0] - (double)b[0] * c[2]) +
               (double)a[2] * ((double)b[0] * c[1] - (double)b[1] * c[0]);
    }
    return six / 6;
}

TEST(scene_meshes_are_closed_and_have_their_volume)
{
    const double pi = 3.14159265358979;
    struct
    {
        scene_mesh mesh;
        double volume, tolerance;
    } cases[] = {
        {scene_box(1, 2, 3, 1), 6, 1e-5},
        {scene_box(1, 2, 3, 5), 6, 1e-5},
        {scene_icosphere(2, 5), 4 * pi / 3 * 8, .05},
        {scene_torus(1, .3f, 200, 100), 2 * pi * pi * .09, .005},
        {scene_cylinder(.5f, 2, 200, 3), pi / 2, .001},
        {scene_creature(5), .6, .5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    {
        CHECK_MSG(is_closed(&cases[i].mesh), "case %zu is not closed", i);
        CHECK_NEAR(volume(&cases[i].mesh), cases[i].volume, cases[i].tolerance);
        scene_mesh_flip(&cases[i].mesh, 1);
        CHECK_NEAR(volume(&cases[i].mesh), -cases[i].volume, cases[i].tolerance);
        scene_mesh_drop(&cases[i].mesh, 7);
        CHECK(!is_closed(&cases[i].mesh));
        scene_mesh_free(&cases[i].mesh);
    }
    scene_mesh sheet = scene_sheet(1, 1, 3, 4);
    CHECK(sheet.vertex_count == 20 && sheet.triangle_count == 24 && !is_closed(&sheet));
    scene_mesh_free(&sheet);
}
