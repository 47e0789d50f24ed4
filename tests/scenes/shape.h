// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How far a body is from its rest shape, and how smoothly it got there: what the papers show in
 * films, as numbers. Lengths are over the body's RMS radius, so that bodies can be compared.
 */
#ifndef PLIANT_SCENE_SHAPE_H
#define PLIANT_SCENE_SHAPE_H

#include <base/math3.h>
#include <pliant.h>
#include <stdbool.h>

/* What is measured against: a body's rest shape and who is next to whom in it. */
typedef struct scene_rest
{
    uint32_t count;
    vec3* at; /* about the centre of mass */
    double* mass;
    double total, radius; /* of the whole body: mass, RMS distance from its centre */
    mat3 scatter;         /* sum of m r r^T */
    double spacing;       /* between particles */
    uint32_t* begin;      /* count + 1, into next; NULL: neighbours were not asked for */
    uint32_t* next;       /* particles within 1.8 spacings */
} scene_rest;

/* Neighbours are looked for among all pairs: for small bodies. */
scene_rest scene_rest_of(pliant_body body, bool neighbours);
void scene_rest_free(scene_rest* rest);

typedef struct scene_shape
{
    double error;  /* RMS distance to the rest shape, moved and turned to where it fits best */
    double detail; /* the same to the rest shape under the affine map that fits best: what one
                      cluster cannot do */
    double angle;  /* in degrees, of the best fit */
    mat3 gradient; /* of the best affine map */
    vec3 centre, lowest, highest;
    double speed, swirl; /* RMS, radii a second: of all particles, and without what is rigid */
} scene_shape;

scene_shape scene_shape_of(pliant_body body, const scene_rest* rest);
/* RMS distance of neighbours to their own best affine map, over the spacing: what jumps from
 * particle to particle. The rest shape must know its neighbours. */
double scene_roughness(pliant_body body, const scene_rest* rest);

#endif
