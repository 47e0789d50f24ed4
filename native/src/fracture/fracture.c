// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fracture of clusters that are stretched too far (Jones, Martin, Levine, Shinar, Bargteil: Ductile
 * Fracture for Clustered Shape Matching, 2016).
 *
 * A cluster is a candidate when its largest elastic stretch, of F^e = F (F^p)^-1, is over
 *
 *   1 + toughness (1 + boost exp(-falloff t)),   t seconds after it was split last,
 *
 * and, after a split, only once its stretch has been below 1 + toughness or one period of its own
 * oscillation has passed. Without that time limit, stretched bridges never break. Candidates are
 * split in order of decreasing overload; each is fitted again first, because earlier splits change
 * its members.
 *
 * The same force stretches a cluster further where the substep limits its stiffness. The toughness
 * is scaled by the same factor, so that the breaking force does not depend on the substep.
 *
 * Departures from published code: only stretch breaks, compression never does; the most overloaded
 * cluster is split first, not last; the boost is a factor on the toughness and decays per second.
 */
#include "fracture/fracture.h"

#include "base/elementary.h"
#include "base/platform.h"
#include "body/validity.h"
#include "dynamics/material.h"
#include "fracture/fracture_internal.h"

#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
/* Least limit of the particle count, relative to the initial count (see is_spent). */
static const double MOST_PARTICLES = 4;

/* ------------------------------------------------------------------ thresholds */

double pl_toughness_of(const pl_breaking* b, uint32_t c)
{
    return b->fracture->desc.toughness * fmax(0, b->body->clusters.toughness_factor[c]) *
           pl_material_softness(b->body, c, b->dt);
}

/* Breaking stretch of a cluster without the boost (plain_threshold) and with it (threshold). */
static double plain_threshold(const pl_breaking* b, uint32_t c)
{
    return 1 + pl_toughness_of(b, c);
}

static double threshold(const pl_breaking* b, uint32_t c)
{
    const pliant_fracture_desc* desc = &b->fracture->desc;
    double since = b->time - b->body->clusters.split_time[c], more = 0;
    if (b->body->clusters.split_time[c] > 0 && desc->boost > 0)
        more = desc->boost * pl_exp(-desc->falloff * fmax(since, 0));
    return 1 + (plain_threshold(b, c) - 1) * (1 + more);
}

/* One period has passed: a spring with stiffness alpha per substep has a period of
 * 2 pi / sqrt(alpha) substeps. */
static bool has_settled(const pl_breaking* b, uint32_t c)
{
    double since = (b->time - b->body->clusters.split_time[c]) / b->dt;
    return since * since * b->body->clusters.alpha[c] > 4 * PI * PI;
}

/* ------------------------------------------------------------------ scan */

static mat3 gradient_of(const pl_clusters* k, uint32_t c)
{
    const float* f = k->f[c];
    return (mat3){{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}, {f[6], f[7], f[8]}}};
}

/* Upper bound on the singular values (Gershgorin circles of a a^T). It decides most clusters
 * without an eigendecomposition. */
static double stretch_bound(mat3 a)
{
    mat3 g = m3_mul(a, m3_transpose(a));
    double most = 0;
    for (int i = 0; i < 3; ++i)
        most = fmax(most, g.m[i][i] + fabs(g.m[i][(i + 1) % 3]) + fabs(g.m[i][(i + 2) % 3]));
    return sqrt(most);
}

typedef struct scan
{
    pl_breaking* b;
    uint32_t run;
} scan;

/* overload = stretch / threshold of each cluster, 0 below the threshold. */
static void scan_clusters(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const scan* s = context;
    const pl_breaking* b = s->b;
    pl_clusters* k = &b->body->clusters;
    (void)worker;
    uint32_t last = PL_MIN(end * s->run, b->body->level_begin[1]);
    for (uint32_t c = begin * s->run; c < last; ++c)
    {
        b->fracture->overload[c] = 0;
        if (!(k->fade[c] > 0) || b->fracture->pieces[k->piece[c]].asleep)
            continue;
        double plain = 1 + b->fracture->desc.toughness * fmax(0, k->toughness_factor[c]);
        mat3 elastic = pl_elastic_of(b->body, c, gradient_of(k, c));
        double stretch = stretch_bound(elastic);
        if (stretch > plain) /* over the lower bound: compute the threshold itself */
            plain = plain_threshold(b, c);
        if (stretch > plain)
            stretch = pl_largest_stretch_of(elastic, NULL);
        if (stretch <= plain || (k->settling[c] && has_settled(b, c)))
            k->settling[c] = 0;
        if (stretch > plain && !k->settling[c] && stretch > threshold(b, c))
            b->fracture->overload[c] = (float)(stretch / threshold(b, c));
    }
}

/* ------------------------------------------------------------------ candidates */

typedef struct candidate
{
    float overload;
    uint32_t cluster;
} candidate;

static int most_overloaded_first(const void* a, const void* b)
{
    const candidate *x = a, *y = b;
    if (x->overload != y->overload)
        return x->overload > y->overload ? -1 : 1;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

/* Whether the body has reached its limit of particles and splits. Without reclustering both stay
 * below the initial number of memberships, because each split uses some up. A body that flows gets
 * new clusters, and its copies new memberships, so it needs an explicit limit. */
static bool is_spent(const pl_body* body)
{
    double each = fmax(body->first_overlap, MOST_PARTICLES);
    double most = each * pl_first_particles(&body->particles);
    return body->particles.id_count > most || (double)body->fracture->split_count >= most;
}

static pl_status split_all(pl_breaking* b, candidate* list, uint32_t count)
{
    qsort(list, count, sizeof *list, most_overloaded_first);
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_fit fit;
        bool done;
        uint32_t most = b->fracture->desc.most_pieces;
        if ((most && pl_pieces_now(b->body) >= most) || is_spent(b->body))
            break;
        PL_TRY(pl_fracture_fit(b, list[i].cluster, &fit));
        if (fit.stretch > threshold(b, list[i].cluster))
            PL_TRY(pl_split_cluster(b, list[i].cluster, &fit, &done));
    }
    return PLIANT_OK;
}

void pl_breaking_free(pl_breaking* b)
{
    pl_free(b->ids);
    pl_free(b->known.members);
    pl_free(b->known.begin);
    pl_free(b->plan.items);
    pl_free(b->plan.members);
    pl_free(b->plan.turned);
    pl_free(b->plan.cell_side);
    pl_free(b->lost);
    pl_free(b->marks);
    pl_free(b->found.parts);
    pl_free(b->found.clusters);
    pl_free(b->label);
    pl_free(b->parted);
    pl_free(b->outliers.items);
    pl_free(b->small);
    pl_free(b->before);
    pl_free(b->after);
}

/* Performs all splits of one substep as one edit. */
static pl_status break_body(pl_breaking* b, candidate* list, uint32_t count)
{
    pl_fracture* f = b->fracture;
    uint64_t updates = 0;
    PL_TRY(pl_pieces_ready(b->body, b->substep, b->moment));
    PL_TRY(pl_voronoi_cells_ready(b->body));
    PL_TRY(pl_edit_begin(b->body, b->substep, &b->edit));
    pl_status status = split_all(b, list, count);
    if (status == PLIANT_OK)
        status = pl_outliers_leave(b);
    if (status == PLIANT_OK && b->any)
        status = pl_weak_links_split(b);
    if (status == PLIANT_OK)
        status = pl_small_dissolve(b);
    if (status != PLIANT_OK || !b->any)
    {
        pl_edit_abandon(b->edit);
        if (status != PLIANT_OK)
            f->stamp = 0; /* the graph may be between two states */
        return status;
    }
    status = pl_edit_end(b->edit, &updates);
    if (status == PLIANT_OK)
        status = pl_levels_part(b);
    f->stamp = status == PLIANT_OK ? pl_stamp(b->body) : 0;
    f->updates_most = PL_MAX(f->updates_most, updates);
    return status;
}

static bool may_break(const pl_breaking* b)
{
    const pl_fracture* f = b->body->fracture;
    if (!f || b->body->asleep || b->body->pins.follow || !(f->desc.toughness < INFINITY) ||
        b->time < f->desc.first_time - 1e-3 * b->dt) /* tolerance for rounding of summed times */
        return false;
    return !f->desc.most_pieces || pl_pieces_now(b->body) < f->desc.most_pieces;
}

static pl_status fracture_body(pl_breaking* b, bool* any)
{
    uint32_t clusters = b->body->level_begin[1], chunks = b->body->chunk_count, count = 0;
    pl_fracture* f = b->fracture;
    scan s = {b, pl_batch_size(clusters)};
    if (!pl_grow((void**)&f->overload, &f->overload_capacity, clusters, sizeof *f->overload))
        return pl_fail_memory((size_t)clusters * sizeof *f->overload);
    pl_parallel_for(b->scene->pool, (clusters + s.run - 1) / s.run, 1, scan_clusters, &s);
    for (uint32_t c = 0; c < clusters; ++c)
        count += f->overload[c] > 0;
    if (f->split_count)
        PL_TRY(pl_outliers_find(b));
    if (count == 0 && b->outliers.count == 0)
        return PLIANT_OK;
    candidate* list = PL_NEW(candidate, count);
    if (!list)
        return pl_fail_memory(count * sizeof *list);
    for (uint32_t c = 0, at = 0; c < clusters; ++c)
        if (f->overload[c] > 0)
            list[at++] = (candidate){f->overload[c], c};
    pl_status status = break_body(b, list, count);
    pl_free(list);
    /* capacity that was added stays, even if nothing was split */
    *any = *any || b->any || clusters != b->body->level_begin[1] || chunks != b->body->chunk_count;
    return status;
}

pl_status pl_fracture_bodies(pl_substep* step)
{
    pl_scene* scene = step->scene;
    double since = pl_now_ms();
    bool any = false;
    for (uint32_t i = 0; i < scene->body_count; ++i)
    {
        pl_breaking b = {.scene = scene,
                         .body = scene->bodies[i],
                         .fracture = scene->bodies[i]->fracture,
                         .substep = scene->substep + 1,
                         .moment = (double)scene->frame + step->t1,
                         .time = scene->time + step->t1 * scene->frame_dt,
                         .dt = step->dt};
        if (b.fracture && !b.body->asleep)
            pl_small_pieces_move(&b);
        if (!may_break(&b))
            continue;
        pl_assert_fits(b.body);
        pl_assert_rows(b.body);
        pl_status status = fracture_body(&b, &any);
        pl_breaking_free(&b);
        PL_TRY(status);
    }
    pl_substep_lap(scene, PLIANT_STAGE_FRACTURE, since);
    return any ? pl_task_lists_make(scene) : PLIANT_OK;
}

/* ------------------------------------------------------------------ settings */

void pl_fracture_free(pl_body* body)
{
    pl_fracture* f = body->fracture;
    body->fracture = NULL;
    if (!f)
        return;
    for (uint32_t c = 0; c < f->share_count; ++c)
        pl_free(f->shares[c].items);
    pl_free(f->shares);
    pl_free(f->pieces);
    pl_free(f->splits);
    pl_free(f->divided);
    pl_free(f->overload);
    pl_free(f->cell);
    pl_free(f->cell_point);
    pl_free(f->given);
    pl_free(f->small_pieces);
    pl_free(f);
}

pl_status pl_fracture_set(pl_body* body, const pliant_fracture_desc* desc)
{
    pl_fracture* created = body->fracture ? NULL : PL_NEW(pl_fracture, 1);
    if (!body->fracture && !created)
        return pl_fail_memory(sizeof *created);
    if (created)
    {
        body->fracture = created;
        pl_status status = pl_pieces_ready(body, 0, 0);
        if (status != PLIANT_OK)
        {
            body->fracture = NULL;
            for (uint32_t c = 0; c < created->share_count; ++c)
                pl_free(created->shares[c].items);
            pl_free(created->shares);
            pl_free(created->pieces);
            pl_free(created);
            return status;
        }
    }
    body->fracture->desc = *desc;
    return pl_voronoi_cells_ready(body);
}

double pl_fracture_birth(const pl_body* body, uint32_t id)
{
    const pl_fracture* f = body->fracture;
    uint64_t substep = body->particles.birth[id];
    size_t low = 0, high = f ? f->split_count : 0;
    while (low < high)
    {
        size_t middle = (low + high) / 2;
        if (f->splits[middle].substep < substep)
            low = middle + 1;
        else
            high = middle;
    }
    return substep && f && low < f->split_count ? f->splits[low].moment : 0;
}
