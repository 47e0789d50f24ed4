// SPDX-License-Identifier: GPL-3.0-or-later
#include "snapshot/check.h"

#include <string.h>

enum
{
    MOST_ROWS = 1 << 16 /* of a chunk: entries have 16-bit row indices */
};
static const uint64_t MOST_QUANTA = 1ull << 41; /* a body has about 2^40 */

bool pl_numbers_fit(const void* numbers, size_t count, size_t size)
{
    const float* single = numbers;
    const double* precise = numbers;
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(size == sizeof *precise ? precise[i] : single[i]))
            return false;
    return true;
}

/* Whether the successor of a merged particle exists, in the slot that is stored for it. */
static bool has_successor(const pl_particles* p, uint32_t id)
{
    const pl_resampled* s = &p->resampled;
    uint32_t successor = id < s->count ? s->successor[id] : id;
    return successor > id && successor < p->id_count && p->slot_of[successor] == p->slot_of[id] &&
           p->id[p->slot_of[id]] == successor;
}

static bool resampled_fit(const pl_particles* p)
{
    const pl_resampled* s = &p->resampled;
    if (s->count > p->id_count)
        return false;
    for (uint32_t i = 0; i < s->count; ++i)
    {
        bool lives = p->id[p->slot_of[i]] == i;
        if (lives ? s->successor[i] != i : !has_successor(p, i))
            return false;
        for (int k = 0; k < 3; ++k)
            if (!(fabsf(s->offset[i][k]) < 1e12f) || !(fabs(s->rest[i][k]) < PL_FARTHEST_REST))
                return false;
        for (int k = 0; k < 6; ++k)
            if (!(fabsf(s->piece[i][k]) < 1e12f))
                return false;
    }
    return true;
}

bool pl_particles_fit(const pl_particles* p)
{
    uint32_t living = 0;
    if (p->slot_count % 8 != 0 || p->slot_count >= 1u << 31 || p->id_count == 0)
        return false;
    for (uint32_t i = 0; i < p->id_count; ++i)
    {
        bool copy = i > 0 && p->parent[i - 1] < i - 1; /* after the first copy all are copies */
        if (p->slot_of[i] >= p->slot_count || p->parent[i] > i || (copy && p->parent[i] == i) ||
            !(p->id[p->slot_of[i]] == i || has_successor(p, i)))
            return false;
        living += p->id[p->slot_of[i]] == i;
    }
    if (p->count != living || !resampled_fit(p))
        return false;
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        bool lives = p->id[s] != PL_NO_PARTICLE;
        if (lives && (p->id[s] >= p->id_count || p->slot_of[p->id[s]] != s))
            return false;
        if (!(p->mass[s] >= 0 && isfinite(p->mass[s])) || (p->quanta[s] > 0) != lives)
            return false;
        for (int k = 0; k < 3; ++k)
            if (!(fabsf(p->r[k][s]) < 2 * PL_FARTHEST_REST))
                return false;
    }
    return true;
}

static bool is_positive(double value)
{
    return value > 0 && isfinite(value);
}

bool pl_levels_fit(const pl_body* body)
{
    if (body->level_begin[0] != 0 || body->level_begin[body->level_count] != body->clusters.count)
        return false;
    for (uint32_t l = 0; l < body->level_count; ++l)
        if (body->level_begin[l] >= body->level_begin[l + 1])
            return false;
    for (uint32_t c = 0; c < body->clusters.count; ++c)
        if (body->clusters.rank[c] > 3)
            return false;
    return is_positive(body->grid) && is_positive(body->spacing) && body->spacing <= 1e9 &&
           is_positive(body->mass_quantum) && is_positive(body->mass);
}

/* Masses are whole quanta, and their sum is the body's mass. */
bool pl_masses_fit(const pl_body* body)
{
    const pl_particles* p = &body->particles;
    uint64_t all = 0;
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        if (p->quanta[s] > MOST_QUANTA || (all += p->quanta[s]) > MOST_QUANTA ||
            p->mass[s] != (float)((double)p->quanta[s] * body->mass_quantum))
            return false;
    }
    return body->mass == (double)all * body->mass_quantum;
}

/* End of the clusters whose members are particles. */
static uint32_t held_end(const pl_body* body)
{
    return body->level_begin[body->level_kind == PLIANT_LEVELS_NESTED ? 1 : body->level_count];
}

/* A cluster has one entry in a block, and only particles are members. */
static bool entries_fit(const pl_body* body, const pl_chunk* chunk)
{
    uint64_t seen[MOST_ROWS / 64] = {0};
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        const uint32_t* id = body->particles.id + chunk->slot_begin + 8 * (size_t)b;
        uint32_t begin = chunk->block_begin[b], end = chunk->block_begin[b + 1];
        for (uint32_t e = begin; e < end; ++e)
        {
            uint32_t row = chunk->entry_row[e];
            const float* kernel = chunk->entry_kernel + 8 * (size_t)e;
            if (row >= chunk->row_count || seen[row / 64] >> row % 64 & 1)
                return false;
            seen[row / 64] |= 1ull << row % 64;
            for (uint32_t lane = 0; lane < 8; ++lane)
                if (!(kernel[lane] >= 0 && isfinite(kernel[lane])) ||
                    (kernel[lane] > 0 && id[lane] == PL_NO_PARTICLE))
                    return false;
        }
        for (uint32_t e = begin; e < end; ++e)
            seen[chunk->entry_row[e] / 64] = 0;
    }
    for (size_t i = 0; i < 24 * (size_t)chunk->entry_count && chunk->own_rest; ++i)
        if (!(fabsf(chunk->own_rest[i]) < 2 * PL_FARTHEST_REST))
            return false;
    return true;
}

bool pl_chunk_fits(const pl_body* body, const pl_chunk* chunk, const pl_chunk* before)
{
    uint64_t end = (uint64_t)chunk->slot_begin + chunk->slot_count;
    if (chunk->slot_begin % 8 != 0 || chunk->slot_count % 8 != 0 || chunk->slot_count == 0 ||
        end > body->particles.slot_count || chunk->block_count > chunk->slot_count / 8 ||
        chunk->middle_slot < chunk->slot_begin || chunk->middle_slot >= end ||
        chunk->row_count > UINT16_MAX || chunk->block_begin[0] != 0 ||
        (before && chunk->slot_begin < before->slot_begin + before->slot_count))
        return false;
    for (int k = 0; k < 3; ++k)
        if (!(fabsf(chunk->rest_origin[k]) < PL_FARTHEST_REST))
            return false;
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
        if (chunk->block_begin[b] > chunk->block_begin[b + 1] ||
            chunk->block_begin[b + 1] > chunk->entry_count)
            return false;
    if (chunk->block_begin[chunk->block_count] != chunk->entry_count ||
        chunk->block_begin[chunk->slot_count / 8] != chunk->entry_count)
        return false;
    for (uint32_t r = 0; r < chunk->row_count; ++r)
        if (chunk->rows[r] >= held_end(body))
            return false;
    return entries_fit(body, chunk);
}

bool pl_parts_fit(const pl_body* body)
{
    const pl_clusters* k = &body->clusters;
    uint64_t rows = 0;
    if (!k->part || k->part_begin[0] != 0)
        return false;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        rows += body->chunks[c].row_count;
    if (k->part_begin[k->count] != rows)
        return false;
    for (uint32_t c = 0; c < k->count; ++c)
    {
        uint32_t begin = k->part_begin[c], end = k->part_begin[c + 1];
        if (k->fading[c] > PL_GOES || !(k->fade[c] >= 0 && k->fade[c] <= 1) || begin > end ||
            end > rows || (c < held_end(body) && (begin < end) != (k->fade[c] > 0)))
            return false;
        for (uint32_t p = begin; p < end; ++p)
            if (k->part[p].chunk >= body->chunk_count ||
                k->part[p].row >= body->chunks[k->part[p].chunk].row_count ||
                body->chunks[k->part[p].chunk].rows[k->part[p].row] != c ||
                (p > begin && k->part[p].chunk <= k->part[p - 1].chunk))
                return false;
    }
    return true;
}

/* Links of cluster c: from a level to the next coarser one, sorted by coarse and listed by fine. */
static bool links_of_fit(const pl_body* body, uint32_t level, uint32_t c)
{
    const pl_links* links = &body->links;
    uint32_t begin = links->by_coarse_begin[c], end = links->by_coarse_begin[c + 1];
    if (begin > end || end > links->count || (begin < end && level == 0))
        return false;
    for (uint32_t i = begin; i < end; ++i)
        if (links->coarse[i] != c || links->fine[i] < body->level_begin[level - 1] ||
            links->fine[i] >= body->level_begin[level])
            return false;
    begin = links->by_fine_begin[c], end = links->by_fine_begin[c + 1];
    bool coarsest = level + 1 == body->level_count;
    bool dead = !(body->clusters.fade[c] > 0);
    if (begin > end || end > links->count || (begin == end) != (coarsest || dead))
        return false;
    for (uint32_t n = begin; n < end; ++n)
        if (links->by_fine[n] >= links->count || links->fine[links->by_fine[n]] != c)
            return false;
    return true;
}

bool pl_links_fit(const pl_body* body)
{
    const pl_links* links = &body->links;
    if (body->level_kind != PLIANT_LEVELS_NESTED)
        return links->count == 0;
    if (!links->fine || !links->coarse || !links->u || !links->b || !links->q ||
        !links->by_coarse_begin || !links->by_fine_begin || !links->by_fine)
        return false;
    for (uint32_t l = 0; l < body->level_count; ++l)
        for (uint32_t c = body->level_begin[l]; c < body->level_begin[l + 1]; ++c)
            if (!links_of_fit(body, l, c))
                return false;
    return links->by_coarse_begin[0] == 0 &&
           links->by_coarse_begin[body->clusters.count] == links->count &&
           links->by_fine_begin[0] == 0 &&
           links->by_fine_begin[body->clusters.count] == links->count;
}

static uint32_t level_of(const pl_body* body, uint32_t cluster)
{
    uint32_t level = 0;
    while (cluster >= body->level_begin[level + 1])
        ++level;
    return level;
}

bool pl_memberships_fit(const pl_body* body)
{
    uint64_t counted[PLIANT_MAX_LEVELS] = {0};
    uint32_t particles = 0;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        uint64_t before = counted[0];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
        {
            const float* norm = body->particles.norm + chunk->slot_begin + 8 * (size_t)b;
            uint32_t held = 0;
            double sum[8] = {0};
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            {
                uint32_t cluster = chunk->rows[chunk->entry_row[e]];
                uint32_t level = level_of(body, cluster);
                const float* kernel = chunk->entry_kernel + 8 * (size_t)e;
                uint32_t lanes = pl_entry_lanes(kernel);
                counted[level] += (uint32_t)__builtin_popcount(lanes);
                held |= level == 0 ? lanes : 0;
                for (uint32_t lane = 0; lane < 8 && level == 0; ++lane)
                    sum[lane] += (double)kernel[lane] * body->clusters.fade[cluster];
            }
            particles += (uint32_t)__builtin_popcount(held);
            for (uint32_t lane = 0; lane < 8; ++lane) /* weights sum to 1 up to rounding */
                if (held >> lane & 1 ? !(fabs(sum[lane] * norm[lane] - 1) < 1e-3) : norm[lane] != 0)
                    return false;
        }
        if (counted[0] - before != chunk->member_count) /* edits sum these */
            return false;
    }
    if (particles != body->particles.count) /* a particle without a cluster */
        return false;
    for (uint32_t l = 1; l < body->level_count && body->level_kind == PLIANT_LEVELS_NESTED; ++l)
        counted[l] = body->links.by_coarse_begin[body->level_begin[l + 1]] -
                     body->links.by_coarse_begin[body->level_begin[l]];
    return memcmp(counted, body->level_memberships, sizeof *counted * body->level_count) == 0;
}

bool pl_optional_fit(const pl_body* body)
{
    const pl_pins* pins = &body->pins;
    bool pinned = pins->frequency != NULL, pushed = body->acceleration[0] != NULL;
    for (int k = 0; k < 3; ++k)
        if ((pins->from[k] != NULL) != pinned || (pins->to[k] != NULL) != pinned ||
            (body->acceleration[k] != NULL) != pushed)
            return false;
    if (!pinned && (pins->any || pins->follow || pins->has_targets))
        return false;
    if ((!body->mesh_vertices && body->mesh_vertex_count) ||
        (!body->mesh_triangles && body->mesh_triangle_count))
        return false;
    return true; /* the mesh itself needs no check: callers may pass any vertices and corners */
}

bool pl_collider_fits(const pl_collider* c)
{
    pliant_collider_desc desc = {.size = sizeof desc,
                                 .shape = c->shape,
                                 .pose = c->from,
                                 .friction = c->friction,
                                 .restitution = c->restitution,
                                 .thickness = c->thickness,
                                 .inside_out = c->inside_out};
    for (int k = 0; k < 3; ++k)
    {
        desc.surface_velocity[k] = c->surface_velocity[k];
        desc.surface_spin[k] = c->surface_spin[k];
        desc.surface_centre[k] = c->surface_centre[k];
    }
    if (pl_collider_check(&desc) != PLIANT_OK)
        return false;
    desc.pose = c->to;
    return pl_collider_check(&desc) == PLIANT_OK;
}

bool pl_place_fits(const pl_scene* scene)
{
    for (int k = 0; k < 3; ++k)
        if (!isfinite(scene->gravity[k]))
            return false;
    bool begun = scene->substep_of_frame > 0;
    return scene->substeps <= 100000 && isfinite(scene->time) && isfinite(scene->frame_dt) &&
           (!begun || (scene->substep_of_frame < scene->substeps && scene->frame_dt > 0));
}
