// SPDX-License-Identifier: GPL-3.0-or-later
/* Bodies that came apart: their pieces touch each other at the crack, at once and without a jump.
 */
#include "body/validity.h"
#include "collision/cluster/stage.h"
#include "native/support/cutting.h"
#include "native/support/world.h"

#include <api/api.h>

/* A beam along x. */
static contact_scene beam(uint32_t threads, double gravity)
{
    contact_scene s = contact_scene_open(threads, gravity);
    contact_scene_enable(&s);
    scene_points points = scene_points_box(24, 6, 6, 2.4, .6, .6, .5, 1);
    pliant_body_desc desc;
    pliant_body body;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.points = points.at;
    desc.point_count = points.count;
    desc.cluster.count = 24;
    desc.material.damping = 1;
    desc.material.stiffness = 8;
    desc.material.strain_limit = .2;
    CHECK_OK(pliant_body_create(s.handle, &desc, &body));
    scene_points_free(&points);
    return s;
}

static const vec3 nowhere = {0, 0, 0}, along = {1, 0, 0};

static pl_body* body_of(const contact_scene* s)
{
    return s->scene->bodies[0];
}

/* Half that a particle belongs to: by the side of the first split that divided it, or by its
 * position. */
static bool is_right(const pl_body* body, uint32_t slot)
{
    uint32_t at = body->cuts.last[body->particles.id[slot]];
    return at ? body->cuts.cut[at - 1].side & 1 : pl_rest_of(body, slot).x > 0;
}

typedef struct half
{
    double mass;
    vec3 centre, velocity;
} half;

static half half_of(const pl_body* body, bool right)
{
    const pl_particles* p = &body->particles;
    half h = {0, {0, 0, 0}, {0, 0, 0}};
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        if (!(p->mass[s] > 0) || is_right(body, s) != right)
            continue;
        h.mass += p->mass[s];
        h.centre = v3_mad(h.centre, contact_world(body, s), p->mass[s]);
        h.velocity = v3_mad(h.velocity, v3(p->v[0][s], p->v[1][s], p->v[2][s]), p->mass[s]);
    }
    h.centre = v3_scale(h.centre, 1 / h.mass);
    h.velocity = v3_scale(h.velocity, 1 / h.mass);
    return h;
}

static void throw(pl_body * body, bool right, vec3 v)
{
    pl_particles* p = &body->particles;
    for (uint32_t s = 0; s < p->slot_count; ++s)
        if (p->mass[s] > 0 && is_right(body, s) == right)
            p->v[0][s] = (float)v.x, p->v[1][s] = (float)v.y, p->v[2][s] = (float)v.z;
    pl_positions_changed(body);
}

static double greatest_speed(const pl_body* body)
{
    const pl_particles* p = &body->particles;
    double most = 0;
    for (uint32_t s = 0; s < p->slot_count; ++s)
        most = fmax(most, v3_length(v3(p->v[0][s], p->v[1][s], p->v[2][s])));
    return most;
}

TEST(halves_of_a_beam_know_their_sides)
{
    contact_scene s = beam(1, 0);
    REQUIRE_OK(contact_scene_advance(&s, 1, 2));
    pl_body* body = body_of(&s);
    uint32_t splits = cut_body(&s, body, along, nowhere, nowhere);
    CHECK(splits >= 2 && body->cuts.plane_count == splits);
    REQUIRE_OK(contact_scene_advance(&s, 1, 2));
    CHECK(body->valid.cuts && body->cuts.piece[0] != body->cuts.piece[23]);
    /* no cluster has members of both halves, and each has the sides of its own */
    const pl_proxies* k = &body->proxies;
    uint32_t cut = 0, at_crack = 0;
    for (uint32_t c = 0; c < k->count; ++c)
    {
        if (k->member_begin[c] == k->member_begin[c + 1])
            continue;
        bool right = is_right(body, k->member_slot[k->member_begin[c]]);
        for (uint32_t m = k->member_begin[c]; m < k->member_begin[c + 1]; ++m)
            CHECK(is_right(body, k->member_slot[m]) == right);
        for (uint32_t i = body->cuts.side_begin[c]; i < body->cuts.side_begin[c + 1]; ++i, ++cut)
            CHECK((body->cuts.side[i] & 1) == right);
        for (uint32_t d = 0; d < c; ++d)
        {
            if (k->member_begin[d] == k->member_begin[d + 1])
                continue;
            bool across = is_right(body, k->member_slot[k->member_begin[d]]) != right;
            CHECK(!(across && pl_collision_filter_shares(&body->collision_filter, c, d)));
            CHECK(!across == (body->cuts.piece[c] == body->cuts.piece[d]));
            if (pl_cuts_between(&body->cuts, c, d))
                CHECK(across);
        }
        /* a point well inside the other half is outside this one */
        vec3 middle = v3_from(body->clusters.in_body[c]);
        vec3 inside = v3(right ? -.1 : .1, .5 * middle.y, .5 * middle.z);
        if (body->cuts.side_begin[c] < body->cuts.side_begin[c + 1] && fabs(middle.x) < .15)
        {
            vec3 slope;
            double out = pl_cluster_distance(body, c, inside, &slope);
            CHECK_MSG(out > .05 && out < .15, "cluster %u: %g beyond the crack", c, out);
            CHECK((right ? -1 : 1) * slope.x > .6);
            vec3 own = v3(-inside.x, inside.y, inside.z);
            CHECK(pl_cluster_distance(body, c, own, NULL) <=
                  fmax(-.05, pl_rest_sdf_distance(&body->rest_sdf, own, NULL)));
        }
    }
    CHECK(cut > 10);
    /* there is a surface beside it */
    for (uint32_t c = 0; c < k->count; ++c)
        for (uint32_t m = k->member_begin[c]; m < k->surface_end[c]; ++m)
        {
            vec3 r = pl_rest_of(body, k->member_slot[m]);
            at_crack += fabs(r.x) < .08 && fabs(r.y) < .15 && fabs(r.z) < .15;
        }
    CHECK_MSG(at_crack > 4, "%u particles at the crack", at_crack);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* Splitting clusters one after the other leaves copies in clusters of the other side: these are
 * ghosts without contacts. */
TEST(copies_across_a_crack_are_ghosts)
{
    contact_scene s = beam(1, 0);
    REQUIRE_OK(contact_scene_advance(&s, 1, 2));
    pl_body* body = body_of(&s);
    uint32_t cluster = 0;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (fabs(body->clusters.rest[c][0]) < fabs(body->clusters.rest[cluster][0]))
            cluster = c;
    vec3 at = break_cluster_place(body, cluster);
    REQUIRE(break_cluster(body, cluster, along, at, 0));
    REQUIRE_OK(contact_scene_advance(&s, 1, 2));
    uint32_t ghosts = 0, copies = 0;
    for (uint32_t slot = 0; slot < body->particles.slot_count; ++slot)
    {
        if (!(body->particles.mass[slot] > 0))
            continue;
        uint32_t id = body->particles.id[slot], last = body->cuts.last[id];
        double beyond = (pl_rest_of(body, slot).x - at.x) / body->spacing;
        beyond = last && body->cuts.cut[last - 1].side & 1 ? -beyond : beyond;
        copies += body->particles.parent[id] != id;
        ghosts += body->cuts.ghost[slot];
        CHECK(last || !body->cuts.ghost[slot]);
        CHECK_MSG(!(beyond > .6 && last) || body->cuts.ghost[slot], "%g beyond the crack", beyond);
        CHECK_MSG(!(beyond < -.6) || !body->cuts.ghost[slot], "a ghost %g inside", beyond);
    }
    CHECK_MSG(ghosts > 20 && ghosts == copies, "%u ghosts of %u copies", ghosts, copies);
    const pl_proxies* k = &body->proxies;
    for (uint32_t c = 0; c < k->count; ++c)
        for (uint32_t m = k->member_begin[c]; m < k->surface_end[c]; ++m)
            CHECK(!body->cuts.ghost[k->member_slot[m]]);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* Splits by the fracture stage, one cluster after the other, leave small pieces and pieces that
 * interpenetrate. Contacts must not push them apart. */
TEST(crumbs_stay_where_they_are)
{
    contact_scene s = beam(1, 0);
    REQUIRE_OK(contact_scene_advance(&s, 1, 2));
    pl_body* body = body_of(&s);
    CHECK(break_clusters(&s, body, along, nowhere, 0) > 4);
    CHECK(break_clusters(&s, body, v3(.7, .7, 0), v3(.3, 0, 0), 0) > 4);
    double most = 0, moved = 0;
    for (int frame = 0; frame < 24; ++frame)
    {
        REQUIRE_OK(contact_scene_advance(&s, 1, 4));
        most = fmax(most, greatest_speed(body));
    }
    for (uint32_t slot = 0; slot < body->particles.slot_count; ++slot)
        if (body->particles.mass[slot] > 0)
            moved =
                fmax(moved, v3_length(v3_sub(contact_world(body, slot), pl_rest_of(body, slot))));
    CHECK_MSG(most < 2 * body->spacing && moved < .5 * body->spacing,
              "something moves %g spacings with %g spacings a second", moved / body->spacing,
              most / body->spacing);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* Largest speed within some frames after a break without load. */
TEST(nothing_jumps_when_a_body_breaks)
{
    contact_scene s = beam(1, 0);
    REQUIRE_OK(contact_scene_advance(&s, 2, 2));
    pl_body* body = body_of(&s);
    CHECK(cut_body(&s, body, along, nowhere, nowhere) > 0);
    double most = 0;
    uint64_t contacts = 0;
    for (int frame = 0; frame < 24; ++frame)
    {
        REQUIRE_OK(contact_scene_advance(&s, 1, 4));
        most = fmax(most, greatest_speed(body));
        contacts += s.scene->contacts;
    }
    CHECK_MSG(contacts > 24, "%d contacts", (int)contacts);
    CHECK_MSG(most < .01 * body->spacing, "something moves with %g spacings a second",
              most / body->spacing);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* In a bent and twisted body, clusters disagree about the position of the crack. Contacts must
 * still not move anything when it breaks. */
TEST(nothing_jumps_when_a_bent_body_breaks)
{
    contact_scene s = beam(1, 0);
    pl_body* body = body_of(&s);
    pl_particles* p = &body->particles;
    REQUIRE_OK(contact_scene_advance(&s, 1, 4));
    /* only contacts can move it */
    body->material.stiffness = body->material.strain_limit = 0;
    pl_material_changed(body);
    for (uint32_t slot = 0; slot < p->slot_count; ++slot)
    {
        /* twisted about x, and bent */
        vec3 x = contact_world(body, slot);
        double angle = 2 * x.x, bow = .8 * x.x * x.x;
        p->x[1][slot] = (float)(cos(angle) * x.y - sin(angle) * x.z - body->origin[1]);
        p->x[2][slot] = (float)(sin(angle) * x.y + cos(angle) * x.z + bow - body->origin[2]);
    }
    pl_positions_changed(body);
    CHECK(cut_body(&s, body, v3(.8, .6, 0), v3(.3, 0, 0), nowhere) > 0);
    double most = 0;
    uint64_t contacts = 0;
    for (int frame = 0; frame < 24; ++frame)
    {
        REQUIRE_OK(contact_scene_advance(&s, 1, 4));
        contacts += s.scene->contacts;
        most = fmax(most, greatest_speed(body));
    }
    CHECK_MSG(contacts > 20, "%d contacts", (int)contacts);
    CHECK_MSG(most < 1.5 * body->spacing, "something moves with %g spacings a second",
              most / body->spacing);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* Halves that are pressed together, also after they were separated, do not interpenetrate and
 * conserve momentum. */
static void press(bool bent, double apart)
{
    contact_scene s = beam(1, 0);
    REQUIRE_OK(contact_scene_advance(&s, 2, 4));
    pl_body* body = body_of(&s);
    CHECK(cut_body(&s, body, bent ? v3(.9, .43, 0) : along, nowhere, nowhere) > 0);
    if (apart > 0)
    {
        throw(body, true, v3(apart, 0, 0));
        REQUIRE_OK(contact_scene_advance(&s, 6, 4));
        CHECK(s.scene->contacts == 0);
    }
    double before = v3_length(v3_sub(half_of(body, true).centre, half_of(body, false).centre));
    throw(body, true, v3(-.5, 0, 0));
    throw(body, false, v3(.5, 0, 0));
    double least = INFINITY;
    uint64_t contacts = 0;
    half left = half_of(body, false), right = half_of(body, true);
    vec3 start = v3_add(v3_scale(left.velocity, left.mass), v3_scale(right.velocity, right.mass));
    for (int frame = 0; frame < 20; ++frame)
    {
        REQUIRE_OK(contact_scene_advance(&s, 1, 8));
        left = half_of(body, false), right = half_of(body, true);
        least = fmin(least, right.centre.x - left.centre.x);
        contacts += s.scene->contacts;
        vec3 now = v3_add(v3_scale(left.velocity, left.mass), v3_scale(right.velocity, right.mass));
        CHECK_MSG(v3_length(v3_sub(now, start)) < 1e-5 * body->mass, "momentum changed by %g",
                  v3_length(v3_sub(now, start)));
    }
    CHECK(contacts > 20);
    /* without contact they would have gone through each other */
    double sunk = before - apart * 6 / 24. - least;
    CHECK_MSG(sunk < 1.5 * body->spacing, "they are %g spacings in each other",
              sunk / body->spacing);
    CHECK_MSG(right.velocity.x - left.velocity.x > .1, "they part with %g of 1",
              right.velocity.x - left.velocity.x);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

TEST(halves_collide_at_once)
{
    press(false, 0);
    press(true, 0);
}

TEST(halves_that_were_apart_meet_again)
{
    press(false, 1);
}

/* A slit that ends inside: its faces touch when the beam is bent to close it. */
TEST(faces_of_a_slit_touch)
{
    contact_scene s = beam(1, 0);
    REQUIRE_OK(contact_scene_advance(&s, 2, 4));
    pl_body* body = body_of(&s);
    CHECK(cut_body(&s, body, along, nowhere, v3(0, 0, -1)) > 0);
    REQUIRE_OK(contact_scene_advance(&s, 1, 4));
    double calm = greatest_speed(body);
    CHECK_MSG(calm < .05 * body->spacing, "a slit makes something move with %g spacings a second",
              calm / body->spacing);
    pl_particles* p = &body->particles;
    for (uint32_t slot = 0; slot < p->slot_count; ++slot)
        if (p->mass[slot] > 0 && contact_world(body, slot).z > 0)
            p->v[0][slot] = is_right(body, slot) ? -1 : 1;
    uint64_t contacts = 0;
    for (int frame = 0; frame < 8; ++frame)
    {
        REQUIRE_OK(contact_scene_advance(&s, 1, 8));
        contacts += s.scene->contacts;
        double most = 0;
        for (uint32_t slot = 0; slot < p->slot_count; ++slot)
        {
            double x = contact_world(body, slot).x;
            if (p->mass[slot] > 0 && body->cuts.last[p->id[slot]] && !body->cuts.ghost[slot])
                most = fmax(most, is_right(body, slot) ? -x : x);
        }
        CHECK_MSG(most < 1.5 * body->spacing, "frame %d: %g spacings across the slit", frame,
                  most / body->spacing);
    }
    CHECK(contacts > 4);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* A half that stands on its crack is supported by solid particles, not by ghosts. */
TEST(a_piece_rests_on_its_crack)
{
    contact_scene s = beam(1, -9.81);
    pliant_collider_desc ground;
    pliant_collider floor;
    pliant_collider_desc_init(&ground, sizeof ground);
    ground.pose.rotation[0] = sqrt(.5), ground.pose.rotation[2] = sqrt(.5); /* the plane x = 0 */
    ground.pose.position[0] = -.01;
    CHECK_OK(pliant_collider_create(s.handle, &ground, &floor));
    pl_body* body = body_of(&s);
    REQUIRE_OK(pl_scene_refresh(s.scene));
    CHECK(break_clusters(&s, body, along, nowhere, .25) > 0);
    /* the left half is taken out of the way */
    s.scene->gravity[0] = -9.81, s.scene->gravity[2] = 0;
    for (uint32_t slot = 0; slot < body->particles.slot_count; ++slot)
        if (body->particles.mass[slot] > 0 && !is_right(body, slot))
            body->particles.x[1][slot] += 20;
    pl_positions_changed(body);
    REQUIRE_OK(contact_scene_advance(&s, 48, 8));
    double lowest = INFINITY, ghost = INFINITY;
    for (uint32_t slot = 0; slot < body->particles.slot_count; ++slot)
        if (body->particles.mass[slot] > 0 && is_right(body, slot))
        {
            double x = contact_world(body, slot).x;
            lowest = fmin(lowest, body->cuts.ghost[slot] ? INFINITY : x);
            ghost = fmin(ghost, body->cuts.ghost[slot] ? x : INFINITY);
        }
    CHECK_MSG(fabs(lowest + .01) < .1 * body->spacing, "it stands %g spacings above the floor",
              (lowest + .01) / body->spacing);
    CHECK_MSG(ghost < -body->spacing, "ghosts are held up at %g spacings", ghost / body->spacing);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* Breaks a body, with an optional save and restore in between. */
static uint64_t played(uint32_t threads, bool save)
{
    contact_scene s = beam(threads, 0);
    CHECK_OK(contact_scene_advance(&s, 1, 3));
    pl_body* body = body_of(&s);
    CHECK(break_clusters(&s, body, v3(.9, .43, 0), nowhere, 0) > 0);
    CHECK_OK(contact_scene_advance(&s, 1, 3));
    throw(body, true, v3(-.5, .1, 0));
    CHECK_OK(contact_scene_advance(&s, 1, 3));
    CHECK(s.scene->contacts > 0);
    if (save)
    {
        uint64_t bytes;
        void* block = world_save(s.handle, &bytes);
        CHECK_OK(pliant_scene_restore(s.handle, block, bytes));
        free(block);
    }
    CHECK_OK(contact_scene_advance(&s, 3, 4));
    uint64_t hash = world_hash(s.handle);
    CHECK_OK(pliant_scene_destroy(s.handle));
    return hash;
}

TEST(cracks_are_the_same_for_every_thread_count_and_when_saved)
{
    uint64_t expected = played(1, false);
    CHECK(played(2, false) == expected && played(3, false) == expected);
    CHECK_MSG(played(1, true) == expected, "restored, it goes another way");
}

TEST(splits_that_are_none_are_refused)
{
    contact_scene s = beam(1, 0);
    pl_body* body = body_of(&s);
    uint32_t split = 7;
    pl_cut_plane plane = {.plane = {0, 0, 0, 1}};
    CHECK(pl_cuts_plane(body, &plane, &split) == PLIANT_ERROR_ARGUMENT);
    plane.plane[1] = NAN;
    CHECK(pl_cuts_plane(body, &plane, &split) == PLIANT_ERROR_ARGUMENT);
    CHECK(strstr(pliant_last_error(), "nan"));
    plane.plane[1] = 2;
    CHECK_OK(pl_cuts_plane(body, &plane, &split));
    CHECK(split == 0 && body->cuts.plane[0].plane[1] == 1 && body->cuts.plane[0].plane[3] == .5f);
    CHECK(pl_cuts_note(body, 0, 1, true) == PLIANT_ERROR_ARGUMENT);
    CHECK(pl_cuts_note(body, body->particles.id_count, 0, true) == PLIANT_ERROR_ARGUMENT);
    CHECK_OK(pl_cuts_note(body, 0, 0, true));
    CHECK_OK(contact_scene_advance(&s, 1, 2));
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* The contact surface does not change when clusters get rest shapes of their own. */
TEST(own_rest_spaces_have_the_same_surface)
{
    contact_scene s = beam(1, 0);
    REQUIRE_OK(contact_scene_advance(&s, 1, 2));
    pl_body* body = body_of(&s);
    uint32_t count = body->proxies.count;
    pl_proxy_pose* before = calloc(count, sizeof *before);
    pl_proxy_pose* after = calloc(count, sizeof *after);
    pl_poses_set(body, &body->proxies, 0, contact_no_drift, 0, 0, count, before);
    const mat3 a = {{{1.5, .4, 0}, {0, .8, 0}, {.1, 0, 1.1}}};
    pl_edit* edit = NULL;
    CHECK_OK(pl_edit_begin(body, 1, &edit));
    for (uint32_t slot = 0; slot < body->particles.slot_count; ++slot)
    {
        pl_member own[64];
        uint32_t n;
        if (!(body->particles.mass[slot] > 0))
            continue;
        const pl_member* members = pl_edit_members(edit, slot, &n);
        memcpy(own, members, n * sizeof *own);
        for (uint32_t i = 0; i < n; ++i)
        {
            vec3 rest = v3_from(body->clusters.rest[own[i].cluster]);
            vec3 p = m3_mulv(a, v3_sub(v3_fromd(own[i].rest), rest));
            own[i].rest[0] = rest.x + p.x, own[i].rest[1] = rest.y + p.y;
            own[i].rest[2] = rest.z + p.z;
        }
        CHECK_OK(pl_edit_set(edit, slot, own, n));
    }
    CHECK_OK(pl_edit_end(edit, NULL));
    REQUIRE_OK(pl_scene_refresh(s.scene));
    CHECK_OK(pl_proxies_list_members(body, &body->proxies));
    pl_poses_set(body, &body->proxies, 0, contact_no_drift, 0, 0, count, after);
    double off = 0, ball = 0;
    for (uint32_t c = 0; c < count; ++c)
    {
        CHECK(body->clusters.own[c]);
        for (int i = 0; i < 8; ++i)
        {
            vec3 r = v3_add(v3_fromd(before[c].rest),
                            v3(i & 1 ? .2 : -.2, i & 2 ? .2 : -.2, i & 4 ? .2 : -.2));
            off = fmax(off, v3_length(v3_sub(pl_pose_to_world(&after[c], r),
                                             pl_pose_to_world(&before[c], r))));
        }
        for (int k = 0; k < 3; ++k)
            ball = fmax(ball, fabs(after[c].part_lower[k] - before[c].part_lower[k]));
    }
    CHECK_MSG(off < 1e-4, "a surface is %g off", off);
    CHECK_MSG(ball < 1e-4, "bounds of particles are %g off", ball);
    /* contacts with a neighbouring body do not change either */
    REQUIRE_OK(contact_scene_advance(&s, 1, 1));
    CHECK(s.scene->contacts == 0);
    free(before);
    free(after);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* A dead cluster has no contacts. */
TEST(dead_clusters_are_not_touched)
{
    contact_scene s = beam(1, 0);
    REQUIRE_OK(contact_scene_advance(&s, 1, 2));
    pl_body* body = body_of(&s);
    pl_edit* edit = NULL;
    uint32_t dead = 0, count, slot = body->particles.slot_of[0];
    CHECK_OK(pl_edit_begin(body, 1, &edit));
    CHECK_OK(pl_edit_add_cluster(edit, 12, &dead)); /* it gets no members */
    pl_member own[64];
    memcpy(own, pl_edit_members(edit, slot, &count), sizeof own[0]);
    CHECK_OK(pl_edit_set(edit, slot, own, 1));
    CHECK_OK(pl_edit_end(edit, NULL));
    CHECK(!(body->clusters.fade[dead] > 0));
    REQUIRE_OK(contact_scene_advance(&s, 1, 2));
    pl_proxy_pose* poses = calloc(body->proxies.count, sizeof *poses);
    pl_poses_set(body, &body->proxies, 0, contact_no_drift, .1, 0, body->proxies.count, poses);
    for (uint32_t c = 0; c < body->proxies.count; ++c)
        for (int k = 0; k < 3; ++k)
        {
            bool there = poses[c].shape_lower[k] <= poses[c].shape_upper[k];
            CHECK(there == (body->clusters.fade[c] > 0));
            CHECK(there || !(poses[c].part_lower[k] <= poses[c].part_upper[k]));
        }
    free(poses);
    CHECK_OK(pliant_scene_destroy(s.handle));
}

/* Welds follow the piece that their anchor is part of. */
TEST(welds_follow_what_breaks)
{
    contact_scene s = beam(1, 0);
    scene_points points = scene_points_box(6, 6, 6, .6, .6, .6, .5, 2);
    pliant_body_desc desc;
    pliant_body box;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.points = points.at;
    desc.point_count = points.count;
    desc.points_origin[2] = .6;
    desc.cluster.count = 4;
    CHECK_OK(pliant_body_create(s.handle, &desc, &box));
    scene_points_free(&points);
    uint32_t count = 0;
    REQUIRE_OK(pl_scene_make_welds(s.scene, 1, 0, 0, .1, INFINITY, &count));
    CHECK(count > 20);
    pl_body* body = body_of(&s);
    CHECK(cut_body(&s, body, along, nowhere, nowhere) > 0);
    REQUIRE_OK(contact_scene_advance(&s, 1, 2));
    uint32_t checked = 0;
    for (size_t i = 0; i < s.scene->welds.count; ++i)
    {
        const pl_weld* weld = &s.scene->welds.items[i];
        if (weld->other != 0 || fabs(weld->anchor[0]) < .1)
            continue;
        const pl_proxies* k = &body->proxies;
        REQUIRE(k->member_begin[weld->target] < k->member_begin[weld->target + 1]);
        uint32_t first = k->member_slot[k->member_begin[weld->target]];
        CHECK_MSG(is_right(body, first) == (weld->anchor[0] > 0),
                  "a weld at %g holds the other half", weld->anchor[0]);
        ++checked;
    }
    CHECK(checked > 8);
    CHECK_OK(pliant_scene_destroy(s.handle));
}
