// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A small test harness. A test is TEST(name) { ... } in any test_*.c of tests/native; it registers
 * itself. CHECK and friends note a failure and go on; REQUIRE leaves the test. A test that comes to
 * its end without a check fails, unless it says with test_skip() why it could not run.
 *
 *   pliant-tests [substring ...]      runs the tests whose file:name contains one of them
 *   pliant-tests --list [...]         only names them
 *
 * With PLIANT_TEST_QUICK set (sanitizers, slow machines) tests declared with TEST_SLOW are left out
 * and test_quick() is true, so that others may take fewer steps; those that the file in
 * PLIANT_TEST_WITHOUT names ("file:name" a line) are left out too. A test's line says "threads" if
 * it started some. The last line is "N passed, M failed"; before it "K skipped" and "K left out",
 * where there are any.
 */
#ifndef PLIANT_TEST_H
#define PLIANT_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

void test_register(const char* file, const char* name, bool slow, void (*run)(void));
void test_failed(const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* True where less should be done: the same checks on fewer steps or smaller bodies. */
bool test_quick(void);
/* A fresh, empty folder for this test, removed at the end of the run. */
const char* test_folder(void);
/* The test cannot run here, for this reason: it counts as skipped, unless a check failed. */
void test_skip(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* A part of the test cannot run here; the rest decides. Without any check the test is skipped. */
void test_skip_part(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* Every check says that it was made. */
void test_checks(void);

#define TEST(name) TEST_DECLARE(name, false)
/* A test of more than some seconds in a release build, whose code others cover too. */
#define TEST_SLOW(name) TEST_DECLARE(name, true)
#define TEST_DECLARE(name, slow)                                                                   \
    static void test_##name(void);                                                                 \
    __attribute__((constructor)) static void register_##name(void)                                 \
    {                                                                                              \
        test_register(__FILE__, #name, slow, test_##name);                                         \
    }                                                                                              \
    static void test_##name(void)

#define CHECK(condition)                                                                           \
    do                                                                                             \
    {                                                                                              \
        test_checks();                                                                             \
        if (!(condition))                                                                          \
            test_failed(__FILE__, __LINE__, "%s", #condition);                                     \
    } while (0)
#define CHECK_MSG(condition, ...)                                                                  \
    do                                                                                             \
    {                                                                                              \
        test_checks();                                                                             \
        if (!(condition))                                                                          \
            test_failed(__FILE__, __LINE__, __VA_ARGS__);                                          \
    } while (0)
#define REQUIRE(condition)                                                                         \
    do                                                                                             \
    {                                                                                              \
        test_checks();                                                                             \
        if (!(condition))                                                                          \
        {                                                                                          \
            test_failed(__FILE__, __LINE__, "%s", #condition);                                     \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define REQUIRE_MSG(condition, ...)                                                                \
    do                                                                                             \
    {                                                                                              \
        test_checks();                                                                             \
        if (!(condition))                                                                          \
        {                                                                                          \
            test_failed(__FILE__, __LINE__, __VA_ARGS__);                                          \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define CHECK_OK(call)                                                                             \
    do                                                                                             \
    {                                                                                              \
        int test_status_ = (int)(call);                                                            \
        test_checks();                                                                             \
        if (test_status_ != 0)                                                                     \
            test_failed(__FILE__, __LINE__, "%s gave %d: %s", #call, test_status_,                 \
                        pliant_last_error());                                                      \
    } while (0)
#define REQUIRE_OK(call)                                                                           \
    do                                                                                             \
    {                                                                                              \
        int test_status_ = (int)(call);                                                            \
        test_checks();                                                                             \
        if (test_status_ != 0)                                                                     \
        {                                                                                          \
            test_failed(__FILE__, __LINE__, "%s gave %d: %s", #call, test_status_,                 \
                        pliant_last_error());                                                      \
            return;                                                                                \
        }                                                                                          \
    } while (0)
/* |a - b| <= tolerance, and neither is NaN */
#define CHECK_NEAR(a, b, tolerance)                                                                \
    do                                                                                             \
    {                                                                                              \
        double test_a_ = (a), test_b_ = (b), test_t_ = (tolerance);                                \
        test_checks();                                                                             \
        if (!(fabs(test_a_ - test_b_) <= test_t_))                                                 \
            test_failed(__FILE__, __LINE__, "%s is %.9g, not %.9g within %.3g", #a, test_a_,       \
                        test_b_, test_t_);                                                         \
    } while (0)

#include <pliant.h>

#endif
