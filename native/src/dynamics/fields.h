// SPDX-License-Identifier: GPL-3.0-or-later
/* Blender's force fields, by their formulas, evaluated each substep. */
#ifndef PL_DYNAMICS_FIELDS_H
#define PL_DYNAMICS_FIELDS_H

#include "base/core.h"

typedef struct pl_field
{
    uint64_t handle;
    pliant_field_desc from, to; /* at the start and the end of the frame */
} pl_field;

/* PLIANT_OK, or an error that says what is wrong with the descriptor. */
pl_status pl_field_check(const pliant_field_desc* desc);
/* The descriptor at fraction t of the frame: matrix and numbers interpolated, switches from "to".
 */
void pl_field_at(const pl_field* field, double t, pliant_field_desc* now);
/* Adds the accelerations to a[3] for "count" particles with positions x (relative to origin) and
 * velocities v. */
void pl_field_add(const pliant_field_desc* now, const double origin[3], uint32_t count,
                  const float* const x[3], const float* const v[3], float* const a[3]);

#endif
