// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Nested levels: links of a new cluster. A coarse cluster has its fine clusters' members at
 * B_f p_if + q_f in its own rest shape, and a new cluster must not change that. The embedding has
 * placed the members of f at e_i = R_f F^p_f p_if + e_f, so near them the coarse rest shape is
 * B_f (F^p_f)^-1 R_f^T (e_i - e_f) + q_f. The new cluster's map is the mean of these maps over its
 * members i and their clusters f, weighted by m w_new w_if u_f; its u is the mean of its members'.
 *
 * (The least-squares affine map over the members has a smaller residual; but many coarse clusters
 * have only a few of the members, in one plane or on one side, and it is then ill-conditioned for
 * the others. Coarse clusters with a small share of the new one are left out for the same reason.)
 */
#include "plasticity/embed.h"
#include "plasticity/new_cluster.h"

#include <string.h>

/* Least share of the new cluster for a link. */
#define LEAST_SHARE .02

/* Sums over the new cluster's members in one cluster f of the region, weighted by m w_new w_if:
 * places, and offsets after F^p. */
typedef struct pair_sums
{
    double mass;
    vec3 p, q;
} pair_sums;

static void sum_pairs(const pl_embed_region* region, const pl_new_cluster* new_cluster,
                      const uint32_t* member_of, pair_sums* sums)
{
    const pl_embedding* e = &region->embedding;
    for (uint32_t b = 0; b < e->block_count; ++b)
        for (uint32_t n = e->block_begin[b]; n < e->block_begin[b + 1]; ++n)
            for (uint32_t lane = 0; lane < 8; ++lane)
            {
                uint32_t index = 8 * b + lane;
                double w = e->entry_weight[8 * (size_t)n + lane];
                if (!member_of[index] || !(w > 0))
                    continue;
                const pl_new_cluster_member* m = &new_cluster->members[member_of[index] - 1];
                pair_sums* s = &sums[e->entry_row[n]];
                const float* q = e->entry_offset + 24 * (size_t)n + lane;
                const double* mean = region->mean[e->entry_row[n]];
                w *= m->weight * e->per_weight[index];
                s->mass += w;
                s->p = v3_mad(s->p, m->place, w);
                s->q = v3_mad(s->q, v3(q[0] + mean[0], q[8] + mean[1], q[16] + mean[2]), w);
            }
}

/* Sums for one coarse cluster: means of p, of p in its rest shape, and of the map. */
typedef struct coarse_sums
{
    uint32_t coarse;
    double mass;
    vec3 p, s;
    mat3 map;
} coarse_sums;

static mat3 load33(const float a[9])
{
    return (mat3){{{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}}};
}

/* Adds a link of a fine cluster; "map" is B (F^p)^-1, "back" R^T. */
static void add_pair(const pair_sums* from, double u, mat3 map, mat3 back, vec3 shift,
                     coarse_sums* to)
{
    vec3 s = v3_mad(m3_mulv(map, from->q), shift, from->mass);
    to->mass += u * from->mass;
    to->p = v3_mad(to->p, from->p, u);
    to->s = v3_mad(to->s, s, u);
    to->map = m3_add(to->map, m3_scale(m3_mul(map, back), u * from->mass));
}

static pl_edit_link link_of(const coarse_sums* c, double total)
{
    vec3 p = v3_scale(c->p, 1 / c->mass), s = v3_scale(c->s, 1 / c->mass);
    mat3 map = m3_scale(c->map, 1 / c->mass);
    pl_edit_link link = {.coarse = c->coarse, .u = (float)(c->mass / total)};
    for (int i = 0; i < 9; ++i)
        link.b[i] = (float)map.m[i / 3][i % 3];
    v3_store(v3_sub(s, m3_mulv(map, p)), link.q);
    return link;
}

/* The sums of a coarse cluster, inserted if absent; the list ascends. */
static coarse_sums* coarse_at(coarse_sums* list, uint32_t* count, uint32_t coarse)
{
    uint32_t at = *count;
    for (uint32_t i = 0; i < *count; ++i)
        if (list[i].coarse == coarse)
            return &list[i];
    for (; at > 0 && list[at - 1].coarse > coarse; --at)
        list[at] = list[at - 1];
    list[at] = (coarse_sums){.coarse = coarse};
    ++*count;
    return &list[at];
}

static uint32_t gather_coarse(const pl_body* body, const pl_embed_region* region,
                              const pair_sums* sums, coarse_sums* list)
{
    const pl_links* links = &body->links;
    uint32_t count = 0;
    for (uint32_t r = 0; r < region->embedding.row_count; ++r)
    {
        uint32_t f = region->cluster[r];
        mat3 undo = m3_inverse(load33(body->clusters.fp[f]));
        mat3 back = m3_transpose(load33(region->embedding.row[r]));
        for (uint32_t n = links->by_fine_begin[f]; n < links->by_fine_begin[f + 1]; ++n)
        {
            uint32_t i = links->by_fine[n];
            if (sums[r].mass > 0)
                add_pair(&sums[r], links->u[i], m3_mul(load33(links->b[i]), undo), back,
                         v3_from(links->q[i]),
                         coarse_at(list, &count, links->coarse[i] - body->level_begin[1]));
        }
    }
    return count;
}

/* Removes coarse clusters below LEAST_SHARE. Returns the sum over the others. */
static double trim(coarse_sums* list, uint32_t* count)
{
    double total = 0, kept_mass = 0, most = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; ++i)
    {
        total += list[i].mass;
        most = fmax(most, list[i].mass);
    }
    for (uint32_t i = 0; i < *count; ++i)
        if (list[i].mass >= fmin(LEAST_SHARE * total, most))
        {
            kept_mass += list[i].mass;
            list[kept++] = list[i];
        }
    *count = kept;
    return kept_mass;
}

static uint32_t links_of_patch(const pl_body* body, const pl_embed_region* region)
{
    const uint32_t* begin = body->links.by_fine_begin;
    uint32_t sum = 0;
    for (uint32_t r = 0; r < region->embedding.row_count; ++r)
        sum += begin[region->cluster[r] + 1] - begin[region->cluster[r]];
    return sum;
}

pl_status pl_new_cluster_link(const pl_body* body, const pl_embed_region* region,
                              pl_new_cluster* new_cluster)
{
    new_cluster->link_count = 0;
    if (!body->links.count || new_cluster->count == 0)
        return PLIANT_OK;
    pair_sums* sums = PL_NEW(pair_sums, region->embedding.row_count);
    coarse_sums* list = PL_NEW(coarse_sums, links_of_patch(body, region));
    uint32_t* member_of = PL_NEW(uint32_t, 8 * (size_t)region->embedding.block_count);
    bool fine = sums && list && member_of;
    uint32_t count = 0;
    if (fine)
    {
        for (uint32_t i = 0; i < new_cluster->count; ++i)
            member_of[new_cluster->members[i].index] = i + 1;
        sum_pairs(region, new_cluster, member_of, sums);
        count = gather_coarse(body, region, sums, list);
        fine = pl_grow((void**)&new_cluster->links, &new_cluster->link_capacity, count,
                       sizeof *new_cluster->links);
    }
    double total = fine ? trim(list, &count) : 0;
    for (uint32_t i = 0; fine && i < count; ++i)
        new_cluster->links[new_cluster->link_count++] = link_of(&list[i], total);
    pl_free(sums);
    pl_free(list);
    pl_free(member_of);
    return fine ? PLIANT_OK : pl_fail_memory((size_t)region->embedding.row_count * 300);
}
