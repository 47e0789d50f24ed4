// SPDX-License-Identifier: GPL-3.0-or-later
/* Rotations against LAPACK's singular values in double, and every path against the scalar one. */
#include "native/support/test.h"

#include <base/core.h>
#include <base/cpu.h>
#include <base/hash.h>
#include <base/lapack.h>
#include <base/platform.h>
#include <base/rng.h>
#include <dynamics/rotation.h>
#include <float.h>
#include <string.h>

enum
{
    COUNT = 8192 /* matrices of each kind */
};

static float matrices[COUNT * 9], rotations[COUNT * 9];

static float* entry(float* batch, uint32_t matrix, int k)
{
    return batch + 72 * (matrix / 8) + 8 * k + matrix % 8;
}

static mat3 get(float* batch, uint32_t matrix)
{
    mat3 m;
    for (int k = 0; k < 9; ++k)
        m.m[k / 3][k % 3] = *entry(batch, matrix, k);
    return m;
}

static void set(float* batch, uint32_t matrix, mat3 m)
{
    for (int k = 0; k < 9; ++k)
        *entry(batch, matrix, k) = (float)m.m[k / 3][k % 3];
}

static double between(pl_rng* rng, double low, double high)
{
    return low + (high - low) * pl_rng_unit(rng);
}

static mat3 random_matrix(pl_rng* rng)
{
    mat3 m;
    for (int k = 0; k < 9; ++k)
        m.m[k / 3][k % 3] = between(rng, -1, 1);
    return m;
}

static mat3 random_rotation(pl_rng* rng)
{
    double q[4], square;
    do
    {
        square = 0;
        for (int i = 0; i < 4; ++i)
        {
            q[i] = between(rng, -1, 1);
            square += q[i] * q[i];
        }
    } while (square > 1 || square < .01);
    double w = q[0], x = q[1], y = q[2], z = q[3], s = 2 / square;
    return (mat3){{{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                   {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                   {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}}};
}

static mat3 with_stretches(pl_rng* rng, double a, double b, double c)
{
    mat3 stretch = {{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
    mat3 u = random_rotation(rng), v = random_rotation(rng);
    return m3_mul(m3_mul(u, stretch), v);
}

/* Kinds of matrices. */
static mat3 pure_rotation(pl_rng* rng)
{
    return random_rotation(rng);
}
static mat3 usual(pl_rng* rng)
{
    return with_stretches(rng, between(rng, .5, 2), between(rng, .5, 2), between(rng, .5, 2));
}
static mat3 ten_to_one(pl_rng* rng)
{
    return with_stretches(rng, 10, between(rng, 1, 10), between(rng, 1, 10));
}
static mat3 stretched(pl_rng* rng)
{
    double s[3];
    for (int i = 0; i < 3; ++i)
        s[i] = pow(10, between(rng, -3, 3));
    return with_stretches(rng, s[0], s[1], s[2]);
}
static mat3 slightly_inverted(pl_rng* rng)
{
    return with_stretches(rng, between(rng, 1, 2), between(rng, .6, 1), between(rng, -.3, 0));
}
static mat3 inverted(pl_rng* rng)
{
    return with_stretches(rng, between(rng, 1, 3), between(rng, 1, 2), -between(rng, 0, 1));
}
static mat3 mirrored(pl_rng* rng)
{
    return with_stretches(rng, between(rng, 1, 2), between(rng, 1, 2), -between(rng, 1, 2));
}
static mat3 flat(pl_rng* rng)
{
    mat3 m = {{{0}}};
    for (int i = 0; i < 3; ++i)
    {
        m.m[i][0] = (float)between(rng, -1, 1);
        m.m[i][1] = (float)between(rng, -1, 1);
        m.m[i][2] = m.m[i][0]; /* exactly of rank 2 */
    }
    return m;
}
static mat3 nearly_flat(pl_rng* rng)
{
    return with_stretches(rng, between(rng, 1, 2), between(rng, 1, 2), 1e-6 * between(rng, -1, 1));
}
static mat3 needle(pl_rng* rng)
{
    double thin = pow(10, between(rng, -8, 0));
    return with_stretches(rng, 1, thin, thin * between(rng, -1, 1));
}
static mat3 exact_needle(pl_rng* rng)
{
    vec3 a = v3(between(rng, -1, 1), between(rng, -1, 1), between(rng, -1, 1));
    mat3 m = {{{a.x, -a.x, 2 * a.x}, {a.y, -a.y, 2 * a.y}, {a.z, -a.z, 2 * a.z}}};
    for (int i = 0; i < 9; ++i)
        m.m[i / 3][i % 3] = (float)m.m[i / 3][i % 3];
    return m;
}
static mat3 of_any_scale(pl_rng* rng)
{
    double scale = pow(10, between(rng, -15, 15));
    return m3_scale(pl_rng_below(rng, 4) ? usual(rng) : random_matrix(rng), scale);
}
static mat3 at_the_ends_of_the_range(pl_rng* rng)
{
    double scale = pl_rng_below(rng, 2) ? 1e38 : 1e-36;
    return m3_scale(random_matrix(rng), scale);
}
static mat3 special(pl_rng* rng)
{
    static const double values[] = {0, 0, 0, 1, -1, 1, 2, -2, .5};
    mat3 m;
    for (int k = 0; k < 9; ++k)
        m.m[k / 3][k % 3] = values[pl_rng_below(rng, 9)];
    return m;
}

static const struct
{
    const char* name;
    mat3 (*make)(pl_rng*);
} kinds[] = {
    {"random", random_matrix},
    {"pure rotation", pure_rotation},
    {"usual", usual},
    {"ten to one", ten_to_one},
    {"stretched", stretched},
    {"slightly inverted", slightly_inverted},
    {"inverted", inverted},
    {"mirrored", mirrored},
    {"flat", flat},
    {"nearly flat", nearly_flat},
    {"needle", needle},
    {"exact needle", exact_needle},
    {"of any scale", of_any_scale},
    {"at the ends of the range", at_the_ends_of_the_range},
    {"special", special},
};

static void fill(float* batch, uint32_t count, uint32_t kind)
{
    pl_rng rng = pl_rng_seed(100 + kind);
    for (uint32_t i = 0; i < count; ++i)
        set(batch, i, kinds[kind].make(&rng));
}

/* The largest entry of r^T r - 1. */
static double skewness(mat3 r)
{
    mat3 gram = m3_mul(m3_transpose(r), r);
    double worst = 0;
    for (int k = 0; k < 9; ++k)
        worst = PL_MAX(worst, fabs(gram.m[k / 3][k % 3] - (k % 4 == 0)));
    return worst;
}

/* |r - reference| over the bound 5e-7 s1 / (s2 + s3); 0 where the rotation is not unique. */
static double share_of_bound(mat3 f, mat3 r)
{
    mat3 u, v, sign = m3_identity();
    double s[3], square = 0;
    if (!pl_svd3(f, &u, s, &v))
        return INFINITY;
    sign.m[2][2] = m3_det(u) * m3_det(v) < 0 ? -1 : 1;
    double sum = s[1] + sign.m[2][2] * s[2];
    if (!(sum > 1e-12 * s[0]))
        return 0;
    mat3 reference = m3_mul(m3_mul(u, sign), m3_transpose(v));
    for (int k = 0; k < 9; ++k)
        square += pow(r.m[k / 3][k % 3] - reference.m[k / 3][k % 3], 2);
    return sqrt(square) / (5e-7 * s[0] / sum);
}

TEST(rotations_agree_with_lapack)
{
    for (uint32_t kind = 0; kind < PL_COUNTOF(kinds); ++kind)
    {
        double worst_share = 0, worst_skewness = 0;
        fill(matrices, COUNT, kind);
        pl_rotation_batch(PLIANT_SIMD_AUTO, matrices, rotations, COUNT);
        for (uint32_t i = 0; i < COUNT; ++i)
        {
            mat3 f = get(matrices, i), r = get(rotations, i);
            double share = share_of_bound(f, r), skew = skewness(r);
            CHECK_MSG(share <= 1, "%s, matrix %u: %.2f of the bound", kinds[kind].name, i, share);
            CHECK_MSG(skew < 1e-6, "%s, matrix %u: orthonormal to %g", kinds[kind].name, i, skew);
            CHECK_MSG(m3_det(r) > 0, "%s, matrix %u: a reflection", kinds[kind].name, i);
            worst_share = PL_MAX(worst_share, share);
            worst_skewness = PL_MAX(worst_skewness, skew);
        }
        printf("    %-25s %.2f of the bound, orthonormal to %.1e\n", kinds[kind].name, worst_share,
               worst_skewness);
    }
}

static void compare_paths(void)
{
    static float others[COUNT * 9];
    for (uint32_t kind = 0; kind < PL_COUNTOF(kinds); ++kind)
    {
        fill(matrices, COUNT, kind);
        pl_rotation_batch(PLIANT_SIMD_SCALAR, matrices, rotations, COUNT);
        for (uint32_t simd = PLIANT_SIMD_SSE2; simd <= PLIANT_SIMD_NEON; ++simd)
            if (pl_cpu_has(simd))
            {
                memset(others, 0, sizeof others);
                pl_rotation_batch(simd, matrices, others, COUNT);
                CHECK_MSG(memcmp(rotations, others, sizeof others) == 0, "%s differs for %s",
                          pl_cpu_path_name(simd), kinds[kind].name);
            }
    }
}

TEST(rotations_have_the_same_bits_in_every_path)
{
    for (uint32_t simd = PLIANT_SIMD_SSE2; simd <= PLIANT_SIMD_NEON; ++simd)
        if (!pl_cpu_has(simd))
            test_skip_part("no %s path", pl_cpu_path_name(simd));
    compare_paths();
    uint32_t state = pl_fp_state_enter(); /* as in a step */
    compare_paths();
    pl_fp_state_leave(state);
}

/* The matrices use +, *, / and small integers only, so every machine has the same. */
TEST(rotations_have_the_same_bits_on_every_machine)
{
    pl_rng rng = pl_rng_seed(7);
    uint64_t hash = PL_HASH_START;
    for (uint32_t i = 0; i < COUNT; ++i)
    {
        mat3 m = random_matrix(&rng);
        if (i % 16 == 0)
            for (int k = 0; k < 3; ++k)
                m.m[k][2] = m.m[k][0]; /* flat */
        if (i % 16 == 1)
            for (int k = 0; k < 3; ++k)
                m.m[2][k] = m.m[1][k] = m.m[0][k]; /* a needle */
        set(matrices, i, i % 3 ? m3_add(m, m3_identity()) : m);
    }
    uint32_t state = pl_fp_state_enter();
    pl_rotation_batch(PLIANT_SIMD_AUTO, matrices, rotations, COUNT);
    pl_fp_state_leave(state);
    hash = pl_hash(hash, rotations, sizeof rotations);
    CHECK_MSG(hash == 0x1099f6448625d6f2ull, "the hash is 0x%016llx", (unsigned long long)hash);
}

/* Other lanes affect which code runs, but must not affect a lane's result. */
TEST(a_rotation_does_not_depend_on_its_neighbours)
{
    static float alone[COUNT * 9];
    pl_rng rng = pl_rng_seed(8);
    for (uint32_t i = 0; i < COUNT; ++i)
        set(matrices, i, kinds[pl_rng_below(&rng, PL_COUNTOF(kinds))].make(&rng));
    pl_rotation_batch(PLIANT_SIMD_AUTO, matrices, rotations, COUNT);
    for (uint32_t i = 0; i < COUNT; ++i)
    {
        float block[72], result[72];
        for (uint32_t k = 0; k < 72; ++k)
            block[k] = *entry(matrices, i, (int)k / 8);
        pl_rotation_batch(PLIANT_SIMD_AUTO, block, result, 8);
        for (uint32_t k = 0; k < 9; ++k)
            *entry(alone, i, (int)k) = result[8 * k + (i + 3) % 8];
    }
    CHECK(memcmp(alone, rotations, sizeof alone) == 0);
}

TEST(what_has_no_rotation_gets_the_identity)
{
    float f[72] = {0}, r[72];
    f[1] = NAN;
    f[8 + 2] = INFINITY;
    f[32 + 3] = -INFINITY;
    for (int k = 0; k < 9; ++k)
        f[8 * k + 4] = NAN;
    for (int k = 0; k < 3; ++k)
        f[32 * k + 5] = 3; /* lane 5 is 3 times the identity */
    f[0 + 6] = FLT_MAX, f[32 + 6] = FLT_MAX, f[64 + 6] = FLT_MAX;
    f[0 + 7] = FLT_MIN / 8, f[32 + 7] = FLT_MIN / 8, f[64 + 7] = FLT_MIN / 8;
    for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
        if (pl_cpu_has(simd))
        {
            pl_rotation_batch(simd, f, r, 8);
            for (int k = 0; k < 72; ++k)
                CHECK_MSG(r[k] == (float)(k / 8 % 4 == 0), "entry %d of lane %d is %g", k / 8,
                          k % 8, r[k]);
        }
}
