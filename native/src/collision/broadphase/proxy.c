// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Ben Jones, April Martin, Joshua A. Levine, Tamar Shinar, Adam W. Bargteil: Clustering and
 * Collision Detection for Clustered Shape Matching, 2015, section 3.4, Eq. 15: six planes along the
 * principal axes of A_rr bound the members; those near the centre become half-spaces. Callers can
 * read them; contacts use the surface of the whole body (collision/cluster/sdf_query.c).
 *
 * Departures: plane distances are measured from the query centre in radii, which makes them
 * independent of units, and planes lie a margin outside the members, which gives a layer of
 * particles a thickness. Members beyond the query radius do not count: a plane around them would
 * lie outside the ball.
 */
#include "collision/broadphase/proxy.h"

#include "base/lapack.h"
#include "body/cut_query.h"
#include "body/memberships.h"

#include <float.h>
#include <string.h>

pl_proxy_desc pl_proxy_defaults(const pl_body* body)
{
    return (pl_proxy_desc){.plane_distance = 1, .margin = .5 * body->spacing};
}

/* ------------------------------------------------------------------ members */

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

static double depth_of(const pl_body* body, uint32_t slot)
{
    return -pl_rest_sdf_distance(&body->rest_sdf, pl_rest_of(body, slot), NULL);
}

/* Distance of a particle from the nearest crack, on its own side, and the direction to it; INFINITY
 * without one. */
static double depth_at_crack(const pl_body* body, uint32_t cluster, uint32_t slot, vec3* way)
{
    const pl_cuts* cuts = &body->cuts;
    if (!cuts->plane_count)
        return INFINITY;
    double crack = pl_crack_distance(body, cuts->piece[cluster], pl_rest_of(body, slot), way);
    if (!(cuts->over[slot] > crack))
        return -crack;
    *way = v3(0, 0, 0); /* a slit: both sides belong to one piece, so there is no direction */
    return -(double)cuts->over[slot];
}

/* Sort key of a membership in its cluster's list: 0 home and at the surface, 1 home, 2 other. */
static uint32_t part_of(const pl_body* body, const uint32_t* home, uint32_t c, uint32_t m,
                        uint32_t slot)
{
    double spacing = body->rest_sdf.spacing;
    vec3 way;
    if (home[slot] != m + 1)
        return 2;
    if (body->cuts.plane_count && body->cuts.ghost[slot])
        return 1;
    return depth_of(body, slot) < spacing || depth_at_crack(body, c, slot, &way) < spacing ? 0 : 1;
}

/* Stable sort of each cluster's members: first those at home at the surface, which make contacts,
 * then the other home members, then the rest. */
static pl_status find_homes(const pl_body* body, pl_proxies* proxies)
{
    uint32_t slots = body->particles.slot_count, members = proxies->member_begin[proxies->count];
    uint32_t* home = PL_NEW(uint32_t, slots); /* 1 + the membership of largest weight */
    uint32_t* kept = PL_NEW(uint32_t, members);
    float* kept_weight = PL_NEW(float, members);
    uint8_t* part = PL_NEW(uint8_t, members);
    bool fine = home && kept && kept_weight && part;
    for (uint32_t m = 0; fine && m < members; ++m)
    {
        uint32_t* best = &home[proxies->member_slot[m]];
        if (!*best || proxies->member_weight[m] > proxies->member_weight[*best - 1])
            *best = m + 1;
    }
    for (uint32_t c = 0; fine && c < proxies->count; ++c)
    {
        uint32_t begin = proxies->member_begin[c], end = proxies->member_begin[c + 1], at = begin;
        for (uint32_t m = begin; m < end; ++m)
            part[m] = (uint8_t)part_of(body, home, c, m, proxies->member_slot[m]);
        for (uint32_t wanted = 0; wanted < 3; ++wanted)
        {
            for (uint32_t m = begin; m < end; ++m)
                if (part[m] == wanted)
                {
                    kept[at] = proxies->member_slot[m];
                    kept_weight[at++] = proxies->member_weight[m];
                }
            if (wanted < 2)
                *(wanted ? &proxies->home_end[c] : &proxies->surface_end[c]) = at;
        }
        double half = .5 * body->rest_sdf.spacing;
        for (uint32_t m = begin; m < proxies->surface_end[c]; ++m)
        {
            vec3 way = v3(0, 0, 0);
            double crack = depth_at_crack(body, c, kept[m], &way);
            /* cracks are flat: no roughness to allow for */
            proxies->inset[m] = (float)fmin(fmax(depth_of(body, kept[m]) - half, 0), crack);
            if (proxies->crack)
            {
                v3_store(v3_normalised(way), proxies->crack[m]);
                proxies->crack[m][3] = (float)crack;
            }
            proxies->most_inset = fmax(proxies->most_inset, proxies->inset[m]);
            if (crack < body->rest_sdf.spacing)
                proxies->most_inset = fmax(proxies->most_inset, crack);
        }
        proxies->most_surface = PL_MAX(proxies->most_surface, proxies->surface_end[c] - begin);
    }
    if (fine)
    {
        memcpy(proxies->member_slot, kept, sizeof *kept * members);
        memcpy(proxies->member_weight, kept_weight, sizeof *kept_weight * members);
    }
    pl_free(home);
    pl_free(kept);
    pl_free(kept_weight);
    pl_free(part);
    return fine ? PLIANT_OK : pl_fail_memory((size_t)members * 8);
}

/* Lists the surface particles in the order of slots. */
static pl_status list_surface(const pl_body* body, pl_proxies* proxies)
{
    uint32_t slots = body->particles.slot_count, eights = 0;
    for (uint32_t c = 0; c < proxies->count; ++c)
    {
        proxies->eight_begin[c] = eights;
        eights += (proxies->surface_end[c] - proxies->member_begin[c] + 7) / 8;
    }
    proxies->eight_begin[proxies->count] = eights;
    uint32_t* at = PL_NEW(uint32_t, (size_t)slots + 1); /* offset by one, so that filling restores
                                                           the begins */
    proxies->surface = PL_NEW(pl_surface_slot, 8 * (size_t)eights);
    if (!at || !proxies->surface)
    {
        pl_free(at);
        return pl_fail_memory(8 * (size_t)eights * sizeof *proxies->surface);
    }
    for (int fill = 0; fill < 2; ++fill)
    {
        for (uint32_t c = 0; c < proxies->count; ++c)
        {
            uint32_t begin = proxies->member_begin[c], last = proxies->surface_end[c] - 1;
            for (uint32_t p = 8 * proxies->eight_begin[c]; p < 8 * proxies->eight_begin[c + 1]; ++p)
            {
                uint32_t m = begin + p - 8 * proxies->eight_begin[c];
                uint32_t slot = proxies->member_slot[PL_MIN(m, last)];
                if (fill)
                    proxies->surface[at[slot]++] = (pl_surface_slot){slot, p};
                else
                    ++at[slot + 1];
            }
        }
        for (uint32_t s = 0; s < slots && !fill; ++s)
            at[s + 1] += at[s];
    }
    pl_free(at);
    return PLIANT_OK;
}

static void find_boxes(const pl_body* body, pl_proxies* proxies)
{
    double margin = .5 * body->rest_sdf.spacing;
    for (uint32_t c = 0; c < proxies->count; ++c)
    {
        vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3_scale(low, -1);
        for (uint32_t m = proxies->member_begin[c]; m < proxies->member_begin[c + 1]; ++m)
        {
            vec3 r = pl_rest_of(body, proxies->member_slot[m]);
            low = v3_min(low, r), high = v3_max(high, r);
        }
        vec3 rest = v3_from(body->clusters.in_body[c]);
        if (proxies->member_begin[c] == proxies->member_begin[c + 1])
            low = high = rest;
        /* rounding must not leave a member outside */
        double size = v3_length(low) + v3_length(high), slack = margin + 1e-6 * size;
        vec3 middle = v3_scale(v3_add(low, high), .5);
        proxies->solid[c] = pl_cluster_distance(body, c, rest, NULL) < -2 * margin;
        v3_store(v3_sub(middle, rest), proxies->box[c]);
        v3_store(v3_add(v3_scale(v3_sub(high, low), .5), v3(slack, slack, slack)),
                 proxies->box[c] + 3);
    }
}

/* If all members are much nearer to their centre of mass than the query radius, splits have reduced
 * the cluster: its ball is then centred on them. */
#define PART_OF_QUERY 0.9

static void find_balls(const pl_body* body, pl_proxies* proxies)
{
    const pl_clusters* k = &body->clusters;
    for (uint32_t c = 0; c < proxies->count; ++c)
    {
        bool whole = k->width_max[c] > PART_OF_QUERY * k->radius[c];
        for (int i = 0; i < 3; ++i)
            proxies->ball[c][i] = whole ? k->centre[c][i] - k->rest[c][i] : 0;
        proxies->ball[c][3] = whole ? k->radius[c] : k->width_max[c];
    }
}

static void free_members(pl_proxies* proxies)
{
    pl_free(proxies->member_begin);
    pl_free(proxies->surface_end);
    pl_free(proxies->home_end);
    pl_free(proxies->member_slot);
    pl_free(proxies->surface);
    pl_free(proxies->eight_begin);
    pl_free(proxies->member_weight);
    pl_free(proxies->inset);
    pl_free(proxies->crack);
    pl_free(proxies->box);
    pl_free(proxies->ball);
    pl_free(proxies->solid);
    proxies->solid = NULL;
    proxies->member_begin = proxies->surface_end = proxies->home_end = proxies->member_slot = NULL;
    proxies->member_weight = proxies->inset = NULL;
    proxies->surface = NULL;
    proxies->eight_begin = NULL;
    proxies->box = NULL;
    proxies->ball = NULL;
    proxies->crack = NULL;
    proxies->most_surface = 0;
    proxies->most_inset = 0;
}

pl_status pl_proxies_list_members(const pl_body* body, pl_proxies* proxies)
{
    uint32_t count = body->level_begin[1];
    free_members(proxies);
    proxies->count = count;
    proxies->member_begin = PL_NEW(uint32_t, (size_t)count + 1);
    proxies->surface_end = PL_NEW(uint32_t, count);
    proxies->home_end = PL_NEW(uint32_t, count);
    proxies->eight_begin = PL_NEW(uint32_t, (size_t)count + 1);
    proxies->box = (float(*)[6])pl_alloc(count, sizeof *proxies->box);
    proxies->ball = (float(*)[4])pl_alloc(count, sizeof *proxies->ball);
    proxies->solid = PL_NEW(uint8_t, count);
    if (!proxies->member_begin || !proxies->surface_end || !proxies->home_end || !proxies->box ||
        !proxies->ball || !proxies->solid || !proxies->eight_begin)
        return pl_fail_memory((size_t)count * sizeof *proxies->box);
    pl_each_member(body, 0, body->level_begin[1], count_member, proxies);
    for (uint32_t c = 0; c < count; ++c)
        proxies->member_begin[c + 1] += proxies->member_begin[c];
    size_t members = proxies->member_begin[count];
    filling fill = {proxies, PL_NEW(uint32_t, count)};
    proxies->member_slot = PL_NEW(uint32_t, members);
    proxies->member_weight = PL_NEW(float, members);
    proxies->inset = PL_NEW(float, members);
    if (body->cuts.plane_count)
        proxies->crack = (float(*)[4])pl_alloc(members, sizeof *proxies->crack);
    if (!fill.at || !proxies->inset || !proxies->member_slot || !proxies->member_weight ||
        (body->cuts.plane_count && !proxies->crack))
    {
        pl_free(fill.at);
        return pl_fail_memory(members * 8);
    }
    memcpy(fill.at, proxies->member_begin, sizeof(uint32_t) * count);
    pl_each_member(body, 0, body->level_begin[1], store_member, &fill);
    pl_free(fill.at);
    PL_TRY(find_homes(body, proxies));
    PL_TRY(list_surface(body, proxies));
    find_boxes(body, proxies);
    find_balls(body, proxies);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ half-spaces */

/* The largest float that is not above a: rounding must not leave a member outside. */
static float round_down(double a)
{
    float rounded = (float)a;
    return rounded > a ? nextafterf(rounded, -FLT_MAX) : rounded;
}

/* Called in the order of clusters, so the plane goes to the end. */
static pl_status append_plane(pl_proxies* proxies, uint32_t cluster, vec3 normal, double offset)
{
    uint32_t at = proxies->plane_begin[cluster + 1];
    if (!pl_grow((void**)&proxies->plane, &proxies->plane_capacity, (size_t)at + 1,
                 sizeof *proxies->plane))
        return pl_fail_memory(((size_t)at + 1) * sizeof *proxies->plane);
    v3_store(normal, proxies->plane[at]);
    proxies->plane[at][3] = round_down(offset);
    ++proxies->plane_begin[cluster + 1];
    return PLIANT_OK;
}

void pl_proxies_drop_planes(pl_proxies* proxies, uint32_t cluster)
{
    if (!proxies->plane_begin)
        return;
    uint32_t begin = proxies->plane_begin[cluster];
    uint32_t count = proxies->plane_begin[cluster + 1] - begin;
    uint32_t all = proxies->plane_begin[proxies->count];
    memmove(proxies->plane + begin, proxies->plane + begin + count,
            (all - begin - count) * sizeof *proxies->plane);
    for (uint32_t c = cluster + 1; c <= proxies->count; ++c)
        proxies->plane_begin[c] -= count;
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
    if (!isfinite(m3_trace(scatter)))
        return pl_fail(PLIANT_ERROR_UNSTABLE, "The shape of cluster %u left the range of numbers",
                       c);
    if (!pl_eigen3(scatter, values, &axes))
        return pl_fail(PLIANT_ERROR_INTERNAL,
                       "the scatter matrix of cluster %u has no eigenvectors", c);
    for (int i = 0; i < 3; ++i)
    {
        float stored[3];
        v3_store(v3(axes.m[0][i], axes.m[1][i], axes.m[2][i]), stored);
        vec3 axis = v3_from(stored);
        double low = INFINITY, high = -INFINITY;
        for (uint32_t m = proxies->member_begin[c]; m < proxies->member_begin[c + 1]; ++m)
        {
            vec3 arm = v3_sub(pl_rest_of(body, proxies->member_slot[m]), centre);
            double along = v3_dot(axis, arm);
            if (v3_length(arm) <= inside)
                low = fmin(low, along), high = fmax(high, along);
        }
        double from_zero = v3_dot(axis, centre);
        /* bound of the rounding of positions and normals to float */
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
    free_members(proxies);
    memset(proxies, 0, sizeof *proxies);
}
