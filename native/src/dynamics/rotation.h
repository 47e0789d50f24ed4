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
 * The root has a closed form: s1^2 is the largest eigenvalue of F^T F, by the trigonometric formula
 * for a cubic, and (s2 + s3)^2 = I1 - s1^2 + 2 J / s1. It serves both signs of J, and the error of
 * s1, which is large where s1 and s2 are equal, hardly matters there:
 *
 *     dl/ds1 = -(s1 - s2) (s1 - s3) / (s1 (s2 + s3)).
 *
 * The remaining error scales R slightly. A Newton step on the rotation, combined with a step
 * towards orthonormality, gives full accuracy: with S = R^T F, E = R^T R - 1,
 *
 *     R <- R + R ([w]x - E/2),  (tr(S) 1 - S) w = axial(Z - Z^T),  Z = (1 - E/2) S.
 *
 * With S instead of Z, an E that does not commute with S would cause a rotation of the size
 * E s1 / (s2 + s3). The step also certifies the result: where w and E are small and tr(S) 1 - S is
 * clearly positive definite, R is near the maximum and no other critical point. A lane that fails
 * (needle-like, or inverted with s2 + s3 near zero) gets a better root and more steps. If it still
 * fails (needles, zero, numbers out of range), pl_rotation_repair takes over.
 */
#ifndef PL_DYNAMICS_ROTATION_H
#define PL_DYNAMICS_ROTATION_H

#include "base/simd_dispatch.h"
#include "base/simd_mat3.h"

#include <stdint.h>

/* The rotations of those of eight matrices (f[8 * entry + lane]) whose bit in "lanes" is set, by a
 * robust method; other lanes of r do not change. NaN or infinite entries: identity. */
void pl_rotation_repair(const float f[72], float r[72], unsigned lanes);

/* Rotations of "count" matrices, a multiple of eight, in blocks of eight: entry k of matrix
 * 8 b + lane is f[72 b + 8 k + lane]; r likewise. "simd" is a path that can run, or AUTO. */
void pl_rotation_batch(uint32_t simd, const float* f, float* r, uint32_t count);

/* The same, for pl_rotation8: more steps with eight lanes before it calls pl_rotation_repair. */
void PL_K(pl_rotation_retry)(const float f[72], float r[72], unsigned lanes);

#define PL_ROTATION_PATH(name, path, simd)                                                         \
    void name##_##path(const float* f, float* r, uint32_t count);
PL_ROTATION_PATH(pl_rotation_batch, scalar, )
PL_WIDE_PATHS(PL_ROTATION_PATH, pl_rotation_batch)
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

/* Terms of the root and of the rotation. */
typedef struct pl_rotation_terms8
{
    vf gram[6], cofactor[9]; /* F^T F and cof F */
    vf i1, j;
} pl_rotation_terms8;

PL_INLINE void pl_rotation_terms8_of(const vf f[9], pl_rotation_terms8* t)
{
    pl_gram8(f, t->gram);
    pl_cofactor8(f, t->cofactor);
    t->i1 = vf_add(vf_add(t->gram[0], t->gram[3]), t->gram[5]);
    t->j = pl_dot3_8(f[0], f[1], f[2], t->cofactor[0], t->cofactor[1], t->cofactor[2]);
}

/* cos(2/3 acos(y)) for y in [0, 1], within 2e-7. */
PL_INLINE vf pl_rotation_third8(vf y)
{
    vf y2 = vf_mul(y, y);
    vf low = vf_mad(vf_set1(0.50000019f), vf_set1(0.5773319f), y);
    vf middle = vf_mad(vf_set1(-0.11080547f), vf_set1(0.05147476f), y);
    vf high = vf_mad(vf_set1(-0.02639975f), vf_set1(0.01050175f), y);
    high = vf_mad(high, vf_set1(-0.00210349f), y2);
    return vf_mad(vf_mad(low, middle, y2), high, vf_mul(y2, y2));
}

/* l = s1 + (s2 + s3). With m the mean of the eigenvalues of F^T F and B = F^T F - m 1, the largest
 * is m + 2 p cos(acos(det B / (2 p^3)) / 3), p^2 = |B|^2 / 6. */
PL_INLINE vf pl_rotation_root8(const pl_rotation_terms8* t)
{
    const vf zero = vf_set1(0.0f), half = vf_set1(0.5f), third = vf_set1(1.0f / 3.0f);
    const vf* g = t->gram;
    vf mean = vf_mul(t->i1, third);
    vf x = vf_sub(g[0], mean), y = vf_sub(g[3], mean), z = vf_sub(g[5], mean);
    vf xy2 = vf_mul(g[1], g[1]), xz2 = vf_mul(g[2], g[2]), yz2 = vf_mul(g[4], g[4]);
    vf off = vf_add(vf_add(xy2, xz2), yz2);
    vf p2 = vf_mul(third, vf_mad(off, half, pl_dot3_8(x, y, z, x, y, z))), p = vf_sqrt(p2);
    vf det = vf_sub(vf_mad(vf_mul(vf_mul(x, y), z), vf_mul(g[1], g[2]), vf_add(g[4], g[4])),
                    pl_dot3_8(x, y, z, yz2, xz2, xy2));
    vf cubed = vf_max(vf_mul(p2, p), vf_set1(0x1p-100f));
    /* cos^2 of half the angle: cos of a third is smooth in its root, but not in the angle's cosine
     */
    vf square = vf_mad(half, vf_set1(0.25f), vf_div(det, cubed));
    square = vf_min(vf_max(square, zero), vf_set1(1.0f));
    vf deviation = vf_mul(p, pl_rotation_third8(vf_sqrt(square)));
    vf s1 = vf_sqrt(vf_add(mean, vf_add(deviation, deviation)));
    vf others = vf_add(vf_sub(mean, deviation), vf_div(t->j, s1));
    return vf_add(s1, vf_sqrt(vf_max(vf_add(others, others), zero)));
}

/* R = dl/dF. An error of l causes an E that commutes with S, but no w. */
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

/* One Newton step on r; true where it was small enough to certify r. */
PL_INLINE vm pl_rotation_polish8(const vf f[9], vf r[9])
{
    const vf half = vf_set1(0.5f);
    vf s[9], e[6], w[3];
    pl_mul_tn8(r, f, s);

    /* minus E/2; the entries off its diagonal are plus */
    pl_gram8(r, e);
    vf exx = vf_sub(half, vf_mul(half, e[0])), eyy = vf_sub(half, vf_mul(half, e[3]));
    vf ezz = vf_sub(half, vf_mul(half, e[5]));
    vf exy = vf_mul(half, e[1]), exz = vf_mul(half, e[2]), eyz = vf_mul(half, e[4]);

    /* axial(Z - Z^T): of S and of -E/2 S */
    vf ax = vf_sub(pl_dot3_8(ezz, exy, eyz, s[7], s[2], s[8]),
                   pl_dot3_8(eyy, exz, eyz, s[5], s[1], s[4]));
    vf ay = vf_sub(pl_dot3_8(exx, exz, eyz, s[2], s[0], s[3]),
                   pl_dot3_8(ezz, exy, exz, s[6], s[5], s[8]));
    vf az = vf_sub(pl_dot3_8(eyy, exz, exy, s[3], s[7], s[4]),
                   pl_dot3_8(exx, exy, eyz, s[1], s[0], s[6]));
    ax = vf_add(vf_sub(s[7], s[5]), ax);
    ay = vf_add(vf_sub(s[2], s[6]), ay);
    az = vf_add(vf_sub(s[3], s[1]), az);

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
    pl_rotation_at8(g, &terms, pl_rotation_root8(&terms), r);
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
