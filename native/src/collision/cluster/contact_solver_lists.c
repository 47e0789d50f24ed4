// SPDX-License-Identifier: GPL-3.0-or-later
/* Lists for the contact solver (contact_solver.h): touched clusters, contact particles, and the
 * blocks of chunks that have such particles or members of such clusters. */
#include "collision/cluster/contact_solver.h"

#include <string.h>

void pl_contact_solver_free(pl_contact_solver* r)
{
    pl_free(r->cluster_bodies);
    pl_free(r->cluster_body_of);
    pl_free(r->contact_particles);
    pl_free(r->contact_particle_of);
    pl_free(r->touches);
    pl_free(r->row_origin);
    pl_free(r->constraints);
    pl_free(r->homes);
    pl_free(r->memberships);
    pl_free(r->islands);
    pl_free(r->forest);
    pl_free(r->piece_cluster_body);
    pl_free(r->contact_chunks);
    pl_free(r->blocks);
    pl_free(r->entries);
    pl_free(r->weights);
    pl_free(r->members);
    pl_free(r->row_cluster_body);
    pl_free(r->cluster_body_rows);
    pl_free(r->sums);
    pl_free(r->rows);
    for (int k = 0; k < 3; ++k)
    {
        pl_free(r->fresh[k]);
        pl_free(r->total[k]);
    }
    memset(r, 0, sizeof *r);
}

/* ------------------------------------------------------------------ clusters and particles */

static bool is_held(const pl_body* body, uint32_t slot)
{
    return body->pins.follow || body->asleep ||
           (body->sleeping_pieces.slot && body->sleeping_pieces.slot[slot] > 0) ||
           (body->pins.any && body->pins.frequency[slot] >= PLIANT_PIN_HELD);
}

static uint32_t body_of_particle(const pl_contacts* all, uint32_t particle)
{
    uint32_t low = 0, high = all->body_count;
    while (high - low > 1)
    {
        uint32_t middle = (low + high) / 2;
        *(all->slot_begin[middle] <= particle ? &low : &high) = middle;
    }
    return low;
}

/* Arrays by particle and by cluster are zero between calls. */
pl_status pl_contact_solver_reserve(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    const pl_contacts* all = s->all;
    size_t particles = all->particle_count, clusters = (size_t)all->cluster_count + 1;
    if (particles > r->particle_capacity)
    {
        bool fine = true;
        r->particle_capacity = 0;
        pl_free(r->contact_particle_of);
        pl_free(r->touches);
        r->contact_particle_of = PL_NEW(uint32_t, particles);
        r->touches = PL_NEW(uint8_t, particles / 8 + 1);
        fine = r->contact_particle_of && r->touches;
        for (int k = 0; k < 3; ++k)
        {
            pl_free(r->fresh[k]);
            pl_free(r->total[k]);
            r->fresh[k] = PL_NEW(float, particles);
            r->total[k] = PL_NEW(float, particles);
            fine = fine && r->fresh[k] && r->total[k];
        }
        if (!fine)
            return pl_fail_memory(particles * 28);
        r->particle_capacity = particles;
    }
    if (clusters > r->cluster_capacity)
    {
        r->cluster_capacity = 0;
        pl_free(r->cluster_body_of);
        if (!(r->cluster_body_of = PL_NEW(uint32_t, clusters)))
            return pl_fail_memory(clusters * 4);
        r->cluster_capacity = clusters;
    }
    return PLIANT_OK;
}

/* Whether the cluster's body, or its piece, sleeps. */
static bool is_asleep(const pl_contact_solver_work* s, uint32_t cluster)
{
    uint32_t of = pl_contact_body_of(s->all, cluster);
    const pl_body* body = s->bodies[of].body;
    return body->asleep || (body->sleeping_pieces.cluster &&
                            body->sleeping_pieces.cluster[cluster - s->all->pair_bodies[of].first]);
}

static pl_status add_cluster_bodies(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    const pl_contacts* all = s->all;
    r->cluster_body_count = 0;
    for (size_t i = 0; i < all->list.count; ++i)
    {
        r->cluster_body_of[all->list.items[i].cluster] = 1;
        if (all->list.items[i].home)
            r->cluster_body_of[all->list.items[i].home - 1] = 1;
    }
    for (uint32_t c = 0; c <= all->cluster_count; ++c)
    {
        if (!r->cluster_body_of[c])
            continue;
        if (!pl_grow((void**)&r->cluster_bodies, &r->cluster_body_capacity,
                     (size_t)r->cluster_body_count + 1, sizeof *r->cluster_bodies))
            return pl_fail_memory(((size_t)r->cluster_body_count + 1) * sizeof *r->cluster_bodies);
        pl_cluster_body* cluster_body = &r->cluster_bodies[r->cluster_body_count];
        bool nothing = c == all->cluster_count; /* anchor of welds to colliders */
        memset(cluster_body, 0, sizeof *cluster_body);
        cluster_body->cluster = c;
        cluster_body->yield = 1;
        cluster_body->fixed = nothing || is_asleep(s, c);
        if (!nothing)
            cluster_body->x = v3_fromd(all->poses[c].x);
        r->cluster_body_of[c] = ++r->cluster_body_count;
    }
    return PLIANT_OK;
}

static pl_status add_contact_particles(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    const pl_contacts* all = s->all;
    r->contact_particle_count = 0;
    for (size_t i = 0; i < all->list.count; ++i)
    {
        uint32_t particle = all->list.items[i].particle;
        if (r->contact_particle_of[particle])
            continue;
        if (!pl_grow((void**)&r->contact_particles, &r->contact_particle_capacity,
                     (size_t)r->contact_particle_count + 1, sizeof *r->contact_particles))
            return pl_fail_memory(((size_t)r->contact_particle_count + 1) *
                                  sizeof *r->contact_particles);
        pl_contact_particle* t = &r->contact_particles[r->contact_particle_count];
        t->body = body_of_particle(all, particle);
        t->slot = particle - all->slot_begin[t->body];
        const pl_body* body = s->bodies[t->body].body;
        t->inverse_mass = is_held(body, t->slot) ? 0 : 1 / (double)body->particles.mass[t->slot];
        t->v = t->v0 = pl_contact_velocity(body, t->slot);
        t->dv = t->gave = v3(0, 0, 0);
        r->contact_particle_of[particle] = ++r->contact_particle_count;
        ++r->touches[particle / 8];
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ chunks */

static pl_status add_block(pl_contact_solver* r, const pl_chunk* chunk, uint32_t block,
                           const uint32_t* local, uint32_t touches)
{
    size_t begin = r->entry_count,
           most = begin + chunk->block_begin[block + 1] - chunk->block_begin[block];
    if (!pl_grow((void**)&r->entries, &r->entry_capacity, most, sizeof *r->entries) ||
        !pl_grow((void**)&r->blocks, &r->block_capacity, r->block_count + 1, sizeof *r->blocks))
        return pl_fail_memory(most * sizeof *r->entries);
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        uint32_t row = local[chunk->entry_row[e]];
        r->entries[r->entry_count] = (pl_contact_chunk_entry){e, row - 1};
        r->entry_count += row != 0;
    }
    if (touches || r->entry_count > begin)
        r->blocks[r->block_count++] =
            (pl_contact_chunk_block){block, touches, begin, r->entry_count};
    return PLIANT_OK;
}

/* Lists the touched rows and blocks of a chunk; "local" has room for its rows. */
static pl_status add_chunk(const pl_contact_solver_work* s, uint32_t b, uint32_t index,
                           uint32_t* local)
{
    pl_contact_solver* r = s->r;
    const pl_contacts* all = s->all;
    const pl_body* body = s->bodies[b].body;
    const pl_chunk* chunk = &body->chunks[index];
    uint32_t first = all->pair_bodies[b].first, finest = all->pair_bodies[b].count;
    pl_contact_chunk contact_chunk = {
        .body = b, .chunk = index, .row_begin = r->row_count, .block_begin = r->block_count};
    for (uint32_t i = 0; i < chunk->row_count; ++i)
    {
        uint32_t cluster_body =
            chunk->rows[i] < finest ? r->cluster_body_of[first + chunk->rows[i]] : 0;
        local[i] = 0;
        if (!cluster_body)
            continue;
        if (!pl_grow((void**)&r->row_cluster_body, &r->row_capacity, r->row_count + 1,
                     sizeof *r->row_cluster_body) ||
            !pl_grow((void**)&r->row_origin, &r->origin_capacity, r->row_count + 1,
                     sizeof *r->row_origin))
            return pl_fail_memory((r->row_count + 1) * sizeof *r->row_origin);
        for (int k = 0; k < 3; ++k)
            r->row_origin[r->row_count][k] = body->origin[k] + chunk->pos_origin[k];
        r->row_cluster_body[r->row_count++] = cluster_body - 1;
        ++r->cluster_bodies[cluster_body - 1].row_count;
        local[i] = ++contact_chunk.row_count;
    }
    for (uint32_t block = 0; block < chunk->block_count; ++block)
    {
        size_t particle = (size_t)all->slot_begin[b] + chunk->slot_begin + 8 * block;
        uint32_t touches = r->touches[particle / 8];
        if (touches || contact_chunk.row_count)
            PL_TRY(add_block(r, chunk, block, local, touches));
    }
    contact_chunk.block_count = (uint32_t)(r->block_count - contact_chunk.block_begin);
    if (contact_chunk.block_count == 0 && contact_chunk.row_count == 0)
        return PLIANT_OK;
    if (!pl_grow((void**)&r->contact_chunks, &r->contact_chunk_capacity, r->contact_chunk_count + 1,
                 sizeof *r->contact_chunks))
        return pl_fail_memory((r->contact_chunk_count + 1) * sizeof *r->contact_chunks);
    r->contact_chunks[r->contact_chunk_count++] = contact_chunk;
    return PLIANT_OK;
}

static pl_status add_chunks(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    uint32_t most = 1;
    r->contact_chunk_count = r->block_count = r->entry_count = r->row_count = 0;
    for (uint32_t b = 0; b < s->all->body_count; ++b)
        for (uint32_t c = 0; c < s->bodies[b].body->chunk_count; ++c)
            most = PL_MAX(most, s->bodies[b].body->chunks[c].row_count);
    uint32_t* local = PL_NEW(uint32_t, most);
    pl_status status = local ? PLIANT_OK : pl_fail_memory((size_t)most * 4);
    for (uint32_t b = 0; b < s->all->body_count && status == PLIANT_OK; ++b)
        for (uint32_t c = 0; c < s->bodies[b].body->chunk_count && status == PLIANT_OK; ++c)
            if (!s->bodies[b].body->asleep)
                status = add_chunk(s, b, c, local);
    pl_free(local);
    if (status != PLIANT_OK)
        return status;
    /* the rows of each cluster body, in the order of chunks */
    size_t at = 0;
    if (!pl_grow((void**)&r->cluster_body_rows, &r->cluster_body_row_capacity, r->row_count,
                 sizeof *r->cluster_body_rows) ||
        !pl_grow((void**)&r->weights, &r->weight_capacity, r->entry_count, 8 * sizeof(float)) ||
        !pl_grow((void**)&r->members, &r->member_capacity, r->block_count,
                 PL_MEMBER_FLOATS * sizeof(float)) ||
        !pl_grow((void**)&r->sums, &r->sum_capacity, r->row_count,
                 PL_BODY_SUM_FLOATS * sizeof(float)) ||
        !pl_grow((void**)&r->rows, &r->move_capacity, r->row_count,
                 PL_BODY_CHANGE_FLOATS * sizeof(float)))
        return pl_fail_memory(r->row_count * 100);
    for (uint32_t u = 0; u < r->cluster_body_count; ++u)
    {
        r->cluster_bodies[u].row_begin = at;
        at += r->cluster_bodies[u].row_count;
        r->cluster_bodies[u].row_count = 0;
    }
    for (size_t row = 0; row < r->row_count; ++row)
    {
        pl_cluster_body* cluster_body = &r->cluster_bodies[r->row_cluster_body[row]];
        r->cluster_body_rows[cluster_body->row_begin + cluster_body->row_count++] = (uint32_t)row;
    }
    return PLIANT_OK;
}

pl_status pl_contact_solver_list(const pl_contact_solver_work* s)
{
    PL_TRY(add_cluster_bodies(s));
    PL_TRY(add_contact_particles(s));
    return add_chunks(s);
}

/* ------------------------------------------------------------------ memberships */

pl_status pl_contact_solver_link(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    size_t count = 0;
    for (uint32_t i = 0; i < r->contact_particle_count; ++i)
        r->contact_particles[i].membership_count = 0;
    for (size_t n = 0; n < r->contact_chunk_count; ++n)
    {
        const pl_contact_chunk* contact_chunk = &r->contact_chunks[n];
        const pl_body* body = s->bodies[contact_chunk->body].body;
        const pl_chunk* chunk = &body->chunks[contact_chunk->chunk];
        for (size_t b = contact_chunk->block_begin;
             b < contact_chunk->block_begin + contact_chunk->block_count; ++b)
            for (uint32_t lane = 0; lane < 8 && r->blocks[b].touches; ++lane)
            {
                uint32_t slot = chunk->slot_begin + 8 * r->blocks[b].block + lane;
                uint32_t t = r->contact_particle_of[s->all->slot_begin[contact_chunk->body] + slot];
                if (!t || !(r->contact_particles[t - 1].inverse_mass > 0))
                    continue;
                pl_contact_particle* contact_particle = &r->contact_particles[t - 1];
                vec3 start = pl_contact_start(body, slot, s->dt);
                contact_particle->membership_begin = count;
                for (size_t e = r->blocks[b].begin; e < r->blocks[b].end; ++e)
                {
                    float w = r->weights[8 * e + lane];
                    if (!(w > 0))
                        continue;
                    uint32_t cluster_body =
                        r->row_cluster_body[contact_chunk->row_begin + r->entries[e].row];
                    if (!pl_grow((void**)&r->memberships, &r->membership_capacity, count + 1,
                                 sizeof *r->memberships))
                        return pl_fail_memory((count + 1) * sizeof *r->memberships);
                    double fade = pl_cluster_body_fade(s, &r->cluster_bodies[cluster_body]);
                    pl_particle_membership* membership = &r->memberships[count++];
                    *membership = (pl_particle_membership){
                        .cluster_body = cluster_body,
                        .weight = (float)(w * fade * body->particles.norm[slot])};
                    v3_store(v3_sub(start, r->cluster_bodies[cluster_body].x), membership->arm);
                }
                contact_particle->membership_count =
                    (uint32_t)(count - contact_particle->membership_begin);
            }
    }
    return PLIANT_OK;
}

/* Zeroes the arrays by particle and by cluster. */
void pl_contact_solver_clean(const pl_contact_solver_work* s)
{
    pl_contact_solver* r = s->r;
    for (size_t i = 0; i < s->all->list.count; ++i)
    {
        const pl_contact* c = &s->all->list.items[i];
        r->cluster_body_of[c->cluster] = 0;
        if (c->home)
            r->cluster_body_of[c->home - 1] = 0;
        r->contact_particle_of[c->particle] = 0;
        r->touches[c->particle / 8] = 0;
        for (int k = 0; k < 3; ++k) /* of sleepers, whose chunks are not visited */
            r->fresh[k][c->particle] = 0;
    }
}
