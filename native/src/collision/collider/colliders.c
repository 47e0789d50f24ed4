// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Colliders outside the inner loop: checks, interpolation over a frame, choice of the SIMD path.
 *
 * Rotations are interpolated at constant angular velocity (slerp; Shoemake, Animating Rotation with
 * Quaternion Curves, 1985). Instead of sines, the arc is bisected along the binary digits of the
 * fraction: the middle of two unit quaternions is their normalised sum, so square roots suffice and
 * every machine gives the same bits.
 */
#include "collision/collider/colliders.h"

#include "base/math3.h"
#include "base/simd_dispatch.h"
#include "collision/mesh/mesh_collider.h"

#include <float.h>
#include <string.h>

/* Largest accepted length: its square still fits a float. */
#define LARGEST_LENGTH 1.0e15

static const char* const shape_names[] = {"plane", "sphere", "box", "capsule", "cylinder"};

/* ------------------------------------------------------------------ checks */

static bool is_length(double value)
{
    return value >= 0 && value <= LARGEST_LENGTH;
}

static pl_status check_extent(const pliant_pose* pose, uint32_t shape, uint32_t inside_out,
                              double thickness)
{
    static const char* const extent_names[][3] = {
        {NULL, NULL, NULL},
        {"radius", NULL, NULL},
        {"half size in x", "half size in y", "half size in z"},
        {"radius", "half length", NULL},
        {"radius", "half height", NULL},
    };
    for (int i = 0; i < 3 && extent_names[shape][i]; ++i)
    {
        double extent = pose->extent[i];
        bool may_be_zero = shape == PLIANT_SHAPE_CAPSULE && i == 1;
        if (!is_length(extent) || (extent == 0 && !may_be_zero))
            return pl_fail(PLIANT_ERROR_ARGUMENT, "the collider's %s is %g: a %s needs %s",
                           extent_names[shape][i], extent, shape_names[shape],
                           may_be_zero ? "0 or more" : "more than 0");
        if (inside_out && !may_be_zero && !(extent > thickness))
            return pl_fail(PLIANT_ERROR_ARGUMENT,
                           "the collider's thickness is %g: it leaves no room inside a %s whose %s "
                           "is %g",
                           thickness, shape_names[shape], extent_names[shape][i], extent);
    }
    return PLIANT_OK;
}

pl_status pl_pose_check(const pliant_pose* pose, uint32_t shape, uint32_t inside_out,
                        double thickness)
{
    if (pl_shape_is_mesh(shape))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "the collider is a mesh: it has vertices (pliant_collider_create_mesh, "
                       "pliant_collider_set_mesh) and no pose");
    if (shape >= PL_COUNTOF(shape_names))
        return pl_fail(PLIANT_ERROR_ARGUMENT, "the collider's shape is %u: there is no such shape",
                       shape);
    double length = 0;
    for (int i = 0; i < 3; ++i)
        if (!is_length(fabs(pose->position[i])))
            return pl_fail(PLIANT_ERROR_ARGUMENT,
                           "the collider's position is (%g, %g, %g): it must be finite and not "
                           "beyond %g",
                           pose->position[0], pose->position[1], pose->position[2], LARGEST_LENGTH);
    for (int i = 0; i < 4; ++i)
        length += pose->rotation[i] * pose->rotation[i];
    if (!(length >= DBL_MIN && length <= DBL_MAX))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "the collider's rotation is (%g, %g, %g, %g): it is not a quaternion that "
                       "can be normalised",
                       pose->rotation[0], pose->rotation[1], pose->rotation[2], pose->rotation[3]);
    return check_extent(pose, shape, inside_out, thickness);
}

pl_status pl_collider_check(const pliant_collider_desc* desc)
{
    if (!is_length(desc->thickness))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "the collider's thickness is %g: it must be 0 or more", desc->thickness);
    if (!(desc->friction >= 0 && desc->friction <= FLT_MAX))
        return pl_fail(PLIANT_ERROR_ARGUMENT, "the collider's friction is %g: it must be 0 or more",
                       desc->friction);
    if (!(desc->restitution >= 0 && desc->restitution <= 1))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "the collider's restitution is %g: it must be from 0 to 1",
                       desc->restitution);
    for (int i = 0; i < 3; ++i)
        if (!is_length(fabs(desc->surface_velocity[i])) ||
            !is_length(fabs(desc->surface_spin[i])) || !is_length(fabs(desc->surface_centre[i])))
            return pl_fail(
                PLIANT_ERROR_ARGUMENT,
                "the collider's surface runs with velocity %g, spin %g about %g along an "
                "axis: they must be finite",
                desc->surface_velocity[i], desc->surface_spin[i], desc->surface_centre[i]);
    if (desc->inside_out && desc->shape == PLIANT_SHAPE_PLANE)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "the collider is a plane turned inside out: a plane has no inside");
    if (desc->inside_out && pl_shape_is_mesh(desc->shape))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "the collider is a mesh turned inside out: a shell keeps bodies inside");
    if (pl_shape_is_mesh(desc->shape))
        return PLIANT_OK;
    return pl_pose_check(&desc->pose, desc->shape, desc->inside_out, desc->thickness);
}

void pl_pose_normalise(pliant_pose* pose)
{
    double* q = pose->rotation;
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; ++i)
        q[i] /= length;
}

/* ------------------------------------------------------------------ interpolation */

static void slerp(const double from[4], const double to[4], double t, double out[4])
{
    double low[4], high[4], dot = 0;
    for (int i = 0; i < 4; ++i)
        dot += from[i] * to[i];
    for (int i = 0; i < 4; ++i)
        low[i] = from[i], high[i] = dot < 0 ? -to[i] : to[i];
    /* After 32 bisections the arc is straight to the last bit of a double. */
    bool same = memcmp(low, high, sizeof low) == 0;
    for (int digit = 0; digit < 32 && !same && t > 0 && t < 1; ++digit)
    {
        double sum[4], square = 0;
        for (int i = 0; i < 4; ++i)
            sum[i] = low[i] + high[i], square += sum[i] * sum[i];
        double scale = 1 / sqrt(square); /* the two are at most a right angle apart */
        bool upper = t >= 0.5;
        for (int i = 0; i < 4; ++i)
            (upper ? low : high)[i] = sum[i] * scale;
        t = upper ? 2 * t - 1 : 2 * t;
    }
    for (int i = 0; i < 4; ++i)
        out[i] = low[i] + t * (high[i] - low[i]);
}

static pliant_pose pose_at(const pl_collider* collider, double t)
{
    const pliant_pose *from = &collider->from, *to = &collider->to;
    if (t <= 0)
        return *from;
    if (t >= 1)
        return *to;
    pliant_pose pose;
    for (int i = 0; i < 3; ++i)
    {
        pose.position[i] = from->position[i] + t * (to->position[i] - from->position[i]);
        pose.extent[i] = from->extent[i] + t * (to->extent[i] - from->extent[i]);
    }
    slerp(from->rotation, to->rotation, t, pose.rotation);
    return pose;
}

static mat3 rotation_matrix(const double q[4])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    return (mat3){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                   {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                   {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

void pl_collider_place(const pl_collider* collider, double t, vec3* position, mat3* rotation)
{
    pliant_pose pose = pose_at(collider, t);
    *position = v3_fromd(pose.position);
    *rotation = rotation_matrix(pose.rotation);
}

/* ------------------------------------------------------------------ surfaces */

pl_running pl_collider_running(const pl_collider* collider, const double origin[3], double t1)
{
    vec3 velocity = v3_fromd(collider->surface_velocity), spin = v3_fromd(collider->surface_spin);
    vec3 centre = v3_fromd(collider->surface_centre);
    pl_running running = {.on = v3_dot(velocity, velocity) > 0 || v3_dot(spin, spin) > 0};
    if (!running.on)
        return running;
    if (!collider->mesh)
    {
        vec3 position;
        mat3 r;
        pl_collider_place(collider, t1, &position, &r);
        velocity = m3_mulv(r, velocity), spin = m3_mulv(r, spin);
        centre = v3_add(m3_mulv(r, centre), position);
    }
    velocity = v3_sub(velocity, v3_cross(spin, v3_sub(centre, v3_fromd(origin))));
    running.velocity[0] = velocity.x, running.velocity[1] = velocity.y,
    running.velocity[2] = velocity.z;
    running.spin[0] = spin.x, running.spin[1] = spin.y, running.spin[2] = spin.z;
    return running;
}

double pl_mixed_friction(double own, double other)
{
    return own < 0 ? other : sqrt(own * other);
}

double pl_mixed_restitution(double own, double other)
{
    return own > other ? own : other;
}

/* ------------------------------------------------------------------ preparation */

/* Half sizes along the local axes of the shape with its thickness. */
static void axis_sizes(uint32_t shape, const double extent[3], double margin, double axes[3])
{
    bool box = shape == PLIANT_SHAPE_BOX;
    axes[0] = extent[0] + margin;
    axes[1] = box ? extent[1] + margin : axes[0];
    switch (shape)
    {
        case PLIANT_SHAPE_PLANE:
            axes[0] = axes[1] = axes[2] = 1;
            break;
        case PLIANT_SHAPE_SPHERE:
            axes[2] = axes[0];
            break;
        case PLIANT_SHAPE_BOX:
            axes[2] = extent[2] + margin;
            break;
        case PLIANT_SHAPE_CAPSULE:
            axes[2] = axes[0] + extent[1];
            break;
        default:
            axes[2] = extent[1] + margin;
    }
}

/* The thickness at which the inside of a container vanishes. */
static double room(uint32_t shape, const double extent[3])
{
    if (shape == PLIANT_SHAPE_BOX)
        return PL_MIN(PL_MIN(extent[0], extent[1]), extent[2]);
    return shape == PLIANT_SHAPE_CYLINDER ? PL_MIN(extent[0], extent[1]) : extent[0];
}

/* Half sizes of the AABB of a posed shape. A shape that rotates during the substep is bounded by
 * its sphere. */
static vec3 half_sizes(const double axes[3], mat3 rotation, bool turns)
{
    vec3 a = v3_fromd(axes);
    if (turns)
        return v3_scale(v3(1, 1, 1), v3_length(a));
    vec3 half[3];
    for (int i = 0; i < 3; ++i)
        half[i] = v3(fabs(rotation.m[i][0]), fabs(rotation.m[i][1]), fabs(rotation.m[i][2]));
    return v3(v3_dot(half[0], a), v3_dot(half[1], a), v3_dot(half[2], a));
}

static void set_bounds(pl_collider_step* step, vec3 p0, vec3 half0, vec3 p1, vec3 half1)
{
    const double low[3] = {PL_MIN(p0.x - half0.x, p1.x - half1.x),
                           PL_MIN(p0.y - half0.y, p1.y - half1.y),
                           PL_MIN(p0.z - half0.z, p1.z - half1.z)};
    const double high[3] = {PL_MAX(p0.x + half0.x, p1.x + half1.x),
                            PL_MAX(p0.y + half0.y, p1.y + half1.y),
                            PL_MAX(p0.z + half0.z, p1.z + half1.z)};
    bool endless = step->shape == PLIANT_SHAPE_PLANE || step->inside_out;
    for (int i = 0; i < 3; ++i)
    {
        /* Round outward. */
        double slack = 1e-6 * (fabs(low[i]) + fabs(high[i]));
        step->lower[i] = endless ? -INFINITY : (float)(low[i] - slack);
        step->upper[i] = endless ? INFINITY : (float)(high[i] + slack);
    }
}

/* Rows of x -> diag(scale) R^T (x - p). */
static void set_local_map(mat3 rotation, vec3 p, vec3 scale, float map[12])
{
    const double scales[3] = {scale.x, scale.y, scale.z};
    for (int i = 0; i < 3; ++i)
    {
        vec3 axis = v3_scale(v3(rotation.m[0][i], rotation.m[1][i], rotation.m[2][i]), scales[i]);
        v3_store(axis, map + 4 * i);
        map[4 * i + 3] = (float)-v3_dot(axis, p);
    }
}

static void store_matrix(mat3 m, double out[9])
{
    memcpy(out, m.m, sizeof m.m);
}

static void store_vector(vec3 a, double out[3])
{
    out[0] = a.x, out[1] = a.y, out[2] = a.z;
}

/* The region, in local coordinates, that particles are kept out of, or inside. */
static void set_region(pl_collider_step* step, const double extent[3], double margin)
{
    bool capsule = step->shape == PLIANT_SHAPE_CAPSULE;
    for (int i = 0; i < 3; ++i)
    {
        step->extent[i] = extent[i];
        if (step->inside_out && !(capsule && i > 0))
            step->extent[i] += margin;
    }
    step->thickness = step->inside_out ? 0 : margin;
    double size = margin;
    for (int i = 0; i < 3; ++i)
        size += fabs(step->p0[i]) + fabs(step->p1[i]) + extent[i];
    step->slack = (float)(2e-6 * size);
}

void pl_collider_prepare(const pl_collider* collider, const double origin[3], double t0, double t1,
                         pl_collider_step* step)
{
    memset(step, 0, sizeof *step);
    step->shape = collider->shape;
    step->inside_out = collider->inside_out && collider->shape != PLIANT_SHAPE_PLANE;
    step->friction = collider->friction;
    step->restitution = collider->restitution;
    if (pl_shape_is_mesh(step->shape))
    {
        for (int i = 0; i < 3; ++i)
            step->lower[i] = INFINITY, step->upper[i] = -INFINITY;
        return;
    }

    pliant_pose start = pose_at(collider, t0), end = pose_at(collider, t1);
    double margin = collider->thickness;
    if (step->inside_out)
        margin = -PL_MIN(
            margin, 0.999 * PL_MIN(room(step->shape, start.extent), room(step->shape, end.extent)));
    mat3 r0 = rotation_matrix(start.rotation), r1 = rotation_matrix(end.rotation);
    vec3 p0 = v3_sub(v3_fromd(start.position), v3_fromd(origin));
    vec3 p1 = v3_sub(v3_fromd(end.position), v3_fromd(origin));
    if (step->shape == PLIANT_SHAPE_PLANE)
    {
        /* The plane's reference point is the one nearest to the body, to keep numbers small; the
         * same point of its surface at both times. */
        vec3 slide = m3_mulv(m3_transpose(r1), v3_scale(p1, -1));
        slide.z = 0;
        p0 = v3_add(p0, m3_mulv(r0, slide)), p1 = v3_add(p1, m3_mulv(r1, slide));
    }
    step->running = pl_collider_running(collider, origin, t1);
    double axes0[3], axes1[3];
    axis_sizes(step->shape, start.extent, margin, axes0);
    axis_sizes(step->shape, end.extent, margin, axes1);
    vec3 growth = v3(axes1[0] / axes0[0], axes1[1] / axes0[1], axes1[2] / axes0[2]);
    mat3 r0_shrunk = r0;
    for (int i = 0; i < 3; ++i)
    {
        r0_shrunk.m[i][0] /= growth.x;
        r0_shrunk.m[i][1] /= growth.y;
        r0_shrunk.m[i][2] /= growth.z;
    }
    mat3 turn = m3_add(r1, m3_scale(r0_shrunk, -1));
    vec3 shift = v3_sub(p1, p0);

    store_vector(p0, step->p0), store_vector(p1, step->p1);
    store_matrix(r0, step->r0), store_matrix(r1, step->r1);
    store_vector(growth, step->growth);
    store_vector(shift, step->shift), store_matrix(turn, step->turn);
    set_local_map(r0, p0, growth, step->local0);
    set_local_map(r1, p1, v3(1, 1, 1), step->local1);
    bool turns = memcmp(start.rotation, end.rotation, sizeof start.rotation) != 0;
    set_bounds(step, p0, half_sizes(axes0, r0, turns), p1, half_sizes(axes1, r1, turns));
    set_region(step, end.extent, margin);
}

void pl_collider_finish(pl_collider* collider)
{
    collider->from = collider->to;
    if (collider->mesh)
        pl_mesh_collider_finish(collider->mesh);
}

void pl_collider_free(pl_collider* collider)
{
    if (collider)
        pl_mesh_collider_free(collider->mesh);
    pl_free(collider);
}

/* ------------------------------------------------------------------ dispatch */

#define DECLARE(name, path, simd)                                                                  \
    uint32_t name##_##path(const pl_collider_step*, uint32_t, float, uint32_t, const float*,       \
                           float* const[3], float* const[3], pl_moved_blocks*);
DECLARE(pl_colliders_resolve, scalar, )
PL_WIDE_PATHS(DECLARE, pl_colliders_resolve)

#define CHOOSE(name, path, simd)                                                                   \
    case simd:                                                                                     \
        return name##_##path;

pl_colliders_resolve_fn pl_colliders_resolve_for(uint32_t simd)
{
    switch (simd == PLIANT_SIMD_AUTO ? pl_cpu_best() : simd)
    {
        PL_WIDE_PATHS(CHOOSE, pl_colliders_resolve)
        default:
            return pl_colliders_resolve_scalar;
    }
}
