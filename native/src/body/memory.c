// SPDX-License-Identifier: GPL-3.0-or-later
/* What a body itself holds: made and freed. */
#include "body/layout.h"
#include "body/rest_sdf.h"

#include <string.h>

bool pl_particles_alloc(pl_particles* p, uint32_t slots, uint32_t ids)
{
    bool fine = true;
    p->slot_count = slots;
    p->id_count = ids;
    for (int k = 0; k < 3; ++k)
        fine = (p->x[k] = PL_NEW(float, slots)) && (p->v[k] = PL_NEW(float, slots)) &&
               (p->r[k] = PL_NEW(float, slots)) && fine;
    return (p->mass = PL_NEW(float, slots)) && (p->norm = PL_NEW(float, slots)) &&
           (p->touch = PL_NEW(uint8_t, slots)) && (p->quanta = PL_NEW(uint64_t, slots)) &&
           (p->id = PL_NEW(uint32_t, slots)) && (p->slot_of = PL_NEW(uint32_t, ids)) &&
           (p->shell = PL_NEW(uint32_t, ids)) && (p->parent = PL_NEW(uint32_t, ids)) &&
           (p->birth = PL_NEW(uint64_t, ids)) && fine;
}

static void particles_free(pl_particles* p)
{
    for (int k = 0; k < 3; ++k)
    {
        pl_free(p->x[k]);
        pl_free(p->v[k]);
        pl_free(p->r[k]);
    }
    pl_free(p->mass);
    pl_free(p->norm);
    pl_free(p->touch);
    pl_free(p->quanta);
    pl_free(p->id);
    pl_free(p->slot_of);
    pl_free(p->shell);
    pl_free(p->parent);
    pl_free(p->birth);
    pl_free(p->resampled.successor);
    pl_free(p->resampled.offset);
    pl_free(p->resampled.rest);
    pl_free(p->resampled.share);
    pl_free(p->resampled.piece);
}

/* Every array over clusters but part_begin, which has one more. */
// clang-format off
#define CLUSTER_ARRAYS(X)                                                                          \
    X(centre) X(radius) X(rest) X(mass) X(arr) X(arr_inv) X(rank) X(axis) X(density) X(width_rms)  \
    X(shape_width) X(width_max) X(fade) X(stiffness_factor) X(damping_factor) X(limit_factor)      \
    X(yield_factor) X(flow_factor) X(hardening_factor) X(fp) X(plastic_strain) X(flow_share)       \
    X(energy) X(rest_change) X(alpha) X(kappa) X(kappa_body) X(ref) X(limit_ref) X(lever[0]) X(lever[1]) X(x)    \
    X(f) X(row) X(limit) X(sums) X(own) X(in_body) X(from_body) X(changed) X(birth)    \
    X(toughness_factor) X(piece) X(split_time) X(settling) X(cracked) X(fading)
#define QUADRATIC_ARRAYS(X) X(quad_inverse) X(quad_slope) X(quad_thin) X(quad_bend) X(quad_row)
// clang-format on

bool pl_clusters_alloc(pl_clusters* c, uint32_t count, bool quadratic)
{
    bool fine = true;
    c->count = count;
/* one more than there are: kernels load four floats where a cluster has three */
#define NEED(field)                                                                                \
    fine = fine && (c->field = pl_alloc((size_t)count + 1, sizeof *c->field)) != NULL;
    CLUSTER_ARRAYS(NEED)
    if (quadratic)
    {
        QUADRATIC_ARRAYS(NEED)
    }
#undef NEED
    return fine && (c->part_begin = PL_NEW(uint32_t, (size_t)count + 1));
}

/* In two steps, so that running out of memory in the middle leaves everything as it was: room at
 * the end, then a gap of zeroes at "at". */
static bool grow_items(void** items, size_t size, uint32_t count, uint32_t more)
{
    void* grown = pl_realloc(*items, (size_t)count + more, size);
    if (grown)
        *items = grown;
    return grown != NULL;
}

static void open_gap(void* items, size_t size, uint32_t count, uint32_t at, uint32_t more)
{
    char* first = (char*)items + at * size;
    memmove(first + more * size, first, (count - at) * size);
    memset(first, 0, more * size);
}

bool pl_begins_insert(uint32_t** begin, uint32_t count, uint32_t at, uint32_t more)
{
    if (!*begin)
        return true;
    uint32_t value = (*begin)[at];
    if (!grow_items((void**)begin, sizeof **begin, count, more))
        return false;
    open_gap(*begin, sizeof **begin, count, at, more);
    for (uint32_t i = 0; i < more; ++i)
        (*begin)[at + i] = value;
    return true;
}

bool pl_clusters_insert(pl_clusters* c, uint32_t at, uint32_t more)
{
    uint32_t count = c->count + 1; /* with the one behind the last */
    bool fine = true;
#define GROW(field) fine = fine && grow_items((void**)&c->field, sizeof *c->field, count, more);
    CLUSTER_ARRAYS(GROW)
    if (c->quad_inverse)
    {
        QUADRATIC_ARRAYS(GROW)
    }
#undef GROW
    if (!fine || !pl_begins_insert(&c->part_begin, count, at, more))
        return false;
#define OPEN(field) open_gap(c->field, sizeof *c->field, count, at, more);
    CLUSTER_ARRAYS(OPEN)
    if (c->quad_inverse)
    {
        QUADRATIC_ARRAYS(OPEN)
    }
#undef OPEN
    c->count += more;
    return true;
}

void pl_cluster_copy(pl_clusters* c, uint32_t from, uint32_t to)
{
#define COPY(field) memcpy(&c->field[to], &c->field[from], sizeof *c->field);
    CLUSTER_ARRAYS(COPY)
    if (c->quad_inverse)
    {
        QUADRATIC_ARRAYS(COPY)
    }
#undef COPY
}

static void clusters_free(pl_clusters* c)
{
#define FREE(field) pl_free(c->field);
    CLUSTER_ARRAYS(FREE)
    QUADRATIC_ARRAYS(FREE)
#undef FREE
    pl_free(c->part_begin);
    pl_free(c->part);
}

void pl_chunk_free(pl_chunk* chunk)
{
    pl_free(chunk->rows);
    pl_free(chunk->block_begin);
    pl_free(chunk->half);
    pl_free(chunk->entry_row);
    pl_free(chunk->entry_kernel);
    pl_free(chunk->own_rest);
    pl_free(chunk->sums);
    pl_free(chunk->quad_sums);
}

void pl_level_batches_free(pl_level_batches* runs)
{
    pl_free(runs->run);
    pl_free(runs->block_begin);
    pl_free(runs->half);
    pl_free(runs->entry_row);
    pl_free(runs->entry_kernel);
    pl_free(runs->cluster_of_row);
    pl_free(runs->sums);
    pl_free(runs->rows);
    pl_free(runs->part_begin);
    pl_free(runs->part);
    *runs = (pl_level_batches){0};
}

void pl_link_items_free(pl_links* links)
{
    pl_free(links->fine);
    pl_free(links->coarse);
    pl_free(links->u);
    pl_free(links->b);
    pl_free(links->q);
    pl_free(links->by_fine);
}

static void links_free(pl_links* links)
{
    pl_link_items_free(links);
    pl_free(links->by_coarse_begin);
    pl_free(links->by_fine_begin);
    pl_level_batches_free(&links->batches);
}

/* What other modules keep in a body they have freed before. */
void pl_body_free(pl_body* body)
{
    particles_free(&body->particles);
    for (uint32_t i = 0; body->chunks && i < body->chunk_count; ++i)
        pl_chunk_free(&body->chunks[i]);
    pl_free(body->chunks);
    clusters_free(&body->clusters);
    links_free(&body->links);
    pl_rest_sdf_free(&body->rest_sdf);
    pl_free(body->pins.frequency);
    for (int k = 0; k < 3; ++k)
    {
        pl_free(body->pins.from[k]);
        pl_free(body->pins.to[k]);
        pl_free(body->acceleration[k]);
    }
    pl_free(body->mesh_vertices);
    pl_free(body->mesh_triangles);
    pl_free(body->warning_text);
    memset(body, 0, sizeof *body);
}
