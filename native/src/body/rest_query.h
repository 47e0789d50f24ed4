// SPDX-License-Identifier: GPL-3.0-or-later
/* Looking up the rest state: where slots are at rest, and how far from the surface a point is. */
#ifndef PL_BODY_REST_QUERY_H
#define PL_BODY_REST_QUERY_H

#include "body/body.h"

/* Where a slot is at rest, relative to the body's rest origin. */
static inline vec3 pl_rest_of(const pl_body* body, uint32_t slot)
{
    uint32_t low = 0, high = body->chunk_count;
    while (high - low > 1)
    {
        uint32_t middle = (low + high) / 2;
        *(body->chunks[middle].slot_begin <= slot ? &low : &high) = middle;
    }
    const pl_particles* p = &body->particles;
    return v3_add(v3(p->r[0][slot], p->r[1][slot], p->r[2][slot]),
                  v3_from(body->chunks[low].rest_origin));
}

/* The distance of a rest point from the surface, negative inside, and its slope if "slope" is not
 * NULL. Trilinear; beyond the grid the distance to the grid is added, and the slope is that at its
 * edge. */
static inline double pl_rest_sdf_distance(const pl_rest_sdf* shape, vec3 at, vec3* slope)
{
    const double p[3] = {at.x, at.y, at.z};
    uint32_t cell[3];
    double f[3], beyond = 0;
    for (int k = 0; k < 3; ++k)
    {
        double along = (p[k] - shape->lower[k]) * shape->per_cell, most = shape->size[k] - 1.001;
        double inside = along > 0 ? (along < most ? along : most) : 0;
        beyond += (along - inside) * (along - inside);
        cell[k] = (uint32_t)inside;
        f[k] = inside - cell[k];
    }
    size_t dy = shape->size[0], dz = dy * shape->size[1];
    const float* d = shape->distance + cell[0] + cell[1] * dy + cell[2] * dz;
    double a0 = d[0] + f[0] * (d[1] - d[0]), a1 = d[dy] + f[0] * (d[dy + 1] - d[dy]);
    double b0 = d[dz] + f[0] * (d[dz + 1] - d[dz]);
    double b1 = d[dz + dy] + f[0] * (d[dz + dy + 1] - d[dz + dy]);
    double a = a0 + f[1] * (a1 - a0), b = b0 + f[1] * (b1 - b0);
    if (slope)
    {
        double x0 = (d[1] - d[0]) + f[1] * ((d[dy + 1] - d[dy]) - (d[1] - d[0]));
        double x1 =
            (d[dz + 1] - d[dz]) + f[1] * ((d[dz + dy + 1] - d[dz + dy]) - (d[dz + 1] - d[dz]));
        *slope = v3((x0 + f[2] * (x1 - x0)) * shape->per_cell,
                    ((a1 - a0) + f[2] * ((b1 - b0) - (a1 - a0))) * shape->per_cell,
                    (b - a) * shape->per_cell);
    }
    double distance = a + f[2] * (b - a);
    return beyond > 0 ? distance + sqrt(beyond) / shape->per_cell : distance;
}

#endif
