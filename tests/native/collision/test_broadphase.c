// SPDX-License-Identifier: GPL-3.0-or-later
/* Broad phase: pairs equal brute force, are sorted, and are filtered correctly. */
#include "native/support/contact_bodies.h"

#include <base/rng.h>
#include <collision/broadphase/broadphase.h>
#include <stdlib.h>
#include <string.h>

/* Every pair that may collide and whose boxes overlap, by testing all of them. */
static pl_pair_list brute_force(uint32_t count, const pl_proxy_pose* poses, uint32_t body_count,
                                const pl_pair_body* bodies)
{
    pl_pair_list list = {0};
    for (uint32_t m = 0; m < body_count; ++m)
        for (uint32_t a = bodies[m].first; a < bodies[m].first + bodies[m].count; ++a)
            for (uint32_t n = 0, b = 0; b < count; ++b)
            {
                while (b >= bodies[n].first + bodies[n].count)
                    ++n;
                const pl_collision_filter* filter = bodies[m].filter;
                uint32_t first = bodies[m].first, low = PL_MIN(a, b), high = PL_MAX(a, b);
                bool may = n == m ? bodies[m].self : (bodies[m].groups & bodies[n].groups) != 0;
                if (n == m && may && filter)
                {
                    may = !pl_collision_filter_shares(filter, a - first, b - first);
                    for (size_t h = 0; h < filter->held_count && may; ++h)
                        may = filter->held[h] != ((uint64_t)(low - first) << 32 | (high - first));
                }
                if (!may || a == b || !pl_pair_may_touch(&poses[a], &poses[b]))
                    continue;
                if (!pl_grow((void**)&list.pairs, &list.capacity, list.count + 1, sizeof(pl_pair)))
                    abort();
                list.pairs[list.count++] = (pl_pair){a, b};
            }
    return list;
}

static void check_same(const pl_pair_list* found, const pl_pair_list* all, const char* what)
{
    CHECK_MSG(found->count == all->count, "%s: %zu pairs, brute force finds %zu", what,
              found->count, all->count);
    CHECK_MSG(found->count != all->count || found->count == 0 ||
                  !memcmp(found->pairs, all->pairs, found->count * sizeof(pl_pair)),
              "%s: the pairs are others, or in another order", what);
}

/* Particles and shape fill all of the bounds. */
static void copy_bounds(pl_proxy_pose* pose)
{
    memcpy(pose->part_lower, pose->lower, sizeof pose->lower);
    memcpy(pose->part_upper, pose->upper, sizeof pose->upper);
    memcpy(pose->shape_lower, pose->lower, sizeof pose->lower);
    memcpy(pose->shape_upper, pose->upper, sizeof pose->upper);
}

static void random_boxes(uint32_t count, double size, double spread, uint64_t seed,
                         pl_proxy_pose* poses)
{
    pl_rng rng = pl_rng_seed(seed);
    for (uint32_t i = 0; i < count; ++i)
    {
        double scale = i % 50 == 0 ? 20 * spread : 1; /* some are much larger */
        for (int k = 0; k < 3; ++k)
        {
            double at = pl_rng_unit(&rng);
            double half = scale * size * pl_rng_unit(&rng);
            poses[i].lower[k] = at - half, poses[i].upper[k] = at + half;
        }
        copy_bounds(&poses[i]);
    }
}

TEST(pairs_of_random_boxes_equal_brute_force)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 5, 17, 256, 257, 1500};
    pl_pool* pools[3] = {NULL, pl_pool_create(2), pl_pool_create(3)};
    pl_broadphase b = {0};
    pl_pair_list found = {0};
    pl_proxy_pose* poses = calloc(1500, sizeof *poses);
    for (size_t n = 0; n < PL_COUNTOF(counts); ++n)
        for (uint32_t kind = 0; kind < 3; ++kind)
        {
            uint32_t count = counts[n], half = count / 2;
            random_boxes(count, kind == 2 ? 0 : .06, kind, n + 10 * kind, poses);
            pl_pair_body bodies[3] = {
                {0, half, 3, kind != 1, NULL, false, false},
                {half, half / 2, 1, true, NULL, false, false},
                {half + half / 2, count - half - half / 2, 2, false, NULL, false, false}};
            pl_pair_list all = brute_force(count, poses, 3, bodies);
            for (int p = 0; p < 3; ++p)
            {
                REQUIRE_OK(pl_broadphase_find(&b, count, poses, 0, 3, bodies, pools[p], &found));
                check_same(&found, &all, "random boxes");
            }
            CHECK(kind == 2 || count < 256 || all.count > 10);
            pl_pair_list_free(&all);
        }
    pl_broadphase_free(&b);
    pl_pair_list_free(&found);
    pl_pool_destroy(pools[1]);
    pl_pool_destroy(pools[2]);
    free(poses);
}

/* n clusters at a constant density: equal clumps of 500 on a grid, so that the number of neighbours
 * does not depend on n. */
static void clumps(uint32_t count, pl_proxy_pose* poses)
{
    enum
    {
        CLUMP = 500
    };
    uint32_t side = 1;
    random_boxes(CLUMP, .1, .05, 77, poses);
    while (side * side * side * CLUMP < count)
        ++side;
    for (uint32_t i = CLUMP; i < count; ++i)
    {
        uint32_t n = i / CLUMP;
        const double by[3] = {1.25 * (n % side), 1.25 * (n / side % side),
                              1.25 * (n / side / side)};
        for (int k = 0; k < 3; ++k)
        {
            poses[i].lower[k] = poses[i % CLUMP].lower[k] + by[k];
            poses[i].upper[k] = poses[i % CLUMP].upper[k] + by[k];
        }
        copy_bounds(&poses[i]);
    }
}

/* Visited tree nodes grow by at most n log n and a fifth, up to 50,000 clusters; the rest is a
 * fixed number of passes over all clusters. */
TEST(pairs_cost_n_log_n)
{
    static const uint32_t counts[] = {500, 5000, 50000};
    pl_proxy_pose* poses = calloc(50000, sizeof *poses);
    double first = 0, neighbours = 0;
    REQUIRE(poses != NULL);
    for (size_t i = 0; i < PL_COUNTOF(counts); ++i)
    {
        uint32_t n = counts[i];
        pl_broadphase b = {0};
        pl_pair_list found = {0};
        pl_pair_body body = {0, n, 1, true, NULL, false, false};
        clumps(n, poses);
        REQUIRE_OK(pl_broadphase_find(&b, n, poses, 0, 1, &body, NULL, &found));
        double cost = (double)b.visited / (n * log2(n)), each = (double)found.count / n;
        if (i == 0)
            first = cost, neighbours = each;
        CHECK_MSG(each > 1 && fabs(each - neighbours) < .01 * neighbours,
                  "%g pairs a cluster of %u, %g of 500", each, n, neighbours);
        CHECK_MSG(cost < 1.2 * first, "%u clusters: %g nodes, 500: %g, over n log n", n, cost,
                  first);
        pl_broadphase_free(&b);
        pl_pair_list_free(&found);
    }
    free(poses);
}

TEST(boxes_that_are_not_numbers_overlap_nothing)
{
    pl_proxy_pose poses[40];
    pl_broadphase b = {0};
    pl_pair_list found = {0};
    memset(poses, 0, sizeof poses);
    for (int i = 0; i < 40; ++i)
        for (int k = 0; k < 3; ++k)
            poses[i].lower[k] = 0, poses[i].upper[k] = 1;
    poses[7].lower[1] = poses[9].upper[2] = NAN;
    poses[11].upper[0] = INFINITY;
    for (int i = 0; i < 40; ++i)
        copy_bounds(&poses[i]);
    pl_pair_body body = {0, 40, 1, true, NULL, false, false};
    pl_pair_list all = brute_force(40, poses, 1, &body);
    REQUIRE_OK(pl_broadphase_find(&b, 40, poses, 0, 1, &body, NULL, &found));
    check_same(&found, &all, "boxes with NaN");
    CHECK(found.count == 38 * 37);
    pl_broadphase_free(&b);
    pl_pair_list_free(&found);
    pl_pair_list_free(&all);
}

static void free_bodies(int count, pl_body* bodies, pl_proxies* proxies,
                        pl_collision_filter* filter)
{
    for (int i = 0; i < count; ++i)
    {
        pl_collision_filter_free(&filter[i]);
        pl_proxies_free(&proxies[i]);
        pl_body_free(&bodies[i]);
    }
}

/* Two bodies, one of them bent into a C, as a step would see them. */
TEST(pairs_of_real_bodies_equal_brute_force)
{
    pl_body bodies[2];
    pl_proxies proxies[2];
    pl_collision_filter filter[2] = {{0}};
    pl_broadphase b = {0};
    pl_pair_list found = {0};
    REQUIRE(contact_body(&bodies[0], scene_points_box(40, 6, 6, 4, .6, .6, .6, 1), 60));
    REQUIRE(contact_body(&bodies[1], scene_points_ball(1500, .5, 2), 40));
    uint32_t counts[2] = {bodies[0].level_begin[1], bodies[1].level_begin[1]};
    pl_proxy_pose* poses = calloc(counts[0] + counts[1], sizeof *poses);
    pl_pair_body asked[2];
    for (int i = 0; i < 2; ++i)
    {
        pl_proxy_desc desc = pl_proxy_defaults(&bodies[i]);
        REQUIRE_OK(pl_proxies_build(&bodies[i], &desc, &proxies[i]));
        REQUIRE_OK(pl_collision_filter_make(&bodies[i], &proxies[i], 0, NULL, &filter[i]));
        asked[i] = (pl_pair_body){i ? counts[0] : 0, counts[i], 1, true, &filter[i], false, false};
    }
    for (int step = 0; step < 6; ++step)
    {
        mat3 f = m3_identity();
        f.m[0][1] = .3 * step, f.m[0][0] = 1 - .15 * step;
        contact_body_move(&bodies[0], f, v3(0, 0, 0));
        contact_body_move(&bodies[1], m3_identity(), v3(1.5 - .2 * step, .2, .7 - .1 * step));
        for (int i = 0; i < 2; ++i)
            pl_poses_set(&bodies[i], &proxies[i], 0, contact_no_drift, .01, 0, counts[i],
                         poses + asked[i].first);
        REQUIRE_OK(pl_broadphase_find(&b, counts[0] + counts[1], poses, 0, 2, asked, NULL, &found));
        pl_pair_list all = brute_force(counts[0] + counts[1], poses, 2, asked);
        check_same(&found, &all, "two bodies");
        CHECK(step == 0 || found.count > 0);
        pl_pair_list_free(&all);
    }
    free_bodies(2, bodies, proxies, filter);
    pl_broadphase_free(&b);
    pl_pair_list_free(&found);
    free(poses);
}

/* Moves a third of the clusters far away for a moment, so that overlapping pairs are released. */
static void set_free(pl_collision_filter* filter, uint32_t count, const pl_proxy_pose* poses)
{
    pl_proxy_pose* there = calloc(count, sizeof *there);
    memcpy(there, poses, count * sizeof *there);
    for (uint32_t c = 0; c < count; c += 3)
        for (int k = 0; k < 3; ++k)
        {
            double far = 100 + 10 * c;
            there[c].lower[k] += far, there[c].upper[k] += far, there[c].centre[k] += far;
        }
    for (uint64_t turn = 0; turn < PL_RELEASE_TURNS; ++turn)
        pl_collision_filter_release(filter, count, there, turn);
    free(there);
}

/* One body is stretched; the other swings, jumps away and changes its group for a while. Pairs are
 * released. */
TEST(remembered_pairs_equal_brute_force)
{
    pl_body bodies[2];
    pl_proxies proxies[2];
    pl_collision_filter filter[2] = {{0}};
    pl_broadphase b = {0};
    pl_pair_cache_within memory = {0};
    pl_pair_list found = {0};
    REQUIRE(contact_body(&bodies[0], scene_points_box(30, 5, 5, 3, .5, .5, .6, 1), 40));
    REQUIRE(contact_body(&bodies[1], scene_points_ball(800, .4, 2), 25));
    uint32_t counts[2] = {bodies[0].level_begin[1], bodies[1].level_begin[1]}, remembered = 0;
    pl_proxy_pose* poses = calloc(counts[0] + counts[1], sizeof *poses);
    pl_pair_body asked[2];
    for (int i = 0; i < 2; ++i)
    {
        pl_proxy_desc desc = pl_proxy_defaults(&bodies[i]);
        REQUIRE_OK(pl_proxies_build(&bodies[i], &desc, &proxies[i]));
        REQUIRE_OK(pl_collision_filter_make(&bodies[i], &proxies[i], .1, NULL, &filter[i]));
        asked[i] = (pl_pair_body){i ? counts[0] : 0, counts[i], 1, true, &filter[i], false, false};
    }
    size_t held = filter[0].held_count, most = 0, freed = 0;
    for (int step = 0; step < 320; ++step)
    {
        mat3 f = m3_identity();
        double jump = step == 90 ? 5 : 0;
        f.m[0][0] = 1 + .1 * sin(.03 * step);
        vec3 fall = v3(0, 0, -.3 * step); /* all of them */
        contact_body_move(&bodies[0], f, fall);
        contact_body_move(&bodies[1], m3_identity(),
                          v3_add(fall, v3(.2 + jump, .3 * sin(.04 * step) - .6, .1)));
        asked[1].groups = step > 120 && step < 130 ? 2 : 1;
        for (int i = 0; i < 2; ++i)
            pl_poses_set(&bodies[i], &proxies[i], 0, contact_no_drift, .1, 0, counts[i],
                         poses + asked[i].first);
        bool frees = step > 200 && memory.age == 1;
        if (frees)
            set_free(&filter[0], counts[0], poses);
        REQUIRE_OK(pl_pair_cache_within_update(&memory, &b, counts[0] + counts[1], poses, 2, asked,
                                               NULL, &found));
        remembered += memory.age > 0;
        freed += frees && memory.age > 0;
        pl_pair_list all = brute_force(counts[0] + counts[1], poses, 2, asked);
        check_same(&found, &all, "remembered pairs");
        most = PL_MAX(most, all.count);
        pl_pair_list_free(&all);
    }
    CHECK_MSG(filter[0].held_count < held && freed, "%zu of %zu pairs are held, set free %zu times",
              filter[0].held_count, held, freed);
    CHECK_MSG(remembered > 200 && most > 20, "%u times, %zu pairs", remembered, most);
    free_bodies(2, bodies, proxies, filter);
    pl_pair_cache_within_free(&memory);
    pl_broadphase_free(&b);
    pl_pair_list_free(&found);
    free(poses);
}

/* Three bodies rush through each other and stretch a little: pairs within each are cached, pairs
 * between them are not. One is in another group for a while, and one cluster becomes NaN at the
 * end. */
TEST(pairs_of_fast_bodies_equal_brute_force)
{
    enum
    {
        BODIES = 3
    };
    pl_body bodies[BODIES];
    pl_proxies proxies[BODIES];
    pl_collision_filter filter[BODIES] = {{0}};
    pl_broadphase b = {0};
    pl_pair_cache_within memory = {0};
    pl_pair_list found = {0};
    pl_pair_body asked[BODIES];
    uint32_t count = 0, remembered = 0, alone = 0, crossed = 0, within = 0;
    for (int i = 0; i < BODIES; ++i)
    {
        REQUIRE(contact_body(&bodies[i], scene_points_box(20, 5, 5, 2, .5, .5, .6, 1 + i), 30));
        pl_proxy_desc desc = pl_proxy_defaults(&bodies[i]);
        REQUIRE_OK(pl_proxies_build(&bodies[i], &desc, &proxies[i]));
        REQUIRE_OK(pl_collision_filter_make(&bodies[i], &proxies[i], .1, NULL, &filter[i]));
        asked[i] =
            (pl_pair_body){count, bodies[i].level_begin[1], 1, true, &filter[i], false, false};
        count += bodies[i].level_begin[1];
    }
    /* without a filter a body may touch itself everywhere */
    pl_collision_filter_free(&filter[0]);
    asked[0].filter = NULL;
    pl_proxy_pose* poses = calloc(count, sizeof *poses);
    for (int step = 0; step < 120; ++step)
    {
        for (int i = 0; i < BODIES; ++i)
        {
            mat3 f = m3_identity();
            f.m[0][0] = 1 + .002 * step;
            double along = .25 * (step - 60);
            vec3 at = i == 0 ? v3(along, 0, 0) : i == 1 ? v3(-along, .2, 0) : v3(0, along, .1);
            contact_body_move(&bodies[i], f, at);
            pl_poses_set(&bodies[i], &proxies[i], 0, contact_no_drift, .1, 0, asked[i].count,
                         poses + asked[i].first);
        }
        asked[2].groups = step > 58 && step < 62 ? 2 : 1;
        if (step > 100)
            poses[asked[1].first].part_lower[0] = poses[asked[1].first].shape_lower[1] = NAN;
        REQUIRE_OK(
            pl_pair_cache_within_update(&memory, &b, count, poses, BODIES, asked, NULL, &found));
        remembered += memory.own && memory.own->margin > 0 && memory.own->age > 0;
        pl_pair_list all = brute_force(count, poses, BODIES, asked);
        check_same(&found, &all, "pairs of fast bodies");
        uint32_t between = 0;
        for (size_t i = 0; i < all.count; ++i)
            between += b.body_of[all.pairs[i].a] != b.body_of[all.pairs[i].b];
        crossed += between > 0;
        alone += between == 0;
        within += between < all.count;
        pl_pair_list_free(&all);
    }
    CHECK_MSG(remembered > 60 && crossed > 5 && alone > 20 && within > 60,
              "remembered %u times, %u times across, %u not, %u within", remembered, crossed, alone,
              within);
    free_bodies(BODIES, bodies, proxies, filter);
    pl_pair_cache_within_free(&memory);
    pl_broadphase_free(&b);
    pl_pair_list_free(&found);
    free(poses);
}

TEST(clusters_that_share_or_touch_at_rest_do_not_collide)
{
    pl_body body;
    pl_proxies proxies;
    pl_collision_filter filter = {0};
    pl_broadphase b = {0};
    pl_pair_list found = {0};
    REQUIRE(contact_body(&body, scene_points_box(40, 6, 6, 4, .6, .6, .6, 1), 60));
    pl_proxy_desc desc = pl_proxy_defaults(&body);
    REQUIRE_OK(pl_proxies_build(&body, &desc, &proxies));
    REQUIRE_OK(pl_collision_filter_make(&body, &proxies, .01, NULL, &filter));
    uint32_t count = proxies.count;
    /* sharing, by brute force over members */
    for (uint32_t c = 0; c < count; ++c)
        for (uint32_t d = 0; d < count; ++d)
        {
            bool shares = false;
            for (uint32_t m = proxies.member_begin[c]; m < proxies.member_begin[c + 1]; ++m)
                for (uint32_t n = proxies.member_begin[d]; n < proxies.member_begin[d + 1]; ++n)
                    shares |= proxies.member_slot[m] == proxies.member_slot[n];
            CHECK(pl_collision_filter_shares(&filter, c, d) == (shares && c != d));
        }
    size_t held = filter.held_count;
    CHECK(held > 0);
    pl_proxy_pose* poses = calloc(count, sizeof *poses);
    pl_pair_body asked = {0, count, 1, true, &filter, false, false};
    contact_body_move(&body, m3_identity(), v3(0, 0, 0));
    pl_poses_set(&body, &proxies, 0, contact_no_drift, .01, 0, count, poses);
    REQUIRE_OK(pl_broadphase_find(&b, count, poses, 0, 1, &asked, NULL, &found));
    CHECK_MSG(found.count == 0, "at rest %zu pairs collide", found.count);
    /* a cluster leaves and returns: it may then collide with those it was apart from */
    uint32_t gone = (uint32_t)(filter.held[0] >> 32);
    poses[gone].lower[2] += 100, poses[gone].upper[2] += 100, poses[gone].centre[2] += 100;
    copy_bounds(&poses[gone]);
    for (uint64_t turn = 0; turn < 20 * PL_RELEASE_TURNS; ++turn)
        pl_collision_filter_release(&filter, count, poses, turn);
    REQUIRE_OK(pl_broadphase_find(&b, count, poses, 0, 1, &asked, NULL, &found));
    CHECK(found.count == 0 && filter.held_count < held);
    poses[gone].lower[2] -= 100, poses[gone].upper[2] -= 100, poses[gone].centre[2] -= 100;
    copy_bounds(&poses[gone]);
    for (uint64_t turn = 0; turn < PL_RELEASE_TURNS; ++turn)
        pl_collision_filter_release(&filter, count, poses, turn);
    REQUIRE_OK(pl_broadphase_find(&b, count, poses, 0, 1, &asked, NULL, &found));
    CHECK(found.count > 0);
    CHECK(found.count / 2 + filter.held_count <= held);
    for (size_t i = 0; i < found.count; ++i)
        CHECK(found.pairs[i].a == gone || found.pairs[i].b == gone);
    /* new memberships: released pairs of unchanged clusters stay released */
    uint8_t* changed = calloc(count, 1);
    size_t free_pairs = found.count;
    REQUIRE_OK(pl_collision_filter_make(&body, &proxies, .01, changed, &filter));
    REQUIRE_OK(pl_broadphase_find(&b, count, poses, 0, 1, &asked, NULL, &found));
    CHECK(found.count == free_pairs);
    changed[gone] = 1;
    REQUIRE_OK(pl_collision_filter_make(&body, &proxies, .01, changed, &filter));
    REQUIRE_OK(pl_broadphase_find(&b, count, poses, 0, 1, &asked, NULL, &found));
    CHECK(found.count == 0);
    asked.self = false;
    REQUIRE_OK(pl_broadphase_find(&b, count, poses, 0, 1, &asked, NULL, &found));
    CHECK(found.count == 0);
    free(changed);
    free(poses);
    pl_broadphase_free(&b);
    pl_pair_list_free(&found);
    pl_collision_filter_free(&filter);
    pl_proxies_free(&proxies);
    pl_body_free(&body);
}
