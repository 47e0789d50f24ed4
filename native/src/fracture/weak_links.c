// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Joints that hold no angle. What two clusters share after cracks went by may be a particle or two:
 * each of them then turns about these as it likes, and what should be one stiff shard folds up.
 *
 *      o o o            o o o           fewer than four shared particles say next to nothing about
 *      o c o─o d o      o c o o d o     how two clusters lie to each other: each of them stays with
 *      o o o   o o      o o o   o o     the one that it weighs more in, and the shard comes in two
 *
 * Only clusters beside cracks are meant: what has few shared particles from the start was made so.
 * Along a pattern nothing comes apart but its cells (voronoi_cells.c).
 */
#include "fracture/fracture_internal.h"

#define FEWEST 4

typedef struct joint
{
    uint32_t cluster, other;
} joint;

typedef struct joint_list
{
    joint* items;
    size_t count, capacity;
} joint_list;

static bool list_weak(const pl_breaking* b, joint_list* list)
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
            list->items[list->count++] = (joint){c, share->cluster};
        }
    return true;
}

/* Which of two clusters a particle weighs less in; UINT32_MAX if it weighs nothing in one. */
static pl_status lesser_of(pl_breaking* b, uint32_t id, const joint* j, uint32_t* lesser)
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

/* Whether the two share particles still: others that parted may have taken them. */
static bool is_joint(const pl_fracture* f, const joint* j)
{
    const pl_shares* shares = &f->shares[j->cluster];
    for (uint32_t i = 0; i < shares->count; ++i)
        if (shares->items[i].cluster == j->other)
            return true;
    return false;
}

static pl_status part(pl_breaking* b, const joint* j)
{
    uint32_t count, lesser = UINT32_MAX;
    if (!is_joint(b->fracture, j))
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
    joint_list list = {0};
    if (b->fracture->cell_count)
        return PLIANT_OK;
    pl_status status = list_weak(b, &list) ? PLIANT_OK : pl_fail_memory(list.count * 8);
    for (size_t i = 0; i < list.count && status == PLIANT_OK; ++i)
        status = part(b, &list.items[i]);
    pl_free(list.items);
    return status;
}
