// SPDX-License-Identifier: GPL-3.0-or-later
/* SIMD operations: each against plain C, and every path against the scalar one. */
#include "native/support/simd_ops.h"
#include "native/support/test.h"

#include <base/cpu.h>
#include <base/math3.h>
#include <base/platform.h>
#include <base/rng.h>
#include <float.h>
#include <stdint.h>
#include <string.h>

static const struct
{
    uint32_t simd;
    simd_ops_fn* ops;
    small_ops_fn* small;
} paths[] = {
    {PLIANT_SIMD_SCALAR, simd_ops_scalar, small_ops_scalar},
#if defined(__x86_64__)
    {PLIANT_SIMD_SSE2, simd_ops_sse2, small_ops_sse2},
    {PLIANT_SIMD_AVX2, simd_ops_avx2, small_ops_avx2},
    {PLIANT_SIMD_AVX512, simd_ops_avx512, small_ops_avx512},
#elif defined(__aarch64__)
    {PLIANT_SIMD_NEON, simd_ops_neon, small_ops_neon},
#endif
};
enum
{
    PATHS = sizeof paths / sizeof paths[0]
};

static int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float of_bits(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static bool subnormal(float x)
{
    return (bits_of(x) & 0x7f800000) == 0; /* a comparison would see zeros in a step's state */
}

static float rounded_twice(float x, float y, float z)
{
    volatile float product = y * z;
    return x + product;
}

static float power_below(float x)
{
    int exponent;
    if (!isfinite(x))
        return INFINITY;
    if (subnormal(x))
        return 0;
    (void)frexpf(x, &exponent);
    return ldexpf(1, exponent - 1);
}

static float cut1(float x)
{
    return isnan(x) ? 0 : x < -2e9f ? -2e9f : x > 2e9f ? 2e9f : x;
}

/* The same bits, or both NaN (whose bits may differ). The floating-point state of a step treats a
 * subnormal as zero; whether min and max return it unchanged differs between machines. */
static bool same(float a, float b)
{
    volatile float least = FLT_MIN;
    bool flushing = least * 0.5f == 0;
    if (flushing && subnormal(a) && subnormal(b))
        return signbit(a) == signbit(b);
    return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b));
}

static float draw(pl_rng* rng)
{
    static const float special[] = {
        0.0f,         -0.0f,       1.0f,     -1.0f,    FLT_MIN,   -FLT_MIN,  FLT_MIN / 4,
        -FLT_MIN / 8, FLT_MAX,     -FLT_MAX, INFINITY, -INFINITY, NAN,       0.5f,
        1.0f / 3.0f,  16777216.0f, 1e-20f,   1e20f,    0x1p127f,  0x1p-126f, 2147483648.0f};
    uint32_t n = sizeof special / sizeof special[0];
    uint32_t which = pl_rng_below(rng, 2 * n);
    return which < n ? special[which] : (float)(pl_rng_unit(rng) * 8 - 4);
}

static void check_ops(int path, const float in[3][8], const simd_results* results)
{
    const char* name_of_path = pl_cpu_path_name(paths[path].simd);
    const float* first = in[1];
    for (int lane = 0; lane < 8; ++lane)
    {
        float x = in[0][lane], y = in[1][lane], z = in[2][lane];
#define CHECK_OP(name, lanes, single)                                                              \
    CHECK_MSG(same(results->ops[SIMD_OP_##name][lane], single),                                    \
              "%s of %.9g %.9g %.9g is %.9g in path %s", #name, x, y, z,                           \
              results->ops[SIMD_OP_##name][lane], name_of_path);
        SIMD_OPS(CHECK_OP)
        CHECK((results->bits >> lane & 1u) == (x < y));
    }
    CHECK(results->bits < 256);
    const float* a = in[0];
    float tree = ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
    CHECK_MSG(same(results->sum, tree), "sum in path %s", name_of_path);
}

static void run_ops(int path)
{
    pl_rng rng = pl_rng_seed(11);
    float in[3][8], rows[64];
    for (int i = 0; i < 64; ++i)
        rows[i] = 1.0f / (float)(i + 1);
    for (int round = 0; round < 4000; ++round)
    {
        simd_results results;
        for (int i = 0; i < 24; ++i)
            in[i / 8][i % 8] = draw(&rng);
        paths[path].ops(in[0], in[1], in[2], rows, &results);
        check_ops(path, (const float(*)[8])in, &results);
        for (int i = 0; i < 64; ++i)
            CHECK(results.transposed[i] == rows[8 * (i % 8) + i / 8]);
        for (int i = 0; i < 8; ++i)
        {
            const float* r = rows + 8 * i;
            CHECK(results.sums[i] ==
                  ((r[0] + r[2]) + (r[1] + r[3])) + ((r[4] + r[6]) + (r[5] + r[7])));
        }
        for (int i = 0; i < 8; ++i)
        {
            const float *half = rows + i / 4 * 4, *other = half + 8;
            int lane = i % 4;
            const float *pair = (lane % 2 ? other : half) + lane / 2,
                        *four = (lane < 2 ? half : other) + lane % 2,
                        *halves = (i < 4 ? rows : rows + 8) + lane;
            CHECK(results.steps[0][i] == pair[0] + pair[2]);
            CHECK(results.steps[1][i] == four[0] + four[2]);
            CHECK(results.steps[2][i] == halves[0] + halves[4]);
        }
    }
}

TEST(every_operation_is_the_plain_one_in_every_path)
{
    for (int path = 0; path < PATHS; ++path)
        if (!pl_cpu_has(paths[path].simd))
            test_skip_part("no %s path", pl_cpu_path_name(paths[path].simd));
        else
        {
            run_ops(path);
            uint32_t state = pl_fp_state_enter(); /* as in a step: subnormals are zero */
            run_ops(path);
            pl_fp_state_leave(state);
        }
}

/* Inputs of the 3x3 helpers, eight of each, and the double-precision result of one lane. */
typedef struct small_inputs
{
    float a[72], b[72], symmetric[48], right[24];
} small_inputs;

static mat3 lane_matrix(const float* entries, int lane)
{
    mat3 m;
    for (int i = 0; i < 9; ++i)
        m.m[i / 3][i % 3] = entries[8 * i + lane];
    return m;
}

static mat3 lane_symmetric(const float* s, int lane)
{
    static const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    mat3 m;
    for (int i = 0; i < 9; ++i)
        m.m[i / 3][i % 3] = s[8 * place[i] + lane];
    return m;
}

static void set_symmetric(small_inputs* in, int lane, mat3 m)
{
    static const int place[6] = {0, 1, 2, 4, 5, 8};
    for (int i = 0; i < 6; ++i)
        in->symmetric[8 * i + lane] = (float)m.m[place[i] / 3][place[i] % 3];
}

static mat3 random_matrix(pl_rng* rng)
{
    mat3 m;
    for (int i = 0; i < 9; ++i)
        m.m[i / 3][i % 3] = 2 * pl_rng_unit(rng) - 1;
    return m;
}

static small_inputs random_inputs(pl_rng* rng)
{
    small_inputs in;
    for (int i = 0; i < 72; ++i)
    {
        in.a[i] = (float)(2 * pl_rng_unit(rng) - 1);
        in.b[i] = (float)(2 * pl_rng_unit(rng) - 1);
    }
    for (int i = 0; i < 24; ++i)
        in.right[i] = (float)(2 * pl_rng_unit(rng) - 1);
    for (int lane = 0; lane < 8; ++lane)
    {
        mat3 m = random_matrix(rng);
        m = m3_add(m3_mul(m, m3_transpose(m)), m3_scale(m3_identity(), .1));
        set_symmetric(&in, lane, m);
    }
    return in;
}

static void check_matrix(const float* out, int lane, mat3 expected, double tolerance)
{
    for (int i = 0; i < 9; ++i)
        CHECK_NEAR(out[8 * i + lane], expected.m[i / 3][i % 3], tolerance);
}

TEST(small_matrices_agree_with_double)
{
    pl_rng rng = pl_rng_seed(12);
    for (int round = 0; round < 300; ++round)
    {
        small_inputs in = random_inputs(&rng);
        float out[SMALL_COUNT * 8];
        small_ops_scalar(in.a, in.b, in.symmetric, in.right, out);
        for (int lane = 0; lane < 8; ++lane)
        {
            mat3 a = lane_matrix(in.a, lane), b = lane_matrix(in.b, lane);
            mat3 gram = m3_mul(m3_transpose(a), a), s = lane_symmetric(in.symmetric, lane);
            vec3 v = v3(in.right[lane], in.right[8 + lane], in.right[16 + lane]);
            vec3 av = m3_mulv(a, v), solved = m3_mulv(m3_inverse(s), v);
            double det = m3_det(a);
            check_matrix(out + 8 * SMALL_MUL, lane, m3_mul(a, b), 5e-7);
            check_matrix(out + 8 * SMALL_MUL_TN, lane, m3_mul(m3_transpose(a), b), 5e-7);
            check_matrix(out + 8 * SMALL_MUL_NT, lane, m3_mul(a, m3_transpose(b)), 5e-7);
            check_matrix(out + 8 * SMALL_COFACTOR, lane, m3_cofactor(a), 5e-7);
            check_matrix(out + 8 * SMALL_INVERSE, lane, m3_inverse(a), 2e-6 / (det * det));
            CHECK_NEAR(out[8 * SMALL_DET + lane], det, 1e-6);
            float packed[72];
            for (int i = 0; i < 6; ++i)
                packed[8 * i + lane] = out[8 * (SMALL_GRAM + i) + lane];
            mat3 got = lane_symmetric(packed, lane);
            for (int i = 0; i < 9; ++i)
                CHECK_NEAR(got.m[i / 3][i % 3], gram.m[i / 3][i % 3], 5e-7);
            const double expected[6] = {av.x, av.y, av.z, solved.x, solved.y, solved.z};
            for (int i = 0; i < 3; ++i)
            {
                CHECK_NEAR(out[8 * (SMALL_MULV + i) + lane], expected[i], 5e-7);
                CHECK_NEAR(out[8 * (SMALL_SOLVE + i) + lane], expected[3 + i], 5e-5);
            }
        }
    }
}

/* Rank 2, 1 and 0: exact within the range of the matrix, bounded in its null space. */
TEST(a_singular_symmetric_system_has_a_bounded_answer)
{
    pl_rng rng = pl_rng_seed(13);
    for (int round = 0; round < 300; ++round)
    {
        small_inputs in = random_inputs(&rng);
        vec3 wanted[8];
        double scale = ldexp(1, (int)pl_rng_below(&rng, 80) - 40);
        for (int lane = 0; lane < 8; ++lane)
        {
            int rank = lane % 3;
            mat3 m = m3_zero();
            vec3 x = v3(0, 0, 0);
            vec3 n = v3_normalised(v3(pl_rng_unit(&rng), pl_rng_unit(&rng), pl_rng_unit(&rng)));
            vec3 t = v3_normalised(v3_cross(n, v3(.3, -.5, .7)));
            if (rank > 0)
                m = m3_outer(n, n), x = n;
            if (rank > 1)
                m = m3_add(m, m3_scale(m3_outer(t, t), .5)), x = v3_mad(x, t, 2);
            vec3 b = m3_mulv(m, x);
            set_symmetric(&in, lane, m3_scale(m, scale));
            in.right[lane] = (float)(b.x * scale);
            in.right[8 + lane] = (float)(b.y * scale);
            in.right[16 + lane] = (float)(b.z * scale);
            wanted[lane] = x;
        }
        float out[SMALL_COUNT * 8];
        small_ops_scalar(in.a, in.b, in.symmetric, in.right, out);
        for (int lane = 0; lane < 8; ++lane)
        {
            const float* x = out + 8 * SMALL_SOLVE + lane;
            vec3 error = v3_sub(v3(x[0], x[8], x[16]), wanted[lane]);
            CHECK_MSG(v3_length(error) < .03, "rank %d: off by %g", lane % 3, v3_length(error));
            if (lane % 3 == 0)
                CHECK(x[0] == 0 && x[8] == 0 && x[16] == 0);
        }
    }
}

TEST(the_inverse_of_a_singular_matrix_is_zero)
{
    small_inputs in = {0};
    float out[SMALL_COUNT * 8];
    for (int lane = 0; lane < 8; ++lane)
        in.a[lane] = in.a[32 + lane] = (float)lane; /* diag(lane, lane, 0) */
    small_ops_scalar(in.a, in.b, in.symmetric, in.right, out);
    for (int i = 0; i < 72; ++i)
        CHECK(out[8 * SMALL_INVERSE + i] == 0);
}

TEST(cube_roots_are_right_to_one_ulp)
{
    pl_rng rng = pl_rng_seed(14);
    double worst = 0;
    for (int round = 0; round < 20000; ++round)
    {
        small_inputs in = {0};
        float out[SMALL_COUNT * 8];
        for (int lane = 0; lane < 8; ++lane)
            in.right[lane] =
                (float)ldexp(1 + pl_rng_unit(&rng), (int)pl_rng_below(&rng, 253) - 126);
        in.right[7] = round % 2 ? 0.0f : -1.0f;
        in.right[6] = round % 2 ? 1.0f : FLT_MAX;
        small_ops_scalar(in.a, in.b, in.symmetric, in.right, out);
        for (int lane = 0; lane < 7; ++lane)
        {
            double exact = cbrt((double)in.right[lane]), got = out[8 * SMALL_CBRT + lane];
            double ulp = (double)power_below((float)exact) * FLT_EPSILON;
            worst = fmax(worst, fabs(got - exact) / ulp);
        }
        CHECK(out[8 * SMALL_CBRT + 7] == 0);
    }
    CHECK_MSG(worst <= 1, "%.3f ulp", worst);
}

TEST(small_matrices_have_the_same_bits_in_every_path)
{
    pl_rng rng = pl_rng_seed(15);
    if (pl_cpu_best() == PLIANT_SIMD_SCALAR)
        test_skip("built without SIMD paths");
    for (int round = 0; round < 300; ++round)
    {
        small_inputs in = random_inputs(&rng);
        if (round % 3 == 0)
            for (int i = 0; i < 9; ++i)
                in.a[8 * i] = in.symmetric[i % 6 * 8] = 0;
        float expected[SMALL_COUNT * 8];
        small_ops_scalar(in.a, in.b, in.symmetric, in.right, expected);
        for (int path = 1; path < PATHS; ++path)
            if (pl_cpu_has(paths[path].simd))
            {
                float out[SMALL_COUNT * 8];
                paths[path].small(in.a, in.b, in.symmetric, in.right, out);
                CHECK_MSG(memcmp(out, expected, sizeof out) == 0, "path %s",
                          pl_cpu_path_name(paths[path].simd));
            }
    }
}
