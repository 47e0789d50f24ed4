// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Touched clusters as rigid bodies ("cluster bodies", contact_solver.h): measures them from their
 * members, gives members the impulses of their clusters, and measures again, because members are
 * shared.
 */
#include "body/validity.h"
#include "collision/cluster/contact_solver.h"

#include <string.h>

/* Least yield: share of its impulse that a cluster body is assumed to keep. */
#define LEAST_YIELD 0.2
/* In spacings: a cluster with a smaller radius of gyration is a point and does not rotate. */
#define POINT_SIZE 0.1
/* Rounding of second moments, relative to the squared distance from the chunk's pos_origin. */
#define ROUNDING 2e-6

static pl_contact_chunk_job job_for(const pl_contact_solver_work* s,
                                    const pl_contact_chunk* contact_chunk, uint32_t floats)
{
    pl_contact_solver* r = s->r;
    const pl_body* body = s->bodies[contact_chunk->body].body;
    pl_contact_chunk_job job = {.body = body,
                                .chunk = &body->chunks[contact_chunk->chunk],
                                .blocks = r->blocks + contact_chunk->block_begin,
                                .entries = r->entries,
                                .weights = r->weights,
                                .members =
                                    r->members + PL_MEMBER_FLOATS * contact_chunk->block_begin,
                                .block_count = contact_chunk->block_count,
                                .row_count = contact_chunk->row_count,
                                .dt = (float)s->dt,
                                .held = body->pins.any ? body->pins.frequency : NULL};
    if (job.row_count) /* sums and rows may be NULL without */
    {
        job.sums = r->sums + floats * contact_chunk->row_begin;
        job.rows = r->rows + PL_BODY_CHANGE_FLOATS * contact_chunk->row_begin;
        memset(job.sums, 0, sizeof(float) * floats * job.row_count);
    }
    for (int k = 0; k < 3; ++k)
    {
        job.fresh[k] = r->fresh[k] + s->all->slot_begin[contact_chunk->body];
        job.total[k] = r->total[k] + s->all->slot_begin[contact_chunk->body];
    }
    return job;
}

/* ------------------------------------------------------------------ mass and motion */

/* "least": trace below which the inertia is only rounding. */
static mat3 inverse_inertia(mat3 inertia, double least)
{
    double size = m3_trace(inertia);
    if (!(size > least))
        return m3_zero();
    /* a needle has no inertia about its axis: regularise, so that it does not spin up */
    bool round = m3_det(inertia) > 1e-6 * size * size * size;
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += (round ? 1e-12 : 1e-3) * size;
    return m3_inverse(inertia);
}

double pl_cluster_body_fade(const pl_contact_solver_work* s, const pl_cluster_body* cluster_body)
{
    uint32_t b = pl_contact_body_of(s->all, cluster_body->cluster);
    return s->bodies[b].body->clusters.fade[cluster_body->cluster - s->all->pair_bodies[b].first];
}

static double spacing_of(const pl_contact_solver_work* s, const pl_cluster_body* cluster_body)
{
    return s->bodies[pl_contact_body_of(s->all, cluster_body->cluster)].body->rest_sdf.spacing;
}

/* Mass, centre, inertia and motion, summed over the members: conservation of momentum depends on
 * it. */
static void weigh_body(const pl_contact_solver_work* s, pl_cluster_body* cluster_body)
{
    pl_contact_solver* r = s->r;
    double sum[PL_BODY_SUM_FLOATS] = {0};
    vec3 zero = v3_fromd(r->row_origin[r->cluster_body_rows[cluster_body->row_begin]]);
    for (uint32_t i = 0; i < cluster_body->row_count; ++i)
    {
        size_t row = r->cluster_body_rows[cluster_body->row_begin + i];
        const float* part = r->sums + PL_BODY_SUM_FLOATS * row;
        vec3 d = v3_sub(v3_fromd(r->row_origin[row]), zero), x = v3_from(part + PL_BODY_SUM_X);
        double m = part[PL_BODY_SUM_MASS];
        const double to[3] = {d.x, d.y, d.z}, first[3] = {x.x, x.y, x.z};
        sum[PL_BODY_SUM_MASS] += m;
        for (int k = 0; k < 3; ++k)
        {
            int n = (k + 1) % 3;
            sum[PL_BODY_SUM_X + k] += first[k] + m * to[k];
            sum[PL_BODY_SUM_XX + k] +=
                part[PL_BODY_SUM_XX + k] + (2 * first[k] + m * to[k]) * to[k];
            sum[PL_BODY_SUM_XX + 3 + k] += part[PL_BODY_SUM_XX + 3 + k] + first[k] * to[n] +
                                           first[n] * to[k] + m * to[k] * to[n];
            sum[PL_BODY_SUM_V + k] += part[PL_BODY_SUM_V + k];
        }
        vec3 moment = v3_cross(d, v3_from(part + PL_BODY_SUM_V));
        sum[PL_BODY_SUM_XV] += part[PL_BODY_SUM_XV] + moment.x;
        sum[PL_BODY_SUM_XV + 1] += part[PL_BODY_SUM_XV + 1] + moment.y;
        sum[PL_BODY_SUM_XV + 2] += part[PL_BODY_SUM_XV + 2] + moment.z;
    }
    double mass = sum[PL_BODY_SUM_MASS], fade = pl_cluster_body_fade(s, cluster_body);
    if (!(mass * fade > 0))
        return;
    vec3 x = v3_scale(v3_fromd(sum + PL_BODY_SUM_X), 1 / mass);
    const double *q = sum + PL_BODY_SUM_XX, c[3] = {x.x, x.y, x.z};
    double xx = q[0] - mass * c[0] * c[0], yy = q[1] - mass * c[1] * c[1];
    double zz = q[2] - mass * c[2] * c[2], xy = q[3] - mass * c[0] * c[1];
    double yz = q[4] - mass * c[1] * c[2], zx = q[5] - mass * c[2] * c[0];
    mat3 inertia = {{{yy + zz, -xy, -zx}, {-xy, zz + xx, -yz}, {-zx, -yz, xx + yy}}};
    cluster_body->per_mass = 1 / (mass * fade);
    cluster_body->x = v3_add(zero, x);
    double point = POINT_SIZE * spacing_of(s, cluster_body);
    double least = mass * fade * (2 * point * point + ROUNDING * v3_dot(x, x));
    cluster_body->inertia_inverse = inverse_inertia(m3_scale(inertia, fade), least);
    vec3 momentum = v3_scale(v3_fromd(sum + PL_BODY_SUM_V), fade);
    vec3 moment = v3_scale(v3_fromd(sum + PL_BODY_SUM_XV), fade);
    cluster_body->v = cluster_body->v0 = v3_scale(momentum, cluster_body->per_mass);
    cluster_body->spin = cluster_body->spin0 =
        m3_mulv(cluster_body->inertia_inverse, v3_sub(moment, v3_cross(x, momentum)));
}

static void weigh_chunks(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_contact_solver_work* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        pl_contact_chunk_job job = job_for(s, &s->r->contact_chunks[i], PL_BODY_SUM_FLOATS);
        s->all->kernels->weigh(&job);
    }
}

static void weigh_bodies(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_contact_solver_work* s = context;
    (void)worker;
    for (uint32_t u = begin; u < end; ++u)
        if (!s->r->cluster_bodies[u].fixed && s->r->cluster_bodies[u].row_count)
            weigh_body(s, &s->r->cluster_bodies[u]);
}

void pl_cluster_bodies_weigh(pl_contact_solver_work* s, pl_pool* pool)
{
    pl_parallel_for(pool, (uint32_t)s->r->contact_chunk_count, 1, weigh_chunks, s);
    pl_parallel_for(pool, s->r->cluster_body_count, 16, weigh_bodies, s);
}

/* ------------------------------------------------------------------ impulses to members */

/* A cluster body's change of motion by row, about its chunk's pos_origin. */
static void fill_rows(const pl_contact_solver_work* s, pl_cluster_body* cluster_body)
{
    pl_contact_solver* r = s->r;
    double fade = pl_cluster_body_fade(s, cluster_body);
    vec3 shift = v3_scale(cluster_body->push, fade * cluster_body->per_mass);
    vec3 spin = v3_scale(m3_mulv(cluster_body->inertia_inverse, cluster_body->twist), fade);
    for (uint32_t i = 0; i < cluster_body->row_count; ++i)
    {
        size_t row = r->cluster_body_rows[cluster_body->row_begin + i];
        float* out = r->rows + PL_BODY_CHANGE_FLOATS * row;
        vec3 arm = v3_sub(v3_fromd(r->row_origin[row]), cluster_body->x);
        v3_store(v3_add(shift, v3_cross(spin, arm)), out + PL_BODY_CHANGE_V);
        v3_store(spin, out + PL_BODY_CHANGE_SPIN);
    }
    cluster_body->gave = cluster_body->dv;
    cluster_body->gave_push = cluster_body->push, cluster_body->gave_twist = cluster_body->twist;
    cluster_body->push = cluster_body->twist = cluster_body->dv = cluster_body->dspin = v3(0, 0, 0);
}

static void fill_bodies(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_contact_solver_work* s = context;
    (void)worker;
    for (uint32_t u = begin; u < end; ++u)
        if (!s->r->cluster_bodies[u].fixed)
            fill_rows(s, &s->r->cluster_bodies[u]);
}

static void move_chunks(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_contact_solver_work* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        pl_contact_chunk_job job = job_for(s, &s->r->contact_chunks[i], PL_BODY_CHANGE_FLOATS);
        s->all->kernels->move(&job);
    }
}

static void apply_chunks(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_contact_solver_work* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_contact_chunk* contact_chunk = &s->r->contact_chunks[i];
        pl_contact_chunk_job job = job_for(s, contact_chunk, 0);
        pl_chunk* chunk = &s->bodies[contact_chunk->body].body->chunks[contact_chunk->chunk];
        s->all->kernels->apply(&job);
        for (uint32_t b = 0; b < job.block_count; ++b)
            chunk->touched += job.blocks[b].touches;
        pl_chunk_positions_changed(chunk);
    }
}

/* Measures a cluster body again from its members' changes, in place of what the sweeps assumed. */
static void refresh_body(const pl_contact_solver_work* s, pl_cluster_body* cluster_body)
{
    pl_contact_solver* r = s->r;
    double fade = pl_cluster_body_fade(s, cluster_body);
    vec3 momentum = v3(0, 0, 0), moment = v3(0, 0, 0);
    for (uint32_t i = 0; i < cluster_body->row_count; ++i)
    {
        size_t row = r->cluster_body_rows[cluster_body->row_begin + i];
        const float* part = r->sums + PL_BODY_CHANGE_FLOATS * row;
        vec3 p = v3_from(part), arm = v3_sub(v3_fromd(r->row_origin[row]), cluster_body->x);
        momentum = v3_add(momentum, p);
        moment = v3_add(moment, v3_add(v3_from(part + 3), v3_cross(arm, p)));
    }
    vec3 got = v3_scale(momentum, fade * cluster_body->per_mass);
    double along = v3_dot(got, cluster_body->gave),
           square = v3_dot(cluster_body->gave, cluster_body->gave);
    if (square > 0)
        cluster_body->yield = PL_CLAMP(along / square, LEAST_YIELD, 1.0);
    vec3 turned = m3_mulv(cluster_body->inertia_inverse, v3_scale(moment, fade));
    cluster_body->along = v3_dot(cluster_body->gave_push, cluster_body->v0) +
                          v3_dot(cluster_body->gave_twist, cluster_body->spin0);
    cluster_body->curve =
        v3_dot(cluster_body->gave_push, got) + v3_dot(cluster_body->gave_twist, turned);
    cluster_body->v = cluster_body->v0 = v3_add(cluster_body->v0, got);
    cluster_body->spin = cluster_body->spin0 = v3_add(cluster_body->spin0, turned);
}

static void refresh_bodies(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_contact_solver_work* s = context;
    (void)worker;
    for (uint32_t u = begin; u < end; ++u)
        if (!s->r->cluster_bodies[u].fixed)
            refresh_body(s, &s->r->cluster_bodies[u]);
}

void pl_cluster_bodies_give(pl_contact_solver_work* s, pl_pool* pool)
{
    pl_contact_solver* r = s->r;
    for (uint32_t i = 0; i < r->contact_particle_count; ++i)
    {
        pl_contact_particle* t = &r->contact_particles[i];
        size_t at = (size_t)s->all->slot_begin[t->body] + t->slot;
        r->fresh[0][at] = (float)t->dv.x, r->fresh[1][at] = (float)t->dv.y;
        r->fresh[2][at] = (float)t->dv.z;
        t->gave = t->dv;
        t->dv = v3(0, 0, 0);
    }
    pl_parallel_for(pool, r->cluster_body_count, 16, fill_bodies, s);
    pl_parallel_for(pool, (uint32_t)r->contact_chunk_count, 1, move_chunks, s);
    pl_parallel_for(pool, r->cluster_body_count, 16, refresh_bodies, s);
    for (uint32_t i = 0; i < r->contact_particle_count; ++i)
    {
        pl_contact_particle* t = &r->contact_particles[i];
        size_t at = (size_t)s->all->slot_begin[t->body] + t->slot;
        vec3 got = v3(r->total[0][at], r->total[1][at], r->total[2][at]);
        vec3 was = t->v0;
        t->v = t->v0 = v3_add(pl_contact_velocity(s->bodies[t->body].body, t->slot), got);
        double mass = t->inverse_mass > 0 ? 1 / t->inverse_mass : 0;
        t->along = mass * v3_dot(t->gave, was);
        t->curve = mass * v3_dot(t->gave, v3_sub(t->v0, was));
    }
}

void pl_cluster_bodies_apply(pl_contact_solver_work* s, pl_pool* pool)
{
    pl_parallel_for(pool, (uint32_t)s->r->contact_chunk_count, 1, apply_chunks, s);
}
