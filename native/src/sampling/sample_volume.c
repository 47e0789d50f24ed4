// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The volume that a mesh encloses.
 *
 * A closed mesh encloses one if the divergence theorem gives one. An open mesh encloses one if its
 * winding numbers are high: inside a closed mesh they are 1, inside one with holes somewhat less,
 * in front of a sheet at most 1/2. The threshold is a mean of .77 over all inside points: a box
 * without lid (.83) and a ball that lacks a quarter of its height (.82) enclose a volume, half a
 * sphere (.71) and a tray (.69) do not.
 *
 * Its size: the inside cells of the map, plus a Monte Carlo estimate of the cells at the surface.
 * If the divergence theorem agrees within the estimate's error, its exact value is used. Otherwise
 * shells overlap or holes are large, and the estimate is used.
 */
#include "base/rng.h"
#include "sampling/sample_internal.h"

/* Sample points in cells at the surface; fewer if each needs a winding number. */
enum
{
    ASKED = 40000,
    ASKED_OF_OPEN = 10000
};

static const double DECIDED = .77;
/* Minimum thickness of a volume over the mesh's size. */
static const double THINNEST = 1e-7;

static bool is_something(const pl_mesh* mesh, double volume)
{
    return volume > THINNEST * mesh->area * mesh->extent;
}

/* ------------------------------------------------------------------ open meshes */

static vec3 triangle_middle(const pl_mesh* mesh, uint32_t t)
{
    vec3 sum = v3_add(pl_mesh_corner(mesh, t, 0),
                      v3_add(pl_mesh_corner(mesh, t, 1), pl_mesh_corner(mesh, t, 2)));
    return v3_scale(sum, 1.0 / 3);
}

/* For shapes that samples in the bounds miss: samples near the surface, on both sides. */
static bool is_decided_near_surface(const pl_mesh* mesh)
{
    const uint32_t probes = PL_MIN(mesh->triangle_count, 1000u);
    uint32_t inside = 0;
    double sum = 0;
    for (uint32_t i = 0; i < probes; ++i)
    {
        uint32_t t = (uint32_t)((uint64_t)i * mesh->triangle_count / probes);
        vec3 a = pl_mesh_corner(mesh, t, 0), middle = triangle_middle(mesh, t);
        vec3 normal = v3_normalised(
            v3_cross(v3_sub(pl_mesh_corner(mesh, t, 1), a), v3_sub(pl_mesh_corner(mesh, t, 2), a)));
        double step = 1e-4 * mesh->extent;
        double front = pl_mesh_insideness(mesh, v3_mad(middle, normal, step));
        double back = pl_mesh_insideness(mesh, v3_mad(middle, normal, -step));
        double most = PL_MAX(front, back);
        inside += most > .5;
        sum += most > .5 ? most : 0;
    }
    return inside > probes / 2 && sum > DECIDED * inside;
}

static bool is_decided(const pl_mesh* mesh)
{
    const int side = 12;
    vec3 size = v3_sub(mesh->upper, mesh->lower);
    pl_rng rng = pl_rng_seed(17);
    uint32_t inside = 0;
    double sum = 0;
    for (int i = 0; i < side * side * side; ++i)
    {
        vec3 cell = v3(i % side, i / side % side, i / side / side);
        vec3 at = v3_scale(v3_add(cell, pl_rng_unit3(&rng)), 1.0 / side);
        double w = pl_mesh_insideness(
            mesh, v3_add(mesh->lower, v3(at.x * size.x, at.y * size.y, at.z * size.z)));
        inside += w > .5;
        sum += w > .5 ? w : 0;
    }
    if (inside < 30)
        return is_decided_near_surface(mesh);
    return sum > DECIDED * inside;
}

/* ------------------------------------------------------------------ measuring */

/* Monte Carlo estimate of the volume inside undecided and surface cells, with its deviation. */
static double undecided_part(const pl_volume* v, double* deviation)
{
    const pl_inside* map = &v->map;
    const uint64_t wanted = v->mesh->closed ? ASKED : ASKED_OF_OPEN;
    uint64_t cells = map->cells_surface + map->cells_undecided, step = cells / wanted + 1;
    uint64_t each = cells ? wanted / cells + 1 : 0, seen = 0, asked = 0, inside = 0;
    pl_rng rng = pl_rng_seed(29);
    for (uint32_t b = 0; b < map->block_count; ++b)
        for (uint32_t c = 0; c < PL_INSIDE_CELLS; ++c)
        {
            const pl_inside_block* block = &map->blocks[b];
            if (pl_inside_kind(block, c) < PL_CELL_UNDECIDED || seen++ % step)
                continue;
            for (uint64_t i = 0; i < each; ++i, ++asked)
            {
                vec3 at = pl_rng_unit3(&rng);
                inside += pl_inside_cell(map, block, c,
                                         v3_mad(pl_inside_corner(map, block, c), at, map->cell));
            }
        }
    double part = (double)inside / PL_MAX((double)asked, 1.0);
    double guess = (inside + 1.0) / (asked + 2.0);
    *deviation = (double)cells * sqrt(guess * (1 - guess) / PL_MAX((double)asked, 1.0));
    return part * (double)cells;
}

static void measure(pl_volume* v)
{
    double deviation, cell = v->map.cell * v->map.cell * v->map.cell;
    double cells = (double)v->map.cells_in + undecided_part(v, &deviation);
    double measured = cells * cell, error = 4 * deviation * cell + 1e-3 * measured;
    bool agrees = v->mesh->closed && fabs(v->mesh->volume - measured) <= error;
    v->measured = true;
    /* 0 in a closed mesh: too thin for these cells. */
    if (!agrees && (measured > 0 || !v->mesh->closed))
        v->volume = measured;
}

static pl_status make_map(pl_volume* v, double cell)
{
    pl_inside_free(&v->map);
    return pl_inside_init(&v->map, v->mesh, cell, v->pool, v->task);
}

/* Cell size for measuring: about thirty thousand in the bounds, however flat these are. */
static double measuring_cell(const pl_mesh* mesh)
{
    vec3 size = v3_sub(mesh->upper, mesh->lower);
    double least = mesh->extent / 200;
    double bounds = PL_MAX(size.x, least) * PL_MAX(size.y, least) * PL_MAX(size.z, least);
    return PL_MAX(cbrt(bounds / 3e4), mesh->extent / 400);
}

pl_status pl_volume_init(pl_volume* v, const pl_mesh* mesh, bool doubtful, pl_pool* pool,
                         pl_task* task)
{
    *v = (pl_volume){.mesh = mesh, .pool = pool, .task = task};
    if (!mesh->tree)
        return PLIANT_OK;
    if (mesh->closed)
    {
        v->volume = is_something(mesh, mesh->volume) ? mesh->volume : 0;
        return PLIANT_OK;
    }
    if (!doubtful && !is_decided(mesh))
        return PLIANT_OK;
    PL_TRY(make_map(v, measuring_cell(mesh)));
    measure(v);
    if (!is_something(mesh, v->volume))
        v->volume = 0;
    return PLIANT_OK;
}

void pl_volume_free(pl_volume* v)
{
    pl_inside_free(&v->map);
}

/* The cell size of blue noise. Larger if the volume is thinner than the spacing, since no cell is
 * completely inside then, and so that surface cells are not many more than particles: a soup with
 * little volume has a large surface. */
static double suitable_cell(const pl_volume* v, double spacing)
{
    double area = v->mesh->area, thickness = 2 * v->volume / area;
    double count = v->volume / (spacing * spacing * spacing);
    double cell = spacing / sqrt(3) * (thickness < .5 * spacing ? 4 : 1);
    return PL_MAX(cell, sqrt(area / (3e5 + 4 * count)));
}

pl_status pl_volume_refine(pl_volume* v, double spacing)
{
    double cell = suitable_cell(v, spacing);
    if (!v->measured && cell > measuring_cell(v->mesh))
    {
        PL_TRY(make_map(v, measuring_cell(v->mesh)));
        measure(v);
    }
    if (v->map.blocks && v->map.cell > .8 * cell && v->map.cell < 1.25 * cell)
        return PLIANT_OK;
    PL_TRY(make_map(v, cell));
    if (!v->measured)
        measure(v);
    return PLIANT_OK;
}
