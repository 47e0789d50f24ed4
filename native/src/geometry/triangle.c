// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Triangle geometry: the nearest point (Ericson, "Real-Time Collision Detection", 2005, 5.1.5:
 * Voronoi regions), overlap with a box by separating axes (Akenine-Moeller, "Fast 3D Triangle-Box
 * Overlap Testing", 2001), and whether two triangles touch.
 */
#include "geometry/bvh.h"

vec3 pl_triangle_nearest(const pl_corners* t, vec3 p, double weights[3])
{
    vec3 ab = v3_sub(t->b, t->a), ac = v3_sub(t->c, t->a), ap = v3_sub(p, t->a);
    double d1 = v3_dot(ab, ap), d2 = v3_dot(ac, ap);
    double v = 0, w = 0;
    vec3 bp = v3_sub(p, t->b), cp = v3_sub(p, t->c);
    double d3 = v3_dot(ab, bp), d4 = v3_dot(ac, bp);
    double d5 = v3_dot(ab, cp), d6 = v3_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    if (d1 <= 0 && d2 <= 0)
        v = w = 0;
    else if (d3 >= 0 && d4 <= d3)
        v = 1;
    else if (vc <= 0 && d1 >= 0 && d3 <= 0)
        v = d1 / (d1 - d3);
    else if (d6 >= 0 && d5 <= d6)
        w = 1;
    else if (vb <= 0 && d2 >= 0 && d6 <= 0)
        w = d2 / (d2 - d6);
    else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
    {
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        v = 1 - w;
    }
    else
    {
        double scale = 1 / (va + vb + vc);
        v = vb * scale, w = vc * scale;
    }
    weights[0] = 1 - v - w, weights[1] = v, weights[2] = w;
    return v3_mad(v3_mad(t->a, ab, v), ac, w);
}

/* Whether the axis separates the triangle (relative to the box's centre) from the box. */
static bool separated(vec3 axis, vec3 a, vec3 b, vec3 c, vec3 half)
{
    double pa = v3_dot(axis, a), pb = v3_dot(axis, b), pc = v3_dot(axis, c);
    double reach = half.x * fabs(axis.x) + half.y * fabs(axis.y) + half.z * fabs(axis.z);
    return pl_min(pa, pl_min(pb, pc)) > reach || pl_max(pa, pl_max(pb, pc)) < -reach;
}

bool pl_triangle_touches_box(const pl_corners* t, vec3 centre, vec3 half)
{
    vec3 a = v3_sub(t->a, centre), b = v3_sub(t->b, centre), c = v3_sub(t->c, centre);
    if (pl_min(a.x, pl_min(b.x, c.x)) > half.x || pl_max(a.x, pl_max(b.x, c.x)) < -half.x ||
        pl_min(a.y, pl_min(b.y, c.y)) > half.y || pl_max(a.y, pl_max(b.y, c.y)) < -half.y ||
        pl_min(a.z, pl_min(b.z, c.z)) > half.z || pl_max(a.z, pl_max(b.z, c.z)) < -half.z)
        return false;
    vec3 edges[3] = {v3_sub(b, a), v3_sub(c, b), v3_sub(a, c)};
    if (separated(v3_cross(edges[0], edges[1]), a, b, c, half))
        return false;
    for (int i = 0; i < 3; ++i)
    {
        vec3 e = edges[i];
        if (separated(v3(0, -e.z, e.y), a, b, c, half) ||
            separated(v3(e.z, 0, -e.x), a, b, c, half) ||
            separated(v3(-e.y, e.x, 0), a, b, c, half))
            return false;
    }
    return true;
}

/* Whether the segment p q intersects the triangle. */
static bool pierces(vec3 p, vec3 q, const pl_corners* t)
{
    vec3 ab = v3_sub(t->b, t->a), ac = v3_sub(t->c, t->a), pq = v3_sub(q, p);
    vec3 h = v3_cross(pq, ac), s = v3_sub(p, t->a);
    double det = v3_dot(ab, h);
    if (det == 0)
        return false; /* parallel: the distance tests decide */
    double u = v3_dot(s, h) / det;
    vec3 k = v3_cross(s, ab);
    double v = v3_dot(pq, k) / det, along = v3_dot(ac, k) / det;
    return u >= 0 && v >= 0 && u + v <= 1 && along >= 0 && along <= 1;
}

static double clamp01(double x)
{
    return PL_CLAMP(x, 0.0, 1.0);
}

/* Squared distance of the segments p + s d and q + t e, s and t in [0, 1] (Ericson, 5.1.9). */
static double segments_distance2(vec3 p, vec3 d, vec3 q, vec3 e)
{
    vec3 r = v3_sub(p, q);
    double a = v3_dot(d, d), b = v3_dot(d, e), c = v3_dot(d, r), f = v3_dot(e, r);
    double ee = v3_dot(e, e), denominator = a * ee - b * b;
    double s = denominator > 0 ? clamp01((b * f - c * ee) / denominator) : 0;
    double t = (b * s + f) / ee;
    if (t < 0 || t > 1)
    {
        t = clamp01(t);
        s = clamp01((b * t - c) / a);
    }
    vec3 gap = v3_sub(v3_mad(p, d, s), v3_mad(q, e, t));
    return v3_dot(gap, gap);
}

static pl_box bounds_of(const pl_corners* t, double margin)
{
    pl_box box = pl_box_empty();
    pl_box_add(&box, t->a);
    pl_box_add(&box, t->b);
    pl_box_add(&box, t->c);
    vec3 m = v3(margin, margin, margin);
    return (pl_box){v3_sub(box.lower, m), v3_add(box.upper, m)};
}

bool pl_triangles_touch(const pl_corners* s, const pl_corners* t, double tolerance)
{
    pl_box sb = bounds_of(s, tolerance), tb = bounds_of(t, 0);
    if (!pl_boxes_touch(&sb, &tb))
        return false;
    const vec3 sv[4] = {s->a, s->b, s->c, s->a}, tv[4] = {t->a, t->b, t->c, t->a};
    double weights[3], limit = tolerance * tolerance;
    for (int i = 0; i < 3; ++i)
    {
        if (pierces(sv[i], sv[i + 1], t) || pierces(tv[i], tv[i + 1], s))
            return true;
        vec3 a = v3_sub(pl_triangle_nearest(t, sv[i], weights), sv[i]);
        vec3 b = v3_sub(pl_triangle_nearest(s, tv[i], weights), tv[i]);
        if (v3_dot(a, a) <= limit || v3_dot(b, b) <= limit)
            return true;
        for (int j = 0; j < 3; ++j)
            if (segments_distance2(sv[i], v3_sub(sv[i + 1], sv[i]), tv[j],
                                   v3_sub(tv[j + 1], tv[j])) <= limit)
                return true;
    }
    return false;
}
