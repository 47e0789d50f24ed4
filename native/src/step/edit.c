// SPDX-License-Identifier: GPL-3.0-or-later
#include "edit.h"

pl_status pl_edit_begin(pl_body* body, uint64_t now, pl_edit** edit)
{
    (void)body, (void)now;
    *edit = NULL;
    return pl_fail(PLIANT_ERROR_UNSUPPORTED, "Memberships cannot be changed yet");
}

void pl_edit_abandon(pl_edit* edit)
{
    (void)edit;
}

const pl_member* pl_edit_members(pl_edit* edit, uint32_t slot, uint32_t* count)
{
    (void)edit, (void)slot;
    *count = 0;
    return NULL;
}

const uint32_t* pl_edit_slots(pl_edit* edit, uint32_t cluster, uint32_t* count)
{
    (void)edit, (void)cluster;
    *count = 0;
    return NULL;
}

pl_status pl_edit_set(pl_edit* edit, uint32_t slot, const pl_member* members, uint32_t count)
{
    (void)edit, (void)slot, (void)members, (void)count;
    return pl_fail(PLIANT_ERROR_UNSUPPORTED, "Memberships cannot be changed yet");
}

pl_status pl_edit_add_cluster(pl_edit* edit, uint32_t like, uint32_t* cluster)
{
    (void)edit, (void)like, (void)cluster;
    return pl_fail(PLIANT_ERROR_UNSUPPORTED, "Clusters cannot be added yet");
}

pl_status pl_edit_divide(pl_edit* edit, uint32_t slot, uint64_t quanta, uint32_t* copy)
{
    (void)edit, (void)slot, (void)quanta, (void)copy;
    return pl_fail(PLIANT_ERROR_UNSUPPORTED, "Particles cannot be divided yet");
}

pl_status pl_edit_end(pl_edit* edit, uint64_t* updates)
{
    (void)edit, (void)updates;
    return pl_fail(PLIANT_ERROR_UNSUPPORTED, "Memberships cannot be changed yet");
}
