// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Touched clusters as rigid bodies ("units"), and their members (contact_solver.h): units are
 * weighed as their members are, members get what their units got, and units see again what came of
 * it, for members are shared.
 */
#include "collision/cluster/contact_solver.h"

#include <string.h>

/* Of what a cluster gives its members, the least share that it is thought to keep. */
#define LEAST_YIELD 0.2
/* In spacings: the radius of gyration below which a cluster is a point that does not turn. */
#define POINT_SIZE 0.1
/* Of the square of the distance from the chunk's point: what rounding leaves of second moments. */
#define ROUNDING 2e-6

static pl_reply_job job_for(const pl_response_work* s, const pl_reply* reply, uint32_t floats)
{
    pl_response* r = s->r;
    const pl_body* body = s->bodies[reply->body].body;
    pl_reply_job job = {.body = body,
                        .chunk = &body->chunks[reply->chunk],
                        .blocks = r->blocks + reply->block_begin,
                        .entries = r->entries,
                        .weights = r->weights,
                        .members = r->members + PL_MEMBER_FLOATS * reply->block_begin,
                        .block_count = reply->block_count,
                        .row_count = reply->row_count,
                        .dt = (float)s->dt,
                        .held = body->pins.any ? body->pins.frequency : NULL};
    if (job.row_count) /* otherwise there may be no rows at all */
    {
        job.sums = r->sums + floats * reply->row_begin;
        job.rows = r->rows + PL_MOVE_FLOATS * reply->row_begin;
        memset(job.sums, 0, sizeof(float) * floats * job.row_count);
    }
    for (int k = 0; k < 3; ++k)
    {
        job.fresh[k] = r->fresh[k] + s->all->slot_begin[reply->body];
        job.total[k] = r->total[k] + s->all->slot_begin[reply->body];
    }
    return job;
}

/* ------------------------------------------------------------------ what they weigh */

/* "least" is the trace below which it says nothing: a point has no inertia, but for rounding. */
static mat3 inverse_inertia(mat3 inertia, double least)
{
    double size = m3_trace(inertia);
    if (!(size > least))
        return m3_zero();
    /* a needle has no inertia about itself, and must not spin for nothing */
    bool round = m3_det(inertia) > 1e-6 * size * size * size;
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += (round ? 1e-12 : 1e-3) * size;
    return m3_inverse(inertia);
}

double pl_unit_fade(const pl_response_work* s, const pl_unit* unit)
{
    uint32_t b = pl_contact_body_of(s->all, unit->cluster);
    return s->bodies[b].body->clusters.fade[unit->cluster - s->all->pair_bodies[b].first];
}

static double spacing_of(const pl_response_work* s, const pl_unit* unit)
{
    return s->bodies[pl_contact_body_of(s->all, unit->cluster)].body->rest_sdf.spacing;
}

/* Mass, centre, inertia and motion, exactly as the members have them: momentum depends on it. */
static void weigh_unit(const pl_response_work* s, pl_unit* unit)
{
    pl_response* r = s->r;
    double sum[PL_REPLY_FLOATS] = {0};
    vec3 zero = v3_fromd(r->row_origin[r->unit_rows[unit->row_begin]]);
    for (uint32_t i = 0; i < unit->row_count; ++i)
    {
        size_t row = r->unit_rows[unit->row_begin + i];
        const float* part = r->sums + PL_REPLY_FLOATS * row;
        vec3 d = v3_sub(v3_fromd(r->row_origin[row]), zero), x = v3_from(part + PL_REPLY_X);
        double m = part[PL_REPLY_MASS];
        const double to[3] = {d.x, d.y, d.z}, first[3] = {x.x, x.y, x.z};
        sum[PL_REPLY_MASS] += m;
        for (int k = 0; k < 3; ++k)
        {
            int n = (k + 1) % 3;
            sum[PL_REPLY_X + k] += first[k] + m * to[k];
            sum[PL_REPLY_XX + k] += part[PL_REPLY_XX + k] + (2 * first[k] + m * to[k]) * to[k];
            sum[PL_REPLY_XX + 3 + k] +=
                part[PL_REPLY_XX + 3 + k] + first[k] * to[n] + first[n] * to[k] + m * to[k] * to[n];
            sum[PL_REPLY_V + k] += part[PL_REPLY_V + k];
        }
        vec3 moment = v3_cross(d, v3_from(part + PL_REPLY_V));
        sum[PL_REPLY_XV] += part[PL_REPLY_XV] + moment.x;
        sum[PL_REPLY_XV + 1] += part[PL_REPLY_XV + 1] + moment.y;
        sum[PL_REPLY_XV + 2] += part[PL_REPLY_XV + 2] + moment.z;
    }
    double mass = sum[PL_REPLY_MASS], fade = pl_unit_fade(s, unit);
    if (!(mass * fade > 0))
        return;
    vec3 x = v3_scale(v3_fromd(sum + PL_REPLY_X), 1 / mass);
    const double *q = sum + PL_REPLY_XX, c[3] = {x.x, x.y, x.z};
    double xx = q[0] - mass * c[0] * c[0], yy = q[1] - mass * c[1] * c[1];
    double zz = q[2] - mass * c[2] * c[2], xy = q[3] - mass * c[0] * c[1];
    double yz = q[4] - mass * c[1] * c[2], zx = q[5] - mass * c[2] * c[0];
    mat3 inertia = {{{yy + zz, -xy, -zx}, {-xy, zz + xx, -yz}, {-zx, -yz, xx + yy}}};
    unit->per_mass = 1 / (mass * fade);
    unit->x = v3_add(zero, x);
    double point = POINT_SIZE * spacing_of(s, unit);
    double least = mass * fade * (2 * point * point + ROUNDING * v3_dot(x, x));
    unit->inertia_inverse = inverse_inertia(m3_scale(inertia, fade), least);
    vec3 momentum = v3_scale(v3_fromd(sum + PL_REPLY_V), fade);
    vec3 moment = v3_scale(v3_fromd(sum + PL_REPLY_XV), fade);
    unit->v = unit->v0 = v3_scale(momentum, unit->per_mass);
    unit->spin = unit->spin0 =
        m3_mulv(unit->inertia_inverse, v3_sub(moment, v3_cross(x, momentum)));
}

static void weigh_replies(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_response_work* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        pl_reply_job job = job_for(s, &s->r->replies[i], PL_REPLY_FLOATS);
        s->all->kernels->weigh(&job);
    }
}

static void weigh_units(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_response_work* s = context;
    (void)worker;
    for (uint32_t u = begin; u < end; ++u)
        if (!s->r->units[u].fixed && s->r->units[u].row_count)
            weigh_unit(s, &s->r->units[u]);
}

void pl_units_weigh(pl_response_work* s, pl_pool* pool)
{
    pl_parallel_for(pool, (uint32_t)s->r->reply_count, 1, weigh_replies, s);
    pl_parallel_for(pool, s->r->unit_count, 16, weigh_units, s);
}

/* ------------------------------------------------------------------ what members get */

/* What a unit's members get, about the points of their chunks. */
static void fill_rows(const pl_response_work* s, pl_unit* unit)
{
    pl_response* r = s->r;
    double fade = pl_unit_fade(s, unit);
    vec3 shift = v3_scale(unit->push, fade * unit->per_mass);
    vec3 spin = v3_scale(m3_mulv(unit->inertia_inverse, unit->twist), fade);
    for (uint32_t i = 0; i < unit->row_count; ++i)
    {
        size_t row = r->unit_rows[unit->row_begin + i];
        float* out = r->rows + PL_MOVE_FLOATS * row;
        vec3 arm = v3_sub(v3_fromd(r->row_origin[row]), unit->x);
        v3_store(v3_add(shift, v3_cross(spin, arm)), out + PL_MOVE_V);
        v3_store(spin, out + PL_MOVE_SPIN);
    }
    unit->gave = unit->dv;
    unit->gave_push = unit->push, unit->gave_twist = unit->twist;
    unit->push = unit->twist = unit->dv = unit->dspin = v3(0, 0, 0);
}

static void fill_units(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_response_work* s = context;
    (void)worker;
    for (uint32_t u = begin; u < end; ++u)
        if (!s->r->units[u].fixed)
            fill_rows(s, &s->r->units[u]);
}

static void move_replies(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_response_work* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        pl_reply_job job = job_for(s, &s->r->replies[i], PL_MOVE_FLOATS);
        s->all->kernels->move(&job);
    }
}

static void apply_replies(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_response_work* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_reply* reply = &s->r->replies[i];
        pl_reply_job job = job_for(s, reply, 0);
        pl_chunk* chunk = &s->bodies[reply->body].body->chunks[reply->chunk];
        s->all->kernels->apply(&job);
        for (uint32_t b = 0; b < job.block_count; ++b)
            chunk->touched += job.blocks[b].touches;
        chunk->moved = 1;
    }
}

/* Clusters see their members again: what these got, instead of what the sweeps thought. */
static void refresh_unit(const pl_response_work* s, pl_unit* unit)
{
    pl_response* r = s->r;
    double fade = pl_unit_fade(s, unit);
    vec3 momentum = v3(0, 0, 0), moment = v3(0, 0, 0);
    for (uint32_t i = 0; i < unit->row_count; ++i)
    {
        size_t row = r->unit_rows[unit->row_begin + i];
        const float* part = r->sums + PL_MOVE_FLOATS * row;
        vec3 p = v3_from(part), arm = v3_sub(v3_fromd(r->row_origin[row]), unit->x);
        momentum = v3_add(momentum, p);
        moment = v3_add(moment, v3_add(v3_from(part + 3), v3_cross(arm, p)));
    }
    vec3 got = v3_scale(momentum, fade * unit->per_mass);
    double along = v3_dot(got, unit->gave), square = v3_dot(unit->gave, unit->gave);
    if (square > 0)
        unit->yield = PL_CLAMP(along / square, LEAST_YIELD, 1.0);
    vec3 turned = m3_mulv(unit->inertia_inverse, v3_scale(moment, fade));
    unit->along = v3_dot(unit->gave_push, unit->v0) + v3_dot(unit->gave_twist, unit->spin0);
    unit->curve = v3_dot(unit->gave_push, got) + v3_dot(unit->gave_twist, turned);
    unit->v = unit->v0 = v3_add(unit->v0, got);
    unit->spin = unit->spin0 = v3_add(unit->spin0, turned);
}

static void refresh_units(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_response_work* s = context;
    (void)worker;
    for (uint32_t u = begin; u < end; ++u)
        if (!s->r->units[u].fixed)
            refresh_unit(s, &s->r->units[u]);
}

/* Gives members what their clusters and they themselves have got. */
void pl_units_give(pl_response_work* s, pl_pool* pool)
{
    pl_response* r = s->r;
    for (uint32_t i = 0; i < r->toucher_count; ++i)
    {
        pl_toucher* t = &r->touchers[i];
        size_t at = (size_t)s->all->slot_begin[t->body] + t->slot;
        r->fresh[0][at] = (float)t->dv.x, r->fresh[1][at] = (float)t->dv.y;
        r->fresh[2][at] = (float)t->dv.z;
        t->gave = t->dv;
        t->dv = v3(0, 0, 0);
    }
    pl_parallel_for(pool, r->unit_count, 16, fill_units, s);
    pl_parallel_for(pool, (uint32_t)r->reply_count, 1, move_replies, s);
    pl_parallel_for(pool, r->unit_count, 16, refresh_units, s);
    for (uint32_t i = 0; i < r->toucher_count; ++i)
    {
        pl_toucher* t = &r->touchers[i];
        size_t at = (size_t)s->all->slot_begin[t->body] + t->slot;
        vec3 got = v3(r->total[0][at], r->total[1][at], r->total[2][at]);
        vec3 was = t->v0;
        t->v = t->v0 = v3_add(pl_contact_velocity(s->bodies[t->body].body, t->slot), got);
        double mass = t->inverse_mass > 0 ? 1 / t->inverse_mass : 0;
        t->along = mass * v3_dot(t->gave, was);
        t->curve = mass * v3_dot(t->gave, v3_sub(t->v0, was));
    }
}

void pl_units_apply(pl_response_work* s, pl_pool* pool)
{
    pl_parallel_for(pool, (uint32_t)s->r->reply_count, 1, apply_replies, s);
}
