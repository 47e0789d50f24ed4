// SPDX-License-Identifier: GPL-3.0-or-later
#include "meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void* need(void* block)
{
    if (!block)
        abort();
    return block;
}

static scene_mesh make(uint32_t vertices, uint32_t triangles)
{
    scene_mesh mesh = {vertices, triangles, NULL, NULL};
    mesh.vertices = need(calloc((size_t)vertices * 3 + 1, sizeof(float)));
    mesh.triangles = need(calloc((size_t)triangles * 3 + 1, sizeof(uint32_t)));
    return mesh;
}

void scene_mesh_free(scene_mesh* mesh)
{
    free(mesh->vertices);
    free(mesh->triangles);
    *mesh = (scene_mesh){0};
}

static void set_vertex(scene_mesh* mesh, uint32_t i, double x, double y, double z)
{
    float* p = mesh->vertices + 3 * (size_t)i;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
}

static void set_triangle(scene_mesh* mesh, uint32_t i, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t* t = mesh->triangles + 3 * (size_t)i;
    t[0] = a, t[1] = b, t[2] = c;
}

/* The quad a b c d, counter-clockwise from outside, as triangles i and i + 1. */
static void set_quad(scene_mesh* mesh, uint32_t i, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    set_triangle(mesh, i, a, b, c);
    set_triangle(mesh, i + 1, a, c, d);
}

/* ------------------------------------------------------------------ makers */

/* Vertices lie on the lattice of a box's surface; "index" finds them again. */
scene_mesh scene_box(float x, float y, float z, uint32_t divisions)
{
    uint32_t n = divisions ? divisions : 1, side = n + 1;
    scene_mesh mesh = make(6 * n * n + 2, 12 * n * n);
    uint32_t* index = need(calloc((size_t)side * side * side, sizeof(uint32_t)));
    const double size[3] = {x, y, z};
    uint32_t vertex = 0, triangle = 0;
    for (uint32_t k = 0; k < side; ++k)
        for (uint32_t j = 0; j < side; ++j)
            for (uint32_t i = 0; i < side; ++i)
            {
                if (i % n && j % n && k % n)
                    continue;
                index[(k * side + j) * side + i] = vertex;
                set_vertex(&mesh, vertex++, ((double)i / n - .5) * size[0],
                           ((double)j / n - .5) * size[1], ((double)k / n - .5) * size[2]);
            }
    const uint32_t stride[3] = {1, side, side * side};
    for (int axis = 0; axis < 3; ++axis)
    {
        uint32_t u = stride[(axis + 1) % 3], v = stride[(axis + 2) % 3];
        for (uint32_t j = 0; j < n; ++j)
            for (uint32_t i = 0; i < n; ++i, triangle += 4)
            {
                uint32_t low = i * u + j * v, high = low + n * stride[axis];
                set_quad(&mesh, triangle, index[high], index[high + u], index[high + u + v],
                         index[high + v]);
                set_quad(&mesh, triangle + 2, index[low], index[low + v], index[low + u + v],
                         index[low + u]);
            }
    }
    free(index);
    return mesh;
}

/* Midpoints by edge, found again through an open-addressed table. */
typedef struct edge_table
{
    uint32_t mask;
    uint64_t* keys; /* 0: free */
    uint32_t* values;
} edge_table;

static uint32_t midpoint(edge_table* table, scene_mesh* mesh, uint32_t a, uint32_t b)
{
    uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    uint32_t slot = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & table->mask;
    while (table->keys[slot] && table->keys[slot] != key)
        slot = (slot + 1) & table->mask;
    if (!table->keys[slot])
    {
        const float *p = mesh->vertices + 3 * (size_t)a, *q = mesh->vertices + 3 * (size_t)b;
        double x = (double)p[0] + q[0], y = (double)p[1] + q[1], z = (double)p[2] + q[2];
        double scale = 1 / sqrt(x * x + y * y + z * z);
        table->keys[slot] = key;
        table->values[slot] = mesh->vertex_count;
        set_vertex(mesh, mesh->vertex_count++, x * scale, y * scale, z * scale);
    }
    return table->values[slot];
}

static scene_mesh subdivide(scene_mesh* coarse)
{
    uint32_t edges = coarse->triangle_count * 3 / 2, size = 16;
    while (size < 2 * edges)
        size *= 2;
    edge_table table = {size - 1, need(calloc(size, sizeof(uint64_t))),
                        need(calloc(size, sizeof(uint32_t)))};
    scene_mesh fine = make(coarse->vertex_count + edges, coarse->triangle_count * 4);
    memcpy(fine.vertices, coarse->vertices, (size_t)coarse->vertex_count * 3 * sizeof(float));
    fine.vertex_count = coarse->vertex_count;
    for (uint32_t i = 0; i < coarse->triangle_count; ++i)
    {
        const uint32_t* t = coarse->triangles + 3 * (size_t)i;
        uint32_t ab = midpoint(&table, &fine, t[0], t[1]);
        uint32_t bc = midpoint(&table, &fine, t[1], t[2]);
        uint32_t ca = midpoint(&table, &fine, t[2], t[0]);
        set_triangle(&fine, 4 * i, t[0], ab, ca);
        set_triangle(&fine, 4 * i + 1, t[1], bc, ab);
        set_triangle(&fine, 4 * i + 2, t[2], ca, bc);
        set_triangle(&fine, 4 * i + 3, ab, bc, ca);
    }
    free(table.keys);
    free(table.values);
    scene_mesh_free(coarse);
    return fine;
}

scene_mesh scene_icosphere(float radius, uint32_t subdivisions)
{
    static const uint8_t faces[20][3] = {
        {0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
        {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
        {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    const double golden = (1 + sqrt(5)) / 2, length = sqrt(1 + golden * golden);
    const double a = 1 / length, b = golden / length;
    const double corners[12][3] = {{-a, b, 0}, {a, b, 0}, {-a, -b, 0}, {a, -b, 0},
                                   {0, -a, b}, {0, a, b}, {0, -a, -b}, {0, a, -b},
                                   {b, 0, -a}, {b, 0, a}, {-b, 0, -a}, {-b, 0, a}};
    scene_mesh mesh = make(12, 20);
    for (uint32_t i = 0; i < 12; ++i)
        set_vertex(&mesh, i, corners[i][0], corners[i][1], corners[i][2]);
    for (uint32_t i = 0; i < 20; ++i)
        set_triangle(&mesh, i, faces[i][0], faces[i][1], faces[i][2]);
    for (uint32_t i = 0; i < subdivisions; ++i)
        mesh = subdivide(&mesh);
    scene_mesh_scale(&mesh, radius, radius, radius);
    return mesh;
}

scene_mesh scene_torus(float ring_radius, float tube_radius, uint32_t around, uint32_t across)
{
    const double turn = 6.283185307179586;
    scene_mesh mesh = make(around * across, 2 * around * across);
    for (uint32_t i = 0; i < around; ++i)
        for (uint32_t j = 0; j < across; ++j)
        {
            double u = turn * i / around, v = turn * j / across;
            double r = ring_radius + tube_radius * cos(v);
            uint32_t next_i = (i + 1) % around, next_j = (j + 1) % across;
            set_vertex(&mesh, i * across + j, r * cos(u), r * sin(u), tube_radius * sin(v));
            set_quad(&mesh, 2 * (i * across + j), i * across + j, next_i * across + j,
                     next_i * across + next_j, i * across + next_j);
        }
    return mesh;
}

scene_mesh scene_cylinder(float radius, float height, uint32_t around, uint32_t along)
{
    const double turn = 6.283185307179586;
    uint32_t n = along ? along : 1, rings = n + 1;
    scene_mesh mesh = make(around * rings + 2, 2 * around * n + 2 * around);
    uint32_t bottom = around * rings, top = bottom + 1, triangle = 0;
    for (uint32_t k = 0; k < rings; ++k)
        for (uint32_t i = 0; i < around; ++i)
            set_vertex(&mesh, k * around + i, radius * cos(turn * i / around),
                       radius * sin(turn * i / around), height * ((double)k / n - .5));
    set_vertex(&mesh, bottom, 0, 0, -.5 * height);
    set_vertex(&mesh, top, 0, 0, .5 * height);
    for (uint32_t i = 0; i < around; ++i)
    {
        uint32_t next = (i + 1) % around;
        for (uint32_t k = 0; k < n; ++k, triangle += 2)
            set_quad(&mesh, triangle, k * around + i, k * around + next, (k + 1) * around + next,
                     (k + 1) * around + i);
        set_triangle(&mesh, triangle++, bottom, next, i);
        set_triangle(&mesh, triangle++, top, n * around + i, n * around + next);
    }
    return mesh;
}

scene_mesh scene_sheet(float x, float y, uint32_t columns, uint32_t rows)
{
    uint32_t nx = columns ? columns : 1, ny = rows ? rows : 1;
    scene_mesh mesh = make((nx + 1) * (ny + 1), 2 * nx * ny);
    for (uint32_t j = 0; j <= ny; ++j)
        for (uint32_t i = 0; i <= nx; ++i)
            set_vertex(&mesh, j * (nx + 1) + i, x * ((double)i / nx - .5),
                       y * ((double)j / ny - .5), 0);
    for (uint32_t j = 0; j < ny; ++j)
        for (uint32_t i = 0; i < nx; ++i)
        {
            uint32_t a = j * (nx + 1) + i, above = a + nx + 1;
            set_quad(&mesh, 2 * (j * nx + i), a, a + 1, above + 1, above);
        }
    return mesh;
}

/* The radius in a direction: a long body plus lobes exp(sharpness (cos angle - 1)). */
scene_mesh scene_creature(uint32_t subdivisions)
{
    static const struct
    {
        double x, y, z, height, sharpness;
    } lobes[] = {
        {.92, 0, .39, .55, 14},     {-.95, 0, .3, .45, 30},      {.5, .5, -.7, .5, 30},
        {.5, -.5, -.7, .5, 30},     {-.5, .5, -.7, .5, 30},      {-.5, -.5, -.7, .5, 30},
        {.75, .3, .59, .18, 120.0}, {.75, -.3, .59, .18, 120.0}, /* ears */
    };
    scene_mesh mesh = scene_icosphere(1, subdivisions);
    for (uint32_t i = 0; i < mesh.vertex_count; ++i)
    {
        const float* p = mesh.vertices + 3 * (size_t)i;
        double x = p[0], y = p[1], z = p[2];
        double r = .4 / sqrt(.45 * x * x + y * y + 1.2 * z * z);
        for (size_t k = 0; k < sizeof lobes / sizeof lobes[0]; ++k)
        {
            double length =
                sqrt(lobes[k].x * lobes[k].x + lobes[k].y * lobes[k].y + lobes[k].z * lobes[k].z);
            double cosine = (x * lobes[k].x + y * lobes[k].y + z * lobes[k].z) / length;
            r += lobes[k].height * exp(lobes[k].sharpness * (cosine - 1));
        }
        r *= 1 + .015 * sin(17 * x + 3 * z) * sin(19 * y) * sin(13 * z + 5 * x);
        set_vertex(&mesh, i, r * x, r * y, r * z);
    }
    return mesh;
}

/* ------------------------------------------------------------------ changes */

void scene_mesh_move(scene_mesh* mesh, float x, float y, float z)
{
    for (size_t i = 0; i < mesh->vertex_count; ++i)
    {
        mesh->vertices[3 * i] += x;
        mesh->vertices[3 * i + 1] += y;
        mesh->vertices[3 * i + 2] += z;
    }
}

void scene_mesh_scale(scene_mesh* mesh, float x, float y, float z)
{
    for (size_t i = 0; i < mesh->vertex_count; ++i)
    {
        mesh->vertices[3 * i] *= x;
        mesh->vertices[3 * i + 1] *= y;
        mesh->vertices[3 * i + 2] *= z;
    }
}

void scene_mesh_turn(scene_mesh* mesh, float x, float y, float z, float angle)
{
    double length = sqrt((double)x * x + (double)y * y + (double)z * z);
    double a[3] = {x / length, y / length, z / length}, c = cos(angle), s = sin(angle);
    for (uint32_t i = 0; i < mesh->vertex_count; ++i)
    {
        const float* f = mesh->vertices + 3 * (size_t)i;
        double p[3] = {f[0], f[1], f[2]}, along = a[0] * p[0] + a[1] * p[1] + a[2] * p[2], q[3];
        for (int k = 0; k < 3; ++k)
        {
            int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            q[k] = c * p[k] + s * (a[k1] * p[k2] - a[k2] * p[k1]) + (1 - c) * along * a[k];
        }
        set_vertex(mesh, i, q[0], q[1], q[2]);
    }
}

void scene_mesh_flip(scene_mesh* mesh, uint32_t every)
{
    for (size_t i = 0; i < mesh->triangle_count; i += every ? every : 1)
    {
        uint32_t* t = mesh->triangles + 3 * i;
        uint32_t swap = t[1];
        t[1] = t[2];
        t[2] = swap;
    }
}

void scene_mesh_drop(scene_mesh* mesh, uint32_t every)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; ++i)
    {
        const uint32_t* t = mesh->triangles + 3 * (size_t)i;
        if (every && i % every)
            set_triangle(mesh, kept++, t[0], t[1], t[2]);
    }
    mesh->triangle_count = kept;
}

void scene_mesh_append(scene_mesh* mesh, const scene_mesh* other)
{
    scene_mesh sum = make(mesh->vertex_count + other->vertex_count,
                          mesh->triangle_count + other->triangle_count);
    size_t v = (size_t)mesh->vertex_count * 3, t = (size_t)mesh->triangle_count * 3;
    memcpy(sum.vertices, mesh->vertices, v * sizeof(float));
    memcpy(sum.vertices + v, other->vertices, (size_t)other->vertex_count * 3 * sizeof(float));
    memcpy(sum.triangles, mesh->triangles, t * sizeof(uint32_t));
    for (size_t i = 0; i < (size_t)other->triangle_count * 3; ++i)
        sum.triangles[t + i] = other->triangles[i] + mesh->vertex_count;
    scene_mesh_free(mesh);
    *mesh = sum;
}

void scene_mesh_split(scene_mesh* mesh)
{
    scene_mesh soup = make(mesh->triangle_count * 3, mesh->triangle_count);
    for (size_t i = 0; i < (size_t)mesh->triangle_count * 3; ++i)
    {
        memcpy(soup.vertices + 3 * i, mesh->vertices + 3 * (size_t)mesh->triangles[i],
               3 * sizeof(float));
        soup.triangles[i] = (uint32_t)i;
    }
    scene_mesh_free(mesh);
    *mesh = soup;
}
