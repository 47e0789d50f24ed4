// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * From a mesh to particles: selects the mode, samples points, and assigns volumes and shells.
 *
 * Particles of a volume have equal shares of it (blue noise and grids are even); particles on a
 * surface have equal shares of area times thickness; mesh vertices share by the area around each.
 *
 * For points supplied by the caller the volume is unknown. With s the median distance to the
 * nearest neighbour, a particle of blue noise has the volume PACKING s^3. Measured: 1.27 (5,000
 * particles, many of them at the surface) to 1.38 (125,000) for our samplings, 1.36 and 1.46 for
 * two published sets that fill known boxes. (A regular grid has 1.)
 */
#include "sampling/sample.h"

#include "sampling/sample_internal.h"

#include <string.h>

static const double PACKING = 1.36;
/* Shells within this distance, in spacings, are one: their particles are neighbours. */
static const double TOUCHING = 1;

enum
{
    DARTS_A_POINT = 1000 /* in a walk over a surface (sample_surface.c), at most */
};

/* ------------------------------------------------------------------ volumes and shells */

static pl_status make_room(pl_samples* out, uint32_t count)
{
    out->count = count;
    out->points = PL_NEW(vec3, count);
    out->volumes = PL_NEW(double, count);
    out->shell = PL_NEW(uint32_t, count);
    if (!out->points || !out->volumes || !out->shell)
        return pl_fail_memory(count * sizeof(vec3));
    return PLIANT_OK;
}

static pl_status take_points(pl_samples* out, const pl_poisson* grid)
{
    PL_TRY(make_room(out, grid->count));
    memcpy(out->points, grid->points, grid->count * sizeof(vec3));
    return pl_typical_spacing(out->count, out->points, &out->spacing, NULL);
}

static void share(pl_samples* out, double volume)
{
    for (uint32_t i = 0; i < out->count; ++i)
        out->volumes[i] = volume / out->count;
}

typedef struct shell_finder
{
    const pl_mesh* mesh;
    const pl_owners* owners;
    const uint32_t* group;    /* of each shell */
    const uint32_t* triangle; /* of each particle, or NULL: use the enclosing shell */
    pl_samples* out;
    uint32_t first;
} shell_finder;

static uint32_t shell_of(const shell_finder* f, uint32_t i)
{
    if (!f->triangle)
        return pl_owner(f->owners, f->out->points[i]);
    uint32_t t = f->triangle[i];
    if (t == UINT32_MAX)
        t = pl_mesh_nearest(f->mesh, f->out->points[i]).triangle;
    return f->mesh->shell[t];
}

static void find_shells(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    shell_finder* f = context;
    (void)worker;
    for (uint32_t i = f->first + begin; i < f->first + end; ++i)
        f->out->shell[i] = f->group[shell_of(f, i)];
}

/* Numbers groups in the order of their first particles; empty groups get no number. */
static void number_shells(pl_samples* out, uint32_t* number, uint32_t groups)
{
    memset(number, 255, groups * sizeof *number);
    for (uint32_t i = 0; i < out->count; ++i)
    {
        if (number[out->shell[i]] == UINT32_MAX)
            number[out->shell[i]] = out->shell_count++;
        out->shell[i] = number[out->shell[i]];
    }
}

/* ------------------------------------------------------------------ modes */

typedef struct sampler
{
    const pl_mesh* mesh;
    const pliant_sample_desc* desc;
    pl_pool* pool;
    pl_task* task;
    pl_samples* out;
} sampler;

/* "triangle" of each particle; NULL: they fill a volume. */
static pl_status give_shells(const sampler* s, const uint32_t* triangle)
{
    const pl_mesh* mesh = s->mesh;
    pl_samples* out = s->out;
    if (!mesh->tree || mesh->shell_count == 1)
    {
        out->shell_count = 1;
        return PLIANT_OK;
    }
    pl_owners owners = {0};
    uint32_t* group = PL_NEW(uint32_t, 2 * (size_t)mesh->shell_count);
    pl_status status =
        group ? pl_owners_init(&owners, mesh) : pl_fail_memory(mesh->shell_count * sizeof *group);
    if (status == PLIANT_OK)
        status = pl_group_shells(mesh, !triangle, s->desc->shells_apart == PLIANT_SHELLS_APART,
                                 TOUCHING * out->spacing, group, s->task);
    shell_finder f = {mesh, &owners, group, triangle, out, 0};
    const uint32_t portion = 8192;
    for (; status == PLIANT_OK && f.first < out->count; f.first += portion)
    {
        pl_parallel_for(s->pool, PL_MIN(portion, out->count - f.first), 256, find_shells, &f);
        if (pl_task_step(s->task, (double)f.first / out->count))
            status = PLIANT_CANCELLED;
    }
    if (status == PLIANT_OK)
        number_shells(out, group + mesh->shell_count, mesh->shell_count);
    pl_owners_free(&owners);
    pl_free(group);
    return status;
}

static pl_status fail_spacing(double spacing, double count)
{
    return pl_fail(PLIANT_ERROR_ARGUMENT,
                   "A spacing of %g would take about %.0f particles; %u is the most", spacing,
                   count, PL_MOST_SAMPLES);
}

static pl_status blue_noise(sampler* s, pl_volume* volume, pl_poisson* grid, bool* missed)
{
    double spacing = s->desc->spacing, area = s->mesh->area;
    volume->seed = s->desc->seed;
    if (spacing > 0)
    {
        double count = pl_blue_noise_count(spacing, volume->volume, 0);
        if (count > PL_MOST_SAMPLES)
            return fail_spacing(spacing, count);
        PL_TRY(pl_poisson_init(grid, spacing, s->mesh->lower));
        return pl_blue_noise(volume, grid);
    }
    /* The map refines the volume estimate: compute the distance again. */
    PL_TRY(pl_volume_refine(volume, pl_blue_noise_distance(s->desc->count, volume->volume, area)));
    double guess = pl_blue_noise_distance(s->desc->count, volume->volume, area);
    return pl_search_count(s->desc->count, guess, PL_LEAST_SPACING * s->mesh->extent, 3,
                           s->mesh->lower, pl_blue_noise, volume, grid, missed);
}

/* If a body is much thinner than the spacing, a lattice has no or far too many points in it. */
static bool is_far(const sampler* s, uint32_t count)
{
    return count > 2 * (uint64_t)s->desc->count || 2 * (uint64_t)count < s->desc->count;
}

static pl_status sample_volume(sampler* s, pl_volume* volume)
{
    pl_poisson grid = {0};
    bool missed = false;
    pl_status status = PLIANT_OK;
    if (s->out->mode == PLIANT_SAMPLE_GRID)
    {
        double spacing = s->desc->spacing;
        double count = spacing > 0 ? volume->volume / (spacing * spacing * spacing) : 0;
        status = count > PL_MOST_SAMPLES
                     ? fail_spacing(spacing, count)
                     : pl_grid_points(volume, s->desc->count, spacing, &grid, &missed);
        if (status == PLIANT_OK && (!grid.count || (spacing <= 0 && is_far(s, grid.count))))
            s->out->mode = PLIANT_SAMPLE_BLUE_NOISE;
    }
    if (status == PLIANT_OK && s->out->mode == PLIANT_SAMPLE_BLUE_NOISE)
    {
        pl_poisson_free(&grid);
        status = blue_noise(s, volume, &grid, &missed);
    }
    if (status == PLIANT_OK)
        status = take_points(s->out, &grid);
    pl_poisson_free(&grid);
    PL_TRY(status);
    s->out->warnings |= missed ? PLIANT_WARN_COUNT_MISSED : 0;
    if (!(s->out->spacing > 0)) /* a single particle */
        s->out->spacing = cbrt(volume->volume);
    share(s->out, volume->volume);
    return give_shells(s, NULL);
}

static double thickness_of(const sampler* s)
{
    return s->desc->thickness > 0 ? s->desc->thickness : s->out->spacing;
}

/* Lower bound of the search. If the surface overlaps itself, or is no wider than the rounding of
 * its coordinates, there are fewer distinct positions than wanted points. */
static double least_surface_distance(const sampler* s)
{
    double darts = PL_MIN(DARTS_A_POINT * (double)s->desc->count, (double)PL_MOST_SAMPLES);
    return PL_MAX(PL_LEAST_SPACING * s->mesh->extent,
                  pl_surface_noise_distance(darts, s->mesh->area));
}

static pl_status sample_surface(sampler* s)
{
    pl_surface surface = {s->mesh, s->task, s->desc->seed};
    pl_poisson grid = {0};
    bool missed = false;
    pl_status status;
    if (s->desc->spacing > 0)
    {
        status = pl_poisson_init(&grid, s->desc->spacing, s->mesh->lower);
        if (status == PLIANT_OK)
            status = pl_surface_noise(&surface, &grid);
    }
    else
        status = pl_search_count(s->desc->count,
                                 pl_surface_noise_distance(s->desc->count, s->mesh->area),
                                 least_surface_distance(s), 2, s->mesh->lower, pl_surface_noise,
                                 &surface, &grid, &missed);
    if (status == PLIANT_OK)
        status = take_points(s->out, &grid);
    if (status == PLIANT_OK)
    {
        s->out->warnings |= missed ? PLIANT_WARN_COUNT_MISSED : 0;
        if (!(s->out->spacing > 0)) /* a single particle */
            s->out->spacing = PL_MIN(grid.distance, sqrt(s->mesh->area));
        s->out->thickness = thickness_of(s);
        share(s->out, s->mesh->area * s->out->thickness);
        status = give_shells(s, grid.tags);
    }
    pl_poisson_free(&grid);
    return status;
}

/* ------------------------------------------------------------------ the mesh's own vertices */

/* Distinct vertex positions, each with the area around it and one of its triangles. */
typedef struct places
{
    uint32_t count;
    uint32_t* vertex;   /* of each place */
    uint32_t* triangle; /* of each place; UINT32_MAX: loose */
    uint32_t* place;    /* of each vertex that stands for its place */
    double* area;
} places;

static pl_status find_places(const pl_mesh* mesh, places* p)
{
    p->vertex = PL_NEW(uint32_t, mesh->vertex_count);
    p->triangle = PL_NEW(uint32_t, mesh->vertex_count);
    p->place = PL_NEW(uint32_t, mesh->vertex_count);
    p->area = PL_NEW(double, mesh->vertex_count);
    if (!p->vertex || !p->triangle || !p->place || !p->area)
        return pl_fail_memory(mesh->vertex_count * 20);
    for (uint32_t v = 0; v < mesh->vertex_count; ++v)
        if (mesh->weld[v] == v)
        {
            p->triangle[p->count] = UINT32_MAX;
            p->place[v] = p->count;
            p->vertex[p->count++] = v;
        }
    double sum = 0;
    uint32_t used = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
        for (int k = 0; k < 3; ++k)
        {
            uint32_t i = p->place[mesh->weld[mesh->triangles[3 * (size_t)t + k]]];
            double area = mesh->twin[t] ? 0 : pl_mesh_triangle_area(mesh, t) / 3;
            used += p->triangle[i] == UINT32_MAX;
            p->triangle[i] = PL_MIN(p->triangle[i], t);
            p->area[i] += area;
            sum += area;
        }
    for (uint32_t i = 0; i < p->count; ++i)
        if (p->triangle[i] == UINT32_MAX)
            p->area[i] = used ? sum / used : 1; /* loose: like the average */
    return PLIANT_OK;
}

/* The volume that all vertices share. */
static pl_status total_volume(sampler* s, double* total)
{
    const pl_mesh* mesh = s->mesh;
    double spacing = s->out->spacing;
    *total = s->out->count * PACKING * spacing * spacing * spacing;
    if (!mesh->tree)
        return PLIANT_OK;
    *total = mesh->area * thickness_of(s);
    pl_volume volume;
    pl_status status = pl_volume_init(&volume, mesh, false, s->pool, s->task);
    if (status == PLIANT_OK && volume.volume > 0)
    {
        status = pl_volume_refine(&volume, mesh->extent / 50);
        *total = volume.volume;
    }
    else
        s->out->thickness = thickness_of(s);
    pl_volume_free(&volume);
    return status;
}

static pl_status take_vertices(sampler* s, const places* p)
{
    pl_samples* out = s->out;
    double total, sum = 0;
    PL_TRY(make_room(out, p->count));
    for (uint32_t i = 0; i < p->count; ++i)
    {
        out->points[i] = s->mesh->vertices[p->vertex[i]];
        sum += p->area[i];
    }
    PL_TRY(pl_typical_spacing(out->count, out->points, &out->spacing, NULL));
    if (!(out->spacing > 0))
        out->spacing = 1;
    PL_TRY(total_volume(s, &total));
    for (uint32_t i = 0; i < p->count; ++i)
        out->volumes[i] = total * p->area[i] / sum;
    return give_shells(s, p->triangle);
}

static pl_status sample_vertices(sampler* s)
{
    places p = {0};
    pl_status status = find_places(s->mesh, &p);
    if (status == PLIANT_OK)
        status = take_vertices(s, &p);
    pl_free(p.vertex);
    pl_free(p.triangle);
    pl_free(p.place);
    pl_free(p.area);
    return status;
}

/* ------------------------------------------------------------------ the whole */

/* Makes reported progress monotone: stages report their own fractions. */
typedef struct monotone_progress
{
    pl_task* task;
    double highest;
} monotone_progress;

static int32_t report(void* user, double fraction, const char* stage)
{
    monotone_progress* f = user;
    (void)stage;
    f->highest = PL_MAX(f->highest, fraction);
    return pl_task_step(f->task, f->highest);
}

static pl_status check(const pl_mesh* mesh, const pliant_sample_desc* desc)
{
    if (desc->mode > PLIANT_SAMPLE_VERTICES)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "There is no sampling mode %u", desc->mode);
    if (!(desc->spacing >= 0) || !isfinite(desc->spacing))
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The spacing is %g; it must be 0 or more",
                       desc->spacing);
    if (!(desc->thickness >= 0) || !isfinite(desc->thickness))
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The thickness is %g; it must be 0 or more",
                       desc->thickness);
    if (desc->mode == PLIANT_SAMPLE_VERTICES)
        return PLIANT_OK;
    if (!mesh->tree)
        return pl_fail(PLIANT_ERROR_MESH,
                       "The mesh has no triangles: only its vertices can be sampled");
    if (desc->spacing == 0 && (desc->count == 0 || desc->count > PL_MOST_SAMPLES))
        return pl_fail(PLIANT_ERROR_ARGUMENT, "%u particles are wanted; 1 to %u are possible",
                       desc->count, PL_MOST_SAMPLES);
    if (desc->spacing > 0 && desc->spacing < PL_LEAST_SPACING * mesh->extent)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "The spacing of %g is too small for a mesh of size %g", desc->spacing,
                       mesh->extent);
    return PLIANT_OK;
}

static pl_status run(sampler* s)
{
    uint32_t mode = s->desc->mode;
    pl_volume volume = {0};
    pl_status status = PLIANT_OK;
    if (mode != PLIANT_SAMPLE_SURFACE && mode != PLIANT_SAMPLE_VERTICES)
    {
        status = pl_volume_init(&volume, s->mesh, mode != PLIANT_SAMPLE_AUTO, s->pool, s->task);
        if (!(volume.volume > 0))
        {
            mode = PLIANT_SAMPLE_SURFACE;
            s->out->warnings |= PLIANT_WARN_NO_VOLUME;
        }
        else if (mode == PLIANT_SAMPLE_AUTO)
            mode = PLIANT_SAMPLE_BLUE_NOISE;
    }
    s->out->mode = mode;
    if (status == PLIANT_OK)
        status = mode == PLIANT_SAMPLE_VERTICES  ? sample_vertices(s)
                 : mode == PLIANT_SAMPLE_SURFACE ? sample_surface(s)
                                                 : sample_volume(s, &volume);
    pl_volume_free(&volume);
    return status;
}

pl_status pl_sample(const pl_mesh* mesh, const pliant_sample_desc* desc, pl_pool* pool,
                    pl_task* task, pl_samples* samples)
{
    *samples = (pl_samples){0};
    PL_TRY(check(mesh, desc));
    monotone_progress f = {task, 0};
    pl_task inner = {.progress = report, .user = &f, .to = 1};
    sampler s = {mesh, desc, pool, task ? &inner : NULL, samples};
    if (mesh->dropped_triangles || mesh->bad_vertices)
        samples->warnings |= PLIANT_WARN_MESH_DEFECTS;
    pl_status status = run(&s);
    if (status == PLIANT_OK && pl_task_step(task, 1))
        status = PLIANT_CANCELLED;
    return status;
}

pl_status pl_sample_points(uint32_t count, const vec3* points, const float* volumes,
                           pl_samples* samples)
{
    uint32_t places_found;
    double sum = 0;
    *samples = (pl_samples){0};
    if (!count || !points)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "There are no points");
    for (uint32_t i = 0; i < count; ++i)
    {
        if (!v3_finite(points[i]))
            return pl_fail(PLIANT_ERROR_ARGUMENT, "Point %u is at (%g, %g, %g)", i, points[i].x,
                           points[i].y, points[i].z);
        if (volumes && (!(volumes[i] > 0) || !isfinite(volumes[i])))
            return pl_fail(PLIANT_ERROR_ARGUMENT, "The volume of point %u is %g", i, volumes[i]);
        sum += volumes ? volumes[i] : 0;
    }
    PL_TRY(make_room(samples, count));
    memcpy(samples->points, points, count * sizeof *points);
    PL_TRY(pl_typical_spacing(count, points, &samples->spacing, &places_found));
    if (!(samples->spacing > 0)) /* all at one place */
        samples->spacing = volumes ? cbrt(sum / count / PACKING) : 1;
    samples->thickness = samples->spacing;
    double s = samples->spacing, whole = places_found * PACKING * s * s * s;
    for (uint32_t i = 0; i < count; ++i)
        samples->volumes[i] = volumes ? volumes[i] : whole / count;
    samples->shell_count = 1;
    return PLIANT_OK;
}

void pl_samples_free(pl_samples* samples)
{
    pl_free(samples->points);
    pl_free(samples->volumes);
    pl_free(samples->shell);
    *samples = (pl_samples){0};
}
