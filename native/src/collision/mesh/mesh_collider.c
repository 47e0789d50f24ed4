// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Mesh colliders outside the inner loop: validation, tree, vertices.
 *
 * The tree's topology comes from the rest mesh and stays. Each frame its boxes are refitted
 * bottom-up around the triangles at the frame's start and end; vertices move in straight lines, so
 * the boxes bound the whole motion.
 */
#include "collision/mesh/mesh_collider.h"

#include "base/hash.h"

#include <string.h>

/* Largest accepted coordinate; as for simple colliders. */
#define LARGEST_LENGTH 1.0e15

static vec3 edge(const vec3* vertices, const uint32_t* t, int i)
{
    return v3_sub(vertices[t[i]], vertices[t[0]]);
}

static bool has_area(const vec3* vertices, const uint32_t* t)
{
    vec3 normal = v3_cross(edge(vertices, t, 1), edge(vertices, t, 2));
    return v3_dot(normal, normal) > 0;
}

static pl_status check_vertices(uint32_t count, const double origin[3], const float* vertices)
{
    if (!vertices)
        return pl_fail(PLIANT_ERROR_MESH, "the collider's vertices are NULL");
    for (int k = 0; origin && k < 3; ++k)
        if (!(fabs(origin[k]) <= LARGEST_LENGTH))
            return pl_fail(PLIANT_ERROR_ARGUMENT,
                           "the origin of the collider's vertices is (%g, %g, %g): it must be "
                           "finite and not beyond %g",
                           origin[0], origin[1], origin[2], LARGEST_LENGTH);
    for (uint32_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k)
            if (!(fabs((double)vertices[3 * (size_t)i + k]) <= LARGEST_LENGTH))
                return pl_fail(PLIANT_ERROR_MESH,
                               "the collider's vertex %u is (%g, %g, %g): it must be finite and "
                               "not beyond %g",
                               i, vertices[3 * (size_t)i], vertices[3 * (size_t)i + 1],
                               vertices[3 * (size_t)i + 2], LARGEST_LENGTH);
    return PLIANT_OK;
}

static pl_status check_mesh(const pliant_mesh_desc* desc)
{
    if (!desc->vertex_count || !desc->triangle_count)
        return pl_fail(
            PLIANT_ERROR_MESH,
            "the collider's mesh has %u vertices and %u triangles: it needs at least one of each",
            desc->vertex_count, desc->triangle_count);
    if (!desc->triangles)
        return pl_fail(PLIANT_ERROR_MESH, "the collider's triangles are NULL");
    PL_TRY(check_vertices(desc->vertex_count, desc->origin, desc->vertices));
    for (uint32_t i = 0; i < desc->triangle_count; ++i)
        for (int k = 0; k < 3; ++k)
            if (desc->triangles[3 * (size_t)i + k] >= desc->vertex_count)
                return pl_fail(PLIANT_ERROR_MESH,
                               "the collider's triangle %u names vertex %u: there are %u", i,
                               desc->triangles[3 * (size_t)i + k], desc->vertex_count);
    return PLIANT_OK;
}

static void place(vec3* out, uint32_t count, const double origin[3], const float* vertices)
{
    vec3 zero = origin ? v3_fromd(origin) : v3(0, 0, 0);
    for (uint32_t i = 0; i < count; ++i)
        out[i] = v3_add(zero, v3_from(vertices + 3 * (size_t)i));
}

/* Sums a hash of each edge, with the sign of its direction: opposite directions cancel. */
static bool is_closed(const pl_mesh_collider* mesh)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; ++i)
        for (int k = 0; k < 3; ++k)
        {
            const uint32_t* t = mesh->triangles + 3 * (size_t)i;
            uint64_t a = t[k], b = t[(k + 1) % 3], low = PL_MIN(a, b), high = PL_MAX(a, b);
            uint64_t drawn = pl_hash(PL_HASH_START, &(uint64_t){low << 32 | high}, sizeof drawn);
            sum += a < b ? drawn : a > b ? -drawn : 0;
        }
    return sum == 0;
}

pl_status pl_mesh_collider_build(pl_mesh_collider* mesh)
{
    static const uint32_t one_shell[1] = {0};
    uint32_t* patch = PL_NEW(uint32_t, mesh->triangle_count); /* one patch */
    mesh->tree = PL_NEW(pl_bvh, 1);
    pl_status status = PLIANT_OK;
    if (!patch || !mesh->tree)
        status = pl_fail_memory(4 * (size_t)mesh->triangle_count);
    else
        status = pl_bvh_build(mesh->tree, mesh->rest, mesh->triangles, mesh->triangle_count, patch,
                              1, one_shell, 1);
    pl_free(patch);
    if (status != PLIANT_OK)
        return status;
    /* the tree's copies of corners are useless for moving triangles */
    pl_free(mesh->tree->corners);
    pl_free(mesh->tree->far);
    mesh->tree->corners = NULL;
    mesh->tree->far = NULL;
    mesh->moved = true;
    mesh->closed = is_closed(mesh);
    return PLIANT_OK;
}

static pl_status copy_mesh(pl_mesh_collider* mesh, const pliant_mesh_desc* desc)
{
    mesh->vertex_count = desc->vertex_count;
    mesh->triangle_count = desc->triangle_count;
    mesh->triangles = PL_NEW(uint32_t, 3 * (size_t)desc->triangle_count);
    mesh->rest = PL_NEW(vec3, desc->vertex_count);
    mesh->from = PL_NEW(vec3, desc->vertex_count);
    mesh->to = PL_NEW(vec3, desc->vertex_count);
    if (!mesh->triangles || !mesh->rest || !mesh->from || !mesh->to)
        return pl_fail_memory(3 * sizeof(vec3) * (size_t)desc->vertex_count);
    memcpy(mesh->triangles, desc->triangles, 3 * sizeof(uint32_t) * (size_t)desc->triangle_count);
    place(mesh->rest, mesh->vertex_count, desc->origin, desc->vertices);
    memcpy(mesh->from, mesh->rest, sizeof(vec3) * mesh->vertex_count);
    memcpy(mesh->to, mesh->rest, sizeof(vec3) * mesh->vertex_count);
    bool any = false;
    for (uint32_t i = 0; i < mesh->triangle_count && !any; ++i)
        any = has_area(mesh->rest, mesh->triangles + 3 * (size_t)i);
    if (!any)
        return pl_fail(PLIANT_ERROR_MESH, "none of the collider's %u triangles has an area",
                       mesh->triangle_count);
    return pl_mesh_collider_build(mesh);
}

pl_status pl_mesh_collider_create(const pliant_mesh_desc* desc, pl_mesh_collider** out)
{
    PL_TRY(check_mesh(desc));
    pl_mesh_collider* mesh = PL_NEW(pl_mesh_collider, 1);
    if (!mesh)
        return pl_fail_memory(sizeof *mesh);
    pl_status status = copy_mesh(mesh, desc);
    if (status != PLIANT_OK)
    {
        pl_mesh_collider_free(mesh);
        return status;
    }
    *out = mesh;
    return PLIANT_OK;
}

pl_status pl_mesh_collider_set(pl_mesh_collider* mesh, uint32_t vertex_count,
                               const double origin[3], const float* vertices)
{
    if (vertex_count != mesh->vertex_count)
        return pl_fail(PLIANT_ERROR_ARGUMENT,
                       "%u vertices were given for a collider that was made with %u", vertex_count,
                       mesh->vertex_count);
    PL_TRY(check_vertices(vertex_count, origin, vertices));
    place(mesh->to, vertex_count, origin, vertices);
    mesh->moved = true;
    return PLIANT_OK;
}

bool pl_mesh_collider_fits(const pl_mesh_collider* mesh)
{
    if (!mesh->vertex_count || !mesh->triangle_count || !mesh->triangles || !mesh->rest ||
        !mesh->from || !mesh->to)
        return false;
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; ++i)
        if (mesh->triangles[i] >= mesh->vertex_count)
            return false;
    const vec3* sets[3] = {mesh->rest, mesh->from, mesh->to};
    for (int s = 0; s < 3; ++s)
        for (uint32_t i = 0; i < mesh->vertex_count; ++i)
        {
            vec3 p = sets[s][i];
            if (!(fabs(p.x) <= 2 * LARGEST_LENGTH && fabs(p.y) <= 2 * LARGEST_LENGTH &&
                  fabs(p.z) <= 2 * LARGEST_LENGTH))
                return false;
        }
    return true;
}

void pl_mesh_collider_free(pl_mesh_collider* mesh)
{
    if (!mesh)
        return;
    pl_bvh_free(mesh->tree);
    pl_free(mesh->triangles);
    pl_free(mesh->rest);
    pl_free(mesh->from);
    pl_free(mesh->to);
    pl_free(mesh);
}

void pl_mesh_collider_refit(pl_mesh_collider* mesh)
{
    pl_bvh* tree = mesh->tree;
    if (!mesh->moved)
        return;
    for (uint32_t n = tree->node_count; n-- > 0;) /* children have higher numbers */
    {
        pl_node* node = &tree->nodes[n];
        pl_box box = pl_box_empty();
        for (uint32_t i = 0; i < node->count; ++i)
        {
            const uint32_t* t = mesh->triangles + 3 * (size_t)tree->order[node->first + i];
            for (int k = 0; k < 3; ++k)
            {
                pl_box_add(&box, mesh->from[t[k]]);
                pl_box_add(&box, mesh->to[t[k]]);
            }
        }
        if (!node->count)
        {
            const pl_box* right = &tree->nodes[node->right].box;
            box = tree->nodes[node->left].box;
            pl_box_add(&box, right->lower);
            pl_box_add(&box, right->upper);
        }
        node->box = box;
    }
    double farthest = 0;
    for (uint32_t i = 0; i < mesh->vertex_count; ++i)
    {
        vec3 d = v3_sub(mesh->to[i], mesh->from[i]);
        farthest = pl_max(farthest, v3_dot(d, d));
    }
    mesh->moved = false;
    mesh->farthest = sqrt(farthest);
    mesh->still = mesh->farthest == 0;
    ++mesh->epoch;
}

void pl_mesh_collider_finish(pl_mesh_collider* mesh)
{
    if (!mesh->moved && mesh->still)
        return;
    memcpy(mesh->from, mesh->to, sizeof(vec3) * mesh->vertex_count);
    mesh->moved = true;
}

bool pl_mesh_collider_sweep(const pl_mesh_collider* mesh, bool still_too, double lower[3],
                            double upper[3])
{
    if (!still_too && memcmp(mesh->from, mesh->to, sizeof *mesh->from * mesh->vertex_count) == 0)
        return false;
    vec3 low = mesh->from[0], high = low;
    for (uint32_t i = 0; i < mesh->vertex_count; ++i)
    {
        low = v3_min(low, v3_min(mesh->from[i], mesh->to[i]));
        high = v3_max(high, v3_max(mesh->from[i], mesh->to[i]));
    }
    lower[0] = low.x, lower[1] = low.y, lower[2] = low.z;
    upper[0] = high.x, upper[1] = high.y, upper[2] = high.z;
    return true;
}
