// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Narrow phase: particles against clusters, for the pairs of the broad phase. The cull (cull.h)
 * computes, for eight surface particles at a time, a lower bound of the rank of each candidate
 * cluster. Particles that may touch anything query the clusters exactly (sdf_query.h) in ascending
 * order of these bounds, and stop at the first bound above the best rank found.
 */
#include "base/simd_dispatch.h"
#include "body/rest_query.h"
#include "collision/broadphase/pose.h"
#include "collision/cluster/cluster_contacts.h"
#include "collision/cluster/cull.h"
#include "collision/cluster/sdf_query.h"

#include <string.h>

PL_DEFINE_KERNELS_FOR(pl_cull_kernels)

/* Time constant in seconds with which an existing overlap decays. */
#define RECOVERY_TIME 0.1
/* In spacings a second: separation speed of overlapping sides of a crack. */
#define PARTING_SPEED 0.5
/* Distance that a contact pushes a particle away from its cluster, over its distance to it: from
 * here on the contact weakens, and at twice this there is none. */
#define HOOKED .1
/* In spacings: penetration in a substep from which on a contact acts on the home cluster too. */
#define DEEP 1.0

/* Relative rounding of a few float operations. */
#define ROUNDING 1e-6

enum
{
    BATCH = 16 /* clusters that share a result list */
};

typedef struct search
{
    pl_contacts* contacts;
    const pl_contact_body* bodies;
    const pl_contact_settings* settings;
    double dt;
    uint32_t most_particles, most_clusters; /* capacity of a batch */
    int failed;
} search;

/* ------------------------------------------------------------------ motions */

/* Rigid motion from the fit, accurate enough for a path. */
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

/* Frobenius norm: an upper bound of a map's stretch. */
static double stretch_bound(const mat3* m)
{
    double sum = 0;
    for (int i = 0; i < 9; ++i)
        sum += m->m[i / 3][i % 3] * m->m[i / 3][i % 3];
    return sqrt(sum);
}

static double sum_abs(vec3 a)
{
    return fabs(a.x) + fabs(a.y) + fabs(a.z);
}

static void store9(const mat3* m, float out[9])
{
    for (int i = 0; i < 9; ++i)
        out[i] = (float)m->m[i / 3][i % 3];
}

/* Fills the cull's view of a cluster, with bounds of its rounding. */
static void fill_cull_target(const search* s, const pl_sdf_target* t, pl_cull_target* out)
{
    const pl_proxy_pose* pose = t->pose;
    vec3 zero = v3_fromd(t->body->origin), x = v3_sub(v3_fromd(pose->x), zero);
    vec3 pivot = v3_sub(t->motion->x, zero), spin = t->motion->spin;
    memset(out, 0, sizeof *out);
    for (int k = 0; k < 3; ++k)
    {
        double low = pose->shape_lower[k] - t->body->origin[k];
        double high = pose->shape_upper[k] - t->body->origin[k];
        double slack = ROUNDING * (fabs(low) + fabs(high));
        out->lower[k] = (float)(low - slack), out->upper[k] = (float)(high + slack);
    }
    v3_store(x, out->x);
    v3_store(v3_fromd(pose->rest), out->rest);
    v3_store(t->motion->v, out->v);
    v3_store(spin, out->spin);
    v3_store(pivot, out->pivot);
    v3_store(t->centre, out->centre);
    store9(&pose->inverse, out->inverse);
    store9(&t->to_own, out->own);
    out->radius = (float)t->radius;
    out->plain = t->plain;
    double reach = pose->reach, inverse = stretch_bound(&pose->inverse);
    double size = sum_abs(v3_fromd(pose->rest)) + sum_abs(t->centre) + reach * inverse;
    for (int k = 0; k < 3; ++k)
        size += fabs(t->shape->lower[k]) + t->shape->size[k] / t->shape->per_cell;
    double turns = sum_abs(spin) * (sum_abs(pivot) + sum_abs(x) + reach);
    double ways = sum_abs(t->motion->v) + turns;
    double rest = ROUNDING * (inverse * (sum_abs(x) + reach + s->dt * ways) + size);
    out->slack = (float)(rest + 1e-4 * t->shape->spacing);
    out->slack_own = out->slack * (t->plain ? 1 : (float)fmax(stretch_bound(&t->to_own), 1));
    out->slack_way = (float)(ROUNDING * inverse * s->dt * (1 + sum_abs(spin) * s->dt));
}

static void motion_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    search* s = context;
    pl_contacts* all = s->contacts;
    (void)worker;
    for (uint32_t c = begin; c < end; ++c)
    {
        uint32_t body = pl_contact_body_of(all, c);
        if (!all->motions[c].wanted)
            continue;
        motion_from_fit(&s->bodies[body], c - all->pair_bodies[body].first, &all->poses[c], s->dt,
                        &all->motions[c]);
        all->targets[c] = pl_sdf_target_of(all, s->bodies, c);
        fill_cull_target(s, &all->targets[c], &all->shown[c]);
    }
}

/* ------------------------------------------------------------------ clusters */

/* How hooked a particle is, 0 (the contact holds) to 1 (no contact). A particle pressed through
 * half of a body must not be pulled out on the far side: where the way out leads away from its own
 * cluster, deep inside or far from it, its cluster brings it back instead. Sheets wrap around what
 * they touch and have no inside, so they never hook. In between, the allowed approach speed grows:
 * a contact that switches on and off would shake a particle at the limit. */
static double hooked(const search* s, const pl_candidate* found, const pl_query_particle* p,
                     uint32_t home)
{
    const pl_contacts* all = s->contacts;
    uint32_t owner = pl_contact_body_of(all, home), c = home - all->pair_bodies[owner].first;
    if (!s->bodies[owner].proxies->solid[c])
        return 0;
    vec3 back = v3_sub(v3_fromd(all->poses[home].x), p->end);
    double away = -v3_dot(found->n, back), distance = v3_length(back);
    if (away > 0 && distance > 2 * p->body->clusters.width_max[c])
        return 1;
    return PL_CLAMP(away / (HOOKED * fmax(distance, 1e-30)) - 1, 0.0, 1.0);
}

/* The least normal velocity that resolves a contact. The sides of a new crack may overlap by the
 * disagreement of their clusters; that is resolved slowly, so that nothing jumps when it breaks. */
static double recovery(const pl_candidate* found, double spacing, double dt)
{
    if (found->gap > 0)
        return -found->gap / dt;
    double speed = -found->gap / (dt + RECOVERY_TIME);
    return found->parted ? fmin(speed, PARTING_SPEED * spacing) : speed;
}

static void make_contact(const search* s, const pl_candidate* found, uint32_t home,
                         const pl_query_particle* p, uint32_t particle, double back,
                         pl_contact* out)
{
    const pl_cluster_motion* m = &s->contacts->motions[found->cluster];
    vec3 start = p->start;
    double spacing = p->body->rest_sdf.spacing;
    memset(out, 0, sizeof *out);
    out->target = recovery(found, spacing, s->dt) - back / (1 - back) * spacing;
    out->particle = particle;
    out->cluster = found->cluster;
    vec3 carried = v3_add(m->v, v3_cross(m->spin, v3_sub(start, m->x)));
    const pl_cluster_motion* behind = &s->contacts->motions[home];
    vec3 comes = v3_add(behind->v, v3_cross(behind->spin, v3_sub(start, behind->x)));
    double passed = -found->gap - s->dt * v3_dot(v3_sub(comes, carried), found->n);
    out->home = passed > DEEP * spacing ? home + 1 : 0;
    out->n[0] = found->n.x, out->n[1] = found->n.y, out->n[2] = found->n.z;
}

/* Particles of a cluster that may touch clusters of one piece: positions and velocities in floats,
 * relative to the origin of the piece's body. Scratch of one worker. */
typedef struct batch
{
    uint32_t count;     /* a multiple of eight, with "filled" in use */
    uint32_t filled;    /* */
    uint32_t shown;     /* clusters that survive the cull, */
    uint32_t* cluster;  /* their indices, */
    float* least;       /* lower bounds of their ranks, by cluster and particle */
    float* near;        /* by particle: 1 if it may touch something */
    float* apart;       /* by cluster: cull.h */
    pl_cull_hit* ones;  /* cull.h */
    uint32_t* member;   /* indices in the list of members */
    float *x[3], *v[3]; /* */
    float *keep, *rest[3];
} batch;

/* Size in words of four bytes for so many particles, a multiple of eight, and clusters. */
static size_t batch_size(size_t particles, size_t clusters)
{
    size_t ones = particles / 8 * clusters * (sizeof(pl_cull_hit) / sizeof(float));
    return particles * (12 + clusters) + 2 * clusters + ones;
}

static batch batch_in(float* room, uint32_t particles, uint32_t clusters)
{
    batch g = {.count = 0};
    float** lists[] = {&g.x[0],    &g.x[1],    &g.x[2],    &g.v[0], &g.v[1], &g.v[2],
                       &g.rest[0], &g.rest[1], &g.rest[2], &g.keep, &g.near};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i, room += particles)
        *lists[i] = room;
    g.member = (uint32_t*)(void*)room, room += particles;
    g.least = room, room += (size_t)particles * clusters;
    g.apart = room, room += clusters;
    g.cluster = (uint32_t*)(void*)room, room += clusters;
    g.ones = (pl_cull_hit*)(void*)room;
    return g;
}

typedef struct float_box
{
    float lower[3], upper[3];
} float_box;

/* AABB of all partner clusters. */
static float_box box_around(const pl_contacts* all, uint32_t begin, uint32_t end)
{
    float_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (uint32_t n = begin; n < end; ++n)
    {
        const pl_cull_target* more = &all->shown[all->partner[n]];
        for (int k = 0; k < 3; ++k)
        {
            box.lower[k] = PL_MIN(box.lower[k], more->lower[k]);
            box.upper[k] = PL_MAX(box.upper[k], more->upper[k]);
        }
    }
    return box;
}

/* A cluster, whose particles touch, and a piece with the clusters partner[begin] to partner[end -
 * 1]. */
typedef struct meeting
{
    uint32_t home, begin, end;
    const pl_contact_body *from, *to;
    uint32_t own; /* home, of its body's clusters */
    double thickness;
    bool self;
} meeting;

/* Which paths of eight particles cross the box, and their ends, relative to a body whose origin is
 * "shift" away from theirs. */
static void meets_box(const pl_surface_eight* eight, const double shift[3], float dt,
                      const float drift[3], const float_box* box, float end[3][8], bool in[8])
{
    uint32_t out[8] = {0};
    for (int k = 0; k < 3; ++k)
    {
        float lower = box->lower[k], upper = box->upper[k];
        for (int j = 0; j < 8; ++j)
        {
            float to = (float)(shift[k] + eight->x[k][j]);
            float from = to - dt * (eight->v[k][j] - drift[k]);
            float low = from < to ? from : to, high = from > to ? from : to;
            end[k][j] = to;
            out[j] |= (uint32_t) !(lower <= high) | (uint32_t) !(low <= upper);
        }
    }
    for (int j = 0; j < 8; ++j)
        in[j] = !out[j];
}

static const pl_surface_eight* surface_of(const pl_contacts* all, const meeting* m)
{
    uint32_t body = pl_contact_body_of(all, m->home);
    return all->eights + all->eight_begin[body] + m->from->proxies->eight_begin[m->own];
}

/* Collects the cluster's surface particles whose paths cross the partners' AABB. */
static void gather_batch(const search* s, const meeting* m, batch* g)
{
    const pl_contacts* all = s->contacts;
    const pl_proxies* proxies = m->from->proxies;
    const float(*cracks)[4] = (const float(*)[4])proxies->crack;
    const float dt = (float)s->dt;
    float_box box = box_around(all, m->begin, m->end);
    float drift[3];
    double shift[3];
    for (int k = 0; k < 3; ++k)
    {
        drift[k] = (float)all->drift[k];
        shift[k] = m->from->body->origin[k] - m->to->body->origin[k];
    }
    uint32_t count = 0, first = proxies->member_begin[m->own];
    const pl_surface_eight* eight = surface_of(all, m);
    for (uint32_t i = first; i < proxies->surface_end[m->own]; i += 8, ++eight)
    {
        float end[3][8];
        bool in[8];
        meets_box(eight, shift, dt, drift, &box, end, in);
        for (uint32_t j = 0; j < PL_MIN(8, proxies->surface_end[m->own] - i); ++j)
        {
            for (int k = 0; k < 3; ++k)
                g->x[k][count] = end[k][j], g->v[k][count] = eight->v[k][j];
            g->member[count] = i + j;
            count += in[j];
        }
    }
    g->filled = count;
    g->count = (count + 7) & ~7u;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t n = g->member[i];
        double keep = proxies->inset[n];
        if (cracks)
            keep = fmax(keep, cracks[n][3]);
        g->keep[i] = (float)(m->thickness + keep);
    }
    for (uint32_t i = 0; i < count && m->self; ++i)
    {
        vec3 rest = pl_rest_of(m->from->body, proxies->member_slot[g->member[i]]);
        g->rest[0][i] = (float)rest.x, g->rest[1][i] = (float)rest.y, g->rest[2][i] = (float)rest.z;
    }
    for (uint32_t i = count; i < g->count; ++i)
    {
        g->x[0][i] = g->x[1][i] = g->x[2][i] = INFINITY; /* padding: crosses nothing */
        g->v[0][i] = g->v[1][i] = g->v[2][i] = 0;
    }
    memset(g->near, 0, g->count * sizeof *g->near);
}

/* Culls the partner clusters. */
static void cull_partners(const search* s, const meeting* m, batch* g)
{
    const pl_contacts* all = s->contacts;
    pl_cull_job cull = {.targets = all->shown,
                        .list = all->partner + m->begin,
                        .list_count = m->end - m->begin,
                        .shape = &m->to->body->rest_sdf,
                        .dt = (float)s->dt,
                        .apart = m->self ? g->apart : NULL,
                        .cut = m->to->body->cuts.plane_count > 0,
                        .count = g->count,
                        .keep = g->keep,
                        .shown = g->cluster,
                        .least = g->least,
                        .near = g->near,
                        .ones = g->ones};
    for (int k = 0; k < 3; ++k)
    {
        cull.x[k] = g->x[k], cull.v[k] = g->v[k], cull.rest[k] = g->rest[k];
        cull.drift[k] = (float)all->drift[k];
    }
    for (uint32_t n = 0; n < cull.list_count && m->self; ++n)
        g->apart[n] = (float)pl_sdf_target_apart(all, s->bodies, cull.list[n], m->home,
                                                 (1 - ROUNDING) * all->shown[cull.list[n]].radius);
    g->shown = all->cull->cull(&cull);
}

static pl_query_particle query_particle_of(const search* s, const meeting* m, uint32_t member)
{
    const pl_proxies* proxies = m->from->proxies;
    const pl_body* body = m->from->body;
    uint32_t at = member - proxies->member_begin[m->own], lane = at % 8;
    const pl_surface_eight* eight = surface_of(s->contacts, m) + at / 8;
    vec3 v = v3(eight->v[0][lane], eight->v[1][lane], eight->v[2][lane]);
    vec3 x = v3(eight->x[0][lane], eight->x[1][lane], eight->x[2][lane]);
    vec3 end = v3_add(v3_fromd(body->origin), x);
    return (pl_query_particle){body,
                               proxies->member_slot[member],
                               m->own,
                               v3_mad(end, v, -s->dt),
                               end,
                               v,
                               m->thickness + proxies->inset[member],
                               m->thickness,
                               proxies->crack ? proxies->crack[member] : NULL,
                               &s->contacts->poses[m->home]};
}

/* Queries the clusters for one particle in ascending order of their bounds. The least rank wins; of
 * equal ranks the first cluster. */
static pl_candidate query_clusters(const search* s, const meeting* m, batch* g, uint32_t i,
                                   const pl_query_particle* p)
{
    pl_candidate best = {.rank = INFINITY};
    for (;;)
    {
        uint32_t next = 0;
        float lowest = INFINITY;
        for (uint32_t n = 0; n < g->shown; ++n) /* branch-free */
        {
            float here = g->least[(size_t)n * g->count + i];
            next = here < lowest ? n : next;
            lowest = here < lowest ? here : lowest;
        }
        float* least = &g->least[(size_t)next * g->count + i];
        if (!(*least < INFINITY) || *least > best.rank)
            return best;
        *least = INFINITY;
        pl_candidate found;
        const pl_sdf_target* t = &s->contacts->targets[g->cluster[next]];
        double apart = -1;
        if (m->self)
            apart = pl_sdf_target_apart(s->contacts, s->bodies, t->cluster, m->home, t->radius);
        if (pl_sdf_query(t, p, apart, s->dt, &found) &&
            (found.rank < best.rank || (found.rank == best.rank && found.cluster < best.cluster)))
            best = found;
    }
}

static void test_piece(search* s, const meeting* m, batch* g, pl_contact_list* list)
{
    uint32_t from = pl_contact_body_of(s->contacts, m->home);
    gather_batch(s, m, g);
    if (!g->filled)
        return;
    cull_partners(s, m, g);
    for (uint32_t i = 0; i < g->filled; ++i)
    {
        if (!(g->near[i] > 0))
            continue;
        pl_query_particle p = query_particle_of(s, m, g->member[i]);
        pl_candidate best = query_clusters(s, m, g, i, &p);
        double back = best.touches ? hooked(s, &best, &p, m->home) : 1;
        if (back >= 1)
            continue;
        if (!pl_grow((void**)&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        {
            __atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
            return;
        }
        make_contact(s, &best, m->home, &p, s->contacts->slot_begin[from] + p.slot, back,
                     &list->items[list->count++]);
    }
}

/* Tests a cluster's particles against all partners, piece by piece. */
static void test_cluster(search* s, uint32_t home, batch* g, pl_contact_list* list)
{
    const pl_contacts* all = s->contacts;
    const uint32_t from = pl_contact_body_of(all, home), last = all->partner_begin[home + 1];
    const uint64_t own = pl_piece_of(all, s->bodies, home);
    meeting m = {.home = home,
                 .begin = all->partner_begin[home],
                 .from = &s->bodies[from],
                 .own = home - all->pair_bodies[from].first};
    for (; m.begin < last; m.begin = m.end)
    {
        uint64_t piece = pl_piece_of(all, s->bodies, all->partner[m.begin]);
        m.end = m.begin + 1;
        while (m.end < last && pl_piece_of(all, s->bodies, all->partner[m.end]) == piece)
            ++m.end;
        m.to = &s->bodies[pl_contact_body_of(all, all->partner[m.begin])];
        m.thickness = fmax(pl_contact_thickness(m.from->body, s->settings),
                           pl_contact_thickness(m.to->body, s->settings));
        m.self = piece == own;
        test_piece(s, &m, g, list);
    }
}

static void test_batches(void* context, uint32_t first, uint32_t last, uint32_t worker)
{
    search* s = context;
    const pl_contacts* all = s->contacts;
    float* room = all->crowds + worker * batch_size(s->most_particles, s->most_clusters);
    batch g = batch_in(room, s->most_particles, s->most_clusters);
    for (uint32_t n = first; n < last; ++n)
    {
        pl_contact_list* list = &s->contacts->found[n];
        list->count = 0;
        for (uint32_t c = n * BATCH; c < PL_MIN((n + 1) * BATCH, all->cluster_count); ++c)
            test_cluster(s, c, &g, list);
    }
}

/* ------------------------------------------------------------------ entry point */

/* Lists each cluster's partners, sorted by piece. The pairs are sorted. */
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
            for (uint64_t piece = pl_piece_of(all, s->bodies, b);
                 to > all->partner_begin[c] &&
                 pl_piece_of(all, s->bodies, all->partner[to - 1]) > piece;
                 --to)
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

static pl_status reserve(search* s, size_t batches, uint32_t workers)
{
    pl_contacts* all = s->contacts;
    s->most_particles = 8, s->most_clusters = 1;
    for (uint32_t b = 0; b < all->body_count; ++b)
        s->most_particles =
            PL_MAX(s->most_particles, (s->bodies[b].proxies->most_surface + 7) & ~7u);
    for (uint32_t c = 0; c < all->cluster_count; ++c)
        s->most_clusters =
            PL_MAX(s->most_clusters, all->partner_begin[c + 1] - all->partner_begin[c]);
    size_t room = workers * batch_size(s->most_particles, s->most_clusters);
    if (!pl_grow((void**)&all->found, &all->found_capacity, batches, sizeof *all->found) ||
        !pl_grow((void**)&all->crowds, &all->crowd_capacity, room, sizeof *all->crowds))
        return pl_fail_memory(batches * sizeof *all->found + room * sizeof *all->crowds);
    return PLIANT_OK;
}

pl_status pl_contacts_find(pl_contacts* all, const pl_contact_body* bodies,
                           const pl_contact_settings* settings, double dt, pl_pool* pool)
{
    search s = {.contacts = all, .bodies = bodies, .settings = settings, .dt = dt};
    size_t batches = ((size_t)all->cluster_count + BATCH - 1) / BATCH, total = 0;
    PL_TRY(list_partners(&s));
    PL_TRY(reserve(&s, batches, pool ? pl_pool_threads(pool) : 1));
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
