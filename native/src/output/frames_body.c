// SPDX-License-Identifier: GPL-3.0-or-later
#include "frames_body.h"

#include <string.h>

typedef struct block_head
{
    uint32_t bodies;
    uint32_t reserved;
} block_head;

typedef struct layout_head
{
    uint32_t particles, clusters;
    uint64_t memberships;
    double rest_origin[3];
    double spacing;
} layout_head;

typedef struct frame_head
{
    uint32_t particles, clusters;
    double origin[3];
} frame_head;

_Static_assert(sizeof(layout_head) == 48 && sizeof(frame_head) == 32 && sizeof(block_head) == 8,
               "heads are written as they lie in memory: raise PL_STORE_VERSION with them");

/* One array of a body: where its pointer is, and how long it must be. */
typedef struct channel
{
    const char* name;
    void** array;
    uint64_t bytes;
} channel;

enum
{
    LAYOUT_CHANNELS = 7,
    FRAME_CHANNELS = 5
};

static void layout_channels(pl_frame_body* b, channel out[LAYOUT_CHANNELS])
{
    uint64_t p = b->particles, m = b->memberships;
    out[0] = (channel){"rest positions", (void**)&b->rest, 12 * p};
    out[1] = (channel){"masses", (void**)&b->mass, 4 * p};
    out[2] = (channel){"shells", (void**)&b->shell, 4 * p};
    out[3] = (channel){"nearest clusters", (void**)&b->nearest, 4 * p};
    out[4] = (channel){"membership lists", (void**)&b->begin, 4 * (p + 1)};
    out[5] = (channel){"memberships", (void**)&b->cluster, 4 * m};
    out[6] = (channel){"weights", (void**)&b->weight, 4 * m};
}

static void frame_channels(pl_frame_body* b, channel out[FRAME_CHANNELS])
{
    uint64_t p = b->particles, c = b->clusters;
    out[0] = (channel){"positions", (void**)&b->x, 12 * p};
    out[1] = (channel){"velocities", (void**)&b->v, 12 * p};
    out[2] = (channel){"gradients", (void**)&b->gradient, 36 * c};
    out[3] = (channel){"rates", (void**)&b->rate, 36 * c};
    out[4] = (channel){"plastic strains", (void**)&b->plastic, 4 * c};
}

void pl_frame_body_free(pl_frame_body* body)
{
    channel channels[LAYOUT_CHANNELS + FRAME_CHANNELS];
    layout_channels(body, channels);
    frame_channels(body, channels + LAYOUT_CHANNELS);
    for (size_t i = 0; i < PL_COUNTOF(channels); ++i)
        pl_free(*channels[i].array);
    memset(body, 0, sizeof *body);
}

/* ------------------------------------------------------------------ memberships */

/* NULL, or what is wrong with the layout of a body. Reading relies on this for every index. */
static const char* layout_fault(const pl_frame_body* b)
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

/* ------------------------------------------------------------------ packing */

static pl_status check_channels(uint32_t body, const channel* channels, int count, uint64_t* bytes)
{
    for (int i = 0; i < count; ++i)
    {
        if (!*channels[i].array && channels[i].bytes)
            return pl_fail(PLIANT_ERROR_ARGUMENT, "body %u has no %s", body, channels[i].name);
        *bytes += channels[i].bytes;
    }
    return PLIANT_OK;
}

static unsigned char* put(unsigned char* at, const void* data, uint64_t bytes)
{
    if (bytes)
        memcpy(at, data, bytes);
    return at + bytes;
}

static unsigned char* put_channels(unsigned char* at, const channel* channels, int count)
{
    for (int i = 0; i < count; ++i)
        at = put(at, *channels[i].array, channels[i].bytes);
    return at;
}

static unsigned char* start_block(uint32_t count, void** block, uint64_t bytes)
{
    block_head head = {count, 0};
    *block = pl_alloc(bytes, 1);
    return *block ? put(*block, &head, sizeof head) : NULL;
}

pl_status pl_layout_pack(uint32_t count, const pl_frame_body* bodies, void** block, uint64_t* bytes)
{
    channel channels[LAYOUT_CHANNELS];
    *bytes = sizeof(block_head) + count * (uint64_t)sizeof(layout_head);
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_frame_body body = bodies[i];
        layout_channels(&body, channels);
        PL_TRY(check_channels(i, channels, LAYOUT_CHANNELS, bytes));
        const char* fault = layout_fault(&body);
        if (fault)
            return pl_fail(PLIANT_ERROR_ARGUMENT, "body %u cannot be stored: %s", i, fault);
    }
    unsigned char* at = start_block(count, block, *bytes);
    if (!at)
        return pl_fail_memory(*bytes);
    for (uint32_t i = 0; i < count; ++i)
    {
        const pl_frame_body* body = &bodies[i];
        layout_head head = {body->particles, body->clusters, body->memberships, {0}, body->spacing};
        memcpy(head.rest_origin, body->rest_origin, sizeof head.rest_origin);
        at = put(at, &head, sizeof head);
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_frame_body body = bodies[i];
        layout_channels(&body, channels);
        at = put_channels(at, channels, LAYOUT_CHANNELS);
    }
    return PLIANT_OK;
}

pl_status pl_frame_pack(uint32_t count, const pl_frame_body* bodies, void** block, uint64_t* bytes)
{
    channel channels[FRAME_CHANNELS];
    *bytes = sizeof(block_head) + count * (uint64_t)sizeof(frame_head);
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_frame_body body = bodies[i];
        frame_channels(&body, channels);
        PL_TRY(check_channels(i, channels, FRAME_CHANNELS, bytes));
    }
    unsigned char* at = start_block(count, block, *bytes);
    if (!at)
        return pl_fail_memory(*bytes);
    for (uint32_t i = 0; i < count; ++i)
    {
        frame_head head = {bodies[i].particles, bodies[i].clusters, {0}};
        memcpy(head.origin, bodies[i].origin, sizeof head.origin);
        at = put(at, &head, sizeof head);
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_frame_body body = bodies[i];
        frame_channels(&body, channels);
        at = put_channels(at, channels, FRAME_CHANNELS);
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ unpacking */

static pl_status fault_in(const char* name, const char* what)
{
    return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: %s", name, what);
}

/* Points channels at what is left of the block; false if it is too short. */
static bool point_channels(channel* channels, int count, unsigned char** at, unsigned char* end)
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
    block_head head = {0, 0};
    if (bytes < sizeof head)
        return fault_in(name, "it holds nothing");
    memcpy(&head, block, sizeof head);
    if (head.bodies > (bytes - sizeof head) / head_bytes)
        return fault_in(name, "it is too short for the number of its bodies");
    *count = head.bodies;
    return PLIANT_OK;
}

static pl_status unpack_layouts(const char* name, unsigned char* block, uint64_t bytes,
                                uint32_t count, pl_frame_body* bodies)
{
    const layout_head* heads = (const layout_head*)(block + sizeof(block_head));
    unsigned char *at = (unsigned char*)(uintptr_t)(heads + count), *end = block + bytes;
    for (uint32_t i = 0; i < count; ++i)
    {
        channel channels[LAYOUT_CHANNELS];
        pl_frame_body* body = &bodies[i];
        body->particles = heads[i].particles;
        body->clusters = heads[i].clusters;
        body->memberships = heads[i].memberships;
        body->spacing = heads[i].spacing;
        memcpy(body->rest_origin, heads[i].rest_origin, sizeof body->rest_origin);
        if (body->memberships > UINT32_MAX)
            return fault_in(name, "it claims too many memberships");
        layout_channels(body, channels);
        if (!point_channels(channels, LAYOUT_CHANNELS, &at, end))
            return fault_in(name, "it is too short for its particles");
        const char* fault = layout_fault(body);
        if (fault)
            return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: in body %u, %s", name, i, fault);
    }
    return at == end ? PLIANT_OK : fault_in(name, "it is too long for its particles");
}

pl_status pl_layout_unpack(const char* name, void* block, uint64_t bytes, uint32_t* count,
                           pl_frame_body** bodies)
{
    *bodies = NULL;
    PL_TRY(read_count(name, block, bytes, sizeof(layout_head), count));
    *bodies = PL_NEW(pl_frame_body, *count);
    if (!*bodies)
        return pl_fail_memory(*count * sizeof(pl_frame_body));
    pl_status status = unpack_layouts(name, block, bytes, *count, *bodies);
    if (status != PLIANT_OK)
    {
        pl_free(*bodies);
        *bodies = NULL;
    }
    return status;
}

pl_status pl_frame_unpack(const char* name, void* block, uint64_t bytes, uint32_t count,
                          pl_frame_body* bodies)
{
    uint32_t stored = 0;
    PL_TRY(read_count(name, block, bytes, sizeof(frame_head), &stored));
    if (stored != count)
        return fault_in(name, "its bodies are not those of its layout");
    const frame_head* heads = (const frame_head*)((unsigned char*)block + sizeof(block_head));
    unsigned char* at = (unsigned char*)(uintptr_t)(heads + count);
    unsigned char* end = (unsigned char*)block + bytes;
    for (uint32_t i = 0; i < count; ++i)
    {
        channel channels[FRAME_CHANNELS];
        if (heads[i].particles != bodies[i].particles || heads[i].clusters != bodies[i].clusters)
            return fault_in(name, "its counts are not those of its layout");
        memcpy(bodies[i].origin, heads[i].origin, sizeof bodies[i].origin);
        frame_channels(&bodies[i], channels);
        if (!point_channels(channels, FRAME_CHANNELS, &at, end))
            return fault_in(name, "it is too short for its particles");
    }
    return at == end ? PLIANT_OK : fault_in(name, "it is too long for its particles");
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

void pl_frame_plastic_strain(const pl_frame_body* body, float* strain)
{
    for (uint32_t i = 0; i < body->particles; ++i)
    {
        strain[i] = 0;
        for (uint32_t m = body->begin[i]; m < body->begin[i + 1]; ++m)
            strain[i] += body->weight[m] * body->plastic[body->cluster[m]];
    }
}

void pl_frame_deformation(const pl_frame_body* body, float* f, float* rate)
{
    if (f)
        blend_matrices(body, body->gradient, f);
    if (rate)
        blend_matrices(body, body->rate, rate);
}
