// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/test.h"
#include "scenes/meshes.h"

#include <base/rng.h>
#include <geometry/bvh.h>
#include <geometry/mesh.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

static pliant_mesh_desc describe(const scene_mesh* mesh)
{
    return (pliant_mesh_desc){.size = sizeof(pliant_mesh_desc),
                              .vertex_count = mesh->vertex_count,
                              .triangle_count = mesh->triangle_count,
                              .vertices = mesh->vertices,
                              .triangles = mesh->triangles};
}

/* Takes ownership of the scene mesh. */
static pl_mesh load(scene_mesh scene)
{
    pl_mesh mesh;
    pliant_mesh_desc desc = describe(&scene);
    CHECK_OK(pl_mesh_init(&mesh, &desc, v3(0, 0, 0)));
    scene_mesh_free(&scene);
    return mesh;
}

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

static scene_mesh flipped(scene_mesh mesh, uint32_t every)
{
    scene_mesh_flip(&mesh, every);
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

static scene_mesh random_soup(uint32_t triangles, uint64_t seed)
{
    pl_rng rng = pl_rng_seed(seed);
    scene_mesh mesh = scene_sheet(1, 1, 1, 1);
    while (mesh.triangle_count < triangles)
    {
        scene_mesh sheet = scene_sheet(.05f + .2f * (float)pl_rng_unit(&rng), .1f, 1, 1);
        scene_mesh_turn(&sheet, (float)pl_rng_unit(&rng), (float)pl_rng_unit(&rng), .3f,
                        6 * (float)pl_rng_unit(&rng));
        scene_mesh_move(&sheet, (float)pl_rng_unit(&rng), (float)pl_rng_unit(&rng),
                        (float)pl_rng_unit(&rng));
        mesh = joined(mesh, sheet);
    }
    return mesh;
}

/* The sum of all solid angles, of the triangles as oriented by the mesh. */
static double exact_winding(const pl_mesh* mesh, vec3 q)
{
    double sum = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
    {
        vec3 a = v3_sub(pl_mesh_corner(mesh, t, 0), q), b = v3_sub(pl_mesh_corner(mesh, t, 1), q),
             c = v3_sub(pl_mesh_corner(mesh, t, 2), q);
        double la = v3_length(a), lb = v3_length(b), lc = v3_length(c);
        sum += 2 * atan2(v3_dot(a, v3_cross(b, c)),
                         la * lb * lc + v3_dot(a, b) * lc + v3_dot(b, c) * la + v3_dot(c, a) * lb);
    }
    return sum / (4 * PI);
}

static vec3 random_point(const pl_mesh* mesh, pl_rng* rng, double margin)
{
    vec3 size = v3_sub(mesh->upper, mesh->lower), p;
    p.x = mesh->lower.x + size.x * ((1 + 2 * margin) * pl_rng_unit(rng) - margin);
    p.y = mesh->lower.y + size.y * ((1 + 2 * margin) * pl_rng_unit(rng) - margin);
    p.z = mesh->lower.z + size.z * ((1 + 2 * margin) * pl_rng_unit(rng) - margin);
    return p;
}

/* Near a random triangle, within "reach" of its size. */
static vec3 point_near_surface(const pl_mesh* mesh, pl_rng* rng, double reach)
{
    uint32_t t = pl_rng_below(rng, mesh->triangle_count);
    vec3 a = pl_mesh_corner(mesh, t, 0), b = pl_mesh_corner(mesh, t, 1);
    double size = v3_length(v3_sub(a, b)) * reach;
    vec3 p = v3_scale(v3_add(a, v3_add(b, pl_mesh_corner(mesh, t, 2))), 1.0 / 3);
    return v3_add(p, v3(size * (pl_rng_unit(rng) - .5), size * (pl_rng_unit(rng) - .5),
                        size * (pl_rng_unit(rng) - .5)));
}

/* ------------------------------------------------------------------ winding numbers */

TEST(winding_of_a_cube_and_a_sphere_is_one_inside_and_zero_outside)
{
    pl_mesh cube = load(scene_box(2, 2, 2, 8)), sphere = load(scene_icosphere(1, 4));
    pl_rng rng = pl_rng_seed(1);
    for (int i = 0; i < 2000; ++i)
    {
        vec3 p = random_point(&cube, &rng, .5);
        bool in_cube = fabs(p.x) < 1 && fabs(p.y) < 1 && fabs(p.z) < 1;
        CHECK_NEAR(pl_mesh_winding(&cube, p, UINT32_MAX), in_cube, 5e-3);
        CHECK(pl_mesh_inside(&cube, p) == in_cube);
        double r = v3_length(p);
        if (r > .99 && r < 1)
            continue;
        CHECK_NEAR(pl_mesh_winding(&sphere, p, UINT32_MAX), r < 1, 5e-3);
        CHECK(pl_mesh_inside(&sphere, p) == (r < 1));
    }
    pl_mesh_free(&cube);
    pl_mesh_free(&sphere);
}

TEST(winding_agrees_with_the_sum_of_solid_angles)
{
    scene_mesh scenes[] = {with_holes(scene_icosphere(1, 4), 3),
                           with_holes(scene_creature(4), 7),
                           flipped(with_holes(scene_torus(1, .4f, 40, 20), 5), 4),
                           random_soup(2000, 5),
                           turned(scene_sheet(2, 1, 20, 20), .7f),
                           joined(scene_box(1, 1, 1, 6), moved(scene_box(1, 1, 1, 6), .5f, 0, 0))};
    for (size_t s = 0; s < PL_COUNTOF(scenes); ++s)
    {
        pl_mesh mesh = load(scenes[s]);
        pl_rng rng = pl_rng_seed(s);
        double worst = 0, worst_quick = 0;
        for (int i = 0; i < 300; ++i)
        {
            vec3 p = i & 1 ? random_point(&mesh, &rng, .3) : point_near_surface(&mesh, &rng, 1);
            double exact = exact_winding(&mesh, p);
            double fast = pl_mesh_winding(&mesh, p, UINT32_MAX);
            double quick = pl_bvh_winding(mesh.tree, mesh.tree->root, p, 1.3);
            worst = fmax(worst, fabs(fast - exact));
            worst_quick = fmax(worst_quick, fabs(quick - exact));
        }
        CHECK_MSG(worst < 6e-3, "scene %zu: winding off by %g", s, worst);
        CHECK_MSG(worst_quick < .1, "scene %zu: quick winding off by %g", s, worst_quick);
        pl_mesh_free(&mesh);
    }
}

TEST(winding_converges_with_the_accuracy)
{
    pl_mesh mesh = load(with_holes(scene_creature(4), 9));
    pl_rng rng = pl_rng_seed(8);
    double sums[3] = {0};
    for (int i = 0; i < 100; ++i)
    {
        vec3 p = random_point(&mesh, &rng, .2);
        double exact = exact_winding(&mesh, p);
        for (int k = 0; k < 3; ++k)
        {
            double error = pl_bvh_winding(mesh.tree, mesh.tree->root, p, 1.5 * (1 << k)) - exact;
            sums[k] += error * error;
        }
    }
    /* third-order truncation: halving radius over distance takes eight times off or more */
    CHECK_MSG(sqrt(sums[1] / sums[0]) < .2, "ratio %g", sqrt(sums[1] / sums[0]));
    CHECK_MSG(sqrt(sums[2] / sums[1]) < .2, "ratio %g", sqrt(sums[2] / sums[1]));
    pl_mesh_free(&mesh);
}

TEST(winding_of_one_shell_ignores_the_others)
{
    pl_mesh mesh = load(joined(scene_icosphere(1, 3), moved(scene_box(1, 1, 1, 2), 4, 0, 0)));
    REQUIRE(mesh.shell_count == 2);
    CHECK_NEAR(pl_mesh_winding(&mesh, v3(0, 0, 0), 0), 1, 5e-3);
    CHECK_NEAR(pl_mesh_winding(&mesh, v3(0, 0, 0), 1), 0, 5e-3);
    CHECK_NEAR(pl_mesh_winding(&mesh, v3(4, 0, 0), 0), 0, 5e-3);
    CHECK_NEAR(pl_mesh_winding(&mesh, v3(4, 0, 0), 1), 1, 5e-3);
    CHECK(pl_mesh_winding(&mesh, v3(4, 0, 0), 2) == 0);
    pl_mesh_free(&mesh);
}

/* ------------------------------------------------------------------ the rule for inside */

TEST(inside_follows_the_rule_for_flipped_nested_and_overlapping_shells)
{
    const struct
    {
        const char* name;
        scene_mesh mesh;
        vec3 inside[3], outside[3];
        double volume; /* of the mesh, 0: overlaps make it another number */
    } cases[] = {
        {"inside out",
         flipped(scene_icosphere(1, 3), 1),
         {{0, 0, 0}, {.9, 0, 0}, {0, -.9, 0}},
         {{1.1, 0, 0}, {0, 0, 3}, {-1.1, 0, 0}},
         4.1},
        {"every third triangle turned",
         flipped(scene_icosphere(1, 3), 3),
         {{0, 0, 0}, {.9, 0, 0}, {0, -.9, 0}},
         {{1.1, 0, 0}, {0, 0, 3}, {-1.1, 0, 0}},
         4.1},
        {"a cavity",
         joined(scene_icosphere(1, 3), flipped(scene_icosphere(.5f, 3), 1)),
         {{.75, 0, 0}, {0, .75, 0}, {0, 0, -.75}},
         {{0, 0, 0}, {.4, 0, 0}, {1.1, 0, 0}},
         3.6},
        {"a cavity, all inside out",
         joined(flipped(scene_icosphere(1, 3), 1), scene_icosphere(.5f, 3)),
         {{.75, 0, 0}, {0, .75, 0}, {0, 0, -.75}},
         {{0, 0, 0}, {.4, 0, 0}, {1.1, 0, 0}},
         3.6},
        {"a ball in a ball",
         joined(scene_icosphere(.5f, 3), scene_icosphere(1, 3)),
         {{.75, 0, 0}, {0, 0, 0}, {.5, 0, 0}},
         {{1.1, 0, 0}, {0, 2, 0}, {0, 0, -1.1}},
         4.1},
        {"a ball in a cavity in a ball",
         joined(joined(scene_icosphere(1, 3), flipped(scene_icosphere(.7f, 3), 1)),
                scene_icosphere(.4f, 3)),
         {{.85, 0, 0}, {0, 0, 0}, {0, .3, 0}},
         {{.55, 0, 0}, {0, 0, -.55}, {1.1, 0, 0}},
         3.0},
        {"a cavity in a ball in a ball",
         joined(joined(scene_icosphere(1, 3), scene_icosphere(.7f, 3)),
                flipped(scene_icosphere(.4f, 3), 1)),
         {{.85, 0, 0}, {.55, 0, 0}, {0, 0, -.55}},
         {{0, 0, 0}, {.3, 0, 0}, {1.1, 0, 0}},
         3.9},
        {"an overlap of two, one inside out",
         joined(scene_box(2, 2, 2, 3), flipped(moved(scene_box(2, 2, 2, 3), 1, .1f, .2f), 1)),
         {{.5, 0, 0}, {-.8, 0, 0}, {1.8, 0, 0}},
         {{-1.1, 0, 0}, {2.1, 0, 0}, {0, 1.2, 0}},
         0},
        {"two apart, one inside out",
         joined(scene_box(1, 1, 1, 2), flipped(moved(scene_box(1, 1, 1, 2), 3, 0, 0), 1)),
         {{.4, 0, 0}, {3, 0, 0}, {0, .4, 0}},
         {{1, 0, 0}, {3.6, 0, 0}, {2.4, 0, 0}},
         2},
        {"inside out with holes",
         flipped(with_holes(scene_icosphere(1, 3), 20), 1),
         {{0, 0, 0}, {.8, 0, 0}, {0, -.8, 0}},
         {{1.3, 0, 0}, {0, 0, 3}, {-1.3, 0, 0}},
         0},
    };
    for (size_t i = 0; i < PL_COUNTOF(cases); ++i)
    {
        pl_mesh mesh = load(cases[i].mesh);
        for (int k = 0; k < 3; ++k)
        {
            CHECK_MSG(pl_mesh_inside(&mesh, cases[i].inside[k]), "%s: point %d is not inside",
                      cases[i].name, k);
            CHECK_MSG(!pl_mesh_inside(&mesh, cases[i].outside[k]), "%s: point %d is not outside",
                      cases[i].name, k);
        }
        CHECK_MSG(cases[i].volume == 0 || fabs(mesh.volume - cases[i].volume) < .1, "%s: volume %g",
                  cases[i].name, mesh.volume);
        pl_mesh_free(&mesh);
    }
}

/* ------------------------------------------------------------------ nearest points */

static double exact_nearest(const pl_mesh* mesh, vec3 p)
{
    double best = INFINITY;
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
    {
        /* an independent method: the projection onto the plane if inside, otherwise the edges */
        vec3 v[3] = {pl_mesh_corner(mesh, t, 0), pl_mesh_corner(mesh, t, 1),
                     pl_mesh_corner(mesh, t, 2)};
        vec3 n = v3_normalised(v3_cross(v3_sub(v[1], v[0]), v3_sub(v[2], v[0])));
        double height = v3_dot(v3_sub(p, v[0]), n);
        vec3 foot = v3_mad(p, n, -height);
        bool inside = true;
        for (int k = 0; k < 3; ++k)
        {
            vec3 edge = v3_sub(v[(k + 1) % 3], v[k]), from = v3_sub(foot, v[k]);
            inside = inside && v3_dot(v3_cross(edge, from), n) >= 0;
            double along = PL_CLAMP(v3_dot(from, edge) / v3_dot(edge, edge), 0.0, 1.0);
            best = fmin(best, v3_length(v3_sub(p, v3_mad(v[k], edge, along))));
        }
        if (inside)
            best = fmin(best, fabs(height));
    }
    return best;
}

TEST(nearest_points_agree_with_trying_every_triangle)
{
    scene_mesh scenes[] = {random_soup(600, 11), scene_creature(3), scene_box(1, 2, 3, 1),
                           scene_sheet(1, 1, 1, 1)};
    for (size_t s = 0; s < PL_COUNTOF(scenes); ++s)
    {
        pl_mesh mesh = load(scenes[s]);
        pl_rng rng = pl_rng_seed(s + 100);
        for (int i = 0; i < 300; ++i)
        {
            vec3 p = i & 1 ? random_point(&mesh, &rng, 1) : point_near_surface(&mesh, &rng, .5);
            pl_mesh_hit hit = pl_mesh_nearest(&mesh, p);
            REQUIRE(hit.triangle < mesh.triangle_count);
            CHECK_NEAR(hit.distance, exact_nearest(&mesh, p), 1e-12);
            CHECK_NEAR(hit.distance, v3_length(v3_sub(p, hit.point)), 1e-12);
            vec3 blend = v3(0, 0, 0);
            for (int k = 0; k < 3; ++k)
            {
                CHECK(hit.weights[k] >= -1e-12);
                blend = v3_mad(blend, pl_mesh_corner(&mesh, hit.triangle, k), hit.weights[k]);
            }
            CHECK_NEAR(hit.weights[0] + hit.weights[1] + hit.weights[2], 1, 1e-12);
            CHECK_NEAR(v3_length(v3_sub(blend, hit.point)), 0, 1e-12);
        }
        pl_mesh_free(&mesh);
    }
}

TEST(weights_of_nearest_points_belong_to_the_turned_triangles)
{
    pl_mesh mesh = load(flipped(scene_icosphere(1, 2), 1));
    for (uint32_t t = 0; t < mesh.triangle_count; ++t)
    {
        vec3 p = v3_mad(v3_scale(pl_mesh_corner(&mesh, t, 1), .7), pl_mesh_corner(&mesh, t, 2), .2);
        p = v3_mad(p, pl_mesh_corner(&mesh, t, 0), .1);
        pl_mesh_hit hit = pl_mesh_nearest(&mesh, p);
        CHECK(hit.triangle == t && hit.distance < 1e-12);
        CHECK_NEAR(hit.weights[1], .7, 1e-9);
        CHECK_NEAR(hit.weights[2], .2, 1e-9);
    }
    pl_mesh_free(&mesh);
}

/* ------------------------------------------------------------------ intake */

TEST(defects_are_left_out_and_counted)
{
    const float inf = INFINITY;
    const float vertices[] = {0, 0,   0, 1, 0, 0, 0, 1, 0, 0, 0, 1, NAN, 0, 0,
                              0, inf, 0, 5, 5, 5, 0, 0, 0, 2, 0, 0, 0,   0, -inf};
    const uint32_t triangles[] = {
        0, 2, 1,          0, 1, 3, 1, 2, 3, 0, 3, 2, /* a tetrahedron */
        0, 1, 4,                                     /* NaN */
        0, 1, 5,                                     /* infinite */
        0, 1, 77,                                    /* no such vertex */
        0, 1, UINT32_MAX,                            /* no such vertex */
        0, 1, 1,                                     /* a line */
        0, 7, 1,                                     /* a line: 7 is where 0 is */
        0, 1, 8,                                     /* a line: 8 is beyond 1 */
        2, 1, 0,                                     /* the first again */
        2, 1, 7,                                     /* and again, by position */
    };
    pliant_mesh_desc desc = {.size = sizeof desc,
                             .vertex_count = 10,
                             .triangle_count = 13,
                             .vertices = vertices,
                             .triangles = triangles};
    pl_mesh mesh;
    REQUIRE_OK(pl_mesh_init(&mesh, &desc, v3(0, 0, 0)));
    CHECK(mesh.vertex_count == 10 && mesh.triangle_count == 4);
    CHECK(mesh.dropped_triangles == 9 && mesh.bad_vertices == 3);
    CHECK(mesh.shell_count == 1 && mesh.closed);
    CHECK_NEAR(mesh.volume, 1.0 / 6, 1e-12);
    CHECK_NEAR(mesh.extent, sqrt(3), 1e-12);
    for (uint32_t i = 0; i < mesh.vertex_count; ++i)
        CHECK(v3_finite(mesh.vertices[i]));
    CHECK(pl_mesh_inside(&mesh, v3(.1, .1, .1)) && !pl_mesh_inside(&mesh, v3(.5, .5, .5)));
    pl_mesh_free(&mesh);
}

TEST(unusable_meshes_give_a_sentence)
{
    const float nans[9] = {NAN, NAN, NAN, NAN, 0, 0, 0, INFINITY, 0};
    const float line[9] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
    const uint32_t one[3] = {0, 1, 2}, far_off[3] = {9, 1, 2};
    const pliant_mesh_desc cases[] = {
        {.vertex_count = 0, .triangle_count = 0},
        {.vertex_count = 3, .triangle_count = 0, .vertices = NULL},
        {.vertex_count = 3, .triangle_count = 1, .vertices = line, .triangles = NULL},
        {.vertex_count = 3, .triangle_count = 1, .vertices = nans, .triangles = one},
        {.vertex_count = 3, .triangle_count = 0, .vertices = nans},
        {.vertex_count = 3, .triangle_count = 1, .vertices = line, .triangles = one},
        {.vertex_count = 3, .triangle_count = 1, .vertices = line, .triangles = far_off},
        {.vertex_count = 3,
         .triangle_count = 1,
         .vertices = line,
         .triangles = one,
         .origin = {NAN, 0, 0}},
    };
    uint64_t before = pl_bytes_in_use();
    for (size_t i = 0; i < PL_COUNTOF(cases); ++i)
    {
        pl_mesh mesh;
        pl_clear_error();
        CHECK_MSG(pl_mesh_init(&mesh, &cases[i], v3(0, 0, 0)) == PLIANT_ERROR_MESH, "case %zu", i);
        CHECK_MSG(pl_last_error()[0] != 0, "case %zu has no sentence", i);
        pl_mesh_free(&mesh);
    }
    CHECK(pl_bytes_in_use() == before);
}

TEST(vertices_alone_are_kept)
{
    const float points[] = {0, 0, 0, 1, 2, 3, NAN, 0, 0};
    pliant_mesh_desc desc = {.vertex_count = 3, .vertices = points, .origin = {10, 0, 0}};
    pl_mesh mesh;
    REQUIRE_OK(pl_mesh_init(&mesh, &desc, v3(9, 0, 0)));
    CHECK(mesh.vertex_count == 3 && mesh.bad_vertices == 1 && !mesh.tree);
    CHECK(mesh.vertices[1].x == 2 && mesh.vertices[1].z == 3 && mesh.lower.x == 1);
    CHECK(pl_mesh_winding(&mesh, v3(0, 0, 0), UINT32_MAX) == 0);
    CHECK(!pl_mesh_inside(&mesh, v3(0, 0, 0)));
    CHECK(pl_mesh_nearest(&mesh, v3(0, 0, 0)).triangle == UINT32_MAX);
    pl_mesh_free(&mesh);
}

TEST(shells_are_joined_by_shared_and_coincident_vertices)
{
    scene_mesh split = scene_box(1, 1, 1, 3), bow = scene_box(1, 1, 1, 1);
    scene_mesh_split(&split);
    bow = joined(bow, moved(scene_box(1, 1, 1, 1), 1, 1, 1)); /* one corner in common */
    const struct
    {
        scene_mesh mesh;
        uint32_t shells;
        bool closed;
    } cases[] = {
        {split, 1, true},
        {bow, 1, true},
        {joined(scene_box(1, 1, 1, 1), moved(scene_box(1, 1, 1, 1), 1.01f, 0, 0)), 2, true},
        {with_holes(scene_box(1, 1, 1, 3), 5), 1, false},
        {random_soup(100, 3), 50, false},
    };
    for (size_t i = 0; i < PL_COUNTOF(cases); ++i)
    {
        pl_mesh mesh = load(cases[i].mesh);
        CHECK_MSG(mesh.shell_count == cases[i].shells, "case %zu: %u shells", i, mesh.shell_count);
        CHECK_MSG(mesh.closed == cases[i].closed, "case %zu", i);
        uint32_t seen = 0;
        for (uint32_t t = 0; t < mesh.triangle_count; ++t)
        {
            CHECK(mesh.shell[t] <= seen); /* numbered in order of first triangle */
            seen += mesh.shell[t] == seen;
        }
        CHECK(seen == mesh.shell_count);
        pl_mesh_free(&mesh);
    }
}

TEST(a_sheet_with_two_sides_has_its_area_once_and_no_inside)
{
    pl_mesh mesh = load(joined(scene_sheet(2, 3, 5, 5), flipped(scene_sheet(2, 3, 5, 5), 1)));
    CHECK(mesh.triangle_count == 100 && mesh.dropped_triangles == 0 && mesh.shell_count == 1);
    CHECK_NEAR(mesh.area, 6, 1e-5);
    CHECK_NEAR(mesh.volume, 0, 1e-9);
    CHECK_NEAR(pl_mesh_winding(&mesh, v3(.1, .1, .001), UINT32_MAX), 0, 1e-3);
    pl_mesh_free(&mesh);
}

TEST(rooms_with_a_wall_between_them_are_solid)
{
    pl_mesh mesh = load(joined(scene_box(1, 1, 1, 2), moved(scene_box(1, 1, 1, 2), 1, 0, 0)));
    CHECK(mesh.shell_count == 1);
    CHECK_NEAR(mesh.volume, 2, 1e-6);
    for (double x = -.45; x < 1.5; x += .1)
        CHECK_MSG(pl_mesh_inside(&mesh, v3(x, .03, .02)), "not at %g", x);
    CHECK(!pl_mesh_inside(&mesh, v3(1.6, 0, 0)) && !pl_mesh_inside(&mesh, v3(.5, .6, 0)));
    pl_mesh_free(&mesh);
}

TEST(size_and_place_do_not_matter)
{
    for (double scale = 1e-6; scale < 2e6; scale *= 1e3)
    {
        scene_mesh scene = scene_creature(3);
        scene_mesh_scale(&scene, (float)scale, (float)scale, (float)scale);
        pliant_mesh_desc desc = describe(&scene);
        desc.origin[0] = 1e7 * scale;
        pl_mesh mesh, reference = load(scene_creature(3));
        REQUIRE_OK(pl_mesh_init(&mesh, &desc, v3(1e7 * scale, 0, 0)));
        pl_rng rng = pl_rng_seed(4);
        CHECK_NEAR(mesh.volume / (scale * scale * scale), reference.volume, 1e-5);
        for (int i = 0; i < 100; ++i)
        {
            vec3 p = random_point(&reference, &rng, .1), q = v3_scale(p, scale);
            CHECK_NEAR(pl_mesh_winding(&mesh, q, UINT32_MAX),
                       pl_mesh_winding(&reference, p, UINT32_MAX), 1e-3);
            CHECK_NEAR(pl_mesh_nearest(&mesh, q).distance / scale,
                       pl_mesh_nearest(&reference, p).distance, 1e-5);
        }
        pl_mesh_free(&mesh);
        pl_mesh_free(&reference);
        scene_mesh_free(&scene);
    }
}

TEST(small_shells_far_apart_keep_their_shapes)
{
    pl_mesh mesh = load(joined(scene_icosphere(1, 3), moved(scene_icosphere(1, 3), 0, 65536, 0)));
    REQUIRE(mesh.shell_count == 2);
    for (int i = 0; i < 2; ++i)
    {
        vec3 centre = v3(0, 65536.0 * i, 0);
        CHECK_NEAR(pl_mesh_winding(&mesh, v3_add(centre, v3(.9, 0, 0)), UINT32_MAX), 1, 5e-3);
        CHECK_NEAR(pl_mesh_winding(&mesh, v3_add(centre, v3(1.1, 0, 0)), UINT32_MAX), 0, 5e-3);
        CHECK_NEAR(pl_mesh_nearest(&mesh, v3_add(centre, v3(2, 0, 0))).distance, 1, .02);
    }
    pl_mesh_free(&mesh);
}

TEST(mesh_intake_survives_running_out_of_memory)
{
    scene_mesh scene = joined(with_holes(scene_box(1, 1, 1, 3), 9), scene_icosphere(.2f, 1));
    pliant_mesh_desc desc = describe(&scene);
    uint64_t before = pl_bytes_in_use();
    bool done = false;
    for (int64_t allowed = 0; !done && allowed < 200; ++allowed)
    {
        pl_mesh mesh;
        pl_fail_allocations_after(allowed);
        pl_status status = pl_mesh_init(&mesh, &desc, v3(0, 0, 0));
        pl_fail_allocations_after(-1);
        CHECK(status == PLIANT_OK || status == PLIANT_ERROR_MEMORY);
        done = status == PLIANT_OK;
        pl_mesh_free(&mesh);
        CHECK_MSG(pl_bytes_in_use() == before, "leaked after %d allocations", (int)allowed);
    }
    CHECK(done);
    scene_mesh_free(&scene);
}
