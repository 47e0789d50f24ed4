// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * No round of the response may overshoot.
 *
 * Velocities see a contact through a matrix G, relative velocity u = G v, and an impulse J acts
 * through its transpose, dv = M^-1 G^T J (contact_solver.c: a cluster's motion is the weighted mean
 * of its members', and members get the cluster's impulse by the same weights). So with K = G M^-1
 * G^T an impulse J changes the kinetic energy by
 *
 *     J.u + J.K J / 2  =  f(J) + J.target,   f(J) = J.(u - target) + J.K J / 2,
 *
 * and whoever solves the contacts makes f smaller. Exact Gauss-Seidel sweeps always do. Those of
 * contact_solver.c see clusters as bodies of their own, which is not K where members are shared. So
 * after each round of sweeps, when members have got their impulses, f is looked at: along the
 * round's impulse it is a parabola, and where the round went up instead of down it is shortened to
 * the parabola's lowest point. The cone of friction is convex, so that what is shortened stays in
 * it. With a firmness of less than 1 it is shortened as soon as it went past that point: more than
 * a part of an overlap would be removed otherwise, and the more the fewer iterations there are.
 *
 * f never grows, so the kinetic energy that contacts add is at most J.target: the work that pushes
 * overlaps apart, and nothing where there are none. Overlaps that contradict each other would make
 * J grow for ever, so that work has a limit too: what each overlap needs by itself, half of its
 * effective mass times the square of its target (or of a spacing a second), less that of the speed
 * at which it parts already. This holds for any number of iterations, any friction and any masses.
 * Coulomb's law is not the lowest point of f: as a normal impulse becomes smaller friction has to,
 * and may lose friction * |slip| for each unit of it. That much is allowed for ("slack"). It is a
 * loss against what friction had dissipated before.
 *
 * Each island has its own parabola, so that what happens elsewhere does not matter. Units of one
 * piece are in one island, as they may share members.
 */
#include "base/union_find.h"
#include "body/piece_query.h"
#include "collision/cluster/contact_solver.h"

#include <string.h>

static bool moves(const pl_toucher* t)
{
    return t->inverse_mass > 0;
}

/* Units of one piece of a body, one after the other. */
static pl_status unite_pieces(const pl_response_work* s)
{
    pl_response* r = s->r;
    uint32_t body = UINT32_MAX;
    for (uint32_t u = 0; u < r->unit_count; ++u)
    {
        const pl_unit* unit = &r->units[u];
        if (unit->fixed)
            continue;
        uint32_t b = pl_contact_body_of(s->all, unit->cluster);
        const pl_body* of = s->bodies[b].body;
        uint32_t pieces = of->fracture ? of->fracture->piece_count + 1 : 1;
        if (!pl_grow((void**)&r->piece_unit, &r->piece_capacity, pieces, sizeof *r->piece_unit))
            return pl_fail_memory(pieces * sizeof *r->piece_unit);
        if (b != body)
            memset(r->piece_unit, 0, pieces * sizeof *r->piece_unit);
        body = b;
        uint32_t cluster = unit->cluster - s->all->pair_bodies[b].first;
        uint32_t piece = of->fracture ? of->clusters.piece[cluster] : 0;
        uint32_t* first = &r->piece_unit[PL_MIN(piece, pieces - 1)];
        if (*first)
            pl_union_find_unite(r->forest, *first - 1, u);
        else
            *first = u + 1;
    }
    return PLIANT_OK;
}

static void unite_contacts(const pl_response_work* s)
{
    pl_response* r = s->r;
    for (uint32_t i = 0; i < r->toucher_count; ++i)
    {
        const pl_toucher* t = &r->touchers[i];
        for (size_t n = t->tie_begin; n < t->tie_begin + t->tie_count && moves(t); ++n)
            if (!r->units[r->ties[n].unit].fixed)
                pl_union_find_unite(r->forest, r->unit_count + i, r->ties[n].unit);
    }
    for (size_t i = 0; i < s->all->list.count; ++i)
    {
        const pl_contact* c = &s->all->list.items[i];
        uint32_t toucher = r->toucher_of[c->particle] - 1, unit = r->unit_of[c->cluster] - 1;
        bool pushed = !r->units[unit].fixed;
        if (pushed && moves(&r->touchers[toucher]))
            pl_union_find_unite(r->forest, unit, r->unit_count + toucher);
        if (pushed && c->home && !r->units[r->unit_of[c->home - 1] - 1].fixed)
            pl_union_find_unite(r->forest, unit, r->unit_of[c->home - 1] - 1);
    }
}

pl_status pl_islands_make(const pl_response_work* s)
{
    pl_response* r = s->r;
    size_t count = (size_t)r->unit_count + r->toucher_count;
    if (!pl_grow((void**)&r->forest, &r->forest_capacity, count, sizeof *r->forest))
        return pl_fail_memory(count * sizeof *r->forest);
    for (size_t i = 0; i < count; ++i)
        r->forest[i] = (uint32_t)i;
    PL_TRY(unite_pieces(s));
    unite_contacts(s);
    /* roots come before what is in their tree: number them on the way */
    r->island_count = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t root = pl_union_find_root(r->forest, i);
        uint32_t island = root == i
                              ? r->island_count++
                              : (root < r->unit_count ? r->units[root].island
                                                      : r->touchers[root - r->unit_count].island);
        *(i < r->unit_count ? &r->units[i].island : &r->touchers[i - r->unit_count].island) =
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

bool pl_islands_judge(const pl_response_work* s)
{
    pl_response* r = s->r;
    bool any = false;
    for (uint32_t u = 0; u < r->unit_count; ++u)
    {
        pl_island* island = &r->islands[r->units[u].island];
        island->along += r->units[u].along, island->curve += r->units[u].curve;
    }
    for (uint32_t i = 0; i < r->toucher_count; ++i)
    {
        pl_island* island = &r->islands[r->touchers[i].island];
        island->along += r->touchers[i].along, island->curve += r->touchers[i].curve;
    }
    for (uint32_t i = 0; i < r->island_count; ++i)
    {
        shorten_island(&r->islands[i], s->settings->stiffness >= 1);
        any = any || r->islands[i].keep < 1;
    }
    return any;
}

void pl_islands_take_back(const pl_response_work* s)
{
    pl_response* r = s->r;
    for (uint32_t u = 0; u < r->unit_count; ++u)
    {
        pl_unit* unit = &r->units[u];
        double back = r->islands[unit->island].keep - 1;
        unit->push = v3_scale(unit->gave_push, back);
        unit->twist = v3_scale(unit->gave_twist, back);
        unit->dv = v3_scale(unit->gave, back);
    }
    for (uint32_t i = 0; i < r->toucher_count; ++i)
    {
        pl_toucher* t = &r->touchers[i];
        t->dv = v3_scale(t->gave, r->islands[t->island].keep - 1);
    }
}
