// SPDX-License-Identifier: GPL-3.0-or-later
/* What the clusters' shapes and overlap do to the stiffness of a body. */
#ifndef PL_BODY_LEVEL_FIRMNESS_H
#define PL_BODY_LEVEL_FIRMNESS_H

#include "body/blocks.h"

/* Sets level_firm of a body whose clusters, shape widths and material are set, and warns where its
 * material cannot be met. */
void pl_firm_levels(pl_body* body, uint32_t particles, const pl_by_particle* lists);

#endif
