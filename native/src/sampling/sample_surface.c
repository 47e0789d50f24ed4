// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Blue noise on a surface, by dart throwing (Cook 1986) with a minimum Euclidean distance.
 *
 * A pass visits the triangles in order and throws darts at equal steps of area, about one for each
 * expected point. Passes repeat with other random points in the triangles until they find few gaps.
 * So no table of areas has to be searched, and darts are evenly distributed.
 *
 * Corners of open edges come first, then open edges, with as many points as fit. A rim without
 * particles would be extrapolated from the particles behind it, and penetrate what they rest on.
 */
#include "base/rng.h"
#include "sampling/sample_internal.h"

#include <stdlib.h>

enum
{
    MOST_WALKS = 40
};

/* n distance^2 = PACKING area, on a surface that is smooth at that distance. (Dart throwing
 * converges slowly to .70.) */
static const double PACKING = .605;
/* Step between candidates along open edges, over the distance. */
static const double RIM_STEP = .25;
/* The least angle of a corner of the rim, in radians. */
static const double CORNER = .5;

double pl_surface_noise_count(double distance, double area)
{
    return PACKING * area / (distance * distance);
}

double pl_surface_noise_distance(double count, double area)
{
    return sqrt(PACKING * area / count);
}

static vec3 place_in(const pl_mesh* mesh, uint32_t triangle, pl_rng* rng)
{
    double u = pl_rng_unit(rng), v = pl_rng_unit(rng);
    if (u + v > 1)
        u = 1 - u, v = 1 - v;
    vec3 a = pl_mesh_corner(mesh, triangle, 0);
    vec3 ab = v3_sub(pl_mesh_corner(mesh, triangle, 1), a);
    vec3 ac = v3_sub(pl_mesh_corner(mesh, triangle, 2), a);
    return v3_mad(v3_mad(a, ab, u), ac, v);
}

static pl_status walk(const pl_surface* s, double step, pl_rng* rng, pl_poisson* grid, int number)
{
    const pl_mesh* mesh = s->mesh;
    double next = step * pl_rng_unit(rng), passed = 0;
    uint32_t work = 0;
    for (uint32_t t = 0; t < mesh->triangle_count && !pl_poisson_full(grid); ++t)
    {
        if (++work % 8192 == 0 &&
            pl_task_step(s->task, (number + (double)t / mesh->triangle_count) / MOST_WALKS))
            return PLIANT_CANCELLED;
        passed += mesh->twin[t] ? 0 : pl_mesh_triangle_area(mesh, t);
        for (; next < passed; next += step * (.5 + pl_rng_unit(rng)))
        {
            vec3 p = place_in(mesh, t, rng);
            if (pl_poisson_free_at(grid, p))
                PL_TRY(pl_poisson_add(grid, p, t));
            if (++work % 8192 == 0 && pl_task_step(s->task, (double)number / MOST_WALKS))
                return PLIANT_CANCELLED;
        }
    }
    return PLIANT_OK;
}

/* An edge of a triangle, by its ends in ascending order (welded vertices). */
typedef struct rim_edge
{
    uint32_t low, high, triangle, corner;
} rim_edge;

static int by_ends(const void* a, const void* b)
{
    const rim_edge *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    uint32_t m = 3 * x->triangle + x->corner, n = 3 * y->triangle + y->corner;
    return (m > n) - (m < n);
}

static int by_place(const void* a, const void* b)
{
    const rim_edge *x = a, *y = b;
    uint32_t m = 3 * x->triangle + x->corner, n = 3 * y->triangle + y->corner;
    return (m > n) - (m < n);
}

/* Edges of exactly one triangle, in the order of the triangles. */
static uint32_t list_rim(const pl_mesh* mesh, rim_edge* edges)
{
    uint32_t count = 0, open = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
        for (uint32_t k = 0; k < 3 && !mesh->twin[t]; ++k)
        {
            uint32_t a = mesh->weld[mesh->triangles[3 * (size_t)t + k]];
            uint32_t b = mesh->weld[mesh->triangles[3 * (size_t)t + (k + 1) % 3]];
            edges[count++] = (rim_edge){PL_MIN(a, b), PL_MAX(a, b), t, k};
        }
    qsort(edges, count, sizeof *edges, by_ends);
    for (uint32_t i = 0; i < count;)
    {
        uint32_t end = i + 1;
        while (end < count && edges[end].low == edges[i].low && edges[end].high == edges[i].high)
            ++end;
        if (end == i + 1)
            edges[open++] = edges[i];
        i = end;
    }
    qsort(edges, open, sizeof *edges, by_place);
    return open;
}

static double rim_length(const pl_mesh* mesh, const rim_edge* e)
{
    return v3_length(v3_sub(pl_mesh_corner(mesh, e->triangle, (int)(e->corner + 1) % 3),
                            pl_mesh_corner(mesh, e->triangle, (int)e->corner)));
}

/* Adds points at the rim's corners: vertices where the unit vectors along its edges do not cancel.
 */
static pl_status add_corners(const pl_mesh* mesh, const rim_edge* edges, uint32_t count,
                             pl_poisson* grid)
{
    vec3* away = PL_NEW(vec3, mesh->vertex_count);
    pl_status status = away ? PLIANT_OK : pl_fail_memory(sizeof *away * (size_t)mesh->vertex_count);
    for (uint32_t i = 0; i < count && away; ++i)
    {
        const uint32_t* corners = mesh->triangles + 3 * (size_t)edges[i].triangle;
        uint32_t a = mesh->weld[corners[edges[i].corner]];
        uint32_t b = mesh->weld[corners[(edges[i].corner + 1) % 3]];
        vec3 along = v3_sub(pl_mesh_corner(mesh, edges[i].triangle, (int)(edges[i].corner + 1) % 3),
                            pl_mesh_corner(mesh, edges[i].triangle, (int)edges[i].corner));
        double length = v3_length(along), unit = length > 0 ? 1 / length : 0;
        away[a] = v3_mad(away[a], along, unit);
        away[b] = v3_mad(away[b], along, -unit);
    }
    for (uint32_t i = 0; i < count && status == PLIANT_OK && !pl_poisson_full(grid); ++i)
    {
        uint32_t triangle = edges[i].triangle, k = edges[i].corner;
        vec3 p = pl_mesh_corner(mesh, triangle, (int)k);
        if (v3_length(away[mesh->weld[mesh->triangles[3 * (size_t)triangle + k]]]) > CORNER &&
            pl_poisson_free_at(grid, p))
            status = pl_poisson_add(grid, p, triangle);
    }
    pl_free(away);
    return status;
}

static pl_status walk_rim(const pl_surface* s, pl_poisson* grid)
{
    const pl_mesh* mesh = s->mesh;
    if (mesh->closed)
        return PLIANT_OK;
    rim_edge* edges = (rim_edge*)pl_alloc(3 * (size_t)mesh->triangle_count, sizeof *edges);
    if (!edges)
        return pl_fail_memory(3 * sizeof *edges * (size_t)mesh->triangle_count);
    uint32_t count = list_rim(mesh, edges), work = 0;
    double length = 0;
    for (uint32_t i = 0; i < count; ++i)
        length += rim_length(mesh, &edges[i]);
    if (length > pl_surface_noise_count(grid->distance, mesh->area) * grid->distance)
        count = 0; /* narrow strips: all points would be rim */
    pl_status status = add_corners(mesh, edges, count, grid);
    for (uint32_t i = 0; i < count && status == PLIANT_OK && !pl_poisson_full(grid); ++i)
    {
        vec3 a = pl_mesh_corner(mesh, edges[i].triangle, (int)edges[i].corner);
        vec3 b = pl_mesh_corner(mesh, edges[i].triangle, (int)(edges[i].corner + 1) % 3);
        double steps = 1 + floor(rim_length(mesh, &edges[i]) / (RIM_STEP * grid->distance));
        for (double n = 0; n < steps && status == PLIANT_OK && !pl_poisson_full(grid); ++n)
        {
            vec3 p = v3_mad(a, v3_sub(b, a), n / steps);
            if (pl_poisson_free_at(grid, p))
                status = pl_poisson_add(grid, p, edges[i].triangle);
            if (++work % 8192 == 0 && pl_task_step(s->task, 0))
                status = PLIANT_CANCELLED;
        }
    }
    pl_free(edges);
    return status;
}

pl_status pl_surface_noise(void* context, pl_poisson* grid)
{
    const pl_surface* s = context;
    double expected = pl_surface_noise_count(grid->distance, s->mesh->area);
    if (expected > PL_MOST_SAMPLES)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "A spacing of %g would take more than %u particles",
                       grid->distance, PL_MOST_SAMPLES);
    pl_rng rng = pl_rng_seed(s->seed);
    double step = s->mesh->area / PL_MAX(expected, 1.0);
    uint32_t quiet = 0;
    PL_TRY(walk_rim(s, grid));
    for (int i = 0; i < MOST_WALKS && quiet < 2; ++i)
    {
        uint32_t before = grid->count;
        PL_TRY(walk(s, step, &rng, grid, i));
        quiet = grid->count - before <= before / 200 ? quiet + 1 : 0;
    }
    if (!grid->count)
        PL_TRY(pl_poisson_add(grid, place_in(s->mesh, 0, &rng), 0));
    return PLIANT_OK;
}
