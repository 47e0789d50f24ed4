// SPDX-License-Identifier: GPL-3.0-or-later
/* Force fields against measurements of Blender's particles, and general properties. */
#include "native/support/test.h"

#include <base/core.h>
#include <base/rng.h>
#include <dynamics/fields.h>
#include <stdlib.h>
#include <string.h>

typedef struct field_case
{
    unsigned choices[10];
    double numbers[10];
    double matrix[16];
} field_case;

typedef struct field_sample
{
    unsigned number;
    float x[3], v[3];
    double a[3];
} field_sample;

#include "native/support/fields_reference.h"

static const double zero[3] = {0, 0, 0};

static pliant_field_desc desc_of(const field_case* c)
{
    const unsigned* k = c->choices;
    const double* n = c->numbers;
    pliant_field_desc desc = {.size = sizeof desc,
                              .kind = k[0],
                              .shape = k[1],
                              .falloff_type = k[2],
                              .side = k[3],
                              .use_min_distance = k[4],
                              .use_max_distance = k[5],
                              .use_radial_min = k[6],
                              .use_radial_max = k[7],
                              .use_gravity_falloff = k[8],
                              .use_global_coords = k[9],
                              .strength = n[0],
                              .flow = n[1],
                              .falloff_power = n[2],
                              .distance_min = n[3],
                              .distance_max = n[4],
                              .radial_falloff = n[5],
                              .radial_min = n[6],
                              .radial_max = n[7],
                              .harmonic_damping = n[8],
                              .rest_length = n[9],
                              .linear_drag = n[0],
                              .quadratic_drag = n[8],
                              .noise_size = n[9]};
    memcpy(desc.matrix, c->matrix, sizeof desc.matrix);
    return desc;
}

static pliant_field_desc plain(uint32_t kind)
{
    pliant_field_desc desc = {.size = sizeof desc, .kind = kind, .strength = 1};
    desc.matrix[0] = desc.matrix[5] = desc.matrix[10] = desc.matrix[15] = 1;
    return desc;
}

/* The acceleration at one point. */
static void sample(const pliant_field_desc* desc, const double origin[3], const float* at,
                   const float* speed, float out[3])
{
    const float *x[3] = {at, at + 1, at + 2}, *v[3] = {speed, speed + 1, speed + 2};
    float* a[3] = {out, out + 1, out + 2};
    out[0] = out[1] = out[2] = 0;
    pl_field_add(desc, origin, 1, x, v, a);
}

TEST(fields_are_those_of_blender)
{
    static const char* const kinds[] = {"force",    "wind",       "vortex",
                                        "harmonic", "turbulence", "drag"};
    double worst[6] = {0};
    unsigned seen[6] = {0};
    for (size_t i = 0; i < PL_COUNTOF(field_samples); ++i)
    {
        const field_sample* s = &field_samples[i];
        pliant_field_desc desc = desc_of(&field_cases[s->number]);
        CHECK_OK(pl_field_check(&desc));
        float a[3];
        sample(&desc, zero, s->x, s->v, a);
        double error = 0, size = 0, speed = 0;
        for (int k = 0; k < 3; ++k)
        {
            error += (a[k] - s->a[k]) * (a[k] - s->a[k]);
            size += s->a[k] * s->a[k];
            speed += (double)s->v[k] * s->v[k];
        }
        /* Blender's velocities are floats, which limits the accuracy of a = dv / 0.04. */
        double known = 4e-6 * (1 + sqrt(speed));
        double relative = sqrt(error) / (sqrt(size) + known * 1e4);
        CHECK_MSG(relative < 1e-4,
                  "sample %zu of case %u, %s: (%g, %g, %g) and not (%g, %g, %g), off by %g", i,
                  s->number, kinds[desc.kind], a[0], a[1], a[2], s->a[0], s->a[1], s->a[2],
                  relative);
        worst[desc.kind] = fmax(worst[desc.kind], relative);
        seen[desc.kind] += size > 0;
    }
    for (int i = 0; i < 6; ++i)
        CHECK_MSG(seen[i] > 20, "%s: only %u samples with a force", kinds[i], seen[i]);
    if (getenv("PLIANT_VERBOSE"))
        for (int i = 0; i < 6; ++i)
            printf("    %s: %u samples, off by %.2g\n", kinds[i], seen[i], worst[i]);
}

/* ------------------------------------------------------------------ noise */

/* Along a lattice line through points with known hashes, noise has a closed form: at lattice points
 * it is zero, and its slope there is the gradient that Perlin's rule picks. */
TEST(noise_uses_the_permutation_that_blender_has)
{
    const unsigned char* p = measured_permutation;
    pl_rng rng = pl_rng_seed(7);
    pliant_field_desc desc = plain(PLIANT_FIELD_TURBULENCE);
    desc.use_global_coords = 1, desc.noise_size = 1;
    const float still[3] = {0, 0, 0}, step = 1.0f / 1024;
    for (int trial = 0; trial < 200; ++trial)
    {
        int cell[3];
        float at[3], a[3], b[3];
        for (int k = 0; k < 3; ++k)
            cell[k] = (int)pl_rng_below(&rng, 1000) - 500, at[k] = (float)cell[k];
        sample(&desc, zero, at, still, a);
        for (int k = 0; k < 3; ++k)
            CHECK_NEAR(a[k], 0, 1e-7);
        /* The x component's slope along x: the octaves at cells 1, 2 and 4 times as far. */
        double slope = 0;
        for (int octave = 1; octave <= 4; octave *= 2)
        {
            unsigned x = (unsigned)(octave * cell[0]) & 255, y = (unsigned)(octave * cell[1]) & 255;
            unsigned z = (unsigned)(octave * cell[2]) & 255;
            unsigned hash = p[(p[(p[x] + y) & 255] + z) & 255] & 15;
            bool has_x = hash < 8 || hash == 12 || hash == 14;
            bool negative = hash == 14 || (hash < 8 && (hash & 1));
            slope += has_x ? (negative ? -1 : 1) : 0; /* amplitude times frequency is 1 */
        }
        at[0] += step;
        sample(&desc, zero, at, still, a);
        at[0] -= 2 * step;
        sample(&desc, zero, at, still, b);
        CHECK_NEAR((a[0] - b[0]) / (2 * step), slope * 4 / 7, 2e-3);
    }
}

TEST(turbulence_is_smooth_bounded_and_differs_between_components)
{
    pliant_field_desc desc = plain(PLIANT_FIELD_TURBULENCE);
    desc.noise_size = 0.7;
    const float still[3] = {0, 0, 0};
    float before[3] = {0};
    double sum[3] = {0}, squares[3] = {0};
    for (int i = 0; i < 4000; ++i)
    {
        float at[3] = {0.002f * (float)i - 4, 0.001f * (float)i, 0.5f - 0.0007f * (float)i}, a[3];
        sample(&desc, zero, at, still, a);
        for (int k = 0; k < 3; ++k)
        {
            CHECK(fabsf(a[k]) < 1.05f);
            CHECK(i == 0 || fabsf(a[k] - before[k]) < 0.05f);
            before[k] = a[k];
            sum[k] += a[k], squares[k] += (double)a[k] * a[k];
        }
    }
    for (int k = 0; k < 3; ++k)
    {
        CHECK(squares[k] / 4000 > 0.005);
        CHECK_NEAR(sum[k] / 4000, 0, 0.2);
        CHECK(fabs(squares[k] - squares[(k + 1) % 3]) > 1e-3);
    }
}

/* ------------------------------------------------------------------ general properties */

TEST(a_batch_gives_what_single_particles_give_and_adds_to_what_is_there)
{
    enum
    {
        COUNT = 203
    };
    static float x[3][COUNT], v[3][COUNT], a[3][COUNT];
    pl_rng rng = pl_rng_seed(13);
    for (size_t c = 0; c < PL_COUNTOF(field_cases); ++c)
    {
        for (int i = 0; i < COUNT; ++i)
            for (int k = 0; k < 3; ++k)
            {
                x[k][i] = (float)(4 * pl_rng_unit(&rng) - 2);
                v[k][i] = (float)(4 * pl_rng_unit(&rng) - 2);
                a[k][i] = 0;
            }
        pliant_field_desc desc = desc_of(&field_cases[c]);
        const float *px[3] = {x[0], x[1], x[2]}, *pv[3] = {v[0], v[1], v[2]};
        float* pa[3] = {a[0], a[1], a[2]};
        pl_field_add(&desc, zero, COUNT, px, pv, pa);
        for (int i = 0; i < COUNT; ++i)
        {
            float at[3] = {x[0][i], x[1][i], x[2][i]}, speed[3] = {v[0][i], v[1][i], v[2][i]};
            float alone[3];
            sample(&desc, zero, at, speed, alone);
            CHECK(alone[0] == a[0][i] && alone[1] == a[1][i] && alone[2] == a[2][i]);
        }
        /* Adding it again doubles the accelerations. */
        float first = a[1][7];
        pl_field_add(&desc, zero, COUNT, px, pv, pa);
        CHECK_NEAR(a[1][7], 2 * first, 1e-6 * fabs(first));
    }
}

TEST(an_origin_moves_the_particles_and_not_the_field)
{
    const double origin[3] = {8, -16, 4};
    for (size_t i = 0; i < PL_COUNTOF(field_samples); i += 3)
    {
        const field_sample* s = &field_samples[i];
        pliant_field_desc desc = desc_of(&field_cases[s->number]);
        float near[3], shifted[3], at[3];
        for (int k = 0; k < 3; ++k)
            at[k] = (float)(s->x[k] - origin[k]);
        sample(&desc, zero, s->x, s->v, near);
        sample(&desc, origin, at, s->v, shifted);
        for (int k = 0; k < 3; ++k)
            CHECK_NEAR(shifted[k], near[k], 2e-5 * (1 + fabs(near[k])));
    }
}

TEST(at_the_fields_own_place_nothing_is_infinite)
{
    const float here[3] = {1, 2, 3}, speed[3] = {1, 0, 0};
    for (uint32_t kind = PLIANT_FIELD_FORCE; kind <= PLIANT_FIELD_DRAG; ++kind)
        for (uint32_t shape = PLIANT_FIELD_POINT; shape <= PLIANT_FIELD_PLANE; ++shape)
            for (uint32_t falloff = PLIANT_FALLOFF_SPHERE; falloff <= PLIANT_FALLOFF_CONE;
                 ++falloff)
                for (int flat = 0; flat <= 1; ++flat)
                {
                    pliant_field_desc desc = plain(kind);
                    desc.shape = shape, desc.falloff_type = falloff;
                    desc.use_gravity_falloff = 1, desc.rest_length = 1, desc.falloff_power = 2.5;
                    desc.radial_falloff = 2.5;
                    for (int k = 0; k < 3; ++k)
                        desc.matrix[4 * k + 3] = here[k];
                    if (flat)
                        desc.matrix[10] = 0; /* scaled to 0 along z */
                    float a[3];
                    sample(&desc, zero, here, speed, a);
                    CHECK(isfinite(a[0]) && isfinite(a[1]) && isfinite(a[2]));
                }
}

/* Powers and angles against the C library's. */
TEST(powers_and_angles_are_right)
{
    const float still[3] = {0, 0, 0};
    pl_rng rng = pl_rng_seed(19);
    for (int trial = 0; trial < 2000; ++trial)
    {
        pliant_field_desc desc = plain(PLIANT_FIELD_WIND);
        double distance = pow(10, 8 * pl_rng_unit(&rng) - 4), power = 10 * pl_rng_unit(&rng);
        float at[3] = {0, (float)distance, 0}, a[3];
        desc.falloff_power = power;
        sample(&desc, zero, at, still, a);
        double expected = pow(1 + (double)at[1], -power);
        CHECK_NEAR(a[2], expected, 2e-6 * expected + 1e-37);

        desc.falloff_type = PLIANT_FALLOFF_CONE, desc.falloff_power = 0, desc.radial_falloff = 1;
        at[2] = (float)(distance * (4 * pl_rng_unit(&rng) - 2));
        sample(&desc, zero, at, still, a);
        CHECK_NEAR(1 / a[2] - 1, atan2(at[1], at[2]) * 180 / acos(-1), 1e-3);
    }
}

TEST(fields_are_interpolated_over_a_frame)
{
    pl_field field = {.from = plain(PLIANT_FIELD_FORCE), .to = plain(PLIANT_FIELD_WIND)};
    field.from.strength = 2, field.to.strength = 4;
    field.from.matrix[3] = 10, field.to.matrix[3] = 20;
    field.to.use_max_distance = 1;
    pliant_field_desc now;
    pl_field_at(&field, 0.25, &now);
    CHECK(now.kind == PLIANT_FIELD_WIND && now.use_max_distance == 1);
    CHECK_NEAR(now.strength, 2.5, 1e-12);
    CHECK_NEAR(now.matrix[3], 12.5, 1e-12);
    CHECK_NEAR(now.matrix[0], 1, 1e-12);
    pl_field_at(&field, 1, &now);
    CHECK(memcmp(&now, &field.to, sizeof now) == 0);
    pl_field_at(&field, 0, &now);
    CHECK(now.strength == 2 && now.matrix[3] == 10);
}

TEST(bad_fields_are_refused_with_a_sentence)
{
    pliant_field_desc good = plain(PLIANT_FIELD_FORCE), bad;
    CHECK_OK(pl_field_check(&good));
    uint32_t* choices[] = {&bad.kind, &bad.shape, &bad.falloff_type, &bad.side};
    for (int i = 0; i < 4; ++i)
    {
        bad = good, *choices[i] = 6;
        CHECK(pl_field_check(&bad) == PLIANT_ERROR_ARGUMENT);
        CHECK(strstr(pl_last_error(), "is 6") != NULL);
    }
    double* not_negative[] = {&bad.falloff_power,  &bad.distance_min, &bad.distance_max,
                              &bad.radial_falloff, &bad.radial_min,   &bad.radial_max,
                              &bad.rest_length,    &bad.noise_size};
    for (int i = 0; i < 8; ++i)
    {
        bad = good, *not_negative[i] = -1;
        CHECK(pl_field_check(&bad) == PLIANT_ERROR_ARGUMENT);
    }
    double* finite[] = {&bad.strength,    &bad.flow,           &bad.harmonic_damping,
                        &bad.linear_drag, &bad.quadratic_drag, &bad.matrix[7]};
    for (int i = 0; i < 6; ++i)
    {
        bad = good, *finite[i] = NAN;
        CHECK(pl_field_check(&bad) == PLIANT_ERROR_ARGUMENT);
        bad = good, *finite[i] = -INFINITY;
        CHECK(pl_field_check(&bad) == PLIANT_ERROR_ARGUMENT);
        bad = good, *finite[i] = -1;
        CHECK_OK(pl_field_check(&bad));
    }
}
