// SPDX-License-Identifier: GPL-3.0-or-later
/* Bodies that are continuously deformed, baked and skinned, with the cost of it. */
#ifndef PLIANT_SOAK_H
#define PLIANT_SOAK_H

#include <pliant.h>
#include <stdbool.h>

enum
{
    SOAK_PROBES = 64
};

/* A window of frames: sizes at its end, mean costs. */
typedef struct soak_window
{
    uint32_t frames; /* at the end */
    uint32_t particles, ids;
    uint32_t live, clusters; /* of the finest level: with members, and total */
    uint32_t memberships;
    uint32_t pieces_ever, splits;
    double limit;  /* of ids, splits and pieces, see pliant.h */
    double memory; /* bytes used by the library, without the stored skin and the journal */
    double skin;   /* bytes of the stored skin */
    double state;  /* bytes of a saved scene */
    double disk;   /* bytes per frame */
    double ms;     /* processor time per frame */
    double work;   /* contacts and strain-limit pairs per substep */
} soak_window;

typedef struct soak
{
    uint32_t index, frame, vertex_count, particles;
    char folder[256], fault[512];
    pliant_scene scene;
    pliant_body body;
    pliant_collider box, ball;
    pliant_store store;
    pliant_skin live, stored;
    float *vertices, *points, *skinned, *targets;
    double limit;      /* soak_window */
    double skin_bytes; /* total measured memory of the stored skin */
    uint64_t disk;
    /* Results of the stored skin for some frames when they were written. */
    uint32_t probe_count;
    int32_t probe[SOAK_PROBES];
    uint64_t probe_hash[SOAK_PROBES];
} soak;

/* NULL: no more cases. */
const char* soak_name(uint32_t index);
/* False: s->fault has the error. Call soak_end in both cases. */
bool soak_begin(soak* s, uint32_t index, const char* folder);
bool soak_advance(soak* s, uint32_t frames, soak_window* window);
/* Checks that stored frames read in any order are skinned bit-identically, and that the store is
 * intact. */
bool soak_check(soak* s);
void soak_end(soak* s);
void soak_mean(const soak_window* windows, uint32_t count, soak_window* mean);

#endif
