// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Material parameters through the public API: frequency, decay, substeps, painted factors, and
 * independence of the body's position. test_material_bars.c has the rest.
 */
#include "native/support/cubes.h"
#include "native/support/test.h"

#include <scenes/bars.h>
#include <scenes/meshes.h>
#include <scenes/points.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ------------------------------------------------------------------ period and decay */

TEST(one_cluster_swings_and_calms_as_asked)
{
    for (uint32_t substeps = 1; substeps <= 8; substeps *= 2)
        for (int damped = 0; damped < 2; ++damped)
        {
            cube c = cube_new(5, 1);
            c.desc.material.stiffness = 3.5;
            c.desc.material.damping = damped;
            if (cube_make(&c))
            {
                cube_stretch(&c, 1.1);
                cube_swing s = cube_watch(&c, 200, 1.0 / 24, substeps);
                CHECK_MSG(fabs(s.frequency / 3.5 - 1) < .02, "%u substeps: %.4f Hz, not 3.5",
                          substeps, s.frequency);
                CHECK_MSG(fabs(s.decay - .5 * damped) < .02 * .5, "%u substeps: decay %.4f, not %g",
                          substeps, s.decay, .5 * damped);
            }
            cube_free(&c);
        }
}

/* A free cube of side L oscillates at c / (2 L), c = sqrt(E / rho) = 2 pi f L / sqrt(12): .907 f.
 */
TEST(a_clustered_body_swings_and_calms_as_asked)
{
    const double f = 1.5, k = .5, ratio = PI / sqrt(12);
    double frequency = ratio * f, decay = .5 * k;
    for (uint32_t substeps = 1; substeps <= 8; substeps *= 2)
    {
        cube c = cube_new(9, 60);
        c.desc.material.stiffness = f;
        c.desc.material.damping = k;
        if (cube_make(&c))
        {
            cube_stretch(&c, 1.1);
            cube_swing s = cube_watch(&c, 200, 1.0 / 24, substeps);
            CHECK_MSG(fabs(s.frequency / frequency - 1) < .1, "%u substeps: %.4f Hz, not %.4f",
                      substeps, s.frequency, frequency);
            CHECK_MSG(fabs(s.decay / decay - 1) < .1, "%u substeps: decay %.4f, not %.4f", substeps,
                      s.decay, decay);
            /* more substeps must give the same */
            frequency = s.frequency, decay = s.decay;
        }
        cube_free(&c);
    }
}

/* The same material as a modulus: E = rho (2 pi f)^2 L^2 / 12. */
TEST(young_and_frequency_are_two_names_of_one_stiffness)
{
    double alpha[2];
    for (int kind = 0; kind < 2; ++kind)
    {
        cube c = cube_new(10, 30);
        alpha[kind] = 0;
        c.desc.material.density = 700;
        c.desc.material.stiffness_kind = kind ? PLIANT_STIFFNESS_YOUNG : PLIANT_STIFFNESS_FREQUENCY;
        c.desc.material.stiffness = kind ? 700 * 4 * PI * PI / 12 : 1;
        if (cube_make(&c))
        {
            CHECK_OK(cube_advance(c.scene, 1.0 / 60, 1));
            alpha[kind] = cube_info(c.body).level[0].alpha_mean;
        }
        cube_free(&c);
    }
    CHECK_MSG(fabs(alpha[1] / alpha[0] - 1) < .03, "mean alpha %g by frequency, %g by modulus",
              alpha[0], alpha[1]);
}

/* ------------------------------------------------------------------ stability */

static double largest_alpha(pliant_body body, uint32_t level)
{
    uint32_t count;
    float* alpha = scene_read_floats(body, PLIANT_CLUSTER_ALPHA, level, NULL, &count);
    double largest = 0;
    for (uint32_t i = 0; i < count; i += 2)
        largest = fmax(largest, alpha[i]);
    free(alpha);
    return largest;
}

TEST(automatic_substeps_keep_the_stiffest_cluster_calm)
{
    cube c = cube_new(9, 40);
    c.desc.material.stiffness = 7;
    REQUIRE(cube_make(&c));
    uint32_t substeps = 0, fewer = 0;
    CHECK_OK(pliant_scene_auto_substeps(c.scene, 1.0 / 24, 32, &substeps));
    CHECK_OK(pliant_scene_auto_substeps(c.scene, 1.0 / 24, 3, &fewer));
    CHECK(pliant_scene_auto_substeps(c.scene, 1.0 / 24, 100001, &fewer) == PLIANT_ERROR_ARGUMENT);
    CHECK_MSG(substeps > 3 && substeps < 32 && fewer == 3, "%u, at most 3: %u", substeps, fewer);
    CHECK_OK(cube_advance(c.scene, 1.0 / 24, 0));
    double calm = largest_alpha(c.body, 0);
    CHECK_OK(cube_advance(c.scene, 1.0 / 24, substeps - 1));
    CHECK_MSG(calm <= 1 && largest_alpha(c.body, 0) > 1, "alpha %g with %u substeps, %g with %u",
              calm, substeps, largest_alpha(c.body, 0), substeps - 1);
    CHECK(cube_info(c.body).warnings == 0);
    cube_free(&c);
}

/* Runs a stretched cube for four seconds. Its kinetic energy must not grow. */
static void check_stable(const cube* c, const char* what)
{
    double early = 0, late = 0;
    cube_stretch(c, 1.2);
    for (int f = 0; f < 96; ++f)
    {
        CHECK_OK(cube_advance(c->scene, 1.0 / 24, 1));
        double energy = cube_info(c->body).kinetic_energy;
        early = f < 24 ? fmax(early, energy) : early;
        late = f >= 72 ? fmax(late, energy) : late;
    }
    CHECK_MSG(early > 0 && late < 1.5 * early, "%s: kinetic energy %g became %g", what, early,
              late);
}

TEST(stiffness_that_substeps_cannot_carry_moves_to_coarser_levels)
{
    const uint32_t both = PLIANT_WARN_STIFFNESS_MOVED | PLIANT_WARN_STIFFNESS_CUT;
    cube c = cube_new(9, 60);
    c.desc.levels.count = 0;
    c.desc.material.stiffness = 4;
    REQUIRE(cube_make(&c));
    CHECK_OK(cube_advance(c.scene, 1.0 / 24, 20));
    pliant_body_info easy = cube_info(c.body);
    CHECK((easy.warnings & both) == 0);
    check_stable(&c, "moved");
    pliant_body_info hard = cube_info(c.body);
    CHECK_MSG((hard.warnings & both) == PLIANT_WARN_STIFFNESS_MOVED, "warnings are %u",
              hard.warnings);
    CHECK(strstr(pliant_body_warning_text(c.body), "coarser levels carry more") != NULL);
    double total = 0;
    for (uint32_t l = 0; l < hard.levels; ++l)
        total += largest_alpha(c.body, l);
    CHECK_MSG(hard.levels >= 3 && total < 1.81, "%u levels with alpha %g", hard.levels, total);
    /* coarse levels get the stiffness moved from the finest, not only that of the longer substep */
    uint32_t last = hard.levels - 1;
    CHECK(hard.level[0].alpha_mean < 200 * easy.level[0].alpha_mean);
    CHECK(hard.level[last].alpha_mean > 1.1 * 400 * easy.level[last].alpha_mean ||
          hard.level[last - 1].alpha_mean > 1.1 * 400 * easy.level[last - 1].alpha_mean);
    CHECK_OK(cube_advance(c.scene, 1.0 / 24, 20));
    CHECK((cube_info(c.body).warnings & both) == 0);
    cube_free(&c);
}

TEST(stiffness_that_no_level_can_carry_is_cut_where_it_is_too_much)
{
    cube c = cube_new(9, 60);
    c.desc.material.stiffness = 1.9;
    REQUIRE(cube_make(&c));
    CHECK_OK(cube_advance(c.scene, 1.0 / 24, 20));
    uint32_t count;
    float* easy = scene_read_floats(c.body, PLIANT_CLUSTER_ALPHA, 0, NULL, &count);
    check_stable(&c, "cut");
    float* hard = scene_read_floats(c.body, PLIANT_CLUSTER_ALPHA, 0, NULL, &count);
    CHECK(cube_info(c.body).warnings & PLIANT_WARN_STIFFNESS_CUT);
    CHECK(strstr(pliant_body_warning_text(c.body), "%") != NULL);
    uint32_t kept = 0, cut = 0;
    for (uint32_t i = 0; i < count; i += 2)
    {
        double whole = 400 * easy[i];
        kept += fabs(hard[i] / whole - 1) < .03;
        cut += whole > 1.85 && fabs(hard[i] - 1.8) < 1e-3;
        CHECK(hard[i] < 1.801);
    }
    CHECK_MSG(kept > 5 && cut > 5 && kept + cut >= count / 2 - 5, "%u kept and %u cut of %u", kept,
              cut, count / 2);
    free(easy);
    free(hard);
    cube_free(&c);
    c = cube_new(9, 60);
    c.desc.material.stiffness = 200; /* too much even for a single cluster */
    c.desc.levels.count = 0;
    if (cube_make(&c))
        check_stable(&c, "hopeless");
    CHECK(cube_info(c.body).warnings & PLIANT_WARN_STIFFNESS_CUT);
    cube_free(&c);
}

/* Damping over the limit of a substep, with and without stiffness over its limit. */
TEST(any_damping_is_stable_and_calms)
{
    static const double stiffness[] = {1, 4}, damping[] = {10, 1000};
    for (int i = 0; i < 8; ++i)
    {
        cube c = cube_new(9, 60);
        c.desc.material.stiffness = stiffness[i % 2];
        c.desc.material.damping = damping[i / 2 % 2];
        c.desc.levels.count = i / 4 ? 0 : 1;
        if (cube_make(&c))
        {
            check_stable(&c, "damped");
            cube_stretch(&c, 1.2);
            CHECK_OK(cube_advance(c.scene, 1.0 / 24, 1));
            double early = cube_info(c.body).kinetic_energy;
            for (int f = 0; f < 96; ++f)
                CHECK_OK(cube_advance(c.scene, 1.0 / 24, 1));
            double late = cube_info(c.body).kinetic_energy;
            CHECK_MSG(late < .02 * early, "stiffness %g, damping %g: kinetic energy %g became %g",
                      stiffness[i % 2], damping[i / 2 % 2], early, late);
        }
        cube_free(&c);
    }
}

/* ------------------------------------------------------------------ position and speed */

/* Positions, relative to the offset, of a cube that falls on a plane or swings from its held edge.
 * The motion is not chaotic, so differences come from the distance only. */
static float* move_at(const double offset[3], bool falls, uint32_t* count)
{
    cube c = cube_new(8, 30);
    float pins[512];
    pliant_collider_desc plane;
    pliant_collider collider;
    pliant_collider_desc_init(&plane, sizeof plane);
    for (int k = 0; k < 3; ++k)
    {
        c.desc.points_origin[k] = offset[k];
        plane.pose.position[k] = offset[k] - (k == 2 ? 1 : 0);
    }
    for (int i = 0; i < 512; ++i)
        pins[i] = c.points.at[3 * i] + c.points.at[3 * i + 2] > .8f ? PLIANT_PIN_HELD : 0;
    c.scene_desc.gravity[2] = -9.81;
    c.desc.material.stiffness = 3;
    c.desc.material.damping = 1;
    c.desc.angular_velocity[0] = .5;
    float* at = NULL;
    *count = 0;
    if (cube_make(&c))
    {
        if (falls)
            CHECK_OK(pliant_collider_create(c.scene, &plane, &collider));
        else
            CHECK_OK(pliant_body_set_pins(c.body, 512, pins));
        for (uint32_t f = 0; f < 36; ++f)
            CHECK_OK(cube_advance(c.scene, 1.0 / 24, 0));
        at = scene_read_floats(c.body, PLIANT_POSITION, 0, offset, count);
    }
    cube_free(&c);
    return at;
}

TEST(nothing_depends_on_where_the_body_is)
{
    const double here[3] = {0, 0, 0}, there[3] = {1000, -1003.3, 997.7};
    for (int falls = 0; falls < 2; ++falls)
    {
        uint32_t count, same;
        float* a = move_at(here, falls, &count);
        float* b = move_at(there, falls, &same);
        REQUIRE(a && b && count == same && count == 3 * 512);
        double worst = 0, lower = 0;
        for (uint32_t i = 0; i < count; ++i)
        {
            worst = fmax(worst, fabs((double)a[i] - b[i]));
            lower += i % 3 == 2 ? -a[i] / 512 : 0;
        }
        CHECK_MSG(worst < 1e-4 && lower > .05, "%s: %g apart, %g lower",
                  falls ? "falling" : "swinging", worst, lower);
        free(a);
        free(b);
    }
}

/* Symplectic Euler falls by g t (t + dt) / 2. */
TEST(free_fall_is_exact_to_first_order)
{
    for (uint32_t substeps = 1; substeps <= 8; substeps *= 2)
    {
        cube c = cube_new(6, 10);
        c.scene_desc.gravity[0] = 2;
        c.scene_desc.gravity[2] = -9.81;
        c.desc.velocity[1] = 3;
        if (!cube_make(&c))
            continue;
        for (int f = 0; f < 48; ++f)
            CHECK_OK(cube_advance(c.scene, 1.0 / 24, substeps));
        uint32_t count;
        float* x = scene_read_floats(c.body, PLIANT_POSITION, 0, NULL, &count);
        double t = 2, late = t + 1.0 / 24 / substeps, worst = 0;
        for (uint32_t i = 0; i < count; i += 3)
        {
            worst = fmax(worst, fabs(x[i] - (c.points.at[i] + .5 * 2 * t * late)));
            worst = fmax(worst, fabs(x[i + 1] - (c.points.at[i + 1] + 3 * t)));
            worst = fmax(worst, fabs(x[i + 2] - (c.points.at[i + 2] - .5 * 9.81 * t * late)));
        }
        CHECK_MSG(worst < 1e-4, "%u substeps: %g off", substeps, worst);
        free(x);
        cube_free(&c);
    }
}
