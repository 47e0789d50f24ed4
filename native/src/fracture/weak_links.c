// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Weak links. Beside a crack two clusters may share only one or two particles: they rotate freely
 * about these, and a fragment that should be stiff folds up there.
 *
 *      o o o            o o o           fewer than four shared particles do not determine the
 *      o c o─o d o      o c o o d o     relative rotation of two clusters: each particle stays in
 *      o o o   o o      o o o   o o     the cluster where its weight is larger, and the link breaks
 *
 * Only clusters beside cracks are tested: pairs that share few particles initially stay connected.
 * Bodies with Voronoi cells are skipped, because only cells may separate (voronoi_cells.c).
 */
#include "fracture/fracture_internal.h"

#define FEWEST 4

typedef struct weak_link
{
    uint32_t cluster, other;
} weak_link;

typedef struct weak_link_list
{
    weak_link* items;
    size_t count, capacity;
} weak_link_list;

static bool list_weak(const pl_breaking* b, weak_link_list* list)
{
    const pl_clusters* k = &b->body->clusters;
    const pl_fracture* f = b->fracture;
    uint32_t clusters = PL_MIN(b->body->level_begin[1], f->share_count);
    for (uint32_t c = 0; c < clusters; ++c)
        for (uint32_t i = 0; k->cracked[c] && i < f->shares[c].count; ++i)
        {
            const pl_share* share = &f->shares[c].items[i];
            if (share->cluster < c || share->count >= FEWEST || !k->cracked[share->cluster])
                continue;
            if (!pl_grow((void**)&list->items, &list->capacity, list->count + 1,
                         sizeof *list->items))
                return false;
            list->items[list->count++] = (weak_link){c, share->cluster};
        }
    return true;
}

/* The one of two clusters in which a particle weighs less; UINT32_MAX unless it is in both. */
static pl_status lesser_of(pl_breaking* b, uint32_t id, const weak_link* j, uint32_t* lesser)
{
    const float* fade = b->body->clusters.fade;
    uint32_t count;
    double weight[2] = {0, 0};
    const pl_member* m = pl_edit_members(b->edit, b->body->particles.slot_of[id], &count);
    if (!m)
        return pl_fail_memory(64);
    for (uint32_t i = 0; i < count; ++i)
        for (int side = 0; side < 2; ++side)
            if (m[i].cluster == (side ? j->other : j->cluster))
                weight[side] = (double)m[i].kernel * fade[m[i].cluster];
    bool both = weight[0] > 0 && weight[1] > 0;
    *lesser = !both ? UINT32_MAX : weight[0] < weight[1] ? j->cluster : j->other;
    return PLIANT_OK;
}

/* Whether the two clusters still share particles: breaking other links may have ended that. */
static bool is_linked(const pl_fracture* f, const weak_link* j)
{
    const pl_shares* shares = &f->shares[j->cluster];
    for (uint32_t i = 0; i < shares->count; ++i)
        if (shares->items[i].cluster == j->other)
            return true;
    return false;
}

static pl_status break_link(pl_breaking* b, const weak_link* j)
{
    uint32_t count, lesser = UINT32_MAX;
    if (!is_linked(b->fracture, j))
        return PLIANT_OK;
    const uint32_t* slots = pl_edit_shared(b->edit, j->cluster, j->other, &count);
    if (!slots || !pl_grow((void**)&b->ids, &b->id_capacity, (size_t)count + 1, sizeof *b->ids))
        return pl_fail_memory((size_t)count * 4);
    for (uint32_t i = 0; i < count; ++i)
        b->ids[i] = b->body->particles.id[slots[i]];
    for (uint32_t i = 0; i < count; ++i)
    {
        PL_TRY(lesser_of(b, b->ids[i], j, &lesser));
        if (lesser == UINT32_MAX)
            continue;
        PL_TRY(pl_member_leave(b, b->ids[i], lesser));
        if (!pl_note_small(b, lesser))
            return pl_fail_memory(64);
    }
    return PLIANT_OK;
}

pl_status pl_weak_links_split(pl_breaking* b)
{
    weak_link_list list = {0};
    if (b->fracture->cell_count)
        return PLIANT_OK;
    pl_status status = list_weak(b, &list) ? PLIANT_OK : pl_fail_memory(list.count * 8);
    for (size_t i = 0; i < list.count && status == PLIANT_OK; ++i)
        status = break_link(b, &list.items[i]);
    pl_free(list.items);
    return status;
}
