// SPDX-License-Identifier: GPL-3.0-or-later
/* API of bodies. */
#include "api/api.h"
#include "body/create.h"
#include "body/layout.h"
#include "body/validity.h"
#include "collision/mesh/triangle_cache.h"
#include "dynamics/gravity_compensation.h"
#include "dynamics/material.h"
#include "dynamics/pressure.h"
#include "dynamics/pressure_setup.h"
#include "fracture/fracture.h"
#include "output/skin/pin_binding.h"
#include "sleep/sleep.h"

#include <stdio.h>
#include <string.h>

static pl_status add_body(pl_scene* scene, const pliant_body_desc* desc, pliant_body* out)
{
    pl_body* body = PL_NEW(pl_body, 1);
    if (!body || !pl_grow((void**)&scene->bodies, &scene->body_capacity,
                          (size_t)scene->body_count + 1, sizeof *scene->bodies))
    {
        pl_free(body);
        return pl_fail_memory(sizeof *body);
    }
    pl_task task = {desc->progress, desc->user, &scene->cancel, 0, 1, "make"};
    pl_status status = pl_body_build(body, desc, scene->pool, &task);
    if (status == PLIANT_CANCELLED)
        __atomic_store_n(&scene->cancel, 0, __ATOMIC_RELAXED);
    if (status == PLIANT_OK && desc->material.pressure > 0)
        status = pl_pressure_build(body, scene->pool);
    if (status == PLIANT_OK && !(body->handle = pl_handle_new(PL_HANDLE_BODY, body, scene)))
        status = pl_fail_memory(64);
    if (status != PLIANT_OK)
    {
        pl_pressure_free(body->pressure);
        pl_body_free(body);
        pl_free(body);
        return status;
    }
    body->index = scene->body_count;
    scene->bodies[scene->body_count++] = body;
    *out = body->handle;
    return PLIANT_OK;
}

pliant_status pliant_body_create(pliant_scene handle, const pliant_body_desc* desc,
                                 pliant_body* out)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    PL_TRY(pl_check_body_desc(desc));
    if (!out)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the body's handle is NULL");
    if (scene->substep_of_frame)
        return pl_fail(PLIANT_ERROR_STATE, "A frame is under way: finish it first");
    PL_TRY(pl_scene_enter(scene, "pliant_body_create"));
    pl_status status = add_body(scene, desc, out);
    pl_scene_leave(scene);
    return status;
}

pliant_status pliant_body_destroy(pliant_body handle)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    pl_scene_remove_body(scene, body);
    pl_scene_wake(scene);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ info */

static void motion_figures(const pl_body* body, pliant_body_info* info)
{
    const pl_particles* p = &body->particles;
    vec3 centre = v3(0, 0, 0), momentum = centre, spin = centre;
    double mass = 0;
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        double m = p->mass[i];
        vec3 x = v3(p->x[0][i], p->x[1][i], p->x[2][i]), v = v3(p->v[0][i], p->v[1][i], p->v[2][i]);
        mass += m;
        centre = v3_mad(centre, x, m);
        momentum = v3_mad(momentum, v, m);
        spin = v3_mad(spin, v3_cross(x, v), m);
        info->kinetic_energy += .5 * m * v3_dot(v, v);
    }
    centre = v3_scale(centre, 1 / mass);
    spin = v3_sub(spin, v3_cross(centre, momentum));
    info->centre[0] = centre.x + body->origin[0];
    info->centre[1] = centre.y + body->origin[1];
    info->centre[2] = centre.z + body->origin[2];
    memcpy(info->momentum, &momentum, sizeof info->momentum);
    memcpy(info->angular_momentum, &spin, sizeof info->angular_momentum);
}

pliant_status pliant_body_get_info(pliant_body handle, pliant_body_info* info)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    PL_TRY(pl_check_desc(info, sizeof *info, "pliant_body_info"));
    pliant_body_info_init(info, sizeof *info);
    info->particles = body->particles.count;
    info->levels = body->level_count;
    info->warnings = body->warnings;
    info->sampling = body->sampling;
    info->cluster_iterations = body->cluster_iterations;
    info->chunks = body->chunk_count;
    info->spacing = body->spacing;
    info->mass = body->mass;
    info->rest_volume = body->rest_volume;
    info->sample_ms = body->sample_ms;
    info->cluster_ms = body->cluster_ms;
    info->cluster_radius = body->level_radius[0];
    info->overlap = body->overlap;
    info->width = body->width;
    info->mass_quantum = body->mass_quantum;
    for (uint32_t i = 0; i < body->particles.slot_count; ++i)
        info->mass_quanta += body->particles.quanta[i];
    if (body->pressure && body->material.pressure > 0)
        pl_pressure_measure(body, scene->pool);
    info->enclosed_volume = body->enclosed_volume;
    info->pieces = pl_pieces_now(body);
    if (body->fracture)
    {
        info->pieces_ever = body->fracture->piece_count;
        info->splits = body->fracture->split_count;
        info->updates_max = body->fracture->updates_most;
    }
    info->recluster_events = body->recluster_events;
    info->recluster_updates = body->recluster_updates;
    motion_figures(body, info);
    for (uint32_t l = 0; l < body->level_count; ++l)
    {
        pliant_level_info* level = &info->level[l];
        level->clusters = body->level_begin[l + 1] - body->level_begin[l];
        level->memberships = body->level_memberships[l];
        level->radius = body->level_radius[l];
        level->weight = body->level_weight[l];
        for (uint32_t c = body->level_begin[l]; c < body->level_begin[l + 1]; ++c)
            level->alpha_mean += body->clusters.alpha[c] / level->clusters;
    }
    return PLIANT_OK;
}

/* Formats the warning that the substeps of the last frame limited the stiffness. */
static size_t format_stiffness_cut(const pl_scene* scene, const pl_body* body, char* text,
                                   size_t room, const char* before)
{
    double dt = scene->frame_dt > 0 ? scene->frame_dt : 1.0 / 24;
    uint32_t needed = pl_material_substeps(body, dt, PL_MOST_SUBSTEPS), most = needed;
    if (body->fracture && body->fracture->desc.toughness < INFINITY)
        most = (needed + PL_BREAKING_SUBSTEPS - 1) / PL_BREAKING_SUBSTEPS;
    return (size_t)snprintf(text, room,
                            "%sOnly %.0f %% of the stiffness can be reached with %u substeps a "
                            "frame: set At Most (max_substeps) to %u, fixed Substeps to %u, or "
                            "add levels.",
                            before, body->stiffness_reached * 100, scene->substeps, most, needed);
}

const char* pliant_body_warning_text(pliant_body handle)
{
    static const struct
    {
        uint32_t bit;
        const char* text;
    } sentences[] = {
        {PLIANT_WARN_NO_VOLUME, "The mesh encloses no volume: it was sampled on its surface."},
        {PLIANT_WARN_MESH_DEFECTS,
         "Some triangles or vertices could not be used and were left out."},
        {PLIANT_WARN_CLUSTERS_GROWN,
         "The clusters and their radius were enlarged until the clustering settled."},
        {PLIANT_WARN_NOT_CONVERGED, "The clustering did not settle; it is used as it is."},
        {PLIANT_WARN_FLAT_CLUSTERS,
         "Some clusters are flat or thin; they resist bending less than solid ones."},
        {PLIANT_WARN_STIFFNESS_MOVED, "The substeps cannot carry the stiffness on the finest "
                                      "level: coarser levels carry more of "
                                      "it."},
        {PLIANT_WARN_STIFFNESS_CUT, NULL},
        {PLIANT_WARN_COUNT_MISSED, "The number of particles asked for could not be met."},
        {PLIANT_WARN_SHELLS_JOINED,
         "Parts of the mesh that are too small for clusters of their own were joined."},
        {PLIANT_WARN_STIFF_BENDING,
         "Much of the body is hardly thicker than its clusters: it bends less than its stiffness "
         "says. Choose Quadratic goals, or more particles."},
        {PLIANT_WARN_LOOSE_CLUSTERS,
         "How stiff the body is is uncertain: its clusters are few, or share few or nearly all of "
         "their particles. Choose more particles, some 5 memberships for each, or a parameter m of "
         "the fuzzy c-means kernel of 1.5 or more."},
    };
    pl_body* body;
    pl_scene* scene;
    if (pl_get_body(handle, &body, &scene) != PLIANT_OK)
        return "";
    if (!body->warning_text && !(body->warning_text = PL_NEW(char, 2048)))
        return "";
    size_t at = 0;
    body->warning_text[0] = 0;
    for (size_t i = 0; i < PL_COUNTOF(sentences); ++i)
    {
        if (!(body->warnings & sentences[i].bit))
            continue;
        if (sentences[i].text)
            at += (size_t)snprintf(body->warning_text + at, 2048 - at, "%s%s", at ? "\n" : "",
                                   sentences[i].text);
        else
            at += format_stiffness_cut(scene, body, body->warning_text + at, 2048 - at,
                                       at ? "\n" : "");
    }
    return body->warning_text;
}

/* ------------------------------------------------------------------ changes */

/* Accepts values for all particles, or for the initial ones only: copies then get the values of
 * their parents. */
static pl_status check_count(const pl_body* body, uint32_t count, const char* what)
{
    const pl_particles* p = &body->particles;
    uint32_t first = pl_first_particles(p);
    if (count >= first && count <= p->id_count)
        return PLIANT_OK;
    if (first == p->id_count)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "%s are given for %u particles; the body has %u",
                       what, count, p->id_count);
    return pl_fail(PLIANT_ERROR_ARGUMENT,
                   "%s are given for %u particles; the body has %u, which were %u before it broke",
                   what, count, p->id_count, first);
}

/* The ancestor with an id below "count", whose value a particle gets. */
static uint32_t source_of(const pl_particles* p, uint32_t id, uint32_t count)
{
    while (id >= count)
        id = p->parent[id];
    return id;
}

static void mark_moved(pl_body* body)
{
    pl_positions_changed(body);
    pl_triangle_cache_forget(body);
}

static const double ZERO[3] = {0, 0, 0};

pliant_status pliant_body_set_particles(pliant_body handle, uint32_t count, const double origin[3],
                                        const float* positions, const float* velocities)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    pl_wake(body);
    PL_TRY(check_count(body, count, "Positions or velocities"));
    if (count < body->particles.id_count)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "Positions or velocities are given for %u particles; the body has %u since "
                       "it broke, and each is somewhere",
                       count, body->particles.id_count);
    if (positions)
        PL_TRY(pl_check_floats(positions, (uint64_t)count * 3, "positions"));
    if (velocities)
        PL_TRY(pl_check_floats(velocities, (uint64_t)count * 3, "velocities"));
    if (origin)
        PL_TRY(pl_check_vector(origin, "origin"));
    const double* from = origin ? origin : ZERO;
    for (uint32_t id = 0; id < count; ++id)
        for (int k = 0; k < 3 && pl_lives(&body->particles, id); ++k)
        {
            uint32_t slot = body->particles.slot_of[id];
            if (positions)
                body->particles.x[k][slot] =
                    (float)(positions[3 * (size_t)id + k] + from[k] - body->origin[k]);
            if (velocities)
                body->particles.v[k][slot] = velocities[3 * (size_t)id + k];
        }
    mark_moved(body);
    return PLIANT_OK;
}

pliant_status pliant_body_set_material(pliant_body handle, const pliant_material_desc* material)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    PL_TRY(pl_check_material(material));
    if (memcmp(&body->material, material, sizeof *material) != 0)
        pl_wake(body); /* identical settings, as after a restore, do not wake it */
    if (material->density != body->material.density || material->goal != body->material.goal)
        return pl_fail(PLIANT_ERROR_STATE,
                       "Density and goal are fixed once a body is made (%g to %g, %u to %u)",
                       body->material.density, material->density, body->material.goal,
                       material->goal);
    PL_TRY(pl_check_plastic(material, body->level_count, body->level_kind));
    if (material->resample && body->fracture)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The body may break: its particles cannot be resampled, or its cracks would "
                       "have no surface");
    if (material->pressure > 0 && body->fracture)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The body may break and would leak: pressure is %g, set it to 0",
                       material->pressure);
    if (material->pressure > 0)
        PL_TRY(pl_pressure_build(body, scene->pool));
    body->material = *material;
    body->plastic = body->plastic || material->yield < INFINITY;
    body->enclosed_volume = 0;
    pl_material_changed(body);
    return PLIANT_OK;
}

pliant_status pliant_body_set_factors(pliant_body handle, uint32_t factor, uint32_t count,
                                      const float* values)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    pl_wake(body);
    PL_TRY(pl_check_enum(factor, 7, "factor"));
    if (values)
    {
        PL_TRY(check_count(body, count, "Factors"));
        PL_TRY(pl_check_floats(values, count, "values"));
    }
    float* targets[] = {body->clusters.stiffness_factor, body->clusters.damping_factor,
                        body->clusters.limit_factor,     body->clusters.yield_factor,
                        body->clusters.flow_factor,      body->clusters.hardening_factor,
                        body->clusters.toughness_factor};
    pl_status (*average)(const pl_body*, const float*, float*) =
        factor == PLIANT_FACTOR_TOUGHNESS ? pl_layout_average_toughness : pl_layout_average_factor;
    pl_material_changed(body);
    if (!values || count == body->particles.id_count)
        return average(body, values, targets[factor]);
    float* all = PL_NEW(float, body->particles.id_count);
    if (!all)
        return pl_fail_memory((size_t)body->particles.id_count * sizeof *all);
    for (uint32_t id = 0; id < body->particles.id_count; ++id)
        all[id] = values[source_of(&body->particles, id, count)];
    pl_status status = average(body, all, targets[factor]);
    pl_free(all);
    return status;
}

pliant_status pliant_body_sample_mesh_values(pliant_body handle, uint32_t vertex_count,
                                             uint32_t width, const float* values,
                                             float* particle_values)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    if (body->mesh_triangle_count == 0)
        return pl_fail(PLIANT_ERROR_MESH, "The body has no mesh with triangles to sample from");
    if (vertex_count != body->mesh_vertex_count || width == 0 || width > 64)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "Values of %u vertices, %u each, are given; the mesh has %u vertices",
                       vertex_count, width, body->mesh_vertex_count);
    PL_TRY(pl_check_floats(values, (uint64_t)vertex_count * width, "values"));
    if (!particle_values)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "particle_values is NULL");
    return pl_body_sample_values(body, width, values, scene->pool, particle_values);
}

/* Allocates three arrays over slots unless they exist. */
static pl_status need_slots(const pl_body* body, float* arrays[3])
{
    for (int k = 0; k < 3; ++k)
        if (!arrays[k] && !(arrays[k] = PL_NEW(float, body->particles.slot_count)))
            return pl_fail_memory((size_t)body->particles.slot_count * 4);
    return PLIANT_OK;
}

pliant_status pliant_body_set_accelerations(pliant_body handle, uint32_t count,
                                            const float* accelerations)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    pl_wake(body);
    if (!accelerations)
    {
        for (int k = 0; k < 3; ++k)
        {
            pl_free(body->acceleration[k]);
            body->acceleration[k] = NULL;
        }
        return PLIANT_OK;
    }
    PL_TRY(check_count(body, count, "Accelerations"));
    PL_TRY(pl_check_floats(accelerations, (uint64_t)count * 3, "accelerations"));
    PL_TRY(need_slots(body, body->acceleration));
    for (uint32_t id = 0; id < body->particles.id_count; ++id)
        for (int k = 0; k < 3 && pl_lives(&body->particles, id); ++k)
            body->acceleration[k][body->particles.slot_of[id]] =
                accelerations[3 * (size_t)source_of(&body->particles, id, count) + k];
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ pins */

/* Allocates pin targets on first use; they start at the particles' positions. */
static pl_status need_targets(pl_body* body)
{
    pl_pins* pins = &body->pins;
    if (pins->from[0])
        return PLIANT_OK;
    PL_TRY(need_slots(body, pins->from));
    PL_TRY(need_slots(body, pins->to));
    if (!pins->frequency && !(pins->frequency = PL_NEW(float, body->particles.slot_count)))
        return pl_fail_memory((size_t)body->particles.slot_count * 4);
    for (int k = 0; k < 3; ++k)
    {
        memcpy(pins->from[k], body->particles.x[k], sizeof(float) * body->particles.slot_count);
        memcpy(pins->to[k], body->particles.x[k], sizeof(float) * body->particles.slot_count);
    }
    return PLIANT_OK;
}

pliant_status pliant_body_set_pins(pliant_body handle, uint32_t count, const float* frequencies)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    pl_wake(body);
    pl_pins* pins = &body->pins;
    if (!frequencies)
    {
        pins->any = false;
        if (pins->frequency)
            memset(pins->frequency, 0, sizeof(float) * body->particles.slot_count);
        return PLIANT_OK;
    }
    PL_TRY(check_count(body, count, "Pins"));
    for (uint32_t id = 0; id < count; ++id)
        if (!(frequencies[id] >= 0))
            return pl_fail(PLIANT_ERROR_ARGUMENT, "The pin frequency of particle %u is %g", id,
                           frequencies[id]);
    PL_TRY(need_targets(body));
    pins->any = false;
    for (uint32_t id = 0; id < body->particles.id_count; ++id)
    {
        uint32_t slot = body->particles.slot_of[id];
        if (!pl_lives(&body->particles, id))
            continue;
        float given = frequencies[source_of(&body->particles, id, count)];
        float frequency = given < PLIANT_PIN_HELD ? given : PLIANT_PIN_HELD;
        if (frequency > 0 && pins->frequency[slot] == 0 && !pins->has_targets)
            for (int k = 0; k < 3; ++k)
                pins->from[k][slot] = pins->to[k][slot] = body->particles.x[k][slot];
        pins->frequency[slot] = frequency;
        pins->any = pins->any || frequency > 0;
    }
    return PLIANT_OK;
}

pliant_status pliant_body_set_pin_targets(pliant_body handle, uint32_t count,
                                          const double origin[3], const float* positions)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    if (!body->pins.any)
        pl_wake(body); /* pieces with pins do not sleep */
    PL_TRY(check_count(body, count, "Pin targets"));
    PL_TRY(pl_check_floats(positions, (uint64_t)count * 3, "positions"));
    if (origin)
        PL_TRY(pl_check_vector(origin, "origin"));
    PL_TRY(need_targets(body));
    const double* from = origin ? origin : ZERO;
    for (uint32_t id = 0; id < body->particles.id_count; ++id)
    {
        const float* at = positions + 3 * (size_t)source_of(&body->particles, id, count);
        for (int k = 0; k < 3 && pl_lives(&body->particles, id); ++k)
            body->pins.to[k][body->particles.slot_of[id]] =
                (float)(at[k] + from[k] - body->origin[k]);
    }
    body->pins.has_targets = true;
    return PLIANT_OK;
}

pliant_status pliant_body_set_pin_mesh(pliant_body handle, uint32_t vertex_count,
                                       const double origin[3], const float* vertices)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    if (!body->pins.any)
        pl_wake(body);
    if (body->mesh_triangle_count == 0)
        return pl_fail(PLIANT_ERROR_MESH, "The body has no mesh with triangles to follow");
    if (vertex_count != body->mesh_vertex_count)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "The animated mesh has %u vertices; the body's mesh has %u", vertex_count,
                       body->mesh_vertex_count);
    PL_TRY(pl_check_floats(vertices, (uint64_t)vertex_count * 3, "vertices"));
    if (origin)
        PL_TRY(pl_check_vector(origin, "origin"));
    float* targets = PL_NEW(float, (size_t)body->particles.id_count * 3);
    if (!targets)
        return pl_fail_memory((size_t)body->particles.id_count * 12);
    pl_status status = pl_pin_binding_apply(body, vertices, scene->pool, targets);
    if (status == PLIANT_OK)
        status = pliant_body_set_pin_targets(handle, body->particles.id_count, origin, targets);
    pl_free(targets);
    return status;
}

pliant_status pliant_body_set_follow(pliant_body handle, int32_t follow)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    if (follow || body->pins.follow)
        pl_wake(body);
    if (follow)
        PL_TRY(need_targets(body));
    body->pins.follow = follow != 0;
    return PLIANT_OK;
}

pliant_status pliant_body_balance(pliant_body handle, const pliant_frame_desc* frame, double* share)
{
    pl_body* body;
    pl_scene* scene;
    double found = 0;
    PL_TRY(pl_get_body(handle, &body, &scene));
    PL_TRY(pl_check_frame(frame));
    pl_wake(body);
    uint32_t substeps = frame->substeps ? frame->substeps
                                        : pl_scene_substeps(scene, frame->dt, frame->max_substeps);
    PL_TRY(pl_compensate_gravity(scene, body, (float)(frame->dt / substeps), &found));
    mark_moved(body);
    if (share)
        *share = found;
    return PLIANT_OK;
}
