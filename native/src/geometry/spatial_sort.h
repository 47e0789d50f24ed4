// SPDX-License-Identifier: GPL-3.0-or-later
/* The order in which particles lie in memory. */
#ifndef PL_GEOMETRY_SPATIAL_SORT_H
#define PL_GEOMETRY_SPATIAL_SORT_H

#include "base/math3.h"

#include <stdint.h>

/* Permutes "order" (count indices into points) into kd order: median splits along the longest side,
 * at multiples of "chunk" first and of eight below. So each run of eight, and of "chunk", has a
 * compact AABB. Ties are broken by index: the result is deterministic. */
void pl_spatial_sort(uint32_t count, const vec3* points, uint32_t chunk, uint32_t* order);

#endif
