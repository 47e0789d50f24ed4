// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Continuous collision detection on a moving mesh: tree traversal, winding number, crossings.
 *
 * The particle and the corners of each triangle move in straight lines. The times at which the
 * particle is in the triangle's plane are the roots of a cubic (Provot, "Collision and
 * self-collision handling in cloth model dedicated to design garments", 1997); roots within the
 * triangle are crossings.
 *
 * Inside or outside is the winding number along rays. It is exact for closed meshes, since the two
 * triangles at an edge round alike. In meshes with holes two of three rays decide, which tolerates
 * small ones. (The generalised winding number used in set-up would need the moments of all
 * triangles anew in each substep.)
 */
#include "collision/mesh/ccd.h"

/* Relative tolerance of the inside test of a triangle: closes gaps along edges. */
#define OVERLAP 1e-6
#define BISECTIONS 52

/* ------------------------------------------------------------------ moving vertices */

static vec3 vertex_at(const pl_moving_view* s, uint32_t vertex, double t)
{
    vec3 from = s->mesh->from[vertex], to = s->mesh->to[vertex];
    vec3 now = t < 1 && !s->mesh->still ? v3_mad(from, v3_sub(to, from), t) : to;
    return v3_sub(now, s->origin);
}

static const uint32_t* vertices_of(const pl_moving_view* s, uint32_t triangle)
{
    return s->mesh->triangles + 3 * (size_t)s->tree->order[triangle];
}

static pl_corners corners_at(const pl_moving_view* s, uint32_t triangle, double t)
{
    const uint32_t* v = vertices_of(s, triangle);
    return (pl_corners){vertex_at(s, v[0], t), vertex_at(s, v[1], t), vertex_at(s, v[2], t)};
}

static pl_corners between(const pl_moving* m, double s)
{
    return (pl_corners){v3_mad(m->at0.a, v3_sub(m->at1.a, m->at0.a), s),
                        v3_mad(m->at0.b, v3_sub(m->at1.b, m->at0.b), s),
                        v3_mad(m->at0.c, v3_sub(m->at1.c, m->at0.c), s)};
}

pl_moving pl_moving_at(const pl_moving_view* s, uint32_t triangle)
{
    pl_moving m = {.at0 = corners_at(s, triangle, s->t0)};
    m.at1 = s->mesh->still ? m.at0 : corners_at(s, triangle, s->t1);
    return m;
}

pl_box pl_moving_box(const pl_moving_view* s, const pl_moving* m)
{
    pl_box box = {m->at0.a, m->at0.a};
    pl_box_add(&box, m->at0.b);
    pl_box_add(&box, m->at0.c);
    if (s->mesh->still)
        return box;
    pl_box_add(&box, m->at1.a);
    pl_box_add(&box, m->at1.b);
    pl_box_add(&box, m->at1.c);
    return box;
}

/* ------------------------------------------------------------------ walks */

typedef struct traversal
{
    const pl_bvh* tree;
    pl_box box; /* in the world */
    uint32_t stack[PL_BVH_STACK], waiting;
} traversal;

static void begin_traversal(traversal* w, const pl_moving_view* s, const pl_box* box)
{
    w->tree = s->tree;
    w->box = (pl_box){v3_add(box->lower, s->origin), v3_add(box->upper, s->origin)};
    w->stack[0] = s->tree->root;
    w->waiting = 1;
}

/* The next leaf whose AABB touches the box; NULL at the end. */
static const pl_node* next_leaf(traversal* w)
{
    while (w->waiting)
    {
        const pl_node* node = &w->tree->nodes[w->stack[--w->waiting]];
        if (!pl_boxes_touch(&node->box, &w->box))
            continue;
        if (node->count)
            return node;
        w->stack[w->waiting++] = node->right;
        w->stack[w->waiting++] = node->left;
    }
    return NULL;
}

bool pl_moving_any(const pl_moving_view* s, const pl_box* box)
{
    traversal w;
    begin_traversal(&w, s, box);
    for (const pl_node* leaf; (leaf = next_leaf(&w));)
        for (uint32_t i = 0; i < leaf->count; ++i)
        {
            pl_moving m = pl_moving_at(s, leaf->first + i);
            pl_box swept = pl_moving_box(s, &m);
            if (pl_boxes_touch(&swept, box))
                return true;
        }
    return false;
}

bool pl_moving_surround(const pl_moving_view* s, const pl_box* box, pl_moving_neighbours* near)
{
    traversal w;
    near->box = *box;
    near->count = 0;
    begin_traversal(&w, s, box);
    for (const pl_node* leaf; (leaf = next_leaf(&w));)
        for (uint32_t i = 0; i < leaf->count; ++i)
        {
            pl_moving m = pl_moving_at(s, leaf->first + i);
            pl_box swept = pl_moving_box(s, &m);
            if (!pl_boxes_touch(&swept, box))
                continue;
            if (near->count == PL_MOST_NEIGHBOURS)
                return false;
            near->swept[near->count] = swept;
            near->triangle[near->count] = leaf->first + i;
            near->at[near->count++] = m;
        }
    return true;
}

/* Sign of the area of (0, a, b). Where it is zero, the two triangles at an edge agree by index. */
static double turn_sign(const double a[3], const double b[3], int u, int v, uint32_t ia,
                        uint32_t ib)
{
    double area = a[u] * b[v] - a[v] * b[u];
    if (area == 0)
        return ia < ib ? 1 : -1;
    return area > 0 ? 1 : -1;
}

static int crossing_of_ray(const pl_corners* t, const uint32_t* index, vec3 p, int axis)
{
    const vec3 d[3] = {v3_sub(t->a, p), v3_sub(t->b, p), v3_sub(t->c, p)};
    double c[3][3];
    for (int i = 0; i < 3; ++i)
        c[i][0] = d[i].x, c[i][1] = d[i].y, c[i][2] = d[i].z;
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double first = turn_sign(c[0], c[1], u, v, index[0], index[1]);
    if (turn_sign(c[1], c[2], u, v, index[1], index[2]) != first ||
        turn_sign(c[2], c[0], u, v, index[2], index[0]) != first)
        return 0;
    double sum = 0, height = 0;
    for (int i = 0; i < 3; ++i)
    {
        const double *a = c[(i + 1) % 3], *b = c[(i + 2) % 3];
        double weight = a[u] * b[v] - a[v] * b[u];
        sum += weight;
        height += weight * c[i][axis];
    }
    return height * sum > 0 ? (int)first : 0;
}

static int winding_along(const pl_moving_view* s, vec3 p, int axis)
{
    traversal w;
    pl_box ray = {p, p};
    int winding = 0;
    *(axis == 0 ? &ray.upper.x : axis == 1 ? &ray.upper.y : &ray.upper.z) = INFINITY;
    begin_traversal(&w, s, &ray);
    for (const pl_node* leaf; (leaf = next_leaf(&w));)
        for (uint32_t i = 0; i < leaf->count; ++i)
        {
            pl_corners t = corners_at(s, leaf->first + i, s->t0);
            winding += crossing_of_ray(&t, vertices_of(s, leaf->first + i), p, axis);
        }
    return winding;
}

bool pl_moving_inside(const pl_moving_view* s, vec3 p)
{
    bool z = winding_along(s, p, 2) != 0;
    if (s->mesh->closed)
        return z;
    bool x = winding_along(s, p, 0) != 0;
    return z == x ? z : winding_along(s, p, 1) != 0;
}

static double box_distance2(const pl_box* box, vec3 p)
{
    double x = pl_max(0, pl_max(box->lower.x - p.x, p.x - box->upper.x));
    double y = pl_max(0, pl_max(box->lower.y - p.y, p.y - box->upper.y));
    double z = pl_max(0, pl_max(box->lower.z - p.z, p.z - box->upper.z));
    return x * x + y * y + z * z;
}

uint32_t pl_moving_nearest(const pl_moving_view* s, vec3 p, double weights[3])
{
    uint32_t stack[PL_BVH_STACK], waiting = 0, found = PL_NO_TRIANGLE;
    double stacked[PL_BVH_STACK], best = INFINITY, w[3];
    vec3 world = v3_add(p, s->origin);
    stacked[waiting] = 0;
    stack[waiting++] = s->tree->root;
    while (waiting)
    {
        const pl_node* node = &s->tree->nodes[stack[--waiting]];
        if (stacked[waiting] >= best)
            continue;
        for (uint32_t i = 0; i < node->count; ++i)
        {
            pl_corners t = corners_at(s, node->first + i, s->t0);
            if (!pl_corners_area(&t))
                continue;
            vec3 d = v3_sub(pl_triangle_nearest(&t, p, w), p);
            if (v3_dot(d, d) >= best)
                continue;
            best = v3_dot(d, d);
            found = node->first + i;
            weights[0] = w[0], weights[1] = w[1], weights[2] = w[2];
        }
        if (node->count)
            continue;
        double l = box_distance2(&s->tree->nodes[node->left].box, world);
        double r = box_distance2(&s->tree->nodes[node->right].box, world);
        bool left_first = l <= r;
        stacked[waiting] = left_first ? r : l;
        stack[waiting++] = left_first ? node->right : node->left;
        stacked[waiting] = left_first ? l : r;
        stack[waiting++] = left_first ? node->left : node->right;
    }
    return found;
}

/* ------------------------------------------------------------------ crossings */

static double cubic(const double k[4], double s)
{
    return k[0] + s * (k[1] + s * (k[2] + s * k[3]));
}

/* Extrema of the cubic within (0, 1), ascending; returns how many. */
static int turning_points(const double k[4], double out[2])
{
    double a = 3 * k[3], b = 2 * k[2], c = k[1], roots[2];
    double square = b * b - 4 * a * c;
    int count = 0, kept = 0;
    if (!(square > 0) || (a == 0 && b == 0))
        return 0;
    double q = -0.5 * (b + (b < 0 ? -sqrt(square) : sqrt(square)));
    if (a != 0)
        roots[count++] = q / a;
    if (q != 0)
        roots[count++] = c / q;
    if (count == 2 && roots[0] > roots[1])
    {
        double swap = roots[0];
        roots[0] = roots[1], roots[1] = swap;
    }
    for (int i = 0; i < count; ++i)
        if (roots[i] > 0 && roots[i] < 1)
            out[kept++] = roots[i];
    return kept;
}

/* The root between two points of opposite sign, by bisection. */
static double root_between(const double k[4], double low, double high)
{
    if (k[2] == 0 && k[3] == 0)
        return PL_CLAMP(-k[0] / k[1], low, high);
    bool rising = cubic(k, high) > 0;
    for (int i = 0; i < BISECTIONS; ++i)
    {
        double middle = 0.5 * (low + high);
        if ((cubic(k, middle) > 0) == rising)
            high = middle;
        else
            low = middle;
    }
    return 0.5 * (low + high);
}

/* Barycentric weights of a point in a triangle's plane; whether it is inside. */
static bool weights_in(const pl_corners* t, vec3 p, double w[3])
{
    vec3 n = pl_corners_normal(t);
    double square = v3_dot(n, n);
    if (!pl_corners_area(t))
        return false;
    w[1] = v3_dot(v3_cross(v3_sub(p, t->a), v3_sub(t->c, t->a)), n) / square;
    w[2] = v3_dot(v3_cross(v3_sub(t->b, t->a), v3_sub(p, t->a)), n) / square;
    w[0] = 1 - w[1] - w[2];
    return w[0] >= -OVERLAP && w[1] >= -OVERLAP && w[2] >= -OVERLAP;
}

/* The first crossing of a path with a triangle after "after" and before the best so far. */
static void find_crossing(const pl_moving* m, uint32_t triangle, vec3 p0, vec3 p1, double after,
                          pl_moving_meeting* best)
{
    vec3 u0 = v3_sub(m->at0.b, m->at0.a), w0 = v3_sub(m->at0.c, m->at0.a), r0;
    vec3 du = v3_sub(v3_sub(m->at1.b, m->at1.a), u0), dw = v3_sub(v3_sub(m->at1.c, m->at1.a), w0);
    r0 = v3_sub(p0, m->at0.a);
    vec3 dr = v3_sub(v3_sub(p1, m->at1.a), r0);
    vec3 n0 = v3_cross(u0, w0), n2 = v3_cross(du, dw);
    vec3 n1 = v3_add(v3_cross(u0, dw), v3_cross(du, w0));
    const double k[4] = {v3_dot(n0, r0), v3_dot(n0, dr) + v3_dot(n1, r0),
                         v3_dot(n1, dr) + v3_dot(n2, r0), v3_dot(n2, dr)};
    /* no root if all Bezier control points have one sign */
    double b1 = k[0] + k[1] / 3, b2 = b1 + (k[1] + k[2]) / 3, b3 = k[0] + k[1] + k[2] + k[3];
    if ((k[0] > 0 && b1 > 0 && b2 > 0 && b3 > 0) || (k[0] < 0 && b1 < 0 && b2 < 0 && b3 < 0))
        return;
    double cuts[4] = {0};
    int count = 1 + turning_points(k, cuts + 1);
    cuts[count] = 1;
    for (int i = 0; i < count; ++i)
    {
        double low = cubic(k, cuts[i]), high = cubic(k, cuts[i + 1]), w[3];
        bool down = low >= 0 && high <= 0 && low > high, up = low <= 0 && high >= 0 && high > low;
        if (!down && !up)
            continue;
        double when = root_between(k, cuts[i], cuts[i + 1]);
        if (best->crossing && when >= best->when)
            return;
        pl_corners then = between(m, when);
        if (when <= after || !weights_in(&then, v3_mad(p0, v3_sub(p1, p0), when), w))
            continue;
        *best = (pl_moving_meeting){triangle, true, when, 0, down ? 1 : -1, {w[0], w[1], w[2]}};
        return;
    }
}

static void meet(const pl_moving* m, uint32_t triangle, vec3 p0, vec3 p1, double after,
                 pl_moving_meeting* best)
{
    double w[3];
    find_crossing(m, triangle, p0, p1, after, best);
    if (best->crossing || !pl_moving_whole(m))
        return;
    double distance = v3_length(v3_sub(p1, pl_triangle_nearest(&m->at1, p1, w)));
    if (distance < best->distance)
        *best = (pl_moving_meeting){triangle, false, 1, distance, 0, {w[0], w[1], w[2]}};
}

static bool box_holds(const pl_box* outer, const pl_box* inner)
{
    return inner->lower.x >= outer->lower.x && inner->upper.x <= outer->upper.x &&
           inner->lower.y >= outer->lower.y && inner->upper.y <= outer->upper.y &&
           inner->lower.z >= outer->lower.z && inner->upper.z <= outer->upper.z;
}

pl_moving_meeting pl_moving_meet(const pl_moving_view* s, const pl_collider_particle* q,
                                 double thickness, double after)
{
    pl_moving_meeting best = {.triangle = PL_NO_TRIANGLE, .distance = thickness};
    vec3 p0 = v3_fromd(q->start), p1 = v3_fromd(q->x);
    pl_box box = {p0, p0};
    pl_box_add(&box, p1);
    box = pl_box_widened(box, thickness);
    if (s->near && box_holds(&s->near->box, &box))
    {
        for (uint32_t i = 0; i < s->near->count; ++i)
            if (pl_boxes_touch(&s->near->swept[i], &box))
                meet(&s->near->at[i], s->near->triangle[i], p0, p1, after, &best);
        return best;
    }
    traversal w;
    begin_traversal(&w, s, &box);
    for (const pl_node* leaf; (leaf = next_leaf(&w));)
        for (uint32_t i = 0; i < leaf->count; ++i)
        {
            pl_moving m = pl_moving_at(s, leaf->first + i);
            pl_box swept = pl_moving_box(s, &m);
            if (pl_boxes_touch(&swept, &box))
                meet(&m, leaf->first + i, p0, p1, after, &best);
        }
    return best;
}
