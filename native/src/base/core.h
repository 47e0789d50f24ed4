// SPDX-License-Identifier: GPL-3.0-or-later
/* Memory, errors and time: what every other file stands on. */
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

/* Records the sentence that pliant_last_error() gives on this thread, and returns the status, so
 * that a check reads: return pl_fail(PLIANT_ERROR_ARGUMENT, "density is %g: ...", density); */
pl_status pl_fail(pl_status status, const char* format, ...) PL_PRINTF(2, 3);
pl_status pl_fail_memory(size_t bytes);
const char* pl_last_error(void);
void pl_clear_error(void);

/* Passes a failure on: PL_TRY(pl_sample(...)); */
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
/* The same without zeroes, for what is written as a whole before it is read. */
void* pl_alloc_bare(size_t count, size_t size);
/* Grows or shrinks, keeping the contents; new bytes are zero. On failure the old block stays. */
void* pl_realloc(void* block, size_t count, size_t size);
void pl_free(void* block);
/* Bytes held by the library now, for the memory figures; exact, over all threads. */
uint64_t pl_bytes_in_use(void);
/* Test hook: after "count" more allocations every one fails; negative switches it off. */
void pl_fail_allocations_after(int64_t count);

#define PL_NEW(type, count) ((type*)pl_alloc((count), sizeof(type)))
#define PL_BARE(type, count) ((type*)pl_alloc_bare((count), sizeof(type)))

/* A list that doubles when full: *items has *capacity room for count + more afterwards. */
bool pl_grow(void** items, size_t* capacity, size_t needed, size_t item_size);

/* Room for "count" items in a block that is not NULL: one that has it stays where it is, a shorter
 * one moves and gets a quarter more. What is new is zero as long as nobody wrote beyond what was
 * asked for. */
bool pl_lengthen(void** block, size_t count, size_t size);

/* Sorts numbers upward; of none, there need be no list. */
void pl_sort_u32(uint32_t* items, size_t count);

/* Monotonic clock, milliseconds. */
double pl_now_ms(void);

/* Progress and cancel, handed down to whatever takes long. */
typedef struct pl_task
{
    pliant_progress_fn progress; /* may be NULL */
    void* user;
    const volatile int* cancel; /* may be NULL; read with atomic semantics by pl_task_step */
    double from, to;            /* the part of the whole that the current stage covers */
    const char* stage;
} pl_task;

/* Reports "fraction" (0 to 1) of the current stage; true means stop now. "task" may be NULL. */
bool pl_task_step(pl_task* task, double fraction);

#define PL_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PL_MAX(a, b) ((a) > (b) ? (a) : (b))
#define PL_CLAMP(x, lo, hi) PL_MIN(PL_MAX((x), (lo)), (hi))
#define PL_COUNTOF(a) (sizeof(a) / sizeof((a)[0]))

#endif
