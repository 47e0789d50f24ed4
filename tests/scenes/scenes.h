// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Bodies that tests and benchmarks share: the rows of the published measurements, the sizes of the
 * papers' examples, and those examples themselves (papers.c). A scene is filled descriptors;
 * whoever opens it changes what it wants and hands them to the library.
 *
 * Defaults are those of the measurements: 1/60 s a step, alpha .8, gamma .1, omega .3, 4 iterations
 * of strain limiting, damping .1 a step, gravity, inverse-square kernel. The body spins freely:
 * that stretches it for ever, so that a strain limit can be idle (gamma .1) or violated (gamma
 * 1e-4) in every step.
 */
#ifndef PLIANT_SCENES_H
#define PLIANT_SCENES_H

#include "meshes.h"
#include "points.h"

#include <pliant.h>
#include <stdbool.h>

enum
{
    SCENE_MOST_COLLIDERS = 12,
    SCENE_MOST_COPIES = 64,
    SCENE_MOST_KINDS = 4
};

/* Bodies that are not like the scene's first. */
typedef struct scene_kind
{
    scene_points points;
    pliant_body_desc body;
} scene_kind;

typedef struct scene
{
    const char* name;
    bool generated;      /* the published points were not at hand: others of the same number */
    scene_points points; /* what body.points points to; empty where a mesh is sampled */
    scene_mesh mesh;
    pliant_scene_desc scene;
    pliant_body_desc body;
    pliant_frame_desc frame;
    pliant_collider_desc collider[SCENE_MOST_COLLIDERS];
    uint32_t collider_count;
    scene_mesh ground; /* a collider too, of the shape of its descriptor; empty: none */
    pliant_collider_desc ground_desc;
    /* The body again: each copy is moved by its offset and has its own velocity. */
    uint32_t copy_count;
    double copy_offset[SCENE_MOST_COPIES][3], copy_velocity[SCENE_MOST_COPIES][3];
    /* What each is a copy of: 0 the body, otherwise kind[n - 1]. */
    uint32_t copy_kind[SCENE_MOST_COPIES];
    uint32_t kind_count;
    scene_kind kind[SCENE_MOST_KINDS];
    /* Particles of the first body that are held where they are (NULL: none). */
    bool (*held)(const float at[3]);
    pliant_contact_desc contact; /* between bodies; off unless the scene is about them */
    double stretch;              /* along x at the start, about the body's centre; 1: none */
    /* Falkenstein 2017, chapter 4: a force -s x along x for so many seconds; s as an acceleration.
     */
    double press, press_seconds;
    uint32_t steps; /* how long it is measured, from its start; 0: as the benchmark likes */
    /* The velocity at the start of a particle at "at" (NULL: the body's own). */
    void (*throw)(const float at[3], float velocity[3]);
    bool breaks;
    pliant_fracture_desc fracture;
} scene;

/* Published points by name ("beam-5317"); none if the files are not at hand. They lie in
 * data/particles of the folder that PLIANT_SHARED names. */
scene_points scene_published(const char* file);

/* How many scenes there are, and their names and what they are in a few words. */
uint32_t scene_count(void);
const char* scene_name(uint32_t index);
const char* scene_text(uint32_t index);

/* False if there is no such scene. */
bool scene_open(const char* name, scene* opened);
/* The same settings for points from a file, or for "count" points of a jittered unit cube; the
 * cluster count and radius are the caller's. */
bool scene_open_file(const char* path, scene* opened);
void scene_open_cube(uint32_t count, scene* opened);
/* The beam that is pressed, of so few particles along and across it and so few clusters, in one
 * thread. */
bool scene_open_small_beam(uint32_t along, uint32_t across, uint32_t clusters, scene* opened);
void scene_close(scene* opened);

/* Creates the scene with its colliders, its body and the copies of it. */
pliant_status scene_create(const scene* opened, pliant_scene* made, pliant_body* body);

/* What the body of this number, copies after the first, was made of. */
const pliant_body_desc* scene_body_desc(const scene* opened, uint32_t index);

/* Before a step: the force of a scene that is pressed, from where the body is at this time. */
pliant_status scene_press(const scene* opened, pliant_scene made, pliant_body body);
/* The length of a body along x: that of a bar whose mass has the same mean distance from its
 * middle.
 */
double scene_length(pliant_body body);
/* The condition number of a matrix (row-major) of determinant 1, by bisection. */
double scene_condition(const float f[9]);
/* How far the rest shape of a cluster that has weight is from the one it began with, at most: the
 * condition number of F^p. */
double scene_worst_condition(pliant_body body);

/* The radius at which so many clusters in a volume give so many memberships a particle, about. */
double scene_radius(double volume, uint32_t clusters, double memberships);
/* What a closed mesh encloses. */
double scene_mesh_volume(const scene_mesh* mesh);

#endif
