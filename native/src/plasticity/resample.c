// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Divides particles where material is drawn out (after Chentanez, Mueller, Macklin: Real-time
 * simulation of large elasto-plastic deformation with shape matching, 2016, section 5). A particle
 * represents a cube of material as wide as the spacing at rest, stretched by the flow. Once it is
 * twice the spacing long in some direction, two particles replace it,
 *
 *        ( . . . o . . . )     becomes     ( . o . )( . o . )
 *
 * a quarter of the length to either side, each with half of the mass and the same velocity. This
 * keeps the centre of mass, momentum and angular momentum, and, in whole quanta, the exact mass.
 * Both join the same clusters with the same kernel values, with rest places moved by F_c^-1 d, so
 * that the cluster's fit, A_xr A_rr^-1, does not change. Crowded particles are merged (merge.c).
 *
 * Departure: velocities are not taken from a field around the particle, which would add to the
 * angular momentum.
 */
#include "body/rest_query.h"
#include "body/validity.h"
#include "dynamics/material.h"
#include "dynamics/substep.h"
#include "plasticity/plasticity.h"
#include "plasticity/resample_internal.h"

#include <stdlib.h>
#include <string.h>

static const double LONGEST = 2;     /* spacings; each half then has one */
static const double FLOWED = .1;     /* plastic strain; below it the stretch may be elastic */
static const double FLATTEST = 1e-4; /* det F over |F|^3 */
enum
{
    MOST_HALVINGS = 4,  /* of one particle */
    MOST_PARTICLES = 4, /* over the initial number */
    MOST_IDS = 8,       /* the same, including merged particles */
    A_FRAME = 16,       /* a frame divides at most one in so many particles, */
    AT_LEAST = 8        /* or this many if that is more */
};

typedef struct candidate
{
    uint32_t id;
    double length; /* in spacings */
    vec3 along;    /* from its centre to the centre of one half */
    float piece[6];
} candidate;

typedef struct candidates
{
    candidate* list;
    uint32_t count;
} candidates;

bool pl_is_whole(mat3 f)
{
    double square = 0;
    for (int k = 0; k < 9; ++k)
        square += f.m[k / 3][k % 3] * f.m[k / 3][k % 3];
    return m3_det(f) > FLATTEST * square * sqrt(square);
}

/* ------------------------------------------------------------------ extents */

static bool grow_array(void** array, uint32_t count, size_t size)
{
    void* grown = pl_realloc(*array, count, size);
    *array = grown ? grown : *array;
    return grown != NULL;
}

/* Makes room for all ids; new ones represent a cube of the spacing. */
static bool reach_ids(pl_body* body)
{
    const pl_particles* p = &body->particles;
    pl_resampled* s = &body->particles.resampled;
    uint32_t ids = p->id_count;
    if (ids > s->room)
    {
        uint32_t room = ids + PL_MAX(ids / 4, 64u);
        if (!grow_array((void**)&s->successor, room, sizeof *s->successor) ||
            !grow_array((void**)&s->offset, room, sizeof *s->offset) ||
            !grow_array((void**)&s->rest, room, sizeof *s->rest) ||
            !grow_array((void**)&s->share, room, sizeof *s->share) ||
            !grow_array((void**)&s->piece, room, sizeof *s->piece))
            return false;
        s->room = room;
    }
    for (uint32_t id = s->count; id < ids; ++id)
    {
        vec3 rest = pl_rest_of(body, p->slot_of[id]);
        uint32_t parent = p->parent[id];
        s->successor[id] = id;
        memset(s->offset[id], 0, sizeof s->offset[id]);
        s->rest[id][0] = rest.x, s->rest[id][1] = rest.y, s->rest[id][2] = rest.z;
        if (parent != id)
            memcpy(s->rest[id], s->rest[parent], sizeof s->rest[id]);
        s->share[id] = p->quanta[p->slot_of[id]];
        for (int k = 0; k < 6; ++k)
            s->piece[id][k] = k < 3 ? 1.0f : 0.0f;
    }
    s->count = ids;
    return true;
}

/* Blends the deformation gradients and plastic strains of clusters into those of particles. */
static void blend(const pl_resampling* r)
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
                mat3 g = m3_from(k->f[cluster]);
                if (k->own[cluster])
                    g = m3_mul(g, m3_from(k->from_body[cluster]));
                for (uint32_t lane = 0; lane < 8; ++lane)
                {
                    uint32_t slot = chunk->slot_begin + 8 * b + lane;
                    float kernel = chunk->entry_kernel[8 * (size_t)e + lane];
                    float w = kernel * k->fade[cluster] * body->particles.norm[slot];
                    for (int i = 0; i < 9; ++i)
                        r->f[9 * (size_t)slot + i] += w * (float)g.m[i / 3][i % 3];
                    r->strain[slot] += w * k->plastic_strain[cluster];
                    r->members[cluster] += kernel > 0;
                }
            }
    }
}

static mat3 symmetric(const float a[6])
{
    return (mat3){{{a[0], a[3], a[5]}, {a[3], a[1], a[4]}, {a[5], a[4], a[2]}}};
}

bool pl_resample_box(const pl_resampling* r, uint32_t id, pl_extent* box)
{
    const pl_body* body = r->body;
    const pl_particles* p = &body->particles;
    uint32_t slot = p->slot_of[id];
    if (r->strain[slot] < FLOWED || (body->pins.frequency && body->pins.frequency[slot] > 0))
        return false;
    mat3 f = m3_from(r->f + 9 * (size_t)slot), axes;
    if (!pl_is_whole(f))
        return false;
    mat3 now = m3_mul(f, m3_mul(symmetric(p->resampled.piece[id]), m3_transpose(f)));
    pl_jacobi3(now, box->length, &axes);
    box->longest = box->shortest = 0;
    for (int k = 0; k < 3; ++k)
    {
        box->length[k] = sqrt(fmax(box->length[k], 0));
        box->axis[k] = v3(axes.m[0][k], axes.m[1][k], axes.m[2][k]);
        if (!(box->length[k] < 1e6))
            return false;
    }
    for (int k = 1; k < 3; ++k)
    {
        box->longest = box->length[k] > box->length[box->longest] ? k : box->longest;
        box->shortest = box->length[k] < box->length[box->shortest] ? k : box->shortest;
    }
    return true;
}

/* Scales F P F^T along its axis a: P + (times^2 - 1) l^2 b b^T with b = F^-1 a. */
void pl_resample_stretch(const pl_resampling* r, uint32_t slot, const pl_extent* box, int axis,
                         double times, float piece[6])
{
    const pl_particles* p = &r->body->particles;
    vec3 b = m3_mulv(m3_inverse(m3_from(r->f + 9 * (size_t)slot)), box->axis[axis]);
    double more = (times * times - 1) * box->length[axis] * box->length[axis];
    mat3 all = m3_add(symmetric(p->resampled.piece[p->id[slot]]), m3_scale(m3_outer(b, b), more));
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    for (int k = 0; k < 6; ++k)
        piece[k] = (float)all.m[at[k][0]][at[k][1]];
}

/* ------------------------------------------------------------------ candidates */

/* Whether a particle is to be divided, and how. */
static bool is_candidate(const pl_resampling* r, uint32_t id, candidate* found)
{
    const pl_body* body = r->body;
    const pl_particles* p = &body->particles;
    uint32_t slot = p->slot_of[id];
    double share = (double)p->quanta[slot] * body->mass_quantum * r->first / body->mass;
    pl_extent box;
    if (!pl_lives(p, id) || p->quanta[slot] < 2 || share < .75 / (1 << (MOST_HALVINGS - 1)) ||
        !pl_resample_box(r, id, &box) || !(box.length[box.longest] > LONGEST))
        return false;
    *found = (candidate){
        .id = id,
        .length = box.length[box.longest],
        .along = v3_scale(box.axis[box.longest], .25 * box.length[box.longest] * body->spacing)};
    pl_resample_stretch(r, slot, &box, box.longest, .5, found->piece);
    return true;
}

static int longest_first(const void* a, const void* b)
{
    const candidate *x = a, *y = b;
    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void find_long(pl_resampling* r, candidates* c)
{
    const pl_particles* p = &r->body->particles;
    uint32_t most = PL_MAX(p->count / A_FRAME, (uint32_t)AT_LEAST);
    uint64_t room = (uint64_t)r->first * MOST_PARTICLES;
    for (uint32_t id = 0; id < r->ids; ++id)
        c->count += is_candidate(r, id, &c->list[c->count]);
    if (c->count)
        qsort(c->list, c->count, sizeof *c->list, longest_first);
    room = PL_MIN(room > p->count ? room - p->count : 0, (uint64_t)(r->most - r->ids));
    c->count = (uint32_t)PL_MIN((uint64_t)PL_MIN(c->count, most), room);
}

/* ------------------------------------------------------------------ dividing */

/* Memberships of one half, displaced by "by" times "along". False where a cluster is too flat. */
static bool move_rest(const pl_clusters* k, const pl_member* from, uint32_t count, vec3 along,
                      double by, pl_member* to)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        mat3 f = m3_from(k->f[from[i].cluster]);
        if (!pl_is_whole(f))
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
    /* each moves by the other's mass share, which keeps the centre of mass */
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
    pl_edit_moved(body, slot);
}

/* Particles that were merged into this one go with the nearer half and keep their position. */
static void reassign_merged(const pl_resampling* r, const candidate* c, uint32_t id, uint32_t copy)
{
    const pl_particles* p = &r->body->particles;
    pl_resampled* s = &r->body->particles.resampled;
    mat3 f = m3_from(r->f + 9 * (size_t)p->slot_of[id]), inverse = m3_inverse(f);
    double all = (double)(p->quanta[p->slot_of[id]] + p->quanta[p->slot_of[copy]]);
    for (uint32_t gone = 0; gone < id; ++gone)
    {
        if (s->successor[gone] != id)
            continue;
        vec3 away = m3_mulv(f, v3_from(s->offset[gone]));
        bool there = v3_dot(away, c->along) > 0;
        uint32_t to = there ? copy : id, from = there ? id : copy;
        double moved = (there ? 2 : -2) * (double)p->quanta[p->slot_of[from]] / all;
        s->successor[gone] = to;
        v3_store(m3_mulv(inverse, v3_mad(away, c->along, -moved)), s->offset[gone]);
    }
}

/* After the edit: moves the halves apart. */
static void part_halves(const pl_resampling* r, const candidates* c, const uint32_t* copy)
{
    pl_body* body = r->body;
    const pl_particles* p = &body->particles;
    pl_resampled* s = &body->particles.resampled;
    for (uint32_t i = 0; i < c->count; ++i)
    {
        const candidate* one = &c->list[i];
        if (copy[i] == UINT32_MAX)
            continue;
        uint32_t slot = p->slot_of[one->id], id = p->id[copy[i]];
        double all = (double)(p->quanta[slot] + p->quanta[copy[i]]);
        move(body, slot, v3_scale(one->along, -2 * (double)p->quanta[copy[i]] / all));
        move(body, copy[i], v3_scale(one->along, 2 * (double)p->quanta[slot] / all));
        memcpy(s->piece[id], one->piece, sizeof one->piece);
        memcpy(s->piece[one->id], one->piece, sizeof one->piece);
        bool first = s->share[one->id] > 0; /* not the result of a merge */
        s->share[id] = first ? p->quanta[copy[i]] : 0;
        s->share[one->id] = first ? p->quanta[slot] : 0;
        if (!first)
            reassign_merged(r, one, one->id, id);
    }
}

static pl_status change_all(pl_resampling* r, candidates* c, pl_twins* pairs, uint64_t now)
{
    pl_body* body = r->body;
    pl_edit* edit;
    uint32_t* copy = PL_NEW(uint32_t, c->count);
    if (!copy)
        return pl_fail_memory(c->count * sizeof *copy);
    pl_status status = pl_edit_begin(body, now, &edit);
    for (uint32_t i = 0; i < c->count && status == PLIANT_OK; ++i)
    {
        r->busy[c->list[i].id] = PL_DIVIDED;
        status = divide(body, edit, &c->list[i], &copy[i]);
    }
    if (status == PLIANT_OK)
        status = pl_merge_find(r, edit, pairs);
    if (status == PLIANT_OK)
        status = pl_edit_end(edit, NULL);
    else
        pl_edit_abandon(edit);
    if (status == PLIANT_OK && !reach_ids(body))
        status = pl_fail_memory((size_t)body->particles.id_count * 80);
    if (status == PLIANT_OK)
    {
        part_halves(r, c, copy);
        pl_merge_finish(r, pairs);
        for (uint32_t id = 0; id < body->particles.resampled.count; ++id)
            body->particles.slot_of[id] =
                body->particles.slot_of[body->particles.resampled.successor[id]];
    }
    pl_free(copy);
    return status;
}

static pl_status resample_body(pl_substep* step, pl_body* body, bool* any)
{
    const pl_particles* p = &body->particles;
    pl_resampling r = {.body = body,
                       .slots = p->slot_count,
                       .ids = p->id_count,
                       .f = PL_NEW(float, 9 * (size_t)p->slot_count),
                       .strain = PL_NEW(float, p->slot_count),
                       .members = PL_NEW(uint32_t, body->level_begin[1]),
                       .busy = PL_NEW(uint32_t, p->id_count)};
    candidates c = {PL_NEW(candidate, p->id_count), 0};
    pl_twins pairs = {PL_NEW(pl_twin, p->count), 0};
    bool fine = r.f && r.strain && r.members && r.busy && c.list && pairs.list && reach_ids(body);
    pl_status status = fine ? PLIANT_OK : pl_fail_memory((size_t)p->slot_count * 400);
    while (r.first < p->id_count && p->parent[r.first] == r.first)
        ++r.first;
    r.most = (uint32_t)PL_MIN((uint64_t)r.first * MOST_IDS, UINT32_MAX);
    if (fine && r.ids < r.most)
    {
        uint64_t before = body->valid.memberships;
        blend(&r);
        find_long(&r, &c);
        /* births of resampled bodies are counted in frames (frames.h) */
        status = change_all(&r, &c, &pairs, step->scene->frame);
        if (body->valid.memberships != before)
        {
            pl_rest_shape_changed(body);
            *any = true;
        }
    }
    pl_free(r.f);
    pl_free(r.strain);
    pl_free(r.members);
    pl_free(r.busy);
    pl_free(c.list);
    pl_free(pairs.list);
    if (status == PLIANT_OK && body->valid.material_dt == 0)
        pl_material_apply(body, step->dt);
    return status;
}

pl_status pl_resample(pl_substep* step)
{
    pl_scene* scene = step->scene;
    bool any = false;
    double since = pl_now_ms();
    if (scene->substep_of_frame) /* once a frame */
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
        PL_TRY(pl_task_lists_make(scene));
        pl_substep_run(step, &scene->chunks, 1, pl_gather_items);
        pl_substep_lap(scene, PLIANT_STAGE_RECLUSTER, since);
    }
    return PLIANT_OK;
}
