// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Eight particles against the triangles around them, within one substep.
 *
 * Triangles come one after the other, particles are in lanes. A particle's start is taken along
 * with the triangle to where that is at the substep's end; there its path is a straight line, and
 *   - a path that crosses the triangle is stopped on the side from which it came;
 *   - one that does not, but ends nearer than the thickness, is pushed away from the nearest point.
 * Pushed away from one triangle it may meet another: again, from the same start, until there is
 * none. The response is that of touch.c.
 *
 * What this cannot decide for certain (triangles that turn fast, paths along the edge of a triangle
 * that bends, starts on the surface, corners that take many pushes) is left to mesh_touch.c, which
 * takes the particles one by one, in double precision and with the exact time of each crossing.
 */
#include "../base/simd.h"
#include "mesh_near.h"

#define TOUCHING 1.0e-6f
#define LEAST_THICKNESS 4
#define RECOVERY_TIME 0.1f
#define PASSES 4
/* Heights below this share of what is rounded tell no side. */
#define FLAT 0.5f
/* The nearest point of an edge has the face's normal when the two have at least this cosine. */
#define SAME_NORMAL 0.9999f
/* Triangles that turn or stretch by more than this in a substep are left to mesh_touch.c. */
#define MOST_TURN 0.3f
/* Facets that are looked at together. */
#define SOME 256

typedef struct lanes3
{
    vf x, y, z;
} lanes3;

PL_INLINE lanes3 load3(const float* const p[3], uint32_t i)
{
    return (lanes3){vf_load(p[0] + i), vf_load(p[1] + i), vf_load(p[2] + i)};
}
PL_INLINE lanes3 bcast3(const float* p)
{
    return (lanes3){vf_bcast(p), vf_bcast(p + 1), vf_bcast(p + 2)};
}
PL_INLINE lanes3 add3(lanes3 a, lanes3 b)
{
    return (lanes3){vf_add(a.x, b.x), vf_add(a.y, b.y), vf_add(a.z, b.z)};
}
PL_INLINE lanes3 sub3(lanes3 a, lanes3 b)
{
    return (lanes3){vf_sub(a.x, b.x), vf_sub(a.y, b.y), vf_sub(a.z, b.z)};
}
PL_INLINE lanes3 mad3(lanes3 a, lanes3 b, vf s)
{
    return (lanes3){vf_mad(a.x, b.x, s), vf_mad(a.y, b.y, s), vf_mad(a.z, b.z, s)};
}
PL_INLINE lanes3 scale3(lanes3 a, vf s)
{
    return (lanes3){vf_mul(a.x, s), vf_mul(a.y, s), vf_mul(a.z, s)};
}
PL_INLINE lanes3 select3(vm m, lanes3 a, lanes3 b)
{
    return (lanes3){vf_select(m, a.x, b.x), vf_select(m, a.y, b.y), vf_select(m, a.z, b.z)};
}
PL_INLINE vf dot3(lanes3 a, lanes3 b)
{
    return vf_mad(vf_mad(vf_mul(a.x, b.x), a.y, b.y), a.z, b.z);
}
PL_INLINE vf sum_abs(lanes3 a)
{
    return vf_add(vf_add(vf_abs(a.x), vf_abs(a.y)), vf_abs(a.z));
}
PL_INLINE lanes3 min3(lanes3 a, lanes3 b)
{
    return (lanes3){vf_min(a.x, b.x), vf_min(a.y, b.y), vf_min(a.z, b.z)};
}
PL_INLINE lanes3 max3(lanes3 a, lanes3 b)
{
    return (lanes3){vf_max(a.x, b.x), vf_max(a.y, b.y), vf_max(a.z, b.z)};
}
PL_INLINE vm none(void)
{
    return vf_lt(vf_set1(1), vf_set1(0));
}
PL_INLINE vm lanes_of(unsigned bits)
{
    float on[8];
    for (int i = 0; i < 8; ++i)
        on[i] = bits >> i & 1 ? 1.0f : 0.0f;
    return vf_lt(vf_set1(0), vf_load(on));
}

/* ------------------------------------------------------------------ boxes */

/* What distances are rounded by, and how far off the surface particles are kept. */
PL_INLINE vf touching_of(lanes3 s, lanes3 x)
{
    return vf_mul(vf_set1(TOUCHING), vf_add(sum_abs(s), sum_abs(x)));
}
PL_INLINE vf thickness_of(float thickness, vf touching)
{
    return vf_max(vf_set1(thickness), vf_mul(vf_set1(LEAST_THICKNESS), touching));
}

/* How far a particle looks around. */
PL_INLINE vf look_of(vf thickness, lanes3 s, lanes3 x)
{
    return vf_mad(sum_abs(sub3(x, s)), vf_set1(1.5f), thickness);
}

/* How far around its path it may look and be pushed: it is pushed back by at most its path, that of
 * the surface and the thickness. */
PL_INLINE vf reach_of(float thickness, float shift, lanes3 s, lanes3 x)
{
    vf around = vf_mul(vf_set1(1.01f), thickness_of(thickness, touching_of(s, x)));
    vf look = look_of(around, s, x);
    return vf_add(vf_add(vf_add(around, look), sum_abs(sub3(x, s))), vf_set1(shift));
}

PL_INLINE pl_span span_of(lanes3 low, lanes3 high, vm used)
{
    vf gone = vf_set1(-INFINITY), zero = vf_set1(0);
    vf r[8] = {vf_select(used, high.x, gone),        vf_select(used, high.y, gone),
               vf_select(used, high.z, gone),        zero,
               vf_select(used, vf_neg(low.x), gone), vf_select(used, vf_neg(low.y), gone),
               vf_select(used, vf_neg(low.z), gone), zero};
    pl_span span;
    vf_transpose(r);
    vf_store(span.at, vf_max(vf_max(vf_max(r[0], r[1]), vf_max(r[2], r[3])),
                             vf_max(vf_max(r[4], r[5]), vf_max(r[6], r[7]))));
    return span;
}

static bool within(const pl_mesh_paths* paths, const pl_span* listed)
{
    vm out = none();
    for (uint32_t b = 0; b < paths->blocks; ++b)
    {
        lanes3 s = load3(paths->start, 8 * b), x = load3((const float*const*)paths->x, 8 * b);
        vf reach = reach_of(paths->thickness, paths->shift, s, x);
        lanes3 low = min3(s, x), high = max3(s, x), most = bcast3(listed[b].at),
               least = bcast3(listed[b].at + 4);
        vf over =
            vf_max(vf_max(vf_sub(high.x, most.x), vf_sub(high.y, most.y)), vf_sub(high.z, most.z));
        vf under = vf_max(vf_max(vf_sub(vf_neg(low.x), least.x), vf_sub(vf_neg(low.y), least.y)),
                          vf_sub(vf_neg(low.z), least.z));
        vm used = vf_lt(vf_set1(0), vf_load(paths->mass + 8 * b));
        vm beyond = vm_and(used, vf_lt(vf_set1(0), vf_add(vf_max(over, under), reach)));
        paths->movable[b] = (uint8_t)vm_bits(used);
        paths->left[b] = vm_bits(beyond) != 0;
        out = vm_or(out, beyond);
    }
    return vm_bits(out) == 0;
}

static pl_span span(const pl_mesh_paths* paths, uint32_t b)
{
    lanes3 s = load3(paths->start, 8 * b), x = load3((const float*const*)paths->x, 8 * b);
    vf reach = reach_of(paths->thickness, paths->shift, s, x);
    lanes3 around = {reach, reach, reach};
    return span_of(sub3(min3(s, x), around), add3(max3(s, x), around),
                   vf_lt(vf_set1(0), vf_load(paths->mass + 8 * b)));
}

PL_APART uint32_t sift(const pl_span* box, const uint32_t* list, uint32_t count,
                       const pl_span* span, uint32_t* out)
{
    uint32_t kept = 0;
    vf around = vf_load(span->at);
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t at = list ? list[i] : i;
        out[kept] = at;
        kept += vm_bits(vf_le(vf_load(box[at].at), around)) == 255;
    }
    return kept;
}

/* ------------------------------------------------------------------ what a path meets */

typedef struct path
{
    lanes3 s, x, v;
    vf touching, thickness;
    vf length; /* of the path and of what the surface goes */
    vf look;   /* how far around */
} path;

typedef struct meeting
{
    vf when, face2, edge2; /* time of the first crossing; squares of distances */
    vf crossed, nearest;   /* facets' numbers */
    vm unsure;
    /* Lower bounds of the squares of the two least distances, and whose the least is. */
    vf first2, second2, first;
} meeting;

PL_INLINE vf height_over(const float plane[4], lanes3 p)
{
    return vf_sub(dot3(bcast3(plane), p), vf_bcast(plane + 3));
}

/* Where the start is in the frame in which the facet stands still. */
PL_INLINE lanes3 start_at(const pl_motion* m, const path* q)
{
    if (!m)
        return q->s;
    lanes3 p = q->s;
    vf x = vf_add(dot3(bcast3(m->row[0]), p), vf_bcast(m->row[0] + 3));
    vf y = vf_add(dot3(bcast3(m->row[1]), p), vf_bcast(m->row[1] + 3));
    vf z = vf_add(dot3(bcast3(m->row[2]), p), vf_bcast(m->row[2] + 3));
    return add3(p, (lanes3){x, y, z});
}

/* How far a point of the plane is outside of the facet, along the edge that it is farthest from. */
PL_INLINE vf beyond_edges(const pl_facet* f, lanes3 p)
{
    return vf_max(vf_max(height_over(f->edge[0], p), height_over(f->edge[1], p)),
                  height_over(f->edge[2], p));
}

PL_INLINE void cross_facet(const pl_facet* f, const pl_motion* motion, float place, const path* q,
                           vf h1, vm may, meeting* met)
{
    vf zero = vf_set1(0);
    lanes3 start = start_at(motion, q);
    vf h0 = height_over(f->normal, start);
    vm cross = vm_and(may, vf_le(vf_mul(h0, h1), zero));
    if (!vm_bits(cross))
        return;
    /* the sign of what is nothing but rounding tells no side */
    vm flat = vf_le(vf_abs(h0), vf_mul(vf_set1(FLAT), q->touching));
    vf fall = vf_sub(h0, h1);
    vf when = vf_div(h0, vf_select(vf_le(vf_abs(fall), zero), vf_set1(1), fall));
    vf out = beyond_edges(f, mad3(start, sub3(q->x, start), when)), band = q->touching;
    if (motion)
        band = vf_mad(band, vf_bcast(&motion->turn), q->length);
    vm in = vm_and(cross, vf_le(out, band));
    if (motion)
        met->unsure = vm_or(met->unsure, vm_and(in, vf_le(vf_neg(band), out)));
    met->unsure = vm_or(met->unsure, vm_and(in, flat));
    vm better = vm_and(in, vf_lt(when, met->when));
    met->when = vf_select(better, when, met->when);
    met->crossed = vf_select(better, vf_set1(place), met->crossed);
}

PL_INLINE void meet_facet(const pl_facet* f, const pl_motion* motion, float place, const path* q,
                          vm alive, meeting* met)
{
    vf zero = vf_set1(0), h1 = height_over(f->normal, q->x), size = vf_abs(h1);
    vm may = motion ? alive : vm_and(alive, vf_le(size, q->length));
    vm near = vm_and(alive, vf_lt(size, q->look));
    if (vm_bits(may))
        cross_facet(f, motion, place, q, h1, may, met);
    if (!vm_bits(near))
        return;
    /* no branch from here on: none could be foreseen */
    vf out = beyond_edges(f, q->x), d2 = vf_mul(h1, h1), number = vf_set1(place);
    vm face = vm_and(near, vf_le(out, q->touching)), better = vm_and(face, vf_lt(d2, met->face2));
    met->face2 = vf_select(better, d2, met->face2);
    met->nearest = vf_select(better, number, met->nearest);
    d2 = vf_mad(d2, vf_max(out, zero), vf_max(out, zero));
    vm edge = vm_andnot(face, vm_and(near, vf_lt(d2, met->edge2)));
    met->edge2 = vf_select(edge, d2, met->edge2);
    d2 = vf_select(near, d2, met->second2);
    better = vf_lt(d2, met->first2);
    met->second2 = vf_min(met->second2, vf_max(d2, met->first2));
    met->first2 = vf_min(d2, met->first2);
    met->first = vf_select(better, number, met->first);
}

/* Lanes whose boxes touch that of a facet of which nothing more can be said. */
PL_INLINE vm touch_box(const pl_span* box, const path* q, vm alive)
{
    lanes3 reach = {q->thickness, q->thickness, q->thickness};
    lanes3 high = add3(max3(q->s, q->x), reach), low = sub3(min3(q->s, q->x), reach);
    lanes3 least = bcast3(box->at), most = bcast3(box->at + 4);
    vm x = vm_and(vf_le(least.x, high.x), vf_le(most.x, vf_neg(low.x)));
    vm y = vm_and(vf_le(least.y, high.y), vf_le(most.y, vf_neg(low.y)));
    vm z = vm_and(vf_le(least.z, high.z), vf_le(most.z, vf_neg(low.z)));
    return vm_and(vm_and(alive, x), vm_and(y, z));
}

PL_INLINE pl_span span_around(const path* q, vm alive)
{
    lanes3 reach = {q->look, q->look, q->look};
    return span_of(sub3(min3(q->s, q->x), reach), add3(max3(q->s, q->x), reach), alive);
}

PL_INLINE void begin_meeting(const path* q, meeting* met)
{
    vf thick2 = vf_mul(q->thickness, q->thickness), zero = vf_set1(0);
    met->when = vf_set1(2);
    met->face2 = met->edge2 = thick2;
    met->crossed = met->nearest = zero;
    met->unsure = none();
    met->first2 = met->second2 = vf_mul(q->look, q->look);
    met->first = vf_set1(-1);
}

PL_APART void meet_all(pl_mesh_lanes* job, const path* q, vm alive, meeting* met)
{
    uint32_t some[SOME];
    pl_span around = span_around(q, alive);
    begin_meeting(q, met);
    for (uint32_t begin = 0; begin < job->count; begin += SOME - 1)
    {
        uint32_t count = PL_MIN(SOME - 1, job->count - begin);
        const uint32_t* list = job->list + begin;
        count = sift(job->box, list, count, &around, some);
        job->tested += count;
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t at = some[i];
            const pl_facet* f = &job->facet[at];
            if (!job->motion)
                meet_facet(f, NULL, (float)at, q, alive, met);
            else if (job->motion[at].turn > MOST_TURN)
                met->unsure = vm_or(met->unsure, touch_box(&job->box[at], q, alive));
            else
                meet_facet(f, &job->motion[at], (float)at, q, alive, met);
        }
    }
}

/* ------------------------------------------------------------------ nearest points of edges */

typedef struct nearest
{
    vf square, place;
    lanes3 away; /* from it to the particle */
} nearest;

PL_INLINE void nearer_edge(lanes3 from, lanes3 along, lanes3 p, vf place, nearest* best)
{
    lanes3 d = sub3(p, from);
    vf share = vf_div(dot3(d, along), dot3(along, along));
    share = vf_min(vf_max(share, vf_set1(0)), vf_set1(1));
    d = mad3(d, along, vf_neg(share));
    vf square = dot3(d, d);
    vm better = vf_lt(square, best->square);
    best->square = vf_select(better, square, best->square);
    best->place = vf_select(better, place, best->place);
    best->away = select3(better, d, best->away);
}

PL_APART nearest nearest_of_all(pl_mesh_lanes* job, const path* q, vm alive)
{
    vf zero = vf_set1(0);
    nearest best = {vf_mul(q->thickness, q->thickness), zero, {zero, zero, zero}};
    pl_span around = span_around(q, alive);
    for (uint32_t i = 0; i < job->count; ++i)
    {
        uint32_t at = job->list[i];
        if (vm_bits(vf_le(vf_load(job->box[at].at), vf_load(around.at))) != 255)
            continue;
        const pl_facet* f = &job->facet[at];
        const pl_facet_corners* t = &job->corners[at];
        lanes3 n = bcast3(f->normal), p = sub3(q->x, bcast3(t->a));
        vf h = height_over(f->normal, q->x), out = beyond_edges(f, q->x);
        vf place = vf_set1((float)at);
        vf least = vf_mad(vf_mul(h, h), vf_max(out, zero), vf_max(out, zero));
        if (!vm_bits(vm_and(alive, vf_lt(least, best.square))))
            continue;
        vm face = vm_and(vf_le(out, zero), vf_lt(vf_mul(h, h), best.square));
        best.square = vf_select(face, vf_mul(h, h), best.square);
        best.place = vf_select(face, place, best.place);
        best.away = select3(face, scale3(n, h), best.away);
        lanes3 b = bcast3(t->b), c = bcast3(t->c), o = {zero, zero, zero};
        nearer_edge(o, b, p, place, &best);
        nearer_edge(b, sub3(c, b), p, place, &best);
        nearer_edge(o, c, p, place, &best);
    }
    return best;
}

/* ------------------------------------------------------------------ response */

/* A plane in each lane that moves with a facet. */
typedef struct planes
{
    lanes3 normal;       /* toward the side where the particle is kept */
    vf height0, height1; /* of the particle over it, at the start and at the end */
    lanes3 carried;      /* how far the surface takes what was at the start */
    lanes3 row[3], shift;
} planes;

PL_INLINE lanes3 moved_by(const planes* p, lanes3 at)
{
    lanes3 turned = {dot3(p->row[0], at), dot3(p->row[1], at), dot3(p->row[2], at)};
    return add3(p->shift, turned);
}

/* The facets that the lanes have met, each its own. */
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

/* How far the surface moves where the particle is in the end. */
PL_INLINE lanes3 surface_shift(const pl_mesh_lanes* job, const planes* p, lanes3 to)
{
    return job->motion ? moved_by(p, sub3(to, p->carried)) : p->carried;
}

/* What follows from where the particle is in the end. */
PL_INLINE void set_path(const pl_mesh_lanes* job, path* q)
{
    q->length = vf_add(sum_abs(sub3(q->x, q->s)), vf_set1(1.5f * job->shift));
}

/* As touch_side() and respond() of touch.c. Returns who was pushed. */
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
    /* takes the rounding out of a position that is the start, moved with the surface */
    lanes3 there = add3(q->s, p->carried);
    vm rests = vm_andnot(vm_or(loose, overlaps), vm_and(held, who));
    rests = vm_and(rests, vf_le(sum_abs(sub3(x, there)), q->touching));
    x = select3(rests, there, x);
    q->x = select3(who, x, q->x);
    q->v = select3(who, v, q->v);
    set_path(job, q);
    return who;
}

/* From the nearest points of edges and corners where those are nearer than any face. */
PL_APART vm round_edges(pl_mesh_lanes* job, const path* q, vm edges, planes* p, meeting* met)
{
    nearest near = nearest_of_all(job, q, edges);
    planes around;
    load_planes(job, q, near.place, &around);
    vf distance = vf_sqrt(near.square), zero = vf_set1(0);
    vm clear = vf_lt(q->touching, distance);
    vm found = vm_and(edges, vf_lt(near.square, vf_mul(q->thickness, q->thickness)));
    vf inverse = vf_div(vf_set1(1), vf_select(clear, distance, vf_set1(1)));
    lanes3 away = scale3(near.away, inverse);
    vf side = vf_select(vf_lt(around.height1, zero), vf_set1(-1), vf_set1(1));
    vm flat = vf_lt(vf_set1(SAME_NORMAL), vf_mul(dot3(away, around.normal), side));
    away = select3(flat, scale3(around.normal, side), away);
    /* the start's height: heights differ as start and end do, in the frame of the facet */
    lanes3 path_back = sub3(add3(q->s, around.carried), q->x);
    vf height0 = vf_add(distance, dot3(away, path_back));
    height0 = vf_select(flat, vf_mul(around.height0, side), height0);
    p->height0 = vf_select(edges, height0, p->height0);
    p->height1 =
        vf_select(edges, vf_select(flat, vf_mul(around.height1, side), distance), p->height1);
    p->normal = select3(edges, away, p->normal);
    p->carried = select3(edges, around.carried, p->carried);
    met->unsure = vm_or(met->unsure, vm_andnot(clear, found));
    if (!job->motion)
        return found;
    p->shift = select3(edges, around.shift, p->shift);
    for (int k = 0; k < 3; ++k)
        p->row[k] = select3(edges, around.row[k], p->row[k]);
    return found;
}

/* Turns planes to the side on which the particles are kept, and pushes. Those that are on the
 * surface, or around an edge of it, so that their side must be found out, and those whose paths
 * cross and yet are not in the way, are unsure. */
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

/* ------------------------------------------------------------------ those that hardly move
 *
 * Where a particle was looked at in vain (it was in nothing's way there), the nearest facet and how
 * far the second nearest is are remembered. As long as it stays so near to that place that no other
 * facet can be in its way or nearer than the first, only the first is looked at: to the same bits.
 */

PL_INLINE void settle(pl_mesh_lanes* job, lanes3 at, const meeting* met, vm who)
{
    pl_settled* s = job->settled;
    vf* const place[3] = {&at.x, &at.y, &at.z};
    for (int k = 0; k < 3; ++k)
        vf_store(s->at[k], vf_select(who, *place[k], vf_load(s->at[k])));
    vf_store(s->others, vf_select(who, vf_sqrt(met->second2), vf_load(s->others)));
    vf_store(s->first, vf_select(who, met->first, vf_load(s->first)));
}

/* How far points are beyond the edges of facets, each lane's its own. */
PL_INLINE vf beyond_own_edges(const pl_mesh_lanes* job, const uint32_t at[8], lanes3 p,
                              lanes3 other)
{
    vf out = vf_set1(-INFINITY);
    for (int k = 0; k < 3; ++k)
    {
        const float* row[8];
        vf e[4];
        for (int i = 0; i < 8; ++i)
            row[i] = job->facet[at[i]].edge[k];
        vf_load4(row, e);
        lanes3 n = {e[0], e[1], e[2]};
        out = vf_max(out, vf_sub(vf_max(dot3(n, p), dot3(n, other)), e[3]));
    }
    return out;
}

PL_INLINE vf distance(lanes3 a, lanes3 b)
{
    lanes3 d = sub3(a, b);
    return vf_sqrt(dot3(d, d));
}

/* Those for which looking at one facet was enough: their paths are what all facets would have made
 * of them. */
PL_APART vm still_settled(pl_mesh_lanes* job, path* q, vm alive, vm* touched)
{
    const pl_settled* s = job->settled;
    lanes3 at = {vf_load(s->at[0]), vf_load(s->at[1]), vf_load(s->at[2])};
    vf zero = vf_set1(0), margin = vf_mul(vf_set1(.25f), q->touching);
    vf first = vf_load(s->first);
    vf others = vf_sub(vf_load(s->others), margin);
    vf way = vf_max(distance(q->s, at), distance(q->x, at));
    vm ok = vm_and(alive, vf_lt(way, others)), alone = vf_lt(first, zero);
    vm none_near = vm_and(vm_and(ok, alone), vf_lt(vf_add(way, q->thickness), others));
    ok = vm_andnot(alone, ok);
    if (!vm_bits(ok))
        return none_near;
    path r = *q;
    vm moved = none(), going = ok;
    vf ignore = zero;
    for (int pass = 0; pass < PASSES && vm_bits(going); ++pass)
    {
        planes p;
        uint32_t facets[8];
        float number[8];
        vm unsure = none();
        vf_store(number, vf_max(first, zero));
        for (int i = 0; i < 8; ++i)
            facets[i] = (uint32_t)number[i];
        load_planes(job, &r, vf_max(first, zero), &p);
        vf off = distance(r.x, at), out = beyond_own_edges(job, facets, r.x, r.s);
        vm crossing = vm_and(going, vf_le(vf_mul(p.height0, p.height1), zero));
        vm flat = vf_le(vf_abs(p.height0), vf_mul(vf_set1(FLAT), r.touching));
        vm alone_near = vf_lt(vf_add(off, vf_abs(p.height1)), others);
        vm clear = vf_lt(vf_add(off, r.thickness), others); /* of the thickness of others */
        vm good = vm_and(vf_le(out, zero), vm_andnot(vm_and(crossing, flat), alone_near));
        turn_planes(&p, crossing);
        vm near =
            vm_and(going, vf_lt(vf_mul(p.height1, p.height1), vf_mul(r.thickness, r.thickness)));
        vm who = vm_and(good, vm_or(crossing, near));
        vm pushed = keep_off(job, &r, &p, who, crossing, ignore, &unsure);
        /* who is not pushed any more must not be in the way of others either */
        vm fails =
            vm_or(vm_andnot(good, going), vm_or(unsure, vm_andnot(vm_or(pushed, clear), going)));
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

/* ------------------------------------------------------------------ rounds */

/* One round: who was pushed. Those of whom nothing is certain are added to "unsure". */
static vm push_once(pl_mesh_lanes* job, path* q, vm alive, vf ignore, vm* unsure)
{
    vf thick2 = vf_mul(q->thickness, q->thickness);
    meeting met;
    meet_all(job, q, alive, &met);
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
            who = vm_or(vm_andnot(edge, who), round_edges(job, q, edge, &p, &met));
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
    if (job->settled)
        alive = vm_andnot(still_settled(job, &q, alive, &touched), alive);
    for (int pass = 0; pass < PASSES && vm_bits(alive); ++pass)
    {
        vm pushed = push_once(job, &q, alive, ignore, &unsure);
        alive = vm_andnot(unsure, pushed);
        touched = vm_or(touched, alive);
        ignore = vf_mul(vf_set1(.05f), q.touching);
        /* farther than this it was not looked around */
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
const pl_mesh_kernels PL_K(pl_mesh_kernels) = {within, span, sift, resolve};
