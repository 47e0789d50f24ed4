// SPDX-License-Identifier: GPL-3.0-or-later
/* What the files that fill scenes share; scenes.c finds them by name. */
#ifndef PLIANT_SCENE_OPEN_H
#define PLIANT_SCENE_OPEN_H

#include "scenes.h"

/* The scene takes over the points or the mesh. */
void scene_use_points(scene* s, scene_points points);
void scene_use_mesh(scene* s, scene_mesh mesh, uint32_t particles);
/* The published points; false if they are not at hand. */
bool scene_use_published(scene* s, const char* file, uint32_t count);
void scene_set_clusters(scene* s, uint32_t clusters, double radius, uint32_t levels);

/* papers.c */
void scene_open_stretched_cube(scene* s);
void scene_open_falling_ball(scene* s);
void scene_open_hovering_cube(scene* s);
void scene_open_falling_bunny(scene* s);
void scene_open_plinko(scene* s);
void scene_open_falling_armadillo(scene* s);
void scene_open_armadillo_itself(scene* s);
void scene_open_ball_and_wall(scene* s);
void scene_open_three_bunnies(scene* s);

/* touching.c */
void scene_open_sheet(scene* s);
void scene_open_squeeze(scene* s);
void scene_open_rain(scene* s);

/* breaking.c */
void scene_open_breaking_beam(scene* s);
void scene_open_ductile_plate(scene* s);

#endif
