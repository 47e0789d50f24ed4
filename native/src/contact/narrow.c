// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A particle against a cluster's proxy (Jones et al. 2015, section 3.4, Eq. 16), as a path and not
 * as a point: with nothing but the nearest surface a fast particle leaves a thin sheet on the far
 * side. The path is taken in the cluster's rest space, relative to the cluster's rigid motion; the
 * proxy is convex, so the path enters it once, through the surface that it meets last:
 *
 *      start o                 enters the upper half-space here, after it came into the ball:
 *         ----\------------    the upper plane is the contact, wherever the end is
 *              \   ( ball )
 *         ------\----------
 *                o end
 *
 * A path that starts inside is pushed out through the surface that was nearest to its start, by a
 * share of the depth: no explosion. Distances are those in the world: a plane n . r + a = 0 of rest
 * space is (n . r + a) / |F^-T n| away.
 */
#include "clusters.h"
#include "pose.h"

#include <string.h>

/* Seconds in which an overlap that was there before falls to 1/e. */
#define RECOVERY_TIME 0.1

enum
{
    BATCH = 16 /* clusters that share a list of contacts */
};

/* ------------------------------------------------------------------ motions */

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

static void set_motion(const pl_contact_body* owner, uint32_t c, double dt, pl_cluster_motion* m)
{
    const pl_proxies* proxies = owner->proxies;
    const pl_body* body = owner->body;
    vec3 first = v3(0, 0, 0), momentum = first, spin = first;
    mat3 inertia = m3_zero();
    memset(m, 0, sizeof *m);
    for (uint32_t i = proxies->member_begin[c]; i < proxies->member_begin[c + 1]; ++i)
    {
        uint32_t slot = proxies->member_slot[i];
        double mw = (double)body->particles.mass[slot] * proxies->member_weight[i];
        m->mass += mw;
        first = v3_mad(first, pl_contact_start(body, slot, dt), mw);
        momentum = v3_mad(momentum, pl_contact_velocity(body, slot), mw);
    }
    if (!(m->mass > 0))
        return;
    m->x = v3_scale(first, 1 / m->mass);
    m->v = v3_scale(momentum, 1 / m->mass);
    for (uint32_t i = proxies->member_begin[c]; i < proxies->member_begin[c + 1]; ++i)
    {
        uint32_t slot = proxies->member_slot[i];
        double mw = (double)body->particles.mass[slot] * proxies->member_weight[i];
        vec3 arm = v3_sub(pl_contact_start(body, slot, dt), m->x);
        spin = v3_mad(spin, v3_cross(arm, pl_contact_velocity(body, slot)), mw);
        inertia = m3_add(inertia, m3_scale(m3_outer(arm, arm), -mw));
        for (int k = 0; k < 3; ++k)
            inertia.m[k][k] += mw * v3_dot(arm, arm);
    }
    m->inertia_inverse = inverse_inertia(inertia);
    m->spin = m3_mulv(m->inertia_inverse, spin);
    m->used = true;
}

/* ------------------------------------------------------------------ paths */

/* Surfaces of a proxy along a path, as distances in the world: at its start, and their change. */
typedef struct surface
{
    double start, end; /* above 0 is outside */
    double entry;      /* when the path crosses it, 0 to 1 */
    vec3 n;            /* world */
} surface;

typedef struct path
{
    const pl_proxy_pose* pose;
    vec3 from, to; /* rest space */
    double thickness;
} path;

static double stretch_of(const pl_proxy_pose* pose, vec3 n)
{
    return v3_length(m3_mulv(m3_transpose(pose->inverse), n));
}

static surface plane_surface(const path* p, const float* plane)
{
    vec3 n = v3_from(plane);
    double scale = 1 / stretch_of(p->pose, n);
    surface s = {.start = (v3_dot(n, p->from) + plane[3]) * scale - p->thickness,
                 .end = (v3_dot(n, p->to) + plane[3]) * scale - p->thickness};
    s.entry = s.start > 0 && s.start > s.end ? s.start / (s.start - s.end) : 0;
    s.n = pl_pose_normal_to_world(p->pose, n);
    return s;
}

/* The ball: its tangent plane where the path enters, or nearest to the start. */
static bool ball_surface(const path* p, vec3 centre, double radius, surface* s)
{
    vec3 from = v3_sub(p->from, centre), way = v3_sub(p->to, p->from);
    double at = v3_length(from);
    vec3 n = at > 0 ? v3_scale(from, 1 / at) : v3(0, 0, 1);
    radius += p->thickness * stretch_of(p->pose, n);
    s->entry = 0;
    if (at > radius)
    {
        double a = v3_dot(way, way), b = v3_dot(from, way), c = at * at - radius * radius;
        double root = b * b - a * c;
        if (!(b < 0 && root >= 0))
            return false;
        s->entry = c / (-b + sqrt(root)); /* the first root, without cancellation */
        if (!(s->entry <= 1))
            return false;
        n = v3_normalised(v3_mad(from, way, s->entry));
    }
    double scale = 1 / stretch_of(p->pose, n);
    s->start = (v3_dot(n, from) - radius) * scale;
    s->end = (v3_dot(n, v3_add(from, way)) - radius) * scale;
    s->n = pl_pose_normal_to_world(p->pose, n);
    return true;
}

/* When a straight path that is inside at its entry leaves again through the surfaces it started
 * inside of; it must not have left before it has entered the others. */
static bool is_inside_at(const path* p, double t, vec3 centre, double radius, uint32_t count,
                         const float (*planes)[4])
{
    vec3 at = v3_mad(p->from, v3_sub(p->to, p->from), t), arm = v3_sub(at, centre);
    double slack = 1e-9 * radius, far = v3_length(arm);
    vec3 n = far > 0 ? v3_scale(arm, 1 / far) : v3(0, 0, 1);
    if (far > radius * (1 + 1e-6) + p->thickness * stretch_of(p->pose, n))
        return false;
    for (uint32_t i = 0; i < count; ++i)
    {
        vec3 normal = v3_from(planes[i]);
        double over = v3_dot(normal, at) + planes[i][3];
        if (over > slack + p->thickness * stretch_of(p->pose, normal))
            return false;
    }
    return true;
}

/* The surface that the path touches; false if there is none. */
static bool touch(const path* p, vec3 centre, double radius, uint32_t count,
                  const float (*planes)[4], surface* out)
{
    if (!ball_surface(p, centre, radius, out))
        return false;
    for (uint32_t i = 0; i < count; ++i)
    {
        surface s = plane_surface(p, planes[i]);
        if (s.start > 0 && s.end > 0)
            return false;
        bool outside = out->start > 0 || s.start > 0;
        if (outside ? s.start > 0 && (out->start <= 0 || s.entry > out->entry)
                    : s.start > out->start)
            *out = s;
    }
    if (out->start > 0)
        return is_inside_at(p, out->entry, centre, radius, count, planes);
    return true;
}

/* ------------------------------------------------------------------ contacts */

typedef struct search
{
    pl_contacts* contacts;
    const pl_contact_body* bodies;
    const pl_contact_settings* settings;
    double dt;
    int failed;
} search;

static bool path_meets(const pl_proxy_pose* pose, vec3 start, vec3 end)
{
    const double a[3] = {start.x, start.y, start.z}, b[3] = {end.x, end.y, end.z};
    for (int k = 0; k < 3; ++k)
        if (!(PL_MAX(a[k], b[k]) >= pose->lower[k] && PL_MIN(a[k], b[k]) <= pose->upper[k]))
            return false;
    return true;
}

/* Whether a world point is well inside of a cluster's proxy. */
static bool is_within(const search* s, uint32_t cluster, vec3 point)
{
    const pl_contacts* all = s->contacts;
    uint32_t b = pl_contact_body_of(all, cluster), c = cluster - all->pair_bodies[b].first;
    const pl_proxies* proxies = s->bodies[b].proxies;
    const pl_clusters* k = &s->bodies[b].body->clusters;
    vec3 r = pl_pose_to_rest(&all->poses[cluster], point);
    double slack = 1e-3 * k->radius[c];
    if (v3_length(v3_sub(r, v3_from(k->centre[c]))) > k->radius[c] - slack)
        return false;
    for (uint32_t i = proxies->plane_begin[c]; i < proxies->plane_begin[c + 1]; ++i)
        if (v3_dot(v3_from(proxies->plane[i]), r) + proxies->plane[i][3] > -slack)
            return false;
    return true;
}

/* Proxies of a body overlap, so most of their surfaces are inside of it. Were those to push, what
 * rests on the body would be pushed along it, from one proxy to the next. */
static bool is_interior(const search* s, uint32_t cluster, uint32_t home, vec3 point)
{
    const pl_contacts* all = s->contacts;
    uint32_t body = pl_contact_body_of(all, cluster);
    for (uint32_t n = all->partner_begin[home]; n < all->partner_begin[home + 1]; ++n)
    {
        uint32_t other = all->partner[n];
        if (other != cluster && pl_contact_body_of(all, other) == body &&
            is_within(s, other, point))
            return true;
    }
    return false;
}

/* One particle against one cluster; true if it touches and is to be pushed. */
static bool test_particle(const search* s, uint32_t cluster, uint32_t home, const pl_body* body,
                          uint32_t slot, pl_contact* out)
{
    const pl_contacts* all = s->contacts;
    const pl_contact_body* owner = &s->bodies[pl_contact_body_of(all, cluster)];
    const pl_proxy_pose* pose = &all->poses[cluster];
    const pl_cluster_motion* motion = &all->motions[cluster];
    vec3 end = pl_contact_end(body, slot), v = pl_contact_velocity(body, slot);
    vec3 start = v3_mad(end, v, -s->dt);
    vec3 surface_v = v3_add(motion->v, v3_cross(motion->spin, v3_sub(start, motion->x)));
    vec3 relative = v3_sub(v, surface_v);
    if (!path_meets(pose, v3_mad(end, relative, -s->dt), end))
        return false;
    uint32_t c = cluster - all->pair_bodies[pl_contact_body_of(all, cluster)].first;
    uint32_t first = owner->proxies->plane_begin[c];
    path p = {.pose = pose, .to = pl_pose_to_rest(pose, end), .thickness = s->settings->thickness};
    p.from = v3_mad(p.to, m3_mulv(pose->inverse, relative), -s->dt);
    surface hit;
    if (!touch(&p, v3_from(owner->body->clusters.centre[c]), owner->body->clusters.radius[c],
               owner->proxies->plane_begin[c + 1] - first,
               (const float(*)[4])(owner->proxies->plane + first), &hit))
        return false;
    double speed = v3_dot(relative, hit.n);
    bool fresh = hit.start > 0;
    out->interior = is_interior(s, cluster, home, v3_mad(end, hit.n, -hit.end));
    if (!out->interior)
        __atomic_store_n(&all->exterior[out->particle], 1, __ATOMIC_RELAXED);
    else if (fresh)
        return false; /* it comes from another proxy of the body, which sees to it */
    out->target = fresh ? -hit.start / s->dt : -hit.start / (s->dt + RECOVERY_TIME);
    if (fresh && speed < 0)
        out->target = fmax(out->target, -s->settings->restitution * speed);
    if (!(speed < out->target))
        return false;
    out->cluster = cluster;
    out->n[0] = hit.n.x, out->n[1] = hit.n.y, out->n[2] = hit.n.z;
    return true;
}

/* Bounds of a cluster relative to another body's origin, for the many that are not in it. */
typedef struct float_box
{
    float lower[3], upper[3];
} float_box;

static float_box box_for(const pl_proxy_pose* pose, const pl_body* body)
{
    float_box box;
    for (int k = 0; k < 3; ++k)
    {
        double low = pose->lower[k] - body->origin[k], high = pose->upper[k] - body->origin[k];
        double slack = 1e-6 * (fabs(low) + fabs(high)); /* rounding must not cut anything off */
        box.lower[k] = (float)(low - slack), box.upper[k] = (float)(high + slack);
    }
    return box;
}

static bool passes(const float_box* box, const pl_particles* p, uint32_t slot, float dt)
{
    for (int k = 0; k < 3; ++k)
    {
        float end = p->x[k][slot], start = end - dt * p->v[k][slot];
        if (PL_MAX(start, end) < box->lower[k] || PL_MIN(start, end) > box->upper[k])
            return false;
    }
    return true;
}

/* Each particle comes with its home cluster only, so each counts once. */
static void test_cluster(search* s, uint32_t cluster, pl_contact_list* list)
{
    const pl_contacts* all = s->contacts;
    for (uint32_t n = all->partner_begin[cluster]; n < all->partner_begin[cluster + 1]; ++n)
    {
        uint32_t other = all->partner[n], from = pl_contact_body_of(all, other);
        const pl_contact_body* source = &s->bodies[from];
        uint32_t c = other - all->pair_bodies[from].first;
        float_box box = box_for(&all->poses[cluster], source->body);
        for (uint32_t m = source->proxies->member_begin[c]; m < source->proxies->home_end[c]; ++m)
        {
            uint32_t slot = source->proxies->member_slot[m];
            pl_contact contact = {.particle = all->slot_begin[from] + slot};
            if (!passes(&box, &source->body->particles, slot, (float)s->dt) ||
                !test_particle(s, cluster, other, source->body, slot, &contact))
                continue;
            if (!pl_grow((void**)&list->items, &list->capacity, list->count + 1,
                         sizeof *list->items))
            {
                __atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
                return;
            }
            list->items[list->count++] = contact;
        }
    }
}

static void motion_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    search* s = context;
    pl_contacts* all = s->contacts;
    (void)worker;
    for (uint32_t c = begin; c < end; ++c)
    {
        uint32_t body = pl_contact_body_of(all, c);
        all->motions[c].used = false;
        if (all->partner_begin[c] < all->partner_begin[c + 1])
            set_motion(&s->bodies[body], c - all->pair_bodies[body].first, s->dt, &all->motions[c]);
    }
}

static void test_batches(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    search* s = context;
    (void)worker;
    for (uint32_t n = begin; n < end; ++n)
    {
        pl_contact_list* list = &s->contacts->found[n];
        uint32_t last = PL_MIN((n + 1) * BATCH, s->contacts->cluster_count);
        list->count = 0;
        for (uint32_t c = n * BATCH; c < last; ++c)
            if (s->contacts->motions[c].used)
                test_cluster(s, c, list);
    }
}

/* The partners of each cluster, ascending: pairs are in order, and each is entered both ways. */
static pl_status list_partners(pl_contacts* all)
{
    const pl_pair_list* pairs = &all->pairs;
    if (!pl_grow((void**)&all->partner, &all->partner_capacity, 2 * pairs->count,
                 sizeof *all->partner))
        return pl_fail_memory(pairs->count * 8);
    uint32_t* at = all->partner_begin + 1;
    memset(all->partner_begin, 0, sizeof *at * ((size_t)all->cluster_count + 2));
    for (size_t i = 0; i < pairs->count; ++i)
        ++at[pairs->pairs[i].a + 1], ++at[pairs->pairs[i].b + 1];
    for (uint32_t c = 0; c < all->cluster_count; ++c)
        at[c + 1] += at[c];
    for (size_t i = 0; i < pairs->count; ++i)
        all->partner[at[pairs->pairs[i].b]++] = pairs->pairs[i].a;
    for (size_t i = 0; i < pairs->count; ++i)
        all->partner[at[pairs->pairs[i].a]++] = pairs->pairs[i].b;
    return PLIANT_OK;
}

pl_status pl_contacts_find(pl_contacts* all, const pl_contact_body* bodies,
                           const pl_contact_settings* settings, double dt, pl_pool* pool)
{
    search s = {all, bodies, settings, dt, 0};
    size_t batches = ((size_t)all->cluster_count + BATCH - 1) / BATCH, total = 0;
    PL_TRY(list_partners(all));
    memset(all->exterior, 0, all->particle_count);
    if (!pl_grow((void**)&all->found, &all->found_capacity, batches, sizeof *all->found))
        return pl_fail_memory(batches * sizeof *all->found);
    pl_parallel_for(pool, all->cluster_count, BATCH, motion_items, &s);
    pl_parallel_for(pool, (uint32_t)batches, 1, test_batches, &s);
    for (size_t n = 0; n < batches; ++n)
        total += all->found[n].count;
    if (s.failed ||
        !pl_grow((void**)&all->list.items, &all->list.capacity, total, sizeof *all->list.items))
        return pl_fail_memory(total * sizeof *all->list.items);
    all->list.count = 0;
    for (size_t n = 0; n < batches; ++n)
        for (size_t i = 0; i < all->found[n].count; ++i)
        {
            /* surfaces inside of the body count where a particle is so deep that it has no other */
            const pl_contact* contact = &all->found[n].items[i];
            if (!contact->interior || !all->exterior[contact->particle])
                all->list.items[all->list.count++] = *contact;
        }
    return PLIANT_OK;
}
