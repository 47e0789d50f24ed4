// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Blue noise on a surface, by throwing darts (Cook 1986) that keep a distance in space.
 *
 * The surface is walked triangle by triangle, dart by dart at equal steps of area, about one dart
 * for each point that will fit; then again, and again, with other random places in the triangles.
 * So no table of areas has to be searched, darts fall evenly, and each walk fills gaps that the
 * walks before it left, until hardly any are found.
 */
#include "../base/rng.h"
#include "sample_parts.h"

enum
{
    MOST_WALKS = 40
};

/* n distance^2 = PACKING area, on a surface that is smooth at that distance. (Darts without end
 * would reach .70, slowly.) */
static const double PACKING = .605;

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
