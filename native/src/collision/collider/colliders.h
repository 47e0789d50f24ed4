// SPDX-License-Identifier: GPL-3.0-or-later
/* Colliders, moved by the caller: plane, sphere, box, capsule, cylinder. A collider may own a mesh
 * instead (mesh_collider.h). */
#ifndef PL_COLLISION_COLLIDER_COLLIDERS_H
#define PL_COLLISION_COLLIDER_COLLIDERS_H

#include "base/core.h"
#include "base/math3.h"
#include "body/body.h"

typedef struct pl_collider
{
    uint64_t handle;
    uint32_t shape, inside_out, groups;
    float friction, restitution, thickness;
    /* Motion of the surface along itself (conveyor), in the axes of the pose; of the world for a
     * mesh. */
    double surface_velocity[3], surface_spin[3], surface_centre[3];
    pliant_pose from, to;          /* at the start and the end of the frame; rotations normalised */
    struct pl_mesh_collider* mesh; /* NULL for simple shapes */
} pl_collider;

/* Surface velocity on top of the collider's motion: at x, relative to a body's origin, the
 * tangential part of velocity + spin cross x. */
typedef struct pl_running
{
    bool on;
    double velocity[3], spin[3];
} pl_running;

/* A collider during one substep, relative to a body's origin, prepared for the inner loop. Exact
 * poses are in double, for the few particles that touch; float maps are for the many that do not.
 */
typedef struct pl_collider_step
{
    uint32_t shape, inside_out;
    double friction, restitution;
    double thickness; /* 0 for inside-out shapes: subtracted from their extents instead */
    pl_running running;
    /* Poses at the substep's start and end: world -> local is R^T (x - p). Row-major R. */
    double p0[3], r0[9];
    double p1[3], r1[9];
    double extent[3]; /* at the end */
    double growth[3]; /* end over start, by local axis: scales local start positions */
    /* In this substep the surface point at local c moves by shift + turn c. In double, because it
     * is divided by a short dt. */
    double shift[3], turn[9];
    /* World -> local as rows of a 3x4 matrix: start (with growth) and end. */
    float local0[12], local1[12];
    /* Bounds of the swept shape with thickness; infinite for planes and inside-out shapes. */
    float lower[3], upper[3];
    float slack; /* rounding of the float maps at the collider's distance from the origin */
} pl_collider_step;

/* PLIANT_OK, or an error sentence, for a descriptor or a pose. */
pl_status pl_collider_check(const pliant_collider_desc* desc);
pl_status pl_pose_check(const pliant_pose* pose, uint32_t shape, uint32_t inside_out,
                        double thickness);
/* Normalises the rotation of a pose that pl_pose_check() accepted. */
void pl_pose_normalise(pliant_pose* pose);

/* Interpolates a collider over a frame: fractions t0 <= t1 of it (rotations by slerp). A mesh gets
 * empty bounds: it touches nothing here. */
void pl_collider_prepare(const pl_collider* collider, const double origin[3], double t0, double t1,
                         pl_collider_step* step);
/* Pose of a simple shape at a fraction of the frame, in the world. */
void pl_collider_place(const pl_collider* collider, double t, vec3* position, mat3* rotation);
/* Surface velocity at the end of a substep (t1), relative to a body's origin. */
pl_running pl_collider_running(const pl_collider* collider, const double origin[3], double t1);
/* Friction and restitution of a pair of surfaces: geometric mean, and maximum. A negative "own"
 * means unset: the other's holds. */
double pl_mixed_friction(double own, double other);
double pl_mixed_restitution(double own, double other);
/* At the end of a frame: from = to. */
void pl_collider_finish(pl_collider* collider);
void pl_collider_free(pl_collider* collider);
/* AABB of a mesh over this frame; false if it does not move, unless "still_too". */
bool pl_mesh_collider_sweep(const struct pl_mesh_collider* mesh, bool still_too, double lower[3],
                            double upper[3]);

/* Pushes particles out of the colliders and changes their velocities: normal part by restitution
 * relative to the moving surface, tangential part by Coulomb friction. x is the position after
 * integration and x - dt v the start of the path, so no particle tunnels within the substep,
 * however thin the shape. Particles with mass 0 are skipped. Returns how many particles were
 * touched; "moved" (or NULL) records in which blocks of eight. count is a multiple of eight; dt >
 * 0. */
typedef uint32_t (*pl_colliders_resolve_fn)(const pl_collider_step* colliders,
                                            uint32_t collider_count, float dt, uint32_t count,
                                            const float* mass, float* const x[3], float* const v[3],
                                            pl_moved_blocks* moved);
/* The function for a SIMD path (a pliant_simd that the machine has). */
pl_colliders_resolve_fn pl_colliders_resolve_for(uint32_t simd);

#endif
