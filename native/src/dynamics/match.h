// SPDX-License-Identifier: GPL-3.0-or-later
/* Lane algebra shared by matching and strain limiting (for *.simd.c). Matrices are row-major arrays
 * of nine vectors of eight lanes. */
#ifndef PL_DYNAMICS_MATCH_H
#define PL_DYNAMICS_MATCH_H

#include "dynamics/kernels.h"

/* Eight clusters: the last one is repeated where the run ends. */
typedef struct pl_eight
{
    uint32_t c[8];
    uint32_t used;
} pl_eight;

PL_INLINE pl_eight pl_eight_from(uint32_t begin, uint32_t end)
{
    pl_eight eight;
    eight.used = PL_MIN(8u, end - begin);
    for (uint32_t i = 0; i < 8; ++i)
        eight.c[i] = PL_MIN(begin + i, end - 1);
    return eight;
}

/* base[c * stride + offset] of the eight clusters. */
PL_INLINE vf pl_eight_load(const pl_eight* eight, const float* base, size_t stride)
{
    float lane[8];
    for (int i = 0; i < 8; ++i)
        lane[i] = base[eight->c[i] * stride];
    return vf_load(lane);
}

PL_INLINE void pl_eight_store(const pl_eight* eight, float* base, size_t stride, vf value)
{
    float lane[8];
    vf_store(lane, value);
    for (uint32_t i = 0; i < eight->used; ++i)
        base[eight->c[i] * stride] = lane[i];
}

/* Stores rows of 16 floats of the eight clusters; "row" is transposed in place. */
PL_INLINE void pl_eight_store_rows(const pl_eight* eight, float* base, vf row[16])
{
    vf_transpose(row);
    vf_transpose(row + 8);
    for (uint32_t i = 0; i < eight->used; ++i)
    {
        vf_store(base + (size_t)16 * eight->c[i], row[i]);
        vf_store(base + (size_t)16 * eight->c[i] + 8, row[8 + i]);
    }
}

/* The same for consecutive rows. */
PL_INLINE void pl_level_batch_store_rows(uint32_t begin, uint32_t used, float* base, vf row[16])
{
    vf_transpose(row);
    vf_transpose(row + 8);
    for (uint32_t i = 0; i < used; ++i)
    {
        vf_store(base + (size_t)16 * (begin + i), row[i]);
        vf_store(base + (size_t)16 * (begin + i) + 8, row[8 + i]);
    }
}

/* out = a b */
PL_INLINE void pl_mul33(const vf a[9], const vf b[9], vf out[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[3 * i + j] = vf_mad(vf_mad(vf_mul(a[3 * i], b[j]), a[3 * i + 1], b[3 + j]),
                                    a[3 * i + 2], b[6 + j]);
}

/* out = a b^T */
PL_INLINE void pl_mul33t(const vf a[9], const vf b[9], vf out[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[3 * i + j] = vf_mad(vf_mad(vf_mul(a[3 * i], b[3 * j]), a[3 * i + 1], b[3 * j + 1]),
                                    a[3 * i + 2], b[3 * j + 2]);
}

PL_INLINE void pl_cross3(const vf a[3], const vf b[3], vf out[3])
{
    out[0] = vf_sub(vf_mul(a[1], b[2]), vf_mul(a[2], b[1]));
    out[1] = vf_sub(vf_mul(a[2], b[0]), vf_mul(a[0], b[2]));
    out[2] = vf_sub(vf_mul(a[0], b[1]), vf_mul(a[1], b[0]));
}

/* sum += arm x impulse */
PL_INLINE void pl_add_moment(const vf arm[3], const vf impulse[3], vf sum[3])
{
    vf moment[3];
    pl_cross3(arm, impulse, moment);
    for (int k = 0; k < 3; ++k)
        sum[k] = vf_add(sum[k], moment[k]);
}

/* out = [w]x f, column by column */
PL_INLINE void pl_spin33(const vf w[3], const vf f[9], vf out[9])
{
    for (int j = 0; j < 3; ++j)
    {
        out[j] = vf_sub(vf_mul(w[1], f[6 + j]), vf_mul(w[2], f[3 + j]));
        out[3 + j] = vf_sub(vf_mul(w[2], f[j]), vf_mul(w[0], f[6 + j]));
        out[6 + j] = vf_sub(vf_mul(w[0], f[3 + j]), vf_mul(w[1], f[j]));
    }
}

/* A_xr A_rr^-1, not completed where a cluster lacks a direction (degenerate.c). Lever arms need
 * this F: A_xr F^T is then symmetric, also for clusters that are thin but not flat. */
PL_INLINE void pl_lever_gradient(const pl_clusters* k, const pl_eight* eight, const vf a_xr[9],
                                 vf f[9])
{
    vf s[6];
    for (int j = 0; j < 6; ++j)
        s[j] = pl_eight_load(eight, &k->arr_inv[0][j], 6);
    vf inverse[9] = {s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2]};
    pl_mul33(a_xr, inverse, f);
}

/* The map from an angular impulse to a rotation of the lever arms F p: the inverse of tr(K) I - K
 * with K = A_xr F^T, F from pl_lever_gradient. It is singular for needles, which get a small term
 * on the diagonal; a single point gets 0. inverse: xx yy zz xy yz zx. */
PL_INLINE void pl_lever_inverse(const vf a_xr[9], const vf f[9], vf inverse[6])
{
    vf k[9], half = vf_set1(.5f);
    pl_mul33t(a_xr, f, k);
    vf trace = vf_add(vf_add(k[0], k[4]), k[8]);
    vm none = vf_le(trace, vf_set1(0));
    trace = vf_select(none, vf_set1(1), trace);
    vf scale = vf_div(vf_set1(1), trace);
    /* normalised to trace 1, so that the determinant stays in range */
    vf xx = vf_mul(vf_add(k[4], k[8]), scale), yy = vf_mul(vf_add(k[0], k[8]), scale);
    vf zz = vf_mul(vf_add(k[0], k[4]), scale);
    vf xy = vf_neg(vf_mul(vf_mul(half, vf_add(k[1], k[3])), scale));
    vf yz = vf_neg(vf_mul(vf_mul(half, vf_add(k[5], k[7])), scale));
    vf zx = vf_neg(vf_mul(vf_mul(half, vf_add(k[6], k[2])), scale));
    vf c0 = vf_sub(vf_mul(yy, zz), vf_mul(yz, yz)), c3 = vf_sub(vf_mul(yz, zx), vf_mul(xy, zz));
    vf c5 = vf_sub(vf_mul(xy, yz), vf_mul(yy, zx));
    vf det = vf_mad(vf_mad(vf_mul(xx, c0), xy, c3), zx, c5);
    vm thin = vf_lt(det, vf_set1(1e-5f));
    vf more = vf_keep(thin, vf_set1(1e-4f));
    xx = vf_add(xx, more), yy = vf_add(yy, more), zz = vf_add(zz, more);
    c0 = vf_sub(vf_mul(yy, zz), vf_mul(yz, yz));
    c3 = vf_sub(vf_mul(yz, zx), vf_mul(xy, zz));
    c5 = vf_sub(vf_mul(xy, yz), vf_mul(yy, zx));
    det = vf_mad(vf_mad(vf_mul(xx, c0), xy, c3), zx, c5);
    none = vm_or(none, vf_le(det, vf_set1(1e-12f)));
    vf factor = vf_div(scale, vf_select(none, vf_set1(1), det));
    inverse[0] = vf_mul(c0, factor);
    inverse[1] = vf_mul(vf_sub(vf_mul(xx, zz), vf_mul(zx, zx)), factor);
    inverse[2] = vf_mul(vf_sub(vf_mul(xx, yy), vf_mul(xy, xy)), factor);
    inverse[3] = vf_mul(c3, factor);
    inverse[4] = vf_mul(vf_sub(vf_mul(xy, zx), vf_mul(xx, yz)), factor);
    inverse[5] = vf_mul(c5, factor);
    for (int i = 0; i < 6; ++i)
        inverse[i] = vf_select(none, vf_set1(0), inverse[i]);
}

PL_INLINE void pl_symmetric_mulv(const vf s[6], const vf v[3], vf out[3])
{
    out[0] = vf_mad(vf_mad(vf_mul(s[0], v[0]), s[3], v[1]), s[5], v[2]);
    out[1] = vf_mad(vf_mad(vf_mul(s[3], v[0]), s[1], v[1]), s[4], v[2]);
    out[2] = vf_mad(vf_mad(vf_mul(s[5], v[0]), s[4], v[1]), s[2], v[2]);
}

#endif
