// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Stiffness is independent of discretisation: bars under their own weight over clusters,
 * memberships, kernels, particles, substeps and levels. If PLIANT_BARS_CSV names a file, each bar
 * is a line of it (tests/bench/hanging_bar.py makes a table and a plot of them).
 */
#include "native/support/test.h"

#include <scenes/bars.h>
#include <stdlib.h>
#include <string.h>

typedef struct variation
{
    const char* axis;
    const char* value;
    uint32_t particles, clusters, kernel, substeps, levels, weighting;
    double overlap;
} variation;

/* 0: the value of scene_bar_default(). */
static const variation variations[] = {
    {.axis = "clusters", .value = "50", .clusters = 50},
    {.axis = "clusters", .value = "100", .clusters = 100},
    {.axis = "clusters", .value = "200", .clusters = 200},
    {.axis = "clusters", .value = "400", .clusters = 400},
    {.axis = "memberships", .value = "3", .overlap = 3},
    {.axis = "memberships", .value = "4", .overlap = 4},
    {.axis = "memberships", .value = "5", .overlap = 5},
    {.axis = "memberships", .value = "6", .overlap = 6},
    {.axis = "memberships", .value = "8", .overlap = 8},
    {.axis = "memberships", .value = "12", .overlap = 12},
    {.axis = "kernel", .value = "invsq", .kernel = PLIANT_KERNEL_INVSQ},
    {.axis = "kernel", .value = "box", .kernel = PLIANT_KERNEL_BOX},
    {.axis = "kernel", .value = "poly6", .kernel = PLIANT_KERNEL_POLY6},
    {.axis = "kernel", .value = "blend", .kernel = PLIANT_KERNEL_BLEND},
    {.axis = "kernel", .value = "fcm", .kernel = PLIANT_KERNEL_FCM},
    {.axis = "particles", .value = "2000", .particles = 2000},
    {.axis = "particles", .value = "5500", .particles = 5500},
    {.axis = "particles", .value = "12000", .particles = 12000},
    {.axis = "substeps", .value = "1", .substeps = 1},
    {.axis = "substeps", .value = "2", .substeps = 2},
    {.axis = "substeps", .value = "4", .substeps = 4},
    {.axis = "substeps", .value = "8", .substeps = 8},
    {.axis = "levels", .value = "2 uniform", .levels = 2},
    {.axis = "levels", .value = "3 uniform", .levels = 3},
    {.axis = "levels", .value = "4 uniform", .levels = 4},
    {.axis = "levels", .value = "2 gaussian", .levels = 2, .weighting = PLIANT_WEIGHT_GAUSSIAN},
    {.axis = "levels", .value = "3 gaussian", .levels = 3, .weighting = PLIANT_WEIGHT_GAUSSIAN},
    {.axis = "levels", .value = "4 gaussian", .levels = 4, .weighting = PLIANT_WEIGHT_GAUSSIAN},
};
enum
{
    VARIATIONS = sizeof variations / sizeof variations[0]
};

static scene_bar bar_of(const variation* v, bool cantilever)
{
    scene_bar bar = scene_bar_default();
    bar.cantilever = cantilever;
    bar.particles = v->particles ? v->particles : bar.particles;
    bar.clusters = v->clusters ? v->clusters : bar.clusters;
    bar.overlap = v->overlap > 0 ? v->overlap : bar.overlap;
    bar.levels = v->levels ? v->levels : bar.levels;
    bar.kernel = v->kernel;
    bar.substeps = v->substeps;
    bar.weighting = v->weighting;
    return bar;
}

static bool is_common(const variation* v)
{
    scene_bar bar = bar_of(v, false), common = scene_bar_default();
    return bar.particles == common.particles && bar.clusters == common.clusters &&
           bar.overlap == common.overlap && bar.kernel == common.kernel && bar.levels == 1 &&
           bar.substeps == 0;
}

static void write_line(const variation* v, const scene_bar* bar, const scene_bar_result* r)
{
    const char* path = getenv("PLIANT_BARS_CSV");
    FILE* file = path && path[0] ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s,%s,%s,%u,%u,%.2f,%u,%u,%.5f,%.5f\n", bar->cantilever ? "sag" : "stretch",
            v->axis, v->value, r->particles, r->clusters, r->overlap, r->levels, r->substeps,
            r->moved, r->predicted);
    fclose(file);
}

/* Displacement of the end over theory; 0 if something failed. */
static double settled(const variation* v, bool cantilever)
{
    static scene_bar_result common[2]; /* hanging, sagging: the default, shared by all axes */
    scene_bar bar = bar_of(v, cantilever);
    scene_bar_result r = common[cantilever];
    bool known = is_common(v) && r.steps > 0;
    pliant_status status = known ? PLIANT_OK : scene_bar_settle(&bar, &r);
    if (is_common(v))
        common[cantilever] = r;
    CHECK_MSG(status == PLIANT_OK, "%s %s: %s", v->axis, v->value, pliant_last_error());
    CHECK_MSG(!(r.warnings & (PLIANT_WARN_STIFFNESS_CUT | PLIANT_WARN_STIFFNESS_MOVED)),
              "%s %s: its substeps do not carry the stiffness", v->axis, v->value);
    CHECK_MSG(r.levels == bar.levels && fabs(r.overlap - bar.overlap) < .1 * bar.overlap &&
                  abs((int)r.clusters - (int)bar.clusters) <= (int)bar.clusters / 10 &&
                  abs((int)r.particles - (int)bar.particles) <= (int)bar.particles / 50,
              "%s %s: got %u particles in %u clusters, %.2f memberships, %u levels", v->axis,
              v->value, r.particles, r.clusters, r.overlap, r.levels);
    if (status != PLIANT_OK)
        return 0;
    write_line(v, &bar, &r);
    return r.moved / r.predicted;
}

TEST_SLOW(a_hanging_bar_stretches_as_young_says)
{
    for (int i = 0; i < VARIATIONS; ++i)
    {
        const variation* v = &variations[i];
        double ratio = settled(v, false), bound = v->levels > 1 ? .35 : .15;
        CHECK_MSG(fabs(ratio - 1) < bound, "%s %s: %.3f of rho g L^2 / (2 E)", v->axis, v->value,
                  ratio);
    }
}

/* The stretch does not depend on the number of substeps. If alpha softened each cluster by its own
 * cosine, it would be 6 % larger at one substep than at eight. */
TEST(a_hanging_bar_does_not_know_its_substeps)
{
    variation v = {
        .axis = "substeps", .value = "few", .particles = 2000, .clusters = 100, .substeps = 1};
    double one = settled(&v, false);
    v.substeps = 4;
    double four = settled(&v, false);
    CHECK_MSG(fabs(one - 1) < .15, "%.3f of what theory says", one);
    CHECK_NEAR(one, four, .01);
}

/* Clusters as long as the bar are not stiffer along it. */
TEST(a_slender_bar_of_few_clusters_is_as_stiff_as_one_of_many)
{
    scene_bar bar = scene_bar_default();
    bar.particles = 2000;
    bar.thickness = .1;
    static const uint32_t clusters[] = {10, 100};
    for (int i = 0; i < 2; ++i)
    {
        scene_bar_result r;
        bar.clusters = clusters[i];
        REQUIRE_OK(scene_bar_settle(&bar, &r));
        double ratio = r.moved / r.predicted;
        CHECK_MSG(fabs(ratio - 1) < .15, "%u clusters: %.3f of rho g L^2 / (2 E)", clusters[i],
                  ratio);
    }
}

TEST_SLOW(a_cantilever_sags_alike)
{
    double low = 0, high = 0, sum = 0, common = 0;
    int number = 0;
    for (int i = 0; i < VARIATIONS; ++i)
    {
        const variation* v = &variations[i];
        bool last = i + 1 == VARIATIONS || strcmp(v->axis, variations[i + 1].axis) != 0;
        if (v->levels > 1)
            continue;
        double ratio = settled(v, true);
        low = number ? fmin(low, ratio) : ratio;
        high = number ? fmax(high, ratio) : ratio;
        sum += ratio;
        ++number;
        if (v->clusters == 200)
            common = ratio;
        CHECK_MSG(common == 0 || fabs(ratio - common) < .15 * common,
                  "%s %s: sag is %.3f of theory, %.3f in the common case", v->axis, v->value, ratio,
                  common);
        if (!last)
            continue;
        CHECK_MSG(high - low < .15 * sum / number, "over %s the sag goes from %.3f to %.3f",
                  v->axis, low, high);
        number = 0;
        sum = 0;
    }
}
