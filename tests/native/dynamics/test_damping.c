// SPDX-License-Identifier: GPL-3.0-or-later
/* Damping as a decay rate of the body's modes, and bodies that come to rest. */
#include "native/support/cubes.h"
#include "native/support/test.h"

#include <math.h>
#include <scenes/bars.h>
#include <scenes/meshes.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ------------------------------------------------------------------ modes of a free bar */

enum
{
    STRETCHING,
    TWISTING,
    BENDING
};

enum
{
    POINTS = 24 * 6 * 6
};

/* A bar of length 4 and width 1 along x. */
static cube make_bar(uint32_t clusters, uint32_t levels, double frequency, double rate)
{
    cube c = cube_new(2, clusters);
    scene_points_free(&c.points);
    c.points = scene_points_box(24, 6, 6, 4, 1, 1, .3, 1);
    c.desc.point_count = c.points.count;
    c.desc.points = c.points.at;
    c.desc.levels.count = levels;
    c.desc.material.stiffness = frequency;
    c.desc.material.damping = 2 * rate; /* twice the decay rate of the amplitude */
    return c;
}

/* The velocity of the lowest mode of a kind at a point. */
static void mode_at(int kind, const float* p, float* v)
{
    double s = p[0] / 2, k = 4.730 / 2;
    memset(v, 0, 3 * sizeof *v);
    if (kind == STRETCHING)
        v[0] = (float)sin(PI * s / 2);
    if (kind == TWISTING)
        v[1] = (float)(-sin(PI * s / 2) * p[2]), v[2] = (float)(sin(PI * s / 2) * p[1]);
    if (kind == BENDING)
        v[2] = (float)(cosh(k * s) / cosh(k) + cos(k * s) / cos(k));
}

/* The amplitude of the mode in the particles' displacements. */
static double amount(const cube* c, const float* mode)
{
    uint32_t count;
    double sum = 0;
    float* x = scene_read_floats(c->body, PLIANT_POSITION, 0, NULL, &count);
    for (uint32_t i = 0; i < count; ++i)
        sum += (x[i] - c->points.at[i]) * (double)mode[i];
    free(x);
    return sum;
}

/* The decay rate r of a damped oscillator's series, u(n + 2) = a u(n + 1) - exp(-2 r dt) u(n), by
 * least squares. */
static double series_decay(const double* u, int count, double dt)
{
    double xx = 0, xy = 0, yy = 0, xz = 0, yz = 0;
    for (int n = 0; n + 2 < count; ++n)
    {
        xx += u[n + 1] * u[n + 1], xy += u[n + 1] * u[n], yy += u[n] * u[n];
        xz += u[n + 1] * u[n + 2], yz += u[n] * u[n + 2];
    }
    double b = (xx * yz - xy * xz) / (xx * yy - xy * xy);
    return -.5 * log(fmax(-b, 1e-300)) / dt;
}

/* The decay rate of the kinetic energy between two spans of many periods each. */
static double energy_decay(const double* energy, int count, double dt)
{
    double early = 0, late = 0;
    int half = count / 2;
    for (int n = 0; n < half; ++n)
        early += energy[n], late += energy[half + n];
    return .5 * log(early / late) / (half * dt);
}

/* The decay of an initial shape of a free bar. For a shape close to a mode, its amplitude gives the
 * decay within a few periods. Bending, and any of these shapes with small clusters on one level, is
 * no mode and couples to others: there the decay comes from the body's energy. */
typedef struct swing
{
    int kind;
    uint32_t substeps;
    double dt, seconds;
    bool by_energy;
} swing;

static double decay_of(cube* c, const swing* how)
{
    enum
    {
        MOST = 1000
    };
    static float mode[3 * POINTS], v[3 * POINTS];
    static double u[MOST], energy[MOST];
    int frames = (int)fmin(how->seconds / how->dt, MOST);
    if (!cube_make(c))
        return 0;
    for (uint32_t i = 0; i < POINTS; ++i)
        mode_at(how->kind, c->points.at + 3 * i, mode + 3 * i);
    for (uint32_t i = 0; i < 3 * POINTS; ++i)
        v[i] = (float)(mode[i] * .05 * 2 * PI * c->desc.material.stiffness);
    CHECK_OK(pliant_body_set_particles(c->body, POINTS, NULL, NULL, v));
    for (int f = 0; f < frames; ++f)
    {
        CHECK_OK(cube_advance(c->scene, how->dt, how->substeps));
        u[f] = amount(c, mode);
        energy[f] = cube_info(c->body).kinetic_energy;
    }
    return how->by_energy ? energy_decay(energy, frames, how->dt)
                          : series_decay(u, frames, how->dt);
}

static void check_decay(const swing* how, uint32_t clusters, uint32_t levels, double frequency,
                        double rate)
{
    static const char* const names[] = {"stretching", "twisting", "bending"};
    cube c = make_bar(clusters, levels, frequency, rate);
    double found = decay_of(&c, how);
    CHECK_MSG(fabs(found / rate - 1) < .15,
              "%s, %u clusters, %u levels, %u substeps, %g Hz: decay %.3f, not %g",
              names[how->kind], clusters, levels, how->substeps, frequency, found, rate);
    cube_free(&c);
}

TEST(lowest_modes_decay_at_the_rate_asked)
{
    static const uint32_t clusters[] = {10, 100}, levels[] = {1, 3}, substeps[] = {1, 4};
    static const double rates[] = {.5, 10, 60};
    for (int kind = STRETCHING; kind <= TWISTING; ++kind)
        for (int c = 0; c < 2; ++c)
            for (int l = 0; l < 2; ++l)
                for (int r = 0; r < 3; ++r)
                {
                    swing how = {kind, substeps[(c + l + r) % 2], 1.0 / 240, 3 / rates[r] + .05,
                                 false};
                    check_decay(&how, clusters[c], levels[l], 20, rates[r]);
                }
    for (int c = 0; c < 2; ++c)
        for (int l = 0; l < 2; ++l)
            for (int r = 0; r < 2; ++r)
            {
                double rate = r ? 5 : .5;
                swing how = {BENDING, 1, 1.0 / 240, 2 / rate, true};
                check_decay(&how, clusters[c], levels[l], 20, rate);
            }
}

/* A bar damped at 15 or 60 per second must be stiff to be underdamped. */
static void check_all_substeps(uint32_t clusters, uint32_t levels)
{
    static const double rates[] = {.5, 3, 15, 60};
    for (int kind = STRETCHING; kind <= BENDING; ++kind)
        for (uint32_t substeps = 1; substeps <= 8; substeps *= 2)
            for (int r = 0; r < 4; ++r)
            {
                double rate = rates[r], faster = kind == BENDING ? fmax(1, rate / 3) : 1;
                swing how = {kind, substeps, 1.0 / 240 / faster, 3 / rate + .05 / faster,
                             kind == BENDING || rate < 5};
                check_decay(&how, clusters, levels, 20 * faster, rate);
            }
}

TEST_SLOW(modes_decay_as_asked_at_any_number_of_clusters_levels_and_substeps)
{
    static const uint32_t clusters[] = {10, 100, 400};
    for (int c = 0; c < 3; ++c)
        for (uint32_t levels = 1; levels <= 3; levels += 2)
            check_all_substeps(clusters[c], levels);
}

/* ------------------------------------------------------------------ what is not damped */

TEST(damping_keeps_momentum_and_spin)
{
    cube c = make_bar(60, 1, 8, 30);
    c.desc.velocity[0] = 1;
    c.desc.angular_velocity[2] = 2;
    REQUIRE(cube_make(&c));
    for (int f = 0; f < 48; ++f) /* until its spin has stretched it */
        CHECK_OK(cube_advance(c.scene, 1.0 / 24, 8));
    pliant_body_info before = cube_info(c.body);
    for (int f = 0; f < 240; ++f)
        CHECK_OK(cube_advance(c.scene, 1.0 / 24, 8));
    pliant_body_info after = cube_info(c.body);
    CHECK_NEAR(after.momentum[0] / before.momentum[0], 1, 1e-4);
    CHECK_NEAR(after.angular_momentum[2] / before.angular_momentum[2], 1, 1e-4);
    CHECK_NEAR(after.kinetic_energy / before.kinetic_energy, 1, 1e-3);
    cube_free(&c);
}

/* Two separate blocks in one body fly apart as if each were alone. */
TEST(parts_that_do_not_hang_together_do_not_damp_each_other)
{
    cube c = make_bar(20, 1, 8, 30);
    static float v[3 * POINTS];
    for (uint32_t i = 0; i < POINTS; ++i)
    {
        float side = c.points.at[3 * i] > 0 ? 1 : -1;
        c.points.at[3 * i] += 3 * side;
        v[3 * i] = side, v[3 * i + 1] = v[3 * i + 2] = 0;
    }
    REQUIRE(cube_make(&c));
    CHECK_OK(pliant_body_set_particles(c.body, POINTS, NULL, NULL, v));
    double before = cube_info(c.body).kinetic_energy;
    for (int f = 0; f < 48; ++f)
        CHECK_OK(cube_advance(c.scene, 1.0 / 24, 4));
    CHECK_NEAR(cube_info(c.body).kinetic_energy / before, 1, 2e-3);
    cube_free(&c);
}

/* Held at one end it decays as fast as a free bar; held at a point it swings like a pendulum. */
TEST(damping_is_in_the_frame_of_pins)
{
    for (int point = 0; point < 2; ++point)
    {
        cube c = make_bar(60, 1, 10, 2);
        static float pins[POINTS];
        REQUIRE(cube_make(&c));
        uint32_t held = 0;
        for (uint32_t i = 0; i < POINTS; ++i)
        {
            bool end = c.points.at[3 * i] < -1.8f && (!point || !held);
            pins[i] = end ? PLIANT_PIN_HELD : 0;
            held += end;
        }
        CHECK_OK(pliant_body_set_pins(c.body, POINTS, pins));
        if (point)
        {
            static float v[3 * POINTS]; /* a rotation about the pin */
            for (uint32_t i = 0; i < POINTS; ++i)
                v[3 * i + 2] = c.points.at[3 * i] + 1.9f;
            CHECK_OK(pliant_body_set_particles(c.body, POINTS, NULL, NULL, v));
        }
        else
        {
            static float v[3 * POINTS]; /* about the first bending mode of a cantilever */
            for (uint32_t i = 0; i < POINTS; ++i)
                v[3 * i + 2] = powf((c.points.at[3 * i] + 2) / 4, 2);
            CHECK_OK(pliant_body_set_particles(c.body, POINTS, NULL, NULL, v));
        }
        static double energy[480];
        for (int f = 0; f < 480; ++f)
        {
            CHECK_OK(cube_advance(c.scene, 1.0 / 240, 1));
            energy[f] = cube_info(c.body).kinetic_energy;
        }
        double decay = energy_decay(energy, 480, 1.0 / 240);
        if (point)
            CHECK_MSG(decay < .1, "a pendulum loses %.3f a second", decay);
        else
            CHECK_MSG(fabs(decay / 2 - 1) < .15, "a cantilever decays at %.3f, not 2", decay);
        cube_free(&c);
    }
}

/* ------------------------------------------------------------------ rest */

typedef struct shot
{
    pliant_scene scene;
    pliant_body body[20];
    pliant_skin skin[20];
    uint32_t bodies, vertices;
    float* at[20];
    double size; /* of one body */
} shot;

static void open_shot(shot* s, bool contacts)
{
    pliant_scene_desc desc;
    pliant_collider_desc ground;
    pliant_collider collider;
    pliant_contact_desc touch;
    memset(s, 0, sizeof *s);
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = 1;
    CHECK_OK(pliant_scene_create(&desc, &s->scene));
    pliant_collider_desc_init(&ground, sizeof ground);
    ground.friction = .5;
    CHECK_OK(pliant_collider_create(s->scene, &ground, &collider));
    pliant_contact_desc_init(&touch, sizeof touch);
    touch.enabled = contacts;
    CHECK_OK(pliant_scene_set_contacts(s->scene, &touch));
    CHECK_OK(pliant_scene_set_sleep(s->scene, .005, .5));
}

/* Takes the mesh. */
static void add_body(shot* s, scene_mesh mesh, uint32_t particles, double height)
{
    pliant_body_desc desc;
    pliant_skin_desc skin;
    float lowest = INFINITY;
    for (uint32_t i = 0; i < mesh.vertex_count; ++i)
        lowest = fminf(lowest, mesh.vertices[3 * i + 2]);
    scene_mesh_move(&mesh, 0, 0, (float)height - lowest);
    pliant_body_desc_init(&desc, sizeof desc);
    desc.mesh.vertices = mesh.vertices, desc.mesh.vertex_count = mesh.vertex_count;
    desc.mesh.triangles = mesh.triangles, desc.mesh.triangle_count = mesh.triangle_count;
    desc.sample.count = particles;
    desc.material.stiffness = 11;
    desc.material.damping = 6;
    desc.material.goal = PLIANT_GOAL_LINEAR;
    CHECK_OK(pliant_body_create(s->scene, &desc, &s->body[s->bodies]));
    pliant_skin_desc_init(&skin, sizeof skin);
    skin.vertices = mesh.vertices, skin.vertex_count = mesh.vertex_count;
    CHECK_OK(pliant_skin_create(s->body[s->bodies], &skin, &s->skin[s->bodies]));
    s->vertices = mesh.vertex_count;
    s->at[s->bodies++] = mesh.vertices;
    mesh.vertices = NULL;
    scene_mesh_free(&mesh);
}

/* Advances a frame; mean and largest displacement of a vertex, in millimetres per metre of size. */
static void watch(shot* s, double* mean, double* most)
{
    pliant_frame_desc frame;
    float* now = malloc(12 * (size_t)s->vertices);
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.dt = 1.0 / 24;
    CHECK_OK(pliant_scene_advance(s->scene, &frame));
    *mean = *most = 0;
    for (uint32_t b = 0; b < s->bodies; ++b)
    {
        double sum = 0;
        CHECK_OK(pliant_skin_apply(s->skin[b], NULL, NULL, now, NULL, NULL));
        for (uint32_t i = 0; i < s->vertices; ++i)
        {
            double way = 0;
            for (int k = 0; k < 3; ++k)
                way += pow((double)now[3 * i + k] - s->at[b][3 * i + k], 2);
            way = sqrt(way) * 1000 / s->size;
            sum += way / s->vertices;
            *most = fmax(*most, way);
        }
        *mean = fmax(*mean, sum);
        memcpy(s->at[b], now, 12 * (size_t)s->vertices);
    }
    free(now);
}

/* Returns the frame from which on it is at rest; "bounced": the frame of the last bounce. */
static int still_from(shot* s, int frames, int* bounced)
{
    int still = 0;
    *bounced = 0;
    for (int f = 1; f <= frames; ++f)
    {
        double mean, most;
        watch(s, &mean, &most);
        if (mean > .05 || most > .3)
            still = f;
        if (mean > 10)
            *bounced = f;
    }
    return still;
}

static void close_shot(shot* s)
{
    for (uint32_t b = 0; b < s->bodies; ++b)
        free(s->at[b]);
    CHECK_OK(pliant_scene_destroy(s->scene));
}

TEST_SLOW(a_creature_that_falls_over_comes_to_rest_and_sleeps)
{
    shot s;
    int bounced;
    open_shot(&s, true);
    s.size = 2;
    scene_mesh mesh = scene_creature(4);
    scene_mesh_turn(&mesh, 1, 0, 0, .4f);
    add_body(&s, mesh, 1500, 2);
    int still = still_from(&s, 300, &bounced);
    CHECK_MSG(still - bounced < 96 && still < 299, "seen to bounce until frame %d, moves until %d",
              bounced, still);
    pliant_scene_info info;
    pliant_scene_info_init(&info, sizeof info);
    CHECK_OK(pliant_scene_get_info(s.scene, &info));
    CHECK(info.asleep == 1);
    double mean, most;
    for (int f = 0; f < 100; ++f) /* it stays at rest */
    {
        watch(&s, &mean, &most);
        CHECK(most == 0);
    }
    close_shot(&s);
}

TEST_SLOW(a_pile_of_ten_comes_to_rest)
{
    shot s;
    int bounced;
    open_shot(&s, true);
    s.size = 1;
    for (int i = 0; i < 10; ++i)
    {
        scene_mesh mesh = scene_box(1, .8f, .5f, 6);
        scene_mesh_turn(&mesh, (float)sin(i), (float)cos(3 * i), (float)sin(5 * i), .5f);
        scene_mesh_move(&mesh, .3f * (float)sin(7 * i), .3f * (float)cos(11 * i), 0);
        add_body(&s, mesh, 200, .3 + 1.1 * i);
    }
    int still = still_from(&s, 480, &bounced);
    CHECK_MSG(still - bounced < 96 && still < 479, "seen to bounce until frame %d, moves until %d",
              bounced, still);
    close_shot(&s);
}

/* Stacked bodies gain no energy. A contact may slip occasionally, for a few frames. */
TEST_SLOW(resting_contacts_add_no_energy)
{
    shot s;
    open_shot(&s, true);
    s.size = 1;
    CHECK_OK(pliant_scene_set_sleep(s.scene, 0, 0));
    for (int i = 0; i < 2; ++i)
        add_body(&s, scene_box(1, 1, .5f, 4), 150, .01 + .52 * i);
    double most = 0;
    int moving = 0;
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.dt = 1.0 / 24;
    for (int f = 0; f < 2000; ++f)
    {
        double energy = 0;
        CHECK_OK(pliant_scene_advance(s.scene, &frame));
        for (uint32_t b = 0; b < s.bodies && f > 600; ++b)
        {
            pliant_body_info info = cube_info(s.body[b]);
            energy = fmax(energy, info.kinetic_energy / info.mass);
        }
        moving += energy > 1e-7;
        most = fmax(most, energy);
    }
    CHECK_MSG(most < 1e-3 && moving < 140, "%g J a kilogram at most, moves in %d of 1400 frames",
              most, moving);
    close_shot(&s);
}
