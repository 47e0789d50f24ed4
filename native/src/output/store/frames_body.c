// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/store/frames_body.h"

#include <string.h>

typedef struct frame_head
{
    uint32_t particles, clusters;
    double origin[3];
} frame_head;

_Static_assert(sizeof(frame_head) == 32,
               "heads are written as they lie in memory: raise PL_STORE_VERSION with them");

enum
{
    FRAME_CHANNELS = 6,
    VECTORS = 2 /* the first ones are vectors by particle */
};

/* Channels in file order; files omit merged particles. */
static void frame_channels(pl_frame_body* b, uint32_t living, pl_frame_channel out[FRAME_CHANNELS])
{
    uint64_t p = living, c = b->clusters;
    out[0] = (pl_frame_channel){"positions", (void**)&b->x, 12 * p};
    out[1] = (pl_frame_channel){"velocities", (void**)&b->v, 12 * p};
    out[2] = (pl_frame_channel){"gradients", (void**)&b->gradient, 36 * c};
    out[3] = (pl_frame_channel){"rates", (void**)&b->rate, 36 * c};
    out[4] = (pl_frame_channel){"plastic strains", (void**)&b->plastic, 4 * c};
    out[5] = (pl_frame_channel){"new clusters", (void**)&b->renewed, 4 * c};
}

void pl_frame_body_free(pl_frame_body* body)
{
    pl_frame_channel channels[PL_LAYOUT_CHANNELS + FRAME_CHANNELS];
    pl_layout_channels(body, channels);
    frame_channels(body, 0, channels + PL_LAYOUT_CHANNELS);
    for (size_t i = 0; i < PL_COUNTOF(channels); ++i)
        pl_free(*channels[i].array);
    memset(body, 0, sizeof *body);
}

/* ------------------------------------------------------------------ packing */

pl_status pl_frame_pack(uint32_t count, const pl_frame_body* bodies, void** block, uint64_t* bytes)
{
    pl_frame_channel channels[FRAME_CHANNELS];
    pl_block_head start = {count, 0};
    *block = NULL;
    *bytes = sizeof start + count * (uint64_t)sizeof(frame_head);
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_frame_body body = bodies[i];
        if (pl_has_shares(body.copies, body.pieces) && !body.successor)
            return pl_fail(PLIANT_ERROR_ARGUMENT, "body %u has no successors of particles", i);
        frame_channels(&body, pl_frame_living(&body), channels);
        for (int k = 0; k < FRAME_CHANNELS; ++k)
        {
            if (!*channels[k].array && channels[k].bytes)
                return pl_fail(PLIANT_ERROR_ARGUMENT, "body %u has no %s", i, channels[k].name);
            *bytes += channels[k].bytes;
        }
    }
    if (!(*block = pl_alloc(*bytes, 1)))
        return pl_fail_memory(*bytes);
    pl_packer to = {*block, (unsigned char*)*block + *bytes};
    pl_pack(&to, &start, sizeof start);
    for (uint32_t i = 0; i < count; ++i)
    {
        frame_head head = {bodies[i].particles, bodies[i].clusters, {0}};
        memcpy(head.origin, bodies[i].origin, sizeof head.origin);
        pl_pack(&to, &head, sizeof head);
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_frame_body body = bodies[i];
        frame_channels(&body, pl_frame_living(&body), channels);
        for (int k = 0; k < VECTORS; ++k)
        {
            pl_gone_pack(&body, *channels[k].array, (float*)(void*)to.at);
            to.at += channels[k].bytes;
        }
        for (int k = VECTORS; k < FRAME_CHANNELS; ++k)
            pl_pack(&to, *channels[k].array, channels[k].bytes);
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ unpacking */

static pl_status fault_in(const char* name, const char* what)
{
    return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: %s", name, what);
}

/* Points channels into the rest of the block; false if it is too short. */
static bool point_channels(pl_frame_channel* channels, int count, unsigned char** at,
                           unsigned char* end)
{
    for (int i = 0; i < count; ++i)
    {
        if (channels[i].bytes > (uint64_t)(end - *at))
            return false;
        *channels[i].array = *at;
        *at += channels[i].bytes;
    }
    return true;
}

static pl_status read_count(const char* name, const void* block, uint64_t bytes,
                            uint64_t head_bytes, uint32_t* count)
{
    pl_block_head head = {0, 0};
    if (bytes < sizeof head)
        return fault_in(name, "it holds nothing");
    memcpy(&head, block, sizeof head);
    if (head.bodies > (bytes - sizeof head) / head_bytes)
        return fault_in(name, "it is too short for the number of its bodies");
    *count = head.bodies;
    return PLIANT_OK;
}

/* Expands positions and velocities to all particles, in the bytes behind those read. */
static void expand_merged(pl_frame_body* b, unsigned char** room)
{
    float* all = (float*)(void*)*room;
    if (pl_frame_living(b) == b->particles)
        return;
    pl_gone_unpack(b, b->x, b->gradient, all);
    b->x = all, all += 3 * (size_t)b->particles;
    pl_gone_unpack(b, b->v, b->rate, all);
    b->v = all, all += 3 * (size_t)b->particles;
    *room = (unsigned char*)all;
}

static pl_status check_counts(const char* name, const frame_head* heads, uint32_t count,
                              const pl_frame_body* bodies, uint64_t* room)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        const pl_frame_body* b = &bodies[i];
        if (heads[i].particles != b->particles || heads[i].clusters != b->clusters)
            return fault_in(name, "its counts are not those of its layout");
        *room += pl_frame_living(b) < b->particles ? 24 * (uint64_t)b->particles : 0;
    }
    return PLIANT_OK;
}

pl_status pl_frame_unpack(const char* name, void** block, uint64_t bytes, uint32_t count,
                          pl_frame_body* bodies)
{
    uint32_t stored = 0;
    uint64_t room = 0;
    PL_TRY(read_count(name, *block, bytes, sizeof(frame_head), &stored));
    if (stored != count)
        return fault_in(name, "its bodies are not those of its layout");
    const unsigned char* first = (const unsigned char*)*block + sizeof(pl_block_head);
    PL_TRY(check_counts(name, (const frame_head*)(const void*)first, count, bodies, &room));
    void* longer = room ? pl_realloc(*block, bytes + room, 1) : *block;
    if (!longer)
        return pl_fail_memory(bytes + room);
    *block = longer;
    const frame_head* heads =
        (const frame_head*)(const void*)((unsigned char*)*block + sizeof(pl_block_head));
    unsigned char* at = (unsigned char*)(uintptr_t)(heads + count);
    unsigned char* end = (unsigned char*)*block + bytes;
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_frame_channel channels[FRAME_CHANNELS];
        memcpy(bodies[i].origin, heads[i].origin, sizeof bodies[i].origin);
        frame_channels(&bodies[i], pl_frame_living(&bodies[i]), channels);
        if (!point_channels(channels, FRAME_CHANNELS, &at, end))
            return fault_in(name, "it is too short for its particles");
    }
    if (at != end)
        return fault_in(name, "it is too long for its particles");
    for (uint32_t i = 0; i < count; ++i)
        expand_merged(&bodies[i], &at);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ deformation */

static void blend_matrices(const pl_frame_body* body, const float* matrices, float* out)
{
    for (uint32_t i = 0; i < body->particles; ++i)
    {
        float sum[9] = {0};
        for (uint32_t m = body->begin[i]; m < body->begin[i + 1]; ++m)
        {
            const float* matrix = matrices + 9 * (size_t)body->cluster[m];
            for (int k = 0; k < 9; ++k)
                sum[k] += body->weight[m] * matrix[k];
        }
        memcpy(out + 9 * (size_t)i, sum, sizeof sum);
    }
}

void pl_frame_blend(const pl_frame_body* body, const float* by_cluster, float* by_particle)
{
    for (uint32_t i = 0; i < body->particles; ++i)
    {
        by_particle[i] = 0;
        for (uint32_t m = body->begin[i]; m < body->begin[i + 1]; ++m)
            by_particle[i] += body->weight[m] * by_cluster[body->cluster[m]];
    }
}

void pl_frame_deformation(const pl_frame_body* body, float* f, float* rate)
{
    if (f)
        blend_matrices(body, body->gradient, f);
    if (rate)
        blend_matrices(body, body->rate, rate);
}
