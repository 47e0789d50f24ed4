// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Small pieces of a body that flows and breaks. Reclustering cannot help there: it would make the
 * same cluster again, or none, since embedding needs four members (embed_region.c). The cluster
 * would fade forever, waiting for a replacement, while its F^p grows without bound. It is kept
 * instead, and its flow becomes its rest shape:
 *
 *   p <- F^p p,   F^p <- 1,   which leaves R F^p p and F^e = F (F^p)^-1 unchanged.
 *
 * Members of a cluster that contains a whole small piece need no other cluster.
 */
#include "base/elementary.h"
#include "body/edit/edit.h"
#include "body/memberships.h"
#include "body/validity.h"
#include "plasticity/recluster_internal.h"

#include <string.h>

/* Overdue: log cond(F^p) is over this multiple of the logarithm of the recluster condition. */
#define OVERDUE 4

enum
{
    LEAST_MEMBERS = 4,  /* needed to embed a cluster */
    MOST_PARTICLES = 12 /* of a small piece */
};

typedef struct small_piece
{
    uint32_t particles;
    bool kept; /* a cluster that stays contains all of them */
} small_piece;

typedef struct member_counts
{
    const pl_body* body;
    uint32_t *members, *piece_of; /* by finest cluster; by slot: 1 + its piece */
    small_piece* pieces;          /* by number, including dead ones */
} member_counts;

static void count_member(void* context, uint32_t cluster, uint32_t slot, float weight)
{
    member_counts* c = context;
    (void)weight;
    ++c->members[cluster];
    c->piece_of[slot] = 1 + c->body->clusters.piece[cluster];
}

static bool is_overdue(const pl_body* body, uint32_t c)
{
    double past = pl_log(fmin(pl_plastic_condition(body->clusters.fp[c]), 1e30));
    return past > OVERDUE * pl_log(body->material.recluster_condition);
}

/* enough[c]: cluster c stays and contains a whole small piece. absorb[c]: c was going and is kept
 * instead, as the only cluster of a small piece, or because it cannot be replaced. */
static void find_absorbed(const member_counts* n, uint8_t* enough, uint8_t* absorb)
{
    const pl_body* body = n->body;
    const pl_clusters* k = &body->clusters;
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        if (n->piece_of[s])
            ++n->pieces[n->piece_of[s] - 1].particles;
    for (int going = 0; going < 2; ++going)
        for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        {
            small_piece* piece = &n->pieces[k->piece[c]];
            bool goes = k->fading[c] == PL_GOES;
            if (n->members[c] == 0 || goes != going)
                continue;
            absorb[c] = goes && (n->members[c] < LEAST_MEMBERS || is_overdue(body, c));
            if (n->members[c] != piece->particles || piece->particles > MOST_PARTICLES)
                continue;
            absorb[c] |= goes && !piece->kept;
            enough[c] = !goes || absorb[c];
            piece->kept = piece->kept || enough[c];
        }
}

static pl_status absorb_member(pl_edit* edit, uint32_t slot, uint32_t cluster, mat3 fp)
{
    vec3 centre = v3_from(pl_edit_body(edit)->clusters.rest[cluster]);
    pl_change* change = pl_edit_change(edit, slot);
    if (!change)
        return pl_fail_memory(64);
    for (uint32_t i = 0; i < change->count; ++i)
    {
        pl_member* m = &change->members[i];
        if (m->cluster != cluster)
            continue;
        vec3 rest = v3_add(centre, m3_mulv(fp, v3_sub(v3_fromd(m->rest), centre)));
        m->rest[0] = rest.x, m->rest[1] = rest.y, m->rest[2] = rest.z;
    }
    return PLIANT_OK;
}

/* Adjusts B so that coarse clusters keep the places of the members: x = q + B p. */
static void absorb_links(pl_body* body, uint32_t c, mat3 by)
{
    pl_links* links = &body->links;
    if (!links->count)
        return;
    for (uint32_t n = links->by_fine_begin[c]; n < links->by_fine_begin[c + 1]; ++n)
    {
        float* b = links->b[links->by_fine[n]];
        mat3 map = m3_mul(m3_from(b), by);
        for (int i = 0; i < 9; ++i)
            b[i] = (float)map.m[i / 3][i % 3];
        links->plain = false;
    }
}

static pl_status absorb_members(pl_edit* edit, uint32_t c)
{
    uint32_t count = 0;
    const uint32_t* slots = pl_edit_slots(edit, c, &count);
    uint32_t* list = slots ? PL_NEW(uint32_t, count) : NULL;
    if (!list)
        return pl_fail_memory((size_t)count * 4);
    memcpy(list, slots, count * sizeof *list);
    pl_status status = PLIANT_OK;
    for (uint32_t i = 0; i < count && status == PLIANT_OK; ++i)
        status = absorb_member(edit, list[i], c, m3_from(pl_edit_body(edit)->clusters.fp[c]));
    pl_free(list);
    return status;
}

static pl_status absorb_all(pl_body* body, uint64_t now, const uint8_t* absorb)
{
    pl_clusters* k = &body->clusters;
    pl_edit* edit;
    pl_status status = pl_edit_begin(body, now, &edit);
    for (uint32_t c = 0; c < body->level_begin[1] && status == PLIANT_OK; ++c)
        if (absorb[c])
            status = absorb_members(edit, c);
    if (status != PLIANT_OK)
    {
        pl_edit_abandon(edit);
        return status;
    }
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (absorb[c])
            absorb_links(body, c, m3_inverse(m3_from(k->fp[c])));
    status = pl_edit_end(edit, NULL);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        if (!absorb[c])
            continue;
        if (status != PLIANT_OK)
        {
            absorb_links(body, c, m3_from(k->fp[c])); /* undo */
            continue;
        }
        for (int i = 0; i < 9; ++i)
            k->fp[c][i] = i % 4 ? 0.0f : 1.0f;
        k->fading[c] = k->fade[c] < 1 ? PL_COMES : PL_STAYS;
    }
    pl_rest_shape_changed(body);
    return status;
}

pl_status pl_absorb_flow(pl_body* body, uint64_t now, uint8_t* enough)
{
    uint32_t finest = body->level_begin[1];
    memset(enough, 0, finest);
    if (!body->fracture)
        return PLIANT_OK;
    member_counts n = {body, PL_NEW(uint32_t, finest), PL_NEW(uint32_t, body->particles.slot_count),
                       PL_NEW(small_piece, body->fracture->piece_count)};
    uint8_t* absorb = PL_NEW(uint8_t, finest);
    bool any = false, fine = n.members && n.piece_of && n.pieces && absorb;
    if (fine)
    {
        pl_each_member(body, 0, finest, count_member, &n);
        find_absorbed(&n, enough, absorb);
        for (uint32_t c = 0; c < finest; ++c)
            any = any || absorb[c];
    }
    pl_status status = fine ? PLIANT_OK : pl_fail_memory((size_t)finest * 8);
    if (any)
        status = absorb_all(body, now, absorb);
    pl_free(n.members);
    pl_free(n.piece_of);
    pl_free(n.pieces);
    pl_free(absorb);
    return status;
}
