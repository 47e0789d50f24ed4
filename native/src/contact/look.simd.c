// SPDX-License-Identifier: GPL-3.0-or-later
/* What particles may come to with a cluster, eight at a time: see look.h. The rules are those of
 * sight.c, each taken so far by what rounding may have changed that nothing is left out which
 * counts there. */
#include "look.h"

#include "lanes3.h"
#include "sight.h"

PL_INLINE lanes3 turn3(const float* m, lanes3 a)
{
    return (lanes3){dot3(bcast3(m), a), dot3(bcast3(m + 3), a), dot3(bcast3(m + 6), a)};
}

PL_INLINE vf length3(lanes3 a)
{
    return vf_sqrt(dot3(a, a));
}

/* Where the particles and the target's bounds meet. */
PL_INLINE vm passes(const pl_look_job* job, lanes3 end, lanes3 v)
{
    const pl_look_target* t = job->target;
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

/* Trilinear: what is looked up lies scattered in memory, and a lane at a time takes no longer. */
PL_INLINE float distance_in(const pl_rest_shape* shape, const float inside[3])
{
    float f[3];
    size_t cell[3];
    for (int k = 0; k < 3; ++k)
    {
        const int32_t n = (int32_t)inside[k], last = (int32_t)shape->size[k] - 2;
        cell[k] = (size_t)(n < last ? n : last);
        f[k] = inside[k] - (float)(n < last ? n : last);
    }
    const size_t dy = shape->size[0], dz = dy * shape->size[1];
    const float* d = shape->distance + cell[0] + cell[1] * dy + cell[2] * dz;
    const float a = between(between(d[0], d[1], f[0]), between(d[dy], d[dy + 1], f[0]), f[1]);
    d += dz;
    const float b = between(between(d[0], d[1], f[0]), between(d[dy], d[dy + 1], f[0]), f[1]);
    return between(a, b, f[2]);
}

/* Distances from the rest shape (state_rest.h) of those lanes that have a bit. */
PL_APART vf distances(const pl_rest_shape* shape, lanes3 at, unsigned bits)
{
    float along[3][8], distance[8];
    vf beyond = vf_set1(0);
    const vf per_cell = vf_set1((float)shape->per_cell);
    const vf p[3] = {at.x, at.y, at.z};
    vf_store(distance, beyond);
    for (int k = 0; k < 3; ++k)
    {
        vf here = vf_mul(vf_sub(p[k], vf_set1((float)shape->lower[k])), per_cell);
        vf inside = vf_min(vf_max(here, vf_set1(0)), vf_set1((float)(shape->size[k] - 1.001)));
        vf over = vf_sub(here, inside);
        beyond = vf_mad(beyond, over, over);
        vf_store(along[k], inside);
    }
    for (; bits; bits &= bits - 1)
    {
        const int i = __builtin_ctz(bits);
        const float inside[3] = {along[0][i], along[1][i], along[2][i]};
        distance[i] = distance_in(shape, inside);
    }
    return vf_add(vf_load(distance), vf_div(vf_sqrt(beyond), per_cell));
}

/* One of the particle's own piece, where it sees nothing but the material around it. */
PL_INLINE vm sees_itself(const pl_look_job* job, uint32_t i, lanes3 to, lanes3 way, vf slack)
{
    const pl_look_target* t = job->target;
    lanes3 end = sub3(to, load3(job->rest, i)), start = sub3(end, way);
    if (!t->plain)
        end = turn3(t->own, end), start = turn3(t->own, start);
    vf most = vf_max(length3(end), length3(start));
    return vf_le(vf_add(most, slack), vf_set1(job->apart));
}

/* Eight of them, from i on: the lanes that something may come of. */
PL_INLINE unsigned look_at(const pl_look_job* job, uint32_t i, float* least, uint8_t* near)
{
    const pl_look_target* t = job->target;
    const lanes3 x = load3(job->x, i), v = load3(job->v, i);
    const vf none_of_it = vf_set1(INFINITY), zero = vf_set1(0), dt = vf_set1(job->dt);
    vm on = passes(job, x, v);
    vf_store(least, none_of_it);
    if (!vm_bits(on))
        return 0;
    const lanes3 d = sub3(x, bcast3(t->x));
    const lanes3 to = add3(bcast3(t->rest), turn3(t->inverse, d));
    const lanes3 arm = sub3(mad3(x, v, vf_neg(dt)), bcast3(t->pivot));
    const lanes3 relative = sub3(v, add3(bcast3(t->v), cross3(bcast3(t->spin), arm)));
    const lanes3 way = scale3(turn3(t->inverse, relative), dt);
    const vf length = length3(way), more = vf_mul(sum_abs(v), vf_set1(t->slack_way));
    const vf slack = vf_add(vf_set1(t->slack), more);
    const vf slack_own = vf_mad(vf_set1(t->slack_own), more, vf_set1(t->slack_own / t->slack));
    lanes3 off = sub3(to, bcast3(t->centre)), step = way;
    if (!t->plain)
        off = turn3(t->own, off), step = turn3(t->own, way);
    /* the point of the path that is nearest to the middle */
    vf share = vf_div(dot3(off, step), dot3(step, step));
    share = vf_min(vf_max(share, zero), vf_set1(1));
    vf nearest = vf_sub(length3(mad3(off, step, vf_neg(share))), slack_own);
    on = vm_and(on, vf_le(nearest, vf_set1(t->radius)));
    if (job->apart >= 0 && !job->cut)
        on = vm_andnot(sees_itself(job, i, to, way, slack_own), on);
    unsigned bits = vm_bits(on);
    if (!bits)
        return 0;
    const vf spacing = vf_set1((float)job->shape->spacing), keep = vf_load(job->keep + i);
    const vf fast_from = vf_mul(spacing, vf_set1((float)PL_SIGHT_FAST));
    const vm fast = vf_lt(fast_from, vf_add(length, slack));
    /* of slow ones it is enough to know that they may touch something */
    const unsigned unknown = bits & (vm_bits(fast) | ~(unsigned)*near);
    vm close = on, enters = none();
    if (unknown)
    {
        const vf end = vf_sub(distances(job->shape, to, unknown), slack);
        const vf reach = vf_mad(vf_add(length, keep), spacing, vf_set1((float)PL_CONTACT_NEARNESS));
        close = vm_and(on, vm_or(vf_le(end, reach), lanes_of(bits & ~unknown)));
        enters = vm_and(close, fast);
    }
    if (vm_bits(enters) && !job->cut)
    {
        /* not what is inside from the start on */
        vf start = distances(job->shape, sub3(to, way), vm_bits(enters));
        enters = vm_and(enters, vf_lt(keep, vf_add(start, slack)));
    }
    nearest = vf_select(close, nearest, vf_sub(length3(off), slack_own));
    vf rank = vf_div(nearest, vf_set1(t->radius));
    rank = vf_sub(rank, vf_keep(enters, vf_set1((float)PL_SIGHT_ENTERS)));
    /* a rank of its own is rounded, too */
    vf_store(least, vf_select(on, vf_sub(rank, vf_set1(1e-6f)), none_of_it));
    *near |= (uint8_t)vm_bits(close);
    return bits;
}

static bool look(const pl_look_job* job)
{
    unsigned any = 0;
    for (uint32_t i = 0; i < job->count; i += 8)
        any |= look_at(job, i, job->least + i, job->near + i / 8);
    return any != 0;
}

extern const pl_look_kernels PL_K(pl_look_kernels);
const pl_look_kernels PL_K(pl_look_kernels) = {look};
