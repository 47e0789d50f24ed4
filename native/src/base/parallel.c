// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Jobs. One word holds the state of the current job, so that joining and closing are single atomic
 * operations:
 *
 *     number of the job (63..32) | open (31) | workers in it (30..0)
 *
 *   caller   raises the number, opens | takes batches ... | closes, waits until no worker is in it
 *   worker   spins, then sleeps       | joins if open, takes batches, leaves
 *
 * The caller does not wait for a worker that has not joined when the last batch is taken. So it
 * does all the work itself if workers get no processor. A thread spins for at most SPIN_NS.
 *
 * Measured times decide whether a call is shared; they never affect results. A stage is a work
 * function.
 *   - The work of a call is its number of items times the stage's time per item. The time per item
 *     is measured on the calling thread: in the first calls and in one of SAMPLE, for PROBE_NS. A
 *     call of less than SHARE_NS runs on the calling thread.
 *   - Sleeping workers are woken for WAKE_NS of work, in one call or in several that ran without
 *     them.
 *   - The gain of sharing (expected time on one thread minus elapsed time) is summed for the stage
 *     and for the pool. If a sum falls below 0, everything runs on the calling thread until the
 *     loss is a RETRY-th of the work since. A worker that is preempted in a batch costs
 *     milliseconds: on a busy machine the pool's sum is soon below 0.
 */
#include "base/parallel.h"

#include "base/core.h"
#include "base/platform.h"

#include <stdatomic.h>

enum
{
    SPIN_NS = 30000,
    SHARE_NS = 6000,
    WAKE_NS = 100000,
    CREDIT_NS = 200000, /* upper bound of the summed gain */
    RETRY = 24,
    FIRST = 4,
    SAMPLE = 32,
    PROBE_NS = 50000,
    STAGES = 128 /* a power of two */
};

#define OPEN (1ull << 31)
#define INSIDE (OPEN - 1)
#define NUMBER(state) ((state) >> 32)

/* Summed gain of sharing. "off" is the work that must still run without sharing. */
typedef struct
{
    double credit, off;
} account;

typedef struct
{
    pl_work_fn work;
    double ns_per_item;
    uint32_t calls;
    account own;
} stage;

struct pl_pool
{
    uint32_t threads;
    pl_thread** workers;
    pl_monitor* idle; /* workers sleep here */
    pl_monitor* done; /* the caller sleeps here */
    atomic_uint sleeping, worker_ids;
    atomic_bool stop, caller_sleeps;

    _Atomic uint64_t state;
    atomic_uint next;
    uint32_t count, grain;
    pl_work_fn work;
    void* context;

    /* Used by the calling thread only. */
    stage stages[STAGES];
    account all;
    double missed; /* work that was not shared because workers slept */
};

bool pl_pool_share_always;

static double now_ns(void)
{
    return pl_now_ms() * 1e6;
}

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

/* ---------------------------------------------------------------- workers */

/* Waits for a job other than "seen", or for the pool to stop. */
static uint64_t wait_for_job(pl_pool* pool, uint64_t seen)
{
    double end = now_ns() + SPIN_NS;
    do
        for (int spin = 0; spin < 32; ++spin)
        {
            uint64_t state = atomic_load_explicit(&pool->state, memory_order_acquire);
            if (NUMBER(state) != seen)
                return state;
            pl_spin_pause();
        }
    while (now_ns() < end);

    pl_monitor_lock(pool->idle);
    atomic_fetch_add(&pool->sleeping, 1);
    uint64_t state;
    while (NUMBER(state = atomic_load(&pool->state)) == seen)
        pl_monitor_wait(pool->idle);
    atomic_fetch_sub(&pool->sleeping, 1);
    pl_monitor_unlock(pool->idle);
    return state;
}

static bool join(pl_pool* pool, uint64_t state)
{
    while ((state & OPEN) && !atomic_compare_exchange_weak(&pool->state, &state, state + 1))
        ;
    return state & OPEN;
}

static void leave(pl_pool* pool)
{
    uint64_t left = atomic_fetch_sub(&pool->state, 1) - 1;
    if ((left & (OPEN | INSIDE)) == 0 && atomic_load(&pool->caller_sleeps))
    {
        pl_monitor_lock(pool->done);
        pl_monitor_wake_all(pool->done);
        pl_monitor_unlock(pool->done);
    }
}

static void worker_main(void* user)
{
    pl_pool* pool = user;
    uint32_t worker = atomic_fetch_add(&pool->worker_ids, 1) + 1;
    uint32_t fp_state = pl_fp_state_enter();
    for (uint64_t seen = 0;;)
    {
        uint64_t state = wait_for_job(pool, seen);
        if (atomic_load(&pool->stop))
            break;
        seen = NUMBER(state);
        if (join(pool, state))
        {
            do_batches(pool, worker);
            leave(pool);
        }
    }
    pl_fp_state_leave(fp_state);
}

/* ---------------------------------------------------------------- the pool */

static void wake_workers(pl_pool* pool, uint32_t count)
{
    pl_monitor_lock(pool->idle);
    if (count >= atomic_load(&pool->sleeping))
        pl_monitor_wake_all(pool->idle);
    else
        for (uint32_t i = 0; i < count; ++i)
            pl_monitor_wake_one(pool->idle);
    pl_monitor_unlock(pool->idle);
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
    pool->idle = pl_monitor_create();
    pool->done = pl_monitor_create();
    pool->workers = PL_NEW(pl_thread*, threads);
    if (!pool->idle || !pool->done || !pool->workers)
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
        atomic_fetch_add(&pool->state, 1ull << 32);
        wake_workers(pool, UINT32_MAX);
        for (uint32_t i = 1; i < pool->threads; ++i)
            pl_thread_join(pool->workers[i - 1]);
    }
    pl_monitor_destroy(pool->idle);
    pl_monitor_destroy(pool->done);
    pl_free(pool->workers);
    pl_free(pool);
}

uint32_t pl_pool_threads(const pl_pool* pool)
{
    return pool ? pool->threads : 1;
}

/* ---------------------------------------------------------------- a job */

typedef struct
{
    uint32_t begin, count, grain;
    pl_work_fn work;
    void* context;
} job;

static void run_here(job* j)
{
    for (; j->begin < j->count; j->begin += j->grain)
        j->work(j->context, j->begin, PL_MIN(j->begin + j->grain, j->count), 0);
}

static void run_shared(pl_pool* pool, const job* j, uint32_t wake)
{
    pool->count = j->count;
    pool->grain = j->grain;
    pool->work = j->work;
    pool->context = j->context;
    atomic_store_explicit(&pool->next, j->begin, memory_order_relaxed);
    atomic_store(&pool->state, ((NUMBER(atomic_load(&pool->state)) + 1) << 32) | OPEN);
    if (wake && atomic_load(&pool->sleeping))
        wake_workers(pool, wake);
    do_batches(pool, 0);
    if ((atomic_fetch_and(&pool->state, ~OPEN) & INSIDE) == 0)
        return;

    double end = now_ns() + SPIN_NS;
    do
        for (int spin = 0; spin < 32; ++spin)
        {
            if ((atomic_load_explicit(&pool->state, memory_order_acquire) & INSIDE) == 0)
                return;
            pl_spin_pause();
        }
    while (now_ns() < end);
    pl_monitor_lock(pool->done);
    atomic_store(&pool->caller_sleeps, true);
    while (atomic_load(&pool->state) & INSIDE)
        pl_monitor_wait(pool->done);
    atomic_store(&pool->caller_sleeps, false);
    pl_monitor_unlock(pool->done);
}

/* ---------------------------------------------------------------- when to share */

/* The entry of a stage in the hash table; NULL: the table is full. */
static stage* find_stage(pl_pool* pool, pl_work_fn work)
{
    uint64_t hash = (uint64_t)(uintptr_t)work * 0x9e3779b97f4a7c15ull >> 40;
    for (uint32_t probe = 0; probe < 8; ++probe)
    {
        stage* s = &pool->stages[(hash + probe) & (STAGES - 1)];
        if (!s->work)
            s->work = work;
        if (s->work == work)
            return s;
    }
    return NULL;
}

static void settle(account* a, double saved)
{
    a->credit = PL_MIN(a->credit + saved, (double)CREDIT_NS);
    if (a->credit < 0)
    {
        a->off = -a->credit * RETRY;
        a->credit = 0;
    }
}

static bool is_off(account* a, double work)
{
    a->off -= PL_MIN(a->off, work);
    return a->off > 0;
}

/* Runs batches on the calling thread and measures the time per item: the least of the first calls,
 * then a running estimate with bounded steps, since this thread may be preempted. */
static void probe(stage* s, job* j, double limit_ns)
{
    uint32_t from = j->begin;
    double start = now_ns(), elapsed;
    do
    {
        j->work(j->context, j->begin, PL_MIN(j->begin + j->grain, j->count), 0);
        j->begin += j->grain;
        elapsed = now_ns() - start;
    } while (j->begin < j->count && elapsed < limit_ns);
    double found = elapsed / (PL_MIN(j->begin, j->count) - from);
    double most = s->ns_per_item / 8;
    if (s->calls <= FIRST)
        s->ns_per_item = s->calls == 1 ? found : PL_MIN(found, s->ns_per_item);
    else
        s->ns_per_item += PL_MAX(PL_MIN(found - s->ns_per_item, most), -most);
}

/* The number of sleeping workers to wake for a call. */
static uint32_t workers_to_wake(pl_pool* pool, double work)
{
    pool->missed += work;
    if (pool->missed < WAKE_NS)
        return 0;
    pool->missed = 0;
    return 1 + (uint32_t)PL_MIN(work / SPIN_NS, 256.);
}

static void run_if_worth(pl_pool* pool, stage* s, job* j)
{
    bool off = is_off(&pool->all, s->ns_per_item * j->count);
    off = is_off(&s->own, s->ns_per_item * j->count) || off;
    ++s->calls;
    if (s->calls <= FIRST || s->calls % SAMPLE == 0)
        probe(s, j, PROBE_NS);

    double work = s->ns_per_item * (j->count - PL_MIN(j->begin, j->count));
    uint32_t asleep = atomic_load_explicit(&pool->sleeping, memory_order_relaxed);
    bool share = !off && work >= SHARE_NS && j->begin + j->grain < j->count;
    uint32_t wake = share && asleep ? workers_to_wake(pool, work) : 0;
    if (!share || (!wake && asleep + 1 >= pool->threads))
    {
        run_here(j);
        return;
    }
    double start = now_ns();
    run_shared(pool, j, wake);
    double saved = work - (now_ns() - start);
    settle(&pool->all, saved);
    settle(&s->own, PL_MAX(saved, -work)); /* a stall says nothing about the stage */
}

void pl_parallel_for(pl_pool* pool, uint32_t count, uint32_t grain, pl_work_fn work, void* context)
{
    job j = {0, count, PL_MAX(grain, 1u), work, context};
    if (!pool || pool->threads == 1 || j.count <= j.grain)
    {
        run_here(&j);
        return;
    }
    stage* s = pl_pool_share_always ? NULL : find_stage(pool, work);
    if (s)
        run_if_worth(pool, s, &j);
    else
        run_shared(pool, &j, UINT32_MAX);
}
