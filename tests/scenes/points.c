// SPDX-License-Identifier: GPL-3.0-or-later
#include "points.h"

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float* new_points(size_t count)
{
    float* at = calloc(count ? count : 1, 3 * sizeof *at);
    if (!at)
        abort();
    return at;
}

scene_points scene_points_box(uint32_t nx, uint32_t ny, uint32_t nz, double x, double y, double z,
                              double jitter, uint32_t seed)
{
    scene_points points = {nx * ny * nz, new_points((size_t)nx * ny * nz)};
    pl_rng rng = pl_rng_seed(seed);
    float* at = points.at;
    for (uint32_t k = 0; k < nz; ++k)
        for (uint32_t j = 0; j < ny; ++j)
            for (uint32_t i = 0; i < nx; ++i)
            {
                *at++ = (float)(x * ((i + .5 + jitter * (pl_rng_unit(&rng) - .5)) / nx - .5));
                *at++ = (float)(y * ((j + .5 + jitter * (pl_rng_unit(&rng) - .5)) / ny - .5));
                *at++ = (float)(z * ((k + .5 + jitter * (pl_rng_unit(&rng) - .5)) / nz - .5));
            }
    return points;
}

/* A slightly larger jittered cube's points, the innermost "count" of them kept, scaled to fit. */
scene_points scene_points_ball(uint32_t count, double radius, uint32_t seed)
{
    uint32_t n = (uint32_t)ceil(cbrt(count * 6 / 3.14159265358979) * 1.05) + 2;
    scene_points box = scene_points_box(n, n, n, 2, 2, 2, .6, seed), ball = {0, new_points(count)};
    double low = 0, high = 2;
    for (int step = 0; step < 60; ++step) /* the radius that has just enough inside */
    {
        double middle = (low + high) / 2;
        uint32_t inside = 0;
        for (uint32_t i = 0; i < box.count; ++i)
        {
            const float* p = box.at + 3 * (size_t)i;
            inside +=
                (double)p[0] * p[0] + (double)p[1] * p[1] + (double)p[2] * p[2] <= middle * middle;
        }
        *(inside >= count ? &high : &low) = middle;
    }
    for (uint32_t i = 0; i < box.count && ball.count < count; ++i)
    {
        const float* p = box.at + 3 * (size_t)i;
        if ((double)p[0] * p[0] + (double)p[1] * p[1] + (double)p[2] * p[2] > high * high)
            continue;
        for (int k = 0; k < 3; ++k)
            ball.at[3 * (size_t)ball.count + k] = (float)(p[k] * radius / high);
        ++ball.count;
    }
    scene_points_free(&box);
    return ball;
}

scene_points scene_points_read(const char* path)
{
    scene_points points = {0, new_points(0)};
    FILE* file = fopen(path, "r");
    double p[3];
    size_t room = 0;
    int found = 0;
    while (file && (found = fscanf(file, "%lf %lf %lf", &p[0], &p[1], &p[2])) == 3)
    {
        if (points.count == room)
        {
            room = room ? 2 * room : 4096;
            float* more = realloc(points.at, 3 * room * sizeof *more);
            if (!more)
                abort();
            points.at = more;
        }
        for (int k = 0; k < 3; ++k)
            points.at[3 * (size_t)points.count + k] = (float)p[k];
        ++points.count;
    }
    if (file)
        fclose(file);
    if (found != EOF)
        points.count = 0;
    return points;
}

typedef struct sort_key
{
    uint32_t key, index;
} sort_key;

static int by_key(const void* a, const void* b)
{
    const sort_key *ka = a, *kb = b;
    if (ka->key != kb->key)
        return ka->key < kb->key ? -1 : 1;
    return ka->index < kb->index ? -1 : ka->index > kb->index;
}

void scene_points_sort(scene_points* points)
{
    sort_key* keys = calloc(points->count ? points->count : 1, sizeof *keys);
    float *sorted = new_points(points->count), lower[3] = {0}, edge = 0;
    if (!keys)
        abort();
    for (int k = 0; k < 3; ++k)
    {
        float upper = lower[k] = points->count ? points->at[k] : 0;
        for (uint32_t i = 0; i < points->count; ++i)
        {
            lower[k] = fminf(lower[k], points->at[3 * (size_t)i + k]);
            upper = fmaxf(upper, points->at[3 * (size_t)i + k]);
        }
        edge = fmaxf(edge, upper - lower[k]);
    }
    for (uint32_t i = 0; i < points->count; ++i)
    {
        keys[i].index = i;
        for (int k = 0; k < 3; ++k)
        {
            uint32_t cell =
                edge > 0 ? (uint32_t)(1023 * (points->at[3 * (size_t)i + k] - lower[k]) / edge) : 0;
            for (int bit = 0; bit < 10; ++bit)
                keys[i].key |= (cell >> bit & 1) << (3 * bit + k);
        }
    }
    qsort(keys, points->count, sizeof *keys, by_key);
    for (uint32_t i = 0; i < points->count; ++i)
        memcpy(sorted + 3 * (size_t)i, points->at + 3 * (size_t)keys[i].index, 3 * sizeof *sorted);
    free(points->at);
    free(keys);
    points->at = sorted;
}

void scene_points_free(scene_points* points)
{
    free(points->at);
    memset(points, 0, sizeof *points);
}
