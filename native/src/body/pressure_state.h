// SPDX-License-Identifier: GPL-3.0-or-later
/* The surface that pressure acts on (dynamics/pressure_setup.c makes it). */
#ifndef PL_BODY_PRESSURE_STATE_H
#define PL_BODY_PRESSURE_STATE_H

#include "base/core.h"

/* A stretch of an array that is summed as a whole: sums over stretches, in order, do not depend on
 * the number of threads. */
typedef struct pl_stretch
{
    uint32_t begin, end;
} pl_stretch;

/* The surface that pressure acts on (dynamics/pressure_setup.c). Each of its vertices is a fixed
 * combination of particles, so the volume of each shell is a function of the particles. Derived
 * from rest data; not saved. */
typedef struct pl_pressure
{
    uint32_t shell_count, vertex_count, triangle_count, pull_count, follower_count;
    double* rest_volume; /* by shell, of the surface as the particles carry it; 0: not carried */
    double* true_volume; /* by shell, of the mesh */
    /* Vertices: their followers, and the corners (3 triangle + corner) that they are. */
    uint32_t* begin;
    uint32_t* carrier;
    float* weight;
    uint32_t* corner_begin;
    uint32_t* corner;
    /* Triangles, by shell, facing outward. */
    uint32_t (*triangle)[3];
    pl_stretch* triangles; /* stretches, none of two shells */
    uint32_t* triangles_of_shell;
    /* A pull is what the volume of one shell asks of one follower: by shell, then follower. */
    uint32_t* pull_follower;
    uint32_t* pull_shell;
    pl_stretch* pull; /* its entries: vertices and weights */
    uint32_t* entry_vertex;
    float* entry_weight;
    pl_stretch* pulls;
    uint32_t* pulls_of_shell;
    /* Followers: the particles (ids) that carry something, and by which pulls they are pulled. */
    uint32_t* follower;
    uint32_t* follower_begin;
    uint32_t* follower_pull;
    /* Scratch of a substep. */
    float (*place)[4];      /* followers, in one piece */
    double (*at)[3];        /* vertices */
    double (*slope)[3];     /* derivative of the volume by a vertex */
    double (*gradient)[3];  /* and by a particle, for each pull */
    double* partial_volume; /* by stretch of triangles */
    double (*partial)[3];   /* by stretch of pulls: sum of |gradient|^2 / m, the largest
                               |gradient| / m, the volume's rate */
    double* volume;         /* by shell */
    double* pressure;       /* by shell */
    uint64_t bytes;
} pl_pressure;

#endif
