// SPDX-License-Identifier: GPL-3.0-or-later
/* The other way round: particles that follow an animated mesh. */
#ifndef PL_OUTPUT_SKIN_PIN_BINDING_H
#define PL_OUTPUT_SKIN_PIN_BINDING_H

#include "base/parallel.h"
#include "body/body.h"

/* Where each particle (3 floats by id) is when the body's mesh has these vertices; same origin as
 * the vertices. Binds the particles to the mesh the first time (body->pin_binding). */
pl_status pl_pin_binding_apply(pl_body* body, const float* vertices, pl_pool* pool, float* targets);
void pl_pin_binding_free(struct pl_pin_binding* binding);

#endif
