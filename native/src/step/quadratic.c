// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Quadratic goals (Mueller et al. 2005, section 4.3): the fit has bending and twisting modes, T~ of
 * size 3 x 9 on q~ = (p, six monomials of p). The goal is beta T~ + (1 - beta) (R | 0).
 *
 * Departures: the monomials are centred by their weighted means, so that the goals' centre of mass
 * is the members' (momentum); the torque of the quadratic part is handed to match, which removes it
 * with the rest. Only clusters that hold particles have these modes: coarser nested levels stay
 * linear.
 */
#include "../base/elementary.h"
#include "kernels.h"

void pl_match_quadratic(pl_clusters* k, uint32_t c, const float a_xr[9], const float a_xq[18],
                        const float r[9], float beta, float t[9])
{
    float fit[27], *row = k->quad_row[c];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 9; ++j)
        {
            float sum = 0;
            for (int n = 0; n < 3; ++n)
                sum += a_xr[3 * i + n] * k->quad_inverse[c][9 * n + j];
            for (int n = 0; n < 6; ++n)
                sum += a_xq[6 * i + n] * k->quad_inverse[c][9 * (3 + n) + j];
            fit[9 * i + j] = sum;
        }
    const float *a = fit, *b = fit + 9, *d = fit + 18;
    float det = a[0] * (b[1] * d[2] - b[2] * d[1]) + a[1] * (b[2] * d[0] - b[0] * d[2]) +
                a[2] * (b[0] * d[1] - b[1] * d[0]);
    bool sound = det > 1e-3f;
    float scale = sound ? beta / (float)pl_cbrt(det) : 0.0f;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            t[3 * i + j] =
                sound ? scale * fit[9 * i + j] + (1 - beta) * r[3 * i + j] : r[3 * i + j];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 6; ++j)
            row[6 * i + j] = sound ? beta * fit[9 * i + 3 + j] : 0.0f;
    /* sum m w (x - x_c) x (C q~) */
    float m[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
        {
            m[3 * i + j] = 0;
            for (int n = 0; n < 6; ++n)
                m[3 * i + j] += a_xq[6 * i + n] * row[6 * j + n];
        }
    row[18] = m[5] - m[7];
    row[19] = m[6] - m[2];
    row[20] = m[1] - m[3];
}
