// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Damaged state blocks. Accidental truncation or change fails the checksum. A change with a
 * recomputed checksum (by a bug or an attacker) reaches the validation of the contents. The result
 * is either PLIANT_ERROR_FORMAT and an unchanged scene, or a scene on which every call is safe.
 */
#include "native/support/call_everything.h"
#include "native/support/world.h"

#include <api/api.h>
#include <base/archive.h>
#include <base/rng.h>
#include <stdlib.h>
#include <string.h>

static pliant_scene run_world(uint32_t kind)
{
    pliant_scene scene = world_make(kind);
    for (int f = 0; scene && f < 2; ++f)
        CHECK_OK(world_frame(kind, scene));
    return scene;
}

static void check_refused(pliant_scene scene, const void* block, uint64_t bytes, uint64_t before,
                          const char* what, uint64_t at)
{
    pliant_status status = pliant_scene_restore(scene, block, bytes);
    CHECK_MSG(status == PLIANT_ERROR_FORMAT, "%s at %llu gave %s", what, (unsigned long long)at,
              pliant_status_name(status));
    CHECK_MSG(strlen(pliant_last_error()) > 10, "%s at %llu has no sentence", what,
              (unsigned long long)at);
    CHECK_MSG(world_state(scene) == before, "%s at %llu changed the scene", what,
              (unsigned long long)at);
}

TEST(a_cut_block_is_refused)
{
    uint64_t bytes = 0;
    pliant_scene scene = run_world(WORLD_ALL);
    unsigned char* block = world_save(scene, &bytes);
    uint64_t before = world_state(scene);
    unsigned char* part = malloc(bytes + 16);
    for (uint64_t length = 0; length < bytes; length += 1 + length * 3)
    {
        check_refused(scene, block, length, before, "cut", length);
        if (length <= PL_ARCHIVE_HEADER)
            continue;
        /* with a correct checksum: the reader finds the end too early */
        unsigned char* exact = malloc(length);
        memcpy(exact, block, length);
        seal_block(exact, length);
        check_refused(scene, exact, length, before, "cut and sealed", length);
        free(exact);
    }
    pl_rng rng = pl_rng_seed(3);
    for (int i = 0; i < 40; ++i)
    {
        uint64_t length = PL_ARCHIVE_HEADER + 1 + pl_rng_below(&rng, (uint32_t)bytes - 40);
        unsigned char* exact = malloc(length);
        memcpy(exact, block, length);
        seal_block(exact, length);
        check_refused(scene, exact, length, before, "cut and sealed", length);
        free(exact);
    }
    memcpy(part, block, bytes);
    memset(part + bytes, 0, 16);
    check_refused(scene, part, bytes + 16, before, "lengthened", bytes);
    seal_block(part, bytes + 16);
    check_refused(scene, part, bytes + 16, before, "lengthened and sealed", bytes);
    CHECK_OK(pliant_scene_restore(scene, block, bytes));
    CHECK(world_state(scene) == before);
    free(part);
    free(block);
    CHECK_OK(pliant_scene_destroy(scene));
}

TEST(every_changed_bit_is_noticed)
{
    uint64_t bytes = 0;
    pliant_scene scene = run_world(WORLD_PLAIN);
    unsigned char* block = world_save(scene, &bytes);
    uint64_t before = world_state(scene);
    pl_rng rng = pl_rng_seed(4);
    for (uint32_t i = 0; i < 300; ++i)
    {
        uint64_t at = i < 64 ? i : pl_rng_below(&rng, (uint32_t)bytes);
        unsigned char bit = (unsigned char)(1u << pl_rng_below(&rng, 8));
        block[at] ^= bit;
        check_refused(scene, block, bytes, before, "a flipped bit", at);
        block[at] ^= bit;
    }
    free(block);
    CHECK_OK(pliant_scene_destroy(scene));
}

/* ------------------------------------------------------------------ correct checksum */

/* One change: a bit, a byte, or a harmful integer. Most of a block is floats, which are harmless,
 * so small integers are searched for. */
static void change(unsigned char* block, uint64_t bytes, pl_rng* rng)
{
    static const uint32_t numbers[] = {0,          1,          2,          7,
                                       8,          0x7fffffff, 0x80000000, 0xffffffff,
                                       0x7fc00000, 0x7f800000, 0xff7fffff, 1000};
    uint64_t room = bytes - PL_ARCHIVE_HEADER - 4, at = 0;
    for (int attempt = 0; attempt < 200; ++attempt)
    {
        uint32_t found;
        at = PL_ARCHIVE_HEADER + pl_rng_below(rng, (uint32_t)room);
        if (pl_rng_below(rng, 8))
            at &= ~3ull;
        memcpy(&found, block + at, sizeof found);
        if (found < 100000 || pl_rng_below(rng, 20) == 0)
            break;
    }
    uint32_t number;
    memcpy(&number, block + at, sizeof number);
    switch (pl_rng_below(rng, 4))
    {
        case 0:
            number ^= 1u << pl_rng_below(rng, 32);
            break;
        case 1:
            number += pl_rng_below(rng, 2) ? 1 : UINT32_MAX;
            break;
        case 2:
            number = numbers[pl_rng_below(rng, sizeof numbers / sizeof numbers[0])];
            break;
        default:
            number = pl_rng_next(rng) >> pl_rng_below(rng, 32);
    }
    memcpy(block + at, &number, sizeof number);
}

static void check_changes(uint32_t kind, uint32_t rounds)
{
    uint64_t bytes = 0;
    pliant_scene scene = run_world(kind);
    if (!scene)
        return;
    unsigned char* good = world_save(scene, &bytes);
    unsigned char* bad = malloc(bytes);
    uint64_t before = world_state(scene);
    uint32_t taken = 0;
    pl_rng rng = pl_rng_seed(kind + 10);
    for (uint32_t i = 0; i < rounds; ++i)
    {
        memcpy(bad, good, bytes);
        for (uint32_t n = 1 + pl_rng_below(&rng, 3); n > 0; --n)
            change(bad, bytes, &rng);
        seal_block(bad, bytes);
        pliant_status status = pliant_scene_restore(scene, bad, bytes);
        CHECK_MSG(status == PLIANT_OK || status == PLIANT_ERROR_FORMAT ||
                      status == PLIANT_ERROR_MESH,
                  "%s, change %u gave %s: %s", world_name(kind), i, pliant_status_name(status),
                  pliant_last_error());
        if (status != PLIANT_OK)
        {
            CHECK_MSG(world_state(scene) == before, "%s, change %u changed the scene",
                      world_name(kind), i);
            continue;
        }
        ++taken;
        call_everything_scene(scene);
        CHECK_OK(pliant_scene_restore(scene, good, bytes));
    }
    CHECK_MSG(taken > 0 && taken < rounds, "%s: %u of %u changes were taken: nothing was tested",
              world_name(kind), taken, rounds);
    CHECK(world_state(scene) == before);
    free(good);
    free(bad);
    CHECK_OK(pliant_scene_destroy(scene));
}

TEST(a_block_that_was_changed_and_sealed_does_no_harm)
{
    uint32_t rounds = test_quick() ? 60 : 200;
    for (uint32_t kind = 0; kind < WORLD_KINDS; ++kind)
        check_changes(kind, rounds);
}

/* ------------------------------------------------------------------ one wrong number */

static void nan_kernel(pl_body* body)
{
    body->chunks[0].entry_kernel[0] = NAN;
}

static void no_kernels(pl_body* body)
{
    pl_chunk* chunk = &body->chunks[0];
    for (uint32_t e = chunk->block_begin[0]; e < chunk->block_begin[1]; ++e)
        chunk->entry_kernel[8 * (size_t)e] = 0;
}

static void kernel_of_a_free_slot(pl_body* body)
{
    pl_chunk* chunk = &body->chunks[0];
    uint32_t last = chunk->block_count - 1, lane = 0;
    while (body->particles.id[chunk->slot_begin + 8 * last + lane] != PL_NO_PARTICLE)
        ++lane;
    chunk->entry_kernel[8 * (size_t)chunk->block_begin[last] + lane] = 1;
    ++chunk->member_count;
    ++body->level_memberships[0];
}

static void two_entries_of_a_cluster(pl_body* body)
{
    body->chunks[0].entry_row[1] = body->chunks[0].entry_row[0];
}

static void two_rows_of_a_cluster(pl_body* body)
{
    body->chunks[0].rows[1] = body->chunks[0].rows[0];
}

static void dead_cluster_with_members(pl_body* body)
{
    body->clusters.fade[0] = 0;
}

static void other_norm(pl_body* body)
{
    body->particles.norm[body->particles.slot_of[0]] *= 2;
}

static void nan_scatter(pl_body* body)
{
    body->clusters.arr[0][0] = NAN;
}

static void other_mass(pl_body* body)
{
    body->particles.mass[body->particles.slot_of[0]] *= 2;
}

static void no_quanta(pl_body* body)
{
    body->particles.quanta[body->particles.slot_of[0]] = 0;
    body->particles.mass[body->particles.slot_of[0]] = 0;
}

static void copy_among_the_first(pl_body* body)
{
    body->particles.parent[3] = 1;
}

static void spacing_of_a_galaxy(pl_body* body)
{
    body->spacing = 1e300;
}

/* Invariants that edits of memberships, contacts and fracture rely on without checks. */
TEST(a_block_with_one_wrong_number_is_refused)
{
    static void (*const wrong[])(pl_body*) = {
        nan_kernel,  no_kernels, kernel_of_a_free_slot, two_entries_of_a_cluster,
        other_mass,  no_quanta,  two_rows_of_a_cluster, dead_cluster_with_members,
        nan_scatter, other_norm, copy_among_the_first,  spacing_of_a_galaxy};
    pliant_scene good = run_world(WORLD_PLAIN);
    uint64_t before = world_state(good);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
    {
        uint64_t bytes = 0;
        pliant_scene scene = run_world(WORLD_PLAIN);
        wrong[i](pl_handle_get(world_body(scene, 0), PL_HANDLE_BODY, NULL));
        void* block = world_save(scene, &bytes);
        check_refused(good, block, bytes, before, "wrong number", i);
        free(block);
        CHECK_OK(pliant_scene_destroy(scene));
    }
    CHECK_OK(pliant_scene_destroy(good));
}
