// SPDX-License-Identifier: GPL-3.0-or-later
/* Small clusters whose flow becomes their rest shape. */
#include "body/validity.h"
#include "native/support/small_body.h"

#include <api/api.h>
#include <plasticity/recluster_internal.h>
#include <string.h>

typedef struct crumb
{
    pliant_scene scene;
    pliant_body handle;
    pl_body* body;
} crumb;

/* Eight particles in one cluster, stretched to 1.6 times their length at constant volume: all of it
 * plastic, except for a small elastic strain. */
static crumb crumb_of(uint32_t particles, uint32_t levels)
{
    static const float corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                        {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    crumb one = {.scene = make_scene()};
    pliant_body_desc desc;
    pliant_fracture_desc fracture;
    pl_scene* scene;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.point_count = particles;
    desc.points = corners[0];
    desc.cluster.count = levels;
    desc.levels.count = levels;
    desc.levels.reduction = 2;
    desc.cluster.radius = 3;
    desc.material.yield = .5;
    desc.material.recluster = PLIANT_RECLUSTER_OFF;
    CHECK_OK(pliant_scene_set_gravity(one.scene, (double[3]){0, 0, 0}));
    CHECK_OK(pliant_body_create(one.scene, &desc, &one.handle));
    pliant_fracture_desc_init(&fracture, sizeof fracture);
    fracture.toughness = 5;
    CHECK_OK(pliant_body_set_fracture(one.handle, &fracture));
    CHECK_OK(pl_get_body(one.handle, &one.body, &scene));
    pl_body* body = one.body;
    pl_particles* p = &body->particles;
    const float flow[9] = {1.6f, .2f, 0, 0, 1 / 1.6f, 0, 0, 0, 1};
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        memcpy(body->clusters.fp[c], flow, sizeof flow);
    for (uint32_t i = 0; i < p->slot_count; ++i)
    {
        float x = p->x[0][i], y = p->x[1][i];
        p->x[0][i] = 1.1f * (flow[0] * x + flow[1] * y);
        p->x[1][i] = flow[4] * y;
        p->v[2][i] = p->mass[i] > 0 ? x : 0;
    }
    body->plastic = true;
    pl_positions_changed(body);
    pl_material_changed(body);
    return one;
}

static void advance(const crumb* one)
{
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = 4;
    CHECK_OK(pliant_scene_advance(one->scene, &frame));
}

static float most_apart(const crumb* a, const crumb* b)
{
    float most = 0;
    for (uint32_t i = 0; i < a->body->particles.slot_count; ++i)
        for (int k = 0; k < 3; ++k)
            most = fmaxf(most,
                         fabsf(a->body->particles.x[k][i] - b->body->particles.x[k][i]) +
                             .1f * fabsf(a->body->particles.v[k][i] - b->body->particles.v[k][i]));
    return most;
}

static void check_folded(uint32_t particles, uint32_t levels)
{
    static const float identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    crumb folded = crumb_of(particles, levels), other = crumb_of(particles, levels);
    pl_clusters* k = &folded.body->clusters;
    uint32_t finest = folded.body->level_begin[1];
    uint8_t enough[64];
    REQUIRE(finest <= sizeof enough && folded.body->level_count == levels);
    CHECK_OK(pl_absorb_flow(folded.body, 1, enough)); /* it stays: there is nothing to do */
    CHECK(enough[0] && k->fp[0][0] == 1.6f);
    for (uint32_t c = 0; c < finest; ++c)
        k->fading[c] = PL_GOES;
    CHECK_OK(pl_absorb_flow(folded.body, 1, enough));
    for (uint32_t c = 0; c < finest && k->fade[c] > 0; ++c)
        CHECK(k->fading[c] == PL_STAYS && memcmp(k->fp[c], identity, sizeof identity) == 0);
    for (int frame = 0; frame < 3; ++frame)
    {
        advance(&folded);
        advance(&other);
        float apart = most_apart(&folded, &other);
        CHECK_MSG(apart < 2e-4f, "%u particles, %u levels: %g apart", particles, levels, apart);
    }
    CHECK_OK(pliant_scene_destroy(folded.scene));
    CHECK_OK(pliant_scene_destroy(other.scene));
}

TEST(a_small_piece_takes_its_flow_for_its_rest_shape_and_moves_on_as_it_did)
{
    check_folded(8, 1);
    check_folded(3, 1);
    check_folded(3, 2);
}

/* A second cluster of the same particles is kept only if it is needed. */
TEST(clusters_of_large_pieces_go_unless_they_are_overdue)
{
    crumb one = crumb_of(8, 1);
    pl_clusters* k = &one.body->clusters;
    uint8_t enough[64];
    k->fading[0] = PL_GOES;
    pl_fracture* fracture = one.body->fracture;
    one.body->fracture = NULL; /* a body that does not break has no small pieces */
    CHECK_OK(pl_absorb_flow(one.body, 1, enough));
    CHECK(!enough[0] && k->fading[0] == PL_GOES && k->fp[0][0] == 1.6f);
    one.body->fracture = fracture;
    CHECK_OK(pl_absorb_flow(one.body, 1, enough));
    CHECK(enough[0] && k->fading[0] == PL_STAYS);
    CHECK_OK(pliant_scene_destroy(one.scene));
}

/* The fit that a small piece's surface is bound to may be flat or inverted when it breaks off. It
 * was not corrected, and grew by rotation: to 1e11 in a long bake. */
TEST(crumbs_that_are_born_flat_or_inside_out_get_a_shape)
{
    static const float births[3][9] = {
        {2, 0, 0, 0, 1, 0, 0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, -1.5f}, {0, 0, 0, 4, 0, 0, 0, 0, 0}};
    for (int i = 0; i < 3; ++i)
    {
        crumb one = crumb_of(2, 1);
        pl_fracture* f = one.body->fracture;
        f->small_pieces = PL_NEW(pl_small_piece, 1);
        f->small_piece_capacity = f->small_piece_count = 1;
        f->small_pieces[0] = (pl_small_piece){.spin = {9, 4, -6}};
        memcpy(f->small_pieces[0].f, births[i], sizeof births[i]);
        for (int frame = 0; frame < 48; ++frame)
            advance(&one);
        REQUIRE(f->small_piece_count == 1);
        mat3 now = m3_from(f->small_pieces[0].f);
        mat3 square = m3_mul(m3_transpose(now), now);
        CHECK_MSG(fabs(m3_trace(square) - 3) < .01 && fabs(m3_det(now) - 1) < .01,
                  "crumb %d has the size %g and the volume %g", i, sqrt(m3_trace(square)),
                  m3_det(now));
        CHECK_OK(pliant_scene_destroy(one.scene));
    }
}
