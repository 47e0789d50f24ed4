// SPDX-License-Identifier: GPL-3.0-or-later
/* A 64-bit hash for state comparisons and checksums (not for security): 8 bytes at a time, by
 * multiplication and rotation, little-endian on every machine. */
#ifndef PL_BASE_HASH_H
#define PL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define PL_HASH_START 0x2545f4914f6cdd1dull

/* Continues "hash" over bytes. The result depends on how the bytes are split into calls. */
uint64_t pl_hash(uint64_t hash, const void* data, size_t bytes);

#endif
