// SPDX-License-Identifier: GPL-3.0-or-later
/* Collects a region from a body's chunks (embed_region.h). */
#include "plasticity/embed_region.h"

#include "plasticity/embed.h"

#include <string.h>

/* A cluster with fewer members in the region does not determine their places. */
#define LEAST_MEMBERS 4

/* Initial capacity. */
#define LIKELY_BLOCKS 160

enum
{
    OF_SEED = 1, /* one of the seed's clusters */
    BESIDE = 2   /* shares a particle with one of them */
};

/* Minimum and maximum of eight, in halves so that the compiler vectorises by four. */
static void box_of(const float x[8], const float away[8], float* least, float* most)
{
    float low[4], high[4];
    for (int i = 0; i < 4; ++i)
    {
        float a = x[i] + away[i], b = x[i + 4] + away[i + 4];
        float c = x[i] - away[i], d = x[i + 4] - away[i + 4];
        low[i] = a < b ? a : b;
        high[i] = c > d ? c : d;
    }
    for (int half = 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i)
        {
            low[i] = low[i + half] < low[i] ? low[i + half] : low[i];
            high[i] = high[i + half] > high[i] ? high[i + half] : high[i];
        }
    *least = low[0];
    *most = high[0];
}

pl_status pl_block_boxes_make(const pl_body* body, pl_block_boxes* boxes)
{
    const pl_particles* p = &body->particles;
    uint32_t blocks = p->slot_count / 8;
    if (!pl_grow((void**)&boxes->box, &boxes->capacity, blocks, sizeof *boxes->box))
        return pl_fail_memory((size_t)blocks * sizeof *boxes->box);
    for (uint32_t b = 0; b < blocks; ++b)
    {
        const float* mass = p->mass + 8 * (size_t)b;
        float away[8]; /* infinite in free slots, which drops them from minimum and maximum */
        for (int i = 0; i < 8; ++i)
            away[i] = mass[i] > 0 ? 0 : INFINITY;
        for (int k = 0; k < 3; ++k)
            box_of(p->x[k] + 8 * (size_t)b, away, &boxes->box[b][k], &boxes->box[b][3 + k]);
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ memory */

static bool room(pl_embed_region* region, int which, void** items, size_t count, size_t size)
{
    return pl_grow(items, &region->memory.capacity[which], count, size);
}

static bool room_for_blocks(pl_embed_region* region, size_t count)
{
    struct pl_embed_region_memory* m = &region->memory;
    return room(region, 0, (void**)&m->block, count, sizeof *m->block) &&
           room(region, 1, (void**)&m->lanes, count, sizeof *m->lanes) &&
           room(region, 2, (void**)&m->block_begin, count + 1, sizeof *m->block_begin) &&
           room(region, 3, (void**)&m->per_weight, 8 * count, sizeof *m->per_weight) &&
           room(region, 4, (void**)&m->place, 24 * count, sizeof *m->place) &&
           room(region, 5, (void**)&region->lasting, 8 * count, sizeof *region->lasting) &&
           room(region, 6, (void**)&region->block_slot, count, sizeof *region->block_slot) &&
           room(region, 17, (void**)&m->mask_begin, count, sizeof *m->mask_begin) &&
           room(region, 15, (void**)&region->beside, count, sizeof *region->beside);
}

static bool room_for_rows(pl_embed_region* region, size_t count)
{
    struct pl_embed_region_memory* m = &region->memory;
    return room(region, 7, (void**)&region->cluster, count, sizeof *region->cluster) &&
           room(region, 8, (void**)&region->mean, count, sizeof *region->mean) &&
           room(region, 9, (void**)&m->row, count + 8, sizeof *m->row);
}

static bool room_for_entries(pl_embed_region* region, size_t count)
{
    struct pl_embed_region_memory* m = &region->memory;
    return room(region, 10, (void**)&m->entry_row, count, sizeof *m->entry_row) &&
           room(region, 11, (void**)&m->entry_weight, 8 * count, sizeof *m->entry_weight) &&
           room(region, 12, (void**)&m->entry_offset, 24 * count, sizeof *m->entry_offset);
}

static bool room_for_clusters(pl_embed_region* region, size_t count)
{
    struct pl_embed_region_memory* m = &region->memory;
    return room(region, 13, (void**)&m->ring, count, sizeof *m->ring) &&
           room(region, 14, (void**)&m->row_of, count, sizeof *m->row_of);
}

void pl_embed_region_free(pl_embed_region* region)
{
    struct pl_embed_region_memory* m = &region->memory;
    void* blocks[] = {m->block,        m->lanes,
                      m->block_begin,  m->entry_row,
                      m->entry_weight, m->entry_offset,
                      m->per_weight,   m->place,
                      m->row,          m->ring,
                      m->row_of,       region->lasting,
                      region->mean,    region->block_slot,
                      region->cluster, region->beside,
                      m->mask,         m->mask_begin};
    for (size_t i = 0; i < PL_COUNTOF(blocks); ++i)
        pl_free(blocks[i]);
    memset(region, 0, sizeof *region);
}

/* ------------------------------------------------------------------ particles of the region */

/* The lanes of a block that are within reach. */
static uint32_t lanes_within(const pl_body* body, uint32_t block, const float at[3], float square)
{
    const pl_particles* p = &body->particles;
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < 8; ++lane)
    {
        uint32_t slot = 8 * block + lane;
        float d[3], sum = 0;
        for (int k = 0; k < 3; ++k)
        {
            d[k] = p->x[k][slot] - at[k];
            sum += d[k] * d[k];
        }
        lanes |= (uint32_t)(sum <= square && p->mass[slot] > 0) << lane;
    }
    return lanes;
}

static bool box_within(const float box[6], const float at[3], float square)
{
    float sum = 0;
    for (int k = 0; k < 3; ++k)
    {
        float below = box[k] - at[k], above = at[k] - box[3 + k];
        float out = below > 0 ? below : above > 0 ? above : 0;
        sum += out * out;
    }
    return sum <= square; /* false for empty blocks: their box is inverted and infinite */
}

static bool find_blocks(const pl_body* body, const pl_block_boxes* boxes, const float at[3],
                        float square, pl_embed_region* region)
{
    struct pl_embed_region_memory* m = &region->memory;
    m->blocks = 0;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
        {
            uint32_t block = chunk->slot_begin / 8 + b, lanes;
            if (!box_within(boxes->box[block], at, square) ||
                !(lanes = lanes_within(body, block, at, square)))
                continue;
            if (!room_for_blocks(region, (size_t)m->blocks + 1))
                return false;
            m->block[m->blocks] = block;
            m->lanes[m->blocks] = lanes;
            region->block_slot[m->blocks++] = c; /* the chunk, until the slot replaces it */
        }
    }
    return true;
}

typedef struct span
{
    const pl_chunk* chunk;
    uint32_t begin, end; /* entries */
} span;

static span entries_of(const pl_body* body, uint32_t chunk, uint32_t block)
{
    const pl_chunk* c = &body->chunks[chunk];
    uint32_t b = block - c->slot_begin / 8;
    return (span){c, c->block_begin[b], c->block_begin[b + 1]};
}

/* Caches the member lanes of each entry of the blocks, which several passes read. */
static bool find_masks(const pl_body* body, pl_embed_region* region)
{
    struct pl_embed_region_memory* m = &region->memory;
    uint32_t count = 0;
    for (uint32_t b = 0; b < m->blocks; ++b)
    {
        span s = entries_of(body, region->block_slot[b], m->block[b]);
        m->mask_begin[b] = count;
        count += s.end - s.begin;
    }
    if (!room(region, 16, (void**)&m->mask, count, sizeof *m->mask))
        return false;
    for (uint32_t b = 0; b < m->blocks; ++b)
    {
        span s = entries_of(body, region->block_slot[b], m->block[b]);
        uint8_t* mask = m->mask + m->mask_begin[b];
        for (uint32_t e = s.begin; e < s.end; ++e)
            *mask++ = (uint8_t)pl_entry_lanes(s.chunk->entry_kernel + 8 * (size_t)e);
    }
    return true;
}

/* The lanes of a block, among those within reach, that are in a cluster of ring 1 .. most. */
static uint32_t lanes_in_ring(const pl_embed_region* region, span s, const uint8_t* mask,
                              uint32_t lanes, uint32_t most)
{
    uint32_t found = 0;
    for (uint32_t e = s.begin; e < s.end && found != lanes; ++e)
    {
        uint8_t ring = region->memory.ring[s.chunk->rows[s.chunk->entry_row[e]]];
        if (ring && ring <= most)
            found |= lanes & mask[e - s.begin];
    }
    return found;
}

/* Finds the seed's clusters and their neighbours, then keeps only the particles of these. */
static void find_rings(const pl_body* body, uint32_t slot, pl_embed_region* region)
{
    struct pl_embed_region_memory* m = &region->memory;
    memset(m->ring, 0, body->level_begin[1]);
    for (uint32_t b = 0; b < m->blocks; ++b)
    {
        if (m->block[b] != slot / 8)
            continue;
        span s = entries_of(body, region->block_slot[b], m->block[b]);
        for (uint32_t e = s.begin; e < s.end; ++e)
            if (s.chunk->entry_kernel[8 * (size_t)e + slot % 8] > 0)
                m->ring[s.chunk->rows[s.chunk->entry_row[e]]] = OF_SEED;
    }
    for (uint32_t b = 0; b < m->blocks; ++b)
    {
        span s = entries_of(body, region->block_slot[b], m->block[b]);
        const uint8_t* mask = m->mask + m->mask_begin[b];
        uint32_t lanes = lanes_in_ring(region, s, mask, m->lanes[b], OF_SEED);
        for (uint32_t e = s.begin; e < s.end && lanes; ++e)
        {
            uint8_t* ring = &m->ring[s.chunk->rows[s.chunk->entry_row[e]]];
            if (!*ring && (lanes & mask[e - s.begin]))
                *ring = BESIDE;
        }
    }
    uint32_t kept = 0;
    for (uint32_t b = 0; b < m->blocks; ++b)
    {
        span s = entries_of(body, region->block_slot[b], m->block[b]);
        const uint8_t* mask = m->mask + m->mask_begin[b];
        uint32_t lanes = lanes_in_ring(region, s, mask, m->lanes[b], BESIDE);
        if (!lanes)
            continue;
        if (m->block[b] == slot / 8)
            region->seed = 8 * kept + slot % 8;
        m->block[kept] = m->block[b];
        m->lanes[kept] = lanes;
        region->beside[kept] = lanes_in_ring(region, s, mask, lanes, OF_SEED);
        m->mask_begin[kept] = m->mask_begin[b];
        region->block_slot[kept++] = region->block_slot[b];
    }
    m->blocks = kept;
}

/* ------------------------------------------------------------------ rows and entries */

/* Numbers the clusters that have enough members in the region. */
static bool number_rows(const pl_body* body, pl_embed_region* region)
{
    struct pl_embed_region_memory* m = &region->memory;
    memset(m->row_of, 0, sizeof *m->row_of * body->level_begin[1]);
    m->entries = m->rows = 0;
    for (uint32_t b = 0; b < m->blocks; ++b)
    {
        span s = entries_of(body, region->block_slot[b], m->block[b]);
        const uint8_t* mask = m->mask + m->mask_begin[b];
        for (uint32_t e = s.begin; e < s.end; ++e)
            m->row_of[s.chunk->rows[s.chunk->entry_row[e]]] +=
                (uint32_t)__builtin_popcount(m->lanes[b] & mask[e - s.begin]);
        m->entries += s.end - s.begin;
    }
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        bool wanted = m->row_of[c] >= LEAST_MEMBERS && m->ring[c];
        if (wanted && !room_for_rows(region, (size_t)m->rows + 1))
            return false;
        if (wanted)
            region->cluster[m->rows++] = c;
        m->row_of[c] = wanted ? m->rows : 0;
    }
    return room_for_entries(region, m->entries) && m->rows < UINT16_MAX;
}

/* restrict lets the compiler vectorise this by eight. */
static void add_lanes(const float* restrict from, float by, float* restrict to)
{
    for (uint32_t lane = 0; lane < 8; ++lane)
        to[lane] = from[lane] + by;
}

/* The weights and offsets of one entry; "in" is 1 for the lanes that are in the region, or 0. */
static void fill_entry(const pl_body* body, const pl_chunk* chunk, uint32_t entry, uint32_t slot,
                       const float in[8], float* weight, float* offset)
{
    const pl_particles* p = &body->particles;
    const pl_clusters* k = &body->clusters;
    uint32_t c = chunk->rows[chunk->entry_row[entry]];
    const float *kernel = chunk->entry_kernel + 8 * (size_t)entry, *fp = k->fp[c];
    const float* own = chunk->own_rest ? chunk->own_rest + 24 * (size_t)entry : NULL;
    float per = (float)(p->count / body->mass) * k->fade[c], r[3][8], out[8];
    for (int j = 0; j < 3; ++j)
        add_lanes(own ? own + 8 * j : p->r[j] + slot, chunk->rest_origin[j] - k->rest[c][j], r[j]);
    const float *mass = p->mass + slot, *norm = p->norm + slot;
    for (uint32_t lane = 0; lane < 8; ++lane)
        out[lane] = per * mass[lane] * norm[lane] * kernel[lane] * in[lane];
    memcpy(weight, out, sizeof out);
    for (int j = 0; j < 3; ++j)
    {
        const float a = fp[3 * j], b = fp[3 * j + 1], e = fp[3 * j + 2];
        for (uint32_t lane = 0; lane < 8; ++lane)
            out[lane] = a * r[0][lane] + b * r[1][lane] + e * r[2][lane];
        memcpy(offset + 8 * (size_t)j, out, sizeof out);
    }
}

/* Weights, offsets, and each lane's kernel sum over the clusters that stay. */
static void fill_blocks(const pl_body* body, pl_embed_region* region)
{
    struct pl_embed_region_memory* m = &region->memory;
    const pl_particles* p = &body->particles;
    float at[3];
    v3_store(region->origin, at);
    uint32_t n = 0;
    for (uint32_t b = 0; b < m->blocks; ++b)
    {
        uint32_t slot = 8 * m->block[b];
        span s = entries_of(body, region->block_slot[b], m->block[b]);
        const uint8_t* mask = m->mask + m->mask_begin[b];
        float *lasting = region->lasting + 8 * (size_t)b, sum[8] = {0}, in[8];
        for (uint32_t lane = 0; lane < 8; ++lane)
            in[lane] = (float)(m->lanes[b] >> lane & 1);
        memset(lasting, 0, 8 * sizeof *lasting);
        m->block_begin[b] = n;
        for (uint32_t e = s.begin; e < s.end; ++e)
        {
            uint32_t c = s.chunk->rows[s.chunk->entry_row[e]];
            for (uint32_t lane = 0; lane < 8 && body->clusters.fading[c] != PL_GOES; ++lane)
                lasting[lane] += s.chunk->entry_kernel[8 * (size_t)e + lane];
            if (!m->row_of[c] || !(mask[e - s.begin] & m->lanes[b]))
                continue;
            float* weight = m->entry_weight + 8 * (size_t)n;
            fill_entry(body, s.chunk, e, slot, in, weight, m->entry_offset + 24 * (size_t)n);
            for (uint32_t lane = 0; lane < 8; ++lane)
                sum[lane] += weight[lane];
            m->entry_row[n++] = (uint16_t)(m->row_of[c] - 1);
        }
        for (uint32_t lane = 0; lane < 8; ++lane)
        {
            m->per_weight[8 * (size_t)b + lane] = sum[lane] > 0 ? 1 / sum[lane] : 0;
            for (int k = 0; k < 3; ++k)
                m->place[24 * (size_t)b + 8 * (size_t)k + lane] = p->x[k][slot + lane] - at[k];
        }
        region->block_slot[b] = slot;
    }
    m->block_begin[m->blocks] = n;
    m->entries = n;
}

/* The sum of w q over eight lanes, in a fixed order. */
static float sum_lanes(const float w[8], const float q[8])
{
    float a[4];
    for (int i = 0; i < 4; ++i)
        a[i] = w[i] * q[i] + w[i + 4] * q[i + 4];
    return (a[0] + a[2]) + (a[1] + a[3]);
}

/* Centres q, so that m w q sums to 0 in each row. */
static void centre_rows(pl_embed_region* region)
{
    struct pl_embed_region_memory* m = &region->memory;
    memset(region->mean, 0, m->rows * sizeof *region->mean);
    memset(m->row, 0, (((size_t)m->rows + 7) / 8 * 8) * sizeof *m->row);
    for (uint32_t n = 0; n < m->entries; ++n)
    {
        const float *w = m->entry_weight + 8 * (size_t)n, *q = m->entry_offset + 24 * (size_t)n;
        static const float one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        double* mean = region->mean[m->entry_row[n]];
        for (int k = 0; k < 3; ++k)
            mean[k] += (double)sum_lanes(w, q + 8 * k);
        mean[3] += (double)sum_lanes(w, one);
    }
    for (uint32_t r = 0; r < m->rows; ++r)
    {
        for (int k = 0; k < 3; ++k)
            region->mean[r][k] /= region->mean[r][3];
        m->row[r][PL_EMBED_MASS] = (float)region->mean[r][3];
    }
    for (uint32_t n = 0; n < m->entries; ++n)
    {
        const double* mean = region->mean[m->entry_row[n]];
        float *q = m->entry_offset + 24 * (size_t)n, moved[8];
        for (int k = 0; k < 3; ++k)
        {
            add_lanes(q + 8 * (size_t)k, -(float)mean[k], moved);
            memcpy(q + 8 * (size_t)k, moved, sizeof moved);
        }
    }
}

pl_status pl_embed_region_collect(const pl_body* body, const pl_block_boxes* boxes, uint32_t slot,
                                  double reach, pl_embed_region* region)
{
    const pl_particles* p = &body->particles;
    struct pl_embed_region_memory* m = &region->memory;
    const float at[3] = {p->x[0][slot], p->x[1][slot], p->x[2][slot]};
    bool fine = room_for_clusters(region, body->level_begin[1]) && room_for_rows(region, 1) &&
                room_for_blocks(region, LIKELY_BLOCKS);
    if (!fine || !find_blocks(body, boxes, at, (float)(reach * reach), region) ||
        !find_masks(body, region))
        return pl_fail_memory((size_t)m->blocks * 200);
    region->origin = v3_from(at);
    find_rings(body, slot, region);
    if (!number_rows(body, region))
        return pl_fail_memory((size_t)m->entries * 130);
    fill_blocks(body, region);
    centre_rows(region);
    region->embedding = (pl_embedding){.block_count = m->blocks,
                                       .row_count = m->rows,
                                       .block_begin = m->block_begin,
                                       .entry_row = m->entry_row,
                                       .entry_weight = m->entry_weight,
                                       .entry_offset = m->entry_offset,
                                       .per_weight = m->per_weight,
                                       .place = m->place,
                                       .row = m->row};
    return PLIANT_OK;
}
