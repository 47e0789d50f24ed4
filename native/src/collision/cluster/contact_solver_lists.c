// SPDX-License-Identifier: GPL-3.0-or-later
/* Who takes part in the response to contacts (contact_solver.h): touched clusters, particles that
 * touch, and which blocks of which chunks have members of these clusters or such particles. */
#include "collision/cluster/contact_solver.h"

#include <string.h>

void pl_response_free(pl_response* r)
{
    pl_free(r->units);
    pl_free(r->unit_of);
    pl_free(r->touchers);
    pl_free(r->toucher_of);
    pl_free(r->touches);
    pl_free(r->row_origin);
    pl_free(r->presses);
    pl_free(r->homes);
    pl_free(r->ties);
    pl_free(r->islands);
    pl_free(r->forest);
    pl_free(r->piece_unit);
    pl_free(r->replies);
    pl_free(r->blocks);
    pl_free(r->entries);
    pl_free(r->weights);
    pl_free(r->members);
    pl_free(r->row_unit);
    pl_free(r->unit_rows);
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
    return body->pins.follow || body->asleep || (body->still.slot && body->still.slot[slot] > 0) ||
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

/* Arrays by particle and by cluster are nil between calls. */
pl_status pl_response_reserve(const pl_response_work* s)
{
    pl_response* r = s->r;
    const pl_contacts* all = s->all;
    size_t particles = all->particle_count, clusters = (size_t)all->cluster_count + 1;
    if (particles > r->particle_capacity)
    {
        bool fine = true;
        r->particle_capacity = 0;
        pl_free(r->toucher_of);
        pl_free(r->touches);
        r->toucher_of = PL_NEW(uint32_t, particles);
        r->touches = PL_NEW(uint8_t, particles / 8 + 1);
        fine = r->toucher_of && r->touches;
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
        pl_free(r->unit_of);
        if (!(r->unit_of = PL_NEW(uint32_t, clusters)))
            return pl_fail_memory(clusters * 4);
        r->cluster_capacity = clusters;
    }
    return PLIANT_OK;
}

/* A cluster of a body that sleeps, or of a piece that does. */
static bool is_asleep(const pl_response_work* s, uint32_t cluster)
{
    uint32_t of = pl_contact_body_of(s->all, cluster);
    const pl_body* body = s->bodies[of].body;
    return body->asleep ||
           (body->still.cluster && body->still.cluster[cluster - s->all->pair_bodies[of].first]);
}

static pl_status add_units(const pl_response_work* s)
{
    pl_response* r = s->r;
    const pl_contacts* all = s->all;
    r->unit_count = 0;
    for (size_t i = 0; i < all->list.count; ++i)
    {
        r->unit_of[all->list.items[i].cluster] = 1;
        if (all->list.items[i].home)
            r->unit_of[all->list.items[i].home - 1] = 1;
    }
    for (uint32_t c = 0; c <= all->cluster_count; ++c)
    {
        if (!r->unit_of[c])
            continue;
        if (!pl_grow((void**)&r->units, &r->unit_capacity, (size_t)r->unit_count + 1,
                     sizeof *r->units))
            return pl_fail_memory(((size_t)r->unit_count + 1) * sizeof *r->units);
        pl_unit* unit = &r->units[r->unit_count];
        bool nothing = c == all->cluster_count; /* what bonds to colliders have */
        memset(unit, 0, sizeof *unit);
        unit->cluster = c;
        unit->yield = 1;
        unit->fixed = nothing || is_asleep(s, c);
        if (!nothing)
            unit->x = v3_fromd(all->poses[c].x);
        r->unit_of[c] = ++r->unit_count;
    }
    return PLIANT_OK;
}

static pl_status add_touchers(const pl_response_work* s)
{
    pl_response* r = s->r;
    const pl_contacts* all = s->all;
    r->toucher_count = 0;
    for (size_t i = 0; i < all->list.count; ++i)
    {
        uint32_t particle = all->list.items[i].particle;
        if (r->toucher_of[particle])
            continue;
        if (!pl_grow((void**)&r->touchers, &r->toucher_capacity, (size_t)r->toucher_count + 1,
                     sizeof *r->touchers))
            return pl_fail_memory(((size_t)r->toucher_count + 1) * sizeof *r->touchers);
        pl_toucher* t = &r->touchers[r->toucher_count];
        t->body = body_of_particle(all, particle);
        t->slot = particle - all->slot_begin[t->body];
        const pl_body* body = s->bodies[t->body].body;
        t->inverse_mass = is_held(body, t->slot) ? 0 : 1 / (double)body->particles.mass[t->slot];
        t->v = t->v0 = pl_contact_velocity(body, t->slot);
        t->dv = t->gave = v3(0, 0, 0);
        r->toucher_of[particle] = ++r->toucher_count;
        ++r->touches[particle / 8];
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ chunks */

static pl_status add_block(pl_response* r, const pl_chunk* chunk, uint32_t block,
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
        r->entries[r->entry_count] = (pl_reply_entry){e, row - 1};
        r->entry_count += row != 0;
    }
    if (touches || r->entry_count > begin)
        r->blocks[r->block_count++] = (pl_reply_block){block, touches, begin, r->entry_count};
    return PLIANT_OK;
}

/* Lists what is touched of a chunk; "local" has room for its rows. */
static pl_status add_chunk(const pl_response_work* s, uint32_t b, uint32_t index, uint32_t* local)
{
    pl_response* r = s->r;
    const pl_contacts* all = s->all;
    const pl_body* body = s->bodies[b].body;
    const pl_chunk* chunk = &body->chunks[index];
    uint32_t first = all->pair_bodies[b].first, finest = all->pair_bodies[b].count;
    pl_reply reply = {
        .body = b, .chunk = index, .row_begin = r->row_count, .block_begin = r->block_count};
    for (uint32_t i = 0; i < chunk->row_count; ++i)
    {
        uint32_t unit = chunk->rows[i] < finest ? r->unit_of[first + chunk->rows[i]] : 0;
        local[i] = 0;
        if (!unit)
            continue;
        if (!pl_grow((void**)&r->row_unit, &r->row_capacity, r->row_count + 1,
                     sizeof *r->row_unit) ||
            !pl_grow((void**)&r->row_origin, &r->origin_capacity, r->row_count + 1,
                     sizeof *r->row_origin))
            return pl_fail_memory((r->row_count + 1) * sizeof *r->row_origin);
        for (int k = 0; k < 3; ++k)
            r->row_origin[r->row_count][k] = body->origin[k] + chunk->pos_origin[k];
        r->row_unit[r->row_count++] = unit - 1;
        ++r->units[unit - 1].row_count;
        local[i] = ++reply.row_count;
    }
    for (uint32_t block = 0; block < chunk->block_count; ++block)
    {
        size_t particle = (size_t)all->slot_begin[b] + chunk->slot_begin + 8 * block;
        uint32_t touches = r->touches[particle / 8];
        if (touches || reply.row_count)
            PL_TRY(add_block(r, chunk, block, local, touches));
    }
    reply.block_count = (uint32_t)(r->block_count - reply.block_begin);
    if (reply.block_count == 0 && reply.row_count == 0)
        return PLIANT_OK;
    if (!pl_grow((void**)&r->replies, &r->reply_capacity, r->reply_count + 1, sizeof *r->replies))
        return pl_fail_memory((r->reply_count + 1) * sizeof *r->replies);
    r->replies[r->reply_count++] = reply;
    return PLIANT_OK;
}

static pl_status add_chunks(const pl_response_work* s)
{
    pl_response* r = s->r;
    uint32_t most = 1;
    r->reply_count = r->block_count = r->entry_count = r->row_count = 0;
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
    /* the rows of each unit, in the order of chunks */
    size_t at = 0;
    if (!pl_grow((void**)&r->unit_rows, &r->unit_row_capacity, r->row_count,
                 sizeof *r->unit_rows) ||
        !pl_grow((void**)&r->weights, &r->weight_capacity, r->entry_count, 8 * sizeof(float)) ||
        !pl_grow((void**)&r->members, &r->member_capacity, r->block_count,
                 PL_MEMBER_FLOATS * sizeof(float)) ||
        !pl_grow((void**)&r->sums, &r->sum_capacity, r->row_count,
                 PL_REPLY_FLOATS * sizeof(float)) ||
        !pl_grow((void**)&r->rows, &r->move_capacity, r->row_count, PL_MOVE_FLOATS * sizeof(float)))
        return pl_fail_memory(r->row_count * 100);
    for (uint32_t u = 0; u < r->unit_count; ++u)
    {
        r->units[u].row_begin = at;
        at += r->units[u].row_count;
        r->units[u].row_count = 0;
    }
    for (size_t row = 0; row < r->row_count; ++row)
    {
        pl_unit* unit = &r->units[r->row_unit[row]];
        r->unit_rows[unit->row_begin + unit->row_count++] = (uint32_t)row;
    }
    return PLIANT_OK;
}

pl_status pl_response_list(const pl_response_work* s)
{
    PL_TRY(add_units(s));
    PL_TRY(add_touchers(s));
    return add_chunks(s);
}

/* ------------------------------------------------------------------ ties */

pl_status pl_response_tie(const pl_response_work* s)
{
    pl_response* r = s->r;
    size_t count = 0;
    for (uint32_t i = 0; i < r->toucher_count; ++i)
        r->touchers[i].tie_count = 0;
    for (size_t n = 0; n < r->reply_count; ++n)
    {
        const pl_reply* reply = &r->replies[n];
        const pl_body* body = s->bodies[reply->body].body;
        const pl_chunk* chunk = &body->chunks[reply->chunk];
        for (size_t b = reply->block_begin; b < reply->block_begin + reply->block_count; ++b)
            for (uint32_t lane = 0; lane < 8 && r->blocks[b].touches; ++lane)
            {
                uint32_t slot = chunk->slot_begin + 8 * r->blocks[b].block + lane;
                uint32_t t = r->toucher_of[s->all->slot_begin[reply->body] + slot];
                if (!t || !(r->touchers[t - 1].inverse_mass > 0))
                    continue;
                pl_toucher* toucher = &r->touchers[t - 1];
                vec3 start = pl_contact_start(body, slot, s->dt);
                toucher->tie_begin = count;
                for (size_t e = r->blocks[b].begin; e < r->blocks[b].end; ++e)
                {
                    float w = r->weights[8 * e + lane];
                    if (!(w > 0))
                        continue;
                    uint32_t unit = r->row_unit[reply->row_begin + r->entries[e].row];
                    if (!pl_grow((void**)&r->ties, &r->tie_capacity, count + 1, sizeof *r->ties))
                        return pl_fail_memory((count + 1) * sizeof *r->ties);
                    double fade = pl_unit_fade(s, &r->units[unit]);
                    pl_tie* tie = &r->ties[count++];
                    *tie = (pl_tie){.unit = unit,
                                    .weight = (float)(w * fade * body->particles.norm[slot])};
                    v3_store(v3_sub(start, r->units[unit].x), tie->arm);
                }
                toucher->tie_count = (uint32_t)(count - toucher->tie_begin);
            }
    }
    return PLIANT_OK;
}

/* Leaves the arrays by particle and by cluster nil. */
void pl_response_clean(const pl_response_work* s)
{
    pl_response* r = s->r;
    for (size_t i = 0; i < s->all->list.count; ++i)
    {
        const pl_contact* c = &s->all->list.items[i];
        r->unit_of[c->cluster] = 0;
        if (c->home)
            r->unit_of[c->home - 1] = 0;
        r->toucher_of[c->particle] = 0;
        r->touches[c->particle / 8] = 0;
        for (int k = 0; k < 3; ++k) /* of sleepers, which no chunk has taken */
            r->fresh[k][c->particle] = 0;
    }
}
