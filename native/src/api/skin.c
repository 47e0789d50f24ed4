// SPDX-License-Identifier: GPL-3.0-or-later
/* API of skins: binding to a body or a store, and skinning of one frame. */
#include "api/api.h"
#include "output/skin/binding_track.h"
#include "output/skin/lineage.h"

#include <string.h>

static const double ZERO[3] = {0, 0, 0};

typedef struct skin_object
{
    pl_skin_binding binding;
    uint64_t body;  /* handle, or 0 */
    uint64_t store; /* handle, or 0 */
    uint32_t body_index;
    uint32_t particles;
    /* Only for skins of stores, which have no scene. */
    pl_pool* pool;
    pl_binding_track track; /* owns the binding */
    bool rebind;
    /* The frame skinned last, kept for the track's step to the next frame. The track does not step
     * before that, so that the same frame can be skinned again. */
    pl_flow_frame seen; /* one allocation, starting at x; NULL: none */
    int32_t seen_frame;
    uint64_t seen_hash;
} skin_object;

/* Particle values of a frame. */
typedef struct frame_values
{
    float *f, *rate, *strain, *x, *v;
} frame_values;

static void forget_seen(skin_object* skin)
{
    pl_free((void*)(uintptr_t)skin->seen.x);
    skin->seen = (pl_flow_frame){0};
}

static pl_status get_skin(uint64_t handle, skin_object** skin)
{
    *skin = pl_handle_get(handle, PL_HANDLE_SKIN, NULL);
    return *skin ? PLIANT_OK
                 : pl_fail(PLIANT_ERROR_STALE_HANDLE, "%llu is not a skin (any more)",
                           (unsigned long long)handle);
}

static pl_status check_skin_desc(const pliant_skin_desc* desc, const pliant_skin* out)
{
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_skin_desc"));
    PL_TRY(pl_check_vector(desc->origin, "origin"));
    PL_TRY(pl_check_range(desc->radius, 0, 1e12, "radius"));
    PL_TRY(pl_check_floats(desc->vertices, (uint64_t)desc->vertex_count * 3, "vertices"));
    if (desc->normals)
        PL_TRY(pl_check_floats(desc->normals, (uint64_t)desc->vertex_count * 3, "normals"));
    if (desc->triangle_count && !desc->triangles)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The skin's %u triangles are NULL",
                       desc->triangle_count);
    for (uint64_t i = 0; i < 3 * (uint64_t)desc->triangle_count; ++i)
        if (desc->triangles[i] >= desc->vertex_count)
            return pl_fail(PLIANT_ERROR_ARGUMENT,
                           "Triangle %llu of the skin names vertex %u; there are %u",
                           (unsigned long long)(i / 3), desc->triangles[i], desc->vertex_count);
    return out ? PLIANT_OK
               : pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the skin's handle is NULL");
}

/* Binds to particles at rest; "rest" is relative to rest_origin, "shell" is by particle. */
static pl_status bind_skin(const pliant_skin_desc* desc, uint32_t particles, const float* rest,
                           const uint32_t* shell, const double rest_origin[3], double spacing,
                           pl_pool* pool, skin_object* skin)
{
    const pl_skin_shape shape = {shell, desc->triangles, desc->triangle_count};
    vec3* points = PL_NEW(vec3, particles);
    vec3* vertices = PL_NEW(vec3, desc->vertex_count);
    pl_status status =
        points && vertices ? PLIANT_OK : pl_fail_memory((size_t)desc->vertex_count * 24);
    if (status == PLIANT_OK)
    {
        vec3 shift = v3_sub(v3_fromd(desc->origin), v3_fromd(rest_origin));
        for (uint32_t i = 0; i < particles; ++i)
            points[i] = v3_from(rest + 3 * (size_t)i);
        for (uint32_t i = 0; i < desc->vertex_count; ++i)
            vertices[i] = v3_add(v3_from(desc->vertices + 3 * (size_t)i), shift);
        skin->particles = particles;
        status = pl_skin_bind_shape(particles, points, spacing, desc->radius, desc->vertex_count,
                                    vertices, desc->normals, &shape, pool, &skin->binding);
    }
    pl_free(points);
    pl_free(vertices);
    return status;
}

static pl_status finish_skin(pl_status status, skin_object* skin, pliant_skin* out)
{
    uint64_t handle = status == PLIANT_OK ? pl_handle_new(PL_HANDLE_SKIN, skin, NULL) : 0;
    if (status == PLIANT_OK && !handle)
        status = pl_fail_memory(64);
    if (status != PLIANT_OK)
    {
        pl_skin_binding_free(&skin->binding);
        pl_binding_track_free(&skin->track);
        pl_pool_destroy(skin->pool);
        pl_free(skin);
        return status;
    }
    *out = handle;
    return PLIANT_OK;
}

pliant_status pliant_skin_create(pliant_body body_handle, const pliant_skin_desc* desc,
                                 pliant_skin* out)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(body_handle, &body, &scene));
    PL_TRY(check_skin_desc(desc, out));
    skin_object* skin = PL_NEW(skin_object, 1);
    float* rest = PL_NEW(float, (size_t)body->particles.id_count * 3);
    if (!skin || !rest)
    {
        pl_free(skin);
        pl_free(rest);
        return pl_fail_memory((size_t)body->particles.id_count * 12);
    }
    skin->body = body_handle;
    pl_body_rest(body, body->rest_origin, rest);
    /* bound to the initial particles only: copies lie at their parents' rest positions */
    pl_status status =
        bind_skin(desc, pl_first_particles(&body->particles), rest, body->particles.shell,
                  body->rest_origin, body->spacing, scene->pool, skin);
    pl_free(rest);
    return finish_skin(status, skin, out);
}

pliant_status pliant_skin_create_stored(pliant_store store_handle, uint32_t body_index,
                                        const pliant_skin_desc* desc, pliant_skin* out)
{
    pl_store_object* store;
    pliant_store_info info;
    const pl_frame_body* body;
    PL_TRY(pl_get_store(store_handle, &store));
    PL_TRY(check_skin_desc(desc, out));
    pliant_store_info_init(&info, sizeof info);
    PL_TRY(pl_frames_info(store->frames, &info));
    if (info.first_frame > info.last_frame)
        return pl_fail(PLIANT_ERROR_STATE, "The store has no frames yet");
    PL_TRY(pl_frames_read(store->frames, info.first_frame, body_index, &body));
    skin_object* skin = PL_NEW(skin_object, 1);
    if (!skin || !(skin->pool = pl_pool_create(0)))
    {
        pl_free(skin);
        return pl_fail_memory(sizeof *skin);
    }
    skin->store = store_handle;
    skin->body_index = body_index;
    skin->rebind = desc->rebind != 0;
    pl_status status = bind_skin(desc, body->particles - body->copies, body->rest, body->shell,
                                 body->rest_origin, body->spacing, skin->pool, skin);
    if (status == PLIANT_OK)
        pl_binding_track_begin(&skin->track, &skin->binding, body->spacing, info.first_frame);
    return finish_skin(status, skin, out);
}

pliant_status pliant_skin_destroy(pliant_skin handle)
{
    skin_object* skin;
    if (handle == 0)
        return PLIANT_OK;
    PL_TRY(get_skin(handle, &skin));
    pl_handle_free(handle);
    pl_skin_binding_free(&skin->binding);
    pl_binding_track_free(&skin->track);
    forget_seen(skin);
    pl_pool_destroy(skin->pool);
    pl_free(skin);
    return PLIANT_OK;
}

/* Output of skinned vertices: origins, transform, buffer. */
typedef struct placement
{
    const double *to, *transform; /* either may be NULL */
    double from[3];
    float* vertices;
} placement;

/* Rounds each coordinate to float before the transform, so that the result equals transforming the
 * untransformed output. */
static void place_block(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const placement* job = context;
    const double *t = job->transform, *to = job->to ? job->to : ZERO;
    (void)worker;
    for (float* v = job->vertices + 3 * (size_t)begin; v < job->vertices + 3 * (size_t)end; v += 3)
    {
        for (int k = 0; k < 3; ++k)
            v[k] = (float)((double)v[k] + (job->from[k] - to[k]));
        if (!t)
            continue;
        double x = v[0], y = v[1], z = v[2];
        for (int k = 0; k < 3; ++k)
            v[k] = (float)(t[4 * k] * x + t[4 * k + 1] * y + t[4 * k + 2] * z + t[4 * k + 3]);
    }
}

static pl_status check_apply(const skin_object* skin, const double* origin, const double* transform,
                             const float* normals)
{
    const pl_skin_binding* binding = skin->store ? &skin->track.rest : &skin->binding;
    if (normals && !binding->normals)
        return pl_fail(PLIANT_ERROR_STATE, "The skin was made without normals");
    if (origin)
        PL_TRY(pl_check_vector(origin, "origin"));
    for (int k = 0; transform && k < 12; ++k)
        if (!isfinite(transform[k]))
            return pl_fail(PLIANT_ERROR_ARGUMENT, "The transform's number %d is %g", k,
                           transform[k]);
    return PLIANT_OK;
}

/* Skins with particle arrays that are relative to place->from. */
static void apply(const pl_skin_binding* binding, const float* x, const float* f, const float* v,
                  const float* rate, placement* place, pl_pool* pool, float* normals,
                  float* velocities)
{
    pl_skin_apply(binding, x, f, v, rate, pool, place->vertices, normals, velocities);
    if (place->vertices)
        pl_parallel_for(pool, binding->vertex_count, 4096, place_block, place);
}

/* Replaces the values of each initial particle by the mean over its descendants. */
static pl_status join_lineages(uint32_t particles, uint32_t first, const uint32_t* parent,
                               const float* share, const frame_values* values, bool rate)
{
    PL_TRY(pl_lineage_mean(particles, first, parent, share, 3, values->x));
    PL_TRY(pl_lineage_mean(particles, first, parent, share, 3, values->v));
    PL_TRY(pl_lineage_mean(particles, first, parent, share, 9, values->f));
    if (values->strain)
        PL_TRY(pl_lineage_mean(particles, first, parent, share, 1, values->strain));
    return rate ? pl_lineage_mean(particles, first, parent, share, 9, values->rate) : PLIANT_OK;
}

static pl_status join_body_lineages(const pl_body* body, uint32_t first, const frame_values* values,
                                    bool rate)
{
    const pl_particles* p = &body->particles;
    float* share = PL_NEW(float, p->id_count);
    if (share)
        pl_body_shares(body, share);
    pl_status status = share ? join_lineages(p->id_count, first, p->parent, share, values, rate)
                             : pl_fail_memory((size_t)p->id_count * 4);
    pl_free(share);
    return status;
}

pliant_status pliant_skin_apply(pliant_skin handle, const double origin[3],
                                const double transform[12], float* vertices, float* normals,
                                float* velocities)
{
    skin_object* skin;
    pl_body* body;
    pl_scene* scene;
    PL_TRY(get_skin(handle, &skin));
    if (!skin->body)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The skin belongs to a store: use pliant_skin_apply_stored");
    PL_TRY(check_apply(skin, origin, transform, normals));
    PL_TRY(pl_get_body(skin->body, &body, &scene));
    PL_TRY(pl_make_current(scene));
    size_t count = body->particles.id_count;
    if (count < skin->particles)
        return pl_fail(PLIANT_ERROR_STATE, "The body has %zu particles; the skin was bound to %u",
                       count, skin->particles);
    frame_values values = {.f = PL_NEW(float, count * 24)};
    if (!values.f)
        return pl_fail_memory(count * 96);
    values.rate = values.f + count * 9;
    values.x = values.rate + count * 9, values.v = values.x + count * 3;
    float *x = values.x, *v = values.v, *f = values.f, *rate = values.rate;
    pl_body_positions(body, body->origin, x);
    pl_body_velocities(body, v);
    pl_status status = pl_body_deformation(body, f, velocities ? rate : NULL);
    placement place = {
        origin, transform, {body->origin[0], body->origin[1], body->origin[2]}, vertices};
    if (status == PLIANT_OK && !body->fracture && count > skin->particles)
        status = join_body_lineages(body, skin->particles, &values, velocities != NULL);
    if (status == PLIANT_OK)
        apply(&skin->binding, x, f, v, rate, &place, scene->pool, normals, velocities);
    pl_free(values.f);
    return status;
}

/* ------------------------------------------------------------------ skins of stores */

static pl_status values_of(const skin_object* skin, int32_t frame, const pl_frame_body* body,
                           bool rate, frame_values* values)
{
    size_t count = body->particles;
    uint32_t first = body->particles - body->copies;
    if (first != skin->particles)
        return pl_fail(
            PLIANT_ERROR_STATE,
            "Frame %d has %u particles and %u copies; the skin was bound to %u particles", frame,
            first, body->copies, skin->particles);
    values->f = PL_NEW(float, count * 25);
    if (!values->f)
        return pl_fail_memory(count * 100);
    values->rate = values->f + count * 9;
    values->strain = values->rate + count * 9;
    values->x = values->strain + count;
    values->v = values->x + count * 3;
    pl_frame_deformation(body, values->f, rate ? values->rate : NULL);
    pl_frame_blend(body, body->plastic, values->strain);
    memcpy(values->x, body->x, count * 12);
    memcpy(values->v, body->v, count * 12);
    if (!body->copies || body->pieces)
        return PLIANT_OK;
    uint32_t* parent = PL_NEW(uint32_t, count);
    for (uint32_t i = 0; parent && i < count; ++i)
        parent[i] = i < skin->particles ? i : body->copy_parent[i - skin->particles];
    pl_status status =
        parent ? join_lineages(body->particles, skin->particles, parent, body->share, values, rate)
               : pl_fail_memory(count * 4);
    pl_free(parent);
    return status;
}

static bool has_flowed(const pl_frame_body* body)
{
    for (uint32_t c = 0; c < body->clusters; ++c)
        if (body->plastic[c] > 0)
            return true;
    return false;
}

/* Appends an array to the block of a flow frame. */
static const void* put_by(char** at, const void* data, size_t bytes)
{
    void* to = *at;
    memcpy(to, data, bytes);
    *at += bytes;
    return to;
}

/* Caches a frame in skin->seen. If out of memory, it is read again later. */
static void cache_frame(skin_object* skin, pl_frame_store* frames, int32_t frame,
                        const pl_frame_body* body, const frame_values* values)
{
    size_t n = skin->particles, members = body->begin[n];
    forget_seen(skin);
    if (pl_frames_hash(frames, frame, &skin->seen_hash) != PLIANT_OK)
        return;
    char* at = pl_alloc_bare(14 * n + 1 + 2 * members, 4);
    if (!at)
        return;
    skin->seen_frame = frame;
    skin->seen.particles = skin->particles;
    skin->seen.x = put_by(&at, values->x, 12 * n);
    skin->seen.f = put_by(&at, values->f, 36 * n);
    skin->seen.strain = put_by(&at, values->strain, 4 * n);
    skin->seen.begin = put_by(&at, body->begin, 4 * (n + 1));
    skin->seen.cluster = put_by(&at, body->cluster, 4 * members);
    skin->seen.weight = put_by(&at, body->weight, 4 * members);
}

/* Advances the track by one frame, cached or read from the store. */
static pl_status advance_track(skin_object* skin, pl_frame_store* frames)
{
    const pl_frame_body* body;
    frame_values values = {0};
    int32_t next = skin->track.now.next;
    uint64_t hash;
    PL_TRY(pl_frames_hash(frames, next, &hash));
    if (skin->seen.x && skin->seen_frame == next && skin->seen_hash == hash)
        return pl_binding_track_add_frame(&skin->track, &skin->seen, hash, skin->pool);
    PL_TRY(pl_frames_read(frames, next, skin->body_index, &body));
    pl_status status = values_of(skin, next, body, false, &values);
    pl_flow_frame flow = {skin->particles, values.x,      values.f,    values.strain,
                          body->begin,     body->cluster, body->weight};
    if (status == PLIANT_OK)
        status = pl_binding_track_add_frame(&skin->track, &flow, hash, skin->pool);
    pl_free(values.f);
    return status;
}

/* Moves to the latest saved state of the track before this frame. Discards states made from frames
 * that have been baked again since. */
static pl_status seek(pl_binding_track* track, pl_frame_store* frames, int32_t frame)
{
    for (;;)
    {
        uint64_t hash;
        PL_TRY(pl_binding_track_seek(track, frame));
        if (track->now.next == track->first ||
            (pl_frames_hash(frames, track->now.next - 1, &hash) == PLIANT_OK &&
             hash == track->now.hash))
            return PLIANT_OK;
        pl_binding_track_forget(track);
    }
}

/* Computes the binding of a frame by advancing the track from the nearest saved state. */
static pl_status bind_at(skin_object* skin, pl_frame_store* frames, int32_t frame)
{
    PL_TRY(seek(&skin->track, frames, frame));
    while (skin->track.now.next < frame)
        PL_TRY(advance_track(skin, frames));
    return PLIANT_OK;
}

pliant_status pliant_skin_apply_stored(pliant_skin handle, int32_t frame, const double origin[3],
                                       const double transform[12], float* vertices, float* normals,
                                       float* velocities)
{
    skin_object* skin;
    pl_store_object* store;
    const pl_frame_body* body;
    frame_values values = {0};
    PL_TRY(get_skin(handle, &skin));
    if (!skin->store)
        return pl_fail(PLIANT_ERROR_STATE, "The skin belongs to a body: use pliant_skin_apply");
    PL_TRY(check_apply(skin, origin, transform, normals));
    PL_TRY(pl_get_store(skin->store, &store));
    PL_TRY(pl_frames_read(store->frames, frame, skin->body_index, &body));
    const pl_skin_binding* binding = &skin->track.rest;
    bool flowed = skin->rebind && has_flowed(body);
    if (flowed)
    {
        PL_TRY(bind_at(skin, store->frames, frame));
        binding = pl_binding_track_binding(&skin->track);
        PL_TRY(pl_frames_read(store->frames, frame, skin->body_index, &body));
    }
    PL_TRY(values_of(skin, frame, body, velocities != NULL, &values));
    placement place = {
        origin, transform, {body->origin[0], body->origin[1], body->origin[2]}, vertices};
    apply(binding, values.x, values.f, values.v, values.rate, &place, skin->pool, normals,
          velocities);
    if (flowed)
        cache_frame(skin, store->frames, frame, body, &values);
    pl_free(values.f);
    return PLIANT_OK;
}
