// SPDX-License-Identifier: GPL-3.0-or-later
#include "play.h"

#include "bars.h"

#include <stdlib.h>
#include <string.h>

enum
{
    LOOK = 2 /* frames from one look at the shape to the next */
};

static double farthest_of(pliant_body body, const scene_rest* rest, vec3 centre)
{
    uint32_t floats;
    float* x = scene_read_floats(body, PLIANT_POSITION, 0, NULL, &floats);
    double now = 0, then = 0;
    for (uint32_t i = 0; 3 * i < floats; ++i)
    {
        now = fmax(now, v3_length(v3_sub(v3_from(x + 3 * (size_t)i), centre)));
        then = fmax(then, v3_length(rest->at[i]));
    }
    free(x);
    return now / then;
}

static void look(pliant_body body, const scene_rest* rest, scene_played* played)
{
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    pliant_body_get_info(body, &info);
    scene_shape shape = scene_shape_of(body, rest);
    double turning = info.mass * rest->radius * rest->radius * 2 / 3;
    played->peak = fmax(played->peak, shape.error);
    played->peak_detail = fmax(played->peak_detail, shape.detail);
    played->turned = fmax(played->turned, shape.angle);
    played->lowest = fmin(played->lowest, shape.lowest.z);
    played->momentum =
        fmax(played->momentum, v3_length(v3_fromd(info.momentum)) / (info.mass + 1e-300));
    played->spin = fmax(played->spin, v3_length(v3_fromd(info.angular_momentum)) / turning);
    played->end = shape;
}

static pliant_status run(const scene* opened, uint32_t frames, pliant_scene made, pliant_body body,
                         const scene_rest* rest, scene_played* played)
{
    double looks = 0;
    look(body, rest, played);
    double height = played->end.highest.z - played->end.lowest.z;
    played->peak = played->peak_detail = 0;
    for (uint32_t f = 0; f < frames; ++f)
    {
        pliant_status status = pliant_scene_advance(made, &opened->frame);
        if (status != PLIANT_OK)
            return status;
        if (f % LOOK)
            continue;
        look(body, rest, played);
        if (5 * f < 4 * frames)
            continue;
        played->late += played->end.error * played->end.error;
        played->late_swirl += played->end.swirl * played->end.swirl;
        ++looks;
    }
    played->late = sqrt(played->late / looks);
    played->late_swirl = sqrt(played->late_swirl / looks);
    played->height = (played->end.highest.z - played->end.lowest.z) / height;
    played->farthest = farthest_of(body, rest, played->end.centre);
    return PLIANT_OK;
}

pliant_status scene_play(const scene* opened, uint32_t frames, scene_played* played)
{
    pliant_scene made = 0;
    pliant_body body = 0;
    pliant_body_info info;
    memset(played, 0, sizeof *played);
    played->lowest = 1e30;
    pliant_body_info_init(&info, sizeof info);
    pliant_status status = scene_create(opened, &made, &body);
    if (status == PLIANT_OK)
        status = pliant_body_get_info(body, &info);
    if (status == PLIANT_OK)
    {
        scene_rest rest = scene_rest_of(body, false);
        played->particles = info.particles;
        played->levels = info.levels;
        for (uint32_t l = 0; l < info.levels; ++l)
            played->clusters[l] = info.level[l].clusters;
        status = run(opened, frames, made, body, &rest, played);
        scene_rest_free(&rest);
    }
    pliant_scene_destroy(made);
    return status;
}
