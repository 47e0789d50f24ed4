// SPDX-License-Identifier: GPL-3.0-or-later
/* API of frame stores: writing a scene's state, and reading it on the final set of particles. */
#include "api/api.h"
#include "base/hash.h"
#include "fracture/fracture.h"
#include "output/store/connectivity_history.h"

#include <string.h>

static const double ZERO[3] = {0, 0, 0};

/* ------------------------------------------------------------------ stores */

pl_status pl_get_store(uint64_t handle, pl_store_object** store)
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
    pl_store_object* store = PL_NEW(pl_store_object, 1);
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
    pl_store_object* store;
    if (handle == 0)
        return PLIANT_OK;
    PL_TRY(pl_get_store(handle, &store));
    pl_handle_free(handle);
    pl_frames_close(store->frames);
    pl_free(store->pairs.items);
    pl_free(store);
    return PLIANT_OK;
}

pliant_status pliant_store_get_info(pliant_store handle, pliant_store_info* info)
{
    pl_store_object* store;
    PL_TRY(pl_get_store(handle, &store));
    PL_TRY(pl_check_desc(info, sizeof *info, "pliant_store_info"));
    return pl_frames_info(store->frames, info);
}

pliant_status pliant_store_get_body_info(pliant_store handle, uint32_t body_index,
                                         pliant_stored_body_info* info)
{
    pl_store_object* store;
    const pl_frame_body* final;
    PL_TRY(pl_get_store(handle, &store));
    PL_TRY(pl_check_desc(info, sizeof *info, "pliant_stored_body_info"));
    PL_TRY(pl_frames_final(store->frames, body_index, &final));
    info->particles = final->particles;
    info->copies = final->copies;
    info->clusters = final->clusters;
    info->pieces = final->pieces;
    info->splits = final->splits;
    info->spacing = final->spacing;
    return PLIANT_OK;
}

/* Fracture data of a body. Times are shifted by "shift" from the scene's frames to the store's. */
static pl_status fill_fracture(const pl_body* body, double shift, pl_frame_body* frame)
{
    const pl_fracture* f = body->fracture;
    const pl_particles* p = &body->particles;
    uint32_t first = pl_first_particles(p);
    frame->splits = (uint32_t)f->split_count;
    frame->divisions = (uint32_t)f->divided_count;
    frame->copy_parent = PL_NEW(uint32_t, frame->copies);
    frame->copy_birth = PL_NEW(double, frame->copies);
    frame->piece = PL_NEW(uint32_t, frame->clusters);
    frame->piece_parent = PL_NEW(uint32_t, frame->pieces);
    frame->piece_birth = PL_NEW(double, frame->pieces);
    frame->split = PL_NEW(pl_frame_split, frame->splits);
    frame->divided = PL_NEW(pl_frame_divided, frame->divisions);
    if (!frame->copy_parent || !frame->copy_birth || !frame->piece || !frame->piece_parent ||
        !frame->piece_birth || !frame->split || !frame->divided)
        return pl_fail_memory((size_t)frame->copies * 12);
    for (uint32_t i = 0; i < frame->copies; ++i)
    {
        frame->copy_parent[i] = p->parent[first + i];
        frame->copy_birth[i] = pl_fracture_birth(body, first + i) + shift;
    }
    for (uint32_t c = 0; c < frame->clusters; ++c) /* the piece of a dead cluster is arbitrary */
        frame->piece[c] = body->clusters.fade[c] > 0 ? body->clusters.piece[c] : 0;
    for (uint32_t i = 0; i < frame->pieces; ++i)
    {
        frame->piece_parent[i] = f->pieces[i].parent;
        frame->piece_birth[i] = f->pieces[i].moment + shift;
    }
    for (uint32_t i = 0; i < frame->splits; ++i)
    {
        const pl_split* s = &f->splits[i];
        pl_frame_split* out = &frame->split[i];
        out->time = s->moment + shift;
        out->cluster = s->cluster, out->fresh = s->fresh;
        memcpy(out->point, s->point, sizeof out->point);
        memcpy(out->normal, s->normal, sizeof out->normal);
        out->reach = s->reach;
        out->divided_end = s->divided_end;
    }
    for (uint32_t i = 0; i < frame->divisions; ++i)
        frame->divided[i] =
            (pl_frame_divided){f->divided[i].particle, f->divided[i].copy, f->divided[i].toward};
    return PLIANT_OK;
}

/* Copies of a resampled body; their births are counted in frames (resample.c). */
static pl_status fill_copies(const pl_body* body, double shift, pl_frame_body* frame)
{
    const pl_particles* p = &body->particles;
    uint32_t first = pl_first_particles(p);
    uint32_t shares = frame->copies ? frame->particles : 0;
    frame->copy_parent = PL_NEW(uint32_t, frame->copies);
    frame->copy_birth = PL_NEW(double, frame->copies);
    frame->share = PL_NEW(float, shares);
    frame->offset = PL_NEW(float, 3 * (size_t)shares);
    if (!frame->copy_parent || !frame->copy_birth || !frame->share || !frame->offset)
        return pl_fail_memory((size_t)frame->copies * 12);
    for (uint32_t i = 0; i < frame->copies; ++i)
    {
        frame->copy_parent[i] = p->parent[first + i];
        frame->copy_birth[i] = (double)p->birth[first + i] + shift;
    }
    if (frame->copies)
        pl_body_shares(body, frame->share);
    for (uint32_t i = 0; i < shares; ++i)
        if (!pl_lives(p, i))
            memcpy(frame->offset + 3 * (size_t)i, p->resampled.offset[i], 12);
    return PLIANT_OK;
}

static pl_status fill_layout(const pl_body* body, double shift, pl_frame_body* frame)
{
    frame->memberships = pl_body_membership_count(body);
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
        frame->mass[i] =
            pl_lives(&body->particles, i) ? body->particles.mass[body->particles.slot_of[i]] : 0.0f;
    memcpy(frame->shell, body->particles.shell, sizeof(uint32_t) * frame->particles);
    pl_body_memberships(body, frame->begin, frame->cluster, frame->weight);
    PL_TRY(pl_body_nearest(body, 0, frame->nearest));
    return body->fracture ? fill_fracture(body, shift, frame) : fill_copies(body, shift, frame);
}

static pl_status fill_frame(const pl_body* body, bool layout, double shift, pl_frame_body* frame)
{
    const pl_particles* p = &body->particles;
    frame->particles = p->id_count;
    frame->clusters = body->level_begin[1];
    frame->copies = p->id_count - pl_first_particles(p);
    frame->pieces = body->fracture ? body->fracture->piece_count : 0;
    memcpy(frame->origin, body->origin, sizeof frame->origin);
    frame->x = PL_NEW(float, (size_t)frame->particles * 3);
    frame->v = PL_NEW(float, (size_t)frame->particles * 3);
    frame->gradient = PL_NEW(float, (size_t)frame->clusters * 9);
    frame->rate = PL_NEW(float, (size_t)frame->clusters * 9);
    frame->plastic = PL_NEW(float, frame->clusters);
    frame->renewed = PL_NEW(float, frame->clusters);
    frame->successor = PL_NEW(uint32_t, frame->particles);
    if (!frame->x || !frame->v || !frame->gradient || !frame->rate || !frame->plastic ||
        !frame->renewed || !frame->successor)
        return pl_fail_memory((size_t)frame->particles * 24);
    pl_body_positions(body, body->origin, frame->x);
    pl_body_velocities(body, frame->v);
    memcpy(frame->plastic, body->clusters.plastic_strain, sizeof(float) * frame->clusters);
    for (uint32_t c = 0; c < frame->clusters; ++c)
    {
        pl_cluster_gradient(body, c, frame->gradient + 9 * (size_t)c);
        pl_cluster_rate(body, c, frame->rate + 9 * (size_t)c);
        frame->renewed[c] = body->clusters.own[c] ? 1.0f : 0.0f;
    }
    for (uint32_t i = 0; i < frame->particles; ++i)
        frame->successor[i] = pl_lives(p, i) ? i : p->resampled.successor[i];
    return layout ? fill_layout(body, shift, frame) : PLIANT_OK;
}

static pl_status write_checkpoint(pl_store_object* store, pl_scene* scene, int32_t frame)
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

/* Hash that identifies the layout of a scene: it changes with bodies and memberships. */
static uint64_t layout_hash(const pl_scene* scene)
{
    uint64_t hash = pl_hash(PL_HASH_START, &scene->handle, sizeof scene->handle);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        const pl_body* body = scene->bodies[b];
        uint64_t one[3] = {body->handle, body->valid.memberships, body->valid.weights};
        hash = pl_hash(hash, one, sizeof one);
    }
    return hash;
}

static pl_status write_frame(pl_store_object* store, pl_scene* scene, int32_t frame)
{
    uint64_t hash;
    PL_TRY(pl_make_current(scene));
    PL_TRY(pl_scene_hash_state(scene, &hash));
    uint64_t stamp = layout_hash(scene);
    bool layout = store->layout_of != stamp;
    double shift = frame - (double)scene->frame;
    pl_frame_body* bodies = PL_NEW(pl_frame_body, scene->body_count);
    if (!bodies)
        return pl_fail_memory(scene->body_count * sizeof *bodies);
    pl_status status = PLIANT_OK;
    for (uint32_t b = 0; b < scene->body_count && status == PLIANT_OK; ++b)
        status = fill_frame(scene->bodies[b], layout, shift, &bodies[b]);
    if (status == PLIANT_OK)
        status = pl_frames_write(store->frames, frame, scene->body_count, bodies, layout, hash);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        pl_frame_body_free(&bodies[b]);
    pl_free(bodies);
    PL_TRY(status);
    store->layout_of = stamp;
    if (pl_frames_checkpoint_due(store->frames, frame))
        status = write_checkpoint(store, scene, frame);
    return status;
}

pliant_status pliant_store_write_frame(pliant_store handle, pliant_scene scene_handle,
                                       int32_t frame)
{
    pl_store_object* store;
    pl_scene* scene;
    PL_TRY(pl_get_store(handle, &store));
    PL_TRY(pl_get_scene(scene_handle, &scene));
    if (scene->substep_of_frame)
        return pl_fail(PLIANT_ERROR_STATE,
                       "The scene is in the middle of a frame: only whole frames are stored");
    PL_TRY(pl_scene_enter(scene, "pliant_store_write_frame"));
    pl_status status = write_frame(store, scene, frame);
    pl_scene_leave(scene);
    return status;
}

pliant_status pliant_store_restore(pliant_store handle, pliant_scene scene_handle, int32_t at_most,
                                   int32_t* frame)
{
    pl_store_object* store;
    pl_scene* scene;
    void* block = NULL;
    uint64_t bytes = 0;
    int32_t found = 0;
    PL_TRY(pl_get_store(handle, &store));
    PL_TRY(pl_get_scene(scene_handle, &scene));
    PL_TRY(pl_scene_enter(scene, "pliant_store_restore"));
    pl_status status = pl_frames_read_checkpoint(store->frames, at_most, &found, &block, &bytes);
    if (status == PLIANT_OK)
        status = pl_scene_restore_block(scene, block, bytes);
    pl_scene_leave(scene);
    pl_free(block);
    if (status == PLIANT_OK && frame)
        *frame = found;
    return status;
}

pliant_status pliant_store_truncate(pliant_store handle, int32_t frame)
{
    pl_store_object* store;
    PL_TRY(pl_get_store(handle, &store));
    return pl_frames_truncate(store->frames, frame);
}

pliant_status pliant_store_verify(pliant_store handle)
{
    pl_store_object* store;
    PL_TRY(pl_get_store(handle, &store));
    return pl_frames_verify(store->frames);
}

/* ------------------------------------------------------------------ reading */

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

static void read_stored_pieces(const pl_frame_body* body, uint32_t* out)
{
    for (uint32_t i = 0; i < body->particles; ++i)
        out[i] = body->pieces && body->begin[i] < body->begin[i + 1]
                     ? body->piece[body->cluster[body->begin[i]]]
                     : 0;
}

/* Reads a channel for the particles that exist in the frame. */
static pl_status read_own(const pl_frame_body* body, uint32_t channel, const double* to, void* out)
{
    switch (channel)
    {
        case PLIANT_POSITION:
            shifted(body->x, body->particles, body->origin, to, out);
            break;
        case PLIANT_REST:
            shifted(body->rest, body->particles, body->rest_origin, to, out);
            break;
        case PLIANT_VELOCITY:
            memcpy(out, body->v, 12 * (size_t)body->particles);
            break;
        case PLIANT_MASS:
            memcpy(out, body->mass, 4 * (size_t)body->particles);
            break;
        case PLIANT_SHELL:
            memcpy(out, body->shell, 4 * (size_t)body->particles);
            break;
        case PLIANT_DEFORMATION:
            pl_frame_deformation(body, out, NULL);
            break;
        case PLIANT_STRETCH:
            return read_stored_stretch(body, out);
        case PLIANT_PLASTIC_STRAIN:
            pl_frame_blend(body, body->plastic, out);
            break;
        case PLIANT_RENEWED:
            pl_frame_blend(body, body->renewed, out);
            break;
        case PLIANT_PIECE:
            read_stored_pieces(body, out);
            break;
        default:
            memcpy(out, body->nearest, 4 * (size_t)body->particles);
    }
    return PLIANT_OK;
}

/* Particles not born yet get the values of the particle that they will be copied from, with mass
 * 0. */
static void present(const pl_frame_body* final, uint32_t own, uint32_t channel, uint32_t width,
                    char* out)
{
    for (uint32_t i = own; i < final->particles; ++i)
    {
        uint32_t from = pl_frame_ancestor(final, i, own);
        if (channel == PLIANT_MASS)
            memset(out + (size_t)width * i, 0, width);
        else
            memcpy(out + (size_t)width * i, out + (size_t)width * from, width);
    }
}

static bool is_stored(uint32_t channel)
{
    return (channel <= PLIANT_NEAREST_CLUSTER && channel != PLIANT_MASS_QUANTA) ||
           channel == PLIANT_PLASTIC_STRAIN || channel == PLIANT_RENEWED ||
           (channel >= PLIANT_PARENT && channel <= PLIANT_DIVIDED);
}

/* Bytes of one item of a channel. */
static uint32_t width_of(uint32_t channel)
{
    if (channel >= PLIANT_PARENT && channel <= PLIANT_DIVIDED)
        return pl_fracture_width(channel);
    return channel <= PLIANT_REST ? 12 : channel == PLIANT_DEFORMATION ? 36 : 4;
}

static uint64_t items_of(const pl_frame_body* final, uint32_t channel)
{
    if (channel == PLIANT_PIECE_PARENT || channel == PLIANT_PIECE_BIRTH)
        return final->pieces;
    if (channel == PLIANT_DIVIDED)
        return final->divisions;
    return channel >= PLIANT_SPLIT_PLANE && channel <= PLIANT_DIVIDED ? final->splits
                                                                      : final->particles;
}

static void read_parents(const pl_frame_body* final, uint32_t channel, void* out)
{
    uint32_t first = final->particles - final->copies, *parent = out;
    double* birth = out;
    for (uint32_t i = 0; i < final->particles; ++i)
        if (channel == PLIANT_PARENT)
            parent[i] = i < first ? i : final->copy_parent[i - first];
        else
            birth[i] = i < first ? -INFINITY : final->copy_birth[i - first];
}

static void read_splits(const pl_frame_body* final, uint32_t channel, const double* to, void* out)
{
    float* plane = out;
    double* time = out;
    uint32_t *cluster = out, *divided = out, begin = 0;
    for (size_t i = 0; i < final->splits; ++i)
    {
        const pl_frame_split* s = &final->split[i];
        for (size_t k = 0; k < 3 && channel == PLIANT_SPLIT_PLANE; ++k)
        {
            plane[7 * i + k] = (float)(s->point[k] + (final->rest_origin[k] - to[k]));
            plane[7 * i + 3 + k] = s->normal[k];
            plane[7 * i + 6] = s->reach;
        }
        if (channel == PLIANT_SPLIT_TIME)
            time[i] = s->time;
        if (channel == PLIANT_SPLIT_CLUSTER)
            cluster[2 * i] = s->cluster, cluster[2 * i + 1] = s->fresh;
        for (uint32_t d = begin; channel == PLIANT_DIVIDED && d < s->divided_end; ++d)
        {
            divided[4 * (size_t)d] = (uint32_t)i;
            memcpy(divided + 4 * (size_t)d + 1, &final->divided[d], sizeof *final->divided);
        }
        begin = s->divided_end;
    }
}

static void read_history(const pl_frame_body* final, uint32_t channel, const double* to, void* out)
{
    if (channel <= PLIANT_BIRTH)
        read_parents(final, channel, out);
    else if (channel == PLIANT_PIECE_PARENT)
        memcpy(out, final->piece_parent, sizeof(uint32_t) * final->pieces);
    else if (channel == PLIANT_PIECE_BIRTH)
        for (uint32_t i = 0; i < final->pieces; ++i)
            ((double*)out)[i] = final->piece_parent[i] == i ? -INFINITY : final->piece_birth[i];
    else
        read_splits(final, channel, to, out);
}

pliant_status pliant_store_read(pliant_store handle, uint32_t body_index, int32_t frame,
                                uint32_t channel, const double origin[3], void* buffer,
                                uint64_t* bytes)
{
    pl_store_object* store;
    const pl_frame_body *body, *final;
    PL_TRY(pl_get_store(handle, &store));
    if (!bytes)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the size is NULL");
    if (!is_stored(channel))
        return pl_fail(PLIANT_ERROR_ARGUMENT, "Channel %u is not stored", channel);
    PL_TRY(pl_frames_check(store->frames, frame, body_index));
    PL_TRY(pl_frames_final(store->frames, body_index, &final));
    uint64_t needed = width_of(channel) * items_of(final, channel);
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
    if (channel >= PLIANT_PARENT && channel <= PLIANT_DIVIDED && channel != PLIANT_PIECE)
    {
        read_history(final, channel, to, buffer);
        return PLIANT_OK;
    }
    PL_TRY(pl_frames_read(store->frames, frame, body_index, &body));
    if (body->particles > final->particles)
        return pl_fail(PLIANT_ERROR_FORMAT,
                       "Frame %d has more particles than the last one, which has %u", frame,
                       final->particles);
    PL_TRY(read_own(body, channel, to, buffer));
    present(final, body->particles, channel, width_of(channel), buffer);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ connectivity */

pliant_status pliant_store_read_pairs(pliant_store handle, uint32_t body_index, double reach,
                                      uint32_t* pairs, double* until, uint64_t* count)
{
    pl_store_object* store;
    PL_TRY(pl_get_store(handle, &store));
    PL_TRY(pl_check_range(reach, 0, 1e12, "reach"));
    if (!count)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the number of pairs is NULL");
    PL_TRY(pl_connectivity_history_find(store->frames, body_index, reach, &store->pairs));
    uint64_t had = *count;
    *count = store->pairs.count;
    if (!pairs && !until)
        return PLIANT_OK;
    if (!pairs || !until || had < store->pairs.count)
        return pl_fail(PLIANT_ERROR_BUFFER, "There are %llu pairs; there is room for %llu",
                       (unsigned long long)store->pairs.count,
                       (unsigned long long)(pairs && until ? had : 0));
    for (size_t i = 0; i < store->pairs.count; ++i)
    {
        pairs[2 * i] = store->pairs.items[i].a;
        pairs[2 * i + 1] = store->pairs.items[i].b;
        until[i] = store->pairs.items[i].until;
    }
    return PLIANT_OK;
}
