// SPDX-License-Identifier: GPL-3.0-or-later
/* A handle is kind (8 bits), generation (32), place (24). A place that is freed raises its
 * generation, so an old handle never fits a new object. */
#include "base/handles.h"

#include "base/platform.h"

#include <stdatomic.h>
#include <stdlib.h>

enum
{
    PLACE_BITS = 24,
    PLACES = 1 << PLACE_BITS
};

typedef struct place
{
    void *object, *owner;
    uint32_t kind, generation, next_free;
} place;

/* A spin lock: the table is touched for nanoseconds, and needs no set-up or tear-down. The table
 * itself outlives everything, so it is not counted as the library's memory. */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static place* places;
static uint32_t place_count, place_capacity, first_free; /* first_free - 1 is a place; 0: none */

static void enter(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        pl_spin_pause();
}

static void leave(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

static uint32_t take_place(void)
{
    if (first_free)
    {
        uint32_t at = first_free - 1;
        first_free = places[at].next_free;
        return at;
    }
    if (place_count == place_capacity)
    {
        uint32_t larger = place_capacity ? place_capacity * 2 : 64;
        place* fresh = larger <= PLACES ? realloc(places, larger * sizeof *fresh) : NULL;
        if (!fresh)
            return UINT32_MAX;
        places = fresh;
        place_capacity = larger;
    }
    places[place_count].generation = 1;
    return place_count++;
}

uint64_t pl_handle_new(uint32_t kind, void* object, void* owner)
{
    enter();
    uint32_t at = take_place();
    uint64_t handle = 0;
    if (at != UINT32_MAX)
    {
        places[at].object = object;
        places[at].owner = owner;
        places[at].kind = kind;
        handle = (uint64_t)kind << 56 | (uint64_t)places[at].generation << PLACE_BITS | at;
    }
    leave();
    return handle;
}

static place* find(uint64_t handle)
{
    uint32_t at = (uint32_t)(handle & (PLACES - 1));
    if (at >= place_count || !places[at].object)
        return NULL;
    uint64_t now =
        (uint64_t)places[at].kind << 56 | (uint64_t)places[at].generation << PLACE_BITS | at;
    return now == handle ? &places[at] : NULL;
}

void* pl_handle_get(uint64_t handle, uint32_t kind, void** owner)
{
    enter();
    place* found = find(handle);
    void* object = found && found->kind == kind ? found->object : NULL;
    if (owner)
        *owner = object ? found->owner : NULL;
    leave();
    return object;
}

bool pl_handle_do(uint64_t handle, uint32_t kind, void (*act)(void* object))
{
    enter();
    place* found = find(handle);
    bool there = found && found->kind == kind;
    if (there)
        act(found->object);
    leave();
    return there;
}

void pl_handle_free(uint64_t handle)
{
    enter();
    place* found = find(handle);
    if (found)
    {
        found->object = NULL;
        ++found->generation;
        found->next_free = first_free;
        first_free = (uint32_t)(found - places) + 1;
    }
    leave();
}
