// SPDX-License-Identifier: GPL-3.0-or-later
/* Nested levels: moments go up from fine to coarse clusters, rows come down. */
#ifndef PL_STEP_LEVELS_H
#define PL_STEP_LEVELS_H

#include "../state.h"

/* Moments of coarse clusters [begin, end) of one level from the moments of their fine clusters. */
void pl_levels_sum(pl_body* body, uint32_t begin, uint32_t end);
/* Adds to the rows of fine clusters [begin, end) what their coarse clusters ask. */
void pl_levels_spread(pl_body* body, uint32_t begin, uint32_t end);

#endif
