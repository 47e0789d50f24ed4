// SPDX-License-Identifier: GPL-3.0-or-later
#include "follow.h"

pl_status pl_follow_mesh(pl_body* body, const float* vertices, pl_pool* pool, float* targets)
{
    (void)body, (void)vertices, (void)pool, (void)targets;
    return pl_fail(PLIANT_ERROR_UNSUPPORTED, "Following a mesh is not built yet");
}

void pl_follow_free(struct pl_mesh_binding* binding)
{
    (void)binding;
}
