// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Long bakes: cost follows the state, not its history. Bodies of some two hundred particles are
 * kneaded for ever and baked, with a skin of the body and one of the store; figures are printed for
 * windows of frames, and those of the last are compared with those of an earlier one.
 *
 *   pliant-soak FRAMES [CASE] [FOLDER]
 *
 * Time is compared with a generous bound, all else closely. The last line is "N passed, M failed".
 */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_head(void)
{
    printf("%9s %6s %6s %6s %6s %6s %7s %7s %8s %8s %8s %8s %8s %7s\n", "frames", "parts", "ids",
           "live", "places", "member", "pieces", "splits", "kB", "skin kB", "state kB", "B/frame",
           "ms", "work");
}

static void print_window(const soak_window* w)
{
    printf("%9u %6u %6u %6u %6u %6u %7u %7u %8.0f %8.0f %8.0f %8.0f %8.2f %7.0f\n", w->frames,
           w->particles, w->ids, w->live, w->clusters, w->memberships, w->pieces_ever, w->splits,
           w->memory / 1e3, w->skin / 1e3, w->state / 1e3, w->disk, w->ms, w->work);
    fflush(stdout);
}

/* Whether a figure of the last window is at most so many times an earlier one's, and some. */
static bool is_flat(const char* name, const char* what, double early, double late, double times,
                    double some)
{
    bool flat = late <= times * early + some;
    printf("%s %s: %s from %.4g to %.4g\n", flat ? "ok  " : "FAIL", name, what, early, late);
    return flat;
}

static int compare(const char* name, const soak_window* a, const soak_window* b, int* passed)
{
    const struct
    {
        const char* what;
        double early, late, times, some;
    } list[] = {
        {"particles", a->particles, b->particles, 1.15, 8},
        {"ids", a->ids, b->ids, 1.15, 8},
        {"live clusters", a->live, b->live, 1.25, 8},
        {"places for clusters", a->clusters, b->clusters, 1.25, 8},
        {"memberships", a->memberships, b->memberships, 1.25, 64},
        {"pieces ever made", a->pieces_ever, b->pieces_ever, 1.15, 8},
        {"splits", a->splits, b->splits, 1.15, 8},
        {"memory", a->memory, b->memory, 1.25, 65536},
        {"memory of the stored skin", a->skin, b->skin, 1.25, 65536},
        {"saved state", a->state, b->state, 1.25, 4096},
        {"bytes a frame", a->disk, b->disk, 1.25, 512},
        {"work a substep", a->work, b->work, 1.5, 64},
        {"milliseconds a frame", a->ms, b->ms, 4, 2},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i)
    {
        bool flat =
            is_flat(name, list[i].what, list[i].early, list[i].late, list[i].times, list[i].some);
        *passed += flat;
        failed += !flat;
    }
    return failed;
}

/* Of ten windows the last against the mean of the third to the fifth. */
static int run(uint32_t index, uint32_t frames, const char* folder, int* passed)
{
    enum
    {
        WINDOWS = 10
    };
    soak_window w[WINDOWS] = {0}, early = {0};
    soak s;
    const char* name = soak_name(index);
    printf("\n%s\n", name);
    print_head();
    bool fine = soak_begin(&s, index, folder);
    for (int i = 0; i < WINDOWS && fine; ++i)
    {
        fine = soak_advance(&s, frames / WINDOWS, &w[i]);
        print_window(&w[i]);
    }
    fine = fine && soak_check(&s);
    soak_end(&s);
    if (!fine)
    {
        printf("FAIL %s: %s\n", name, s.fault);
        return 1;
    }
    ++*passed;
    soak_mean(w + 2, 3, &early);
    return compare(name, &early, &w[WINDOWS - 1], passed);
}

int main(int count, char** arguments)
{
    int passed = 0, failed = 0;
    uint32_t frames = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 400;
    const char* wanted = count > 2 ? arguments[2] : "";
    const char* folder = count > 3 ? arguments[3] : "soak-store";
    for (uint32_t i = 0; soak_name(i); ++i)
        if (!*wanted || !strcmp(wanted, soak_name(i)))
            failed += run(i, frames < 100 ? 100 : frames, folder, &passed);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
