// SPDX-License-Identifier: GPL-3.0-or-later
/* Triangles prepared for lanes: planes, edges, and motion over a substep. */
#include "base/simd_dispatch.h"
#include "collision/mesh/ccd.h"
#include "collision/mesh/triangle_cache.h"

PL_DEFINE_KERNELS_FOR(pl_mesh_kernels)

pl_span pl_facet_box(const pl_box* box)
{
    const double low[3] = {box->lower.x, box->lower.y, box->lower.z};
    const double high[3] = {box->upper.x, box->upper.y, box->upper.z};
    pl_span span = {{0}};
    for (int k = 0; k < 3; ++k)
    {
        double slack = 2e-7 * (fabs(low[k]) + fabs(high[k]));
        span.at[k] = (float)(low[k] - slack);
        span.at[4 + k] = (float)(-high[k] - slack);
    }
    return span;
}

static void set4(vec3 p, double last, float out[4])
{
    v3_store(p, out);
    out[3] = (float)last;
}

static void set_facet(const pl_corners* t, pl_facet* f, pl_facet_corners* corners)
{
    vec3 a = t->a, b = v3_sub(t->b, t->a), c = v3_sub(t->c, t->a);
    vec3 n = v3_normalised(v3_cross(b, c));
    const vec3 along[3] = {b, v3_sub(c, b), v3_scale(c, -1)}, from[3] = {a, v3_add(a, b), a};
    set4(n, v3_dot(n, a), f->normal);
    for (int i = 0; i < 3; ++i)
    {
        vec3 out = v3_normalised(v3_cross(along[i], n));
        set4(out, v3_dot(out, from[i]), f->edge[i]);
    }
    set4(a, 0, corners->a);
    set4(b, 0, corners->b);
    set4(c, 0, corners->c);
}

/* The affine map from the triangle and its normal at the start to those at the end. */
static void set_motion(const pl_moving* m, pl_motion* motion)
{
    vec3 b0 = v3_sub(m->at0.b, m->at0.a), c0 = v3_sub(m->at0.c, m->at0.a);
    vec3 b1 = v3_sub(m->at1.b, m->at1.a), c1 = v3_sub(m->at1.c, m->at1.a);
    vec3 big = v3_cross(b0, c0);
    double area = v3_length(big), turn = 0;
    vec3 n0 = v3_scale(big, 1 / area), n1 = v3_normalised(v3_cross(b1, c1));
    vec3 by_b = v3_scale(v3_cross(c0, n0), 1 / area), by_c = v3_scale(v3_cross(n0, b0), 1 / area);
    mat3 map = m3_add(m3_outer(v3_sub(b1, b0), by_b),
                      m3_add(m3_outer(v3_sub(c1, c0), by_c), m3_outer(v3_sub(n1, n0), n0)));
    vec3 shift = v3_sub(v3_sub(m->at1.a, m->at0.a), m3_mulv(map, m->at0.a));
    const double shifts[3] = {shift.x, shift.y, shift.z};
    for (int i = 0; i < 3; ++i)
    {
        set4(v3_fromd(map.m[i]), shifts[i], motion->row[i]);
        for (int j = 0; j < 3; ++j)
            turn += map.m[i][j] * map.m[i][j];
    }
    motion->turn = (float)sqrt(turn);
}

bool pl_facets_make(const pl_moving_view* s, pl_triangle_cache_chunk* k)
{
    bool still = s->mesh->still;
    if (!pl_grow((void**)&k->facet, &k->facet_capacity, k->facet_count, sizeof *k->facet) ||
        !pl_grow((void**)&k->box, &k->box_capacity, k->facet_count, sizeof *k->box) ||
        !pl_grow((void**)&k->corners, &k->corners_capacity, k->facet_count, sizeof *k->corners) ||
        (!still &&
         !pl_grow((void**)&k->motion, &k->motion_capacity, k->facet_count, sizeof *k->motion)))
        return false;
    for (uint32_t i = 0; i < k->facet_count; ++i)
    {
        pl_moving m = pl_moving_at(s, k->triangle[i]);
        pl_box box = pl_moving_box(s, &m);
        k->box[i] = pl_facet_box(&box);
        if (!pl_moving_whole(&m))
        {
            k->box[i].at[0] = INFINITY; /* touches nothing */
            continue;
        }
        set_facet(&m.at1, &k->facet[i], &k->corners[i]);
        if (!still)
            set_motion(&m, &k->motion[i]);
    }
    k->facets_made = still;
    return true;
}
