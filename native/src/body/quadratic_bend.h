// SPDX-License-Identifier: GPL-3.0-or-later
/* How stiff the quadratic modes of a cluster are for a material. */
#ifndef PL_BODY_QUADRATIC_BEND_H
#define PL_BODY_QUADRATIC_BEND_H

#include "body/body.h"

/* Sets quad_bend of cluster c. "scatter" is sum m w p p^T with the thickness of a sheet in it,
 * "second" the same without it; "modes" is the 6 x 6 matrix of the quadratic modes for width 1 and
 * mass 1, of which those below "least" are not fitted. */
pl_status pl_quadratic_bend(pl_clusters* clusters, uint32_t c, mat3 scatter, mat3 second,
                            const double modes[36], double least);

#endif
