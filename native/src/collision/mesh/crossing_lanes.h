// SPDX-License-Identifier: GPL-3.0-or-later
/* Paths of eight particles against the triangles around them, in lanes (for lanes.simd.c). */
#ifndef PL_COLLISION_MESH_CROSSING_LANES_H
#define PL_COLLISION_MESH_CROSSING_LANES_H

#include "base/simd_vec3.h"
#include "collision/mesh/triangle_cache.h"

#define TOUCHING 1.0e-6f
#define LEAST_THICKNESS 4
/* Heights below this share of the rounding have no certain sign. */
#define FLAT 0.5f
/* Triangles that rotate or stretch by more than this in a substep are left to particle_mesh.c. */
#define MOST_TURN 0.3f
/* Shorter lists are narrowed to the facets around the lanes. */
#define SOME 2048
/* In thicknesses: margin of narrowed lists. */
#define AROUND 0.5f
/* Prefetch distance, in facets and blocks. */
#define AHEAD 8

/* ------------------------------------------------------------------ boxes */

/* Rounding of distances, and the distance that particles keep from the surface. */
PL_INLINE vf touching_of(lanes3 s, lanes3 x)
{
    return vf_mul(vf_set1(TOUCHING), vf_add(sum_abs(s), sum_abs(x)));
}
PL_INLINE vf thickness_of(float thickness, vf touching)
{
    return vf_max(vf_set1(thickness), vf_mul(vf_set1(LEAST_THICKNESS), touching));
}

/* Search radius of a particle: more than its path, so that the result serves several substeps. */
PL_INLINE vf look_of(vf thickness, lanes3 s, lanes3 x)
{
    vf path = vf_mul(sum_abs(sub3(x, s)), vf_set1(1.15f));
    return vf_add(thickness, vf_max(path, thickness));
}

/* Bound of search and push around the path: a particle is pushed back by at most its path, the
 * surface's motion and the thickness. */
PL_INLINE vf reach_of(float thickness, float shift, lanes3 s, lanes3 x)
{
    vf around = vf_mul(vf_set1(1.05f), thickness_of(thickness, touching_of(s, x)));
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

/* Starts of the paths, up to rounding. */
PL_INLINE lanes3 start_of(const pl_mesh_paths* paths, uint32_t b, lanes3 x)
{
    if (paths->start)
        return load3(paths->start, 8 * b);
    return mad3(x, load3((const float* const*)paths->v, 8 * b), vf_set1(-paths->dt));
}

/* Prefetches a block; addresses past the end are harmless. */
PL_INLINE void fetch_block(const pl_mesh_paths* paths, uint32_t b, const pl_span* listed)
{
    if (b % 2)
        return; /* a cache line holds two blocks */
    for (int k = 0; k < 3; ++k)
    {
        __builtin_prefetch(paths->x[k] + 8 * (size_t)b);
        __builtin_prefetch((paths->start ? paths->start[k] : paths->v[k]) + 8 * (size_t)b);
    }
    __builtin_prefetch(paths->mass + 8 * (size_t)b);
    __builtin_prefetch(listed);
}

static bool within(const pl_mesh_paths* paths, const pl_span* listed)
{
    unsigned out = 0;
    for (uint32_t b = 0; b < paths->blocks; ++b)
    {
        fetch_block(paths, b + AHEAD, &listed[b + AHEAD]);
        lanes3 x = load3((const float*const*)paths->x, 8 * b), s = start_of(paths, b, x);
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
        unsigned left = vm_bits(beyond) & ~(paths->without ? paths->without[b] : 0u);
        paths->left[b] = left != 0;
        out |= left;
    }
    return out == 0;
}

PL_INLINE vm counted(const pl_mesh_paths* paths, uint32_t b)
{
    vm used = vf_lt(vf_set1(0), vf_load(paths->mass + 8 * b));
    return paths->without ? vm_andnot(lanes_of(paths->without[b]), used) : used;
}

static pl_span span(const pl_mesh_paths* paths, uint32_t b)
{
    lanes3 x = load3((const float*const*)paths->x, 8 * b), s = start_of(paths, b, x);
    vf reach = reach_of(paths->thickness, paths->shift, s, x);
    lanes3 around = {reach, reach, reach};
    return span_of(sub3(min3(s, x), around), add3(max3(s, x), around), counted(paths, b));
}

/* AABBs by lane: upper ends, and negated lower ends. */
typedef struct boxes
{
    lanes3 high, under;
} boxes;

PL_INLINE boxes boxes_around(lanes3 s, lanes3 x, vf reach)
{
    lanes3 around = {reach, reach, reach}, low = sub3(min3(s, x), around);
    return (boxes){add3(max3(s, x), around), {vf_neg(low.x), vf_neg(low.y), vf_neg(low.z)}};
}

/* Lanes whose AABBs touch that of a facet. */
PL_INLINE vm touch_box(const float box[8], const boxes* own, vm alive)
{
    lanes3 least = bcast3(box), most = bcast3(box + 4);
    vm x = vm_and(vf_le(least.x, own->high.x), vf_le(most.x, own->under.x));
    vm y = vm_and(vf_le(least.y, own->high.y), vf_le(most.y, own->under.y));
    vm z = vm_and(vf_le(least.z, own->high.z), vf_le(most.z, own->under.z));
    return vm_and(vm_and(alive, x), vm_and(y, z));
}

static unsigned touching(const pl_mesh_paths* paths, uint32_t b, const pl_span* box,
                         const uint32_t* list, uint32_t count, float margin)
{
    lanes3 x = load3((const float*const*)paths->x, 8 * b), s = start_of(paths, b, x);
    vf reach = vf_add(reach_of(paths->thickness, paths->shift, s, x), vf_set1(margin));
    boxes own = boxes_around(s, x, reach);
    vm used = counted(paths, b), hit = none();
    for (uint32_t i = 0; i < count && vm_bits(hit) != vm_bits(used); ++i)
        hit = vm_or(hit, touch_box(box[list[i]].at, &own, used));
    return vm_bits(hit);
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

/* ------------------------------------------------------------------ paths against facets */

typedef struct path
{
    lanes3 s, x, v;
    vf touching, thickness;
    vf length; /* of the path and the surface's motion */
    vf look;   /* search radius */
} path;

typedef struct meeting
{
    vf when, face2, edge2; /* time of the first crossing; squared distances */
    vf crossed, nearest;   /* facets' numbers */
    vm unsure;
    /* Lower bounds of the three least squared distances, and the facets of the first two. */
    vf first2, second2, third2, first, second;
} meeting;

PL_INLINE vf height_over(const float plane[4], lanes3 p)
{
    return vf_sub(dot3(bcast3(plane), p), vf_bcast(plane + 3));
}

/* The start in the frame in which the facet is at rest. */
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

/* Largest signed distance of a point of the plane beyond the facet's edges. */
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
    /* a height within rounding has no certain sign */
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

/* Keeps the three least distances and the facets of the first two. */
PL_INLINE void note_distance(vf d2, vf number, meeting* met)
{
    vm first = vf_lt(d2, met->first2), second = vf_lt(d2, met->second2);
    met->third2 = vf_min(met->third2, vf_max(d2, met->second2));
    met->second = vf_select(first, met->first, vf_select(second, number, met->second));
    met->second2 = vf_min(met->second2, vf_max(d2, met->first2));
    met->first2 = vf_min(d2, met->first2);
    met->first = vf_select(first, number, met->first);
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
    /* branch-free from here on: the outcome is unpredictable */
    vf out = beyond_edges(f, q->x), d2 = vf_mul(h1, h1), number = vf_set1(place);
    vm face = vm_and(near, vf_le(out, q->touching)), better = vm_and(face, vf_lt(d2, met->face2));
    met->face2 = vf_select(better, d2, met->face2);
    met->nearest = vf_select(better, number, met->nearest);
    d2 = vf_mad(d2, vf_max(out, zero), vf_max(out, zero));
    vm edge = vm_andnot(face, vm_and(near, vf_lt(d2, met->edge2)));
    met->edge2 = vf_select(edge, d2, met->edge2);
    note_distance(vf_select(near, d2, met->third2), number, met);
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
    met->first2 = met->second2 = met->third2 = vf_mul(q->look, q->look);
    met->first = met->second = vf_set1(-1);
}

/* The facets of a list around some of its lanes. */
typedef struct narrowed_list
{
    pl_span around;
    uint32_t count;
    const uint32_t* list;
    uint32_t some[SOME];
} narrowed_list;

PL_INLINE bool span_holds(const pl_span* outer, const pl_span* inner)
{
    return vm_bits(vf_le(vf_load(inner->at), vf_load(outer->at))) == 255;
}

/* Refreshes them if the lanes have left their span. */
PL_INLINE void narrow_list(const pl_mesh_lanes* job, const path* q, vm alive, narrowed_list* near)
{
    pl_settled* known = job->settled;
    pl_span around = span_around(q, alive);
    if (span_holds(&near->around, &around))
        return;
    if (known && known->count && span_holds(&known->around, &around))
    {
        near->around = known->around;
        near->list = known->some, near->count = known->count;
        return;
    }
    for (int k = 0; k < 8; ++k)
        near->around.at[k] = around.at[k] + (k % 4 < 3 ? AROUND * job->thickness : 0);
    near->list = job->list, near->count = job->count;
    if (job->count >= SOME)
        return;
    near->count = sift(job->box, job->list, job->count, &near->around, near->some);
    near->list = near->some;
    if (!known || near->count > PL_FEW_FACETS)
        return;
    known->around = near->around;
    known->count = near->count;
    memcpy(known->some, near->some, near->count * sizeof *near->some);
}

/* Prefetch: the facets of a whole surface exceed the cache. */
PL_INLINE void fetch_facet(const pl_mesh_lanes* job, uint32_t at)
{
    __builtin_prefetch(&job->box[at]);
    __builtin_prefetch(&job->facet[at]);
}

PL_APART void meet_all(pl_mesh_lanes* job, const narrowed_list* near, const path* q, vm alive,
                       meeting* met)
{
    boxes own = boxes_around(q->s, q->x, job->motion ? q->thickness : q->look);
    begin_meeting(q, met);
    for (uint32_t i = 0; i < PL_MIN(AHEAD, near->count); ++i)
        fetch_facet(job, near->list[i]);
    for (uint32_t i = 0; i < near->count; ++i)
    {
        uint32_t at = near->list[i];
        const pl_facet* f = &job->facet[at];
        if (i + AHEAD < near->count)
            fetch_facet(job, near->list[i + AHEAD]);
        if (job->motion && job->motion[at].turn > MOST_TURN)
        {
            /* undecidable in this precision */
            met->unsure = vm_or(met->unsure, touch_box(job->box[at].at, &own, alive));
            continue;
        }
        if (!job->motion && !vm_bits(touch_box(job->box[at].at, &own, alive)))
            continue;
        ++job->tested;
        meet_facet(f, job->motion ? &job->motion[at] : NULL, (float)at, q, alive, met);
    }
}

/* ------------------------------------------------------------------ nearest points of edges */

typedef struct nearest
{
    vf square, place;
    lanes3 away; /* from the nearest point to the particle */
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

PL_APART nearest nearest_of_all(const pl_mesh_lanes* job, const narrowed_list* near, const path* q,
                                vm alive)
{
    vf zero = vf_set1(0);
    nearest best = {vf_mul(q->thickness, q->thickness), zero, {zero, zero, zero}};
    for (uint32_t i = 0; i < near->count; ++i)
    {
        uint32_t at = near->list[i];
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

#endif
