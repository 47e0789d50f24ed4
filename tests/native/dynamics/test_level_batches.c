// SPDX-License-Identifier: GPL-3.0-or-later
/* Nested levels by runs of clusters against the same levels by links, and the runs' entries against
 * the links. */
#include "native/support/cubes.h"
#include "native/support/test.h"

#include <api/api.h>
#include <base/cpu.h>
#include <string.h>

/* A cube with three levels and five runs of the finest. */
static pl_body* nested_cube(cube* c, uint32_t threads, uint32_t simd)
{
    pl_scene* scene = NULL;
    *c = cube_new(12, 160);
    c->scene_desc.threads = threads;
    c->scene_desc.simd = simd;
    c->desc.levels.count = 3;
    c->desc.levels.reduction = 6;
    c->desc.levels.kind = PLIANT_LEVELS_NESTED;
    c->desc.material.damping = 1;
    c->desc.angular_velocity[2] = 3;
    if (!cube_make(c))
        return NULL;
    cube_stretch(c, 1.3);
    CHECK_OK(pl_get_scene(c->scene, &scene));
    return scene ? scene->bodies[0] : NULL;
}

static double farthest(const pl_body* a, const pl_body* b)
{
    double worst = 0;
    for (int k = 0; k < 3; ++k)
        for (uint32_t s = 0; s < a->particles.slot_count; ++s)
            worst = PL_MAX(worst, fabs((double)a->particles.x[k][s] - b->particles.x[k][s]));
    return worst;
}

TEST(runs_of_clusters_ask_the_same_as_links)
{
    cube by_runs, by_links;
    pl_body* fast = nested_cube(&by_runs, 1, PLIANT_SIMD_AUTO);
    pl_body* slow = nested_cube(&by_links, 1, PLIANT_SIMD_AUTO);
    REQUIRE(fast && slow);
    slow->links.plain = false; /* as after plastic flow */
    for (int f = 0; f < 10; ++f)
    {
        CHECK_OK(cube_advance(by_runs.scene, 1.0 / 60, 2));
        CHECK_OK(cube_advance(by_links.scene, 1.0 / 60, 2));
    }
    CHECK(fast->links.batches.part && !slow->links.batches.part);
    CHECK_MSG(farthest(fast, slow) < 2e-6, "they are %g apart", farthest(fast, slow));
    /* a change from runs to links */
    fast->links.plain = false;
    CHECK_OK(cube_advance(by_runs.scene, 1.0 / 60, 2));
    CHECK_OK(cube_advance(by_links.scene, 1.0 / 60, 2));
    CHECK_MSG(farthest(fast, slow) < 2e-6, "they are %g apart", farthest(fast, slow));
    cube_free(&by_runs);
    cube_free(&by_links);
}

/* Every link is in exactly one entry, with its weight, and there are no others. */
TEST(runs_have_every_link_once)
{
    cube c;
    pl_body* body = nested_cube(&c, 1, PLIANT_SIMD_AUTO);
    REQUIRE(body);
    CHECK_OK(cube_advance(c.scene, 1.0 / 60, 1));
    const pl_links* links = &body->links;
    double by_links = 0, by_entries = 0;
    uint32_t weights = 0, run_at = 0;
    for (uint32_t n = 0; n < links->count; ++n)
        by_links += (double)links->u[n] * (links->fine[n] + 1) * links->coarse[n];
    for (uint32_t l = 0; l + 1 < body->level_count; ++l)
    {
        uint32_t end = body->level_begin[l + 1], size = pl_batch_size(end - body->level_begin[l]);
        for (uint32_t begin = body->level_begin[l]; begin < end; begin += size, ++run_at)
        {
            const pl_chunk* run = &links->batches.run[run_at];
            for (uint32_t b = 0; b < run->block_count; ++b)
                for (uint32_t e = run->block_begin[b]; e < run->block_begin[b + 1]; ++e)
                    for (uint32_t lane = 0; lane < 8; ++lane)
                    {
                        double u = run->entry_kernel[8 * e + lane];
                        CHECK(u == 0 || e < run->half[b][0] || lane >= 4);
                        CHECK(u == 0 || e >= run->half[b][1] || lane < 4);
                        weights += u > 0;
                        by_entries += u * (begin + 8 * b + lane + 1) * run->rows[run->entry_row[e]];
                    }
        }
    }
    CHECK(run_at == links->batches.count && weights == links->count);
    CHECK_NEAR(by_entries / by_links, 1, 1e-12);
    cube_free(&c);
}

TEST(parts_of_coarse_clusters_have_their_masses_and_centres)
{
    cube c;
    pl_body* body = nested_cube(&c, 1, PLIANT_SIMD_AUTO);
    REQUIRE(body);
    CHECK_OK(cube_advance(c.scene, 1.0 / 60, 1));
    const pl_level_batches* runs = &body->links.batches;
    for (uint32_t k = body->level_begin[1]; k < body->clusters.count; ++k)
    {
        double mass = 0, first[3] = {0};
        for (uint32_t at = runs->part_begin[k]; at < runs->part_begin[k + 1]; ++at)
        {
            const pl_part* part = &runs->part[at];
            mass += part->mass;
            for (int j = 0; j < 3; ++j)
                first[j] += part->first[j] + part->mass * part->to_rest[j];
        }
        CHECK_NEAR(mass / body->clusters.mass[k], 1, 1e-6);
        for (int j = 0; j < 3; ++j)
            CHECK_NEAR(first[j] / mass, 0, 1e-6);
    }
    cube_free(&c);
}

TEST(bits_of_many_runs_do_not_depend_on_threads_or_simd)
{
    static const uint32_t threads[] = {1, 2, 3, 8};
    uint64_t expected = 0;
    for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
        for (uint32_t t = 0; t < PL_COUNTOF(threads) && pl_cpu_has(simd); ++t)
        {
            cube c;
            uint64_t hash = 0;
            REQUIRE(nested_cube(&c, threads[t], simd));
            for (int f = 0; f < 5; ++f)
                CHECK_OK(cube_advance(c.scene, 1.0 / 60, 2));
            CHECK_OK(pliant_scene_hash(c.scene, &hash));
            expected = expected ? expected : hash;
            CHECK_MSG(hash == expected, "%s with %u threads differs", pl_cpu_path_name(simd),
                      threads[t]);
            cube_free(&c);
        }
}
