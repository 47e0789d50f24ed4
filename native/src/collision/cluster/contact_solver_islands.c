// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Limits each round of the contact solver so that it never overshoots.
 *
 * Velocities see a contact through a matrix G, relative velocity u = G v, and an impulse J acts
 * through its transpose, dv = M^-1 G^T J (contact_solver.c: a cluster's motion is the weighted mean
 * of its members', and members get the cluster's impulse by the same weights). So with K = G M^-1
 * G^T an impulse J changes the kinetic energy by
 *
 *     J.u + J.K J / 2  =  f(J) + J.target,   f(J) = J.(u - target) + J.K J / 2,
 *
 * and solving the contacts reduces f. Exact Gauss-Seidel sweeps always do. Those of
 * contact_solver.c treat clusters as independent bodies, which is not K where members are shared.
 * So f is evaluated after each round, when members have got their impulses: along the round's
 * impulse it is a parabola, and a round that increased f is scaled back to the parabola's minimum.
 * The friction cone is convex, so a scaled impulse stays in it. With a firmness below 1 the round
 * is scaled back as soon as it passes the minimum: otherwise more than that share of an overlap
 * would be removed, the more the fewer iterations there are.
 *
 * f never grows, so contacts add at most the kinetic energy J.target: the work that resolves
 * overlaps, zero where there are none. Contradicting overlaps would let J grow without bound, so
 * that work is limited too: to the sum of what each overlap needs by itself, half its effective
 * mass times the square of its target (or of a spacing a second), less that of its current
 * separation speed. This holds for any number of iterations, any friction and any masses. Coulomb's
 * law is not the minimum of f: friction shrinks with its normal impulse, which may cost friction *
 * |slip| per unit. That much is allowed ("slack"); it is a loss against what friction had
 * dissipated before.
 *
 * Each island has its own parabola, so distant contacts do not interact. Cluster bodies of one
 * piece are in one island, as they may share members.
 */
#include "base/union_find.h"
#include "body/piece_query.h"
#include "collision/cluster/contact_solver.h"

#include <string.h>

static bool moves(const pl_contact_particle* t)
{
    return t->inverse_mass > 0;
}

/* Unites the cluster bodies of each piece; those of a body are consecutive. */
static pl_status unite_pieces(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    uint32_t body = UINT32_MAX;
    for (uint32_t u = 0; u < r->cluster_body_count; ++u)
    {
        const pl_cluster_body* cluster_body = &r->cluster_bodies[u];
        if (cluster_body->fixed)
            continue;
        uint32_t b = pl_contact_body_of(s->all, cluster_body->cluster);
        const pl_body* of = s->bodies[b].body;
        uint32_t pieces = of->fracture ? of->fracture->piece_count + 1 : 1;
        if (!pl_grow((void**)&r->piece_cluster_body, &r->piece_capacity, pieces,
                     sizeof *r->piece_cluster_body))
            return pl_fail_memory(pieces * sizeof *r->piece_cluster_body);
        if (b != body)
            memset(r->piece_cluster_body, 0, pieces * sizeof *r->piece_cluster_body);
        body = b;
        uint32_t cluster = cluster_body->cluster - s->all->pair_bodies[b].first;
        uint32_t piece = of->fracture ? of->clusters.piece[cluster] : 0;
        uint32_t* first = &r->piece_cluster_body[PL_MIN(piece, pieces - 1)];
        if (*first)
            pl_union_find_unite(r->forest, *first - 1, u);
        else
            *first = u + 1;
    }
    return PLIANT_OK;
}

static void unite_contacts(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    for (uint32_t i = 0; i < r->contact_particle_count; ++i)
    {
        const pl_contact_particle* t = &r->contact_particles[i];
        for (size_t n = t->membership_begin;
             n < t->membership_begin + t->membership_count && moves(t); ++n)
            if (!r->cluster_bodies[r->memberships[n].cluster_body].fixed)
                pl_union_find_unite(r->forest, r->cluster_body_count + i,
                                    r->memberships[n].cluster_body);
    }
    for (size_t i = 0; i < s->all->list.count; ++i)
    {
        const pl_contact* c = &s->all->list.items[i];
        uint32_t contact_particle = r->contact_particle_of[c->particle] - 1,
                 cluster_body = r->cluster_body_of[c->cluster] - 1;
        bool pushed = !r->cluster_bodies[cluster_body].fixed;
        if (pushed && moves(&r->contact_particles[contact_particle]))
            pl_union_find_unite(r->forest, cluster_body, r->cluster_body_count + contact_particle);
        if (pushed && c->home && !r->cluster_bodies[r->cluster_body_of[c->home - 1] - 1].fixed)
            pl_union_find_unite(r->forest, cluster_body, r->cluster_body_of[c->home - 1] - 1);
    }
}

pl_status pl_islands_make(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    size_t count = (size_t)r->cluster_body_count + r->contact_particle_count;
    if (!pl_grow((void**)&r->forest, &r->forest_capacity, count, sizeof *r->forest))
        return pl_fail_memory(count * sizeof *r->forest);
    for (size_t i = 0; i < count; ++i)
        r->forest[i] = (uint32_t)i;
    PL_TRY(unite_pieces(s));
    unite_contacts(s);
    /* a root precedes its tree, so islands are numbered in one pass */
    r->island_count = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t root = pl_union_find_root(r->forest, i);
        uint32_t island = root == i
                              ? r->island_count++
                              : (root < r->cluster_body_count
                                     ? r->cluster_bodies[root].island
                                     : r->contact_particles[root - r->cluster_body_count].island);
        *(i < r->cluster_body_count ? &r->cluster_bodies[i].island
                                    : &r->contact_particles[i - r->cluster_body_count].island) =
            island;
    }
    if (!pl_grow((void**)&r->islands, &r->island_capacity, r->island_count, sizeof *r->islands))
        return pl_fail_memory(r->island_count * sizeof *r->islands);
    memset(r->islands, 0, r->island_count * sizeof *r->islands);
    return PLIANT_OK;
}

static void shorten_island(pl_island* island, bool firm)
{
    double gain = island->along + island->held, slope = gain - island->aimed, curve = island->curve;
    double up = slope + (firm ? .5 : 1) * curve;
    double keep = up > island->slack ? PL_CLAMP(-slope / curve, 0, 1) : 1;
    double room = fmax(island->most - island->energy, 0);
    if (keep * gain + .5 * keep * keep * curve > room && curve > 0)
        keep = PL_CLAMP((sqrt(gain * gain + 2 * curve * room) - gain) / curve, 0, keep);
    island->energy += keep * gain + .5 * keep * keep * curve;
    island->keep = keep;
    island->aimed = island->slack = island->held = island->along = island->curve = 0;
}

bool pl_islands_judge(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    bool any = false;
    for (uint32_t u = 0; u < r->cluster_body_count; ++u)
    {
        pl_island* island = &r->islands[r->cluster_bodies[u].island];
        island->along += r->cluster_bodies[u].along, island->curve += r->cluster_bodies[u].curve;
    }
    for (uint32_t i = 0; i < r->contact_particle_count; ++i)
    {
        pl_island* island = &r->islands[r->contact_particles[i].island];
        island->along += r->contact_particles[i].along,
            island->curve += r->contact_particles[i].curve;
    }
    for (uint32_t i = 0; i < r->island_count; ++i)
    {
        shorten_island(&r->islands[i], s->settings->stiffness >= 1);
        any = any || r->islands[i].keep < 1;
    }
    return any;
}

void pl_islands_take_back(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    for (uint32_t u = 0; u < r->cluster_body_count; ++u)
    {
        pl_cluster_body* cluster_body = &r->cluster_bodies[u];
        double back = r->islands[cluster_body->island].keep - 1;
        cluster_body->push = v3_scale(cluster_body->gave_push, back);
        cluster_body->twist = v3_scale(cluster_body->gave_twist, back);
        cluster_body->dv = v3_scale(cluster_body->gave, back);
    }
    for (uint32_t i = 0; i < r->contact_particle_count; ++i)
    {
        pl_contact_particle* t = &r->contact_particles[i];
        t->dv = v3_scale(t->gave, r->islands[t->island].keep - 1);
    }
}
