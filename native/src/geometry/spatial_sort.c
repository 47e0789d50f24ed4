// SPDX-License-Identifier: GPL-3.0-or-later
#include "geometry/spatial_sort.h"

#include "base/core.h"

static double coordinate(const vec3* point, int axis)
{
    return axis == 0 ? point->x : axis == 1 ? point->y : point->z;
}

static bool before(const vec3* points, int axis, uint32_t a, uint32_t b)
{
    double ca = coordinate(&points[a], axis), cb = coordinate(&points[b], axis);
    return ca < cb || (ca == cb && a < b);
}

static int longest_side(const vec3* points, const uint32_t* order, uint32_t count)
{
    vec3 lower = points[order[0]], upper = lower;
    for (uint32_t i = 1; i < count; ++i)
    {
        vec3 p = points[order[i]];
        lower = v3(fmin(lower.x, p.x), fmin(lower.y, p.y), fmin(lower.z, p.z));
        upper = v3(fmax(upper.x, p.x), fmax(upper.y, p.y), fmax(upper.z, p.z));
    }
    vec3 side = v3_sub(upper, lower);
    return side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
}

/* Quickselect (Hoare): afterwards the "middle" smallest come first. */
static void select_smallest(const vec3* points, int axis, uint32_t* order, uint32_t count,
                            uint32_t middle)
{
    uint32_t low = 0, high = count - 1;
    while (low < high)
    {
        uint32_t a = order[low], b = order[(low + high) / 2], c = order[high];
        uint32_t pivot = before(points, axis, a, b) ? (before(points, axis, b, c)   ? b
                                                       : before(points, axis, a, c) ? c
                                                                                    : a)
                                                    : (before(points, axis, a, c)   ? a
                                                       : before(points, axis, b, c) ? c
                                                                                    : b);
        int64_t i = (int64_t)low - 1, j = (int64_t)high + 1;
        for (;;)
        {
            do
                ++i;
            while (before(points, axis, order[i], pivot));
            do
                --j;
            while (before(points, axis, pivot, order[j]));
            if (i >= j)
                break;
            uint32_t swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        if ((int64_t)middle <= j)
            high = (uint32_t)j;
        else
            low = (uint32_t)j + 1;
    }
}

void pl_spatial_sort(uint32_t count, const vec3* points, uint32_t chunk, uint32_t* order)
{
    if (count <= 4)
        return;
    uint32_t unit = count > chunk ? chunk : count > 8 ? 8 : 4;
    uint32_t units = (count + unit - 1) / unit;
    uint32_t middle = units / 2 * unit;
    select_smallest(points, longest_side(points, order, count), order, count, middle);
    pl_spatial_sort(middle, points, chunk, order);
    pl_spatial_sort(count - middle, points, chunk, order + middle);
}
