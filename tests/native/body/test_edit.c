// SPDX-License-Identifier: GPL-3.0-or-later
/* Changing memberships, clusters and particles of a body that moves. */
#include "native/support/edit_check.h"
#include "native/support/test.h"
#include "native/support/world.h"

#include <api/api.h>
#include <base/rng.h>
#include <body/edit/edit.h>
#include <body/layout.h>
#include <body/rest_query.h>
#include <scenes/bars.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ a body to change */

static pliant_scene scene_of(uint32_t threads, uint32_t levels, double yield, bool contacts,
                             pl_body** body)
{
    pliant_scene scene = 0;
    pliant_body handle;
    pliant_scene_desc sd;
    pliant_body_desc desc = world_cube(9);
    pl_scene* inside;
    pliant_scene_desc_init(&sd, sizeof sd);
    sd.threads = threads;
    memset(sd.gravity, 0, sizeof sd.gravity);
    desc.cluster.count = 24;
    desc.levels.count = levels;
    desc.material.yield = yield;
    desc.material.strain_limit = .2;
    CHECK_OK(pliant_scene_create(&sd, &scene));
    CHECK_OK(pliant_body_create(scene, &desc, &handle));
    CHECK(pl_get_body(handle, body, &inside) == PLIANT_OK);
    inside->cluster_contacts = contacts;
    float* x = malloc(sizeof(float) * 3 * desc.point_count);
    for (uint32_t i = 0; i < 3 * desc.point_count; ++i)
        x[i] = desc.points[i] * (i % 3 ? .95f : 1.2f);
    CHECK_OK(pliant_body_set_particles(handle, desc.point_count, NULL, x, NULL));
    free(x);
    return scene;
}

static void advance(pliant_scene scene, int frames)
{
    for (int f = 0; f < frames; ++f)
    {
        pliant_frame_desc frame = world_frame_desc();
        frame.substeps = 2;
        CHECK_OK(pliant_scene_advance(scene, &frame));
    }
}

/* By id; the caller frees them. */
static float* positions(pliant_scene scene)
{
    uint32_t count;
    return scene_read_floats(world_body(scene, 0), PLIANT_POSITION, 0, NULL, &count);
}

static pl_body* body_in(pliant_scene scene)
{
    pl_body* body = NULL;
    pl_scene* inside;
    CHECK(pl_get_body(world_body(scene, 0), &body, &inside) == PLIANT_OK);
    return body;
}

/* Cuts a cluster in two across x: half of its members leave for a new one, and every particle that
 * is in both it and others is divided. */
static uint32_t cut(pl_edit* edit, pl_body* body, uint32_t cluster, bool divide)
{
    uint32_t count, fresh = 0, slots[512];
    const uint32_t* list = pl_edit_slots(edit, cluster, &count);
    CHECK(list && count < 512);
    memcpy(slots, list, count * sizeof *slots);
    CHECK(pl_edit_add_cluster(edit, cluster, &fresh) == PLIANT_OK);
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t n, kept = 0, copy = slots[i];
        pl_member members[64];
        const pl_member* old = pl_edit_members(edit, slots[i], &n);
        memcpy(members, old, n * sizeof *old);
        if (!(pl_rest_of(body, slots[i]).x > body->clusters.rest[cluster][0]))
            continue;
        for (uint32_t m = 0; m < n; ++m)
            if (members[m].cluster == cluster)
                members[kept++] = members[m];
        CHECK(kept == 1);
        pl_member moved = members[0];
        moved.cluster = fresh;
        if (n == 1)
            CHECK(pl_edit_set(edit, slots[i], &moved, 1) == PLIANT_OK);
        else if (divide)
        {
            CHECK(pl_edit_divide(edit, slots[i], body->particles.quanta[slots[i]] / 3, &copy) ==
                  PLIANT_OK);
            CHECK(pl_edit_set(edit, copy, &moved, 1) == PLIANT_OK);
            old = pl_edit_members(edit, slots[i], &n);
            for (uint32_t m = kept = 0; m < n; ++m)
                if (old[m].cluster != cluster)
                    members[kept++] = old[m];
            CHECK(pl_edit_set(edit, slots[i], members, kept) == PLIANT_OK);
        }
        else
        {
            old = pl_edit_members(edit, slots[i], &n);
            for (uint32_t m = kept = 0; m < n; ++m)
                if (old[m].cluster != cluster)
                    members[kept++] = old[m];
            members[kept++] = moved;
            for (uint32_t a = kept - 1; a > 0 && members[a - 1].cluster > members[a].cluster; --a)
            {
                pl_member swap = members[a];
                members[a] = members[a - 1], members[a - 1] = swap;
            }
            CHECK(pl_edit_set(edit, slots[i], members, kept) == PLIANT_OK);
        }
    }
    return fresh;
}

/* The slots of clusters, and those that two have in common, while an edit changes half of them: as
 * each slot's own memberships say, in their order. */
TEST(slots_of_clusters_are_those_whose_members_say_so)
{
    pl_body* body;
    pliant_scene scene = scene_of(1, 1, INFINITY, false, &body);
    pl_edit* edit = NULL;
    CHECK(pl_edit_begin(body, 7, &edit) == PLIANT_OK);
    for (uint32_t c = 0; c < 12; ++c)
        cut(edit, body, c, c % 2);
    uint32_t clusters = body->level_begin[1], slots = body->particles.slot_count, most = 0;
    uint32_t both = 0, wrong = 0;
    uint8_t* in = calloc(slots, clusters);
    for (uint32_t s = 0; s < slots; ++s)
    {
        uint32_t n;
        const pl_member* m = pl_edit_members(edit, s, &n);
        for (uint32_t i = 0; i < n; ++i)
            in[s * clusters + m[i].cluster] = 1;
    }
    for (uint32_t c = 0; c < clusters; ++c)
        for (uint32_t d = 0; d < clusters; ++d)
        {
            uint32_t n, at = 0;
            const uint32_t* list =
                c == d ? pl_edit_slots(edit, c, &n) : pl_edit_shared(edit, c, d, &n);
            for (uint32_t s = 0; s < slots; ++s)
                if (in[s * clusters + c] && in[s * clusters + d])
                    wrong += at >= n || list[at] != s, ++at;
            wrong += at != n;
            most = c == d && n > most ? n : most;
            both += c != d ? n : 0;
        }
    CHECK_MSG(wrong == 0, "%u slots are wrong", wrong);
    CHECK_MSG(most > 100 && both > 1000, "%u slots at most, %u shared", most, both);
    free(in);
    pl_edit_abandon(edit);
    pliant_scene_destroy(scene);
}

static uint32_t cut_body(pl_body* body, uint32_t cluster, bool divide)
{
    pl_edit* edit = NULL;
    uint64_t updates = 0;
    CHECK(pl_edit_begin(body, 7, &edit) == PLIANT_OK);
    uint32_t fresh = cut(edit, body, cluster, divide);
    CHECK(pl_edit_end(edit, &updates) == PLIANT_OK);
    CHECK(updates > 0);
    return fresh;
}

/* Everyone of a cluster leaves it. */
static void dissolve(pl_edit* edit, uint32_t cluster)
{
    uint32_t count, slots[512];
    const uint32_t* list = pl_edit_slots(edit, cluster, &count);
    CHECK(list && count < 512);
    memcpy(slots, list, count * sizeof *slots);
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t n, kept = 0;
        pl_member members[64];
        const pl_member* old = pl_edit_members(edit, slots[i], &n);
        for (uint32_t m = 0; m < n; ++m)
            if (old[m].cluster != cluster)
                members[kept++] = old[m];
        if (kept == 0) /* it had no other: the next one takes it */
        {
            members[kept++] = old[0];
            members[0].cluster = cluster ? 0 : 1;
        }
        CHECK(pl_edit_set(edit, slots[i], members, kept) == PLIANT_OK);
    }
}

/* ------------------------------------------------------------------ tests */

TEST(an_edit_that_changes_nothing_gives_the_same_bits)
{
    pl_body* body;
    pliant_scene scene = scene_of(1, 2, .05, false, &body);
    advance(scene, 2);
    uint64_t bytes;
    void* block = world_save(scene, &bytes);
    advance(scene, 2);
    uint64_t expected = world_state(scene);
    CHECK_OK(pliant_scene_restore(scene, block, bytes));
    free(block);
    body = body_in(scene);
    pl_edit* edit = NULL;
    uint64_t updates = 1;
    CHECK(pl_edit_begin(body, 1, &edit) == PLIANT_OK);
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
    {
        uint32_t n;
        const pl_member* m = pl_edit_members(edit, s, &n);
        if (n)
            CHECK(pl_edit_set(edit, s, m, n) == PLIANT_OK);
    }
    CHECK(pl_edit_end(edit, &updates) == PLIANT_OK);
    CHECK(updates == 0);
    advance(scene, 2);
    CHECK(world_state(scene) == expected);
    pliant_scene_destroy(scene);
}

TEST(an_abandoned_edit_leaves_no_trace)
{
    pl_body* body;
    pliant_scene scene = scene_of(1, 1, .05, false, &body);
    advance(scene, 2);
    pl_edit* edit = NULL;
    uint32_t ids = body->particles.id_count;
    uint64_t quanta = check_quanta(body);
    CHECK(pl_edit_begin(body, 1, &edit) == PLIANT_OK);
    cut(edit, body, 3, true);
    pl_edit_abandon(edit);
    CHECK(body->particles.id_count == ids && check_quanta(body) == quanta);
    check_body(body);
    advance(scene, 2);
    float* x = positions(scene);
    pliant_scene_destroy(scene);
    scene = scene_of(1, 1, .05, false, &body);
    advance(scene, 4);
    float* expected = positions(scene);
    CHECK(memcmp(x, expected, sizeof(float) * 3 * ids) == 0);
    free(x);
    free(expected);
    pliant_scene_destroy(scene);
}

TEST(a_cut_keeps_mass_and_places_to_the_bit)
{
    for (uint32_t levels = 1; levels <= 3; levels += 2)
        for (int divide = 0; divide < 2; ++divide)
        {
            pl_body* body;
            pliant_scene scene = scene_of(1, levels, .05, true, &body);
            advance(scene, 3);
            uint32_t ids = body->particles.id_count;
            uint64_t quanta = check_quanta(body);
            vec3 before = check_momentum(body);
            float* x = positions(scene);
            uint32_t fresh = cut_body(body, 5, divide);
            CHECK(fresh < body->level_begin[1] && body->clusters.birth[fresh] == 7);
            CHECK(check_quanta(body) == quanta);
            CHECK(v3_length(v3_sub(check_momentum(body), before)) < 1e-6 * body->mass);
            CHECK((body->particles.id_count > ids) == (divide == 1));
            float* after = positions(scene);
            CHECK(memcmp(x, after, sizeof(float) * 3 * ids) == 0);
            for (uint32_t i = ids; i < body->particles.id_count; ++i)
            {
                uint32_t parent = body->particles.parent[i];
                CHECK(parent < ids && body->particles.birth[i] == 7);
                CHECK(memcmp(after + 3 * i, after + 3 * parent, sizeof(float) * 3) == 0);
            }
            free(x);
            free(after);
            check_body(body);
            vec3 still = check_momentum(body);
            advance(scene, 6);
            CHECK(check_quanta(body) == quanta);
            CHECK(v3_length(v3_sub(check_momentum(body), still)) < 1e-4 * body->mass);
            CHECK(world_finite(world_body(scene, 0)));
            pliant_scene_destroy(scene);
        }
}

TEST(full_chunks_get_one_beside_them)
{
    pl_body* body;
    pliant_scene scene = scene_of(1, 1, .05, true, &body);
    uint32_t chunks = body->chunk_count;
    uint64_t quanta = check_quanta(body);
    advance(scene, 1);
    pl_edit* edit = NULL;
    CHECK(pl_edit_begin(body, 9, &edit) == PLIANT_OK);
    for (uint32_t id = 0, copy; id < 700; ++id)
        CHECK(pl_edit_divide(edit, body->particles.slot_of[id],
                             body->particles.quanta[body->particles.slot_of[id]] / 2,
                             &copy) == PLIANT_OK);
    CHECK(pl_edit_end(edit, NULL) == PLIANT_OK);
    CHECK(body->chunk_count > chunks && check_quanta(body) == quanta);
    check_body(body);
    advance(scene, 3);
    uint64_t bytes, expected;
    void* block = world_save(scene, &bytes);
    advance(scene, 3);
    expected = world_state(scene);
    CHECK_OK(pliant_scene_restore(scene, block, bytes));
    free(block);
    advance(scene, 3);
    CHECK(world_state(scene) == expected);
    /* copies of one particle with the same memberships stay together */
    float* x = positions(scene);
    body = body_in(scene);
    double apart = 0;
    for (uint32_t i = 729; i < body->particles.id_count; ++i)
        for (int k = 0; k < 3; ++k)
            apart = fmax(apart, fabs(x[3 * i + k] - x[3 * body->particles.parent[i] + k]));
    CHECK_MSG(apart < 1e-4, "copies are %g apart", apart);
    free(x);
    pliant_scene_destroy(scene);
}

TEST(clusters_come_and_go_in_one_edit)
{
    for (uint32_t levels = 1; levels <= 3; levels += 2)
    {
        pl_body* body;
        pliant_scene scene = scene_of(1, levels, .05, true, &body);
        uint64_t quanta = check_quanta(body);
        advance(scene, 2);
        for (int round = 0; round < 6; ++round)
        {
            pl_edit* edit = NULL;
            uint32_t living[64], count = 0;
            for (uint32_t c = 0; c < body->level_begin[1] && count < 64; ++c)
                if (body->clusters.fade[c] > 0)
                    living[count++] = c;
            CHECK(pl_edit_begin(body, 1, &edit) == PLIANT_OK);
            cut(edit, body, living[round], false);
            cut(edit, body, living[round + 9], round & 1);
            dissolve(edit, living[count - 1 - round]);
            CHECK(pl_edit_end(edit, NULL) == PLIANT_OK);
            check_body(body);
            advance(scene, 1);
            CHECK(check_quanta(body) == quanta && world_finite(world_body(scene, 0)));
        }
        CHECK(body->level_begin[1] < 24 + 16); /* the dead are used again */
        pliant_scene_destroy(scene);
    }
}

/* Makes copies of one particle, and a cluster of these alone with places of their own. */
static uint32_t gather_copies(pl_body* body, uint32_t id, uint32_t count)
{
    const pl_particles* p = &body->particles;
    uint32_t fresh, members, copy;
    pl_edit* edit = NULL;
    CHECK(pl_edit_begin(body, 1, &edit) == PLIANT_OK);
    CHECK(pl_edit_add_cluster(edit, 20, &fresh) == PLIANT_OK);
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t slot = p->slot_of[id];
        CHECK(pl_edit_divide(edit, slot, p->quanta[slot] / 3, &copy) == PLIANT_OK);
        const pl_member* old = pl_edit_members(edit, copy, &members);
        pl_member one = *old;
        one.cluster = fresh;
        for (uint32_t k = 0; k < 3; ++k)
            one.rest[k] += body->spacing * (double)(i >> k & 1);
        CHECK(pl_edit_put(edit, copy, &one, 1) == PLIANT_OK);
    }
    CHECK(pl_edit_end(edit, NULL) == PLIANT_OK);
    return fresh;
}

/* All lie in one place of the body's rest shape: the map from there was rounding over rounding, in
 * a long bake up to 1e9, and what it carried was 1e6 away. */
TEST(clusters_of_copies_of_one_particle_have_a_sound_map)
{
    pl_body* body;
    pliant_scene scene = scene_of(1, 1, .05, false, &body);
    for (uint32_t id = 0; id < 40; ++id)
    {
        uint32_t cluster = gather_copies(body, 17 * id, 8);
        double square = 0;
        for (int i = 0; i < 9; ++i)
            square +=
                (double)body->clusters.from_body[cluster][i] * body->clusters.from_body[cluster][i];
        CHECK_MSG(square < 4, "the map of cluster %u has the size %g", cluster, sqrt(square));
    }
    pliant_scene_destroy(scene);
}

/* Moves, cuts, saves in between, and moves on. */
static uint64_t played(uint32_t threads, uint32_t levels, bool save)
{
    pl_body* body;
    pliant_scene scene = scene_of(threads, levels, .05, true, &body);
    advance(scene, 2);
    cut_body(body, 5, true);
    cut_body(body, 11, false);
    if (save)
    {
        uint64_t bytes;
        void* block = world_save(scene, &bytes);
        CHECK_OK(pliant_scene_restore(scene, block, bytes));
        free(block);
        body = body_in(scene);
    }
    advance(scene, 2);
    pl_edit* edit = NULL;
    CHECK(pl_edit_begin(body, 1, &edit) == PLIANT_OK);
    dissolve(edit, 2);
    CHECK(pl_edit_end(edit, NULL) == PLIANT_OK);
    advance(scene, 3);
    uint64_t hash = world_hash(scene);
    pliant_scene_destroy(scene);
    return hash;
}

TEST(edits_are_the_same_for_every_number_of_threads_and_when_saved)
{
    for (uint32_t levels = 1; levels <= 3; levels += 2)
    {
        uint64_t expected = played(1, levels, false);
        CHECK(played(2, levels, false) == expected);
        CHECK(played(3, levels, false) == expected);
        CHECK_MSG(played(1, levels, true) == expected, "%u levels: restored, it goes another way",
                  levels);
    }
}

TEST(what_cannot_be_edited_is_refused)
{
    pl_body* body;
    pl_edit* edit = NULL;
    pliant_scene scene = scene_of(1, 1, .05, false, &body);
    CHECK(pl_edit_begin(body, 1, &edit) == PLIANT_OK);
    pl_member none = {.cluster = 0, .kernel = 0};
    CHECK(pl_edit_set(edit, body->particles.slot_of[0], &none, 1) == PLIANT_ERROR_INTERNAL);
    CHECK(pl_edit_set(edit, body->particles.slot_of[0], &none, 0) == PLIANT_ERROR_INTERNAL);
    uint32_t copy;
    CHECK(pl_edit_divide(edit, body->particles.slot_of[0], 0, &copy) == PLIANT_ERROR_INTERNAL);
    CHECK(pl_edit_add_cluster(edit, 1000, &copy) == PLIANT_ERROR_INTERNAL);
    pl_edit_abandon(edit);
    body->material.goal = PLIANT_GOAL_QUADRATIC;
    CHECK(pl_edit_begin(body, 1, &edit) == PLIANT_ERROR_STATE && edit == NULL);
    body->material.goal = PLIANT_GOAL_RIGID;
    pliant_scene_destroy(scene);
}
