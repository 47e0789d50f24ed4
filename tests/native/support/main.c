// SPDX-License-Identifier: GPL-3.0-or-later
#define _GNU_SOURCE 1
#include "native/support/test.h"

#include <base/parallel.h>
#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static struct
{
    const char *file, *name;
    bool slow;
    void (*run)(void);
} tests[4096];
static int test_count, failures_of_test;
static atomic_bool checked; /* the test has made a check, in whichever thread */
static char reason[256];    /* why the test is skipped; empty: it is not */
static char missing[256];   /* the last part of it that cannot run here */
static char folder_root[256];
static int folder_count;
/* how many threads were started; processes that a test makes count here too */
static atomic_int* started;

void test_register(const char* file, const char* name, bool slow, void (*run)(void))
{
    const char* base = strrchr(file, '/');
    if (test_count == (int)(sizeof tests / sizeof tests[0]))
        abort();
    tests[test_count].file = base ? base + 1 : file;
    tests[test_count].name = name;
    tests[test_count].slow = slow;
    tests[test_count++].run = run;
}

void test_failed(const char* file, int line, const char* format, ...)
{
    va_list args;
    if (++failures_of_test > 10)
        return; /* one broken loop should not fill the log */
    printf("    %s:%d: ", file, line);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

void test_checks(void)
{
    if (!atomic_load_explicit(&checked, memory_order_relaxed))
        atomic_store_explicit(&checked, true, memory_order_relaxed);
}

void test_skip(const char* format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
}

void test_skip_part(const char* format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(missing, sizeof missing, format, args);
    va_end(args);
    printf("    not here: %s\n", missing);
}

bool test_quick(void)
{
    const char* quick = getenv("PLIANT_TEST_QUICK");
    return quick && quick[0] && strcmp(quick, "0") != 0;
}

const char* test_folder(void)
{
    static char path[300];
    if (!folder_root[0])
    {
        const char* tmp = getenv("TMPDIR");
        snprintf(folder_root, sizeof folder_root, "%s/pliant-tests-XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(folder_root))
            abort();
    }
    snprintf(path, sizeof path, "%s/%d", folder_root, folder_count++);
    return path;
}

#if defined(TEST_COUNTS_THREADS)
int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __wrap_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

/* What the linker calls wherever this program creates a thread. */
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* argument)
{
    atomic_fetch_add(started, 1);
    return __real_pthread_create(thread, attributes, run, argument);
}
#endif

/* Whether a line of the file that PLIANT_TEST_WITHOUT names is the test's "file:name". */
static bool listed_without(const char* whole)
{
    const char* path = getenv("PLIANT_TEST_WITHOUT");
    char line[256];
    bool found = false;
    FILE* file = path && path[0] ? fopen(path, "r") : NULL;
    while (file && !found && fgets(line, sizeof line, file))
    {
        line[strcspn(line, "\n")] = 0;
        found = strcmp(line, whole) == 0;
    }
    if (file)
        fclose(file);
    return found;
}

typedef enum outcome
{
    PASSED,
    FAILED,
    SKIPPED,
    OUTCOMES
} outcome;

static outcome run_test(int test)
{
    static const char* const marks[OUTCOMES] = {"ok  ", "FAIL", "skip"};
    struct timespec a, b;
    failures_of_test = 0;
    reason[0] = missing[0] = 0;
    atomic_store(&checked, false);
    atomic_store(started, 0);
    clock_gettime(CLOCK_MONOTONIC, &a);
    tests[test].run();
    clock_gettime(CLOCK_MONOTONIC, &b);
    double s = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    if (!atomic_load(&checked) && missing[0]) /* no part can run here */
        memcpy(reason, missing, sizeof reason);
    if (!reason[0] && !atomic_load(&checked))
        test_failed(tests[test].file, 0, "the test has checked nothing");
    outcome end = failures_of_test ? FAILED : reason[0] ? SKIPPED : PASSED;
    printf("%s %s:%s (%.2f s%s)%s%s\n", marks[end], tests[test].file, tests[test].name, s,
           atomic_load(started) ? ", threads" : "", reason[0] ? ": " : "", reason);
    return end;
}

static bool wanted(const char* whole, int argc, char** argv)
{
    for (int i = 1; i < argc; ++i)
        if (strstr(whole, argv[i]))
            return true;
    return argc < 2;
}

static int remove_entry(const char* path, const struct stat* status, int kind, struct FTW* place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

int main(int argc, char** argv)
{
    int ended[OUTCOMES] = {0}, left_out = 0;
    bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    started =
        mmap(NULL, sizeof *started, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (started == MAP_FAILED)
        abort();
    if (list)
        --argc, ++argv;
    pl_pool_share_always = true; /* small scenes would not show races */
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < test_count; ++i)
    {
        char whole[256];
        snprintf(whole, sizeof whole, "%s:%s", tests[i].file, tests[i].name);
        if (!wanted(whole, argc, argv))
            continue;
        if (list)
        {
            printf("%s:%s%s\n", tests[i].file, tests[i].name, tests[i].slow ? " (slow)" : "");
            continue;
        }
        if ((tests[i].slow && test_quick()) || listed_without(whole))
        {
            ++left_out;
            continue;
        }
        ++ended[run_test(i)];
    }
    if (folder_root[0] && nftw(folder_root, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        printf("could not remove %s\n", folder_root);
    if (list)
        return 0;
    if (left_out)
        printf("%d left out\n", left_out);
    if (ended[SKIPPED])
        printf("%d skipped\n", ended[SKIPPED]);
    printf("%d passed, %d failed\n", ended[PASSED], ended[FAILED]);
    return ended[FAILED] != 0;
}
