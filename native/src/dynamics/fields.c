// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Blender's force fields, as they act on its particles of mass 1: formulas from its manual and
 * behaviour, each checked by measurement (tests/blender/make_fields_reference.py).
 *
 * With c the field's place, n its z axis (unit), d = x - c, h = n.d:
 *   shape      point: r = d; line: r = d - h n; plane: r = h n, but d - h n for a vortex
 *   falloff    F(s) = 0 beyond max, 1 below min, otherwise (1 + s - min)^-power
 *              sphere: F(|r|); tube: F(|h|) F_radial(|d - h n|); cone: F(|h|) F_radial(angle of d
 *              from n, degrees); nothing on the wrong side of z
 *   force      strength f r/|r|, over |r|^2 too with gravitation
 *   wind       strength f n
 *   vortex     point: strength f |d| (n x d)/|n x d|;  else with k = strength f, t = k n x d:
 *              k n x t + t - v
 *   harmonic   -strength f r (1 - rest/|r|) - 2 damping sqrt|strength| v
 *   turbulence strength f noise, the noise at d + n, or at x in global coordinates
 *   drag       -f (linear |v| + quadratic) v, each at most 2: Blender's two names are swapped, and
 *              this follows its formula
 *   flow       all but harmonic and drag: -flow f v
 * "Inflow" of a vortex is another name for flow. "2D force" (textures) and "wind factor" (cloth)
 * have no effect here.
 *
 * The noise is K. Perlin, Improving Noise, 2002, with Blender's permutation: three octaves of
 * amplitudes 1, 1/2, 1/4 times 4/7, y and z components from turned coordinates. Where Blender has
 * 0/0 (at the field's place), there is no force here.
 *
 * Particles are processed in batches: each step of a formula is a plain loop over one batch, with
 * the branches outside of it. Powers and angles are computed here, not by the C library, so that
 * every machine gives the same bits.
 */
#include "dynamics/fields.h"

#include <math.h>
#include <string.h>

#define BATCH 64
#define TINY 1e-30f

/* ------------------------------------------------------------------ checks, interpolation */

typedef struct named_number
{
    const char* name;
    size_t offset;
    bool may_be_negative;
} named_number;

#define NUMBER(member, negative)                                                                   \
    {                                                                                              \
#member, offsetof(pliant_field_desc, member), negative                                     \
    }
static const named_number numbers[] = {
    NUMBER(strength, true),         NUMBER(flow, true),          NUMBER(inflow, true),
    NUMBER(falloff_power, false),   NUMBER(distance_min, false), NUMBER(distance_max, false),
    NUMBER(radial_falloff, false),  NUMBER(radial_min, false),   NUMBER(radial_max, false),
    NUMBER(harmonic_damping, true), NUMBER(rest_length, false),  NUMBER(linear_drag, true),
    NUMBER(quadratic_drag, true),   NUMBER(noise_size, false),   NUMBER(wind_factor, true),
};

static double* number_of(pliant_field_desc* desc, size_t i)
{
    return (double*)(void*)((char*)desc + numbers[i].offset);
}

pl_status pl_field_check(const pliant_field_desc* desc)
{
    const struct
    {
        const char* name;
        uint32_t value, count;
    } choices[] = {{"kind", desc->kind, PLIANT_FIELD_DRAG + 1},
                   {"shape", desc->shape, PLIANT_FIELD_PLANE + 1},
                   {"falloff type", desc->falloff_type, PLIANT_FALLOFF_CONE + 1},
                   {"side", desc->side, PLIANT_SIDE_NEGATIVE + 1}};
    for (size_t i = 0; i < PL_COUNTOF(choices); ++i)
        if (choices[i].value >= choices[i].count)
            return pl_fail(PLIANT_ERROR_ARGUMENT, "the field's %s is %u: there is no such %s",
                           choices[i].name, choices[i].value, choices[i].name);
    pliant_field_desc copy = *desc;
    for (size_t i = 0; i < PL_COUNTOF(numbers); ++i)
    {
        double value = *number_of(&copy, i);
        if (!(fabs(value) <= 1e30))
            return pl_fail(PLIANT_ERROR_ARGUMENT, "the field's %s is %g: it must be finite",
                           numbers[i].name, value);
        if (value < 0 && !numbers[i].may_be_negative)
            return pl_fail(PLIANT_ERROR_ARGUMENT, "the field's %s is %g: it must be 0 or more",
                           numbers[i].name, value);
    }
    for (int i = 0; i < 16; ++i)
        if (!(fabs(desc->matrix[i]) <= 1e30))
            return pl_fail(PLIANT_ERROR_ARGUMENT,
                           "element %d of the field's matrix is %g: it must be finite", i,
                           desc->matrix[i]);
    return PLIANT_OK;
}

void pl_field_at(const pl_field* field, double t, pliant_field_desc* now)
{
    pliant_field_desc from = field->from;
    *now = field->to;
    if (t >= 1)
        return;
    for (size_t i = 0; i < PL_COUNTOF(numbers); ++i)
    {
        double start = *number_of(&from, i), *value = number_of(now, i);
        *value = start + t * (*value - start);
    }
    for (int i = 0; i < 16; ++i)
        now->matrix[i] = from.matrix[i] + t * (now->matrix[i] - from.matrix[i]);
}

/* ------------------------------------------------------------------ powers and angles */

/* The binary logarithm of a positive, normal number: mantissa m in [sqrt(1/2), sqrt(2)), and the
 * series of atanh((m - 1) / (m + 1)). */
static double log2_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951)
        m *= 0.5, ++exponent;
    double s = (m - 1) / (m + 1), s2 = s * s, sum = 0;
    for (int k = 15; k >= 1; k -= 2)
        sum = sum * s2 + 1.0 / k;
    return exponent + 2.8853900817779268 * s * sum;
}

static double exp2_of(double value)
{
    if (value < -1020)
        return 0;
    int whole = (int)(value + (value < 0 ? -0.5 : 0.5));
    double t = (value - whole) * 0.6931471805599453, sum = 1;
    for (int k = 12; k >= 1; --k)
        sum = 1 + sum * t / k;
    uint64_t bits = (uint64_t)(whole + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

/* The angle of (across >= 0, along) from the axis, in degrees: halved twice, then the series. */
static double angle_of(double across, double along)
{
    double low = fabs(along) < across ? fabs(along) : across;
    double high = fabs(along) < across ? across : fabs(along);
    if (!(high > 0))
        return 0;
    double x = low / high;
    x = x / (1 + sqrt(1 + x * x));
    x = x / (1 + sqrt(1 + x * x));
    double x2 = x * x, sum = 0;
    for (int k = 15; k >= 1; k -= 2)
        sum = 1.0 / k - sum * x2;
    double degrees = 4 * x * sum * 57.29577951308232;
    if (fabs(along) < across)
        degrees = 90 - degrees;
    return along < 0 ? 180 - degrees : degrees;
}

/* ------------------------------------------------------------------ a batch of particles */

typedef struct batch
{
    uint32_t count;
    const float *x[3], *v[3];
    float* a[3];
    float d[3][BATCH]; /* from the field's place */
    float along[BATCH];
    float r[3][BATCH]; /* from the nearest point of its shape */
    float distance[BATCH], falloff[BATCH];
} batch;

typedef struct field
{
    const pliant_field_desc* desc;
    double place[3];  /* relative to the particles' origin */
    double origin[3]; /* of the particles, in the world */
    float n[3];
} field;

static void set_geometry(const field* f, batch* b)
{
    const float n0 = f->n[0], n1 = f->n[1], n2 = f->n[2];
    bool around = f->desc->shape == PLIANT_FIELD_LINE ||
                  (f->desc->shape == PLIANT_FIELD_PLANE && f->desc->kind == PLIANT_FIELD_VORTEX);
    bool plane = f->desc->shape == PLIANT_FIELD_PLANE && !around;
    for (int k = 0; k < 3; ++k)
    {
        const float place = (float)f->place[k];
        for (uint32_t i = 0; i < b->count; ++i)
            b->d[k][i] = b->x[k][i] - place;
    }
    for (uint32_t i = 0; i < b->count; ++i)
        b->along[i] = n0 * b->d[0][i] + n1 * b->d[1][i] + n2 * b->d[2][i];
    for (int k = 0; k < 3; ++k)
    {
        const float n = f->n[k], whole = plane ? 0.0f : 1.0f;
        const float part = plane ? 1.0f : around ? -1.0f : 0.0f;
        for (uint32_t i = 0; i < b->count; ++i)
            b->r[k][i] = whole * b->d[k][i] + part * n * b->along[i];
    }
    for (uint32_t i = 0; i < b->count; ++i)
        b->distance[i] =
            sqrtf(b->r[0][i] * b->r[0][i] + b->r[1][i] * b->r[1][i] + b->r[2][i] * b->r[2][i]);
}

typedef struct falloff_rule
{
    bool use_min, use_max;
    float min, max;
    double power;
} falloff_rule;

/* base^-power for base >= 1; common powers without logarithms. */
static void raise_falloff(uint32_t count, float* base, double power)
{
    if (power == 1)
        for (uint32_t i = 0; i < count; ++i)
            base[i] = 1 / base[i];
    else if (power == 2)
        for (uint32_t i = 0; i < count; ++i)
            base[i] = 1 / (base[i] * base[i]);
    else
        for (uint32_t i = 0; i < count; ++i)
            base[i] = (float)exp2_of(-power * log2_of(base[i]));
}

/* Multiplies the falloff by F(s). */
static void apply_falloff(const falloff_rule* rule, const float* s, batch* b)
{
    float base[BATCH];
    const float min = rule->use_min ? rule->min : 0, max = rule->use_max ? rule->max : INFINITY;
    if (rule->power != 0)
    {
        for (uint32_t i = 0; i < b->count; ++i)
            base[i] = s[i] > min ? 1 + (s[i] - min) : 1;
        raise_falloff(b->count, base, rule->power);
        for (uint32_t i = 0; i < b->count; ++i)
            b->falloff[i] *= base[i];
    }
    for (uint32_t i = 0; i < b->count; ++i)
        b->falloff[i] = s[i] <= max ? b->falloff[i] : 0;
}

static void set_falloff(const field* f, batch* b)
{
    const pliant_field_desc* desc = f->desc;
    const falloff_rule axial = {desc->use_min_distance, desc->use_max_distance,
                                (float)desc->distance_min, (float)desc->distance_max,
                                desc->falloff_power};
    const falloff_rule radial = {desc->use_radial_min, desc->use_radial_max,
                                 (float)desc->radial_min, (float)desc->radial_max,
                                 desc->radial_falloff};
    const float side = desc->side == PLIANT_SIDE_POSITIVE   ? 1.0f
                       : desc->side == PLIANT_SIDE_NEGATIVE ? -1.0f
                                                            : 0.0f;
    for (uint32_t i = 0; i < b->count; ++i)
        b->falloff[i] = b->along[i] * side < 0 ? 0 : 1;
    if (desc->falloff_type == PLIANT_FALLOFF_SPHERE)
    {
        apply_falloff(&axial, b->distance, b);
        return;
    }
    float s[BATCH];
    for (uint32_t i = 0; i < b->count; ++i)
        s[i] = fabsf(b->along[i]);
    apply_falloff(&axial, s, b);
    for (uint32_t i = 0; i < b->count; ++i)
    {
        float x = b->d[0][i] - f->n[0] * b->along[i], y = b->d[1][i] - f->n[1] * b->along[i];
        float z = b->d[2][i] - f->n[2] * b->along[i];
        s[i] = sqrtf(x * x + y * y + z * z);
    }
    if (desc->falloff_type == PLIANT_FALLOFF_CONE)
        for (uint32_t i = 0; i < b->count; ++i)
            s[i] = (float)angle_of(s[i], b->along[i]);
    apply_falloff(&radial, s, b);
}

/* ------------------------------------------------------------------ noise */

/* Blender's permutation, as measured from mathutils.noise. */
static const uint8_t permutation[256] = {
    162, 160, 25,  59,  248, 235, 170, 238, 243, 28,  103, 40,  29,  237, 0,   222, 149, 46,  220,
    63,  58,  130, 53,  77,  108, 186, 54,  208, 246, 12,  121, 50,  209, 89,  244, 8,   139, 99,
    137, 47,  184, 180, 151, 131, 242, 143, 24,  199, 81,  20,  101, 135, 72,  32,  66,  168, 128,
    181, 64,  19,  178, 34,  126, 87,  188, 127, 107, 157, 134, 76,  200, 219, 124, 213, 37,  78,
    90,  85,  116, 80,  205, 179, 122, 187, 195, 203, 182, 226, 228, 236, 253, 152, 11,  150, 211,
    158, 92,  161, 100, 241, 129, 97,  225, 196, 36,  114, 73,  140, 144, 75,  132, 52,  56,  171,
    120, 202, 31,  1,   215, 147, 17,  193, 88,  169, 49,  249, 68,  109, 191, 51,  156, 95,  9,
    148, 163, 133, 6,   198, 154, 30,  123, 70,  21,  48,  39,  43,  27,  113, 60,  91,  214, 111,
    98,  172, 79,  194, 192, 14,  177, 35,  167, 223, 71,  176, 119, 105, 5,   233, 230, 231, 118,
    115, 15,  254, 110, 155, 86,  239, 18,  165, 55,  252, 174, 217, 3,   142, 221, 16,  185, 206,
    201, 141, 218, 42,  189, 104, 23,  159, 190, 212, 10,  204, 210, 232, 67,  61,  112, 183, 2,
    125, 153, 216, 13,  96,  138, 4,   44,  62,  146, 229, 175, 83,  7,   224, 41,  166, 197, 227,
    245, 247, 74,  65,  38,  106, 22,  94,  82,  45,  33,  173, 240, 145, 255, 234, 84,  250, 102,
    26,  69,  57,  207, 117, 164, 136, 251, 93,
};

/* The twelve directions to the edges of a cube, four of them twice. */
static const float gradients[16][3] = {
    {1, 1, 0}, {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0}, {1, 0, 1}, {-1, 0, 1}, {1, 0, -1}, {-1, 0, -1},
    {0, 1, 1}, {0, -1, 1}, {0, 1, -1}, {0, -1, -1}, {1, 1, 0}, {0, -1, 1}, {-1, 1, 0}, {0, -1, -1},
};

/* A coordinate as lattice cell, place in the cell and its fade 6 t^5 - 15 t^4 + 10 t^3. */
typedef struct noise_axis
{
    uint8_t cell;
    float t, fade;
} noise_axis;

static noise_axis noise_axis_of(double coordinate)
{
    if (!(fabs(coordinate) < 1e15))
        return (noise_axis){0, 0, 0};
    int64_t cell = (int64_t)coordinate;
    cell -= (double)cell > coordinate;
    float t = (float)(coordinate - (double)cell);
    return (noise_axis){(uint8_t)(cell & 255), t, t * t * t * (t * (t * 6 - 15) + 10)};
}

static float corner(uint32_t hash, float x, float y, float z)
{
    const float* g = gradients[permutation[hash & 255] & 15];
    return g[0] * x + g[1] * y + g[2] * z;
}

/* One edge of the cell along z, between two corners. */
static float edge(uint32_t hash, float x, float y, const noise_axis* z)
{
    float low = corner(hash + z->cell, x, y, z->t);
    float high = corner(hash + z->cell + 1, x, y, z->t - 1);
    return low + z->fade * (high - low);
}

static float noise(const noise_axis* x, const noise_axis* y, const noise_axis* z)
{
    float face[2];
    for (uint32_t i = 0; i < 2; ++i)
    {
        uint32_t hash = permutation[(x->cell + i) & 255] + y->cell;
        float along = x->t - (float)i;
        float low = edge(permutation[hash & 255], along, y->t, z);
        float high = edge(permutation[(hash + 1) & 255], along, y->t - 1, z);
        face[i] = low + y->fade * (high - low);
    }
    return face[0] + x->fade * (face[1] - face[0]);
}

static void turbulence(const double* at, float out[3])
{
    out[0] = out[1] = out[2] = 0;
    float amplitude = 4.0f / 7.0f;
    double frequency = 1;
    for (int octave = 0; octave < 3; ++octave, amplitude *= 0.5f, frequency *= 2)
    {
        noise_axis axis[3];
        for (int k = 0; k < 3; ++k)
            axis[k] = noise_axis_of(frequency * at[k]);
        out[0] += amplitude * noise(&axis[0], &axis[1], &axis[2]);
        out[1] += amplitude * noise(&axis[1], &axis[2], &axis[0]);
        out[2] += amplitude * noise(&axis[2], &axis[0], &axis[1]);
    }
}

/* ------------------------------------------------------------------ the kinds */

static void add_wind(const field* f, batch* b)
{
    for (int k = 0; k < 3; ++k)
    {
        const float wind = (float)f->desc->strength * f->n[k];
        for (uint32_t i = 0; i < b->count; ++i)
            b->a[k][i] += wind * b->falloff[i];
    }
}

static void add_force(const field* f, batch* b)
{
    const float strength = (float)f->desc->strength;
    const bool gravitation = f->desc->use_gravity_falloff;
    float factor[BATCH];
    for (uint32_t i = 0; i < b->count; ++i)
    {
        float distance = b->distance[i];
        float over = gravitation ? distance * distance * distance : distance;
        factor[i] = over > TINY ? strength * b->falloff[i] / over : 0;
    }
    for (int k = 0; k < 3; ++k)
        for (uint32_t i = 0; i < b->count; ++i)
            b->a[k][i] += factor[i] * b->r[k][i];
}

static void add_vortex(const field* f, batch* b)
{
    const float n0 = f->n[0], n1 = f->n[1], n2 = f->n[2], strength = (float)f->desc->strength;
    const bool point = f->desc->shape == PLIANT_FIELD_POINT;
    for (uint32_t i = 0; i < b->count; ++i)
    {
        float fall = b->falloff[i];
        float t0 = n1 * b->d[2][i] - n2 * b->d[1][i], t1 = n2 * b->d[0][i] - n0 * b->d[2][i];
        float t2 = n0 * b->d[1][i] - n1 * b->d[0][i];
        float k = strength * fall;
        if (point)
        {
            float length = sqrtf(t0 * t0 + t1 * t1 + t2 * t2);
            float factor = length > TINY ? k * b->distance[i] / length : 0;
            b->a[0][i] += factor * t0, b->a[1][i] += factor * t1, b->a[2][i] += factor * t2;
            continue;
        }
        /* n x (n x d) = h n - d; the drag is not weakened by the falloff, only cut off by it */
        float drag = fall > 0 ? 1.0f : 0.0f, along = b->along[i];
        b->a[0][i] += k * (k * (along * n0 - b->d[0][i]) + t0) - drag * b->v[0][i];
        b->a[1][i] += k * (k * (along * n1 - b->d[1][i]) + t1) - drag * b->v[1][i];
        b->a[2][i] += k * (k * (along * n2 - b->d[2][i]) + t2) - drag * b->v[2][i];
    }
}

static void add_harmonic(const field* f, batch* b)
{
    const float strength = (float)f->desc->strength, rest = (float)f->desc->rest_length;
    const float damping = 2 * (float)f->desc->harmonic_damping * sqrtf(fabsf(strength));
    float pull[BATCH], drag[BATCH];
    for (uint32_t i = 0; i < b->count; ++i)
    {
        float distance = b->distance[i];
        float stretch = distance > TINY ? (distance - rest) / distance : 0;
        pull[i] = strength * b->falloff[i] * stretch;
        drag[i] = b->falloff[i] > 0 ? damping : 0;
    }
    for (int k = 0; k < 3; ++k)
        for (uint32_t i = 0; i < b->count; ++i)
            b->a[k][i] -= pull[i] * b->r[k][i] + drag[i] * b->v[k][i];
}

static void add_drag(const field* f, batch* b)
{
    const float with_square = (float)PL_MIN(f->desc->linear_drag, 2.0);
    const float with_speed = (float)PL_MIN(f->desc->quadratic_drag, 2.0);
    float drag[BATCH];
    for (uint32_t i = 0; i < b->count; ++i)
    {
        float speed =
            sqrtf(b->v[0][i] * b->v[0][i] + b->v[1][i] * b->v[1][i] + b->v[2][i] * b->v[2][i]);
        drag[i] = b->falloff[i] * (with_square * speed + with_speed);
    }
    for (int k = 0; k < 3; ++k)
        for (uint32_t i = 0; i < b->count; ++i)
            b->a[k][i] -= drag[i] * b->v[k][i];
}

static void add_turbulence(const field* f, batch* b)
{
    const double scale = f->desc->noise_size > 0 ? 1 / f->desc->noise_size : 1;
    double shift[3]; /* from positions to where the noise is taken */
    for (int k = 0; k < 3; ++k)
        shift[k] = f->desc->use_global_coords ? f->origin[k] : (double)f->n[k] - f->place[k];
    for (uint32_t i = 0; i < b->count; ++i)
    {
        if (!(b->falloff[i] > 0))
            continue;
        const float strength = (float)f->desc->strength * b->falloff[i];
        double at[3];
        float force[3];
        for (int k = 0; k < 3; ++k)
            at[k] = scale * (b->x[k][i] + shift[k]);
        turbulence(at, force);
        for (int k = 0; k < 3; ++k)
            b->a[k][i] += strength * force[k];
    }
}

static void add_flow(const field* f, batch* b)
{
    const float flow = (float)f->desc->flow;
    for (int k = 0; k < 3; ++k)
        for (uint32_t i = 0; i < b->count; ++i)
            b->a[k][i] -= flow * b->falloff[i] * b->v[k][i];
}

static void add_batch(const field* f, batch* b)
{
    static void (*const kinds[])(const field*, batch*) = {
        [PLIANT_FIELD_FORCE] = add_force,           [PLIANT_FIELD_WIND] = add_wind,
        [PLIANT_FIELD_VORTEX] = add_vortex,         [PLIANT_FIELD_HARMONIC] = add_harmonic,
        [PLIANT_FIELD_TURBULENCE] = add_turbulence, [PLIANT_FIELD_DRAG] = add_drag,
    };
    uint32_t kind = f->desc->kind;
    set_geometry(f, b);
    set_falloff(f, b);
    kinds[kind](f, b);
    if (kind != PLIANT_FIELD_HARMONIC && kind != PLIANT_FIELD_DRAG && f->desc->flow != 0)
        add_flow(f, b);
}

void pl_field_add(const pliant_field_desc* now, const double origin[3], uint32_t count,
                  const float* const x[3], const float* const v[3], float* const a[3])
{
    field f = {.desc = now};
    double length = 0;
    for (int k = 0; k < 3; ++k)
    {
        f.origin[k] = origin[k];
        f.place[k] = now->matrix[4 * k + 3] - origin[k];
        length += now->matrix[4 * k + 2] * now->matrix[4 * k + 2];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; ++k)
        f.n[k] = length > 0 ? (float)(now->matrix[4 * k + 2] / length) : 0;
    for (uint32_t begin = 0; begin < count; begin += BATCH)
    {
        batch b;
        b.count = PL_MIN(BATCH, count - begin);
        for (int k = 0; k < 3; ++k)
            b.x[k] = x[k] + begin, b.v[k] = v[k] + begin, b.a[k] = a[k] + begin;
        add_batch(&f, &b);
    }
}
