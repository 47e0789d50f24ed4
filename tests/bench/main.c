// SPDX-License-Identifier: GPL-3.0-or-later
/* The benchmark's command line. */
#include "base/cpu.h"
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const kernels[] = {"invsq", "box", "poly6", "blend", "fcm", NULL};
static const char* const goals[] = {"rigid", "linear", "quadratic", NULL};
static const char* const switches[] = {"off", "on", NULL};
static const char* const reclusters[] = {"off", "on", "world", NULL};
static const char* const kinds[] = {"nested", "independent", NULL};

static void usage(FILE* out)
{
    fprintf(
        out,
        "usage: pliant-bench SCENE [options]\n"
        "       pliant-bench --particles FILE --clusters N --radius R [options]\n"
        "       pliant-bench rotation | cluster | sample | pairs | scaling [--max-particles N]\n"
        "                    [options]\n"
        "\nOne JSON object on stdout. Options replace what the scene has:\n"
        "  --clusters N --radius R --kernel invsq|box|poly6|blend|fcm\n"
        "  --levels L (0: down to one cluster) --level-kind nested|independent\n"
        "  --goal rigid|linear|quadratic --contacts on|off\n"
        "  --alpha A | --young PA | --frequency HZ\n"
        "  --gamma G --omega W --strain-iterations K   --gamma 0 switches limits off\n"
        "  --damping D       the papers' k_d with --alpha, otherwise a rate per second\n"
        "  --yield STRAIN    plastic from this strain on: the papers' flow, nu 1 a step\n"
        "  --recluster on|off|world   what becomes of clusters that have flowed\n"
        "  --press S         the force of plastic-beam and elastic-beam\n"
        "  --violate         a strain limit that nearly every pair violates in each iteration\n"
        "  --steps S --warm-up S\n"
        "  --threads T (0: all cores; default 1) --simd auto|scalar|sse2|avx2|avx512|neon\n"
        "  --compare         runs the oracle beside it from the same state\n"
        "  --literal         the oracle takes the papers' literal step\n"
        "  --json            nothing but the JSON (otherwise a sentence on stderr as well)\n"
        "\nScenes:\n");
    for (uint32_t i = 0; i < scene_count(); ++i)
        fprintf(out, "  %-18s%s\n", scene_name(i), scene_text(i));
    fprintf(out, "\nOthers:\n"
                 "  rotation          ns for each rotation, by SIMD path and kind of matrix\n"
                 "  cluster           125,000 particles into 8,192 fuzzy clusters\n"
                 "  sample            125,000 blue-noise particles in a body with limbs\n"
                 "  pairs             500 to 50,000 clusters: which of them may touch\n"
                 "  scaling           cost and memory a particle from 31,000 to 4,000,000\n");
}

static void wrong(const char* what, const char* value)
{
    fprintf(stderr, "pliant-bench: %s %s (--help shows how it is used)\n", what, value);
    exit(2);
}

static double number(const char* option, const char* text)
{
    char* end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0))
    {
        fprintf(stderr, "pliant-bench: %s is \"%s\": a number from 0 on is wanted\n", option, text);
        exit(2);
    }
    return value;
}

static int one_of(const char* option, const char* text, const char* const* names)
{
    for (int i = 0; names[i]; ++i)
        if (strcmp(names[i], text) == 0)
            return i;
    fprintf(stderr, "pliant-bench: %s knows no \"%s\"\n", option, text);
    exit(2);
}

static uint32_t simd_path(const char* text)
{
    for (uint32_t simd = PLIANT_SIMD_AUTO; simd <= PLIANT_SIMD_NEON; ++simd)
        if (strcmp(pl_cpu_path_name(simd), text) == 0)
            return simd;
    wrong("there is no SIMD path", text);
    return 0;
}

/* An option without a value; true if it was one. */
static bool take_flag(const char* option, bench_options* o)
{
    if (strcmp(option, "--compare") == 0)
        o->compare = true;
    else if (strcmp(option, "--violate") == 0)
        o->violate = true;
    else if (strcmp(option, "--json") == 0)
        o->json = true;
    else if (strcmp(option, "--cpu-time") == 0)
        bench_cpu_time = true;
    else if (strcmp(option, "--literal") == 0)
        o->literal = true;
    else
        return false;
    return true;
}

static bool take_name(const char* option, const char* value, bench_options* o)
{
    if (strcmp(option, "--particles") == 0)
        o->particles = value;
    else if (strcmp(option, "--kernel") == 0)
        o->kernel = one_of(option, value, kernels);
    else if (strcmp(option, "--goal") == 0)
        o->goal = one_of(option, value, goals);
    else if (strcmp(option, "--contacts") == 0)
        o->contacts = one_of(option, value, switches);
    else if (strcmp(option, "--recluster") == 0)
        o->recluster = one_of(option, value, reclusters);
    else if (strcmp(option, "--level-kind") == 0)
        o->level_kind = one_of(option, value, kinds);
    else if (strcmp(option, "--simd") == 0)
        o->simd = simd_path(value);
    else
        return false;
    return true;
}

static bool take_number(const char* option, const char* text, bench_options* o)
{
    struct
    {
        const char* name;
        double* value;
    } reals[] = {{"--radius", &o->radius},       {"--alpha", &o->alpha}, {"--young", &o->young},
                 {"--frequency", &o->frequency}, {"--gamma", &o->gamma}, {"--omega", &o->omega},
                 {"--damping", &o->damping},     {"--yield", &o->yield}, {"--press", &o->press}};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; ++i)
        if (strcmp(option, reals[i].name) == 0)
        {
            *reals[i].value = number(option, text);
            return true;
        }
    if (strcmp(option, "--clusters") == 0)
        o->clusters = (int64_t)number(option, text);
    else if (strcmp(option, "--levels") == 0)
        o->levels = (int)number(option, text);
    else if (strcmp(option, "--strain-iterations") == 0)
        o->strain_iterations = (int)number(option, text);
    else if (strcmp(option, "--steps") == 0)
    {
        o->steps = (uint32_t)number(option, text);
        if (o->steps == 0)
            wrong("no steps to measure:", "--steps 0");
    }
    else if (strcmp(option, "--warm-up") == 0)
        o->warm_up = (uint32_t)number(option, text);
    else if (strcmp(option, "--threads") == 0)
        o->threads = (int)number(option, text);
    else if (strcmp(option, "--max-particles") == 0)
        o->max_particles = (uint64_t)number(option, text);
    else
        return false;
    return true;
}

static bench_options parse(int argc, char** argv)
{
    bench_options o = {0};
    o.clusters = -1;
    o.kernel = o.levels = o.level_kind = o.goal = o.contacts = o.strain_iterations = -1;
    o.recluster = -1;
    o.press = -1;
    o.radius = o.alpha = o.young = o.frequency = o.gamma = o.omega = o.damping = o.yield = -1;
    o.steps = 0, o.warm_up = UINT32_MAX, o.threads = 1; /* the scene's own steps and warm-up */
    o.max_particles = 4000000;
    for (int i = 1; i < argc; ++i)
    {
        const char* value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
        {
            usage(stdout);
            exit(0);
        }
        if (argv[i][0] != '-')
        {
            if (o.scene)
                wrong("only one scene at a time, not also", argv[i]);
            o.scene = argv[i];
        }
        else if (take_flag(argv[i], &o))
            continue;
        else if (value && (take_name(argv[i], value, &o) || take_number(argv[i], value, &o)))
            ++i;
        else
            wrong("unknown option, or no value for", argv[i]);
    }
    if (!o.scene && !o.particles)
    {
        usage(stderr);
        exit(2);
    }
    return o;
}

int main(int argc, char** argv)
{
    static const struct
    {
        const char* name;
        void (*run)(const bench_options*);
    } others[] = {{"rotation", bench_rotation},
                  {"cluster", bench_cluster},
                  {"sample", bench_sample},
                  {"pairs", bench_pairs},
                  {"scaling", bench_scaling}};
    bench_options options = parse(argc, argv);
    if (pliant_abi_version() != PLIANT_ABI_VERSION)
        wrong("the library is of another version:", pliant_version());
    for (size_t i = 0; options.scene && i < sizeof others / sizeof others[0]; ++i)
        if (strcmp(options.scene, others[i].name) == 0)
        {
            others[i].run(&options);
            return 0;
        }
    bench_scene(&options);
    return 0;
}
