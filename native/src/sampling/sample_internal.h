// SPDX-License-Identifier: GPL-3.0-or-later
/* The parts of sampling, called by sample.c. */
#ifndef PL_SAMPLING_SAMPLE_INTERNAL_H
#define PL_SAMPLING_SAMPLE_INTERNAL_H

#include "geometry/inside.h"
#include "sampling/poisson.h"
#include "sampling/sample.h"

/* Maximum number of particles. */
#define PL_MOST_SAMPLES 100000000u
/* Minimum spacing over the mesh's size: cell coordinates have 32 bits. */
#define PL_LEAST_SPACING 2e-8

/* ------------------------------------------------------------------ sample_search.c */

/* Fills an empty grid with points that keep its distance, or until it is full. */
typedef pl_status (*pl_trial_fn)(void* context, pl_poisson* grid);

/* Finds the distance, at least "least", for which a trial gives "count" points within 2 %, starting
 * from a guess. The number is assumed to fall as distance^-dimension (3 in a volume, 2 on a
 * surface). A small excess of points is removed. *missed: no distance met the tolerance. The grid
 * is freed by the caller in every case. */
pl_status pl_search_count(uint32_t count, double guess, double least, double dimension, vec3 origin,
                          pl_trial_fn trial, void* context, pl_poisson* grid, bool* missed);

/* ------------------------------------------------------------------ sample_volume.c */

typedef struct pl_volume
{
    const pl_mesh* mesh;
    pl_pool* pool;
    pl_task* task;
    uint64_t seed;
    double volume; /* enclosed */
    bool measured; /* by the map, not only by the divergence theorem */
    pl_inside map; /* with cells for the last spacing of pl_volume_refine */
} pl_volume;

/* Finds the enclosed volume; 0: none. An open mesh encloses a volume only if its holes are small;
 * with "doubtful", its winding numbers always decide. Freed by pl_volume_free in every case. */
pl_status pl_volume_init(pl_volume* volume, const pl_mesh* mesh, bool doubtful, pl_pool* pool,
                         pl_task* task);
void pl_volume_free(pl_volume* volume);
/* Builds the map with cells for a spacing; measures the volume if that is not done. */
pl_status pl_volume_refine(pl_volume* volume, double spacing);

/* ------------------------------------------------------------------ sample_blue_noise.c */

/* A pl_trial_fn; the context is a pl_volume. */
pl_status pl_blue_noise(void* volume, pl_poisson* grid);
/* The distance at which blue noise gives about "count" points in a volume. */
double pl_blue_noise_distance(double count, double volume, double area);
/* The expected number of points. */
double pl_blue_noise_count(double distance, double volume, double area);

/* ------------------------------------------------------------------ sample_grid.c */

/* Points of a regular grid: by spacing, or about "count" if spacing is 0. None, and "missed", if
 * the volume is so thin that no such grid has points in it. */
pl_status pl_grid_points(pl_volume* volume, uint32_t count, double spacing, pl_poisson* out,
                         bool* missed);

/* ------------------------------------------------------------------ sample_surface.c */

typedef struct pl_surface
{
    const pl_mesh* mesh;
    pl_task* task;
    uint64_t seed;
} pl_surface;

/* A pl_trial_fn; the context is a pl_surface. Tags are triangles. */
pl_status pl_surface_noise(void* surface, pl_poisson* grid);
double pl_surface_noise_distance(double count, double area);
double pl_surface_noise_count(double distance, double area);

/* ------------------------------------------------------------------ sample_shells.c */

/* Groups shells that nest, or are within "reach" of each other; groups are numbered from 0. In
 * volumes, open shells are one group: only together do they enclose a volume. "apart": groups only
 * shells that lie inside another without touching it. */
pl_status pl_group_shells(const pl_mesh* mesh, bool in_volume, bool apart, double reach,
                          uint32_t* group, pl_task* task);

/* Finds the shell of a point in the volume. */
typedef struct pl_owners
{
    const pl_mesh* mesh;
    uint32_t* shell_of_root; /* by node of the tree */
    uint32_t* open;          /* open shells */
    uint32_t open_count;
} pl_owners;

/* Freed by pl_owners_free in every case. */
pl_status pl_owners_init(pl_owners* owners, const pl_mesh* mesh);
void pl_owners_free(pl_owners* owners);
/* Thread-safe. */
uint32_t pl_owner(const pl_owners* owners, vec3 point);

/* ------------------------------------------------------------------ sample_spacing.c */

/* The median nearest-neighbour distance of distinct points, from all or from a sample of some
 * thousands. 0: all coincide. *places becomes the number of distinct points; NULL: points are known
 * to be distinct. */
pl_status pl_typical_spacing(uint32_t count, const vec3* points, double* spacing, uint32_t* places);

#endif
