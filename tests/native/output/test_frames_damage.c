// SPDX-License-Identifier: GPL-3.0-or-later
/* The frame store with damaged files, full disks, lack of memory and kills. */
#define _GNU_SOURCE 1
#include "native/support/store_scene.h"
#include "native/support/test.h"

#include <base/core.h>
#include <base/hash.h>
#include <base/platform.h>
#include <base/rng.h>
#include <output/store/frames.h>
#include <output/store/frames_body.h>
#include <output/store/frames_file.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum
{
    HEADER_BYTES = 56,
    CHECKSUM_AT = 48,
    JOURNAL_HEADER = 24,
    JOURNAL_RECORD = 80
};

static uint32_t best_compression(void)
{
    return pl_store_check_compression(PLIANT_COMPRESS_ZSTD) == PLIANT_OK ? PLIANT_COMPRESS_ZSTD
                                                                         : PLIANT_COMPRESS_NONE;
}

/* A store of frames 1 to "last", closed again. */
static void make_store(char path[512], uint32_t compression, int32_t last, folder_files* files)
{
    snprintf(path, 512, "%s", test_folder());
    pl_frame_store* store = store_open(path, PLIANT_STORE_CREATE, compression, 4);
    CHECK_OK(store_bake(store, 1, last));
    pl_frames_close(store);
    folder_read(path, files);
}

/* Opens and verifies; how many frames it then has in *frames. */
static pl_status look_through(const char* path, int32_t* frames)
{
    pl_frame_store* store;
    pliant_store_info info = {.size = sizeof info};
    pliant_store_desc desc = {.size = sizeof desc, .mode = PLIANT_STORE_READ, .path = path};
    *frames = -1;
    pl_clear_error();
    PL_TRY(pl_frames_open(&desc, &store));
    pl_status status = pl_frames_verify(store);
    if (status == PLIANT_OK)
        status = pl_frames_info(store, &info);
    *frames = info.last_frame - info.first_frame + 1;
    pl_frames_close(store);
    return status;
}

static void check_is_refused(const char* path, const char* name, const char* how, uint64_t where)
{
    int32_t frames;
    pl_status status = look_through(path, &frames);
    CHECK_MSG(status == PLIANT_ERROR_FORMAT || status == PLIANT_ERROR_FILE,
              "%s %s at %llu gave %d: %s", name, how, (unsigned long long)where, status,
              pl_last_error());
    CHECK_MSG(strstr(pl_last_error(), strcmp(name, "header.plh") ? name : path),
              "%s %s at %llu: \"%s\" does not name it", name, how, (unsigned long long)where,
              pl_last_error());
}

/* ------------------------------------------------------------------ damaged files */

TEST(store_notices_every_flipped_bit_and_every_cut)
{
    for (uint32_t compression = 0; compression <= best_compression(); ++compression)
    {
        char path[512];
        folder_files files;
        make_store(path, compression, 2, &files);
        for (int i = 0; i < files.count; ++i)
        {
            unsigned char* data = files.data[i];
            if (strcmp(files.names[i], "journal.plj") == 0)
                continue;
            for (uint64_t byte = 0; byte < files.bytes[i]; ++byte)
            {
                unsigned char bit = (unsigned char)(1u << byte % 8);
                data[byte] ^= bit;
                CHECK(file_write(path, files.names[i], data, files.bytes[i]));
                check_is_refused(path, files.names[i], "flipped", byte);
                data[byte] ^= bit;
                if (byte > 80 && byte % 7)
                    continue;
                CHECK(file_write(path, files.names[i], data, byte));
                check_is_refused(path, files.names[i], "cut", byte);
            }
            char file_path[600];
            snprintf(file_path, sizeof file_path, "%s/%s", path, files.names[i]);
            CHECK(pl_file_remove(file_path));
            check_is_refused(path, files.names[i], "removed", 0);
            CHECK(file_write(path, files.names[i], data, files.bytes[i]));
        }
        int32_t frames;
        CHECK_OK(look_through(path, &frames));
        CHECK(frames == 2);
        folder_free(&files);
    }
}

static int find_file(const folder_files* files, const char* name)
{
    for (int i = 0; i < files->count; ++i)
        if (strcmp(files->names[i], name) == 0)
            return i;
    return 0;
}

/* A journal cut anywhere is a shorter journal; any other fault is reported. */
TEST(journal_drops_a_torn_tail_and_notices_damage)
{
    char path[512];
    folder_files files;
    make_store(path, 0, 6, &files); /* records: 1, check 1, 2, 3, 4, 5, check 5, 6 */
    static const int32_t frames_after[] = {0, 1, 1, 2, 3, 4, 5, 5, 6};
    int j = find_file(&files, "journal.plj");
    unsigned char* data = files.data[j];
    uint64_t bytes = files.bytes[j];
    CHECK(bytes == JOURNAL_HEADER + 8 * JOURNAL_RECORD);
    for (uint64_t cut = 0; cut < bytes; ++cut)
    {
        int32_t frames = -1;
        CHECK(file_write(path, "journal.plj", data, cut));
        if (cut < JOURNAL_HEADER)
            check_is_refused(path, "journal.plj", "cut", cut);
        else
        {
            CHECK_OK(look_through(path, &frames));
            CHECK_MSG(frames == frames_after[(cut - JOURNAL_HEADER) / JOURNAL_RECORD],
                      "%d frames at %d", frames, (int)cut);
        }
    }
    for (uint64_t byte = 0; byte < bytes; ++byte)
    {
        int32_t frames = -1;
        data[byte] ^= 16;
        CHECK(file_write(path, "journal.plj", data, bytes));
        if (byte < bytes - JOURNAL_RECORD)
            check_is_refused(path, "journal.plj", "flipped", byte);
        else /* the last record looks like a torn one */
        {
            CHECK_OK(look_through(path, &frames));
            CHECK(frames == 5);
        }
        data[byte] ^= 16;
    }
    unsigned char* longer = calloc(1, bytes + 1000);
    memcpy(longer, data, bytes);
    CHECK(file_write(path, "journal.plj", longer, bytes + 1000));
    check_is_refused(path, "journal.plj", "lengthened", bytes);
    free(longer);
    folder_free(&files);
}

TEST(store_notices_files_in_the_place_of_others)
{
    char path[512];
    folder_files files;
    make_store(path, 0, 3, &files);
    int two = find_file(&files, "frame-000002.plf");
    CHECK(file_write(path, "frame-000003.plf", files.data[two], files.bytes[two]));
    check_is_refused(path, "frame-000003.plf", "exchanged", 0);
    folder_free(&files);
    /* The right number, but from another bake. */
    char other[512];
    make_store(other, 0, 3, &files);
    pl_frame_store* store = store_open(other, PLIANT_STORE_RESUME, 0, 0);
    pl_frame_body bodies[STORE_BODIES];
    CHECK_OK(pl_frames_truncate(store, 2));
    store_bodies_make(bodies, 3, 1);
    bodies[0].x[0] += 1;
    CHECK_OK(pl_frames_write(store, 3, STORE_BODIES, bodies, false, 99));
    store_bodies_free(bodies);
    pl_frames_close(store);
    folder_free(&files);
    folder_read(other, &files);
    int three = find_file(&files, "frame-000003.plf");
    CHECK(file_write(path, "frame-000003.plf", files.data[three], files.bytes[three]));
    check_is_refused(path, "frame-000003.plf", "foreign", 0);
    folder_free(&files);
}

static void repair_checksum(unsigned char* data, uint64_t bytes)
{
    uint64_t hash = pl_hash(pl_hash(PL_HASH_START, data, CHECKSUM_AT), data + HEADER_BYTES,
                            bytes - HEADER_BYTES);
    memcpy(data + CHECKSUM_AT, &hash, 8);
}

/* Headers with a valid checksum and false sizes are rejected before any allocation. */
TEST(store_believes_no_absurd_sizes)
{
    static const uint64_t absurd[] = {1ull << 40, UINT64_MAX, UINT64_MAX / 2, 1ull << 33};
    for (uint32_t compression = 0; compression <= best_compression(); ++compression)
    {
        char path[512];
        folder_files files;
        make_store(path, compression, 1, &files);
        int i = find_file(&files, "layout-000001.pll");
        unsigned char* data = files.data[i];
        for (uint64_t field = 24; field <= 32; field += 8) /* bytes, stored bytes */
            for (size_t k = 0; k < PL_COUNTOF(absurd); ++k)
            {
                void* block;
                uint64_t bytes, right;
                memcpy(&right, data + field, 8);
                memcpy(data + field, &absurd[k], 8);
                repair_checksum(data, files.bytes[i]);
                CHECK(file_write(path, files.names[i], data, files.bytes[i]));
                pl_fail_allocations_after(0);
                pl_status status =
                    pl_store_read_file(path, PL_STORE_LAYOUT, 1, NULL, &block, &bytes);
                pl_fail_allocations_after(-1);
                CHECK_MSG(status == PLIANT_ERROR_FORMAT, "%d: %s", status, pl_last_error());
                memcpy(data + field, &right, 8);
            }
        folder_free(&files);
    }
}

TEST(store_says_which_version_a_file_is_of)
{
    char path[512];
    folder_files files;
    int32_t frames;
    make_store(path, 0, 1, &files);
    int i = find_file(&files, "header.plh");
    files.data[i][8] = 42;
    repair_checksum(files.data[i], files.bytes[i]);
    CHECK(file_write(path, "header.plh", files.data[i], files.bytes[i]));
    CHECK(look_through(path, &frames) == PLIANT_ERROR_FORMAT);
    CHECK_MSG(strstr(pl_last_error(), "version 42"), "%s", pl_last_error());
    files.data[i][8] = PL_STORE_VERSION;
    memcpy(files.data[i] + 12, "\1\2\3\4", 4); /* as a big-endian machine would have it */
    repair_checksum(files.data[i], files.bytes[i]);
    CHECK(file_write(path, "header.plh", files.data[i], files.bytes[i]));
    CHECK(look_through(path, &frames) == PLIANT_ERROR_FORMAT);
    CHECK_MSG(strstr(pl_last_error(), "byte order"), "%s", pl_last_error());
    folder_free(&files);
}

/* Contents behind a valid checksum are validated: counts and indices. */
TEST(nonsense_in_layouts_and_frames_is_refused)
{
    pl_frame_body bodies[STORE_BODIES];
    void *layout, *frame;
    uint64_t layout_bytes, frame_bytes, held = pl_bytes_in_use();
    pl_rng rng = pl_rng_seed(1);
    int refused = 0;
    store_bodies_make(bodies, 1, 1);
    REQUIRE_OK(pl_layout_pack(STORE_BODIES, bodies, &layout, &layout_bytes));
    REQUIRE_OK(pl_frame_pack(STORE_BODIES, bodies, &frame, &frame_bytes));
    store_bodies_free(bodies);
    for (int round = 0; round < 20000; ++round)
    {
        uint64_t size = round % 3 ? layout_bytes : pl_rng_below(&rng, (uint32_t)layout_bytes);
        uint64_t frame_size = round % 5 ? frame_bytes : pl_rng_below(&rng, (uint32_t)frame_bytes);
        unsigned char* bad = pl_alloc(size, 1);
        void* bad_frame = pl_alloc(frame_size, 1);
        pl_frame_body* got = NULL;
        uint32_t count = 0, word = round % 2 ? pl_rng_next(&rng) : pl_rng_below(&rng, 8);
        memcpy(bad, layout, size);
        memcpy(bad_frame, frame, frame_size);
        if (size >= 8 && round % 4)
            memcpy(bad + pl_rng_below(&rng, (uint32_t)(size / 4)) * 4, &word, 4);
        if (frame_size >= 8 && round % 4 == 0)
            memcpy((char*)bad_frame +
                       pl_rng_below(&rng, (uint32_t)(PL_MIN(frame_size, 100) / 4)) * 4,
                   &word, 4);
        pl_status status = pl_layout_unpack("it", bad, size, &count, &got);
        if (status == PLIANT_OK)
            status = pl_frame_unpack("it", &bad_frame, frame_size, count, got);
        CHECK(status == PLIANT_OK || status == PLIANT_ERROR_FORMAT);
        refused += status != PLIANT_OK;
        for (uint32_t i = 0; status == PLIANT_OK && i < count; ++i)
        {
            float* f = PL_NEW(float, 9 * (size_t)got[i].particles);
            pl_frame_deformation(&got[i], f, NULL); /* no index leads outside */
            pl_free(f);
        }
        pl_layouts_free(count, got);
        pl_free(bad);
        pl_free(bad_frame);
    }
    CHECK(refused > 5000 && refused < 20000);
    pl_free(layout);
    pl_free(frame);
    CHECK(pl_bytes_in_use() == held);
}

/* The same for deltas. */
TEST(nonsense_in_changes_of_layouts_is_refused)
{
    pl_frame_body before[STORE_BODIES], after[STORE_BODIES];
    void* change = NULL;
    uint64_t bytes, held = pl_bytes_in_use();
    pl_rng rng = pl_rng_seed(2);
    int refused = 0;
    store_bodies_make(before, 12, 1);
    store_bodies_make(after, 17, 1);
    REQUIRE_OK(pl_layout_delta_pack(STORE_BODIES, before, after, &change, &bytes));
    REQUIRE(change);
    CHECK(pl_layout_is_delta(change, bytes));
    for (int round = 0; round < 20000; ++round)
    {
        uint64_t size = round % 3 ? bytes : pl_rng_below(&rng, (uint32_t)bytes);
        unsigned char* bad = pl_alloc(size, 1);
        pl_frame_body* got = NULL;
        uint32_t word = round % 2 ? pl_rng_next(&rng) : pl_rng_below(&rng, 8);
        memcpy(bad, change, size);
        if (size >= 8 && round)
            memcpy(bad + pl_rng_below(&rng, (uint32_t)(size / 4)) * 4, &word, 4);
        pl_status status = pl_layout_delta_unpack("it", bad, size, STORE_BODIES, before, &got);
        CHECK(status == PLIANT_OK || status == PLIANT_ERROR_FORMAT);
        refused += status != PLIANT_OK;
        for (uint32_t i = 0; status == PLIANT_OK && i < STORE_BODIES; ++i)
        {
            if (got[i].clusters > 1u << 20) /* no frame has as many: nothing is read of it */
                continue;
            float* strain = PL_NEW(float, got[i].particles);
            got[i].plastic = PL_NEW(float, got[i].clusters);
            pl_frame_blend(&got[i], got[i].plastic, strain);
            pl_free(got[i].plastic);
            for (uint32_t p = 0; p < got[i].particles; ++p)
                CHECK(pl_frame_ancestor(&got[i], p, 5) < 5);
            pl_free(strain);
        }
        pl_layouts_free(STORE_BODIES, got);
        pl_free(bad);
    }
    CHECK_MSG(refused > 5000 && refused < 20000, "%d", refused);
    pl_free(change);
    store_bodies_free(before);
    store_bodies_free(after);
    CHECK(pl_bytes_in_use() == held);
}

TEST(store_mends_what_a_resumed_bake_comes_by)
{
    char path[512];
    folder_files files, mended;
    pl_frame_store* store;
    void* block;
    uint64_t bytes;
    int32_t frame, frames;
    make_store(path, best_compression(), 10, &files); /* checkpoints 1, 5, 9 */
    int nine = find_file(&files, "check-000009.plc");
    CHECK(file_write(path, "check-000009.plc", files.data[nine], files.bytes[nine] - 1));
    CHECK(file_write(path, "frame-000007.plf", "", 0));
    store = store_open(path, PLIANT_STORE_RESUME, 0, 0);
    REQUIRE(store);
    REQUIRE_OK(pl_frames_read_checkpoint(store, 10, &frame, &block, &bytes));
    CHECK(frame == 5);
    pl_free(block);
    CHECK_OK(store_bake(store, 6, 12));
    CHECK_OK(pl_frames_verify(store));
    CHECK_OK(pl_frames_read_checkpoint(store, 12, &frame, &block, &bytes));
    CHECK(frame == 9);
    pl_free(block);
    pl_frames_close(store);
    CHECK_OK(look_through(path, &frames));
    CHECK(frames == 12);
    folder_read(path, &mended);
    for (int i = 0; i < files.count; ++i)
        if (strcmp(files.names[i], "journal.plj") != 0) /* it has noted checkpoint 9 twice */
        {
            int at = find_file(&mended, files.names[i]);
            CHECK(mended.bytes[at] == files.bytes[i] &&
                  memcmp(mended.data[at], files.data[i], files.bytes[i]) == 0);
        }
    folder_free(&files);
    folder_free(&mended);
}

TEST(store_without_a_whole_checkpoint_says_so)
{
    char path[512];
    folder_files files;
    void* block;
    uint64_t bytes;
    int32_t frame;
    make_store(path, 0, 2, &files);
    CHECK(file_write(path, "check-000001.plc", "x", 1));
    pl_frame_store* store = store_open(path, PLIANT_STORE_READ, 0, 0);
    REQUIRE(store);
    CHECK(pl_frames_read_checkpoint(store, 2, &frame, &block, &bytes) == PLIANT_ERROR_FORMAT);
    CHECK(strstr(pl_last_error(), "check-000001.plc"));
    CHECK(!block);
    pl_frames_close(store);
    folder_free(&files);
}

TEST(resuming_clears_what_a_kill_left)
{
    char path[512];
    folder_files files, after;
    make_store(path, 0, 3, &files);
    CHECK(file_write(path, "frame-000004.plf", "renamed but not in the journal", 30));
    CHECK(file_write(path, "layout-000002.pll", "the same", 8));
    CHECK(file_write(path, "check-000004.plc.tmp", "half", 4));
    int j = find_file(&files, "journal.plj");
    unsigned char torn[2000];
    memcpy(torn, files.data[j], files.bytes[j]);
    memset(torn + files.bytes[j], 7, 50);
    CHECK(file_write(path, "journal.plj", torn, files.bytes[j] + 50));
    pl_frames_close(store_open(path, PLIANT_STORE_RESUME, 0, 0));
    folder_read(path, &after);
    CHECK(folder_same(&files, &after));
    folder_free(&files);
    folder_free(&after);
}

/* ------------------------------------------------------------------ disks and memory that end */

/* Limits the size of files: writing more fails like a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, bytes == RLIM_INFINITY ? SIG_DFL : SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(store_of_a_writer_that_was_replaced_stays_as_it_is)
{
    for (int kind = 0; kind < 3; ++kind)
    {
        char path[512];
        folder_files before, after;
        make_store(path, 0, 3, &before);
        folder_free(&before);
        pl_frame_store* late = store_open(path, PLIANT_STORE_RESUME, 0, 2);
        REQUIRE(late);
        /* Another program goes on with it, is one frame ahead, or begins anew. */
        pl_frame_store* other =
            store_open(path, kind == 2 ? PLIANT_STORE_CREATE : PLIANT_STORE_RESUME, 0, 2);
        REQUIRE(other);
        CHECK_OK(store_bake(other, kind == 2 ? 1 : 4, kind == 0 ? 9 : kind == 1 ? 4 : 2));
        folder_read(path, &before);
        CHECK(store_bake(late, 4, 5) == PLIANT_ERROR_STATE);
        CHECK_MSG(strstr(pl_last_error(), "another program"), "%s", pl_last_error());
        folder_read(path, &after);
        CHECK(folder_same(&before, &after));
        CHECK_OK(pl_frames_verify(other));
        folder_free(&before);
        folder_free(&after);
        pl_frames_close(other);
        pl_frames_close(late);
    }
}

TEST(store_survives_a_full_disk)
{
    char path[512];
    folder_files before, after;
    make_store(path, 0, 3, &before);
    pl_frame_store* store = store_open(path, PLIANT_STORE_RESUME, 0, 0);
    REQUIRE(store);
    for (rlim_t room = 0; room < 400; room += 50) /* the frame's file does not fit */
    {
        limit_files(room);
        pl_status status = store_bake(store, 4, 4);
        limit_files(RLIM_INFINITY);
        CHECK(status == PLIANT_ERROR_FILE);
        CHECK_MSG(strstr(pl_last_error(), "frame-000004.plf"), "%s", pl_last_error());
        folder_read(path, &after);
        CHECK(folder_same(&before, &after));
        folder_free(&after);
    }
    CHECK_OK(store_bake(store, 4, 30));
    folder_free(&before);
    folder_read(path, &before);
    rlim_t journal = before.bytes[find_file(&before, "journal.plj")];
    REQUIRE(journal > 1600);                                 /* longer than a frame */
    for (rlim_t room = 0; room < JOURNAL_RECORD; room += 20) /* its record does not fit */
    {
        int32_t frames;
        limit_files(journal + room);
        pl_status status = store_bake(store, 31, 31);
        limit_files(RLIM_INFINITY);
        CHECK(status == PLIANT_ERROR_FILE);
        CHECK_MSG(strstr(pl_last_error(), "journal.plj"), "%s", pl_last_error());
        folder_read(path, &after);
        CHECK(after.bytes[find_file(&after, "journal.plj")] == journal);
        folder_free(&after);
        CHECK_OK(look_through(path, &frames));
        CHECK(frames == 30);
    }
    CHECK_OK(store_bake(store, 31, 32));
    CHECK_OK(pl_frames_verify(store));
    pl_frames_close(store);
    folder_free(&before);
}

TEST(store_cannot_be_made_below_a_file)
{
    char path[512], below[600];
    pl_frame_store* store = NULL;
    snprintf(path, sizeof path, "%s", test_folder());
    CHECK(pl_directory_make(path));
    CHECK(file_write(path, "file", "", 0));
    snprintf(below, sizeof below, "%s/file/store", path);
    pliant_store_desc desc = {.size = sizeof desc, .mode = PLIANT_STORE_CREATE, .path = below};
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_FILE && !store);
    CHECK_MSG(strstr(pl_last_error(), below), "%s", pl_last_error());
    snprintf(below, sizeof below, "%s/file", path);
    CHECK(pl_frames_open(&desc, &store) == PLIANT_ERROR_FILE && !store);
}

TEST(store_runs_out_of_memory_without_harm)
{
    char path[512];
    folder_files files;
    uint64_t held = pl_bytes_in_use();
    make_store(path, best_compression(), 6, &files);
    int32_t frames, worked = 0;
    for (int allowed = 0; allowed < 200 && worked < 3; ++allowed)
    {
        pl_frame_store* store = NULL;
        const pl_frame_body* got;
        void* block = NULL;
        uint64_t bytes;
        int32_t frame;
        pl_frame_body bodies[STORE_BODIES];
        pliant_store_desc desc = {.size = sizeof desc, .mode = PLIANT_STORE_RESUME, .path = path};
        store_bodies_make(bodies, 7, 1);
        pl_fail_allocations_after(allowed);
        pl_status status = pl_frames_open(&desc, &store);
        if (status == PLIANT_OK)
            status = pl_frames_read_checkpoint(store, 6, &frame, &block, &bytes);
        if (status == PLIANT_OK)
            status = pl_frames_write(store, 7, STORE_BODIES, bodies, true, store_hash(7));
        if (status == PLIANT_OK)
            status = pl_frames_read(store, 7, 1, &got);
        pl_fail_allocations_after(-1);
        CHECK_MSG(status == PLIANT_OK || status == PLIANT_ERROR_MEMORY, "%d: %s", status,
                  pl_last_error());
        worked += status == PLIANT_OK;
        if (store)
            CHECK_OK(pl_frames_truncate(store, 6));
        pl_free(block);
        pl_frames_close(store);
        store_bodies_free(bodies);
        CHECK(pl_bytes_in_use() == held);
        CHECK_OK(look_through(path, &frames));
        CHECK(frames == 6);
    }
    CHECK(worked == 3);
    folder_free(&files);
}

/* ------------------------------------------------------------------ kills */

/* What a render farm does: resume the bake at the last checkpoint, or start it. */
static void bake_to_the_end(const char* path, int32_t last)
{
    pl_frame_store* store = NULL;
    void* block = NULL;
    uint64_t bytes;
    int32_t from = 0;
    pliant_store_desc desc = {.size = sizeof desc,
                              .mode = PLIANT_STORE_RESUME,
                              .compression = best_compression(),
                              .checkpoint_every = 4,
                              .path = path};
    pl_status status = pl_frames_open(&desc, &store);
    if (status == PLIANT_ERROR_FILE)
    {
        desc.mode = PLIANT_STORE_CREATE;
        status = pl_frames_open(&desc, &store);
    }
    if (status != PLIANT_OK)
        _exit(2);
    status = pl_frames_read_checkpoint(store, last, &from, &block, &bytes);
    if (status == PLIANT_OK)
        memcpy(&from, block, sizeof from); /* the scene knows where it is */
    else if (status != PLIANT_ERROR_STATE)
        _exit(3);
    if (store_bake(store, from + 1, last) != PLIANT_OK)
        _exit(4);
    _exit(0);
}

TEST(store_killed_again_and_again_ends_like_one_left_alone)
{
    enum
    {
        LAST = 40
    };
    char path[512], alone[512];
    folder_files killed, whole;
    pl_rng rng = pl_rng_seed((uint64_t)time(NULL));
    int kills = 0, outcome = -1, result = 0;
    snprintf(path, sizeof path, "%s", test_folder());
    snprintf(alone, sizeof alone, "%s", test_folder());
    for (int run = 0; run < 400 && result == 0 && outcome != 0; ++run)
    {
        fflush(stdout);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0)
            bake_to_the_end(path, LAST);
        /* Longer as runs go by, so that it ends on any machine. */
        usleep(pl_rng_below(&rng, (uint32_t)(3000 + 500 * run)));
        kill(child, SIGKILL);
        int state;
        REQUIRE(waitpid(child, &state, 0) == child);
        kills += WIFSIGNALED(state);
        outcome = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
        result = outcome > 0;
        CHECK_MSG(outcome <= 0, "run %d ended with %d", run, outcome);
        int32_t frames;
        if (file_exists(path, "header.plh"))
            CHECK_OK(look_through(path, &frames));
    }
    CHECK_MSG(outcome == 0 && kills > 0, "%d kills", kills);
    pl_frame_store* store = store_open(alone, PLIANT_STORE_CREATE, best_compression(), 4);
    CHECK_OK(store_bake(store, 1, LAST));
    pl_frames_close(store);
    folder_read(path, &killed);
    folder_read(alone, &whole);
    CHECK_MSG(folder_same(&killed, &whole), "after %d kills there are %d files, not %d", kills,
              killed.count, whole.count);
    folder_free(&killed);
    folder_free(&whole);
}
