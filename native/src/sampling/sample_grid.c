// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A regular grid in a volume, centred on the bounds: along each axis the centre is either a point
 * or halfway between two. That preserves symmetry, and gives eight phases to meet a wanted count,
 * which for boxes changes in large steps.
 */
#include "sampling/sample_internal.h"

static const double SPACINGS =
    .12; /* maximum relative distance of a spacing from the first guess */

typedef struct lattice
{
    double spacing;
    vec3 origin; /* one of its points */
} lattice;

/* Counts of one lattice. */
typedef struct tally
{
    uint32_t inside;
    uint64_t tried; /* points, and blocks */
} tally;

static lattice make_lattice(const pl_mesh* mesh, double spacing, int phase)
{
    vec3 half = v3(phase & 1 ? 0 : .5, phase & 2 ? 0 : .5, phase & 4 ? 0 : .5);
    vec3 centre = v3_scale(v3_add(mesh->lower, mesh->upper), .5);
    return (lattice){spacing, v3_mad(centre, half, spacing)};
}

/* Counts the points in one block of the map, and adds them to "out" unless that is NULL. */
static pl_status visit_block(const pl_volume* v, uint32_t index, const lattice* l, tally* seen,
                             pl_poisson* out)
{
    const pl_inside* map = &v->map;
    const pl_inside_block* block = &map->blocks[index];
    vec3 corner = pl_inside_corner(map, block, 0), size = v3(map->block, map->block, map->block);
    vec3 from = v3_max(corner, v->mesh->lower), to = v3_min(v3_add(corner, size), v->mesh->upper);
    vec3 low = v3_scale(v3_sub(from, l->origin), 1 / l->spacing);
    vec3 high = v3_scale(v3_sub(to, l->origin), 1 / l->spacing);
    const double margin = 1e-6;
    ++seen->tried; /* a block without points is work too */
    for (double z = ceil(low.z - margin); z < high.z + margin; ++z)
        for (double y = ceil(low.y - margin); y < high.y + margin; ++y)
            for (double x = ceil(low.x - margin); x < high.x + margin; ++x)
            {
                vec3 p = v3_mad(l->origin, v3(x, y, z), l->spacing);
                uint32_t cell;
                ++seen->tried;
                /* a point on the face between blocks belongs to one of them */
                if (pl_inside_find(map, p, &cell) != block || !pl_inside_cell(map, block, cell, p))
                    continue;
                ++seen->inside;
                if (out)
                    PL_TRY(pl_poisson_add(out, p, 0));
            }
    return PLIANT_OK;
}

static pl_status visit(pl_volume* v, const lattice* l, tally* seen, pl_poisson* out)
{
    *seen = (tally){0};
    for (uint32_t b = 0; b < v->map.block_count; ++b)
    {
        PL_TRY(visit_block(v, b, l, seen, out));
        if (b % 64 == 0 && pl_task_step(v->task, (double)b / v->map.block_count))
            return PLIANT_CANCELLED;
        if (seen->inside > PL_MOST_SAMPLES)
            return pl_fail(PLIANT_ERROR_ARGUMENT,
                           "A spacing of %g would take more than %u particles", l->spacing,
                           PL_MOST_SAMPLES);
    }
    return PLIANT_OK;
}

static uint32_t difference(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

typedef struct grid_search
{
    pl_volume* volume;
    uint32_t wanted, tolerance;
    lattice best;
    uint32_t best_count, last_count;
    uint64_t effort; /* remaining budget of tries: about a second */
} grid_search;

/* Tries a lattice. *over: it has the wanted count, or the budget is used up. */
static pl_status try_lattice(grid_search* g, double spacing, int phase, bool* over)
{
    lattice l = make_lattice(g->volume->mesh, spacing, phase);
    tally seen;
    PL_TRY(visit(g->volume, &l, &seen, NULL));
    uint32_t off = difference(seen.inside, g->wanted);
    if (seen.inside && (!g->best_count || off < difference(g->best_count, g->wanted)))
    {
        g->best_count = seen.inside;
        g->best = l;
    }
    g->last_count = seen.inside;
    *over = (seen.inside && off <= g->tolerance) || seen.tried > g->effort;
    g->effort -= PL_MIN(seen.tried, g->effort);
    return PLIANT_OK;
}

/* Plates and needles thinner than the spacing: a lattice through their middle. The exponent with
 * which the count falls depends on their thickness. Returns the best spacing. */
static pl_status search_thin(grid_search* g, double guess, bool* over, double* spacing)
{
    double low = guess, high = PL_MAX(guess, g->volume->mesh->extent);
    for (int i = 0; i < 24 && !*over; ++i)
    {
        double middle = sqrt(low * high);
        PL_TRY(try_lattice(g, middle, 7, over));
        *(g->last_count > g->wanted ? &low : &high) = middle;
    }
    *spacing = g->best.spacing;
    return PLIANT_OK;
}

/* First assumes that the count falls as the cube of the spacing, which suits most shapes. Then, for
 * boxes and the like, tries spacings around the guess, nearest first, with all eight phases. */
static pl_status search(grid_search* g, double guess)
{
    const int steps = g->wanted > 20000 ? 6 : 24;
    double spacing = guess;
    bool over = false;
    g->effort = g->volume->mesh->closed ? 1000000 + 160ull * g->wanted : 500000;
    for (int i = 0; i < 4 && !over; ++i)
    {
        PL_TRY(try_lattice(g, spacing, 0, &over));
        spacing *= cbrt(PL_CLAMP((double)g->last_count / g->wanted, .7, 1.4));
    }
    bool far = g->best_count > 2 * g->wanted || 2 * g->best_count < g->wanted;
    if (far && !over)
        PL_TRY(search_thin(g, guess, &over, &guess));
    for (int step = 0; step <= 2 * steps && !over; ++step)
    {
        double shift = (step & 1 ? 1 : -1) * ((step + 1) / 2) * SPACINGS / steps;
        for (int phase = 0; phase < 8 && !over; ++phase)
            PL_TRY(try_lattice(g, guess * (1 + shift), phase, &over));
    }
    return PLIANT_OK;
}

pl_status pl_grid_points(pl_volume* v, uint32_t count, double spacing, pl_poisson* out,
                         bool* missed)
{
    lattice l;
    tally found = {0};
    *missed = false;
    *out = (pl_poisson){0};
    double guess = spacing > 0 ? spacing : cbrt(v->volume / count);
    for (int halvings = 0; halvings < 4 && !found.inside; ++halvings, guess *= .5)
    {
        PL_TRY(pl_volume_refine(v, guess));
        if (spacing > 0)
            l = make_lattice(v->mesh, guess, 0);
        else
        {
            guess = PL_MIN(guess, cbrt(v->volume / count)); /* with the measured volume */
            grid_search g = {.volume = v, .wanted = count, .tolerance = count / 50};
            g.best = make_lattice(v->mesh, guess, 0);
            PL_TRY(search(&g, guess));
            l = g.best;
        }
        pl_poisson_free(out);
        PL_TRY(pl_poisson_init(out, l.spacing * (1 - 1e-6), l.origin));
        PL_TRY(visit(v, &l, &found, out));
    }
    *missed = spacing > 0 ? l.spacing != spacing : difference(out->count, count) > count / 50;
    return PLIANT_OK;
}
