// SPDX-License-Identifier: GPL-3.0-or-later
#include "scenes/meshes.h"
#include "test.h"

#include <base/hash.h>
#include <base/rng.h>
#include <setup/sample.h>
#include <setup/sample_parts.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ------------------------------------------------------------------ scenes */

static scene_mesh moved(scene_mesh mesh, float x, float y, float z)
{
    scene_mesh_move(&mesh, x, y, z);
    return mesh;
}

static scene_mesh turned(scene_mesh mesh, float angle)
{
    scene_mesh_turn(&mesh, 1, 2, 3, angle);
    return mesh;
}

static scene_mesh flipped(scene_mesh mesh)
{
    scene_mesh_flip(&mesh, 1);
    return mesh;
}

static scene_mesh joined(scene_mesh a, scene_mesh b)
{
    scene_mesh_append(&a, &b);
    scene_mesh_free(&b);
    return a;
}

static scene_mesh with_holes(scene_mesh mesh, uint32_t every)
{
    scene_mesh_drop(&mesh, every);
    return mesh;
}

/* Without the triangles that lie wholly above z. */
static scene_mesh cut(scene_mesh mesh, float z)
{
    uint32_t kept = 0;
    for (uint32_t t = 0; t < mesh.triangle_count; ++t)
    {
        const uint32_t* v = mesh.triangles + 3 * t;
        float lowest = fminf(mesh.vertices[3 * v[0] + 2],
                             fminf(mesh.vertices[3 * v[1] + 2], mesh.vertices[3 * v[2] + 2]));
        if (lowest < z)
            memmove(mesh.triangles + 3 * kept++, v, 3 * sizeof *v);
    }
    mesh.triangle_count = kept;
    return mesh;
}

static scene_mesh two_boxes(float gap)
{
    return joined(scene_box(1, 1, 1, 2), moved(scene_box(1, 1, 1, 3), 1 + gap, 0, 0));
}

/* Six sheets that nearly meet. */
static scene_mesh loose_box(void)
{
    scene_mesh sum = moved(scene_sheet(.98f, .98f, 4, 4), 0, 0, .5f);
    for (int i = 1; i < 6; ++i)
    {
        scene_mesh side = moved(scene_sheet(.98f, .98f, 4, 4), 0, 0, .5f);
        if (i < 4)
            scene_mesh_turn(&side, 1, 0, 0, (float)(PI / 2 * i));
        else
            scene_mesh_turn(&side, 0, 1, 0, (float)(PI / 2 * (2 * i - 9)));
        sum = joined(sum, side);
    }
    return sum;
}

static scene_mesh linked_rings(void)
{
    scene_mesh other = scene_torus(1, .2f, 40, 20);
    scene_mesh_turn(&other, 1, 0, 0, (float)(PI / 2));
    return joined(scene_torus(1, .2f, 40, 20), moved(other, 1, 0, 0));
}

static pl_mesh load(scene_mesh scene)
{
    pl_mesh mesh;
    pliant_mesh_desc desc = {.vertex_count = scene.vertex_count,
                             .triangle_count = scene.triangle_count,
                             .vertices = scene.vertices,
                             .triangles = scene.triangles};
    CHECK_OK(pl_mesh_init(&mesh, &desc, v3(0, 0, 0)));
    scene_mesh_free(&scene);
    return mesh;
}

static pliant_sample_desc by_count(uint32_t mode, uint32_t count)
{
    return (pliant_sample_desc){.size = sizeof(pliant_sample_desc), .mode = mode, .count = count};
}

static pliant_sample_desc by_spacing(uint32_t mode, double spacing)
{
    return (pliant_sample_desc){
        .size = sizeof(pliant_sample_desc), .mode = mode, .spacing = spacing};
}

static pl_samples sample(const pl_mesh* mesh, pliant_sample_desc desc)
{
    pl_samples out;
    CHECK_OK(pl_sample(mesh, &desc, NULL, NULL, &out));
    CHECK(out.count > 0);
    return out;
}

/* Takes the scene over. */
static pl_samples sample_scene(scene_mesh scene, pliant_sample_desc desc)
{
    pl_mesh mesh = load(scene);
    pl_samples out = sample(&mesh, desc);
    pl_mesh_free(&mesh);
    return out;
}

static double total(const pl_samples* s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->count; ++i)
    {
        CHECK(s->volumes[i] > 0);
        sum += s->volumes[i];
    }
    return sum;
}

static double least_distance(const pl_samples* s)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < s->count; ++i)
        for (uint32_t j = 0; j < i; ++j)
        {
            vec3 d = v3_sub(s->points[i], s->points[j]);
            least = fmin(least, v3_dot(d, d));
        }
    return sqrt(least);
}

static double distance_to_nearest(const pl_samples* s, vec3 p)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < s->count; ++i)
        least = fmin(least, v3_length(v3_sub(s->points[i], p)));
    return least;
}

/* ------------------------------------------------------------------ blue noise */

TEST(blue_noise_keeps_its_distance_and_fills_the_volume)
{
    scene_mesh scenes[] = {scene_box(1, 1, 1, 1), scene_creature(4),
                           scene_torus(.7f, .25f, 40, 20)};
    for (size_t i = 0; i < PL_COUNTOF(scenes); ++i)
    {
        pl_mesh mesh = load(scenes[i]);
        pl_samples s = sample(&mesh, by_spacing(PLIANT_SAMPLE_BLUE_NOISE, .07));
        CHECK_MSG(least_distance(&s) >= .07, "least distance %.9g", least_distance(&s));
        CHECK(s.spacing >= .07 && s.spacing < .07 * 1.1);
        CHECK(s.mode == PLIANT_SAMPLE_BLUE_NOISE && s.warnings == 0);
        for (uint32_t k = 0; k < s.count; ++k)
            CHECK(pl_mesh_inside(&mesh, s.points[k]));
        pl_rng rng = pl_rng_seed(i);
        int inside = 0, gaps = 0;
        while (inside < 1000)
        {
            vec3 size = v3_sub(mesh.upper, mesh.lower), p;
            p = v3_add(mesh.lower, v3(size.x * pl_rng_unit(&rng), size.y * pl_rng_unit(&rng),
                                      size.z * pl_rng_unit(&rng)));
            if (!pl_mesh_inside(&mesh, p))
                continue;
            double gap = distance_to_nearest(&s, p);
            CHECK_MSG(gap < 1.5 * .07, "a gap of %g spacings", gap / .07);
            gaps += gap >= .07;
            ++inside;
        }
        /* a maximal sampling has no place at a spacing's distance from all points */
        CHECK_MSG(gaps < 30, "%d of 1000 places could take another point", gaps);
        pl_samples_free(&s);
        pl_mesh_free(&mesh);
    }
}

static const struct
{
    const char* name;
    double volume, tolerance;
} known[] = {{"cube", 1, 1e-6},
             {"ball", 4.18, .02},
             {"ring", .7896, .01},
             {"plate", .01, 1e-7},
             {"paper", 1e-5, 1e-8},
             {"two boxes", 2, 1e-6},
             {"a ball with holes", 4.18, .1},
             {"overlap", 1.5, .01},
             {"six sheets", 1, .12},
             {"cavity", 3.65, .05}};

static scene_mesh make_known(size_t i)
{
    switch (i)
    {
        case 0:
            return scene_box(1, 1, 1, 1);
        case 1:
            return scene_icosphere(1, 4);
        case 2:
            return scene_torus(1, .2f, 80, 40);
        case 3:
            return turned(scene_box(1, 1, .01f, 4), 1);
        case 4:
            return turned(scene_box(1, 1, 1e-5f, 4), 1);
        case 5:
            return two_boxes(1);
        case 6:
            return with_holes(scene_icosphere(1, 4), 12);
        case 7:
            return two_boxes(-.5f);
        case 8:
            return loose_box();
        default:
            return joined(scene_icosphere(1, 4), flipped(scene_icosphere(.5f, 4)));
    }
}

TEST(counts_are_met_within_two_percent_and_volumes_add_up)
{
    const uint32_t counts[] = {1, 2, 5, 50, 333, 5000, 20000};
    for (size_t i = 0; i < PL_COUNTOF(known); ++i)
    {
        pl_mesh mesh = load(make_known(i));
        for (size_t c = 0; c < PL_COUNTOF(counts); ++c)
        {
            if (counts[c] == 20000 && i > 2)
                continue;
            pl_samples s = sample(&mesh, by_count(PLIANT_SAMPLE_AUTO, counts[c]));
            double wanted = counts[c], off = fabs(s.count - wanted);
            CHECK_MSG(off <= .02 * wanted, "%s: %u particles instead of %u", known[i].name, s.count,
                      counts[c]);
            CHECK_MSG(s.mode == PLIANT_SAMPLE_BLUE_NOISE && s.warnings == 0, "%s: mode %u, %u",
                      known[i].name, s.mode, s.warnings);
            CHECK_MSG(fabs(total(&s) - known[i].volume) <= known[i].tolerance,
                      "%s with %u particles has volume %g", known[i].name, s.count, total(&s));
            CHECK(s.spacing > 0);
            pl_samples_free(&s);
        }
        pl_mesh_free(&mesh);
    }
}

TEST(an_infinitely_thin_volume_still_has_particles)
{
    for (double t = 1e-3; t > 1e-7; t *= .1)
    {
        pl_samples s = sample_scene(turned(scene_box(1, 1, (float)t, 2), 2),
                                    by_count(PLIANT_SAMPLE_AUTO, 100));
        CHECK_MSG(s.count >= 98 && s.count <= 102, "%u at thickness %g", s.count, t);
        bool surface = s.mode == PLIANT_SAMPLE_SURFACE;
        CHECK_NEAR(total(&s), surface ? 2 * s.spacing : t, surface ? 1e-4 : .01 * t);
        pl_samples_free(&s);
        s = sample_scene(scene_box(1, 1, (float)t, 2), by_spacing(PLIANT_SAMPLE_BLUE_NOISE, 5));
        CHECK_MSG(s.count == 1, "%u at thickness %g", s.count, t);
        pl_samples_free(&s);
    }
}

TEST(other_seeds_give_other_particles)
{
    pl_mesh mesh = load(scene_icosphere(1, 3));
    pliant_sample_desc desc = by_count(PLIANT_SAMPLE_AUTO, 500);
    pl_samples a = sample(&mesh, desc), b = sample(&mesh, desc);
    desc.seed = 7;
    pl_samples c = sample(&mesh, desc);
    CHECK(a.count == b.count && memcmp(a.points, b.points, a.count * sizeof(vec3)) == 0);
    CHECK(memcmp(a.points, c.points, 100 * sizeof(vec3)) != 0);
    pl_samples_free(&a);
    pl_samples_free(&b);
    pl_samples_free(&c);
    pl_mesh_free(&mesh);
}

TEST(sampling_scales_with_the_mesh)
{
    for (double scale = 1e-6; scale < 2e6; scale *= 1e3)
    {
        scene_mesh scene = scene_creature(3);
        scene_mesh_scale(&scene, (float)scale, (float)scale, (float)scale);
        pl_samples s = sample_scene(scene, by_count(PLIANT_SAMPLE_AUTO, 1000));
        CHECK_MSG(s.count >= 980 && s.count <= 1020, "%u at scale %g", s.count, scale);
        CHECK_NEAR(s.spacing / scale, .0828, .003);
        CHECK_NEAR(total(&s) / (scale * scale * scale), .628, .01);
        pl_samples_free(&s);
    }
}

/* ------------------------------------------------------------------ other modes */

TEST(grids_are_regular)
{
    pl_mesh mesh = load(scene_box(1, 2, .5f, 1));
    pl_samples s = sample(&mesh, by_spacing(PLIANT_SAMPLE_GRID, .125));
    CHECK(s.count == 8 * 16 * 4 && s.mode == PLIANT_SAMPLE_GRID && s.warnings == 0);
    CHECK_NEAR(total(&s), 1, 1e-9);
    CHECK_NEAR(s.spacing, .125, 1e-9);
    for (uint32_t i = 0; i < s.count; ++i)
    {
        vec3 steps = v3_scale(v3_sub(s.points[i], s.points[0]), 8);
        CHECK(fabs(steps.x - rint(steps.x)) < 1e-9 && fabs(steps.y - rint(steps.y)) < 1e-9 &&
              fabs(steps.z - rint(steps.z)) < 1e-9);
        CHECK(pl_mesh_inside(&mesh, s.points[i]));
    }
    pl_samples_free(&s);
    pl_mesh_free(&mesh);
    const uint32_t counts[] = {200, 2000, 5000};
    for (size_t c = 0; c < PL_COUNTOF(counts); ++c)
    {
        s = sample_scene(scene_creature(4), by_count(PLIANT_SAMPLE_GRID, counts[c]));
        CHECK_MSG(fabs((double)s.count - counts[c]) <= .02 * counts[c], "%u instead of %u", s.count,
                  counts[c]);
        CHECK(s.warnings == 0 && least_distance(&s) > .999 * s.spacing);
        pl_samples_free(&s);
    }
    s = sample_scene(scene_box(1, 1, 1, 1), by_count(PLIANT_SAMPLE_GRID, 5000));
    CHECK(s.count >= 4900 && s.count <= 5100);
    pl_samples_free(&s);
    s = sample_scene(scene_box(1, 1, 1, 1), by_count(PLIANT_SAMPLE_GRID, 1));
    CHECK(s.count == 1);
    pl_samples_free(&s);
    /* no grid in a cube has 50: the nearest, and a warning */
    s = sample_scene(scene_box(1, 1, 1, 1), by_count(PLIANT_SAMPLE_GRID, 50));
    CHECK(s.count == 48 && s.warnings == PLIANT_WARN_COUNT_MISSED);
    pl_samples_free(&s);
    s = sample_scene(turned(scene_box(1, 1, .001f, 1), 1), by_count(PLIANT_SAMPLE_GRID, 3));
    CHECK(s.count >= 1);
    CHECK_NEAR(total(&s), .001, 1e-6);
    pl_samples_free(&s);
}

TEST(surface_particles_lie_on_the_surface)
{
    scene_mesh scenes[] = {scene_sheet(1, 2, 5, 5), scene_icosphere(1, 4), scene_box(1, 1, 1, 1)};
    for (size_t i = 0; i < PL_COUNTOF(scenes); ++i)
    {
        pl_mesh mesh = load(scenes[i]);
        pl_samples s = sample(&mesh, by_spacing(PLIANT_SAMPLE_SURFACE, .08));
        CHECK(least_distance(&s) >= .08 && s.mode == PLIANT_SAMPLE_SURFACE && s.warnings == 0);
        for (uint32_t k = 0; k < s.count; ++k)
            CHECK(pl_mesh_nearest(&mesh, s.points[k]).distance < 1e-12);
        CHECK_NEAR(total(&s), mesh.area * s.spacing, 1e-9);
        pl_samples_free(&s);
        const uint32_t counts[] = {1, 2, 5, 50, 3000};
        for (size_t c = 0; c < PL_COUNTOF(counts); ++c)
        {
            pliant_sample_desc desc = by_count(PLIANT_SAMPLE_SURFACE, counts[c]);
            desc.thickness = .01;
            s = sample(&mesh, desc);
            CHECK_MSG(fabs((double)s.count - counts[c]) <= .02 * counts[c], "%u instead of %u",
                      s.count, counts[c]);
            CHECK_NEAR(total(&s), mesh.area * .01, 1e-9);
            pl_samples_free(&s);
        }
        pl_mesh_free(&mesh);
    }
}

TEST(vertices_become_particles_once_for_each_place)
{
    scene_mesh split = scene_icosphere(1, 2);
    scene_mesh_split(&split);
    pl_samples s = sample_scene(split, by_count(PLIANT_SAMPLE_VERTICES, 0));
    CHECK(s.count == 162 && s.mode == PLIANT_SAMPLE_VERTICES && s.warnings == 0);
    CHECK_NEAR(total(&s), 4 * PI / 3, .3); /* of a coarse ball */
    pl_samples_free(&s);

    const float points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 3, 3, 3, NAN, 0, 0};
    const uint32_t one[] = {0, 1, 2};
    pliant_mesh_desc desc = {
        .vertex_count = 6, .triangle_count = 1, .vertices = points, .triangles = one};
    pliant_sample_desc vertices = by_count(PLIANT_SAMPLE_VERTICES, 0);
    pl_mesh mesh;
    vertices.thickness = .5;
    REQUIRE_OK(pl_mesh_init(&mesh, &desc, v3(0, 0, 0)));
    s = sample(&mesh, vertices);
    CHECK(s.count == 4 && s.warnings == PLIANT_WARN_MESH_DEFECTS && s.shell_count == 1);
    CHECK(s.points[1].x == 1 && s.points[3].z == 3);
    CHECK_NEAR(total(&s), .25, 1e-12);
    pl_samples_free(&s);
    pl_mesh_free(&mesh);

    desc.triangle_count = 0; /* vertices only */
    REQUIRE_OK(pl_mesh_init(&mesh, &desc, v3(0, 0, 0)));
    s = sample(&mesh, vertices);
    CHECK(s.count == 4 && s.spacing == 1 && s.shell_count == 1);
    pl_samples_free(&s);
    vertices.mode = PLIANT_SAMPLE_AUTO;
    vertices.count = 10;
    CHECK(pl_sample(&mesh, &vertices, NULL, NULL, &s) == PLIANT_ERROR_MESH);
    pl_samples_free(&s);
    pl_mesh_free(&mesh);
}

TEST(what_encloses_nothing_is_sampled_on_its_surface)
{
    struct
    {
        const char* name;
        scene_mesh mesh;
        bool encloses;
    } cases[] = {
        {"a sheet", scene_sheet(1, 1, 10, 10), false},
        {"half a sphere", cut(scene_icosphere(1, 4), 0), false},
        {"a box without lid", cut(scene_box(1, 1, 1, 4), .49f), true},
        {"a ball with a hole", cut(scene_icosphere(1, 4), .8f), true},
        {"a ball of every other triangle", with_holes(scene_icosphere(1, 3), 2), false},
        {"a sheet with two sides",
         joined(scene_sheet(1, 1, 4, 4), flipped(scene_sheet(1, 1, 4, 4))), false},
        {"a plate", turned(scene_box(1, 1, .001f, 4), 1), true},
        {"a plate with holes", with_holes(turned(scene_box(1, 1, .02f, 8), 1), 20), true},
        {"a ball, inside out", flipped(scene_icosphere(1, 3)), true},
    };
    for (size_t i = 0; i < PL_COUNTOF(cases); ++i)
    {
        pl_samples s = sample_scene(cases[i].mesh, by_count(PLIANT_SAMPLE_AUTO, 300));
        bool volume = s.mode == PLIANT_SAMPLE_BLUE_NOISE;
        CHECK_MSG(volume == cases[i].encloses, "%s: mode %u", cases[i].name, s.mode);
        CHECK_MSG(!(s.warnings & PLIANT_WARN_NO_VOLUME) == volume, "%s", cases[i].name);
        CHECK_MSG(s.count >= 294 && s.count <= 306, "%s: %u", cases[i].name, s.count);
        pl_samples_free(&s);
    }
    pl_samples s = sample_scene(scene_sheet(1, 1, 3, 3), by_count(PLIANT_SAMPLE_GRID, 100));
    CHECK(s.mode == PLIANT_SAMPLE_SURFACE && s.warnings == PLIANT_WARN_NO_VOLUME);
    pl_samples_free(&s);
}

/* ------------------------------------------------------------------ shells */

TEST(shells_that_touch_overlap_or_nest_are_one)
{
    const uint32_t volume = PLIANT_SAMPLE_BLUE_NOISE, surface = PLIANT_SAMPLE_SURFACE;
    struct
    {
        const char* name;
        scene_mesh mesh;
        uint32_t mode, shells;
    } cases[] = {
        {"one", scene_box(1, 1, 1, 2), volume, 1},
        {"apart", two_boxes(.01f), volume, 2},
        {"face to face", two_boxes(0), volume, 1},
        {"overlapping", two_boxes(-.1f), volume, 1},
        {"nested", joined(scene_icosphere(1, 3), scene_icosphere(.5f, 2)), volume, 1},
        {"a cavity", joined(flipped(scene_icosphere(.5f, 2)), scene_icosphere(1, 3)), volume, 1},
        {"side by side in one box of bounds",
         joined(scene_torus(1, .2f, 40, 20), scene_icosphere(.5f, 3)), volume, 2},
        {"linked rings", linked_rings(), volume, 2},
        {"sheets that enclose together", loose_box(), volume, 1},
        {"sheets", loose_box(), surface, 6},
        {"crossing sheets", joined(scene_sheet(1, 1, 2, 2), turned(scene_sheet(1, 1, 2, 2), 1)),
         surface, 1},
        {"vertices", two_boxes(1), PLIANT_SAMPLE_VERTICES, 2},
    };
    for (size_t i = 0; i < PL_COUNTOF(cases); ++i)
    {
        pl_samples s = sample_scene(cases[i].mesh, by_count(cases[i].mode, 500));
        CHECK_MSG(s.shell_count == cases[i].shells, "%s: %u shells", cases[i].name, s.shell_count);
        CHECK(s.shell[0] == 0);
        for (uint32_t k = 0; k < s.count; ++k)
            CHECK(s.shell[k] < s.shell_count);
        pl_samples_free(&s);
    }
    pl_samples s = sample_scene(two_boxes(.2f), by_count(PLIANT_SAMPLE_AUTO, 2000));
    uint32_t count[2] = {0};
    for (uint32_t i = 0; i < s.count; ++i)
    {
        CHECK((s.points[i].x > .6) == (s.shell[i] != s.shell[0]) || s.points[0].x > .6);
        ++count[s.shell[i] & 1];
    }
    CHECK_MSG(abs((int)count[0] - (int)count[1]) < 100, "%u and %u", count[0], count[1]);
    pl_samples_free(&s);
}

TEST(far_and_unequal_shells_all_get_particles)
{
    scene_mesh scene = scene_box(1, 1, 1, 2);
    for (int i = 0; i < 20; ++i)
        scene = joined(scene, moved(scene_icosphere(.02f, 1), 500 + 10 * (float)i, 300, 0));
    pl_samples s = sample_scene(scene, by_count(PLIANT_SAMPLE_AUTO, 1000));
    CHECK_MSG(s.shell_count == 21, "%u shells", s.shell_count);
    CHECK(s.count >= 980 && s.count <= 1020);
    pl_samples_free(&s);
}

/* ------------------------------------------------------------------ behaviour */

static uint64_t hash_samples(const pl_samples* s)
{
    uint64_t h = pl_hash(PL_HASH_START, s->points, s->count * sizeof *s->points);
    h = pl_hash(h, s->volumes, s->count * sizeof *s->volumes);
    h = pl_hash(h, s->shell, s->count * sizeof *s->shell);
    return pl_hash(h, &s->spacing, sizeof s->spacing);
}

TEST(threads_do_not_change_samples)
{
    scene_mesh scenes[] = {two_boxes(.3f), with_holes(scene_creature(4), 15)};
    for (size_t i = 0; i < PL_COUNTOF(scenes); ++i)
    {
        pl_mesh mesh = load(scenes[i]);
        for (uint32_t mode = PLIANT_SAMPLE_AUTO; mode <= PLIANT_SAMPLE_VERTICES; ++mode)
        {
            pliant_sample_desc desc = by_count(mode, 2000);
            pl_samples alone = sample(&mesh, desc), s;
            for (uint32_t threads = 1; threads <= 3; ++threads)
            {
                pl_pool* pool = pl_pool_create(threads);
                CHECK_OK(pl_sample(&mesh, &desc, pool, NULL, &s));
                CHECK(s.count == alone.count && hash_samples(&s) == hash_samples(&alone));
                pl_samples_free(&s);
                pl_pool_destroy(pool);
            }
            pl_samples_free(&alone);
        }
        pl_mesh_free(&mesh);
    }
}

typedef struct watcher
{
    int calls, stop_at;
    double last;
    bool forward;
} watcher;

static int32_t watch(void* user, double fraction, const char* stage)
{
    watcher* w = user;
    w->forward = w->forward && fraction >= w->last && fraction <= 1 && strcmp(stage, "here") == 0;
    w->last = fraction;
    return ++w->calls == w->stop_at;
}

TEST(sampling_reports_progress_and_can_be_cancelled)
{
    pl_mesh mesh = load(joined(scene_creature(4), moved(scene_box(1, 1, 1, 2), 5, 0, 0)));
    const uint32_t modes[] = {PLIANT_SAMPLE_BLUE_NOISE, PLIANT_SAMPLE_GRID, PLIANT_SAMPLE_SURFACE};
    uint64_t before = pl_bytes_in_use();
    for (size_t m = 0; m < PL_COUNTOF(modes); ++m)
    {
        pliant_sample_desc desc = by_count(modes[m], 4000);
        watcher w = {.forward = true};
        pl_task task = {.progress = watch, .user = &w, .from = .25, .to = .75, .stage = "here"};
        pl_samples s;
        CHECK_OK(pl_sample(&mesh, &desc, NULL, &task, &s));
        CHECK_MSG(w.calls > 10, "mode %u reported %d times", modes[m], w.calls);
        CHECK(w.forward && w.last == .75);
        pl_samples_free(&s);
        int calls = w.calls;
        for (int stop = 1; stop <= calls; stop += 1 + calls / 10)
        {
            w = (watcher){.forward = true, .stop_at = stop};
            CHECK(pl_sample(&mesh, &desc, NULL, &task, &s) == PLIANT_CANCELLED);
            CHECK(w.calls == stop);
            pl_samples_free(&s);
            CHECK(pl_bytes_in_use() == before);
        }
        int flag = 1;
        pl_task flagged = {.cancel = &flag, .to = 1};
        CHECK(pl_sample(&mesh, &desc, NULL, &flagged, &s) == PLIANT_CANCELLED);
        pl_samples_free(&s);
    }
    CHECK(pl_bytes_in_use() == before);
    pl_mesh_free(&mesh);
}

TEST(sampling_survives_running_out_of_memory)
{
    scene_mesh scenes[] = {two_boxes(.3f), with_holes(scene_icosphere(1, 1), 10)};
    for (size_t i = 0; i < PL_COUNTOF(scenes); ++i)
    {
        pl_mesh mesh = load(scenes[i]);
        uint64_t before = pl_bytes_in_use();
        for (uint32_t mode = PLIANT_SAMPLE_AUTO; mode <= PLIANT_SAMPLE_VERTICES; ++mode)
        {
            pliant_sample_desc desc = by_count(mode, 40);
            bool done = false;
            for (int64_t allowed = 0; !done && allowed < 20000; ++allowed)
            {
                pl_samples s;
                pl_fail_allocations_after(allowed);
                pl_status status = pl_sample(&mesh, &desc, NULL, NULL, &s);
                pl_fail_allocations_after(-1);
                CHECK(status == PLIANT_OK || status == PLIANT_ERROR_MEMORY);
                done = status == PLIANT_OK;
                pl_samples_free(&s);
                CHECK_MSG(pl_bytes_in_use() == before, "leak after %d allocations", (int)allowed);
                allowed += allowed / 16; /* the many blocks of a map are alike */
            }
            CHECK(done);
        }
        pl_mesh_free(&mesh);
    }
}

TEST(impossible_wishes_are_refused)
{
    pl_mesh mesh = load(scene_box(1, 1, 1, 1));
    const pliant_sample_desc wishes[] = {
        {.mode = 99, .count = 10},
        {.mode = PLIANT_SAMPLE_AUTO, .count = 0},
        {.mode = PLIANT_SAMPLE_SURFACE, .count = UINT32_MAX},
        {.mode = PLIANT_SAMPLE_AUTO, .count = 10, .spacing = -1},
        {.mode = PLIANT_SAMPLE_AUTO, .count = 10, .spacing = NAN},
        {.mode = PLIANT_SAMPLE_AUTO, .count = 10, .spacing = INFINITY},
        {.mode = PLIANT_SAMPLE_AUTO, .count = 10, .spacing = 1e-30},
        {.mode = PLIANT_SAMPLE_AUTO, .count = 10, .spacing = 1e-4},
        {.mode = PLIANT_SAMPLE_GRID, .count = 10, .spacing = 1e-4},
        {.mode = PLIANT_SAMPLE_SURFACE, .count = 10, .spacing = 1e-5},
        {.mode = PLIANT_SAMPLE_AUTO, .count = 10, .thickness = -1},
        {.mode = PLIANT_SAMPLE_VERTICES, .count = 10, .thickness = NAN},
    };
    for (size_t i = 0; i < PL_COUNTOF(wishes); ++i)
    {
        pl_samples s;
        pl_clear_error();
        CHECK_MSG(pl_sample(&mesh, &wishes[i], NULL, NULL, &s) == PLIANT_ERROR_ARGUMENT, "wish %zu",
                  i);
        CHECK(pl_last_error()[0] != 0);
        pl_samples_free(&s);
    }
    pl_mesh_free(&mesh);
}

/* ------------------------------------------------------------------ points that the caller brings
 */

TEST(given_points_get_spacing_and_volume)
{
    pl_samples blue = sample_scene(scene_box(1, 1, 1, 1), by_count(PLIANT_SAMPLE_AUTO, 5000)), s;
    CHECK_OK(pl_sample_points(blue.count, blue.points, NULL, &s));
    CHECK(s.count == blue.count && s.shell_count == 1 && s.warnings == 0);
    CHECK(memcmp(s.points, blue.points, s.count * sizeof(vec3)) == 0);
    CHECK_NEAR(s.spacing, blue.spacing, .01 * blue.spacing);
    CHECK_NEAR(total(&s), 1, .12);
    pl_samples_free(&s);

    float* volumes = malloc(blue.count * sizeof *volumes);
    for (uint32_t i = 0; i < blue.count; ++i)
        volumes[i] = .5f + (float)(i % 3);
    CHECK_OK(pl_sample_points(blue.count, blue.points, volumes, &s));
    CHECK(s.volumes[0] == .5 && s.volumes[2] == 2.5);
    pl_samples_free(&s);
    volumes[17] = 0;
    CHECK(pl_sample_points(blue.count, blue.points, volumes, &s) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pl_last_error(), "17") != NULL);
    pl_samples_free(&s);
    blue.points[123].y = NAN;
    CHECK(pl_sample_points(blue.count, blue.points, NULL, &s) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pl_last_error(), "123") != NULL);
    pl_samples_free(&s);
    CHECK(pl_sample_points(0, NULL, NULL, &s) == PLIANT_ERROR_ARGUMENT);
    pl_samples_free(&s);
    free(volumes);
    pl_samples_free(&blue);
}

TEST(spacing_is_the_median_distance_to_the_nearest)
{
    enum
    {
        N = 1500
    };
    static vec3 points[2 * N];
    static double nearest[N];
    pl_rng rng = pl_rng_seed(2);
    for (int kind = 0; kind < 4; ++kind) /* space, a plane, a line, a grid of ties */
    {
        for (int i = 0; i < N; ++i)
        {
            points[i] = v3(pl_rng_unit(&rng), kind < 2 ? pl_rng_unit(&rng) : 0,
                           kind < 1 ? pl_rng_unit(&rng) : 0);
            if (kind == 3)
                points[i] = v3(i % 10, i / 10 % 15, i / 150);
            points[N + i] = points[i];
        }
        for (int i = 0; i < N; ++i)
        {
            nearest[i] = INFINITY;
            for (int j = 0; j < N; ++j)
                if (i != j)
                    nearest[i] = fmin(nearest[i], v3_length(v3_sub(points[i], points[j])));
        }
        uint32_t below = 0, places;
        double spacing, again;
        REQUIRE_OK(pl_typical_spacing(N, points, &spacing, NULL));
        for (int i = 0; i < N; ++i)
            below += nearest[i] < spacing * (1 - 1e-12);
        uint32_t not_above = below;
        for (int i = 0; i < N; ++i)
            not_above += fabs(nearest[i] - spacing) <= spacing * 1e-12;
        CHECK_MSG(below <= N / 2 && not_above > N / 2, "kind %d: %g has %u below", kind, spacing,
                  below);
        /* everything twice changes nothing */
        REQUIRE_OK(pl_typical_spacing(2 * N, points, &again, &places));
        CHECK(places == N && again == spacing);
    }
}

TEST(odd_sets_of_points_have_a_spacing)
{
    const vec3 same[3] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, pair[2] = {{0, 0, 0}, {0, 3, 4}};
    const float volumes[3] = {8, 8, 8};
    pl_samples s;
    CHECK_OK(pl_sample_points(1, same, NULL, &s));
    CHECK(s.spacing == 1 && s.volumes[0] > 0);
    pl_samples_free(&s);
    CHECK_OK(pl_sample_points(3, same, NULL, &s));
    CHECK(s.spacing == 1);
    CHECK_NEAR(s.volumes[0] * 3, 1.36, .1);
    pl_samples_free(&s);
    CHECK_OK(pl_sample_points(3, same, volumes, &s));
    CHECK(s.spacing > 1.5 && s.spacing < 2.5 && s.volumes[2] == 8);
    pl_samples_free(&s);
    CHECK_OK(pl_sample_points(2, pair, NULL, &s));
    CHECK(s.spacing == 5);
    pl_samples_free(&s);
}

TEST(a_published_beam_has_about_its_volume)
{
    char path[512];
    if (!test_shared_file("data/particles/beam-5317.txt", path))
    {
        test_skip("no %s", path);
        return;
    }
    static vec3 points[6000];
    uint32_t count = 0;
    FILE* file = fopen(path, "r");
    REQUIRE(file);
    while (count < 6000 &&
           fscanf(file, "%lf %lf %lf", &points[count].x, &points[count].y, &points[count].z) == 3)
        ++count;
    fclose(file);
    pl_samples s;
    REQUIRE_OK(pl_sample_points(count, points, NULL, &s));
    CHECK_NEAR(total(&s), .32, .04); /* 2 x .4 x .4 */
    pl_samples_free(&s);
}
