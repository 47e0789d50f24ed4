// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Building the tree, and what its nodes look like from afar.
 *
 * Order: triangles of a patch along a Morton curve over the patch's own bounds, split where the
 * highest bit changes (Lauterbach et al., "Fast BVH Construction on GPUs", 2009). Linear time,
 * and the same tree every time. Bounds of its own for each patch, so that small shells far apart
 * still have good trees.
 *
 * Moments: Barill, Dickson, Schmidt, Levin, Jacobson, "Fast Winding Numbers for Soups and Clouds",
 * 2018, equations 8 to 12: the winding number of a cluster of triangles, expanded about its centre
 * c. With r = c - q, e = r / |r| and y = x - c over the triangles with their unit normals n:
 *
 *   4 pi w(q) = (N.e) / r^2 - 3 (e S e) / r^3 + 15/2 (T e e e) / r^4 + ...
 *   N = sum of n dA, S = symmetric traceless part of y n dA, T = the same of y y n dA.
 *
 * We depart from the paper in keeping only the symmetric traceless parts: the derivatives of
 * r / |r|^3 are symmetric and traceless, so nothing else is ever seen. 3 + 6 + 10 numbers instead
 * of 3 + 9 + 27. They are divided by powers of the node's radius, so that floats do at any scale.
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
    const curve_item* items; /* sorted, of what is being built now */
    const uint32_t* roots;   /* of the items where they are subtrees; NULL: they are triangles */
    uint32_t first;          /* where the items begin in the tree's order of triangles */
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

/* Stable, by code; "spare" has room for as many. Bytes that are the same everywhere cost nothing.
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

/* Where a range of more than one sorted item is best cut. */
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

/* ------------------------------------------------------------------ moments */

typedef struct moments
{
    double n[3];
    double s[3][3]; /* symmetric */
    double t[10];
} moments;

/* Where each of the stored numbers belongs. */
static const uint8_t pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
static const uint8_t triple[10][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {0, 0, 1}, {0, 0, 2},
                                      {1, 1, 0}, {1, 1, 2}, {2, 2, 0}, {2, 2, 1}, {0, 1, 2}};

/* t += factor * the symmetric part of matrix (outer) vector */
static void add_symmetric(double t[10], const double matrix[3][3], const double vector[3],
                          double factor)
{
    for (int p = 0; p < 10; ++p)
    {
        int i = triple[p][0], j = triple[p][1], k = triple[p][2];
        t[p] += factor / 3 *
                (matrix[i][j] * vector[k] + matrix[i][k] * vector[j] + matrix[j][k] * vector[i]);
    }
}

static void add_triangle(moments* m, const pl_corners* t, vec3 centre)
{
    vec3 normal = v3_scale(v3_cross(v3_sub(t->b, t->a), v3_sub(t->c, t->a)), .5);
    vec3 a = v3_sub(t->a, centre), b = v3_sub(t->b, centre), c = v3_sub(t->c, centre);
    vec3 sum = v3_add(a, v3_add(b, c));
    const double n[3] = {normal.x, normal.y, normal.z}, d[3] = {sum.x, sum.y, sum.z};
    const double y[3][3] = {{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}};
    double square[3][3]; /* mean of y y^T over the triangle */
    for (int i = 0; i < 3; ++i)
    {
        m->n[i] += n[i];
        for (int j = 0; j < 3; ++j)
        {
            m->s[i][j] += (d[i] * n[j] + d[j] * n[i]) / 6;
            square[i][j] =
                (y[0][i] * y[0][j] + y[1][i] * y[1][j] + y[2][i] * y[2][j] + d[i] * d[j]) / 12;
        }
    }
    add_symmetric(m->t, square, n, 1);
}

/* Adds moments about c + shift to moments about c. */
static void add_shifted(moments* m, const moments* own, const double shift[3])
{
    double square[3][3];
    for (int i = 0; i < 3; ++i)
    {
        m->n[i] += own->n[i];
        for (int j = 0; j < 3; ++j)
        {
            m->s[i][j] += own->s[i][j] + .5 * (shift[i] * own->n[j] + shift[j] * own->n[i]);
            square[i][j] = shift[i] * shift[j];
        }
    }
    for (int p = 0; p < 10; ++p)
        m->t[p] += own->t[p];
    add_symmetric(m->t, own->s, shift, 2);
    add_symmetric(m->t, square, own->n, 1);
}

static void store_moments(pl_far* far, const moments* m)
{
    double k = 1 / far->radius, k2 = k * k, k3 = k2 * k, k4 = k2 * k2;
    double trace = (m->s[0][0] + m->s[1][1] + m->s[2][2]) / 3;
    const double* t = m->t;
    const double tr[3] = {(t[0] + t[5] + t[7]) / 5, (t[1] + t[3] + t[8]) / 5,
                          (t[2] + t[4] + t[6]) / 5};
    for (int i = 0; i < 3; ++i)
        far->moment[i] = (float)(m->n[i] * k2);
    for (int p = 0; p < 6; ++p)
    {
        int i = pair[p][0], j = pair[p][1];
        far->moment[3 + p] = (float)((m->s[i][j] - (i == j ? trace : 0)) * k3);
    }
    for (int p = 0; p < 10; ++p)
    {
        int a = triple[p][0], b = triple[p][1], c = triple[p][2];
        double part = (a == b ? tr[c] : 0) + (a == c ? tr[b] : 0) + (b == c ? tr[a] : 0);
        far->moment[9 + p] = (float)((t[p] - part) * k4);
    }
}

static moments load_moments(const pl_far* far)
{
    moments m;
    double k = far->radius, k2 = k * k, k3 = k2 * k, k4 = k2 * k2;
    for (int i = 0; i < 3; ++i)
        m.n[i] = far->moment[i] * k2;
    for (int p = 0; p < 6; ++p)
        m.s[pair[p][0]][pair[p][1]] = m.s[pair[p][1]][pair[p][0]] = far->moment[3 + p] * k3;
    for (int p = 0; p < 10; ++p)
        m.t[p] = far->moment[9 + p] * k4;
    return m;
}

static double farthest_corner(const pl_box* box, vec3 p)
{
    return v3_length(v3(pl_max(p.x - box->lower.x, box->upper.x - p.x),
                        pl_max(p.y - box->lower.y, box->upper.y - p.y),
                        pl_max(p.z - box->lower.z, box->upper.z - p.z)));
}

static void leaf_moments(pl_bvh* tree, uint32_t index)
{
    const pl_node* node = &tree->nodes[index];
    pl_far* far = &tree->far[index];
    const pl_corners* corners = tree->corners + node->first;
    vec3 sum = v3(0, 0, 0), base = pl_box_centre(&node->box);
    double area = 0, radius2 = 0;
    for (uint32_t i = 0; i < node->count; ++i)
    {
        const pl_corners* t = &corners[i];
        double a = v3_length(v3_cross(v3_sub(t->b, t->a), v3_sub(t->c, t->a))) * .5;
        vec3 middle = v3_scale(v3_add(t->a, v3_add(t->b, t->c)), 1.0 / 3);
        sum = v3_mad(sum, v3_sub(middle, base), a);
        area += a;
    }
    far->centre = v3_mad(base, sum, 1 / area);
    for (uint32_t i = 0; i < node->count; ++i)
    {
        vec3 a = v3_sub(corners[i].a, far->centre), b = v3_sub(corners[i].b, far->centre),
             c = v3_sub(corners[i].c, far->centre);
        radius2 = pl_max(radius2, pl_max(v3_dot(a, a), pl_max(v3_dot(b, b), v3_dot(c, c))));
    }
    far->radius = sqrt(radius2);
    moments m = {0};
    for (uint32_t i = 0; i < node->count; ++i)
        add_triangle(&m, &corners[i], far->centre);
    store_moments(far, &m);
    far->area = area;
}

static void inner_moments(pl_bvh* tree, uint32_t index)
{
    const pl_node* node = &tree->nodes[index];
    const uint32_t child[2] = {node->left, node->right};
    pl_far* far = &tree->far[index];
    double a = tree->far[child[0]].area, b = tree->far[child[1]].area, reach = 0;
    vec3 between = v3_sub(tree->far[child[1]].centre, tree->far[child[0]].centre);
    far->centre = v3_mad(tree->far[child[0]].centre, between, b / (a + b));
    moments m = {0};
    for (int i = 0; i < 2; ++i)
    {
        const pl_far* part = &tree->far[child[i]];
        vec3 d = v3_sub(part->centre, far->centre);
        reach = pl_max(reach, v3_length(d) + part->radius);
        if (part->silent)
            continue;
        const double shift[3] = {d.x, d.y, d.z};
        moments own = load_moments(part);
        add_shifted(&m, &own, shift);
    }
    far->radius = pl_min(reach, farthest_corner(&node->box, far->centre));
    store_moments(far, &m);
    far->area = a + b;
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
        leaf_moments(tree, index);
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
        inner_moments(tree, index);
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

/* Triangles grouped by patch, then along the curve; returns the nodes that the patches need. */
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

/* One tree over subtrees. */
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
        tree->far = PL_NEW(pl_far, room);
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
    inner_moments(tree, index);
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
