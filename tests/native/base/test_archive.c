// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/test.h"

#include <base/archive.h>
#include <base/hash.h>
#include <string.h>

enum
{
    VERSION = 7
};

typedef struct thing
{
    uint32_t count;
    int32_t frame;
    uint64_t hash;
    double time;
    bool released;
    float* x;
    uint32_t* nothing; /* NULL */
    uint32_t* empty;   /* allocated, no items */
} thing;

static void visit(pl_archive* a, thing* t)
{
    pl_archive_tag(a, "THNG");
    pl_archive_u32(a, &t->count);
    pl_archive_i32(a, &t->frame);
    pl_archive_u64(a, &t->hash);
    pl_archive_f64(a, &t->time);
    pl_archive_bool(a, &t->released);
    PL_ARCHIVE_ARRAY(a, t->x, 3 * (uint64_t)t->count);
    PL_ARCHIVE_ARRAY(a, t->nothing, t->count);
    PL_ARCHIVE_ARRAY(a, t->empty, 0);
    pl_archive_tag(a, "ENDS");
}

static thing make_thing(void)
{
    thing t = {.count = 11, .frame = -3, .hash = 0xfedcba9876543210ull, .time = 1.0 / 3};
    t.released = true;
    t.x = PL_NEW(float, 33);
    t.empty = PL_NEW(uint32_t, 0);
    for (int i = 0; i < 33; ++i)
        t.x[i] = 0.1f * (float)i;
    return t;
}

static void free_thing(thing* t)
{
    pl_free(t->x);
    pl_free(t->nothing);
    pl_free(t->empty);
}

/* The saved block of make_thing(), in a buffer of exactly its size. */
static unsigned char* make_block(uint64_t* bytes)
{
    pl_archive a;
    thing t = make_thing();
    pl_archive_count(&a);
    visit(&a, &t);
    CHECK_OK(pl_archive_finish(&a, bytes));
    unsigned char* block = pl_alloc(*bytes, 1);
    uint64_t written = 0;
    pl_archive_write(&a, block, *bytes, VERSION);
    visit(&a, &t);
    CHECK_OK(pl_archive_finish(&a, &written));
    CHECK(written == *bytes);
    free_thing(&t);
    return block;
}

static pl_status read_block(const void* block, uint64_t bytes, thing* t)
{
    pl_archive a;
    memset(t, 0, sizeof *t);
    PL_TRY(pl_archive_read(&a, block, bytes, VERSION));
    visit(&a, t);
    return pl_archive_finish(&a, NULL);
}

TEST(an_archive_gives_back_what_it_was_given)
{
    uint64_t bytes, held = pl_bytes_in_use();
    unsigned char* block = make_block(&bytes);
    thing want = make_thing(), got;
    REQUIRE_OK(read_block(block, bytes, &got));
    CHECK(got.count == want.count && got.frame == want.frame && got.hash == want.hash);
    CHECK(got.time == want.time && got.released == want.released);
    CHECK(got.x && memcmp(got.x, want.x, 33 * sizeof(float)) == 0);
    CHECK(got.nothing == NULL);
    CHECK(got.empty != NULL);
    free_thing(&got);
    free_thing(&want);
    pl_free(block);
    CHECK(pl_bytes_in_use() == held);
}

TEST(an_archive_cut_short_anywhere_is_refused)
{
    uint64_t bytes;
    thing t;
    unsigned char* block = make_block(&bytes);
    for (uint64_t cut = 0; cut < bytes; ++cut)
    {
        unsigned char* part =
            pl_alloc(cut, 1); /* exact size, so that a sanitizer detects reads beyond it */
        memcpy(part, block, cut);
        pl_clear_error();
        CHECK_MSG(read_block(part, cut, &t) == PLIANT_ERROR_FORMAT, "cut to %d bytes", (int)cut);
        CHECK(pl_last_error()[0]);
        CHECK(!t.x && !t.empty);
        pl_free(part);
    }
    pl_free(block);
}

TEST(an_archive_with_any_bit_flipped_is_refused)
{
    uint64_t bytes;
    thing t;
    unsigned char* block = make_block(&bytes);
    for (uint64_t bit = 0; bit < 8 * bytes; ++bit)
    {
        block[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK_MSG(read_block(block, bytes, &t) == PLIANT_ERROR_FORMAT, "bit %d", (int)bit);
        block[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    CHECK_OK(read_block(block, bytes, &t));
    free_thing(&t);
    pl_free(block);
}

/* A forged length with a valid checksum must not allocate more than the block holds. */
TEST(forged_array_length_allocates_nothing)
{
    uint64_t bytes;
    thing t;
    unsigned char* block = make_block(&bytes);
    for (uint64_t at = PL_ARCHIVE_HEADER; at + 8 <= bytes; ++at)
    {
        unsigned char old[8];
        memcpy(old, block + at, 8);
        memset(block + at, 0x7f, 8);
        uint64_t hash = pl_hash(pl_hash(PL_HASH_START, block, 24), block + PL_ARCHIVE_HEADER,
                                bytes - PL_ARCHIVE_HEADER);
        memcpy(block + 24, &hash, 8);
        uint64_t held = pl_bytes_in_use();
        pl_status status = read_block(block, bytes, &t);
        CHECK(status == PLIANT_OK || status == PLIANT_ERROR_FORMAT);
        CHECK(pl_bytes_in_use() <= held + bytes);
        free_thing(&t);
        memcpy(block + at, old, 8);
    }
    pl_free(block);
}

TEST(archives_of_other_versions_say_so)
{
    uint64_t bytes;
    pl_archive a;
    unsigned char* block = make_block(&bytes);
    CHECK(pl_archive_read(&a, block, bytes, VERSION + 1) == PLIANT_ERROR_FORMAT);
    CHECK(strstr(pl_last_error(), "version 7") && strstr(pl_last_error(), "version 8"));
    CHECK(pl_archive_read(&a, NULL, 0, VERSION) == PLIANT_ERROR_FORMAT);
    pl_free(block);
}

TEST(an_archive_never_writes_beyond_its_buffer)
{
    uint64_t bytes;
    unsigned char* block = make_block(&bytes);
    thing t = make_thing();
    for (uint64_t room = 0; room < bytes; ++room)
    {
        pl_archive a;
        unsigned char* small = pl_alloc(room + 8, 1);
        memset(small, 0xaa, room + 8);
        pl_archive_write(&a, small, room, VERSION);
        visit(&a, &t);
        CHECK(pl_archive_finish(&a, NULL) == PLIANT_ERROR_BUFFER);
        for (int i = 0; i < 8; ++i)
            CHECK(small[room + (uint64_t)i] == 0xaa);
        pl_free(small);
    }
    free_thing(&t);
    pl_free(block);
}

TEST(an_archive_must_be_used_up_and_in_order)
{
    uint64_t bytes;
    pl_archive a;
    uint32_t value = 9;
    unsigned char* block = make_block(&bytes);
    REQUIRE_OK(pl_archive_read(&a, block, bytes, VERSION));
    pl_archive_tag(&a, "THNG");
    CHECK(!pl_archive_failed(&a));
    CHECK(pl_archive_finish(&a, NULL) == PLIANT_ERROR_FORMAT); /* unread bytes remain */
    REQUIRE_OK(pl_archive_read(&a, block, bytes, VERSION));
    pl_archive_tag(&a, "BODY");
    CHECK(pl_archive_failed(&a));
    pl_archive_u32(&a, &value);
    CHECK(value == 0);
    CHECK(pl_archive_finish(&a, NULL) == PLIANT_ERROR_FORMAT);
    CHECK(strstr(pl_last_error(), "BODY"));
    pl_free(block);
}

TEST(an_archive_that_runs_out_of_memory_says_so)
{
    uint64_t bytes, held = pl_bytes_in_use();
    thing t;
    unsigned char* block = make_block(&bytes);
    for (int allowed = 0; allowed < 2; ++allowed)
    {
        pl_fail_allocations_after(allowed);
        CHECK(read_block(block, bytes, &t) == PLIANT_ERROR_MEMORY);
        pl_fail_allocations_after(-1);
        free_thing(&t);
    }
    pl_free(block);
    CHECK(pl_bytes_in_use() == held);
}
