// SPDX-License-Identifier: GPL-3.0-or-later
/* Fracture compared with the oracle, and bounds on the memberships that splits rewrite. */
#include "native/oracle/oracle.h"
#include "native/support/test.h"
#include "native/support/world.h"

#include <api/api.h>
#include <scenes/scenes.h>
#include <stdlib.h>
#include <string.h>

typedef struct broken
{
    scene scene;
    pliant_scene made;
    pliant_body handle;
    pl_body* body;
    reference* oracle;
} broken;

static broken start(const char* name)
{
    broken b = {.made = 0};
    pl_scene* inside;
    CHECK(scene_open(name, &b.scene));
    b.scene.scene.threads = 1;
    CHECK_OK(scene_create(&b.scene, &b.made, &b.handle));
    CHECK(pl_get_body(b.handle, &b.body, &inside) == PLIANT_OK);
    reference_settings settings = {.material = b.scene.body.material,
                                   .plastic = true,
                                   .breaks = true,
                                   .fracture = b.scene.fracture};
    b.oracle = reference_from_body(b.handle, NULL, &b.scene.body.levels, &settings);
    CHECK(b.oracle);
    return b;
}

static void end(broken* b)
{
    reference_free(b->oracle);
    pliant_scene_destroy(b->made);
    scene_close(&b->scene);
}

/* Number of particles whose position differs from the oracle's. */
static uint32_t elsewhere(const broken* b, uint32_t count)
{
    uint64_t bytes;
    float* x = world_read(b->handle, PLIANT_POSITION, 0, &bytes);
    uint32_t off = 0;
    for (uint32_t i = 0; i < count; ++i)
        off += v3_length(v3_sub(v3_from(x + 3 * (size_t)i), b->oracle->x[i])) >
               1e-3 * b->body->spacing;
    free(x);
    return off;
}

/* The oracle breaks at the beginning of a step, the library at the end of the one before. They
 * diverge by rounding later; the first splits are the same, except for particles that lie in a
 * plane. */
TEST(the_oracle_breaks_the_same_way)
{
    broken b = start("breaking-beam");
    uint32_t count = b.body->particles.id_count;
    uint64_t splits = 0;
    uint32_t copies = 0;
    for (int step = 0; step < 3; ++step)
    {
        CHECK_OK(pliant_scene_advance(b.made, &b.scene.frame));
        reference_step(b.oracle, b.scene.frame.dt);
        uint32_t others = b.oracle->particles - count, off = elsewhere(&b, count);
        CHECK_MSG(b.oracle->splits == splits && others <= copies + 2 && copies <= others + 2,
                  "step %d: %llu splits and %u copies, the oracle's %llu and %u", step,
                  (unsigned long long)splits, copies, (unsigned long long)b.oracle->splits, others);
        CHECK_MSG(off <= (splits ? count / 4 : 0), "step %d: %u of %u are elsewhere", step, off,
                  count);
        splits = b.body->fracture->split_count;
        copies = b.body->particles.id_count - count;
    }
    CHECK_MSG(b.oracle->splits > 5 && b.oracle->particles > count + 500, "%llu splits, %u copies",
              (unsigned long long)b.oracle->splits, copies);
    end(&b);
}

/* ------------------------------------------------------------------ rewritten memberships */

/* Memberships of each finest cluster. */
static void count_members(const pl_body* body, uint32_t* members)
{
    memset(members, 0, sizeof *members * body->level_begin[1]);
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        for (uint32_t e = 0; e < chunk->block_begin[chunk->block_count]; ++e)
            for (uint32_t lane = 0; lane < 8; ++lane)
                members[chunk->rows[chunk->entry_row[e]]] +=
                    chunk->entry_kernel[8 * (size_t)e + lane] > 0;
    }
}

/* Clusters of a body before a step. */
typedef struct before
{
    uint32_t clusters, *members;
    uint8_t* shares;
} before;

static before remember(const pl_body* body)
{
    uint32_t n = body->level_begin[1];
    before was = {n, calloc(n, sizeof(uint32_t)), calloc((size_t)n * n, 1)};
    const pl_fracture* f = body->fracture;
    count_members(body, was.members);
    for (uint32_t c = 0; c < n; ++c)
        for (uint32_t i = 0; i < f->shares[c].count; ++i)
            was.shares[(size_t)c * n + f->shares[c].items[i].cluster] = 1;
    return was;
}

/* Memberships of the split clusters and their neighbours, before the step. */
static uint64_t involved(const before* was, const pl_fracture* f, size_t first)
{
    uint8_t* in = calloc(was->clusters, 1);
    uint64_t sum = 0;
    for (size_t s = first; s < f->split_count; ++s)
        for (uint32_t c = 0; f->splits[s].cluster < was->clusters && c < was->clusters; ++c)
            in[c] |= c == f->splits[s].cluster ||
                     was->shares[(size_t)f->splits[s].cluster * was->clusters + c];
    for (uint32_t c = 0; c < was->clusters; ++c)
        sum += in[c] ? was->members[c] : 0;
    free(in);
    return sum;
}

/* Every step of a scene that breaks something. */
static void check_updates(const char* name, int steps)
{
    broken b = start(name);
    pl_fracture* f = b.body->fracture;
    double worst = 0;
    for (int step = 0; step < steps; ++step)
    {
        before was = remember(b.body);
        size_t splits = f->split_count;
        f->updates_most = 0;
        CHECK_OK(pliant_scene_advance(b.made, &b.scene.frame));
        uint64_t around = involved(&was, f, splits);
        if (f->split_count > splits)
        {
            worst = fmax(worst, (double)f->updates_most / (double)around);
            CHECK(f->updates_most > 0);
            CHECK_MSG(f->updates_most <= 2 * around, "%s, step %d: %llu of %llu", name, step,
                      (unsigned long long)f->updates_most, (unsigned long long)around);
        }
        free(was.members);
        free(was.shares);
    }
    CHECK_MSG(worst > .01 && worst <= 2, "%s: %g times what is around the splits", name, worst);
    end(&b);
}

TEST(splits_rewrite_no_more_than_twice_what_is_around_them)
{
    check_updates("breaking-beam", 60);
    check_updates("ductile-plate", 60);
}
