// SPDX-License-Identifier: GPL-3.0-or-later
/* The smallest scene and body that everything can be done to. */
#ifndef PLIANT_SMALL_BODY_H
#define PLIANT_SMALL_BODY_H

#include "native/support/test.h"

#include <scenes/meshes.h>

static inline pliant_scene make_scene(void)
{
    pliant_scene scene = 0;
    pliant_scene_desc desc;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = 1;
    CHECK_OK(pliant_scene_create(&desc, &scene));
    return scene;
}

static inline pliant_body_desc small_body(const scene_mesh* mesh)
{
    pliant_body_desc desc;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.mesh.vertex_count = mesh->vertex_count;
    desc.mesh.vertices = mesh->vertices;
    desc.mesh.triangle_count = mesh->triangle_count;
    desc.mesh.triangles = mesh->triangles;
    desc.sample.count = 60;
    desc.cluster.count = 6;
    return desc;
}

#endif
