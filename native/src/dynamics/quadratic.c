// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Quadratic goals (Mueller et al. 2005, section 4.3): the fit has bending and twisting modes, T~ of
 * size 3 x 9 on q~ = (p, six monomials of p). The goal is beta T~ + (1 - beta) (R | 0).
 *
 * Departures: the monomials are centred by their weighted means, so that goals and members have the
 * same centre of mass (momentum). The fit has two orthogonal parts, F p + C q* with
 * q* = q - mean - S p (body/quadratic_rest.c has the reason). F is the deformation gradient, and
 * only its volume is preserved. C = (sum m w (x - x_c - F p) q*^T) (sum m w q* q*^T)^-1. So in
 * terms of p and q the goal is
 *
 *     (T - beta C S) p + beta C (q - mean) + x_c,   T = beta V + (1 - beta) R (match.simd.c).
 *
 * With a stiffness in pascals or hertz, beta applies to the linear part only: instead of beta C the
 * goals follow C minus what each mode's material stiffness resists (body/quadratic_bend.c).
 *
 * match removes the torque of the quadratic part with the rest. Where F is flat or inverted the
 * goals are rigid. Only clusters of particles have these modes: coarser nested levels stay linear.
 */
#include "dynamics/kernels.h"

/* sum m w (x - x_c - F p) q*^T over the mass and the squared width. */
static float fit_moments(const pl_clusters* k, uint32_t c, const pl_quadratic_fit* fit,
                         float moment[18])
{
    const float *slope = k->quad_slope[c], *thin = k->quad_thin[c];
    float width = k->width_rms[c], mass = k->sums[c][18];
    float scale = width > 0 && mass > 0 ? 1 / (width * width) : 0;
    float per_mass = scale > 0 ? scale / mass : 0;
    for (int i = 0; i < 3; ++i)
    {
        const float *a = fit->a_xr + 3 * i, *g = fit->f + 3 * i;
        for (int j = 0; j < 6; ++j)
        {
            const float* s = slope + 3 * j;
            float linear = a[0] * s[0] + a[1] * s[1] + a[2] * s[2];
            float flat = g[0] * thin[j] + g[1] * thin[6 + j] + g[2] * thin[12 + j];
            moment[6 * i + j] = (fit->a_xq[6 * i + j] - linear) * per_mass - flat * scale;
        }
    }
    return scale;
}

/* beta C */
static void follow_fit(const pl_clusters* k, uint32_t c, float scale, const float moment[18],
                       float modes[18])
{
    const float* inverse = k->quad_inverse[c];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 6; ++j)
        {
            float sum = 0;
            for (int n = 0; n < 6; ++n)
                sum += moment[6 * i + n] * inverse[6 * n + j];
            modes[6 * i + j] = scale * sum;
        }
}

/* C minus the part that the material resists, in the rest frame. */
static void follow_material(const pl_clusters* k, uint32_t c, float scale, const float r[9],
                            const float moment[18], float modes[18])
{
    const float* bend = k->quad_bend[c];
    float at_rest[18], follow[18];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 6; ++j)
            at_rest[6 * i + j] =
                r[i] * moment[j] + r[3 + i] * moment[6 + j] + r[6 + i] * moment[12 + j];
    for (int n = 0; n < 18; ++n)
    {
        follow[n] = 0;
        for (int j = 0; j < 18; ++j)
            follow[n] += bend[18 * n + j] * at_rest[j];
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 6; ++j)
            modes[6 * i + j] = scale * (r[3 * i] * follow[j] + r[3 * i + 1] * follow[6 + j] +
                                        r[3 * i + 2] * follow[12 + j]);
}

void pl_match_quadratic(pl_clusters* k, uint32_t c, const pl_quadratic_fit* fit, float t[9])
{
    const float *slope = k->quad_slope[c], *f = fit->f;
    float *row = k->quad_row[c], moment[18];
    float det = f[0] * (f[4] * f[8] - f[5] * f[7]) + f[1] * (f[5] * f[6] - f[3] * f[8]) +
                f[2] * (f[3] * f[7] - f[4] * f[6]);
    memset(row, 0, sizeof k->quad_row[c]);
    if (!(det > .1f))
        return; /* T is R there */
    float scale = fit_moments(k, c, fit, moment);
    if (fit->r)
        follow_material(k, c, scale, fit->r, moment, row);
    else
        follow_fit(k, c, fit->beta * scale, moment, row);
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
                m[3 * i + j] += fit->a_xq[6 * i + n] * row[6 * j + n];
        }
    row[18] = m[5] - m[7];
    row[19] = m[6] - m[2];
    row[20] = m[1] - m[3];
}
