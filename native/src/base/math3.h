// SPDX-License-Identifier: GPL-3.0-or-later
/* Three-vectors and 3x3 matrices in double, for set-up, API and tests. Row-major. Step kernels work
 * on arrays of lanes instead (simd.h). */
#ifndef PL_BASE_MATH3_H
#define PL_BASE_MATH3_H

#include <math.h>
#include <stdbool.h>

typedef struct vec3
{
    double x, y, z;
} vec3;

typedef struct mat3
{
    double m[3][3];
} mat3;

static inline vec3 v3(double x, double y, double z)
{
    return (vec3){x, y, z};
}
static inline vec3 v3_from(const float* p)
{
    return (vec3){p[0], p[1], p[2]};
}
static inline vec3 v3_fromd(const double* p)
{
    return (vec3){p[0], p[1], p[2]};
}
static inline void v3_store(vec3 a, float* p)
{
    p[0] = (float)a.x, p[1] = (float)a.y, p[2] = (float)a.z;
}
static inline vec3 v3_add(vec3 a, vec3 b)
{
    return v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline vec3 v3_sub(vec3 a, vec3 b)
{
    return v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline vec3 v3_min(vec3 a, vec3 b)
{
    return v3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
}

static inline vec3 v3_max(vec3 a, vec3 b)
{
    return v3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
}

static inline vec3 v3_scale(vec3 a, double s)
{
    return v3(a.x * s, a.y * s, a.z * s);
}
/* a + b s */
static inline vec3 v3_mad(vec3 a, vec3 b, double s)
{
    return v3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}
static inline double v3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline vec3 v3_cross(vec3 a, vec3 b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double v3_length(vec3 a)
{
    return sqrt(v3_dot(a, a));
}
static inline vec3 v3_normalised(vec3 a)
{
    double length = v3_length(a);
    return length > 0 ? v3_scale(a, 1 / length) : a;
}
static inline bool v3_finite(vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static inline mat3 m3_identity(void)
{
    return (mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}
static inline mat3 m3_zero(void)
{
    return (mat3){{{0}}};
}
/* Nine floats, row by row. */
static inline mat3 m3_from(const float f[9])
{
    mat3 m;
    for (int k = 0; k < 9; ++k)
        m.m[k / 3][k % 3] = f[k];
    return m;
}
static inline mat3 m3_add(mat3 a, mat3 b)
{
    mat3 r;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            r.m[i][j] = a.m[i][j] + b.m[i][j];
    return r;
}
static inline mat3 m3_scale(mat3 a, double s)
{
    mat3 r;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            r.m[i][j] = a.m[i][j] * s;
    return r;
}
static inline mat3 m3_mul(mat3 a, mat3 b)
{
    mat3 r;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            r.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return r;
}
static inline mat3 m3_transpose(mat3 a)
{
    mat3 r;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            r.m[i][j] = a.m[j][i];
    return r;
}
static inline vec3 m3_mulv(mat3 a, vec3 v)
{
    return v3(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
              a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
              a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}
/* a b^T */
static inline mat3 m3_outer(vec3 a, vec3 b)
{
    return (mat3){{{a.x * b.x, a.x * b.y, a.x * b.z},
                   {a.y * b.x, a.y * b.y, a.y * b.z},
                   {a.z * b.x, a.z * b.y, a.z * b.z}}};
}
/* [a]x, so that m3_mulv(m3_cross(a), b) is a cross b */
static inline mat3 m3_cross(vec3 a)
{
    return (mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}
static inline double m3_det(mat3 a)
{
    return a.m[0][0] * (a.m[1][1] * a.m[2][2] - a.m[1][2] * a.m[2][1]) -
           a.m[0][1] * (a.m[1][0] * a.m[2][2] - a.m[1][2] * a.m[2][0]) +
           a.m[0][2] * (a.m[1][0] * a.m[2][1] - a.m[1][1] * a.m[2][0]);
}
static inline double m3_trace(mat3 a)
{
    return a.m[0][0] + a.m[1][1] + a.m[2][2];
}
/* det(a) a^-T: how normals (area vectors) map. */
static inline mat3 m3_cofactor(mat3 a)
{
    mat3 r;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
        {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            r.m[i][j] = a.m[i1][j1] * a.m[i2][j2] - a.m[i1][j2] * a.m[i2][j1];
        }
    return r;
}
/* The inverse; a must be regular. */
static inline mat3 m3_inverse(mat3 a)
{
    return m3_scale(m3_transpose(m3_cofactor(a)), 1 / m3_det(a));
}

#endif
