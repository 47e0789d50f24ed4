// SPDX-License-Identifier: GPL-3.0-or-later
#include "soak.h"

#include <base/core.h>
#include <base/hash.h>
#include <math.h>
#include <output/store/journal.h>
#include <scenes/points.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct soak_case
{
    const char* name;
    bool wrung; /* twisted at its ends; otherwise it tumbles in a rotating box with a heavy ball */
    uint32_t resample;
    double toughness; /* 0: it does not break */
    bool shell;       /* the box is a mesh without an inside */
} soak_case;

static const soak_case CASES[] = {
    {"wrung", true, 0, 0, false},           {"tumbled-resampled", false, 1, 0, false},
    {"tumbled", false, 0, 0, false},        {"wrung-torn", true, 0, .2, false},
    {"tumbled-torn", false, 0, .15, false}, {"tumbled-in-a-shell", false, 0, .15, true},
};

enum
{
    PERIOD = 48 /* frames per rotation of the box, or per cycle of stretching */
};

const char* soak_name(uint32_t index)
{
    return index < sizeof CASES / sizeof *CASES ? CASES[index].name : NULL;
}

static bool failed(soak* s, const char* what)
{
    snprintf(s->fault, sizeof s->fault, "%s at frame %u: %s", what, s->frame, pliant_last_error());
    return false;
}

#define TRY(call)                                                                                  \
    do                                                                                             \
    {                                                                                              \
        if ((call) != PLIANT_OK)                                                                   \
            return failed(s, #call);                                                               \
    } while (0)

/* ------------------------------------------------------------------ the scene */

static pliant_pose pose_of(double angle, double z, double extent)
{
    return (pliant_pose){
        {0, 0, z}, {cos(angle / 2), 0, sin(angle / 2), 0}, {extent, extent, extent}};
}

enum
{
    CORNERS = 8
};

/* The box's corners in the given pose. */
static void place_corners(const pliant_pose* pose, float at[3 * CORNERS])
{
    double c = 1 - 2 * pose->rotation[2] * pose->rotation[2],
           s = 2 * pose->rotation[0] * pose->rotation[2];
    for (int i = 0; i < CORNERS; ++i)
    {
        double x = i & 1 ? .6 : -.6, z = i & 4 ? .6 : -.6;
        at[3 * i] = (float)(c * x + s * z);
        at[3 * i + 1] = i & 2 ? .6f : -.6f;
        at[3 * i + 2] = (float)(c * z - s * x);
    }
}

static bool add_shell(soak* s)
{
    static const uint32_t triangles[36] = {0, 1, 2, 3, 2, 1, 4, 6, 5, 7, 5, 6, 0, 4, 1, 5, 1, 4,
                                           2, 3, 6, 7, 6, 3, 0, 2, 4, 6, 4, 2, 1, 5, 3, 7, 3, 5};
    pliant_pose pose = pose_of(0, 0, .6);
    pliant_collider_desc desc;
    pliant_mesh_desc mesh;
    float corners[3 * CORNERS];
    pliant_collider_desc_init(&desc, sizeof desc);
    pliant_mesh_desc_init(&mesh, sizeof mesh);
    place_corners(&pose, corners);
    desc.shape = PLIANT_SHAPE_SHELL;
    desc.thickness = .01;
    mesh.vertices = corners, mesh.vertex_count = CORNERS;
    mesh.triangles = triangles, mesh.triangle_count = 12;
    TRY(pliant_collider_create_mesh(s->scene, &desc, &mesh, &s->box));
    return true;
}

static bool move_box(soak* s, double angle)
{
    pliant_pose pose = pose_of(angle, 0, .6);
    float corners[3 * CORNERS];
    place_corners(&pose, corners);
    if (CASES[s->index].shell)
        TRY(pliant_collider_set_mesh(s->box, CORNERS, NULL, corners));
    else
        TRY(pliant_collider_move(s->box, &pose));
    return true;
}

static bool add_box(soak* s)
{
    pliant_collider_desc desc;
    pliant_contact_desc contacts;
    pliant_collider_desc_init(&desc, sizeof desc);
    desc.shape = PLIANT_SHAPE_BOX;
    desc.inside_out = 1;
    desc.pose = pose_of(0, 0, CASES[s->index].wrung ? 1.6 : .6);
    if (CASES[s->index].shell && !add_shell(s))
        return false;
    if (!CASES[s->index].shell)
        TRY(pliant_collider_create(s->scene, &desc, &s->box));
    if (!CASES[s->index].wrung)
    {
        pliant_collider_desc_init(&desc, sizeof desc);
        desc.shape = PLIANT_SHAPE_SPHERE;
        desc.pose = pose_of(0, .6, .3);
        TRY(pliant_collider_create(s->scene, &desc, &s->ball));
    }
    pliant_contact_desc_init(&contacts, sizeof contacts);
    contacts.enabled = CASES[s->index].toughness > 0;
    TRY(pliant_scene_set_contacts(s->scene, &contacts));
    return true;
}

static bool set_material(soak* s)
{
    const soak_case* c = &CASES[s->index];
    pliant_fracture_desc fracture;
    float pins[256] = {0};
    for (uint32_t i = 0; i < s->particles && c->wrung; ++i)
        pins[i] = fabsf(s->points[3 * i]) > .42f ? PLIANT_PIN_HELD : 0;
    if (c->wrung)
        TRY(pliant_body_set_pins(s->body, s->particles, pins));
    pliant_fracture_desc_init(&fracture, sizeof fracture);
    fracture.toughness = c->toughness;
    if (c->toughness > 0)
        TRY(pliant_body_set_fracture(s->body, &fracture));
    return true;
}

static bool make_scene(soak* s)
{
    const soak_case* c = &CASES[s->index];
    pliant_scene_desc desc;
    pliant_body_desc body;
    scene_points points = c->wrung
                              ? scene_points_box(12, 4, 4, 1, .34, .34, .3, 1)
                              : scene_points_box(6, 6, c->toughness > 0 ? 4 : 6, .5, .5, .5, .3, 1);
    s->particles = points.count;
    s->points = points.at;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = 1;
    TRY(pliant_scene_create(&desc, &s->scene));
    pliant_body_desc_init(&body, sizeof body);
    body.point_count = points.count;
    body.points = points.at;
    body.cluster.overlap = 3;
    body.material.stiffness = 8;
    body.material.damping = 4;
    body.material.yield = .02;
    body.material.flow = 30;
    body.material.recluster_fade_in = .2;
    body.material.recluster_fade_out = .3;
    body.material.resample = c->resample;
    TRY(pliant_body_create(s->scene, &body, &s->body));
    return set_material(s) && add_box(s);
}

/* Stretches and twists the ends periodically; or rotates the box and moves the ball up and down in
 * it. */
static bool drive(soak* s)
{
    double angle = 2 * 3.14159265358979323846 * (s->frame + 1) / PERIOD;
    if (!CASES[s->index].wrung)
    {
        pliant_pose ball = pose_of(0, .6 * cos(.7 * angle), .3);
        if (!move_box(s, angle))
            return false;
        TRY(pliant_collider_move(s->ball, &ball));
        return true;
    }
    double longer = 1.5 - .5 * cos(angle), turn = 1.2 * sin(.6 * angle);
    for (uint32_t i = 0; i < s->particles; ++i)
    {
        const float* at = s->points + 3 * (size_t)i;
        double by = at[0] > 0 ? turn : -turn;
        s->targets[3 * (size_t)i] = (float)(longer * at[0]);
        s->targets[3 * (size_t)i + 1] = (float)(cos(by) * at[1] - sin(by) * at[2]);
        s->targets[3 * (size_t)i + 2] = (float)(sin(by) * at[1] + cos(by) * at[2]);
    }
    TRY(pliant_body_set_pin_targets(s->body, s->particles, NULL, s->targets));
    return true;
}

/* ------------------------------------------------------------------ the bake */

static bool make_skins(soak* s, bool stored)
{
    pliant_skin_desc desc;
    pliant_skin_desc_init(&desc, sizeof desc);
    desc.vertex_count = s->vertex_count;
    desc.vertices = s->vertices;
    if (stored)
        TRY(pliant_skin_create_stored(s->store, 0, &desc, &s->stored));
    else
        TRY(pliant_skin_create(s->body, &desc, &s->live));
    return true;
}

bool soak_begin(soak* s, uint32_t index, const char* folder)
{
    pliant_store_desc desc;
    *s = (soak){.index = index};
    snprintf(s->folder, sizeof s->folder, "%s", folder);
    if (!make_scene(s))
        return false;
    pliant_body_info info;
    pliant_body_info_init(&info, sizeof info);
    TRY(pliant_body_get_info(s->body, &info));
    /* resampling: limit of ids; fracture: initial memberships, and what the last split adds */
    double times = CASES[index].toughness > 0 ? fmax(info.overlap, 4) + .5 : 8;
    s->limit = times * s->particles;
    bool wrung = CASES[index].wrung;
    scene_points v = wrung ? scene_points_box(22, 4, 4, 1, .36, .36, .5, 2)
                           : scene_points_box(7, 7, 7, .54, .54, .54, .5, 2);
    s->vertices = v.at;
    s->vertex_count = v.count;
    s->skinned = calloc(3 * (size_t)v.count, sizeof *s->skinned);
    s->targets = calloc(3 * (size_t)s->particles, sizeof *s->targets);
    pliant_store_desc_init(&desc, sizeof desc);
    desc.mode = PLIANT_STORE_CREATE;
    desc.path = s->folder;
    TRY(pliant_store_open(&desc, &s->store));
    return make_skins(s, false);
}

static double farthest(const float* at, uint32_t count)
{
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)count; ++i)
        most = fabsf(at[i]) <= most ? most : fabsf(at[i]);
    return most;
}

static double farthest_particle(const soak* s)
{
    uint64_t bytes = 0;
    double most = NAN;
    pliant_body_read(s->body, PLIANT_POSITION, 0, NULL, NULL, &bytes);
    float* at = malloc(bytes);
    if (pliant_body_read(s->body, PLIANT_POSITION, 0, NULL, at, &bytes) == PLIANT_OK)
        most = farthest(at, (uint32_t)(bytes / 12));
    free(at);
    return most;
}

static bool skin_stored(soak* s, int32_t frame, uint64_t* hash)
{
    uint64_t bytes = 0, before;
    TRY(pliant_store_read(s->store, 0, frame, PLIANT_MASS, NULL, NULL, &bytes));
    void* masses = malloc(bytes);
    pliant_status status = pliant_store_read(s->store, 0, frame, PLIANT_MASS, NULL, masses, &bytes);
    free(masses);
    TRY(status); /* the frame is cached in memory from here on */
    before = pl_bytes_in_use();
    TRY(pliant_skin_apply_stored(s->stored, frame, NULL, NULL, s->skinned, NULL, NULL));
    s->skin_bytes += (double)pl_bytes_in_use() - (double)before;
    *hash = pl_hash(PL_HASH_START, s->skinned, sizeof(float) * 3 * s->vertex_count);
    double off = farthest(s->skinned, s->vertex_count);
    if (!(off < 1e3))
    {
        snprintf(s->fault, sizeof s->fault, "frame %d has a vertex at %g, and a particle at %g",
                 frame, off, farthest_particle(s));
        return false;
    }
    return true;
}

/* Keeps some frames for the final comparison, at growing distances. */
static void note_probe(soak* s, int32_t frame, uint64_t hash)
{
    if (s->probe_count == SOAK_PROBES)
    {
        s->probe_count /= 2;
        for (uint32_t i = 0; i < s->probe_count; ++i)
        {
            s->probe[i] = s->probe[2 * i];
            s->probe_hash[i] = s->probe_hash[2 * i];
        }
    }
    s->probe[s->probe_count] = frame;
    s->probe_hash[s->probe_count++] = hash;
}

static bool bake_frame(soak* s, double* work)
{
    pliant_frame_desc frame;
    pliant_scene_info info;
    uint64_t hash;
    pliant_frame_desc_init(&frame, sizeof frame);
    frame.substeps = 4;
    if (!drive(s))
        return false;
    TRY(pliant_scene_advance(s->scene, &frame));
    TRY(pliant_store_write_frame(s->store, s->scene, (int32_t)s->frame));
    TRY(pliant_skin_apply(s->live, NULL, NULL, s->skinned, NULL, NULL));
    if (!s->stored && !make_skins(s, true))
        return false;
    if (!skin_stored(s, (int32_t)s->frame, &hash))
        return false;
    if (s->frame % 16 == 5)
        note_probe(s, (int32_t)s->frame, hash);
    pliant_scene_info_init(&info, sizeof info);
    TRY(pliant_scene_get_info(s->scene, &info));
    *work += (double)(info.contacts + info.pairs_tested);
    ++s->frame;
    return true;
}

/* Memory of the journal: a record for each frame and for each checkpoint (every tenth frame). Its
 * capacity doubles when full. */
static double journal_bytes(uint32_t frames)
{
    double room[2] = {16, 16};
    for (int i = 0; i < 2; ++i)
        while (room[i] < (i ? (frames + 9) / 10 : frames))
            room[i] *= 2;
    return sizeof(pl_journal_record) * (room[0] + room[1]);
}

static bool measure(soak* s, soak_window* w)
{
    pliant_body_info info;
    pliant_store_info store;
    uint64_t bytes = 0, state = 0;
    pliant_body_info_init(&info, sizeof info);
    TRY(pliant_body_get_info(s->body, &info));
    w->frames = s->frame;
    w->limit = s->limit;
    w->particles = info.particles;
    w->clusters = info.level[0].clusters;
    w->memberships = (uint32_t)info.level[0].memberships;
    w->pieces_ever = info.pieces_ever;
    w->splits = (uint32_t)info.splits;
    TRY(pliant_body_read(s->body, PLIANT_MASS, 0, NULL, NULL, &bytes));
    w->ids = (uint32_t)(bytes / 4);
    TRY(pliant_body_read(s->body, PLIANT_CLUSTER_FADE, 0, NULL, NULL, &bytes));
    float* fade = malloc(bytes);
    pliant_status status = pliant_body_read(s->body, PLIANT_CLUSTER_FADE, 0, NULL, fade, &bytes);
    w->live = 0;
    for (uint32_t c = 0; c < w->clusters && status == PLIANT_OK; ++c)
        w->live += fade[c] > 0;
    free(fade);
    TRY(status);
    TRY(pliant_scene_save(s->scene, NULL, &state));
    w->state = (double)state;
    pliant_store_info_init(&store, sizeof store);
    TRY(pliant_store_get_info(s->store, &store));
    w->disk = (double)(store.bytes - s->disk);
    s->disk = store.bytes;
    w->skin = s->skin_bytes;
    w->memory = (double)pl_bytes_in_use() - s->skin_bytes - journal_bytes(s->frame);
    return true;
}

bool soak_advance(soak* s, uint32_t frames, soak_window* w)
{
    clock_t begin = clock();
    w->work = 0;
    for (uint32_t i = 0; i < frames; ++i)
        if (!bake_frame(s, &w->work))
            return false;
    if (!measure(s, w))
        return false;
    w->ms = 1e3 * (double)(clock() - begin) / CLOCKS_PER_SEC / frames;
    w->work /= frames;
    w->disk /= frames;
    return true;
}

bool soak_check(soak* s)
{
    uint64_t hash;
    for (uint32_t i = 0; i < s->probe_count; ++i)
    {
        uint32_t n = (7 * i + 3) % s->probe_count; /* in mixed order */
        if (!skin_stored(s, s->probe[n], &hash))
            return false;
        if (hash != s->probe_hash[n])
        {
            snprintf(s->fault, sizeof s->fault, "frame %d is skinned to other bits than at first",
                     s->probe[n]);
            return false;
        }
    }
    TRY(pliant_store_verify(s->store));
    return true;
}

void soak_end(soak* s)
{
    pliant_store_desc desc;
    pliant_skin_destroy(s->live);
    pliant_skin_destroy(s->stored);
    pliant_store_close(s->store);
    pliant_scene_destroy(s->scene);
    pliant_store_desc_init(&desc, sizeof desc);
    desc.mode = PLIANT_STORE_CREATE; /* empty */
    desc.path = s->folder;
    if (pliant_store_open(&desc, &s->store) == PLIANT_OK)
        pliant_store_close(s->store);
    free(s->vertices);
    free(s->points);
    free(s->skinned);
    free(s->targets);
}

void soak_mean(const soak_window* list, uint32_t count, soak_window* mean)
{
    *mean = (soak_window){0};
    for (uint32_t i = 0; i < count; ++i)
    {
        const soak_window* w = &list[i];
        mean->frames = w->frames;
        mean->particles += w->particles / count;
        mean->ids += w->ids / count;
        mean->live += w->live / count;
        mean->clusters += w->clusters / count;
        mean->memberships += w->memberships / count;
        mean->pieces_ever += w->pieces_ever / count;
        mean->splits += w->splits / count;
        mean->memory += w->memory / count;
        mean->skin += w->skin / count;
        mean->state += w->state / count;
        mean->disk += w->disk / count;
        mean->ms += w->ms / count;
        mean->work += w->work / count;
    }
}
