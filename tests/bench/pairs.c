// SPDX-License-Identifier: GPL-3.0-or-later
/* Growth of the broad phase's cost: clumps of 500 clusters on a grid, so that the number of
 * neighbours per cluster is constant; compared with testing every pair. */
#include "base/rng.h"
#include "bench.h"
#include "collision/broadphase/broadphase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    CLUMP = 500,
    MOST_ASKED = 16000, /* no test of every pair above this number */
    TIMES = 7
};

static void set_box(pl_proxy_pose* pose, const double middle[3], const double half[3])
{
    for (int k = 0; k < 3; ++k)
    {
        pose->lower[k] = middle[k] - half[k], pose->upper[k] = middle[k] + half[k];
        pose->part_lower[k] = pose->shape_lower[k] = pose->lower[k];
        pose->part_upper[k] = pose->shape_upper[k] = pose->upper[k];
    }
}

static void fill(uint32_t count, pl_proxy_pose* poses)
{
    uint32_t side = 1;
    while (side * side * side * CLUMP < count)
        ++side;
    for (uint32_t n = 0; n * CLUMP < count; ++n)
    {
        pl_rng rng = pl_rng_seed(77);
        const double by[3] = {1.25 * (n % side), 1.25 * (n / side % side),
                              1.25 * (n / side / side)};
        for (uint32_t i = n * CLUMP; i < PL_MIN((n + 1) * CLUMP, count); ++i)
        {
            double middle[3], half[3];
            for (int k = 0; k < 3; ++k)
            {
                middle[k] = by[k] + pl_rng_unit(&rng);
                half[k] = .1 * pl_rng_unit(&rng);
            }
            set_box(&poses[i], middle, half);
        }
    }
}

static uint64_t ask_all(uint32_t count, const pl_proxy_pose* poses)
{
    uint64_t found = 0;
    for (uint32_t a = 0; a < count; ++a)
        for (uint32_t b = 0; b < count; ++b)
            found += a != b && pl_pair_may_touch(&poses[a], &poses[b]);
    return found;
}

static void measure(uint32_t count, const pl_proxy_pose* poses)
{
    pl_broadphase b = {0};
    pl_pair_list found = {0};
    pl_pair_body body = {0, count, 1, true, NULL, false, false};
    double least = INFINITY, all = NAN;
    for (int i = 0; i < TIMES; ++i)
    {
        double start = bench_now_ms();
        BENCH_TRY(pl_broadphase_find(&b, count, poses, 0, 1, &body, NULL, &found));
        least = fmin(least, bench_now_ms() - start);
    }
    if (count <= MOST_ASKED)
    {
        double start = bench_now_ms();
        if (ask_all(count, poses) != found.count)
            bench_fail("finding as many pairs as there are");
        all = bench_now_ms() - start;
    }
    json_open(NULL);
    json_count("clusters", count);
    json_number("pairs_a_cluster", (double)found.count / count);
    json_number("nodes_a_cluster", (double)b.visited / count);
    json_number("nodes_over_n_log_n", (double)b.visited / (count * log2(count)));
    json_number("ms", least);
    json_number("ns_a_cluster", least * 1e6 / count);
    json_number("brute_force_ms", all);
    json_number("ratio", all / least);
    json_close();
    pl_broadphase_free(&b);
    pl_pair_list_free(&found);
}

void bench_pairs(const bench_options* o)
{
    static const uint32_t counts[] = {500, 1500, 5000, 15000, 50000};
    pl_proxy_pose* poses = calloc(50000, sizeof *poses);
    (void)o;
    if (!poses)
        abort();
    json_open(NULL);
    json_text("bench", "pairs");
    json_list("sizes");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i)
    {
        fill(counts[i], poses);
        measure(counts[i], poses);
    }
    json_list_close();
    json_close();
    free(poses);
}
