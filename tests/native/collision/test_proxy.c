// SPDX-License-Identifier: GPL-3.0-or-later
/* Contact proxies: half-spaces, containment, and maps to the world. */
#include "native/support/contact_bodies.h"

#include <base/rng.h>
#include <stdlib.h>
#include <string.h>

typedef struct shapes
{
    pl_body body;
    pl_proxies proxies;
    pl_proxy_pose* poses;
} shapes;

static bool make(shapes* s, scene_points points, uint32_t clusters)
{
    memset(s, 0, sizeof *s);
    if (!contact_body(&s->body, points, clusters))
        return false;
    pl_proxy_desc desc = pl_proxy_defaults(&s->body);
    CHECK_OK(pl_proxies_build(&s->body, &desc, &s->proxies));
    s->poses = calloc(s->proxies.count, sizeof *s->poses);
    return true;
}

static void drop(shapes* s)
{
    pl_proxies_free(&s->proxies);
    pl_body_free(&s->body);
    free(s->poses);
}

static uint32_t planes_of(const shapes* s, uint32_t c)
{
    return s->proxies.plane_begin[c + 1] - s->proxies.plane_begin[c];
}

/* How far a rest point is outside of the proxy: 0 or less is inside. */
static double outside(const shapes* s, uint32_t c, vec3 r)
{
    double most =
        v3_length(v3_sub(r, v3_from(s->body.clusters.centre[c]))) - s->body.clusters.radius[c];
    for (uint32_t i = s->proxies.plane_begin[c]; i < s->proxies.plane_begin[c + 1]; ++i)
        most = fmax(most, v3_dot(v3_from(s->proxies.plane[i]), r) + s->proxies.plane[i][3]);
    return most;
}

static void check_contains_members(const shapes* s)
{
    uint32_t checked = 0;
    for (uint32_t c = 0; c < s->proxies.count; ++c)
        for (uint32_t m = s->proxies.member_begin[c]; m < s->proxies.member_begin[c + 1]; ++m)
        {
            vec3 x = contact_world(&s->body, s->proxies.member_slot[m]);
            double out = outside(s, c, pl_pose_to_rest(&s->poses[c], x));
            CHECK_MSG(out < 1e-5, "a member of cluster %u is %g outside of its proxy", c, out);
            ++checked;
        }
    CHECK(checked >= s->body.particles.count);
}

static const mat3 sheared = {{{1.1, .8, 0}, {0, .9, .3}, {.2, 0, 1}}};

TEST(proxies_contain_their_members)
{
    shapes s;
    REQUIRE(make(&s, scene_points_box(14, 14, 3, 1, 1, .2, .5, 1), 24));
    contact_body_move(&s.body, sheared, v3(3, -2, 10));
    pl_poses_set(&s.body, &s.proxies, 0, contact_no_drift, 0, 0, s.proxies.count, s.poses);
    check_contains_members(&s);
    drop(&s);
}

TEST(sheets_get_half_spaces_and_solids_do_not)
{
    shapes s;
    REQUIRE(make(&s, scene_points_box(20, 20, 1, 1, 1, .05, 0, 1), 20));
    for (uint32_t c = 0; c < s.proxies.count; ++c)
    {
        bool up = false, down = false;
        for (uint32_t i = s.proxies.plane_begin[c]; i < s.proxies.plane_begin[c + 1]; ++i)
        {
            up |= s.proxies.plane[i][2] > .999f;
            down |= s.proxies.plane[i][2] < -.999f;
        }
        CHECK_MSG(up && down, "cluster %u of the sheet has no half-spaces along its normal", c);
        /* the layer has a thickness: outside above it, inside within it */
        vec3 r = v3_from(s.body.clusters.centre[c]);
        CHECK(outside(&s, c, r) < 0);
        CHECK(outside(&s, c, v3_add(r, v3(0, 0, s.body.spacing))) > 0);
    }
    drop(&s);
    REQUIRE(make(&s, scene_points_ball(600, .5, 1), 1));
    for (uint32_t c = 0; c < s.proxies.count; ++c)
        CHECK_MSG(planes_of(&s, c) == 0, "a ball has %u half-spaces", planes_of(&s, c));
    drop(&s);
}

TEST(normals_stay_normals_under_shear)
{
    shapes s;
    REQUIRE(make(&s, scene_points_box(20, 20, 1, 1, 1, .05, 0, 1), 12));
    contact_body_move(&s.body, sheared, v3(1, 2, 3));
    pl_poses_set(&s.body, &s.proxies, 0, contact_no_drift, 0, 0, s.proxies.count, s.poses);
    pl_rng rng = pl_rng_seed(5);
    for (uint32_t c = 0; c < s.proxies.count; ++c)
        for (uint32_t i = s.proxies.plane_begin[c]; i < s.proxies.plane_begin[c + 1]; ++i)
        {
            vec3 n = v3_from(s.proxies.plane[i]), world = pl_pose_normal_to_world(&s.poses[c], n);
            /* points of the rest plane map to the world plane, and back */
            vec3 on = v3_scale(n, -s.proxies.plane[i][3]);
            vec3 first = pl_pose_to_world(&s.poses[c], on);
            for (int j = 0; j < 4; ++j)
            {
                vec3 way = v3_cross(n, pl_rng_unit3(&rng));
                vec3 second = pl_pose_to_world(&s.poses[c], v3_add(on, way));
                CHECK_NEAR(v3_dot(world, v3_sub(second, first)), 0, 1e-6);
                CHECK_NEAR(pl_pose_plane_offset(&s.poses[c], n, second), s.proxies.plane[i][3],
                           1e-5);
            }
            vec3 back = pl_pose_normal_to_rest(&s.poses[c], world);
            CHECK_NEAR(v3_dot(back, n), 1, 1e-6);
            /* outward stays outward */
            vec3 beyond = pl_pose_to_world(&s.poses[c], v3_add(on, n));
            CHECK(v3_dot(world, v3_sub(beyond, first)) > 0);
        }
    drop(&s);
}

TEST(bounds_hold_proxies_and_are_tight)
{
    shapes s;
    REQUIRE(make(&s, scene_points_box(20, 20, 1, 1, 1, .05, 0, 1), 12));
    contact_body_move(&s.body, m3_identity(), v3(0, 0, 0));
    pl_poses_set(&s.body, &s.proxies, 0, contact_no_drift, 0, 0, s.proxies.count, s.poses);
    for (uint32_t c = 0; c < s.proxies.count; ++c)
        CHECK_MSG(s.poses[c].upper[2] - s.poses[c].lower[2] < 1.01 * s.body.spacing,
                  "the bounds of a layer are %g high", s.poses[c].upper[2] - s.poses[c].lower[2]);
    contact_body_move(&s.body, sheared, v3(1, 2, 3));
    pl_poses_set(&s.body, &s.proxies, 0, contact_no_drift, 0, 0, s.proxies.count, s.poses);
    pl_rng rng = pl_rng_seed(7);
    uint32_t inside = 0;
    for (uint32_t c = 0; c < s.proxies.count; ++c)
        for (int j = 0; j < 2000; ++j)
        {
            vec3 unit = v3_sub(v3_scale(pl_rng_unit3(&rng), 2), v3(1, 1, 1));
            unit.z *= s.body.spacing; /* most of the ball is cut off */
            /* particles beyond the rim belong to others, and so does the surface around them */
            vec3 r = v3_mad(v3_from(s.body.clusters.centre[c]), unit,
                            s.body.clusters.radius[c] - s.body.spacing);
            if (outside(&s, c, r) > 0 || pl_rest_sdf_distance(&s.body.rest_sdf, r, NULL) > 0)
                continue;
            vec3 x = pl_pose_to_world(&s.poses[c], r);
            const double at[3] = {x.x, x.y, x.z};
            ++inside;
            for (int k = 0; k < 3; ++k)
                CHECK(at[k] >= s.poses[c].lower[k] - 1e-9 && at[k] <= s.poses[c].upper[k] + 1e-9);
        }
    CHECK(inside > 2000);
    drop(&s);
}

/* Members' paths and the thickness are within the bounds. */
TEST(bounds_hold_the_paths_of_members)
{
    shapes s;
    REQUIRE(make(&s, scene_points_ball(200, .5, 1), 4));
    contact_body_move(&s.body, m3_identity(), v3(0, 0, 0));
    for (uint32_t i = 0; i < s.body.particles.slot_count; ++i)
        s.body.particles.v[0][i] = 10;
    pl_poses_set(&s.body, &s.proxies, .1, contact_no_drift, .25, 0, s.proxies.count, s.poses);
    for (uint32_t c = 0; c < s.proxies.count; ++c)
        for (uint32_t m = s.proxies.member_begin[c]; m < s.proxies.surface_end[c]; ++m)
        {
            vec3 x = contact_world(&s.body, s.proxies.member_slot[m]);
            CHECK(x.x - .9999 >= s.poses[c].part_lower[0] && x.x <= s.poses[c].part_upper[0]);
            CHECK(x.z + .2499 <= s.poses[c].shape_upper[2]);
            CHECK(s.poses[c].lower[0] <= s.poses[c].part_lower[0] &&
                  s.poses[c].upper[2] >= s.poses[c].shape_upper[2]);
        }
    drop(&s);
}

/* Surface particles gathered in slot order end in their clusters' eights, with the same bounds as
 * from the body's arrays. */
TEST(gathered_surfaces_have_the_same_bounds)
{
    shapes s;
    REQUIRE(make(&s, scene_points_ball(500, .5, 1), 9));
    pl_particles* p = &s.body.particles;
    contact_body_move(&s.body, m3_identity(), v3(1, 2, 3));
    for (uint32_t i = 0; i < p->slot_count; ++i)
        p->v[0][i] = (float)(i % 7), p->v[2][i] = -(float)(i % 5);
    uint32_t count = s.proxies.eight_begin[s.proxies.count];
    pl_surface_eight* eights = PL_NEW(pl_surface_eight, count);
    pl_proxy_pose* poses = PL_NEW(pl_proxy_pose, s.proxies.count);
    REQUIRE(eights && poses && count > 0);
    pl_surface_gather(&s.body, &s.proxies, 0, 8 * count, eights);
    for (uint32_t i = 1; i < 8 * count; ++i)
        CHECK(s.proxies.surface[i - 1].slot <= s.proxies.surface[i].slot);
    for (uint32_t c = 0; c < s.proxies.count; ++c)
        for (uint32_t m = s.proxies.member_begin[c]; m < s.proxies.surface_end[c]; ++m)
        {
            uint32_t at = m - s.proxies.member_begin[c], slot = s.proxies.member_slot[m];
            const pl_surface_eight* eight = &eights[s.proxies.eight_begin[c] + at / 8];
            for (int k = 0; k < 3; ++k)
                CHECK(eight->x[k][at % 8] == p->x[k][slot] && eight->v[k][at % 8] == p->v[k][slot]);
        }
    pl_poses_set(&s.body, &s.proxies, .1, contact_no_drift, .25, 0, s.proxies.count, s.poses);
    pl_poses_follow(&s.body, &s.proxies, eights, .1, contact_no_drift, .25, 0, s.proxies.count,
                    poses);
    for (uint32_t c = 0; c < s.proxies.count; ++c)
        for (int k = 0; k < 3; ++k)
            CHECK(poses[c].part_lower[k] == s.poses[c].part_lower[k] &&
                  poses[c].part_upper[k] == s.poses[c].part_upper[k]);
    pl_free(eights);
    pl_free(poses);
    drop(&s);
}

TEST(flat_and_inverted_deformations_are_mended)
{
    pl_rng rng = pl_rng_seed(3);
    for (int i = 0; i < 500; ++i)
    {
        vec3 a = v3_sub(pl_rng_unit3(&rng), v3(.5, .5, .5));
        vec3 b = v3_sub(pl_rng_unit3(&rng), v3(.5, .5, .5));
        vec3 c = v3_sub(pl_rng_unit3(&rng), v3(.5, .5, .5));
        mat3 f = {{{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}}};
        if (i % 5 == 1) /* flat */
            f.m[2][0] = f.m[1][0], f.m[2][1] = f.m[1][1], f.m[2][2] = f.m[1][2];
        if (i % 5 == 2) /* a needle */
            f = m3_outer(a, b);
        if (i % 5 == 3)
            f = m3_zero();
        mat3 mended = pl_pose_mend(f), inverse = m3_inverse(mended), one = m3_mul(inverse, mended);
        CHECK(m3_det(mended) > 0);
        for (int j = 0; j < 9; ++j)
            CHECK_NEAR(one.m[j / 3][j % 3], j % 4 == 0, 1e-9);
        /* no singular value falls below the floor */
        double most = 0, least = INFINITY;
        for (int j = 0; j < 200; ++j)
        {
            vec3 d = v3_normalised(v3_sub(pl_rng_unit3(&rng), v3(.5, .5, .5)));
            most = fmax(most, v3_length(m3_mulv(mended, d)));
            least = fmin(least, v3_length(m3_mulv(mended, d)));
        }
        CHECK_MSG(least >= .999 * PL_POSE_FLATTEST * most, "case %d: %g of %g", i, least, most);
    }
    mat3 same = pl_pose_mend(sheared);
    CHECK(memcmp(&same, &sheared, sizeof same) == 0);
    /* a reflection along z is flipped along some direction, the others stay */
    mat3 mirrored = {{{2, 0, 0}, {0, 1.5, 0}, {0, 0, -.5}}}, right = pl_pose_mend(mirrored);
    CHECK_NEAR(right.m[0][0], 2, 1e-12);
    CHECK_NEAR(right.m[1][1], 1.5, 1e-12);
    CHECK_NEAR(right.m[2][2], .5, 1e-12);
}
