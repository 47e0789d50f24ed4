// SPDX-License-Identifier: GPL-3.0-or-later
/* Bodies that break, for tests: ghosts and bars. */
#ifndef PLIANT_TEST_BREAKING_H
#define PLIANT_TEST_BREAKING_H

#include "native/support/test.h"
#include "native/support/world.h"

#include <api/api.h>
#include <scenes/points.h>

enum
{
    BREAKING_MOST = 4000 /* particles */
};

typedef struct breaking
{
    pliant_scene_desc scene_desc;
    pliant_body_desc desc;
    pliant_fracture_desc fracture;
    scene_points points;
    float* x; /* where the particles are put by breaking_place */
    uint32_t count;
    pliant_scene scene;
    pliant_body body;
    double pulled;
    uint32_t substeps; /* of a frame; 0: automatic */
} breaking;

/* A box of unit size (its longest side 2) without any stiffness: its particles stay where they are
 * put, so that every cluster keeps the stretch that it was given. No gravity, one thread. */
breaking breaking_ghost(uint32_t nx, uint32_t ny, uint32_t nz, uint32_t clusters);
/* A bar along x, 2 long and .4 thick, held at both ends, 1,250 particles. */
breaking breaking_bar(uint32_t clusters);
/* A ghost or a bar once more, with the settings that a caller has changed since. */
void breaking_make(breaking* b);
void breaking_make_bar(breaking* b);
void breaking_free(breaking* b);

/* Bodies of its scene collide. */
void breaking_collide(const breaking* b);
/* The same, on a ground at z = 0, and what settles sleeps. */
void breaking_on_ground(const breaking* b);
/* A ball that flies down from .6 above the origin; stiffness 0: the body's own. */
pliant_body breaking_throw_ball(const breaking* b, double speed, double stiffness, double density);

void breaking_place(breaking* b);
void breaking_tough(breaking* b, double toughness);
void breaking_advance(breaking* b, int frames);
/* Moves the ends apart by so much in each frame, on both sides together. */
void breaking_pull(breaking* b, int frames, double by);
pliant_body_info breaking_info(const breaking* b);
/* The body behind the handle. */
pl_body* breaking_body(const breaking* b);
/* A channel; the caller frees it. count: of items of so many bytes; may be NULL. */
void* breaking_read(const breaking* b, uint32_t channel, uint32_t bytes, uint32_t* count);

#endif
