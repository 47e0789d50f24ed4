// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Plastic flow of the oracle: Falkenstein 2017, 2.24 to 2.31, with the misprints mended. Of
 * F = F^e F^p, F^e = U diag(sigma) V^T, what the stretch s, sigma freed of its change of volume,
 * has over the yield strain y moves to F^p:
 *
 *   n = |s - 1|,  F^p <- V diag(s^e) V^T F^p,  e = share (n - y) / n,  y = max(0, yield + K a)
 *
 * with the hardening variable a the sum of e |log s|.
 */
#include "native/oracle/oracle.h"

#include <math.h>

void reference_flow(const reference_settings* settings, reference_cluster* cluster, double dt)
{
    const pliant_material_desc* m = &settings->material;
    double sigma[3], log_s[3], size = 0, length = 0;
    mat3 u, v, grow = m3_zero();
    mat3 f = m3_mul(cluster->axr, cluster->arr_inverse);
    if (cluster->flat)
        return;
    reference_svd(m3_mul(f, cluster->fp_inverse), &u, sigma, &v);
    if (!(sigma[2] > 1e-4))
        return;
    double cube = cbrt(sigma[0] * sigma[1] * sigma[2]);
    double yield = fmax(0, m->yield + m->hardening * cluster->plastic_strain);
    double share = m->flow_per_step ? fmin(m->flow, 1) : -expm1(-m->flow * dt);
    for (int k = 0; k < 3; ++k)
    {
        double s = sigma[k] / cube;
        size += (s - 1) * (s - 1);
        log_s[k] = log(s);
        length += log_s[k] * log_s[k];
    }
    size = sqrt(size);
    if (!(size > yield))
        return;
    double amount = fmin(1, share * (size - yield) / size);
    for (int k = 0; k < 3; ++k)
    {
        vec3 axis = v3(v.m[0][k], v.m[1][k], v.m[2][k]);
        grow = m3_add(grow, m3_scale(m3_outer(axis, axis), exp(amount * log_s[k])));
    }
    cluster->fp = m3_mul(grow, cluster->fp);
    cluster->fp_inverse = m3_inverse(cluster->fp);
    cluster->plastic_strain += amount * sqrt(length);
}
