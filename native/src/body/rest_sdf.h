// SPDX-License-Identifier: GPL-3.0-or-later
/* How far a point of rest space is from a body's surface, by looking it up in a grid. */
#ifndef PL_BODY_REST_SDF_H
#define PL_BODY_REST_SDF_H

#include "body/body.h"

/* Makes the grid of a body that has been laid out; what was there is freed. Freed by
 * pl_rest_sdf_free in every case. */
pl_status pl_rest_sdf_build(const pl_body* body, pl_rest_sdf* shape);
void pl_rest_sdf_free(pl_rest_sdf* shape);

#endif
