// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The container that every file of the frame store but the journal is: one block of bytes with a
 * header that tells what it is and proves that it is whole.
 *
 *   magic | version | byte order | encoding | number | bytes | stored bytes | hash of the bytes |
 *   checksum of the header and the stored bytes | stored bytes
 *
 * Stored bytes are the bytes themselves, or zstd of the bytes shuffled: all first bytes of every
 * four, then all second ones and so on, since the high bytes of neighbouring floats are alike.
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
    PL_STORE_JOURNAL, /* not a container, but named here like the others */
    PL_STORE_FILE_KINDS
} pl_store_file;

/* Longest folder, and room for a folder, a name and a terminator. */
#define PL_STORE_FOLDER_MAX 900
#define PL_STORE_PATH_MAX 1000

/* The path of a file of the store; "number" is a frame or a layout where the kind has one. */
void pl_store_path(char path[PL_STORE_PATH_MAX], const char* folder, pl_store_file kind,
                   int32_t number);
/* Is a name in the folder one that the store gives (a temporary one included)? *kind, *number and
 * *temporary tell which (number 0 for kinds without). */
bool pl_store_name(const char* name, pl_store_file* kind, int32_t* number, bool* temporary);

/* What the journal says about a file's contents. */
typedef struct pl_store_content
{
    uint64_t bytes, hash;
} pl_store_content;

pl_store_content pl_store_content_of(const void* data, uint64_t bytes);

struct pl_journal;

/* Writes to a temporary name, syncs, renames; the folder is NOT synced yet. "journal" (may be NULL)
 * is checked right before the file gets its name (pl_journal_check). On failure PLIANT_ERROR_FILE,
 * or PLIANT_ERROR_STATE if the journal is not what it was; nothing is left behind and what was
 * there before still is. *file_bytes (may be NULL): size on disk. */
pl_status pl_store_write_file(const char* folder, const struct pl_journal* journal,
                              pl_store_file kind, int32_t number, uint32_t compression,
                              const void* data, uint64_t bytes, uint64_t* file_bytes);
/* Reads and proves a file; "expected" (may be NULL) is what the journal has noted. *data is
 * pl_alloc'd. Nothing is allocated before the header and the file's size have been believed.
 * PLIANT_ERROR_FILE: not there or unreadable; PLIANT_ERROR_FORMAT: damaged or of another version.
 */
pl_status pl_store_read_file(const char* folder, pl_store_file kind, int32_t number,
                             const pl_store_content* expected, void** data, uint64_t* bytes);

/* PLIANT_ERROR_UNSUPPORTED if this build lacks a compression, PLIANT_ERROR_ARGUMENT if none has it.
 */
pl_status pl_store_check_compression(uint32_t compression);

/* Writes head and body to a temporary name beside "path", syncs and renames. */
pl_status pl_store_replace(const char* path, const void* head, uint64_t head_bytes,
                           const void* body, uint64_t body_bytes);

#endif
