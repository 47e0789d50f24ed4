// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The container of every file of the frame store except the journal: one block of bytes with a
 * header that identifies it and verifies its integrity.
 *
 *   magic | version | byte order | encoding | number | bytes | stored bytes | hash of the bytes |
 *   checksum of the header and the stored bytes | stored bytes
 *
 * Stored bytes are the bytes themselves, or zstd of the bytes shuffled: all first bytes of every
 * four, then all second ones and so on, because the high bytes of neighbouring floats are alike.
 */
#ifndef PL_OUTPUT_STORE_FRAMES_FILE_H
#define PL_OUTPUT_STORE_FRAMES_FILE_H

#include "base/core.h"

#define PL_STORE_VERSION 6
#define PL_STORE_BYTE_ORDER 0x01020304u

typedef enum pl_store_file
{
    PL_STORE_HEADER,
    PL_STORE_LAYOUT,
    PL_STORE_FRAME,
    PL_STORE_CHECKPOINT,
    PL_STORE_JOURNAL, /* not a container */
    PL_STORE_FILE_KINDS
} pl_store_file;

/* Longest folder, and room for a folder, a name and a terminator. */
#define PL_STORE_FOLDER_MAX 900
#define PL_STORE_PATH_MAX 1000

/* The path of a file of the store; "number" is a frame or a layout where the kind has one. */
void pl_store_path(char path[PL_STORE_PATH_MAX], const char* folder, pl_store_file kind,
                   int32_t number);
/* Whether a file name is one of the store's (temporary ones included); sets *kind, *number (0 for
 * kinds without) and *temporary. */
bool pl_store_name(const char* name, pl_store_file* kind, int32_t* number, bool* temporary);

/* A file's contents as recorded in the journal. */
typedef struct pl_store_content
{
    uint64_t bytes, hash;
} pl_store_content;

pl_store_content pl_store_content_of(const void* data, uint64_t bytes);

struct pl_journal;

/* Writes to a temporary name, syncs and renames; does NOT sync the folder. "journal" (may be NULL)
 * is checked right before the rename (pl_journal_check). Fails with PLIANT_ERROR_FILE, or
 * PLIANT_ERROR_STATE if the journal on disk has changed; a previous file then stays, and no
 * temporary one. *file_bytes (may be NULL): size on disk. */
pl_status pl_store_write_file(const char* folder, const struct pl_journal* journal,
                              pl_store_file kind, int32_t number, uint32_t compression,
                              const void* data, uint64_t bytes, uint64_t* file_bytes);
/* Reads and verifies a file; "expected" (may be NULL) is the journal's record. *data is pl_alloc'd,
 * after the header and the file's size were validated. PLIANT_ERROR_FILE: missing or unreadable;
 * PLIANT_ERROR_FORMAT: damaged or of another version. */
pl_status pl_store_read_file(const char* folder, pl_store_file kind, int32_t number,
                             const pl_store_content* expected, void** data, uint64_t* bytes);

/* PLIANT_ERROR_UNSUPPORTED if this build lacks a compression, PLIANT_ERROR_ARGUMENT if it does not
 * exist. */
pl_status pl_store_check_compression(uint32_t compression);

/* Writes head and body to a temporary name beside "path", syncs and renames. */
pl_status pl_store_replace(const char* path, const void* head, uint64_t head_bytes,
                           const void* body, uint64_t body_bytes);

#endif
