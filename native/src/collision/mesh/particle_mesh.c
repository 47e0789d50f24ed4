// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Contact of one particle with one mesh, within one substep, in double precision: for what the
 * lanes (lanes.simd.c) cannot decide.
 *
 *      o start                    The particle and the corners of each triangle go in straight
 *       \      /\                 lines; ccd.c finds where they cross.
 *     ---\----/--\--- t1
 *         \  /    \
 *     -----\/------\- t0
 *          o end
 *
 * A contact is a plane that moves with the triangle; particle_collider.c does the rest, so
 * restitution, friction, rest and recovery are those of simple colliders:
 *   - a path that crosses is stopped on the side of the plane from which it came;
 *   - one that does not cross, but ends nearer than the thickness, is pushed away from the
 *     nearest point;
 *   - a particle that starts inside a solid is pushed out through the nearest point.
 * A push away from one triangle may cross another: repeat, from the same start, until there is no
 * contact. A path that still crosses then is replaced by one that moves with the surface.
 */
#include "collision/mesh/ccd.h"

/* Least thickness in units of rounding, so that a particle's side is certain. */
#define LEAST_THICKNESS 4
#define PASSES 8
/* Above this cosine the direction to an edge's nearest point is snapped to the face normal. */
#define SAME_NORMAL 0.9999

/* ------------------------------------------------------------------ response */

/* Columns: along the first edge, across it, the normal. */
static mat3 frame_of(const pl_corners* t)
{
    vec3 x = v3_normalised(v3_sub(t->b, t->a)), z = v3_normalised(pl_corners_normal(t)),
         y = v3_cross(z, x);
    return (mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

/* A rotation that maps z to a direction; exact for both face normals. */
static mat3 tilt_to(vec3 z)
{
    if (z.x == 0 && z.y == 0)
        return (mat3){{{1, 0, 0}, {0, z.z, 0}, {0, 0, z.z}}};
    vec3 y = v3_normalised(v3_cross(z, v3(1, 0, 0)));
    if (fabs(z.x) > 0.9)
        y = v3_normalised(v3_cross(z, v3(0, 1, 0)));
    vec3 x = v3_cross(y, z);
    return (mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

static void store(mat3 m, double out[9])
{
    for (int i = 0; i < 9; ++i)
        out[i] = m.m[i / 3][i % 3];
}

/* A plane through the point with these weights that moves with the triangle; "up" is its normal in
 * the triangle's frame. */
static pl_collider_step plane_on(const pl_moving_view* s, const pl_moving* m,
                                 const double weights[3], vec3 up, double thickness)
{
    pl_collider_step plane = {.shape = PLIANT_SHAPE_PLANE,
                              .friction = s->friction,
                              .restitution = s->restitution,
                              .thickness = thickness,
                              .running = s->running,
                              .growth = {1, 1, 1}};
    mat3 tilt = tilt_to(up);
    mat3 r0 = m3_mul(frame_of(&m->at0), tilt), r1 = m3_mul(frame_of(&m->at1), tilt);
    vec3 p0 = pl_corners_mix(&m->at0, weights), p1 = pl_corners_mix(&m->at1, weights),
         shift = v3_sub(p1, p0);
    store(r0, plane.r0), store(r1, plane.r1);
    store(m3_add(r1, m3_scale(r0, -1)), plane.turn);
    plane.p0[0] = p0.x, plane.p0[1] = p0.y, plane.p0[2] = p0.z;
    plane.p1[0] = p1.x, plane.p1[1] = p1.y, plane.p1[2] = p1.z;
    plane.shift[0] = shift.x, plane.shift[1] = shift.y, plane.shift[2] = shift.z;
    return plane;
}

static double height_at_start(const pl_collider_step* plane, const double x[3])
{
    double height = 0;
    for (int i = 0; i < 3; ++i)
        height += (x[i] - plane->p0[i]) * plane->r0[3 * i + 2];
    return height;
}

/* Direction from a point of a triangle to a particle, in the triangle's frame, snapped to the face
 * normal so that flat meshes act flat. "side" decides for a particle on the point. */
static vec3 direction_from(const pl_corners* t, vec3 away, double touching, double side)
{
    vec3 local = m3_mulv(m3_transpose(frame_of(t)), away);
    double length = v3_length(local);
    if (!(length > touching))
        return v3(0, 0, side < 0 ? -1 : 1);
    local = v3_scale(local, 1 / length);
    if (fabs(local.z) > SAME_NORMAL)
        return v3(0, 0, local.z < 0 ? -1 : 1);
    return local;
}

static bool contact_triangle(const pl_moving_view* s, pl_collider_particle* q,
                             const pl_moving_meeting* met, double thickness)
{
    pl_moving m = pl_moving_at(s, met->triangle);
    vec3 start = v3_fromd(q->start), end = v3_fromd(q->x), up = v3(0, 0, met->side);
    double unused[3];
    if (!met->crossing)
    {
        double side = v3_dot(pl_corners_normal(&m.at0), v3_sub(start, m.at0.a));
        up = direction_from(&m.at1, v3_sub(end, pl_corners_mix(&m.at1, met->weights)), q->touching,
                            side);
    }
    if (!pl_moving_whole(&m))
        return false;
    pl_collider_step plane = plane_on(s, &m, met->weights, up, thickness);
    double height = height_at_start(&plane, q->start);
    if (!(height > 0)) /* beside the triangle, not behind it */
        height = v3_length(v3_sub(start, pl_triangle_nearest(&m.at0, start, unused)));
    return pl_collide_plane(&plane, q, height);
}

/* Fallback for a path that still crosses: the particle moves rigidly with the triangle. */
static void move_with_triangle(const pl_moving_view* s, pl_collider_particle* q,
                               const pl_moving_meeting* met)
{
    pl_moving m = pl_moving_at(s, met->triangle);
    vec3 from = pl_corners_mix(&m.at0, met->weights), to = pl_corners_mix(&m.at1, met->weights);
    vec3 local = m3_mulv(m3_transpose(frame_of(&m.at0)), v3_sub(v3_fromd(q->start), from));
    vec3 there = v3_add(to, m3_mulv(frame_of(&m.at1), local));
    const double x[3] = {there.x, there.y, there.z};
    for (int k = 0; k < 3; ++k)
    {
        q->v[k] = (x[k] - q->start[k]) / q->dt;
        q->x[k] = x[k];
    }
}

/* On a rotating surface a path may dip through it and still end above its plane. If it crosses
 * back, nothing is done; if it went around the triangle, it moves with the surface instead. */
static bool contact_outside(const pl_moving_view* s, pl_collider_particle* q)
{
    double thickness = PL_MAX(s->thickness, LEAST_THICKNESS * q->touching), after = -1;
    pl_moving_meeting dip = {.triangle = PL_NO_TRIANGLE}; /* crossing without its way back yet */
    bool touched = false;
    for (int pass = 0; pass < PASSES; ++pass)
    {
        pl_moving_meeting met = pl_moving_meet(s, q, thickness, after);
        bool dipped = dip.triangle != PL_NO_TRIANGLE, changed = false;
        if (dipped && met.crossing && met.side == -dip.side)
            dip.triangle = PL_NO_TRIANGLE;
        else if (dipped && !met.crossing)
        {
            move_with_triangle(s, q, &dip);
            changed = true;
        }
        else if (met.triangle == PL_NO_TRIANGLE)
            return touched;
        else if (contact_triangle(s, q, &met, thickness))
            changed = true;
        else if (met.crossing)
            dip = met;
        else
            return touched;
        after = changed ? -1 : met.when;
        if (!changed)
            continue;
        touched = true;
        dip.triangle = PL_NO_TRIANGLE;
        q->ignore = 0.05 * q->touching;
    }
    pl_moving_meeting met =
        dip.triangle != PL_NO_TRIANGLE ? dip : pl_moving_meet(s, q, thickness, after);
    if (!met.crossing)
        return touched;
    /* none of its contacts moves it well: use the nearest triangle */
    uint32_t nearest = pl_moving_nearest(s, v3_fromd(q->start), met.weights);
    if (nearest != PL_NO_TRIANGLE)
        met.triangle = nearest;
    move_with_triangle(s, q, &met);
    return true;
}

static bool contact_inside(const pl_moving_view* s, pl_collider_particle* q)
{
    double thickness = PL_MAX(s->thickness, LEAST_THICKNESS * q->touching), weights[3];
    vec3 start = v3_fromd(q->start);
    uint32_t triangle = pl_moving_nearest(s, start, weights);
    if (triangle == PL_NO_TRIANGLE)
        return false;
    pl_moving m = pl_moving_at(s, triangle);
    if (!pl_corners_area(&m.at1))
        return false;
    vec3 out = v3_sub(pl_corners_mix(&m.at0, weights), start);
    vec3 up = direction_from(&m.at0, out, q->touching, 1);
    pl_collider_step plane = plane_on(s, &m, weights, up, thickness);
    return pl_collide_plane(&plane, q, height_at_start(&plane, q->start));
}

bool pl_collide_mesh(const pl_moving_view* s, pl_collider_particle* q, bool inside)
{
    return inside ? contact_inside(s, q) : contact_outside(s, q);
}
