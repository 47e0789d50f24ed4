// SPDX-License-Identifier: GPL-3.0-or-later
/* Point sets for tests and benchmarks: made from formulas, or read from the published files. */
#ifndef PLIANT_SCENE_POINTS_H
#define PLIANT_SCENE_POINTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct scene_points
{
    uint32_t count;
    float* at; /* x y z each */
} scene_points;

/* nx by ny by nz points in a box with edges x, y, z about zero, one in the middle of each cell,
 * moved by up to "jitter" times half a cell (0: a grid; 1: anywhere in its cell). */
scene_points scene_points_box(uint32_t nx, uint32_t ny, uint32_t nz, double x, double y, double z,
                              double jitter, uint32_t seed);
/* Exactly "count" points, jittered, in a ball of this radius about zero, in order along z. */
scene_points scene_points_ball(uint32_t count, double radius, uint32_t seed);
/* One "x y z" a line. No points when the file is not there or something in it is not a number. */
scene_points scene_points_read(const char* path);
/* Orders the points along a Morton curve, so that whoever walks them meets neighbours. */
void scene_points_sort(scene_points* points);
void scene_points_free(scene_points* points);

#endif
