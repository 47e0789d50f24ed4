// SPDX-License-Identifier: GPL-3.0-or-later
#include "geometry/kdtree.h"

/* Measured. Small leaves favour queries with few results, larger ones need fewer box tests. */
#define LEAF_POINTS 16

typedef struct item
{
    double p[3];
    uint32_t index;
} item;

/* ------------------------------------------------------------------ splitting */

/* By coordinate, then by index: a total order, so that the split does not depend on the selection
 * algorithm. */
static bool before(const item* a, const item* b, int axis)
{
    return a->p[axis] < b->p[axis] || (a->p[axis] == b->p[axis] && a->index < b->index);
}

static void swap_items(item* a, item* b)
{
    item t = *a;
    *a = *b;
    *b = t;
}

/* Quickselect (Hoare): afterwards items[0 .. middle) precede all of items[middle .. count). */
static void split(item* items, uint32_t count, uint32_t middle, int axis)
{
    int64_t from = 0, to = (int64_t)count - 1, wanted = middle;
    while (from < to)
    {
        int64_t centre = from + (to - from) / 2;
        if (before(&items[centre], &items[from], axis))
            swap_items(&items[centre], &items[from]);
        if (before(&items[to], &items[from], axis))
            swap_items(&items[to], &items[from]);
        if (before(&items[to], &items[centre], axis))
            swap_items(&items[to], &items[centre]);
        item pivot = items[centre];
        int64_t i = from, j = to;
        while (i <= j)
        {
            while (before(&items[i], &pivot, axis))
                ++i;
            while (before(&pivot, &items[j], axis))
                --j;
            if (i <= j)
                swap_items(&items[i++], &items[j--]);
        }
        if (wanted <= j)
            to = j;
        else if (wanted >= i)
            from = i;
        else
            return;
    }
}

static uint32_t part_begin(uint32_t count, uint64_t part, uint64_t parts)
{
    return (uint32_t)((uint64_t)count * part / parts);
}

static int longest_side(const item* items, uint32_t count)
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k)
        {
            lower[k] = items[i].p[k] < lower[k] ? items[i].p[k] : lower[k];
            upper[k] = items[i].p[k] > upper[k] ? items[i].p[k] : upper[k];
        }
    int axis = 0;
    for (int k = 1; k < 3; ++k)
        if (upper[k] - lower[k] > upper[axis] - lower[axis])
            axis = k;
    return axis;
}

static void partition(item* all, uint32_t count, uint64_t first, uint64_t last, uint64_t parts)
{
    if (last - first < 2)
        return;
    uint64_t middle = (first + last) / 2;
    uint32_t begin = part_begin(count, first, parts), end = part_begin(count, last, parts);
    uint32_t cut = part_begin(count, middle, parts);
    if (end - begin > 1)
        split(all + begin, end - begin, cut - begin, longest_side(all + begin, end - begin));
    partition(all, count, first, middle, parts);
    partition(all, count, middle, last, parts);
}

static item* items_of(uint32_t count, const vec3* points)
{
    item* items = PL_NEW(item, count);
    for (uint32_t i = 0; items && i < count; ++i)
        items[i] = (item){{points[i].x, points[i].y, points[i].z}, i};
    return items;
}

pl_status pl_kd_partition(uint32_t count, const vec3* points, uint32_t parts, uint32_t* order)
{
    item* items = items_of(count, points);
    if (!items)
        return pl_fail_memory(count * sizeof(item));
    partition(items, count, 0, parts, parts);
    for (uint32_t i = 0; i < count; ++i)
        order[i] = items[i].index;
    pl_free(items);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ building */

static void find_boxes(pl_kd* tree)
{
    uint32_t leaves = 1u << tree->depth;
    for (uint32_t leaf = 0; leaf < leaves; ++leaf)
    {
        pl_kd_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        uint32_t end = part_begin(tree->count, (uint64_t)leaf + 1, leaves);
        for (uint32_t i = part_begin(tree->count, leaf, leaves); i < end; ++i)
        {
            double p[3] = {tree->x[i], tree->y[i], tree->z[i]};
            for (int k = 0; k < 3; ++k)
            {
                box.lower[k] = PL_MIN(box.lower[k], p[k]);
                box.upper[k] = PL_MAX(box.upper[k], p[k]);
            }
        }
        tree->box[leaves + leaf] = box;
    }
    for (uint32_t node = leaves - 1; node > 0; --node)
        for (int k = 0; k < 3; ++k)
        {
            const pl_kd_box *a = &tree->box[2 * node], *b = &tree->box[2 * node + 1];
            tree->box[node].lower[k] = PL_MIN(a->lower[k], b->lower[k]);
            tree->box[node].upper[k] = PL_MAX(a->upper[k], b->upper[k]);
        }
}

pl_status pl_kd_init(pl_kd* tree, uint32_t count, const vec3* points)
{
    *tree = (pl_kd){.count = count};
    while (((uint64_t)LEAF_POINTS << tree->depth) < count)
        ++tree->depth;
    tree->order = PL_NEW(uint32_t, count);
    tree->x = PL_NEW(double, count);
    tree->y = PL_NEW(double, count);
    tree->z = PL_NEW(double, count);
    tree->box = PL_NEW(pl_kd_box, (size_t)2 << tree->depth);
    item* items = items_of(count, points);
    if (!items || !tree->order || !tree->x || !tree->y || !tree->z || !tree->box)
    {
        pl_free(items);
        pl_kd_free(tree);
        return pl_fail_memory(count * (sizeof(item) + 40));
    }
    partition(items, count, 0, 1ull << tree->depth, 1ull << tree->depth);
    for (uint32_t i = 0; i < count; ++i)
    {
        tree->order[i] = items[i].index;
        tree->x[i] = items[i].p[0], tree->y[i] = items[i].p[1], tree->z[i] = items[i].p[2];
    }
    pl_free(items);
    find_boxes(tree);
    return PLIANT_OK;
}

void pl_kd_free(pl_kd* tree)
{
    pl_free(tree->order);
    pl_free(tree->x);
    pl_free(tree->y);
    pl_free(tree->z);
    pl_free(tree->box);
    *tree = (pl_kd){0};
}

/* ------------------------------------------------------------------ queries */

/* Functions, not macros: the compiler then generates box tests without branches. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double box_distance2(const pl_kd_box* box, vec3 p)
{
    double dx = larger(larger(box->lower[0] - p.x, p.x - box->upper[0]), 0);
    double dy = larger(larger(box->lower[1] - p.y, p.y - box->upper[1]), 0);
    double dz = larger(larger(box->lower[2] - p.z, p.z - box->upper[2]), 0);
    return dx * dx + dy * dy + dz * dz;
}

static inline double box_reach2(const pl_kd_box* box, vec3 p)
{
    double dx = larger(p.x - box->lower[0], box->upper[0] - p.x);
    double dy = larger(p.y - box->lower[1], box->upper[1] - p.y);
    double dz = larger(p.z - box->lower[2], box->upper[2] - p.z);
    return dx * dx + dy * dy + dz * dz;
}

typedef struct range
{
    const pl_kd* tree;
    vec3 centre;
    double radius2;
    uint32_t* found;
    uint32_t room, count;
} range;

/* Searches node "part" of the 2^level nodes of a level. */
static void search_range(range* r, uint32_t node, uint32_t level, uint32_t part)
{
    const pl_kd* tree = r->tree;
    const pl_kd_box* box = &tree->box[node];
    /* Boxes are exact and rounding is monotone: this culls no point in range. */
    if (box_distance2(box, r->centre) > r->radius2)
        return;
    bool whole = box_reach2(box, r->centre) <= r->radius2;
    if (!whole && level < tree->depth)
    {
        search_range(r, 2 * node, level + 1, 2 * part);
        search_range(r, 2 * node + 1, level + 1, 2 * part + 1);
        return;
    }
    uint32_t begin = (uint32_t)((uint64_t)tree->count * part >> level);
    uint32_t end = (uint32_t)((uint64_t)tree->count * (part + 1ull) >> level);
    uint32_t count = r->count;
    if (whole || (uint64_t)count + (end - begin) > r->room)
    {
        for (uint32_t i = begin; i < end; ++i)
            if (whole || pl_kd_distance2(tree, i, r->centre) <= r->radius2)
            {
                if (count < r->room)
                    r->found[count] = i;
                ++count;
            }
    }
    else /* branch-free: the test is unpredictable, so write first and advance by the result */
        for (uint32_t i = begin; i < end; ++i)
        {
            r->found[count] = i;
            count += pl_kd_distance2(tree, i, r->centre) <= r->radius2;
        }
    r->count = count;
}

uint32_t pl_kd_within(const pl_kd* tree, vec3 centre, double radius, uint32_t* found, uint32_t room)
{
    range r = {tree, centre, radius * radius, found, room, 0};
    if (tree->count)
        search_range(&r, 1, 0, 0);
    return r.count;
}

typedef struct nearest
{
    const pl_kd* tree;
    vec3 point;
    pl_kd_hit hit;
} nearest;

static void search_nearest(nearest* n, uint32_t node, uint32_t level, uint32_t part)
{
    const pl_kd* tree = n->tree;
    if (level < tree->depth)
    {
        uint32_t near = 2 * node, far = near + 1;
        double near2 = box_distance2(&tree->box[near], n->point);
        double far2 = box_distance2(&tree->box[far], n->point);
        bool swapped = far2 < near2;
        if (PL_MIN(near2, far2) <= n->hit.second2)
            search_nearest(n, near + swapped, level + 1, 2 * part + swapped);
        if (PL_MAX(near2, far2) <= n->hit.second2)
            search_nearest(n, far - swapped, level + 1, 2 * part + 1 - swapped);
        return;
    }
    uint32_t begin = (uint32_t)((uint64_t)tree->count * part >> level);
    uint32_t end = (uint32_t)((uint64_t)tree->count * (part + 1ull) >> level);
    pl_kd_hit hit = n->hit;
    for (uint32_t i = begin; i < end; ++i)
    {
        double d2 = pl_kd_distance2(tree, i, n->point);
        if (d2 > hit.second2 || i == hit.place)
            continue;
        if (d2 < hit.distance2 || (d2 == hit.distance2 && tree->order[i] < tree->order[hit.place]))
            hit = (pl_kd_hit){i, d2, hit.distance2};
        else
            hit.second2 = d2;
    }
    n->hit = hit;
}

pl_kd_hit pl_kd_nearest(const pl_kd* tree, vec3 point, uint32_t guess)
{
    nearest n = {tree, point, {guess, pl_kd_distance2(tree, guess, point), INFINITY}};
    search_nearest(&n, 1, 0, 0);
    return n.hit;
}
