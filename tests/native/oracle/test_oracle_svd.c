// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/lapack.h"
#include "base/rng.h"
#include "native/oracle/oracle.h"
#include "native/support/test.h"

static mat3 random_matrix(pl_rng* rng)
{
    mat3 a;
    for (int i = 0; i < 9; ++i)
        a.m[i / 3][i % 3] = 2 * pl_rng_unit(rng) - 1;
    return a;
}

static double distance(mat3 a, mat3 b)
{
    double sum = 0;
    for (int i = 0; i < 9; ++i)
        sum += pow(a.m[i / 3][i % 3] - b.m[i / 3][i % 3], 2);
    return sqrt(sum);
}

static mat3 random_rotation(pl_rng* rng)
{
    mat3 u, v;
    double sigma[3];
    reference_svd(random_matrix(rng), &u, sigma, &v);
    return m3_mul(u, m3_transpose(v));
}

static void check_svd(mat3 a, const char* kind)
{
    mat3 u, v, lu, lv;
    double sigma[3], expected[3];
    reference_svd(a, &u, sigma, &v);
    REQUIRE(pl_svd3(a, &lu, expected, &lv));
    mat3 back = m3_zero();
    for (int i = 0; i < 9; ++i)
        for (int k = 0; k < 3; ++k)
            back.m[i / 3][i % 3] += u.m[i / 3][k] * sigma[k] * v.m[i % 3][k];
    double scale = expected[0];
    CHECK_MSG(distance(back, a) <= 1e-14 * scale, "%s: u s v^T is off by %g of %g", kind,
              distance(back, a), scale);
    for (int k = 0; k < 3; ++k)
        CHECK_MSG(fabs(fabs(sigma[k]) - expected[k]) <= 1e-14 * scale, "%s: sigma %d is %g, not %g",
                  kind, k, sigma[k], expected[k]);
    CHECK_NEAR(m3_det(u), 1, 1e-14);
    CHECK_NEAR(m3_det(v), 1, 1e-14);
    CHECK(distance(m3_mul(m3_transpose(u), u), m3_identity()) < 1e-14);
    CHECK(distance(m3_mul(m3_transpose(v), v), m3_identity()) < 1e-14);
    double gap = sigma[1] + sigma[2];
    if (gap < 1e-6 * scale)
        return; /* the rotation is not determined */
    double sign = m3_det(lu) * m3_det(lv) < 0 ? -1 : 1;
    for (int i = 0; i < 3; ++i)
        lu.m[i][2] *= sign;
    mat3 r = m3_mul(u, m3_transpose(v)), lr = m3_mul(lu, m3_transpose(lv));
    CHECK_MSG(distance(r, lr) <= 1e-14 * scale / gap, "%s: R is off by %g, gap %g", kind,
              distance(r, lr), gap);
}

TEST(reference_svd_is_lapacks_with_proper_rotations)
{
    pl_rng rng = pl_rng_seed(11);
    for (int k = 0; k < 300; ++k)
    {
        mat3 a = random_matrix(&rng), q = random_rotation(&rng), p = random_rotation(&rng);
        mat3 d = m3_zero();
        check_svd(a, "random");
        check_svd(q, "rotation");
        check_svd(m3_scale(q, -1), "inverted");
        check_svd(m3_scale(a, 1e-120), "tiny");
        d.m[0][0] = 1 + pl_rng_unit(&rng);
        d.m[1][1] = .5;
        check_svd(m3_mul(m3_mul(q, d), p), "flat");
        d.m[1][1] = 1e-9;
        d.m[2][2] = -1e-12;
        check_svd(m3_mul(m3_mul(q, d), p), "needle");
        d.m[1][1] = d.m[2][2] = 0;
        check_svd(m3_mul(m3_mul(q, d), p), "line");
    }
    mat3 u, v;
    double sigma[3];
    reference_svd(m3_zero(), &u, sigma, &v);
    CHECK(distance(u, m3_identity()) == 0 && distance(v, m3_identity()) == 0 && sigma[0] == 0);
}
