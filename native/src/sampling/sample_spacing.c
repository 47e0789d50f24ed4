// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The typical spacing of points: the median nearest-neighbour distance, by a k-d tree (Bentley
 * 1975), since points supplied by callers may have any distribution. Balanced by construction: a
 * node is a range of points, and the median point is its root.
 */
#include "sampling/sample_internal.h"

#include <stdlib.h>
#include <string.h>

enum
{
    LEAF = 12,
    ASKED = 4096 /* sample size; the median's error is a few parts in a thousand */
};

static double coordinate(vec3 p, int axis)
{
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

/* A total order along an axis, so that equal coordinates do not unbalance the tree. */
static bool before(vec3 a, vec3 b, int axis)
{
    for (int i = 0; i < 3; ++i)
    {
        double x = coordinate(a, (axis + i) % 3), y = coordinate(b, (axis + i) % 3);
        if (x != y)
            return x < y;
    }
    return false;
}

static void swap_points(vec3* a, vec3* b)
{
    vec3 t = *a;
    *a = *b;
    *b = t;
}

/* Quickselect (Hoare, median of three): puts the point of rank "nth" there, smaller ones before it.
 */
static void select_nth(vec3* p, size_t count, size_t nth, int axis)
{
    size_t low = 0, high = count - 1;
    while (low < high)
    {
        size_t middle = low + (high - low) / 2;
        if (before(p[middle], p[low], axis))
            swap_points(&p[middle], &p[low]);
        if (before(p[high], p[low], axis))
            swap_points(&p[high], &p[low]);
        if (before(p[high], p[middle], axis))
            swap_points(&p[high], &p[middle]);
        vec3 pivot = p[middle];
        size_t i = low, j = high;
        for (;;)
        {
            while (before(p[i], pivot, axis))
                ++i;
            while (before(pivot, p[j], axis))
                --j;
            if (i >= j)
                break;
            swap_points(&p[i++], &p[j--]);
        }
        if (nth <= j)
            high = j;
        else
            low = j + 1;
    }
}

static int widest_axis(const vec3* p, size_t count)
{
    vec3 lower = p[0], upper = p[0];
    for (size_t i = 1; i < count; ++i)
    {
        lower = v3(PL_MIN(lower.x, p[i].x), PL_MIN(lower.y, p[i].y), PL_MIN(lower.z, p[i].z));
        upper = v3(PL_MAX(upper.x, p[i].x), PL_MAX(upper.y, p[i].y), PL_MAX(upper.z, p[i].z));
    }
    vec3 size = v3_sub(upper, lower);
    return size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
}

/* "axes" has an entry for each point: at the root of a range, its split axis. */
static void build(vec3* p, uint8_t* axes, size_t count)
{
    if (count <= LEAF)
        return;
    size_t middle = count / 2;
    int axis = widest_axis(p, count);
    select_nth(p, count, middle, axis);
    axes[middle] = (uint8_t)axis;
    build(p, axes, middle);
    build(p + middle + 1, axes + middle + 1, count - middle - 1);
}

static void consider(vec3 p, vec3 at, double* best)
{
    vec3 d = v3_sub(p, at);
    double distance2 = v3_dot(d, d);
    if (distance2 > 0 && distance2 < *best)
        *best = distance2;
}

static void nearest(const vec3* p, const uint8_t* axes, size_t count, vec3 at, double* best)
{
    if (count <= LEAF)
    {
        for (size_t i = 0; i < count; ++i)
            consider(p[i], at, best);
        return;
    }
    size_t middle = count / 2, above = middle + 1;
    double side = coordinate(at, axes[middle]) - coordinate(p[middle], axes[middle]);
    consider(p[middle], at, best);
    if (side <= 0)
        nearest(p, axes, middle, at, best);
    else
        nearest(p + above, axes + above, count - above, at, best);
    if (side * side >= *best)
        return;
    if (side <= 0)
        nearest(p + above, axes + above, count - above, at, best);
    else
        nearest(p, axes, middle, at, best);
}

static int compare_points(const void* a, const void* b)
{
    const vec3 *p = a, *q = b;
    return before(*p, *q, 0) ? -1 : before(*q, *p, 0) ? 1 : 0;
}

static int compare_doubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Sorts, and removes duplicates. */
static uint32_t drop_repeated(vec3* p, uint32_t count)
{
    uint32_t kept = 1;
    qsort(p, count, sizeof *p, compare_points);
    for (uint32_t i = 1; i < count; ++i)
        if (compare_points(&p[i], &p[kept - 1]) != 0)
            p[kept++] = p[i];
    return kept;
}

pl_status pl_typical_spacing(uint32_t count, const vec3* points, double* spacing, uint32_t* places)
{
    uint32_t different = count;
    *spacing = 0;
    if (!count)
        return PLIANT_OK;
    const uint32_t most = PL_MIN(count, (uint32_t)ASKED);
    vec3* p = PL_NEW(vec3, count);
    uint8_t* axes = PL_NEW(uint8_t, count);
    double* distances = PL_NEW(double, most);
    bool ready = p && axes && distances;
    if (ready)
    {
        memcpy(p, points, count * sizeof *p);
        if (places)
            *places = different = drop_repeated(p, count);
        uint32_t asked = PL_MIN(different, most), found = 0;
        build(p, axes, different);
        for (uint32_t i = 0; i < asked; ++i)
        {
            double best = INFINITY;
            nearest(p, axes, different, p[(uint64_t)i * different / asked], &best);
            if (best < INFINITY)
                distances[found++] = sqrt(best);
        }
        qsort(distances, found, sizeof *distances, compare_doubles);
        *spacing = found ? distances[found / 2] : 0;
    }
    pl_free(p);
    pl_free(axes);
    pl_free(distances);
    return ready ? PLIANT_OK : pl_fail_memory(count * sizeof *p);
}
