// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A particle against a cluster (Jones et al. 2015, section 3.4, Eq. 16): the particle is taken to
 * the cluster's rest space, x' = r_c + F_c^-1 (x - x_c), and pushed to the nearest point of the
 * shape that it finds there. The paper's shape is the cluster's ball and half-spaces. Here these
 * say where the cluster has a say at all, and the surface is that of the whole body at rest
 * (setup/rest_shape.c) with the half-spaces that were added since: it is as flat as the body, and
 * it has no inside faces between one cluster and the next.
 *
 * Where several clusters of a body see a particle, the one in whose ball it is nearest to the
 * middle decides: each particle touches a body once, and its neighbours see the same surface.
 *
 * The particle is a path and not a point, relative to the cluster's rigid motion: with nothing but
 * the nearest surface a fast one leaves a thin sheet on the far side. The path is followed by
 * steps of the distance (Hart, Sphere Tracing, 1996) until it enters:
 *
 *      start o                  the contact is where the path enters, wherever the end is;
 *         ----\-------- body    one that starts inside is pushed out by a share of the depth
 *              o end
 */
#include "../state_cuts.h"
#include "clusters.h"
#include "pose.h"

#include <string.h>

/* Seconds in which an overlap that was there before falls to 1/e. */
#define RECOVERY_TIME 0.1
/* Spacings a second with which sides of material that came apart leave each other. */
#define PARTING_SPEED 0.5
/* In spacings: how far a cluster would go past a surface within a substep. */
#define DEEP 1.0
/* In spacings: how short a step along a path is at least. */
#define LEAST_STEP 0.05

enum
{
    BATCH = 16,      /* clusters that share a list of contacts */
    MOST_STEPS = 200 /* along a path */
};

typedef struct search
{
    pl_contacts* contacts;
    const pl_contact_body* bodies;
    const pl_contact_settings* settings;
    double dt;
    int failed;
} search;

/* ------------------------------------------------------------------ motions */

/* The rigid motion that the fit found, near enough for a path. */
static void motion_from_fit(const pl_contact_body* owner, uint32_t c, const pl_proxy_pose* pose,
                            double dt, pl_cluster_motion* m)
{
    const pl_clusters* k = &owner->body->clusters;
    const float *sums = k->sums[c], *a = k->arr[c];
    mat3 arr = {{{a[0], a[3], a[5]}, {a[3], a[1], a[4]}, {a[5], a[4], a[2]}}};
    mat3 second = m3_mul(pose->f, m3_mul(arr, m3_transpose(pose->f)));
    mat3 inertia = m3_scale(second, -1);
    double trace = m3_trace(second);
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += trace * (1 + 1e-3);
    m->v = v3_from(sums + 12);
    m->spin = trace > 0 ? m3_mulv(m3_inverse(inertia), v3_from(sums + 15)) : v3(0, 0, 0);
    m->x = v3_mad(v3_fromd(pose->x), m->v, -dt);
}

static void motion_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    search* s = context;
    pl_contacts* all = s->contacts;
    (void)worker;
    for (uint32_t c = begin; c < end; ++c)
    {
        uint32_t body = pl_contact_body_of(all, c);
        if (all->motions[c].wanted)
            motion_from_fit(&s->bodies[body], c - all->pair_bodies[body].first, &all->poses[c],
                            s->dt, &all->motions[c]);
    }
}

/* ------------------------------------------------------------------ one path, one cluster */

/* A cluster that is touched, as one reads it again and again. */
typedef struct target
{
    const pl_body* body;
    const pl_rest_shape* shape;
    const pl_proxy_pose* pose;
    const pl_cluster_motion* motion;
    mat3 to_own; /* from the body's rest shape to where the cluster's ball is round */
    vec3 centre; /* of the ball, in the body's rest shape */
    double radius;
    double apart;     /* the least way in the material from a particle to where it may touch */
    uint32_t cluster; /* in the list of all */
    uint32_t own;     /* of the body's */
    bool plain;       /* the two are the same */
    bool self;        /* of the particle's own piece */
} target;

/* Pieces of bodies, in the order of bodies; bodies that were never cut count as one. */
static uint64_t piece_of(const search* s, uint32_t cluster)
{
    const pl_contacts* all = s->contacts;
    uint32_t body = pl_contact_body_of(all, cluster);
    const pl_cuts* cuts = &s->bodies[body].body->cuts;
    uint32_t piece = cuts->plane_count ? cuts->piece[cluster - all->pair_bodies[body].first] : 0;
    return (uint64_t)body << 32 | piece;
}

/* How far from its own place a particle must be seen, as the ball measures it, for what it meets to
 * be something else than the material around it: the ball's radius, if both clusters have their
 * volume. In crushed material a short way in the world is a long way at rest, and clusters do not
 * agree on what is where. Contacts within it would hold its folds as they are, when it wants to get
 * out of them; in what is inside out they would push to the wrong side. */
static double least_way(const pl_clusters* k, double radius, uint32_t a, uint32_t b)
{
    const float* both[2] = {k->f[a], k->f[b]};
    double volume = 1; /* now, of what it is at rest */
    for (int i = 0; i < 2; ++i)
    {
        const float* f = both[i];
        mat3 map = {{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}, {f[6], f[7], f[8]}}};
        volume = fmin(volume, m3_det(map));
    }
    return volume > 0 ? radius / volume : INFINITY;
}

static target target_of(const search* s, uint32_t cluster, uint32_t home)
{
    const pl_contacts* all = s->contacts;
    uint32_t b = pl_contact_body_of(all, cluster), c = cluster - all->pair_bodies[b].first;
    const pl_body* body = s->bodies[b].body;
    const pl_clusters* k = &body->clusters;
    const float* ball = s->bodies[b].proxies->ball[c];
    target t = {.body = body,
                .shape = &body->rest_shape,
                .pose = &all->poses[cluster],
                .motion = &all->motions[cluster],
                .radius = ball[3] + .5 * body->rest_shape.spacing,
                .cluster = cluster,
                .own = c,
                .plain = !k->own[c],
                .self = piece_of(s, cluster) == piece_of(s, home)};
    vec3 off = v3_from(ball);
    for (int i = 0; i < 9 && !t.plain; ++i)
        t.to_own.m[i / 3][i % 3] = k->from_body[c][i];
    if (!t.plain)
    {
        t.to_own = pl_pose_mend(t.to_own);
        off = m3_mulv(m3_inverse(t.to_own), off);
    }
    t.centre = v3_add(v3_from(k->in_body[c]), off);
    if (t.self)
        t.apart = least_way(k, t.radius, c, home - all->pair_bodies[b].first);
    return t;
}

/* From one rest point to another, as the cluster's ball measures it. */
static vec3 between(const target* t, vec3 from, vec3 to)
{
    vec3 way = v3_sub(to, from);
    return t->plain ? way : m3_mulv(t->to_own, way);
}

/* What a cluster says of a particle. */
typedef struct verdict
{
    double rank; /* the least of all decides */
    bool touches;
    bool parted; /* the two were one before they were split */
    double gap;  /* world, at the start of the substep, along n; negative inside */
    vec3 n;
    uint32_t cluster;
} verdict;

/* A particle of the substep, as every cluster near it sees it. */
typedef struct traveller
{
    const pl_body* body;
    uint32_t slot, home;
    vec3 start, end, v;
    double keep; /* the distance that it keeps from surfaces */
    double thickness;
    const float* crack;        /* the nearest crack of its own piece (pl_proxies), or NULL */
    const pl_proxy_pose* pose; /* of its home */
} traveller;

/* A particle and a cluster. Those on two sides of a slit see its plane between them. */
typedef struct sight
{
    const target* t;
    const traveller* p;
    bool slit;
} sight;

static double distance_to(const sight* v, vec3 at, vec3* slope)
{
    const pl_body* body = v->t->body;
    double distance = pl_cluster_distance(body, v->t->own, at, slope), beyond;
    vec3 normal;
    if (!v->slit ||
        !pl_cuts_part(body, body->particles.id[v->p->slot], v->p->home, v->t->own, at, &beyond,
                      &normal) ||
        !(beyond > distance))
        return distance;
    if (slope)
        *slope = normal;
    return beyond;
}

/* When the path comes within "thickness": 0 to 1, or more than 1. Its end is at a distance of
 * "end": around that, too, nothing is as near as the distance. */
static double follow(const sight* v, vec3 start, vec3 way, double length, double end,
                     double thickness)
{
    double at = 0, least = LEAST_STEP * v->t->shape->spacing, over = end - thickness;
    double clear = over > 0 && !v->slit ? length - .9 * over : INFINITY;
    for (int i = 0; i < MOST_STEPS && at <= length; ++i)
    {
        double part = length > 0 ? at / length : 0;
        double left = distance_to(v, v3_mad(start, way, part), NULL) - thickness;
        if (left <= 0)
            return part;
        at += fmax(.9 * left, least);
        if (at >= clear || !(length > 0))
            return 2;
    }
    return over <= 0 ? 1 : 2;
}

/* Fills what is known of a particle that touches at the rest point "at" of its path from "from". */
static bool touch(const sight* v, vec3 from, vec3 at, double keep, verdict* out)
{
    const target* t = v->t;
    vec3 slope;
    double distance = distance_to(v, at, &slope), steep = v3_length(slope);
    if (!(steep > .05))
        return false; /* as deep as it can be: no way out is nearer than another */
    vec3 rest_n = v3_scale(slope, 1 / steep);
    vec3 n = m3_mulv(m3_transpose(t->pose->inverse), rest_n);
    double stretch = v3_length(n);
    out->n = v3_scale(n, 1 / stretch);
    out->gap = (v3_dot(rest_n, v3_sub(from, at)) + distance / steep) / stretch - keep;
    return true;
}

/* The distance that a particle keeps from what it came apart from. Where cracks face each other it
 * is the surface of its own that meets the other; otherwise as from others. */
static double keep_from_parted(const sight* v, vec3 at)
{
    const float* crack = v->p->crack;
    if (!crack || crack[3] > v->t->shape->spacing)
        return v->p->keep;
    vec3 slope;
    distance_to(v, at, &slope);
    vec3 here = m3_mulv(m3_transpose(v->t->pose->inverse), slope);
    vec3 own = m3_mulv(m3_transpose(v->p->pose->inverse), v3_from(crack));
    double facing = -v3_dot(v3_normalised(here), v3_normalised(own));
    return v->slit || facing > .5 ? crack[3] + v->p->thickness : v->p->keep;
}

/* What the cluster says of the particle; false if that is nothing, or nothing that could count more
 * than what another one said, which ranks as "before". */
static bool judge(const target* t, const traveller* p, double dt, double before, verdict* out)
{
    const pl_proxy_pose* pose = t->pose;
    double spacing = t->shape->spacing;
    vec3 to = pl_pose_to_rest(pose, p->end), off = between(t, t->centre, to);
    vec3 spin = v3_cross(t->motion->spin, v3_sub(p->start, t->motion->x));
    vec3 relative = v3_sub(p->v, v3_add(t->motion->v, spin));
    vec3 way = v3_scale(m3_mulv(pose->inverse, relative), dt);
    double length = v3_length(way), square = v3_dot(off, off);
    double radius = t->radius + (t->plain ? length : v3_length(m3_mulv(t->to_own, way)));
    if (!(square <= radius * radius))
        return false;
    bool fast = length > .25 * spacing;
    if (!fast && square >= before * before * t->radius * t->radius)
        return false;
    vec3 from = v3_sub(to, way), at = to, normal;
    double beyond;
    const uint32_t* id = p->body->particles.id;
    sight v = {t, p, false};
    v.slit = t->self && p->body->cuts.plane_count &&
             pl_cuts_part(p->body, id[p->slot], p->home, t->own, to, &beyond, &normal);
    double end = distance_to(&v, to, NULL);
    out->parted = v.slit || (t->body == p->body && !t->self);
    double keep = out->parted ? keep_from_parted(&v, to) : p->keep;
    bool near = end <= length + keep + PL_CONTACT_NEARNESS * spacing;
    double when = near ? follow(&v, from, way, length, end, keep) : 2;
    out->touches = when <= 1 || (near && end <= keep + PL_CONTACT_NEARNESS * spacing);
    if (when <= 1)
        at = v3_mad(from, way, when);
    double distance = v3_length(between(t, t->centre, at));
    if (distance > t->radius)
        return false;
    /* the same material, seen through another cluster */
    if (t->self && !v.slit && !(v3_length(between(t, pl_rest_of(p->body, p->slot), at)) > t->apart))
        return false;
    /* one that sees it enter knows better than those that find it where it went */
    out->rank = distance / t->radius - (fast && when > 0 && when <= 1 ? 2 : 0);
    out->cluster = t->cluster;
    if (!(out->rank < before))
        return false;
    return !out->touches || touch(&v, from, at, keep, out);
}

/* ------------------------------------------------------------------ clusters */

/* Bounds of what may be touched, relative to the origin of the body that touches. */
typedef struct float_box
{
    float lower[3], upper[3], drift[3];
} float_box;

static float_box box_for(const pl_proxy_pose* pose, const pl_body* body, const double drift[3])
{
    float_box box = {.drift = {(float)drift[0], (float)drift[1], (float)drift[2]}};
    for (int k = 0; k < 3; ++k)
    {
        double low = pose->shape_lower[k] - body->origin[k];
        double high = pose->shape_upper[k] - body->origin[k];
        double slack = 1e-6 * (fabs(low) + fabs(high)); /* rounding must not cut anything off */
        box.lower[k] = (float)(low - slack), box.upper[k] = (float)(high + slack);
    }
    return box;
}

static bool passes(const float_box* box, const pl_particles* p, uint32_t slot, float dt)
{
    for (int k = 0; k < 3; ++k)
    {
        float end = p->x[k][slot], start = end - dt * (p->v[k][slot] - box->drift[k]);
        if (PL_MAX(start, end) < box->lower[k] || PL_MIN(start, end) > box->upper[k])
            return false;
    }
    return true;
}

/* A particle that was pressed through half of a body must not be drawn out on the far side: where
 * the way out leads away from its own cluster, deep inside or far from it, the cluster brings it
 * back. Sheets wrap around what they touch: they have no inside to go back to. */
static bool is_hooked(const search* s, const verdict* found, const pl_body* body, uint32_t slot,
                      uint32_t home)
{
    const pl_contacts* all = s->contacts;
    uint32_t owner = pl_contact_body_of(all, home), c = home - all->pair_bodies[owner].first;
    if (!s->bodies[owner].proxies->solid[c])
        return false;
    vec3 back = v3_sub(v3_fromd(all->poses[home].x), pl_contact_end(body, slot));
    double away = -v3_dot(found->n, back), distance = v3_length(back);
    return away > .2 * distance || (away > 0 && distance > 2 * body->clusters.width_max[c]);
}

/* The least velocity along the normal that resolves a contact. Where material
 * came apart the sides may overlap, by how well their clusters agree on where it was: that goes
 * slowly, so that nothing jumps when it breaks. */
static double recovery(const verdict* found, double spacing, double dt)
{
    if (found->gap > 0)
        return -found->gap / dt;
    double speed = -found->gap / (dt + RECOVERY_TIME);
    return found->parted ? fmin(speed, PARTING_SPEED * spacing) : speed;
}

static void make_contact(const search* s, const verdict* found, uint32_t home, const pl_body* body,
                         uint32_t slot, uint32_t particle, pl_contact* out)
{
    const pl_cluster_motion* m = &s->contacts->motions[found->cluster];
    vec3 start = pl_contact_start(body, slot, s->dt);
    memset(out, 0, sizeof *out);
    out->target = recovery(found, body->rest_shape.spacing, s->dt);
    out->particle = particle;
    out->cluster = found->cluster;
    vec3 carried = v3_add(m->v, v3_cross(m->spin, v3_sub(start, m->x)));
    const pl_cluster_motion* behind = &s->contacts->motions[home];
    vec3 comes = v3_add(behind->v, v3_cross(behind->spin, v3_sub(start, behind->x)));
    double passed = -found->gap - s->dt * v3_dot(v3_sub(comes, carried), found->n);
    out->home = passed > DEEP * body->rest_shape.spacing ? home + 1 : 0;
    out->n[0] = found->n.x, out->n[1] = found->n.y, out->n[2] = found->n.z;
}

/* A particle that some cluster of a piece may touch, and the best that was said of it. */
typedef struct candidate
{
    traveller p;
    verdict best;
} candidate;

/* Around all that the particles may touch. */
static float_box box_around(const search* s, const pl_body* body, uint32_t begin, uint32_t end)
{
    const pl_contacts* all = s->contacts;
    float_box box = box_for(&all->poses[all->partner[begin]], body, all->drift);
    for (uint32_t n = begin + 1; n < end; ++n)
    {
        float_box more = box_for(&all->poses[all->partner[n]], body, all->drift);
        for (int k = 0; k < 3; ++k)
        {
            box.lower[k] = PL_MIN(box.lower[k], more.lower[k]);
            box.upper[k] = PL_MAX(box.upper[k], more.upper[k]);
        }
    }
    return box;
}

/* Surface particles of a cluster that pass the clusters partner[begin] to partner[end - 1]. */
static uint32_t list_candidates(const search* s, uint32_t home, uint32_t begin, uint32_t end,
                                candidate* out)
{
    const pl_contacts* all = s->contacts;
    uint32_t from = pl_contact_body_of(all, home), c = home - all->pair_bodies[from].first;
    const pl_proxies* proxies = s->bodies[from].proxies;
    const pl_body* body = s->bodies[from].body;
    const pl_body* other = s->bodies[pl_contact_body_of(all, all->partner[begin])].body;
    double thickness =
        fmax(pl_contact_thickness(body, s->settings), pl_contact_thickness(other, s->settings));
    const float(*cracks)[4] = (const float(*)[4])proxies->crack;
    float_box box = box_around(s, body, begin, end);
    uint32_t count = 0;
    for (uint32_t m = proxies->member_begin[c]; m < proxies->surface_end[c]; ++m)
    {
        uint32_t slot = proxies->member_slot[m];
        if (!passes(&box, &body->particles, slot, (float)s->dt))
            continue;
        out[count].best.rank = INFINITY;
        out[count++].p = (traveller){body,
                                     slot,
                                     c,
                                     pl_contact_start(body, slot, s->dt),
                                     pl_contact_end(body, slot),
                                     pl_contact_velocity(body, slot),
                                     thickness + proxies->inset[m],
                                     thickness,
                                     cracks ? cracks[m] : NULL,
                                     &all->poses[home]};
    }
    return count;
}

/* The clusters partner[begin] to partner[end - 1] are those of one piece of one body. */
static void test_body(search* s, uint32_t home, uint32_t begin, uint32_t end, candidate* near,
                      pl_contact_list* list)
{
    const pl_contacts* all = s->contacts;
    uint32_t from = pl_contact_body_of(all, home);
    const pl_body* body = s->bodies[from].body;
    uint32_t count = list_candidates(s, home, begin, end, near);
    for (uint32_t n = begin; n < end && count; ++n)
    {
        target t = target_of(s, all->partner[n], home);
        float_box box = box_for(t.pose, body, all->drift);
        for (uint32_t i = 0; i < count; ++i)
        {
            verdict found;
            if (passes(&box, &body->particles, near[i].p.slot, (float)s->dt) &&
                judge(&t, &near[i].p, s->dt, near[i].best.rank, &found))
                near[i].best = found;
        }
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        const verdict* best = &near[i].best;
        uint32_t slot = near[i].p.slot;
        if (!(best->rank < INFINITY) || !best->touches || is_hooked(s, best, body, slot, home))
            continue;
        if (!pl_grow((void**)&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        {
            __atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
            return;
        }
        make_contact(s, best, home, body, slot, all->slot_begin[from] + slot,
                     &list->items[list->count++]);
    }
}

static void test_batches(void* context, uint32_t first, uint32_t last, uint32_t worker)
{
    search* s = context;
    const pl_contacts* all = s->contacts;
    candidate* near = (candidate*)(void*)(all->candidates + (size_t)worker * all->candidate_bytes);
    for (uint32_t n = first; n < last; ++n)
    {
        pl_contact_list* list = &s->contacts->found[n];
        list->count = 0;
        for (uint32_t c = n * BATCH; c < PL_MIN((n + 1) * BATCH, all->cluster_count); ++c)
            for (uint32_t begin = all->partner_begin[c], end; begin < all->partner_begin[c + 1];
                 begin = end)
            {
                uint64_t piece = piece_of(s, all->partner[begin]);
                for (end = begin + 1;
                     end < all->partner_begin[c + 1] && piece_of(s, all->partner[end]) == piece;)
                    ++end;
                test_body(s, c, begin, end, near, list);
            }
    }
}

/* ------------------------------------------------------------------ the whole */

/* The clusters that each one's particles may touch, piece by piece: pairs are in order. */
static pl_status list_partners(const search* s)
{
    pl_contacts* all = s->contacts;
    const pl_pair_list* pairs = &all->pairs;
    if (!pl_grow((void**)&all->partner, &all->partner_capacity, pairs->count, sizeof *all->partner))
        return pl_fail_memory(pairs->count * 4);
    size_t at = 0;
    for (uint32_t c = 0; c < all->cluster_count; ++c)
    {
        all->partner_begin[c] = (uint32_t)at;
        for (; at < pairs->count && pairs->pairs[at].a == c; ++at)
        {
            uint32_t b = pairs->pairs[at].b;
            size_t to = at;
            for (uint64_t piece = piece_of(s, b);
                 to > all->partner_begin[c] && piece_of(s, all->partner[to - 1]) > piece; --to)
                all->partner[to] = all->partner[to - 1];
            all->partner[to] = b;
        }
        all->motions[c].wanted = at > all->partner_begin[c];
    }
    all->partner_begin[all->cluster_count] = (uint32_t)at;
    for (size_t i = 0; i < pairs->count; ++i)
        all->motions[pairs->pairs[i].b].wanted = true;
    return PLIANT_OK;
}

static pl_status reserve(pl_contacts* all, const pl_contact_body* bodies, size_t batches,
                         uint32_t workers)
{
    uint32_t most = 1;
    for (uint32_t b = 0; b < all->body_count; ++b)
        most = PL_MAX(most, bodies[b].proxies->most_surface);
    all->candidate_bytes = (size_t)most * sizeof(candidate);
    if (!pl_grow((void**)&all->found, &all->found_capacity, batches, sizeof *all->found) ||
        !pl_grow((void**)&all->candidates, &all->candidate_capacity, workers * all->candidate_bytes,
                 1))
        return pl_fail_memory(batches * sizeof *all->found + workers * all->candidate_bytes);
    return PLIANT_OK;
}

pl_status pl_contacts_find(pl_contacts* all, const pl_contact_body* bodies,
                           const pl_contact_settings* settings, double dt, pl_pool* pool)
{
    search s = {all, bodies, settings, dt, 0};
    size_t batches = ((size_t)all->cluster_count + BATCH - 1) / BATCH, total = 0;
    PL_TRY(list_partners(&s));
    PL_TRY(reserve(all, bodies, batches, pool ? pl_pool_threads(pool) : 1));
    pl_parallel_for(pool, all->cluster_count, BATCH, motion_items, &s);
    pl_parallel_for(pool, (uint32_t)batches, 1, test_batches, &s);
    for (size_t n = 0; n < batches; ++n)
        total += all->found[n].count;
    if (s.failed ||
        !pl_grow((void**)&all->list.items, &all->list.capacity, total, sizeof *all->list.items))
        return pl_fail_memory(total * sizeof *all->list.items);
    all->list.count = 0;
    for (size_t n = 0; n < batches; ++n)
    {
        if (all->found[n].count)
            memcpy(all->list.items + all->list.count, all->found[n].items,
                   all->found[n].count * sizeof *all->list.items);
        all->list.count += all->found[n].count;
    }
    return PLIANT_OK;
}
