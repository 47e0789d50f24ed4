// SPDX-License-Identifier: GPL-3.0-or-later
/* Stiffness factors for the effect of the clusters' shapes and overlap. */
#ifndef PL_BODY_LEVEL_FIRMNESS_H
#define PL_BODY_LEVEL_FIRMNESS_H

#include "body/blocks.h"

/* Sets level_firm of a body whose clusters, shape widths and material are set. Warns if the body
 * cannot represent its material. */
void pl_firm_levels(pl_body* body, uint32_t particles, const pl_by_particle* lists);

#endif
