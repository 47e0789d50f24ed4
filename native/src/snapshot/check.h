// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Validation of a restored state. The checksum of the block detects accidental damage; these checks
 * turn a state that was written wrongly, or modified with a correct checksum, into an error instead
 * of a crash. They cover every value that is used as an index, a count or a loop bound. Other
 * values may be arbitrary: nonsense overflows, which advance() reports.
 *
 * Each function returns whether its part is safe for code without checks. They depend on each other
 * in this order, in which the parts are read.
 */
#ifndef PL_SNAPSHOT_CHECK_H
#define PL_SNAPSHOT_CHECK_H

#include "dynamics/scene.h"

/* Whether floats (size 4) or doubles (size 8) are finite. */
bool pl_numbers_fit(const void* numbers, size_t count, size_t size);
bool pl_particles_fit(const pl_particles* p);
bool pl_masses_fit(const pl_body* body);
bool pl_levels_fit(const pl_body* body);
/* "before" is the preceding chunk, or NULL. */
bool pl_chunk_fits(const pl_body* body, const pl_chunk* chunk, const pl_chunk* before);
bool pl_parts_fit(const pl_body* body);
bool pl_links_fit(const pl_body* body);
/* Every particle is in a finest cluster, with weights that sum to 1. The stored number of
 * memberships of each level must be correct, because readers size buffers by it. */
bool pl_memberships_fit(const pl_body* body);
/* Optional arrays are present together or not at all. */
bool pl_optional_fit(const pl_body* body);
bool pl_collider_fits(const pl_collider* collider);
/* The scene's position in its frame. */
bool pl_place_fits(const pl_scene* scene);

#endif
