// SPDX-License-Identifier: GPL-3.0-or-later
/* One particle against one collider: what the inner loop calls for the few that may touch. */
#ifndef PL_COLLISION_COLLIDER_PARTICLE_COLLIDER_H
#define PL_COLLISION_COLLIDER_PARTICLE_COLLIDER_H

#include "collision/collider/colliders.h"

typedef struct pl_collider_particle
{
    double start[3], x[3], v[3]; /* start is where it was dt ago */
    double dt;
    double touching; /* distances below this are none: what positions in float are rounded by */
    double ignore;   /* pushes below this are none: those that only undo rounding */
} pl_collider_particle;

/* Moves the particle and changes its velocity if it touches. */
bool pl_collide_particle(const pl_collider_step* step, pl_collider_particle* particle);
/* The same for a plane whose step the caller made (poses, growth, shift, turn, thickness, friction
 * and restitution), given how high above it the particle was when the substep began. */
bool pl_collide_plane(const pl_collider_step* step, pl_collider_particle* particle,
                      double start_height);

#endif
