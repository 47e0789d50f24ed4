// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Walks over the tree: winding numbers (Jacobson, Kavan, Sorkine-Hornung, "Robust Inside-Outside
 * Segmentation using Generalized Winding Numbers", 2013; far nodes by Barill et al. 2018), nearest
 * points, boxes.
 *
 * Near triangles are exact: Van Oosterom and Strackee, "The Solid Angle of a Plane Triangle", 1983:
 * tan(angle / 2) = numerator / denominator. An arctangent costs more than all the rest, so half
 * angles are added as arguments of complex numbers, multiplied together, counting how often the
 * product crosses the negative real axis: one arctangent a query.
 */
#include "geometry/bvh.h"

typedef struct half_angles
{
    double re, im;
    int turns;
} half_angles;

static void add_solid_angle(half_angles* sum, const pl_corners* t, vec3 q)
{
    vec3 a = v3_sub(t->a, q), b = v3_sub(t->b, q), c = v3_sub(t->c, q);
    double la = v3_length(a), lb = v3_length(b), lc = v3_length(c);
    double im = v3_dot(a, v3_cross(b, c));
    double re = la * lb * lc + v3_dot(a, b) * lc + v3_dot(b, c) * la + v3_dot(c, a) * lb;
    double size = fabs(im) + fabs(re);
    if (im == 0 || !(size > 0))
        return; /* in the triangle's plane: as much above as below */
    double scale = 1 / size, x = sum->re, y = sum->im;
    re *= scale, im *= scale;
    sum->re = x * re - y * im;
    sum->im = x * im + y * re;
    /* The factor's argument is in (0, pi) or (-pi, 0). */
    if (im > 0)
        sum->turns += y >= 0 && sum->im < 0;
    else
        sum->turns -= y < 0 && sum->im >= 0;
}

/* 4 pi times the winding number of a node, as seen from k = radius / distance along e. */
static float far_angle(const float m[19], float x, float y, float z, float k)
{
    float first = m[0] * x + m[1] * y + m[2] * z;
    float second =
        m[3] * x * x + m[4] * y * y + m[5] * z * z + 2 * (x * (m[6] * y + m[7] * z) + m[8] * y * z);
    float third = x * x * (m[9] * x + 3 * (m[12] * y + m[13] * z)) +
                  y * y * (m[10] * y + 3 * (m[14] * x + m[15] * z)) +
                  z * z * (m[11] * z + 3 * (m[16] * x + m[17] * y)) + 6 * m[18] * x * y * z;
    return k * k * (first + k * (-3 * second + k * 7.5f * third));
}

double pl_bvh_winding(const pl_bvh* tree, uint32_t root, vec3 point, double accuracy)
{
    uint32_t stack[PL_BVH_STACK], waiting = 0;
    half_angles near = {1, 0, 0};
    double far_sum = 0, limit = accuracy * accuracy;
    stack[waiting++] = root;
    while (waiting)
    {
        uint32_t index = stack[--waiting];
        const pl_far* far = &tree->far[index];
        vec3 r = v3_sub(far->centre, point);
        double distance2 = v3_dot(r, r);
        if (distance2 > limit * far->radius * far->radius)
        {
            double inverse = 1 / sqrt(distance2);
            far_sum += far_angle(far->moment, (float)(r.x * inverse), (float)(r.y * inverse),
                                 (float)(r.z * inverse), (float)(far->radius * inverse));
            continue;
        }
        const pl_node* node = &tree->nodes[index];
        if (node->count)
        {
            for (uint32_t i = 0; i < node->count; ++i)
                add_solid_angle(&near, &tree->corners[node->first + i], point);
            double size = fabs(near.re) + fabs(near.im);
            if (size < 1e-100)
                near.re *= 1e100, near.im *= 1e100;
            continue;
        }
        if (!tree->far[node->right].silent)
            stack[waiting++] = node->right;
        if (!tree->far[node->left].silent)
            stack[waiting++] = node->left;
    }
    const double pi = 3.14159265358979323846;
    return far_sum / (4 * pi) + near.turns + atan2(near.im, near.re) / (2 * pi);
}

static double box_distance2(const pl_box* box, vec3 p)
{
    double x = pl_max(0, pl_max(box->lower.x - p.x, p.x - box->upper.x));
    double y = pl_max(0, pl_max(box->lower.y - p.y, p.y - box->upper.y));
    double z = pl_max(0, pl_max(box->lower.z - p.z, p.z - box->upper.z));
    return x * x + y * y + z * z;
}

uint32_t pl_bvh_nearest(const pl_bvh* tree, uint32_t root, vec3 point, double within,
                        double weights[3], vec3* nearest)
{
    uint32_t stack[PL_BVH_STACK], waiting = 0, found = UINT32_MAX;
    double stacked[PL_BVH_STACK], best = within * within;
    stacked[waiting] = box_distance2(&tree->nodes[root].box, point);
    stack[waiting++] = root;
    while (waiting)
    {
        const pl_node* node = &tree->nodes[stack[--waiting]];
        if (stacked[waiting] >= best)
            continue;
        for (uint32_t i = 0; i < node->count; ++i)
        {
            double w[3];
            vec3 p = pl_triangle_nearest(&tree->corners[node->first + i], point, w);
            vec3 d = v3_sub(p, point);
            double distance2 = v3_dot(d, d);
            if (distance2 >= best)
                continue;
            best = distance2;
            found = node->first + i;
            weights[0] = w[0], weights[1] = w[1], weights[2] = w[2];
            *nearest = p;
        }
        if (node->count)
            continue;
        double l = box_distance2(&tree->nodes[node->left].box, point);
        double r = box_distance2(&tree->nodes[node->right].box, point);
        bool left_first = l <= r;
        stacked[waiting] = left_first ? r : l;
        stack[waiting++] = left_first ? node->right : node->left;
        stacked[waiting] = left_first ? l : r;
        stack[waiting++] = left_first ? node->left : node->right;
    }
    return found;
}

bool pl_bvh_touches(const pl_bvh* tree, const pl_box* box)
{
    uint32_t stack[PL_BVH_STACK], waiting = 0;
    vec3 centre = pl_box_centre(box), half = v3_scale(v3_sub(box->upper, box->lower), .5);
    stack[waiting++] = tree->root;
    while (waiting)
    {
        const pl_node* node = &tree->nodes[stack[--waiting]];
        if (!pl_boxes_touch(&node->box, box))
            continue;
        for (uint32_t i = 0; i < node->count; ++i)
            if (pl_triangle_touches_box(&tree->corners[node->first + i], centre, half))
                return true;
        if (node->count)
            continue;
        stack[waiting++] = node->right;
        stack[waiting++] = node->left;
    }
    return false;
}

void pl_bvh_visit(const pl_bvh* tree, const pl_box* box, pl_visit_fn visit, void* context)
{
    uint32_t stack[PL_BVH_STACK], waiting = 0;
    stack[waiting++] = tree->root;
    while (waiting)
    {
        const pl_node* node = &tree->nodes[stack[--waiting]];
        if (!pl_boxes_touch(&node->box, box))
            continue;
        for (uint32_t i = 0; i < node->count; ++i)
            visit(context, node->first + i);
        if (node->count)
            continue;
        stack[waiting++] = node->right;
        stack[waiting++] = node->left;
    }
}
