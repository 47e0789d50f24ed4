// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Lays a body out in memory (state.h has the drawing). Everything here runs once, in double; what
 * it leaves is float. The order of members within a cluster and of clusters within a block is
 * ascending, so the same input gives the same bits.
 */
#include "layout.h"

#include "../base/lapack.h"
#include "order.h"
#include "quadratic_rest.h"

#include <string.h>

/* Slots of a chunk, by the size of the body. Small chunks give every thread some and keep their
 * rows close; large ones share fewer clusters with their neighbours, and each shared one costs a
 * row. */
enum
{
    SMALL_BODY = 8000,
    LARGE_BODY = 64000,
    SMALL_CHUNK = 256,
    USUAL_CHUNK = 1024,
    LARGE_CHUNK = 4096
};

/* Particles of a cluster along a direction count as extent from this share of the longest on (14 %
 * of the width). Below it F along that direction says more of what bends the cluster than of what
 * stretches it, and turns inside out easily: with a share of .001, slightly curved sheets gained
 * energy without end. Goals keep the offsets along such directions all the same. */
static const double LEAST_EXTENT = 2e-2;

bool pl_particles_alloc(pl_particles* p, uint32_t slots, uint32_t ids)
{
    bool fine = true;
    p->slot_count = slots;
    p->id_count = ids;
    for (int k = 0; k < 3; ++k)
        fine = (p->x[k] = PL_NEW(float, slots)) && (p->v[k] = PL_NEW(float, slots)) &&
               (p->r[k] = PL_NEW(float, slots)) && fine;
    return (p->mass = PL_NEW(float, slots)) && (p->norm = PL_NEW(float, slots)) &&
           (p->quanta = PL_NEW(uint64_t, slots)) && (p->id = PL_NEW(uint32_t, slots)) &&
           (p->slot_of = PL_NEW(uint32_t, ids)) && (p->shell = PL_NEW(uint32_t, ids)) && fine;
}

static void particles_free(pl_particles* p)
{
    for (int k = 0; k < 3; ++k)
    {
        pl_free(p->x[k]);
        pl_free(p->v[k]);
        pl_free(p->r[k]);
    }
    pl_free(p->mass);
    pl_free(p->norm);
    pl_free(p->quanta);
    pl_free(p->id);
    pl_free(p->slot_of);
    pl_free(p->shell);
}

bool pl_clusters_alloc(pl_clusters* c, uint32_t count, bool quadratic)
{
    c->count = count;
/* one more than there are: kernels load four floats where a cluster has three */
#define NEED(field) ((c->field = pl_alloc((size_t)count + 1, sizeof *c->field)) != NULL)
    bool fine = NEED(centre) && NEED(radius) && NEED(rest) && NEED(mass) && NEED(arr) &&
                NEED(arr_inv) && NEED(rank) && NEED(axis) && NEED(density) && NEED(width_rms) &&
                NEED(width_max) && NEED(fade) && NEED(stiffness_factor) && NEED(damping_factor) &&
                NEED(limit_factor) && NEED(alpha) && NEED(kappa) && NEED(ref) && NEED(limit_ref) &&
                NEED(lever[0]) && NEED(lever[1]) && NEED(x) && NEED(f) && NEED(row) &&
                NEED(limit) && NEED(sums);
    if (fine && quadratic)
        fine = NEED(quad_inverse) && NEED(quad_slope) && NEED(quad_thin) && NEED(quad_row);
#undef NEED
    return fine && (c->part_begin = PL_NEW(uint32_t, (size_t)count + 1));
}

static void clusters_free(pl_clusters* c)
{
    void* arrays[] = {c->centre,
                      c->radius,
                      c->rest,
                      c->mass,
                      c->arr,
                      c->arr_inv,
                      c->rank,
                      c->axis,
                      c->density,
                      c->width_rms,
                      c->width_max,
                      c->fade,
                      c->stiffness_factor,
                      c->damping_factor,
                      c->limit_factor,
                      c->alpha,
                      c->kappa,
                      c->x,
                      c->ref,
                      c->limit_ref,
                      c->lever[0],
                      c->lever[1],
                      c->f,
                      c->row,
                      c->limit,
                      c->sums,
                      c->quad_inverse,
                      c->quad_slope,
                      c->quad_thin,
                      c->quad_row,
                      c->part_begin,
                      c->part,
                      NULL};
    for (size_t i = 0; i < PL_COUNTOF(arrays); ++i)
        pl_free(arrays[i]);
}

static void chunk_free(pl_chunk* chunk)
{
    pl_free(chunk->rows);
    pl_free(chunk->block_begin);
    pl_free(chunk->half);
    pl_free(chunk->entry_row);
    pl_free(chunk->entry_kernel);
    pl_free(chunk->own_rest);
    pl_free(chunk->sums);
    pl_free(chunk->quad_sums);
}

static void links_free(pl_links* links)
{
    pl_free(links->fine);
    pl_free(links->coarse);
    pl_free(links->u);
    pl_free(links->b);
    pl_free(links->q);
    pl_free(links->by_coarse_begin);
    pl_free(links->by_fine_begin);
    pl_free(links->by_fine);
}

void pl_body_free(pl_body* body)
{
    particles_free(&body->particles);
    for (uint32_t i = 0; body->chunks && i < body->chunk_count; ++i)
    {
        chunk_free(&body->chunks[i]);
        if (body->limit_sums)
            pl_free(body->limit_sums[i]);
    }
    pl_free(body->limit_sums);
    pl_free(body->chunks);
    clusters_free(&body->clusters);
    links_free(&body->links);
    pl_free(body->pins.frequency);
    for (int k = 0; k < 3; ++k)
    {
        pl_free(body->pins.from[k]);
        pl_free(body->pins.to[k]);
        pl_free(body->acceleration[k]);
        pl_free(body->force[k]);
        pl_free(body->shift[k]);
    }
    pl_free(body->mesh_vertices);
    pl_free(body->mesh_triangles);
    pl_free(body->warning_text);
    memset(body, 0, sizeof *body);
}

/* ------------------------------------------------------------------ memberships by particle */

/* Memberships of each particle, clusters ascending, over the levels that hold particles. */
typedef struct by_particle
{
    uint32_t* begin; /* count + 1 */
    uint32_t* cluster;
    float* kernel;
} by_particle;

static void by_particle_free(by_particle* lists)
{
    pl_free(lists->begin);
    pl_free(lists->cluster);
    pl_free(lists->kernel);
}

static uint32_t particle_levels(const pl_body* body)
{
    return body->level_kind == PLIANT_LEVELS_NESTED ? 1 : body->level_count;
}

static pl_status list_by_particle(const pl_body* body, uint32_t count, const pl_hierarchy* h,
                                  by_particle* lists)
{
    uint64_t total = 0;
    for (uint32_t l = 0; l < particle_levels(body); ++l)
        total += h->level[l].begin[h->level[l].count];
    lists->begin = PL_NEW(uint32_t, (size_t)count + 2);
    lists->cluster = PL_NEW(uint32_t, total);
    lists->kernel = PL_NEW(float, total);
    if (!lists->begin || !lists->cluster || !lists->kernel)
        return pl_fail_memory(total * 8);
    for (uint32_t l = 0; l < particle_levels(body); ++l)
        for (uint32_t m = 0; m < h->level[l].begin[h->level[l].count]; ++m)
            ++lists->begin[h->level[l].particle[m] + 2];
    for (uint32_t i = 0; i < count; ++i)
        lists->begin[i + 2] += lists->begin[i + 1];
    for (uint32_t l = 0; l < particle_levels(body); ++l)
        for (uint32_t c = 0; c < h->level[l].count; ++c)
            for (uint32_t m = h->level[l].begin[c]; m < h->level[l].begin[c + 1]; ++m)
            {
                uint32_t at = lists->begin[h->level[l].particle[m] + 1]++;
                lists->cluster[at] = body->level_begin[l] + c;
                lists->kernel[at] = h->level[l].kernel[m];
            }
    /* Kernel values are kept to a sum of 1 for each particle and level: only their ratios count,
     * and independent levels are normalised by this alone. */
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t l = 0; l < particle_levels(body); ++l)
        {
            double sum = 0;
            for (uint32_t m = lists->begin[i]; m < lists->begin[i + 1]; ++m)
                if (lists->cluster[m] >= body->level_begin[l] &&
                    lists->cluster[m] < body->level_begin[l + 1])
                    sum += lists->kernel[m];
            for (uint32_t m = lists->begin[i]; m < lists->begin[i + 1]; ++m)
                if (lists->cluster[m] >= body->level_begin[l] &&
                    lists->cluster[m] < body->level_begin[l + 1])
                    lists->kernel[m] = (float)(lists->kernel[m] / sum);
        }
    return PLIANT_OK;
}

/* Whether any of four lanes is a member. */
static bool has_any(const float* kernel)
{
    return kernel[0] != 0 || kernel[1] != 0 || kernel[2] != 0 || kernel[3] != 0;
}

/* Merges the ascending cluster lists of a block's lanes: each cluster once, ascending. */
static uint32_t merge_entries(const uint32_t ids[8], const by_particle* lists, uint32_t* clusters,
                              float (*kernels)[8])
{
    uint32_t at[8], end[8], count = 0;
    for (int lane = 0; lane < 8; ++lane)
    {
        uint32_t id = ids[lane];
        at[lane] = id == PL_NO_PARTICLE ? 0 : lists->begin[id];
        end[lane] = id == PL_NO_PARTICLE ? 0 : lists->begin[id + 1];
    }
    for (;;)
    {
        uint32_t next = UINT32_MAX;
        for (int lane = 0; lane < 8; ++lane)
            if (at[lane] < end[lane])
                next = PL_MIN(next, lists->cluster[at[lane]]);
        if (next == UINT32_MAX)
            return count;
        if (clusters)
            clusters[count] = next;
        for (int lane = 0; lane < 8; ++lane)
        {
            bool member = at[lane] < end[lane] && lists->cluster[at[lane]] == next;
            if (kernels)
                kernels[count][lane] = member ? lists->kernel[at[lane]] : 0.0f;
            at[lane] += member;
        }
        ++count;
    }
}

/* How many entries a block has, and how many its first half has: what loops over them count to. */
static uint32_t block_key(const uint32_t ids[8], const by_particle* lists)
{
    uint32_t half[8] = {ids[0],         ids[1],         ids[2],         ids[3],
                        PL_NO_PARTICLE, PL_NO_PARTICLE, PL_NO_PARTICLE, PL_NO_PARTICLE};
    return merge_entries(ids, lists, NULL, NULL) << 16 | merge_entries(half, lists, NULL, NULL);
}

/* Puts a chunk's whole blocks in the order of their numbers of entries: a loop that counts as far
 * as the one before is one that the processor foresees. */
static void sort_blocks(uint32_t* order, uint32_t used, const by_particle* lists)
{
    uint32_t key[LARGE_CHUNK / 8];
    for (uint32_t b = 0; b < used / 8; ++b)
    {
        uint32_t ids[8], at = b, mine = block_key(order + 8 * b, lists);
        memcpy(ids, order + 8 * b, sizeof ids);
        for (; at > 0 && key[at - 1] > mine; --at)
        {
            key[at] = key[at - 1];
            memcpy(order + 8 * at, order + 8 * (at - 1), sizeof ids);
        }
        key[at] = mine;
        memcpy(order + 8 * at, ids, sizeof ids);
    }
}

/* ------------------------------------------------------------------ particles */

static pl_status place_particles(pl_body* body, const pl_layout_input* in, const by_particle* lists)
{
    uint32_t slots_per_chunk = in->count <= SMALL_BODY   ? SMALL_CHUNK
                               : in->count <= LARGE_BODY ? USUAL_CHUNK
                                                         : LARGE_CHUNK;
    uint32_t fill = slots_per_chunk * 4 / 5 / 8 * 8;
    uint32_t chunks = (in->count + fill - 1) / fill;
    pl_particles* p = &body->particles;
    uint32_t* order = PL_NEW(uint32_t, in->count);
    body->chunks = PL_NEW(pl_chunk, chunks);
    if (!order || !body->chunks || !pl_particles_alloc(p, chunks * slots_per_chunk, in->count))
    {
        pl_free(order);
        return pl_fail_memory((size_t)in->count * 64);
    }
    body->chunk_count = chunks;
    for (uint32_t i = 0; i < in->count; ++i)
        order[i] = i;
    pl_order_kd(in->count, in->points, fill, order);

    double mass = 0;
    for (uint32_t i = 0; i < in->count; ++i)
        mass += in->volumes[i] * in->density[i];
    body->mass_quantum = mass / 1099511627776.0; /* 2^-40 of the body */
    p->count = in->count;
    memset(p->id, 0xff, p->slot_count * sizeof *p->id);
    for (uint32_t c = 0; c < chunks; ++c)
    {
        pl_chunk* chunk = &body->chunks[c];
        uint32_t first = c * fill, used = PL_MIN(fill, in->count - first);
        sort_blocks(order + first, used, lists);
        chunk->slot_begin = c * slots_per_chunk;
        chunk->slot_count = slots_per_chunk;
        chunk->block_count = (used + 7) / 8;
        chunk->moved = 1;
        vec3 centre = v3(0, 0, 0);
        for (uint32_t i = 0; i < used; ++i)
            centre = v3_mad(centre, in->points[order[first + i]], 1.0 / used);
        v3_store(centre, chunk->rest_origin);
        vec3 origin = v3_from(chunk->rest_origin);
        double nearest = 0;
        for (uint32_t i = 0; i < slots_per_chunk; ++i)
        {
            uint32_t slot = chunk->slot_begin + i, id = order[first + PL_MIN(i, used - 1)];
            float r[3], x[3];
            v3_store(v3_sub(in->points[id], origin), r);
            v3_store(
                v3_sub(v3_add(in->points[id], v3_fromd(body->rest_origin)), v3_fromd(body->origin)),
                x);
            for (int k = 0; k < 3; ++k)
                p->r[k][slot] = r[k], p->x[k][slot] = x[k];
            if (i >= used)
                continue;
            double distance = v3_length(v3_sub(in->points[id], origin));
            if (i == 0 || distance < nearest)
            {
                nearest = distance;
                chunk->middle_slot = slot;
                memcpy(chunk->pos_origin, x, sizeof x);
            }
            double quanta = in->volumes[id] * in->density[id] / body->mass_quantum;
            p->quanta[slot] = quanta >= 1 ? (uint64_t)(quanta + .5) : 1;
            p->mass[slot] = (float)((double)p->quanta[slot] * body->mass_quantum);
            p->id[slot] = id;
            p->slot_of[id] = slot;
            p->shell[id] = in->shell ? in->shell[id] : 0;
        }
    }
    pl_free(order);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ chunks */

/* Whether an entry belongs to the first half alone (0), to both (1) or to the last alone (2). */
static int side_of(const float kernel[8])
{
    return !has_any(kernel + 4) ? 0 : has_any(kernel) ? 1 : 2;
}

/* A block's entries, those of its first half alone first and those of its last half alone last. */
static uint32_t block_entries(const pl_particles* p, const by_particle* lists, uint32_t slot,
                              uint32_t* clusters, float (*kernels)[8])
{
    uint32_t count = merge_entries(p->id + slot, lists, clusters, kernels);
    for (uint32_t i = 1; clusters && i < count; ++i) /* inserted one by one: equals keep order */
    {
        uint32_t cluster = clusters[i], at = i;
        float kernel[8];
        memcpy(kernel, kernels[i], sizeof kernel);
        for (; at > 0 && side_of(kernels[at - 1]) > side_of(kernel); --at)
        {
            clusters[at] = clusters[at - 1];
            memcpy(kernels[at], kernels[at - 1], sizeof kernel);
        }
        clusters[at] = cluster;
        memcpy(kernels[at], kernel, sizeof kernel);
    }
    return count;
}

static pl_status build_chunk(pl_body* body, pl_chunk* chunk, const by_particle* lists,
                             uint32_t* local, uint32_t* seen)
{
    const pl_particles* p = &body->particles;
    chunk->block_begin = PL_NEW(uint32_t, chunk->slot_count / 8 + 1);
    if (!chunk->block_begin)
        return pl_fail_memory(chunk->slot_count);
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
        chunk->block_begin[b + 1] =
            chunk->block_begin[b] + block_entries(p, lists, chunk->slot_begin + 8 * b, NULL, NULL);
    chunk->entry_count = chunk->block_begin[chunk->slot_count / 8];
    uint32_t* clusters = PL_NEW(uint32_t, chunk->entry_count);
    chunk->entry_row = PL_NEW(uint16_t, chunk->entry_count);
    chunk->entry_kernel = PL_NEW(float, (size_t)chunk->entry_count * 8);
    chunk->rows = PL_NEW(uint32_t, chunk->entry_count);
    if (!clusters || !chunk->entry_row || !chunk->entry_kernel || !chunk->rows)
    {
        pl_free(clusters);
        return pl_fail_memory((size_t)chunk->entry_count * 48);
    }
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
        block_entries(p, lists, chunk->slot_begin + 8 * b, clusters + chunk->block_begin[b],
                      (float(*)[8])(chunk->entry_kernel + (size_t)chunk->block_begin[b] * 8));
    for (uint32_t e = 0; e < chunk->entry_count; ++e)
    {
        uint32_t c = clusters[e];
        if (local[c] >= chunk->row_count || seen[c] != chunk->slot_begin + 1)
        {
            seen[c] = chunk->slot_begin + 1;
            local[c] = chunk->row_count;
            chunk->rows[chunk->row_count++] = c;
        }
        chunk->entry_row[e] = (uint16_t)local[c];
    }
    pl_free(clusters);
    if (chunk->row_count > UINT16_MAX)
        return pl_fail(PLIANT_ERROR_CLUSTERING,
                       "%u clusters meet in one chunk of particles: the clusters overlap too much",
                       chunk->row_count);
    chunk->rows = pl_realloc(chunk->rows, chunk->row_count, sizeof *chunk->rows);
    chunk->sums = PL_NEW(float, (size_t)chunk->row_count* PL_SUM_FLOATS);
    if (body->material.goal == PLIANT_GOAL_QUADRATIC)
        chunk->quad_sums = PL_NEW(float, (size_t)chunk->row_count* PL_QUAD_SUM_FLOATS);
    if (!chunk->rows || !chunk->sums || !pl_layout_halve(chunk) ||
        (body->material.goal == PLIANT_GOAL_QUADRATIC && !chunk->quad_sums))
        return pl_fail_memory((size_t)chunk->row_count * 192);
    return PLIANT_OK;
}

bool pl_layout_halve(pl_chunk* chunk)
{
    uint32_t blocks = chunk->slot_count / 8;
    chunk->half = pl_alloc(blocks, sizeof *chunk->half);
    for (uint32_t b = 0; chunk->half && b < blocks; ++b)
    {
        uint32_t begin = chunk->block_begin[b], end = chunk->block_begin[b + 1];
        chunk->half[b][0] = begin;
        chunk->half[b][1] = end;
        for (uint32_t e = begin; e < end; ++e)
        {
            const float* kernel = chunk->entry_kernel + (size_t)8 * e;
            if (has_any(kernel))
                chunk->half[b][0] = e + 1;
            if (has_any(kernel + 4))
                chunk->half[b][1] = PL_MIN(chunk->half[b][1], e);
        }
    }
    return chunk->half != NULL;
}

static void set_norms(pl_body* body)
{
    pl_particles* p = &body->particles;
    uint32_t finest_end = body->level_begin[1];
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        pl_chunk* chunk = &body->chunks[c];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (int lane = 0; lane < 8; ++lane)
            {
                float sum = 0;
                for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
                    if (chunk->rows[chunk->entry_row[e]] < finest_end)
                    {
                        float value = chunk->entry_kernel[8 * (size_t)e + lane];
                        sum += value * body->clusters.fade[chunk->rows[chunk->entry_row[e]]];
                        chunk->member_count += value > 0;
                    }
                p->norm[chunk->slot_begin + 8 * b + lane] = sum > 0 ? 1 / sum : 0;
            }
    }
}

static pl_status build_chunks(pl_body* body, const by_particle* lists)
{
    uint32_t* local = PL_NEW(uint32_t, body->clusters.count);
    uint32_t* seen = PL_NEW(uint32_t, body->clusters.count);
    pl_status status = local && seen ? PLIANT_OK : pl_fail_memory(body->clusters.count * 8);
    for (uint32_t c = 0; c < body->chunk_count && status == PLIANT_OK; ++c)
        status = build_chunk(body, &body->chunks[c], lists, local, seen);
    pl_free(local);
    pl_free(seen);
    if (status == PLIANT_OK)
        set_norms(body);
    return status;
}

/* Where each cluster's partial sums are, chunks ascending. */
static pl_status list_parts(pl_body* body)
{
    pl_clusters* k = &body->clusters;
    uint64_t total = 0;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        total += body->chunks[c].row_count;
    k->part = PL_NEW(pl_part, total);
    uint32_t* at = PL_NEW(uint32_t, (size_t)k->count + 1);
    if (!k->part || !at)
    {
        pl_free(at);
        return pl_fail_memory(total * sizeof(pl_part));
    }
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        for (uint32_t r = 0; r < body->chunks[c].row_count; ++r)
            ++k->part_begin[body->chunks[c].rows[r] + 1];
    for (uint32_t c = 0; c < k->count; ++c)
        k->part_begin[c + 1] += k->part_begin[c];
    memcpy(at, k->part_begin, k->count * sizeof *at);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        for (uint32_t r = 0; r < body->chunks[c].row_count; ++r)
        {
            pl_part* part = &k->part[at[body->chunks[c].rows[r]]++];
            part->chunk = c;
            part->row = r;
        }
    pl_free(at);
    return PLIANT_OK;
}

/* The rest moments of one chunk's rows, exactly as the kernels weigh them. */
static void chunk_rest_moments(const pl_chunk* chunk, const pl_particles* p, double (*sums)[4])
{
    memset(sums, 0, chunk->row_count * sizeof *sums);
    for (uint32_t b = 0; b < chunk->block_count; ++b)
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            for (uint32_t lane = 0; lane < 8; ++lane)
            {
                uint32_t slot = chunk->slot_begin + 8 * b + lane;
                float m = p->mass[slot] * p->norm[slot]; /* rounded as the kernels round it */
                double mw = (double)m * chunk->entry_kernel[8 * (size_t)e + lane];
                double* sum = sums[chunk->entry_row[e]];
                sum[0] += mw;
                for (int k = 0; k < 3; ++k)
                    sum[1 + k] += mw * p->r[k][slot];
            }
}

pl_status pl_layout_rest_moments(pl_body* body)
{
    pl_clusters* k = &body->clusters;
    uint32_t most = 0;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        most = PL_MAX(most, body->chunks[c].row_count);
    double(*sums)[4] = pl_alloc(most, sizeof *sums);
    uint32_t* at = PL_NEW(uint32_t, k->count);
    if (!sums || !at)
    {
        pl_free(sums);
        pl_free(at);
        return pl_fail_memory((size_t)most * 32);
    }
    memcpy(at, k->part_begin, k->count * sizeof *at);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        chunk_rest_moments(chunk, &body->particles, sums);
        for (uint32_t r = 0; r < chunk->row_count; ++r)
        {
            pl_part* part = &k->part[at[chunk->rows[r]]++];
            part->mass = sums[r][0];
            for (int j = 0; j < 3; ++j)
            {
                part->first[j] = sums[r][1 + j];
                part->to_rest[j] = chunk->rest_origin[j] - k->rest[chunk->rows[r]][j];
            }
        }
    }
    pl_free(sums);
    pl_free(at);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ clusters at rest */

static void store_symmetric(mat3 a, float out[6])
{
    out[0] = (float)a.m[0][0], out[1] = (float)a.m[1][1], out[2] = (float)a.m[2][2];
    out[3] = (float)a.m[0][1], out[4] = (float)a.m[1][2], out[5] = (float)a.m[2][0];
}

/* A_rr, its inverse along the directions that have extent, and which those are. */
static pl_status set_shape(pl_body* body, uint32_t c, mat3 arr, double mass)
{
    pl_clusters* k = &body->clusters;
    double values[3];
    mat3 vectors, inverse = m3_zero();
    if (!pl_eigen3(arr, values, &vectors))
        return pl_fail(PLIANT_ERROR_INTERNAL, "The scatter matrix of cluster %u has no eigenvalues",
                       c);
    double spacing2 = body->spacing * body->spacing * 1e-8 * mass;
    int rank = 0;
    for (int e = 2; e >= 0; --e)
        if (values[e] > LEAST_EXTENT * values[2] && values[e] > spacing2)
        {
            vec3 v = v3(vectors.m[0][e], vectors.m[1][e], vectors.m[2][e]);
            inverse = m3_add(inverse, m3_scale(m3_outer(v, v), 1 / values[e]));
            ++rank;
        }
    int axis = rank == 2 ? 0 : 2;
    k->rank[c] = (uint8_t)rank;
    for (int i = 0; i < 3; ++i)
        k->axis[c][i] = rank == 3 || rank == 0 ? 0.0f : (float)vectors.m[i][axis];
    store_symmetric(arr, k->arr[c]);
    store_symmetric(inverse, k->arr_inv[c]);
    k->mass[c] = (float)mass;
    k->width_rms[c] = (float)sqrt(m3_trace(arr) / mass);
    k->stiffness_factor[c] = k->damping_factor[c] = k->limit_factor[c] = 1;
    if (rank < 3)
        body->warnings |= PLIANT_WARN_FLAT_CLUSTERS;
    return PLIANT_OK;
}

/* Rest pose of the clusters that hold particles. Kernel values are normalised (list_by_particle),
 * in the order of the cluster's members. */
static pl_status rest_of_particles(pl_body* body, const pl_layout_input* in, const pl_hierarchy* h,
                                   const by_particle* lists)
{
    pl_clusters* k = &body->clusters;
    const pl_particles* p = &body->particles;
    for (uint32_t l = 0; l < particle_levels(body); ++l)
        for (uint32_t c = 0; c < h->level[l].count; ++c)
        {
            uint32_t index = body->level_begin[l] + c;
            double mass = 0, density = 0, widest = 0;
            vec3 centre = v3(0, 0, 0);
            mat3 arr = m3_zero();
            pl_quadratic_sums quadratic = {0};
            for (int pass = 0; pass < 2; ++pass)
            {
                for (uint32_t m = h->level[l].begin[c]; m < h->level[l].begin[c + 1]; ++m)
                {
                    uint32_t id = h->level[l].particle[m], at = lists->begin[id];
                    while (lists->cluster[at] != index)
                        ++at;
                    double mw = (double)p->mass[p->slot_of[id]] * lists->kernel[at];
                    if (pass == 0)
                    {
                        mass += mw;
                        density += mw * in->density[id];
                        centre = v3_mad(centre, in->points[id], mw);
                        continue;
                    }
                    vec3 offset = v3_sub(in->points[id], centre);
                    arr = m3_add(arr, m3_scale(m3_outer(offset, offset), mw));
                    widest = fmax(widest, v3_length(offset));
                    if (k->quad_inverse)
                        pl_quadratic_sums_add(&quadratic, offset, mw);
                }
                if (pass == 0)
                    centre = v3_scale(centre, 1 / mass);
            }
            v3_store(centre, k->rest[index]);
            v3_store(h->level[l].centres[c], k->centre[index]);
            k->radius[index] = (float)h->level[l].radius;
            k->width_max[index] = (float)widest;
            k->density[index] = (float)(density / mass);
            PL_TRY(set_shape(body, index, arr, mass));
            if (k->quad_inverse)
                PL_TRY(pl_quadratic_rest(k, index, &quadratic));
        }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ nested levels */

static mat3 load_symmetric(const float a[6])
{
    return (mat3){{{a[0], a[3], a[5]}, {a[3], a[1], a[4]}, {a[5], a[4], a[2]}}};
}

static pl_status alloc_links(pl_links* links, uint32_t count, uint32_t clusters)
{
    links->count = count;
    links->fine = PL_NEW(uint32_t, count);
    links->coarse = PL_NEW(uint32_t, count);
    links->u = PL_NEW(float, count);
    links->b = pl_alloc(count, sizeof *links->b);
    links->q = pl_alloc(count, sizeof *links->q);
    links->by_coarse_begin = PL_NEW(uint32_t, (size_t)clusters + 1);
    links->by_fine_begin = PL_NEW(uint32_t, (size_t)clusters + 2);
    links->by_fine = PL_NEW(uint32_t, count);
    return links->fine && links->coarse && links->u && links->b && links->q &&
                   links->by_coarse_begin && links->by_fine_begin && links->by_fine
               ? PLIANT_OK
               : pl_fail_memory((size_t)count * 80);
}

static pl_status rest_of_nested(pl_body* body, uint32_t c)
{
    pl_clusters* k = &body->clusters;
    pl_links* links = &body->links;
    double mass = 0, density = 0, widest = 0;
    vec3 centre = v3(0, 0, 0);
    mat3 arr = m3_zero();
    uint32_t begin = links->by_coarse_begin[c], end = links->by_coarse_begin[c + 1];
    for (uint32_t i = begin; i < end; ++i)
    {
        double um = (double)links->u[i] * k->mass[links->fine[i]];
        mass += um;
        density += um * k->density[links->fine[i]];
        centre = v3_mad(centre, v3_from(k->rest[links->fine[i]]), um);
    }
    v3_store(v3_scale(centre, 1 / mass), k->rest[c]);
    for (uint32_t i = begin; i < end; ++i)
    {
        uint32_t f = links->fine[i];
        vec3 q = v3_sub(v3_from(k->rest[f]), v3_from(k->rest[c]));
        v3_store(q, links->q[i]);
        links->q[i][3] = links->u[i];
        links->b[i][0] = links->b[i][4] = links->b[i][8] = 1;
        arr = m3_add(
            arr, m3_scale(m3_add(load_symmetric(k->arr[f]), m3_scale(m3_outer(q, q), k->mass[f])),
                          links->u[i]));
        widest = fmax(widest, v3_length(q) + k->width_max[f]);
    }
    k->width_max[c] = (float)widest;
    k->density[c] = (float)(density / mass);
    return set_shape(body, c, arr, mass);
}

static pl_status build_links(pl_body* body, const pl_hierarchy* h)
{
    pl_clusters* k = &body->clusters;
    pl_links* links = &body->links;
    uint32_t total = 0;
    for (uint32_t l = 1; l < body->level_count; ++l)
        total += h->level[l].begin[h->level[l].count];
    PL_TRY(alloc_links(links, total, k->count));
    uint32_t at = 0;
    for (uint32_t l = 1; l < body->level_count; ++l)
        for (uint32_t c = 0; c < h->level[l].count; ++c)
        {
            uint32_t coarse = body->level_begin[l] + c;
            for (uint32_t m = h->level[l].begin[c]; m < h->level[l].begin[c + 1]; ++m, ++at)
            {
                links->fine[at] = body->level_begin[l - 1] + h->level[l].particle[m];
                links->coarse[at] = coarse;
                links->u[at] = h->level[l].kernel[m];
            }
            links->by_coarse_begin[coarse + 1] = at;
            v3_store(h->level[l].centres[c], k->centre[coarse]);
            k->radius[coarse] = (float)h->level[l].radius;
        }
    for (uint32_t i = 0; i < total; ++i)
        ++links->by_fine_begin[links->fine[i] + 2];
    for (uint32_t c = 2; c <= k->count + 1; ++c)
        links->by_fine_begin[c] += links->by_fine_begin[c - 1];
    for (uint32_t i = 0; i < total; ++i)
        links->by_fine[links->by_fine_begin[links->fine[i] + 1]++] = i;
    for (uint32_t c = body->level_begin[1]; c < k->count; ++c)
        PL_TRY(rest_of_nested(body, c));
    links->plain = true;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ the whole */

/* Adds m w of every particle membership, and m w times its value, to each cluster. */
static void sum_over_members(const pl_body* body, const float* by_id, double* sum, double* mass)
{
    const pl_particles* p = &body->particles;
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        const pl_chunk* chunk = &body->chunks[i];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
                for (uint32_t lane = 0; lane < 8; ++lane)
                {
                    uint32_t slot = chunk->slot_begin + 8 * b + lane;
                    double mw = (double)p->mass[slot] * p->norm[slot] *
                                chunk->entry_kernel[8 * (size_t)e + lane];
                    if (!(mw > 0))
                        continue;
                    mass[chunk->rows[chunk->entry_row[e]]] += mw;
                    sum[chunk->rows[chunk->entry_row[e]]] += mw * by_id[p->id[slot]];
                }
    }
}

pl_status pl_layout_average_factor(const pl_body* body, const float* by_id, float* cluster_factor)
{
    const pl_clusters* k = &body->clusters;
    const pl_links* links = &body->links;
    double* sum = PL_NEW(double, k->count);
    double* mass = PL_NEW(double, k->count);
    if (!sum || !mass)
    {
        pl_free(sum);
        pl_free(mass);
        return pl_fail_memory((size_t)k->count * 16);
    }
    if (by_id)
    {
        sum_over_members(body, by_id, sum, mass);
        for (uint32_t i = 0; i < links->count; ++i)
        {
            sum[links->coarse[i]] += links->u[i] * sum[links->fine[i]];
            mass[links->coarse[i]] += links->u[i] * mass[links->fine[i]];
        }
    }
    for (uint32_t c = 0; c < k->count; ++c)
        cluster_factor[c] = mass[c] > 0 ? (float)(sum[c] / mass[c]) : 1;
    pl_free(sum);
    pl_free(mass);
    return PLIANT_OK;
}

static void set_figures(pl_body* body, const pl_layout_input* in, const pl_hierarchy* h)
{
    const pl_particles* p = &body->particles;
    uint64_t quanta = 0;
    vec3 centre = v3(0, 0, 0);
    for (uint32_t i = 0; i < in->count; ++i)
    {
        quanta += p->quanta[p->slot_of[i]];
        body->rest_volume += in->volumes[i];
        centre = v3_mad(centre, in->points[i], p->mass[p->slot_of[i]]);
    }
    body->mass = (double)quanta * body->mass_quantum;
    centre = v3_scale(centre, 1 / body->mass);
    double second = 0;
    for (uint32_t i = 0; i < in->count; ++i)
    {
        vec3 offset = v3_sub(in->points[i], centre);
        second += v3_dot(offset, offset) * p->mass[p->slot_of[i]];
    }
    body->width = sqrt(second / body->mass);
    for (uint32_t l = 0; l < body->level_count; ++l)
    {
        body->level_weight[l] = h->weight[l];
        body->level_radius[l] = h->level[l].radius;
        body->level_memberships[l] = h->level[l].begin[h->level[l].count];
    }
    body->overlap = (double)body->level_memberships[0] / in->count;
}

static pl_status build(pl_body* body, const pl_layout_input* in, const pl_hierarchy* h,
                       by_particle* lists)
{
    body->level_count = h->level_count;
    for (uint32_t l = 0; l < h->level_count; ++l)
        body->level_begin[l + 1] = body->level_begin[l] + h->level[l].count;
    if (!pl_clusters_alloc(&body->clusters, body->level_begin[h->level_count],
                           body->material.goal == PLIANT_GOAL_QUADRATIC))
        return pl_fail_memory((size_t)body->level_begin[h->level_count] * 500);
    for (uint32_t c = 0; c < body->clusters.count; ++c)
        body->clusters.fade[c] = 1;
    PL_TRY(list_by_particle(body, in->count, h, lists));
    PL_TRY(place_particles(body, in, lists));
    PL_TRY(build_chunks(body, lists));
    PL_TRY(list_parts(body));
    PL_TRY(rest_of_particles(body, in, h, lists));
    PL_TRY(pl_layout_rest_moments(body));
    if (body->level_kind == PLIANT_LEVELS_NESTED)
        PL_TRY(build_links(body, h));
    set_figures(body, in, h);
    PL_TRY(pl_layout_average_factor(body, in->stiffness_factor, body->clusters.stiffness_factor));
    PL_TRY(pl_layout_average_factor(body, in->damping_factor, body->clusters.damping_factor));
    PL_TRY(pl_layout_average_factor(body, in->limit_factor, body->clusters.limit_factor));
    return PLIANT_OK;
}

pl_status pl_layout_build(pl_body* body, const pl_layout_input* input,
                          const pl_hierarchy* hierarchy)
{
    by_particle lists = {0};
    pl_status status = build(body, input, hierarchy, &lists);
    by_particle_free(&lists);
    return status;
}
