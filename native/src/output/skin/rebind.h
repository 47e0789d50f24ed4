// SPDX-License-Identifier: GPL-3.0-or-later
/* Vertices of a body that has flowed turn to the particles that are near them now. */
#ifndef PL_OUTPUT_SKIN_REBIND_H
#define PL_OUTPUT_SKIN_REBIND_H

#include "output/skin/skin.h"

/* What a frame has to be known for. Arrays are by particle, of those that a surface may follow. */
typedef struct pl_flow_frame
{
    uint32_t particles;
    const float* x;      /* 3 each */
    const float* f;      /* 9 each: the local deformation since rest */
    const float* strain; /* 1 each: plastic strain, all that ever was */
    const uint32_t*
        begin; /* particles + 1: clusters of each, those who share one belong together */
    const uint32_t* cluster;
    const float* weight; /* sum 1 for each particle */
} pl_flow_frame;

/* After a frame, some vertices (or none) follow others than before. */
typedef struct pl_turned
{
    uint32_t* vertex;        /* ascending */
    pl_skin_binding binding; /* of these vertices */
} pl_turned;

void pl_turned_free(pl_turned* turned);

/* "strain" is what had flowed by particle when vertices last turned: zeros at first, kept up here.
 * On failure nothing has turned. */
pl_status pl_rebind(const pl_skin_binding* binding, const pl_flow_frame* frame, double spacing,
                    float* strain, pl_pool* pool, pl_turned* turned);

#endif
