// SPDX-License-Identifier: GPL-3.0-or-later
#include "rotation.h"

void PL_K(pl_rotation_batch)(const float* f, float* r, uint32_t count);

enum
{
    NESTED_STEPS = 3,
    QUARTIC_STEPS = 10,
    POLISH_STEPS = 5
};

/* The largest root of the expanded quartic, by Newton's method from above: for inverted F too. */
static inline vf quartic_root(const pl_rotation_terms8* t)
{
    const vf four = vf_set1(4.0f);
    vf i2_four = vf_mul(four, t->i2), j_eight = vf_mul(vf_set1(8.0f), t->j);
    vf l = vf_sqrt(vf_mul(vf_set1(3.0f), t->i1));
    for (int i = 0; i < QUARTIC_STEPS; ++i)
    {
        vf d = vf_sub(vf_mul(l, l), t->i1);
        vf value = vf_sub(vf_sub(vf_mul(d, d), i2_four), vf_mul(j_eight, l));
        vf slope = vf_sub(vf_mul(four, vf_mul(l, d)), j_eight);
        l = vf_sub(l, vf_div(value, slope));
    }
    return l;
}

void PL_K(pl_rotation_retry)(const float f[72], float r[72], unsigned lanes)
{
    vf matrix[9], g[9], rotation[9];
    float stored[72];
    pl_rotation_terms8 terms;
    for (int i = 0; i < 9; ++i)
        matrix[i] = vf_load(f + 8 * i);
    unsigned in_range = vm_bits(pl_rotation_scale8(matrix, g));
    pl_rotation_terms8_of(g, &terms);
    vm inverted = vf_lt(terms.j, vf_set1(0.0f));
    vf l = vf_select(inverted, quartic_root(&terms), pl_rotation_root8(&terms, NESTED_STEPS));
    pl_rotation_at8(g, &terms, l, rotation);

    /* One step more than the certificate asks for: after a large step E does not commute with S,
     * which disturbs the next w, and most so where s3 < 0. */
    unsigned before = 0;
    for (int step = 0; step < POLISH_STEPS && (lanes & in_range); ++step)
    {
        unsigned small = vm_bits(pl_rotation_polish8(g, rotation)) & in_range;
        unsigned done = small & before & lanes;
        before = small;
        for (int i = 0; i < 9; ++i)
            vf_store(stored + 8 * i, rotation[i]);
        for (int lane = 0; lane < 8; ++lane)
            for (int i = 0; i < 9 && (done >> lane & 1u); ++i)
                r[8 * i + lane] = stored[8 * i + lane];
        lanes &= ~done;
    }
    if (lanes)
        pl_rotation_repair(f, r, lanes);
}

void PL_K(pl_rotation_batch)(const float* f, float* r, uint32_t count)
{
    for (uint32_t block = 0; block < count / 8; ++block)
    {
        vf matrix[9], rotation[9];
        for (int i = 0; i < 9; ++i)
            matrix[i] = vf_load(f + 72 * (size_t)block + 8 * i);
        pl_rotation8(matrix, rotation);
        for (int i = 0; i < 9; ++i)
            vf_store(r + 72 * (size_t)block + 8 * i, rotation[i]);
    }
}
