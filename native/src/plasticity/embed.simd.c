// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The embedding's iterations (embed.h): strain limiting with gamma 0 and omega 1 (Bargteil and
 * Jones 2014), as the paper has it. Each iteration fits every cluster to its members, then moves
 * every particle to the weighted mean of its goals. Both halves minimise (3.5) over their own
 * unknowns, so the sum never grows. This needs the least-squares rotation, of the moment
 * sum m w e q^T, not the rotation of the deformation gradient.
 */
#include "plasticity/embed.h"

#include "dynamics/kernels.h"
#include "dynamics/rotation.h"

static void sum_moments(const pl_embedding* job)
{
    for (uint32_t r = 0; r < job->row_count; ++r)
        memset(job->row[r], 0, sizeof(float) * PL_EMBED_MASS);
    for (uint32_t b = 0; b < job->block_count; ++b)
    {
        const float* at = job->place + (size_t)24 * b;
        const vf e[3] = {vf_load(at), vf_load(at + 8), vf_load(at + 16)};
        for (uint32_t n = job->block_begin[b]; n < job->block_begin[b + 1]; ++n)
        {
            const float* q = job->entry_offset + (size_t)24 * n;
            float* row = job->row[job->entry_row[n]];
            vf w = vf_load(job->entry_weight + (size_t)8 * n);
            const vf q0 = vf_load(q), q1 = vf_load(q + 8), q2 = vf_load(q + 16), zero = vf_set1(0);
            const vf x = vf_mul(w, e[0]), y = vf_mul(w, e[1]), z = vf_mul(w, e[2]);
            const vf product[8] = {vf_mul(x, q0), vf_mul(x, q1), vf_mul(x, q2), vf_mul(y, q0),
                                   vf_mul(y, q1), vf_mul(y, q2), vf_mul(z, q0), vf_mul(z, q1)};
            const vf rest[8] = {vf_mul(z, q2), x, y, z, zero, zero, zero, zero};
            vf_store(row, vf_add(vf_load(row), vf_sums(product)));
            float more[8];
            vf_store(more, vf_sums(rest));
            for (int i = 0; i < 4; ++i)
                row[8 + i] += more[i];
        }
    }
}

/* Replaces the sums by the maps, eight rows at a time. */
static void fit_rows(const pl_embedding* job, bool turn)
{
    for (uint32_t r = 0; r < job->row_count; r += 8)
    {
        vf s[16], m[9], rotation[9];
        for (int i = 0; i < 8; ++i)
        {
            s[i] = vf_load(job->row[r + (uint32_t)i]);
            s[8 + i] = vf_load(job->row[r + (uint32_t)i] + 8);
        }
        vf_transpose(s);
        vf_transpose(s + 8);
        for (int i = 0; i < 9; ++i)
        {
            m[i] = s[i];
            rotation[i] = vf_set1(i % 4 ? 0.0f : 1.0f);
        }
        if (turn)
            pl_rotation8(m, rotation);
        vm there = vf_lt(vf_set1(0), s[PL_EMBED_MASS]);
        vf per_mass = vf_div(vf_set1(1), vf_select(there, s[PL_EMBED_MASS], vf_set1(1)));
        for (int i = 0; i < 9; ++i)
            s[i] = rotation[i];
        for (int i = 9; i < 12; ++i)
            s[i] = vf_mul(s[i], per_mass);
        vf_transpose(s);
        vf_transpose(s + 8);
        for (int i = 0; i < 8; ++i)
        {
            vf_store(job->row[r + (uint32_t)i], s[i]);
            vf_store(job->row[r + (uint32_t)i] + 8, s[8 + i]);
        }
    }
}

/* R q + e_c of an entry. */
PL_INLINE void goal_of(const pl_embedding* job, uint32_t n, vf goal[3])
{
    const float *q = job->entry_offset + (size_t)24 * n, *row = job->row[job->entry_row[n]];
    const vf q0 = vf_load(q), q1 = vf_load(q + 8), q2 = vf_load(q + 16);
    for (int i = 0; i < 3; ++i)
    {
        const float* a = row + 3 * i;
        goal[i] = vf_mad(vf_mul(vf_bcast(a), q0), vf_bcast(a + 1), q1);
        goal[i] = vf_add(vf_mad(goal[i], vf_bcast(a + 2), q2), vf_bcast(row + 9 + i));
    }
}

/* Moves each particle to the mean of its goals. Returns the sum of squared motions. */
static float move_all(const pl_embedding* job)
{
    vf moved = vf_set1(0);
    for (uint32_t b = 0; b < job->block_count; ++b)
    {
        vf sum[3] = {vf_set1(0), vf_set1(0), vf_set1(0)};
        float* at = job->place + (size_t)24 * b;
        for (uint32_t n = job->block_begin[b]; n < job->block_begin[b + 1]; ++n)
        {
            vf goal[3], w = vf_load(job->entry_weight + (size_t)8 * n);
            goal_of(job, n, goal);
            for (int i = 0; i < 3; ++i)
                sum[i] = vf_mad(sum[i], w, goal[i]);
        }
        vf per = vf_load(job->per_weight + (size_t)8 * b);
        vm there = vf_lt(vf_set1(0), per);
        for (int i = 0; i < 3; ++i)
        {
            vf old = vf_load(at + 8 * i), next = vf_select(there, vf_mul(sum[i], per), old);
            vf way = vf_sub(next, old);
            moved = vf_mad(moved, way, way);
            vf_store(at + 8 * i, next);
        }
    }
    return vf_sum(moved);
}

static double energy_of(const pl_embedding* job)
{
    double energy = 0, mass = 0;
    for (uint32_t b = 0; b < job->block_count; ++b)
    {
        const float* at = job->place + (size_t)24 * b;
        for (uint32_t n = job->block_begin[b]; n < job->block_begin[b + 1]; ++n)
        {
            vf goal[3], w = vf_load(job->entry_weight + (size_t)8 * n), square = vf_set1(0);
            goal_of(job, n, goal);
            for (int i = 0; i < 3; ++i)
            {
                vf apart = vf_sub(goal[i], vf_load(at + 8 * i));
                square = vf_mad(square, apart, apart);
            }
            energy += vf_sum(vf_mul(w, square));
            mass += vf_sum(w);
        }
    }
    return mass > 0 ? energy / mass : 0;
}

void PL_K(pl_embed)(pl_embedding* job)
{
    float first = 0, particles = 0;
    for (uint32_t i = 0; i < 8 * job->block_count; ++i)
        particles += job->per_weight[i] > 0;
    for (job->rounds = 0; job->rounds < job->most;)
    {
        sum_moments(job);
        fit_rows(job, !job->linear);
        float moved = move_all(job);
        first = job->rounds++ ? first : moved;
        if (moved <= job->share * first || moved <= job->enough * particles)
            break;
    }
    if (!job->measure)
        return;
    sum_moments(job);
    fit_rows(job, true);
    job->energy = energy_of(job);
}
