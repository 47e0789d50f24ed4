// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Contact of particles with simple colliders, within one substep. Eight lanes in float cull the
 * particles whose paths cannot touch; particle_collider.c resolves the rest one by one. Colliders
 * far from all particles are skipped first.
 */
#include "collision/collider/colliders.h"

#include "base/simd.h"
#include "collision/collider/particle_collider.h"

/* Relative rounding of float positions: closer than this counts as touching. */
#define TOUCHING 1.0e-6
/* Relative rounding of the lanes' results. */
#define ROUNDING 2.0e-6f
/* Most passes over the colliders for one particle. */
#define PASSES 4
/* Colliders that are tested together; more around one chunk take another round. */
#define ROUND 512
/* Particles that are tested together. */
#define TILE 1024

/* ------------------------------------------------------------------ culling in lanes */

typedef struct lanes3
{
    vf x, y, z;
} lanes3;

PL_INLINE vf map_row(const float* row, lanes3 p)
{
    vf r = vf_mad(vf_set1(row[3]), vf_set1(row[0]), p.x);
    r = vf_mad(r, vf_set1(row[1]), p.y);
    return vf_mad(r, vf_set1(row[2]), p.z);
}
PL_INLINE lanes3 map_point(const float* map, lanes3 p)
{
    return (lanes3){map_row(map, p), map_row(map + 4, p), map_row(map + 8, p)};
}
PL_INLINE vf size_of(lanes3 p)
{
    return vf_add(vf_add(vf_abs(p.x), vf_abs(p.y)), vf_abs(p.z));
}
PL_INLINE vf squared(vf a)
{
    return vf_mul(a, a);
}

PL_INLINE lanes3 load3(float* const x[3], uint32_t i)
{
    return (lanes3){vf_load(x[0] + i), vf_load(x[1] + i), vf_load(x[2] + i)};
}

/* Signed distance of local points; "shape" is a constant wherever this is used. */
PL_INLINE vf lane_distance(uint32_t shape, const double* extent, lanes3 p)
{
    vf zero = vf_set1(0), e0 = vf_set1((float)extent[0]), e1 = vf_set1((float)extent[1]);
    if (shape == PLIANT_SHAPE_BOX)
    {
        vf x = vf_sub(vf_abs(p.x), e0), y = vf_sub(vf_abs(p.y), e1);
        vf z = vf_sub(vf_abs(p.z), vf_set1((float)extent[2]));
        vf out = vf_add(vf_add(squared(vf_max(x, zero)), squared(vf_max(y, zero))),
                        squared(vf_max(z, zero)));
        return vf_add(vf_sqrt(out), vf_min(vf_max(vf_max(x, y), z), zero));
    }
    vf across = vf_add(squared(p.x), squared(p.y));
    if (shape == PLIANT_SHAPE_CYLINDER)
    {
        vf r = vf_sub(vf_sqrt(across), e0), z = vf_sub(vf_abs(p.z), e1);
        vf out = vf_add(squared(vf_max(r, zero)), squared(vf_max(z, zero)));
        return vf_add(vf_sqrt(out), vf_min(vf_max(r, z), zero));
    }
    vf z = p.z;
    if (shape == PLIANT_SHAPE_CAPSULE)
        z = vf_max(vf_sub(vf_abs(p.z), e1), zero);
    return vf_sub(vf_sqrt(vf_add(across, squared(z))), e0);
}

/* Bit i of marks[block] is set where lane i may touch; "slack" covers what float rounds away. */

PL_INLINE void mark_plane(const pl_collider_step* step, uint32_t count, float* const x[3],
                          uint8_t* marks)
{
    vf keep = vf_set1((float)step->thickness + step->slack), relative = vf_set1(ROUNDING);
    for (uint32_t i = 0; i < count; i += PL_LANES)
    {
        lanes3 end = load3(x, i);
        vf least = vf_mad(keep, relative, size_of(end));
        marks[i / PL_LANES] |= (uint8_t)vm_bits(vf_lt(map_row(step->local1 + 8, end), least));
    }
}

PL_INLINE void mark_inside(const pl_collider_step* step, uint32_t shape, uint32_t count,
                           float* const x[3], uint8_t* marks)
{
    vf keep = vf_set1(-step->slack), relative = vf_set1(-ROUNDING);
    for (uint32_t i = 0; i < count; i += PL_LANES)
    {
        lanes3 end = load3(x, i);
        vf distance = lane_distance(shape, step->extent, map_point(step->local1, end));
        vf most = vf_mad(keep, relative, size_of(end));
        marks[i / PL_LANES] |= (uint8_t)vm_bits(vf_lt(most, distance));
    }
}

/* A path of length L between distances d0 and d1 comes no nearer than (d0 + d1 - L) / 2. */
PL_INLINE void mark_outside(const pl_collider_step* step, uint32_t shape, float dt, uint32_t count,
                            float* const x[3], float* const v[3], uint8_t* marks)
{
    vf keep = vf_set1(2 * ((float)step->thickness + step->slack)), relative = vf_set1(2 * ROUNDING);
    vf time = vf_set1(dt);
    for (uint32_t i = 0; i < count; i += PL_LANES)
    {
        lanes3 end = load3(x, i), speed = load3(v, i);
        lanes3 start = {vf_sub(end.x, vf_mul(time, speed.x)), vf_sub(end.y, vf_mul(time, speed.y)),
                        vf_sub(end.z, vf_mul(time, speed.z))};
        lanes3 a = map_point(step->local0, start), b = map_point(step->local1, end);
        vf length = vf_add(squared(vf_sub(b.x, a.x)), squared(vf_sub(b.y, a.y)));
        length = vf_sqrt(vf_add(length, squared(vf_sub(b.z, a.z))));
        vf most = vf_mad(keep, relative, vf_add(size_of(start), size_of(end)));
        vf distances =
            vf_add(lane_distance(shape, step->extent, a), lane_distance(shape, step->extent, b));
        marks[i / PL_LANES] |= (uint8_t)vm_bits(vf_le(distances, vf_add(most, length)));
    }
}

PL_INLINE void mark_shape(const pl_collider_step* step, uint32_t shape, float dt, uint32_t count,
                          float* const x[3], float* const v[3], uint8_t* marks)
{
    if (step->inside_out)
        mark_inside(step, shape, count, x, marks);
    else
        mark_outside(step, shape, dt, count, x, v, marks);
}

static void mark(const pl_collider_step* step, float dt, uint32_t count, float* const x[3],
                 float* const v[3], uint8_t* marks)
{
    switch (step->shape)
    {
        case PLIANT_SHAPE_PLANE:
            mark_plane(step, count, x, marks);
            break;
        case PLIANT_SHAPE_SPHERE:
            mark_shape(step, PLIANT_SHAPE_SPHERE, dt, count, x, v, marks);
            break;
        case PLIANT_SHAPE_BOX:
            mark_shape(step, PLIANT_SHAPE_BOX, dt, count, x, v, marks);
            break;
        case PLIANT_SHAPE_CAPSULE:
            mark_shape(step, PLIANT_SHAPE_CAPSULE, dt, count, x, v, marks);
            break;
        default:
            mark_shape(step, PLIANT_SHAPE_CYLINDER, dt, count, x, v, marks);
    }
}

/* ------------------------------------------------------------------ candidates */

/* A push out of one collider may lead into another: repeat until none is touched. */
static bool resolve_particle(const pl_collider_step* colliders, const uint32_t* active,
                             uint32_t active_count, pl_collider_particle* q, double* friction)
{
    bool touched = false, again = true;
    *friction = 0;
    for (int pass = 0; pass < PASSES && again; ++pass)
    {
        again = false;
        for (uint32_t i = 0; i < active_count; ++i)
        {
            const pl_collider_step* one = &colliders[active[i]];
            if (!pl_collide_particle(one, q))
                continue;
            again = true;
            *friction = PL_MAX(*friction, one->friction);
        }
        touched |= again;
        again = again && (active_count > 1 || colliders[active[0]].inside_out);
        q->ignore = 0.05 * q->touching;
    }
    return touched;
}

typedef struct bounds
{
    double lower[3], upper[3];
} bounds;

static double lane_extreme(vf a, double sign)
{
    float lanes[PL_LANES];
    vf_store(lanes, a);
    double most = sign * lanes[0];
    for (int i = 1; i < PL_LANES; ++i)
        most = PL_MAX(most, sign * lanes[i]);
    return sign * most;
}

static bounds swept_bounds(float dt, uint32_t count, float* const x[3], float* const v[3])
{
    bounds box;
    for (int k = 0; k < 3; ++k)
    {
        vf low = vf_load(x[k]), high = low;
        for (uint32_t i = 0; i < count; i += PL_LANES)
        {
            vf end = vf_load(x[k] + i);
            vf start = vf_sub(end, vf_mul(vf_set1(dt), vf_load(v[k] + i)));
            low = vf_min(low, vf_min(start, end));
            high = vf_max(high, vf_max(start, end));
        }
        box.lower[k] = lane_extreme(low, -1);
        box.upper[k] = lane_extreme(high, 1);
    }
    return box;
}

static bool meets(const pl_collider_step* step, const bounds* box)
{
    for (int i = 0; i < 3; ++i)
        if (box->lower[i] > step->upper[i] || box->upper[i] < step->lower[i])
            return false;
    return true;
}

/* Bound of how far the collider may move a particle in the box. */
static double reach(const pl_collider_step* step, const bounds* box)
{
    double turn = 0, away = 0, shift = 0;
    for (int i = 0; i < 9; ++i)
        turn += step->turn[i] * step->turn[i];
    for (int i = 0; i < 3; ++i)
    {
        double far = PL_MAX(fabs(box->lower[i] - step->p1[i]), fabs(box->upper[i] - step->p1[i]));
        away += far * far;
        shift += step->shift[i] * step->shift[i];
    }
    return sqrt(shift) + sqrt(turn * away);
}

/* Collects colliders from *next on that may touch the box, at most ROUND of them. */
static uint32_t choose(const pl_collider_step* colliders, uint32_t collider_count,
                       const bounds* box, uint32_t* next, uint32_t* active)
{
    uint32_t count = 0;
    for (; *next < collider_count && count < ROUND; ++*next)
        if (!box || meets(&colliders[*next], box))
            active[count++] = *next;
    return count;
}

static bool resolve_lane(const pl_collider_step* colliders, const uint32_t* active,
                         uint32_t active_count, float dt, uint32_t i, float* const x[3],
                         float* const v[3], pl_moved_blocks* moved)
{
    pl_collider_particle q = {.dt = dt};
    for (int k = 0; k < 3; ++k)
    {
        q.x[k] = x[k][i], q.v[k] = v[k][i];
        q.start[k] = q.x[k] - q.dt * q.v[k];
        q.touching += TOUCHING * (fabs(q.x[k]) + fabs(q.start[k]));
    }
    double friction;
    if (!resolve_particle(colliders, active, active_count, &q, &friction))
        return false;
    pl_note_moved(moved, i, x, v, friction);
    for (int k = 0; k < 3; ++k)
        x[k][i] = (float)q.x[k], v[k][i] = (float)q.v[k];
    return true;
}

static uint32_t resolve_tile(const pl_collider_step* colliders, const uint32_t* active,
                             uint32_t active_count, float dt, uint32_t count, const float* mass,
                             float* const x[3], float* const v[3], pl_moved_blocks* moved)
{
    uint8_t marks[TILE / PL_LANES] = {0};
    uint32_t touched = 0;
    for (uint32_t k = 0; k < active_count; ++k)
        mark(&colliders[active[k]], dt, count, x, v, marks);
    for (uint32_t i = 0; i < count; i += PL_LANES)
        for (unsigned lanes = marks[i / PL_LANES]; lanes; lanes &= lanes - 1)
        {
            uint32_t slot = i + (uint32_t)__builtin_ctz(lanes);
            if (mass[slot] != 0)
                touched += resolve_lane(colliders, active, active_count, dt, slot, x, v, moved);
        }
    return touched;
}

static uint32_t resolve_round(const pl_collider_step* colliders, const uint32_t* active,
                              uint32_t active_count, float dt, uint32_t count, const float* mass,
                              float* const x[3], float* const v[3], pl_moved_blocks* moved)
{
    uint32_t touched = 0;
    for (uint32_t i = 0; i < count; i += TILE)
    {
        float* const tile_x[3] = {x[0] + i, x[1] + i, x[2] + i};
        float* const tile_v[3] = {v[0] + i, v[1] + i, v[2] + i};
        pl_moved_blocks tile = {0};
        if (moved)
            tile = (pl_moved_blocks){moved->count, moved->hit + i / PL_LANES, moved->before,
                                     moved->touch ? moved->touch + i : NULL};
        touched += resolve_tile(colliders, active, active_count, dt, PL_MIN(TILE, count - i),
                                mass + i, tile_x, tile_v, moved ? &tile : NULL);
        if (moved)
            moved->count = tile.count;
    }
    return touched;
}

uint32_t PL_K(pl_colliders_resolve)(const pl_collider_step* colliders, uint32_t collider_count,
                                    float dt, uint32_t count, const float* mass, float* const x[3],
                                    float* const v[3], pl_moved_blocks* moved);
uint32_t PL_K(pl_colliders_resolve)(const pl_collider_step* colliders, uint32_t collider_count,
                                    float dt, uint32_t count, const float* mass, float* const x[3],
                                    float* const v[3], pl_moved_blocks* moved)
{
    uint32_t active[ROUND], touched = 0, finite = 0;
    for (uint32_t i = 0; i < collider_count; ++i)
        finite += colliders[i].upper[0] < INFINITY;
    if (count == 0)
        return 0;
    bounds box;
    if (finite)
    {
        box = swept_bounds(dt, count, x, v);
        double farthest = 0;
        for (uint32_t i = 0; i < collider_count; ++i)
            if (meets(&colliders[i], &box))
                farthest = PL_MAX(farthest, reach(&colliders[i], &box));
        for (int k = 0; k < 3; ++k)
            box.lower[k] -= farthest, box.upper[k] += farthest;
    }
    for (uint32_t next = 0; next < collider_count;)
    {
        uint32_t chosen = choose(colliders, collider_count, finite ? &box : NULL, &next, active);
        if (chosen)
            touched += resolve_round(colliders, active, chosen, dt, count, mass, x, v, moved);
    }
    return touched;
}
