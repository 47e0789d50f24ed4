// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Contact solver between clusters: sequential impulses (Gauss-Seidel) in place of the position
 * correction of Jones et al. 2015, section 3.4, Eq. 17, which moves the particle alone and keeps no
 * momentum; in published code velocities never see the contact. Here a contact is a constraint on a
 * velocity: the particle's normal velocity relative to the cluster's rigid motion is at least a
 * target. With a firmness of 1 that is the target of narrowphase.c; with less it lies that share of
 * the way from the current velocity to it, so that this share of the substep's overlap is removed.
 *
 *     particle i   dv_i += J / m_i                         J: impulse of the contact
 *     cluster c    dv_j -= w_jc (J / M_c + (I_c^-1 (a x J)) x (x_j - x_c))   for its members j
 *
 * M_c, x_c, I_c are the cluster's weighted mass, centre and inertia. Members get J and a x J in
 * total, so linear and angular momentum are kept. Arms are taken at the start of the substep, and
 * positions follow velocities (x += dt dv): x_end cross v = x_start cross v, so angular momentum is
 * kept at its end too.
 *
 * Sweeps run over the contacts in a fixed order and treat touched clusters as independent rigid
 * bodies ("cluster bodies"). They are not independent, because members are shared. So after a few
 * sweeps members get the impulses of their clusters, and the clusters' motion is measured again;
 * the next sweeps see the remaining error, and overshoot is scaled back (contact_solver_islands.c).
 * In the last sweep particles alone resolve what is left.
 */
#include "collision/cluster/contact_solver.h"

#include "base/simd_dispatch.h"

#include <string.h>

/* Sweeps a round: between two measurements of the members. */
#define SWEEPS 2
/* In spacings a second: cap of the speed at which resolving an overlap may add energy. */
#define RECOVERY_SPEED 1.0
/* Largest ratio of touching mass to a cluster body's effective mass at which the last sweep treats
 * it as fixed. */
#define MOST_LOAD 1.0
/* Prefetch distance, in contacts. */
#define AHEAD 3

PL_DEFINE_KERNELS_FOR(pl_contact_solver_kernels)

/* A contact constraint. */
struct pl_contact_constraint
{
    uint32_t contact_particle, cluster_body, weld;
    uint32_t home; /* 1 + the home's cluster body, or 0 */
    uint32_t island;
    float n[3], arm[3];
    float target, friction;
    float effective_mass, effective_mass_across; /* along n, and across it */
    float cross[3];                              /* slip that a unit impulse along n causes */
    float normal, tangent[3];                    /* accumulated impulses; of welds all is in tangent
                                                    */
    float goal[3];                               /* of welds: target relative velocity */
    float home_arm[3], home_per_k, home_normal, home_target;
    float was[5]; /* normal, tangent and home_normal at the start of the round */
};

/* ------------------------------------------------------------------ contacts */

/* Pending velocity change of a contact particle from its clusters. */
static vec3 pending_change(const pl_contact_solver* r, const pl_contact_particle* t)
{
    vec3 sum = v3(0, 0, 0);
    for (size_t i = t->membership_begin; i < t->membership_begin + t->membership_count; ++i)
    {
        const pl_particle_membership* membership = &r->memberships[i];
        const pl_cluster_body* cluster_body = &r->cluster_bodies[membership->cluster_body];
        sum = v3_mad(
            sum, v3_add(cluster_body->dv, v3_cross(cluster_body->dspin, v3_from(membership->arm))),
            membership->weight);
    }
    return sum;
}

/* Flags a sleeper that is hit faster than resting contact explains. */
static void note_hit(const pl_contact_solver_work* s, const pl_contact_constraint* p,
                     const pl_contact* c)
{
    const pl_cluster_body* cluster_body = &s->r->cluster_bodies[p->cluster_body];
    const pl_contact_particle* t = &s->r->contact_particles[p->contact_particle];
    uint32_t target_of = pl_contact_body_of(s->all, c->cluster);
    pl_pair_body* target = &s->all->pair_bodies[target_of];
    pl_pair_body* source = &s->all->pair_bodies[t->body];
    pl_sleeping_pieces *still = &s->bodies[target_of].body->sleeping_pieces,
                       *other = &s->bodies[t->body].body->sleeping_pieces;
    uint8_t* hit = still->cluster ? &still->cluster[c->cluster - target->first] : NULL;
    uint8_t* hits = other->slot ? &other->slot[t->slot] : NULL;
    bool sleeps = target->asleep || (hit && *hit), it_does = source->asleep || (hits && *hits > 0);
    if (sleeps == it_does)
        return;
    vec3 surface = v3_add(cluster_body->v, v3_cross(cluster_body->spin, v3_from(p->arm)));
    double speed = v3_dot(v3_sub(t->v, surface), v3_fromd(c->n));
    double resting = PL_CONTACT_RESTING * s->settings->gravity * s->dt;
    if (!(speed < -(s->settings->wake_speed + resting)))
        return;
    if (target->asleep || source->asleep)
        (target->asleep ? target : source)->hit = true;
    else if (sleeps)
        *hit = PL_SLEEPS_HIT;
    else
        *hits = PL_SLEEPS_HIT;
}

static double pair_friction(const pl_contact_solver_work* s, const pl_body* body, uint32_t cluster)
{
    double common = s->settings->friction, own = body->friction;
    double other = s->bodies[pl_contact_body_of(s->all, cluster)].body->friction;
    if (own < 0 && other < 0)
        return common;
    return sqrt(pl_own_or(own, common) * pl_own_or(other, common));
}

/* Velocity of a cluster body's point at an arm, from a unit impulse along n there. */
static vec3 response_velocity(const pl_cluster_body* cluster_body, vec3 arm, vec3 n)
{
    if (cluster_body->fixed)
        return v3(0, 0, 0);
    vec3 spin = m3_mulv(cluster_body->inertia_inverse, v3_cross(arm, n));
    return v3_mad(v3_cross(spin, arm), n, cluster_body->per_mass);
}

/* Trace of the rotational inverse mass at an arm: an upper bound for any direction. */
static double rotational_trace(const pl_cluster_body* cluster_body, vec3 arm)
{
    if (cluster_body->fixed)
        return 0;
    return m3_trace(cluster_body->inertia_inverse) * v3_dot(arm, arm) -
           v3_dot(arm, m3_mulv(cluster_body->inertia_inverse, arm));
}

static float reciprocal(double k)
{
    return k > 0 ? (float)(1 / k) : 0;
}

/* Effective masses of a contact. Across the normal the largest inverse mass is at most the trace of
 * the rotational part less its share along the normal. */
static void weigh_constraint(pl_contact_constraint* p, pl_cluster_body* cluster_body,
                             const pl_contact_particle* t)
{
    vec3 arm = v3_from(p->arm), n = v3_from(p->n), way = response_velocity(cluster_body, arm, n);
    double along = v3_dot(way, n), turns = rotational_trace(cluster_body, arm);
    double mass = cluster_body->fixed ? 0 : cluster_body->per_mass, slide = along;
    if (p->weld)
        along = mass + turns;
    else
        slide = mass + fmax(turns - (along - mass), 0);
    v3_store(v3_mad(way, n, -v3_dot(way, n)), p->cross);
    p->effective_mass = reciprocal(along + t->inverse_mass);
    p->effective_mass_across = reciprocal(slide + t->inverse_mass);
    if (t->inverse_mass > 0)
        cluster_body->load += fmax(along, slide) / t->inverse_mass;
}

/* Target of a relative velocity: "whole", or the firmness's share of the way to it. */
static double scaled_target(const pl_contact_solver_work* s, double now, double whole)
{
    return now < whole ? now + s->settings->stiffness * (whole - now) : whole;
}

static void make_constraint(const pl_contact_solver_work* s, size_t index, pl_contact_constraint* p)
{
    const pl_contact* c = &s->all->list.items[index];
    memset(p, 0, sizeof *p);
    p->weld = c->weld;
    p->contact_particle = s->r->contact_particle_of[c->particle] - 1;
    p->cluster_body = s->r->cluster_body_of[c->cluster] - 1;
    pl_cluster_body* cluster_body = &s->r->cluster_bodies[p->cluster_body];
    const pl_contact_particle* t = &s->r->contact_particles[p->contact_particle];
    const pl_body* body = s->bodies[t->body].body;
    vec3 arm = v3_sub(pl_contact_start(body, t->slot, s->dt), cluster_body->x), n = v3_fromd(c->n);
    p->island = cluster_body->fixed ? t->island : cluster_body->island;
    v3_store(arm, p->arm);
    v3_store(n, p->n);
    weigh_constraint(p, cluster_body, t);
    vec3 surface = v3_add(cluster_body->v, v3_cross(cluster_body->spin, arm)),
         now = v3_sub(t->v, surface);
    p->target = (float)scaled_target(s, v3_dot(now, n), c->target);
    if (c->weld)
    {
        v3_store(v3_add(v3_fromd(c->goal), now), p->goal);
        s->r->islands[p->island].most = INFINITY; /* welds may add energy */
    }
    else
    {
        p->friction = (float)pair_friction(s, body, c->cluster);
        note_hit(s, p, c);
    }
    if (c->home)
    {
        p->home = s->r->cluster_body_of[c->home - 1];
        const pl_cluster_body* home = &s->r->cluster_bodies[p->home - 1];
        vec3 from = v3_sub(pl_contact_start(body, t->slot, s->dt), home->x);
        vec3 comes = v3_sub(v3_add(home->v, v3_cross(home->spin, from)), surface);
        v3_store(from, p->home_arm);
        p->home_target = (float)scaled_target(s, v3_dot(comes, n), c->target);
        p->home_per_k = reciprocal(v3_dot(
            v3_add(response_velocity(cluster_body, arm, n), response_velocity(home, from, n)), n));
        if (cluster_body->fixed)
            p->island = home->fixed ? p->island : home->island;
    }
    double parts = fmax(v3_dot(now, n), 0);
    double aims = fmin(p->target, RECOVERY_SPEED * body->rest_sdf.spacing);
    if (aims > parts)
        s->r->islands[p->island].most += .5 * p->effective_mass * (aims * aims - parts * parts);
}

static pl_status add_constraints(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    if (!pl_grow((void**)&r->constraints, &r->constraint_capacity, s->all->list.count,
                 sizeof *r->constraints) ||
        !pl_grow((void**)&r->homes, &r->home_capacity, s->all->list.count, sizeof *r->homes))
        return pl_fail_memory(s->all->list.count * sizeof *r->constraints);
    r->home_count = 0;
    for (size_t i = 0; i < s->all->list.count; ++i)
    {
        make_constraint(s, i, &r->constraints[i]);
        if (r->constraints[i].home)
            r->homes[r->home_count++] = (uint32_t)i;
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ sweeps */

/* One Gauss-Seidel update of a constraint; returns the change of its impulse. First along the
 * normal, then across it with the remaining slip. The accumulated normal impulse stays non-negative
 * and friction within its cone. */
static inline vec3 update_impulse(pl_contact_constraint* p, vec3 relative, pl_island* island)
{
    if (p->weld)
    {
        vec3 whole = v3_scale(v3_sub(v3_from(p->goal), relative), p->effective_mass);
        v3_store(v3_add(v3_from(p->tangent), whole), p->tangent);
        island->aimed += v3_dot(whole, v3_from(p->goal));
        return whole;
    }
    vec3 n = v3_from(p->n), before = v3_from(p->tangent);
    double speed = v3_dot(relative, n), was = p->normal;
    double asked = was + p->effective_mass * (p->target - speed), normal = PL_MAX(asked, 0);
    vec3 slip = v3_mad(v3_mad(relative, n, -speed), v3_from(p->cross), normal - was);
    vec3 tangent = v3_mad(before, slip, -p->effective_mass_across);
    double most = p->friction * normal, square = v3_dot(tangent, tangent);
    if (square > most * most)
        tangent = v3_scale(tangent, most / sqrt(square));
    if (normal < was)
        island->slack += p->friction * (was - normal) * v3_length(slip);
    p->normal = (float)normal;
    v3_store(tangent, p->tangent);
    island->aimed += (p->normal - was) * p->target;
    return v3_mad(v3_sub(v3_from(p->tangent), before), n, p->normal - was);
}

/* Applies an impulse to a cluster body at an arm. "seen": this round's contacts see its effect. */
static void apply_impulse(pl_cluster_body* cluster_body, vec3 arm, vec3 impulse, bool seen)
{
    if (cluster_body->fixed)
        return;
    vec3 twist = v3_cross(arm, impulse), turn = m3_mulv(cluster_body->inertia_inverse, twist);
    cluster_body->push = v3_add(cluster_body->push, impulse);
    cluster_body->twist = v3_add(cluster_body->twist, twist);
    cluster_body->dv = v3_mad(cluster_body->dv, impulse, cluster_body->per_mass);
    cluster_body->dspin = v3_add(cluster_body->dspin, turn);
    if (!seen)
        return;
    cluster_body->v =
        v3_mad(cluster_body->v, impulse, cluster_body->yield * cluster_body->per_mass);
    cluster_body->spin = v3_mad(cluster_body->spin, turn, cluster_body->yield);
}

/* Constraint on the home cluster of a particle, where stopping the particle alone would not stop
 * the cluster. */
static void stop_home(const pl_contact_solver_work* s, pl_contact_constraint* p)
{
    pl_cluster_body *cluster_body = &s->r->cluster_bodies[p->cluster_body],
                    *home = &s->r->cluster_bodies[p->home - 1];
    vec3 arm = v3_from(p->arm), from = v3_from(p->home_arm), n = v3_from(p->n);
    vec3 surface = v3_add(cluster_body->v, v3_cross(cluster_body->spin, arm));
    vec3 comes = v3_add(home->v, v3_cross(home->spin, from));
    double speed = v3_dot(v3_sub(comes, surface), n), was = p->home_normal;
    double asked = was + p->home_per_k * (p->home_target - speed);
    p->home_normal = (float)PL_MAX(asked, 0);
    vec3 impulse = v3_scale(n, p->home_normal - was);
    s->r->islands[p->island].aimed += (p->home_normal - was) * p->home_target;
    apply_impulse(home, from, impulse, true);
    apply_impulse(cluster_body, arm, v3_scale(impulse, -1), true);
}

/* Whether the last sweep treats a cluster body as fixed, so that its contacts do not see each
 * other. It must be heavy enough for all of them together: a fragment may be lighter than a
 * particle. */
static bool acts_as_fixed(const pl_cluster_body* cluster_body)
{
    return cluster_body->load <= MOST_LOAD;
}

/* Prefetches the memberships of a coming contact: they are listed by place. */
static void fetch_ties(const pl_contact_solver* r, const pl_contact_constraint* p)
{
    const pl_contact_particle* t = &r->contact_particles[p->contact_particle];
    if (!t->membership_count) /* memberships may be NULL */
        return;
    const char* memberships = (const char*)(r->memberships + t->membership_begin);
    for (size_t byte = 0; byte < t->membership_count * sizeof *r->memberships; byte += 64)
        __builtin_prefetch(memberships + byte);
}

/* One Gauss-Seidel sweep. The direction alternates: a fixed one would make piles creep. */
static void sweep(const pl_contact_solver_work* s, bool back)
{
    pl_contact_solver* r = s->r;
    for (size_t i = 0; i < r->home_count && !s->last; ++i)
        stop_home(s, &r->constraints[r->homes[i]]);
    size_t count = s->all->list.count;
    for (size_t i = 0; i < count; ++i)
    {
        if (i + AHEAD < count)
            fetch_ties(r, &r->constraints[back ? count - 1 - (i + AHEAD) : i + AHEAD]);
        pl_contact_constraint* p = &r->constraints[back ? count - 1 - i : i];
        pl_cluster_body* cluster_body = &r->cluster_bodies[p->cluster_body];
        pl_contact_particle* t = &r->contact_particles[p->contact_particle];
        vec3 arm = v3_from(p->arm);
        vec3 surface = v3_add(cluster_body->v, v3_cross(cluster_body->spin, arm));
        if (!(p->effective_mass > 0))
            continue;
        vec3 now = v3_add(t->v, pending_change(r, t));
        pl_island* island = &r->islands[p->island];
        vec3 impulse = update_impulse(p, v3_sub(now, surface), island);
        if (impulse.x == 0 && impulse.y == 0 && impulse.z == 0)
            continue;               /* inactive, as a quarter of the contacts are */
        if (!(t->inverse_mass > 0)) /* a driven particle does work */
            island->held += v3_dot(impulse, t->v);
        vec3 dv = v3_scale(impulse, t->inverse_mass);
        t->v = v3_add(t->v, dv);
        t->dv = v3_add(t->dv, dv);
        apply_impulse(cluster_body, arm, v3_scale(impulse, -1),
                      !(s->last && acts_as_fixed(cluster_body)));
    }
}

/* Prepares the last sweep: particles resolve the rest as if clusters were fixed, so that none gets
 * through. */
static void prepare_last_sweep(const pl_contact_solver_work* s)
{
    for (size_t i = 0; i < s->all->list.count; ++i)
    {
        pl_contact_constraint* p = &s->r->constraints[i];
        double inverse = s->r->contact_particles[p->contact_particle].inverse_mass;
        if (!(inverse > 0) || !acts_as_fixed(&s->r->cluster_bodies[p->cluster_body]))
            continue;
        p->effective_mass = p->effective_mass_across = (float)(1 / inverse);
        v3_store(v3(0, 0, 0), p->cross);
    }
}

/* ------------------------------------------------------------------ rounds */

static void begin_round(pl_contact_constraint* p)
{
    p->was[0] = p->normal, p->was[4] = p->home_normal;
    memcpy(p->was + 1, p->tangent, sizeof p->tangent);
}

static void shorten(pl_contact_constraint* p, double keep)
{
    float* now[5] = {&p->normal, &p->tangent[0], &p->tangent[1], &p->tangent[2], &p->home_normal};
    for (int k = 0; k < 5; ++k)
        *now[k] = (float)(p->was[k] + keep * ((double)*now[k] - p->was[k]));
}

/* Gives members the impulses of a round, scaled back where it overshot. */
static void end_round(pl_contact_solver_work* s, pl_pool* pool)
{
    pl_contact_solver* r = s->r;
    size_t count = s->all->list.count;
    pl_cluster_bodies_give(s, pool);
    if (pl_islands_judge(s))
    {
        pl_islands_take_back(s);
        for (size_t i = 0; i < count; ++i)
            if (r->islands[r->constraints[i].island].keep < 1)
                shorten(&r->constraints[i], r->islands[r->constraints[i].island].keep);
        pl_cluster_bodies_give(s, pool);
    }
    for (size_t i = 0; i < count && !s->last; ++i)
        begin_round(&r->constraints[i]);
}

/* ------------------------------------------------------------------ entry point */

static void solve(pl_contact_solver_work* s, pl_pool* pool)
{
    pl_contact_solver* r = s->r;
    /* with a firmness below 1 overshoot must be measured, or more than that share is removed */
    uint32_t least = s->settings->stiffness < 1 ? SWEEPS : 1;
    uint32_t count = PL_MAX(s->settings->iterations, least);
    for (uint32_t i = 0; i < count; ++i)
    {
        s->last = i + 1 == count;
        if (s->last)
            prepare_last_sweep(s);
        sweep(s, i % 2 == 1);
        if (s->last || (i + 1) % SWEEPS == 0)
            end_round(s, pool);
    }
    for (size_t i = 0; i < s->all->list.count; ++i)
    {
        const pl_contact_constraint* p = &r->constraints[i];
        double normal = (double)p->normal + p->home_normal;
        v3_store(v3_mad(v3_from(p->tangent), v3_from(p->n), normal), s->all->list.items[i].impulse);
        const pl_contact_particle* t = &r->contact_particles[p->contact_particle];
        s->all->list.items[i].body = t->body;
        if (normal > 0 && p->friction >= PL_LEAST_GRIP)
            s->bodies[t->body].body->particles.touch[t->slot] = 1;
    }
    pl_cluster_bodies_apply(s, pool);
}

pl_status pl_contacts_respond(pl_contacts* all, const pl_contact_body* bodies,
                              const pl_contact_settings* settings, double dt, pl_pool* pool)
{
    pl_contact_solver_work s = {all, &all->response, bodies, settings, dt, false};
    PL_TRY(pl_contact_solver_reserve(&s));
    pl_status status = pl_contact_solver_list(&s);
    if (status == PLIANT_OK)
    {
        pl_cluster_bodies_weigh(&s, pool);
        status = pl_contact_solver_link(&s);
    }
    if (status == PLIANT_OK)
        status = pl_islands_make(&s);
    if (status == PLIANT_OK)
        status = add_constraints(&s);
    if (status == PLIANT_OK)
        solve(&s, pool);
    pl_contact_solver_clean(&s);
    return status;
}
