// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Nested levels of a body that flows. A coarse cluster has its own rest shape, in which its fine
 * clusters lie at q with the maps B (levels.simd.c). It would pull back a bend or a dent after its
 * fine clusters have flowed. So it flows as well: a share eta of the fine clusters' displacement
 * from their places in the coarse rest shape becomes part of it,
 *
 *   q <- (1 - eta) q + eta R^T (x_f - x_c),   B <- ((1 - eta) B + eta R^T F_f) M_f^-1,
 *   eta = phi (n - y) / n,   n^2 = mean of |s_f - 1|^2,   s_f = R^T F_f B^-1 without its volume.
 *
 * phi is the flowing share of its fine clusters' elastic energy, times 1 - exp(-nu dt), and y their
 * mean yield strain; n is weighted with that energy, too. M = (1 - eta) 1 + eta R^T F is the change
 * of the coarse rest shape, and M_f that of the fine cluster's, if it has levels below it.
 *
 * Under uniform strain this is the law of the fine clusters. Where only a hinge or a dent flows, it
 * contains nearly all the energy and so determines eta; the rotation of parts beyond it is absorbed
 * as well. Nothing is absorbed where nothing flows, however far it is bent, nor below the yield
 * strain: a body at rest keeps the support of its coarse clusters. (Otherwise it sank slowly, since
 * contacts make some cluster flow in every substep.) One eta per link, from its own strain, left
 * dents a fifth shallower under six levels. One eta per coarse cluster keeps the weighted mean of q
 * at 0.
 */
#include "base/eigen.h"
#include "base/elementary.h"
#include "body/rest_moments.h"
#include "dynamics/rotation.h"
#include "dynamics/substep.h"
#include "plasticity/plasticity.h"

static mat3 load33(const float a[9])
{
    return (mat3){{{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}}};
}

static void store33(mat3 a, float out[9])
{
    for (int i = 0; i < 9; ++i)
        out[i] = (float)a.m[i / 3][i % 3];
}

static mat3 rotation_of(const float f[9])
{
    float lanes[72] = {0}, turned[72], out[9];
    for (int i = 0; i < 9; ++i)
        lanes[8 * i] = f[i];
    pl_rotation_repair(lanes, turned, 1);
    for (int i = 0; i < 9; ++i)
        out[i] = turned[8 * i];
    return load33(out);
}

static mat3 blend33(mat3 a, mat3 b, double share)
{
    return m3_add(m3_scale(a, 1 - share), m3_scale(b, share));
}

/* Strain of a fine cluster relative to the coarse rest shape: |s - 1|^2. */
static double strain2(mat3 back, const float f[9], const float b[9])
{
    mat3 map = m3_mul(m3_mul(back, load33(f)), m3_inverse(load33(b)));
    double det = m3_det(map), sum = 0;
    double scale = det > 1e-6 ? 1 / pl_cbrt(det) : 1;
    for (int i = 0; i < 9; ++i)
    {
        double d = map.m[i / 3][i % 3] * scale - (i % 4 ? 0 : 1);
        sum += d * d;
    }
    return sum;
}

/* Returns eta, and sums the energies for the next level. */
static double absorbed_share(const pl_body* body, uint32_t c, mat3 back)
{
    const pl_links* links = &body->links;
    const pl_clusters* k = &body->clusters;
    double energy = 0, flowing = 0, yield = 0, mass = 0, square = 0;
    for (uint32_t i = links->by_coarse_begin[c]; i < links->by_coarse_begin[c + 1]; ++i)
    {
        uint32_t f = links->fine[i];
        double u = links->u[i], um = u * k->mass[f];
        energy += u * k->energy[f][0];
        flowing += u * k->energy[f][1];
        yield += um * k->energy[f][2];
        mass += um;
        square += u * k->energy[f][0] * strain2(back, k->f[f], links->b[i]);
    }
    double n = energy > 0 ? sqrt(square / energy) : 0, y = mass > 0 ? yield / mass : 0;
    k->energy[c][0] = (float)energy;
    k->energy[c][1] = (float)flowing;
    k->energy[c][2] = (float)y;
    return n > y ? flowing / energy * (n - y) / n : 0;
}

static void relax_links(pl_body* body, uint32_t c, bool of_coarse, mat3 back, double eta)
{
    pl_links* links = &body->links;
    const pl_clusters* k = &body->clusters;
    for (uint32_t i = links->by_coarse_begin[c]; i < links->by_coarse_begin[c + 1]; ++i)
    {
        uint32_t f = links->fine[i];
        double apart[3];
        for (int j = 0; j < 3; ++j)
            apart[j] = ((double)k->ref[f][j] - k->ref[c][j]) +
                       ((double)k->sums[f][9 + j] - k->sums[c][9 + j]);
        vec3 here = m3_mulv(back, v3_fromd(apart));
        mat3 map = blend33(load33(links->b[i]), m3_mul(back, load33(k->f[f])), eta);
        if (of_coarse)
            map = m3_mul(map, m3_inverse(load33(k->rest_change[f])));
        v3_store(v3_mad(v3_scale(v3_from(links->q[i]), 1 - eta), here, eta), links->q[i]);
        store33(map, links->b[i]);
    }
}

/* Recomputes A_rr from the links. */
static void reshape(pl_body* body, uint32_t c)
{
    pl_links* links = &body->links;
    pl_clusters* k = &body->clusters;
    double mass = 0, values[3];
    mat3 arr = m3_zero(), vectors;
    for (uint32_t i = links->by_coarse_begin[c]; i < links->by_coarse_begin[c + 1]; ++i)
    {
        uint32_t f = links->fine[i];
        double um = (double)links->u[i] * k->mass[f];
        mat3 b = load33(links->b[i]);
        vec3 q = v3_from(links->q[i]);
        mass += um;
        arr = m3_add(arr, m3_scale(m3_mul(m3_mul(b, pl_load_symmetric(k->arr[f])), m3_transpose(b)),
                                   links->u[i]));
        arr = m3_add(arr, m3_scale(m3_outer(q, q), um));
    }
    pl_jacobi3(arr, values, &vectors);
    pl_set_shape(body, c, arr, mass, values, vectors);
}

static void relax_one(pl_body* body, uint32_t level, uint32_t c)
{
    pl_clusters* k = &body->clusters;
    mat3 f = load33(k->f[c]), back = m3_transpose(rotation_of(k->f[c]));
    double eta = absorbed_share(body, c, back), det = m3_det(f);
    eta = det > .01 && det < 100 ? eta : 0;
    store33(blend33(m3_identity(), m3_mul(back, f), eta), k->rest_change[c]);
    relax_links(body, c, level > 1, back, eta);
    reshape(body, c);
}

/* Whether anything flowed in this substep. */
static bool flowed(const pl_body* body)
{
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        if (body->clusters.energy[c][1] > 0)
            return true;
    return false;
}

static void relax_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->coarse[step->level].items[i];
        for (uint32_t c = item->begin; item->body->relaxing && c < item->end; ++c)
            relax_one(item->body, step->level, c);
    }
}

bool pl_plastic_levels_wanted(const pl_scene* scene)
{
    bool any = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        body->relaxing = body->plastic && body->level_kind == PLIANT_LEVELS_NESTED &&
                         body->level_count > 1 && flowed(body);
        any = any || body->relaxing;
    }
    return any;
}

void pl_plastic_levels(pl_substep* step, uint32_t levels)
{
    pl_scene* scene = step->scene;
    for (step->level = 1; step->level < levels; ++step->level)
        pl_substep_run(step, &scene->coarse[step->level], 1, relax_items);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (scene->bodies[b]->relaxing)
            scene->bodies[b]->links.plain = false;
}
