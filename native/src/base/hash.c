// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash ^= word * 0x9fb21c651e98df25ull;
    hash = (hash << 29) | (hash >> 35);
    return hash * 0xd6e8feb86659fd93ull;
}

uint64_t pl_hash(uint64_t hash, const void* data, size_t bytes)
{
    const unsigned char* at = data;
    uint64_t word;
    for (; bytes >= 8; bytes -= 8, at += 8)
    {
        memcpy(&word, at, 8);
        hash = mix(hash, word);
    }
    word = (uint64_t)bytes << 56;
    for (size_t i = 0; i < bytes; ++i)
        word |= (uint64_t)at[i] << (8 * i);
    hash = mix(hash, word);
    return hash ^ (hash >> 32);
}
