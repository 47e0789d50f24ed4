// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What follows from memberships, masses, fades and normalisers: rest centres, A_rr, widths, and the
 * map from the body's rest shape to a cluster's own. Masses and centres are summed in double;
 * shapes about the centre, so that floats do (rest_sums.simd.c), and over chunks in order.
 * Eigenvectors are Jacobi's, since this runs inside of a step.
 */
#include "base/cpu.h"
#include "base/eigen.h"
#include "body/edit/edit_internal.h"
#include "body/edit/rest_sums.h"
#include "body/rest_moments.h"
#include "dynamics/kernels.h"

#include <string.h>

/* In spacings: members that are this near to their centre, along some direction of the body's rest
 * shape, have no extent there. */
#define NARROWEST .05

/* Sums over the members of one cluster, weighted by m w but for the fade. */
typedef struct shape_sums
{
    uint32_t cluster;
    bool all; /* it has members in chunks with rest positions of their own */
    bool own;
    double mass;
    vec3 centre; /* in the cluster's rest space */
    vec3 body;   /* in the body's */
    double sum[PL_REST_SUMS];
} shape_sums;

typedef struct refresh
{
    pl_body* body;
    const pl_kernels* kernels;
    uint32_t* of_cluster; /* 1 + its index in sums, or 0 */
    shape_sums* sums;
    uint32_t count;
    /* Scratch by row, for the chunk that has most. */
    uint8_t *want, *own;
    float (*point)[2][3]; /* all rows' places in the body, then their centres */
    float (*lanes)[PL_REST_SUMS][8];
    float (*row)[PL_REST_SUMS];
    double (*first)[4];
} refresh;

/* ------------------------------------------------------------------ sums */

static pl_status refresh_begin(refresh* r)
{
    uint32_t rows = 1;
    for (uint32_t c = 0; c < r->body->chunk_count; ++c)
        rows = PL_MAX(rows, r->body->chunks[c].row_count);
    r->kernels = pl_kernels_for(r->body->simd ? r->body->simd : pl_cpu_best());
    r->want = PL_BARE(uint8_t, rows);
    r->own = PL_BARE(uint8_t, rows);
    r->point = pl_alloc_bare(rows, sizeof *r->point);
    r->lanes = pl_alloc_bare(rows, sizeof *r->lanes);
    r->row = pl_alloc_bare(rows, sizeof *r->row);
    r->first = pl_alloc_bare(rows, sizeof *r->first);
    r->of_cluster = PL_NEW(uint32_t, r->body->clusters.count);
    bool fine = r->want && r->own && r->point && r->lanes && r->row && r->first && r->of_cluster;
    return fine ? PLIANT_OK : pl_fail_memory(rows * sizeof *r->lanes);
}

static void refresh_end(refresh* r)
{
    void* blocks[] = {r->want, r->own,   r->point,      r->lanes,
                      r->row,  r->first, r->of_cluster, r->sums};
    for (size_t i = 0; i < PL_COUNTOF(blocks); ++i)
        pl_free(blocks[i]);
}

/* Moments of the parts of a chunk. */
static void refresh_parts(const refresh* r, uint32_t index)
{
    const pl_chunk* chunk = &r->body->chunks[index];
    pl_clusters* k = &r->body->clusters;
    r->kernels->rest_mass_moments(&(pl_rest_mass_moments){.chunk = chunk,
                                                          .particles = &r->body->particles,
                                                          .lanes = (double(*)[4][8])(void*)r->lanes,
                                                          .sums = r->first});
    for (uint32_t row = 0; row < chunk->row_count; ++row)
    {
        uint32_t c = chunk->rows[row], at = k->part_begin[c];
        while (k->part[at].chunk != index)
            ++at;
        k->part[at].mass = r->first[row][0];
        memcpy(k->part[at].first, r->first[row] + 1, sizeof k->part[at].first);
        for (int j = 0; j < 3; ++j)
            k->part[at].to_rest[j] = chunk->rest_origin[j] - k->rest[c][j];
    }
}

/* Mass and centre, in the rest space of each cluster. */
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
            s->mass += part->mass;
            s->centre = v3_add(
                s->centre, v3_mad(v3_fromd(part->first), v3_from(chunk->rest_origin), part->mass));
            s->all = s->all || chunk->own_rest;
        }
        if (s->mass > 0)
            s->centre = v3_scale(s->centre, 1 / s->mass);
    }
}

/* What a chunk has of the clusters at hand. */
static void add_chunk(refresh* r, const pl_chunk* chunk)
{
    const pl_clusters* k = &r->body->clusters;
    vec3 origin = v3_from(chunk->rest_origin);
    float(*body)[3] = (float(*)[3])(void*)r->point, (*centre)[3];
    bool any = false;
    centre = body + chunk->row_count;
    for (uint32_t row = 0; row < chunk->row_count; ++row)
    {
        uint32_t c = chunk->rows[row], at = r->of_cluster[c];
        r->want[row] = PL_REST_NONE;
        if (!at)
            continue;
        any = true;
        r->want[row] = r->sums[at - 1].all ? PL_REST_ALL : PL_REST_SHAPE;
        v3_store(v3_sub(r->sums[at - 1].centre, origin), centre[row]);
        v3_store(v3_sub(v3_from(k->in_body[c]), origin), body[row]);
    }
    if (!any)
        return;
    r->kernels->rest_second_moments(&(pl_rest_job){.chunk = chunk,
                                                   .particles = &r->body->particles,
                                                   .want = r->want,
                                                   .centre = (const float(*)[3])centre,
                                                   .body = (const float(*)[3])body,
                                                   .lanes = r->lanes,
                                                   .sums = r->row,
                                                   .own = r->own});
    for (uint32_t row = 0; row < chunk->row_count; ++row)
    {
        if (!r->want[row])
            continue;
        shape_sums* s = &r->sums[r->of_cluster[chunk->rows[row]] - 1];
        int count = r->want[row] == PL_REST_ALL ? PL_REST_WIDEST : PL_REST_BODY;
        for (int i = 0; i < count; ++i)
            s->sum[i] += r->row[row][i];
        s->sum[PL_REST_WIDEST] = fmax(s->sum[PL_REST_WIDEST], r->row[row][PL_REST_WIDEST]);
        s->own = s->own || r->own[row];
    }
}

static mat3 symmetric_of(const double a[6])
{
    return (mat3){{{a[0], a[3], a[5]}, {a[3], a[1], a[4]}, {a[5], a[4], a[2]}}};
}

/* Where the members are in the body's rest shape, and sums about that. */
static void centre_in_body(const pl_clusters* k, shape_sums* s)
{
    vec3 from = v3_from(k->in_body[s->cluster]);
    vec3 mean = v3_scale(v3_fromd(s->sum + PL_REST_BODY), 1 / s->mass);
    const double d[3] = {mean.x, mean.y, mean.z};
    s->body = v3_add(from, mean);
    for (int i = 0; i < 3; ++i)
    {
        s->sum[PL_REST_SPREAD + i] -= s->mass * d[i] * d[i];
        s->sum[PL_REST_SPREAD + 3 + i] -= s->mass * d[i] * d[(i + 1) % 3];
    }
}

/* ------------------------------------------------------------------ clusters */

/* G with least sum m w |p - G (r - body)|^2; along directions without extent it does nothing.
 * Copies lie where their parents did, and all members may be copies of one: then there is no
 * direction, and nothing but rounding to divide by. */
static mat3 map_from_body(const shape_sums* s, double spacing)
{
    double values[3], least = NARROWEST * NARROWEST * spacing * spacing * s->mass;
    mat3 vectors, inverse = m3_zero(), missing = m3_zero(), cross;
    memcpy(cross.m, s->sum + PL_REST_CROSS, sizeof cross.m);
    pl_jacobi3(symmetric_of(s->sum + PL_REST_SPREAD), values, &vectors);
    for (int e = 0; e < 3; ++e)
    {
        vec3 v = v3(vectors.m[0][e], vectors.m[1][e], vectors.m[2][e]);
        if (values[e] > fmax(1e-4 * values[2], least))
            inverse = m3_add(inverse, m3_scale(m3_outer(v, v), 1 / values[e]));
        else
            missing = m3_add(missing, m3_outer(v, v));
    }
    return m3_add(m3_mul(cross, inverse), missing);
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
    mat3 arr = m3_scale(symmetric_of(s->sum), fade), vectors, map = m3_identity();
    pl_jacobi3(arr, values, &vectors);
    pl_set_shape(body, c, arr, mass, values, vectors);
    vec3 before = v3_from(k->rest[c]);
    v3_store(s->centre, k->rest[c]);
    shift_links(body, c, v3_sub(v3_from(k->rest[c]), before));
    k->mass[c] = (float)mass;
    k->width_rms[c] = (float)sqrt(m3_trace(arr) / mass);
    k->width_max[c] = (float)sqrt(s->sum[PL_REST_WIDEST]);
    k->own[c] = s->own;
    if (s->own)
    {
        centre_in_body(k, s);
        map = map_from_body(s, body->spacing);
    }
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
    r->sums = PL_NEW(shape_sums, r->count);
    if (!r->sums)
        return pl_fail_memory(r->count * sizeof *r->sums);
    uint32_t at = 0;
    for (uint32_t c = 0; c < finest; ++c)
        if (clusters[c])
        {
            r->sums[at].cluster = c;
            r->of_cluster[c] = ++at;
        }
    find_centres(r);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        add_chunk(r, &body->chunks[c]);
    for (uint32_t i = 0; i < r->count; ++i)
        set_cluster(r, &r->sums[i]);
    return PLIANT_OK;
}

pl_status pl_rest_refresh(pl_body* body, const uint8_t* chunks, const uint8_t* clusters)
{
    refresh r = {.body = body};
    pl_level_batches_free(&body->links.batches); /* they have these moments, too */
    pl_status status = refresh_begin(&r);
    for (uint32_t c = 0; c < body->chunk_count && status == PLIANT_OK; ++c)
        if (chunks[c])
            refresh_parts(&r, c);
    if (status == PLIANT_OK)
        status = refresh_finest(&r, clusters);
    refresh_end(&r);
    if (status != PLIANT_OK || body->level_count == 1)
        return status;
    uint8_t* touched = PL_NEW(uint8_t, body->clusters.count);
    if (!touched)
        return pl_fail_memory(body->clusters.count);
    refresh_coarse(body, clusters, touched);
    pl_free(touched);
    return PLIANT_OK;
}
