// SPDX-License-Identifier: GPL-3.0-or-later
/* Handles: integers that name objects and notice when the object is gone. Safe from any thread. */
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

/* 0 when out of memory or of handles. "owner" is handed back by pl_handle_get. */
uint64_t pl_handle_new(uint32_t kind, void* object, void* owner);
/* NULL if the handle names nothing of this kind (any more). owner may be NULL. */
void* pl_handle_get(uint64_t handle, uint32_t kind, void** owner);
/* Does something short to the object, which cannot be freed meanwhile by those who free its handle
 * first; false if the handle names nothing of this kind (any more). */
bool pl_handle_do(uint64_t handle, uint32_t kind, void (*act)(void* object));
void pl_handle_free(uint64_t handle);

#endif
