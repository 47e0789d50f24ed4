// SPDX-License-Identifier: GPL-3.0-or-later
/* Handles: integers that identify objects; a handle of a freed object is detected. Thread-safe. */
#ifndef PL_BASE_HANDLES_H
#define PL_BASE_HANDLES_H

#include "base/core.h"

enum
{
    PL_HANDLE_SCENE = 1,
    PL_HANDLE_BODY,
    PL_HANDLE_COLLIDER,
    PL_HANDLE_FIELD,
    PL_HANDLE_SKIN,
    PL_HANDLE_STORE
};

/* 0 when out of memory or of handles. pl_handle_get returns "owner". */
uint64_t pl_handle_new(uint32_t kind, void* object, void* owner);
/* NULL if no object of this kind has the handle. owner may be NULL. */
void* pl_handle_get(uint64_t handle, uint32_t kind, void** owner);
/* Calls "act", which must be short, under the lock of the table: an owner that frees the handle
 * before the object cannot free the object meanwhile. False if no object of this kind has the
 * handle. */
bool pl_handle_do(uint64_t handle, uint32_t kind, void (*act)(void* object));
void pl_handle_free(uint64_t handle);

#endif
