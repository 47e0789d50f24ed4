// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Contact of one particle with one simple collider, within one substep.
 *
 * The path of a particle is taken in the frame of the collider: from its start in the collider's
 * old pose to its end in the new one, in a straight line. So fast colliders equal fast particles,
 * and nothing tunnels.
 *
 *        start o                     f(t): distance from the shape along the path, less the
 *               \                    thickness. The signed distance of a convex shape is convex,
 *      ----------e--------- surface  so f is, and Newton's method from t = 0 goes to the first
 *        shape    \                  root without ever passing it.
 *                  o end
 *
 * At the entry e the tangent plane bounds the whole shape: the end is projected onto that plane
 * (or, where that is nearly the same, onto the surface point nearest to the end). Planes and
 * inside-out shapes need no root: their free region is convex, so a path that ends outside the
 * shape never touched it.
 *
 * Velocities relative to the moving surface: the normal part n.u is set to -e n.u (restitution) and
 * the tangential part is shortened by at most friction times the change of the normal part
 * (Coulomb); positions follow for the time that was left after the entry. Departures from the
 * textbook, each for rest:
 *   - Restitution is for particles that were free when the substep began. One that was touching has
 *     an approach speed of (acceleration dt) and no more: it rests. So a bouncing particle comes to
 *     rest when e times its speed is below what one substep's acceleration takes away, whatever the
 *     unit of length and the gravity are. The bounce begins on the surface at the substep's end: it
 *     loses at most the height of one substep's travel and never gains.
 *   - A particle that touched and is held by friction returns to where the substep began, moved
 *     with the surface: no creep, to the bit.
 *   - One that began inside is pushed out through the nearest surface by a share of its depth (time
 *     constant RECOVERY_TIME), its velocity is only kept from going deeper: no explosion.
 */
#include "collision/collider/particle_collider.h"

#include <math.h>

/* Time constant in seconds with which an existing overlap decays. */
#define RECOVERY_TIME 0.1
/* Entry plane and nearest surface agree above this cosine of their normals. */
#define SAME_SIDE 0.9
#define NEWTON_STEPS 32

static double dot3(const double* a, const double* b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void turn3(const double* r, const double* p, double* out)
{
    for (int i = 0; i < 3; ++i)
        out[i] = dot3(r + 3 * i, p);
}
static void to_local(const double* r, const double* p, const double* x, double* out)
{
    double d[3] = {x[0] - p[0], x[1] - p[1], x[2] - p[2]};
    for (int i = 0; i < 3; ++i)
        out[i] = r[i] * d[0] + r[3 + i] * d[1] + r[6 + i] * d[2];
}
static void local_path(const pl_collider_step* step, const pl_collider_particle* q, double* a,
                       double* b)
{
    to_local(step->r0, step->p0, q->start, a);
    to_local(step->r1, step->p1, q->x, b);
    for (int i = 0; i < 3; ++i)
        a[i] *= step->growth[i];
}

/* Signed distance from a corner where "count" flat sides meet at right angles, and its gradient,
 * given the signed distance over each side. */
static double beyond(const double* over, int count, double* direction)
{
    double square = 0;
    int nearest = 0;
    for (int i = 0; i < count; ++i)
    {
        direction[i] = over[i] > 0 ? over[i] : 0;
        square += direction[i] * direction[i];
        if (over[i] > over[nearest])
            nearest = i;
    }
    double length = sqrt(square);
    for (int i = 0; i < count; ++i)
        direction[i] = length > 0 ? direction[i] / length : (i == nearest ? 1 : 0);
    return length > 0 ? length : over[nearest];
}

/* Signed distance from the shape, and its gradient n, at a local point. */
static double distance_at(const pl_collider_step* step, const double* p, double* n)
{
    const double* e = step->extent;
    switch (step->shape)
    {
        case PLIANT_SHAPE_BOX: {
            double over[3], direction[3];
            for (int i = 0; i < 3; ++i)
                over[i] = fabs(p[i]) - e[i];
            double distance = beyond(over, 3, direction);
            for (int i = 0; i < 3; ++i)
                n[i] = p[i] < 0 ? -direction[i] : direction[i];
            return distance;
        }
        case PLIANT_SHAPE_CYLINDER: {
            double across = sqrt(p[0] * p[0] + p[1] * p[1]), direction[2];
            double over[2] = {across - e[0], fabs(p[2]) - e[1]};
            double distance = beyond(over, 2, direction);
            n[0] = across > 0 ? direction[0] * p[0] / across : direction[0];
            n[1] = across > 0 ? direction[0] * p[1] / across : 0;
            n[2] = p[2] < 0 ? -direction[1] : direction[1];
            return distance;
        }
        default: {
            double axis = step->shape == PLIANT_SHAPE_CAPSULE ? PL_CLAMP(p[2], -e[1], e[1]) : 0;
            double d[3] = {p[0], p[1], p[2] - axis}, length = sqrt(dot3(d, d));
            for (int i = 0; i < 3; ++i)
                n[i] = length > 0 ? d[i] / length : (i == 0 ? 1 : 0);
            return length - e[0];
        }
    }
}

typedef struct contact
{
    double n[3]; /* local, away from the collider */
    double time; /* of the entry, in the substep: 0 to 1 */
    double push; /* how far the end moves along n */
    bool free;   /* it started outside, not touching */
    bool rests;  /* it started touching; neither: it started inside */
} contact;

/* Tangential part of the surface velocity at a point. */
static void surface_velocity_at(const pl_running* running, const double* n, const double* at,
                                double* out)
{
    const double* w = running->spin;
    out[0] = running->velocity[0] + (w[1] * at[2] - w[2] * at[1]);
    out[1] = running->velocity[1] + (w[2] * at[0] - w[0] * at[2]);
    out[2] = running->velocity[2] + (w[0] * at[1] - w[1] * at[0]);
    double away = dot3(out, n);
    for (int i = 0; i < 3; ++i)
        out[i] -= away * n[i];
}

/* Snaps a position that equals the start, moved with the surface, to it. */
static void return_to_start(const pl_collider_step* step, pl_collider_particle* q, const double* a)
{
    double there[3], off = 0;
    turn3(step->turn, a, there);
    for (int i = 0; i < 3; ++i)
    {
        there[i] = q->start[i] + (step->shift[i] + there[i]);
        off += fabs(q->x[i] - there[i]);
    }
    for (int i = 0; i < 3 && off <= q->touching; ++i)
        q->x[i] = there[i];
}

/* Applies a contact; a and b are the path in the collider's frame. */
static void respond(const pl_collider_step* step, pl_collider_particle* q, const contact* c,
                    const double* a, const double* b)
{
    double n[3], at[3], surface[3], u[3], run[3] = {0, 0, 0};
    turn3(step->r1, c->n, n);
    for (int i = 0; i < 3; ++i)
        at[i] = b[i] + c->push * c->n[i];
    turn3(step->turn, at, surface);
    for (int i = 0; i < 3; ++i)
        q->x[i] += c->push * n[i];
    if (step->running.on)
        surface_velocity_at(&step->running, n, q->x, run);
    for (int i = 0; i < 3; ++i)
    {
        surface[i] = (step->shift[i] + surface[i]) / q->dt;
        u[i] = q->v[i] - (surface[i] + run[i]);
    }
    double approach = -dot3(u, n);
    if (!(approach > 0))
        return;
    double bounce = c->free ? step->restitution : 0;
    double impulse = (1 + bounce) * approach, square = 0;
    for (int i = 0; i < 3; ++i)
    {
        u[i] += approach * n[i]; /* tangential from here on */
        square += u[i] * u[i];
        q->v[i] += impulse * n[i];
    }
    double slip = sqrt(square), grip = step->friction * impulse;
    bool held = grip >= slip;
    double slowed = held ? 1 : grip / slip;
    for (int i = 0; i < 3; ++i)
    {
        q->v[i] -= slowed * u[i];
        q->x[i] -= slowed * (1 - c->time) * q->dt * u[i];
    }
    if (held && c->rests && !step->running.on)
        return_to_start(step, q, a);
}

static double recovered_share(const pl_collider_particle* q)
{
    return q->dt / (q->dt + RECOVERY_TIME);
}

/* Contact with one side of a region that particles are kept in; "over" is the signed distance
 * beyond it. */
static bool contact_side(const pl_collider_step* step, pl_collider_particle* q,
                         const double* normal, double over_start, double over_end, const double* a,
                         const double* b)
{
    bool overlaps = over_start > q->touching;
    double left = overlaps ? over_start * (1 - recovered_share(q)) : 0;
    contact c = {.n = {normal[0], normal[1], normal[2]}, .push = over_end - left};
    if (!(c.push > q->ignore))
        return false;
    c.free = over_start < -q->touching;
    if (c.free)
        c.time = over_start / (over_start - over_end);
    c.rests = !c.free && !overlaps;
    respond(step, q, &c, a, b);
    return true;
}

static const double up[3] = {0, 0, 1};

static bool contact_plane(const pl_collider_step* step, pl_collider_particle* q)
{
    double a[3], b[3];
    local_path(step, q, a, b);
    return contact_side(step, q, up, step->thickness - a[2], step->thickness - b[2], a, b);
}

bool pl_collide_plane(const pl_collider_step* step, pl_collider_particle* q, double start_height)
{
    double a[3], b[3];
    local_path(step, q, a, b);
    return contact_side(step, q, up, step->thickness - start_height, step->thickness - b[2], a, b);
}

/* Inside a shape. Each of a box's six and a cylinder's three sides is a contact of its own, so an
 * impact on one does not affect another. Entry times on curved sides are those of a plane. */
static bool contact_container(const pl_collider_step* step, pl_collider_particle* q)
{
    double a[3], b[3], n[3], unused[3];
    bool touched = false;
    bool box = step->shape == PLIANT_SHAPE_BOX, cylinder = step->shape == PLIANT_SHAPE_CYLINDER;
    local_path(step, q, a, b);
    if (!box)
    {
        double start, end;
        if (cylinder)
        {
            double across = sqrt(b[0] * b[0] + b[1] * b[1]);
            start = sqrt(a[0] * a[0] + a[1] * a[1]) - step->extent[0];
            end = across - step->extent[0];
            n[0] = across > 0 ? b[0] / across : 1, n[1] = across > 0 ? b[1] / across : 0, n[2] = 0;
        }
        else
        {
            start = distance_at(step, a, unused);
            end = distance_at(step, b, n);
        }
        for (int i = 0; i < 3; ++i)
            n[i] = -n[i];
        touched = contact_side(step, q, n, start, end, a, b);
    }
    for (int i = box ? 0 : 2; (box || cylinder) && i < 3; ++i)
        for (int side = -1; side <= 1; side += 2)
        {
            double wall = step->extent[box ? i : 1];
            local_path(step, q, a, b);
            n[0] = n[1] = n[2] = 0;
            n[i] = -side;
            touched |= contact_side(step, q, n, side * a[i] - wall, side * b[i] - wall, a, b);
        }
    return touched;
}

/* Outside a convex shape. */
static bool contact_shape(const pl_collider_step* step, pl_collider_particle* q)
{
    double a[3], b[3], path[3], entry[3], at_end[3];
    contact c = {.time = 0};
    local_path(step, q, a, b);
    for (int i = 0; i < 3; ++i)
        path[i] = b[i] - a[i];
    double gap = distance_at(step, a, c.n) - step->thickness, slope = dot3(c.n, path);
    if (gap < -q->touching)
    {
        c.push = -gap * recovered_share(q) - slope;
        if (!(c.push > q->ignore))
            return false;
        respond(step, q, &c, a, b);
        return true;
    }
    c.free = gap > q->touching;
    c.rests = !c.free;
    for (int i = 0; i < NEWTON_STEPS && gap > q->touching; ++i)
    {
        if (!(slope < 0))
            return false;
        c.time -= gap / slope;
        if (!(c.time < 1))
            return false;
        for (int j = 0; j < 3; ++j)
            entry[j] = a[j] + c.time * path[j];
        gap = distance_at(step, entry, c.n) - step->thickness;
        slope = dot3(c.n, path);
    }
    if (!(slope < 0))
        return false;
    c.push = -(gap + (1 - c.time) * slope);
    double end_gap = distance_at(step, b, at_end) - step->thickness;
    if (end_gap < 0 && dot3(at_end, c.n) > SAME_SIDE)
    {
        c.push = -end_gap;
        for (int i = 0; i < 3; ++i)
            c.n[i] = at_end[i];
    }
    if (!(c.push > q->ignore))
        return false;
    respond(step, q, &c, a, b);
    return true;
}

bool pl_collide_particle(const pl_collider_step* step, pl_collider_particle* q)
{
    if (step->shape == PLIANT_SHAPE_PLANE)
        return contact_plane(step, q);
    if (step->inside_out)
        return contact_container(step, q);
    for (int i = 0; i < 3; ++i)
    {
        double low = PL_MIN(q->start[i], q->x[i]), high = PL_MAX(q->start[i], q->x[i]);
        if (!(high >= step->lower[i] && low <= step->upper[i]))
            return false;
    }
    return contact_shape(step, q);
}
