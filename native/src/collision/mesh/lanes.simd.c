// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Eight particles against the triangles around them, within one substep, in single precision.
 *
 * Particles are in lanes, triangles in a loop. A particle's start is moved with the triangle to the
 * triangle's end position; in that frame its path is a straight line, and
 *   - a path that crosses the triangle is stopped on the side from which it came;
 *   - one that does not cross, but ends nearer than the thickness, is pushed away from the
 *     nearest point.
 * A push away from one triangle may lead into another: repeat, from the same start, until there is
 * no contact. The response is that of particle_collider.c.
 *
 * What single precision cannot decide (triangles that turn fast, paths along the edge of a bending
 * triangle, starts on the surface, corners that need many pushes) is left to particle_mesh.c: one
 * particle at a time, in double precision, with the exact time of each crossing.
 */
#include "collision/mesh/crossing_lanes.h"

#define RECOVERY_TIME 0.1f
#define PASSES 4
/* Above this cosine the direction to an edge's nearest point is snapped to the face normal. */
#define SAME_NORMAL 0.9999f

/* ------------------------------------------------------------------ response */

/* A plane in each lane that moves with a facet. */
typedef struct planes
{
    lanes3 normal;       /* toward the side that the particle stays on */
    vf height0, height1; /* heights of the particle at the start and at the end */
    lanes3 carried;      /* motion of the surface at the start point */
    lanes3 row[3], shift;
} planes;

PL_INLINE lanes3 moved_by(const planes* p, lanes3 at)
{
    lanes3 turned = {dot3(p->row[0], at), dot3(p->row[1], at), dot3(p->row[2], at)};
    return add3(p->shift, turned);
}

/* Loads each lane's own facet. */
PL_APART void load_planes(const pl_mesh_lanes* job, const path* q, vf place, planes* p)
{
    const float* row[8];
    float places[8];
    vf n[4], zero = vf_set1(0);
    uint32_t at[8];
    vf_store(places, place);
    for (int i = 0; i < 8; ++i)
    {
        at[i] = (uint32_t)places[i];
        row[i] = job->facet[at[i]].normal;
    }
    vf_load4(row, n);
    p->normal = (lanes3){n[0], n[1], n[2]};
    p->carried = (lanes3){zero, zero, zero};
    vf* const shift[3] = {&p->shift.x, &p->shift.y, &p->shift.z};
    for (int k = 0; k < 3 && job->motion; ++k)
    {
        vf m[4];
        for (int i = 0; i < 8; ++i)
            row[i] = job->motion[at[i]].row[k];
        vf_load4(row, m);
        p->row[k] = (lanes3){m[0], m[1], m[2]};
        *shift[k] = m[3];
    }
    if (job->motion)
        p->carried = moved_by(p, q->s);
    p->height0 = vf_sub(dot3(p->normal, add3(q->s, p->carried)), n[3]);
    p->height1 = vf_sub(dot3(p->normal, q->x), n[3]);
}

/* Motion of the surface at the particle's end. */
PL_INLINE lanes3 surface_shift(const pl_mesh_lanes* job, const planes* p, lanes3 to)
{
    return job->motion ? moved_by(p, sub3(to, p->carried)) : p->carried;
}

/* Updates what depends on the end position. */
PL_INLINE void set_path(const pl_mesh_lanes* job, path* q)
{
    q->length = vf_add(sum_abs(sub3(q->x, q->s)), vf_set1(1.5f * job->shift));
}

/* As surface_velocity_at() of particle_collider.c: removes the surface velocity. */
PL_APART lanes3 minus_surface_velocity(const pl_running* running, lanes3 n, lanes3 at, lanes3 u)
{
    const float w[3] = {(float)running->spin[0], (float)running->spin[1], (float)running->spin[2]};
    const float v[3] = {(float)running->velocity[0], (float)running->velocity[1],
                        (float)running->velocity[2]};
    lanes3 run = add3(bcast3(v), cross3(bcast3(w), at));
    run = mad3(run, n, vf_neg(dot3(run, n)));
    return sub3(u, run);
}

/* As contact_side() and respond() of particle_collider.c. Returns the lanes that were pushed. */
PL_APART vm push_off(const pl_mesh_lanes* job, path* q, const planes* p, vm who, vf ignore)
{
    vf zero = vf_set1(0), dt = vf_set1(job->dt);
    vf kept = vf_set1(1 - job->dt / (job->dt + RECOVERY_TIME));
    vf over0 = vf_sub(q->thickness, p->height0), over1 = vf_sub(q->thickness, p->height1);
    vm overlaps = vf_lt(q->touching, over0), loose = vf_lt(over0, vf_neg(q->touching));
    vf push = vf_sub(over1, vf_keep(overlaps, vf_mul(over0, kept)));
    who = vm_and(who, vf_lt(ignore, push));
    if (!vm_bits(who))
        return who;
    vf time = vf_keep(loose, vf_div(over0, vf_select(loose, vf_sub(over0, over1), vf_set1(1))));
    lanes3 n = p->normal, x = mad3(q->x, n, push), v = q->v;
    lanes3 moved = surface_shift(job, p, mad3(q->x, n, push));
    lanes3 u = sub3(v, (lanes3){vf_div(moved.x, dt), vf_div(moved.y, dt), vf_div(moved.z, dt)});
    if (job->running->on)
        u = minus_surface_velocity(job->running, n, x, u);
    vf approach = vf_neg(dot3(u, n));
    vm hits = vf_lt(zero, approach);
    approach = vf_keep(hits, approach);
    vf impulse = vf_mad(approach, vf_keep(loose, vf_set1(job->restitution)), approach);
    u = mad3(u, n, approach); /* tangential from here on */
    v = mad3(v, n, impulse);
    vf slip = vf_sqrt(dot3(u, u)), grip = vf_mul(vf_set1(job->friction), impulse);
    vm held = vm_and(hits, vf_le(slip, grip));
    vf slowed = vf_select(held, vf_set1(1), vf_div(grip, vf_select(held, vf_set1(1), slip)));
    slowed = vf_neg(vf_keep(hits, slowed));
    v = mad3(v, u, slowed);
    x = mad3(x, u, vf_mul(vf_mul(slowed, vf_sub(vf_set1(1), time)), dt));
    /* snaps a position that equals the start, moved with the surface, to it */
    lanes3 there = add3(q->s, p->carried);
    vm rests = vm_andnot(vm_or(loose, overlaps), vm_and(held, job->running->on ? none() : who));
    rests = vm_and(rests, vf_le(sum_abs(sub3(x, there)), q->touching));
    x = select3(rests, there, x);
    q->x = select3(who, x, q->x);
    q->v = select3(who, v, q->v);
    set_path(job, q);
    return who;
}

/* Uses the nearest points of edges and corners where they are nearer than any face. */
PL_APART vm round_edges(const pl_mesh_lanes* job, const narrowed_list* around, const path* q,
                        vm edges, planes* p, meeting* met)
{
    nearest near = nearest_of_all(job, around, q, edges);
    planes own;
    load_planes(job, q, near.place, &own);
    vf distance = vf_sqrt(near.square), zero = vf_set1(0);
    vm clear = vf_lt(q->touching, distance);
    vm found = vm_and(edges, vf_lt(near.square, vf_mul(q->thickness, q->thickness)));
    vf inverse = vf_div(vf_set1(1), vf_select(clear, distance, vf_set1(1)));
    lanes3 away = scale3(near.away, inverse);
    vf side = vf_select(vf_lt(own.height1, zero), vf_set1(-1), vf_set1(1));
    vm flat = vf_lt(vf_set1(SAME_NORMAL), vf_mul(dot3(away, own.normal), side));
    away = select3(flat, scale3(own.normal, side), away);
    /* height of the start: both heights differ by the path along the normal */
    lanes3 path_back = sub3(add3(q->s, own.carried), q->x);
    vf height0 = vf_add(distance, dot3(away, path_back));
    height0 = vf_select(flat, vf_mul(own.height0, side), height0);
    p->height0 = vf_select(edges, height0, p->height0);
    p->height1 = vf_select(edges, vf_select(flat, vf_mul(own.height1, side), distance), p->height1);
    p->normal = select3(edges, away, p->normal);
    p->carried = select3(edges, own.carried, p->carried);
    met->unsure = vm_or(met->unsure, vm_andnot(clear, found));
    if (!job->motion)
        return found;
    p->shift = select3(edges, own.shift, p->shift);
    for (int k = 0; k < 3; ++k)
        p->row[k] = select3(edges, own.row[k], p->row[k]);
    return found;
}

/* Pushes particles to their side of the planes. Unsure are particles that start on the surface or
 * around an edge of it, whose side is unknown, and paths that cross without a push. */
PL_INLINE vm keep_off(pl_mesh_lanes* job, path* q, planes* p, vm who, vm crossing, vf ignore,
                      vm* unsure)
{
    vm doubt = vm_and(who, vf_le(p->height0, vf_set1(0)));
    vm sure = vm_andnot(vm_or(doubt, *unsure), who);
    vm pushed = push_off(job, q, p, sure, ignore);
    *unsure = vm_or(*unsure, vm_or(doubt, vm_andnot(pushed, vm_and(sure, crossing))));
    return pushed;
}

PL_INLINE void turn_planes(planes* p, vm crossing)
{
    vm below = vf_lt(vf_select(crossing, p->height0, p->height1), vf_set1(0));
    vf side = vf_select(below, vf_set1(-1), vf_set1(1));
    p->normal = scale3(p->normal, side);
    p->height0 = vf_mul(p->height0, side), p->height1 = vf_mul(p->height1, side);
}

/* ------------------------------------------------------------------ particles that hardly move
 *
 * A search without contact caches the two nearest facets and lower bounds of the distances to the
 * others. While the particle stays so near to that position that no other facet can be hit or be
 * nearer than the first, only the first is tested; while no third can, only these two. The results
 * are the same bits.
 */

PL_INLINE void settle(pl_mesh_lanes* job, lanes3 at, const meeting* met, vm who)
{
    pl_settled* s = job->settled;
    vf* const place[3] = {&at.x, &at.y, &at.z};
    for (int k = 0; k < 3; ++k)
        vf_store(s->at[k], vf_select(who, *place[k], vf_load(s->at[k])));
    vf_store(s->others, vf_select(who, vf_sqrt(met->second2), vf_load(s->others)));
    vf_store(s->first, vf_select(who, met->first, vf_load(s->first)));
    vf_store(s->second, vf_select(who, met->second, vf_load(s->second)));
    vf_store(s->beyond, vf_select(who, vf_sqrt(met->third2), vf_load(s->beyond)));
}

/* Facets at rest, one per lane. */
typedef struct own_facets
{
    lanes3 normal, edge[3];
    vf height, beyond[3];
} own_facets;

PL_INLINE void load_own(const pl_mesh_lanes* job, vf numbers, own_facets* own)
{
    const float* row[8];
    const pl_facet* facet[8];
    float number[8];
    vf e[4];
    vf_store(number, numbers);
    for (int i = 0; i < 8; ++i)
    {
        facet[i] = &job->facet[(uint32_t)number[i]];
        row[i] = facet[i]->normal;
    }
    vf_load4(row, e);
    own->normal = (lanes3){e[0], e[1], e[2]};
    own->height = e[3];
    for (int k = 0; k < 3; ++k)
    {
        for (int i = 0; i < 8; ++i)
            row[i] = facet[i]->edge[k];
        vf_load4(row, e);
        own->edge[k] = (lanes3){e[0], e[1], e[2]};
        own->beyond[k] = e[3];
    }
}

/* Signed distances beyond the edges. */
PL_INLINE vf beyond_own(const own_facets* own, lanes3 p)
{
    vf out = vf_set1(-INFINITY);
    for (int k = 0; k < 3; ++k)
        out = vf_max(out, vf_sub(dot3(own->edge[k], p), own->beyond[k]));
    return out;
}

PL_INLINE vf distance(lanes3 a, lanes3 b)
{
    lanes3 d = sub3(a, b);
    return vf_sqrt(dot3(d, d));
}

/* Tests only the nearest facet. Returns the lanes for which that gives what all facets would. */
PL_APART vm still_settled(pl_mesh_lanes* job, path* q, vm alive, vm* touched)
{
    const pl_settled* s = job->settled;
    lanes3 at = {vf_load(s->at[0]), vf_load(s->at[1]), vf_load(s->at[2])};
    vf zero = vf_set1(0), margin = vf_mul(vf_set1(.25f), q->touching);
    vf first = vf_load(s->first);
    vf others = vf_sub(vf_load(s->others), margin);
    vf from = distance(q->s, at), way = vf_max(from, distance(q->x, at));
    vm ok = vm_and(alive, vf_lt(from, others)), alone = vf_lt(first, zero);
    vm none_near = vm_and(vm_and(ok, alone), vf_lt(vf_add(way, q->thickness), others));
    ok = vm_andnot(alone, ok);
    if (!vm_bits(ok))
        return none_near;
    path r = *q;
    own_facets own;
    vm moved = none(), going = ok;
    load_own(job, vf_max(first, zero), &own);
    vf ignore = zero;
    for (int pass = 0; pass < PASSES && vm_bits(going); ++pass)
    {
        planes p;
        vm unsure = none();
        p.normal = own.normal, p.carried = (lanes3){zero, zero, zero};
        p.height0 = vf_sub(dot3(own.normal, r.s), own.height);
        p.height1 = vf_sub(dot3(own.normal, r.x), own.height);
        vm crossing = vm_and(going, vf_le(vf_mul(p.height0, p.height1), zero));
        vm flat = vf_le(vf_abs(p.height0), vf_mul(vf_set1(FLAT), r.touching));
        /* the path after a crossing does not count: many are pressed through */
        vf fall = vf_sub(p.height0, p.height1);
        vf when = vf_div(p.height0, vf_select(vf_le(vf_abs(fall), zero), vf_set1(1), fall));
        lanes3 end = select3(crossing, mad3(r.s, sub3(r.x, r.s), when), r.x);
        vf off = distance(end, at), out = beyond_own(&own, end);
        vf height = vf_select(crossing, zero, vf_abs(p.height1));
        vm alone_near = vf_lt(vf_add(off, height), others);
        vm good = vm_and(vf_le(out, zero), vm_andnot(vm_and(crossing, flat), alone_near));
        turn_planes(&p, crossing);
        vm near =
            vm_and(going, vf_lt(vf_mul(p.height1, p.height1), vf_mul(r.thickness, r.thickness)));
        vm who = vm_and(good, vm_or(crossing, near));
        vm pushed = keep_off(job, &r, &p, who, crossing, ignore, &unsure);
        vm fails = vm_or(vm_andnot(good, going), unsure);
        ok = vm_andnot(vm_and(fails, going), ok);
        moved = vm_or(moved, pushed);
        going = vm_andnot(fails, pushed);
        ignore = vf_mul(vf_set1(.05f), r.touching);
    }
    ok = vm_andnot(going, ok);
    moved = vm_and(moved, ok);
    *touched = vm_or(*touched, moved);
    q->x = select3(moved, r.x, q->x);
    q->v = select3(moved, r.v, q->v);
    set_path(job, q);
    return vm_or(ok, none_near);
}

/* As meet_facet() for facets at rest, one per lane. */
PL_INLINE void meet_own(const own_facets* own, vf number, const path* q, vm going, meeting* met)
{
    vf zero = vf_set1(0), one = vf_set1(1);
    vf h1 = vf_sub(dot3(own->normal, q->x), own->height), size = vf_abs(h1);
    vf h0 = vf_sub(dot3(own->normal, q->s), own->height);
    vm may = vm_and(going, vf_le(size, q->length)), near = vm_and(going, vf_lt(size, q->look));
    vm cross = vm_and(may, vf_le(vf_mul(h0, h1), zero));
    vm flat = vf_le(vf_abs(h0), vf_mul(vf_set1(FLAT), q->touching));
    vf fall = vf_sub(h0, h1), when = vf_div(h0, vf_select(vf_le(vf_abs(fall), zero), one, fall));
    vf out = beyond_own(own, mad3(q->s, sub3(q->x, q->s), when));
    vm in = vm_and(cross, vf_le(out, q->touching)), better = vm_and(in, vf_lt(when, met->when));
    met->unsure = vm_or(met->unsure, vm_and(in, flat));
    met->when = vf_select(better, when, met->when);
    met->crossed = vf_select(better, number, met->crossed);
    out = beyond_own(own, q->x);
    vf d2 = vf_mul(h1, h1);
    vm face = vm_and(near, vf_le(out, q->touching));
    better = vm_and(face, vf_lt(d2, met->face2));
    met->face2 = vf_select(better, d2, met->face2);
    met->nearest = vf_select(better, number, met->nearest);
    d2 = vf_mad(d2, vf_max(out, zero), vf_max(out, zero));
    vm edge = vm_andnot(face, vm_and(near, vf_lt(d2, met->edge2)));
    met->edge2 = vf_select(edge, d2, met->edge2);
}

/* One pass of push_once() with two facets per lane. Returns the pushed lanes; "fails": lanes that
 * need all facets. */
PL_INLINE vm push_between(pl_mesh_lanes* job, const own_facets own[2], const vf number[2],
                          lanes3 at, vf others, path* r, vm going, vf ignore, vm* fails)
{
    meeting met;
    begin_meeting(r, &met);
    meet_own(&own[0], number[0], r, going, &met);
    meet_own(&own[1], number[1], r, going, &met);
    vf thick2 = vf_mul(r->thickness, r->thickness), zero = vf_set1(0);
    vm crossing = vm_and(going, vf_le(met.when, vf_set1(1)));
    vm face = vm_andnot(crossing, vm_and(going, vf_lt(met.face2, thick2)));
    vm edge = vm_andnot(crossing, vm_and(going, vf_lt(met.edge2, met.face2)));
    lanes3 end = select3(crossing, mad3(r->s, sub3(r->x, r->s), met.when), r->x);
    vf height = vf_select(crossing, zero, vf_sqrt(met.face2));
    vm alone = vf_lt(vf_add(distance(end, at), height), others);
    vm unsure = vm_or(met.unsure, vm_or(edge, vm_andnot(alone, going)));
    vm who = vm_and(going, vm_or(crossing, face)), pushed = none();
    if (vm_bits(vm_andnot(unsure, who)))
    {
        planes p;
        load_planes(job, r, vf_select(crossing, met.crossed, met.nearest), &p);
        turn_planes(&p, crossing);
        pushed = keep_off(job, r, &p, who, crossing, ignore, &unsure);
    }
    *fails = vm_and(going, unsure);
    return vm_andnot(*fails, pushed);
}

/* As still_settled() with the two nearest facets: particles beside an edge. */
PL_APART vm still_paired(pl_mesh_lanes* job, path* q, vm alive, vf room, vm* touched)
{
    const pl_settled* s = job->settled;
    lanes3 at = {vf_load(s->at[0]), vf_load(s->at[1]), vf_load(s->at[2])};
    vf zero = vf_set1(0), ignore = zero;
    vf others = vf_sub(vf_load(s->beyond), vf_mul(vf_set1(.25f), q->touching));
    vf first = vf_load(s->first), second = vf_load(s->second);
    vm ok = vm_and(alive, vm_and(vf_le(zero, first), vf_le(zero, second)));
    ok = vm_and(ok, vf_lt(distance(q->s, at), others));
    if (!vm_bits(ok))
        return ok;
    /* in list order */
    const vf number[2] = {vf_max(vf_min(first, second), zero), vf_max(vf_max(first, second), zero)};
    own_facets own[2];
    load_own(job, number[0], &own[0]);
    load_own(job, number[1], &own[1]);
    path r = *q;
    vm moved = none(), going = ok;
    for (int pass = 0; pass < PASSES && vm_bits(going); ++pass)
    {
        vm fails;
        vm pushed = push_between(job, own, number, at, others, &r, going, ignore, &fails);
        lanes3 way = sub3(r.x, q->x);
        vf most = vf_max(vf_max(vf_abs(way.x), vf_abs(way.y)), vf_abs(way.z));
        fails = vm_or(fails, vm_andnot(vf_le(most, room), pushed));
        ok = vm_andnot(fails, ok);
        moved = vm_or(moved, pushed);
        going = vm_andnot(fails, pushed);
        ignore = vf_mul(vf_set1(.05f), r.touching);
    }
    ok = vm_andnot(going, ok);
    moved = vm_and(moved, ok);
    *touched = vm_or(*touched, moved);
    q->x = select3(moved, r.x, q->x);
    q->v = select3(moved, r.v, q->v);
    set_path(job, q);
    return ok;
}

/* ------------------------------------------------------------------ rounds */

/* One pass: returns the pushed lanes. Undecidable lanes are added to "unsure". */
static vm push_once(pl_mesh_lanes* job, narrowed_list* near, path* q, vm alive, vf ignore,
                    vm* unsure)
{
    vf thick2 = vf_mul(q->thickness, q->thickness);
    meeting met;
    narrow_list(job, q, alive, near);
    meet_all(job, near, q, alive, &met);
    vm crossing = vm_and(alive, vf_le(met.when, vf_set1(1)));
    vm face = vm_andnot(crossing, vm_and(alive, vf_lt(met.face2, thick2)));
    vf nearer = vf_mul(vf_set1(.99999f), met.face2);
    vm edge = vm_andnot(crossing, vm_and(alive, vf_lt(met.edge2, nearer)));
    vm who = vm_or(crossing, face), pushed = none();
    lanes3 at = q->x;
    if (vm_bits(vm_or(who, edge)))
    {
        planes p;
        load_planes(job, q, vf_select(crossing, met.crossed, met.nearest), &p);
        turn_planes(&p, crossing);
        if (vm_bits(edge))
            who = vm_or(vm_andnot(edge, who), round_edges(job, near, q, edge, &p, &met));
        pushed = keep_off(job, q, &p, who, crossing, ignore, &met.unsure);
    }
    *unsure = vm_or(*unsure, vm_and(alive, met.unsure));
    if (job->settled)
        settle(job, at, &met, vm_andnot(pushed, vm_andnot(*unsure, alive)));
    return pushed;
}

static void resolve(pl_mesh_lanes* job)
{
    const float* const x[3] = {job->x[0], job->x[1], job->x[2]};
    const float* const v[3] = {job->v[0], job->v[1], job->v[2]};
    path q;
    q.s = load3(job->start, 0), q.x = load3(x, 0), q.v = load3(v, 0);
    lanes3 end = q.x, speed = q.v;
    q.touching = touching_of(q.s, q.x);
    q.thickness = thickness_of(job->thickness, q.touching);
    q.look = job->settled ? look_of(q.thickness, q.s, q.x) : q.thickness;
    set_path(job, &q);
    vf room = vf_add(vf_add(q.thickness, sum_abs(sub3(q.x, q.s))), vf_set1(job->shift));
    vm alive = lanes_of(job->lanes), unsure = none(), touched = none();
    vf ignore = vf_set1(0);
    narrowed_list near;
    vf_store(near.around.at, vf_set1(-INFINITY));
    if (job->settled)
        alive = vm_andnot(still_settled(job, &q, alive, &touched), alive);
    if (job->settled && vm_bits(alive))
        alive = vm_andnot(still_paired(job, &q, alive, room, &touched), alive);
    for (int pass = 0; pass < PASSES && vm_bits(alive); ++pass)
    {
        vm pushed = push_once(job, &near, &q, alive, ignore, &unsure);
        alive = vm_andnot(unsure, pushed);
        touched = vm_or(touched, alive);
        ignore = vf_mul(vf_set1(.05f), q.touching);
        /* beyond the searched distance */
        lanes3 moved = sub3(q.x, end);
        vf most = vf_max(vf_max(vf_abs(moved.x), vf_abs(moved.y)), vf_abs(moved.z));
        vm strayed = vm_andnot(vf_le(most, room), alive);
        unsure = vm_or(unsure, strayed);
        alive = vm_andnot(strayed, alive);
    }
    unsure = vm_or(unsure, alive);
    touched = vm_andnot(unsure, touched);
    job->unsure = vm_bits(unsure);
    job->touched = vm_bits(touched);
    if (!job->touched)
        return;
    q.x = select3(touched, q.x, end);
    q.v = select3(touched, q.v, speed);
    vf_store(job->x[0], q.x.x), vf_store(job->x[1], q.x.y), vf_store(job->x[2], q.x.z);
    vf_store(job->v[0], q.v.x), vf_store(job->v[1], q.v.y), vf_store(job->v[2], q.v.z);
}

extern const pl_mesh_kernels PL_K(pl_mesh_kernels);
const pl_mesh_kernels PL_K(pl_mesh_kernels) = {within, span, touching, sift, resolve};
