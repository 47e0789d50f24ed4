// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The weighting kernels of Jones et al. 2015, equations 8 to 12, as functions of the squared
 * distance over the squared radius.
 *
 * All are relative to the radius: a kernel's unit cancels when a particle's weights are normalised
 * (equation 13), and relative values fit into a float at every scale. Equation 12, summed over the
 * clusters that contain the particle, is the normalised d^(-2/(m-1)).
 */
#ifndef PL_CLUSTERING_KERNEL_H
#define PL_CLUSTERING_KERNEL_H

#include "base/core.h"
#include "base/elementary.h"
#include "base/math3.h"

/* poly6 is zero at the rim and negative beyond, where strays are. */
#define PL_KERNEL_FLOOR 1e-6
/* Value at the centre of the kernels with a pole: it dominates any other cluster's value. */
#define PL_KERNEL_POLE 1e12

static inline double pl_kernel_default(uint32_t kernel, double parameter)
{
    if (parameter != 0)
        return parameter;
    switch (kernel)
    {
        case PLIANT_KERNEL_INVSQ:
            return 1e-4;
        case PLIANT_KERNEL_BLEND:
            return 0.1;
        case PLIANT_KERNEL_FCM:
            return 2;
        default:
            return 0;
    }
}

static inline double pl_kernel_of(uint32_t kernel, double parameter, double q2)
{
    switch (kernel)
    {
        case PLIANT_KERNEL_BOX:
            return 1;
        case PLIANT_KERNEL_POLY6: {
            double t = 1 - q2, value = t * t * t;
            return value > PL_KERNEL_FLOOR ? value : PL_KERNEL_FLOOR;
        }
        case PLIANT_KERNEL_BLEND: {
            double t = q2 < 1 ? 1 - q2 : 0;
            return parameter + t * t * t;
        }
        case PLIANT_KERNEL_FCM: {
            if (q2 <= 1 / PL_KERNEL_POLE)
                return PL_KERNEL_POLE;
            double value = parameter == 2 ? 1 / q2 : pl_power(q2, -1 / (parameter - 1));
            return PL_CLAMP(value, 1e-30, PL_KERNEL_POLE);
        }
        default: {
            double below = q2 + parameter;
            return below > 1 / PL_KERNEL_POLE ? 1 / below : PL_KERNEL_POLE;
        }
    }
}

#endif
