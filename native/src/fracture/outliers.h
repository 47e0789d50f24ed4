// SPDX-License-Identifier: GPL-3.0-or-later
/* Members that may be too far from their clusters, eight at a time (outliers.c says what that is).
 */
#ifndef PL_FRACTURE_OUTLIERS_H
#define PL_FRACTURE_OUTLIERS_H

#include "body/body.h"

/* What the members of a row are compared with: squares that are surely allowed. */
typedef struct pl_outlier_bound
{
    float f[9], fp[9];
    float centre[3];
    float from_rest[3]; /* from the cluster's rest centre to the chunk's rest origin */
    float off, times, slack;
    uint32_t on; /* 0: nobody looks at this row; or PL_OUTLIER_... */
} pl_outlier_bound;

enum
{
    PL_OUTLIER_OFF = 1, /* who is where the cluster's F has it, nearly, is near enough */
    PL_OUTLIER_BOTH = 2 /* and has to be within so many times its distance at rest, too */
};

/* An entry of which some lanes, as bits, are not surely near enough. */
typedef struct pl_suspect
{
    uint32_t block, entry, lanes;
} pl_suspect;

#endif
