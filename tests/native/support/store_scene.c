// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/store_scene.h"

#include "native/support/test.h"

#include <base/core.h>
#include <base/platform.h>
#include <base/rng.h>
#include <stdlib.h>
#include <string.h>

static void fill_floats(pl_rng* rng, float* out, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        out[i] = (float)(2 * pl_rng_unit(rng) - 1);
}

static void make_layout(pl_frame_body* b, uint32_t clusters, pl_rng* rng)
{
    uint32_t p = b->particles;
    b->memberships = 3 * (uint64_t)p;
    b->spacing = .25;
    b->rest_origin[1] = 2;
    b->rest = PL_NEW(float, 3 * p);
    b->mass = PL_NEW(float, p);
    b->shell = PL_NEW(uint32_t, p);
    b->nearest = PL_NEW(uint32_t, p);
    b->begin = PL_NEW(uint32_t, p + 1);
    b->cluster = PL_NEW(uint32_t, b->memberships);
    b->weight = PL_NEW(float, b->memberships);
    fill_floats(rng, b->rest, 3 * p);
    for (uint32_t i = 0; i < p; ++i)
    {
        b->mass[i] = 1 + (float)i;
        b->shell[i] = i % 2;
        b->nearest[i] = pl_rng_below(rng, clusters);
        b->begin[i + 1] = 3 * (i + 1);
        for (int k = 0; k < 3; ++k)
        {
            b->cluster[3 * i + (uint32_t)k] = pl_rng_below(rng, clusters);
            b->weight[3 * i + (uint32_t)k] = k ? .25f : .5f;
        }
    }
}

/* The second body breaks: from some frames on it has more copies, pieces and splits. */
static void make_fracture(pl_frame_body* b, int32_t frame)
{
    uint32_t splits = frame >= STORE_BREAKS ? (uint32_t)(frame - STORE_BREAKS) / 2 + 1 : 0;
    splits = splits < STORE_MOST_SPLITS ? splits : STORE_MOST_SPLITS;
    b->copies = b->divisions = splits;
    b->pieces = 1 + splits / 2;
    b->splits = splits;
    b->particles += splits;
    b->clusters += splits;
}

static void fill_fracture(pl_frame_body* b)
{
    uint32_t first = b->particles - b->copies;
    b->copy_parent = PL_NEW(uint32_t, b->copies);
    b->copy_birth = PL_NEW(double, b->copies);
    b->piece = PL_NEW(uint32_t, b->clusters);
    b->piece_parent = PL_NEW(uint32_t, b->pieces);
    b->piece_birth = PL_NEW(double, b->pieces);
    b->split = PL_NEW(pl_frame_split, b->splits);
    b->divided = PL_NEW(pl_frame_divided, b->divisions);
    for (uint32_t i = 0; i < b->copies; ++i)
    {
        b->copy_parent[i] = i % 3 == 2 ? first + i - 1 : i % first;
        b->copy_birth[i] = STORE_BREAKS - .5 + 2 * i;
        b->divided[i] = (pl_frame_divided){b->copy_parent[i], first + i, i % 2};
        b->split[i] = (pl_frame_split){.time = b->copy_birth[i],
                                       .cluster = i,
                                       .fresh = b->clusters - b->splits + i,
                                       .normal = {1, 0, 0},
                                       .reach = .5f,
                                       .divided_end = i + 1};
        memcpy(b->rest + 3 * (first + i), b->rest + 3 * b->copy_parent[i], 12);
        b->shell[first + i] = b->shell[b->copy_parent[i]];
        b->mass[first + i] = .25f;
        /* what it was divided from loses some mass and changes a cluster */
        b->mass[b->copy_parent[i]] *= .5f;
        b->cluster[b->begin[b->copy_parent[i]]] = b->split[i].fresh;
        b->cluster[b->begin[first + i]] = i;
    }
    for (uint32_t i = 0; i < b->pieces; ++i)
    {
        b->piece_parent[i] = i ? i - 1 : 0;
        b->piece_birth[i] = STORE_BREAKS + i;
    }
    for (uint32_t c = 0; c < b->clusters; ++c)
        b->piece[c] = c % b->pieces;
}

void store_bodies_make(pl_frame_body bodies[STORE_BODIES], int32_t frame, uint32_t scale)
{
    for (int i = 0; i < STORE_BODIES; ++i)
    {
        pl_frame_body* b = &bodies[i];
        bool changed = frame >= STORE_LAYOUT_CHANGE;
        pl_rng layout = pl_rng_seed((uint64_t)i + (changed ? 100 : 0));
        pl_rng rng = pl_rng_seed((uint64_t)(int64_t)frame * 7 + (uint64_t)i + 1000);
        memset(b, 0, sizeof *b);
        b->particles = (uint32_t)(5 + 3 * i) * scale;
        b->clusters = (uint32_t)(2 + i + changed) * scale;
        uint32_t clusters = b->clusters;
        if (i == 1)
            make_fracture(b, frame);
        make_layout(b, clusters, &layout);
        if (i == 1)
            fill_fracture(b);
        b->origin[0] = 1e6 + frame;
        b->origin[2] = 1.0 / 3;
        b->x = PL_NEW(float, 3 * b->particles);
        b->v = PL_NEW(float, 3 * b->particles);
        b->gradient = PL_NEW(float, 9 * b->clusters);
        b->rate = PL_NEW(float, 9 * b->clusters);
        b->plastic = PL_NEW(float, b->clusters);
        b->renewed = PL_NEW(float, b->clusters);
        fill_floats(&rng, b->x, 3 * b->particles);
        fill_floats(&rng, b->v, 3 * b->particles);
        fill_floats(&rng, b->gradient, 9 * b->clusters);
        fill_floats(&rng, b->rate, 9 * b->clusters);
        fill_floats(&rng, b->plastic, b->clusters);
        fill_floats(&rng, b->renewed, b->clusters);
    }
}

void store_bodies_free(pl_frame_body bodies[STORE_BODIES])
{
    for (int i = 0; i < STORE_BODIES; ++i)
        pl_frame_body_free(&bodies[i]);
}

static bool same(const void* a, const void* b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

static bool same_fracture(const pl_frame_body* a, const pl_frame_body* b)
{
    return a->copies == b->copies && a->pieces == b->pieces && a->splits == b->splits &&
           a->divisions == b->divisions &&
           (!a->pieces || (same(a->copy_parent, b->copy_parent, 4 * a->copies) &&
                           same(a->copy_birth, b->copy_birth, 8 * a->copies) &&
                           same(a->piece, b->piece, 4 * a->clusters) &&
                           same(a->piece_parent, b->piece_parent, 4 * a->pieces) &&
                           same(a->piece_birth, b->piece_birth, 8 * a->pieces) &&
                           same(a->split, b->split, sizeof *a->split * a->splits) &&
                           same(a->divided, b->divided, sizeof *a->divided * a->divisions)));
}

bool store_bodies_same(const pl_frame_body* a, const pl_frame_body* b)
{
    if (a->particles != b->particles || a->clusters != b->clusters ||
        a->memberships != b->memberships || a->spacing != b->spacing ||
        !same(a->origin, b->origin, 24) || !same(a->rest_origin, b->rest_origin, 24))
        return false;
    size_t p = a->particles, c = a->clusters, m = a->memberships;
    return same(a->x, b->x, 12 * p) && same(a->v, b->v, 12 * p) &&
           same(a->gradient, b->gradient, 36 * c) && same(a->rate, b->rate, 36 * c) &&
           same(a->plastic, b->plastic, 4 * c) && same(a->renewed, b->renewed, 4 * c) &&
           same(a->rest, b->rest, 12 * p) && same(a->mass, b->mass, 4 * p) &&
           same(a->shell, b->shell, 4 * p) && same(a->nearest, b->nearest, 4 * p) &&
           same(a->begin, b->begin, 4 * (p + 1)) && same(a->cluster, b->cluster, 4 * m) &&
           same(a->weight, b->weight, 4 * m) && same_fracture(a, b);
}

uint64_t store_hash(int32_t frame)
{
    return 0x1234567890abcdefull * (uint64_t)(int64_t)(frame + 1);
}

pl_frame_store* store_open(const char* path, uint32_t mode, uint32_t compression, uint32_t every)
{
    pl_frame_store* store = NULL;
    pliant_store_desc desc = {.size = sizeof desc,
                              .mode = mode,
                              .compression = compression,
                              .checkpoint_every = every,
                              .path = path};
    CHECK_OK(pl_frames_open(&desc, &store));
    return store;
}

pl_status store_bake(pl_frame_store* store, int32_t from, int32_t to)
{
    for (int32_t frame = from; frame <= to; ++frame)
    {
        pl_frame_body bodies[STORE_BODIES];
        char block[100];
        memset(block, frame, sizeof block);
        memcpy(block, &frame, sizeof frame);
        store_bodies_make(bodies, frame, 1);
        pl_status status = pl_frames_write(store, frame, STORE_BODIES, bodies,
                                           frame >= STORE_LAYOUT_CHANGE, store_hash(frame));
        store_bodies_free(bodies);
        if (status == PLIANT_OK && pl_frames_checkpoint_due(store, frame))
            status = pl_frames_write_checkpoint(store, frame, block, sizeof block);
        PL_TRY(status);
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ files */

static void note_name(void* user, const char* name)
{
    folder_files* files = user;
    if (files->count < 256)
        snprintf(files->names[files->count++], 64, "%s", name);
}

static int by_name(const void* a, const void* b)
{
    return strcmp(a, b);
}

void folder_read(const char* path, folder_files* files)
{
    memset(files, 0, sizeof *files);
    pl_directory_list(path, note_name, files);
    qsort(files->names, (size_t)files->count, sizeof files->names[0], by_name);
    for (int i = 0; i < files->count; ++i)
    {
        char file_path[1200];
        snprintf(file_path, sizeof file_path, "%s/%s", path, files->names[i]);
        int64_t size = pl_file_size(file_path);
        FILE* file = fopen(file_path, "rb");
        files->bytes[i] = size > 0 ? (uint64_t)size : 0;
        files->data[i] = malloc(files->bytes[i] + 1);
        if (!file || fread(files->data[i], 1, files->bytes[i], file) != files->bytes[i])
            files->bytes[i] = 0;
        if (file)
            fclose(file);
    }
}

void folder_free(folder_files* files)
{
    for (int i = 0; i < files->count; ++i)
        free(files->data[i]);
    files->count = 0;
}

bool folder_same(const folder_files* a, const folder_files* b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; ++i)
        if (strcmp(a->names[i], b->names[i]) != 0 || a->bytes[i] != b->bytes[i] ||
            memcmp(a->data[i], b->data[i], a->bytes[i]) != 0)
            return false;
    return true;
}

bool file_write(const char* folder, const char* name, const void* data, uint64_t bytes)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "r+b"); /* in place: some file systems sync what "wb" replaces */
    if (!file)
        file = fopen(path, "wb");
    bool done =
        file && fwrite(data, 1, bytes, file) == bytes && pl_file_truncate(file, (int64_t)bytes);
    return (file && fclose(file) == 0) && done;
}

bool file_exists(const char* folder, const char* name)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return pl_file_size(path) >= 0;
}
