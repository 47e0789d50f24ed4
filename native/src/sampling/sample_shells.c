// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Groups shells, and finds the shell of each particle of a volume.
 *
 * Two shells are one group if their triangles are within "reach" (a spacing: then their particles
 * are neighbours), or if one lies inside the other, as a cavity or in its material. Pairs are found
 * by their AABBs, triangles by a simultaneous traversal of both BVHs. With "apart", only shells
 * inside others that they do not touch are grouped.
 *
 * A particle belongs to the shell that encloses it, not to the one with the nearest surface: inside
 * a pot and right below its lid it belongs to the pot. If several enclose it, it belongs to the
 * smallest: a handle that ends in a pot's wall keeps its end. If none does alone (winding number
 * above 1/2), it belongs to the one with the largest winding number: open shells enclose together.
 */
#include "base/union_find.h"
#include "geometry/bvh.h"
#include "sampling/sample_internal.h"

enum
{
    MOST_OPEN = 64 /* open shells whose winding numbers are evaluated one by one */
};

static const double LEAST_WINDING = .05; /* below it, the nearest surface decides */

typedef struct grouping
{
    const pl_mesh* mesh;
    uint32_t* parent;
    double reach;
    bool apart;
    pl_task* task;
} grouping;

static pl_box widened(pl_box box, double margin)
{
    vec3 m = v3(margin, margin, margin);
    return (pl_box){v3_sub(box.lower, m), v3_add(box.upper, m)};
}

static bool leaves_touch(const pl_bvh* tree, const pl_node* a, const pl_node* b, double tolerance)
{
    for (uint32_t i = 0; i < a->count; ++i)
        for (uint32_t j = 0; j < b->count; ++j)
            if (pl_triangles_touch(&tree->corners[a->first + i], &tree->corners[b->first + j],
                                   tolerance))
                return true;
    return false;
}

/* Simultaneous traversal that opens the larger node first; the stack is bounded by both depths. */
static bool trees_touch(const pl_bvh* tree, uint32_t a, uint32_t b, double tolerance)
{
    const pl_node *p = &tree->nodes[a], *q = &tree->nodes[b];
    pl_box wide = widened(p->box, tolerance);
    if (!pl_boxes_touch(&wide, &q->box))
        return false;
    if (p->count && q->count)
        return leaves_touch(tree, p, q, tolerance);
    bool open_a = !p->count && (q->count || tree->far[a].area >= tree->far[b].area);
    if (open_a)
        return trees_touch(tree, p->left, b, tolerance) ||
               trees_touch(tree, p->right, b, tolerance);
    return trees_touch(tree, a, q->left, tolerance) || trees_touch(tree, a, q->right, tolerance);
}

static bool box_within(const pl_box* a, const pl_box* b)
{
    return a->lower.x >= b->lower.x && a->lower.y >= b->lower.y && a->lower.z >= b->lower.z &&
           a->upper.x <= b->upper.x && a->upper.y <= b->upper.y && a->upper.z <= b->upper.z;
}

/* Whether shell a lies inside shell b. Their triangles must not touch. */
static bool nests(const pl_bvh* tree, uint32_t a, uint32_t b)
{
    uint32_t node = tree->shell_root[a];
    if (!box_within(&tree->nodes[node].box, &tree->nodes[tree->shell_root[b]].box))
        return false;
    while (!tree->nodes[node].count)
        node = tree->nodes[node].left;
    vec3 p = tree->corners[tree->nodes[node].first].a;
    return fabs(pl_bvh_winding(tree, tree->shell_root[b], p, 2)) > .5;
}

static void compare_shells(grouping* g, uint32_t a, uint32_t b)
{
    const pl_bvh* tree = g->mesh->tree;
    if (pl_union_find_root(g->parent, a) == pl_union_find_root(g->parent, b))
        return;
    const pl_box *p = &tree->nodes[tree->shell_root[a]].box,
                 *q = &tree->nodes[tree->shell_root[b]].box;
    double smaller =
        PL_MIN(v3_length(v3_sub(p->upper, p->lower)), v3_length(v3_sub(q->upper, q->lower)));
    double tolerance = 1e-6 * smaller;
    if (!g->apart)
        tolerance = PL_MAX(tolerance, g->reach);
    bool touch = trees_touch(tree, tree->shell_root[a], tree->shell_root[b], tolerance);
    if (g->apart ? !touch && (nests(tree, a, b) || nests(tree, b, a))
                 : touch || nests(tree, a, b) || nests(tree, b, a))
        pl_union_find_unite(g->parent, a, b);
}

/* Visits shells with higher numbers than "shell" whose AABBs overlap its AABB. */
static void visit_shells(grouping* g, uint32_t shell, const uint32_t* shell_of_root)
{
    const pl_bvh* tree = g->mesh->tree;
    uint32_t stack[PL_BVH_STACK], waiting = 0;
    pl_box box = tree->nodes[tree->shell_root[shell]].box;
    box = widened(box, PL_MAX(g->reach, 1e-6 * v3_length(v3_sub(box.upper, box.lower))));
    stack[waiting++] = tree->root;
    while (waiting)
    {
        uint32_t index = stack[--waiting];
        const pl_node* node = &tree->nodes[index];
        if (!pl_boxes_touch(&node->box, &box))
            continue;
        if (shell_of_root[index] != UINT32_MAX)
        {
            if (shell_of_root[index] > shell)
                compare_shells(g, shell, shell_of_root[index]);
            continue;
        }
        stack[waiting++] = node->left;
        stack[waiting++] = node->right;
    }
}

static pl_status compare_all(grouping* g, uint32_t* shell_of_root)
{
    const pl_mesh* mesh = g->mesh;
    for (uint32_t i = 0; i < mesh->tree->node_count; ++i)
        shell_of_root[i] = UINT32_MAX;
    for (uint32_t s = 0; s < mesh->shell_count; ++s)
        shell_of_root[mesh->tree->shell_root[s]] = s;
    for (uint32_t s = 0; s < mesh->shell_count; ++s)
    {
        visit_shells(g, s, shell_of_root);
        if (s % 256 == 0 && pl_task_step(g->task, (double)s / mesh->shell_count))
            return PLIANT_CANCELLED;
    }
    return PLIANT_OK;
}

pl_status pl_group_shells(const pl_mesh* mesh, bool in_volume, bool apart, double reach,
                          uint32_t* group, pl_task* task)
{
    uint32_t count = mesh->shell_count, first_open = UINT32_MAX, groups = 0;
    grouping g = {mesh, PL_NEW(uint32_t, count), reach, apart, task};
    uint32_t* shell_of_root = PL_NEW(uint32_t, mesh->tree->node_count);
    pl_status status = g.parent && shell_of_root ? PLIANT_OK : PLIANT_ERROR_MEMORY;
    if (status == PLIANT_OK)
    {
        for (uint32_t s = 0; s < count; ++s)
            g.parent[s] = s;
        for (uint32_t s = 0; in_volume && !apart && s < count; ++s)
            if (mesh->shell_open[s])
            {
                first_open = PL_MIN(first_open, s);
                pl_union_find_unite(g.parent, first_open, s);
            }
        if (count > 1)
            status = compare_all(&g, shell_of_root);
    }
    for (uint32_t s = 0; status == PLIANT_OK && s < count; ++s)
    {
        uint32_t root = pl_union_find_root(g.parent, s); /* the smallest of its group */
        group[s] = root == s ? groups++ : group[root];
    }
    pl_free(g.parent);
    pl_free(shell_of_root);
    return status == PLIANT_ERROR_MEMORY ? pl_fail_memory(count * sizeof *group) : status;
}

/* ------------------------------------------------------------------ the shell of a particle */

static bool box_has(const pl_box* box, vec3 p)
{
    return p.x >= box->lower.x && p.x <= box->upper.x && p.y >= box->lower.y &&
           p.y <= box->upper.y && p.z >= box->lower.z && p.z <= box->upper.z;
}

static double shell_winding(const pl_owners* owners, uint32_t shell, vec3 point)
{
    const pl_bvh* tree = owners->mesh->tree;
    return fabs(pl_bvh_winding(tree, tree->shell_root[shell], point, 2));
}

pl_status pl_owners_init(pl_owners* owners, const pl_mesh* mesh)
{
    const pl_bvh* tree = mesh->tree;
    *owners = (pl_owners){mesh, PL_NEW(uint32_t, tree->node_count),
                          PL_NEW(uint32_t, mesh->shell_count), 0};
    if (!owners->shell_of_root || !owners->open)
        return pl_fail_memory(tree->node_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < tree->node_count; ++i)
        owners->shell_of_root[i] = UINT32_MAX;
    for (uint32_t s = 0; s < mesh->shell_count; ++s)
    {
        owners->shell_of_root[tree->shell_root[s]] = s;
        if (mesh->shell_open[s])
            owners->open[owners->open_count++] = s;
    }
    return PLIANT_OK;
}

void pl_owners_free(pl_owners* owners)
{
    pl_free(owners->shell_of_root);
    pl_free(owners->open);
    *owners = (pl_owners){0};
}

/* The smallest shell that encloses a point alone, or UINT32_MAX. *likely: among the others whose
 * AABB contains it, the one with the largest winding number. */
static uint32_t enclosing(const pl_owners* owners, vec3 point, double* most, uint32_t* likely)
{
    const pl_bvh* tree = owners->mesh->tree;
    uint32_t stack[PL_BVH_STACK], waiting = 0, found = UINT32_MAX;
    stack[waiting++] = tree->root;
    while (waiting)
    {
        uint32_t index = stack[--waiting], shell = owners->shell_of_root[index];
        const pl_node* node = &tree->nodes[index];
        if (!box_has(&node->box, point))
            continue;
        if (shell == UINT32_MAX)
        {
            stack[waiting++] = node->left;
            stack[waiting++] = node->right;
            continue;
        }
        double winding = shell_winding(owners, shell, point);
        double area = tree->far[index].area;
        double best = found == UINT32_MAX ? INFINITY : tree->far[tree->shell_root[found]].area;
        if (winding > .5 && (area < best || (area == best && shell < found)))
            found = shell;
        if (winding > *most || (winding == *most && shell < *likely))
            *most = winding, *likely = shell;
    }
    return found;
}

uint32_t pl_owner(const pl_owners* owners, vec3 point)
{
    double most = LEAST_WINDING;
    uint32_t likely = UINT32_MAX, found = enclosing(owners, point, &most, &likely);
    if (found != UINT32_MAX)
        return found;
    for (uint32_t i = 0; i < owners->open_count && i < MOST_OPEN; ++i)
    {
        double winding = shell_winding(owners, owners->open[i], point);
        if (winding > most)
            most = winding, likely = owners->open[i];
    }
    if (likely != UINT32_MAX)
        return likely;
    return owners->mesh->shell[pl_mesh_nearest(owners->mesh, point).triangle];
}
