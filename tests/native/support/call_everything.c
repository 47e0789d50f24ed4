// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/call_everything.h"

#include <base/archive.h>
#include <base/hash.h>
#include <stdlib.h>
#include <string.h>

enum
{
    LAST_CHANNEL = PLIANT_SUCCESSOR,
    MOST_READ = 1 << 26
};

void seal_block(unsigned char* block, uint64_t bytes)
{
    const size_t before = PL_ARCHIVE_HEADER - sizeof(uint64_t);
    uint64_t payload = bytes - PL_ARCHIVE_HEADER;
    memcpy(block + before - sizeof payload, &payload, sizeof payload);
    uint64_t sum = pl_hash(PL_HASH_START, block, before);
    sum = pl_hash(sum, block + PL_ARCHIVE_HEADER, payload);
    memcpy(block + before, &sum, sizeof sum);
}

pliant_status try_call(pliant_status status)
{
    CHECK_MSG(status != PLIANT_ERROR_INTERNAL, "internal error: %s", pliant_last_error());
    return status;
}

static void read_channels(pliant_body body, uint32_t levels)
{
    for (uint32_t channel = 0; channel <= LAST_CHANNEL + 1; ++channel)
        for (uint32_t level = 0; level < levels; ++level)
        {
            uint64_t bytes = 0;
            if (try_call(pliant_body_read(body, channel, level, NULL, NULL, &bytes)) ||
                bytes > MOST_READ)
                continue;
            void* buffer = malloc(bytes + !bytes);
            try_call(pliant_body_read(body, channel, level, NULL, buffer, &bytes));
            free(buffer);
        }
}

static void skin_body(pliant_body body)
{
    float vertices[6] = {.5f, .5f, .5f, .1f, .2f, .3f}, normals[6] = {0, 0, 1, 1, 0, 0};
    float out[6], turned[6], speeds[6];
    pliant_skin skin;
    pliant_skin_desc desc;
    pliant_skin_desc_init(&desc, sizeof desc);
    desc.vertex_count = 2;
    desc.vertices = vertices;
    desc.normals = normals;
    if (try_call(pliant_skin_create(body, &desc, &skin)) != PLIANT_OK)
        return;
    try_call(pliant_skin_apply(skin, NULL, NULL, out, turned, speeds));
    CHECK_OK(pliant_skin_destroy(skin));
}

static void set_body(pliant_body body, uint32_t particles)
{
    pliant_fracture_desc fracture;
    float points[9] = {0, 0, 0, 1, 1, 1, .5f, 0, .5f};
    float* values = calloc(particles + 1, 3 * sizeof(float));
    float* ones = malloc((particles + 1) * sizeof *ones);
    for (uint32_t i = 0; i < particles; ++i)
        ones[i] = 1;
    try_call(pliant_body_set_pins(body, particles, values));
    for (uint32_t factor = 0; factor <= PLIANT_FACTOR_TOUGHNESS; ++factor)
        try_call(pliant_body_set_factors(body, factor, particles, ones));
    try_call(pliant_body_set_accelerations(body, particles, values));
    try_call(pliant_body_set_particles(body, particles, NULL, NULL, values));
    try_call(pliant_body_set_contacts(body, 1, 1));
    try_call(pliant_body_set_surface(body, .5, .1, -1));
    try_call(pliant_body_set_follow(body, 1));
    try_call(pliant_body_set_pin_targets(body, particles, NULL, values));
    try_call(pliant_body_set_follow(body, 0));
    pliant_fracture_desc_init(&fracture, sizeof fracture);
    fracture.toughness = .05;
    if (try_call(pliant_body_set_fracture(body, &fracture)) == PLIANT_OK)
        try_call(pliant_body_set_cells(body, 3, NULL, points));
    free(values);
    free(ones);
}

void call_everything_body(pliant_body body)
{
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    if (try_call(pliant_body_get_info(body, &info)) != PLIANT_OK)
        return;
    pliant_body_warning_text(body);
    read_channels(body, info.levels);
    skin_body(body);
    set_body(body, info.particles);
}

void call_everything_saved(pliant_scene scene)
{
    uint64_t bytes = 0, before = 0, after = 0;
    CHECK_OK(pliant_scene_hash(scene, &before));
    CHECK_OK(pliant_scene_save(scene, NULL, &bytes));
    void* block = malloc(bytes);
    CHECK_OK(pliant_scene_save(scene, block, &bytes));
    CHECK_OK(pliant_scene_restore(scene, block, bytes));
    CHECK_OK(pliant_scene_hash(scene, &after));
    CHECK(before == after);
    free(block);
}

void call_everything_scene(pliant_scene scene)
{
    pliant_scene_info info;
    pliant_frame_desc frame;
    pliant_body body;
    uint64_t hash, bytes = 0;
    uint32_t substeps;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = frame.max_substeps = 4;
    for (int f = 0; f < 2; ++f)
        if (try_call(pliant_scene_advance(scene, &frame)) == PLIANT_ERROR_STATE)
        {
            frame.substeps = 0;
            try_call(pliant_scene_advance(scene, &frame));
        }
    pliant_scene_info_init(&info, sizeof info);
    CHECK_OK(pliant_scene_get_info(scene, &info));
    for (uint32_t b = 0; b < info.bodies; ++b)
        if (pliant_scene_get_body(scene, b, &body) == PLIANT_OK)
            call_everything_body(body);
    CHECK_OK(pliant_scene_hash(scene, &hash));
    CHECK_OK(pliant_scene_auto_substeps(scene, .04, 8, &substeps));
    CHECK_OK(pliant_scene_save(scene, NULL, &bytes));
    try_call(pliant_scene_advance(scene, &frame));
    if (info.bodies && pliant_scene_get_body(scene, 0, &body) == PLIANT_OK)
        try_call(pliant_body_destroy(body));
    try_call(pliant_scene_advance(scene, &frame));
}
