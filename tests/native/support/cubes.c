// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/cubes.h"

#include "native/support/test.h"

#include <scenes/bars.h>
#include <stdlib.h>
#include <string.h>

cube cube_new(uint32_t n, uint32_t clusters)
{
    cube c = {0};
    c.points = scene_points_box(n, n, n, 1, 1, 1, .6, 1);
    pliant_scene_desc_init(&c.scene_desc, sizeof c.scene_desc);
    c.scene_desc.gravity[2] = 0;
    c.scene_desc.threads = 1;
    pliant_body_desc_init(&c.desc, sizeof c.desc);
    c.desc.points = c.points.at;
    c.desc.point_count = c.points.count;
    c.desc.cluster.count = clusters;
    c.desc.material.damping = 0;
    return c;
}

bool cube_make(cube* c)
{
    pliant_status status = pliant_scene_create(&c->scene_desc, &c->scene);
    if (status == PLIANT_OK)
        status = pliant_body_create(c->scene, &c->desc, &c->body);
    CHECK_MSG(status == PLIANT_OK, "making the cube gave %d: %s", (int)status, pliant_last_error());
    return status == PLIANT_OK;
}

void cube_free(cube* c)
{
    pliant_scene_destroy(c->scene);
    scene_points_free(&c->points);
    memset(c, 0, sizeof *c);
}

void cube_stretch(const cube* c, double factor)
{
    float* x = malloc((size_t)c->points.count * 12);
    memcpy(x, c->points.at, (size_t)c->points.count * 12);
    for (uint32_t i = 0; i < c->points.count; ++i)
        x[3 * i] *= (float)factor;
    CHECK_OK(pliant_body_set_particles(c->body, c->points.count, NULL, x, NULL));
    free(x);
}

pliant_status cube_advance(pliant_scene scene, double dt, uint32_t substeps)
{
    pliant_frame_desc fd;
    pliant_frame_desc_init(&fd, sizeof fd);
    fd.dt = dt;
    fd.substeps = substeps;
    return pliant_scene_advance(scene, &fd);
}

pliant_body_info cube_info(pliant_body body)
{
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    CHECK_OK(pliant_body_get_info(body, &info));
    return info;
}

/* How much longer than at rest the cube is along x, by least squares. */
static double extension(const cube* c)
{
    uint32_t count;
    float* x = scene_read_floats(c->body, PLIANT_POSITION, 0, NULL, &count);
    double both = 0, square = 0;
    for (uint32_t i = 0; i < count; i += 3)
    {
        both += (double)x[i] * c->points.at[i];
        square += (double)c->points.at[i] * c->points.at[i];
    }
    free(x);
    return both / square - 1;
}

cube_swing cube_watch(const cube* c, uint32_t frames, double dt, uint32_t substeps)
{
    double e[3] = {0}, first = -1, last = -1, peaks = 0, t1 = 0, t2 = 0, y1 = 0, ty = 0;
    int periods = -1;
    for (uint32_t f = 0; f < frames; ++f)
    {
        CHECK_OK(cube_advance(c->scene, dt, substeps));
        e[0] = e[1], e[1] = e[2], e[2] = extension(c);
        if (f > 0 && e[1] < 0 && e[2] >= 0)
        {
            last = (f - e[2] / (e[2] - e[1])) * dt;
            first = first < 0 ? last : first;
            ++periods;
        }
        if (f > 1 && e[1] > e[0] && e[1] >= e[2] && e[1] > 0)
        {
            /* a parabola through the three finds the peak */
            double bend = e[0] - 2 * e[1] + e[2], slope = (e[2] - e[0]) / 2, t = (f - 1) * dt;
            double y = log(e[1] - slope * slope / (2 * bend));
            peaks += 1, t1 += t, t2 += t * t, y1 += y, ty += t * y;
        }
    }
    CHECK_MSG(periods > 4 && peaks > 4, "the cube hardly swings: %d periods", periods);
    return (cube_swing){periods / (last - first), -(peaks * ty - t1 * y1) / (peaks * t2 - t1 * t1)};
}
