// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fit of one cluster to its current members in double precision, with the pending edit applied:
 * F = A_xr A_rr^-1 over the directions in which the cluster has extent, completed in the others as
 * in matching (degenerate.c); and the largest singular value of F^e = F (F^p)^-1 with its left
 * singular vector, which is the direction in the world. (Published code used the right singular
 * vector, a rest direction, as a world direction.)
 */
#include "base/eigen.h"
#include "body/rest_moments.h"
#include "fracture/fracture_internal.h"

#include <string.h>

double pl_largest_stretch_of(mat3 a, vec3* direction)
{
    double values[3];
    mat3 vectors;
    pl_jacobi3(m3_mul(a, m3_transpose(a)), values, &vectors);
    if (direction)
        *direction = v3(vectors.m[0][2], vectors.m[1][2], vectors.m[2][2]);
    return sqrt(fmax(values[2], 0));
}

mat3 pl_elastic_of(const pl_body* body, uint32_t cluster, mat3 f)
{
    const float* p = body->clusters.fp[cluster];
    mat3 fp = {{{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}}};
    return body->plastic ? m3_mul(f, m3_inverse(fp)) : f;
}

static vec3 position(const pl_particles* p, uint32_t slot)
{
    return v3(p->x[0][slot], p->x[1][slot], p->x[2][slot]);
}

/* A member: weight m w, current position, rest position in the cluster. */
typedef struct weighted_member
{
    double mw;
    vec3 x, rest;
} weighted_member;

/* Sums over members, weighted by m w. */
typedef struct sums
{
    uint32_t count;
    double mass, widest;
    vec3 x, r, in_body;
    mat3 axr, arr;
} sums;

/* Caches the memberships of all members in b->known. */
static bool read_members(pl_breaking* b, uint32_t count)
{
    pl_known* known = &b->known;
    if (!pl_grow((void**)&known->begin, &known->begin_capacity, (size_t)count + 1,
                 sizeof *known->begin))
        return false;
    known->count = 0;
    known->begin[0] = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t n;
        const pl_member* m = pl_edit_members(b->edit, b->body->particles.slot_of[b->ids[i]], &n);
        if (!m || !pl_grow((void**)&known->members, &known->capacity, known->count + n, sizeof *m))
            return false;
        for (uint32_t j = 0; j < n; ++j)
            known->members[known->count++] = m[j];
        known->begin[i + 1] = (uint32_t)known->count;
    }
    return true;
}

/* Weight m w of one member, and its position in the cluster's rest shape. */
static double share_of(const pl_breaking* b, uint32_t cluster, uint32_t index, uint32_t slot,
                       vec3* rest)
{
    const float* fade = b->body->clusters.fade;
    pl_list_of list = pl_known_of(&b->known, index);
    double all = 0, own = 0;
    for (uint32_t i = 0; i < list.count; ++i)
    {
        const pl_member* m = &list.members[i];
        double weight = (double)m->kernel * fade[m->cluster];
        all += weight;
        if (m->cluster == cluster)
        {
            own = weight;
            *rest = v3_fromd(m->rest);
        }
    }
    return all > 0 ? b->body->particles.mass[slot] * own / all : 0;
}

/* First pass: centroids. Second pass: moments about them. */
static void add_members(const pl_breaking* b, uint32_t cluster, weighted_member* members, sums* s)
{
    const pl_particles* p = &b->body->particles;
    const pl_chunk* chunk = b->body->chunks;
    for (uint32_t i = 0; i < s->count; ++i)
    {
        uint32_t slot = p->slot_of[b->ids[i]];
        while (slot - chunk->slot_begin >= chunk->slot_count)
            ++chunk; /* slots ascend */
        vec3 rest =
            v3_add(v3(p->r[0][slot], p->r[1][slot], p->r[2][slot]), v3_from(chunk->rest_origin));
        weighted_member* one = &members[i];
        *one = (weighted_member){.x = position(p, slot)};
        one->mw = share_of(b, cluster, i, slot, &one->rest);
        s->mass += one->mw;
        s->x = v3_mad(s->x, one->x, one->mw);
        s->r = v3_mad(s->r, one->rest, one->mw);
        s->in_body = v3_mad(s->in_body, rest, one->mw);
    }
    if (s->mass > 0)
    {
        s->x = v3_scale(s->x, 1 / s->mass);
        s->r = v3_scale(s->r, 1 / s->mass);
        s->in_body = v3_scale(s->in_body, 1 / s->mass);
    }
    for (uint32_t i = 0; i < s->count; ++i)
    {
        double mw = members[i].mw;
        vec3 arm = v3_sub(members[i].rest, s->r), x = v3_sub(members[i].x, s->x);
        s->axr = m3_add(s->axr, m3_scale(m3_outer(x, arm), mw));
        s->arr = m3_add(s->arr, m3_scale(m3_outer(arm, arm), mw));
        s->widest = fmax(s->widest, v3_dot(arm, arm));
    }
}

/* F, completed by the same rules as in pl_set_shape and matching. */
static mat3 gradient_of(const pl_body* body, const sums* s)
{
    double values[3], least = body->spacing * body->spacing * 1e-8 * s->mass;
    mat3 vectors, inverse = m3_zero(), f;
    int rank = 0;
    float axis[3], all[9];
    pl_jacobi3(s->arr, values, &vectors);
    for (int e = 2; e >= 0; --e)
        if (values[e] > PL_LEAST_EXTENT * values[2] && values[e] > least)
        {
            vec3 v = v3(vectors.m[0][e], vectors.m[1][e], vectors.m[2][e]);
            inverse = m3_add(inverse, m3_scale(m3_outer(v, v), 1 / values[e]));
            ++rank;
        }
    f = m3_mul(s->axr, inverse);
    if (rank == 3)
        return f;
    for (int i = 0; i < 3; ++i)
        axis[i] = (float)vectors.m[i][rank == 2 ? 0 : 2];
    for (int i = 0; i < 9; ++i)
        all[i] = (float)f.m[i / 3][i % 3];
    pl_complete_gradient(rank, axis, body->plastic, all);
    for (int i = 0; i < 9; ++i)
        f.m[i / 3][i % 3] = all[i];
    return f;
}

pl_status pl_list_ids(pl_breaking* b, uint32_t cluster, uint32_t most, uint32_t* count)
{
    const uint32_t* slots = pl_edit_slots_up_to(b->edit, cluster, most, count);
    if (!slots || !pl_grow((void**)&b->ids, &b->id_capacity, (size_t)*count + 1, sizeof *b->ids))
        return pl_fail_memory((size_t)*count * 4);
    for (uint32_t i = 0; i < *count; ++i)
        b->ids[i] = b->body->particles.id[slots[i]];
    return PLIANT_OK;
}

pl_status pl_fracture_fit(pl_breaking* b, uint32_t cluster, pl_fit* fit)
{
    sums s = {0};
    PL_TRY(pl_list_ids(b, cluster, UINT32_MAX, &s.count));
    if (!read_members(b, s.count))
        return pl_fail_memory(b->known.count * sizeof(pl_member));
    weighted_member* members = PL_BARE(weighted_member, s.count);
    if (!members)
        return pl_fail_memory(s.count * sizeof *members);
    add_members(b, cluster, members, &s);
    pl_free(members);
    *fit = (pl_fit){.count = s.count, .mass = s.mass, .x = s.x, .in_body = s.in_body};
    if (!(s.mass > 0))
        return PLIANT_OK;
    fit->f = gradient_of(b->body, &s);
    fit->reach = sqrt(s.widest);
    fit->stretch = pl_largest_stretch_of(pl_elastic_of(b->body, cluster, fit->f), &fit->normal);
    return PLIANT_OK;
}
