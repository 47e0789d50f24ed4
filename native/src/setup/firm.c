// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Factors on the stiffness of a level's clusters, for materials in pascals and hertz (material.c).
 *
 * Long clusters. A cluster of shape width S stores E / rho M e^2 / 2 under a strain e along its
 * longest axis only if that axis has a mean square offset of S^2. Where clusters are longer one
 * way than others, and many of them the same way, the body is too stiff along it. The mean over
 * the level of A_rr / (M S^2) has that excess as its largest eigenvalue: 1 for round clusters and
 * for those that point in all directions, 1.36 in a bar of 20 times its thickness, which stretched
 * by .76 of what theory says. Where clusters are nearly as long as the body, their ends, which
 * share fewer members and give way, make up for it: with S / S_body = s the factor is
 * 1 / (1 + (lambda - 1) (1 - 3 s)), and 1 from s = 1/3 on. The same bar then stretches by .95.
 *
 * Loose clusters, of the finest level: coarser ones hold them together. The stiffness assumes that clusters which share members are strained alike. Those
 * that share few, or with small weights, come apart instead. With n the mean of 1 / sum w^2 over
 * the particles (the clusters to which one really belongs) bars stretched by (without this factor):
 *
 *   n                      3.1    2.3    1.96      1.77         1.43          1.21
 *   clusters               usual  poly6  random    2 members    fcm 1.3       fcm 1.05
 *   over theory            .92    .95    1.16      1.15         1.57          4.2
 *   1 + .11 / (n - 1)^2    1.02   1.07   1.12      1.19         1.59          3.5
 *
 * The last line is the factor, at most 4. From 1.5 on it is a guess, and a warning says so.
 */
#include "firm.h"

#include "../base/lapack.h"
#include "../state_shape.h"

#include <math.h>

static const double MOST_FIRM = 4, UNSURE = 1.5;
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
    return fmin(1 + .11 / (more * more), MOST_FIRM);
}

/* The largest eigenvalue of the mean of A_rr / (M S^2), and of S over S_body. */
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
        return 1;
    return values[2];
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
    for (uint32_t l = 0; l < body->level_count; ++l)
    {
        double part, length = lengthiness(body, l, &part), loose = 1;
        if (l == 0 && body->level_begin[1] > 1)
            loose = looseness(sharing(body, particles, lists));
        body->level_firm[l] = loose / (1 + (length - 1) * fmax(0, 1 - 3 * part));
        if (loose > UNSURE && !literal)
            body->warnings |= PLIANT_WARN_LOOSE_CLUSTERS;
    }
    bool follows = body->material.goal == PLIANT_GOAL_QUADRATIC;
    if (!literal && !follows && body->level_begin[1] > 1 && is_thin(body))
        body->warnings |= PLIANT_WARN_STIFF_BENDING;
}
