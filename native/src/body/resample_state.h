// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a body knows of particles that were divided and merged because its material flowed: flat
 * arrays by external id, no logic (plasticity/resample.c, plasticity/merge.c).
 *
 * Where two are merged, both ids are gone and a third has their mass: their successor. Whoever asks
 * for one that has gone is told where its material is, which its successor carries along:
 *
 *   i ──┐
 *       ├──► m         x_i = x_m + F_m offset_i, and so for j
 *   j ──┘
 */
#ifndef PL_BODY_RESAMPLE_STATE_H
#define PL_BODY_RESAMPLE_STATE_H

#include <stdint.h>

typedef struct pl_resampled
{
    uint32_t count;      /* ids that it knows of; 0: it was never resampled */
    uint32_t room;       /* derived: ids that these have room for */
    uint32_t* successor; /* its own id while it lives; otherwise one that lives */
    float (*offset)[3];  /* of one that has gone */
    double (*rest)[3];   /* where it lay at first; copies where their parents did */
    uint64_t* share;     /* quanta of the first particle it came of that are where it is: its own
                            mass, until it is merged and after; nothing for successors */
    float (*piece)[6];   /* the material it stands for, in the body's rest shape: the box with this
                            scatter, in squares of the spacing (xx yy zz xy yz zx) */
} pl_resampled;

#endif
