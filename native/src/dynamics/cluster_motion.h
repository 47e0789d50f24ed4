// SPDX-License-Identifier: GPL-3.0-or-later
/* A cluster's rigid motion, from its sums, and additions to its row: for damping and shards. */
#ifndef PL_DYNAMICS_CLUSTER_MOTION_H
#define PL_DYNAMICS_CLUSTER_MOTION_H

#include "body/body.h"

static inline vec3 pl_cluster_place(const pl_clusters* k, uint32_t c)
{
    return v3_add(v3_from(k->ref[c]), v3_from(k->sums[c] + 9));
}

static inline mat3 pl_cluster_moments(const pl_clusters* k, uint32_t c)
{
    mat3 m;
    for (int i = 0; i < 9; ++i)
        m.m[i / 3][i % 3] = k->sums[c][i];
    return m;
}

/* F of the lever arms: 0 along directions in which the cluster has no extent. */
static inline mat3 pl_cluster_lever(const pl_clusters* k, uint32_t c)
{
    const float* s = k->arr_inv[c];
    mat3 inverse = {{{s[0], s[3], s[5]}, {s[3], s[1], s[4]}, {s[5], s[4], s[2]}}};
    return m3_mul(pl_cluster_moments(k, c), inverse);
}

/* tr(K) I - K, symmetric. */
static inline mat3 pl_inertia_from(mat3 k)
{
    mat3 made = m3_scale(m3_add(k, m3_transpose(k)), -.5);
    for (int i = 0; i < 3; ++i)
        made.m[i][i] += m3_trace(k);
    return made;
}

/* Adds kappa (v - member's velocity) + A p to a cluster's row. */
static inline void pl_row_add_affine(pl_clusters* k, uint32_t c, mat3 a, vec3 v, double kappa)
{
    float* row = k->row[c];
    vec3 b = v3_sub(v3_scale(v, kappa), m3_mulv(a, v3_from(k->sums[c] + 19)));
    for (int i = 0; i < 9; ++i)
        row[PL_ROW_A + i] += (float)a.m[i / 3][i % 3];
    row[PL_ROW_B] += (float)b.x;
    row[PL_ROW_B + 1] += (float)b.y;
    row[PL_ROW_B + 2] += (float)b.z;
    row[PL_ROW_KAPPA] += (float)kappa;
}

#endif
