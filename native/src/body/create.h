// SPDX-License-Identifier: GPL-3.0-or-later
/* From a descriptor to a body: mesh, particles, clusters, levels, layout. */
#ifndef PL_BODY_CREATE_H
#define PL_BODY_CREATE_H

#include "base/parallel.h"
#include "body/body.h"

/* The descriptor has been checked. On failure the body is freed and zeroed. */
pl_status pl_body_build(pl_body* body, const pliant_body_desc* desc, pl_pool* pool, pl_task* task);

/* Interpolates values at mesh vertices ("width" floats each) at the surface points nearest to the
 * particles' rest positions, by id. */
pl_status pl_body_sample_values(const pl_body* body, uint32_t width, const float* values,
                                pl_pool* pool, float* by_id);

#endif
