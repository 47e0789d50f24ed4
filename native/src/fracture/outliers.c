// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Outliers: members separated from their cluster by a crack (Jones et al. 2016). A particle of
 * several clusters leaves one whose centre is farther away than
 *
 *   2 (1 + gamma) |F^p p|,   p its rest offset, gamma the strain limit.
 *
 * F^p is included so that plastically stretched clusters keep their members. Half a spacing is
 * added because near the centre of a cluster the ratio to the rest distance is ill-conditioned.
 *
 * Departure: that test alone leaves thin bridges, because a few particles shared by two clusters
 * hardly stretch either of them, however far the two are apart. So a member also leaves when it is
 * farther than THREAD * toughness * cluster width from its place by the cluster's F, which is many
 * times the strain at which a cluster is split.
 *
 * Only clusters beside cracks are tested, in every fourth substep, because rebuilding chunks and
 * clusters afterwards costs far more than the test. A SIMD kernel culls members that are certainly
 * close enough (outliers.simd.c); the rest are measured in double precision.
 */
#include "fracture/outliers.h"

#include "fracture/fracture_internal.h"

#define THREAD 4
/* Margin for rounding in float: the cull must be conservative. */
#define SURELY .998
enum
{
    TURNS = 4
};

/* Limits for the members of a cluster. */
typedef struct member_limits
{
    uint32_t cluster;
    vec3 x, rest;
    mat3 f, fp;
    double times, slack; /* factor of the plastic rest distance, and constant added to it */
    double off;          /* distance from a member's place by F */
} member_limits;

static member_limits limits_of(const pl_breaking* b, uint32_t c)
{
    const pl_clusters* k = &b->body->clusters;
    double tough = pl_toughness_of(b, c);
    return (member_limits){.cluster = c,
                           .x = v3_from(k->x[c]),
                           .rest = v3_from(k->rest[c]),
                           .f = m3_from(k->f[c]),
                           .fp = b->body->plastic ? m3_from(k->fp[c]) : m3_identity(),
                           .times = 2 * (1 + b->body->material.strain_limit),
                           .slack = .5 * b->body->spacing,
                           .off = fmax(THREAD * tough * k->width_max[c], .5 * b->body->spacing)};
}

/* Whether the second test implies the first: a member that passes it is at most |F p| + off away,
 * and |F p| <= |F^e| |F^p p|. True unless the cluster is stretched extremely. */
static bool off_test_suffices(const pl_breaking* b, const member_limits* at)
{
    mat3 e = pl_elastic_of(b->body, at->cluster, at->f);
    double square = 0;
    for (int i = 0; i < 9; ++i)
        square += e.m[i / 3][i % 3] * e.m[i / 3][i % 3];
    return square < SURELY * at->times * at->times && at->off < SURELY * at->times * at->slack;
}

/* The limits in the kernel's form, without from_rest, which depends on the chunk. */
static pl_outlier_bound bound_of(const pl_breaking* b, uint32_t c)
{
    member_limits at = limits_of(b, c);
    pl_outlier_bound l = {.off = (float)(SURELY * at.off * at.off),
                          .times = (float)(SURELY * at.times * at.times),
                          .slack = (float)(at.slack * at.slack),
                          .on = off_test_suffices(b, &at) ? PL_OUTLIER_OFF : PL_OUTLIER_BOTH};
    for (int i = 0; i < 9; ++i)
    {
        l.f[i] = (float)at.f.m[i / 3][i % 3];
        l.fp[i] = (float)at.fp.m[i / 3][i % 3];
    }
    for (int i = 0; i < 3; ++i)
        l.centre[i] = b->body->clusters.x[c][i];
    return l;
}

/* Distance of a member over the allowed distance; over 1: it is an outlier. */
static double relative_distance(const member_limits* l, vec3 x, vec3 rest)
{
    vec3 arm = v3_sub(x, l->x), p = v3_sub(rest, l->rest);
    double far = v3_length(arm) / (l->times * (v3_length(m3_mulv(l->fp, p)) + l->slack));
    double off = v3_length(v3_sub(arm, m3_mulv(l->f, p))) / l->off;
    return fmax(far, off);
}

/* Scratch of a search. */
typedef struct outlier_scratch
{
    pl_outlier_bound* clusters; /* by finest cluster, set where it is cracked */
    pl_outlier_bound* rows;     /* by row of the current chunk */
    pl_suspect* suspects;
} outlier_scratch;

static bool note(pl_breaking* b, uint32_t id, uint32_t cluster, double far)
{
    pl_outlier_list* list = &b->outliers;
    if (!pl_grow((void**)&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return false;
    list->items[list->count++] = (pl_outlier){id, cluster, far};
    return true;
}

/* A particle leaves one cluster at a time: keeps the farthest of each particle of the block. */
static void keep_farthest(pl_outlier_list* list, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < list->count; ++i)
    {
        pl_outlier one = list->items[i];
        size_t at = first;
        while (at < kept && list->items[at].id != one.id)
            ++at;
        if (at == kept)
            list->items[kept++] = one;
        else if (one.far > list->items[at].far)
            list->items[at] = one;
    }
    list->count = kept;
}

/* Measures the suspect lanes of an entry. */
static bool measure_suspect(pl_breaking* b, const pl_chunk* chunk, const pl_suspect* suspect)
{
    const pl_particles* p = &b->body->particles;
    member_limits at = limits_of(b, chunk->rows[chunk->entry_row[suspect->entry]]);
    for (uint32_t lane = 0; lane < 8; ++lane)
    {
        uint32_t s = chunk->slot_begin + 8 * suspect->block + lane;
        if (!(suspect->lanes >> lane & 1))
            continue;
        const float* own =
            chunk->own_rest ? chunk->own_rest + 24 * (size_t)suspect->entry + lane : NULL;
        vec3 rest = own ? v3(own[0], own[8], own[16]) : v3(p->r[0][s], p->r[1][s], p->r[2][s]);
        double far = relative_distance(&at, v3(p->x[0][s], p->x[1][s], p->x[2][s]),
                                       v3_add(rest, v3_from(chunk->rest_origin)));
        if (far > 1 && !note(b, p->id[s], at.cluster, far))
            return false;
    }
    return true;
}

/* Sets the bounds of a chunk's rows; whether any row has to be tested. */
static bool set_row_bounds(const pl_breaking* b, const pl_chunk* chunk, const outlier_scratch* l)
{
    const pl_clusters* k = &b->body->clusters;
    bool any = false;
    for (uint32_t r = 0; r < chunk->row_count; ++r)
    {
        uint32_t c = chunk->rows[r];
        l->rows[r].on = k->cracked[c];
        if (!k->cracked[c])
            continue;
        l->rows[r] = l->clusters[c];
        for (int i = 0; i < 3; ++i)
            l->rows[r].from_rest[i] = chunk->rest_origin[i] - k->rest[c][i];
        any = true;
    }
    return any;
}

static pl_status test_chunk(pl_breaking* b, const pl_chunk* chunk, const outlier_scratch* l)
{
    if (!set_row_bounds(b, chunk, l))
        return PLIANT_OK;
    const pl_suspect* suspects = l->suspects;
    uint32_t count = b->scene->kernels->outliers(chunk, &b->body->particles, l->rows, l->suspects);
    size_t first = b->outliers.count;
    for (uint32_t i = 0; i < count; ++i)
    {
        if (!measure_suspect(b, chunk, &suspects[i]))
            return pl_fail_memory(b->outliers.count * sizeof *b->outliers.items);
        if (i + 1 < count && suspects[i + 1].block == suspects[i].block)
            continue;
        keep_farthest(&b->outliers, first);
        first = b->outliers.count;
    }
    return PLIANT_OK;
}

pl_status pl_outliers_find(pl_breaking* b)
{
    const pl_body* body = b->body;
    const uint8_t* cracked = body->clusters.cracked;
    uint32_t most_rows = 0, most_entries = 0, clusters = body->level_begin[1];
    b->outliers.count = 0;
    if (b->substep % TURNS)
        return PLIANT_OK;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        most_rows = PL_MAX(most_rows, body->chunks[c].row_count);
        most_entries = PL_MAX(most_entries, body->chunks[c].entry_count);
    }
    outlier_scratch l = {PL_BARE(pl_outlier_bound, clusters), PL_BARE(pl_outlier_bound, most_rows),
                         PL_BARE(pl_suspect, most_entries)};
    bool fine = l.clusters && l.rows && l.suspects;
    for (uint32_t c = 0; fine && c < clusters; ++c)
        if (cracked[c])
            l.clusters[c] = bound_of(b, c);
    pl_status status = fine ? PLIANT_OK : pl_fail_memory((size_t)most_entries * sizeof(pl_suspect));
    for (uint32_t c = 0; c < body->chunk_count && status == PLIANT_OK; ++c)
        status = test_chunk(b, &body->chunks[c], &l);
    pl_free(l.clusters);
    pl_free(l.rows);
    pl_free(l.suspects);
    return status;
}

pl_status pl_outliers_leave(pl_breaking* b)
{
    for (size_t i = 0; i < b->outliers.count; ++i)
    {
        PL_TRY(pl_member_leave(b, b->outliers.items[i].id, b->outliers.items[i].cluster));
        if (!pl_note_small(b, b->outliers.items[i].cluster))
            return pl_fail_memory(64);
    }
    return PLIANT_OK;
}
