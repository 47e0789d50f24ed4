// SPDX-License-Identifier: GPL-3.0-or-later
/* From a mesh to particles. */
#ifndef PL_SAMPLING_SAMPLE_H
#define PL_SAMPLING_SAMPLE_H

#include "base/parallel.h"
#include "geometry/mesh.h"

typedef struct pl_samples
{
    uint32_t count;
    vec3* points;    /* relative to the mesh's rest origin */
    double* volumes; /* of each particle: they sum to the body's volume (area times thickness for
                        surfaces) */
    uint32_t* shell; /* of each particle; shells that touch, overlap or nest count as one */
    uint32_t shell_count; /* shells that have particles: numbers are below this */
    uint32_t mode;        /* the pliant_sampling that was used */
    double thickness;     /* of the material across a sheet of particles; 0: they fill it */
    double spacing;       /* typical distance to the nearest neighbour */
    uint32_t warnings;    /* pliant_warning bits */
} pl_samples;

/* Samples the mesh. Given a count it finds the spacing that meets it within 2 %. Errors:
 * PLIANT_ERROR_MESH (nothing to sample), PLIANT_ERROR_ARGUMENT (a spacing, count, thickness or mode
 * that cannot be), PLIANT_CANCELLED, PLIANT_ERROR_MEMORY. Where BLUE_NOISE or GRID is asked for and
 * nothing is enclosed, SURFACE is used, with PLIANT_WARN_NO_VOLUME. VERTICES gives one particle for
 * each place that has vertices, in the order of the first vertex there. The same input
 * gives the same particles in the same order, for any number of threads. Freed by pl_samples_free
 * in every case. */
pl_status pl_sample(const pl_mesh* mesh, const pliant_sample_desc* desc, pl_pool* pool,
                    pl_task* task, pl_samples* samples);
/* For points that the caller brings: finds their typical spacing, and volumes where volumes is NULL
 * (equal shares of count * spacing^3 * a packing factor, stated in sample.c). Points at the same
 * place share one place's volume; if all are at one place, the spacing is 1 unless volumes tell
 * otherwise. PLIANT_ERROR_ARGUMENT names the first point that is not finite. */
pl_status pl_sample_points(uint32_t count, const vec3* points, const float* volumes,
                           pl_samples* samples);
void pl_samples_free(pl_samples* samples);

#endif
