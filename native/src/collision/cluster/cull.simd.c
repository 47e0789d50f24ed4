// SPDX-License-Identifier: GPL-3.0-or-later
/* Kernel of cull.h: the rules of sdf_query.c in float, with every comparison widened by its
 * rounding bound, so that nothing is culled that would count there. */
#include "collision/cluster/cull.h"

#include "base/simd_vec3.h"
#include "collision/cluster/sdf_query.h"

enum
{
    TOGETHER = 16 /* groups of eight whose grid lookups overlap */
};

PL_INLINE lanes3 turn3(const float* m, lanes3 a)
{
    return (lanes3){dot3(bcast3(m), a), dot3(bcast3(m + 3), a), dot3(bcast3(m + 6), a)};
}

PL_INLINE vf length3(lanes3 a)
{
    return vf_sqrt(dot3(a, a));
}

/* Lanes whose paths cross the target's AABB. */
PL_INLINE vm passes(const pl_cull_job* job, const pl_cull_target* t, lanes3 end, lanes3 v)
{
    lanes3 start = mad3(end, sub3(v, bcast3(job->drift)), vf_set1(-job->dt));
    lanes3 low = min3(start, end), high = max3(start, end);
    lanes3 lower = bcast3(t->lower), upper = bcast3(t->upper);
    vm x = vm_and(vf_le(lower.x, high.x), vf_le(low.x, upper.x));
    vm y = vm_and(vf_le(lower.y, high.y), vf_le(low.y, upper.y));
    vm z = vm_and(vf_le(lower.z, high.z), vf_le(low.z, upper.z));
    return vm_and(x, vm_and(y, z));
}

PL_INLINE float between(float a, float b, float f)
{
    return a + f * (b - a);
}

/* The rest shape's grid in floats. */
typedef struct grid
{
    const float* distance;
    float lower[3], most[3], per_cell;
    int32_t last[3];
    size_t dy, dz;
} grid;

static grid grid_of(const pl_rest_sdf* shape)
{
    grid g = {.distance = shape->distance,
              .per_cell = (float)shape->per_cell,
              .dy = shape->size[0],
              .dz = (size_t)shape->size[0] * shape->size[1]};
    for (int k = 0; k < 3; ++k)
    {
        g.lower[k] = (float)shape->lower[k];
        g.most[k] = (float)(shape->size[k] - 1.001);
        g.last[k] = (int32_t)shape->size[k] - 2;
    }
    return g;
}

/* Index of a cell's first corner. */
PL_INLINE size_t corner_of(const grid* g, const int32_t cell[3])
{
    return (size_t)cell[0] + (size_t)cell[1] * g->dy + (size_t)cell[2] * g->dz;
}

/* Eight points on the grid. */
typedef struct points
{
    float along[3][8]; /* in cells */
    float beyond[8];   /* distance outside the grid */
    float distance[8]; /* looked-up distance from the rest shape */
} points;

PL_INLINE void place_points(const grid* g, lanes3 at, points* out)
{
    const vf zero = vf_set1(0), per_cell = vf_set1(g->per_cell), p[3] = {at.x, at.y, at.z};
    vf beyond = zero;
    for (int k = 0; k < 3; ++k)
    {
        vf here = vf_mul(vf_sub(p[k], vf_set1(g->lower[k])), per_cell);
        vf inside = vf_min(vf_max(here, zero), vf_set1(g->most[k]));
        vf over = vf_sub(here, inside);
        beyond = vf_mad(beyond, over, over);
        vf_store(out->along[k], inside);
    }
    vf_store(out->beyond, vf_div(vf_sqrt(beyond), per_cell));
    vf_store(out->distance, zero);
}

PL_INLINE void cell_of(const grid* g, const points* p, uint32_t lane, int32_t cell[3])
{
    for (int k = 0; k < 3; ++k)
    {
        const int32_t n = (int32_t)p->along[k][lane];
        cell[k] = n < g->last[k] ? n : g->last[k];
    }
}

/* Prefetches a lookup. */
PL_INLINE void fetch(const grid* g, const points* p, uint32_t lane)
{
    int32_t cell[3];
    cell_of(g, p, lane, cell);
    const float* d = g->distance + corner_of(g, cell);
    __builtin_prefetch(d);
    __builtin_prefetch(d + g->dy);
    __builtin_prefetch(d + g->dz);
    __builtin_prefetch(d + g->dz + g->dy);
}

/* Trilinear interpolation, one lane at a time: a gather of scattered memory is no faster. */
PL_INLINE void look_up(const grid* g, points* p, uint32_t lane)
{
    int32_t cell[3];
    float f[3];
    cell_of(g, p, lane, cell);
    for (int k = 0; k < 3; ++k)
        f[k] = p->along[k][lane] - (float)cell[k];
    const size_t dy = g->dy;
    const float* d = g->distance + corner_of(g, cell);
    const float a = between(between(d[0], d[1], f[0]), between(d[dy], d[dy + 1], f[0]), f[1]);
    d += g->dz;
    const float b = between(between(d[0], d[1], f[0]), between(d[dy], d[dy + 1], f[0]), f[1]);
    p->distance[lane] = between(a, b, f[2]);
}

/* Distances from the rest shape (rest_query.h). */
PL_INLINE vf distances(const points* p)
{
    return vf_add(vf_load(p->distance), vf_load(p->beyond));
}

/* Eight particles in a cluster's rest space. */
typedef struct view
{
    vm on;          /* lanes that survive */
    lanes3 to, way; /* rest position of the end, and the path to it */
    lanes3 off;     /* from the ball's centre, in its own rest space */
    vf length;      /* of the way */
    vf slack, slack_own;
    vf nearest; /* least distance of the path from the ball's centre */
} view;

/* Own piece: lanes that only meet the material around them. */
PL_INLINE vm sees_itself(const pl_cull_job* job, const pl_cull_target* t, uint32_t i, float apart,
                         const view* v)
{
    lanes3 end = sub3(v->to, load3(job->rest, i)), start = sub3(end, v->way);
    if (!t->plain)
        end = turn3(t->own, end), start = turn3(t->own, start);
    vf most = vf_max(length3(end), length3(start));
    return vf_le(vf_add(most, v->slack_own), vf_set1(apart));
}

PL_INLINE view view_of(const pl_cull_job* job, uint32_t place, uint32_t i)
{
    const pl_cull_target* t = &job->targets[job->list[place]];
    const lanes3 x = load3(job->x, i), v = load3(job->v, i);
    const vf zero = vf_set1(0), dt = vf_set1(job->dt);
    view w;
    const lanes3 d = sub3(x, bcast3(t->x));
    w.to = add3(bcast3(t->rest), turn3(t->inverse, d));
    const lanes3 arm = sub3(mad3(x, v, vf_neg(dt)), bcast3(t->pivot));
    const lanes3 relative = sub3(v, add3(bcast3(t->v), cross3(bcast3(t->spin), arm)));
    w.way = scale3(turn3(t->inverse, relative), dt);
    w.length = length3(w.way);
    const vf more = vf_mul(sum_abs(v), vf_set1(t->slack_way));
    w.slack = vf_add(vf_set1(t->slack), more);
    w.slack_own = vf_mad(vf_set1(t->slack_own), more, vf_set1(t->slack_own / t->slack));
    lanes3 step = w.way;
    w.off = sub3(w.to, bcast3(t->centre));
    if (!t->plain)
        w.off = turn3(t->own, w.off), step = turn3(t->own, w.way);
    /* closest point of the path to the centre */
    vf share = vf_div(dot3(w.off, step), dot3(step, step));
    share = vf_min(vf_max(share, zero), vf_set1(1));
    w.nearest = vf_sub(length3(mad3(w.off, step, vf_neg(share))), w.slack_own);
    w.on = vm_and(passes(job, t, x, v), vf_le(w.nearest, vf_set1(t->radius)));
    if (job->apart && !job->cut)
        w.on = vm_andnot(sees_itself(job, t, i, job->apart[place], &w), w.on);
    return w;
}

/* Lookups in flight for eight particles. */
typedef struct look_up_of
{
    view w;
    points end, start;
} look_up_of;

/* Lower bounds of the ranks of eight particles. */
PL_INLINE void rank_eight(const pl_cull_job* job, const pl_cull_hit* one, const look_up_of* l)
{
    const uint32_t i = one->first;
    const view* w = &l->w;
    const pl_cull_target* t = &job->targets[job->list[one->place]];
    const vf spacing = vf_set1((float)job->shape->spacing), keep = vf_load(job->keep + i);
    const vf fast_from = vf_mul(spacing, vf_set1((float)PL_SDF_FAST)), yes = vf_set1(1);
    const vm fast = vf_lt(fast_from, vf_add(w->length, w->slack));
    /* for slow particles one possible contact is enough */
    const vm known = vm_andnot(fast, vf_le(yes, vf_load(job->near + i)));
    const vf end = vf_sub(distances(&l->end), w->slack);
    const vf reach = vf_mad(vf_add(w->length, keep), spacing, vf_set1((float)PL_CONTACT_NEARNESS));
    const vm close = vm_and(w->on, vm_or(vf_le(end, reach), known));
    vm enters = vm_and(close, fast);
    if (!job->cut) /* not if it starts inside */
        enters = vm_and(enters, vf_lt(keep, vf_add(distances(&l->start), w->slack)));
    vf nearest = vf_select(close, w->nearest, vf_sub(length3(w->off), w->slack_own));
    vf rank = vf_div(nearest, vf_set1(t->radius));
    rank = vf_sub(rank, vf_keep(enters, vf_set1((float)PL_SDF_ENTERS)));
    /* the exact rank is rounded too */
    vf_store(job->least + (size_t)one->row * job->count + i,
             vf_select(w->on, vf_sub(rank, vf_set1(1e-6f)), vf_set1(INFINITY)));
    vf_store(job->near + i, vf_select(close, yes, vf_load(job->near + i)));
}

/* Lists the active lanes first: the lookup loops then have no unpredictable inner length, and their
 * cache misses overlap. */
static void rank_eights(const pl_cull_job* job, const grid* g, const pl_cull_hit* ones,
                        uint32_t count)
{
    look_up_of l[TOGETHER];
    uint32_t lanes[8 * TOGETHER + 1], lane_count = 0;
    for (uint32_t n = 0; n < count; ++n)
    {
        l[n].w = view_of(job, ones[n].place, ones[n].first);
        place_points(g, l[n].w.to, &l[n].end);
        place_points(g, sub3(l[n].w.to, l[n].w.way), &l[n].start);
        for (uint32_t lane = 0; lane < 8; ++lane)
        {
            lanes[lane_count] = 8 * n + lane;
            lane_count += ones[n].bits >> lane & 1;
        }
    }
    for (uint32_t i = 0; i < lane_count; ++i)
    {
        fetch(g, &l[lanes[i] / 8].end, lanes[i] % 8);
        fetch(g, &l[lanes[i] / 8].start, lanes[i] % 8);
    }
    for (uint32_t i = 0; i < lane_count; ++i)
    {
        look_up(g, &l[lanes[i] / 8].end, lanes[i] % 8);
        look_up(g, &l[lanes[i] / 8].start, lanes[i] % 8);
    }
    for (uint32_t n = 0; n < count; ++n)
        rank_eight(job, &ones[n], &l[n]);
}

/* First pass: survivors by AABB and ball, written branch-free and overwritten if culled. Second
 * pass: their ranks. */
static uint32_t cull(const pl_cull_job* job)
{
    uint32_t shown = 0, count = 0;
    for (uint32_t n = 0; n < job->list_count; ++n)
    {
        unsigned any = 0;
        for (uint32_t i = 0; i < job->count; i += 8)
        {
            const unsigned bits = vm_bits(view_of(job, n, i).on);
            vf_store(job->least + (size_t)shown * job->count + i, vf_set1(INFINITY));
            job->ones[count] = (pl_cull_hit){n, shown, i, bits};
            count += bits != 0;
            any |= bits;
        }
        job->shown[shown] = job->list[n];
        shown += any != 0;
    }
    const grid g = grid_of(job->shape);
    for (uint32_t n = 0; n < count; n += TOGETHER)
        rank_eights(job, &g, job->ones + n, count - n < TOGETHER ? count - n : TOGETHER);
    return shown;
}

extern const pl_cull_kernels PL_K(pl_cull_kernels);
const pl_cull_kernels PL_K(pl_cull_kernels) = {cull};
