// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/core.h"

#include "base/platform.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PL_THREAD_LOCAL char last_error[1024];

pl_status pl_fail(pl_status status, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return status;
}

pl_status pl_fail_memory(size_t bytes)
{
    return pl_fail(PLIANT_ERROR_MEMORY, "Out of memory while asking for %.1f MB",
                   (double)bytes / 1e6);
}

const char* pl_last_error(void)
{
    return last_error;
}

void pl_clear_error(void)
{
    last_error[0] = 0;
}

/* Each block stores its size in front, in a full cache line to keep the alignment. */
enum
{
    HEADER = 64
};

static atomic_uint_fast64_t bytes_in_use;
static atomic_int_fast64_t allocations_left = -1;

static bool may_allocate(void)
{
    if (atomic_load_explicit(&allocations_left, memory_order_relaxed) < 0)
        return true;
    if (atomic_fetch_sub(&allocations_left, 1) > 0)
        return true;
    atomic_store(&allocations_left, 0);
    return false;
}

/* Zeroed from byte "kept" on; the caller fills the bytes before. */
static void* allocate(size_t count, size_t size, size_t kept)
{
    if (size && count > (SIZE_MAX - 2 * HEADER) / size)
        return NULL;
    size_t bytes = count * size;
    size_t whole = (bytes + HEADER + 63) / 64 * 64;
    if (!may_allocate())
        return NULL;
    char* base = pl_aligned_alloc(64, whole);
    if (!base)
        return NULL;
    memset(base, 0, HEADER);
    memset(base + HEADER + kept, 0, whole - HEADER - kept);
    memcpy(base, &bytes, sizeof bytes);
    atomic_fetch_add_explicit(&bytes_in_use, bytes, memory_order_relaxed);
    return base + HEADER;
}

void* pl_alloc(size_t count, size_t size)
{
    return allocate(count, size, 0);
}

void* pl_alloc_bare(size_t count, size_t size)
{
    /* allocate rejects an overflowing product */
    return allocate(count, size, count * size);
}

static size_t block_bytes(const void* block)
{
    size_t bytes;
    memcpy(&bytes, (const char*)block - HEADER, sizeof bytes);
    return bytes;
}

void* pl_realloc(void* block, size_t count, size_t size)
{
    /* allocate rejects an overflowing product */
    size_t kept = block ? PL_MIN(block_bytes(block), count * size) : 0;
    void* fresh = allocate(count, size, kept);
    if (!fresh || !block)
        return fresh;
    memcpy(fresh, block, kept);
    pl_free(block);
    return fresh;
}

void pl_free(void* block)
{
    if (!block)
        return;
    atomic_fetch_sub_explicit(&bytes_in_use, block_bytes(block), memory_order_relaxed);
    pl_aligned_free((char*)block - HEADER);
}

uint64_t pl_bytes_in_use(void)
{
    return atomic_load(&bytes_in_use);
}

void pl_fail_allocations_after(int64_t count)
{
    atomic_store(&allocations_left, count);
}

bool pl_grow(void** items, size_t* capacity, size_t needed, size_t item_size)
{
    if (needed <= *capacity)
        return true;
    size_t larger = PL_MAX(needed, PL_MAX((size_t)16, *capacity * 2));
    void* fresh = pl_realloc(*items, larger, item_size);
    if (!fresh)
        return false;
    *items = fresh;
    *capacity = larger;
    return true;
}

bool pl_lengthen(void** block, size_t count, size_t size)
{
    if (block_bytes(*block) / size >= count)
        return true;
    void* fresh = pl_realloc(*block, count + count / 4, size);
    if (!fresh)
        return false;
    *block = fresh;
    return true;
}

static int ascending(const void* a, const void* b)
{
    uint32_t p = *(const uint32_t*)a, q = *(const uint32_t*)b;
    return (p > q) - (p < q);
}

void pl_sort_u32(uint32_t* items, size_t count)
{
    if (count > 1) /* qsort(NULL, 0) is undefined */
        qsort(items, count, sizeof *items, ascending);
}

bool pl_task_step(pl_task* task, double fraction)
{
    if (!task)
        return false;
    if (task->cancel && __atomic_load_n(task->cancel, __ATOMIC_RELAXED))
        return true;
    if (!task->progress)
        return false;
    double whole = task->from + (task->to - task->from) * PL_CLAMP(fraction, 0.0, 1.0);
    return task->progress(task->user, whole, task->stage ? task->stage : "") != 0;
}
