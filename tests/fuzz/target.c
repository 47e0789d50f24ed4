// SPDX-License-Identifier: GPL-3.0-or-later
/* libFuzzer's entry for one harness, which FUZZ_HARNESS names. A failed check ends the program, so
 * that the input is kept. */
#define _GNU_SOURCE 1
#include "harness.h"
#include "native/test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes)
{
    FUZZ_HARNESS(data, bytes);
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

const char* test_folder(void)
{
    static char path[300];
    static int count;
    const char* tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/pliant-fuzz-%d-%d", tmp ? tmp : "/tmp", (int)getpid(), count++);
    return path;
}
