// SPDX-License-Identifier: GPL-3.0-or-later
/* Contacts between clusters within a substep: poses, broad phase, narrow phase, solver. */
#include "collision/cluster/cluster_contacts.h"

#include "collision/broadphase/pose.h"
#include "collision/cluster/contact_solver.h"
#include "collision/cluster/cull.h"
#include "collision/cluster/restitution.h"
#include "collision/cluster/sdf_query.h"

#include <string.h>

pl_contact_settings pl_contact_defaults(void)
{
    return (pl_contact_settings){.stiffness = 1, .friction = .5, .iterations = 8};
}

void pl_contacts_free(pl_contacts* all)
{
    pl_free(all->pair_bodies);
    pl_free(all->posed);
    pl_free(all->slot_begin);
    pl_free(all->poses);
    pl_free(all->eights);
    pl_free(all->eight_begin);
    pl_free(all->motions);
    pl_free(all->partner_begin);
    pl_free(all->partner);
    pl_free(all->crowds);
    pl_free(all->shown);
    pl_free(all->targets);
    for (size_t i = 0; i < all->found_capacity; ++i)
        pl_free(all->found[i].items);
    pl_free(all->found);
    pl_free(all->list.items);
    pl_broadphase_free(&all->broadphase);
    pl_pair_cache_within_free(&all->memory);
    pl_pair_list_free(&all->pairs);
    pl_contact_solver_free(&all->response);
    memset(all, 0, sizeof *all);
}

/* ------------------------------------------------------------------ memory */

/* Reallocates without keeping the content. */
static bool renew(void* slot, size_t count, size_t size)
{
    void* block;
    memcpy(&block, slot, sizeof block);
    pl_free(block);
    block = pl_alloc(count, size);
    memcpy(slot, &block, sizeof block);
    return block != NULL;
}

static pl_status lay_out(pl_contacts* all, uint32_t body_count, const pl_contact_body* bodies)
{
    uint32_t eights = 0;
    all->body_count = body_count;
    all->cluster_count = all->particle_count = 0;
    if (!all->slot_begin || body_count > all->body_capacity)
    {
        all->body_capacity = 0;
        if (!renew(&all->pair_bodies, body_count, sizeof *all->pair_bodies) ||
            !renew(&all->posed, body_count, sizeof *all->posed) ||
            !renew(&all->eight_begin, (size_t)body_count + 1, sizeof *all->eight_begin) ||
            !renew(&all->slot_begin, (size_t)body_count + 1, sizeof *all->slot_begin))
            return pl_fail_memory((size_t)body_count * sizeof *all->pair_bodies);
        all->body_capacity = body_count;
    }
    for (uint32_t b = 0; b < body_count; ++b)
    {
        all->slot_begin[b] = all->particle_count;
        pl_pair_body now = {.first = all->cluster_count,
                            .count = bodies[b].proxies->count,
                            .groups = bodies[b].groups,
                            .self = bodies[b].self,
                            .filter = bodies[b].filter,
                            .asleep = bodies[b].body->asleep};
        if (all->pair_bodies[b].first != now.first || all->eight_begin[b] != eights ||
            all->posed[b] != bodies[b].body || !now.asleep)
            all->posed[b] = NULL;
        all->eight_begin[b] = eights;
        eights += now.count ? bodies[b].proxies->eight_begin[now.count] : 0;
        all->pair_bodies[b] = now;
        all->cluster_count += bodies[b].proxies->count;
        all->particle_count += bodies[b].body->particles.slot_count;
    }
    all->slot_begin[body_count] = all->particle_count;
    all->eight_begin[body_count] = eights;
    if (!all->poses || all->cluster_count > all->cluster_capacity)
    {
        size_t count = all->cluster_count;
        all->cluster_capacity = 0;
        memset(all->posed, 0, sizeof *all->posed * body_count);
        if (!renew(&all->poses, count, sizeof *all->poses) ||
            !renew(&all->motions, count, sizeof *all->motions) ||
            !renew(&all->shown, count, sizeof *all->shown) ||
            !renew(&all->targets, count, sizeof *all->targets) ||
            !renew(&all->partner_begin, count + 2, sizeof *all->partner_begin))
            return pl_fail_memory(count * sizeof *all->poses);
        all->cluster_capacity = count;
    }
    if (!pl_grow((void**)&all->eights, &all->eight_capacity, eights, sizeof *all->eights))
        return pl_fail_memory(eights * sizeof *all->eights);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ entry point */

typedef struct posing
{
    pl_contacts* all;
    const pl_contact_body* bodies;
    double dt, thickness;
} posing;

static void gather_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const posing* p = context;
    (void)worker;
    for (uint32_t b = 0; b < p->all->body_count; ++b)
    {
        uint32_t first = p->all->eight_begin[b], last = p->all->eight_begin[b + 1];
        uint32_t from = PL_MAX(begin, first), to = PL_MIN(end, last);
        if (from < to && !p->all->posed[b])
            pl_surface_gather(p->bodies[b].body, p->bodies[b].proxies, 8 * (from - first),
                              8 * (to - first), p->all->eights + first);
    }
}

static void pose_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const posing* p = context;
    (void)worker;
    for (uint32_t b = 0; b < p->all->body_count; ++b)
    {
        const pl_pair_body* all = &p->all->pair_bodies[b];
        uint32_t from = PL_MAX(begin, all->first), to = PL_MIN(end, all->first + all->count);
        if (from < to && !p->all->posed[b])
            pl_poses_follow(p->bodies[b].body, p->bodies[b].proxies,
                            p->all->eights + p->all->eight_begin[b], p->dt, p->all->drift,
                            p->thickness, from - all->first, to - all->first,
                            p->all->poses + all->first);
    }
}

/* The mean velocity of all clusters. Sweeps are relative to it, so common motion does not enlarge
 * them. */
static void find_drift(pl_contacts* all, const pl_contact_body* bodies)
{
    double mass = 0, momentum[3] = {0, 0, 0};
    for (uint32_t b = 0; b < all->body_count; ++b)
    {
        if (bodies[b].body->asleep)
        {
            mass = 0; /* sleepers' poses are kept, so the frame must not move */
            break;
        }
        const pl_clusters* k = &bodies[b].body->clusters;
        for (uint32_t c = 0; c < bodies[b].proxies->count; ++c)
        {
            mass += k->mass[c];
            for (int i = 0; i < 3; ++i)
                momentum[i] += (double)k->mass[c] * k->sums[c][12 + i];
        }
    }
    for (int i = 0; i < 3; ++i)
        all->drift[i] = mass > 0 ? momentum[i] / mass : 0;
}

static pl_status find_contacts(pl_contacts* all, const pl_contact_body* bodies,
                               const pl_contact_settings* settings, double dt, pl_pool* pool)
{
    for (uint32_t b = 0; b < all->body_count; ++b)
        if (bodies[b].self && !bodies[b].body->asleep)
            pl_collision_filter_release(bodies[b].filter, bodies[b].proxies->count,
                                        all->poses + all->pair_bodies[b].first, settings->turn);
    PL_TRY(pl_pair_cache_within_update(&all->memory, &all->broadphase, all->cluster_count,
                                       all->poses, all->body_count, all->pair_bodies, pool,
                                       &all->pairs));
    return all->pairs.count ? pl_contacts_find(all, bodies, settings, dt, pool) : PLIANT_OK;
}

pl_status pl_contacts_resolve(pl_contacts* all, uint32_t body_count, const pl_contact_body* bodies,
                              const pl_contact_settings* settings, const pl_weld_work* held,
                              double dt, pl_pool* pool)
{
    PL_TRY(lay_out(all, body_count, bodies));
    find_drift(all, bodies);
    double nearness = 0, thickness = 0;
    for (uint32_t b = 0; b < body_count; ++b)
    {
        nearness = fmax(nearness, bodies[b].proxies->most_inset +
                                      PL_CONTACT_NEARNESS * bodies[b].body->rest_sdf.spacing);
        thickness = fmax(thickness, pl_contact_thickness(bodies[b].body, settings));
    }
    posing posing_now = {all, bodies, dt, thickness + nearness};
    pl_parallel_for(pool, all->eight_begin[body_count], 128, gather_items, &posing_now);
    pl_parallel_for(pool, all->cluster_count, 16, pose_items, &posing_now);
    for (uint32_t b = 0; b < body_count; ++b)
        all->posed[b] = bodies[b].body->asleep ? bodies[b].body : NULL;
    all->list.count = all->pairs.count = 0;
    PL_TRY(pl_broadphase_list(&all->broadphase, all->cluster_count, body_count, all->pair_bodies));
    if (held->touch && settings->stiffness > 0)
        PL_TRY(find_contacts(all, bodies, settings, dt, pool));
    PL_TRY(pl_contacts_add_welds(all, bodies, held, dt));
    if (all->list.count)
    {
        PL_TRY(pl_contacts_respond(all, bodies, settings, dt, pool));
        pl_contacts_break_welds(all, held, dt);
    }
    return pl_restitution_update(held->encounters, all, bodies, settings, dt);
}
