// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Clusters of few particles. Fewer than four particles do not determine a rotation; clusters of a
 * few more, connected to a body by one or two particles, dangle from it.
 *
 *   all members are in other clusters too     ──► they leave it, and it is removed
 *   some members are in no other              ──► these first join a cluster of another member
 *   no member is, and there are fewer than 4  ──► it becomes a small piece
 *
 * No visible material is removed. A small piece of one or two particles has an orientation, which
 * keeps rotating with the angular velocity of its cluster and turns the part of the surface that it
 * carries. Its inertia is that of a ball of its mass, so angular velocity is constant; likewise
 * about the axis of two particles. A push makes it roll. Its residual stretch relaxes to 1.
 */
#include "base/eigen.h"
#include "base/elementary.h"
#include "fracture/fracture_internal.h"

#include <string.h>

#define FEWEST 4
/* Time constants in seconds of the relaxing stretch, and of the approach to rolling. */
#define RELAX_TIME 0.1
#define ROLL_TIME 0.05

static void store(mat3 m, float* out)
{
    for (int i = 0; i < 9; ++i)
        out[i] = (float)m.m[i / 3][i % 3];
}

/* ------------------------------------------------------------------ memberships */

bool pl_note_small(pl_breaking* b, uint32_t cluster)
{
    for (size_t i = 0; i < b->small_count; ++i)
        if (b->small[i] == cluster)
            return true;
    if (!pl_grow((void**)&b->small, &b->small_capacity, b->small_count + 1, sizeof *b->small))
        return false;
    b->small[b->small_count++] = cluster;
    return true;
}

/* Whether the components found satisfy smallest_piece and most_pieces. */
static bool is_allowed(const pl_breaking* b)
{
    const pliant_fracture_desc* desc = &b->fracture->desc;
    double least = desc->smallest_piece * b->body->mass * (1 - 1e-6);
    for (uint32_t i = 0; b->found.count > 1 && i < b->found.count; ++i)
        if (b->found.parts[i].mass < least)
            return false;
    return b->found.count < 2 || !desc->most_pieces ||
           pl_pieces_now(b->body) + b->found.count - 1 <= desc->most_pieces;
}

pl_status pl_members_change(pl_breaking* b, uint32_t id, const pl_member* before, uint32_t count,
                            const pl_member* after, uint32_t kept)
{
    pl_clusters* k = &b->body->clusters;
    const pl_list_of were = {before, count}, are = {after, kept}, none = {NULL, 0};
    b->lost_count = 0;
    if (!pl_shares_change(b, were, are, none))
        return pl_fail_memory(64);
    if (b->lost_count)
    {
        PL_TRY(pl_pieces_look(b));
        if (!is_allowed(b))
            return pl_shares_undo(b, were, are, none) ? PLIANT_OK : pl_fail_memory(64);
        PL_TRY(pl_pieces_part(b));
    }
    for (size_t i = 0; i < b->lost_count; ++i)
        k->cracked[b->lost[i]] = 1;
    b->any = true;
    return pl_edit_put(b->edit, b->body->particles.slot_of[id], after, kept);
}

/* Copies the memberships of a particle to b->before. */
static pl_status read_members(pl_breaking* b, uint32_t id, uint32_t* count)
{
    const pl_member* old = pl_edit_members(b->edit, b->body->particles.slot_of[id], count);
    if (!old || !pl_grow((void**)&b->before, &b->before_capacity, *count, sizeof *old) ||
        !pl_grow((void**)&b->after, &b->after_capacity, (size_t)*count + 1, sizeof *old))
        return pl_fail_memory((size_t)*count * sizeof *old);
    memcpy(b->before, old, *count * sizeof *old);
    return PLIANT_OK;
}

pl_status pl_member_leave(pl_breaking* b, uint32_t id, uint32_t cluster)
{
    uint32_t count, kept = 0;
    PL_TRY(read_members(b, id, &count));
    for (uint32_t i = 0; i < count; ++i)
        if (b->before[i].cluster != cluster)
            b->after[kept++] = b->before[i];
    if (kept == count || kept == 0)
        return PLIANT_OK;
    return pl_members_change(b, id, b->before, count, b->after, kept);
}

/* ------------------------------------------------------------------ small clusters */

/* Among the other clusters of the members of "cluster", the one whose centre is nearest at rest. */
static pl_status nearest_other(pl_breaking* b, uint32_t cluster, uint32_t count, vec3 rest,
                               uint32_t* found)
{
    const pl_clusters* k = &b->body->clusters;
    double best = INFINITY;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t n;
        const pl_member* m = pl_edit_members(b->edit, b->body->particles.slot_of[b->ids[i]], &n);
        if (!m)
            return pl_fail_memory(64);
        for (uint32_t j = 0; j < n; ++j)
        {
            vec3 arm = v3_sub(rest, v3_from(k->in_body[m[j].cluster]));
            double far = v3_dot(arm, arm);
            if (m[j].cluster == cluster || !(far < best))
                continue;
            best = far;
            *found = m[j].cluster;
        }
    }
    return PLIANT_OK;
}

/* Adds a particle that is in no other cluster to one, at its place in the body's rest shape. */
static pl_status join(pl_breaking* b, uint32_t id, uint32_t cluster, uint32_t count)
{
    const pl_clusters* k = &b->body->clusters;
    uint32_t slot = b->body->particles.slot_of[id], n, to = UINT32_MAX;
    vec3 rest = pl_rest_of(b->body, slot);
    PL_TRY(nearest_other(b, cluster, count, rest, &to));
    PL_TRY(read_members(b, id, &n));
    if (to == UINT32_MAX || n != 1)
        return PLIANT_OK;
    pl_member one = b->before[0];
    vec3 p = m3_mulv(m3_from(k->from_body[to]), v3_sub(rest, v3_from(k->in_body[to])));
    vec3 place = k->own[to] ? v3_add(v3_from(k->rest[to]), p) : rest;
    one.cluster = to;
    one.rest[0] = place.x, one.rest[1] = place.y, one.rest[2] = place.z;
    b->any = true;
    return pl_edit_set(b->edit, slot, &one, 1);
}

/* Angular velocity of a cluster, from the moments of the last fit. */
static vec3 spin_of(const pl_clusters* k, uint32_t c)
{
    mat3 f = m3_from(k->f[c]), second = m3_mul(m3_from(k->sums[c]), m3_transpose(f));
    mat3 inertia = m3_scale(m3_add(second, m3_transpose(second)), -.5);
    double trace = m3_trace(second);
    for (int i = 0; i < 3; ++i)
        inertia.m[i][i] += trace * (1 + 1e-3);
    if (!(m3_det(inertia) > 1e-9 * trace * trace * trace))
        return v3(0, 0, 0);
    return m3_mulv(m3_inverse(inertia), v3_from(k->sums[c] + 15));
}

static pl_status add_small_piece(pl_breaking* b, uint32_t cluster, uint32_t particle)
{
    pl_fracture* f = b->fracture;
    const pl_clusters* k = &b->body->clusters;
    const pl_particles* p = &b->body->particles;
    for (uint32_t i = 0; i < f->small_piece_count; ++i)
        if (f->small_pieces[i].cluster == cluster)
            return PLIANT_OK;
    if (!pl_grow((void**)&f->small_pieces, &f->small_piece_capacity,
                 (size_t)f->small_piece_count + 1, sizeof *f->small_pieces))
        return pl_fail_memory(f->small_piece_count * sizeof *f->small_pieces);
    pl_small_piece* small_piece = &f->small_pieces[f->small_piece_count++];
    *small_piece = (pl_small_piece){.cluster = cluster};
    mat3 now = m3_from(k->f[cluster]);
    store(k->own[cluster] ? m3_mul(now, m3_from(k->from_body[cluster])) : now, small_piece->f);
    v3_store(spin_of(k, cluster), small_piece->spin);
    for (int j = 0; j < 3; ++j)
        small_piece->v[j] = p->v[j][p->slot_of[particle]];
    return PLIANT_OK;
}

/* Marks a cluster without members as dead. */
static void mark_dead(pl_breaking* b, uint32_t cluster)
{
    pl_clusters* k = &b->body->clusters;
    k->fade[cluster] = k->mass[cluster] = 0;
    --b->fracture->pieces[k->piece[cluster]].clusters;
}

/* Member count below which a cluster is small: an eighth of the mean, between FEWEST and 12. */
static uint32_t few_of(const pl_breaking* b)
{
    const pl_body* body = b->body;
    uint64_t mean = body->level_memberships[0] / body->level_begin[1] / 8;
    return (uint32_t)PL_CLAMP(mean, (uint64_t)FEWEST, (uint64_t)12);
}

static pl_status dissolve(pl_breaking* b, uint32_t cluster)
{
    uint32_t count, lonely = 0, n;
    PL_TRY(pl_list_ids(b, cluster, few_of(b), &count));
    if (count >= few_of(b))
        return PLIANT_OK;
    for (uint32_t i = 0; i < count; ++i)
    {
        PL_TRY(read_members(b, b->ids[i], &n));
        lonely += n == 1;
    }
    if (count && lonely == count)
        return count < FEWEST ? add_small_piece(b, cluster, b->ids[0]) : PLIANT_OK;
    for (uint32_t i = 0; i < count && lonely; ++i)
    {
        PL_TRY(read_members(b, b->ids[i], &n));
        if (n == 1)
            PL_TRY(join(b, b->ids[i], cluster, count));
    }
    for (uint32_t i = 0; i < count; ++i)
        PL_TRY(pl_member_leave(b, b->ids[i], cluster));
    PL_TRY(pl_list_ids(b, cluster, 1, &count));
    if (count == 0)
        mark_dead(b, cluster);
    return PLIANT_OK;
}

pl_status pl_small_dissolve(pl_breaking* b)
{
    for (size_t i = 0; i < b->small_count; ++i)
        if (b->body->clusters.fade[b->small[i]] > 0)
            PL_TRY(dissolve(b, b->small[i]));
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ motion of small pieces */

/* Rotation of a degenerate or inverted matrix, from its two longest principal axes. */
static mat3 rotation_of_two(mat3 a, mat3 v)
{
    vec3 longest = v3(v.m[0][2], v.m[1][2], v.m[2][2]), next = v3(v.m[0][1], v.m[1][1], v.m[2][1]);
    vec3 to = m3_mulv(a, longest), also = m3_mulv(a, next);
    double length = v3_length(to);
    if (!(length > 0 && length < INFINITY))
        return m3_identity();
    to = v3_scale(to, 1 / length);
    also = v3_mad(also, to, -v3_dot(also, to));
    if (!(v3_length(also) > 1e-6 * length)) /* rank 1: any perpendicular direction will do */
        also = v3_cross(to, fabs(to.x) < .7 ? v3(1, 0, 0) : v3(0, 1, 0));
    also = v3_normalised(also);
    mat3 sum = m3_add(m3_outer(to, longest), m3_outer(also, next));
    return m3_add(sum, m3_outer(v3_cross(to, also), v3_cross(longest, next)));
}

/* Rotation of the polar decomposition: a (a^T a)^-1/2. */
static mat3 rotation_of(mat3 a)
{
    double values[3];
    mat3 v, root = m3_zero();
    pl_jacobi3(m3_mul(m3_transpose(a), a), values, &v);
    if (!(values[0] > 1e-8 * values[2]) || !(m3_det(a) > 0))
        return rotation_of_two(a, v);
    for (int e = 0; e < 3; ++e)
    {
        vec3 axis = v3(v.m[0][e], v.m[1][e], v.m[2][e]);
        root = m3_add(root, m3_scale(m3_outer(axis, axis), 1 / sqrt(values[e])));
    }
    return m3_mul(a, root);
}

/* Rotates a by a small angle: second-order series; rotation_of removes the remaining error. */
static mat3 rotate(mat3 a, vec3 by)
{
    mat3 w = m3_cross(by);
    mat3 turn = m3_add(m3_add(m3_identity(), w), m3_scale(m3_mul(w, w), .5));
    return m3_mul(turn, a);
}

/* Shortest rotation between two directions, as a vector; valid for the small angle of a substep. */
static vec3 turn_between(vec3 from, vec3 to)
{
    return v3_cross(v3_normalised(from), v3_normalised(to));
}

/* Lists at most FEWEST slots of a cluster; returns their number. */
static uint32_t list_slots(const pl_body* body, uint32_t cluster, uint32_t slots[FEWEST])
{
    const pl_clusters* k = &body->clusters;
    uint32_t count = 0;
    for (uint32_t at = k->part_begin[cluster]; at < k->part_begin[cluster + 1]; ++at)
    {
        const pl_chunk* chunk = &body->chunks[k->part[at].chunk];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
                for (uint32_t lane = 0; lane < 8 && chunk->entry_row[e] == k->part[at].row; ++lane)
                    if (chunk->entry_kernel[8 * (size_t)e + lane] > 0 && count < FEWEST)
                        slots[count++] = chunk->slot_begin + 8 * b + lane;
    }
    return count;
}

/* Relaxes the angular velocity toward that of a ball rolling on the surface that pushes it. */
static void roll(const pl_breaking* b, pl_small_piece* small_piece, uint32_t slot)
{
    const pl_particles* p = &b->body->particles;
    const double* g = b->scene->gravity;
    vec3 v = v3(p->v[0][slot], p->v[1][slot], p->v[2][slot]);
    vec3 push = v3_sub(v3_sub(v, v3_from(small_piece->v)), v3_scale(v3_fromd(g), b->dt));
    double strength = v3_length(push), least = .3 * v3_length(v3_fromd(g)) * b->dt;
    double volume = p->mass[slot] / b->body->clusters.density[small_piece->cluster];
    double radius = cbrt(.238732415 * volume); /* 3 / (4 pi) */
    v3_store(v, small_piece->v);
    if (!(strength > least && strength > 1e-3 * v3_length(v) && radius > 0))
        return;
    vec3 rolling = v3_scale(v3_cross(v3_scale(push, 1 / strength), v), 1 / radius);
    vec3 spin = v3_from(small_piece->spin);
    double share = 1 - pl_exp(-b->dt / ROLL_TIME);
    v3_store(v3_mad(spin, v3_sub(rolling, spin), share), small_piece->spin);
}

static void move_small_piece(const pl_breaking* b, pl_small_piece* small_piece,
                             const uint32_t* slots, uint32_t count)
{
    const pl_particles* p = &b->body->particles;
    mat3 f = m3_from(small_piece->f);
    vec3 turn = v3_scale(v3_from(small_piece->spin), b->dt);
    if (count == 1 || b->body->clusters.rank[small_piece->cluster] == 0)
        roll(b, small_piece, slots[0]);
    else
    {
        vec3 way = v3(p->x[0][slots[1]] - p->x[0][slots[0]], p->x[1][slots[1]] - p->x[1][slots[0]],
                      p->x[2][slots[1]] - p->x[2][slots[0]]);
        vec3 rest = v3_sub(pl_rest_of(b->body, slots[1]), pl_rest_of(b->body, slots[0]));
        vec3 axis = v3_normalised(way);
        vec3 about = v3_scale(axis, v3_dot(axis, turn));
        turn = v3_add(about, turn_between(m3_mulv(f, rest), way));
    }
    double length = v3_length(turn); /* at most half a radian in a substep */
    f = rotate(f, length > .5 ? v3_scale(turn, .5 / length) : turn);
    mat3 r = rotation_of(f);
    double share = 1 - pl_exp(-b->dt / RELAX_TIME);
    store(m3_add(f, m3_scale(m3_add(r, m3_scale(f, -1)), share)), small_piece->f);
}

void pl_small_pieces_move(pl_breaking* b)
{
    pl_fracture* f = b->fracture;
    uint32_t kept = 0, slots[FEWEST];
    for (uint32_t i = 0; i < f->small_piece_count; ++i)
    {
        pl_small_piece* small_piece = &f->small_pieces[i];
        uint32_t count = list_slots(b->body, small_piece->cluster, slots);
        if (count == 0 || count >= FEWEST)
            continue; /* no longer a small piece */
        bool still = f->pieces[b->body->clusters.piece[small_piece->cluster]].asleep;
        if (b->body->clusters.rank[small_piece->cluster] < 2 &&
            !still) /* rank 2 and 3: the fit gives the rotation */
            move_small_piece(b, small_piece, slots, count);
        f->small_pieces[kept++] = *small_piece;
    }
    f->small_piece_count = kept;
}
