// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Falkenstein 2017, section 3.0.2, "Cluster Optimization": fuzzy c-means of one new cluster in
 * embedded space, with all others fixed. Weights are those after all fades: clusters that go count
 * 0, those that come count in full. So the new cluster moves to particles that others leave.
 *
 * Departures. The centre stops before the seed falls outside: otherwise the seed would need another
 * cluster, and might get one again and again at the same place. Where the body is strongly
 * stretched, clusters are ellipsoids that are long enough to contain several layers of particles.
 */
#include "plasticity/new_cluster.h"

#include "base/eigen.h"
#include "base/elementary.h"
#include "body/rest_moments.h"
#include "body/rest_query.h"
#include "clustering/kernel.h"
#include "plasticity/embed.h"

#include <string.h>

enum
{
    MOST_ROUNDS = 12,
    LIKELY_MEMBERS = 256, /* initial capacity */
    LEAST_MEMBERS = 10,   /* if there are as many candidates */
    SAMPLES = 24          /* of the particle spacing, at most, approximately */
};

static const double SETTLED = 4e-3, SEED_INSIDE = .9, WIDEN = 1.25;
/* Kernels are evaluated at a quarter of the radius or beyond (squared): at its pole, the kernel
 * would give the central particle to this cluster alone before the cluster has faded in. */
static const double POLE = .0625;
/* Stretched by more than DRAWN, relative to rest and to its width, the particle spacing is measured
 * along each axis: from particles within NEAR radii of the centre to the nearest one in a cone
 * (CONE is its squared cosine). */
static const double DRAWN = 1.7, NEAR = .5, CONE = .64;
/* Bounds of the ellipsoid's axes; a wide region reaches as far as the first. */
static const double MOST_STRETCH = 3.8, LEAST_STRETCH = .4;

void pl_new_cluster_values(const pl_clusters* k, float* arrays[PL_NEW_CLUSTER_VALUES])
{
    float* const list[PL_NEW_CLUSTER_VALUES] = {
        k->density,     k->stiffness_factor, k->damping_factor,   k->limit_factor,  k->yield_factor,
        k->flow_factor, k->hardening_factor, k->toughness_factor, k->plastic_strain};
    memcpy(arrays, list, sizeof list);
}

void pl_new_cluster_free(pl_new_cluster* new_cluster)
{
    pl_free(new_cluster->members);
    pl_free(new_cluster->links);
    memset(new_cluster, 0, sizeof *new_cluster);
}

static mat3 load33(const float a[9])
{
    return (mat3){{{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}}};
}

static vec3 place_of(const pl_embed_region* region, uint32_t index)
{
    const float* at = region->embedding.place + 24 * (size_t)(index / 8) + index % 8;
    return v3(at[0], at[8], at[16]);
}

/* Lists the region's candidates in "members", with places and without weights. A cluster does not
 * reach across a crack. False: out of memory. */
static bool list_candidates(const pl_body* body, const pl_embed_region* region, vec3 centre,
                            double reach, pl_new_cluster* new_cluster)
{
    bool cut = body->cuts.plane_count > 0;
    const float* per_weight = region->embedding.per_weight;
    float around[8];
    new_cluster->candidates = 0;
    if (!pl_grow((void**)&new_cluster->members, &new_cluster->capacity, LIKELY_MEMBERS,
                 sizeof *new_cluster->members))
        return false;
    for (uint32_t b = 0; b < region->embedding.block_count; ++b)
    {
        const float* at = region->embedding.place + 24 * (size_t)b;
        for (int lane = 0; lane < 8; ++lane)
        {
            float x = at[lane] - (float)centre.x, y = at[8 + lane] - (float)centre.y,
                  z = at[16 + lane] - (float)centre.z;
            around[lane] = x * x + y * y + z * z;
        }
        for (uint32_t lane = 0; lane < 8; ++lane)
        {
            uint32_t i = 8 * b + lane;
            if (!(per_weight[i] > 0) || (double)around[lane] > reach * reach ||
                (cut && !(region->beside[b] >> lane & 1)))
                continue;
            if (!pl_grow((void**)&new_cluster->members, &new_cluster->capacity,
                         (size_t)new_cluster->candidates + 1, sizeof *new_cluster->members))
                return false;
            new_cluster->members[new_cluster->candidates++] = (pl_new_cluster_member){
                .index = i, .slot = region->block_slot[b] + lane, .place = place_of(region, i)};
        }
    }
    return true;
}

/* Sets the candidates' weights, 0 outside of the ball. Returns the weighted mean of the places. */
static vec3 weigh(const pl_body* body, const pl_embed_region* region, vec3 centre,
                  pl_new_cluster* new_cluster)
{
    const float* masses = body->particles.mass;
    double square = new_cluster->radius * new_cluster->radius, per_square = 1 / square, mass = 0;
    double parameter = pl_kernel_default(body->kernel, body->kernel_parameter);
    vec3 sum = v3(0, 0, 0);
    new_cluster->count = 0;
    for (uint32_t i = 0; i < new_cluster->candidates; ++i)
    {
        pl_new_cluster_member* m = &new_cluster->members[i];
        vec3 apart = v3_sub(m->place, centre);
        if (new_cluster->drawn)
            apart = m3_mulv(new_cluster->squash, apart);
        double distance2 = v3_dot(apart, apart);
        m->kernel = 0;
        if (distance2 > square)
            continue;
        m->kernel =
            (float)pl_kernel_of(body->kernel, parameter, fmax(distance2 * per_square, POLE));
        m->weight =
            (double)masses[m->slot] * m->kernel / ((double)m->kernel + region->lasting[m->index]);
        mass += m->weight;
        sum = v3_mad(sum, m->place, m->weight);
        ++new_cluster->count;
    }
    return mass > 0 ? v3_scale(sum, 1 / mass) : sum;
}

static vec3 mean_place(const pl_new_cluster* new_cluster)
{
    double mass = 0;
    vec3 sum = v3(0, 0, 0);
    for (uint32_t i = 0; i < new_cluster->count; ++i)
    {
        mass += new_cluster->members[i].weight;
        sum = v3_mad(sum, new_cluster->members[i].place, new_cluster->members[i].weight);
    }
    return mass > 0 ? v3_scale(sum, 1 / mass) : sum;
}

/* Whether the body is stretched around the seed: the region's mean map takes a ball of the rest
 * shape to an ellipsoid that is long in one direction. "axes" are its axes, the longest last. */
static bool is_stretched(const pl_body* body, const pl_embed_region* region, vec3 axes[3])
{
    const pl_clusters* k = &body->clusters;
    mat3 sum = m3_zero(), vectors;
    double mass = 0, values[3];
    for (uint32_t r = 0; r < region->embedding.row_count; ++r)
    {
        uint32_t c = region->cluster[r];
        double m = region->mean[r][3];
        mat3 map = m3_mul(load33(region->embedding.row[r]),
                          m3_mul(load33(k->fp[c]), load33(k->from_body[c])));
        sum = m3_add(sum, m3_scale(m3_mul(map, m3_transpose(map)), m));
        mass += m;
    }
    pl_jacobi3(sum, values, &vectors);
    for (int i = 0; i < 3; ++i)
        axes[i] = v3(vectors.m[0][i], vectors.m[1][i], vectors.m[2][i]);
    return values[2] > DRAWN * DRAWN * fmax(values[1], mass);
}

/* Distance from a candidate to the nearest one along each axis: the larger of both directions. 0:
 * there is none. */
static void nearest_along_axes(const pl_new_cluster* new_cluster, uint32_t from, const vec3 axes[3],
                               double way[3])
{
    double best[3][2];
    for (int i = 0; i < 3; ++i)
        best[i][0] = best[i][1] = INFINITY;
    for (uint32_t n = 0; n < new_cluster->candidates; ++n)
    {
        vec3 apart = v3_sub(new_cluster->members[n].place, new_cluster->members[from].place);
        double square = v3_dot(apart, apart);
        for (int i = 0; i < 3 && n != from; ++i)
        {
            double along = v3_dot(apart, axes[i]);
            if (along * along > CONE * square) /* then it is outside of the other cones */
            {
                best[i][along > 0] = fmin(best[i][along > 0], square);
                break;
            }
        }
    }
    for (int i = 0; i < 3; ++i)
        way[i] = sqrt(
            fmax(best[i][0] < INFINITY ? best[i][0] : 0, best[i][1] < INFINITY ? best[i][1] : 0));
}

/* Mean of these distances over samples near the centre. It is large where particles were drawn
 * apart, but not where they slid along each other. */
static void find_spacing(const pl_new_cluster* new_cluster, vec3 centre, const vec3 axes[3],
                         double spacing[3])
{
    double count[3] = {0}, near2 = NEAR * NEAR * new_cluster->radius * new_cluster->radius;
    uint32_t near = 0, every;
    memset(spacing, 0, 3 * sizeof *spacing);
    for (int pass = 0; pass < 2; ++pass)
    {
        every = pass ? near / SAMPLES + 1 : 1;
        near = 0;
        for (uint32_t i = 0; i < new_cluster->candidates; ++i)
        {
            double way[3];
            vec3 out = v3_sub(new_cluster->members[i].place, centre);
            if (v3_dot(out, out) > near2 || near++ % every || pass == 0)
                continue;
            nearest_along_axes(new_cluster, i, axes, way);
            for (int k = 0; k < 3; ++k)
            {
                spacing[k] += way[k];
                count[k] += way[k] > 0;
            }
        }
    }
    for (int k = 0; k < 3; ++k)
        spacing[k] /= fmax(count[k], 1);
}

/* In a stretched body the particle spacing may exceed a cluster's radius along the stretch: each
 * ball then contains one layer, and no two clusters share a particle. So the ball becomes an
 * ellipsoid of the same volume, with as many layers in each direction. */
static bool fit_ellipsoid(const pl_body* body, const pl_embed_region* region, vec3 centre,
                          bool wide, pl_new_cluster* new_cluster)
{
    vec3 axes[3];
    double spacing[3];
    if (!is_stretched(body, region, axes))
        return true;
    if (wide && !list_candidates(body, region, centre, 1.001 * MOST_STRETCH * new_cluster->radius,
                                 new_cluster))
        return false;
    find_spacing(new_cluster, centre, axes, spacing);
    if (spacing[2] == 0 && !wide)
        spacing[2] = INFINITY;
    new_cluster->drawn = spacing[2] > DRAWN * spacing[1];
    double product = spacing[0] * spacing[1] * spacing[2];
    if (!wide)
        return true; /* the caller repeats it with a wide region */
    if (!new_cluster->drawn)
        product = 0;
    if (product > 0)
    {
        double mean = pl_cbrt(product);
        new_cluster->squash = m3_zero();
        for (int i = 0; i < 3; ++i)
            new_cluster->squash =
                m3_add(new_cluster->squash,
                       m3_scale(m3_outer(axes[i], axes[i]),
                                1 / PL_CLAMP(spacing[i] / mean, LEAST_STRETCH, MOST_STRETCH)));
    }
    weigh(body, region, centre, new_cluster);
    return true;
}

static bool find_members(const pl_body* body, const pl_embed_region* region, bool settle, bool wide,
                         pl_new_cluster* new_cluster)
{
    vec3 seed = place_of(region, region->seed), centre = seed;
    new_cluster->radius = body->level_radius[0];
    new_cluster->squash = m3_identity();
    new_cluster->drawn = false;
    double most = SEED_INSIDE * new_cluster->radius, reach = 1.001 * (most + new_cluster->radius);
    if (!list_candidates(body, region, seed, reach, new_cluster))
        return false;
    vec3 mean = weigh(body, region, centre, new_cluster);
    for (int round = 0; round < MOST_ROUNDS && settle; ++round)
    {
        vec3 next = mean, away = v3_sub(next, seed);
        double far = v3_length(away);
        if (far > most)
            next = v3_mad(seed, away, most / far);
        double moved = v3_length(v3_sub(next, centre));
        centre = next;
        mean = weigh(body, region, centre, new_cluster);
        if (moved <= SETTLED * new_cluster->radius || far > most)
            break;
    }
    /* particles across a crack cannot join, so there may be too few */
    for (int n = 0; n < MOST_ROUNDS && new_cluster->count < LEAST_MEMBERS; ++n)
    {
        new_cluster->radius *= WIDEN;
        if (!list_candidates(body, region, centre, 1.001 * new_cluster->radius, new_cluster))
            return false;
        mean = weigh(body, region, centre, new_cluster);
    }
    if (settle && !fit_ellipsoid(body, region, centre, wide, new_cluster))
        return false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < new_cluster->candidates; ++i)
        if (new_cluster->members[i].kernel > 0)
            new_cluster->members[kept++] = new_cluster->members[i];
    new_cluster->count = kept;
    return true;
}

/* Makes places relative to their mean, and sets rest positions about the members' centre in the
 * body's rest shape, the reach and the shape width. */
static void set_rest(const pl_body* body, pl_new_cluster* new_cluster)
{
    vec3 mean = mean_place(new_cluster), centre = v3(0, 0, 0);
    double mass = 0, moments[6] = {0}, widest = 0;
    for (uint32_t i = 0; i < new_cluster->count; ++i)
    {
        pl_new_cluster_member* m = &new_cluster->members[i];
        m->rest = pl_rest_of(body, m->slot);
        mass += m->weight;
        centre = v3_mad(centre, m->rest, m->weight);
    }
    new_cluster->centre = v3_scale(centre, 1 / mass);
    for (uint32_t i = 0; i < new_cluster->count; ++i)
    {
        pl_new_cluster_member* m = &new_cluster->members[i];
        vec3 p = v3_sub(m->place, mean), away = v3_sub(m->rest, new_cluster->centre);
        m->place = p;
        m->rest = v3_add(new_cluster->centre, p);
        widest = fmax(widest, v3_dot(away, away));
        const double product[6] = {p.x * p.x, p.y * p.y, p.z * p.z,
                                   p.x * p.y, p.y * p.z, p.z * p.x};
        for (int k = 0; k < 6; ++k)
            moments[k] += m->weight * product[k];
    }
    new_cluster->reach = sqrt(widest);
    new_cluster->shape_width = pl_shape_width(moments, mass);
}

/* Averages densities, painted factors and plastic strain over the region's clusters, weighted by
 * the share of the new cluster's mass that each has now. */
static void inherit(const pl_body* body, const pl_embed_region* region, pl_new_cluster* new_cluster,
                    double* share, float* in_fresh)
{
    const pl_embedding* e = &region->embedding;
    double total = 0;
    uint32_t best = 0;
    memset(share, 0, e->row_count * sizeof *share);
    memset(in_fresh, 0, 8 * (size_t)e->block_count * sizeof *in_fresh);
    for (uint32_t i = 0; i < new_cluster->count; ++i)
        in_fresh[new_cluster->members[i].index] =
            (float)(new_cluster->members[i].weight * e->per_weight[new_cluster->members[i].index]);
    for (uint32_t b = 0; b < e->block_count; ++b)
        for (uint32_t n = e->block_begin[b]; n < e->block_begin[b + 1]; ++n)
            for (uint32_t lane = 0; lane < 8; ++lane)
                share[e->entry_row[n]] +=
                    (double)e->entry_weight[8 * (size_t)n + lane] * in_fresh[8 * b + lane];
    for (uint32_t r = 0; r < e->row_count; ++r)
    {
        total += share[r];
        best = share[r] > share[best] ? r : best;
    }
    float* arrays[PL_NEW_CLUSTER_VALUES];
    pl_new_cluster_values(&body->clusters, arrays);
    new_cluster->like = region->cluster[best];
    for (int v = 0; v < PL_NEW_CLUSTER_VALUES; ++v)
    {
        new_cluster->value[v] = 0;
        for (uint32_t r = 0; r < e->row_count; ++r)
            new_cluster->value[v] += share[r] / total * arrays[v][region->cluster[r]];
    }
}

pl_status pl_new_cluster_make(const pl_body* body, const pl_embed_region* region, bool settle,
                              bool wide, pl_new_cluster* new_cluster)
{
    new_cluster->count = new_cluster->link_count = 0;
    if (region->embedding.row_count == 0 || !(region->embedding.per_weight[region->seed] > 0))
        return PLIANT_OK;
    if (!find_members(body, region, settle, wide, new_cluster))
        return pl_fail_memory((size_t)new_cluster->count * sizeof *new_cluster->members);
    if (new_cluster->count == 0)
        return PLIANT_OK;
    set_rest(body, new_cluster);
    double* share = PL_NEW(double, region->embedding.row_count);
    float* in_fresh = PL_NEW(float, 8 * (size_t)region->embedding.block_count);
    bool fine = share && in_fresh;
    if (fine)
        inherit(body, region, new_cluster, share, in_fresh);
    pl_free(share);
    pl_free(in_fresh);
    return fine ? PLIANT_OK : pl_fail_memory((size_t)region->embedding.block_count * 32);
}
