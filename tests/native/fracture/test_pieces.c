// SPDX-License-Identifier: GPL-3.0-or-later
/* Pieces: what is connected, by how many threads it was found, and what each keeps. */
#include "body/validity.h"
#include "native/support/breaking.h"

#include <base/cpu.h>
#include <base/hash.h>
#include <base/rng.h>
#include <fracture/fracture_internal.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ against brute force */

static uint32_t root_of(uint32_t* into, uint32_t c)
{
    while (into[c] != c)
        c = into[c] = into[into[c]];
    return c;
}

/* Checks that pieces are the connected components by shared particles, by brute force; returns
 * their number. */
static uint32_t check_pieces(pl_breaking* b)
{
    pl_body* body = b->body;
    uint32_t clusters = body->level_begin[1], count = 0;
    uint32_t* into = malloc(sizeof *into * clusters);
    uint32_t* piece = malloc(sizeof *piece * clusters); /* by root: 1 + piece */
    uint8_t* seen = calloc(b->fracture->piece_count, 1);
    uint32_t* has = calloc(b->fracture->piece_count, sizeof *has);
    bool* alive = calloc(clusters, 1);
    memset(piece, 0, sizeof *piece * clusters);
    for (uint32_t c = 0; c < clusters; ++c)
        into[c] = c;
    for (uint32_t id = 0; id < body->particles.id_count; ++id)
    {
        uint32_t n;
        const pl_member* m = pl_edit_members(b->edit, body->particles.slot_of[id], &n);
        for (uint32_t i = 0; i < n; ++i)
        {
            alive[m[i].cluster] = true;
            into[root_of(into, m[i].cluster)] = root_of(into, m[0].cluster);
        }
    }
    for (uint32_t c = 0; c < clusters; ++c)
    {
        uint32_t is = body->clusters.piece[c], root = root_of(into, c);
        if (!alive[c])
            continue;
        ++has[is];
        if (!piece[root])
        {
            CHECK_MSG(!seen[is], "piece %u is in two parts", is);
            seen[is] = 1;
            piece[root] = is + 1;
            ++count;
        }
        CHECK_MSG(piece[root] == is + 1, "cluster %u is in piece %u, not %u", c, is,
                  piece[root] - 1);
    }
    for (uint32_t p = 0; p < b->fracture->piece_count; ++p)
        CHECK_MSG(has[p] == b->fracture->pieces[p].clusters, "piece %u has %u clusters, not %u", p,
                  has[p], b->fracture->pieces[p].clusters);
    free(into);
    free(piece);
    free(seen);
    free(has);
    free(alive);
    return count;
}

/* Random clusters are split across random directions, a thousand times and in several edits. */
TEST(pieces_are_what_brute_force_finds_after_every_split)
{
    breaking b = breaking_ghost(15, 15, 15, 300);
    pl_rng rng = pl_rng_seed(7);
    uint32_t wanted = test_quick() ? 150 : 1000, pieces = 1, splits = 0;
    breaking_tough(&b, .1);
    pl_body* body = breaking_body(&b);
    pl_scene* scene;
    CHECK(pl_get_scene(b.scene, &scene) == PLIANT_OK);
    pl_breaking work = {.scene = scene,
                        .body = body,
                        .fracture = body->fracture,
                        .substep = 1,
                        .moment = 1,
                        .time = 1,
                        .dt = 1};
    for (uint32_t edit = 0; pieces < wanted && edit < 40; ++edit)
    {
        CHECK(pl_pieces_ready(body, 1, 1) == PLIANT_OK);
        CHECK(pl_edit_begin(body, edit, &work.edit) == PLIANT_OK);
        for (uint32_t n = 0; n < 300 && pieces < wanted; ++n)
        {
            pl_fit fit;
            bool done;
            uint32_t c = (uint32_t)(pl_rng_unit(&rng) * body->level_begin[1]);
            if (!(body->clusters.fade[c] > 0))
                continue;
            CHECK(pl_fracture_fit(&work, c, &fit) == PLIANT_OK);
            vec3 n3 = v3(pl_rng_unit(&rng) - .5, pl_rng_unit(&rng) - .5, pl_rng_unit(&rng) - .5);
            fit.normal = v3_normalised(n3);
            CHECK(pl_split_cluster(&work, c, &fit, &done) == PLIANT_OK);
            splits += done;
            if (done)
                pieces = check_pieces(&work);
            CHECK(pl_pieces_now(body) == pieces);
        }
        CHECK(pl_edit_end(work.edit, NULL) == PLIANT_OK);
        body->fracture->stamp = edit % 3 ? pl_stamp(body) : 0; /* or counted anew */
    }
    CHECK_MSG(pieces >= wanted, "%u pieces after %u splits", pieces, splits);
    CHECK(breaking_info(&b).mass_quanta > 0 && breaking_info(&b).splits == splits);
    pl_breaking_free(&work);
    breaking_advance(&b, 2);
    breaking_free(&b);
}

/* ------------------------------------------------------------------ determinism */

static uint64_t played(uint32_t levels, uint32_t threads, uint32_t simd, int saved_at,
                       uint32_t* pieces)
{
    breaking b = breaking_bar(40);
    b.scene_desc.threads = threads;
    b.scene_desc.simd = simd;
    b.desc.material.strain_limit = .3;
    b.desc.levels.count = levels;
    b.desc.levels.reduction = 4;
    breaking_make_bar(&b);
    b.fracture.boost = 1;
    breaking_tough(&b, .03);
    for (int frame = 0; frame < 24; ++frame)
    {
        breaking_pull(&b, 1, .04);
        if (frame == saved_at)
            b.body = world_renew(b.scene);
    }
    *pieces = breaking_info(&b).pieces;
    uint64_t state = world_hash(b.scene);
    static const uint32_t channels[] = {PLIANT_PIECE, PLIANT_BIRTH, PLIANT_SPLIT_PLANE,
                                        PLIANT_DIVIDED};
    for (size_t i = 0; i < PL_COUNTOF(channels); ++i)
    {
        uint64_t bytes;
        void* data = world_read(b.body, channels[i], 0, &bytes);
        state = pl_hash(state, data, bytes);
        free(data);
    }
    breaking_free(&b);
    return state;
}

TEST(breaking_is_the_same_with_any_number_of_threads_and_on_every_path)
{
    for (uint32_t levels = test_quick() ? 3 : 1; levels <= 3; levels += 2)
    {
        uint32_t pieces, others, most = test_quick() ? 2 : 8;
        uint64_t expected = played(levels, 1, PLIANT_SIMD_AUTO, -1, &pieces);
        CHECK_MSG(pieces > 2, "%u pieces", pieces);
        for (uint32_t threads = 2; threads <= most; threads += threads == 3 ? 5 : 1)
            CHECK_MSG(played(levels, threads, PLIANT_SIMD_AUTO, -1, &others) == expected &&
                          others == pieces,
                      "%u threads, %u levels", threads, levels);
        for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
            if (pl_cpu_has(simd) && !test_quick())
                CHECK_MSG(played(levels, 1, simd, -1, &others) == expected, "%s, %u levels",
                          pl_cpu_path_name(simd), levels);
    }
}

TEST(breaking_goes_on_the_same_after_a_restore)
{
    for (uint32_t levels = test_quick() ? 3 : 1; levels <= 3; levels += 2)
    {
        uint32_t pieces, others;
        uint64_t expected = played(levels, 1, PLIANT_SIMD_AUTO, -1, &pieces);
        for (int at = 0; at < 24; at += test_quick() ? 12 : 3)
            CHECK_MSG(played(levels, 1, PLIANT_SIMD_AUTO, at, &others) == expected,
                      "saved at %d, %u levels", at, levels);
    }
}

/* ------------------------------------------------------------------ levels */

/* The finest clusters below a coarse cluster are connected. */
static void collect(const pl_body* body, uint32_t level, uint32_t c, bool* has)
{
    const pl_links* links = &body->links;
    if (level == 0)
        has[c] = true;
    for (uint32_t i = links->by_coarse_begin[c]; level && i < links->by_coarse_begin[c + 1]; ++i)
        collect(body, level - 1, links->fine[i], has);
}

static uint32_t parts_of(const pl_body* body, uint32_t level, uint32_t c)
{
    uint32_t finest = body->level_begin[1], parts = 0, *stack = calloc(finest, sizeof *stack);
    bool* has = calloc(finest, 1);
    collect(body, level, c, has);
    for (uint32_t f = 0; f < finest; ++f)
    {
        uint32_t count = 0;
        if (!has[f])
            continue;
        ++parts;
        stack[count++] = f;
        has[f] = false;
        while (count)
        {
            const pl_shares* shares = &body->fracture->shares[stack[--count]];
            for (uint32_t i = 0; i < shares->count; ++i)
                if (has[shares->items[i].cluster])
                {
                    has[shares->items[i].cluster] = false;
                    stack[count++] = shares->items[i].cluster;
                }
        }
    }
    free(stack);
    free(has);
    return parts;
}

TEST(coarse_clusters_come_apart_with_what_they_are_made_of)
{
    breaking b = breaking_bar(60);
    b.desc.levels.count = 0;
    b.desc.levels.reduction = 4;
    breaking_make_bar(&b);
    breaking_tough(&b, .03);
    const pl_body* body = breaking_body(&b);
    uint32_t levels = body->level_count, coarse = body->clusters.count - body->level_begin[1];
    CHECK(levels >= 3);
    for (int frame = 0; frame < 20; ++frame)
    {
        breaking_pull(&b, 1, .06);
        for (uint32_t l = 1; l < levels; ++l)
        {
            double mass = 0;
            for (uint32_t c = body->level_begin[l]; c < body->level_begin[l + 1]; ++c)
            {
                mass += body->clusters.mass[c];
                if (!(body->clusters.fade[c] > 0))
                    continue;
                uint32_t parts = parts_of(body, l, c);
                CHECK_MSG(parts == 1, "frame %d: cluster %u of level %u is in %u parts", frame,
                          c - body->level_begin[l], l, parts);
            }
            CHECK_NEAR(mass, body->mass, 1e-4 * body->mass);
        }
        for (uint32_t f = 0; f < body->level_begin[levels - 1]; ++f)
        {
            double sum = 0;
            for (uint32_t n = body->links.by_fine_begin[f]; n < body->links.by_fine_begin[f + 1];
                 ++n)
                sum += body->links.u[body->links.by_fine[n]];
            CHECK(body->clusters.fade[f] > 0 ? fabs(sum - 1) < 1e-5 : sum == 0);
        }
    }
    CHECK(breaking_info(&b).pieces > 2);
    CHECK(body->clusters.count - body->level_begin[1] > coarse);
    CHECK(world_finite(b.body));
    breaking_free(&b);
}

/* ------------------------------------------------------------------ momentum */

/* A bar that breaks by its own rotation: each piece conserves its momentum. */
static void spin_apart(uint32_t levels)
{
    breaking b = breaking_bar(40);
    b.desc.levels.count = levels;
    b.desc.levels.reduction = 4;
    breaking_make_bar(&b);
    CHECK_OK(pliant_body_set_pins(b.body, 0, NULL));
    breaking_tough(&b, .06);
    for (uint32_t i = 0; i < b.count; ++i)
    {
        float x = b.points.at[3 * i], y = b.points.at[3 * i + 1];
        b.x[3 * i] = -14 * y, b.x[3 * i + 1] = 14 * x, b.x[3 * i + 2] = 0;
    }
    CHECK_OK(pliant_body_set_particles(b.body, b.count, NULL, NULL, b.x));
    breaking_advance(&b, 12);
    pliant_body_info info = breaking_info(&b);
    CHECK_MSG(info.pieces >= 2, "%u pieces", info.pieces);
    b.fracture.toughness = INFINITY;
    breaking_tough(&b, INFINITY);
    double before[64][3] = {{0}}, after[64][3] = {{0}}, mass[64] = {0};
    REQUIRE(info.pieces_ever <= 64);
    for (int round = 0; round < 2; ++round)
    {
        uint32_t count, *piece = breaking_read(&b, PLIANT_PIECE, 4, &count);
        float* v = breaking_read(&b, PLIANT_VELOCITY, 12, NULL);
        float* m = breaking_read(&b, PLIANT_MASS, 4, NULL);
        for (uint32_t i = 0; i < count; ++i)
            for (uint32_t k = 0; k < 3; ++k)
            {
                (round ? after : before)[piece[i]][k] += (double)m[i] * v[3 * i + k];
                mass[piece[i]] += m[i] / 6;
            }
        free(piece);
        free(v);
        free(m);
        if (round == 0)
            breaking_advance(&b, 24);
    }
    for (uint32_t p = 0; p < info.pieces_ever; ++p)
        for (int k = 0; k < 3 && mass[p] > 0; ++k)
            CHECK_MSG(fabs(after[p][k] - before[p][k]) < 1e-4 * 14 * mass[p],
                      "piece %u went from %g to %g", p, before[p][k] / mass[p],
                      after[p][k] / mass[p]);
    breaking_free(&b);
}

TEST(pieces_keep_their_momentum)
{
    spin_apart(1);
    spin_apart(3);
}
