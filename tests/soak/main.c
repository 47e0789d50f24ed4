// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Long bakes: cost must depend on the state, not on its history. Bodies of about two hundred
 * particles are deformed continuously and baked, with a skin of the body and one of the store.
 * Figures are printed for windows of frames; the last is compared with an earlier one.
 *
 *   pliant-soak FRAMES [CASE] [FOLDER]
 *   pliant-soak --list
 *
 * What is documented to be limited (ids, splits, pieces) may grow up to its limit, and what follows
 * from the number of ids with it. Time is compared with a generous bound, all else closely. The
 * last line is "N passed, M failed".
 */
#include "soak.h"

#include <math.h>
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

/* Compares a figure of an early window with the last one: allowed is a factor plus a constant, or
 * an absolute limit if there is one. */
typedef struct figure
{
    const char* what;
    double early, late, times, some, limit;
} figure;

static bool is_flat(const char* name, const figure* f)
{
    bool flat = f->late <= f->times * f->early + f->some || f->late <= f->limit;
    printf("%s %s: %s from %.4g to %.4g\n", flat ? "ok  " : "FAIL", name, f->what, f->early,
           f->late);
    return flat;
}

static int compare(const char* name, const soak_window* a, const soak_window* b, int* passed)
{
    double ids = fmax(1, (double)b->ids / fmax(a->ids, 1)); /* cost proportional to ids */
    double pieces =
        fmax(1, (double)b->pieces_ever / fmax(a->pieces_ever, 1)); /* touch each other */
    const figure list[] = {
        {"particles", a->particles, b->particles, 1.15, 8, b->limit},
        {"ids", a->ids, b->ids, 1.02, 0, b->limit},
        {"splits", a->splits, b->splits, 1.02, 0, b->limit},
        {"pieces ever made", a->pieces_ever, b->pieces_ever, 1.02, 0, b->limit},
        {"live clusters", a->live, b->live, 1.5 * ids, 8, 0},
        {"places for clusters", a->clusters, b->clusters, 1.5 * ids, 16, 0},
        {"memberships", a->memberships, b->memberships, 1.5 * ids, 64, 0},
        {"memory", a->memory, b->memory, 1.5 * ids, 65536, 0},
        {"memory of the stored skin", a->skin, b->skin, 1.5, 2e6, 0},
        {"saved state", a->state, b->state, 1.5 * ids, 4096, 0},
        {"bytes a frame", a->disk, b->disk, 1.5 * ids, 1024, 0},
        {"work a substep", a->work, b->work, 2 * ids * pieces, 64, 0},
        {"milliseconds a frame", a->ms, b->ms, 4 * ids, 4, 0},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i)
    {
        bool flat = is_flat(name, &list[i]);
        *passed += flat;
        failed += !flat;
    }
    return failed;
}

/* Compares the last of ten windows with the mean of the third to the fifth. */
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
    if (count > 1 && !strcmp(arguments[1], "--list"))
    {
        for (uint32_t i = 0; soak_name(i); ++i)
            printf("%s\n", soak_name(i));
        return 0;
    }
    uint32_t frames = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 400;
    const char* wanted = count > 2 ? arguments[2] : "";
    const char* folder = count > 3 ? arguments[3] : "soak-store";
    for (uint32_t i = 0; soak_name(i); ++i)
        if (!*wanted || !strcmp(wanted, soak_name(i)))
            failed += run(i, frames < 100 ? 100 : frames, folder, &passed);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
