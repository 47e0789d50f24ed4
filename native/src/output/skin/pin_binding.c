// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Skinning with the roles exchanged (skin.c): a particle at rest P follows the mesh vertices V_j
 * near it with their local deformation,
 *
 *     P' = sum_j phi_j (x_j + F_j (P - V_j)).
 *
 * F_j is the mean, weighted by rest area, of the gradients of the triangles around the vertex. A
 * triangle's gradient takes its edges to its edges and its normal to its normal (as in Sumner and
 * Popovic, "Deformation transfer for triangle meshes", 2004, section 3, but with unit normals). So
 * rigid motions of the mesh move the particles rigidly, stretch along the surface is followed, and
 * depth below the surface is kept: a bend keeps its thickness.
 *
 * Vertices without triangles and degenerate triangles are ignored. A triangle that the animation
 * collapses has no normal: the other triangles around its vertices replace it, and if there are
 * none, the mean over the whole mesh.
 */
#include "output/skin/pin_binding.h"

#include "output/skin/skin.h"

#include <string.h>

enum
{
    GRAIN = 512
};

typedef struct rest_triangle
{
    uint32_t vertex[3]; /* of the mesh */
    double area;
    mat3 inverse; /* of the matrix with columns edge, edge, normal at rest */
} rest_triangle;

struct pl_pin_binding
{
    pl_skin_binding skin; /* particles by id to used vertices */
    uint32_t triangle_count, vertex_count, particle_count;
    rest_triangle* triangles;
    uint32_t* vertex; /* used vertices of the mesh */
    uint32_t* begin;  /* vertex_count + 1: the triangles around each */
    uint32_t* around;
    /* Scratch: gradients of triangles times their area, the area (0: collapsed), and of vertices.
     */
    mat3* gradient;
    double* weight;
    float *x, *f;
    mat3 whole;
    const float* animated;
};

void pl_pin_binding_free(struct pl_pin_binding* b)
{
    if (!b)
        return;
    pl_skin_binding_free(&b->skin);
    pl_free(b->triangles);
    pl_free(b->vertex);
    pl_free(b->begin);
    pl_free(b->around);
    pl_free(b->gradient);
    pl_free(b->weight);
    pl_free(b->x);
    pl_free(b->f);
    pl_free(b);
}

/* ------------------------------------------------------------------ binding */

/* Columns: two edges and the unit normal; false where there is no area. */
static bool triangle_frame(const float* vertices, const uint32_t v[3], mat3* frame, double* area)
{
    vec3 a = v3_from(vertices + 3 * (size_t)v[0]);
    vec3 e = v3_sub(v3_from(vertices + 3 * (size_t)v[1]), a);
    vec3 f = v3_sub(v3_from(vertices + 3 * (size_t)v[2]), a), n = v3_cross(e, f);
    double length = v3_length(n);
    *area = length / 2;
    if (!(length > 1e-10 * (v3_dot(e, e) + v3_dot(f, f))) || !isfinite(length))
        return false;
    n = v3_scale(n, 1 / length);
    *frame = (mat3){{{e.x, f.x, n.x}, {e.y, f.y, n.y}, {e.z, f.z, n.z}}};
    return true;
}

/* Lists non-degenerate triangles of the rest mesh; sets their mean edge length. */
static pl_status list_triangles(struct pl_pin_binding* b, const pl_body* body, double* edge)
{
    double sum = 0;
    b->triangles = PL_NEW(rest_triangle, body->mesh_triangle_count);
    if (!b->triangles)
        return pl_fail_memory(body->mesh_triangle_count * sizeof(rest_triangle));
    for (uint32_t t = 0; t < body->mesh_triangle_count; ++t)
    {
        rest_triangle* kept = &b->triangles[b->triangle_count];
        const uint32_t *v = body->mesh_triangles + 3 * (size_t)t, most = body->mesh_vertex_count;
        mat3 frame;
        if (v[0] >= most || v[1] >= most || v[2] >= most ||
            !triangle_frame(body->mesh_vertices, v, &frame, &kept->area))
            continue;
        memcpy(kept->vertex, v, sizeof kept->vertex);
        kept->inverse = m3_inverse(frame);
        sum += v3_length(v3(frame.m[0][0], frame.m[1][0], frame.m[2][0]));
        ++b->triangle_count;
    }
    if (!b->triangle_count)
        return pl_fail(PLIANT_ERROR_MESH,
                       "None of the mesh's %u triangles has an area that particles could follow",
                       body->mesh_triangle_count);
    *edge = sum / b->triangle_count;
    return PLIANT_OK;
}

/* Lists their vertices, in the mesh's order, and the triangles around them. */
static pl_status list_vertices(struct pl_pin_binding* b, uint32_t mesh_vertices)
{
    uint32_t* number = PL_NEW(uint32_t, mesh_vertices);
    size_t corners = 3 * (size_t)b->triangle_count;
    b->vertex = PL_NEW(uint32_t, mesh_vertices);
    b->begin = PL_NEW(uint32_t, (size_t)mesh_vertices + 2);
    b->around = PL_NEW(uint32_t, corners);
    if (!number || !b->vertex || !b->begin || !b->around)
    {
        pl_free(number);
        return pl_fail_memory(corners * 4);
    }
    for (uint32_t t = 0; t < b->triangle_count; ++t)
        for (int k = 0; k < 3; ++k)
            number[b->triangles[t].vertex[k]] = 1;
    for (uint32_t i = 0; i < mesh_vertices; ++i)
        if (number[i])
        {
            number[i] = b->vertex_count;
            b->vertex[b->vertex_count++] = i;
        }
    for (uint32_t t = 0; t < b->triangle_count; ++t)
        for (int k = 0; k < 3; ++k)
            ++b->begin[number[b->triangles[t].vertex[k]] + 2];
    for (uint32_t i = 0; i < b->vertex_count; ++i)
        b->begin[i + 2] += b->begin[i + 1];
    for (uint32_t t = 0; t < b->triangle_count; ++t)
        for (int k = 0; k < 3; ++k)
            b->around[b->begin[number[b->triangles[t].vertex[k]] + 1]++] = t;
    pl_free(number);
    return PLIANT_OK;
}

static void rest_positions(const pl_body* body, vec3* rest)
{
    const pl_particles* p = &body->particles;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        const pl_chunk* chunk = &body->chunks[c];
        for (uint32_t i = chunk->slot_begin; i < chunk->slot_begin + chunk->slot_count; ++i)
            if (p->id[i] != PL_NO_PARTICLE)
                rest[p->id[i]] =
                    v3_add(v3(p->r[0][i], p->r[1][i], p->r[2][i]), v3_from(chunk->rest_origin));
    }
}

static pl_status bind_particles(struct pl_pin_binding* b, const pl_body* body, double edge,
                                pl_pool* pool)
{
    uint32_t particles = b->particle_count = body->particles.id_count;
    vec3* rest = PL_NEW(vec3, particles);
    vec3* vertices = PL_NEW(vec3, b->vertex_count);
    b->gradient = PL_NEW(mat3, b->triangle_count);
    b->weight = PL_NEW(double, b->triangle_count);
    b->x = PL_NEW(float, 3 * (size_t)b->vertex_count);
    b->f = PL_NEW(float, 9 * (size_t)b->vertex_count);
    pl_status status = PLIANT_OK;
    if (!rest || !vertices || !b->gradient || !b->weight || !b->x || !b->f)
        status = pl_fail_memory((size_t)particles * sizeof(vec3));
    if (status == PLIANT_OK)
    {
        rest_positions(body, rest);
        for (uint32_t i = 0; i < b->vertex_count; ++i)
            vertices[i] = v3_from(body->mesh_vertices + 3 * (size_t)b->vertex[i]);
        status = pl_skin_bind(b->vertex_count, vertices, fmax(edge, body->spacing), 0, particles,
                              rest, NULL, pool, &b->skin);
    }
    pl_free(rest);
    pl_free(vertices);
    return status;
}

static pl_status need_binding(pl_body* body, pl_pool* pool)
{
    double edge = 0;
    if (body->pin_binding && body->pin_binding->particle_count == body->particles.id_count)
        return PLIANT_OK;
    pl_pin_binding_free(body->pin_binding); /* particles were added since it was made */
    body->pin_binding = NULL;
    struct pl_pin_binding* b = PL_NEW(struct pl_pin_binding, 1);
    pl_status status = b ? list_triangles(b, body, &edge) : pl_fail_memory(sizeof *b);
    if (status == PLIANT_OK)
        status = list_vertices(b, body->mesh_vertex_count);
    if (status == PLIANT_OK)
        status = bind_particles(b, body, edge, pool);
    if (status == PLIANT_OK)
        body->pin_binding = b;
    else
        pl_pin_binding_free(b);
    return status;
}

/* ------------------------------------------------------------------ following */

static void deform_triangles(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    struct pl_pin_binding* b = context;
    (void)worker;
    for (uint32_t t = begin; t < end; ++t)
    {
        const rest_triangle* rest = &b->triangles[t];
        mat3 frame;
        double area;
        bool there = triangle_frame(b->animated, rest->vertex, &frame, &area);
        b->weight[t] = there ? rest->area : 0;
        b->gradient[t] = there ? m3_scale(m3_mul(frame, rest->inverse), rest->area) : m3_zero();
    }
}

/* Fallback for vertices whose triangles have all collapsed: the mean over the mesh. */
static void deform_whole(struct pl_pin_binding* b)
{
    double area = 0;
    b->whole = m3_zero();
    for (uint32_t t = 0; t < b->triangle_count; ++t)
    {
        b->whole = m3_add(b->whole, b->gradient[t]);
        area += b->weight[t];
    }
    b->whole = area > 0 ? m3_scale(b->whole, 1 / area) : m3_identity();
}

static void deform_vertices(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    struct pl_pin_binding* b = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        double area = 0;
        mat3 f = m3_zero();
        for (uint32_t n = b->begin[i]; n < b->begin[i + 1]; ++n)
        {
            f = m3_add(f, b->gradient[b->around[n]]);
            area += b->weight[b->around[n]];
        }
        f = area > 0 ? m3_scale(f, 1 / area) : b->whole;
        for (int k = 0; k < 9; ++k)
            b->f[9 * (size_t)i + k] = (float)f.m[k / 3][k % 3];
        memcpy(b->x + 3 * (size_t)i, b->animated + 3 * (size_t)b->vertex[i], 3 * sizeof(float));
    }
}

pl_status pl_pin_binding_apply(pl_body* body, const float* vertices, pl_pool* pool, float* targets)
{
    PL_TRY(need_binding(body, pool));
    struct pl_pin_binding* b = body->pin_binding;
    b->animated = vertices;
    pl_parallel_for(pool, b->triangle_count, GRAIN, deform_triangles, b);
    deform_whole(b);
    pl_parallel_for(pool, b->vertex_count, GRAIN, deform_vertices, b);
    pl_skin_apply(&b->skin, b->x, b->f, NULL, NULL, pool, targets, NULL, NULL);
    return PLIANT_OK;
}
