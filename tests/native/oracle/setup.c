// SPDX-License-Identifier: GPL-3.0-or-later
/* The oracle's set-up: from plain arrays to levels of clusters, all rest quantities computed again
 * in double from positions, masses, memberships and offsets. */
#include "base/lapack.h"
#include "native/oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

/* Directions with less than this part of the largest extent squared count as missing. */
#define MISSING_BELOW 2e-2
/* The same for modes of quadratic goals. */
#define MODE_BELOW 1e-3

static void* allocate(size_t count, size_t size)
{
    void* block = calloc(count ? count : 1, size);
    if (!block)
        abort();
    return block;
}

#define NEW(type, count) ((type*)allocate((count), sizeof(type)))

static vec3* copy_vectors(uint32_t count, const double (*from)[3])
{
    vec3* to = NEW(vec3, count);
    if (from)
        memcpy(to, from, count * sizeof *to);
    return to;
}

/* Each member's weights, over the clusters of the level, sum to 1. */
static void normalise_weights(reference_level* level, uint32_t members)
{
    double* sum = NEW(double, members);
    for (uint32_t k = 0; k < level->begin[level->clusters]; ++k)
        sum[level->member[k].index] += level->member[k].weight;
    for (uint32_t k = 0; k < level->begin[level->clusters]; ++k)
        level->member[k].weight /= sum[level->member[k].index];
    free(sum);
}

static double member_mass(const reference* o, const reference_level* level,
                          const reference_member* member)
{
    uint32_t i = member->index;
    return member->weight * (level->nested ? (level - 1)->cluster[i].mass : o->mass[i]);
}

static vec3 member_rest(const reference* o, const reference_level* level,
                        const reference_member* member)
{
    return level->nested ? (level - 1)->cluster[member->index].rest : o->rest[member->index];
}

void reference_invert(reference_cluster* cluster)
{
    mat3 u, v;
    double sigma[3];
    reference_svd(cluster->arr, &u, sigma, &v);
    for (int k = 0; k < 3; ++k)
    {
        vec3 axis = v3(v.m[0][k], v.m[1][k], v.m[2][k]);
        mat3 along = m3_outer(axis, axis);
        bool missing = !(sigma[k] > MISSING_BELOW * sigma[0]);
        cluster->flat |= missing;
        if (missing)
            cluster->missing = m3_add(cluster->missing, along);
        else
            cluster->arr_inverse = m3_add(cluster->arr_inverse, m3_scale(along, 1 / sigma[k]));
    }
}

/* Mass, rest centre, centred offsets, A_rr, widths, factors. "offset" tells whether offsets were
 * given; otherwise they follow from the rest positions. */
static void prepare_cluster(const reference* o, reference_level* level, uint32_t c, bool offsets,
                            const reference_desc* desc)
{
    reference_cluster* cluster = &level->cluster[c];
    uint32_t begin = level->begin[c], end = level->begin[c + 1];
    vec3 rest = v3(0, 0, 0), mean = rest;
    double factor[3] = {0};
    for (uint32_t k = begin; k < end; ++k)
    {
        reference_member* member = &level->member[k];
        double m = member_mass(o, level, member);
        cluster->mass += m;
        rest = v3_mad(rest, member_rest(o, level, member), m);
        if (!offsets)
            member->p = member_rest(o, level, member);
        mean = v3_mad(mean, member->p, m);
        uint32_t i = member->index;
        const reference_cluster* fine = level->nested ? &(level - 1)->cluster[i] : NULL;
        const double* given[3] = {desc->stiffness_factor, desc->damping_factor, desc->limit_factor};
        double inherited[3] = {fine ? fine->stiffness_factor : 1, fine ? fine->damping_factor : 1,
                               fine ? fine->limit_factor : 1};
        for (int j = 0; j < 3; ++j)
            factor[j] += m * (fine || !given[j] ? inherited[j] : given[j][i]);
    }
    cluster->rest = v3_scale(rest, 1 / cluster->mass);
    cluster->stiffness_factor = factor[0] / cluster->mass;
    cluster->damping_factor = factor[1] / cluster->mass;
    cluster->limit_factor = factor[2] / cluster->mass;
    mean = v3_scale(mean, 1 / cluster->mass);
    for (uint32_t k = begin; k < end; ++k)
    {
        reference_member* member = &level->member[k];
        double m = member_mass(o, level, member);
        member->p = v3_sub(member->p, mean);
        cluster->arr = m3_add(cluster->arr, m3_outer(v3_scale(member->p, m), member->p));
        if (level->nested)
            cluster->arr = m3_add(
                cluster->arr, m3_scale((level - 1)->cluster[member->index].arr, member->weight));
        cluster->width_max = fmax(cluster->width_max, v3_length(member->p));
    }
    cluster->width_rms = sqrt(m3_trace(cluster->arr) / cluster->mass);
    reference_invert(cluster);
}

/* The 6x6 system of the quadratic fit: means first, then what is linear in p, then the rest. Modes
 * are missing below that share of a mode as large as the cluster (the seventh diagonal entry). */
static void prepare_quadratic(const reference* o, reference_level* level, uint32_t c)
{
    reference_cluster* cluster = &level->cluster[c];
    reference_quadratic* quad = &level->quadratic[c];
    double matrix[49] = {[48] = cluster->mass}, inverse[49];
    for (int pass = 0; pass < 3; ++pass)
    {
        double mean[6] = {0};
        vec3 slope[6] = {{0}};
        for (uint32_t k = level->begin[c]; k < level->begin[c + 1]; ++k)
        {
            double m = member_mass(o, level, &level->member[k]), q[6];
            vec3 p = level->member[k].p;
            reference_monomials(p, cluster->width_rms, quad, q);
            for (int j = 0; j < 36 && pass == 2; ++j)
                matrix[j / 6 * 7 + j % 6] += m * q[j / 6] * q[j % 6];
            for (int j = 0; j < 6 && pass == 2; ++j)
            {
                quad->arq[0][j] += m * p.x * q[j];
                quad->arq[1][j] += m * p.y * q[j];
                quad->arq[2][j] += m * p.z * q[j];
            }
            for (int j = 0; j < 6; ++j)
            {
                mean[j] += m * q[j] / cluster->mass;
                slope[j] = v3_mad(slope[j], p, m * q[j]);
            }
        }
        for (int j = 0; j < 6; ++j)
        {
            vec3 s = v3_scale(m3_mulv(cluster->arr_inverse, slope[j]), cluster->width_rms);
            double linear[3] = {s.x, s.y, s.z};
            quad->mean[j] += pass == 0 ? mean[j] : 0;
            for (int i = 0; i < 3 && pass == 1; ++i)
                quad->slope[j][i] = linear[i];
        }
    }
    if (pl_pseudo_inverse(7, matrix, MODE_BELOW, inverse) < 0)
        abort();
    for (int j = 0; j < 36; ++j)
        quad->inverse[j] = inverse[j / 6 * 7 + j % 6];
    double modes[36];
    for (int j = 0; j < 36; ++j)
        modes[j] = matrix[j / 6 * 7 + j % 6] / cluster->mass;
    reference_bend(o, level, c, modes, MODE_BELOW);
}

static void prepare_level(reference* o, uint32_t l, const reference_desc* desc)
{
    const reference_level_desc* from = &desc->level[l];
    reference_level* level = &o->level[l];
    uint32_t pairs = from->begin[from->clusters];
    level->nested = from->nested && l > 0;
    level->clusters = from->clusters;
    level->level_weight = from->level_weight;
    level->level_damping = from->level_damping;
    level->begin = NEW(uint32_t, from->clusters + 1);
    level->member = NEW(reference_member, pairs);
    level->cluster = NEW(reference_cluster, from->clusters);
    for (uint32_t c = 0; c < from->clusters; ++c)
    {
        reference_cluster* cluster = &level->cluster[c];
        cluster->fp = m3_identity();
        for (int j = 0; j < 9 && l == 0 && desc->plastic; ++j)
            cluster->fp.m[j / 3][j % 3] = desc->plastic[c][j];
        cluster->fp_inverse = m3_inverse(cluster->fp);
        cluster->plastic_strain = l == 0 && desc->plastic ? desc->plastic[c][9] : 0;
    }
    memcpy(level->begin, from->begin, (from->clusters + 1) * sizeof *level->begin);
    for (uint32_t k = 0; k < pairs; ++k)
    {
        level->member[k].index = from->member[k];
        level->member[k].weight = from->weight[k];
        if (from->offset)
            level->member[k].p = v3_fromd(from->offset[k]);
    }
    normalise_weights(level, level->nested ? o->level[l - 1].clusters : o->particles);
    if (o->settings.material.goal == PLIANT_GOAL_QUADRATIC && !level->nested)
        level->quadratic = NEW(reference_quadratic, level->clusters);
    for (uint32_t c = 0; c < level->clusters; ++c)
    {
        prepare_cluster(o, level, c, from->offset != NULL, desc);
        if (level->quadratic)
            prepare_quadratic(o, level, c);
    }
}

void reference_prepare(reference* o, reference_level* level)
{
    static const reference_desc plain;
    normalise_weights(level, o->particles);
    for (uint32_t c = 0; c < level->clusters; ++c)
    {
        reference_cluster* cluster = &level->cluster[c];
        cluster->mass = cluster->width_max = 0;
        cluster->arr = cluster->arr_inverse = cluster->missing = m3_zero();
        cluster->flat = false;
        prepare_cluster(o, level, c, true, &plain);
    }
}

/* S, the width that stiffness goes by: S^2 is the mean of a_1, a_2, a_3, the mean square offsets
 * along the principal axes, each counted by itself. */
static double shape_width(mat3 scatter, double mass)
{
    double trace = m3_trace(scatter);
    return trace > 0 ? sqrt(m3_trace(m3_mul(scatter, scatter)) / trace / mass) : 0;
}

/* That of the whole body at rest. */
static double body_width(const reference* o)
{
    double mass = 0;
    vec3 centre = v3(0, 0, 0);
    mat3 scatter = {{{0}}};
    for (uint32_t i = 0; i < o->particles; ++i)
    {
        mass += o->mass[i];
        centre = v3_mad(centre, o->rest[i], o->mass[i]);
    }
    centre = v3_scale(centre, 1 / mass);
    for (uint32_t i = 0; i < o->particles; ++i)
    {
        vec3 p = v3_sub(o->rest[i], centre);
        scatter = m3_add(scatter, m3_outer(v3_scale(p, o->mass[i]), p));
    }
    return shape_width(scatter, mass);
}

/* Room for the corrections of the largest cluster. */
static vec3* make_scratch(const reference_level* finest)
{
    uint32_t largest = 0;
    for (uint32_t c = 0; c < finest->clusters; ++c)
    {
        uint32_t members = finest->begin[c + 1] - finest->begin[c];
        largest = members > largest ? members : largest;
    }
    return NEW(vec3, largest);
}

reference* reference_create(const reference_desc* desc, const reference_settings* settings)
{
    reference* o = NEW(reference, 1);
    o->settings = *settings;
    o->particles = desc->particles;
    o->rest = copy_vectors(desc->particles, desc->rest);
    o->x = copy_vectors(desc->particles, desc->position ? desc->position : desc->rest);
    o->v = copy_vectors(desc->particles, desc->velocity);
    o->mass = NEW(double, desc->particles);
    memcpy(o->mass, desc->mass, desc->particles * sizeof *o->mass);
    o->acceleration = NEW(vec3, desc->particles);
    o->touch = NEW(uint8_t, desc->particles);
    o->old = NEW(vec3, desc->particles);
    o->change = NEW(vec3, desc->particles);
    o->width = body_width(o);
    o->thickness = desc->thickness;
    o->levels = desc->levels;
    for (uint32_t l = 0; l < desc->levels; ++l)
        prepare_level(o, l, desc);
    o->scratch = make_scratch(&o->level[0]);
    o->matched = true;
    return o;
}

double reference_part(const reference* o, const reference_cluster* cluster)
{
    double width = shape_width(cluster->arr, cluster->mass);
    return width > 0 ? fmin(width / o->width, 1) : 1;
}

/* Material that does not change with the substep, the clusters or the particles; see ALGORITHMS,
 * "Material that means the same everywhere", and material.c for what the widths are. */
void reference_set_stiffness(reference* o, double dt)
{
    const pliant_material_desc* material = &o->settings.material;
    for (uint32_t l = 0; l < o->levels; ++l)
    {
        double firm = reference_firm(o, l);
        for (uint32_t c = 0; c < o->level[l].clusters; ++c)
        {
            reference_level* level = &o->level[l];
            reference_cluster* cluster = &level->cluster[c];
            double width = shape_width(cluster->arr, cluster->mass);
            double part = reference_part(o, cluster);
            double alpha = fmin(material->stiffness * cluster->stiffness_factor, 2);
            if (material->stiffness_kind != PLIANT_STIFFNESS_ALPHA)
            {
                double phase =
                    2 * 3.14159265358979323846 * material->stiffness * dt; /* 2 pi f dt */
                if (material->stiffness_kind == PLIANT_STIFFNESS_YOUNG)
                    phase = sqrt(material->stiffness / material->density) / o->width * dt;
                phase *= sqrt(cluster->stiffness_factor * firm);
                alpha =
                    width > 0 ? 2 * (1 - cos(fmin(phase, 1.5707963267948966))) / (part * part) : 0;
            }
            if (material->goal != PLIANT_GOAL_QUADRATIC)
                alpha *= reference_firmness(material);
            cluster->alpha = alpha * level->level_weight;
            double rate = material->damping * cluster->damping_factor, most = 1;
            double kappa = rate * level->level_damping;
            if (!material->damping_per_step)
            {
                kappa = -.18 * expm1(-kappa * dt) * (1 / (part * part) - 1);
                most = 1 - reference_body_kappa(o, cluster, dt);
            }
            cluster->kappa = level->level_weight * fmin(kappa, most);
        }
    }
    o->alpha_dt = dt;
}

void reference_free(reference* o)
{
    if (!o)
        return;
    for (uint32_t l = 0; l < o->levels; ++l)
    {
        free(o->level[l].begin);
        free(o->level[l].member);
        free(o->level[l].cluster);
        free(o->level[l].quadratic);
    }
    void* blocks[] = {o->x,   o->v,      o->rest,    o->mass, o->acceleration,
                      o->old, o->change, o->scratch, o->touch};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i)
        free(blocks[i]);
    free(o);
}

reference_measure reference_measure_now(const reference* o)
{
    reference_measure sum = {0};
    for (uint32_t i = 0; i < o->particles; ++i)
    {
        double m = o->mass[i], speed = v3_length(o->v[i]);
        sum.mass += m;
        sum.centre = v3_mad(sum.centre, o->x[i], m);
        sum.momentum = v3_mad(sum.momentum, o->v[i], m);
        sum.angular_momentum = v3_mad(sum.angular_momentum, v3_cross(o->x[i], o->v[i]), m);
        sum.kinetic += 0.5 * m * speed * speed;
        sum.momentum_scale += m * speed;
        sum.angular_scale += m * speed * v3_length(o->x[i]);
    }
    sum.centre = v3_scale(sum.centre, 1 / sum.mass);
    return sum;
}
