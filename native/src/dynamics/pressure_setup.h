// SPDX-License-Identifier: GPL-3.0-or-later
/* The surface that pressure acts on, bound to a body's particles (body.h: pl_pressure). */
#ifndef PL_DYNAMICS_PRESSURE_SETUP_H
#define PL_DYNAMICS_PRESSURE_SETUP_H

#include "base/parallel.h"
#include "body/body.h"

/* Builds body->pressure: binds the body's mesh to its particles. PLIANT_ERROR_MESH if no part of it
 * encloses a volume. Does nothing if it exists. Depends on rest data only, so a restored body gets
 * the same. */
pl_status pl_pressure_build(pl_body* body, pl_pool* pool);
void pl_pressure_free(pl_pressure* pressure);

#endif
