// SPDX-License-Identifier: GPL-3.0-or-later
/* Queries of a body's material after cuts (fracture/cuts/cuts.c, fracture/cuts/cracks.c). */
#ifndef PL_BODY_CUT_QUERY_H
#define PL_BODY_CUT_QUERY_H

#include "body/rest_query.h"

/* In spacings: the largest distance from a crack that queries need. */
#define PL_CRACK_REACH 1.5

/* Signed distance of a rest point beyond a cut plane, from the side above or below it. */
static inline double pl_across_cut(const pl_cut_plane* cut, bool above, vec3 at)
{
    double over = v3_dot(v3_from(cut->plane), at) + cut->plane[3];
    return above ? -over : over;
}

/* Signed distance of a rest point from a piece's material, negative inside, clamped. Trilinear,
 * with the gradient. */
static inline double pl_crack_distance(const pl_body* body, uint32_t piece, vec3 at, vec3* slope)
{
    const pl_rest_sdf* shape = &body->rest_sdf;
    const pl_cuts* cuts = &body->cuts;
    const double p[3] = {at.x, at.y, at.z};
    uint32_t cell[3];
    double f[3], d[8];
    for (int k = 0; k < 3; ++k)
    {
        double along = (p[k] - shape->lower[k]) * shape->per_cell, most = shape->size[k] - 1.001;
        double inside = along > 0 ? (along < most ? along : most) : 0;
        cell[k] = (uint32_t)inside;
        f[k] = inside - cell[k];
    }
    size_t dy = shape->size[0], dz = dy * shape->size[1];
    for (int i = 0; i < 8; ++i)
    {
        size_t n = cell[0] + (i & 1) + (cell[1] + (i >> 1 & 1)) * dy + (cell[2] + (i >> 2)) * dz;
        double most = PL_CRACK_REACH * shape->spacing, own = cuts->crack[n];
        d[i] = cuts->owner[cuts->nearest[n]] == piece ? -own : cuts->other[n] == piece ? own : most;
    }
    double x[4], y[2];
    for (int i = 0; i < 4; ++i)
        x[i] = d[2 * i] + f[0] * (d[2 * i + 1] - d[2 * i]);
    for (int i = 0; i < 2; ++i)
        y[i] = x[2 * i] + f[1] * (x[2 * i + 1] - x[2 * i]);
    if (slope)
    {
        double gx = 0, gy = 0;
        for (int i = 0; i < 4; ++i)
            gx += (i & 1 ? f[1] : 1 - f[1]) * (i & 2 ? f[2] : 1 - f[2]) * (d[2 * i + 1] - d[2 * i]);
        for (int i = 0; i < 2; ++i)
            gy += (i ? f[2] : 1 - f[2]) * (x[2 * i + 1] - x[2 * i]);
        *slope = v3_scale(v3(gx, gy, y[1] - y[0]), shape->per_cell);
    }
    return y[0] + f[2] * (y[1] - y[0]);
}

/* Signed distance of a rest point from the surface around a finest cluster: the surface of the
 * body, and of its piece at cracks. */
static inline double pl_cluster_distance(const pl_body* body, uint32_t cluster, vec3 at,
                                         vec3* slope)
{
    double distance = pl_rest_sdf_distance(&body->rest_sdf, at, slope);
    if (!body->cuts.plane_count)
        return distance;
    vec3 away;
    double crack = pl_crack_distance(body, body->cuts.piece[cluster], at, slope ? &away : NULL);
    if (!(crack > distance))
        return distance;
    if (slope) /* cracks are rough: only the direction of the gradient is useful */
        *slope = v3_normalised(away);
    return crack;
}

/* Whether a cluster has a side, and if "inner", of a slit. */
static inline bool pl_has_side(const pl_cuts* cuts, uint32_t cluster, uint32_t side, bool inner)
{
    uint32_t low = cuts->side_begin[cluster], high = cuts->side_begin[cluster + 1];
    while (low < high)
    {
        uint32_t middle = low + (high - low) / 2;
        if (cuts->side[middle] == side)
            return !inner || cuts->inner[middle];
        if (cuts->side[middle] < side)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Whether two finest clusters of one piece are on opposite sides of a plane. */
static inline bool pl_cuts_between(const pl_cuts* cuts, uint32_t a, uint32_t b)
{
    if (!cuts->plane_count)
        return false;
    uint32_t i = cuts->side_begin[a], j = cuts->side_begin[b];
    while (i < cuts->side_begin[a + 1] && j < cuts->side_begin[b + 1])
    {
        uint32_t one = cuts->side[i], other = cuts->side[j];
        if ((one ^ other) == 1 && cuts->inner[i] && cuts->inner[j])
            return true;
        i += one <= other;
        j += other <= one;
    }
    return false;
}

/* The planes between a particle in home cluster "home" and another cluster of its piece: the least
 * distance of a rest point beyond them, from that cluster's side, and the normal of that plane.
 * False: there are none. */
static inline bool pl_cuts_part(const pl_body* body, uint32_t particle, uint32_t home,
                                uint32_t cluster, vec3 at, double* beyond, vec3* normal)
{
    const pl_cuts* cuts = &body->cuts;
    *beyond = INFINITY;
    for (uint32_t n = cuts->plane_count ? cuts->last[particle] : 0; n; n = cuts->cut[n - 1].before)
    {
        uint32_t side = cuts->cut[n - 1].side;
        if (!pl_has_side(cuts, cluster, side ^ 1, true) || !pl_has_side(cuts, home, side, true))
            continue;
        double across = pl_across_cut(&cuts->plane[side / 2], !(side & 1), at);
        if (!(across < *beyond))
            continue;
        *beyond = across;
        *normal = v3_scale(v3_from(cuts->plane[side / 2].plane), side & 1 ? 1 : -1);
    }
    return *beyond < INFINITY;
}

#endif
