// SPDX-License-Identifier: GPL-3.0-or-later
/* The cull is conservative: no exact rank is below its bound, and every particle that touches is
 * marked near. */
#include "native/support/contact_bodies.h"

#include <api/api.h>
#include <base/cpu.h>
#include <body/rest_query.h>
#include <collision/cluster/cull.h>
#include <collision/cluster/sdf_query.h>
#include <string.h>

enum
{
    MOST = 512
};

typedef struct crowd
{
    uint32_t count, slot[MOST], member[MOST];
    float x[3][MOST], v[3][MOST], keep[MOST], rest[3][MOST], least[MOST], near[MOST], apart;
    uint32_t shown;
    pl_cull_hit ones[MOST / 8];
} crowd;

typedef struct tally
{
    uint32_t seen, passed, said, touched, entered, own;
} tally;

static void add_ball(const contact_scene* s, uint64_t seed, vec3 at, vec3 velocity)
{
    pliant_body_desc how;
    pliant_body_desc_init(&how, sizeof how);
    how.cluster.count = 30;
    how.material.stiffness = .2; /* soft, so that clusters are pressed flat */
    contact_add(s->handle, scene_points_ball(900, .5, seed), &how, at, velocity);
}

/* The surface particles of a cluster, relative to the origin of another body. */
static void gather(const pl_body* body, uint32_t c, const pl_body* other, crowd* g)
{
    const pl_proxies* p = &body->proxies;
    memset(g, 0, sizeof *g);
    for (uint32_t m = p->member_begin[c]; m < p->surface_end[c] && g->count < MOST; ++m)
    {
        uint32_t i = g->count++, slot = p->member_slot[m];
        vec3 rest = pl_rest_of(body, slot);
        const double own[3] = {rest.x, rest.y, rest.z};
        g->slot[i] = slot, g->member[i] = m;
        g->keep[i] = p->inset[m];
        for (int k = 0; k < 3; ++k)
        {
            double shift = body->origin[k] - other->origin[k];
            g->x[k][i] = (float)(shift + body->particles.x[k][slot]);
            g->v[k][i] = body->particles.v[k][slot];
            g->rest[k][i] = (float)own[k];
        }
    }
    for (uint32_t i = g->count; i % 8; ++i)
        g->x[0][i] = INFINITY;
}

static bool passes(const pl_cull_job* job, uint32_t i)
{
    bool in = true;
    for (int k = 0; k < 3; ++k)
    {
        float end = job->x[k][i], start = end - job->dt * (job->v[k][i] - job->drift[k]);
        in = in && PL_MAX(start, end) >= job->targets[*job->list].lower[k] &&
             PL_MIN(start, end) <= job->targets[*job->list].upper[k];
    }
    return in;
}

/* All SIMD paths agree; returns whether any cluster survived. */
static bool cull(pl_cull_job* job, crowd* g)
{
    static const uint32_t paths[] = {PLIANT_SIMD_SSE2, PLIANT_SIMD_AVX2, PLIANT_SIMD_AVX512,
                                     PLIANT_SIMD_NEON};
    bool any = pl_cull_kernels_for(PLIANT_SIMD_SCALAR)->cull(job) > 0;
    CHECK(!any || g->shown == *job->list);
    for (size_t p = 0; p < PL_COUNTOF(paths); ++p)
    {
        crowd other = *g;
        if (!pl_cpu_has(paths[p]))
            continue;
        memset(other.near, 0, sizeof other.near);
        pl_cull_job again = *job;
        again.least = other.least, again.near = other.near;
        again.shown = &other.shown, again.ones = other.ones;
        CHECK(pl_cull_kernels_for(paths[p])->cull(&again) == (any ? 1 : 0));
        CHECK(!any || (!memcmp(other.least, g->least, sizeof g->least) &&
                       !memcmp(other.near, g->near, sizeof g->near)));
    }
    return any;
}

static void compare(const contact_scene* s, uint32_t home, uint32_t cluster, double dt, tally* t)
{
    const pl_contacts* all = &s->scene->cluster_scratch;
    const pl_contact_body* bodies = s->scene->contact_bodies;
    uint32_t from = pl_contact_body_of(all, home), to = pl_contact_body_of(all, cluster);
    uint32_t c = home - all->pair_bodies[from].first;
    const pl_body* body = bodies[from].body;
    const pl_sdf_target* target = &all->targets[cluster];
    double apart =
        from == to ? pl_sdf_target_apart(all, bodies, cluster, home, target->radius) : -1;
    static crowd g;
    gather(body, c, bodies[to].body, &g);
    g.apart = (float)(apart * (apart < INFINITY ? 1 - 1e-6 : 1));
    pl_cull_job job = {.targets = all->shown,
                       .list = &cluster,
                       .list_count = 1,
                       .shape = &bodies[to].body->rest_sdf,
                       .dt = (float)dt,
                       .apart = from == to ? &g.apart : NULL,
                       .count = (g.count + 7) & ~7u,
                       .keep = g.keep,
                       .shown = &g.shown,
                       .least = g.least,
                       .near = g.near,
                       .ones = g.ones};
    for (int k = 0; k < 3; ++k)
    {
        job.x[k] = g.x[k], job.v[k] = g.v[k], job.rest[k] = g.rest[k];
        job.drift[k] = (float)all->drift[k];
    }
    bool any = cull(&job, &g);
    for (uint32_t i = 0; i < g.count; ++i)
    {
        pl_query_particle p = {.body = body,
                               .slot = g.slot[i],
                               .home = c,
                               .start = pl_contact_start(body, g.slot[i], dt),
                               .end = pl_contact_end(body, g.slot[i]),
                               .v = pl_contact_velocity(body, g.slot[i]),
                               .keep = body->proxies.inset[g.member[i]],
                               .pose = &all->poses[home]};
        pl_candidate v;
        float least = any ? g.least[i] : INFINITY;
        bool said = pl_sdf_query(target, &p, apart, dt, &v), in = passes(&job, i);
        bool near = g.near[i] > 0;
        ++t->seen;
        t->passed += least < INFINITY;
        CHECK(in || least == INFINITY);
        if (!said || !in)
            continue;
        ++t->said;
        t->touched += v.touches, t->entered += v.rank < 0, t->own += from == to;
        CHECK_MSG(v.rank >= least, "a rank of %g, at least %g was seen", v.rank, least);
        CHECK_MSG(!v.touches || near, "a rank of %g touches and was not seen near", v.rank);
    }
}

/* Two soft balls are driven into each other, fast and then slower. */
TEST(what_is_seen_of_clusters_leaves_nothing_out)
{
    const double dt = 1. / 48;
    contact_scene s = contact_scene_open(1, 0);
    REQUIRE(s.handle != 0);
    contact_scene_enable(&s);
    add_ball(&s, 1, v3(-.7, 0, 0), v3(4, 0, 0));
    add_ball(&s, 2, v3(.7, .1, 0), v3(-4, 0, 1));
    tally t = {0};
    for (int frame = 0; frame < 24; ++frame)
    {
        REQUIRE_OK(contact_scene_advance(&s, 1, 2));
        const pl_contacts* all = &s.scene->cluster_scratch;
        for (uint32_t home = 0; frame % 4 == 1 && all->pairs.count && home < all->cluster_count;
             ++home)
            for (uint32_t cluster = 0; cluster < all->cluster_count; ++cluster)
                if (home != cluster && all->motions[home].wanted && all->motions[cluster].wanted)
                    compare(&s, home, cluster, dt, &t);
    }
    CHECK_MSG(t.touched > 300 && t.entered > 30 && t.own > 30 && t.said > t.touched &&
                  t.passed < t.seen / 4,
              "of %u %u pass, %u have a verdict, %u touch, %u enter, %u meet themselves", t.seen,
              t.passed, t.said, t.touched, t.entered, t.own);
    CHECK_OK(pliant_scene_destroy(s.handle));
}
