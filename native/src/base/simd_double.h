// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Eight double lanes, for the few sums that need them, by the rules of simd.h. Lane i of a vd
 * corresponds to lane i of a vf.
 */
#ifndef PL_BASE_SIMD_DOUBLE_H
#define PL_BASE_SIMD_DOUBLE_H

#include "base/simd.h"

#if defined(PL_PATH_AVX2) || defined(PL_PATH_AVX512)

typedef struct vd
{
    __m256d lo, hi;
} vd;

#define VD_PAIR(l, h) ((vd){(l), (h)})
PL_INLINE vd vd_set1(double a)
{
    return VD_PAIR(_mm256_set1_pd(a), _mm256_set1_pd(a));
}
PL_INLINE vd vd_add(vd a, vd b)
{
    return VD_PAIR(_mm256_add_pd(a.lo, b.lo), _mm256_add_pd(a.hi, b.hi));
}
PL_INLINE vd vd_sub(vd a, vd b)
{
    return VD_PAIR(_mm256_sub_pd(a.lo, b.lo), _mm256_sub_pd(a.hi, b.hi));
}
PL_INLINE vd vd_mul(vd a, vd b)
{
    return VD_PAIR(_mm256_mul_pd(a.lo, b.lo), _mm256_mul_pd(a.hi, b.hi));
}
PL_INLINE vd vd_div(vd a, vd b)
{
    return VD_PAIR(_mm256_div_pd(a.lo, b.lo), _mm256_div_pd(a.hi, b.hi));
}
PL_INLINE vd vd_from(vf a)
{
    return VD_PAIR(_mm256_cvtps_pd(_mm256_castps256_ps128(a)),
                   _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)));
}
PL_INLINE vf vd_round(vd a)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(a.lo)),
                                _mm256_cvtpd_ps(a.hi), 1);
}
PL_INLINE vd vd_load(const double* p)
{
    return VD_PAIR(_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4));
}
PL_INLINE void vd_store(double* p, vd a)
{
    _mm256_storeu_pd(p, a.lo);
    _mm256_storeu_pd(p + 4, a.hi);
}
/* a < b ? then : otherwise */
PL_INLINE vd vd_if_less(vd a, vd b, vd then, vd otherwise)
{
    return VD_PAIR(_mm256_blendv_pd(otherwise.lo, then.lo, _mm256_cmp_pd(a.lo, b.lo, _CMP_LT_OQ)),
                   _mm256_blendv_pd(otherwise.hi, then.hi, _mm256_cmp_pd(a.hi, b.hi, _CMP_LT_OQ)));
}
PL_INLINE void vd_turn4(__m256d a, __m256d b, __m256d c, __m256d d, __m256d out[4])
{
    __m256d ab = _mm256_unpacklo_pd(a, b), ba = _mm256_unpackhi_pd(a, b);
    __m256d cd = _mm256_unpacklo_pd(c, d), dc = _mm256_unpackhi_pd(c, d);
    out[0] = _mm256_permute2f128_pd(ab, cd, 0x20);
    out[1] = _mm256_permute2f128_pd(ba, dc, 0x20);
    out[2] = _mm256_permute2f128_pd(ab, cd, 0x31);
    out[3] = _mm256_permute2f128_pd(ba, dc, 0x31);
}
/* Lane i of out[j] is p[i][j]. */
PL_INLINE void vd_load4(const double* const p[8], vd out[4])
{
    __m256d lo[4], hi[4];
    vd_turn4(_mm256_loadu_pd(p[0]), _mm256_loadu_pd(p[1]), _mm256_loadu_pd(p[2]),
             _mm256_loadu_pd(p[3]), lo);
    vd_turn4(_mm256_loadu_pd(p[4]), _mm256_loadu_pd(p[5]), _mm256_loadu_pd(p[6]),
             _mm256_loadu_pd(p[7]), hi);
    for (int j = 0; j < 4; ++j)
        out[j] = VD_PAIR(lo[j], hi[j]);
}

#else

/* Plain C: two lanes would gain little over one, and the compiler may vectorise them. */
typedef struct vd
{
    double l[8];
} vd;

/* Structs, like the scalar lanes: see PL_INLINE. */
#if defined(__SANITIZE_ADDRESS__)
#define VD_INLINE static __attribute__((noinline, unused))
#else
#define VD_INLINE PL_INLINE
#endif

#define VD_EACH(expression)                                                                        \
    vd each;                                                                                       \
    for (int i = 0; i < 8; ++i)                                                                    \
        each.l[i] = (expression);                                                                  \
    return each

VD_INLINE vd vd_set1(double a)
{
    VD_EACH(a);
}
VD_INLINE vd vd_add(vd a, vd b)
{
    VD_EACH(a.l[i] + b.l[i]);
}
VD_INLINE vd vd_sub(vd a, vd b)
{
    VD_EACH(a.l[i] - b.l[i]);
}
VD_INLINE vd vd_mul(vd a, vd b)
{
    VD_EACH(a.l[i] * b.l[i]);
}
VD_INLINE vd vd_div(vd a, vd b)
{
    VD_EACH(a.l[i] / b.l[i]);
}
VD_INLINE vd vd_from(vf a)
{
    float lanes[8];
    vf_store(lanes, a);
    VD_EACH(lanes[i]);
}
VD_INLINE vf vd_round(vd a)
{
    float lanes[8];
    for (int i = 0; i < 8; ++i)
        lanes[i] = (float)a.l[i];
    return vf_load(lanes);
}
VD_INLINE vd vd_load(const double* p)
{
    VD_EACH(p[i]);
}
VD_INLINE void vd_store(double* p, vd a)
{
    memcpy(p, a.l, sizeof a.l);
}
VD_INLINE vd vd_if_less(vd a, vd b, vd then, vd otherwise)
{
    VD_EACH(a.l[i] < b.l[i] ? then.l[i] : otherwise.l[i]);
}
VD_INLINE void vd_load4(const double* const p[8], vd out[4])
{
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 8; ++i)
            out[j].l[i] = p[i][j];
}

#endif

/* a + b c, rounded twice. */
PL_INLINE vd vd_mad(vd a, vd b, vd c)
{
    return vd_add(a, vd_mul(b, c));
}

#endif
