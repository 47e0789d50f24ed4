// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Clustering: Jones, Martin, Levine, Shinar, Bargteil, "Clustering and Collision Detection for
 * Clustered Shape Matching", 2015, section 3.3.
 *
 *   points --> one cloud for each shell --> k-means --> fuzzy --> members and kernel values
 *                                             ^           |
 *                                             '-- grow ---'    until every point is reached
 *
 * kmeans.c, fuzzy_cmeans.c and radius_search.c implement the parts and state their departures from
 * the paper; this file selects count and radius and writes the result. Beyond the paper:
 *   - A shell (a part that shares no cluster with others) is clustered separately. Clusters are
 *     distributed in proportion to numbers of points, at least one each; the radius is common. Only
 *     shells that did not converge get more clusters.
 *   - A radius of 0 means automatic: the radius with the wanted overlap, or the smallest one found
 *     that reaches every point. Fuzzy centres move with the radius, so it is corrected until the
 *     overlap is within 3 %.
 *   - k-means has not converged if points are out of reach, as in fuzzy clustering.
 */
#include "clustering/cluster.h"

#include "clustering/cluster_internal.h"
#include "clustering/kernel.h"

#include <stdlib.h>
#include <string.h>

/* The default; Kaliappan and Bargteil 2020, equation 13: 15 to 50. */
#define POINTS_PER_CLUSTER 30
#define GROWTH 1.25
#define MOST_TRIES 60
/* Iterations of k-means before the fuzzy ones; more do not make these faster. */
#define FUZZY_START 3

typedef struct work
{
    const pliant_cluster_desc* desc;
    bool keep_count;
    uint32_t point_count;
    pl_cloud* clouds;
    uint32_t cloud_count;
    uint32_t* wanted; /* clusters of each cloud */
    bool* failed;     /* of each cloud: did not converge */
    double extent;    /* of the largest cloud */
    double radius;
    uint32_t iterations;
    bool converged, grown;
    double needed; /* radius that would reach the strays at their positions */
    pl_search search;
} work;

double pl_kernel_value(uint32_t kernel, double parameter, double d, double radius)
{
    double q = d / radius;
    return pl_kernel_of(kernel, parameter, q * q);
}

void pl_clustering_free(pl_clustering* clustering)
{
    pl_free(clustering->centres);
    pl_free(clustering->begin);
    pl_free(clustering->particle);
    pl_free(clustering->kernel);
    *clustering = (pl_clustering){0};
}

/* ------------------------------------------------------------------ shells and counts */

static int ascending(const void* a, const void* b)
{
    uint64_t p = *(const uint64_t*)a, q = *(const uint64_t*)b;
    return p < q ? -1 : p > q;
}

static pl_status fill_clouds(work* w, const uint64_t* sorted, uint32_t* which, const vec3* points,
                             const double* masses)
{
    uint32_t shells = 0;
    for (uint32_t i = 0; i < w->point_count; ++i)
    {
        which[i] = (uint32_t)sorted[i];
        shells += i == 0 || sorted[i] >> 32 != sorted[i - 1] >> 32;
    }
    w->clouds = PL_NEW(pl_cloud, shells);
    w->wanted = PL_NEW(uint32_t, shells);
    w->failed = PL_NEW(bool, shells);
    if (!w->clouds || !w->wanted || !w->failed)
        return pl_fail_memory(shells * (sizeof(pl_cloud) + 5));
    for (uint32_t begin = 0, end; begin < w->point_count; begin = end)
    {
        for (end = begin + 1; end < w->point_count && sorted[end] >> 32 == sorted[begin] >> 32;)
            ++end;
        pl_cloud* cloud = &w->clouds[w->cloud_count++];
        PL_TRY(pl_cloud_init(cloud, end - begin, which + begin, points, masses));
        w->extent = PL_MAX(w->extent, cloud->extent);
    }
    return PLIANT_OK;
}

static pl_status make_clouds(work* w, const vec3* points, const double* masses,
                             const uint32_t* shell)
{
    uint64_t* sorted = PL_NEW(uint64_t, w->point_count);
    uint32_t* which = PL_NEW(uint32_t, w->point_count);
    pl_status status = PLIANT_OK;
    if (!sorted || !which)
        status = pl_fail_memory(w->point_count * 12ull);
    else
    {
        for (uint32_t i = 0; i < w->point_count; ++i)
            sorted[i] = (shell ? (uint64_t)shell[i] << 32 : 0) | i;
        if (shell)
            qsort(sorted, w->point_count, sizeof *sorted, ascending);
        status = fill_clouds(w, sorted, which, points, masses);
    }
    pl_free(sorted);
    pl_free(which);
    return status;
}

static pl_status find_count(work* w, uint32_t* total)
{
    *total = w->desc->count;
    if (*total == 0 && w->desc->cluster_size > 0)
        return pl_clouds_count(w->clouds, w->cloud_count, w->desc->cluster_size, total);
    if (*total == 0)
        *total = (w->point_count + POINTS_PER_CLUSTER / 2) / POINTS_PER_CLUSTER;
    return PLIANT_OK;
}

/* One cluster for each shell; the rest in proportion to numbers of points, rounded so that the
 * total is exact. */
static void distribute(work* w, uint32_t total)
{
    double each = (double)w->point_count / PL_MAX(total, 1u), beyond = 0, sum = 0;
    double left = total > w->cloud_count ? total - w->cloud_count : 0;
    for (uint32_t g = 0; g < w->cloud_count; ++g)
        beyond += PL_MAX(w->clouds[g].count / each - 1, 0);
    for (uint32_t g = 0; g < w->cloud_count; ++g)
    {
        double before = floor(sum + 0.5);
        if (beyond > 0)
            sum += left * PL_MAX(w->clouds[g].count / each - 1, 0) / beyond;
        double share = 1 + floor(sum + 0.5) - before;
        w->wanted[g] = (uint32_t)PL_CLAMP(share, 1.0, (double)w->clouds[g].count);
    }
}

/* ------------------------------------------------------------------ finding centres */

/* Every shell has its own seed. */
static uint64_t seed_of(const work* w, uint32_t g)
{
    return ((uint64_t)w->desc->seed << 32) + g;
}

static pl_status run_kmeans(work* w, uint32_t iterations)
{
    w->iterations = 0;
    for (uint32_t g = 0; g < w->cloud_count; ++g)
    {
        uint32_t done = 0;
        bool settled = false;
        PL_TRY(pl_cloud_kmeans(&w->clouds[g], w->wanted[g], seed_of(w, g), iterations, &w->search,
                               &done, &settled));
        w->iterations = PL_MAX(w->iterations, done);
        w->failed[g] = !settled;
    }
    return PLIANT_OK;
}

static pl_status run_fuzzy(work* w)
{
    w->converged = true;
    w->needed = 0;
    w->iterations = 0;
    for (uint32_t g = 0; g < w->cloud_count; ++g)
    {
        pl_fuzzy_result result;
        PL_TRY(pl_cloud_fuzzy(&w->clouds[g], w->radius, &w->search, &result));
        w->failed[g] = !result.converged;
        w->converged &= result.converged;
        w->needed = PL_MAX(w->needed, result.farthest);
        w->iterations = PL_MAX(w->iterations, result.iterations);
    }
    return PLIANT_OK;
}

typedef struct reach
{
    const pl_cloud* cloud;
    const pl_kd* centres;
    double* farthest; /* of each block of points */
} reach;

#define REACH_BLOCK 1024

static void find_reach(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    reach* r = context;
    const pl_kd* tree = &r->cloud->tree;
    (void)worker;
    for (uint32_t block = begin; block < end; ++block)
    {
        uint32_t last = PL_MIN((block + 1) * REACH_BLOCK, tree->count), guess = 0;
        double farthest2 = 0;
        for (uint32_t i = block * REACH_BLOCK; i < last; ++i)
        {
            vec3 point = v3(tree->x[i], tree->y[i], tree->z[i]);
            pl_kd_hit hit = pl_kd_nearest(r->centres, point, guess);
            guess = hit.place;
            farthest2 = PL_MAX(farthest2, hit.distance2);
        }
        r->farthest[block] = sqrt(farthest2);
    }
}

/* The largest distance of any point from the nearest centre. */
static pl_status cloud_reach(const work* w, const pl_cloud* cloud, double* farthest)
{
    uint32_t blocks = (cloud->count + REACH_BLOCK - 1) / REACH_BLOCK;
    pl_kd centres;
    reach r = {cloud, &centres, PL_NEW(double, blocks)};
    pl_status status = pl_kd_init(&centres, cloud->clusters, cloud->centres);
    if (!r.farthest)
        status = pl_fail_memory(blocks * sizeof(double));
    *farthest = 0;
    if (status == PLIANT_OK)
    {
        pl_parallel_for(w->search.pool, blocks, 1, find_reach, &r);
        for (uint32_t b = 0; b < blocks; ++b)
            *farthest = PL_MAX(*farthest, r.farthest[b]);
    }
    pl_kd_free(&centres);
    pl_free(r.farthest);
    return status;
}

/* If all points coincide, any radius above zero is valid. */
static double usable_radius(const work* w, double radius)
{
    double least = w->extent * 1e-9;
    if (least == 0)
        least = w->desc->cluster_size > 0 ? w->desc->cluster_size : 1;
    return PL_MAX(radius, least);
}

/* k-means: the centres do not depend on the radius, so one search for it suffices. */
static pl_status try_kmeans(work* w)
{
    PL_TRY(run_kmeans(w, w->desc->max_iterations));
    bool settled = true;
    w->needed = 0;
    for (uint32_t g = 0; g < w->cloud_count; ++g)
    {
        double farthest = 0;
        PL_TRY(cloud_reach(w, &w->clouds[g], &farthest));
        w->needed = PL_MAX(w->needed, farthest * (1 + 1e-9));
        settled &= !w->failed[g];
        w->failed[g] = w->desc->radius > 0 && farthest > w->radius;
    }
    if (w->desc->radius == 0)
    {
        PL_TRY(pl_clouds_radius(w->clouds, w->cloud_count, w->desc->overlap, w->search.pool,
                                &w->radius));
        w->radius = usable_radius(w, PL_MAX(w->radius, w->needed));
    }
    w->converged = settled && w->needed <= w->radius;
    return PLIANT_OK;
}

/* Fuzzy with an automatic radius: of the wanted overlap if that converges, otherwise larger. */
static pl_status try_fuzzy_radius(work* w)
{
    double too_small = 0, right = 0;
    for (uint32_t round = 0; round < MOST_TRIES; ++round)
    {
        if (w->converged || round == 0)
            PL_TRY(pl_clouds_radius(w->clouds, w->cloud_count, w->desc->overlap, w->search.pool,
                                    &right));
        if (w->converged && (fabs(right / w->radius - 1) < 0.01 || right <= too_small || round > 8))
            break;
        w->radius = usable_radius(w, right);
        PL_TRY(run_fuzzy(w));
        if (!w->converged)
        {
            too_small = w->radius;
            right = PL_CLAMP(w->needed, w->radius * 1.02, w->radius * GROWTH);
        }
    }
    return PLIANT_OK;
}

/* Random clusters reach every point at any radius; an automatic radius follows from the count. */
static pl_status run_random(work* w, uint64_t* clusters)
{
    *clusters = 0;
    for (uint32_t g = 0; g < w->cloud_count; ++g)
    {
        PL_TRY(pl_cloud_random(&w->clouds[g], w->radius, seed_of(w, g), &w->search));
        *clusters += w->clouds[g].clusters;
    }
    w->converged = true;
    return PLIANT_OK;
}

static pl_status find_random(work* w)
{
    uint64_t clusters = 0;
    if (w->desc->radius > 0)
        return run_random(w, &clusters);
    uint32_t total = 0;
    PL_TRY(find_count(w, &total));
    total = PL_CLAMP(total, w->cloud_count, w->point_count);
    double below = 0, above = w->extent * 1.001;
    w->radius = above > 0 ? above / cbrt(total) : 1;
    for (int round = 0; round < 40; ++round)
    {
        PL_TRY(run_random(w, &clusters));
        if (fabs((double)clusters - total) <= 0.02 * total || above <= 0)
            break;
        if (clusters > total)
            below = w->radius;
        else
            above = w->radius;
        w->radius = below > 0 ? sqrt(below * above) : above * 0.5;
    }
    return PLIANT_OK;
}

static void grow(work* w)
{
    bool single = true;
    for (uint32_t g = 0; g < w->cloud_count; ++g)
        single &= w->wanted[g] == 1;
    for (uint32_t g = 0; g < w->cloud_count && !single && !w->keep_count; ++g)
        if (w->failed[g])
            w->wanted[g] = (uint32_t)PL_MIN(ceil(w->wanted[g] * GROWTH), w->clouds[g].count);
    w->radius *= GROWTH;
    w->grown = true;
}

static pl_status find_centres(work* w)
{
    if (w->desc->algorithm == PLIANT_CLUSTER_RANDOM)
        return find_random(w);
    uint32_t total = 0;
    PL_TRY(find_count(w, &total));
    distribute(w, total);
    for (uint32_t round = 0; round < MOST_TRIES; ++round)
    {
        if (round > 0)
            grow(w);
        if (w->desc->algorithm == PLIANT_CLUSTER_KMEANS)
        {
            PL_TRY(try_kmeans(w));
            if (w->needed <= w->radius)
                return PLIANT_OK; /* more clusters would not help it to settle */
        }
        else
        {
            PL_TRY(run_kmeans(w, PL_MIN(FUZZY_START, w->desc->max_iterations)));
            if (w->desc->radius == 0)
                return try_fuzzy_radius(w);
            PL_TRY(run_fuzzy(w));
        }
        if (w->converged || w->desc->fixed)
            return PLIANT_OK;
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ entry points */

static pl_status cluster_points(work* w, const vec3* points, const double* masses,
                                const uint32_t* shell, pl_clustering* clustering)
{
    if (w->point_count == 0)
        return pl_fail(PLIANT_ERROR_CLUSTERING, "there are 0 particles: nothing to cluster");
    PL_TRY(make_clouds(w, points, masses, shell));
    PL_TRY(find_centres(w));
    PL_TRY(pl_clouds_members(w->clouds, w->cloud_count, w->point_count, w->radius, &w->search,
                             clustering));
    clustering->iterations = w->iterations;
    clustering->converged = w->converged;
    clustering->grown = w->grown;
    return PLIANT_OK;
}

static pl_status cluster(uint32_t count, const vec3* points, const double* masses,
                         const uint32_t* shell, const pliant_cluster_desc* desc, bool keep_count,
                         pl_pool* pool, pl_task* task, pl_clustering* clustering)
{
    *clustering = (pl_clustering){0};
    work w = {
        .desc = desc,
        .keep_count = keep_count,
        .point_count = count,
        .radius = desc->radius,
        .search = {.kernel = desc->kernel,
                   .parameter = pl_kernel_default(desc->kernel, desc->kernel_parameter),
                   .max_iterations = PL_MAX(desc->max_iterations, 1u),
                   .give_up = !desc->fixed || desc->radius == 0,
                   .pool = pool,
                   .task = task},
    };
    pl_status status = cluster_points(&w, points, masses, shell, clustering);
    for (uint32_t g = 0; g < w.cloud_count; ++g)
        pl_cloud_free(&w.clouds[g]);
    pl_free(w.clouds);
    pl_free(w.wanted);
    pl_free(w.failed);
    if (status != PLIANT_OK)
        pl_clustering_free(clustering);
    return status;
}

pl_status pl_cluster(uint32_t count, const vec3* points, const double* masses,
                     const uint32_t* shell, const pliant_cluster_desc* desc, pl_pool* pool,
                     pl_task* task, pl_clustering* clustering)
{
    return cluster(count, points, masses, shell, desc, false, pool, task, clustering);
}

pl_status pl_cluster_level(uint32_t count, const vec3* points, const double* masses,
                           const uint32_t* shell, const pliant_cluster_desc* desc, pl_pool* pool,
                           pl_task* task, pl_clustering* clustering)
{
    return cluster(count, points, masses, shell, desc, true, pool, task, clustering);
}
