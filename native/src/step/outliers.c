// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Members that a crack has left behind (Jones et al. 2016). A particle of several clusters leaves
 * one whose centre is farther away than
 *
 *   2 (1 + gamma) |F^p p|,   p its rest offset, gamma the strain limit,
 *
 * with F^p, since without it taffy would shed its members; half a spacing is added, since near the
 * centre of a cluster any distance is many times the one at rest.
 *
 * That alone leaves bodies hanging by threads: a few particles that two clusters still share hardly
 * stretch either of them, however far the two have gone. So a member also leaves when it is off
 * from where the cluster's own F has it by more than THREAD times the toughness of the cluster's
 * width, which is many times what a cluster bears before it is split.
 *
 * Only clusters beside cracks are looked at, a quarter of them in each substep.
 */
#include "fracture_parts.h"

#define THREAD 4
enum
{
    TURNS = 4
};

/* What is compared for all members of a cluster. */
typedef struct looked_at
{
    uint32_t cluster;
    vec3 x, rest;
    mat3 f, fp;
    double times, slack; /* of the distance at rest */
    double off;          /* from where F has a member */
} looked_at;

static mat3 matrix_of(const float* a)
{
    return (mat3){{{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}}};
}

static looked_at look_at(const pl_breaking* b, uint32_t c)
{
    const pl_clusters* k = &b->body->clusters;
    double tough = b->fracture->desc.toughness * fmax(0, k->toughness_factor[c]);
    return (looked_at){.cluster = c,
                       .x = v3_from(k->x[c]),
                       .rest = v3_from(k->rest[c]),
                       .f = matrix_of(k->f[c]),
                       .fp = b->body->plastic ? matrix_of(k->fp[c]) : m3_identity(),
                       .times = 2 * (1 + b->body->material.strain_limit),
                       .slack = .5 * b->body->spacing,
                       .off = fmax(THREAD * tough * k->width_max[c], .5 * b->body->spacing)};
}

/* How many times as far away as it may be; over 1: it leaves. */
static double farness(const looked_at* l, vec3 x, vec3 rest)
{
    vec3 arm = v3_sub(x, l->x), p = v3_sub(rest, l->rest);
    double far = v3_length(arm) / (l->times * (v3_length(m3_mulv(l->fp, p)) + l->slack));
    double off = v3_length(v3_sub(arm, m3_mulv(l->f, p))) / l->off;
    return fmax(far, off);
}

static bool note(pl_breaking* b, uint32_t id, uint32_t cluster, double far)
{
    pl_outlier_list* list = &b->outliers;
    pl_outlier* last = list->count ? &list->items[list->count - 1] : NULL;
    if (last && last->id == id) /* one cluster at a time: the one that is farthest off */
    {
        if (far > last->far)
            *last = (pl_outlier){id, cluster, far};
        return true;
    }
    if (!pl_grow((void**)&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return false;
    list->items[list->count++] = (pl_outlier){id, cluster, far};
    return true;
}

/* The members of a chunk, particle by particle. */
static bool look_at_chunk(pl_breaking* b, const pl_chunk* chunk, looked_at* rows, const bool* looks)
{
    const pl_particles* p = &b->body->particles;
    for (uint32_t s = chunk->slot_begin; s < chunk->slot_begin + 8 * chunk->block_count; ++s)
    {
        uint32_t block = (s - chunk->slot_begin) / 8, lane = s % 8, memberships = 0;
        uint32_t begin = chunk->block_begin[block], end = chunk->block_begin[block + 1];
        for (uint32_t e = begin; e < end; ++e)
            memberships += chunk->entry_kernel[8 * (size_t)e + lane] > 0;
        for (uint32_t e = begin; e < end && memberships > 1; ++e)
        {
            uint32_t row = chunk->entry_row[e];
            if (!looks[row] || !(chunk->entry_kernel[8 * (size_t)e + lane] > 0))
                continue;
            vec3 rest = chunk->own_rest ? v3(chunk->own_rest[24 * (size_t)e + lane],
                                             chunk->own_rest[24 * (size_t)e + 8 + lane],
                                             chunk->own_rest[24 * (size_t)e + 16 + lane])
                                        : v3(p->r[0][s], p->r[1][s], p->r[2][s]);
            double far = farness(&rows[row], v3(p->x[0][s], p->x[1][s], p->x[2][s]),
                                 v3_add(rest, v3_from(chunk->rest_origin)));
            if (far > 1 && !note(b, p->id[s], rows[row].cluster, far))
                return false;
        }
    }
    return true;
}

pl_status pl_outliers_find(pl_breaking* b)
{
    const pl_body* body = b->body;
    uint32_t most = 0;
    pl_status status = PLIANT_OK;
    b->outliers.count = 0;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        most = PL_MAX(most, body->chunks[c].row_count);
    looked_at* rows = PL_NEW(looked_at, most);
    bool* looks = PL_NEW(bool, most);
    if (!rows || !looks)
        status = pl_fail_memory(most * sizeof *rows);
    for (uint32_t c = 0; c < body->chunk_count && status == PLIANT_OK; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        bool any = false;
        for (uint32_t r = 0; r < chunk->row_count; ++r)
        {
            uint32_t cluster = chunk->rows[r];
            looks[r] = body->clusters.cracked[cluster] && cluster % TURNS == b->substep % TURNS;
            if (looks[r])
                rows[r] = look_at(b, cluster);
            any = any || looks[r];
        }
        if (any && !look_at_chunk(b, chunk, rows, looks))
            status = pl_fail_memory(b->outliers.count * sizeof *b->outliers.items);
    }
    pl_free(rows);
    pl_free(looks);
    return status;
}

pl_status pl_outliers_leave(pl_breaking* b)
{
    for (size_t i = 0; i < b->outliers.count; ++i)
    {
        PL_TRY(pl_member_leave(b, b->outliers.items[i].id, b->outliers.items[i].cluster));
        if (!pl_note_small(b, b->outliers.items[i].cluster))
            return pl_fail_memory(64);
    }
    return PLIANT_OK;
}
