// SPDX-License-Identifier: GPL-3.0-or-later
/* The parts of sampling, put together by sample.c. */
#ifndef PL_SAMPLING_SAMPLE_INTERNAL_H
#define PL_SAMPLING_SAMPLE_INTERNAL_H

#include "geometry/inside.h"
#include "sampling/poisson.h"
#include "sampling/sample.h"

/* No more particles than this, whatever the spacing. */
#define PL_MOST_SAMPLES 100000000u
/* Nor a smaller spacing than this part of the mesh's size: cells are counted in 32 bits. */
#define PL_LEAST_SPACING 2e-8

/* ------------------------------------------------------------------ sample_search.c */

/* Fills an empty grid with points that keep its distance, or until it is full. */
typedef pl_status (*pl_trial_fn)(void* context, pl_poisson* grid);

/* Finds the distance for which a trial gives "count" points within 2 %, starting from a guess;
 * "dimension" says how the number falls with the distance (3 in a volume, 2 on a surface). No
 * distance below "least" is tried. Few points too many are taken out again. *missed tells whether
 * it stayed outside. The grid is freed by the caller in every case. */
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
    bool measured; /* not only by the divergence theorem */
    pl_inside map; /* cells fit the spacing that was last asked for */
} pl_volume;

/* Finds the enclosed volume; 0: nothing is enclosed. With "doubtful" an open mesh counts as
 * enclosing what its winding numbers say; otherwise only if its holes are small. Freed by
 * pl_volume_free in every case. */
pl_status pl_volume_init(pl_volume* volume, const pl_mesh* mesh, bool doubtful, pl_pool* pool,
                         pl_task* task);
void pl_volume_free(pl_volume* volume);
/* Makes cells that suit a spacing; measures the volume if that was not done yet. */
pl_status pl_volume_refine(pl_volume* volume, double spacing);

/* ------------------------------------------------------------------ sample_blue_noise.c */

/* A pl_trial_fn; the context is a pl_volume. */
pl_status pl_blue_noise(void* volume, pl_poisson* grid);
/* The distance at which blue noise gives about "count" points in a volume. */
double pl_blue_noise_distance(double count, double volume, double area);
/* How many points it gives. */
double pl_blue_noise_count(double distance, double volume, double area);

/* ------------------------------------------------------------------ sample_grid.c */

/* Points of a regular grid: by spacing, or about "count" where spacing is 0. None and "missed"
 * where the volume is so thin that no such grid has points in it. */
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

/* Joins shells that nest, or come within "reach" of each other: gives each shell's group, numbered
 * from 0. In volumes, open shells are one group: they enclose something only together. "apart":
 * only those that lie in another without touching it are joined. */
pl_status pl_group_shells(const pl_mesh* mesh, bool in_volume, bool apart, double reach,
                          uint32_t* group, pl_task* task);

/* Tells which shell a point of the volume belongs to. */
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
/* Safe from several threads. */
uint32_t pl_owner(const pl_owners* owners, vec3 point);

/* ------------------------------------------------------------------ sample_spacing.c */

/* The median distance to the nearest other place (points at the same place count as one), of all
 * points or, where there are many, of some thousands. 0: there is only one place. *places becomes
 * the number of different places; NULL where the caller knows that all of them differ. */
pl_status pl_typical_spacing(uint32_t count, const vec3* points, double* spacing, uint32_t* places);

#endif
