// SPDX-License-Identifier: GPL-3.0-or-later
/* Scenes of 20 to 64 particles, one for each kind of state that a block or a store can be of. */
#ifndef PLIANT_FUZZ_SMALL_SCENES_H
#define PLIANT_FUZZ_SMALL_SCENES_H

#include <pliant.h>

/* Their order is part of the inputs that are kept: add at the end. */
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
    SMALL_FLOW,      /* clusters come and go */
    SMALL_DRAWN,     /* resampled: particles became two */
    SMALL_PRESSED,   /* resampled: particles became one */
    SMALL_BROKEN,    /* without contacts and colliders */
    SMALL_FRAGMENTS, /* with contacts, levels, flow and ground */
    SMALL_CELLS,
    SMALL_WELDED,
    SMALL_ASLEEP,
    SMALL_PARTLY, /* an advance was cancelled */
    SMALL_KINDS
} small_kind;

/* A scene with one thread, after its frames; a failed check and 0 if it cannot be made. */
pliant_scene small_scene(uint32_t kind);
/* The same in an empty scene. */
void small_fill(pliant_scene scene, uint32_t kind);
/* An empty scene with one thread; "simd" is a pliant_simd. */
pliant_scene small_empty(uint32_t simd);

#endif
