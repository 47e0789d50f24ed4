// SPDX-License-Identifier: GPL-3.0-or-later
#include "small_scenes.h"

#include "native/support/test.h"
#include "scenes/meshes.h"
#include "scenes/points.h"

#include <string.h>

enum
{
    MOST_POINTS = 3000 /* of a body that is stretched */
};

pliant_scene small_empty(uint32_t simd)
{
    pliant_scene scene = 0;
    pliant_scene_desc desc;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = 1;
    desc.simd = simd;
    if (pliant_scene_create(&desc, &scene) == PLIANT_ERROR_UNSUPPORTED)
    {
        desc.simd = PLIANT_SIMD_AUTO;
        CHECK_OK(pliant_scene_create(&desc, &scene));
    }
    return scene;
}

static pliant_body_desc body_desc(void)
{
    pliant_body_desc desc;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.cluster.count = 4;
    desc.material.stiffness = 3;
    desc.angular_velocity[2] = 2;
    return desc;
}

/* A box of points with edges nx, ny and nz thirds, about (0, 0, z). */
static pliant_body add_box(pliant_scene scene, pliant_body_desc desc, uint32_t nx, uint32_t ny,
                           uint32_t nz, double z)
{
    pliant_body body = 0;
    scene_points points = scene_points_box(nx, ny, nz, nx / 3., ny / 3., nz / 3., .4, 1);
    desc.points = points.at;
    desc.point_count = points.count;
    desc.points_origin[2] = z;
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    scene_points_free(&points);
    return body;
}

static void frames(pliant_scene scene, int count)
{
    pliant_frame_desc desc;
    pliant_frame_desc_init(&desc, sizeof desc);
    desc.substeps = 3;
    for (int f = 0; f < count; ++f)
        CHECK_OK(pliant_scene_advance(scene, &desc));
}

static void calm(pliant_scene scene)
{
    const double none[3] = {0, 0, 0};
    CHECK_OK(pliant_scene_set_gravity(scene, none));
}

void small_add_ground(pliant_scene scene)
{
    pliant_collider ground;
    pliant_collider_desc desc;
    pliant_collider_desc_init(&desc, sizeof desc);
    CHECK_OK(pliant_collider_create(scene, &desc, &ground));
}

static void collide(pliant_scene scene)
{
    pliant_contact_desc desc;
    pliant_contact_desc_init(&desc, sizeof desc);
    desc.enabled = 1;
    desc.iterations = 2;
    CHECK_OK(pliant_scene_set_contacts(scene, &desc));
}

void small_stretch(pliant_body body, float x, float y, float z)
{
    float at[3 * MOST_POINTS];
    uint64_t bytes = sizeof at;
    const float by[3] = {x, y, z};
    CHECK_OK(pliant_body_read(body, PLIANT_POSITION, 0, NULL, at, &bytes));
    uint32_t count = (uint32_t)(bytes / 12);
    for (uint32_t i = 0; i < 3 * count; ++i)
        at[i] *= by[i % 3];
    CHECK_OK(pliant_body_set_particles(body, count, NULL, at, NULL));
}

static void let_break(pliant_body body, uint32_t cells)
{
    pliant_fracture_desc desc;
    pliant_fracture_desc_init(&desc, sizeof desc);
    desc.toughness = .1;
    desc.cells = cells;
    CHECK_OK(pliant_body_set_fracture(body, &desc));
}

/* ------------------------------------------------------------------ the kinds */

static void make_levels(pliant_scene scene, uint32_t kind)
{
    pliant_body_desc desc = body_desc();
    desc.levels.count = 3;
    desc.levels.reduction = 2;
    desc.levels.kind = kind;
    add_box(scene, desc, 4, 4, 4, 2);
    small_add_ground(scene);
    frames(scene, 2);
}

static void make_pinned(pliant_scene scene)
{
    float factors[36], pins[36], pushes[3 * 36];
    pliant_body_desc desc = body_desc();
    for (int i = 0; i < 36; ++i)
    {
        factors[i] = .5f + (float)(i % 5) / 4;
        pins[i] = i % 3 == 0 ? PLIANT_PIN_HELD : i % 3 == 1 ? 4.f : 0.f;
        for (int k = 0; k < 3; ++k)
            pushes[3 * i + k] = (float)(i % 5) - 2;
    }
    desc.stiffness_factor = desc.damping_factor = desc.strain_limit_factor = factors;
    desc.density_factor = factors;
    desc.material.strain_limit = .05;
    pliant_body body = add_box(scene, desc, 4, 3, 3, 0);
    CHECK_OK(pliant_body_set_pins(body, 36, pins));
    CHECK_OK(pliant_body_set_accelerations(body, 36, pushes));
    frames(scene, 2);
}

static void make_shapes(pliant_scene scene)
{
    add_box(scene, body_desc(), 3, 3, 3, 0);
    for (uint32_t shape = 0; shape <= PLIANT_SHAPE_CYLINDER; ++shape)
    {
        pliant_collider collider;
        pliant_collider_desc desc;
        pliant_collider_desc_init(&desc, sizeof desc);
        desc.shape = shape;
        desc.pose.position[2] = -.6 - .1 * shape;
        desc.pose.extent[0] = desc.pose.extent[1] = desc.pose.extent[2] = .4;
        desc.surface_spin[2] = 1;
        CHECK_OK(pliant_collider_create(scene, &desc, &collider));
    }
    for (uint32_t kind = 0; kind <= PLIANT_FIELD_DRAG; ++kind)
    {
        pliant_field field;
        pliant_field_desc desc;
        pliant_field_desc_init(&desc, sizeof desc);
        desc.kind = kind;
        CHECK_OK(pliant_field_create(scene, &desc, &field));
    }
    frames(scene, 2);
}

static void make_pressure(pliant_scene scene)
{
    pliant_body body;
    pliant_body_desc desc = body_desc();
    scene_mesh mesh = scene_icosphere(.5f, 1);
    desc.mesh.vertices = mesh.vertices, desc.mesh.vertex_count = mesh.vertex_count;
    desc.mesh.triangles = mesh.triangles, desc.mesh.triangle_count = mesh.triangle_count;
    desc.sample.count = 40;
    desc.material.pressure = 2000;
    desc.material.inflation = 1.2;
    CHECK_OK(pliant_body_create(scene, &desc, &body));
    scene_mesh_free(&mesh);
    frames(scene, 2);
}

static void make_meshes(pliant_scene scene)
{
    add_box(scene, body_desc(), 3, 3, 3, 0);
    for (int ball = 0; ball < 2; ++ball)
    {
        pliant_collider collider;
        pliant_collider_desc desc;
        pliant_mesh_desc shape;
        scene_mesh mesh = ball ? scene_icosphere(.3f, 1) : scene_sheet(2, 2, 4, 4);
        scene_mesh_move(&mesh, ball ? .6f : 0, 0, -.5f);
        pliant_collider_desc_init(&desc, sizeof desc);
        pliant_mesh_desc_init(&shape, sizeof shape);
        desc.shape = ball ? PLIANT_SHAPE_MESH : PLIANT_SHAPE_SHELL;
        shape.vertex_count = mesh.vertex_count, shape.vertices = mesh.vertices;
        shape.triangle_count = mesh.triangle_count, shape.triangles = mesh.triangles;
        CHECK_OK(pliant_collider_create_mesh(scene, &desc, &shape, &collider));
        scene_mesh_move(&mesh, 0, 0, .1f);
        CHECK_OK(pliant_collider_set_mesh(collider, mesh.vertex_count, NULL, mesh.vertices));
        scene_mesh_free(&mesh);
    }
    frames(scene, 3);
}

static void make_flow(pliant_scene scene)
{
    pliant_body_desc desc = body_desc();
    calm(scene);
    desc.levels.count = 2;
    desc.levels.reduction = 2;
    desc.material.yield = 0;
    desc.material.recluster_condition = 1.2;
    desc.material.recluster_fade_in = .1;
    desc.material.recluster_fade_out = .15;
    pliant_body body = add_box(scene, desc, 4, 4, 4, 0);
    small_stretch(body, 1.6f, .8f, .8f);
    frames(scene, 6);
}

static void make_resampled(pliant_scene scene, bool drawn)
{
    pliant_body_desc desc = body_desc();
    calm(scene);
    desc.material.damping = 2;
    desc.material.yield = 0;
    desc.material.flow = 1000;
    desc.material.resample = 1;
    desc.angular_velocity[2] = 0;
    pliant_body body = drawn ? add_box(scene, desc, 6, 3, 3, 0) : add_box(scene, desc, 4, 4, 4, 0);
    small_stretch(body, drawn ? 2.6f : 2.2f, drawn ? .62f : 2.2f, drawn ? .62f : .2f);
    frames(scene, 3);
}

static void make_broken(pliant_scene scene, uint32_t kind)
{
    pliant_body_desc desc = body_desc();
    if (kind == SMALL_FRAGMENTS)
    {
        desc.levels.count = 2;
        desc.levels.reduction = 2;
        desc.material.yield = .05;
        small_add_ground(scene);
        collide(scene);
    }
    else
        calm(scene);
    desc.cluster.count = 6;
    desc.material.stiffness = 6;
    pliant_body body = add_box(scene, desc, 7, 3, 3, kind == SMALL_FRAGMENTS ? .6 : 0);
    let_break(body, kind == SMALL_CELLS ? 5 : 0);
    small_stretch(body, 1.5f, .9f, .9f);
    frames(scene, 3);
}

static void make_welded(pliant_scene scene)
{
    pliant_weld_desc weld;
    uint32_t welds = 0;
    pliant_body lower = add_box(scene, body_desc(), 3, 3, 3, .5);
    pliant_body upper = add_box(scene, body_desc(), 3, 3, 3, 1.5);
    small_add_ground(scene);
    collide(scene);
    pliant_weld_desc_init(&weld, sizeof weld);
    weld.body = lower, weld.other = upper;
    CHECK_OK(pliant_scene_weld(scene, &weld, &welds));
    CHECK(welds > 0);
    weld.other = 0;
    weld.strength = 1e4;
    CHECK_OK(pliant_scene_get_collider(scene, 0, &weld.collider));
    CHECK_OK(pliant_scene_weld(scene, &weld, &welds));
    CHECK(welds > 0);
    frames(scene, 2);
}

static void make_asleep(pliant_scene scene)
{
    pliant_body_desc desc = body_desc();
    calm(scene);
    desc.angular_velocity[2] = 0;
    add_box(scene, desc, 3, 3, 3, 0);
    add_box(scene, desc, 3, 3, 3, .98);
    collide(scene);
    CHECK_OK(pliant_scene_set_sleep(scene, 100, .05));
    frames(scene, 4);
}

static int32_t stop_in_the_middle(void* user, double fraction, const char* stage)
{
    (void)user, (void)stage;
    return fraction > .4;
}

static void make_partly(pliant_scene scene)
{
    pliant_frame_desc desc;
    add_box(scene, body_desc(), 3, 3, 3, .5);
    add_box(scene, body_desc(), 3, 3, 3, 1.4);
    small_add_ground(scene);
    collide(scene);
    frames(scene, 1);
    pliant_frame_desc_init(&desc, sizeof desc);
    desc.substeps = 4;
    desc.progress = stop_in_the_middle;
    CHECK(pliant_scene_advance(scene, &desc) == PLIANT_CANCELLED);
}

static void make_plain(pliant_scene scene, uint32_t kind)
{
    pliant_body_desc desc = body_desc();
    if (kind == SMALL_QUADRATIC)
        desc.material.goal = PLIANT_GOAL_QUADRATIC, desc.cluster.count = 2;
    pliant_body body = add_box(scene, desc, 3, 3, 3, .5);
    if (kind == SMALL_FOLLOW)
        CHECK_OK(pliant_body_set_follow(body, 1));
    small_add_ground(scene);
    frames(scene, 2);
}

pliant_scene small_scene(uint32_t kind)
{
    pliant_scene scene = small_empty(PLIANT_SIMD_AUTO);
    small_fill(scene, kind);
    return scene;
}

void small_fill(pliant_scene scene, uint32_t kind)
{
    switch (kind)
    {
        case SMALL_NESTED:
        case SMALL_INDEPENDENT:
            make_levels(scene,
                        kind == SMALL_NESTED ? PLIANT_LEVELS_NESTED : PLIANT_LEVELS_INDEPENDENT);
            break;
        case SMALL_PINNED:
            make_pinned(scene);
            break;
        case SMALL_SHAPES:
            make_shapes(scene);
            break;
        case SMALL_PRESSURE:
            make_pressure(scene);
            break;
        case SMALL_MESHES:
            make_meshes(scene);
            break;
        case SMALL_FLOW:
            make_flow(scene);
            break;
        case SMALL_DRAWN:
        case SMALL_PRESSED:
            make_resampled(scene, kind == SMALL_DRAWN);
            break;
        case SMALL_BROKEN:
        case SMALL_FRAGMENTS:
        case SMALL_CELLS:
            make_broken(scene, kind);
            break;
        case SMALL_WELDED:
            make_welded(scene);
            break;
        case SMALL_ASLEEP:
            make_asleep(scene);
            break;
        case SMALL_PARTLY:
            make_partly(scene);
            break;
        default:
            make_plain(scene, kind);
    }
}
