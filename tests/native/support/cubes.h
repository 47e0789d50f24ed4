// SPDX-License-Identifier: GPL-3.0-or-later
/* A cube of points for tests that go through the public API only, and how it swings. */
#ifndef PLIANT_TEST_CUBES_H
#define PLIANT_TEST_CUBES_H

#include <pliant.h>
#include <scenes/points.h>
#include <stdbool.h>

typedef struct cube
{
    pliant_scene scene;
    pliant_body body;
    scene_points points; /* in a cube of side 1 about zero */
    pliant_body_desc desc;
    pliant_scene_desc scene_desc;
} cube;

/* n^3 jittered points, no gravity, no damping; the caller changes the descriptors. */
cube cube_new(uint32_t n, uint32_t clusters);
/* Makes the scene and the body; false and a failed check if that does not work. */
bool cube_make(cube* c);
void cube_free(cube* c);

/* Puts it at rest, stretched along x. */
void cube_stretch(const cube* c, double factor);
pliant_status cube_advance(pliant_scene scene, double dt, uint32_t substeps);
pliant_body_info cube_info(pliant_body body);

typedef struct cube_swing
{
    double frequency; /* hertz, from the zero crossings */
    double decay;     /* per second, from the peaks' logarithms */
} cube_swing;

/* Advances and looks at how much longer than at rest the cube is. */
cube_swing cube_watch(const cube* c, uint32_t frames, double dt, uint32_t substeps);

#endif
