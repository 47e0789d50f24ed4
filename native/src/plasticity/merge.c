// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Merges crowded particles (after Chentanez, Mueller, Macklin 2016, section 5). Flattening presses
 * particles together in one direction, closer than needed, and draws them apart in the others
 * (resample.c). Two neighbours whose material is thinner than half the spacing along the line
 * between them
 *
 *      ( . o . )      become      ( . o . )
 *      ( . o . )
 *
 * one particle with the exact sum of their masses, at their centre of mass, with their momentum.
 *
 * It joins the clusters of both, with weights (m_i w_ic + m_j w_jc) / (m_i + m_j), so that each
 * cluster keeps its mass. Its rest place is the mean of theirs, each moved by F_c^-1 d to the new
 * position, so that the cluster's may_merge does not change.
 *
 * Departures. The angular momentum and energy of their relative motion are lost. Pairs are chosen
 * by the extent of their material, not by distance alone: a body that is dense at rest is not
 * crowded.
 */
#include "geometry/point_tree.h"
#include "plasticity/resample_internal.h"

#include <stdlib.h>
#include <string.h>

static const double THINNEST = .5; /* spacings; two such halves make one spacing */
static const double BESIDE = .7;   /* least cosine between the pair's line and the short axes */
static const double REACH = 1.6;   /* largest distance, in lengths of the box */
static const double HEAVIEST = 2;  /* masses of an initial particle */
enum
{
    A_FRAME = 16,       /* a frame merges at most one in so many particles, */
    AT_LEAST = 8,       /* or this many if that is more */
    LEAST_MEMBERS = 12, /* a cluster keeps */
    MOST_FOUND = 12,    /* neighbours tested */
    MOST_CLUSTERS = 24  /* of one particle */
};

typedef struct thin_particle
{
    double length; /* in spacings */
    vec3 axis, x;
    uint32_t id;
    pl_extent box;
} thin_particle;

typedef struct thin_list
{
    thin_particle* list;
    uint32_t count;
    pl_point_tree* tree;
} thin_list;

static int thinnest_first(const void* a, const void* b)
{
    const thin_particle *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static vec3 place_of(const pl_particles* p, uint32_t slot)
{
    return v3(p->x[0][slot], p->x[1][slot], p->x[2][slot]);
}

/* Whether a chunk's positions are relative to this slot, which must then stay in use. */
static bool is_middle(const pl_body* body, uint32_t slot)
{
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        if (body->chunks[c].middle_slot == slot)
            return true;
    return false;
}

static void find_thin(const pl_resampling* r, thin_list* t)
{
    const pl_particles* p = &r->body->particles;
    for (uint32_t id = 0; id < r->ids; ++id)
    {
        thin_particle* one = &t->list[t->count];
        if (r->busy[id] || !pl_lives(p, id) || !pl_resample_box(r, id, &one->box))
            continue;
        one->id = id;
        one->length = one->box.length[one->box.shortest];
        one->axis = one->box.axis[one->box.shortest];
        one->x = place_of(p, p->slot_of[id]);
        t->count += one->length < THINNEST;
    }
    if (t->count)
        qsort(t->list, t->count, sizeof *t->list, thinnest_first);
}

/* ------------------------------------------------------------------ merged memberships */

/* Adds one old membership to the new particle's. False: F is singular, or too many clusters. */
static bool add_member(const pl_body* body, const pl_member* one, double weight, vec3 moved,
                       pl_member* list, double* weights, uint32_t* count)
{
    mat3 f = m3_from(body->clusters.f[one->cluster]);
    uint32_t at = 0;
    if (!pl_is_whole(f))
        return false;
    vec3 rest = v3_add(v3_fromd(one->rest), m3_mulv(m3_inverse(f), moved));
    while (at < *count && list[at].cluster < one->cluster)
        ++at;
    if (at == *count || list[at].cluster != one->cluster)
    {
        if (*count == MOST_CLUSTERS)
            return false;
        memmove(list + at + 1, list + at, (*count - at) * sizeof *list);
        memmove(weights + at + 1, weights + at, (*count - at) * sizeof *weights);
        list[at] = (pl_member){.cluster = one->cluster};
        weights[at] = 0;
        ++*count;
    }
    const double r[3] = {rest.x, rest.y, rest.z};
    for (int k = 0; k < 3; ++k)
        list[at].rest[k] += weight * r[k];
    weights[at] += weight;
    return true;
}

/* The new particle's memberships. 0: the pair cannot be merged. */
static uint32_t join(const pl_resampling* r, pl_edit* edit, const pl_twin* pair,
                     pl_member list[MOST_CLUSTERS], uint32_t had[2])
{
    const pl_body* body = r->body;
    const pl_particles* p = &body->particles;
    double weights[MOST_CLUSTERS], mass = 0;
    uint32_t count = 0, slots[2] = {pair->slot, pair->other};
    for (int i = 0; i < 2; ++i)
        mass += (double)p->quanta[slots[i]];
    for (int i = 0; i < 2; ++i)
    {
        uint32_t members;
        const pl_member* m = pl_edit_members(edit, slots[i], &members);
        double share = (double)p->quanta[slots[i]] / mass * p->norm[slots[i]];
        vec3 moved = v3_sub(pair->at, place_of(p, slots[i]));
        had[i] = members;
        for (uint32_t n = 0; n < members; ++n)
        {
            double fade = body->clusters.fade[m[n].cluster];
            if (r->members[m[n].cluster] <= LEAST_MEMBERS || !(fade > 0) ||
                !add_member(body, &m[n], share * m[n].kernel, moved, list, weights, &count))
                return 0;
        }
    }
    for (uint32_t n = 0; n < count; ++n)
    {
        list[n].kernel = (float)weights[n];
        for (int k = 0; k < 3; ++k)
            list[n].rest[k] /= weights[n];
    }
    return count;
}

/* ------------------------------------------------------------------ pairs */

static void fill_pair(const pl_resampling* r, const thin_particle* a, const thin_particle* b,
                      pl_twin* pair)
{
    const pl_particles* p = &r->body->particles;
    bool turned = is_middle(r->body, p->slot_of[b->id]);
    *pair = (pl_twin){.length = a->length};
    pair->id[0] = turned ? b->id : a->id;
    pair->id[1] = turned ? a->id : b->id;
    pair->slot = p->slot_of[pair->id[0]];
    pair->other = p->slot_of[pair->id[1]];
    uint32_t slots[2] = {pair->slot, pair->other};
    double mass = (double)p->quanta[slots[0]] + (double)p->quanta[slots[1]];
    pair->all = m3_zero();
    for (int i = 0; i < 2; ++i)
    {
        uint32_t s = slots[i];
        double part = (double)p->quanta[s] / mass;
        pair->x[i] = place_of(p, s);
        pair->f[i] = m3_from(r->f + 9 * (size_t)s);
        pair->at = v3_mad(pair->at, pair->x[i], part);
        pair->v = v3_mad(pair->v, v3(p->v[0][s], p->v[1][s], p->v[2][s]), part);
        pair->all = m3_add(pair->all, m3_scale(pair->f[i], part));
    }
}

/* Whether two particles may be merged, apart from their clusters (join). */
static bool may_merge(const pl_resampling* r, const thin_particle* a, const thin_particle* b)
{
    const pl_body* body = r->body;
    const pl_particles* p = &body->particles;
    uint64_t qa = p->quanta[p->slot_of[a->id]], qb = p->quanta[p->slot_of[b->id]];
    vec3 way = v3_sub(b->x, a->x);
    double apart = v3_length(way), mass = (double)(qa + qb) * body->mass_quantum * r->first;
    if (a->id == b->id || r->busy[b->id] || mass > (HEAVIEST + .01) * body->mass ||
        p->shell[a->id] != p->shell[b->id])
        return false;
    if (a->length * (double)(qa + qb) > (double)qa * 2 * THINNEST ||
        b->length * (double)(qa + qb) > (double)qb * 2 * THINNEST)
        return false;
    return fabs(v3_dot(way, a->axis)) >= BESIDE * apart &&
           fabs(v3_dot(way, b->axis)) >= BESIDE * apart;
}

static pl_status merge(pl_resampling* r, pl_edit* edit, const thin_particle* a,
                       const thin_particle* b, pl_twins* pairs, bool* done)
{
    pl_particles* p = &r->body->particles;
    pl_twin* pair = &pairs->list[pairs->count];
    pl_member list[MOST_CLUSTERS];
    uint32_t had[2];
    fill_pair(r, a, b, pair);
    *done = false;
    if (!pl_is_whole(pair->all) || is_middle(r->body, pair->other))
        return PLIANT_OK;
    uint32_t count = join(r, edit, pair, list, had);
    /* close neighbours share most of their clusters */
    if (count == 0 || count > PL_MAX(had[0], had[1]) + 2)
        return PLIANT_OK;
    for (int i = 0; i < 2; ++i)
        r->busy[pair->id[i]] = PL_MERGED + pairs->count;
    const thin_particle* kept = pair->id[0] == a->id ? a : b;
    double times =
        (double)(p->quanta[pair->slot] + p->quanta[pair->other]) / (double)p->quanta[pair->slot];
    pl_resample_stretch(r, pair->slot, &kept->box, kept->box.shortest, times, pair->piece);
    uint32_t all;
    const pl_member* gone = pl_edit_members(edit, pair->other, &all);
    for (uint32_t n = 0; n < all; ++n)
        --r->members[gone[n].cluster];
    PL_TRY(pl_edit_merge(edit, pair->slot, pair->other, list, count));
    pair->fresh = p->id[pair->slot];
    ++pairs->count;
    *done = true;
    return PLIANT_OK;
}

static pl_status pair_up(pl_resampling* r, pl_edit* edit, const thin_list* t, pl_twins* pairs)
{
    const pl_particles* p = &r->body->particles;
    uint32_t most = PL_MAX(p->count / A_FRAME, (uint32_t)AT_LEAST);
    for (uint32_t i = 0; i < t->count && pairs->count < most && p->id_count < r->most; ++i)
    {
        const thin_particle* one = &t->list[i];
        pl_nearest_point found[MOST_FOUND];
        double reach = REACH * one->length * r->body->spacing;
        if (r->busy[one->id])
            continue;
        uint32_t count = pl_point_tree_query(t->tree, one->x, reach * reach, MOST_FOUND, found);
        bool done = false;
        for (uint32_t n = 0; n < count && !done; ++n)
            if (may_merge(r, one, &t->list[found[n].index]))
                PL_TRY(merge(r, edit, one, &t->list[found[n].index], pairs, &done));
    }
    return PLIANT_OK;
}

pl_status pl_merge_find(pl_resampling* r, pl_edit* edit, pl_twins* pairs)
{
    thin_list t = {.list = PL_NEW(thin_particle, r->ids)};
    vec3* points = PL_NEW(vec3, r->ids);
    pl_status status = t.list && points ? PLIANT_OK : pl_fail_memory(r->ids * sizeof *t.list);
    if (status == PLIANT_OK)
        find_thin(r, &t);
    for (uint32_t i = 0; i < t.count; ++i)
        points[i] = t.list[i].x;
    if (t.count > 1)
    {
        t.tree = pl_point_tree_create(t.count, points);
        status = t.tree ? pair_up(r, edit, &t, pairs) : pl_fail_memory(t.count * sizeof *points);
        pl_point_tree_destroy(t.tree);
    }
    pl_free(points);
    pl_free(t.list);
    return status;
}

/* ------------------------------------------------------------------ after the edit */

static void set_place(pl_body* body, const pl_twin* pair)
{
    pl_particles* p = &body->particles;
    const double at[3] = {pair->at.x, pair->at.y, pair->at.z};
    const double v[3] = {pair->v.x, pair->v.y, pair->v.z};
    for (int k = 0; k < 3; ++k)
    {
        p->x[k][pair->slot] = (float)at[k];
        p->v[k][pair->slot] = (float)v[k];
        p->v[k][pair->other] = 0;
        if (body->acceleration[k])
            body->acceleration[k][pair->other] = 0;
    }
    pl_edit_moved(body, pair->slot);
}

/* Stores where the material of both is, and of particles that had been merged into them. */
static void set_offsets(const pl_resampling* r, const pl_twins* pairs)
{
    const pl_particles* p = &r->body->particles;
    pl_resampled* s = &r->body->particles.resampled;
    for (uint32_t n = 0; n < pairs->count; ++n)
    {
        const pl_twin* pair = &pairs->list[n];
        mat3 inverse = m3_inverse(pair->all);
        vec3 at = place_of(p, pair->slot);
        for (int i = 0; i < 2; ++i)
        {
            s->successor[pair->id[i]] = pair->fresh;
            v3_store(m3_mulv(inverse, v3_sub(pair->x[i], at)), s->offset[pair->id[i]]);
        }
        s->share[pair->fresh] = 0;
        memcpy(s->piece[pair->fresh], pair->piece, sizeof pair->piece);
    }
    for (uint32_t id = 0; id < r->ids; ++id)
    {
        uint32_t before = s->successor[id];
        if (before == id || before >= r->ids || r->busy[before] < PL_MERGED)
            continue;
        const pl_twin* pair = &pairs->list[r->busy[before] - PL_MERGED];
        vec3 away = m3_mulv(pair->f[before == pair->id[1]], v3_from(s->offset[id]));
        vec3 offset = m3_mulv(m3_inverse(pair->all), away);
        v3_store(v3_add(offset, v3_from(s->offset[before])), s->offset[id]);
        s->successor[id] = pair->fresh;
    }
}

void pl_merge_finish(const pl_resampling* r, const pl_twins* pairs)
{
    for (uint32_t n = 0; n < pairs->count; ++n)
        set_place(r->body, &pairs->list[n]);
    set_offsets(r, pairs);
}
