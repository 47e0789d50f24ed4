// SPDX-License-Identifier: GPL-3.0-or-later
/* What the files of an edit share (edit.h is what others see). */
#ifndef PL_BODY_EDIT_EDIT_INTERNAL_H
#define PL_BODY_EDIT_EDIT_INTERNAL_H

#include "body/edit/edit.h"
#include "body/layout.h"
#include "collision/broadphase/proxy.h"
#include "fracture/cuts/cuts.h"

/* Lists of members that live as long as the edit does, in blocks that do not move. */
typedef struct pl_member_pool
{
    pl_member** blocks;
    size_t block_count, block_capacity;
    uint32_t used, size; /* of the last block */
} pl_member_pool;

/* A cluster that was added, and what it is like; or links of its own. */
typedef struct pl_addition
{
    uint32_t cluster, like;
    uint32_t link_begin, link_count; /* count 0: as what it is like */
} pl_addition;

/* A particle that was divided. */
typedef struct pl_division
{
    uint32_t slot, copy;
    uint64_t quanta; /* of the particle before */
} pl_division;

/* Two particles that were merged. */
typedef struct pl_merging
{
    uint32_t slot, other, id, other_id;
    uint64_t quanta, other_quanta; /* of both before */
} pl_merging;

struct pl_edit
{
    pl_body* body;
    uint64_t now;
    uint32_t* change_of_slot; /* 1 + its index, or 0 */
    uint32_t slot_count;      /* slots that change_of_slot has */
    pl_change* changes;
    size_t change_count, change_capacity;
    pl_member_pool pool;
    pl_addition* added;
    size_t added_count, added_capacity;
    pl_edit_link* links;
    size_t link_count, link_capacity;
    pl_division* divisions;
    size_t division_count, division_capacity;
    pl_merging* mergings;
    size_t merging_count, merging_capacity;
    const uint8_t *more_chunks, *more_clusters; /* to be refreshed, too */
    uint32_t more_chunk_count, more_cluster_count;
    uint32_t next_dead;  /* no cluster before this is dead */
    uint32_t* next_free; /* by chunk: how many of its slots in front are surely taken */
    size_t next_free_capacity;
    uint32_t* beside; /* by chunk: the first of its rest origin that may have room, once it is full
                         itself */
    size_t beside_capacity;
    uint32_t last_chunk; /* the one that was asked for last */
    /* What members and slots were listed in last. */
    pl_member* members;
    size_t member_capacity;
    uint32_t* slots;
    size_t slot_capacity;
    uint64_t* listed; /* bits by slot: scratch */
    size_t listed_capacity;
    uint64_t updates;
};

/* edit.c: the members of a slot as the body has them, into edit->members. */
bool pl_edit_read(pl_edit* edit, uint32_t slot, uint32_t* count);

/* Frees a slot: its particle is in no cluster. */
pl_status pl_edit_leave(pl_edit* edit, uint32_t slot);

/* capacity.c */
/* The cluster has no members any more. */
void pl_cluster_bury(pl_clusters* k, uint32_t c);
void pl_edit_undo_room(pl_edit* edit);

/* build.c: chunks and parts. "chunks" and "clusters" are flags, set for what was touched. */
pl_status pl_edit_build(pl_edit* edit, uint8_t* chunks, uint8_t* clusters);

/* Links of clusters that were added as those they are like, and none of dead ones. */
pl_status pl_edit_relink(pl_edit* edit);

#endif
