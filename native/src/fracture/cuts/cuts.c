// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Extent of a body's material at cuts. Clusters split one after the other, each along its own
 * plane, and these planes do not meet. So a cut is stored per particle: the side of the plane that
 * it went to. From these and the current memberships follow
 *
 *   - pieces: connected components of the clusters by shared particles;
 *   - the owner of the material around a particle. Of several copies it is one on the correct side
 *     of its planes, and of these the one of the heaviest piece. The others are ghosts: they move
 *     with their clusters, but have no contacts;
 *
 *           piece A |  piece B       o  owns the material around it
 *          o   o    o |  o    o      x  a copy of a particle of B, which a cluster of A got when
 *             o    o  |x   o            the two shared it: a ghost
 *
 *   - for planes that end inside a piece (slits), the sides of its clusters.
 *
 * Surfaces between pieces are in cracks.c.
 *
 * Departure: Jones et al. 2015 (section 3.4) give half-spaces only to the split clusters; their
 * neighbours, which reach across the plane as well, then overlap with the other piece.
 */
#include "fracture/cuts/cuts.h"

#include "base/union_find.h"
#include "body/cut_query.h"
#include "body/memberships.h"
#include "body/validity.h"
#include "collision/broadphase/proxy.h"

#include <float.h>
#include <string.h>

/* In spacings: a copy farther than this on the wrong side owns material only if all are. */
#define WRONG_SIDE 0.5

void pl_cuts_free(pl_cuts* cuts)
{
    pl_free(cuts->plane);
    pl_free(cuts->cut);
    pl_free(cuts->last);
    pl_free(cuts->piece);
    pl_free(cuts->side_begin);
    pl_free(cuts->side);
    pl_free(cuts->inner);
    pl_free(cuts->over);
    pl_free(cuts->ghost);
    pl_free(cuts->home);
    pl_free(cuts->anchor);
    pl_free(cuts->owner);
    pl_free(cuts->nearest);
    pl_free(cuts->other);
    pl_free(cuts->crack);
    memset(cuts, 0, sizeof *cuts);
}

/* ------------------------------------------------------------------ recording cuts */

/* Makes room for all ids; new ones have no cuts. */
static pl_status reserve(pl_body* body)
{
    pl_cuts* cuts = &body->cuts;
    uint32_t ids = body->particles.id_count;
    if (!pl_grow((void**)&cuts->last, &cuts->last_capacity, ids, sizeof *cuts->last))
        return pl_fail_memory((size_t)ids * 4);
    for (; cuts->id_count < ids; ++cuts->id_count)
        cuts->last[cuts->id_count] = 0;
    return PLIANT_OK;
}

pl_status pl_cuts_plane(pl_body* body, const pl_cut_plane* cut, uint32_t* index)
{
    pl_cuts* cuts = &body->cuts;
    double length = v3_length(v3_from(cut->plane));
    if (!(length > 0 && length <= FLT_MAX && fabsf(cut->plane[3]) <= FLT_MAX))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "a cut has the plane (%g, %g, %g), %g: it must be finite, and its normal "
                       "not zero",
                       cut->plane[0], cut->plane[1], cut->plane[2], cut->plane[3]);
    PL_TRY(reserve(body));
    if (!pl_grow((void**)&cuts->plane, &cuts->plane_capacity, (size_t)cuts->plane_count + 1,
                 sizeof *cuts->plane))
        return pl_fail_memory(((size_t)cuts->plane_count + 1) * sizeof *cuts->plane);
    *index = cuts->plane_count++;
    for (int k = 0; k < 4; ++k)
        cuts->plane[*index].plane[k] = (float)(cut->plane[k] / length);
    pl_cuts_changed(body);
    return PLIANT_OK;
}

static pl_status add_cut(pl_body* body, uint32_t particle, uint32_t side)
{
    pl_cuts* cuts = &body->cuts;
    if (!pl_grow((void**)&cuts->cut, &cuts->capacity, (size_t)cuts->count + 1, sizeof *cuts->cut))
        return pl_fail_memory(((size_t)cuts->count + 1) * sizeof *cuts->cut);
    cuts->cut[cuts->count] = (pl_cut){particle, side, cuts->last[particle]};
    cuts->last[particle] = ++cuts->count;
    pl_cuts_changed(body);
    return PLIANT_OK;
}

pl_status pl_cuts_note(pl_body* body, uint32_t particle, uint32_t plane, bool above)
{
    pl_cuts* cuts = &body->cuts;
    if (particle >= body->particles.id_count || plane >= cuts->plane_count)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "particle %u is on a side of plane %u, but there are %u and %u", particle,
                       plane, body->particles.id_count, cuts->plane_count);
    PL_TRY(reserve(body));
    return add_cut(body, particle, 2 * plane + above);
}

pl_status pl_cuts_copy(pl_body* body, uint32_t from, uint32_t to)
{
    pl_cuts* cuts = &body->cuts;
    if (!cuts->plane_count)
        return PLIANT_OK;
    PL_TRY(reserve(body));
    /* oldest first, in the parent's order */
    uint32_t count = 0, at = cuts->last[from];
    for (uint32_t n = at; n; n = cuts->cut[n - 1].before)
        ++count;
    for (uint32_t left = count; left > 0; --left)
    {
        uint32_t n = at;
        for (uint32_t skip = 1; skip < left; ++skip)
            n = cuts->cut[n - 1].before;
        PL_TRY(add_cut(body, to, cuts->cut[n - 1].side));
    }
    return PLIANT_OK;
}

void pl_cuts_trim(pl_body* body)
{
    pl_cuts* cuts = &body->cuts;
    uint32_t ids = body->particles.id_count, kept = 0;
    if (!cuts->plane_count || cuts->id_count <= ids)
        return;
    memset(cuts->last, 0, sizeof *cuts->last * cuts->id_count);
    cuts->id_count = ids;
    for (uint32_t i = 0; i < cuts->count; ++i)
    {
        pl_cut cut = cuts->cut[i];
        if (cut.particle >= ids)
            continue;
        cut.before = cuts->last[cut.particle];
        cuts->cut[kept++] = cut;
        cuts->last[cut.particle] = kept;
    }
    cuts->count = kept;
}

/* ------------------------------------------------------------------ pieces */

typedef struct piece_search
{
    uint32_t *piece, *first; /* by cluster; by slot: 1 + a cluster that it is in */
} piece_search;

static void join_member(void* context, uint32_t cluster, uint32_t slot, float weight)
{
    piece_search* j = context;
    (void)weight;
    if (!j->first[slot])
        j->first[slot] = cluster + 1;
    /* pieces are named by their first cluster */
    pl_union_find_unite(j->piece, cluster, j->first[slot] - 1);
}

static pl_status find_pieces(const pl_body* body, uint32_t* piece)
{
    uint32_t clusters = body->level_begin[1];
    piece_search j = {piece, PL_NEW(uint32_t, body->particles.slot_count)};
    if (!j.first)
        return pl_fail_memory((size_t)body->particles.slot_count * 4);
    for (uint32_t c = 0; c < clusters; ++c)
        piece[c] = c;
    pl_each_member(body, 0, body->level_begin[1], join_member, &j);
    for (uint32_t c = 0; c < clusters; ++c)
        piece[c] = pl_union_find_root(piece, c);
    pl_free(j.first);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ sides */

/* Sorts the sides of a cluster and removes planes with both sides, and sides that its centre of
 * mass is not on. Returns the number kept. */
static uint32_t settle_sides(const pl_cuts* cuts, vec3 centre, uint32_t* side, uint32_t count)
{
    uint32_t kept = 0;
    pl_sort_u32(side, count);
    for (uint32_t i = 0; i < count; ++i)
    {
        if (i + 1 < count && side[i] / 2 == side[i + 1] / 2)
            ++i;
        else if (pl_across_cut(&cuts->plane[side[i] / 2], side[i] & 1, centre) <= 0)
            side[kept++] = side[i];
    }
    return kept;
}

/* Members with cuts, in CSR form. */
typedef struct cut_members
{
    const pl_body* body;
    uint32_t* begin;   /* by cluster */
    uint32_t* members; /* slots */
} cut_members;

static void count_cut(void* context, uint32_t cluster, uint32_t slot, float weight)
{
    cut_members* g = context;
    (void)weight;
    g->begin[cluster + 2] += g->body->cuts.last[g->body->particles.id[slot]] != 0;
}

static void store_cut(void* context, uint32_t cluster, uint32_t slot, float weight)
{
    cut_members* g = context;
    (void)weight;
    if (g->body->cuts.last[g->body->particles.id[slot]])
        g->members[g->begin[cluster + 1]++] = slot;
}

static pl_status list_sides(pl_body* body, const cut_members* g)
{
    pl_cuts* cuts = &body->cuts;
    uint32_t* seen = PL_NEW(uint32_t, 2 * (size_t)cuts->plane_count);
    uint32_t count = 0, clusters = body->level_begin[1];
    bool fine = seen != NULL;
    for (uint32_t c = 0; c < clusters && fine; ++c)
    {
        cuts->side_begin[c] = count;
        for (uint32_t m = g->begin[c]; m < g->begin[c + 1] && fine; ++m)
            for (uint32_t at = cuts->last[body->particles.id[g->members[m]]]; at && fine;
                 at = cuts->cut[at - 1].before)
            {
                uint32_t side = cuts->cut[at - 1].side;
                if (seen[side] == c + 1)
                    continue;
                seen[side] = c + 1;
                fine = pl_grow((void**)&cuts->side, &cuts->side_capacity, (size_t)count + 1,
                               sizeof *cuts->side);
                if (fine)
                    cuts->side[count++] = side;
            }
        if (fine && count > cuts->side_begin[c])
            count = cuts->side_begin[c] + settle_sides(cuts, v3_from(body->clusters.in_body[c]),
                                                       cuts->side + cuts->side_begin[c],
                                                       count - cuts->side_begin[c]);
    }
    cuts->side_begin[clusters] = count;
    pl_free(seen);
    pl_free(cuts->inner);
    cuts->inner = PL_NEW(uint8_t, count);
    fine = fine && cuts->inner;
    return fine ? PLIANT_OK : pl_fail_memory(((size_t)count + cuts->plane_count) * 8);
}

/* Largest distance of each slot across the planes of its clusters' sides. */
static void measure_members(pl_body* body, const cut_members* g, bool inner)
{
    pl_cuts* cuts = &body->cuts;
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        cuts->over[s] = -INFINITY;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        for (uint32_t m = g->begin[c]; m < g->begin[c + 1]; ++m)
        {
            uint32_t slot = g->members[m];
            vec3 r = pl_rest_of(body, slot);
            double over = -INFINITY;
            for (uint32_t at = cuts->last[body->particles.id[slot]]; at;
                 at = cuts->cut[at - 1].before)
            {
                uint32_t side = cuts->cut[at - 1].side;
                if (pl_has_side(cuts, c, side, inner))
                    over = fmax(over, pl_across_cut(&cuts->plane[side / 2], side & 1, r));
            }
            cuts->over[slot] = fmaxf(cuts->over[slot], (float)over);
        }
}

/* Marks sides whose plane has both of its sides in one piece. */
static pl_status find_slits(pl_body* body)
{
    pl_cuts* cuts = &body->cuts;
    uint32_t clusters = body->level_begin[1], count = cuts->side_begin[clusters];
    /* the clusters of each side, in CSR form */
    uint32_t* begin = PL_NEW(uint32_t, 2 * (size_t)cuts->plane_count + 2);
    uint32_t* of_side = PL_NEW(uint32_t, count);
    bool fine = begin && of_side;
    for (uint32_t i = 0; fine && i < count; ++i)
        ++begin[cuts->side[i] + 2];
    for (uint32_t s = 0; fine && s <= 2 * cuts->plane_count; ++s)
        begin[s + 1] += begin[s];
    for (uint32_t c = 0; fine && c < clusters; ++c)
        for (uint32_t i = cuts->side_begin[c]; i < cuts->side_begin[c + 1]; ++i)
            of_side[begin[cuts->side[i] + 1]++] = c;
    for (uint32_t c = 0; fine && c < clusters; ++c)
        for (uint32_t i = cuts->side_begin[c]; i < cuts->side_begin[c + 1]; ++i)
            for (uint32_t n = begin[cuts->side[i] ^ 1]; n < begin[(cuts->side[i] ^ 1) + 1]; ++n)
                cuts->inner[i] |= cuts->piece[of_side[n]] == cuts->piece[c];
    pl_free(begin);
    pl_free(of_side);
    return fine ? PLIANT_OK : pl_fail_memory((size_t)count * 4 + (size_t)cuts->plane_count * 8);
}

/* ------------------------------------------------------------------ owners of material */

static uint32_t first_of(const pl_particles* p, uint32_t id)
{
    while (p->parent[id] != id)
        id = p->parent[id];
    return id;
}

/* piece: by slot. mass, and rich (owns material): by piece. */
typedef struct ownership
{
    uint32_t *piece, *best; /* best: by external id, 1 + the slot that has the material */
    double* mass;
    uint8_t* rich;
} ownership;

static void note_piece(void* context, uint32_t cluster, uint32_t slot, float weight)
{
    const pl_cuts* cuts = ((void**)context)[0];
    ownership* o = ((void**)context)[1];
    (void)weight;
    o->piece[slot] = cuts->piece[cluster];
}

static bool is_better(const pl_body* body, const ownership* o, uint32_t slot, uint32_t than)
{
    const float* over = body->cuts.over;
    double most = WRONG_SIDE * body->spacing;
    bool right = !(over[slot] > most), other = !(over[than] > most);
    if (right != other)
        return right;
    if (!right || o->piece[slot] == o->piece[than])
        return over[slot] < over[than];
    double a = o->mass[o->piece[slot]], b = o->mass[o->piece[than]];
    return a > b || (a == b && o->piece[slot] < o->piece[than]);
}

static void assign_owners(pl_body* body, ownership* o)
{
    pl_cuts* cuts = &body->cuts;
    const pl_particles* p = &body->particles;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        o->mass[cuts->piece[c]] += body->clusters.mass[c];
    for (uint32_t id = 0; id < p->id_count; ++id)
    {
        uint32_t slot = p->slot_of[id];
        if (slot >= p->slot_count || p->id[slot] != id)
            continue;
        uint32_t* best = &o->best[first_of(p, id)];
        if (!*best || is_better(body, o, slot, *best - 1))
            *best = slot + 1;
    }
    for (uint32_t id = 0; id < p->id_count; ++id)
        if (o->best[id])
        {
            uint32_t piece = o->piece[o->best[id] - 1];
            cuts->owner[id] = piece;
            o->rich[piece] = 1;
        }
        else
            cuts->owner[id] = PL_NO_PIECE;
    for (uint32_t s = 0; s < p->slot_count; ++s)
        if (p->mass[s] > 0)
            cuts->ghost[s] = o->best[first_of(p, p->id[s])] == s + 1 ? PL_GHOST_NOT
                             : o->rich[o->piece[s]]                  ? PL_GHOST
                                                                     : PL_GHOST_POOR;
}

static pl_status find_owners(pl_body* body)
{
    const pl_particles* p = &body->particles;
    ownership o = {body->cuts.home, PL_NEW(uint32_t, p->id_count),
                   PL_NEW(double, body->level_begin[1]), PL_NEW(uint8_t, body->level_begin[1])};
    bool fine = o.best && o.mass && o.rich;
    void* both[2] = {&body->cuts, &o};
    if (fine)
    {
        pl_each_member(body, 0, body->level_begin[1], note_piece, both);
        assign_owners(body, &o);
    }
    pl_free(o.best);
    pl_free(o.mass);
    pl_free(o.rich);
    return fine ? PLIANT_OK : pl_fail_memory((size_t)p->slot_count * 8);
}

/* ------------------------------------------------------------------ refresh */

/* Allocates zeroed arrays for all clusters and slots. */
static pl_status allocate(pl_body* body)
{
    pl_cuts* cuts = &body->cuts;
    uint32_t clusters = body->level_begin[1], slots = body->particles.slot_count;
    pl_free(cuts->piece);
    pl_free(cuts->side_begin);
    pl_free(cuts->over);
    pl_free(cuts->ghost);
    pl_free(cuts->home);
    pl_free(cuts->anchor);
    pl_free(cuts->owner);
    cuts->anchor = NULL;
    cuts->home = PL_NEW(uint32_t, slots);
    cuts->piece = PL_NEW(uint32_t, clusters);
    cuts->side_begin = PL_NEW(uint32_t, (size_t)clusters + 1);
    cuts->over = PL_NEW(float, slots);
    cuts->ghost = PL_NEW(uint8_t, slots);
    cuts->owner = PL_NEW(uint32_t, body->particles.id_count);
    return cuts->piece && cuts->side_begin && cuts->over && cuts->ghost && cuts->home && cuts->owner
               ? PLIANT_OK
               : pl_fail_memory((size_t)slots * 9 + (size_t)clusters * 8);
}

static pl_status refresh(pl_body* body, cut_members* g)
{
    uint32_t clusters = body->level_begin[1];
    PL_TRY(reserve(body));
    PL_TRY(allocate(body));
    PL_TRY(find_pieces(body, body->cuts.piece));
    g->begin = PL_NEW(uint32_t, (size_t)clusters + 2);
    if (!g->begin)
        return pl_fail_memory((size_t)clusters * 4);
    pl_each_member(body, 0, body->level_begin[1], count_cut, g);
    for (uint32_t c = 0; c <= clusters; ++c)
        g->begin[c + 1] += g->begin[c]; /* shifted by one: filling turns ends into begins */
    g->members = PL_NEW(uint32_t, g->begin[clusters + 1]);
    if (!g->members)
        return pl_fail_memory((size_t)g->begin[clusters + 1] * 4);
    pl_each_member(body, 0, body->level_begin[1], store_cut, g);
    PL_TRY(list_sides(body, g));
    measure_members(body, g, false);
    PL_TRY(find_owners(body));
    PL_TRY(find_slits(body));
    measure_members(body, g, true);
    return PLIANT_OK;
}

pl_status pl_cuts_refresh(pl_body* body)
{
    cut_members g = {.body = body};
    pl_status status = body->cuts.plane_count ? refresh(body, &g) : PLIANT_OK;
    pl_cuts_made(body, status == PLIANT_OK);
    pl_free(g.begin);
    pl_free(g.members);
    return status;
}
