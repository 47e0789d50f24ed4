// SPDX-License-Identifier: GPL-3.0-or-later
/* The surface of a body at rest: where it is, how flat, and which way is out. */
#include "native/support/contact_bodies.h"

#include <base/rng.h>

/* A box of particles has flat faces half a spacing outside of them, and depth inside. */
TEST(faces_of_a_box_are_flat)
{
    pl_body body;
    REQUIRE(contact_body(&body, scene_points_box(10, 10, 10, 1, 1, 1, 0, 1), 8));
    double h = body.spacing;
    CHECK_NEAR(h, .1, .01);
    pl_rng rng = pl_rng_seed(3);
    for (int i = 0; i < 500; ++i)
    {
        vec3 u = pl_rng_unit3(&rng);
        double height = .1 + .4 * u.z + .15; /* from .25 inside of the face to .15 outside */
        vec3 at = v3(.5 * u.x - .25, .5 * u.y - .25, height), slope;
        double off = height - .5;
        double d = pl_rest_sdf_distance(&body.rest_sdf, at, &slope);
        CHECK_MSG(fabs(d - off) < (off < -.2 ? .25 : .12) * h, "%g above the face it is %g away",
                  off, d);
        if (off > -.3 * .5 && fabs(off) > .02)
            CHECK_MSG(slope.z > .9, "%g above the face the way out is (%g %g %g)", off, slope.x,
                      slope.y, slope.z);
    }
    CHECK(pl_rest_sdf_distance(&body.rest_sdf, v3(0, 0, 0), NULL) < -.4);
    CHECK_NEAR(pl_rest_sdf_distance(&body.rest_sdf, v3(0, 0, 3), NULL), 2.5, .3);
    pl_body_free(&body);
}

TEST(one_layer_has_two_sides)
{
    pl_body body;
    REQUIRE(contact_body(&body, scene_points_box(20, 20, 1, 2, 2, .1, 0, 1), 12));
    for (int side = -1; side <= 1; side += 2)
        for (int i = 0; i < 30; ++i)
        {
            vec3 slope, at = v3(-.7 + .05 * i, .3 - .01 * i, side * .07);
            CHECK_NEAR(pl_rest_sdf_distance(&body.rest_sdf, at, &slope), .02, .015);
            CHECK(side * slope.z > .9);
            CHECK(pl_rest_sdf_distance(&body.rest_sdf, v3(at.x, at.y, 0), NULL) < -.02);
        }
    pl_body_free(&body);
}

/* What touches others: one layer of particles, each at home in one cluster. */
TEST(surface_particles_are_the_outer_ones)
{
    pl_body body;
    pl_proxies proxies;
    REQUIRE(contact_body(&body, scene_points_box(10, 10, 10, 1, 1, 1, 0, 1), 8));
    pl_proxy_desc desc = pl_proxy_defaults(&body);
    REQUIRE_OK(pl_proxies_build(&body, &desc, &proxies));
    uint32_t surface = 0, home = 0;
    for (uint32_t c = 0; c < proxies.count; ++c)
    {
        surface += proxies.surface_end[c] - proxies.member_begin[c];
        home += proxies.home_end[c] - proxies.member_begin[c];
        CHECK(proxies.surface_end[c] - proxies.member_begin[c] <= proxies.most_surface);
    }
    CHECK_MSG(surface == 1000 - 8 * 8 * 8, "%u particles are at the surface", surface);
    CHECK(home == 1000);
    pl_proxies_free(&proxies);
    pl_body_free(&body);
}
