// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/store/frames_file.h"

#include "base/hash.h"
#include "base/platform.h"
#include "output/store/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(PL_HAVE_ZSTD)
#include <zstd.h>
#endif

enum
{
    /* Higher levels gain a few per cent on float mantissas and are many times slower. */
    ZSTD_LEVEL = 1,
    /* A zstd block of 128 KB takes more than three bytes. */
    ZSTD_MOST_RATIO = 1 << 16
};

typedef struct file_header
{
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t encoding; /* a pliant_compression */
    int32_t number;
    uint64_t bytes;
    uint64_t stored_bytes;
    uint64_t hash;
    uint64_t checksum;
} file_header;

_Static_assert(sizeof(file_header) == 56,
               "the header is written as it lies in memory: raise PL_STORE_VERSION with it");

static const struct
{
    const char *magic, *prefix, *suffix;
    bool numbered;
} KINDS[PL_STORE_FILE_KINDS] = {
    [PL_STORE_HEADER] = {"PLIANTSH", "header", ".plh", false},
    [PL_STORE_LAYOUT] = {"PLIANTLY", "layout-", ".pll", true},
    [PL_STORE_FRAME] = {"PLIANTFR", "frame-", ".plf", true},
    [PL_STORE_CHECKPOINT] = {"PLIANTCP", "check-", ".plc", true},
    [PL_STORE_JOURNAL] = {"PLIANTJN", "journal", ".plj", false},
};
static const char TEMPORARY[] = ".tmp";

/* ------------------------------------------------------------------ names */

static void name_of(char name[64], pl_store_file kind, int32_t number)
{
    if (KINDS[kind].numbered)
        snprintf(name, 64, "%s%06d%s", KINDS[kind].prefix, number, KINDS[kind].suffix);
    else
        snprintf(name, 64, "%s%s", KINDS[kind].prefix, KINDS[kind].suffix);
}

void pl_store_path(char path[PL_STORE_PATH_MAX], const char* folder, pl_store_file kind,
                   int32_t number)
{
    char name[64];
    name_of(name, kind, number);
    snprintf(path, PL_STORE_PATH_MAX, "%s/%s", folder, name);
}

/* Accepts only names that pl_store_path() makes from the number read. */
bool pl_store_name(const char* name, pl_store_file* kind, int32_t* number, bool* temporary)
{
    for (int k = 0; k < PL_STORE_FILE_KINDS; ++k)
    {
        char made[64];
        size_t prefix = strlen(KINDS[k].prefix);
        if (strncmp(name, KINDS[k].prefix, prefix) != 0)
            continue;
        long long read = KINDS[k].numbered ? strtoll(name + prefix, NULL, 10) : 0;
        if (read < INT32_MIN || read > INT32_MAX)
            return false;
        name_of(made, (pl_store_file)k, (int32_t)read);
        size_t length = strlen(made);
        if (strncmp(name, made, length) != 0)
            return false;
        *temporary = strcmp(name + length, TEMPORARY) == 0;
        *kind = (pl_store_file)k;
        *number = (int32_t)read;
        return *temporary || name[length] == 0;
    }
    return false;
}

/* ------------------------------------------------------------------ compression */

pl_status pl_store_check_compression(uint32_t compression)
{
    if (compression == PLIANT_COMPRESS_NONE)
        return PLIANT_OK;
    if (compression != PLIANT_COMPRESS_ZSTD)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "%u is not a compression", compression);
#if defined(PL_HAVE_ZSTD)
    return PLIANT_OK;
#else
    return pl_fail(PLIANT_ERROR_UNSUPPORTED,
                   "zstd compression was asked for, but this library is built without it");
#endif
}

#if defined(PL_HAVE_ZSTD)
static void shuffle(const unsigned char* from, unsigned char* to, uint64_t bytes)
{
    uint64_t words = bytes / 4;
    for (uint64_t i = 0; i < words; ++i)
        for (uint64_t k = 0; k < 4; ++k)
            to[k * words + i] = from[4 * i + k];
    memcpy(to + 4 * words, from + 4 * words, bytes % 4);
}

static void unshuffle(const unsigned char* from, unsigned char* to, uint64_t bytes)
{
    uint64_t words = bytes / 4;
    for (uint64_t i = 0; i < words; ++i)
        for (uint64_t k = 0; k < 4; ++k)
            to[4 * i + k] = from[k * words + i];
    memcpy(to + 4 * words, from + 4 * words, bytes % 4);
}

static pl_status compress(const void* data, uint64_t bytes, void** stored, uint64_t* stored_bytes)
{
    size_t room = ZSTD_compressBound(bytes);
    unsigned char* shuffled = pl_alloc(bytes, 1);
    *stored = pl_alloc(room, 1);
    if (!shuffled || !*stored)
    {
        pl_free(shuffled);
        return pl_fail_memory(bytes + room);
    }
    shuffle(data, shuffled, bytes);
    size_t size = ZSTD_compress(*stored, room, shuffled, bytes, ZSTD_LEVEL);
    pl_free(shuffled);
    if (ZSTD_isError(size))
        return pl_fail(PLIANT_ERROR_INTERNAL, "zstd could not compress %llu bytes: %s",
                       (unsigned long long)bytes, ZSTD_getErrorName(size));
    *stored_bytes = size;
    return PLIANT_OK;
}

static pl_status decompress(const char* path, const void* stored, const file_header* head,
                            void** data)
{
    unsigned char* shuffled = pl_alloc(head->bytes, 1);
    *data = pl_alloc(head->bytes, 1);
    if (!shuffled || !*data)
    {
        pl_free(shuffled);
        return pl_fail_memory(2 * head->bytes);
    }
    size_t size = ZSTD_decompress(shuffled, head->bytes, stored, head->stored_bytes);
    bool whole = !ZSTD_isError(size) && size == head->bytes;
    if (whole)
        unshuffle(shuffled, *data, head->bytes);
    pl_free(shuffled);
    return whole ? PLIANT_OK
                 : pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: it does not decompress", path);
}
#else
static pl_status compress(const void* data, uint64_t bytes, void** stored, uint64_t* stored_bytes)
{
    (void)data, (void)bytes, (void)stored, (void)stored_bytes;
    return pl_store_check_compression(PLIANT_COMPRESS_ZSTD);
}

static pl_status decompress(const char* path, const void* stored, const file_header* head,
                            void** data)
{
    (void)path, (void)stored, (void)head, (void)data;
    return pl_store_check_compression(PLIANT_COMPRESS_ZSTD);
}
#endif

/* ------------------------------------------------------------------ writing */

pl_store_content pl_store_content_of(const void* data, uint64_t bytes)
{
    return (pl_store_content){bytes, pl_hash(PL_HASH_START, data, bytes)};
}

static uint64_t checksum_of(const file_header* head, const void* stored)
{
    uint64_t hash = pl_hash(PL_HASH_START, head, offsetof(file_header, checksum));
    return pl_hash(hash, stored, head->stored_bytes);
}

static bool write_synced(const char* path, const void* head, uint64_t head_bytes, const void* body,
                         uint64_t body_bytes)
{
    FILE* file = pl_file_open(path, "wb");
    if (!file)
        return false;
    bool done = fwrite(head, 1, head_bytes, file) == head_bytes &&
                (body_bytes == 0 || fwrite(body, 1, body_bytes, file) == body_bytes) &&
                pl_file_sync(file);
    int cause = errno;
    if (fclose(file) != 0 && done)
    {
        done = false;
        cause = errno;
    }
    errno = cause;
    return done;
}

static pl_status replace(const char* path, const void* head, uint64_t head_bytes, const void* body,
                         uint64_t body_bytes, const pl_journal* journal)
{
    char temporary[PL_STORE_PATH_MAX + sizeof TEMPORARY];
    pl_status status = PLIANT_OK;
    snprintf(temporary, sizeof temporary, "%s%s", path, TEMPORARY);
    bool done = write_synced(temporary, head, head_bytes, body, body_bytes);
    int cause = errno;
    if (done && journal)
        status = pl_journal_check(journal);
    if (done && status == PLIANT_OK)
    {
        if (pl_file_replace(temporary, path))
            return PLIANT_OK;
        cause = errno;
    }
    pl_file_remove(temporary);
    if (status != PLIANT_OK)
        return status;
    return pl_fail(PLIANT_ERROR_FILE, "%s could not be written: %s", path, strerror(cause));
}

pl_status pl_store_replace(const char* path, const void* head, uint64_t head_bytes,
                           const void* body, uint64_t body_bytes)
{
    return replace(path, head, head_bytes, body, body_bytes, NULL);
}

pl_status pl_store_write_file(const char* folder, const pl_journal* journal, pl_store_file kind,
                              int32_t number, uint32_t compression, const void* data,
                              uint64_t bytes, uint64_t* file_bytes)
{
    char path[PL_STORE_PATH_MAX];
    void* packed = NULL;
    file_header head = {.version = PL_STORE_VERSION,
                        .byte_order = PL_STORE_BYTE_ORDER,
                        .encoding = compression,
                        .number = number,
                        .bytes = bytes,
                        .stored_bytes = bytes,
                        .hash = pl_store_content_of(data, bytes).hash};
    memcpy(head.magic, KINDS[kind].magic, sizeof head.magic);
    pl_store_path(path, folder, kind, number);
    pl_status status = PLIANT_OK;
    if (compression == PLIANT_COMPRESS_ZSTD)
        status = compress(data, bytes, &packed, &head.stored_bytes);
    if (status == PLIANT_OK)
    {
        const void* stored = packed ? packed : data;
        head.checksum = checksum_of(&head, stored);
        status = replace(path, &head, sizeof head, stored, head.stored_bytes, journal);
    }
    pl_free(packed);
    if (file_bytes)
        *file_bytes = sizeof head + head.stored_bytes;
    return status;
}

/* ------------------------------------------------------------------ reading */

static pl_status check_size(const char* path, const file_header* head, uint64_t file_bytes,
                            const pl_store_content* expected)
{
    bool packed = head->encoding == PLIANT_COMPRESS_ZSTD;
    if (head->stored_bytes != file_bytes - sizeof *head)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: it is %llu bytes long, not %llu", path,
                       (unsigned long long)file_bytes,
                       (unsigned long long)head->stored_bytes + sizeof *head);
    if (packed ? head->bytes / ZSTD_MOST_RATIO > head->stored_bytes
               : head->bytes != head->stored_bytes)
        return pl_fail(PLIANT_ERROR_FORMAT,
                       "%s is damaged: %llu bytes cannot come out of %llu stored ones", path,
                       (unsigned long long)head->bytes, (unsigned long long)head->stored_bytes);
    if (expected && (head->bytes != expected->bytes || head->hash != expected->hash))
        return pl_fail(PLIANT_ERROR_FORMAT,
                       "%s is not the file recorded in the journal: its contents differ", path);
    return PLIANT_OK;
}

static pl_status check_header(const char* path, const file_header* head, pl_store_file kind,
                              int32_t number)
{
    if (memcmp(head->magic, KINDS[kind].magic, sizeof head->magic) != 0)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is not a %s file of a frame store", path,
                       KINDS[kind].suffix);
    if (head->byte_order != PL_STORE_BYTE_ORDER)
        return pl_fail(PLIANT_ERROR_FORMAT,
                       "%s is from a machine of another byte order, or damaged", path);
    if (head->version != PL_STORE_VERSION)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is of version %u; this library reads version %u",
                       path, head->version, PL_STORE_VERSION);
    if (head->encoding > PLIANT_COMPRESS_ZSTD)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: its encoding %u is unknown", path,
                       head->encoding);
    if (head->number != number)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s holds number %d", path, head->number);
    return PLIANT_OK;
}

static pl_status read_contents(const char* path, FILE* file, const file_header* head, void** data)
{
    void* stored = pl_alloc(head->stored_bytes, 1);
    if (!stored)
        return pl_fail_memory(head->stored_bytes);
    pl_status status = PLIANT_OK;
    if (fread(stored, 1, head->stored_bytes, file) != head->stored_bytes)
        status = pl_fail(PLIANT_ERROR_FILE, "%s could not be read to its end", path);
    else if (checksum_of(head, stored) != head->checksum)
        status = pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: its checksum is wrong", path);
    else if (head->encoding == PLIANT_COMPRESS_NONE)
    {
        *data = stored;
        stored = NULL;
    }
    else
        status = decompress(path, stored, head, data);
    pl_free(stored);
    if (status == PLIANT_OK && pl_store_content_of(*data, head->bytes).hash != head->hash)
        status = pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: its contents do not match their hash",
                         path);
    return status;
}

pl_status pl_store_read_file(const char* folder, pl_store_file kind, int32_t number,
                             const pl_store_content* expected, void** data, uint64_t* bytes)
{
    char path[PL_STORE_PATH_MAX];
    file_header head;
    *data = NULL;
    *bytes = 0;
    pl_store_path(path, folder, kind, number);
    int64_t file_bytes = pl_file_size(path);
    FILE* file = file_bytes < 0 ? NULL : pl_file_open(path, "rb");
    if (file_bytes < 0)
        return pl_fail(PLIANT_ERROR_FILE, "%s is missing", path);
    if (!file)
        return pl_fail(PLIANT_ERROR_FILE, "%s could not be opened: %s", path, strerror(errno));
    pl_status status = PLIANT_OK;
    if ((uint64_t)file_bytes < sizeof head || fread(&head, sizeof head, 1, file) != 1)
        status = pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: it has only %lld bytes", path,
                         (long long)file_bytes);
    if (status == PLIANT_OK)
        status = check_header(path, &head, kind, number);
    if (status == PLIANT_OK)
        status = check_size(path, &head, (uint64_t)file_bytes, expected);
    if (status == PLIANT_OK)
        status = read_contents(path, file, &head, data);
    fclose(file);
    if (status == PLIANT_OK)
        *bytes = head.bytes;
    else
    {
        pl_free(*data);
        *data = NULL;
    }
    return status;
}
