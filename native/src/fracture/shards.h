// SPDX-License-Identifier: GPL-3.0-or-later
/* Fragments of brittle bodies move rigidly (shards.c). */
#ifndef PL_FRACTURE_SHARDS_H
#define PL_FRACTURE_SHARDS_H

#include "body/body.h"

/* Adds what makes small fragments rigid to the finest rows, which belong to the particles as they
 * are. */
pl_status pl_shards_add(pl_body* body, double dt);

#endif
