// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/test.h"

#include <base/core.h>
#include <base/rng.h>
#include <geometry/point_tree.h>
#include <output/skin/skin.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ a body to skin */

enum
{
    SIDE = 12,
    PARTICLES = SIDE * SIDE * SIDE,
    VERTICES = 3000
};
static const double SPACING = 1.0 / SIDE;

static vec3 random_vec3(pl_rng* rng, double half)
{
    double x = pl_rng_unit(rng), y = pl_rng_unit(rng), z = pl_rng_unit(rng);
    return v3(half * (2 * x - 1), half * (2 * y - 1), half * (2 * z - 1));
}

/* A jittered grid in the unit cube around zero. */
static vec3* make_particles(void)
{
    pl_rng rng = pl_rng_seed(3);
    vec3* rest = PL_NEW(vec3, PARTICLES);
    for (int i = 0; i < PARTICLES; ++i)
    {
        vec3 cell = v3(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
        vec3 at = v3_add(v3_scale(v3_add(cell, v3(.5, .5, .5)), SPACING), v3(-.5, -.5, -.5));
        rest[i] = v3_add(at, random_vec3(&rng, .25 * SPACING));
    }
    return rest;
}

/* Two thirds inside, the rest at up to ten times the body's size. */
static vec3* make_vertices(void)
{
    pl_rng rng = pl_rng_seed(4);
    vec3* vertices = PL_NEW(vec3, VERTICES);
    for (int i = 0; i < VERTICES; ++i)
        vertices[i] = random_vec3(&rng, i % 3 ? .5 : i % 2 ? 1 : 10);
    return vertices;
}

static float* make_normals(void)
{
    pl_rng rng = pl_rng_seed(5);
    float* normals = PL_NEW(float, 3 * VERTICES);
    for (int i = 0; i < VERTICES; ++i)
        v3_store(v3_normalised(random_vec3(&rng, 1)), normals + 3 * i);
    return normals;
}

static mat3 random_matrix(pl_rng* rng)
{
    mat3 a;
    for (int i = 0; i < 9; ++i)
        a.m[i / 3][i % 3] = 2 * pl_rng_unit(rng) - 1;
    return a;
}

static void store_matrix(mat3 a, float* out)
{
    for (int i = 0; i < 9; ++i)
        out[i] = (float)a.m[i / 3][i % 3];
}

/* ------------------------------------------------------------------ the search */

static int by_distance(const void* a, const void* b)
{
    const pl_nearest_point *p = a, *q = b;
    if (p->squared_distance != q->squared_distance)
        return p->squared_distance < q->squared_distance ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

static void compare_with_brute_force(uint32_t count, const vec3* points, vec3 at, double within,
                                     uint32_t most)
{
    pl_nearest_point* all = PL_NEW(pl_nearest_point, count);
    pl_nearest_point* found = PL_NEW(pl_nearest_point, most);
    pl_point_tree* tree = pl_point_tree_create(count, points);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        vec3 d = v3_sub(points[i], at);
        if (v3_dot(d, d) <= within)
            all[expected++] = (pl_nearest_point){v3_dot(d, d), i};
    }
    qsort(all, expected, sizeof *all, by_distance);
    expected = PL_MIN(expected, most);
    CHECK(pl_point_tree_query(tree, at, within, most, found) == expected);
    for (uint32_t i = 0; i < expected; ++i)
        CHECK(found[i].index == all[i].index &&
              found[i].squared_distance == all[i].squared_distance);
    pl_point_tree_destroy(tree);
    pl_free(found);
    pl_free(all);
}

TEST(nearest_points_are_those_of_a_full_search)
{
    pl_rng rng = pl_rng_seed(1);
    static const uint32_t counts[] = {1, 2, 8, 9, 17, 100, 1000};
    vec3 points[1000];
    for (int kind = 0; kind < 4; ++kind)
        for (size_t c = 0; c < PL_COUNTOF(counts); ++c)
        {
            for (int i = 0; i < 1000; ++i)
                points[i] = kind == 0   ? random_vec3(&rng, 1)
                            : kind == 1 ? v3(i % 10, i / 10 % 10, i / 100) /* many ties */
                            : kind == 2 ? v3(1, 2, 3)
                                        : v3(i ? 0.001 * i : 1e9, 0, 0); /* a line, an outlier */
            for (int query = 0; query < 20; ++query)
            {
                vec3 at = query % 4 ? random_vec3(&rng, query % 3 ? 1 : 1e4) : points[0];
                double within = query % 5 == 0 ? INFINITY : query % 5 == 1 ? 0 : 1;
                compare_with_brute_force(counts[c], points, at, within, 1 + query % 7 * 11);
            }
        }
}

/* ------------------------------------------------------------------ what skinning promises */

TEST(skin_weights_sum_to_one_and_are_few)
{
    vec3 *rest = make_particles(), *vertices = make_vertices();
    pl_skin_binding b;
    REQUIRE_OK(pl_skin_bind(PARTICLES, rest, SPACING, 0, VERTICES, vertices, NULL, NULL, &b));
    for (int i = 0; i < VERTICES; ++i)
    {
        double sum = 0;
        for (uint32_t e = b.begin[i]; e < b.begin[i + 1]; ++e)
        {
            CHECK(b.weight[e] >= 0 && b.particle[e] < PARTICLES);
            sum += b.weight[e];
        }
        CHECK_NEAR(sum, 1, 3.1e-8);
        CHECK(b.begin[i + 1] > b.begin[i] && b.begin[i + 1] - b.begin[i] <= 64);
    }
    CHECK_MSG(b.begin[VERTICES] < 40 * VERTICES, "%u entries", b.begin[VERTICES]);
    pl_skin_binding_free(&b);
    pl_free(rest);
    pl_free(vertices);
}

/* x -> A x + t with velocity G x + u: vertices, normals and velocities to the rounding of floats.
 */
static void check_affine(const pl_skin_binding* b, const vec3* rest, const vec3* vertices,
                         const float* normals, mat3 a, vec3 t, mat3 g, vec3 u)
{
    float *x = PL_NEW(float, 3 * PARTICLES), *v = PL_NEW(float, 3 * PARTICLES);
    float *f = PL_NEW(float, 9 * PARTICLES), *rate = PL_NEW(float, 9 * PARTICLES);
    float *at = PL_NEW(float, 3 * VERTICES), *normal = PL_NEW(float, 3 * VERTICES);
    float* velocity = PL_NEW(float, 3 * VERTICES);
    for (int i = 0; i < PARTICLES; ++i)
    {
        v3_store(v3_add(m3_mulv(a, rest[i]), t), x + 3 * i);
        v3_store(v3_add(m3_mulv(g, rest[i]), u), v + 3 * i);
        store_matrix(a, f + 9 * i);
        store_matrix(g, rate + 9 * i);
    }
    pl_skin_apply(b, x, f, v, rate, NULL, at, normal, velocity);
    for (int i = 0; i < VERTICES; ++i)
    {
        vec3 want = v3_add(m3_mulv(a, vertices[i]), t);
        vec3 moving = v3_add(m3_mulv(g, vertices[i]), u);
        double size = 2 + v3_length(t) + v3_length(vertices[i]);
        CHECK_NEAR(v3_length(v3_sub(v3_from(at + 3 * i), want)), 0, 1e-6 * size);
        CHECK_NEAR(v3_length(v3_sub(v3_from(velocity + 3 * i), moving)), 0,
                   1e-6 * (size + v3_length(u)));
        vec3 facing = v3_normalised(m3_mulv(m3_cofactor(a), v3_from(normals + 3 * i)));
        if (fabs(m3_det(a)) > .05)
            CHECK_NEAR(v3_length(v3_sub(v3_from(normal + 3 * i), facing)), 0, 2e-5);
    }
    pl_free(x);
    pl_free(v);
    pl_free(f);
    pl_free(rate);
    pl_free(at);
    pl_free(normal);
    pl_free(velocity);
}

TEST(skin_reproduces_affine_motions)
{
    vec3 *rest = make_particles(), *vertices = make_vertices();
    float* normals = make_normals();
    pl_skin_binding b;
    pl_rng rng = pl_rng_seed(6);
    REQUIRE_OK(pl_skin_bind(PARTICLES, rest, SPACING, 0, VERTICES, vertices, normals, NULL, &b));
    check_affine(&b, rest, vertices, normals, m3_identity(), v3(0, 0, 0), m3_zero(), v3(0, 0, 0));
    for (int i = 0; i < 5; ++i)
    {
        mat3 a = random_matrix(&rng), g = random_matrix(&rng);
        vec3 t = random_vec3(&rng, 3), u = random_vec3(&rng, 3);
        check_affine(&b, rest, vertices, normals, a, t, g, u);
    }
    pl_skin_binding_free(&b);
    pl_free(rest);
    pl_free(vertices);
    pl_free(normals);
}

/* The largest step of the skin along a line, with every particle moved and turned at random. */
static double largest_step(uint32_t particles, const vec3* rest, double spacing, vec3 from, vec3 to,
                           uint32_t count)
{
    pl_rng rng = pl_rng_seed(8);
    pl_skin_binding b;
    double largest = 0;
    vec3* line = PL_NEW(vec3, count);
    float *x = PL_NEW(float, 3 * particles), *f = PL_NEW(float, 9 * particles);
    float* at = PL_NEW(float, 3 * count);
    for (uint32_t i = 0; i < particles; ++i)
    {
        v3_store(v3_add(rest[i], random_vec3(&rng, .5 * spacing)), x + 3 * i);
        store_matrix(m3_add(m3_identity(), m3_scale(random_matrix(&rng), .3)), f + 9 * i);
    }
    for (uint32_t i = 0; i < count; ++i)
        line[i] = v3_mad(from, v3_sub(to, from), (double)i / (count - 1));
    CHECK_OK(pl_skin_bind(particles, rest, spacing, 0, count, line, NULL, NULL, &b));
    pl_skin_apply(&b, x, f, NULL, NULL, NULL, at, NULL, NULL);
    for (uint32_t i = 0; i + 1 < count; ++i)
    {
        double step = v3_length(v3_sub(v3_from(at + 3 * i + 3), v3_from(at + 3 * i)));
        largest = PL_MAX(largest, step);
    }
    pl_skin_binding_free(&b);
    pl_free(line);
    pl_free(x);
    pl_free(f);
    pl_free(at);
    return largest;
}

/* A discontinuity would not shrink with ten times smaller steps. */
TEST(skin_never_tears_neighbouring_vertices_apart)
{
    pl_rng rng = pl_rng_seed(7);
    vec3* rest = make_particles();
    for (int i = 0; i < 12; ++i)
    {
        vec3 from = random_vec3(&rng, .5), to = random_vec3(&rng, i < 6 ? .5 : 3);
        double coarse = largest_step(PARTICLES, rest, SPACING, from, to, 1001);
        double fine = largest_step(PARTICLES, rest, SPACING, from, to, 10001);
        CHECK_MSG(fine < .2 * coarse, "line %d: largest step %g, at ten times the steps %g", i,
                  coarse, fine);
        CHECK(coarse < 12 * v3_length(v3_sub(to, from)) / 1000);
    }
    /* Too dense for the given spacing: the limit on entries must not tear either. */
    for (int i = 0; i < 3; ++i)
    {
        vec3 from = random_vec3(&rng, .5), to = random_vec3(&rng, 1);
        double coarse = largest_step(PARTICLES, rest, 10 * SPACING, from, to, 1001);
        double fine = largest_step(PARTICLES, rest, 10 * SPACING, from, to, 10001);
        CHECK_MSG(fine < .2 * coarse, "dense, line %d: %g, then %g", i, coarse, fine);
    }
    pl_free(rest);
}

/* Bent by a quadratic map: halving the spacing must quarter the error. */
static double bending_error(int side)
{
    int count = side * side * side;
    double spacing = 1.0 / side, worst = 0;
    vec3* rest = PL_NEW(vec3, count);
    vec3 vertices[200];
    pl_rng rng = pl_rng_seed(9);
    pl_skin_binding b;
    float *x = PL_NEW(float, 3 * count), *f = PL_NEW(float, 9 * count), at[600];
    for (int i = 0; i < count; ++i)
    {
        rest[i] = v3_scale(v3(i % side + .5, i / side % side + .5, i / side / side + .5), spacing);
        double px = rest[i].x;
        v3_store(v3(px, rest[i].y + .5 * px * px, rest[i].z), x + 3 * i);
        store_matrix((mat3){{{1, 0, 0}, {px, 1, 0}, {0, 0, 1}}}, f + 9 * i);
    }
    for (int i = 0; i < 200; ++i)
        vertices[i] = v3_add(random_vec3(&rng, .5), v3(.5, .5, .5));
    CHECK_OK(pl_skin_bind((uint32_t)count, rest, spacing, 0, 200, vertices, NULL, NULL, &b));
    pl_skin_apply(&b, x, f, NULL, NULL, NULL, at, NULL, NULL);
    for (int i = 0; i < 200; ++i)
        worst =
            PL_MAX(worst, fabs(at[3 * i + 1] - vertices[i].y - .5 * vertices[i].x * vertices[i].x));
    pl_skin_binding_free(&b);
    pl_free(rest);
    pl_free(x);
    pl_free(f);
    return worst;
}

TEST(skin_follows_bending_to_second_order)
{
    double coarse = bending_error(8), fine = bending_error(16);
    CHECK_MSG(coarse < .5 / 64, "error %g at spacing 1/8", coarse);
    CHECK_MSG(fine < .35 * coarse, "error %g, then %g at half the spacing", coarse, fine);
}

TEST(skin_is_the_same_at_every_thread_count)
{
    vec3 *rest = make_particles(), *vertices = make_vertices();
    float* normals = make_normals();
    float *x = PL_NEW(float, 3 * PARTICLES), *f = PL_NEW(float, 9 * PARTICLES);
    float* first = PL_NEW(float, 9 * VERTICES);
    float* again = PL_NEW(float, 9 * VERTICES);
    pl_rng rng = pl_rng_seed(10);
    pl_skin_binding one, many;
    for (int i = 0; i < PARTICLES; ++i)
    {
        v3_store(random_vec3(&rng, 1), x + 3 * i);
        store_matrix(random_matrix(&rng), f + 9 * i);
    }
    REQUIRE_OK(pl_skin_bind(PARTICLES, rest, SPACING, 0, VERTICES, vertices, normals, NULL, &one));
    pl_skin_apply(&one, x, f, x, f, NULL, first, first + 3 * VERTICES, first + 6 * VERTICES);
    for (uint32_t threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5)
    {
        pl_pool* pool = pl_pool_create(threads);
        REQUIRE_OK(
            pl_skin_bind(PARTICLES, rest, SPACING, 0, VERTICES, vertices, normals, pool, &many));
        size_t entries = one.begin[VERTICES];
        CHECK(memcmp(one.begin, many.begin, (VERTICES + 1) * sizeof *one.begin) == 0);
        CHECK(memcmp(one.particle, many.particle, entries * sizeof *one.particle) == 0);
        CHECK(memcmp(one.weight, many.weight, entries * sizeof *one.weight) == 0);
        CHECK(memcmp(one.offset, many.offset, 3 * entries * sizeof *one.offset) == 0);
        pl_skin_apply(&many, x, f, x, f, pool, again, again + 3 * VERTICES, again + 6 * VERTICES);
        CHECK(memcmp(first, again, 9 * VERTICES * sizeof(float)) == 0);
        pl_skin_binding_free(&many);
        pl_pool_destroy(pool);
    }
    pl_skin_binding_free(&one);
    pl_free(rest);
    pl_free(vertices);
    pl_free(normals);
    pl_free(x);
    pl_free(f);
    pl_free(first);
    pl_free(again);
}

/* ------------------------------------------------------------------ odd inputs */

static void follow_one(const vec3* rest, uint32_t particles, double spacing, vec3 vertex)
{
    pl_skin_binding b;
    float *x = PL_NEW(float, 3 * particles), *f = PL_NEW(float, 9 * particles), at[3], normal[3];
    const float up[3] = {0, 0, 1};
    for (uint32_t i = 0; i < particles; ++i)
    {
        v3_store(v3_add(rest[i], v3(1, 2, 3)), x + 3 * i);
        store_matrix(m3_identity(), f + 9 * i);
    }
    CHECK_OK(pl_skin_bind(particles, rest, spacing, 0, 1, &vertex, up, NULL, &b));
    pl_skin_apply(&b, x, f, NULL, NULL, NULL, at, normal, NULL);
    double error = v3_length(v3_sub(v3_from(at), v3_add(vertex, v3(1, 2, 3))));
    CHECK_NEAR(error, 0, 1e-6 * (4 + v3_length(vertex)));
    CHECK(b.begin[1] >= 1 && b.begin[1] <= 64);
    CHECK_NEAR(normal[2], 1, 1e-6);
    pl_skin_binding_free(&b);
    pl_free(x);
    pl_free(f);
}

TEST(skin_copes_with_odd_particles_and_vertices)
{
    vec3 same[200], line[200];
    for (int i = 0; i < 200; ++i)
    {
        same[i] = v3(.1, .2, .3);
        line[i] = v3(i * .01, 0, 0);
    }
    static const double spacings[] = {0, -1, NAN, INFINITY, 1e-30, .01, 1, 1e30};
    for (size_t s = 0; s < PL_COUNTOF(spacings); ++s)
        for (int far = 0; far < 4; ++far)
        {
            static const double distances[] = {0, 1e-20, 3, 1e12};
            vec3 offset = v3(0, distances[far], 0);
            follow_one(same, 1, spacings[s], v3_add(same[0], offset));
            follow_one(same, 200, spacings[s], v3_add(same[0], offset));
            follow_one(line, 200, spacings[s], v3_add(line[7], offset));
        }
}

TEST(skin_refuses_what_is_not_a_number)
{
    const vec3 rest[2] = {{0, 0, 0}, {1, 0, 0}}, bad_rest[2] = {{0, 0, 0}, {1, INFINITY, 0}};
    vec3 vertices[3] = {{0, 0, 0}, {0, 0, 0}, {0, NAN, 0}};
    const float bad_normals[9] = {0, 0, 1, 0, 0, NAN, 0, 0, 1};
    uint64_t held = pl_bytes_in_use();
    pl_skin_binding b;
    CHECK(pl_skin_bind(2, rest, 1, 0, 3, vertices, NULL, NULL, &b) == PLIANT_ERROR_ARGUMENT);
    CHECK_MSG(strstr(pl_last_error(), "vertex 2"), "%s", pl_last_error());
    vertices[2] = v3(0, 0, 1e30);
    CHECK(pl_skin_bind(2, rest, 1, 0, 3, vertices, NULL, NULL, &b) == PLIANT_ERROR_ARGUMENT);
    vertices[2] = v3(0, 0, 0);
    CHECK(pl_skin_bind(2, bad_rest, 1, 0, 3, vertices, NULL, NULL, &b) == PLIANT_ERROR_ARGUMENT);
    CHECK_MSG(strstr(pl_last_error(), "particle 1"), "%s", pl_last_error());
    CHECK(pl_skin_bind(2, rest, 1, 0, 3, vertices, bad_normals, NULL, &b) == PLIANT_ERROR_ARGUMENT);
    CHECK_MSG(strstr(pl_last_error(), "vertex 1"), "%s", pl_last_error());
    CHECK(pl_skin_bind(2, rest, 1, NAN, 3, vertices, NULL, NULL, &b) == PLIANT_ERROR_ARGUMENT);
    CHECK(pl_skin_bind(2, rest, 1, -1, 3, vertices, NULL, NULL, &b) == PLIANT_ERROR_ARGUMENT);
    CHECK(pl_skin_bind(0, rest, 1, 0, 3, vertices, NULL, NULL, &b) == PLIANT_ERROR_ARGUMENT);
    CHECK(pl_bytes_in_use() == held);
    REQUIRE_OK(pl_skin_bind(0, NULL, 1, 0, 0, NULL, NULL, NULL, &b));
    pl_skin_apply(&b, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    pl_skin_binding_free(&b);
    CHECK(pl_bytes_in_use() == held);
}

TEST(skin_normals_survive_crushing)
{
    const vec3 rest = {0, 0, 0}, vertex = {0, 0, 0};
    const float normal[3] = {0, 3, 4}, x[3] = {0, 0, 0};
    float f[9] = {0}, turned[3];
    pl_skin_binding b;
    REQUIRE_OK(pl_skin_bind(1, &rest, 1, 0, 1, &vertex, normal, NULL, &b));
    pl_skin_apply(&b, x, f, NULL, NULL, NULL, NULL, turned, NULL);
    CHECK_NEAR(turned[1], .6, 1e-6);
    for (int i = 0; i < 9; i += 4)
        f[i] = 1e-25f; /* its square is no float */
    pl_skin_apply(&b, x, f, NULL, NULL, NULL, NULL, turned, NULL);
    CHECK_NEAR(turned[2], .8, 1e-6);
    pl_skin_binding_free(&b);
}

TEST(skin_runs_out_of_memory_without_harm)
{
    vec3 *rest = make_particles(), *vertices = make_vertices();
    float* normals = make_normals();
    uint64_t held = pl_bytes_in_use();
    pl_skin_binding b;
    pl_status status = PLIANT_ERROR_MEMORY;
    int allowed = 0;
    for (; status == PLIANT_ERROR_MEMORY && allowed < 1000; ++allowed)
    {
        pl_fail_allocations_after(allowed);
        status = pl_skin_bind(PARTICLES, rest, SPACING, 0, 600, vertices, normals, NULL, &b);
        pl_fail_allocations_after(-1);
        CHECK(status == PLIANT_OK || (!b.begin && pl_bytes_in_use() == held));
    }
    CHECK(status == PLIANT_OK && allowed > 10);
    pl_skin_binding_free(&b);
    CHECK(pl_bytes_in_use() == held);
    pl_free(rest);
    pl_free(vertices);
    pl_free(normals);
}

/* Two bars closer than their particles' spacing: each skin follows its own. */
static void check_two_bars(bool with_triangles)
{
    enum
    {
        LENGTH = 40,
        ROWS = 2 * LENGTH
    };
    vec3 rest[2 * LENGTH], vertices[2 * ROWS];
    uint32_t shell[2 * LENGTH], triangles[2 * (ROWS - 2) * 3], count = 0;
    float x[6 * LENGTH], f[18 * LENGTH] = {0}, out[6 * ROWS];
    for (uint32_t i = 0; i < 2 * LENGTH; ++i)
    {
        uint32_t bar = i / LENGTH;
        rest[i] = v3(i % LENGTH, 0, bar * 1.2);
        shell[i] = bar;
        v3_store(v3_add(rest[i], v3(0, 0, bar * 50)), x + 3 * i);
        f[9 * i] = f[9 * i + 4] = f[9 * i + 8] = 1;
    }
    for (uint32_t i = 0; i < 2 * ROWS; ++i)
    {
        uint32_t bar = i / ROWS, k = i % ROWS;
        /* each reaches far into the other on one of its sides */
        vertices[i] = v3(k / 2, k % 2 ? .4 : -.4, bar ? (k < 10 ? .3 : 1.2) : (k < 10 ? .9 : 0));
        for (uint32_t c = 0; k + 2 < ROWS && c < 3; ++c)
            triangles[count++] = i + c;
    }
    const pl_skin_shape shape = {shell, with_triangles ? triangles : NULL,
                                 with_triangles ? count / 3 : 0};
    pl_skin_binding b;
    REQUIRE_OK(
        pl_skin_bind_shape(2 * LENGTH, rest, 1, 0, 2 * ROWS, vertices, NULL, &shape, NULL, &b));
    pl_skin_apply(&b, x, f, NULL, NULL, NULL, out, NULL, NULL);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 2 * ROWS; ++i)
    {
        double moved = out[3 * i + 2] - vertices[i].z;
        CHECK(fabs(moved) < 1e-4 || fabs(moved - 50) < 1e-4); /* never between them */
        wrong += (moved > 25) != (i >= ROWS);
    }
    CHECK_MSG(wrong == (with_triangles ? 0 : 20), "%u vertices follow the other bar", wrong);
    pl_skin_binding_free(&b);
}

TEST(vertices_that_hang_together_follow_one_part)
{
    check_two_bars(true);
}

TEST(vertices_without_triangles_follow_the_nearest_part)
{
    check_two_bars(false);
}
