// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Damping of a whole body: mass-proportional damping in the frame of the body's rigid motion.
 *
 *   dv_i = -kappa (v_i - V - Omega x (x_i - X)),   kappa = 1 - exp(-rate dt)
 *
 * The map of a substep then has the determinant 1 - kappa for every mode, so each underdamped mode
 * decays at rate / 2 (amplitude), independently of its shape, the clusters, levels and substeps.
 * Damping toward the rigid motion of each cluster alone cannot do that: it acts on strain rates
 * within a cluster, and is at its limit when a cluster moves rigidly. With 100 clusters the lowest
 * mode decayed at 2.8/s for settings of 5, 10 and 30.
 *
 * V and Omega are the least-squares rigid motion with the weights kappa_c m_c, so linear and
 * angular momentum are kept exactly, also where damping is painted. As in match.simd.c the lever
 * arms within a cluster are F p instead of x - x_c: damping stays an affine row of the cluster, and
 * sum m w (x - x_c) x (Omega x F p) = (tr(K) I - K) Omega with K = A_xr F^T.
 *
 * Each connected component of clusters has its own rigid motion: separate parts do not damp each
 * other. Held particles count with HELD_WEIGHT times their mass: a body pinned at a point swings
 * freely about it, one pinned at three points is damped in their frame. Where held particles move
 * relative to each other, the frame is the affine motion nearest to theirs, so that damping does
 * not resist the stretching of a bar by its pins.
 *
 * Contacts do not fix the frame as pins do: a body may roll and tip over. But a body that rocks on
 * the floor is hardly strained, so damping relative to its rigid motion does not bring it to rest.
 * While its rigid motion is slow, contact particles therefore weigh SUPPORT_WEIGHT times the body
 * in total; "slow" compares its energy with a fall from REST_HEIGHT times the RMS radius. A wide
 * base then dominates the frame, a narrow one hardly rotates it. A body on an edge or a corner
 * would still rock forever, and a hard one roll to and fro: where the energy is ROLL_SLOWER times
 * less, the support also gets up to ROLL_WEIGHT times the body's moment of inertia, as rolling
 * resistance. (With REST_HEIGHT .02 and ROLL_SLOWER 10 a box of rubber on an edge swung by 20 mm a
 * frame for 150 frames without loss.) Rigid motion on a support loses at most ROCK_RATE of its
 * speed a second, so that bodies tip over at a natural speed even if the material is damped much
 * more. Members of such a component's clusters are also damped toward their cluster's rigid
 * motion, at CALM_RATE: inconsistent contacts, as between a floor and a heavy body, would otherwise
 * excite them forever.
 *
 * Bodies that may break use the *_BROKEN values: pieces of a few particles gained energy (from 14
 * to 30 kJ) with the others, at one substep a frame.
 */
#include "dynamics/damping.h"

#include "base/elementary.h"
#include "base/union_find.h"
#include "body/validity.h"
#include "dynamics/cluster_motion.h"

#include <string.h>

#define HELD_WEIGHT 1e6
#define SUPPORT_WEIGHT 40.0
#define REST_HEIGHT .06
#define REST_HEIGHT_BROKEN .02
#define RIDGE .01
#define ROCK_RATE 6.0
#define ROLL_WEIGHT 4.0
#define ROLL_SLOWER 2.0
#define ROLL_SLOWER_BROKEN 10.0
#define CALM_RATE 100.0
/* In spacings: below it, the rotation is lost in the rounding of floats. */
#define LEAST_RADIUS 1e-3

/* Sums for a least-squares rigid motion. */
typedef struct rigid_sums
{
    double mass;
    vec3 x, v; /* first moments; then the mean position and velocity */
    vec3 spin; /* angular momentum about x */
    mat3 inertia;
    mat3 flux; /* sum of m (v - mean) (x - mean)^T; of held particles */
} rigid_sums;

typedef struct pl_rigid_fit
{
    rigid_sums body, held, support; /* of clusters; held particles; those that contacts act on */
    vec3 x, v;                      /* the motion: the velocity v at x, */
    mat3 gradient;                  /* and how it changes from there */
    double rest;                    /* 0: moving or free, 1: at rest on a support */
} pl_rigid_fit;

static bool damps(const pl_body* body)
{
    const pliant_material_desc* m = &body->material;
    return m->damping > 0 && !m->damping_per_step && !body->pins.follow;
}

/* ------------------------------------------------------------------ components */

/* Clusters that share a particle are in one component. */
static void unite_chunk(const pl_chunk* chunk, uint32_t finest_end, uint32_t* root)
{
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        uint32_t first[8];
        memset(first, 0xff, sizeof first);
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
        {
            uint32_t c = chunk->rows[chunk->entry_row[e]];
            const float* kernel = chunk->entry_kernel + (size_t)8 * e;
            for (uint32_t lane = 0; lane < 8 && c < finest_end; ++lane)
            {
                if (!(kernel[lane] > 0))
                    continue;
                if (first[lane] == UINT32_MAX)
                    first[lane] = c;
                else
                    pl_union_find_unite(root, first[lane], c);
            }
        }
    }
}

static void find_components(pl_body* body)
{
    uint32_t count = body->level_begin[1], *root = body->components.root;
    for (uint32_t c = 0; c < count; ++c)
        root[c] = c;
    for (uint32_t i = 0; i < body->chunk_count; ++i)
        unite_chunk(&body->chunks[i], count, root);
    for (uint32_t c = 0; c < count; ++c)
        root[c] = pl_union_find_root(root, c);
}

void pl_components_free(pl_components* components)
{
    pl_free(components->root);
    pl_free(components->motion);
    *components = (pl_components){0};
}

static pl_status follow(pl_body* body)
{
    pl_components* own = &body->components;
    uint32_t count = body->level_begin[1];
    if (own->stamp == pl_stamp(body))
        return PLIANT_OK;
    if (!pl_grow((void**)&own->root, &own->root_capacity, count, sizeof *own->root) ||
        !pl_grow((void**)&own->motion, &own->motion_capacity, count, sizeof *own->motion))
        return pl_fail_memory(count * sizeof *own->motion);
    find_components(body);
    own->stamp = pl_stamp(body);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ rigid motion */

static void add_mass(rigid_sums* sums, double mass, vec3 x, vec3 v)
{
    sums->mass += mass;
    sums->x = v3_mad(sums->x, x, mass);
    sums->v = v3_mad(sums->v, v, mass);
}

static void centre(rigid_sums* sums)
{
    double per_mass = sums->mass > 0 ? 1 / sums->mass : 0;
    sums->x = v3_scale(sums->x, per_mass);
    sums->v = v3_scale(sums->v, per_mass);
}

static void add_spin(rigid_sums* sums, double mass, vec3 x, vec3 v)
{
    vec3 arm = v3_sub(x, sums->x);
    sums->spin = v3_mad(sums->spin, v3_cross(arm, v3_sub(v, sums->v)), mass);
    sums->inertia = m3_add(sums->inertia, m3_scale(pl_inertia_from(m3_outer(arm, arm)), mass));
    sums->flux = m3_add(sums->flux, m3_scale(m3_outer(v3_sub(v, sums->v), arm), mass));
}

/* sum of m (x - mean) (x - mean)^T, from the inertia. */
static mat3 second_moment(const rigid_sums* sums)
{
    mat3 made = m3_scale(sums->inertia, -1);
    for (int i = 0; i < 3; ++i)
        made.m[i][i] += .5 * m3_trace(sums->inertia);
    return made;
}

/* The velocity gradient of held particles without their rotation. The ridge suppresses directions
 * in which they have little extent relative to the body: a patch at the root of a tail does not
 * determine the motion of its tip. */
static mat3 strain_rate(const rigid_sums* held, const rigid_sums* body, vec3 turn)
{
    mat3 second = second_moment(held), wide = second;
    double spread = body->mass > 0 ? .5 * m3_trace(body->inertia) / body->mass : 0;
    if (!(held->mass > 0 && spread > 0))
        return m3_zero();
    for (int i = 0; i < 3; ++i)
        wide.m[i][i] += RIDGE * held->mass * spread;
    mat3 beside = m3_add(held->flux, m3_mul(m3_cross(v3_scale(turn, -1)), second));
    return m3_mul(beside, m3_inverse(wide));
}

/* The sum of both, with the masses of the second scaled by a factor. */
static rigid_sums unite(const rigid_sums* a, const rigid_sums* b, double factor)
{
    rigid_sums both = {0};
    double other = factor * b->mass;
    add_mass(&both, a->mass, a->x, a->v);
    add_mass(&both, other, b->x, b->v);
    centre(&both);
    both.spin = v3_mad(a->spin, b->spin, factor);
    both.inertia = m3_add(a->inertia, m3_scale(b->inertia, factor));
    add_spin(&both, a->mass, a->x, a->v);
    add_spin(&both, other, b->x, b->v);
    return both;
}

/* The angular velocity; regularised for needles, which get none about their axis. */
static vec3 angular_velocity(const rigid_sums* sums)
{
    double size = m3_trace(sums->inertia);
    if (!(size > 0))
        return v3(0, 0, 0);
    mat3 inertia = m3_scale(sums->inertia, 1 / size);
    if (m3_det(inertia) < 1e-5)
        for (int i = 0; i < 3; ++i)
            inertia.m[i][i] += 1e-4;
    return v3_scale(m3_mulv(m3_inverse(inertia), sums->spin), 1 / size);
}

/* The finest cluster that a particle is in; UINT32_MAX: a free slot. */
static uint32_t cluster_of(const pl_body* body, const pl_chunk* chunk, uint32_t slot)
{
    uint32_t block = (slot - chunk->slot_begin) / 8, lane = slot % 8;
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        uint32_t c = chunk->rows[chunk->entry_row[e]];
        if (c < body->level_begin[1] && chunk->entry_kernel[(size_t)8 * e + lane] > 0)
            return c;
    }
    return UINT32_MAX;
}

/* Adds held particles and those in contact. */
static void add_particles(const pl_body* body, void (*add)(rigid_sums*, double, vec3, vec3))
{
    const pl_particles* p = &body->particles;
    const pl_components* own = &body->components;
    const float* frequency = body->pins.any ? body->pins.frequency : NULL;
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        const pl_chunk* chunk = &body->chunks[i];
        for (uint32_t s = chunk->slot_begin; s < chunk->slot_begin + 8 * chunk->block_count; ++s)
        {
            bool held = frequency && frequency[s] >= PLIANT_PIN_HELD;
            if ((!held && !p->touch[s]) || !(p->mass[s] > 0))
                continue;
            uint32_t c = cluster_of(body, chunk, s);
            if (c == UINT32_MAX)
                continue;
            pl_rigid_fit* fit = &own->motion[own->root[c]];
            add(held ? &fit->held : &fit->support, p->mass[s],
                v3(p->x[0][s], p->x[1][s], p->x[2][s]), v3(p->v[0][s], p->v[1][s], p->v[2][s]));
        }
    }
}

/* Whether a component is at rest on its support: 0 where it moves, up to 1. */
static double rest_of(const pl_rigid_fit* fit, double height, double gravity)
{
    const rigid_sums* s = &fit->body;
    if (!(s->mass > 0) || !(fit->support.mass > 0))
        return 0;
    vec3 turn = angular_velocity(s), away = v3_sub(s->v, fit->support.v);
    double energy = .5 * (v3_dot(away, away) + v3_dot(turn, s->spin) / s->mass);
    double most = gravity * height * sqrt(.5 * m3_trace(s->inertia) / s->mass);
    return energy < most ? 1 - energy / most : 0;
}

/* The share of their relative speed that a cluster's members lose; 0 for dead clusters, whose sums
 * are stale. */
static double damped_share(const pl_clusters* k, uint32_t c)
{
    return k->part_begin[c] < k->part_begin[c + 1] && k->fade[c] > 0 ? k->kappa_body[c] : 0;
}

static void sum_clusters(pl_body* body)
{
    const pl_clusters* k = &body->clusters;
    pl_components* own = &body->components;
    uint32_t count = body->level_begin[1];
    for (uint32_t c = 0; c < count; ++c)
        if (own->root[c] == c)
            own->motion[c] = (pl_rigid_fit){0};
    for (uint32_t c = 0; c < count; ++c)
        add_mass(&own->motion[own->root[c]].body, damped_share(k, c) * k->sums[c][18],
                 pl_cluster_place(k, c), v3_from(k->sums[c] + 12));
    add_particles(body, add_mass);
    for (uint32_t c = 0; c < count; ++c)
        if (own->root[c] == c)
        {
            centre(&own->motion[c].body);
            centre(&own->motion[c].held);
            centre(&own->motion[c].support);
        }
    for (uint32_t c = 0; c < count; ++c)
    {
        rigid_sums* sums = &own->motion[own->root[c]].body;
        double kappa = damped_share(k, c);
        if (!(kappa > 0))
            continue;
        mat3 around = m3_mul(pl_cluster_moments(k, c), m3_transpose(pl_cluster_lever(k, c)));
        add_spin(sums, kappa * k->sums[c][18], pl_cluster_place(k, c), v3_from(k->sums[c] + 12));
        sums->spin = v3_mad(sums->spin, v3_from(k->sums[c] + 15), kappa);
        sums->inertia = m3_add(sums->inertia, m3_scale(pl_inertia_from(around), kappa));
    }
    add_particles(body, add_spin);
}

/* Adds the support's angular velocity with the inertia of a wide support. */
static void add_rolling_resistance(rigid_sums* all, const pl_rigid_fit* fit, double slower)
{
    double slow = 1 - (1 - fit->rest) * slower;
    if (!(slow > 0))
        return;
    double inertia = slow * ROLL_WEIGHT * .5 * m3_trace(fit->body.inertia);
    all->spin = v3_mad(all->spin, angular_velocity(&fit->support), inertia);
    for (int i = 0; i < 3; ++i)
        all->inertia.m[i][i] += inertia;
}

/* The body's sums, with its rigid motion damped by the support. */
static rigid_sums on_support(const pl_rigid_fit* fit, double slower, double rate)
{
    rigid_sums own = fit->body;
    if (!(fit->rest > 0))
        return own;
    double weight = fit->rest * SUPPORT_WEIGHT * own.mass / fit->support.mass;
    rigid_sums all = unite(&own, &fit->support, weight);
    add_rolling_resistance(&all, fit, slower);
    vec3 turn = angular_velocity(&all);
    vec3 v = v3_add(all.v, v3_cross(turn, v3_sub(own.x, all.x)));
    double share = fmin(1, ROCK_RATE / rate);
    own.v = v3_mad(own.v, v3_sub(v, own.v), share);
    own.spin = v3_mad(own.spin, m3_mulv(own.inertia, v3_sub(turn, angular_velocity(&own))), share);
    return own;
}

static void find_motions(pl_body* body, double gravity)
{
    pl_components* own = &body->components;
    double least = LEAST_RADIUS * body->spacing;
    bool breaks = body->fracture != NULL;
    double height = breaks ? REST_HEIGHT_BROKEN : REST_HEIGHT;
    double slower = breaks ? ROLL_SLOWER_BROKEN : ROLL_SLOWER;
    sum_clusters(body);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        pl_rigid_fit* fit = &own->motion[c];
        if (own->root[c] != c)
            continue;
        for (int i = 0; i < 3; ++i)
            fit->body.inertia.m[i][i] += fit->body.mass * least * least;
        fit->rest = rest_of(fit, height, gravity);
        rigid_sums free = on_support(fit, slower, body->material.damping);
        rigid_sums all = unite(&free, &fit->held, HELD_WEIGHT);
        vec3 turn = angular_velocity(&all);
        mat3 strained = strain_rate(&fit->held, &fit->body, turn);
        fit->x = all.x;
        fit->v = v3_add(all.v, m3_mulv(strained, v3_sub(all.x, fit->held.x)));
        fit->gradient = m3_add(m3_cross(turn), strained);
    }
}

/* ------------------------------------------------------------------ rows */

/* kappa dt (V + G (x_c - X) + G F p - v), with the gradient G. */
static void add_row(pl_clusters* k, uint32_t c, const pl_rigid_fit* fit, double dt)
{
    double kappa = damped_share(k, c) * dt;
    mat3 a = m3_scale(m3_mul(fit->gradient, pl_cluster_lever(k, c)), kappa);
    vec3 v = v3_add(fit->v, m3_mulv(fit->gradient, v3_sub(pl_cluster_place(k, c), fit->x)));
    pl_row_add_affine(k, c, a, v, kappa);
}

/* kappa dt (v_c + omega x F p - v), with kappa limited by what other damping leaves. */
static void add_calm_row(pl_clusters* k, uint32_t c, double rest, double dt)
{
    float* row = k->row[c];
    double room = fmax(0, .9 - row[PL_ROW_KAPPA] / dt);
    double kappa = rest * fmin(1 - pl_exp(-CALM_RATE * dt), room) * dt;
    mat3 lever = pl_cluster_lever(k, c);
    rigid_sums own = {.spin = v3_from(k->sums[c] + 15),
                      .inertia =
                          pl_inertia_from(m3_mul(pl_cluster_moments(k, c), m3_transpose(lever)))};
    mat3 a = m3_scale(m3_mul(m3_cross(angular_velocity(&own)), lever), kappa);
    pl_row_add_affine(k, c, a, v3_from(k->sums[c] + 12), kappa);
}

/* Stores the total impulse and moment of the rows; 0 where the body is free. */
static void store_impulse(pl_body* body)
{
    pl_components* own = &body->components;
    vec3 impulse = v3(0, 0, 0), moment = v3(0, 0, 0);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        const pl_rigid_fit* fit = &own->motion[c];
        const rigid_sums* s = &fit->body;
        if (own->root[c] != c)
            continue;
        vec3 v = v3_add(fit->v, m3_mulv(fit->gradient, v3_sub(s->x, fit->x)));
        vec3 change = v3_scale(v3_sub(v, s->v), s->mass);
        mat3 m = m3_mul(fit->gradient, second_moment(s)); /* spin: axial(m - m^T) */
        vec3 spin = v3(m.m[2][1] - m.m[1][2], m.m[0][2] - m.m[2][0], m.m[1][0] - m.m[0][1]);
        impulse = v3_add(impulse, change);
        moment = v3_add(moment, v3_add(v3_cross(s->x, change), v3_sub(spin, s->spin)));
    }
    own->impulse[0] = impulse.x, own->impulse[1] = impulse.y, own->impulse[2] = impulse.z;
    own->moment[0] = moment.x, own->moment[1] = moment.y, own->moment[2] = moment.z;
}

pl_status pl_damping_prepare(pl_body* body)
{
    return damps(body) ? follow(body) : PLIANT_OK;
}

void pl_damping_add(pl_body* body, const double gravity[3], double dt)
{
    memset(body->components.impulse, 0, sizeof body->components.impulse);
    memset(body->components.moment, 0, sizeof body->components.moment);
    if (!damps(body))
        return;
    pl_assert_components(body);
    find_motions(body, v3_length(v3_fromd(gravity)));
    store_impulse(body);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        const pl_rigid_fit* fit = &body->components.motion[body->components.root[c]];
        if (!(damped_share(&body->clusters, c) > 0))
            continue;
        add_row(&body->clusters, c, fit, dt);
        if (fit->rest > 0)
            add_calm_row(&body->clusters, c, fit->rest, dt);
    }
}
