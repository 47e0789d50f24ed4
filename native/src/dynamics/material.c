// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Material parameters that do not depend on clusters, levels and substeps.
 *
 * A cluster's energy is (2 pi f_c)^2 / 2 times the mass-weighted sum of its members' squared
 * distances from their goals. Under uniform strain e along a principal axis in which its members'
 * mean square offset is a_k, that is M (2 pi f_c)^2 a_k e^2 / 2. So Young's modulus E and density
 * rho require (2 pi f_c)^2 = E / (rho a_k). Each level with f from its own clusters has the same E,
 * independently of the levels' weights.
 *
 * One alpha per cluster allows only one a_k. The mean, W_c^2 / 3 with W_c the RMS radius, is right
 * for round clusters; but a cluster as long as a slender body would be three times too stiff along
 * it, where such a body is strained most. Here each axis counts by its own length,
 *
 *   S_c^2 = (a_1^2 + a_2^2 + a_3^2) / (a_1 + a_2 + a_3) = tr(A_rr^2) / (M tr A_rr),
 *
 * which is the same for round clusters and nearly the largest a_k for long and flat ones. Measured
 * on a hanging bar, over rho g L^2 / (2 E): 200 clusters 1.03 (RMS radius: 1.03), four nested
 * levels of equal weight .97 (.72); a bar a tenth as thick as long in 10 clusters .88 (.49).
 *
 * From f to alpha. An oscillator has the frequency f exactly with alpha = 2 (1 - cos(2 pi f dt)),
 * but a cluster in a body is a spring, not an oscillator: the body oscillates, slower by S_c /
 * S_body, and at that frequency the clusters' stiffness is (2 pi f_c)^2. Softening each cluster by
 * its own cosine made the bar stretch by 1.10, 1.05, 1.04 at 1, 2, 4 substeps. So the cosine is
 * that of the body:
 *
 *   alpha_c = (S_body / S_c)^2 2 (1 - cos(2 pi f_c S_c / S_body dt)),
 *
 * which is the same where the body is one cluster, and gives 1.04 at every number of substeps.
 *
 * Goals with beta. Linear and quadratic goals follow a share beta of volume-preserving strain. For
 * a strain e the remaining energy is (1 - beta) e : e + beta (tr e)^2 / 3: a material of Poisson's
 * ratio beta / (3 - beta) and 3 (1 - beta) / (3 - beta) of the modulus. With q the inverse of that
 * factor, linear goals have q times the alpha, which restores E. (Without it, bars with LINEAR .3,
 * .5, .9 stretched 1.42, 1.81 and 7.0 times as far.) Non-affine deformation is then q times as
 * stiff, so they bend less than rigid goals. Quadratic goals are meant to bend: match pulls toward
 * F + q (T - F) instead, and non-affine deformation is resisted as with rigid goals. With the same
 * rule for linear goals two stacked boxes shook at 2 mm/s forever. A change of volume is q times as
 * stiff with both, so the substep must be stable for q alpha.
 *
 * Each level has a factor for the shapes and the overlap of its clusters (body/level_firmness.c).
 *
 * Damping. Most of it is mass-proportional, in the frame of the body's rigid motion (damping.c):
 * every mode decays at the same rate. In addition each cluster damps its members' velocities
 * relative to its rigid motion. That is stiffness-proportional: it damps modes that contacts
 * excite, and spreads plastic flow. Clusters with s = S_c / S_body have
 *
 *   kappa_c = LOCAL (1 / s^2 - 1) (1 - exp(-rate dt)),
 *
 * which adds a share LOCAL to the rate of the slowest stretching mode and less to bending and
 * twisting; the mass-proportional part is 1 - LOCAL (1 - s^2) / 2 of the rate, so that all rates
 * are close to the setting. Their sum is at most 1. The papers' k_d (damping_per_step) is cluster
 * damping only.
 *
 * Stability: the weighted sum of alpha over the levels must stay below 2. Automatic substeps keep
 * it at CALM, where 2 pi f dt is 1. With a given number of substeps, the excess over MOST moves
 * from the finest level to coarser ones, whose alpha is far lower; what still exceeds it is cut
 * from the clusters that are over the limit.
 */
#include "dynamics/material.h"

#include "base/elementary.h"
#include "body/rest_moments.h"
#include "body/validity.h"

static const double PI = 3.14159265358979323846;
static const double CALM = 1;
static const double MOST = 1.8;
static const double LOCAL = .18;

/* Largest stable sum of alpha. Modes of low stiffness need CALM: an undamped curved sheet that
 * bends freely gained energy at 1.8, and not at 1. */
static double most_of(const pliant_material_desc* m)
{
    return m->goal == PLIANT_GOAL_QUADRATIC ? CALM : MOST;
}

/* A cluster's 2 pi f_c, and S_c / S_body: the body's frequency over the cluster's. */
typedef struct swing
{
    double frequency, part;
} swing;

double pl_material_goal_firmness(const pliant_material_desc* m)
{
    return m->goal == PLIANT_GOAL_QUADRATIC ? pl_material_firmness(m) : 1;
}

static swing swing_of(const pl_body* body, uint32_t level, uint32_t c, double body_width)
{
    const pl_clusters* k = &body->clusters;
    const pliant_material_desc* m = &body->material;
    double width = k->shape_width[c];
    double factor = sqrt(fmax(0, k->stiffness_factor[c]) * body->level_firm[level]);
    if (!(width > 0) || !(body_width > 0))
        return (swing){0, 1};
    double speed = m->stiffness_kind == PLIANT_STIFFNESS_FREQUENCY
                       ? 2 * PI * m->stiffness * body_width
                       : sqrt(m->stiffness / k->density[c]);
    return (swing){speed * factor / width, fmin(width / body_width, 1)};
}

/* The alpha of a cluster. Where the phase of the body exceeds a quarter period in a substep, it is
 * only an upper estimate, to be cut. */
static double alpha_for(swing s, double dt)
{
    double turn = s.frequency * dt, whole = turn * s.part;
    return whole <= PI / 2 ? 2 * (1 - pl_cos(whole)) / (s.part * s.part) : turn * turn;
}

static swing fastest(const pl_body* body, uint32_t level, double body_width)
{
    swing found = {0, 1};
    for (uint32_t c = body->level_begin[level]; c < body->level_begin[level + 1]; ++c)
    {
        swing s = swing_of(body, level, c, body_width);
        found = s.frequency > found.frequency ? s : found;
    }
    return found;
}

uint32_t pl_material_substeps(const pl_body* body, double dt, uint32_t most)
{
    if (body->material.stiffness_kind == PLIANT_STIFFNESS_ALPHA)
        return 1;
    swing largest[PLIANT_MAX_LEVELS];
    double width = body->shape_width, firmness = pl_material_firmness(&body->material);
    for (uint32_t l = 0; l < body->level_count; ++l)
        largest[l] = fastest(body, l, width);
    for (uint32_t n = 1; n < most; ++n)
    {
        double total = 0;
        for (uint32_t l = 0; l < body->level_count; ++l)
            total += body->level_weight[l] * alpha_for(largest[l], dt / n);
        if (total * firmness <= CALM)
            return n;
    }
    return PL_MAX(most, 1u);
}

/* Moves shares of the stiffness to coarser levels until the sum is stable. "limit" becomes the
 * largest alpha of a cluster by level; it binds only if coarser levels cannot take all. */
static void share_out(pl_body* body, const double wanted[PLIANT_MAX_LEVELS],
                      double limit[PLIANT_MAX_LEVELS])
{
    double total = 0, most = most_of(&body->material);
    for (uint32_t l = 0; l < body->level_count; ++l)
    {
        body->level_share[l] = body->level_weight[l];
        total += body->level_share[l] * wanted[l];
    }
    for (uint32_t l = 0; l + 1 < body->level_count && total > most; ++l)
    {
        double gain = wanted[l] - wanted[l + 1];
        if (gain <= 0)
            continue;
        double moved = fmin(body->level_share[l], (total - most) / gain);
        body->level_share[l] -= moved;
        body->level_share[l + 1] += moved;
        total -= moved * gain;
        body->warnings |= PLIANT_WARN_STIFFNESS_MOVED;
    }
    bool too_much = total > most * (1 + 1e-12);
    if (too_much)
        body->warnings |= PLIANT_WARN_STIFFNESS_CUT;
    for (uint32_t l = 0; l < body->level_count; ++l)
        limit[l] = too_much ? body->level_share[l] * wanted[l] * most / total : most;
}

/* Alphas from the material's stiffness. Only clusters over the limit are cut, so that a few small
 * ones do not soften the whole body. */
static void stiffen(pl_body* body, double dt)
{
    pl_clusters* k = &body->clusters;
    double wanted[PLIANT_MAX_LEVELS], limit[PLIANT_MAX_LEVELS], width = body->shape_width;
    double reached = 0, mass = 0, firmness = pl_material_firmness(&body->material);
    double of_goals = pl_material_goal_firmness(&body->material);
    for (uint32_t l = 0; l < body->level_count; ++l)
        wanted[l] = firmness * alpha_for(fastest(body, l, width), dt);
    share_out(body, wanted, limit);
    for (uint32_t l = 0; l < body->level_count; ++l)
        for (uint32_t c = body->level_begin[l]; c < body->level_begin[l + 1]; ++c)
        {
            double whole = firmness * alpha_for(swing_of(body, l, c, width), dt);
            double alpha = fmin(body->level_share[l] * whole, limit[l]);
            k->alpha[c] = (float)(alpha / of_goals);
            reached += k->mass[c] * (whole > 0 ? alpha / whole : body->level_share[l]);
            mass += k->mass[c] * body->level_share[l];
        }
    body->stiffness_reached = mass > 0 ? reached / mass : 1;
}

double pl_material_softness(const pl_body* body, uint32_t c, double dt)
{
    if (!(body->warnings & PLIANT_WARN_STIFFNESS_CUT))
        return 1;
    const pliant_material_desc* m = &body->material;
    double firmness = pl_material_firmness(m) / pl_material_goal_firmness(m);
    double whole = firmness * alpha_for(swing_of(body, 0, c, body->shape_width), dt);
    double wanted = body->level_share[0] * whole, alpha = body->clusters.alpha[c];
    return alpha > 0 && wanted > alpha ? wanted / alpha : 1;
}

/* The papers' alpha, unchanged. */
static void stiffen_literally(pl_body* body)
{
    pl_clusters* k = &body->clusters;
    body->stiffness_reached = 1;
    for (uint32_t l = 0; l < body->level_count; ++l)
    {
        body->level_share[l] = body->level_weight[l];
        for (uint32_t c = body->level_begin[l]; c < body->level_begin[l + 1]; ++c)
            k->alpha[c] =
                (float)(body->level_share[l] *
                        fmin(body->material.stiffness * fmax(0, k->stiffness_factor[c]), 2));
    }
}

static void dampen(pl_body* body, double dt)
{
    pl_clusters* k = &body->clusters;
    const pliant_material_desc* m = &body->material;
    double width = body->shape_width, whole = 0;
    for (uint32_t l = 0; l < body->level_count; ++l)
        whole += body->level_weight[l] * body->level_damping[l];
    for (uint32_t l = 0; l < body->level_count; ++l)
        for (uint32_t c = body->level_begin[l]; c < body->level_begin[l + 1]; ++c)
        {
            double rate = m->damping * fmax(0, k->damping_factor[c]);
            double part = swing_of(body, l, c, width).part, most = 1;
            double kappa = rate * body->level_damping[l];
            k->kappa_body[c] = 0;
            if (!m->damping_per_step)
            {
                kappa = LOCAL * (1 - pl_exp(-kappa * dt)) * (1 / (part * part) - 1);
                most = pl_exp(-(1 - .5 * LOCAL * (1 - part * part)) * rate * whole * dt);
                k->kappa_body[c] = (float)(1 - most);
            }
            k->kappa[c] = (float)(body->level_weight[l] * fmin(kappa, most));
        }
}

/* What share of the strain over the yield strain flows in a substep (plastic.h). */
static void soften(pl_body* body, double dt)
{
    pl_clusters* k = &body->clusters;
    const pliant_material_desc* m = &body->material;
    for (uint32_t c = 0; c < k->count; ++c)
    {
        double flow = m->flow * fmax(0, k->flow_factor[c]);
        if (k->fading[c] == PL_GOES && k->fade[c] <= PL_FADE_LEAST)
            flow = 0; /* one member may have most of its weight: its F is ill-conditioned */
        k->flow_share[c] = (float)(m->flow_per_step ? fmin(flow, 1) : 1 - pl_exp(-flow * dt));
    }
}

void pl_material_apply(pl_body* body, double dt)
{
    body->warnings &= ~(uint32_t)(PLIANT_WARN_STIFFNESS_MOVED | PLIANT_WARN_STIFFNESS_CUT);
    if (body->material.stiffness_kind == PLIANT_STIFFNESS_ALPHA)
        stiffen_literally(body);
    else
        stiffen(body, dt);
    dampen(body, dt);
    soften(body, dt);
    pl_material_made(body, dt);
}
