// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Shells are connected components of triangles over shared or coincident vertices. Patches are
 * smaller: connected components over edges that exactly two triangles share. A patch has a
 * consistent orientation, so inconsistent triangles are flipped: the patch keeps the orientation of
 * most of its area. (A Moebius strip keeps a seam.)
 */
#include "geometry/mesh_components.h"

#include "base/union_find.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

typedef struct edge_entry
{
    uint32_t to;        /* the edge's larger vertex */
    uint32_t half_edge; /* 3 * triangle + corner where it starts */
} edge_entry;

typedef struct finder
{
    pl_mesh* mesh;
    const uint32_t* weld;
    pl_mesh_components* out;
    uint32_t* begin;     /* vertex_count + 1: edges by their smaller vertex */
    edge_entry* entries; /* sorted by the other vertex */
    uint32_t* neighbour; /* of each half-edge, or NONE */
    uint8_t* turned;     /* of each triangle */
    uint32_t* parent;    /* of vertices, for union-find */
    uint32_t* stack;     /* triangles; later open half-edges by patch */
    double* length;      /* of open edges, by component */
} finder;

static uint32_t start_of(const finder* f, uint32_t half_edge)
{
    return f->weld[f->mesh->triangles[half_edge]];
}

static uint32_t end_of(const finder* f, uint32_t half_edge)
{
    uint32_t next = half_edge % 3 == 2 ? half_edge - 2 : half_edge + 1;
    return f->weld[f->mesh->triangles[next]];
}

/* ------------------------------------------------------------------ shells */

static void find_shells(finder* f)
{
    pl_mesh* mesh = f->mesh;
    for (uint32_t i = 0; i < mesh->vertex_count; ++i)
        f->parent[i] = i;
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
    {
        const uint32_t* v = mesh->triangles + 3 * (size_t)t;
        pl_union_find_unite(f->parent, f->weld[v[0]], f->weld[v[1]]);
        pl_union_find_unite(f->parent, f->weld[v[0]], f->weld[v[2]]);
    }
    uint32_t* number = f->begin; /* not needed yet */
    memset(number, 255, mesh->vertex_count * sizeof *number);
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
    {
        uint32_t root = pl_union_find_root(f->parent, f->weld[mesh->triangles[3 * (size_t)t]]);
        if (number[root] == NONE)
            number[root] = mesh->shell_count++;
        mesh->shell[t] = number[root];
    }
}

/* ------------------------------------------------------------------ edges */

static int compare_entries(const void* a, const void* b)
{
    const edge_entry *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->half_edge < y->half_edge ? -1 : 1;
}

static void sort_bucket(edge_entry* entries, uint32_t count)
{
    if (count > 24)
    {
        qsort(entries, count, sizeof *entries, compare_entries);
        return;
    }
    for (uint32_t i = 1; i < count; ++i)
    {
        edge_entry entry = entries[i];
        uint32_t j = i;
        for (; j && entries[j - 1].to > entry.to; --j)
            entries[j] = entries[j - 1];
        entries[j] = entry;
    }
}

static uint32_t run_end(const edge_entry* entries, uint32_t i, uint32_t end)
{
    uint32_t first = i;
    while (i < end && entries[i].to == entries[first].to)
        ++i;
    return i;
}

static void find_edges(finder* f)
{
    uint32_t half_edges = 3 * f->mesh->triangle_count, vertices = f->mesh->vertex_count;
    uint32_t* begin = f->begin;
    memset(begin, 0, ((size_t)vertices + 1) * sizeof *begin);
    for (uint32_t h = 0; h < half_edges; ++h)
    {
        uint32_t a = start_of(f, h), b = end_of(f, h);
        ++begin[PL_MIN(a, b) + 1];
    }
    for (uint32_t v = 0; v < vertices; ++v)
        begin[v + 1] += begin[v];
    for (uint32_t h = 0; h < half_edges; ++h)
    {
        uint32_t a = start_of(f, h), b = end_of(f, h);
        f->entries[begin[PL_MIN(a, b)]++] = (edge_entry){PL_MAX(a, b), h};
    }
    for (uint32_t v = vertices; v > 0; --v)
        begin[v] = begin[v - 1];
    begin[0] = 0;
    memset(f->neighbour, 255, half_edges * sizeof *f->neighbour);
    for (uint32_t v = 0; v < vertices; ++v)
    {
        sort_bucket(f->entries + begin[v], begin[v + 1] - begin[v]);
        for (uint32_t i = begin[v], end; i < begin[v + 1]; i = end)
        {
            end = run_end(f->entries, i, begin[v + 1]);
            if (end - i != 2)
                continue;
            f->neighbour[f->entries[i].half_edge] = f->entries[i + 1].half_edge;
            f->neighbour[f->entries[i + 1].half_edge] = f->entries[i].half_edge;
        }
    }
}

/* ------------------------------------------------------------------ patches */

static vec3 area_vector(const pl_mesh* mesh, uint32_t t)
{
    const uint32_t* v = mesh->triangles + 3 * (size_t)t;
    vec3 a = mesh->vertices[v[0]];
    return v3_scale(v3_cross(v3_sub(mesh->vertices[v[1]], a), v3_sub(mesh->vertices[v[2]], a)), .5);
}

/* Walks the patch of a triangle; returns the area of triangles to flip minus that of the others. */
static double walk_patch(finder* f, uint32_t first, uint32_t number)
{
    uint32_t waiting = 0;
    double turned = 0;
    f->out->of[first] = number;
    f->stack[waiting++] = first;
    while (waiting)
    {
        uint32_t t = f->stack[--waiting];
        double area = v3_length(area_vector(f->mesh, t));
        turned += f->turned[t] ? area : -area;
        for (uint32_t h = 3 * t; h < 3 * t + 3; ++h)
        {
            uint32_t other = f->neighbour[h], o = other / 3;
            if (other == NONE || f->out->of[o] != NONE)
                continue;
            bool same_way = start_of(f, h) == start_of(f, other);
            f->out->of[o] = number;
            f->turned[o] = f->turned[t] ^ same_way;
            f->stack[waiting++] = o;
        }
    }
    return turned;
}

/* Patches in order of their first triangles. Flips are only recorded, per patch in "whole". */
static uint32_t find_patches(finder* f, uint8_t* whole)
{
    uint32_t count = 0;
    memset(f->out->of, 255, f->mesh->triangle_count * sizeof *f->out->of);
    for (uint32_t t = 0; t < f->mesh->triangle_count; ++t)
        if (f->out->of[t] == NONE)
        {
            whole[count] = walk_patch(f, t, count) > 0;
            ++count;
        }
    return count;
}

/* Numbers patches by shell and measures them. "number" has one entry per patch. */
static void measure_patches(finder* f, uint32_t* number)
{
    pl_mesh* mesh = f->mesh;
    pl_mesh_components* out = f->out;
    uint32_t* next = f->begin; /* no longer needed; shells are at most vertices */
    memset(next, 0, ((size_t)mesh->shell_count + 1) * sizeof *next);
    memset(number, 255, out->count * sizeof *number);
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
        if (number[out->of[t]] == NONE)
        {
            number[out->of[t]] = mesh->shell[t];
            ++next[mesh->shell[t] + 1];
        }
    for (uint32_t s = 0; s < mesh->shell_count; ++s)
        next[s + 1] += next[s];
    for (uint32_t p = 0; p < out->count; ++p)
    {
        uint32_t shell = number[p];
        number[p] = next[shell]++;
        out->of_shell[number[p]] = out->patches[number[p]].shell = shell;
    }
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
    {
        out->of[t] = number[out->of[t]];
        pl_mesh_patch* patch = &out->patches[out->of[t]];
        const uint32_t* v = mesh->triangles + 3 * (size_t)t;
        double area = v3_length(area_vector(mesh, t));
        vec3 sum = v3_add(mesh->vertices[v[0]], v3_add(mesh->vertices[v[1]], mesh->vertices[v[2]]));
        patch->area += area;
        patch->centre = v3_mad(patch->centre, sum, area / 3);
    }
    for (uint32_t p = 0; p < out->count; ++p)
        out->patches[p].centre = v3_scale(out->patches[p].centre, 1 / out->patches[p].area);
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
    {
        pl_mesh_patch* patch = &out->patches[out->of[t]];
        vec3 arm = v3_sub(mesh->vertices[mesh->triangles[3 * (size_t)t]], patch->centre);
        double volume = v3_dot(arm, area_vector(mesh, t)) / 3;
        patch->volume += f->turned[t] ? -volume : volume;
    }
}

/* ------------------------------------------------------------------ holes */

/* Marks the boundary half-edges of patches: an edge is open if the orientations of the patch's
 * triangles at it do not cancel. Edges with very many triangles count as open. */
static uint32_t find_open_edges(finder* f, uint32_t* open)
{
    uint32_t count = 0, entries = 3 * f->mesh->triangle_count;
    for (uint32_t i = 0, end; i < entries; i = end)
    {
        uint32_t from =
            PL_MIN(start_of(f, f->entries[i].half_edge), end_of(f, f->entries[i].half_edge));
        for (end = i + 1; end < entries && f->entries[end].to == f->entries[i].to; ++end)
            if (PL_MIN(start_of(f, f->entries[end].half_edge),
                       end_of(f, f->entries[end].half_edge)) != from)
                break;
        for (uint32_t j = i; j < end; ++j)
        {
            uint32_t patch = f->out->of[f->entries[j].half_edge / 3];
            int sum = 0;
            for (uint32_t k = i; k < end && end - i <= 64; ++k)
            {
                uint32_t h = f->entries[k].half_edge;
                if (f->out->of[h / 3] == patch)
                    sum += (start_of(f, h) == from) ^ f->turned[h / 3] ? 1 : -1;
            }
            if (sum != 0 || end - i > 64)
                open[count++] = f->entries[j].half_edge;
        }
    }
    return count;
}

typedef struct open_edge
{
    uint32_t patch, half_edge;
} open_edge;

static int compare_open(const void* a, const void* b)
{
    const open_edge *x = a, *y = b;
    if (x->patch != y->patch)
        return x->patch < y->patch ? -1 : 1;
    return (x->half_edge > y->half_edge) - (x->half_edge < y->half_edge);
}

/* A hole of circumference L has at most the area of a disk, L^2 / (4 pi). */
static double hole_area(finder* f, const open_edge* edges, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t a = start_of(f, edges[i].half_edge), b = end_of(f, edges[i].half_edge);
        f->parent[a] = a, f->parent[b] = b;
        f->length[a] = f->length[b] = 0;
    }
    for (uint32_t i = 0; i < count; ++i)
        pl_union_find_unite(f->parent, start_of(f, edges[i].half_edge),
                            end_of(f, edges[i].half_edge));
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t a = start_of(f, edges[i].half_edge), b = end_of(f, edges[i].half_edge);
        f->length[pl_union_find_root(f->parent, a)] +=
            v3_length(v3_sub(f->mesh->vertices[a], f->mesh->vertices[b]));
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t root = pl_union_find_root(f->parent, start_of(f, edges[i].half_edge));
        sum += f->length[root] * f->length[root];
        f->length[root] = 0;
    }
    return sum / (4 * 3.14159265358979323846);
}

static pl_status measure_holes(finder* f)
{
    pl_mesh_components* out = f->out;
    for (uint32_t p = 0; p < out->count; ++p)
        out->patches[p].closed = out->patches[p].nearly_closed = true;
    uint32_t* open = f->neighbour; /* no longer needed */
    uint32_t count = find_open_edges(f, open);
    if (!count)
        return PLIANT_OK;
    open_edge* edges = PL_NEW(open_edge, count);
    if (!edges)
        return pl_fail_memory(count * sizeof *edges);
    for (uint32_t i = 0; i < count; ++i)
        edges[i] = (open_edge){out->of[open[i] / 3], open[i]};
    qsort(edges, count, sizeof *edges, compare_open);
    for (uint32_t i = 0, end; i < count; i = end)
    {
        pl_mesh_patch* patch = &out->patches[edges[i].patch];
        for (end = i; end < count && edges[end].patch == edges[i].patch;)
            ++end;
        patch->closed = false;
        patch->nearly_closed = hole_area(f, edges + i, end - i) < .3 * patch->area;
    }
    pl_free(edges);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ entry point */

static bool make_room(finder* f)
{
    size_t vertices = f->mesh->vertex_count, triangles = f->mesh->triangle_count;
    f->begin = PL_NEW(uint32_t, vertices + 1);
    f->entries = PL_NEW(edge_entry, 3 * triangles);
    f->neighbour = PL_NEW(uint32_t, 3 * triangles);
    f->turned = PL_NEW(uint8_t, 2 * triangles);
    f->parent = PL_NEW(uint32_t, vertices);
    f->stack = PL_NEW(uint32_t, triangles);
    f->length = PL_NEW(double, vertices);
    f->out->of = PL_NEW(uint32_t, triangles);
    f->mesh->shell = PL_NEW(uint32_t, triangles);
    return f->begin && f->entries && f->neighbour && f->turned && f->parent && f->stack &&
           f->length && f->out->of && f->mesh->shell;
}

static pl_status find_all(finder* f)
{
    pl_mesh* mesh = f->mesh;
    pl_mesh_components* out = f->out;
    if (!make_room(f))
        return pl_fail_memory((size_t)mesh->triangle_count * 64);
    uint8_t* whole = f->turned + mesh->triangle_count;
    find_shells(f);
    find_edges(f);
    out->count = find_patches(f, whole);
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
        f->turned[t] ^= whole[out->of[t]];
    out->patches = PL_NEW(pl_mesh_patch, out->count);
    out->of_shell = PL_NEW(uint32_t, out->count);
    if (!out->patches || !out->of_shell)
        return pl_fail_memory(out->count * sizeof(pl_mesh_patch));
    measure_patches(f, f->stack);
    PL_TRY(measure_holes(f));
    for (uint32_t t = 0; t < mesh->triangle_count; ++t) /* last: half-edges are named by corners */
        if (f->turned[t])
            pl_mesh_turn_triangle(mesh, t);
    return PLIANT_OK;
}

pl_status pl_mesh_components_find(pl_mesh* mesh, const uint32_t* weld, pl_mesh_components* patches)
{
    *patches = (pl_mesh_components){0};
    finder f = {.mesh = mesh, .weld = weld, .out = patches};
    pl_status status = find_all(&f);
    pl_free(f.begin);
    pl_free(f.entries);
    pl_free(f.neighbour);
    pl_free(f.turned);
    pl_free(f.parent);
    pl_free(f.stack);
    pl_free(f.length);
    return status;
}

void pl_mesh_components_free(pl_mesh_components* patches)
{
    pl_free(patches->patches);
    pl_free(patches->of);
    pl_free(patches->of_shell);
    *patches = (pl_mesh_components){0};
}
