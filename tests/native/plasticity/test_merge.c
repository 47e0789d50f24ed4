// SPDX-License-Identifier: GPL-3.0-or-later
/* Merging of particles where a body is pressed flat: what is kept, and what follows the merge. */
#include "native/support/edit_check.h"
#include "native/support/test.h"
#include "native/support/world.h"
#include "plasticity/plasticity.h"

#include <api/api.h>
#include <base/platform.h>
#include <dynamics/substep.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    SIDE = 10,
    POINTS = SIDE * SIDE * SIDE,
    VERTICES = 120
};

/* A cube of clay that is 2.2 times as long and wide as it was, and a fifth as high. */
static pliant_scene pressed_cube(uint32_t threads, uint32_t levels, uint32_t resample)
{
    pliant_scene scene = 0;
    pliant_scene_desc sd;
    pliant_body body = 0;
    pliant_body_desc desc;
    float points[3 * POINTS], x[3 * POINTS], v[3 * POINTS];
    for (int i = 0; i < POINTS; ++i)
        for (int k = 0; k < 3; ++k)
            points[3 * i + k] = (float)(i /
                                        (k == 0   ? 1
                                         : k == 1 ? SIDE
                                                  : SIDE * SIDE) %
                                        SIDE) /
                                    SIDE -
                                .45f;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.points = points;
    desc.point_count = POINTS;
    pliant_scene_desc_init(&sd, sizeof sd);
    sd.threads = threads;
    sd.gravity[2] = 0;
    desc.cluster.count = 40;
    desc.levels.count = levels;
    desc.levels.reduction = 4;
    desc.material.damping = 10;
    desc.material.yield = 0;
    desc.material.flow = 1000;
    desc.material.resample = resample;
    CHECK_OK(pliant_scene_create(&sd, &scene));
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    for (int i = 0; i < 3 * POINTS; ++i)
    {
        x[i] = desc.points[i] * (i % 3 == 2 ? 1 / 4.84f : 2.2f);
        v[i] = i % 3 == 0 ? 1.f + desc.points[i - i % 3 + 1] : i % 3 == 1 ? -desc.points[i - 1] : 0;
    }
    CHECK_OK(pliant_body_set_particles(body, POINTS, NULL, x, v));
    return scene;
}

static pl_body* body_of(pliant_scene scene, pl_scene** inside)
{
    pl_body* body;
    CHECK(pl_get_body(world_body(scene, 0), &body, inside) == PLIANT_OK);
    return body;
}

static void advance(pliant_scene scene, int frames)
{
    pliant_frame_desc fd = world_frame_desc();
    for (int i = 0; i < frames; ++i)
        CHECK_OK(pliant_scene_advance(scene, &fd));
}

static uint32_t gone_of(const pl_body* body)
{
    uint32_t gone = 0;
    for (uint32_t id = 0; id < body->particles.id_count; ++id)
        gone += !pl_lives(&body->particles, id);
    return gone;
}

static uint32_t made_of(const pl_body* body)
{
    return body->particles.id_count - POINTS;
}

/* Ids are not reused, each merged particle has a successor, and only living particles have mass. */
static void check_identity(pliant_scene scene)
{
    pl_scene* inside;
    const pl_body* body = body_of(scene, &inside);
    const pl_particles* p = &body->particles;
    uint64_t bytes, sum = 0;
    uint32_t* successor = world_read(world_body(scene, 0), PLIANT_SUCCESSOR, 0, &bytes);
    uint64_t* quanta = world_read(world_body(scene, 0), PLIANT_MASS_QUANTA, 0, &bytes);
    CHECK(bytes == 8ull * p->id_count);
    for (uint32_t id = 0; id < p->id_count; ++id)
    {
        sum += quanta[id];
        CHECK(pl_lives(p, successor[id]));
        CHECK(pl_lives(p, id) ? successor[id] == id && quanta[id] > 0
                              : successor[id] > id && quanta[id] == 0);
    }
    CHECK(sum == check_quanta(body));
    CHECK(p->count == p->id_count - gone_of(body));
    free(successor);
    free(quanta);
}

/* Anisotropy of the sampling: distance to the nearest particle across the body, over that along it.
 */
static double flatness(const pl_body* body)
{
    const pl_particles* p = &body->particles;
    double sum[2] = {0, 0}, count = 0;
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        double best[2] = {INFINITY, INFINITY};
        for (uint32_t t = 0; t < p->slot_count; ++t)
        {
            double x = p->x[0][t] - p->x[0][s], y = p->x[1][t] - p->x[1][s],
                   z = p->x[2][t] - p->x[2][s], far = sqrt(x * x + y * y + z * z);
            if (s == t || !(p->mass[s] > 0) || !(p->mass[t] > 0))
                continue;
            if (fabs(z) > .7 * far)
                best[0] = fmin(best[0], far);
            if (fabs(z) < .3 * far)
                best[1] = fmin(best[1], far);
        }
        if (best[0] < INFINITY && best[1] < INFINITY)
            sum[0] += best[0], sum[1] += best[1], count += 1;
    }
    return count > 0 ? sum[0] / sum[1] : 0;
}

TEST(particles_become_fewer_where_a_body_is_pressed_flat_and_mass_stays)
{
    for (uint32_t on = 0; on < 2; ++on)
    {
        pl_scene* inside;
        pliant_scene scene = pressed_cube(1, 1, on);
        uint64_t quanta = check_quanta(body_of(scene, &inside));
        uint32_t ids = POINTS, gone = 0;
        for (int frame = 0; frame < 48; ++frame)
        {
            uint32_t most = PL_MAX(body_of(scene, &inside)->particles.count / 16 * 17 / 16, 8u);
            advance(scene, 1);
            const pl_body* body = body_of(scene, &inside);
            uint32_t now = gone_of(body);
            CHECK(body->particles.id_count >= ids && now >= gone);
            CHECK(now - gone <= 2 * most + 2); /* no spike of work */
            ids = body->particles.id_count, gone = now;
            CHECK(check_quanta(body) == quanta);
        }
        pl_body* body = body_of(scene, &inside);
        CHECK_MSG(on ? gone > POINTS / 2 : gone == 0, "%u have gone", gone);
        CHECK_MSG(!on || (body->particles.count > POINTS / 2 && body->particles.count < 2 * POINTS),
                  "%u particles are left", body->particles.count);
        CHECK(body->particles.id_count <= 8 * POINTS && world_finite(world_body(scene, 0)));
        check_identity(scene);
        check_body(body);
        CHECK_OK(pliant_scene_destroy(scene));
    }
}

TEST(what_was_pressed_flat_is_sampled_evenly_again)
{
    double flat[2];
    for (uint32_t on = 0; on < 2; ++on)
    {
        pl_scene* inside;
        pliant_scene scene = pressed_cube(1, 1, on);
        advance(scene, 72);
        flat[on] = flatness(body_of(scene, &inside));
        CHECK_OK(pliant_scene_destroy(scene));
    }
    CHECK_MSG(flat[0] < .3 && flat[1] > 2 * flat[0], "%.2f as far across as along, %.2f without",
              flat[1], flat[0]);
}

static vec3 centre_of(const pl_body* body)
{
    const pl_particles* p = &body->particles;
    vec3 sum = v3(0, 0, 0);
    for (uint32_t s = 0; s < p->slot_count; ++s)
        sum = v3_mad(sum, v3(p->x[0][s], p->x[1][s], p->x[2][s]), p->mass[s]);
    return sum;
}

static void skinned(pliant_skin skin, float* vertices)
{
    CHECK_OK(pliant_skin_apply(skin, NULL, NULL, vertices, NULL, NULL));
}

/* One call between two frames keeps mass and momentum, and no surface moves. */
TEST(merging_keeps_momentum_and_moves_no_surface)
{
    for (uint32_t levels = 1; levels <= 3; levels += 2)
    {
        pl_scene* inside;
        pliant_scene scene = pressed_cube(1, levels, 1);
        pliant_body handle = world_body(scene, 0);
        pliant_skin skin = 0;
        pliant_skin_desc sd;
        float rest[3 * VERTICES], before[3 * VERTICES], after[3 * VERTICES];
        uint32_t state = 7;
        for (int i = 0; i < 3 * VERTICES; ++i)
        {
            state = state * 1664525u + 1013904223u;
            rest[i] = (float)(state / 4294967296.0 - .5);
        }
        pliant_skin_desc_init(&sd, sizeof sd);
        sd.vertex_count = VERTICES;
        sd.vertices = rest;
        CHECK_OK(pliant_skin_create(handle, &sd, &skin));
        advance(scene, 4); /* includes earlier divisions and merges */
        pl_body* body = body_of(scene, &inside);
        uint32_t gone = gone_of(body), ids = body->particles.id_count;
        CHECK(gone > 20);
        uint64_t bytes, quanta = check_quanta(body);
        float* x = world_read(handle, PLIANT_POSITION, 0, &bytes);
        skinned(skin, before);
        vec3 momentum = check_momentum(body), centre = centre_of(body);
        pl_substep step = {.scene = inside, .dt = 1. / 240};
        CHECK(pl_resample(&step) == PLIANT_OK);
        CHECK_MSG(gone_of(body) > gone + 10, "%u more have gone", gone_of(body) - gone);
        CHECK(check_quanta(body) == quanta);
        CHECK(v3_length(v3_sub(check_momentum(body), momentum)) < 1e-6 * body->mass);
        CHECK(v3_length(v3_sub(centre_of(body), centre)) < 1e-6 * body->mass);
        check_body(body);
        float* moved = world_read(handle, PLIANT_POSITION, 0, &bytes);
        double most = 0;
        for (uint32_t id = 0; id < ids; ++id)
            for (int k = 0; k < 3 && !pl_lives(&body->particles, id); ++k) /* as clusters fit */
                most = fmax(most, fabs((double)moved[3 * id + k] - x[3 * id + k]));
        CHECK_MSG(most < .03 * body->spacing, "what has gone moved by %g spacings",
                  most / body->spacing);
        skinned(skin, after);
        most = 0;
        for (int i = 0; i < 3 * VERTICES; ++i)
            most = fmax(most, fabs((double)after[i] - before[i]));
        CHECK_MSG(most < .05 * body->spacing, "a vertex moved by %g spacings",
                  most / body->spacing);
        free(x);
        free(moved);
        CHECK_OK(pliant_skin_destroy(skin));
        CHECK_OK(pliant_scene_destroy(scene));
    }
}

TEST(merging_is_the_same_at_every_thread_count_and_after_restoring)
{
    static const uint32_t threads[] = {1, 2, 3, 8};
    for (uint32_t levels = test_quick() ? 3 : 1; levels <= 3; levels += 2)
    {
        uint64_t first = 0;
        for (int t = 0; t < (test_quick() ? 2 : 4); ++t)
        {
            pl_scene* inside;
            pliant_scene scene = pressed_cube(threads[t], levels, 1);
            for (int frame = 0; frame < 28; ++frame)
            {
                advance(scene, 1);
                if (t == 1 && frame == 20)
                {
                    CHECK(gone_of(body_of(scene, &inside)) > 20);
                    world_renew(scene);
                }
            }
            CHECK(made_of(body_of(scene, &inside)) > 100);
            uint64_t hash = world_hash(scene);
            first = t ? first : hash;
            CHECK(hash == first);
            CHECK_OK(pliant_scene_destroy(scene));
        }
    }
}

/* Frames of a store may come from different scenes. */
TEST(a_skin_is_not_shown_on_the_frame_of_another_body)
{
    pliant_store store = 0;
    pliant_store_desc sd;
    pliant_skin skin = 0;
    pliant_skin_desc desc;
    pliant_scene small = world_make(WORLD_PLAIN), scene = pressed_cube(1, 1, 1);
    float rest[3] = {0, 0, 0}, out[3];
    pliant_store_desc_init(&sd, sizeof sd);
    sd.mode = PLIANT_STORE_CREATE;
    sd.path = test_folder();
    CHECK_OK(pliant_store_open(&sd, &store));
    CHECK_OK(pliant_store_write_frame(store, small, 1));
    advance(scene, 24);
    CHECK_OK(pliant_store_write_frame(store, scene, 2));
    pliant_skin_desc_init(&desc, sizeof desc);
    desc.vertex_count = 1;
    desc.vertices = rest;
    CHECK_OK(pliant_skin_create_stored(store, 0, &desc, &skin));
    CHECK_OK(pliant_skin_apply_stored(skin, 1, NULL, NULL, out, NULL, NULL));
    CHECK(pliant_skin_apply_stored(skin, 2, NULL, NULL, out, NULL, NULL) == PLIANT_ERROR_STATE);
    CHECK_OK(pliant_skin_destroy(skin));
    CHECK_OK(pliant_store_close(store));
    CHECK_OK(pliant_scene_destroy(small));
    CHECK_OK(pliant_scene_destroy(scene));
}

/* The store shows every frame on all ids; only living particles have mass. */
TEST(stores_show_what_was_merged)
{
    pliant_store store = 0;
    pliant_store_desc sd;
    pliant_skin skin = 0, stored = 0;
    pliant_skin_desc desc;
    pliant_scene scene = pressed_cube(1, 1, 1);
    pliant_body handle = world_body(scene, 0);
    float rest[3 * VERTICES], live[3 * VERTICES], again[3 * VERTICES];
    for (int i = 0; i < 3 * VERTICES; ++i)
        rest[i] = (float)((i * 37 % 101) / 101. - .5);
    pliant_store_desc_init(&sd, sizeof sd);
    sd.mode = PLIANT_STORE_CREATE;
    sd.path = test_folder();
    CHECK_OK(pliant_store_open(&sd, &store));
    pliant_skin_desc_init(&desc, sizeof desc);
    desc.vertex_count = VERTICES;
    desc.vertices = rest;
    CHECK_OK(pliant_skin_create(handle, &desc, &skin));
    for (int frame = 1; frame <= 24; ++frame)
    {
        advance(scene, 1);
        CHECK_OK(pliant_store_write_frame(store, scene, frame));
    }
    skinned(skin, live);
    CHECK_OK(pliant_skin_create_stored(store, 0, &desc, &stored));
    CHECK_OK(pliant_skin_apply_stored(stored, 24, NULL, NULL, again, NULL, NULL));
    for (int i = 0; i < 3 * VERTICES; ++i)
        CHECK_NEAR(again[i], live[i], 1e-5);
    pl_scene* inside;
    const pl_body* body = body_of(scene, &inside);
    CHECK(gone_of(body) > 50);
    for (int frame = 1; frame <= 24; ++frame)
    {
        uint64_t bytes = 0;
        double mass = 0;
        CHECK_OK(pliant_store_read(store, 0, frame, PLIANT_MASS, NULL, NULL, &bytes));
        CHECK(bytes == 4ull * body->particles.id_count);
        float* masses = malloc(bytes);
        CHECK_OK(pliant_store_read(store, 0, frame, PLIANT_MASS, NULL, masses, &bytes));
        for (uint32_t i = 0; i < body->particles.id_count; ++i)
            mass += masses[i];
        CHECK_MSG(fabs(mass / body->mass - 1) < 1e-5, "frame %d has %g of the mass", frame,
                  mass / body->mass);
        free(masses);
    }
    CHECK_OK(pliant_skin_destroy(skin));
    CHECK_OK(pliant_skin_destroy(stored));
    CHECK_OK(pliant_store_close(store));
    CHECK_OK(pliant_scene_destroy(scene));
}

enum
{
    SHOWN_FRAMES = 30,
    SHOWN = 5
};

static const uint32_t SHOWN_CHANNELS[SHOWN] = {PLIANT_POSITION, PLIANT_VELOCITY, PLIANT_DEFORMATION,
                                               PLIANT_PLASTIC_STRAIN, PLIANT_NEAREST_CLUSTER};

/* A channel of a stored frame starts with the body's values of that frame. */
static void check_shown(pliant_store store, int frame, uint32_t channel, const void* live,
                        uint64_t live_bytes)
{
    uint64_t bytes = 0;
    CHECK_OK(pliant_store_read(store, 0, frame, channel, NULL, NULL, &bytes));
    CHECK(bytes >= live_bytes);
    float* shown = malloc(bytes);
    CHECK_OK(pliant_store_read(store, 0, frame, channel, NULL, shown, &bytes));
    bool about_another = channel == PLIANT_POSITION; /* origin, so positions are rounded */
    double off = !about_another && memcmp(shown, live, live_bytes) != 0;
    for (uint64_t i = 0; about_another && i < live_bytes / 4; ++i)
        off = fmax(off, fabs(shown[i] - ((const float*)live)[i]));
    CHECK_MSG(off < 1e-6, "frame %d, channel %u: %g off", frame, channel, off);
    free(shown);
}

static void write_shown(pliant_scene scene, const char* path, void* live[SHOWN_FRAMES][SHOWN],
                        uint64_t bytes[SHOWN_FRAMES][SHOWN])
{
    pliant_store store = 0;
    pliant_store_desc sd;
    pl_scene* inside;
    pliant_store_desc_init(&sd, sizeof sd);
    sd.mode = PLIANT_STORE_CREATE;
    sd.path = path;
    sd.compression = PLIANT_COMPRESS_NONE;
    CHECK_OK(pliant_store_open(&sd, &store));
    for (int frame = 0; frame < SHOWN_FRAMES; ++frame)
    {
        advance(scene, 1);
        CHECK_OK(pliant_store_write_frame(store, scene, frame));
        for (int k = 0; k < SHOWN; ++k)
            live[frame][k] =
                world_read(world_body(scene, 0), SHOWN_CHANNELS[k], 0, &bytes[frame][k]);
        const pl_body* body = body_of(scene, &inside);
        char file[1200];
        snprintf(file, sizeof file, "%s/frame-%06d.plf", path, frame);
        int64_t size = pl_file_size(file);
        int64_t wanted =
            56 + 8 + 32 + 24 * (int64_t)body->particles.count + 80 * (int64_t)body->level_begin[1];
        CHECK_MSG(size == wanted, "frame %d: %lld bytes for what lives, which has %lld", frame,
                  (long long)size, (long long)wanted);
    }
    CHECK(gone_of(body_of(scene, &inside)) > 50);
    CHECK_OK(pliant_store_close(store));
}

/* Files do not store merged particles; a reader derives their positions, in any order of reading.
 */
TEST(stores_leave_out_what_successors_tell)
{
    pliant_store store = 0;
    pliant_store_desc sd;
    pliant_scene scene = pressed_cube(1, 1, 1);
    const char* path = test_folder();
    void* live[SHOWN_FRAMES][SHOWN];
    uint64_t bytes[SHOWN_FRAMES][SHOWN];
    write_shown(scene, path, live, bytes);
    pliant_store_desc_init(&sd, sizeof sd);
    sd.mode = PLIANT_STORE_READ;
    sd.path = path;
    CHECK_OK(pliant_store_open(&sd, &store));
    CHECK_OK(pliant_store_verify(store));
    for (int i = 0; i < SHOWN_FRAMES; ++i)
    {
        int frame = i * 7 % SHOWN_FRAMES;
        for (int k = 0; k < SHOWN; ++k)
        {
            check_shown(store, frame, SHOWN_CHANNELS[k], live[frame][k], bytes[frame][k]);
            free(live[frame][k]);
        }
    }
    CHECK_OK(pliant_store_close(store));
    CHECK_OK(pliant_scene_destroy(scene));
}

/* Running out of memory before the edit changes nothing; during the edit, it loses nothing. */
TEST(merging_runs_out_of_memory_without_harm)
{
    pl_scene* inside;
    pliant_scene scene = pressed_cube(1, 1, 1);
    advance(scene, 4);
    pl_body* body = body_of(scene, &inside);
    uint64_t quanta = check_quanta(body), bytes;
    uint32_t ids = body->particles.id_count, failures = 0;
    for (int64_t left = 0; left < 400 && body->particles.id_count == ids; left += 3)
    {
        pl_substep step = {.scene = inside, .dt = 1. / 240};
        pl_fail_allocations_after(left);
        pl_status status = pl_resample(&step);
        pl_fail_allocations_after(-1);
        CHECK(check_quanta(body) == quanta);
        failures += status == PLIANT_ERROR_MEMORY && body->particles.id_count == ids;
    }
    CHECK_MSG(failures > 3, "it failed %u times", failures);
    free(world_read(world_body(scene, 0), PLIANT_POSITION, 0, &bytes));
    CHECK_OK(pliant_scene_destroy(scene));
}
