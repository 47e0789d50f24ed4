// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Nested levels (DESIGN.md; Kaliappan and Bargteil 2020 have independent ones). A coarse cluster
 * treats its fine clusters as elements: a fine offset p_f is B p_f + q in the coarse one. Its
 * moments are sums over fine clusters,
 *
 *   A_c = sum_f u (A_f B^T + m_f (x_f - x_c) q^T),   L_c = sum_f u (L_f + m_f (x_f - x_c) x (v_f -
 * v_c))
 *
 * and its impulse, affine in its own offset, is affine in the fine one:
 *
 *   A (B p_f + q) + b  =  (A B) p_f + (b + A q).
 *
 * So particles store memberships of the finest level only, and levels cost links, not memberships.
 */
#include "levels.h"

static void sum_one(pl_body* body, uint32_t c)
{
    const pl_links* links = &body->links;
    pl_clusters* k = &body->clusters;
    uint32_t begin = links->by_coarse_begin[c], end = links->by_coarse_begin[c + 1];
    float total[24] = {0}, mass = 0, *out = k->sums[c];
    for (uint32_t i = begin; i < end; ++i)
    {
        const float* s = k->sums[links->fine[i]];
        float um = links->u[i] * s[18];
        mass += um;
        for (int j = 0; j < 6; ++j)
            total[9 + j] += um * s[9 + j];
    }
    float per_mass = mass > 0 ? 1 / mass : 0;
    for (int j = 0; j < 6; ++j)
        total[9 + j] *= per_mass;
    total[18] = mass;
    for (uint32_t i = begin; i < end; ++i)
    {
        const float *s = k->sums[links->fine[i]], *b = links->b[i], *q = links->q[i];
        float u = links->u[i], um = u * s[18], dx[3], dv[3];
        for (int j = 0; j < 3; ++j)
        {
            dx[j] = s[9 + j] - total[9 + j];
            dv[j] = s[12 + j] - total[12 + j];
        }
        for (int r = 0; r < 3; ++r)
            for (int j = 0; j < 3; ++j)
                total[3 * r + j] += u * (s[3 * r] * b[3 * j] + s[3 * r + 1] * b[3 * j + 1] +
                                         s[3 * r + 2] * b[3 * j + 2]) +
                                    um * dx[r] * q[j];
        total[15] += u * s[15] + um * (dx[1] * dv[2] - dx[2] * dv[1]);
        total[16] += u * s[16] + um * (dx[2] * dv[0] - dx[0] * dv[2]);
        total[17] += u * s[17] + um * (dx[0] * dv[1] - dx[1] * dv[0]);
    }
    memcpy(out, total, sizeof total);
}

void pl_levels_sum(pl_body* body, uint32_t begin, uint32_t end)
{
    for (uint32_t c = begin; c < end; ++c)
        sum_one(body, c);
}

static void spread_one(pl_body* body, uint32_t f)
{
    const pl_links* links = &body->links;
    pl_clusters* k = &body->clusters;
    float* out = k->row[f];
    for (uint32_t n = links->by_fine_begin[f]; n < links->by_fine_begin[f + 1]; ++n)
    {
        uint32_t i = links->by_fine[n];
        const float *row = k->row[links->coarse[i]], *b = links->b[i], *q = links->q[i];
        float u = links->u[i];
        for (int r = 0; r < 3; ++r)
        {
            const float* a = row + 3 * r;
            for (int j = 0; j < 3; ++j)
                out[3 * r + j] += u * (a[0] * b[j] + a[1] * b[3 + j] + a[2] * b[6 + j]);
            out[PL_ROW_B + r] +=
                u * (row[PL_ROW_B + r] + (a[0] * q[0] + a[1] * q[1] + a[2] * q[2]));
        }
        out[PL_ROW_ALPHA] += u * row[PL_ROW_ALPHA];
        out[PL_ROW_KAPPA] += u * row[PL_ROW_KAPPA];
    }
}

void pl_levels_spread(pl_body* body, uint32_t begin, uint32_t end)
{
    for (uint32_t f = begin; f < end; ++f)
        spread_one(body, f);
}
