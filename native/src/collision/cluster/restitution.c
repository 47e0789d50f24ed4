// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Restitution between soft bodies. They bounce by themselves and lose energy to their own
 * vibration, so reflecting single particles only makes them vibrate more. What counts is the speed
 * at which the bodies separate.
 *
 *      speed │ ______ restitution           Their elasticity returns what it can. When contact
 *            │   ___.. times the speed      ends, both get the missing part as rigid bodies, along
 *         ───┼──/──── before                the line of the accumulated impulse: linear and angular
 *            │ /                            momentum are kept, and the separation speed at the
 *            │/  contact                    contact is between the restitution and 1 of before.
 *
 * Pieces of a broken body bounce one by one. Pieces without extent across some line (small pieces)
 * have no invertible inertia: they bounce by their elasticity alone.
 */
#include "collision/cluster/restitution.h"

#include "body/piece_query.h"
#include "body/validity.h"
#include "collision/broadphase/pose.h"

/* Age in seconds at which an encounter ends: one body then rests on the other. */
#define MOST_AGE 1.0

/* A body, or a piece of it, as a rigid body. */
typedef struct whole
{
    bool fixed, turns; /* turns: its inertia is invertible */
    double mass;
    vec3 x, v, spin;
    mat3 inertia_inverse;
} whole;

static bool is_fixed(const pl_body* body, uint32_t piece)
{
    const pl_fracture* f = body->fracture;
    return body->asleep || body->pins.follow ||
           (f && piece < f->piece_count && f->pieces[piece].asleep);
}

static bool is_of(const pl_body* body, uint32_t cluster, uint32_t piece)
{
    return !body->fracture || body->clusters.piece[cluster] == piece;
}

/* Spin from the second moment about the centre and the angular momentum. "more" regularises thin
 * bodies. */
static void set_turning(whole* w, mat3 second, vec3 moment, double more)
{
    double trace = m3_trace(second);
    mat3 inertia = m3_scale(second, -1);
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += trace * (1 + more);
    w->turns = m3_det(inertia) > 1e-5 * trace * trace * trace;
    if (!w->turns)
        return;
    w->inertia_inverse = m3_inverse(inertia);
    w->spin = m3_mulv(w->inertia_inverse, moment);
}

/* From the finest clusters. */
static whole whole_of(const pl_body* body, uint32_t piece)
{
    const pl_clusters* k = &body->clusters;
    whole w = {.fixed = is_fixed(body, piece)};
    mat3 second = m3_zero();
    vec3 moment = v3(0, 0, 0);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        if (!is_of(body, c, piece))
            continue;
        w.mass += k->mass[c];
        w.x = v3_mad(w.x, v3_from(k->x[c]), k->mass[c]);
        w.v = v3_mad(w.v, v3_from(k->sums[c] + 12), k->mass[c]);
    }
    if (!(w.mass > 0))
        return w;
    w.x = v3_scale(w.x, 1 / w.mass), w.v = v3_scale(w.v, 1 / w.mass);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        if (!is_of(body, c, piece))
            continue;
        vec3 arm = v3_sub(v3_from(k->x[c]), w.x), v = v3_sub(v3_from(k->sums[c] + 12), w.v);
        double own = (double)k->width_rms[c] * k->width_rms[c] / 3;
        second = m3_add(second, m3_scale(m3_outer(arm, arm), k->mass[c]));
        for (int i = 0; i < 3; ++i)
            second.m[i][i] += k->mass[c] * own;
        moment = v3_add(moment, v3_mad(v3_from(k->sums[c] + 15), v3_cross(arm, v), k->mass[c]));
    }
    set_turning(&w, second, moment, 1e-6);
    w.x = v3_add(w.x, v3_fromd(body->origin));
    if (w.fixed && !body->pins.follow)
        w.v = w.spin = v3(0, 0, 0);
    return w;
}

static vec3 velocity_at(const whole* w, vec3 at)
{
    return v3_add(w->v, v3_cross(w->spin, v3_sub(at, w->x)));
}

/* The common centre of mass, or that of the fixed one. */
static vec3 centre_of(const whole* a, const whole* b)
{
    double share = a->fixed ? 0 : b->fixed ? 1 : b->mass / (a->mass + b->mass);
    return v3_mad(a->x, v3_sub(b->x, a->x), share);
}

/* ------------------------------------------------------------------ contacts by pair */

/* Contact between two sides in a substep. */
typedef struct meeting
{
    pl_restitution_side a, b;
    vec3 impulse, at; /* impulse on a; position, weighted by "weight" */
    double weight;
} meeting;

typedef struct meetings
{
    meeting* items;
    size_t count, capacity;
} meetings;

static bool same(pl_restitution_side a, pl_restitution_side b)
{
    return a.body == b.body && a.piece == b.piece;
}

static double restitution_of(const pl_contact_body* bodies, const pl_contact_settings* settings,
                             uint32_t a, uint32_t b)
{
    return fmax(pl_own_or(bodies[a].body->restitution, settings->restitution),
                pl_own_or(bodies[b].body->restitution, settings->restitution));
}

/* The piece that a particle is in: that of any of its clusters. */
static uint32_t piece_of(const pl_body* body, uint32_t slot)
{
    if (!body->fracture)
        return 0;
    const pl_chunk* chunk = &body->chunks[pl_chunk_of_slot(body, slot)];
    uint32_t block = (slot - chunk->slot_begin) / 8, lane = (slot - chunk->slot_begin) % 8;
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
        if (chunk->entry_kernel[8 * (size_t)e + lane] > 0 &&
            chunk->rows[chunk->entry_row[e]] < body->level_begin[1])
            return body->clusters.piece[chunk->rows[chunk->entry_row[e]]];
    return 0;
}

/* Finds or adds the meeting of two; NULL if out of memory. Searches from the end: contacts of a
 * pair are mostly consecutive. */
static meeting* meeting_of(meetings* list, pl_restitution_side a, pl_restitution_side b)
{
    for (size_t n = list->count; n-- > 0;)
        if (same(list->items[n].a, a) && same(list->items[n].b, b))
            return &list->items[n];
    if (!pl_grow((void**)&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return NULL;
    list->items[list->count] = (meeting){.a = a, .b = b};
    return &list->items[list->count++];
}

static pl_status gather_meetings(const pl_contacts* all, const pl_contact_body* bodies,
                                 const pl_contact_settings* settings, double dt, meetings* list)
{
    for (size_t i = 0; i < all->list.count; ++i)
    {
        const pl_contact* c = &all->list.items[i];
        if (c->weld) /* its cluster may be that of a collider, which is of no body */
            continue;
        uint32_t body = c->body, of = pl_contact_body_of(all, c->cluster);
        const pl_body* hit = bodies[of].body;
        if ((body == of && !hit->fracture) || !(restitution_of(bodies, settings, body, of) > 0))
            continue;
        uint32_t slot = c->particle - all->slot_begin[body];
        uint32_t cluster = c->cluster - all->pair_bodies[of].first;
        pl_restitution_side own = {body, piece_of(bodies[body].body, slot)};
        pl_restitution_side other = {of, hit->fracture ? hit->clusters.piece[cluster] : 0};
        if (same(own, other))
            continue;
        bool first = pl_restitution_side_before(own, other);
        meeting* m = meeting_of(list, first ? own : other, first ? other : own);
        if (!m)
            return pl_fail_memory((list->count + 1) * sizeof *list->items);
        vec3 impulse = v3_scale(v3_from(c->impulse), first ? 1 : -1);
        double weight = v3_length(impulse);
        m->impulse = v3_add(m->impulse, impulse);
        m->at = v3_mad(m->at, pl_contact_start(bodies[body].body, slot, dt), weight);
        m->weight += weight;
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ encounters */

static void store3d(vec3 v, double out[3])
{
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

static pl_encounter* find(const pl_encounters* list, pl_restitution_side a, pl_restitution_side b)
{
    for (size_t i = 0; i < list->count; ++i)
        if (same(list->items[i].a, a) && same(list->items[i].b, b))
            return &list->items[i];
    return NULL;
}

/* Updates or begins an encounter. The clusters' sums are those before the contacts. */
static pl_status note(pl_encounters* list, const meeting* m, const pl_contact_body* bodies,
                      const pl_contact_settings* settings, double dt)
{
    if (!(m->weight > 0))
        return PLIANT_OK;
    whole one = whole_of(bodies[m->a.body].body, m->a.piece);
    whole other = whole_of(bodies[m->b.body].body, m->b.piece);
    if (!one.turns || !other.turns)
        return PLIANT_OK;
    vec3 at = v3_scale(m->at, 1 / m->weight), along = v3_normalised(m->impulse);
    vec3 way = v3_sub(velocity_at(&one, at), velocity_at(&other, at));
    double speed = v3_dot(way, along); /* negative: approach */
    pl_encounter* r = find(list, m->a, m->b);
    if (!r)
    {
        /* resting contact does not bounce */
        if (!(speed < -PL_CONTACT_RESTING * settings->gravity * dt))
            return PLIANT_OK;
        if (!pl_grow((void**)&list->items, &list->capacity, list->count + 1, sizeof *list->items))
            return pl_fail_memory((list->count + 1) * sizeof *list->items);
        r = &list->items[list->count++];
        *r = (pl_encounter){.a = m->a, .b = m->b};
    }
    r->restitution = restitution_of(bodies, settings, m->a.body, m->b.body);
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

/* A body, or its slots in one piece. */
typedef struct share
{
    pl_body* body;
    uint32_t piece;
    const uint32_t* pieces; /* of slots; NULL: all are in it */
} share;

static bool has(const share* p, uint32_t slot)
{
    return p->body->particles.mass[slot] > 0 && (!p->pieces || p->pieces[slot] == p->piece);
}

/* Applies a rigid impulse to all of it. */
static void kick(const share* of, const whole* w, vec3 at, vec3 impulse, double dt)
{
    pl_body* body = of->body;
    pl_particles* p = &body->particles;
    if (w->fixed)
        return;
    vec3 shift = v3_scale(impulse, 1 / w->mass);
    vec3 spin = m3_mulv(w->inertia_inverse, v3_cross(v3_sub(at, w->x), impulse));
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        if (!has(of, s) || (body->pins.any && body->pins.frequency[s] >= PLIANT_PIN_HELD))
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
        pl_chunk_positions_changed(&body->chunks[c]);
}

/* Mass, centre and inertia summed over particles: conservation of momentum depends on it. */
static whole weigh(const share* of, double dt)
{
    const pl_body* body = of->body;
    const pl_particles* p = &body->particles;
    whole w = {.fixed = is_fixed(body, of->piece)};
    mat3 second = m3_zero();
    vec3 moment = v3(0, 0, 0);
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        if (!has(of, s))
            continue;
        w.mass += p->mass[s];
        w.x = v3_mad(w.x, pl_contact_start(body, s, dt), p->mass[s]);
        w.v = v3_mad(w.v, pl_contact_velocity(body, s), p->mass[s]);
    }
    if (!(w.mass > 0))
        return w;
    w.x = v3_scale(w.x, 1 / w.mass), w.v = v3_scale(w.v, 1 / w.mass);
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        if (!has(of, s))
            continue;
        vec3 arm = v3_sub(pl_contact_start(body, s, dt), w.x);
        second = m3_add(second, m3_scale(m3_outer(arm, arm), p->mass[s]));
        moment = v3_mad(moment, v3_cross(arm, pl_contact_velocity(body, s)), p->mass[s]);
    }
    set_turning(&w, second, moment, 1e-9);
    if (w.fixed && !body->pins.follow)
        w.v = w.spin = v3(0, 0, 0);
    return w;
}

static double inverse_mass_at(const whole* w, vec3 at, vec3 n)
{
    vec3 turn = v3_cross(v3_sub(at, w->x), n);
    return w->fixed ? 0 : 1 / w->mass + v3_dot(turn, m3_mulv(w->inertia_inverse, turn));
}

static void separate_shares(const pl_encounter* r, const share* one, const share* other, double dt)
{
    whole a = weigh(one, dt), b = weigh(other, dt);
    if (!a.turns || !b.turns)
        return;
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

static pl_status separate(const pl_encounter* r, const pl_contact_body* bodies, double dt)
{
    share shares[2] = {{bodies[r->a.body].body, r->a.piece, NULL},
                       {bodies[r->b.body].body, r->b.piece, NULL}};
    uint32_t* pieces[2] = {NULL, NULL};
    bool fine = true;
    for (int i = 0; i < 2; ++i)
    {
        const pl_fracture* f = shares[i].body->fracture;
        if (i == 1 && shares[0].body == shares[1].body)
            shares[1].pieces = shares[0].pieces;
        else if (f && f->piece_count > 1)
            fine = (shares[i].pieces = pieces[i] = pl_pieces_of_slots(shares[i].body)) && fine;
    }
    if (fine)
        separate_shares(r, &shares[0], &shares[1], dt);
    pl_free(pieces[0]);
    pl_free(pieces[1]);
    return fine ? PLIANT_OK : pl_fail_memory(shares[0].body->particles.slot_count * 4);
}

static bool still_meets(const meetings* now, const pl_encounter* r)
{
    for (size_t i = 0; i < now->count; ++i)
        if (same(now->items[i].a, r->a) && same(now->items[i].b, r->b))
            return true;
    return false;
}

pl_status pl_restitution_update(pl_encounters* list, const pl_contacts* all,
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
        pl_encounter r = list->items[i];
        bool meets = still_meets(&now, &r);
        if (!meets)
            status = separate(&r, bodies, dt);
        if (meets && r.age < MOST_AGE)
            list->items[kept++] = r;
    }
    if (status == PLIANT_OK)
        list->count = kept;
    pl_free(now.items);
    return status;
}

void pl_encounters_drop_body(pl_encounters* list, uint32_t body)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; ++i)
    {
        pl_encounter r = list->items[i];
        if (r.a.body == body || r.b.body == body)
            continue;
        r.a.body -= r.a.body > body, r.b.body -= r.b.body > body;
        list->items[kept++] = r;
    }
    list->count = kept;
}
