// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Factors on the stiffness of a level's clusters, for materials in pascals and hertz (material.c).
 *
 * Long clusters. A cluster of shape width S stores E / rho M e^2 / 2 under a strain e along its
 * longest axis only if that axis has a mean square offset of S^2. Where clusters are longer one
 * way than others, and many of them the same way, the body is too stiff along it. The mean over
 * the level of A_rr / (M S^2) has that excess as its largest eigenvalue: 1 for round clusters and
 * for those that point in all directions, 1.36 in a bar of 20 times its thickness, which stretched
 * by .77 of what theory says. Where clusters are nearly as long as the body, their ends, which
 * share fewer members and give way, make up for it: with S / S_body = s the factor is
 * 1 / (1 + 1.3 (lambda - 1.13) (1 - 3 s)), and 1 from s = 1/3 on and for lambda below 1.13, which
 * round clusters reach by chance. The same bar then stretches by .94.
 *
 * Loose clusters, of the finest level: coarser ones hold them together. The stiffness assumes that
 * clusters which share members are strained alike. Those that share few, or with small weights,
 * come apart instead. With n the mean of 1 / sum w^2 over
 * the particles (the clusters to which one really belongs) bars stretched by (without this factor):
 *
 *   n                      3.1    2.3    1.96      1.77         1.43          1.21
 *   clusters               usual  poly6  random    2 members    fcm 1.3       fcm 1.05
 *   over theory            .92    .95    1.16      1.15         1.57          4.2
 *   1 + .11 / (n - 1)^2    1.02   1.07   1.12      1.19         1.59          3.5
 *
 * The last line is the factor from 1.09 to 4, of which a warning says that it is a guess. What is
 * below that is no more than the clusters' scatter, and left alone.
 */
#include "body/level_firmness.h"

#include "base/lapack.h"
#include "body/rest_moments.h"

#include <math.h>

static const double MOST_FIRM = 4, ROUND = 1.13;
/* Where bars did not stretch within 15 % of theory: a factor over this, fewer clusters than this,
 * or fewer than that which share much. */
static const double UNSURE = 1.09, MOST_SHARED = 4;
static const uint32_t FEW = 20, MANY = 100;
/* Bars of 3 to 20 times their thickness sagged by .87 and more of theory with 1.7 and by .79 and
 * less with 1.4 of thickness(). */
static const double THICK = 1.75;
/* Clusters of which the shortest mean square offset is below this share of the longest are thin:
 * rigid and linear goals bend at most half as far as they should. */
static const double THIN = .45;
/* From this share of the mass on it shows. */
static const double THIN_SHARE = .25;

/* The mean over particles of 1 / sum w^2 over the finest clusters. */
static double sharing(const pl_body* body, uint32_t particles, const pl_by_particle* lists)
{
    double total = 0;
    for (uint32_t i = 0; i < particles; ++i)
    {
        double square = 0;
        for (uint32_t at = lists->begin[i]; at < lists->begin[i + 1]; ++at)
            if (lists->cluster[at] < body->level_begin[1])
                square += (double)lists->kernel[at] * lists->kernel[at];
        total += square > 0 ? 1 / square : 1;
    }
    return particles ? total / particles : 1;
}

static double looseness(double shared)
{
    double more = fmax(shared - 1, 1e-3);
    double firm = 1 + .11 / (more * more);
    return firm > UNSURE ? fmin(firm, MOST_FIRM) : 1;
}

/* 1.3 (lambda - ROUND), lambda the largest eigenvalue of the mean of A_rr / (M S^2); and the mean
 * of S over S_body. */
static double lengthiness(const pl_body* body, uint32_t level, double* part)
{
    const pl_clusters* k = &body->clusters;
    mat3 sum = m3_zero(), vectors;
    double mass = 0, widths = 0, values[3];
    for (uint32_t c = body->level_begin[level]; c < body->level_begin[level + 1]; ++c)
    {
        double width = k->shape_width[c];
        if (!(width > 0))
            continue;
        sum = m3_add(sum, m3_scale(pl_load_symmetric(k->arr[c]), 1 / (width * width)));
        mass += k->mass[c];
        widths += k->mass[c] * width;
    }
    *part = mass > 0 && body->shape_width > 0 ? widths / mass / body->shape_width : 1;
    if (!(mass > 0) || !pl_eigen3(m3_scale(sum, 1 / mass), values, &vectors))
        return 0;
    return 1.3 * fmax(values[2] - ROUND, 0);
}

/* How thick the body is where it is thinnest, over its clusters: both RMS. */
static double thickness(const pl_body* body)
{
    const pl_clusters* k = &body->clusters;
    double mass = 0, width = 0, values[3];
    vec3 centre = v3(0, 0, 0);
    mat3 second = m3_zero(), axes;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        mass += k->mass[c], centre = v3_mad(centre, v3_from(k->rest[c]), k->mass[c]);
    for (uint32_t c = 0; c < body->level_begin[1] && mass > 0; ++c)
    {
        vec3 arm = v3_mad(v3_from(k->rest[c]), centre, -1 / mass);
        second = m3_add(second, m3_scale(m3_outer(arm, arm), k->mass[c]));
        second = m3_add(second, pl_load_symmetric(k->arr[c]));
    }
    for (uint32_t l = 0; l < body->level_count; ++l)
        for (uint32_t c = body->level_begin[l]; c < body->level_begin[l + 1]; ++c)
            width += body->level_weight[l] * k->mass[c] * k->shape_width[c];
    if (!(width > 0) || !pl_eigen3(m3_scale(second, 1 / mass), values, &axes))
        return INFINITY;
    return sqrt(fmax(values[0], 0)) * mass / width;
}

/* Whether much of the body is thinner than its clusters are long. */
static bool is_thin(const pl_body* body)
{
    const pl_clusters* k = &body->clusters;
    double thin = 0, mass = 0, values[3];
    mat3 vectors;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        mass += k->mass[c];
        if (pl_eigen3(pl_load_symmetric(k->arr[c]), values, &vectors) &&
            values[0] < THIN * values[2])
            thin += k->mass[c];
    }
    return thin > THIN_SHARE * mass;
}

void pl_firm_levels(pl_body* body, uint32_t particles, const pl_by_particle* lists)
{
    bool literal = body->material.stiffness_kind == PLIANT_STIFFNESS_ALPHA;
    uint32_t count = body->level_begin[1];
    double shared = sharing(body, particles, lists);
    double loose = count > 1 ? looseness(shared) : 1;
    for (uint32_t l = 0; l < body->level_count; ++l)
    {
        double part, length = lengthiness(body, l, &part);
        body->level_firm[l] = (l ? 1 : loose) / (1 + length * fmax(0, 1 - 3 * part));
    }
    if (literal || count < 2)
        return;
    bool pascals = body->material.stiffness_kind == PLIANT_STIFFNESS_YOUNG;
    bool few = count < FEW || (shared > MOST_SHARED && count < MANY);
    if (loose > UNSURE || (pascals && few))
        body->warnings |= PLIANT_WARN_LOOSE_CLUSTERS;
    bool follows = body->material.goal == PLIANT_GOAL_QUADRATIC;
    double thick = THICK * sqrt(pl_material_firmness(&body->material));
    if (!follows && (is_thin(body) || thickness(body) < thick))
        body->warnings |= PLIANT_WARN_STIFF_BENDING;
}
