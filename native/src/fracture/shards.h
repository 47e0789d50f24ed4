// SPDX-License-Identifier: GPL-3.0-or-later
/* Fragments of brittle bodies move rigidly (shards.c). */
#ifndef PL_FRACTURE_SHARDS_H
#define PL_FRACTURE_SHARDS_H

#include "body/body.h"

/* Adds the rigid motion of small fragments to the rows of the finest level, which must be
 * current. */
pl_status pl_shards_add(pl_body* body, double dt);

#endif
