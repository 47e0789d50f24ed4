// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/sample_scenes.h"

#include <base/hash.h>
#include <base/rng.h>
#include <stdlib.h>

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
        /* a maximal sampling has no point at a spacing's distance from all samples */
        CHECK_MSG(gaps < 30, "%d of 1000 places could take another point", gaps);
        pl_samples_free(&s);
        pl_mesh_free(&mesh);
    }
}

/* A bake may resume on another machine: compilers must not change the order of random numbers. */
TEST(blue_noise_is_the_same_with_every_compiler)
{
    pl_mesh mesh = load(scene_box(1, 1, 1, 1));
    pl_samples s = sample(&mesh, by_spacing(PLIANT_SAMPLE_BLUE_NOISE, .07));
    uint64_t hash = pl_hash(0, s.points, s.count * sizeof s.points[0]);
    CHECK_MSG(hash == 0x53bec0502415eb3full, "%u points, hash %016llx", s.count,
              (unsigned long long)hash);
    pl_samples_free(&s);
    pl_mesh_free(&mesh);
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
    /* no grid in a cube has 50 points: the nearest count, and a warning */
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

/* Otherwise a rim is extrapolated, and penetrates the floor. */
TEST(open_edges_have_particles)
{
    static const float corners[] = {0, 0, 0, 2, 0, 0, 2, 1, 0, 0, 1, 0, 1, .5f, 0};
    static const uint32_t faces[] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4};
    pl_mesh mesh =
        load((scene_mesh){.vertex_count = 5,
                          .triangle_count = 4,
                          .vertices = memcpy(malloc(sizeof corners), corners, sizeof corners),
                          .triangles = memcpy(malloc(sizeof faces), faces, sizeof faces)});
    pl_samples s = sample(&mesh, by_spacing(PLIANT_SAMPLE_SURFACE, .08));
    CHECK(least_distance(&s) >= .08);
    double most = 0;
    for (int i = 0; i <= 400; ++i)
    {
        double nearest = 1;
        for (uint32_t k = 0; k < s.count; ++k)
            if (s.points[k].y == 0)
                nearest = fmin(nearest, fabs(s.points[k].x - i / 200.));
        most = fmax(most, nearest);
    }
    CHECK_MSG(most < .08, "a gap of %g on the rim", most);
    for (int c = 0; c < 4; ++c)
    {
        double nearest = 1;
        for (uint32_t k = 0; k < s.count; ++k)
            nearest = fmin(
                nearest, v3_length(v3_sub(s.points[k], v3(corners[3 * c], corners[3 * c + 1], 0))));
        CHECK_MSG(nearest < 1e-6, "corner %d is %g from the next particle", c, nearest);
    }
    pl_samples_free(&s);
    pl_mesh_free(&mesh);
}

TEST(vertices_become_particles_once_for_each_place)
{
    scene_mesh split = scene_icosphere(1, 2);
    scene_mesh_split(&split);
    pl_samples s = sample_scene(split, by_count(PLIANT_SAMPLE_VERTICES, 0));
    CHECK(s.count == 162 && s.mode == PLIANT_SAMPLE_VERTICES && s.warnings == 0);
    CHECK_NEAR(total(&s), 4 * PI / 3, .3); /* of a coarse ball */
    pl_samples_free(&s);

    /* a vertex has a third of the triangles around it: six inside, two or one at corners */
    s = sample_scene(scene_sheet(1, 1, 4, 4), by_count(PLIANT_SAMPLE_VERTICES, 0));
    CHECK(s.count == 25 && s.spacing == .25);
    CHECK_NEAR(total(&s), .25, 1e-9);
    CHECK_NEAR(s.volumes[12] / s.volumes[0], 3, 1e-6);
    CHECK_NEAR(s.volumes[12] / s.volumes[4], 6, 1e-6);
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
        {"apart", two_boxes(.3f), volume, 2},
        {"nearer than particles are", two_boxes(.03f), volume, 1},
        {"face to face", two_boxes(0), volume, 1},
        {"overlapping", two_boxes(-.1f), volume, 1},
        {"nested", joined(scene_icosphere(1, 3), scene_icosphere(.5f, 2)), volume, 1},
        {"a cavity", joined(flipped(scene_icosphere(.5f, 2)), scene_icosphere(1, 3)), volume, 1},
        {"side by side in one box of bounds",
         joined(scene_torus(1, .2f, 40, 20), scene_icosphere(.5f, 3)), volume, 2},
        {"linked rings", linked_rings(), volume, 2},
        {"sheets that enclose together", loose_box(), volume, 1},
        {"sheets", loose_box(), surface, 1},
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

static uint32_t shell_at(const pl_samples* s, vec3 at)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < s->count; ++i)
        if (v3_length(v3_sub(s->points[i], at)) < v3_length(v3_sub(s->points[best], at)))
            best = i;
    return s->shell[best];
}

TEST(shells_kept_apart_own_what_they_enclose)
{
    pliant_sample_desc desc = by_count(PLIANT_SAMPLE_AUTO, 2000);
    desc.shells_apart = PLIANT_SHELLS_APART;
    /* a thin bar that ends in the middle of a box: the box keeps what is beside the bar's surface
     */
    scene_mesh mesh = joined(scene_box(1, 1, 1, 4), moved(scene_box(1, .3f, .3f, 4), .5f, 0, 0));
    pl_samples s = sample_scene(mesh, desc);
    CHECK_MSG(s.shell_count == 2, "%u shells", s.shell_count);
    uint32_t box = shell_at(&s, v3(-.4, 0, 0)), bar = shell_at(&s, v3(.9, 0, 0));
    CHECK(box != bar);
    for (uint32_t i = 0; i < s.count; ++i)
    {
        vec3 p = s.points[i];
        bool in_bar = p.x > 0 && fabs(p.y) < .15 && fabs(p.z) < .15;
        CHECK((s.shell[i] == bar) == in_bar);
    }
    pl_samples_free(&s);
    s = sample_scene(joined(scene_icosphere(1, 3), scene_icosphere(.5f, 2)), desc);
    CHECK(s.shell_count == 1);
    pl_samples_free(&s);
    s = sample_scene(loose_box(), desc);
    CHECK_MSG(s.shell_count == 6, "%u shells", s.shell_count);
    pl_samples_free(&s);
}
