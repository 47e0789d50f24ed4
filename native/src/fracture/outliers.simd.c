// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Conservative SIMD culling of members that cannot be outliers (outliers.c), in float and without
 * square roots: (a + b)^2 >= a^2 + b^2 bounds the square of 2 (1 + gamma) (|F^p p| + slack) from
 * below. Particles with a single cluster are skipped, because they never leave it.
 */
#include "fracture/outliers.h"

#include "dynamics/kernels.h"

PL_INLINE vf squares(const vf a[3])
{
    return vf_add(vf_add(vf_mul(a[0], a[0]), vf_mul(a[1], a[1])), vf_mul(a[2], a[2]));
}

PL_INLINE void mapped(const float m[9], const vf p[3], vf out[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = vf_mad(vf_mad(vf_mul(vf_set1(m[3 * i]), p[0]), vf_set1(m[3 * i + 1]), p[1]),
                        vf_set1(m[3 * i + 2]), p[2]);
}

/* The lanes that are certainly close enough. */
PL_INLINE vm near_enough(const pl_outlier_bound* l, const vf x[3], const vf r[3])
{
    vf arm[3], p[3], to[3];
    for (int k = 0; k < 3; ++k)
    {
        p[k] = vf_add(r[k], vf_set1(l->from_rest[k]));
        arm[k] = vf_sub(x[k], vf_set1(l->centre[k]));
    }
    mapped(l->f, p, to);
    for (int k = 0; k < 3; ++k)
        to[k] = vf_sub(arm[k], to[k]);
    vm within = vf_lt(squares(to), vf_set1(l->off));
    if (l->on == PL_OUTLIER_OFF)
        return within;
    mapped(l->fp, p, to);
    vf rest = vf_mul(vf_set1(l->times), vf_add(squares(to), vf_set1(l->slack)));
    return vm_and(within, vf_lt(squares(arm), rest));
}

uint32_t PL_K(pl_outliers)(const pl_chunk* chunk, const pl_particles* p,
                           const pl_outlier_bound* rows, pl_suspect* found)
{
    uint32_t count = 0;
    const vf zero = vf_set1(0), one = vf_set1(1);
    for (uint32_t block = 0; block < chunk->block_count; ++block)
    {
        uint32_t slot = chunk->slot_begin + 8 * block;
        uint32_t begin = chunk->block_begin[block], end = chunk->block_begin[block + 1];
        vf x[3], r[3], memberships = zero;
        if (end - begin < 2)
            continue;
        for (uint32_t e = begin; e < end; ++e)
        {
            vf kernel = vf_load(chunk->entry_kernel + 8 * (size_t)e);
            memberships = vf_add(memberships, vf_keep(vf_lt(zero, kernel), one));
        }
        vm several = vf_lt(one, memberships);
        if (!vm_bits(several))
            continue;
        for (int k = 0; k < 3; ++k)
        {
            x[k] = vf_load(p->x[k] + slot);
            r[k] = vf_load(p->r[k] + slot);
        }
        for (uint32_t e = begin; e < end; ++e)
        {
            const pl_outlier_bound* row = &rows[chunk->entry_row[e]];
            if (!row->on)
                continue;
            for (uint32_t k = 0; k < 3 && chunk->own_rest; ++k)
                r[k] = vf_load(chunk->own_rest + 24 * (size_t)e + 8 * (size_t)k);
            vm in = vf_lt(zero, vf_load(chunk->entry_kernel + 8 * (size_t)e));
            uint32_t lanes = vm_bits(vm_andnot(near_enough(row, x, r), vm_and(in, several)));
            if (lanes)
                found[count++] = (pl_suspect){block, e, lanes};
        }
    }
    return count;
}
