// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pressure on a surface bound to the particles (Matyka and Ollila, "Pressure model of soft body
 * simulation", 2003, push vertices along their normals by a gas law). Departures: the force is
 * minus the gradient of an energy, for each shell
 *
 *     E = P / (2 V0) (s V0 - V)^2,   V = sum over triangles of a . (b x c) / 6,
 *
 * with P the material's pressure, V0 the rest volume and s the inflation. So it is P (s V0 - V) /
 * V0 times the gradient of V. At a vertex, that is a third of the area vectors around it; at a
 * particle, the weighted sum over the vertices bound to it (dynamics/pressure_setup.c). V is
 * invariant under rigid motion, so the forces exert no net force or torque for any shape: momentum
 * is kept to rounding. Each shell keeps its own volume: two balloons in one body do not inflate
 * each other, and a cavity stays a cavity.
 *
 * Stability. The force is explicit, and P is unlimited. Along its gradient, V oscillates with
 * V'' = k (s V0 - V), k = (P / V0) sum |grad|^2 / m. Two limits reduce the pressure to a stable
 * value, which grows with the number of substeps:
 *   - k dt^2 is at most 1, which restores all of the missing volume in one substep. It is less
 *     where stiffness and damping leave less room in the condition below.
 *   - No particle moves by more than a quarter of the spacing within a substep: beyond, the
 *     surface would rotate while it is pushed (the second derivative of V).
 * An oscillation with a period of few substeps would ring for long. So V is extrapolated by half a
 * substep, V + V' dt / 2, which damps like implicit Euler: stiff oscillations within some substeps,
 * slow ones hardly. It keeps momentum, since V' is 0 in rigid motion. Symplectic Euler is stable
 * while alpha + k dt^2 < 4 - 2 (kappa + k dt^2 / 2); four fifths of that range are used.
 */
#include "dynamics/pressure.h"

enum
{
    GRAIN = 512 /* vertices or particles at a time */
};

static const double MOST_SWING = 1, LEAST_SWING = .05, MOST_SHIFT = .25;

static vec3 vertex_at(const pl_pressure* s, uint32_t vertex)
{
    return v3_fromd(s->at[vertex]);
}

static void put(vec3 a, double out[3])
{
    out[0] = a.x, out[1] = a.y, out[2] = a.z;
}

static void place_followers(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_body* body = context;
    const pl_particles* p = &body->particles;
    const pl_pressure* s = body->pressure;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        uint32_t slot = p->slot_of[s->follower[i]];
        for (int k = 0; k < 3; ++k)
            s->place[i][k] = p->x[k][slot];
    }
}

static void place_vertices(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_pressure* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        vec3 at = v3(0, 0, 0);
        for (uint32_t e = s->begin[i]; e < s->begin[i + 1]; ++e)
            at = v3_mad(at, v3_from(s->place[s->carrier[e]]), s->weight[e]);
        put(at, s->at[i]);
    }
}

static void sum_volumes(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_pressure* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        double volume = 0;
        for (uint32_t t = s->triangles[i].begin; t < s->triangles[i].end; ++t)
        {
            const uint32_t* v = s->triangle[t];
            volume += v3_dot(vertex_at(s, v[0]), v3_cross(vertex_at(s, v[1]), vertex_at(s, v[2])));
        }
        s->partial_volume[i] = volume / 6;
    }
}

void pl_pressure_measure(pl_body* body, pl_pool* pool)
{
    pl_pressure* s = body->pressure;
    pl_parallel_for(pool, s->follower_count, GRAIN, place_followers, body);
    pl_parallel_for(pool, s->vertex_count, GRAIN, place_vertices, s);
    pl_parallel_for(pool, s->triangles_of_shell[s->shell_count], 1, sum_volumes, s);
    body->enclosed_volume = 0;
    for (uint32_t shell = 0; shell < s->shell_count; ++shell)
    {
        s->volume[shell] = 0;
        for (uint32_t i = s->triangles_of_shell[shell]; i < s->triangles_of_shell[shell + 1]; ++i)
            s->volume[shell] += s->partial_volume[i];
        if (s->rest_volume[shell] > 0)
            body->enclosed_volume +=
                s->volume[shell] / s->rest_volume[shell] * s->true_volume[shell];
    }
}

/* Uses differences: the mesh is closed around a vertex, so the vertex's own position cancels. */
static void find_slopes(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_pressure* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        vec3 sum = v3(0, 0, 0), at = vertex_at(s, i);
        for (uint32_t n = s->corner_begin[i]; n < s->corner_begin[i + 1]; ++n)
        {
            uint32_t corner = s->corner[n] % 3;
            const uint32_t* v = s->triangle[s->corner[n] / 3];
            vec3 b = v3_sub(vertex_at(s, v[(corner + 1) % 3]), at);
            vec3 c = v3_sub(vertex_at(s, v[(corner + 2) % 3]), at);
            sum = v3_add(sum, v3_cross(b, c));
        }
        put(v3_scale(sum, 1.0 / 6), s->slope[i]);
    }
}

static void find_gradients(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_body* body = context;
    const pl_particles* p = &body->particles;
    const pl_pressure* s = body->pressure;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        double swing = 0, largest = 0, rate = 0;
        for (uint32_t pull = s->pulls[i].begin; pull < s->pulls[i].end; ++pull)
        {
            vec3 sum = v3(0, 0, 0);
            for (uint32_t e = s->pull[pull].begin; e < s->pull[pull].end; ++e)
                sum = v3_mad(sum, v3_fromd(s->slope[s->entry_vertex[e]]), s->entry_weight[e]);
            put(sum, s->gradient[pull]);
            uint32_t slot = p->slot_of[s->follower[s->pull_follower[pull]]];
            double mass = p->mass[slot], squared = v3_dot(sum, sum);
            if (!(mass > 0))
                continue;
            rate += v3_dot(sum, v3(p->v[0][slot], p->v[1][slot], p->v[2][slot]));
            swing += squared / mass;
            largest = fmax(largest, squared / (mass * mass));
        }
        s->partial[i][0] = swing;
        s->partial[i][1] = sqrt(largest);
        s->partial[i][2] = rate;
    }
}

/* The largest stable k dt^2 with the body's stiffness and damping. */
static double room_for_swing(const pl_body* body)
{
    const pl_clusters* k = &body->clusters;
    double alpha = 0, kappa = 0;
    for (uint32_t level = 0; level < body->level_count; ++level)
    {
        double stiffest = 0, most_damped = 0;
        for (uint32_t c = body->level_begin[level]; c < body->level_begin[level + 1]; ++c)
        {
            stiffest = fmax(stiffest, k->alpha[c]);
            most_damped = fmax(most_damped, k->kappa[c] + k->kappa_body[c]);
        }
        alpha += stiffest;
        kappa += most_damped;
    }
    return PL_CLAMP(.4 * (4 - 2 * kappa - alpha), LEAST_SWING, MOST_SWING);
}

/* The pressure of each shell, limited to what is stable in the substep. */
static void find_pressures(const pl_body* body, double dt)
{
    double room = room_for_swing(body);
    const pl_pressure* s = body->pressure;
    const pliant_material_desc* m = &body->material;
    for (uint32_t shell = 0; shell < s->shell_count; ++shell)
    {
        double swing = 0, largest = 0, rate = 0, rest = s->rest_volume[shell];
        for (uint32_t i = s->pulls_of_shell[shell]; i < s->pulls_of_shell[shell + 1]; ++i)
        {
            swing += s->partial[i][0];
            largest = fmax(largest, s->partial[i][1]);
            rate += s->partial[i][2];
        }
        s->pressure[shell] = 0;
        if (!(rest > 0))
            continue;
        double stiffness = m->pressure / rest;
        if (stiffness * swing * dt * dt > room)
            stiffness = room / (swing * dt * dt);
        double missing = m->inflation * rest - s->volume[shell];
        double pressure = stiffness * (missing - .5 * dt * rate);
        double shift = fabs(pressure) * largest * dt * dt, most = MOST_SHIFT * body->spacing;
        s->pressure[shell] = shift > most ? pressure * (most / shift) : pressure;
    }
}

static void push_particles(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_body* body = context;
    const pl_particles* p = &body->particles;
    const pl_pressure* s = body->pressure;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        uint32_t slot = p->slot_of[s->follower[i]];
        vec3 force = v3(0, 0, 0);
        for (uint32_t n = s->follower_begin[i]; n < s->follower_begin[i + 1]; ++n)
        {
            uint32_t pull = s->follower_pull[n];
            force = v3_mad(force, v3_fromd(s->gradient[pull]), s->pressure[s->pull_shell[pull]]);
        }
        if (!(p->mass[slot] > 0))
            continue;
        body->force[0][slot] += (float)(force.x / p->mass[slot]);
        body->force[1][slot] += (float)(force.y / p->mass[slot]);
        body->force[2][slot] += (float)(force.z / p->mass[slot]);
    }
}

void pl_pressure_add(pl_body* body, double dt, pl_pool* pool)
{
    pl_pressure* s = body->pressure;
    pl_pressure_measure(body, pool);
    pl_parallel_for(pool, s->vertex_count, GRAIN, find_slopes, s);
    pl_parallel_for(pool, s->pulls_of_shell[s->shell_count], 1, find_gradients, body);
    find_pressures(body, dt);
    pl_parallel_for(pool, s->follower_count, GRAIN, push_particles, body);
}
