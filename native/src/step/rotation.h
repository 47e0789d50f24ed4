// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The rotation of a 3x3 matrix, eight matrices at a time.
 *
 * Wanted is the R with det +1 that maximises tr(R^T F): R = U diag(1, 1, det(U V^T)) V^T for
 * F = U diag(s) V^T, so that the smallest singular value carries the sign of det F. The maximum is
 *
 *     l = s1 + s2 + s3,  the largest root of  (l^2 - I1)^2 = 4 (I2 + 2 J l),
 *
 * I1 = tr F^T F, I2 = |cof F|^2, J = det F (Davenport 1968; Horn, "Closed-form solution of absolute
 * orientation using unit quaternions", 1987: the characteristic polynomial of the 4x4 matrix), and
 *
 *     R = dl/dF = ((l^2 - c) F + l cof F - F F^T F) / (l c - J),  c = s1 s2 + s2 s3 + s3 s1.
 *
 * Newton's method on the expanded quartic loses digits with the square of s1 / (s2 + s3) in float.
 * So the root is taken of l = sqrt(I1 + 2 sqrt(I2 + 2 J l)) instead, which is as well conditioned
 * as the rotation is, and nearly linear in l: from the upper bound sqrt(I1 + 2 sqrt(3 I2)) it takes
 * one Newton step. A Newton step on the rotation itself follows, and with it a step towards
 * orthonormality, for the last digits: with S = R^T F, E = R^T R - 1,
 *
 *     R <- R + R ([w]x - E/2),  (tr(S) 1 - S) w = axial(S - S^T).
 *
 * It also certifies the result: where w and E are small and tr(S) 1 - S is clearly positive
 * definite, R is near the maximum and no other critical point. A lane that fails takes up to two
 * more steps, then goes to pl_rotation_repair: inverted and needle-like matrices, zero, numbers out
 * of range.
 */
#ifndef PL_ROTATION_H
#define PL_ROTATION_H

#include "small.h"

#include <stdint.h>

/* The rotations of those lanes of eight matrices (f[8 * entry + lane]) whose bit in "lanes" is set,
 * by a method that always works; the others are left alone. Not a number or infinite: identity. */
void pl_rotation_repair(const float f[72], float r[72], unsigned lanes);

/* Rotations of "count" matrices, a multiple of eight, in blocks of eight: entry k of matrix
 * 8 b + lane is f[72 b + 8 k + lane]; r likewise. "simd" is a path that can run, or AUTO. */
void pl_rotation_batch(uint32_t simd, const float* f, float* r, uint32_t count);

/* The same for pl_rotation8's own use: tries harder with eight lanes before it calls the above. */
void PL_K(pl_rotation_retry)(const float f[72], float r[72], unsigned lanes);

#define PL_ROTATION_PATH(path)                                                                     \
    void pl_rotation_batch_##path(const float* f, float* r, uint32_t count);
#if defined(PL_WITH_SCALAR)
PL_ROTATION_PATH(scalar)
#endif
#if defined(PL_WITH_SSE2)
PL_ROTATION_PATH(sse2)
#endif
#if defined(PL_WITH_AVX2)
PL_ROTATION_PATH(avx2)
#endif
#if defined(PL_WITH_AVX512)
PL_ROTATION_PATH(avx512)
#endif
#if defined(PL_WITH_NEON)
PL_ROTATION_PATH(neon)
#endif
#undef PL_ROTATION_PATH

/* g = f times a power of two that brings the largest entry into [1, 2); exact. False in lanes where
 * the factor would leave the range of float. */
PL_INLINE vm pl_rotation_scale8(const vf f[9], vf g[9])
{
    vf largest = vf_abs(f[0]);
    for (int i = 1; i < 9; ++i)
        largest = vf_max(largest, vf_abs(f[i]));
    vf factor = vf_div(vf_set1(1.0f), vf_pow2(largest));
    for (int i = 0; i < 9; ++i)
        g[i] = vf_mul(f[i], factor);
    return vm_and(vf_lt(vf_set1(0x1p-120f), largest), vf_lt(largest, vf_set1(0x1p120f)));
}

/* What the root and the rotation are made of. */
typedef struct pl_rotation_terms8
{
    vf gram[6], cofactor[9]; /* F^T F and cof F */
    vf i1, i2, j;
} pl_rotation_terms8;

PL_INLINE void pl_rotation_terms8_of(const vf f[9], pl_rotation_terms8* t)
{
    pl_gram8(f, t->gram);
    pl_cofactor8(f, t->cofactor);
    t->i1 = vf_add(vf_add(t->gram[0], t->gram[3]), t->gram[5]);
    t->i2 = vf_mul(t->cofactor[0], t->cofactor[0]);
    for (int i = 1; i < 9; ++i)
        t->i2 = vf_mad(t->i2, t->cofactor[i], t->cofactor[i]);
    t->j = pl_dot3_8(f[0], f[1], f[2], t->cofactor[0], t->cofactor[1], t->cofactor[2]);
}

/* l = sqrt(I1 + 2 sqrt(I2 + 2 J l)) by so many Newton steps; c would have to be negative where F is
 * strongly inverted, and then this is not the root. */
PL_INLINE vf pl_rotation_root8(const pl_rotation_terms8* t, int steps)
{
    vf c = vf_sqrt(vf_mul(vf_set1(3.0f), t->i2));
    vf l = vf_sqrt(vf_add(t->i1, vf_add(c, c)));
    for (int i = 0; i < steps; ++i)
    {
        c = vf_sqrt(vf_max(vf_mad(t->i2, vf_add(t->j, t->j), l), vf_set1(0.0f)));
        vf p = vf_sqrt(vf_add(t->i1, vf_add(c, c)));
        vf pc = vf_mul(p, c);
        l = vf_sub(l, vf_mul(vf_sub(l, p), vf_div(pc, vf_sub(pc, t->j))));
    }
    return l;
}

/* R = dl/dF. An error of l makes an E that commutes with S, but no w. */
PL_INLINE void pl_rotation_at8(const vf f[9], const pl_rotation_terms8* t, vf l, vf r[9])
{
    vf cubic[9];
    vf l2 = vf_mul(l, l);
    vf c = vf_mul(vf_set1(0.5f), vf_sub(l2, t->i1));
    vf factor = vf_div(vf_set1(1.0f), vf_sub(vf_mul(l, c), t->j));
    vf linear = vf_mul(vf_sub(l2, c), factor);
    vf quadratic = vf_mul(l, factor);
    pl_mul_sym8(f, t->gram, cubic);
    for (int i = 0; i < 9; ++i)
        r[i] = vf_sub(vf_mad(vf_mul(linear, f[i]), quadratic, t->cofactor[i]),
                      vf_mul(factor, cubic[i]));
}

/* One Newton step on r; true where it was so small that nothing is left to gain. */
PL_INLINE vm pl_rotation_polish8(const vf f[9], vf r[9])
{
    const vf half = vf_set1(0.5f);
    vf s[9], e[6], w[3];
    pl_mul_tn8(r, f, s);
    vf ax = vf_sub(s[7], s[5]), ay = vf_sub(s[2], s[6]), az = vf_sub(s[3], s[1]);

    /* h = tr(S) 1 - S, its adjugate (symmetric), its determinant */
    vf hxx = vf_add(s[4], s[8]), hyy = vf_add(s[0], s[8]), hzz = vf_add(s[0], s[4]);
    vf nxy = vf_mul(half, vf_add(s[1], s[3])); /* minus h's */
    vf nxz = vf_mul(half, vf_add(s[2], s[6])), nyz = vf_mul(half, vf_add(s[5], s[7]));
    vf cxx = pl_minor8(hyy, hzz, nyz, nyz), cyy = pl_minor8(hxx, hzz, nxz, nxz);
    vf czz = pl_minor8(hxx, hyy, nxy, nxy);
    vf cxy = vf_mad(vf_mul(nxz, nyz), nxy, hzz), cxz = vf_mad(vf_mul(nxy, nyz), nxz, hyy);
    vf cyz = vf_mad(vf_mul(nxy, nxz), nyz, hxx);
    vf det = vf_sub(vf_mul(hxx, cxx), vf_mad(vf_mul(nxy, cxy), nxz, cxz));
    vf factor = vf_div(vf_set1(1.0f), det);
    w[0] = vf_mul(factor, pl_dot3_8(cxx, cxy, cxz, ax, ay, az));
    w[1] = vf_mul(factor, pl_dot3_8(cxy, cyy, cyz, ax, ay, az));
    w[2] = vf_mul(factor, pl_dot3_8(cxz, cyz, czz, ax, ay, az));

    /* m = [w]x - E/2 */
    pl_gram8(r, e);
    vf exx = vf_sub(half, vf_mul(half, e[0])), eyy = vf_sub(half, vf_mul(half, e[3]));
    vf ezz = vf_sub(half, vf_mul(half, e[5]));
    vf exy = vf_mul(half, e[1]), exz = vf_mul(half, e[2]), eyz = vf_mul(half, e[4]);
    const vf m[9] = {exx, vf_neg(vf_add(w[2], exy)), vf_sub(w[1], exz),         vf_sub(w[2], exy),
                     eyy, vf_neg(vf_add(w[0], eyz)), vf_neg(vf_add(w[1], exz)), vf_sub(w[0], eyz),
                     ezz};
    vf change[9];
    pl_mul8(r, m, change);
    for (int i = 0; i < 9; ++i)
        r[i] = vf_add(r[i], change[i]);

    vf largest = vf_abs(m[0]);
    for (int i = 1; i < 9; ++i)
        largest = vf_max(vf_abs(m[i]), largest);
    vf trace = vf_add(hxx, hzz);
    vf bound = vf_mul(vf_set1(3e-5f), vf_mul(vf_mul(trace, trace), trace));
    vm definite = vm_and(vf_lt(vf_set1(0.0f), hxx), vf_lt(vf_set1(0.0f), czz));
    vm small = vm_and(vf_lt(largest, vf_set1(0x1p-12f)), vf_lt(bound, det));
    return vm_and(definite, small);
}

/* r = the rotation of f, for any finite f. The identity for zero. */
PL_INLINE void pl_rotation8(const vf f[9], vf r[9])
{
    vf g[9];
    pl_rotation_terms8 terms;
    vm in_range = pl_rotation_scale8(f, g);
    pl_rotation_terms8_of(g, &terms);
    pl_rotation_at8(g, &terms, pl_rotation_root8(&terms, 1), r);
    unsigned done = vm_bits(vm_and(pl_rotation_polish8(g, r), in_range));
    if (__builtin_expect(done != 0xff, 0))
    {
        float matrix[72], rotation[72];
        for (int i = 0; i < 9; ++i)
        {
            vf_store(matrix + 8 * i, f[i]);
            vf_store(rotation + 8 * i, r[i]);
        }
        PL_K(pl_rotation_retry)(matrix, rotation, ~done & 0xffu);
        for (int i = 0; i < 9; ++i)
            r[i] = vf_load(rotation + 8 * i);
    }
}

#endif
