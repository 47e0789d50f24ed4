// SPDX-License-Identifier: GPL-3.0-or-later
/* SIMD culling of outlier candidates; outliers.c defines an outlier. */
#ifndef PL_FRACTURE_OUTLIERS_H
#define PL_FRACTURE_OUTLIERS_H

#include "body/body.h"

/* Conservative bounds for the members of a row. off, times and slack are squares. */
typedef struct pl_outlier_bound
{
    float f[9], fp[9];
    float centre[3];
    float from_rest[3]; /* from the cluster's rest centre to the chunk's rest origin */
    float off, times, slack;
    uint32_t on; /* 0: skip this row; otherwise PL_OUTLIER_... */
} pl_outlier_bound;

enum
{
    PL_OUTLIER_OFF = 1, /* only the distance from the place by F is tested */
    PL_OUTLIER_BOTH = 2 /* the distance relative to the rest distance is tested, too */
};

/* An entry with a bit mask of the lanes that were not culled. */
typedef struct pl_suspect
{
    uint32_t block, entry, lanes;
} pl_suspect;

#endif
