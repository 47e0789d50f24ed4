// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Makes the shells of a mesh watertight. A volume is well defined, and its gradient free of net
 * force and torque, only if every edge is used equally often in both directions. Other edges (a
 * small hole; a triangle without area that was left out) are closed by a fan of triangles to their
 * mean: for any shape of the gap, a cycle of edges and its fan cancel.
 */
#include "dynamics/pressure_surface.h"

#include "base/union_find.h"

#include <stdlib.h>
#include <string.h>

/* Least volume over area^(3/2) (.094 for a ball); a smaller one counts as none. */
static const double LEAST_VOLUME = 1e-6;

typedef struct edge
{
    uint32_t low, high; /* vertices */
    int32_t way;        /* 1 from low to high, -1 the other way */
    uint32_t shell;
} edge;

typedef struct builder
{
    const pl_mesh* mesh;
    pl_surface* out;
    edge* edges;
    uint32_t edge_count, gap_count; /* after match_edges: edges[0 .. gap_count) are gaps */
    uint32_t* group;                /* of vertices: joined by gaps */
    uint32_t* apex;                 /* of groups: the vertex that their fan meets in */
    uint32_t* number;               /* new number of each shell, later of each vertex */
    double* area;                   /* by shell */
} builder;

static int compare_edges(const void* a, const void* b)
{
    const edge *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->way > y->way) - (x->way < y->way);
}

/* ------------------------------------------------------------------ gaps */

static void list_edges(builder* b)
{
    for (uint32_t t = 0; t < b->mesh->triangle_count; ++t)
        for (uint32_t k = 0; k < 3 && !b->mesh->shell_open[b->mesh->shell[t]]; ++k)
        {
            const uint32_t* v = b->mesh->triangles + 3 * (size_t)t;
            uint32_t from = b->mesh->weld[v[k]], to = b->mesh->weld[v[(k + 1) % 3]];
            b->edges[b->edge_count++] =
                (edge){PL_MIN(from, to), PL_MAX(from, to), from < to ? 1 : -1, b->mesh->shell[t]};
        }
}

/* Keeps edges used more often in one direction, with the excess as multiplicity. */
static void match_edges(builder* b)
{
    qsort(b->edges, b->edge_count, sizeof *b->edges, compare_edges);
    for (uint32_t i = 0, end; i < b->edge_count; i = end)
    {
        int32_t way = 0;
        edge same = b->edges[i];
        for (end = i; end < b->edge_count && b->edges[end].low == same.low &&
                      b->edges[end].high == same.high;
             ++end)
            way += b->edges[end].way;
        same.way = way < 0 ? -1 : 1;
        for (int32_t n = 0; n < abs(way); ++n)
            b->edges[b->gap_count++] = same; /* never beyond i + |way| <= end */
    }
}

/* One apex for each connected component of gaps: the mean of its vertices. Returns the number. */
static uint32_t place_apexes(builder* b, vec3* apexes)
{
    uint32_t count = 0, vertices = b->mesh->vertex_count;
    for (uint32_t i = 0; i < vertices; ++i)
        b->group[i] = i, b->apex[i] = UINT32_MAX;
    for (uint32_t i = 0; i < b->gap_count; ++i)
        pl_union_find_unite(b->group, b->edges[i].low, b->edges[i].high);
    uint32_t* edges = b->number;
    for (uint32_t i = 0; i < b->gap_count; ++i)
    {
        uint32_t root = pl_union_find_root(b->group, b->edges[i].low);
        if (b->apex[root] == UINT32_MAX)
        {
            b->apex[root] = vertices + count;
            edges[count] = 0;
            apexes[count++] = v3(0, 0, 0);
        }
        vec3* apex = &apexes[b->apex[root] - vertices];
        *apex = v3_add(*apex, v3_scale(v3_add(b->mesh->vertices[b->edges[i].low],
                                              b->mesh->vertices[b->edges[i].high]),
                                       .5));
        ++edges[b->apex[root] - vertices];
    }
    for (uint32_t i = 0; i < count; ++i)
        apexes[i] = v3_scale(apexes[i], 1.0 / edges[i]);
    return count;
}

/* ------------------------------------------------------------------ triangles by shell */

static void add_triangle(pl_surface* s, uint32_t shell, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t* t = s->triangles + 3 * (size_t)s->triangle_count;
    t[0] = a, t[1] = b, t[2] = c;
    s->shell[s->triangle_count++] = shell;
}

static void add_triangles(builder* b)
{
    const pl_mesh* mesh = b->mesh;
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
    {
        const uint32_t* v = mesh->triangles + 3 * (size_t)t;
        if (!mesh->shell_open[mesh->shell[t]])
            add_triangle(b->out, mesh->shell[t], mesh->weld[v[0]], mesh->weld[v[1]],
                         mesh->weld[v[2]]);
    }
    for (uint32_t i = 0; i < b->gap_count; ++i)
    {
        const edge* e = &b->edges[i];
        uint32_t apex = b->apex[pl_union_find_root(b->group, e->low)];
        if (e->way > 0)
            add_triangle(b->out, e->shell, e->high, e->low, apex);
        else
            add_triangle(b->out, e->shell, e->low, e->high, apex);
    }
}

static void measure_shells(builder* b)
{
    pl_surface* s = b->out;
    for (uint32_t t = 0; t < s->triangle_count; ++t)
    {
        const uint32_t* v = s->triangles + 3 * (size_t)t;
        vec3 from = b->mesh->lower, p = v3_sub(s->vertices[v[0]], from);
        vec3 q = v3_sub(s->vertices[v[1]], from), r = v3_sub(s->vertices[v[2]], from);
        s->volume[s->shell[t]] += v3_dot(p, v3_cross(q, r)) / 6;
        b->area[s->shell[t]] += v3_length(v3_cross(v3_sub(q, p), v3_sub(r, p))) / 2;
    }
}

static bool encloses(const builder* b, uint32_t shell)
{
    double area = b->area[shell];
    return fabs(b->out->volume[shell]) > LEAST_VOLUME * area * sqrt(area);
}

/* Removes shells without volume, flips those that face inward, sorts triangles by shell. */
static bool sort_triangles(builder* b)
{
    pl_surface* s = b->out;
    uint32_t kept = 0, *begin = PL_NEW(uint32_t, (size_t)b->mesh->shell_count + 1);
    uint32_t* triangles = PL_NEW(uint32_t, 3 * (size_t)s->triangle_count);
    uint32_t* shells = PL_NEW(uint32_t, s->triangle_count);
    bool ready = begin && triangles && shells;
    for (uint32_t shell = 0; ready && shell < b->mesh->shell_count; ++shell)
        b->number[shell] = encloses(b, shell) ? kept++ : UINT32_MAX;
    for (uint32_t t = 0; ready && t < s->triangle_count; ++t)
        if (b->number[s->shell[t]] != UINT32_MAX)
            ++begin[b->number[s->shell[t]] + 1];
    for (uint32_t shell = 0; ready && shell < kept; ++shell)
        begin[shell + 1] += begin[shell];
    uint32_t total = ready ? begin[kept] : 0;
    for (uint32_t t = 0; ready && t < s->triangle_count; ++t)
    {
        uint32_t shell = b->number[s->shell[t]], *from = s->triangles + 3 * (size_t)t;
        if (shell == UINT32_MAX)
            continue;
        uint32_t* to = triangles + 3 * (size_t)begin[shell];
        bool inward = s->volume[s->shell[t]] < 0;
        to[0] = from[0], to[1] = from[inward ? 2 : 1], to[2] = from[inward ? 1 : 2];
        shells[begin[shell]++] = shell;
    }
    for (uint32_t shell = 0; ready && shell < b->mesh->shell_count; ++shell)
        if (b->number[shell] != UINT32_MAX)
            s->volume[b->number[shell]] = fabs(s->volume[shell]);
    pl_free(begin);
    pl_free(ready ? s->triangles : triangles);
    pl_free(ready ? s->shell : shells);
    if (!ready)
        return false;
    s->triangles = triangles, s->shell = shells;
    s->triangle_count = total, s->shell_count = kept;
    return true;
}

bool pl_surface_renumber(pl_surface* s)
{
    vec3* used = PL_NEW(vec3, s->vertex_count);
    uint32_t *number = PL_NEW(uint32_t, s->vertex_count), count = 0;
    if (used && number)
        for (size_t i = 0; i < 3 * (size_t)s->triangle_count; ++i)
        {
            uint32_t vertex = s->triangles[i];
            if (number[vertex] == 0)
            {
                used[count] = s->vertices[vertex];
                number[vertex] = ++count;
            }
            s->triangles[i] = number[vertex] - 1;
        }
    bool ready = used && number;
    pl_free(number);
    pl_free(ready ? s->vertices : used);
    if (ready)
        s->vertices = used, s->vertex_count = count;
    return ready;
}

static pl_status build(builder* b)
{
    const pl_mesh* mesh = b->mesh;
    pl_surface* s = b->out;
    size_t most = (size_t)mesh->triangle_count * 4, numbers = 0;
    b->edges = PL_NEW(edge, 3 * (size_t)mesh->triangle_count);
    b->group = PL_NEW(uint32_t, mesh->vertex_count);
    b->apex = PL_NEW(uint32_t, mesh->vertex_count);
    b->area = PL_NEW(double, mesh->shell_count);
    numbers = PL_MAX(mesh->shell_count, mesh->vertex_count);
    b->number = PL_NEW(uint32_t, numbers);
    s->triangles = PL_NEW(uint32_t, 3 * most); /* at most one gap for each edge */
    s->shell = PL_NEW(uint32_t, most);
    s->vertices = PL_NEW(vec3, 2 * (size_t)mesh->vertex_count);
    s->volume = PL_NEW(double, mesh->shell_count);
    if (!b->edges || !b->group || !b->apex || !b->area || !b->number || !s->triangles ||
        !s->shell || !s->vertices || !s->volume)
        return pl_fail_memory(most * 12);
    memcpy(s->vertices, mesh->vertices, mesh->vertex_count * sizeof(vec3));
    list_edges(b);
    match_edges(b);
    s->vertex_count = mesh->vertex_count + place_apexes(b, s->vertices + mesh->vertex_count);
    add_triangles(b);
    measure_shells(b);
    return sort_triangles(b) && pl_surface_renumber(s) ? PLIANT_OK : pl_fail_memory(most * 12);
}

pl_status pl_surface_init(pl_surface* surface, const pl_mesh* mesh)
{
    builder b = {.mesh = mesh, .out = surface};
    uint32_t open = 0;
    *surface = (pl_surface){0};
    for (uint32_t shell = 0; shell < mesh->shell_count; ++shell)
        open += mesh->shell_open[shell];
    if (open == mesh->shell_count)
        return pl_fail(PLIANT_ERROR_MESH,
                       "The mesh is open (%u of its %u parts): pressure needs a closed surface",
                       open, mesh->shell_count);
    pl_status status = build(&b);
    pl_free(b.edges);
    pl_free(b.group);
    pl_free(b.apex);
    pl_free(b.area);
    pl_free(b.number);
    if (status == PLIANT_OK && surface->shell_count == 0)
        status = pl_fail(PLIANT_ERROR_MESH,
                         "The mesh's %u closed parts enclose no volume that pressure could keep",
                         mesh->shell_count - open);
    return status;
}

void pl_surface_free(pl_surface* surface)
{
    pl_free(surface->vertices);
    pl_free(surface->triangles);
    pl_free(surface->shell);
    pl_free(surface->volume);
    *surface = (pl_surface){0};
}
