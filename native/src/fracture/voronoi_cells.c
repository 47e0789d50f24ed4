// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Prefractured bodies: every particle belongs to the Voronoi cell of one of a set of points in the
 * rest shape. An overloaded cluster is split between cells, not at the plane through its centre:
 *
 *     a a a | b b         cells of the cluster's members, sorted along the direction of largest
 *     a a c | b b         stretch, are divided where the masses of the sides are most nearly equal;
 *     c c c   d d         no particle is divided, and a cluster within one cell never breaks
 *
 * The points are the caller's, or are computed from the rest shape and the settings; the cells
 * follow from the points. Only the caller's points are saved.
 */
#include "base/rng.h"
#include "fracture/fracture_internal.h"

#include <stdlib.h>
#include <string.h>

/* Iterations of Lloyd relaxation (Lloyd 1982): enough to separate the points, few enough that the
 * cells still differ in size. */
enum
{
    LLOYD = 2
};

/* ------------------------------------------------------------------ Voronoi */

static vec3 rest_of(const pl_body* body, uint32_t id)
{
    return pl_rest_of(body, body->particles.slot_of[id]);
}

static uint32_t nearest(const vec3* points, uint32_t count, vec3 at)
{
    uint32_t found = 0;
    double best = INFINITY;
    for (uint32_t i = 0; i < count; ++i)
    {
        vec3 way = v3_sub(points[i], at);
        double square = v3_dot(way, way);
        if (square < best)
            best = square, found = i;
    }
    return found;
}

/* Number of particles that are not copies; their ids come first. */
static uint32_t first_ones(const pl_particles* p)
{
    uint32_t count = 0;
    while (count < p->id_count && p->parent[count] == count)
        ++count;
    return count;
}

/* Assigns each particle to the nearest point, and each copy to the cell of its parent. */
static void assign(const pl_body* body, const vec3* points, uint32_t count, uint32_t* cell)
{
    for (uint32_t id = 0; id < body->particles.id_count; ++id)
    {
        uint32_t parent = body->particles.parent[id];
        cell[id] = parent < id ? cell[parent] : nearest(points, count, rest_of(body, id));
    }
}

static void move_points(const pl_body* body, const uint32_t* cell, uint32_t count, vec3* points,
                        uint32_t* members)
{
    uint32_t first = first_ones(&body->particles);
    memset(members, 0, count * sizeof *members);
    for (uint32_t id = 0; id < first; ++id)
    {
        vec3* point = &points[cell[id]];
        *point = v3_add(members[cell[id]]++ ? *point : v3(0, 0, 0), rest_of(body, id));
    }
    for (uint32_t i = 0; i < count; ++i)
        if (members[i])
            points[i] = v3_scale(points[i], 1.0 / members[i]);
}

/* Starts with randomly chosen particles and relaxes them. */
static void choose_points(pl_body* body, uint32_t count, uint32_t seed, vec3* points,
                          uint32_t* members)
{
    uint32_t first = first_ones(&body->particles), *cell = body->fracture->cell;
    pl_rng rng = pl_rng_seed(seed);
    for (uint32_t i = 0; i < count; ++i)
        points[i] = rest_of(body, pl_rng_below(&rng, first));
    for (int round = 0; round < LLOYD; ++round)
    {
        assign(body, points, count, cell);
        move_points(body, cell, count, points, members);
    }
}

static pl_status make_cells(pl_body* body, uint32_t count)
{
    pl_fracture* f = body->fracture;
    vec3* points = PL_NEW(vec3, count);
    uint32_t* members = PL_NEW(uint32_t, count);
    bool fine = points && members &&
                pl_grow((void**)&f->cell_point, &f->cell_point_capacity, 3 * (size_t)count,
                        sizeof *f->cell_point);
    if (fine && !f->given_count)
        choose_points(body, count, f->desc.cell_seed, points, members);
    for (uint32_t i = 0; fine && i < count; ++i)
    {
        float* point = f->cell_point + 3 * (size_t)i;
        if (f->given_count)
            memcpy(point, f->given + 3 * (size_t)i, 3 * sizeof *point);
        else
            point[0] = (float)points[i].x, point[1] = (float)points[i].y,
            point[2] = (float)points[i].z;
        points[i] = v3_from(point); /* the same precision as PLIANT_CELL_POINT */
    }
    if (fine)
        assign(body, points, count, f->cell);
    pl_free(points);
    pl_free(members);
    return fine ? PLIANT_OK : pl_fail_memory(count * (sizeof *points + sizeof *members));
}

pl_status pl_voronoi_cells_ready(pl_body* body)
{
    pl_fracture* f = body->fracture;
    uint32_t ids = body->particles.id_count;
    uint32_t wanted = f->given_count ? f->given_count : f->desc.cells;
    if (wanted < 2)
        f->cell_count = 0;
    if (wanted < 2 || (f->cell_count == ids && f->cells_made == wanted &&
                       (f->given_count || f->cells_seed == f->desc.cell_seed)))
        return PLIANT_OK;
    if (!pl_grow((void**)&f->cell, &f->cell_capacity, ids, sizeof *f->cell))
        return pl_fail_memory(ids * sizeof *f->cell);
    f->cell_count = 0;
    PL_TRY(make_cells(body, wanted));
    f->cell_count = ids;
    f->cells_made = wanted;
    f->cells_seed = f->desc.cell_seed;
    return PLIANT_OK;
}

pl_status pl_voronoi_cells_give(pl_body* body, uint32_t count, float* points)
{
    pl_fracture* f = body->fracture;
    pl_free(f->given);
    f->given = points;
    f->given_count = count;
    f->cell_count = 0;
    return pl_voronoi_cells_ready(body);
}

/* ------------------------------------------------------------------ dividing cells */

/* The part of a cell that is in a cluster. */
typedef struct share
{
    uint32_t cell;
    double mass, along; /* along: mass times coordinate along the stretch, from the centre */
} share;

static int by_cell(const void* a, const void* b)
{
    const share *x = a, *y = b;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static int by_place(const void* a, const void* b)
{
    const share *x = a, *y = b;
    double gap = x->along / x->mass - y->along / y->mass;
    return gap < 0 ? -1 : gap > 0 ? 1 : by_cell(a, b);
}

static uint32_t join_shares(share* shares, uint32_t count)
{
    uint32_t kept = 0;
    qsort(shares, count, sizeof *shares, by_cell);
    for (uint32_t i = 0; i < count; ++i)
        if (kept && shares[kept - 1].cell == shares[i].cell)
        {
            shares[kept - 1].mass += shares[i].mass;
            shares[kept - 1].along += shares[i].along;
        }
        else
            shares[kept++] = shares[i];
    return kept;
}

/* First cell of the far side for the most equal masses. */
static uint32_t halve(share* shares, uint32_t count)
{
    double all = 0, sum = 0, best = INFINITY;
    uint32_t found = 1;
    qsort(shares, count, sizeof *shares, by_place);
    for (uint32_t i = 0; i < count; ++i)
        all += shares[i].mass;
    for (uint32_t i = 1; i < count; ++i)
    {
        sum += shares[i - 1].mass;
        if (fabs(2 * sum - all) < best)
            best = fabs(2 * sum - all), found = i;
    }
    return found;
}

/* The plane between the two sides, in the body's rest shape. */
static void place_plane(pl_breaking* b, uint32_t count)
{
    pl_plan* plan = &b->plan;
    const pl_particles* p = &b->body->particles;
    vec3 centre[2] = {{0, 0, 0}, {0, 0, 0}};
    double mass[2] = {0, 0}, edge[2] = {-INFINITY, INFINITY};
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t side = pl_voronoi_cells_side(b, b->ids[i]);
        double m = p->mass[p->slot_of[b->ids[i]]];
        centre[side] = v3_mad(centre[side], rest_of(b->body, b->ids[i]), m);
        mass[side] += m;
    }
    for (int side = 0; side < 2; ++side)
        centre[side] = v3_scale(centre[side], 1 / mass[side]);
    plan->rest_normal = v3_normalised(v3_sub(centre[1], centre[0]));
    for (uint32_t i = 0; i < count; ++i)
    {
        double at = v3_dot(v3_sub(rest_of(b->body, b->ids[i]), centre[0]), plan->rest_normal);
        if (pl_voronoi_cells_side(b, b->ids[i]))
            edge[1] = fmin(edge[1], at);
        else
            edge[0] = fmax(edge[0], at);
    }
    plan->rest_point = v3_mad(centre[0], plan->rest_normal, .5 * (edge[0] + edge[1]));
}

uint32_t pl_voronoi_cells_side(const pl_breaking* b, uint32_t id)
{
    return b->plan.cell_side[b->fracture->cell[id]];
}

pl_status pl_voronoi_cells_divide(pl_breaking* b, const pl_fit* fit, bool* parts)
{
    const pl_fracture* f = b->fracture;
    const pl_particles* p = &b->body->particles;
    pl_plan* plan = &b->plan;
    share* shares = PL_NEW(share, fit->count);
    *parts = false;
    if (!shares || !pl_grow((void**)&plan->cell_side, &plan->cell_side_capacity, f->cells_made, 1))
    {
        pl_free(shares);
        return pl_fail_memory(fit->count * sizeof *shares);
    }
    for (uint32_t i = 0; i < fit->count; ++i)
    {
        uint32_t slot = p->slot_of[b->ids[i]];
        vec3 x = v3(p->x[0][slot], p->x[1][slot], p->x[2][slot]);
        double m = p->mass[slot];
        shares[i] = (share){f->cell[b->ids[i]], m, m * v3_dot(v3_sub(x, fit->x), fit->normal)};
    }
    uint32_t count = join_shares(shares, fit->count);
    if (count > 1)
    {
        uint32_t first = halve(shares, count);
        for (uint32_t i = 0; i < count; ++i)
            plan->cell_side[shares[i].cell] = i >= first;
        place_plane(b, fit->count);
        *parts = true;
    }
    pl_free(shares);
    return PLIANT_OK;
}
