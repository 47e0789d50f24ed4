// SPDX-License-Identifier: GPL-3.0-or-later
/* What a body holds: made and freed. */
#include "layout.h"
#include "proxy.h"
#include "rest_shape.h"

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
           (p->quanta = PL_NEW(uint64_t, slots)) && (p->id = PL_NEW(uint32_t, slots)) &&
           (p->slot_of = PL_NEW(uint32_t, ids)) && (p->shell = PL_NEW(uint32_t, ids)) &&
           (p->parent = PL_NEW(uint32_t, ids)) && (p->birth = PL_NEW(uint64_t, ids)) && fine;
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
    pl_free(p->quanta);
    pl_free(p->id);
    pl_free(p->slot_of);
    pl_free(p->shell);
    pl_free(p->parent);
    pl_free(p->birth);
}

bool pl_clusters_alloc(pl_clusters* c, uint32_t count, bool quadratic)
{
    c->count = count;
/* one more than there are: kernels load four floats where a cluster has three */
#define NEED(field) ((c->field = pl_alloc((size_t)count + 1, sizeof *c->field)) != NULL)
    bool fine = NEED(centre) && NEED(radius) && NEED(rest) && NEED(mass) && NEED(arr) &&
                NEED(arr_inv) && NEED(rank) && NEED(axis) && NEED(density) && NEED(width_rms) &&
                NEED(width_max) && NEED(fade) && NEED(stiffness_factor) && NEED(damping_factor) &&
                NEED(limit_factor) && NEED(yield_factor) && NEED(flow_factor) &&
                NEED(hardening_factor) && NEED(fp) && NEED(plastic_strain) && NEED(flow_share) &&
                NEED(energy) && NEED(rest_change) && NEED(shape_width) && NEED(alpha) &&
                NEED(kappa) && NEED(ref) && NEED(limit_ref) && NEED(lever[0]) && NEED(lever[1]) &&
                NEED(x) && NEED(f) && NEED(row) && NEED(limit) && NEED(sums);
    if (fine && quadratic)
        fine = NEED(quad_inverse) && NEED(quad_slope) && NEED(quad_thin) && NEED(quad_row);
#undef NEED
    return fine && (c->part_begin = PL_NEW(uint32_t, (size_t)count + 1));
}

static void clusters_free(pl_clusters* c)
{
    void* arrays[] = {c->centre,
                      c->radius,
                      c->rest,
                      c->mass,
                      c->arr,
                      c->arr_inv,
                      c->rank,
                      c->axis,
                      c->density,
                      c->width_rms,
                      c->width_max,
                      c->fade,
                      c->stiffness_factor,
                      c->damping_factor,
                      c->limit_factor,
                      c->yield_factor,
                      c->flow_factor,
                      c->hardening_factor,
                      c->fp,
                      c->plastic_strain,
                      c->flow_share,
                      c->energy,
                      c->rest_change,
                      c->shape_width,
                      c->alpha,
                      c->kappa,
                      c->x,
                      c->ref,
                      c->limit_ref,
                      c->lever[0],
                      c->lever[1],
                      c->f,
                      c->row,
                      c->limit,
                      c->sums,
                      c->quad_inverse,
                      c->quad_slope,
                      c->quad_thin,
                      c->quad_row,
                      c->part_begin,
                      c->part,
                      NULL};
    for (size_t i = 0; i < PL_COUNTOF(arrays); ++i)
        pl_free(arrays[i]);
}

static void chunk_free(pl_chunk* chunk)
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

void pl_runs_free(pl_runs* runs)
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
    *runs = (pl_runs){0};
}

static void links_free(pl_links* links)
{
    pl_free(links->fine);
    pl_free(links->coarse);
    pl_free(links->u);
    pl_free(links->b);
    pl_free(links->q);
    pl_free(links->by_coarse_begin);
    pl_free(links->by_fine_begin);
    pl_free(links->by_fine);
    pl_runs_free(&links->runs);
}

void pl_body_free(pl_body* body)
{
    particles_free(&body->particles);
    for (uint32_t i = 0; body->chunks && i < body->chunk_count; ++i)
    {
        chunk_free(&body->chunks[i]);
        if (body->limit_sums)
            pl_free(body->limit_sums[i]);
    }
    pl_free(body->limit_sums);
    pl_free(body->chunks);
    clusters_free(&body->clusters);
    links_free(&body->links);
    pl_proxies_free(&body->proxies);
    pl_rest_shape_free(&body->rest_shape);
    pl_free(body->pair_rules.share_begin);
    pl_free(body->pair_rules.share);
    pl_free(body->pair_rules.held);
    pl_free(body->pair_rules.near_begin);
    pl_free(body->pair_rules.near);
    pl_free(body->pins.frequency);
    for (int k = 0; k < 3; ++k)
    {
        pl_free(body->pins.from[k]);
        pl_free(body->pins.to[k]);
        pl_free(body->acceleration[k]);
        pl_free(body->force[k]);
        pl_free(body->shift[k]);
    }
    pl_free(body->mesh_vertices);
    pl_free(body->mesh_triangles);
    pl_free(body->warning_text);
    memset(body, 0, sizeof *body);
}
