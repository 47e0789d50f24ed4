// SPDX-License-Identifier: GPL-3.0-or-later
/* Reads numbers from the fuzzer's bytes. Past the end they are zero. */
#ifndef PLIANT_FUZZ_INPUT_H
#define PLIANT_FUZZ_INPUT_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct fuzz_input
{
    const uint8_t *at, *end;
} fuzz_input;

static inline bool fuzz_ended(const fuzz_input* in)
{
    return in->at == in->end;
}

static inline uint32_t fuzz_u8(fuzz_input* in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static inline uint32_t fuzz_below(fuzz_input* in, uint32_t n)
{
    return fuzz_u8(in) % n;
}

static inline uint32_t fuzz_u32(fuzz_input* in)
{
    uint32_t value = fuzz_u8(in);
    value |= fuzz_u8(in) << 8;
    value |= fuzz_u8(in) << 16;
    return value | fuzz_u8(in) << 24;
}

/* An integer: usually small, otherwise a boundary value or arbitrary. */
static inline uint32_t fuzz_whole(fuzz_input* in)
{
    static const uint32_t hard[] = {0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe,
                                    0x10000,    0xffff,     1u << 24,   1000};
    uint32_t byte = fuzz_u8(in);
    if (byte < 192)
        return byte % 64;
    return byte < 248 ? hard[byte % 8] : fuzz_u32(in);
}

/* A number: usually between 0 and 12, otherwise a boundary value or arbitrary. */
static inline double fuzz_number(fuzz_input* in)
{
    static const double hard[] = {0,        -1,       NAN,    INFINITY, -INFINITY, 1e-38,   1e38,
                                  1e-300,   1e308,    -1e38,  FLT_MIN,  FLT_MAX,   DBL_MIN, 1e-45,
                                  DBL_MAX,  -DBL_MAX, -1e-38, 1e6,      -1e6,      1e-6,    1e-3,
                                  1e3,      1e12,     1e-12,  1e19,     1e-19,     2,       1,
                                  -FLT_MAX, -0.0,     1e154,  1e-154};
    uint32_t byte = fuzz_u8(in);
    if (byte < 32)
        return hard[byte];
    if (byte >= 40)
        return (byte - 40) / 18.0;
    uint64_t low = fuzz_u32(in);
    uint64_t bits = low | (uint64_t)fuzz_u32(in) << 32;
    double any;
    memcpy(&any, &bits, sizeof any);
    return any;
}

#endif
