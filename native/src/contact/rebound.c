// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Restitution between soft bodies. They bounce by themselves, and what they lose they lose to their
 * own swinging, so throwing single particles back does not help: that only makes them swing more.
 * What counts is how fast the bodies part.
 *
 *      speed │ ______ restitution           Their softness gives back what it can. What is missing
 *            │   ___.. times the speed      when they let go of each other both get then, each as a
 *         ───┼──/──── before                rigid body, along the line of the impulse so far: both
 *            │ /                            momenta are kept, and the relative speed where they
 *            │/  they touch                 touched is between the restitution and 1 of before.
 */
#include "rebound.h"

#include "pose.h"

/* Seconds after which two bodies that still touch do not bounce any more: one lies on the other. */
#define MOST_AGE 1.0

/* A body as a rigid one, from its finest clusters. */
typedef struct whole
{
    bool fixed;
    double mass;
    vec3 x, v, spin;
    mat3 inertia_inverse;
} whole;

static whole whole_of(const pl_body* body)
{
    const pl_clusters* k = &body->clusters;
    whole w = {.fixed = body->asleep || body->pins.follow};
    mat3 second = m3_zero(), inertia;
    vec3 moment = v3(0, 0, 0);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        w.mass += k->mass[c];
        w.x = v3_mad(w.x, v3_from(k->x[c]), k->mass[c]);
        w.v = v3_mad(w.v, v3_from(k->sums[c] + 12), k->mass[c]);
    }
    w.x = v3_scale(w.x, 1 / w.mass), w.v = v3_scale(w.v, 1 / w.mass);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        vec3 arm = v3_sub(v3_from(k->x[c]), w.x), v = v3_sub(v3_from(k->sums[c] + 12), w.v);
        double own = (double)k->width_rms[c] * k->width_rms[c] / 3;
        second = m3_add(second, m3_scale(m3_outer(arm, arm), k->mass[c]));
        for (int i = 0; i < 3; ++i)
            second.m[i][i] += k->mass[c] * own;
        moment = v3_add(moment, v3_mad(v3_from(k->sums[c] + 15), v3_cross(arm, v), k->mass[c]));
    }
    inertia = m3_scale(second, -1);
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += m3_trace(second) * (1 + 1e-6);
    w.inertia_inverse = m3_inverse(inertia);
    w.spin = m3_mulv(w.inertia_inverse, moment);
    w.x = v3_add(w.x, v3_fromd(body->origin));
    if (body->asleep)
        w.v = w.spin = v3(0, 0, 0);
    return w;
}

static vec3 velocity_at(const whole* w, vec3 at)
{
    return v3_add(w->v, v3_cross(w->spin, v3_sub(at, w->x)));
}

/* The centre of mass of two, or of the one that does not give way. */
static vec3 centre_of(const whole* a, const whole* b)
{
    double share = a->fixed ? 0 : b->fixed ? 1 : b->mass / (a->mass + b->mass);
    return v3_mad(a->x, v3_sub(b->x, a->x), share);
}

/* ------------------------------------------------------------------ who met whom */

/* What two bodies gave each other in a substep. */
typedef struct meeting
{
    uint32_t a, b;
    vec3 impulse, at; /* on a; where, weighted by "weight" */
    double weight;
} meeting;

typedef struct meetings
{
    meeting* items;
    size_t count, capacity;
} meetings;

static double restitution_of(const pl_contact_body* bodies, const pl_contact_settings* settings,
                             uint32_t a, uint32_t b)
{
    return fmax(pl_own_or(bodies[a].body->restitution, settings->restitution),
                pl_own_or(bodies[b].body->restitution, settings->restitution));
}

static pl_status gather_meetings(const pl_contacts* all, const pl_contact_body* bodies,
                                 const pl_contact_settings* settings, double dt, meetings* list)
{
    for (size_t i = 0; i < all->list.count; ++i)
    {
        const pl_contact* c = &all->list.items[i];
        uint32_t own = c->body, other = pl_contact_body_of(all, c->cluster);
        if (c->bond || own == other || !(restitution_of(bodies, settings, own, other) > 0))
            continue;
        uint32_t a = PL_MIN(own, other), b = PL_MAX(own, other);
        size_t n = 0;
        while (n < list->count && (list->items[n].a != a || list->items[n].b != b))
            ++n;
        if (n == list->count)
        {
            if (!pl_grow((void**)&list->items, &list->capacity, n + 1, sizeof *list->items))
                return pl_fail_memory((n + 1) * sizeof *list->items);
            list->items[list->count++] = (meeting){.a = a, .b = b};
        }
        vec3 impulse = v3_scale(v3_from(c->impulse), own == a ? 1 : -1);
        double weight = v3_length(impulse);
        meeting* m = &list->items[n];
        m->impulse = v3_add(m->impulse, impulse);
        vec3 at = pl_contact_start(bodies[own].body, c->particle - all->slot_begin[own], dt);
        m->at = v3_mad(m->at, at, weight);
        m->weight += weight;
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ encounters */

static void store3d(vec3 v, double out[3])
{
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

static pl_rebound* find(const pl_rebounds* list, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < list->count; ++i)
        if (list->items[i].a == a && list->items[i].b == b)
            return &list->items[i];
    return NULL;
}

/* Adds what a substep brought, or begins with it. The clusters' sums are those before it. */
static pl_status note(pl_rebounds* list, const meeting* m, const pl_contact_body* bodies,
                      const pl_contact_settings* settings, double dt)
{
    if (!(m->weight > 0))
        return PLIANT_OK;
    whole one = whole_of(bodies[m->a].body), other = whole_of(bodies[m->b].body);
    vec3 at = v3_scale(m->at, 1 / m->weight), along = v3_normalised(m->impulse);
    vec3 way = v3_sub(velocity_at(&one, at), velocity_at(&other, at));
    double speed = v3_dot(way, along); /* below 0: they come nearer */
    pl_rebound* r = find(list, m->a, m->b);
    if (!r)
    {
        /* what rests does not bounce */
        if (!(speed < -PL_CONTACT_RESTING * settings->gravity * dt))
            return PLIANT_OK;
        if (!pl_grow((void**)&list->items, &list->capacity, list->count + 1, sizeof *list->items))
            return pl_fail_memory((list->count + 1) * sizeof *list->items);
        r = &list->items[list->count++];
        *r = (pl_rebound){.a = m->a, .b = m->b};
    }
    r->restitution = restitution_of(bodies, settings, m->a, m->b);
    if (-speed > r->approach)
    {
        r->approach = -speed;
        store3d(way, r->way);
    }
    if (speed < 0)
    {
        r->weight += m->weight;
        vec3 seen = v3_sub(at, centre_of(&one, &other)), mean = v3_fromd(r->at);
        store3d(v3_mad(mean, v3_sub(seen, mean), m->weight / r->weight), r->at);
        store3d(v3_add(v3_fromd(r->pressed), m->impulse), r->pressed);
    }
    r->age += dt;
    return PLIANT_OK;
}

/* A rigid impulse on all of a body. */
static void kick(pl_body* body, const whole* w, vec3 at, vec3 impulse, double dt)
{
    pl_particles* p = &body->particles;
    if (w->fixed)
        return;
    vec3 shift = v3_scale(impulse, 1 / w->mass);
    vec3 spin = m3_mulv(w->inertia_inverse, v3_cross(v3_sub(at, w->x), impulse));
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        if (!(p->mass[s] > 0) || (body->pins.any && body->pins.frequency[s] >= PLIANT_PIN_HELD))
            continue;
        vec3 arm = v3_sub(pl_contact_start(body, s, dt), w->x);
        vec3 dv = v3_add(shift, v3_cross(spin, arm));
        const double more[3] = {dv.x, dv.y, dv.z};
        for (int k = 0; k < 3; ++k)
        {
            p->v[k][s] = (float)(p->v[k][s] + more[k]);
            p->x[k][s] = (float)(p->x[k][s] + dt * more[k]);
        }
    }
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        body->chunks[c].moved = 1;
}

/* Mass, centre and inertia as the particles have them, where momentum depends on it. */
static whole weigh(const pl_body* body, double dt)
{
    const pl_particles* p = &body->particles;
    whole w = {.fixed = body->asleep || body->pins.follow};
    mat3 second = m3_zero(), inertia;
    vec3 moment = v3(0, 0, 0);
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        w.mass += p->mass[s];
        w.x = v3_mad(w.x, pl_contact_start(body, s, dt), p->mass[s]);
        w.v = v3_mad(w.v, pl_contact_velocity(body, s), p->mass[s]);
    }
    w.x = v3_scale(w.x, 1 / w.mass), w.v = v3_scale(w.v, 1 / w.mass);
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        vec3 arm = v3_sub(pl_contact_start(body, s, dt), w.x);
        second = m3_add(second, m3_scale(m3_outer(arm, arm), p->mass[s]));
        moment = v3_mad(moment, v3_cross(arm, pl_contact_velocity(body, s)), p->mass[s]);
    }
    inertia = m3_scale(second, -1);
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += m3_trace(second) * (1 + 1e-9);
    w.inertia_inverse = m3_inverse(inertia);
    w.spin = m3_mulv(w.inertia_inverse, moment);
    if (body->asleep)
        w.v = w.spin = v3(0, 0, 0);
    return w;
}

static double inverse_mass_at(const whole* w, vec3 at, vec3 n)
{
    vec3 turn = v3_cross(v3_sub(at, w->x), n);
    return w->fixed ? 0 : 1 / w->mass + v3_dot(turn, m3_mulv(w->inertia_inverse, turn));
}

static void part(const pl_rebound* r, const pl_contact_body* bodies, double dt)
{
    pl_body *one = bodies[r->a].body, *other = bodies[r->b].body;
    whole a = weigh(one, dt), b = weigh(other, dt);
    vec3 along = v3_normalised(v3_fromd(r->pressed));
    vec3 at = v3_add(centre_of(&a, &b), v3_fromd(r->at));
    double speed = v3_dot(v3_sub(velocity_at(&a, at), velocity_at(&b, at)), along);
    double missing = -r->restitution * v3_dot(v3_fromd(r->way), along) - speed;
    double k = inverse_mass_at(&a, at, along) + inverse_mass_at(&b, at, along);
    if (!(missing > 0 && k > 0))
        return;
    vec3 impulse = v3_scale(along, missing / k);
    kick(one, &a, at, impulse, dt);
    kick(other, &b, at, v3_scale(impulse, -1), dt);
}

static bool still_meets(const meetings* now, const pl_rebound* r)
{
    for (size_t i = 0; i < now->count; ++i)
        if (now->items[i].a == r->a && now->items[i].b == r->b)
            return true;
    return false;
}

pl_status pl_rebounds_follow(pl_rebounds* list, const pl_contacts* all,
                             const pl_contact_body* bodies, const pl_contact_settings* settings,
                             double dt)
{
    meetings now = {0};
    pl_status status = gather_meetings(all, bodies, settings, dt, &now);
    for (size_t i = 0; i < now.count && status == PLIANT_OK; ++i)
        status = note(list, &now.items[i], bodies, settings, dt);
    size_t kept = 0;
    for (size_t i = 0; i < list->count && status == PLIANT_OK; ++i)
    {
        pl_rebound r = list->items[i];
        bool meets = still_meets(&now, &r);
        if (!meets)
            part(&r, bodies, dt);
        if (meets && r.age < MOST_AGE)
            list->items[kept++] = r;
    }
    if (status == PLIANT_OK)
        list->count = kept;
    pl_free(now.items);
    return status;
}

void pl_rebounds_drop_body(pl_rebounds* list, uint32_t body)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; ++i)
    {
        pl_rebound r = list->items[i];
        if (r.a == body || r.b == body)
            continue;
        r.a -= r.a > body, r.b -= r.b > body;
        list->items[kept++] = r;
    }
    list->count = kept;
}
