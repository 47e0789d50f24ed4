// SPDX-License-Identifier: GPL-3.0-or-later
/* Benchmarks of clustering, sampling and rotations, and of the growth of cost with size. */
#include "base/cpu.h"
#include "base/rng.h"
#include "bench.h"
#include "dynamics/rotation.h"
#include "native/oracle/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Creates a scene's body repeatedly; returns the least times and the last body's info. */
static pliant_body_info make_body(const scene* s, int times, double* sample_ms, double* cluster_ms)
{
    pliant_body_info info;
    *sample_ms = *cluster_ms = INFINITY;
    for (int k = 0; k < times; ++k)
    {
        pliant_scene made = 0;
        pliant_body body = 0;
        BENCH_TRY(scene_create(s, &made, &body));
        pliant_body_info_init(&info, sizeof info);
        BENCH_TRY(pliant_body_get_info(body, &info));
        *sample_ms = fmin(*sample_ms, info.sample_ms);
        *cluster_ms = fmin(*cluster_ms, info.cluster_ms);
        BENCH_TRY(pliant_scene_destroy(made));
    }
    return info;
}

void bench_cluster(const bench_options* o)
{
    scene s;
    double sample_ms, cluster_ms;
    scene_open("cube125k", &s);
    s.scene.threads = (uint32_t)o->threads;
    pliant_body_info info = make_body(&s, 3, &sample_ms, &cluster_ms);
    json_open(NULL);
    json_text("bench", "cluster");
    json_count("particles", info.particles);
    json_count("clusters", info.level[0].clusters);
    json_number("radius", info.cluster_radius);
    json_count("memberships", info.level[0].memberships);
    json_count("iterations", info.cluster_iterations);
    json_truth("converged", !(info.warnings & PLIANT_WARN_NOT_CONVERGED));
    json_count("threads", (uint64_t)o->threads);
    json_number("cluster_ms", cluster_ms);
    json_close();
    scene_close(&s);
}

void bench_sample(const bench_options* o)
{
    scene s;
    double sample_ms, cluster_ms;
    scene_open("armadillo", &s);
    s.scene.threads = (uint32_t)o->threads;
    s.body.sample.count = 125000;
    s.body.sample.mode = PLIANT_SAMPLE_BLUE_NOISE;
    s.body.cluster.count = 1; /* measure sampling only */
    s.body.cluster.radius = 10;
    pliant_body_info info = make_body(&s, 3, &sample_ms, &cluster_ms);
    json_open(NULL);
    json_text("bench", "sample");
    json_count("wanted", 125000);
    json_count("particles", info.particles);
    json_count("triangles", s.mesh.triangle_count);
    json_number("spacing", info.spacing);
    json_count("threads", (uint64_t)o->threads);
    json_number("sample_ms", sample_ms);
    json_close();
    scene_close(&s);
}

/* ------------------------------------------------------------------ scaling */

/* Jittered cubes with the clusters of 125,000 particles in 8,192, at other sizes. */
static void scale_once(const bench_options* o, uint32_t count)
{
    scene s;
    pliant_scene made = 0;
    pliant_body body = 0;
    pliant_scene_info info;
    pliant_body_info figures;
    uint32_t steps = count > 1000000 ? 10 : count > 200000 ? 20 : 50;
    double* ms = calloc(steps, sizeof *ms);
    if (!ms)
        abort();
    scene_open_cube(count, &s);
    s.body.cluster.count = (uint32_t)(count * (8192. / 125000));
    s.body.cluster.radius = .056 * cbrt(125000. / count);
    s.body.cluster.max_iterations = 20; /* full convergence does not affect the step's cost */
    s.body.cluster.fixed = 1;
    s.scene.threads = (uint32_t)o->threads;
    s.scene.simd = o->simd;
    BENCH_TRY(scene_create(&s, &made, &body));
    for (uint32_t k = 0; k < 3; ++k)
        BENCH_TRY(pliant_scene_advance(made, &s.frame));
    for (uint32_t k = 0; k < steps; ++k)
    {
        double start = bench_now_ms();
        BENCH_TRY(pliant_scene_advance(made, &s.frame));
        ms[k] = bench_now_ms() - start;
    }
    pliant_scene_info_init(&info, sizeof info);
    pliant_body_info_init(&figures, sizeof figures);
    BENCH_TRY(pliant_scene_get_info(made, &info));
    BENCH_TRY(pliant_body_get_info(body, &figures));
    json_open(NULL);
    json_count("particles", figures.particles);
    json_count("clusters", figures.level[0].clusters);
    json_number("memberships_a_particle", figures.overlap);
    json_number("cluster_ms", figures.cluster_ms);
    json_number("ms_min", bench_least(steps, ms));
    json_number("ns_per_particle", bench_least(steps, ms) * 1e6 / figures.particles);
    json_number("bytes_per_particle", (double)info.bytes / figures.particles);
    json_close();
    free(ms);
    BENCH_TRY(pliant_scene_destroy(made));
    scene_close(&s);
}

void bench_scaling(const bench_options* o)
{
    json_open(NULL);
    json_text("bench", "scaling");
    json_count("threads", (uint64_t)o->threads);
    json_text("simd", pl_cpu_path_name(o->simd == PLIANT_SIMD_AUTO ? pl_cpu_best() : o->simd));
    json_list("sizes");
    for (uint32_t count = 31250; count <= 4000000 && count <= o->max_particles; count *= 2)
        scale_once(o, count);
    json_list_close();
    json_close();
}

/* ------------------------------------------------------------------ rotations */

/* Near a rotation, as in a step; random; inverted; flat. */
static mat3 sample_matrix(pl_rng* rng, int kind)
{
    mat3 a, u, v;
    double sigma[3];
    for (int i = 0; i < 9; ++i)
        a.m[i / 3][i % 3] = 2 * pl_rng_unit(rng) - 1;
    if (kind == 1)
        return a;
    reference_svd(a, &u, sigma, &v);
    for (int i = 0; i < 9; ++i)
        a.m[i / 3][i % 3] = 0;
    double stretch[4][3] = {{1.2, 1, .9}, {0, 0, 0}, {1.1, 1, -.9}, {1, .8, 0}};
    for (int k = 0; k < 27; ++k)
        a.m[k / 3 % 3][k % 3] += u.m[k / 3 % 3][k / 9] * stretch[kind][k / 9] * v.m[k % 3][k / 9];
    return a;
}

void bench_rotation(const bench_options* o)
{
    static const char* const kinds[] = {"near_rotations", "random", "inverted", "flat"};
    enum
    {
        COUNT = 4096
    };
    float* f = malloc(9 * COUNT * sizeof *f);
    float* r = malloc(9 * COUNT * sizeof *r);
    if (!f || !r)
        abort();
    (void)o;
    json_open(NULL);
    json_text("bench", "rotation");
    json_list("paths");
    for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
    {
        if (!pl_cpu_has(simd))
            continue;
        json_open(NULL);
        json_text("simd", pl_cpu_path_name(simd));
        for (int kind = 0; kind < 4; ++kind)
        {
            pl_rng rng = pl_rng_seed(1);
            double least = INFINITY, sum = 0;
            for (int i = 0; i < COUNT; ++i)
            {
                mat3 a = sample_matrix(&rng, kind);
                for (int k = 0; k < 9; ++k)
                    f[72 * (i / 8) + 8 * k + i % 8] = (float)a.m[k / 3][k % 3];
            }
            for (int repeat = 0; repeat < 30; ++repeat)
            {
                double start = bench_now_ms();
                pl_rotation_batch(simd, f, r, COUNT);
                least = fmin(least, bench_now_ms() - start);
                sum += r[repeat]; /* keeps the compiler from removing the calls */
            }
            json_number(kinds[kind], isnan(sum) ? NAN : least * 1e6 / COUNT);
        }
        json_close();
    }
    json_list_close();
    json_text("unit", "ns");
    json_close();
    free(f);
    free(r);
}
