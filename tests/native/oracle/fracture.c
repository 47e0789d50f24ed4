// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fracture of the oracle: Jones et al. 2016 without the mistakes of published code, by the rules
 * that the library has but for its limits on pieces. Memberships are one plain list that is
 * searched from end to end for everything; when all is done, the body is set up anew.
 */
#include "native/oracle/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry
{
    uint32_t cluster, particle;
    double weight;
    vec3 p;
} entry;

typedef struct breaking
{
    reference* o;
    reference_level* level;
    double dt;
    entry* entries;
    uint32_t count;
    double* sum;      /* of a particle's weights */
    double spacing;   /* of particles */
    uint32_t* shares; /* by pairs of clusters: particles that both have, once nothing splits more */
    bool any;
} breaking;

typedef struct fit
{
    vec3 x, normal;
    double mass, stretch;
} fit;

static void* grown(void* block, size_t count, size_t size)
{
    void* more = realloc(block, count * size);
    if (!more)
        abort();
    return more;
}

/* ------------------------------------------------------------------ thresholds */

static double threshold(const breaking* b, const reference_cluster* cluster)
{
    const pliant_fracture_desc* desc = &b->o->settings.fracture;
    double since = b->o->time - cluster->split_time;
    double more = cluster->split_time > 0 ? desc->boost * exp(-desc->falloff * since) : 0;
    return 1 + desc->toughness * (1 + more);
}

static double stretch_of(const reference_cluster* cluster, mat3 f, vec3* normal)
{
    mat3 u, v;
    double sigma[3];
    reference_svd(m3_mul(f, cluster->fp_inverse), &u, sigma, &v);
    if (normal)
        *normal = v3(u.m[0][0], u.m[1][0], u.m[2][0]);
    return sigma[0];
}

/* Whether it is to be split; how many times over its threshold it is. */
static bool is_candidate(breaking* b, reference_cluster* cluster, double* overload)
{
    double plain = 1 + b->o->settings.fracture.toughness;
    double stretch = stretch_of(cluster, cluster->f, NULL);
    double since = (b->o->time - cluster->split_time) / b->dt;
    bool swung = since * since * cluster->alpha > 4 * 3.14159265358979323846 * 3.14159265358979;
    if (stretch <= plain || swung)
        cluster->settling = false;
    *overload = stretch / threshold(b, cluster);
    return !cluster->settling && *overload > 1;
}

/* ------------------------------------------------------------------ the list */

static void sum_weights(breaking* b)
{
    memset(b->sum, 0, b->o->particles * sizeof *b->sum);
    for (uint32_t i = 0; i < b->count; ++i)
        b->sum[b->entries[i].particle] += b->entries[i].weight;
}

static void list_entries(breaking* b)
{
    b->count = b->level->begin[b->level->clusters];
    b->entries = grown(NULL, b->count + 1, sizeof *b->entries);
    b->sum = grown(NULL, b->o->particles, sizeof *b->sum);
    for (uint32_t c = 0; c < b->level->clusters; ++c)
        for (uint32_t k = b->level->begin[c]; k < b->level->begin[c + 1]; ++k)
        {
            const reference_member* m = &b->level->member[k];
            b->entries[k] = (entry){c, m->index, m->weight, m->p};
        }
    sum_weights(b);
}

/* The level from the list, by cluster; those without members are gone. */
static void store_entries(breaking* b)
{
    reference_level* level = b->level;
    uint32_t at = 0, largest = 0, kept = 0;
    uint32_t* next = calloc(level->clusters + 1, sizeof *next);
    if (!next)
        abort();
    level->begin = grown(level->begin, level->clusters + 1, sizeof *level->begin);
    level->member = grown(level->member, b->count + 1, sizeof *level->member);
    for (uint32_t i = 0; i < b->count; ++i)
        ++next[b->entries[i].cluster];
    for (uint32_t c = 0; c < level->clusters; ++c)
    {
        uint32_t members = next[c];
        largest = members > largest ? members : largest;
        next[c] = at;
        if (!members)
            continue;
        level->cluster[kept] = level->cluster[c];
        level->begin[kept++] = at;
        at += members;
    }
    level->clusters = kept;
    level->begin[kept] = at;
    for (uint32_t i = 0; i < b->count; ++i)
    {
        const entry* e = &b->entries[i];
        level->member[next[e->cluster]++] = (reference_member){e->weight, e->p, e->particle};
    }
    free(next);
    b->o->scratch = grown(b->o->scratch, largest + 1, sizeof *b->o->scratch);
    reference_prepare(b->o, level);
}

static uint32_t memberships_of(const breaking* b, uint32_t particle)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->count; ++i)
        count += b->entries[i].particle == particle;
    return count;
}

/* ------------------------------------------------------------------ one split */

static fit fit_cluster(const breaking* b, uint32_t c)
{
    const reference* o = b->o;
    fit found = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    vec3 p = v3(0, 0, 0);
    reference_cluster own = {.fp_inverse = b->level->cluster[c].fp_inverse};
    for (int round = 0; round < 2; ++round)
    {
        for (uint32_t i = 0; i < b->count; ++i)
        {
            const entry* e = &b->entries[i];
            if (e->cluster != c)
                continue;
            double mw = o->mass[e->particle] * e->weight / b->sum[e->particle];
            vec3 x = o->x[e->particle];
            if (round == 0)
            {
                found.mass += mw;
                found.x = v3_mad(found.x, x, mw);
                p = v3_mad(p, e->p, mw);
                continue;
            }
            vec3 arm = v3_sub(e->p, p);
            own.axr = m3_add(own.axr, m3_scale(m3_outer(v3_sub(x, found.x), arm), mw));
            own.arr = m3_add(own.arr, m3_scale(m3_outer(arm, arm), mw));
        }
        if (round == 0)
        {
            found.x = v3_scale(found.x, 1 / found.mass);
            p = v3_scale(p, 1 / found.mass);
        }
    }
    reference_invert(&own);
    found.stretch = stretch_of(&own, m3_mul(own.axr, own.arr_inverse), &found.normal);
    return found;
}

static bool is_beyond(const fit* f, vec3 x)
{
    return v3_dot(v3_sub(x, f->x), f->normal) > 0;
}

/* Another particle where this one is, with a share of its mass. */
static uint32_t divide(breaking* b, uint32_t particle, double share)
{
    reference* o = b->o;
    uint32_t copy = o->particles++;
    vec3** vectors[] = {&o->x, &o->v, &o->rest, &o->acceleration, &o->old, &o->change};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i)
    {
        *vectors[i] = grown(*vectors[i], o->particles, sizeof **vectors[i]);
        (*vectors[i])[copy] = (*vectors[i])[particle];
    }
    o->mass = grown(o->mass, o->particles, sizeof *o->mass);
    b->sum = grown(b->sum, o->particles, sizeof *b->sum);
    o->touch = grown(o->touch, o->particles, sizeof *o->touch);
    o->touch[copy] = o->touch[particle];
    o->mass[copy] = share * o->mass[particle];
    o->mass[particle] -= o->mass[copy];
    return copy;
}

/* A particle of the split cluster: clusters whose centre is across the plane get a copy. */
static void part_particle(breaking* b, const fit* f, uint32_t c, uint32_t particle)
{
    bool side = is_beyond(f, b->o->x[particle]);
    double moved = 0;
    for (uint32_t i = 0; i < b->count; ++i)
    {
        const entry* e = &b->entries[i];
        if (e->particle == particle && e->cluster != c &&
            is_beyond(f, b->level->cluster[e->cluster].x) != side)
            moved += e->weight;
    }
    if (!(moved > 0))
        return;
    uint32_t copy = divide(b, particle, moved / b->sum[particle]);
    for (uint32_t i = 0; i < b->count; ++i)
    {
        entry* e = &b->entries[i];
        if (e->particle == particle && e->cluster != c &&
            is_beyond(f, b->level->cluster[e->cluster].x) != side)
        {
            e->particle = copy;
            b->level->cluster[e->cluster].cracked = true;
        }
    }
}

static void split(breaking* b, uint32_t c, const fit* f)
{
    reference_level* level = b->level;
    uint32_t sides[2] = {0, 0}, fresh = level->clusters;
    for (uint32_t i = 0; i < b->count; ++i)
        if (b->entries[i].cluster == c)
            ++sides[is_beyond(f, b->o->x[b->entries[i].particle])];
    if (!sides[0] || !sides[1])
        return;
    for (uint32_t i = 0; i < b->count; ++i)
        if (b->entries[i].cluster == c)
            part_particle(b, f, c, b->entries[i].particle);
    for (uint32_t i = 0; i < b->count; ++i)
        if (b->entries[i].cluster == c && is_beyond(f, b->o->x[b->entries[i].particle]))
            b->entries[i].cluster = fresh;
    sum_weights(b);
    level->cluster = grown(level->cluster, ++level->clusters, sizeof *level->cluster);
    level->cluster[fresh] = level->cluster[c];
    for (int side = 0; side < 2; ++side)
    {
        reference_cluster* cluster = &level->cluster[side ? fresh : c];
        cluster->x = fit_cluster(b, side ? fresh : c).x;
        cluster->settling = b->o->settings.fracture.settle != 0;
        cluster->split_time = b->o->time;
        cluster->cracked = true;
    }
    ++b->o->splits;
    b->any = true;
}

typedef struct candidate
{
    double overload;
    uint32_t cluster;
} candidate;

static int most_overloaded_first(const void* a, const void* b)
{
    const candidate *x = a, *y = b;
    if (x->overload != y->overload)
        return x->overload > y->overload ? -1 : 1;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

/* ------------------------------------------------------------------ members that leave */

/* How many times as far away as it may be a member is. */
static double farness(const breaking* b, const entry* e)
{
    const reference_settings* s = &b->o->settings;
    const reference_cluster* cluster = &b->level->cluster[e->cluster];
    vec3 arm = v3_sub(b->o->x[e->particle], cluster->x);
    double rest = v3_length(m3_mulv(cluster->fp, e->p)) + .5 * b->spacing;
    double off = fmax(4 * s->fracture.toughness * cluster->width_max, .5 * b->spacing);
    return fmax(v3_length(arm) / (2 * (1 + s->material.strain_limit) * rest),
                v3_length(v3_sub(arm, m3_mulv(cluster->f, e->p))) / off);
}

/* Which membership each particle is to lose, before anything is edited: 1 + its place, or 0. Only
 * clusters beside cracks are looked at, in every fourth step. */
static uint32_t* find_outliers(const breaking* b, bool* any)
{
    uint32_t* found = calloc(b->o->particles, sizeof *found);
    double* far = calloc(b->o->particles, sizeof *far);
    if (!found || !far)
        abort();
    *any = false;
    for (uint32_t c = 0; c < b->level->clusters; ++c)
        for (uint32_t k = b->level->begin[c]; k < b->level->begin[c + 1]; ++k)
        {
            const reference_member* m = &b->level->member[k];
            if (!b->level->cluster[c].cracked || m->weight > .999999)
                continue;
            entry e = {c, m->index, m->weight, m->p};
            double is = farness(b, &e);
            if (!(is > 1) || is <= far[m->index])
                continue;
            far[m->index] = is;
            found[m->index] = k + 1;
            *any = true;
        }
    free(far);
    return found;
}

/* What two clusters share, by pairs. */
static uint32_t* count_shares(const breaking* b)
{
    uint32_t clusters = b->level->clusters, none = UINT32_MAX;
    uint32_t* shares = calloc((size_t)clusters * clusters, sizeof *shares);
    uint32_t* last = grown(NULL, b->o->particles, sizeof *last);
    uint32_t* before = grown(NULL, b->count + 1, sizeof *before);
    if (!shares)
        abort();
    for (uint32_t i = 0; i < b->o->particles; ++i)
        last[i] = none;
    for (uint32_t i = 0; i < b->count; ++i)
    {
        const entry* e = &b->entries[i];
        before[i] = last[e->particle];
        last[e->particle] = i;
        for (uint32_t k = before[i]; k != none; k = before[k])
        {
            ++shares[(size_t)e->cluster * clusters + b->entries[k].cluster];
            ++shares[(size_t)b->entries[k].cluster * clusters + e->cluster];
        }
    }
    free(last);
    free(before);
    return shares;
}

/* Takes a membership out of the list, unless it is the particle's last. Clusters that share nothing
 * any more are beside a crack. */
static void leave(breaking* b, uint32_t particle, uint32_t cluster)
{
    uint32_t clusters = b->level->clusters, own = UINT32_MAX;
    if (memberships_of(b, particle) < 2)
        return;
    for (uint32_t i = 0; i < b->count; ++i)
        if (b->entries[i].particle == particle && b->entries[i].cluster == cluster)
            own = i;
    if (own == UINT32_MAX)
        return;
    b->entries[own] = b->entries[--b->count];
    b->any = true;
    for (uint32_t i = 0; i < b->count; ++i)
    {
        uint32_t other = b->entries[i].cluster;
        if (b->entries[i].particle != particle)
            continue;
        --b->shares[(size_t)other * clusters + cluster];
        if (--b->shares[(size_t)cluster * clusters + other] == 0)
            b->level->cluster[cluster].cracked = b->level->cluster[other].cracked = true;
    }
}

static void part_joint(breaking* b, uint32_t c, uint32_t other)
{
    double* in_other = calloc(b->o->particles, sizeof *in_other);
    entry* members = grown(NULL, b->count + 1, sizeof *members);
    uint32_t count = 0;
    if (!in_other)
        abort();
    for (uint32_t i = 0; i < b->count; ++i)
        if (b->entries[i].cluster == c)
            members[count++] = b->entries[i];
        else if (b->entries[i].cluster == other)
            in_other[b->entries[i].particle] = b->entries[i].weight;
    for (uint32_t i = 0; i < count; ++i)
    {
        double weight = in_other[members[i].particle];
        if (weight > 0)
            leave(b, members[i].particle, members[i].weight < weight ? c : other);
    }
    free(in_other);
    free(members);
}

/* Clusters beside cracks that share fewer than four particles share none: each of them leaves the
 * one that it weighs less in. */
static void part_joints(breaking* b)
{
    uint32_t clusters = b->level->clusters, count = 0;
    uint32_t(*joints)[2] = grown(NULL, (size_t)clusters * clusters + 1, sizeof *joints);
    for (uint32_t c = 0; c < clusters; ++c)
        for (uint32_t o = c + 1; o < clusters; ++o)
        {
            uint32_t shared = b->shares[(size_t)c * clusters + o];
            if (shared > 0 && shared < 4 && b->level->cluster[c].cracked &&
                b->level->cluster[o].cracked)
                joints[count][0] = c, joints[count++][1] = o;
        }
    for (uint32_t i = 0; i < count; ++i)
        part_joint(b, joints[i][0], joints[i][1]);
    free(joints);
}

/* A particle of cluster c alone joins the one of its companions' clusters that is nearest at rest.
 */
static void join(breaking* b, uint32_t particle, uint32_t c, const uint32_t* companions,
                 uint32_t count)
{
    double best = INFINITY;
    uint32_t to = UINT32_MAX;
    for (uint32_t i = 0; i < b->count; ++i)
        for (uint32_t n = 0; n < count; ++n)
        {
            const entry* e = &b->entries[i];
            if (e->particle != companions[n] || e->cluster == c)
                continue;
            double far =
                v3_length(v3_sub(b->o->rest[particle], b->level->cluster[e->cluster].rest));
            if (far < best)
                best = far, to = e->cluster;
        }
    for (uint32_t i = 0; i < b->count && to != UINT32_MAX; ++i)
        if (b->entries[i].particle == particle)
        {
            b->entries[i].cluster = to;
            b->entries[i].p = v3_sub(b->o->rest[particle], b->level->cluster[to].rest);
            b->any = true;
        }
}

/* A cluster of few, some of whose particles have others, dissolves into those. */
static void dissolve(breaking* b, uint32_t c, uint32_t few)
{
    uint32_t members[16], count = 0, lonely = 0;
    for (uint32_t i = 0; i < b->count; ++i)
        if (b->entries[i].cluster == c && count++ < few)
            members[count - 1] = b->entries[i].particle;
    if (count == 0 || count >= few)
        return;
    for (uint32_t n = 0; n < count; ++n)
        lonely += memberships_of(b, members[n]) == 1;
    if (lonely == count) /* a crumb */
        return;
    for (uint32_t n = 0; n < count && lonely; ++n)
        if (memberships_of(b, members[n]) == 1)
            join(b, members[n], c, members, count);
    for (uint32_t n = 0; n < count; ++n)
        leave(b, members[n], c);
}

/* ------------------------------------------------------------------ a step's breaking */

static double spacing_of(const reference* o)
{
    double mass = 0;
    for (uint32_t i = 0; i < o->particles; ++i)
        mass += o->mass[i];
    return cbrt(mass / o->settings.material.density / o->particles);
}

static uint32_t few_of(const reference_level* level)
{
    uint32_t mean = level->begin[level->clusters] / level->clusters / 8;
    return mean < 4 ? 4 : mean > 12 ? 12 : mean;
}

bool reference_break(reference* o, double dt)
{
    breaking b = {.o = o, .level = &o->level[0], .dt = dt, .spacing = spacing_of(o)};
    if (o->time < o->settings.fracture.first_time - 1e-3 * dt)
        return false;
    uint32_t clusters = b.level->clusters, count = 0, few = few_of(b.level);
    candidate* list = calloc(clusters, sizeof *list);
    bool leaving = false;
    if (!list)
        abort();
    for (uint32_t c = 0; c < clusters; ++c)
        if (b.level->begin[c] < b.level->begin[c + 1] &&
            is_candidate(&b, &b.level->cluster[c], &list[count].overload))
            list[count++].cluster = c;
    uint32_t* outlier = o->splits && o->substep % 4 == 0 ? find_outliers(&b, &leaving) : NULL;
    uint32_t particles = o->particles;
    if (count || leaving)
        list_entries(&b);
    qsort(list, count, sizeof *list, most_overloaded_first);
    for (uint32_t i = 0; i < count; ++i)
    {
        fit f = fit_cluster(&b, list[i].cluster);
        if (f.stretch > threshold(&b, &b.level->cluster[list[i].cluster]))
            split(&b, list[i].cluster, &f);
    }
    if (b.any || leaving)
        b.shares = count_shares(&b);
    for (uint32_t i = 0; leaving && i < particles; ++i)
        for (uint32_t c = 0; outlier[i] && c < clusters; ++c)
            if (outlier[i] > b.level->begin[c] && outlier[i] <= b.level->begin[c + 1])
                leave(&b, i, c);
    if (b.any)
        part_joints(&b);
    for (uint32_t c = 0; b.any && c < b.level->clusters; ++c)
        if (b.level->cluster[c].cracked)
            dissolve(&b, c, few);
    if (b.any)
        store_entries(&b);
    free(outlier);
    free(list);
    free(b.entries);
    free(b.shares);
    free(b.sum);
    return b.any;
}
