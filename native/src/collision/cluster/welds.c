// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Welds. A bond holds a particle at a point of a cluster's rest space, x_c + F_c (a - r_c), or of a
 * collider: the same condition on a relative velocity as a contact, but in all directions and both
 * ways, so the contacts' solver (cluster_contacts.c) takes it as one more. It breaks when the
 * impulse that it needs in a substep is more than its strength; that is a stress, and a particle
 * has the area of a square of the spacing, so that the number of particles does not matter.
 */
#include "collision/cluster/welds.h"

#include "body/cut_query.h"
#include "collision/mesh/moving_mesh_query.h"

static pl_status add_bond(pl_bonds* bonds, pl_bond bond)
{
    if (!pl_grow((void**)&bonds->items, &bonds->capacity, bonds->count + 1, sizeof *bonds->items))
        return pl_fail_memory((bonds->count + 1) * sizeof *bonds->items);
    bonds->items[bonds->count++] = bond;
    return PLIANT_OK;
}

static void set_anchor(pl_bond* bond, vec3 anchor)
{
    bond->anchor[0] = anchor.x, bond->anchor[1] = anchor.y, bond->anchor[2] = anchor.z;
}

/* Where a rest point is in a cluster's ball, widened by "distance": 0 in the middle, 1 at the rim.
 */
static double rank_in_ball(const pl_body* body, const pl_proxies* proxies, uint32_t c, vec3 at,
                           double distance)
{
    const float* ball = proxies->ball[c];
    vec3 middle = v3_add(v3_from(body->clusters.in_body[c]), v3_from(ball));
    double radius = ball[3] + .5 * body->rest_sdf.spacing + distance;
    return v3_length(v3_sub(at, middle)) / radius;
}

static bool has_members(const pl_proxies* proxies, uint32_t c)
{
    return proxies->member_begin[c] < proxies->member_begin[c + 1];
}

/* The cluster of the other body in whose ball the particle is nearest to the middle. */
static bool find_anchor(const pl_contact_body* other, const pl_proxy_pose* poses, vec3 x,
                        double distance, pl_bond* bond)
{
    const pl_body* body = other->body;
    double best = INFINITY;
    for (uint32_t c = 0; c < other->proxies->count; ++c)
    {
        vec3 at = pl_pose_to_rest(&poses[c], x);
        double rank = rank_in_ball(body, other->proxies, c, at, distance);
        if (!(rank <= 1 && rank < best) || !has_members(other->proxies, c) ||
            pl_cluster_distance(body, c, at, NULL) > distance)
            continue;
        best = rank;
        bond->target = c;
        set_anchor(bond, at);
    }
    return best < INFINITY;
}

/* Whether a cut keeps a rest point from a cluster. */
static bool is_cut_off(const pl_body* body, uint32_t c, vec3 at)
{
    const pl_cuts* cuts = &body->cuts;
    if (!cuts->plane_count)
        return false;
    for (uint32_t i = cuts->side_begin[c]; i < cuts->side_begin[c + 1]; ++i)
        if (cuts->inner[i] &&
            pl_across_cut(&cuts->plane[cuts->side[i] / 2], cuts->side[i] & 1, at) > 0)
            return true;
    return pl_crack_distance(body, cuts->piece[c], at, NULL) > 0;
}

void pl_bonds_follow(pl_bonds* bonds, uint32_t b, const pl_body* body, const pl_proxies* proxies)
{
    for (size_t i = 0; i < bonds->count; ++i)
    {
        pl_bond* bond = &bonds->items[i];
        vec3 at = v3_fromd(bond->anchor);
        if (bond->other != b ||
            (bond->target < proxies->count && has_members(proxies, bond->target) &&
             rank_in_ball(body, proxies, bond->target, at, body->spacing) <= 1 &&
             !is_cut_off(body, bond->target, at)))
            continue;
        double best = INFINITY;
        for (uint32_t c = 0; c < proxies->count; ++c)
        {
            /* one that a crack keeps from it comes last */
            double rank = rank_in_ball(body, proxies, c, at, 0) + 1e6 * is_cut_off(body, c, at);
            if (!(rank < best) || !has_members(proxies, c))
                continue;
            best = rank;
            bond->target = c;
        }
    }
}

pl_status pl_bonds_to_body(pl_bonds* bonds, uint32_t a, const pl_contact_body* body, uint32_t b,
                           const pl_contact_body* other, const pl_proxy_pose* poses,
                           double distance, double strength)
{
    const pl_particles* p = &body->body->particles;
    double area = body->body->spacing * body->body->spacing;
    for (uint32_t slot = 0; slot < p->slot_count; ++slot)
    {
        pl_bond bond = {.body = a, .particle = p->id[slot], .other = b, .most = strength * area};
        if (p->mass[slot] > 0 &&
            find_anchor(other, poses, pl_contact_end(body->body, slot), distance, &bond))
            PL_TRY(add_bond(bonds, bond));
    }
    return PLIANT_OK;
}

static double collider_distance(const pl_collider_step* s, vec3 p)
{
    const double *e = s->extent, outside = s->inside_out ? -1 : 1;
    double d = 0, across = sqrt(p.x * p.x + p.y * p.y);
    vec3 over = v3(fabs(p.x) - e[0], fabs(p.y) - e[1], fabs(p.z) - e[2]);
    if (s->shape == PLIANT_SHAPE_PLANE)
        return p.z;
    if (s->shape == PLIANT_SHAPE_SPHERE)
        d = v3_length(p) - e[0];
    else if (s->shape == PLIANT_SHAPE_CAPSULE)
        d = v3_length(v3(p.x, p.y, fmax(fabs(p.z) - e[1], 0))) - e[0];
    else if (s->shape == PLIANT_SHAPE_CYLINDER)
        over = v3(across - e[0], fabs(p.z) - e[1], -1e300);
    if (s->shape == PLIANT_SHAPE_BOX || s->shape == PLIANT_SHAPE_CYLINDER)
        d = fmin(fmax(over.x, fmax(over.y, over.z)), 0) + v3_length(v3_max(over, v3(0, 0, 0)));
    return outside * d;
}

/* ------------------------------------------------------------------ meshes */

/* Columns: along the first edge, across it, the normal; none for a triangle without an area. */
static mat3 triangle_frame(const pl_corners* t)
{
    if (!pl_corners_area(t))
        return m3_zero();
    vec3 x = v3_normalised(v3_sub(t->b, t->a)), z = v3_normalised(pl_corners_normal(t)),
         y = v3_cross(z, x);
    return (mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

static pl_corners corners_at(const pl_mesh_collider* mesh, uint32_t triangle, double t)
{
    vec3 at[3];
    for (int k = 0; k < 3; ++k)
    {
        uint32_t i = mesh->triangles[3 * (size_t)triangle + k];
        at[k] = v3_mad(mesh->from[i], v3_sub(mesh->to[i], mesh->from[i]), t);
    }
    return (pl_corners){at[0], at[1], at[2]};
}

static vec3 anchor_on_mesh(const pl_mesh_collider* mesh, const pl_bond* bond, double t)
{
    pl_corners now = corners_at(mesh, bond->triangle, t);
    const double *w = bond->weights, weights[3] = {1 - w[0] - w[1], w[0], w[1]};
    return v3_add(pl_corners_mix(&now, weights),
                  m3_mulv(triangle_frame(&now), v3_fromd(bond->anchor)));
}

static pl_status bonds_to_mesh(pl_bonds* bonds, uint32_t a, const pl_body* body, uint32_t index,
                               const pl_collider* collider, double distance, double strength)
{
    const pl_particles* p = &body->particles;
    pl_mesh_collider* mesh = collider->mesh;
    double area = body->spacing * body->spacing, weights[3];
    pl_mesh_collider_refit(mesh);
    pl_moving_view view = {.mesh = mesh, .tree = mesh->tree};
    for (uint32_t slot = 0; slot < p->slot_count; ++slot)
    {
        vec3 x = pl_contact_end(body, slot);
        if (!(p->mass[slot] > 0))
            continue;
        uint32_t near = pl_moving_nearest(&view, x, weights);
        if (near == PL_NO_TRIANGLE)
            continue;
        pl_bond bond = {.body = a,
                        .particle = p->id[slot],
                        .other = PL_NO_BODY,
                        .target = index,
                        .triangle = mesh->tree->order[near],
                        .most = strength * area};
        pl_corners now = corners_at(mesh, bond.triangle, 0);
        vec3 nearest = pl_triangle_nearest(&now, x, weights), off = v3_sub(x, nearest);
        bool inside = collider->shape == PLIANT_SHAPE_MESH && pl_moving_inside(&view, x);
        if (v3_length(off) > distance && !inside)
            continue;
        bond.weights[0] = weights[1], bond.weights[1] = weights[2];
        set_anchor(&bond, m3_mulv(m3_transpose(triangle_frame(&now)), off));
        PL_TRY(add_bond(bonds, bond));
    }
    return PLIANT_OK;
}

pl_status pl_bonds_to_collider(pl_bonds* bonds, uint32_t a, const pl_body* body, uint32_t index,
                               const pl_collider* collider, double distance, double strength)
{
    if (collider->mesh)
        return bonds_to_mesh(bonds, a, body, index, collider, distance, strength);
    const pl_particles* p = &body->particles;
    const double zero[3] = {0, 0, 0};
    double area = body->spacing * body->spacing;
    pl_collider_step step;
    vec3 position;
    mat3 rotation;
    pl_collider_prepare(collider, zero, 0, 0, &step);
    pl_collider_place(collider, 0, &position, &rotation);
    for (uint32_t slot = 0; slot < p->slot_count; ++slot)
    {
        vec3 x = v3_sub(pl_contact_end(body, slot), position);
        vec3 local = m3_mulv(m3_transpose(rotation), x);
        if (!(p->mass[slot] > 0) || collider_distance(&step, local) > distance)
            continue;
        pl_bond bond = {.body = a,
                        .particle = p->id[slot],
                        .other = PL_NO_BODY,
                        .target = index,
                        .most = strength * area};
        set_anchor(&bond, local);
        PL_TRY(add_bond(bonds, bond));
    }
    return PLIANT_OK;
}

void pl_bonds_drop_body(pl_bonds* bonds, uint32_t body)
{
    for (size_t i = 0; i < bonds->count; ++i)
    {
        pl_bond* bond = &bonds->items[i];
        bond->broken = bond->body == body || bond->other == body;
        bond->body -= bond->body > body;
        bond->other -= bond->other != PL_NO_BODY && bond->other > body;
    }
    pl_bonds_clean(bonds);
}

void pl_bonds_drop_collider(pl_bonds* bonds, uint32_t collider)
{
    for (size_t i = 0; i < bonds->count; ++i)
    {
        pl_bond* bond = &bonds->items[i];
        bond->broken = bond->other == PL_NO_BODY && bond->target == collider;
        bond->target -= bond->other == PL_NO_BODY && bond->target > collider;
    }
    pl_bonds_clean(bonds);
}

size_t pl_bonds_clean(pl_bonds* bonds)
{
    size_t kept = 0, count = bonds->count;
    for (size_t i = 0; i < count; ++i)
        if (!bonds->items[i].broken)
            bonds->items[kept++] = bonds->items[i];
    bonds->count = kept;
    return count - kept;
}

/* ------------------------------------------------------------------ a substep */

/* The share of what a bond is off that a substep takes back. */
#define SHARE 0.8

static vec3 anchor_now(const pl_contacts* all, const pl_bond_work* held, const pl_bond* bond)
{
    vec3 anchor = v3_fromd(bond->anchor), position;
    mat3 rotation;
    if (bond->other != PL_NO_BODY)
        return pl_pose_to_world(&all->poses[all->pair_bodies[bond->other].first + bond->target],
                                anchor);
    const pl_collider* collider = held->colliders[bond->target];
    if (collider->mesh)
        return anchor_on_mesh(collider->mesh, bond, held->t1);
    pl_collider_place(collider, held->t1, &position, &rotation);
    return v3_add(m3_mulv(rotation, anchor), position);
}

/* Contacts of bonded particles with the body that they are bonded to. */
static pl_status drop_contacts(pl_contacts* all, const pl_contact_body* bodies,
                               const pl_bonds* bonds)
{
    size_t kept = 0;
    if (all->list.count == 0)
        return PLIANT_OK;
    uint32_t* bonded = PL_NEW(uint32_t, all->particle_count); /* 1 + the other body */
    if (!bonded)
        return pl_fail_memory((size_t)all->particle_count * 4);
    for (size_t i = 0; i < bonds->count; ++i)
    {
        const pl_bond* bond = &bonds->items[i];
        uint32_t slot = bodies[bond->body].body->particles.slot_of[bond->particle];
        if (bond->other != PL_NO_BODY)
            bonded[all->slot_begin[bond->body] + slot] = bond->other + 1;
    }
    for (size_t i = 0; i < all->list.count; ++i)
    {
        const pl_contact* c = &all->list.items[i];
        if (bonded[c->particle] != pl_contact_body_of(all, c->cluster) + 1)
            all->list.items[kept++] = *c;
    }
    pl_free(bonded);
    all->list.count = kept;
    return PLIANT_OK;
}

pl_status pl_contacts_add_bonds(pl_contacts* all, const pl_contact_body* bodies,
                                const pl_bond_work* held, double dt)
{
    const pl_bonds* bonds = held->bonds;
    if (!bonds || bonds->count == 0)
        return PLIANT_OK;
    PL_TRY(drop_contacts(all, bodies, bonds));
    if (!pl_grow((void**)&all->list.items, &all->list.capacity, all->list.count + bonds->count,
                 sizeof *all->list.items))
        return pl_fail_memory((all->list.count + bonds->count) * sizeof *all->list.items);
    for (size_t i = 0; i < bonds->count; ++i)
    {
        const pl_bond* bond = &bonds->items[i];
        const pl_body* body = bodies[bond->body].body;
        uint32_t slot = body->particles.slot_of[bond->particle];
        bool to_body = bond->other != PL_NO_BODY;
        if (body->asleep && (!to_body || bodies[bond->other].body->asleep))
            continue;
        vec3 off = v3_sub(pl_contact_end(body, slot), anchor_now(all, held, bond));
        vec3 change = v3_scale(off, -(to_body ? SHARE : 1) / dt);
        all->list.items[all->list.count++] =
            (pl_contact){.particle = all->slot_begin[bond->body] + slot,
                         .cluster = to_body ? all->pair_bodies[bond->other].first + bond->target
                                            : all->cluster_count,
                         .bond = (uint32_t)i + 1,
                         .goal = {change.x, change.y, change.z}};
    }
    return PLIANT_OK;
}

void pl_contacts_break_bonds(const pl_contacts* all, const pl_bond_work* held, double dt)
{
    for (size_t i = 0; i < all->list.count; ++i)
    {
        const pl_contact* c = &all->list.items[i];
        if (c->bond && v3_length(v3_from(c->impulse)) > held->bonds->items[c->bond - 1].most * dt)
            held->bonds->items[c->bond - 1].broken = 1;
    }
}
