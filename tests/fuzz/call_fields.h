// SPDX-License-Identifier: GPL-3.0-or-later
/* Descriptors with fields set by the fuzzer to plausible and implausible numbers. Valid counts that
 * only cost time are capped. */
#ifndef PLIANT_FUZZ_CALL_FIELDS_H
#define PLIANT_FUZZ_CALL_FIELDS_H

#include "input.h"

#include <pliant.h>

typedef struct call_field
{
    uint32_t offset, most; /* most: largest integer; 0: the field is a double */
} call_field;

void call_change(fuzz_input* in, void* desc, uint32_t count, const call_field* fields);

pliant_scene_desc call_scene(fuzz_input* in);
pliant_frame_desc call_frame(fuzz_input* in);
pliant_body_desc call_body(fuzz_input* in);
pliant_material_desc call_material(fuzz_input* in);
pliant_fracture_desc call_fracture(fuzz_input* in);
pliant_collider_desc call_collider(fuzz_input* in);
pliant_contact_desc call_contacts(fuzz_input* in);
pliant_weld_desc call_weld(fuzz_input* in);
pliant_field_desc call_field_desc(fuzz_input* in);
pliant_skin_desc call_skin(fuzz_input* in);

#endif
