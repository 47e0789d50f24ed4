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
 * touch, and be a member of a cluster that is touched: hence a factor more. What one iteration
 * leaves the next ones see, since the motions of clusters are found again from their members. In
 * the last one the particles do what is left.
 */
#include "clusters.h"

#include "pose.h"

#include <string.h>

/* Particles that touch may be members of what is touched. */
#define SHARED 1.3

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
    pl_free(all->motions);
    pl_free(all->partner_begin);
    pl_free(all->partner);
    pl_free(all->dv);
    pl_free(all->touches);
    pl_free(all->touched);
    pl_free(all->arm);
    pl_free(all->verdicts);
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
            !renew(&all->posed, body_count, sizeof *all->posed) ||
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
                            .rules = bodies[b].rules,
                            .asleep = bodies[b].body->asleep};
        if (all->pair_bodies[b].first != now.first || all->posed[b] != bodies[b].body ||
            !now.asleep)
            all->posed[b] = NULL;
        all->pair_bodies[b] = now;
        all->cluster_count += bodies[b].proxies->count;
        all->particle_count += bodies[b].body->particles.slot_count;
    }
    all->slot_begin[body_count] = all->particle_count;
    if (!all->poses || all->cluster_count > all->cluster_capacity)
    {
        size_t count = all->cluster_count;
        all->cluster_capacity = 0;
        memset(all->posed, 0, sizeof *all->posed * body_count);
        if (!renew(&all->poses, count, sizeof *all->poses) ||
            !renew(&all->motions, count + 1, sizeof *all->motions) ||
            !renew(&all->touched, count, sizeof *all->touched) ||
            !renew(&all->partner_begin, count + 2, sizeof *all->partner_begin))
            return pl_fail_memory(count * sizeof *all->poses);
        all->cluster_capacity = count;
    }
    if (!all->dv || all->particle_count > all->particle_capacity)
    {
        all->particle_capacity = 0;
        if (!renew(&all->dv, all->particle_count, sizeof *all->dv) ||
            !renew(&all->touches, all->particle_count, sizeof *all->touches))
            return pl_fail_memory((size_t)all->particle_count * sizeof *all->dv);
        all->particle_capacity = all->particle_count;
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ what takes part */

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
    return body->pins.follow || body->asleep ||
           (body->pins.any && body->pins.frequency[slot] >= PLIANT_PIN_HELD);
}

static mat3 inverse_inertia(mat3 inertia)
{
    double size = m3_trace(inertia);
    if (!(size > 0))
        return m3_zero();
    /* a needle has no inertia about itself, and must not spin for nothing */
    bool round = m3_det(inertia) > 1e-6 * size * size * size;
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += (round ? 1e-12 : 1e-3) * size;
    return m3_inverse(inertia);
}

/* The members of a touched cluster. */
typedef struct members
{
    const pl_body* body;
    const uint32_t* slot;
    const float* weight;
    pl_member_arm* arm;
    double (*dv)[3];
    uint32_t count;
} members;

static members members_of(const solver* s, uint32_t cluster)
{
    const pl_contacts* all = s->all;
    uint32_t b = pl_contact_body_of(all, cluster), c = cluster - all->pair_bodies[b].first;
    const pl_proxies* proxies = s->bodies[b].proxies;
    uint32_t begin = proxies->member_begin[c];
    return (members){s->bodies[b].body,
                     proxies->member_slot + begin,
                     proxies->member_weight + begin,
                     all->arm + all->motions[cluster].first_arm,
                     all->dv + all->slot_begin[b],
                     proxies->member_begin[c + 1] - begin};
}

/* Mass, centre and inertia, exactly as the members have them: momentum depends on it. */
static void weigh(const solver* s, uint32_t cluster)
{
    pl_cluster_motion* m = &s->all->motions[cluster];
    members k = members_of(s, cluster);
    vec3 first = v3(0, 0, 0);
    m->fixed = k.body->asleep;
    if (m->fixed)
    {
        m->x = v3_fromd(s->all->poses[cluster].x);
        m->v = m->spin = v3(0, 0, 0);
        return;
    }
    m->mass = 0;
    for (uint32_t i = 0; i < k.count; ++i)
    {
        double mw = (double)k.body->particles.mass[k.slot[i]] * k.weight[i];
        m->mass += mw;
        first = v3_mad(first, pl_contact_start(k.body, k.slot[i], s->dt), mw);
    }
    m->x = v3_scale(first, 1 / m->mass);
    double xx = 0, yy = 0, zz = 0, xy = 0, yz = 0, zx = 0;
    for (uint32_t i = 0; i < k.count; ++i)
    {
        double mw = (double)k.body->particles.mass[k.slot[i]] * k.weight[i];
        vec3 arm = v3_sub(pl_contact_start(k.body, k.slot[i], s->dt), m->x);
        bool held = is_held(k.body, k.slot[i]);
        k.arm[i] =
            (pl_member_arm){(float)arm.x, (float)arm.y, (float)arm.z, held ? 0 : k.weight[i]};
        xx += mw * arm.x * arm.x, yy += mw * arm.y * arm.y, zz += mw * arm.z * arm.z;
        xy += mw * arm.x * arm.y, yz += mw * arm.y * arm.z, zx += mw * arm.z * arm.x;
    }
    m->inertia_inverse =
        inverse_inertia((mat3){{{yy + zz, -xy, -zx}, {-xy, zz + xx, -yz}, {-zx, -yz, xx + yy}}});
    m->push = m->twist = v3(0, 0, 0);
}

/* The rigid motion of a cluster as its members have it now. */
static void refresh_motion(const solver* s, uint32_t cluster)
{
    pl_cluster_motion* m = &s->all->motions[cluster];
    members k = members_of(s, cluster);
    const pl_particles* p = &k.body->particles;
    if (m->fixed)
        return;
    vec3 momentum = v3(0, 0, 0), spin = v3(0, 0, 0);
    for (uint32_t i = 0; i < k.count; ++i)
    {
        uint32_t slot = k.slot[i];
        double mw = (double)p->mass[slot] * k.weight[i];
        vec3 v = v3(mw * (p->v[0][slot] + k.dv[slot][0]), mw * (p->v[1][slot] + k.dv[slot][1]),
                    mw * (p->v[2][slot] + k.dv[slot][2]));
        momentum = v3_add(momentum, v);
        spin = v3_add(spin, v3_cross(v3(k.arm[i].x, k.arm[i].y, k.arm[i].z), v));
    }
    m->v = v3_scale(momentum, 1 / m->mass);
    m->spin = m3_mulv(m->inertia_inverse, spin);
}

/* Gives the members of a cluster what it has gathered. */
static void spread(const solver* s, uint32_t cluster)
{
    pl_cluster_motion* m = &s->all->motions[cluster];
    members k = members_of(s, cluster);
    if (m->fixed)
        return;
    vec3 push = v3_scale(m->push, 1 / m->mass), spin = m3_mulv(m->inertia_inverse, m->twist);
    for (uint32_t i = 0; i < k.count; ++i)
    {
        vec3 turned = v3_cross(spin, v3(k.arm[i].x, k.arm[i].y, k.arm[i].z));
        double *dv = k.dv[k.slot[i]], w = k.arm[i].weight;
        dv[0] += w * (push.x + turned.x);
        dv[1] += w * (push.y + turned.y);
        dv[2] += w * (push.z + turned.z);
    }
    m->push = m->twist = v3(0, 0, 0);
}

static void weigh_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const solver* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        weigh(s, s->all->touched[i]);
        refresh_motion(s, s->all->touched[i]);
    }
}

static void refresh_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const solver* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
        refresh_motion(s, s->all->touched[i]);
}

/* A body's particles are written by one thread, in the order of its clusters. */
static void spread_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const solver* s = context;
    const pl_contacts* all = s->all;
    (void)worker;
    for (uint32_t i = 0; i < all->touched_count; ++i)
    {
        uint32_t body = pl_contact_body_of(all, all->touched[i]);
        if (body >= begin && body < end)
            spread(s, all->touched[i]);
    }
}

/* ------------------------------------------------------------------ the solver */

/* A sleeper wakes where it is hit faster than what rests on it would. */
static void note_hit(const solver* s, const pl_contact* c)
{
    pl_contacts* all = s->all;
    const pl_cluster_motion* m = &all->motions[c->cluster];
    pl_pair_body* target = &all->pair_bodies[pl_contact_body_of(all, c->cluster)];
    pl_pair_body* source = &all->pair_bodies[c->body];
    if (target->asleep == source->asleep)
        return;
    vec3 surface = v3_add(m->v, v3_cross(m->spin, v3_fromd(c->arm)));
    vec3 v = pl_contact_velocity(s->bodies[c->body].body, c->slot);
    double speed = v3_dot(v3_sub(v, surface), v3_fromd(c->n));
    double resting = PL_CONTACT_RESTING * s->settings->gravity * s->dt;
    if (speed < -(s->settings->wake_speed + resting))
        (target->asleep ? target : source)->hit = true;
}

/* From the change of the relative velocity to itself; returns an inverse mass of the cluster that
 * is not less than the one in any direction. */
static double prepare_bond(const solver* s, pl_contact* c, const pl_cluster_motion* m)
{
    vec3 arm = v3_fromd(c->arm), v = pl_contact_velocity(s->bodies[c->body].body, c->slot);
    vec3 now = v3_sub(v, v3_add(m->v, v3_cross(m->spin, arm)));
    c->goal[0] += now.x, c->goal[1] += now.y, c->goal[2] += now.z;
    return m->fixed ? 0 : 1 / m->mass + m3_trace(m->inertia_inverse) * v3_dot(arm, arm);
}

static double pair_friction(const solver* s, const pl_contact* c)
{
    double common = s->settings->friction, own = s->bodies[c->body].body->friction;
    double other = s->bodies[pl_contact_body_of(s->all, c->cluster)].body->friction;
    if (own < 0 && other < 0)
        return common;
    return sqrt(pl_own_or(own, common) * pl_own_or(other, common));
}

static pl_status prepare(const solver* s, pl_pool* pool)
{
    pl_contacts* all = s->all;
    size_t arms = 0;
    for (uint32_t c = 0; c < all->cluster_count; ++c)
        all->motions[c].contacts = 0;
    memset(&all->motions[all->cluster_count], 0, sizeof *all->motions); /* what bonds hold on to */
    all->motions[all->cluster_count].fixed = true;
    for (size_t i = 0; i < all->list.count; ++i)
    {
        ++all->motions[all->list.items[i].cluster].contacts;
        ++all->touches[all->list.items[i].particle];
    }
    all->touched_count = 0;
    for (uint32_t c = 0; c < all->cluster_count; ++c)
        if (all->motions[c].contacts)
        {
            uint32_t b = pl_contact_body_of(all, c), own = c - all->pair_bodies[b].first;
            const uint32_t* begin = s->bodies[b].proxies->member_begin + own;
            all->touched[all->touched_count++] = c;
            all->motions[c].first_arm = arms;
            arms += begin[1] - begin[0];
        }
    if (!pl_grow((void**)&all->arm, &all->arm_capacity, arms, sizeof *all->arm))
    {
        memset(all->touches, 0, sizeof *all->touches * all->particle_count);
        return pl_fail_memory(arms * sizeof *all->arm);
    }
    pl_parallel_for(pool, all->touched_count, 4, weigh_items, (void*)(uintptr_t)s);
    for (size_t i = 0; i < all->list.count; ++i)
    {
        pl_contact* c = &all->list.items[i];
        const pl_cluster_motion* m = &all->motions[c->cluster];
        c->body = body_of_particle(all, c->particle);
        c->slot = c->particle - all->slot_begin[c->body];
        const pl_body* body = s->bodies[c->body].body;
        vec3 arm = v3_sub(pl_contact_start(body, c->slot, s->dt), m->x);
        vec3 turn = v3_cross(arm, v3_fromd(c->n));
        c->arm[0] = arm.x, c->arm[1] = arm.y, c->arm[2] = arm.z;
        c->inverse_mass = is_held(body, c->slot) ? 0 : 1 / (double)body->particles.mass[c->slot];
        double cluster =
            m->fixed ? 0 : 1 / m->mass + v3_dot(turn, m3_mulv(m->inertia_inverse, turn));
        c->friction = c->bond ? 0 : pair_friction(s, c);
        if (c->bond)
            cluster = prepare_bond(s, c, m);
        else
            note_hit(s, c);
        c->k = SHARED * (all->touches[c->particle] * c->inverse_mass + m->contacts * cluster);
    }
    return PLIANT_OK;
}

/* The impulse that a contact asks for now, added to what it has. Sums never pull, and friction
 * stays within its cone. */
static vec3 ask_contact(const pl_contact_settings* settings, pl_contact* c, vec3 relative)
{
    if (c->bond)
    {
        vec3 whole = v3_scale(v3_sub(v3_fromd(c->goal), relative), 1 / c->k);
        c->tangent[0] += whole.x, c->tangent[1] += whole.y, c->tangent[2] += whole.z;
        return whole;
    }
    vec3 n = v3_fromd(c->n);
    double speed = v3_dot(relative, n);
    double normal = fmax(c->normal + settings->stiffness * (c->target - speed) / c->k, 0);
    vec3 slip = v3_mad(relative, n, -speed), before = v3_fromd(c->tangent);
    vec3 tangent = v3_mad(before, slip, -settings->stiffness / c->k);
    double most = c->friction * normal, length = v3_length(tangent);
    if (length > most)
        tangent = v3_scale(tangent, most / length);
    vec3 impulse = v3_mad(v3_sub(tangent, before), n, normal - c->normal);
    c->normal = normal;
    c->tangent[0] = tangent.x, c->tangent[1] = tangent.y, c->tangent[2] = tangent.z;
    return impulse;
}

/* What is left in the last iteration is the particles' to resolve, as if clusters were fixed: none
 * may get through. Clusters still get the opposite impulse, which takes them out of the way. Not
 * those that are lighter than the particle, as what breaks off may be: they would be thrown about.
 */
static void let_particles_finish(pl_contacts* all)
{
    for (size_t i = 0; i < all->list.count; ++i)
    {
        pl_contact* c = &all->list.items[i];
        double alone = all->touches[c->particle] * c->inverse_mass;
        double cluster = (c->k / SHARED - alone) / all->motions[c->cluster].contacts;
        if (alone > 0 && cluster < c->inverse_mass)
            c->k = alone;
    }
}

static void iterate(const solver* s, bool last, pl_pool* pool)
{
    pl_contacts* all = s->all;
    for (size_t i = 0; i < all->list.count; ++i)
    {
        /* what a contact sees of a particle may have changed in this iteration by contacts before
         * it: the order is fixed, and that they are seen only helps */
        pl_contact* c = &all->list.items[i];
        pl_cluster_motion* m = &all->motions[c->cluster];
        vec3 arm = v3_fromd(c->arm), surface = v3_add(m->v, v3_cross(m->spin, arm));
        double* dv = all->dv[c->particle];
        vec3 v = pl_contact_velocity(s->bodies[c->body].body, c->slot);
        vec3 relative = v3_sub(v3_add(v, v3_fromd(dv)), surface);
        if (!(c->k > 0))
            continue;
        vec3 impulse = ask_contact(s->settings, c, relative);
        m->push = v3_sub(m->push, impulse);
        m->twist = v3_sub(m->twist, v3_cross(arm, impulse));
        dv[0] += impulse.x * c->inverse_mass;
        dv[1] += impulse.y * c->inverse_mass;
        dv[2] += impulse.z * c->inverse_mass;
    }
    pl_parallel_for(pool, all->body_count, 1, spread_items, (void*)(uintptr_t)s);
    if (!last)
        pl_parallel_for(pool, all->touched_count, 4, refresh_items, (void*)(uintptr_t)s);
}

/* ------------------------------------------------------------------ the whole */

/* Moves what was pushed, and leaves the lists clean. */
static void apply_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const solver* s = context;
    const pl_contacts* all = s->all;
    (void)worker;
    for (uint32_t b = begin; b < end; ++b)
    {
        pl_body* body = s->bodies[b].body;
        pl_particles* p = &body->particles;
        if (body->asleep)
        {
            size_t first = all->slot_begin[b];
            memset(all->touches + first, 0, sizeof *all->touches * p->slot_count);
            memset(all->dv + first, 0, sizeof *all->dv * p->slot_count);
        }
        for (uint32_t n = 0; n < body->chunk_count && !body->asleep; ++n)
        {
            pl_chunk* chunk = &body->chunks[n];
            for (uint32_t slot = chunk->slot_begin; slot < chunk->slot_begin + chunk->slot_count;
                 ++slot)
            {
                double* dv = all->dv[all->slot_begin[b] + slot];
                uint32_t* touches = &all->touches[all->slot_begin[b] + slot];
                chunk->touched += *touches > 0;
                *touches = 0;
                if (dv[0] == 0 && dv[1] == 0 && dv[2] == 0)
                    continue;
                for (int k = 0; k < 3; ++k)
                {
                    p->v[k][slot] = (float)(p->v[k][slot] + dv[k]);
                    p->x[k][slot] = (float)(p->x[k][slot] + s->dt * dv[k]);
                    dv[k] = 0;
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
        if (from < to && !p->all->posed[b])
            pl_poses_set(p->bodies[b].body, p->bodies[b].proxies, p->dt, p->all->drift,
                         p->thickness, from - all->first, to - all->first,
                         p->all->poses + all->first);
    }
}

/* The mean velocity of all clusters: what falls together does not sweep anything. */
static void find_drift(pl_contacts* all, const pl_contact_body* bodies)
{
    double mass = 0, momentum[3] = {0, 0, 0};
    for (uint32_t b = 0; b < all->body_count; ++b)
    {
        if (bodies[b].body->asleep)
        {
            mass = 0; /* what sleeps stands still, and so does what one sees it from */
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
            pl_pair_rules_release(bodies[b].rules, bodies[b].proxies->count,
                                  all->poses + all->pair_bodies[b].first, settings->turn);
    PL_TRY(pl_broadphase_find(&all->broadphase, all->cluster_count, all->poses, all->body_count,
                              all->pair_bodies, pool, &all->pairs));
    return all->pairs.count ? pl_contacts_find(all, bodies, settings, dt, pool) : PLIANT_OK;
}

pl_status pl_contacts_resolve(pl_contacts* all, uint32_t body_count, const pl_contact_body* bodies,
                              const pl_contact_settings* settings, const pl_bond_work* held,
                              double dt, pl_pool* pool)
{
    PL_TRY(lay_out(all, body_count, bodies));
    find_drift(all, bodies);
    double nearness = 0, thickness = 0;
    for (uint32_t b = 0; b < body_count; ++b)
    {
        nearness = fmax(nearness, bodies[b].proxies->most_inset +
                                      PL_CONTACT_NEARNESS * bodies[b].body->rest_shape.spacing);
        thickness = fmax(thickness, pl_contact_thickness(bodies[b].body, settings));
    }
    posing posing_now = {all, bodies, dt, thickness + nearness};
    pl_parallel_for(pool, all->cluster_count, 16, pose_items, &posing_now);
    for (uint32_t b = 0; b < body_count; ++b)
        all->posed[b] = bodies[b].body->asleep ? bodies[b].body : NULL;
    all->list.count = all->pairs.count = 0;
    PL_TRY(pl_broadphase_list(&all->broadphase, all->cluster_count, body_count, all->pair_bodies));
    if (held->touch)
        PL_TRY(find_contacts(all, bodies, settings, dt, pool));
    PL_TRY(pl_contacts_add_bonds(all, bodies, held, dt));
    if (all->list.count == 0)
        return PLIANT_OK;
    solver s = {all, bodies, settings, dt};
    PL_TRY(prepare(&s, pool));
    for (uint32_t i = 0; i < settings->iterations; ++i)
    {
        bool last = i + 1 == settings->iterations;
        if (last)
            let_particles_finish(all);
        iterate(&s, last, pool);
    }
    pl_contacts_break_bonds(all, held, dt);
    pl_parallel_for(pool, body_count, 1, apply_items, &s);
    return PLIANT_OK;
}
