// SPDX-License-Identifier: GPL-3.0-or-later
/* The bar lies along z: its free part from -1 to 0, and a thin layer above, which is held. */
#include "bars.h"

#include "meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double HELD = .03, DENSITY = 1000;
static const double SOUND = 7.4;   /* sqrt(E / rho): what swings along the bar needs 4 / 7.4 s */
static const double STRETCH = .09; /* of the hanging bar */
static const double SAG = .15;     /* of the other */
static const double FRAME = 1.0 / 300; /* one substep carries the stiffness of 200 clusters */
static const double START = 1.25;

scene_bar scene_bar_default(void)
{
    return (scene_bar){.particles = 5500,
                       .clusters = 200,
                       .overlap = 5,
                       .kernel = PLIANT_KERNEL_INVSQ,
                       .levels = 1,
                       .thickness = .25};
}

/* 2 pi over the period of the slowest swing. */
static double slowest(const scene_bar* bar)
{
    return bar->cantilever ? 3.516 * SOUND * bar->thickness / sqrt(12) : 1.5708 * SOUND;
}

static double gravity(const scene_bar* bar)
{
    return bar->cantilever ? SAG * 8 * SOUND * SOUND * bar->thickness * bar->thickness / 12
                           : STRETCH * 2 * SOUND * SOUND;
}

static pliant_status create(const scene_bar* bar, pliant_scene* scene, pliant_body* body)
{
    pliant_scene_desc sd;
    pliant_body_desc bd;
    float thickness = (float)bar->thickness;
    scene_mesh mesh = scene_box(thickness, thickness, (float)(1 + HELD), 1);
    scene_mesh_move(&mesh, 0, 0, (float)(.5 * HELD - .5));
    pliant_scene_desc_init(&sd, sizeof sd);
    sd.threads = 1;
    sd.gravity[2] = 0;
    sd.gravity[bar->cantilever ? 0 : 2] = -gravity(bar);
    pliant_body_desc_init(&bd, sizeof bd);
    bd.mesh.vertex_count = mesh.vertex_count;
    bd.mesh.triangle_count = mesh.triangle_count;
    bd.mesh.vertices = mesh.vertices;
    bd.mesh.triangles = mesh.triangles;
    bd.sample.count = bar->particles;
    bd.cluster.count = bar->clusters;
    bd.cluster.overlap = bar->overlap;
    bd.cluster.kernel = bar->kernel;
    bd.cluster.kernel_parameter = bar->kernel_parameter;
    bd.cluster.algorithm = bar->algorithm;
    bd.levels.count = bar->levels;
    bd.levels.weighting = bar->weighting;
    bd.levels.favour_fine = 1;
    bd.material.stiffness_kind = PLIANT_STIFFNESS_YOUNG;
    bd.material.stiffness = DENSITY * SOUND * SOUND;
    bd.material.density = DENSITY;
    bd.material.goal = bar->goal;
    bd.material.beta = bar->beta;
    bd.material.damping = 2;
    bd.material.drag = 2 * slowest(bar); /* critical */
    pliant_status status = pliant_scene_create(&sd, scene);
    if (status == PLIANT_OK)
        status = pliant_body_create(*scene, &bd, body);
    scene_mesh_free(&mesh);
    return status;
}

float* scene_read_floats(pliant_body body, uint32_t channel, uint32_t level, const double origin[3],
                         uint32_t* count)
{
    uint64_t bytes = 0;
    pliant_body_read(body, channel, level, origin, NULL, &bytes);
    float* values = calloc(bytes / 4 + 1, 4);
    if (!values)
        abort();
    if (pliant_body_read(body, channel, level, origin, values, &bytes) != PLIANT_OK)
        bytes = 0;
    *count = (uint32_t)(bytes / 4);
    return values;
}

/* Holds the layer, and bends or stretches the rest to START times what theory says. */
static pliant_status prepare(const scene_bar* bar, pliant_body body)
{
    uint32_t floats;
    float* at = scene_read_floats(body, PLIANT_REST, 0, NULL, &floats);
    float* pins = calloc(floats / 3 + 1, 4);
    for (uint32_t i = 0; i < floats / 3; ++i)
    {
        float* p = at + (size_t)3 * i;
        double s = -p[2];
        if (s < 0)
        {
            pins[i] = PLIANT_PIN_HELD;
            continue;
        }
        if (bar->cantilever)
        {
            double slope = START * SAG * (12 * s - 12 * s * s + 4 * s * s * s) / 3;
            p[2] -= (float)(slope * p[0]);
            p[0] -= (float)(START * SAG * s * s * (6 - 4 * s + s * s) / 3);
        }
        else
            p[2] -= (float)(START * STRETCH * (2 * s - s * s));
    }
    pliant_status status = pliant_body_set_pins(body, floats / 3, pins);
    if (status == PLIANT_OK)
        status = pliant_body_set_particles(body, floats / 3, NULL, at, NULL);
    free(pins);
    free(at);
    return status;
}

/* How far the last twentieth of the bar has come. */
static double end_moved(const scene_bar* bar, pliant_body body)
{
    uint32_t count;
    float* rest = scene_read_floats(body, PLIANT_REST, 0, NULL, &count);
    float* now = scene_read_floats(body, PLIANT_POSITION, 0, NULL, &count);
    int axis = bar->cantilever ? 0 : 2;
    double sum = 0, number = 0;
    for (uint32_t i = 0; i < count; i += 3)
        if (rest[i + 2] < -.95)
        {
            sum += rest[i + axis] - now[i + axis];
            ++number;
        }
    free(rest);
    free(now);
    return number > 0 ? sum / number : 0;
}

static void describe(pliant_scene scene, pliant_body body, scene_bar_result* result)
{
    pliant_body_info info;
    pliant_scene_info scene_info;
    uint32_t count;
    float* alpha = scene_read_floats(body, PLIANT_CLUSTER_ALPHA, 0, NULL, &count);
    for (uint32_t i = 0; i < count; i += 2)
        result->alpha = fmax(result->alpha, alpha[i]);
    free(alpha);
    pliant_body_info_init(&info, sizeof info);
    pliant_scene_info_init(&scene_info, sizeof scene_info);
    pliant_body_get_info(body, &info);
    pliant_scene_get_info(scene, &scene_info);
    result->overlap = info.overlap;
    result->clusters = info.level[0].clusters;
    result->particles = info.particles;
    result->levels = info.levels;
    result->substeps = scene_info.substeps;
    result->warnings = info.warnings;
    result->steps = (uint32_t)scene_info.substep;
}

/* Until the end moves by less than "still" of what is predicted in the time constant of the slowest
 * swing. */
static pliant_status settle(const scene_bar* bar, pliant_scene scene, pliant_body body,
                            scene_bar_result* result)
{
    const double still = .004;
    pliant_frame_desc fd;
    pliant_frame_desc_init(&fd, sizeof fd);
    fd.dt = FRAME;
    fd.substeps = bar->substeps;
    uint32_t look = (uint32_t)ceil(1 / slowest(bar) / FRAME);
    double before = end_moved(bar, body);
    for (int round = 0; round < 30; ++round)
    {
        for (uint32_t f = 0; f < look; ++f)
        {
            pliant_status status = pliant_scene_advance(scene, &fd);
            if (status != PLIANT_OK)
                return status;
        }
        result->moved = end_moved(bar, body);
        if (fabs(result->moved - before) < still * result->predicted)
            break;
        before = result->moved;
    }
    return PLIANT_OK;
}

pliant_status scene_bar_settle(const scene_bar* bar, scene_bar_result* result)
{
    pliant_scene scene = 0;
    pliant_body body = 0;
    memset(result, 0, sizeof *result);
    result->predicted = bar->cantilever ? SAG : STRETCH;
    pliant_status status = create(bar, &scene, &body);
    if (status == PLIANT_OK)
        status = prepare(bar, body);
    if (status == PLIANT_OK)
        status = settle(bar, scene, body, result);
    if (status == PLIANT_OK)
        describe(scene, body, result);
    pliant_scene_destroy(scene);
    return status;
}
