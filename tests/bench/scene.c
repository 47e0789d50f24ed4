// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One scene, step by step: the library's time, and the oracle's from the same state.
 *
 * Steps are timed one by one after a warm-up; where the oracle runs too, runs of its steps
 * alternate with runs of the library's, so that both see the same machine, each with its own data
 * in the cache. Ratios are of the least times. A membership-pass is one membership in one matching
 * or limiting pass.
 */
#include "base/cpu.h"
#include "bench.h"
#include "native/oracle/oracle.h"
#include "scenes/bars.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Consecutive steps of the library or the oracle before they alternate. */
enum
{
    RUN = 5
};

static void apply_material(const bench_options* o, pliant_material_desc* material)
{
    if (o->alpha >= 0)
        material->stiffness_kind = PLIANT_STIFFNESS_ALPHA, material->stiffness = o->alpha;
    if (o->young >= 0)
        material->stiffness_kind = PLIANT_STIFFNESS_YOUNG, material->stiffness = o->young;
    if (o->frequency >= 0)
        material->stiffness_kind = PLIANT_STIFFNESS_FREQUENCY, material->stiffness = o->frequency;
    if (material->stiffness_kind != PLIANT_STIFFNESS_ALPHA)
        material->damping_per_step = 0, material->damping = 1;
    if (o->damping >= 0)
        material->damping = o->damping;
    if (o->violate)
        material->strain_limit = 1e-4;
    if (o->gamma >= 0)
        material->strain_limit = o->gamma;
    if (o->omega >= 0)
        material->strain_relaxation = o->omega;
    if (o->strain_iterations >= 0)
        material->strain_iterations = (uint32_t)o->strain_iterations;
    if (o->yield >= 0)
        material->yield = o->yield, material->flow = 1, material->flow_per_step = 1;
    if (o->goal >= 0)
        material->goal = (uint32_t)o->goal;
}

static void open_scene(const bench_options* o, scene* s)
{
    if (o->particles ? !scene_open_file(o->particles, s) : !scene_open(o->scene, s))
    {
        fprintf(stderr,
                o->particles ? "pliant-bench: no particles in %s\n"
                             : "pliant-bench: there is no scene %s\n",
                o->particles ? o->particles : o->scene);
        exit(2);
    }
    if (o->clusters >= 0)
        s->body.cluster.count = (uint32_t)o->clusters;
    if (o->radius >= 0)
        s->body.cluster.radius = o->radius;
    if (o->kernel >= 0)
        s->body.cluster.kernel = (uint32_t)o->kernel;
    if (o->levels >= 0)
        s->body.levels.count = (uint32_t)o->levels;
    if (o->level_kind >= 0)
        s->body.levels.kind = (uint32_t)o->level_kind;
    if (o->contacts >= 0)
        s->contact.enabled = (uint32_t)o->contacts;
    if (o->recluster >= 0)
        s->body.material.recluster = (uint32_t)o->recluster;
    if (o->press >= 0)
        s->press = o->press;
    apply_material(o, &s->body.material);
    for (uint32_t k = 0; k < s->kind_count; ++k)
    {
        apply_material(o, &s->kind[k].body.material);
        if (o->clusters >= 0)
            s->kind[k].body.cluster.count = (uint32_t)o->clusters;
        if (o->levels >= 0)
            s->kind[k].body.levels.count = (uint32_t)o->levels;
    }
    s->scene.threads = (uint32_t)o->threads;
    s->scene.simd = o->simd;
}

/* Measurements, in milliseconds per step. */
typedef struct timing
{
    double *real, *oracle;  /* of each step */
    double least_violated;  /* the least share of pairs violated in a step */
    double oracle_violated; /* the oracle's, in any iteration */
    double passes;          /* memberships of all passes of the last step over the finest level's */
    double oracle_pass_ns;  /* least over the steps */
    double difference;      /* after one step from the same state, over the cluster radius */
    double stage[PLIANT_STAGE_COUNT];
    double* contact; /* of each step */
    uint64_t oracle_splits, oracle_touched;
} timing;

static double difference(pliant_body body, const reference* oracle, double radius)
{
    uint64_t bytes; /* fracture happens at the end of a step: copies may exist already */
    BENCH_TRY(pliant_body_read(body, PLIANT_POSITION, 0, NULL, NULL, &bytes));
    float* x = malloc(bytes);
    double worst = 0;
    if (!x)
        abort();
    BENCH_TRY(pliant_body_read(body, PLIANT_POSITION, 0, NULL, x, &bytes));
    for (uint32_t i = 0; i < oracle->particles; ++i)
        worst = fmax(worst, v3_length(v3_sub(v3_from(x + 3 * (size_t)i), oracle->x[i])));
    free(x);
    return worst / radius;
}

/* The oracle of each body, and data for brute-force contacts. */
typedef struct oracles
{
    uint32_t count;
    bool contacts;
    reference* body[SCENE_MOST_COPIES + 1];
    uint8_t* shares[SCENE_MOST_COPIES + 1];
    double depth;
    const scene* scene;
    reference_triangles* ground;
    uint64_t touched; /* by particles, of colliders, in the last step */
} oracles;

static reference* start_oracle(const bench_options* o, const scene* s, const pliant_body_desc* desc,
                               pliant_body body)
{
    reference_settings settings = {0};
    settings.material = desc->material;
    settings.literal = o->literal;
    settings.every_iteration =
        true; /* the library's step ends early if nothing is violated; that is measured, too */
    settings.plastic = desc->material.yield < INFINITY && desc->levels.count == 1;
    settings.breaks = s->breaks;
    settings.fracture = s->fracture;
    memcpy(settings.gravity, s->scene.gravity, sizeof settings.gravity);
    reference* oracle = reference_from_body(body, NULL, &desc->levels, &settings);
    if (!oracle)
        bench_fail("the oracle reads the body");
    return oracle;
}

static oracles* start_oracles(const bench_options* o, const scene* s, pliant_scene made)
{
    oracles* all = calloc(1, sizeof *all);
    if (!all)
        abort();
    all->count = s->copy_count + 1;
    all->contacts = s->contact.enabled;
    all->scene = s;
    if (s->ground.triangle_count)
        all->ground = reference_triangles_create(&s->ground_desc, s->ground.triangle_count,
                                                 s->ground.vertices, s->ground.triangles);
    for (uint32_t b = 0; b < all->count; ++b)
    {
        pliant_body body;
        BENCH_TRY(pliant_scene_get_body(made, b, &body));
        all->body[b] = start_oracle(o, s, scene_body_desc(s, b), body);
        all->body[b]->time = o->warm_up * s->frame.dt;
        all->body[b]->substep = o->warm_up;
        if (all->contacts)
            all->shares[b] = reference_shares(all->body[b]);
    }
    return all;
}

static void free_oracles(oracles* all)
{
    for (uint32_t b = 0; all && b < all->count; ++b)
    {
        reference_free(all->body[b]);
        free(all->shares[b]);
    }
    if (all)
        reference_triangles_free(all->ground);
    free(all);
}

/* Pinned particles and colliders. */
static void hold_and_collide(oracles* all, uint32_t b)
{
    const scene* s = all->scene;
    reference* body = all->body[b];
    for (uint32_t i = 0; b == 0 && s->held && i < body->particles; ++i)
    {
        float at[3];
        v3_store(body->old[i], at);
        if (s->held(at))
            body->x[i] = body->old[i], body->v[i] = v3(0, 0, 0);
    }
    all->touched += reference_collide(body, s->collider_count, s->collider, all->ground);
}

static void step_oracles(oracles* all, double dt, uint32_t k, timing* t)
{
    uint64_t passes = 0;
    double start = bench_now_ms();
    for (uint32_t b = 0; b < all->count; ++b)
    {
        all->body[b]->membership_passes = 0;
        reference_step(all->body[b], dt);
        passes += all->body[b]->membership_passes;
        t->oracle_violated = fmin(t->oracle_violated, all->body[b]->least_violated);
    }
    t->oracle_pass_ns = fmin(t->oracle_pass_ns, (bench_now_ms() - start) * 1e6 / (double)passes);
    all->touched = 0;
    for (uint32_t b = 0; b < all->count; ++b)
        hold_and_collide(all, b);
    if (all->contacts)
        reference_brute_force(all->count, all->body, all->shares, &all->depth);
    t->oracle[k] = bench_now_ms() - start;
}

static void step_library(const scene* s, pliant_scene made, uint32_t k, pliant_scene_info* info,
                         timing* t)
{
    pliant_body body;
    BENCH_TRY(pliant_scene_get_body(made, 0, &body));
    BENCH_TRY(scene_press(s, made, body));
    double start = bench_now_ms(), stage[PLIANT_STAGE_COUNT];
    BENCH_TRY(pliant_scene_advance(made, &s->frame));
    t->real[k] = bench_now_ms() - start;
    BENCH_TRY(pliant_scene_profile(made, stage, 1));
    for (uint32_t i = 0; i < PLIANT_STAGE_COUNT; ++i)
        t->stage[i] += stage[i];
    t->contact[k] = stage[PLIANT_STAGE_CONTACT];
    BENCH_TRY(pliant_scene_get_info(made, info));
    if (info->pairs_tested)
        t->least_violated =
            fmin(t->least_violated, (double)info->pairs_violated / (double)info->pairs_tested);
}

static timing run(const bench_options* o, const scene* s, pliant_scene made, pliant_body body)
{
    timing t = {calloc(o->steps, sizeof(double)),
                calloc(o->steps, sizeof(double)),
                1,
                1,
                0,
                INFINITY,
                NAN,
                {0},
                calloc(o->steps, sizeof(double)),
                0,
                0};
    oracles* oracle = NULL;
    pliant_scene_info info;
    pliant_body_info figures;
    if (!t.real || !t.oracle || !t.contact)
        abort();
    pliant_scene_info_init(&info, sizeof info);
    pliant_body_info_init(&figures, sizeof figures);
    for (uint32_t k = 0; k < o->warm_up; ++k)
        BENCH_TRY(pliant_scene_advance(made, &s->frame));
    if (o->compare)
        oracle = start_oracles(o, s, made);
    BENCH_TRY(pliant_scene_profile(made, t.stage, 1));
    memset(t.stage, 0, sizeof t.stage);
    BENCH_TRY(pliant_body_get_info(body, &figures));
    for (uint32_t begin = 0, end; begin < o->steps; begin = end)
    {
        end = begin == 0 ? 1 : begin + RUN < o->steps ? begin + RUN : o->steps;
        if (oracle && oracle->contacts && begin > 0) /* the oracle's bodies interpenetrate */
        {
            free_oracles(oracle);
            oracle = start_oracles(o, s, made);
        }
        for (uint32_t k = begin; k < end; ++k)
            step_library(s, made, k, &info, &t);
        for (uint32_t k = begin; oracle && k < end; ++k)
            step_oracles(oracle, s->frame.dt, k, &t);
        if (oracle && begin == 0)
            t.difference = difference(body, oracle->body[0], figures.cluster_radius);
    }
    double iterations = (double)info.pairs_tested / (double)figures.level[0].memberships;
    t.passes = (double)info.memberships / (double)figures.level[0].memberships + iterations;
    t.least_violated = info.pairs_tested ? t.least_violated : 0;
    t.oracle_splits = oracle ? oracle->body[0]->splits : 0;
    t.oracle_touched = oracle ? oracle->touched : 0;
    free_oracles(oracle);
    return t;
}

static void write_setup(const scene* s, const pliant_scene_info* info, const pliant_body_info* body)
{
    uint64_t memberships = 0;
    json_text("scene", s->name);
    json_truth("generated", s->generated);
    json_count("bodies", s->copy_count + 1);
    json_count("particles_in_all", info->particles);
    json_count("particles", body->particles);
    json_list("clusters");
    for (uint32_t l = 0; l < body->levels; ++l)
        json_count(NULL, body->level[l].clusters);
    json_list_close();
    for (uint32_t l = 0; l < body->levels; ++l)
        memberships += body->level[l].memberships;
    json_count("memberships", memberships);
    json_number("memberships_a_particle", body->overlap);
    json_number("radius", body->cluster_radius);
    json_count("threads", info->threads);
    json_text("simd", pl_cpu_path_name(info->simd));
    json_number("sample_ms", body->sample_ms);
    json_number("cluster_ms", body->cluster_ms);
    json_count("cluster_iterations", body->cluster_iterations);
    json_number("gamma", s->body.material.strain_limit);
    json_count("strain_iterations", s->body.material.strain_iterations);
}

/* Steps with fracture cost more than others; the least and the median do not show that. */
static double mean(uint32_t count, const double* values)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += values[i];
    return sum / count;
}

static void write_breaking(const bench_options* o, const pliant_body_info* body, const timing* t)
{
    json_count("pieces", body->pieces);
    json_count("splits", body->splits);
    json_count("updates_max", body->updates_max);
    json_number("ms_mean", mean(o->steps, t->real));
    if (!o->compare)
        return;
    json_count("oracle_splits", t->oracle_splits);
    json_number("oracle_ms_mean", mean(o->steps, t->oracle));
    json_number("ratio_of_means", mean(o->steps, t->oracle) / mean(o->steps, t->real));
}

static void write_times(const bench_options* o, const pliant_body_info* body, timing* t)
{
    double least = bench_least(o->steps, t->real), oracle = bench_least(o->steps, t->oracle);
    double passes = t->passes * (double)body->level[0].memberships;
    json_count("steps", o->steps);
    json_text("clock", bench_cpu_time ? "cpu" : "wall");
    json_number("ms_min", least);
    json_number("ms_mean", bench_mean(o->steps, t->real));
    json_number("ms_max", bench_most(o->steps, t->real));
    json_number("ms_median", bench_median(o->steps, t->real));
    json_number("passes", t->passes);
    json_number("ns_per_membership_pass", least * 1e6 / passes);
    json_number("ns_per_particle", least * 1e6 / body->particles);
    json_open("stage_ms");
    for (uint32_t k = 0; k < PLIANT_STAGE_COUNT; ++k)
        json_number(pliant_stage_name(k), t->stage[k] / o->steps);
    json_close();
    json_number("contact_ms_min", bench_least(o->steps, t->contact));
    json_number("contact_ms_median", bench_median(o->steps, t->contact));
    json_number("violated", t->least_violated);
    if (!o->compare)
        return;
    json_truth("literal", o->literal);
    json_number("oracle_ms", oracle);
    json_number("ratio", oracle / least);
    json_number("ratio_of_medians",
                bench_median(o->steps, t->oracle) / bench_median(o->steps, t->real));
    double sums[2] = {0, 0};
    for (uint32_t k = 0; k < o->steps; ++k)
        sums[0] += t->oracle[k], sums[1] += t->real[k];
    json_number("ratio_of_sums", sums[0] / sums[1]);
    json_number("oracle_ns_per_membership_pass", t->oracle_pass_ns);
    json_number("oracle_violated_each_iteration", t->oracle_violated);
    json_number("difference_after_one_step", t->difference);
    json_count("oracle_touched", t->oracle_touched);
}

void bench_scene(const bench_options* given)
{
    scene s;
    bench_options wanted = *given, *o = &wanted;
    pliant_scene made = 0;
    pliant_body body = 0;
    pliant_scene_info info;
    pliant_body_info figures;
    uint64_t hash;
    open_scene(o, &s);
    o->warm_up = o->warm_up == UINT32_MAX ? s.steps ? 0 : 10 : o->warm_up;
    o->steps = o->steps ? o->steps : s.steps ? s.steps : 100;
    BENCH_TRY(scene_create(&s, &made, &body));
    pliant_body_info_init(&figures, sizeof figures);
    BENCH_TRY(pliant_body_get_info(body, &figures));
    uint64_t memberships = figures.level[0].memberships;
    timing t = run(o, &s, made, body);
    pliant_scene_info_init(&info, sizeof info);
    BENCH_TRY(pliant_scene_get_info(made, &info));
    BENCH_TRY(pliant_body_get_info(body, &figures));
    BENCH_TRY(pliant_scene_hash(made, &hash));
    json_open(NULL);
    write_setup(&s, &info, &figures);
    write_times(o, &figures, &t);
    json_count("events", figures.recluster_events);
    if (s.breaks)
        write_breaking(o, &figures, &t);
    else
        json_number("updates_max", (double)figures.recluster_updates / (double)memberships);
    json_number("length", scene_length(body));
    json_number("condition_max", scene_worst_condition(body));
    json_count("contacts", info.contacts);
    json_count("mesh_nodes", info.mesh_nodes);
    json_count("mesh_triangles", info.mesh_triangles);
    json_count("bytes", info.bytes);
    json_number("bytes_per_particle", (double)info.bytes / figures.particles);
    json_hash("hash", hash);
    json_close();
    if (!o->json)
        fprintf(stderr, "%s: %.3f ms a step%s", s.name, bench_least(o->steps, t.real),
                o->compare ? "" : "\n");
    if (!o->json && o->compare)
        fprintf(stderr, ", the oracle %.2f ms\n", bench_least(o->steps, t.oracle));
    free(t.real);
    free(t.oracle);
    free(t.contact);
    BENCH_TRY(pliant_scene_destroy(made));
    scene_close(&s);
}
