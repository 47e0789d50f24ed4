// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Every eight-lane operation, for test_simd.c. A file simd_ops_*.c compiles this once for each
 * path, as CMake does with kernels, so that nothing of it stands in the library.
 */
#ifndef PLIANT_SIMD_OPS_H
#define PLIANT_SIMD_OPS_H

/* X(name, what the lanes compute from a, b, c, the same for single floats x, y, z) */
#define SIMD_OPS(X)                                                                                \
    X(add, vf_add(a, b), x + y)                                                                    \
    X(sub, vf_sub(a, b), x - y)                                                                    \
    X(mul, vf_mul(a, b), x* y)                                                                     \
    X(div, vf_div(a, b), x / y)                                                                    \
    X(sqrt, vf_sqrt(a), sqrtf(x))                                                                  \
    X(min, vf_min(a, b), x < y ? x : y)                                                            \
    X(max, vf_max(a, b), x > y ? x : y)                                                            \
    X(abs, vf_abs(a), fabsf(x))                                                                    \
    X(neg, vf_neg(a), -x)                                                                          \
    X(mad, vf_mad(a, b, c), rounded_twice(x, y, z))                                                \
    X(pow2, vf_pow2(a), power_below(x))                                                            \
    X(bits_to_number, vf_bits_to_number(a), (float)bits_of(x))                                     \
    X(number_to_bits, vf_number_to_bits(cut(a)), of_bits((int32_t)cut1(x)))                        \
    X(lt, vf_keep(vf_lt(a, b), c), x < y ? z : 0.0f)                                               \
    X(le, vf_keep(vf_le(a, b), c), x <= y ? z : 0.0f)                                              \
    X(and, vf_keep(vm_and(vf_lt(a, b), vf_le(b, c)), c), x < y && y <= z ? z : 0.0f)               \
    X(or, vf_keep(vm_or(vf_lt(a, b), vf_le(b, c)), c), x < y || y <= z ? z : 0.0f)                 \
    X(andnot, vf_keep(vm_andnot(vf_lt(a, b), vf_le(b, c)), c), !(x < y) && y <= z ? z : 0.0f)      \
    X(select, vf_select(vf_lt(a, b), b, c), x < y ? y : z)                                         \
    X(bcast, vf_add(vf_bcast(first), a), first[0] + x)

#define SIMD_OP_ENUM(name, lanes, single) SIMD_OP_##name,
enum
{
    SIMD_OPS(SIMD_OP_ENUM) SIMD_OP_COUNT
};

/* What the 3x3 helpers give, in floats of eight lanes each. */
enum
{
    SMALL_MUL = 0,
    SMALL_MUL_TN = 9,
    SMALL_MUL_NT = 18,
    SMALL_GRAM = 27,
    SMALL_COFACTOR = 33,
    SMALL_INVERSE = 42,
    SMALL_DET = 51,
    SMALL_MULV = 52,
    SMALL_SOLVE = 55,
    SMALL_CBRT = 58,
    SMALL_COUNT = 59
};

typedef struct simd_results
{
    float ops[SIMD_OP_COUNT][8];
    float transposed[64];
    float sums[8];     /* of each row */
    float steps[3][8]; /* on the way to sums, of the first two rows: pair, four, halves */
    float sum;
    unsigned bits;
} simd_results;

typedef void simd_ops_fn(const float* a, const float* b, const float* c, const float* rows,
                         simd_results* results);
/* Two matrices, a symmetric one and its right side, eight of each, entry-major. */
typedef void small_ops_fn(const float* a, const float* b, const float* symmetric,
                          const float* right, float out[SMALL_COUNT * 8]);

simd_ops_fn simd_ops_scalar, simd_ops_sse2, simd_ops_avx2, simd_ops_avx512, simd_ops_neon;
small_ops_fn small_ops_scalar, small_ops_sse2, small_ops_avx2, small_ops_avx512, small_ops_neon;

#if defined(SIMD_OPS_DEFINE)

#include <base/simd.h>
#include <base/simd_mat3.h>

/* Into the range that vf_number_to_bits can take; 0 where a is not a number. */
static inline vf cut(vf a)
{
    vf most = vf_set1(2e9f);
    return vf_keep(vf_le(a, a), vf_max(vf_min(a, most), vf_neg(most)));
}

void PL_K(simd_ops)(const float* pa, const float* pb, const float* pc, const float* rows,
                    simd_results* results)
{
    vf a = vf_load(pa), b = vf_load(pb), c = vf_load(pc), square[8];
    const float* first = pb;
#define SIMD_OP_RUN(name, lanes, single) vf_store(results->ops[SIMD_OP_##name], lanes);
    SIMD_OPS(SIMD_OP_RUN)
#undef SIMD_OP_RUN
    results->sum = vf_sum(a);
    results->bits = vm_bits(vf_lt(a, b));
    for (int i = 0; i < 8; ++i)
        square[i] = vf_load(rows + 8 * i);
    vf_store(results->sums, vf_sums(square));
    vf_store(results->steps[0], vf_sum_pair(square[0], square[1]));
    vf_store(results->steps[1], vf_sum_four(square[0], square[1]));
    vf_store(results->steps[2], vf_sum_halves(square[0], square[1]));
    vf_transpose(square);
    for (int i = 0; i < 8; ++i)
        vf_store(results->transposed + 8 * i, square[i]);
}

void PL_K(small_ops)(const float* pa, const float* pb, const float* symmetric, const float* right,
                     float out[SMALL_COUNT * 8])
{
    vf a[9], b[9], s[6], v[3], result[SMALL_COUNT];
    for (int i = 0; i < 9; ++i)
        a[i] = vf_load(pa + 8 * i), b[i] = vf_load(pb + 8 * i);
    for (int i = 0; i < 6; ++i)
        s[i] = vf_load(symmetric + 8 * i);
    for (int i = 0; i < 3; ++i)
        v[i] = vf_load(right + 8 * i);
    pl_mul8(a, b, result + SMALL_MUL);
    pl_mul_tn8(a, b, result + SMALL_MUL_TN);
    pl_mul_nt8(a, b, result + SMALL_MUL_NT);
    pl_gram8(a, result + SMALL_GRAM);
    pl_cofactor8(a, result + SMALL_COFACTOR);
    pl_inverse8(a, result + SMALL_INVERSE);
    result[SMALL_DET] = pl_det8(a);
    pl_mulv8(a, v, result + SMALL_MULV);
    pl_sym_solve8(s, v, result + SMALL_SOLVE);
    result[SMALL_CBRT] = vf_cbrt8(v[0]);
    for (int i = 0; i < SMALL_COUNT; ++i)
        vf_store(out + 8 * i, result[i]);
}

#endif
#endif
