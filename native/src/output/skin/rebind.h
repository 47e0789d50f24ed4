// SPDX-License-Identifier: GPL-3.0-or-later
/* Rebinds vertices of a body that has flowed to the particles near them now. */
#ifndef PL_OUTPUT_SKIN_REBIND_H
#define PL_OUTPUT_SKIN_REBIND_H

#include "output/skin/skin.h"

/* Input from a frame. Arrays are by particle that a surface may follow. */
typedef struct pl_flow_frame
{
    uint32_t particles;
    const float* x;      /* 3 each */
    const float* f;      /* 9 each: the local deformation since rest */
    const float* strain; /* 1 each: total plastic strain */
    const uint32_t*
        begin; /* particles + 1: clusters of each; sharing one means belonging together */
    const uint32_t* cluster;
    const float* weight; /* sum 1 for each particle */
} pl_flow_frame;

/* The vertices (perhaps none) that a frame has rebound. */
typedef struct pl_turned
{
    uint32_t* vertex;        /* ascending */
    pl_skin_binding binding; /* of these vertices */
} pl_turned;

void pl_turned_free(pl_turned* turned);

/* "strain" is the plastic strain by particle at the last rebind: zeros at first, updated here. A
 * failure changes nothing. */
pl_status pl_rebind(const pl_skin_binding* binding, const pl_flow_frame* frame, double spacing,
                    float* strain, pl_pool* pool, pl_turned* turned);

#endif
