// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Lays a body out in memory (body.h has the drawing). Everything here runs once, in double; what
 * it leaves is float. Sums run over members in ascending order, so the same input gives the same
 * bits. Slots and blocks are blocks.c's, memory is memory.c's.
 */
#include "body/layout.h"

#include "base/lapack.h"
#include "body/blocks.h"
#include "body/level_firmness.h"
#include "body/quadratic_rest.h"
#include "body/rest_moments.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ clusters at rest */

/* A_rr and what follows from it. */
static pl_status set_shape(pl_body* body, uint32_t c, mat3 arr, double mass)
{
    pl_clusters* k = &body->clusters;
    double values[3];
    mat3 vectors;
    if (!(mass > 0 && mass < INFINITY && isfinite(m3_trace(arr))))
        return pl_fail(PLIANT_ERROR_MESH,
                       "Cluster %u has a mass of %g, which floats cannot hold: scale the body to "
                       "between 1e-8 and 1e9, or change its density",
                       c, mass);
    if (!pl_eigen3(arr, values, &vectors))
        return pl_fail(PLIANT_ERROR_INTERNAL, "The scatter matrix of cluster %u has no eigenvalues",
                       c);
    pl_set_shape(body, c, arr, mass, values, vectors);
    k->mass[c] = (float)mass;
    k->width_rms[c] = (float)sqrt(m3_trace(arr) / mass);
    k->stiffness_factor[c] = k->damping_factor[c] = k->limit_factor[c] = 1;
    k->yield_factor[c] = k->flow_factor[c] = k->hardening_factor[c] = 1;
    k->toughness_factor[c] = 1;
    for (int j = 0; j < 3; ++j)
        k->fp[c][4 * j] = k->from_body[c][4 * j] = 1;
    memcpy(k->in_body[c], k->rest[c], sizeof k->rest[c]);
    double moments[6]; /* as they are kept */
    for (int j = 0; j < 6; ++j)
        moments[j] = k->arr[c][j];
    k->shape_width[c] = pl_shape_width(moments, k->mass[c]);
    if (k->rank[c] < 3)
        body->warnings |= PLIANT_WARN_FLAT_CLUSTERS;
    return PLIANT_OK;
}

/* Rest pose of the clusters that hold particles. Kernel values are normalised
 * (pl_by_particle_list), in the order of the cluster's members. */
static pl_status rest_of_particles(pl_body* body, const pl_layout_input* in, const pl_hierarchy* h,
                                   const pl_by_particle* lists)
{
    pl_clusters* k = &body->clusters;
    const pl_particles* p = &body->particles;
    for (uint32_t l = 0; l < pl_particle_levels(body); ++l)
        for (uint32_t c = 0; c < h->level[l].count; ++c)
        {
            uint32_t index = body->level_begin[l] + c;
            double mass = 0, density = 0, widest = 0;
            vec3 centre = v3(0, 0, 0);
            mat3 arr = m3_zero();
            pl_quadratic_sums quadratic = {0};
            for (int pass = 0; pass < 2; ++pass)
            {
                for (uint32_t m = h->level[l].begin[c]; m < h->level[l].begin[c + 1]; ++m)
                {
                    uint32_t id = h->level[l].particle[m], at = lists->begin[id];
                    while (lists->cluster[at] != index)
                        ++at;
                    double mw = (double)p->mass[p->slot_of[id]] * lists->kernel[at];
                    if (pass == 0)
                    {
                        mass += mw;
                        density += mw * in->density[id];
                        centre = v3_mad(centre, in->points[id], mw);
                        continue;
                    }
                    vec3 offset = v3_sub(in->points[id], centre);
                    arr = m3_add(arr, m3_scale(m3_outer(offset, offset), mw));
                    widest = fmax(widest, v3_length(offset));
                    if (k->quad_inverse)
                        pl_quadratic_sums_add(&quadratic, offset, mw);
                }
                if (pass == 0)
                    centre = v3_scale(centre, 1 / mass);
            }
            v3_store(centre, k->rest[index]);
            v3_store(h->level[l].centres[c], k->centre[index]);
            k->radius[index] = (float)h->level[l].radius;
            k->width_max[index] = (float)widest;
            k->density[index] = (float)(density / mass);
            PL_TRY(set_shape(body, index, arr, mass));
            if (k->quad_inverse)
                PL_TRY(pl_quadratic_rest(k, index, &quadratic, in->thickness));
        }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ nested levels */

static pl_status alloc_links(pl_links* links, uint32_t count, uint32_t clusters)
{
    links->count = count;
    links->fine = PL_NEW(uint32_t, count);
    links->coarse = PL_NEW(uint32_t, count);
    links->u = PL_NEW(float, count);
    links->b = pl_alloc(count, sizeof *links->b);
    links->q = pl_alloc(count, sizeof *links->q);
    links->by_coarse_begin = PL_NEW(uint32_t, (size_t)clusters + 1);
    links->by_fine_begin = PL_NEW(uint32_t, (size_t)clusters + 2);
    links->by_fine = PL_NEW(uint32_t, count);
    return links->fine && links->coarse && links->u && links->b && links->q &&
                   links->by_coarse_begin && links->by_fine_begin && links->by_fine
               ? PLIANT_OK
               : pl_fail_memory((size_t)count * 80);
}

static pl_status rest_of_nested(pl_body* body, uint32_t c)
{
    pl_clusters* k = &body->clusters;
    pl_links* links = &body->links;
    double mass = 0, density = 0, widest = 0;
    vec3 centre = v3(0, 0, 0);
    mat3 arr = m3_zero();
    uint32_t begin = links->by_coarse_begin[c], end = links->by_coarse_begin[c + 1];
    for (uint32_t i = begin; i < end; ++i)
    {
        double um = (double)links->u[i] * k->mass[links->fine[i]];
        mass += um;
        density += um * k->density[links->fine[i]];
        centre = v3_mad(centre, v3_from(k->rest[links->fine[i]]), um);
    }
    v3_store(v3_scale(centre, 1 / mass), k->rest[c]);
    for (uint32_t i = begin; i < end; ++i)
    {
        uint32_t f = links->fine[i];
        vec3 q = v3_sub(v3_from(k->rest[f]), v3_from(k->rest[c]));
        v3_store(q, links->q[i]);
        links->q[i][3] = links->u[i];
        links->b[i][0] = links->b[i][4] = links->b[i][8] = 1;
        arr = m3_add(arr, m3_scale(m3_add(pl_load_symmetric(k->arr[f]),
                                          m3_scale(m3_outer(q, q), k->mass[f])),
                                   links->u[i]));
        widest = fmax(widest, v3_length(q) + k->width_max[f]);
    }
    k->width_max[c] = (float)widest;
    k->density[c] = (float)(density / mass);
    return set_shape(body, c, arr, mass);
}

static pl_status build_links(pl_body* body, const pl_hierarchy* h)
{
    pl_clusters* k = &body->clusters;
    pl_links* links = &body->links;
    uint32_t total = 0;
    for (uint32_t l = 1; l < body->level_count; ++l)
        total += h->level[l].begin[h->level[l].count];
    PL_TRY(alloc_links(links, total, k->count));
    uint32_t at = 0;
    for (uint32_t l = 1; l < body->level_count; ++l)
        for (uint32_t c = 0; c < h->level[l].count; ++c)
        {
            uint32_t coarse = body->level_begin[l] + c;
            for (uint32_t m = h->level[l].begin[c]; m < h->level[l].begin[c + 1]; ++m, ++at)
            {
                links->fine[at] = body->level_begin[l - 1] + h->level[l].particle[m];
                links->coarse[at] = coarse;
                links->u[at] = h->level[l].kernel[m];
            }
            links->by_coarse_begin[coarse + 1] = at;
            v3_store(h->level[l].centres[c], k->centre[coarse]);
            k->radius[coarse] = (float)h->level[l].radius;
        }
    for (uint32_t i = 0; i < total; ++i)
        ++links->by_fine_begin[links->fine[i] + 2];
    for (uint32_t c = 2; c <= k->count + 1; ++c)
        links->by_fine_begin[c] += links->by_fine_begin[c - 1];
    for (uint32_t i = 0; i < total; ++i)
        links->by_fine[links->by_fine_begin[links->fine[i] + 1]++] = i;
    for (uint32_t c = body->level_begin[1]; c < k->count; ++c)
        PL_TRY(rest_of_nested(body, c));
    links->plain = true;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ the whole */

/* Adds m w of every particle membership, and m w times its value, to each cluster. */
static void sum_over_members(const pl_body* body, const float* by_id, double* sum, double* mass)
{
    const pl_particles* p = &body->particles;
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        const pl_chunk* chunk = &body->chunks[i];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
                for (uint32_t lane = 0; lane < 8; ++lane)
                {
                    uint32_t slot = chunk->slot_begin + 8 * b + lane;
                    double mw = (double)p->mass[slot] * p->norm[slot] *
                                chunk->entry_kernel[8 * (size_t)e + lane];
                    if (!(mw > 0))
                        continue;
                    mass[chunk->rows[chunk->entry_row[e]]] += mw;
                    sum[chunk->rows[chunk->entry_row[e]]] += mw * by_id[p->id[slot]];
                }
    }
}

pl_status pl_layout_average_factor(const pl_body* body, const float* by_id, float* cluster_factor)
{
    const pl_clusters* k = &body->clusters;
    const pl_links* links = &body->links;
    double* sum = PL_NEW(double, k->count);
    double* mass = PL_NEW(double, k->count);
    if (!sum || !mass)
    {
        pl_free(sum);
        pl_free(mass);
        return pl_fail_memory((size_t)k->count * 16);
    }
    if (by_id)
    {
        sum_over_members(body, by_id, sum, mass);
        for (uint32_t i = 0; i < links->count; ++i)
        {
            sum[links->coarse[i]] += links->u[i] * sum[links->fine[i]];
            mass[links->coarse[i]] += links->u[i] * mass[links->fine[i]];
        }
    }
    for (uint32_t c = 0; c < k->count; ++c)
        cluster_factor[c] = mass[c] > 0 ? (float)(sum[c] / mass[c]) : 1;
    pl_free(sum);
    pl_free(mass);
    return PLIANT_OK;
}

/* A part is as tough as its weakest places: what is averaged is weakness. */
#define LEAST_TOUGHNESS 0.02f

pl_status pl_layout_average_toughness(const pl_body* body, const float* by_id,
                                      float* cluster_factor)
{
    uint32_t count = body->particles.id_count;
    float* weakness = by_id ? PL_NEW(float, count) : NULL;
    if (by_id && !weakness)
        return pl_fail_memory((size_t)count * sizeof *weakness);
    for (uint32_t i = 0; by_id && i < count; ++i)
        weakness[i] = 1 / fmaxf(by_id[i], LEAST_TOUGHNESS);
    pl_status status = pl_layout_average_factor(body, weakness, cluster_factor);
    for (uint32_t c = 0; by_id && status == PLIANT_OK && c < body->clusters.count; ++c)
        cluster_factor[c] = 1 / cluster_factor[c];
    pl_free(weakness);
    return status;
}

static void set_figures(pl_body* body, const pl_layout_input* in, const pl_hierarchy* h)
{
    const pl_particles* p = &body->particles;
    uint64_t quanta = 0;
    vec3 centre = v3(0, 0, 0);
    for (uint32_t i = 0; i < in->count; ++i)
    {
        quanta += p->quanta[p->slot_of[i]];
        body->rest_volume += in->volumes[i];
        centre = v3_mad(centre, in->points[i], p->mass[p->slot_of[i]]);
    }
    body->mass = (double)quanta * body->mass_quantum;
    centre = v3_scale(centre, 1 / body->mass);
    double second = 0;
    for (uint32_t i = 0; i < in->count; ++i)
    {
        vec3 offset = v3_sub(in->points[i], centre);
        second += v3_dot(offset, offset) * p->mass[p->slot_of[i]];
    }
    body->width = sqrt(second / body->mass);
    body->shape_width = pl_body_shape_width(body);
    for (uint32_t l = 0; l < body->level_count; ++l)
    {
        body->level_weight[l] = h->weight[l];
        body->level_radius[l] = h->level[l].radius;
        body->level_memberships[l] = h->level[l].begin[h->level[l].count];
    }
    body->overlap = (double)body->level_memberships[0] / in->count;
    body->first_overlap = body->overlap;
}

static pl_status build(pl_body* body, const pl_layout_input* in, const pl_hierarchy* h,
                       pl_by_particle* lists)
{
    body->level_count = h->level_count;
    for (uint32_t l = 0; l < h->level_count; ++l)
        body->level_begin[l + 1] = body->level_begin[l] + h->level[l].count;
    if (!pl_clusters_alloc(&body->clusters, body->level_begin[h->level_count],
                           body->material.goal == PLIANT_GOAL_QUADRATIC))
        return pl_fail_memory((size_t)body->level_begin[h->level_count] * 500);
    for (uint32_t c = 0; c < body->clusters.count; ++c)
        body->clusters.fade[c] = 1;
    PL_TRY(pl_by_particle_list(body, in->count, h, lists));
    PL_TRY(pl_blocks_place(body, in, lists));
    PL_TRY(pl_blocks_build(body, lists));
    PL_TRY(pl_blocks_list_parts(body));
    PL_TRY(rest_of_particles(body, in, h, lists));
    PL_TRY(pl_layout_rest_moments(body));
    if (body->level_kind == PLIANT_LEVELS_NESTED)
        PL_TRY(build_links(body, h));
    set_figures(body, in, h);
    pl_firm_levels(body, in->count, lists);
    PL_TRY(pl_layout_average_factor(body, in->stiffness_factor, body->clusters.stiffness_factor));
    PL_TRY(pl_layout_average_factor(body, in->damping_factor, body->clusters.damping_factor));
    PL_TRY(pl_layout_average_factor(body, in->limit_factor, body->clusters.limit_factor));
    PL_TRY(pl_layout_average_factor(body, in->yield_factor, body->clusters.yield_factor));
    PL_TRY(pl_layout_average_factor(body, in->flow_factor, body->clusters.flow_factor));
    PL_TRY(pl_layout_average_factor(body, in->hardening_factor, body->clusters.hardening_factor));
    PL_TRY(
        pl_layout_average_toughness(body, in->toughness_factor, body->clusters.toughness_factor));
    return PLIANT_OK;
}

pl_status pl_layout_build(pl_body* body, const pl_layout_input* input,
                          const pl_hierarchy* hierarchy)
{
    pl_by_particle lists = {0};
    pl_status status = build(body, input, hierarchy, &lists);
    pl_by_particle_free(&lists);
    return status;
}
