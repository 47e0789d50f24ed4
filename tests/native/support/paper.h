// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the tests of the papers' scenes share. With PLIANT_PAPERS_CSV naming a file, every run
 * becomes a line of it: that is where the tables of tests/scenes/README.md come from.
 */
#ifndef PLIANT_TEST_PAPER_H
#define PLIANT_TEST_PAPER_H

#include "native/support/test.h"

#include <scenes/play.h>

const char* paper_algorithm(uint32_t algorithm);
const char* paper_kernel(uint32_t kernel);
void paper_line(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* A way to weigh levels, and the paper's name for it. */
typedef struct paper_weighting
{
    const char* name;
    uint32_t weighting, favour_fine;
    double a, b;
    double weights[PLIANT_MAX_LEVELS]; /* MANUAL */
} paper_weighting;

/* Plays a scene with all its levels, weighted so. */
scene_played paper_levels(const char* scene, const paper_weighting* weighting, uint32_t frames);
/* Plays it with one level of so many clusters; 0: its finest. */
scene_played paper_baseline(const char* scene, uint32_t clusters, uint32_t frames);
/* Opens a scene for changes, and plays it. */
void paper_open(const char* name, scene* opened);
scene_played paper_play(scene* opened, const char* label, uint32_t frames);

#endif
