// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/clouds.h"

#include "native/support/sample_scenes.h"
#include "native/support/test.h"
#include "scenes/scenes.h"

#include <base/rng.h>
#include <stdlib.h>
#include <string.h>

cloud cloud_box(uint32_t x, uint32_t y, uint32_t z, uint64_t seed)
{
    cloud c = {.count = x * y * z};
    c.points = calloc(c.count, sizeof *c.points);
    c.masses = calloc(c.count, sizeof *c.masses);
    pl_rng rng = pl_rng_seed(seed);
    uint32_t most = PL_MAX(x, PL_MAX(y, z));
    for (uint32_t i = 0; i < c.count; ++i)
    {
        vec3 at = v3(i % x, i / x % y, i / x / y);
        vec3 jitter = pl_rng_unit3(&rng);
        at.x += x > 1 ? jitter.x : 0;
        at.y += y > 1 ? jitter.y : 0;
        at.z += z > 1 ? jitter.z : 0;
        c.points[i] = v3_scale(at, 1.0 / most);
        c.masses[i] = 0.8 + 0.4 * pl_rng_unit(&rng);
    }
    return c;
}

static cloud alike(uint32_t count)
{
    cloud c = {.count = count};
    c.points = calloc(count ? count : 1, sizeof *c.points);
    c.masses = calloc(count ? count : 1, sizeof *c.masses);
    for (uint32_t i = 0; i < count; ++i)
        c.masses[i] = 1;
    return c;
}

cloud cloud_published(const char* name)
{
    scene_points points = scene_published(name);
    cloud c = alike(points.count);
    for (uint32_t i = 0; i < c.count; ++i)
        c.points[i] = v3(points.at[3 * i], points.at[3 * i + 1], points.at[3 * i + 2]);
    scene_points_free(&points);
    return c;
}

cloud cloud_sampled(scene_mesh mesh, uint32_t count)
{
    pl_samples samples = sample_scene(mesh, by_count(PLIANT_SAMPLE_BLUE_NOISE, count));
    cloud c = alike(samples.count);
    memcpy(c.points, samples.points, c.count * sizeof *c.points);
    pl_samples_free(&samples);
    return c;
}

void cloud_free(cloud* c)
{
    free(c->points);
    free(c->masses);
    free(c->shell);
    *c = (cloud){0};
}

pliant_cluster_desc cloud_desc(uint32_t count, double radius)
{
    return (pliant_cluster_desc){.size = sizeof(pliant_cluster_desc),
                                 .count = count,
                                 .radius = radius,
                                 .overlap = 5,
                                 .max_iterations = 100};
}

pl_status cloud_cluster(const cloud* c, const pliant_cluster_desc* desc, pl_pool* pool,
                        pl_clustering* g)
{
    return pl_cluster(c->count, c->points, c->masses, c->shell, desc, pool, NULL, g);
}

double* clustering_sums(const cloud* c, const pl_clustering* g)
{
    double* sums = calloc(c->count, sizeof *sums);
    for (uint32_t e = 0; e < g->begin[g->count]; ++e)
        sums[g->particle[e]] += g->kernel[e];
    return sums;
}

bool clusterings_equal(const pl_clustering* a, const pl_clustering* b)
{
    if (a->count != b->count || a->radius != b->radius || a->converged != b->converged ||
        a->grown != b->grown || a->strays != b->strays || a->iterations != b->iterations)
        return false;
    size_t n = a->count;
    if (memcmp(a->begin, b->begin, (n + 1) * sizeof *a->begin) != 0 ||
        memcmp(a->centres, b->centres, n * sizeof *a->centres) != 0)
        return false;
    size_t entries = a->begin[n];
    return memcmp(a->particle, b->particle, entries * sizeof *a->particle) == 0 &&
           memcmp(a->kernel, b->kernel, entries * sizeof *a->kernel) == 0;
}

static double parameter_of(const pliant_cluster_desc* desc)
{
    const double defaults[] = {1e-4, 0, 0, .1, 2};
    return desc->kernel_parameter != 0 ? desc->kernel_parameter : defaults[desc->kernel];
}

/* Whether point i should be a member of cluster k, from the distances to all centres. */
static double distance(const cloud* c, const pl_clustering* g, uint32_t i, uint32_t k)
{
    return v3_length(v3_sub(c->points[i], g->centres[k]));
}

static uint32_t shell_of_cluster(const cloud* c, const pl_clustering* g, uint32_t k)
{
    return c->shell ? c->shell[g->particle[g->begin[k]]] : 0;
}

/* The memberships of one point against those that brute force gives it. */
static void check_point(const cloud* c, const pl_clustering* g, uint32_t i, const uint32_t* held,
                        uint32_t* strays)
{
    uint32_t reached = 0, actual = 0;
    double nearest = INFINITY, joined = 0;
    for (uint32_t k = 0; k < g->count; ++k)
    {
        if (c->shell && shell_of_cluster(c, g, k) != c->shell[i])
        {
            CHECK(!held[k]);
            continue;
        }
        double d = distance(c, g, i, k);
        bool sure = fabs(d - g->radius) > 1e-12 * g->radius; /* at the rim rounding decides */
        reached += d <= g->radius;
        actual += held[k] != 0;
        nearest = fmin(nearest, d);
        joined = held[k] ? d : joined;
        CHECK_MSG(!sure || (held[k] != 0) == (d <= g->radius) || actual == 1,
                  "point %u, cluster %u, distance %g, radius %g", i, k, d, g->radius);
    }
    CHECK_MSG(actual >= 1, "point %u is in no cluster", i);
    if (reached == 0)
    {
        ++*strays;
        CHECK_MSG(actual == 1 && joined <= nearest * (1 + 1e-12), "stray %u joined at %g, not %g",
                  i, joined, nearest);
    }
}

static void check_members(const cloud* c, const pl_clustering* g)
{
    uint32_t* cursor = calloc(g->count, sizeof *cursor);
    uint32_t* held = calloc(g->count, sizeof *held);
    uint32_t strays = 0;
    for (uint32_t k = 0; k < g->count; ++k)
    {
        CHECK_MSG(g->begin[k + 1] > g->begin[k], "cluster %u is empty", k);
        cursor[k] = g->begin[k];
    }
    /* Members ascend, so one cursor a cluster goes through them point by point. */
    for (uint32_t i = 0; i < c->count; ++i)
    {
        for (uint32_t k = 0; k < g->count; ++k)
        {
            held[k] = cursor[k] < g->begin[k + 1] && g->particle[cursor[k]] == i;
            cursor[k] += held[k];
        }
        check_point(c, g, i, held, &strays);
    }
    for (uint32_t k = 0; k < g->count; ++k)
        CHECK_MSG(cursor[k] == g->begin[k + 1], "members of cluster %u do not ascend", k);
    CHECK_MSG(strays == g->strays, "%u strays, not %u", g->strays, strays);
    free(cursor);
    free(held);
}

void check_clustering(const cloud* c, const pl_clustering* g, const pliant_cluster_desc* desc)
{
    check_members(c, g);
    double* sums = clustering_sums(c, g);
    double* weights = calloc(c->count, sizeof *weights);
    double parameter = parameter_of(desc), mass = 0, whole = 0;
    for (uint32_t k = 0; k < g->count; ++k)
        for (uint32_t e = g->begin[k]; e < g->begin[k + 1]; ++e)
        {
            uint32_t i = g->particle[e];
            double value =
                pl_kernel_value(desc->kernel, parameter, distance(c, g, i, k), g->radius);
            CHECK_MSG(g->kernel[e] > 0 && isfinite(g->kernel[e]), "kernel value %g", g->kernel[e]);
            CHECK_NEAR(g->kernel[e] / value, 1, 1e-5);
            weights[i] += g->kernel[e] / sums[i];
            mass += c->masses[i] * (g->kernel[e] / sums[i]);
        }
    for (uint32_t i = 0; i < c->count; ++i)
    {
        CHECK_NEAR(weights[i], 1, 1e-9);
        whole += c->masses[i];
    }
    CHECK_NEAR(mass / whole, 1, 1e-9);
    free(sums);
    free(weights);
}

void check_centres(const cloud* c, const pl_clustering* g, double tolerance, uint32_t pulled)
{
    uint32_t off_count = 0;
    double* sums = clustering_sums(c, g);
    for (uint32_t k = 0; k < g->count; ++k)
    {
        vec3 sum = v3(0, 0, 0);
        double mass = 0;
        for (uint32_t e = g->begin[k]; e < g->begin[k + 1]; ++e)
        {
            uint32_t i = g->particle[e];
            double share = c->masses[i] * g->kernel[e] / sums[i];
            sum = v3_mad(sum, c->points[i], share);
            mass += share;
        }
        double off = v3_length(v3_sub(v3_scale(sum, 1 / mass), g->centres[k]));
        off_count += off > tolerance * g->radius;
        CHECK_MSG(off <= .2 * g->radius, "centre %u is %g radii off", k, off / g->radius);
    }
    CHECK_MSG(off_count <= pulled, "%u of %u centres are off", off_count, g->count);
    free(sums);
}

int32_t progress_count(void* user, double fraction, const char* stage)
{
    progress* p = user;
    (void)stage;
    p->disordered |= fraction < p->last;
    p->ordered = !p->disordered;
    p->last = fraction;
    return p->left-- <= 0;
}
