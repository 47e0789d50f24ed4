// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Classifies closed patches as solid, cavity or redundant. In order of decreasing volume, each is
 * compared with the larger ones, by their winding numbers at a few of its points:
 *
 *   not inside their material       solid: oriented outward
 *   inside, opposite orientation    cavity: oriented inward
 *   inside, same orientation        redundant: excluded from the winding number
 *
 * Orientations are compared as given, before any flip: so a body with cavities may be given inside
 * out as a whole. A patch that lies only partly inside a larger one overlaps it; the two form a
 * union. Open patches are not changed.
 */
#include "geometry/bvh.h"
#include "geometry/mesh_components.h"

#include <stdlib.h>

enum
{
    PROBES = 6 /* points of a patch where winding numbers are evaluated */
};

typedef struct ranked
{
    double size;
    uint32_t patch;
} ranked;

typedef struct nesting
{
    const pl_bvh* tree;
    uint32_t* rank; /* of each patch, from the largest; UINT32_MAX: not decided */
    int8_t* factor; /* of its winding number as given: -1 flipped, 0 redundant */
} nesting;

static int compare_sizes(const void* a, const void* b)
{
    const ranked *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->patch > y->patch) - (x->patch < y->patch);
}

static uint32_t patch_of_root(const pl_bvh* tree, uint32_t node)
{
    uint32_t low = 0, high = tree->patch_count;
    while (high - low > 1)
    {
        uint32_t middle = low + (high - low) / 2;
        if (tree->patch_root[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Winding numbers at a point of the patches decided so far: as given, and as decided. */
static void winding_at(const nesting* n, vec3 p, double* given, double* decided)
{
    uint32_t stack[PL_BVH_STACK], waiting = 0;
    const pl_box at = {p, p};
    *given = *decided = 0;
    stack[waiting++] = n->tree->root;
    while (waiting)
    {
        uint32_t index = stack[--waiting];
        const pl_node* node = &n->tree->nodes[index];
        if (!pl_boxes_touch(&node->box, &at))
            continue;
        if (index >= n->tree->patch_nodes)
        {
            stack[waiting++] = node->left;
            stack[waiting++] = node->right;
            continue;
        }
        uint32_t patch = patch_of_root(n->tree, index);
        if (n->rank[patch] == UINT32_MAX)
            continue;
        double w = pl_bvh_winding(n->tree, index, p, 2);
        *given += w;
        *decided += w * n->factor[patch];
    }
}

typedef enum patch_kind
{
    SOLID,
    CAVITY,
    REDUNDANT
} patch_kind;

static patch_kind classify(const nesting* n, uint32_t patch, bool faces_out)
{
    const pl_bvh* tree = n->tree;
    uint32_t first = tree->patch_first[patch], count = tree->patch_first[patch + 1] - first;
    double least = INFINITY, given_sum = 0, decided_sum = 0;
    for (uint32_t i = 0; i < PROBES; ++i)
    {
        const pl_corners* t = &tree->corners[first + (uint64_t)i * count / PROBES];
        vec3 middle = v3_scale(v3_add(t->a, v3_add(t->b, t->c)), 1.0 / 3);
        double given, decided;
        winding_at(n, middle, &given, &decided);
        least = fmin(least, decided);
        given_sum += given;
        decided_sum += decided;
    }
    if (least < .25 || decided_sum < .5 * PROBES)
        return SOLID;
    return faces_out == (given_sum > 0) ? REDUNDANT : CAVITY;
}

static void exclude_redundant(pl_bvh* tree, const pl_mesh_components* patches, const nesting* n)
{
    for (uint32_t p = 0, end; p < patches->count; p = end)
    {
        bool all = true;
        for (end = p; end < patches->count && patches->of_shell[end] == patches->of_shell[p]; ++end)
            all = all && n->factor[end] == 0;
        tree->far[tree->shell_root[patches->of_shell[p]]].excluded = all;
    }
}

static void decide(pl_mesh* mesh, pl_mesh_components* patches, nesting* n, const ranked* order,
                   uint32_t count)
{
    pl_bvh* tree = mesh->tree;
    uint32_t patch_count = patches->count;
    for (uint32_t p = 0; p < patch_count; ++p)
        n->rank[p] = UINT32_MAX, n->factor[p] = 1;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t p = order[i].patch;
        bool faces_out = patches->patches[p].volume > 0;
        patch_kind v = i ? classify(n, p, faces_out) : SOLID;
        n->factor[p] = v == REDUNDANT ? 0 : faces_out == (v == SOLID) ? 1 : -1;
        n->rank[p] = i;
        tree->has_cavities = tree->has_cavities || v == CAVITY;
    }
    exclude_redundant(tree, patches, n);
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t p = order[i].patch;
        bool redundant_inward = n->factor[p] == 0 && patches->patches[p].volume < 0;
        if (n->factor[p] != -1 && !redundant_inward)
            continue;
        pl_bvh_flip(tree, p);
        for (uint32_t t = tree->patch_first[p]; t < tree->patch_first[p + 1]; ++t)
            pl_mesh_turn_triangle(mesh, tree->order[t]);
        patches->patches[p].volume = -patches->patches[p].volume;
    }
}

pl_status pl_mesh_components_orient(pl_mesh* mesh, pl_mesh_components* patches)
{
    ranked* order = PL_NEW(ranked, patches->count);
    nesting n = {mesh->tree, PL_NEW(uint32_t, patches->count), PL_NEW(int8_t, patches->count)};
    bool ready = order && n.rank && n.factor;
    if (ready)
    {
        uint32_t count = 0;
        for (uint32_t p = 0; p < patches->count; ++p)
        {
            const pl_mesh_patch* patch = &patches->patches[p];
            double size = fabs(patch->volume);
            if (patch->nearly_closed && size > 1e-9 * patch->area * sqrt(patch->area))
                order[count++] = (ranked){size, p};
        }
        qsort(order, count, sizeof *order, compare_sizes);
        decide(mesh, patches, &n, order, count);
        pl_bvh_finish(mesh->tree);
    }
    pl_free(order);
    pl_free(n.rank);
    pl_free(n.factor);
    return ready ? PLIANT_OK : pl_fail_memory(patches->count * sizeof *order);
}
