// SPDX-License-Identifier: GPL-3.0-or-later
/* The inverse of a skin: particles that follow an animated mesh. */
#ifndef PL_OUTPUT_SKIN_PIN_BINDING_H
#define PL_OUTPUT_SKIN_PIN_BINDING_H

#include "base/parallel.h"
#include "body/body.h"

/* Position of each particle (3 floats by id) for these vertices of the body's mesh; same origin as
 * the vertices. The first call binds the particles (body->pin_binding). */
pl_status pl_pin_binding_apply(pl_body* body, const float* vertices, pl_pool* pool, float* targets);
void pl_pin_binding_free(struct pl_pin_binding* binding);

#endif
