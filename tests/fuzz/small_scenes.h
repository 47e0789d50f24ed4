// SPDX-License-Identifier: GPL-3.0-or-later
/* Scenes of 20 to 64 particles, one for each kind of state that a block or a store can have. */
#ifndef PLIANT_FUZZ_SMALL_SCENES_H
#define PLIANT_FUZZ_SMALL_SCENES_H

#include <pliant.h>

/* Stored inputs depend on this order: append new kinds. */
typedef enum small_kind
{
    SMALL_PLAIN,
    SMALL_NESTED,
    SMALL_INDEPENDENT,
    SMALL_QUADRATIC,
    SMALL_PINNED, /* strain limit, pins, accelerations, painted factors */
    SMALL_FOLLOW,
    SMALL_SHAPES, /* colliders of every shape but meshes, fields of every kind */
    SMALL_PRESSURE,
    SMALL_MESHES,    /* colliders that are meshes */
    SMALL_FLOW,      /* reclustering */
    SMALL_DRAWN,     /* resampled: particles were divided */
    SMALL_PRESSED,   /* resampled: particles were merged */
    SMALL_BROKEN,    /* without contacts and colliders */
    SMALL_FRAGMENTS, /* with contacts, levels, flow and ground */
    SMALL_CELLS,
    SMALL_WELDED,
    SMALL_ASLEEP,
    SMALL_PARTLY, /* an advance was cancelled */
    SMALL_KINDS
} small_kind;

/* Creates a scene with one thread and advances it; a failed check and 0 on failure. */
pliant_scene small_scene(uint32_t kind);
/* The same in an empty scene. */
void small_fill(pliant_scene scene, uint32_t kind);
/* An empty scene with one thread; "simd" is a pliant_simd. */
pliant_scene small_empty(uint32_t simd);
/* A plane at height 0. */
void small_add_ground(pliant_scene scene);
/* Scales the positions of up to 3,000 particles about the scene's origin. */
void small_stretch(pliant_body body, float x, float y, float z);

#endif
