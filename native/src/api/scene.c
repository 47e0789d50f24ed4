// SPDX-License-Identifier: GPL-3.0-or-later
/* API of scenes: handles, argument checks, dispatch. No physics. */
#include "api/api.h"
#include "base/cpu.h"
#include "base/hash.h"
#include "base/lapack.h"
#include "body/layout.h"
#include "collision/broadphase/broadphase.h"
#include "collision/cluster/cull.h"
#include "collision/mesh/triangle_cache.h"
#include "dynamics/damping.h"
#include "dynamics/pressure_setup.h"
#include "dynamics/substep.h"
#include "fracture/fracture.h"
#include "output/skin/pin_binding.h"
#include "sleep/sleep.h"

#include <stdio.h>
#include <string.h>

uint32_t pliant_abi_version(void)
{
    return PLIANT_ABI_VERSION;
}

const char* pliant_version(void)
{
    return PLIANT_VERSION;
}

const char* pliant_build_info(void)
{
    static char text[256];
    if (!text[0])
    {
        int at = snprintf(text, sizeof text, "%s; %s; SIMD:", pl_lapack_name(),
#if defined(PL_HAVE_ZSTD)
                          "zstd"
#else
                          "no compression"
#endif
        );
        for (uint32_t simd = PLIANT_SIMD_SCALAR; simd <= PLIANT_SIMD_NEON; ++simd)
            if (pl_cpu_has(simd) && at < (int)sizeof text)
                at += snprintf(text + at, sizeof text - (size_t)at, " %s", pl_cpu_path_name(simd));
    }
    return text;
}

const char* pliant_status_name(pliant_status status)
{
    switch (status)
    {
#define NAME(name, value, text)                                                                    \
    case name:                                                                                     \
        return #name;
        PLIANT_STATUS_LIST(NAME)
#undef NAME
    }
    return "unknown status";
}

const char* pliant_status_text(pliant_status status)
{
    switch (status)
    {
#define TEXT(name, value, text)                                                                    \
    case name:                                                                                     \
        return text;
        PLIANT_STATUS_LIST(TEXT)
#undef TEXT
    }
    return "unknown status";
}

const char* pliant_last_error(void)
{
    return pl_last_error();
}

const char* pliant_stage_name(uint32_t stage)
{
    static const char* names[PLIANT_STAGE_COUNT] = {"forces",    "particles", "match",
                                                    "levels",    "limit",     "contact",
                                                    "recluster", "fracture",  "other"};
    return stage < PLIANT_STAGE_COUNT ? names[stage] : "unknown";
}

/* ------------------------------------------------------------------ handles */

static pl_status fail_stale(uint64_t handle, const char* what)
{
    return pl_fail(PLIANT_ERROR_STALE_HANDLE, "%llu is not a %s (any more)",
                   (unsigned long long)handle, what);
}

static pl_status fail_busy(const char* call)
{
    return pl_fail(PLIANT_ERROR_STATE,
                   "%s is running on this scene: until it returns, only pliant_scene_cancel may be "
                   "called",
                   call);
}

static pl_status check_idle(const pl_scene* scene)
{
    const char* call = __atomic_load_n(&scene->busy, __ATOMIC_ACQUIRE);
    return call ? fail_busy(call) : PLIANT_OK;
}

pl_status pl_scene_enter(pl_scene* scene, const char* call)
{
    const char* other = NULL;
    return __atomic_compare_exchange_n(&scene->busy, &other, call, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE)
               ? PLIANT_OK
               : fail_busy(other);
}

void pl_scene_leave(pl_scene* scene)
{
    __atomic_store_n(&scene->busy, NULL, __ATOMIC_RELEASE);
}

pl_status pl_get_scene(uint64_t handle, pl_scene** scene)
{
    *scene = pl_handle_get(handle, PL_HANDLE_SCENE, NULL);
    return *scene ? check_idle(*scene) : fail_stale(handle, "scene");
}

pl_status pl_get_owned(uint64_t handle, uint32_t kind, const char* what, void** object,
                       pl_scene** scene)
{
    void* owner = NULL;
    *object = pl_handle_get(handle, kind, &owner);
    *scene = owner;
    return *object ? check_idle(*scene) : fail_stale(handle, what);
}

pl_status pl_get_body(uint64_t handle, pl_body** body, pl_scene** scene)
{
    void* object;
    pl_status status = pl_get_owned(handle, PL_HANDLE_BODY, "body", &object, scene);
    *body = object;
    return status;
}

/* ------------------------------------------------------------------ scene */

pliant_status pliant_scene_create(const pliant_scene_desc* desc, pliant_scene* out)
{
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_scene_desc"));
    if (!out)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the scene's handle is NULL");
    PL_TRY(pl_check_vector(desc->gravity, "gravity"));
    PL_TRY(pl_check_enum(desc->simd, PLIANT_SIMD_NEON + 1, "simd"));
    if (desc->threads > 256)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "threads is %u: the most is 256", desc->threads);
    if (!pl_cpu_has(desc->simd))
        return pl_fail(PLIANT_ERROR_UNSUPPORTED, "This machine or build has no %s path",
                       pl_cpu_path_name(desc->simd));
    if (!pl_lapack_ready())
        return pl_fail(PLIANT_ERROR_MEMORY,
                       "There is less than %d MB of memory left for linear algebra: close other "
                       "programs, or raise the limit that this process has (ulimit -v)",
                       PL_LAPACK_BYTES >> 20);
    pl_scene* scene = PL_NEW(pl_scene, 1);
    if (!scene)
        return pl_fail_memory(sizeof *scene);
    scene->simd = desc->simd == PLIANT_SIMD_AUTO ? pl_cpu_best() : desc->simd;
    scene->kernels = pl_kernels_for(scene->simd);
    scene->resolve = pl_colliders_resolve_for(scene->simd);
    scene->mesh_kernels = pl_mesh_kernels_for(scene->simd);
    scene->cluster_kernels = pl_contact_solver_kernels_for(scene->simd);
    scene->cull_kernels = pl_cull_kernels_for(scene->simd);
    scene->contact_settings = pl_contact_defaults();
    memcpy(scene->gravity, desc->gravity, sizeof scene->gravity);
    scene->pool = pl_pool_create(desc->threads);
    scene->handle = scene->pool ? pl_handle_new(PL_HANDLE_SCENE, scene, NULL) : 0;
    if (!scene->handle)
    {
        pl_pool_destroy(scene->pool);
        pl_free(scene);
        return pl_fail_memory(sizeof *scene);
    }
    *out = scene->handle;
    return PLIANT_OK;
}

uint32_t pl_list_remove(void* list, uint32_t* count, const void* object)
{
    unsigned char* bytes = list; /* pointers of any type: compared and moved as bytes */
    uint32_t at = 0;
    while (memcmp(bytes + at * sizeof object, &object, sizeof object) != 0)
        ++at;
    --*count;
    memmove(bytes + at * sizeof object, bytes + (at + 1) * sizeof object,
            (*count - at) * sizeof object);
    return at;
}

/* Each module frees what it keeps in a body, the body's own part comes last. */
static void free_parts(pl_body* body)
{
    pl_pressure_free(body->pressure);
    pl_pin_binding_free(body->pin_binding);
    pl_triangle_cache_free_all(body);
    pl_proxies_free(&body->proxies);
    pl_collision_filter_free(&body->collision_filter);
    pl_cuts_free(&body->cuts);
    pl_fracture_free(body);
    pl_sleeping_pieces_free(&body->sleeping_pieces);
    pl_components_free(&body->components);
    pl_limit_free(body);
    pl_forces_free(body);
    pl_body_free(body);
}

void pl_scene_remove_body(pl_scene* scene, pl_body* body)
{
    uint32_t index = pl_list_remove(scene->bodies, &scene->body_count, body);
    pl_welds_drop_body(&scene->welds, index);
    pl_encounters_drop_body(&scene->encounters, index);
    pl_handle_free(body->handle);
    free_parts(body);
    pl_free(body);
}

void pl_scene_clear(pl_scene* scene)
{
    while (scene->body_count)
        pl_scene_remove_body(scene, scene->bodies[scene->body_count - 1]);
    for (uint32_t i = 0; i < scene->collider_count; ++i)
    {
        pl_handle_free(scene->colliders[i]->handle);
        pl_collider_free(scene->colliders[i]);
    }
    for (uint32_t i = 0; i < scene->field_count; ++i)
    {
        pl_handle_free(scene->fields[i]->handle);
        pl_free(scene->fields[i]);
    }
    scene->collider_count = scene->field_count = 0;
    pl_free(scene->welds.items);
    scene->welds = (pl_welds){0};
    pl_free(scene->encounters.items);
    scene->encounters = (pl_encounters){0};
}

pliant_status pliant_scene_destroy(pliant_scene handle)
{
    pl_scene* scene;
    if (handle == 0)
        return PLIANT_OK;
    PL_TRY(pl_get_scene(handle, &scene));
    pl_handle_free(handle);
    pl_scene_clear(scene);
    pl_scene_free_scratch(scene);
    pl_free(scene->bodies);
    pl_free(scene->colliders);
    pl_free(scene->fields);
    pl_pool_destroy(scene->pool);
    pl_free(scene);
    return PLIANT_OK;
}

pliant_status pliant_scene_set_gravity(pliant_scene handle, const double gravity[3])
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    if (!gravity)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "gravity is NULL");
    PL_TRY(pl_check_vector(gravity, "gravity"));
    if (memcmp(scene->gravity, gravity, sizeof scene->gravity) != 0)
        pl_scene_wake(scene);
    memcpy(scene->gravity, gravity, sizeof scene->gravity);
    return PLIANT_OK;
}

pliant_status pliant_scene_set_threads(pliant_scene handle, uint32_t threads)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    if (threads > 256)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "threads is %u: the most is 256", threads);
    pl_pool* pool = pl_pool_create(threads);
    if (!pool)
        return pl_fail_memory(1024);
    pl_pool_destroy(scene->pool);
    scene->pool = pool;
    return PLIANT_OK;
}

/* Estimates the memory of a body from its counts. */
static uint64_t body_bytes(const pl_body* body)
{
    const pl_particles* p = &body->particles;
    uint64_t slot = 11 * sizeof(float) + sizeof(uint64_t) + sizeof(uint32_t);
    slot += (body->acceleration[0] ? 12 : 0) + (body->force[0] ? 12 : 0) +
            (body->shift[0] ? 12 : 0) + (body->pins.frequency ? 4 : 0) +
            (body->pins.from[0] ? 24 : 0);
    uint64_t bytes = sizeof *body + slot * p->slot_count + 8ull * p->id_count;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        bytes += sizeof *chunk + 34ull * chunk->entry_count + chunk->slot_count / 2 +
                 chunk->row_count *
                     (4ull + 4 * PL_SUM_FLOATS + (chunk->quad_sums ? 4 * PL_QUAD_SUM_FLOATS : 0) +
                      (body->limit_sums ? 4 * PL_LIMIT_FLOATS : 0) + 8);
    }
    const pl_clusters* k = &body->clusters;
    uint64_t cluster =
        4 * (3 + 1 + 3 + 1 + 6 + 6 + 3 + 1 + 1 + 1 + 1 + 3 + 2 + 3 + 9 + 16 + 16 + 24) + 1 + 4 +
        (k->quad_inverse ? 4 * (36 + 18 + 18 + 24) : 0);
    const pl_level_batches* runs = &body->links.batches;
    for (uint32_t r = 0; runs->part && r < runs->count; ++r)
    {
        const pl_chunk* run = &runs->run[r];
        bytes += sizeof *run +
                 run->row_count * (4ull * (1 + PL_SUM_FLOATS + PL_ROW_FLOATS) + sizeof(pl_part));
        bytes += 34ull * (run->block_begin[run->block_count] - run->block_begin[0]);
    }
    return bytes + cluster * k->count + 64ull * body->links.count +
           12ull * body->mesh_vertex_count + 12ull * body->mesh_triangle_count +
           (body->pressure ? body->pressure->bytes : 0);
}

pliant_status pliant_scene_get_info(pliant_scene handle, pliant_scene_info* info)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    PL_TRY(pl_check_desc(info, sizeof *info, "pliant_scene_info"));
    pliant_scene_info_init(info, sizeof *info);
    info->threads = pl_pool_threads(scene->pool);
    info->simd = scene->simd;
    info->bodies = scene->body_count;
    info->colliders = scene->collider_count;
    info->fields = scene->field_count;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        const pl_body* body = scene->bodies[b];
        info->particles += body->particles.count;
        info->clusters += body->clusters.count;
        info->bytes += body_bytes(body);
        for (uint32_t l = 0; l < body->level_count; ++l)
            info->memberships += body->level_memberships[l];
    }
    info->frame = scene->frame;
    info->substep = scene->substep;
    info->substep_of_frame = scene->substep_of_frame;
    info->substeps = scene->substeps;
    info->time = scene->time;
    info->pairs_tested = scene->pairs_tested;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        info->asleep += scene->bodies[b]->asleep;
    info->pairs_violated = scene->pairs_violated;
    info->contacts = scene->contacts;
    info->welds = scene->welds.count;
    info->mesh_nodes = scene->mesh_nodes;
    info->mesh_triangles = scene->mesh_triangles;
    return PLIANT_OK;
}

pliant_status pliant_scene_get_body(pliant_scene handle, uint32_t index, pliant_body* body)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    if (!body || index >= scene->body_count)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "Body %u was asked for; the scene has %u", index,
                       scene->body_count);
    *body = scene->bodies[index]->handle;
    return PLIANT_OK;
}

pliant_status pliant_scene_get_collider(pliant_scene handle, uint32_t index,
                                        pliant_collider* collider)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    if (!collider || index >= scene->collider_count)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "Collider %u was asked for; the scene has %u", index,
                       scene->collider_count);
    *collider = scene->colliders[index]->handle;
    return PLIANT_OK;
}

pliant_status pliant_scene_get_field(pliant_scene handle, uint32_t index, pliant_field* field)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    if (!field || index >= scene->field_count)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "Field %u was asked for; the scene has %u", index,
                       scene->field_count);
    *field = scene->fields[index]->handle;
    return PLIANT_OK;
}

pl_status pl_check_frame(const pliant_frame_desc* desc)
{
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_frame_desc"));
    PL_TRY(pl_check_range(desc->dt, 1e-6, 100, "dt"));
    if (desc->substeps > 100000)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "substeps is %u: the most is 100,000",
                       desc->substeps);
    if (desc->max_substeps == 0 || desc->max_substeps > 100000)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "max_substeps is %u: it must be between 1 and 100,000", desc->max_substeps);
    return PLIANT_OK;
}

pliant_status pliant_scene_advance(pliant_scene handle, const pliant_frame_desc* desc)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    PL_TRY(pl_check_frame(desc));
    PL_TRY(pl_scene_enter(scene, "pliant_scene_advance"));
    pl_status status = pl_scene_step_frame(scene, desc);
    pl_scene_leave(scene);
    return status;
}

static void ask_to_stop(void* scene)
{
    __atomic_store_n(&((pl_scene*)scene)->cancel, 1, __ATOMIC_RELAXED);
}

pliant_status pliant_scene_cancel(pliant_scene handle)
{
    return pl_handle_do(handle, PL_HANDLE_SCENE, ask_to_stop) ? PLIANT_OK
                                                              : fail_stale(handle, "scene");
}

pliant_status pliant_scene_auto_substeps(pliant_scene handle, double dt, uint32_t max_substeps,
                                         uint32_t* substeps)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    PL_TRY(pl_check_range(dt, 1e-6, 100, "dt"));
    if (!substeps || max_substeps == 0 || max_substeps > 100000)
        return pl_fail(
            PLIANT_ERROR_ARGUMENT,
            "max_substeps is %u: it must be between 1 and 100,000, and substeps not NULL",
            max_substeps);
    *substeps = pl_scene_substeps(scene, dt, max_substeps);
    return PLIANT_OK;
}

pliant_status pliant_scene_hash(pliant_scene handle, uint64_t* hash)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    if (!hash)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the hash is NULL");
    return pl_scene_hash_state(scene, hash);
}

pliant_status pliant_scene_profile(pliant_scene handle, double ms[PLIANT_STAGE_COUNT],
                                   int32_t reset)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    if (ms)
        memcpy(ms, scene->stage_ms, sizeof scene->stage_ms);
    if (reset)
        memset(scene->stage_ms, 0, sizeof scene->stage_ms);
    return PLIANT_OK;
}

pliant_status pliant_scene_save(pliant_scene handle, void* buffer, uint64_t* bytes)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    if (!bytes)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the size is NULL");
    PL_TRY(pl_scene_enter(scene, "pliant_scene_save"));
    pl_status status = pl_scene_save_block(scene, buffer, bytes);
    pl_scene_leave(scene);
    return status;
}

pliant_status pliant_scene_restore(pliant_scene handle, const void* buffer, uint64_t bytes)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    if (!buffer)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The block to restore is NULL");
    PL_TRY(pl_scene_enter(scene, "pliant_scene_restore"));
    pl_status status = pl_scene_restore_block(scene, buffer, bytes);
    pl_scene_leave(scene);
    return status;
}

pl_status pl_make_current(pl_scene* scene)
{
    return pl_scene_refresh(scene);
}

/* ------------------------------------------------------------------ fields */

static pl_status get_field(uint64_t handle, pl_field** field, pl_scene** scene)
{
    void* object;
    pl_status status = pl_get_owned(handle, PL_HANDLE_FIELD, "field", &object, scene);
    *field = object;
    return status;
}

pliant_status pliant_field_create(pliant_scene handle, const pliant_field_desc* desc,
                                  pliant_field* out)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_field_desc"));
    PL_TRY(pl_field_check(desc));
    if (!out)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the field's handle is NULL");
    pl_field* field = PL_NEW(pl_field, 1);
    if (!field || !pl_grow((void**)&scene->fields, &scene->field_capacity,
                           (size_t)scene->field_count + 1, sizeof *scene->fields))
    {
        pl_free(field);
        return pl_fail_memory(sizeof *field);
    }
    field->from = field->to = *desc;
    field->handle = pl_handle_new(PL_HANDLE_FIELD, field, scene);
    if (!field->handle)
    {
        pl_free(field);
        return pl_fail_memory(64);
    }
    scene->fields[scene->field_count++] = field;
    pl_scene_wake(scene);
    *out = field->handle;
    return PLIANT_OK;
}

pliant_status pliant_field_destroy(pliant_field handle)
{
    pl_field* field;
    pl_scene* scene;
    PL_TRY(get_field(handle, &field, &scene));
    pl_list_remove(scene->fields, &scene->field_count, field);
    pl_handle_free(handle);
    pl_free(field);
    return PLIANT_OK;
}

pliant_status pliant_field_set(pliant_field handle, const pliant_field_desc* desc)
{
    pl_field* field;
    pl_scene* scene;
    PL_TRY(get_field(handle, &field, &scene));
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_field_desc"));
    PL_TRY(pl_field_check(desc));
    field->to = *desc;
    return PLIANT_OK;
}

/* Converts from three floats per point to one array per component, as field functions expect. */
pliant_status pliant_field_evaluate(const pliant_field_desc* desc, uint32_t count,
                                    const float* positions, const float* velocities,
                                    float* accelerations)
{
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_field_desc"));
    PL_TRY(pl_field_check(desc));
    PL_TRY(pl_check_floats(positions, (uint64_t)count * 3, "positions"));
    if (velocities)
        PL_TRY(pl_check_floats(velocities, (uint64_t)count * 3, "velocities"));
    if (count && !accelerations)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "accelerations is NULL");
    float* block = PL_NEW(float, (size_t)count * 9);
    if (!block)
        return pl_fail_memory((size_t)count * 36);
    const float *x[3], *v[3];
    float* a[3];
    for (int k = 0; k < 3; ++k)
    {
        float *xk = block + (size_t)count * k, *vk = xk + (size_t)count * 3;
        for (uint32_t i = 0; i < count; ++i)
        {
            xk[i] = positions[3 * (size_t)i + k];
            vk[i] = velocities ? velocities[3 * (size_t)i + k] : 0;
        }
        x[k] = xk, v[k] = vk, a[k] = vk + (size_t)count * 3;
    }
    pl_field_add(desc, (const double[3]){0, 0, 0}, count, x, v, a);
    for (int k = 0; k < 3; ++k)
        for (uint32_t i = 0; i < count; ++i)
            accelerations[3 * (size_t)i + k] = a[k][i];
    pl_free(block);
    return PLIANT_OK;
}
