// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Rigid motion of small fragments of brittle bodies. Few shared particles connect the clusters of a
 * small fragment: it bends there as at a hinge, and its residual elastic energy makes it curl.
 * Glass and ceramic do neither. So a small fragment of a body that breaks at little strain and does
 * not flow is damped toward its rigid motion:
 *
 *   dv_i = -kappa (v_i - V - Omega x (x_i - X)),
 *
 * V and Omega being the rigid motion of all its particles; that conserves linear and angular
 * momentum. The clusters' goals still restore the shape. kappa is nearly 1 whatever the length of
 * the substep: it acts as a constraint, not as damping.
 *
 * Large fragments stay elastic, or they could not break again: kappa falls from MOST at a share
 * RIGID of the body's mass to 0 at ELASTIC. Lever arms within clusters are F p as in damping.c. In
 * contrast to damping.c contacts do not affect the frame, so that fragments can roll and tip over.
 */
#include "fracture/shards.h"

#include "dynamics/cluster_motion.h"

#include <string.h>

static const double BRITTLE = .02; /* toughness below which a material does not bend visibly */
static const double RIGID = .05, ELASTIC = .2;
static const double MOST = .95; /* largest kappa, including the clusters' own damping */
/* Radius of gyration, in spacings, below which a fragment does not turn: of one particle in several
 * clusters it is rounding error, and so is the angular velocity. */
static const double LEAST_EXTENT = 1e-3;

typedef struct shard
{
    double mass, kappa;
    vec3 x, v, angular_momentum;
    mat3 inertia;
    vec3 angular_velocity;
    bool held;
} shard;

static bool is_brittle(const pl_body* body)
{
    const pl_fracture* f = body->fracture;
    return f && f->split_count > 0 && f->desc.toughness < BRITTLE && !body->plastic &&
           !body->pins.follow;
}

static bool is_alive(const pl_body* body, uint32_t c)
{
    const pl_clusters* k = &body->clusters;
    return k->part_begin[c] < k->part_begin[c + 1] && k->fade[c] > 0 &&
           !body->fracture->pieces[k->piece[c]].asleep;
}

/* Pieces with held particles are not made rigid. */
static void mark_held(const pl_body* body, shard* shards)
{
    const pl_clusters* k = &body->clusters;
    if (!body->pins.any)
        return;
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        const pl_chunk* chunk = &body->chunks[i];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            {
                uint32_t c = chunk->rows[chunk->entry_row[e]], first = chunk->slot_begin + 8 * b;
                for (uint32_t lane = 0; lane < 8 && c < body->level_begin[1]; ++lane)
                    if (chunk->entry_kernel[(size_t)8 * e + lane] > 0 &&
                        body->pins.frequency[first + lane] >= PLIANT_PIN_HELD)
                        shards[k->piece[c]].held = true;
            }
    }
}

/* Sets kappa of each piece; false: all are 0. */
static bool weigh(const pl_body* body, double dt, shard* shards)
{
    const pl_clusters* k = &body->clusters;
    bool any = false;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (is_alive(body, c))
            shards[k->piece[c]].mass += k->sums[c][18];
    mark_held(body, shards);
    for (uint32_t p = 0; p < body->fracture->piece_count; ++p)
    {
        double share = shards[p].mass / body->mass;
        double part = PL_CLAMP((ELASTIC - share) / (ELASTIC - RIGID), 0.0, 1.0);
        shards[p].kappa = shards[p].held || !(share > 0) ? 0 : part * part * (3 - 2 * part) * MOST;
        any = any || shards[p].kappa > 0;
    }
    /* one value for the whole piece, which conserves momentum */
    for (uint32_t c = 0; any && c < body->level_begin[1]; ++c)
        if (is_alive(body, c))
        {
            shard* s = &shards[k->piece[c]];
            double room = MOST - k->row[c][PL_ROW_KAPPA] / dt;
            s->kappa = fmin(s->kappa, fmax(room, 0));
        }
    return any;
}

static void find_motions(const pl_body* body, shard* shards)
{
    const pl_clusters* k = &body->clusters;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (is_alive(body, c))
        {
            shard* s = &shards[k->piece[c]];
            s->x = v3_mad(s->x, pl_cluster_place(k, c), k->sums[c][18] / s->mass);
            s->v = v3_mad(s->v, v3_from(k->sums[c] + 12), k->sums[c][18] / s->mass);
        }
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (is_alive(body, c))
        {
            shard* s = &shards[k->piece[c]];
            mat3 moments = pl_cluster_moments(k, c), lever = pl_cluster_lever(k, c);
            vec3 arm = v3_sub(pl_cluster_place(k, c), s->x);
            vec3 away = v3_sub(v3_from(k->sums[c] + 12), s->v);
            mat3 around = m3_add(m3_mul(moments, m3_transpose(lever)),
                                 m3_scale(m3_outer(arm, arm), k->sums[c][18]));
            s->angular_momentum = v3_mad(s->angular_momentum, v3_cross(arm, away), k->sums[c][18]);
            s->angular_momentum = v3_add(s->angular_momentum, v3_from(k->sums[c] + 15));
            s->inertia = m3_add(s->inertia, pl_inertia_from(around));
        }
    for (uint32_t p = 0; p < body->fracture->piece_count; ++p)
    {
        double size = m3_trace(shards[p].inertia), least = LEAST_EXTENT * body->spacing;
        if (!(shards[p].kappa > 0) || !(size > shards[p].mass * least * least))
            continue;
        mat3 inertia = m3_scale(shards[p].inertia, 1 / size);
        if (m3_det(inertia) < 1e-5) /* a thin rod: regularise the rotation about its axis */
            for (int i = 0; i < 3; ++i)
                inertia.m[i][i] += 1e-4;
        shards[p].angular_velocity =
            v3_scale(m3_mulv(m3_inverse(inertia), shards[p].angular_momentum), 1 / size);
    }
}

/* kappa dt (V + Omega x (x_c - X) + Omega x F p - v) */
static void add_row(pl_clusters* k, uint32_t c, const shard* s, double dt)
{
    double kappa = s->kappa * dt;
    mat3 lever = pl_cluster_lever(k, c);
    mat3 a = m3_scale(m3_mul(m3_cross(s->angular_velocity), lever), kappa);
    vec3 v = v3_add(s->v, v3_cross(s->angular_velocity, v3_sub(pl_cluster_place(k, c), s->x)));
    pl_row_add_affine(k, c, a, v, kappa);
}

pl_status pl_shards_add(pl_body* body, double dt)
{
    if (!is_brittle(body))
        return PLIANT_OK;
    uint32_t pieces = body->fracture->piece_count;
    shard* shards = PL_NEW(shard, pieces);
    if (!shards)
        return pl_fail_memory(pieces * sizeof *shards);
    if (weigh(body, dt, shards))
    {
        find_motions(body, shards);
        for (uint32_t c = 0; c < body->level_begin[1]; ++c)
            if (is_alive(body, c) && shards[body->clusters.piece[c]].kappa > 0)
                add_row(&body->clusters, c, &shards[body->clusters.piece[c]], dt);
    }
    pl_free(shards);
    return PLIANT_OK;
}
