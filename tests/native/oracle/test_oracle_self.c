// SPDX-License-Identifier: GPL-3.0-or-later
/* The oracle is checked before it judges: against LAPACK, against what is known exactly, and for
 * the flaws that its literal mode must show. */
#include "base/rng.h"
#include "native/oracle/oracle.h"
#include "native/support/test.h"
#include "scenes/points.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ bodies made by hand */

/* A body in double with one level of clusters: centres on a grid, members within a radius. */
typedef struct hand_body
{
    uint32_t count, clusters, pairs;
    double (*rest)[3], (*position)[3], (*velocity)[3], *mass;
    uint32_t *begin, *member;
    double* weight;
} hand_body;

static void* room(size_t count, size_t size)
{
    void* block = calloc(count ? count : 1, size);
    if (!block)
        abort();
    return block;
}

static void hand_free(hand_body* body)
{
    void* blocks[] = {body->rest,  body->position, body->velocity, body->mass,
                      body->begin, body->member,   body->weight};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i)
        free(blocks[i]);
}

/* Clusters at the points of a grid of n x n x n over the box of edges "size"; kernel 1/(d^2 +
 * r^2/100). */
static hand_body hand_make(scene_points points, const double size[3], const uint32_t n[3],
                           double radius)
{
    hand_body body = {points.count, n[0] * n[1] * n[2], 0, NULL, NULL, NULL, NULL, NULL, NULL,
                      NULL};
    pl_rng rng = pl_rng_seed(7);
    body.rest = room(points.count, sizeof *body.rest);
    body.position = room(points.count, sizeof *body.position);
    body.velocity = room(points.count, sizeof *body.velocity);
    body.mass = room(points.count, sizeof *body.mass);
    body.begin = room(body.clusters + 1, sizeof *body.begin);
    body.member = room((size_t)body.clusters * points.count, sizeof *body.member);
    body.weight = room((size_t)body.clusters * points.count, sizeof *body.weight);
    for (uint32_t i = 0; i < points.count; ++i)
    {
        for (int k = 0; k < 3; ++k)
            body.position[i][k] = body.rest[i][k] = points.at[3 * i + k];
        body.mass[i] = .5 + pl_rng_unit(&rng);
    }
    for (uint32_t c = 0; c < body.clusters; ++c)
    {
        uint32_t at[3] = {c % n[0], c / n[0] % n[1], c / n[0] / n[1]};
        for (uint32_t i = 0; i < points.count; ++i)
        {
            double square = 0;
            for (int k = 0; k < 3; ++k)
                square += pow(body.rest[i][k] - size[k] * ((at[k] + .5) / n[k] - .5), 2);
            if (square > radius * radius)
                continue;
            body.member[body.pairs] = i;
            body.weight[body.pairs++] = 1 / (square + radius * radius / 100);
        }
        body.begin[c + 1] = body.pairs;
    }
    scene_points_free(&points);
    return body;
}

/* 256 particles of different masses in a bar of 2 x .5 x .5 with 15 clusters, tilted so that no
 * axis is special. */
static hand_body bar(void)
{
    double size[3] = {2, .5, .5};
    uint32_t n[3] = {15, 1, 1};
    hand_body body = hand_make(scene_points_box(16, 4, 4, 2, .5, .5, .5, 1), size, n, .42);
    for (uint32_t i = 0; i < body.count; ++i)
    {
        double *r = body.rest[i], x = r[0], y = r[1], z = r[2];
        r[0] = .8 * x - .6 * y;
        r[1] = .48 * x + .64 * y - .6 * z;
        r[2] = .36 * x + .48 * y + .8 * z;
        memcpy(body.position[i], r, sizeof body.position[i]);
    }
    return body;
}

/* Stretched and sheared, spinning and moving, with some noise. */
static void disturb(hand_body* body)
{
    pl_rng rng = pl_rng_seed(3);
    for (uint32_t i = 0; i < body->count; ++i)
    {
        double *r = body->rest[i], *x = body->position[i], *v = body->velocity[i];
        x[0] = 1.3 * r[0] + .2 * r[1] + .05 * pl_rng_unit(&rng) + .3;
        x[1] = .9 * r[1] + .1 * r[2] + .05 * pl_rng_unit(&rng) - .2;
        x[2] = r[2] - .15 * r[0] + .05 * pl_rng_unit(&rng) + .1;
        v[0] = .2 - 2 * x[1] + .3 * pl_rng_unit(&rng);
        v[1] = .1 + 2 * x[0] + .3 * pl_rng_unit(&rng);
        v[2] = .5 * x[0] - .1;
    }
}

static reference* oracle_of(const hand_body* body, const reference_settings* settings)
{
    reference_level_desc level = {false,        body->clusters, body->begin, body->member,
                                  body->weight, NULL,           1,           1};
    reference_desc desc = {body->count,
                           (const double(*)[3])body->rest,
                           (const double(*)[3])body->position,
                           (const double(*)[3])body->velocity,
                           body->mass,
                           NULL,
                           NULL,
                           NULL,
                           1,
                           &level,
                           NULL,
                           0};
    return reference_create(&desc, settings);
}

static reference_settings papers_settings(double alpha)
{
    reference_settings s = {0};
    s.material.stiffness_kind = PLIANT_STIFFNESS_ALPHA;
    s.material.stiffness = alpha;
    s.material.density = 1000;
    s.material.strain_relaxation = .3;
    s.material.strain_iterations = 4;
    s.material.beta = .5;
    s.material.damping_per_step = 1;
    return s;
}

/* Steps, and gives the largest change of momentum and angular momentum over their scales, and the
 * mean kinetic energy of the last 100 steps over that of the first 100. */
typedef struct drift
{
    double momentum, angular, kinetic;
} drift;

/* About the centre of mass, wherever that is. */
static vec3 own_angular_momentum(reference_measure m)
{
    return v3_sub(m.angular_momentum, v3_cross(m.centre, m.momentum));
}

static drift run(reference* o, int steps)
{
    reference_measure start = reference_measure_now(o);
    vec3 spin = own_angular_momentum(start);
    drift result = {0, 0, 0};
    double first = 0, last = 0;
    for (int k = 0; k < steps; ++k)
    {
        reference_step(o, 1. / 60);
        reference_measure now = reference_measure_now(o);
        result.momentum = fmax(result.momentum, v3_length(v3_sub(now.momentum, start.momentum)) /
                                                    start.momentum_scale);
        result.angular = fmax(result.angular, v3_length(v3_sub(own_angular_momentum(now), spin)) /
                                                  start.angular_scale);
        first += k < 100 ? now.kinetic : 0;
        last += k >= steps - 100 ? now.kinetic : 0;
    }
    result.kinetic = last / first;
    return result;
}

/* ------------------------------------------------------------------ rotations */

static mat3 random_rotation(pl_rng* rng)
{
    mat3 a, u, v;
    double sigma[3];
    for (int i = 0; i < 9; ++i)
        a.m[i / 3][i % 3] = 2 * pl_rng_unit(rng) - 1;
    reference_svd(a, &u, sigma, &v);
    return m3_mul(u, m3_transpose(v));
}

/* Eight corners: the rectangle of equations 3.1 to 3.4 in the xy plane, twice. */
TEST(reference_best_rotation_is_that_of_the_rectangle)
{
    double corner[8][3] = {{1, 3, -1}, {3, 1, -1}, {-1, -3, -1}, {-3, -1, -1},
                           {1, 3, 1},  {3, 1, 1},  {-1, -3, 1},  {-3, -1, 1}};
    double position[8][3], mass[8], weight[8];
    uint32_t begin[2] = {0, 8}, member[8];
    for (int i = 0; i < 8; ++i)
    {
        position[i][0] = 2 * corner[i][0];
        position[i][1] = corner[i][1], position[i][2] = corner[i][2];
        mass[i] = .5, weight[i] = 1, member[i] = (uint32_t)i;
    }
    reference_level_desc level = {false, 1, begin, member, weight, NULL, 1, 1};
    reference_desc desc = {8,
                           (const double(*)[3])corner,
                           (const double(*)[3])position,
                           NULL,
                           mass,
                           NULL,
                           NULL,
                           NULL,
                           1,
                           &level,
                           NULL,
                           0};
    reference_settings settings = papers_settings(1);
    for (uint32_t moment = 0; moment < 2; ++moment)
    {
        settings.material.rotation = moment ? PLIANT_ROTATION_MOMENT : PLIANT_ROTATION_GRADIENT;
        reference* o = reference_create(&desc, &settings);
        const reference_cluster* c = &o->level[0].cluster[0];
        reference_match(o, 1);
        CHECK_NEAR(c->arr_inverse.m[0][0], 5. / 64, 1e-12); /* 3.1 */
        CHECK_NEAR(c->arr_inverse.m[0][1], -3. / 64, 1e-12);
        CHECK_NEAR(c->axr.m[0][0], 40, 1e-12); /* 3.2 */
        CHECK_NEAR(c->axr.m[0][1], 24, 1e-12);
        CHECK_NEAR(c->axr.m[1][0], 12, 1e-12);
        CHECK_NEAR(c->axr.m[1][1], 20, 1e-12);
        CHECK_NEAR(c->f.m[0][0], 2, 1e-12); /* 3.4 */
        CHECK_NEAR(c->f.m[0][1], 0, 1e-12);
        CHECK_NEAR(c->r.m[0][0], moment ? .9806 : 1, moment ? 5e-5 : 1e-12); /* 3.3 */
        CHECK_NEAR(c->r.m[0][1], moment ? .19611 : 0, moment ? 1e-5 : 1e-12);
        reference_free(o);
    }
}

TEST(reference_goals_under_rigid_motions_are_the_positions)
{
    hand_body body = bar();
    pl_rng rng = pl_rng_seed(5);
    for (uint32_t goal = 0; goal < 3; ++goal)
        for (uint32_t moment = 0; moment < 2; ++moment)
        {
            reference_settings settings = papers_settings(1.5);
            settings.material.goal = goal;
            settings.material.rotation = moment;
            settings.material.damping = .5;
            mat3 turn = random_rotation(&rng);
            vec3 omega = v3(1, -2, .5);
            for (uint32_t i = 0; i < body.count; ++i)
            {
                vec3 x = v3_add(m3_mulv(turn, v3_fromd(body.rest[i])), v3(5, -3, 2));
                vec3 v = v3_add(v3_cross(omega, x), v3(1, 2, 3));
                memcpy(body.position[i], &x, sizeof x);
                memcpy(body.velocity[i], &v, sizeof v);
            }
            reference* o = oracle_of(&body, &settings);
            reference_step(o, 1. / 60);
            double worst = 0;
            for (uint32_t i = 0; i < body.count; ++i)
                worst = fmax(worst, v3_length(v3_sub(o->v[i], v3_fromd(body.velocity[i]))));
            CHECK_MSG(worst < 1e-10, "goal %u rotation %u: velocities change by %g", goal, moment,
                      worst);
            reference_free(o);
        }
    hand_free(&body);
}

/* ------------------------------------------------------------------ what a free body keeps */

TEST_SLOW(reference_keeps_momentum_and_angular_momentum)
{
    static const double alphas[3] = {.5, 1, 1.9};
    hand_body body = bar();
    disturb(&body);
    for (uint32_t goal = 0; goal < 3; ++goal)
        for (uint32_t moment = 0; moment < 2; ++moment)
            for (int a = 0; a < 3; ++a)
                for (int limit = 0; limit < 2; ++limit)
                {
                    reference_settings settings = papers_settings(alphas[a]);
                    settings.material.goal = goal;
                    settings.material.rotation = moment;
                    settings.material.strain_limit = limit ? .05 : 0;
                    settings.material.damping = limit ? .1 : 0;
                    reference* o = oracle_of(&body, &settings);
                    drift d = run(o, goal == 0 && !test_quick() ? 1000 : 200);
                    CHECK_MSG(d.momentum < 1e-11 && d.angular < 1e-11,
                              "goal %u rotation %u alpha %g limit %d: momentum %g, angular %g",
                              goal, moment, alphas[a], limit, d.momentum, d.angular);
                    CHECK_MSG(d.kinetic < 2, "goal %u rotation %u alpha %g limit %d: energy %g",
                              goal, moment, alphas[a], limit, d.kinetic);
                    reference_free(o);
                }
    hand_free(&body);
}

TEST(reference_energy_stays_without_limits)
{
    static const double alphas[3] = {.5, 1, 1.9};
    hand_body body = bar();
    disturb(&body);
    for (int a = 0; a < 3; ++a)
    {
        reference_settings settings = papers_settings(alphas[a]);
        reference* o = oracle_of(&body, &settings);
        drift d = run(o, test_quick() ? 1000 : 3000);
        CHECK_MSG(d.kinetic > .5 && d.kinetic < 2, "alpha %g: kinetic energy times %g", alphas[a],
                  d.kinetic);
        reference_free(o);
    }
    hand_free(&body);
}

TEST(reference_literal_step_gains_energy_from_nothing)
{
    hand_body body = bar();
    disturb(&body);
    for (int literal = 0; literal < 2; ++literal)
    {
        reference_settings settings = papers_settings(1.9);
        settings.literal = literal;
        reference* o = oracle_of(&body, &settings);
        drift d = run(o, 3000);
        CHECK_MSG(literal ? d.kinetic > 3 : d.kinetic < 1.5, "literal %d: kinetic energy times %g",
                  literal, d.kinetic);
        CHECK_MSG(literal ? d.angular > .1 : d.angular < 1e-10,
                  "literal %d: angular momentum changed by %g", literal, d.angular);
        CHECK(d.momentum < 1e-10);
        reference_free(o);
    }
    hand_free(&body);
}

TEST(reference_literal_strain_limit_drifts)
{
    hand_body body = bar();
    disturb(&body);
    for (int literal = 0; literal < 2; ++literal)
    {
        reference_settings settings = papers_settings(0);
        settings.literal = literal;
        settings.material.strain_limit = .05;
        reference* o = oracle_of(&body, &settings);
        drift d = run(o, 100);
        CHECK_MSG(literal ? d.momentum > 1e-3 && d.angular > 1e-3 : d.momentum < 1e-12,
                  "literal %d: momentum changed by %g, angular %g", literal, d.momentum, d.angular);
        reference_free(o);
    }
    hand_free(&body);
}

TEST(reference_damping_keeps_spin_and_the_literal_one_does_not)
{
    hand_body body = bar();
    vec3 omega = v3(.3, 2, -1);
    for (uint32_t i = 0; i < body.count; ++i)
    {
        vec3 v = v3_cross(omega, v3_fromd(body.position[i]));
        memcpy(body.velocity[i], &v, sizeof v);
    }
    for (int literal = 0; literal < 2; ++literal)
    {
        reference_settings settings = papers_settings(1);
        settings.literal = literal;
        settings.material.damping = .5;
        reference* o = oracle_of(&body, &settings);
        double before = v3_length(reference_measure_now(o).angular_momentum);
        run(o, 300);
        double after = v3_length(reference_measure_now(o).angular_momentum) / before;
        CHECK_MSG(literal ? after < .8 : fabs(after - 1) < 1e-11, "literal %d: spin %g", literal,
                  after);
        reference_free(o);
    }
    hand_free(&body);
}

TEST(reference_strain_limit_holds_and_stops_early)
{
    hand_body body = bar();
    for (uint32_t i = 0; i < body.count; ++i)
        body.position[i][0] *= 2;
    reference_settings settings = papers_settings(.2);
    settings.material.strain_limit = .1;
    settings.material.damping = .2;
    reference* o = oracle_of(&body, &settings);
    reference_step(o, 1. / 60);
    uint64_t first = o->pairs_violated;
    CHECK(o->pairs_tested == 4 * (uint64_t)body.pairs);
    CHECK(first > body.pairs / 2);
    for (int k = 0; k < 200; ++k)
        reference_step(o, 1. / 60);
    CHECK_MSG(o->pairs_violated < first / 20, "%llu violated at first, %llu at last",
              (unsigned long long)first, (unsigned long long)o->pairs_violated);
    o->settings.material.strain_limit = 10;
    reference_step(o, 1. / 60);
    CHECK(o->pairs_violated == 0 && o->pairs_tested == body.pairs);
    reference_free(o);
    hand_free(&body);
}

/* ------------------------------------------------------------------ material */

/* One cluster swings with the frequency asked for, at any number of substeps: the first return of a
 * stretched bar to its greatest length, in frames. */
TEST(reference_frequency_does_not_depend_on_the_substep)
{
    double size[3] = {2, .5, .5};
    uint32_t n[3] = {1, 1, 1};
    hand_body body = hand_make(scene_points_box(8, 3, 3, 2, .5, .5, .5, 1), size, n, 10);
    for (uint32_t i = 0; i < body.count; ++i)
        body.position[i][0] *= 1.01;
    for (int substeps = 1; substeps <= 8; substeps *= 2)
    {
        reference_settings settings = papers_settings(0);
        settings.material.stiffness_kind = PLIANT_STIFFNESS_FREQUENCY;
        settings.material.stiffness = 2;
        double dt = 1. / 60 / substeps, time = 0, crossing[2] = {0, 0}, before = 1;
        int found = 0;
        reference* o = oracle_of(&body, &settings);
        while (found < 2 && time < 2) /* falling zero crossings of the stretch */
        {
            reference_step(o, dt);
            reference_match(o, dt);
            time += dt;
            double stretch = o->level[0].cluster[0].f.m[0][0] - 1;
            if (before > 0 && stretch <= 0)
                crossing[found++] = time - dt * stretch / (stretch - before);
            before = stretch;
        }
        CHECK(found == 2);
        CHECK_NEAR(crossing[1] - crossing[0], .5, .002);
        reference_free(o);
    }
    hand_free(&body);
}

/* ------------------------------------------------------------------ levels */

/* Eight fine clusters' worth of coarse ones: pairs of neighbours along the bar share them. */
static reference* with_coarse_level(const hand_body* body, const reference_settings* settings,
                                    bool composed)
{
    uint32_t coarse = 3, links = 0, pairs = 0;
    uint32_t link_begin[4] = {0}, link_fine[64], begin[4] = {0};
    double link_weight[64];
    for (uint32_t c = 0; c < coarse; ++c)
    {
        for (uint32_t f = 0; f < body->clusters; ++f)
        {
            double d = ((double)f / (body->clusters - 1) - c / 2.) * 2;
            if (fabs(d) >= 1)
                continue;
            link_fine[links] = f;
            link_weight[links++] = 1 - fabs(d); /* hats: they sum to 1 */
        }
        link_begin[c + 1] = links;
    }
    uint32_t* member = room((size_t)body->pairs * coarse, sizeof *member);
    double* weight = room((size_t)body->pairs * coarse, sizeof *weight);
    double* sum = room(body->count, sizeof *sum);
    for (uint32_t k = 0; k < body->pairs; ++k)
        sum[body->member[k]] += body->weight[k];
    for (uint32_t c = 0; c < coarse; ++c)
    {
        for (uint32_t l = link_begin[c]; l < link_begin[c + 1]; ++l)
            for (uint32_t k = body->begin[link_fine[l]]; k < body->begin[link_fine[l] + 1]; ++k)
            {
                member[pairs] = body->member[k];
                weight[pairs++] = link_weight[l] * body->weight[k] / sum[body->member[k]];
            }
        begin[c + 1] = pairs;
    }
    reference_level_desc level[2] = {
        {false, body->clusters, body->begin, body->member, body->weight, NULL, .7, 1},
        {true, coarse, link_begin, link_fine, link_weight, NULL, .3, .5}};
    if (composed)
        level[1] = (reference_level_desc){false, coarse, begin, member, weight, NULL, .3, .5};
    reference_desc desc = {body->count,
                           (const double(*)[3])body->rest,
                           (const double(*)[3])body->position,
                           (const double(*)[3])body->velocity,
                           body->mass,
                           NULL,
                           NULL,
                           NULL,
                           2,
                           level,
                           NULL,
                           0};
    reference* o = reference_create(&desc, settings);
    free(member);
    free(weight);
    free(sum);
    return o;
}

static double furthest_apart(const reference* a, const reference* b)
{
    double worst = 0;
    for (uint32_t i = 0; i < a->particles; ++i)
        worst = fmax(worst, v3_length(v3_sub(a->x[i], b->x[i])));
    return worst;
}

TEST(reference_nested_levels_are_composed_memberships)
{
    hand_body body = bar();
    disturb(&body);
    for (uint32_t goal = 0; goal < 2; ++goal)
    {
        reference_settings settings = papers_settings(0);
        settings.material.stiffness_kind = PLIANT_STIFFNESS_FREQUENCY;
        settings.material.stiffness = 3;
        settings.material.goal = goal;
        settings.material.damping = .1;
        settings.material.strain_limit = .3;
        reference* nested = with_coarse_level(&body, &settings, false);
        reference* composed = with_coarse_level(&body, &settings, true);
        reference* single = oracle_of(&body, &settings);
        drift d = run(nested, 100);
        run(composed, 100);
        run(single, 100);
        CHECK_MSG(d.momentum < 1e-11 && d.angular < 1e-11, "momentum %g, angular %g", d.momentum,
                  d.angular);
        CHECK_MSG(furthest_apart(nested, composed) < 1e-9,
                  "goal %u: nested and composed differ by %g", goal,
                  furthest_apart(nested, composed));
        CHECK(furthest_apart(nested, single) > 1e-3);
        reference_free(nested);
        reference_free(composed);
        reference_free(single);
    }
    hand_free(&body);
}

/* ------------------------------------------------------------------ degenerate clusters */

TEST(reference_sheets_lines_and_points_stay_finite_and_keep_momentum)
{
    double size[3] = {1, 1, 1};
    uint32_t n[3] = {2, 2, 1};
    scene_points sets[3] = {scene_points_box(8, 8, 1, 1, 1, 0, .5, 1),
                            scene_points_box(9, 1, 1, 1, 0, 0, .5, 2),
                            scene_points_box(1, 1, 1, 0, 0, 0, .5, 3)};
    for (int set = 0; set < 3; ++set)
    {
        hand_body body = hand_make(sets[set], size, n, .8);
        disturb(&body);
        for (uint32_t goal = 0; goal < 2; ++goal)
        {
            reference_settings settings = papers_settings(1);
            settings.material.goal = goal;
            /* The lever arms F p of a line know no spin about it: none can be taken out there. */
            settings.material.damping = set == 1 ? 0 : .1;
            settings.material.strain_limit = set == 1 ? 0 : .05;
            reference* o = oracle_of(&body, &settings);
            CHECK(o->level[0].cluster[0].flat);
            drift d = run(o, 300);
            CHECK_MSG(d.momentum < 1e-11 && d.angular < 1e-11 && d.kinetic < 2,
                      "set %d goal %u: momentum %g, angular %g, energy %g", set, goal, d.momentum,
                      d.angular, d.kinetic);
            reference_free(o);
        }
        hand_free(&body);
    }
}

TEST(reference_rests_on_the_ground)
{
    hand_body body = bar();
    reference_settings settings = papers_settings(1);
    settings.gravity[2] = -9.81;
    settings.material.damping = .2;
    settings.plane = true;
    settings.plane_axis = 2;
    settings.plane_height = -1;
    settings.plane_friction = .5;
    reference* o = oracle_of(&body, &settings);
    for (int k = 0; k < 900; ++k)
        reference_step(o, 1. / 60);
    reference_measure now = reference_measure_now(o);
    double lowest = 1;
    for (uint32_t i = 0; i < body.count; ++i)
        lowest = fmin(lowest, o->x[i].z);
    CHECK(lowest >= -1);
    CHECK_MSG(now.kinetic / now.mass < 1e-3, "still moving: %g J/kg", now.kinetic / now.mass);
    reference_free(o);
    hand_free(&body);
}
