// SPDX-License-Identifier: GPL-3.0-or-later
/* API of colliders: simple shapes and meshes. */
#include "api/api.h"
#include "collision/mesh/triangle_cache.h"
#include "sleep/sleep.h"

#include <string.h>

static pl_status get_collider(uint64_t handle, pl_collider** collider, pl_scene** scene)
{
    void* object;
    pl_status status = pl_get_owned(handle, PL_HANDLE_COLLIDER, "collider", &object, scene);
    *collider = object;
    return status;
}

static void set_surface(pl_collider* collider, const pliant_collider_desc* desc)
{
    collider->friction = (float)desc->friction;
    collider->restitution = (float)desc->restitution;
    collider->thickness = (float)desc->thickness;
    memcpy(collider->surface_velocity, desc->surface_velocity, sizeof desc->surface_velocity);
    memcpy(collider->surface_spin, desc->surface_spin, sizeof desc->surface_spin);
    memcpy(collider->surface_centre, desc->surface_centre, sizeof desc->surface_centre);
}

/* Takes ownership of the mesh (may be NULL) on success. */
static pl_status add_collider(pl_scene* scene, const pliant_collider_desc* desc,
                              pl_mesh_collider* mesh, pliant_collider* out)
{
    pl_collider* collider = PL_NEW(pl_collider, 1);
    if (!collider || !pl_grow((void**)&scene->colliders, &scene->collider_capacity,
                              (size_t)scene->collider_count + 1, sizeof *scene->colliders))
    {
        pl_free(collider);
        return pl_fail_memory(sizeof *collider);
    }
    collider->shape = desc->shape;
    collider->inside_out = desc->inside_out;
    collider->groups = desc->groups;
    set_surface(collider, desc);
    if (!mesh)
    {
        collider->from = desc->pose;
        pl_pose_normalise(&collider->from);
        collider->to = collider->from;
    }
    collider->handle = pl_handle_new(PL_HANDLE_COLLIDER, collider, scene);
    if (!collider->handle)
    {
        pl_free(collider);
        return pl_fail_memory(64);
    }
    collider->mesh = mesh;
    scene->colliders[scene->collider_count++] = collider;
    pl_scene_wake(scene);
    *out = collider->handle;
    return PLIANT_OK;
}

pliant_status pliant_collider_create(pliant_scene handle, const pliant_collider_desc* desc,
                                     pliant_collider* out)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_collider_desc"));
    PL_TRY(pl_collider_check(desc));
    if (pl_shape_is_mesh(desc->shape))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "The collider's shape is a mesh: pliant_collider_create_mesh makes those");
    if (!out)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the collider's handle is NULL");
    return add_collider(scene, desc, NULL, out);
}

pliant_status pliant_collider_create_mesh(pliant_scene handle, const pliant_collider_desc* desc,
                                          const pliant_mesh_desc* mesh_desc, pliant_collider* out)
{
    pl_scene* scene;
    pl_mesh_collider* mesh;
    PL_TRY(pl_get_scene(handle, &scene));
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_collider_desc"));
    PL_TRY(pl_check_desc(mesh_desc, sizeof *mesh_desc, "pliant_mesh_desc"));
    if (!pl_shape_is_mesh(desc->shape))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "The collider's shape is %u: one with a mesh is PLIANT_SHAPE_MESH or "
                       "PLIANT_SHAPE_SHELL",
                       desc->shape);
    PL_TRY(pl_collider_check(desc));
    if (!out)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The place for the collider's handle is NULL");
    PL_TRY(pl_mesh_collider_create(mesh_desc, &mesh));
    pl_status status = add_collider(scene, desc, mesh, out);
    if (status != PLIANT_OK)
        pl_mesh_collider_free(mesh);
    return status;
}

pliant_status pliant_collider_set_mesh(pliant_collider handle, uint32_t vertex_count,
                                       const double origin[3], const float* vertices)
{
    pl_collider* collider;
    pl_scene* scene;
    PL_TRY(get_collider(handle, &collider, &scene));
    if (!collider->mesh)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "The collider has no mesh: pliant_collider_move moves simple shapes");
    return pl_mesh_collider_set(collider->mesh, vertex_count, origin, vertices);
}

pliant_status pliant_collider_destroy(pliant_collider handle)
{
    pl_collider* collider;
    pl_scene* scene;
    PL_TRY(get_collider(handle, &collider, &scene));
    uint32_t at = pl_list_remove(scene->colliders, &scene->collider_count, collider);
    pl_welds_drop_collider(&scene->welds, at);
    pl_scene_wake(scene);
    for (uint32_t b = 0; collider->mesh && b < scene->body_count; ++b)
        pl_triangle_cache_drop(scene->bodies[b], collider->mesh);
    pl_handle_free(handle);
    pl_collider_free(collider);
    return PLIANT_OK;
}

pliant_status pliant_collider_move(pliant_collider handle, const pliant_pose* pose)
{
    pl_collider* collider;
    pl_scene* scene;
    PL_TRY(get_collider(handle, &collider, &scene));
    if (!pose)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "pose is NULL");
    PL_TRY(pl_pose_check(pose, collider->shape, collider->inside_out, collider->thickness));
    collider->to = *pose;
    pl_pose_normalise(&collider->to);
    return PLIANT_OK;
}

pliant_status pliant_collider_set(pliant_collider handle, const pliant_collider_desc* desc)
{
    pl_collider* collider;
    pl_scene* scene;
    PL_TRY(get_collider(handle, &collider, &scene));
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_collider_desc"));
    pliant_collider_desc whole =
        *desc; /* the thickness must leave room inside the shape there is */
    whole.shape = collider->shape;
    whole.inside_out = collider->inside_out;
    whole.pose = collider->from;
    PL_TRY(pl_collider_check(&whole));
    whole.pose = collider->to;
    PL_TRY(pl_collider_check(&whole));
    pl_collider before = *collider;
    set_surface(collider, desc);
    bool runs_on = memcmp(before.surface_velocity, collider->surface_velocity,
                          3 * sizeof before.surface_velocity) == 0;
    if (collider->friction != before.friction || collider->thickness != before.thickness ||
        !runs_on)
        pl_scene_wake(scene);
    return PLIANT_OK;
}
