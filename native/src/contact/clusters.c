// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The response to contacts between clusters (Jones et al. 2015, section 3.4, Eq. 17). The paper
 * moves the particle alone; published code keeps neither momentum, and velocities never see the
 * contact. Here a contact is a condition on a velocity: that of the particle relative to the
 * cluster's rigid motion, along the normal, is at least the target that narrow.c found.
 *
 *     particle i   dv_i += J / m_i                         J: impulse of the contact
 *     cluster c    dv_j -= w_jc (J / M_c + (I_c^-1 (a x J)) x (x_j - x_c))   for its members j
 *
 * With M_c, x_c, I_c the cluster's weighted mass, centre and inertia, members get J and a x J in
 * all, so linear and angular momentum are kept. Arms are taken at the start of the substep, and
 * positions follow velocities (x += dt dv): x_end cross v = x_start cross v, so it is kept at the
 * substep's end too.
 *
 * Contacts are solved together, Jacobi's way, and so in any order: each sees an equal share of the
 * masses that it acts on (Tonge, Benevolenski and Voroshilov, Mass Splitting for Jitter-Free
 * Parallel Rigid Body Simulation, 2012): a particle's, cut into as many pieces as it has contacts,
 * and a cluster's likewise. Many contacts on one particle are thereby an average. A particle may
 * touch, and be a member of a cluster that is touched: one more factor of two. What one iteration
 * leaves the next ones see, since the motions of clusters are found again from their members.
 */
#include "clusters.h"

#include "pose.h"

#include <string.h>

pl_contact_settings pl_contact_defaults(void)
{
    return (pl_contact_settings){.stiffness = 1, .friction = .5, .iterations = 8};
}

void pl_contacts_free(pl_contacts* all)
{
    pl_free(all->pair_bodies);
    pl_free(all->slot_begin);
    pl_free(all->poses);
    pl_free(all->motions);
    pl_free(all->partner_begin);
    pl_free(all->partner);
    pl_free(all->dv);
    pl_free(all->exterior);
    pl_free(all->touches);
    for (size_t i = 0; i < all->found_capacity; ++i)
        pl_free(all->found[i].items);
    pl_free(all->found);
    pl_free(all->list.items);
    pl_broadphase_free(&all->broadphase);
    pl_pair_list_free(&all->pairs);
    memset(all, 0, sizeof *all);
}

/* ------------------------------------------------------------------ memory */

/* Replaces a block that holds nothing worth keeping. */
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
    all->body_count = body_count;
    all->cluster_count = all->particle_count = 0;
    if (!all->slot_begin || body_count > all->body_capacity)
    {
        all->body_capacity = 0;
        if (!renew(&all->pair_bodies, body_count, sizeof *all->pair_bodies) ||
            !renew(&all->slot_begin, (size_t)body_count + 1, sizeof *all->slot_begin))
            return pl_fail_memory((size_t)body_count * sizeof *all->pair_bodies);
        all->body_capacity = body_count;
    }
    for (uint32_t b = 0; b < body_count; ++b)
    {
        all->slot_begin[b] = all->particle_count;
        all->pair_bodies[b] = (pl_pair_body){all->cluster_count, bodies[b].proxies->count,
                                             bodies[b].groups, bodies[b].self, bodies[b].rules};
        all->cluster_count += bodies[b].proxies->count;
        all->particle_count += bodies[b].body->particles.slot_count;
    }
    all->slot_begin[body_count] = all->particle_count;
    if (!all->poses || all->cluster_count > all->cluster_capacity)
    {
        size_t count = all->cluster_count;
        all->cluster_capacity = 0;
        if (!renew(&all->poses, count, sizeof *all->poses) ||
            !renew(&all->motions, count, sizeof *all->motions) ||
            !renew(&all->partner_begin, count + 2, sizeof *all->partner_begin))
            return pl_fail_memory(count * sizeof *all->poses);
        all->cluster_capacity = count;
    }
    if (!all->dv || all->particle_count > all->particle_capacity)
    {
        all->particle_capacity = 0;
        if (!renew(&all->dv, all->particle_count, sizeof *all->dv) ||
            !renew(&all->exterior, all->particle_count, sizeof *all->exterior) ||
            !renew(&all->touches, all->particle_count, sizeof *all->touches))
            return pl_fail_memory((size_t)all->particle_count * sizeof *all->dv);
        all->particle_capacity = all->particle_count;
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ the solver */

typedef struct solver
{
    pl_contacts* all;
    const pl_contact_body* bodies;
    const pl_contact_settings* settings;
    double dt;
} solver;

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

static bool is_held(const pl_body* body, uint32_t slot)
{
    return body->pins.follow || (body->pins.any && body->pins.frequency[slot] >= PLIANT_PIN_HELD);
}

static double inverse_mass(const pl_body* body, uint32_t slot)
{
    return is_held(body, slot) ? 0 : 1 / (double)body->particles.mass[slot];
}

/* Where the contact acts: the particle, and its arm from the cluster's centre. */
typedef struct place
{
    const pl_body* body;
    uint32_t slot;
    vec3 arm, v, n;
    pl_cluster_motion* motion;
} place;

static place place_of(const solver* s, const pl_contact* c)
{
    uint32_t b = body_of_particle(s->all, c->particle);
    place at = {.body = s->bodies[b].body, .slot = c->particle - s->all->slot_begin[b]};
    at.motion = &s->all->motions[c->cluster];
    at.arm = v3_sub(pl_contact_start(at.body, at.slot, s->dt), at.motion->x);
    at.v = v3_add(pl_contact_velocity(at.body, at.slot), v3_fromd(s->all->dv[c->particle]));
    at.n = v3_fromd(c->n);
    return at;
}

static void count_contacts(const solver* s)
{
    pl_contacts* all = s->all;
    for (uint32_t c = 0; c < all->cluster_count; ++c)
        all->motions[c].contacts = 0;
    memset(all->touches, 0, sizeof *all->touches * all->particle_count);
    memset(all->dv, 0, sizeof *all->dv * all->particle_count);
    for (size_t i = 0; i < all->list.count; ++i)
    {
        ++all->motions[all->list.items[i].cluster].contacts;
        ++all->touches[all->list.items[i].particle];
    }
    for (size_t i = 0; i < all->list.count; ++i)
    {
        pl_contact* c = &all->list.items[i];
        place at = place_of(s, c);
        vec3 turn = v3_cross(at.arm, at.n);
        double cluster =
            1 / at.motion->mass + v3_dot(turn, m3_mulv(at.motion->inertia_inverse, turn));
        c->k = 2 * (all->touches[c->particle] * inverse_mass(at.body, at.slot) +
                    at.motion->contacts * cluster);
    }
}

/* The impulse that a contact asks for now, added to what it has. Sums never pull, and friction
 * stays within its cone. */
static vec3 ask_contact(const solver* s, pl_contact* c, const place* at)
{
    vec3 surface = v3_add(at->motion->v, v3_cross(at->motion->spin, at->arm));
    vec3 relative = v3_sub(at->v, surface);
    double speed = v3_dot(relative, at->n);
    double normal = fmax(c->normal + s->settings->stiffness * (c->target - speed) / c->k, 0);
    vec3 slip = v3_mad(relative, at->n, -speed), before = v3_fromd(c->tangent);
    vec3 tangent = v3_mad(before, slip, -s->settings->stiffness / c->k);
    double most = s->settings->friction * normal, length = v3_length(tangent);
    if (length > most)
        tangent = v3_scale(tangent, most / length);
    vec3 impulse = v3_mad(v3_sub(tangent, before), at->n, normal - c->normal);
    c->normal = normal;
    c->tangent[0] = tangent.x, c->tangent[1] = tangent.y, c->tangent[2] = tangent.z;
    return impulse;
}

static void add_dv(pl_contacts* all, uint32_t particle, vec3 dv)
{
    all->dv[particle][0] += dv.x, all->dv[particle][1] += dv.y, all->dv[particle][2] += dv.z;
}

/* Gives the members of a cluster what it has gathered. */
static void spread(const solver* s, uint32_t cluster)
{
    pl_contacts* all = s->all;
    pl_cluster_motion* m = &all->motions[cluster];
    uint32_t b = pl_contact_body_of(all, cluster), c = cluster - all->pair_bodies[b].first;
    const pl_proxies* proxies = s->bodies[b].proxies;
    const pl_body* body = s->bodies[b].body;
    vec3 dv = v3_scale(m->push, 1 / m->mass), spin = m3_mulv(m->inertia_inverse, m->twist);
    for (uint32_t i = proxies->member_begin[c]; i < proxies->member_begin[c + 1]; ++i)
    {
        uint32_t slot = proxies->member_slot[i];
        vec3 arm = v3_sub(pl_contact_start(body, slot, s->dt), m->x);
        if (!is_held(body, slot))
            add_dv(all, all->slot_begin[b] + slot,
                   v3_scale(v3_add(dv, v3_cross(spin, arm)), proxies->member_weight[i]));
    }
    m->push = m->twist = v3(0, 0, 0);
}

/* The rigid motion of a cluster as its members have it now. */
static void refresh_motion(const solver* s, uint32_t cluster)
{
    pl_contacts* all = s->all;
    pl_cluster_motion* m = &all->motions[cluster];
    uint32_t b = pl_contact_body_of(all, cluster), c = cluster - all->pair_bodies[b].first;
    const pl_proxies* proxies = s->bodies[b].proxies;
    const pl_body* body = s->bodies[b].body;
    vec3 momentum = v3(0, 0, 0), spin = v3(0, 0, 0);
    for (uint32_t i = proxies->member_begin[c]; i < proxies->member_begin[c + 1]; ++i)
    {
        uint32_t slot = proxies->member_slot[i];
        double mw = (double)body->particles.mass[slot] * proxies->member_weight[i];
        vec3 v =
            v3_add(pl_contact_velocity(body, slot), v3_fromd(all->dv[all->slot_begin[b] + slot]));
        vec3 arm = v3_sub(pl_contact_start(body, slot, s->dt), m->x);
        momentum = v3_mad(momentum, v, mw);
        spin = v3_mad(spin, v3_cross(arm, v), mw);
    }
    m->v = v3_scale(momentum, 1 / m->mass);
    m->spin = m3_mulv(m->inertia_inverse, spin);
}

static void iterate(const solver* s)
{
    pl_contacts* all = s->all;
    for (size_t i = 0; i < all->list.count; ++i)
    {
        /* what a contact sees of a particle may have changed in this iteration by contacts before
         * it: the order is fixed, and that they are seen only helps */
        pl_contact* c = &all->list.items[i];
        place at = place_of(s, c);
        if (!(c->k > 0))
            continue;
        vec3 impulse = ask_contact(s, c, &at);
        at.motion->push = v3_sub(at.motion->push, impulse);
        at.motion->twist = v3_sub(at.motion->twist, v3_cross(at.arm, impulse));
        add_dv(all, c->particle, v3_scale(impulse, inverse_mass(at.body, at.slot)));
    }
    for (uint32_t c = 0; c < all->cluster_count; ++c)
        if (all->motions[c].used && all->motions[c].contacts)
            spread(s, c);
    for (uint32_t c = 0; c < all->cluster_count; ++c)
        if (all->motions[c].used && all->motions[c].contacts)
            refresh_motion(s, c);
}

/* ------------------------------------------------------------------ the whole */

static void apply(const solver* s)
{
    const pl_contacts* all = s->all;
    for (uint32_t b = 0; b < all->body_count; ++b)
    {
        pl_body* body = s->bodies[b].body;
        pl_particles* p = &body->particles;
        for (uint32_t n = 0; n < body->chunk_count; ++n)
        {
            pl_chunk* chunk = &body->chunks[n];
            for (uint32_t slot = chunk->slot_begin; slot < chunk->slot_begin + chunk->slot_count;
                 ++slot)
            {
                const double* dv = all->dv[all->slot_begin[b] + slot];
                chunk->touched += all->touches[all->slot_begin[b] + slot] > 0;
                if (dv[0] == 0 && dv[1] == 0 && dv[2] == 0)
                    continue;
                for (int k = 0; k < 3; ++k)
                {
                    p->v[k][slot] = (float)(p->v[k][slot] + dv[k]);
                    p->x[k][slot] = (float)(p->x[k][slot] + s->dt * dv[k]);
                }
                chunk->moved = 1;
            }
        }
    }
}

typedef struct posing
{
    pl_contacts* all;
    const pl_contact_body* bodies;
    double dt, thickness;
} posing;

static void pose_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const posing* p = context;
    (void)worker;
    for (uint32_t b = 0; b < p->all->body_count; ++b)
    {
        const pl_pair_body* all = &p->all->pair_bodies[b];
        uint32_t from = PL_MAX(begin, all->first), to = PL_MIN(end, all->first + all->count);
        if (from < to)
            pl_poses_set(p->bodies[b].body, p->bodies[b].proxies, p->dt, p->thickness,
                         from - all->first, to - all->first, p->all->poses + all->first);
    }
}

pl_status pl_contacts_resolve(pl_contacts* all, uint32_t body_count, const pl_contact_body* bodies,
                              const pl_contact_settings* settings, double dt, pl_pool* pool)
{
    PL_TRY(lay_out(all, body_count, bodies));
    posing posing_now = {all, bodies, dt, settings->thickness};
    pl_parallel_for(pool, all->cluster_count, 16, pose_items, &posing_now);
    PL_TRY(pl_broadphase_find(&all->broadphase, all->cluster_count, all->poses, body_count,
                              all->pair_bodies, pool, &all->pairs));
    all->list.count = 0;
    if (all->pairs.count == 0)
        return PLIANT_OK;
    PL_TRY(pl_contacts_find(all, bodies, settings, dt, pool));
    if (all->list.count == 0)
        return PLIANT_OK;
    solver s = {all, bodies, settings, dt};
    count_contacts(&s);
    for (uint32_t i = 0; i < settings->iterations; ++i)
        iterate(&s);
    apply(&s);
    return PLIANT_OK;
}
