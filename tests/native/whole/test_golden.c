// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Golden hashes: the final state of small scenes of every kind must match native/golden.txt to the
 * bit, for every SIMD path and number of threads. A change that is meant to alter results rewrites
 * the file, and its commit says so:
 *
 *   PLIANT_GOLDEN_WRITE=1 pliant-tests test_golden.c:
 */
#include "fuzz/small_scenes.h"
#include "native/support/test.h"

#include <base/core.h>
#include <base/cpu.h>
#include <scenes/meshes.h>
#include <scenes/points.h>
#include <stdlib.h>
#include <string.h>

enum
{
    FRAMES = 12, /* of four substeps */
    MOST_POINTS = 3000
};

/* Features that a scene must exercise: a hash alone would not notice that it no longer does. */
typedef enum deeds
{
    TOUCHES = 1,
    MEETS_TRIANGLES = 2,
    VIOLATES = 4, /* strain limits */
    HAS_LEVELS = 8,
    HAS_CHUNKS = 16, /* several, so that threads share work */
    RECLUSTERS = 32,
    DIVIDES = 64, /* particles, where material is drawn out */
    MERGES = 128, /* particles, where it is pressed */
    BREAKS = 256,
    HOLDS = 512, /* bonds of welds */
    SLEEPS = 1024
} deeds;

/* A named scene, of the fuzzers' small scenes or of those below, and its required features. */
typedef struct golden
{
    const char* name;
    uint32_t kind;
    void (*fill)(pliant_scene scene);
    uint32_t deeds;
} golden;

static pliant_body add_points(pliant_scene scene, uint32_t n, double size, double height,
                              pliant_body_desc desc)
{
    pliant_body body = 0;
    scene_points points = scene_points_box(n, n, n, size, size, size, .3, 1);
    desc.points = points.at;
    desc.point_count = points.count;
    desc.points_origin[2] = height;
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    scene_points_free(&points);
    return body;
}

static pliant_body_desc of_clusters(uint32_t count)
{
    pliant_body_desc desc;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.cluster.count = count;
    desc.material.stiffness = 6;
    return desc;
}

static void set_contacts(pliant_scene scene)
{
    pliant_contact_desc contacts;
    pliant_contact_desc_init(&contacts, sizeof contacts);
    contacts.enabled = 1;
    CHECK_OK(pliant_scene_set_contacts(scene, &contacts));
}

static void weightless(pliant_scene scene)
{
    const double none[3] = {0, 0, 0};
    CHECK_OK(pliant_scene_set_gravity(scene, none));
}

/* Enough chunks and clusters that several threads share each stage. */
static void fill_large(pliant_scene scene)
{
    pliant_body_desc desc = of_clusters(60);
    desc.levels.count = 3;
    desc.angular_velocity[1] = 3;
    add_points(scene, 14, 1, .8, desc);
    small_add_ground(scene);
}

/* Strain limits that are violated in every substep. */
static void fill_limits(pliant_scene scene)
{
    pliant_body_desc desc = of_clusters(40);
    desc.material.stiffness = 2;
    desc.material.strain_limit = .02;
    add_points(scene, 10, 1, .6, desc);
    small_add_ground(scene);
}

static void fill_goals(pliant_scene scene)
{
    for (uint32_t goal = PLIANT_GOAL_RIGID; goal <= PLIANT_GOAL_QUADRATIC; ++goal)
    {
        pliant_body_desc desc = of_clusters(8);
        desc.material.goal = goal;
        desc.material.beta = .4;
        desc.angular_velocity[0] = 2;
        add_points(scene, 6, .5, .4 + goal, desc);
    }
    small_add_ground(scene);
}

static void fill_kernels(pliant_scene scene)
{
    for (uint32_t kernel = 0; kernel < 5; ++kernel)
    {
        pliant_body_desc desc = of_clusters(10);
        desc.cluster.kernel = kernel;
        add_points(scene, 6, .5, .4 + kernel, desc);
    }
    small_add_ground(scene);
}

/* Bodies that fall onto each other. */
static void fill_pile(pliant_scene scene)
{
    set_contacts(scene);
    for (int i = 0; i < 4; ++i)
        add_points(scene, 6, .5, .3 + .45 * i, of_clusters(10));
    small_add_ground(scene);
}

/* Several chunks that break, then fall as fragments. */
static void fill_fragments(pliant_scene scene, uint32_t cells)
{
    pliant_fracture_desc fracture;
    pliant_body_desc desc = of_clusters(30);
    set_contacts(scene);
    desc.levels.count = 2;
    pliant_body body = add_points(scene, 8, 1, 0, desc);
    pliant_fracture_desc_init(&fracture, sizeof fracture);
    fracture.toughness = .1;
    fracture.cells = cells;
    CHECK_OK(pliant_body_set_fracture(body, &fracture));
    small_stretch(body, cells ? 1.6f : 1.3f, .9f, .9f);
    small_add_ground(scene);
}

static void fill_shatter(pliant_scene scene)
{
    fill_fragments(scene, 0);
}

static void fill_cells(pliant_scene scene)
{
    fill_fragments(scene, 8);
}

/* Reclustering in several chunks, with a coarse level. */
static void fill_flow(pliant_scene scene)
{
    pliant_body_desc desc = of_clusters(30);
    weightless(scene);
    desc.levels.count = 2;
    desc.material.yield = 0;
    desc.material.recluster_condition = 1.2;
    desc.material.recluster_fade_in = .1;
    desc.material.recluster_fade_out = .15;
    small_stretch(add_points(scene, 8, 1, 0, desc), 1.6f, .8f, .8f);
}

/* Particles are divided where the body is drawn out, and merged where it is pressed. */
static void fill_resampled(pliant_scene scene)
{
    pliant_body_desc desc = of_clusters(30);
    weightless(scene);
    desc.material.damping = 2;
    desc.material.yield = 0;
    desc.material.flow = 1000;
    desc.material.resample = 1;
    small_stretch(add_points(scene, 8, 1, 0, desc), 2.6f, .62f, .62f);
    small_stretch(add_points(scene, 8, 1, 0, desc), 2.2f, 2.2f, .2f);
}

/* A body of several chunks between a solid and a shell that move. */
static void fill_mesh(pliant_scene scene)
{
    add_points(scene, 8, 1, .2, of_clusters(30));
    for (int ball = 0; ball < 2; ++ball)
    {
        pliant_collider collider;
        pliant_collider_desc desc;
        pliant_mesh_desc shape;
        scene_mesh mesh = ball ? scene_icosphere(.4f, 2) : scene_sheet(3, 3, 8, 8);
        scene_mesh_move(&mesh, ball ? .3f : 0, 0, ball ? -.75f : -.5f);
        pliant_collider_desc_init(&desc, sizeof desc);
        pliant_mesh_desc_init(&shape, sizeof shape);
        desc.shape = ball ? PLIANT_SHAPE_MESH : PLIANT_SHAPE_SHELL;
        shape.vertex_count = mesh.vertex_count, shape.vertices = mesh.vertices;
        shape.triangle_count = mesh.triangle_count, shape.triangles = mesh.triangles;
        CHECK_OK(pliant_collider_create_mesh(scene, &desc, &shape, &collider));
        scene_mesh_move(&mesh, 0, 0, .1f);
        CHECK_OK(pliant_collider_set_mesh(collider, mesh.vertex_count, NULL, mesh.vertices));
        scene_mesh_free(&mesh);
    }
}

/* Two bodies of several chunks: one welded to the other, which is welded to the ground. */
static void fill_welds(pliant_scene scene)
{
    pliant_weld_desc weld;
    uint32_t welds = 0;
    pliant_body lower = add_points(scene, 8, 1, .5, of_clusters(30));
    pliant_body upper = add_points(scene, 8, 1, 1.5, of_clusters(30));
    small_add_ground(scene);
    set_contacts(scene);
    pliant_weld_desc_init(&weld, sizeof weld);
    weld.body = lower, weld.other = upper;
    CHECK_OK(pliant_scene_weld(scene, &weld, &welds));
    weld.other = 0;
    CHECK_OK(pliant_scene_get_collider(scene, 0, &weld.collider));
    CHECK_OK(pliant_scene_weld(scene, &weld, &welds));
}

/* A body falls asleep, and another falls onto it. */
static void fill_sleep(pliant_scene scene)
{
    set_contacts(scene);
    add_points(scene, 8, 1, .5, of_clusters(30));
    add_points(scene, 6, .5, 2.2, of_clusters(10));
    small_add_ground(scene);
    CHECK_OK(pliant_scene_set_sleep(scene, 2, .1));
}

#define SMALL(kind, deeds)                                                                         \
    {                                                                                              \
#kind, kind, NULL, deeds                                                                   \
    }
static const golden all[] = {
    SMALL(SMALL_PLAIN, TOUCHES),
    SMALL(SMALL_NESTED, HAS_LEVELS),
    SMALL(SMALL_INDEPENDENT, HAS_LEVELS),
    SMALL(SMALL_QUADRATIC, TOUCHES),
    SMALL(SMALL_PINNED, VIOLATES),
    SMALL(SMALL_FOLLOW, 0),
    SMALL(SMALL_SHAPES, TOUCHES),
    SMALL(SMALL_PRESSURE, 0),
    SMALL(SMALL_MESHES, TOUCHES | MEETS_TRIANGLES),
    SMALL(SMALL_FLOW, HAS_LEVELS | RECLUSTERS),
    SMALL(SMALL_DRAWN, DIVIDES),
    SMALL(SMALL_PRESSED, MERGES),
    SMALL(SMALL_BROKEN, BREAKS),
    SMALL(SMALL_FRAGMENTS, BREAKS | TOUCHES),
    SMALL(SMALL_CELLS, BREAKS),
    SMALL(SMALL_WELDED, HOLDS),
    SMALL(SMALL_ASLEEP, SLEEPS),
    {"large", 0, fill_large, HAS_CHUNKS | HAS_LEVELS},
    {"limits", 0, fill_limits, HAS_CHUNKS | VIOLATES},
    {"goals", 0, fill_goals, TOUCHES},
    {"kernels", 0, fill_kernels, TOUCHES},
    {"pile", 0, fill_pile, TOUCHES},
    {"shatter", 0, fill_shatter, HAS_CHUNKS | BREAKS | TOUCHES},
    {"cells", 0, fill_cells, HAS_CHUNKS | BREAKS | TOUCHES},
    {"flow", 0, fill_flow, HAS_CHUNKS | RECLUSTERS | HAS_LEVELS},
    {"resampled", 0, fill_resampled, HAS_CHUNKS | DIVIDES | MERGES},
    {"mesh", 0, fill_mesh, HAS_CHUNKS | TOUCHES | MEETS_TRIANGLES},
    {"welds", 0, fill_welds, HAS_CHUNKS | HOLDS | TOUCHES},
    {"sleep", 0, fill_sleep, HAS_CHUNKS | SLEEPS | TOUCHES},
};
enum
{
    COUNT = sizeof all / sizeof all[0]
};

static uint32_t deeds_of_body(pliant_body body)
{
    static double birth[8 * MOST_POINTS];
    uint64_t bytes = sizeof birth, born = 0;
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    CHECK_OK(pliant_body_get_info(body, &info));
    CHECK_OK(pliant_body_read(body, PLIANT_BIRTH, 0, NULL, birth, &bytes));
    uint64_t ids = bytes / sizeof *birth;
    for (uint64_t i = 0; i < ids; ++i)
        born += isfinite(birth[i]) != 0;
    uint64_t merged = (ids - info.particles) / 2; /* two ids go, a new one comes */
    return (info.levels > 1 ? HAS_LEVELS : 0) | (info.chunks > 2 ? HAS_CHUNKS : 0) |
           (info.recluster_events ? RECLUSTERS : 0) | (born > merged ? DIVIDES : 0) |
           (merged ? MERGES : 0) | (info.splits && info.pieces > 1 ? BREAKS : 0);
}

/* The features visible in the current state. */
static uint32_t deeds_of(pliant_scene scene)
{
    pliant_scene_info info;
    pliant_scene_info_init(&info, sizeof info);
    CHECK_OK(pliant_scene_get_info(scene, &info));
    uint32_t seen = (info.pairs_violated ? VIOLATES : 0) | (info.contacts ? TOUCHES : 0) |
                    (info.mesh_triangles ? MEETS_TRIANGLES : 0) | (info.welds ? HOLDS : 0) |
                    (info.asleep ? SLEEPS : 0);
    for (uint32_t b = 0; b < info.bodies; ++b)
    {
        pliant_body body = 0;
        CHECK_OK(pliant_scene_get_body(scene, b, &body));
        seen |= deeds_of_body(body);
    }
    return seen;
}

/* The final hash; "seen": the features of all frames. */
static uint64_t hash_of(const golden* g, uint32_t simd, uint32_t threads, uint32_t* seen)
{
    pliant_scene scene = 0;
    pliant_scene_desc desc;
    pliant_frame_desc frame;
    uint64_t hash = 0;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.simd = simd;
    desc.threads = threads;
    CHECK_OK(pliant_scene_create(&desc, &scene));
    if (g->fill)
        g->fill(scene);
    else
        small_fill(scene, g->kind);
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = 4;
    *seen = deeds_of(scene);
    for (int f = 0; f < FRAMES; ++f)
    {
        CHECK_OK(pliant_scene_advance(scene, &frame));
        *seen |= deeds_of(scene);
    }
    CHECK_OK(pliant_scene_hash(scene, &hash));
    CHECK_OK(pliant_scene_destroy(scene));
    return hash;
}

static const char* const file = PLIANT_FUZZ_FOLDER "/../native/golden.txt";

static void read_golden(uint64_t hash[COUNT])
{
    char name[64];
    unsigned long long value;
    FILE* f = fopen(file, "r");
    memset(hash, 0, COUNT * sizeof *hash);
    CHECK_MSG(f != NULL, "%s cannot be opened", file);
    while (f && fscanf(f, "%63s %llx", name, &value) == 2)
        for (int i = 0; i < COUNT; ++i)
            if (!strcmp(all[i].name, name))
                hash[i] = value;
    if (f)
        fclose(f);
}

static void write_golden(void)
{
    uint32_t seen;
    FILE* f = fopen(file, "w");
    for (int i = 0; i < COUNT && f; ++i)
        fprintf(f, "%s %016llx\n", all[i].name,
                (unsigned long long)hash_of(&all[i], PLIANT_SIMD_AUTO, 1, &seen));
    CHECK(f && fclose(f) == 0);
}

static void check_golden(const golden* g, uint64_t expected, uint32_t simd)
{
    static const uint32_t threads[] = {1, 2, 3, 8};
    for (size_t t = 0; t < PL_COUNTOF(threads); t += test_quick() ? 3 : 1)
    {
        if (t && test_quick() && simd != pl_cpu_best())
            break;
        uint32_t seen;
        uint64_t found = hash_of(g, simd, threads[t], &seen);
        CHECK_MSG(found == expected, "%s, %s, %u threads: %016llx, not %016llx", g->name,
                  pl_cpu_path_name(simd), threads[t], (unsigned long long)found,
                  (unsigned long long)expected);
        CHECK_MSG((g->deeds & ~seen) == 0, "%s no longer does what it is for: %#x", g->name,
                  g->deeds & ~seen);
    }
}

TEST(scenes_end_in_the_bits_of_the_golden_file)
{
    uint64_t golden_hash[COUNT];
    if (getenv("PLIANT_GOLDEN_WRITE"))
        write_golden();
    read_golden(golden_hash);
    for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
        if (!pl_cpu_has(simd))
            test_skip_part("no %s path", pl_cpu_path_name(simd));
        else
            for (int i = 0; i < COUNT; ++i)
                check_golden(&all[i], golden_hash[i], simd);
}
