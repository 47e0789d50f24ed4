// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Input: kind of store | flags | edits: which file, then eight bytes each as in edits.h.
 *
 * Edits change what the files contain: hashes, checksums and the chain of the journal's records are
 * mended afterwards, so that what is read behind them is reached. With FLAG_RAW files are edited as
 * they lie on the disk, and only the checksum of the container's header is mended. Then a reader
 * calls everything, and a resumed bake goes on from what there is.
 */
#include "edits.h"
#include "harness.h"
#include "native/support/call_everything.h"
#include "native/support/store_scene.h"
#include "small_scenes.h"

#include <base/core.h>
#include <base/hash.h>
#include <base/platform.h>
#include <output/store/journal.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    KINDS = 8,
    FRAMES = 4,
    MOST_EDITS = 8,
    MOST_VERTICES = 4,
    FLAG_RAW = 1,
    FLAG_RESUME = 2,
    HEADER_BYTES = 56, /* of a container, see frames_file.h */
    CHECKSUM_AT = 48,
    JOURNAL_HEADER = 24
};

/* Scenes of the first and second half of a kind's frames: they may differ. */
static const uint32_t scenes_of[KINDS][2] = {
    {SMALL_PLAIN, SMALL_PLAIN}, {SMALL_BROKEN, SMALL_BROKEN},   {SMALL_FLOW, SMALL_FLOW},
    {SMALL_DRAWN, SMALL_DRAWN}, {SMALL_PRESSED, SMALL_PRESSED}, {SMALL_CELLS, SMALL_CELLS},
    {SMALL_PLAIN, SMALL_DRAWN}, {SMALL_WELDED, SMALL_BROKEN}};

static pliant_status open_store(const char* path, uint32_t mode, pliant_store* store)
{
    pliant_store_desc desc;
    pliant_store_desc_init(&desc, sizeof desc);
    desc.path = path;
    desc.mode = mode;
    desc.checkpoint_every = 2;
    desc.compression = PLIANT_COMPRESS_NONE;
    return try_call(pliant_store_open(&desc, store));
}

static void write_frames(pliant_store store, pliant_scene scene, int32_t from, int32_t to)
{
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = 2;
    for (int32_t f = from; f <= to; ++f)
        if (try_call(pliant_scene_advance(scene, &frame)) != PLIANT_OK ||
            try_call(pliant_store_write_frame(store, scene, f)) != PLIANT_OK)
            return;
}

static const char* folder(void)
{
    static char path[400];
    if (!path[0])
        snprintf(path, sizeof path, "%s", test_folder());
    return path;
}

/* Removes the files of the previous input. */
static void empty_folder(void)
{
    folder_files left;
    folder_read(folder(), &left);
    for (int i = 0; i < left.count; ++i)
    {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder(), left.names[i]);
        CHECK(pl_file_remove(path));
    }
    folder_free(&left);
}

/* The files of a kind's store; created once. */
static const folder_files* good_files(uint32_t kind)
{
    static folder_files files[KINDS];
    if (files[kind].count)
        return &files[kind];
    empty_folder();
    pliant_store store = 0;
    const uint32_t* kinds = scenes_of[kind];
    pliant_scene scene = small_scene(kinds[0]),
                 later = kinds[0] == kinds[1] ? scene : small_scene(kinds[1]);
    CHECK_OK(open_store(folder(), PLIANT_STORE_CREATE, &store));
    write_frames(store, scene, 1, FRAMES / 2);
    write_frames(store, later, FRAMES / 2 + 1, FRAMES);
    CHECK_OK(pliant_store_close(store));
    CHECK_OK(pliant_scene_destroy(scene));
    if (later != scene)
        CHECK_OK(pliant_scene_destroy(later));
    folder_read(folder(), &files[kind]);
    CHECK(files[kind].count >= FRAMES + 4);
    return &files[kind];
}

/* ------------------------------------------------------------------ correcting checksums */

static void mend_container(unsigned char* data, uint64_t bytes)
{
    if (bytes < HEADER_BYTES)
        return;
    uint64_t hash = pl_hash(pl_hash(PL_HASH_START, data, CHECKSUM_AT), data + HEADER_BYTES,
                            bytes - HEADER_BYTES);
    memcpy(data + CHECKSUM_AT, &hash, sizeof hash);
}

/* Corrects the header's sizes and the hash of the contents, which are not compressed. */
static void mend_contents(unsigned char* data, uint64_t bytes)
{
    if (bytes < HEADER_BYTES)
        return;
    pl_store_content content = pl_store_content_of(data + HEADER_BYTES, bytes - HEADER_BYTES);
    memcpy(data + 24, &content.bytes, 8);
    memcpy(data + 32, &content.bytes, 8);
    memcpy(data + 40, &content.hash, 8);
}

static int find(const folder_files* files, pl_store_file kind, int32_t number)
{
    for (int i = 0; i < files->count; ++i)
    {
        pl_store_file k;
        int32_t n;
        bool temporary;
        if (pl_store_name(files->names[i], &k, &n, &temporary) && k == kind && n == number)
            return i;
    }
    return -1;
}

static void note(const folder_files* files, pl_store_file kind, int32_t number,
                 pl_store_content* content)
{
    int i = find(files, kind, number);
    if (i >= 0 && files->bytes[i] >= HEADER_BYTES)
        *content =
            pl_store_content_of(files->data[i] + HEADER_BYTES, files->bytes[i] - HEADER_BYTES);
}

/* Corrects the journal: records contain the files' hashes, and their checksums form a chain. */
static void mend_journal(const folder_files* files, bool contents)
{
    int j = find(files, PL_STORE_JOURNAL, 0);
    uint64_t chain;
    if (j < 0 || files->bytes[j] < JOURNAL_HEADER)
        return;
    memcpy(&chain, files->data[j] + JOURNAL_HEADER - 8, 8);
    for (uint64_t at = JOURNAL_HEADER; at + sizeof(pl_journal_record) <= files->bytes[j];
         at += sizeof(pl_journal_record))
    {
        pl_journal_record record;
        memcpy(&record, files->data[j] + at, sizeof record);
        if (contents)
        {
            note(files, record.kind == PL_JOURNAL_CHECKPOINT ? PL_STORE_CHECKPOINT : PL_STORE_FRAME,
                 record.frame, &record.content);
            note(files, PL_STORE_LAYOUT, (int32_t)record.layout, &record.layout_content);
        }
        chain = record.checksum = pl_hash(chain, &record, offsetof(pl_journal_record, checksum));
        memcpy(files->data[j] + at, &record, sizeof record);
    }
}

static void edit_files(fuzz_input* in, folder_files* files, uint32_t flags)
{
    for (int n = 0; n < MOST_EDITS && !fuzz_ended(in); ++n)
    {
        uint32_t which = fuzz_u8(in), i = which % (uint32_t)files->count;
        bool journal = strcmp(files->names[i], "journal.plj") == 0;
        uint64_t keep = flags & FLAG_RAW ? 0 : journal ? JOURNAL_HEADER : HEADER_BYTES;
        if (files->bytes[i] >= keep)
            fuzz_edit(in, &files->data[i], &files->bytes[i], keep);
    }
    for (int i = 0; i < files->count; ++i)
    {
        if (strcmp(files->names[i], "journal.plj") == 0)
            continue;
        if (!(flags & FLAG_RAW))
            mend_contents(files->data[i], files->bytes[i]);
        mend_container(files->data[i], files->bytes[i]);
    }
    mend_journal(files, !(flags & FLAG_RAW));
}

/* ------------------------------------------------------------------ every read call */

static void read_frames(pliant_store store, uint32_t body, const pliant_store_info* info)
{
    for (int32_t f = info->first_frame - 1; f <= info->last_frame + 1; ++f)
        for (uint32_t channel = 0; channel <= PLIANT_SUCCESSOR; ++channel)
        {
            uint64_t bytes = 0;
            if (try_call(pliant_store_read(store, body, f, channel, NULL, NULL, &bytes)))
                continue;
            void* buffer = malloc(bytes + !bytes);
            try_call(pliant_store_read(store, body, f, channel, NULL, buffer, &bytes));
            free(buffer);
        }
}

static void read_pairs(pliant_store store, uint32_t body)
{
    uint64_t count = 0;
    if (try_call(pliant_store_read_pairs(store, body, 0, NULL, NULL, &count)) != PLIANT_OK)
        return;
    uint32_t* pairs = malloc(8 * count + 1);
    double* until = malloc(8 * count + 1);
    try_call(pliant_store_read_pairs(store, body, 0, pairs, until, &count));
    free(pairs);
    free(until);
}

static void skin_frames(pliant_store store, uint32_t body, const pliant_store_info* info)
{
    float at[3 * MOST_VERTICES] = {0, 0, 0, .5f, 0, 0, 0, .5f, 0, .3f, .3f, .3f};
    float out[3 * MOST_VERTICES];
    pliant_skin skin;
    pliant_skin_desc desc;
    pliant_skin_desc_init(&desc, sizeof desc);
    desc.vertices = at;
    desc.normals = at;
    desc.vertex_count = MOST_VERTICES;
    if (try_call(pliant_skin_create_stored(store, body, &desc, &skin)) != PLIANT_OK)
        return;
    for (int32_t f = info->last_frame; f >= info->first_frame - 1; f -= 2)
        try_call(pliant_skin_apply_stored(skin, f, NULL, NULL, out, NULL, out));
    CHECK_OK(pliant_skin_destroy(skin));
}

static void read_store(const char* path, pliant_scene scene)
{
    pliant_store store = 0;
    pliant_store_info info;
    pliant_stored_body_info body;
    int32_t frame;
    if (open_store(path, PLIANT_STORE_READ, &store) != PLIANT_OK)
        return;
    try_call(pliant_store_verify(store));
    pliant_store_info_init(&info, sizeof info);
    CHECK_OK(pliant_store_get_info(store, &info));
    pliant_stored_body_info_init(&body, sizeof body);
    for (uint32_t b = 0; b < info.bodies && b < 3; ++b)
        if (try_call(pliant_store_get_body_info(store, b, &body)) == PLIANT_OK &&
            info.last_frame < info.first_frame + 2 * FRAMES)
        {
            read_frames(store, b, &info);
            read_pairs(store, b);
            skin_frames(store, b, &info);
        }
    if (try_call(pliant_store_restore(store, scene, info.last_frame, &frame)) == PLIANT_OK)
        call_everything_scene(scene);
    CHECK_OK(pliant_store_close(store));
}

static void resume_store(const char* path, pliant_scene scene)
{
    pliant_store store = 0;
    int32_t frame = 0;
    if (open_store(path, PLIANT_STORE_RESUME, &store) != PLIANT_OK)
        return;
    if (try_call(pliant_store_restore(store, scene, FRAMES, &frame)) == PLIANT_OK && frame >= 0 &&
        frame <= FRAMES)
        write_frames(store, scene, frame + 1, FRAMES + 1);
    try_call(pliant_store_truncate(store, 2));
    try_call(pliant_store_verify(store));
    CHECK_OK(pliant_store_close(store));
}

void fuzz_store(const uint8_t* data, size_t size)
{
    fuzz_input in = {data, data + size};
    uint32_t kind = fuzz_below(&in, KINDS), flags = fuzz_u8(&in);
    const folder_files* good = good_files(kind);
    uint64_t held = pl_bytes_in_use();
    folder_files files = *good;
    for (int i = 0; i < files.count; ++i)
    {
        files.data[i] = malloc(good->bytes[i] + 1);
        memcpy(files.data[i], good->data[i], good->bytes[i]);
    }
    edit_files(&in, &files, flags);
    empty_folder();
    for (int i = 0; i < files.count; ++i)
        CHECK(file_write(folder(), files.names[i], files.data[i], files.bytes[i]));
    folder_free(&files);
    pliant_scene scene = small_empty(PLIANT_SIMD_AUTO);
    read_store(folder(), scene);
    if (flags & FLAG_RESUME)
        resume_store(folder(), scene);
    CHECK_OK(pliant_scene_destroy(scene));
    CHECK(pl_bytes_in_use() == held);
}
