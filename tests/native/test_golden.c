// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Golden hashes: small scenes of every kind end in the same bits as when native/golden.txt was
 * written, with every SIMD path and number of threads. A change that is meant to alter results
 * writes the file anew, and its commit says so:
 *
 *   PLIANT_GOLDEN_WRITE=1 pliant-tests test_golden.c:
 */
#include "fuzz/small_scenes.h"
#include "test.h"

#include <scenes/points.h>
#include <stdlib.h>
#include <string.h>

enum
{
    FRAMES = 12
};

/* What a name stands for: one of the fuzzers' small scenes, or one of those below. */
typedef struct golden
{
    const char* name;
    uint32_t kind;
    void (*fill)(pliant_scene scene);
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

static void add_ground(pliant_scene scene)
{
    pliant_collider collider;
    pliant_collider_desc desc;
    pliant_collider_desc_init(&desc, sizeof desc);
    CHECK_OK(pliant_collider_create(scene, &desc, &collider));
}

static pliant_body_desc of_clusters(uint32_t count)
{
    pliant_body_desc desc;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.cluster.count = count;
    desc.material.stiffness = 6;
    return desc;
}

/* Enough chunks and clusters that several threads share each stage. */
static void fill_large(pliant_scene scene)
{
    pliant_body_desc desc = of_clusters(60);
    desc.levels.count = 3;
    desc.angular_velocity[1] = 3;
    add_points(scene, 14, 1, .8, desc);
    add_ground(scene);
}

/* Strain limits that are violated in every substep. */
static void fill_limits(pliant_scene scene)
{
    pliant_body_desc desc = of_clusters(40);
    desc.material.stiffness = 2;
    desc.material.strain_limit = .02;
    add_points(scene, 10, 1, .6, desc);
    add_ground(scene);
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
    add_ground(scene);
}

static void fill_kernels(pliant_scene scene)
{
    for (uint32_t kernel = 0; kernel < 5; ++kernel)
    {
        pliant_body_desc desc = of_clusters(10);
        desc.cluster.kernel = kernel;
        add_points(scene, 6, .5, .4 + kernel, desc);
    }
    add_ground(scene);
}

/* Bodies that fall onto each other. */
static void fill_pile(pliant_scene scene)
{
    pliant_contact_desc contacts;
    pliant_contact_desc_init(&contacts, sizeof contacts);
    contacts.enabled = 1;
    CHECK_OK(pliant_scene_set_contacts(scene, &contacts));
    for (int i = 0; i < 4; ++i)
        add_points(scene, 6, .5, .3 + .45 * i, of_clusters(10));
    add_ground(scene);
}

#define SMALL(kind)                                                                                \
    {                                                                                              \
#kind, kind, NULL                                                                          \
    }
static const golden all[] = {
    SMALL(SMALL_PLAIN),         SMALL(SMALL_NESTED),      SMALL(SMALL_INDEPENDENT),
    SMALL(SMALL_QUADRATIC),     SMALL(SMALL_PINNED),      SMALL(SMALL_FOLLOW),
    SMALL(SMALL_SHAPES),        SMALL(SMALL_PRESSURE),    SMALL(SMALL_MESHES),
    SMALL(SMALL_FLOW),          SMALL(SMALL_DRAWN),       SMALL(SMALL_PRESSED),
    SMALL(SMALL_BROKEN),        SMALL(SMALL_FRAGMENTS),   SMALL(SMALL_CELLS),
    SMALL(SMALL_WELDED),        SMALL(SMALL_ASLEEP),      {"large", 0, fill_large},
    {"limits", 0, fill_limits}, {"goals", 0, fill_goals}, {"kernels", 0, fill_kernels},
    {"pile", 0, fill_pile}};
enum
{
    COUNT = sizeof all / sizeof all[0]
};

/* 0: this machine or build has no such path. */
static uint64_t hash_of(const golden* g, uint32_t simd, uint32_t threads)
{
    pliant_scene scene = 0;
    pliant_scene_desc desc;
    pliant_frame_desc frame;
    uint64_t hash = 0;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.simd = simd;
    desc.threads = threads;
    if (pliant_scene_create(&desc, &scene) == PLIANT_ERROR_UNSUPPORTED)
        return 0;
    if (g->fill)
        g->fill(scene);
    else
        small_fill(scene, g->kind);
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = 4;
    for (int f = 0; f < FRAMES; ++f)
        CHECK_OK(pliant_scene_advance(scene, &frame));
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
    FILE* f = fopen(file, "w");
    for (int i = 0; i < COUNT && f; ++i)
        fprintf(f, "%s %016llx\n", all[i].name,
                (unsigned long long)hash_of(&all[i], PLIANT_SIMD_SCALAR, 1));
    CHECK(f && fclose(f) == 0);
}

TEST(scenes_end_in_the_bits_of_the_golden_file)
{
    static const uint32_t threads[] = {1, 2, 3, 8};
    uint64_t golden_hash[COUNT];
    if (getenv("PLIANT_GOLDEN_WRITE"))
        write_golden();
    read_golden(golden_hash);
    for (int i = 0; i < COUNT; ++i)
        for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
            for (int t = 0; t < 4; ++t)
            {
                if (t && (simd == PLIANT_SIMD_SCALAR || !all[i].fill || test_quick()))
                    continue; /* one chunk: nothing to share */
                uint64_t found = hash_of(&all[i], simd, threads[t]);
                CHECK_MSG(!found || found == golden_hash[i],
                          "%s, SIMD path %u, %u threads: %016llx, not %016llx", all[i].name, simd,
                          threads[t], (unsigned long long)found,
                          (unsigned long long)golden_hash[i]);
            }
}
