// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/test.h"

#include <base/core.h>
#include <base/hash.h>
#include <base/lapack.h>
#include <base/parallel.h>
#include <base/rng.h>
#include <stdatomic.h>
#include <string.h>

TEST(allocations_are_aligned_zeroed_and_counted)
{
    uint64_t before = pl_bytes_in_use();
    char* block = pl_alloc(1000, 3);
    REQUIRE(block);
    CHECK(((uintptr_t)block & 63) == 0);
    for (int i = 0; i < 3000; ++i)
        CHECK(block[i] == 0);
    CHECK(pl_bytes_in_use() == before + 3000);
    block[2999] = 7;
    block = pl_realloc(block, 4000, 1);
    CHECK(block[2999] == 7 && block[3000] == 0);
    pl_free(block);
    CHECK(pl_bytes_in_use() == before);
    CHECK(pl_alloc(SIZE_MAX / 2, 3) == NULL);
}

TEST(allocation_failures_can_be_provoked)
{
    pl_fail_allocations_after(1);
    void* first = pl_alloc(1, 1);
    CHECK(first != NULL);
    CHECK(pl_alloc(1, 1) == NULL);
    CHECK(pl_alloc(1, 1) == NULL);
    pl_fail_allocations_after(-1);
    pl_free(first);
    first = pl_alloc(1, 1);
    CHECK(first != NULL);
    pl_free(first);
}

static void count_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    atomic_uint* hits = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
        atomic_fetch_add(&hits[i], 1);
}

TEST(every_item_is_done_once_at_every_thread_count)
{
    static atomic_uint hits[1013];
    for (uint32_t threads = 1; threads <= 8; ++threads)
    {
        pl_pool* pool = pl_pool_create(threads);
        REQUIRE(pool);
        CHECK(pl_pool_threads(pool) == threads);
        for (int round = 0; round < 200; ++round)
        {
            memset(hits, 0, sizeof hits);
            pl_parallel_for(pool, 1013, 1 + (uint32_t)round % 50, count_items, hits);
            for (int i = 0; i < 1013; ++i)
                CHECK(hits[i] == 1);
        }
        pl_pool_destroy(pool);
    }
}

TEST(eigenvectors_diagonalise)
{
    pl_rng rng = pl_rng_seed(3);
    for (int round = 0; round < 100; ++round)
    {
        mat3 a, v;
        double e[3];
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j <= i; ++j)
                a.m[i][j] = a.m[j][i] = pl_rng_unit(&rng) - .5;
        REQUIRE(pl_eigen3(a, e, &v));
        CHECK(e[0] <= e[1] && e[1] <= e[2]);
        CHECK_NEAR(m3_det(v), 1, 1e-12);
        mat3 d = m3_mul(m3_transpose(v), m3_mul(a, v));
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                CHECK_NEAR(d.m[i][j], i == j ? e[i] : 0, 1e-12);
    }
}

TEST(pseudo_inverse_of_a_singular_matrix)
{
    double a[9] = {2, 0, 0, 0, 3, 0, 0, 0, 0}, b[9];
    CHECK(pl_pseudo_inverse(3, a, 1e-9, b) == 2);
    CHECK_NEAR(b[0], .5, 1e-15);
    CHECK_NEAR(b[4], 1 / 3., 1e-15);
    CHECK_NEAR(b[8], 0, 0);
}

TEST(hash_sees_every_byte_and_order)
{
    unsigned char data[100];
    for (int i = 0; i < 100; ++i)
        data[i] = (unsigned char)i;
    uint64_t whole = pl_hash(PL_HASH_START, data, 100);
    for (int i = 0; i < 100; ++i)
    {
        data[i] ^= 1;
        CHECK(pl_hash(PL_HASH_START, data, 100) != whole);
        data[i] ^= 1;
    }
    CHECK(pl_hash(PL_HASH_START, data, 99) != whole);
    CHECK(pl_hash(PL_HASH_START, data, 100) == whole);
}
