// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a restored state must be. The block's checksum says that nobody changed it by chance; these
 * checks make one that was written wrong, or changed and sealed again, an error and not a crash.
 * Everything that is used as an index, a count or the length of a loop is looked at; other numbers
 * may be anything: a body of nonsense leaves the range of numbers, which advance() reports.
 *
 * Each is true if its part may be used by code that checks nothing. They build on each other in
 * this order, as the parts are read.
 */
#ifndef PL_SNAPSHOT_CHECK_H
#define PL_SNAPSHOT_CHECK_H

#include "dynamics/scene.h"

/* Whether floats, or with size 8 doubles, are finite. */
bool pl_numbers_fit(const void* numbers, size_t count, size_t size);
bool pl_particles_fit(const pl_particles* p);
bool pl_masses_fit(const pl_body* body);
bool pl_levels_fit(const pl_body* body);
/* "before" is the chunk in front of it, or NULL. */
bool pl_chunk_fits(const pl_body* body, const pl_chunk* chunk, const pl_chunk* before);
bool pl_parts_fit(const pl_body* body);
bool pl_links_fit(const pl_body* body);
/* Every particle is in a finest cluster, with weights that add up to 1. How many memberships each
 * level has must be what is there: readers size buffers by it. */
bool pl_memberships_fit(const pl_body* body);
/* Arrays that come together or not at all. */
bool pl_optional_fit(const pl_body* body);
bool pl_collider_fits(const pl_collider* collider);
/* Where the scene is in its frame. */
bool pl_place_fits(const pl_scene* scene);

#endif
