// SPDX-License-Identifier: GPL-3.0-or-later
/* Pieces and splits of a body in a saved state (snapshot.c). */
#ifndef PL_SNAPSHOT_FRACTURE_H
#define PL_SNAPSHOT_FRACTURE_H

#include "api/api.h"
#include "base/archive.h"

/* Call after the body's particles and clusters. */
void pl_save_fracture(pl_archive* a, pl_body* body);

#endif
