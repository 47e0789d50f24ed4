// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Clusters without volume. The least-squares F of a flat, needle-like or single-point cluster is
 * undetermined in directions in which it has no extent. There F is completed so that it rotates
 * with the cluster: by the normal of the image of the plane, or the smallest rotation from the axis
 * to its image. Scalar IEEE arithmetic, the same in every SIMD path.
 */
#include "dynamics/kernels.h"

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Normalises a vector, or takes the fallback where it is too short. */
static void normalise(float a[3], const float fallback[3])
{
    float largest = fmaxf(fmaxf(fabsf(a[0]), fabsf(a[1])), fabsf(a[2]));
    if (!(largest > 0) || !isfinite(largest))
    {
        memcpy(a, fallback, sizeof(float) * 3);
        return;
    }
    for (int i = 0; i < 3; ++i)
        a[i] /= largest;
    float length = sqrtf(dot(a, a));
    for (int i = 0; i < 3; ++i)
        a[i] /= length;
}

/* The smallest rotation from unit a to unit b. */
static void shortest_rotation(const float a[3], const float b[3], float r[9])
{
    float v[3], c = dot(a, b);
    if (c < -0.9999f)
    {
        const float x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
        cross(a, fabsf(a[0]) < .7f ? x : y, v);
        normalise(v, y);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                r[3 * i + j] = 2 * v[i] * v[j] - (i == j ? 1.0f : 0.0f);
        return;
    }
    cross(a, b, v);
    float h = 1 / (1 + c);
    const float skew[9] = {0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            r[3 * i + j] = (i == j ? c : 0.0f) + skew[3 * i + j] + h * v[i] * v[j];
}

/* The thickness that keeps the volume, after growth of the area or length. */
static float thickness(float growth)
{
    return 1 / fminf(fmaxf(growth, 1e-3f), 1e3f);
}

void pl_complete_gradient(int rank, const float axis[3], bool keep_volume, float f[9])
{
    if (rank == 3)
        return;
    if (rank == 0)
    {
        for (int i = 0; i < 9; ++i)
            f[i] = i % 4 == 0 ? 1.0f : 0.0f;
        return;
    }
    if (rank == 2)
    {
        /* cof(F) n: the area vector of the image of the plane */
        float normal[3], column[3][3];
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i)
                column[j][i] = f[3 * i + j];
        float parts[3][3];
        cross(column[1], column[2], parts[0]);
        cross(column[2], column[0], parts[1]);
        cross(column[0], column[1], parts[2]);
        for (int i = 0; i < 3; ++i)
            normal[i] = parts[0][i] * axis[0] + parts[1][i] * axis[1] + parts[2][i] * axis[2];
        float area = sqrtf(dot(normal, normal)), thick = keep_volume ? thickness(area) : 1;
        normalise(normal, axis);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                f[3 * i + j] += thick * normal[i] * axis[j];
        return;
    }
    float image[3], direction[3], r[9];
    for (int i = 0; i < 3; ++i)
        image[i] = direction[i] = dot(f + 3 * i, axis);
    float thick = keep_volume ? sqrtf(thickness(sqrtf(dot(image, image)))) : 1;
    normalise(direction, axis);
    shortest_rotation(axis, direction, r);
    for (int i = 0; i < 3; ++i)
    {
        float along = thick * dot(r + 3 * i, axis);
        for (int j = 0; j < 3; ++j)
            f[3 * i + j] = thick * r[3 * i + j] + (image[i] - along) * axis[j];
    }
}
