// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Quadratic goals (Mueller et al. 2005, section 4.3): the fit has bending and twisting modes, T~ of
 * size 3 x 9 on q~ = (p, six monomials of p). The goal is beta T~ + (1 - beta) (R | 0).
 *
 * Departures: the monomials are centred by their weighted means, so that the goals' centre of mass
 * is the members' (momentum). The fit is made in two parts that do not see each other,
 * F p + C q* with q* = q - mean - S p (setup/quadratic_rest.c says why): F is the deformation
 * gradient, and of it alone the volume is kept. C = (sum m w (x - x_c - F p) q*^T) (sum m w q*
 * q*^T)^-1. So in terms of p and q the goal is
 *
 *     (T - beta C S) p + beta C (q - mean) + x_c,   T = beta V + (1 - beta) R (match.simd.c).
 *
 * The torque of the quadratic part is handed to match, which removes it with the rest. Where F is
 * flat or turned inside out the goals are rigid. Only clusters that hold particles have these
 * modes: coarser nested levels stay linear.
 */
#include "kernels.h"

/* beta C, from the moments with the linear part taken out. */
static void fit_modes(const pl_clusters* k, uint32_t c, const float a_xr[9], const float f[9],
                      const float a_xq[18], float beta, float modes[18])
{
    const float *slope = k->quad_slope[c], *inverse = k->quad_inverse[c], *thin = k->quad_thin[c];
    float width = k->width_rms[c], mass = k->sums[c][18];
    float scale = width > 0 && mass > 0 ? 1 / (width * width) : 0;
    float per_mass = scale > 0 ? scale / mass : 0;
    for (int i = 0; i < 3; ++i)
    {
        const float *a = a_xr + 3 * i, *g = f + 3 * i;
        float moment[6];
        for (int j = 0; j < 6; ++j)
        {
            const float* s = slope + 3 * j;
            float linear = a[0] * s[0] + a[1] * s[1] + a[2] * s[2];
            float flat = g[0] * thin[j] + g[1] * thin[6 + j] + g[2] * thin[12 + j];
            moment[j] = (a_xq[6 * i + j] - linear) * per_mass - flat * scale;
        }
        for (int j = 0; j < 6; ++j)
        {
            float sum = 0;
            for (int n = 0; n < 6; ++n)
                sum += moment[n] * inverse[6 * n + j];
            modes[6 * i + j] = beta * scale * sum;
        }
    }
}

void pl_match_quadratic(pl_clusters* k, uint32_t c, const float a_xr[9], const float f[9],
                        const float a_xq[18], float beta, float t[9])
{
    const float* slope = k->quad_slope[c];
    float* row = k->quad_row[c];
    float det = f[0] * (f[4] * f[8] - f[5] * f[7]) + f[1] * (f[5] * f[6] - f[3] * f[8]) +
                f[2] * (f[3] * f[7] - f[4] * f[6]);
    memset(row, 0, sizeof k->quad_row[c]);
    if (!(det > .1f))
        return; /* T is R there */
    fit_modes(k, c, a_xr, f, a_xq, beta, row);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int n = 0; n < 6; ++n)
                t[3 * i + j] -= row[6 * i + n] * slope[3 * n + j];
    /* sum m w (x - x_c) x (beta C q) */
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
