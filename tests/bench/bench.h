// SPDX-License-Identifier: GPL-3.0-or-later
/* pliant-bench: shared declarations. main.c has the usage. */
#ifndef PLIANT_BENCH_H
#define PLIANT_BENCH_H

#include "scenes/scenes.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_options
{
    const char* scene; /* a scene, or one of the other benchmarks */
    const char* particles;
    /* Overrides of the scene's settings; negative or zero: the scene's own. */
    int64_t clusters;
    double radius;
    int kernel, levels, level_kind, goal, contacts, recluster;
    double press; /* force of the scenes plastic-beam and elastic-beam */
    double alpha, young, frequency, gamma, omega, damping, yield;
    int strain_iterations;
    uint32_t steps, warm_up;
    int threads;
    uint32_t simd;
    bool compare, violate, json, literal;
    uint64_t max_particles; /* of "scaling" */
} bench_options;

/* Streaming JSON writer. Names are string literals; values are escaped. */
void json_open(const char* name); /* NULL: the outermost, or an element of a list */
void json_close(void);
void json_list(const char* name);
void json_list_close(void);
void json_text(const char* name, const char* value);
void json_number(const char* name, double value); /* not finite: null */
void json_count(const char* name, uint64_t value);
void json_hash(const char* name, uint64_t value);
void json_truth(const char* name, bool value);

/* Ends the program with the library's error sentence. */
void bench_fail(const char* doing);
#define BENCH_TRY(call)                                                                            \
    do                                                                                             \
    {                                                                                              \
        if ((call) != PLIANT_OK)                                                                   \
            bench_fail(#call);                                                                     \
    } while (0)

/* Milliseconds on the clock selected by --cpu-time. */
extern bool bench_cpu_time;
double bench_now_ms(void);
/* Median; sorts the values. */
double bench_median(uint32_t count, double* values);
double bench_least(uint32_t count, const double* values);
double bench_mean(uint32_t count, const double* values);
double bench_most(uint32_t count, const double* values);

/* The benchmarks: each writes one JSON object. */
void bench_scene(const bench_options* options);
void bench_scaling(const bench_options* options);
void bench_cluster(const bench_options* options);
void bench_sample(const bench_options* options);
void bench_rotation(const bench_options* options);
void bench_pairs(const bench_options* options);

#endif
