// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Plastic flow, eight clusters at a time (for *.simd.c).
 *
 * Falkenstein 2017, "Reclustering for Large Plasticity in Clustered Shape Matching", 2.24 to 2.31,
 * after Irving et al. 2004: F = F^e F^p, F^e = R S. Where the volume-preserving part of the stretch
 * S is over the yield strain, a part of it moves from F^e to F^p:
 *
 *   s = S / cbrt(det S),  n = |s - 1|,  y = max(0, yield + K a),  F^p <- V diag(s^e) V^T F^p.
 *
 * V diag(s^e) V^T, not diag(s^e) V^T as printed, which rotates the frame. So det F^p
 * stays 1, and R is the rotation of F^e before and after.
 *
 * Departures. The strain over the yield decays by dn/dt = -nu (n - y), solved exactly:
 *
 *   e = (1 - exp(-nu dt)) (n - y) / n.
 *
 * 1 - exp(-nu dt (n - y) / n) would overshoot the yield strain where nu dt is large. The hardening
 * variable a is the sum of e |log s|: logarithms add up independently of the substeps.
 */
#ifndef PL_PLASTICITY_PLASTIC_H
#define PL_PLASTICITY_PLASTIC_H

#include "dynamics/match.h"
#include "dynamics/rotation.h"

/* The natural logarithm of a positive normal number; relative or absolute error about 2e-7. */
PL_INLINE vf pl_log8(vf a)
{
    const vf one = vf_set1(1);
    vf power = vf_pow2(a), part = vf_div(a, power);
    vf exponent = vf_sub(vf_mul(vf_bits_to_number(power), vf_set1(0x1p-23f)), vf_set1(127));
    vm upper = vf_lt(vf_set1(1.41421356f), part);
    part = vf_select(upper, vf_mul(part, vf_set1(.5f)), part);
    exponent = vf_select(upper, vf_add(exponent, one), exponent);
    vf s = vf_div(vf_sub(part, one), vf_add(part, one)), q = vf_mul(s, s);
    vf series = vf_mad(vf_set1(1.0f / 7), q, vf_set1(1.0f / 9));
    series = vf_mad(vf_set1(1.0f / 5), q, series);
    series = vf_mad(vf_set1(1.0f / 3), q, series);
    series = vf_mad(one, q, series);
    series = vf_mul(vf_add(s, s), series);
    return vf_mad(series, exponent, vf_set1(.693147181f));
}

/* exp(a) for a in [-80, 80]; outside it is clamped. */
PL_INLINE vf pl_exp8(vf a)
{
    const vf magic = vf_set1(12582912.0f); /* 1.5 * 2^23: adding it rounds to an integer */
    a = vf_max(vf_min(a, vf_set1(80)), vf_set1(-80));
    vf k = vf_sub(vf_mad(magic, a, vf_set1(1.44269504f)), magic);
    vf r = vf_sub(vf_sub(a, vf_mul(k, vf_set1(.693359375f))), vf_mul(k, vf_set1(-2.12194440e-4f)));
    vf series = vf_mad(vf_set1(1.0f / 120), r, vf_set1(1.0f / 720));
    series = vf_mad(vf_set1(1.0f / 24), r, series);
    series = vf_mad(vf_set1(1.0f / 6), r, series);
    series = vf_mad(vf_set1(.5f), r, series);
    series = vf_mad(vf_set1(1), r, series);
    series = vf_mad(vf_set1(1), r, series);
    vf power = vf_number_to_bits(vf_mul(vf_add(k, vf_set1(127)), vf_set1(0x1p23f)));
    return vf_mul(series, power);
}

/* A Jacobi rotation of columns p and q: entry pq of the symmetric s becomes 0; also applied to v.
 */
PL_INLINE void pl_jacobi8(vf s[9], vf v[9], int p, int q)
{
    const vf one = vf_set1(1), zero = vf_set1(0);
    int r = 3 - p - q;
    vf off = s[3 * p + q], gap = vf_sub(s[4 * q], s[4 * p]);
    /* t = tan of the angle, the smaller root of t^2 + 2 theta t - 1, without dividing by off */
    vf twice = vf_add(off, off);
    vf root = vf_sqrt(vf_mad(vf_mul(gap, gap), twice, twice));
    vm back = vf_lt(gap, zero);
    vf below = vf_add(vf_abs(gap), root);
    vm there = vf_lt(zero, below);
    vf t =
        vf_keep(there, vf_div(vf_select(back, vf_neg(twice), twice), vf_select(there, below, one)));
    vf c = vf_div(one, vf_sqrt(vf_mad(one, t, t))), w = vf_mul(t, c);
    vf shift = vf_mul(t, off), rp = s[3 * r + p], rq = s[3 * r + q];
    s[4 * p] = vf_sub(s[4 * p], shift);
    s[4 * q] = vf_add(s[4 * q], shift);
    s[3 * p + q] = s[3 * q + p] = zero;
    s[3 * r + p] = s[3 * p + r] = vf_sub(vf_mul(c, rp), vf_mul(w, rq));
    s[3 * r + q] = s[3 * q + r] = vf_mad(vf_mul(w, rp), c, rq);
    for (int i = 0; i < 3; ++i)
    {
        vf a = v[3 * i + p], b = v[3 * i + q];
        v[3 * i + p] = vf_sub(vf_mul(c, a), vf_mul(w, b));
        v[3 * i + q] = vf_mad(vf_mul(w, a), c, b);
    }
}

/* Eigenvalues and eigenvectors (columns) of a symmetric matrix by Jacobi's method. Four sweeps
 * converge to rounding. */
PL_INLINE void pl_eigen8(const vf symmetric[9], vf value[3], vf v[9])
{
    vf s[9];
    for (int i = 0; i < 9; ++i)
    {
        s[i] = symmetric[i];
        v[i] = vf_set1(i % 4 ? 0.0f : 1.0f);
    }
    for (int sweep = 0; sweep < 4; ++sweep)
    {
        pl_jacobi8(s, v, 0, 1);
        pl_jacobi8(s, v, 0, 2);
        pl_jacobi8(s, v, 1, 2);
    }
    for (int k = 0; k < 3; ++k)
        value[k] = s[4 * k];
}

/* F^e = F (F^p)^-1 */
PL_INLINE void pl_elastic8(const vf f[9], const vf fp[9], vf fe[9])
{
    vf inverse[9];
    pl_inverse8(fp, inverse);
    pl_mul33(f, inverse, fe);
}

PL_INLINE void pl_plastic_load(const pl_clusters* k, const pl_eight* eight, vf fp[9])
{
    for (int j = 0; j < 9; ++j)
        fp[j] = pl_eight_load(eight, &k->fp[0][j], 9);
}

/* |s_p - 1| with the stretches s_p of F^p, from the sum of squares |F^p|^2 and the sum l. */
PL_INLINE vf pl_plastic_size8(const vf fp[9])
{
    vf r[9], square = vf_set1(3), sum = vf_set1(0);
    pl_rotation8(fp, r);
    for (int j = 0; j < 9; ++j)
    {
        square = vf_mad(square, fp[j], fp[j]);
        sum = vf_mad(sum, fp[j], r[j]);
    }
    return vf_sqrt(vf_max(vf_sub(square, vf_add(sum, sum)), vf_set1(0)));
}

/* fp <- V diag(exp(amount log s)) V^T fp, normalised to det 1. */
PL_INLINE void pl_plastic_push8(const vf v[9], const vf log_s[3], vf amount, vf fp[9])
{
    vf scaled[9], g[9], out[9];
    for (int j = 0; j < 3; ++j)
    {
        vf factor = pl_exp8(vf_mul(amount, log_s[j]));
        for (int i = 0; i < 3; ++i)
            scaled[3 * i + j] = vf_mul(v[3 * i + j], factor);
    }
    pl_mul33t(scaled, v, g);
    pl_mul33(g, fp, out);
    vf fix = vf_sub(vf_set1(4.0f / 3), vf_mul(pl_det8(out), vf_set1(1.0f / 3)));
    for (int j = 0; j < 9; ++j)
        fp[j] = vf_mul(out[j], fix);
}

/* The amount of flow, reduced so that F^p does not exceed the limit. */
PL_INLINE vf pl_plastic_cap8(const vf v[9], const vf log_s[3], vf amount, float limit,
                             const vf fp[9])
{
    vf next[9], most = vf_set1(limit);
    memcpy(next, fp, sizeof next);
    pl_plastic_push8(v, log_s, amount, next);
    vf before = pl_plastic_size8(fp), after = pl_plastic_size8(next);
    vm over = vm_and(vf_lt(most, after), vf_lt(before, after));
    vf room = vf_max(vf_sub(most, before), vf_set1(0));
    vf share = vf_div(room, vf_select(over, vf_sub(after, before), vf_set1(1)));
    return vf_select(over, vf_mul(amount, share), amount);
}

/* One substep of flow. True if any of the eight flowed; then fp is updated and stored. */
PL_INLINE bool pl_plastic_flow8(const pl_match_batch* batch, const pl_eight* eight, const vf fe[9],
                                const vf r[9], vf fp[9])
{
    const vf zero = vf_set1(0), one = vf_set1(1), half = vf_set1(.5f);
    pl_clusters* k = batch->clusters;
    vf s[9], size2 = zero;
    pl_mul_tn8(r, fe, s);
    s[1] = s[3] = vf_mul(half, vf_add(s[1], s[3]));
    s[2] = s[6] = vf_mul(half, vf_add(s[2], s[6]));
    s[5] = s[7] = vf_mul(half, vf_add(s[5], s[7]));
    vf strain = pl_eight_load(eight, k->plastic_strain, 1);
    vf yield = vf_mul(vf_set1(batch->yield), pl_eight_load(eight, k->yield_factor, 1));
    vf harden = vf_mul(vf_set1(batch->hardening), pl_eight_load(eight, k->hardening_factor, 1));
    yield = vf_max(vf_mad(yield, harden, strain), zero);

    vf cube = vf_cbrt8(pl_det8(s));
    vm sound = vf_lt(vf_set1(1e-4f), cube); /* neither flat nor inside out */
    vf per_cube = vf_div(one, vf_select(sound, cube, one));
    for (int j = 0; j < 9; ++j)
    {
        vf d = vf_sub(vf_mul(s[j], per_cube), j % 4 ? zero : one);
        size2 = vf_mad(size2, d, d);
    }
    vf size = vf_sqrt(size2);
    vf energy = vf_mul(pl_eight_load(eight, k->mass, 1), size2);
    pl_eight_store(eight, &k->energy[0][0], 3, energy);
    pl_eight_store(eight, &k->energy[0][1], 3, zero);
    pl_eight_store(eight, &k->energy[0][2], 3, yield);
    vm flows = vm_and(sound, vf_lt(yield, size));
    if (!vm_bits(flows))
        return false;

    vf value[3], v[9], log_s[3], length2 = zero;
    pl_eigen8(s, value, v);
    for (int j = 0; j < 3; ++j)
    {
        vm apart = vf_lt(vf_set1(1e-4f), value[j]);
        flows = vm_and(flows, apart);
        log_s[j] = pl_log8(vf_select(apart, value[j], one));
    }
    vf mean = vf_mul(vf_add(vf_add(log_s[0], log_s[1]), log_s[2]), vf_set1(1.0f / 3));
    for (int j = 0; j < 3; ++j)
    {
        log_s[j] = vf_sub(log_s[j], mean);
        length2 = vf_mad(length2, log_s[j], log_s[j]);
    }
    vf over = vf_div(vf_sub(size, yield), vf_select(flows, size, one));
    vf rate = pl_eight_load(eight, k->flow_share, 1), amount = vf_mul(rate, over);
    if (batch->plastic_limit > 0)
        amount = pl_plastic_cap8(v, log_s, amount, batch->plastic_limit, fp);
    amount = vf_keep(flows, vf_min(amount, one));
    vf next[9];
    memcpy(next, fp, sizeof next);
    pl_plastic_push8(v, log_s, amount, next);
    flows = vm_and(flows, vf_lt(zero, amount));
    for (int j = 0; j < 9; ++j)
    {
        fp[j] = vf_select(flows, next[j], fp[j]);
        pl_eight_store(eight, &k->fp[0][j], 9, fp[j]);
    }
    pl_eight_store(eight, &k->energy[0][1], 3, vf_keep(flows, vf_mul(energy, rate)));
    strain = vf_mad(strain, amount, vf_sqrt(length2));
    pl_eight_store(eight, k->plastic_strain, 1, strain);
    return vm_bits(flows) != 0;
}

#endif
