// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One step of the oracle, in double: clustered shape matching after
 *   Mueller, Heidelberger, Teschner, Gross: Meshless Deformations Based on Shape Matching (2005),
 *   Bargteil, Jones: Strain Limiting for Clustered Shape Matching (2014),
 *   Jones et al.: Clustering and Collision Detection for Clustered Shape Matching (2015),
 *   Falkenstein: Reclustering for Large Plasticity (2017),
 *   Kaliappan, Bargteil: Multi-resolution Clustering (2020).
 *
 * For a cluster with members i, weights w, masses m and rest offsets p (sum m w p = 0):
 *
 *   A_xr = sum m w (x - x_c) p^T,  A_rr = sum m w p p^T,  F = A_xr A_rr^-1,  R = rotation of F
 *   goal g = T p + x_c,  T = R, or (1 - beta) R + beta V with V nearest to F and det V = 1
 *   dv = sum over clusters w [alpha (g - x) / dt + kappa (v_c + omega x F p - v)] + dt gravity
 *   v += dv,  x += dt v
 *
 * Where it departs from the papers, so that a free body keeps both its momenta (settings.literal
 * switches all of this off):
 *
 * Torque: the goals' torque tau = sum m w (x - x_c) x (T p) is removed by T += [theta]x F. With
 * K = A_xr F^T (which is F A_rr F^T) we have
 *   sum m w (x - x_c) x (theta x F p) = (tr(K) I - K^T) theta =: J theta,
 * so theta = -J^-1 tau. (F is here without what completes it in missing directions: K is then
 * symmetric.)
 *
 * Volume: goals L p that are nearest to F p among those of determinant 1 pull along the gradient of
 * an energy. The paper's F / cbrt(det F) does not, and feeds a free body energy.
 *
 * Damping tends to the cluster's rigid motion, omega = J^-1 sum m w (x - x_c) x v. With the lever
 * arms F p the goal stays affine in p and, by the same identity, angular momentum is kept.
 *
 * Strain limiting: a correction moves x by d and v by d / dt, so m x x v changes by
 *   m (x - dt v) x d / dt,
 * and x - dt v is where the particle was at the START of the step, BEFORE integration, in every
 * iteration, since x and v move together. These positions, about the cluster's centre of that
 * time, are the exact lever arms. Measured on the free bar of test_oracle_self.c over 1,000 steps
 * with alpha .5, 1, 1.9, change of angular momentum over sum m |x| |v|: below 1e-11 with them;
 * .097, .064, .049 with the positions after integration or those of each iteration. A cluster's
 * corrections d then lose their mean and their turn theta x l about those arms l:
 *   theta = I^-1 sum m w l x d,  I = sum m w (l.l 1 - l l^T).
 *
 * Nested levels: a coarse cluster's members are finer clusters f with weight u and offset q. Its
 * sums follow from theirs, and its pull on a particle, affine in q + p, is handed down to f.
 */
#include "native/oracle/oracle.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ 3x3 */

static vec3 column(mat3 a, int j)
{
    return v3(a.m[0][j], a.m[1][j], a.m[2][j]);
}

static mat3 from_columns(vec3 a, vec3 b, vec3 c)
{
    return (mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

/* Turns the columns a and b (and their v) so that a and b become orthogonal. False if they were so
 * nearly that, convergence being at least quadratic, they now are to the last bit. */
static bool make_orthogonal(vec3* a, vec3* b, vec3* va, vec3* vb)
{
    double aa = v3_dot(*a, *a), bb = v3_dot(*b, *b), ab = v3_dot(*a, *b);
    if (ab * ab <= 1e-32 * aa * bb)
        return false;
    double zeta = (bb - aa) / (2 * ab);
    double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    double c = 1 / sqrt(1 + t * t), s = c * t;
    vec3 olda = *a, oldva = *va;
    *a = v3_mad(v3_scale(olda, c), *b, -s);
    *b = v3_mad(v3_scale(*b, c), olda, s);
    *va = v3_mad(v3_scale(oldva, c), *vb, -s);
    *vb = v3_mad(v3_scale(*vb, c), oldva, s);
    return ab * ab > 1e-18 * aa * bb;
}

/* Moves the longer column in front, keeping the determinants. */
static void put_longer_first(vec3* a, vec3* b, vec3* va, vec3* vb)
{
    if (v3_dot(*a, *a) >= v3_dot(*b, *b))
        return;
    vec3 olda = *a, oldva = *va;
    *a = *b, *va = *vb;
    *b = v3_scale(olda, -1), *vb = v3_scale(oldva, -1);
}

/* One-sided Jacobi (Hestenes 1958): small singular values come out as accurate as large ones. The
 * third left vector is the cross product of the others, which gives the proper rotation u v^T for
 * reflected and flat matrices alike. */
void reference_svd(mat3 a, mat3* u, double sigma[3], mat3* v)
{
    double scale = 0;
    for (int i = 0; i < 9; ++i)
        scale = fmax(scale, fabs(a.m[i / 3][i % 3]));
    *u = *v = m3_identity();
    sigma[0] = sigma[1] = sigma[2] = 0;
    if (!(scale > 0))
        return;
    mat3 b = m3_scale(a, 1 / scale);
    vec3 b0 = column(b, 0), b1 = column(b, 1), b2 = column(b, 2);
    vec3 v0 = v3(1, 0, 0), v1 = v3(0, 1, 0), v2 = v3(0, 0, 1);
    bool turned = true;
    for (int sweep = 0; sweep < 30 && turned; ++sweep)
    {
        turned = make_orthogonal(&b0, &b1, &v0, &v1);
        turned |= make_orthogonal(&b0, &b2, &v0, &v2);
        turned |= make_orthogonal(&b1, &b2, &v1, &v2);
    }
    put_longer_first(&b0, &b1, &v0, &v1);
    put_longer_first(&b0, &b2, &v0, &v2);
    put_longer_first(&b1, &b2, &v1, &v2);
    vec3 u0 = v3_normalised(b0), u1 = v3_normalised(b1);
    if (v3_dot(b1, b1) < 1e-30 * v3_dot(b0, b0)) /* a line: turn as little as possible */
    {
        vec3 side = v3_mad(v1, u0, -v3_dot(v1, u0));
        if (v3_dot(side, side) < 0.1)
            side = v3_mad(v2, u0, -v3_dot(v2, u0));
        u1 = v3_normalised(side);
    }
    vec3 u2 = v3_cross(u0, u1);
    *u = from_columns(u0, u1, u2);
    *v = from_columns(v0, v1, v2);
    sigma[0] = scale * v3_length(b0);
    sigma[1] = scale * v3_length(b1);
    sigma[2] = scale * v3_dot(b2, u2);
}

/* The proper rotation nearest to a: Newton's iteration for the polar decomposition (Higham 1986),
 * which converges in a few steps for what a step usually meets; the SVD for all else. */
static mat3 rotation_of(mat3 a)
{
    mat3 x = a, u, v;
    double sigma[3];
    for (int step = 0; step < 8; ++step)
    {
        double det = m3_det(x), change = 0;
        if (!(det > .1 && det < 10))
            break;
        mat3 inverse = m3_scale(m3_cofactor(x), 1 / det), next;
        for (int i = 0; i < 9; ++i)
        {
            next.m[i / 3][i % 3] = (x.m[i / 3][i % 3] + inverse.m[i / 3][i % 3]) / 2;
            double d = next.m[i / 3][i % 3] - x.m[i / 3][i % 3];
            change += d * d;
        }
        x = next;
        if (change < 1e-18) /* the next change would be about its square */
            return x;
    }
    reference_svd(a, &u, sigma, &v);
    return m3_mul(u, m3_transpose(v));
}

/* sum of a x b, read off sum of a b^T */
static vec3 cross_of(mat3 ab)
{
    return v3(ab.m[1][2] - ab.m[2][1], ab.m[2][0] - ab.m[0][2], ab.m[0][1] - ab.m[1][0]);
}

/* J^-1, read off sum of a b^T, where J theta = sum of a x (theta x b). Particles on a line cannot
 * be turned about it: along such directions the inverse is zero. "size" is what the trace would be
 * for a cluster in good shape. */
static mat3 turn_inverse(mat3 ab, double size)
{
    mat3 j = m3_scale(m3_transpose(ab), -1), u, v, inverse = m3_zero();
    double trace = 2 * m3_trace(ab), sigma[3];
    for (int i = 0; i < 3; ++i)
        j.m[i][i] += trace / 2;
    if (!(trace > 1e-12 * size))
        return inverse;
    if (m3_det(j) > 1e-9 * trace * trace * trace)
        return m3_inverse(j);
    reference_svd(j, &u, sigma, &v);
    for (int i = 0; i < 27; ++i)
        if (fabs(sigma[i / 9]) > 1e-9 * sigma[0])
            inverse.m[i % 9 / 3][i % 3] += v.m[i % 9 / 3][i / 9] * u.m[i % 3][i / 9] / sigma[i / 9];
    return inverse;
}

void reference_monomials(vec3 p, double width, const reference_quadratic* quad, double q[6])
{
    vec3 s = v3_scale(p, 1 / width);
    double raw[6] = {s.x * s.x, s.y * s.y, s.z * s.z, s.x * s.y, s.y * s.z, s.z * s.x};
    for (int j = 0; j < 6; ++j)
        q[j] = raw[j] - quad->mean[j] - v3_dot(v3_fromd(quad->slope[j]), s);
}

/* ------------------------------------------------------------------ gather: sums per cluster */

/* Positions are summed relative to the first member's, "from": relative to zero, the rounding of
 * sum m w would turn into a force that grows with the distance from there. Since sum m w p = 0,
 * A_xr is the same relative to any point. */
static void sum_particles(const reference* o, reference_level* level, uint32_t c)
{
    reference_cluster* cluster = &level->cluster[c];
    vec3 x = v3(0, 0, 0), v = x, spin = x;
    vec3 from = o->x[level->member[level->begin[c]].index];
    mat3 a = m3_zero();
    for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
    {
        const reference_member* member = &level->member[k];
        double mw = o->mass[member->index] * member->weight;
        vec3 arm = v3_scale(v3_sub(o->x[member->index], from), mw);
        x = v3_add(x, arm);
        v = v3_mad(v, o->v[member->index], mw);
        spin = v3_add(spin, v3_cross(arm, o->v[member->index]));
        a = m3_add(a, m3_outer(arm, member->p));
    }
    x = v3_scale(x, 1 / cluster->mass);
    cluster->x = v3_add(from, x);
    cluster->v = v3_scale(v, 1 / cluster->mass);
    cluster->spin = v3_sub(spin, v3_cross(x, v));
    cluster->axr = a;
}

static void sum_quadratic(const reference* o, reference_level* level, uint32_t c)
{
    reference_cluster* cluster = &level->cluster[c];
    reference_quadratic* quad = &level->quadratic[c];
    memset(quad->axq, 0, sizeof quad->axq);
    for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
    {
        const reference_member* member = &level->member[k];
        double q[6];
        reference_monomials(member->p, cluster->width_rms, quad, q);
        vec3 mx = v3_scale(v3_sub(o->x[member->index], cluster->x),
                           o->mass[member->index] * member->weight);
        for (int j = 0; j < 6; ++j)
        {
            quad->axq[0][j] += mx.x * q[j];
            quad->axq[1][j] += mx.y * q[j];
            quad->axq[2][j] += mx.z * q[j];
        }
    }
}

/* A coarse cluster's sums from its finer clusters', as if over all their particles. */
static void sum_clusters(const reference_level* finer, reference_level* level, uint32_t c)
{
    reference_cluster* cluster = &level->cluster[c];
    vec3 x = v3(0, 0, 0), v = x, spin = x;
    vec3 from = finer->cluster[level->member[level->begin[c]].index].x;
    mat3 a = m3_zero();
    for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
    {
        const reference_member* member = &level->member[k];
        const reference_cluster* fine = &finer->cluster[member->index];
        vec3 mx = v3_scale(v3_sub(fine->x, from), member->weight * fine->mass);
        x = v3_add(x, mx);
        v = v3_mad(v, fine->v, member->weight * fine->mass);
        spin = v3_mad(spin, fine->spin, member->weight);
        spin = v3_add(spin, v3_cross(mx, fine->v));
        a = m3_add(a, m3_scale(fine->axr, member->weight));
        a = m3_add(a, m3_outer(mx, member->p));
    }
    x = v3_scale(x, 1 / cluster->mass);
    cluster->x = v3_add(from, x);
    cluster->v = v3_scale(v, 1 / cluster->mass);
    cluster->spin = v3_sub(spin, v3_cross(x, v));
    cluster->axr = a;
}

/* ------------------------------------------------------------------ match: what a cluster wants */

/* R, or R F^p of a plastic body. */
static mat3 find_rotation(const reference_settings* s, const reference_cluster* cluster, mat3 axr)
{
    bool moment = s->material.rotation == PLIANT_ROTATION_MOMENT;
    mat3 f = moment ? axr : m3_mul(axr, cluster->arr_inverse);
    if (!s->plastic)
        return rotation_of(f);
    mat3 elastic = m3_mul(f, moment ? m3_transpose(cluster->fp) : cluster->fp_inverse);
    return m3_mul(rotation_of(elastic), cluster->fp);
}

/* The volume-preserving map nearest to F as the members see it: least sum m w |V p - F p|^2 with
 * det V = 1, by three Newton steps along cof(V) A_rr^-1. False where F is flat or turned inside
 * out: there goals are rigid. */
static bool keep_volume(const reference_cluster* cluster, mat3* volume)
{
    *volume = cluster->f;
    for (int round = 0; round < 3; ++round)
    {
        mat3 grow = m3_cofactor(*volume), step = m3_mul(grow, cluster->arr_inverse);
        double det = m3_det(*volume), slope = 0;
        for (int i = 0; i < 9; ++i)
            slope += grow.m[i / 3][i % 3] * step.m[i / 3][i % 3];
        if (det <= .1 || slope <= 0)
            return false;
        *volume = m3_add(*volume, m3_scale(step, (1 - det) / slope));
    }
    return true;
}

/* The coefficients of the six modes. */
static void fit_quadratic(const reference_cluster* cluster, reference_quadratic* quad, double beta)
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 36; ++j)
        {
            double moment = quad->axq[i][j / 6];
            for (int n = 0; n < 3; ++n)
                moment -= cluster->f.m[i][n] * quad->arq[n][j / 6];
            quad->t[i][j % 6] += beta * moment * quad->inverse[j];
        }
}

/* T without its torque, and the rigid motion's turn. */
static void find_goal(const reference_settings* s, reference_cluster* cluster,
                      reference_quadratic* quad)
{
    double beta = s->material.beta;
    cluster->r = cluster->t = find_rotation(s, cluster, cluster->axr);
    cluster->f = cluster->lever = m3_mul(cluster->axr, cluster->arr_inverse);
    if (cluster->flat) /* where there is no extent at rest, F does what R does */
        cluster->f = m3_add(cluster->f, m3_mul(cluster->r, cluster->missing));
    mat3 volume;
    bool sound = s->material.goal != PLIANT_GOAL_RIGID && keep_volume(cluster, &volume);
    if (sound)
        cluster->t = m3_add(m3_scale(cluster->r, 1 - beta), m3_scale(volume, beta));
    bool bends = s->material.goal == PLIANT_GOAL_QUADRATIC;
    double firmness = bends ? reference_firmness(&s->material) : 1;
    cluster->t = m3_add(m3_scale(cluster->f, 1 - firmness), m3_scale(cluster->t, firmness));
    if (quad)
        memset(quad->t, 0, sizeof quad->t);
    if (quad && sound && s->material.stiffness_kind != PLIANT_STIFFNESS_ALPHA)
        reference_follow(cluster, quad);
    else if (quad && sound)
        fit_quadratic(cluster, quad, beta);
    cluster->omega = v3(0, 0, 0);
    if (s->literal)
        return;
    cluster->turn_inverse =
        turn_inverse(m3_mul(cluster->axr, m3_transpose(cluster->lever)), m3_trace(cluster->arr));
    cluster->omega = m3_mulv(cluster->turn_inverse, cluster->spin);
    mat3 moment = m3_mul(cluster->axr, m3_transpose(cluster->t)); /* sum m w (x - x_c) g^T */
    if (quad)
        for (int i = 0; i < 9; ++i)
            for (int k = 0; k < 6; ++k)
                moment.m[i / 3][i % 3] += quad->axq[i / 3][k] * quad->t[i % 3][k];
    vec3 theta = v3_scale(m3_mulv(cluster->turn_inverse, cross_of(moment)), -1);
    cluster->t = m3_add(cluster->t, m3_mul(m3_cross(theta), cluster->lever));
}

static void find_pull(reference_cluster* cluster, double dt)
{
    reference_pull* pull = &cluster->pull;
    double damping = cluster->kappa * dt;
    pull->alpha = cluster->alpha;
    pull->kappa = cluster->kappa;
    pull->a = m3_add(m3_scale(cluster->t, cluster->alpha),
                     m3_scale(m3_mul(m3_cross(cluster->omega), cluster->lever), damping));
    pull->b = v3_mad(v3_scale(cluster->x, cluster->alpha), cluster->v, damping);
}

/* What a nested level's clusters want of a particle goes through the finer clusters. */
static void hand_down(const reference_level* level, reference_level* finer)
{
    for (uint32_t c = 0; c < level->clusters; ++c)
        for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
        {
            const reference_member* member = &level->member[k];
            const reference_pull* from = &level->cluster[c].pull;
            reference_pull* to = &finer->cluster[member->index].pull;
            double u = member->weight;
            to->a = m3_add(to->a, m3_scale(from->a, u));
            to->b = v3_mad(to->b, v3_add(from->b, m3_mulv(from->a, member->p)), u);
            to->alpha += u * from->alpha;
            to->kappa += u * from->kappa;
        }
}

/* ------------------------------------------------------------------ blend */

/* Adds what a cluster of particles wants of its members: dt dv. */
static void add_goals(reference* o, const reference_level* level, uint32_t c, double dt)
{
    const reference_cluster* cluster = &level->cluster[c];
    for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
    {
        const reference_member* member = &level->member[k];
        uint32_t i = member->index;
        vec3 goal = v3_add(m3_mulv(cluster->t, member->p), cluster->x);
        if (level->quadratic)
        {
            const reference_quadratic* quad = &level->quadratic[c];
            double q[6];
            reference_monomials(member->p, cluster->width_rms, quad, q);
            for (int j = 0; j < 6; ++j)
                goal = v3_mad(goal, v3(quad->t[0][j], quad->t[1][j], quad->t[2][j]), q[j]);
        }
        vec3 arm = m3_mulv(cluster->lever, member->p);
        vec3 rigid = v3_add(cluster->v, v3_cross(cluster->omega, arm));
        vec3 change = v3_scale(v3_sub(goal, o->x[i]), cluster->alpha);
        change = v3_mad(change, v3_sub(rigid, o->v[i]), cluster->kappa * dt);
        o->change[i] = v3_mad(o->change[i], change, member->weight);
    }
}

/* Adds what was handed down to a level of particles. */
static void add_pulls(reference* o, const reference_level* level, double dt)
{
    for (uint32_t c = 0; c < level->clusters; ++c)
        for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
        {
            const reference_pull* pull = &level->cluster[c].pull;
            const reference_member* member = &level->member[k];
            uint32_t i = member->index;
            vec3 change = v3_add(m3_mulv(pull->a, member->p), pull->b);
            change = v3_mad(change, o->x[i], -pull->alpha);
            change = v3_mad(change, o->v[i], -pull->kappa * dt);
            o->change[i] = v3_mad(o->change[i], change, member->weight);
        }
}

static void match(reference* o, double dt, bool flows)
{
    memset(o->change, 0, o->particles * sizeof *o->change);
    for (uint32_t l = 0; l < o->levels; ++l)
    {
        reference_level* level = &o->level[l];
        for (uint32_t c = 0; c < level->clusters; ++c)
        {
            reference_cluster* cluster = &level->cluster[c];
            reference_quadratic* quad = level->quadratic ? &level->quadratic[c] : NULL;
            if (level->nested)
                sum_clusters(level - 1, level, c);
            else
                sum_particles(o, level, c);
            if (quad)
                sum_quadratic(o, level, c);
            if (flows)
                reference_flow(&o->settings, cluster, dt);
            find_goal(&o->settings, cluster, quad);
            memset(&cluster->pull, 0, sizeof cluster->pull);
            if (level->nested)
                find_pull(cluster, dt);
            else
                add_goals(o, level, c, dt);
        }
        o->membership_passes += level->begin[level->clusters];
    }
    for (uint32_t l = o->levels; l-- > 1;)
        if (o->level[l].nested)
            hand_down(&o->level[l], &o->level[l - 1]);
    if (o->levels > 1 && o->level[1].nested)
        add_pulls(o, &o->level[0], dt);
    const pliant_material_desc* material = &o->settings.material;
    if (material->damping > 0 && !material->damping_per_step && !o->settings.literal)
        reference_damp(o, dt);
}

/* The library flows and breaks at the end of a step, where it matches for the next. */
void reference_match(reference* o, double dt)
{
    if (o->alpha_dt >= 0 && o->alpha_dt != dt)
        reference_set_stiffness(o, dt);
    match(o, dt, !o->matched && o->settings.plastic);
    if (!o->matched && o->settings.breaks && reference_break(o, dt))
    {
        if (o->alpha_dt >= 0)
            reference_set_stiffness(o, dt);
        match(o, dt, false);
    }
    o->matched = false;
}

/* ------------------------------------------------------------------ integrate */

static void integrate(reference* o, double dt)
{
    vec3 gravity = v3_fromd(o->settings.gravity);
    for (uint32_t i = 0; i < o->particles; ++i)
    {
        o->old[i] = o->x[i];
        o->v[i] = v3_mad(o->v[i], o->change[i], 1 / dt);
        o->v[i] = v3_mad(o->v[i], v3_add(gravity, o->acceleration[i]), dt);
        o->x[i] = v3_mad(o->x[i], o->v[i], dt);
    }
}

/* ------------------------------------------------------------------ strain limiting */

/* Fits a cluster of the finest level to where its members are: R and the centre. */
static void refit(const reference* o, const reference_level* level, uint32_t c, mat3* r, vec3* x)
{
    vec3 sum = v3(0, 0, 0), from = o->x[level->member[level->begin[c]].index];
    mat3 a = m3_zero();
    for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
    {
        const reference_member* member = &level->member[k];
        __builtin_prefetch(&o->old[member->index]); /* the loops to come will ask for these */
        __builtin_prefetch(&o->change[member->index]);
        double mw = o->mass[member->index] * member->weight;
        vec3 arm = v3_scale(v3_sub(o->x[member->index], from), mw);
        sum = v3_add(sum, arm);
        a = m3_add(a, m3_outer(arm, member->p));
    }
    *x = v3_mad(from, sum, 1 / level->cluster[c].mass);
    *r = find_rotation(&o->settings, &level->cluster[c], a);
}

/* A cluster's corrections on the way: their sum, and their torque about the cluster's centre with
 * the lever arms of the step's start. */
typedef struct corrections
{
    vec3 sum, torque;
    uint64_t violated;
} corrections;

/* Puts the correction of each member into o->scratch. */
static corrections find_corrections(reference* o, const reference_level* level, uint32_t c)
{
    const reference_cluster* cluster = &level->cluster[c];
    double limit = o->settings.material.strain_limit * cluster->width_max * cluster->limit_factor;
    corrections found = {v3(0, 0, 0), v3(0, 0, 0), 0};
    vec3* correction = o->scratch;
    mat3 r;
    vec3 centre;
    refit(o, level, c, &r, &centre);
    for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k, ++correction)
    {
        const reference_member* member = &level->member[k];
        vec3 goal = v3_add(m3_mulv(r, member->p), centre);
        vec3 to_goal = v3_sub(goal, o->x[member->index]);
        double square = v3_dot(to_goal, to_goal);
        *correction = v3(0, 0, 0);
        if (square <= limit * limit)
            continue;
        *correction = v3_scale(to_goal, 1 - limit / sqrt(square));
        vec3 arm = v3_sub(o->old[member->index], cluster->x);
        vec3 momentum = v3_scale(*correction, o->mass[member->index] * member->weight);
        found.sum = v3_add(found.sum, momentum);
        found.torque = v3_add(found.torque, v3_cross(arm, momentum));
        ++found.violated;
    }
    return found;
}

/* The rotation that an angular impulse gives to a cluster's members where they were at the start.
 */
static vec3 turn_of(const reference* o, const reference_level* level, uint32_t c, vec3 torque)
{
    mat3 second = m3_zero(), inertia;
    for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
    {
        const reference_member* member = &level->member[k];
        vec3 arm = v3_sub(o->old[member->index], level->cluster[c].x);
        second =
            m3_add(second, m3_scale(m3_outer(arm, arm), o->mass[member->index] * member->weight));
    }
    double trace = m3_trace(second);
    inertia = m3_scale(second, -1);
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += trace;
    if (!(m3_det(inertia) > 1e-5 * trace * trace * trace)) /* a needle: not about its axis */
        for (int i = 0; i < 3; ++i)
            inertia.m[i][i] += trace * 1e-4;
    return trace > 0 ? m3_mulv(m3_inverse(inertia), torque) : v3(0, 0, 0);
}

/* One Jacobi iteration; returns how many pairs were over the limit. The mean and the turn of a
 * cluster's corrections are taken from all its members, as mean + theta x arm. */
static uint64_t limit_once(reference* o, double dt)
{
    const reference_level* level = &o->level[0];
    uint64_t violated = 0;
    memset(o->change, 0, o->particles * sizeof *o->change);
    for (uint32_t c = 0; c < level->clusters; ++c)
    {
        const reference_cluster* cluster = &level->cluster[c];
        corrections found = find_corrections(o, level, c);
        const vec3* correction = o->scratch;
        if (!found.violated)
            continue;
        violated += found.violated;
        vec3 mean = v3(0, 0, 0), theta = v3(0, 0, 0);
        if (!o->settings.literal)
        {
            mean = v3_scale(found.sum, 1 / cluster->mass);
            theta = turn_of(o, level, c, found.torque);
        }
        for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k, ++correction)
        {
            const reference_member* member = &level->member[k];
            vec3 arm = v3_sub(o->old[member->index], cluster->x);
            vec3 rigid = v3_add(mean, v3_cross(theta, arm));
            vec3* change = &o->change[member->index];
            *change = v3_mad(*change, v3_sub(*correction, rigid), member->weight);
        }
    }
    double omega = 1 - pow(1 - o->settings.material.strain_relaxation, dt * 60);
    for (uint32_t i = 0; violated && i < o->particles; ++i)
    {
        o->x[i] = v3_mad(o->x[i], o->change[i], omega);
        o->v[i] = v3_mad(o->v[i], o->change[i], omega / dt);
    }
    return violated;
}

static void limit_strain(reference* o, double dt)
{
    uint64_t pairs = o->level[0].begin[o->level[0].clusters];
    o->pairs_tested = o->pairs_violated = 0;
    o->least_violated = 1;
    if (!(o->settings.material.strain_limit > 0))
        return;
    for (uint32_t k = 0; k < o->settings.material.strain_iterations; ++k)
    {
        uint64_t violated = limit_once(o, dt);
        o->pairs_tested += pairs;
        o->pairs_violated += violated;
        o->least_violated = fmin(o->least_violated, (double)violated / (double)pairs);
        o->membership_passes += pairs;
        if (!violated && !o->settings.every_iteration)
            break;
    }
}

/* ------------------------------------------------------------------ contact, and the whole step */

/* Out of the ground; the normal velocity by restitution, the tangential one by Coulomb friction. */
static void contact_plane(reference* o)
{
    const reference_settings* s = &o->settings;
    int axis = s->plane_axis;
    for (uint32_t i = 0; i < o->particles; ++i)
    {
        double* x = (double*)&o->x[i];
        double* v = (double*)&o->v[i];
        o->touch[i] = x[axis] < s->plane_height;
        if (!o->touch[i])
            continue;
        x[axis] = s->plane_height;
        if (v[axis] >= 0)
            continue;
        double impulse = -(1 + s->plane_restitution) * v[axis];
        double *a = &v[(axis + 1) % 3], *b = &v[(axis + 2) % 3];
        double slip = sqrt(*a * *a + *b * *b);
        double keep = slip > 0 ? fmax(0, 1 - s->plane_friction * impulse / slip) : 0;
        v[axis] += impulse;
        *a *= keep, *b *= keep;
    }
}

void reference_step(reference* o, double dt)
{
    reference_match(o, dt);
    integrate(o, dt);
    limit_strain(o, dt);
    if (o->settings.plane)
        contact_plane(o);
    o->time += dt;
    ++o->substep;
}
