// SPDX-License-Identifier: GPL-3.0-or-later
/* Eight 3-vectors at a time, one in each lane. For kernels (*.simd.c). */
#ifndef PL_BASE_SIMD_VEC3_H
#define PL_BASE_SIMD_VEC3_H

#include "base/simd.h"

typedef struct lanes3
{
    vf x, y, z;
} lanes3;

PL_INLINE lanes3 load3(const float* const p[3], uint32_t i)
{
    return (lanes3){vf_load(p[0] + i), vf_load(p[1] + i), vf_load(p[2] + i)};
}
PL_INLINE lanes3 bcast3(const float* p)
{
    return (lanes3){vf_bcast(p), vf_bcast(p + 1), vf_bcast(p + 2)};
}
PL_INLINE lanes3 cross3(lanes3 a, lanes3 b)
{
    return (lanes3){vf_sub(vf_mul(a.y, b.z), vf_mul(a.z, b.y)),
                    vf_sub(vf_mul(a.z, b.x), vf_mul(a.x, b.z)),
                    vf_sub(vf_mul(a.x, b.y), vf_mul(a.y, b.x))};
}
PL_INLINE lanes3 add3(lanes3 a, lanes3 b)
{
    return (lanes3){vf_add(a.x, b.x), vf_add(a.y, b.y), vf_add(a.z, b.z)};
}
PL_INLINE lanes3 sub3(lanes3 a, lanes3 b)
{
    return (lanes3){vf_sub(a.x, b.x), vf_sub(a.y, b.y), vf_sub(a.z, b.z)};
}
PL_INLINE lanes3 mad3(lanes3 a, lanes3 b, vf s)
{
    return (lanes3){vf_mad(a.x, b.x, s), vf_mad(a.y, b.y, s), vf_mad(a.z, b.z, s)};
}
PL_INLINE lanes3 scale3(lanes3 a, vf s)
{
    return (lanes3){vf_mul(a.x, s), vf_mul(a.y, s), vf_mul(a.z, s)};
}
PL_INLINE lanes3 select3(vm m, lanes3 a, lanes3 b)
{
    return (lanes3){vf_select(m, a.x, b.x), vf_select(m, a.y, b.y), vf_select(m, a.z, b.z)};
}
PL_INLINE vf dot3(lanes3 a, lanes3 b)
{
    return vf_mad(vf_mad(vf_mul(a.x, b.x), a.y, b.y), a.z, b.z);
}
PL_INLINE vf sum_abs(lanes3 a)
{
    return vf_add(vf_add(vf_abs(a.x), vf_abs(a.y)), vf_abs(a.z));
}
PL_INLINE lanes3 min3(lanes3 a, lanes3 b)
{
    return (lanes3){vf_min(a.x, b.x), vf_min(a.y, b.y), vf_min(a.z, b.z)};
}
PL_INLINE lanes3 max3(lanes3 a, lanes3 b)
{
    return (lanes3){vf_max(a.x, b.x), vf_max(a.y, b.y), vf_max(a.z, b.z)};
}
PL_INLINE vm none(void)
{
    return vf_lt(vf_set1(1), vf_set1(0));
}
PL_INLINE vm lanes_of(unsigned bits)
{
    float on[8];
    for (int i = 0; i < 8; ++i)
        on[i] = bits >> i & 1 ? 1.0f : 0.0f;
    return vf_lt(vf_set1(0), vf_load(on));
}

#endif
