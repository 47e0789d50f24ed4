// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/store/journal.h"

#include "base/hash.h"
#include "base/platform.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct journal_header
{
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint64_t checksum;
} journal_header;

_Static_assert(sizeof(journal_header) == 24 && sizeof(pl_journal_record) == 80,
               "the journal is written as it lies in memory: raise PL_STORE_VERSION with it");

static journal_header make_header(void)
{
    journal_header head = {
        {'P', 'L', 'I', 'A', 'N', 'T', 'J', 'N'}, PL_STORE_VERSION, PL_STORE_BYTE_ORDER, 0};
    head.checksum = pl_hash(PL_HASH_START, &head, offsetof(journal_header, checksum));
    return head;
}

static uint64_t record_checksum(uint64_t chain, const pl_journal_record* record)
{
    return pl_hash(chain, record, offsetof(pl_journal_record, checksum));
}

static void path_of(const pl_journal* journal, char path[PL_STORE_PATH_MAX])
{
    pl_store_path(path, journal->folder, PL_STORE_JOURNAL, 0);
}

static void start(pl_journal* journal, const char* folder)
{
    memset(journal, 0, sizeof *journal);
    snprintf(journal->folder, sizeof journal->folder, "%s", folder);
    journal->length = sizeof(journal_header);
    journal->chain = make_header().checksum;
}

static pl_status sync_folder(const char* folder)
{
    if (pl_directory_sync(folder))
        return PLIANT_OK;
    return pl_fail(PLIANT_ERROR_FILE, "the folder %s could not be synced: %s", folder,
                   strerror(errno));
}

pl_status pl_journal_create(pl_journal* journal, const char* folder)
{
    char path[PL_STORE_PATH_MAX];
    journal_header head = make_header();
    start(journal, folder);
    path_of(journal, path);
    PL_TRY(pl_store_replace(path, &head, sizeof head, NULL, 0));
    return sync_folder(folder);
}

void pl_journal_free(pl_journal* journal)
{
    pl_free(journal->frames);
    pl_free(journal->checkpoints);
    memset(journal, 0, sizeof *journal);
}

const pl_journal_record* pl_journal_last(const pl_journal* journal)
{
    return journal->frame_count ? &journal->frames[journal->frame_count - 1] : NULL;
}

const pl_journal_record* pl_journal_frame(const pl_journal* journal, int32_t frame)
{
    if (!journal->frame_count || frame < journal->frames[0].frame)
        return NULL;
    uint64_t index = (uint64_t)((int64_t)frame - journal->frames[0].frame);
    return index < journal->frame_count ? &journal->frames[index] : NULL;
}

const pl_journal_record* pl_journal_checkpoint(const pl_journal* journal, int32_t at_most)
{
    for (size_t i = journal->checkpoint_count; i-- > 0;)
        if (journal->checkpoints[i].frame <= at_most)
            return &journal->checkpoints[i];
    return NULL;
}

/* ------------------------------------------------------------------ records in memory */

static bool make_room(pl_journal* journal)
{
    return pl_grow((void**)&journal->frames, &journal->frame_room, journal->frame_count + 1,
                   sizeof *journal->frames) &&
           pl_grow((void**)&journal->checkpoints, &journal->checkpoint_room,
                   journal->checkpoint_count + 1, sizeof *journal->checkpoints);
}

/* Whether a record may follow the previous ones. */
static bool fits(const pl_journal* journal, const pl_journal_record* record)
{
    const pl_journal_record* last = pl_journal_last(journal);
    if (record->kind == PL_JOURNAL_CHECKPOINT)
        return pl_journal_frame(journal, record->frame) != NULL;
    if (record->kind != PL_JOURNAL_FRAME)
        return false;
    if (!last)
        return record->layout == 1;
    if ((int64_t)record->frame != (int64_t)last->frame + 1)
        return false;
    if (record->layout == last->layout)
        return record->layout_content.bytes == last->layout_content.bytes &&
               record->layout_content.hash == last->layout_content.hash;
    return record->layout == last->layout + 1;
}

/* Inserts a record into reserved room. Checkpoints stay sorted; one of the same frame is replaced.
 */
static void take(pl_journal* journal, const pl_journal_record* record)
{
    journal->chain = record->checksum;
    journal->length += sizeof *record;
    if (record->kind == PL_JOURNAL_FRAME)
    {
        journal->frames[journal->frame_count++] = *record;
        return;
    }
    size_t at = journal->checkpoint_count;
    while (at > 0 && journal->checkpoints[at - 1].frame >= record->frame)
        --at;
    if (at == journal->checkpoint_count || journal->checkpoints[at].frame != record->frame)
    {
        memmove(journal->checkpoints + at + 1, journal->checkpoints + at,
                (journal->checkpoint_count - at) * sizeof *record);
        ++journal->checkpoint_count;
    }
    journal->checkpoints[at] = *record;
}

void pl_journal_forget_checkpoint(pl_journal* journal, int32_t frame)
{
    for (size_t i = 0; i < journal->checkpoint_count; ++i)
        if (journal->checkpoints[i].frame == frame)
        {
            memmove(journal->checkpoints + i, journal->checkpoints + i + 1,
                    (journal->checkpoint_count - i - 1) * sizeof *journal->checkpoints);
            --journal->checkpoint_count;
            return;
        }
}

/* ------------------------------------------------------------------ loading */

static pl_status read_header(const char* path, FILE* file)
{
    journal_header head, right = make_header();
    if (fread(&head, sizeof head, 1, file) != 1)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: it has no beginning", path);
    if (memcmp(head.magic, right.magic, sizeof head.magic) != 0)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is not the journal of a frame store", path);
    if (head.byte_order != right.byte_order)
        return pl_fail(PLIANT_ERROR_FORMAT,
                       "%s is from a machine of another byte order, or damaged", path);
    if (head.version != right.version)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is of version %u; this library reads version %u",
                       path, head.version, right.version);
    if (head.checksum != right.checksum)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: its checksum is wrong", path);
    return PLIANT_OK;
}

static pl_status read_records(pl_journal* journal, const char* path, FILE* file)
{
    pl_journal_record record;
    while (fread(&record, sizeof record, 1, file) == 1)
    {
        if (record.checksum != record_checksum(journal->chain, &record))
            break;
        if (!fits(journal, &record))
            return pl_fail(PLIANT_ERROR_FORMAT,
                           "%s is damaged: a record of frame %d is out of place", path,
                           record.frame);
        if (!make_room(journal))
            return pl_fail_memory(journal->frame_count * 2 * sizeof record);
        take(journal, &record);
    }
    if (ferror(file))
        return pl_fail(PLIANT_ERROR_FILE, "%s could not be read: %s", path, strerror(errno));
    return PLIANT_OK;
}

/* "size" was taken before reading: another program may append meanwhile. */
static pl_status check_tail(pl_journal* journal, const char* path, int64_t size, FILE* file,
                            bool repair)
{
    if ((uint64_t)size > journal->length + sizeof(pl_journal_record))
        return pl_fail(PLIANT_ERROR_FORMAT,
                       "%s is damaged: only the first %llu of its %lld bytes are valid", path,
                       (unsigned long long)journal->length, (long long)size);
    if (repair && (uint64_t)size > journal->length &&
        !pl_file_truncate(file, (int64_t)journal->length))
        return pl_fail(PLIANT_ERROR_FILE, "the torn end of %s could not be cut off: %s", path,
                       strerror(errno));
    return PLIANT_OK;
}

pl_status pl_journal_load(pl_journal* journal, const char* folder, bool repair)
{
    char path[PL_STORE_PATH_MAX];
    start(journal, folder);
    path_of(journal, path);
    int64_t size = pl_file_size(path);
    if (size < 0)
        return pl_fail(PLIANT_ERROR_FILE, "%s is missing", path);
    FILE* file = pl_file_open(path, repair ? "r+b" : "rb");
    if (!file)
        return pl_fail(PLIANT_ERROR_FILE, "%s could not be opened: %s", path, strerror(errno));
    pl_status status = read_header(path, file);
    if (status == PLIANT_OK)
        status = read_records(journal, path, file);
    if (status == PLIANT_OK)
        status = check_tail(journal, path, size, file, repair);
    fclose(file);
    if (status != PLIANT_OK)
        pl_journal_free(journal);
    return status;
}

/* ------------------------------------------------------------------ changing */

static bool ends_so(const pl_journal* journal, FILE* file)
{
    pl_journal_record record;
    bool is_empty = journal->length < sizeof(journal_header) + sizeof record;
    uint64_t at = is_empty ? sizeof(journal_header) : journal->length - sizeof record;
    if (fseek(file, (long)at, SEEK_SET) != 0)
        return false;
    if (!is_empty &&
        (fread(&record, sizeof record, 1, file) != 1 || record.checksum != journal->chain))
        return false;
    /* A tail is torn only if it is not a valid record. */
    return fread(&record, sizeof record, 1, file) != 1 ||
           record.checksum != record_checksum(journal->chain, &record);
}

pl_status pl_journal_check(const pl_journal* journal)
{
    char path[PL_STORE_PATH_MAX];
    path_of(journal, path);
    FILE* file = pl_file_open(path, "rb");
    if (!file)
        return pl_fail(PLIANT_ERROR_FILE, "%s could not be opened: %s", path, strerror(errno));
    bool is_same = ends_so(journal, file);
    fclose(file);
    return is_same ? PLIANT_OK
                   : pl_fail(PLIANT_ERROR_STATE,
                             "%s has changed: another program is writing to this folder", path);
}

static bool write_record(const pl_journal* journal, const char* path,
                         const pl_journal_record* record)
{
    FILE* file = pl_file_open(path, "r+b");
    if (!file)
        return false;
    /* A failed append may have left bytes beyond "length": they are overwritten. */
    bool done = fseek(file, (long)journal->length, SEEK_SET) == 0 &&
                fwrite(record, sizeof *record, 1, file) == 1 && pl_file_sync(file);
    int cause = errno;
    if (fclose(file) != 0 && done)
    {
        done = false;
        cause = errno;
    }
    file = done ? NULL : pl_file_open(path, "r+b");
    if (file)
    {
        /* If this fails too, a reader finds a torn tail. */
        if (pl_file_truncate(file, (int64_t)journal->length))
            pl_file_sync(file);
        fclose(file);
    }
    errno = cause;
    return done;
}

pl_status pl_journal_append(pl_journal* journal, pl_journal_record record)
{
    char path[PL_STORE_PATH_MAX];
    path_of(journal, path);
    assert(fits(journal, &record));
    PL_TRY(pl_journal_check(journal));
    record.checksum = record_checksum(journal->chain, &record);
    if (!make_room(journal))
        return pl_fail_memory(journal->frame_count * 2 * sizeof record);
    if (!write_record(journal, path, &record))
        return pl_fail(PLIANT_ERROR_FILE, "%s could not be written: %s", path, strerror(errno));
    take(journal, &record);
    return PLIANT_OK;
}

/* Each frame's record, followed by its checkpoint's: the order in which a bake writes them. */
static size_t chain_records(const pl_journal* journal, int32_t frame, pl_journal_record* out)
{
    uint64_t chain = make_header().checksum;
    size_t count = 0, next = 0;
    for (size_t i = 0; i < journal->frame_count && journal->frames[i].frame <= frame; ++i)
    {
        out[count++] = journal->frames[i];
        if (next < journal->checkpoint_count &&
            journal->checkpoints[next].frame == journal->frames[i].frame)
            out[count++] = journal->checkpoints[next++];
    }
    for (size_t i = 0; i < count; ++i)
        chain = out[i].checksum = record_checksum(chain, &out[i]);
    return count;
}

pl_status pl_journal_truncate(pl_journal* journal, int32_t frame)
{
    char path[PL_STORE_PATH_MAX];
    journal_header head = make_header();
    size_t most = journal->frame_count + journal->checkpoint_count;
    pl_journal_record* kept = PL_NEW(pl_journal_record, most);
    if (!kept)
        return pl_fail_memory(most * sizeof *kept);
    path_of(journal, path);
    size_t count = chain_records(journal, frame, kept);
    pl_status status = pl_store_replace(path, &head, sizeof head, kept, count * sizeof *kept);
    if (status == PLIANT_OK)
    {
        journal->frame_count = journal->checkpoint_count = 0;
        journal->length = sizeof head;
        journal->chain = head.checksum;
        for (size_t i = 0; i < count; ++i)
            take(journal, &kept[i]);
        status = sync_folder(journal->folder);
    }
    pl_free(kept);
    return status;
}
