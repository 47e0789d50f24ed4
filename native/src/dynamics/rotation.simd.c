// SPDX-License-Identifier: GPL-3.0-or-later
#include "dynamics/rotation.h"

void PL_K(pl_rotation_batch)(const float* f, float* r, uint32_t count);

enum
{
    ROOT_STEPS = 2,
    POLISH_STEPS = 4
};

/* Two Newton steps on (l^2 - I1)^2 = 4 (I2 + 2 J l): for needle-like F, cancellation in I1 - s1^2
 * loses digits that I2 still has. */
static inline vf better_root(const pl_rotation_terms8* t, vf l)
{
    const vf half = vf_set1(0.5f);
    vf i2 = vf_mul(t->cofactor[0], t->cofactor[0]);
    for (int i = 1; i < 9; ++i)
        i2 = vf_mad(i2, t->cofactor[i], t->cofactor[i]);
    for (int i = 0; i < ROOT_STEPS; ++i)
    {
        vf c = vf_mul(half, vf_sub(vf_mul(l, l), t->i1));
        vf value = vf_sub(vf_mul(c, c), vf_mad(i2, vf_add(t->j, t->j), l));
        l = vf_sub(l, vf_div(vf_mul(half, value), vf_sub(vf_mul(l, c), t->j)));
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
    pl_rotation_at8(g, &terms, better_root(&terms, pl_rotation_root8(&terms)), rotation);
    for (int step = 0; step < POLISH_STEPS && (lanes & in_range); ++step)
    {
        unsigned done = vm_bits(pl_rotation_polish8(g, rotation)) & in_range & lanes;
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
