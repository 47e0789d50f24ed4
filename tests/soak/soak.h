// SPDX-License-Identifier: GPL-3.0-or-later
/* Bodies that are kneaded for ever, baked and skinned, and what that costs. */
#ifndef PLIANT_SOAK_H
#define PLIANT_SOAK_H

#include <pliant.h>
#include <stdbool.h>

enum
{
    SOAK_PROBES = 64
};

/* Over a number of frames: sizes at their end, costs on average. */
typedef struct soak_window
{
    uint32_t frames; /* at the end */
    uint32_t particles, ids;
    uint32_t live, clusters; /* of the finest level: with members, and in all */
    uint32_t memberships;
    uint32_t pieces_ever, splits;
    double limit;  /* of ids, splits and pieces, as pliant.h has it */
    double memory; /* bytes that the library holds but for the stored skin and the journal */
    double skin;   /* bytes of the stored skin */
    double state;  /* bytes of a saved scene */
    double disk;   /* bytes a frame */
    double ms;     /* processor time a frame */
    double work;   /* contacts and strain-limit pairs a substep */
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
    double skin_bytes; /* what the stored skin was seen to take, in all */
    uint64_t disk;
    /* What the stored skin gave for some frames when they were written. */
    uint32_t probe_count;
    int32_t probe[SOAK_PROBES];
    uint64_t probe_hash[SOAK_PROBES];
} soak;

/* NULL: there are no more. */
const char* soak_name(uint32_t index);
/* False: s->fault says what went wrong. soak_end is for both. */
bool soak_begin(soak* s, uint32_t index, const char* folder);
bool soak_advance(soak* s, uint32_t frames, soak_window* window);
/* Stored frames in any order are skinned to the bits that they had at first, and the store is
 * whole. */
bool soak_check(soak* s);
void soak_end(soak* s);
void soak_mean(const soak_window* windows, uint32_t count, soak_window* mean);

#endif
