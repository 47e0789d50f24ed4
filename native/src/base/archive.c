// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/archive.h"

#include "base/hash.h"

#include <string.h>

/* Compared as an integer, which detects another byte order. */
#define BYTE_ORDER_MARK 0x01020304u

static const char MAGIC[8] = {'P', 'L', 'I', 'A', 'N', 'T', 'S', 'T'};

typedef struct header
{
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint64_t bytes;
    uint64_t checksum;
} header;

_Static_assert(sizeof(header) == PL_ARCHIVE_HEADER,
               "the header is copied as raw bytes: keep PL_ARCHIVE_HEADER equal to its size");

static uint64_t checksum_of(const header* head, const unsigned char* payload)
{
    uint64_t hash = pl_hash(PL_HASH_START, head, offsetof(header, checksum));
    return pl_hash(hash, payload, head->bytes);
}

void pl_archive_count(pl_archive* a)
{
    *a = (pl_archive){.mode = PL_ARCHIVE_COUNT, .at = PL_ARCHIVE_HEADER, .end = UINT64_MAX};
}

void pl_archive_write(pl_archive* a, void* buffer, uint64_t bytes, uint32_t version)
{
    *a = (pl_archive){.mode = PL_ARCHIVE_WRITE,
                      .version = version,
                      .data = buffer,
                      .at = PL_ARCHIVE_HEADER,
                      .end = bytes};
    if (!buffer || bytes < PL_ARCHIVE_HEADER)
        a->status = pl_fail(PLIANT_ERROR_BUFFER, "a buffer of %llu bytes cannot hold a saved state",
                            (unsigned long long)bytes);
}

static pl_status check_header(const header* head, uint64_t bytes, uint32_t version)
{
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0)
        return pl_fail(PLIANT_ERROR_FORMAT, "this is not a saved state of Pliant");
    if (head->byte_order != BYTE_ORDER_MARK)
        return pl_fail(PLIANT_ERROR_FORMAT,
                       "the saved state is from a machine of another byte order, or damaged");
    if (head->version != version)
        return pl_fail(PLIANT_ERROR_FORMAT,
                       "the saved state is of version %u; this library reads version %u",
                       head->version, version);
    if (head->bytes != bytes - PL_ARCHIVE_HEADER)
        return pl_fail(PLIANT_ERROR_FORMAT,
                       "the saved state should be %llu bytes after its header but is %llu",
                       (unsigned long long)head->bytes,
                       (unsigned long long)(bytes - PL_ARCHIVE_HEADER));
    return PLIANT_OK;
}

pl_status pl_archive_read(pl_archive* a, const void* buffer, uint64_t bytes, uint32_t version)
{
    header head;
    *a = (pl_archive){.mode = PL_ARCHIVE_READ,
                      .version = version,
                      .data = (unsigned char*)(uintptr_t)buffer,
                      .at = PL_ARCHIVE_HEADER,
                      .end = bytes};
    if (!buffer || bytes < PL_ARCHIVE_HEADER)
        return a->status =
                   pl_fail(PLIANT_ERROR_FORMAT, "a saved state cannot be as short as %llu bytes",
                           (unsigned long long)bytes);
    memcpy(&head, buffer, sizeof head);
    a->status = check_header(&head, bytes, version);
    if (a->status == PLIANT_OK && head.checksum != checksum_of(&head, a->data + PL_ARCHIVE_HEADER))
        a->status =
            pl_fail(PLIANT_ERROR_FORMAT, "the saved state is damaged: its checksum is wrong");
    return a->status;
}

pl_status pl_archive_finish(pl_archive* a, uint64_t* bytes)
{
    if (a->status == PLIANT_OK && a->mode == PL_ARCHIVE_READ && a->at != a->end)
        a->status = pl_fail(PLIANT_ERROR_FORMAT, "the saved state has %llu unread bytes at its end",
                            (unsigned long long)(a->end - a->at));
    if (a->status == PLIANT_OK && a->mode == PL_ARCHIVE_WRITE)
    {
        header head = {.version = a->version,
                       .byte_order = BYTE_ORDER_MARK,
                       .bytes = a->at - PL_ARCHIVE_HEADER};
        memcpy(head.magic, MAGIC, sizeof MAGIC);
        head.checksum = checksum_of(&head, a->data + PL_ARCHIVE_HEADER);
        memcpy(a->data, &head, sizeof head);
    }
    if (bytes)
        *bytes = a->at;
    return a->status;
}

bool pl_archive_reading(const pl_archive* a)
{
    return a->mode == PL_ARCHIVE_READ;
}

bool pl_archive_failed(const pl_archive* a)
{
    return a->status != PLIANT_OK;
}

/* Reserves the next bytes; false, with a sticky error, if the block is too short. */
static bool advance(pl_archive* a, uint64_t bytes, uint64_t* from)
{
    if (a->status != PLIANT_OK)
        return false;
    if (bytes > a->end - a->at)
    {
        a->status = a->mode == PL_ARCHIVE_READ
                        ? pl_fail(PLIANT_ERROR_FORMAT, "the saved state ends %llu bytes too early",
                                  (unsigned long long)(bytes - (a->end - a->at)))
                        : pl_fail(PLIANT_ERROR_BUFFER,
                                  "a buffer of %llu bytes is too small for the saved state",
                                  (unsigned long long)a->end);
        return false;
    }
    *from = a->at;
    a->at += bytes;
    return true;
}

void pl_archive_bytes(pl_archive* a, void* data, uint64_t bytes)
{
    uint64_t from = 0;
    bool room = advance(a, bytes, &from);
    if (!bytes) /* "data" may then be NULL */
        return;
    if (a->mode == PL_ARCHIVE_READ)
    {
        if (room)
            memcpy(data, a->data + from, bytes);
        else
            memset(data, 0, bytes);
    }
    else if (room && a->mode == PL_ARCHIVE_WRITE)
        memcpy(a->data + from, data, bytes);
}

void pl_archive_u32(pl_archive* a, uint32_t* value)
{
    pl_archive_bytes(a, value, sizeof *value);
}

void pl_archive_i32(pl_archive* a, int32_t* value)
{
    pl_archive_bytes(a, value, sizeof *value);
}

void pl_archive_u64(pl_archive* a, uint64_t* value)
{
    pl_archive_bytes(a, value, sizeof *value);
}

void pl_archive_f64(pl_archive* a, double* value)
{
    pl_archive_bytes(a, value, sizeof *value);
}

void pl_archive_bool(pl_archive* a, bool* value)
{
    unsigned char byte = a->mode != PL_ARCHIVE_READ && *value;
    pl_archive_bytes(a, &byte, 1);
    pl_archive_require(a, byte <= 1, "a switch");
    if (a->mode == PL_ARCHIVE_READ)
        *value = byte == 1;
}

/* Stored as the array's size in bytes, all ones for NULL, then the bytes. */
void pl_archive_array(pl_archive* a, void** array, uint64_t count, size_t size)
{
    const uint64_t none = UINT64_MAX;
    bool reading = a->mode == PL_ARCHIVE_READ;
    bool fits = !size || count <= (uint64_t)PTRDIFF_MAX / size;
    uint64_t bytes = fits ? count * size : none;
    uint64_t stored = reading || !*array ? none : bytes;
    pl_archive_u64(a, &stored);
    if (reading)
    {
        *array = NULL;
        if (a->status != PLIANT_OK || stored == none)
            return;
        pl_archive_require(a, fits && stored == bytes, "an array's length");
        pl_archive_require(a, stored <= a->end - a->at, "an array that fits the block");
        if (a->status != PLIANT_OK)
            return;
        *array = pl_alloc(count, size);
        if (!*array)
        {
            a->status = pl_fail_memory(bytes);
            return;
        }
    }
    if (*array)
        pl_archive_bytes(a, *array, bytes);
}

void pl_archive_tag(pl_archive* a, const char tag[4])
{
    char stored[4];
    memcpy(stored, tag, 4);
    pl_archive_bytes(a, stored, 4);
    if (a->mode == PL_ARCHIVE_READ && a->status == PLIANT_OK && memcmp(stored, tag, 4) != 0)
        a->status =
            pl_fail(PLIANT_ERROR_FORMAT, "the saved state has no section %.4s where expected", tag);
}

void pl_archive_require(pl_archive* a, bool condition, const char* what)
{
    if (!condition && a->mode == PL_ARCHIVE_READ && a->status == PLIANT_OK)
        a->status = pl_fail(PLIANT_ERROR_FORMAT, "the saved state is damaged: %s is wrong", what);
}
