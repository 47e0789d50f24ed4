// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Colliders of the oracle: every particle against every simple shape and every triangle, one after
 * the other. Normals of shapes are differences of their distances. A path that crosses a triangle
 * ends before it; what is nearer to one than the thickness is pushed off; then friction and
 * restitution, as for any surface.
 */
#include "native/oracle/oracle.h"

#include <math.h>
#include <stdlib.h>

static mat3 rotation_of(const double q[4])
{
    double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    vec3 axis = v3(q[1] / size, q[2] / size, q[3] / size);
    mat3 cross = m3_cross(axis);
    return m3_add(m3_identity(),
                  m3_add(m3_scale(cross, 2 * q[0] / size), m3_scale(m3_mul(cross, cross), 2)));
}

double reference_distance(uint32_t shape, const double e[3], vec3 p)
{
    double across = sqrt(p.x * p.x + p.y * p.y), a, b, c;
    switch (shape)
    {
        case PLIANT_SHAPE_PLANE:
            return p.z;
        case PLIANT_SHAPE_SPHERE:
            return v3_length(p) - e[0];
        case PLIANT_SHAPE_CAPSULE:
            a = fmax(fabs(p.z) - e[1], 0);
            return sqrt(across * across + a * a) - e[0];
        case PLIANT_SHAPE_CYLINDER:
            a = across - e[0], b = fabs(p.z) - e[1];
            return hypot(fmax(a, 0), fmax(b, 0)) + fmin(fmax(a, b), 0);
        default:
            a = fabs(p.x) - e[0], b = fabs(p.y) - e[1], c = fabs(p.z) - e[2];
            return v3_length(v3(fmax(a, 0), fmax(b, 0), fmax(c, 0))) + fmin(fmax(a, fmax(b, c)), 0);
    }
}

/* Along n, by "push"; the surface runs with this velocity. */
static void push(reference* body, uint32_t i, const pliant_collider_desc* c, vec3 n, double by,
                 vec3 run)
{
    vec3 u = v3_sub(body->v[i], v3_mad(run, n, -v3_dot(run, n)));
    double approach = -v3_dot(u, n);
    body->x[i] = v3_mad(body->x[i], n, by);
    if (!(approach > 0))
        return;
    double impulse = (1 + c->restitution) * approach;
    vec3 slip = v3_mad(u, n, approach);
    double size = v3_length(slip), grip = c->friction * impulse;
    body->v[i] = v3_mad(body->v[i], n, impulse);
    if (size > 0)
        body->v[i] = v3_mad(body->v[i], slip, -fmin(1, grip / size));
}

static bool touch_shape(reference* body, uint32_t i, const pliant_collider_desc* c, mat3 to_world)
{
    const double step = 1e-6;
    mat3 to_local = m3_transpose(to_world);
    vec3 p = m3_mulv(to_local, v3_sub(body->x[i], v3_fromd(c->pose.position)));
    const double *e = c->pose.extent, side = c->inside_out ? -1 : 1;
    double d = side * reference_distance(c->shape, e, p);
    if (!(d < c->thickness))
        return false;
    vec3 n = v3(reference_distance(c->shape, e, v3(p.x + step, p.y, p.z)) -
                    reference_distance(c->shape, e, v3(p.x - step, p.y, p.z)),
                reference_distance(c->shape, e, v3(p.x, p.y + step, p.z)) -
                    reference_distance(c->shape, e, v3(p.x, p.y - step, p.z)),
                reference_distance(c->shape, e, v3(p.x, p.y, p.z + step)) -
                    reference_distance(c->shape, e, v3(p.x, p.y, p.z - step)));
    vec3 arm = v3_sub(p, v3_fromd(c->surface_centre));
    vec3 run = v3_add(v3_fromd(c->surface_velocity), v3_cross(v3_fromd(c->surface_spin), arm));
    n = m3_mulv(to_world, v3_scale(v3_normalised(n), side));
    push(body, i, c, n, c->thickness - d, m3_mulv(to_world, run));
    return true;
}

reference_triangles* reference_triangles_create(const pliant_collider_desc* desc,
                                                uint32_t triangle_count, const float* vertices,
                                                const uint32_t* triangles)
{
    reference_triangles* all = calloc(1, sizeof *all);
    if (!all || !(all->at = calloc(triangle_count, sizeof *all->at)))
        abort();
    all->desc = *desc;
    all->count = triangle_count;
    for (uint32_t t = 0; t < triangle_count; ++t)
    {
        for (int k = 0; k < 3; ++k)
            all->at[t].corner[k] = v3_from(vertices + 3 * (size_t)triangles[3 * (size_t)t + k]);
        const vec3* c = all->at[t].corner;
        all->at[t].normal = v3_normalised(v3_cross(v3_sub(c[1], c[0]), v3_sub(c[2], c[0])));
    }
    return all;
}

void reference_triangles_free(reference_triangles* all)
{
    if (all)
        free(all->at);
    free(all);
}

/* How far a point of its plane is outside of a triangle, along the edge it is farthest from. */
static double beyond(const reference_triangle* t, vec3 p)
{
    double most = -INFINITY;
    for (int k = 0; k < 3; ++k)
    {
        vec3 from = t->corner[k], along = v3_normalised(v3_sub(t->corner[(k + 1) % 3], from));
        most = fmax(most, v3_dot(v3_cross(along, t->normal), v3_sub(p, from)));
    }
    return most;
}

static bool touch_triangle(reference* body, uint32_t i, const pliant_collider_desc* c,
                           const reference_triangle* t)
{
    vec3 start = body->old[i], end = body->x[i];
    double h1 = v3_dot(t->normal, v3_sub(end, t->corner[0]));
    double h0 = v3_dot(t->normal, v3_sub(start, t->corner[0]));
    bool crosses = h0 * h1 <= 0 && h0 != h1;
    if (!crosses && fabs(h1) >= c->thickness)
        return false;
    vec3 at = crosses ? v3_mad(start, v3_sub(end, start), h0 / (h0 - h1)) : end;
    if (beyond(t, at) > 0)
        return false;
    double side = h0 < 0 ? -1 : 1;
    push(body, i, c, v3_scale(t->normal, side), c->thickness - side * h1, v3(0, 0, 0));
    return true;
}

uint64_t reference_collide(reference* body, uint32_t count, const pliant_collider_desc* colliders,
                           const reference_triangles* mesh)
{
    uint64_t touched = 0;
    for (uint32_t c = 0; c < count; ++c)
    {
        mat3 to_world = rotation_of(colliders[c].pose.rotation);
        for (uint32_t i = 0; i < body->particles; ++i)
            touched += touch_shape(body, i, &colliders[c], to_world);
    }
    for (uint32_t i = 0; mesh && i < body->particles; ++i)
        for (uint32_t t = 0; t < mesh->count; ++t)
            touched += touch_triangle(body, i, &mesh->desc, &mesh->at[t]);
    return touched;
}
