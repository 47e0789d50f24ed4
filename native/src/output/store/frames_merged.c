// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/store/frames_merged.h"

#include <string.h>

uint32_t pl_frame_living(const pl_frame_body* body)
{
    uint32_t living = 0;
    for (uint32_t i = 0; i < body->particles; ++i)
        living += !pl_frame_is_merged(body, i);
    return living;
}

/* ------------------------------------------------------------------ layouts */

static uint32_t count_of(const pl_frame_body* b, uint32_t i)
{
    return b->begin[i + 1] - b->begin[i];
}

/* Allocates membership lists; the body's own are left alone. */
static bool make_lists(const pl_frame_body* body, uint64_t memberships, pl_frame_body* to)
{
    *to = *body;
    to->memberships = memberships;
    to->nearest = PL_BARE(uint32_t, body->particles);
    to->begin = PL_NEW(uint32_t, (size_t)body->particles + 1);
    to->cluster = PL_BARE(uint32_t, memberships);
    to->weight = PL_BARE(float, memberships);
    return to->nearest && to->begin && to->cluster && to->weight;
}

static void free_lists(pl_frame_body* body)
{
    pl_free(body->nearest);
    pl_free(body->begin);
    pl_free(body->cluster);
    pl_free(body->weight);
}

/* Gives a particle the memberships of "holder". */
static void put_members(const pl_frame_body* from, uint32_t holder, uint32_t count,
                        pl_frame_body* to, uint32_t i)
{
    uint32_t at = to->begin[i];
    if (count)
    {
        memcpy(to->cluster + at, from->cluster + from->begin[holder], 4 * (size_t)count);
        memcpy(to->weight + at, from->weight + from->begin[holder], 4 * (size_t)count);
    }
    to->begin[i + 1] = at + count;
}

pl_status pl_merged_leave_out(const pl_frame_body* body, pl_frame_body* less)
{
    uint64_t memberships = 0;
    *less = *body;
    if (pl_frame_living(body) == body->particles)
        return PLIANT_OK;
    for (uint32_t i = 0; i < body->particles; ++i)
        memberships += pl_frame_is_merged(body, i) ? 0 : count_of(body, i);
    if (!make_lists(body, memberships, less))
    {
        free_lists(less);
        *less = *body;
        return pl_fail_memory(8 * memberships);
    }
    for (uint32_t i = 0; i < body->particles; ++i)
    {
        bool gone = pl_frame_is_merged(body, i);
        less->nearest[i] = gone ? 0 : body->nearest[i];
        put_members(body, i, gone ? 0 : count_of(body, i), less, i);
    }
    return PLIANT_OK;
}

void pl_merged_free(const pl_frame_body* body, pl_frame_body* less)
{
    if (less->begin != body->begin)
        free_lists(less);
}

pl_status pl_merged_take_in(const char* name, pl_frame_body* body)
{
    pl_frame_body all;
    uint64_t memberships = 0;
    if (pl_frame_living(body) == body->particles)
        return PLIANT_OK;
    for (uint32_t i = 0; i < body->particles; ++i)
    {
        if (pl_frame_is_merged(body, i) && count_of(body, i))
            return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: a merged particle has memberships",
                           name);
        memberships += count_of(body, pl_frame_successor(body, i));
    }
    if (memberships > UINT32_MAX)
        return pl_fail(PLIANT_ERROR_FORMAT, "%s is damaged: it claims too many memberships", name);
    if (!make_lists(body, memberships, &all))
    {
        free_lists(&all);
        return pl_fail_memory(8 * memberships);
    }
    for (uint32_t i = 0; i < body->particles; ++i)
    {
        uint32_t holder = pl_frame_successor(body, i);
        all.nearest[i] = body->nearest[holder];
        put_members(body, holder, count_of(body, holder), &all, i);
    }
    free_lists(body);
    *body = all;
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ frames */

void pl_gone_pack(const pl_frame_body* body, const float* vectors, float* less)
{
    for (uint32_t i = 0; i < body->particles; ++i)
        if (!pl_frame_is_merged(body, i))
        {
            memcpy(less, vectors + 3 * (size_t)i, 12);
            less += 3;
        }
}

/* Adds an offset mapped by the successor's clusters. */
static void add_mapped_offset(const pl_frame_body* b, uint32_t successor, const float* map,
                              const float* offset, float* vector)
{
    double sum[3] = {0, 0, 0};
    for (uint32_t m = b->begin[successor]; m < b->begin[successor + 1]; ++m)
    {
        const float* f = map + 9 * (size_t)b->cluster[m];
        for (int k = 0; k < 3; ++k)
            sum[k] +=
                b->weight[m] * ((double)f[3 * k] * offset[0] + (double)f[3 * k + 1] * offset[1] +
                                (double)f[3 * k + 2] * offset[2]);
    }
    for (int k = 0; k < 3; ++k)
        vector[k] += (float)sum[k];
}

void pl_gone_unpack(const pl_frame_body* body, const float* less, const float* map, float* vectors)
{
    for (uint32_t i = 0; i < body->particles; ++i)
        if (!pl_frame_is_merged(body, i))
        {
            memcpy(vectors + 3 * (size_t)i, less, 12);
            less += 3;
        }
    for (uint32_t i = 0; i < body->particles; ++i)
        if (pl_frame_is_merged(body, i))
        {
            uint32_t successor = body->successor[i];
            float* vector = vectors + 3 * (size_t)i;
            memcpy(vector, vectors + 3 * (size_t)successor, 12);
            add_mapped_offset(body, successor, map, body->offset + 3 * (size_t)i, vector);
        }
}
