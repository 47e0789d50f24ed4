// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Coarsens a surface that is much finer than the particles it is bound to: it costs time without
 * gain. Vertices in one cell are merged (Rossignac and Borrel, "Multi-resolution 3D approximations
 * for rendering complex scenes", 1993). Closed surfaces stay closed: triangles that lose a corner
 * have no volume, and the edges of the others still cancel.
 *
 * Departures: vertices merge only if they are of one shell and their normals are of one octant, so
 * that the two sides of a thin wall stay apart; and if a shell loses more than a tenth of its
 * volume all the same, the surface is left as it was.
 */
#include "dynamics/pressure_surface.h"

#include <stdlib.h>

static const double LEAST_KEPT = .9, LEAST_GAIN = .7;

typedef struct cell
{
    int64_t at[3];
    uint32_t shell, octant, vertex;
} cell;

static int compare_cells(const void* a, const void* b)
{
    const cell *x = a, *y = b;
    if (x->shell != y->shell)
        return x->shell < y->shell ? -1 : 1;
    for (int k = 0; k < 3; ++k)
        if (x->at[k] != y->at[k])
            return x->at[k] < y->at[k] ? -1 : 1;
    if (x->octant != y->octant)
        return x->octant < y->octant ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static vec3 area_of(const pl_surface* s, uint32_t triangle)
{
    const uint32_t* v = s->triangles + 3 * (size_t)triangle;
    vec3 a = s->vertices[v[0]];
    return v3_cross(v3_sub(s->vertices[v[1]], a), v3_sub(s->vertices[v[2]], a));
}

static void find_cells(const pl_surface* s, double size, vec3* normal, cell* cells)
{
    vec3 low = s->vertices[0];
    for (uint32_t i = 1; i < s->vertex_count; ++i)
        low = v3(fmin(low.x, s->vertices[i].x), fmin(low.y, s->vertices[i].y),
                 fmin(low.z, s->vertices[i].z));
    for (uint32_t t = 0; t < s->triangle_count; ++t)
        for (int k = 0; k < 3; ++k)
        {
            uint32_t vertex = s->triangles[3 * (size_t)t + k];
            normal[vertex] = v3_add(normal[vertex], area_of(s, t));
            cells[vertex].shell = s->shell[t];
        }
    for (uint32_t i = 0; i < s->vertex_count; ++i)
    {
        vec3 at = v3_scale(v3_sub(s->vertices[i], low), 1 / size), n = normal[i];
        cells[i].vertex = i;
        cells[i].octant = (n.x < 0) | (n.y < 0) << 1 | (n.z < 0) << 2;
        cells[i].at[0] = (int64_t)fmin(at.x, 1e15);
        cells[i].at[1] = (int64_t)fmin(at.y, 1e15);
        cells[i].at[2] = (int64_t)fmin(at.z, 1e15);
    }
}

static bool same_cell(const cell* a, const cell* b)
{
    return a->shell == b->shell && a->octant == b->octant && a->at[0] == b->at[0] &&
           a->at[1] == b->at[1] && a->at[2] == b->at[2];
}

/* Merges vertices to the mean of each cell; "merged" is the new number of each old vertex. */
static uint32_t merge(const pl_surface* s, cell* cells, uint32_t* merged, vec3* vertices)
{
    uint32_t count = 0;
    qsort(cells, s->vertex_count, sizeof *cells, compare_cells);
    for (uint32_t i = 0, end; i < s->vertex_count; i = end, ++count)
    {
        vec3 sum = v3(0, 0, 0);
        for (end = i; end < s->vertex_count && same_cell(&cells[i], &cells[end]); ++end)
        {
            merged[cells[end].vertex] = count;
            sum = v3_add(sum, s->vertices[cells[end].vertex]);
        }
        vertices[count] = v3_scale(sum, 1.0 / (end - i));
    }
    return count;
}

/* Whether the merged surface is much smaller and has nearly the same volumes. */
static bool worth_it(const pl_surface* s, const uint32_t* merged, const vec3* vertices,
                     uint32_t count, double* volume)
{
    if (count > LEAST_GAIN * s->vertex_count)
        return false;
    for (uint32_t t = 0; t < s->triangle_count; ++t)
    {
        const uint32_t* v = s->triangles + 3 * (size_t)t;
        vec3 a = vertices[merged[v[0]]], b = vertices[merged[v[1]]], c = vertices[merged[v[2]]];
        volume[s->shell[t]] += v3_dot(a, v3_cross(b, c)) / 6;
    }
    for (uint32_t shell = 0; shell < s->shell_count; ++shell)
        if (volume[shell] < LEAST_KEPT * s->volume[shell])
            return false;
    return true;
}

static void apply(pl_surface* s, const uint32_t* merged)
{
    uint32_t kept = 0;
    for (uint32_t t = 0; t < s->triangle_count; ++t)
    {
        const uint32_t* v = s->triangles + 3 * (size_t)t;
        uint32_t a = merged[v[0]], b = merged[v[1]], c = merged[v[2]];
        if (a == b || b == c || c == a)
            continue;
        uint32_t* to = s->triangles + 3 * (size_t)kept;
        to[0] = a, to[1] = b, to[2] = c;
        s->shell[kept++] = s->shell[t];
    }
    s->triangle_count = kept;
}

pl_status pl_surface_coarsen(pl_surface* s, double size)
{
    cell* cells = PL_NEW(cell, s->vertex_count);
    vec3* vertices = PL_NEW(vec3, s->vertex_count);
    uint32_t* merged = PL_NEW(uint32_t, s->vertex_count);
    double* volume = PL_NEW(double, s->shell_count);
    bool ready = cells && vertices && merged && volume;
    if (ready && size > 0)
    {
        find_cells(s, size, vertices, cells);
        uint32_t count = merge(s, cells, merged, vertices);
        if (worth_it(s, merged, vertices, count, volume))
        {
            apply(s, merged);
            vec3* fine = s->vertices;
            s->vertices = vertices, s->vertex_count = count;
            vertices = fine;
            ready = pl_surface_renumber(s);
        }
    }
    pl_free(cells);
    pl_free(vertices);
    pl_free(merged);
    pl_free(volume);
    return ready ? PLIANT_OK : pl_fail_memory((size_t)s->vertex_count * sizeof(cell));
}
