// SPDX-License-Identifier: GPL-3.0-or-later
/* Eight 3x3 matrices at a time, one in each lane. A matrix is nine lane values, row-major; a
 * symmetric one is six: xx xy xz yy yz zz. Outputs may not alias inputs. For kernels (*.simd.c). */
#ifndef PL_BASE_SIMD_MAT3_H
#define PL_BASE_SIMD_MAT3_H

#include "base/simd.h"

PL_INLINE vf pl_dot3_8(vf ax, vf ay, vf az, vf bx, vf by, vf bz)
{
    return vf_add(vf_add(vf_mul(ax, bx), vf_mul(ay, by)), vf_mul(az, bz));
}

/* a b - c d */
PL_INLINE vf pl_minor8(vf a, vf b, vf c, vf d)
{
    return vf_sub(vf_mul(a, b), vf_mul(c, d));
}

/* out = a b */
PL_INLINE void pl_mul8(const vf a[9], const vf b[9], vf out[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[3 * i + j] =
                pl_dot3_8(a[3 * i], a[3 * i + 1], a[3 * i + 2], b[j], b[3 + j], b[6 + j]);
}

/* out = a^T b */
PL_INLINE void pl_mul_tn8(const vf a[9], const vf b[9], vf out[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[3 * i + j] = pl_dot3_8(a[i], a[3 + i], a[6 + i], b[j], b[3 + j], b[6 + j]);
}

/* out = a b^T */
PL_INLINE void pl_mul_nt8(const vf a[9], const vf b[9], vf out[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[3 * i + j] = pl_dot3_8(a[3 * i], a[3 * i + 1], a[3 * i + 2], b[3 * j], b[3 * j + 1],
                                       b[3 * j + 2]);
}

/* out = a s, s symmetric */
PL_INLINE void pl_mul_sym8(const vf a[9], const vf s[6], vf out[9])
{
    const vf full[9] = {s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]};
    pl_mul8(a, full, out);
}

/* out = a^T a, symmetric */
PL_INLINE void pl_gram8(const vf a[9], vf out[6])
{
    for (int i = 0, n = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j)
            out[n++] = pl_dot3_8(a[i], a[3 + i], a[6 + i], a[j], a[3 + j], a[6 + j]);
}

/* out = a v */
PL_INLINE void pl_mulv8(const vf a[9], const vf v[3], vf out[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = pl_dot3_8(a[3 * i], a[3 * i + 1], a[3 * i + 2], v[0], v[1], v[2]);
}

/* out = det(a) a^-T, for singular a too */
PL_INLINE void pl_cofactor8(const vf a[9], vf out[9])
{
    out[0] = pl_minor8(a[4], a[8], a[5], a[7]);
    out[1] = pl_minor8(a[5], a[6], a[3], a[8]);
    out[2] = pl_minor8(a[3], a[7], a[4], a[6]);
    out[3] = pl_minor8(a[2], a[7], a[1], a[8]);
    out[4] = pl_minor8(a[0], a[8], a[2], a[6]);
    out[5] = pl_minor8(a[1], a[6], a[0], a[7]);
    out[6] = pl_minor8(a[1], a[5], a[2], a[4]);
    out[7] = pl_minor8(a[2], a[3], a[0], a[5]);
    out[8] = pl_minor8(a[0], a[4], a[1], a[3]);
}

PL_INLINE vf pl_det8(const vf a[9])
{
    return pl_dot3_8(a[0], a[1], a[2], pl_minor8(a[4], a[8], a[5], a[7]),
                     pl_minor8(a[5], a[6], a[3], a[8]), pl_minor8(a[3], a[7], a[4], a[6]));
}

/* out = a^-1, or all zero where det(a) is exactly zero. Returns det(a). */
PL_INLINE vf pl_inverse8(const vf a[9], vf out[9])
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f);
    vf cofactor[9];
    pl_cofactor8(a, cofactor);
    vf det = pl_dot3_8(a[0], a[1], a[2], cofactor[0], cofactor[1], cofactor[2]);
    vm regular = vf_lt(zero, vf_abs(det));
    vf factor = vf_keep(regular, vf_div(one, vf_select(regular, det, one)));
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[3 * i + j] = vf_mul(cofactor[3 * j + i], factor);
    return det;
}

/* The regularised L D L^T that pl_sym_solve8 uses. */
typedef struct pl_ldl8
{
    vf inverse[3];    /* 1 / D */
    vf l10, l20, l21; /* L below its diagonal */
} pl_ldl8;

PL_INLINE void pl_ldl_solve8(const pl_ldl8* ldl, const vf b[3], vf x[3])
{
    vf y1 = vf_sub(b[1], vf_mul(ldl->l10, b[0]));
    vf y2 = vf_sub(vf_sub(b[2], vf_mul(ldl->l20, b[0])), vf_mul(ldl->l21, y1));
    x[2] = vf_mul(y2, ldl->inverse[2]);
    x[1] = vf_sub(vf_mul(y1, ldl->inverse[1]), vf_mul(ldl->l21, x[2]));
    x[0] = vf_sub(vf_sub(vf_mul(b[0], ldl->inverse[0]), vf_mul(ldl->l10, x[1])),
                  vf_mul(ldl->l20, x[2]));
}

/*
 * Solves m x = b for symmetric positive semi-definite m, by a regularised L D L^T. Adding 2^-17 of
 * the trace to the diagonal, far above the rounding error of the factorisation in float, bounds x
 * in the null space of m. One step of iterative refinement against m reduces the bias in the other
 * directions from about 1e-5 to about 1e-10. x is 0 where the trace of m is at most 0.
 */
PL_INLINE void pl_sym_solve8(const vf m[6], const vf b[3], vf x[3])
{
    const vf zero = vf_set1(0.0f), one = vf_set1(1.0f), tiny = vf_set1(1.0f / 131072.0f);
    vf trace = vf_add(vf_add(m[0], m[3]), m[5]);
    vm present = vf_lt(zero, trace);
    vf scale = vf_keep(present, vf_div(one, vf_select(present, trace, one)));
    vf s[6], right[3], rest[3], more[3];
    for (int i = 0; i < 6; ++i)
        s[i] = vf_mul(m[i], scale);
    for (int i = 0; i < 3; ++i)
        right[i] = vf_mul(b[i], scale);

    pl_ldl8 ldl;
    ldl.inverse[0] = vf_div(one, vf_max(vf_add(s[0], tiny), tiny));
    ldl.l10 = vf_mul(s[1], ldl.inverse[0]);
    ldl.l20 = vf_mul(s[2], ldl.inverse[0]);
    vf d1 = vf_sub(vf_add(s[3], tiny), vf_mul(ldl.l10, s[1]));
    ldl.inverse[1] = vf_div(one, vf_max(d1, tiny));
    vf below = vf_sub(s[4], vf_mul(ldl.l20, s[1]));
    ldl.l21 = vf_mul(below, ldl.inverse[1]);
    vf d2 = vf_sub(vf_sub(vf_add(s[5], tiny), vf_mul(ldl.l20, s[2])), vf_mul(ldl.l21, below));
    ldl.inverse[2] = vf_div(one, vf_max(d2, tiny));

    pl_ldl_solve8(&ldl, right, x);
    rest[0] = vf_sub(right[0], pl_dot3_8(s[0], s[1], s[2], x[0], x[1], x[2]));
    rest[1] = vf_sub(right[1], pl_dot3_8(s[1], s[3], s[4], x[0], x[1], x[2]));
    rest[2] = vf_sub(right[2], pl_dot3_8(s[2], s[4], s[5], x[0], x[1], x[2]));
    pl_ldl_solve8(&ldl, rest, more);
    for (int i = 0; i < 3; ++i)
        x[i] = vf_add(x[i], more[i]);
}

/* The cube root of a positive normal number, within 1 ulp; 0 for 0 and below. Dividing the bits by
 * three gives the root within 4 %; one Halley and one Newton step follow. */
PL_INLINE vf vf_cbrt8(vf a)
{
    const vf third = vf_set1(1.0f / 3.0f);
    vf seed = vf_mad(vf_set1(709921077.0f), vf_bits_to_number(a), third);
    vf x = vf_number_to_bits(seed);
    vf y = vf_div(a, vf_mul(x, x)); /* x and y bracket the root, without overflow */
    vf two_x = vf_add(x, x);
    x = vf_div(vf_mul(x, vf_add(x, vf_add(y, y))), vf_add(two_x, y));
    y = vf_div(a, vf_mul(x, x));
    x = vf_sub(x, vf_mul(vf_sub(x, y), third));
    return vf_keep(vf_lt(vf_set1(0.0f), a), x);
}

#endif
