// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Eight float lanes, on every machine.
 *
 * A kernel is written once, with these eight-lane values, in a file *.simd.c. CMake compiles that
 * file once for each path (scalar, SSE2, AVX2, AVX-512, NEON); the scene selects one at run time.
 * Every path has eight lanes: one 256-bit register with AVX, two 128-bit registers with SSE2 or
 * NEON, eight floats in the scalar path. Every operation is the IEEE one, rounded once (no fused
 * multiply-add, no approximate reciprocals), and sums over lanes use one tree, so all paths give
 * the same bits. Only simd.h and simd_double.h use vector intrinsics.
 */
#ifndef PL_BASE_SIMD_H
#define PL_BASE_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define PL_LANES 8

/* PL_PATH is scalar, sse2, avx2, avx512 or neon; PL_K(f) is f_avx2 and so on. */
#if !defined(PL_PATH)
#define PL_PATH scalar
#define PL_PATH_SCALAR 1
#endif
#define PL_K_JOIN(name, path) name##_##path
#define PL_K_EXPAND(name, path) PL_K_JOIN(name, path)
#define PL_K(name) PL_K_EXPAND(name, PL_PATH)

/* Scalar lanes are structs. AddressSanitizer puts red zones around each, and a fully inlined kernel
 * would take minutes to compile. */
#if defined(PL_PATH_SCALAR) && defined(__SANITIZE_ADDRESS__)
#define PL_INLINE static __attribute__((noinline, unused))
#else
#define PL_INLINE static inline __attribute__((always_inline))
#endif
/* Not inlined: a loop that needs all registers and would share them with its caller. */
#define PL_APART static __attribute__((noinline, unused))

#if defined(PL_PATH_AVX2) || defined(PL_PATH_AVX512)

#include <immintrin.h>

typedef __m256 vf;
typedef __m256 vm; /* a mask: all bits of a lane set, or none */

PL_INLINE vf vf_load(const float* p)
{
    return _mm256_loadu_ps(p);
}
PL_INLINE void vf_store(float* p, vf a)
{
    _mm256_storeu_ps(p, a);
}
PL_INLINE vf vf_set1(float a)
{
    return _mm256_set1_ps(a);
}
/* All lanes from one float in memory. */
PL_INLINE vf vf_bcast(const float* p)
{
    return _mm256_broadcast_ss(p);
}
PL_INLINE vf vf_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}
PL_INLINE vf vf_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}
PL_INLINE vf vf_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}
PL_INLINE vf vf_div(vf a, vf b)
{
    return _mm256_div_ps(a, b);
}
PL_INLINE vf vf_sqrt(vf a)
{
    return _mm256_sqrt_ps(a);
}
/* a < b ? a : b, so b where either is NaN */
PL_INLINE vf vf_min(vf a, vf b)
{
    return _mm256_min_ps(a, b);
}
PL_INLINE vf vf_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}
PL_INLINE vf vf_abs(vf a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
PL_INLINE vf vf_neg(vf a)
{
    return _mm256_xor_ps(_mm256_set1_ps(-0.0f), a);
}
/* The power of two at or below |a|; 0 for subnormals, infinite if a is not finite. */
PL_INLINE vf vf_pow2(vf a)
{
    return _mm256_and_ps(_mm256_set1_ps(INFINITY), a);
}
/* The bits of a as a signed integer, converted to float: the seed of a logarithm or root. */
PL_INLINE vf vf_bits_to_number(vf a)
{
    return _mm256_cvtepi32_ps(_mm256_castps_si256(a));
}
/* The float whose bits are a truncated to an integer; |a| < 2^31. */
PL_INLINE vf vf_number_to_bits(vf a)
{
    return _mm256_castsi256_ps(_mm256_cvttps_epi32(a));
}
PL_INLINE vm vf_lt(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
PL_INLINE vm vf_le(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_LE_OQ);
}
PL_INLINE vm vm_and(vm a, vm b)
{
    return _mm256_and_ps(a, b);
}
PL_INLINE vm vm_or(vm a, vm b)
{
    return _mm256_or_ps(a, b);
}
/* The lanes where b is set and a is not. */
PL_INLINE vm vm_andnot(vm a, vm b)
{
    return _mm256_andnot_ps(a, b);
}
/* Bit i is lane i. */
PL_INLINE unsigned vm_bits(vm a)
{
    return (unsigned)_mm256_movemask_ps(a);
}
/* mask ? a : b */
PL_INLINE vf vf_select(vm mask, vf a, vf b)
{
    return _mm256_blendv_ps(b, a, mask);
}
PL_INLINE vf vf_keep(vm mask, vf a)
{
    return _mm256_and_ps(mask, a);
}
/* ((0+4) + (2+6)) + ((1+5) + (3+7)) */
PL_INLINE float vf_sum(vf a)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
/* 8x8 transpose: lane i of the new r[j] is lane j of r[i]. */
PL_INLINE void vf_transpose(vf r[8])
{
    vf a0 = _mm256_unpacklo_ps(r[0], r[1]), a1 = _mm256_unpackhi_ps(r[0], r[1]);
    vf a2 = _mm256_unpacklo_ps(r[2], r[3]), a3 = _mm256_unpackhi_ps(r[2], r[3]);
    vf a4 = _mm256_unpacklo_ps(r[4], r[5]), a5 = _mm256_unpackhi_ps(r[4], r[5]);
    vf a6 = _mm256_unpacklo_ps(r[6], r[7]), a7 = _mm256_unpackhi_ps(r[6], r[7]);
    vf b0 = _mm256_shuffle_ps(a0, a2, 0x44), b1 = _mm256_shuffle_ps(a0, a2, 0xee);
    vf b2 = _mm256_shuffle_ps(a1, a3, 0x44), b3 = _mm256_shuffle_ps(a1, a3, 0xee);
    vf b4 = _mm256_shuffle_ps(a4, a6, 0x44), b5 = _mm256_shuffle_ps(a4, a6, 0xee);
    vf b6 = _mm256_shuffle_ps(a5, a7, 0x44), b7 = _mm256_shuffle_ps(a5, a7, 0xee);
    r[0] = _mm256_permute2f128_ps(b0, b4, 0x20);
    r[1] = _mm256_permute2f128_ps(b1, b5, 0x20);
    r[2] = _mm256_permute2f128_ps(b2, b6, 0x20);
    r[3] = _mm256_permute2f128_ps(b3, b7, 0x20);
    r[4] = _mm256_permute2f128_ps(b0, b4, 0x31);
    r[5] = _mm256_permute2f128_ps(b1, b5, 0x31);
    r[6] = _mm256_permute2f128_ps(b2, b6, 0x31);
    r[7] = _mm256_permute2f128_ps(b3, b7, 0x31);
}
/* Lane i of out[j] is p[i][j]. */
PL_INLINE void vf_load4(const float* const p[8], vf out[4])
{
    vf a = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p[0])), _mm_loadu_ps(p[4]), 1);
    vf b = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p[1])), _mm_loadu_ps(p[5]), 1);
    vf c = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p[2])), _mm_loadu_ps(p[6]), 1);
    vf d = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p[3])), _mm_loadu_ps(p[7]), 1);
    vf ab = _mm256_unpacklo_ps(a, b), ba = _mm256_unpackhi_ps(a, b);
    vf cd = _mm256_unpacklo_ps(c, d), dc = _mm256_unpackhi_ps(c, d);
    out[0] = _mm256_shuffle_ps(ab, cd, 0x44);
    out[1] = _mm256_shuffle_ps(ab, cd, 0xee);
    out[2] = _mm256_shuffle_ps(ba, dc, 0x44);
    out[3] = _mm256_shuffle_ps(ba, dc, 0xee);
}
PL_INLINE vf vf_sum_pair(vf a, vf b)
{
    return _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
}
PL_INLINE vf vf_sum_four(vf ab, vf cd)
{
    return _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
}
PL_INLINE vf vf_sum_halves(vf a, vf b)
{
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

#elif defined(PL_PATH_SSE2) || defined(PL_PATH_NEON)

/* Two four-lane registers. "q" is one of them; all else is built from the q operations. */
#if defined(PL_PATH_SSE2)
#include <emmintrin.h>
typedef __m128 q4;
#define Q_LOAD(p) _mm_loadu_ps(p)
#define Q_STORE(p, a) _mm_storeu_ps(p, a)
#define Q_SET1(a) _mm_set1_ps(a)
#define Q_ADD(a, b) _mm_add_ps(a, b)
#define Q_SUB(a, b) _mm_sub_ps(a, b)
#define Q_MUL(a, b) _mm_mul_ps(a, b)
#define Q_DIV(a, b) _mm_div_ps(a, b)
#define Q_SQRT(a) _mm_sqrt_ps(a)
#define Q_MIN(a, b) _mm_min_ps(a, b)
#define Q_MAX(a, b) _mm_max_ps(a, b)
#define Q_LT(a, b) _mm_cmplt_ps(a, b)
#define Q_LE(a, b) _mm_cmple_ps(a, b)
#define Q_AND(a, b) _mm_and_ps(a, b)
#define Q_OR(a, b) _mm_or_ps(a, b)
#define Q_ANDNOT(a, b) _mm_andnot_ps(a, b)
#define Q_XOR(a, b) _mm_xor_ps(a, b)
#define Q_BITS(a) ((unsigned)_mm_movemask_ps(a))
#define Q_BITS_TO_NUMBER(a) _mm_cvtepi32_ps(_mm_castps_si128(a))
#define Q_NUMBER_TO_BITS(a) _mm_castsi128_ps(_mm_cvttps_epi32(a))
PL_INLINE float q_sum(q4 four)
{
    q4 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
PL_INLINE void q_transpose(q4* a, q4* b, q4* c, q4* d)
{
    _MM_TRANSPOSE4_PS(*a, *b, *c, *d);
}
PL_INLINE q4 q_sum_pair(q4 a, q4 b)
{
    return _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
}
PL_INLINE q4 q_sum_four(q4 ab, q4 cd)
{
    return _mm_add_ps(_mm_shuffle_ps(ab, cd, 0x44), _mm_shuffle_ps(ab, cd, 0xee));
}
#else
#include <arm_neon.h>
typedef float32x4_t q4;
#define Q_U(a) vreinterpretq_u32_f32(a)
#define Q_F(a) vreinterpretq_f32_u32(a)
#define Q_LOAD(p) vld1q_f32(p)
#define Q_STORE(p, a) vst1q_f32(p, a)
#define Q_SET1(a) vdupq_n_f32(a)
#define Q_ADD(a, b) vaddq_f32(a, b)
#define Q_SUB(a, b) vsubq_f32(a, b)
#define Q_MUL(a, b) vmulq_f32(a, b)
#define Q_DIV(a, b) vdivq_f32(a, b)
#define Q_SQRT(a) vsqrtq_f32(a)
#define Q_LT(a, b) Q_F(vcltq_f32(a, b))
#define Q_LE(a, b) Q_F(vcleq_f32(a, b))
#define Q_AND(a, b) Q_F(vandq_u32(Q_U(a), Q_U(b)))
#define Q_OR(a, b) Q_F(vorrq_u32(Q_U(a), Q_U(b)))
#define Q_ANDNOT(a, b) Q_F(vbicq_u32(Q_U(b), Q_U(a)))
#define Q_XOR(a, b) Q_F(veorq_u32(Q_U(a), Q_U(b)))
/* NEON's min and max treat NaN differently */
#define Q_MIN(a, b) vbslq_f32(vcltq_f32(a, b), a, b)
#define Q_MAX(a, b) vbslq_f32(vcgtq_f32(a, b), a, b)
PL_INLINE unsigned q_bits(q4 a)
{
    static const uint32_t place[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(Q_U(a), vld1q_u32(place)));
}
#define Q_BITS(a) q_bits(a)
#define Q_BITS_TO_NUMBER(a) vcvtq_f32_s32(vreinterpretq_s32_f32(a))
#define Q_NUMBER_TO_BITS(a) vreinterpretq_f32_s32(vcvtq_s32_f32(a))
PL_INLINE float q_sum(q4 a)
{
    float l[4];
    vst1q_f32(l, a);
    return (l[0] + l[2]) + (l[1] + l[3]);
}
PL_INLINE void q_transpose(q4* a, q4* b, q4* c, q4* d)
{
    float32x4x2_t ab = vtrnq_f32(*a, *b), cd = vtrnq_f32(*c, *d);
    *a = vcombine_f32(vget_low_f32(ab.val[0]), vget_low_f32(cd.val[0]));
    *b = vcombine_f32(vget_low_f32(ab.val[1]), vget_low_f32(cd.val[1]));
    *c = vcombine_f32(vget_high_f32(ab.val[0]), vget_high_f32(cd.val[0]));
    *d = vcombine_f32(vget_high_f32(ab.val[1]), vget_high_f32(cd.val[1]));
}
PL_INLINE q4 q_sum_pair(q4 a, q4 b)
{
    float32x4x2_t ab = vzipq_f32(a, b);
    return vaddq_f32(ab.val[0], ab.val[1]);
}
PL_INLINE q4 q_sum_four(q4 ab, q4 cd)
{
    return vaddq_f32(vcombine_f32(vget_low_f32(ab), vget_low_f32(cd)),
                     vcombine_f32(vget_high_f32(ab), vget_high_f32(cd)));
}
#endif

typedef struct vf
{
    q4 lo, hi;
} vf;
typedef vf vm;

#define VF_PAIR(l, h) ((vf){(l), (h)})
PL_INLINE vf vf_load(const float* p)
{
    return VF_PAIR(Q_LOAD(p), Q_LOAD(p + 4));
}
PL_INLINE void vf_store(float* p, vf a)
{
    Q_STORE(p, a.lo);
    Q_STORE(p + 4, a.hi);
}
PL_INLINE vf vf_set1(float a)
{
    q4 q = Q_SET1(a);
    return VF_PAIR(q, q);
}
PL_INLINE vf vf_bcast(const float* p)
{
    return vf_set1(*p);
}
PL_INLINE vf vf_add(vf a, vf b)
{
    return VF_PAIR(Q_ADD(a.lo, b.lo), Q_ADD(a.hi, b.hi));
}
PL_INLINE vf vf_sub(vf a, vf b)
{
    return VF_PAIR(Q_SUB(a.lo, b.lo), Q_SUB(a.hi, b.hi));
}
PL_INLINE vf vf_mul(vf a, vf b)
{
    return VF_PAIR(Q_MUL(a.lo, b.lo), Q_MUL(a.hi, b.hi));
}
PL_INLINE vf vf_div(vf a, vf b)
{
    return VF_PAIR(Q_DIV(a.lo, b.lo), Q_DIV(a.hi, b.hi));
}
PL_INLINE vf vf_sqrt(vf a)
{
    return VF_PAIR(Q_SQRT(a.lo), Q_SQRT(a.hi));
}
PL_INLINE vf vf_min(vf a, vf b)
{
    return VF_PAIR(Q_MIN(a.lo, b.lo), Q_MIN(a.hi, b.hi));
}
PL_INLINE vf vf_max(vf a, vf b)
{
    return VF_PAIR(Q_MAX(a.lo, b.lo), Q_MAX(a.hi, b.hi));
}
PL_INLINE vf vf_abs(vf a)
{
    q4 sign = Q_SET1(-0.0f);
    return VF_PAIR(Q_ANDNOT(sign, a.lo), Q_ANDNOT(sign, a.hi));
}
PL_INLINE vf vf_neg(vf a)
{
    q4 sign = Q_SET1(-0.0f);
    return VF_PAIR(Q_XOR(sign, a.lo), Q_XOR(sign, a.hi));
}
PL_INLINE vf vf_pow2(vf a)
{
    q4 exponent = Q_SET1(INFINITY);
    return VF_PAIR(Q_AND(exponent, a.lo), Q_AND(exponent, a.hi));
}
PL_INLINE vf vf_bits_to_number(vf a)
{
    return VF_PAIR(Q_BITS_TO_NUMBER(a.lo), Q_BITS_TO_NUMBER(a.hi));
}
PL_INLINE vf vf_number_to_bits(vf a)
{
    return VF_PAIR(Q_NUMBER_TO_BITS(a.lo), Q_NUMBER_TO_BITS(a.hi));
}
PL_INLINE vm vf_lt(vf a, vf b)
{
    return VF_PAIR(Q_LT(a.lo, b.lo), Q_LT(a.hi, b.hi));
}
PL_INLINE vm vf_le(vf a, vf b)
{
    return VF_PAIR(Q_LE(a.lo, b.lo), Q_LE(a.hi, b.hi));
}
PL_INLINE vm vm_and(vm a, vm b)
{
    return VF_PAIR(Q_AND(a.lo, b.lo), Q_AND(a.hi, b.hi));
}
PL_INLINE vm vm_or(vm a, vm b)
{
    return VF_PAIR(Q_OR(a.lo, b.lo), Q_OR(a.hi, b.hi));
}
PL_INLINE vm vm_andnot(vm a, vm b)
{
    return VF_PAIR(Q_ANDNOT(a.lo, b.lo), Q_ANDNOT(a.hi, b.hi));
}
PL_INLINE unsigned vm_bits(vm a)
{
    return Q_BITS(a.lo) | (Q_BITS(a.hi) << 4);
}
PL_INLINE vf vf_keep(vm mask, vf a)
{
    return vm_and(mask, a);
}
PL_INLINE vf vf_select(vm mask, vf a, vf b)
{
    return vm_or(vm_and(mask, a), vm_andnot(mask, b));
}
PL_INLINE float vf_sum(vf a)
{
    return q_sum(Q_ADD(a.lo, a.hi));
}
PL_INLINE void vf_transpose(vf r[8])
{
    q_transpose(&r[0].lo, &r[1].lo, &r[2].lo, &r[3].lo);
    q_transpose(&r[0].hi, &r[1].hi, &r[2].hi, &r[3].hi);
    q_transpose(&r[4].lo, &r[5].lo, &r[6].lo, &r[7].lo);
    q_transpose(&r[4].hi, &r[5].hi, &r[6].hi, &r[7].hi);
    for (int i = 0; i < 4; ++i)
    {
        q4 swap = r[i].hi;
        r[i].hi = r[i + 4].lo;
        r[i + 4].lo = swap;
    }
}
PL_INLINE void vf_load4(const float* const p[8], vf out[4])
{
    q4 a = Q_LOAD(p[0]), b = Q_LOAD(p[1]), c = Q_LOAD(p[2]), d = Q_LOAD(p[3]);
    q4 e = Q_LOAD(p[4]), f = Q_LOAD(p[5]), g = Q_LOAD(p[6]), h = Q_LOAD(p[7]);
    q_transpose(&a, &b, &c, &d);
    q_transpose(&e, &f, &g, &h);
    out[0] = VF_PAIR(a, e), out[1] = VF_PAIR(b, f), out[2] = VF_PAIR(c, g), out[3] = VF_PAIR(d, h);
}
PL_INLINE vf vf_sum_pair(vf a, vf b)
{
    return VF_PAIR(q_sum_pair(a.lo, b.lo), q_sum_pair(a.hi, b.hi));
}
PL_INLINE vf vf_sum_four(vf ab, vf cd)
{
    return VF_PAIR(q_sum_four(ab.lo, cd.lo), q_sum_four(ab.hi, cd.hi));
}
PL_INLINE vf vf_sum_halves(vf a, vf b)
{
    return VF_PAIR(Q_ADD(a.lo, a.hi), Q_ADD(b.lo, b.hi));
}

#else /* scalar */

typedef struct vf
{
    float l[8];
} vf;
typedef struct vm
{
    uint32_t l[8];
} vm;

#define VF_EACH(expression)                                                                        \
    vf each;                                                                                       \
    for (int i = 0; i < 8; ++i)                                                                    \
        each.l[i] = (expression);                                                                  \
    return each
#define VM_EACH(expression)                                                                        \
    vm r;                                                                                          \
    for (int i = 0; i < 8; ++i)                                                                    \
        r.l[i] = (expression);                                                                     \
    return r

PL_INLINE vf vf_load(const float* p)
{
    VF_EACH(p[i]);
}
PL_INLINE void vf_store(float* p, vf a)
{
    for (int i = 0; i < 8; ++i)
        p[i] = a.l[i];
}
PL_INLINE vf vf_set1(float a)
{
    VF_EACH(a);
}
PL_INLINE vf vf_bcast(const float* p)
{
    return vf_set1(*p);
}
PL_INLINE vf vf_add(vf a, vf b)
{
    VF_EACH(a.l[i] + b.l[i]);
}
PL_INLINE vf vf_sub(vf a, vf b)
{
    VF_EACH(a.l[i] - b.l[i]);
}
PL_INLINE vf vf_mul(vf a, vf b)
{
    VF_EACH(a.l[i] * b.l[i]);
}
PL_INLINE vf vf_div(vf a, vf b)
{
    VF_EACH(a.l[i] / b.l[i]);
}
PL_INLINE vf vf_sqrt(vf a)
{
    VF_EACH(sqrtf(a.l[i]));
}
PL_INLINE vf vf_min(vf a, vf b)
{
    VF_EACH(a.l[i] < b.l[i] ? a.l[i] : b.l[i]);
}
PL_INLINE vf vf_max(vf a, vf b)
{
    VF_EACH(a.l[i] > b.l[i] ? a.l[i] : b.l[i]);
}
PL_INLINE vf vf_abs(vf a)
{
    VF_EACH(fabsf(a.l[i]));
}
PL_INLINE vf vf_neg(vf a)
{
    VF_EACH(-a.l[i]);
}
PL_INLINE int32_t float_bits(float a)
{
    int32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}
PL_INLINE float float_of_bits(int32_t bits)
{
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}
PL_INLINE vf vf_pow2(vf a)
{
    VF_EACH(float_of_bits(float_bits(a.l[i]) & 0x7f800000));
}
PL_INLINE vf vf_bits_to_number(vf a)
{
    VF_EACH((float)float_bits(a.l[i]));
}
PL_INLINE vf vf_number_to_bits(vf a)
{
    VF_EACH(float_of_bits((int32_t)a.l[i]));
}
PL_INLINE vm vf_lt(vf a, vf b)
{
    VM_EACH(a.l[i] < b.l[i] ? ~0u : 0u);
}
PL_INLINE vm vf_le(vf a, vf b)
{
    VM_EACH(a.l[i] <= b.l[i] ? ~0u : 0u);
}
PL_INLINE vm vm_and(vm a, vm b)
{
    VM_EACH(a.l[i] & b.l[i]);
}
PL_INLINE vm vm_or(vm a, vm b)
{
    VM_EACH(a.l[i] | b.l[i]);
}
PL_INLINE vm vm_andnot(vm a, vm b)
{
    VM_EACH(~a.l[i] & b.l[i]);
}
PL_INLINE unsigned vm_bits(vm a)
{
    unsigned bits = 0;
    for (int i = 0; i < 8; ++i)
        bits |= (a.l[i] & 1u) << i;
    return bits;
}
PL_INLINE vf vf_keep(vm mask, vf a)
{
    VF_EACH(mask.l[i] ? a.l[i] : 0.0f);
}
PL_INLINE vf vf_select(vm mask, vf a, vf b)
{
    VF_EACH(mask.l[i] ? a.l[i] : b.l[i]);
}
PL_INLINE float vf_sum(vf a)
{
    return ((a.l[0] + a.l[4]) + (a.l[2] + a.l[6])) + ((a.l[1] + a.l[5]) + (a.l[3] + a.l[7]));
}
PL_INLINE void vf_transpose(vf r[8])
{
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < i; ++j)
        {
            float swap = r[i].l[j];
            r[i].l[j] = r[j].l[i];
            r[j].l[i] = swap;
        }
}
PL_INLINE void vf_load4(const float* const p[8], vf out[4])
{
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 8; ++i)
            out[j].l[i] = p[i][j];
}
PL_INLINE vf vf_sum_pair(vf a, vf b)
{
    VF_EACH((i % 2 ? b : a).l[i / 4 * 4 + i % 4 / 2] +
            (i % 2 ? b : a).l[i / 4 * 4 + i % 4 / 2 + 2]);
}
PL_INLINE vf vf_sum_four(vf ab, vf cd)
{
    VF_EACH((i % 4 < 2 ? ab : cd).l[i / 4 * 4 + i % 2] +
            (i % 4 < 2 ? ab : cd).l[i / 4 * 4 + i % 2 + 2]);
}
PL_INLINE vf vf_sum_halves(vf a, vf b)
{
    VF_EACH((i < 4 ? a : b).l[i % 4] + (i < 4 ? a : b).l[i % 4 + 4]);
}

#endif

/* a + b c, rounded twice: a fused operation would make paths differ. */
PL_INLINE vf vf_mad(vf a, vf b, vf c)
{
    return vf_add(a, vf_mul(b, c));
}

/* Sums over lanes in three steps. Results of the first or second step may be accumulated over many
 * vectors before the next step:
 *   pair(a, b)          in each half  a0 + a2, b0 + b2, a1 + a3, b1 + b3
 *   four(pair, pair)    in each half  the half's sum of a, of b, of c and of d
 *   halves(four, four)  the sums of all eight
 * Lane j of vf_sums is the sum of r[j]: ((0+2) + (1+3)) + ((4+6) + (5+7)). */
PL_INLINE vf vf_sums(const vf r[8])
{
    return vf_sum_halves(vf_sum_four(vf_sum_pair(r[0], r[1]), vf_sum_pair(r[2], r[3])),
                         vf_sum_four(vf_sum_pair(r[4], r[5]), vf_sum_pair(r[6], r[7])));
}

#endif
