// SPDX-License-Identifier: GPL-3.0-or-later
/* Skins and frame stores. */
#include "api.h"

#include <string.h>

static const double ZERO[3] = {0, 0, 0};

/* ------------------------------------------------------------------ stores */

typedef struct store_object
{
    pl_frame_store* frames;
    uint64_t layout_of; /* which scene's layout the store holds already, and of which bodies */
    uint32_t layout_bodies;
} store_object;

static pl_status get_store(uint64_t handle, store_object** store)
{
    *store = pl_handle_get(handle, PL_HANDLE_STORE, NULL);
    return *store ? PLIANT_OK
                  : pl_fail(PLIANT_ERROR_STALE_HANDLE, "%llu is not a store (any more)",
                            (unsigned long long)handle);
}

pliant_status pliant_store_open(const pliant_store_desc* desc, pliant_store* out)
{
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_store_desc"));
    PL_TRY(pl_check_enum(desc->mode, 3, "mode"));
    PL_TRY(pl_check_enum(desc->compression, 2, "compression"));
    if (!desc->path || !desc->path[0])
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The store's path is empty");
    if (!out)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the store's handle is NULL");
    store_object* store = PL_NEW(store_object, 1);
    if (!store)
        return pl_fail_memory(sizeof *store);
    pl_status status = pl_frames_open(desc, &store->frames);
    uint64_t handle = status == PLIANT_OK ? pl_handle_new(PL_HANDLE_STORE, store, NULL) : 0;
    if (status == PLIANT_OK && !handle)
        status = pl_fail_memory(64);
    if (status != PLIANT_OK)
    {
        pl_frames_close(store->frames);
        pl_free(store);
        return status;
    }
    *out = handle;
    return PLIANT_OK;
}

pliant_status pliant_store_close(pliant_store handle)
{
    store_object* store;
    if (handle == 0)
        return PLIANT_OK;
    PL_TRY(get_store(handle, &store));
    pl_handle_free(handle);
    pl_frames_close(store->frames);
    pl_free(store);
    return PLIANT_OK;
}

pliant_status pliant_store_get_info(pliant_store handle, pliant_store_info* info)
{
    store_object* store;
    PL_TRY(get_store(handle, &store));
    PL_TRY(pl_check_desc(info, sizeof *info, "pliant_store_info"));
    return pl_frames_info(store->frames, info);
}

static pl_status fill_layout(const pl_body* body, pl_frame_body* frame)
{
    frame->memberships = body->level_memberships[0];
    frame->rest = PL_NEW(float, (size_t)frame->particles * 3);
    frame->mass = PL_NEW(float, frame->particles);
    frame->shell = PL_NEW(uint32_t, frame->particles);
    frame->nearest = PL_NEW(uint32_t, frame->particles);
    frame->begin = PL_NEW(uint32_t, (size_t)frame->particles + 1);
    frame->cluster = PL_NEW(uint32_t, frame->memberships);
    frame->weight = PL_NEW(float, frame->memberships);
    if (!frame->rest || !frame->mass || !frame->shell || !frame->nearest || !frame->begin ||
        !frame->cluster || !frame->weight)
        return pl_fail_memory((size_t)frame->particles * 60);
    memcpy(frame->rest_origin, body->rest_origin, sizeof frame->rest_origin);
    frame->spacing = body->spacing;
    pl_body_rest(body, body->rest_origin, frame->rest);
    for (uint32_t i = 0; i < frame->particles; ++i)
        frame->mass[i] = body->particles.mass[body->particles.slot_of[i]];
    memcpy(frame->shell, body->particles.shell, sizeof(uint32_t) * frame->particles);
    pl_body_memberships(body, frame->begin, frame->cluster, frame->weight);
    return pl_body_nearest(body, 0, frame->nearest);
}

static pl_status fill_frame(const pl_body* body, bool layout, pl_frame_body* frame)
{
    frame->particles = body->particles.id_count;
    frame->clusters = body->level_begin[1];
    memcpy(frame->origin, body->origin, sizeof frame->origin);
    frame->x = PL_NEW(float, (size_t)frame->particles * 3);
    frame->v = PL_NEW(float, (size_t)frame->particles * 3);
    frame->gradient = PL_NEW(float, (size_t)frame->clusters * 9);
    frame->rate = PL_NEW(float, (size_t)frame->clusters * 9);
    frame->plastic = PL_NEW(float, frame->clusters);
    if (!frame->x || !frame->v || !frame->gradient || !frame->rate || !frame->plastic)
        return pl_fail_memory((size_t)frame->particles * 24);
    pl_body_positions(body, body->origin, frame->x);
    pl_body_velocities(body, frame->v);
    memcpy(frame->plastic, body->clusters.plastic_strain, sizeof(float) * frame->clusters);
    for (uint32_t c = 0; c < frame->clusters; ++c)
    {
        pl_cluster_gradient(body, c, frame->gradient + 9 * (size_t)c);
        pl_cluster_rate(body, c, frame->rate + 9 * (size_t)c);
    }
    return layout ? fill_layout(body, frame) : PLIANT_OK;
}

static pl_status write_checkpoint(store_object* store, pl_scene* scene, int32_t frame)
{
    uint64_t bytes = 0;
    PL_TRY(pl_scene_save_block(scene, NULL, &bytes));
    void* block = PL_NEW(char, bytes);
    if (!block)
        return pl_fail_memory(bytes);
    pl_status status = pl_scene_save_block(scene, block, &bytes);
    if (status == PLIANT_OK)
        status = pl_frames_write_checkpoint(store->frames, frame, block, bytes);
    pl_free(block);
    return status;
}

pliant_status pliant_store_write_frame(pliant_store handle, pliant_scene scene_handle,
                                       int32_t frame)
{
    store_object* store;
    pl_scene* scene;
    uint64_t hash;
    PL_TRY(get_store(handle, &store));
    PL_TRY(pl_get_scene(scene_handle, &scene));
    if (scene->substep_of_frame)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The scene is in the middle of a frame: only whole frames are stored");
    PL_TRY(pl_make_current(scene));
    PL_TRY(pl_scene_hash_state(scene, &hash));
    bool layout = store->layout_of != scene->handle || store->layout_bodies != scene->body_count;
    pl_frame_body* bodies = PL_NEW(pl_frame_body, scene->body_count);
    if (!bodies)
        return pl_fail_memory(scene->body_count * sizeof *bodies);
    pl_status status = PLIANT_OK;
    for (uint32_t b = 0; b < scene->body_count && status == PLIANT_OK; ++b)
        status = fill_frame(scene->bodies[b], layout, &bodies[b]);
    if (status == PLIANT_OK)
        status = pl_frames_write(store->frames, frame, scene->body_count, bodies, layout, hash);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        pl_frame_body_free(&bodies[b]);
    pl_free(bodies);
    PL_TRY(status);
    store->layout_of = scene->handle;
    store->layout_bodies = scene->body_count;
    if (pl_frames_checkpoint_due(store->frames, frame))
        status = write_checkpoint(store, scene, frame);
    return status;
}

pliant_status pliant_store_restore(pliant_store handle, pliant_scene scene_handle, int32_t at_most,
                                   int32_t* frame)
{
    store_object* store;
    pl_scene* scene;
    void* block = NULL;
    uint64_t bytes = 0;
    int32_t found = 0;
    PL_TRY(get_store(handle, &store));
    PL_TRY(pl_get_scene(scene_handle, &scene));
    PL_TRY(pl_frames_read_checkpoint(store->frames, at_most, &found, &block, &bytes));
    pl_status status = pl_scene_restore_block(scene, block, bytes);
    pl_free(block);
    if (status == PLIANT_OK && frame)
        *frame = found;
    return status;
}

pliant_status pliant_store_truncate(pliant_store handle, int32_t frame)
{
    store_object* store;
    PL_TRY(get_store(handle, &store));
    return pl_frames_truncate(store->frames, frame);
}

pliant_status pliant_store_verify(pliant_store handle)
{
    store_object* store;
    PL_TRY(get_store(handle, &store));
    return pl_frames_verify(store->frames);
}

static void shifted(const float* in, uint32_t count, const double from[3], const double* to,
                    float* out)
{
    for (uint32_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k)
            out[3 * (size_t)i + k] = (float)((double)in[3 * (size_t)i + k] + (from[k] - to[k]));
}

static pl_status read_stored_stretch(const pl_frame_body* body, float* out)
{
    float* f = PL_NEW(float, (size_t)body->particles * 9);
    if (!f)
        return pl_fail_memory((size_t)body->particles * 36);
    pl_frame_deformation(body, f, NULL);
    for (uint32_t i = 0; i < body->particles; ++i)
        out[i] = pl_largest_stretch(f + 9 * (size_t)i);
    pl_free(f);
    return PLIANT_OK;
}

pliant_status pliant_store_read(pliant_store handle, uint32_t body_index, int32_t frame,
                                uint32_t channel, const double origin[3], void* buffer,
                                uint64_t* bytes)
{
    store_object* store;
    const pl_frame_body* body;
    PL_TRY(get_store(handle, &store));
    if (!bytes)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the size is NULL");
    bool stored = channel <= PLIANT_NEAREST_CLUSTER || channel == PLIANT_PLASTIC_STRAIN;
    if (!stored || channel == PLIANT_MASS_QUANTA)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "Channel %u is not stored", channel);
    PL_TRY(pl_frames_read(store->frames, frame, body_index, &body));
    uint64_t width = channel <= PLIANT_REST ? 12 : channel == PLIANT_DEFORMATION ? 36 : 4;
    uint64_t needed = width * body->particles;
    if (!buffer)
    {
        *bytes = needed;
        return PLIANT_OK;
    }
    if (*bytes < needed)
        return pl_fail(PLIANT_ERROR_BUFFER, "The channel takes %llu bytes; the buffer has %llu",
                       (unsigned long long)needed, (unsigned long long)*bytes);
    *bytes = needed;
    const double* to = origin ? origin : ZERO;
    switch (channel)
    {
        case PLIANT_POSITION:
            shifted(body->x, body->particles, body->origin, to, buffer);
            break;
        case PLIANT_REST:
            shifted(body->rest, body->particles, body->rest_origin, to, buffer);
            break;
        case PLIANT_VELOCITY:
            memcpy(buffer, body->v, needed);
            break;
        case PLIANT_MASS:
            memcpy(buffer, body->mass, needed);
            break;
        case PLIANT_SHELL:
            memcpy(buffer, body->shell, needed);
            break;
        case PLIANT_DEFORMATION:
            pl_frame_deformation(body, buffer, NULL);
            break;
        case PLIANT_STRETCH:
            return read_stored_stretch(body, buffer);
        case PLIANT_PLASTIC_STRAIN:
            pl_frame_plastic_strain(body, buffer);
            break;
        default:
            memcpy(buffer, body->nearest, needed);
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ skins */

typedef struct skin_object
{
    pl_skin_binding binding;
    uint64_t body;  /* handle, or 0 */
    uint64_t store; /* handle, or 0 */
    uint32_t body_index;
    uint32_t particles;
    pl_pool* pool; /* for skins of stores, which have no scene */
} skin_object;

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
    return out ? PLIANT_OK
               : pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the skin's handle is NULL");
}

/* Binds to particles at rest, which are relative to rest_origin. */
static pl_status bind_skin(const pliant_skin_desc* desc, uint32_t particles, const float* rest,
                           const double rest_origin[3], double spacing, pl_pool* pool,
                           skin_object* skin)
{
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
        status = pl_skin_bind(particles, points, spacing, desc->radius, desc->vertex_count,
                              vertices, desc->normals, pool, &skin->binding);
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
    pl_status status = bind_skin(desc, body->particles.id_count, rest, body->rest_origin,
                                 body->spacing, scene->pool, skin);
    pl_free(rest);
    return finish_skin(status, skin, out);
}

pliant_status pliant_skin_create_stored(pliant_store store_handle, uint32_t body_index,
                                        const pliant_skin_desc* desc, pliant_skin* out)
{
    store_object* store;
    pliant_store_info info;
    const pl_frame_body* body;
    PL_TRY(get_store(store_handle, &store));
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
    pl_status status = bind_skin(desc, body->particles, body->rest, body->rest_origin,
                                 body->spacing, skin->pool, skin);
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
    pl_pool_destroy(skin->pool);
    pl_free(skin);
    return PLIANT_OK;
}

/* Where skinned vertices are wanted. */
typedef struct placing
{
    const double *to, *transform; /* either may be NULL */
    double from[3];
    float* vertices;
} placing;

/* Each number is rounded to float before the transform: what comes of it is then the same as if the
 * caller had transformed the vertices that it would have got without. */
static void place_block(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const placing* job = context;
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
    if (normals && !skin->binding.normals)
        return pl_fail(PLIANT_ERROR_STATE, "The skin was made without normals");
    if (origin)
        PL_TRY(pl_check_vector(origin, "origin"));
    for (int k = 0; transform && k < 12; ++k)
        if (!isfinite(transform[k]))
            return pl_fail(PLIANT_ERROR_ARGUMENT, "The transform's number %d is %g", k,
                           transform[k]);
    return PLIANT_OK;
}

/* Applies with particle arrays that are relative to place->from. */
static void apply(const skin_object* skin, const float* x, const float* f, const float* v,
                  const float* rate, placing* place, pl_pool* pool, float* normals,
                  float* velocities)
{
    const pl_skin_binding* binding = &skin->binding;
    pl_skin_apply(binding, x, f, v, rate, pool, place->vertices, normals, velocities);
    if (place->vertices)
        pl_parallel_for(pool, binding->vertex_count, 4096, place_block, place);
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
    if (count != skin->particles)
        return pl_fail(PLIANT_ERROR_STATE, "The body has %zu particles; the skin was bound to %u",
                       count, skin->particles);
    float* block = PL_NEW(float, count * 24);
    if (!block)
        return pl_fail_memory(count * 96);
    float *x = block, *v = x + count * 3, *f = v + count * 3, *rate = f + count * 9;
    pl_body_positions(body, body->origin, x);
    pl_body_velocities(body, v);
    pl_status status = pl_body_deformation(body, f, velocities ? rate : NULL);
    placing place = {
        origin, transform, {body->origin[0], body->origin[1], body->origin[2]}, vertices};
    if (status == PLIANT_OK)
        apply(skin, x, f, v, rate, &place, scene->pool, normals, velocities);
    pl_free(block);
    return status;
}

pliant_status pliant_skin_apply_stored(pliant_skin handle, int32_t frame, const double origin[3],
                                       const double transform[12], float* vertices, float* normals,
                                       float* velocities)
{
    skin_object* skin;
    store_object* store;
    const pl_frame_body* body;
    PL_TRY(get_skin(handle, &skin));
    if (!skin->store)
        return pl_fail(PLIANT_ERROR_STATE, "The skin belongs to a body: use pliant_skin_apply");
    PL_TRY(check_apply(skin, origin, transform, normals));
    PL_TRY(get_store(skin->store, &store));
    PL_TRY(pl_frames_read(store->frames, frame, skin->body_index, &body));
    size_t count = body->particles;
    if (count != skin->particles)
        return pl_fail(PLIANT_ERROR_STATE, "Frame %d has %zu particles; the skin was bound to %u",
                       frame, count, skin->particles);
    float* block = PL_NEW(float, count * 18);
    if (!block)
        return pl_fail_memory(count * 72);
    float *f = block, *rate = block + count * 9;
    pl_frame_deformation(body, f, velocities ? rate : NULL);
    placing place = {
        origin, transform, {body->origin[0], body->origin[1], body->origin[2]}, vertices};
    apply(skin, body->x, f, body->v, rate, &place, skin->pool, normals, velocities);
    pl_free(block);
    return PLIANT_OK;
}
