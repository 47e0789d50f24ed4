// SPDX-License-Identifier: GPL-3.0-or-later
/* A scene's mesh as the library takes it in. */
#ifndef PLIANT_LOAD_MESH_H
#define PLIANT_LOAD_MESH_H

#include "native/support/test.h"
#include "scenes/meshes.h"

#include <geometry/mesh.h>

static inline pl_mesh load(scene_mesh scene)
{
    pl_mesh mesh;
    pliant_mesh_desc desc = {.vertex_count = scene.vertex_count,
                             .triangle_count = scene.triangle_count,
                             .vertices = scene.vertices,
                             .triangles = scene.triangles};
    CHECK_OK(pl_mesh_init(&mesh, &desc, v3(0, 0, 0)));
    scene_mesh_free(&scene);
    return mesh;
}

#endif
