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
 * Only clusters beside cracks are looked at, all of them in every fourth substep: a look whose
 * outcome has to be built into chunks and clusters costs far more than the look. Eight members at a
 * time are told apart from those that are surely near enough, in float and without roots; the few
 * that remain are measured.
 */
#include "fracture_parts.h"

#include <string.h>

#define THREAD 4
/* What rounding in float leaves of certainty. */
#define SURELY .998
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
    /* The same for eight at a time: squares that are surely allowed, and the way from the chunk's
     * rest origin. */
    float centre[3], from_rest[3], gradient[9], flow[9];
    float off_square, times_square, slack_square;
} looked_at;

static mat3 matrix_of(const float* a)
{
    return (mat3){{{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}}};
}

static looked_at look_at(const pl_breaking* b, const pl_chunk* chunk, uint32_t c)
{
    const pl_clusters* k = &b->body->clusters;
    double tough = b->fracture->desc.toughness * fmax(0, k->toughness_factor[c]);
    looked_at l = {.cluster = c,
                   .x = v3_from(k->x[c]),
                   .rest = v3_from(k->rest[c]),
                   .f = matrix_of(k->f[c]),
                   .fp = b->body->plastic ? matrix_of(k->fp[c]) : m3_identity(),
                   .times = 2 * (1 + b->body->material.strain_limit),
                   .slack = .5 * b->body->spacing,
                   .off = fmax(THREAD * tough * k->width_max[c], .5 * b->body->spacing)};
    for (int i = 0; i < 9; ++i)
    {
        l.gradient[i] = (float)l.f.m[i / 3][i % 3];
        l.flow[i] = (float)l.fp.m[i / 3][i % 3];
    }
    for (int i = 0; i < 3; ++i)
    {
        l.centre[i] = k->x[c][i];
        l.from_rest[i] = chunk->rest_origin[i] - k->rest[c][i];
    }
    l.off_square = (float)(SURELY * l.off * l.off);
    l.times_square = (float)(SURELY * l.times * l.times);
    l.slack_square = (float)(l.slack * l.slack);
    return l;
}

/* Whether any of the eight members of an entry is not surely near enough: (a + b)^2 is at least
 * a^2 + b^2 here. */
static bool is_suspect(const looked_at* l, const float kernel[8], const uint32_t memberships[8],
                       const float* const x[3], const float* const r[3])
{
    const float *f = l->gradient, *fp = l->flow;
    uint32_t suspects = 0;
    for (uint32_t lane = 0; lane < 8; ++lane)
    {
        float p0 = r[0][lane] + l->from_rest[0], p1 = r[1][lane] + l->from_rest[1];
        float p2 = r[2][lane] + l->from_rest[2];
        float a0 = x[0][lane] - l->centre[0], a1 = x[1][lane] - l->centre[1];
        float a2 = x[2][lane] - l->centre[2];
        float o0 = a0 - (f[0] * p0 + f[1] * p1 + f[2] * p2);
        float o1 = a1 - (f[3] * p0 + f[4] * p1 + f[5] * p2);
        float o2 = a2 - (f[6] * p0 + f[7] * p1 + f[8] * p2);
        float q0 = fp[0] * p0 + fp[1] * p1 + fp[2] * p2;
        float q1 = fp[3] * p0 + fp[4] * p1 + fp[5] * p2;
        float q2 = fp[6] * p0 + fp[7] * p1 + fp[8] * p2;
        float off = o0 * o0 + o1 * o1 + o2 * o2, far = a0 * a0 + a1 * a1 + a2 * a2;
        float rest = q0 * q0 + q1 * q1 + q2 * q2 + l->slack_square;
        uint32_t near = (uint32_t)(off < l->off_square) & (uint32_t)(far < l->times_square * rest);
        suspects |= (uint32_t)(kernel[lane] > 0) & (uint32_t)(memberships[lane] > 1) & ~near;
    }
    return (suspects & 1) != 0;
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
    if (!pl_grow((void**)&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return false;
    list->items[list->count++] = (pl_outlier){id, cluster, far};
    return true;
}

/* One cluster at a time: of those that a particle of the block is to leave, the farthest off. */
static void keep_farthest(pl_outlier_list* list, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < list->count; ++i)
    {
        pl_outlier one = list->items[i];
        size_t at = first;
        while (at < kept && list->items[at].id != one.id)
            ++at;
        if (at == kept)
            list->items[kept++] = one;
        else if (one.far > list->items[at].far)
            list->items[at] = one;
    }
    list->count = kept;
}

/* The eight members of an entry, one by one. */
static bool look_closely(pl_breaking* b, const pl_chunk* chunk, uint32_t slot, uint32_t entry,
                         const uint32_t memberships[8], const looked_at* l)
{
    const pl_particles* p = &b->body->particles;
    for (uint32_t lane = 0, s = slot; lane < 8; ++lane, ++s)
    {
        if (!(chunk->entry_kernel[8 * (size_t)entry + lane] > 0) || memberships[lane] < 2)
            continue;
        const float* own = chunk->own_rest ? chunk->own_rest + 24 * (size_t)entry + lane : NULL;
        vec3 rest = own ? v3(own[0], own[8], own[16]) : v3(p->r[0][s], p->r[1][s], p->r[2][s]);
        double far = farness(l, v3(p->x[0][s], p->x[1][s], p->x[2][s]),
                             v3_add(rest, v3_from(chunk->rest_origin)));
        if (far > 1 && !note(b, p->id[s], l->cluster, far))
            return false;
    }
    return true;
}

static void count_memberships(const pl_chunk* chunk, uint32_t block, uint32_t memberships[8])
{
    memset(memberships, 0, 8 * sizeof *memberships);
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
        for (uint32_t lane = 0; lane < 8; ++lane)
            memberships[lane] += chunk->entry_kernel[8 * (size_t)e + lane] > 0;
}

static bool look_at_block(pl_breaking* b, const pl_chunk* chunk, uint32_t block,
                          const looked_at* rows, const bool* looks)
{
    const pl_particles* p = &b->body->particles;
    uint32_t slot = chunk->slot_begin + 8 * block, memberships[8];
    const float* x[3] = {p->x[0] + slot, p->x[1] + slot, p->x[2] + slot};
    const float* r[3] = {p->r[0] + slot, p->r[1] + slot, p->r[2] + slot};
    size_t first = b->outliers.count;
    count_memberships(chunk, block, memberships);
    for (uint32_t e = chunk->block_begin[block]; e < chunk->block_begin[block + 1]; ++e)
    {
        const looked_at* row = &rows[chunk->entry_row[e]];
        for (uint32_t k = 0; k < 3 && chunk->own_rest; ++k)
            r[k] = chunk->own_rest + 24 * (size_t)e + 8 * (size_t)k;
        if (looks[chunk->entry_row[e]] &&
            is_suspect(row, chunk->entry_kernel + 8 * (size_t)e, memberships, x, r) &&
            !look_closely(b, chunk, slot, e, memberships, row))
            return false;
    }
    keep_farthest(&b->outliers, first);
    return true;
}

pl_status pl_outliers_find(pl_breaking* b)
{
    const pl_body* body = b->body;
    uint32_t most = 0;
    pl_status status = PLIANT_OK;
    b->outliers.count = 0;
    if (b->substep % TURNS)
        return PLIANT_OK;
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
            looks[r] = body->clusters.cracked[cluster] != 0;
            if (looks[r])
                rows[r] = look_at(b, chunk, cluster);
            any = any || looks[r];
        }
        for (uint32_t block = 0; any && block < chunk->block_count; ++block)
            if (chunk->block_begin[block + 1] - chunk->block_begin[block] > 1 &&
                !look_at_block(b, chunk, block, rows, looks))
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
