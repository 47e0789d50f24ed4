// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * k-means (Lloyd 1982), as Jones et al. 2015, section 3.3, use it: each point belongs to the
 * nearest centre, each centre moves to its points' centre of mass, until nothing changes.
 *
 * Two departures. Seeds are stratified: a random point of each of as many compact groups of equal
 * size. They are well spread, and a few iterations do the work of dozens from purely random seeds.
 * And nearest centres are cached by the bound of Hamerly 2010: with distances d1 and d2 to the two
 * nearest centres, a point is tested again only when its own centre and the fastest other one have
 * together moved by d2 - d1. Results are the same as without the bound.
 */
#include "base/rng.h"
#include "clustering/cluster_internal.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the cloud */

pl_status pl_cloud_init(pl_cloud* cloud, uint32_t count, const uint32_t* which, const vec3* points,
                        const double* masses)
{
    *cloud = (pl_cloud){.count = count};
    cloud->points = PL_NEW(vec3, count);
    cloud->mass = PL_NEW(double, count);
    cloud->id = PL_NEW(uint32_t, count);
    cloud->nearest = PL_NEW(uint32_t, count);
    if (!cloud->points || !cloud->mass || !cloud->id || !cloud->nearest)
        return pl_fail_memory(count * (sizeof(vec3) + 16));
    for (uint32_t i = 0; i < count; ++i)
        cloud->points[i] = points[which[i]];
    PL_TRY(pl_kd_init(&cloud->tree, count, cloud->points));
    for (uint32_t i = 0; i < count; ++i)
    {
        cloud->id[i] = which[cloud->tree.order[i]];
        cloud->mass[i] = masses[cloud->id[i]];
    }
    const pl_kd_box* box = &cloud->tree.box[1];
    cloud->extent = v3_length(v3_sub(v3_fromd(box->upper), v3_fromd(box->lower)));
    return PLIANT_OK;
}

void pl_cloud_free(pl_cloud* cloud)
{
    pl_kd_free(&cloud->tree);
    pl_free(cloud->points);
    pl_free(cloud->mass);
    pl_free(cloud->id);
    pl_free(cloud->nearest);
    pl_free(cloud->centres);
    *cloud = (pl_cloud){0};
}

/* ------------------------------------------------------------------ the iteration */

typedef struct kmeans
{
    pl_cloud* cloud;
    pl_kd tree;       /* of the centres, rebuilt in each iteration */
    uint32_t* place;  /* of each centre in that tree */
    double* moved;    /* of each centre: all its steps so far, summed */
    double drift;     /* the largest step of each iteration, summed */
    double* limit;    /* of each point: tested again when moved + drift reach this */
    double (*sum)[4]; /* of each centre's points: mass times position, mass */
    uint32_t changed; /* points that went to another cluster */
} kmeans;

static void kmeans_free(kmeans* k)
{
    pl_kd_free(&k->tree);
    pl_free(k->place);
    pl_free(k->moved);
    pl_free(k->limit);
    pl_free(k->sum);
}

static void assign(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    kmeans* k = context;
    pl_cloud* cloud = k->cloud;
    (void)worker;
    uint32_t changed = 0;
    for (uint32_t i = begin; i < end; ++i)
    {
        uint32_t own = cloud->nearest[i];
        if (k->moved[own] + k->drift < k->limit[i])
            continue;
        vec3 point = v3(cloud->tree.x[i], cloud->tree.y[i], cloud->tree.z[i]);
        pl_kd_hit hit = pl_kd_nearest(&k->tree, point, k->place[own]);
        uint32_t cluster = k->tree.order[hit.place];
        changed += cluster != own;
        cloud->nearest[i] = cluster;
        double room = sqrt(hit.second2) - sqrt(hit.distance2);
        k->limit[i] = k->moved[cluster] + k->drift + room * (1 - 1e-9);
    }
    __atomic_fetch_add(&k->changed, changed, __ATOMIC_RELAXED);
}

typedef struct far_point
{
    double distance2;
    uint32_t place;
} far_point;

static int farthest_first(const void* a, const void* b)
{
    const far_point *p = a, *q = b;
    if (p->distance2 != q->distance2)
        return p->distance2 > q->distance2 ? -1 : 1;
    return p->place < q->place ? -1 : p->place > q->place;
}

/* The points farthest from their centres: new centres of clusters without points. */
static far_point* farthest_points(const kmeans* k)
{
    const pl_cloud* cloud = k->cloud;
    far_point* far = PL_NEW(far_point, cloud->count);
    for (uint32_t i = 0; far && i < cloud->count; ++i)
        far[i] =
            (far_point){pl_kd_distance2(&cloud->tree, i, cloud->centres[cloud->nearest[i]]), i};
    if (far)
        qsort(far, cloud->count, sizeof *far, farthest_first);
    return far;
}

/* Single-threaded sums in the order of points: the same bits for any number of threads. */
static void sum_points(kmeans* k)
{
    pl_cloud* cloud = k->cloud;
    memset(k->sum, 0, cloud->clusters * sizeof *k->sum);
    for (uint32_t i = 0; i < cloud->count; ++i)
    {
        double *sum = k->sum[cloud->nearest[i]], mass = cloud->mass[i];
        sum[0] += mass * cloud->tree.x[i];
        sum[1] += mass * cloud->tree.y[i];
        sum[2] += mass * cloud->tree.z[i];
        sum[3] += mass;
    }
}

/* *restarted: an empty cluster got a new centre. */
static pl_status move_centres(kmeans* k, bool* restarted)
{
    pl_cloud* cloud = k->cloud;
    far_point* far = NULL;
    uint32_t next = 0;
    double largest = 0;
    *restarted = false;
    sum_points(k);
    for (uint32_t c = 0; c < cloud->clusters; ++c)
    {
        const double* sum = k->sum[c];
        vec3 centre = v3_scale(v3(sum[0], sum[1], sum[2]), 1 / sum[3]);
        if (sum[3] <= 0)
        {
            if (!far && !(far = farthest_points(k)))
                return pl_fail_memory(cloud->count * sizeof(far_point));
            if (next == cloud->count || far[next].distance2 <= 0)
                continue; /* every point is a centre already */
            uint32_t i = far[next++].place;
            centre = v3(cloud->tree.x[i], cloud->tree.y[i], cloud->tree.z[i]);
            *restarted = true;
        }
        double step = v3_length(v3_sub(centre, cloud->centres[c]));
        cloud->centres[c] = centre;
        k->moved[c] += step;
        largest = PL_MAX(largest, step);
    }
    k->drift += largest;
    pl_free(far);
    return PLIANT_OK;
}

static pl_status assign_all(kmeans* k, pl_pool* pool)
{
    pl_cloud* cloud = k->cloud;
    pl_kd_free(&k->tree);
    PL_TRY(pl_kd_init(&k->tree, cloud->clusters, cloud->centres));
    for (uint32_t c = 0; c < cloud->clusters; ++c)
        k->place[k->tree.order[c]] = c;
    pl_parallel_for(pool, cloud->count, 1024, assign, k);
    return PLIANT_OK;
}

static pl_status iterate(kmeans* k, uint32_t iterations, pl_search* search, uint32_t* done,
                         bool* settled)
{
    pl_cloud* cloud = k->cloud;
    bool restarted = false;
    *settled = false;
    for (*done = 0; *done < iterations && !*settled; ++*done)
    {
        if (pl_search_step(search))
            return PLIANT_CANCELLED;
        k->changed = 0;
        PL_TRY(assign_all(k, search->pool));
        PL_TRY(move_centres(k, &restarted));
        *settled = *done > 0 && !k->changed && !restarted;
    }
    if (restarted)
    {
        PL_TRY(assign_all(k, search->pool));
        sum_points(k);
    }
    /* Clusters that are empty now got no centre: there are fewer distinct points. */
    uint32_t kept = 0;
    for (uint32_t c = 0; c < cloud->clusters; ++c)
        if (k->sum[c][3] > 0)
            cloud->centres[kept++] = cloud->centres[c];
    cloud->clusters = kept;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ seeds */

static pl_status seed_centres(pl_cloud* cloud, uint64_t seed)
{
    uint32_t* order = PL_NEW(uint32_t, cloud->count);
    uint32_t* place = PL_NEW(uint32_t, cloud->count);
    pl_status status = order && place ? PLIANT_OK : pl_fail_memory(cloud->count * 8ull);
    if (status == PLIANT_OK)
        status = pl_kd_partition(cloud->count, cloud->points, cloud->clusters, order);
    if (status == PLIANT_OK)
    {
        pl_rng rng = pl_rng_seed(seed);
        for (uint32_t i = 0; i < cloud->count; ++i)
            place[cloud->tree.order[i]] = i;
        for (uint32_t c = 0; c < cloud->clusters; ++c)
        {
            uint32_t begin = (uint32_t)((uint64_t)cloud->count * c / cloud->clusters);
            uint32_t end = (uint32_t)((uint64_t)cloud->count * (c + 1ull) / cloud->clusters);
            cloud->centres[c] = cloud->points[order[begin + pl_rng_below(&rng, end - begin)]];
            for (uint32_t i = begin; i < end; ++i)
                cloud->nearest[place[order[i]]] = c; /* an initial guess */
        }
    }
    pl_free(order);
    pl_free(place);
    return status;
}

pl_status pl_cloud_kmeans(pl_cloud* cloud, uint32_t clusters, uint64_t seed, uint32_t iterations,
                          pl_search* search, uint32_t* done, bool* settled)
{
    cloud->clusters = PL_CLAMP(clusters, 1u, cloud->count);
    pl_free(cloud->centres);
    cloud->centres = PL_NEW(vec3, cloud->clusters);
    kmeans k = {
        .cloud = cloud,
        .place = PL_NEW(uint32_t, cloud->clusters),
        .moved = PL_NEW(double, cloud->clusters),
        .limit = PL_NEW(double, cloud->count),
        .sum = pl_alloc(cloud->clusters, sizeof *k.sum),
    };
    pl_status status = PLIANT_OK;
    if (!cloud->centres || !k.place || !k.moved || !k.limit || !k.sum)
        status = pl_fail_memory(cloud->count * 8ull + cloud->clusters * 68ull);
    if (status == PLIANT_OK)
        status = seed_centres(cloud, seed);
    if (status == PLIANT_OK)
        status = iterate(&k, iterations, search, done, settled);
    kmeans_free(&k);
    return status;
}
