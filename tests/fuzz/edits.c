// SPDX-License-Identifier: GPL-3.0-or-later
#include "edits.h"

#include <stdlib.h>

enum
{
    SMALL =
        100000 /* words below it are taken for counts and indices: floats are larger as integers */
};

/* The first word from "word" on that may be a count or an index; wraps around. */
static uint64_t find_small(const unsigned char* data, uint64_t words, uint64_t word)
{
    for (uint64_t i = 0; i < words; ++i)
    {
        uint32_t found;
        uint64_t at = (word + i) % words;
        memcpy(&found, data + 4 * at, sizeof found);
        if (found < SMALL)
            return at;
    }
    return word;
}

static void edit_word(unsigned char* data, uint64_t words, uint32_t op, uint64_t where,
                      uint32_t value)
{
    static const uint32_t special[] = {0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff,
                                       0x00000001, 0x80000000, 0x00800000, 0x7f000000};
    uint64_t at = where % words;
    uint32_t word;
    if (op == 1 || op == 2)
        at = find_small(data, words, at);
    memcpy(&word, data + 4 * at, sizeof word);
    switch (op)
    {
        case 2:
            word += (uint32_t)(int8_t)value;
            break;
        case 3:
            word ^= 1u << value % 32;
            break;
        case 4:
            word = special[value % 8];
            break;
        default:
            word = value;
    }
    memcpy(data + 4 * at, &word, sizeof word);
}

/* Removes "count" bytes at "at", or inserts as many zeros. */
static void resize(unsigned char** data, uint64_t* bytes, uint64_t at, uint64_t count, bool insert)
{
    if (insert)
    {
        *data = realloc(*data, *bytes + count);
        memmove(*data + at + count, *data + at, *bytes - at);
        memset(*data + at, 0, count);
        *bytes += count;
        return;
    }
    count = count < *bytes - at ? count : *bytes - at;
    memmove(*data + at, *data + at + count, *bytes - at - count);
    *bytes -= count;
}

void fuzz_edit(fuzz_input* in, unsigned char** data, uint64_t* bytes, uint64_t keep)
{
    uint32_t op = fuzz_u8(in) % 8;
    uint64_t where = fuzz_u8(in);
    where |= fuzz_u8(in) << 8;
    where |= fuzz_u8(in) << 16;
    uint32_t value = fuzz_u32(in);
    uint64_t room = *bytes - keep;
    if (room < 4)
        return;
    unsigned char* body = *data + keep;
    if (op < 5)
    {
        edit_word(body, room / 4, op, where, value);
        return;
    }
    where %= room;
    if (op == 5)
    {
        uint64_t from = (value >> 8) % room & ~3ull, to = where & ~3ull, count = value % 64 + 4;
        uint64_t most = room - (from > to ? from : to);
        memmove(body + to, body + from, count < most ? count : most);
    }
    else if (op == 6)
        resize(data, bytes, keep + where, value % 128, value >> 7 & 1);
    else
        *bytes = keep + where;
}
