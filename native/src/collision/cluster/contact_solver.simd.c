// SPDX-License-Identifier: GPL-3.0-or-later
/* Kernels over the members of touched clusters, eight at a time (contact_solver.h). Rows are summed
 * as in dynamics/gather.h, without horizontal sums. */
#include "collision/cluster/contact_solver.h"

#include "base/simd_vec3.h"

enum
{
    AHEAD = 4 /* prefetch distance, in blocks */
};

/* Positions at the start of the substep, relative to the chunk's pos_origin. */
PL_INLINE lanes3 starts(const pl_contact_chunk_job* job, uint32_t slot, lanes3 v)
{
    const pl_particles* p = &job->body->particles;
    const float* const x[3] = {p->x[0], p->x[1], p->x[2]};
    return mad3(sub3(load3(x, slot), bcast3(job->chunk->pos_origin)), v, vf_set1(-job->dt));
}

PL_INLINE lanes3 velocities(const pl_contact_chunk_job* job, uint32_t slot)
{
    const pl_particles* p = &job->body->particles;
    const float* const v[3] = {p->v[0], p->v[1], p->v[2]};
    return load3(v, slot);
}

PL_INLINE void store3(float* const p[3], uint32_t i, lanes3 a)
{
    vf_store(p[0] + i, a.x), vf_store(p[1] + i, a.y), vf_store(p[2] + i, a.z);
}

/* m / n, where n is the sum of a particle's kernel values. */
PL_INLINE vf masses(const pl_contact_chunk_job* job, uint32_t slot)
{
    const pl_particles* p = &job->body->particles;
    return vf_mul(vf_load(p->mass + slot), vf_load(p->norm + slot));
}

/* Adds f, a row of eight floats per particle, to the sums of its clusters, times w. */
PL_APART void add_rows(const pl_contact_chunk_job* job, const pl_contact_chunk_block* block,
                       const vf f[8], uint32_t stride, uint32_t offset)
{
    const vf f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3], f4 = f[4], f5 = f[5], f6 = f[6], f7 = f[7];
    for (size_t i = block->begin; i < block->end; ++i)
    {
        const pl_contact_chunk_entry* e = &job->entries[i];
        const float* w = job->weights + 8 * i;
        float* row = job->sums + (size_t)stride * e->row + offset;
        vf a = vf_mad(vf_mul(vf_bcast(w), f0), vf_bcast(w + 1), f1);
        vf b = vf_mad(vf_mul(vf_bcast(w + 2), f2), vf_bcast(w + 3), f3);
        vf c = vf_mad(vf_mul(vf_bcast(w + 4), f4), vf_bcast(w + 5), f5);
        vf d = vf_mad(vf_mul(vf_bcast(w + 6), f6), vf_bcast(w + 7), f7);
        vf_store(row, vf_add(vf_load(row), vf_add(vf_add(a, b), vf_add(c, d))));
    }
}

/* Prefetches a coming block. */
PL_INLINE void fetch_particles(const pl_contact_chunk_job* job, uint32_t n)
{
    if (n >= job->block_count)
        return;
    const pl_particles* p = &job->body->particles;
    uint32_t slot = job->chunk->slot_begin + 8 * job->blocks[n].block;
    for (int k = 0; k < 3; ++k)
    {
        __builtin_prefetch(p->x[k] + slot);
        __builtin_prefetch(p->v[k] + slot);
    }
    __builtin_prefetch(p->mass + slot);
    __builtin_prefetch(p->norm + slot);
}

PL_INLINE void fetch_weights(const pl_contact_chunk_job* job, uint32_t n)
{
    if (n >= job->block_count)
        return;
    for (size_t i = job->blocks[n].begin; i < job->blocks[n].end; ++i)
        __builtin_prefetch(job->chunk->entry_kernel + (size_t)8 * job->entries[i].entry);
}

static void weigh(const pl_contact_chunk_job* job)
{
    for (uint32_t n = 0; n < job->block_count; ++n)
    {
        fetch_particles(job, n + AHEAD);
        fetch_weights(job, n + AHEAD);
        const pl_contact_chunk_block* block = &job->blocks[n];
        uint32_t slot = job->chunk->slot_begin + 8 * block->block;
        float* member = job->members + (size_t)PL_MEMBER_FLOATS * n;
        float* const places[3] = {member, member + 8, member + 16};
        lanes3 v = velocities(job, slot), x = starts(job, slot, v);
        vf m = masses(job, slot);
        store3(places, PL_MEMBER_X, x);
        vf_store(member + PL_MEMBER_NORM, vf_load(job->body->particles.norm + slot));
        vf_store(member + PL_MEMBER_MASS, m);
        if (block->begin == block->end)
            continue;
        for (size_t i = block->begin; i < block->end; ++i)
            vf_store(job->weights + 8 * i,
                     vf_load(job->chunk->entry_kernel + (size_t)8 * job->entries[i].entry));
        lanes3 mx = scale3(x, m), mv = scale3(v, m), spin = cross3(x, mv);
        vf one[8] = {m,
                     mx.x,
                     mx.y,
                     mx.z,
                     vf_mul(mx.x, x.x),
                     vf_mul(mx.y, x.y),
                     vf_mul(mx.z, x.z),
                     vf_mul(mx.x, x.y)};
        vf two[8] = {
            vf_mul(mx.y, x.z), vf_mul(mx.z, x.x), mv.x, mv.y, mv.z, spin.x, spin.y, spin.z};
        vf_transpose(one);
        vf_transpose(two);
        add_rows(job, block, one, PL_BODY_SUM_FLOATS, 0);
        add_rows(job, block, two, PL_BODY_SUM_FLOATS, 8);
    }
}

/* Sums of w times the rows of a block's touched clusters, by lane. */
PL_APART void blend(const pl_contact_chunk_job* job, const pl_contact_chunk_block* block, vf out[6])
{
    const vf zero = vf_set1(0);
    vf a = zero, b = zero, c = zero, d = zero, e = zero, f = zero;
    for (size_t i = block->begin; i < block->end; ++i)
    {
        const pl_contact_chunk_entry* entry = &job->entries[i];
        const float* row = job->rows + (size_t)PL_BODY_CHANGE_FLOATS * entry->row;
        vf w = vf_load(job->weights + 8 * i);
        a = vf_mad(a, w, vf_bcast(row));
        b = vf_mad(b, w, vf_bcast(row + 1));
        c = vf_mad(c, w, vf_bcast(row + 2));
        d = vf_mad(d, w, vf_bcast(row + 3));
        e = vf_mad(e, w, vf_bcast(row + 4));
        f = vf_mad(f, w, vf_bcast(row + 5));
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d, out[4] = e, out[5] = f;
}

static void move(const pl_contact_chunk_job* job)
{
    const float* const fresh[3] = {job->fresh[0], job->fresh[1], job->fresh[2]};
    const float* const total[3] = {job->total[0], job->total[1], job->total[2]};
    const vf zero = vf_set1(0);
    for (uint32_t n = 0; n < job->block_count; ++n)
    {
        const pl_contact_chunk_block* block = &job->blocks[n];
        uint32_t slot = job->chunk->slot_begin + 8 * block->block;
        const float* member = job->members + (size_t)PL_MEMBER_FLOATS * n;
        const float* const places[3] = {member, member + 8, member + 16};
        const lanes3 x = load3(places, PL_MEMBER_X);
        vf sums[6];
        blend(job, block, sums);
        lanes3 shift = {sums[0], sums[1], sums[2]}, spin = {sums[3], sums[4], sums[5]};
        lanes3 dv = scale3(add3(shift, cross3(spin, x)), vf_load(member + PL_MEMBER_NORM));
        if (job->held)
        {
            vm held = vf_le(vf_set1(PLIANT_PIN_HELD), vf_load(job->held + slot));
            dv = select3(held, (lanes3){zero, zero, zero}, dv);
        }
        if (block->touches)
        {
            dv = add3(dv, load3(fresh, slot));
            store3(job->fresh, slot, (lanes3){zero, zero, zero});
        }
        store3(job->total, slot, add3(load3(total, slot), dv));
        if (block->begin == block->end)
            continue;
        lanes3 p = scale3(dv, vf_load(member + PL_MEMBER_MASS)), moment = cross3(x, p);
        vf rows[8] = {p.x, p.y, p.z, moment.x, moment.y, moment.z, zero, zero};
        vf_transpose(rows);
        add_rows(job, block, rows, PL_BODY_CHANGE_FLOATS, 0);
    }
}

static void apply(const pl_contact_chunk_job* job)
{
    const pl_particles* p = &job->body->particles;
    const float* const total[3] = {job->total[0], job->total[1], job->total[2]};
    const float* const at[3] = {p->x[0], p->x[1], p->x[2]};
    const vf zero = vf_set1(0), dt = vf_set1(job->dt);
    for (uint32_t n = 0; n < job->block_count; ++n)
    {
        fetch_particles(job, n + AHEAD);
        uint32_t slot = job->chunk->slot_begin + 8 * job->blocks[n].block;
        lanes3 dv = load3(total, slot);
        store3(p->v, slot, add3(velocities(job, slot), dv));
        store3(p->x, slot, mad3(load3(at, slot), dv, dt));
        store3(job->total, slot, (lanes3){zero, zero, zero});
    }
}

extern const pl_contact_solver_kernels PL_K(pl_contact_solver_kernels);
const pl_contact_solver_kernels PL_K(pl_contact_solver_kernels) = {weigh, move, apply};
