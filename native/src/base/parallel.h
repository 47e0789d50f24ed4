// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A thread pool. One thread computes each item, and the result of an item may not depend on the
 * thread: so any number of threads gives the same bits. A step makes many short calls. Therefore
 * threads spin for some microseconds between calls before they sleep, and a call is shared only if
 * that was measured to save time (parallel.c).
 */
#ifndef PL_BASE_PARALLEL_H
#define PL_BASE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_pool pl_pool;

/* Computes items "begin" to "end"; "worker" in [0, pl_pool_threads()) selects scratch memory. */
typedef void (*pl_work_fn)(void* context, uint32_t begin, uint32_t end, uint32_t worker);

/* threads 0: one per core. NULL when out of memory. A pool of one starts no thread. */
pl_pool* pl_pool_create(uint32_t threads);
void pl_pool_destroy(pl_pool* pool);
uint32_t pl_pool_threads(const pl_pool* pool);

/* Runs all "count" items, in batches of at most "grain" (at least 1), and returns when all are
 * done. With pool NULL the calling thread runs all. Do not nest calls. */
void pl_parallel_for(pl_pool* pool, uint32_t count, uint32_t grain, pl_work_fn work, void* context);

/* Test hook for races and determinism: every call of more than one batch is shared and wakes all
 * workers. Set it only while no pool runs. */
extern bool pl_pool_share_always;

#endif
