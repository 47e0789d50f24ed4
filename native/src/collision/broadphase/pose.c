// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Proxies in the world (Jones et al. 2015, section 3.4, Eq. 16). Published code maps the normals of
 * half-spaces with F^-1; planes go with the transpose, see pose.h.
 *
 * A cluster can be touched within its ball and within the AABB of its members at rest. In the world
 * the ball is an ellipsoid of half extent R |F^T e| along axis e, and the box has |F| times its
 * half size. The bounds are their intersection.
 */
#include "collision/broadphase/pose.h"

#include "base/eigen.h"

#include <float.h>

/* ------------------------------------------------------------------ mending F */

static vec3 column(mat3 a, int i)
{
    return v3(a.m[0][i], a.m[1][i], a.m[2][i]);
}

/* Any unit vector orthogonal to a. */
static vec3 orthogonal_to(vec3 a)
{
    vec3 axis = fabs(a.x) < .6 ? v3(1, 0, 0) : v3(0, 1, 0);
    return v3_normalised(v3_cross(a, axis));
}

static mat3 mend_by_svd(mat3 f)
{
    mat3 v;
    double squares[3]; /* of the singular values, ascending */
    pl_jacobi3(m3_mul(m3_transpose(f), f), squares, &v);
    vec3 right[3], left[3];
    double sigma[3];
    for (int i = 0; i < 3; ++i)
        right[i] = column(v, 2 - i);         /* descending */
    right[2] = v3_cross(right[0], right[1]); /* a rotation, so that U carries F's sign */
    for (int i = 0; i < 3; ++i)
        sigma[i] = v3_length(left[i] = m3_mulv(f, right[i]));
    if (!(sigma[0] > 0))
        return m3_identity();
    left[0] = v3_scale(left[0], 1 / sigma[0]);
    left[1] = v3_mad(left[1], left[0], -v3_dot(left[1], left[0]));
    double second = v3_length(left[1]);
    left[1] = second > 1e-6 * sigma[0] ? v3_scale(left[1], 1 / second) : orthogonal_to(left[0]);
    left[2] = v3_cross(left[0], left[1]);
    mat3 mended = m3_zero();
    for (int i = 0; i < 3; ++i)
        mended = m3_add(mended, m3_scale(m3_outer(left[i], right[i]),
                                         fmax(sigma[i], PL_POSE_FLATTEST * sigma[0])));
    return mended;
}

mat3 pl_pose_mend(mat3 f)
{
    double square = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            square += f.m[i][j] * f.m[i][j];
    if (!(square > 0 && square <= DBL_MAX))
        return m3_identity();
    /* det = s1 s2 s3 <= s3 square / 2 and s1^2 >= square / 3: above this, s3 is large enough */
    if (m3_det(f) >= .5 * PL_POSE_FLATTEST * square * sqrt(square))
        return f;
    return mend_by_svd(f);
}

/* ------------------------------------------------------------------ maps */

vec3 pl_pose_to_world(const pl_proxy_pose* pose, vec3 rest)
{
    return v3_add(v3_fromd(pose->x), m3_mulv(pose->f, v3_sub(rest, v3_fromd(pose->rest))));
}

vec3 pl_pose_normal_to_world(const pl_proxy_pose* pose, vec3 normal)
{
    return v3_normalised(m3_mulv(m3_transpose(pose->inverse), normal));
}

vec3 pl_pose_normal_to_rest(const pl_proxy_pose* pose, vec3 normal)
{
    return v3_normalised(m3_mulv(m3_transpose(pose->f), normal));
}

double pl_pose_plane_offset(const pl_proxy_pose* pose, vec3 normal, vec3 point)
{
    return -v3_dot(normal, pl_pose_to_rest(pose, point));
}

/* ------------------------------------------------------------------ bounds */

/* Positions by slot, and the motion of particles and clusters. */
typedef struct places
{
    const float *x[3], *v[3];       /* v may be NULL: no motion */
    const pl_surface_eight* eights; /* gathered surface particles; NULL: gather here */
    double origin[3], dt, thickness;
    double drift[3]; /* velocity of the frame of reference */
} places;

/* Ordered by slot: scattered writes cost less than scattered reads. */
void pl_surface_gather(const pl_body* body, const pl_proxies* proxies, uint32_t begin, uint32_t end,
                       pl_surface_eight* eights)
{
    const pl_particles* p = &body->particles;
    const float *const x[3] = {p->x[0], p->x[1], p->x[2]}, *const v[3] = {p->v[0], p->v[1],
                                                                          p->v[2]};
    for (const pl_surface_slot* i = proxies->surface + begin; i < proxies->surface + end; ++i)
    {
        pl_surface_eight* to = &eights[i->place / 8];
        uint32_t lane = i->place % 8;
        for (int k = 0; k < 3; ++k)
            to->x[k][lane] = x[k][i->slot], to->v[k][lane] = v[k][i->slot];
    }
}

static void gather_eight(const uint32_t* slots, uint32_t count, const places* at,
                         pl_surface_eight* out)
{
    for (int k = 0; k < 3; ++k)
        for (uint32_t i = 0; i < 8; ++i)
        {
            uint32_t slot = slots[i < count ? i : count - 1];
            out->x[k][i] = at->x[k][slot];
            out->v[k][i] = at->v[k] ? at->v[k][slot] : 0;
        }
}

/* Extends the bounds of one coordinate by the paths of eight particles. */
static void bound_eight(const float* x, const float* v, float step, float drift, float* low,
                        float* high)
{
    for (int i = 0; i < 8; ++i)
    {
        float end = x[i], start = end - step * (v[i] - drift);
        float least = start < end ? start : end, most = start > end ? start : end;
        low[i] = least < low[i] ? least : low[i];
        high[i] = most > high[i] ? most : high[i];
    }
}

static void bound_particles(const pl_proxies* proxies, uint32_t c, const places* at,
                            pl_proxy_pose* pose)
{
    uint32_t begin = proxies->member_begin[c], count = proxies->surface_end[c] - begin;
    float low[3][8], high[3][8];
    for (int i = 0; i < 24; ++i)
        low[i / 8][i % 8] = INFINITY, high[i / 8][i % 8] = -INFINITY;
    for (uint32_t i = 0; i < count; i += 8)
    {
        pl_surface_eight alone;
        const pl_surface_eight* eight = &alone;
        if (at->eights)
            eight = &at->eights[proxies->eight_begin[c] + i / 8];
        else
            gather_eight(proxies->member_slot + begin + i, count - i, at, &alone);
        for (int k = 0; k < 3; ++k)
            bound_eight(eight->x[k], eight->v[k], (float)at->dt, (float)at->drift[k], low[k],
                        high[k]);
    }
    for (int k = 0; k < 3; ++k)
    {
        float least = INFINITY, most = -INFINITY;
        for (int i = 0; i < 8; ++i)
        {
            least = low[k][i] < least ? low[k][i] : least;
            most = high[k][i] > most ? high[k][i] : most;
        }
        pose->part_lower[k] = least + at->origin[k];
        pose->part_upper[k] = most + at->origin[k];
    }
}

/* Upper bound of F's largest singular value; exact for rotations. */
static double stretch_bound(const mat3* f)
{
    double most = 0;
    for (int i = 0; i < 3; ++i)
    {
        double sum = 0;
        for (int j = 0; j < 3; ++j)
            sum +=
                fabs(f->m[0][i] * f->m[0][j] + f->m[1][i] * f->m[1][j] + f->m[2][i] * f->m[2][j]);
        most = PL_MAX(most, sum);
    }
    return sqrt(most);
}

/* A cluster's ball. It is round in the cluster's own rest space, which "f" maps to the world. */
typedef struct ball
{
    mat3 f;
    vec3 middle; /* relative to the cluster's centre of mass */
    double radius;
} ball;

static ball ball_of(const pl_body* body, const pl_proxies* proxies, uint32_t c, mat3 f)
{
    const float* own = proxies->ball[c];
    return (ball){f, v3_from(own), own[3] + .5 * body->rest_sdf.spacing};
}

static void set_shape_bounds(const pl_body* body, const float* box, uint32_t c, const ball* own,
                             const places* at, pl_proxy_pose* pose)
{
    vec3 to = m3_mulv(own->f, own->middle);
    const double from_mass[3] = {to.x, to.y, to.z};
    for (int k = 0; k < 3; ++k)
    {
        const double *f = pose->f.m[k], *round = own->f.m[k];
        double centre = pose->x[k] + from_mass[k], middle = pose->x[k], half = 0;
        for (int j = 0; j < 3; ++j)
        {
            middle += f[j] * box[j];
            half += fabs(f[j]) * box[3 + j];
        }
        double reach =
            own->radius * sqrt(round[0] * round[0] + round[1] * round[1] + round[2] * round[2]);
        double way = at->v[0] ? at->dt * (body->clusters.sums[c][12 + k] - at->drift[k]) : 0;
        double low = PL_MAX(centre - reach, middle - half);
        double high = PL_MIN(centre + reach, middle + half);
        pose->centre[k] = centre;
        pose->shape_lower[k] = low - at->thickness - PL_MAX(way, 0);
        pose->shape_upper[k] = high + at->thickness - PL_MIN(way, 0);
    }
}

static void set_bounds(const pl_body* body, const pl_proxies* proxies, uint32_t c, const ball* own,
                       const places* at, pl_proxy_pose* pose)
{
    if (proxies->member_begin[c] == proxies->member_begin[c + 1])
        for (int k = 0; k < 3; ++k) /* dead cluster: empty bounds */
        {
            pose->centre[k] = pose->x[k];
            pose->shape_lower[k] = INFINITY, pose->shape_upper[k] = -INFINITY;
        }
    else
        set_shape_bounds(body, proxies->box[c], c, own, at, pose);
    bound_particles(proxies, c, at, pose);
    pose->reach = own->radius * stretch_bound(&own->f) + at->thickness;
    for (int k = 0; k < 3; ++k)
    {
        pose->lower[k] = PL_MIN(pose->shape_lower[k], pose->part_lower[k]);
        pose->upper[k] = PL_MAX(pose->shape_upper[k], pose->part_upper[k]);
    }
}

static mat3 load9(const float* a)
{
    return (mat3){{{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}}};
}

/* Sets the cluster's map; returns the map from its own rest space. */
static mat3 place(const pl_body* body, uint32_t c, pl_proxy_pose* pose)
{
    const pl_clusters* k = &body->clusters;
    mat3 own = pl_pose_mend(load9(k->f[c]));
    pose->f = k->own[c] ? pl_pose_mend(m3_mul(own, load9(k->from_body[c]))) : own;
    pose->inverse = m3_inverse(pose->f);
    for (int i = 0; i < 3; ++i)
    {
        pose->x[i] = k->x[c][i] + body->origin[i];
        pose->rest[i] = k->in_body[c][i];
    }
    return own;
}

void pl_poses_follow(const pl_body* body, const pl_proxies* proxies, const pl_surface_eight* eights,
                     double dt, const double drift[3], double thickness, uint32_t begin,
                     uint32_t end, pl_proxy_pose* poses)
{
    places at = {.eights = eights,
                 .dt = dt,
                 .thickness = thickness,
                 .drift = {drift[0], drift[1], drift[2]}};
    for (int i = 0; i < 3; ++i)
    {
        at.x[i] = body->particles.x[i], at.v[i] = body->particles.v[i];
        at.origin[i] = body->origin[i];
    }
    for (uint32_t c = begin; c < end; ++c)
    {
        ball own = ball_of(body, proxies, c, place(body, c, &poses[c]));
        set_bounds(body, proxies, c, &own, &at, &poses[c]);
    }
}

void pl_poses_set(const pl_body* body, const pl_proxies* proxies, double dt, const double drift[3],
                  double thickness, uint32_t begin, uint32_t end, pl_proxy_pose* poses)
{
    pl_poses_follow(body, proxies, NULL, dt, drift, thickness, begin, end, poses);
}

pl_status pl_poses_rest(const pl_body* body, const pl_proxies* proxies, double thickness,
                        pl_proxy_pose* poses)
{
    const pl_particles* p = &body->particles;
    size_t slots = p->slot_count;
    float* rest = PL_NEW(float, 3 * slots);
    if (!rest)
        return pl_fail_memory(12 * slots);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        for (size_t s = chunk->slot_begin; s < chunk->slot_begin + chunk->slot_count; ++s)
            for (int k = 0; k < 3; ++k)
                rest[k * slots + s] = p->r[k][s] + chunk->rest_origin[k];
    }
    places at = {.x = {rest, rest + slots, rest + 2 * slots}, .thickness = thickness};
    for (uint32_t c = 0; c < proxies->count; ++c)
    {
        poses[c].f = poses[c].inverse = m3_identity();
        for (int i = 0; i < 3; ++i)
            poses[c].x[i] = poses[c].rest[i] = body->clusters.in_body[c][i];
        mat3 to_body = body->clusters.own[c]
                           ? m3_inverse(pl_pose_mend(load9(body->clusters.from_body[c])))
                           : m3_identity();
        ball own = ball_of(body, proxies, c, to_body);
        set_bounds(body, proxies, c, &own, &at, &poses[c]);
    }
    pl_free(rest);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ cuts */

pl_cut_plane pl_pose_cut(const pl_body* body, uint32_t cluster, vec3 normal, vec3 point)
{
    pl_proxy_pose pose;
    place(body, cluster, &pose);
    vec3 n = pl_pose_normal_to_rest(&pose, normal);
    pl_cut_plane cut;
    v3_store(n, cut.plane);
    cut.plane[3] = (float)pl_pose_plane_offset(&pose, n, point);
    return cut;
}
