// SPDX-License-Identifier: GPL-3.0-or-later
/* Stage of the substep: contacts between clusters. Prepares bodies, fits and contact shapes. */
#include "collision/cluster/stage.h"

#include "body/validity.h"
#include "dynamics/substep.h"
#include "sleep/sleep.h"

#include <string.h>

/* Builds missing or stale contact shapes and filter of a body. After a restore, or a change of
 * memberships, half-spaces and held pairs are kept and the rest is derived again. */
static pl_status make_shapes(pl_body* body, double thickness, bool* made)
{
    *made = !body->valid.shapes;
    if (!*made)
        return PLIANT_OK;
    bool had = body->proxies.plane_begin != NULL;
    pl_proxy_desc desc = pl_proxy_defaults(body);
    if (!body->rest_sdf.distance)
        PL_TRY(pl_rest_sdf_build(body, &body->rest_sdf));
    PL_TRY(pl_cuts_refresh(body));
    PL_TRY(pl_cracks_refresh(body));
    if (had)
        PL_TRY(pl_proxies_list_members(body, &body->proxies));
    else
        PL_TRY(pl_proxies_build(body, &desc, &body->proxies));
    PL_TRY(pl_collision_filter_make(body, &body->proxies, thickness,
                                    had ? body->clusters.changed : NULL, &body->collision_filter));
    memset(body->clusters.changed, 0, body->clusters.count);
    pl_shapes_made(body);
    return PLIANT_OK;
}

/* Wakes sleepers that were hit. In this substep they acted as fixed. */
static pl_status wake_touched(pl_scene* scene)
{
    bool any = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        bool hit = scene->cluster_scratch.pair_bodies[b].hit;
        if (hit)
            pl_wake(scene->bodies[b]);
        any = pl_piece_sleep_wake_hit(scene->bodies[b]) || hit || any;
    }
    if (!any)
        return PLIANT_OK;
    PL_TRY(pl_sleep_wake_neighbours(scene));
    return pl_task_lists_make(scene);
}

static pl_status list_bodies(pl_scene* scene)
{
    if (!pl_grow((void**)&scene->contact_bodies, &scene->contact_body_capacity, scene->body_count,
                 sizeof *scene->contact_bodies))
        return pl_fail_memory(scene->body_count * sizeof *scene->contact_bodies);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        bool made;
        PL_TRY(make_shapes(body, pl_contact_thickness(body, &scene->contact_settings), &made));
        if (made)
            pl_welds_reattach(&scene->welds, b, body, &body->proxies);
        scene->contact_bodies[b] = (pl_contact_body){
            body, &body->proxies, &body->collision_filter,
            body->contact_groups ? body->contact_groups : UINT32_MAX, !body->no_self_contact};
    }
    return PLIANT_OK;
}

static pl_status weld_bodies(pl_scene* scene, uint32_t a, uint32_t b, double distance,
                             double strength)
{
    static const double still[3] = {0, 0, 0};
    const pl_contact_body* other = &scene->contact_bodies[b];
    pl_proxy_pose* poses = PL_NEW(pl_proxy_pose, other->proxies->count);
    if (!poses)
        return pl_fail_memory(other->proxies->count * sizeof *poses);
    pl_poses_set(other->body, other->proxies, 0, still, 0, 0, other->proxies->count, poses);
    pl_status status = pl_welds_to_body(&scene->welds, a, &scene->contact_bodies[a], b, other,
                                        poses, distance, strength);
    pl_free(poses);
    return status;
}

pl_status pl_scene_make_welds(pl_scene* scene, uint32_t body, uint32_t other, uint32_t collider,
                              double distance, double strength, uint32_t* count)
{
    size_t before = scene->welds.count;
    if (!(distance > 0))
        distance = scene->bodies[body]->spacing;
    PL_TRY(pl_scene_refresh(scene));
    PL_TRY(list_bodies(scene));
    pl_status status = PLIANT_OK;
    if (other == PL_NO_BODY)
        status = pl_welds_to_collider(&scene->welds, body, scene->bodies[body], collider,
                                      scene->colliders[collider], distance, strength);
    else
        status = weld_bodies(scene, body, other, distance, strength);
    if (status == PLIANT_OK && other != PL_NO_BODY)
        status = weld_bodies(scene, other, body, distance, strength);
    if (status != PLIANT_OK)
        scene->welds.count = before;
    *count = (uint32_t)(scene->welds.count - before);
    return status;
}

pl_status pl_cluster_contacts(pl_substep* step)
{
    pl_scene* scene = step->scene;
    PL_TRY(list_bodies(scene));
    pl_substep_run(step, &scene->chunks, 1, pl_gather_items);
    pl_fit_bodies(step, false);
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_assert_shapes(scene->bodies[b]);
        if (!scene->bodies[b]->asleep)
            pl_assert_fits(scene->bodies[b]);
    }
    const double* g = scene->gravity;
    scene->contact_settings.wake_speed = 2 * scene->sleep_speed;
    scene->contact_settings.turn = scene->substep;
    scene->contact_settings.gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    pl_weld_work held = {.welds = &scene->welds,
                         .encounters = &scene->encounters,
                         .colliders = (const pl_collider* const*)scene->colliders,
                         .t1 = step->t1,
                         .touch = scene->cluster_contacts};
    scene->cluster_scratch.kernels = scene->cluster_kernels;
    scene->cluster_scratch.cull = scene->cull_kernels;
    PL_TRY(pl_contacts_resolve(&scene->cluster_scratch, scene->body_count, scene->contact_bodies,
                               &scene->contact_settings, &held, step->dt, scene->pool));
    pl_welds_remove_broken(&scene->welds);
    PL_TRY(wake_touched(scene));
    for (uint32_t b = 0; b < scene->body_count; ++b)
        for (uint32_t c = 0; c < scene->bodies[b]->chunk_count; ++c)
            if (scene->bodies[b]->chunks[c].moments == PL_MOMENTS_STALE)
                pl_moments_changed(scene->bodies[b]);
    pl_substep_run(step, &scene->chunks, 1, pl_gather_items);
    return PLIANT_OK;
}
