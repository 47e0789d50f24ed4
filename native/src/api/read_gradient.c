// SPDX-License-Identifier: GPL-3.0-or-later
/* Deformation gradients of the finest clusters, and their rates. */
#include "api/api.h"

#include <string.h>

/* The small piece of a cluster whose particles do not determine its orientation, or NULL. */
static const pl_small_piece* small_piece_of(const pl_body* body, uint32_t c)
{
    const pl_fracture* f = body->fracture;
    for (uint32_t i = 0; f && body->clusters.rank[c] < 2 && i < f->small_piece_count; ++i)
        if (f->small_pieces[i].cluster == c)
            return &f->small_pieces[i];
    return NULL;
}

static void after_own_rest(const pl_body* body, uint32_t c, float m[9])
{
    const float* g = body->clusters.from_body[c];
    if (!body->clusters.own[c])
        return;
    for (int i = 0; i < 9; i += 3)
    {
        double row[3] = {m[i], m[i + 1], m[i + 2]};
        for (int j = 0; j < 3; ++j)
            m[i + j] = (float)(row[0] * g[j] + row[1] * g[3 + j] + row[2] * g[6 + j]);
    }
}

void pl_cluster_gradient(const pl_body* body, uint32_t c, float f[9])
{
    const pl_small_piece* small_piece = small_piece_of(body, c);
    memcpy(f, small_piece ? small_piece->f : body->clusters.f[c], sizeof(float) * 9);
    if (!small_piece)
        after_own_rest(body, c, f);
}

static void turn(vec3 omega, const float* f, float* rate)
{
    for (int j = 0; j < 3; ++j)
    {
        vec3 turned = v3_cross(omega, v3(f[j], f[3 + j], f[6 + j]));
        rate[j] = (float)turned.x, rate[3 + j] = (float)turned.y, rate[6 + j] = (float)turned.z;
    }
}

void pl_cluster_rate(const pl_body* body, uint32_t c, float rate[9])
{
    /* L = I omega about the centre of mass, with the lever arms F p: I = tr(K) 1 - K, K = A F^T */
    const float *s = body->clusters.sums[c], *f = body->clusters.f[c];
    const pl_small_piece* small_piece = small_piece_of(body, c);
    mat3 k;
    if (small_piece && body->clusters.rank[c] == 0)
    {
        turn(v3_from(small_piece->spin), small_piece->f, rate);
        return;
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            k.m[i][j] = (double)s[3 * i] * f[3 * j] + (double)s[3 * i + 1] * f[3 * j + 1] +
                        (double)s[3 * i + 2] * f[3 * j + 2];
    double trace = m3_trace(k);
    mat3 inertia = m3_scale(m3_add(k, m3_transpose(k)), -.5);
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += trace * (1 + 1e-6);
    memset(rate, 0, sizeof(float) * 9);
    if (!(m3_det(inertia) > 1e-15 * trace * trace * trace))
        return;
    vec3 omega = m3_mulv(m3_inverse(inertia), v3(s[15], s[16], s[17]));
    turn(omega, f, rate);
    after_own_rest(body, c, rate);
}
