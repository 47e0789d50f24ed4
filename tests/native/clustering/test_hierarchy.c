// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/clouds.h"
#include "native/support/test.h"

#include <clustering/hierarchy.h>
#include <stdlib.h>
#include <string.h>

static pliant_levels_desc levels_desc(uint32_t count)
{
    return (pliant_levels_desc){
        .size = sizeof(pliant_levels_desc), .count = count, .reduction = 8, .radius_multiplier = 2};
}

static pl_status build(const cloud* c, const pliant_cluster_desc* cluster,
                       const pliant_levels_desc* levels, pl_pool* pool, pl_task* task,
                       pl_hierarchy* h)
{
    pl_clustering finest;
    pl_status status =
        pl_cluster(c->count, c->points, c->masses, c->shell, cluster, pool, task, &finest);
    *h = (pl_hierarchy){0};
    if (status == PLIANT_OK)
        status = pl_hierarchy_build(c->count, c->points, c->masses, c->shell, cluster, levels,
                                    &finest, pool, task, h);
    pl_clustering_free(&finest);
    return status;
}

/* ------------------------------------------------------------------ weights */

static void check_weights(uint32_t weighting, uint32_t fine, double a, double b, uint32_t count,
                          const double* expected)
{
    pliant_levels_desc levels = levels_desc(count);
    levels.weighting = weighting;
    levels.favour_fine = fine;
    levels.a = a;
    levels.b = b;
    double weights[PLIANT_MAX_LEVELS], sum = 0, wanted = 0;
    REQUIRE_OK(pl_level_weights(&levels, count, weights));
    for (uint32_t l = 0; l < count; ++l)
        wanted += expected[l];
    for (uint32_t l = 0; l < PLIANT_MAX_LEVELS; ++l)
    {
        CHECK_NEAR(weights[l], l < count ? expected[l] / wanted : 0, 1e-12);
        sum += weights[l];
    }
    CHECK_NEAR(sum, 1, 1e-12);
}

TEST(level_weights_are_equations_14_to_21)
{
    const double one[] = {1, 1, 1, 1, 1, 1};
    check_weights(PLIANT_WEIGHT_UNIFORM, 0, 0, 0, 6, one);
    check_weights(PLIANT_WEIGHT_UNIFORM, 1, 0, 0, 3, one);
    /* 15 and 16: l + epsilon, L - l - 1 + epsilon */
    const double linear_coarse[] = {.01, 1.01, 2.01}, linear_fine[] = {2.01, 1.01, .01};
    check_weights(PLIANT_WEIGHT_LINEAR, 0, -1, -1, 3, linear_coarse);
    check_weights(PLIANT_WEIGHT_LINEAR, 1, -1, -1, 3, linear_fine);
    const double linear_own[] = {.5, 1.5, 2.5, 3.5};
    check_weights(PLIANT_WEIGHT_LINEAR, 0, .5, 0, 4, linear_own);
    /* 17 and 18: exp(-l^2/2), exp(-(L - l - 1)^2/2) */
    const double gaussian_fine[] = {1, .60653065971263342, .13533528323661270, .011108996538242306};
    const double gaussian_coarse[] = {.011108996538242306, .13533528323661270, .60653065971263342,
                                      1};
    check_weights(PLIANT_WEIGHT_GAUSSIAN, 1, 0, 0, 4, gaussian_fine);
    check_weights(PLIANT_WEIGHT_GAUSSIAN, 0, 0, 0, 4, gaussian_coarse);
    /* 19 and 20: (1 + b l/L)^c, with l/L and not l/(L - 1) */
    const double polynomial_coarse[] = {1, 169. / 9, 529. / 9};
    const double polynomial_fine[] = {529. / 9, 169. / 9, 1};
    check_weights(PLIANT_WEIGHT_POLYNOMIAL, 0, -1, -1, 3, polynomial_coarse);
    check_weights(PLIANT_WEIGHT_POLYNOMIAL, 1, 10, 2, 3, polynomial_fine);
    const double polynomial_own[] = {1, 2.5};
    check_weights(PLIANT_WEIGHT_POLYNOMIAL, 0, 3, 1, 2, polynomial_own);
    /* 0 is 0, and -1 is the paper's value */
    const double linear_zero[] = {0, 1, 2};
    check_weights(PLIANT_WEIGHT_LINEAR, 0, 0, 0, 3, linear_zero);
    check_weights(PLIANT_WEIGHT_POLYNOMIAL, 0, 0, 2, 3, one);
    check_weights(PLIANT_WEIGHT_POLYNOMIAL, 0, 10, 0, 3, one);
    check_weights(PLIANT_WEIGHT_POLYNOMIAL, 1, 10, -1, 3, polynomial_fine);
    /* a single level has all weight, by any scheme */
    for (uint32_t weighting = 0; weighting < PLIANT_WEIGHT_MANUAL; ++weighting)
        for (uint32_t fine = 0; fine < 2; ++fine)
            check_weights(weighting, fine, 0, 0, 1, one);
}

TEST(manual_weights_are_normalised_and_checked)
{
    pliant_levels_desc levels = levels_desc(3);
    levels.weighting = PLIANT_WEIGHT_MANUAL;
    double weights[PLIANT_MAX_LEVELS];
    levels.weights[0] = 6, levels.weights[1] = 0, levels.weights[2] = 2, levels.weights[3] = 99;
    REQUIRE_OK(pl_level_weights(&levels, 3, weights));
    CHECK_NEAR(weights[0], .75, 1e-15);
    CHECK(weights[1] == 0 && weights[3] == 0);
    CHECK_NEAR(weights[2], .25, 1e-15);
    levels.weights[1] = -.5;
    CHECK(pl_level_weights(&levels, 3, weights) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "level 1 is -0.5") != NULL);
    levels.weights[1] = NAN;
    CHECK(pl_level_weights(&levels, 3, weights) == PLIANT_ERROR_ARGUMENT);
    levels.weights[1] = INFINITY;
    CHECK(pl_level_weights(&levels, 3, weights) == PLIANT_ERROR_ARGUMENT);
    memset(levels.weights, 0, sizeof levels.weights);
    CHECK(pl_level_weights(&levels, 3, weights) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "sum to 0") != NULL);
}

/* ------------------------------------------------------------------ levels */

/* Members of a level above the finest: every cluster below is in at least one, and its values sum
 * to 1. */
static void check_nested(const pl_clustering* fine, const pl_clustering* coarse)
{
    double* sums = calloc(fine->count, sizeof *sums);
    for (uint32_t k = 0; k < coarse->count; ++k)
    {
        CHECK(coarse->begin[k + 1] > coarse->begin[k]);
        for (uint32_t e = coarse->begin[k]; e < coarse->begin[k + 1]; ++e)
        {
            REQUIRE(coarse->particle[e] < fine->count);
            CHECK(e == coarse->begin[k] || coarse->particle[e] > coarse->particle[e - 1]);
            CHECK(coarse->kernel[e] > 0 && coarse->kernel[e] <= 1);
            sums[coarse->particle[e]] += coarse->kernel[e];
        }
    }
    for (uint32_t f = 0; f < fine->count; ++f)
        CHECK_NEAR(sums[f], 1, 1e-6);
    free(sums);
}

/* A particle's weights in the clusters of a level, composed through all levels below, sum to 1. */
static void check_composed(const cloud* c, const pl_hierarchy* h)
{
    double* sums = clustering_sums(c, &h->level[0]);
    double* share = calloc(h->level[0].count, sizeof *share);
    double whole = 0;
    for (uint32_t k = 0; k < h->level[0].count; ++k)
        for (uint32_t e = h->level[0].begin[k]; e < h->level[0].begin[k + 1]; ++e)
        {
            uint32_t i = h->level[0].particle[e];
            share[k] += c->masses[i] * h->level[0].kernel[e] / sums[i];
        }
    for (uint32_t i = 0; i < c->count; ++i)
        whole += c->masses[i];
    for (uint32_t l = 1; l < h->level_count; ++l)
    {
        const pl_clustering* g = &h->level[l];
        double* next = calloc(g->count, sizeof *next);
        double total = 0;
        for (uint32_t k = 0; k < g->count; ++k)
        {
            for (uint32_t e = g->begin[k]; e < g->begin[k + 1]; ++e)
                next[k] += share[g->particle[e]] * g->kernel[e];
            total += next[k];
        }
        CHECK_NEAR(total / whole, 1, 1e-6);
        free(share);
        share = next;
    }
    free(share);
    free(sums);
}

static void check_counts(const pl_hierarchy* h, const uint32_t* counts, uint32_t levels)
{
    CHECK_MSG(h->level_count == levels, "%u levels, not %u", h->level_count, levels);
    for (uint32_t l = 0; l < PL_MIN(levels, h->level_count); ++l)
        CHECK_MSG(h->level[l].count == counts[l], "level %u has %u clusters, not %u", l,
                  h->level[l].count, counts[l]);
}

/* Four levels of both kinds, each with an eighth of the clusters of the one below. */
static void check_four_levels(const cloud* c, const uint32_t counts[4], double radius)
{
    for (uint32_t kind = 0; kind <= PLIANT_LEVELS_INDEPENDENT; ++kind)
    {
        pliant_cluster_desc cluster = cloud_desc(counts[0], radius);
        pliant_levels_desc levels = levels_desc(0);
        levels.kind = kind;
        pl_hierarchy h;
        REQUIRE_OK(build(c, &cluster, &levels, NULL, NULL, &h));
        check_counts(&h, counts, 4);
        for (uint32_t l = 0; l < h.level_count; ++l)
        {
            CHECK(h.level[l].converged && h.level[l].strays == 0);
            CHECK_NEAR(h.weight[l], .25, 1e-15);
            if (l > 0) /* twice the radius below, or larger by whole tries */
            {
                double tries = log(h.level[l].radius / h.level[l - 1].radius / 2) / log(1.25);
                CHECK_NEAR(tries, round(tries), 1e-9);
                CHECK(tries > -.1 && (tries > .5) == h.level[l].grown);
            }
            if (l > 0 && kind == PLIANT_LEVELS_INDEPENDENT)
                check_clustering(c, &h.level[l], &cluster);
            if (l > 0 && kind == PLIANT_LEVELS_NESTED)
                check_nested(&h.level[l - 1], &h.level[l]);
        }
        if (kind == PLIANT_LEVELS_NESTED)
            check_composed(c, &h);
        pl_hierarchy_free(&h);
    }
}

TEST(levels_of_the_bunny_have_the_published_counts)
{
    const uint32_t counts[] = {330, 41, 5, 1};
    cloud c = cloud_published("bunny-16525");
    if (c.count)
        check_four_levels(&c, counts, .2);
    else
        test_skip("bunny-16525 is not there");
    cloud_free(&c);
}

TEST(levels_of_a_creature_have_the_counts_of_the_rule)
{
    const uint32_t counts[] = {200, 25, 3, 1};
    cloud c = cloud_sampled(scene_creature(4), 3000);
    check_four_levels(&c, counts, .22);
    cloud_free(&c);
}

TEST(levels_of_a_large_body_have_the_published_counts)
{
    const uint32_t counts[] = {8192, 1024, 128, 16, 2, 1};
    cloud c = cloud_box(32, 32, 32, 1);
    pliant_cluster_desc cluster = cloud_desc(8192, 0);
    pliant_levels_desc levels = levels_desc(0);
    levels.weighting = PLIANT_WEIGHT_LINEAR;
    levels.favour_fine = 1;
    pl_pool* pool = pl_pool_create(0);
    pl_hierarchy h;
    REQUIRE_OK(build(&c, &cluster, &levels, pool, NULL, &h));
    check_counts(&h, counts, 6);
    for (uint32_t l = 1; l < h.level_count; ++l)
    {
        check_nested(&h.level[l - 1], &h.level[l]);
        CHECK(h.weight[l] < h.weight[l - 1]);
    }
    check_composed(&c, &h);
    pl_hierarchy_free(&h);
    pl_pool_destroy(pool);
    cloud_free(&c);
}

TEST(levels_stop_where_asked_and_where_they_must)
{
    cloud c = cloud_box(12, 12, 12, 1);
    pliant_cluster_desc cluster = cloud_desc(60, 0);
    for (uint32_t count = 1; count <= 20; count += 1 + (count > 4) * 14)
    {
        pliant_levels_desc levels = levels_desc(count);
        pl_hierarchy h;
        const uint32_t counts[] = {60, 7, 1};
        REQUIRE_OK(build(&c, &cluster, &levels, NULL, NULL, &h));
        check_counts(&h, counts, PL_MIN(count, 3u));
        pl_hierarchy_free(&h);
    }
    /* a reduction so slow that the limit of levels applies first */
    pliant_levels_desc levels = levels_desc(0);
    levels.reduction = 2;
    pl_hierarchy h;
    const uint32_t counts[] = {60, 30, 15, 7, 3, 1};
    REQUIRE_OK(build(&c, &cluster, &levels, NULL, NULL, &h));
    check_counts(&h, counts, 6);
    pl_hierarchy_free(&h);
    cloud_free(&c);
}

/* The same clusters, in whatever order. */
static bool same_clusters(const pl_clustering* a, const pl_clustering* b)
{
    uint32_t found = 0;
    if (a->count != b->count || a->radius != b->radius || a->begin[a->count] != b->begin[b->count])
        return false;
    for (uint32_t i = 0; i < a->count; ++i)
        for (uint32_t j = 0; j < b->count; ++j)
        {
            uint32_t size = a->begin[i + 1] - a->begin[i];
            found += memcmp(&a->centres[i], &b->centres[j], sizeof(vec3)) == 0 &&
                     size == b->begin[j + 1] - b->begin[j] &&
                     memcmp(a->particle + a->begin[i], b->particle + b->begin[j], size * 4) == 0 &&
                     memcmp(a->kernel + a->begin[i], b->kernel + b->begin[j], size * 4) == 0;
        }
    return found == a->count;
}

TEST(one_level_is_the_clustering_itself)
{
    cloud c = cloud_box(9, 9, 9, 1);
    pliant_cluster_desc cluster = cloud_desc(24, 0);
    pl_clustering alone;
    REQUIRE_OK(cloud_cluster(&c, &cluster, NULL, &alone));
    for (uint32_t kind = 0; kind <= PLIANT_LEVELS_INDEPENDENT; ++kind)
    {
        pliant_levels_desc levels = levels_desc(1);
        levels.kind = kind;
        pl_hierarchy h;
        REQUIRE_OK(build(&c, &cluster, &levels, NULL, NULL, &h));
        CHECK(h.level_count == 1 && h.weight[0] == 1);
        CHECK(same_clusters(&alone, &h.level[0]));
        pl_hierarchy_free(&h);
    }
    pl_clustering_free(&alone);
    cloud_free(&c);
}

/* The points of a nested level are the centres of mass of the clusters below: a single coarse
 * cluster's centre is then the centre of mass of the body. */
TEST(a_single_coarse_cluster_is_centred_on_the_body)
{
    cloud c = cloud_box(10, 8, 6, 3);
    vec3 centre = v3(0, 0, 0);
    double mass = 0;
    for (uint32_t i = 0; i < c.count; ++i)
    {
        centre = v3_mad(centre, c.points[i], c.masses[i]);
        mass += c.masses[i];
    }
    centre = v3_scale(centre, 1 / mass);
    for (uint32_t kind = 0; kind <= PLIANT_LEVELS_INDEPENDENT; ++kind)
        for (uint32_t kernel = 0; kernel <= PLIANT_KERNEL_FCM; ++kernel)
            for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_KMEANS; ++algorithm)
            {
                pliant_cluster_desc cluster = cloud_desc(40, 0);
                pliant_levels_desc levels = levels_desc(0);
                levels.kind = kind;
                cluster.kernel = kernel;
                cluster.algorithm = algorithm;
                pl_hierarchy h;
                REQUIRE_OK(build(&c, &cluster, &levels, NULL, NULL, &h));
                const pl_clustering* top = &h.level[h.level_count - 1];
                CHECK(top->count == 1);
                CHECK(v3_length(v3_sub(top->centres[0], centre)) < 1e-9 * top->radius);
                pl_hierarchy_free(&h);
            }
    cloud_free(&c);
}

TEST(levels_keep_shells_apart)
{
    cloud c = cloud_box(14, 10, 10, 4);
    c.shell = calloc(c.count, sizeof *c.shell);
    for (uint32_t i = 0; i < c.count; ++i)
        c.shell[i] = c.points[i].x < .3 ? 5 : c.points[i].x < .9 ? 11 : 3;
    for (uint32_t kind = 0; kind <= PLIANT_LEVELS_INDEPENDENT; ++kind)
    {
        pliant_cluster_desc cluster = cloud_desc(60, 0);
        pliant_levels_desc levels = levels_desc(0);
        levels.kind = kind;
        pl_hierarchy h;
        REQUIRE_OK(build(&c, &cluster, &levels, NULL, NULL, &h));
        CHECK(h.level_count == 3);
        CHECK(h.level[0].count == 60 && h.level[1].count == 7 && h.level[2].count == 3);
        uint32_t* shell = malloc(c.count * sizeof *shell); /* of what a level is made of */
        memcpy(shell, c.shell, c.count * sizeof *shell);
        for (uint32_t l = 0; l < h.level_count; ++l)
        {
            const pl_clustering* g = &h.level[l];
            uint32_t* own = calloc(g->count, sizeof *own);
            for (uint32_t k = 0; k < g->count; ++k)
            {
                own[k] = shell[g->particle[g->begin[k]]];
                for (uint32_t e = g->begin[k]; e < g->begin[k + 1]; ++e)
                    CHECK(shell[g->particle[e]] == own[k]);
            }
            if (kind == PLIANT_LEVELS_NESTED)
                memcpy(shell, own, g->count * sizeof *own);
            free(own);
        }
        free(shell);
        pl_hierarchy_free(&h);
    }
    cloud_free(&c);
}

TEST(every_algorithm_has_levels)
{
    cloud c = cloud_box(12, 11, 10, 4);
    for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_RANDOM; ++algorithm)
        for (uint32_t kind = 0; kind <= PLIANT_LEVELS_INDEPENDENT; ++kind)
        {
            pliant_cluster_desc cluster = cloud_desc(50, 0);
            cluster.algorithm = algorithm;
            pliant_levels_desc levels = levels_desc(0);
            levels.kind = kind;
            pl_hierarchy h;
            REQUIRE_OK(build(&c, &cluster, &levels, NULL, NULL, &h));
            CHECK(h.level_count >= 3 && h.level[h.level_count - 1].count == 1);
            for (uint32_t l = 1; l < h.level_count; ++l)
            {
                CHECK(h.level[l].count < h.level[l - 1].count);
                if (kind == PLIANT_LEVELS_NESTED)
                    check_nested(&h.level[l - 1], &h.level[l]);
                else
                    check_clustering(&c, &h.level[l], &cluster);
            }
            pl_hierarchy_free(&h);
        }
    cloud_free(&c);
}

TEST(small_bodies_have_levels)
{
    for (uint32_t n = 1; n <= 5; ++n)
        for (uint32_t kind = 0; kind <= PLIANT_LEVELS_INDEPENDENT; ++kind)
        {
            cloud c = cloud_box(n, 1, 1, 4);
            pliant_cluster_desc cluster = cloud_desc(n, 0);
            pliant_levels_desc levels = levels_desc(0);
            levels.kind = kind;
            pl_hierarchy h;
            REQUIRE_OK(build(&c, &cluster, &levels, NULL, NULL, &h));
            CHECK(h.level_count == (n > 1 ? 2 : 1));
            CHECK(h.level[h.level_count - 1].count == 1);
            pl_hierarchy_free(&h);
            cloud_free(&c);
        }
}

TEST(levels_do_not_depend_on_threads)
{
    cloud c = cloud_box(16, 14, 12, 6);
    for (uint32_t kind = 0; kind <= PLIANT_LEVELS_INDEPENDENT; ++kind)
    {
        pliant_cluster_desc cluster = cloud_desc(200, 0);
        pliant_levels_desc levels = levels_desc(0);
        levels.kind = kind;
        pl_hierarchy one;
        REQUIRE_OK(build(&c, &cluster, &levels, NULL, NULL, &one));
        for (uint32_t threads = 2; threads <= 3; ++threads)
        {
            pl_pool* pool = pl_pool_create(threads);
            pl_hierarchy many;
            REQUIRE_OK(build(&c, &cluster, &levels, pool, NULL, &many));
            REQUIRE(many.level_count == one.level_count);
            for (uint32_t l = 0; l < one.level_count; ++l)
                CHECK(clusterings_equal(&one.level[l], &many.level[l]));
            pl_hierarchy_free(&many);
            pl_pool_destroy(pool);
        }
        pl_hierarchy_free(&one);
    }
    cloud_free(&c);
}

TEST(levels_can_be_cancelled_and_survive_failing_allocations)
{
    cloud c = cloud_box(8, 8, 8, 6);
    pliant_cluster_desc cluster = cloud_desc(40, 0);
    pliant_levels_desc levels = levels_desc(0);
    uint64_t before = pl_bytes_in_use();
    for (uint32_t kind = 0; kind <= PLIANT_LEVELS_INDEPENDENT; ++kind)
    {
        levels.kind = kind;
        pl_hierarchy h;
        pl_clustering finest;
        pl_status status = PLIANT_ERROR_MEMORY;
        for (int64_t after = 0; status == PLIANT_ERROR_MEMORY && after < 100000;
             after += 1 + after / 30)
        {
            REQUIRE_OK(cloud_cluster(&c, &cluster, NULL, &finest));
            pl_fail_allocations_after(after);
            status = pl_hierarchy_build(c.count, c.points, c.masses, NULL, &cluster, &levels,
                                        &finest, NULL, NULL, &h);
            pl_fail_allocations_after(-1);
            pl_hierarchy_free(&h);
            CHECK(finest.particle == NULL && pl_bytes_in_use() == before);
        }
        CHECK(status == PLIANT_OK);
        status = PLIANT_CANCELLED;
        for (int left = 0; status == PLIANT_CANCELLED && left < 10000; left += 1 + left / 4)
        {
            progress p = {.left = left};
            pl_task task = {.progress = progress_count, .user = &p, .from = .5, .to = .75};
            REQUIRE_OK(cloud_cluster(&c, &cluster, NULL, &finest));
            status = pl_hierarchy_build(c.count, c.points, c.masses, NULL, &cluster, &levels,
                                        &finest, NULL, &task, &h);
            CHECK((status == PLIANT_CANCELLED) == (p.left < 0));
            CHECK(p.ordered && p.last >= .5 && p.last <= .75);
            pl_hierarchy_free(&h);
            CHECK(pl_bytes_in_use() == before);
        }
        CHECK(status == PLIANT_OK);
    }
    cloud_free(&c);
}
