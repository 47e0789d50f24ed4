// SPDX-License-Identifier: GPL-3.0-or-later
/* What rounding leaves of impulses that should sum to nothing. */
#include "dynamics/substep.h"

/* The body's inertia about its centre of mass, near enough for a correction: as if each finest
 * cluster were a ball of its own width. Also finds that centre. */
static mat3 inertia_of(const pl_body* body, vec3* centre)
{
    const pl_clusters* k = &body->clusters;
    double mass = 0;
    mat3 second = m3_zero();
    *centre = v3(0, 0, 0);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        mass += k->mass[c];
        *centre = v3_mad(*centre, v3_from(k->x[c]), k->mass[c]);
    }
    *centre = v3_scale(*centre, 1 / mass);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        vec3 arm = v3_sub(v3_from(k->x[c]), *centre);
        double own = (double)k->width_rms[c] * k->width_rms[c] / 3;
        second = m3_add(second, m3_scale(m3_outer(arm, arm), k->mass[c]));
        for (int i = 0; i < 3; ++i)
            second.m[i][i] += k->mass[c] * own;
    }
    mat3 inertia = m3_scale(second, -1);
    double trace = m3_trace(second);
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += trace;
    return inertia;
}

/* What rounding left of the clusters' impulses, to be given back in the next substep. Damping of
 * bodies that are held or lie on something is no rounding. */
void pl_note_remainder(pl_body* body)
{
    const pl_components* damped = &body->components;
    for (int k = 0; k < 3; ++k)
    {
        double sum = 0;
        for (uint32_t c = 0; c < body->chunk_count; ++c)
            sum += body->chunks[c].remainder[k];
        body->remainder[k] = body->mass > 0 ? (sum - damped->impulse[k]) / body->mass : 0;
    }
    vec3 centre;
    mat3 inertia = inertia_of(body, &centre);
    vec3 torque = v3_sub(v3_cross(centre, v3_fromd(damped->impulse)), v3_fromd(damped->moment));
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        vec3 arm = v3_sub(v3_from(chunk->pos_origin), centre);
        torque = v3_add(torque,
                        v3_add(v3_from(chunk->torque), v3_cross(arm, v3_from(chunk->remainder))));
    }
    double size = m3_trace(inertia);
    bool round = m3_det(inertia) > 1e-6 * size * size * size; /* not a needle or a point */
    vec3 turn = round ? m3_mulv(m3_inverse(inertia), torque) : v3(0, 0, 0);
    body->turn[0] = turn.x, body->turn[1] = turn.y, body->turn[2] = turn.z;
    body->pivot[0] = centre.x, body->pivot[1] = centre.y, body->pivot[2] = centre.z;
}
