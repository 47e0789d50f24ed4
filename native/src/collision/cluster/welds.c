// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Welds. A weld holds a particle at a point of a cluster's rest space, x_c + F_c (a - r_c), or of a
 * collider. It is a bilateral constraint on all three components of the relative velocity, which
 * the contact solver handles like a contact. It breaks when its impulse in a substep exceeds its
 * strength. Strength is a stress over the area of a square of the spacing per particle, so it does
 * not depend on the number of particles.
 */
#include "collision/cluster/welds.h"

#include "body/cut_query.h"
#include "collision/mesh/ccd.h"

static pl_status add_weld(pl_welds* welds, pl_weld weld)
{
    if (!pl_grow((void**)&welds->items, &welds->capacity, welds->count + 1, sizeof *welds->items))
        return pl_fail_memory((welds->count + 1) * sizeof *welds->items);
    welds->items[welds->count++] = weld;
    return PLIANT_OK;
}

static void set_anchor(pl_weld* weld, vec3 anchor)
{
    weld->anchor[0] = anchor.x, weld->anchor[1] = anchor.y, weld->anchor[2] = anchor.z;
}

/* Distance of a rest point from the centre of a cluster's ball, relative to the radius plus
 * "distance". */
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

/* Picks the cluster of the other body in whose ball the particle is most central. */
static bool find_anchor(const pl_contact_body* other, const pl_proxy_pose* poses, vec3 x,
                        double distance, pl_weld* weld)
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
        weld->target = c;
        set_anchor(weld, at);
    }
    return best < INFINITY;
}

/* Whether a cut separates a rest point from a cluster. */
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

void pl_welds_reattach(pl_welds* welds, uint32_t b, const pl_body* body, const pl_proxies* proxies)
{
    for (size_t i = 0; i < welds->count; ++i)
    {
        pl_weld* weld = &welds->items[i];
        vec3 at = v3_fromd(weld->anchor);
        if (weld->other != b ||
            (weld->target < proxies->count && has_members(proxies, weld->target) &&
             rank_in_ball(body, proxies, weld->target, at, body->spacing) <= 1 &&
             !is_cut_off(body, weld->target, at)))
            continue;
        double best = INFINITY;
        for (uint32_t c = 0; c < proxies->count; ++c)
        {
            /* clusters behind a crack rank last */
            double rank = rank_in_ball(body, proxies, c, at, 0) + 1e6 * is_cut_off(body, c, at);
            if (!(rank < best) || !has_members(proxies, c))
                continue;
            best = rank;
            weld->target = c;
        }
    }
}

pl_status pl_welds_to_body(pl_welds* welds, uint32_t a, const pl_contact_body* body, uint32_t b,
                           const pl_contact_body* other, const pl_proxy_pose* poses,
                           double distance, double strength)
{
    const pl_particles* p = &body->body->particles;
    double area = body->body->spacing * body->body->spacing;
    for (uint32_t slot = 0; slot < p->slot_count; ++slot)
    {
        pl_weld weld = {.body = a, .particle = p->id[slot], .other = b, .most = strength * area};
        if (p->mass[slot] > 0 &&
            find_anchor(other, poses, pl_contact_end(body->body, slot), distance, &weld))
            PL_TRY(add_weld(welds, weld));
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

/* Columns: along the first edge, across it, the normal; zero for a degenerate triangle. */
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

static vec3 anchor_on_mesh(const pl_mesh_collider* mesh, const pl_weld* weld, double t)
{
    pl_corners now = corners_at(mesh, weld->triangle, t);
    const double *w = weld->weights, weights[3] = {1 - w[0] - w[1], w[0], w[1]};
    return v3_add(pl_corners_mix(&now, weights),
                  m3_mulv(triangle_frame(&now), v3_fromd(weld->anchor)));
}

static pl_status welds_to_mesh(pl_welds* welds, uint32_t a, const pl_body* body, uint32_t index,
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
        pl_weld weld = {.body = a,
                        .particle = p->id[slot],
                        .other = PL_NO_BODY,
                        .target = index,
                        .triangle = mesh->tree->order[near],
                        .most = strength * area};
        pl_corners now = corners_at(mesh, weld.triangle, 0);
        vec3 nearest = pl_triangle_nearest(&now, x, weights), off = v3_sub(x, nearest);
        bool inside = collider->shape == PLIANT_SHAPE_MESH && pl_moving_inside(&view, x);
        if (v3_length(off) > distance && !inside)
            continue;
        weld.weights[0] = weights[1], weld.weights[1] = weights[2];
        set_anchor(&weld, m3_mulv(m3_transpose(triangle_frame(&now)), off));
        PL_TRY(add_weld(welds, weld));
    }
    return PLIANT_OK;
}

pl_status pl_welds_to_collider(pl_welds* welds, uint32_t a, const pl_body* body, uint32_t index,
                               const pl_collider* collider, double distance, double strength)
{
    if (collider->mesh)
        return welds_to_mesh(welds, a, body, index, collider, distance, strength);
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
        pl_weld weld = {.body = a,
                        .particle = p->id[slot],
                        .other = PL_NO_BODY,
                        .target = index,
                        .most = strength * area};
        set_anchor(&weld, local);
        PL_TRY(add_weld(welds, weld));
    }
    return PLIANT_OK;
}

void pl_welds_drop_body(pl_welds* welds, uint32_t body)
{
    for (size_t i = 0; i < welds->count; ++i)
    {
        pl_weld* weld = &welds->items[i];
        weld->broken = weld->body == body || weld->other == body;
        weld->body -= weld->body > body;
        weld->other -= weld->other != PL_NO_BODY && weld->other > body;
    }
    pl_welds_remove_broken(welds);
}

void pl_welds_drop_collider(pl_welds* welds, uint32_t collider)
{
    for (size_t i = 0; i < welds->count; ++i)
    {
        pl_weld* weld = &welds->items[i];
        weld->broken = weld->other == PL_NO_BODY && weld->target == collider;
        weld->target -= weld->other == PL_NO_BODY && weld->target > collider;
    }
    pl_welds_remove_broken(welds);
}

size_t pl_welds_remove_broken(pl_welds* welds)
{
    size_t kept = 0, count = welds->count;
    for (size_t i = 0; i < count; ++i)
        if (!welds->items[i].broken)
            welds->items[kept++] = welds->items[i];
    welds->count = kept;
    return count - kept;
}

/* ------------------------------------------------------------------ a substep */

/* Share of a weld's position error that a substep corrects. */
#define SHARE 0.8

static vec3 anchor_now(const pl_contacts* all, const pl_weld_work* held, const pl_weld* weld)
{
    vec3 anchor = v3_fromd(weld->anchor), position;
    mat3 rotation;
    if (weld->other != PL_NO_BODY)
        return pl_pose_to_world(&all->poses[all->pair_bodies[weld->other].first + weld->target],
                                anchor);
    const pl_collider* collider = held->colliders[weld->target];
    if (collider->mesh)
        return anchor_on_mesh(collider->mesh, weld, held->t1);
    pl_collider_place(collider, held->t1, &position, &rotation);
    return v3_add(m3_mulv(rotation, anchor), position);
}

/* Removes contacts of particles with the body that they are welded to. */
static pl_status drop_contacts(pl_contacts* all, const pl_contact_body* bodies,
                               const pl_welds* welds)
{
    size_t kept = 0;
    if (all->list.count == 0)
        return PLIANT_OK;
    uint32_t* welded = PL_NEW(uint32_t, all->particle_count); /* 1 + the other body */
    if (!welded)
        return pl_fail_memory((size_t)all->particle_count * 4);
    for (size_t i = 0; i < welds->count; ++i)
    {
        const pl_weld* weld = &welds->items[i];
        uint32_t slot = bodies[weld->body].body->particles.slot_of[weld->particle];
        if (weld->other != PL_NO_BODY)
            welded[all->slot_begin[weld->body] + slot] = weld->other + 1;
    }
    for (size_t i = 0; i < all->list.count; ++i)
    {
        const pl_contact* c = &all->list.items[i];
        if (welded[c->particle] != pl_contact_body_of(all, c->cluster) + 1)
            all->list.items[kept++] = *c;
    }
    pl_free(welded);
    all->list.count = kept;
    return PLIANT_OK;
}

pl_status pl_contacts_add_welds(pl_contacts* all, const pl_contact_body* bodies,
                                const pl_weld_work* held, double dt)
{
    const pl_welds* welds = held->welds;
    if (!welds || welds->count == 0)
        return PLIANT_OK;
    PL_TRY(drop_contacts(all, bodies, welds));
    if (!pl_grow((void**)&all->list.items, &all->list.capacity, all->list.count + welds->count,
                 sizeof *all->list.items))
        return pl_fail_memory((all->list.count + welds->count) * sizeof *all->list.items);
    for (size_t i = 0; i < welds->count; ++i)
    {
        const pl_weld* weld = &welds->items[i];
        const pl_body* body = bodies[weld->body].body;
        uint32_t slot = body->particles.slot_of[weld->particle];
        bool to_body = weld->other != PL_NO_BODY;
        if (body->asleep && (!to_body || bodies[weld->other].body->asleep))
            continue;
        vec3 off = v3_sub(pl_contact_end(body, slot), anchor_now(all, held, weld));
        vec3 change = v3_scale(off, -(to_body ? SHARE : 1) / dt);
        all->list.items[all->list.count++] =
            (pl_contact){.particle = all->slot_begin[weld->body] + slot,
                         .cluster = to_body ? all->pair_bodies[weld->other].first + weld->target
                                            : all->cluster_count,
                         .weld = (uint32_t)i + 1,
                         .goal = {change.x, change.y, change.z}};
    }
    return PLIANT_OK;
}

void pl_contacts_break_welds(const pl_contacts* all, const pl_weld_work* held, double dt)
{
    for (size_t i = 0; i < all->list.count; ++i)
    {
        const pl_contact* c = &all->list.items[i];
        if (c->weld && v3_length(v3_from(c->impulse)) > held->welds->items[c->weld - 1].most * dt)
            held->welds->items[c->weld - 1].broken = 1;
    }
}
