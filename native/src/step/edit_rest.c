// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What follows from memberships, masses, fades and normalisers: rest centres, A_rr, widths, and the
 * map from the body's rest shape to a cluster's own. Sums run over chunks and entries in order, in
 * double; eigenvectors are Jacobi's, since this runs inside of a step.
 */
#include "../base/jacobi.h"
#include "../state_shape.h"
#include "edit_parts.h"

#include <string.h>

/* Sums over the members of one cluster, weighted by m w but for the fade. */
typedef struct shape_sums
{
    uint32_t cluster;
    bool own;
    double mass, widest;
    vec3 centre; /* in the cluster's rest space */
    vec3 body;   /* in the body's */
    mat3 arr;    /* p p^T */
    mat3 cross;  /* p (r - body)^T */
    mat3 spread; /* (r - body) (r - body)^T */
} shape_sums;

typedef struct refresh
{
    pl_body* body;
    uint32_t* of_cluster; /* 1 + its index in sums, or 0 */
    shape_sums* sums;
    uint32_t count;
} refresh;

/* ------------------------------------------------------------------ sums */

/* Moments of the parts of a chunk. */
static pl_status refresh_parts(pl_body* body, uint32_t index)
{
    const pl_chunk* chunk = &body->chunks[index];
    pl_clusters* k = &body->clusters;
    double(*sums)[4] = pl_alloc(chunk->row_count, sizeof *sums);
    if (!sums)
        return pl_fail_memory((size_t)chunk->row_count * 32);
    pl_layout_chunk_moments(chunk, &body->particles, sums);
    for (uint32_t r = 0; r < chunk->row_count; ++r)
    {
        uint32_t c = chunk->rows[r], at = k->part_begin[c];
        while (k->part[at].chunk != index)
            ++at;
        k->part[at].mass = sums[r][0];
        memcpy(k->part[at].first, sums[r] + 1, sizeof k->part[at].first);
        for (int j = 0; j < 3; ++j)
            k->part[at].to_rest[j] = chunk->rest_origin[j] - k->rest[c][j];
    }
    pl_free(sums);
    return PLIANT_OK;
}

/* Mass and centre, in the rest space of each cluster. Where a chunk has shared rest it is the
 * body's as well. */
static void find_centres(refresh* r)
{
    const pl_clusters* k = &r->body->clusters;
    for (uint32_t i = 0; i < r->count; ++i)
    {
        shape_sums* s = &r->sums[i];
        for (uint32_t at = k->part_begin[s->cluster]; at < k->part_begin[s->cluster + 1]; ++at)
        {
            const pl_part* part = &k->part[at];
            const pl_chunk* chunk = &r->body->chunks[part->chunk];
            vec3 first = v3_mad(v3_fromd(part->first), v3_from(chunk->rest_origin), part->mass);
            s->mass += part->mass;
            s->centre = v3_add(s->centre, first);
            if (!chunk->own_rest)
                s->body = v3_add(s->body, first);
        }
        if (s->mass > 0)
            s->centre = v3_scale(s->centre, 1 / s->mass);
    }
}

typedef void (*entry_fn)(refresh* r, shape_sums* s, const pl_chunk* chunk, uint32_t entry,
                         uint32_t slot);

/* Calls with every entry of the clusters at hand; "slot" is the first of its block. */
static void each_entry(refresh* r, bool only_own, entry_fn call)
{
    for (uint32_t c = 0; c < r->body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &r->body->chunks[c];
        bool any = false;
        for (uint32_t row = 0; row < chunk->row_count && !any; ++row)
            any = r->of_cluster[chunk->rows[row]] != 0;
        if (!any || (only_own && !chunk->own_rest))
            continue;
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            {
                uint32_t at = r->of_cluster[chunk->rows[chunk->entry_row[e]]];
                if (at)
                    call(r, &r->sums[at - 1], chunk, e, chunk->slot_begin + 8 * b);
            }
    }
}

static double weight_of(const pl_particles* p, const pl_chunk* chunk, uint32_t entry, uint32_t slot,
                        uint32_t lane)
{
    float m = p->mass[slot + lane] * p->norm[slot + lane]; /* rounded as the kernels round it */
    return (double)m * chunk->entry_kernel[8 * (size_t)entry + lane];
}

static vec3 body_rest(const pl_particles* p, const pl_chunk* chunk, uint32_t slot)
{
    return v3_add(v3(p->r[0][slot], p->r[1][slot], p->r[2][slot]), v3_from(chunk->rest_origin));
}

static vec3 own_rest(const pl_particles* p, const pl_chunk* chunk, uint32_t entry, uint32_t slot,
                     uint32_t lane)
{
    if (!chunk->own_rest)
        return body_rest(p, chunk, slot + lane);
    const float* own = chunk->own_rest + 24 * (size_t)entry + lane;
    return v3_add(v3(own[0], own[8], own[16]), v3_from(chunk->rest_origin));
}

static void add_body_centre(refresh* r, shape_sums* s, const pl_chunk* chunk, uint32_t entry,
                            uint32_t slot)
{
    const pl_particles* p = &r->body->particles;
    const float* own = chunk->own_rest + 24 * (size_t)entry;
    for (uint32_t lane = 0; lane < 8; ++lane)
    {
        double mw = weight_of(p, chunk, entry, slot, lane);
        if (!(mw > 0))
            continue;
        s->body = v3_mad(s->body, body_rest(p, chunk, slot + lane), mw);
        for (uint32_t k = 0; k < 3; ++k)
            s->own = s->own || own[8 * k + lane] != p->r[k][slot + lane];
    }
}

/* How the cluster's own rest shape lies to the body's. */
static void add_own_shape(refresh* r, shape_sums* s, const pl_chunk* chunk, uint32_t entry,
                          uint32_t slot)
{
    const pl_particles* p = &r->body->particles;
    for (uint32_t lane = 0; lane < 8; ++lane)
    {
        double mw = weight_of(p, chunk, entry, slot, lane);
        if (!(mw > 0))
            continue;
        vec3 offset = v3_sub(own_rest(p, chunk, entry, slot, lane), s->centre);
        vec3 from = v3_sub(body_rest(p, chunk, slot + lane), s->body);
        s->cross = m3_add(s->cross, m3_outer(v3_scale(offset, mw), from));
        s->spread = m3_add(s->spread, m3_scale(m3_outer(from, from), mw));
    }
}

/* Eight numbers, always in the same order. */
static double sum_lanes(const double a[8])
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

static double sum_products(const double a[8], const double b[8])
{
    double each[8];
    for (int lane = 0; lane < 8; ++lane)
        each[lane] = a[lane] * b[lane];
    return sum_lanes(each);
}

static void add_shape(refresh* r, shape_sums* s, const pl_chunk* chunk, uint32_t entry,
                      uint32_t slot)
{
    const pl_particles* p = &r->body->particles;
    const float *mass = p->mass + slot, *norm = p->norm + slot;
    const float* kernel = chunk->entry_kernel + 8 * (size_t)entry;
    const double centre[3] = {s->centre.x, s->centre.y, s->centre.z};
    double mw[8], offset[3][8], scaled[3][8], square[8];
    for (int lane = 0; lane < 8; ++lane) /* rounded as weight_of does */
        mw[lane] = (double)(mass[lane] * norm[lane]) * kernel[lane];
    for (int k = 0; k < 3; ++k)
    {
        const float* rest =
            chunk->own_rest ? chunk->own_rest + 24 * (size_t)entry + 8 * (size_t)k : p->r[k] + slot;
        double from = (double)chunk->rest_origin[k] - centre[k];
        for (int lane = 0; lane < 8; ++lane)
        {
            offset[k][lane] = rest[lane] + from;
            scaled[k][lane] = mw[lane] * offset[k][lane];
        }
    }
    for (int k = 0; k < 3; ++k)
    {
        s->arr.m[k][k] += sum_products(scaled[k], offset[k]);
        s->arr.m[k][(k + 1) % 3] += sum_products(scaled[k], offset[(k + 1) % 3]);
    }
    for (int lane = 0; lane < 8; ++lane)
        square[lane] = offset[0][lane] * offset[0][lane] + offset[1][lane] * offset[1][lane] +
                       offset[2][lane] * offset[2][lane];
    for (int lane = 0; lane < 8; ++lane)
        s->widest = mw[lane] > 0 && square[lane] > s->widest ? square[lane] : s->widest;
    if (s->own)
        add_own_shape(r, s, chunk, entry, slot);
}

/* ------------------------------------------------------------------ clusters */

/* G with least sum m w |p - G (r - body)|^2; along directions without extent it does nothing. */
static mat3 map_from_body(const shape_sums* s)
{
    double values[3];
    mat3 vectors, inverse = m3_zero(), missing = m3_zero();
    pl_jacobi3(s->spread, values, &vectors);
    for (int e = 0; e < 3; ++e)
    {
        vec3 v = v3(vectors.m[0][e], vectors.m[1][e], vectors.m[2][e]);
        if (values[e] > 1e-4 * values[2])
            inverse = m3_add(inverse, m3_scale(m3_outer(v, v), 1 / values[e]));
        else
            missing = m3_add(missing, m3_outer(v, v));
    }
    return m3_add(m3_mul(s->cross, inverse), missing);
}

/* q of the links follows the rest centre: q is where it lies in the coarse cluster. */
static void shift_links(pl_body* body, uint32_t c, vec3 way)
{
    pl_links* links = &body->links;
    if (!links->count)
        return;
    for (uint32_t n = links->by_fine_begin[c]; n < links->by_fine_begin[c + 1]; ++n)
    {
        uint32_t i = links->by_fine[n];
        const float* b = links->b[i];
        mat3 map = {{{b[0], b[1], b[2]}, {b[3], b[4], b[5]}, {b[6], b[7], b[8]}}};
        v3_store(v3_add(v3_from(links->q[i]), m3_mulv(map, way)), links->q[i]);
    }
}

static void set_cluster(refresh* r, shape_sums* s)
{
    pl_body* body = r->body;
    pl_clusters* k = &body->clusters;
    uint32_t c = s->cluster;
    double fade = k->fade[c], mass = s->mass * fade, values[3];
    if (!(mass > 0))
        return;
    mat3 arr = m3_scale(s->arr, fade), vectors, map = m3_identity();
    arr.m[1][0] = arr.m[0][1], arr.m[2][1] = arr.m[1][2], arr.m[0][2] = arr.m[2][0];
    pl_jacobi3(arr, values, &vectors);
    pl_set_shape(body, c, arr, mass, values, vectors);
    vec3 before = v3_from(k->rest[c]);
    v3_store(s->centre, k->rest[c]);
    shift_links(body, c, v3_sub(v3_from(k->rest[c]), before));
    k->mass[c] = (float)mass;
    k->width_rms[c] = (float)sqrt(m3_trace(arr) / mass);
    k->width_max[c] = (float)sqrt(s->widest);
    k->own[c] = s->own;
    if (s->own)
        map = map_from_body(s);
    v3_store(s->own ? s->body : s->centre, k->in_body[c]);
    for (int i = 0; i < 9; ++i)
        k->from_body[c][i] = (float)map.m[i / 3][i % 3];
    for (uint32_t at = k->part_begin[c]; at < k->part_begin[c + 1]; ++at)
        for (int j = 0; j < 3; ++j)
            k->part[at].to_rest[j] = body->chunks[k->part[at].chunk].rest_origin[j] - k->rest[c][j];
}

/* ------------------------------------------------------------------ coarse clusters */

/* Mass, centre and A_rr of a coarse cluster from its links; q is about the centre again. */
static void set_coarse(pl_body* body, uint32_t c)
{
    pl_links* links = &body->links;
    pl_clusters* k = &body->clusters;
    uint32_t begin = links->by_coarse_begin[c], end = links->by_coarse_begin[c + 1];
    double mass = 0, widest = 0, values[3];
    vec3 mean = v3(0, 0, 0);
    mat3 arr = m3_zero(), vectors;
    for (uint32_t i = begin; i < end; ++i)
    {
        double um = (double)links->u[i] * k->mass[links->fine[i]];
        mass += um;
        mean = v3_mad(mean, v3_from(links->q[i]), um);
    }
    k->mass[c] = (float)mass;
    if (!(mass > 0))
        return;
    mean = v3_scale(mean, 1 / mass);
    for (uint32_t i = begin; i < end; ++i)
    {
        uint32_t f = links->fine[i];
        const float* b = links->b[i];
        mat3 map = {{{b[0], b[1], b[2]}, {b[3], b[4], b[5]}, {b[6], b[7], b[8]}}};
        vec3 q = v3_sub(v3_from(links->q[i]), mean);
        v3_store(q, links->q[i]);
        mat3 own = m3_mul(m3_mul(map, pl_load_symmetric(k->arr[f])), m3_transpose(map));
        arr = m3_add(arr, m3_scale(m3_add(own, m3_scale(m3_outer(q, q), k->mass[f])), links->u[i]));
        widest = fmax(widest, v3_length(q) + k->width_max[f]);
    }
    pl_jacobi3(arr, values, &vectors);
    pl_set_shape(body, c, arr, mass, values, vectors);
    v3_store(v3_add(v3_from(k->rest[c]), mean), k->rest[c]);
    shift_links(body, c, mean);
    memcpy(k->in_body[c], k->rest[c], sizeof k->rest[c]);
    k->width_rms[c] = (float)sqrt(m3_trace(arr) / mass);
    k->width_max[c] = (float)widest;
}

static void refresh_coarse(pl_body* body, const uint8_t* clusters, uint8_t* touched)
{
    const pl_links* links = &body->links;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        touched[c] = clusters[c];
    for (uint32_t c = body->level_begin[1]; c < body->clusters.count; ++c)
    {
        touched[c] = clusters[c];
        for (uint32_t i = links->by_coarse_begin[c]; i < links->by_coarse_begin[c + 1]; ++i)
            touched[c] = touched[c] || touched[links->fine[i]];
        if (touched[c])
            set_coarse(body, c);
    }
}

/* ------------------------------------------------------------------ the whole */

static pl_status refresh_finest(refresh* r, const uint8_t* clusters)
{
    pl_body* body = r->body;
    uint32_t finest = body->level_begin[1];
    for (uint32_t c = 0; c < finest; ++c)
        r->count += clusters[c] != 0;
    r->of_cluster = PL_NEW(uint32_t, body->clusters.count);
    r->sums = PL_NEW(shape_sums, r->count);
    if (!r->of_cluster || !r->sums)
        return pl_fail_memory(r->count * sizeof *r->sums);
    uint32_t at = 0;
    for (uint32_t c = 0; c < finest; ++c)
        if (clusters[c])
        {
            r->sums[at].cluster = c;
            r->of_cluster[c] = ++at;
        }
    find_centres(r);
    each_entry(r, true, add_body_centre);
    for (uint32_t i = 0; i < r->count; ++i)
        if (r->sums[i].mass > 0)
            r->sums[i].body = v3_scale(r->sums[i].body, 1 / r->sums[i].mass);
    each_entry(r, false, add_shape);
    for (uint32_t i = 0; i < r->count; ++i)
        set_cluster(r, &r->sums[i]);
    return PLIANT_OK;
}

pl_status pl_rest_refresh(pl_body* body, const uint8_t* chunks, const uint8_t* clusters)
{
    refresh r = {.body = body};
    pl_runs_free(&body->links.runs); /* they have these moments, too */
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        if (chunks[c])
            PL_TRY(refresh_parts(body, c));
    pl_status status = refresh_finest(&r, clusters);
    pl_free(r.of_cluster);
    pl_free(r.sums);
    if (status != PLIANT_OK || body->level_count == 1)
        return status;
    uint8_t* touched = PL_NEW(uint8_t, body->clusters.count);
    if (!touched)
        return pl_fail_memory(body->clusters.count);
    refresh_coarse(body, clusters, touched);
    pl_free(touched);
    return PLIANT_OK;
}
