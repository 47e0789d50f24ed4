// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Ben Jones, April Martin, Joshua A. Levine, Tamar Shinar, Adam W. Bargteil: Clustering and
 * Collision Detection for Clustered Shape Matching, 2015, section 3.4, Eq. 15: from the principal
 * axes of A_rr the six planes that bound the members; those near the centre become half-spaces.
 *
 * Departures: a plane's distance is measured from the query centre in radii, so that units do not
 * matter, and planes lie a margin outside of the members, so that a layer of particles has a
 * thickness. Strays, members beyond the query radius, have no say in the planes: a plane that
 * bounds them would be farther away than the ball's surface.
 */
#include "proxy.h"

#include "../base/lapack.h"

#include <float.h>
#include <string.h>

pl_proxy_desc pl_proxy_defaults(const pl_body* body)
{
    return (pl_proxy_desc){.plane_distance = 1, .margin = .5 * body->spacing};
}

/* ------------------------------------------------------------------ members */

/* Calls with every finest membership in the order of chunks and blocks. */
typedef void (*member_fn)(void* context, uint32_t cluster, uint32_t slot, float weight);

static void each_member(const pl_body* body, member_fn call, void* context)
{
    const pl_particles* p = &body->particles;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            {
                uint32_t cluster = chunk->rows[chunk->entry_row[e]];
                for (uint32_t lane = 0; lane < 8 && cluster < body->level_begin[1]; ++lane)
                {
                    uint32_t slot = chunk->slot_begin + 8 * b + lane;
                    float kernel = chunk->entry_kernel[8 * (size_t)e + lane];
                    if (kernel > 0 && p->mass[slot] > 0)
                        call(context, cluster, slot,
                             body->clusters.fade[cluster] * kernel * p->norm[slot]);
                }
            }
    }
}

static void count_member(void* context, uint32_t cluster, uint32_t slot, float weight)
{
    pl_proxies* proxies = context;
    (void)slot, (void)weight;
    ++proxies->member_begin[cluster + 1];
}

typedef struct filling
{
    pl_proxies* proxies;
    uint32_t* at;
} filling;

static void store_member(void* context, uint32_t cluster, uint32_t slot, float weight)
{
    const filling* f = context;
    uint32_t at = f->at[cluster]++;
    f->proxies->member_slot[at] = slot;
    f->proxies->member_weight[at] = weight;
}

/* Puts the members that are at home in a cluster first; the order stays otherwise. */
static pl_status find_homes(pl_proxies* proxies, uint32_t slots)
{
    uint32_t* home = PL_NEW(uint32_t, slots); /* the membership that weighs most, plus one */
    uint32_t members = proxies->member_begin[proxies->count], kept_count = 0;
    uint32_t* kept = PL_NEW(uint32_t, members);
    float* kept_weight = PL_NEW(float, members);
    proxies->home_end = PL_NEW(uint32_t, proxies->count);
    bool fine = home && kept && kept_weight && proxies->home_end;
    for (uint32_t m = 0; fine && m < members; ++m)
    {
        uint32_t* best = &home[proxies->member_slot[m]];
        if (!*best || proxies->member_weight[m] > proxies->member_weight[*best - 1])
            *best = m + 1;
    }
    for (uint32_t c = 0; fine && c < proxies->count; ++c)
    {
        uint32_t begin = proxies->member_begin[c], at = begin;
        kept_count = 0;
        for (uint32_t m = begin; m < proxies->member_begin[c + 1]; ++m)
        {
            uint32_t slot = proxies->member_slot[m];
            float weight = proxies->member_weight[m];
            if (home[slot] == m + 1)
                proxies->member_slot[at] = slot, proxies->member_weight[at++] = weight;
            else
                kept[kept_count] = slot, kept_weight[kept_count++] = weight;
        }
        proxies->home_end[c] = at;
        memcpy(proxies->member_slot + at, kept, sizeof *kept * kept_count);
        memcpy(proxies->member_weight + at, kept_weight, sizeof *kept_weight * kept_count);
    }
    pl_free(home);
    pl_free(kept);
    pl_free(kept_weight);
    return fine ? PLIANT_OK : pl_fail_memory((size_t)members * 8);
}

pl_status pl_proxies_list_members(const pl_body* body, pl_proxies* proxies)
{
    uint32_t count = body->level_begin[1];
    pl_free(proxies->member_begin);
    pl_free(proxies->home_end);
    pl_free(proxies->member_slot);
    pl_free(proxies->member_weight);
    proxies->home_end = NULL;
    proxies->member_slot = NULL;
    proxies->member_weight = NULL;
    proxies->count = count;
    proxies->member_begin = PL_NEW(uint32_t, (size_t)count + 1);
    if (!proxies->member_begin)
        return pl_fail_memory((size_t)count * 4);
    each_member(body, count_member, proxies);
    for (uint32_t c = 0; c < count; ++c)
        proxies->member_begin[c + 1] += proxies->member_begin[c];
    size_t members = proxies->member_begin[count];
    filling fill = {proxies, PL_NEW(uint32_t, count)};
    proxies->member_slot = PL_NEW(uint32_t, members);
    proxies->member_weight = PL_NEW(float, members);
    if (!fill.at || !proxies->member_slot || !proxies->member_weight)
    {
        pl_free(fill.at);
        return pl_fail_memory(members * 8);
    }
    memcpy(fill.at, proxies->member_begin, sizeof(uint32_t) * count);
    each_member(body, store_member, &fill);
    pl_free(fill.at);
    return find_homes(proxies, body->particles.slot_count);
}

/* ------------------------------------------------------------------ half-spaces */

/* The largest float below that is not less: rounding must not leave a member outside. */
static float round_down(double a)
{
    float rounded = (float)a;
    return rounded > a ? nextafterf(rounded, -FLT_MAX) : rounded;
}

static pl_status insert_plane(pl_proxies* proxies, uint32_t at, size_t count, vec3 normal,
                              double offset)
{
    if (!pl_grow((void**)&proxies->plane, &proxies->plane_capacity, count + 1,
                 sizeof *proxies->plane))
        return pl_fail_memory((count + 1) * sizeof *proxies->plane);
    memmove(proxies->plane + at + 1, proxies->plane + at, (count - at) * sizeof *proxies->plane);
    v3_store(normal, proxies->plane[at]);
    proxies->plane[at][3] = round_down(offset);
    return PLIANT_OK;
}

/* While proxies are made, cluster by cluster: nothing is behind the last one. */
static pl_status append_plane(pl_proxies* proxies, uint32_t cluster, vec3 normal, double offset)
{
    uint32_t* end = &proxies->plane_begin[cluster + 1];
    PL_TRY(insert_plane(proxies, *end, *end, normal, offset));
    ++*end;
    return PLIANT_OK;
}

pl_status pl_proxies_add(pl_proxies* proxies, uint32_t cluster, vec3 normal, double offset)
{
    double length = v3_length(normal);
    if (cluster >= proxies->count)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "cluster %u gets a half-space, but there are only %u clusters", cluster,
                       proxies->count);
    if (!(length > 0 && length <= DBL_MAX && fabs(offset / length) <= FLT_MAX))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "a half-space has the normal (%g, %g, %g) and the offset %g: they must be "
                       "finite, and the normal not zero",
                       normal.x, normal.y, normal.z, offset);
    PL_TRY(insert_plane(proxies, proxies->plane_begin[cluster + 1],
                        proxies->plane_begin[proxies->count], v3_scale(normal, 1 / length),
                        offset / length));
    for (uint32_t c = cluster + 1; c <= proxies->count; ++c)
        ++proxies->plane_begin[c];
    return PLIANT_OK;
}

/* Where members are at rest. Slots are looked for in the chunk that holds them. */
static vec3 rest_of(const pl_body* body, uint32_t slot)
{
    uint32_t low = 0, high = body->chunk_count;
    while (high - low > 1)
    {
        uint32_t middle = (low + high) / 2;
        *(body->chunks[middle].slot_begin <= slot ? &low : &high) = middle;
    }
    const pl_particles* p = &body->particles;
    return v3_add(v3(p->r[0][slot], p->r[1][slot], p->r[2][slot]),
                  v3_from(body->chunks[low].rest_origin));
}

static pl_status cut(const pl_body* body, const pl_proxy_desc* desc, uint32_t c,
                     pl_proxies* proxies)
{
    const pl_clusters* k = &body->clusters;
    const float* a = k->arr[c];
    mat3 scatter = {{{a[0], a[3], a[5]}, {a[3], a[1], a[4]}, {a[5], a[4], a[2]}}}, axes;
    vec3 centre = v3_from(k->centre[c]);
    double values[3], reach = desc->plane_distance * k->radius[c];
    double inside = k->radius[c] * (1 + 1e-5);
    if (!pl_eigen3(scatter, values, &axes))
        return pl_fail(PLIANT_ERROR_INTERNAL, "cluster %u has a scatter matrix without axes", c);
    for (int i = 0; i < 3; ++i)
    {
        float stored[3];
        v3_store(v3(axes.m[0][i], axes.m[1][i], axes.m[2][i]), stored);
        vec3 axis = v3_from(stored);
        double low = INFINITY, high = -INFINITY;
        for (uint32_t m = proxies->member_begin[c]; m < proxies->member_begin[c + 1]; ++m)
        {
            vec3 arm = v3_sub(rest_of(body, proxies->member_slot[m]), centre);
            double along = v3_dot(axis, arm);
            if (v3_length(arm) <= inside)
                low = fmin(low, along), high = fmax(high, along);
        }
        double from_zero = v3_dot(axis, centre);
        /* what rounding to float may take away of positions and normals */
        double slack = desc->margin + 1e-6 * (v3_length(centre) + k->radius[c]);
        if (high > -INFINITY && fabs(high + desc->margin) <= reach)
            PL_TRY(append_plane(proxies, c, axis, -(from_zero + high + slack)));
        if (low < INFINITY && fabs(low - desc->margin) <= reach)
            PL_TRY(append_plane(proxies, c, v3_scale(axis, -1), from_zero + low - slack));
    }
    return PLIANT_OK;
}

pl_status pl_proxies_build(const pl_body* body, const pl_proxy_desc* desc, pl_proxies* proxies)
{
    memset(proxies, 0, sizeof *proxies);
    if (!(desc->plane_distance >= 0 && desc->margin >= 0 && desc->margin <= FLT_MAX))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "proxies have a plane distance of %g and a margin of %g: both must be 0 or "
                       "more",
                       desc->plane_distance, desc->margin);
    PL_TRY(pl_proxies_list_members(body, proxies));
    proxies->plane_begin = PL_NEW(uint32_t, (size_t)proxies->count + 1);
    if (!proxies->plane_begin)
        return pl_fail_memory((size_t)proxies->count * 4);
    for (uint32_t c = 0; c < proxies->count && desc->plane_distance > 0; ++c)
    {
        proxies->plane_begin[c + 1] = proxies->plane_begin[c];
        PL_TRY(cut(body, desc, c, proxies));
    }
    return PLIANT_OK;
}

void pl_proxies_free(pl_proxies* proxies)
{
    pl_free(proxies->plane_begin);
    pl_free(proxies->plane);
    pl_free(proxies->member_begin);
    pl_free(proxies->home_end);
    pl_free(proxies->member_slot);
    pl_free(proxies->member_weight);
    memset(proxies, 0, sizeof *proxies);
}
