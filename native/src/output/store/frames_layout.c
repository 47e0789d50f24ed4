// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/store/frames_layout.h"

#include <string.h>

typedef struct layout_head
{
    uint32_t particles, clusters;
    uint64_t memberships;
    double rest_origin[3];
    double spacing;
    uint32_t copies, pieces, splits, divisions;
} layout_head;

_Static_assert(sizeof(layout_head) == 64 && sizeof(pl_block_head) == 8 &&
                   sizeof(pl_frame_split) == 48 && sizeof(pl_frame_divided) == 12,
               "heads are written as they lie in memory: raise PL_STORE_VERSION with them");

void pl_layout_channels(pl_frame_body* b, pl_frame_channel out[PL_LAYOUT_CHANNELS])
{
    uint64_t p = b->particles, m = b->memberships, c = b->copies;
    uint64_t piece = b->pieces ? 4 * (uint64_t)b->clusters : 0;
    uint64_t share = pl_has_shares(b->copies, b->pieces) ? 4 * p : 0;
    const pl_frame_channel list[PL_LAYOUT_CHANNELS] = {
        {"rest positions", (void**)&b->rest, 12 * p},
        {"masses", (void**)&b->mass, 4 * p},
        {"shells", (void**)&b->shell, 4 * p},
        {"nearest clusters", (void**)&b->nearest, 4 * p},
        {"membership lists", (void**)&b->begin, 4 * (p + 1)},
        {"memberships", (void**)&b->cluster, 4 * m},
        {"weights", (void**)&b->weight, 4 * m},
        {"parents of copies", (void**)&b->copy_parent, 4 * c},
        {"births of copies", (void**)&b->copy_birth, 8 * c},
        {"shares of particles", (void**)&b->share, share},
        {"successors of particles", (void**)&b->successor, share},
        {"places of merged particles", (void**)&b->offset, 3 * share},
        {"pieces of clusters", (void**)&b->piece, piece},
        {"parents of pieces", (void**)&b->piece_parent, 4 * (uint64_t)b->pieces},
        {"births of pieces", (void**)&b->piece_birth, 8 * (uint64_t)b->pieces},
        {"splits", (void**)&b->split, sizeof *b->split * (uint64_t)b->splits},
        {"divided particles", (void**)&b->divided, sizeof *b->divided * (uint64_t)b->divisions}};
    memcpy(out, list, sizeof list);
}

void pl_layouts_free(uint32_t count, pl_frame_body* bodies)
{
    for (uint32_t i = 0; bodies && i < count; ++i)
    {
        pl_frame_channel channels[PL_LAYOUT_CHANNELS];
        pl_layout_channels(&bodies[i], channels);
        for (int k = 0; k < PL_LAYOUT_CHANNELS; ++k)
            pl_free(*channels[k].array);
    }
    pl_free(bodies);
}

/* ------------------------------------------------------------------ faults */

static const char* members_fault(const pl_frame_body* b)
{
    if (b->memberships > UINT32_MAX || b->begin[0] != 0 || b->begin[b->particles] != b->memberships)
        return "its membership lists do not span its memberships";
    for (uint32_t i = 0; i < b->particles; ++i)
    {
        if (b->begin[i] > b->begin[i + 1])
            return "its membership lists run backwards";
        if (b->nearest[i] >= b->clusters)
            return "a particle's nearest cluster does not exist";
    }
    for (uint64_t m = 0; m < b->memberships; ++m)
        if (b->cluster[m] >= b->clusters)
            return "a membership's cluster does not exist";
    return NULL;
}

static const char* pieces_fault(const pl_frame_body* b)
{
    uint32_t first = b->particles - b->copies, before = 0;
    for (uint32_t i = 0; i < b->copies; ++i)
        if (b->copy_parent[i] > first + i)
            return "a copy comes before its parent";
    for (uint32_t c = 0; b->pieces && c < b->clusters; ++c)
        if (b->piece[c] >= b->pieces)
            return "a cluster's piece does not exist";
    for (uint32_t i = 0; i < b->pieces; ++i)
        if (b->piece_parent[i] > i)
            return "a piece comes before its parent";
    for (uint32_t i = 0; i < b->splits; ++i)
    {
        const pl_frame_split* s = &b->split[i];
        if (s->cluster >= b->clusters || s->fresh >= b->clusters || s->divided_end < before ||
            s->divided_end > b->divisions)
            return "a split names what does not exist";
        before = s->divided_end;
    }
    for (uint32_t i = 0; i < b->divisions; ++i)
        if (b->divided[i].particle >= b->particles || b->divided[i].copy >= b->particles)
            return "a divided particle does not exist";
    return before == b->divisions ? NULL : "its divided particles belong to no split";
}

static const char* successors_fault(const pl_frame_body* b)
{
    for (uint32_t i = 0; pl_has_shares(b->copies, b->pieces) && i < b->particles; ++i)
        if (b->successor[i] >= b->particles || pl_frame_is_merged(b, b->successor[i]))
            return "a merged particle's successor does not live";
    return NULL;
}

const char* pl_layout_fault(const pl_frame_body* b)
{
    const char* fault =
        b->copies > b->particles ? "it has more copies than particles" : members_fault(b);
    fault = fault ? fault : pieces_fault(b);
    return fault ? fault : successors_fault(b);
}

/* ------------------------------------------------------------------ packing */

void pl_pack(pl_packer* to, const void* data, uint64_t bytes)
{
    if (bytes)
        memcpy(to->at, data, bytes);
    to->at += bytes;
}

void* pl_unpack(pl_packer* from, uint64_t bytes, pl_status* failed)
{
    if (*failed != PLIANT_OK || bytes > (uint64_t)(from->end - from->at))
    {
        *failed = *failed == PLIANT_OK ? PLIANT_ERROR_FORMAT : *failed;
        return NULL;
    }
    void* copy = pl_alloc(bytes, 1);
    if (!copy)
    {
        *failed = PLIANT_ERROR_MEMORY;
        return NULL;
    }
    memcpy(copy, from->at, bytes);
    from->at += bytes;
    return copy;
}

static pl_status check_body(uint32_t index, pl_frame_body* body)
{
    pl_frame_channel channels[PL_LAYOUT_CHANNELS];
    pl_layout_channels(body, channels);
    for (int k = 0; k < PL_LAYOUT_CHANNELS; ++k)
        if (!*channels[k].array && channels[k].bytes)
            return pl_fail(PLIANT_ERROR_ARGUMENT, "body %u has no %s", index, channels[k].name);
    const char* fault = pl_layout_fault(body);
    return fault ? pl_fail(PLIANT_ERROR_ARGUMENT, "body %u cannot be stored: %s", index, fault)
                 : PLIANT_OK;
}

/* Packs bodies in file order. */
static void pack_bodies(pl_packer* to, uint32_t count, pl_frame_body* bodies)
{
    pl_block_head start = {count, 0};
    pl_pack(to, &start, sizeof start);
    for (uint32_t i = 0; i < count; ++i)
    {
        const pl_frame_body* b = &bodies[i];
        layout_head head = {b->particles, b->clusters, b->memberships, {0},         b->spacing,
                            b->copies,    b->pieces,   b->splits,      b->divisions};
        memcpy(head.rest_origin, b->rest_origin, sizeof head.rest_origin);
        pl_pack(to, &head, sizeof head);
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_frame_channel channels[PL_LAYOUT_CHANNELS];
        pl_layout_channels(&bodies[i], channels);
        for (int k = 0; k < PL_LAYOUT_CHANNELS; ++k)
            pl_pack(to, *channels[k].array, channels[k].bytes);
    }
}

static uint64_t bytes_of(pl_frame_body* body)
{
    pl_frame_channel channels[PL_LAYOUT_CHANNELS];
    uint64_t bytes = sizeof(layout_head);
    pl_layout_channels(body, channels);
    for (int k = 0; k < PL_LAYOUT_CHANNELS; ++k)
        bytes += channels[k].bytes;
    return bytes;
}

pl_status pl_layout_pack(uint32_t count, const pl_frame_body* bodies, void** block, uint64_t* bytes)
{
    pl_frame_body* less = PL_NEW(pl_frame_body, count);
    pl_status status = less ? PLIANT_OK : pl_fail_memory(count * sizeof *less);
    uint32_t done = 0;
    *block = NULL;
    *bytes = sizeof(pl_block_head);
    for (; done < count && status == PLIANT_OK; ++done)
    {
        less[done] = bodies[done];
        status = check_body(done, &less[done]);
        if (status == PLIANT_OK)
            status = pl_merged_leave_out(&bodies[done], &less[done]);
        *bytes += status == PLIANT_OK ? bytes_of(&less[done]) : 0;
    }
    if (status == PLIANT_OK && !(*block = pl_alloc(*bytes, 1)))
        status = pl_fail_memory(*bytes);
    if (status == PLIANT_OK)
    {
        pl_packer to = {*block, (unsigned char*)*block + *bytes};
        pack_bodies(&to, count, less);
    }
    for (uint32_t i = 0; i < done; ++i)
        pl_merged_free(&bodies[i], &less[i]);
    pl_free(less);
    return status;
}

/* ------------------------------------------------------------------ unpacking */

static pl_status fault_in(const char* name, const char* what)
{
    return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: %s", name, what);
}

bool pl_layout_is_delta(const void* block, uint64_t bytes)
{
    pl_block_head head = {0, 0};
    if (bytes < sizeof head)
        return false;
    memcpy(&head, block, sizeof head);
    return head.change == 1;
}

static pl_status unpack_body(const char* name, uint32_t index, const layout_head* head,
                             pl_packer* from, pl_frame_body* b)
{
    pl_frame_channel channels[PL_LAYOUT_CHANNELS];
    pl_status status = PLIANT_OK;
    b->particles = head->particles, b->clusters = head->clusters;
    b->memberships = head->memberships, b->spacing = head->spacing;
    b->copies = head->copies, b->pieces = head->pieces;
    b->splits = head->splits, b->divisions = head->divisions;
    memcpy(b->rest_origin, head->rest_origin, sizeof b->rest_origin);
    if (b->memberships > UINT32_MAX)
        return fault_in(name, "it claims too many memberships");
    pl_layout_channels(b, channels);
    for (int k = 0; k < PL_LAYOUT_CHANNELS; ++k)
        *channels[k].array = pl_unpack(from, channels[k].bytes, &status);
    if (status == PLIANT_ERROR_MEMORY)
        return pl_fail_memory((size_t)b->particles * 60);
    if (status != PLIANT_OK)
        return fault_in(name, "it is too short for its particles");
    const char* fault = pl_layout_fault(b);
    return fault ? pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: in body %u, %s", name, index, fault)
                 : pl_merged_take_in(name, b);
}

pl_status pl_layout_unpack(const char* name, const void* block, uint64_t bytes, uint32_t* count,
                           pl_frame_body** bodies)
{
    pl_block_head start = {0, 0};
    *bodies = NULL;
    *count = 0;
    if (bytes < sizeof start)
        return fault_in(name, "it holds nothing");
    memcpy(&start, block, sizeof start);
    if (start.change)
        return fault_in(name, "it is a change of a layout that is not there");
    if (start.bodies > (bytes - sizeof start) / sizeof(layout_head))
        return fault_in(name, "it is too short for the number of its bodies");
    const unsigned char* heads = (const unsigned char*)block + sizeof start;
    pl_packer from = {(unsigned char*)(uintptr_t)heads + start.bodies * sizeof(layout_head),
                      (unsigned char*)(uintptr_t)block + bytes};
    if (!(*bodies = PL_NEW(pl_frame_body, start.bodies)))
        return pl_fail_memory(start.bodies * sizeof **bodies);
    pl_status status = PLIANT_OK;
    for (uint32_t i = 0; i < start.bodies && status == PLIANT_OK; ++i)
    {
        layout_head head;
        memcpy(&head, heads + i * sizeof head, sizeof head);
        status = unpack_body(name, i, &head, &from, &(*bodies)[i]);
    }
    if (status == PLIANT_OK && from.at != from.end)
        status = fault_in(name, "it is too long for its particles");
    if (status != PLIANT_OK)
    {
        pl_layouts_free(start.bodies, *bodies);
        *bodies = NULL;
        return status;
    }
    *count = start.bodies;
    return PLIANT_OK;
}
