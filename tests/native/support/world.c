// SPDX-License-Identifier: GPL-3.0-or-later
#include "native/support/world.h"

#include "scenes/meshes.h"

#include <base/hash.h>
#include <base/rng.h>
#include <stdlib.h>
#include <string.h>

enum
{
    SIDE = 6,
    MOST_POINTS = 1000
};

static const char* const names[WORLD_KINDS] = {
    "plain",   "nested", "independent",   "linear",    "quadratic", "limit",
    "pins",    "follow", "accelerations", "colliders", "fields",    "pressure",
    "painted", "meshes", "plastic",       "flow",      "breaking",  "all"};

const char* world_name(uint32_t kind)
{
    return kind < WORLD_KINDS ? names[kind] : "?";
}

/* ------------------------------------------------------------------ making */

pliant_body_desc world_cube(uint32_t n)
{
    static float points[3 * MOST_POINTS];
    pliant_body_desc desc;
    pl_rng rng = pl_rng_seed(1);
    pliant_body_desc_init(&desc, sizeof desc);
    desc.points = points;
    desc.point_count = n * n * n;
    for (uint32_t i = 0; i < n * n * n; ++i)
    {
        uint32_t at[3] = {i % n, i / n % n, i / n / n};
        for (int k = 0; k < 3; ++k)
            points[3 * i + (uint32_t)k] = (float)((at[k] + .3 + .4 * pl_rng_unit(&rng)) / n);
    }
    desc.cluster.count = n * n * n / 15 + 1;
    desc.velocity[0] = .5;
    desc.angular_velocity[2] = 3;
    desc.material.stiffness = 3;
    return desc;
}

static void specialise(uint32_t kind, pliant_body_desc* desc)
{
    static float factors[MOST_POINTS];
    switch (kind)
    {
        case WORLD_NESTED:
        case WORLD_INDEPENDENT:
            desc->levels.count = 3;
            desc->levels.reduction = 3;
            desc->levels.kind =
                kind == WORLD_NESTED ? PLIANT_LEVELS_NESTED : PLIANT_LEVELS_INDEPENDENT;
            break;
        case WORLD_LINEAR:
        case WORLD_QUADRATIC:
            desc->material.goal = kind == WORLD_LINEAR ? PLIANT_GOAL_LINEAR : PLIANT_GOAL_QUADRATIC;
            desc->cluster.count = 3;
            break;
        case WORLD_LIMIT:
            desc->material.strain_limit = .01;
            desc->angular_velocity[2] = 8;
            break;
        case WORLD_PLASTIC: /* its spin alone is over the yield strain */
            desc->levels.count = 3;
            desc->levels.reduction = 3;
            desc->material.strain_limit = .2;
            desc->material.yield = .002;
            desc->material.hardening = .05;
            desc->material.plastic_limit = .4;
            break;
        case WORLD_BREAKING:
            desc->levels.count = 3;
            desc->levels.reduction = 3;
            desc->angular_velocity[2] = 14;
            desc->material.strain_limit = .2;
            desc->material.yield = .05;
            break;
        case WORLD_FLOW:
            desc->levels.count = 3;
            desc->levels.reduction = 3;
            desc->angular_velocity[2] = 6;
            desc->material.strain_limit = .5;
            desc->material.yield = 0;
            desc->material.recluster_condition = 1.2;
            desc->material.recluster_fade_in = .1;
            desc->material.recluster_fade_out = .15;
            break;
        case WORLD_PAINTED:
            for (uint32_t i = 0; i < desc->point_count; ++i)
                factors[i] = .5f + (float)(i % 7) / 4;
            desc->stiffness_factor = desc->damping_factor = factors;
            desc->strain_limit_factor = desc->density_factor = factors;
            desc->yield_factor = desc->flow_factor = desc->hardening_factor = factors;
            desc->material.strain_limit = .05;
            break;
        default:
            break;
    }
}

static pliant_status add_mesh_body(pliant_scene scene)
{
    pliant_body body;
    pliant_body_desc desc;
    scene_mesh mesh = scene_icosphere(.5f, 2);
    pliant_body_desc_init(&desc, sizeof desc);
    desc.mesh.vertices = mesh.vertices;
    desc.mesh.vertex_count = mesh.vertex_count;
    desc.mesh.triangles = mesh.triangles;
    desc.mesh.triangle_count = mesh.triangle_count;
    desc.mesh.origin[2] = 2;
    desc.sample.count = 200;
    desc.cluster.count = 12;
    desc.material.pressure = 2000;
    desc.material.inflation = 1.2;
    desc.angular_velocity[0] = 1;
    pliant_status status = pliant_body_create(scene, &desc, &body);
    scene_mesh_free(&mesh);
    return status;
}

static pliant_status add_colliders(pliant_scene scene)
{
    pliant_collider collider;
    pliant_collider_desc desc;
    pliant_collider_desc_init(&desc, sizeof desc);
    desc.pose.position[2] = -.05;
    pliant_status status = pliant_collider_create(scene, &desc, &collider);
    desc.shape = PLIANT_SHAPE_SPHERE;
    desc.pose.position[0] = 1.6;
    desc.pose.position[1] = desc.pose.position[2] = .5;
    desc.pose.extent[0] = .4;
    desc.restitution = .5;
    return status ? status : pliant_collider_create(scene, &desc, &collider);
}

/* The two meshes of WORLD_MESHES as they are at the end of a frame. */
static scene_mesh collider_mesh(int ball, uint64_t frame)
{
    scene_mesh mesh = ball ? scene_icosphere(.4f, 2) : scene_sheet(4, 4, 12, 12);
    for (uint32_t i = 0; !ball && i < mesh.vertex_count; ++i)
        mesh.vertices[3 * i + 2] = .05f * sinf(3 * mesh.vertices[3 * i] + .4f * (float)frame) - .1f;
    if (ball)
        scene_mesh_move(&mesh, 1.6f - .08f * (float)frame, .5f, .5f);
    return mesh;
}

static pliant_status add_mesh_colliders(pliant_scene scene)
{
    pliant_status status = PLIANT_OK;
    for (int ball = 0; ball < 2 && !status; ++ball)
    {
        pliant_collider collider;
        pliant_collider_desc desc;
        pliant_mesh_desc shape;
        scene_mesh mesh = collider_mesh(ball, 0);
        pliant_collider_desc_init(&desc, sizeof desc);
        pliant_mesh_desc_init(&shape, sizeof shape);
        desc.shape = ball ? PLIANT_SHAPE_MESH : PLIANT_SHAPE_SHELL;
        desc.thickness = ball ? 0 : .01;
        desc.restitution = ball ? .5 : 0;
        shape.vertex_count = mesh.vertex_count, shape.vertices = mesh.vertices;
        shape.triangle_count = mesh.triangle_count, shape.triangles = mesh.triangles;
        status = pliant_collider_create_mesh(scene, &desc, &shape, &collider);
        scene_mesh_free(&mesh);
    }
    return status;
}

static void drive_mesh_colliders(pliant_scene scene, uint64_t frame)
{
    for (int ball = 0; ball < 2; ++ball)
    {
        pliant_collider collider;
        scene_mesh mesh = collider_mesh(ball, frame + 1);
        CHECK_OK(pliant_scene_get_collider(scene, (uint32_t)ball, &collider));
        CHECK_OK(pliant_collider_set_mesh(collider, mesh.vertex_count, NULL, mesh.vertices));
        scene_mesh_free(&mesh);
    }
}

static pliant_status add_fields(pliant_scene scene)
{
    pliant_field field;
    pliant_field_desc desc;
    pliant_field_desc_init(&desc, sizeof desc);
    desc.kind = PLIANT_FIELD_TURBULENCE;
    desc.strength = 5;
    desc.noise_size = .3;
    pliant_status status = pliant_field_create(scene, &desc, &field);
    desc.kind = PLIANT_FIELD_VORTEX;
    desc.falloff_power = 1;
    return status ? status : pliant_field_create(scene, &desc, &field);
}

static pliant_status let_break(pliant_scene scene, pliant_body body)
{
    pliant_fracture_desc desc;
    pliant_contact_desc contacts;
    pliant_fracture_desc_init(&desc, sizeof desc);
    pliant_contact_desc_init(&contacts, sizeof contacts);
    desc.toughness = .1;
    desc.boost = 2;
    contacts.enabled = 1;
    pliant_status status = pliant_scene_set_contacts(scene, &contacts);
    return status ? status : pliant_body_set_fracture(body, &desc);
}

pliant_status world_fill(uint32_t kind, pliant_scene scene)
{
    pliant_body body;
    pliant_status status = PLIANT_OK;
    if (kind == WORLD_ALL)
    {
        static const uint32_t kinds[] = {WORLD_NESTED, WORLD_PRESSURE, WORLD_QUADRATIC,
                                         WORLD_FIELDS, WORLD_LIMIT,    WORLD_COLLIDERS};
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !status; ++i)
            status = world_fill(kinds[i], scene);
        return status;
    }
    if (kind == WORLD_PRESSURE)
        return add_mesh_body(scene);
    pliant_body_desc desc = world_cube(SIDE);
    specialise(kind, &desc);
    status = pliant_body_create(scene, &desc, &body);
    if (!status && kind == WORLD_COLLIDERS)
        status = add_colliders(scene);
    if (!status && (kind == WORLD_MESHES || kind == WORLD_BREAKING))
        status = add_mesh_colliders(scene);
    if (!status && kind == WORLD_BREAKING)
        status = let_break(scene, body);
    if (!status && kind == WORLD_FIELDS)
        status = add_fields(scene);
    return status;
}

pliant_scene world_make(uint32_t kind)
{
    pliant_scene scene = 0;
    pliant_scene_desc desc;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = 1;
    pliant_status status = pliant_scene_create(&desc, &scene);
    if (!status)
        status = world_fill(kind, scene);
    if (!status)
        return scene;
    test_failed(__FILE__, __LINE__, "world %s: %s", world_name(kind), pliant_last_error());
    pliant_scene_destroy(scene);
    return 0;
}

/* ------------------------------------------------------------------ driving */

static void drive_pins(uint32_t kind, pliant_body body, uint64_t frame)
{
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    CHECK_OK(pliant_body_get_info(body, &info));
    uint64_t bytes;
    float* targets = world_read(body, PLIANT_REST, 0, &bytes);
    float* frequency = calloc(info.particles, sizeof *frequency);
    for (uint32_t i = 0; i < info.particles && targets; ++i)
    {
        if (targets[3 * i] < .3f)
            frequency[i] = i % 2 ? PLIANT_PIN_HELD : 4;
        targets[3 * i + 1] += .04f * (float)(frame + 1);
        targets[3 * i + 2] += .02f * (float)(frame % 3);
    }
    if (kind == WORLD_PINS)
        CHECK_OK(pliant_body_set_pins(body, info.particles, frequency));
    else
        CHECK_OK(pliant_body_set_follow(body, frame < 4));
    if (targets)
        CHECK_OK(pliant_body_set_pin_targets(body, info.particles, NULL, targets));
    free(targets);
    free(frequency);
}

static void drive_accelerations(pliant_body body, uint64_t frame)
{
    float accelerations[3 * SIDE * SIDE * SIDE];
    for (uint32_t i = 0; i < SIDE * SIDE * SIDE; ++i)
        for (uint32_t k = 0; k < 3; ++k)
            accelerations[3 * i + k] = (float)((i + k + frame) % 5) - 2;
    CHECK_OK(pliant_body_set_accelerations(body, frame % 4 == 3 ? 0 : SIDE * SIDE * SIDE,
                                           frame % 4 == 3 ? NULL : accelerations));
}

static void drive_colliders(pliant_scene scene, uint64_t frame)
{
    pliant_collider ground, ball;
    pliant_pose pose = {
        {0, 0, -.05 + .01 * (double)frame}, {1, 0, .01 * (double)frame, 0}, {1, 1, 1}};
    CHECK_OK(pliant_scene_get_collider(scene, 0, &ground));
    CHECK_OK(pliant_scene_get_collider(scene, 1, &ball));
    CHECK_OK(pliant_collider_move(ground, &pose));
    pose = (pliant_pose){{1.6 - .08 * (double)frame, .5, .5}, {1, 0, 0, (double)frame}, {.4, 1, 1}};
    CHECK_OK(pliant_collider_move(ball, &pose));
}

static void drive_fields(pliant_scene scene, uint64_t frame)
{
    pliant_field field;
    pliant_field_desc desc;
    pliant_field_desc_init(&desc, sizeof desc);
    desc.kind = PLIANT_FIELD_TURBULENCE;
    desc.strength = 5 + (double)frame;
    desc.noise_size = .3;
    desc.matrix[3] = .1 * (double)frame;
    CHECK_OK(pliant_scene_get_field(scene, 0, &field));
    CHECK_OK(pliant_field_set(field, &desc));
}

void world_drive(uint32_t kind, pliant_scene scene, uint64_t frame)
{
    if (kind == WORLD_PINS || kind == WORLD_FOLLOW)
        drive_pins(kind, world_body(scene, 0), frame);
    if (kind == WORLD_ACCELERATIONS || kind == WORLD_BREAKING)
        drive_accelerations(world_body(scene, 0), frame);
    if (kind == WORLD_COLLIDERS || kind == WORLD_ALL)
        drive_colliders(scene, frame);
    if (kind == WORLD_MESHES || kind == WORLD_BREAKING)
        drive_mesh_colliders(scene, frame);
    if (kind == WORLD_FIELDS || kind == WORLD_ALL)
        drive_fields(scene, frame);
}

pliant_frame_desc world_frame_desc(void)
{
    pliant_frame_desc desc;
    pliant_frame_desc_init(&desc, sizeof desc);
    desc.substeps = 4;
    return desc;
}

pliant_status world_frame(uint32_t kind, pliant_scene scene)
{
    pliant_scene_info info;
    pliant_frame_desc desc = world_frame_desc();
    pliant_scene_info_init(&info, sizeof info);
    CHECK_OK(pliant_scene_get_info(scene, &info));
    world_drive(kind, scene, info.frame);
    return pliant_scene_advance(scene, &desc);
}

/* ------------------------------------------------------------------ looking */

pliant_body world_body(pliant_scene scene, uint32_t index)
{
    pliant_body body = 0;
    CHECK_OK(pliant_scene_get_body(scene, index, &body));
    return body;
}

uint64_t world_hash(pliant_scene scene)
{
    uint64_t hash = 0;
    CHECK_OK(pliant_scene_hash(scene, &hash));
    return hash;
}

void* world_save(pliant_scene scene, uint64_t* bytes)
{
    CHECK_OK(pliant_scene_save(scene, NULL, bytes));
    void* block = malloc(*bytes);
    CHECK_OK(pliant_scene_save(scene, block, bytes));
    return block;
}

pliant_body world_renew(pliant_scene scene)
{
    uint64_t bytes = 0;
    void* block = world_save(scene, &bytes);
    CHECK_OK(pliant_scene_restore(scene, block, bytes));
    free(block);
    return world_body(scene, 0);
}

uint64_t world_state(pliant_scene scene)
{
    uint64_t bytes = 0;
    void* block = world_save(scene, &bytes);
    uint64_t hash = pl_hash(PL_HASH_START, block, bytes);
    free(block);
    return hash;
}

void* world_read(pliant_body body, uint32_t channel, uint32_t level, uint64_t* bytes)
{
    *bytes = 0;
    if (pliant_body_read(body, channel, level, NULL, NULL, bytes) == PLIANT_OK)
    {
        void* buffer = malloc(*bytes + 1);
        if (pliant_body_read(body, channel, level, NULL, buffer, bytes) == PLIANT_OK)
            return buffer;
        free(buffer);
    }
    test_failed(__FILE__, __LINE__, "reading channel %u gave %s", channel, pliant_last_error());
    return NULL;
}

bool world_finite(pliant_body body)
{
    static const uint32_t whole[] = {PLIANT_MASS_QUANTA, PLIANT_SHELL, PLIANT_NEAREST_CLUSTER,
                                     PLIANT_MEMBER_BEGIN, PLIANT_MEMBER_PARTICLE};
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    if (pliant_body_get_info(body, &info) != PLIANT_OK)
        return false;
    bool finite = isfinite(info.kinetic_energy) && isfinite(info.centre[0]) && isfinite(info.mass);
    for (uint32_t channel = 0; channel <= PLIANT_MEMBER_OFFSET; ++channel)
        for (uint32_t level = 0; level < info.levels; ++level)
        {
            uint64_t bytes = 0;
            float* values = world_read(body, channel, level, &bytes);
            bool integers = false;
            for (size_t i = 0; i < sizeof whole / sizeof whole[0]; ++i)
                integers = integers || whole[i] == channel;
            for (uint64_t i = 0; values && !integers && i < bytes / sizeof(float); ++i)
                if (!isfinite(values[i]))
                {
                    if (finite)
                        printf("    channel %u of level %u has %g at %llu\n", channel, level,
                               (double)values[i], (unsigned long long)i);
                    finite = false;
                }
            finite = finite && values;
            free(values);
        }
    return finite;
}
