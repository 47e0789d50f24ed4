// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Keeps a body connected: a cluster that goes may be the last one with members on both sides of a
 * thin place. The clusters that stay form connected components by shared particles (union-find). A
 * cluster that goes is held while it has members in more than one of these components.
 */
#include "base/union_find.h"
#include "plasticity/recluster_internal.h"

#include <string.h>

/* The first pass reads every STRIDE-th block, which is enough where the body is connected. */
#define STRIDE 4

static uint32_t cluster_of(const pl_chunk* chunk, uint32_t entry)
{
    return chunk->rows[chunk->entry_row[entry]];
}

/* of[lane]: one of the lane's clusters that stay, or UINT32_MAX. With "parent", unites all of them.
 * Returns the number of unions. */
static uint32_t unite_lanes(const pl_body* body, const pl_chunk* chunk, uint32_t block,
                            uint32_t* parent, uint32_t of[8])
{
    uint32_t united = 0;
    memset(of, 0xff, 8 * sizeof *of);
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        uint32_t c = cluster_of(chunk, e), last = UINT32_MAX;
        for (uint32_t lane = 0; lane < 8 && body->clusters.fading[c] != PL_GOES; ++lane)
        {
            if (!(chunk->entry_kernel[8 * (size_t)e + lane] > 0))
                continue;
            if (of[lane] == UINT32_MAX)
                of[lane] = c;
            else if (parent && of[lane] != last)
            {
                last = of[lane];
                united += pl_union_find_root(parent, last) != pl_union_find_root(parent, c);
                pl_union_find_unite(parent, last, c);
            }
        }
    }
    return united;
}

/* Whether the clusters that stay form one component; "parent" is their union-find forest. */
static bool is_connected(const pl_body* body, uint32_t* parent)
{
    uint32_t groups = 0, of[8];
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        parent[c] = c;
        groups += body->clusters.fade[c] > 0 && body->clusters.fading[c] != PL_GOES;
    }
    for (uint32_t first = 0; first < STRIDE && groups > 1; ++first)
        for (uint32_t i = 0; i < body->chunk_count && groups > 1; ++i)
            for (uint32_t b = first; b < body->chunks[i].block_count && groups > 1; b += STRIDE)
                groups -= unite_lanes(body, &body->chunks[i], b, parent, of);
    return groups <= 1;
}

pl_status pl_keep_connected(const pl_body* body, uint8_t* held)
{
    uint32_t finest = body->level_begin[1], of[8];
    uint32_t* parent = PL_NEW(uint32_t, 2 * (size_t)finest);
    if (!parent)
        return pl_fail_memory(2 * finest * sizeof *parent);
    uint32_t* group = parent + finest; /* by cluster that goes: a component with members of it */
    memset(group, 0xff, finest * sizeof *group);
    bool whole = is_connected(body, parent);
    for (uint32_t i = 0; i < body->chunk_count && !whole; ++i)
    {
        const pl_chunk* chunk = &body->chunks[i];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
        {
            unite_lanes(body, chunk, b, NULL, of);
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            {
                uint32_t c = cluster_of(chunk, e);
                for (uint32_t lane = 0; lane < 8 && body->clusters.fading[c] == PL_GOES; ++lane)
                {
                    if (!(chunk->entry_kernel[8 * (size_t)e + lane] > 0) || of[lane] == UINT32_MAX)
                        continue;
                    uint32_t root = pl_union_find_root(parent, of[lane]);
                    held[c] |= group[c] != UINT32_MAX && group[c] != root;
                    group[c] = root;
                }
            }
        }
    }
    pl_free(parent);
    return PLIANT_OK;
}
