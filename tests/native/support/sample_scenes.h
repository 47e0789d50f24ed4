// SPDX-License-Identifier: GPL-3.0-or-later
/* Scenes, and short ways to sample them, for the tests of sampling. */
#ifndef PLIANT_SAMPLE_SCENES_H
#define PLIANT_SAMPLE_SCENES_H

#include "native/support/load_mesh.h"

#include <sampling/sample.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static inline scene_mesh moved(scene_mesh mesh, float x, float y, float z)
{
    scene_mesh_move(&mesh, x, y, z);
    return mesh;
}

static inline scene_mesh turned(scene_mesh mesh, float angle)
{
    scene_mesh_turn(&mesh, 1, 2, 3, angle);
    return mesh;
}

static inline scene_mesh flipped(scene_mesh mesh)
{
    scene_mesh_flip(&mesh, 1);
    return mesh;
}

static inline scene_mesh joined(scene_mesh a, scene_mesh b)
{
    scene_mesh_append(&a, &b);
    scene_mesh_free(&b);
    return a;
}

static inline scene_mesh with_holes(scene_mesh mesh, uint32_t every)
{
    scene_mesh_drop(&mesh, every);
    return mesh;
}

/* Without the triangles that lie wholly above z. */
static inline scene_mesh cut(scene_mesh mesh, float z)
{
    uint32_t kept = 0;
    for (uint32_t t = 0; t < mesh.triangle_count; ++t)
    {
        const uint32_t* v = mesh.triangles + 3 * t;
        float lowest = fminf(mesh.vertices[3 * v[0] + 2],
                             fminf(mesh.vertices[3 * v[1] + 2], mesh.vertices[3 * v[2] + 2]));
        if (lowest < z)
            memmove(mesh.triangles + 3 * kept++, v, 3 * sizeof *v);
    }
    mesh.triangle_count = kept;
    return mesh;
}

static inline scene_mesh two_boxes(float gap)
{
    return joined(scene_box(1, 1, 1, 2), moved(scene_box(1, 1, 1, 3), 1 + gap, 0, 0));
}

/* Six sheets that nearly meet. */
static inline scene_mesh loose_box(void)
{
    scene_mesh sum = moved(scene_sheet(.98f, .98f, 4, 4), 0, 0, .5f);
    for (int i = 1; i < 6; ++i)
    {
        scene_mesh side = moved(scene_sheet(.98f, .98f, 4, 4), 0, 0, .5f);
        if (i < 4)
            scene_mesh_turn(&side, 1, 0, 0, (float)(PI / 2 * i));
        else
            scene_mesh_turn(&side, 0, 1, 0, (float)(PI / 2 * (2 * i - 9)));
        sum = joined(sum, side);
    }
    return sum;
}

static inline scene_mesh linked_rings(void)
{
    scene_mesh other = scene_torus(1, .2f, 40, 20);
    scene_mesh_turn(&other, 1, 0, 0, (float)(PI / 2));
    return joined(scene_torus(1, .2f, 40, 20), moved(other, 1, 0, 0));
}

static inline pliant_sample_desc by_count(uint32_t mode, uint32_t count)
{
    return (pliant_sample_desc){.size = sizeof(pliant_sample_desc), .mode = mode, .count = count};
}

static inline pliant_sample_desc by_spacing(uint32_t mode, double spacing)
{
    return (pliant_sample_desc){
        .size = sizeof(pliant_sample_desc), .mode = mode, .spacing = spacing};
}

static inline pl_samples sample(const pl_mesh* mesh, pliant_sample_desc desc)
{
    pl_samples out;
    CHECK_OK(pl_sample(mesh, &desc, NULL, NULL, &out));
    CHECK(out.count > 0);
    return out;
}

/* Takes the scene over. */
static inline pl_samples sample_scene(scene_mesh scene, pliant_sample_desc desc)
{
    pl_mesh mesh = load(scene);
    pl_samples out = sample(&mesh, desc);
    pl_mesh_free(&mesh);
    return out;
}

static inline double total(const pl_samples* s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->count; ++i)
    {
        CHECK(s->volumes[i] > 0);
        sum += s->volumes[i];
    }
    return sum;
}

static inline double least_distance(const pl_samples* s)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < s->count; ++i)
        for (uint32_t j = 0; j < i; ++j)
        {
            vec3 d = v3_sub(s->points[i], s->points[j]);
            least = fmin(least, v3_dot(d, d));
        }
    return sqrt(least);
}

static inline double distance_to_nearest(const pl_samples* s, vec3 p)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < s->count; ++i)
        least = fmin(least, v3_length(v3_sub(s->points[i], p)));
    return least;
}

#endif
