// SPDX-License-Identifier: GPL-3.0-or-later
/* Exact contact of one particle with one collider, for the few that the inner loop selects. */
#ifndef PL_COLLISION_COLLIDER_PARTICLE_COLLIDER_H
#define PL_COLLISION_COLLIDER_PARTICLE_COLLIDER_H

#include "collision/collider/colliders.h"

typedef struct pl_collider_particle
{
    double start[3], x[3], v[3]; /* start: position at the start of the substep */
    double dt;
    double touching; /* distances below this are rounding of float positions */
    double ignore;   /* smaller pushes are ignored: they only undo rounding */
} pl_collider_particle;

/* Moves the particle and changes its velocity if it touches. */
bool pl_collide_particle(const pl_collider_step* step, pl_collider_particle* particle);
/* The same for a plane whose step the caller filled (poses, growth, shift, turn, thickness,
 * friction and restitution), with the particle's height above it at the start of the substep. */
bool pl_collide_plane(const pl_collider_step* step, pl_collider_particle* particle,
                      double start_height);

#endif
