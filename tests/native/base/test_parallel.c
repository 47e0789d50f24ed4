// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Costs and gains of threads. Times are compared as ratios within a run, in alternating rounds, and
 * the best of several attempts counts, since other programs may disturb any of them.
 */
#define _GNU_SOURCE 1
#include "native/support/test.h"

#include <base/core.h>
#include <base/parallel.h>
#include <base/platform.h>
#include <scenes/scenes.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum
{
    ATTEMPTS = 4,
    MOST_BUSY = 16
};

static double cpu_ms(void)
{
    return 1e3 * (double)clock() / CLOCKS_PER_SEC;
}

/* Processes that keep the cores busy. */
static int start_busy(pid_t busy[MOST_BUSY])
{
    int count = (int)PL_MIN(3 * pl_core_count(), (uint32_t)MOST_BUSY);
    for (int i = 0; i < count; ++i)
        if ((busy[i] = fork()) == 0)
        {
            alarm(120); /* should the test be killed */
            for (volatile unsigned n = 0;; ++n)
                ;
        }
    return count;
}

static void end_busy(const pid_t busy[MOST_BUSY], int count)
{
    for (int i = 0; i < count; ++i)
        if (busy[i] > 0)
        {
            kill(busy[i], SIGKILL);
            waitpid(busy[i], NULL, 0);
        }
}

typedef struct
{
    scene opened;
    pliant_scene made[2]; /* with one thread, with as many as there are cores */
    double wall[2], cpu[2];
} pair;

static bool open_pair(pair* p, uint32_t particles)
{
    *p = (pair){0};
    scene_open_cube(particles, &p->opened);
    p->opened.body.cluster.count = PL_MAX(particles / 50, 2u);
    for (uint32_t k = 0; k < 2; ++k)
    {
        pliant_body body = 0;
        p->opened.scene.threads = 1 - k;
        if (scene_create(&p->opened, &p->made[k], &body) != PLIANT_OK)
            return false;
    }
    return true;
}

static void close_pair(pair* p)
{
    for (int k = 0; k < 2; ++k)
        pliant_scene_destroy(p->made[k]);
    scene_close(&p->opened);
}

/* Alternates between both and sums their times. */
static bool run_pair(pair* p, uint32_t rounds, uint32_t steps)
{
    for (int k = 0; k < 2; ++k)
        p->wall[k] = p->cpu[k] = 0;
    for (uint32_t round = 0; round < 2 * rounds; ++round)
    {
        uint32_t k = round & 1;
        double wall = pl_now_ms(), cpu = cpu_ms();
        for (uint32_t step = 0; step < steps; ++step)
            if (pliant_scene_advance(p->made[k], &p->opened.frame) != PLIANT_OK)
                return false;
        p->wall[k] += pl_now_ms() - wall;
        p->cpu[k] += cpu_ms() - cpu;
    }
    return true;
}

static void check_pair(pair* p, const char* where, uint32_t particles, uint32_t rounds,
                       uint32_t steps, double most)
{
    double wall = INFINITY, cpu = INFINITY;
    for (int i = 0; i < ATTEMPTS && (wall > most || cpu > most); ++i)
    {
        REQUIRE(run_pair(p, rounds, steps));
        wall = PL_MIN(wall, p->wall[1] / p->wall[0]);
        cpu = PL_MIN(cpu, p->cpu[1] / p->cpu[0]);
    }
    CHECK_MSG(wall <= most, "%u particles, %s: %.2f times the time of one thread", particles, where,
              wall);
    CHECK_MSG(cpu <= most, "%u particles, %s: %.2f times one thread's processor time", particles,
              where, cpu);
}

/* Busy processes preempt the workers; a step must not wait for them. */
TEST_SLOW(busy_cores_cost_all_threads_little_more_than_one)
{
    pid_t busy[MOST_BUSY];
    pair p;
    pl_pool_share_always = false;
    CHECK(open_pair(&p, 3018));
    int count = start_busy(busy);
    check_pair(&p, "busy cores", 3018, 20, 250, 1.2);
    end_busy(busy, count);
    close_pair(&p);
    pl_pool_share_always = true;
}

TEST_SLOW(all_threads_are_not_slower_than_one_at_any_size)
{
    static const uint32_t sizes[] = {60, 300, 1000, 3000, 10000, 50000};
    pair p;
    pl_pool_share_always = false;
    for (uint32_t i = 0; i < PL_COUNTOF(sizes); ++i)
    {
        CHECK(open_pair(&p, sizes[i]));
        check_pair(&p, "whatever else runs", sizes[i], 20, PL_MAX(300000 / sizes[i], 10u), 1.15);
        close_pair(&p);
    }
    pl_pool_share_always = true;
}

static void add_up(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    uint32_t* sums = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
        for (uint32_t n = 0; n < 2000; ++n)
            sums[i] += n * i;
}

TEST(workers_sleep_when_there_is_nothing_to_do)
{
    static uint32_t sums[64];
    pl_pool* pool = pl_pool_create(4);
    REQUIRE(pool);
    pl_parallel_for(pool, 64, 1, add_up, sums);
    double before = cpu_ms();
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    CHECK_MSG(cpu_ms() - before < 60, "%g ms of 300 on the processor", cpu_ms() - before);
    pl_pool_destroy(pool);
}

/* Shared, probed and single-threaded calls give the same results. */
TEST(every_item_is_done_once_whether_shared_or_not)
{
    static uint32_t sums[200], expected[200];
    pl_pool* pool = pl_pool_create(3);
    REQUIRE(pool);
    pl_pool_share_always = false;
    for (uint32_t round = 0; round < 400; ++round)
    {
        uint32_t count = 1 + round * 37 % 200;
        pl_parallel_for(pool, count, 1 + round % 7, add_up, sums);
        add_up(expected, 0, count, 0);
    }
    for (int i = 0; i < 200; ++i)
        CHECK(sums[i] == expected[i]);
    pl_pool_share_always = true;
    pl_pool_destroy(pool);
}
