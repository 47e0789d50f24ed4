// SPDX-License-Identifier: GPL-3.0-or-later
/* Reading bodies: every channel, by external id or cluster index. */
#include "api/api.h"
#include "body/memberships.h"
#include "fracture/fracture.h"

#include <string.h>

static const double ZERO[3] = {0, 0, 0};

void pl_body_positions(const pl_body* body, const double origin[3], float* out)
{
    const pl_particles* p = &body->particles;
    const double* to = origin ? origin : ZERO;
    for (uint32_t id = 0; id < p->id_count; ++id)
    {
        float x[3] = {0, 0, 0};
        if (!pl_lives(p, id))
            pl_merged_offset(body, id, pl_cluster_gradient, x);
        for (int k = 0; k < 3; ++k)
            out[3 * (size_t)id + k] =
                (float)((double)p->x[k][p->slot_of[id]] + x[k] + (body->origin[k] - to[k]));
    }
}

void pl_body_velocities(const pl_body* body, float* out)
{
    const pl_particles* p = &body->particles;
    for (uint32_t id = 0; id < p->id_count; ++id)
    {
        float v[3] = {0, 0, 0};
        if (!pl_lives(p, id))
            pl_merged_offset(body, id, pl_cluster_rate, v);
        for (int k = 0; k < 3; ++k)
            out[3 * (size_t)id + k] = p->v[k][p->slot_of[id]] + v[k];
    }
}

void pl_body_rest(const pl_body* body, const double origin[3], float* out)
{
    const pl_particles* p = &body->particles;
    const double* to = origin ? origin : ZERO;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        for (uint32_t s = chunk->slot_begin; s < chunk->slot_begin + chunk->slot_count; ++s)
            if (p->id[s] != PL_NO_PARTICLE)
                for (int k = 0; k < 3; ++k)
                    out[3 * (size_t)p->id[s] + k] =
                        (float)((double)p->r[k][s] + chunk->rest_origin[k] +
                                (body->rest_origin[k] - to[k]));
    }
    for (uint32_t id = 0; id < p->resampled.count; ++id)
        for (int k = 0; k < 3; ++k)
            out[3 * (size_t)id + k] =
                (float)(p->resampled.rest[id][k] + (body->rest_origin[k] - to[k]));
}

/* ------------------------------------------------------------------ memberships */

typedef struct deformation
{
    const pl_body* body;
    float *f, *rate;
    float (*cluster)[9], (*cluster_rate)[9];
} deformation;

static void add_deformation(void* user, uint32_t cluster, uint32_t slot, float weight)
{
    const deformation* d = user;
    size_t at = 9 * (size_t)d->body->particles.id[slot];
    for (int j = 0; j < 9; ++j)
    {
        if (d->f)
            d->f[at + j] += weight * d->cluster[cluster][j];
        if (d->rate)
            d->rate[at + j] += weight * d->cluster_rate[cluster][j];
    }
}

pl_status pl_body_deformation(const pl_body* body, float* f, float* rate)
{
    uint32_t clusters = body->level_begin[1];
    deformation d = {body, f, rate, pl_alloc(clusters, 36), pl_alloc(clusters, 36)};
    pl_status status = PLIANT_OK;
    if (!d.cluster || !d.cluster_rate)
        status = pl_fail_memory((size_t)clusters * 72);
    else
    {
        if (f)
            memset(f, 0, sizeof(float) * 9 * body->particles.id_count);
        if (rate)
            memset(rate, 0, sizeof(float) * 9 * body->particles.id_count);
        for (uint32_t c = 0; c < clusters; ++c)
        {
            pl_cluster_gradient(body, c, d.cluster[c]);
            if (rate)
                pl_cluster_rate(body, c, d.cluster_rate[c]);
        }
        pl_each_member(body, 0, clusters, add_deformation, &d);
        if (f)
            pl_merged_inherit(body, 36, f);
        if (rate)
            pl_merged_inherit(body, 36, rate);
    }
    pl_free(d.cluster);
    pl_free(d.cluster_rate);
    return status;
}

/* Largest singular value of a 3x3 matrix: the root of the largest eigenvalue of f^T f. */
float pl_largest_stretch(const float f[9])
{
    double c[6] = {0}; /* xx yy zz xy yz zx of f^T f */
    for (int i = 0; i < 3; ++i)
    {
        double x = f[3 * i], y = f[3 * i + 1], z = f[3 * i + 2];
        c[0] += x * x, c[1] += y * y, c[2] += z * z;
        c[3] += x * y, c[4] += y * z, c[5] += z * x;
    }
    double mean = (c[0] + c[1] + c[2]) / 3;
    double off = c[3] * c[3] + c[4] * c[4] + c[5] * c[5];
    double a = c[0] - mean, b = c[1] - mean, d = c[2] - mean;
    double p = sqrt((a * a + b * b + d * d + 2 * off) / 6);
    if (!(p > 0))
        return (float)sqrt(mean);
    double det = a * (b * d - c[4] * c[4]) - c[3] * (c[3] * d - c[4] * c[5]) +
                 c[5] * (c[3] * c[4] - b * c[5]);
    double r = det / (2 * p * p * p);
    return (float)sqrt(mean + 2 * p * cos(acos(r < -1 ? -1 : r > 1 ? 1 : r) / 3));
}

static pl_status read_stretch(const pl_body* body, float* out)
{
    float* f = PL_NEW(float, (size_t)body->particles.id_count * 9);
    if (!f)
        return pl_fail_memory((size_t)body->particles.id_count * 36);
    pl_status status = pl_body_deformation(body, f, NULL);
    for (uint32_t i = 0; i < body->particles.id_count; ++i)
        out[i] = pl_largest_stretch(f + 9 * (size_t)i);
    pl_free(f);
    return status;
}

typedef struct blended
{
    const pl_body* body;
    float* out;
} blended;

static void add_strain(void* user, uint32_t cluster, uint32_t slot, float weight)
{
    blended* b = user;
    b->out[b->body->particles.id[slot]] += weight * b->body->clusters.plastic_strain[cluster];
}

static void add_renewed(void* user, uint32_t cluster, uint32_t slot, float weight)
{
    blended* b = user;
    b->out[b->body->particles.id[slot]] += b->body->clusters.own[cluster] ? weight : 0;
}

/* Cluster values blended by each particle's weights. */
static void read_blended(const pl_body* body, uint32_t channel, float* out)
{
    blended b = {body, out};
    memset(out, 0, sizeof(float) * body->particles.id_count);
    pl_each_member(body, 0, body->level_begin[1],
                   channel == PLIANT_RENEWED ? add_renewed : add_strain, &b);
    pl_merged_inherit(body, 4, out);
}

/* Of the particle's clusters in the level, the one whose query centre is nearest at rest; for
 * nested coarse levels, the coarse cluster with the largest share in the nearest finer one. */
typedef struct nearest
{
    const pl_body* body;
    const float* rest;
    uint32_t* cluster;
    float* distance;
    uint32_t begin;
} nearest;

static void see_nearest(void* user, uint32_t cluster, uint32_t slot, float weight)
{
    nearest* n = user;
    uint32_t id = n->body->particles.id[slot];
    const float* c = n->body->clusters.centre[cluster];
    float d = 0;
    (void)weight;
    for (int k = 0; k < 3; ++k)
        d += (c[k] - n->rest[3 * (size_t)id + k]) * (c[k] - n->rest[3 * (size_t)id + k]);
    if (d < n->distance[id])
    {
        n->distance[id] = d;
        n->cluster[id] = cluster - n->begin;
    }
}

static uint32_t coarser(const pl_body* body, uint32_t level, uint32_t cluster)
{
    const pl_links* links = &body->links;
    uint32_t fine = body->level_begin[level] + cluster, best = 0;
    float largest = -1;
    for (uint32_t n = links->by_fine_begin[fine]; n < links->by_fine_begin[fine + 1]; ++n)
        if (links->u[links->by_fine[n]] > largest)
        {
            largest = links->u[links->by_fine[n]];
            best = links->coarse[links->by_fine[n]];
        }
    return best - body->level_begin[level + 1];
}

pl_status pl_body_nearest(const pl_body* body, uint32_t level, uint32_t* out)
{
    uint32_t count = body->particles.id_count;
    bool nested = body->level_kind == PLIANT_LEVELS_NESTED;
    uint32_t held = nested ? 0 : level;
    float* rest = PL_NEW(float, (size_t)count * 3);
    float* distance = PL_NEW(float, count);
    if (!rest || !distance)
    {
        pl_free(rest);
        pl_free(distance);
        return pl_fail_memory((size_t)count * 16);
    }
    pl_body_rest(body, body->rest_origin, rest);
    memset(out, 0, sizeof(uint32_t) * count);
    for (uint32_t i = 0; i < count; ++i)
        distance[i] = INFINITY;
    nearest n = {body, rest, out, distance, body->level_begin[held]};
    pl_each_member(body, body->level_begin[held], body->level_begin[held + 1], see_nearest, &n);
    pl_merged_inherit(body, 4, out);
    for (uint32_t l = 0; nested && l < level; ++l)
        for (uint32_t i = 0; i < count; ++i)
            out[i] = coarser(body, l, out[i]);
    pl_free(rest);
    pl_free(distance);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ members of clusters */

typedef struct members
{
    const pl_body* body;
    uint32_t first; /* cluster */
    uint32_t* at;   /* by cluster: output index of its next member */
    uint32_t* particle;
    float* weight;
} members;

static void count_member(void* user, uint32_t cluster, uint32_t slot, float weight)
{
    members* m = user;
    (void)slot, (void)weight;
    ++m->at[cluster - m->first + 1];
}

static void put_member(void* user, uint32_t cluster, uint32_t slot, float weight)
{
    members* m = user;
    const pl_particles* p = &m->body->particles;
    uint32_t at = m->at[cluster - m->first]++;
    m->particle[at] = p->id[slot];
    if (m->weight)
        m->weight[at] = weight;
}

/* Members of the clusters of a level, in memory order. begin: clusters + 1. */
pl_status pl_body_members(const pl_body* body, uint32_t level, uint32_t* begin, uint32_t* particle,
                          float* weight)
{
    uint32_t first = body->level_begin[level], end = body->level_begin[level + 1];
    members m = {body, first, begin, particle, weight};
    memset(begin, 0, sizeof(uint32_t) * (end - first + 1));
    if (body->level_kind == PLIANT_LEVELS_NESTED && level > 0)
    {
        const pl_links* links = &body->links;
        uint32_t from = links->by_coarse_begin[first];
        for (uint32_t c = first; c <= end; ++c)
            begin[c - first] = links->by_coarse_begin[c] - from;
        for (uint32_t i = from; i < links->by_coarse_begin[end] && particle; ++i)
        {
            particle[i - from] = links->fine[i] - body->level_begin[level - 1];
            if (weight)
                weight[i - from] = links->u[i];
        }
        return PLIANT_OK;
    }
    pl_each_member(body, first, end, count_member, &m);
    for (uint32_t c = first; c < end; ++c)
        begin[c - first + 1] += begin[c - first];
    if (!particle)
        return PLIANT_OK;
    m.at = PL_NEW(uint32_t, (size_t)(end - first) + 1);
    if (!m.at)
        return pl_fail_memory((size_t)(end - first) * 4);
    memcpy(m.at, begin, sizeof(uint32_t) * (end - first + 1));
    pl_each_member(body, first, end, put_member, &m);
    pl_free(m.at);
    return PLIANT_OK;
}

typedef struct by_particle
{
    const pl_body* body;
    uint32_t *begin, *cluster;
    float* weight;
} by_particle;

static void count_by_particle(void* user, uint32_t cluster, uint32_t slot, float weight)
{
    by_particle* m = user;
    (void)cluster, (void)weight;
    ++m->begin[m->body->particles.id[slot] + 1];
}

static void put_by_particle(void* user, uint32_t cluster, uint32_t slot, float weight)
{
    by_particle* m = user;
    uint32_t at = m->begin[m->body->particles.id[slot]]++;
    m->cluster[at] = cluster;
    m->weight[at] = weight;
}

/* Memberships of the finest level by particle, each in the order in which pl_body_deformation()
 * adds them, so that sums over them have the same bits. begin: particles + 1. */
void pl_body_memberships(const pl_body* body, uint32_t* begin, uint32_t* cluster, float* weight)
{
    uint32_t particles = body->particles.id_count;
    by_particle m = {body, begin, cluster, weight};
    memset(begin, 0, sizeof(uint32_t) * ((size_t)particles + 1));
    pl_each_member(body, 0, body->level_begin[1], count_by_particle, &m);
    pl_merged_inherit(body, 4, begin + 1);
    for (uint32_t i = 0; i < particles; ++i)
        begin[i + 1] += begin[i];
    pl_each_member(body, 0, body->level_begin[1], put_by_particle, &m);
    /* filling has turned each begin into an end, except for merged particles */
    for (uint32_t i = 0; i < particles; ++i)
    {
        if (pl_lives(&body->particles, i))
            continue;
        uint32_t successor = body->particles.resampled.successor[i],
                 count = pl_merged_memberships(body, i);
        memcpy(cluster + begin[i], cluster + begin[successor] - count, sizeof *cluster * count);
        memcpy(weight + begin[i], weight + begin[successor] - count, sizeof *weight * count);
        begin[i] += count;
    }
    memmove(begin + 1, begin, sizeof(uint32_t) * particles);
    begin[0] = 0;
}

static pl_status read_members(const pl_body* body, uint32_t channel, uint32_t level, void* out)
{
    uint32_t first = body->level_begin[level], clusters = body->level_begin[level + 1] - first;
    bool links = body->level_kind == PLIANT_LEVELS_NESTED && level > 0;
    uint64_t total = body->level_memberships[level];
    uint32_t* begin = PL_NEW(uint32_t, (size_t)clusters + 1);
    uint32_t* particle = PL_NEW(uint32_t, total);
    float* weight = PL_NEW(float, total);
    pl_status status = begin && particle && weight ? PLIANT_OK : pl_fail_memory(total * 8);
    if (status == PLIANT_OK)
        status = pl_body_members(body, level, begin, particle, weight);
    if (status == PLIANT_OK && channel == PLIANT_MEMBER_BEGIN)
        memcpy(out, begin, sizeof(uint32_t) * (clusters + 1));
    if (status == PLIANT_OK && channel == PLIANT_MEMBER_PARTICLE)
        memcpy(out, particle, sizeof(uint32_t) * total);
    if (status == PLIANT_OK && channel == PLIANT_MEMBER_WEIGHT)
        memcpy(out, weight, sizeof(float) * total);
    if (status == PLIANT_OK && channel == PLIANT_MEMBER_OFFSET)
    {
        float(*offset)[3] = out;
        for (uint64_t m = 0; links && m < total; ++m)
            memcpy(offset[m], body->links.q[body->links.by_coarse_begin[first] + m],
                   sizeof *offset);
        if (!links)
            pl_body_offsets(body, first, first + clusters, begin, offset);
    }
    pl_free(begin);
    pl_free(particle);
    pl_free(weight);
    return status;
}

/* ------------------------------------------------------------------ the call */

typedef struct channel_shape
{
    uint32_t bytes; /* of one item */
    char of;        /* p particle, c cluster of the level, m membership, b begin of members */
} channel_shape;

static channel_shape shape_of(uint32_t channel)
{
    static const channel_shape shapes[] = {
        [PLIANT_POSITION] = {12, 'p'},
        [PLIANT_VELOCITY] = {12, 'p'},
        [PLIANT_REST] = {12, 'p'},
        [PLIANT_MASS] = {4, 'p'},
        [PLIANT_MASS_QUANTA] = {8, 'p'},
        [PLIANT_SHELL] = {4, 'p'},
        [PLIANT_DEFORMATION] = {36, 'p'},
        [PLIANT_STRETCH] = {4, 'p'},
        [PLIANT_NEAREST_CLUSTER] = {4, 'p'},
        [PLIANT_CLUSTER_CENTRE] = {12, 'c'},
        [PLIANT_CLUSTER_RADIUS] = {4, 'c'},
        [PLIANT_CLUSTER_MASS] = {4, 'c'},
        [PLIANT_CLUSTER_REST] = {12, 'c'},
        [PLIANT_CLUSTER_POSITION] = {12, 'c'},
        [PLIANT_CLUSTER_GRADIENT] = {36, 'c'},
        [PLIANT_CLUSTER_WIDTH] = {8, 'c'},
        [PLIANT_CLUSTER_ALPHA] = {8, 'c'},
        [PLIANT_MEMBER_BEGIN] = {4, 'b'},
        [PLIANT_MEMBER_PARTICLE] = {4, 'm'},
        [PLIANT_MEMBER_WEIGHT] = {4, 'm'},
        [PLIANT_MEMBER_OFFSET] = {12, 'm'},
        [PLIANT_PLASTIC_STRAIN] = {4, 'p'},
        [PLIANT_CLUSTER_PLASTIC] = {40, 'c'},
        [PLIANT_CLUSTER_PLANES] = {96, 'c'},
        [PLIANT_CLUSTER_BIRTH] = {8, 'c'},
        [PLIANT_CLUSTER_FADE] = {4, 'c'},
        [PLIANT_RENEWED] = {4, 'p'},
        [PLIANT_SUCCESSOR] = {4, 'p'},
    };
    return channel < PL_COUNTOF(shapes) ? shapes[channel] : (channel_shape){0, 0};
}

/* Float vectors of clusters, shifted from the rest or the current origin to the caller's. */
static void read_vectors(const pl_body* body, uint32_t first, uint32_t count, float (*v)[3],
                         const double from[3], const double* to, float* out)
{
    (void)body;
    for (uint32_t c = 0; c < count; ++c)
        for (int k = 0; k < 3; ++k)
            out[3 * (size_t)c + k] = (float)((double)v[first + c][k] + (from[k] - to[k]));
}

static pl_status read_clusters(const pl_body* body, uint32_t channel, uint32_t level,
                               const double* to, float* out)
{
    const pl_clusters* k = &body->clusters;
    uint32_t first = body->level_begin[level], count = body->level_begin[level + 1] - first;
    switch (channel)
    {
        case PLIANT_CLUSTER_CENTRE:
            read_vectors(body, first, count, k->centre, body->rest_origin, to, out);
            break;
        case PLIANT_CLUSTER_REST:
            read_vectors(body, first, count, k->rest, body->rest_origin, to, out);
            break;
        case PLIANT_CLUSTER_POSITION:
            read_vectors(body, first, count, k->x, body->origin, to, out);
            break;
        case PLIANT_CLUSTER_RADIUS:
            memcpy(out, k->radius + first, sizeof(float) * count);
            break;
        case PLIANT_CLUSTER_MASS:
            memcpy(out, k->mass + first, sizeof(float) * count);
            break;
        case PLIANT_CLUSTER_GRADIENT:
            memcpy(out, k->f + first, sizeof(float) * 9 * count);
            break;
        case PLIANT_CLUSTER_PLANES:
            return pl_body_planes(body, level, to, out);
        case PLIANT_CLUSTER_BIRTH:
            memcpy(out, k->birth + first, sizeof *k->birth * count);
            break;
        case PLIANT_CLUSTER_FADE:
            memcpy(out, k->fade + first, sizeof(float) * count);
            break;
        case PLIANT_CLUSTER_PLASTIC:
            for (uint32_t c = 0; c < count; ++c)
            {
                memcpy(out + 10 * (size_t)c, k->fp[first + c], sizeof k->fp[0]);
                out[10 * (size_t)c + 9] = k->plastic_strain[first + c];
            }
            break;
        default:
            for (uint32_t c = 0; c < count; ++c)
            {
                bool width = channel == PLIANT_CLUSTER_WIDTH;
                out[2 * c] = width ? k->width_rms[first + c] : k->alpha[first + c];
                out[2 * c + 1] = width ? k->width_max[first + c] : k->kappa[first + c];
            }
    }
    return PLIANT_OK;
}

static pl_status read_particles(const pl_body* body, uint32_t channel, uint32_t level,
                                const double* to, void* out)
{
    const pl_particles* p = &body->particles;
    switch (channel)
    {
        case PLIANT_POSITION:
            pl_body_positions(body, to, out);
            break;
        case PLIANT_VELOCITY:
            pl_body_velocities(body, out);
            break;
        case PLIANT_REST:
            pl_body_rest(body, to, out);
            break;
        case PLIANT_MASS:
            for (uint32_t i = 0; i < p->id_count; ++i)
                ((float*)out)[i] = pl_lives(p, i) ? p->mass[p->slot_of[i]] : 0.0f;
            break;
        case PLIANT_MASS_QUANTA:
            for (uint32_t i = 0; i < p->id_count; ++i)
                ((uint64_t*)out)[i] = pl_lives(p, i) ? p->quanta[p->slot_of[i]] : 0;
            break;
        case PLIANT_SUCCESSOR:
            for (uint32_t i = 0; i < p->id_count; ++i)
                ((uint32_t*)out)[i] = p->id[p->slot_of[i]];
            break;
        case PLIANT_SHELL:
            memcpy(out, p->shell, sizeof(uint32_t) * p->id_count);
            break;
        case PLIANT_DEFORMATION:
            return pl_body_deformation(body, out, NULL);
        case PLIANT_STRETCH:
            return read_stretch(body, out);
        case PLIANT_PLASTIC_STRAIN:
        case PLIANT_RENEWED:
            read_blended(body, channel, out);
            break;
        default:
            return pl_body_nearest(body, level, out);
    }
    return PLIANT_OK;
}

pliant_status pliant_body_read(pliant_body handle, uint32_t channel, uint32_t level,
                               const double origin[3], void* buffer, uint64_t* bytes)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    bool of_cells = channel == PLIANT_CELL || channel == PLIANT_CELL_POINT;
    if (of_cells && body->fracture)
        PL_TRY(pl_voronoi_cells_ready(body)); /* not built by a restore */
    if ((channel >= PLIANT_PARENT && channel <= PLIANT_DIVIDED) || of_cells)
        return pl_body_read_fracture(body, channel, origin, buffer, bytes);
    channel_shape shape = shape_of(channel);
    if (!shape.bytes)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "%u is not a channel", channel);
    if (!bytes)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the size is NULL");
    bool levelled = shape.of != 'p' || channel == PLIANT_NEAREST_CLUSTER;
    if (levelled && level >= body->level_count)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "Level %u was asked for; the body has %u", level,
                       body->level_count);
    if (origin)
        PL_TRY(pl_check_vector(origin, "origin"));
    uint64_t clusters = levelled ? body->level_begin[level + 1] - body->level_begin[level] : 0;
    uint64_t items = shape.of == 'p'   ? body->particles.id_count
                     : shape.of == 'c' ? clusters
                     : shape.of == 'b' ? clusters + 1
                                       : body->level_memberships[level];
    uint64_t needed = items * shape.bytes;
    if (!buffer)
    {
        *bytes = needed;
        return PLIANT_OK;
    }
    if (*bytes < needed)
        return pl_fail(PLIANT_ERROR_BUFFER, "The channel takes %llu bytes; the buffer has %llu",
                       (unsigned long long)needed, (unsigned long long)*bytes);
    *bytes = needed;
    PL_TRY(pl_make_current(scene));
    const double* to = origin ? origin : ZERO;
    if (shape.of == 'p')
        return read_particles(body, channel, level, to, buffer);
    if (shape.of == 'c')
        return read_clusters(body, channel, level, to, buffer);
    return read_members(body, channel, level, buffer);
}
