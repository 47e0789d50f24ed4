// SPDX-License-Identifier: GPL-3.0-or-later
/* Moment sums corrected by contacts: close to gathered ones, and saved bitwise. */
#include "native/support/contact_bodies.h"

#include <api/api.h>
#include <scenes/points.h>
#include <stdlib.h>
#include <string.h>

/* A block of jelly on the ground. */
static contact_scene open_block(uint32_t threads)
{
    contact_scene scene = contact_scene_open(threads, -9.8);
    scene_points points = scene_points_box(16, 16, 16, 1, 1, 1, .6, 1);
    pliant_body_desc desc;
    pliant_body body = 0;
    pliant_collider_desc plane;
    pliant_collider collider = 0;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.points = points.at;
    desc.point_count = points.count;
    desc.points_origin[2] = .52;
    desc.cluster.count = 120;
    desc.material.damping = 2;
    desc.material.stiffness = 6;
    CHECK_OK(pliant_body_create(scene.handle, &desc, &body));
    scene_points_free(&points);
    pliant_collider_desc_init(&plane, sizeof plane);
    CHECK_OK(pliant_collider_create(scene.handle, &plane, &collider));
    return scene;
}

static uint32_t amended_chunks(const pl_body* body)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        count += body->chunks[c].moments == PL_MOMENTS_CORRECTED;
    return count;
}

/* The largest difference between a chunk's sums and what gathering gives, over the largest sum. */
static double amended_error(pl_scene* scene, pl_body* body, uint32_t c)
{
    pl_chunk* chunk = &body->chunks[c];
    size_t count = (size_t)PL_SUM_FLOATS * chunk->row_count;
    float* kept = malloc(count * sizeof *kept);
    double worst = 0, largest = 0;
    pl_pass pass = {.chunk = chunk, .particles = &body->particles, .clusters = &body->clusters};
    if (!kept)
        abort();
    memcpy(kept, chunk->sums, count * sizeof *kept);
    scene->kernels->gather(&pass);
    for (size_t i = 0; i < count; ++i)
    {
        worst = fmax(worst, fabs(kept[i] - chunk->sums[i]));
        largest = fmax(largest, fabs(chunk->sums[i]));
    }
    memcpy(chunk->sums, kept, count * sizeof *kept);
    free(kept);
    return worst / largest;
}

TEST(sums_that_contacts_correct_are_those_of_gathering_but_for_rounding)
{
    contact_scene scene = open_block(1);
    pl_body* body = scene.scene->bodies[0];
    uint32_t seen = 0;
    for (int frame = 0; frame < 30; ++frame)
    {
        CHECK_OK(contact_scene_advance(&scene, 1, 4));
        for (uint32_t c = 0; c < body->chunk_count; ++c)
        {
            double error = amended_error(scene.scene, body, c);
            CHECK_MSG(error <= (body->chunks[c].moments == PL_MOMENTS_CORRECTED ? 5e-6 : 0),
                      "frame %d, chunk %u: %g", frame, c, error);
            seen += body->chunks[c].moments == PL_MOMENTS_CORRECTED;
        }
    }
    CHECK(seen > 10);
    CHECK_OK(pliant_scene_destroy(scene.handle));
}

TEST(corrected_sums_are_part_of_what_is_saved)
{
    contact_scene scene = open_block(1), other = contact_scene_open(2, 0);
    uint64_t bytes = 0, hash[2];
    for (int frame = 0; frame < 40 && !amended_chunks(scene.scene->bodies[0]); ++frame)
        CHECK_OK(contact_scene_advance(&scene, 1, 4));
    CHECK(amended_chunks(scene.scene->bodies[0]) > 0);
    CHECK_OK(pliant_scene_save(scene.handle, NULL, &bytes));
    void* block = malloc(bytes);
    CHECK_OK(pliant_scene_save(scene.handle, block, &bytes));
    CHECK_OK(pliant_scene_restore(other.handle, block, bytes));
    for (int frame = 0; frame < 5; ++frame)
    {
        CHECK_OK(contact_scene_advance(&scene, 1, 4));
        CHECK_OK(contact_scene_advance(&other, 1, 4));
        CHECK_OK(pliant_scene_hash(scene.handle, &hash[0]));
        CHECK_OK(pliant_scene_hash(other.handle, &hash[1]));
        CHECK(hash[0] == hash[1]);
    }
    free(block);
    CHECK_OK(pliant_scene_destroy(scene.handle));
    CHECK_OK(pliant_scene_destroy(other.handle));
}
