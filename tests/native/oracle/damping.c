// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The oracle's damping of whole bodies: toward the least-squares rigid motion of each connected
 * component, with weights kappa m. Particles that contacts act on weigh forty times their component
 * together, less where it moves: 1 - E / E_most, with E_most that of a fall from a fiftieth of its
 * RMS radius. Where E is less than a tenth of that, the support has four times the body's moment of
 * inertia beside its own.
 */
#include "native/oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

typedef struct point
{
    double mass;
    vec3 x, v;
    mat3 inertia; /* about x */
    vec3 spin;    /* about x */
    uint32_t component;
    bool support;
} point;

typedef struct motion
{
    double mass;
    vec3 x, v, spin, turn;
    mat3 inertia;
} motion;

static mat3 turned_inertia(mat3 k)
{
    mat3 made = m3_scale(m3_add(k, m3_transpose(k)), -.5);
    for (int i = 0; i < 3; ++i)
        made.m[i][i] += m3_trace(k);
    return made;
}

static vec3 turn_of(mat3 whole, vec3 spin)
{
    double size = m3_trace(whole);
    mat3 inertia = m3_scale(whole, size > 0 ? 1 / size : 0);
    if (m3_det(inertia) < 1e-5)
        for (int i = 0; i < 3; ++i)
            inertia.m[i][i] += 1e-4;
    return size > 0 ? v3_scale(m3_mulv(m3_inverse(inertia), spin), 1 / size) : v3(0, 0, 0);
}

/* The rigid motion of points in one component; points of the support count "factor" times. */
static motion fit(const point* points, uint32_t count, uint32_t component, double body,
                  double support)
{
    motion m = {0};
    m.inertia = m3_zero();
    for (int pass = 0; pass < 2; ++pass)
    {
        for (uint32_t i = 0; i < count; ++i)
        {
            const point* p = &points[i];
            double factor = p->support ? support : body;
            if (p->component != component || factor == 0)
                continue;
            if (pass == 0)
            {
                m.mass += factor * p->mass;
                m.x = v3_mad(m.x, p->x, factor * p->mass);
                m.v = v3_mad(m.v, p->v, factor * p->mass);
                continue;
            }
            vec3 arm = v3_sub(p->x, m.x);
            mat3 own = m3_add(p->inertia, m3_scale(turned_inertia(m3_outer(arm, arm)), p->mass));
            vec3 spin = v3_mad(p->spin, v3_cross(arm, v3_sub(p->v, m.v)), p->mass);
            m.inertia = m3_add(m.inertia, m3_scale(own, factor));
            m.spin = v3_mad(m.spin, spin, factor);
        }
        if (pass == 0 && m.mass > 0)
            m.x = v3_scale(m.x, 1 / m.mass), m.v = v3_scale(m.v, 1 / m.mass);
    }
    m.turn = turn_of(m.inertia, m.spin);
    return m;
}

static motion motion_of(const reference* o, const point* points, uint32_t count, uint32_t component)
{
    motion body = fit(points, count, component, 1, 0), under = fit(points, count, component, 0, 1);
    if (!(under.mass > 0) || !(body.mass > 0))
        return body;
    vec3 away = v3_sub(body.v, under.v);
    double energy = .5 * (v3_dot(away, away) + v3_dot(body.turn, body.spin) / body.mass);
    double most = v3_length(v3_fromd(o->settings.gravity)) * (o->settings.breaks ? .02 : .06) *
                  sqrt(.5 * m3_trace(body.inertia) / body.mass);
    double factor = energy < most ? 40 * body.mass / under.mass * (1 - energy / most) : 0;
    motion all = fit(points, count, component, 1, factor);
    double slow = 1 - (o->settings.breaks ? 10 : 2) * energy / most; /* rolling resistance */
    if (slow > 0)
    {
        double inertia = slow * 4 * .5 * m3_trace(body.inertia);
        for (int i = 0; i < 3; ++i)
            all.inertia.m[i][i] += inertia;
        all.turn = turn_of(all.inertia, v3_mad(all.spin, under.turn, inertia));
    }
    double share = fmin(1, 6 / o->settings.material.damping);
    vec3 v = v3_add(all.v, v3_cross(all.turn, v3_sub(body.x, all.x)));
    body.v = v3_mad(body.v, v3_sub(v, body.v), share);
    body.turn = v3_mad(body.turn, v3_sub(all.turn, body.turn), share);
    return body;
}

static uint32_t root_of(uint32_t* parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

/* By cluster: the component that it is in; by particle: one of its clusters. */
static void find_components(const reference* o, uint32_t* parent, uint32_t* cluster_of)
{
    const reference_level* level = &o->level[0];
    for (uint32_t c = 0; c < level->clusters; ++c)
        parent[c] = c;
    memset(cluster_of, 0xff, o->particles * sizeof *cluster_of);
    for (uint32_t c = 0; c < level->clusters; ++c)
        for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
        {
            uint32_t* first = &cluster_of[level->member[k].index];
            *first = *first == UINT32_MAX ? c : *first;
            parent[root_of(parent, c)] = root_of(parent, *first);
        }
}

double reference_body_kappa(const reference* o, const reference_cluster* cluster, double dt)
{
    double part = reference_part(o, cluster), rate = 0;
    for (uint32_t l = 0; l < o->levels; ++l)
        rate += o->level[l].level_weight * o->level[l].level_damping;
    rate *= 1 - .09 * (1 - part * part);
    return -expm1(-rate * o->settings.material.damping * cluster->damping_factor * dt);
}

void reference_damp(reference* o, double dt)
{
    const reference_level* level = &o->level[0];
    uint32_t clusters = level->clusters, count = clusters;
    uint32_t* parent = malloc(clusters * sizeof *parent);
    uint32_t* cluster_of = malloc(o->particles * sizeof *cluster_of);
    point* points = calloc(clusters + o->particles, sizeof *points);
    motion* motions = calloc(clusters, sizeof *motions);
    if (!parent || !cluster_of || !points || !motions)
        abort();
    find_components(o, parent, cluster_of);
    for (uint32_t c = 0; c < clusters; ++c)
    {
        const reference_cluster* k = &level->cluster[c];
        mat3 around = m3_mul(k->axr, m3_transpose(k->lever));
        double kappa = reference_body_kappa(o, k, dt);
        points[c] = (point){kappa * k->mass,
                            k->x,
                            k->v,
                            m3_scale(turned_inertia(around), kappa),
                            v3_scale(k->spin, kappa),
                            root_of(parent, c),
                            false};
    }
    for (uint32_t i = 0; i < o->particles; ++i)
        if (o->touch[i] && cluster_of[i] != UINT32_MAX)
            points[count++] = (point){o->mass[i], o->x[i],     o->v[i],
                                      m3_zero(),  v3(0, 0, 0), root_of(parent, cluster_of[i]),
                                      true};
    for (uint32_t c = 0; c < clusters; ++c)
        if (parent[c] == c)
            motions[c] = motion_of(o, points, count, c);
    for (uint32_t c = 0; c < clusters; ++c)
    {
        const reference_cluster* k = &level->cluster[c];
        const motion* m = &motions[root_of(parent, c)];
        vec3 v = v3_add(m->v, v3_cross(m->turn, v3_sub(k->x, m->x)));
        double kappa = reference_body_kappa(o, k, dt);
        for (uint32_t n = level->begin[c]; n < level->begin[c + 1]; ++n)
        {
            const reference_member* member = &level->member[n];
            vec3 rigid = v3_add(v, v3_cross(m->turn, m3_mulv(k->lever, member->p)));
            vec3 slower = v3_sub(rigid, o->v[member->index]);
            o->change[member->index] =
                v3_mad(o->change[member->index], slower, member->weight * kappa * dt);
        }
    }
    free(parent);
    free(cluster_of);
    free(points);
    free(motions);
}
