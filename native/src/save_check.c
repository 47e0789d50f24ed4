// SPDX-License-Identifier: GPL-3.0-or-later
#include "save_check.h"

#include <string.h>

/* Of one that has gone: that its successor lives, in the slot that it is said to be in. */
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
            if (!(fabsf(s->offset[i][k]) < 1e12f) || !(fabs(s->rest[i][k]) < 1e12))
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
        if (p->slot_of[i] >= p->slot_count || p->parent[i] > i ||
            !(p->id[p->slot_of[i]] == i || has_successor(p, i)))
            return false;
        living += p->id[p->slot_of[i]] == i;
    }
    if (p->count != living || !resampled_fit(p))
        return false;
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        if (p->id[s] != PL_NO_PARTICLE && (p->id[s] >= p->id_count || p->slot_of[p->id[s]] != s))
            return false;
        if (!(p->mass[s] >= 0 && p->mass[s] < 1e30f) ||
            (p->id[s] == PL_NO_PARTICLE && p->mass[s] > 0))
            return false;
        for (int k = 0; k < 3; ++k)
            if (!(fabsf(p->r[k][s]) < 1e12f))
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
    return is_positive(body->grid) && is_positive(body->spacing) &&
           is_positive(body->mass_quantum) && is_positive(body->mass);
}

/* One beyond the clusters that hold particles themselves. */
static uint32_t held_end(const pl_body* body)
{
    return body->level_begin[body->level_kind == PLIANT_LEVELS_NESTED ? 1 : body->level_count];
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
        if (!(fabsf(chunk->rest_origin[k]) < 1e12f))
            return false;
    for (uint32_t b = 0; b < chunk->slot_count / 8; ++b)
        if (chunk->block_begin[b] > chunk->block_begin[b + 1] ||
            chunk->block_begin[b + 1] > chunk->entry_count)
            return false;
    for (uint32_t e = 0; e < chunk->entry_count; ++e)
        if (chunk->entry_row[e] >= chunk->row_count)
            return false;
    for (uint32_t r = 0; r < chunk->row_count; ++r)
        if (chunk->rows[r] >= held_end(body))
            return false;
    return true;
}

bool pl_parts_fit(const pl_body* body)
{
    const pl_clusters* k = &body->clusters;
    if (!k->part || k->part_begin[0] != 0)
        return false;
    for (uint32_t c = 0; c < k->count; ++c)
    {
        if (k->fading[c] > PL_GOES || !(k->fade[c] >= 0 && k->fade[c] <= 1) ||
            k->part_begin[c] > k->part_begin[c + 1] ||
            k->part_begin[c + 1] > k->part_begin[k->count] ||
            (c < held_end(body) && k->part_begin[c] == k->part_begin[c + 1] && k->fade[c] > 0))
            return false;
        for (uint32_t p = k->part_begin[c]; p < k->part_begin[c + 1]; ++p)
            if (k->part[p].chunk >= body->chunk_count ||
                k->part[p].row >= body->chunks[k->part[p].chunk].row_count ||
                body->chunks[k->part[p].chunk].rows[k->part[p].row] != c)
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
    const pl_particles* p = &body->particles;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        uint64_t before = counted[0];
        for (uint32_t b = 0; b < chunk->block_count; ++b)
            for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
            {
                uint32_t level = level_of(body, chunk->rows[chunk->entry_row[e]]);
                for (uint32_t lane = 0; lane < 8; ++lane)
                    counted[level] += chunk->entry_kernel[8 * (size_t)e + lane] > 0 &&
                                      p->id[chunk->slot_begin + 8 * b + lane] != PL_NO_PARTICLE;
            }
        if (counted[0] - before != chunk->member_count) /* edits add these up */
            return false;
    }
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
    for (size_t i = 0; i < 3 * (size_t)body->mesh_vertex_count; ++i)
        if (!isfinite(body->mesh_vertices[i]))
            return false;
    return true;
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
