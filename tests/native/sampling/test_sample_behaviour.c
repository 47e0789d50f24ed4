// SPDX-License-Identifier: GPL-3.0-or-later
/* Sampling with threads, cancellation, no memory and invalid input; points supplied by callers. */
#include "native/support/clouds.h"
#include "native/support/sample_scenes.h"

#include <base/hash.h>
#include <base/rng.h>
#include <sampling/sample_internal.h>
#include <stdlib.h>

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

/* No wider than the rounding of its coordinates: fewer distinct positions than points wanted. */
TEST(a_surface_with_few_places_takes_little_work)
{
    float vertices[] = {0, 0, 0, 1e-15f, 0, 0, 1e-15f, 1e-24f, 0, 0, 1e-24f, 0};
    uint32_t triangles[] = {0, 1, 2, 0, 2, 3};
    pliant_mesh_desc desc = {.size = sizeof desc, .origin = {1, 0, 0}};
    pl_mesh mesh;
    pl_samples s;
    watcher w = {.forward = true};
    pl_task task = {.progress = watch, .user = &w, .to = 1, .stage = "here"};
    desc.vertices = vertices, desc.vertex_count = 4;
    desc.triangles = triangles, desc.triangle_count = 2;
    REQUIRE_OK(pl_mesh_init(&mesh, &desc, v3(0, 0, 0)));
    pliant_sample_desc wish = by_count(PLIANT_SAMPLE_SURFACE, 40);
    CHECK_OK(pl_sample(&mesh, &wish, NULL, &task, &s));
    CHECK(s.count > 0 && s.count < 40 && s.warnings & PLIANT_WARN_COUNT_MISSED);
    CHECK_MSG(w.calls < 100, "progress was reported %d times", w.calls);
    pl_samples_free(&s);
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

static float junk(pl_rng* rng, float scale)
{
    const float odd[] = {NAN, INFINITY, -3e38f, 1e-40f, 1e30f, 0};
    uint32_t pick = pl_rng_below(rng, 40);
    return pick < PL_COUNTOF(odd) ? odd[pick] : scale * ((float)pl_rng_unit(rng) - .5f);
}

/* An invalid mesh: numbers out of range, indices that do not exist. */
static scene_mesh junk_mesh(pl_rng* rng)
{
    float scale = powf(10, (float)pl_rng_below(rng, 13) - 6);
    scene_mesh mesh = pl_rng_below(rng, 2) ? scene_sheet(1, 1, 4, 4) : scene_icosphere(1, 1);
    bool all = pl_rng_below(rng, 2);
    scene_mesh_scale(&mesh, scale, scale, scale);
    for (uint32_t i = 0; i < 3 * mesh.vertex_count; ++i)
        if (all || !pl_rng_below(rng, 20))
            mesh.vertices[i] = junk(rng, scale);
    for (uint32_t i = 0; i < 3 * mesh.triangle_count; ++i)
        if (!pl_rng_below(rng, 6))
            mesh.triangles[i] = pl_rng_below(rng, mesh.vertex_count + 2);
    return mesh;
}

TEST(junk_gives_particles_or_a_sentence)
{
    pl_rng rng = pl_rng_seed(99);
    uint64_t before = pl_bytes_in_use();
    for (int i = 0; i < 100; ++i)
    {
        scene_mesh scene = junk_mesh(&rng);
        pliant_mesh_desc desc = {.vertex_count = scene.vertex_count,
                                 .triangle_count = scene.triangle_count,
                                 .vertices = scene.vertices,
                                 .triangles = scene.triangles};
        pliant_sample_desc wish = by_count(pl_rng_below(&rng, 5), 1 + pl_rng_below(&rng, 60));
        pl_mesh mesh;
        pl_samples s = {0};
        pl_clear_error();
        pl_status status = pl_mesh_init(&mesh, &desc, v3(0, 0, 0));
        if (status == PLIANT_OK)
            CHECK_OK(pl_sample(&mesh, &wish, NULL, NULL, &s));
        CHECK(status == PLIANT_OK || (status == PLIANT_ERROR_MESH && pl_last_error()[0]));
        CHECK((s.count > 0 && s.spacing > 0) == (status == PLIANT_OK));
        for (uint32_t k = 0; k < s.count; ++k)
            CHECK(v3_finite(s.points[k]) && s.volumes[k] > 0 && s.shell[k] < s.shell_count);
        pl_samples_free(&s);
        pl_mesh_free(&mesh);
        scene_mesh_free(&scene);
    }
    CHECK(pl_bytes_in_use() == before);
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

/* The points alone tell the volume of what they fill, 2 x .4 x .4. */
static void check_beam(uint32_t count, const vec3* points)
{
    pl_samples s;
    REQUIRE_OK(pl_sample_points(count, points, NULL, &s));
    CHECK_NEAR(total(&s), .32, .04);
    pl_samples_free(&s);
}

TEST(a_beam_of_blue_noise_has_about_its_volume)
{
    cloud c = cloud_sampled(scene_box(2, .4f, .4f, 2), 5317);
    check_beam(c.count, c.points);
    cloud_free(&c);
}

TEST(a_published_beam_has_about_its_volume)
{
    cloud c = cloud_published("beam-5317");
    if (c.count)
        check_beam(c.count, c.points);
    else
        test_skip("beam-5317 is not there");
    cloud_free(&c);
}
