// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A BVH over a mesh's triangles, for winding numbers, nearest points and box overlap.
 *
 *        whole                 Triangles form patches (joined across edges that two triangles
 *       /     \                share), patches form shells, shells form the whole. Each of the
 *    shell    shell            three is a subtree, so that a query can be restricted to one shell
 *    /   \       \             or one patch. Nodes of a patch are contiguous.
 *  patch patch  patch
 */
#ifndef PL_GEOMETRY_BVH_H
#define PL_GEOMETRY_BVH_H

#include "base/core.h"
#include "base/math3.h"

typedef struct pl_box
{
    vec3 lower, upper;
} pl_box;

typedef struct pl_node
{
    pl_box box;
    uint32_t left, right;  /* children, where count is 0 */
    uint32_t first, count; /* triangles, in tree order */
} pl_node;

/* The far-field expansion of a node's winding number; see winding_number.c. */
typedef struct pl_far_field
{
    vec3 centre;
    double radius; /* of a ball about the centre that holds all its triangles */
    double area;
    float moment[19];
    uint32_t excluded; /* from queries of its ancestors: it lies in other shells' material */
} pl_far_field;

typedef struct pl_corners
{
    vec3 a, b, c;
} pl_corners;

typedef struct pl_bvh
{
    uint32_t node_count;
    uint32_t patch_nodes; /* nodes below this number are inside patches */
    pl_node* nodes;
    pl_far_field* far;
    uint32_t triangle_count;
    pl_corners* corners; /* of each triangle, in tree order */
    uint32_t* order;     /* the mesh's number of each triangle in tree order */
    uint32_t patch_count, shell_count;
    uint32_t* patch_root;  /* patch_count + 1: where each patch's nodes begin */
    uint32_t* patch_first; /* patch_count + 1: where each patch's triangles begin, in tree order */
    uint32_t* shell_root;
    uint32_t root;
    bool has_cavities;
} pl_bvh;

/* Builds everything but the moments of the nodes above patches. "patch" gives each triangle's
 * patch, "patch_shell" each patch's shell; patches of one shell have consecutive numbers, in the
 * order of the shells. Freed by pl_bvh_free in every case. */
pl_status pl_bvh_build(pl_bvh* tree, const vec3* vertices, const uint32_t* triangles,
                       uint32_t triangle_count, const uint32_t* patch, uint32_t patch_count,
                       const uint32_t* patch_shell, uint32_t shell_count);
/* Reverses the orientation of a patch. */
void pl_bvh_flip(pl_bvh* tree, uint32_t patch);
/* Computes the moments above patches. Call it after all flips and exclusions. */
void pl_bvh_finish(pl_bvh* tree);
void pl_bvh_free(pl_bvh* tree);

/* Sets the far field of a node (winding_number.c): of a leaf from its triangles, of an inner node
 * from its children. */
void pl_winding_leaf(pl_bvh* tree, uint32_t index);
void pl_winding_inner(pl_bvh* tree, uint32_t index);
/* The generalised winding number of the triangles below a node. A node of radius r is expanded at
 * distances above "accuracy" r: 3 gives errors of about 1e-3, 1.3 of 3e-2 (and is five times as
 * fast). */
double pl_bvh_winding(const pl_bvh* tree, uint32_t root, vec3 point, double accuracy);

/* The nearest point below a node within a distance of "within". Returns its triangle in tree order,
 * or UINT32_MAX. */
uint32_t pl_bvh_nearest(const pl_bvh* tree, uint32_t root, vec3 point, double within,
                        double weights[3], vec3* nearest);

/* Whether any triangle touches the box. */
bool pl_bvh_touches(const pl_bvh* tree, const pl_box* box);

/* Calls "visit" for each triangle (in tree order) whose bounds touch the box. */
typedef void (*pl_visit_fn)(void* context, uint32_t triangle);
void pl_bvh_visit(const pl_bvh* tree, const pl_box* box, pl_visit_fn visit, void* context);

/* Stack size of a traversal. Depth is at most 63 bits of the code and 32 of the count, for each of
 * the three stages of the tree. */
#define PL_BVH_STACK 320

/* fmin and fmax without NaN handling: one instruction each. */
static inline double pl_min(double a, double b)
{
    return a < b ? a : b;
}
static inline double pl_max(double a, double b)
{
    return a > b ? a : b;
}

static inline bool pl_boxes_touch(const pl_box* a, const pl_box* b)
{
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static inline void pl_box_add(pl_box* box, vec3 p)
{
    box->lower =
        v3(pl_min(box->lower.x, p.x), pl_min(box->lower.y, p.y), pl_min(box->lower.z, p.z));
    box->upper =
        v3(pl_max(box->upper.x, p.x), pl_max(box->upper.y, p.y), pl_max(box->upper.z, p.z));
}

static inline pl_box pl_box_empty(void)
{
    return (pl_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static inline vec3 pl_box_centre(const pl_box* box)
{
    return v3_scale(v3_add(box->lower, box->upper), .5);
}

/* Triangle geometry shared by set-up (triangle.c). */
vec3 pl_triangle_nearest(const pl_corners* t, vec3 point, double weights[3]);
bool pl_triangle_touches_box(const pl_corners* t, vec3 centre, vec3 half);
/* Whether two triangles intersect, or are within "tolerance" of each other. */
bool pl_triangles_touch(const pl_corners* s, const pl_corners* t, double tolerance);

#endif
