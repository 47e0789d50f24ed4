// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Chunks in which every membership has a rest position of its own. A cluster's rest frame is its
 * own affair: turned as a whole, with its scatter matrix, it asks the same of its members. So a
 * body whose clusters are all turned differently, which only own rest can say, moves as one whose
 * are not.
 */
#include "native/support/test.h"
#include "native/support/world.h"

#include <api/api.h>
#include <base/cpu.h>
#include <base/rng.h>
#include <body/layout.h>
#include <body/rest_moments.h>
#include <scenes/bars.h>
#include <stdlib.h>
#include <string.h>

static mat3 random_rotation(pl_rng* rng)
{
    double q[4], square = 0;
    for (int i = 0; i < 4; ++i)
    {
        q[i] = 2 * pl_rng_unit(rng) - 1;
        square += q[i] * q[i];
    }
    double s = 2 / square, w = q[0], x = q[1], y = q[2], z = q[3];
    return (mat3){{{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                   {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                   {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}}};
}

/* Gives every chunk own rest, each finest cluster turned by a rotation of its own. */
static void turn_clusters(pl_body* body, bool turned)
{
    pl_clusters* k = &body->clusters;
    pl_rng rng = pl_rng_seed(7);
    uint32_t finest = body->level_begin[1];
    mat3* turn = calloc(finest, sizeof *turn);
    for (uint32_t c = 0; c < finest; ++c)
    {
        turn[c] = turned ? random_rotation(&rng) : m3_identity();
        mat3 back = m3_transpose(turn[c]);
        pl_store_symmetric(m3_mul(m3_mul(turn[c], pl_load_symmetric(k->arr[c])), back), k->arr[c]);
        pl_store_symmetric(m3_mul(m3_mul(turn[c], pl_load_symmetric(k->arr_inv[c])), back),
                           k->arr_inv[c]);
    }
    for (uint32_t i = 0; i < body->chunk_count; ++i)
    {
        pl_chunk* chunk = &body->chunks[i];
        chunk->own_rest = PL_NEW(float, (size_t)24 * chunk->entry_count);
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
                for (uint32_t lane = 0; lane < 8; ++lane)
                {
                    uint32_t slot = chunk->slot_begin + 8 * b + lane,
                             c = chunk->rows[chunk->entry_row[e]];
                    vec3 centre = v3_sub(v3_from(k->rest[c]), v3_from(chunk->rest_origin));
                    vec3 r = v3(body->particles.r[0][slot], body->particles.r[1][slot],
                                body->particles.r[2][slot]);
                    vec3 own = v3_add(centre, m3_mulv(turn[c], v3_sub(r, centre)));
                    float* out = chunk->own_rest + (size_t)24 * e + lane;
                    out[0] = (float)own.x, out[8] = (float)own.y, out[16] = (float)own.z;
                }
    }
    free(turn);
    CHECK(pl_layout_rest_moments(body) == PLIANT_OK);
}

typedef enum rest_kind
{
    SHARED,
    OWN,
    TURNED
} rest_kind;

/* A stretched, turning cube after half a second. The caller frees the positions. */
static float* played(rest_kind rest, double limit, double yield, uint32_t simd, uint32_t threads,
                     uint64_t* hash)
{
    pliant_scene scene;
    pliant_body handle;
    pliant_scene_desc sd;
    pliant_body_desc desc = world_cube(8);
    pl_body* body;
    pl_scene* inside;
    uint32_t count = desc.point_count, read = 0;
    pliant_scene_desc_init(&sd, sizeof sd);
    sd.simd = simd;
    sd.threads = threads;
    desc.material.strain_limit = limit;
    desc.material.yield = yield;
    CHECK_OK(pliant_scene_create(&sd, &scene));
    CHECK_OK(pliant_body_create(scene, &desc, &handle));
    CHECK(pl_get_body(handle, &body, &inside) == PLIANT_OK);
    if (rest != SHARED)
        turn_clusters(body, rest == TURNED);
    float* x = malloc(sizeof(float) * 3 * count);
    for (uint32_t i = 0; i < 3 * count; ++i)
        x[i] = desc.points[i] * (i % 3 ? .95f : 1.2f);
    CHECK_OK(pliant_body_set_particles(handle, count, NULL, x, NULL));
    free(x);
    for (int f = 0; f < 12; ++f)
    {
        pliant_frame_desc frame = world_frame_desc();
        frame.substeps = 4;
        CHECK_OK(pliant_scene_advance(scene, &frame));
        if (f == 5) /* own rest is saved with the rest */
        {
            uint64_t bytes;
            void* block = world_save(scene, &bytes);
            CHECK_OK(pliant_scene_restore(scene, block, bytes));
            free(block);
        }
    }
    *hash = world_hash(scene);
    float* out = scene_read_floats(world_body(scene, 0), PLIANT_POSITION, 0, NULL, &read);
    CHECK(read == 3 * count);
    pliant_scene_destroy(scene);
    return out;
}

static double farthest(const float* a, const float* b, uint32_t count)
{
    double most = 0;
    for (uint32_t i = 0; i < count; ++i)
        most = fmax(most, fabs((double)a[i] - b[i]));
    return most;
}

TEST(a_turned_rest_frame_moves_alike)
{
    static const double limits[] = {0, .1, .01}, yields[] = {INFINITY, .02};
    for (int l = 0; l < 3; ++l)
        for (int y = 0; y < 2; ++y)
        {
            uint64_t hash;
            float* shared = played(SHARED, limits[l], yields[y], PLIANT_SIMD_AUTO, 1, &hash);
            float* own = played(OWN, limits[l], yields[y], PLIANT_SIMD_AUTO, 1, &hash);
            float* turned = played(TURNED, limits[l], yields[y], PLIANT_SIMD_AUTO, 1, &hash);
            CHECK_MSG(farthest(shared, own, 1536) < 2e-5,
                      "limit %g, yield %g: own rest is off by %g", limits[l], yields[y],
                      farthest(shared, own, 1536));
            CHECK_MSG(farthest(shared, turned, 1536) < 2e-5,
                      "limit %g, yield %g: turned by cluster it is off by %g", limits[l], yields[y],
                      farthest(shared, turned, 1536));
            free(shared);
            free(own);
            free(turned);
        }
}

TEST(own_rest_gives_the_same_bits_everywhere)
{
    uint64_t expected = 0;
    for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
        for (uint32_t threads = 1; threads <= 3 && pl_cpu_has(simd); threads += 2)
        {
            uint64_t hash;
            free(played(TURNED, .02, .02, simd, threads, &hash));
            expected = expected ? expected : hash;
            CHECK_MSG(hash == expected, "%s with %u threads differs", pl_cpu_path_name(simd),
                      threads);
        }
}
