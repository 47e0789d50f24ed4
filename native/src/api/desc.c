// SPDX-License-Identifier: GPL-3.0-or-later
/* Descriptors: defaults, and validation with an error sentence for each invalid value. */
#include "api/api.h"

#include <string.h>

/* Zeroes the caller's descriptor and sets its size; returns whether defaults may be written. */
static bool start(void* desc, size_t size, size_t known)
{
    if (!desc || size < sizeof(uint32_t))
        return false;
    memset(desc, 0, size);
    uint32_t stored = (uint32_t)size;
    memcpy(desc, &stored, sizeof stored);
    return size == known;
}

void pliant_scene_desc_init(pliant_scene_desc* desc, size_t size)
{
    if (start(desc, size, sizeof *desc))
        desc->gravity[2] = -9.81;
}

void pliant_scene_info_init(pliant_scene_info* info, size_t size)
{
    start(info, size, sizeof *info);
}

void pliant_frame_desc_init(pliant_frame_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
    desc->dt = 1.0 / 24;
    desc->max_substeps = 32;
}

void pliant_mesh_desc_init(pliant_mesh_desc* desc, size_t size)
{
    start(desc, size, sizeof *desc);
}

void pliant_sample_desc_init(pliant_sample_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
    desc->count = 5000;
    desc->shells_apart = PLIANT_SHELLS_TOUCHING;
}

void pliant_cluster_desc_init(pliant_cluster_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
    desc->overlap = 5;
    desc->max_iterations = 100;
}

void pliant_levels_desc_init(pliant_levels_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
    desc->count = 1;
    desc->reduction = 8;
    desc->radius_multiplier = 2;
    desc->a = desc->b = -1;
    for (int l = 0; l < PLIANT_MAX_LEVELS; ++l)
        desc->damping[l] = 1;
}

void pliant_material_desc_init(pliant_material_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
    desc->stiffness = 2;
    desc->damping = 1;
    desc->density = 1000;
    desc->strain_relaxation = .3;
    desc->strain_iterations = 4;
    desc->beta = .5;
    desc->inflation = 1;
    desc->yield = INFINITY;
    desc->flow = 20;
    desc->recluster = PLIANT_RECLUSTER_ON;
    desc->recluster_condition = 2;
    desc->recluster_fade_in = .4;
    desc->recluster_fade_out = .6;
}

void pliant_body_desc_init(pliant_body_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
    pliant_mesh_desc_init(&desc->mesh, sizeof desc->mesh);
    pliant_sample_desc_init(&desc->sample, sizeof desc->sample);
    pliant_cluster_desc_init(&desc->cluster, sizeof desc->cluster);
    pliant_levels_desc_init(&desc->levels, sizeof desc->levels);
    pliant_material_desc_init(&desc->material, sizeof desc->material);
}

void pliant_body_info_init(pliant_body_info* info, size_t size)
{
    start(info, size, sizeof *info);
}

void pliant_fracture_desc_init(pliant_fracture_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
    desc->settle = 1;
    desc->toughness = INFINITY;
    desc->falloff = 3;
    desc->smallest_piece = .002;
}

void pliant_collider_desc_init(pliant_collider_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
    desc->pose.rotation[0] = 1;
    for (int k = 0; k < 3; ++k)
        desc->pose.extent[k] = 1;
    desc->friction = .5;
    desc->groups = UINT32_MAX;
}

void pliant_contact_desc_init(pliant_contact_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
    pl_contact_settings settings = pl_contact_defaults();
    desc->stiffness = settings.stiffness;
    desc->friction = settings.friction;
    desc->restitution = settings.restitution;
    desc->thickness = settings.thickness;
    desc->iterations = settings.iterations;
}

void pliant_weld_desc_init(pliant_weld_desc* desc, size_t size)
{
    start(desc, size, sizeof *desc);
}

void pliant_field_desc_init(pliant_field_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
    for (int k = 0; k < 4; ++k)
        desc->matrix[5 * k] = 1;
    desc->strength = 1;
}

void pliant_skin_desc_init(pliant_skin_desc* desc, size_t size)
{
    if (start(desc, size, sizeof *desc))
        desc->rebind = 1;
}

void pliant_store_desc_init(pliant_store_desc* desc, size_t size)
{
    if (!start(desc, size, sizeof *desc))
        return;
#if defined(PL_HAVE_ZSTD)
    desc->compression = PLIANT_COMPRESS_ZSTD;
#endif
    desc->checkpoint_every = 10;
}

void pliant_store_info_init(pliant_store_info* info, size_t size)
{
    start(info, size, sizeof *info);
}

void pliant_stored_body_info_init(pliant_stored_body_info* info, size_t size)
{
    start(info, size, sizeof *info);
}

/* ------------------------------------------------------------------ checks */

pl_status pl_check_desc(const void* desc, size_t size, const char* name)
{
    uint32_t stored = 0;
    if (!desc)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "%s is NULL", name);
    memcpy(&stored, desc, sizeof stored);
    if (stored != size)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "%s has size %u where %zu is right: initialise it with %s_init", name,
                       stored, size, name);
    return PLIANT_OK;
}

pl_status pl_check_range(double value, double low, double high, const char* name)
{
    if (value >= low && value <= high)
        return PLIANT_OK;
    return pl_fail(PLIANT_ERROR_ARGUMENT, "%s is %g: it must be between %g and %g", name, value,
                   low, high);
}

pl_status pl_check_enum(uint32_t value, uint32_t count, const char* name)
{
    if (value < count)
        return PLIANT_OK;
    return pl_fail(PLIANT_ERROR_ARGUMENT, "%s is %u: the choices are 0 to %u", name, value,
                   count - 1);
}

pl_status pl_check_vector(const double* v, const char* name)
{
    for (int k = 0; k < 3; ++k)
        if (!isfinite(v[k]) || fabs(v[k]) > 1e12)
            return pl_fail(PLIANT_ERROR_ARGUMENT, "%s has a component of %g", name, v[k]);
    return PLIANT_OK;
}

pl_status pl_check_floats(const float* values, uint64_t count, const char* name)
{
    if (count && !values)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "%s is NULL", name);
    for (uint64_t i = 0; i < count; ++i)
        if (!isfinite(values[i]))
            return pl_fail(PLIANT_ERROR_ARGUMENT, "%s has a value that is not a number (at %llu)",
                           name, (unsigned long long)i);
    return PLIANT_OK;
}

pl_status pl_check_material(const pliant_material_desc* m)
{
    PL_TRY(pl_check_desc(m, sizeof *m, "pliant_material_desc"));
    PL_TRY(pl_check_enum(m->stiffness_kind, 3, "stiffness_kind"));
    PL_TRY(pl_check_enum(m->goal, 3, "goal"));
    PL_TRY(pl_check_enum(m->rotation, 2, "rotation"));
    if (m->stiffness_kind == PLIANT_STIFFNESS_ALPHA)
        PL_TRY(pl_check_range(m->stiffness, 0, 2, "stiffness (alpha)"));
    PL_TRY(pl_check_range(m->stiffness, 0, 1e15, "stiffness"));
    PL_TRY(pl_check_range(m->damping, 0, m->damping_per_step ? 1 : 1e6, "damping"));
    PL_TRY(pl_check_range(m->density, 1e-9, 1e12, "density"));
    PL_TRY(pl_check_range(m->strain_limit, 0, 1e6, "strain_limit"));
    PL_TRY(pl_check_range(m->strain_relaxation, 0, 1, "strain_relaxation"));
    if (m->strain_iterations > 1000)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "strain_iterations is %u: the most is 1000",
                       m->strain_iterations);
    PL_TRY(pl_check_range(m->beta, 0, PLIANT_BETA_MOST, "beta (how much goals give)"));
    PL_TRY(pl_check_range(m->pressure, 0, 1e15, "pressure"));
    PL_TRY(pl_check_range(m->inflation, 1e-3, 1e3, "inflation"));
    PL_TRY(pl_check_range(m->drag, 0, 1e6, "drag"));
    PL_TRY(pl_check_range(m->yield, 0, INFINITY, "yield"));
    PL_TRY(pl_check_range(m->flow, 0, 1e6, "flow"));
    PL_TRY(pl_check_range(m->hardening, -1e6, 1e6, "hardening"));
    PL_TRY(pl_check_range(m->plastic_limit, 0, 1e6, "plastic_limit"));
    PL_TRY(pl_check_enum(m->recluster, 3, "recluster"));
    PL_TRY(pl_check_range(m->recluster_condition, 1.01, 1e6, "recluster_condition"));
    PL_TRY(pl_check_range(m->recluster_fade_in, 0, 1e6, "recluster_fade_in"));
    PL_TRY(pl_check_range(m->recluster_fade_out, 0, 1e6, "recluster_fade_out"));
    if (m->recluster_least > 100)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "recluster_least is %u: the most is 100",
                       m->recluster_least);
    if (m->yield < INFINITY && m->goal == PLIANT_GOAL_QUADRATIC)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "yield is %g, but quadratic goals cannot flow: "
                       "choose rigid or linear goals",
                       m->yield);
    return PLIANT_OK;
}

pl_status pl_check_plastic(const pliant_material_desc* m, uint32_t levels, uint32_t kind)
{
    if (m->yield < INFINITY && levels > 1 && kind == PLIANT_LEVELS_INDEPENDENT)
        return pl_fail(
            PLIANT_ERROR_ARGUMENT,
            "yield is %g, but independent levels would pull a body back to its old shape: "
            "choose nested levels",
            m->yield);
    return PLIANT_OK;
}

pl_status pl_check_fracture(const pliant_fracture_desc* d)
{
    PL_TRY(pl_check_desc(d, sizeof *d, "pliant_fracture_desc"));
    PL_TRY(pl_check_range(d->toughness, 0, INFINITY, "toughness"));
    PL_TRY(pl_check_range(d->boost, 0, 1e6, "boost"));
    PL_TRY(pl_check_range(d->falloff, 0, 1e6, "falloff"));
    PL_TRY(pl_check_range(d->first_time, -1e12, 1e12, "first_time"));
    if (d->cells > PL_CELLS_MOST)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "cells is %u: it must be at most 1,048,576",
                       d->cells);
    return pl_check_range(d->smallest_piece, 0, 1, "smallest_piece");
}

static pl_status check_mesh(const pliant_mesh_desc* mesh)
{
    PL_TRY(pl_check_desc(mesh, sizeof *mesh, "pliant_mesh_desc"));
    PL_TRY(pl_check_vector(mesh->origin, "mesh.origin"));
    if (mesh->vertex_count && !mesh->vertices)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "mesh.vertices is NULL with %u vertices",
                       mesh->vertex_count);
    if (mesh->triangle_count && !mesh->triangles)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "mesh.triangles is NULL with %u triangles",
                       mesh->triangle_count);
    if (mesh->triangle_count > 1u << 30 || mesh->vertex_count > 1u << 30)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The mesh has %u triangles: too many",
                       mesh->triangle_count);
    return PLIANT_OK;
}

static pl_status check_sampling(const pliant_sample_desc* s)
{
    PL_TRY(pl_check_desc(s, sizeof *s, "pliant_sample_desc"));
    PL_TRY(pl_check_enum(s->mode, 5, "sample.mode"));
    PL_TRY(pl_check_enum(s->shells_apart, 3, "sample.shells_apart"));
    PL_TRY(pl_check_range(s->spacing, 0, 1e12, "sample.spacing"));
    PL_TRY(pl_check_range(s->thickness, 0, 1e12, "sample.thickness"));
    if (s->spacing == 0 && (s->count == 0 || s->count > 100000000) &&
        s->mode != PLIANT_SAMPLE_VERTICES)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "sample.count is %u: it must be between 1 and 100,000,000", s->count);
    return PLIANT_OK;
}

static pl_status check_clustering(const pliant_cluster_desc* c)
{
    PL_TRY(pl_check_desc(c, sizeof *c, "pliant_cluster_desc"));
    PL_TRY(pl_check_enum(c->algorithm, 3, "cluster.algorithm"));
    PL_TRY(pl_check_enum(c->kernel, 5, "cluster.kernel"));
    PL_TRY(pl_check_range(c->cluster_size, 0, 1e12, "cluster.cluster_size"));
    PL_TRY(pl_check_range(c->radius, 0, 1e12, "cluster.radius"));
    if ((c->radius > 0 && c->radius < 1e-12) || (c->cluster_size > 0 && c->cluster_size < 1e-12))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "cluster.%s is %g: it must be 0 (automatic) or at least 1e-12",
                       c->radius > 0 && c->radius < 1e-12 ? "radius" : "cluster_size",
                       c->radius > 0 && c->radius < 1e-12 ? c->radius : c->cluster_size);
    PL_TRY(pl_check_range(c->overlap, 1, 100, "cluster.overlap"));
    PL_TRY(pl_check_range(c->kernel_parameter, 0, 1e6, "cluster.kernel_parameter"));
    if (c->kernel == PLIANT_KERNEL_FCM && c->kernel_parameter != 0 && c->kernel_parameter <= 1)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "cluster.kernel_parameter is %g: the exponent m must be greater than 1",
                       c->kernel_parameter);
    if (c->max_iterations == 0 || c->max_iterations > 100000)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "cluster.max_iterations is %u: it must be between 1 and 100,000",
                       c->max_iterations);
    return PLIANT_OK;
}

static pl_status check_levels(const pliant_levels_desc* l)
{
    PL_TRY(pl_check_desc(l, sizeof *l, "pliant_levels_desc"));
    PL_TRY(pl_check_enum(l->kind, 2, "levels.kind"));
    PL_TRY(pl_check_enum(l->weighting, 5, "levels.weighting"));
    if (l->count > PLIANT_MAX_LEVELS)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "levels.count is %u: the most is %u", l->count,
                       PLIANT_MAX_LEVELS);
    if (l->reduction < 2 || l->reduction > 10000)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "levels.reduction is %u: it must be between 2 and 10,000", l->reduction);
    PL_TRY(pl_check_range(l->radius_multiplier, 1.0001, 100, "levels.radius_multiplier"));
    if (l->a != -1)
        PL_TRY(pl_check_range(l->a, 0, 1e6, "levels.a"));
    if (l->b != -1)
        PL_TRY(pl_check_range(l->b, 0, 100, "levels.b"));
    for (int i = 0; i < PLIANT_MAX_LEVELS; ++i)
    {
        PL_TRY(pl_check_range(l->weights[i], 0, 1e12, "levels.weights"));
        PL_TRY(pl_check_range(l->damping[i], 0, 1e6, "levels.damping"));
    }
    return PLIANT_OK;
}

pl_status pl_check_body_desc(const pliant_body_desc* d)
{
    PL_TRY(pl_check_desc(d, sizeof *d, "pliant_body_desc"));
    PL_TRY(check_mesh(&d->mesh));
    PL_TRY(check_sampling(&d->sample));
    PL_TRY(check_clustering(&d->cluster));
    PL_TRY(check_levels(&d->levels));
    PL_TRY(pl_check_material(&d->material));
    PL_TRY(pl_check_vector(d->velocity, "velocity"));
    PL_TRY(pl_check_vector(d->angular_velocity, "angular_velocity"));
    PL_TRY(pl_check_vector(d->points_origin, "points_origin"));
    if (d->point_count > 100000000)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "point_count is %u: the most is 100,000,000",
                       d->point_count);
    PL_TRY(pl_check_floats(d->points, (uint64_t)d->point_count * 3, "points"));
    if (d->volumes)
        PL_TRY(pl_check_floats(d->volumes, d->point_count, "volumes"));
    for (uint32_t i = 0; d->volumes && i < d->point_count; ++i)
        if (!(d->volumes[i] > 0))
            return pl_fail(PLIANT_ERROR_ARGUMENT, "volumes[%u] is %g: it must be positive", i,
                           d->volumes[i]);
    if (d->point_count == 0 && d->mesh.vertex_count == 0)
        return pl_fail(PLIANT_ERROR_MESH, "There is no mesh and there are no points");
    uint64_t painted = d->point_count ? d->point_count : d->mesh.vertex_count;
    const float* factors[] = {d->stiffness_factor, d->damping_factor,  d->strain_limit_factor,
                              d->density_factor,   d->yield_factor,    d->flow_factor,
                              d->hardening_factor, d->toughness_factor};
    const char* names[] = {"stiffness_factor", "damping_factor",  "strain_limit_factor",
                           "density_factor",   "yield_factor",    "flow_factor",
                           "hardening_factor", "toughness_factor"};
    for (size_t k = 0; k < PL_COUNTOF(factors); ++k)
        if (factors[k])
            PL_TRY(pl_check_floats(factors[k], painted, names[k]));
    PL_TRY(pl_check_plastic(&d->material, d->levels.count, d->levels.kind));
    if (d->material.pressure > 0 && d->mesh.triangle_count == 0)
        return pl_fail(PLIANT_ERROR_MESH, "Pressure needs a mesh with triangles");
    return PLIANT_OK;
}
