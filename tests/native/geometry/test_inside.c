// SPDX-License-Identifier: GPL-3.0-or-later
/* The inside map, and the Poisson-disk grid. */
#include "native/support/load_mesh.h"

#include <base/rng.h>
#include <geometry/inside.h>
#include <sampling/poisson.h>
#include <stdlib.h>

static vec3 random_in(vec3 lower, vec3 upper, pl_rng* rng)
{
    vec3 size = v3_sub(upper, lower);
    return v3(lower.x + size.x * pl_rng_unit(rng), lower.y + size.y * pl_rng_unit(rng),
              lower.z + size.z * pl_rng_unit(rng));
}

/* Half the points anywhere in the bounds, half within a cell of the surface. */
static void compare_map(const char* name, scene_mesh scene, double cell, double most_wrong)
{
    pl_mesh mesh = load(scene);
    pl_inside map;
    pl_rng rng = pl_rng_seed(5);
    const int count = 3000;
    int wrong = 0;
    REQUIRE_OK(pl_inside_init(&map, &mesh, cell, NULL, NULL));
    for (int i = 0; i < count; ++i)
    {
        vec3 p = random_in(mesh.lower, mesh.upper, &rng);
        if (i & 1)
            p = v3_add(pl_mesh_nearest(&mesh, p).point,
                       v3((pl_rng_unit(&rng) - .5) * cell, (pl_rng_unit(&rng) - .5) * cell,
                          (pl_rng_unit(&rng) - .5) * cell));
        wrong += pl_inside_at(&map, p) != (pl_mesh_inside(&mesh, p));
    }
    CHECK_MSG(wrong <= most_wrong * count, "%s: the map is wrong at %d of %d points", name, wrong,
              count);
    CHECK(!pl_inside_at(&map, v3_add(mesh.upper, v3(100, 0, 0))));
    CHECK(!pl_inside_at(&map, v3(NAN, 0, 0)) && !pl_inside_at(&map, v3(1e300, 0, 0)));
    pl_inside_free(&map);
    pl_mesh_free(&mesh);
}

TEST(the_map_agrees_with_winding_numbers)
{
    scene_mesh inner = scene_icosphere(.5f, 3), two = scene_icosphere(1, 3);
    scene_mesh other = scene_box(1, 1, 1, 2), apart = scene_box(1, 1, 1, 1);
    scene_mesh holes = scene_icosphere(1, 4), tilted = scene_box(1, 1, .02f, 3);
    scene_mesh_flip(&inner, 1);
    scene_mesh_append(&two, &inner);
    scene_mesh_move(&other, .9f, .1f, 0);
    scene_mesh_append(&two, &other);
    scene_mesh_move(&other, 300, 200, 100);
    scene_mesh_append(&apart, &other);
    scene_mesh_drop(&holes, 11);
    scene_mesh_turn(&tilted, 1, 2, 3, .7f);
    compare_map("box", scene_box(1, 1, 1, 1), .05, 0);
    compare_map("box with cells larger than it", scene_box(1, 1, 1, 1), 3, 0);
    compare_map("creature", scene_creature(4), .04, 0);
    compare_map("ring", scene_torus(1, .2f, 40, 20), .07, 0);
    compare_map("cavity and overlap", two, .08, 0);
    compare_map("far apart", apart, .1, 0);
    compare_map("thin and tilted", tilted, .05, 0);
    compare_map("holes", holes, .06, .03);
    scene_mesh_free(&inner);
    scene_mesh_free(&other);
}

TEST(the_map_is_the_same_for_every_thread_count)
{
    scene_mesh scene = scene_creature(4);
    scene_mesh_drop(&scene, 50);
    pl_mesh mesh = load(scene);
    pl_inside first;
    REQUIRE_OK(pl_inside_init(&first, &mesh, .03, NULL, NULL));
    for (uint32_t threads = 1; threads <= 3; ++threads)
    {
        pl_pool* pool = pl_pool_create(threads);
        pl_inside map;
        CHECK_OK(pl_inside_init(&map, &mesh, .03, pool, NULL));
        CHECK(map.block_count == first.block_count && map.cells_in == first.cells_in &&
              map.cells_surface == first.cells_surface &&
              map.cells_undecided == first.cells_undecided);
        for (uint32_t b = 0; b < map.block_count; ++b)
            for (uint32_t s = 0; s < map.blocks[b].surface_count; ++s)
                CHECK(map.blocks[b].winding[s] == first.blocks[b].winding[s]);
        pl_inside_free(&map);
        pl_pool_destroy(pool);
    }
    pl_inside_free(&first);
    pl_mesh_free(&mesh);
}

TEST(a_cell_size_beyond_all_counting_is_refused)
{
    pl_mesh mesh = load(scene_box(1, 1, 1, 1));
    pl_inside map;
    CHECK(pl_inside_init(&map, &mesh, 1e-12, NULL, NULL) == PLIANT_ERROR_ARGUMENT);
    pl_inside_free(&map);
    pl_mesh_free(&mesh);
}

TEST(the_grid_knows_which_places_are_free)
{
    const double sizes[] = {.3, .05, .011};
    for (size_t s = 0; s < PL_COUNTOF(sizes); ++s)
    {
        pl_poisson grid;
        pl_rng rng = pl_rng_seed(s);
        REQUIRE_OK(pl_poisson_init(&grid, sizes[s], v3(.2, .3, .1)));
        for (int i = 0; i < 4000; ++i)
        {
            vec3 p = random_in(v3(-.5, -.5, -.5), v3(.5, .5, .5), &rng);
            bool free = true;
            for (uint32_t k = 0; k < grid.count; ++k)
                free = free && v3_length(v3_sub(p, grid.points[k])) >= sizes[s];
            CHECK(pl_poisson_free_at(&grid, p) == free);
            if (free)
                CHECK_OK(pl_poisson_add(&grid, p, (uint32_t)i));
        }
        for (uint32_t i = 0; i < grid.count; ++i)
        {
            double best = INFINITY, distance2;
            uint32_t nearest = UINT32_MAX, found = pl_poisson_nearest(&grid, i, &distance2);
            for (uint32_t k = 0; k < grid.count; ++k)
            {
                double d = v3_length(v3_sub(grid.points[i], grid.points[k]));
                if (k != i && d < best)
                    best = d, nearest = k;
            }
            CHECK(best > 1.15 * sizes[s] || found == nearest);
            CHECK(i == 0 || grid.tags[i] > grid.tags[i - 1]);
        }
        pl_poisson_free(&grid);
    }
}
