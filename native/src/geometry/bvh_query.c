// SPDX-License-Identifier: GPL-3.0-or-later
/* BVH queries: nearest point, triangles that touch a box. */
#include "geometry/bvh.h"

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
