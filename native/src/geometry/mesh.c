// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Mesh intake, and the rule for inside and outside.
 *
 * Rejected: vertices that are not finite, triangles that use them or have indices out of range,
 * triangles without area, and duplicates of a triangle (the same corners, by position, in the same
 * orientation). Two triangles with the same corners and opposite orientation both stay: their
 * winding numbers cancel, as they should for the wall between two rooms; their area counts once.
 *
 * A point is inside if the magnitude of the generalised winding number exceeds 1/2 (Jacobson et al.
 * 2013). This closes holes. It fails for parts with the wrong orientation, and for shells that
 * overlap. Therefore, first:
 *
 *   1. Triangles of a patch get a consistent orientation (mesh_components.c).
 *   2. Closed patches are oriented outward, or inward if they are cavities, and patches inside
 *      other shells' material are excluded (mesh_orient.c).
 *
 * So: a body given inside out is solid; of two overlapping bodies, whichever way they face, the
 * union is solid; a sphere inside a sphere is a cavity if it faces the other way, and changes
 * nothing if it faces the same way; a body inside a cavity is solid again.
 *
 * Winding numbers below -1/2 count as inside too (figure-eight shapes, open parts given inside
 * out), unless there are cavities: two cavities that overlap make -1 inside a solid body.
 */
#include "geometry/mesh.h"

#include "geometry/bvh.h"
#include "geometry/mesh_components.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this, ninth powers of lengths would overflow a double. */
static const double LARGEST = 1e40;

static const double ACCURATE = 3, QUICK = 1.3;

/* The largest share of a closed shell's area that may be in open patches. */
static const double MOST_OPEN = .3;

/* ------------------------------------------------------------------ vertices */

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ull;
    h ^= h >> 32;
    return h * 0xd6e8feb86659fd93ull ^ h >> 29;
}

static uint64_t hash_position(vec3 p)
{
    uint64_t bits[3];
    memcpy(bits, &p, sizeof bits);
    return mix(bits[0] +
               0x9e3779b97f4a7c15ull * mix(bits[1] + 0x9e3779b97f4a7c15ull * mix(bits[2])));
}

static bool usable(vec3 p)
{
    return fabs(p.x) < LARGEST && fabs(p.y) < LARGEST && fabs(p.z) < LARGEST;
}

static uint32_t table_size(size_t entries)
{
    uint32_t size = 16;
    while (size < 2 * entries && size < 1u << 31)
        size *= 2;
    return size;
}

/* For each vertex, the first one with the same position. */
static pl_status weld_vertices(pl_mesh* mesh)
{
    uint32_t size = table_size(mesh->vertex_count);
    uint32_t* table = PL_NEW(uint32_t, size);
    mesh->weld = PL_NEW(uint32_t, mesh->vertex_count);
    if (!table || !mesh->weld)
    {
        pl_free(table);
        return pl_fail_memory(size * sizeof *table);
    }
    for (uint32_t i = 0; i < mesh->vertex_count; ++i)
    {
        vec3 p = mesh->vertices[i];
        mesh->weld[i] = usable(p) ? i : UINT32_MAX;
        if (!usable(p))
            continue;
        uint32_t slot = (uint32_t)hash_position(p) & (size - 1);
        for (; table[slot]; slot = (slot + 1) & (size - 1))
        {
            vec3 q = mesh->vertices[table[slot] - 1];
            if (p.x == q.x && p.y == q.y && p.z == q.z)
                break;
        }
        if (table[slot])
            mesh->weld[i] = table[slot] - 1;
        else
            table[slot] = i + 1;
    }
    pl_free(table);
    return PLIANT_OK;
}

static pl_status copy_vertices(pl_mesh* mesh, const pliant_mesh_desc* desc, vec3 origin)
{
    mesh->vertex_count = desc->vertex_count;
    mesh->vertices = PL_NEW(vec3, desc->vertex_count);
    if (!mesh->vertices)
        return pl_fail_memory(desc->vertex_count * sizeof(vec3));
    vec3 shift = v3_sub(v3_fromd(desc->origin), origin);
    for (size_t i = 0; i < desc->vertex_count; ++i)
    {
        vec3 p = v3_add(v3_from(desc->vertices + 3 * i), shift);
        /* adding zero turns -0 into 0, so that equal positions have equal bits */
        mesh->vertices[i] = v3_add(p, v3(0, 0, 0));
        mesh->bad_vertices += !usable(p);
    }
    if (mesh->bad_vertices == mesh->vertex_count)
        return pl_fail(PLIANT_ERROR_MESH,
                       "None of the mesh's %u vertices has usable coordinates (finite, below %g)",
                       mesh->vertex_count, LARGEST);
    return PLIANT_OK;
}

static void place_bad_vertices(pl_mesh* mesh)
{
    vec3 centre = v3_scale(v3_add(mesh->lower, mesh->upper), .5);
    for (uint32_t i = 0; mesh->bad_vertices && i < mesh->vertex_count; ++i)
        if (!usable(mesh->vertices[i]))
            mesh->vertices[i] = centre;
}

/* ------------------------------------------------------------------ triangles */

static bool has_area(vec3 a, vec3 b, vec3 c)
{
    vec3 ab = v3_sub(b, a), bc = v3_sub(c, b), ca = v3_sub(a, c);
    double longest2 = fmax(v3_dot(ab, ab), fmax(v3_dot(bc, bc), v3_dot(ca, ca)));
    return v3_length(v3_cross(ab, ca)) > 1e-12 * longest2;
}

/* Triangles by their smallest corner (by position), to find duplicates. */
typedef struct triangle_key
{
    uint32_t key[2]; /* the other two corners, the smaller first */
    uint32_t triangle;
    bool reversed; /* ascending corners have the opposite orientation of the triangle */
} triangle_key;

static uint32_t make_key(const pl_mesh* mesh, uint32_t triangle, triangle_key* entry)
{
    const uint32_t* t = mesh->triangles + 3 * (size_t)triangle;
    const uint32_t a = mesh->weld[t[0]], b = mesh->weld[t[1]], c = mesh->weld[t[2]];
    uint32_t least = PL_MIN(a, PL_MIN(b, c)), most = PL_MAX(a, PL_MAX(b, c));
    bool forward = (a < b && b < c) || (b < c && c < a) || (c < a && a < b);
    *entry = (triangle_key){{a ^ b ^ c ^ least ^ most, most}, triangle, !forward};
    return least;
}

static int compare_keys(const void* a, const void* b)
{
    const triangle_key *x = a, *y = b;
    for (int i = 0; i < 2; ++i)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return x->triangle < y->triangle ? -1 : 1;
}

/* Marks duplicates (drop) and twins among triangles that share their smallest corner. */
static void mark_duplicates(triangle_key* entries, uint32_t count, uint8_t* drop, uint8_t* twin)
{
    if (count > 1)
        qsort(entries, count, sizeof *entries, compare_keys);
    for (uint32_t i = 0; i < count; ++i)
    {
        bool seen[2] = {false, false};
        uint32_t first = i;
        for (;; ++i)
        {
            const triangle_key* e = &entries[i];
            drop[e->triangle] = seen[e->reversed];
            twin[e->triangle] = seen[!e->reversed] && !seen[e->reversed];
            seen[e->reversed] = true;
            if (i + 1 == count || memcmp(entries[i + 1].key, entries[first].key, sizeof e->key))
                break;
        }
    }
}

static pl_status drop_duplicates(pl_mesh* mesh)
{
    uint32_t count = mesh->triangle_count, kept = 0;
    uint32_t* begin = PL_NEW(uint32_t, (size_t)mesh->vertex_count + 1);
    triangle_key* entries = PL_NEW(triangle_key, count);
    uint8_t* drop = PL_NEW(uint8_t, count);
    bool ready = begin && entries && drop;
    triangle_key entry;
    if (ready)
    {
        for (uint32_t t = 0; t < count; ++t)
            ++begin[make_key(mesh, t, &entry) + 1];
        for (uint32_t v = 0; v < mesh->vertex_count; ++v)
            begin[v + 1] += begin[v];
        for (uint32_t t = 0; t < count; ++t)
        {
            uint32_t least = make_key(mesh, t, &entry);
            entries[begin[least]++] = entry;
        }
        for (uint32_t v = 0, first = 0; v < mesh->vertex_count; first = begin[v++])
            mark_duplicates(entries + first, begin[v] - first, drop, mesh->twin);
        for (uint32_t t = 0; t < count; ++t)
            if (!drop[t])
            {
                memmove(mesh->triangles + 3 * (size_t)kept, mesh->triangles + 3 * (size_t)t,
                        3 * sizeof(uint32_t));
                mesh->twin[kept++] = mesh->twin[t];
            }
        mesh->triangle_count = kept;
    }
    pl_free(begin);
    pl_free(entries);
    pl_free(drop);
    return ready ? PLIANT_OK : pl_fail_memory(count * sizeof *entries);
}

static pl_status copy_triangles(pl_mesh* mesh, const pliant_mesh_desc* desc)
{
    mesh->triangles = PL_NEW(uint32_t, 3 * (size_t)desc->triangle_count);
    mesh->twin = PL_NEW(uint8_t, desc->triangle_count);
    if (!mesh->triangles || !mesh->twin)
        return pl_fail_memory(3 * (size_t)desc->triangle_count * sizeof(uint32_t));
    uint32_t out_of_range = 0;
    for (size_t i = 0; i < desc->triangle_count; ++i)
    {
        const uint32_t* t = desc->triangles + 3 * i;
        if (t[0] >= mesh->vertex_count || t[1] >= mesh->vertex_count || t[2] >= mesh->vertex_count)
        {
            ++out_of_range;
            continue;
        }
        vec3 a = mesh->vertices[t[0]], b = mesh->vertices[t[1]], c = mesh->vertices[t[2]];
        if (usable(a) && usable(b) && usable(c) && has_area(a, b, c))
            memcpy(mesh->triangles + 3 * (size_t)mesh->triangle_count++, t, 3 * sizeof *t);
    }
    if (!mesh->triangle_count)
        return pl_fail(PLIANT_ERROR_MESH,
                       "None of the mesh's %u triangles can be used: %u have vertex numbers of %u "
                       "or more, the others have no area or corners that are not finite",
                       desc->triangle_count, out_of_range, mesh->vertex_count);
    PL_TRY(drop_duplicates(mesh));
    mesh->dropped_triangles = desc->triangle_count - mesh->triangle_count;
    return PLIANT_OK;
}

vec3 pl_mesh_corner(const pl_mesh* mesh, uint32_t triangle, int corner)
{
    return mesh->vertices[mesh->triangles[3 * (size_t)triangle + corner]];
}

double pl_mesh_triangle_area(const pl_mesh* mesh, uint32_t triangle)
{
    vec3 a = pl_mesh_corner(mesh, triangle, 0);
    vec3 ab = v3_sub(pl_mesh_corner(mesh, triangle, 1), a);
    vec3 ac = v3_sub(pl_mesh_corner(mesh, triangle, 2), a);
    return v3_length(v3_cross(ab, ac)) * .5;
}

/* ------------------------------------------------------------------ intake */

static void measure(pl_mesh* mesh, pl_box* box)
{
    mesh->lower = box->lower;
    mesh->upper = box->upper;
    mesh->extent = v3_length(v3_sub(box->upper, box->lower));
    place_bad_vertices(mesh);
}

static void measure_vertices(pl_mesh* mesh)
{
    pl_box box = pl_box_empty();
    for (uint32_t i = 0; i < mesh->vertex_count; ++i)
        if (usable(mesh->vertices[i]))
            pl_box_add(&box, mesh->vertices[i]);
    measure(mesh, &box);
}

static void measure_triangles(pl_mesh* mesh)
{
    pl_box box = mesh->tree->nodes[mesh->tree->root].box;
    measure(mesh, &box);
    vec3 centre = pl_box_centre(&box);
    for (uint32_t t = 0; t < mesh->triangle_count; ++t)
    {
        vec3 a = v3_sub(pl_mesh_corner(mesh, t, 0), centre);
        vec3 b = v3_sub(pl_mesh_corner(mesh, t, 1), centre);
        vec3 c = v3_sub(pl_mesh_corner(mesh, t, 2), centre);
        mesh->area += mesh->twin[t] ? 0 : pl_mesh_triangle_area(mesh, t);
        if (!mesh->tree->far[mesh->tree->shell_root[mesh->shell[t]]].excluded)
            mesh->volume += v3_dot(a, v3_cross(b, c)) / 6;
    }
}

/* By area, since small open patches may touch a closed one: eyes (bowls) that touch a head. */
static void find_open_shells(pl_mesh* mesh, const pl_mesh_components* patches)
{
    mesh->closed = true;
    for (uint32_t p = 0, end; p < patches->count; p = end)
    {
        uint32_t shell = patches->patches[p].shell;
        double open = 0, area = 0;
        for (end = p; end < patches->count && patches->patches[end].shell == shell; ++end)
        {
            const pl_mesh_patch* patch = &patches->patches[end];
            area += patch->area;
            open += patch->nearly_closed ? 0 : patch->area;
            mesh->closed = mesh->closed && patch->closed;
        }
        mesh->shell_open[shell] = open > MOST_OPEN * area;
    }
}

static pl_status build(pl_mesh* mesh, pl_mesh_components* patches)
{
    PL_TRY(pl_mesh_components_find(mesh, mesh->weld, patches));
    mesh->tree = PL_NEW(pl_bvh, 1);
    mesh->shell_open = PL_NEW(uint8_t, mesh->shell_count);
    if (!mesh->tree || !mesh->shell_open)
        return pl_fail_memory(mesh->shell_count);
    PL_TRY(pl_bvh_build(mesh->tree, mesh->vertices, mesh->triangles, mesh->triangle_count,
                        patches->of, patches->count, patches->of_shell, mesh->shell_count));
    PL_TRY(pl_mesh_components_orient(mesh, patches));
    measure_triangles(mesh);
    find_open_shells(mesh, patches);
    return PLIANT_OK;
}

pl_status pl_mesh_init(pl_mesh* mesh, const pliant_mesh_desc* desc, vec3 origin)
{
    *mesh = (pl_mesh){0};
    if (!desc->vertex_count || !desc->vertices)
        return pl_fail(PLIANT_ERROR_MESH, "The mesh has no vertices");
    if (desc->triangle_count && !desc->triangles)
        return pl_fail(PLIANT_ERROR_MESH, "The mesh has %u triangles but no list of them",
                       desc->triangle_count);
    if (desc->triangle_count > UINT32_MAX / 4 || desc->vertex_count > UINT32_MAX / 4)
        return pl_fail(PLIANT_ERROR_MESH,
                       "The mesh has %u vertices and %u triangles; %u of each is the most",
                       desc->vertex_count, desc->triangle_count, UINT32_MAX / 4);
    PL_TRY(copy_vertices(mesh, desc, origin));
    PL_TRY(weld_vertices(mesh));
    if (!desc->triangle_count)
    {
        measure_vertices(mesh);
        return PLIANT_OK;
    }
    PL_TRY(copy_triangles(mesh, desc));
    pl_mesh_components patches = {0};
    pl_status status = build(mesh, &patches);
    pl_mesh_components_free(&patches);
    return status;
}

void pl_mesh_free(pl_mesh* mesh)
{
    pl_free(mesh->vertices);
    pl_free(mesh->triangles);
    pl_free(mesh->shell);
    pl_free(mesh->shell_open);
    pl_free(mesh->twin);
    pl_free(mesh->weld);
    pl_bvh_free(mesh->tree);
    *mesh = (pl_mesh){0};
}

/* ------------------------------------------------------------------ queries */

double pl_mesh_winding(const pl_mesh* mesh, vec3 point, uint32_t shell)
{
    const pl_bvh* tree = mesh->tree;
    if (!tree || (shell != UINT32_MAX && shell >= mesh->shell_count))
        return 0;
    return pl_bvh_winding(tree, shell == UINT32_MAX ? tree->root : tree->shell_root[shell], point,
                          ACCURATE);
}

double pl_mesh_insideness(const pl_mesh* mesh, vec3 point)
{
    if (!mesh->tree)
        return 0;
    double w = pl_bvh_winding(mesh->tree, mesh->tree->root, point, QUICK);
    return mesh->tree->has_cavities ? w : fabs(w);
}

bool pl_mesh_inside(const pl_mesh* mesh, vec3 point)
{
    return pl_mesh_insideness(mesh, point) > .5;
}

pl_mesh_hit pl_mesh_nearest(const pl_mesh* mesh, vec3 point)
{
    pl_mesh_hit hit = {.triangle = UINT32_MAX, .distance = INFINITY};
    if (!mesh->tree)
        return hit;
    uint32_t found =
        pl_bvh_nearest(mesh->tree, mesh->tree->root, point, INFINITY, hit.weights, &hit.point);
    if (found == UINT32_MAX)
        return hit; /* only for a point that is not finite */
    hit.triangle = mesh->tree->order[found];
    hit.distance = v3_length(v3_sub(hit.point, point));
    /* The tree's corners may be flipped; the mesh's are flipped in the same way. */
    return hit;
}
