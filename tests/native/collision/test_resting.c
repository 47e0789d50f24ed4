// SPDX-License-Identifier: GPL-3.0-or-later
/* Bodies at rest for 2,000 frames without sleep gain no energy from contacts, friction and overlap
 * recovery. */
#include "native/support/contact_bodies.h"

#include <math.h>
#include <string.h>

#define GRAVITY 9.81

enum
{
    FRAMES = 2000,
    SETTLE = 240,
    SIDE = 5,
    GRID = 24
};

typedef enum ground
{
    PLANE,
    SHELL,
    BUMPS /* of triangles, too */
} ground;

typedef struct resting
{
    contact_scene s;
    double down[3]; /* gravity */
} resting;

/* A slope is tilted gravity. */
static void open_resting(resting* r, double slope)
{
    pliant_contact_desc contacts;
    pliant_scene_desc desc;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = 1;
    r->down[0] = desc.gravity[0] = GRAVITY * sin(slope);
    r->down[1] = 0;
    r->down[2] = desc.gravity[2] = -GRAVITY * cos(slope);
    CHECK_OK(pliant_scene_create(&desc, &r->s.handle));
    CHECK_OK(pl_get_scene(r->s.handle, &r->s.scene));
    pliant_contact_desc_init(&contacts, sizeof contacts);
    contacts.enabled = 1;
    CHECK_OK(pliant_scene_set_contacts(r->s.handle, &contacts));
}

/* A plane, or a plate of many triangles. */
static void add_ground(const resting* r, ground kind)
{
    static float at[3 * GRID * GRID];
    static uint32_t triangles[6 * (GRID - 1) * (GRID - 1)];
    uint32_t count = 0;
    pliant_collider_desc desc;
    pliant_collider collider;
    pliant_collider_desc_init(&desc, sizeof desc);
    desc.friction = 1;
    if (kind == PLANE)
    {
        CHECK_OK(pliant_collider_create(r->s.handle, &desc, &collider));
        return;
    }
    for (uint32_t i = 0; i < GRID * GRID; ++i)
    {
        at[3 * i] = (float)(i % GRID) / (GRID - 1) * 4 - 2;
        at[3 * i + 1] = (float)(i / GRID) / (GRID - 1) * 4 - 2;
        at[3 * i + 2] = kind == SHELL ? 0 : .02f * sinf(5 * at[3 * i]) * cosf(4 * at[3 * i + 1]);
    }
    for (uint32_t j = 0; j + 1 < GRID; ++j)
        for (uint32_t i = 0; i + 1 < GRID; ++i)
        {
            uint32_t a = j * GRID + i, b = a + 1, c = a + GRID, d = c + 1;
            const uint32_t six[6] = {a, b, d, a, d, c};
            memcpy(triangles + count, six, sizeof six);
            count += 6;
        }
    pliant_mesh_desc mesh;
    pliant_mesh_desc_init(&mesh, sizeof mesh);
    mesh.vertices = at, mesh.vertex_count = GRID * GRID;
    mesh.triangles = triangles, mesh.triangle_count = count / 3;
    desc.shape = PLIANT_SHAPE_SHELL;
    CHECK_OK(pliant_collider_create_mesh(r->s.handle, &desc, &mesh, &collider));
}

static void add_boxes(const resting* r, int count)
{
    for (int i = 0; i < count; ++i)
    {
        pliant_body_desc how = contact_how(8, 6, 11);
        scene_points points = scene_points_box(SIDE, SIDE, SIDE, 1, 1, .8, .3, 1 + (uint32_t)i);
        contact_add(r->s.handle, points, &how, v3(0, 0, .33 + .7 * i), v3(0, 0, 0));
    }
}

/* Kinetic plus potential energy per kilogram; "moving": kinetic alone. */
static double energy(const resting* r, double* moving)
{
    double sum = 0, mass = 0;
    *moving = 0;
    for (uint32_t b = 0; b < r->s.scene->body_count; ++b)
    {
        const pl_body* body = r->s.scene->bodies[b];
        const pl_particles* p = &body->particles;
        mass += body->mass;
        for (uint32_t slot = 0; slot < p->slot_count; ++slot)
        {
            vec3 v = pl_contact_velocity(body, slot), x = contact_world(body, slot);
            *moving += .5 * p->mass[slot] * v3_dot(v, v);
            sum += p->mass[slot] * (.5 * v3_dot(v, v) - v3_dot(v3_fromd(r->down), x));
        }
    }
    *moving /= mass;
    return sum / mass;
}

typedef struct rest_figures
{
    double gained, moving; /* largest rise above the least energy; largest kinetic energy */
    double drift;          /* of energy, from the first to the last frame at rest */
} rest_figures;

static rest_figures watch_rest(ground kind, double slope, int boxes)
{
    resting r;
    rest_figures f = {0};
    pliant_frame_desc frame;
    double lowest = INFINITY, first = 0;
    pliant_frame_desc_init(&frame, sizeof frame);
    open_resting(&r, slope);
    add_ground(&r, kind);
    add_boxes(&r, boxes);
    for (int i = 0; i < FRAMES; ++i)
    {
        double moving;
        CHECK_OK(pliant_scene_advance(r.s.handle, &frame));
        if (i < SETTLE)
            continue;
        double now = energy(&r, &moving);
        first = i == SETTLE ? now : first;
        lowest = fmin(lowest, now);
        f.gained = fmax(f.gained, now - lowest);
        f.moving = fmax(f.moving, moving);
        f.drift = now - first;
    }
    pliant_scene_destroy(r.s.handle);
    return f;
}

/* In joules a kilogram: a millimetre of height is .01. */
static void check_rest(const char* what, const rest_figures* f, double gained, double moving)
{
    CHECK_MSG(f->gained < gained, "%s: energy rose by %g J/kg", what, f->gained);
    CHECK_MSG(f->moving < moving, "%s: %g J/kg of motion", what, f->moving);
    CHECK_MSG(f->drift < .3 * gained, "%s: energy went up by %g J/kg", what, f->drift);
}

static void check_box(const char* what, ground kind, double slope)
{
    rest_figures f = watch_rest(kind, slope, 1);
    check_rest(what, &f, 1e-5, 1e-8);
}

/* Stacked bodies sway by a few hundredths of a millimetre. */
static void check_stack(const char* what, double slope, int boxes)
{
    rest_figures f = watch_rest(PLANE, slope, boxes);
    check_rest(what, &f, 1e-2, 1e-3);
}

TEST_SLOW(a_box_on_a_plane_gains_no_energy)
{
    check_box("box on a plane", PLANE, 0);
    check_box("box on a slope", PLANE, .25);
}

TEST_SLOW(a_box_on_a_mesh_gains_no_energy)
{
    check_box("box on a flat mesh", SHELL, 0);
    check_box("box on a bumpy mesh", BUMPS, 0);
    check_box("box on a sloping mesh", SHELL, .25);
}

TEST_SLOW(stacks_gain_next_to_no_energy)
{
    check_stack("two boxes", 0, 2);
    check_stack("three boxes", 0, 3);
    check_stack("two boxes on a slope", .1, 2);
}
