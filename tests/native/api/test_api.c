// SPDX-License-Identifier: GPL-3.0-or-later
/* Invalid arguments to the public API: every failure has a status and a sentence, and accepted
 * settings can be simulated without NaN or infinity. */
#include "native/support/small_body.h"

#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ helpers */

/* Cancels calls that take longer than any of these small bodies should. */
static int32_t give_up(void* user, double fraction, const char* stage)
{
    (void)fraction, (void)stage;
    return --*(int*)user < 0;
}

static pliant_status advance(pliant_scene scene, double dt)
{
    int patience = 500;
    pliant_frame_desc frame;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.dt = dt;
    frame.progress = give_up;
    frame.user = &patience;
    return pliant_scene_advance(scene, &frame);
}

/* A failure must have a sentence, and must not be an internal error. */
static void check_sentence(pliant_status status, const char* what, double value)
{
    const char* sentence = pliant_last_error();
    CHECK_MSG(status == PLIANT_OK || status == PLIANT_CANCELLED || strlen(sentence) > 10,
              "%s = %g: status %d with the sentence \"%s\"", what, value, (int)status, sentence);
    CHECK_MSG(status != PLIANT_ERROR_INTERNAL, "%s = %g: %s", what, value, sentence);
}

static bool is_finite(pliant_body body)
{
    uint64_t bytes = 0;
    bool finite = true;
    if (pliant_body_read(body, PLIANT_POSITION, 0, NULL, NULL, &bytes))
        return false;
    float* x = malloc(bytes);
    finite = x && !pliant_body_read(body, PLIANT_POSITION, 0, NULL, x, &bytes);
    for (uint64_t i = 0; finite && i < bytes / sizeof(float); ++i)
        finite = isfinite(x[i]);
    free(x);
    return finite;
}

/* Creates the body and, if that succeeds, simulates it for a while. */
static pliant_status try_body(const pliant_body_desc* given, const char* what, double value)
{
    pliant_scene scene = make_scene();
    pliant_body body = 0;
    pliant_body_desc desc = *given;
    int patience = 200000;
    desc.progress = give_up;
    desc.user = &patience;
    pliant_status status = pliant_body_create(scene, &desc, &body);
    check_sentence(status, what, value);
    for (int frame = 0; status == PLIANT_OK && frame < 3; ++frame)
    {
        status = advance(scene, 1.0 / 24);
        check_sentence(status, what, value);
        CHECK_MSG(status != PLIANT_OK || is_finite(body), "%s = %g: a position is not a number",
                  what, value);
    }
    CHECK_OK(pliant_scene_destroy(scene));
    return status;
}

/* ------------------------------------------------------------------ nonsense in every field */

typedef struct number
{
    const char* name;
    size_t offset;
    bool is_double;
} number;

#define U4(type, member)                                                                           \
    {                                                                                              \
#member, offsetof(type, member), false                                                     \
    }
#define F8(type, member)                                                                           \
    {                                                                                              \
#member, offsetof(type, member), true                                                      \
    }
#define B(member) U4(pliant_body_desc, member)
#define D(member) F8(pliant_body_desc, member)

static const number body_numbers[] = {
    B(size),
    B(mesh.size),
    D(mesh.origin[0]),
    D(mesh.origin[2]),
    B(sample.size),
    B(sample.mode),
    B(sample.count),
    B(sample.seed),
    D(sample.spacing),
    D(sample.thickness),
    B(sample.shells_apart),
    B(cluster.size),
    B(cluster.algorithm),
    B(cluster.kernel),
    B(cluster.count),
    D(cluster.cluster_size),
    D(cluster.radius),
    D(cluster.overlap),
    D(cluster.kernel_parameter),
    B(cluster.max_iterations),
    B(cluster.seed),
    B(cluster.fixed),
    B(levels.size),
    B(levels.kind),
    B(levels.count),
    B(levels.reduction),
    D(levels.radius_multiplier),
    B(levels.weighting),
    B(levels.favour_fine),
    D(levels.a),
    D(levels.b),
    D(levels.weights[0]),
    D(levels.damping[0]),
    B(material.size),
    B(material.stiffness_kind),
    D(material.stiffness),
    D(material.damping),
    D(material.density),
    D(material.strain_limit),
    D(material.strain_relaxation),
    B(material.strain_iterations),
    B(material.goal),
    D(material.beta),
    B(material.rotation),
    B(material.damping_per_step),
    D(material.pressure),
    D(material.inflation),
    D(material.drag),
    D(velocity[0]),
    D(velocity[2]),
    D(angular_velocity[1]),
};

static const double bad_doubles[] = {NAN,   INFINITY, -INFINITY, -1,   0,     1e-300,
                                     1e-30, DBL_MAX,  -DBL_MAX,  1e30, -1e-6, 4.9e-324};
static const uint32_t bad_integers[] = {0, 1, 2, 7, 1000, 0x7fffffff, 0x80000000, 0xffffffff};

static int variants(const number* n)
{
    return n->is_double ? (int)(sizeof bad_doubles / sizeof bad_doubles[0])
                        : (int)(sizeof bad_integers / sizeof bad_integers[0]);
}

/* Writes a variant into a descriptor and returns it for messages. */
static double spoil(void* desc, const number* n, int variant)
{
    char* at = (char*)desc + n->offset;
    if (n->is_double)
    {
        memcpy(at, &bad_doubles[variant], sizeof(double));
        return bad_doubles[variant];
    }
    memcpy(at, &bad_integers[variant], sizeof(uint32_t));
    return bad_integers[variant];
}

TEST(nonsense_in_any_field_of_a_body_does_no_harm)
{
    scene_mesh box = scene_box(1, 1, 1, 2);
    int refused = 0, taken = 0;
    for (size_t i = 0; i < sizeof body_numbers / sizeof body_numbers[0]; ++i)
        for (int variant = 0; variant < variants(&body_numbers[i]); ++variant)
        {
            pliant_body_desc desc = small_body(&box);
            double value = spoil(&desc, &body_numbers[i], variant);
            pliant_status status = try_body(&desc, body_numbers[i].name, value);
            CHECK_MSG(isfinite(value) || status != PLIANT_OK, "%s = %g was taken",
                      body_numbers[i].name, value);
            *(status == PLIANT_OK ? &taken : &refused) += 1;
        }
    CHECK_MSG(refused > 200 && taken > 100, "%d refused, %d taken", refused, taken);
    scene_mesh_free(&box);
}

/* Two fields at once, many times, with everything switched on. */
TEST(random_nonsense_in_a_body_does_no_harm)
{
    scene_mesh box = scene_box(1, 1, 1, 2);
    uint64_t state = 12345;
    const size_t fields = sizeof body_numbers / sizeof body_numbers[0];
    for (int round = 0; round < (test_quick() ? 60 : 400); ++round)
    {
        pliant_body_desc desc = small_body(&box);
        desc.levels.count = 2;
        desc.material.strain_limit = .2;
        desc.material.pressure = 100;
        desc.material.goal = round % 3;
        const char* name = "";
        double value = 0;
        for (int k = 0; k < 2; ++k)
        {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            const number* n = &body_numbers[(state >> 33) % fields];
            name = n->name;
            value = spoil(&desc, n, (int)((state >> 48) % (uint32_t)variants(n)));
        }
        try_body(&desc, name, value);
    }
    scene_mesh_free(&box);
}

TEST(nonsense_in_a_frame_does_no_harm)
{
    static const number numbers[] = {U4(pliant_frame_desc, size), U4(pliant_frame_desc, substeps),
                                     U4(pliant_frame_desc, max_substeps),
                                     F8(pliant_frame_desc, dt)};
    scene_mesh box = scene_box(1, 1, 1, 2);
    for (int i = 0; i < 4; ++i)
        for (int variant = 0; variant < variants(&numbers[i]); ++variant)
        {
            pliant_scene scene = make_scene();
            pliant_body body = 0;
            pliant_body_desc desc = small_body(&box);
            CHECK_OK(pliant_body_create(scene, &desc, &body));
            int patience = 300;
            pliant_frame_desc frame;
            pliant_frame_desc_init(&frame, sizeof frame);
            frame.progress = give_up;
            frame.user = &patience;
            double value = spoil(&frame, &numbers[i], variant);
            pliant_status status = pliant_scene_advance(scene, &frame);
            check_sentence(status, numbers[i].name, value);
            CHECK_MSG(isfinite(value) || status != PLIANT_OK, "%s = %g was taken", numbers[i].name,
                      value);
            CHECK_MSG(status == PLIANT_ERROR_UNSTABLE || is_finite(body),
                      "%s = %g: a position is not a number", numbers[i].name, value);
            CHECK_OK(pliant_scene_destroy(scene));
        }
    scene_mesh_free(&box);
}

TEST(nonsense_in_colliders_and_fields_does_no_harm)
{
    static const number colliders[] = {U4(pliant_collider_desc, size),
                                       U4(pliant_collider_desc, shape),
                                       F8(pliant_collider_desc, pose.position[0]),
                                       F8(pliant_collider_desc, pose.rotation[0]),
                                       F8(pliant_collider_desc, pose.extent[0]),
                                       F8(pliant_collider_desc, friction),
                                       F8(pliant_collider_desc, restitution),
                                       F8(pliant_collider_desc, thickness),
                                       U4(pliant_collider_desc, inside_out)};
    static const number fields[] = {U4(pliant_field_desc, size),
                                    U4(pliant_field_desc, kind),
                                    U4(pliant_field_desc, shape),
                                    U4(pliant_field_desc, falloff_type),
                                    U4(pliant_field_desc, side),
                                    U4(pliant_field_desc, use_max_distance),
                                    F8(pliant_field_desc, matrix[0]),
                                    F8(pliant_field_desc, matrix[3]),
                                    F8(pliant_field_desc, strength),
                                    F8(pliant_field_desc, flow),
                                    F8(pliant_field_desc, falloff_power),
                                    F8(pliant_field_desc, distance_min),
                                    F8(pliant_field_desc, distance_max),
                                    F8(pliant_field_desc, radial_falloff),
                                    F8(pliant_field_desc, harmonic_damping),
                                    F8(pliant_field_desc, rest_length),
                                    F8(pliant_field_desc, linear_drag),
                                    F8(pliant_field_desc, noise_size)};
    enum
    {
        COLLIDERS = sizeof colliders / sizeof colliders[0],
        FIELDS = sizeof fields / sizeof fields[0]
    };
    scene_mesh box = scene_box(1, 1, 1, 2);
    for (int i = 0; i < COLLIDERS + FIELDS; ++i)
    {
        const number* n = i < COLLIDERS ? &colliders[i] : &fields[i - COLLIDERS];
        for (int variant = 0; variant < variants(n); ++variant)
        {
            pliant_scene scene = make_scene();
            pliant_body body = 0;
            pliant_body_desc desc = small_body(&box);
            CHECK_OK(pliant_body_create(scene, &desc, &body));
            pliant_status status;
            double value;
            if (i < COLLIDERS)
            {
                pliant_collider collider = 0;
                pliant_collider_desc c;
                pliant_collider_desc_init(&c, sizeof c);
                c.shape = PLIANT_SHAPE_SPHERE + variant % 4;
                c.pose.position[2] = -1.2;
                value = spoil(&c, n, variant);
                status = pliant_collider_create(scene, &c, &collider);
            }
            else
            {
                pliant_field field = 0;
                pliant_field_desc f;
                pliant_field_desc_init(&f, sizeof f);
                f.kind = variant % 6;
                value = spoil(&f, n, variant);
                status = pliant_field_create(scene, &f, &field);
            }
            check_sentence(status, n->name, value);
            CHECK_MSG(isfinite(value) || status != PLIANT_OK, "%s = %g was taken", n->name, value);
            status = advance(scene, 1.0 / 24);
            check_sentence(status, n->name, value);
            CHECK_MSG(status == PLIANT_ERROR_UNSTABLE || is_finite(body),
                      "%s = %g: a position is not a number", n->name, value);
            CHECK_OK(pliant_scene_destroy(scene));
        }
    }
    scene_mesh_free(&box);
}

/* ------------------------------------------------------------------ strange bodies */

static scene_mesh strange_mesh(int kind)
{
    static const float axes[3][3] = {{1e6f, 1, 1}, {1, 1e-6f, 1}, {1e-6f, 1e-6f, 1}};
    scene_mesh mesh = scene_box(1, 1, 1, 3);
    switch (kind)
    {
        case 0: /* no triangles */
            mesh.triangle_count = 0;
            break;
        case 1: /* nothing */
            mesh.triangle_count = mesh.vertex_count = 0;
            break;
        case 2:
        case 3:
        case 4: /* a million to one */
            scene_mesh_scale(&mesh, axes[kind - 2][0], axes[kind - 2][1], axes[kind - 2][2]);
            break;
        case 5: /* flat */
            scene_mesh_scale(&mesh, 1, 1, 0);
            break;
        case 6: /* a line */
            scene_mesh_scale(&mesh, 1, 0, 0);
            break;
        case 7: /* a point */
            scene_mesh_scale(&mesh, 0, 0, 0);
            break;
        case 8:
            scene_mesh_scale(&mesh, 1e-20f, 1e-20f, 1e-20f);
            break;
        case 9:
            scene_mesh_scale(&mesh, 1e18f, 1e18f, 1e18f);
            break;
        case 10: /* far away */
            scene_mesh_move(&mesh, 1e7f, 0, 0);
            break;
        case 11:
            mesh.vertices[4] = NAN;
            break;
        case 12:
            for (uint32_t i = 0; i < 3 * mesh.vertex_count; ++i)
                mesh.vertices[i] = NAN;
            break;
        case 13:
            mesh.vertices[7] = INFINITY;
            break;
        case 14: /* an index out of range */
            mesh.triangles[5] = 0xffffffff;
            break;
        case 15: /* every triangle a line */
            for (uint32_t t = 0; t < mesh.triangle_count; ++t)
                mesh.triangles[3 * t + 1] = mesh.triangles[3 * t];
            break;
        case 16: /* one triangle */
            mesh.triangle_count = 1;
            break;
        case 17:
            scene_mesh_flip(&mesh, 2);
            break;
        case 18:
            scene_mesh_drop(&mesh, 3);
            break;
        case 19:
            scene_mesh_split(&mesh);
            break;
        case 20: /* every triangle twice */
            scene_mesh_append(&mesh, &mesh);
            break;
        default:
            scene_mesh_free(&mesh);
            mesh = scene_sheet(1, 1, 4, 4);
    }
    return mesh;
}

TEST(strange_meshes_give_bodies_or_sentences)
{
    int made = 0, refused = 0;
    for (int kind = 0; kind <= 21; ++kind)
        for (uint32_t mode = PLIANT_SAMPLE_AUTO; mode <= PLIANT_SAMPLE_VERTICES; ++mode)
        {
            scene_mesh mesh = strange_mesh(kind);
            pliant_body_desc desc = small_body(&mesh);
            desc.sample.mode = mode;
            desc.cluster.count = 0;
            pliant_status status = try_body(&desc, "strange mesh", kind);
            CHECK_MSG(status != PLIANT_CANCELLED, "mesh %d, sampling %u takes too long", kind,
                      mode);
            *(status == PLIANT_OK ? &made : &refused) += 1;
            scene_mesh_free(&mesh);
        }
    CHECK_MSG(made > 40 && refused > 15, "%d made, %d refused", made, refused);
}

TEST(few_flat_and_coincident_points_are_bodies)
{
    float points[64][3];
    static const uint32_t counts[] = {1, 2, 3, 4, 5, 64};
    for (int shape = 0; shape < 4; ++shape) /* a box, a sheet, a line, a point */
        for (int k = 0; k < 6; ++k)
            for (uint32_t goal = PLIANT_GOAL_RIGID; goal <= PLIANT_GOAL_QUADRATIC; ++goal)
            {
                for (int i = 0; i < 64; ++i)
                {
                    points[i][0] = shape < 3 ? .1f * (float)(i % 4) : 0;
                    points[i][1] = shape < 2 ? .1f * (float)(i / 4 % 4) : 0;
                    points[i][2] = shape < 1 ? .1f * (float)(i / 16) : 0;
                }
                pliant_body_desc desc;
                pliant_body_desc_init(&desc, sizeof desc);
                desc.points = points[0];
                desc.point_count = counts[k];
                desc.material.goal = goal;
                desc.material.strain_limit = .2;
                desc.levels.count = 0;
                pliant_status status = try_body(&desc, "points of shape", shape);
                CHECK_MSG(status == PLIANT_OK || counts[k] > 1, "one point: %s",
                          pliant_last_error());
            }
}

/* One particle has no extent: its size comes from the mesh. */
TEST(rejects_tiny_meshes_of_one_particle)
{
    pliant_scene scene = make_scene();
    for (int exponent = -45; exponent <= -9; ++exponent)
    {
        scene_mesh mesh = scene_box(1, 1, 1, 1);
        pliant_body_desc desc = small_body(&mesh);
        pliant_body body = 0;
        for (uint32_t i = 0; i < 3 * mesh.vertex_count; ++i)
            mesh.vertices[i] *= (float)pow(10, exponent);
        desc.sample.spacing = 1e-3;
        pliant_status status = pliant_body_create(scene, &desc, &body);
        CHECK_MSG(status == PLIANT_ERROR_MESH, "1e%d: %d, %s", exponent, status,
                  pliant_last_error());
        scene_mesh_free(&mesh);
    }
    CHECK_OK(pliant_scene_destroy(scene));
}
