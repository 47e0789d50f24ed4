// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Snapshot of the whole state in one block (base/archive.h), and its hash. Derived data (sums,
 * rows, fits, scratch) is not saved: the first substep after a restore recomputes it
 * bit-identically, because gathering and matching depend only on positions, velocities and set-up.
 * Exception: sums that contacts have updated incrementally are saved
 * (dynamics/update_moments.simd.c).
 */
#include "api/api.h"
#include "base/archive.h"
#include "base/hash.h"
#include "body/layout.h"
#include "body/validity.h"
#include "collision/mesh/triangle_cache.h"
#include "dynamics/pressure_setup.h"
#include "snapshot/check.h"
#include "snapshot/contacts.h"
#include "snapshot/fracture.h"

#include <string.h>

#define STATE_VERSION 16

_Static_assert(sizeof(pliant_material_desc) == 168,
               "pliant_material_desc changed: raise STATE_VERSION and check visit_body");
_Static_assert(sizeof(pliant_pose) == 80, "pliant_pose changed: raise STATE_VERSION");

static void visit_resampled(pl_archive* a, pl_resampled* s)
{
    pl_archive_u32(a, &s->count);
    PL_ARCHIVE_ARRAY(a, s->successor, s->count);
    PL_ARCHIVE_ARRAY(a, s->offset, s->count);
    PL_ARCHIVE_ARRAY(a, s->rest, s->count);
    PL_ARCHIVE_ARRAY(a, s->share, s->count);
    PL_ARCHIVE_ARRAY(a, s->piece, s->count);
    pl_archive_require(a,
                       !s->count || (s->successor && s->offset && s->rest && s->share && s->piece),
                       "particles that were merged");
    if (pl_archive_reading(a))
        s->room = s->count;
}

static void visit_particles(pl_archive* a, pl_particles* p)
{
    pl_archive_tag(a, "PART");
    pl_archive_u32(a, &p->slot_count);
    pl_archive_u32(a, &p->count);
    pl_archive_u32(a, &p->id_count);
    for (int k = 0; k < 3; ++k)
    {
        PL_ARCHIVE_ARRAY(a, p->x[k], p->slot_count);
        PL_ARCHIVE_ARRAY(a, p->v[k], p->slot_count);
        PL_ARCHIVE_ARRAY(a, p->r[k], p->slot_count);
        pl_archive_require(a, p->x[k] && p->v[k] && p->r[k], "positions");
    }
    PL_ARCHIVE_ARRAY(a, p->mass, p->slot_count);
    PL_ARCHIVE_ARRAY(a, p->norm, p->slot_count);
    PL_ARCHIVE_ARRAY(a, p->touch, p->slot_count);
    PL_ARCHIVE_ARRAY(a, p->quanta, p->slot_count);
    PL_ARCHIVE_ARRAY(a, p->id, p->slot_count);
    PL_ARCHIVE_ARRAY(a, p->slot_of, p->id_count);
    PL_ARCHIVE_ARRAY(a, p->shell, p->id_count);
    PL_ARCHIVE_ARRAY(a, p->parent, p->id_count);
    PL_ARCHIVE_ARRAY(a, p->birth, p->id_count);
    pl_archive_require(a,
                       p->mass && p->norm && p->touch && p->quanta && p->id && p->slot_of &&
                           p->shell && p->parent && p->birth,
                       "particles");
    visit_resampled(a, &p->resampled);
    if (pl_archive_reading(a) && !pl_archive_failed(a))
        pl_archive_require(a, pl_particles_fit(p), "the numbering of particles");
}

static void visit_chunk(pl_archive* a, uint32_t index, const pl_body* body, bool quadratic)
{
    pl_chunk* chunk = &body->chunks[index];
    pl_archive_tag(a, "CHNK");
    pl_archive_u32(a, &chunk->slot_begin);
    pl_archive_u32(a, &chunk->slot_count);
    pl_archive_u32(a, &chunk->block_count);
    pl_archive_bytes(a, chunk->rest_origin, sizeof chunk->rest_origin);
    pl_archive_bytes(a, chunk->pos_origin, sizeof chunk->pos_origin);
    pl_archive_u32(a, &chunk->middle_slot);
    pl_archive_u32(a, &chunk->row_count);
    pl_archive_u32(a, &chunk->entry_count);
    pl_archive_u32(a, &chunk->member_count);
    PL_ARCHIVE_ARRAY(a, chunk->rows, chunk->row_count);
    PL_ARCHIVE_ARRAY(a, chunk->block_begin, (uint64_t)chunk->slot_count / 8 + 1);
    PL_ARCHIVE_ARRAY(a, chunk->entry_row, chunk->entry_count);
    PL_ARCHIVE_ARRAY(a, chunk->entry_kernel, 8 * (uint64_t)chunk->entry_count);
    PL_ARCHIVE_ARRAY(a, chunk->own_rest, 24 * (uint64_t)chunk->entry_count);
    uint32_t moments_updated = chunk->moments == PL_MOMENTS_CORRECTED;
    pl_archive_u32(a, &moments_updated);
    if (moments_updated)
        PL_ARCHIVE_ARRAY(a, chunk->sums, PL_SUM_FLOATS * (uint64_t)chunk->row_count);
    if (!pl_archive_reading(a) || pl_archive_failed(a))
        return;
    pl_archive_require(a,
                       chunk->rows && chunk->block_begin && chunk->entry_row &&
                           chunk->entry_kernel && (!moments_updated || chunk->sums) &&
                           pl_chunk_fits(body, chunk, index ? chunk - 1 : NULL),
                       "a chunk");
    if (pl_archive_failed(a))
        return;
    if (!moments_updated)
        chunk->sums = PL_NEW(float, (size_t)chunk->row_count* PL_SUM_FLOATS);
    if (quadratic)
        chunk->quad_sums = PL_NEW(float, (size_t)chunk->row_count* PL_QUAD_SUM_FLOATS);
    if (moments_updated)
        pl_moments_corrected(chunk);
    if (!pl_layout_halve(chunk) || !chunk->sums || (quadratic && !chunk->quad_sums))
        a->status = pl_fail_memory((size_t)chunk->row_count * 192);
}

static void visit_clusters(pl_archive* a, pl_body* body, bool quadratic)
{
    pl_clusters* k = &body->clusters;
    uint32_t count = k->count;
    pl_archive_tag(a, "CLUS");
    pl_archive_u32(a, &count);
    pl_archive_require(a, count > 0 && count < 1u << 30, "the number of clusters");
    if (pl_archive_reading(a)) /* each cluster needs at least a hundred more bytes */
        pl_archive_require(a, count <= (a->end - a->at) / 100, "the number of clusters");
    if (pl_archive_failed(a))
        return;
    if (pl_archive_reading(a) && !pl_clusters_alloc(k, count, quadratic))
    {
        a->status = pl_fail_memory((size_t)count * 500);
        return;
    }
    struct
    {
        void* data;
        size_t size, number; /* number: size of its floats or doubles, 0 for integers */
    } saved[] = {
        {k->centre, sizeof *k->centre, sizeof(float)},
        {k->radius, sizeof *k->radius, sizeof(float)},
        {k->rest, sizeof *k->rest, sizeof(float)},
        {k->mass, sizeof *k->mass, sizeof(float)},
        {k->arr, sizeof *k->arr, sizeof(float)},
        {k->arr_inv, sizeof *k->arr_inv, sizeof(float)},
        {k->rank, sizeof *k->rank, 0},
        {k->axis, sizeof *k->axis, sizeof(float)},
        {k->density, sizeof *k->density, sizeof(float)},
        {k->width_rms, sizeof *k->width_rms, sizeof(float)},
        {k->shape_width, sizeof *k->shape_width, sizeof(double)},
        {k->width_max, sizeof *k->width_max, sizeof(float)},
        {k->fade, sizeof *k->fade, sizeof(float)},
        {k->fading, sizeof *k->fading, 0},
        {k->stiffness_factor, sizeof(float), sizeof(float)},
        {k->damping_factor, sizeof(float), sizeof(float)},
        {k->limit_factor, sizeof(float), sizeof(float)},
        {k->yield_factor, sizeof(float), sizeof(float)},
        {k->flow_factor, sizeof(float), sizeof(float)},
        {k->hardening_factor, sizeof(float), sizeof(float)},
        {k->toughness_factor, sizeof(float), sizeof(float)},
        {k->piece, sizeof *k->piece, 0},
        {k->split_time, sizeof *k->split_time, sizeof(double)},
        {k->settling, sizeof *k->settling, 0},
        {k->cracked, sizeof *k->cracked, 0},
        {k->fp, sizeof *k->fp, sizeof(float)},
        {k->plastic_strain, sizeof(float), sizeof(float)},
        {k->own, sizeof *k->own, 0},
        {k->in_body, sizeof *k->in_body, sizeof(float)},
        {k->from_body, sizeof *k->from_body, sizeof(float)},
        {k->changed, sizeof *k->changed, 0},
        {k->birth, sizeof *k->birth, 0},
        {quadratic ? k->quad_inverse : NULL, sizeof *k->quad_inverse, sizeof(float)},
        {quadratic ? k->quad_slope : NULL, sizeof *k->quad_slope, sizeof(float)},
        {quadratic ? k->quad_thin : NULL, sizeof *k->quad_thin, sizeof(float)},
        {quadratic ? k->quad_bend : NULL, sizeof *k->quad_bend, sizeof(float)},
    };
    for (size_t i = 0; i < PL_COUNTOF(saved); ++i)
    {
        size_t bytes = saved[i].data ? saved[i].size * count : 0;
        pl_archive_bytes(a, saved[i].data, bytes);
        if (pl_archive_reading(a) && saved[i].number)
            pl_archive_require(
                a, pl_numbers_fit(saved[i].data, bytes / saved[i].number, saved[i].number),
                "the figures of clusters");
    }
    pl_archive_bytes(a, k->part_begin, sizeof(uint32_t) * ((size_t)count + 1));
    uint64_t parts = k->part_begin[count];
    PL_ARCHIVE_ARRAY(a, k->part, parts);
}

static void visit_links(pl_archive* a, pl_links* links, uint32_t clusters)
{
    pl_archive_tag(a, "LINK");
    pl_archive_u32(a, &links->count);
    pl_archive_bool(a, &links->plain);
    PL_ARCHIVE_ARRAY(a, links->fine, links->count);
    PL_ARCHIVE_ARRAY(a, links->coarse, links->count);
    PL_ARCHIVE_ARRAY(a, links->u, links->count);
    PL_ARCHIVE_ARRAY(a, links->b, links->count);
    PL_ARCHIVE_ARRAY(a, links->q, links->count);
    PL_ARCHIVE_ARRAY(a, links->by_coarse_begin, (uint64_t)clusters + 1);
    PL_ARCHIVE_ARRAY(a, links->by_fine_begin, (uint64_t)clusters + 2);
    PL_ARCHIVE_ARRAY(a, links->by_fine, links->count);
}

static void visit_pins(pl_archive* a, pl_pins* pins, uint32_t slots)
{
    pl_archive_tag(a, "PINS");
    pl_archive_bool(a, &pins->any);
    pl_archive_bool(a, &pins->follow);
    pl_archive_bool(a, &pins->has_targets);
    PL_ARCHIVE_ARRAY(a, pins->frequency, slots);
    for (int k = 0; k < 3; ++k)
    {
        PL_ARCHIVE_ARRAY(a, pins->from[k], slots);
        PL_ARCHIVE_ARRAY(a, pins->to[k], slots);
    }
}

static void visit_figures(pl_archive* a, pl_body* body)
{
    pl_archive_bytes(a, body->origin, sizeof body->origin);
    pl_archive_bytes(a, body->rest_origin, sizeof body->rest_origin);
    pl_archive_bytes(a, body->remainder, sizeof body->remainder);
    pl_archive_bytes(a, body->turn, sizeof body->turn);
    pl_archive_bytes(a, body->pivot, sizeof body->pivot);
    double* doubles[] = {
        &body->grid,  &body->mass_quantum, &body->mass,      &body->rest_volume, &body->spacing,
        &body->width, &body->shape_width,  &body->sample_ms, &body->cluster_ms,  &body->overlap};
    for (size_t i = 0; i < PL_COUNTOF(doubles); ++i)
    {
        pl_archive_f64(a, doubles[i]);
        pl_archive_require(a, pl_numbers_fit(doubles[i], 1, sizeof(double)), "a body's figures");
    }
    pl_archive_u32(a, &body->sampling);
    pl_archive_u32(a, &body->cluster_iterations);
    pl_archive_u32(a, &body->warnings);
    pl_archive_u32(a, &body->level_count);
    pl_archive_u32(a, &body->level_kind);
    pl_archive_bytes(a, body->level_begin, sizeof body->level_begin);
    pl_archive_bytes(a, body->level_weight, sizeof body->level_weight);
    pl_archive_bytes(a, body->level_damping, sizeof body->level_damping);
    pl_archive_bytes(a, body->level_firm, sizeof body->level_firm);
    pl_archive_bytes(a, body->level_radius, sizeof body->level_radius);
    pl_archive_bytes(a, body->level_memberships, sizeof body->level_memberships);
    pl_archive_bytes(a, &body->material, sizeof body->material);
    pl_archive_u32(a, &body->kernel);
    pl_archive_f64(a, &body->kernel_parameter);
    pl_archive_bool(a, &body->plastic);
    pl_archive_f64(a, &body->first_overlap);
    pl_archive_f64(a, &body->recluster_clock);
    pl_archive_u64(a, &body->recluster_events);
    pl_archive_require(a, body->kernel <= PLIANT_KERNEL_FCM && isfinite(body->kernel_parameter),
                       "the kernel");
    pl_archive_require(a,
                       body->level_count >= 1 && body->level_count <= PLIANT_MAX_LEVELS &&
                           body->level_kind <= PLIANT_LEVELS_INDEPENDENT &&
                           pl_numbers_fit(body->level_weight, body->level_count, sizeof(double)) &&
                           pl_numbers_fit(body->level_damping, body->level_count, sizeof(double)) &&
                           pl_numbers_fit(body->level_firm, body->level_count, sizeof(double)) &&
                           pl_numbers_fit(body->level_radius, body->level_count, sizeof(double)) &&
                           isfinite(body->first_overlap) && isfinite(body->recluster_clock),
                       "the levels");
    pl_archive_require(a,
                       body->material.size == sizeof body->material &&
                           pl_check_material(&body->material) == PLIANT_OK,
                       "a material");
}

static void visit_body(pl_archive* a, pl_body* body)
{
    pl_archive_tag(a, "BODY");
    visit_figures(a, body);
    visit_particles(a, &body->particles);
    if (pl_archive_reading(a) && !pl_archive_failed(a))
        pl_archive_require(a, pl_masses_fit(body), "the masses of particles");
    bool quadratic = body->material.goal == PLIANT_GOAL_QUADRATIC;
    if (!pl_archive_failed(a))
        visit_clusters(a, body, quadratic);
    if (pl_archive_reading(a) && !pl_archive_failed(a))
        pl_archive_require(a, pl_levels_fit(body), "the numbers of clusters");
    uint32_t chunks = body->chunk_count;
    pl_archive_u32(a, &chunks);
    pl_archive_require(a, chunks <= body->particles.slot_count, "the number of chunks");
    if (pl_archive_failed(a))
        return;
    if (pl_archive_reading(a))
    {
        body->chunks = PL_NEW(pl_chunk, chunks);
        body->chunk_count = body->chunks ? chunks : 0;
        if (!body->chunks)
            a->status = pl_fail_memory(chunks * sizeof(pl_chunk));
    }
    for (uint32_t c = 0; !pl_archive_failed(a) && c < body->chunk_count; ++c)
        visit_chunk(a, c, body, quadratic);
    visit_links(a, &body->links, body->clusters.count);
    visit_pins(a, &body->pins, body->particles.slot_count);
    for (int k = 0; k < 3; ++k)
        PL_ARCHIVE_ARRAY(a, body->acceleration[k], body->particles.slot_count);
    pl_archive_u32(a, &body->mesh_vertex_count);
    pl_archive_u32(a, &body->mesh_triangle_count);
    PL_ARCHIVE_ARRAY(a, body->mesh_vertices, 3 * (uint64_t)body->mesh_vertex_count);
    PL_ARCHIVE_ARRAY(a, body->mesh_triangles, 3 * (uint64_t)body->mesh_triangle_count);
    pl_save_proxies(a, body);
    pl_save_fracture(a, body);
    pl_save_cuts(a, body);
    if (!pl_archive_reading(a) || pl_archive_failed(a))
        return;
    pl_archive_require(a, pl_parts_fit(body), "where clusters have their sums");
    pl_archive_require(a, pl_links_fit(body), "how levels are linked");
    if (!pl_archive_failed(a))
        pl_archive_require(a, pl_memberships_fit(body), "the number of memberships");
    pl_archive_require(a, pl_optional_fit(body), "pins, accelerations or the mesh");
}

static void visit_collider_mesh(pl_archive* a, pl_collider* c)
{
    pl_archive_tag(a, "CMSH");
    if (pl_archive_reading(a) && !(c->mesh = PL_NEW(pl_mesh_collider, 1)))
    {
        a->status = pl_fail_memory(sizeof *c->mesh);
        return;
    }
    pl_mesh_collider* m = c->mesh;
    pl_archive_u32(a, &m->vertex_count);
    pl_archive_u32(a, &m->triangle_count);
    PL_ARCHIVE_ARRAY(a, m->triangles, 3 * (uint64_t)m->triangle_count);
    PL_ARCHIVE_ARRAY(a, m->rest, m->vertex_count);
    PL_ARCHIVE_ARRAY(a, m->from, m->vertex_count);
    PL_ARCHIVE_ARRAY(a, m->to, m->vertex_count);
    if (!pl_archive_reading(a) || pl_archive_failed(a))
        return;
    pl_archive_require(a, pl_mesh_collider_fits(m), "a collider's mesh");
    if (!pl_archive_failed(a))
        a->status = pl_mesh_collider_build(m);
}

static void visit_collider(pl_archive* a, pl_collider* c)
{
    pl_archive_u32(a, &c->shape);
    pl_archive_u32(a, &c->inside_out);
    pl_archive_u32(a, &c->groups);
    pl_archive_bytes(a, &c->friction, sizeof c->friction);
    pl_archive_bytes(a, &c->restitution, sizeof c->restitution);
    pl_archive_bytes(a, &c->thickness, sizeof c->thickness);
    pl_archive_bytes(a, c->surface_velocity, sizeof c->surface_velocity);
    pl_archive_bytes(a, c->surface_spin, sizeof c->surface_spin);
    pl_archive_bytes(a, c->surface_centre, sizeof c->surface_centre);
    pl_archive_bytes(a, &c->from, sizeof c->from);
    pl_archive_bytes(a, &c->to, sizeof c->to);
    if (pl_archive_reading(a) && !pl_archive_failed(a))
        pl_archive_require(a, pl_collider_fits(c), "a collider");
    if (!pl_archive_failed(a) && pl_shape_is_mesh(c->shape))
        visit_collider_mesh(a, c);
}

/* Which particles are known to be outside a mesh. */
static void visit_sides(pl_archive* a, pl_body* body, const pl_mesh_collider* mesh)
{
    pl_triangle_cache* near = pl_triangle_cache_find(body, mesh);
    uint8_t* outside = near ? near->outside : NULL;
    PL_ARCHIVE_ARRAY(a, outside, body->particles.slot_count / 8);
    if (!pl_archive_reading(a) || !outside)
        return;
    if (!pl_archive_failed(a) &&
        (a->status = pl_triangle_cache_add(body, mesh, &near)) == PLIANT_OK)
        memcpy(near->outside, outside, near->block_count);
    pl_free(outside);
}

/* Saves or reads a whole scene; reading creates new bodies, colliders and fields. */
static void visit_scene(pl_archive* a, pl_scene* scene)
{
    pl_archive_tag(a, "SCEN");
    pl_archive_bytes(a, scene->gravity, sizeof scene->gravity);
    pl_archive_u64(a, &scene->frame);
    pl_archive_u64(a, &scene->substep);
    pl_archive_u32(a, &scene->substep_of_frame);
    pl_archive_u32(a, &scene->substeps);
    pl_archive_f64(a, &scene->frame_dt);
    pl_archive_f64(a, &scene->time);
    pl_save_contact_settings(a, scene);
    if (pl_archive_reading(a) && !pl_archive_failed(a))
        pl_archive_require(a, pl_place_fits(scene), "where it is in its frame");
    uint32_t counts[3] = {scene->body_count, scene->collider_count, scene->field_count};
    for (int i = 0; i < 3; ++i)
    {
        pl_archive_u32(a, &counts[i]);
        pl_archive_require(a, counts[i] < 1u << 20, "a count");
    }
    for (uint32_t i = 0; !pl_archive_failed(a) && i < counts[0]; ++i)
    {
        if (pl_archive_reading(a))
        {
            pl_body* fresh = PL_NEW(pl_body, 1);
            if (!fresh || !pl_grow((void**)&scene->bodies, &scene->body_capacity, (size_t)i + 1,
                                   sizeof *scene->bodies))
            {
                pl_free(fresh);
                a->status = pl_fail_memory(sizeof *fresh);
                return;
            }
            scene->bodies[scene->body_count++] = fresh;
        }
        visit_body(a, scene->bodies[i]);
    }
    for (uint32_t i = 0; !pl_archive_failed(a) && i < counts[1]; ++i)
    {
        if (pl_archive_reading(a))
        {
            pl_collider* fresh = PL_NEW(pl_collider, 1);
            if (!fresh || !pl_grow((void**)&scene->colliders, &scene->collider_capacity,
                                   (size_t)i + 1, sizeof *scene->colliders))
            {
                pl_free(fresh);
                a->status = pl_fail_memory(sizeof *fresh);
                return;
            }
            scene->colliders[scene->collider_count++] = fresh;
        }
        visit_collider(a, scene->colliders[i]);
        for (uint32_t b = 0; b < scene->body_count && scene->colliders[i]->mesh; ++b)
            visit_sides(a, scene->bodies[b], scene->colliders[i]->mesh);
    }
    for (uint32_t i = 0; !pl_archive_failed(a) && i < counts[2]; ++i)
    {
        if (pl_archive_reading(a))
        {
            pl_field* fresh = PL_NEW(pl_field, 1);
            if (!fresh || !pl_grow((void**)&scene->fields, &scene->field_capacity, (size_t)i + 1,
                                   sizeof *scene->fields))
            {
                pl_free(fresh);
                a->status = pl_fail_memory(sizeof *fresh);
                return;
            }
            scene->fields[scene->field_count++] = fresh;
        }
        pl_archive_bytes(a, &scene->fields[i]->from, sizeof(pliant_field_desc));
        pl_archive_bytes(a, &scene->fields[i]->to, sizeof(pliant_field_desc));
        if (pl_archive_reading(a) && !pl_archive_failed(a))
            pl_archive_require(a,
                               pl_field_check(&scene->fields[i]->from) == PLIANT_OK &&
                                   pl_field_check(&scene->fields[i]->to) == PLIANT_OK,
                               "a field");
    }
    if (!pl_archive_failed(a))
        pl_save_welds(a, scene);
    if (!pl_archive_failed(a))
        pl_save_encounters(a, scene);
}

pl_status pl_scene_save_block(pl_scene* scene, void* buffer, uint64_t* bytes)
{
    pl_archive a;
    if (buffer)
        pl_archive_write(&a, buffer, *bytes, STATE_VERSION);
    else
        pl_archive_count(&a);
    visit_scene(&a, scene);
    return pl_archive_finish(&a, bytes);
}

static void free_contents(pl_scene* contents)
{
    pl_scene_clear(contents);
    pl_free(contents->bodies);
    pl_free(contents->colliders);
    pl_free(contents->fields);
}

/* Creates handles and allocates derived data: the last steps that can fail. */
static pl_status adopt(pl_scene* fresh, pl_scene* owner)
{
    for (uint32_t i = 0; i < fresh->body_count; ++i)
    {
        pl_body* body = fresh->bodies[i];
        body->index = i;
        if (!(body->handle = pl_handle_new(PL_HANDLE_BODY, body, owner)))
            return pl_fail_memory(64);
        if (body->material.pressure > 0)
            PL_TRY(pl_pressure_build(body, owner->pool));
    }
    for (uint32_t i = 0; i < fresh->collider_count; ++i)
        if (!(fresh->colliders[i]->handle =
                  pl_handle_new(PL_HANDLE_COLLIDER, fresh->colliders[i], owner)))
            return pl_fail_memory(64);
    for (uint32_t i = 0; i < fresh->field_count; ++i)
        if (!(fresh->fields[i]->handle = pl_handle_new(PL_HANDLE_FIELD, fresh->fields[i], owner)))
            return pl_fail_memory(64);
    return PLIANT_OK;
}

pl_status pl_scene_restore_block(pl_scene* scene, const void* buffer, uint64_t bytes)
{
    pl_archive a;
    pl_scene fresh;
    memset(&fresh, 0, sizeof fresh);
    PL_TRY(pl_archive_read(&a, buffer, bytes, STATE_VERSION));
    visit_scene(&a, &fresh);
    pl_status status = pl_archive_finish(&a, NULL);
    if (status == PLIANT_OK)
        status = adopt(&fresh, scene);
    if (status != PLIANT_OK)
    {
        free_contents(&fresh);
        return status;
    }
    free_contents(scene);
    scene->bodies = fresh.bodies, scene->body_count = fresh.body_count;
    scene->body_capacity = fresh.body_capacity;
    scene->colliders = fresh.colliders, scene->collider_count = fresh.collider_count;
    scene->collider_capacity = fresh.collider_capacity;
    scene->fields = fresh.fields, scene->field_count = fresh.field_count;
    scene->field_capacity = fresh.field_capacity;
    memcpy(scene->gravity, fresh.gravity, sizeof scene->gravity);
    scene->frame = fresh.frame, scene->substep = fresh.substep;
    scene->substep_of_frame = fresh.substep_of_frame, scene->substeps = fresh.substeps;
    scene->frame_dt = fresh.frame_dt, scene->time = fresh.time;
    scene->cluster_contacts = fresh.cluster_contacts;
    scene->contact_settings = fresh.contact_settings;
    scene->welds = fresh.welds;
    scene->encounters = fresh.encounters;
    pl_contacts_free(&scene->cluster_scratch); /* refers to the destroyed bodies */
    scene->sleep_speed = fresh.sleep_speed, scene->sleep_seconds = fresh.sleep_seconds;
    return PLIANT_OK;
}

pl_status pl_scene_hash_state(pl_scene* scene, uint64_t* hash)
{
    uint64_t h = PL_HASH_START;
    h = pl_hash(h, &scene->frame, sizeof scene->frame);
    h = pl_hash(h, &scene->substep, sizeof scene->substep);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        const pl_body* body = scene->bodies[b];
        const pl_particles* p = &body->particles;
        h = pl_hash(h, body->origin, sizeof body->origin);
        for (int k = 0; k < 3; ++k)
        {
            h = pl_hash(h, p->x[k], sizeof(float) * p->slot_count);
            h = pl_hash(h, p->v[k], sizeof(float) * p->slot_count);
        }
        h = pl_hash(h, p->quanta, sizeof(uint64_t) * p->slot_count);
        h = pl_hash(h, body->clusters.fade, sizeof(float) * body->clusters.count);
    }
    for (uint32_t i = 0; i < scene->collider_count; ++i)
    {
        const pl_mesh_collider* mesh = scene->colliders[i]->mesh;
        if (mesh)
        {
            h = pl_hash(h, mesh->from, sizeof(vec3) * mesh->vertex_count);
            h = pl_hash(h, mesh->to, sizeof(vec3) * mesh->vertex_count);
        }
    }
    *hash = h;
    return PLIANT_OK;
}
