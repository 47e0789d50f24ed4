// SPDX-License-Identifier: GPL-3.0-or-later
/* Input: kind of scene | flags | edits of its saved block, eight bytes each. The size and the
 * checksum are then corrected, so that the code behind these checks is reached. */
#include "edits.h"
#include "harness.h"
#include "native/support/call_everything.h"
#include "small_scenes.h"

#include <base/archive.h>
#include <base/core.h>
#include <stdlib.h>

enum
{
    MOST_EDITS = 16,
    FLAG_SCALAR = 1,
    FLAG_REPLACES = 2 /* the scene that is restored into is not empty */
};

/* The block of a kind; created once. */
static const unsigned char* good_block(uint32_t kind, uint64_t* bytes)
{
    static unsigned char* blocks[SMALL_KINDS];
    static uint64_t sizes[SMALL_KINDS];
    if (!blocks[kind])
    {
        pliant_scene scene = small_scene(kind);
        CHECK_OK(pliant_scene_save(scene, NULL, &sizes[kind]));
        blocks[kind] = malloc(sizes[kind]);
        CHECK_OK(pliant_scene_save(scene, blocks[kind], &sizes[kind]));
        CHECK_OK(pliant_scene_destroy(scene));
    }
    *bytes = sizes[kind];
    return blocks[kind];
}

void fuzz_state(const uint8_t* data, size_t size)
{
    fuzz_input in = {data, data + size};
    uint32_t kind = fuzz_below(&in, SMALL_KINDS), flags = fuzz_u8(&in);
    uint64_t good_bytes, bytes, before = 0, after = 0;
    const unsigned char* good = good_block(kind, &good_bytes);
    unsigned char* block = malloc(good_bytes);
    uint64_t held = pl_bytes_in_use();
    bytes = good_bytes;
    memcpy(block, good, bytes);
    for (int i = 0; i < MOST_EDITS && !fuzz_ended(&in); ++i)
        fuzz_edit(&in, &block, &bytes, PL_ARCHIVE_HEADER);
    unsigned char* exact = malloc(bytes); /* exact size, for the address sanitizer */
    memcpy(exact, block, bytes);
    seal_block(exact, bytes);
    pliant_scene scene = small_empty(flags & FLAG_SCALAR ? PLIANT_SIMD_SCALAR : PLIANT_SIMD_AUTO);
    if (flags & FLAG_REPLACES)
        CHECK_OK(pliant_scene_restore(scene, good, good_bytes));
    CHECK_OK(pliant_scene_hash(scene, &before));
    pliant_status status = pliant_scene_restore(scene, exact, bytes);
    CHECK_MSG(status == PLIANT_OK || status == PLIANT_ERROR_FORMAT || status == PLIANT_ERROR_MESH ||
                  status == PLIANT_ERROR_MEMORY,
              "restore gave %s: %s", pliant_status_name(status), pliant_last_error());
    if (status == PLIANT_OK)
    {
        call_everything_saved(scene);
        call_everything_scene(scene);
    }
    else
    {
        CHECK(pliant_last_error()[0]);
        CHECK_OK(pliant_scene_hash(scene, &after));
        CHECK(before == after);
    }
    CHECK_OK(pliant_scene_destroy(scene));
    CHECK(pl_bytes_in_use() == held);
    free(block);
    free(exact);
}
