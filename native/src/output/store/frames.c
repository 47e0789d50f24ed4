// SPDX-License-Identifier: GPL-3.0-or-later
/* The frame store: its files, the order in which they are written, and the read cache. The order
 * makes it safe to kill the process at any moment:
 *
 *   layout file, frame file (each: temporary, sync, rename) -> sync the folder -> journal record
 *   truncating: a shorter journal (temporary, sync, rename) -> sync the folder -> remove files
 *   creating:   an empty journal -> remove files -> header; a folder without a header is no store
 */
#include "base/platform.h"
#include "output/store/frames_folder.h"
#include "output/store/frames_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum
{
    FRAME_LIMIT = 1000000000
};

/* ------------------------------------------------------------------ opening */

static pl_status sync_folder(const pl_frame_store* store)
{
    if (pl_directory_sync(store->folder))
        return PLIANT_OK;
    return pl_fail(PLIANT_ERROR_FILE, "the folder %s could not be synced: %s", store->folder,
                   strerror(errno));
}

static pl_status create(pl_frame_store* store, const pliant_store_desc* desc)
{
    store->settings = (pl_store_settings){desc->compression, desc->checkpoint_every};
    PL_TRY(pl_store_check_compression(desc->compression));
    if (!pl_directory_make(store->folder))
        return pl_fail(PLIANT_ERROR_FILE, "the folder %s could not be made: %s", store->folder,
                       strerror(errno));
    PL_TRY(pl_store_folder_check(store->folder));
    PL_TRY(pl_journal_create(&store->journal, store->folder));
    PL_TRY(pl_store_folder_clear(&store->journal));
    PL_TRY(pl_store_write_file(store->folder, NULL, PL_STORE_HEADER, 0, PLIANT_COMPRESS_NONE,
                               &store->settings, sizeof store->settings, NULL));
    return sync_folder(store);
}

static pl_status read_settings(pl_frame_store* store)
{
    void* block;
    uint64_t bytes;
    char path[PL_STORE_PATH_MAX];
    pl_store_path(path, store->folder, PL_STORE_HEADER, 0);
    if (pl_file_size(path) < 0)
        return pl_fail(PLIANT_ERROR_FILE, "there is no frame store at %s", store->folder);
    PL_TRY(pl_store_read_file(store->folder, PL_STORE_HEADER, 0, NULL, &block, &bytes));
    bool right = bytes == sizeof store->settings;
    if (right)
        memcpy(&store->settings, block, sizeof store->settings);
    pl_free(block);
    if (!right || store->settings.compression > PLIANT_COMPRESS_ZSTD)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: its settings are invalid", path);
    return pl_store_check_compression(store->settings.compression);
}

static pl_status open_existing(pl_frame_store* store)
{
    PL_TRY(read_settings(store));
    PL_TRY(pl_journal_load(&store->journal, store->folder, store->writable));
    return store->writable ? pl_store_folder_clear(&store->journal) : PLIANT_OK;
}

pl_status pl_frames_open(const pliant_store_desc* desc, pl_frame_store** result)
{
    *result = NULL;
    if (!desc->path || !desc->path[0])
        return pl_fail(PLIANT_ERROR_ARGUMENT, "the frame store has no path");
    if (strlen(desc->path) > PL_STORE_FOLDER_MAX)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "the frame store's path is %zu bytes long, over %d",
                       strlen(desc->path), PL_STORE_FOLDER_MAX);
    if (desc->mode > PLIANT_STORE_RESUME)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "%u is not a mode of opening a frame store",
                       desc->mode);
    pl_frame_store* store = PL_NEW(pl_frame_store, 1);
    if (!store)
        return pl_fail_memory(sizeof *store);
    snprintf(store->folder, sizeof store->folder, "%s", desc->path);
    store->writable = desc->mode != PLIANT_STORE_READ;
    pl_status status =
        desc->mode == PLIANT_STORE_CREATE ? create(store, desc) : open_existing(store);
    if (status == PLIANT_OK)
        *result = store;
    else
        pl_frames_close(store);
    return status;
}

void pl_frames_close(pl_frame_store* store)
{
    if (!store)
        return;
    pl_store_drop_layout(store);
    pl_store_drop_final(store);
    pl_journal_free(&store->journal);
    pl_free(store);
}

static pl_status check_writable(const pl_frame_store* store)
{
    return store->writable ? PLIANT_OK
                           : pl_fail(PLIANT_ERROR_STATE,
                                     "the frame store %s is open for reading only", store->folder);
}

/* ------------------------------------------------------------------ writing frames */

static pl_status check_counts(pl_frame_store* store, uint32_t count, const pl_frame_body* bodies)
{
    PL_TRY(pl_store_load_layout(store, pl_journal_last(&store->journal)));
    if (count != store->body_count)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "a frame of %u bodies needs a new layout: the last one has %u", count,
                       store->body_count);
    for (uint32_t i = 0; i < count; ++i)
        if (bodies[i].particles != store->bodies[i].particles ||
            bodies[i].clusters != store->bodies[i].clusters)
            return pl_fail(PLIANT_ERROR_ARGUMENT,
                           "body %u has %u particles in %u clusters, which needs a new layout", i,
                           bodies[i].particles, bodies[i].clusters);
    return PLIANT_OK;
}

static pl_status write_block(pl_frame_store* store, uint32_t count, const pl_frame_body* bodies,
                             pl_journal_record* record)
{
    void* block = NULL;
    uint64_t bytes;
    pl_status status = pl_frame_pack(count, bodies, &block, &bytes);
    if (status == PLIANT_OK)
    {
        record->content = pl_store_content_of(block, bytes);
        status =
            pl_store_write_file(store->folder, &store->journal, PL_STORE_FRAME, record->frame,
                                store->settings.compression, block, bytes, &record->file_bytes);
    }
    pl_free(block);
    return status;
}

static pl_status write_new(pl_frame_store* store, int32_t frame, uint32_t count,
                           const pl_frame_body* bodies, bool layout_changed, uint64_t hash)
{
    char path[PL_STORE_PATH_MAX];
    const pl_journal_record* last = pl_journal_last(&store->journal);
    pl_journal_record record = {
        .kind = PL_JOURNAL_FRAME, .frame = frame, .bodies = count, .hash = hash};
    bool new_layout = false;
    if (last)
    {
        record.layout = last->layout;
        record.layout_content = last->layout_content;
        record.layout_file_bytes = last->layout_file_bytes;
    }
    pl_status status = last && !layout_changed
                           ? check_counts(store, count, bodies)
                           : pl_store_write_layout(store, count, bodies, &record, &new_layout);
    if (status == PLIANT_OK)
        status = write_block(store, count, bodies, &record);
    if (status == PLIANT_OK)
        status = sync_folder(store);
    /* After a failed append the files stay: the record may have reached the disk. */
    if (status == PLIANT_OK)
        return pl_journal_append(&store->journal, record);
    if (status == PLIANT_ERROR_STATE)
        return status; /* the files may belong to another program */
    pl_store_path(path, store->folder, PL_STORE_FRAME, frame);
    pl_file_remove(path);
    pl_store_path(path, store->folder, PL_STORE_LAYOUT, (int32_t)record.layout);
    if (new_layout)
        pl_file_remove(path);
    return status;
}

/* A frame that is in the journal: it must be the same; a damaged file is written again. */
static pl_status write_again(pl_frame_store* store, const pl_journal_record* known, uint32_t count,
                             const pl_frame_body* bodies, uint64_t hash)
{
    void* block;
    uint64_t bytes;
    if (known->hash != hash)
        return pl_fail(PLIANT_ERROR_STATE,
                       "frame %d came out different from the one in the frame store: its hash is "
                       "%016llx, not %016llx",
                       known->frame, (unsigned long long)hash, (unsigned long long)known->hash);
    pl_status status = pl_store_read_file(store->folder, PL_STORE_FRAME, known->frame,
                                          &known->content, &block, &bytes);
    pl_free(block);
    if (status == PLIANT_OK || status == PLIANT_ERROR_MEMORY)
        return status;
    PL_TRY(pl_frame_pack(count, bodies, &block, &bytes));
    pl_store_content content = pl_store_content_of(block, bytes);
    status = content.bytes == known->content.bytes && content.hash == known->content.hash
                 ? pl_store_write_file(store->folder, &store->journal, PL_STORE_FRAME, known->frame,
                                       store->settings.compression, block, bytes, NULL)
                 : pl_fail(PLIANT_ERROR_STATE,
                           "frame %d differs from the one recorded in the journal", known->frame);
    pl_free(block);
    return status == PLIANT_OK ? sync_folder(store) : status;
}

pl_status pl_frames_write(pl_frame_store* store, int32_t frame, uint32_t body_count,
                          const pl_frame_body* bodies, bool layout_changed, uint64_t hash)
{
    PL_TRY(check_writable(store));
    if (frame < -FRAME_LIMIT || frame > FRAME_LIMIT)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "%d is out of range for a frame number", frame);
    const pl_journal_record* known = pl_journal_frame(&store->journal, frame);
    const pl_journal_record* last = pl_journal_last(&store->journal);
    if (known)
        return write_again(store, known, body_count, bodies, hash);
    if (last && frame != last->frame + 1)
        return pl_fail(PLIANT_ERROR_STATE,
                       "frame %d cannot be written: the frame store continues with frame %d", frame,
                       last->frame + 1);
    return write_new(store, frame, body_count, bodies, layout_changed, hash);
}

/* ------------------------------------------------------------------ checkpoints */

bool pl_frames_checkpoint_due(const pl_frame_store* store, int32_t frame)
{
    const pl_journal* journal = &store->journal;
    const pl_journal_record* latest = pl_journal_checkpoint(journal, frame);
    if (!store->writable || (latest && latest->frame == frame))
        return false;
    int64_t since = journal->frame_count ? (int64_t)frame - journal->frames[0].frame : 0;
    uint32_t every = store->settings.checkpoint_every;
    return since == 0 || (every > 0 && since % every == 0);
}

pl_status pl_frames_write_checkpoint(pl_frame_store* store, int32_t frame, const void* block,
                                     uint64_t bytes)
{
    pl_journal_record record = {.kind = PL_JOURNAL_CHECKPOINT, .frame = frame};
    const pl_journal_record* latest = pl_journal_checkpoint(&store->journal, frame);
    PL_TRY(check_writable(store));
    if (!pl_journal_frame(&store->journal, frame))
        return pl_fail(PLIANT_ERROR_STATE, "frame %d has no checkpoint: it is not finished", frame);
    if (latest && latest->frame == frame)
        return PLIANT_OK;
    record.content = pl_store_content_of(block, bytes);
    PL_TRY(pl_store_write_file(store->folder, &store->journal, PL_STORE_CHECKPOINT, frame,
                               store->settings.compression, block, bytes, &record.file_bytes));
    PL_TRY(sync_folder(store));
    return pl_journal_append(&store->journal, record);
}

pl_status pl_frames_read_checkpoint(pl_frame_store* store, int32_t at_most, int32_t* frame,
                                    void** block, uint64_t* bytes)
{
    pl_status status = PLIANT_OK;
    *block = NULL;
    *bytes = 0;
    for (;;)
    {
        const pl_journal_record* record = pl_journal_checkpoint(&store->journal, at_most);
        if (!record && status != PLIANT_OK)
            return status; /* all are damaged: the message names the earliest */
        if (!record)
            return pl_fail(PLIANT_ERROR_STATE,
                           "the frame store has no checkpoint at or before frame %d", at_most);
        status = pl_store_read_file(store->folder, PL_STORE_CHECKPOINT, record->frame,
                                    &record->content, block, bytes);
        *frame = record->frame;
        if (status == PLIANT_OK || status == PLIANT_ERROR_MEMORY)
            return status;
        at_most = record->frame - 1;
        if (store->writable) /* so that a bake writes it again */
            pl_journal_forget_checkpoint(&store->journal, record->frame);
    }
}

/* ------------------------------------------------------------------ reading and the rest */

pl_status pl_frames_check(const pl_frame_store* store, int32_t frame, uint32_t body)
{
    const pl_journal_record* record = pl_journal_frame(&store->journal, frame);
    const pl_journal_record* last = pl_journal_last(&store->journal);
    if (!last)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "frame %d cannot be read: the frame store is empty",
                       frame);
    if (!record)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "frame %d is not in the frame store, which has frames %d to %d", frame,
                       store->journal.frames[0].frame, last->frame);
    if (body >= record->bodies)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "there is no body %u in frame %d, which has %u", body,
                       frame, record->bodies);
    return PLIANT_OK;
}

pl_status pl_frames_read(pl_frame_store* store, int32_t frame, uint32_t body,
                         const pl_frame_body** result)
{
    *result = NULL;
    PL_TRY(pl_frames_check(store, frame, body));
    PL_TRY(pl_store_load_frame(store, pl_journal_frame(&store->journal, frame)));
    *result = &store->bodies[body];
    return PLIANT_OK;
}

pl_status pl_frames_hash(const pl_frame_store* store, int32_t frame, uint64_t* hash)
{
    const pl_journal_record* record = pl_journal_frame(&store->journal, frame);
    *hash = record ? record->content.hash : 0;
    return record ? PLIANT_OK : pl_frames_check(store, frame, 0);
}

pl_status pl_frames_truncate(pl_frame_store* store, int32_t frame)
{
    const pl_journal_record* last = pl_journal_last(&store->journal);
    PL_TRY(check_writable(store));
    if (!last || last->frame <= frame)
        return PLIANT_OK;
    PL_TRY(pl_journal_truncate(&store->journal, frame));
    pl_store_drop_layout(store); /* layout numbers may be reused with other contents */
    pl_store_drop_final(store);
    store->chain_of = 0;
    return pl_store_folder_clear(&store->journal);
}

pl_status pl_frames_verify(pl_frame_store* store)
{
    pl_journal on_disk;
    pl_status status = read_settings(store);
    if (status == PLIANT_OK)
        status = pl_journal_load(&on_disk, store->folder, false);
    if (status == PLIANT_OK)
        pl_journal_free(&on_disk);
    pl_store_drop_layout(store);
    for (size_t i = 0; i < store->journal.frame_count && status == PLIANT_OK; ++i)
        status = pl_store_load_frame(store, &store->journal.frames[i]);
    for (size_t i = 0; i < store->journal.checkpoint_count && status == PLIANT_OK; ++i)
    {
        const pl_journal_record* record = &store->journal.checkpoints[i];
        void* block;
        uint64_t bytes;
        status = pl_store_read_file(store->folder, PL_STORE_CHECKPOINT, record->frame,
                                    &record->content, &block, &bytes);
        pl_free(block);
    }
    pl_store_drop_layout(store);
    return status;
}

uint32_t pl_frames_body_count(const pl_frame_store* store)
{
    const pl_journal_record* last = pl_journal_last(&store->journal);
    return last ? last->bodies : 0;
}

static uint64_t bytes_on_disk(const pl_frame_store* store)
{
    char path[PL_STORE_PATH_MAX];
    const pl_journal* journal = &store->journal;
    pl_store_path(path, store->folder, PL_STORE_HEADER, 0);
    uint64_t bytes = journal->length + (uint64_t)PL_MAX(pl_file_size(path), (int64_t)0);
    for (size_t i = 0; i < journal->frame_count; ++i)
    {
        const pl_journal_record* record = &journal->frames[i];
        bytes += record->file_bytes;
        if (i == 0 || record->layout != record[-1].layout)
            bytes += record->layout_file_bytes;
    }
    for (size_t i = 0; i < journal->checkpoint_count; ++i)
        bytes += journal->checkpoints[i].file_bytes;
    return bytes;
}

pl_status pl_frames_info(pl_frame_store* store, pliant_store_info* info)
{
    const pl_journal_record* last = pl_journal_last(&store->journal);
    const pl_journal_record* checkpoint = pl_journal_checkpoint(&store->journal, INT32_MAX);
    info->bodies = pl_frames_body_count(store);
    info->first_frame = last ? store->journal.frames[0].frame : 0;
    info->last_frame = last ? last->frame : -1;
    info->last_checkpoint = checkpoint ? checkpoint->frame : info->first_frame - 1;
    info->compression = store->settings.compression;
    info->bytes = bytes_on_disk(store);
    return PLIANT_OK;
}
