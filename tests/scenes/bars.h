// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Bars under their own weight: one that hangs stretches by rho g L / (2 E) of its length, one that
 * sticks out sags by rho g A L^3 / (8 E I). What a material's numbers mean can be read off them,
 * whatever the clusters, particles, levels and substeps are.
 */
#ifndef PLIANT_SCENE_BARS_H
#define PLIANT_SCENE_BARS_H

#include <pliant.h>
#include <stdbool.h>

typedef struct scene_bar
{
    bool cantilever; /* gravity across the bar; otherwise along it */
    uint32_t particles;
    uint32_t clusters;
    double overlap; /* memberships a particle */
    uint32_t kernel;
    uint32_t substeps; /* of a frame; 0: automatic */
    uint32_t levels;
    uint32_t weighting; /* a pliant_weighting, favouring fine levels */
    double thickness;   /* of the bar, whose free length is 1 */
    uint32_t goal;      /* a pliant_goal */
    double beta;
    uint32_t algorithm; /* a pliant_clustering */
    double kernel_parameter;
} scene_bar;

typedef struct scene_bar_result
{
    double moved;     /* how far the free end has come, over the bar's length */
    double predicted; /* the same by the theory of slender bars */
    double alpha;     /* largest of the finest level */
    double overlap;
    uint32_t clusters, particles, levels, substeps, warnings;
    uint32_t steps; /* until it was at rest */
} scene_bar_result;

/* 200 clusters, 5 memberships, 5,500 particles, inverse-square kernel, one level, as thick as a
 * quarter of its length, automatic substeps. */
scene_bar scene_bar_default(void);

/* Makes a bar that is held at one end and has come to rest. It starts a quarter beyond where it
 * should, so that what it comes to is the solver's doing. */
pliant_status scene_bar_settle(const scene_bar* bar, scene_bar_result* result);

/* A channel of floats, relative to origin (or NULL), and how many there are; 0 on failure. The
 * caller frees it. */
float* scene_read_floats(pliant_body body, uint32_t channel, uint32_t level, const double origin[3],
                         uint32_t* count);

#endif
