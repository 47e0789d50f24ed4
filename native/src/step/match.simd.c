// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fits clusters to where their members are: deformation gradient, rotation, goal transform, and the
 * row that a cluster gives to its members. Eight clusters at a time.
 *
 * Mueller et al. 2005, "Meshless Deformations Based on Shape Matching"; Falkenstein 2017, 3.0.1 for
 * the rotation of F instead of A_xr. Departures (ALGORITHMS.md, "Momentum"):
 *  - polar(F) is not the rotation of least squares, so its goals exert a torque. It is taken out of
 * the goal transform: T <- T + [theta]x F with theta = -(tr(K) I - K)^-1 tau and K = A_xr F^T. The
 * goals stay one affine map.
 *  - Damping is toward the cluster's rigid motion, v_c + omega x (F p). With the lever arms F p,
 * instead of x - x_c, the velocity is affine in p too, so it costs nothing to blend, and linear and
 * angular momentum are kept exactly: sum m w (x - x_c) x (omega x F p) = (tr(K) I - K) omega.
 */
#include "match.h"

#include "gather.h"
#include "rotation.h"

/* Moments of a cluster while they are put together, in double: x relative to its reference point, p
 * to its rest centre. Rows of three are four wide, for the compiler's vectors. */
typedef struct moments
{
    double xr[3][4], x[4], v[4], xv[4], r[4], m;
    double xx[6];
} moments;

typedef struct quadratic_moments
{
    double q[18], mean[6]; /* x q(p)^T and q(p) with the six monomials of p */
} quadratic_moments;

/* A chunk sums x' relative to its pos_origin and r' relative to its rest_origin: x = x' + o,
 * p = r' + d. */
PL_INLINE void add_part(moments* t, const pl_part* part, const float* s, const double o[4],
                        bool second)
{
    double d[4] = {part->to_rest[0], part->to_rest[1], part->to_rest[2], 0}, first[4] = {0};
    const float *x = s + PL_SUM_X, *v = s + PL_SUM_V;
    for (int j = 0; j < 3; ++j)
        first[j] = part->first[j] + part->mass * d[j];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) /* the fourth column is not used */
            t->xr[i][j] += (s[3 * i + j] + x[i] * d[j]) + o[i] * first[j];
    for (int j = 0; j < 3; ++j)
    {
        t->r[j] += first[j];
        t->x[j] += x[j] + part->mass * o[j];
        t->v[j] += v[j];
        int a = (j + 1) % 3, b = (j + 2) % 3;
        t->xv[j] += s[PL_SUM_XV + j] + (o[a] * v[b] - o[b] * v[a]);
    }
    t->m += part->mass;
    for (int j = 0; second && j < 3; ++j)
    {
        int n = (j + 1) % 3;
        t->xx[j] += s[PL_SUM_XX + j] + 2 * o[j] * x[j] + part->mass * o[j] * o[j];
        t->xx[3 + j] += s[PL_SUM_XX + 3 + j] + o[j] * x[n] + o[n] * x[j] + part->mass * o[j] * o[n];
    }
}

/* The same for x q(p)^T and for q alone, with the six monomials xx yy zz xy yz zx of p. */
static void add_quadratic_part(quadratic_moments* t, const pl_part* part, const float* s,
                               const float* q, const double o[4])
{
    const float* d = part->to_rest;
    const double *r = part->first, m = part->mass;
    double mean[6];
    for (int j = 0; j < 3; ++j)
    {
        int n = (j + 1) % 3;
        mean[j] = q[18 + j] + 2 * d[j] * r[j] + (double)d[j] * d[j] * m;
        mean[3 + j] = q[21 + j] + d[j] * r[n] + d[n] * r[j] + (double)d[j] * d[n] * m;
    }
    for (int i = 0; i < 3; ++i)
    {
        const float* xr = s + 3 * i;
        double *out = t->q + 6 * i, x = s[PL_SUM_X + i];
        for (int j = 0; j < 3; ++j)
        {
            int n = (j + 1) % 3;
            out[j] += q[6 * i + j] + 2 * d[j] * xr[j] + d[j] * d[j] * x + o[i] * mean[j];
            out[3 + j] += q[6 * i + 3 + j] + d[j] * xr[n] + d[n] * xr[j] + d[j] * d[n] * x +
                          o[i] * mean[3 + j];
        }
    }
    for (int j = 0; j < 6; ++j)
        t->mean[j] += mean[j];
}

/* The inverse of the inertia about x_c, for strain limiting; what cannot be turned gets 0. */
static void inertia_inverse(const moments* t, const double x[3], float out[6])
{
    double s[6], trace;
    for (int j = 0; j < 3; ++j)
    {
        s[j] = t->xx[j] - t->m * x[j] * x[j];
        s[3 + j] = t->xx[3 + j] - t->m * x[j] * x[(j + 1) % 3];
    }
    trace = s[0] + s[1] + s[2];
    double xx = trace - s[0], yy = trace - s[1], zz = trace - s[2];
    double xy = -s[3], yz = -s[4], zx = -s[5], c0, c3, c5, det;
    for (int round = 0; round < 2; ++round)
    {
        c0 = yy * zz - yz * yz, c3 = yz * zx - xy * zz, c5 = xy * yz - yy * zx;
        det = xx * c0 + xy * c3 + zx * c5;
        if (det > 1e-9 * trace * trace * trace)
            break;
        double more = 1e-6 * trace; /* a needle cannot be turned about its axis */
        xx += more, yy += more, zz += more;
    }
    double per = trace > 0 && det > 0 ? 1 / det : 0;
    out[0] = (float)(c0 * per);
    out[1] = (float)((xx * zz - zx * zx) * per);
    out[2] = (float)((xx * yy - xy * xy) * per);
    out[3] = (float)(c3 * per);
    out[4] = (float)((xy * zx - xx * yz) * per);
    out[5] = (float)(c5 * per);
}

/* Moments of one cluster from its chunks, centred: A_xr (9), x_c relative to the reference point,
 * v_c, spin about x_c, mass, what rounding leaves of the mean of p. With quadratic goals also
 * sum m w (x - x_c) q^T (18) and q's mean (6); with a lever, that. */
static void sum_parts(const pl_match_batch* batch, uint32_t c, const float ref[3], float out[24],
                      float* quad, float* lever)
{
    const pl_clusters* k = batch->clusters;
    moments t = {0};
    quadratic_moments second;
    if (quad)
        memset(&second, 0, sizeof second);
    uint32_t end = k->part_begin[c + 1];
    for (uint32_t at = k->part_begin[c]; at < end; ++at)
    {
        const pl_part* part = &k->part[at];
        const pl_chunk* chunk = &batch->chunks[part->chunk];
        const float* s = chunk->sums + (size_t)PL_SUM_FLOATS * part->row;
        double o[4] = {0};
        for (int j = 0; j < 3; ++j)
            o[j] = (double)chunk->pos_origin[j] - ref[j];
        add_part(&t, part, s, o, lever != NULL);
        if (quad)
            add_quadratic_part(&second, part, s,
                               chunk->quad_sums + (size_t)PL_QUAD_SUM_FLOATS * part->row, o);
    }
    double fade = k->fade[c], per_mass = t.m > 0 ? 1 / t.m : 0;
    double x[3];
    for (int i = 0; i < 3; ++i)
    {
        x[i] = t.x[i] * per_mass;
        out[9 + i] = (float)x[i];
        out[12 + i] = (float)(t.v[i] * per_mass);
        for (int j = 0; j < 3; ++j)
            out[3 * i + j] = (float)((t.xr[i][j] - x[i] * t.r[j]) * fade);
        out[19 + i] = (float)(t.r[i] * per_mass);
    }
    for (int i = 0; i < 3; ++i)
    {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        out[15 + i] = (float)((t.xv[i] - (x[a] * t.v[b] - x[b] * t.v[a])) * fade);
    }
    out[18] = (float)(t.m * fade);
    out[22] = out[23] = 0;
    for (int j = 0; quad && j < 6; ++j)
    {
        for (int i = 0; i < 3; ++i)
            quad[6 * i + j] = (float)((second.q[6 * i + j] - x[i] * second.mean[j]) * fade);
        quad[18 + j] = (float)(second.mean[j] * per_mass);
    }
    if (!lever)
        return;
    inertia_inverse(&t, x, lever + PL_LEVER_INVERSE);
    for (int i = 0; i < 3; ++i)
    {
        lever[PL_LEVER_REF + i] = ref[i];
        lever[PL_LEVER_X + i] = (float)x[i];
    }
    lever[PL_LEVER_MASS] = (float)t.m;
}

/* The next clusters' sums on their way into the cache. */
PL_INLINE void prefetch_parts(const pl_match_batch* batch, uint32_t c)
{
    const pl_clusters* k = batch->clusters;
    if (c + 8 > batch->end)
        return;
    for (uint32_t at = k->part_begin[c]; at < k->part_begin[c + 8]; ++at)
    {
        const float* s =
            batch->chunks[k->part[at].chunk].sums + (size_t)PL_SUM_FLOATS * k->part[at].row;
        __builtin_prefetch(s);
        __builtin_prefetch(s + 16);
    }
}

/* The reference point of a cluster that holds particles. */
PL_INLINE const float* reference(const pl_match_batch* batch, uint32_t c)
{
    const pl_clusters* k = batch->clusters;
    return batch->chunks[k->part[k->part_begin[c]].chunk].pos_origin;
}

/* Rows of 24 floats of eight clusters, in lanes. */
PL_INLINE void load_sums(const float* const rows[8], vf s[24])
{
    for (int g = 0; g < 3; ++g)
    {
        for (int i = 0; i < 8; ++i)
            s[8 * g + i] = vf_load(rows[i] + 8 * g);
        vf_transpose(s + 8 * g);
    }
}

/* F from that of pl_lever_gradient: completed for clusters that lack a direction. */
PL_INLINE void complete(const pl_clusters* k, const pl_eight* eight, const vf lever[9], vf f[9])
{
    bool whole = true;
    memcpy(f, lever, 9 * sizeof *f);
    for (int i = 0; i < 8; ++i)
        whole = whole && k->rank[eight->c[i]] == 3;
    if (whole)
        return;
    float lanes[9][8];
    for (int j = 0; j < 9; ++j)
        vf_store(lanes[j], f[j]);
    for (int i = 0; i < 8; ++i)
    {
        float one[9];
        for (int j = 0; j < 9; ++j)
            one[j] = lanes[j][i];
        pl_complete_gradient(k->rank[eight->c[i]], k->axis[eight->c[i]], one);
        for (int j = 0; j < 9; ++j)
            lanes[j][i] = one[j];
    }
    for (int j = 0; j < 9; ++j)
        f[j] = vf_load(lanes[j]);
}

/* cof(F), row-major: how areas map, and the gradient of det F. */
PL_INLINE void cofactor(const vf f[9], vf out[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
        {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            out[3 * i + j] =
                vf_sub(vf_mul(f[3 * a + c], f[3 * b + d]), vf_mul(f[3 * a + d], f[3 * b + c]));
        }
}

/* (1 - beta) R + beta V, with V the volume-preserving map nearest to F as the members see it: least
 * sum m w |V p - F p|^2 with det V = 1. Newton along cof(V) A_rr^-1, the direction in which that
 * sum grows least. Mueller scales F by 1 / cbrt(det F); that force has no potential: round a loop
 * it does work, and a free body's energy grew 1,800 times in 3,000 steps at alpha 1.9. R alone
 * where F is flat or turned inside out. */
PL_INLINE void linear_goal(const pl_clusters* k, const pl_eight* eight, const vf f[9],
                           const vf r[9], float beta, vf t[9])
{
    vf s[6], v[9], c[9], step[9], sound = vf_set1(1);
    for (int j = 0; j < 6; ++j)
        s[j] = pl_eight_load(eight, &k->arr_inv[0][j], 6);
    vf inverse[9] = {s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2]};
    memcpy(v, f, sizeof v);
    for (int round = 0; round < 3; ++round)
    {
        cofactor(v, c);
        vf det = vf_mad(vf_mad(vf_mul(v[0], c[0]), v[1], c[1]), v[2], c[2]);
        pl_mul33(c, inverse, step);
        vf slope = vf_set1(0);
        for (int j = 0; j < 9; ++j)
            slope = vf_mad(slope, c[j], step[j]);
        vm fine = vm_and(vf_lt(vf_set1(.1f), det), vf_lt(vf_set1(0), slope));
        sound = vf_keep(fine, sound);
        vf way = vf_div(vf_sub(vf_set1(1), det), vf_select(fine, slope, vf_set1(1)));
        for (int j = 0; j < 9; ++j)
            v[j] = vf_mad(v[j], way, step[j]);
    }
    vf rest = vf_set1(1 - beta), share = vf_set1(beta);
    vm use = vf_lt(vf_set1(0), sound);
    for (int j = 0; j < 9; ++j)
        t[j] = vf_select(use, vf_mad(vf_mul(rest, r[j]), share, v[j]), r[j]);
}

/* tau = sum m w (x - x_c) x (T p), read off A_xr T^T */
PL_INLINE void torque(const vf a[9], const vf t[9], vf tau[3])
{
    vf m[9];
    pl_mul33t(a, t, m);
    tau[0] = vf_sub(m[5], m[7]);
    tau[1] = vf_sub(m[6], m[2]);
    tau[2] = vf_sub(m[1], m[3]);
}

PL_INLINE void store_rows(const pl_match_batch* batch, const pl_eight* eight, const vf f[9],
                          const vf lever[9], const vf t[9], const vf inverse[6], const vf s[24])
{
    pl_clusters* k = batch->clusters;
    vf alpha = pl_eight_load(eight, k->alpha, 1);
    vf kappa = vf_mul(pl_eight_load(eight, k->kappa, 1), vf_set1(batch->dt));
    vf omega[3], spin[9], row[16];
    pl_symmetric_mulv(inverse, s + 15, omega);
    pl_spin33(omega, lever, spin);
    for (int j = 0; j < 9; ++j)
        row[j] = vf_mad(vf_mul(alpha, t[j]), kappa, spin[j]);
    for (int j = 0; j < 3; ++j)
    {
        /* the rest centre is rounded: what is left of the mean of p would push the cluster */
        vf left =
            vf_mad(vf_mad(vf_mul(row[3 * j], s[19]), row[3 * j + 1], s[20]), row[3 * j + 2], s[21]);
        row[PL_ROW_B + j] = vf_sub(vf_mad(vf_mul(alpha, s[9 + j]), kappa, s[12 + j]), left);
    }
    row[PL_ROW_ALPHA] = alpha;
    row[PL_ROW_KAPPA] = kappa;
    row[PL_ROW_FADE] = vf_set1(batch->finest ? 1.0f : 0.0f);
    row[15] = vf_set1(0);
    pl_eight_store_rows(eight, k->row[0], row);
    for (int j = 0; j < 9; ++j)
        pl_eight_store(eight, &k->f[0][j], 9, f[j]);
    for (int j = 0; j < 3; ++j)
        pl_eight_store(eight, &k->x[0][j], 3,
                       vf_add(pl_eight_load(eight, &k->ref[0][j], 3), s[9 + j]));
}

/* What strain limiting compares members with: R, x_c, and how far they may be. */
PL_INLINE void store_limit(const pl_match_batch* batch, const pl_eight* eight, const vf r[9],
                           const vf s[24])
{
    pl_clusters* k = batch->clusters;
    vf row[16];
    for (int j = 0; j < 9; ++j)
        row[j] = r[j];
    for (int j = 0; j < 3; ++j)
        row[9 + j] = s[9 + j];
    row[12] = vf_mul(vf_set1(batch->gamma), vf_mul(pl_eight_load(eight, k->width_max, 1),
                                                   pl_eight_load(eight, k->limit_factor, 1)));
    row[13] = row[14] = row[15] = vf_set1(0);
    pl_eight_store_rows(eight, k->limit[0], row);
}

static void quadratic_goals(const pl_match_batch* batch, const pl_eight* eight, const vf a[9],
                            const vf f[9], float quad[8][24], vf t[9])
{
    float al[9][8], fl[9][8], tl[9][8];
    for (int j = 0; j < 9; ++j)
    {
        vf_store(al[j], a[j]);
        vf_store(fl[j], f[j]);
        vf_store(tl[j], t[j]);
    }
    for (int i = 0; i < 8; ++i)
    {
        float a1[9], f1[9], t1[9];
        for (int j = 0; j < 9; ++j)
            a1[j] = al[j][i], f1[j] = fl[j][i], t1[j] = tl[j][i];
        pl_match_quadratic(batch->clusters, eight->c[i], a1, f1, quad[i], batch->beta, t1);
        for (int j = 0; j < 9; ++j)
            tl[j][i] = t1[j];
    }
    for (int j = 0; j < 9; ++j)
        t[j] = vf_load(tl[j]);
}

static void match_eight(const pl_match_batch* batch, const pl_eight* eight)
{
    pl_clusters* k = batch->clusters;
    bool quadratic = batch->goal == PLIANT_GOAL_QUADRATIC && batch->sum_parts;
    float quad[8][24];
    const float* rows[8];
    for (int i = 0; i < 8; ++i)
    {
        uint32_t c = eight->c[i];
        if (batch->sum_parts && i < (int)eight->used)
        {
            memcpy(k->ref[c], reference(batch, c), sizeof k->ref[c]);
            sum_parts(batch, c, k->ref[c], k->sums[c], quadratic ? quad[i] : NULL,
                      batch->gamma > 0 ? k->lever[batch->lever_side][c] : NULL);
        }
        else if (quadratic)
            memcpy(quad[i], quad[eight->used - 1], sizeof quad[i]);
        rows[i] = k->sums[c];
    }
    vf s[24], f[9], lever[9], r[9], t[9], inverse[6], tau[3], theta[3], turn[9];
    load_sums(rows, s);
    pl_lever_gradient(k, eight, s, lever);
    complete(k, eight, lever, f);
    bool moment = batch->rotation == PLIANT_ROTATION_MOMENT;
    pl_rotation8(moment ? s : f, r);
    if (batch->goal == PLIANT_GOAL_RIGID)
        memcpy(t, r, sizeof t);
    else
        linear_goal(k, eight, f, r, batch->beta, t);
    if (quadratic)
        quadratic_goals(batch, eight, s, f, quad, t);
    pl_lever_inverse(s, lever, inverse);
    if (!moment || batch->goal != PLIANT_GOAL_RIGID)
    {
        torque(s, t, tau);
        if (quadratic)
            for (int j = 0; j < 3; ++j)
                tau[j] = vf_add(tau[j], pl_eight_load(eight, &k->quad_row[0][18 + j], 24));
        pl_symmetric_mulv(inverse, tau, theta);
        pl_spin33(theta, lever, turn);
        for (int j = 0; j < 9; ++j)
            t[j] = vf_sub(t[j], turn[j]);
    }
    store_rows(batch, eight, f, lever, t, inverse, s);
    if (batch->gamma > 0)
    {
        for (uint32_t i = 0; i < eight->used; ++i)
            memcpy(k->limit_ref[eight->c[i]], k->ref[eight->c[i]], sizeof k->ref[0]);
        store_limit(batch, eight, r, s);
    }
    if (!quadratic)
        return;
    for (uint32_t i = 0; i < eight->used; ++i)
    {
        uint32_t c = eight->c[i];
        float* q = k->quad_row[c];
        for (int j = 0; j < 18; ++j)
            q[j] *= k->alpha[c];
        for (int j = 0; j < 3; ++j)
            for (int n = 0; n < 6; ++n)
                k->row[c][PL_ROW_B + j] -= q[6 * j + n] * quad[i][18 + n];
        for (int j = 18; j < 24; ++j)
            q[j] = 0;
    }
}

void PL_K(pl_match)(const pl_match_batch* batch)
{
    for (uint32_t c = batch->begin; c < batch->end; c += 8)
    {
        pl_eight eight = pl_eight_from(c, batch->end);
        if (batch->sum_parts)
            prefetch_parts(batch, c + 8);
        match_eight(batch, &eight);
    }
}

void PL_K(pl_match_limit)(const pl_match_batch* batch)
{
    pl_clusters* k = batch->clusters;
    for (uint32_t c = batch->begin; c < batch->end; c += 8)
    {
        pl_eight eight = pl_eight_from(c, batch->end);
        prefetch_parts(batch, c + 8);
        float sums[8][24];
        const float* rows[8];
        for (int i = 0; i < 8; ++i)
        {
            rows[i] = sums[PL_MIN(i, (int)eight.used - 1)];
            if (i >= (int)eight.used)
                continue;
            const float* ref = reference(batch, eight.c[i]);
            sum_parts(batch, eight.c[i], ref, sums[i], NULL, NULL);
            memcpy(k->limit_ref[eight.c[i]], ref, sizeof k->limit_ref[0]);
        }
        vf s[24], f[9], lever[9], r[9];
        load_sums(rows, s);
        pl_lever_gradient(k, &eight, s, lever);
        complete(k, &eight, lever, f);
        pl_rotation8(batch->rotation == PLIANT_ROTATION_MOMENT ? s : f, r);
        store_limit(batch, &eight, r, s);
    }
}
