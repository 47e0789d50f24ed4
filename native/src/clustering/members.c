// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From centres and a radius to a pl_clustering: the members of each cluster in ascending order,
 * with their kernel values. Points that no cluster reaches join the nearest one; empty clusters are
 * removed.
 */
#include "clustering/cluster.h"
#include "clustering/cluster_internal.h"
#include "clustering/kernel.h"

typedef struct pairs
{
    const pl_cloud* cloud;
    const pl_search* search;
    double radius;
    uint32_t first;      /* number of the cloud's first cluster */
    size_t* begin;       /* of each cluster of all clouds */
    uint32_t* cluster;   /* of each pair */
    uint32_t* place;     /* of each pair, in the cloud's tree order while it is worked on */
    float* kernel;       /* of each pair */
    size_t count;        /* of all pairs so far */
    size_t capacity;     /* of the arrays of pairs */
    uint32_t* per_point; /* how many pairs each point of the caller has */
    uint32_t strays;
} pairs;

static void count_members(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    pairs* p = context;
    (void)worker;
    for (uint32_t c = begin; c < end; ++c)
        p->begin[p->first + c + 1] =
            pl_kd_within(&p->cloud->tree, p->cloud->centres[c], p->radius, NULL, 0);
}

static float kernel_at(const pairs* p, double distance2)
{
    double q2 = distance2 / (p->radius * p->radius);
    return (float)pl_kernel_of(p->search->kernel, p->search->parameter, q2);
}

static void find_members(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    pairs* p = context;
    (void)worker;
    for (uint32_t c = begin; c < end; ++c)
    {
        vec3 centre = p->cloud->centres[c];
        size_t from = p->begin[p->first + c], to = p->begin[p->first + c + 1];
        if (from == to) /* the arrays may be NULL */
            continue;
        pl_kd_within(&p->cloud->tree, centre, p->radius, p->place + from, (uint32_t)(to - from));
        for (size_t e = from; e < to; ++e)
        {
            p->kernel[e] = kernel_at(p, pl_kd_distance2(&p->cloud->tree, p->place[e], centre));
            p->cluster[e] = p->first + c;
        }
    }
}

static bool make_room(pairs* p, size_t count)
{
    size_t room = p->capacity;
    if (count <= room)
        return true;
    /* Each array has the same capacity; it is raised once all have grown. */
    room = PL_MAX(count, room + room / 2);
    void* blocks[3] = {pl_realloc(p->cluster, room, sizeof *p->cluster), NULL, NULL};
    p->cluster = blocks[0] ? blocks[0] : p->cluster;
    blocks[1] = blocks[0] ? pl_realloc(p->place, room, sizeof *p->place) : NULL;
    p->place = blocks[1] ? blocks[1] : p->place;
    blocks[2] = blocks[1] ? pl_realloc(p->kernel, room, sizeof *p->kernel) : NULL;
    p->kernel = blocks[2] ? blocks[2] : p->kernel;
    if (blocks[2])
        p->capacity = room;
    return blocks[2] != NULL;
}

/* Adds the points of the cloud that have no pair. */
static pl_status add_strays(pairs* p)
{
    const pl_cloud* cloud = p->cloud;
    pl_kd centres = {0};
    pl_status status = PLIANT_OK;
    for (uint32_t i = 0; status == PLIANT_OK && i < cloud->count; ++i)
    {
        if (p->per_point[cloud->id[i]])
            continue;
        if (!centres.count)
            status = pl_kd_init(&centres, cloud->clusters, cloud->centres);
        if (status == PLIANT_OK && !make_room(p, p->count + 1))
            status = pl_fail_memory((p->count + 1) * 12);
        if (status != PLIANT_OK)
            break;
        vec3 point = v3(cloud->tree.x[i], cloud->tree.y[i], cloud->tree.z[i]);
        pl_kd_hit hit = pl_kd_nearest(&centres, point, 0);
        p->cluster[p->count] = p->first + centres.order[hit.place];
        p->place[p->count] = cloud->id[i];
        p->kernel[p->count++] = kernel_at(p, hit.distance2);
        p->per_point[cloud->id[i]] = 1;
        ++p->strays;
    }
    pl_kd_free(&centres);
    return status;
}

static pl_status add_cloud(pairs* p)
{
    const pl_cloud* cloud = p->cloud;
    pl_parallel_for(p->search->pool, cloud->clusters, 16, count_members, p);
    p->begin[p->first] = p->count;
    for (uint32_t c = p->first; c < p->first + cloud->clusters; ++c)
        p->begin[c + 1] += p->begin[c];
    size_t end = p->begin[p->first + cloud->clusters];
    if (!make_room(p, end))
        return pl_fail_memory(end * 12);
    pl_parallel_for(p->search->pool, cloud->clusters, 16, find_members, p);
    for (size_t e = p->count; e < end; ++e)
    {
        p->place[e] = cloud->id[p->place[e]];
        ++p->per_point[p->place[e]];
    }
    p->count = end;
    return add_strays(p);
}

/* Sorts pairs by point and distributes them to clusters in that order, so that each cluster's
 * members are ascending. "members" is the number of members of each cluster. */
static pl_status write_out(const pairs* p, uint32_t points, uint32_t clusters, pl_clustering* out)
{
    size_t* at = PL_NEW(size_t, points + 1ull);
    uint32_t* sorted = PL_NEW(uint32_t, p->count);
    uint32_t* number = PL_NEW(uint32_t, clusters + 1ull); /* of each cluster that stays */
    pl_status status = PLIANT_OK;
    if (!at || !sorted || !number)
        status = pl_fail_memory(points * 8ull + p->count * 4 + clusters * 4ull);
    for (uint32_t i = 0; status == PLIANT_OK && i < points; ++i)
        at[i + 1] = at[i] + p->per_point[i];
    for (size_t e = 0; status == PLIANT_OK && e < p->count; ++e)
    {
        sorted[at[p->place[e]]++] = (uint32_t)e;
        number[p->cluster[e]] = 1;
    }
    for (uint32_t c = 0; status == PLIANT_OK && c < clusters; ++c)
    {
        out->centres[out->count] = out->centres[c];
        out->count += number[c];
        number[c] = out->count - 1;
    }
    for (size_t e = 0; status == PLIANT_OK && e < p->count; ++e)
        ++out->begin[number[p->cluster[e]] + 1];
    for (uint32_t c = 0; c < out->count; ++c)
        out->begin[c + 1] += out->begin[c];
    for (size_t s = 0; status == PLIANT_OK && s < p->count; ++s)
    {
        size_t e = sorted[s];
        uint32_t slot = out->begin[number[p->cluster[e]]]++;
        out->particle[slot] = p->place[e];
        out->kernel[slot] = p->kernel[e];
    }
    for (uint32_t c = out->count; c > 0; --c)
        out->begin[c] = out->begin[c - 1];
    out->begin[0] = 0;
    pl_free(at);
    pl_free(sorted);
    pl_free(number);
    return status;
}

static pl_status find_all(pairs* p, const pl_cloud* clouds, uint32_t count, uint32_t points,
                          uint32_t clusters, pl_clustering* out)
{
    if (!p->begin || !p->per_point || !out->centres || !out->begin)
        return pl_fail_memory(clusters * 36ull + points * 4ull);
    for (uint32_t g = 0; g < count; ++g)
    {
        p->cloud = &clouds[g];
        PL_TRY(add_cloud(p));
        for (uint32_t c = 0; c < clouds[g].clusters; ++c)
            out->centres[p->first + c] = clouds[g].centres[c];
        p->first += clouds[g].clusters;
    }
    if (p->count > UINT32_MAX)
        return pl_fail(PLIANT_ERROR_CLUSTERING,
                       "a radius of %g gives %zu memberships, more than 4294967295", p->radius,
                       p->count);
    out->particle = PL_NEW(uint32_t, p->count);
    out->kernel = PL_NEW(float, p->count);
    if (!out->particle || !out->kernel)
        return pl_fail_memory(p->count * 8);
    return write_out(p, points, clusters, out);
}

pl_status pl_clouds_members(const pl_cloud* clouds, uint32_t count, uint32_t points, double radius,
                            const pl_search* search, pl_clustering* out)
{
    uint32_t clusters = 0;
    for (uint32_t g = 0; g < count; ++g)
        clusters += clouds[g].clusters;
    pairs p = {
        .search = search,
        .radius = radius,
        .begin = PL_NEW(size_t, clusters + 1ull),
        .per_point = PL_NEW(uint32_t, points),
    };
    out->radius = radius;
    out->centres = PL_NEW(vec3, clusters);
    out->begin = PL_NEW(uint32_t, clusters + 1ull);
    pl_status status = find_all(&p, clouds, count, points, clusters, out);
    out->strays = p.strays;
    pl_free(p.begin);
    pl_free(p.cluster);
    pl_free(p.place);
    pl_free(p.kernel);
    pl_free(p.per_point);
    return status;
}
