// SPDX-License-Identifier: GPL-3.0-or-later
/* Reading the half-spaces that bound the collision proxies of the finest clusters. */
#include "api/api.h"
#include "body/rest_sdf.h"
#include "collision/broadphase/proxy.h"

#include <string.h>

#define MOST_PLANES 6

static void copy_planes(const pl_body* body, const pl_proxies* proxies, const double to[3],
                        float* out)
{
    vec3 shift = v3_sub(v3_fromd(to), v3_fromd(body->rest_origin));
    for (uint32_t c = 0; c < proxies->count; ++c)
    {
        uint32_t begin = proxies->plane_begin[c], end = proxies->plane_begin[c + 1];
        for (uint32_t i = begin; i < end && i < begin + MOST_PLANES; ++i)
        {
            float* plane = out + 4 * (MOST_PLANES * (size_t)c + (i - begin));
            memcpy(plane, proxies->plane[i], sizeof proxies->plane[i]);
            plane[3] = (float)(plane[3] + v3_dot(v3_from(plane), shift));
        }
    }
}

/* Copies cuts first: where there is no room for all planes, cuts have priority. */
static void copy_cuts(const pl_body* body, const double to[3], float* out)
{
    const pl_cuts* cuts = &body->cuts;
    vec3 shift = v3_sub(v3_fromd(to), v3_fromd(body->rest_origin));
    for (uint32_t c = 0; c < body->level_begin[1] && cuts->plane_count && body->valid.cuts; ++c)
    {
        float* planes = out + 4 * MOST_PLANES * (size_t)c;
        uint32_t had = 0, count = cuts->side_begin[c + 1] - cuts->side_begin[c];
        while (had < MOST_PLANES && v3_length(v3_from(planes + 4 * had)) > 0)
            ++had;
        count = PL_MIN(count, MOST_PLANES);
        had = PL_MIN(had, MOST_PLANES - count);
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t side = cuts->side[cuts->side_begin[c + 1] - 1 - i];
            float* plane = planes + 4 * (had + i);
            for (int k = 0; k < 4; ++k)
                plane[k] = (side & 1 ? -1 : 1) * cuts->plane[side / 2].plane[k];
            plane[3] = (float)(plane[3] + v3_dot(v3_from(plane), shift));
        }
    }
}

/* A body without contacts so far has no proxies. They are then built in a temporary copy, because
 * reading must not change the simulated state. */
pl_status pl_body_planes(const pl_body* body, uint32_t level, const double to[3], float* out)
{
    uint32_t count = body->level_begin[level + 1] - body->level_begin[level];
    memset(out, 0, sizeof(float) * 4 * MOST_PLANES * count);
    if (level > 0)
        return PLIANT_OK;
    if (body->proxies.plane_begin)
    {
        copy_planes(body, &body->proxies, to, out);
        copy_cuts(body, to, out);
        return PLIANT_OK;
    }
    pl_body aside = *body;
    memset(&aside.rest_sdf, 0, sizeof aside.rest_sdf);
    memset(&aside.proxies, 0, sizeof aside.proxies);
    memset(&aside.cuts, 0, sizeof aside.cuts); /* sides of cuts are built only for contacts */
    pl_proxy_desc desc = pl_proxy_defaults(&aside);
    pl_status status = pl_rest_sdf_build(&aside, &aside.rest_sdf);
    if (status == PLIANT_OK)
        status = pl_proxies_build(&aside, &desc, &aside.proxies);
    if (status == PLIANT_OK)
        copy_planes(body, &aside.proxies, to, out);
    pl_proxies_free(&aside.proxies);
    pl_rest_sdf_free(&aside.rest_sdf);
    return status;
}
