// SPDX-License-Identifier: GPL-3.0-or-later
/* API of contacts between bodies, welds and sleep. */
#include "api/api.h"
#include "collision/cluster/stage.h"
#include "sleep/sleep.h"

#include <float.h>

pliant_status pliant_scene_set_contacts(pliant_scene handle, const pliant_contact_desc* desc)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_contact_desc"));
    PL_TRY(pl_check_range(desc->stiffness, 0, 1, "the contacts' stiffness"));
    PL_TRY(pl_check_range(desc->friction, 0, FLT_MAX, "the contacts' friction"));
    PL_TRY(pl_check_range(desc->restitution, 0, 1, "the contacts' restitution"));
    PL_TRY(pl_check_range(desc->thickness, 0, 1e9, "the contacts' thickness"));
    PL_TRY(pl_check_range(desc->iterations, 1, 1000, "the contacts' iterations"));
    if (scene->cluster_contacts != (desc->enabled != 0))
        pl_scene_wake(scene);
    scene->cluster_contacts = desc->enabled != 0;
    scene->contact_settings = (pl_contact_settings){.stiffness = desc->stiffness,
                                                    .friction = desc->friction,
                                                    .restitution = desc->restitution,
                                                    .thickness = desc->thickness,
                                                    .iterations = desc->iterations};
    return PLIANT_OK;
}

pliant_status pliant_body_set_contacts(pliant_body handle, uint32_t groups, int32_t self)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    body->contact_groups = groups;
    body->no_self_contact = self == 0;
    return PLIANT_OK;
}

pliant_status pliant_body_set_surface(pliant_body handle, double friction, double restitution,
                                      double thickness)
{
    pl_body* body;
    pl_scene* scene;
    PL_TRY(pl_get_body(handle, &body, &scene));
    PL_TRY(pl_check_range(friction, -FLT_MAX, FLT_MAX, "the body's friction"));
    PL_TRY(pl_check_range(restitution, -FLT_MAX, 1, "the body's restitution"));
    PL_TRY(pl_check_range(thickness, -FLT_MAX, 1e9, "the body's thickness"));
    if (body->friction != friction || body->thickness != thickness)
        pl_wake(body);
    body->friction = friction;
    body->restitution = restitution;
    body->thickness = thickness;
    return PLIANT_OK;
}

pliant_status pliant_scene_set_sleep(pliant_scene handle, double speed, double seconds)
{
    pl_scene* scene;
    PL_TRY(pl_get_scene(handle, &scene));
    PL_TRY(pl_check_range(speed, 0, FLT_MAX, "the speed below which bodies fall asleep"));
    PL_TRY(pl_check_range(seconds, 0, FLT_MAX, "the seconds after which bodies fall asleep"));
    if (speed < scene->sleep_speed)
        pl_scene_wake(scene);
    scene->sleep_speed = speed;
    scene->sleep_seconds = seconds;
    return PLIANT_OK;
}

static pl_status index_of(pl_scene* scene, uint64_t handle, const char* what, uint32_t* index)
{
    pl_body* body;
    pl_scene* owner;
    PL_TRY(pl_get_body(handle, &body, &owner));
    if (owner != scene)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "The weld's %s belongs to another scene", what);
    for (*index = 0; scene->bodies[*index] != body;)
        ++*index;
    return PLIANT_OK;
}

pliant_status pliant_scene_weld(pliant_scene handle, const pliant_weld_desc* desc, uint32_t* count)
{
    pl_scene* scene;
    uint32_t body = 0, other = PL_NO_BODY, collider = 0, made = 0;
    PL_TRY(pl_get_scene(handle, &scene));
    PL_TRY(pl_check_desc(desc, sizeof *desc, "pliant_weld_desc"));
    PL_TRY(pl_check_range(desc->distance, 0, 1e9, "the weld's distance"));
    PL_TRY(pl_check_range(desc->strength, 0, DBL_MAX, "the weld's strength"));
    PL_TRY(index_of(scene, desc->body, "body", &body));
    if ((desc->other != 0) == (desc->collider != 0))
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "A weld is to another body or to a collider: give one of them");
    if (desc->other)
        PL_TRY(index_of(scene, desc->other, "other body", &other));
    if (other == body)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "A body is not welded to itself");
    while (desc->collider && collider < scene->collider_count &&
           scene->colliders[collider]->handle != desc->collider)
        ++collider;
    if (desc->collider && collider == scene->collider_count)
        return pl_fail(PLIANT_ERROR_STALE_HANDLE, "%llu is not a collider of the scene (any more)",
                       (unsigned long long)desc->collider);
    PL_TRY(pl_scene_make_welds(scene, body, other, collider, desc->distance,
                               desc->strength > 0 ? desc->strength : INFINITY, &made));
    pl_scene_wake(scene);
    if (count)
        *count = made;
    return PLIANT_OK;
}
