// SPDX-License-Identifier: GPL-3.0-or-later
/* Shared by the sources of the frame store: the store and its read cache. */
#ifndef PL_OUTPUT_STORE_FRAMES_INTERNAL_H
#define PL_OUTPUT_STORE_FRAMES_INTERNAL_H

#include "output/store/frames_body.h"
#include "output/store/journal.h"

typedef struct pl_store_settings
{
    uint32_t compression;
    uint32_t checkpoint_every;
} pl_store_settings;

struct pl_frame_store
{
    char folder[PL_STORE_FOLDER_MAX + 1];
    bool writable;
    pl_store_settings settings;
    pl_journal journal;
    /* The layout and frame read last. Bodies own the layout arrays and point into the frame's
     * block. */
    uint32_t layout; /* 0: none */
    uint32_t body_count;
    pl_frame_body* bodies;
    /* The layout of the last frame, once requested. */
    uint32_t final_layout;
    uint32_t final_count;
    pl_frame_body* final;
    bool has_frame;
    int32_t frame;
    void* frame_block;
    uint32_t chain, chain_of; /* deltas since the last whole layout, up to chain_of */
};

/* frames_memory.c: drop cached data. */
void pl_store_drop_layout(pl_frame_store* store);
void pl_store_drop_final(pl_frame_store* store);
/* Loads the layout, or the frame and its layout, of a record, unless cached. */
pl_status pl_store_load_layout(pl_frame_store* store, const pl_journal_record* record);
pl_status pl_store_load_frame(pl_frame_store* store, const pl_journal_record* record);
/* Writes a new layout unless it equals the last frame's; fills the record's layout fields. */
pl_status pl_store_write_layout(pl_frame_store* store, uint32_t count, const pl_frame_body* bodies,
                                pl_journal_record* record, bool* written);

#endif
