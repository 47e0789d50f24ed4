// SPDX-License-Identifier: GPL-3.0-or-later
/* Contacts between bodies: checks and settings. */
#include "api.h"

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
