// SPDX-License-Identifier: GPL-3.0-or-later
/* A handle is kind (8 bits), generation (32), slot index (24). Freeing a slot increments its
 * generation, so a stale handle never matches a new object. */
#include "base/handles.h"

#include "base/platform.h"

#include <stdatomic.h>
#include <stdlib.h>

enum
{
    SLOT_BITS = 24,
    SLOTS = 1 << SLOT_BITS
};

typedef struct slot
{
    void *object, *owner;
    uint32_t kind, generation, next_free;
} slot;

/* A spin lock: it is held for nanoseconds, and needs no initialisation. The table is never freed,
 * so it is not counted by pl_bytes_in_use. */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static slot* slots;
static uint32_t slot_count, slot_capacity, first_free; /* first_free - 1 is an index; 0: none */

static void enter(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        pl_spin_pause();
}

static void leave(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

static uint32_t take_slot(void)
{
    if (first_free)
    {
        uint32_t at = first_free - 1;
        first_free = slots[at].next_free;
        return at;
    }
    if (slot_count == slot_capacity)
    {
        uint32_t larger = slot_capacity ? slot_capacity * 2 : 64;
        slot* fresh = larger <= SLOTS ? realloc(slots, larger * sizeof *fresh) : NULL;
        if (!fresh)
            return UINT32_MAX;
        slots = fresh;
        slot_capacity = larger;
    }
    slots[slot_count].generation = 1;
    return slot_count++;
}

uint64_t pl_handle_new(uint32_t kind, void* object, void* owner)
{
    enter();
    uint32_t at = take_slot();
    uint64_t handle = 0;
    if (at != UINT32_MAX)
    {
        slots[at].object = object;
        slots[at].owner = owner;
        slots[at].kind = kind;
        handle = (uint64_t)kind << 56 | (uint64_t)slots[at].generation << SLOT_BITS | at;
    }
    leave();
    return handle;
}

static slot* find(uint64_t handle)
{
    uint32_t at = (uint32_t)(handle & (SLOTS - 1));
    if (at >= slot_count || !slots[at].object)
        return NULL;
    uint64_t now =
        (uint64_t)slots[at].kind << 56 | (uint64_t)slots[at].generation << SLOT_BITS | at;
    return now == handle ? &slots[at] : NULL;
}

void* pl_handle_get(uint64_t handle, uint32_t kind, void** owner)
{
    enter();
    slot* found = find(handle);
    void* object = found && found->kind == kind ? found->object : NULL;
    if (owner)
        *owner = object ? found->owner : NULL;
    leave();
    return object;
}

bool pl_handle_do(uint64_t handle, uint32_t kind, void (*act)(void* object))
{
    enter();
    slot* found = find(handle);
    bool there = found && found->kind == kind;
    if (there)
        act(found->object);
    leave();
    return there;
}

void pl_handle_free(uint64_t handle)
{
    enter();
    slot* found = find(handle);
    if (found)
    {
        found->object = NULL;
        ++found->generation;
        found->next_free = first_free;
        first_free = (uint32_t)(found - slots) + 1;
    }
    leave();
}
