// SPDX-License-Identifier: GPL-3.0-or-later
#include "parallel.h"

#include "core.h"
#include "platform.h"

#include <stdatomic.h>

enum
{
    SPINS = 4000 /* some tens of microseconds: about the gap between two stages */
};

struct pl_pool
{
    uint32_t threads;
    pl_thread** workers;
    pl_monitor* monitor;
    atomic_uint sleeping;

    /* The current job. "generation" is raised when a job is ready, "running" counts down to 0. */
    atomic_uint generation;
    atomic_uint running;
    atomic_bool stop;
    atomic_uint next;
    uint32_t count, grain;
    pl_work_fn work;
    void* context;
    atomic_uint worker_ids;
};

static void do_batches(pl_pool* pool, uint32_t worker)
{
    for (;;)
    {
        uint32_t begin = atomic_fetch_add_explicit(&pool->next, pool->grain, memory_order_relaxed);
        if (begin >= pool->count)
            return;
        pool->work(pool->context, begin, PL_MIN(begin + pool->grain, pool->count), worker);
    }
}

static uint32_t wait_for_job(pl_pool* pool, uint32_t seen)
{
    for (int spin = 0; spin < SPINS; ++spin)
    {
        uint32_t now = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (now != seen)
            return now;
        pl_spin_pause();
    }
    pl_monitor_lock(pool->monitor);
    atomic_fetch_add(&pool->sleeping, 1);
    while (atomic_load(&pool->generation) == seen)
        pl_monitor_wait(pool->monitor);
    atomic_fetch_sub(&pool->sleeping, 1);
    pl_monitor_unlock(pool->monitor);
    return atomic_load(&pool->generation);
}

static void worker_main(void* user)
{
    pl_pool* pool = user;
    uint32_t worker = atomic_fetch_add(&pool->worker_ids, 1) + 1;
    uint32_t fp_state = pl_fp_state_enter();
    for (uint32_t seen = 0;;)
    {
        seen = wait_for_job(pool, seen);
        if (atomic_load(&pool->stop))
            break;
        do_batches(pool, worker);
        atomic_fetch_sub_explicit(&pool->running, 1, memory_order_release);
    }
    pl_fp_state_leave(fp_state);
}

/* Raising the generation under the lock, when somebody sleeps, means that no wake-up is lost. */
static void announce(pl_pool* pool)
{
    pl_monitor_lock(pool->monitor);
    atomic_fetch_add_explicit(&pool->generation, 1, memory_order_release);
    if (atomic_load(&pool->sleeping))
        pl_monitor_wake_all(pool->monitor);
    pl_monitor_unlock(pool->monitor);
}

pl_pool* pl_pool_create(uint32_t threads)
{
    if (threads == 0)
        threads = pl_core_count();
    threads = PL_MIN(threads, 256u);
    pl_pool* pool = PL_NEW(pl_pool, 1);
    if (!pool)
        return NULL;
    pool->threads = 1;
    pool->monitor = pl_monitor_create();
    pool->workers = PL_NEW(pl_thread*, threads);
    if (!pool->monitor || !pool->workers)
    {
        pl_pool_destroy(pool);
        return NULL;
    }
    for (uint32_t i = 1; i < threads; ++i)
    {
        pl_thread* worker = pl_thread_start(worker_main, pool);
        if (!worker)
            break; /* fewer threads give the same results */
        pool->workers[pool->threads++ - 1] = worker;
    }
    return pool;
}

void pl_pool_destroy(pl_pool* pool)
{
    if (!pool)
        return;
    if (pool->threads > 1)
    {
        atomic_store(&pool->stop, true);
        announce(pool);
        for (uint32_t i = 1; i < pool->threads; ++i)
            pl_thread_join(pool->workers[i - 1]);
    }
    pl_monitor_destroy(pool->monitor);
    pl_free(pool->workers);
    pl_free(pool);
}

uint32_t pl_pool_threads(const pl_pool* pool)
{
    return pool ? pool->threads : 1;
}

void pl_parallel_for(pl_pool* pool, uint32_t count, uint32_t grain, pl_work_fn work, void* context)
{
    grain = PL_MAX(grain, 1u);
    if (count == 0)
        return;
    if (!pool || pool->threads == 1 || count <= grain)
    {
        for (uint32_t begin = 0; begin < count; begin += grain)
            work(context, begin, PL_MIN(begin + grain, count), 0);
        return;
    }
    pool->count = count;
    pool->grain = grain;
    pool->work = work;
    pool->context = context;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->running, pool->threads - 1, memory_order_relaxed);
    announce(pool);
    do_batches(pool, 0);
    while (atomic_load_explicit(&pool->running, memory_order_acquire))
        pl_spin_pause();
}
