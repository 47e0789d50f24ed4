// SPDX-License-Identifier: GPL-3.0-or-later
/* Binds points to particles by fixed weights. */
#ifndef PL_GEOMETRY_MLS_BINDING_H
#define PL_GEOMETRY_MLS_BINDING_H

#include "base/core.h"
#include "base/math3.h"
#include "base/parallel.h"

enum
{
    PL_MLS_SUPPORT = 20 /* maximum number of particles of a point */
};

/* CSR: point i is the sum over e from begin[i] to begin[i + 1] of weight[e] times the position of
 * particle[e]. Weights sum to 1. At rest the sum is the point, along the axes in which its
 * particles have extent (mls_binding.c). */
typedef struct pl_mls_binding
{
    uint32_t* begin;
    uint32_t* particle;
    float* weight;
} pl_mls_binding;

/* "shell" of each particle: a point is bound to particles of one shell. Deterministic for any
 * number of threads. Freed by pl_mls_binding_free in every case. */
pl_status pl_mls_bind(uint32_t count, const vec3* points, uint32_t particle_count, const vec3* rest,
                      const uint32_t* shell, pl_pool* pool, pl_mls_binding* binding);
void pl_mls_binding_free(pl_mls_binding* binding);

#endif
