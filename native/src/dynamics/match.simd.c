// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Fits clusters to their members' positions: deformation gradient, rotation, goal transform, and
 * the cluster's row. Eight clusters at a time.
 *
 * Mueller et al. 2005, "Meshless Deformations Based on Shape Matching"; Falkenstein 2017, 3.0.1 for
 * the rotation of F instead of A_xr. Departures, which keep momentum:
 *   - polar(F) is not the rotation of least squares, so its goals exert a torque. It is taken out
 *     of the goal transform: T <- T + [theta]x F with theta = -(tr(K) I - K)^-1 tau and
 *     K = A_xr F^T. The goals stay one affine map.
 *   - Damping is toward the cluster's rigid motion, v_c + omega x (F p). With the lever arms F p,
 *     instead of x - x_c, the velocity is affine in p too, so it costs nothing to blend, and linear
 *     and angular momentum are kept exactly:
 *     sum m w (x - x_c) x (omega x F p) = (tr(K) I - K) omega.
 */
#include "dynamics/match.h"

#include "dynamics/level_batches.h"
#include "dynamics/reduce_moments.h"
#include "plasticity/plastic.h"

/* With quadratic goals: x q(p)^T and q(p) with the six monomials of p, about x_c. */
typedef struct quadratic_moments
{
    double q[18], mean[6];
} quadratic_moments;

/* Adds a chunk's share (reduce_moments.h), with the six monomials xx yy zz xy yz zx of p. */
static void add_quadratic_part(quadratic_moments* t, const pl_part* part, const float* s,
                               const float* q, const double o[3])
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

/* sum m w (x - x_c) q^T (18) and the mean of q (6) of one cluster. */
static void sum_quadratic_parts(const pl_match_batch* batch, uint32_t c, const double x[3],
                                float quad[24])
{
    const pl_clusters* k = batch->clusters;
    quadratic_moments t = {0};
    double mass = 0;
    for (uint32_t at = batch->part_begin[c]; at < batch->part_begin[c + 1]; ++at)
    {
        const pl_part* part = &batch->part[at];
        const pl_chunk* chunk = &batch->chunks[part->chunk];
        double o[3];
        for (int j = 0; j < 3; ++j)
            o[j] = (double)chunk->pos_origin[j] - k->ref[c][j];
        mass += part->mass;
        add_quadratic_part(&t, part, chunk->sums + (size_t)PL_SUM_FLOATS * part->row,
                           chunk->quad_sums + (size_t)PL_QUAD_SUM_FLOATS * part->row, o);
    }
    double per_mass = mass > 0 ? 1 / mass : 0;
    for (int j = 0; j < 6; ++j)
    {
        for (int i = 0; i < 3; ++i)
            quad[6 * i + j] = (float)((t.q[6 * i + j] - x[i] * t.mean[j]) * k->fade[c]);
        quad[18 + j] = (float)(t.mean[j] * per_mass);
    }
}

/* The reference point of a cluster; arbitrary for dead ones, which have no parts. */
PL_INLINE const float* reference(const pl_match_batch* batch, uint32_t c)
{
    bool dead = batch->part_begin[c] == batch->part_begin[c + 1];
    return batch->chunks[dead ? 0 : batch->part[batch->part_begin[c]].chunk].pos_origin;
}

/* F: pl_lever_gradient's, completed for clusters that lack a direction. */
PL_INLINE void complete(const pl_match_batch* batch, const pl_eight* eight, const vf lever[9],
                        vf f[9])
{
    const pl_clusters* k = batch->clusters;
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
        pl_complete_gradient(k->rank[eight->c[i]], k->axis[eight->c[i]], batch->plastic, one);
        for (int j = 0; j < 9; ++j)
            lanes[j][i] = one[j];
    }
    for (int j = 0; j < 9; ++j)
        f[j] = vf_load(lanes[j]);
}

/* cof(F), row-major: the map of area vectors, and the gradient of det F. */
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

/* (1 - beta) R + beta V, with V the volume-preserving map nearest to F for the members: det V = 1
 * and least sum m w |V p - F p|^2. Newton steps along cof(V) A_rr^-1, the direction in which that
 * sum grows least. Mueller scales F by 1 / cbrt(det F), which is not conservative: a free body's
 * energy grew 1,800 times in 3,000 steps at alpha 1.9. R alone where F is flat or inverted. */
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
        /* the rest centre is rounded: subtract the remaining mean of p, which would exert a force
         */
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

/* Distance from a goal that no member reaches; its square is a float. */
#define NO_LIMIT 1e18f

/* The goals of strain limiting: R, x_c, and the largest distance from them. A single member is its
 * cluster's centre except for rounding, which violates no limit. */
PL_INLINE void store_limit(const pl_match_batch* batch, const pl_eight* eight, const vf r[9],
                           const vf s[24])
{
    pl_clusters* k = batch->clusters;
    vf row[16], width = pl_eight_load(eight, k->width_max, 1);
    for (int j = 0; j < 9; ++j)
        row[j] = r[j];
    for (int j = 0; j < 3; ++j)
        row[9 + j] = s[9 + j];
    row[12] =
        vf_mul(vf_set1(batch->gamma), vf_mul(width, pl_eight_load(eight, k->limit_factor, 1)));
    row[12] = vf_select(vf_lt(vf_set1(0), width), row[12], vf_set1(NO_LIMIT));
    row[13] = row[14] = row[15] = vf_set1(0);
    pl_eight_store_rows(eight, k->limit[0], row);
}

/* F + firmness (T - F): affine deformation is resisted more than the rest. */
PL_INLINE void stiffen_linear(float firmness, const vf f[9], vf t[9])
{
    for (int j = 0; j < 9; ++j)
        t[j] = vf_mad(f[j], vf_set1(firmness), vf_sub(t[j], f[j]));
}

static void quadratic_goals(const pl_match_batch* batch, const pl_eight* eight, const vf a[9],
                            const vf f[9], const vf r[9], float quad[8][24], vf t[9])
{
    float al[9][8], fl[9][8], rl[9][8], tl[9][8];
    for (int j = 0; j < 9; ++j)
    {
        vf_store(al[j], a[j]);
        vf_store(fl[j], f[j]);
        vf_store(rl[j], r[j]);
        vf_store(tl[j], t[j]);
    }
    for (int i = 0; i < 8; ++i)
    {
        float a1[9], f1[9], r1[9], t1[9];
        for (int j = 0; j < 9; ++j)
            a1[j] = al[j][i], f1[j] = fl[j][i], r1[j] = rl[j][i], t1[j] = tl[j][i];
        pl_quadratic_fit fit = {a1, f1, batch->bend ? r1 : NULL, quad[i], batch->beta};
        pl_match_quadratic(batch->clusters, eight->c[i], &fit, t1);
        for (int j = 0; j < 9; ++j)
            tl[j][i] = t1[j];
    }
    for (int j = 0; j < 9; ++j)
        t[j] = vf_load(tl[j]);
}

/* Lever arms and inertia for strain limiting, if the substep starts from this fit. */
PL_INLINE void store_lever(const pl_match_batch* batch, const pl_eight* eight, const pl_moments* t,
                           const vd x[3])
{
    pl_clusters* k = batch->clusters;
    vf row[16];
    vm extended = vf_lt(vf_set1(0), pl_eight_load(eight, k->width_max, 1));
    pl_inertia_inverse(t, x, row + PL_LEVER_INVERSE);
    for (int j = 0; j < 6; ++j) /* a single member has no inertia, only rounding */
        row[PL_LEVER_INVERSE + j] = vf_keep(extended, row[PL_LEVER_INVERSE + j]);
    for (int j = 0; j < 3; ++j)
    {
        row[PL_LEVER_REF + j] = pl_eight_load(eight, &k->ref[0][j], 3);
        row[PL_LEVER_X + j] = vd_round(x[j]);
    }
    row[PL_LEVER_MASS] = vd_round(t->m);
    row[13] = row[14] = row[15] = vf_set1(0);
    pl_eight_store_rows(eight, k->lever[batch->lever_side][0], row);
}

/* The moments of eight clusters from their chunks; stored for coarser levels. */
static void sum_eight(const pl_match_batch* batch, const pl_eight* eight, vf s[24],
                      float (*quad)[24])
{
    pl_clusters* k = batch->clusters;
    const float* ref[8];
    pl_moments t;
    vd x[3];
    for (int i = 0; i < 8; ++i)
    {
        ref[i] = reference(batch, eight->c[i]);
        memcpy(k->ref[eight->c[i]], ref[i], sizeof k->ref[0]);
    }
    pl_reduce_moments(batch, eight, ref, batch->gamma > 0 ? PL_WANT_LEVER : PL_WANT_MATCH, &t);
    pl_centre(&t, pl_eight_load(eight, k->fade, 1), s, x);
    if (batch->gamma > 0)
        store_lever(batch, eight, &t, x);
    if (batch->run)
        pl_level_batch_add(batch, eight, &t, s);
    for (int g = 0; g < 3; ++g)
    {
        vf rows[8];
        memcpy(rows, s + 8 * g, sizeof rows);
        vf_transpose(rows);
        for (uint32_t i = 0; i < eight->used; ++i)
            vf_store(k->sums[eight->c[i]] + 8 * g, rows[i]);
    }
    if (!quad)
        return;
    double lanes[3][8];
    for (int j = 0; j < 3; ++j)
        vd_store(lanes[j], x[j]);
    for (int i = 0; i < 8; ++i)
        sum_quadratic_parts(batch, eight->c[i], (double[3]){lanes[0][i], lanes[1][i], lanes[2][i]},
                            quad[i]);
}

/* The rigid goal transform, before its torque is removed: R, or R F^p of a plastic body. With
 * batch->flow the strain over the yield strain first moves to F^p; R is then computed again, so
 * that it depends on F and F^p only. */
PL_INLINE void rotate(const pl_match_batch* batch, const pl_eight* eight, const vf a_xr[9],
                      const vf f[9], vf r[9])
{
    bool moment = batch->rotation == PLIANT_ROTATION_MOMENT;
    if (!batch->plastic)
    {
        pl_rotation8(moment ? a_xr : f, r);
        return;
    }
    vf fp[9], fe[9], turn[9];
    pl_plastic_load(batch->clusters, eight, fp);
    pl_elastic8(f, fp, fe);
    pl_rotation8(fe, turn);
    if (batch->flow && pl_plastic_flow8(batch, eight, fe, turn, fp))
    {
        pl_elastic8(f, fp, fe);
        pl_rotation8(fe, turn);
    }
    if (moment)
    {
        pl_mul33t(a_xr, fp, fe);
        pl_rotation8(fe, turn);
    }
    pl_mul33(turn, fp, r);
}

static void match_eight(const pl_match_batch* batch, const pl_eight* eight)
{
    pl_clusters* k = batch->clusters;
    bool quadratic = batch->goal == PLIANT_GOAL_QUADRATIC && batch->sum_parts;
    float quad[8][24];
    vf s[24], f[9], lever[9], r[9], t[9], inverse[6], tau[3], theta[3], turn[9];
    if (batch->sum_parts)
        sum_eight(batch, eight, s, quadratic ? quad : NULL);
    else
    {
        const float* rows[8];
        for (int i = 0; i < 8; ++i)
            rows[i] = k->sums[eight->c[i]];
        pl_load_rows(rows, 3, s);
    }
    pl_lever_gradient(k, eight, s, lever);
    complete(batch, eight, lever, f);
    rotate(batch, eight, s, f, r);
    if (batch->goal == PLIANT_GOAL_RIGID)
        memcpy(t, r, sizeof t);
    else
    {
        linear_goal(k, eight, f, r, batch->beta, t);
        if (batch->firmness != 1)
            stiffen_linear(batch->firmness, f, t);
    }
    if (quadratic)
        quadratic_goals(batch, eight, s, f, r, quad, t);
    pl_lever_inverse(s, lever, inverse);
    if (batch->rotation != PLIANT_ROTATION_MOMENT || batch->goal != PLIANT_GOAL_RIGID)
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

/* The next eight clusters from *c on. Dead ones (body/edit/edit.h) are skipped: after much
 * reclustering they are a third. Runs have a place for each cluster, so they keep them. */
PL_INLINE bool next_eight(const pl_match_batch* batch, uint32_t* c, pl_eight* eight)
{
    bool all = batch->run || !batch->finest;
    eight->used = 0;
    for (; *c < batch->end && eight->used < 8; ++*c)
        if (all || batch->clusters->fade[*c] > 0)
            eight->c[eight->used++] = *c;
    for (uint32_t i = eight->used; i < 8 && eight->used; ++i)
        eight->c[i] = eight->c[eight->used - 1];
    return eight->used > 0;
}

void PL_K(pl_match)(const pl_match_batch* batch)
{
    pl_eight eight;
    if (batch->run)
        pl_level_batch_clear(batch->run, reference(batch, (batch->begin + batch->end) / 2));
    for (uint32_t c = batch->begin; next_eight(batch, &c, &eight);)
    {
        if (batch->sum_parts)
            pl_prefetch_parts(batch, c);
        match_eight(batch, &eight);
    }
}

void PL_K(pl_match_limit)(const pl_match_batch* batch)
{
    pl_clusters* k = batch->clusters;
    pl_eight eight;
    for (uint32_t c = batch->begin; next_eight(batch, &c, &eight);)
    {
        const float* ref[8];
        pl_moments t;
        vf s[24], f[9], lever[9], r[9];
        vd x[3];
        pl_prefetch_parts(batch, c);
        for (int i = 0; i < 8; ++i)
        {
            ref[i] = reference(batch, eight.c[i]);
            memcpy(k->limit_ref[eight.c[i]], ref[i], sizeof k->limit_ref[0]);
        }
        pl_reduce_moments(batch, &eight, ref, PL_WANT_FIT, &t);
        pl_centre(&t, pl_eight_load(&eight, k->fade, 1), s, x);
        pl_lever_gradient(k, &eight, s, lever);
        complete(batch, &eight, lever, f);
        rotate(batch, &eight, s, f, r);
        store_limit(batch, &eight, r, s);
    }
}
