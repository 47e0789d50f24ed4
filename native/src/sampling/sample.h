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
    double* volumes; /* of each particle; the sum is the body's volume (area times thickness for
                        surfaces) */
    uint32_t* shell; /* of each particle; touching, overlapping and nested shells are one */
    uint32_t shell_count; /* shells that have particles */
    uint32_t mode;        /* the pliant_sampling that was used */
    double thickness;     /* of the material represented by a sheet of particles; 0: solid */
    double spacing;       /* typical distance to the nearest neighbour */
    uint32_t warnings;    /* pliant_warning bits */
} pl_samples;

/* Samples the mesh. Given a count, it finds the spacing that meets it within 2 %. Errors:
 * PLIANT_ERROR_MESH (nothing to sample), PLIANT_ERROR_ARGUMENT (invalid spacing, count, thickness
 * or mode), PLIANT_CANCELLED, PLIANT_ERROR_MEMORY. If BLUE_NOISE or GRID is requested and the mesh
 * encloses no volume, SURFACE is used, with PLIANT_WARN_NO_VOLUME. VERTICES gives one particle for
 * each distinct vertex position, in the order of the first vertex there. Deterministic for any
 * number of threads. Freed by pl_samples_free in every case. */
pl_status pl_sample(const pl_mesh* mesh, const pliant_sample_desc* desc, pl_pool* pool,
                    pl_task* task, pl_samples* samples);
/* For points supplied by the caller: finds their typical spacing, and volumes if volumes is NULL
 * (equal shares of count * spacing^3 * the packing factor of sample.c). Coincident points share the
 * volume of one. If all coincide, the spacing is 1 or follows from the volumes.
 * PLIANT_ERROR_ARGUMENT names the first point that is not finite. */
pl_status pl_sample_points(uint32_t count, const vec3* points, const float* volumes,
                           pl_samples* samples);
void pl_samples_free(pl_samples* samples);

#endif
