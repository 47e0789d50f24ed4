// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/test.h"

#include <base/rng.h>
#include <geometry/kdtree.h>
#include <string.h>

#define MOST 2000

/* 0: a cube, 1: flat, 2: on a line, 3: few places many times, 4: a far outlier, 5: a grid */
static uint32_t make_points(int kind, uint32_t count, vec3* points)
{
    pl_rng rng = pl_rng_seed((uint64_t)kind * 977 + count);
    for (uint32_t i = 0; i < count; ++i)
    {
        vec3 p = pl_rng_unit3(&rng);
        if (kind == 1)
            p.z = 3;
        if (kind == 2)
            p.y = p.z = p.x;
        if (kind == 3)
            p = v3(pl_rng_below(&rng, 3), pl_rng_below(&rng, 2), 0);
        if (kind == 4 && i == 7)
            p.x = 1e9;
        if (kind == 5)
            p = v3(i % 10, i / 10 % 10, i / 100);
        points[i] = p;
    }
    return count;
}

static double distance2(vec3 a, vec3 b)
{
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

static const uint32_t sizes[] = {1, 2, 3, 15, 16, 17, 33, 500, MOST};

TEST(tree_ranges_are_those_of_brute_force)
{
    static vec3 points[MOST];
    static uint32_t found[MOST];
    static bool inside[MOST];
    for (int kind = 0; kind < 6; ++kind)
        for (size_t s = 0; s < PL_COUNTOF(sizes); ++s)
        {
            uint32_t n = make_points(kind, sizes[s], points);
            pl_kd tree;
            REQUIRE_OK(pl_kd_init(&tree, n, points));
            const double radii[] = {0, .1, .5, 1, sqrt(2.0), 3, 2e9};
            for (size_t r = 0; r < PL_COUNTOF(radii); ++r)
            {
                vec3 centre = points[n / 2];
                uint32_t count = pl_kd_within(&tree, centre, radii[r], found, MOST);
                uint32_t expected = 0;
                memset(inside, 0, sizeof inside);
                for (uint32_t i = 0; i < count; ++i)
                {
                    inside[tree.order[found[i]]] = true;
                    CHECK(i == 0 || found[i] > found[i - 1]);
                }
                for (uint32_t i = 0; i < n; ++i)
                {
                    bool in = distance2(points[i], centre) <= radii[r] * radii[r];
                    expected += in;
                    CHECK(in == inside[i]);
                }
                CHECK(count == expected);
                /* room for one only: all are counted, and nothing is written beyond */
                found[1] = 12345;
                CHECK(pl_kd_within(&tree, centre, radii[r], found, 1) == expected);
                CHECK(found[1] == 12345);
                CHECK(pl_kd_within(&tree, centre, radii[r], NULL, 0) == expected);
            }
            pl_kd_free(&tree);
        }
}

TEST(tree_nearest_points_are_those_of_brute_force)
{
    static vec3 points[MOST];
    for (int kind = 0; kind < 6; ++kind)
        for (size_t s = 0; s < PL_COUNTOF(sizes); ++s)
        {
            uint32_t n = make_points(kind, sizes[s], points);
            pl_kd tree;
            REQUIRE_OK(pl_kd_init(&tree, n, points));
            pl_rng rng = pl_rng_seed(5);
            for (int round = 0; round < 50; ++round)
            {
                vec3 p = v3(pl_rng_unit(&rng) * 2, pl_rng_unit(&rng), pl_rng_unit(&rng) * 4);
                if (round % 2)
                    p = points[pl_rng_below(&rng, n)];
                uint32_t best = 0;
                double second = INFINITY;
                for (uint32_t i = 1; i < n; ++i)
                {
                    double d = distance2(points[i], p), b = distance2(points[best], p);
                    second = fmin(second, d < b ? b : d);
                    best = d < b ? i : best;
                }
                pl_kd_hit hit = pl_kd_nearest(&tree, p, pl_rng_below(&rng, n));
                CHECK(tree.order[hit.place] == best);
                CHECK(hit.distance2 == distance2(points[best], p));
                CHECK(hit.second2 == second);
            }
            pl_kd_free(&tree);
        }
}

TEST(tree_partitions_are_even_and_compact)
{
    static vec3 points[MOST];
    static uint32_t order[MOST];
    static uint32_t seen[MOST];
    make_points(0, MOST, points);
    const uint32_t parts[] = {1, 2, 7, 64, 1999, MOST};
    for (size_t p = 0; p < PL_COUNTOF(parts); ++p)
    {
        memset(seen, 0, sizeof seen);
        REQUIRE_OK(pl_kd_partition(MOST, points, parts[p], order));
        for (uint32_t i = 0; i < MOST; ++i)
            ++seen[order[i]];
        for (uint32_t i = 0; i < MOST; ++i)
            CHECK(seen[i] == 1);
    }
    /* Sixty-four boxes of the unit cube: each about a quarter on a side, none over two. */
    REQUIRE_OK(pl_kd_partition(MOST, points, 64, order));
    for (uint32_t j = 0; j < 64; ++j)
    {
        vec3 lower = v3(2, 2, 2), upper = v3(-1, -1, -1);
        for (uint32_t i = MOST * j / 64; i < MOST * (j + 1) / 64; ++i)
        {
            vec3 q = points[order[i]];
            lower = v3(fmin(lower.x, q.x), fmin(lower.y, q.y), fmin(lower.z, q.z));
            upper = v3(fmax(upper.x, q.x), fmax(upper.y, q.y), fmax(upper.z, q.z));
        }
        CHECK(upper.x - lower.x < .5 && upper.y - lower.y < .5 && upper.z - lower.z < .5);
    }
}
