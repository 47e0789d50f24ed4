// SPDX-License-Identifier: GPL-3.0-or-later
/* A made-up simulation for the tests of the frame store: two bodies whose numbers follow from the
 * frame, and files of a folder to look at and to damage. */
#ifndef PLIANT_STORE_SCENE_H
#define PLIANT_STORE_SCENE_H

#include <output/store/frames.h>
#include <stdbool.h>
#include <stdint.h>

enum
{
    STORE_BODIES = 2,
    STORE_LAYOUT_CHANGE = 7, /* from this frame on memberships are others */
    STORE_BREAKS = 9,        /* and from this one on the second body breaks, every second frame */
    STORE_MOST_SPLITS = 60
};

/* The bodies as they are at a frame, every array filled; "scale" multiplies their sizes. */
void store_bodies_make(pl_frame_body bodies[STORE_BODIES], int32_t frame, uint32_t scale);
void store_bodies_free(pl_frame_body bodies[STORE_BODIES]);
bool store_bodies_same(const pl_frame_body* a, const pl_frame_body* b);
uint64_t store_hash(int32_t frame);

/* Opens or makes a store; NULL (and a failed check) if that does not work. */
pl_frame_store* store_open(const char* path, uint32_t mode, uint32_t compression, uint32_t every);
/* Frames "from" to "to" with their checkpoints, as a bake writes them. */
pl_status store_bake(pl_frame_store* store, int32_t from, int32_t to);

/* Files. */
typedef struct folder_files
{
    int count;
    char names[256][64];
    unsigned char* data[256];
    uint64_t bytes[256];
} folder_files;

void folder_read(const char* path, folder_files* files); /* by name */
void folder_free(folder_files* files);
bool folder_same(const folder_files* a, const folder_files* b);
bool file_write(const char* folder, const char* name, const void* data, uint64_t bytes);
bool file_exists(const char* folder, const char* name);

#endif
