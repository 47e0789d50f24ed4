// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Clusters fade in and out (Falkenstein 2017, section 3.0.2, "Cluster Removal"): a factor per
 * cluster multiplies its members' kernel values before normalisation, so no membership is
 * rewritten. The weights still change, and with them the masses, rest centres and A_rr of every
 * cluster that shares a particle with a fading one: chunks with such members are updated.
 *
 * Departure: fades last seconds, not timesteps, and advance at their own interval, so that their
 * cost does not depend on the number of substeps.
 */
#include "base/elementary.h"
#include "body/edit/edit.h"
#include "body/rest_moments.h"
#include "body/validity.h"
#include "plasticity/recluster_internal.h"

#include <string.h>

/* The fade changes by factors, not by differences: a member's weight depends on the ratio of its
 * kernel values, which differ by orders of magnitude near a centre. A cluster that goes reaches a
 * thousandth of its weight in the time set. A held one waits: if its other members lost their
 * weight, the remaining ones would not span a shape. */
static float moved_fade(const pl_body* body, uint32_t c, bool held, double seconds, double* haste)
{
    const pliant_material_desc* m = &body->material;
    double fade = body->clusters.fade[c];
    if (body->clusters.fading[c] == PL_COMES)
    {
        double part = m->recluster_fade_in > 0 ? seconds / m->recluster_fade_in : 1;
        return (float)fmin(fade * pl_exp(-part * pl_log(PL_FADE_BEGIN)), 1);
    }
    if (body->clusters.fading[c] != PL_GOES)
        return body->clusters.fade[c];
    double own = pl_fade_haste(body, c);
    *haste = fmax(*haste, own);
    if (held)
        return body->clusters.fade[c];
    double part = m->recluster_fade_out > 0 ? own * seconds / m->recluster_fade_out : 1;
    return (float)fmax(fade * pl_exp(part * pl_log(1e-3)), PL_FADE_END);
}

/* Renormalises the lanes that are in a cluster whose fade changed; the others keep their
 * normaliser. Flags every cluster of these lanes. */
static void renormalise(pl_body* body, const pl_chunk* chunk, const uint8_t* moved,
                        uint8_t* clusters)
{
    const float* fade = body->clusters.fade;
    for (uint32_t b = 0; b < chunk->block_count; ++b)
    {
        float sum[8] = {0}, touched[8] = {0};
        float* norm = body->particles.norm + chunk->slot_begin + 8 * (size_t)b;
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1]; ++e)
        {
            uint32_t c = chunk->rows[chunk->entry_row[e]];
            const float *kernel = chunk->entry_kernel + 8 * (size_t)e, f = fade[c];
            float any = moved[c] ? 1 : 0;
            for (int lane = 0; lane < 8; ++lane)
            {
                sum[lane] += kernel[lane] * f;
                touched[lane] += kernel[lane] * any;
            }
        }
        float any = 0;
        for (int lane = 0; lane < 8; ++lane)
            if (touched[lane] > 0)
            {
                norm[lane] = 1 / sum[lane];
                touched[lane] = any = 1;
            }
        for (uint32_t e = chunk->block_begin[b]; e < chunk->block_begin[b + 1] && any > 0; ++e)
        {
            const float* kernel = chunk->entry_kernel + 8 * (size_t)e;
            float in = 0;
            for (int lane = 0; lane < 8; ++lane)
                in += kernel[lane] * touched[lane];
            clusters[chunk->rows[chunk->entry_row[e]]] |= in > 0;
        }
    }
}

bool pl_fade(pl_body* body, double seconds, const pl_fade_flags* touched, double* haste,
             uint64_t* updates)
{
    pl_clusters* k = &body->clusters;
    bool any = false;
    *haste = 1;
    memset(touched->chunks, 0, body->chunk_count);
    memset(touched->clusters, 0, k->count);
    memset(touched->moved, 0, k->count);
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
    {
        float fade = moved_fade(body, c, touched->held[c], seconds, haste);
        touched->moved[c] = fade != k->fade[c];
        any = any || touched->moved[c];
        k->fade[c] = fade;
        if (k->fading[c] == PL_GOES && fade <= PL_FADE_LEAST)
            k->flow_share[c] = 0; /* like material.c */
        if (k->fading[c] == PL_COMES && fade == 1)
            k->fading[c] = PL_STAYS;
    }
    for (uint32_t i = 0; i < body->chunk_count && any; ++i)
    {
        pl_chunk* chunk = &body->chunks[i];
        for (uint32_t r = 0; r < chunk->row_count; ++r)
            touched->chunks[i] |= touched->moved[chunk->rows[r]];
        if (!touched->chunks[i])
            continue;
        renormalise(body, chunk, touched->moved, touched->clusters);
        pl_chunk_positions_changed(chunk);
        *updates += chunk->member_count;
    }
    if (!any)
        return false;
    pl_weights_changed(body);
    return true;
}

bool pl_fade_widths(pl_body* body, const uint8_t* clusters, uint32_t count)
{
    pl_clusters* k = &body->clusters;
    bool any = false;
    for (uint32_t c = 0; c < count; ++c)
    {
        if (!clusters[c] || k->fading[c] == PL_GOES || !(k->mass[c] > 0))
            continue;
        double moments[6];
        for (int i = 0; i < 6; ++i)
            moments[i] = k->arr[c][i];
        double width = pl_shape_width(moments, k->mass[c]);
        if (fabs(width - k->shape_width[c]) <= .02 * k->shape_width[c] || !(width > 0))
            continue;
        k->shape_width[c] = width;
        any = true;
    }
    return any;
}
