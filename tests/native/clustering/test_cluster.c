// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/clouds.h"
#include "native/support/test.h"

#include <base/rng.h>
#include <clustering/cluster.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ kernels */

TEST(kernels_have_the_published_shapes)
{
    double r = 0.7, d = 0.3, q2 = d * d / (r * r);
    CHECK_NEAR(pl_kernel_value(PLIANT_KERNEL_BOX, 0, d, r), 1, 0);
    CHECK_NEAR(pl_kernel_value(PLIANT_KERNEL_POLY6, 0, d, r), pow(1 - q2, 3), 1e-15);
    CHECK_NEAR(pl_kernel_value(PLIANT_KERNEL_BLEND, .25, d, r), .25 + pow(1 - q2, 3), 1e-15);
    /* in units of the radius: 1 / (d^2 + epsilon r^2) times r^2 */
    CHECK_NEAR(pl_kernel_value(PLIANT_KERNEL_INVSQ, 1e-4, d, r) / (r * r),
               1 / (d * d + 1e-4 * r * r), 1e-12);
    CHECK_NEAR(pl_kernel_value(PLIANT_KERNEL_FCM, 3, d, r), pow(d / r, -1), 1e-12);
    CHECK_NEAR(pl_kernel_value(PLIANT_KERNEL_FCM, 1.5, d, r), pow(d / r, -4), 1e-10);
}

TEST(kernels_are_positive_and_finite_everywhere)
{
    const double parameters[] = {0, 1e-4, .1, 2, 1.01, 1.5, 50};
    const double distances[] = {0, 1e-30, 1e-9, .3, .999999, 1, 1.000001, 2, 1e6};
    for (uint32_t kernel = 0; kernel <= PLIANT_KERNEL_FCM; ++kernel)
        for (size_t p = 0; p < PL_COUNTOF(parameters); ++p)
            for (size_t i = 0; i < PL_COUNTOF(distances); ++i)
                for (double scale = 1e-18; scale < 1e19; scale *= 1e9)
                {
                    double parameter = parameters[p];
                    if (kernel == PLIANT_KERNEL_FCM && parameter <= 1)
                        continue;
                    if (kernel == PLIANT_KERNEL_BLEND && parameter == 0)
                        continue;
                    float value =
                        (float)pl_kernel_value(kernel, parameter, distances[i] * scale, scale);
                    CHECK_MSG(value > 0 && isfinite(value), "kernel %u (%g) at %g is %g", kernel,
                              parameter, distances[i], value);
                }
    /* A particle at a centre belongs to it, whatever the exponent. */
    for (double m = 1.1; m < 100; m *= 3)
        CHECK(pl_kernel_value(PLIANT_KERNEL_FCM, m, 0, 1) >
              1e5 * pl_kernel_value(PLIANT_KERNEL_FCM, m, .5, 1));
}

TEST(fcm_with_two_is_invsq_with_zero)
{
    for (double d = 0; d < 1.5; d += 0.01)
        CHECK(pl_kernel_value(PLIANT_KERNEL_FCM, 2, d, .8) ==
              pl_kernel_value(PLIANT_KERNEL_INVSQ, 0, d, .8));
    cloud c = cloud_box(9, 9, 9, 4);
    pliant_cluster_desc desc = cloud_desc(25, .4);
    desc.kernel = PLIANT_KERNEL_FCM;
    pl_clustering fcm, invsq;
    REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &fcm));
    desc.kernel = PLIANT_KERNEL_INVSQ;
    desc.kernel_parameter = 1e-300; /* 0 stands for the default */
    REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &invsq));
    CHECK(clusterings_equal(&fcm, &invsq));
    pl_clustering_free(&fcm);
    pl_clustering_free(&invsq);
    cloud_free(&c);
}

/* Equation 12 as printed, the sum over the clusters that contain the particle. */
TEST(fcm_weights_are_equation_12)
{
    const double exponents[] = {1.5, 2, 3.5};
    for (size_t k = 0; k < PL_COUNTOF(exponents); ++k)
    {
        double m = exponents[k];
        cloud c = cloud_box(8, 8, 8, 3);
        pliant_cluster_desc desc = cloud_desc(20, .42);
        desc.kernel = PLIANT_KERNEL_FCM;
        desc.kernel_parameter = m;
        pl_clustering g;
        REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
        double* sums = clustering_sums(&c, &g);
        for (uint32_t a = 0; a < g.count; ++a)
            for (uint32_t e = g.begin[a]; e < g.begin[a + 1]; ++e)
            {
                uint32_t i = g.particle[e];
                double own = v3_length(v3_sub(c.points[i], g.centres[a])), below = 0;
                for (uint32_t b = 0; b < g.count; ++b)
                {
                    double d = v3_length(v3_sub(c.points[i], g.centres[b]));
                    below += d <= g.radius ? pow(own / d, 2 / (m - 1)) : 0;
                }
                CHECK_NEAR(g.kernel[e] / sums[i], 1 / below, 1e-5);
            }
        free(sums);
        pl_clustering_free(&g);
        cloud_free(&c);
    }
}

/* ------------------------------------------------------------------ what always holds */

/* Converges without growth, with about so many memberships. Takes ownership of the cloud. */
static void check_convergence(cloud c, uint32_t clusters, double radius, double memberships)
{
    pliant_cluster_desc desc = cloud_desc(clusters, radius);
    pl_clustering g;
    REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
    CHECK(g.converged && !g.grown && g.strays == 0);
    CHECK(g.count == clusters && g.radius == radius);
    CHECK(g.iterations > 0 && g.iterations <= desc.max_iterations);
    CHECK_NEAR(g.begin[g.count] / memberships, 1, .03);
    check_clustering(&c, &g, &desc);
    check_centres(&c, &g, 1.001e-3, 0);
    pl_clustering_free(&g);
    cloud_free(&c);
}

TEST(published_sets_converge_as_published)
{
    const struct
    {
        const char* name;
        uint32_t clusters;
        double radius, memberships;
    } sets[] = {{"bunny-16525", 330, .2, 97.6e3},
                {"beam-5317", 200, .11, 14.8e3},
                {"ball-5098", 101, .14, 11.7e3}};
    for (size_t s = 0; s < PL_COUNTOF(sets); ++s)
    {
        cloud c = cloud_published(sets[s].name);
        if (c.count)
            check_convergence(c, sets[s].clusters, sets[s].radius, sets[s].memberships);
        else
        {
            test_skip("%s is not there", sets[s].name);
            cloud_free(&c);
        }
    }
}

/* The same for generated sets; the expected memberships were measured once. */
TEST(bodies_like_the_published_ones_converge)
{
    check_convergence(cloud_sampled(scene_creature(4), 3000), 120, .25, 24.3e3);
    check_convergence(cloud_sampled(scene_box(2, .4f, .4f, 2), 2000), 80, .16, 6.0e3);
    check_convergence(cloud_sampled(scene_icosphere(.5f, 3), 2000), 60, .2, 6.0e3);
}

TEST(every_algorithm_with_every_kernel_covers_and_divides_fairly)
{
    cloud c = cloud_box(16, 12, 9, 2);
    for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_RANDOM; ++algorithm)
        for (uint32_t kernel = 0; kernel <= PLIANT_KERNEL_FCM; ++kernel)
            for (int own_radius = 0; own_radius < 2; ++own_radius)
            {
                pliant_cluster_desc desc = cloud_desc(60, own_radius ? .26 : 0);
                desc.algorithm = algorithm;
                desc.kernel = kernel;
                pl_clustering g;
                REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
                CHECK_MSG(g.converged && g.strays == 0, "algorithm %u, kernel %u: %u strays",
                          algorithm, kernel, g.strays);
                if (algorithm != PLIANT_CLUSTER_RANDOM)
                    CHECK_MSG(g.grown || g.count == 60, "%u clusters", g.count);
                check_clustering(&c, &g, &desc);
                if (algorithm == PLIANT_CLUSTER_FUZZY)
                    check_centres(&c, &g, 1.001e-2, 3);
                pl_clustering_free(&g);
            }
    cloud_free(&c);
}

TEST(kmeans_centres_are_means_of_the_nearest_points)
{
    cloud c = cloud_box(14, 14, 14, 8);
    pliant_cluster_desc desc = cloud_desc(50, .3);
    desc.algorithm = PLIANT_CLUSTER_KMEANS;
    pl_clustering g;
    REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
    CHECK(g.converged && g.count == 50);
    vec3 sum[50] = {{0, 0, 0}};
    double mass[50] = {0};
    for (uint32_t i = 0; i < c.count; ++i)
    {
        uint32_t best = 0;
        for (uint32_t k = 1; k < g.count; ++k)
            if (v3_length(v3_sub(c.points[i], g.centres[k])) <
                v3_length(v3_sub(c.points[i], g.centres[best])))
                best = k;
        sum[best] = v3_mad(sum[best], c.points[i], c.masses[i]);
        mass[best] += c.masses[i];
    }
    for (uint32_t k = 0; k < g.count; ++k)
        CHECK(v3_length(v3_sub(v3_scale(sum[k], 1 / mass[k]), g.centres[k])) < 1e-12);
    pl_clustering_free(&g);
    cloud_free(&c);
}

TEST(random_centres_are_points_out_of_reach_of_earlier_ones)
{
    cloud c = cloud_box(14, 14, 14, 8);
    pliant_cluster_desc desc = cloud_desc(50, .3);
    desc.algorithm = PLIANT_CLUSTER_RANDOM;
    pl_clustering g, other;
    REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
    for (uint32_t a = 0; a < g.count; ++a)
    {
        bool is_point = false;
        for (uint32_t i = 0; i < c.count; ++i)
            is_point |= v3_length(v3_sub(c.points[i], g.centres[a])) == 0;
        CHECK(is_point);
        for (uint32_t b = 0; b < a; ++b)
            CHECK(v3_length(v3_sub(g.centres[a], g.centres[b])) > .3);
    }
    desc.seed = 1;
    REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &other));
    CHECK(!clusterings_equal(&g, &other));
    pl_clustering_free(&g);
    pl_clustering_free(&other);
    for (uint32_t count = 1; count <= 400; count = count * 3 + 1)
    {
        desc = cloud_desc(count, 0);
        desc.algorithm = PLIANT_CLUSTER_RANDOM;
        REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
        CHECK_NEAR(g.count, count, 1 + .08 * count);
        pl_clustering_free(&g);
    }
    cloud_free(&c);
}

/* ------------------------------------------------------------------ count and radius */

TEST(auto_radius_meets_the_overlap)
{
    cloud c = cloud_box(20, 20, 20, 1);
    const double overlaps[] = {3, 4, 5, 6, 8, 12};
    for (size_t o = 0; o < PL_COUNTOF(overlaps); ++o)
        for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_KMEANS; ++algorithm)
        {
            pliant_cluster_desc desc = cloud_desc(0, 0);
            desc.overlap = overlaps[o];
            desc.algorithm = algorithm;
            pl_clustering g;
            REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
            CHECK(g.converged && !g.grown && g.strays == 0);
            CHECK(g.count == (c.count + 15) / 30);
            CHECK_NEAR((double)g.begin[g.count] / c.count / overlaps[o], 1, .05);
            pl_clustering_free(&g);
        }
    cloud_free(&c);
}

TEST(auto_radius_works_on_every_kernel_and_set)
{
    cloud sets[] = {cloud_box(13, 13, 13, 1), cloud_box(40, 30, 1, 2), cloud_box(600, 1, 1, 3)};
    for (size_t s = 0; s < PL_COUNTOF(sets); ++s)
    {
        for (uint32_t kernel = 0; kernel <= PLIANT_KERNEL_FCM; ++kernel)
        {
            pliant_cluster_desc desc = cloud_desc(0, 0);
            desc.kernel = kernel;
            pl_clustering g;
            REQUIRE_OK(cloud_cluster(&sets[s], &desc, NULL, &g));
            double overlap = (double)g.begin[g.count] / sets[s].count;
            CHECK(g.converged && g.strays == 0);
            /* More only if needed to reach every point. */
            CHECK_MSG(overlap > 4.7 && overlap < 8, "set %zu, kernel %u: %g", s, kernel, overlap);
            pl_clustering_free(&g);
        }
        cloud_free(&sets[s]);
    }
}

/* A needle on a block, and distant crumbs: hard to reach, but clusters must not all grow. */
TEST(tips_and_crumbs_do_not_enlarge_every_cluster)
{
    cloud c = cloud_box(14, 14, 14, 1);
    c.points = realloc(c.points, (c.count + 40) * sizeof(vec3));
    c.masses = realloc(c.masses, (c.count + 40) * sizeof(double));
    pl_rng rng = pl_rng_seed(3);
    for (uint32_t i = 0; i < 40; ++i)
    {
        vec3 crumb = v3(pl_rng_unit(&rng), pl_rng_unit(&rng), pl_rng_unit(&rng));
        c.points[c.count] = i < 20 ? v3(.5, .5, 1 + i * .02) : v3_scale(crumb, 50);
        c.masses[c.count++] = 1;
    }
    for (uint32_t kernel = 0; kernel <= PLIANT_KERNEL_FCM; ++kernel)
    {
        pliant_cluster_desc desc = cloud_desc(150, 0);
        desc.kernel = kernel;
        pl_clustering g;
        REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
        CHECK(g.converged && !g.grown && g.strays == 0 && g.count == 150);
        CHECK_NEAR((double)g.begin[g.count] / c.count, 5, .4);
        check_clustering(&c, &g, &desc);
        check_centres(&c, &g, 1.001e-2, 5);
        pl_clustering_free(&g);
    }
    cloud_free(&c);
}

TEST(few_clusters_do_not_become_copies_of_each_other)
{
    cloud c = cloud_box(10, 10, 10, 1);
    for (uint32_t count = 1; count <= 12; ++count)
    {
        pliant_cluster_desc desc = cloud_desc(count, 0);
        pl_clustering g;
        REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
        CHECK(g.count == count && g.converged);
        double overlap = (double)g.begin[g.count] / c.count;
        /* up to four must be that large to reach the corners of a cube */
        CHECK_MSG(count < 5 || overlap < count * .8, "%u clusters: %g", count, overlap);
        CHECK(overlap > fmin(5, (count + 1) * .5) * .95);
        pl_clustering_free(&g);
    }
    cloud_free(&c);
}

TEST(cluster_size_means_the_same_at_every_sampling)
{
    for (uint32_t side = 16; side <= 32; side *= 2)
    {
        cloud c = cloud_box(side, side, side, side), sheet = cloud_box(side * 4, side * 4, 1, 5);
        pliant_cluster_desc desc = cloud_desc(0, 0);
        pl_clustering g;
        desc.algorithm = PLIANT_CLUSTER_KMEANS;
        desc.max_iterations = 3;
        desc.cluster_size = .25;
        REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
        CHECK_NEAR(g.count, 64, 16);
        pl_clustering_free(&g);
        desc.cluster_size = .1;
        REQUIRE_OK(cloud_cluster(&sheet, &desc, NULL, &g));
        CHECK_NEAR(g.count, 100, 25);
        pl_clustering_free(&g);
        desc.cluster_size = 5;
        REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
        CHECK(g.count == 1);
        pl_clustering_free(&g);
        desc.cluster_size = .001;
        REQUIRE_OK(cloud_cluster(&sheet, &desc, NULL, &g));
        CHECK_MSG(3 * g.count <= 16 * side * side + 1, "%u clusters of %u particles", g.count,
                  16 * side * side);
        pl_clustering_free(&g);
        cloud_free(&c);
        cloud_free(&sheet);
    }
}

TEST(too_small_a_radius_grows_with_the_count)
{
    cloud c = cloud_box(12, 12, 12, 1);
    for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_KMEANS; ++algorithm)
    {
        pliant_cluster_desc desc = cloud_desc(40, .05);
        desc.algorithm = algorithm;
        pl_clustering g;
        REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
        CHECK(g.grown && g.converged && g.strays == 0);
        double tries = log(g.radius / .05) / log(1.25);
        CHECK(tries > .9);
        CHECK_NEAR(tries, round(tries), 1e-9);
        double count = 40;
        for (int t = 0; t < (int)round(tries); ++t)
            count = ceil(count * 1.25);
        CHECK_NEAR(g.count, count, 0);
        check_clustering(&c, &g, &desc);
        pl_clustering_free(&g);
    }
    cloud_free(&c);
}

TEST(of_a_single_cluster_only_the_radius_grows)
{
    cloud c = cloud_box(8, 8, 8, 1);
    pliant_cluster_desc desc = cloud_desc(1, .1);
    pl_clustering g;
    REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
    CHECK(g.count == 1 && g.grown && g.converged && g.strays == 0);
    CHECK(g.begin[1] == c.count);
    pl_clustering_free(&g);
    cloud_free(&c);
}

TEST(fixed_clusters_do_not_grow_and_say_so)
{
    cloud c = cloud_box(12, 12, 12, 1);
    for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_KMEANS; ++algorithm)
    {
        pliant_cluster_desc desc = cloud_desc(40, .1);
        desc.fixed = 1;
        desc.algorithm = algorithm;
        desc.kernel = PLIANT_KERNEL_POLY6;
        pl_clustering g;
        REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
        CHECK(!g.converged && !g.grown && g.strays > 0);
        CHECK(g.count == 40 && g.radius == .1);
        check_clustering(&c, &g, &desc);
        pl_clustering_free(&g);
    }
    cloud_free(&c);
}

/* ------------------------------------------------------------------ shells */

TEST(shells_share_no_cluster)
{
    /* two boxes pushed into each other, and a small third one */
    cloud c = cloud_box(12, 12, 12, 1), other = cloud_box(12, 12, 6, 2);
    uint32_t first = c.count;
    c.points = realloc(c.points, (c.count + other.count + 20) * sizeof(vec3));
    c.masses = realloc(c.masses, (c.count + other.count + 20) * sizeof(double));
    for (uint32_t i = 0; i < other.count + 20; ++i, ++c.count)
    {
        c.points[c.count] = i < other.count ? v3_add(other.points[i], v3(.5, .3, .2))
                                            : v3_add(other.points[i - other.count], v3(.7, 0, 0));
        c.masses[c.count] = 1;
    }
    c.shell = calloc(c.count, sizeof *c.shell);
    for (uint32_t i = 0; i < c.count; ++i)
        c.shell[i] = i < first ? 7 : i < first + other.count ? 2 : 900000;
    for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_RANDOM; ++algorithm)
        for (int own = 0; own < 2; ++own)
        {
            pliant_cluster_desc desc = cloud_desc(90, own ? .25 : 0);
            desc.algorithm = algorithm;
            pl_clustering g;
            REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
            check_clustering(&c, &g, &desc);
            uint32_t clusters[3] = {0};
            for (uint32_t k = 0; k < g.count; ++k)
            {
                uint32_t shell = c.shell[g.particle[g.begin[k]]];
                for (uint32_t e = g.begin[k]; e < g.begin[k + 1]; ++e)
                    CHECK(c.shell[g.particle[e]] == shell);
                ++clusters[shell == 7 ? 0 : shell == 2 ? 1 : 2];
            }
            CHECK(clusters[0] > 0 && clusters[1] > 0 && clusters[2] > 0);
            if (algorithm != PLIANT_CLUSTER_RANDOM && !g.grown)
            {
                CHECK(g.count == 90);
                CHECK_NEAR(clusters[0], 60, 2);
                CHECK_NEAR(clusters[1], 30, 2);
            }
            pl_clustering_free(&g);
        }
    /* fewer clusters than shells: one each */
    pliant_cluster_desc desc = cloud_desc(1, 0);
    pl_clustering g;
    REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &g));
    CHECK(g.count == 3 && g.converged);
    pl_clustering_free(&g);
    cloud_free(&c);
    cloud_free(&other);
}

/* ------------------------------------------------------------------ repeats */

TEST(clusters_do_not_depend_on_threads)
{
    cloud c = cloud_box(20, 18, 16, 6);
    for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_RANDOM; ++algorithm)
        for (int own = 0; own < 2; ++own)
        {
            pliant_cluster_desc desc = cloud_desc(300, own ? .13 : 0);
            desc.algorithm = algorithm;
            pl_clustering one;
            REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &one));
            for (uint32_t threads = 1; threads <= 3; ++threads)
            {
                pl_pool* pool = pl_pool_create(threads);
                pl_clustering many;
                REQUIRE_OK(cloud_cluster(&c, &desc, pool, &many));
                CHECK(clusterings_equal(&one, &many));
                pl_clustering_free(&many);
                pl_pool_destroy(pool);
            }
            pl_clustering_free(&one);
        }
    cloud_free(&c);
}

/* Scaling by powers of two changes no bit unless a computation contains a hidden length. */
TEST(clusters_do_not_depend_on_the_unit)
{
    cloud c = cloud_box(12, 12, 12, 6);
    pliant_cluster_desc desc = cloud_desc(0, 0);
    pl_clustering one;
    REQUIRE_OK(cloud_cluster(&c, &desc, NULL, &one));
    const double scales[] = {0x1p-60, 0x1p-20, 0x1p30, 0x1p60};
    for (size_t s = 0; s < PL_COUNTOF(scales); ++s)
    {
        cloud scaled = cloud_box(12, 12, 12, 6);
        for (uint32_t i = 0; i < c.count; ++i)
            scaled.points[i] = v3_scale(scaled.points[i], scales[s]);
        pl_clustering g;
        REQUIRE_OK(cloud_cluster(&scaled, &desc, NULL, &g));
        CHECK(g.radius == one.radius * scales[s] && g.count == one.count);
        CHECK(memcmp(g.begin, one.begin, (g.count + 1) * sizeof *g.begin) == 0);
        CHECK(memcmp(g.particle, one.particle, g.begin[g.count] * sizeof *g.particle) == 0);
        CHECK(memcmp(g.kernel, one.kernel, g.begin[g.count] * sizeof *g.kernel) == 0);
        pl_clustering_free(&g);
        cloud_free(&scaled);
    }
    pl_clustering_free(&one);
    cloud_free(&c);
}

/* ------------------------------------------------------------------ degenerate sets */

static void cluster_in_every_way(cloud* c, uint32_t most)
{
    const uint32_t counts[] = {0, 1, 2, 7, 1000};
    const double radii[] = {0, 1e-3, .3, 100};
    for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_RANDOM; ++algorithm)
        for (size_t n = 0; n < PL_COUNTOF(counts); ++n)
            for (size_t r = 0; r < PL_COUNTOF(radii); ++r)
                for (uint32_t fixed = 0; fixed < 2; ++fixed)
                {
                    pliant_cluster_desc desc = cloud_desc(counts[n], radii[r]);
                    desc.algorithm = algorithm;
                    desc.fixed = fixed;
                    desc.kernel = (uint32_t)(n + r) % 5;
                    pl_clustering g;
                    REQUIRE_OK(cloud_cluster(c, &desc, NULL, &g));
                    CHECK(g.count >= 1 && g.count <= most);
                    check_clustering(c, &g, &desc);
                    pl_clustering_free(&g);
                }
}

TEST(strange_sets_can_be_clustered)
{
    for (uint32_t n = 1; n <= 3; ++n)
    {
        cloud c = cloud_box(n, 1, 1, 1);
        cluster_in_every_way(&c, n);
        cloud_free(&c);
    }
    cloud same = cloud_box(50, 1, 1, 1), places = cloud_box(90, 1, 1, 1);
    for (uint32_t i = 0; i < same.count; ++i)
        same.points[i] = v3(3, -2, 1);
    cluster_in_every_way(&same, 1);
    for (uint32_t i = 0; i < places.count; ++i)
        places.points[i] = i < 80 ? v3(1, 1, 1) : v3(i % 3, 0, i % 2);
    cluster_in_every_way(&places, 7);
    cloud flat = cloud_box(15, 15, 1, 2), line = cloud_box(120, 1, 1, 3);
    cluster_in_every_way(&flat, flat.count);
    cluster_in_every_way(&line, line.count);
    cloud far = cloud_box(6, 6, 6, 2);
    far.points[5] = v3(1e6, 0, 0);
    cluster_in_every_way(&far, far.count);
    far.masses[17] = 1e9;
    far.masses[18] = 1e-9;
    cluster_in_every_way(&far, far.count);
    cloud_free(&same);
    cloud_free(&places);
    cloud_free(&flat);
    cloud_free(&line);
    cloud_free(&far);
}

TEST(no_points_are_an_error)
{
    pliant_cluster_desc desc = cloud_desc(0, 0);
    pl_clustering g;
    CHECK(pl_cluster(0, NULL, NULL, NULL, &desc, NULL, NULL, &g) == PLIANT_ERROR_CLUSTERING);
    CHECK(strstr(pliant_last_error(), "0 particles") != NULL);
    pl_clustering_free(&g);
}

/* ------------------------------------------------------------------ cancel and no memory */

TEST(clustering_can_be_cancelled)
{
    cloud c = cloud_box(12, 12, 12, 6);
    uint64_t before = pl_bytes_in_use();
    for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_RANDOM; ++algorithm)
        for (int left = 0; left < 30; left = left * 2 + 1)
        {
            pliant_cluster_desc desc = cloud_desc(50, 0);
            desc.algorithm = algorithm;
            progress p = {.left = left};
            pl_task task = {.progress = progress_count, .user = &p, .from = .25, .to = .5};
            pl_clustering g;
            pl_status status =
                pl_cluster(c.count, c.points, c.masses, NULL, &desc, NULL, &task, &g);
            CHECK((status == PLIANT_CANCELLED) == (p.left < 0));
            CHECK(left > 0 || status == PLIANT_CANCELLED);
            CHECK(p.ordered && p.last >= .25 && p.last <= .5);
            pl_clustering_free(&g);
            CHECK(pl_bytes_in_use() == before);
        }
    cloud_free(&c);
}

TEST(clustering_survives_failing_allocations)
{
    cloud c = cloud_box(7, 7, 7, 6);
    c.shell = calloc(c.count, sizeof *c.shell);
    for (uint32_t i = 0; i < c.count; ++i)
        c.shell[i] = c.points[i].x > .5;
    c.points[3] = c.points[4] = c.points[5]; /* and a cluster that is empty at first */
    uint64_t before = pl_bytes_in_use();
    for (uint32_t algorithm = 0; algorithm <= PLIANT_CLUSTER_RANDOM; ++algorithm)
    {
        pl_status status = PLIANT_ERROR_MEMORY;
        int64_t after = 0;
        for (; status == PLIANT_ERROR_MEMORY && after < 100000; after += 1 + after / 50)
        {
            pliant_cluster_desc desc = cloud_desc(20, after % 2 ? 0 : .1);
            desc.algorithm = algorithm;
            pl_clustering g;
            pl_fail_allocations_after(after);
            status = cloud_cluster(&c, &desc, NULL, &g);
            pl_fail_allocations_after(-1);
            CHECK(status == PLIANT_OK || status == PLIANT_ERROR_MEMORY);
            pl_clustering_free(&g);
            CHECK(pl_bytes_in_use() == before);
        }
        CHECK(status == PLIANT_OK && after > 10);
    }
    cloud_free(&c);
}
