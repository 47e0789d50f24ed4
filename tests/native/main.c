// SPDX-License-Identifier: GPL-3.0-or-later
#define _GNU_SOURCE 1
#include "test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct
{
    const char *file, *name;
    bool slow;
    void (*run)(void);
} tests[4096];
static int test_count, failures_of_test;
static char folder_root[256];
static int folder_count;

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

void test_skip(const char* format, ...)
{
    va_list args;
    printf("    skipped: ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

bool test_quick(void)
{
    const char* quick = getenv("PLIANT_TEST_QUICK");
    return quick && quick[0] && strcmp(quick, "0") != 0;
}

bool test_shared_file(const char* name, char path[512])
{
    const char* root = getenv("PLIANT_SHARED");
    snprintf(path, 512, "%s/%s", root ? root : PLIANT_SHARED_DEFAULT, name);
    return access(path, R_OK) == 0;
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

static bool wanted(int test, int argc, char** argv)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s:%s", tests[test].file, tests[test].name);
    for (int i = 1; i < argc; ++i)
        if (strstr(whole, argv[i]))
            return true;
    return argc < 2;
}

int main(int argc, char** argv)
{
    int passed = 0, failed = 0, left_out = 0;
    bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    if (list)
        --argc, ++argv;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < test_count; ++i)
    {
        if (!wanted(i, argc, argv))
            continue;
        if (list)
        {
            printf("%s:%s%s\n", tests[i].file, tests[i].name, tests[i].slow ? " (slow)" : "");
            continue;
        }
        if (tests[i].slow && test_quick())
        {
            ++left_out;
            continue;
        }
        struct timespec a, b;
        failures_of_test = 0;
        clock_gettime(CLOCK_MONOTONIC, &a);
        tests[i].run();
        clock_gettime(CLOCK_MONOTONIC, &b);
        double s = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        printf("%s %s:%s (%.2f s)\n", failures_of_test ? "FAIL" : "ok  ", tests[i].file,
               tests[i].name, s);
        failures_of_test ? ++failed : ++passed;
    }
    if (folder_root[0])
    {
        char command[400];
        snprintf(command, sizeof command, "rm -rf '%s'", folder_root);
        if (system(command) != 0)
            printf("could not remove %s\n", folder_root);
    }
    if (list)
        return 0;
    if (left_out)
        printf("%d slow tests left out\n", left_out);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
