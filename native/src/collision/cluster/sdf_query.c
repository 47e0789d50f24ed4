// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A particle against a cluster (Jones et al. 2015, section 3.4, Eq. 16): the particle is mapped to
 * the cluster's rest space, x' = r_c + F_c^-1 (x - x_c), and pushed to the nearest point of the
 * shape there. The paper's shape is the cluster's ball and half-spaces. Here the ball only limits
 * where the cluster can win, and the surface is the SDF of the whole body at rest (body/rest_sdf.c)
 * with the cracks since: it is as smooth as the body and has no inner faces between clusters. The
 * half-spaces are not used; pliant_body_surface_distance and the preview show the surface.
 *
 * If several clusters of a body see a particle, the one in whose ball it is most central wins: each
 * particle touches a body once, and its neighbours see the same surface.
 *
 * The particle is a path relative to the cluster's rigid motion: with the nearest surface alone a
 * fast particle would leave a thin sheet on the far side. The path is sphere-traced (Hart, Sphere
 * Tracing, 1996) until it enters:
 *
 *      start o                  the contact is where the path enters, wherever the end is;
 *         ----\-------- body    one that starts inside is pushed out by a share of the depth
 *              o end
 */
#include "collision/cluster/sdf_query.h"

#include "body/cut_query.h"
#include "collision/broadphase/pose.h"

/* In spacings: shortest step along a path. */
#define LEAST_STEP 0.05

enum
{
    MOST_STEPS = 200 /* along a path */
};

uint64_t pl_piece_of(const pl_contacts* all, const pl_contact_body* bodies, uint32_t cluster)
{
    uint32_t body = pl_contact_body_of(all, cluster);
    const pl_cuts* cuts = &bodies[body].body->cuts;
    uint32_t piece = cuts->plane_count ? cuts->piece[cluster - all->pair_bodies[body].first] : 0;
    return (uint64_t)body << 32 | piece;
}

/* The ball's radius, scaled up by compression. In crushed material a short distance in the world is
 * long at rest, and clusters disagree on positions. Contacts within it would keep its folds from
 * unfolding; in inverted material they would push the wrong way. */
double pl_sdf_target_apart(const pl_contacts* all, const pl_contact_body* bodies, uint32_t cluster,
                           uint32_t home, double radius)
{
    uint32_t b = pl_contact_body_of(all, cluster), first = all->pair_bodies[b].first;
    const pl_clusters* k = &bodies[b].body->clusters;
    const float* both[2] = {k->f[cluster - first], k->f[home - first]};
    double volume = 1; /* current over rest volume */
    for (int i = 0; i < 2; ++i)
    {
        const float* f = both[i];
        mat3 map = {{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}, {f[6], f[7], f[8]}}};
        double left = m3_det(map);
        volume = PL_MIN(left, volume);
    }
    return volume > 0 ? radius / volume : INFINITY;
}

pl_sdf_target pl_sdf_target_of(const pl_contacts* all, const pl_contact_body* bodies,
                               uint32_t cluster)
{
    uint32_t b = pl_contact_body_of(all, cluster), c = cluster - all->pair_bodies[b].first;
    const pl_body* body = bodies[b].body;
    const pl_clusters* k = &body->clusters;
    const float* ball = bodies[b].proxies->ball[c];
    pl_sdf_target t = {.body = body,
                       .shape = &body->rest_sdf,
                       .pose = &all->poses[cluster],
                       .motion = &all->motions[cluster],
                       .to_own = m3_identity(),
                       .radius = ball[3] + .5 * body->rest_sdf.spacing,
                       .cluster = cluster,
                       .own = c,
                       .plain = !k->own[c]};
    vec3 off = v3_from(ball);
    for (int i = 0; i < 9 && !t.plain; ++i)
        t.to_own.m[i / 3][i % 3] = k->from_body[c][i];
    if (!t.plain)
    {
        t.to_own = pl_pose_mend(t.to_own);
        off = m3_mulv(m3_inverse(t.to_own), off);
    }
    t.centre = v3_add(v3_from(k->in_body[c]), off);
    return t;
}

/* Vector between two rest points, in the cluster's own rest space. */
static vec3 own_rest_vector(const pl_sdf_target* t, vec3 from, vec3 to)
{
    vec3 way = v3_sub(to, from);
    return t->plain ? way : m3_mulv(t->to_own, way);
}

/* A particle and a cluster. On two sides of a slit its plane separates them. */
typedef struct candidate
{
    const pl_sdf_target* t;
    const pl_query_particle* p;
    bool slit;
} candidate;

static double distance_to(const candidate* v, vec3 at, vec3* slope)
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

/* Sphere tracing: when the path comes within "thickness", 0 to 1, or more than 1. "end", the
 * distance at its end, allows an early exit. */
static double trace(const candidate* v, vec3 start, vec3 way, double length, double end,
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
        at += PL_MAX(.9 * left, least);
        if (at >= clear || !(length > 0))
            return 2;
    }
    return over <= 0 ? 1 : 2;
}

/* Fills normal and gap for contact at the rest point "at" of the path from "from". */
static bool fill_contact(const candidate* v, vec3 from, vec3 at, double keep, pl_candidate* out)
{
    const pl_sdf_target* t = v->t;
    vec3 slope;
    double distance = distance_to(v, at, &slope), steep = v3_length(slope);
    if (!(steep > .05))
        return false; /* on the medial axis: no direction is nearest */
    vec3 rest_n = v3_scale(slope, 1 / steep);
    vec3 n = m3_mulv(m3_transpose(t->pose->inverse), rest_n);
    double stretch = v3_length(n);
    out->n = v3_scale(n, 1 / stretch);
    out->gap = (v3_dot(rest_n, v3_sub(from, at)) + distance / steep) / stretch - keep;
    return true;
}

/* Distance kept from material on the other side of a crack: where the cracks face each other, that
 * of the particle's own crack surface; otherwise as usual. */
static double keep_from_separated(const candidate* v, vec3 at)
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

bool pl_sdf_query(const pl_sdf_target* t, const pl_query_particle* p, double apart, double dt,
                  pl_candidate* out)
{
    const pl_proxy_pose* pose = t->pose;
    double spacing = t->shape->spacing;
    vec3 to = pl_pose_to_rest(pose, p->end), off = own_rest_vector(t, t->centre, to);
    vec3 spin = v3_cross(t->motion->spin, v3_sub(p->start, t->motion->x));
    vec3 relative = v3_sub(p->v, v3_add(t->motion->v, spin));
    vec3 way = v3_scale(m3_mulv(pose->inverse, relative), dt);
    double length = v3_length(way), square = v3_dot(off, off);
    double radius = t->radius + (t->plain ? length : v3_length(m3_mulv(t->to_own, way)));
    if (!(square <= radius * radius))
        return false;
    bool fast = length > PL_SDF_FAST * spacing, self = apart >= 0;
    vec3 from = v3_sub(to, way), at = to, normal;
    double beyond;
    const uint32_t* id = p->body->particles.id;
    candidate v = {t, p, false};
    v.slit = self && p->body->cuts.plane_count &&
             pl_cuts_part(p->body, id[p->slot], p->home, t->own, to, &beyond, &normal);
    double end = distance_to(&v, to, NULL);
    out->parted = v.slit || (t->body == p->body && !self);
    double keep = out->parted ? keep_from_separated(&v, to) : p->keep;
    bool near = end <= length + keep + PL_CONTACT_NEARNESS * spacing;
    double when = near ? trace(&v, from, way, length, end, keep) : 2;
    out->touches = when <= 1 || (near && end <= keep + PL_CONTACT_NEARNESS * spacing);
    if (when <= 1)
        at = v3_mad(from, way, when);
    double distance = v3_length(own_rest_vector(t, t->centre, at));
    if (distance > t->radius)
        return false;
    /* the same material, through another cluster */
    if (self && !v.slit &&
        !(v3_length(own_rest_vector(t, pl_rest_of(p->body, p->slot), at)) > apart))
        return false;
    /* a cluster that sees it enter beats those that see it inside */
    out->rank = distance / t->radius - (fast && when > 0 && when <= 1 ? PL_SDF_ENTERS : 0);
    out->cluster = t->cluster;
    return !out->touches || fill_contact(&v, from, at, keep, out);
}
