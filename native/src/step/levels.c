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
 *   A (B p_f + q) + b - alpha (x - ref_c)
 *     =  (A B) p_f + (b + A q + alpha (ref_c - ref_f)) - alpha (x - ref_f).
 *
 * So particles store memberships of the finest level only, and levels cost links, not memberships.
 */
#include "levels.h"

static void sum_one(pl_body* body, uint32_t c)
{
    const pl_links* links = &body->links;
    pl_clusters* k = &body->clusters;
    uint32_t begin = links->by_coarse_begin[c], end = links->by_coarse_begin[c + 1];
    float *out = k->sums[c], *ref = k->ref[c];
    double mass = 0, x[3] = {0}, v[3] = {0}, a[9] = {0}, spin[3] = {0}, left[3] = {0};
    memcpy(ref, k->ref[links->fine[begin]], sizeof k->ref[c]);
    for (uint32_t i = begin; i < end; ++i)
    {
        const float *s = k->sums[links->fine[i]], *from = k->ref[links->fine[i]];
        const float *b = links->b[i], *q = links->q[i];
        double um = (double)links->u[i] * s[18];
        mass += um;
        for (int j = 0; j < 3; ++j)
        {
            x[j] += um * (s[9 + j] + ((double)from[j] - ref[j]));
            v[j] += um * s[12 + j];
            left[j] +=
                um * (q[j] + (b[3 * j] * s[19] + b[3 * j + 1] * s[20] + b[3 * j + 2] * s[21]));
        }
    }
    for (int j = 0; j < 3 && mass > 0; ++j)
        x[j] /= mass, v[j] /= mass, left[j] /= mass;
    for (uint32_t i = begin; i < end; ++i)
    {
        const float *s = k->sums[links->fine[i]], *from = k->ref[links->fine[i]];
        const float *b = links->b[i], *q = links->q[i];
        double u = links->u[i], um = u * s[18], dx[3], dv[3];
        for (int j = 0; j < 3; ++j)
        {
            dx[j] = (s[9 + j] + ((double)from[j] - ref[j])) - x[j];
            dv[j] = s[12 + j] - v[j];
        }
        if (links->plain)
            for (int r = 0; r < 3; ++r)
                for (int j = 0; j < 3; ++j)
                    a[3 * r + j] += u * s[3 * r + j] + um * dx[r] * q[j];
        else
            for (int r = 0; r < 3; ++r)
                for (int j = 0; j < 3; ++j)
                    a[3 * r + j] +=
                        u * ((double)s[3 * r] * b[3 * j] + (double)s[3 * r + 1] * b[3 * j + 1] +
                             (double)s[3 * r + 2] * b[3 * j + 2]) +
                        um * dx[r] * q[j];
        spin[0] += u * s[15] + um * (dx[1] * dv[2] - dx[2] * dv[1]);
        spin[1] += u * s[16] + um * (dx[2] * dv[0] - dx[0] * dv[2]);
        spin[2] += u * s[17] + um * (dx[0] * dv[1] - dx[1] * dv[0]);
    }
    for (int j = 0; j < 9; ++j)
        out[j] = (float)a[j];
    for (int j = 0; j < 3; ++j)
    {
        out[9 + j] = (float)x[j];
        out[12 + j] = (float)v[j];
        out[15 + j] = (float)spin[j];
        out[19 + j] = (float)left[j];
    }
    out[18] = (float)mass;
    out[22] = out[23] = 0;
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
        const float* ref = k->ref[links->coarse[i]];
        float u = links->u[i];
        for (int r = 0; r < 3; ++r)
        {
            const float* a = row + 3 * r;
            if (links->plain)
                for (int j = 0; j < 3; ++j)
                    out[3 * r + j] += u * a[j];
            else
                for (int j = 0; j < 3; ++j)
                    out[3 * r + j] += u * (a[0] * b[j] + a[1] * b[3 + j] + a[2] * b[6 + j]);
            out[PL_ROW_B + r] +=
                u * (row[PL_ROW_B + r] + (a[0] * q[0] + a[1] * q[1] + a[2] * q[2]) +
                     row[PL_ROW_ALPHA] * (ref[r] - k->ref[f][r]));
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
