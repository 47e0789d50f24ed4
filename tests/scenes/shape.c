// SPDX-License-Identifier: GPL-3.0-or-later
#include "shape.h"

#include "bars.h"

#include <stdlib.h>
#include <string.h>

static void* need(void* block)
{
    if (!block)
        abort();
    return block;
}

static vec3 centre_of(const scene_rest* rest, const float* at)
{
    vec3 sum = {0, 0, 0};
    for (uint32_t i = 0; i < rest->count; ++i)
        sum = v3_mad(sum, v3_from(at + 3 * (size_t)i), rest->mass[i]);
    return v3_scale(sum, 1 / rest->total);
}

/* Who is within reach of whom: counted first, then written. */
static void find_neighbours(scene_rest* rest)
{
    double reach = 1.8 * rest->spacing;
    rest->begin = need(calloc((size_t)rest->count + 1, sizeof *rest->begin));
    for (int writing = 0; writing < 2; ++writing)
    {
        uint32_t total = 0;
        for (uint32_t i = 0; i < rest->count; ++i)
        {
            rest->begin[i] = total;
            for (uint32_t j = 0; j < rest->count; ++j)
            {
                vec3 d = v3_sub(rest->at[j], rest->at[i]);
                if (i == j || v3_dot(d, d) > reach * reach)
                    continue;
                if (writing)
                    rest->next[total] = j;
                ++total;
            }
        }
        rest->begin[rest->count] = total;
        if (!writing)
            rest->next = need(calloc((size_t)total + 1, sizeof *rest->next));
    }
}

scene_rest scene_rest_of(pliant_body body, bool neighbours)
{
    scene_rest rest = {0};
    uint32_t floats, masses;
    float* at = scene_read_floats(body, PLIANT_REST, 0, NULL, &floats);
    float* mass = scene_read_floats(body, PLIANT_MASS, 0, NULL, &masses);
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    pliant_body_get_info(body, &info);
    rest.count = masses;
    rest.spacing = cbrt(info.rest_volume / (masses ? masses : 1));
    rest.at = need(calloc((size_t)masses + 1, sizeof *rest.at));
    rest.mass = need(calloc((size_t)masses + 1, sizeof *rest.mass));
    for (uint32_t i = 0; i < masses; ++i)
        rest.total += rest.mass[i] = mass[i];
    vec3 centre = centre_of(&rest, at);
    for (uint32_t i = 0; i < masses; ++i)
    {
        rest.at[i] = v3_sub(v3_from(at + 3 * (size_t)i), centre);
        rest.scatter =
            m3_add(rest.scatter, m3_scale(m3_outer(rest.at[i], rest.at[i]), rest.mass[i]));
    }
    rest.radius = sqrt(m3_trace(rest.scatter) / rest.total);
    if (neighbours)
        find_neighbours(&rest);
    free(at);
    free(mass);
    return rest;
}

void scene_rest_free(scene_rest* rest)
{
    free(rest->at);
    free(rest->mass);
    free(rest->begin);
    free(rest->next);
    memset(rest, 0, sizeof *rest);
}

/* One sweep of Jacobi's rotations on a symmetric matrix and its eigenvectors. */
static void jacobi_sweep(double a[4][4], double v[4][4])
{
    for (int p = 0; p < 3; ++p)
        for (int q = p + 1; q < 4; ++q)
        {
            if (fabs(a[p][q]) < 1e-300)
                continue;
            double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
            double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
            double c = 1 / sqrt(t * t + 1), s = t * c;
            for (int k = 0; k < 4; ++k)
            {
                double kp = a[k][p], kq = a[k][q], vp = v[k][p], vq = v[k][q];
                a[k][p] = c * kp - s * kq, a[k][q] = s * kp + c * kq;
                v[k][p] = c * vp - s * vq, v[k][q] = s * vp + c * vq;
            }
            for (int k = 0; k < 4; ++k)
            {
                double pk = a[p][k], qk = a[q][k];
                a[p][k] = c * pk - s * qk, a[q][k] = s * pk + c * qk;
            }
        }
}

/* The rotation R that minimises sum m |R r - x|^2, given sum m x r^T: the eigenvector of the
 * largest eigenvalue of Horn's matrix is its quaternion (1987). Flat and inverted shapes have one
 * too. */
static mat3 best_rotation(mat3 s)
{
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    double a[4][4] = {
        {m3_trace(s), s.m[2][1] - s.m[1][2], s.m[0][2] - s.m[2][0], s.m[1][0] - s.m[0][1]},
        {0, s.m[0][0] - s.m[1][1] - s.m[2][2], s.m[0][1] + s.m[1][0], s.m[0][2] + s.m[2][0]},
        {0, 0, s.m[1][1] - s.m[0][0] - s.m[2][2], s.m[1][2] + s.m[2][1]},
        {0, 0, 0, s.m[2][2] - s.m[0][0] - s.m[1][1]}};
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j)
            a[i][j] = a[j][i];
    for (int sweep = 0; sweep < 12; ++sweep)
        jacobi_sweep(a, v);
    int k = 0;
    for (int i = 1; i < 4; ++i)
        k = a[i][i] > a[k][k] ? i : k;
    double w = v[0][k];
    vec3 q = v3(v[1][k], v[2][k], v[3][k]);
    mat3 r = m3_scale(m3_identity(), w * w - v3_dot(q, q));
    return m3_add(r, m3_add(m3_scale(m3_outer(q, q), 2), m3_scale(m3_cross(q), 2 * w)));
}

/* How far particle i and its neighbours are from one affine map: sum of squares, and of how many.
 */
static double local_misfit(const scene_rest* rest, const float* x, uint32_t i, uint32_t* number)
{
    mat3 both = m3_zero(), square = m3_zero();
    vec3 here = v3_from(x + 3 * (size_t)i);
    double sum = 0;
    *number = 0;
    for (uint32_t k = rest->begin[i]; k < rest->begin[i + 1]; ++k)
    {
        vec3 r = v3_sub(rest->at[rest->next[k]], rest->at[i]);
        vec3 d = v3_sub(v3_from(x + 3 * (size_t)rest->next[k]), here);
        both = m3_add(both, m3_outer(d, r));
        square = m3_add(square, m3_outer(r, r));
    }
    if (rest->begin[i + 1] - rest->begin[i] < 6 || m3_det(square) < 1e-6 * pow(m3_trace(square), 3))
        return 0;
    mat3 map = m3_mul(both, m3_inverse(square));
    for (uint32_t k = rest->begin[i]; k < rest->begin[i + 1]; ++k)
    {
        vec3 r = v3_sub(rest->at[rest->next[k]], rest->at[i]);
        vec3 d = v3_sub(v3_from(x + 3 * (size_t)rest->next[k]), here);
        vec3 off = v3_sub(d, m3_mulv(map, r));
        sum += v3_dot(off, off);
    }
    *number = rest->begin[i + 1] - rest->begin[i];
    return sum;
}

double scene_roughness(pliant_body body, const scene_rest* rest)
{
    uint32_t count, number;
    float* x = scene_read_floats(body, PLIANT_POSITION, 0, NULL, &count);
    double sum = 0, pairs = 0;
    for (uint32_t i = 0; rest->begin && count == 3 * rest->count && i < rest->count; ++i)
    {
        sum += local_misfit(rest, x, i, &number);
        pairs += number;
    }
    free(x);
    return pairs > 0 ? sqrt(sum / pairs) / rest->spacing : NAN;
}

/* RMS speeds: of all, and of what is left when the rigid part is taken off. */
static void measure_speed(const scene_rest* rest, const float* x, const float* v,
                          scene_shape* shape)
{
    vec3 mean = centre_of(rest, v), spin = {0, 0, 0};
    mat3 inertia = m3_zero();
    double all = 0, swirl = 0;
    for (uint32_t i = 0; i < rest->count; ++i)
    {
        vec3 arm = v3_sub(v3_from(x + 3 * (size_t)i), shape->centre);
        vec3 speed = v3_from(v + 3 * (size_t)i);
        mat3 outer = m3_outer(arm, arm);
        spin = v3_mad(spin, v3_cross(arm, v3_sub(speed, mean)), rest->mass[i]);
        inertia = m3_add(inertia, m3_scale(m3_identity(), rest->mass[i] * m3_trace(outer)));
        inertia = m3_add(inertia, m3_scale(outer, -rest->mass[i]));
        all += rest->mass[i] * v3_dot(speed, speed);
    }
    spin = m3_mulv(m3_inverse(inertia), spin);
    for (uint32_t i = 0; i < rest->count; ++i)
    {
        vec3 arm = v3_sub(v3_from(x + 3 * (size_t)i), shape->centre);
        vec3 left = v3_sub(v3_sub(v3_from(v + 3 * (size_t)i), mean), v3_cross(spin, arm));
        swirl += rest->mass[i] * v3_dot(left, left);
    }
    shape->speed = sqrt(all / rest->total) / rest->radius;
    shape->swirl = sqrt(swirl / rest->total) / rest->radius;
}

static void measure_fits(const scene_rest* rest, const float* x, scene_shape* shape)
{
    mat3 both = m3_zero();
    double error = 0, detail = 0;
    for (uint32_t i = 0; i < rest->count; ++i)
    {
        vec3 at = v3_from(x + 3 * (size_t)i), d = v3_sub(at, shape->centre);
        both = m3_add(both, m3_scale(m3_outer(d, rest->at[i]), rest->mass[i]));
        shape->lowest = v3(fmin(shape->lowest.x, at.x), fmin(shape->lowest.y, at.y),
                           fmin(shape->lowest.z, at.z));
        shape->highest = v3(fmax(shape->highest.x, at.x), fmax(shape->highest.y, at.y),
                            fmax(shape->highest.z, at.z));
    }
    mat3 turn = best_rotation(both);
    shape->gradient = m3_mul(both, m3_inverse(rest->scatter));
    for (uint32_t i = 0; i < rest->count; ++i)
    {
        vec3 d = v3_sub(v3_from(x + 3 * (size_t)i), shape->centre);
        vec3 rigid = v3_sub(d, m3_mulv(turn, rest->at[i]));
        vec3 affine = v3_sub(d, m3_mulv(shape->gradient, rest->at[i]));
        error += rest->mass[i] * v3_dot(rigid, rigid);
        detail += rest->mass[i] * v3_dot(affine, affine);
    }
    shape->angle = acos(fmin(1, fmax(-1, (m3_trace(turn) - 1) / 2))) * 57.29577951308232;
    shape->error = sqrt(error / rest->total) / rest->radius;
    shape->detail = sqrt(detail / rest->total) / rest->radius;
}

scene_shape scene_shape_of(pliant_body body, const scene_rest* rest)
{
    scene_shape shape = {.lowest = {1e30, 1e30, 1e30}, .highest = {-1e30, -1e30, -1e30}};
    uint32_t count;
    float* x = scene_read_floats(body, PLIANT_POSITION, 0, NULL, &count);
    float* v = scene_read_floats(body, PLIANT_VELOCITY, 0, NULL, &count);
    if (count == 3 * rest->count)
    {
        shape.centre = centre_of(rest, x);
        measure_fits(rest, x, &shape);
        measure_speed(rest, x, v, &shape);
    }
    else
        shape.error = NAN;
    free(x);
    free(v);
    return shape;
}
