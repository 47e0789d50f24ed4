// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Gravity compensation. Artists model a held body in its hanging shape, not in its weightless one,
 * so it would sag in the first frames. Hsu et al., "A General Two-Stage Initialization for Sag-Free
 * Deformable Simulations", 2022: find forces that balance gravity, then a rest shape that exerts
 * them. Both problems are linear for shape matching.
 *
 * In the initial state, x = r, the clusters must accelerate each free particle by -g. Each
 * membership gets its own rest offset, p' = p + d, with
 *
 *   sum_c k_c w_ic ((1 - Q_c) d_c)_i = -g  for free particles i,    k_c = alpha_c / dt^2,
 *
 * where Q_c is the part of a small displacement that goals follow: a blend of the orthogonal
 * projections (weights m w) onto rigid motions and onto volume-preserving maps (match.simd.c):
 *
 *   Q u = t + (1 - beta) theta x p + beta (H - tr(H) / tr(A^-1) A^-1) p,
 *   H = (sum m w u p^T) A^-1.
 *
 * The d of least energy come from a displacement field mu that is 0 at the supports, minus its
 * rigid part in each cluster: d_ic = mu_i - t_c - theta_c x p_ic. So
 *
 *   K mu = -g,   (K mu)_i = sum_c k_c w_ic (mu_i - (Q_c mu)_i),
 *
 * which is the linear statics of the body: -mu is its sag. K is symmetric with weights m_i and
 * definite where supports hold the body; conjugate gradients solve it. The forces at x = r depend
 * on d only within each cluster, so mu may be large where clusters strain little. d has neither a
 * mean nor a moment in a cluster, so centres and fits of coarse levels do not change, and momentum
 * is kept. Surfaces stay as modelled: the map from the body's rest shape to a cluster's own undoes
 * d (rest.c).
 *
 * Coarse clusters of nested levels act on d, too: k_c includes their alphas, but the part of d that
 * they follow is neglected. A correction solves again for the residual of the actual rows, which
 * removes this error and terms of second order.
 */
#include "dynamics/gravity_compensation.h"

#include "base/union_find.h"
#include "body/edit/edit.h"
#include "body/rest_moments.h"
#include "body/validity.h"
#include "dynamics/material.h"

#include <string.h>

enum
{
    MOST_CORRECTIONS = 6
};

/* Largest RMS of d over a cluster's width; a larger d is scaled down. Beyond it, the rotation of
 * the members is lost. */
static const double MOST_STRAIN = .5;
static const double ENOUGH = 1e-4; /* of the initial residual */
static const uint32_t MOST_ROUNDS = 3000;
static const double FARTHEST_SAG = 1000; /* over the body's width */
static const double BALANCED = 5e-4;     /* tolerated residual over gravity */

typedef struct membership
{
    uint32_t cluster;
    double w; /* normalised weight */
    vec3 p;
} membership;

/* The displacement that a cluster's goals follow: t + map p, and its rigid part. */
typedef struct cluster_fit
{
    double mass, stiffness;
    vec3 centre;
    mat3 inverse;         /* of A_rr */
    double inverse_trace; /* of that */
    mat3 per_inertia;
    vec3 mean, moment;
    mat3 cross;
    vec3 t, theta;
    mat3 map;
} cluster_fit;

typedef struct balance
{
    pl_body* body;
    uint32_t slots, clusters;
    double beta;
    uint32_t* begin; /* slots + 1 */
    membership* members;
    cluster_fit* fits;
    double* mass;
    uint8_t* is_free;        /* a particle that gravity pulls and nothing holds */
    double *diagonal, *pull; /* pull: sum of the alphas of a cluster and of its coarse clusters */
    vec3 *mu, *residual, *way, *image;
} balance;

static void balance_free(balance* b)
{
    void* blocks[] = {b->begin, b->members, b->fits,     b->mass, b->is_free, b->diagonal,
                      b->pull,  b->mu,      b->residual, b->way,  b->image};
    for (size_t i = 0; i < PL_COUNTOF(blocks); ++i)
        pl_free(blocks[i]);
}

/* ------------------------------------------------------------------ the current body */

static pl_status read_members(balance* b, pl_edit* edit)
{
    const pl_body* body = b->body;
    size_t room = 0, count = 0;
    for (uint32_t s = 0; s < b->slots; ++s)
    {
        uint32_t found = 0;
        b->begin[s] = (uint32_t)count;
        b->mass[s] = body->particles.mass[s];
        if (!(b->mass[s] > 0))
            continue;
        const pl_member* members = pl_edit_members(edit, s, &found);
        if (!members || !pl_grow((void**)&b->members, &room, count + found, sizeof *b->members))
            return pl_fail_memory((count + found) * sizeof *b->members);
        for (uint32_t i = 0; i < found; ++i)
        {
            uint32_t c = members[i].cluster;
            double w = (double)members[i].kernel * body->clusters.fade[c] * body->particles.norm[s];
            b->members[count++] = (membership){c, w, v3_fromd(members[i].rest)};
            cluster_fit* fit = &b->fits[c];
            fit->mass += b->mass[s] * w;
            fit->centre = v3_mad(fit->centre, v3_fromd(members[i].rest), b->mass[s] * w);
        }
    }
    b->begin[b->slots] = (uint32_t)count;
    return PLIANT_OK;
}

/* Alphas of the clusters, plus those of their coarse clusters. */
static void find_pull(balance* b)
{
    const pl_body* body = b->body;
    const pl_links* links = &body->links;
    for (uint32_t c = body->clusters.count; c-- > 0;)
    {
        b->pull[c] = body->clusters.alpha[c];
        for (uint32_t n = links->count ? links->by_fine_begin[c] : 0;
             links->count && n < links->by_fine_begin[c + 1]; ++n)
            b->pull[c] += links->u[links->by_fine[n]] * b->pull[links->coarse[links->by_fine[n]]];
    }
}

/* Rest offsets from the centres, and the rest moments of the fits. */
static void prepare_fits(balance* b, double dt)
{
    const pl_clusters* k = &b->body->clusters;
    find_pull(b);
    for (uint32_t c = 0; c < b->clusters; ++c)
    {
        cluster_fit* fit = &b->fits[c];
        mat3 arr = pl_load_symmetric(k->arr[c]), inertia = m3_scale(arr, -1);
        double trace = m3_trace(arr);
        fit->centre = v3_scale(fit->centre, fit->mass > 0 ? 1 / fit->mass : 0);
        fit->stiffness = b->pull[c] / (dt * dt);
        fit->inverse = pl_load_symmetric(k->arr_inv[c]);
        fit->inverse_trace = m3_trace(fit->inverse);
        for (int i = 0; i < 3; ++i)
            inertia.m[i][i] += trace * (1 + 1e-6); /* regular for members on a line */
        fit->per_inertia = trace > 0 ? m3_inverse(inertia) : m3_zero();
    }
    for (uint32_t s = 0; s < b->slots; ++s)
        for (uint32_t i = b->begin[s]; i < b->begin[s + 1]; ++i)
        {
            membership* m = &b->members[i];
            m->p = v3_sub(m->p, b->fits[m->cluster].centre);
            b->diagonal[s] += b->fits[m->cluster].stiffness * m->w;
        }
}

/* Supports are the particles held by pins, or, if there is none, those pulled by pins. Components
 * without a support fall and are not changed. */
static pl_status find_supports(balance* b, bool* any)
{
    const pl_pins* pins = &b->body->pins;
    float least = PLIANT_PIN_HELD;
    bool held = false;
    *any = false;
    for (uint32_t s = 0; s < b->slots && pins->any; ++s)
        held = held || (b->mass[s] > 0 && pins->frequency[s] >= PLIANT_PIN_HELD);
    if (!held)
        least = 1e-30f;
    uint32_t* parent = PL_BARE(uint32_t, b->clusters + 1);
    uint8_t* supported = PL_NEW(uint8_t, b->clusters + 1);
    pl_status status = parent && supported ? PLIANT_OK : pl_fail_memory(5 * (size_t)b->clusters);
    for (uint32_t c = 0; c < b->clusters && status == PLIANT_OK; ++c)
        parent[c] = c;
    for (uint32_t s = 0; s < b->slots && status == PLIANT_OK; ++s)
        for (uint32_t i = b->begin[s] + 1; i < b->begin[s + 1]; ++i)
            pl_union_find_unite(parent, b->members[i - 1].cluster, b->members[i].cluster);
    for (int mark = 1; mark >= 0 && status == PLIANT_OK; --mark)
        for (uint32_t s = 0; s < b->slots; ++s)
        {
            if (b->begin[s] == b->begin[s + 1])
                continue;
            bool is_support = pins->any && pins->frequency[s] >= least;
            uint32_t root = pl_union_find_root(parent, b->members[b->begin[s]].cluster);
            if (mark)
                supported[root] = supported[root] || is_support;
            else
                b->is_free[s] = supported[root] && !is_support && b->diagonal[s] > 0;
            *any = *any || (!mark && b->is_free[s]);
        }
    pl_free(parent);
    pl_free(supported);
    return status;
}

/* ------------------------------------------------------------------ the operator */

/* Fits every cluster to a displacement of its members. */
static void fit_clusters(balance* b, const vec3* u)
{
    for (uint32_t c = 0; c < b->clusters; ++c)
    {
        b->fits[c].mean = b->fits[c].moment = v3(0, 0, 0);
        b->fits[c].cross = m3_zero();
    }
    for (uint32_t s = 0; s < b->slots; ++s)
        for (uint32_t i = b->begin[s]; i < b->begin[s + 1]; ++i)
        {
            const membership* m = &b->members[i];
            cluster_fit* fit = &b->fits[m->cluster];
            vec3 pull = v3_scale(u[s], b->mass[s] * m->w);
            fit->mean = v3_add(fit->mean, pull);
            fit->moment = v3_add(fit->moment, v3_cross(m->p, pull));
            if (b->beta > 0)
                fit->cross = m3_add(fit->cross, m3_outer(pull, m->p));
        }
    for (uint32_t c = 0; c < b->clusters; ++c)
    {
        cluster_fit* fit = &b->fits[c];
        if (!(fit->mass > 0))
            continue;
        fit->t = v3_scale(fit->mean, 1 / fit->mass);
        fit->theta = m3_mulv(fit->per_inertia, fit->moment);
        fit->map = m3_scale(m3_cross(fit->theta), 1 - b->beta);
        if (!(b->beta > 0))
            continue;
        mat3 h = m3_mul(fit->cross, fit->inverse);
        double volume = fit->inverse_trace > 0 ? m3_trace(h) / fit->inverse_trace : 0;
        h = m3_add(h, m3_scale(fit->inverse, -volume));
        fit->map = m3_add(fit->map, m3_scale(h, b->beta));
    }
}

/* out = K u; 0 at particles that are not free. */
static void apply(balance* b, const vec3* u, vec3* out)
{
    fit_clusters(b, u);
    for (uint32_t s = 0; s < b->slots; ++s)
    {
        out[s] = v3(0, 0, 0);
        for (uint32_t i = b->begin[s]; b->is_free[s] && i < b->begin[s + 1]; ++i)
        {
            const membership* m = &b->members[i];
            const cluster_fit* fit = &b->fits[m->cluster];
            vec3 goal = v3_add(fit->t, m3_mulv(fit->map, m->p));
            out[s] = v3_mad(out[s], v3_sub(u[s], goal), fit->stiffness * m->w);
        }
    }
}

static double dot(const balance* b, const vec3* u, const vec3* v, bool precondition)
{
    double sum = 0;
    for (uint32_t s = 0; s < b->slots; ++s)
        if (b->is_free[s])
            sum += b->mass[s] * v3_dot(u[s], v[s]) / (precondition ? b->diagonal[s] : 1);
    return sum;
}

/* Conjugate gradients with Jacobi preconditioner. False: the supports do not hold the body. */
static bool solve(balance* b)
{
    for (uint32_t s = 0; s < b->slots; ++s)
        if (b->is_free[s])
            b->way[s] = v3_scale(b->residual[s], 1 / b->diagonal[s]);
    double first = dot(b, b->residual, b->residual, false), left = first;
    double now = dot(b, b->residual, b->residual, true);
    for (uint32_t round = 0; round < MOST_ROUNDS && left > ENOUGH * ENOUGH * first; ++round)
    {
        apply(b, b->way, b->image);
        double slope = dot(b, b->way, b->image, false), before = now;
        if (!(slope > 0))
            return false;
        for (uint32_t s = 0; s < b->slots; ++s)
        {
            b->mu[s] = v3_mad(b->mu[s], b->way[s], now / slope);
            b->residual[s] = v3_mad(b->residual[s], b->image[s], -now / slope);
        }
        now = dot(b, b->residual, b->residual, true);
        left = dot(b, b->residual, b->residual, false);
        for (uint32_t s = 0; s < b->slots; ++s)
            if (b->is_free[s])
                b->way[s] =
                    v3_mad(v3_scale(b->residual[s], 1 / b->diagonal[s]), b->way[s], now / before);
    }
    double most = 0;
    for (uint32_t s = 0; s < b->slots; ++s)
        most = fmax(most, v3_dot(b->mu[s], b->mu[s]));
    /* the residual is a hundredth; and the body does not swing about its supports, which only the
     * term added to the inertia resists */
    return left <= 1e-4 * first && sqrt(most) < FARTHEST_SAG * b->body->shape_width;
}

/* ------------------------------------------------------------------ the new rest shape */

static vec3 change_of(const balance* b, uint32_t slot, const membership* m)
{
    const cluster_fit* fit = &b->fits[m->cluster];
    return v3_sub(b->mu[slot], v3_add(fit->t, v3_cross(fit->theta, m->p)));
}

/* The share of d within MOST_STRAIN in every cluster; below 0: out of memory. */
static double share_of(balance* b)
{
    double share = 1;
    fit_clusters(b, b->mu);
    double* square = PL_NEW(double, b->clusters + 1);
    if (!square)
        return -1;
    for (uint32_t s = 0; s < b->slots; ++s)
        for (uint32_t i = b->begin[s]; i < b->begin[s + 1]; ++i)
        {
            vec3 d = change_of(b, s, &b->members[i]);
            square[b->members[i].cluster] += b->mass[s] * b->members[i].w * v3_dot(d, d);
        }
    for (uint32_t c = 0; c < b->clusters; ++c)
    {
        double width = b->body->clusters.width_rms[c], mass = b->fits[c].mass;
        if (square[c] > 0 && width > 0)
            share = fmin(share, MOST_STRAIN * width / sqrt(square[c] / mass));
    }
    pl_free(square);
    return share;
}

static pl_status write_members(balance* b, pl_edit* edit, double share)
{
    pl_member* changed = NULL;
    size_t room = 0;
    pl_status status = PLIANT_OK;
    for (uint32_t s = 0; s < b->slots && status == PLIANT_OK; ++s)
    {
        uint32_t count, n = b->begin[s + 1] - b->begin[s];
        if (!n)
            continue;
        const pl_member* members = pl_edit_members(edit, s, &count);
        if (!members || !pl_grow((void**)&changed, &room, n, sizeof *changed))
        {
            status = pl_fail_memory(n * sizeof *changed);
            break;
        }
        for (uint32_t i = 0; i < n; ++i)
        {
            vec3 d = change_of(b, s, &b->members[b->begin[s] + i]);
            changed[i] = members[i];
            changed[i].rest[0] += share * d.x;
            changed[i].rest[1] += share * d.y;
            changed[i].rest[2] += share * d.z;
        }
        status = pl_edit_set(edit, s, changed, n);
    }
    pl_free(changed);
    return status;
}

static pl_status make_room(balance* b)
{
    b->begin = PL_NEW(uint32_t, (size_t)b->slots + 1);
    b->fits = PL_NEW(cluster_fit, b->clusters);
    b->mass = PL_NEW(double, b->slots);
    b->is_free = PL_NEW(uint8_t, b->slots);
    b->diagonal = PL_NEW(double, b->slots);
    b->pull = PL_NEW(double, b->body->clusters.count);
    b->mu = PL_NEW(vec3, b->slots);
    b->residual = PL_NEW(vec3, b->slots);
    b->way = PL_NEW(vec3, b->slots);
    b->image = PL_NEW(vec3, b->slots);
    bool fine = b->begin && b->fits && b->mass && b->is_free && b->diagonal && b->pull && b->mu &&
                b->residual && b->way && b->image;
    return fine ? PLIANT_OK : pl_fail_memory(4 * sizeof(vec3) * (size_t)b->slots);
}

/* Subtracts the clusters' current accelerations from the residual, as advance.simd.c blends them.
 */
static void add_pull(const balance* b, double dt)
{
    const pl_clusters* k = &b->body->clusters;
    const pl_particles* p = &b->body->particles;
    for (uint32_t s = 0; s < b->slots; ++s)
    {
        vec3 x = v3(p->x[0][s], p->x[1][s], p->x[2][s]), sum = v3(0, 0, 0);
        for (uint32_t i = b->begin[s]; b->is_free[s] && i < b->begin[s + 1]; ++i)
        {
            const membership* m = &b->members[i];
            const float* row = k->row[m->cluster];
            vec3 rest =
                v3_sub(v3_add(m->p, b->fits[m->cluster].centre), v3_from(k->rest[m->cluster]));
            vec3 goal = v3_add(m3_mulv(m3_from(row), rest), v3_from(row + PL_ROW_B));
            vec3 away = v3_sub(x, v3_from(k->ref[m->cluster]));
            sum = v3_mad(sum, v3_mad(goal, away, -row[PL_ROW_ALPHA]), m->w);
        }
        if (b->is_free[s])
            b->residual[s] = v3_mad(b->residual[s], sum, -1 / (dt * dt));
    }
}

/* One correction. share: 0 in the first, then the share of gravity to balance. "done": the body is
 * balanced, or cannot be. */
static pl_status correct(balance* b, pl_edit* edit, vec3 gravity, double dt, double* share,
                         bool* done)
{
    bool any, first = *share == 0;
    *done = true;
    PL_TRY(make_room(b));
    PL_TRY(read_members(b, edit));
    prepare_fits(b, dt);
    PL_TRY(find_supports(b, &any));
    double pull = v3_dot(gravity, gravity), mass = 0;
    if (!any || !(pull > 0))
        return PLIANT_OK;
    for (uint32_t s = 0; s < b->slots; ++s)
        if (b->is_free[s])
        {
            b->residual[s] = v3_scale(gravity, first ? -1 : -*share);
            mass += b->mass[s];
        }
    if (!first)
        add_pull(b, dt);
    double lacking = dot(b, b->residual, b->residual, false) / (mass * pull);
    if (lacking < BALANCED * BALANCED || !solve(b))
        return PLIANT_OK;
    double part = share_of(b);
    if (part < 0)
        return pl_fail_memory(sizeof(double) * b->clusters);
    if (!first && part < 1) /* corrections are small, unless the body left its initial state */
        return PLIANT_OK;
    *done = false;
    if (first)
        *share = part;
    return write_members(b, edit, first ? part : 1);
}

pl_status pl_compensate_gravity(pl_scene* scene, pl_body* body, double dt, double* share)
{
    bool done = false;
    pl_status status = PLIANT_OK;
    *share = 0;
    for (int n = 0; n < MOST_CORRECTIONS && !done && status == PLIANT_OK; ++n)
    {
        balance b = {.body = body,
                     .slots = body->particles.slot_count,
                     .clusters = body->level_begin[1],
                     .beta = body->material.goal == PLIANT_GOAL_LINEAR ? body->material.beta : 0};
        pl_edit* edit;
        PL_TRY(pl_edit_begin(body, scene->substep, &edit));
        pl_material_apply(body, dt);
        if (n > 0)
            status = pl_scene_refresh(scene);
        if (status == PLIANT_OK)
            status = correct(&b, edit, v3_fromd(scene->gravity), dt, share, &done);
        balance_free(&b);
        if (status == PLIANT_OK && !done)
            status = pl_edit_end(edit, NULL);
        else
            pl_edit_abandon(edit);
        pl_rows_changed(body);
    }
    return status;
}
