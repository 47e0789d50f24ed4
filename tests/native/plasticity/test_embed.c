// SPDX-License-Identifier: GPL-3.0-or-later
/* Embedding the rest shape around a particle in space. */
#include "native/support/test.h"
#include "native/support/world.h"
#include "plasticity/embed.h"

#include <api/api.h>
#include <base/cpu.h>
#include <base/eigen.h>
#include <base/rng.h>
#include <body/layout.h>
#include <body/rest_query.h>
#include <dynamics/kernels.h>
#include <plasticity/embed_region.h>
#include <scenes/scenes.h>
#include <stdlib.h>
#include <string.h>

/* A cube of 729 particles in 24 clusters, where its particles are at rest. */
static pl_body* cube_of(pliant_scene* made)
{
    pliant_body handle;
    pliant_body_desc desc = world_cube(9);
    pl_body* body = NULL;
    pl_scene* inside;
    pliant_scene_desc sd;
    pliant_scene_desc_init(&sd, sizeof sd);
    sd.threads = 1;
    desc.cluster.count = 24;
    desc.material.yield = .1;
    CHECK_OK(pliant_scene_create(&sd, made));
    CHECK_OK(pliant_body_create(*made, &desc, &handle));
    CHECK(pl_get_body(handle, &body, &inside) == PLIANT_OK);
    return body;
}

/* The particle nearest to the middle. */
static uint32_t middle_of(const pl_body* body)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        if (body->particles.mass[s] > 0 && v3_length(pl_rest_of(body, s)) < least)
            least = v3_length(pl_rest_of(body, s)), best = s;
    return best;
}

static void collect(const pl_body* body, double reach, pl_embed_region* region)
{
    pl_block_boxes boxes = {0};
    CHECK(pl_block_boxes_make(body, &boxes) == PLIANT_OK);
    CHECK(pl_embed_region_collect(body, &boxes, middle_of(body), reach, region) == PLIANT_OK);
    pl_free(boxes.box);
}

/* RMS difference between the particles' distances from their mean, embedded and at rest. */
static double apart_from_rest(const pl_body* body, const pl_embed_region* region)
{
    const pl_embedding* e = &region->embedding;
    vec3 mean = v3(0, 0, 0), rest_mean = mean;
    double count = 0, sum = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (uint32_t i = 0; i < 8 * e->block_count; ++i)
        {
            if (!(e->per_weight[i] > 0))
                continue;
            const float* at = e->place + 24 * (i / 8) + i % 8;
            vec3 place = v3(at[0], at[8], at[16]);
            vec3 rest = pl_rest_of(body, region->block_slot[i / 8] + i % 8);
            if (pass == 0)
            {
                mean = v3_add(mean, place);
                rest_mean = v3_add(rest_mean, rest);
                count += 1;
            }
            else
            {
                /* invariant under rotation */
                double d = v3_length(v3_sub(place, v3_scale(mean, 1 / count))) -
                           v3_length(v3_sub(rest, v3_scale(rest_mean, 1 / count)));
                sum += d * d;
            }
        }
    return sqrt(sum / count);
}

static void settings(pl_embedding* e, uint32_t most)
{
    e->most = most;
    e->share = 0;
    e->enough = 0;
    e->measure = true;
}

/* Elastic strain is not part of the rest shape. */
TEST(a_body_that_has_not_flowed_is_embedded_as_it_was_at_rest)
{
    pliant_scene made;
    pl_body* body = cube_of(&made);
    const pl_kernels* kernels = pl_kernels_for(pl_cpu_best());
    pl_embed_region region = {0};
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
    {
        vec3 r = pl_rest_of(body, s); /* stretched, bent and turned */
        body->particles.x[0][s] = (float)(-1.2 * r.y);
        body->particles.x[1][s] = (float)(.9 * r.x + .3 * r.y * r.y);
        body->particles.x[2][s] = (float)(1.1 * r.z);
    }
    collect(body, 10, &region);
    CHECK(region.embedding.row_count == 24);
    CHECK(apart_from_rest(body, &region) > .02);
    settings(&region.embedding, 0);
    kernels->embed(&region.embedding);
    double before = region.embedding.energy;
    settings(&region.embedding, 400);
    kernels->embed(&region.embedding);
    CHECK_MSG(apart_from_rest(body, &region) < 1e-3, "%.2g away from where it was at rest",
              apart_from_rest(body, &region));
    CHECK_MSG(region.embedding.energy < 1e-6 * before, "energy %.3g, before %.3g",
              region.embedding.energy, before);
    pl_embed_region_free(&region);
    CHECK_OK(pliant_scene_destroy(made));
}

/* Every iteration lowers the sum (3.5), for any F^p. */
TEST(the_energy_never_grows)
{
    pliant_scene made;
    pl_body* body = cube_of(&made);
    const pl_kernels* kernels = pl_kernels_for(pl_cpu_best());
    pl_rng rng = pl_rng_seed(5);
    pl_embed_region region = {0};
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        for (int i = 0; i < 9; ++i)
            body->clusters.fp[c][i] += (float)(.6 * (pl_rng_unit(&rng) - .5));
    collect(body, .5, &region);
    double before = INFINITY;
    for (int round = 0; round < 30; ++round)
    {
        settings(&region.embedding, 1);
        kernels->embed(&region.embedding);
        CHECK_MSG(region.embedding.energy <= before * (1 + 1e-5), "round %d: %.9g after %.9g",
                  round, region.embedding.energy, before);
        before = region.embedding.energy;
    }
    CHECK(before > 1e-6);
    pl_embed_region_free(&region);
    CHECK_OK(pliant_scene_destroy(made));
}

/* Flow of a twisted bar with a small random part for each cluster: rest shapes are rotated relative
 * to each other, and no placement satisfies all of them. */
static void flow(pl_body* body)
{
    pl_rng rng = pl_rng_seed(3);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        double angle = 1.5 * body->clusters.rest[c][0], s = sin(angle), k = cos(angle), flowed[9];
        const double turn[9] = {1, 0, 0, 0, k, -s, 0, s, k};
        for (int i = 0; i < 9; ++i)
        {
            static const double stretch[3] = {1.3, .9, .85};
            double own = .08 * (pl_rng_unit(&rng) - .5);
            flowed[i] = (i % 4 ? 0 : stretch[i % 3]) + own;
        }
        for (int i = 0; i < 9; ++i)
        {
            double sum = 0;
            for (int j = 0; j < 3; ++j)
                sum += turn[3 * (i / 3) + j] * flowed[3 * j + i % 3];
            body->clusters.fp[c][i] = (float)sum;
        }
    }
}

static double embedded(const pl_body* body, double reach, uint32_t rounds, bool linear)
{
    pl_embed_region region = {0};
    collect(body, reach, &region);
    settings(&region.embedding, rounds);
    region.embedding.linear = linear;
    pl_kernels_for(pl_cpu_best())->embed(&region.embedding);
    CHECK(region.embedding.rounds <= rounds);
    double energy = region.embedding.energy;
    pl_embed_region_free(&region);
    return energy;
}

/* F^p by the update (2.27) as printed: diag(s) V^T instead of V diag(s) V^T leaves it in the frame
 * of its principal axes. With rotations, the sum (3.5) is invariant under that. */
static void turn_as_printed(pl_body* body)
{
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        double values[3];
        mat3 f, axes;
        for (int i = 0; i < 9; ++i)
            f.m[i / 3][i % 3] = body->clusters.fp[c][i];
        pl_jacobi3(m3_mul(m3_transpose(f), f), values, &axes);
        double side = m3_det(axes) < 0 ? -1 : 1;
        for (int i = 0; i < 9; ++i)
            body->clusters.fp[c][i] =
                (float)(sqrt(values[i / 3]) * axes.m[i % 3][i / 3] * (i < 3 ? side : 1));
    }
}

/* The paper, 3.0.2: without rotations the sum is roughly two orders of magnitude larger. Its beam,
 * pressed for three and a half seconds; the ratio is far larger while rest shapes are nearly
 * consistent. */
TEST(the_linear_embedding_has_a_hundred_times_the_energy)
{
    scene s;
    pliant_scene made;
    pliant_body handle;
    pl_body* body = NULL;
    pl_scene* inside;
    CHECK(scene_open("plastic-beam", &s));
    s.scene.threads = 1;
    s.body.material.recluster = PLIANT_RECLUSTER_OFF;
    CHECK_OK(scene_create(&s, &made, &handle));
    for (int step = 0; step < 210; ++step)
    {
        CHECK_OK(scene_press(&s, made, handle));
        CHECK_OK(pliant_scene_advance(made, &s.frame));
    }
    CHECK(pl_get_body(handle, &body, &inside) == PLIANT_OK);
    double reach = 2 * body->level_radius[0], own = embedded(body, reach, 500, false);
    turn_as_printed(body);
    double nonlinear = embedded(body, reach, 500, false), linear = embedded(body, reach, 500, true);
    CHECK_NEAR(nonlinear / own, 1, .01);
    CHECK_MSG(linear > 100 * nonlinear, "linear %.3g, nonlinear %.3g: %.0f times", linear,
              nonlinear, linear / nonlinear);
    CHECK_OK(pliant_scene_destroy(made));
    scene_close(&s);
}

TEST(twenty_iterations_are_near_enough)
{
    pliant_scene made;
    pl_body* body = cube_of(&made);
    flow(body);
    double reach = 1.75 * body->level_radius[0], start = embedded(body, reach, 0, false);
    double few = embedded(body, reach, 20, false), many = embedded(body, reach, 2000, false);
    CHECK_MSG(few - many < .02 * (start - many), "%.4g at first, %.4g after 20, %.4g in the end",
              start, few, many);
    CHECK_OK(pliant_scene_destroy(made));
}

/* The region: particles within reach that are connected with the seed through its clusters. */
TEST(a_patch_has_what_hangs_together_with_its_seed)
{
    pliant_scene made;
    pl_body* body = cube_of(&made);
    pl_embed_region region = {0};
    uint32_t seed = middle_of(body);
    double reach = 1.3 * body->level_radius[0];
    collect(body, reach, &region);
    const pl_embedding* e = &region.embedding;
    CHECK(region.block_slot[region.seed / 8] + region.seed % 8 == seed);
    uint32_t within = 0, found = 0;
    vec3 at = pl_rest_of(body, seed);
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        within += body->particles.mass[s] > 0 &&
                  v3_length(v3_sub(pl_rest_of(body, s), at)) < reach * (1 - 1e-5);
    for (uint32_t i = 0; i < 8 * e->block_count; ++i)
        found += e->per_weight[i] > 0;
    CHECK_MSG(found >= within - 2 && found <= within + 2, "%u particles, %u within reach", found,
              within);
    /* offsets are centred, weights are those of the body */
    for (uint32_t r = 0; r < e->row_count; ++r)
    {
        double sum[4] = {0};
        for (uint32_t n = 0; n < e->block_begin[e->block_count]; ++n)
            for (uint32_t lane = 0; lane < 8 && e->entry_row[n] == r; ++lane)
            {
                double w = e->entry_weight[8 * n + lane];
                for (int k = 0; k < 3; ++k)
                    sum[k] += w * e->entry_offset[24 * n + 8 * (uint32_t)k + lane];
                sum[3] += w;
            }
        CHECK(sum[3] > 0);
        for (int k = 0; k < 3; ++k)
            CHECK_NEAR(sum[k] / sum[3], 0, 1e-6);
    }
    pl_embed_region_free(&region);
    CHECK_OK(pliant_scene_destroy(made));
}

TEST(embeddings_are_the_same_on_every_path)
{
    pliant_scene made;
    pl_body* body = cube_of(&made);
    float* expected = NULL;
    flow(body);
    for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
    {
        if (!pl_cpu_has(simd))
            continue;
        pl_embed_region region = {0};
        collect(body, .6, &region);
        settings(&region.embedding, 20);
        pl_kernels_for(simd)->embed(&region.embedding);
        size_t bytes = sizeof(float) * 24 * region.embedding.block_count;
        if (!expected)
        {
            expected = malloc(bytes);
            memcpy(expected, region.embedding.place, bytes);
        }
        CHECK_MSG(memcmp(expected, region.embedding.place, bytes) == 0, "%s differs",
                  pl_cpu_path_name(simd));
        pl_embed_region_free(&region);
    }
    free(expected);
    CHECK_OK(pliant_scene_destroy(made));
}
