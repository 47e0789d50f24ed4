// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Jon L. Bentley, "Multidimensional binary search trees used for associative searching", 1975;
 * the search carries its offsets to the current box along each axis (Arya and Mount, "Algorithms
 * for fast vector quantization", 1993).
 *
 * Every node halves its range of points, so the tree needs no pointers: node n has the children
 * 2n + 1 and 2n + 2, its points are in the order of the leaves. Points are split by (coordinate,
 * index), which is a total order: coincident points are split like any others.
 */
#include "geometry/point_tree.h"

#include <string.h>

enum
{
    LEAF = 8,
    MAX_DEPTH = 34
};

typedef struct tree_point
{
    double at[3];
    uint32_t index;
} tree_point;

typedef struct tree_node
{
    double split;
    uint32_t axis;
} tree_node;

struct pl_point_tree
{
    uint32_t count;
    tree_point* points;
    tree_node* nodes;
};

static bool before(const tree_point* a, const tree_point* b, uint32_t axis)
{
    return a->at[axis] < b->at[axis] || (a->at[axis] == b->at[axis] && a->index < b->index);
}

static void swap_points(tree_point* a, tree_point* b)
{
    tree_point t = *a;
    *a = *b;
    *b = t;
}

/* Quickselect (Hoare): points[middle] becomes the element of that rank, smaller ones before it.
 * Pivots come from a fixed pseudo-random sequence, so no ordered input makes it quadratic. */
static void select_middle(tree_point* points, uint32_t begin, uint32_t end, uint32_t middle,
                          uint32_t axis)
{
    uint32_t random = 12345;
    while (end - begin > 1)
    {
        random = random * 1664525u + 1013904223u;
        uint32_t pick = begin + (uint32_t)(((uint64_t)(end - begin) * random) >> 32);
        swap_points(&points[pick], &points[end - 1]);
        tree_point pivot = points[end - 1];
        uint32_t at = begin;
        for (uint32_t i = begin; i + 1 < end; ++i)
            if (before(&points[i], &pivot, axis))
                swap_points(&points[i], &points[at++]);
        swap_points(&points[at], &points[end - 1]);
        if (at == middle)
            return;
        if (at < middle)
            begin = at + 1;
        else
            end = at;
    }
}

static uint32_t longest_axis(const tree_point* points, uint32_t begin, uint32_t end)
{
    double low[3], high[3];
    memcpy(low, points[begin].at, sizeof low);
    memcpy(high, points[begin].at, sizeof high);
    for (uint32_t i = begin + 1; i < end; ++i)
        for (int k = 0; k < 3; ++k)
        {
            low[k] = PL_MIN(low[k], points[i].at[k]);
            high[k] = PL_MAX(high[k], points[i].at[k]);
        }
    uint32_t axis = high[1] - low[1] > high[0] - low[0] ? 1 : 0;
    return high[2] - low[2] > high[axis] - low[axis] ? 2 : axis;
}

static void build(pl_point_tree* tree, uint32_t node, uint32_t begin, uint32_t end)
{
    if (end - begin <= LEAF)
        return;
    uint32_t middle = begin + (end - begin) / 2, axis = longest_axis(tree->points, begin, end);
    select_middle(tree->points, begin, end, middle, axis);
    tree->nodes[node] = (tree_node){tree->points[middle].at[axis], axis};
    build(tree, 2 * node + 1, begin, middle);
    build(tree, 2 * node + 2, middle, end);
}

pl_point_tree* pl_point_tree_create(uint32_t count, const vec3* points)
{
    size_t node_count = 1; /* a halving tree: full levels down to where ranges are leaves */
    for (uint32_t range = count; range > LEAF; range -= range / 2)
        node_count = 2 * node_count + 1;
    pl_point_tree* tree = PL_NEW(pl_point_tree, 1);
    if (!tree)
        return NULL;
    tree->count = count;
    tree->points = PL_NEW(tree_point, count);
    tree->nodes = PL_NEW(tree_node, node_count);
    if (!tree->points || !tree->nodes)
    {
        pl_point_tree_destroy(tree);
        return NULL;
    }
    for (uint32_t i = 0; i < count; ++i)
        tree->points[i] = (tree_point){{points[i].x, points[i].y, points[i].z}, i};
    build(tree, 0, 0, count);
    return tree;
}

void pl_point_tree_destroy(pl_point_tree* tree)
{
    if (!tree)
        return;
    pl_free(tree->points);
    pl_free(tree->nodes);
    pl_free(tree);
}

/* The nearest points so far: unordered until full, then a max-heap by distance. */
typedef struct best_list
{
    pl_nearest_point* items;
    uint32_t count, most;
    double within;
} best_list;

static bool farther(pl_nearest_point a, pl_nearest_point b)
{
    return a.squared_distance > b.squared_distance ||
           (a.squared_distance == b.squared_distance && a.index > b.index);
}

static void sift_down(best_list* best, uint32_t at)
{
    pl_nearest_point item = best->items[at];
    for (uint32_t child = 2 * at + 1; child < best->count; child = 2 * at + 1)
    {
        if (child + 1 < best->count && farther(best->items[child + 1], best->items[child]))
            ++child;
        if (!farther(best->items[child], item))
            break;
        best->items[at] = best->items[child];
        at = child;
    }
    best->items[at] = item;
}

static void offer(best_list* best, pl_nearest_point candidate)
{
    if (best->count < best->most)
    {
        best->items[best->count++] = candidate;
        if (best->count < best->most)
            return;
        for (uint32_t i = best->count / 2; i-- > 0;)
            sift_down(best, i);
    }
    else if (farther(best->items[0], candidate))
    {
        best->items[0] = candidate;
        sift_down(best, 0);
    }
    best->within = PL_MIN(best->within, best->items[0].squared_distance);
}

static void sort_found(pl_nearest_point* items, uint32_t count)
{
    for (uint32_t i = 1; i < count; ++i)
    {
        pl_nearest_point item = items[i];
        uint32_t at = i;
        for (; at > 0 && farther(items[at - 1], item); --at)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* A subtree on the stack, with the offset of its box from the position. The squared offset is
 * summed in the order of v3_dot and rounding is monotone, so it never exceeds that of a point. */
typedef struct waiting
{
    double offset[3], squared;
    uint32_t node, begin, end;
} waiting;

static void search_leaf(const tree_point* points, uint32_t count, vec3 position, best_list* best)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        vec3 d = v3_sub(v3_fromd(points[i].at), position);
        double squared = v3_dot(d, d);
        if (squared <= best->within)
            offer(best, (pl_nearest_point){squared, points[i].index});
    }
}

uint32_t pl_point_tree_query(const pl_point_tree* tree, vec3 position, double within, uint32_t most,
                             pl_nearest_point* found)
{
    const double where[3] = {position.x, position.y, position.z};
    best_list best = {found, 0, most, within};
    waiting stack[MAX_DEPTH];
    uint32_t depth = 0;
    stack[depth++] = (waiting){.end = tree->count};
    while (depth > 0)
    {
        waiting now = stack[--depth];
        if (now.squared > best.within)
            continue;
        while (now.end - now.begin > LEAF)
        {
            const tree_node* node = &tree->nodes[now.node];
            uint32_t middle = now.begin + (now.end - now.begin) / 2;
            double to_split = where[node->axis] - node->split;
            waiting far = now;
            far.offset[node->axis] = to_split;
            far.squared = far.offset[0] * far.offset[0] + far.offset[1] * far.offset[1] +
                          far.offset[2] * far.offset[2];
            bool below = to_split < 0;
            far.node = 2 * now.node + (below ? 2 : 1);
            now.node = 2 * now.node + (below ? 1 : 2);
            far.begin = below ? middle : now.begin;
            far.end = below ? now.end : middle;
            now.begin = below ? now.begin : middle;
            now.end = below ? middle : now.end;
            stack[depth++] = far;
        }
        search_leaf(tree->points + now.begin, now.end - now.begin, position, &best);
    }
    sort_found(best.items, best.count);
    return best.count;
}
