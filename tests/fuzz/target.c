// SPDX-License-Identifier: GPL-3.0-or-later
/* libFuzzer entry point for the harness FUZZ_HARNESS. A failed check aborts, so that libFuzzer
 * keeps the input. */
#define _GNU_SOURCE 1
#include "harness.h"
#include "native/support/test.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum
{
    MOST_SECONDS = 20 /* of processor time; usually less than one with the sanitizers */
};

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes);

static void took_too_long(int signal_number)
{
    static const char said[] = "an input took more than 20 s of processor time\n";
    (void)signal_number;
    ssize_t written = write(2, said, sizeof said - 1);
    (void)written;
    abort();
}

/* Limits processor time. libFuzzer's own limit (-timeout) is in wall time, which is unreliable on a
 * busy machine; it only catches deadlocks. */
static void limit_time(int seconds)
{
    struct itimerval limit = {.it_value.tv_sec = seconds};
    signal(SIGPROF, took_too_long);
    setitimer(ITIMER_PROF, &limit, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes)
{
    limit_time(MOST_SECONDS);
    FUZZ_HARNESS(data, bytes);
    limit_time(0);
    return 0;
}

/* Replaces fsync, which is slow and not needed here. */
int fsync(int file)
{
    (void)file;
    return 0;
}

void test_failed(const char* file, int line, const char* format, ...)
{
    va_list args;
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

void test_checks(void)
{
}

const char* test_folder(void)
{
    static char path[300];
    static int count;
    const char* tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/pliant-fuzz-%d-%d", tmp ? tmp : "/tmp", (int)getpid(), count++);
    return path;
}
