// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Material that means the same everywhere (ALGORITHMS.md has the derivation and measurements).
 *
 * A cluster of weighted RMS radius W_c in a material of Young's modulus E and density rho swings
 * with f_c = sqrt(3 E / rho) / (2 pi W_c); alpha = 2 (1 - cos(2 pi f_c dt)) gives an oscillator
 * that frequency exactly, at any substep. Each level gets its own f from its own W, so any level
 * weights give the same E under uniform strain.
 *
 * Stability: the weighted sum of alpha over the levels must stay below 2. With automatic substeps
 * it is kept at CALM, where 2 pi f dt is 1. Where the substeps are given, what exceeds MOST moves
 * from the finest level to coarser ones, whose alpha is far lower; what even the coarsest cannot
 * carry is cut.
 */
#include "material.h"

#include "../base/elementary.h"

static const double PI = 3.14159265358979323846;
static const double CALM = 0.9193953882637206; /* 2 (1 - cos 1) */
static const double MOST = 1.8;

/* 2 pi f_c of a cluster. */
static double angular_frequency(const pl_body* body, uint32_t c)
{
    const pl_clusters* k = &body->clusters;
    const pliant_material_desc* m = &body->material;
    double width = k->width_rms[c], factor = sqrt(fmax(0, k->stiffness_factor[c]));
    if (!(width > 0))
        return 0;
    if (m->stiffness_kind == PLIANT_STIFFNESS_FREQUENCY)
        return 2 * PI * m->stiffness * factor * body->width / width;
    return sqrt(3 * m->stiffness / k->density[c]) * factor / width;
}

/* The alpha that an oscillator wants; beyond a quarter turn a substep it only says "too much". */
static double alpha_for(double turn)
{
    return turn <= PI / 2 ? 2 * (1 - pl_cos(turn)) : turn * turn;
}

static double largest_frequency(const pl_body* body, uint32_t level)
{
    double largest = 0;
    for (uint32_t c = body->level_begin[level]; c < body->level_begin[level + 1]; ++c)
        largest = fmax(largest, angular_frequency(body, c));
    return largest;
}

uint32_t pl_material_substeps(const pl_body* body, double dt, uint32_t most)
{
    if (body->material.stiffness_kind == PLIANT_STIFFNESS_ALPHA)
        return 1;
    double largest[PLIANT_MAX_LEVELS];
    for (uint32_t l = 0; l < body->level_count; ++l)
        largest[l] = largest_frequency(body, l);
    for (uint32_t n = 1; n < most; ++n)
    {
        double total = 0;
        for (uint32_t l = 0; l < body->level_count; ++l)
            total += body->level_weight[l] * alpha_for(largest[l] * dt / n);
        if (total <= CALM)
            return n;
    }
    return PL_MAX(most, 1u);
}

/* Moves shares of the stiffness to coarser levels until the sum can be carried. Returns the part of
 * the stiffness that is reached. */
static double share_out(pl_body* body, const double wanted[PLIANT_MAX_LEVELS])
{
    double total = 0;
    for (uint32_t l = 0; l < body->level_count; ++l)
    {
        body->level_share[l] = body->level_weight[l];
        total += body->level_share[l] * wanted[l];
    }
    for (uint32_t l = 0; l + 1 < body->level_count && total > MOST; ++l)
    {
        double gain = wanted[l] - wanted[l + 1];
        if (gain <= 0)
            continue;
        double moved = fmin(body->level_share[l], (total - MOST) / gain);
        body->level_share[l] -= moved;
        body->level_share[l + 1] += moved;
        total -= moved * gain;
        body->warnings |= PLIANT_WARN_STIFFNESS_MOVED;
    }
    if (total <= MOST * (1 + 1e-12))
        return 1;
    body->warnings |= PLIANT_WARN_STIFFNESS_CUT;
    return MOST / total;
}

void pl_material_apply(pl_body* body, double dt)
{
    pl_clusters* k = &body->clusters;
    const pliant_material_desc* m = &body->material;
    bool literal = m->stiffness_kind == PLIANT_STIFFNESS_ALPHA;
    double wanted[PLIANT_MAX_LEVELS];
    body->warnings &= ~(uint32_t)(PLIANT_WARN_STIFFNESS_MOVED | PLIANT_WARN_STIFFNESS_CUT);
    for (uint32_t l = 0; l < body->level_count; ++l)
        wanted[l] = literal ? m->stiffness : alpha_for(largest_frequency(body, l) * dt);
    body->stiffness_reached = 1;
    if (literal)
        for (uint32_t l = 0; l < body->level_count; ++l)
            body->level_share[l] = body->level_weight[l];
    else
        body->stiffness_reached = share_out(body, wanted);
    for (uint32_t l = 0; l < body->level_count; ++l)
        for (uint32_t c = body->level_begin[l]; c < body->level_begin[l + 1]; ++c)
        {
            double alpha = literal ? fmin(m->stiffness * fmax(0, k->stiffness_factor[c]), 2)
                                   : alpha_for(angular_frequency(body, c) * dt);
            double damping = m->damping * fmax(0, k->damping_factor[c]) * body->level_damping[l];
            double kappa = m->damping_per_step ? fmin(damping, 1) : 1 - pl_exp(-damping * dt);
            k->alpha[c] = (float)(body->level_share[l] * body->stiffness_reached * alpha);
            k->kappa[c] = (float)(body->level_weight[l] * kappa);
        }
    body->alpha_dt = dt;
}
