// SPDX-License-Identifier: GPL-3.0-or-later
#include "body/create.h"

#include "body/layout.h"
#include "geometry/mesh.h"
#include "sampling/sample.h"

#include <string.h>

/* Temporary data of a build, freed at the end in every case. */
typedef struct build
{
    pl_mesh mesh;
    pl_samples samples;
    pl_clustering finest;
    pl_hierarchy hierarchy;
    vec3* points;
    double *density, *masses;
    float* factor[8]; /* stiffness, damping, strain limit, density, yield, flow, hardening,
                         toughness, by particle */
} build;

static void build_free(build* b)
{
    pl_mesh_free(&b->mesh);
    pl_samples_free(&b->samples);
    pl_clustering_free(&b->finest);
    pl_hierarchy_free(&b->hierarchy);
    pl_free(b->points);
    pl_free(b->density);
    pl_free(b->masses);
    for (size_t k = 0; k < PL_COUNTOF(b->factor); ++k)
        pl_free(b->factor[k]);
}

static void grow_bounds(const float* points, uint32_t count, const double origin[3],
                        double lower[3], double upper[3])
{
    for (uint32_t i = 0; i < count; ++i)
    {
        const float* p = points + (size_t)3 * i;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            continue;
        for (int k = 0; k < 3; ++k)
        {
            lower[k] = fmin(lower[k], p[k] + origin[k]);
            upper[k] = fmax(upper[k], p[k] + origin[k]);
        }
    }
}

/* The rest origin is the middle of what is given; the origin of positions is the nearest point of a
 * grid of a power of two, some body lengths wide. */
static void choose_origins(pl_body* body, const pliant_body_desc* desc)
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    if (desc->point_count)
        grow_bounds(desc->points, desc->point_count, desc->points_origin, lower, upper);
    else
        grow_bounds(desc->mesh.vertices, desc->mesh.vertex_count, desc->mesh.origin, lower, upper);
    double extent = 0;
    for (int k = 0; k < 3; ++k)
        extent = fmax(extent, upper[k] - lower[k]);
    int exponent = 0;
    frexp(extent > 0 && isfinite(extent) ? extent : 1, &exponent);
    body->grid = ldexp(1, exponent + 1); /* two to four lengths */
    for (int k = 0; k < 3; ++k)
    {
        body->rest_origin[k] = lower[k] <= upper[k] ? .5 * (lower[k] + upper[k]) : 0;
        body->origin[k] = floor(body->rest_origin[k] / body->grid + .5) * body->grid;
    }
}

static pl_status copy_mesh(pl_body* body, const pliant_mesh_desc* mesh)
{
    body->mesh_vertices = PL_NEW(float, (size_t)mesh->vertex_count * 3);
    body->mesh_triangles = PL_NEW(uint32_t, (size_t)mesh->triangle_count * 3);
    if (!body->mesh_vertices || !body->mesh_triangles)
        return pl_fail_memory((size_t)mesh->vertex_count * 12);
    body->mesh_vertex_count = mesh->vertex_count;
    body->mesh_triangle_count = mesh->triangle_count;
    for (uint32_t i = 0; i < mesh->vertex_count; ++i)
        for (int k = 0; k < 3; ++k)
            body->mesh_vertices[3 * (size_t)i + k] =
                (float)(mesh->vertices[3 * (size_t)i + k] + mesh->origin[k] - body->rest_origin[k]);
    if (mesh->triangle_count)
        memcpy(body->mesh_triangles, mesh->triangles, (size_t)mesh->triangle_count * 12);
    return PLIANT_OK;
}

/* Of what can be used of it. */
static double mesh_size(const pliant_mesh_desc* mesh)
{
    double squared = 0;
    for (int k = 0; k < 3; ++k)
    {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < mesh->vertex_count; ++i)
            if (isfinite(mesh->vertices[3 * i + k]))
            {
                low = fmin(low, mesh->vertices[3 * i + k]);
                high = fmax(high, mesh->vertices[3 * i + k]);
            }
        squared += high > low ? (high - low) * (high - low) : 0;
    }
    return sqrt(squared);
}

/* Moments go with the square of lengths, and kernels with one over it: in float these must neither
 * vanish nor overflow. A single particle, or several in one place, have no size, but its mesh has:
 * one that is smaller than that has no mass in float. */
static pl_status check_size(const pliant_mesh_desc* mesh, const pl_samples* samples)
{
    vec3 low = samples->points[0], high = low;
    for (uint32_t i = 1; i < samples->count; ++i)
    {
        low = v3_min(low, samples->points[i]);
        high = v3_max(high, samples->points[i]);
    }
    double size = v3_length(v3_sub(high, low));
    if (size == 0)
        size = mesh_size(mesh);
    if ((size > 0 && size < 1e-8) || size > 1e9 || samples->spacing > 1e9)
        return pl_fail(PLIANT_ERROR_MESH,
                       "The body is %g across: it must be between 1e-8 and 1e9; scale it", size);
    vec3 far = v3_max(high, v3_scale(low, -1));
    double farthest = fmax(far.x, fmax(far.y, far.z));
    if (!(farthest < PL_FARTHEST_REST))
        return pl_fail(PLIANT_ERROR_MESH,
                       "The body is %g away from the middle of its mesh: remove stray vertices",
                       farthest);
    return PLIANT_OK;
}

static pl_status make_particles(pl_body* body, const pliant_body_desc* desc, pl_pool* pool,
                                pl_task* task, build* b)
{
    double start = pl_now_ms();
    if (desc->mesh.vertex_count)
    {
        PL_TRY(pl_mesh_init(&b->mesh, &desc->mesh, v3_fromd(body->rest_origin)));
        PL_TRY(copy_mesh(body, &desc->mesh));
        if (b->mesh.dropped_triangles || b->mesh.bad_vertices)
            body->warnings |= PLIANT_WARN_MESH_DEFECTS;
    }
    if (desc->point_count)
    {
        b->points = PL_NEW(vec3, desc->point_count);
        if (!b->points)
            return pl_fail_memory((size_t)desc->point_count * 24);
        for (uint32_t i = 0; i < desc->point_count; ++i)
            b->points[i] =
                v3_sub(v3_add(v3_from(desc->points + (size_t)3 * i), v3_fromd(desc->points_origin)),
                       v3_fromd(body->rest_origin));
        PL_TRY(pl_sample_points(desc->point_count, b->points, desc->volumes, &b->samples));
    }
    else
        PL_TRY(pl_sample(&b->mesh, &desc->sample, pool, task, &b->samples));
    PL_TRY(check_size(&desc->mesh, &b->samples));
    body->warnings |= b->samples.warnings;
    body->sampling = b->samples.mode;
    body->spacing = b->samples.spacing;
    body->sample_ms = pl_now_ms() - start;
    return PLIANT_OK;
}

typedef struct value_sampling
{
    const pl_mesh* mesh;
    const vec3* points;
    const float* values;
    uint32_t width;
    float* out;
} value_sampling;

static void sample_values(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const value_sampling* s = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        pl_mesh_hit hit = pl_mesh_nearest(s->mesh, s->points[i]);
        for (uint32_t w = 0; w < s->width; ++w)
        {
            double sum = 0;
            for (int k = 0; k < 3 && hit.triangle != UINT32_MAX; ++k)
                sum +=
                    hit.weights[k] *
                    s->values[(size_t)s->mesh->triangles[3 * (size_t)hit.triangle + k] * s->width +
                              w];
            s->out[(size_t)i * s->width + w] = (float)sum;
        }
    }
}

/* Painted values: by point where points were given, otherwise from the mesh's vertices. */
static pl_status paint(const pliant_body_desc* desc, const float* painted, pl_pool* pool, build* b,
                       float** out)
{
    if (!painted)
        return PLIANT_OK;
    *out = PL_NEW(float, b->samples.count);
    if (!*out)
        return pl_fail_memory((size_t)b->samples.count * 4);
    if (desc->point_count)
        memcpy(*out, painted, (size_t)b->samples.count * sizeof(float));
    else
    {
        value_sampling s = {&b->mesh, b->samples.points, painted, 1, *out};
        pl_parallel_for(pool, b->samples.count, 256, sample_values, &s);
    }
    return PLIANT_OK;
}

static pl_status make_masses(const pliant_body_desc* desc, build* b)
{
    uint32_t count = b->samples.count;
    b->density = PL_NEW(double, count);
    b->masses = PL_NEW(double, count);
    if (!b->density || !b->masses)
        return pl_fail_memory((size_t)count * 16);
    for (uint32_t i = 0; i < count; ++i)
    {
        double factor = b->factor[3] ? fmax(b->factor[3][i], 1e-3) : 1;
        b->density[i] = desc->material.density * factor;
        b->masses[i] = b->density[i] * b->samples.volumes[i];
    }
    return PLIANT_OK;
}

static pl_status make_clusters(pl_body* body, const pliant_body_desc* desc, pl_pool* pool,
                               pl_task* task, build* b)
{
    double start = pl_now_ms();
    const uint32_t* shell = desc->sample.shells_apart ? b->samples.shell : NULL;
    task->from = .4, task->to = .8, task->stage = "cluster";
    PL_TRY(pl_cluster(b->samples.count, b->samples.points, b->masses, shell, &desc->cluster, pool,
                      task, &b->finest));
    if (b->finest.grown)
        body->warnings |= PLIANT_WARN_CLUSTERS_GROWN;
    if (!b->finest.converged)
        body->warnings |= PLIANT_WARN_NOT_CONVERGED;
    body->cluster_iterations = b->finest.iterations;
    task->from = .8, task->to = .95, task->stage = "levels";
    PL_TRY(pl_hierarchy_build(b->samples.count, b->samples.points, b->masses, shell, &desc->cluster,
                              &desc->levels, &b->finest, pool, task, &b->hierarchy));
    body->cluster_ms = pl_now_ms() - start;
    return PLIANT_OK;
}

/* Linear velocity, and rotation about the centre of mass. */
static void set_velocity(pl_body* body, const pliant_body_desc* desc)
{
    pl_particles* p = &body->particles;
    vec3 centre = v3(0, 0, 0), spin = v3_fromd(desc->angular_velocity);
    for (uint32_t i = 0; i < p->slot_count; ++i)
        centre = v3_mad(centre, v3(p->x[0][i], p->x[1][i], p->x[2][i]), p->mass[i] / body->mass);
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        if (!(p->mass[i] > 0))
            continue;
        vec3 arm = v3_sub(v3(p->x[0][i], p->x[1][i], p->x[2][i]), centre);
        vec3 v = v3_add(v3_fromd(desc->velocity), v3_cross(spin, arm));
        p->v[0][i] = (float)v.x, p->v[1][i] = (float)v.y, p->v[2][i] = (float)v.z;
    }
}

static pl_status build_all(pl_body* body, const pliant_body_desc* desc, pl_pool* pool,
                           pl_task* task, build* b)
{
    body->material = desc->material;
    body->plastic = desc->material.yield < INFINITY;
    body->level_kind = desc->levels.kind;
    body->kernel = desc->cluster.kernel;
    body->kernel_parameter = desc->cluster.kernel_parameter;
    choose_origins(body, desc);
    task->from = 0, task->to = .4, task->stage = "sample";
    PL_TRY(make_particles(body, desc, pool, task, b));
    PL_TRY(paint(desc, desc->stiffness_factor, pool, b, &b->factor[0]));
    PL_TRY(paint(desc, desc->damping_factor, pool, b, &b->factor[1]));
    PL_TRY(paint(desc, desc->strain_limit_factor, pool, b, &b->factor[2]));
    PL_TRY(paint(desc, desc->density_factor, pool, b, &b->factor[3]));
    PL_TRY(paint(desc, desc->yield_factor, pool, b, &b->factor[4]));
    PL_TRY(paint(desc, desc->flow_factor, pool, b, &b->factor[5]));
    PL_TRY(paint(desc, desc->hardening_factor, pool, b, &b->factor[6]));
    PL_TRY(paint(desc, desc->toughness_factor, pool, b, &b->factor[7]));
    PL_TRY(make_masses(desc, b));
    PL_TRY(make_clusters(body, desc, pool, task, b));
    pl_layout_input input = {.count = b->samples.count,
                             .points = b->samples.points,
                             .volumes = b->samples.volumes,
                             .shell = b->samples.shell,
                             .density = b->density,
                             .thickness = b->samples.thickness,
                             .stiffness_factor = b->factor[0],
                             .damping_factor = b->factor[1],
                             .limit_factor = b->factor[2],
                             .yield_factor = b->factor[4],
                             .flow_factor = b->factor[5],
                             .hardening_factor = b->factor[6],
                             .toughness_factor = b->factor[7]};
    PL_TRY(pl_layout_build(body, &input, &b->hierarchy));
    for (uint32_t l = 0; l < body->level_count; ++l)
        body->level_damping[l] = desc->levels.damping[l];
    set_velocity(body, desc);
    return PLIANT_OK;
}

pl_status pl_body_build(pl_body* body, const pliant_body_desc* desc, pl_pool* pool, pl_task* task)
{
    build b;
    memset(&b, 0, sizeof b);
    memset(body, 0, sizeof *body);
    body->friction = body->restitution = body->thickness = -1;
    pl_status status = build_all(body, desc, pool, task, &b);
    build_free(&b);
    if (status != PLIANT_OK)
        pl_body_free(body);
    return status;
}

pl_status pl_body_sample_values(const pl_body* body, uint32_t width, const float* values,
                                pl_pool* pool, float* by_id)
{
    const pl_particles* p = &body->particles;
    pliant_mesh_desc desc = {.size = sizeof desc,
                             .vertex_count = body->mesh_vertex_count,
                             .triangle_count = body->mesh_triangle_count,
                             .vertices = body->mesh_vertices,
                             .triangles = body->mesh_triangles};
    pl_mesh mesh = {0};
    vec3* points = PL_NEW(vec3, p->id_count);
    pl_status status =
        points ? pl_mesh_init(&mesh, &desc, v3(0, 0, 0)) : pl_fail_memory((size_t)p->id_count * 24);
    if (status == PLIANT_OK)
    {
        for (uint32_t c = 0; c < body->chunk_count; ++c)
        {
            const pl_chunk* chunk = &body->chunks[c];
            for (uint32_t s = chunk->slot_begin; s < chunk->slot_begin + chunk->slot_count; ++s)
                if (p->id[s] != PL_NO_PARTICLE)
                    points[p->id[s]] =
                        v3_add(v3(p->r[0][s], p->r[1][s], p->r[2][s]), v3_from(chunk->rest_origin));
        }
        value_sampling s = {&mesh, points, values, width, by_id};
        pl_parallel_for(pool, p->id_count, 256, sample_values, &s);
    }
    pl_mesh_free(&mesh);
    pl_free(points);
    return status;
}
