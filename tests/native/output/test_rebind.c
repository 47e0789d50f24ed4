// SPDX-License-Identifier: GPL-3.0-or-later
/* Surfaces in a vortex: every ring of a disc rotates at its own speed, so particles keep losing all
 * neighbours outside their ring. The exact position of each vertex is known. */
#include "native/support/test.h"

#include <base/core.h>
#include <base/rng.h>
#include <output/skin/binding_track.h>
#include <stdlib.h>
#include <string.h>

enum
{
    SIDE = 22,
    LAYERS = 5,
    RINGS = 6,
    MOST = SIDE * SIDE * LAYERS,
    VERTICES = 1200, /* in pairs, a thousandth of a spacing apart */
    FRAMES = 60,
    SOME = 20
};
static const double TURN = 6.283185307179586, SPACING = 1.0 / SIDE, NEAR = 1e-3, TURNS = 2.5;

typedef struct disc
{
    uint32_t count;
    vec3 rest[MOST];
    float x[3 * MOST], f[9 * MOST], strain[MOST];
    uint32_t begin[MOST + 1], cluster[2 * MOST];
    float weight[2 * MOST];
    vec3 vertices[VERTICES];
    float normals[3 * VERTICES];
} disc;

/* Memberships in the two rings that a particle is between; "first" is the number of the first. */
static void join_rings(disc* d, uint32_t i, uint32_t first)
{
    double at = hypot(d->rest[i].x, d->rest[i].y) / .5 * (RINGS - 1);
    uint32_t ring = (uint32_t)PL_CLAMP(at, 0.0, RINGS - 2.0);
    double share = PL_CLAMP(at - ring, 0.0, 1.0);
    d->begin[i] = 2 * i, d->begin[i + 1] = 2 * i + 2;
    d->cluster[2 * i] = first + ring, d->cluster[2 * i + 1] = first + ring + 1;
    d->weight[2 * i] = (float)(1 - share), d->weight[2 * i + 1] = (float)share;
}

static disc* make_disc(void)
{
    disc* d = calloc(1, sizeof *d);
    pl_rng rng = pl_rng_seed(11);
    for (int i = 0; i < MOST; ++i)
    {
        /* separate statements: C does not define the order of arguments */
        double x = i % SIDE + .5 + .4 * (pl_rng_unit(&rng) - .5) - SIDE / 2.;
        double y = i / SIDE % SIDE + .5 + .4 * (pl_rng_unit(&rng) - .5) - SIDE / 2.;
        double z = i / SIDE / SIDE + .5 + .4 * (pl_rng_unit(&rng) - .5) - LAYERS / 2.;
        vec3 at = v3_scale(v3(x, y, z), SPACING);
        if (hypot(at.x, at.y) > .5)
            continue;
        d->rest[d->count] = at;
        join_rings(d, d->count++, 0);
    }
    for (int i = 0; i < VERTICES; i += 2)
    {
        double angle = TURN * pl_rng_unit(&rng), radius = .15 + .33 * pl_rng_unit(&rng);
        double z = (pl_rng_unit(&rng) - .5) * LAYERS * SPACING, turn = TURN * pl_rng_unit(&rng);
        d->vertices[i] = v3(radius * cos(angle), radius * sin(angle), z);
        d->vertices[i + 1] = v3_mad(d->vertices[i], v3(cos(turn), sin(turn), 0), NEAR * SPACING);
        d->normals[3 * i] = d->normals[3 * i + 5] = 1;
    }
    return d;
}

/* How far the disc has turned at a radius. */
static double angle_at(double radius, double time)
{
    return TURN * TURNS * time * (1 - radius / .5);
}

static vec3 turned(vec3 p, double time)
{
    double a = angle_at(hypot(p.x, p.y), time);
    return v3(cos(a) * p.x - sin(a) * p.y, sin(a) * p.x + cos(a) * p.y, p.z);
}

static mat3 gradient(vec3 p, double time)
{
    double e = 1e-6;
    mat3 f;
    for (int k = 0; k < 3; ++k)
    {
        vec3 step = v3(k == 0 ? e : 0, k == 1 ? e : 0, k == 2 ? e : 0);
        vec3 d = v3_scale(v3_sub(turned(v3_add(p, step), time), turned(v3_sub(p, step), time)),
                          1 / (2 * e));
        f.m[0][k] = d.x, f.m[1][k] = d.y, f.m[2][k] = d.z;
    }
    return f;
}

/* The disc in a frame, then mapped by "then"; plastic strain is the shear. */
static pl_flow_frame at_frame(disc* d, int frame, mat3 then)
{
    double time = (double)frame / FRAMES;
    for (uint32_t i = 0; i < d->count; ++i)
    {
        mat3 f = m3_mul(then, gradient(d->rest[i], time));
        v3_store(m3_mulv(then, turned(d->rest[i], time)), d->x + 3 * i);
        for (int k = 0; k < 9; ++k)
            d->f[9 * i + k] = (float)f.m[k / 3][k % 3];
        d->strain[i] = (float)(TURN * TURNS * time * hypot(d->rest[i].x, d->rest[i].y));
    }
    return (pl_flow_frame){d->count, d->x, d->f, d->strain, d->begin, d->cluster, d->weight};
}

static void begin_track(disc* d, pl_pool* pool, pl_binding_track* track)
{
    pl_skin_binding binding;
    CHECK(pl_skin_bind(d->count, d->rest, SPACING, 0, VERTICES, d->vertices, d->normals, pool,
                       &binding) == PLIANT_OK);
    pl_binding_track_begin(track, &binding, SPACING, 0);
}

static void skin(const pl_binding_track* track, const pl_flow_frame* frame, float* out,
                 float* normals)
{
    pl_skin_apply(pl_binding_track_binding(track), frame->x, frame->f, NULL, NULL, NULL, out,
                  normals, NULL);
}

/* Processes frames up to "last"; out has VERTICES positions for each, or is NULL. */
static void go(disc* d, pl_binding_track* track, pl_pool* pool, int last, float* out)
{
    for (int n = 0; n <= last; ++n)
    {
        pl_flow_frame frame = at_frame(d, n, m3_identity());
        if (out)
            skin(track, &frame, out + (size_t)n * 3 * VERTICES, NULL);
        CHECK(pl_binding_track_add_frame(track, &frame, (uint64_t)n, pool) == PLIANT_OK);
    }
}

/* Mean and largest error of the vertices, in spacings. */
static double faults(const disc* d, const float* out, double* largest)
{
    double sum = 0;
    *largest = 0;
    for (int i = 0; i < VERTICES; ++i)
    {
        vec3 at = v3_from(out + 3 * i), from = d->vertices[i];
        double off = hypot(hypot(at.x, at.y) - hypot(from.x, from.y), at.z - from.z) / SPACING;
        sum += off / VERTICES;
        *largest = fmax(*largest, off);
    }
    return sum;
}

TEST_SLOW(vertices_stay_with_those_around_them_in_a_vortex)
{
    disc* d = make_disc();
    pl_binding_track track;
    float *out = malloc(sizeof(float) * 3 * VERTICES * (FRAMES + 1)), *last;
    float* bound_once = malloc(sizeof(float) * 3 * VERTICES);
    double mean, largest, mean_once, largest_once;
    begin_track(d, NULL, &track);
    go(d, &track, NULL, FRAMES, out);
    last = out + (size_t)FRAMES * 3 * VERTICES;
    mean = faults(d, last, &largest);
    pl_skin_apply(&track.rest, d->x, d->f, NULL, NULL, NULL, bound_once, NULL, NULL);
    mean_once = faults(d, bound_once, &largest_once);
    printf("    %u changes; off by %.3f, at most %.2f spacings; bound once %.3f, %.2f\n",
           track.now.changes, mean, largest, mean_once, largest_once);
    CHECK(track.now.changes > 3 && track.now.changes < FRAMES);
    CHECK(mean < .3 && largest < 2.2);
    CHECK(mean_once > 5 * mean && largest_once > largest);
    free(bound_once);
    free(out);
    pl_binding_track_free(&track);
    free(d);
}

TEST(neighbouring_vertices_stay_together_when_they_turn_to_others)
{
    disc* d = make_disc();
    pl_binding_track track;
    static float out[3 * VERTICES];
    double most = 0;
    int n = 0;
    begin_track(d, NULL, &track);
    for (; n <= FRAMES && track.now.changes < 6; ++n)
    {
        pl_flow_frame frame = at_frame(d, n, m3_identity());
        CHECK(pl_binding_track_add_frame(&track, &frame, (uint64_t)n, NULL) == PLIANT_OK);
    }
    n = PL_MIN(n + 3, FRAMES); /* so that old and new bindings say different things */
    pl_flow_frame frame = at_frame(d, n, m3_identity());
    skin(&track, &frame, out, NULL);
    double time = (double)n / FRAMES;
    for (int i = 0; i < VERTICES; i += 2)
    {
        double apart = v3_length(v3_sub(v3_from(out + 3 * i), v3_from(out + 3 * i + 3)));
        double should =
            v3_length(v3_sub(turned(d->vertices[i], time), turned(d->vertices[i + 1], time)));
        most = fmax(most, (apart - should) / (NEAR * SPACING));
    }
    printf("    pairs are at most %.1f times their distance too far apart\n", most);
    CHECK(track.now.changes == 6);
    CHECK_MSG(most < 10, "a pair is %g times its distance too far apart", most);
    pl_binding_track_free(&track);
    free(d);
}

TEST(nothing_jumps_when_vertices_turn_to_others)
{
    disc* d = make_disc();
    pl_binding_track track;
    static float before[3 * VERTICES], after[3 * VERTICES], old[3 * VERTICES], new[3 * VERTICES];
    double jump = 0, swing = 0;
    begin_track(d, NULL, &track);
    for (int n = 0; n <= FRAMES / 2; ++n)
    {
        pl_flow_frame frame = at_frame(d, n, m3_identity());
        skin(&track, &frame, before, old);
        CHECK(pl_binding_track_add_frame(&track, &frame, (uint64_t)n, NULL) == PLIANT_OK);
        skin(&track, &frame, after, new);
        for (int i = 0; i < 3 * VERTICES; ++i)
        {
            jump = fmax(jump, fabs((double)after[i] - before[i]) / SPACING);
            swing = fmax(swing, fabs((double)new[i] - old[i]));
        }
    }
    CHECK_MSG(jump < 1e-3, "a vertex jumped by %g spacings", jump);
    CHECK_MSG(swing < 1e-2, "a normal jumped by %g", swing);
    /* and what comes after is followed exactly, if it is affine */
    mat3 then = {{{1.2, .3, -.1}, {-.2, .8, .4}, {.1, -.3, 1.1}}};
    pl_flow_frame frame = at_frame(d, FRAMES / 2, then);
    skin(&track, &frame, before, NULL);
    for (int i = 0; i < VERTICES; ++i)
    {
        vec3 should = m3_mulv(then, v3_from(after + 3 * i));
        CHECK(v3_length(v3_sub(v3_from(before + 3 * i), should)) < 1e-3 * SPACING);
    }
    pl_binding_track_free(&track);
    free(d);
}

TEST(bindings_that_change_are_the_same_at_every_thread_count_and_in_any_order)
{
    disc* d = make_disc();
    static const uint32_t threads[] = {1, 2, 3, 8};
    size_t bytes = sizeof(float) * 3 * VERTICES * (SOME + 1);
    float *first = malloc(bytes), *out = malloc(bytes);
    static float one[3 * VERTICES];
    for (int t = 0; t < 4; ++t)
    {
        pl_pool* pool = pl_pool_create(threads[t]);
        pl_binding_track track;
        begin_track(d, pool, &track);
        go(d, &track, pool, SOME, t ? out : first);
        CHECK(t == 0 || memcmp(first, out, bytes) == 0);
        CHECK(track.now.changes > 4);
        for (int n = SOME; n >= 0; n -= 3) /* backwards, and again after it was all forgotten */
        {
            CHECK(pl_binding_track_seek(&track, n) == PLIANT_OK);
            CHECK(track.now.next <= n && n - track.now.next < track.interval);
            for (int before = track.now.next; before < n; ++before)
            {
                pl_flow_frame frame = at_frame(d, before, m3_identity());
                CHECK(pl_binding_track_add_frame(&track, &frame, (uint64_t)before, pool) ==
                      PLIANT_OK);
            }
            pl_flow_frame frame = at_frame(d, n, m3_identity());
            skin(&track, &frame, one, NULL);
            CHECK(memcmp(one, first + (size_t)n * 3 * VERTICES, sizeof one) == 0);
        }
        if (t == 0)
        {
            pl_binding_track_restart(&track);
            go(d, &track, pool, SOME, out);
            CHECK(memcmp(first, out, bytes) == 0);
        }
        pl_binding_track_free(&track);
        pl_pool_destroy(pool);
    }
    free(first);
    free(out);
    free(d);
}

/* The number of kept states is bounded; they are evenly spread, and dropped with their frames. */
TEST(memory_of_bindings_does_not_grow_with_frames)
{
    disc* d = make_disc();
    pl_binding_track track;
    uint64_t before = pl_bytes_in_use(), early = 0, late;
    begin_track(d, NULL, &track);
    for (int n = 0; n < 600; ++n)
    {
        pl_flow_frame frame = at_frame(d, n < FRAMES ? n : FRAMES, m3_identity());
        CHECK(pl_binding_track_add_frame(&track, &frame, (uint64_t)n, NULL) == PLIANT_OK);
        CHECK(track.kept_count <= PL_BINDING_TRACK_KEPT);
        if (n == FRAMES)
            early = pl_bytes_in_use() - before;
    }
    late = pl_bytes_in_use() - before;
    CHECK_MSG(track.now.changes > 4 && 4 * late < 5 * early + 4096, "from %llu to %llu bytes",
              (unsigned long long)early, (unsigned long long)late);
    for (uint32_t i = 0; i < track.kept_count; ++i)
        CHECK(track.kept[i].next == (int32_t)(i + 1) * track.interval &&
              track.kept[i].hash == (uint64_t)track.kept[i].next - 1);
    CHECK(pl_binding_track_seek(&track, 300) == PLIANT_OK);
    int32_t there = track.now.next;
    pl_binding_track_forget(&track);
    CHECK(track.now.next == 0 && pl_binding_track_seek(&track, 599) == PLIANT_OK);
    CHECK(track.now.next < there && track.now.next >= there - track.interval);
    pl_binding_track_free(&track);
    CHECK(pl_bytes_in_use() == before);
    free(d);
}

TEST(vertices_follow_no_part_that_merely_touches_theirs)
{
    disc* d = make_disc();
    pl_binding_track track;
    for (uint32_t i = 0; i < d->count; ++i) /* the upper layers share nothing with the lower */
        join_rings(d, i, d->rest[i].z > 0 ? RINGS : 0);
    for (int i = 0; i < VERTICES; ++i)
        d->vertices[i].z = SPACING * (i % 4 < 2 ? 2.2 : -2.2); /* so far that they begin with one */
    begin_track(d, NULL, &track);
    for (uint32_t i = 0; i < d->count; ++i) /* and they slide over each other while they turn */
        d->rest[i].z *= .3;
    go(d, &track, NULL, FRAMES / 2, NULL);
    const pl_skin_binding* last = pl_binding_track_binding(&track);
    CHECK(track.now.changes > 3);
    for (uint32_t v = 0; v < VERTICES; ++v)
        for (uint32_t e = last->begin[v]; e < last->begin[v + 1]; ++e)
            CHECK((d->rest[last->particle[e]].z > 0) == (d->vertices[v].z > 0));
    pl_binding_track_free(&track);
    free(d);
}

TEST(a_body_that_has_not_flowed_keeps_its_binding)
{
    disc* d = make_disc();
    pl_binding_track track;
    begin_track(d, NULL, &track);
    for (int n = 0; n <= FRAMES; n += 10)
    {
        pl_flow_frame frame = at_frame(d, n, m3_identity());
        memset(d->strain, 0, sizeof d->strain);
        CHECK(pl_binding_track_add_frame(&track, &frame, (uint64_t)n, NULL) == PLIANT_OK);
    }
    CHECK(track.now.changes == 0 && pl_binding_track_binding(&track) == &track.rest);
    pl_binding_track_free(&track);
    free(d);
}
