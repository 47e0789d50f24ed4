// SPDX-License-Identifier: GPL-3.0-or-later
/* Rest data of a cluster for quadratic goals. */
#ifndef PL_BODY_QUADRATIC_REST_H
#define PL_BODY_QUADRATIC_REST_H

#include "body/body.h"

/* Sums over a cluster's members, weighted by m w, of products of their rest offsets p and the
 * monomials q = (xx yy zz xy yz zx) of p. Starts zeroed. */
typedef struct pl_quadratic_sums
{
    double mass;
    double q[6];
    double pp[3][3];
    double qp[6][3];
    double qq[6][6];
} pl_quadratic_sums;

void pl_quadratic_sums_add(pl_quadratic_sums* sums, vec3 offset, double mass);
/* Sets quad_inverse, quad_slope, quad_thin and quad_bend of cluster c, whose shape (arr_inv, rank,
 * width) is set. "thickness": of the material across a sheet of particles; 0: they fill it. */
pl_status pl_quadratic_rest(pl_clusters* clusters, uint32_t c, const pl_quadratic_sums* sums,
                            double thickness);

#endif
