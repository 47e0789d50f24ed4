// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Young's modulus is the same for every kind of goal, clustering algorithm and overlap: bars under
 * their own weight against theory. tests/bench/beams.py has more of them.
 */
#include "native/support/test.h"

#include <scenes/bars.h>
#include <scenes/meshes.h>
#include <string.h>

static scene_bar small_bar(void)
{
    scene_bar bar = scene_bar_default();
    bar.particles = 1000;
    bar.clusters = 34;
    return bar;
}

/* Displacement over theory; 0 if it failed. */
static double over_theory(const scene_bar* bar, uint32_t* warnings)
{
    scene_bar_result r;
    pliant_status status = scene_bar_settle(bar, &r);
    CHECK_MSG(status == PLIANT_OK, "%s", pliant_last_error());
    if (warnings)
        *warnings = r.warnings;
    return status == PLIANT_OK ? r.moved / r.predicted : 0;
}

/* Without the correction for goals that follow strain they stretch 1.4, 1.8 and 7 times as far. */
TEST(a_bar_of_any_goals_stretches_as_young_says)
{
    static const struct
    {
        uint32_t goal;
        double beta;
    } cases[] = {{PLIANT_GOAL_LINEAR, .3},    {PLIANT_GOAL_LINEAR, .5},
                 {PLIANT_GOAL_LINEAR, .9},    {PLIANT_GOAL_QUADRATIC, 0},
                 {PLIANT_GOAL_QUADRATIC, .5}, {PLIANT_GOAL_QUADRATIC, .9}};
    for (int i = 0; i < 6; ++i)
    {
        scene_bar bar = small_bar();
        bar.goal = cases[i].goal;
        bar.beta = cases[i].beta;
        double ratio = over_theory(&bar, NULL);
        CHECK_MSG(fabs(ratio - 1) < .15, "goal %u, beta %g: %.3f of theory", bar.goal, bar.beta,
                  ratio);
    }
}

/* Rigid goals: .81, .63 and .29. */
TEST_SLOW(quadratic_goals_bend_slender_bars_as_young_says)
{
    static const double thickness[] = {1. / 3, .1, .05};
    for (int i = 0; i < 3; ++i)
    {
        scene_bar bar = small_bar();
        bar.thickness = thickness[i];
        bar.cantilever = true;
        bar.goal = PLIANT_GOAL_QUADRATIC;
        bar.beta = .3;
        bar.particles = 2000;
        bar.clusters = 67;
        uint32_t warnings;
        double ratio = over_theory(&bar, &warnings);
        CHECK_MSG(fabs(ratio - 1) < .15, "thickness %g: %.3f of theory", bar.thickness, ratio);
        CHECK(!(warnings & PLIANT_WARN_STIFF_BENDING));
    }
}

TEST(rigid_goals_warn_where_they_do_not_bend)
{
    for (uint32_t goal = PLIANT_GOAL_RIGID; goal <= PLIANT_GOAL_QUADRATIC; ++goal)
        for (int slender = 0; slender < 2; ++slender)
        {
            scene_bar bar = small_bar();
            bar.goal = goal;
            bar.thickness = slender ? .05 : 1;
            uint32_t warnings;
            over_theory(&bar, &warnings);
            CHECK_MSG(!!(warnings & PLIANT_WARN_STIFF_BENDING) ==
                          (slender && goal != PLIANT_GOAL_QUADRATIC),
                      "goal %u, thickness %g: warnings %u", goal, bar.thickness, warnings);
        }
}

/* Without the factors of body/level_firmness.c: 1.3, 1.57, 4.2 and .76. */
TEST(clusters_of_any_overlap_stretch_as_young_says)
{
    static const struct
    {
        const char* name;
        uint32_t algorithm, kernel;
        double parameter, thickness, bound;
        bool unsure;
    } cases[] = {
        {"random", PLIANT_CLUSTER_RANDOM, PLIANT_KERNEL_INVSQ, 0, .25, .25, true},
        {"k-means", PLIANT_CLUSTER_KMEANS, PLIANT_KERNEL_INVSQ, 0, .25, .15, false},
        {"fcm 1.3", PLIANT_CLUSTER_FUZZY, PLIANT_KERNEL_FCM, 1.3, .25, .15, true},
        {"fcm 1.05", PLIANT_CLUSTER_FUZZY, PLIANT_KERNEL_FCM, 1.05, .25, .25, true},
        {"slender", PLIANT_CLUSTER_FUZZY, PLIANT_KERNEL_INVSQ, 0, .05, .15, false},
    };
    for (int i = 0; i < 5; ++i)
    {
        scene_bar bar = small_bar();
        bar.algorithm = cases[i].algorithm;
        bar.kernel = cases[i].kernel;
        bar.kernel_parameter = cases[i].parameter;
        bar.thickness = cases[i].thickness;
        uint32_t warnings;
        double ratio = over_theory(&bar, &warnings);
        CHECK_MSG(fabs(ratio - 1) < cases[i].bound, "%s: %.3f of theory", cases[i].name, ratio);
        CHECK_MSG(!!(warnings & PLIANT_WARN_LOOSE_CLUSTERS) == cases[i].unsure, "%s: warnings %u",
                  cases[i].name, warnings);
    }
}
