// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Levels of clusters: Kaliappan and Bargteil, "Multi-resolution Clustered Shape Matching", 2020,
 * Algorithm 1 (the levels) and equations 14 to 21 (their weights).
 *
 *   level 0   particles --> N clusters of radius r
 *   level 1   ...       --> N / 8 clusters of radius 2 r, and so on down to a single one
 *
 * Independent levels are those of the paper: each clusters the particles. Nested levels, the
 * default, depart from it: a level's points are the centres of mass of the clusters below, with the
 * masses of those clusters, and its kernel values are normalised. So a particle's weight in a
 * coarse cluster is the sum over its fine clusters of weight times value, and its weights sum to 1.
 *
 * If a coarse level does not converge, its radius grows and its count stays, so that levels have
 * the counts of Algorithm 1. Shells are separate on every level: the coarsest has one cluster each.
 */
#include "clustering/hierarchy.h"

#include "geometry/spatial_sort.h"

#include <string.h>

void pl_hierarchy_free(pl_hierarchy* hierarchy)
{
    for (uint32_t l = 0; l < PLIANT_MAX_LEVELS; ++l)
        pl_clustering_free(&hierarchy->level[l]);
    *hierarchy = (pl_hierarchy){0};
}

/* ------------------------------------------------------------------ weights */

/* Equations 14 to 20; the Gaussian's factor cancels. "distance" in levels is from the finest if
 * coarse levels are favoured, from the coarsest if fine ones are. */
static double raw_weight(const pliant_levels_desc* levels, uint32_t level, uint32_t count)
{
    uint32_t distance = levels->favour_fine ? count - 1 - level : level;
    double opposite = count - 1 - distance;
    if (count == 1 && levels->weighting != PLIANT_WEIGHT_MANUAL)
        return 1;
    switch (levels->weighting)
    {
        case PLIANT_WEIGHT_LINEAR:
            return distance + (levels->a >= 0 ? levels->a : 0.01);
        case PLIANT_WEIGHT_GAUSSIAN:
            return exp(-0.5 * opposite * opposite);
        case PLIANT_WEIGHT_POLYNOMIAL:
            return pow(1 + (levels->a >= 0 ? levels->a : 10) * distance / count,
                       levels->b >= 0 ? levels->b : 2);
        case PLIANT_WEIGHT_MANUAL:
            return levels->weights[level];
        default:
            return 1;
    }
}

pl_status pl_level_weights(const pliant_levels_desc* levels, uint32_t count,
                           double weights[PLIANT_MAX_LEVELS])
{
    double sum = 0;
    memset(weights, 0, PLIANT_MAX_LEVELS * sizeof *weights);
    for (uint32_t l = 0; l < count; ++l)
    {
        weights[l] = raw_weight(levels, l, count);
        if (!(weights[l] >= 0) || !isfinite(weights[l]))
            return pl_fail(PLIANT_ERROR_ARGUMENT,
                           "the weight of level %u is %g: it must be a number of 0 or more", l,
                           weights[l]);
        sum += weights[l];
    }
    if (!(sum > 0) || !isfinite(sum))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "the weights of %u levels sum to %g: at least one "
                       "must be above 0",
                       count, sum);
    for (uint32_t l = 0; l < count; ++l)
        weights[l] /= sum;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ levels */

/* The points that a level clusters. */
typedef struct elements
{
    uint32_t count;
    const vec3* points;
    const double* masses;
    const uint32_t* shell;
    vec3* own_points; /* NULL if the caller owns the arrays */
    double* own_masses;
    uint32_t* own_shell;
} elements;

static void elements_free(elements* e)
{
    pl_free(e->own_points);
    pl_free(e->own_masses);
    pl_free(e->own_shell);
    *e = (elements){0};
}

/* The sum of each element's kernel values over its clusters. */
static double* kernel_sums(const pl_clustering* clustering, uint32_t count)
{
    double* sums = PL_NEW(double, count);
    for (uint32_t e = 0; sums && e < clustering->begin[clustering->count]; ++e)
        sums[clustering->particle[e]] += clustering->kernel[e];
    return sums;
}

/* Makes the elements of the next level from a level's clusters: centres of mass (Jones et al. 2015,
 * equation 7) and masses. "into" may not be "from". */
static pl_status aggregate(const pl_clustering* clustering, const elements* from, elements* into)
{
    uint32_t n = clustering->count;
    double* sums = kernel_sums(clustering, from->count);
    *into = (elements){
        .count = n,
        .own_points = PL_NEW(vec3, n),
        .own_masses = PL_NEW(double, n),
        .own_shell = PL_NEW(uint32_t, n),
    };
    into->points = into->own_points;
    into->masses = into->own_masses;
    into->shell = from->shell ? into->own_shell : NULL;
    if (!sums || !into->own_points || !into->own_masses || !into->own_shell)
    {
        pl_free(sums);
        return pl_fail_memory(from->count * 8ull + n * 36ull);
    }
    for (uint32_t c = 0; c < n; ++c)
    {
        vec3 sum = v3(0, 0, 0);
        double mass = 0;
        for (uint32_t e = clustering->begin[c]; e < clustering->begin[c + 1]; ++e)
        {
            uint32_t i = clustering->particle[e];
            double share = from->masses[i] * (clustering->kernel[e] / sums[i]);
            sum = v3_mad(sum, from->points[i], share);
            mass += share;
        }
        into->own_points[c] = v3_scale(sum, 1 / mass);
        into->own_masses[c] = mass;
        if (from->shell)
            into->own_shell[c] = from->shell[clustering->particle[clustering->begin[c]]];
    }
    pl_free(sums);
    return PLIANT_OK;
}

static pl_status normalise(pl_clustering* clustering, uint32_t count)
{
    double* sums = kernel_sums(clustering, count);
    if (!sums)
        return pl_fail_memory(count * sizeof *sums);
    for (uint32_t e = 0; e < clustering->begin[clustering->count]; ++e)
        clustering->kernel[e] = (float)(clustering->kernel[e] / sums[clustering->particle[e]]);
    pl_free(sums);
    return PLIANT_OK;
}

static pl_status count_shells(const elements* e, uint32_t* shells)
{
    *shells = 1;
    if (!e->shell)
        return PLIANT_OK;
    uint32_t* sorted = PL_NEW(uint32_t, e->count);
    if (!sorted)
        return pl_fail_memory(e->count * sizeof *sorted);
    memcpy(sorted, e->shell, e->count * sizeof *sorted);
    pl_sort_u32(sorted, e->count);
    for (uint32_t i = 1; i < e->count; ++i)
        *shells += sorted[i] != sorted[i - 1];
    pl_free(sorted);
    return PLIANT_OK;
}

/* The level above "fine". Random clustering takes no count: its radius grows until there are fewer
 * clusters. */
static pl_status add_level(const elements* e, const pliant_cluster_desc* cluster,
                           const pliant_levels_desc* levels, const pl_clustering* fine,
                           pl_pool* pool, pl_task* task, pl_clustering* coarse)
{
    double multiplier = levels->radius_multiplier;
    pliant_cluster_desc desc = *cluster;
    desc.count = PL_MAX(fine->count / PL_MAX(levels->reduction, 2u), 1u);
    desc.radius = fine->radius * multiplier;
    PL_TRY(pl_cluster_level(e->count, e->points, e->masses, e->shell, &desc, pool, task, coarse));
    while (cluster->algorithm == PLIANT_CLUSTER_RANDOM && coarse->count >= fine->count)
    {
        desc.radius *= PL_MAX(multiplier, 1.25);
        pl_clustering_free(coarse);
        PL_TRY(
            pl_cluster_level(e->count, e->points, e->masses, e->shell, &desc, pool, task, coarse));
    }
    return levels->kind == PLIANT_LEVELS_NESTED ? normalise(coarse, e->count) : PLIANT_OK;
}

/* Sorts the clusters of a level into kd order, so that clusters that a chunk, or a coarser cluster,
 * reads together are near in memory. */
static pl_status sort_clusters(pl_clustering* level)
{
    uint32_t count = level->count, members = level->begin[count];
    uint32_t* order = PL_NEW(uint32_t, count);
    pl_clustering sorted = {.centres = PL_NEW(vec3, count),
                            .begin = PL_NEW(uint32_t, (size_t)count + 1),
                            .particle = PL_NEW(uint32_t, members),
                            .kernel = PL_NEW(float, members)};
    bool fine = order && sorted.centres && sorted.begin && sorted.particle && sorted.kernel;
    for (uint32_t c = 0; fine && c < count; ++c)
        order[c] = c;
    if (fine)
        pl_spatial_sort(count, level->centres, 64, order);
    for (uint32_t c = 0; fine && c < count; ++c)
    {
        uint32_t from = level->begin[order[c]], size = level->begin[order[c] + 1] - from;
        sorted.centres[c] = level->centres[order[c]];
        sorted.begin[c + 1] = sorted.begin[c] + size;
        memcpy(sorted.particle + sorted.begin[c], level->particle + from, size * sizeof(uint32_t));
        memcpy(sorted.kernel + sorted.begin[c], level->kernel + from, size * sizeof(float));
    }
    pl_free(order);
    pl_clustering* drop = fine ? level : &sorted;
    pl_free(drop->centres);
    pl_free(drop->begin);
    pl_free(drop->particle);
    pl_free(drop->kernel);
    if (!fine)
        return pl_fail_memory((size_t)members * 8);
    level->centres = sorted.centres;
    level->begin = sorted.begin;
    level->particle = sorted.particle;
    level->kernel = sorted.kernel;
    return PLIANT_OK;
}

static pl_status add_levels(const elements* particles, const pliant_cluster_desc* cluster,
                            const pliant_levels_desc* levels, pl_pool* pool, pl_task* task,
                            pl_hierarchy* h)
{
    uint32_t most = levels->count ? PL_MIN(levels->count, PLIANT_MAX_LEVELS) : PLIANT_MAX_LEVELS;
    uint32_t shells = 1;
    pl_task part = task ? *task : (pl_task){0};
    elements below = *particles, own = {0};
    pl_status status = count_shells(particles, &shells);
    while (status == PLIANT_OK && h->level_count < most &&
           h->level[h->level_count - 1].count > shells)
    {
        const pl_clustering* fine = &h->level[h->level_count - 1];
        if (levels->kind == PLIANT_LEVELS_NESTED)
        {
            elements lumps = {0};
            status = aggregate(fine, &below, &lumps);
            elements_free(&own);
            below = own = lumps;
        }
        part.to = part.from + (part.to - part.from) * 0.5; /* each level takes half of the rest */
        if (status == PLIANT_OK)
            status = add_level(&below, cluster, levels, fine, pool, task ? &part : NULL,
                               &h->level[h->level_count]);
        if (status == PLIANT_OK)
            status = sort_clusters(&h->level[h->level_count]);
        ++h->level_count;
        part.from = part.to;
        part.to = task ? task->to : 0;
    }
    elements_free(&own);
    return status;
}

pl_status pl_hierarchy_build(uint32_t count, const vec3* points, const double* masses,
                             const uint32_t* shell, const pliant_cluster_desc* cluster,
                             const pliant_levels_desc* levels, pl_clustering* finest, pl_pool* pool,
                             pl_task* task, pl_hierarchy* hierarchy)
{
    elements particles = {.count = count, .points = points, .masses = masses, .shell = shell};
    *hierarchy = (pl_hierarchy){.level_count = 1, .level = {*finest}};
    *finest = (pl_clustering){0};
    pl_status status = sort_clusters(&hierarchy->level[0]);
    if (status == PLIANT_OK)
        status = add_levels(&particles, cluster, levels, pool, task, hierarchy);
    if (status == PLIANT_OK)
        status = pl_level_weights(levels, hierarchy->level_count, hierarchy->weight);
    if (status != PLIANT_OK)
        pl_hierarchy_free(hierarchy);
    return status;
}
