// SPDX-License-Identifier: GPL-3.0-or-later
/* The bound that skips strain limit tests, against the tests by membership; and blocks of particles
 * with the same clusters. */
#include "native/support/cubes.h"
#include "native/support/test.h"

#include <api/api.h>
#include <base/rng.h>
#include <body/block_packing.h>
#include <dynamics/strain_limit_bound.h>
#include <stdlib.h>
#include <string.h>

/* A cube that rotates and oscillates, after a step without violations. */
static pl_body* quiet_cube(cube* c, uint32_t levels)
{
    pl_scene* scene = NULL;
    *c = cube_new(12, 160);
    c->desc.levels.count = levels;
    c->desc.levels.reduction = 6;
    c->desc.levels.kind = PLIANT_LEVELS_INDEPENDENT;
    c->desc.material.strain_limit = .4;
    c->desc.material.strain_iterations = 2;
    c->desc.angular_velocity[2] = 3;
    if (!cube_make(c))
        return NULL;
    cube_stretch(c, 1.04);
    CHECK_OK(cube_advance(c->scene, 1. / 60, 1));
    CHECK_OK(pl_get_scene(c->scene, &scene));
    CHECK(scene && scene->pairs_tested > 0 && scene->pairs_violated == 0);
    return scene ? scene->bodies[0] : NULL;
}

static pl_pass pass_of(pl_body* body, uint32_t chunk, float* rows)
{
    return (pl_pass){.chunk = &body->chunks[chunk],
                     .particles = &body->particles,
                     .clusters = &body->clusters,
                     .rows = rows,
                     .finest_end = body->level_begin[1]};
}

/* The vector from a particle's goal in an entry's cluster to its position. */
static vec3 away_from_goal(const pl_body* body, const pl_chunk* chunk, uint32_t entry,
                           uint32_t slot)
{
    const pl_clusters* k = &body->clusters;
    uint32_t c = chunk->rows[chunk->entry_row[entry]];
    const float* row = k->limit[c];
    double p[3], out[3];
    for (int j = 0; j < 3; ++j)
        p[j] = (double)body->particles.r[j][slot] + chunk->rest_origin[j] - k->rest[c][j];
    for (int j = 0; j < 3; ++j)
        out[j] = body->particles.x[j][slot] -
                 (row[3 * j] * p[0] + row[3 * j + 1] * p[1] + row[3 * j + 2] * p[2] +
                  (double)row[9 + j] + k->limit_ref[c][j]);
    return v3(out[0], out[1], out[2]);
}

/* The distance along a direction at which a particle first violates one of its clusters. */
static double way_to_limit(const pl_body* body, const pl_chunk* chunk, uint32_t slot, vec3 along)
{
    uint32_t b = (slot - chunk->slot_begin) / 8, lane = slot % 8;
    double way = INFINITY;
    for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
    {
        uint32_t c = chunk->rows[chunk->entry_row[e]];
        if (c >= body->level_begin[1] || !(chunk->entry_kernel[8 * (size_t)e + lane] > 0))
            continue;
        vec3 from = away_from_goal(body, chunk, e, slot);
        double limit = body->clusters.limit[c][12], half = v3_dot(from, along);
        way = fmin(way, -half + sqrt(half * half + limit * limit - v3_dot(from, from)));
    }
    return way;
}

static void push(pl_body* body, uint32_t slot, vec3 along, double way)
{
    double d[3] = {along.x, along.y, along.z};
    for (int j = 0; j < 3; ++j)
        body->particles.x[j][slot] = (float)(body->particles.x[j][slot] + way * d[j]);
}

static void check_bound(uint32_t levels)
{
    cube c;
    pl_body* body = quiet_cube(&c, levels);
    pl_rng rng = pl_rng_seed(3);
    uint32_t told = 0, asked = 0;
    for (uint32_t n = 0; body && n < body->chunk_count; ++n)
    {
        pl_chunk* chunk = &body->chunks[n];
        float* rows = malloc(pl_pass_scratch(chunk->row_count, false) * sizeof *rows);
        pl_pass pass = pass_of(body, n, rows);
        CHECK(pl_limit_idle(&pass));
        for (uint32_t i = 0; i < 8 * chunk->block_count; i += test_quick() ? 17 : 5)
        {
            uint32_t slot = chunk->slot_begin + i;
            if (body->particles.id[slot] == PL_NO_PARTICLE)
                continue;
            float x[3];
            for (int j = 0; j < 3; ++j)
                x[j] = body->particles.x[j][slot];
            vec3 along = v3_normalised(
                v3(pl_rng_unit(&rng) - .5, pl_rng_unit(&rng) - .5, pl_rng_unit(&rng) - .5));
            double way = way_to_limit(body, chunk, slot, along);
            push(body, slot, along, 1.001 * way);
            CHECK_MSG(!pl_limit_idle(&pass), "%u levels: slot %u is over its limit", levels, slot);
            for (int j = 0; j < 3; ++j)
                body->particles.x[j][slot] = x[j];
            push(body, slot, along, .4 * way);
            told += pl_limit_idle(&pass);
            ++asked;
            for (int j = 0; j < 3; ++j)
                body->particles.x[j][slot] = x[j];
        }
        free(rows);
    }
    CHECK(asked > 90);
    CHECK_MSG(told > asked * 3 / 4, "%u of %u chunks well within their limits", told, asked);
    cube_free(&c);
}

TEST(limits_are_called_idle_only_where_no_pair_is_violated)
{
    check_bound(1);
    check_bound(3);
}

/* Chunks tested by membership (those violated before) have the same bits. */
TEST(bounds_of_limits_change_nothing_but_time)
{
    cube with, without;
    pl_body *a = quiet_cube(&with, 1), *b = quiet_cube(&without, 1);
    pl_scene *one = NULL, *other = NULL;
    uint64_t hash[2], some = 0, none = 0;
    REQUIRE(a && b && pl_get_scene(with.scene, &one) == PLIANT_OK &&
            pl_get_scene(without.scene, &other) == PLIANT_OK);
    /* push one end, so that violations start there and spread */
    for (uint32_t s = 0; s < a->particles.slot_count; ++s)
        if (a->particles.x[0][s] > .4f)
            a->particles.v[0][s] += 20, b->particles.v[0][s] += 20;
    for (uint32_t step = 0; step < 12; ++step)
    {
        for (uint32_t n = 0; n < b->chunk_count; ++n)
            b->chunks[n].violated = 1;
        CHECK_OK(cube_advance(with.scene, 1. / 120, 1));
        CHECK_OK(cube_advance(without.scene, 1. / 120, 1));
        CHECK(one->pairs_violated == other->pairs_violated);
        CHECK(one->pairs_tested == other->pairs_tested);
        for (uint32_t n = 0; n < a->chunk_count; ++n)
            *(a->chunks[n].violated ? &some : &none) += 1;
        CHECK_OK(pliant_scene_hash(with.scene, &hash[0]));
        CHECK_OK(pliant_scene_hash(without.scene, &hash[1]));
        CHECK_MSG(hash[0] == hash[1], "step %u", step);
    }
    CHECK_MSG(some > 3 && none > 3, "%d chunks violated, %d not", (int)some, (int)none);
    cube_free(&with);
    cube_free(&without);
}

TEST(blocks_have_particles_of_the_same_clusters)
{
    /* Twelve kinds of particles in mixed order, each kind in the same three of 14 clusters, and a
     * remainder. */
    enum
    {
        COUNT = 12 * 16 + 5
    };
    uint32_t begin[COUNT + 1] = {0}, cluster[3 * COUNT], order[COUNT], at[COUNT] = {0}, whole = 0;
    pl_by_particle lists = {.begin = begin, .cluster = cluster};
    for (uint32_t i = 0; i < COUNT; ++i)
    {
        begin[i + 1] = 3 * (i + 1);
        for (uint32_t k = 0; k < 3; ++k)
            cluster[3 * i + k] = i * 7 % 12 + k;
        order[i] = COUNT - 1 - i;
    }
    REQUIRE_OK(pl_pack_blocks(COUNT, order, &lists, 14));
    for (uint32_t i = 0; i < COUNT; ++i)
        ++at[order[i]];
    for (uint32_t i = 0; i < COUNT; ++i)
        CHECK(at[i] == 1);
    for (uint32_t i = 0; i + 8 <= COUNT; i += 8)
    {
        bool same = true;
        for (uint32_t n = 1; n < 8; ++n)
            same = same && cluster[3 * order[i]] == cluster[3 * order[i + n]];
        whole += same;
    }
    CHECK_MSG(whole >= 20, "%u of 24 blocks are of one kind", whole);
}
