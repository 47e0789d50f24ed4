// SPDX-License-Identifier: GPL-3.0-or-later
/* Memory, errors, progress and time. Every other file includes this one. */
#ifndef PL_BASE_CORE_H
#define PL_BASE_CORE_H

#include <assert.h>
#include <pliant.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef pliant_status pl_status;

#if defined(__GNUC__)
#define PL_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define PL_PRINTF(f, a)
#endif

/* Sets the message that pliant_last_error() returns on this thread, and returns the status:
 * return pl_fail(PLIANT_ERROR_ARGUMENT, "density is %g: ...", density); */
pl_status pl_fail(pl_status status, const char* format, ...) PL_PRINTF(2, 3);
pl_status pl_fail_memory(size_t bytes);
const char* pl_last_error(void);
void pl_clear_error(void);

/* Returns a failure to the caller: PL_TRY(pl_sample(...)); */
#define PL_TRY(call)                                                                               \
    do                                                                                             \
    {                                                                                              \
        pl_status pl_try_status_ = (call);                                                         \
        if (pl_try_status_ != PLIANT_OK)                                                           \
            return pl_try_status_;                                                                 \
    } while (0)

/* 64-byte aligned, zeroed. NULL when out of memory or when count * size overflows; count 0 gives a
 * valid pointer. Every allocation of the library goes through here; pl_free(NULL) does nothing. */
void* pl_alloc(size_t count, size_t size);
/* The same, not zeroed: for arrays that are fully written before they are read. */
void* pl_alloc_bare(size_t count, size_t size);
/* Grows or shrinks and keeps the contents; new bytes are zero. On failure the old block is valid.
 */
void* pl_realloc(void* block, size_t count, size_t size);
void pl_free(void* block);
/* Bytes that the library has allocated now; exact, over all threads. */
uint64_t pl_bytes_in_use(void);
/* Test hook: after "count" more allocations all of them fail; negative switches it off. */
void pl_fail_allocations_after(int64_t count);

#define PL_NEW(type, count) ((type*)pl_alloc((count), sizeof(type)))
#define PL_BARE(type, count) ((type*)pl_alloc_bare((count), sizeof(type)))

/* A dynamic array that doubles when full: afterwards *capacity is at least "needed". */
bool pl_grow(void** items, size_t* capacity, size_t needed, size_t item_size);

/* Room for "count" items in a block that is not NULL. A block that is long enough stays; a shorter
 * one is reallocated with a quarter more. New items are zero if no caller wrote beyond the count it
 * requested. */
bool pl_lengthen(void** block, size_t count, size_t size);

/* Sorts in ascending order. "items" may be NULL if count is 0. */
void pl_sort_u32(uint32_t* items, size_t count);

/* Monotonic clock, milliseconds. */
double pl_now_ms(void);

/* Progress and cancellation of a long operation. */
typedef struct pl_task
{
    pliant_progress_fn progress; /* may be NULL */
    void* user;
    const volatile int* cancel; /* may be NULL; read with atomic semantics by pl_task_step */
    double from, to;            /* the range of overall progress of the current stage */
    const char* stage;
} pl_task;

/* Reports "fraction" (0 to 1) of the current stage; true: cancelled. "task" may be NULL. */
bool pl_task_step(pl_task* task, double fraction);

#define PL_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PL_MAX(a, b) ((a) > (b) ? (a) : (b))
#define PL_CLAMP(x, lo, hi) PL_MIN(PL_MAX((x), (lo)), (hi))
#define PL_COUNTOF(a) (sizeof(a) / sizeof((a)[0]))

#endif
