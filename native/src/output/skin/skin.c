// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Embedding a surface in a cloud of particles that each carry a local affine map, blended with
 * normalised weights (Shepard, "A two-dimensional interpolation function for irregularly-spaced
 * data", 1968; with local maps as in Mueller et al., "Point based animation of elastic, plastic and
 * melting objects", 2004, section 6):
 *
 *     V' = sum_j phi_j (x_j + F_j (V - r_j)),
 *     phi_j = k_j / sum k,   k_j = (1 - |V - r_j|^2 / H^2)^3.
 *
 * The weights must be continuous in V, or neighbouring vertices would tear apart. So the support H
 * is a continuous function of V and a particle enters and leaves with weight zero:
 *
 *     H(V) = min( max(h, 1.5 d_1(V)), max(d_65(V), (1 + 1e-6) d_1(V)) )
 *
 * where d_n is the distance to the n-th nearest particle, which is 1-Lipschitz in V.
 *   - h is twice the spacing. In blue noise every point of the body has a particle within one
 *     spacing, so inside and on the surface H = h: about 25 particles in the volume and 12 on a
 *     surface, and phi is twice continuously differentiable. Measured on a bent, slightly noisy
 *     block, h = 1.5, 2, 2.5 spacings: 5.5, 12, 22 entries a vertex, roughness of the skin 7, 3, 2
 *     (1e-5 spacings), deviation from the bend .007, .010, .015 spacings.
 *   - Beyond, the support grows with the distance, so the nearest particles are always inside.
 *   - The 65th neighbour bounds the entries to 64 however dense the particles are. Only where more
 *     than 64 particles are equally near (to a millionth) is the choice cut by index.
 */
#include "output/skin/skin.h"

#include "geometry/point_tree.h"
#include "output/skin/skin_components.h"

#include <string.h>

enum
{
    MAX_ENTRIES = PL_SKIN_ENTRIES,
    BIND_BLOCK = 256, /* vertices bound by one thread at a time */
    APPLY_BLOCK = 1024
};

static const double SUPPORT_GROWTH = 1.5, SUPPORT_SLACK = 1 + 1e-6;
static const double FARTHEST = 1e18; /* nearer squares and offsets fit a float */

static pl_status check_points(const char* what, uint32_t count, const vec3* points)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        double farthest = PL_MAX(fabs(points[i].x), PL_MAX(fabs(points[i].y), fabs(points[i].z)));
        if (!v3_finite(points[i]))
            return pl_fail(PLIANT_ERROR_ARGUMENT,
                           "%s %u is at (%g, %g, %g), which is not a position", what, i,
                           points[i].x, points[i].y, points[i].z);
        if (farthest > FARTHEST)
            return pl_fail(PLIANT_ERROR_ARGUMENT,
                           "%s %u is %g away from the origin, which is too far", what, i, farthest);
    }
    return PLIANT_OK;
}

/* Spacing of particles that fill their bounding box; flat directions are ignored. */
static double spacing_of(uint32_t count, const vec3* points)
{
    vec3 low = points[0], high = points[0];
    for (uint32_t i = 1; i < count; ++i)
    {
        low =
            v3(PL_MIN(low.x, points[i].x), PL_MIN(low.y, points[i].y), PL_MIN(low.z, points[i].z));
        high = v3(PL_MAX(high.x, points[i].x), PL_MAX(high.y, points[i].y),
                  PL_MAX(high.z, points[i].z));
    }
    double extent[3] = {high.x - low.x, high.y - low.y, high.z - low.z}, content = 1;
    double largest = PL_MAX(extent[0], PL_MAX(extent[1], extent[2]));
    int dimensions = 0;
    for (int k = 0; k < 3; ++k)
        if (extent[k] > 1e-6 * largest)
        {
            content *= extent[k] / largest;
            ++dimensions;
        }
    return dimensions ? largest * pow(content / count, 1.0 / dimensions) : 0;
}

/* ------------------------------------------------------------------ binding */

typedef struct bound_block
{
    uint32_t count;
    uint32_t* particle;
    float* weight;
    bool out_of_memory;
} bound_block;

typedef struct bind_job
{
    pl_skin_components parts;
    const vec3* rest;
    const vec3* vertices;
    uint32_t vertex_count;
    double support;
    bound_block* blocks;
    pl_skin_binding* binding;
} bind_job;

uint32_t pl_skin_support(const pl_point_tree* tree, double support, vec3 vertex,
                         pl_nearest_point near[PL_SKIN_ENTRIES + 1], double* squared)
{
    uint32_t count = pl_point_tree_query(tree, vertex, support * support, MAX_ENTRIES + 1, near);
    if (count == 0)
        pl_point_tree_query(tree, vertex, INFINITY, 1, near);
    double nearest = sqrt(near[0].squared_distance);
    if (SUPPORT_GROWTH * nearest > support)
    {
        support = SUPPORT_GROWTH * nearest;
        count = pl_point_tree_query(tree, vertex, support * support, MAX_ENTRIES + 1, near);
    }
    if (count > MAX_ENTRIES)
    {
        double crowded = sqrt(near[MAX_ENTRIES].squared_distance);
        support = PL_MIN(support, PL_MAX(crowded, SUPPORT_SLACK * nearest));
    }
    *squared = support * support;
    return count;
}

/* Weights that sum to one after rounding to float: the nearest absorbs the remainder. */
static uint32_t weigh(const bind_job* job, uint32_t index, uint32_t* particle, float* weight)
{
    pl_nearest_point near[MAX_ENTRIES + 1];
    double squared, kernel[MAX_ENTRIES], sum = 0, rounded = 0;
    vec3 vertex = job->vertices[index];
    uint32_t part = job->parts.of ? job->parts.of[index] : 0;
    const uint32_t* own = job->parts.particle + job->parts.begin[part];
    uint32_t found =
        PL_MIN(pl_skin_support(job->parts.tree[part], job->support, vertex, near, &squared),
               (uint32_t)MAX_ENTRIES);
    uint32_t count = 0;
    for (uint32_t i = 0; i < found; ++i)
    {
        double q = 1 - near[i].squared_distance / squared;
        if (!(q > 0)) /* also for zero support: the vertex is on the only particle */
            continue;
        kernel[count] = q * q * q;
        sum += kernel[count];
        particle[count++] = own[near[i].index];
    }
    if (!(sum > 0))
    {
        particle[0] = own[near[0].index];
        weight[0] = 1;
        return 1;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        float share = (float)(kernel[i] / sum);
        if (i > 0 && share < 1e-9f) /* below the resolution of a float position */
            continue;
        particle[kept] = particle[i];
        weight[kept++] = share;
        rounded += share;
    }
    weight[0] = (float)(weight[0] + (1 - rounded));
    return kept;
}

static void bind_block(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    bind_job* job = context;
    (void)worker;
    for (uint32_t b = begin; b < end; ++b)
    {
        bound_block* block = &job->blocks[b];
        uint32_t from = b * BIND_BLOCK, to = PL_MIN(from + BIND_BLOCK, job->vertex_count);
        size_t particle_room = 0, weight_room = 0;
        for (uint32_t vertex = from; vertex < to; ++vertex)
        {
            size_t needed = (size_t)block->count + MAX_ENTRIES;
            if (!pl_grow((void**)&block->particle, &particle_room, needed, sizeof(uint32_t)) ||
                !pl_grow((void**)&block->weight, &weight_room, needed, sizeof(float)))
            {
                block->out_of_memory = true;
                break;
            }
            uint32_t count =
                weigh(job, vertex, block->particle + block->count, block->weight + block->count);
            job->binding->begin[vertex + 1] = count; /* summed later */
            block->count += count;
        }
    }
}

static void collect_block(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    bind_job* job = context;
    pl_skin_binding* binding = job->binding;
    (void)worker;
    for (uint32_t b = begin; b < end; ++b)
    {
        const bound_block* block = &job->blocks[b];
        uint32_t from = b * BIND_BLOCK, to = PL_MIN(from + BIND_BLOCK, job->vertex_count);
        size_t at = binding->begin[from];
        memcpy(binding->particle + at, block->particle, block->count * sizeof(uint32_t));
        memcpy(binding->weight + at, block->weight, block->count * sizeof(float));
        for (uint32_t vertex = from; vertex < to; ++vertex)
            for (uint32_t e = binding->begin[vertex]; e < binding->begin[vertex + 1]; ++e)
                v3_store(v3_sub(job->vertices[vertex], job->rest[binding->particle[e]]),
                         binding->offset + 3 * (size_t)e);
    }
}

static pl_status bind_all(bind_job* job, pl_pool* pool)
{
    pl_skin_binding* binding = job->binding;
    uint32_t block_count = (uint32_t)(((uint64_t)job->vertex_count + BIND_BLOCK - 1) / BIND_BLOCK);
    uint64_t total = 0;
    pl_status status = PLIANT_OK;
    job->blocks = PL_NEW(bound_block, block_count);
    if (!job->blocks)
        return pl_fail_memory(block_count * sizeof(bound_block));
    pl_parallel_for(pool, block_count, 1, bind_block, job);
    for (uint32_t b = 0; b < block_count; ++b)
    {
        total += job->blocks[b].count;
        if (job->blocks[b].out_of_memory)
            status = pl_fail_memory(total * (sizeof(uint32_t) + sizeof(float)));
    }
    if (status == PLIANT_OK && total > UINT32_MAX)
        status = pl_fail(PLIANT_ERROR_ARGUMENT, "%u vertices are too many to bind at once",
                         job->vertex_count);
    if (status == PLIANT_OK)
    {
        for (uint32_t i = 0; i < job->vertex_count; ++i)
            binding->begin[i + 1] += binding->begin[i];
        binding->particle = PL_NEW(uint32_t, total);
        binding->weight = PL_NEW(float, total);
        binding->offset = PL_NEW(float, 3 * total);
        if (!binding->particle || !binding->weight || !binding->offset)
            status = pl_fail_memory(total * 20);
        else
            pl_parallel_for(pool, block_count, 1, collect_block, job);
    }
    for (uint32_t b = 0; b < block_count; ++b)
    {
        pl_free(job->blocks[b].particle);
        pl_free(job->blocks[b].weight);
    }
    pl_free(job->blocks);
    return status;
}

static pl_status keep_normals(pl_skin_binding* binding, const float* normals)
{
    size_t count = 3 * (size_t)binding->vertex_count;
    if (!normals)
        return PLIANT_OK;
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(normals[i]))
            return pl_fail(PLIANT_ERROR_ARGUMENT, "the normal of vertex %u is not a number",
                           (uint32_t)(i / 3));
    binding->normals = PL_NEW(float, count);
    if (!binding->normals)
        return pl_fail_memory(count * sizeof(float));
    if (count)
        memcpy(binding->normals, normals, count * sizeof(float));
    return PLIANT_OK;
}

static pl_status bind_checked(uint32_t particle_count, const vec3* rest, double support,
                              const vec3* vertices, const float* normals,
                              const pl_skin_shape* shape, pl_pool* pool, pl_skin_binding* binding)
{
    bind_job job = {.rest = rest,
                    .vertices = vertices,
                    .vertex_count = binding->vertex_count,
                    .support = support,
                    .binding = binding};
    binding->begin = PL_NEW(uint32_t, (size_t)binding->vertex_count + 1);
    if (!binding->begin)
        return pl_fail_memory(((size_t)binding->vertex_count + 1) * sizeof(uint32_t));
    PL_TRY(keep_normals(binding, normals));
    if (binding->vertex_count == 0)
        return PLIANT_OK;
    pl_status status = pl_skin_components_find(particle_count, rest, binding->vertex_count,
                                               vertices, shape, support, pool, &job.parts);
    if (status == PLIANT_OK)
        status = bind_all(&job, pool);
    pl_skin_components_free(&job.parts);
    return status;
}

pl_status pl_skin_bind_shape(uint32_t particle_count, const vec3* rest, double spacing,
                             double radius, uint32_t vertex_count, const vec3* vertices,
                             const float* normals, const pl_skin_shape* shape, pl_pool* pool,
                             pl_skin_binding* binding)
{
    memset(binding, 0, sizeof *binding);
    if (!isfinite(radius) || radius < 0)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "the skin's radius is %g: give 0 or more", radius);
    if (vertex_count > 0 && particle_count == 0)
        return pl_fail(PLIANT_ERROR_ARGUMENT, "%u vertices have no particles to follow",
                       vertex_count);
    PL_TRY(check_points("particle", particle_count, rest));
    PL_TRY(check_points("vertex", vertex_count, vertices));
    if (!(spacing > 0 && spacing < FARTHEST) && particle_count > 0)
        spacing = spacing_of(particle_count, rest);
    double support = radius > 0 ? PL_MIN(radius, FARTHEST) : PL_SKIN_SUPPORT * spacing;
    binding->vertex_count = vertex_count;
    pl_status status =
        bind_checked(particle_count, rest, support, vertices, normals, shape, pool, binding);
    if (status != PLIANT_OK)
        pl_skin_binding_free(binding);
    return status;
}

pl_status pl_skin_bind(uint32_t particle_count, const vec3* rest, double spacing, double radius,
                       uint32_t vertex_count, const vec3* vertices, const float* normals,
                       pl_pool* pool, pl_skin_binding* binding)
{
    const pl_skin_shape none = {0};
    return pl_skin_bind_shape(particle_count, rest, spacing, radius, vertex_count, vertices,
                              normals, &none, pool, binding);
}

pl_status pl_skin_binding_room(uint32_t vertices, uint64_t entries, bool normals,
                               pl_skin_binding* out)
{
    memset(out, 0, sizeof *out);
    out->vertex_count = vertices;
    out->begin = PL_NEW(uint32_t, (size_t)vertices + 1);
    out->particle = PL_NEW(uint32_t, entries);
    out->weight = PL_NEW(float, entries);
    out->offset = PL_NEW(float, 3 * entries);
    out->normals = normals ? PL_NEW(float, 3 * (size_t)vertices) : NULL;
    if (out->begin && out->particle && out->weight && out->offset && (out->normals || !normals))
        return PLIANT_OK;
    pl_skin_binding_free(out);
    return pl_fail_memory(entries * 20);
}

void pl_skin_binding_free(pl_skin_binding* binding)
{
    pl_free(binding->begin);
    pl_free(binding->particle);
    pl_free(binding->weight);
    pl_free(binding->offset);
    pl_free(binding->normals);
    memset(binding, 0, sizeof *binding);
}

/* ------------------------------------------------------------------ applying */

typedef struct apply_job
{
    const pl_skin_binding* binding;
    const float *x, *f, *v, *g;
    float *vertices, *normals, *velocities;
} apply_job;

/* out = base + sum phi_j (p_j - base + M_j offset_j), base being the nearest particle's p: weights
 * that miss one by a rounding then shift nothing. "m" may be NULL. "blended" (9 floats, or NULL)
 * becomes sum phi_j M_j. Inlined for each combination: the tests on pointers leave the loop. */
static inline void blend(const pl_skin_binding* binding, uint32_t vertex, const float* p,
                         const float* m, float* out, float* blended)
{
    uint32_t begin = binding->begin[vertex], end = binding->begin[vertex + 1];
    const float* base = p + 3 * (size_t)binding->particle[begin];
    const float b0 = base[0], b1 = base[1], b2 = base[2];
    float sum0 = 0, sum1 = 0, sum2 = 0, f[9] = {0};
    for (uint32_t e = begin; e < end; ++e)
    {
        size_t j = binding->particle[e];
        const float *at = p + 3 * j, *o = binding->offset + 3 * (size_t)e;
        float w = binding->weight[e];
        float d0 = at[0] - b0, d1 = at[1] - b1, d2 = at[2] - b2;
        if (m)
        {
            const float* a = m + 9 * j;
            d0 += a[0] * o[0] + a[1] * o[1] + a[2] * o[2];
            d1 += a[3] * o[0] + a[4] * o[1] + a[5] * o[2];
            d2 += a[6] * o[0] + a[7] * o[1] + a[8] * o[2];
            if (blended)
                for (int k = 0; k < 9; ++k)
                    f[k] += w * a[k];
        }
        sum0 += w * d0;
        sum1 += w * d1;
        sum2 += w * d2;
    }
    out[0] = b0 + sum0;
    out[1] = b1 + sum1;
    out[2] = b2 + sum2;
    if (blended)
        memcpy(blended, f, sizeof f);
}

static void turn_normal(const float* blended, const float* normal, float* out)
{
    mat3 gradient;
    for (int k = 0; k < 9; ++k)
        gradient.m[k / 3][k % 3] = blended[k];
    vec3 rest = v3_from(normal);
    vec3 turned = m3_mulv(m3_cofactor(gradient), rest);
    double squared = v3_dot(turned, turned);
    /* Collapsed to a line, or out of range: keep the rest normal. */
    if (!(squared > 0 && squared < INFINITY))
        turned = rest;
    v3_store(v3_normalised(turned), out);
}

static void apply_block(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const apply_job* job = context;
    float blended[9], place[3];
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        size_t at = 3 * (size_t)i;
        float* vertex = job->vertices ? job->vertices + at : place;
        if (job->normals)
        {
            blend(job->binding, i, job->x, job->f, vertex, blended);
            turn_normal(blended, job->binding->normals + at, job->normals + at);
        }
        else if (job->vertices)
            blend(job->binding, i, job->x, job->f, vertex, NULL);
        if (job->velocities && job->g)
            blend(job->binding, i, job->v, job->g, job->velocities + at, NULL);
        else if (job->velocities)
            blend(job->binding, i, job->v, NULL, job->velocities + at, NULL);
    }
}

void pl_skin_apply(const pl_skin_binding* binding, const float* x, const float* f, const float* v,
                   const float* g, pl_pool* pool, float* vertices, float* normals,
                   float* velocities)
{
    apply_job job = {binding, x, f, v, g, vertices, normals, velocities};
    assert(!normals || binding->normals);
    assert(!velocities || v);
    pl_parallel_for(pool, binding->vertex_count, APPLY_BLOCK, apply_block, &job);
}
