// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Finds the number and radius of clusters from a size and an overlap ("automatically tuning the
 * neighbor radius would be an interesting area for future work", Jones et al. 2015), and the random
 * clustering of Bargteil and Jones 2014.
 */
#include "base/rng.h"
#include "clustering/cluster_internal.h"

#include <string.h>

/* ------------------------------------------------------------------ the radius of an overlap */

#define BINS 8192

typedef struct histogram
{
    const pl_cloud* cloud;
    double reach;
    uint32_t* found; /* cloud->count for each worker */
    uint64_t* bins;  /* BINS + 1 for each worker; the last is for distances of just "reach" */
} histogram;

static void count_distances(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    histogram* h = context;
    const pl_cloud* cloud = h->cloud;
    uint32_t* found = h->found + (size_t)worker * cloud->count;
    uint64_t* bins = h->bins + (size_t)worker * (BINS + 1);
    for (uint32_t c = begin; c < end; ++c)
    {
        vec3 centre = cloud->centres[c];
        uint32_t n = pl_kd_within(&cloud->tree, centre, h->reach, found, cloud->count);
        for (uint32_t i = 0; i < n; ++i)
        {
            double distance = sqrt(pl_kd_distance2(&cloud->tree, found[i], centre));
            uint32_t bin = (uint32_t)(distance / h->reach * BINS);
            ++bins[PL_MIN(bin, BINS)];
        }
    }
}

/* Adds the distances of all pairs within reach to "total". */
static pl_status add_distances(const pl_cloud* cloud, double reach, pl_pool* pool, uint64_t* total)
{
    uint32_t workers = pool ? pl_pool_threads(pool) : 1;
    histogram h = {
        .cloud = cloud,
        .reach = reach,
        .found = PL_NEW(uint32_t, (size_t)workers * cloud->count),
        .bins = PL_NEW(uint64_t, (size_t)workers * (BINS + 1)),
    };
    pl_status status = PLIANT_OK;
    if (!h.found || !h.bins)
        status = pl_fail_memory((size_t)workers * (cloud->count * 4ull + BINS * 8));
    else
        pl_parallel_for(pool, cloud->clusters, 16, count_distances, &h);
    for (size_t i = 0; status == PLIANT_OK && i < (size_t)workers * (BINS + 1); ++i)
        total[i % (BINS + 1)] += h.bins[i];
    pl_free(h.found);
    pl_free(h.bins);
    return status;
}

static double wanted_pairs(const pl_cloud* clouds, uint32_t count, double overlap)
{
    double pairs = 0;
    for (uint32_t g = 0; g < count; ++g)
        pairs += clouds[g].count * PL_MIN(overlap, (clouds[g].clusters + 1) * 0.5);
    return pairs;
}

/* A first guess: that of a solid block with as many clusters. */
static double first_reach(const pl_cloud* clouds, uint32_t count)
{
    double reach = 0;
    for (uint32_t g = 0; g < count; ++g)
        reach = PL_MAX(reach, clouds[g].extent / cbrt(clouds[g].clusters));
    return reach;
}

pl_status pl_clouds_radius(const pl_cloud* clouds, uint32_t count, double overlap, pl_pool* pool,
                           double* radius)
{
    double pairs = wanted_pairs(clouds, count, overlap), reach = first_reach(clouds, count);
    uint64_t* bins = PL_NEW(uint64_t, BINS + 1);
    if (!bins)
        return pl_fail_memory((BINS + 1) * sizeof *bins);
    pl_status status = PLIANT_OK;
    int refined = 0;
    *radius = 0;
    for (int round = 0; status == PLIANT_OK && round < 200 && reach > 0; ++round)
    {
        memset(bins, 0, (BINS + 1) * sizeof *bins);
        for (uint32_t g = 0; status == PLIANT_OK && g < count; ++g)
            status = add_distances(&clouds[g], reach, pool, bins);
        double sum = 0;
        uint32_t bin = 0;
        for (; bin <= BINS && sum + bins[bin] < pairs * (1 - 1e-9); ++bin)
            sum += bins[bin];
        if (bin <= BINS)
        {
            *radius = reach * ((bin + 1.0) / BINS);
            if (bin > BINS / 64 || refined++ == 4)
                break;
            reach = *radius * 2; /* the bins were too coarse */
        }
        else
            reach *= 1.6;
    }
    pl_free(bins);
    return status;
}

/* ------------------------------------------------------------------ the number for a size */

#define SIZE_SAMPLES 512
/* Minimum number of particles per cluster, for any size. With one per cluster, clusters consist of
 * the same few particles: too stiff for any number of substeps, and without a defined rotation. */
#define LEAST_HELD 3u

/* The number of points over that of a cluster. A cluster of this size has as many points as a ball
 * of the volume size^3 around a point well inside the body, estimated by nearly the largest of many
 * such balls. This suits volumes, sheets and strings, and is independent of the sampling density.
 */
pl_status pl_clouds_count(const pl_cloud* clouds, uint32_t count, double size, uint32_t* clusters)
{
    double radius = size * cbrt(3 / (4 * 3.14159265358979323846)), sum = 0;
    for (uint32_t g = 0; g < count; ++g)
    {
        const pl_cloud* cloud = &clouds[g];
        uint32_t held[SIZE_SAMPLES], samples = PL_MIN(cloud->count, SIZE_SAMPLES);
        for (uint32_t s = 0; s < samples; ++s)
        {
            uint32_t i = (uint32_t)((uint64_t)cloud->count * s / samples);
            vec3 centre = v3(cloud->tree.x[i], cloud->tree.y[i], cloud->tree.z[i]);
            held[s] = pl_kd_within(&cloud->tree, centre, radius, NULL, 0);
        }
        pl_sort_u32(held, samples);
        uint32_t each = PL_MAX(held[(uint64_t)samples * 9 / 10], LEAST_HELD);
        sum += PL_MAX(1.0, (double)cloud->count / each);
    }
    *clusters = (uint32_t)PL_CLAMP(sum + 0.5, 1.0, 4e9);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ random clusters */

static pl_status choose(pl_cloud* cloud, double radius, uint64_t seed, pl_search* search,
                        uint32_t* order, uint32_t* found, uint8_t* covered)
{
    size_t capacity = 0;
    pl_rng rng = pl_rng_seed(seed);
    cloud->clusters = 0;
    pl_free(cloud->centres);
    cloud->centres = NULL;
    for (uint32_t i = 0; i < cloud->count; ++i)
        order[i] = i;
    for (uint32_t left = cloud->count; left > 0; --left)
    {
        uint32_t pick = pl_rng_below(&rng, left), i = order[pick];
        order[pick] = order[left - 1];
        if (covered[i])
            continue;
        if (cloud->clusters % 256 == 0 && pl_search_step(search))
            return PLIANT_CANCELLED;
        if (!pl_grow((void**)&cloud->centres, &capacity, cloud->clusters + 1ull, sizeof(vec3)))
            return pl_fail_memory((cloud->clusters + 1ull) * sizeof(vec3));
        vec3 centre = v3(cloud->tree.x[i], cloud->tree.y[i], cloud->tree.z[i]);
        cloud->centres[cloud->clusters++] = centre;
        uint32_t n = pl_kd_within(&cloud->tree, centre, radius, found, cloud->count);
        for (uint32_t k = 0; k < n; ++k)
            covered[found[k]] = 1;
    }
    return PLIANT_OK;
}

pl_status pl_cloud_random(pl_cloud* cloud, double radius, uint64_t seed, pl_search* search)
{
    uint32_t* order = PL_NEW(uint32_t, cloud->count);
    uint32_t* found = PL_NEW(uint32_t, cloud->count);
    uint8_t* covered = PL_NEW(uint8_t, cloud->count);
    pl_status status = PLIANT_OK;
    if (!order || !found || !covered)
        status = pl_fail_memory(cloud->count * 9ull);
    else
        status = choose(cloud, radius, seed, search, order, found, covered);
    pl_free(order);
    pl_free(found);
    pl_free(covered);
    return status;
}
