// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Particles where material was drawn out thin (after Chentanez, Mueller, Macklin: Real-time
 * simulation of large elasto-plastic deformation with shape matching, 2016, section 5). A particle
 * stands for a piece of material as long as the spacing at rest, drawn out by the stretches of the
 * flow. Once that is twice the spacing in some direction, two take its place,
 *
 *        ( . . . o . . . )     becomes     ( . o . )( . o . )
 *
 * a quarter of the length to either side, each with half of the mass and the velocity of the one
 * that was: centre of mass, momentum and angular momentum stay, and mass, in whole quanta, exactly.
 * They join the clusters that it was in, as strongly, with rest places moved by F_c^-1 d: to the
 * cluster's fit, A_xr A_rr^-1, it is as if nothing had happened.
 *
 * How often a particle was divided is what its share of the first one's mass tells; each time its
 * longest direction was halved. Nothing else has to be remembered.
 *
 * Departure: velocities are not taken from a field around the particle, which would add to the
 * angular momentum; nor are particles merged again where they are crowded.
 */
#include "../base/jacobi.h"
#include "edit.h"
#include "material.h"
#include "substep.h"

#include <stdlib.h>
#include <string.h>

static const double LONGEST = 2;     /* spacings; halves are of one */
static const double FLOWED = .1;     /* strain: below, it may spring back */
static const double FLATTEST = 1e-4; /* det F over its norm cubed */
enum
{
    MOST_HALVINGS = 4,  /* of one particle */
    MOST_PARTICLES = 4, /* times as many as there were */
    A_FRAME = 16,       /* a frame divides one in so many, */
    AT_LEAST = 8        /* or so many */
};

typedef struct candidate
{
    double length; /* in spacings */
    uint32_t id;
    vec3 along; /* from its middle to that of one half */
} candidate;

typedef struct resampling
{
    pl_body* body;
    float* f;         /* 9 by slot: the blended deformation */
    float* strain;    /* by slot */
    uint64_t* family; /* by id, of first particles: the quanta of all that came of them */
    uint32_t* root;   /* by id */
    candidate* list;
    uint32_t count;
} resampling;

static mat3 matrix_of(const float f[9])
{
    mat3 m;
    for (int k = 0; k < 9; ++k)
        m.m[k / 3][k % 3] = f[k];
    return m;
}

static bool is_whole(mat3 f)
{
    double square = 0;
    for (int k = 0; k < 9; ++k)
        square += f.m[k / 3][k % 3] * f.m[k / 3][k % 3];
    return m3_det(f) > FLATTEST * square * sqrt(square);
}

/* ------------------------------------------------------------------ who is long */

/* What clusters do to what they carry, blended by particle. */
static void blend(const resampling* r)
{
    const pl_body* body = r->body;
    const pl_clusters* k = &body->clusters;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            {
                uint32_t cluster = chunk->rows[chunk->entry_row[e]];
                mat3 g = matrix_of(k->f[cluster]);
                if (k->own[cluster])
                    g = m3_mul(g, matrix_of(k->from_body[cluster]));
                for (uint32_t lane = 0; lane < 8; ++lane)
                {
                    uint32_t slot = chunk->slot_begin + 8 * b + lane;
                    float w = chunk->entry_kernel[8 * (size_t)e + lane] * k->fade[cluster] *
                              body->particles.norm[slot];
                    for (int i = 0; i < 9; ++i)
                        r->f[9 * (size_t)slot + i] += w * (float)g.m[i / 3][i % 3];
                    r->strain[slot] += w * k->plastic_strain[cluster];
                }
            }
    }
}

static void find_families(const resampling* r)
{
    const pl_particles* p = &r->body->particles;
    for (uint32_t id = 0; id < p->id_count; ++id)
    {
        r->root[id] = p->parent[id] == id ? id : r->root[p->parent[id]];
        r->family[r->root[id]] += p->quanta[p->slot_of[id]];
    }
}

/* Whether a particle is to be divided, and how. */
static bool judge(const resampling* r, uint32_t id, candidate* found)
{
    const pl_body* body = r->body;
    const pl_particles* p = &body->particles;
    uint32_t slot = p->slot_of[id];
    double share = (double)p->quanta[slot] / (double)r->family[r->root[id]], length[3];
    if (p->quanta[slot] < 2 || r->strain[slot] < FLOWED ||
        (body->pins.frequency && body->pins.frequency[slot] > 0))
        return false;
    mat3 f = matrix_of(r->f + 9 * (size_t)slot), axes;
    pl_jacobi3(m3_mul(f, m3_transpose(f)), length, &axes);
    int longest = 0;
    for (int k = 0; k < 3; ++k)
        length[k] = sqrt(fmax(length[k], 0));
    for (int halvings = 0;; ++halvings, share *= 2)
    {
        for (int k = 0; k < 3; ++k)
            longest = length[k] > length[longest] ? k : longest;
        if (share > .75) /* to be told from a half, whatever quanta were left over */
            break;
        if (halvings == MOST_HALVINGS)
            return false;
        length[longest] /= 2;
    }
    if (!(length[longest] > LONGEST && length[longest] < 1e6))
        return false;
    vec3 axis = v3(axes.m[0][longest], axes.m[1][longest], axes.m[2][longest]);
    *found =
        (candidate){length[longest], id, v3_scale(axis, .25 * length[longest] * body->spacing)};
    return true;
}

static int longest_first(const void* a, const void* b)
{
    const candidate *x = a, *y = b;
    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void find_long(resampling* r)
{
    const pl_particles* p = &r->body->particles;
    uint32_t first = 0, most = PL_MAX(p->id_count / A_FRAME, (uint32_t)AT_LEAST);
    for (uint32_t id = 0; id < p->id_count; ++id)
    {
        first += p->parent[id] == id;
        r->count += judge(r, id, &r->list[r->count]);
    }
    uint64_t room = (uint64_t)first * MOST_PARTICLES;
    room = room > p->id_count ? room - p->id_count : 0;
    if (r->count)
        qsort(r->list, r->count, sizeof *r->list, longest_first);
    r->count = (uint32_t)PL_MIN((uint64_t)PL_MIN(r->count, most), room);
}

/* ------------------------------------------------------------------ dividing */

/* The memberships of one half, "by" times the way off. False where a cluster is too flat. */
static bool move_rest(const pl_clusters* k, const pl_member* from, uint32_t count, vec3 along,
                      double by, pl_member* to)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        mat3 f = matrix_of(k->f[from[i].cluster]);
        if (!is_whole(f))
            return false;
        vec3 moved = v3_scale(m3_mulv(m3_inverse(f), along), by);
        to[i] = from[i];
        to[i].rest[0] += moved.x, to[i].rest[1] += moved.y, to[i].rest[2] += moved.z;
    }
    return true;
}

static pl_status divide(pl_body* body, pl_edit* edit, candidate* c, uint32_t* copy)
{
    const pl_particles* p = &body->particles;
    uint32_t slot = p->slot_of[c->id], count;
    uint64_t all = p->quanta[slot], half = all / 2;
    const pl_member* members = pl_edit_members(edit, slot, &count);
    pl_member* halves = members ? PL_NEW(pl_member, 2 * (size_t)count) : NULL;
    *copy = UINT32_MAX;
    if (!halves)
        return pl_fail_memory(count * sizeof *halves);
    /* each by the other's share, so that their middle stays */
    double here = -2 * (double)half / (double)all, there = 2 * (double)(all - half) / (double)all;
    pl_status status = PLIANT_OK;
    if (move_rest(&body->clusters, members, count, c->along, here, halves) &&
        move_rest(&body->clusters, members, count, c->along, there, halves + count))
    {
        status = pl_edit_divide(edit, slot, half, copy);
        if (status == PLIANT_OK)
            status = pl_edit_set(edit, slot, halves, count);
        if (status == PLIANT_OK)
            status = pl_edit_set(edit, *copy, halves + count, count);
    }
    pl_free(halves);
    return status;
}

static void move(pl_body* body, uint32_t slot, vec3 by)
{
    pl_particles* p = &body->particles;
    p->x[0][slot] += (float)by.x, p->x[1][slot] += (float)by.y, p->x[2][slot] += (float)by.z;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        if (slot - body->chunks[c].slot_begin < body->chunks[c].slot_count)
            body->chunks[c].moved = 1;
}

static pl_status divide_all(resampling* r, uint64_t now)
{
    pl_body* body = r->body;
    pl_edit* edit;
    uint32_t* copy = PL_NEW(uint32_t, r->count);
    if (!copy)
        return pl_fail_memory(r->count * sizeof *copy);
    pl_status status = pl_edit_begin(body, now, &edit);
    for (uint32_t i = 0; i < r->count && status == PLIANT_OK; ++i)
        status = divide(body, edit, &r->list[i], &copy[i]);
    if (status == PLIANT_OK)
        status = pl_edit_end(edit, NULL);
    else
        pl_edit_abandon(edit);
    for (uint32_t i = 0; i < r->count && status == PLIANT_OK; ++i)
    {
        const pl_particles* p = &body->particles;
        uint32_t slot = p->slot_of[r->list[i].id];
        if (copy[i] == UINT32_MAX)
            continue;
        double all = (double)(p->quanta[slot] + p->quanta[copy[i]]);
        move(body, slot, v3_scale(r->list[i].along, -2 * (double)p->quanta[copy[i]] / all));
        move(body, copy[i], v3_scale(r->list[i].along, 2 * (double)p->quanta[slot] / all));
    }
    pl_free(copy);
    return status;
}

static pl_status resample_body(pl_substep* step, pl_body* body, bool* any)
{
    const pl_particles* p = &body->particles;
    resampling r = {.body = body,
                    .f = PL_NEW(float, 9 * (size_t)p->slot_count),
                    .strain = PL_NEW(float, p->slot_count),
                    .family = PL_NEW(uint64_t, p->id_count),
                    .root = PL_NEW(uint32_t, p->id_count),
                    .list = PL_NEW(candidate, p->id_count)};
    bool fine = r.f && r.strain && r.family && r.root && r.list;
    pl_status status = fine ? PLIANT_OK : pl_fail_memory((size_t)p->slot_count * 80);
    if (fine)
    {
        blend(&r);
        find_families(&r);
        find_long(&r);
        if (r.count)
        {
            /* births are counted in frames: only such bodies have them so (frames.h) */
            status = divide_all(&r, step->scene->frame);
            body->alpha_dt = 0;
            *any = true;
        }
    }
    pl_free(r.f);
    pl_free(r.strain);
    pl_free(r.family);
    pl_free(r.root);
    pl_free(r.list);
    if (status == PLIANT_OK && body->alpha_dt == 0)
        pl_material_apply(body, step->dt);
    return status;
}

pl_status pl_resample(pl_substep* step)
{
    pl_scene* scene = step->scene;
    bool any = false;
    double since = pl_now_ms();
    if (scene->substep_of_frame) /* once a frame is often enough */
        return PLIANT_OK;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        if (body->material.resample && body->plastic && !body->asleep && !body->pins.follow &&
            !body->pressure && !body->fracture)
            PL_TRY(resample_body(step, body, &any));
    }
    if (any)
    {
        PL_TRY(pl_work_list(scene));
        pl_substep_run(step, &scene->chunks, 1, pl_gather_items);
        pl_substep_lap(scene, PLIANT_STAGE_RECLUSTER, since);
    }
    return PLIANT_OK;
}
