// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Small scenes for the tests of the API: one body and one thing that is special about it, driven
 * the same way in every run, so that two runs can be compared bit for bit.
 */
#ifndef PLIANT_TEST_WORLD_H
#define PLIANT_TEST_WORLD_H

#include "native/support/test.h"

#include <stdint.h>

typedef enum world_kind
{
    WORLD_PLAIN,
    WORLD_NESTED,
    WORLD_INDEPENDENT,
    WORLD_LINEAR,
    WORLD_QUADRATIC,
    WORLD_LIMIT,
    WORLD_PINS,
    WORLD_FOLLOW, /* until frame 4 */
    WORLD_ACCELERATIONS,
    WORLD_COLLIDERS,
    WORLD_FIELDS,
    WORLD_PRESSURE, /* of a mesh */
    WORLD_PAINTED,
    WORLD_MESHES,   /* colliders: a waving sheet and a ball that is driven through the body */
    WORLD_PLASTIC,  /* with levels */
    WORLD_FLOW,     /* the same, and clusters come and go all the time */
    WORLD_BREAKING, /* flows, too, pushed by particle, among the colliders of WORLD_MESHES */
    WORLD_ALL,      /* several bodies, colliders and fields at once */
    WORLD_KINDS
} world_kind;

const char* world_name(uint32_t kind);

/* A scene with one thread; 0 (and a failed check) if it cannot be made. The caller destroys it. */
pliant_scene world_make(uint32_t kind);
/* Bodies alone, into a scene that is there. */
pliant_status world_fill(uint32_t kind, pliant_scene scene);
/* Tells the scene what moves in the coming frame. Finds handles by index, so it works on a restored
 * scene too. */
void world_drive(uint32_t kind, pliant_scene scene, uint64_t frame);
/* Drives and advances one frame. */
pliant_status world_frame(uint32_t kind, pliant_scene scene);

/* A descriptor of a body of n^3 points in a unit cube. Points stay valid till the next call. */
pliant_body_desc world_cube(uint32_t n);
pliant_frame_desc world_frame_desc(void);
pliant_body world_body(pliant_scene scene, uint32_t index);
uint64_t world_hash(pliant_scene scene);
/* The hash of all that can be saved: more than the scene's own hash looks at. */
uint64_t world_state(pliant_scene scene);
/* The saved block; the caller frees it. */
void* world_save(pliant_scene scene, uint64_t* bytes);
/* Saves a scene and restores it from that, in place; its first body, whose handle is another now.
 */
pliant_body world_renew(pliant_scene scene);
/* Reads a channel; the caller frees it. NULL (and a failed check) on failure. */
void* world_read(pliant_body body, uint32_t channel, uint32_t level, uint64_t* bytes);
/* Whether every float that can be read of the body is finite. */
bool world_finite(pliant_body body);

#endif
