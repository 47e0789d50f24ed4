// SPDX-License-Identifier: GPL-3.0-or-later
/* The read cache of layouts and frames. A layout stored as a delta is rebuilt from the last whole
 * one. */
#include "output/store/frames_internal.h"

#include <string.h>

enum
{
    LONGEST_CHAIN = 24 /* most consecutive deltas */
};

static void drop_frame(pl_frame_store* store)
{
    pl_free(store->frame_block);
    store->frame_block = NULL;
    store->has_frame = false;
}

void pl_store_drop_layout(pl_frame_store* store)
{
    drop_frame(store);
    pl_layouts_free(store->body_count, store->bodies);
    store->bodies = NULL;
    store->body_count = store->layout = 0;
}

void pl_store_drop_final(pl_frame_store* store)
{
    pl_layouts_free(store->final_count, store->final);
    store->final = NULL;
    store->final_count = store->final_layout = 0;
}

/* The first frame that has a layout. */
static const pl_journal_record* record_of_layout(const pl_frame_store* store, uint32_t layout)
{
    const pl_journal* journal = &store->journal;
    size_t low = 0, high = journal->frame_count;
    while (low < high)
    {
        size_t middle = (low + high) / 2;
        if (journal->frames[middle].layout < layout)
            low = middle + 1;
        else
            high = middle;
    }
    return low < journal->frame_count && journal->frames[low].layout == layout
               ? &journal->frames[low]
               : NULL;
}

/* Builds the bodies of a layout from its file, which may be a delta against the cached one. */
static pl_status build_layout(pl_frame_store* store, uint32_t layout, const void* block,
                              uint64_t bytes)
{
    char path[PL_STORE_PATH_MAX];
    uint32_t count = store->body_count;
    pl_frame_body* fresh = NULL;
    pl_store_path(path, store->folder, PL_STORE_LAYOUT, (int32_t)layout);
    pl_status status =
        pl_layout_is_delta(block, bytes)
            ? pl_layout_delta_unpack(path, block, bytes, count, store->bodies, &fresh)
            : pl_layout_unpack(path, block, bytes, &count, &fresh);
    if (status != PLIANT_OK)
        return status;
    pl_store_drop_layout(store);
    store->bodies = fresh;
    store->body_count = count;
    store->layout = layout;
    return PLIANT_OK;
}

/* Applies deltas in order, from the whole layout or the cached one. */
pl_status pl_store_load_layout(pl_frame_store* store, const pl_journal_record* record)
{
    void* blocks[LONGEST_CHAIN + 1];
    uint64_t bytes[LONGEST_CHAIN + 1];
    uint32_t count = 0, layout = record->layout;
    pl_status status = PLIANT_OK;
    for (bool whole = false; !whole && layout != store->layout && status == PLIANT_OK; --layout)
    {
        const pl_journal_record* known = record_of_layout(store, layout);
        if (!known || count > LONGEST_CHAIN)
            status = pl_fail(PLIANT_ERROR_FORMAT, "%s has no whole layout for frame %d",
                             store->folder, record->frame);
        else
            status = pl_store_read_file(store->folder, PL_STORE_LAYOUT, (int32_t)layout,
                                        &known->layout_content, &blocks[count], &bytes[count]);
        if (status == PLIANT_OK)
            whole = !pl_layout_is_delta(blocks[count], bytes[count]), ++count;
    }
    for (uint32_t i = count; i-- > 0;)
    {
        if (status == PLIANT_OK)
            status = build_layout(store, ++layout, blocks[i], bytes[i]);
        pl_free(blocks[i]);
    }
    if (status == PLIANT_OK && store->body_count != record->bodies)
        status =
            pl_fail(PLIANT_ERROR_FORMAT, "layout %u of %s has %u bodies where the journal has %u",
                    record->layout, store->folder, store->body_count, record->bodies);
    if (status != PLIANT_OK)
        pl_store_drop_layout(store);
    return status;
}

pl_status pl_store_load_frame(pl_frame_store* store, const pl_journal_record* record)
{
    char path[PL_STORE_PATH_MAX];
    uint64_t bytes;
    if (store->has_frame && store->frame == record->frame)
        return PLIANT_OK;
    PL_TRY(pl_store_load_layout(store, record));
    drop_frame(store);
    pl_store_path(path, store->folder, PL_STORE_FRAME, record->frame);
    PL_TRY(pl_store_read_file(store->folder, PL_STORE_FRAME, record->frame, &record->content,
                              &store->frame_block, &bytes));
    pl_status status =
        pl_frame_unpack(path, &store->frame_block, bytes, store->body_count, store->bodies);
    if (status != PLIANT_OK)
    {
        drop_frame(store);
        return status;
    }
    store->has_frame = true;
    store->frame = record->frame;
    return PLIANT_OK;
}

pl_status pl_frames_final(pl_frame_store* store, uint32_t body, const pl_frame_body** result)
{
    const pl_journal_record* last = pl_journal_last(&store->journal);
    *result = NULL;
    if (!last || body >= last->bodies)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "there is no body %u in the frame store, which has %u", body,
                       last ? last->bodies : 0);
    if (store->final_layout != last->layout)
    {
        /* moved out of the read cache, which is refilled on demand */
        PL_TRY(pl_store_load_layout(store, last));
        drop_frame(store);
        pl_store_drop_final(store);
        store->final = store->bodies, store->final_count = store->body_count;
        store->final_layout = last->layout;
        store->bodies = NULL;
        store->body_count = store->layout = 0;
    }
    *result = &store->final[body];
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ writing layouts */

/* Number of deltas that a layout depends on. */
static uint32_t chain_length(const pl_frame_store* store, uint32_t layout)
{
    const pl_journal_record* known = record_of_layout(store, layout);
    uint32_t length = 0;
    for (; known && length <= LONGEST_CHAIN; known = record_of_layout(store, --layout), ++length)
    {
        void* block;
        uint64_t bytes;
        if (pl_store_read_file(store->folder, PL_STORE_LAYOUT, (int32_t)layout,
                               &known->layout_content, &block, &bytes) != PLIANT_OK)
            return LONGEST_CHAIN + 1;
        bool change = pl_layout_is_delta(block, bytes);
        pl_free(block);
        if (!change)
            return length;
    }
    return LONGEST_CHAIN + 1;
}

/* The block of a layout: whole, or a delta if that is less than half its size. */
static pl_status pack_layout(pl_frame_store* store, uint32_t count, const pl_frame_body* bodies,
                             const pl_journal_record* last, void** block, uint64_t* bytes)
{
    void* change = NULL;
    uint64_t less = 0;
    PL_TRY(pl_layout_pack(count, bodies, block, bytes));
    if (!last || last->bodies != count || pl_store_load_layout(store, last) != PLIANT_OK ||
        pl_layout_delta_pack(count, store->bodies, bodies, &change, &less) != PLIANT_OK || !change)
        return PLIANT_OK;
    if (less <= *bytes / 2 && store->chain < LONGEST_CHAIN)
    {
        void* whole = *block;
        *block = change, change = whole;
        *bytes = less;
    }
    pl_free(change);
    return PLIANT_OK;
}

/* Whether bodies have the cached layout. */
static bool same_layout(const pl_frame_store* store, uint32_t count, const pl_frame_body* bodies)
{
    if (count != store->body_count)
        return false;
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_frame_channel a[PL_LAYOUT_CHANNELS], b[PL_LAYOUT_CHANNELS];
        pl_frame_body body = bodies[i];
        pl_layout_channels(&store->bodies[i], a);
        pl_layout_channels(&body, b);
        if (body.spacing != store->bodies[i].spacing ||
            body.clusters != store->bodies[i].clusters ||
            memcmp(body.rest_origin, store->bodies[i].rest_origin, sizeof body.rest_origin) != 0)
            return false;
        for (int k = 0; k < PL_LAYOUT_CHANNELS; ++k)
            if (a[k].bytes != b[k].bytes ||
                (a[k].bytes && (!*b[k].array || memcmp(*a[k].array, *b[k].array, a[k].bytes) != 0)))
                return false;
    }
    return true;
}

pl_status pl_store_write_layout(pl_frame_store* store, uint32_t count, const pl_frame_body* bodies,
                                pl_journal_record* record, bool* written)
{
    const pl_journal_record* last = pl_journal_last(&store->journal);
    void* block = NULL;
    uint64_t bytes;
    if (last && pl_store_load_layout(store, last) == PLIANT_OK && same_layout(store, count, bodies))
        return PLIANT_OK;
    if (last && store->chain_of != last->layout)
    {
        store->chain = chain_length(store, last->layout);
        store->chain_of = last->layout;
    }
    PL_TRY(pack_layout(store, count, bodies, last, &block, &bytes));
    record->layout += 1;
    record->layout_content = pl_store_content_of(block, bytes);
    store->chain = pl_layout_is_delta(block, bytes) ? store->chain + 1 : 0;
    store->chain_of = record->layout;
    pl_status status = pl_store_write_file(store->folder, &store->journal, PL_STORE_LAYOUT,
                                           (int32_t)record->layout, store->settings.compression,
                                           block, bytes, &record->layout_file_bytes);
    *written = status == PLIANT_OK;
    pl_free(block);
    return status;
}
