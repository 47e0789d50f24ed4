// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Linear BVH (Lauterbach et al., "Fast BVH Construction on GPUs", 2009): the triangles of a patch
 * are sorted along a Morton curve and split where the highest bit of the code changes. Linear time
 * and deterministic. Codes are relative to the bounds of the patch, so that small shells far apart
 * have good trees too.
 */
#include "geometry/bvh.h"

#include <string.h>

enum
{
    LEAF = 8 /* triangles at most: 4 and 16 are slower */
};

typedef struct curve_item
{
    uint64_t code;
    uint32_t item;
} curve_item;

typedef struct builder
{
    pl_bvh* tree;
    const curve_item* items; /* sorted; of the current subtree */
    const uint32_t* roots;   /* of the items, if these are subtrees; NULL: triangles */
    uint32_t first;          /* of the items, in the tree's order of triangles */
} builder;

/* ------------------------------------------------------------------ order */

static uint64_t spread(uint32_t bits21)
{
    uint64_t x = bits21;
    x = (x | x << 32) & 0x1f00000000ffffull;
    x = (x | x << 16) & 0x1f0000ff0000ffull;
    x = (x | x << 8) & 0x100f00f00f00f00full;
    x = (x | x << 4) & 0x10c30c30c30c30c3ull;
    return (x | x << 2) & 0x1249249249249249ull;
}

static uint64_t curve_code(const pl_box* box, vec3 p)
{
    vec3 size = v3_sub(box->upper, box->lower), d = v3_sub(p, box->lower);
    double longest = pl_max(size.x, pl_max(size.y, size.z)),
           scale = longest > 0 ? 2097151 / longest : 0;
    return spread((uint32_t)(d.x * scale)) << 2 | spread((uint32_t)(d.y * scale)) << 1 |
           spread((uint32_t)(d.z * scale));
}

/* Radix sort by code, stable; "spare" has the same size. Bytes that are equal in all are skipped.
 */
static void sort_items(curve_item* items, curve_item* spare, uint32_t count)
{
    if (count <= 32)
    {
        for (uint32_t i = 1; i < count; ++i)
        {
            curve_item item = items[i];
            uint32_t j = i;
            for (; j && items[j - 1].code > item.code; --j)
                items[j] = items[j - 1];
            items[j] = item;
        }
        return;
    }
    curve_item *from = items, *to = spare;
    for (int shift = 0; shift < 64; shift += 8)
    {
        uint32_t begin[257] = {0};
        for (uint32_t i = 0; i < count; ++i)
            ++begin[(from[i].code >> shift & 255) + 1];
        if (begin[(from[0].code >> shift & 255) + 1] == count)
            continue;
        for (int i = 0; i < 256; ++i)
            begin[i + 1] += begin[i];
        for (uint32_t i = 0; i < count; ++i)
            to[begin[from[i].code >> shift & 255]++] = from[i];
        curve_item* swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

/* The split position of a range of at least two sorted items. */
static uint32_t cut(const curve_item* items, uint32_t begin, uint32_t end)
{
    uint64_t differ = items[begin].code ^ items[end - 1].code;
    if (!differ)
        return begin + (end - begin) / 2;
    uint64_t bit = 1ull << 63;
    while (!(differ & bit))
        bit >>= 1;
    uint32_t low = begin, high = end - 1; /* the bit is clear at low, set at high */
    while (high - low > 1)
    {
        uint32_t middle = low + (high - low) / 2;
        if (items[middle].code & bit)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static uint32_t nodes_needed(const curve_item* items, uint32_t begin, uint32_t end)
{
    if (end - begin <= LEAF)
        return 1;
    uint32_t middle = cut(items, begin, end);
    return 1 + nodes_needed(items, begin, middle) + nodes_needed(items, middle, end);
}

/* ------------------------------------------------------------------ nodes */

static uint32_t build_nodes(builder* b, uint32_t begin, uint32_t end)
{
    pl_bvh* tree = b->tree;
    if (b->roots && end - begin == 1)
        return b->roots[b->items[begin].item];
    uint32_t index = tree->node_count++;
    pl_node* node = &tree->nodes[index];
    node->box = pl_box_empty();
    if (!b->roots && end - begin <= LEAF)
    {
        node->first = b->first + begin;
        node->count = end - begin;
        for (uint32_t i = 0; i < node->count; ++i)
        {
            const pl_corners* t = &tree->corners[node->first + i];
            pl_box_add(&node->box, t->a);
            pl_box_add(&node->box, t->b);
            pl_box_add(&node->box, t->c);
        }
        pl_winding_leaf(tree, index);
        return index;
    }
    uint32_t middle = cut(b->items, begin, end);
    node->left = build_nodes(b, begin, middle);
    node->right = build_nodes(b, middle, end);
    const pl_box *l = &tree->nodes[node->left].box, *r = &tree->nodes[node->right].box;
    node->box = *l;
    pl_box_add(&node->box, r->lower);
    pl_box_add(&node->box, r->upper);
    if (!b->roots)
        pl_winding_inner(tree, index);
    return index;
}

static pl_corners corners_of(const vec3* vertices, const uint32_t* t)
{
    return (pl_corners){vertices[t[0]], vertices[t[1]], vertices[t[2]]};
}

static vec3 middle_of(const vec3* vertices, const uint32_t* t)
{
    return v3_scale(v3_add(vertices[t[0]], v3_add(vertices[t[1]], vertices[t[2]])), 1.0 / 3);
}

/* Sorts triangles by patch, then by code; returns the number of nodes of all patches. */
static uint32_t sort_triangles(pl_bvh* tree, const vec3* vertices, const uint32_t* triangles,
                               const uint32_t* patch, curve_item* items, curve_item* spare)
{
    uint32_t* first = tree->patch_first;
    for (uint32_t i = 0; i < tree->triangle_count; ++i)
        ++first[patch[i] + 1];
    for (uint32_t p = 0; p < tree->patch_count; ++p)
        first[p + 1] += first[p];
    for (uint32_t i = 0; i < tree->triangle_count; ++i)
        items[first[patch[i]]++].item = i;
    for (uint32_t p = tree->patch_count; p > 0; --p)
        first[p] = first[p - 1];
    first[0] = 0;
    uint32_t nodes = 0;
    for (uint32_t p = 0; p < tree->patch_count; ++p)
    {
        pl_box box = pl_box_empty();
        for (uint32_t i = first[p]; i < first[p + 1]; ++i)
            pl_box_add(&box, middle_of(vertices, triangles + 3 * (size_t)items[i].item));
        for (uint32_t i = first[p]; i < first[p + 1]; ++i)
            items[i].code =
                curve_code(&box, middle_of(vertices, triangles + 3 * (size_t)items[i].item));
        sort_items(items + first[p], spare, first[p + 1] - first[p]);
        nodes += nodes_needed(items + first[p], 0, first[p + 1] - first[p]);
    }
    for (uint32_t i = 0; i < tree->triangle_count; ++i)
    {
        tree->order[i] = items[i].item;
        tree->corners[i] = corners_of(vertices, triangles + 3 * (size_t)items[i].item);
    }
    return nodes;
}

/* Builds a tree over subtrees. */
static uint32_t join(builder* b, const uint32_t* roots, uint32_t count, curve_item* items,
                     curve_item* spare)
{
    pl_box box = pl_box_empty();
    for (uint32_t i = 0; i < count; ++i)
        pl_box_add(&box, pl_box_centre(&b->tree->nodes[roots[i]].box));
    for (uint32_t i = 0; i < count; ++i)
        items[i] = (curve_item){
            .code = curve_code(&box, pl_box_centre(&b->tree->nodes[roots[i]].box)), .item = i};
    sort_items(items, spare, count);
    b->items = items;
    b->roots = roots;
    return build_nodes(b, 0, count);
}

pl_status pl_bvh_build(pl_bvh* tree, const vec3* vertices, const uint32_t* triangles,
                       uint32_t triangle_count, const uint32_t* patch, uint32_t patch_count,
                       const uint32_t* patch_shell, uint32_t shell_count)
{
    *tree = (pl_bvh){
        .triangle_count = triangle_count, .patch_count = patch_count, .shell_count = shell_count};
    tree->corners = PL_NEW(pl_corners, triangle_count);
    tree->order = PL_NEW(uint32_t, triangle_count);
    tree->patch_first = PL_NEW(uint32_t, (size_t)patch_count + 1);
    tree->patch_root = PL_NEW(uint32_t, (size_t)patch_count + 1);
    tree->shell_root = PL_NEW(uint32_t, shell_count);
    curve_item* items = PL_NEW(curve_item, triangle_count);
    curve_item* spare = PL_NEW(curve_item, triangle_count);
    builder b = {.tree = tree};
    size_t room = 0;
    bool ready = tree->corners && tree->order && tree->patch_first && tree->patch_root &&
                 tree->shell_root && items && spare;
    if (ready)
    {
        room = (size_t)sort_triangles(tree, vertices, triangles, patch, items, spare) + patch_count;
        tree->nodes = PL_NEW(pl_node, room);
        tree->far = PL_NEW(pl_far_field, room);
        ready = tree->nodes && tree->far;
    }
    if (ready)
    {
        for (uint32_t p = 0; p < patch_count; ++p)
        {
            b.items = items + tree->patch_first[p];
            b.first = tree->patch_first[p];
            tree->patch_root[p] = build_nodes(&b, 0, tree->patch_first[p + 1] - b.first);
        }
        tree->patch_root[patch_count] = tree->patch_nodes = tree->node_count;
        for (uint32_t p = 0, end; p < patch_count; p = end)
        {
            for (end = p + 1; end < patch_count && patch_shell[end] == patch_shell[p];)
                ++end;
            tree->shell_root[patch_shell[p]] =
                join(&b, tree->patch_root + p, end - p, items, spare);
        }
        tree->root = join(&b, tree->shell_root, shell_count, items, spare);
    }
    pl_free(items);
    pl_free(spare);
    return ready ? PLIANT_OK : pl_fail_memory((size_t)triangle_count * sizeof(pl_corners));
}

void pl_bvh_flip(pl_bvh* tree, uint32_t patch)
{
    for (uint32_t i = tree->patch_first[patch]; i < tree->patch_first[patch + 1]; ++i)
    {
        vec3 swap = tree->corners[i].b;
        tree->corners[i].b = tree->corners[i].c;
        tree->corners[i].c = swap;
    }
    for (uint32_t i = tree->patch_root[patch]; i < tree->patch_root[patch + 1]; ++i)
        for (size_t k = 0; k < PL_COUNTOF(tree->far[i].moment); ++k)
            tree->far[i].moment[k] = -tree->far[i].moment[k];
}

static void finish_node(pl_bvh* tree, uint32_t index)
{
    if (index < tree->patch_nodes)
        return;
    finish_node(tree, tree->nodes[index].left);
    finish_node(tree, tree->nodes[index].right);
    pl_winding_inner(tree, index);
}

void pl_bvh_finish(pl_bvh* tree)
{
    finish_node(tree, tree->root);
}

void pl_bvh_free(pl_bvh* tree)
{
    if (!tree)
        return;
    pl_free(tree->nodes);
    pl_free(tree->far);
    pl_free(tree->corners);
    pl_free(tree->order);
    pl_free(tree->patch_root);
    pl_free(tree->patch_first);
    pl_free(tree->shell_root);
    pl_free(tree);
}
