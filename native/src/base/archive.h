// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Serialisation. One visitor function measures, saves and restores a state, so that the three
 * always agree:
 *
 *   static void visit_body(pl_archive* a, body* b)
 *   {
 *       pl_archive_tag(a, "BODY");
 *       pl_archive_u32(a, &b->particles);
 *       PL_ARCHIVE_ARRAY(a, b->x, 3 * (uint64_t)b->particles);
 *       pl_archive_require(a, b->x != NULL, "positions");
 *   }
 *
 *   count:  pl_archive_count(&a);                       visit; pl_archive_finish(&a, &bytes);
 *   write:  pl_archive_write(&a, buffer, bytes, v);     visit; pl_archive_finish(&a, &bytes);
 *   read:   PL_TRY(pl_archive_read(&a, buffer, bytes, v)); visit into a zeroed object;
 *           status = pl_archive_finish(&a, NULL);       on failure free the object
 *
 * The block:  "PLIANTST" | u32 version | u32 byte-order marker | u64 bytes after the header |
 *             u64 checksum of header and payload | payload written by the visitor
 *
 * A read verifies the header and the checksum before it calls the visitor. Errors are sticky: after
 * the first one nothing is written, and reads return zeros and NULLs. A visitor only has to check
 * values that it uses as an index or a size.
 */
#ifndef PL_BASE_ARCHIVE_H
#define PL_BASE_ARCHIVE_H

#include "base/core.h"

typedef enum pl_archive_mode
{
    PL_ARCHIVE_COUNT,
    PL_ARCHIVE_WRITE,
    PL_ARCHIVE_READ,
} pl_archive_mode;

typedef struct pl_archive
{
    pl_archive_mode mode;
    pl_status status; /* sticky; pl_last_error() has the message */
    uint32_t version;
    unsigned char* data; /* not written to while reading; NULL while counting */
    uint64_t at, end;    /* "end" is the buffer's size */
} pl_archive;

/* Bytes of the header, before the payload. */
#define PL_ARCHIVE_HEADER 32

void pl_archive_count(pl_archive* a);
/* If the buffer is too small, finish returns PLIANT_ERROR_BUFFER; nothing is written beyond it. */
void pl_archive_write(pl_archive* a, void* buffer, uint64_t bytes, uint32_t version);
/* PLIANT_ERROR_FORMAT unless the block is complete, undamaged and of this version. */
pl_status pl_archive_read(pl_archive* a, const void* buffer, uint64_t bytes, uint32_t version);
/* Writes the header of a written block; checks that a read block was consumed. *bytes (may be
 * NULL): the block's size, header included. */
pl_status pl_archive_finish(pl_archive* a, uint64_t* bytes);

bool pl_archive_reading(const pl_archive* a);
/* True after an error. Check it in loops whose length comes from the archive. */
bool pl_archive_failed(const pl_archive* a);

/* Plain bytes. Structs may be given if they have no padding and no pointers. */
void pl_archive_bytes(pl_archive* a, void* data, uint64_t bytes);
void pl_archive_u32(pl_archive* a, uint32_t* value);
void pl_archive_i32(pl_archive* a, int32_t* value);
void pl_archive_u64(pl_archive* a, uint64_t* value);
void pl_archive_f64(pl_archive* a, double* value);
void pl_archive_bool(pl_archive* a, bool* value);

/* "count" items of "size" bytes at *array; NULL is restored as NULL. Reading checks that the block
 * has that many bytes left, allocates with pl_alloc and overwrites *array without freeing it. Visit
 * "count" first, so that reading and writing agree on it. */
void pl_archive_array(pl_archive* a, void** array, uint64_t count, size_t size);
#define PL_ARCHIVE_ARRAY(a, array, count)                                                          \
    do                                                                                             \
    {                                                                                              \
        void* pl_archive_array_ = (array);                                                         \
        pl_archive_array((a), &pl_archive_array_, (count), sizeof *(array));                       \
        (array) = pl_archive_array_;                                                               \
    } while (0)

/* Four letters that a read must find again: detects a visitor that is out of step. */
void pl_archive_tag(pl_archive* a, const char tag[4]);
/* Fails a read with PLIANT_ERROR_FORMAT, naming "what", unless the condition holds. */
void pl_archive_require(pl_archive* a, bool condition, const char* what);

#endif
