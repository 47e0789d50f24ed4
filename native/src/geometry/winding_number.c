// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Generalised winding numbers: Jacobson, Kavan, Sorkine-Hornung, "Robust Inside-Outside
 * Segmentation using Generalized Winding Numbers", 2013, over the BVH.
 *
 * Far nodes: Barill, Dickson, Schmidt, Levin, Jacobson, "Fast Winding Numbers for Soups and
 * Clouds", 2018, equations 8 to 12: a Taylor expansion of a node's winding number about its centre
 * c. With r = c - q, e = r / |r| and y = x - c over the triangles with their unit normals n:
 *
 *   4 pi w(q) = (N.e) / r^2 - 3 (e S e) / r^3 + 15/2 (T e e e) / r^4 + ...
 *   N = sum of n dA, S = symmetric traceless part of y n dA, T = the same of y y n dA.
 *
 * Departure: only the symmetric traceless parts are stored, 3 + 6 + 10 numbers instead of
 * 3 + 9 + 27. The derivatives of r / |r|^3 are symmetric and traceless, so no other part
 * contributes. Moments are divided by powers of the node's radius, so that floats suffice at any
 * scale.
 *
 * Near triangles are exact: Van Oosterom and Strackee, "The Solid Angle of a Plane Triangle", 1983:
 * tan(angle / 2) = numerator / denominator. The arctangent is the most expensive operation, so half
 * angles are added as arguments of complex numbers: the numbers are multiplied, and crossings of
 * the negative real axis are counted. That needs one arctangent a query.
 */
#include "geometry/bvh.h"

/* ------------------------------------------------------------------ moments */

typedef struct moments
{
    double n[3];
    double s[3][3]; /* symmetric */
    double t[10];
} moments;

/* Tensor indices of the stored components. */
static const uint8_t pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
static const uint8_t triple[10][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {0, 0, 1}, {0, 0, 2},
                                      {1, 1, 0}, {1, 1, 2}, {2, 2, 0}, {2, 2, 1}, {0, 1, 2}};

/* t += factor * the symmetric part of matrix (outer) vector */
static void add_symmetric(double t[10], const double matrix[3][3], const double vector[3],
                          double factor)
{
    for (int p = 0; p < 10; ++p)
    {
        int i = triple[p][0], j = triple[p][1], k = triple[p][2];
        t[p] += factor / 3 *
                (matrix[i][j] * vector[k] + matrix[i][k] * vector[j] + matrix[j][k] * vector[i]);
    }
}

static void add_triangle(moments* m, const pl_corners* t, vec3 centre)
{
    vec3 normal = v3_scale(v3_cross(v3_sub(t->b, t->a), v3_sub(t->c, t->a)), .5);
    vec3 a = v3_sub(t->a, centre), b = v3_sub(t->b, centre), c = v3_sub(t->c, centre);
    vec3 sum = v3_add(a, v3_add(b, c));
    const double n[3] = {normal.x, normal.y, normal.z}, d[3] = {sum.x, sum.y, sum.z};
    const double y[3][3] = {{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}};
    double square[3][3]; /* mean of y y^T over the triangle */
    for (int i = 0; i < 3; ++i)
    {
        m->n[i] += n[i];
        for (int j = 0; j < 3; ++j)
        {
            m->s[i][j] += (d[i] * n[j] + d[j] * n[i]) / 6;
            square[i][j] =
                (y[0][i] * y[0][j] + y[1][i] * y[1][j] + y[2][i] * y[2][j] + d[i] * d[j]) / 12;
        }
    }
    add_symmetric(m->t, square, n, 1);
}

/* Adds moments about c + shift to moments about c. */
static void add_shifted(moments* m, const moments* own, const double shift[3])
{
    double square[3][3];
    for (int i = 0; i < 3; ++i)
    {
        m->n[i] += own->n[i];
        for (int j = 0; j < 3; ++j)
        {
            m->s[i][j] += own->s[i][j] + .5 * (shift[i] * own->n[j] + shift[j] * own->n[i]);
            square[i][j] = shift[i] * shift[j];
        }
    }
    for (int p = 0; p < 10; ++p)
        m->t[p] += own->t[p];
    add_symmetric(m->t, own->s, shift, 2);
    add_symmetric(m->t, square, own->n, 1);
}

static void store_moments(pl_far_field* far, const moments* m)
{
    double k = 1 / far->radius, k2 = k * k, k3 = k2 * k, k4 = k2 * k2;
    double trace = (m->s[0][0] + m->s[1][1] + m->s[2][2]) / 3;
    const double* t = m->t;
    const double tr[3] = {(t[0] + t[5] + t[7]) / 5, (t[1] + t[3] + t[8]) / 5,
                          (t[2] + t[4] + t[6]) / 5};
    for (int i = 0; i < 3; ++i)
        far->moment[i] = (float)(m->n[i] * k2);
    for (int p = 0; p < 6; ++p)
    {
        int i = pair[p][0], j = pair[p][1];
        far->moment[3 + p] = (float)((m->s[i][j] - (i == j ? trace : 0)) * k3);
    }
    for (int p = 0; p < 10; ++p)
    {
        int a = triple[p][0], b = triple[p][1], c = triple[p][2];
        double part = (a == b ? tr[c] : 0) + (a == c ? tr[b] : 0) + (b == c ? tr[a] : 0);
        far->moment[9 + p] = (float)((t[p] - part) * k4);
    }
}

static moments load_moments(const pl_far_field* far)
{
    moments m;
    double k = far->radius, k2 = k * k, k3 = k2 * k, k4 = k2 * k2;
    for (int i = 0; i < 3; ++i)
        m.n[i] = far->moment[i] * k2;
    for (int p = 0; p < 6; ++p)
        m.s[pair[p][0]][pair[p][1]] = m.s[pair[p][1]][pair[p][0]] = far->moment[3 + p] * k3;
    for (int p = 0; p < 10; ++p)
        m.t[p] = far->moment[9 + p] * k4;
    return m;
}

static double farthest_corner(const pl_box* box, vec3 p)
{
    return v3_length(v3(pl_max(p.x - box->lower.x, box->upper.x - p.x),
                        pl_max(p.y - box->lower.y, box->upper.y - p.y),
                        pl_max(p.z - box->lower.z, box->upper.z - p.z)));
}

void pl_winding_leaf(pl_bvh* tree, uint32_t index)
{
    const pl_node* node = &tree->nodes[index];
    pl_far_field* far = &tree->far[index];
    const pl_corners* corners = tree->corners + node->first;
    vec3 sum = v3(0, 0, 0), base = pl_box_centre(&node->box);
    double area = 0, radius2 = 0;
    for (uint32_t i = 0; i < node->count; ++i)
    {
        const pl_corners* t = &corners[i];
        double a = v3_length(v3_cross(v3_sub(t->b, t->a), v3_sub(t->c, t->a))) * .5;
        vec3 middle = v3_scale(v3_add(t->a, v3_add(t->b, t->c)), 1.0 / 3);
        sum = v3_mad(sum, v3_sub(middle, base), a);
        area += a;
    }
    far->centre = v3_mad(base, sum, 1 / area);
    for (uint32_t i = 0; i < node->count; ++i)
    {
        vec3 a = v3_sub(corners[i].a, far->centre), b = v3_sub(corners[i].b, far->centre),
             c = v3_sub(corners[i].c, far->centre);
        radius2 = pl_max(radius2, pl_max(v3_dot(a, a), pl_max(v3_dot(b, b), v3_dot(c, c))));
    }
    far->radius = sqrt(radius2);
    moments m = {0};
    for (uint32_t i = 0; i < node->count; ++i)
        add_triangle(&m, &corners[i], far->centre);
    store_moments(far, &m);
    far->area = area;
}

void pl_winding_inner(pl_bvh* tree, uint32_t index)
{
    const pl_node* node = &tree->nodes[index];
    const uint32_t child[2] = {node->left, node->right};
    pl_far_field* far = &tree->far[index];
    double a = tree->far[child[0]].area, b = tree->far[child[1]].area, reach = 0;
    vec3 between = v3_sub(tree->far[child[1]].centre, tree->far[child[0]].centre);
    far->centre = v3_mad(tree->far[child[0]].centre, between, b / (a + b));
    moments m = {0};
    for (int i = 0; i < 2; ++i)
    {
        const pl_far_field* part = &tree->far[child[i]];
        vec3 d = v3_sub(part->centre, far->centre);
        reach = pl_max(reach, v3_length(d) + part->radius);
        if (part->excluded)
            continue;
        const double shift[3] = {d.x, d.y, d.z};
        moments own = load_moments(part);
        add_shifted(&m, &own, shift);
    }
    far->radius = pl_min(reach, farthest_corner(&node->box, far->centre));
    store_moments(far, &m);
    far->area = a + b;
}

/* ------------------------------------------------------------------ evaluation */

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
        return; /* in the triangle's plane the angle is 0, the mean of both sides */
    double scale = 1 / size, x = sum->re, y = sum->im;
    re *= scale, im *= scale;
    sum->re = x * re - y * im;
    sum->im = x * im + y * re;
    /* The argument of the factor is in (0, pi) or (-pi, 0). */
    if (im > 0)
        sum->turns += y >= 0 && sum->im < 0;
    else
        sum->turns -= y < 0 && sum->im >= 0;
}

/* 4 pi times the winding number of a node, as seen from k = radius / distance along e. */
static float far_field_angle(const float m[19], float x, float y, float z, float k)
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
        const pl_far_field* far = &tree->far[index];
        vec3 r = v3_sub(far->centre, point);
        double distance2 = v3_dot(r, r);
        if (distance2 > limit * far->radius * far->radius)
        {
            double inverse = 1 / sqrt(distance2);
            far_sum += far_field_angle(far->moment, (float)(r.x * inverse), (float)(r.y * inverse),
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
        if (!tree->far[node->right].excluded)
            stack[waiting++] = node->right;
        if (!tree->far[node->left].excluded)
            stack[waiting++] = node->left;
    }
    const double pi = 3.14159265358979323846;
    return far_sum / (4 * pi) + near.turns + atan2(near.im, near.re) / (2 * pi);
}
