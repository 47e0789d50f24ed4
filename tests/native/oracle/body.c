// SPDX-License-Identifier: GPL-3.0-or-later
/* The oracle from a body of the library, through its public channels only. */
#include "native/oracle/oracle.h"

#include <stdlib.h>

static void* read_channel(pliant_body body, uint32_t channel, uint32_t level,
                          const double origin[3], uint64_t* bytes)
{
    if (pliant_body_read(body, channel, level, origin, NULL, bytes) != PLIANT_OK)
        return NULL;
    void* data = calloc(*bytes ? *bytes : 1, 1);
    if (!data)
        abort();
    if (pliant_body_read(body, channel, level, origin, data, bytes) == PLIANT_OK)
        return data;
    free(data);
    return NULL;
}

static double* read_doubles(pliant_body body, uint32_t channel, uint32_t level,
                            const double origin[3])
{
    uint64_t bytes;
    float* data = read_channel(body, channel, level, origin, &bytes);
    if (!data)
        return NULL;
    double* values = calloc(bytes / sizeof *data + 1, sizeof *values);
    if (!values)
        abort();
    for (size_t i = 0; i < bytes / sizeof *data; ++i)
        values[i] = data[i];
    free(data);
    return values;
}

reference* reference_from_body(pliant_body body, const double origin[3],
                               const pliant_levels_desc* levels, const reference_settings* settings)
{
    pliant_body_info info;
    uint64_t bytes;
    pliant_body_info_init(&info, sizeof info);
    if (pliant_body_get_info(body, &info) != PLIANT_OK)
        return NULL;
    double *rest = read_doubles(body, PLIANT_REST, 0, origin),
           *position = read_doubles(body, PLIANT_POSITION, 0, origin),
           *velocity = read_doubles(body, PLIANT_VELOCITY, 0, origin),
           *mass = read_doubles(body, PLIANT_MASS, 0, origin),
           *plastic = read_doubles(body, PLIANT_CLUSTER_PLASTIC, 0, origin);
    reference_level_desc level[PLIANT_MAX_LEVELS] = {{0}};
    bool good = rest && position && velocity && mass && plastic;
    for (uint32_t l = 0; l < info.levels; ++l)
    {
        reference_level_desc* to = &level[l];
        to->nested = levels->kind == PLIANT_LEVELS_NESTED;
        to->clusters = info.level[l].clusters;
        to->begin = read_channel(body, PLIANT_MEMBER_BEGIN, l, origin, &bytes);
        to->member = read_channel(body, PLIANT_MEMBER_PARTICLE, l, origin, &bytes);
        to->weight = read_doubles(body, PLIANT_MEMBER_WEIGHT, l, origin);
        to->offset = (const double(*)[3])read_doubles(body, PLIANT_MEMBER_OFFSET, l, origin);
        to->level_weight = info.level[l].weight;
        to->level_damping = levels->damping[l];
        good = good && to->begin && to->member && to->weight && to->offset;
    }
    reference_desc desc = {info.particles,
                           (const double(*)[3])rest,
                           (const double(*)[3])position,
                           (const double(*)[3])velocity,
                           mass,
                           NULL,
                           NULL,
                           NULL,
                           info.levels,
                           level,
                           (const double(*)[10])plastic,
                           info.spacing}; /* as of bodies that are made of points */
    reference* o = good ? reference_create(&desc, settings) : NULL;
    void* blocks[] = {rest, position, velocity, mass, plastic};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i)
        free(blocks[i]);
    for (uint32_t l = 0; l < info.levels; ++l)
    {
        free((void*)level[l].begin);
        free((void*)level[l].member);
        free((void*)level[l].weight);
        free((void*)level[l].offset);
    }
    return o;
}

bool reference_use_body_alpha(reference* o, pliant_body body)
{
    for (uint32_t l = 0; l < o->levels; ++l)
    {
        double* pair = read_doubles(body, PLIANT_CLUSTER_ALPHA, l, NULL);
        if (!pair)
            return false;
        for (uint32_t c = 0; c < o->level[l].clusters; ++c)
        {
            o->level[l].cluster[c].alpha = pair[2 * c];
            o->level[l].cluster[c].kappa = pair[2 * c + 1];
        }
        free(pair);
    }
    o->alpha_dt = -1;
    return true;
}
