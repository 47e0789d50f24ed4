// SPDX-License-Identifier: GPL-3.0-or-later
/* Output: JSON, times, medians. */
#include "base/core.h"
#include "bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int depth;
static bool has_items[16];

static void begin_item(const char* name)
{
    if (depth > 0 && has_items[depth - 1])
        printf(depth > 1 ? ", " : ",");
    if (depth > 0)
        has_items[depth - 1] = true;
    if (depth == 1)
        printf("\n  ");
    if (name)
        printf("\"%s\": ", name);
}

static void open_with(const char* name, char bracket)
{
    begin_item(name);
    putchar(bracket);
    has_items[depth++] = false;
}

void json_open(const char* name)
{
    open_with(name, '{');
}

void json_close(void)
{
    --depth;
    printf(depth == 0 ? "\n}\n" : "}");
    fflush(stdout);
}

void json_list(const char* name)
{
    open_with(name, '[');
}

void json_list_close(void)
{
    --depth;
    printf("]");
}

void json_text(const char* name, const char* value)
{
    begin_item(name);
    putchar('"');
    for (; *value; ++value)
        if (*value == '"' || *value == '\\')
            printf("\\%c", *value);
        else if ((unsigned char)*value < 32)
            printf("\\u%04x", *value);
        else
            putchar(*value);
    putchar('"');
}

void json_number(const char* name, double value)
{
    begin_item(name);
    if (isfinite(value))
        printf("%.6g", value);
    else
        printf("null");
}

void json_count(const char* name, uint64_t value)
{
    begin_item(name);
    printf("%" PRIu64, value);
}

void json_hash(const char* name, uint64_t value)
{
    begin_item(name);
    printf("\"%016" PRIx64 "\"", value);
}

void json_truth(const char* name, bool value)
{
    begin_item(name);
    printf(value ? "true" : "false");
}

void bench_fail(const char* doing)
{
    fprintf(stderr, "pliant-bench: %s: %s\n", doing, pliant_last_error());
    exit(1);
}

bool bench_cpu_time;

double bench_now_ms(void)
{
    return bench_cpu_time ? 1e3 * (double)clock() / CLOCKS_PER_SEC : pl_now_ms();
}

static int by_value(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

double bench_median(uint32_t count, double* values)
{
    qsort(values, count, sizeof *values, by_value);
    return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : NAN;
}

double bench_least(uint32_t count, const double* values)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < count; ++i)
        least = fmin(least, values[i]);
    return least;
}

double bench_mean(uint32_t count, const double* values)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += values[i];
    return count ? sum / count : NAN;
}

double bench_most(uint32_t count, const double* values)
{
    double most = -INFINITY;
    for (uint32_t i = 0; i < count; ++i)
        most = fmax(most, values[i]);
    return most;
}
