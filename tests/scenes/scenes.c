// SPDX-License-Identifier: GPL-3.0-or-later
#include "scenes.h"

#include "bars.h"
#include "open.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_defaults(scene* s)
{
    memset(s, 0, sizeof *s);
    pliant_scene_desc_init(&s->scene, sizeof s->scene);
    pliant_body_desc_init(&s->body, sizeof s->body);
    pliant_frame_desc_init(&s->frame, sizeof s->frame);
    pliant_contact_desc_init(&s->contact, sizeof s->contact);
    pliant_fracture_desc_init(&s->fracture, sizeof s->fracture);
    s->frame.dt = 1. / 60;
    s->frame.substeps = 1;
    s->stretch = 1;
    pliant_material_desc* material = &s->body.material;
    material->stiffness_kind = PLIANT_STIFFNESS_ALPHA;
    material->stiffness = .8;
    material->damping = .1;
    material->damping_per_step = 1;
    material->strain_limit = .1;
    material->strain_relaxation = .3;
    material->strain_iterations = 4;
    s->body.cluster.kernel = PLIANT_KERNEL_INVSQ;
    s->body.angular_velocity[0] = .12;
    s->body.angular_velocity[1] = .16;
    s->body.angular_velocity[2] = .2;
}

void scene_use_points(scene* s, scene_points points)
{
    scene_points_sort(&points);
    s->points = points;
    s->body.points = points.at;
    s->body.point_count = points.count;
}

void scene_use_mesh(scene* s, scene_mesh mesh, uint32_t particles)
{
    s->mesh = mesh;
    s->body.mesh.vertex_count = mesh.vertex_count;
    s->body.mesh.triangle_count = mesh.triangle_count;
    s->body.mesh.vertices = mesh.vertices;
    s->body.mesh.triangles = mesh.triangles;
    s->body.sample.count = particles;
}

scene_points scene_published(const char* file)
{
    char path[512];
    const char* root = getenv("PLIANT_SHARED");
    snprintf(path, sizeof path, "%s/data/particles/%s.txt", root ? root : PLIANT_SHARED_DEFAULT,
             file);
    return scene_points_read(path);
}

bool scene_use_published(scene* s, const char* file, uint32_t count)
{
    scene_points points = scene_published(file);
    bool found = points.count == count;
    if (found)
        scene_use_points(s, points);
    else
        scene_points_free(&points);
    return found;
}

/* The published points, or a ball of as many and of the same volume. */
static void use_published(scene* s, const char* file, uint32_t count, double volume)
{
    s->generated = !scene_use_published(s, file, count);
    if (s->generated)
        scene_use_points(s, scene_points_ball(count, cbrt(volume * 3 / (4 * 3.14159265358979)), 1));
}

void scene_set_clusters(scene* s, uint32_t clusters, double radius, uint32_t levels)
{
    s->body.cluster.count = clusters;
    s->body.cluster.radius = radius;
    s->body.levels.count = levels;
}

/* The published points, or a box of as many and of the same size. */
static void open_beam(scene* s)
{
    s->generated = !scene_use_published(s, "beam-5317", 5317);
    if (s->generated)
    {
        scene_points points = scene_points_box(37, 12, 12, 2, .4, .4, .6, 1);
        points.count = 5317; /* of 5,328 */
        scene_use_points(s, points);
    }
    scene_set_clusters(s, 200, .11, 1);
}

static void open_ball(scene* s)
{
    use_published(s, "ball-5098", 5098, .52);
    scene_set_clusters(s, 101, .14, 1);
}

static void open_ball_levels(scene* s)
{
    open_ball(s);
    s->body.levels.count = 3;
}

static void open_bunny(scene* s)
{
    use_published(s, "bunny-16525", 16525, 1.9);
    scene_set_clusters(s, 330, .2, 1);
}

static void open_bunny_levels(scene* s)
{
    open_bunny(s);
    s->body.levels.count = 4;
}

#define BUNNY_DISTANCE 1.9 /* their widths are 1.85 and 1.43 */

/* Jones et al. 2015, Figure 4: they meet in the middle, in zero gravity. */
static void open_four_bunnies(scene* s)
{
    open_bunny(s);
    s->contact.enabled = 1;
    memset(s->scene.gravity, 0, sizeof s->scene.gravity);
    memset(s->body.angular_velocity, 0, sizeof s->body.angular_velocity);
    s->body.velocity[0] = 1.5;
    s->copy_count = 3;
    for (uint32_t i = 0; i < 3; ++i)
    {
        /* the first is on the left; right, front and back */
        static const double side[3][2] = {{1, 0}, {0, -1}, {0, 1}};
        s->copy_offset[i][0] = BUNNY_DISTANCE * (1 + side[i][0]);
        s->copy_offset[i][2] = BUNNY_DISTANCE * side[i][1];
        s->copy_velocity[i][0] = -1.5 * side[i][0];
        s->copy_velocity[i][2] = -1.5 * side[i][1];
    }
}

/* Forty small balls, from all sides toward the middle: a heap without a ground. */
static void open_forty_balls(scene* s)
{
    enum
    {
        BALLS = 40
    };
    scene_use_points(s, scene_points_ball(1000, .25, 1));
    scene_set_clusters(s, 20, scene_radius(.0654, 20, 5), 1);
    s->contact.enabled = 1;
    memset(s->scene.gravity, 0, sizeof s->scene.gravity);
    s->copy_count = BALLS - 1;
    double at[BALLS][3];
    for (int i = 0; i < BALLS; ++i)
    {
        double z = 1 - (2 * i + 1.) / BALLS, across = sqrt(1 - z * z), turn = 2.39996323 * i;
        at[i][0] = across * cos(turn), at[i][1] = across * sin(turn), at[i][2] = z;
    }
    for (int k = 0; k < 3; ++k)
    {
        s->body.velocity[k] = -1.5 * at[0][k];
        for (int i = 1; i < BALLS; ++i)
        {
            s->copy_offset[i - 1][k] = 1.8 * (at[i][k] - at[0][k]);
            s->copy_velocity[i - 1][k] = -1.5 * at[i][k];
        }
    }
}

static void open_cube(scene* s)
{
    scene_use_points(s, scene_points_box(50, 50, 50, 1, 1, 1, 1, 1));
    scene_set_clusters(s, 8192, .056, 1);
}

/* The paper's own set of 124,631 particles is not published: a body of that size with limbs. */
static void open_armadillo(scene* s)
{
    scene_mesh mesh = scene_creature(5);
    scene_use_mesh(s, mesh, 124631);
    scene_set_clusters(s, 8192, scene_radius(scene_mesh_volume(&mesh), 8192, 5), 1);
}

static void open_armadillo_levels(scene* s)
{
    open_armadillo(s);
    s->body.levels.count = 6;
}

/* Hilly ground of 199,712 triangles, of which a body of this width covers a tenth. */
static void use_ground(scene* s, double width)
{
    float size = (float)(3.16 * width);
    s->ground = scene_sheet(size, size, 316, 316);
    for (uint32_t i = 0; i < s->ground.vertex_count; ++i)
    {
        float* p = s->ground.vertices + 3 * (size_t)i;
        p[2] = .004f * (sinf(5 * p[0]) + sinf(4 * p[1]));
    }
    pliant_collider_desc_init(&s->ground_desc, sizeof s->ground_desc);
    s->ground_desc.shape = PLIANT_SHAPE_SHELL;
    s->ground_desc.thickness = .005;
    memset(s->body.angular_velocity, 0, sizeof s->body.angular_velocity);
    s->frame.dt = 1. / 240;
    s->body.material.strain_limit = .5;
}

static void open_ground_cube(scene* s)
{
    scene_use_points(s, scene_points_box(46, 46, 47, .92, .92, .94, .6, 1));
    scene_set_clusters(s, 6554, scene_radius(.8, 6554, 5.8), 5);
    s->body.points_origin[2] = .49;
    use_ground(s, .92);
}

/* Ten layers: a tenth of the particles touches, too. */
static void open_ground_slab(scene* s)
{
    scene_use_points(s, scene_points_box(100, 100, 10, 2, 2, .2, .6, 1));
    scene_set_clusters(s, 6554, scene_radius(.8, 6554, 5.8), 1);
    s->body.points_origin[2] = .12;
    use_ground(s, 2);
}

/* Falkenstein 2017, Figure 4.1 and Table 4.1: yield 0, so that all but the volume flows. 1/60 s
 * carries the stiffness of 200 clusters of it. */
static void open_plastic_beam(scene* s)
{
    pliant_material_desc* material = &s->body.material;
    open_beam(s);
    memset(s->scene.gravity, 0, sizeof s->scene.gravity);
    memset(s->body.angular_velocity, 0, sizeof s->body.angular_velocity);
    material->stiffness_kind = PLIANT_STIFFNESS_YOUNG;
    material->stiffness = 9000;
    material->damping = .1;
    material->damping_per_step = 0;
    material->strain_limit = .5;
    material->yield = 0;
    material->flow = 20;
    s->press = .4;
    s->press_seconds = 4;
    s->steps = 360;
}

/* More elastic: s is larger, and it yields at .1. */
static void open_elastic_beam(scene* s)
{
    open_plastic_beam(s);
    s->body.material.yield = .1;
    s->press = 10;
}

static const struct
{
    const char *name, *text;
    void (*open)(scene*);
} scenes[] = {
    {"beam", "5,317 published particles, 200 clusters, radius .11", open_beam},
    {"ball", "5,098 published particles, 101 clusters, radius .14", open_ball},
    {"bunny", "16,525 published particles, 330 clusters, radius .2", open_bunny},
    {"four-bunnies", "four of them that meet, with contacts; no gravity", open_four_bunnies},
    {"forty-balls", "forty balls of 1,000 particles that meet, with contacts; no gravity",
     open_forty_balls},
    {"sheet", "a ball of 1,500 particles on a thin sheet of 5,325 that is held at its rim",
     scene_open_sheet},
    {"squeeze", "a ball of 4,000 particles between two rollers that turn", scene_open_squeeze},
    {"rain", "forty bodies of four kinds, 250 particles each, into a bowl of 2,048 triangles",
     scene_open_rain},
    {"cube125k", "125,000 particles of a jittered unit cube, 8,192 clusters, radius .056",
     open_cube},
    {"armadillo", "about 124,631 particles in a body with limbs, 8,192 clusters", open_armadillo},
    {"ball-levels", "the ball with 3 nested levels", open_ball_levels},
    {"bunny-levels", "the bunny with 4 nested levels", open_bunny_levels},
    {"armadillo-levels", "armadillo with 6 nested levels", open_armadillo_levels},
    {"mesh-cube", "99,452 particles on a tenth of a mesh of 199,712 triangles", open_ground_cube},
    {"mesh-slab", "100,000 particles, a tenth of them on a tenth of such a mesh", open_ground_slab},
    {"plastic-beam", "the beam, yield 0, pressed for 4 s and released", open_plastic_beam},
    {"elastic-beam", "the same with yield .1, pressed harder", open_elastic_beam},
    {"stretched-cube", "1,000 particles, 50 clusters, at twice its length; no gravity",
     scene_open_stretched_cube},
    {"falling-ball", "the ball with levels 101, 12, 1 onto the ground", scene_open_falling_ball},
    {"hovering-cube", "1,331 particles, levels 66, 8, 1, at twice its length; no gravity",
     scene_open_hovering_cube},
    {"falling-bunny", "the bunny with levels 330, 41, 5, 1 into a cavity of three planes",
     scene_open_falling_bunny},
    {"plinko", "the ball with levels 101, 12, 1 through cylinders", scene_open_plinko},
    {"falling-armadillo", "armadillo with levels 8192, 1024, ... 1 onto a pyramid of cylinders",
     scene_open_falling_armadillo},
    {"armadillo-itself", "falling-armadillo with contacts of its clusters with each other",
     scene_open_armadillo_itself},
    {"ball-and-wall", "a ball and a wall of 1,000 particles, levels 66, 8, 1; no gravity",
     scene_open_ball_and_wall},
    {"three-bunnies", "three bodies of 4,131 particles, levels 206, 25, 3, 1; no gravity",
     scene_open_three_bunnies},
    {"breaking-beam", "the beam with 50 clusters, plastic, its ends turn against each other",
     scene_open_breaking_beam},
    {"ductile-plate", "20,335 particles, 63 clusters, plastic, struck in the middle",
     scene_open_ductile_plate},
};

uint32_t scene_count(void)
{
    return sizeof scenes / sizeof scenes[0];
}

const char* scene_name(uint32_t index)
{
    return scenes[index].name;
}

const char* scene_text(uint32_t index)
{
    return scenes[index].text;
}

bool scene_open(const char* name, scene* opened)
{
    set_defaults(opened);
    for (uint32_t i = 0; i < scene_count(); ++i)
        if (strcmp(name, scenes[i].name) == 0)
        {
            opened->name = scenes[i].name;
            scenes[i].open(opened);
            return true;
        }
    return false;
}

bool scene_open_file(const char* path, scene* opened)
{
    set_defaults(opened);
    opened->name = path;
    scene_use_points(opened, scene_points_read(path));
    return opened->points.count > 0;
}

void scene_open_cube(uint32_t count, scene* opened)
{
    uint32_t n = (uint32_t)ceil(cbrt(count) - 1e-9);
    set_defaults(opened);
    opened->name = "cube";
    scene_points points = scene_points_box(n, n, n, 1, 1, 1, 1, 1);
    points.count = count; /* the topmost layer may be cut short */
    scene_use_points(opened, points);
}

void scene_close(scene* opened)
{
    scene_points_free(&opened->points);
    scene_mesh_free(&opened->mesh);
    scene_mesh_free(&opened->ground);
    for (uint32_t k = 0; k < opened->kind_count; ++k)
        scene_points_free(&opened->kind[k].points);
}

const pliant_body_desc* scene_body_desc(const scene* opened, uint32_t index)
{
    uint32_t kind = index ? opened->copy_kind[index - 1] : 0;
    return kind ? &opened->kind[kind - 1].body : &opened->body;
}

static pliant_status hold_body(const scene* opened, pliant_body body)
{
    uint32_t floats;
    float* at = scene_read_floats(body, PLIANT_POSITION, 0, NULL, &floats);
    for (uint32_t i = 0; i < floats / 3; ++i)
        at[i] = opened->held(at + 3 * (size_t)i) ? (float)PLIANT_PIN_HELD : 0;
    pliant_status status = pliant_body_set_pins(body, floats / 3, at);
    free(at);
    return status;
}

static pliant_status stretch_body(const scene* opened, pliant_body body)
{
    uint32_t floats;
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    float* at = scene_read_floats(body, PLIANT_POSITION, 0, NULL, &floats);
    pliant_status status = pliant_body_get_info(body, &info);
    for (uint32_t i = 0; i < floats; i += 3)
        at[i] += (float)((opened->stretch - 1) * (at[i] - info.centre[0]));
    if (status == PLIANT_OK)
        status = pliant_body_set_particles(body, floats / 3, NULL, at, NULL);
    free(at);
    return status;
}

static pliant_status throw_body(const scene* opened, pliant_body body)
{
    uint32_t floats;
    float* at = scene_read_floats(body, PLIANT_POSITION, 0, NULL, &floats);
    for (uint32_t i = 0; i < floats; i += 3)
    {
        float velocity[3] = {0, 0, 0};
        opened->throw(at + i, velocity);
        memcpy(at + i, velocity, sizeof velocity);
    }
    pliant_status status = pliant_body_set_particles(body, floats / 3, NULL, NULL, at);
    free(at);
    return status;
}

static pliant_status create_ground(const scene* opened, pliant_scene made)
{
    pliant_collider collider;
    pliant_mesh_desc mesh;
    pliant_mesh_desc_init(&mesh, sizeof mesh);
    mesh.vertex_count = opened->ground.vertex_count, mesh.vertices = opened->ground.vertices;
    mesh.triangle_count = opened->ground.triangle_count;
    mesh.triangles = opened->ground.triangles;
    return pliant_collider_create_mesh(made, &opened->ground_desc, &mesh, &collider);
}

pliant_status scene_create(const scene* opened, pliant_scene* made, pliant_body* body)
{
    pliant_status status = pliant_scene_create(&opened->scene, made);
    for (uint32_t i = 0; i < opened->collider_count && status == PLIANT_OK; ++i)
    {
        pliant_collider collider;
        status = pliant_collider_create(*made, &opened->collider[i], &collider);
    }
    if (status == PLIANT_OK && opened->ground.triangle_count)
        status = create_ground(opened, *made);
    if (status == PLIANT_OK)
        status = pliant_body_create(*made, &opened->body, body);
    if (status == PLIANT_OK && opened->stretch != 1)
        status = stretch_body(opened, *body);
    if (status == PLIANT_OK && opened->throw)
        status = throw_body(opened, *body);
    if (status == PLIANT_OK && opened->held)
        status = hold_body(opened, *body);
    if (status == PLIANT_OK && opened->breaks)
        status = pliant_body_set_fracture(*body, &opened->fracture);
    for (uint32_t i = 0; i < opened->copy_count && status == PLIANT_OK; ++i)
    {
        pliant_body_desc desc = *scene_body_desc(opened, i + 1);
        pliant_body copy;
        for (int k = 0; k < 3; ++k)
        {
            desc.points_origin[k] += opened->copy_offset[i][k];
            desc.velocity[k] = opened->copy_velocity[i][k];
        }
        status = pliant_body_create(*made, &desc, &copy);
    }
    if (status == PLIANT_OK)
        status = pliant_scene_set_contacts(*made, &opened->contact);
    return status;
}

bool scene_open_small_beam(uint32_t along, uint32_t across, uint32_t clusters, scene* opened)
{
    if (!scene_open("plastic-beam", opened))
        return false;
    scene_points_free(&opened->points);
    scene_use_points(opened, scene_points_box(along, across, across, 2, .4, .4, .6, 1));
    scene_set_clusters(opened, clusters, scene_radius(.32, clusters, 4), 1);
    opened->scene.threads = 1;
    return true;
}

pliant_status scene_press(const scene* opened, pliant_scene made, pliant_body body)
{
    pliant_scene_info info;
    uint32_t floats;
    pliant_scene_info_init(&info, sizeof info);
    if (!(opened->press > 0))
        return PLIANT_OK;
    pliant_status status = pliant_scene_get_info(made, &info);
    if (status != PLIANT_OK || info.time > opened->press_seconds - 1e-9)
        return status == PLIANT_OK ? pliant_body_set_accelerations(body, 0, NULL) : status;
    float* at = scene_read_floats(body, PLIANT_POSITION, 0, NULL, &floats);
    for (uint32_t i = 0; i < floats; ++i)
        at[i] = i % 3 ? 0 : -(float)opened->press * at[i];
    status = pliant_body_set_accelerations(body, floats / 3, at);
    free(at);
    return status;
}

double scene_length(pliant_body body)
{
    uint32_t floats;
    double mean = 0, away = 0;
    float* at = scene_read_floats(body, PLIANT_POSITION, 0, NULL, &floats);
    for (uint32_t i = 0; i < floats; i += 3)
        mean += at[i] * 3. / floats;
    for (uint32_t i = 0; i < floats; i += 3)
        away += fabs(at[i] - mean) * 3 / floats;
    free(at);
    return 4 * away;
}

/* Singular values are roots of l^3 - i1 l^2 + i2 l - 1 in their squares l. */
static double root_of(double i1, double i2, double low, double high)
{
    for (int n = 0; n < 100; ++n)
    {
        double l = (low + high) / 2, value = ((l - i1) * l + i2) * l - 1;
        *(value > 0 ? &high : &low) = l;
    }
    return (low + high) / 2;
}

double scene_condition(const float f[9])
{
    double c[3][3] = {{0}}, i1 = 0, i2 = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k)
                c[i][j] += (double)f[3 * k + i] * f[3 * k + j];
    for (int i = 0; i < 3; ++i)
    {
        int j = (i + 1) % 3;
        i1 += c[i][i];
        i2 += c[i][i] * c[j][j] - c[i][j] * c[j][i];
    }
    /* beyond the outer extremes of the cubic there is one root each */
    double turn = sqrt(fmax(i1 * i1 - 3 * i2, 0)), left = (i1 - turn) / 3, right = (i1 + turn) / 3;
    double least = root_of(i1, i2, 0, left);
    double most = root_of(i1, i2, right, i1);
    return sqrt(most / least);
}

double scene_worst_condition(pliant_body body)
{
    uint32_t count = 0;
    double worst = 1;
    float* plastic = scene_read_floats(body, PLIANT_CLUSTER_PLASTIC, 0, NULL, &count);
    float* fade = scene_read_floats(body, PLIANT_CLUSTER_FADE, 0, NULL, &count);
    for (uint32_t c = 0; c < count; ++c)
        if (fade[c] > 0)
            worst = fmax(worst, scene_condition(plastic + 10 * (size_t)c));
    free(plastic);
    free(fade);
    return worst;
}

double scene_radius(double volume, uint32_t clusters, double memberships)
{
    return cbrt(memberships * volume / clusters * 3 / (4 * 3.14159265358979));
}

double scene_mesh_volume(const scene_mesh* mesh)
{
    double sum = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
    {
        const float* p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * (size_t)t + k];
        sum += (double)p[0][0] * ((double)p[1][1] * p[2][2] - (double)p[1][2] * p[2][1]) +
               (double)p[0][1] * ((double)p[1][2] * p[2][0] - (double)p[1][0] * p[2][2]) +
               (double)p[0][2] * ((double)p[1][0] * p[2][1] - (double)p[1][1] * p[2][0]);
    }
    return sum / 6;
}
