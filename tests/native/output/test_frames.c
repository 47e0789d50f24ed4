// SPDX-License-Identifier: GPL-3.0-or-later
/* The frame store without faults; test_frames_damage.c has the faults. */
#include "native/support/store_scene.h"
#include "native/support/test.h"

#include <base/core.h>
#include <base/platform.h>
#include <output/store/frames_file.h>
#include <output/store/frames_layout.h>
#include <stdlib.h>
#include <string.h>

static uint32_t best_compression(void)
{
    return pl_store_check_compression(PLIANT_COMPRESS_ZSTD) == PLIANT_OK ? PLIANT_COMPRESS_ZSTD
                                                                         : PLIANT_COMPRESS_NONE;
}

static uint64_t bytes_of_folder(const char* path)
{
    folder_files files;
    uint64_t bytes = 0;
    folder_read(path, &files);
    for (int i = 0; i < files.count; ++i)
        bytes += files.bytes[i];
    folder_free(&files);
    return bytes;
}

static void check_frames(pl_frame_store* store, int32_t from, int32_t to)
{
    for (int32_t frame = from; frame <= to; ++frame)
    {
        pl_frame_body bodies[STORE_BODIES];
        store_bodies_make(bodies, frame, 1);
        for (uint32_t i = 0; i < STORE_BODIES; ++i)
        {
            const pl_frame_body* got = NULL;
            CHECK_OK(pl_frames_read(store, frame, i, &got));
            CHECK_MSG(got && store_bodies_same(got, &bodies[i]), "frame %d, body %u", frame, i);
        }
        store_bodies_free(bodies);
    }
}

TEST(store_gives_back_every_frame)
{
    for (uint32_t compression = 0; compression <= best_compression(); ++compression)
    {
        uint64_t held = pl_bytes_in_use();
        const char* path = test_folder();
        pliant_store_info info = {.size = sizeof info};
        pl_frame_store* store = store_open(path, PLIANT_STORE_CREATE, compression, 4);
        REQUIRE(store);
        CHECK_OK(pl_frames_info(store, &info));
        CHECK(info.first_frame > info.last_frame && info.last_checkpoint < info.first_frame);
        CHECK(pl_frames_body_count(store) == 0);
        CHECK_OK(store_bake(store, -2, 12));
        check_frames(store, -2, 12);
        CHECK_OK(pl_frames_verify(store));
        pl_frames_close(store);
        store = store_open(path, PLIANT_STORE_READ, 9, 0);
        REQUIRE(store);
        check_frames(store, -2, 12);
        check_frames(store, 3, 8); /* back over the change of layout */
        CHECK_OK(pl_frames_verify(store));
        CHECK_OK(pl_frames_info(store, &info));
        CHECK(info.first_frame == -2 && info.last_frame == 12 && info.last_checkpoint == 10);
        CHECK(info.bodies == STORE_BODIES && info.compression == compression);
        CHECK_MSG(info.bytes == bytes_of_folder(path), "%llu bytes, %llu on disk",
                  (unsigned long long)info.bytes, (unsigned long long)bytes_of_folder(path));
        CHECK(file_exists(path, "layout-000001.pll") && file_exists(path, "layout-000004.pll") &&
              !file_exists(path, "layout-000005.pll") && file_exists(path, "check--00002.plc") &&
              file_exists(path, "frame-000012.plf"));
        pl_frames_close(store);
        CHECK(pl_bytes_in_use() == held);
    }
}

TEST(store_refuses_frames_and_bodies_that_are_not_there)
{
    const pl_frame_body* got;
    const char* path = test_folder();
    pl_frame_store* store = store_open(path, PLIANT_STORE_CREATE, 0, 10);
    REQUIRE(store);
    CHECK(pl_frames_read(store, 1, 0, &got) == PLIANT_ERROR_ARGUMENT);
    CHECK_OK(store_bake(store, 1, 2));
    CHECK(pl_frames_read(store, 0, 0, &got) == PLIANT_ERROR_ARGUMENT);
    CHECK(pl_frames_read(store, 3, 0, &got) == PLIANT_ERROR_ARGUMENT);
    CHECK_MSG(strstr(pl_last_error(), "frames 1 to 2"), "%s", pl_last_error());
    CHECK(pl_frames_read(store, INT32_MIN, 0, &got) == PLIANT_ERROR_ARGUMENT);
    CHECK(pl_frames_read(store, 1, STORE_BODIES, &got) == PLIANT_ERROR_ARGUMENT);
    CHECK(got == NULL);
    pl_frames_close(store);
}

static pl_status write_one(pl_frame_store* store, int32_t frame, bool layout_changed, uint64_t hash)
{
    pl_frame_body bodies[STORE_BODIES];
    store_bodies_make(bodies, frame, 1);
    pl_status status = pl_frames_write(store, frame, STORE_BODIES, bodies, layout_changed, hash);
    store_bodies_free(bodies);
    return status;
}

TEST(store_takes_frames_one_after_the_other)
{
    pl_frame_store* store = store_open(test_folder(), PLIANT_STORE_CREATE, 0, 10);
    REQUIRE(store);
    CHECK(write_one(store, INT32_MAX, true, 1) == PLIANT_ERROR_ARGUMENT);
    CHECK(write_one(store, INT32_MIN, true, 1) == PLIANT_ERROR_ARGUMENT);
    CHECK_OK(write_one(store, 1, false, store_hash(1)));
    CHECK(write_one(store, 3, false, store_hash(3)) == PLIANT_ERROR_STATE);
    CHECK_MSG(strstr(pl_last_error(), "frame 2"), "%s", pl_last_error());
    CHECK(write_one(store, 0, false, store_hash(0)) == PLIANT_ERROR_STATE);
    /* other counts than the layout's */
    CHECK_OK(store_bake(store, 2, STORE_LAYOUT_CHANGE - 1));
    CHECK(write_one(store, STORE_LAYOUT_CHANGE, false, 1) == PLIANT_ERROR_ARGUMENT);
    CHECK_OK(write_one(store, STORE_LAYOUT_CHANGE, true, 1));
    CHECK_OK(pl_frames_verify(store));
    pl_frames_close(store);
}

TEST(store_refuses_bodies_that_contradict_themselves)
{
    const char* path = test_folder();
    pl_frame_store* store = store_open(path, PLIANT_STORE_CREATE, 0, 10);
    REQUIRE(store);
    for (int fault = 0; fault < 6; ++fault)
    {
        pl_frame_body bodies[STORE_BODIES], *b = &bodies[1];
        store_bodies_make(bodies, 1, 1);
        float* v = b->v;
        if (fault == 0)
            b->cluster[5] = b->clusters;
        if (fault == 1)
            b->begin[2] = 0;
        if (fault == 2)
            b->nearest[0] = 77;
        if (fault == 3)
            b->memberships -= 1;
        if (fault == 4)
            b->begin[0] = 1;
        if (fault == 5)
            b->v = NULL;
        CHECK_MSG(pl_frames_write(store, 1, STORE_BODIES, bodies, true, 1) == PLIANT_ERROR_ARGUMENT,
                  "fault %d", fault);
        CHECK_MSG(strstr(pl_last_error(), "body 1"), "%s", pl_last_error());
        b->v = v;
        store_bodies_free(bodies);
        folder_files files;
        folder_read(path, &files);
        CHECK(files.count == 2); /* header and journal */
        folder_free(&files);
    }
    pl_frames_close(store);
}

TEST(store_of_empty_bodies_and_of_none)
{
    const pl_frame_body* got;
    uint32_t begin = 0;
    pl_frame_body body = {.begin = &begin};
    pl_frame_store* store = store_open(test_folder(), PLIANT_STORE_CREATE, best_compression(), 10);
    REQUIRE(store);
    CHECK_OK(pl_frames_write(store, 1, 1, &body, true, 1));
    CHECK_OK(pl_frames_read(store, 1, 0, &got));
    CHECK(got && got->particles == 0);
    CHECK_OK(pl_frames_write(store, 2, 0, NULL, true, 1));
    CHECK(pl_frames_read(store, 2, 0, &got) == PLIANT_ERROR_ARGUMENT);
    CHECK_OK(pl_frames_verify(store));
    pl_frames_close(store);
}

TEST(store_reads_checkpoints_at_or_before_a_frame)
{
    pl_frame_store* store = store_open(test_folder(), PLIANT_STORE_CREATE, best_compression(), 5);
    static const int32_t wanted[][2] = {{1, 1}, {5, 1}, {6, 6}, {10, 6}, {13, 11}, {9999, 11}};
    void* block;
    uint64_t bytes;
    int32_t frame = 0;
    REQUIRE(store);
    CHECK(pl_frames_read_checkpoint(store, 9, &frame, &block, &bytes) == PLIANT_ERROR_STATE);
    CHECK(pl_frames_write_checkpoint(store, 1, "", 0) == PLIANT_ERROR_STATE);
    CHECK_OK(store_bake(store, 1, 13));
    for (size_t i = 0; i < PL_COUNTOF(wanted); ++i)
    {
        int32_t stored = 0;
        REQUIRE_OK(pl_frames_read_checkpoint(store, wanted[i][0], &frame, &block, &bytes));
        memcpy(&stored, block, sizeof stored);
        CHECK(frame == wanted[i][1] && stored == frame && bytes == 100);
        pl_free(block);
    }
    CHECK(pl_frames_read_checkpoint(store, 0, &frame, &block, &bytes) == PLIANT_ERROR_STATE);
    pl_frames_close(store);
}

TEST(store_resumes_and_compares_with_what_is_there)
{
    char path[512], whole[512];
    folder_files before, after;
    snprintf(path, sizeof path, "%s", test_folder());
    snprintf(whole, sizeof whole, "%s", test_folder());
    pl_frame_store* store = store_open(path, PLIANT_STORE_CREATE, best_compression(), 5);
    REQUIRE(store);
    CHECK_OK(store_bake(store, 1, 9));
    pl_frames_close(store);
    folder_read(path, &before);
    store = store_open(path, PLIANT_STORE_RESUME, 0, 99);
    REQUIRE(store);
    CHECK_OK(store_bake(store, 6, 9)); /* the same again: nothing happens */
    CHECK(write_one(store, 8, false, store_hash(8) + 1) == PLIANT_ERROR_STATE);
    CHECK_MSG(strstr(pl_last_error(), "frame 8"), "%s", pl_last_error());
    folder_read(path, &after);
    CHECK(folder_same(&before, &after));
    folder_free(&before);
    folder_free(&after);
    /* After a resume "layout changed" may be set without a change. */
    CHECK_OK(write_one(store, 10, true, store_hash(10)));
    CHECK_OK(store_bake(store, 10, 12));
    check_frames(store, 1, 12);
    pl_frames_close(store);
    /* A bake that was not interrupted has the same files, bit for bit. */
    store = store_open(whole, PLIANT_STORE_CREATE, best_compression(), 5);
    REQUIRE(store);
    CHECK_OK(store_bake(store, 1, 12));
    pl_frames_close(store);
    folder_read(path, &before);
    folder_read(whole, &after);
    CHECK(folder_same(&before, &after));
    folder_free(&before);
    folder_free(&after);
}

TEST(store_open_for_reading_does_not_change)
{
    const char* path = test_folder();
    folder_files before, after;
    pl_frame_store* store = store_open(path, PLIANT_STORE_CREATE, 0, 5);
    REQUIRE(store);
    CHECK_OK(store_bake(store, 1, 3));
    pl_frames_close(store);
    CHECK(file_write(path, "frame-000004.plf.tmp", "x", 1));
    folder_read(path, &before);
    store = store_open(path, PLIANT_STORE_READ, 0, 0);
    REQUIRE(store);
    CHECK(write_one(store, 4, false, store_hash(4)) == PLIANT_ERROR_STATE);
    CHECK(pl_frames_write_checkpoint(store, 3, "x", 1) == PLIANT_ERROR_STATE);
    CHECK(pl_frames_truncate(store, 1) == PLIANT_ERROR_STATE);
    CHECK(!pl_frames_checkpoint_due(store, 6));
    check_frames(store, 1, 3);
    pl_frames_close(store);
    folder_read(path, &after);
    CHECK(folder_same(&before, &after));
    folder_free(&before);
    folder_free(&after);
}

TEST(store_truncates_and_goes_on_differently)
{
    const char* path = test_folder();
    folder_files files;
    pliant_store_info info = {.size = sizeof info};
    pl_frame_store* store = store_open(path, PLIANT_STORE_CREATE, 0, 3);
    REQUIRE(store);
    CHECK_OK(store_bake(store, 1, 10));
    CHECK_OK(pl_frames_truncate(store, 99)); /* nothing to forget */
    CHECK_OK(pl_frames_truncate(store, 5));
    CHECK_OK(pl_frames_info(store, &info));
    CHECK(info.last_frame == 5 && info.last_checkpoint == 4);
    CHECK(!file_exists(path, "frame-000006.plf") && !file_exists(path, "check-000007.plc") &&
          !file_exists(path, "layout-000002.pll") && file_exists(path, "frame-000005.plf"));
    CHECK_OK(write_one(store, 6, false, 4711)); /* another history */
    CHECK(write_one(store, 6, false, store_hash(6)) == PLIANT_ERROR_STATE);
    CHECK_OK(pl_frames_truncate(store, 5));
    CHECK_OK(store_bake(store, 6, 10));
    check_frames(store, 1, 10);
    CHECK_OK(pl_frames_truncate(store, 0));
    CHECK_OK(pl_frames_info(store, &info));
    CHECK(info.first_frame > info.last_frame);
    folder_read(path, &files);
    CHECK(files.count == 2);
    folder_free(&files);
    CHECK_OK(store_bake(store, 50, 52));
    pl_frames_close(store);
    store = store_open(path, PLIANT_STORE_READ, 0, 0);
    REQUIRE(store);
    check_frames(store, 50, 52);
    pl_frames_close(store);
}

/* Layouts are deltas between a few whole ones, and can be read in any order. */
TEST(store_reads_through_long_chains_of_changes)
{
    enum
    {
        LAST = STORE_BREAKS + 2 * STORE_MOST_SPLITS
    };
    char path[512];
    uint64_t held = pl_bytes_in_use();
    snprintf(path, sizeof path, "%s", test_folder());
    pl_frame_store* store = store_open(path, PLIANT_STORE_CREATE, 0, 0);
    REQUIRE(store);
    CHECK_OK(store_bake(store, 1, 40));
    pl_frames_close(store);
    store = store_open(path, PLIANT_STORE_RESUME, 0, 0); /* in the middle of a chain */
    REQUIRE(store);
    CHECK_OK(store_bake(store, 41, LAST));
    pl_frames_close(store);
    store = store_open(path, PLIANT_STORE_READ, 0, 0);
    REQUIRE(store);
    for (int32_t frame = LAST; frame > 0; frame -= 7) /* backward and at random */
        check_frames(store, frame, frame);
    for (int32_t i = 0; i < 30; ++i)
        check_frames(store, 1 + 53 * i % LAST, 1 + 53 * i % LAST);
    CHECK_OK(pl_frames_verify(store));
    folder_files files;
    folder_read(path, &files);
    uint32_t changes = 0, whole = 0, run = 0, longest = 0;
    for (int i = 0; i < files.count; ++i)
    {
        if (strncmp(files.names[i], "layout-", 7) != 0)
            continue;
        bool change = pl_layout_is_delta(files.data[i] + 56, files.bytes[i] - 56);
        *(change ? &changes : &whole) += 1;
        run = change ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    CHECK_MSG(whole >= 3 && changes > 10 * whole / 2 && longest <= 24,
              "%u whole, %u changes, %u in a row", whole, changes, longest);
    folder_free(&files);
    /* an unborn copy is where its ancestor is */
    const pl_frame_body* final;
    CHECK_OK(pl_frames_final(store, 1, &final));
    CHECK(final->particles == 8 + STORE_MOST_SPLITS && final->copies == STORE_MOST_SPLITS);
    for (uint32_t i = 0; i < final->particles; ++i)
    {
        uint32_t now = i;
        while (now >= 20)
            now = final->copy_parent[now - 8];
        CHECK(pl_frame_ancestor(final, i, 20) == now);
    }
    pl_frames_close(store);
    CHECK(pl_bytes_in_use() == held);
}

/* Layout numbers are reused after truncating: the read cache must be dropped. */
TEST(store_forgets_what_it_kept_in_memory_when_truncated)
{
    const pl_frame_body* got = NULL;
    pl_frame_body bodies[STORE_BODIES];
    pl_frame_store* store = store_open(test_folder(), PLIANT_STORE_CREATE, 0, 3);
    REQUIRE(store);
    CHECK_OK(store_bake(store, 1, STORE_LAYOUT_CHANGE));
    check_frames(store, STORE_LAYOUT_CHANGE, STORE_LAYOUT_CHANGE);
    CHECK_OK(pl_frames_truncate(store, STORE_LAYOUT_CHANGE - 1));
    store_bodies_make(bodies, STORE_LAYOUT_CHANGE, 1);
    bodies[1].weight[4] = .125f;
    bodies[1].x[2] = 77;
    CHECK_OK(pl_frames_write(store, STORE_LAYOUT_CHANGE, STORE_BODIES, bodies, true, 5));
    CHECK_OK(pl_frames_read(store, STORE_LAYOUT_CHANGE, 1, &got));
    CHECK(got && store_bodies_same(got, &bodies[1]));
    store_bodies_free(bodies);
    pl_frames_close(store);
}

TEST(store_creation_clears_only_its_own_files)
{
    char path[512];
    snprintf(path, sizeof path, "%s", test_folder());
    static const char* foreign[] = {"notes.txt",        "frame-1.plf",     "frame-000001.png",
                                    "frame-00000a.plf", "layout-.pll",     "check-000001.plc.bak",
                                    "header.plh.old",   "frame-+00001.plf"};
    pl_frame_store* store = store_open(path, PLIANT_STORE_CREATE, 0, 3);
    REQUIRE(store);
    CHECK_OK(store_bake(store, 1, 10));
    pl_frames_close(store);
    for (size_t i = 0; i < PL_COUNTOF(foreign); ++i)
        CHECK(file_write(path, foreign[i], "mine", 4));
    CHECK(file_write(path, "check-000099.plc.tmp", "torn", 4));
    store = store_open(path, PLIANT_STORE_CREATE, 0, 3);
    REQUIRE(store);
    pl_frames_close(store);
    for (size_t i = 0; i < PL_COUNTOF(foreign); ++i)
        CHECK_MSG(file_exists(path, foreign[i]), "%s is gone", foreign[i]);
    folder_files files;
    folder_read(path, &files);
    CHECK(files.count == (int)PL_COUNTOF(foreign) + 2);
    folder_free(&files);
}

TEST(store_creation_refuses_other_folders)
{
    char path[512];
    pl_frame_store* store = NULL;
    pliant_store_desc desc = {.size = sizeof desc, .mode = PLIANT_STORE_CREATE, .path = path};
    snprintf(path, sizeof path, "%s", test_folder());
    CHECK(pl_directory_make(path));
    CHECK(file_write(path, "thesis.odt", "years of work", 13));
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_STATE && !store);
    CHECK_MSG(strstr(pl_last_error(), "thesis.odt"), "%s", pl_last_error());
    CHECK(file_exists(path, "thesis.odt") && !file_exists(path, "header.plh"));
    snprintf(path, sizeof path, "%s", test_folder());
    CHECK(pl_directory_make(path));
    CHECK(file_write(path, "header.plh", "something else entirely", 23));
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_STATE && !store);
    /* Leftovers of a killed creation do not matter. */
    snprintf(path, sizeof path, "%s/with/parents", test_folder());
    CHECK(pl_directory_make(path));
    CHECK(file_write(path, "journal.plj.tmp", "PLI", 3));
    CHECK_OK(pl_frames_open(&desc, &store));
    pl_frames_close(store);
}

TEST(store_opening_checks_its_arguments)
{
    char path[2000];
    pl_frame_store* store = NULL;
    pliant_store_desc desc = {.size = sizeof desc, .mode = PLIANT_STORE_CREATE};
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_ARGUMENT);
    desc.path = "";
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_ARGUMENT);
    memset(path, 'a', sizeof path);
    path[sizeof path - 1] = 0;
    desc.path = path;
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_ARGUMENT);
    snprintf(path, sizeof path, "%s", test_folder());
    desc.mode = 3;
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_ARGUMENT);
    desc.mode = PLIANT_STORE_CREATE;
    desc.compression = 2;
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_ARGUMENT);
    desc.compression = PLIANT_COMPRESS_ZSTD;
    if (best_compression() == PLIANT_COMPRESS_NONE)
        CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_UNSUPPORTED);
    desc.mode = PLIANT_STORE_READ;
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_FILE);
    CHECK_MSG(strstr(pl_last_error(), path), "%s", pl_last_error());
    desc.mode = PLIANT_STORE_RESUME;
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_FILE);
    CHECK(!store);
}

TEST(store_compresses_still_bodies)
{
    pliant_store_info plain = {.size = sizeof plain}, packed = {.size = sizeof packed};
    if (best_compression() == PLIANT_COMPRESS_NONE)
    {
        test_skip("this build has no zstd");
        return;
    }
    for (uint32_t compression = 0; compression < 2; ++compression)
    {
        pl_frame_body bodies[STORE_BODIES];
        pl_frame_store* store = store_open(test_folder(), PLIANT_STORE_CREATE, compression, 10);
        REQUIRE(store);
        store_bodies_make(bodies, 1, 300);
        for (int i = 0; i < STORE_BODIES; ++i)
            memset(bodies[i].v, 0, 12 * bodies[i].particles);
        CHECK_OK(pl_frames_write(store, 1, STORE_BODIES, bodies, true, 1));
        CHECK_OK(pl_frames_info(store, compression ? &packed : &plain));
        store_bodies_free(bodies);
        pl_frames_close(store);
    }
    CHECK_MSG(packed.bytes < .75 * plain.bytes, "%d bytes of %d", (int)packed.bytes,
              (int)plain.bytes);
}

TEST(particle_deformation_blends_cluster_gradients)
{
    pl_frame_body bodies[STORE_BODIES], *b = &bodies[0];
    float f[9 * 5], rate[9 * 5];
    store_bodies_make(bodies, 1, 1);
    REQUIRE(b->particles == 5);
    pl_frame_deformation(b, f, rate);
    for (uint32_t i = 0; i < 5; ++i)
        for (uint32_t k = 0; k < 9; ++k)
        {
            double want = 0, want_rate = 0;
            for (uint32_t m = b->begin[i]; m < b->begin[i + 1]; ++m)
            {
                want += b->weight[m] * b->gradient[9 * b->cluster[m] + k];
                want_rate += b->weight[m] * b->rate[9 * b->cluster[m] + k];
            }
            CHECK_NEAR(f[9 * i + k], want, 1e-6);
            CHECK_NEAR(rate[9 * i + k], want_rate, 1e-6);
        }
    pl_frame_deformation(b, NULL, NULL);
    store_bodies_free(bodies);
}
