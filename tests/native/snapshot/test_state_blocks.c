// SPDX-License-Identifier: GPL-3.0-or-later
/* Saved states changed with a correct checksum: refused, or safe for every later call. */
#include "native/support/world.h"

#include <base/archive.h>
#include <base/hash.h>
#include <base/rng.h>
#include <snapshot/check.h>
#include <stdlib.h>
#include <string.h>

/* Recomputes the checksum: the last eight bytes of the header, over all other bytes. */
static void seal(unsigned char* block, uint64_t bytes)
{
    uint64_t hash = pl_hash(PL_HASH_START, block, PL_ARCHIVE_HEADER - 8);
    hash = pl_hash(hash, block + PL_ARCHIVE_HEADER, bytes - PL_ARCHIVE_HEADER);
    memcpy(block + PL_ARCHIVE_HEADER - 8, &hash, sizeof hash);
}

static void read_all(pliant_scene scene)
{
    pliant_scene_info info;
    pliant_scene_info_init(&info, sizeof info);
    CHECK_OK(pliant_scene_get_info(scene, &info));
    for (uint32_t b = 0; b < info.bodies; ++b)
    {
        pliant_body body = world_body(scene, b);
        uint64_t bytes = 0;
        for (uint32_t channel = 0; channel < 64; ++channel)
            for (uint32_t level = 0; level < 2; ++level)
                if (pliant_body_read(body, channel, level, NULL, NULL, &bytes) == PLIANT_OK)
                {
                    char* buffer = malloc(bytes + 1);
                    pliant_status status =
                        pliant_body_read(body, channel, level, NULL, buffer, &bytes);
                    CHECK_MSG(status != PLIANT_ERROR_MEMORY, "channel %u: %s", channel,
                              pliant_last_error());
                    free(buffer);
                }
    }
}

/* Restores a changed block and makes every call with the result. True: it was accepted. */
static bool try_block(pliant_scene scene, unsigned char* block, uint64_t bytes, uint64_t at)
{
    pliant_frame_desc frame = world_frame_desc();
    frame.substeps = 2;
    seal(block, bytes);
    pliant_status status = pliant_scene_restore(scene, block, bytes);
    CHECK_MSG(status == PLIANT_OK || status == PLIANT_ERROR_FORMAT || status == PLIANT_ERROR_MESH,
              "byte %llu: %d, %s", (unsigned long long)at, status, pliant_last_error());
    if (status != PLIANT_OK)
        return false;
    read_all(scene);
    for (int f = 0; f < 2; ++f)
    {
        status = pliant_scene_advance(scene, &frame);
        CHECK_MSG(status != PLIANT_ERROR_MEMORY && status != PLIANT_ERROR_INTERNAL,
                  "byte %llu: %d, %s", (unsigned long long)at, status, pliant_last_error());
    }
    read_all(scene);
    uint64_t again = 0;
    CHECK_OK(pliant_scene_save(scene, NULL, &again));
    return true;
}

static const uint32_t ODD[] = {0xffffffffu, 0x7fffffffu, 0x80000000u, 0x00010000u, 0x7f800000u,
                               0x7fc00000u, 1u,          0u,          0x501502f9u};

static uint32_t below(pl_rng* rng, uint64_t count)
{
    return (uint32_t)(pl_rng_unit(rng) * (double)count);
}

static void change_words(uint32_t kind, int times, uint64_t seed)
{
    uint64_t bytes = 0;
    uint32_t accepted = 0;
    pl_rng rng = pl_rng_seed(seed);
    pliant_scene scene = world_make(kind);
    if (!scene)
        return;
    for (int f = 0; f < 4; ++f)
        CHECK_OK(world_frame(kind, scene));
    unsigned char* block = world_save(scene, &bytes);
    for (int i = 0; i < times; ++i)
    {
        uint64_t at = PL_ARCHIVE_HEADER + below(&rng, bytes - PL_ARCHIVE_HEADER - 4);
        uint32_t old, value = ODD[below(&rng, sizeof ODD / sizeof *ODD)];
        memcpy(&old, block + at, 4);
        if (below(&rng, 4) == 0)
            value = old + 1;
        memcpy(block + at, &value, 4);
        accepted += try_block(scene, block, bytes, at);
        memcpy(block + at, &old, 4);
    }
    seal(block, bytes);
    CHECK_OK(pliant_scene_restore(scene, block, bytes));
    CHECK(accepted > 0 && (times < 100 || accepted < (uint32_t)times));
    CHECK_OK(pliant_scene_destroy(scene));
    free(block);
}

/* PLIANT_TEST_BLOCKS (number per kind) and PLIANT_TEST_SEED allow longer manual runs. */
static uint64_t setting(const char* name, uint64_t otherwise)
{
    const char* text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

TEST(changed_states_are_refused_or_safe)
{
    int times = (int)setting("PLIANT_TEST_BLOCKS", test_quick() ? 10 : 40);
    for (uint32_t kind = 0; kind < WORLD_KINDS; ++kind)
        change_words(kind, times, kind + 100 * setting("PLIANT_TEST_SEED", 1));
}

TEST(successors_and_counts_of_particles_must_fit)
{
    enum
    {
        SLOTS = 8,
        IDS = 3
    };
    float zero[SLOTS] = {0}, offset[IDS][3] = {{0}}, piece[IDS][6] = {{0}};
    double rest[IDS][3] = {{0}};
    uint32_t id[SLOTS], slot_of[IDS] = {0, 1, 1}, parent[IDS] = {0, 1, 1};
    uint32_t successor[IDS] = {0, 2, 2}; /* particle 1 was merged into 2 */
    uint64_t quanta[SLOTS] = {1, 1};
    for (uint32_t s = 0; s < SLOTS; ++s)
        id[s] = s == 0 ? 0 : s == 1 ? 2 : PL_NO_PARTICLE;
    pl_particles p = {.slot_count = SLOTS,
                      .count = 2,
                      .id_count = IDS,
                      .mass = zero,
                      .quanta = quanta,
                      .id = id,
                      .slot_of = slot_of,
                      .parent = parent};
    for (int k = 0; k < 3; ++k)
        p.r[k] = zero;
    p.resampled = (pl_resampled){
        .count = IDS, .successor = successor, .offset = offset, .rest = rest, .piece = piece};
    CHECK(pl_particles_fit(&p));
    successor[0] = 2; /* invalid: particle 0 exists */
    CHECK(!pl_particles_fit(&p));
    successor[0] = 1000;
    CHECK(!pl_particles_fit(&p));
    successor[0] = 0, successor[1] = 1; /* invalid: particle 1 does not exist */
    CHECK(!pl_particles_fit(&p));
    successor[1] = 1000;
    CHECK(!pl_particles_fit(&p));
    successor[1] = 2, p.count = 1;
    CHECK(!pl_particles_fit(&p));
    p.count = 2;
    CHECK(pl_particles_fit(&p));
}
