// SPDX-License-Identifier: GPL-3.0-or-later
/* Simple colliders: plane, sphere, box, capsule, cylinder, moved by the caller. */
#ifndef PL_CONTACT_COLLIDERS_H
#define PL_CONTACT_COLLIDERS_H

#include "../base/core.h"

typedef struct pl_collider
{
    uint64_t handle;
    uint32_t shape, inside_out, groups;
    float friction, restitution, thickness;
    pliant_pose from, to; /* at the start and the end of the frame; rotations normalised */
} pl_collider;

/* A collider during one substep, relative to one body's origin, ready for the inner loop. */
typedef struct pl_collider_step
{
    uint32_t shape, inside_out;
    float friction, restitution, thickness;
    /* Poses at the substep's start and end: world -> local is R^T (x - p). Row-major R. */
    float p0[3], r0[9], extent0[3];
    float p1[3], r1[9], extent1[3];
    /* Bounds of the swept shape with thickness; infinite for planes and inside-out shapes. */
    float lower[3], upper[3];
} pl_collider_step;

/* Interpolates a collider over a frame: fractions t0 <= t1 of it (rotations by slerp). */
void pl_collider_prepare(const pl_collider* collider, const double origin[3], double t0, double t1,
                         pl_collider_step* step);
/* At the end of a frame: from = to. */
void pl_collider_finish(pl_collider* collider);

/* Pushes particles out of the colliders and changes their velocities: normal part by restitution
 * relative to the moving surface, tangential part by Coulomb friction. x is where the particles are
 * after integration, x - dt v is where they were, so a particle cannot pass through a shape within
 * the substep, however thin. Particles with mass 0 are skipped. Returns how many particles were
 * touched. count is a multiple of eight. */
typedef uint32_t (*pl_colliders_resolve_fn)(const pl_collider_step* colliders,
                                            uint32_t collider_count, float dt, uint32_t count,
                                            const float* mass, float* const x[3],
                                            float* const v[3]);
/* The function for a SIMD path (a pliant_simd that the machine has). */
pl_colliders_resolve_fn pl_colliders_resolve_for(uint32_t simd);

#endif
