// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Signed distance field of a body's surface at rest, on a grid. Proxies are balls: their union is
 * bumpy, extends beyond the particles, and is mostly inside the body. So contacts take depth and
 * normal from this field instead: flat faces are flat, and the inside of the body has no contacts.
 *
 * The surface is that of Zhu and Bridson, Animating Sand as a Fluid, 2005: |x - mean(x)| - r, with
 * the weighted mean of the particles near x and r half their spacing. Farther away the distance is
 * found by fast sweeping (Zhao 2005), outward from the nodes next to the surface.
 */
#include "body/rest_sdf.h"

#include "base/elementary.h"
#include "body/rest_query.h"

#include <float.h>
#include <string.h>

/* Particles are averaged within this many spacings, and the grid ends this many beyond them. */
#define REACH 1.5
#define PADDING 2.0
/* The largest distance, in spacings, that queries need. */
#define MOST_DISTANCE 5.0
/* Nodes of the grid at the most, and for each particle: memory follows the particles, whatever the
 * extent of the mesh is in spacings. */
#define MOST_NODES 67108864.0
#define FEW_NODES 1048576.0
#define NODES_EACH 4096.0

void pl_rest_sdf_free(pl_rest_sdf* shape)
{
    pl_free(shape->distance);
    memset(shape, 0, sizeof *shape);
}

/* Weighted sums of a node over the particles near it. */
typedef struct near_sum
{
    float weight, to[3]; /* the sum of the weights, and of weighted ways to the particles */
} near_sum;

/* Copies made by splits have the rest positions of their parents and are skipped: the field has the
 * same bits before fracture and when restored after it. */
static bool is_of_shape(const pl_body* body, uint32_t slot)
{
    const pl_particles* p = &body->particles;
    return p->mass[slot] > 0 && p->birth[p->id[slot]] == 0;
}

static double bounds_of(const pl_body* body, double low[3], double high[3])
{
    for (int k = 0; k < 3; ++k)
        low[k] = DBL_MAX, high[k] = -DBL_MAX;
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
    {
        vec3 r = pl_rest_of(body, s);
        const double at[3] = {r.x, r.y, r.z};
        for (int k = 0; k < 3 && is_of_shape(body, s); ++k)
            low[k] = fmin(low[k], at[k]), high[k] = fmax(high[k], at[k]);
    }
    double size = 0;
    for (int k = 0; k < 3; ++k)
        size = fmax(size, high[k] - low[k]);
    return size;
}

/* Cells of half a spacing; larger if that were too many. */
static void lay_grid(const pl_body* body, pl_rest_sdf* shape)
{
    double low[3], high[3], largest = bounds_of(body, low, high);
    double spacing = body->spacing > 1e-4 * largest ? body->spacing : 1e-4 * largest;
    spacing = spacing > 0 ? spacing : 1;
    double cell = .5 * spacing, nodes = 1;
    for (int k = 0; k < 3; ++k)
        nodes *= (high[k] - low[k] + 2 * PADDING * spacing) / cell + 2;
    double count = 0;
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        count += is_of_shape(body, s);
    double most = fmin(MOST_NODES, FEW_NODES + NODES_EACH * count);
    if (nodes > most)
        cell *= pl_cbrt(nodes / most) * 1.01;
    shape->spacing = spacing;
    shape->per_cell = 1 / cell;
    for (int k = 0; k < 3; ++k)
    {
        double padding = PADDING * spacing + cell;
        shape->lower[k] = low[k] - padding;
        shape->size[k] = (uint32_t)((high[k] - low[k] + 2 * padding) / cell) + 2;
    }
}

static void add_particle(const pl_rest_sdf* shape, vec3 r, near_sum* sums)
{
    double cell = 1 / shape->per_cell, reach = fmax(REACH * shape->spacing, 2 * cell);
    const double at[3] = {r.x, r.y, r.z};
    uint32_t from[3], to[3];
    for (int k = 0; k < 3; ++k)
    {
        double low = (at[k] - reach - shape->lower[k]) * shape->per_cell;
        double high = (at[k] + reach - shape->lower[k]) * shape->per_cell;
        from[k] = (uint32_t)PL_MAX(low, 0);
        to[k] = (uint32_t)PL_MIN(high, shape->size[k] - 1.0);
    }
    float per_square = (float)(1 / (reach * reach));
    for (uint32_t z = from[2]; z <= to[2]; ++z)
        for (uint32_t y = from[1]; y <= to[1]; ++y)
        {
            float dy = (float)(at[1] - shape->lower[1] - cell * y);
            float dz = (float)(at[2] - shape->lower[2] - cell * z);
            float across = dy * dy + dz * dz;
            near_sum* row = sums + (size_t)shape->size[0] * (y + (size_t)shape->size[1] * z);
            for (uint32_t x = from[0]; x <= to[0] && across * per_square < 1; ++x)
            {
                float dx = (float)(at[0] - shape->lower[0] - cell * x);
                float left = 1 - (dx * dx + across) * per_square;
                left = left > 0 ? left : 0;
                float w = left * left * left;
                row[x].weight += w;
                row[x].to[0] += w * dx, row[x].to[1] += w * dy, row[x].to[2] += w * dz;
            }
        }
}

/* Distances of nodes next to the surface, from its crossings with grid edges; 0 elsewhere. */
static float crossing_distance(const pl_rest_sdf* shape, const float* d, size_t node,
                               const uint32_t at[3])
{
    double sum = 0, cell = 1 / shape->per_cell;
    size_t dy = shape->size[0], dz = dy * shape->size[1];
    bool inside = d[node]<0, same = at[0]> 0 && at[0] + 1 < shape->size[0] && at[1] > 0 &&
                  at[1] + 1 < shape->size[1] && at[2] > 0 && at[2] + 1 < shape->size[2];
    if (same && (d[node - 1] < 0) == inside && (d[node + 1] < 0) == inside &&
        (d[node - dy] < 0) == inside && (d[node + dy] < 0) == inside &&
        (d[node - dz] < 0) == inside && (d[node + dz] < 0) == inside)
        return 0;
    const size_t step[3] = {1, shape->size[0], (size_t)shape->size[0] * shape->size[1]};
    for (int k = 0; k < 3; ++k)
    {
        double least = INFINITY;
        for (int side = 0; side < 2; ++side)
        {
            if (side ? at[k] + 1 >= shape->size[k] : at[k] == 0)
                continue;
            float other = side ? d[node + step[k]] : d[node - step[k]];
            if ((other < 0) != (d[node] < 0))
                least = fmin(least, cell * fabs(d[node]) / (fabs(d[node]) + fabs(other)));
        }
        if (least < INFINITY)
            sum += 1 / fmax(least * least, 1e-6 * cell * cell);
    }
    return sum > 0 ? (float)(1 / sqrt(sum)) : 0;
}

static float lesser(float a, float b)
{
    return a < b ? a : b;
}

/* The distance of a node from those of its neighbours: |slope| = 1. */
static float eikonal(const float least[3], float cell)
{
    float a = least[0], b = least[1], c = least[2], t;
    if (a > b)
        t = a, a = b, b = t;
    if (b > c)
        t = b, b = c, c = t;
    if (a > b)
        t = a, a = b, b = t;
    float x = a + cell;
    if (x > b)
        x = .5f * (a + b + sqrtf(PL_MAX(2 * cell * cell - (a - b) * (a - b), 0)));
    if (x > c)
    {
        float s = a + b + c, q = s * s - 3 * (a * a + b * b + c * c - cell * cell);
        x = (s + sqrtf(PL_MAX(q, 0))) / 3;
    }
    return x;
}

/* One row of nodes, from one end to the other. A node at the grid's edge is its own neighbour,
 * which never makes it less. */
static void sweep_row(const uint8_t* fixed, float* d, uint32_t count, bool back, size_t before_y,
                      size_t behind_y, size_t before_z, size_t behind_z, float cell, float most)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t x = back ? count - 1 - i : i;
        float* at = d + x;
        float least[3] = {lesser(at[x > 0 ? -1 : 0], at[x + 1 < count ? 1 : 0]),
                          lesser(*(at - before_y), at[behind_y]),
                          lesser(*(at - before_z), at[behind_z])};
        float nearest = lesser(lesser(least[0], least[1]), least[2]);
        /* nothing that is not nearer can make it less */
        if (fixed[x] || !(nearest < *at) || nearest > most)
            continue;
        *at = lesser(*at, eikonal(least, cell));
    }
}

static void sweep(const pl_rest_sdf* shape, const uint8_t* fixed, float* d, int way)
{
    const uint32_t* size = shape->size;
    size_t dy = size[0], dz = dy * size[1];
    for (uint32_t i = 0; i < size[2]; ++i)
        for (uint32_t j = 0; j < size[1]; ++j)
        {
            uint32_t z = way & 4 ? size[2] - 1 - i : i, y = way & 2 ? size[1] - 1 - j : j;
            size_t row = y * dy + z * dz;
            sweep_row(fixed + row, d + row, size[0], way & 1, y > 0 ? dy : 0,
                      y + 1 < size[1] ? dy : 0, z > 0 ? dz : 0, z + 1 < size[2] ? dz : 0,
                      (float)(1 / shape->per_cell), (float)(MOST_DISTANCE * shape->spacing));
        }
}

/* ------------------------------------------------------------------ holes */

/* In spacings: a hole without a point that is this far from the surface is a gap between particles
 * and not a cavity of the body. */
#define LEAST_CAVITY 0.6

/* Flood fill of the outside nodes connected with one; returns the largest distance. Marks the nodes
 * and lists them from the queue's begin. */
static float flood(const pl_rest_sdf* shape, const float* level, uint32_t first, uint8_t* seen,
                   uint32_t* queue, size_t* count)
{
    const uint32_t* size = shape->size;
    const size_t step[3] = {1, size[0], (size_t)size[0] * size[1]};
    float most = 0;
    *count = 0;
    seen[first] = 1;
    queue[(*count)++] = first;
    for (size_t n = 0; n < *count; ++n)
    {
        size_t node = queue[n];
        most = level[node] > most ? level[node] : most;
        for (int k = 0; k < 3; ++k)
        {
            size_t at = node / step[k] % size[k];
            for (int side = 0; side < 2; ++side)
            {
                size_t next = side ? node + step[k] : node - step[k];
                if ((side ? at + 1 == size[k] : at == 0) || seen[next] || level[next] < 0)
                    continue;
                seen[next] = 1;
                queue[(*count)++] = (uint32_t)next;
            }
        }
    }
    return most;
}

/* Gaps between sparse particles would be surfaces inside the body: count them as material. */
static pl_status fill_holes(const pl_rest_sdf* shape, float* level, size_t nodes)
{
    uint8_t* seen = PL_NEW(uint8_t, nodes);
    uint32_t* queue = PL_NEW(uint32_t, nodes);
    bool fine = seen && queue;
    for (size_t n = 0; n < nodes && fine; ++n)
    {
        size_t count;
        if (seen[n] || level[n] < 0)
            continue;
        float most = flood(shape, level, (uint32_t)n, seen, queue, &count);
        for (size_t i = 0; i < count && most < LEAST_CAVITY * shape->spacing; ++i)
            level[queue[i]] = (float)(-.25 * shape->spacing);
    }
    pl_free(seen);
    pl_free(queue);
    return fine ? PLIANT_OK : pl_fail_memory(5 * nodes);
}

/* ------------------------------------------------------------------ the whole */

static pl_status find_distances(pl_rest_sdf* shape, const near_sum* sums, size_t nodes)
{
    float* level = PL_NEW(float, nodes);
    uint8_t* fixed = PL_NEW(uint8_t, nodes);
    pl_status status = level && fixed ? PLIANT_OK : pl_fail_memory(5 * nodes);
    if (status == PLIANT_OK)
    {
        for (size_t n = 0; n < nodes; ++n)
        {
            vec3 to = v3_from(sums[n].to);
            level[n] = sums[n].weight > 0
                           ? (float)(v3_length(to) / sums[n].weight - .5 * shape->spacing)
                           : (float)shape->spacing;
        }
        status = fill_holes(shape, level, nodes);
    }
    if (status == PLIANT_OK)
    {
        size_t n = 0;
        for (uint32_t z = 0; z < shape->size[2]; ++z)
            for (uint32_t y = 0; y < shape->size[1]; ++y)
                for (uint32_t x = 0; x < shape->size[0]; ++x, ++n)
                {
                    const uint32_t at[3] = {x, y, z};
                    float near = crossing_distance(shape, level, n, at);
                    fixed[n] = near > 0;
                    shape->distance[n] = near > 0 ? near : FLT_MAX;
                }
        for (int way = 0; way < 8; ++way)
            sweep(shape, fixed, shape->distance, way);
        float most = (float)(MOST_DISTANCE * shape->spacing);
        for (n = 0; n < nodes; ++n)
        {
            float distance = lesser(shape->distance[n], most);
            shape->distance[n] = level[n] < 0 ? -distance : distance;
        }
    }
    pl_free(level);
    pl_free(fixed);
    return status;
}

pl_status pl_rest_sdf_build(const pl_body* body, pl_rest_sdf* shape)
{
    pl_rest_sdf_free(shape);
    lay_grid(body, shape);
    size_t nodes = (size_t)shape->size[0] * shape->size[1] * shape->size[2];
    near_sum* sums = (near_sum*)pl_alloc(nodes, sizeof *sums);
    shape->distance = PL_NEW(float, nodes);
    pl_status status = sums && shape->distance ? PLIANT_OK : pl_fail_memory(nodes * sizeof *sums);
    for (uint32_t s = 0; s < body->particles.slot_count && status == PLIANT_OK; ++s)
        if (is_of_shape(body, s))
            add_particle(shape, pl_rest_of(body, s), sums);
    if (status == PLIANT_OK)
        status = find_distances(shape, sums, nodes);
    pl_free(sums);
    return status;
}
