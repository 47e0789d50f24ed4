// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A small pool of threads. Work is a number of items; each item is computed whole by one thread,
 * and what an item computes may not depend on which thread that is: so any number of threads gives
 * the same bits. A step makes many short calls, so threads spin for some microseconds between two
 * before they sleep, and a call is shared only where that has been found to save time: see
 * parallel.c.
 */
#ifndef PL_BASE_PARALLEL_H
#define PL_BASE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_pool pl_pool;

/* "begin" to "end" are the items to do; "worker" is in [0, pl_pool_threads()), for scratch memory.
 */
typedef void (*pl_work_fn)(void* context, uint32_t begin, uint32_t end, uint32_t worker);

/* threads 0: one for each core. NULL when out of memory. A pool of one starts no thread. */
pl_pool* pl_pool_create(uint32_t threads);
void pl_pool_destroy(pl_pool* pool);
uint32_t pl_pool_threads(const pl_pool* pool);

/* Runs all "count" items, in batches of at most "grain" (at least 1), and returns when all are
 * done. pool may be NULL: everything runs here. Not to be called from within work. */
void pl_parallel_for(pl_pool* pool, uint32_t count, uint32_t grain, pl_work_fn work, void* context);

/* For tests of races and of bits: every call of more than one batch is shared and wakes everybody,
 * whether it pays or not. Set it while no pool works. */
extern bool pl_pool_share_always;

#endif
